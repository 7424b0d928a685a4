"""What each server variable matters for, and why: the one table behind the fairness of settings.

The first entry whose pattern a variable's name matches speaks for it. Entries stand in the order in which a
reader should hear of them. Facts are of the servers' own manuals; measured effects are for a run to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

WRITES, SORTS, COMPLEX, CONNECTS, REPLICATES, TLS = (
    "writes",
    "sorts text",
    "runs large joins or sorts",
    "opens connections while it is measured",
    "replicates",
    "encrypts its sessions",
)
"""What a workload may do that a variable matters for."""

ANYTHING = "anything"
"""In `needs`: the variable matters for every workload."""

OFF = frozenset({"OFF", "0", "NO", "NONE", "DISABLED", "ONE-THREAD-PER-CONNECTION", ""})
"""Values (upper case) of a gate that mean off."""


@dataclass(frozen=True)
class Knowledge:
    """One entry.

    Attributes:
        patterns: Names of variables, with the wildcards of `fnmatch`.
        needs: It matters to a workload that does this; with None it is cosmetic, whatever a workload does.
        reason: Why it matters, or why it never does, as the end of a sentence.
        gate: Another variable that switches it on: an engine where that is off does not have it.
        alike: Values (upper case) that do the same.
    """

    patterns: tuple[str, ...]
    needs: str | None
    reason: str
    gate: str | None = None
    alike: frozenset[str] = frozenset()


def _entry(
    names: str, needs: str | None, reason: str, *, gate: str | None = None, alike: str = ""
) -> Knowledge:
    return Knowledge(tuple(names.split()), needs, reason, gate, frozenset(alike.split()))


REDO_CAPACITY = "redo_capacity_bytes"
"""A row of its own: what the redo log holds, however the engine's variables say it."""

_MATTERS = (
    _entry(
        "innodb_buffer_pool_size", ANYTHING, "decides how much of the data is read from memory, not from disk"
    ),
    _entry(
        "innodb_flush_log_at_trx_commit sync_binlog",
        WRITES,
        "decides whether a commit waits for the disk: the durability that is paid for",
    ),
    _entry(
        REDO_CAPACITY,
        WRITES,
        "a smaller redo log makes checkpoints come earlier, so pages are written more often",
    ),
    _entry(
        "collation_server collation_database character_set_server character_set_database"
        " character_set_collations default_collation_for_utf8mb4",
        SORTS,
        "ORDER BY and DISTINCT over text compare by the tables' collation, and collations differ in cost",
    ),
    _entry(
        "innodb_change_buffering",
        WRITES,
        "changes of secondary index pages that are not in memory are put off instead of reading the page",
    ),
    _entry(
        "innodb_adaptive_hash_index",
        ANYTHING,
        "shortens look-ups in hot pages, at the price of latches that many sessions share",
    ),
    _entry("performance_schema", ANYTHING, "its instruments cost CPU time in every statement"),
    _entry(
        "innodb_snapshot_isolation",
        WRITES,
        "a write to a row that changed after the snapshot fails with an error instead of going on",
    ),
    _entry(
        "transaction_isolation tx_isolation",
        ANYTHING,
        "decides when a snapshot is made and which gaps are locked",
    ),
    _entry(
        "innodb_read_io_threads innodb_write_io_threads",
        ANYTHING,
        "bounds how many background reads or writes are completed side by side",
    ),
    _entry(
        "log_bin binlog_format binlog_row_image binlog_checksum gtid_mode"
        " transaction_write_set_extraction binlog_transaction_dependency_*",
        WRITES,
        "decides what every commit adds to the binary log",
        gate="log_bin",
    ),
    _entry(
        "innodb_doublewrite innodb_doublewrite_files innodb_doublewrite_pages innodb_parallel_doublewrite*",
        WRITES,
        "every page that is flushed passes the doublewrite buffer",
    ),
    _entry(
        "innodb_flush_method innodb_use_fdatasync innodb_data_file_* innodb_log_file_buffering"
        " innodb_log_file_write_through",
        ANYTHING,
        "decides how files are read, written and made durable: through or around the page cache",
    ),
    _entry(
        "innodb_flush_neighbors innodb_io_capacity* innodb_max_dirty_pages_pct* innodb_page_cleaners"
        " innodb_adaptive_flushing*",
        WRITES,
        "sets the pace and the pattern in which dirty pages are written",
    ),
    _entry(
        "innodb_lru_scan_depth innodb_lru_flush_size innodb_empty_free_list_algorithm innodb_old_blocks_*"
        " innodb_read_ahead_threshold innodb_random_read_ahead innodb_numa_interleave",
        ANYTHING,
        "decides how pages are replaced and placed where the data exceed the pool",
    ),
    _entry(
        "innodb_buffer_pool_instances innodb_spin_wait_* innodb_sync_spin_loops innodb_sync_array_size"
        " innodb_thread_concurrency innodb_concurrency_tickets table_open_cache table_open_cache_instances"
        " innodb_page_size innodb_compression_*",
        ANYTHING,
        "decides how much many sessions wait for shared structures, or spin instead of waiting",
    ),
    _entry(
        "innodb_log_buffer_size innodb_log_write_ahead_size innodb_log_writer_threads innodb_log_spin_*",
        WRITES,
        "decides how redo reaches the disk",
    ),
    _entry(
        "innodb_purge_* innodb_undo_log_truncate innodb_undo_tablespaces innodb_max_undo_log_size"
        " innodb_rollback_segments innodb_max_purge_lag*",
        WRITES,
        "decides how fast old row versions are removed, and by which extra work",
    ),
    _entry(
        "innodb_lock_wait_timeout innodb_deadlock_detect innodb_lock_schedule_algorithm",
        WRITES,
        "decides how long a blocked transaction waits and who goes first",
    ),
    _entry(
        "innodb_change_buffer_max_size",
        WRITES,
        "bounds the change buffer",
        gate="innodb_change_buffering",
    ),
    _entry(
        "innodb_adaptive_hash_index_parts",
        ANYTHING,
        "splits the latch of the adaptive hash index",
        gate="innodb_adaptive_hash_index",
    ),
    _entry(
        "query_cache_size query_cache_type",
        ANYTHING,
        "a query cache answers without executing, and serialises",
        gate="query_cache_type",
    ),
    _entry("thread_handling", ANYTHING, "a thread for each session or a pool: how sessions share the CPUs"),
    _entry(
        "thread_pool_*",
        ANYTHING,
        "bounds how many sessions execute at once",
        gate="thread_handling",
    ),
    _entry(
        "rpl_semi_sync_*enabled wsrep_on", WRITES, "a commit waits for another server before it is answered"
    ),
    _entry(
        "general_log slow_query_log innodb_encrypt_* innodb_file_per_table default_storage_engine"
        " innodb_stats_on_metadata userstat",
        ANYTHING,
        "adds work to every statement or page",
    ),
)

_DEPENDS = (
    _entry(
        "innodb_checksum_algorithm",
        ANYTHING,
        "decides how every page's checksum is computed",
        alike="CRC32 STRICT_CRC32 FULL_CRC32 STRICT_FULL_CRC32",
    ),
    _entry(
        "innodb_autoinc_lock_mode",
        WRITES,
        "decides how long the lock of an auto-increment counter is held",
        alike="1 2",
    ),
    _entry(
        "optimizer_* max_length_for_sort_data max_seeks_for_key sort_buffer_size join_buffer_size"
        " read_buffer_size read_rnd_buffer_size tmp_table_size max_heap_table_size temptable_*"
        " internal_tmp_* default_tmp_storage_engine histogram_type eq_range_index_dive_limit join_cache_*"
        " tmp_memory_table_size innodb_parallel_read_threads",
        COMPLEX,
        "decides the plan, or the memory, of joins, sorts and temporary tables of some size",
    ),
    _entry(
        "thread_cache_size back_log host_cache_size skip_name_resolve connect_timeout *authentication*"
        " caching_sha2_password_* init_connect",
        CONNECTS,
        "costs time when a session connects",
    ),
    _entry(
        "have_ssl have_openssl ssl_* tls_* admin_tls_* admin_ssl_* mysqlx_ssl_* require_secure_transport",
        TLS,
        "decides how sessions are encrypted",
    ),
    _entry(
        "slave_* replica_* relay_* log_slave_updates log_replica_updates master_* source_* rpl_* wsrep_*"
        " group_replication_* max_relay_log_size enforce_gtid_consistency gtid_* sync_master_info"
        " sync_relay_log* binlog_row_metadata replication_*",
        REPLICATES,
        "acts where servers replicate",
    ),
)

_COSMETIC = (
    _entry(
        "innodb_log_file_size innodb_log_files_in_group innodb_redo_log_capacity",
        None,
        f"one part of the redo log's capacity: {REDO_CAPACITY} says what counts",
    ),
    _entry(
        "performance_schema_*",
        None,
        "sizes of the instrumentation; performance_schema itself says whether it runs",
    ),
    _entry(
        "collation_connection character_set_client character_set_connection character_set_results"
        " character_set_system character_set_filesystem character_sets_dir rand_seed* last_* identity"
        " insert_id pseudo_* timestamp unique_checks warning_count error_count",
        None,
        "a value of the session that listed the variables, or one that names things",
    ),
    _entry(
        "binlog_expire_logs_* expire_logs_days max_binlog_size binlog_space_limit",
        None,
        "decides when old files are removed or new ones begun",
    ),
    _entry(
        "log_* *_log_file long_query_time slow_* general_log* core_file innodb_buffer_pool_in_core_file"
        " innodb_print_* innodb_status_*",
        None,
        "decides what is logged about trouble, and where",
    ),
    _entry(
        "key_buffer_size myisam_* key_cache_* aria_* delay_key_write concurrent_insert low_priority_updates"
        " max_write_lock_count preload_buffer_size bulk_insert_buffer_size flush flush_time",
        None,
        "acts on tables of other engines than InnoDB",
    ),
    _entry(
        "max_allowed_packet max_connections max_user_connections max_connect_errors max_prepared_stmt_count"
        " max_error_count max_*_length group_concat_max_len max_digest_* *_timeout open_files_limit"
        " table_definition_cache stored_program_cache* max_sp_recursion_depth net_* thread_stack"
        " cte_max_recursion_depth max_join_size max_sort_length max_tmp_tables lock_wait_timeout"
        " innodb_open_files",
        None,
        "a limit: it changes nothing until a statement meets it, and then that fails visibly",
    ),
    _entry(
        "sql_mode explicit_defaults_for_timestamp old* local_infile *symlink* ignore_db_dirs secure_*"
        " explain_* lc_* div_precision_increment default_week_format ft_* sql_* lower_case_* event_scheduler"
        " show_* end_markers_in_json session_track_* disconnect_on_* disabled_* protocol_* profiling*"
        " updatable_views_* require_row_format block_encryption_mode *password* skip_* super_read_only"
        " activate_all_roles_on_login mandatory_roles partial_revokes print_identified_with_as_hex",
        None,
        "decides what statements mean, or what they may do, not how fast they run",
    ),
    _entry(
        "query_*alloc* transaction_*alloc* range_alloc_block_size innodb_buffer_pool_chunk_size"
        " innodb_autoextend_increment innodb_prefix_index_cluster_optimization innodb_fill_factor"
        " innodb_ft_* innodb_sort_buffer_size innodb_online_alter_* innodb_default_* innodb_stats_*"
        " innodb_tmpdir innodb_temp_data_file_path innodb_data_file_path innodb_buffer_pool_dump*"
        " innodb_buffer_pool_load* innodb_ddl_* innodb_validate_* innodb_api_* innodb_monitor_*",
        None,
        "acts when memory is taken, files grow or tables are built, not on the statements of a workload",
    ),
    _entry(
        "version* innodb_version build_id *_version have_* license hostname server_uuid server_uid server_id"
        " system_time_zone time_zone bind_address port socket datadir basedir tmpdir *_dir *_path pid_file"
        " plugin_* mysqlx_* admin_* report_* proxy_* auto_* feedback_* in_transaction ssl*",
        None,
        "says what the server is called or where it lives",
    ),
)

TABLE = _MATTERS + _DEPENDS + _COSMETIC


@cache
def knowledge_of(variable: str) -> Knowledge | None:
    """The entry that speaks for a variable; None where the table does not know it."""
    return next((each for each in TABLE if any(fnmatchcase(variable, name) for name in each.patterns)), None)


def rank(variable: str) -> int:
    """Place of a variable's entry in the table: the lower, the earlier a reader should hear of it."""
    found = knowledge_of(variable)
    return TABLE.index(found) if found else len(TABLE)
