//! Parameters of statements.

use std::io::Write;

use crate::cursor::put_lenenc;

/// One parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A floating point number; text statements refuse infinities and NaN by writing NULL.
    Double(f64),
    /// A string or binary string, as it is.
    Bytes(&'a [u8]),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Self::UInt(value)
    }
}

const TYPE_LONGLONG: u16 = 8;
const TYPE_DOUBLE: u16 = 5;
const TYPE_VAR_STRING: u16 = 253;
const FLAG_UNSIGNED: u16 = 0x8000;

/// The type of a parameter that is NULL before any other value gave it one.
pub(crate) const TYPE_UNKNOWN: u16 = TYPE_VAR_STRING;

impl Value<'_> {
    /// The type as `COM_STMT_EXECUTE` sends it; NULL has none.
    #[inline]
    pub(crate) fn binary_type(&self) -> Option<u16> {
        Some(match self {
            Self::Null => return None,
            Self::Int(_) => TYPE_LONGLONG,
            Self::UInt(_) => TYPE_LONGLONG | FLAG_UNSIGNED,
            Self::Double(_) => TYPE_DOUBLE,
            Self::Bytes(_) => TYPE_VAR_STRING,
        })
    }

    #[inline]
    pub(crate) fn put_binary(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Null => {}
            Self::Int(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::UInt(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Bytes(bytes) => {
                put_lenenc(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }

    /// The value as an SQL literal. `backslash_escapes` is false under the SQL mode `NO_BACKSLASH_ESCAPES`.
    pub(crate) fn put_literal(&self, out: &mut Vec<u8>, backslash_escapes: bool) {
        match *self {
            Self::Int(value) => put_text(out, itoa::Buffer::new().format(value)),
            Self::UInt(value) => put_text(out, itoa::Buffer::new().format(value)),
            Self::Double(value) if value.is_finite() => {
                // The exponent makes it a floating point literal rather than a decimal one.
                write!(out, "{value:e}").expect("writing to memory cannot fail");
            }
            Self::Bytes(bytes) => put_quoted(out, bytes, backslash_escapes),
            Self::Null | Self::Double(_) => out.extend_from_slice(b"NULL"),
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn put_quoted(out: &mut Vec<u8>, bytes: &[u8], backslash_escapes: bool) {
    out.push(b'\'');
    for &byte in bytes {
        let escape = match byte {
            b'\'' => b'\'',
            b'\\' if backslash_escapes => b'\\',
            0 if backslash_escapes => {
                out.extend_from_slice(b"\\0");
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[escape, byte]);
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(value: Value<'_>, backslash_escapes: bool) -> String {
        let mut out = Vec::new();
        value.put_literal(&mut out, backslash_escapes);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn literals() {
        assert_eq!(literal(Value::Null, true), "NULL");
        assert_eq!(literal(Value::Int(i64::MIN), true), "-9223372036854775808");
        assert_eq!(literal(Value::UInt(u64::MAX), true), "18446744073709551615");
        assert_eq!(literal(Value::Double(-1.5), true), "-1.5e0");
        assert_eq!(literal(Value::Double(f64::NAN), true), "NULL");
        assert_eq!(literal("it's \\ \0".into(), true), r"'it''s \\ \0'");
        assert_eq!(literal("it's \\".into(), false), r"'it''s \'");
    }
}
