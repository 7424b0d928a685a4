//! Which values of `SHOW GLOBAL STATUS` are levels, and how two answers become one record.
//!
//! Neither MySQL nor MariaDB says which of its status values count up and which go up and down. So the
//! levels are listed here, by name and by prefix; everything else that is a number is a counter. A value
//! that was seen falling was no counter, whatever this list says: it is a level from then on.

use std::collections::{BTreeMap, HashMap, HashSet};

/// Levels by their full names, as MySQL 5.5…9.x, MariaDB 10.x…11.x and Galera report them.
const GAUGES: &[&str] = &[
    "Aria_pagecache_blocks_not_flushed",
    "Aria_pagecache_blocks_unused",
    "Aria_pagecache_blocks_used",
    "Binlog_snapshot_position",
    "Delayed_insert_threads",
    "Error_log_buffered_bytes",
    "Error_log_buffered_events",
    "Error_log_latest_write",
    "Global_connection_memory",
    "Innodb_adaptive_hash_cells",
    "Innodb_adaptive_hash_heap_buffers",
    "Innodb_adaptive_hash_non_hash_searches_per_second",
    "Innodb_available_undo_logs",
    "Innodb_buffer_pool_load_incomplete",
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
    "Innodb_current_row_locks",
    "Innodb_encryption_rotation_estimated_iops",
    "Innodb_history_list_length",
    "Innodb_log_arch_size",
    "Innodb_num_open_files",
    "Innodb_page_size",
    "Innodb_redo_log_capacity_resized",
    "Innodb_redo_log_enabled",
    "Innodb_redo_log_logical_size",
    "Innodb_redo_log_physical_size",
    "Innodb_redo_log_read_only",
    "Innodb_row_lock_current_waits",
    "Innodb_row_lock_time_avg",
    "Innodb_row_lock_time_max",
    "Innodb_undo_tablespaces_active",
    "Innodb_undo_tablespaces_explicit",
    "Innodb_undo_tablespaces_implicit",
    "Innodb_undo_tablespaces_total",
    "Key_blocks_not_flushed",
    "Key_blocks_unused",
    "Key_blocks_used",
    "Key_blocks_warm",
    "Last_query_cost",
    "Last_query_partial_plans",
    "Max_memory_used",
    "Max_statement_memory",
    "Max_used_connections",
    "Memory_used",
    "Memory_used_initial",
    "Mysqlx_worker_threads",
    "Mysqlx_worker_threads_active",
    "Not_flushed_delayed_rows",
    "Performance_schema_session_connect_attrs_longest_seen",
    "Prepared_stmt_count",
    "Qcache_free_blocks",
    "Qcache_free_memory",
    "Qcache_queries_in_cache",
    "Qcache_total_blocks",
    "Replica_open_temp_tables",
    "Rpl_semi_sync_master_clients",
    "Rpl_semi_sync_master_net_avg_wait_time",
    "Rpl_semi_sync_master_tx_avg_wait_time",
    "Rpl_semi_sync_master_wait_sessions",
    "Rpl_semi_sync_source_clients",
    "Rpl_semi_sync_source_net_avg_wait_time",
    "Rpl_semi_sync_source_tx_avg_wait_time",
    "Rpl_semi_sync_source_wait_sessions",
    "Slave_heartbeat_period",
    "Slave_open_temp_tables",
    "Slaves_connected",
    "Slaves_running",
    "Ssl_default_timeout",
    "Ssl_session_cache_timeout",
    "Stack_usage",
    "Subquery_cache_size",
    "Table_open_cache_active_instances",
    "Tc_log_max_pages_used",
    "Tc_log_page_size",
    "Threadpool_idle_threads",
    "Threadpool_threads",
    "Threads_cached",
    "Threads_connected",
    "Threads_running",
    "wsrep_applier_thread_count",
    "wsrep_apply_oooe",
    "wsrep_apply_oool",
    "wsrep_apply_window",
    "wsrep_cert_deps_distance",
    "wsrep_cert_index_size",
    "wsrep_cert_interval",
    "wsrep_cluster_conf_id",
    "wsrep_cluster_size",
    "wsrep_cluster_weight",
    "wsrep_commit_oooe",
    "wsrep_commit_oool",
    "wsrep_commit_window",
    "wsrep_desync_count",
    "wsrep_flow_control_paused",
    "wsrep_local_cached_downto",
    "wsrep_local_index",
    "wsrep_local_recv_queue",
    "wsrep_local_send_queue",
    "wsrep_local_state",
    "wsrep_open_connections",
    "wsrep_open_transactions",
    "wsrep_rollbacker_thread_count",
    "wsrep_thread_count",
];

/// Families of levels. `Open_` is not `Opened_`, which count.
const GAUGE_PREFIXES: &[&str] = &[
    "Acl_",
    "Innodb_buffer_pool_bytes_",
    "Innodb_buffer_pool_resize_status_",
    "Innodb_data_pending_",
    "Innodb_ibuf_free_",
    "Innodb_ibuf_segment_",
    "Innodb_ibuf_size",
    "Innodb_mem_",
    "Innodb_onlineddl_",
    "Innodb_os_log_pending_",
    "Ongoing_",
    "Open_",
    "Ssl_ctx_verify_",
    "Ssl_session_cache_size",
    "Ssl_used_session_cache_",
    "Ssl_verify_",
    "wsrep_local_recv_queue_",
    "wsrep_local_send_queue_",
];

/// Prefix of levels with the counters among them.
const PAGES: &str = "Innodb_buffer_pool_pages_";
const PAGES_COUNTERS: &[&str] = &[
    "flushed",
    "lru_flushed",
    "lru_freed",
    "made_not_young",
    "made_young",
    "split",
];

/// Whether the status value `name` is a level rather than a counter.
#[must_use]
pub fn is_gauge(name: &str) -> bool {
    if let Some(pages) = name.strip_prefix(PAGES) {
        // MariaDB has changed between LRU and lru
        return !PAGES_COUNTERS.contains(&pages.to_ascii_lowercase().as_str());
    }
    if name.ends_with("_last_timestamp") {
        return true;
    }
    GAUGES.contains(&name) || GAUGE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// What is known of one status value.
struct Known {
    value: f64,
    gauge: bool,
}

/// Turns answers of `SHOW GLOBAL STATUS` into differences and levels.
#[derive(Default)]
pub(crate) struct StatusReader {
    known: HashMap<Box<str>, Known>,
    /// Texts such as `ON` or a version: met once, never parsed again.
    texts: HashSet<Box<str>>,
    counters: BTreeMap<String, f64>,
    gauges: BTreeMap<String, f64>,
}

impl StatusReader {
    /// Takes one row of an answer.
    pub fn row(&mut self, name: &str, text: &str) {
        if let Some(known) = self.known.get_mut(name) {
            let Some(value) = number(text) else { return };
            let difference = value - known.value;
            known.value = value;
            known.gauge |= difference < 0.0;
            if known.gauge {
                self.gauges.insert(name.to_owned(), value);
            } else if difference != 0.0 {
                self.counters.insert(name.to_owned(), difference);
            }
        } else if !self.texts.contains(name) {
            self.meet(name, text);
        }
    }

    /// A name of the first answer, or one that appeared since: no difference yet.
    fn meet(&mut self, name: &str, text: &str) {
        match number(text) {
            Some(value) => {
                let gauge = is_gauge(name);
                if gauge {
                    self.gauges.insert(name.to_owned(), value);
                }
                self.known.insert(name.into(), Known { value, gauge });
            }
            // an empty value may become a number later
            None if !text.is_empty() => {
                self.texts.insert(name.into());
            }
            None => {}
        }
    }

    /// The differences and the levels of the answer that ended here.
    pub fn take(&mut self) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
        (
            std::mem::take(&mut self.counters),
            std::mem::take(&mut self.gauges),
        )
    }
}

/// A finite decimal number; Rust's parser alone would take `inf` and `NaN` as well.
fn number(text: &str) -> Option<f64> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || first == b'-') {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Values = Vec<(String, f64)>;

    fn answer(reader: &mut StatusReader, rows: &[(&str, &str)]) -> (Values, Values) {
        for (name, text) in rows {
            reader.row(name, text);
        }
        let (counters, gauges) = reader.take();
        (counters.into_iter().collect(), gauges.into_iter().collect())
    }

    #[test]
    fn counters_become_differences_and_levels_stay() {
        let mut reader = StatusReader::default();
        let first = answer(
            &mut reader,
            &[
                ("Questions", "100"),
                ("Threads_running", "3"),
                ("Rpl_status", "AUTH_MASTER"),
                ("Com_alter", "0"),
            ],
        );
        assert_eq!(
            first,
            (vec![], vec![("Threads_running".into(), 3.0)]),
            "a first answer has no difference"
        );
        let second = answer(
            &mut reader,
            &[
                ("Questions", "150"),
                ("Threads_running", "2"),
                ("Rpl_status", "AUTH_MASTER"),
                ("Com_alter", "0"),
            ],
        );
        assert_eq!(
            second.0,
            [("Questions".to_owned(), 50.0)],
            "zero differences and texts are left out"
        );
        assert_eq!(second.1, [("Threads_running".to_owned(), 2.0)]);
    }

    #[test]
    fn a_value_that_fell_is_a_level_from_then_on() {
        let mut reader = StatusReader::default();
        answer(&mut reader, &[("Innodb_new_level_of_2031", "10")]);
        let fell = answer(&mut reader, &[("Innodb_new_level_of_2031", "7")]);
        assert_eq!(
            fell,
            (vec![], vec![("Innodb_new_level_of_2031".into(), 7.0)])
        );
        let rose = answer(&mut reader, &[("Innodb_new_level_of_2031", "9")]);
        assert_eq!(
            rose,
            (vec![], vec![("Innodb_new_level_of_2031".into(), 9.0)])
        );
    }

    #[test]
    fn only_finite_numbers_count() {
        for text in ["", "ON", "inf", "NaN", "-", "1.2.3", "8.0.36-debug"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number("0.000000"), Some(0.0));
        assert_eq!(number("-1"), Some(-1.0));
        assert_eq!(
            number("18446744073709551615"),
            Some(18_446_744_073_709_551_615.0)
        );
    }

    #[test]
    fn opened_counts_and_open_is_a_level() {
        assert!(is_gauge("Open_tables") && !is_gauge("Opened_tables"));
        assert!(
            is_gauge("Innodb_buffer_pool_pages_dirty")
                && !is_gauge("Innodb_buffer_pool_pages_flushed")
        );
        assert!(!is_gauge("Innodb_buffer_pool_pages_LRU_flushed"));
        assert!(!is_gauge("Innodb_rows_read") && !is_gauge("Threads_created"));
    }

    #[test]
    fn the_list_is_sorted_and_without_repeats() {
        // ignoring case: wsrep_ stands last
        let sorted = GAUGES
            .windows(2)
            .all(|pair| pair[0].to_lowercase() < pair[1].to_lowercase());
        assert!(sorted);
    }
}
