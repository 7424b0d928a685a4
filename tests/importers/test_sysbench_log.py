# ruff: noqa: E501 - lines as sysbench prints them
"""sysbench logs of every dialect, whole, cut, hostile."""

from __future__ import annotations

import math
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.record.importers.sysbench import Log, parse

HEAD_10 = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Report intermediate results every 1 second(s)
Initializing random number generator from current time


Initializing worker threads...

Threads started!

"""
INTERVALS_10 = """[ 1s ] thds: 4 tps: 21.96 qps: 458.15 (r/w/o: 321.40/91.83/44.92) lat (ms,95%): 62.19 err/s: 0.50 reconn/s: 0.00
[ 2s ] thds: 4 tps: 29.02 qps: 577.31 (r/w/o: 406.22/113.06/58.03) lat (ms,95%): 43.39 err/s: 0.00 reconn/s: 0.00
"""
SUMMARY_10 = """SQL statistics:
    queries performed:
        read:                            714
        write:                           204
        other:                           102
        total:                           1020
    transactions:                        51     (25.50 per sec.)
    queries:                             1020   (510.00 per sec.)
    ignored errors:                      1      (0.50 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0001s
    total number of events:              51

Latency (ms):
         min:                                    6.31
         avg:                                   18.28
         max:                                   77.49
         95th percentile:                       44.98
         sum:                               932.28

Threads fairness:
    events (avg/stddev):           12.7500/0.00
    execution time (avg/stddev):   1.9999/0.00

"""
WHOLE_10 = HEAD_10 + INTERVALS_10 + SUMMARY_10

SUMMARY_05 = """OLTP test statistics:
    queries performed:
        read:                            1530860
        write:                           0
        other:                           306172
        total:                           1837032
    transactions:                        153086 (3001.46 per sec.)
    read/write requests:                 1530860 (30014.61 per sec.)
    other operations:                    306172 (6002.92 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          51.0038s
    total number of events:              153086
    total time taken by event execution: 815.7571s
    response time:
         min:                                  4.41ms
         avg:                                  5.33ms
         max:                                 14.02ms
         approx.  95 percentile:               5.97ms

Threads fairness:
    events (avg/stddev):           9567.8750/62.43
    execution time (avg/stddev):   50.9848/0.00
"""
HEAD_05 = "sysbench 0.5:  multi-threaded system evaluation benchmark\n\nNumber of threads: 16\n\nThreads started!\n\n"
LATE_05 = (
    "[   2s] threads: 16, tps: 2957.00, reads: 29578.53, writes: 0.00, response time: 6.74ms (95%),"
    " errors: 0.00, reconnects:  0.00\n"
)
EARLY_05 = (
    "[  10s] threads: 16, tps: 648.80, reads/s: 9092.43, writes/s: 2595.31, response time: 24.73ms (99%)\n"
)
WHOLE_04 = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 8

Doing OLTP test.
Threads started!
Time limit exceeded, exiting...
(last message repeated 7 times)
Done.

OLTP test statistics:
    queries performed:
        read:                            1125693
        write:                           0
        other:                           1125693
        total:                           2251386
    transactions:                        1125693 (18761.40 per sec.)
    deadlocks:                           2      (0.00 per sec.)
    read/write requests:                 1125693 (18761.40 per sec.)
    other operations:                    1125693 (18761.40 per sec.)

Test execution summary:
    total time:                          60.0005s
    total number of events:              1125693
    total time taken by event execution: 478.2393
    per-request statistics:
         min:                                  0.17ms
         avg:                                  0.42ms
         max:                                  4.32ms
         approx.  95 percentile:               0.55ms
"""
SUMMARY_11 = SUMMARY_10.replace("General statistics:", "Throughput:\n    events/s (eps):  25.4987").replace(
    "total time: ", "time elapsed: "
)
CSV = "1,4,21.96,458.15,321.40,91.83,44.92,62.19,0.00,0.00\n2,4,29.02,577.31,406.22,113.06,58.03,43.39,0.00,0.00\n"
JSON = """[
  {
    "time":    1,
    "threads": 4,
    "tps":   21.96,
    "qps": {
      "total":  458.15,
      "reads":  321.40,
      "writes":   91.83,
      "other":   44.92
    },
    "latency":   62.19,
    "errors":    0.00,
    "reconnects":    0.00
  },
  {
    "time":    2,
    "threads": 4,
    "tps":   29.02,
    "qps": {"total": 577.31, "reads": 406.22, "writes": 113.06, "other": 58.03},
    "latency":   43.39,
    "errors":    0.00,
    "reconnects":    0.00
  }
]
"""


def read(text: str) -> Log:
    return parse(StringIO(text))


def test_1_0_says_everything() -> None:
    log = read(WHOLE_10)
    assert log.problem is None
    assert (log.version, log.threads) == ("1.0.20", 4)
    assert (log.transactions, log.throughput_per_s, log.total_time_s) == (51, 25.5, 2.0001)
    assert (log.queries, log.ignored_errors, log.reconnects) == (1020, 1, 0)
    assert (log.latency_min_ms, log.latency_mean_ms, log.latency_max_ms) == (6.31, 18.28, 77.49)
    assert (log.percentile, log.latency_percentile_ms) == (95, 44.98)
    assert [(i.t_s, i.tps, i.qps, i.latency_ms, i.errors_per_s) for i in log.intervals] == [
        (1, 21.96, 458.15, 62.19, 0.5),
        (2, 29.02, 577.31, 43.39, 0.0),
    ]


@pytest.mark.parametrize(
    ("interval", "percentile", "tps"), [(LATE_05, 95, 2957.0), (EARLY_05, 99, 648.8)], ids=["late", "early"]
)
def test_both_dialects_of_0_5(interval: str, percentile: int, tps: float) -> None:
    log = read(HEAD_05 + interval + SUMMARY_05)
    assert log.problem is None
    assert log.version == "0.5"
    assert log.throughput_per_s == 3001.46
    assert log.intervals[0].tps == tps
    assert read(HEAD_05 + interval).percentile == percentile
    assert (log.latency_percentile_ms, log.latency_mean_ms) == (5.97, 5.33)


def test_0_4_12_has_no_intervals_and_counts_deadlocks() -> None:
    log = read(WHOLE_04)
    assert log.problem is None
    assert (log.version, log.threads, log.intervals) == ("0.4.12", 8, [])
    assert (log.throughput_per_s, log.ignored_errors, log.latency_percentile_ms) == (18761.40, 2, 0.55)


def test_1_1_warm_up_intervals_are_apart() -> None:
    head = HEAD_10.replace("Number of threads: 4\n", "Number of threads: 4\nWarmup time: 2s\n")
    head = head.replace("Threads started!\n", "Warming up for 2 seconds...\n")
    log = read(head + INTERVALS_10 + "Threads started!\n" + INTERVALS_10 + SUMMARY_11)
    assert log.problem is None
    assert (log.warmup_s, len(log.warmup), len(log.intervals)) == (2, 2, 2)
    assert log.total_time_s == 2.0001


@pytest.mark.parametrize("form", [CSV, JSON], ids=["csv", "json"])
def test_csv_and_json_intervals_are_the_same_as_text(form: str) -> None:
    as_text = read(HEAD_10 + INTERVALS_10.replace("0.50", "0.00") + SUMMARY_10)
    log = read(HEAD_10 + form + SUMMARY_10)
    assert log.problem is None
    assert log.intervals == as_text.intervals
    assert log.latency_percentile_ms == 44.98


@pytest.mark.parametrize("number", ["1e999", "NaN", "-1", "9" * 400, '"29"', "null"])
def test_json_figures_that_are_no_numbers_make_no_interval(number: str) -> None:
    log = read(HEAD_10 + JSON.replace("29.02", number) + SUMMARY_10)
    assert all(0 <= interval.tps < 1e6 for interval in log.intervals)
    assert len(log.intervals) == (2 if number == '"29"' else 1)


def test_without_the_colon_and_with_a_rate() -> None:
    line = INTERVALS_10.splitlines()[0].replace("err/s:", "err/s")
    log = read(f"{HEAD_10}Target transaction rate: 30/sec\n{line}\n[ 1s ] queue length: 3, concurrency: 2\n")
    assert [i.errors_per_s for i in log.intervals] == [0.5]
    assert log.rate_per_s == 30


def test_a_checkpoint_is_not_the_summary() -> None:
    checkpoint = "[ 1s ] Checkpoint report:\n" + SUMMARY_10.replace("25.50", "99.00")
    assert read(HEAD_10 + checkpoint + INTERVALS_10).problem == "the log is cut short: no summary after 2 s"
    log = read(HEAD_10 + checkpoint + INTERVALS_10 + SUMMARY_10)
    assert (log.throughput_per_s, log.problem) == (25.5, None)


HISTOGRAM = """Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       6.434 |*****************                        30
      43.390 |***********                              20
      77.490 |*                                        1

"""


def test_a_histogram_is_read_but_not_that_of_a_checkpoint() -> None:
    checkpoint = "[ 1s ] Checkpoint report:\n" + HISTOGRAM + SUMMARY_10
    log = read(HEAD_10 + checkpoint + INTERVALS_10 + HISTOGRAM + SUMMARY_10)
    assert log.problem is None
    assert log.histogram == [(6.434, 30), (43.39, 20), (77.49, 1)]


def test_two_runs_in_one_file_or_seconds_out_of_order_are_no_result() -> None:
    assert "2 results" in (read(WHOLE_10 * 2).problem or "")
    backwards = "".join(reversed(INTERVALS_10.splitlines(keepends=True)))
    assert "order of time" in (read(HEAD_10 + backwards + SUMMARY_10).problem or "")


def test_empty_fatal_and_contradicting_logs_are_no_results() -> None:
    assert read("").problem == "the log is empty"
    assert read("\n \n").problem == "the log is empty"
    fatal = "FATAL: unable to connect to MySQL server on host '127.0.0.1', port 3306, aborting...\n"
    assert "unable to connect" in (read(HEAD_10 + fatal).problem or "")
    assert "unable to connect" in (read(WHOLE_10 + fatal).problem or "")
    assert "contradicts itself" in (read(WHOLE_10.replace("(25.50 per", "(35.50 per")).problem or "")
    none = WHOLE_10.replace("51     (25.50 per", "0      (0.00 per")
    assert read(none).problem == "no transaction ended"


def test_cut_anywhere_before_its_total_time_a_log_is_never_a_number() -> None:
    end = WHOLE_10.index("2.0001s") + len("2.0001s")
    for cut in range(end):
        assert read(WHOLE_10[:cut]).problem is not None, WHOLE_10[:cut][-40:]
    assert read(WHOLE_10[:end]).problem is None


LINES = [line + "\n" for line in (WHOLE_10 + WHOLE_04 + LATE_05 + EARLY_05 + CSV + JSON).splitlines()]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(LINES),
            st.text(max_size=60),
            st.tuples(st.sampled_from(LINES), st.integers(0, 120), st.text(max_size=5)).map(
                lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + 1 :]
            ),
        ),
        max_size=40,
    )
)
def test_whatever_it_reads_it_never_raises_and_its_numbers_are_finite(lines: list[str]) -> None:
    log = parse(lines)
    if log.problem is None:
        assert log.throughput_per_s is not None
        assert math.isfinite(log.throughput_per_s)
        assert log.throughput_per_s > 0
    for interval in log.intervals:
        assert math.isfinite(interval.tps)
