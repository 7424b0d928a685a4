//! Rows, read where they lie in the read buffer.

use std::str;

use crate::columns::{ColumnKind, Columns};
use crate::cursor::{Cursor, Lenenc};
use crate::error::{Error, Result};

/// Where a value lies in a row's packet; NULL is nowhere.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    start: u32,
    length: u32,
}

const NULL: Span = Span {
    start: 0,
    length: u32::MAX,
};

/// Where the values of the current row lie; used again for each row.
pub type Spans = Vec<Span>;

fn span(packet: &[u8], cursor: &Cursor<'_>, length: usize) -> Result<Span> {
    let start = packet.len() - cursor.rest().len();
    match (u32::try_from(start), u32::try_from(length)) {
        (Ok(start), Ok(length)) if length != u32::MAX => Ok(Span { start, length }),
        _ => Err(Error::protocol("a row of 4 GiB")),
    }
}

#[cold]
fn left_over(bytes: usize) -> Error {
    Error::protocol(format!("{bytes} bytes after the last column of a row"))
}

#[cold]
fn no_such_column(column: usize, count: usize) -> Error {
    Error::Usage(format!(
        "column {column} asked of a result with {count} columns"
    ))
}

fn bytes_of<'a>(packet: &'a [u8], spans: &[Span], column: usize) -> Result<Option<&'a [u8]>> {
    let span = spans
        .get(column)
        .ok_or_else(|| no_such_column(column, spans.len()))?;
    if span.length == u32::MAX {
        return Ok(None);
    }
    let start = span.start as usize;
    Ok(Some(&packet[start..start + span.length as usize]))
}

fn parse<T: str::FromStr>(text: &[u8], what: &str) -> Result<T> {
    str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| {
            Error::Usage(format!(
                "the value `{}` is not {what}",
                String::from_utf8_lossy(text)
            ))
        })
}

fn to_str(bytes: &[u8]) -> Result<&str> {
    str::from_utf8(bytes).map_err(|_| Error::Usage(format!("the value {bytes:02x?} is not UTF-8")))
}

/// A row of a text statement: every value is text.
#[derive(Debug, Clone, Copy)]
pub struct TextRow<'a> {
    packet: &'a [u8],
    columns: &'a Columns,
    spans: &'a [Span],
}

impl<'a> TextRow<'a> {
    /// Find the values in `packet`. `spans` is scratch space.
    pub fn decode(packet: &'a [u8], columns: &'a Columns, spans: &'a mut Spans) -> Result<Self> {
        spans.clear();
        let mut cursor = Cursor::new(packet);
        for _ in 0..columns.len() {
            match cursor.lenenc_or_null("a text row")? {
                Lenenc::Null => spans.push(NULL),
                Lenenc::Value(length) => {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    spans.push(span(packet, &cursor, length)?);
                    cursor.bytes(length, "a value of a text row")?;
                }
            }
        }
        if !cursor.is_empty() {
            return Err(left_over(cursor.rest().len()));
        }
        Ok(Self {
            packet,
            columns,
            spans,
        })
    }

    /// How many values the row has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the row has no values at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// What the columns are.
    #[must_use]
    pub fn columns(&self) -> &'a Columns {
        self.columns
    }

    /// The value as sent; `None` for NULL. Fails when there is no such column.
    pub fn get_bytes(&self, column: usize) -> Result<Option<&'a [u8]>> {
        bytes_of(self.packet, self.spans, column)
    }

    /// The value as UTF-8 text.
    pub fn get_str(&self, column: usize) -> Result<Option<&'a str>> {
        self.get_bytes(column)?.map(to_str).transpose()
    }

    /// The value as a signed integer; fails when it is none.
    pub fn get_i64(&self, column: usize) -> Result<Option<i64>> {
        self.get_bytes(column)?
            .map(|text| parse(text, "a signed integer"))
            .transpose()
    }

    /// The value as an unsigned integer; fails when it is none.
    pub fn get_u64(&self, column: usize) -> Result<Option<u64>> {
        self.get_bytes(column)?
            .map(|text| parse(text, "an unsigned integer"))
            .transpose()
    }

    /// The value as a floating point number; fails when it is none.
    pub fn get_f64(&self, column: usize) -> Result<Option<f64>> {
        self.get_bytes(column)?
            .map(|text| parse(text, "a number"))
            .transpose()
    }
}

/// A row of a prepared statement: numbers are binary.
#[derive(Debug, Clone, Copy)]
pub struct BinaryRow<'a> {
    packet: &'a [u8],
    columns: &'a Columns,
    spans: &'a [Span],
}

impl<'a> BinaryRow<'a> {
    /// Find the values in `packet`. `spans` is scratch space.
    pub fn decode(packet: &'a [u8], columns: &'a Columns, spans: &'a mut Spans) -> Result<Self> {
        spans.clear();
        let mut cursor = Cursor::new(packet);
        let header = cursor.u8("a binary row")?;
        if header != 0 {
            return Err(Error::protocol(format!(
                "a binary row that begins with {header:#04x}"
            )));
        }
        // The first two bits of the map are reserved.
        let nulls = cursor.bytes((columns.len() + 9) / 8, "the NULL map of a row")?;
        for (index, column) in columns.as_slice().iter().enumerate() {
            let bit = index + 2;
            if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
                spans.push(NULL);
                continue;
            }
            let length = match column.kind {
                ColumnKind::Int { bytes, .. } => usize::from(bytes),
                ColumnKind::Float => 4,
                ColumnKind::Double => 8,
                ColumnKind::Temporal => usize::from(cursor.u8("a time of a row")?),
                ColumnKind::Bytes => {
                    usize::try_from(cursor.lenenc("a value of a row")?).unwrap_or(usize::MAX)
                }
                ColumnKind::Null => {
                    spans.push(NULL);
                    continue;
                }
            };
            spans.push(span(packet, &cursor, length)?);
            cursor.bytes(length, "a value of a row")?;
        }
        if !cursor.is_empty() {
            return Err(left_over(cursor.rest().len()));
        }
        Ok(Self {
            packet,
            columns,
            spans,
        })
    }

    /// How many values the row has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the row has no values at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// What the columns are.
    #[must_use]
    pub fn columns(&self) -> &'a Columns {
        self.columns
    }

    /// The value as it lies in the packet: text for strings and decimals, little-endian for numbers. `None` for NULL;
    /// fails when there is no such column.
    pub fn get_bytes(&self, column: usize) -> Result<Option<&'a [u8]>> {
        bytes_of(self.packet, self.spans, column)
    }

    /// The value of a string or decimal column as UTF-8 text.
    pub fn get_str(&self, column: usize) -> Result<Option<&'a str>> {
        self.get_bytes(column)?.map(to_str).transpose()
    }

    /// The value as a signed integer; fails when it is none or does not fit.
    pub fn get_i64(&self, column: usize) -> Result<Option<i64>> {
        match self.number(column)? {
            None => Ok(None),
            Some(Number::Int(value)) => Ok(Some(value)),
            Some(Number::UInt(value)) => i64::try_from(value)
                .map(Some)
                .map_err(|_| Error::Usage(format!("{value} does not fit a signed integer"))),
            Some(Number::Float(value)) => Err(Error::Usage(format!("{value} is not an integer"))),
            Some(Number::Text(text)) => parse(text, "a signed integer").map(Some),
        }
    }

    /// The value as an unsigned integer; fails when it is none or negative.
    pub fn get_u64(&self, column: usize) -> Result<Option<u64>> {
        match self.number(column)? {
            None => Ok(None),
            Some(Number::UInt(value)) => Ok(Some(value)),
            Some(Number::Int(value)) => u64::try_from(value)
                .map(Some)
                .map_err(|_| Error::Usage(format!("{value} is negative"))),
            Some(Number::Float(value)) => Err(Error::Usage(format!("{value} is not an integer"))),
            Some(Number::Text(text)) => parse(text, "an unsigned integer").map(Some),
        }
    }

    /// The value as a floating point number; fails when it is none.
    pub fn get_f64(&self, column: usize) -> Result<Option<f64>> {
        Ok(match self.number(column)? {
            None => None,
            Some(Number::Int(value)) => Some(value as f64),
            Some(Number::UInt(value)) => Some(value as f64),
            Some(Number::Float(value)) => Some(value),
            Some(Number::Text(text)) => Some(parse(text, "a number")?),
        })
    }

    fn number(&self, column: usize) -> Result<Option<Number<'a>>> {
        let Some(bytes) = self.get_bytes(column)? else {
            return Ok(None);
        };
        let kind = self.columns.get(column).map(|column| column.kind);
        Ok(Some(match kind {
            Some(ColumnKind::Int { unsigned, .. }) => integer(bytes, unsigned),
            Some(ColumnKind::Float) => Number::Float(f32::from_le_bytes(fixed(bytes)?).into()),
            Some(ColumnKind::Double) => Number::Float(f64::from_le_bytes(fixed(bytes)?)),
            Some(ColumnKind::Temporal) => {
                return Err(Error::Usage(format!(
                    "column {column} is a time, not a number"
                )));
            }
            Some(ColumnKind::Bytes | ColumnKind::Null) | None => Number::Text(bytes),
        }))
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes
        .try_into()
        .map_err(|_| Error::protocol(format!("a number of {} bytes", bytes.len())))
}

enum Number<'a> {
    Int(i64),
    UInt(u64),
    Float(f64),
    Text(&'a [u8]),
}

/// An integer of at most eight bytes, its sign extended.
fn integer(bytes: &[u8], unsigned: bool) -> Number<'static> {
    let negative = !unsigned && bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = if negative { [0xff; 8] } else { [0; 8] };
    wide[..bytes.len()].copy_from_slice(bytes);
    if unsigned {
        Number::UInt(u64::from_le_bytes(wide))
    } else {
        Number::Int(i64::from_le_bytes(wide))
    }
}
