//! What a server answers to a command: OK, an error, or result sets, walked through packet by packet.

use crate::columns::{COLUMNS_MAX, Columns};
use crate::cursor::Cursor;
use crate::error::{Error, Result, ServerError};
use crate::frame::PART_BYTES_MAX;

/// What a statement did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows received, over all result sets.
    pub rows: u64,
    /// Rows changed, over all results; with `found_rows`, rows matched.
    pub affected_rows: u64,
    /// The last `AUTO_INCREMENT` value that was made, or 0.
    pub last_insert_id: u64,
    /// Warnings of the last result.
    pub warnings: u16,
    /// The server's status flags after the last result, see [`STATUS_IN_TRANSACTION`].
    pub status: u16,
    /// Result sets received.
    pub result_sets: u32,
}

/// Status flag: a transaction is open.
pub const STATUS_IN_TRANSACTION: u16 = 0x0001;
/// Status flag: another result follows.
pub const STATUS_MORE_RESULTS: u16 = 0x0008;
/// Status flag: the SQL mode `NO_BACKSLASH_ESCAPES` is on.
pub const STATUS_NO_BACKSLASH_ESCAPES: u16 = 0x0200;

/// First bytes of packets.
pub(crate) const OK: u8 = 0x00;
const LOCAL_INFILE: u8 = 0xfb;
const EOF: u8 = 0xfe;
pub(crate) const ERR: u8 = 0xff;

/// What to do after a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Go on with the next packet.
    More,
    /// This packet is a row.
    Row,
    /// That was the last packet.
    Done,
    /// The server wants the data of LOAD DATA LOCAL now.
    LocalInfile,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Header,
    Columns { left: u32 },
    ColumnsEnd,
    Rows,
    Done,
}

/// The position inside one answer.
#[derive(Debug)]
pub struct Response {
    state: State,
    deprecate_eof: bool,
    /// Whether column definitions are decoded: only when somebody looks at rows.
    keep_columns: bool,
    outcome: Outcome,
}

impl Response {
    /// Before the first packet. `deprecate_eof` is what was negotiated; without `keep_columns` column definitions are
    /// skipped.
    #[must_use]
    pub fn new(deprecate_eof: bool, keep_columns: bool) -> Self {
        Self {
            state: State::Header,
            deprecate_eof,
            keep_columns,
            outcome: Outcome::default(),
        }
    }

    /// The outcome so far; whole after [`Step::Done`].
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Take the next packet. [`Error::Server`] ends the answer; any other error means that the peer is broken.
    #[inline]
    pub fn step(&mut self, packet: &[u8], columns: &mut Columns) -> Result<Step> {
        match self.state {
            State::Rows => self.row(packet),
            State::Header => self.header(packet, columns),
            State::Columns { left } => {
                if self.keep_columns {
                    columns.push(packet)?;
                }
                self.state = match left - 1 {
                    0 if self.deprecate_eof => State::Rows,
                    0 => State::ColumnsEnd,
                    left => State::Columns { left },
                };
                Ok(Step::More)
            }
            State::ColumnsEnd => {
                if !is_eof(packet) {
                    return Err(unexpected(packet, "the end of the column definitions"));
                }
                self.state = State::Rows;
                Ok(Step::More)
            }
            State::Done => Err(Error::protocol("a packet after the end of an answer")),
        }
    }

    #[inline]
    fn header(&mut self, packet: &[u8], columns: &mut Columns) -> Result<Step> {
        match packet.first() {
            Some(&OK) => {
                self.add_ok(packet)?;
                Ok(self.end_of_result())
            }
            Some(&ERR) => Err(Error::Server(parse_error(packet)?)),
            Some(&LOCAL_INFILE) => Ok(Step::LocalInfile),
            _ => {
                let mut cursor = Cursor::new(packet);
                let count = cursor.lenenc("the number of columns")?;
                if count > COLUMNS_MAX || !cursor.is_empty() {
                    return Err(unexpected(packet, "the header of a result"));
                }
                columns.clear();
                self.outcome.result_sets += 1;
                #[expect(clippy::cast_possible_truncation, reason = "at most COLUMNS_MAX")]
                let left = count as u32;
                self.state = State::Columns { left };
                Ok(Step::More)
            }
        }
    }

    #[inline]
    fn row(&mut self, packet: &[u8]) -> Result<Step> {
        match packet.first() {
            Some(&EOF) if self.deprecate_eof && packet.len() < PART_BYTES_MAX => {
                self.add_ok(packet)?;
                Ok(self.end_of_result())
            }
            Some(&EOF) if !self.deprecate_eof && is_eof(packet) => {
                let mut cursor = Cursor::new(&packet[1..]);
                self.outcome.warnings = cursor.u16("the end of a result")?;
                self.outcome.status = cursor.u16("the end of a result")?;
                Ok(self.end_of_result())
            }
            Some(&ERR) => Err(Error::Server(parse_error(packet)?)),
            Some(_) => {
                self.outcome.rows += 1;
                Ok(Step::Row)
            }
            None => Err(Error::protocol("an empty packet where a row was due")),
        }
    }

    fn end_of_result(&mut self) -> Step {
        if self.outcome.status & STATUS_MORE_RESULTS != 0 {
            self.state = State::Header;
            return Step::More;
        }
        self.state = State::Done;
        Step::Done
    }

    #[inline]
    fn add_ok(&mut self, packet: &[u8]) -> Result<()> {
        let ok = parse_ok(packet)?;
        self.outcome.affected_rows = self.outcome.affected_rows.saturating_add(ok.affected_rows);
        if ok.last_insert_id != 0 {
            self.outcome.last_insert_id = ok.last_insert_id;
        }
        self.outcome.warnings = ok.warnings;
        self.outcome.status = ok.status;
        Ok(())
    }
}

/// The fields of an OK packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ok {
    /// Rows changed.
    pub affected_rows: u64,
    /// `AUTO_INCREMENT` value made, or 0.
    pub last_insert_id: u64,
    /// Status flags.
    pub status: u16,
    /// Number of warnings.
    pub warnings: u16,
}

/// Read an OK packet, whatever its first byte is.
#[inline]
pub fn parse_ok(packet: &[u8]) -> Result<Ok> {
    let mut cursor = Cursor::new(packet);
    cursor.u8("an OK packet")?;
    std::result::Result::Ok(Ok {
        affected_rows: cursor.lenenc("the number of affected rows")?,
        last_insert_id: cursor.lenenc("the last insert id")?,
        status: cursor.u16("the status of an OK packet")?,
        warnings: cursor.u16("the warnings of an OK packet")?,
    })
}

/// Read an error packet. Before the handshake is complete servers leave out the SQLSTATE.
pub fn parse_error(packet: &[u8]) -> Result<ServerError> {
    let mut cursor = Cursor::new(packet);
    cursor.u8("an error packet")?;
    let code = cursor.u16("an error packet")?;
    let (sqlstate, message) = cursor
        .rest()
        .strip_prefix(b"#")
        .and_then(<[u8]>::split_first_chunk)
        .map_or((*b"HY000", cursor.rest()), |(sqlstate, message)| {
            (*sqlstate, message)
        });
    std::result::Result::Ok(ServerError {
        code,
        sqlstate,
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

/// Whether a packet is the old end-of-something packet.
pub(crate) fn is_eof(packet: &[u8]) -> bool {
    packet.first() == Some(&EOF) && packet.len() < 9
}

#[cold]
pub(crate) fn unexpected(packet: &[u8], due: &str) -> Error {
    let start = &packet[..packet.len().min(8)];
    Error::protocol(format!(
        "a packet of {} bytes beginning {start:02x?} where {due} was due",
        packet.len()
    ))
}
