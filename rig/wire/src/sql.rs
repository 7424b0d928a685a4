//! Text statements with parameters.

use crate::error::{Error, Result};
use crate::value::Value;

/// A text statement cut at its parameters once, so that rendering it allocates nothing.
///
/// ```
/// use dyno_wire::{Value, sql::Template};
/// let template = Template::new("SELECT c FROM t WHERE id = ? AND pad = '?'");
/// let mut out = Vec::new();
/// template.render(&[Value::Int(7)], true, &mut out)?;
/// assert_eq!(out, b"SELECT c FROM t WHERE id = 7 AND pad = '?'");
/// # Ok::<(), dyno_wire::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    sql: String,
    /// Where each `?` stands.
    params: Vec<usize>,
}

impl Template {
    /// Cut `sql` at each `?` that stands outside strings, quoted names and comments.
    #[must_use]
    pub fn new(sql: impl Into<String>) -> Self {
        let sql = sql.into();
        let params = find_params(sql.as_bytes());
        Self { sql, params }
    }

    /// How many parameters it takes.
    #[must_use]
    pub fn params(&self) -> usize {
        self.params.len()
    }

    /// The statement as written.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Append the statement with `params` as literals. `backslash_escapes` is false under `NO_BACKSLASH_ESCAPES`.
    pub fn render(
        &self,
        params: &[Value<'_>],
        backslash_escapes: bool,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if params.len() != self.params.len() {
            let (given, taken) = (params.len(), self.params.len());
            return Err(Error::Usage(format!(
                "{given} parameters given to a statement that takes {taken}: {}",
                self.sql
            )));
        }
        let sql = self.sql.as_bytes();
        let mut from = 0;
        for (&at, param) in self.params.iter().zip(params) {
            out.extend_from_slice(&sql[from..at]);
            param.put_literal(out, backslash_escapes);
            from = at + 1;
        }
        out.extend_from_slice(&sql[from..]);
        Ok(())
    }
}

fn find_params(sql: &[u8]) -> Vec<usize> {
    let mut params = Vec::new();
    let mut at = 0;
    while at < sql.len() {
        let rest = &sql[at..];
        at += match rest[0] {
            b'?' => {
                params.push(at);
                1
            }
            quote @ (b'\'' | b'"' | b'`') => quoted_length(rest, quote),
            b'#' => line_length(rest),
            b'-' if rest.starts_with(b"-- ") => line_length(rest),
            b'/' if rest.starts_with(b"/*") => rest
                .windows(2)
                .skip(2)
                .position(|pair| pair == b"*/")
                .map_or(rest.len(), |end| end + 4),
            _ => 1,
        };
    }
    params
}

/// The length of the string or name that `rest` begins with. A doubled quote ends one string and begins the next,
/// which comes to the same.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn line_length(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_parameters_only_where_they_are() {
        let sql = "a ? '?''?\\'?' \"?\" `?` -- ?\n ? # ?\n /* ? */ ?";
        let template = Template::new(sql);
        let mut out = Vec::new();
        template
            .render(&[Value::Int(1), Value::Int(2), Value::Null], true, &mut out)
            .unwrap();
        let expected = "a 1 '?''?\\'?' \"?\" `?` -- ?\n 2 # ?\n /* ? */ NULL";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_cut(sql in "[?'\"`\\-#/* \\\\\na]{0,40}") {
            let template = Template::new(sql.clone());
            let params = vec![Value::Bytes(b"?"); template.params()];
            let mut out = Vec::new();
            template.render(&params, true, &mut out).unwrap();
            prop_assert_eq!(out.len(), sql.len() + 2 * template.params());
        }
    }
}
