//! What the shapes have in common: a list of statements, prepared for a session, and executed with a look at the result.

use dyno_drive::{Client, Error, Outcome, Prepared, Row, StatementClass, Value};
use std::marker::PhantomData;
use std::ops::RangeInclusive;

/// Name in records, class and SQL of a kind of statement.
///
/// An amount is sent in hundredths, as a whole number: servers make a text or a floating-point number of it inexact when
/// they add it.
pub type Definition = (&'static str, StatementClass, &'static str);

/// The kinds of statements of a shape.
pub trait Catalog: Copy + 'static {
    /// All of them. The first are [`BEGIN`], [`COMMIT`] and [`ROLLBACK`], the last those without SQL, which sessions do
    /// not prepare.
    const LIST: &'static [Definition];

    /// The place of this one in the list; it is the number of the record's statement type.
    fn index(self) -> usize;

    /// How often the group in brackets of a statement's SQL is repeated, see [`expanded`]: each is prepared for itself.
    fn repeats(_index: usize) -> RangeInclusive<usize> {
        1..=1
    }
}

/// The first statements of each list; they travel as text, for they have no parameters.
pub const PLAIN: usize = 3;
pub const BEGIN: Definition = ("begin", StatementClass::Begin, "BEGIN");
pub const COMMIT: Definition = ("commit", StatementClass::Commit, "COMMIT");
pub const ROLLBACK: Definition = ("rollback", StatementClass::Rollback, "ROLLBACK");

/// Asked by the first session, in every shape: how many warehouses up to the given one are whole: they have the last row of each of their tables that no trial takes
/// away, and something has been paid.
pub const SCHEMA_CHECK: Definition = (
    "schema_check",
    StatementClass::Select,
    "SELECT COUNT(*) FROM warehouse JOIN district ON d_w_id = w_id AND d_id = 10 \
     JOIN customer ON c_w_id = w_id AND c_d_id = 10 AND c_id = 3000 \
     JOIN stock ON s_w_id = w_id AND s_i_id = 100000 JOIN item ON i_id = 100000 \
     JOIN orders ON o_w_id = w_id AND o_d_id = 10 AND o_id = 3000 \
     JOIN order_line ON ol_w_id = w_id AND ol_d_id = 10 AND ol_o_id = 3000 AND ol_number = 5 \
     WHERE w_id <= ? AND EXISTS (SELECT 1 FROM history)",
);

/// How many statements a session prepares.
pub fn prepared<C: Catalog>() -> usize {
    to_prepare::<C>()
        .map(|(_, _, repeats)| repeats.count())
        .sum()
}

/// Place, SQL and repeats of what is prepared.
fn to_prepare<C: Catalog>() -> impl Iterator<Item = (usize, &'static str, RangeInclusive<usize>)> {
    let all = C::LIST.iter().enumerate().skip(PLAIN);
    all.filter(|(_, (_, _, sql))| !sql.is_empty())
        .map(|(kind, (_, _, sql))| (kind, *sql, C::repeats(kind)))
}

/// SQL whose groups in brackets are repeated: `([?|, ])` stands for `(?, ?, ?)` at three repeats. What is behind the bar
/// parts one from the next.
fn expanded(sql: &str, repeats: usize) -> String {
    let mut out = String::new();
    let mut rest = sql;
    while let Some((before, tail)) = rest.split_once('[') {
        let (group, after) = tail.split_once(']').unwrap_or((tail, ""));
        let (item, separator) = group.split_once('|').unwrap_or((group, ""));
        out.push_str(before);
        out.push_str(&vec![item; repeats].join(separator));
        rest = after;
    }
    out + rest
}

/// The statements of one session, ready to be executed. A result of another size than it must have ends the trial: the
/// data is not what the workload believes.
#[derive(Debug)]
pub struct Statements<C> {
    prepared: Vec<Prepared>,
    /// For each kind, where its first one is, less the repeats of that.
    places: Vec<usize>,
    catalog: PhantomData<C>,
}

impl<C: Catalog> Statements<C> {
    /// Prepares all of them.
    pub async fn prepare(client: &mut Client) -> Result<Self, Error> {
        let mut prepared = Vec::with_capacity(self::prepared::<C>());
        let mut places = vec![0; C::LIST.len()];
        for (kind, sql, repeats) in to_prepare::<C>() {
            places[kind] = prepared.len();
            for repeats in repeats {
                prepared.push(client.prepare(kind, &expanded(sql, repeats)).await?);
            }
        }
        Ok(Self {
            prepared,
            places,
            catalog: PhantomData,
        })
    }

    /// The statement with its group repeated so often; the fewest times when it is not repeated that rarely.
    #[inline]
    fn of(&self, statement: C, repeats: usize) -> &Prepared {
        let kind = statement.index();
        let beyond = repeats.saturating_sub(*C::repeats(kind).start());
        &self.prepared[self.places[kind] + beyond]
    }

    /// Executes a statement without parameters as text.
    pub async fn simple(client: &mut Client, statement: C) -> Result<(), Error> {
        let kind = statement.index();
        client.simple(kind, C::LIST[kind].2).await.map(drop)
    }

    /// Reads any number of rows and returns how many.
    pub async fn read(
        &self,
        client: &mut Client,
        statement: C,
        values: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), dyno_wire::Error>,
    ) -> Result<u64, Error> {
        let prepared = self.of(statement, 0);
        let outcome = client.execute_rows(prepared, values, visit).await?;
        Ok(outcome.rows)
    }

    /// Reads at least `rows` rows with a statement whose group is repeated.
    pub async fn read_many(
        &self,
        client: &mut Client,
        (statement, repeats): (C, usize),
        values: &[Value<'_>],
        rows: usize,
        visit: impl FnMut(Row<'_>) -> Result<(), dyno_wire::Error>,
    ) -> Result<(), Error> {
        let prepared = self.of(statement, repeats);
        let outcome = client.execute_rows(prepared, values, visit).await?;
        if outcome.rows >= rows as u64 {
            return Ok(());
        }
        let what = format!("gave {} rows instead of {rows}", outcome.rows);
        Err(unexpected(statement, values, &what))
    }

    /// Changes at least `rows` rows with a statement whose group is repeated.
    pub async fn change_many(
        &self,
        client: &mut Client,
        (statement, repeats): (C, usize),
        values: &[Value<'_>],
        rows: u64,
    ) -> Result<(), Error> {
        let prepared = self.of(statement, repeats);
        let changed = client.execute(prepared, values).await?.affected_rows;
        if changed >= rows {
            return Ok(());
        }
        let what = format!("changed {changed} rows instead of {rows}");
        Err(unexpected(statement, values, &what))
    }

    /// Reads exactly one row.
    pub async fn read_one(
        &self,
        client: &mut Client,
        statement: C,
        values: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), dyno_wire::Error>,
    ) -> Result<(), Error> {
        match self.read(client, statement, values, visit).await? {
            1 => Ok(()),
            rows => Err(unexpected(
                statement,
                values,
                &format!("gave {rows} rows instead of 1"),
            )),
        }
    }

    /// Changes exactly `rows` rows.
    pub async fn change(
        &self,
        client: &mut Client,
        statement: C,
        values: &[Value<'_>],
        rows: u64,
    ) -> Result<Outcome, Error> {
        let outcome = client.execute(self.of(statement, 0), values).await?;
        if outcome.affected_rows == rows {
            return Ok(outcome);
        }
        let changed = outcome.affected_rows;
        let what = format!("changed {changed} rows instead of {rows}");
        Err(unexpected(statement, values, &what))
    }
}

/// The data is not what the workload believes: `what` a statement did.
#[cold]
pub fn unexpected<C: Catalog>(statement: C, values: &[Value<'_>], what: &str) -> Error {
    let kind = statement.index();
    let message = format!(
        "{} {values:?} {what}\n\
         hint: were the tables built by prepare with as many warehouses, and is nobody else writing to them?",
        C::LIST[kind].0
    );
    Error::workload(message).in_statement(kind)
}

/// A decimal number with two places, in hundredths.
pub fn hundredths(decimal: &[u8]) -> i64 {
    let digits = decimal.iter().filter(|byte| byte.is_ascii_digit());
    let number = digits.fold(0, |number, byte| 10 * number + i64::from(byte - b'0'));
    if decimal.first() == Some(&b'-') {
        -number
    } else {
        number
    }
}

/// Of several customers with one name, the one in the middle, rounded up.
pub fn middle(ids: &[u64]) -> Option<u64> {
    ids.get(ids.len().div_ceil(2).checked_sub(1)?).copied()
}

/// Nobody has the name that was drawn.
#[cold]
pub fn nobody<C: Catalog>(statement: C, place: [u64; 2], name: &[u8]) -> Error {
    let name = String::from_utf8_lossy(name);
    let message = format!("no customer of {place:?} is called {name}\nhint: build the tables anew");
    Error::workload(message).in_statement(statement.index())
}

/// What is left of a stock of `stock` after `ordered` more: it is filled up before it runs out.
pub const fn stock_left(stock: i64, ordered: i64) -> i64 {
    if stock - ordered >= 10 {
        stock - ordered
    } else {
        stock - ordered + 91
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_in_hundredths() {
        assert_eq!(hundredths(b"12.34"), 1234);
        assert_eq!(hundredths(b"-0.05"), -5);
        assert_eq!(hundredths(b"100.00"), 10_000);
    }

    #[test]
    fn groups_are_repeated_with_what_parts_them() {
        let sql = "a IN ([?|, ]) AND CASE[ WHEN ? THEN ?] END OR b = ?";
        let three =
            "a IN (?, ?, ?) AND CASE WHEN ? THEN ? WHEN ? THEN ? WHEN ? THEN ? END OR b = ?";
        assert_eq!(expanded(sql, 3), three);
        assert_eq!(expanded("SELECT ?", 7), "SELECT ?");
    }

    #[test]
    fn the_middle_of_several_is_rounded_up() {
        let found = |ids: &[u64]| middle(ids);
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[7]), Some(7));
        assert_eq!(found(&[7, 8]), Some(7));
        assert_eq!(found(&[7, 8, 9]), Some(8));
        assert_eq!(found(&[6, 7, 8, 9]), Some(7));
    }

    #[test]
    fn stock_is_filled_up_before_it_falls_below_ten() {
        assert_eq!(stock_left(20, 10), 10);
        assert_eq!(stock_left(19, 10), 100);
        assert_eq!(stock_left(10, 1), 100);
    }
}
