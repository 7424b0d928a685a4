//! What one worker counted in one slot of time.

use dyno_record::{
    ErrorCount, HistogramCodec, Loop, OpenCount, StatementCount, StatementType, TransactionCount,
    WorkerUse, new_histogram,
};
use hdrhistogram::Histogram;

use crate::workload::COUNTERS_MAX;

/// Counts of one transaction type.
#[derive(Debug, Clone)]
pub(crate) struct TransactionBucket {
    pub ok: u64,
    pub retries: u64,
    /// What else the workload counts, in the order of its names.
    pub counters: [u64; COUNTERS_MAX],
    pub latency: Histogram<u64>,
    /// What else an open loop knows.
    pub open: Option<OpenLatency>,
}

/// The two parts of a response time.
#[derive(Debug, Clone)]
pub(crate) struct OpenLatency {
    pub service: Histogram<u64>,
    pub lag: Histogram<u64>,
}

/// What an open loop counts beside its transactions.
#[derive(Debug, Clone)]
pub(crate) struct OpenBucket {
    pub due: u64,
    pub dropped: u64,
    pub carried: u64,
    pub generator_lag: Histogram<u64>,
}

/// Distinct error codes that fit without growing; a trial with more of them is failing anyway.
const CODES: usize = 32;

/// Everything counted in one slot. Its memory is allocated once and used again.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    pub transactions: Vec<TransactionBucket>,
    /// The number of a statement type's executions is the count of its histogram.
    pub statements: Vec<Histogram<u64>>,
    pub errors: Vec<ErrorCount>,
    pub rows: u64,
    pub retry_ns: u64,
    pub lost: u64,
    pub reconnects: u64,
    /// By worker. Its own is told with the handover, not here.
    pub workers: Vec<WorkerUse>,
    pub open: Option<OpenBucket>,
}

impl Bucket {
    pub fn new(transaction_types: usize, statement_types: usize, kind: Loop) -> Self {
        let open = kind == Loop::Open;
        let transaction = TransactionBucket {
            ok: 0,
            retries: 0,
            counters: [0; COUNTERS_MAX],
            latency: new_histogram(),
            open: open.then(|| OpenLatency {
                service: new_histogram(),
                lag: new_histogram(),
            }),
        };
        Self {
            transactions: vec![transaction; transaction_types],
            statements: vec![new_histogram(); statement_types],
            errors: Vec::with_capacity(CODES),
            rows: 0,
            retry_ns: 0,
            lost: 0,
            reconnects: 0,
            workers: Vec::new(),
            open: open.then(|| OpenBucket {
                due: 0,
                dropped: 0,
                carried: 0,
                generator_lag: new_histogram(),
            }),
        }
    }

    /// An empty bucket for the same types and loop.
    pub fn like(&self) -> Self {
        let kind = if self.open.is_some() {
            Loop::Open
        } else {
            Loop::Closed
        };
        Self::new(self.transactions.len(), self.statements.len(), kind)
    }

    pub fn clear(&mut self) {
        for transaction in &mut self.transactions {
            transaction.ok = 0;
            transaction.retries = 0;
            transaction.counters.fill(0);
            clear_histogram(&mut transaction.latency);
            if let Some(open) = &mut transaction.open {
                clear_histogram(&mut open.service);
                clear_histogram(&mut open.lag);
            }
        }
        self.statements.iter_mut().for_each(clear_histogram);
        self.errors.clear();
        self.rows = 0;
        self.retry_ns = 0;
        self.lost = 0;
        self.reconnects = 0;
        self.workers.clear();
        if let Some(open) = &mut self.open {
            (open.due, open.dropped, open.carried) = (0, 0, 0);
            clear_histogram(&mut open.generator_lag);
        }
    }

    pub fn error(&mut self, code: u16) {
        self.errors_add(ErrorCount { code, count: 1 });
    }

    fn errors_add(&mut self, more: ErrorCount) {
        match self.errors.binary_search_by_key(&more.code, |e| e.code) {
            Ok(at) => self.errors[at].count += more.count,
            Err(at) => self.errors.insert(at, more),
        }
    }

    /// Adds the counts of another worker or another slot.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.transactions.iter_mut().zip(&other.transactions) {
            mine.ok += theirs.ok;
            mine.retries += theirs.retries;
            for (mine, theirs) in mine.counters.iter_mut().zip(theirs.counters) {
                *mine += theirs;
            }
            add_histogram(&mut mine.latency, &theirs.latency);
            if let (Some(mine), Some(theirs)) = (&mut mine.open, &theirs.open) {
                add_histogram(&mut mine.service, &theirs.service);
                add_histogram(&mut mine.lag, &theirs.lag);
            }
        }
        for (mine, theirs) in self.statements.iter_mut().zip(&other.statements) {
            add_histogram(mine, theirs);
        }
        for error in &other.errors {
            self.errors_add(*error);
        }
        self.rows += other.rows;
        self.retry_ns += other.retry_ns;
        self.lost += other.lost;
        self.reconnects += other.reconnects;
        for theirs in &other.workers {
            self.worker_used(*theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.open, &other.open) {
            mine.due += theirs.due;
            mine.dropped += theirs.dropped;
            mine.carried += theirs.carried;
            add_histogram(&mut mine.generator_lag, &theirs.generator_lag);
        }
    }

    /// Adds what one worker used.
    pub fn worker_used(&mut self, more: WorkerUse) {
        match self.workers.iter_mut().find(|w| w.worker == more.worker) {
            Some(mine) => {
                mine.cpu_us += more.cpu_us;
                mine.run_delay_us = mine.run_delay_us.zip(more.run_delay_us).map(|(a, b)| a + b);
            }
            None => self.workers.push(more),
        }
    }

    /// What an open loop counts beside its transactions; `backlog` transactions wait at the end.
    pub fn open(&self, backlog: u64, codec: &mut HistogramCodec) -> Option<OpenCount> {
        self.open.as_ref().map(|open| OpenCount {
            due: open.due,
            dropped: open.dropped,
            carried: open.carried,
            backlog,
            generator_lag: codec.encode(&open.generator_lag),
        })
    }

    /// By transaction type; `counters` are the names of what else is counted of each.
    pub fn transactions(
        &self,
        names: &[String],
        counters: &[Vec<String>],
        codec: &mut HistogramCodec,
    ) -> Vec<TransactionCount> {
        let counts = names.iter().zip(counters).zip(&self.transactions);
        let count = |((name, counters), t): ((&String, &Vec<String>), &TransactionBucket)| {
            TransactionCount {
                r#type: name.clone(),
                counters: counters.iter().cloned().zip(t.counters).collect(),
                ok: t.ok,
                retries: t.retries,
                latency: codec.encode(&t.latency),
                service: t.open.as_ref().and_then(|open| codec.encode(&open.service)),
                lag: t.open.as_ref().and_then(|open| codec.encode(&open.lag)),
            }
        };
        counts.map(count).collect()
    }

    pub fn statements(
        &self,
        types: &[StatementType],
        codec: &mut HistogramCodec,
    ) -> Vec<StatementCount> {
        let counts = types.iter().zip(&self.statements);
        let count = |(kind, latency): (&StatementType, &Histogram<u64>)| StatementCount {
            r#type: kind.name.clone(),
            count: latency.len(),
            latency: codec.encode(latency),
        };
        counts.map(count).collect()
    }
}

/// All histograms have one shape, so adding cannot fail.
fn add_histogram(mine: &mut Histogram<u64>, theirs: &Histogram<u64>) {
    if !theirs.is_empty() {
        mine.add(theirs).expect("one shape");
    }
}

/// Most types are idle in most intervals; clearing writes a quarter of a megabyte.
fn clear_histogram(histogram: &mut Histogram<u64>) {
    if !histogram.is_empty() {
        histogram.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(latencies: &[u64], codes: &[u16]) -> Bucket {
        let mut bucket = Bucket::new(1, 2, Loop::Open);
        for &ns in latencies {
            bucket.transactions[0].ok += 1;
            bucket.transactions[0].latency.saturating_record(ns);
            bucket.statements[1].saturating_record(ns / 2);
            bucket.rows += 3;
        }
        for &code in codes {
            bucket.error(code);
        }
        bucket
    }

    #[test]
    fn adding_buckets_is_counting_in_one() {
        let (a, b) = (
            filled(&[10, 2_000], &[1213]),
            filled(&[70_000_000], &[1205, 1213]),
        );
        let both = filled(&[10, 2_000, 70_000_000], &[1213, 1205, 1213]);
        let mut sum = Bucket::new(1, 2, Loop::Open);
        sum.add(&a);
        sum.add(&b);
        assert_eq!(sum.transactions[0].latency, both.transactions[0].latency);
        assert_eq!(sum.statements, both.statements);
        assert_eq!(sum.errors, both.errors);
        assert_eq!(
            sum.errors,
            [
                ErrorCount {
                    code: 1205,
                    count: 1
                },
                ErrorCount {
                    code: 1213,
                    count: 2
                }
            ]
        );
        assert_eq!((sum.rows, sum.transactions[0].ok), (9, 3));
    }

    #[test]
    fn a_cleared_bucket_is_a_new_one() {
        let mut bucket = filled(&[10, 2_000], &[1213]);
        bucket.clear();
        let new = Bucket::new(1, 2, Loop::Open);
        assert_eq!(bucket.statements, new.statements);
        assert_eq!(bucket.transactions[0].latency, new.transactions[0].latency);
        assert_eq!(
            (bucket.errors.len(), bucket.rows, bucket.transactions[0].ok),
            (0, 0, 0)
        );
    }
}
