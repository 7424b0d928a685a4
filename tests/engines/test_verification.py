import pytest

from dyno.engines import Assignment, SettingCheck, describe, require_verified
from dyno.engines.verification import compare, same_value
from dyno.errors import DynoError


def asked(variable, value, logical="extra"):
    return Assignment(variable, value, logical, ())


@pytest.mark.parametrize(
    ("variable", "one", "other"),
    [
        ("innodb_buffer_pool_size", "268435456", "268435456"),
        ("innodb_buffer_pool_size", "256M", "268435456"),
        ("innodb_doublewrite", "ON", "1"),
        ("innodb_doublewrite", "TRUE", "on"),
        ("log_bin", "OFF", "0"),
        ("have_ssl", "YES", "ON"),
        ("innodb_max_dirty_pages_pct", "90", "90.000000"),
        ("innodb_flush_method", "o_direct", "O_DIRECT"),
        (
            "sql_mode",
            "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
            "NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES",
        ),
        ("tls_version", "", ""),
    ],
)
def test_spellings_of_one_value(variable, one, other):
    assert same_value(variable, one, other)
    assert same_value(variable, other, one)


@pytest.mark.parametrize(
    ("variable", "one", "other"),
    [
        ("innodb_buffer_pool_size", "268435456", "268435457"),
        ("innodb_doublewrite", "ON", "0"),
        ("innodb_flush_method", "O_DIRECT", "fsync"),
        ("sql_mode", "STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,ANSI"),
        ("innodb_flush_log_at_trx_commit", "1", "2"),
    ],
)
def test_different_values(variable, one, other):
    assert not same_value(variable, one, other)


def test_verdicts():
    checks = compare(
        [
            asked("innodb_io_capacity", "2000"),
            asked("max_connections", "100000"),
            asked("innodb_read_io_threads", "64"),
            asked("innodb_log_files_in_group", "4"),
            asked("no_such_thing", "1"),
        ],
        {"innodb_io_capacity": "2000", "max_connections": "8000", "innodb_read_io_threads": "4"},
        {"innodb_read_io_threads": "4", "max_connections": "151"},
        error_log="[Warning] 'innodb-log-files-in-group' was removed. It does nothing now.",
    )
    assert [check.verdict for check in checks] == ["equal", "adjusted", "ignored", "ignored", "unknown"]
    assert [check.effective for check in checks][3:] == [None, None]


def test_a_difference_may_be_accepted_by_variable_or_by_knob():
    wanted = [asked("sync_binlog", "1", "durability"), asked("max_connections", "9", "max_connections")]
    effective = {"sync_binlog": "0", "max_connections": "10"}
    assert [check.accepted for check in compare(wanted, effective, {}, ["durability"])] == [True, False]
    assert [check.accepted for check in compare(wanted, effective, {}, ["max_connections"])] == [False, True]


def test_an_equal_value_needs_no_acceptance():
    assert compare([asked("a", "1")], {"a": "1"}, {}, ["a"]) == [SettingCheck("a", "1", "1", "equal")]


def test_a_buffer_pool_that_differs_is_never_accepted_and_comes_first():
    wanted = [asked("max_connections", "9"), asked("innodb_buffer_pool_size", "2147483648", "buffer_pool")]
    effective = {"max_connections": "10", "innodb_buffer_pool_size": "134217728"}
    checks = compare(wanted, effective, {}, ["innodb_buffer_pool_size", "buffer_pool"])
    with pytest.raises(
        DynoError, match="innodb_buffer_pool_size: asked 2147483648, the server reports 134217728"
    ):
        require_verified(checks)


def test_accepted_and_equal_settings_pass():
    require_verified(
        [SettingCheck("a", "1", "1", "equal"), SettingCheck("b", "1", "2", "adjusted", accepted=True)]
    )


def test_the_hint_says_how_to_accept():
    with pytest.raises(DynoError) as caught:
        require_verified([SettingCheck("innodb_io_capacity", "5", "100", "adjusted")])
    assert 'accept = ["innodb_io_capacity"]' in str(caught.value.hint)


def test_a_missing_variable_is_described_as_missing():
    assert "no such variable" in describe(SettingCheck("x", "1", None, "unknown"))
