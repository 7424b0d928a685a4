//! Reading integers and strings off a packet without ever reading past its end.

use crate::error::{Error, Result};

/// What is left of a packet.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

/// A length-encoded integer as it appears in a text row, where NULL has a code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lenenc {
    /// An integer or a length.
    Value(u64),
    /// The value is NULL.
    Null,
}

#[cold]
fn truncated(what: &'static str) -> Error {
    Error::protocol(format!("the packet ends inside {what}"))
}

impl<'a> Cursor<'a> {
    /// Read `packet` from its beginning.
    #[must_use]
    pub fn new(packet: &'a [u8]) -> Self {
        Self { rest: packet }
    }

    /// What has not been read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `count` bytes; `what` names them in an error.
    #[inline]
    pub fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| truncated(what))?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let (head, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| truncated(what))?;
        self.rest = rest;
        Ok(*head)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Two bytes, little endian.
    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    /// Four bytes, little endian.
    #[inline]
    pub fn u32(&mut self, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// A length-encoded integer, where NULL is not allowed.
    #[inline]
    pub fn lenenc(&mut self, what: &'static str) -> Result<u64> {
        match *self.rest {
            [value @ 0..=0xfa, ref rest @ ..] => {
                self.rest = rest;
                Ok(value.into())
            }
            _ => self.long_lenenc(what),
        }
    }

    #[inline(never)]
    fn long_lenenc(&mut self, what: &'static str) -> Result<u64> {
        match self.lenenc_or_null(what)? {
            Lenenc::Value(value) => Ok(value),
            Lenenc::Null => Err(Error::protocol(format!("{what} is NULL"))),
        }
    }

    /// A length-encoded integer or NULL.
    #[inline]
    pub fn lenenc_or_null(&mut self, what: &'static str) -> Result<Lenenc> {
        let first = self.u8(what)?;
        Ok(Lenenc::Value(match first {
            0..=0xfa => u64::from(first),
            0xfb => return Ok(Lenenc::Null),
            0xfc => u64::from(self.u16(what)?),
            0xfd => {
                let [a, b, c] = self.array(what)?;
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            0xfe => u64::from_le_bytes(self.array(what)?),
            0xff => return Err(Error::protocol(format!("{what} begins with 0xff"))),
        }))
    }

    /// A length-encoded string.
    #[inline]
    pub fn lenenc_bytes(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let length = self.lenenc(what)?;
        self.bytes(usize::try_from(length).unwrap_or(usize::MAX), what)
    }

    /// The bytes before the next zero, which is skipped.
    pub fn until_zero(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let end = memchr::memchr(0, self.rest).ok_or_else(|| truncated(what))?;
        let head = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(head)
    }
}

/// Append a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, value: u64) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lenenc_round_trip(value in prop_oneof![0..300_u64, 0xff_f0..0x1_0010_u64, 0xff_ff00..0x100_0010_u64, any::<u64>()]) {
            let mut bytes = Vec::new();
            put_lenenc(&mut bytes, value);
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(cursor.lenenc("value").unwrap(), value);
            prop_assert!(cursor.is_empty());
            for end in 0..bytes.len() {
                prop_assert!(Cursor::new(&bytes[..end]).lenenc("value").is_err());
            }
        }
    }
}
