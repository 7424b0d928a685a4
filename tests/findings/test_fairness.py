"""Which differing settings matter, and why; on the corpus, those that are known of it are among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.cli.main import call
from dyno.engines.rules import RULES
from dyno.findings import Names
from dyno.findings.conditions import find_hosts, find_settings, find_warmups
from dyno.findings.fairness import traits_of, weigh_settings
from dyno.findings.knowledge import SORTS, TABLE, WRITES, knowledge_of
from dyno.record.run import open_run
from dyno.report.analysis import analyse
from dyno.report.model import Analysis, Cell, Metric, Series, SettingRow, TrialResult

NAMES = Names(engines={"a": "Alpha", "b": "Beta"}, settings={"d": "d"}, workloads={"w": "w"}, loads={})


def row(variable: str, a: str | None, b: str | None, settings: str = "d") -> SettingRow:
    present = {value for value in (a, b) if value is not None}
    return SettingRow(
        settings=settings,
        variable=variable,
        logical=None,
        requested={"a": None, "b": None},
        effective={"a": a, "b": b},
        differs=len(present) > 1,
    )


def weighed(*rows: SettingRow, workload: str = "oltp_read_write") -> dict[str, SettingRow]:
    return {each.variable: each for each in weigh_settings(rows, [workload])}


def test_a_difference_matters_for_what_a_workload_does() -> None:
    flushing, collation = row("innodb_flush_neighbors", "0", "1"), row("collation_server", "x_ci", "y_ci")
    reading = weighed(flushing, collation, workload="oltp_point_select")
    assert {each.weight for each in reading.values()} == {"cosmetic"}
    assert "oltp_point_select is not known to do" in (reading["collation_server"].reason or "")
    sorting = weighed(flushing, collation, workload="oltp_read_only")
    assert sorting["innodb_flush_neighbors"].weight == "cosmetic"
    assert sorting["collation_server"].weight == "matters"
    both = {each.variable: each for each in weigh_settings([flushing], ["oltp_read_only", "tpcc"])}
    assert (both["innodb_flush_neighbors"].reason or "").endswith("(tpcc)")


def test_what_does_not_differ_has_no_weight() -> None:
    assert weighed(row("performance_schema", "ON", "ON"))["performance_schema"].weight is None
    assert weighed(row("innodb_snapshot_isolation", "ON", None))["innodb_snapshot_isolation"].weight is None


def test_a_variable_nobody_knows_is_not_called_cosmetic() -> None:
    found = weighed(row("innodb_invented_yesterday", "1", "2"))["innodb_invented_yesterday"]
    assert (found.weight, found.reason) == ("unknown", "Dyno does not know what it does")


def test_a_gate_that_is_off_takes_the_effect_away() -> None:
    size = row("query_cache_size", "0", "1048576")
    assert weighed(size, row("query_cache_type", "OFF", "OFF"))["query_cache_size"].weight == "cosmetic"
    assert weighed(size, row("query_cache_type", "ON", "ON"))["query_cache_size"].weight == "matters"
    gate = weighed(row("log_bin", "ON", "OFF"))["log_bin"]
    assert gate.weight == "matters"


def test_values_that_do_the_same() -> None:
    name = "innodb_checksum_algorithm"
    assert weighed(row(name, "crc32", "full_crc32"))[name].weight == "cosmetic"
    assert weighed(row(name, "crc32", "none"))[name].weight == "matters"


GIB = 2**30


@pytest.mark.parametrize(
    ("variables", "capacity"),
    [
        ({"log_file_size": 2 * GIB}, 2 * GIB),
        ({"log_file_size": 2 * GIB, "log_files_in_group": 2}, 4 * GIB),
        ({"log_file_size": 50331648, "log_files_in_group": 2, "redo_log_capacity": 4 * GIB}, 4 * GIB),
        # 8.0.30 and later: the older variables count where only they were set.
        ({"log_file_size": 2 * GIB, "log_files_in_group": 2, "redo_log_capacity": 100 * 2**20}, 4 * GIB),
        ({"log_file_size": 50331648, "log_files_in_group": 2, "redo_log_capacity": 104857600}, 104857600),
        ({"redo_log_capacity": 4 * GIB}, 4 * GIB),
    ],
)
def test_redo_capacity_of_each_generation(variables: dict[str, int], capacity: int) -> None:
    rows = [row(f"innodb_{name}", str(value), None) for name, value in variables.items()]
    assert weighed(*rows)["redo_capacity_bytes"].effective == {"a": str(capacity), "b": None}


def test_without_redo_variables_there_is_no_capacity() -> None:
    assert "redo_capacity_bytes" not in weighed(row("performance_schema", "ON", "OFF"))


def test_the_table_knows_every_variable_that_dyno_sets() -> None:
    unknown = {t.variable for rule in RULES for t in rule.targets if knowledge_of(t.variable) is None}
    assert unknown == set()
    assert all(each.reason and each.patterns for each in TABLE)


def test_traits_of_names() -> None:
    assert traits_of("rw-network") == {WRITES, SORTS}
    assert traits_of("oltp_update_index") == {WRITES}
    assert traits_of("oltp_point_select") == frozenset()
    assert len(traits_of("my own script")) > 3


def test_sentences_name_values_engines_and_reason() -> None:
    rows = weigh_settings(
        [row("innodb_log_file_size", str(GIB), str(2 * GIB)), row("thread_stack", "1", "2")], ["tpcc"]
    )
    matter, other = find_settings(rows, NAMES)
    assert matter.sentence.startswith("redo_capacity_bytes (1 GiB on Alpha; 2 GiB on Beta) differs between")
    assert "checkpoints" in matter.sentence
    assert other.sentence.startswith("2 other differences of settings should have no effect here")


def test_a_difference_in_some_settings_sets_says_which() -> None:
    rows = [row("performance_schema", "ON", "OFF"), row("performance_schema", "ON", "ON", settings="e")]
    (matter,) = find_settings(weigh_settings(rows, ["tpcc"]), NAMES)
    assert "(ON on Alpha; OFF on Beta) in d differs" in matter.sentence


def test_what_a_server_does_not_have_was_not_taken_and_is_said_once() -> None:
    asked = [
        row("innodb_log_files_in_group", None, "2", settings).model_copy(
            update={"requested": {"a": "2", "b": "2"}, "logical": "my.cnf"}
        )
        for settings in ("d", "e")
    ]
    (finding,) = find_settings(weigh_settings(asked, ["tpcc"]), NAMES)
    assert finding.rule == "settings_ignored"
    assert finding.sentence == "Not taken as asked: Alpha: innodb_log_files_in_group, which there is not."


def test_servers_on_different_hosts() -> None:
    assert find_hosts([row("hostname", "one", "one")], NAMES) == []
    (finding,) = find_hosts([row("hostname", "one", "two")], NAMES)
    assert finding.sentence.startswith("The servers ran on 2 hosts: one (Alpha); two (Beta).")


def cell_with(values: list[float]) -> tuple[list[Cell], dict[str, Series]]:
    trial = TrialResult(id="t", block=1, status="ok", throughput_per_s=1.0, series="t")
    cell = Cell(
        id="c",
        engine="a",
        settings="d",
        workload="w",
        load="s1",
        status="ok",
        throughput_per_s=None,
        trials=[trial],
    )
    metric = Metric(metric="throughput_per_s", label="", unit="1/s", values=list(values))
    t_s = [float(second) for second in range(1, len(values) + 1)]
    # The first ten seconds are warm-up.
    phases = [("warmup", 0.0, 10.0), ("measure", 10.0, float(len(values)))]
    return [cell], {"t": Series(trial="t", t_s=t_s, phases=phases, metrics=[metric])}


def test_a_window_that_still_rises_was_not_warm() -> None:
    rising = [1.0] * 10 + [100.0 + second for second in range(90)]
    (finding,) = find_warmups(*cell_with(rising), NAMES)
    assert "1 of 1 cell" in finding.sentence
    assert "1.52×" in finding.sentence
    assert finding.cells == ["c"]
    assert find_warmups(*cell_with([1.0] * 10 + [100.0] * 90), NAMES) == []
    assert find_warmups(*cell_with(rising[:40]), NAMES) == []


@pytest.mark.parametrize(
    ("variable", "one", "other"),
    [
        ("innodb_log_file_size", "2147483648", "50331648"),
        ("collation_server", "utf8mb4_general_ci", "utf8mb4_0900_ai_ci"),
        ("innodb_change_buffering", "all", "none"),
        ("innodb_adaptive_hash_index", "ON", "OFF"),
        ("performance_schema", "ON", "OFF"),
        ("innodb_snapshot_isolation", "OFF", "ON"),
        ("innodb_read_io_threads", "4", "40"),
    ],
)
def test_what_the_2026_report_did_not_hold_equal_matters_for_its_workload(
    variable: str, one: str, other: str
) -> None:
    rows = weigh_settings([row(variable, one, other)], ["rw-local"])
    said = " ".join(
        finding.sentence for finding in find_settings(rows, NAMES) if finding.rule == "settings_matter"
    )
    assert ("redo_capacity_bytes" if variable == "innodb_log_file_size" else variable) in said


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    from corpus import unpacked  # noqa: PLC0415 - skips where the corpus is not at hand

    at = tmp_path_factory.mktemp("corpus")
    logs = unpacked(at / "logs")
    # Variables and one load level are enough here: the settings do not depend on the levels.
    for log in Path(logs).rglob("*.sysbench.txt"):
        if not log.name.endswith("_1th.sysbench.txt"):
            log.unlink()
    assert call(["import", str(logs), "-o", str(at / "run"), "--layout", "percona-2026"]) == 0
    return analyse(open_run(at / "run"))


def test_the_corpus_differs_in_what_is_known_of_it(corpus: Analysis) -> None:
    matter = {r.variable: r for r in corpus.setting_rows if r.weight == "matters" and r.settings == "32gib"}
    known = {
        "redo_capacity_bytes": ("mariadb-10.11", str(2 * GIB), "mysql-8.0", str(4 * GIB)),
        "collation_server": ("mariadb-11.4", "utf8mb4_uca1400_ai_ci", "mysql-5.7", "utf8mb4_general_ci"),
        "innodb_change_buffering": ("mysql-5.7", "all", "mysql-8.4", "none"),
        "innodb_adaptive_hash_index": ("percona-8.0", "ON", "percona-8.4", "OFF"),
        "performance_schema": ("mariadb-12.1", "OFF", "mysql-9.6", "ON"),
        "innodb_snapshot_isolation": ("mariadb-12.1", "ON", "mariadb-11.4", "OFF"),
        "innodb_read_io_threads": ("mysql-8.0", "4", "mysql-8.4", "40"),
    }
    for variable, (one, value, other, another) in known.items():
        assert matter[variable].effective[one] == value
        assert matter[variable].effective[other] == another
    said = " ".join(f.sentence for f in corpus.findings if f.rule == "settings_matter")
    for variable in known:
        assert variable in said


def test_what_the_corpus_asked_for_in_vain(corpus: Analysis) -> None:
    (finding,) = [f for f in corpus.findings if f.rule == "settings_ignored"]
    assert "table_open_cache_instances" in finding.sentence
    assert "MariaDB 12.1: innodb_log_files_in_group, which there is not" in finding.sentence


def test_of_the_corpus_every_difference_has_a_reason(corpus: Analysis) -> None:
    differing = [r for r in corpus.setting_rows if r.differs]
    assert len(differing) > 300
    assert all(r.weight in {"matters", "cosmetic"} and r.reason for r in differing)


def test_the_corpus_was_not_warm_where_it_is_known_to_rise(corpus: Analysis) -> None:
    (finding,) = [f for f in corpus.findings if f.rule == "warmup"]
    risen = {f"mysql-{v}~2gib~rw-local~s1" for v in ("5.7", "8.0", "8.4", "9.6")}
    assert risen <= set(finding.cells)
    assert "3.28×" in finding.sentence


def test_the_table_of_differing_settings(corpus: Analysis) -> None:
    table = next(table for table in corpus.tables if table.id == "settings")
    rows = {row[1]: row for row in table.rows}
    weight, _, values, reason, sets = rows["innodb_read_io_threads"]
    assert weight == "matters"
    assert values.endswith("40: MySQL 8.4, MySQL 9.6, Percona Server 8.4")
    assert "background reads" in reason
    assert sets == "32gib, 12gib, 2gib"
    assert "thread_stack" not in rows
    assert table.note is not None
    assert "should have no effect" in table.note
