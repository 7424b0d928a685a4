//! Tasks, timers and how tasks wake each other.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use dyno_reactor::{
    Elapsed, Notify, Reactor, Signal, block_on, now_ns, sleep, sleep_until, sleep_until_ns, spawn,
    timeout, yield_now,
};

const SHORT: Duration = Duration::from_millis(5);
const NEVER: Duration = Duration::from_secs(3600);

#[test]
fn block_on_lends_and_returns() {
    let text = String::from("borrowed");
    let length = block_on(async {
        yield_now().await;
        text.len()
    });
    assert_eq!(length.unwrap(), 8);
}

#[test]
fn run_ends_when_every_task_has_ended() {
    let reactor = Reactor::new().unwrap();
    let ended = Rc::new(Cell::new(0));
    for _ in 0..10 {
        let ended = Rc::clone(&ended);
        reactor.spawn(async move {
            sleep(SHORT).await;
            let inner = Rc::clone(&ended);
            spawn(async move {
                yield_now().await;
                inner.set(inner.get() + 1);
            });
            ended.set(ended.get() + 1);
        });
    }
    reactor.run().unwrap();
    assert_eq!(ended.get(), 20);
}

#[test]
fn tasks_left_over_are_dropped() {
    let held = Rc::new(());
    let clone = Rc::clone(&held);
    block_on(async {
        spawn(async move {
            sleep(NEVER).await;
            drop(clone);
        });
        yield_now().await;
    })
    .unwrap();
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn a_second_reactor_on_a_thread_is_refused() {
    let nested = block_on(async { block_on(async {}) }).unwrap();
    assert!(
        nested
            .unwrap_err()
            .to_string()
            .contains("already runs a reactor")
    );
}

#[test]
fn sleeps_end_in_order_and_not_early() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let reactor = Reactor::new().unwrap();
    let start = Instant::now();
    for delay_ms in [9_u64, 3, 6] {
        let order = Rc::clone(&order);
        reactor.spawn(async move {
            let deadline = start + Duration::from_millis(delay_ms);
            sleep_until(deadline).await;
            assert!(Instant::now() >= deadline);
            order.borrow_mut().push(delay_ms);
        });
    }
    reactor.run().unwrap();
    assert_eq!(*order.borrow(), [3, 6, 9]);
}

#[test]
fn a_deadline_in_the_past_does_not_wait() {
    block_on(async {
        sleep_until_ns(now_ns() - 1).await;
        sleep_until(Instant::now()).await;
    })
    .unwrap();
}

#[test]
fn timeout_gives_up_and_forgets() {
    block_on(async {
        assert_eq!(timeout(SHORT, sleep(NEVER)).await, Err(Elapsed));
        assert_eq!(timeout(NEVER, async { 7 }).await, Ok(7));
        // Cancelled deadlines must not keep later ones from firing.
        for _ in 0..1000 {
            assert_eq!(timeout(NEVER, yield_now()).await, Ok(()));
        }
        sleep(SHORT).await;
    })
    .unwrap();
}

#[test]
fn a_busy_task_does_not_starve_timers() {
    block_on(async {
        let fired = Rc::new(Cell::new(false));
        let set = Rc::clone(&fired);
        spawn(async move {
            sleep(SHORT).await;
            set.set(true);
        });
        while !fired.get() {
            yield_now().await;
        }
    })
    .unwrap();
}

#[test]
fn a_signal_wakes_all_now_and_later() {
    let signal = Rc::new(Signal::new());
    let woken = Rc::new(Cell::new(0));
    let reactor = Reactor::new().unwrap();
    for _ in 0..3 {
        let (signal, woken) = (Rc::clone(&signal), Rc::clone(&woken));
        reactor.spawn(async move {
            signal.wait().await;
            woken.set(woken.get() + 1);
        });
    }
    let setter = Rc::clone(&signal);
    reactor.spawn(async move {
        sleep(SHORT).await;
        setter.set();
        setter.wait().await;
    });
    reactor.run().unwrap();
    assert!(signal.is_set());
    assert_eq!(woken.get(), 3);
}

#[test]
fn permits_go_to_the_longest_waiter_and_are_not_lost() {
    let notify = Rc::new(Notify::new());
    let order = Rc::new(RefCell::new(Vec::new()));
    let reactor = Reactor::new().unwrap();
    for id in 0..4 {
        let (notify, order) = (Rc::clone(&notify), Rc::clone(&order));
        reactor.spawn(async move {
            notify.notified().await;
            order.borrow_mut().push(id);
        });
    }
    let giver = Rc::clone(&notify);
    reactor.spawn(async move {
        sleep(SHORT).await;
        for _ in 0..5 {
            giver.notify_one();
        }
    });
    reactor.run().unwrap();
    assert_eq!(*order.borrow(), [0, 1, 2, 3]);
    // The fifth permit waits for whoever comes.
    block_on(timeout(SHORT, notify.notified()))
        .unwrap()
        .unwrap();
}

#[test]
fn a_waiter_that_gave_up_does_not_take_a_permit_with_it() {
    let notify = Rc::new(Notify::new());
    block_on(async {
        assert_eq!(timeout(SHORT, notify.notified()).await, Err(Elapsed));
        let second = Rc::clone(&notify);
        let got = Rc::new(Signal::new());
        let tell = Rc::clone(&got);
        spawn(async move {
            second.notified().await;
            tell.set();
        });
        yield_now().await;
        notify.notify_one();
        timeout(NEVER.min(Duration::from_secs(20)), got.wait())
            .await
            .expect("the second waiter gets the permit");
    })
    .unwrap();
}

#[test]
fn a_permit_whose_waiter_gave_up_goes_to_the_next() {
    let notify = Rc::new(Notify::new());
    block_on(async {
        let (first, second) = (Rc::clone(&notify), Rc::clone(&notify));
        let got = Rc::new(Signal::new());
        let tell = Rc::clone(&got);
        // Called and out of time in the same round: it must not swallow the permit.
        spawn(async move {
            let mut waiting = Box::pin(first.notified());
            let _ = timeout(SHORT, &mut waiting).await;
            sleep(SHORT * 4).await;
        });
        yield_now().await;
        spawn(async move {
            second.notified().await;
            tell.set();
        });
        sleep(SHORT * 2).await;
        notify.notify_one();
        timeout(Duration::from_secs(20), got.wait())
            .await
            .expect("the permit goes on");
    })
    .unwrap();
}
