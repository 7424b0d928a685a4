"""Run folders: opened, found, damaged."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from dyno.errors import DynoError
from dyno.record.run import find_run, open_run
from fixtures.synthetic_run import Scenario, build, edit_json, trials_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL = Scenario(speed={"mariadb-10.11": 1.0, "mysql-9.7": 0.7}, sessions=(1,), blocks=2)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("runs") / "20261120-193000-small", SMALL)


@pytest.fixture
def run(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "runs" / template.name)


def test_open(run: Path) -> None:
    opened = open_run(run)
    assert [engine.id for engine in opened.manifest.engines] == ["mariadb-10.11", "mysql-9.7"]
    assert {line.state for line in opened.journal.values()} == {"ok"}
    assert len(opened.journal) == len(opened.manifest.order) == 4
    trial = opened.manifest.order[0].trial
    file = opened.trial_file(trial)
    assert file is not None
    assert file.trial == trial
    assert opened.stream(trial).summary is not None
    assert {each.engine for each in opened.settings} == {"mariadb-10.11", "mysql-9.7"}


def test_the_journal_keeps_the_last_state_and_leaves_out_a_torn_line(run: Path) -> None:
    trial = open_run(run).manifest.order[0].trial
    with (run / "journal.ndjson").open("a") as journal:
        journal.write(
            json.dumps(
                {"trial": trial, "state": "failed", "reason": "line\u2028separator"}, ensure_ascii=False
            )
            + "\n"
        )
        journal.write('{"trial": "' + trial + '", "state": "o')
    line = open_run(run).journal[trial]
    assert (line.state, line.reason) == ("failed", "line\u2028separator")


def test_a_trial_without_its_file_is_none(run: Path) -> None:
    trial = trials_of(run, "mysql-9.7", 1)[0]
    (trial / "trial.json").unlink()
    assert open_run(run).trial_file(trial.name) is None


def set_key(key: str, value: object) -> Callable[[Any], None]:
    return lambda document: document.update({key: value})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (set_key("format", "dyno-run/7"), "format: .*'dyno-run/7'"),
        (set_key("trials_per_cell", 0), "trials_per_cell: .*0"),
        (set_key("relevant_difference", 5), "relevant_difference"),
        (set_key("engines", "many"), "engines: .*'many'"),
        (set_key("loads", []), "the load 's1' is used but defined 0 times"),
        (lambda m: m["order"][0].update(cell="other"), "the cell 'other'"),
        (lambda m: m["engines"].append(m["engines"][0]), "defined 2 times"),
        (lambda m: m.pop("order"), "order: field required"),
    ],
)
def test_a_damaged_manifest_is_named(run: Path, change: Callable[[Any], None], expected: str) -> None:
    edit_json(run / "manifest.json", change)
    with pytest.raises(DynoError, match=expected) as caught:
        open_run(run)
    assert "manifest.json" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xff", b"[]", b"null"])
@pytest.mark.parametrize("name", ["manifest.json", "settings/mysql-9.7--default.json"])
def test_no_file_escapes_as_a_traceback(run: Path, name: str, content: bytes) -> None:
    (run / name).write_bytes(content)
    with pytest.raises(DynoError) as caught:
        open_run(run)
    assert name.rsplit("/", 1)[-1] in caught.value.message
    assert caught.value.hint


def test_a_damaged_trial_file(run: Path) -> None:
    trial = trials_of(run, "mysql-9.7", 1)[0]
    (trial / "trial.json").write_text('{"format": "dyno-trial/1", "status": "splendid"}')
    with pytest.raises(DynoError, match=r"trial\.json"):
        open_run(run).trial_file(trial.name)


def test_a_damaged_journal(run: Path) -> None:
    (run / "journal.ndjson").write_text('{"trial": 5}\n')
    with pytest.raises(DynoError, match=r"journal\.ndjson, line 1"):
        open_run(run)


def test_a_trial_id_cannot_leave_the_folder(run: Path) -> None:
    edit_json(run / "manifest.json", lambda m: m["order"][0].update(trial="../../elsewhere"))
    opened = open_run(run)
    with pytest.raises(DynoError, match="not a trial id"):
        opened.stream("../../elsewhere")


def test_find(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = run.parent
    later = shutil.copytree(run, runs / "aaa-later")
    edit_json(later / "manifest.json", set_key("created", "2026-11-21T00:00:00Z"))
    (runs / "not-a-run").mkdir()
    assert find_run("latest", runs) == later
    assert find_run(run.name, runs) == run
    assert find_run(str(run), tmp_path / "nowhere") == run
    with pytest.raises(DynoError, match="no run 'nope'") as caught:
        find_run("nope", runs)
    assert "aaa-later" in (caught.value.hint or "")
    with pytest.raises(DynoError, match="no run 'latest'") as caught:
        find_run("latest", tmp_path / "nowhere")
    assert "no runs under" in (caught.value.hint or "")
    monkeypatch.chdir(runs.parent)
    assert find_run("latest").name == "aaa-later"


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(DynoError, match="is not a run") as caught:
        open_run(tmp_path)
    assert "latest" in (caught.value.hint or "")
