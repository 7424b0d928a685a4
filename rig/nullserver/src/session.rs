//! One connection's side of the protocol, without any input or output: bytes in, bytes out.

use std::rc::Rc;

use crate::canned::{Cache, Canned, Kind};
use crate::fault::{After, Fault};
use crate::protocol::{
    HEADER, LONGEST_PAYLOAD, Packets, RowFormat, capability, patch_statement_id,
};

mod command {
    pub const QUIT: u8 = 0x01;
    pub const INIT_DB: u8 = 0x02;
    pub const QUERY: u8 = 0x03;
    pub const FIELD_LIST: u8 = 0x04;
    pub const STATISTICS: u8 = 0x09;
    pub const PING: u8 = 0x0e;
    pub const CHANGE_USER: u8 = 0x11;
    pub const STMT_PREPARE: u8 = 0x16;
    pub const STMT_EXECUTE: u8 = 0x17;
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    pub const STMT_CLOSE: u8 = 0x19;
    pub const STMT_RESET: u8 = 0x1a;
    pub const SET_OPTION: u8 = 0x1b;
    pub const RESET_CONNECTION: u8 = 0x1f;
}

/// What the next packet from the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Login,
    Command,
    /// Contents of a LOAD DATA LOCAL file, up to an empty packet.
    File {
        lines: u64,
    },
}

/// What came of some input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes used up. The rest is the beginning of a packet that has not arrived as a whole.
    pub used: usize,
    /// Statements among them: `COM_QUERY` and `COM_STMT_EXECUTE`.
    pub statements: u32,
    /// What happens after the answers are sent.
    pub after: After,
}

/// The state of one connection.
pub(crate) struct Session {
    expect: Expect,
    deprecate_eof: bool,
    /// The command's payload goes on in further packets, which this server does not read.
    continued: bool,
    /// By number, from 1; closed ones are empty.
    statements: Vec<Option<Rc<Canned>>>,
    fault: Option<Fault>,
}

impl Session {
    pub fn new(fault: Option<Fault>) -> Self {
        Self {
            expect: Expect::Login,
            deprecate_eof: false,
            continued: false,
            statements: Vec::new(),
            fault,
        }
    }

    /// What the server says first.
    pub fn greet(&self, connection_id: u32, out: &mut Vec<u8>) -> After {
        Packets::new(out, 0).handshake(connection_id);
        if self.fault == Some(Fault::Handshake) {
            out.truncate(out.len() / 2);
            return After::Close;
        }
        After::GoOn
    }

    /// Answers every whole packet at the beginning of `input`.
    #[inline]
    pub fn consume(&mut self, input: &[u8], cache: &mut Cache, out: &mut Vec<u8>) -> Progress {
        let mut progress = Progress::default();
        while let Some(&[a, b, c, sequence]) = input[progress.used..].first_chunk() {
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            let start = progress.used + HEADER;
            let Some(payload) = input.get(start..start + length) else {
                break;
            };
            progress.used = start + length;
            self.packet(payload, sequence, cache, out, &mut progress);
            if progress.after != After::GoOn {
                break;
            }
        }
        progress
    }

    #[inline]
    fn packet(
        &mut self,
        payload: &[u8],
        sequence: u8,
        cache: &mut Cache,
        out: &mut Vec<u8>,
        progress: &mut Progress,
    ) {
        let continuation = std::mem::replace(&mut self.continued, payload.len() == LONGEST_PAYLOAD);
        match self.expect {
            Expect::Command if continuation => {}
            Expect::Command => self.command(payload, cache, out, progress),
            Expect::File { lines } => self.file(payload, sequence, lines, out),
            Expect::Login => self.login(payload, sequence, out, progress),
        }
    }

    fn login(&mut self, payload: &[u8], sequence: u8, out: &mut Vec<u8>, progress: &mut Progress) {
        let mut packets = Packets::new(out, sequence.wrapping_add(1));
        match payload
            .first_chunk()
            .map(|bytes| u32::from_le_bytes(*bytes))
        {
            // a shorter one is a request for TLS
            Some(wanted) if wanted & capability::PROTOCOL_41 != 0 && payload.len() > 32 => {
                self.deprecate_eof = wanted & capability::DEPRECATE_EOF != 0;
                self.expect = Expect::Command;
                packets.ok(0);
            }
            _ => {
                packets.error(
                    1043,
                    *b"08S01",
                    "Bad handshake: this server knows protocol 4.1 without TLS",
                );
                progress.after = After::Close;
            }
        }
    }

    #[inline]
    fn command(
        &mut self,
        payload: &[u8],
        cache: &mut Cache,
        out: &mut Vec<u8>,
        progress: &mut Progress,
    ) {
        match payload.first().copied() {
            Some(command::STMT_EXECUTE) => {
                progress.statements += 1;
                self.execute(payload, out, progress);
            }
            Some(command::QUERY) => {
                progress.statements += 1;
                let canned = cache.get(&payload[1..], RowFormat::Text, self.deprecate_eof);
                self.answer(&canned, out, progress);
            }
            _ => self.rare_command(payload, cache, out, progress),
        }
    }

    #[inline]
    fn execute(&mut self, payload: &[u8], out: &mut Vec<u8>, progress: &mut Progress) {
        match self.statement(payload) {
            Some(canned) if self.fault.is_none() => out.extend_from_slice(&canned.executed),
            Some(canned) => {
                let canned = Rc::clone(canned);
                self.answer(&canned, out, progress);
            }
            None => unknown_statement(out),
        }
    }

    #[inline]
    fn statement(&self, payload: &[u8]) -> Option<&Rc<Canned>> {
        let id = u32::from_le_bytes(*payload.get(1..5)?.first_chunk()?);
        self.statements.get((id as usize).checked_sub(1)?)?.as_ref()
    }

    fn answer(&mut self, canned: &Canned, out: &mut Vec<u8>, progress: &mut Progress) {
        if canned.kind == Kind::Infile {
            self.expect = Expect::File { lines: 0 };
        }
        match self.fault {
            Some(fault) if canned.kind == Kind::Rows => {
                let mut answer = canned.executed.clone();
                progress.after = fault.spoil(&mut answer);
                out.append(&mut answer);
            }
            _ => out.extend_from_slice(&canned.executed),
        }
    }

    /// Commands off the measured path.
    fn rare_command(
        &mut self,
        payload: &[u8],
        cache: &mut Cache,
        out: &mut Vec<u8>,
        progress: &mut Progress,
    ) {
        let mut packets = Packets::new(out, 1);
        match payload.first().copied() {
            Some(command::STMT_PREPARE) => self.prepare(&payload[1..], cache, out),
            Some(command::STMT_CLOSE) => self.close(payload),
            Some(command::STMT_SEND_LONG_DATA) => {}
            Some(command::STMT_RESET) if self.statement(payload).is_none() => {
                unknown_statement(out);
            }
            Some(command::QUIT) => progress.after = After::Close,
            Some(command::RESET_CONNECTION | command::CHANGE_USER) => {
                self.statements.clear();
                packets.ok(0);
            }
            Some(command::PING | command::INIT_DB | command::STMT_RESET) => packets.ok(0),
            Some(command::FIELD_LIST | command::SET_OPTION) => packets.eof(),
            Some(command::STATISTICS) => packets.text(b"Uptime: 1"),
            other => {
                let text = format!(
                    "Unknown command {}",
                    other.map_or("(empty)".to_owned(), |code| code.to_string())
                );
                packets.error(1047, *b"08S01", &text);
            }
        }
    }

    fn prepare(&mut self, sql: &[u8], cache: &mut Cache, out: &mut Vec<u8>) {
        let canned = cache.get(sql, RowFormat::Binary, self.deprecate_eof);
        if canned.kind == Kind::Infile {
            let text = "This command is not supported in the prepared statement protocol yet";
            return Packets::new(out, 1).error(1295, *b"HY000", text);
        }
        let start = out.len();
        out.extend_from_slice(&canned.prepared);
        self.statements.push(Some(canned));
        let id = u32::try_from(self.statements.len()).unwrap_or(u32::MAX);
        patch_statement_id(&mut out[start..], id);
    }

    /// There is no answer to this one, not even to a wrong number.
    fn close(&mut self, payload: &[u8]) {
        let id = payload
            .get(1..5)
            .and_then(|bytes| bytes.first_chunk())
            .map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if let Some(slot) = (id as usize)
            .checked_sub(1)
            .and_then(|index| self.statements.get_mut(index))
        {
            *slot = None;
        }
    }

    fn file(&mut self, payload: &[u8], sequence: u8, lines: u64, out: &mut Vec<u8>) {
        if payload.is_empty() {
            self.expect = Expect::Command;
            Packets::new(out, sequence.wrapping_add(1)).ok(lines);
        } else {
            let ends = payload.split(|&byte| byte == b'\n').count() - 1;
            self.expect = Expect::File {
                lines: lines + ends as u64,
            };
        }
    }
}

#[cold]
fn unknown_statement(out: &mut Vec<u8>) {
    Packets::new(out, 1).error(
        1243,
        *b"HY000",
        "Unknown prepared statement handler given to EXECUTE",
    );
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
