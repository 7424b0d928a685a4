//! From nothing to a connection that is logged in.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use dyno_reactor::{Address, Endpoint, Stream, timeout};
use mysql_common::packets::{AuthPlugin, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;

use crate::auth::{Auth, AuthStep, Channel};
use crate::compress::Codec;
use crate::connection::{Connection, ConnectionInfo};
use crate::error::{Error, Result};
use crate::handshake::{CapabilityFlags, Handshake, capability_names};
use crate::options::{Compression, ConnectOptions, TlsMode};
use crate::tls::Session;
use crate::transport::Transport;

/// `utf8mb4_general_ci`, the one utf8mb4 collation that all engines know. `MariaDB` since 11.5 takes it for "the default
/// of utf8mb4", which its variable `character_set_collations` may set to another: servers to be compared must agree on it.
const COLLATION: u8 = 45;

impl Connection {
    /// Connect, log in and run the init statements, within `connect_timeout`. A host name is looked up once a thread,
    /// which blocks.
    ///
    /// # Panics
    /// When the thread runs no reactor.
    pub async fn connect(options: &ConnectOptions) -> Result<Self> {
        let connecting = async { Self::login(open(options).await?, options).await };
        within_limit(options, connecting).await
    }

    /// Log in over a socket that is connected already.
    ///
    /// # Panics
    /// When the thread runs no reactor.
    pub async fn connect_over(stream: Stream, options: &ConnectOptions) -> Result<Self> {
        within_limit(options, Self::login(stream, options)).await
    }

    async fn login(stream: Stream, options: &ConnectOptions) -> Result<Self> {
        let codec = Codec::new(options.compression)?;
        let mut connection = Self::new(Transport::Plain(stream), options);
        let greeting = connection.next_packet().await?;
        let handshake = Handshake::parse(connection.payload(greeting))?;
        let capabilities = handshake.negotiate(options)?;
        let mut tls = None;
        if options.tls != TlsMode::Off {
            let session = Session::new(&options.tls, host(options))?;
            connection
                .send_payload(&ssl_request(options, capabilities))
                .await?;
            let (encrypted, description) = connection.encrypt(session).await?;
            connection = encrypted;
            tls = Some(description);
        }
        let channel = match options.address {
            _ if tls.is_some() => Channel::Encrypted,
            Address::Unix(_) => Channel::Local,
            Address::Tcp { .. } => Channel::Open,
        };
        let mut auth = Auth::new(
            &handshake.auth_plugin,
            &handshake.nonce,
            options.password.clone(),
            channel,
        );
        connection
            .authenticate(&mut auth, options, capabilities)
            .await?;
        if let Some(codec) = codec {
            connection = connection.compress(codec);
        }
        let info = ConnectionInfo {
            transport: if matches!(options.address, Address::Unix(_)) {
                "unix"
            } else {
                "tcp"
            }
            .into(),
            auth_plugin: auth.plugin().name().into(),
            capabilities: capability_names(capabilities),
            tls,
            compression: compression_name(options.compression),
        };
        connection.logged_in(handshake, capabilities, info, options.io_timeout);
        for sql in &options.init {
            connection.query(sql.as_bytes()).await?;
        }
        Ok(connection)
    }

    async fn authenticate(
        &mut self,
        auth: &mut Auth,
        options: &ConnectOptions,
        capabilities: CapabilityFlags,
    ) -> Result<()> {
        let response = handshake_response(options, auth, capabilities);
        self.send_payload(&response).await?;
        loop {
            let packet = self.next_packet().await?;
            match auth.step(self.payload(packet))? {
                AuthStep::Send(payload) => self.send_payload(&payload).await?,
                AuthStep::Wait => {}
                AuthStep::Done => return Ok(()),
            }
        }
    }
}

async fn within_limit(
    options: &ConnectOptions,
    connecting: impl Future<Output = Result<Connection>>,
) -> Result<Connection> {
    timeout(options.connect_timeout, connecting)
        .await
        .unwrap_or_else(|_| {
            Err(Error::Timeout {
                what: format!("connecting to {}", options.address).into(),
            })
        })
}

thread_local! {
    /// Looking a name up blocks the whole worker, so it is done once.
    static ENDPOINTS: RefCell<HashMap<Address, Rc<[Endpoint]>>> = RefCell::default();
}

fn endpoints(address: &Address) -> io::Result<Rc<[Endpoint]>> {
    if let Some(known) = ENDPOINTS.with_borrow(|endpoints| endpoints.get(address).cloned()) {
        return Ok(known);
    }
    let found: Rc<[Endpoint]> = address.resolve()?.into();
    ENDPOINTS.with_borrow_mut(|endpoints| endpoints.insert(address.clone(), Rc::clone(&found)));
    Ok(found)
}

/// A socket connected to the first of the address's endpoints that answers.
async fn open(options: &ConnectOptions) -> Result<Stream> {
    let what = || format!("connecting to {}", options.address);
    let mut last = None;
    for endpoint in endpoints(&options.address)
        .map_err(|error| Error::io(what(), error))?
        .iter()
    {
        match Stream::connect(endpoint, options.connect_timeout).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
    }
    let error = last.unwrap_or_else(|| io::Error::other("the address is empty"));
    Err(Error::io(what(), error))
}

/// The name that the server's certificate must carry.
fn host(options: &ConnectOptions) -> &str {
    match &options.address {
        Address::Tcp { host, .. } => host,
        Address::Unix(_) => "localhost",
    }
}

fn compression_name(compression: Compression) -> Option<String> {
    match compression {
        Compression::Off => None,
        Compression::Zlib => Some("zlib".into()),
        Compression::Zstd { level } => Some(format!("zstd level {level}")),
    }
}

fn packet_bytes_max(options: &ConnectOptions) -> u32 {
    u32::try_from(options.packet_bytes_max).unwrap_or(u32::MAX)
}

fn ssl_request(options: &ConnectOptions, capabilities: CapabilityFlags) -> Vec<u8> {
    let mut payload = Vec::new();
    SslRequest::new(capabilities, packet_bytes_max(options), COLLATION).serialize(&mut payload);
    payload
}

fn handshake_response(
    options: &ConnectOptions,
    auth: &mut Auth,
    capabilities: CapabilityFlags,
) -> Vec<u8> {
    let attributes = capabilities
        .contains(CapabilityFlags::CLIENT_CONNECT_ATTRS)
        .then(|| {
            options
                .attributes
                .iter()
                .cloned()
                .collect::<HashMap<_, _>>()
        });
    let response = HandshakeResponse::new(
        Some(auth.answer()),
        // Any version since 5.5.3 selects COLLATION.
        (5, 5, 3),
        Some(options.user.as_bytes()),
        options.database.as_deref().map(str::as_bytes),
        Some(AuthPlugin::from_bytes(auth.plugin().name().as_bytes())),
        capabilities,
        attributes,
        packet_bytes_max(options),
    );
    let mut payload = Vec::new();
    response.serialize(&mut payload);
    if let Compression::Zstd { level } = options.compression {
        payload.push(level);
    }
    payload
}
