//! A server that breaks the rules: every breach is a typed error, in bounded time and memory.
//!
//! The server is a script played over a socket pair, for what no real server does.

mod fake;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dyno_reactor::{Stream, block_on, sleep, timeout};
use dyno_wire::{Address, Compression, ConnectOptions, Connection, Error, Result, Secret, TlsMode};

use fake::{CAPABILITIES, COLUMN, OK, greeting_with, packet};

const CAPABILITY_SSL: u32 = 0x0800;

enum Act {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Read one packet.
    Receive,
    /// Hold the connection open and say nothing until the client hangs up.
    Hang,
}
use Act::{Hang, Receive, Send};

fn send(sequence: u8, payload: &[u8]) -> Act {
    Send(packet(sequence, payload))
}

fn greeting() -> Act {
    send(0, &greeting_with("mysql_native_password", CAPABILITIES))
}

/// The login, then `acts`.
fn logged_in(acts: Vec<Act>) -> Vec<Act> {
    [vec![greeting(), Receive, send(2, OK)], acts]
        .into_iter()
        .flatten()
        .collect()
}

fn play(mut server: UnixStream, script: Vec<Act>) -> JoinHandle<()> {
    server
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    thread::spawn(move || {
        for act in script {
            // The client may hang up whenever it has seen enough.
            let result = match act {
                Send(bytes) => server.write_all(&bytes),
                Receive => {
                    let mut header = [0; 4];
                    server.read_exact(&mut header).and_then(|()| {
                        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
                        server.read_exact(&mut vec![0; length as usize])
                    })
                }
                Hang => std::io::copy(&mut server, &mut std::io::sink()).map(drop),
            };
            if result.is_err() {
                break;
            }
        }
    })
}

fn options() -> ConnectOptions {
    let mut options = ConnectOptions::new(
        Address::Tcp {
            host: "fake".into(),
            port: 1,
        },
        "user",
    );
    options.password = Some(Secret::new("secret"));
    options.io_timeout = Some(Duration::from_millis(100));
    options.connect_timeout = Duration::from_secs(10);
    options.packet_bytes_max = 100_000;
    options
}

/// Connect to a server that plays `script`, and go on with `client`.
fn against<T>(
    options: &ConnectOptions,
    script: Vec<Act>,
    client: impl AsyncFnOnce(Connection) -> Result<T>,
) -> Result<T> {
    let (near, far) = UnixStream::pair().unwrap();
    let server = play(far, script);
    let result = block_on(async {
        let stream = Stream::from_unix(near).unwrap();
        client(Connection::connect_over(stream, options).await?).await
    });
    server.join().unwrap();
    result.unwrap()
}

fn login_error(script: Vec<Act>) -> Error {
    against(&options(), script, async |_| Ok(())).unwrap_err()
}

/// What a query says when the server answers it with `acts`, and that the connection is closed to the next one.
fn query_error(acts: Vec<Act>) -> Error {
    let script = logged_in([vec![Receive], acts].into_iter().flatten().collect());
    against(&options(), script, async |mut connection| {
        let error = connection.query_table("SELECT 1").await.unwrap_err();
        assert!(!connection.is_usable());
        assert!(matches!(connection.ping().await, Err(Error::Closed)));
        Ok(error)
    })
    .unwrap()
}

#[track_caller]
fn assert_protocol(error: &Error, what: &str) {
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    assert!(error.to_string().contains(what), "{error}");
}

#[test]
fn a_server_that_is_full_says_so() {
    let error = login_error(vec![send(0, b"\xff\x10\x04Too many connections")]);
    assert_eq!(error.code(), Some(1040));
    assert!(error.hint().unwrap().contains("max_connections"));
}

#[test]
fn greetings_of_something_else() {
    assert_protocol(
        &login_error(vec![Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]),
        "packet number",
    );
    assert_protocol(
        &login_error(vec![send(0, b"\x09old")]),
        "protocol version 9",
    );
    assert_protocol(&login_error(vec![send(0, b"")]), "the greeting");
    let whole = greeting_with("mysql_native_password", CAPABILITIES);
    for length in 1..whole.len() - b"mysql_native_password\0".len() {
        assert_protocol(&login_error(vec![send(0, &whole[..length])]), "ends inside");
    }
}

#[test]
fn a_server_that_closes_or_falls_silent_while_logging_in() {
    assert!(matches!(login_error(vec![]), Error::Closed));
    assert!(matches!(
        login_error(vec![greeting(), Receive]),
        Error::Closed
    ));
    let mut impatient = options();
    impatient.connect_timeout = Duration::from_millis(50);
    let error = against(&impatient, vec![greeting(), Hang], async |_| Ok(())).unwrap_err();
    assert_eq!(error.to_string(), "connecting to fake:1 took too long");
}

#[test]
fn logins_that_cannot_be() {
    let plugin = login_error(vec![greeting(), Receive, send(2, b"\xfedialog\0nonce")]);
    assert!(matches!(plugin, Error::Auth(_)), "{plugin}");
    assert!(plugin.to_string().contains("dialog"));
    let old = login_error(vec![greeting(), Receive, send(2, b"\xfe")]);
    assert!(old.to_string().contains("mysql_old_password"), "{old}");
    assert_protocol(
        &login_error(vec![greeting(), Receive, send(2, b"\xfeno zero")]),
        "authentication plugin",
    );
    assert_protocol(
        &login_error(vec![greeting(), Receive, send(2, b"\x01?")]),
        "more data for mysql_native_password",
    );
    assert_protocol(
        &login_error(vec![greeting(), Receive, send(7, OK)]),
        "packet number 7 where 2 was due",
    );
    let few = greeting_with("mysql_native_password", 0x8000);
    let lacking = login_error(vec![send(0, &few)]);
    assert!(
        lacking.to_string().contains("lacks CLIENT_PROTOCOL_41"),
        "{lacking}"
    );
}

#[test]
fn a_login_without_end() {
    let mut script = vec![greeting(), Receive];
    for round in 0..50 {
        script.extend([
            send(
                2 + 2 * round,
                b"\xfemysql_native_password\0a new nonce, 20 long\0",
            ),
            Receive,
        ]);
    }
    assert_protocol(&login_error(script), "more than 16 packets");
}

#[test]
fn keys_that_are_none() {
    for key in [
        &b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"[..],
        b"\x01",
        b"\x01\xff\xfe",
    ] {
        let script = vec![
            send(0, &greeting_with("caching_sha2_password", CAPABILITIES)),
            Receive,
            send(2, b"\x01\x04"),
            Receive,
            send(4, key),
        ];
        assert_protocol(&login_error(script), "the server's RSA key");
    }
}

#[test]
fn tls_and_compression_are_not_silently_left_out() {
    let mut encrypted = options();
    encrypted.tls = TlsMode::Required;
    let error = against(&encrypted, vec![greeting()], async |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("lacks CLIENT_SSL"), "{error}");
    let mut compressed = options();
    compressed.compression = Compression::Zlib;
    let error = against(&compressed, vec![greeting()], async |_| Ok(())).unwrap_err();
    assert!(
        error.to_string().contains("lacks CLIENT_COMPRESS"),
        "{error}"
    );
}

#[test]
fn nothing_may_stand_between_greeting_and_tls() {
    let mut encrypted = options();
    encrypted.tls = TlsMode::Required;
    encrypted.address = Address::Tcp {
        host: "localhost".into(),
        port: 1,
    };
    let greeting = greeting_with("mysql_native_password", CAPABILITIES | CAPABILITY_SSL);
    let injected = [packet(0, &greeting), packet(2, OK)].concat();
    let error = against(&encrypted, vec![Send(injected), Hang], async |_| Ok(())).unwrap_err();
    assert_protocol(&error, "between the greeting and TLS");
    let nonsense = vec![send(0, &greeting), Receive, Send(vec![b'x'; 100]), Hang];
    let error = against(&encrypted, nonsense, async |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Tls(_)), "{error:?}");
}

#[test]
fn answers_that_break_the_rules() {
    assert_protocol(&query_error(vec![send(1, b"")]), "the number of columns");
    assert_protocol(&query_error(vec![send(1, &[0])]), "affected rows");
    assert_protocol(
        &query_error(vec![send(0, OK)]),
        "packet number 0 where 1 was due",
    );
    assert_protocol(
        &query_error(vec![send(1, &[0xfd, 0xff, 0xff, 0xff])]),
        "the header of a result",
    );
    assert_protocol(
        &query_error(vec![send(1, &[1, 2])]),
        "the header of a result",
    );
    assert_protocol(
        &query_error(vec![send(1, &[1]), send(2, &COLUMN[..9])]),
        "a column",
    );
    assert_protocol(
        &query_error(vec![send(1, &[1]), send(2, COLUMN), send(3, b"")]),
        "an empty packet",
    );
    assert_protocol(
        &query_error(vec![send(1, &[1]), send(2, COLUMN), send(4, b"\x011")]),
        "packet number 4",
    );
    assert_protocol(
        &query_error(vec![Send(vec![0xff, 0xff, 0xff, 1])]),
        "the limit is 100000",
    );
    let unknown = [&COLUMN[..17], &[99], &COLUMN[18..]].concat();
    assert_protocol(
        &query_error(vec![send(1, &[1]), send(2, &unknown)]),
        "unknown type 99",
    );
}

#[test]
fn answers_that_stop() {
    assert!(matches!(query_error(vec![]), Error::Closed));
    assert!(matches!(
        query_error(vec![send(1, &[1]), Send(packet(2, COLUMN)[..9].to_vec())]),
        Error::Closed
    ));
    let silent = query_error(vec![Hang]);
    assert_eq!(
        silent.to_string(),
        "waiting for the server's answer took too long"
    );
    let half = query_error(vec![send(1, &[1]), Send(vec![20, 0, 0, 2, 1]), Hang]);
    assert!(matches!(half, Error::Timeout { .. }), "{half:?}");
}

#[test]
fn a_bad_row_is_an_error_after_the_rest_was_read() {
    let end = [0xfe, 0, 0, 2, 0, 0, 0];
    let acts = vec![
        Receive,
        send(1, &[1]),
        send(2, COLUMN),
        send(3, b"\x05abc"),
        send(4, b"\x011"),
        send(5, &end),
        Receive,
        send(1, OK),
    ];
    against(&options(), logged_in(acts), async |mut connection| {
        let error = connection.query_table("SELECT c").await.unwrap_err();
        assert_protocol(&error, "a value of a text row");
        connection.ping().await
    })
    .unwrap();
}

#[test]
fn a_file_that_nobody_offered_is_not_sent() {
    let acts = vec![
        Receive,
        send(1, b"\xfb/etc/passwd"),
        Receive,
        send(3, OK),
        Receive,
        send(1, OK),
    ];
    against(&options(), logged_in(acts), async |mut connection| {
        let error = connection.query(b"SELECT 1").await.unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
        connection.ping().await
    })
    .unwrap();
    let error = against(&options(), logged_in(vec![]), async |mut connection| {
        connection
            .load_local(b"LOAD DATA LOCAL INFILE", |_| false)
            .await
    });
    assert!(error.unwrap_err().to_string().contains("local_infile"));
}

#[test]
fn prepared_answers_that_break_the_rules() {
    for (answer, what) in [
        (&b""[..], "a preparation"),
        (b"\0\x01\0", "the id"),
        (b"\x07", "where the answer"),
    ] {
        let script = logged_in(vec![Receive, send(1, answer)]);
        let error = against(&options(), script, async |mut connection| {
            connection.prepare("SELECT 1").await
        });
        assert_protocol(&error.unwrap_err(), what);
    }
}

#[test]
fn a_future_that_was_dropped_leaves_the_connection_closed() {
    let script = logged_in(vec![Receive, Hang]);
    against(&options(), script, async |mut connection| {
        let given_up = timeout(
            Duration::from_millis(10),
            connection.query(b"SELECT SLEEP(9)"),
        )
        .await;
        assert!(given_up.is_err());
        assert!(matches!(
            connection.query(b"SELECT 1").await,
            Err(Error::Closed)
        ));
        Ok(())
    })
    .unwrap();
}

/// A server that shuts down or loses patience says so without being asked.
#[test]
fn last_words_are_heard() {
    let words = packet(
        0,
        b"\xff\xbf\x0f#HY000The client was disconnected by the server because of inactivity.",
    );
    let unasked = logged_in(vec![Send(words.clone()), Receive]);
    let error = against(&options(), unasked, async |mut connection| {
        connection.query(b"SELECT 1").await
    })
    .unwrap_err();
    assert!(matches!(error, Error::ClosedBy(_)), "{error:?}");
    assert_eq!(error.code(), Some(4031));
    assert!(!error.leaves_connection_usable());
    // The connection is gone before the client writes.
    let hung_up = logged_in(vec![Send(words)]);
    let error = against(&options(), hung_up, async |mut connection| {
        sleep(Duration::from_millis(50)).await;
        connection.query(b"SELECT 1").await
    });
    assert_eq!(error.unwrap_err().code(), Some(4031));
}
