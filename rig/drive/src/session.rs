//! One session: transaction after transaction, each repeated while the error policy says so.

use std::rc::Rc;

use dyno_reactor::{now_ns, sleep, sleep_until_ns};

use crate::backoff::Backoff;
use crate::connect::{self, Opened};
use crate::desk::Turn;
use crate::pace::{self, Pace};
use crate::worker::Local;
use crate::{Client, Error, Rng, Workload};

/// The random numbers of a session's pauses are those of a session far beyond all others.
const BACKOFF_STREAM: u64 = 1 << 63;

/// Works from `t0_ns` on, turn by turn, until there is none, then says goodbye. An error that is not repeated ends the trial.
pub(crate) async fn run<W: Workload>(
    local: Rc<Local<W>>,
    mut session: Opened<W::Session>,
    mut pace: Pace,
    t0_ns: u64,
) {
    let spec = &local.trial.spec;
    let rng = Rng::new(spec.seed, BACKOFF_STREAM | session.index as u64);
    let mut backoff = Backoff::new(&spec.errors, rng);
    sleep_until_ns(t0_ns).await;
    let mut ended_ns = now_ns();
    loop {
        ended_ns = rest(&local, &mut session, ended_ns).await;
        let Some(turn) = pace.turn(&local, ended_ns).await else {
            break;
        };
        match transact(&local, &mut session, &mut backoff, turn).await {
            Ok(end_ns) => ended_ns = end_ns,
            Err(error) => {
                // rare and large: kept out of the session's own memory
                let resumed = Box::pin(connect::resume(&local, &mut session, turn.due_ns, error));
                if let Err(error) = resumed.await {
                    local.trial.control.fail(now_ns(), error);
                    break;
                }
                ended_ns = now_ns();
            }
        }
    }
    local.recorder.borrow_mut().session_ended();
    session.client.disconnect().await;
    local.live.set(local.live.get() - 1);
}

/// Waits as long as the session's user does, or until the worker stops; returns when that was over.
#[inline]
async fn rest<W: Workload>(local: &Local<W>, session: &mut Opened<W::Session>, now_ns: u64) -> u64 {
    let workload = &local.trial.workload;
    let Some(pause) = workload.pause(&mut session.state, &mut session.client) else {
        return now_ns;
    };
    let pause_ns = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
    pace::wait(&local.stopped, now_ns.saturating_add(pause_ns)).await;
    dyno_reactor::now_ns()
}

/// Runs one transaction to its success, which it records; returns when it ended.
async fn transact<W: Workload>(
    local: &Local<W>,
    session: &mut Opened<W::Session>,
    backoff: &mut Backoff,
    turn: Turn,
) -> Result<u64, Error> {
    let rng = session.client.rng.clone();
    let mut retries = 0;
    let mut attempt_ns = turn.start_ns;
    loop {
        session.client.count_anew();
        match connect::attempt(local, session).await {
            Ok(kind) => {
                let end_ns = session.client.last_ns().max(attempt_ns);
                local.recorder.borrow_mut().transaction(
                    end_ns,
                    kind,
                    turn,
                    u64::from(retries),
                    session.client.counted(),
                );
                return Ok(end_ns);
            }
            Err(error) => {
                recover(local, &mut session.client, backoff, retries, error).await?;
                session.client.rng = rng.clone();
                let now_ns = now_ns();
                local
                    .recorder
                    .borrow_mut()
                    .lost(now_ns, now_ns - attempt_ns);
                attempt_ns = now_ns;
                retries += 1;
            }
        }
    }
}

/// Rolls back and waits when the policy repeats this error; gives the error back when it does not.
#[cold]
async fn recover<W: Workload>(
    local: &Local<W>,
    client: &mut Client,
    backoff: &mut Backoff,
    retries: u32,
    error: Error,
) -> Result<(), Error> {
    let policy = &local.trial.spec.errors;
    let repeat = error
        .code()
        .is_some_and(|code| policy.retry.contains(&code));
    if !repeat || retries >= policy.retries_max {
        return Err(error);
    }
    local.repeated.replace(Some(error));
    client.simple(local.trial.rollback, "ROLLBACK").await?;
    sleep(backoff.pause(retries)).await;
    Ok(())
}
