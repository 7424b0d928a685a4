//! Sockets on a real kernel: loopback TCP, Unix sockets, socket pairs.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use dyno_reactor::{
    Address, Endpoint, Listener, Stream, block_on, sleep, spawn, timeout, yield_now,
};

const LIMIT: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(5);

async fn echo(mut stream: Stream) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        stream.write_all(&buffer[..count]).await.unwrap();
    }
}

async fn read_exact(stream: &mut Stream, mut buffer: &mut [u8]) {
    while !buffer.is_empty() {
        let count = stream.read(buffer).await.unwrap();
        assert_ne!(count, 0, "the stream ended early");
        buffer = &mut buffer[count..];
    }
}

/// Many tasks, each with a connection, against a server on the same thread.
async fn ping_pong(listener: Listener, endpoint: Endpoint) {
    const CLIENTS: usize = 50;
    spawn(async move {
        for _ in 0..CLIENTS {
            spawn(echo(listener.accept().await.unwrap()));
        }
    });
    let done = std::rc::Rc::new(std::cell::Cell::new(0));
    for client in 0..CLIENTS {
        let (endpoint, done) = (endpoint.clone(), std::rc::Rc::clone(&done));
        spawn(async move {
            let mut stream = Stream::connect(&endpoint, LIMIT).await.unwrap();
            for round in 0..20 {
                let sent = [client.to_le_bytes(), usize::to_le_bytes(round)].concat();
                stream.write_all(&sent).await.unwrap();
                let mut received = vec![0; sent.len()];
                read_exact(&mut stream, &mut received).await;
                assert_eq!(received, sent);
            }
            done.set(done.get() + 1);
        });
    }
    while done.get() < CLIENTS {
        sleep(SHORT).await;
    }
}

#[test]
fn tcp_sessions() {
    block_on(async {
        let listener = Listener::bind(&Endpoint::Tcp(([127, 0, 0, 1], 0).into())).unwrap();
        let address = listener.local_address().unwrap().unwrap();
        ping_pong(listener, Endpoint::Tcp(address)).await;
    })
    .unwrap();
}

#[test]
fn unix_sessions() {
    let directory = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::Unix(directory.path().join("s"));
    block_on(async {
        let listener = Listener::bind(&endpoint).unwrap();
        ping_pong(listener, endpoint.clone()).await;
    })
    .unwrap();
}

/// Far more than the kernel's buffers hold, in both directions at once: writes must wait and go on.
#[test]
fn writes_wait_for_room() {
    let (near, far) = UnixStream::pair().unwrap();
    block_on(async {
        spawn(echo(Stream::from_unix(far).unwrap()));
        let mut stream = Stream::from_unix(near).unwrap();
        let sent: Vec<u8> = (0..4_000_000_u32)
            .map(|index| (index % 251) as u8)
            .collect();
        for chunk in sent.chunks(100_000) {
            stream.write_all(chunk).await.unwrap();
            let mut received = vec![0; chunk.len()];
            read_exact(&mut stream, &mut received).await;
            assert_eq!(received, chunk);
        }
    })
    .unwrap();
}

#[test]
fn a_large_write_needs_a_reader() {
    const BYTES: usize = 8_000_000;
    let (near, mut far) = UnixStream::pair().unwrap();
    let reader = std::thread::spawn(move || {
        let mut received = Vec::new();
        far.read_to_end(&mut received).unwrap();
        received.len()
    });
    block_on(async {
        let mut stream = Stream::from_unix(near).unwrap();
        stream.write_all(&vec![7; BYTES]).await.unwrap();
    })
    .unwrap();
    assert_eq!(reader.join().unwrap(), BYTES);
}

/// The last data and the end arrive together and are reported once.
#[test]
fn the_end_is_seen_after_the_last_data() {
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(b"last").unwrap();
    drop(far);
    block_on(async {
        let mut stream = Stream::from_unix(near).unwrap();
        let mut buffer = [0; 64];
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 4);
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 0);
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 0);
    })
    .unwrap();
}

#[test]
fn a_buffer_smaller_than_the_data_is_read_again() {
    let (near, mut far) = UnixStream::pair().unwrap();
    far.write_all(b"abcdef").unwrap();
    block_on(timeout(LIMIT, async {
        let mut stream = Stream::from_unix(near).unwrap();
        let mut buffer = [0; 4];
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 4);
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 2);
    }))
    .unwrap()
    .unwrap();
}

#[test]
fn a_silent_peer_times_out_and_a_late_answer_is_still_read() {
    let (near, mut far) = UnixStream::pair().unwrap();
    block_on(async {
        let mut stream = Stream::from_unix(near).unwrap();
        stream.set_timeout(Some(Duration::from_millis(20)));
        let mut buffer = [0; 8];
        for _ in 0..2 {
            let error = stream.read(&mut buffer).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        }
        far.write_all(b"late").unwrap();
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 4);
        stream.set_timeout(None);
        assert!(
            timeout(Duration::from_millis(150), stream.read(&mut buffer))
                .await
                .is_err()
        );
    })
    .unwrap();
}

#[test]
fn a_write_that_nobody_reads_times_out() {
    let (near, _far) = UnixStream::pair().unwrap();
    block_on(async {
        let mut stream = Stream::from_unix(near).unwrap();
        stream.set_timeout(Some(Duration::from_millis(20)));
        let error = stream.write_all(&vec![0; 8_000_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    })
    .unwrap();
}

#[test]
fn refused_connections_say_so() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = Address::Tcp {
        host: "127.0.0.1".into(),
        port,
    };
    let endpoint = address.resolve().unwrap().remove(0);
    let error = block_on(Stream::connect(&endpoint, LIMIT))
        .unwrap()
        .err()
        .expect("nobody listens");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);

    let nowhere = Endpoint::Unix("/nonexistent/socket".into());
    let error = block_on(Stream::connect(&nowhere, LIMIT))
        .unwrap()
        .err()
        .expect("there is no such file");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

/// A Unix listener whose queue is full makes clients wait instead of failing.
#[test]
fn a_full_queue_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
    socket
        .bind(&socket2::SockAddr::unix(&path).unwrap())
        .unwrap();
    socket.listen(1).unwrap();
    let endpoint = Endpoint::Unix(path);
    block_on(async {
        let mut streams = Vec::new();
        while let Ok(stream) = Stream::connect(&endpoint, Duration::from_millis(20)).await {
            streams.push(stream);
            assert!(streams.len() < 100, "the queue never fills");
        }
        let accepting = std::thread::spawn(move || {
            std::thread::sleep(SHORT);
            socket.accept().unwrap();
            socket
        });
        Stream::connect(&endpoint, LIMIT).await.unwrap();
        drop(accepting.join().unwrap());
    })
    .unwrap();
}

/// A socket's slot is used again at once; what was reported for the old one must not reach the new one.
#[test]
fn a_closed_socket_leaves_nothing_to_its_successor() {
    block_on(async {
        for _ in 0..100 {
            let (near, mut far) = UnixStream::pair().unwrap();
            let first = Stream::from_unix(near).unwrap();
            far.write_all(b"x").unwrap();
            drop(far);
            yield_now().await;
            drop(first);
            let (near, _far) = UnixStream::pair().unwrap();
            let mut second = Stream::from_unix(near).unwrap();
            let mut buffer = [0; 4];
            assert!(
                timeout(Duration::from_micros(50), second.read(&mut buffer))
                    .await
                    .is_err()
            );
        }
    })
    .unwrap();
}

#[test]
fn a_stream_outlives_its_reactor_without_hanging() {
    let (near, _far) = UnixStream::pair().unwrap();
    let mut stream = block_on(async { Stream::from_unix(near).unwrap() }).unwrap();
    let mut buffer = [0; 4];
    let error = block_on(stream.read(&mut buffer)).unwrap().unwrap_err();
    assert!(error.to_string().contains("does not run"), "{error}");
}

/// A read that was given up must not make the next one fail, however long ago it began.
#[test]
fn an_abandoned_wait_does_not_count() {
    let (near, mut far) = UnixStream::pair().unwrap();
    block_on(async {
        let mut stream = Stream::from_unix(near).unwrap();
        stream.set_timeout(Some(Duration::from_millis(300)));
        let mut buffer = [0; 8];
        assert!(timeout(SHORT, stream.read(&mut buffer)).await.is_err());
        sleep(Duration::from_millis(600)).await;
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            far.write_all(b"x").unwrap();
        });
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 1);
        writer.join().unwrap();
    })
    .unwrap();
}

/// Time that this thread spent computing is not the peer's.
#[test]
fn a_busy_thread_does_not_time_out_its_peers() {
    let (near, mut far) = UnixStream::pair().unwrap();
    block_on(async {
        let mut stream = Stream::from_unix(near).unwrap();
        stream.set_timeout(Some(Duration::from_millis(200)));
        std::thread::sleep(Duration::from_millis(500));
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            far.write_all(b"x").unwrap();
        });
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 1);
        writer.join().unwrap();
    })
    .unwrap();
}
