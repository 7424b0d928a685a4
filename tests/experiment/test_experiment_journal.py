import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.errors import DynoError
from dyno.experiment.journal import STATES, Journal

ORDER = ["a", "b", "c"]


def written(path, *entries):
    with Journal(path) as journal:
        for trial, state in entries:
            journal.write(trial, state)


def test_the_last_line_of_a_trial_is_its_state(tmp_path):
    path = tmp_path / "journal.ndjson"
    written(path, ("a", "planned"), ("b", "planned"), ("a", "running"), ("a", "ok"), ("b", "running"))
    with Journal(path) as journal:
        assert journal.states == {"a": "ok", "b": "running"}
        assert journal.unfinished(ORDER) == ["b", "c"]


def test_lines_are_as_documented(tmp_path):
    path = tmp_path / "journal.ndjson"
    with Journal(path) as journal:
        journal.write("a", "failed", "the server died")
    line = json.loads(path.read_text())
    assert line.keys() == {"t", "trial", "state", "reason"}
    assert line["reason"] == "the server died"
    assert line["t"].endswith("Z")


def test_a_torn_last_line_is_ignored_and_nothing_is_glued_to_it(tmp_path):
    path = tmp_path / "journal.ndjson"
    written(path, ("a", "ok"), ("b", "ok"))
    whole = path.read_bytes()
    for cut in range(1, len(whole.splitlines(keepends=True)[-1])):
        path.write_bytes(whole[:-cut])
        with Journal(path) as journal:
            assert journal.states == {"a": "ok"}
            journal.write("b", "running")
        with Journal(path) as journal:
            assert journal.states == {"a": "ok", "b": "running"}


def test_a_damaged_line_in_the_middle_is_an_error(tmp_path):
    path = tmp_path / "journal.ndjson"
    written(path, ("a", "ok"))
    path.write_bytes(b'{"trial": \n' + path.read_bytes())
    with pytest.raises(DynoError, match=r"journal.ndjson:1 is not a journal line"):
        Journal(path)


def test_an_unknown_state_is_an_error(tmp_path):
    path = tmp_path / "journal.ndjson"
    path.write_text('{"trial": "a", "state": "splendid"}\n')
    with pytest.raises(DynoError, match="'splendid' is not a state"):
        Journal(path)


def test_two_processes_cannot_write_one_journal(tmp_path):
    path = tmp_path / "journal.ndjson"
    with Journal(path), pytest.raises(DynoError, match="another process"):
        Journal(path)
    Journal(path).close()


@settings(max_examples=60)
@given(
    entries=st.lists(st.tuples(st.sampled_from(ORDER), st.sampled_from(STATES)), max_size=12),
    cut=st.integers(0, 200),
)
def test_cutting_a_journal_anywhere_loses_only_its_end(tmp_path_factory, entries, cut):
    path = tmp_path_factory.mktemp("journal") / "journal.ndjson"
    written(path, *entries)
    whole = path.read_bytes()
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    kept = whole[: max(0, len(whole) - cut)].count(b"\n")
    with Journal(path) as journal:
        assert journal.states == dict(entries[:kept])
