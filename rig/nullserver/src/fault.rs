//! What a broken or hostile server would send, for tests of clients.

use std::str::FromStr;

use crate::protocol::{HEADER, put_length};

/// A way to answer wrongly. Each but [`Fault::Handshake`] spoils result sets and nothing else, so
/// that a client is well under way when it meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection closes within the first packet of the handshake.
    Handshake,
    /// The connection closes within a packet's header.
    Truncated,
    /// The connection closes in the middle of a row.
    MidRow,
    /// A packet has the wrong sequence number.
    Sequence,
    /// A packet that never ends: continued for as long as the client reads.
    EndlessPacket,
    /// A result set that announces 2^64 - 2 columns.
    ColumnCount,
    /// The first text of a row claims to be longer than its packet. A client that skips rows does not look there.
    LongString,
    /// Bytes that are no protocol at all.
    Garbage,
    /// No answer, for ever: the connection stays open.
    Silent,
}

/// Every fault and its name on a command line.
const NAMES: [(&str, Fault); 9] = [
    ("handshake", Fault::Handshake),
    ("truncated", Fault::Truncated),
    ("mid-row", Fault::MidRow),
    ("sequence", Fault::Sequence),
    ("endless-packet", Fault::EndlessPacket),
    ("column-count", Fault::ColumnCount),
    ("long-string", Fault::LongString),
    ("garbage", Fault::Garbage),
    ("silent", Fault::Silent),
];

/// A name that is no fault's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no fault `{name}`\nhint: one of {allowed}")]
pub struct UnknownFault {
    name: String,
    allowed: String,
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, fault)| *fault).ok_or_else(|| UnknownFault {
            name: name.to_owned(),
            allowed: NAMES.map(|(known, _)| known).join(", "),
        })
    }
}

impl Fault {
    /// Every name, in the order of a help text.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().map(|(name, _)| name)
    }

    /// Makes `answer`, a whole result set, wrong; says what the connection does after it.
    pub(crate) fn spoil(self, answer: &mut Vec<u8>) -> After {
        match self {
            Self::Handshake => return After::GoOn,
            Self::Silent => {
                answer.clear();
                return After::GoOn;
            }
            Self::Truncated => answer.truncate(HEADER - 1),
            Self::MidRow => {
                // before the last packet stands a row
                let starts = packet_starts(answer);
                let row = starts[starts.len().saturating_sub(2)];
                answer.truncate(row + HEADER + 1);
            }
            Self::Sequence => {
                let second = packet_starts(answer)[1];
                answer[second + 3] = answer[second + 3].wrapping_add(7);
                return After::GoOn;
            }
            Self::EndlessPacket => {
                answer.clear();
                return After::Flood;
            }
            Self::ColumnCount => {
                *answer = vec![0, 0, 0, 1];
                put_length(answer, u64::MAX - 1);
                answer[0] = u8::try_from(answer.len() - HEADER).unwrap_or(u8::MAX);
                return After::GoOn;
            }
            Self::LongString => {
                lengthen_text(answer);
                return After::GoOn;
            }
            Self::Garbage => {
                answer.clear();
                // any fixed sequence will do, but it must not look like packets
                answer
                    .extend((0..4096_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]));
            }
        }
        After::Close
    }
}

/// What happens to the connection after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum After {
    #[default]
    GoOn,
    Close,
    /// Send packets of full length, each a continuation of the last, until the client goes away.
    Flood,
}

/// Makes the first value of the last row, if it is a text, claim more bytes than there are.
fn lengthen_text(answer: &mut [u8]) {
    let starts = packet_starts(answer);
    let row = starts[starts.len().saturating_sub(2)] + HEADER;
    // a binary row begins with a zero and the bitmap of its nulls
    let columns = usize::from(answer[HEADER]);
    let length = if answer[row] == 0 {
        row + 1 + (columns + 9) / 8
    } else {
        row
    };
    answer[length] = 0xfa;
}

/// Where each packet of `answer` begins.
fn packet_starts(answer: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(&[a, b, c]) = answer.get(at..at + 3).and_then(|bytes| bytes.first_chunk()) {
        starts.push(at);
        at += HEADER + (u32::from_le_bytes([a, b, c, 0]) as usize);
    }
    starts
}
