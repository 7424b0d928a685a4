//! A load level over time: straight pieces, as a pure function of time since t = 0.

use dyno_record::{PhaseName, Profile, Stage};

use crate::Timeline;

/// One straight piece of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    start_ns: u64,
    end_ns: u64,
    from: f64,
    to: f64,
}

impl Piece {
    fn length_s(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e9
    }

    fn level(&self, t_ns: u64) -> f64 {
        let share = (t_ns - self.start_ns) as f64 / (self.end_ns - self.start_ns) as f64;
        self.from + (self.to - self.from) * share
    }

    /// The level summed over the piece's seconds.
    fn area(&self) -> f64 {
        f64::midpoint(self.from, self.to) * self.length_s()
    }

    /// When the area since the piece's start reaches `area`: the root of a quadratic, in the form that also holds for
    /// a level that does not change.
    fn time_of_area(&self, area: f64) -> u64 {
        let slope = (self.to - self.from) / self.length_s();
        let root = (self.from * self.from + 2.0 * slope * area).max(0.0).sqrt();
        let sum = self.from + root;
        let tau_s = if sum > 0.0 { 2.0 * area / sum } else { 0.0 };
        (self.start_ns + ns(tau_s)).min(self.end_ns - 1)
    }

    /// The first moment from `t_ns` on at which the level is on the wanted side of `threshold`.
    fn first(&self, t_ns: u64, threshold: f64, side: Side) -> Option<u64> {
        let t_ns = t_ns.max(self.start_ns);
        if side.holds(self.level(t_ns), threshold) {
            return Some(t_ns);
        }
        // no number when the level does not change
        let share = (threshold - self.from) / (self.to - self.from);
        let leads_there = side.holds(self.to, threshold);
        let crosses = leads_there && (0.0..1.0).contains(&share);
        let crossing_ns = || self.start_ns + ns((share * self.length_s() * 1e9).ceil() / 1e9);
        crosses
            .then(|| crossing_ns().max(t_ns))
            .filter(|&t_ns| t_ns < self.end_ns)
    }
}

/// Which side of a threshold a level is wanted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// At least the threshold.
    Above,
    /// Less than the threshold.
    Below,
}

impl Side {
    fn holds(self, level: f64, threshold: f64) -> bool {
        (self == Self::Above) == (level >= threshold)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most two weeks of nanoseconds; a float that is no number becomes 0"
)]
fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// How far a walk along the area of a phase has come.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cursor {
    piece: usize,
    /// Area of the pieces before this one.
    area: f64,
}

/// The level from t = 0 to the end of measure; beyond that there is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pieces: Vec<Piece>,
    /// How many of the pieces are warm-up.
    warmup: usize,
}

impl Schedule {
    /// The level that a checked profile asks for: stages first, then their last target until the phase ends.
    pub fn new(profile: Profile<'_>, timeline: &Timeline) -> Self {
        let (start_ns, end_ns) = (timeline.measure_start_ns(), timeline.measure_end_ns());
        let mut pieces = Vec::new();
        let level = add_phase(
            &mut pieces,
            profile.start,
            profile.warmup_stages,
            0,
            start_ns,
        );
        let warmup = pieces.len();
        add_phase(&mut pieces, level, profile.stages, start_ns, end_ns);
        Self { pieces, warmup }
    }

    fn phase(&self, phase: PhaseName) -> &[Piece] {
        match phase {
            PhaseName::Warmup => &self.pieces[..self.warmup],
            PhaseName::Measure => &self.pieces[self.warmup..],
            PhaseName::Connect | PhaseName::Drain => &[],
        }
    }

    /// The level summed over the seconds of a phase: how many transactions a rate makes.
    pub fn area(&self, phase: PhaseName) -> f64 {
        self.phase(phase).iter().map(Piece::area).sum()
    }

    /// When the area of a phase, counted from its beginning, reaches a value that grows from call to call.
    ///
    /// # Panics
    /// When the phase has no length.
    pub fn reach(&self, phase: PhaseName, cursor: &mut Cursor, area: f64) -> u64 {
        let pieces = self.phase(phase);
        loop {
            let piece = &pieces[cursor.piece];
            let beyond = cursor.area + piece.area();
            if area < beyond || cursor.piece + 1 == pieces.len() {
                return piece.time_of_area(area - cursor.area);
            }
            cursor.piece += 1;
            cursor.area = beyond;
        }
    }

    /// The first moment from `t_ns` on at which the level is on the wanted side of `threshold`; none when it never is
    /// before measure ends.
    pub fn first(&self, t_ns: u64, threshold: f64, side: Side) -> Option<u64> {
        let mut later = self.pieces.iter().filter(|piece| piece.end_ns > t_ns);
        later.find_map(|piece| piece.first(t_ns, threshold, side))
    }
}

/// Adds the pieces of one phase, and returns the level at its end.
fn add_phase(
    pieces: &mut Vec<Piece>,
    mut level: f64,
    stages: &[Stage],
    mut start_ns: u64,
    end_ns: u64,
) -> f64 {
    for stage in stages {
        let stage_end_ns = (start_ns + ns(stage.duration_s)).min(end_ns);
        if stage_end_ns > start_ns {
            pieces.push(Piece {
                start_ns,
                end_ns: stage_end_ns,
                from: level,
                to: stage.target,
            });
        }
        (level, start_ns) = (stage.target, stage_end_ns);
    }
    if end_ns > start_ns {
        pieces.push(Piece {
            start_ns,
            end_ns,
            from: level,
            to: level,
        });
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::Spec;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    fn schedule(load: &str) -> Schedule {
        let text = format!(
            r#"{{"target": {{"socket": "/s"}}, "workload": {{"name": "w"}}, "load": {load},
                "phases": {{"warmup_s": 4, "measure_s": 10}}}}"#
        );
        let spec = Spec::from_json(&text).unwrap();
        Schedule::new(spec.load.profile(), &Timeline::new(&spec))
    }

    fn level(schedule: &Schedule, t_ns: u64) -> f64 {
        let piece = schedule.pieces.iter().find(|p| p.end_ns > t_ns).unwrap();
        assert!(piece.start_ns <= t_ns, "pieces leave no gap");
        piece.level(t_ns)
    }

    #[test]
    fn stages_lead_from_target_to_target_and_the_last_one_holds() {
        let ramp = schedule(
            r#"{"closed": {"start": 2, "stages": [{"duration_s": 4, "target": 10}, {"duration_s": 0, "target": 30},
                {"duration_s": 2, "target": 20}]}}"#,
        );
        for (t_ns, expected) in [
            (0, 2.0),
            (4 * S, 2.0),
            (6 * S, 6.0),
            (8 * S, 30.0),
            (9 * S, 25.0),
            (10 * S, 20.0),
            (14 * S - 1, 20.0),
        ] {
            assert!((level(&ramp, t_ns) - expected).abs() < 1e-6, "{t_ns}");
        }
    }

    #[test]
    fn a_warm_up_has_stages_of_its_own() {
        let ramp = schedule(
            r#"{"open": {"start": 0, "warmup_stages": [{"duration_s": 2, "target": 100}],
                "stages": [{"duration_s": 10, "target": 300}]}}"#,
        );
        assert!((ramp.area(PhaseName::Warmup) - 300.0).abs() < 1e-6);
        assert!((ramp.area(PhaseName::Measure) - 2000.0).abs() < 1e-6);
        assert!((level(&ramp, 3 * S) - 100.0).abs() < 1e-6);
        assert!((level(&ramp, 9 * S) - 200.0).abs() < 1e-6);
    }

    #[test]
    fn a_session_is_active_while_the_level_is_above_it() {
        // 0 to 8 in 4 s, at once to 2, at 8 s to 0
        let ramp = schedule(
            r#"{"closed": {"start": 0, "stages": [{"duration_s": 4, "target": 8}, {"duration_s": 0, "target": 2},
                {"duration_s": 4, "target": 2}, {"duration_s": 0, "target": 0}]}}"#,
        );
        let first = |t_ns, session: f64, side| ramp.first(t_ns, session + 0.5, side);
        assert_eq!(first(0, 0.0, Side::Above), Some(4 * S + S / 4));
        assert_eq!(first(0, 7.0, Side::Above), Some(4 * S + 15 * S / 4));
        assert_eq!(first(0, 8.0, Side::Above), None);
        assert_eq!(first(6 * S, 3.0, Side::Above), Some(6 * S));
        assert_eq!(first(6 * S, 3.0, Side::Below), Some(8 * S), "the step down");
        assert_eq!(first(6 * S, 1.0, Side::Below), Some(12 * S));
        assert_eq!(first(12 * S, 0.0, Side::Above), None);
        assert_eq!(first(20 * S, 0.0, Side::Above), None, "beyond the end");
    }

    proptest! {
        #[test]
        fn the_time_of_an_area_is_the_inverse_of_the_area_of_a_time(
            start in 0_u32..1000, targets in prop::collection::vec((0_u32..1000, 0_u32..3), 1..4), share in 0.001_f64..0.999,
        ) {
            let stages: Vec<String> = targets.iter()
                .map(|(target, s)| format!(r#"{{"duration_s": {s}, "target": {target}}}"#)).collect();
            let load = format!(r#"{{"open": {{"start": {start}, "stages": [{}, {{"duration_s": 0, "target": 7}}]}}}}"#, stages.join(","));
            let schedule = schedule(&load);
            let wanted = schedule.area(PhaseName::Measure) * share;
            let t_ns = schedule.reach(PhaseName::Measure, &mut Cursor::default(), wanted);
            // the area up to that moment, summed in small steps
            let mut sum = 0.0;
            for piece in schedule.phase(PhaseName::Measure).iter().filter(|p| p.start_ns < t_ns) {
                let end_ns = piece.end_ns.min(t_ns);
                let mean = f64::midpoint(piece.from, piece.level(end_ns.max(piece.start_ns)));
                sum += mean * (end_ns - piece.start_ns) as f64 / 1e9;
            }
            // one nanosecond of the highest rate is 1e-6
            prop_assert!((sum - wanted).abs() < 1e-4, "{sum} {wanted} {t_ns}");
        }
    }
}
