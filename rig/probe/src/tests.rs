use super::*;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use dyno_nullserver::{Background, Fault, Options};
use dyno_record::{Output, Status};
use dyno_wire::Address;

const INTERVAL: Duration = Duration::from_millis(20);

/// A sink's output that keeps the lines.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Line>>>);

impl Output for Kept {
    fn line(&mut self, line: &Line, _: &str) -> io::Result<()> {
        self.0.lock().unwrap().push(line.clone());
        Ok(())
    }

    fn place(&self) -> String {
        "memory".to_owned()
    }
}

impl Kept {
    fn sink(&self) -> Sink {
        Sink::new(vec![Box::new(self.clone())])
    }

    fn count(&self, wanted: impl Fn(&Line) -> bool) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|line| wanted(line))
            .count()
    }

    /// Waits until `count` such lines are there; a minute without them is a failure.
    fn wait_for(&self, count: usize, wanted: impl Fn(&Line) -> bool) {
        let begun = Instant::now();
        while self.count(&wanted) < count {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{:?}",
                self.0.lock().unwrap()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn is_note(line: &Line, part: &str) -> bool {
    matches!(line, Line::Note(note) if note.level == Level::Warn && note.text.contains(part))
}

fn is_host(line: &Line) -> bool {
    matches!(line, Line::Host(_))
}

fn is_status(line: &Line) -> bool {
    matches!(line, Line::Status(_))
}

fn options(server: Option<&Background>) -> ProbeOptions {
    let connect = |server: &Background| {
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port: server.port().unwrap(),
        };
        ConnectOptions::new(address, "probe")
    };
    ProbeOptions {
        status: server.map(connect),
        ..ProbeOptions::host_only(INTERVAL)
    }
}

#[test]
fn samples_fall_on_the_boundaries_of_the_rigs_clock() {
    let kept = Kept::default();
    let t0_ns = now_ns() + 50_000_000;
    let probe = Probe::start(options(None), t0_ns, kept.sink()).unwrap();
    kept.wait_for(5, is_host);
    let report = probe.stop();
    let lines = kept.0.lock().unwrap();
    let hosts: Vec<(i64, u64)> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Host(host) => Some((host.t_us, host.duration_us)),
            _ => None,
        })
        .collect();
    assert_eq!(report.samples, hosts.len() as u64);
    assert!(
        hosts[0].0 >= 20_000,
        "a whole interval after t = 0: {hosts:?}"
    );
    // each sample is of another interval, and together they cover the time without a gap
    assert!(
        hosts
            .windows(2)
            .all(|pair| pair[1].0 / 20_000 > pair[0].0 / 20_000),
        "{hosts:?}"
    );
    for pair in hosts.windows(2) {
        assert!(
            (pair[1].0 - pair[0].0).unsigned_abs().abs_diff(pair[1].1) <= 1,
            "{hosts:?}"
        );
    }
    let rigs = lines
        .iter()
        .filter(|line| matches!(line, Line::Process(process) if process.role == Role::Rig));
    assert_eq!(rigs.count(), hosts.len());
}

#[test]
fn counts_what_it_asks_of_the_server() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let kept = Kept::default();
    let probe = Probe::start(options(Some(&server)), now_ns(), kept.sink()).unwrap();
    kept.wait_for(3, is_status);
    let report = probe.stop();
    // beside the records: the first question of a connection, which has no difference yet, the goodbye, and
    // perhaps one question without an answer
    let records = kept.count(is_status) as u64;
    assert!(
        (records + 2..=records + 3).contains(&report.statements),
        "{report:?}, {records} records"
    );
    let empty =
        |line: &Line| matches!(line, Line::Status(Status { counters, .. }) if counters.is_empty());
    assert!(
        kept.count(empty) as u64 == records,
        "the null server counts nothing"
    );
}

#[test]
fn a_silent_server_is_told_and_does_not_stop_the_rest() {
    let server = Background::on_loopback(Options {
        fault: Some(Fault::Silent),
        ..Options::default()
    })
    .unwrap();
    let kept = Kept::default();
    let probe = Probe::start(options(Some(&server)), now_ns(), kept.sink()).unwrap();
    kept.wait_for(1, |line| is_note(line, "has not answered"));
    let hosts = kept.count(is_host);
    kept.wait_for(hosts + 3, is_host);
    assert_eq!(probe.stop().statements, 1, "one question stays open");
    assert_eq!(
        kept.count(|line| is_note(line, "has not answered")),
        1,
        "told once"
    );
    assert_eq!(kept.count(is_status), 0);
}

#[test]
fn a_server_that_went_away_is_told_once() {
    let server = Background::on_loopback(Options::default()).unwrap();
    let kept = Kept::default();
    let probe = Probe::start(options(Some(&server)), now_ns(), kept.sink()).unwrap();
    kept.wait_for(1, is_status);
    drop(server);
    kept.wait_for(1, |line| is_note(line, "server's status is lost"));
    let hosts = kept.count(is_host);
    kept.wait_for(hosts + 3, is_host);
    drop(probe);
    // every beat since then met a refused connection
    let lost = kept.count(|line| is_note(line, "status is lost"));
    let refused = kept.count(|line| is_note(line, "no connection"));
    assert_eq!((lost, refused), (1, 0));
}

#[test]
fn a_server_process_that_ends_is_told_once() {
    let mut child = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    let pid = child.id();
    let kept = Kept::default();
    let options = ProbeOptions {
        server_pid: Some(pid),
        ..options(None)
    };
    let probe = Probe::start(options, now_ns(), kept.sink()).unwrap();
    kept.wait_for(
        1,
        |line| matches!(line, Line::Process(process) if process.pid == pid),
    );
    child.kill().unwrap();
    child.wait().unwrap();
    kept.wait_for(1, |line| is_note(line, "has ended"));
    let hosts = kept.count(is_host);
    kept.wait_for(hosts + 3, is_host);
    drop(probe);
    assert_eq!(kept.count(|line| is_note(line, &pid.to_string())), 1);
}

#[test]
fn a_process_that_is_not_there_is_a_note() {
    let kept = Kept::default();
    let options = ProbeOptions {
        server_pid: Some(4_194_305),
        ..options(None)
    };
    let probe = Probe::start(options, now_ns(), kept.sink()).unwrap();
    kept.wait_for(1, |line| is_note(line, "4194305"));
    kept.wait_for(1, is_host);
    drop(probe);
}

#[test]
fn stopping_before_the_start_takes_no_sample() {
    let kept = Kept::default();
    let in_an_hour = now_ns() + 3_600_000_000_000;
    let probe = Probe::start(options(None), in_an_hour, kept.sink()).unwrap();
    assert_eq!(probe.stop().samples, 0);
    assert!(kept.0.lock().unwrap().is_empty());
}
