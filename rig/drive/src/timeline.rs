//! The phases of a trial and their intervals, as a pure function of time since t = 0.

use dyno_record::{PhaseName, Spec};

/// Where each phase and each interval begins and ends, in nanoseconds since t = 0 (the start of warm-up).
///
/// Time is cut into slots: first the intervals of warm-up, then those of measure, the last of each cut off at the end
/// of its phase; the slot after the last interval is drain and has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "units are in names")]
pub struct Timeline {
    warmup_ns: u64,
    measure_ns: u64,
    drain_ns: u64,
    interval_ns: u64,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a checked spec holds 0 to 604,800 s"
)]
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a week of 10 ms intervals is 6e7 slots"
)]
fn index(count: u64) -> usize {
    count as usize
}

impl Timeline {
    /// The timeline of a checked spec.
    #[must_use]
    pub fn new(spec: &Spec) -> Self {
        Self {
            warmup_ns: ns(spec.phases.warmup_s),
            measure_ns: ns(spec.phases.measure_s),
            drain_ns: ns(spec.phases.drain_s),
            interval_ns: ns(spec.interval_s),
        }
    }

    /// When measure begins.
    #[must_use]
    pub fn measure_start_ns(&self) -> u64 {
        self.warmup_ns
    }

    /// When measure ends and no transaction begins any more.
    #[must_use]
    pub fn measure_end_ns(&self) -> u64 {
        self.warmup_ns + self.measure_ns
    }

    /// The most that is waited for transactions under way.
    #[must_use]
    pub fn drain_ns(&self) -> u64 {
        self.drain_ns
    }

    /// The end of the interval of measure in which a moment lies, or of the first one when it is earlier; none where
    /// that is the planned end of measure, or later.
    #[must_use]
    pub fn early_end_ns(&self, t_ns: u64) -> Option<u64> {
        let slot = self.slot(t_ns).max(self.measure_slot());
        Some(self.slot_end_ns(slot)).filter(|&end_ns| end_ns < self.measure_end_ns())
    }

    /// The same timeline with a measure that ends at an [`Self::early_end_ns`].
    #[must_use]
    pub fn ending_at(self, measure_end_ns: u64) -> Self {
        Self {
            measure_ns: measure_end_ns.saturating_sub(self.warmup_ns),
            ..self
        }
    }

    fn warmup_slots(&self) -> u64 {
        self.warmup_ns.div_ceil(self.interval_ns)
    }

    /// How many intervals there are; also the slot of drain.
    #[must_use]
    pub fn slots(&self) -> usize {
        index(self.warmup_slots() + self.measure_ns.div_ceil(self.interval_ns))
    }

    /// The first slot of measure.
    #[must_use]
    pub fn measure_slot(&self) -> usize {
        index(self.warmup_slots())
    }

    /// The slot of a moment.
    #[must_use]
    pub fn slot(&self, t_ns: u64) -> usize {
        if t_ns < self.warmup_ns {
            index(t_ns / self.interval_ns)
        } else if t_ns < self.measure_end_ns() {
            index(self.warmup_slots() + (t_ns - self.warmup_ns) / self.interval_ns)
        } else {
            self.slots()
        }
    }

    /// When a slot begins.
    #[must_use]
    pub fn slot_start_ns(&self, slot: usize) -> u64 {
        let slot = slot as u64;
        let warmup_slots = self.warmup_slots();
        if slot < warmup_slots {
            slot * self.interval_ns
        } else {
            self.measure_end_ns()
                .min(self.warmup_ns + (slot - warmup_slots) * self.interval_ns)
        }
    }

    /// When a slot ends; drain does not.
    #[must_use]
    pub fn slot_end_ns(&self, slot: usize) -> u64 {
        if slot >= self.slots() {
            u64::MAX
        } else {
            self.slot_start_ns(slot + 1)
        }
    }

    /// The phase of a slot.
    #[must_use]
    pub fn slot_phase(&self, slot: usize) -> PhaseName {
        if slot < self.measure_slot() {
            PhaseName::Warmup
        } else if slot < self.slots() {
            PhaseName::Measure
        } else {
            PhaseName::Drain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(warmup_ns: u64, measure_ns: u64, interval_ns: u64) -> Timeline {
        Timeline {
            warmup_ns,
            measure_ns,
            drain_ns: 5,
            interval_ns,
        }
    }

    #[test]
    fn slots_tile_time_without_gap_or_overlap() {
        for (warmup, measure, interval) in [
            (20, 30, 10),
            (25, 31, 10),
            (0, 9, 10),
            (3, 40, 7),
            (0, 10, 10),
        ] {
            let line = timeline(warmup, measure, interval);
            assert_eq!(line.slot_start_ns(0), 0);
            for slot in 0..line.slots() {
                let (start, end) = (line.slot_start_ns(slot), line.slot_end_ns(slot));
                assert!(
                    start < end && end - start <= interval,
                    "{line:?} slot {slot}"
                );
                assert_eq!(line.slot_start_ns(slot + 1), end);
                assert_eq!(
                    (line.slot(start), line.slot(end - 1)),
                    (slot, slot),
                    "{line:?}"
                );
                let phase = if end <= warmup {
                    PhaseName::Warmup
                } else {
                    PhaseName::Measure
                };
                assert_eq!(line.slot_phase(slot), phase);
            }
            assert_eq!(line.slot(warmup + measure), line.slots());
            assert_eq!(line.slot_phase(line.slots()), PhaseName::Drain);
            assert_eq!(line.slot_end_ns(line.slots()), u64::MAX);
        }
    }

    #[test]
    fn measure_ends_early_only_between_two_of_its_intervals() {
        let line = timeline(25, 35, 10);
        assert_eq!(
            line.early_end_ns(0),
            Some(35),
            "its first interval is the least"
        );
        assert_eq!(line.early_end_ns(35), Some(45));
        assert_eq!(line.early_end_ns(54), Some(55));
        assert_eq!(
            line.early_end_ns(55),
            None,
            "the last interval ends as planned"
        );
        assert_eq!(line.early_end_ns(70), None);
        let short = line.ending_at(45);
        assert_eq!(short, timeline(25, 20, 10));
        for t_ns in 0..45 {
            assert_eq!(short.slot(t_ns), line.slot(t_ns));
        }
        assert_eq!(short.slot_phase(short.slot(45)), PhaseName::Drain);
    }

    #[test]
    fn an_interval_never_spans_two_phases() {
        let line = timeline(25, 25, 10);
        assert_eq!(line.slot_end_ns(2), 25);
        assert_eq!(line.slot_end_ns(3), 35);
        assert_eq!(line.measure_slot(), 3);
    }
}
