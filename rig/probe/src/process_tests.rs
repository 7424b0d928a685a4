use super::*;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

fn thread_cpu_us() -> u64 {
    crate::thread_cpu_us()
}

/// Computes until this thread has used `us` of CPU time.
fn burn(us: u64) {
    let begun = thread_cpu_us();
    let mut value = 1_u64;
    while thread_cpu_us() - begun < us {
        for _ in 0..1_000_000 {
            value = std::hint::black_box(value.wrapping_mul(0x5851_f42d_4c95_7f2d) + 1);
        }
    }
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().unwrap()
}

#[test]
fn a_busy_loop_is_seen_as_cpu_time() {
    let mut me = Watched::open(std::process::id(), Role::Rig, Vec::new()).unwrap();
    burn(300_000);
    let record = me.sample(1_000_000, 1_000_000).unwrap();
    assert!(record.cpu_user_us >= 200_000, "{record:?}");
    assert!(
        record.rss_bytes > 1 << 20 && record.threads >= 1,
        "{record:?}"
    );
    assert_eq!((record.role, record.pid), (Role::Rig, std::process::id()));
    assert!(
        record.read_bytes.is_some(),
        "one's own I/O may always be read"
    );
    assert_eq!(record.run_delay_us, None, "nobody asked for it");
}

#[test]
fn waiting_for_a_cpu_is_recorded_for_the_named_threads() {
    let mut me = Watched::open(std::process::id(), Role::Rig, vec![crate::gettid()]).unwrap();
    // two threads of one CPU each wait while the other runs
    let cpu = dyno_reactor::allowed_cpus()[0];
    dyno_reactor::pin_current_thread(cpu).unwrap();
    let rival = std::thread::spawn(move || {
        dyno_reactor::pin_current_thread(cpu).unwrap();
        burn(200_000);
    });
    burn(200_000);
    rival.join().unwrap();
    let record = me.sample(0, 1).unwrap();
    assert!(record.run_delay_us.unwrap() >= 50_000, "{record:?}");
}

#[test]
fn voluntary_switches_of_every_thread_are_counted() {
    let mut me = Watched::open(std::process::id(), Role::Rig, Vec::new()).unwrap();
    let (napped, release) = (mpsc::channel(), mpsc::channel::<()>());
    let naps = std::thread::spawn(move || {
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(1));
        }
        napped.0.send(()).unwrap();
        // the counts of a thread that has ended are gone
        release.1.recv().unwrap_err();
    });
    napped.1.recv().unwrap();
    let seen = me.sample(0, 1).unwrap().voluntary_switches;
    drop(release.0);
    naps.join().unwrap();
    assert!(seen >= 50, "{seen}");
}

#[test]
fn a_process_that_ended_is_an_error_even_as_a_zombie() {
    let mut child = sleeper();
    let mut watched = Watched::open(child.id(), Role::Server, Vec::new()).unwrap();
    assert_eq!(watched.sample(0, 1).unwrap().pid, child.id());
    assert_eq!(watched.folder(), std::env::current_dir().ok());
    child.kill().unwrap();
    // not waited for, so it is a zombie as soon as the signal is through
    let mut ended = watched.sample(0, 1);
    while ended.is_ok() {
        std::thread::yield_now();
        ended = watched.sample(0, 1);
    }
    child.wait().unwrap();
    assert!(watched.sample(0, 1).is_err());
    assert!(Watched::open(u32::MAX, Role::Server, Vec::new()).is_err());
}
