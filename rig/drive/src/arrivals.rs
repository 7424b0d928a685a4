//! When the transactions of an open loop are due.

use std::sync::Arc;

use dyno_record::{Arrivals as Kind, PhaseName};

use crate::Rng;
use crate::schedule::{Cursor, Schedule};

/// The random numbers of a worker's arrivals are those of a session far beyond all others.
const STREAM: u64 = 1 << 61;

/// One worker's share of the transactions due in one phase.
///
/// A rate makes a certain number of transactions, the area below it, and that many are due: no more, no less. Time is
/// measured in this area, where the rate is 1, and translated back by the schedule.
#[derive(Debug)]
struct Share {
    area: f64,
    /// Distance of constant arrivals of all workers.
    gap: f64,
    /// The next constant arrival of this worker is this one of all.
    index: u64,
    workers: u64,
    /// Transactions of this worker that are still to come.
    left: u64,
    /// Where the last one was, in area.
    at: f64,
}

impl Share {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a checked rate for at most a week: below 2^53"
    )]
    fn new(area: f64, worker: usize, workers: usize) -> Self {
        let all = area.round() as u64;
        let (worker, workers) = (worker as u64, workers as u64);
        Self {
            area,
            gap: area / all.max(1) as f64,
            index: worker,
            workers,
            left: all / workers + u64::from(worker < all % workers),
            at: 0.0,
        }
    }

    fn next(&mut self, kind: Kind, rng: &mut Rng) -> Option<f64> {
        let left = self.left;
        self.left = left.checked_sub(1)?;
        match kind {
            // the workers take turns; half a gap before the first and after the last one
            Kind::Constant => {
                self.at = (self.index as f64 + 0.5) * self.gap;
                self.index += self.workers;
            }
            // events of a Poisson process, once their number is known, are so many independent uniform moments; the
            // least of those that are left comes next. Workers that share the number evenly make the same process
            Kind::Poisson => {
                let least = -((1.0 - rng.unit()).ln() / left as f64).exp_m1();
                self.at += (self.area - self.at) * least;
            }
        }
        Some(self.at)
    }
}

/// The moments at which transactions of one worker are due, ascending, in nanoseconds since t = 0.
///
/// A function of schedule, kind, seed, worker and number of workers. Nothing is allocated on the way.
#[derive(Debug)]
pub(crate) struct Arrivals {
    schedule: Arc<Schedule>,
    kind: Kind,
    rng: Rng,
    worker: usize,
    workers: usize,
    phase: PhaseName,
    share: Share,
    cursor: Cursor,
}

impl Arrivals {
    /// What is due at `worker` of `workers`.
    pub fn new(
        schedule: &Arc<Schedule>,
        kind: Kind,
        seed: u64,
        worker: usize,
        workers: usize,
    ) -> Self {
        let phase = PhaseName::Warmup;
        Self {
            schedule: Arc::clone(schedule),
            kind,
            rng: Rng::new(seed, STREAM | worker as u64),
            worker,
            workers,
            phase,
            share: Share::new(schedule.area(phase), worker, workers),
            cursor: Cursor::default(),
        }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            if let Some(area) = self.share.next(self.kind, &mut self.rng) {
                return Some(self.schedule.reach(self.phase, &mut self.cursor, area));
            }
            if self.phase == PhaseName::Measure {
                return None;
            }
            self.phase = PhaseName::Measure;
            let area = self.schedule.area(self.phase);
            self.share = Share::new(area, self.worker, self.workers);
            self.cursor = Cursor::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timeline;
    use dyno_record::Spec;

    const S: u64 = 1_000_000_000;

    /// Warm-up of 1 s, measure of 10 s.
    fn arrivals(load: &str, kind: Kind, seed: u64, worker: usize, workers: usize) -> Vec<u64> {
        let text = format!(
            r#"{{"target": {{"socket": "/s"}}, "workload": {{"name": "w"}}, "load": {{"open": {{{load}}}}},
                "phases": {{"warmup_s": 1, "measure_s": 10}}}}"#
        );
        let spec = Spec::from_json(&text).unwrap();
        let schedule = Schedule::new(spec.load.profile(), &Timeline::new(&spec));
        Arrivals::new(&Arc::new(schedule), kind, seed, worker, workers).collect()
    }

    fn of_all_workers(load: &str, kind: Kind, workers: usize) -> Vec<u64> {
        let mut all: Vec<u64> = (0..workers)
            .flat_map(|worker| arrivals(load, kind, 7, worker, workers))
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn as_many_are_due_as_the_rate_says_whatever_the_workers_and_the_kind() {
        for (load, warmup, measure) in [
            (r#""rate_per_s": 1000"#, 1000, 10_000),
            (r#""rate_per_s": 333.33"#, 333, 3333),
            (
                r#""start": 0, "stages": [{"duration_s": 10, "target": 400}]"#,
                0,
                2000,
            ),
            (r#""rate_per_s": 0.25"#, 0, 3),
        ] {
            for kind in [Kind::Poisson, Kind::Constant] {
                for workers in [1, 2, 3, 7] {
                    let all = of_all_workers(load, kind, workers);
                    let early = all.iter().filter(|&&t_ns| t_ns < S).count();
                    assert_eq!(
                        (early, all.len() - early),
                        (warmup, measure),
                        "{load} {kind:?} {workers}"
                    );
                    assert!(all.last().is_none_or(|&t_ns| t_ns < 11 * S));
                }
            }
        }
    }

    #[test]
    fn each_worker_gets_an_even_share_in_ascending_order() {
        for kind in [Kind::Poisson, Kind::Constant] {
            for worker in 0..3 {
                let mine = arrivals(r#""rate_per_s": 1000"#, kind, 1, worker, 3);
                assert!(mine.is_sorted());
                assert!((3666..=3668).contains(&mine.len()), "{}", mine.len());
            }
        }
    }

    #[test]
    fn constant_arrivals_keep_their_distance_across_workers_and_phases() {
        for workers in [1, 4] {
            let all = of_all_workers(r#""rate_per_s": 1000"#, Kind::Constant, workers);
            assert_eq!(all[0], 500_000);
            for pair in all.windows(2) {
                assert!((pair[1] - pair[0]).abs_diff(1_000_000) <= 2, "{pair:?}");
            }
        }
    }

    #[test]
    fn a_ramp_of_constant_arrivals_has_its_rate_everywhere() {
        let all = of_all_workers(
            r#""start": 0, "stages": [{"duration_s": 10, "target": 2000}]"#,
            Kind::Constant,
            2,
        );
        // the rate grows by 200 a second each second: 100, 300, 500 …
        for second in 0..10 {
            let from = S + second * S;
            let count = all
                .iter()
                .filter(|&&t| (from..from + S).contains(&t))
                .count();
            assert!(
                count.abs_diff(100 + 200 * usize::try_from(second).unwrap()) <= 1,
                "{second}: {count}"
            );
        }
    }

    #[test]
    fn poisson_gaps_are_exponential_and_counts_scatter_as_they_should() {
        for workers in [1, 4] {
            let all = of_all_workers(r#""rate_per_s": 10000"#, Kind::Poisson, workers);
            let gaps: Vec<f64> = all.windows(2).map(|p| (p[1] - p[0]) as f64 / 1e5).collect();
            // a gap is longer than x mean gaps with probability e^-x
            for x in [0.1_f64, 0.5, 1.0, 2.0, 4.0] {
                let share = gaps.iter().filter(|&&gap| gap > x).count() as f64 / gaps.len() as f64;
                assert!(
                    (share - (-x).exp()).abs() < 0.006,
                    "{workers} workers, {x}: {share}"
                );
            }
            // the variance of the count in a hundredth of a second is its mean, 100
            let mut counts = vec![0_f64; 1000];
            for t_ns in all.iter().filter(|&&t| t >= S) {
                counts[usize::try_from((t_ns - S) / (S / 100)).unwrap()] += 1.0;
            }
            let variance = counts.iter().map(|n| (n - 100.0).powi(2)).sum::<f64>() / 1000.0;
            assert!(
                (80.0..120.0).contains(&variance),
                "{workers} workers: {variance}"
            );
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let load = r#""rate_per_s": 100"#;
        let one = arrivals(load, Kind::Poisson, 1, 0, 2);
        assert_eq!(one, arrivals(load, Kind::Poisson, 1, 0, 2));
        assert_ne!(one, arrivals(load, Kind::Poisson, 2, 0, 2));
        assert_ne!(one, arrivals(load, Kind::Poisson, 1, 1, 2));
    }
}
