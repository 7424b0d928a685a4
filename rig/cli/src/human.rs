//! A trial for a person at a terminal: one line a second, then a table.

use std::io::{self, Write};

use dyno_record::{
    Header, Interval, Line, Load, OpenCount, Outcome, Output, PhaseName, Summary, decode_histogram,
};
use hdrhistogram::Histogram;

/// An [`Output`] that prints plain text: no colour, no cursor movement.
pub struct Human<W> {
    writer: W,
}

impl<W: Write + Send> Human<W> {
    /// Prints to `writer`.
    pub fn new(writer: W) -> Self {
        Self { writer }
    }
}

impl<W: Write + Send> Output for Human<W> {
    fn line(&mut self, line: &Line, _: &str) -> io::Result<()> {
        let w = &mut self.writer;
        match line {
            Line::Header(header) => header_text(w, header)?,
            Line::Interval(interval) => interval_text(w, interval)?,
            Line::Note(note) => writeln!(w, "note: {}", note.text)?,
            Line::Summary(summary) => summary_text(w, summary)?,
            Line::Phase(_) | Line::Host(_) | Line::Process(_) | Line::Status(_) => {}
        }
        w.flush()
    }

    fn place(&self) -> String {
        "standard output".into()
    }
}

/// Latencies of all types together. A text that this program has just written can be read.
fn merged<'a>(latencies: impl Iterator<Item = &'a Option<String>>) -> Histogram<u64> {
    let mut sum = dyno_record::new_histogram();
    for histogram in latencies
        .flatten()
        .filter_map(|text| decode_histogram(text).ok())
    {
        sum += histogram;
    }
    sum
}

fn ms(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    histogram.value_at_quantile(quantile) as f64 / 1e6
}

/// Without a server there is nothing to say yet: the error follows.
fn header_text(w: &mut impl Write, header: &Header) -> io::Result<()> {
    let Some(version) = &header.server_version else {
        return Ok(());
    };
    let load = load_text(&header.spec.load);
    writeln!(w, "{} on {version}, {load}", header.spec.workload.name)
}

fn load_text(load: &Load) -> String {
    let profile = load.profile();
    let level = |unit: &str| match profile.stages.len() + profile.warmup_stages.len() {
        0 => format!("{} {unit}", profile.start),
        n => {
            let (start, highest) = (profile.start, profile.highest());
            format!("{n} stages from {start} to at most {highest} {unit}")
        }
    };
    match load {
        Load::Closed(_) => format!("closed loop of {}", level("sessions")),
        Load::Open(open) => {
            let offered = level("transactions/s");
            format!(
                "open loop of {offered} offered to {} sessions",
                open.sessions
            )
        }
    }
}

fn interval_text(w: &mut impl Write, interval: &Interval) -> io::Result<()> {
    let seconds = interval.duration_us as f64 / 1e6;
    let transactions: u64 = interval.transactions.iter().map(|t| t.ok).sum();
    let statements: u64 = interval.statements.iter().map(|s| s.count).sum();
    let errors: u64 = interval.errors.iter().map(|e| e.count).sum();
    let latency = merged(interval.transactions.iter().map(|t| &t.latency));
    writeln!(
        w,
        "{:>7.1} s  {:<7}  {:>5} sessions  {:>9.1} tx/s  {:>10.1} q/s  p50 {:>8.3} ms  p99 {:>8.3} ms  \
         client {:>3.0} %  errors {errors}{}",
        interval.t_us as f64 / 1e6,
        match interval.phase {
            PhaseName::Warmup => "warm-up",
            phase => phase.as_str(),
        },
        interval.sessions,
        transactions as f64 / seconds,
        statements as f64 / seconds,
        ms(&latency, 0.50),
        ms(&latency, 0.99),
        100.0 * interval.client_cpu_us as f64 / interval.duration_us as f64,
        interval.open.as_ref().map_or_else(String::new, open_text),
    )
}

fn open_text(open: &OpenCount) -> String {
    let lag = merged(std::iter::once(&open.generator_lag));
    let p99_us = lag.value_at_quantile(0.99) as f64 / 1e3;
    format!(
        "  due {}  waiting {}  dropped {}  rig lag p99 {p99_us:.0} µs",
        open.due, open.backlog, open.dropped
    )
}

const QUANTILES: [f64; 5] = [0.50, 0.95, 0.99, 0.999, 1.0];

fn summary_text(w: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let seconds = summary.measure_us as f64 / 1e6;
    if seconds > 0.0 {
        write!(
            w,
            "\n{:<24} {:>12} {:>12}",
            if summary.open.is_some() {
                "response time in ms"
            } else {
                "service time in ms"
            },
            "count",
            "per second"
        )?;
        for quantile in ["p50", "p95", "p99", "p99.9", "max"] {
            write!(w, " {quantile:>10}")?;
        }
        writeln!(w)?;
        for t in &summary.transactions {
            row(w, &t.r#type, t.ok, seconds, t.latency.as_ref())?;
            for (part, latency) in [("  service time", &t.service), ("  lag", &t.lag)] {
                row(w, part, t.ok, seconds, latency.as_ref())?;
            }
        }
        if let Some(open) = &summary.open {
            let lag = open.generator_lag.as_ref();
            row(w, "  lag of the rig itself", open.due, seconds, lag)?;
        }
        for s in &summary.statements {
            row(
                w,
                &format!("  {}", s.r#type),
                s.count,
                seconds,
                s.latency.as_ref(),
            )?;
        }
    }
    closing(w, summary, seconds)
}

/// One line of the table; types that never ran have none.
fn row(
    w: &mut impl Write,
    name: &str,
    count: u64,
    seconds: f64,
    latency: Option<&String>,
) -> io::Result<()> {
    let Some(latency) = latency.and_then(|text| decode_histogram(text).ok()) else {
        return Ok(());
    };
    write!(w, "{name:<24} {count:>12} {:>12.1}", count as f64 / seconds)?;
    for quantile in QUANTILES {
        write!(w, " {:>10.3}", ms(&latency, quantile))?;
    }
    writeln!(w)
}

fn closing(w: &mut impl Write, summary: &Summary, seconds: f64) -> io::Result<()> {
    let outcome = match summary.outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Interrupted => "interrupted",
    };
    write!(w, "\n{outcome}: {seconds:.1} s measured")?;
    let retries: u64 = summary.transactions.iter().map(|t| t.retries).sum();
    if retries > 0 {
        write!(
            w,
            ", {retries} retries that cost {:.3} s",
            summary.retry_us as f64 / 1e6
        )?;
    }
    if summary.lost > 0 {
        write!(
            w,
            ", {} transactions lost with their connection, {} connections made again",
            summary.lost, summary.reconnects
        )?;
    }
    for error in &summary.errors {
        write!(w, ", error {} × {}", error.code, error.count)?;
    }
    if let Some(open) = summary.open.as_ref().filter(|open| open.dropped > 0) {
        let (dropped, due) = (open.dropped, open.due);
        write!(w, ", {dropped} of {due} due transactions dropped")?;
    }
    if summary.unfinished > 0 {
        write!(w, ", {} transactions cut off", summary.unfinished)?;
    }
    writeln!(w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::{ErrorCount, HistogramCodec, Issued, MeasureEnd, TransactionCount};

    fn summary() -> Summary {
        let mut latency = dyno_record::new_histogram();
        latency.saturating_record(2_000_000);
        let transaction = TransactionCount {
            r#type: "oltp".into(),
            ok: 10,
            retries: 3,
            latency: HistogramCodec::default().encode(&latency),
            service: None,
            lag: None,
            counters: std::collections::BTreeMap::new(),
        };
        Summary {
            t_us: 2_100_000,
            outcome: Outcome::Ok,
            error: None,
            measure_us: 2_000_000,
            transactions: vec![transaction],
            statements: vec![],
            errors: vec![ErrorCount {
                code: 1213,
                count: 3,
            }],
            issued: Issued::default(),
            unfinished: 0,
            client_cpu_us: 0,
            rows: 0,
            retry_us: 4_000,
            lost: 0,
            reconnects: 0,
            open: None,
            measure_end: MeasureEnd::Planned,
            unstarted: 0,
            probe_statements: 0,
        }
    }

    fn printed(summary: Summary) -> String {
        let mut bytes = Vec::new();
        Human::new(&mut bytes)
            .line(&Line::Summary(Box::new(summary)), "")
            .unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_table_has_count_rate_and_latency() {
        let text = printed(summary());
        let row = text.lines().find(|l| l.starts_with("oltp")).unwrap();
        let fields: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(fields[..3], ["oltp", "10", "5.0"]);
        let p50: f64 = fields[3].parse().unwrap();
        assert!((p50 - 2.0).abs() <= 0.002, "{row}");
        assert!(
            text.ends_with("ok: 2.0 s measured, 3 retries that cost 0.004 s, error 1213 × 3\n"),
            "{text}"
        );
    }

    #[test]
    fn an_open_loop_tells_response_service_lag_and_what_was_dropped() {
        let mut open = summary();
        let latency = open.transactions[0].latency.clone();
        open.transactions[0].service.clone_from(&latency);
        open.transactions[0].lag.clone_from(&latency);
        open.open = Some(OpenCount {
            due: 12,
            dropped: 2,
            generator_lag: latency,
            ..OpenCount::default()
        });
        let text = printed(open);
        for part in [
            "response time in ms",
            "  service time",
            "  lag of the rig itself",
            "2 of 12 due transactions dropped",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn lost_connections_are_told() {
        let lost = Summary {
            lost: 2,
            reconnects: 1,
            ..summary()
        };
        let text = printed(lost);
        assert!(
            text.contains("2 transactions lost with their connection, 1 connections made again"),
            "{text}"
        );
    }

    #[test]
    fn a_trial_that_measured_nothing_has_no_table() {
        let nothing = Summary {
            measure_us: 0,
            outcome: Outcome::Failed,
            ..summary()
        };
        let text = printed(nothing);
        assert!(
            !text.contains("per second") && text.contains("failed: 0.0 s"),
            "{text}"
        );
    }
}
