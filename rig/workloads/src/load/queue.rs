//! Who loads what: the units of all tables, given out in chunks.

use std::ops::Range;
use std::sync::Mutex;

/// A chunk of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Index of the table.
    pub table: usize,
    /// Its units, counted from 0.
    pub units: Range<u64>,
}

/// The work that is left, shared by all connections.
///
/// A connection stays with its table while that has chunks, so that with as many tables as connections every table is
/// filled by one connection in the order of its key. One that runs out of work joins the table that has the fewest.
#[derive(Debug)]
pub struct Queue {
    tables: Mutex<Vec<Remaining>>,
    chunk_units: u64,
}

#[derive(Debug)]
struct Remaining {
    units: Range<u64>,
    connections: usize,
}

impl Queue {
    /// All units of tables with these sizes, to be given out `chunk_units` at a time.
    #[must_use]
    pub fn new(table_units: impl IntoIterator<Item = u64>, chunk_units: u64) -> Self {
        let tables = table_units
            .into_iter()
            .map(|units| Remaining {
                units: 0..units,
                connections: 0,
            })
            .collect();
        Self {
            tables: Mutex::new(tables),
            chunk_units: chunk_units.max(1),
        }
    }

    /// The next chunk for a connection that has just finished one of table `current`, if there is any left.
    ///
    /// # Panics
    /// When a thread panicked while it held the queue.
    pub fn take(&self, current: Option<usize>) -> Option<Chunk> {
        let mut tables = self.tables.lock().expect("no holder of the queue panics");
        let stays = current.filter(|&table| !tables[table].units.is_empty());
        let table = stays.or_else(|| {
            let open = tables
                .iter()
                .enumerate()
                .filter(|(_, table)| !table.units.is_empty());
            open.min_by_key(|(index, table)| (table.connections, *index))
                .map(|(index, _)| index)
        });
        if stays.is_none() {
            if let Some(left) = current {
                tables[left].connections -= 1;
            }
            if let Some(joined) = table {
                tables[joined].connections += 1;
            }
        }
        let table = table?;
        let remaining = &mut tables[table].units;
        let end = remaining
            .end
            .min(remaining.start.saturating_add(self.chunk_units));
        let units = remaining.start..end;
        remaining.start = end;
        Some(Chunk { table, units })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_many_connections_as_tables_keep_apart() {
        let queue = Queue::new([30, 30], 10);
        let mut at = [None, None];
        for round in 0..3_u64 {
            for (connection, current) in at.iter_mut().enumerate() {
                let chunk = queue.take(*current).unwrap();
                assert_eq!(
                    chunk,
                    Chunk {
                        table: connection,
                        units: round * 10..round * 10 + 10
                    }
                );
                *current = Some(chunk.table);
            }
        }
        assert_eq!(queue.take(at[0]), None);
        assert_eq!(queue.take(at[1]), None);
    }

    #[test]
    fn an_idle_connection_helps_where_fewest_are() {
        let queue = Queue::new([10, 100, 100], 10);
        assert_eq!(queue.take(None).unwrap().table, 0);
        assert_eq!(queue.take(None).unwrap().table, 1);
        assert_eq!(queue.take(Some(0)).unwrap().table, 2);
        assert_eq!(queue.take(None).unwrap().table, 1);
        assert_eq!(queue.take(None).unwrap().table, 2);
    }

    proptest! {
        #[test]
        fn every_unit_is_given_out_once_and_in_order(
            sizes in prop::collection::vec(0..200_u64, 0..6),
            chunk in 0..50_u64,
            turns in prop::collection::vec(0..5_usize, 2000),
        ) {
            let queue = Queue::new(sizes.clone(), chunk);
            let mut connections = [None; 5];
            let mut next = vec![0; sizes.len()];
            for turn in turns {
                let Some(chunk) = queue.take(connections[turn]) else { connections[turn] = None; continue };
                prop_assert_eq!(chunk.units.start, next[chunk.table]);
                prop_assert!(!chunk.units.is_empty());
                next[chunk.table] = chunk.units.end;
                connections[turn] = Some(chunk.table);
            }
            prop_assert_eq!(next, sizes);
        }
    }
}
