//! TLS: what is verified, and the session itself without a socket.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};

use crate::error::{Error, Result};
use crate::options::TlsMode;

thread_local! {
    /// A configuration is dear to make, remembers sessions to resume, and never changes.
    static CONFIGS: RefCell<HashMap<TlsMode, Arc<ClientConfig>>> = RefCell::default();
}

/// One TLS session: bytes in, bytes out.
pub(crate) struct Session {
    tls: ClientConnection,
    /// Received and not decrypted: rustls keeps only a few records of plain text, so it is fed as it is emptied.
    incoming: Vec<u8>,
    /// Written by the session and not sent yet.
    pub(crate) outgoing: Vec<u8>,
}

impl Session {
    /// Begin a session with the server called `host`.
    pub(crate) fn new(mode: &TlsMode, host: &str) -> Result<Self> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            Error::Usage(format!("{host} is not a name that a certificate can carry"))
        })?;
        let mut tls = ClientConnection::new(config(mode)?, name).map_err(failed)?;
        tls.set_buffer_limit(None);
        Ok(Self {
            tls,
            incoming: Vec::new(),
            outgoing: Vec::new(),
        })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// TLS version and cipher suite in words, once the handshake is done.
    pub(crate) fn describe(&self) -> String {
        let version = self
            .tls
            .protocol_version()
            .map_or("TLS", |version| version.as_str().unwrap_or("TLS"));
        let suite = self.tls.negotiated_cipher_suite();
        let suite = suite
            .and_then(|suite| suite.suite().as_str())
            .unwrap_or("unknown cipher suite");
        format!("{version} {suite}")
    }

    /// Encrypt `bytes` into [`Session::outgoing`].
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.tls.writer().write_all(bytes).map_err(failed)?;
        self.flush()
    }

    /// Move what the session has to say into [`Session::outgoing`].
    pub(crate) fn flush(&mut self) -> Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.outgoing).map_err(failed)?;
        }
        Ok(())
    }

    /// Take over bytes from the network.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.incoming.extend_from_slice(bytes);
    }

    /// Go on with the handshake as far as the bytes that were fed allow.
    pub(crate) fn shake_hands(&mut self) -> Result<()> {
        while self.tls.is_handshaking() && !self.incoming.is_empty() {
            self.advance()?;
        }
        Ok(())
    }

    /// Fill `buffer` with decrypted bytes; 0 when more must be fed first.
    pub(crate) fn take(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.tls.reader().read(buffer) {
                Ok(0) => return Err(Error::Closed),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(error)),
            }
            if self.incoming.is_empty() {
                return Ok(0);
            }
            self.advance()?;
        }
    }

    /// Let rustls have a part of what was fed.
    fn advance(&mut self) -> Result<()> {
        let count = self.tls.read_tls(&mut &self.incoming[..]).map_err(failed)?;
        self.incoming.drain(..count);
        let processed = self.tls.process_new_packets();
        self.flush()?;
        processed.map(drop).map_err(failed)
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Tls(error.to_string())
}

fn config(mode: &TlsMode) -> Result<Arc<ClientConfig>> {
    if let Some(config) = CONFIGS.with_borrow(|configs| configs.get(mode).cloned()) {
        return Ok(config);
    }
    let config = Arc::new(build_config(mode)?);
    CONFIGS.with_borrow_mut(|configs| configs.insert(mode.clone(), Arc::clone(&config)));
    Ok(config)
}

fn build_config(mode: &TlsMode) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions();
    let builder = builder.map_err(failed)?.dangerous();
    let verifier: Arc<dyn ServerCertVerifier> = match mode {
        TlsMode::Off | TlsMode::Required => Arc::new(AnyCertificate { provider }),
        TlsMode::VerifyCa(ca) => Arc::new(AnyName {
            inner: verifier(ca, provider)?,
        }),
        TlsMode::VerifyIdentity(ca) => verifier(ca, provider)?,
    };
    Ok(builder
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

fn verifier(ca: &Path, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>> {
    let unusable = |error: &dyn std::fmt::Display| {
        Error::Usage(format!("the CA file {}: {error}", ca.display()))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).map_err(|error| unusable(&error))? {
        let certificate = certificate.map_err(|error| unusable(&error))?;
        roots.add(certificate).map_err(|error| unusable(&error))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| unusable(&error))
}

/// Believes every certificate, but not a handshake that its key did not sign.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Wants a certificate signed by a known authority, made out to anybody.
#[derive(Debug)]
struct AnyName {
    inner: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        // The name is looked at last, so that a wrong one means that all else was right.
        match self
            .inner
            .verify_server_cert(certificate, intermediates, name, ocsp, now)
        {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.inner
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.inner
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
