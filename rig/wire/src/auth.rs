//! Proving that one knows the password, without a socket: packets in, packets out.

use mysql_common::scramble;
use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;

use crate::cursor::Cursor;
use crate::error::{Error, Result};
use crate::response::{ERR, OK, parse_error, unexpected};
use crate::secret::Secret;

/// The ways to log in that this client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// SHA-1 challenge, MySQL 4.1 to 8.4 and MariaDB.
    NativePassword,
    /// SHA-256 challenge, with the password itself when the server has not cached it. MySQL 8.0 and later.
    CachingSha2,
    /// The password itself, under the server's key unless TLS protects it. MySQL 5.6 and later; servers also name it
    /// when the user does not exist.
    Sha256,
    /// Signature with a key made from the password, MariaDB.
    Ed25519,
}

impl Plugin {
    /// The plugin that the server calls `name`.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        [
            Self::NativePassword,
            Self::CachingSha2,
            Self::Sha256,
            Self::Ed25519,
        ]
        .into_iter()
        .find(|plugin| plugin.name().as_bytes() == name)
    }

    /// The protocol's name for the client side of the plugin.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
            Self::Ed25519 => "client_ed25519",
        }
    }
}

/// Who can listen in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Anybody on the network: plain TCP.
    Open,
    /// Nobody outside this host: a Unix socket.
    Local,
    /// Nobody: TLS.
    Encrypted,
}

/// What to do after a packet of the login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthStep {
    /// Send this payload and wait for the next packet.
    Send(Vec<u8>),
    /// Wait for the next packet.
    Wait,
    /// Logged in.
    Done,
}

/// One login.
#[derive(Debug)]
pub struct Auth {
    plugin: Plugin,
    nonce: Vec<u8>,
    password: Secret,
    channel: Channel,
    awaiting_key: bool,
    /// A broken server could ask for ever.
    rounds_left: u8,
}

const MORE_DATA: u8 = 0x01;
const SWITCH: u8 = 0xfe;

const SHA256_REQUEST_PUBLIC_KEY: u8 = 1;
const REQUEST_PUBLIC_KEY: u8 = 2;
const FAST_AUTH_OK: u8 = 3;
const FULL_AUTH: u8 = 4;

/// More packets than any login needs.
const ROUNDS_MAX: u8 = 16;

impl Auth {
    /// Begin with the plugin that the greeting names, or, when it is unknown, with one that lets the server switch.
    #[must_use]
    pub fn new(
        plugin_name: &[u8],
        nonce: &[u8],
        password: Option<Secret>,
        channel: Channel,
    ) -> Self {
        Self {
            plugin: Plugin::from_name(plugin_name).unwrap_or(Plugin::NativePassword),
            nonce: nonce.to_vec(),
            password: password.unwrap_or_default(),
            channel,
            awaiting_key: false,
            rounds_left: ROUNDS_MAX,
        }
    }

    /// The plugin in use.
    #[must_use]
    pub fn plugin(&self) -> Plugin {
        self.plugin
    }

    /// What to answer to the current nonce; the first answer travels in the handshake response.
    pub fn answer(&mut self) -> Vec<u8> {
        let password = self.password.reveal().as_bytes();
        self.awaiting_key = false;
        match self.plugin {
            Plugin::Ed25519 => {
                scramble::create_response_for_ed25519(password, &self.nonce).to_vec()
            }
            _ if password.is_empty() => Vec::new(),
            Plugin::NativePassword => scramble::scramble_native(&self.nonce, password)
                .map(Vec::from)
                .unwrap_or_default(),
            Plugin::CachingSha2 => scramble::scramble_sha256(&self.nonce, password)
                .map(Vec::from)
                .unwrap_or_default(),
            Plugin::Sha256 if self.channel == Channel::Encrypted => self.password_with_zero(),
            Plugin::Sha256 => {
                self.awaiting_key = true;
                vec![SHA256_REQUEST_PUBLIC_KEY]
            }
        }
    }

    /// Take the server's next packet.
    pub fn step(&mut self, packet: &[u8]) -> Result<AuthStep> {
        self.rounds_left = self
            .rounds_left
            .checked_sub(1)
            .ok_or_else(|| Error::protocol(format!("a login of more than {ROUNDS_MAX} packets")))?;
        match packet.split_first() {
            Some((&OK, _)) => Ok(AuthStep::Done),
            Some((&ERR, _)) => Err(Error::Server(parse_error(packet)?)),
            Some((&SWITCH, rest)) => self.switch(rest),
            Some((&MORE_DATA, data)) => self.more_data(data),
            _ => Err(unexpected(packet, "the answer to the login")),
        }
    }

    fn switch(&mut self, request: &[u8]) -> Result<AuthStep> {
        if request.is_empty() {
            return Err(Error::Auth(
                "the server asks for the plugin mysql_old_password of MySQL 4.0".into(),
            ));
        }
        let mut cursor = Cursor::new(request);
        let name = cursor.until_zero("the name of an authentication plugin")?;
        self.plugin = Plugin::from_name(name).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            Error::Auth(format!(
                "the server asks for the unknown authentication plugin {name}"
            ))
        })?;
        let nonce = cursor.rest();
        self.nonce = match self.plugin {
            // 32 bytes of any value: a zero at their end is one of them
            Plugin::Ed25519 => nonce,
            // 20 bytes that are no zero, and a zero
            _ => nonce.strip_suffix(&[0]).unwrap_or(nonce),
        }
        .to_vec();
        Ok(AuthStep::Send(self.answer()))
    }

    fn more_data(&mut self, data: &[u8]) -> Result<AuthStep> {
        if std::mem::take(&mut self.awaiting_key) {
            return self.encrypt_password(data).map(AuthStep::Send);
        }
        if self.plugin != Plugin::CachingSha2 {
            return Err(Error::protocol(format!(
                "more data for {}",
                self.plugin.name()
            )));
        }
        match *data {
            [FAST_AUTH_OK] => Ok(AuthStep::Wait),
            [FULL_AUTH] if self.channel != Channel::Open => {
                Ok(AuthStep::Send(self.password_with_zero()))
            }
            [FULL_AUTH] => {
                self.awaiting_key = true;
                Ok(AuthStep::Send(vec![REQUEST_PUBLIC_KEY]))
            }
            _ => Err(unexpected(data, "the state of caching_sha2_password")),
        }
    }

    fn password_with_zero(&self) -> Vec<u8> {
        let mut password = self.password.reveal().as_bytes().to_vec();
        password.push(0);
        password
    }

    /// The password under the server's RSA key, mixed with the nonce so that it cannot be replayed.
    fn encrypt_password(&self, pem: &[u8]) -> Result<Vec<u8>> {
        let key = std::str::from_utf8(pem)
            .ok()
            .and_then(|pem| RsaPublicKey::from_public_key_pem(pem).ok())
            .ok_or_else(|| unexpected(pem, "the server's RSA key"))?;
        let mut mixed = self.password_with_zero();
        if self.nonce.is_empty() {
            return Err(Error::protocol("an empty nonce"));
        }
        for (byte, nonce) in mixed.iter_mut().zip(self.nonce.iter().cycle()) {
            *byte ^= nonce;
        }
        key.encrypt(&mut rsa::rand_core::OsRng, Oaep::new::<Sha1>(), &mixed)
            .map_err(|error| {
                Error::Auth(format!(
                    "the password cannot be encrypted with the server's RSA key: {error}"
                ))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(plugin: Plugin, nonce: &[u8]) -> Vec<u8> {
        let password = Some(Secret::new("secret".to_owned()));
        let mut auth = Auth::new(b"mysql_native_password", b"", password, Channel::Open);
        let request = [&[SWITCH], plugin.name().as_bytes(), &[0], nonce].concat();
        match auth.step(&request).unwrap() {
            AuthStep::Send(answer) => answer,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_zero_at_the_end_of_a_nonce_is_signed_by_ed25519_and_ends_the_others() {
        let nonce = [[7; 31].as_slice(), &[0]].concat();
        let signed = scramble::create_response_for_ed25519(b"secret", &nonce);
        assert_eq!(answer_to(Plugin::Ed25519, &nonce), signed);
        for plugin in [Plugin::NativePassword, Plugin::CachingSha2] {
            let nonce = [[7; 20].as_slice(), &[0]].concat();
            assert_eq!(answer_to(plugin, &nonce), answer_to(plugin, &nonce[..20]));
        }
    }
}
