"""The pattern language of `--layout`, and its preset."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.errors import DynoError
from dyno.record.importers.layouts import FIELDS, layout_of, rule_of

PERCONA = layout_of(["percona-2026"])


@pytest.mark.parametrize(
    ("folder", "mode"),
    [
        ("benchmark_logs", "rw-local"),
        ("benchmark_logs_read_only", "ro-local"),
        ("benchmark_remote_logs", "rw-network"),
        ("benchmark_remote_logs_read_only", "ro-network"),
        ("anywhere", "rw-local"),
    ],
)
def test_the_preset_reads_the_folder_not_the_mode_in_the_name(folder: str, mode: str) -> None:
    path = Path(f"/x/{folder}/percona-server/8.0.45-36/Tier2G_RW_16th.sysbench.txt")
    of_engine = {"family": "percona", "version": "8.0.45-36", "tier": "2", "mode": mode}
    assert PERCONA.match(path) == of_engine | {"sessions": "16", "kind": "sysbench"}
    assert PERCONA.match(path.with_name("Tier2G.vars.txt")) == of_engine | {"kind": "vars"}
    assert PERCONA.match(path.with_name("Tier2G-pt-mysql-summary.txt")) is None


def test_rules_are_tried_in_their_order_and_set_fields() -> None:
    layout = layout_of(
        [
            "ro/**/{family}/{version}/{sessions}.txt mode=read-only tier=12",
            "{family}/{version}/{sessions}.txt",
        ]
    )
    known = {"family": "mysql", "version": "8.0", "sessions": "16"}
    only = known | {"mode": "read-only", "tier": "12"}
    assert layout.match(Path("/logs/ro/a/b/mysql/8.0/016.txt")) == only
    assert layout.match(Path("/logs/ro/mysql/8.0/16.txt")) == only
    assert layout.match(Path("/logs/rw/mysql/8.0/16.txt")) == known
    assert layout.match(Path("/logs/rw/mysql/8.0/many.txt")) is None


def test_fields_that_the_path_does_not_say_come_from_flags() -> None:
    layout = layout_of([], {"family": "Percona-Server", "version": "8.0.45", "tier": "512M"})
    assert layout.match(Path("/any/file")) == {"family": "percona", "version": "8.0.45", "tier": "512M"}
    layout = layout_of(["{family}/{version}_{tier}.log"], {"tier": "1"})
    assert layout.match(Path("maria/11.8_012G.log")) == {"family": "mariadb", "version": "11.8", "tier": "12"}


def test_a_file_with_rules_is_a_layout(tmp_path: Path) -> None:
    file = tmp_path / "my.layout"
    file.write_text("# ours\n\n{family}-{version}/{sessions}.txt mode=rw\n")
    fields = layout_of([str(file)]).match(Path("mysql-8.4/4.txt"))
    assert fields == {"family": "mysql", "version": "8.4", "sessions": "4", "mode": "rw"}
    file.write_text("# nothing\n")
    with pytest.raises(DynoError, match="has no rule"):
        layout_of([str(file)])


@pytest.mark.parametrize(
    "pattern",
    [
        "percona-2025",
        "{family}/{sessions}",
        "{family}/{version}/{colour}",
        "{family}/{version}/{family}",
        "{family}/{version} colour=red",
        "{family}/{version} version=8",
        "{family}/{version} tier=12GB",
        "{family}/{version} block=two",
        "{a",
        "",
    ],
)
def test_a_wrong_layout_is_refused_with_a_hint(pattern: str) -> None:
    with pytest.raises(DynoError) as caught:
        layout_of([pattern])
    assert caught.value.hint


@given(st.text(alphabet="{}*/ab.[(\\+?^$= ", max_size=30), st.text(alphabet="ab/.[(*", max_size=20))
def test_any_text_is_a_rule_or_a_refusal(pattern: str, path: str) -> None:
    try:
        rule = rule_of(pattern)
    except DynoError:
        return
    assert set(rule.expression.groupindex) <= set(FIELDS)
    if not any(sign in pattern for sign in "{*= "):
        # Without fields and stars a pattern means itself, whatever it means to a regular expression.
        assert bool(rule.expression.search(path)) == (path == pattern or path.endswith(f"/{pattern}"))
