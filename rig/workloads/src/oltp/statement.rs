//! The statements of the OLTP workloads: their names, their SQL, and what their results must look like.

use super::sequence::Shape;

/// One kind of statement; the table it goes to is apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statement {
    /// `BEGIN`
    Begin,
    /// One row by id.
    PointSelect,
    /// `c` of a range of ids.
    SimpleRange,
    /// `SUM(k)` of a range of ids.
    SumRange,
    /// `c` of a range of ids, ordered.
    OrderRange,
    /// Distinct `c` of a range of ids, ordered.
    DistinctRange,
    /// `k = k + 1` of one id.
    IndexUpdate,
    /// New `c` of one id.
    NonIndexUpdate,
    /// One id less.
    Delete,
    /// One id more.
    Insert,
    /// Rows by a list of `k`.
    RandomPoints,
    /// A count over several ranges of `k`.
    RandomRanges,
    /// `COMMIT`
    Commit,
}

/// What a result must look like; anything else means that the server or the data is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing that could be checked at no cost.
    Anything,
    /// This many rows or fewer.
    RowsAtMost(u64),
    /// Just this many rows.
    Rows(u64),
    /// This many changed rows or fewer.
    AffectedAtMost(u64),
    /// Just this many changed rows.
    Affected(u64),
}

impl Statement {
    /// Its name in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::PointSelect => "point_select",
            Self::SimpleRange => "simple_range",
            Self::SumRange => "sum_range",
            Self::OrderRange => "order_range",
            Self::DistinctRange => "distinct_range",
            Self::IndexUpdate => "index_update",
            Self::NonIndexUpdate => "non_index_update",
            Self::Delete => "delete",
            Self::Insert => "insert",
            Self::RandomPoints => "random_points",
            Self::RandomRanges => "random_ranges",
            Self::Commit => "commit",
        }
    }

    /// Whether it goes to a table, and so has parameters and is prepared once a table.
    #[must_use]
    pub const fn has_table(self) -> bool {
        !matches!(self, Self::Begin | Self::Commit)
    }

    /// Its text, with `?` for each parameter, against table `sbtest<table>` (the first is 1).
    #[must_use]
    pub fn sql(self, table: u64, shape: &Shape) -> String {
        let from = format!("FROM sbtest{table} WHERE");
        let range = format!("{from} id BETWEEN ? AND ?");
        match self {
            Self::Begin => "BEGIN".to_owned(),
            Self::Commit => "COMMIT".to_owned(),
            Self::PointSelect => format!("SELECT c {from} id=?"),
            Self::SimpleRange => format!("SELECT c {range}"),
            Self::SumRange => format!("SELECT SUM(k) {range}"),
            Self::OrderRange => format!("SELECT c {range} ORDER BY c"),
            Self::DistinctRange => format!("SELECT DISTINCT c {range} ORDER BY c"),
            Self::IndexUpdate => format!("UPDATE sbtest{table} SET k=k+1 WHERE id=?"),
            Self::NonIndexUpdate => format!("UPDATE sbtest{table} SET c=? WHERE id=?"),
            Self::Delete => format!("DELETE {from} id=?"),
            Self::Insert => {
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)")
            }
            Self::RandomPoints => {
                format!(
                    "SELECT id, k, c, pad {from} k IN ({})",
                    repeated("?", ", ", shape.random_points)
                )
            }
            Self::RandomRanges => {
                format!(
                    "SELECT count(k) {from} {}",
                    repeated("k BETWEEN ? AND ?", " OR ", shape.ranges)
                )
            }
        }
    }

    /// What its result must look like on tables whose ids are unique.
    #[must_use]
    pub const fn expected(self, shape: &Shape) -> Expected {
        match self {
            Self::PointSelect => Expected::RowsAtMost(1),
            Self::SimpleRange | Self::OrderRange | Self::DistinctRange => {
                Expected::RowsAtMost(shape.range_size)
            }
            Self::SumRange | Self::RandomRanges => Expected::Rows(1),
            Self::IndexUpdate | Self::NonIndexUpdate | Self::Delete => Expected::AffectedAtMost(1),
            Self::Insert => Expected::Affected(1),
            Self::Begin | Self::Commit | Self::RandomPoints => Expected::Anything,
        }
    }
}

impl Expected {
    /// Whether a result with so many rows, and so many changed ones, is as expected.
    #[must_use]
    pub const fn holds(self, rows: u64, affected_rows: u64) -> bool {
        match self {
            Self::Anything => true,
            Self::RowsAtMost(most) => rows <= most,
            Self::Rows(exactly) => rows == exactly,
            Self::AffectedAtMost(most) => affected_rows <= most,
            Self::Affected(exactly) => affected_rows == exactly,
        }
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anything => f.write_str("anything"),
            Self::RowsAtMost(most) => write!(f, "at most {most} rows"),
            Self::Rows(exactly) => write!(f, "{exactly} rows"),
            Self::AffectedAtMost(most) => write!(f, "at most {most} changed rows"),
            Self::Affected(exactly) => write!(f, "{exactly} changed rows"),
        }
    }
}

fn repeated(part: &str, between: &str, times: usize) -> String {
    vec![part; times].join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        range_size: 100,
        random_points: 3,
        ranges: 2,
        delta: 5,
    };

    #[test]
    fn texts_are_those_of_sysbench() {
        let sql = |statement: Statement| statement.sql(7, &SHAPE);
        assert_eq!(
            sql(Statement::PointSelect),
            "SELECT c FROM sbtest7 WHERE id=?"
        );
        assert_eq!(
            sql(Statement::SumRange),
            "SELECT SUM(k) FROM sbtest7 WHERE id BETWEEN ? AND ?"
        );
        assert_eq!(
            sql(Statement::DistinctRange),
            "SELECT DISTINCT c FROM sbtest7 WHERE id BETWEEN ? AND ? ORDER BY c"
        );
        assert_eq!(
            sql(Statement::NonIndexUpdate),
            "UPDATE sbtest7 SET c=? WHERE id=?"
        );
        assert_eq!(
            sql(Statement::RandomPoints),
            "SELECT id, k, c, pad FROM sbtest7 WHERE k IN (?, ?, ?)"
        );
        assert_eq!(
            sql(Statement::RandomRanges),
            "SELECT count(k) FROM sbtest7 WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?"
        );
    }

    #[test]
    fn expectations_tell_good_results_from_bad() {
        let expected = |statement: Statement| statement.expected(&SHAPE);
        assert!(
            expected(Statement::PointSelect).holds(0, 0)
                && !expected(Statement::PointSelect).holds(2, 0)
        );
        assert!(
            expected(Statement::OrderRange).holds(100, 0)
                && !expected(Statement::OrderRange).holds(101, 0)
        );
        assert!(
            expected(Statement::SumRange).holds(1, 0) && !expected(Statement::SumRange).holds(0, 0)
        );
        assert!(
            expected(Statement::Delete).holds(0, 0) && !expected(Statement::Delete).holds(0, 2)
        );
        assert!(
            expected(Statement::Insert).holds(0, 1) && !expected(Statement::Insert).holds(0, 0)
        );
        assert_eq!(
            expected(Statement::OrderRange).to_string(),
            "at most 100 rows"
        );
    }
}
