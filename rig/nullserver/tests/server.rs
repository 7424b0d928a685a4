//! The null server over real sockets, with a client of a few lines.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dyno_nullserver::{Background, Endpoint, Options};

fn read_packet(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let [a, b, c, _] = header;
    let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
    stream.read_exact(&mut payload).unwrap();
    payload
}

fn send(stream: &mut TcpStream, sequence: u8, payload: &[u8]) {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    stream
        .write_all(&[&[a, b, c, sequence], payload].concat())
        .unwrap();
}

fn log_in(server: &Background) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port().unwrap())).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    assert_eq!(read_packet(&mut stream)[0], 10);
    let mut login = (1_u32 << 9).to_le_bytes().to_vec();
    login.extend_from_slice(&[0; 28]);
    login.extend_from_slice(b"anybody\0\0");
    send(&mut stream, 1, &login);
    assert_eq!(read_packet(&mut stream)[0], 0);
    stream
}

fn commit(stream: &mut TcpStream) {
    send(stream, 0, b"\x03COMMIT");
    assert_eq!(read_packet(stream)[0], 0);
}

#[test]
fn serves_many_clients_and_lets_them_go() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut clients: Vec<TcpStream> = (0..50).map(|_| log_in(&server)).collect();
    for client in &mut clients {
        commit(client);
    }
    send(&mut clients[0], 0, &[1]);
    assert_eq!(clients[0].read(&mut [0]).unwrap(), 0, "closed after quit");
    drop(server);
    assert_eq!(
        clients[1].read(&mut [0]).unwrap(),
        0,
        "closed with the server"
    );
}

#[test]
fn a_packet_longer_than_the_buffer_is_taken_whole() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let mut client = log_in(&server);
    for length in [5_000, 300_000, 3] {
        let sql = format!("\x03INSERT INTO t VALUES ('{}')", "x".repeat(length));
        send(&mut client, 0, sql.as_bytes());
        assert_eq!(read_packet(&mut client)[..2], [0, 1]);
    }
}

#[test]
fn every_statement_leaves_its_arrival_time() {
    let folder = std::env::temp_dir().join(format!("dyno-null-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("arrivals");
    let options = Options {
        arrivals: Some(path.clone()),
        ..Options::default()
    };
    let server = Background::on_loopback(options).unwrap();
    let mut client = log_in(&server);
    let before = dyno_reactor::now_ns();
    for _ in 0..10 {
        commit(&mut client);
    }
    let after = dyno_reactor::now_ns();
    drop(client);
    drop(server);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let times: Vec<u64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|chunk| u64::from_le_bytes(*chunk))
        .collect();
    assert_eq!(times.len(), 10);
    assert!(times.is_sorted() && times[0] >= before && times[9] <= after);
}

#[test]
fn a_stall_holds_answers_back_and_then_goes_on() {
    let options = Options {
        stall: Some("300ms@0s".parse().unwrap()),
        ..Options::default()
    };
    let server = Background::on_loopback(options).unwrap();
    let mut client = log_in(&server);
    let asked = Instant::now();
    commit(&mut client);
    let held = asked.elapsed();
    assert!(held >= Duration::from_millis(300), "{held:?}");
    commit(&mut client);
}

#[test]
fn serves_on_a_unix_socket_and_tells_what_it_cannot() {
    let path = std::env::temp_dir().join(format!("dyno-null-{}.sock", std::process::id()));
    let server = Background::start(Endpoint::Unix(path.clone()), Options::default()).unwrap();
    assert_eq!(server.port(), None);
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let mut first = [0; 5];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(first[4], 10);
    drop(server);
    let taken = Background::start(Endpoint::Unix(path.clone()), Options::default());
    let error = taken
        .err()
        .expect("the socket's file is still there")
        .to_string();
    assert!(
        error.contains("cannot listen at") && error.contains("dyno-null"),
        "{error}"
    );
    std::fs::remove_file(&path).unwrap();
}
