//! The few packets of the MySQL protocol that a server sends.

/// Bytes of a packet's header: length (3) and sequence number (1).
pub(crate) const HEADER: usize = 4;
/// A payload of this length is continued in the next packet.
pub(crate) const LONGEST_PAYLOAD: usize = 0xff_ffff;

pub(crate) const SERVER_VERSION: &str = "8.4.0-dyno-null";
const AUTH_PLUGIN: &[u8] = b"mysql_native_password";
/// Any password is right, so the challenge need not be a secret.
const CHALLENGE: &[u8; 20] = b"dynamometer+no+loads";

/// Capabilities, as the protocol numbers them.
pub(crate) mod capability {
    pub const LONG_PASSWORD: u32 = 1;
    pub const FOUND_ROWS: u32 = 1 << 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const LOCAL_FILES: u32 = 1 << 7;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MULTI_RESULTS: u32 = 1 << 17;
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const CONNECT_ATTRS: u32 = 1 << 20;
    pub const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
    pub const DEPRECATE_EOF: u32 = 1 << 24;
    /// What this server offers. No TLS, no compression: nothing between the client and its own cost.
    pub const OFFERED: u32 = LONG_PASSWORD
        | FOUND_ROWS
        | LONG_FLAG
        | CONNECT_WITH_DB
        | LOCAL_FILES
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH
        | CONNECT_ATTRS
        | PLUGIN_AUTH_LENENC
        | DEPRECATE_EOF;
}

/// `utf8mb4_general_ci`
const CHARSET_TEXT: u8 = 45;
const CHARSET_BINARY: u16 = 63;
const STATUS_AUTOCOMMIT: u16 = 2;

/// How a column's values are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Int,
    BigInt,
    Decimal,
    Datetime,
    /// CHAR of so many characters.
    Char(u16),
}

/// One column of a result set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub name: String,
    pub kind: ColumnType,
}

/// The value of one cell, by the column's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Number(u32),
    Text(Vec<u8>),
    /// Midnight of a day of the year 2026.
    Day {
        month: u8,
        day: u8,
    },
}

/// Appends packets to a buffer and numbers them.
pub(crate) struct Packets<'a> {
    out: &'a mut Vec<u8>,
    sequence: u8,
}

impl<'a> Packets<'a> {
    /// Packets of an answer to a command begin with `sequence` 1, those of the handshake with 0.
    pub fn new(out: &'a mut Vec<u8>, sequence: u8) -> Self {
        Self { out, sequence }
    }

    fn packet(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        self.out.extend_from_slice(&[0, 0, 0, self.sequence]);
        write(self.out);
        let length = self.out.len() - start - HEADER;
        debug_assert!(length < LONGEST_PAYLOAD, "canned packets are small");
        let [a, b, c, ..] = length.to_le_bytes();
        self.out[start..start + 3].copy_from_slice(&[a, b, c]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    pub fn handshake(&mut self, connection_id: u32) {
        let [low0, low1, high0, high1] = capability::OFFERED.to_le_bytes();
        self.packet(|out| {
            out.push(10);
            out.extend_from_slice(SERVER_VERSION.as_bytes());
            out.push(0);
            out.extend_from_slice(&connection_id.to_le_bytes());
            out.extend_from_slice(&CHALLENGE[..8]);
            out.extend_from_slice(&[0, low0, low1, CHARSET_TEXT]);
            out.extend_from_slice(&STATUS_AUTOCOMMIT.to_le_bytes());
            out.extend_from_slice(&[high0, high1, 21]);
            out.extend_from_slice(&[0; 10]);
            out.extend_from_slice(&CHALLENGE[8..]);
            out.push(0);
            out.extend_from_slice(AUTH_PLUGIN);
            out.push(0);
        });
    }

    pub fn ok(&mut self, affected_rows: u64) {
        self.packet(|out| {
            out.push(0);
            put_length(out, affected_rows);
            put_length(out, 0);
            put_status(out);
        });
    }

    pub fn error(&mut self, code: u16, sqlstate: [u8; 5], message: &str) {
        self.packet(|out| {
            out.push(0xff);
            out.extend_from_slice(&code.to_le_bytes());
            out.push(b'#');
            out.extend_from_slice(&sqlstate);
            out.extend_from_slice(message.as_bytes());
        });
    }

    /// The end of a list of columns, which newer clients do without.
    fn columns_end(&mut self, deprecate_eof: bool) {
        if !deprecate_eof {
            self.eof();
        }
    }

    pub fn eof(&mut self) {
        self.packet(|out| {
            out.extend_from_slice(&[0xfe, 0, 0]);
            out.extend_from_slice(&STATUS_AUTOCOMMIT.to_le_bytes());
        });
    }

    fn rows_end(&mut self, deprecate_eof: bool) {
        if deprecate_eof {
            self.packet(|out| {
                out.extend_from_slice(&[0xfe, 0, 0]);
                put_status(out);
            });
        } else {
            self.eof();
        }
    }

    fn column(&mut self, column: &Column) {
        let (kind, charset, length, decimals): (u8, u16, u32, u8) = match column.kind {
            ColumnType::Int => (3, CHARSET_BINARY, 11, 0),
            ColumnType::BigInt => (8, CHARSET_BINARY, 20, 0),
            ColumnType::Decimal => (246, CHARSET_BINARY, 34, 2),
            ColumnType::Datetime => (12, CHARSET_BINARY, 19, 0),
            ColumnType::Char(length) => (254, u16::from(CHARSET_TEXT), u32::from(length) * 4, 0),
        };
        self.packet(|out| {
            for text in ["def", "sbtest", "t", "t", &column.name, &column.name] {
                put_bytes(out, text.as_bytes());
            }
            out.push(12);
            out.extend_from_slice(&charset.to_le_bytes());
            out.extend_from_slice(&length.to_le_bytes());
            out.push(kind);
            // no flags
            out.extend_from_slice(&[0, 0, decimals, 0, 0]);
        });
    }

    /// The answer to a prepare; the statement's number is patched in by [`patch_statement_id`].
    pub fn prepared(&mut self, columns: &[Column], params: u16, deprecate_eof: bool) {
        let count = u16::try_from(columns.len()).unwrap_or(u16::MAX);
        self.packet(|out| {
            out.push(0);
            out.extend_from_slice(&[0; 4]);
            out.extend_from_slice(&count.to_le_bytes());
            out.extend_from_slice(&params.to_le_bytes());
            out.extend_from_slice(&[0; 3]);
        });
        let param = Column {
            name: "?".into(),
            kind: ColumnType::BigInt,
        };
        for _ in 0..params {
            self.column(&param);
        }
        if params > 0 {
            self.columns_end(deprecate_eof);
        }
        for column in columns {
            self.column(column);
        }
        if !columns.is_empty() {
            self.columns_end(deprecate_eof);
        }
    }

    pub fn result_set(
        &mut self,
        columns: &[Column],
        rows: impl Iterator<Item = Vec<Cell>>,
        format: RowFormat,
        deprecate_eof: bool,
    ) {
        self.packet(|out| put_length(out, columns.len() as u64));
        for column in columns {
            self.column(column);
        }
        self.columns_end(deprecate_eof);
        for row in rows {
            self.packet(|out| match format {
                RowFormat::Text => put_text_row(out, &row),
                RowFormat::Binary => put_binary_row(out, columns, &row),
            });
        }
        self.rows_end(deprecate_eof);
    }

    /// A packet that is nothing but text.
    pub fn text(&mut self, text: &[u8]) {
        self.packet(|out| out.extend_from_slice(text));
    }

    /// Asks the client for the file of a LOAD DATA LOCAL.
    pub fn local_infile(&mut self, file: &[u8]) {
        self.packet(|out| {
            out.push(0xfb);
            out.extend_from_slice(file);
        });
    }
}

/// Writes a statement's number into its [`Packets::prepared`].
pub(crate) fn patch_statement_id(prepared: &mut [u8], id: u32) {
    prepared[HEADER + 1..HEADER + 5].copy_from_slice(&id.to_le_bytes());
}

/// How rows are encoded: as text for `COM_QUERY`, binary for `COM_STMT_EXECUTE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RowFormat {
    Text,
    Binary,
}

fn put_status(out: &mut Vec<u8>) {
    out.extend_from_slice(&STATUS_AUTOCOMMIT.to_le_bytes());
    // no warnings
    out.extend_from_slice(&[0, 0]);
}

/// A length-encoded integer.
pub(crate) fn put_length(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_text_row(out: &mut Vec<u8>, row: &[Cell]) {
    for cell in row {
        match cell {
            Cell::Number(number) => put_bytes(out, number.to_string().as_bytes()),
            Cell::Text(text) => put_bytes(out, text),
            Cell::Day { month, day } => {
                put_bytes(out, format!("2026-{month:02}-{day:02} 00:00:00").as_bytes());
            }
        }
    }
}

fn put_binary_row(out: &mut Vec<u8>, columns: &[Column], row: &[Cell]) {
    out.push(0);
    // the null bitmap has an offset of two bits; nothing is null
    out.resize(out.len() + (columns.len() + 9) / 8, 0);
    for (column, cell) in columns.iter().zip(row) {
        match (cell, column.kind) {
            (Cell::Number(number), ColumnType::Int) => out.extend_from_slice(&number.to_le_bytes()),
            (Cell::Number(number), ColumnType::BigInt) => {
                out.extend_from_slice(&u64::from(*number).to_le_bytes());
            }
            (Cell::Number(number), _) => put_bytes(out, number.to_string().as_bytes()),
            (Cell::Text(text), _) => put_bytes(out, text),
            (Cell::Day { month, day }, _) => {
                let [low, high] = 2026_u16.to_le_bytes();
                out.extend_from_slice(&[4, low, high, *month, *day]);
            }
        }
    }
}
