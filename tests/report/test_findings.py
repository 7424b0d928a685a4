"""Sentences on hand-made cells: what they claim is what the trials support, and nothing more."""

from __future__ import annotations

import pytest

from dyno import stats
from dyno.findings import (
    Names,
    cell_marks,
    compare_with_baseline,
    find_leaders,
    find_limits,
    find_peaks,
    trial_marks,
)
from dyno.findings.comparisons import find_comparisons
from dyno.record.usage import Usage
from dyno.report.model import Cell, Estimate, Latency, Load, Mark, OpenLoop, TrialResult
from dyno.stats import GeneratorUse

NAMES = Names(
    engines={"a": "Alpha", "b": "Beta", "c": "Gamma"},
    settings={"default": "default"},
    workloads={"w": "w"},
    loads={"s1": "1 session", "s4": "4 sessions", "s16": "16 sessions"},
)
LOADS = [Load(id=f"s{n}", kind="closed", label=NAMES.loads[f"s{n}"], x=n) for n in (1, 4, 16)]


def cell(engine: str, values: list[float], load: str = "s4", marks: list[Mark] | None = None) -> Cell:
    trials = [
        TrialResult(id=f"{engine}-{load}-b{i}", block=i, status="ok", throughput_per_s=value)
        for i, value in enumerate(values, start=1)
    ]
    estimate = stats.mean_interval(values) if values else None
    return Cell(
        id=f"{engine}-{load}",
        engine=engine,
        settings="default",
        workload="w",
        load=load,
        status="ok" if values else "failed",
        throughput_per_s=estimate
        and Estimate(value=estimate.value, low=estimate.low, high=estimate.high, n=estimate.n, method="t"),
        trials=trials,
        marks=marks or [],
    )


def leaders(*cells: Cell) -> list[str]:
    return [f.sentence for f in find_leaders(list(cells), relevant_difference=0.05, names=NAMES)]


def test_a_clear_leader() -> None:
    (sentence,) = leaders(
        cell("a", [100, 101, 99, 100]), cell("b", [120, 121, 119, 121]), cell("c", [50, 51, 50, 50])
    )
    assert sentence.startswith(
        "Beta (120 transactions/s) leads at 4 sessions: 1.20× the next (Alpha), 95 % CI [1."
    )
    assert sentence.endswith(", 4 trials.")


def test_a_leader_must_beat_every_other() -> None:
    """Far above one engine, but inside the noise of another."""
    (sentence,) = leaders(
        cell("a", [100, 110, 95, 104]), cell("b", [104, 99, 108, 103]), cell("c", [50, 52, 49, 51])
    )
    assert sentence.startswith(
        "No leader is decided at 4 sessions: the highest mean is Beta (104 transactions/s)"
    )
    assert "not told apart from Alpha (" in sentence


def test_level_engines_are_called_level() -> None:
    (sentence,) = leaders(cell("a", [100, 101, 99, 100]), cell("b", [101, 100.5, 99.5, 100.4]))
    assert sentence.startswith(
        "Level at 4 sessions: Beta (100 transactions/s) and Alpha (100 transactions/s)"
    )
    assert "no relevant difference (±5 %)" in sentence


def test_many_levels_make_each_claim_harder() -> None:
    """p = 0.03 leads where it is the one claim, and no longer where it is one of three."""
    a, b = [100.0, 100.0, 100.0], [112.0, 106.0, 115.0]
    p = stats.ratio_paired(b, a).p_value
    assert p is not None
    assert 0.0167 < p < 0.05
    (alone,) = leaders(cell("a", a), cell("b", b))
    assert "Beta (111 transactions/s) leads" in alone
    noise = [
        cell(e, v, load) for load in ("s1", "s16") for e, v in (("a", [100, 140, 90]), ("b", [120, 100, 115]))
    ]
    among = leaders(cell("a", a), cell("b", b), *noise)
    corrected = f"because of several levels (p = {3 * p:.2g} after Holm)"
    assert f"No leader is decided at 4 sessions, {corrected}: the highest mean is Beta" in among[0]


def test_without_others_there_is_no_leader() -> None:
    assert leaders(cell("a", [100, 101]), cell("b", [])) == [
        "Only Alpha has a number at 4 sessions: there is no leader."
    ]
    assert leaders(cell("a", []), cell("b", [])) == ["No engine has a number at 4 sessions."]
    assert leaders(cell("a", [100, 101])) == []


def test_a_marked_number_is_not_quoted_without_its_mark() -> None:
    mark = Mark(kind="client_cpu", severity="warn", text="97 %")
    limited = cell("b", [120, 121, 119, 121], marks=[mark])
    (sentence,) = leaders(cell("a", [100, 101, 99, 100]), limited)
    assert sentence.endswith("Read with care: the generator was near its limit (Beta).")
    (peak,) = find_peaks(
        [limited, cell("b", [60, 61, 60, 60], "s1")], LOADS, relevant_difference=0.05, names=NAMES
    )
    assert peak.sentence.endswith("Read with care: the generator was near its limit.")


def peak(*cells: Cell) -> str:
    (finding,) = find_peaks(list(cells), LOADS, relevant_difference=0.05, names=NAMES)
    return finding.sentence


def test_peaks() -> None:
    low, high = [100.0, 101, 99, 100], [200.0, 202, 199, 201]
    inside = peak(cell("a", low, "s1"), cell("a", high, "s4"), cell("a", low, "s16"))
    assert inside.startswith(
        "Alpha is highest at 4 sessions: 200 transactions/s (95 % CI 198 to 203, 4 trials)."
    )
    assert "beyond" not in inside
    last = peak(cell("a", low, "s1"), cell("a", low, "s4"), cell("a", high, "s16"))
    assert last.endswith("that is the highest level run, so its peak may lie beyond.")
    flat = peak(
        cell("a", low, "s1"), cell("a", [200, 190, 210, 200], "s4"), cell("a", [201, 200, 199, 205], "s16")
    )
    assert "not told apart from 4 sessions" in flat
    assert find_peaks([cell("a", low)], LOADS, relevant_difference=0.05, names=NAMES) == []


def test_comparisons_over_levels_are_grouped_by_verdict() -> None:
    cells = [
        cell("a", [100, 101, 99, 100], "s1"),
        cell("b", [120, 121, 119, 121], "s1"),
        cell("a", [100, 101, 99, 100], "s4"),
        cell("b", [80, 81, 79, 80], "s4"),
        cell("a", [], "s16"),
        cell("b", [80, 81, 79, 80], "s16"),
    ]
    comparisons = compare_with_baseline(cells, "a", relevant_difference=0.05, names=NAMES)
    assert [c.verdict for c in comparisons] == ["faster", "slower", "missing"]
    (finding,) = find_comparisons(comparisons, cells, NAMES)
    assert finding.sentence.startswith("Beta against Alpha: faster at 1 session (1.20×, 95 % CI [1.")
    assert "slower at 4 sessions (0.80×, 95 % CI [0." in finding.sentence
    assert finding.sentence.endswith("no number at 16 sessions.")
    assert finding.strength == "measured"


def test_a_correction_that_takes_a_verdict_back_says_so() -> None:
    a, b = [100.0, 100.0, 100.0], [112.0, 106.0, 115.0]
    cells = [cell("a", a), cell("b", b), cell("a", [90, 110, 100], "s1"), cell("b", [100, 95, 112], "s1")]
    comparison = compare_with_baseline(cells, "a", relevant_difference=0.05, names=NAMES)[0]
    assert comparison.verdict == "undecided"
    assert "undecided, because of several comparisons (p = 0.0" in comparison.sentence


IDLE = Usage(
    client_cores=0,
    client_share=0,
    worker_share=0,
    run_delay_share=0,
    server_cores=0.5,
    steal_share=0,
    others_share=0,
)


def marks_of(
    *,
    retries: int = 0,
    lost: int = 0,
    generator: GeneratorUse | None = None,
    open_loop: OpenLoop | None = None,
) -> list[Mark]:
    return trial_marks(
        transactions=1000,
        retries=retries,
        lost=lost,
        errors={1213: retries} if retries else {},
        unfinished=0,
        usage=IDLE,
        generator=generator or GeneratorUse("closed", 0.1),
        open_loop=open_loop,
    )


def test_a_busy_generator_beside_a_busier_server_is_a_mark() -> None:
    assert marks_of() == []
    (mark,) = marks_of(generator=GeneratorUse("closed", 0.95, server_share=0.98))
    assert (mark.kind, mark.severity) == ("client_cpu", "warn")
    assert "95 %" in mark.text
    assert "the server was at the limit of its own" in mark.text
    (mark,) = marks_of(generator=GeneratorUse("closed", 0.5, run_delay_share=0.06))
    assert "waited for a CPU 6 % of the time" in mark.text


def test_few_retries_are_information_many_a_warning() -> None:
    assert [mark.severity for mark in marks_of(retries=10)] == ["info"]
    assert [mark.severity for mark in marks_of(retries=11)] == ["warn"]
    (mark,) = marks_of(lost=1)
    assert mark.severity == "warn"
    assert "1 transaction lost with their connection" in mark.text


def open_loop(*, due: int = 1000, done: int | None = None, dropped: int = 0, backlog: int = 0) -> OpenLoop:
    return OpenLoop(
        offered_per_s=due / 10,
        due=due,
        done=due if done is None else done,
        dropped=dropped,
        unfinished=0,
        backlog=backlog,
        service_p99_us=900,
        lag_p99_us=100,
        generator_lag_p50_us=10,
        generator_lag_p99_us=50,
    )


def test_an_offered_rate_that_was_not_met_is_marked() -> None:
    assert marks_of(open_loop=open_loop(done=991)) == []
    (mark,) = marks_of(open_loop=open_loop(done=700, dropped=200, backlog=100))
    assert (mark.kind, mark.severity) == ("overload", "warn")
    assert mark.text.startswith("300 of 1,000 due transactions not done (200 dropped, 100 waiting")
    assert [mark.kind for mark in marks_of(open_loop=open_loop(done=999, dropped=1))] == ["overload"]


def offered(engine: str, p99s_us: list[float], load: str = "r100", met: OpenLoop | None = None) -> Cell:
    """A cell of an open loop: every trial did 100 transactions/s, response times differ."""
    made = cell(engine, [100.0] * len(p99s_us), load)
    made.loop = "open"
    for trial, p99_us in zip(made.trials, p99s_us, strict=True):
        trial.p99_us = p99_us
    made.open = met or open_loop()
    low, high = min(p99s_us), max(p99s_us)
    made.latency = [
        Latency(
            name="w",
            count=1000,
            mean_us=low,
            p50_us=low / 2,
            p95_us=low,
            p99_us=low,
            p999_us=high,
            p9999_us=high,
            max_us=high,
        )
    ]
    return made


OPEN_NAMES = Names(
    engines=NAMES.engines,
    settings=NAMES.settings,
    workloads=NAMES.workloads,
    loads={f"r{n}": f"{n} transactions/s offered" for n in (100, 200, 400)},
)
OPEN_LOADS = [Load(id=f"r{n}", kind="open", label=OPEN_NAMES.loads[f"r{n}"], x=n) for n in (100, 200, 400)]


def test_in_an_open_loop_less_response_time_is_faster() -> None:
    cells = [offered("a", [10_000, 10_100, 9_900, 10_050]), offered("b", [8_000, 8_100, 7_900, 8_050])]
    (comparison,) = compare_with_baseline(cells, "a", relevant_difference=0.05, names=OPEN_NAMES)
    assert comparison.measure == "p99_us"
    assert comparison.verdict == "faster"
    assert comparison.ratio is not None
    assert comparison.ratio.value == pytest.approx(0.8, rel=0.01)
    assert comparison.sentence.startswith("The p99 response time of Beta is 0.80× that of Alpha at 100 trans")
    assert comparison.sentence.endswith(": faster.")
    (slower,) = compare_with_baseline(cells, "b", relevant_difference=0.05, names=OPEN_NAMES)
    assert slower.verdict == "slower"
    (leader,) = find_leaders(cells, relevant_difference=0.05, names=OPEN_NAMES)
    assert leader.sentence.startswith(
        "Beta (p99 8.01 ms) leads at 100 transactions/s offered: 0.80× the next"
    )
    assert find_peaks(cells, OPEN_LOADS, relevant_difference=0.05, names=OPEN_NAMES) == []


def test_an_open_loop_has_no_leader_where_none_is_told_apart() -> None:
    cells = [offered("a", [10_000, 14_000, 9_000]), offered("b", [9_500, 13_000, 11_000])]
    (leader,) = find_leaders(cells, relevant_difference=0.05, names=OPEN_NAMES)
    assert "No leader is decided at 100 transactions/s offered: the lowest p99 response" in leader.sentence


def test_up_to_which_rate_an_engine_keeps_up() -> None:
    met, missed = open_loop(), open_loop(done=700, dropped=200, backlog=100)

    def sentence(*cells: Cell) -> str:
        (finding,) = find_limits(list(cells), OPEN_LOADS, OPEN_NAMES)
        return finding.sentence

    low, middle = offered("a", [1000], "r100", met), offered("a", [2000], "r200", met)
    over = offered("a", [900_000], "r400", missed)
    assert sentence(middle, low).startswith(
        "Alpha met every offered rate, up to 200 transactions/s offered (response time p50 1.00 ms, p99 2.00"
    )
    assert "kept up with 200 transactions/s offered" in sentence(over, low, middle)
    assert "but not with 400 transactions/s offered, of which 100 were done" in sentence(over, low, middle)
    # A higher rate that happens to be met does not make up for a lower one that was not.
    unlucky = offered("a", [900_000], "r200", missed)
    assert "kept up with 100" in sentence(low, unlucky, offered("a", [1000], "r400", met))
    assert "did not keep up with the lowest offered rate" in sentence(unlucky)


def test_the_same_mark_in_all_trials_is_said_once() -> None:
    text = "innodb_log_file_size: asked 1, the server reports 2"
    trials = [
        TrialResult(
            id=f"t{i}",
            block=i,
            status="ok",
            throughput_per_s=1,
            marks=[Mark(kind="settings", severity="warn", text=text)],
        )
        for i in (1, 2, 3)
    ]
    assert [mark.text for mark in cell_marks(trials, [text])] == [text]
    trials[1].marks[0].text = text.replace("2", "3")
    assert [m.text for m in cell_marks(trials, [])] == [f"in 3 of 3 trials, at worst: {text}"]
    trials[0].marks = []
    trials[1].marks = [Mark(kind="host", severity="warn", text="others used 9 %")]
    trials[2].marks = [Mark(kind="host", severity="warn", text="others used 11 %")]
    assert [m.text for m in cell_marks(trials, [])] == ["in 2 of 3 trials, at worst: others used 11 %"]
    trials[0].marks = [Mark(kind="settings", severity="warn", text=text)]
    assert [m.text for m in cell_marks(trials[:1], [])] == ["1 trial: no interval, nothing is tested", text]
