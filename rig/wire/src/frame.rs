//! Cutting a stream of bytes into packets, in place, and framing what is sent.
//!
//! A packet is three bytes of length, one sequence number and the payload. A payload of 0xffffff bytes goes on in the
//! next packet.

use std::cell::RefCell;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::response::{ERR, parse_error};

/// Bytes before each payload.
pub const HEADER_BYTES: usize = 4;
/// The longest payload of one packet; a payload this long continues in the next packet.
pub const PART_BYTES_MAX: usize = 0xff_ffff;

/// Holds the answer of any statement of our workloads, so that no buffer grows while measuring; beyond, a buffer grows
/// for a packet that needs it. Pages of it that nothing was ever read into take no memory.
const CAPACITY_BYTES: usize = 32 * 1024;

/// The storage of a thread's buffers. The last one to come is the first to go: it is still in the CPU's cache, so
/// thousands of connections take turns in one piece of memory instead of each missing the cache in its own.
#[derive(Default)]
struct Resting {
    /// Storage that no packet needs just now.
    storage: Vec<Vec<u8>>,
    /// Buffers that live: there is storage for each, so that none is made while measuring, and room for all to rest.
    buffers: usize,
}

impl Resting {
    fn join(&mut self) -> Vec<u8> {
        self.buffers += 1;
        self.storage
            .reserve(self.buffers.saturating_sub(self.storage.len()));
        vec![0; CAPACITY_BYTES]
    }

    /// `own` is the storage of the buffer that leaves, empty when it rests here.
    fn leave(&mut self, own: &[u8]) {
        self.buffers = self.buffers.saturating_sub(1);
        if own.is_empty() {
            self.storage.pop();
        }
    }
}

thread_local! {
    static RESTING: RefCell<Resting> = RefCell::default();
}

/// Bytes received and not yet consumed. Payloads are ranges of it, valid until the next [`PacketBuffer::spare`] or
/// [`PacketBuffer::rest`].
#[derive(Debug)]
pub struct PacketBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that the next packet needs in all, header included, as far as known.
    wanted: usize,
    payload_bytes_max: usize,
    /// Under compression servers number the packets inside as they please; the outer numbers are checked instead.
    numbers_checked: bool,
}

impl Drop for PacketBuffer {
    fn drop(&mut self) {
        // a thread that ends has nobody left to serve
        let _ = RESTING.try_with(|resting| resting.borrow_mut().leave(&self.bytes));
    }
}

impl PacketBuffer {
    /// A buffer that refuses payloads longer than `payload_bytes_max`.
    #[must_use]
    pub fn new(payload_bytes_max: usize) -> Self {
        Self {
            bytes: RESTING.with_borrow_mut(Resting::join),
            start: 0,
            end: 0,
            wanted: HEADER_BYTES,
            payload_bytes_max,
            numbers_checked: true,
        }
    }

    /// Take packets whatever their number is.
    pub fn ignore_numbers(&mut self) {
        self.numbers_checked = false;
    }

    /// Nobody looks at past packets any more: the storage may serve another connection until the next read.
    #[inline]
    pub fn rest(&mut self) {
        if self.is_empty() && !self.bytes.is_empty() {
            (self.start, self.end) = (0, 0);
            let bytes = std::mem::take(&mut self.bytes);
            // a thread that ends has nobody left to serve
            let _ = RESTING.try_with(|resting| resting.borrow_mut().storage.push(bytes));
        }
    }

    /// Where the next read goes; never empty.
    #[inline]
    pub fn spare(&mut self) -> &mut [u8] {
        if self.bytes.is_empty() {
            let rested = RESTING.with_borrow_mut(|resting| resting.storage.pop());
            self.bytes = rested.unwrap_or_else(|| vec![0; CAPACITY_BYTES]);
        }
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        let gap = self.start > 0 && self.start + self.wanted > self.bytes.len();
        if gap || self.end == self.bytes.len() {
            self.make_room();
        }
        &mut self.bytes[self.end..]
    }

    /// Move what is left to the front and grow when that is not enough. A peer that announces much and sends little
    /// gets little: the buffer doubles only when it is full.
    #[cold]
    fn make_room(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
    }

    /// Note that `count` bytes were read into [`PacketBuffer::spare`].
    #[inline]
    pub fn filled(&mut self, count: usize) {
        self.end += count;
        debug_assert!(self.end <= self.bytes.len());
    }

    /// The next whole packet, or nothing when more must be read. `sequence` is the number that it must carry, and is
    /// advanced.
    #[inline]
    pub fn next(&mut self, sequence: &mut u8) -> Result<Option<Range<usize>>> {
        // The common case in few instructions: a whole packet that breaks no rule.
        if let Some((length, number)) = self.header(self.start)
            && number == *sequence
            && length < PART_BYTES_MAX.min(self.payload_bytes_max + 1)
        {
            let payload = self.start + HEADER_BYTES..self.start + HEADER_BYTES + length;
            if payload.end <= self.end {
                return Ok(Some(self.take(payload, sequence)));
            }
        }
        self.next_uncommon(sequence)
    }

    #[inline]
    fn take(&mut self, payload: Range<usize>, sequence: &mut u8) -> Range<usize> {
        *sequence = sequence.wrapping_add(1);
        self.start = payload.end;
        self.wanted = HEADER_BYTES;
        payload
    }

    #[inline(never)]
    fn next_uncommon(&mut self, sequence: &mut u8) -> Result<Option<Range<usize>>> {
        let Some((length, number)) = self.header(self.start) else {
            self.wanted = HEADER_BYTES;
            return Ok(None);
        };
        if number != *sequence && self.numbers_checked {
            return Err(self.out_of_order(self.start, length, number, *sequence));
        }
        if length == PART_BYTES_MAX {
            return self.next_joined(sequence);
        }
        if length > self.payload_bytes_max {
            return Err(too_long(length, self.payload_bytes_max));
        }
        let payload = self.start + HEADER_BYTES..self.start + HEADER_BYTES + length;
        if payload.end > self.end {
            self.wanted = HEADER_BYTES + length;
            return Ok(None);
        }
        // Out of order, and nobody minds: go on counting from here.
        *sequence = number;
        Ok(Some(self.take(payload, sequence)))
    }

    /// The bytes of a payload that [`PacketBuffer::next`] returned.
    #[inline]
    #[must_use]
    pub fn payload(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Whether bytes are left that no packet was made of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[inline]
    fn header(&self, at: usize) -> Option<(usize, u8)> {
        let [a, b, c, number] = *self.bytes.get(at..self.end)?.first_chunk()?;
        Some((u32::from_le_bytes([a, b, c, 0]) as usize, number))
    }

    /// A server that closes a connection of its own accord says so in an error packet that answers nothing; any other
    /// packet out of order is a breach.
    #[cold]
    fn out_of_order(&self, at: usize, length: usize, number: u8, expected: u8) -> Error {
        let payload = at + HEADER_BYTES..(at + HEADER_BYTES + length).min(self.end);
        match self.bytes.get(payload).map(parse_error) {
            Some(Ok(last_words)) if self.bytes[at + HEADER_BYTES] == ERR => {
                Error::ClosedBy(last_words)
            }
            _ => Error::protocol(format!("packet number {number} where {expected} was due")),
        }
    }

    /// A payload of several packets: wait until all have arrived, then close the gaps between them.
    #[cold]
    fn next_joined(&mut self, sequence: &mut u8) -> Result<Option<Range<usize>>> {
        let mut at = self.start;
        let mut total = 0;
        let mut expected = *sequence;
        loop {
            let Some((length, number)) = self.header(at) else {
                self.wanted = at - self.start + HEADER_BYTES;
                return Ok(None);
            };
            if number != expected && self.numbers_checked {
                return Err(self.out_of_order(at, length, number, expected));
            }
            expected = expected.wrapping_add(1);
            total += length;
            if total > self.payload_bytes_max {
                return Err(too_long(total, self.payload_bytes_max));
            }
            at += HEADER_BYTES + length;
            if length < PART_BYTES_MAX {
                break;
            }
        }
        if at > self.end {
            self.wanted = at - self.start;
            return Ok(None);
        }
        let first = self.start + HEADER_BYTES;
        let mut from = first;
        let mut to = first;
        while to < first + total {
            let length = PART_BYTES_MAX.min(first + total - to);
            self.bytes.copy_within(from..from + length, to);
            to += length;
            from += length + HEADER_BYTES;
        }
        *sequence = expected;
        self.start = at;
        self.wanted = HEADER_BYTES;
        Ok(Some(first..first + total))
    }
}

#[cold]
fn too_long(length: usize, limit: usize) -> Error {
    Error::protocol(format!(
        "a packet of {length} bytes or more, the limit is {limit}"
    ))
}

/// Begin a packet: room for the header that [`finish`] fills in.
#[inline]
pub fn begin(out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; HEADER_BYTES]);
}

/// Frame the payload that follows the header begun in `out`, numbered from `sequence`; returns the number that comes
/// next. A payload too long for one packet is cut into several.
#[inline]
pub fn finish(out: &mut Vec<u8>, sequence: u8) -> u8 {
    let length = out.len() - HEADER_BYTES;
    if length >= PART_BYTES_MAX {
        return finish_parts(out, sequence);
    }
    put_header(&mut out[..HEADER_BYTES], length, sequence);
    sequence.wrapping_add(1)
}

#[cold]
fn finish_parts(out: &mut Vec<u8>, mut sequence: u8) -> u8 {
    let total = out.len() - HEADER_BYTES;
    // A payload that fills its last packet to the brim is ended by an empty one.
    let parts = total / PART_BYTES_MAX + 1;
    out.resize(parts * HEADER_BYTES + total, 0);
    for part in (0..parts).rev() {
        let length = PART_BYTES_MAX.min(total - part * PART_BYTES_MAX);
        let from = HEADER_BYTES + part * PART_BYTES_MAX;
        let header = part * (HEADER_BYTES + PART_BYTES_MAX);
        out.copy_within(from..from + length, header + HEADER_BYTES);
    }
    for part in 0..parts {
        let length = PART_BYTES_MAX.min(total - part * PART_BYTES_MAX);
        let header = part * (HEADER_BYTES + PART_BYTES_MAX);
        put_header(&mut out[header..header + HEADER_BYTES], length, sequence);
        sequence = sequence.wrapping_add(1);
    }
    sequence
}

fn put_header(header: &mut [u8], length: usize, sequence: u8) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part's length has three bytes"
    )]
    let length = (length as u32).to_le_bytes();
    header.copy_from_slice(&[length[0], length[1], length[2], sequence]);
}
