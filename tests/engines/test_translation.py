from pathlib import Path

import pytest

from dyno.engines import Settings, arguments, translate
from dyno.engines.rules import FAMILIES, RULES, rule_for
from dyno.engines.settings_doc import settings_markdown
from dyno.engines.versions import in_range, parse_version
from dyno.errors import DynoError

VERSIONS = {
    "mariadb": [
        "10.1.23",
        "10.2.11",
        "10.5.29",
        "10.6.18",
        "10.11.5",
        "10.11.14",
        "11.4.5",
        "11.8.6",
        "12.1.2",
    ],
    "mysql": ["5.6.24", "5.7.44", "8.0.20", "8.0.30", "8.0.46", "8.4.8", "9.7.4"],
    "percona": ["8.0.45", "8.4.7"],
}
EVERY = [(family, version) for family in FAMILIES for version in VERSIONS[family]]


def values(settings, family, version, engine_id=""):
    return {a.variable: a.value for a in translate(settings, family, version, engine_id)}


@pytest.mark.parametrize(("family", "version"), EVERY)
def test_the_defaults_can_be_given_to_every_engine(family, version):
    translated = translate(Settings(), family, version)
    assert len({a.variable for a in translated}) == len(translated)
    assert {"innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "collation_server"} <= {
        a.variable for a in translated
    }


@pytest.mark.parametrize(("family", "version"), EVERY)
def test_every_knob_has_a_rule_for_every_engine(family, version):
    knobs = [knob for knob in Settings.model_fields if knob != "extra"]
    assert [knob for knob in knobs if rule_for(knob, family, parse_version(version)) is None] == []


def test_every_rule_is_about_a_knob_and_can_be_reached():
    for rule in RULES:
        assert rule.knob in Settings.model_fields
        reached = any(
            rule_for(rule.knob, family, parse_version(version)) is rule
            for family, versions in VERSIONS.items()
            for version in [*versions, "5.7.10", "10.0.10", "11.0.6", "11.1.5", "11.2.4"]
        )
        assert reached, rule


def test_redo_is_the_same_capacity_however_it_is_spelled():
    settings = Settings(redo="4GiB")
    assert values(settings, "mysql", "9.7.4")["innodb_redo_log_capacity"] == str(4 * 2**30)
    assert values(settings, "mariadb", "10.11.14")["innodb_log_file_size"] == str(4 * 2**30)
    assert "innodb_log_files_in_group" not in values(settings, "mariadb", "10.11.14")
    for family, version in (("mariadb", "10.4.34"), ("mysql", "8.0.29"), ("mysql", "5.7.44")):
        old = values(settings, family, version)
        assert int(old["innodb_log_file_size"]) * int(old["innodb_log_files_in_group"]) == 4 * 2**30


@pytest.mark.parametrize(
    ("durability", "flush", "sync"), [("full", "1", "1"), ("relaxed", "2", "0"), ("none", "0", "0")]
)
def test_durability(durability, flush, sync):
    got = values(Settings(durability=durability), "mysql", "8.4.8")
    assert (got["innodb_flush_log_at_trx_commit"], got["sync_binlog"]) == (flush, sync)


def test_binlog_is_said_to_both_families():
    off = translate(Settings(), "mysql", "8.4.8")
    assert "--skip-log-bin" in arguments(off)
    assert next(a.value for a in off if a.variable == "log_bin") == "OFF"
    on = arguments(translate(Settings(binlog=True), "mariadb", "11.8.6"))
    assert {"--log-bin=binlog", "--server-id=1", "--binlog-format=ROW"} <= set(on)


@pytest.mark.parametrize(
    ("version", "has"),
    [
        ("10.6.17", False),
        ("10.6.18", True),
        ("10.7.8", False),
        ("10.11.7", False),
        ("10.11.8", True),
        ("11.8.6", True),
    ],
)
def test_snapshot_isolation_appeared_in_each_branch_at_its_own_release(version, has):
    assert ("innodb_snapshot_isolation" in values(Settings(), "mariadb", version)) is has


def test_extra_wins_for_its_family_and_most_for_its_engine():
    settings = Settings(
        extra={
            "mysql": {"innodb-io-capacity": 111, "innodb_dedicated_server": False},
            "mysql-9.7": {"innodb_io_capacity": 222},
        }
    )
    assert values(settings, "mysql", "9.7.4", "mysql-9.7")["innodb_io_capacity"] == "222"
    assert values(settings, "mysql", "9.7.4")["innodb_io_capacity"] == "111"
    assert values(settings, "mariadb", "10.11.14")["innodb_io_capacity"] == "2000"
    line = arguments(translate(settings, "mysql", "9.7.4", "mysql-9.7"))
    assert [a for a in line if "io-capacity=" in a] == ["--innodb-io-capacity=222"]
    assert "--innodb-dedicated-server=OFF" in line


@pytest.mark.parametrize(
    ("knobs", "family", "version", "words"),
    [
        ({"thread_handling": "pool-of-threads"}, "mysql", "9.7.4", "thread pool"),
        ({"change_buffering": "all"}, "mariadb", "11.8.6", "change buffer"),
        ({"query_cache": "64M"}, "mysql", "8.4.8", "query cache"),
        ({"snapshot_isolation": True}, "mysql", "8.4.8", "no such mode"),
        ({"buffer_pool_instances": 8}, "mariadb", "10.11.14", "buffer pool"),
    ],
)
def test_what_an_engine_cannot_do_is_an_error_before_it_starts(knobs, family, version, words):
    with pytest.raises(DynoError, match=words) as caught:
        translate(Settings(**knobs), family, version)
    assert caught.value.hint


def test_unknown_family_lists_the_known():
    with pytest.raises(DynoError, match="oracle") as caught:
        translate(Settings(), "oracle", "23.1")
    assert "mariadb" in str(caught.value.hint)


def test_versions_compare_as_numbers():
    assert parse_version("10.11.14-MariaDB-0+deb12u2") == (10, 11, 14)
    assert in_range((10, 11, 2), "10.5", None)
    assert not in_range((10, 2, 40), "10.11", None)
    assert in_range((8, 0, 29), None, "8.0.30")
    with pytest.raises(DynoError, match="version"):
        parse_version("latest")


def test_the_document_is_fresh():
    document = Path(__file__).parents[2] / "docs/SETTINGS.md"
    assert document.read_text(encoding="utf-8") == settings_markdown(), (
        "run: python -m dyno.engines.settings_doc > docs/SETTINGS.md"
    )
