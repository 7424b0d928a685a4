//! What a result set's columns are, kept in buffers that are used again for the next result set.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// More columns than any server sends (4096), few enough to be no attack on memory.
pub const COLUMNS_MAX: u64 = 65_535;

/// How a binary row carries a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A signed or unsigned integer of 1, 2, 4 or 8 bytes.
    Int {
        /// Size in the packet.
        bytes: u8,
        /// Whether the sign bit belongs to the value.
        unsigned: bool,
    },
    /// Four bytes of floating point.
    Float,
    /// Eight bytes of floating point.
    Double,
    /// A date or time: one byte of length, then its fields.
    Temporal,
    /// A length-encoded string, also of DECIMAL, JSON, BIT and all others.
    Bytes,
    /// Always NULL.
    Null,
}

/// One column.
#[derive(Debug, Clone)]
pub struct Column {
    /// The protocol's type number.
    pub column_type: u8,
    /// How binary rows carry it.
    pub kind: ColumnKind,
    name: Range<usize>,
}

/// The columns of one result set.
#[derive(Debug, Default)]
pub struct Columns {
    columns: Vec<Column>,
    names: Vec<u8>,
}

const FLAG_UNSIGNED: u16 = 0x20;

impl Columns {
    /// Forget the last result set.
    pub fn clear(&mut self) {
        self.columns.clear();
        self.names.clear();
    }

    /// How many columns there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// One column; `None` when there are fewer.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Column> {
        self.columns.get(index)
    }

    /// All columns in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Column] {
        &self.columns
    }

    /// The name of a column as the statement gave it; `None` when there are fewer.
    #[must_use]
    pub fn name(&self, index: usize) -> Option<&[u8]> {
        self.columns
            .get(index)
            .map(|column| &self.names[column.name.clone()])
    }

    /// Add the column that `packet` defines.
    pub fn push(&mut self, packet: &[u8]) -> Result<()> {
        let mut cursor = Cursor::new(packet);
        for what in [
            "the catalog of a column",
            "the schema of a column",
            "the table of a column",
            "the original table",
        ] {
            cursor.lenenc_bytes(what)?;
        }
        let name = cursor.lenenc_bytes("the name of a column")?;
        cursor.lenenc_bytes("the original name of a column")?;
        let fixed = cursor.lenenc_bytes("the type of a column")?;
        let mut fixed = Cursor::new(fixed);
        fixed.bytes(6, "the character set of a column")?;
        let column_type = fixed.u8("the type of a column")?;
        let flags = fixed.u16("the flags of a column")?;
        let from = self.names.len();
        self.names.extend_from_slice(name);
        let kind = column_kind(column_type, flags & FLAG_UNSIGNED != 0)?;
        self.columns.push(Column {
            column_type,
            kind,
            name: from..self.names.len(),
        });
        Ok(())
    }
}

fn column_kind(column_type: u8, unsigned: bool) -> Result<ColumnKind> {
    Ok(match column_type {
        1 => ColumnKind::Int { bytes: 1, unsigned },
        2 | 13 => ColumnKind::Int { bytes: 2, unsigned },
        3 | 9 => ColumnKind::Int { bytes: 4, unsigned },
        8 => ColumnKind::Int { bytes: 8, unsigned },
        4 => ColumnKind::Float,
        5 => ColumnKind::Double,
        6 => ColumnKind::Null,
        7 | 10 | 11 | 12 => ColumnKind::Temporal,
        // DECIMAL, VARCHAR, BIT, VECTOR, JSON, NEWDECIMAL, ENUM, SET, BLOBs, VAR_STRING, STRING, GEOMETRY
        0 | 15 | 16 | 242 | 245..=255 => ColumnKind::Bytes,
        _ => {
            return Err(Error::protocol(format!(
                "a column of the unknown type {column_type}"
            )));
        }
    })
}
