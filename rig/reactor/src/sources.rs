//! The sockets that a reactor watches: what the kernel said about each, and which task waits for it.

use crate::executor::{NO_TASK, TaskId};

/// A source's slot and the generation of its occupant; travels through epoll as one integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceKey {
    pub(crate) slot: u32,
    generation: u32,
}

impl SourceKey {
    pub(crate) fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    pub(crate) fn from_u64(key: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the halves of one integer")]
        Self {
            slot: key as u32,
            generation: (key >> 32) as u32,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    generation: u32,
    /// Events that were reported and not yet used up.
    ready: u32,
    waiter: TaskId,
    /// How long a wait may take; `u64::MAX` is for ever.
    timeout_ns: u64,
    /// When the current wait is given up. Set by the first sweep that sees the wait, so that waits that end soon cost
    /// nothing; `u64::MAX` until then.
    deadline_ns: u64,
    timed_out: bool,
}

const FRESH: Source = Source {
    generation: 0,
    ready: 0,
    waiter: NO_TASK,
    timeout_ns: u64::MAX,
    deadline_ns: u64::MAX,
    timed_out: false,
};

/// What a task that asks for a socket is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    Wait,
    TimedOut,
}

#[derive(Debug, Default)]
pub(crate) struct Sources {
    sources: Vec<Source>,
    free: Vec<u32>,
}

impl Sources {
    pub(crate) fn insert(&mut self) -> SourceKey {
        if let Some(slot) = self.free.pop() {
            let source = &mut self.sources[slot as usize];
            // Events of the former occupant may still be in the batch being handled: the generation tells them apart.
            let generation = source.generation.wrapping_add(1);
            *source = Source {
                generation,
                ..FRESH
            };
            return SourceKey { slot, generation };
        }
        let slot = u32::try_from(self.sources.len()).expect("fewer than 2^32 sockets on a thread");
        self.sources.push(FRESH);
        SourceKey {
            slot,
            generation: 0,
        }
    }

    pub(crate) fn remove(&mut self, key: SourceKey) {
        let source = &mut self.sources[key.slot as usize];
        *source = Source {
            generation: source.generation,
            ..FRESH
        };
        self.free.push(key.slot);
    }

    /// Note an event and say which task it is for.
    #[inline]
    pub(crate) fn report(&mut self, key: SourceKey, events: u32) -> TaskId {
        let Some(source) = self.sources.get_mut(key.slot as usize) else {
            return NO_TASK;
        };
        if source.generation != key.generation {
            return NO_TASK;
        }
        source.ready |= events;
        source.deadline_ns = u64::MAX;
        std::mem::replace(&mut source.waiter, NO_TASK)
    }

    /// Limit every wait from now on.
    pub(crate) fn set_timeout(&mut self, key: SourceKey, timeout_ns: u64) {
        self.sources[key.slot as usize].timeout_ns = timeout_ns;
        self.begin_wait(key);
    }

    /// A new wait begins: one that was abandoned must not make it time out.
    pub(crate) fn begin_wait(&mut self, key: SourceKey) {
        let source = &mut self.sources[key.slot as usize];
        source.deadline_ns = u64::MAX;
        source.timed_out = false;
    }

    /// Whether one of the events `interest` was reported; if not, `task` waits.
    #[inline]
    pub(crate) fn poll(&mut self, key: SourceKey, interest: u32, task: TaskId) -> Readiness {
        let source = &mut self.sources[key.slot as usize];
        if source.ready & interest != 0 {
            return Readiness::Ready;
        }
        if source.timed_out {
            source.timed_out = false;
            return Readiness::TimedOut;
        }
        source.waiter = task;
        Readiness::Wait
    }

    /// The kernel has no more: wait for the next event before trying again.
    #[inline]
    pub(crate) fn clear(&mut self, key: SourceKey, events: u32) {
        self.sources[key.slot as usize].ready &= !events;
    }

    /// Mark every source whose waiter waited too long and hand its task to `wake`.
    pub(crate) fn sweep(&mut self, now_ns: u64, mut wake: impl FnMut(TaskId)) {
        for source in &mut self.sources {
            if source.waiter == NO_TASK || source.timeout_ns == u64::MAX {
                continue;
            }
            if source.deadline_ns == u64::MAX {
                source.deadline_ns = now_ns.saturating_add(source.timeout_ns);
            } else if source.deadline_ns <= now_ns {
                source.deadline_ns = u64::MAX;
                source.timed_out = true;
                wake(std::mem::replace(&mut source.waiter, NO_TASK));
            }
        }
    }
}
