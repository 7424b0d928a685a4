//! The bytes under the packets: a socket, and perhaps TLS and compression between.

use std::io;
use std::time::Duration;

use dyno_reactor::Stream;

use crate::compress::Codec;
use crate::error::{Error, Result};
use crate::tls::Session;

/// A connected socket. The plain path is one comparison away from the system call.
pub(crate) enum Transport {
    Plain(Stream),
    Layered(Box<Layered>),
}

/// A socket under TLS, compression, or both; compression is the upper layer.
pub(crate) struct Layered {
    stream: Stream,
    tls: Option<Session>,
    codec: Option<Codec>,
    packed: Vec<u8>,
    received: Vec<u8>,
}

/// Bytes asked of the socket at a time below TLS or compression.
const RECEIVE_BYTES: usize = 16 * 1024;

impl Transport {
    /// Wait for data, then read once. An orderly end is [`Error::Closed`].
    #[inline]
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => received(stream.read(buffer).await),
            Self::Layered(layered) => layered.read(buffer).await,
        }
    }

    /// Wait until a plain socket has something to read. What the layers above another one hold is theirs to know.
    #[inline]
    pub(crate) async fn readable(&mut self) -> Result<()> {
        match self {
            Self::Plain(stream) => match stream.readable().await {
                Ok(()) => Ok(()),
                Err(error) => Err(Error::io("waiting for the server's answer", error)),
            },
            Self::Layered(_) => Ok(()),
        }
    }

    /// Send what can be sent without waiting; returns how much of `bytes` that was.
    #[inline]
    pub(crate) fn write_now(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Plain(stream) => sent(stream.write_now(bytes)),
            Self::Layered(_) => Ok(0),
        }
    }

    pub(crate) async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Plain(stream) => sent(stream.write_all(bytes).await),
            Self::Layered(layered) => layered.write_all(bytes).await,
        }
    }

    /// A new command begins.
    #[inline]
    pub(crate) fn begin_command(&mut self) {
        if let Self::Layered(layered) = self
            && let Some(codec) = &mut layered.codec
        {
            codec.begin_command();
        }
    }

    pub(crate) fn set_timeout(&mut self, limit: Option<Duration>) {
        match self {
            Self::Plain(stream) => stream.set_timeout(limit),
            Self::Layered(layered) => layered.stream.set_timeout(limit),
        }
    }

    /// Put TLS between this socket and the packets; returns version and cipher suite.
    pub(crate) async fn encrypt(self, session: Session) -> Result<(Self, String)> {
        let mut layered = self.into_layered();
        let mut session = session;
        session.flush()?;
        layered.tls = Some(session);
        let description = layered.tls_handshake().await?;
        Ok((Self::Layered(layered), description))
    }

    /// Put compression between this socket and the packets.
    pub(crate) fn compress(self, codec: Codec) -> Self {
        let mut layered = self.into_layered();
        layered.codec = Some(codec);
        Self::Layered(layered)
    }

    fn into_layered(self) -> Box<Layered> {
        match self {
            Self::Layered(layered) => layered,
            Self::Plain(stream) => Box::new(Layered {
                stream,
                tls: None,
                codec: None,
                packed: Vec::new(),
                received: vec![0; RECEIVE_BYTES],
            }),
        }
    }
}

#[inline]
fn received(result: io::Result<usize>) -> Result<usize> {
    match result {
        Ok(0) => Err(Error::Closed),
        Ok(count) => Ok(count),
        Err(error) => Err(Error::io("waiting for the server's answer", error)),
    }
}

#[inline]
fn sent<T>(result: io::Result<T>) -> Result<T> {
    result.map_err(|error| Error::io("sending to the server", error))
}

async fn receive(stream: &mut Stream, buffer: &mut [u8]) -> Result<usize> {
    received(stream.read(buffer).await)
}

async fn send(stream: &mut Stream, bytes: &[u8]) -> Result<()> {
    sent(stream.write_all(bytes).await)
}

impl Layered {
    async fn tls_handshake(&mut self) -> Result<String> {
        loop {
            let Some(tls) = &mut self.tls else {
                return Err(Error::Closed);
            };
            send(&mut self.stream, &tls.outgoing).await?;
            tls.outgoing.clear();
            if !tls.is_handshaking() {
                return Ok(tls.describe());
            }
            let count = receive(&mut self.stream, &mut self.received).await?;
            tls.feed(&self.received[..count]);
            if let Err(error) = tls.shake_hands() {
                // Tell the server why, so that it can say so in its log.
                let _ = send(&mut self.stream, &tls.outgoing).await;
                return Err(error);
            }
        }
    }

    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let taken = match (&mut self.codec, &mut self.tls) {
                (Some(codec), _) => codec.take(buffer)?,
                (None, Some(tls)) => tls.take(buffer)?,
                (None, None) => return receive(&mut self.stream, buffer).await,
            };
            if taken > 0 {
                return Ok(taken);
            }
            self.receive_more().await?;
        }
    }

    /// Carry bytes from the socket through TLS to the codec, as far as they go.
    async fn receive_more(&mut self) -> Result<()> {
        let Some(tls) = &mut self.tls else {
            let count = receive(&mut self.stream, &mut self.received).await?;
            if let Some(codec) = &mut self.codec {
                codec.feed(&self.received[..count]);
            }
            return Ok(());
        };
        if let Some(codec) = &mut self.codec
            && let count @ 1.. = tls.take(&mut self.received)?
        {
            codec.feed(&self.received[..count]);
            return Ok(());
        }
        // TLS itself may have something to say, such as new keys.
        send(&mut self.stream, &tls.outgoing).await?;
        tls.outgoing.clear();
        let count = receive(&mut self.stream, &mut self.received).await?;
        tls.feed(&self.received[..count]);
        Ok(())
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.packed.clear();
        let packed = match &mut self.codec {
            Some(codec) => {
                codec.pack(bytes, &mut self.packed)?;
                &self.packed
            }
            None => bytes,
        };
        match &mut self.tls {
            Some(tls) => {
                tls.write(packed)?;
                let sent = send(&mut self.stream, &tls.outgoing).await;
                tls.outgoing.clear();
                sent
            }
            None => send(&mut self.stream, packed).await,
        }
    }
}
