//! The compressed protocol: packets of packets, without a socket.
//!
//! A compressed packet has seven bytes of header (its length, a sequence number of its own, and the length of what it
//! unpacks to, or 0 when it was not worth packing), and carries a piece of the ordinary stream of packets.

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

use crate::error::{Error, Result};
use crate::options::Compression;

const HEADER_BYTES: usize = 7;
const PIECE_BYTES_MAX: usize = 0xff_ffff;
/// Less than this is not worth packing; the servers have the same limit.
const PACK_BYTES_MIN: usize = 50;
const ZLIB_LEVEL: u32 = 6;

enum Algorithm {
    Zlib {
        compress: Box<Compress>,
        decompress: Box<Decompress>,
    },
    Zstd {
        compress: Box<zstd::bulk::Compressor<'static>>,
        decompress: Box<zstd::bulk::Decompressor<'static>>,
    },
}

/// Both directions of one connection.
pub struct Codec {
    algorithm: Algorithm,
    sequence: u8,
    /// Received and not unpacked.
    packed: Vec<u8>,
    /// The last packet unpacked; `plain_at` bytes of it were taken.
    plain: Vec<u8>,
    plain_at: usize,
}

impl Codec {
    /// The codec that `compression` asks for; none when it is off.
    pub fn new(compression: Compression) -> Result<Option<Self>> {
        let algorithm = match compression {
            Compression::Off => return Ok(None),
            Compression::Zlib => Algorithm::Zlib {
                compress: Box::new(Compress::new(flate2::Compression::new(ZLIB_LEVEL), true)),
                decompress: Box::new(Decompress::new(true)),
            },
            Compression::Zstd { level } => Algorithm::Zstd {
                compress: Box::new(zstd::bulk::Compressor::new(level.into()).map_err(broken)?),
                decompress: Box::new(zstd::bulk::Decompressor::new().map_err(broken)?),
            },
        };
        Ok(Some(Self {
            algorithm,
            sequence: 0,
            packed: Vec::new(),
            plain: Vec::new(),
            plain_at: 0,
        }))
    }

    /// A new command begins: numbers start again.
    pub fn begin_command(&mut self) {
        self.sequence = 0;
    }

    /// Append `bytes`, packed, to `out`.
    pub fn pack(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        for piece in bytes.chunks(PIECE_BYTES_MAX) {
            let header = out.len();
            out.resize(header + HEADER_BYTES, 0);
            let worth_it = piece.len() >= PACK_BYTES_MIN && self.algorithm.compress(piece, out)?;
            if !worth_it {
                out.truncate(header + HEADER_BYTES);
                out.extend_from_slice(piece);
            }
            let packed_length = le24(out.len() - header - HEADER_BYTES);
            let plain_length = le24(if worth_it { piece.len() } else { 0 });
            out[header..header + 3].copy_from_slice(&packed_length);
            out[header + 3] = self.sequence;
            out[header + 4..header + 7].copy_from_slice(&plain_length);
            self.sequence = self.sequence.wrapping_add(1);
        }
        Ok(())
    }

    /// Take over bytes from the network.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.packed.extend_from_slice(bytes);
    }

    /// Fill `buffer` with unpacked bytes; 0 when more must be fed first. At most one packet is unpacked at a time, so
    /// that a small input cannot claim more than 16 MiB.
    pub fn take(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.plain_at == self.plain.len() {
            if !self.unpack()? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.plain.len() - self.plain_at);
        buffer[..count].copy_from_slice(&self.plain[self.plain_at..self.plain_at + count]);
        self.plain_at += count;
        Ok(count)
    }

    /// Unpack the next packet if all of it is there.
    fn unpack(&mut self) -> Result<bool> {
        let Some(header) = self.packed.first_chunk::<HEADER_BYTES>() else {
            return Ok(false);
        };
        let number = header[3];
        if number != self.sequence {
            let what = format!(
                "compressed packet number {number} where {} was due",
                self.sequence
            );
            return Err(Error::protocol(what));
        }
        let end = HEADER_BYTES + length_of(&header[..3]);
        let plain_length = length_of(&header[4..]);
        let Some(payload) = self.packed.get(HEADER_BYTES..end) else {
            return Ok(false);
        };
        self.plain.clear();
        self.plain_at = 0;
        if plain_length == 0 {
            self.plain.extend_from_slice(payload);
        } else {
            self.algorithm
                .decompress(payload, plain_length, &mut self.plain)?;
        }
        self.packed.drain(..end);
        self.sequence = number.wrapping_add(1);
        Ok(true)
    }
}

impl Algorithm {
    /// Append `piece`, packed, to `out`, and say whether that made it smaller.
    fn compress(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let start = out.len();
        match self {
            Self::Zlib { compress, .. } => {
                compress.reset();
                // No more room than the plain text takes: what does not fit is not worth packing.
                out.reserve_exact(piece.len());
                let limit = start + piece.len();
                out.resize(limit, 0);
                let status = compress
                    .compress(piece, &mut out[start..], FlushCompress::Finish)
                    .map_err(broken)?;
                let length = usize::try_from(compress.total_out()).map_err(broken)?;
                out.truncate(start + length);
                Ok(status == Status::StreamEnd && length < piece.len())
            }
            Self::Zstd { compress, .. } => {
                let packed = compress.compress(piece).map_err(broken)?;
                out.extend_from_slice(&packed);
                Ok(packed.len() < piece.len())
            }
        }
    }

    /// Unpack `payload` into `plain`, which must come to exactly `length` bytes.
    fn decompress(&mut self, payload: &[u8], length: usize, plain: &mut Vec<u8>) -> Result<()> {
        plain.resize(length, 0);
        let got = match self {
            Self::Zlib { decompress, .. } => {
                decompress.reset(true);
                let status = decompress
                    .decompress(payload, plain, FlushDecompress::Finish)
                    .map_err(broken)?;
                let all = status == Status::StreamEnd;
                if all {
                    usize::try_from(decompress.total_out()).map_err(broken)?
                } else {
                    0
                }
            }
            Self::Zstd { decompress, .. } => decompress
                .decompress_to_buffer(payload, &mut plain[..])
                .map_err(broken)?,
        };
        if got != length {
            return Err(Error::protocol(format!(
                "a compressed packet unpacks to other than {length} bytes"
            )));
        }
        Ok(())
    }
}

fn le24(length: usize) -> [u8; 3] {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "pieces are shorter than 16 MiB"
    )]
    let [a, b, c, _] = (length as u32).to_le_bytes();
    [a, b, c]
}

fn length_of(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .fold(0, |length, &byte| length << 8 | usize::from(byte))
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::protocol(format!("compression: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn algorithm() -> impl Strategy<Value = Compression> {
        prop_oneof![
            Just(Compression::Zlib),
            Just(Compression::Zstd { level: 3 })
        ]
    }

    fn codec(compression: Compression) -> Codec {
        Codec::new(compression).unwrap().expect("not off")
    }

    proptest! {
        /// Whatever is sent in whatever pieces arrives as it was.
        #[test]
        fn round_trip(
            compression in algorithm(),
            writes in prop::collection::vec((any::<u8>(), 0..5000_usize, any::<bool>()), 1..8),
            piece in 1..3000_usize,
        ) {
            let (mut sender, mut receiver) = (codec(compression), codec(compression));
            let mut sent = Vec::new();
            let mut wire = Vec::new();
            for (byte, length, noise) in writes {
                let bytes: Vec<u8> = (0..length)
                    .map(|index| if noise { (index * index / 7).to_le_bytes()[0] ^ byte } else { byte })
                    .collect();
                sender.pack(&bytes, &mut wire).unwrap();
                sent.extend(bytes);
            }
            let mut received = Vec::new();
            let mut buffer = [0; 700];
            for chunk in wire.chunks(piece) {
                receiver.feed(chunk);
                while let count @ 1.. = receiver.take(&mut buffer).unwrap() {
                    received.extend_from_slice(&buffer[..count]);
                }
            }
            prop_assert_eq!(received, sent);
        }

        #[test]
        fn any_input_is_survived(compression in algorithm(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut receiver = codec(compression);
            receiver.feed(&bytes);
            let mut buffer = [0; 700];
            while let Ok(1..) = receiver.take(&mut buffer) {}
        }
    }

    #[test]
    fn pieces_longer_than_a_packet() {
        let bytes = vec![b'x'; PIECE_BYTES_MAX + 10];
        let mut wire = Vec::new();
        codec(Compression::Zlib).pack(&bytes, &mut wire).unwrap();
        let mut receiver = codec(Compression::Zlib);
        receiver.feed(&wire);
        let mut total = 0;
        let mut buffer = vec![0; 1 << 20];
        while let count @ 1.. = receiver.take(&mut buffer).unwrap() {
            total += count;
        }
        assert_eq!(total, bytes.len());
    }

    #[test]
    fn a_lying_length_is_refused() {
        let mut wire = Vec::new();
        codec(Compression::Zlib)
            .pack(&[b'x'; 100], &mut wire)
            .unwrap();
        wire[4] = 101;
        let mut receiver = codec(Compression::Zlib);
        receiver.feed(&wire);
        assert!(
            receiver
                .take(&mut [0; 10])
                .unwrap_err()
                .to_string()
                .contains("101 bytes")
        );
    }
}
