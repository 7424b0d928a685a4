//! How sessions are opened, and what becomes of a session that lost its connection.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use dyno_reactor::{now_ns, sleep, sleep_until_ns, spawn};
use dyno_record::{ErrorPolicy, Reconnect};

use crate::acks::Key;
use crate::backoff::Backoff;
use crate::preflight::{self, Demand};
use crate::worker::{Local, Peer};
use crate::{Client, Error, Rng, Workload};

/// A session that is ready to work.
pub(crate) struct Opened<S> {
    pub index: usize,
    pub client: Client,
    pub state: S,
    /// The server, as the first session that came to it met it.
    pub peer: Option<Peer>,
    outage: Option<Outage>,
}

/// The time since a session lost its connection, until its next success.
struct Outage {
    since_ns: u64,
    attempts: u32,
    backoff: Backoff,
}

/// How many sessions of a worker connect at a time: fewer than the shortest queue of a listening server.
const CONNECTING_MAX: usize = 16;
/// How often is looked whether all are there, or the trial is over.
const LOOK: Duration = Duration::from_millis(1);
/// Pauses before a session connects again: short enough to see a server come back, long enough for one that starts.
const PAUSE_MIN_US: u64 = 10_000;
const PAUSE_MAX_US: u64 = 1_000_000;
/// The random numbers of these pauses are those of a session far beyond all others.
const PAUSE_STREAM: u64 = 1 << 62;

/// Connects and prepares every session, a few at a time. `None` when the trial ended meanwhile.
pub(crate) async fn open_all<W: Workload>(
    local: &Rc<Local<W>>,
    sessions: &[usize],
) -> Option<Vec<Opened<W::Session>>> {
    let opened = Rc::new(RefCell::new(Vec::with_capacity(sessions.len())));
    let connectors = CONNECTING_MAX.min(sessions.len());
    for connector in 0..connectors {
        let mine: Vec<usize> = sessions
            .iter()
            .copied()
            .skip(connector)
            .step_by(connectors)
            .collect();
        let (local, opened) = (Rc::clone(local), Rc::clone(&opened));
        spawn(async move {
            for index in mine {
                wait_for_turn(&local, index).await;
                match open(&local, index).await {
                    Ok(session) => opened.borrow_mut().push(session),
                    Err(error) => return local.trial.control.fail(now_ns(), error),
                }
                local.trial.control.opened_one();
            }
        });
    }
    while opened.borrow().len() < sessions.len() {
        if local.trial.control.stop_ns().is_some() {
            return None;
        }
        sleep(LOOK).await;
    }
    let mut opened = opened.take();
    opened.sort_by_key(|o| o.index);
    Some(opened)
}

/// Sessions connect one pause after the other, and after the scouts have found that the servers will bear them and that
/// the workload can run there.
async fn wait_for_turn<W: Workload>(local: &Local<W>, index: usize) {
    let trial = &local.trial;
    let stagger = Duration::from_secs_f64(trial.spec.connection.stagger_s);
    let after = stagger.saturating_mul(u32::try_from(index).unwrap_or(u32::MAX));
    if !after.is_zero() {
        let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        sleep_until_ns(trial.begun_ns.saturating_add(after_ns)).await;
    }
    let scouts = trial.dial.scouts(trial.spec.load.sessions());
    while index >= scouts && trial.control.scouted() < scouts {
        sleep(LOOK).await;
    }
}

async fn open<W: Workload>(local: &Local<W>, index: usize) -> Result<Opened<W::Session>, Error> {
    let trial = &local.trial;
    let sessions = trial.spec.load.sessions();
    let rng = Rng::new(trial.spec.seed, index as u64);
    let mut client = Client::new(Rc::clone(&local.common), index, rng);
    client.connect().await?;
    let mut peer = None;
    if index < trial.dial.scouts(sessions) {
        let here = trial.dial.sessions_at(index, sessions);
        let demand = Demand::new(&trial.spec, here, trial.workload.statements_per_session());
        let isolation = preflight::check(&mut client, demand).await?;
        peer = client
            .connection()
            .map(|connection| Peer::of(connection, isolation));
    }
    let state = trial.workload.open(&mut client, index, sessions).await?;
    if peer.is_some() {
        trial.control.scouted_one();
    }
    if trial.spec.connection.per_transaction {
        client.disconnect().await;
    }
    Ok(Opened {
        index,
        client,
        state,
        peer,
        outage: None,
    })
}

/// One attempt at a transaction, with its own connection where the spec asks for that.
pub(crate) async fn attempt<W: Workload>(
    local: &Local<W>,
    session: &mut Opened<W::Session>,
) -> Result<usize, Error> {
    let trial = &local.trial;
    if session.client.connection().is_none() {
        session.client.connect().await?;
    }
    *session.client.key() = Key::default();
    let kind = trial
        .workload
        .transaction(&mut session.state, &mut session.client)
        .await?;
    if let Some(log) = &trial.acks {
        log.write(session.index, kind, session.client.key())?;
    }
    if trial.spec.connection.per_transaction {
        session.client.disconnect().await;
    }
    session.outage = None;
    Ok(kind)
}

/// What becomes of a session whose transaction failed for good. When its connection was lost and the spec says so, it
/// connects again, and goes on with the next transaction; otherwise the error comes back and ends the trial.
#[cold]
pub(crate) async fn resume<W: Workload>(
    local: &Local<W>,
    session: &mut Opened<W::Session>,
    due_ns: u64,
    error: Error,
) -> Result<(), Error> {
    if local.trial.spec.connection.reconnect == Reconnect::Fail || !error.is_lost() {
        return Err(error);
    }
    session.client.hang_up();
    local
        .recorder
        .borrow_mut()
        .transaction_lost(now_ns(), due_ns);
    let resumed = reconnect(local, session, error).await;
    local.recorder.borrow_mut().session_back();
    // should no transaction ever succeed, this is why
    resumed.map(|error| drop(local.repeated.replace(Some(error))))
}

/// Ends when the session is connected again or no time is left, with the error that it got over; or with the error
/// that is the trial's.
async fn reconnect<W: Workload>(
    local: &Local<W>,
    session: &mut Opened<W::Session>,
    mut error: Error,
) -> Result<Error, Error> {
    let connection = &local.trial.spec.connection;
    let limit = Duration::from_secs_f64(connection.connect_timeout_s);
    let rng = || Rng::new(local.trial.spec.seed, PAUSE_STREAM | session.index as u64);
    let outage = session.outage.get_or_insert_with(|| Outage::new(rng()));
    loop {
        if outage.duration() > limit {
            return Err(error);
        }
        let pause_ns = u64::try_from(outage.pause().as_nanos()).unwrap_or(u64::MAX);
        sleep_until_ns((now_ns() + pause_ns).min(local.stop_ns.get())).await;
        if connection.per_transaction || now_ns() >= local.stop_ns.get() {
            return Ok(error);
        }
        match session.client.connect().await {
            Ok(()) => {
                local.recorder.borrow_mut().reconnected(now_ns());
                return Ok(error);
            }
            Err(next) if next.is_lost() => error = next,
            Err(next) => return Err(next),
        }
    }
}

impl Outage {
    fn new(rng: Rng) -> Self {
        let pauses = ErrorPolicy {
            backoff_min_us: PAUSE_MIN_US,
            backoff_max_us: PAUSE_MAX_US,
            ..ErrorPolicy::default()
        };
        Self {
            since_ns: now_ns(),
            attempts: 0,
            backoff: Backoff::new(&pauses, rng),
        }
    }

    fn duration(&self) -> Duration {
        Duration::from_nanos(now_ns() - self.since_ns)
    }

    fn pause(&mut self) -> Duration {
        let pause = self.backoff.pause(self.attempts);
        self.attempts = self.attempts.saturating_add(1);
        pause
    }
}
