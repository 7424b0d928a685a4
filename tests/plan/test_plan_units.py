import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.hosts.placement import format_cpus
from dyno.plan.units import format_bytes, format_duration, parse_cpus, parse_duration, parse_share


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("2s", 2), ("1.5 s", 1.5), ("10m", 600), ("1h", 3600), (" 3s ", 3)]
)
def test_durations(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("value", [5, "5", "s", "-2s", "2 days", "", None, True, "1s2", "1e3s"])
def test_a_duration_needs_a_number_and_a_unit(value):
    with pytest.raises(ValueError, match="number with a unit"):
        parse_duration(value)


@pytest.mark.parametrize(("value", "share"), [("5%", 0.05), ("2.5 %", 0.025), (0.1, 0.1)])
def test_shares(value, share):
    assert parse_share(value) == pytest.approx(share)


@pytest.mark.parametrize("value", ["5", 0, 1, 5, "100%", True, None, "0%"])
def test_what_is_no_share(value):
    with pytest.raises(ValueError, match="share"):
        parse_share(value)


@pytest.mark.parametrize(
    ("value", "cpus"),
    [
        ("0-3,6", [0, 1, 2, 3, 6]),
        ([2, 0], [0, 2]),
        ("1", [1]),
        ("auto", "auto"),
        ("none", "none"),
        (["0-1", 3], [0, 1, 3]),
    ],
)
def test_cpus(value, cpus):
    assert parse_cpus(value) == cpus


@pytest.mark.parametrize("value", ["", [], "a", "3-1", "-1", 4, [1.5], "1,,2"])
def test_what_is_no_list_of_cpus(value):
    with pytest.raises(ValueError, match=r"CPU|range"):
        parse_cpus(value)


@given(st.sets(st.integers(0, 500), min_size=1))
def test_a_list_of_cpus_survives_its_own_spelling(cpus):
    assert parse_cpus(format_cpus(sorted(cpus))) == sorted(cpus)


def test_for_people():
    assert [format_duration(s) for s in (7.4, 65, 7260)] == ["7 s", "1 min 05 s", "2 h 01 min"]
    assert [format_bytes(b) for b in (10, 2048, 3 * 2**30)] == ["10 B", "2.0 KiB", "3.0 GiB"]
