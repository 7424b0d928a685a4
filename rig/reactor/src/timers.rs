//! The deadlines of sleeping tasks: a binary heap that knows where each entry is, so that a cancelled sleep leaves at
//! once. Nothing is allocated within the room reserved.

use crate::executor::TaskId;

/// Names one entry until it fires or is removed.
pub(crate) type TimerKey = u32;

#[derive(Debug, Clone, Copy)]
struct Entry {
    deadline_ns: u64,
    key: TimerKey,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    task: TaskId,
    /// Index in the heap, or `FIRED`.
    position: u32,
}

const FIRED: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: Vec<Entry>,
    slots: Vec<Slot>,
    free: Vec<TimerKey>,
}

impl Timers {
    /// The earliest deadline.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.first().map(|entry| entry.deadline_ns)
    }

    /// Make room for `count` entries at once.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.heap.reserve(count.saturating_sub(self.heap.len()));
        self.slots.reserve(count.saturating_sub(self.slots.len()));
        self.free.reserve(count.saturating_sub(self.free.len()));
    }

    /// Wake `task` when `deadline_ns` is reached. The key must be given back by [`Timers::remove`].
    pub(crate) fn insert(&mut self, deadline_ns: u64, task: TaskId) -> TimerKey {
        let position = as_u32(self.heap.len());
        let slot = Slot { task, position };
        let key = if let Some(key) = self.free.pop() {
            self.slots[key as usize] = slot;
            key
        } else {
            self.slots.push(slot);
            as_u32(self.slots.len() - 1)
        };
        self.heap.push(Entry { deadline_ns, key });
        self.sift_up(position as usize);
        key
    }

    /// Let another task be woken by this entry.
    pub(crate) fn set_task(&mut self, key: TimerKey, task: TaskId) {
        self.slots[key as usize].task = task;
    }

    /// Forget an entry, fired or not, and free its key.
    pub(crate) fn remove(&mut self, key: TimerKey) {
        let position = self.slots[key as usize].position;
        if position != FIRED {
            self.take(position as usize);
        }
        self.free.push(key);
    }

    /// The task of the earliest entry that is due; the entry leaves the heap, its key stays valid.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<TaskId> {
        let first = self.heap.first()?;
        if first.deadline_ns > now_ns {
            return None;
        }
        let key = first.key;
        self.take(0);
        self.slots[key as usize].position = FIRED;
        Some(self.slots[key as usize].task)
    }

    fn take(&mut self, position: usize) {
        self.heap.swap_remove(position);
        if position < self.heap.len() {
            self.sift_up(position);
            self.sift_down(position);
        }
    }

    fn place(&mut self, position: usize, entry: Entry) {
        self.heap[position] = entry;
        self.slots[entry.key as usize].position = as_u32(position);
    }

    fn sift_up(&mut self, mut position: usize) {
        let entry = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.heap[parent].deadline_ns <= entry.deadline_ns {
                break;
            }
            self.place(position, self.heap[parent]);
            position = parent;
        }
        self.place(position, entry);
    }

    fn sift_down(&mut self, mut position: usize) {
        let entry = self.heap[position];
        loop {
            let mut child = 2 * position + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len()
                && self.heap[child + 1].deadline_ns < self.heap[child].deadline_ns
            {
                child += 1;
            }
            if entry.deadline_ns <= self.heap[child].deadline_ns {
                break;
            }
            self.place(position, self.heap[child]);
            position = child;
        }
        self.place(position, entry);
    }
}

fn as_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 timers on a thread")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is inserted and removed, entries fire in the order of their deadlines and none is lost.
        #[test]
        fn fires_in_order(steps in prop::collection::vec((0_u64..50, any::<bool>(), any::<prop::sample::Index>()), 1..200)) {
            let mut timers = Timers::default();
            let mut live: Vec<(TimerKey, u64)> = Vec::new();
            for (task, (deadline_ns, remove, which)) in (0_u32..).zip(steps) {
                if remove && !live.is_empty() {
                    let (key, _) = live.swap_remove(which.index(live.len()));
                    timers.remove(key);
                } else {
                    live.push((timers.insert(deadline_ns, task), deadline_ns));
                }
                prop_assert_eq!(timers.next_ns(), live.iter().map(|entry| entry.1).min());
            }
            let mut expected: Vec<u64> = live.iter().map(|entry| entry.1).collect();
            expected.sort_unstable();
            let mut fired = Vec::new();
            while let Some(next_ns) = timers.next_ns() {
                prop_assert!(next_ns == 0 || timers.pop_due(next_ns - 1).is_none());
                prop_assert!(timers.pop_due(next_ns).is_some());
                fired.push(next_ns);
            }
            prop_assert_eq!(fired, expected);
        }
    }

    #[test]
    fn a_fired_entry_can_be_removed() {
        let mut timers = Timers::default();
        let key = timers.insert(5, 7);
        assert_eq!(timers.pop_due(5), Some(7));
        timers.remove(key);
        assert_eq!(timers.insert(6, 8), key, "the key is used again");
    }
}
