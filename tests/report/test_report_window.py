"""The window of a trial in the report: Dyno's own trials and imported ones, with known faults and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpus import unpacked
from dyno.record.importers.layouts import layout_of
from dyno.record.importers.runs import import_logs
from dyno.record.lines import Header, Interval, PhaseStart, Summary, Transactions
from dyno.record.manifest import Phases, Stopping
from dyno.record.run import open_run
from dyno.record.stream import Stream
from dyno.report.analysis import analyse
from dyno.report.window import audited, gap_mark, law_of, stopping_mark, stopping_of, window_marks

if TYPE_CHECKING:
    from dyno.report.model import TrialResult

SESSIONS = 4
S = 1_000_000


def stream_of(rates: list[float], load: dict[str, object] | None = None, **spec: object) -> Stream:
    """A closed loop with these rates, a second each; the last one only half a second long."""
    header = Header(
        format="dyno-record/1",
        spec={"load": {"closed": load or {"sessions": SESSIONS}}, **spec},
        loop="closed",
    )
    stream = Stream(header, phases=[PhaseStart(t_us=0, phase="measure")])
    for at, rate in enumerate(rates, start=1):
        done = [Transactions(type="t", ok=round(rate))]
        stream.intervals.append(
            Interval(t_us=at * S, duration_us=S, phase="measure", sessions=SESSIONS, transactions=done)
        )
    return stream


def summary_of(rates: list[float], measure_end: str = "planned") -> Summary:
    done = [Transactions(type="t", ok=sum(round(rate) for rate in rates))]
    return Summary.model_validate(
        {
            "t_us": len(rates) * S,
            "outcome": "ok",
            "measure_us": len(rates) * S,
            "measure_end": measure_end,
            "transactions": [each.model_dump() for each in done],
        }
    )


def steady(n: int = 200) -> list[float]:
    return np.random.default_rng(1).normal(1000, 20, n).tolist()


def test_a_steady_window_has_no_mark_and_a_drifting_one_has() -> None:
    verdict = audited(stream_of(steady()))
    assert verdict is not None
    assert verdict.state == "steady"
    assert window_marks(verdict, None) == []
    rising = audited(stream_of(np.linspace(500, 1500, 200).tolist()))
    assert rising is not None
    (mark,) = window_marks(rising, None)
    assert (mark.kind, mark.severity) == ("steady", "warn")
    assert mark.text.startswith("drifting: throughput rises")


def test_a_load_that_changes_is_not_called_unsteady() -> None:
    stages = {"stages": [{"duration_s": 200, "target": 64}]}
    assert audited(stream_of(np.linspace(100, 900, 200).tolist(), stages)) is None


def test_a_cut_off_interval_is_no_sample() -> None:
    stream = stream_of(steady(100))
    stream.intervals[-1] = stream.intervals[-1].model_copy(update={"duration_us": S // 10})
    verdict = audited(stream)
    assert verdict is not None
    assert verdict.stalls == 0


@pytest.mark.parametrize(("share", "said"), [(1.0, None), (0.7, "not measured"), (1.2, "counts wrongly")])
def test_sessions_that_are_not_accounted_for_are_a_mark(share: float, said: str | None) -> None:
    rates = steady()
    stream, summary = stream_of(rates), summary_of(rates)
    law = law_of(stream, summary, response_mean_us=share * SESSIONS / 1000 * S)
    verdict = audited(stream)
    assert law is not None
    assert verdict is not None
    assert law.ratio == pytest.approx(share, rel=0.01)
    marks = window_marks(verdict, law)
    assert (said is None and not marks) or (said is not None and said in marks[0].text)


def test_users_who_pause_are_not_held_against_the_law() -> None:
    rates = steady()
    options = {"workload": {"options": {"think": "on"}}}
    assert law_of(stream_of(rates, **options), summary_of(rates), 1000) is None


PLANNED = Phases(measure_s=900, stopping=Stopping(rule="dyno-stopping/1", precision=0.03, measure_min_s=120))


def test_a_trial_that_ended_early_says_how_well_its_mean_is_known() -> None:
    rates = steady()
    stopping = stopping_of(PLANNED, stream_of(rates), summary_of(rates, "asked"))
    assert stopping is not None
    assert stopping.ended_early
    assert stopping.reach is not None
    assert 0 < stopping.reach < 0.03
    mark = stopping_mark(stopping, None)
    assert mark.severity == "info"
    assert mark.text.startswith("ended after 200 s of at most 900 s")


def test_a_trial_that_never_settled_is_marked() -> None:
    rates = np.linspace(500, 1500, 900).tolist()
    stream = stream_of(rates)
    stopping = stopping_of(PLANNED, stream, summary_of(rates))
    assert stopping is not None
    assert stopping.reach is None
    mark = stopping_mark(stopping, audited(stream))
    assert mark.severity == "warn"
    assert "never settled (interval of its mean: ±" in mark.text


def test_without_a_precision_there_is_no_stopping() -> None:
    assert stopping_of(Phases(measure_s=900), stream_of(steady()), summary_of(steady())) is None


def test_a_log_with_gaps_is_marked() -> None:
    whole = [float(t) for t in range(1, 901)]
    assert gap_mark(whole, 900.4) is None
    assert gap_mark(whole[:-1], 900.4) is None
    mark = gap_mark(whole[:600], 900.0)
    assert mark is not None
    assert "600 of 900 intervals" in mark.text
    assert gap_mark(whole[:400] + whole[500:], 900.0) is not None
    assert gap_mark([1.0], 900.0) is None


@pytest.fixture(scope="module")
def corpus_trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialResult]:
    """Trials of the 2 GB tier of the corpus, by `engine/sessions`."""
    logs = unpacked(tmp_path_factory.mktemp("corpus"))
    for other in [*logs.rglob("Tier12G_*"), *logs.rglob("Tier32G_*")]:
        other.unlink()
    run = tmp_path_factory.mktemp("runs") / "corpus"
    import_logs([logs], layout_of(["percona-2026"]), run, command=[])
    cells = analyse(open_run(run)).cells
    return {f"{cell.engine}/{cell.load.removeprefix('s')}": cell.trials[0] for cell in cells}


def test_the_corpus_cells_that_rise_are_flagged(corpus_trials: dict[str, TrialResult]) -> None:
    single = {name: trial.window for name, trial in corpus_trials.items() if name.endswith("/1")}
    states = {name: window.state for name, window in single.items() if window}
    assert len(states) == 10
    # One engine had already warmed up; the nine others rise 1.5- to 3.3-fold within the window.
    assert states.pop("mariadb-11.4/1") == "steady"
    assert set(states.values()) == {"drifting"}
    rise = [float(single[name].reasons[0].split()[-3].rstrip("×")) for name in states]  # type: ignore[union-attr]
    assert min(rise) >= 1.5
    assert max(rise) == pytest.approx(3.28, abs=0.01)


def test_the_corpus_saw_teeth_are_flagged(corpus_trials: dict[str, TrialResult]) -> None:
    for version in ("10.11", "11.4", "12.1"):
        window = corpus_trials[f"mariadb-{version}/512"].window
        assert window is not None
        assert window.state == "oscillating"
        assert window.swing is not None
        assert 20 < window.swing.period_s < 25
        assert window.swing.depth > 0.6


def test_the_corpus_log_without_intervals_is_missing(corpus_trials: dict[str, TrialResult]) -> None:
    empty = corpus_trials["mysql-5.7/512"]
    assert (empty.status, empty.throughput_per_s, empty.window) == ("missing", None, None)


def test_the_corpus_obeys_littles_law(corpus_trials: dict[str, TrialResult]) -> None:
    ratios = [trial.window.littles_law for trial in corpus_trials.values() if trial.window]
    known = [ratio for ratio in ratios if ratio is not None]
    assert len(known) > 70
    assert all(abs(ratio - 1) < 0.05 for ratio in known)
