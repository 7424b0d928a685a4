"""iostat, mpstat, vmstat, dstat: most files in monitors/ are what the tools printed, host names apart."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from dyno.record.importers.formats import TELEMETRY_PARSERS, detect
from dyno.record.importers.telemetry import Telemetry, dstat, iostat, mpstat, vmstat
from dyno.record.importers.telemetry.samples import number, time_of_day_s

MONITORS = Path(__file__).parent / "monitors"
FILES = sorted(path.name for path in MONITORS.iterdir())
KIB, MIB = 1024, 1024**2


def read(name: str) -> Telemetry:
    found = detect(MONITORS / name)
    assert found
    assert name.startswith(found.name)
    with (MONITORS / name).open() as lines:
        return TELEMETRY_PARSERS[found.name](lines)


def values(telemetry: Telemetry, metric: str, label: str = "") -> list[float]:
    return [round(value, 6) for value in telemetry.series[metric, label][1]]


@pytest.mark.parametrize("name", FILES)
def test_the_report_since_boot_begins_the_clock_and_is_no_sample(name: str) -> None:
    telemetry = read(name)
    for times, _ in telemetry.series.values():
        assert min(times) > 0
        assert len(times) <= telemetry.reports
    assert telemetry.reports in {1, 2}


@pytest.mark.parametrize("name", ["iostat-extended.txt", "iostat.json", "iostat-human.txt"])
def test_extended_iostat_says_the_same_in_every_form(name: str) -> None:
    telemetry = read(name)
    assert values(telemetry, "disk_reads_per_s", "vda")[0] == pytest.approx(450, rel=0.02)
    assert values(telemetry, "disk_written_bytes_per_s", "vda")[0] == pytest.approx(311776 * KIB, rel=0.02)
    assert values(telemetry, "disk_read_await_us", "vda")[0] == 480
    assert values(telemetry, "disk_busy", "vda")[0] == pytest.approx(0.152, abs=0.003)
    assert values(telemetry, "cpu_busy", "all") == [1, 1]
    assert telemetry.reports == 2


def test_extended_iostat_exactly() -> None:
    telemetry = read("iostat-extended.txt")
    assert telemetry.stamped
    assert telemetry.series["disk_writes_per_s", "vda"] == ([1, 2], [529, 906.93])
    assert values(telemetry, "disk_read_bytes_per_s", "vda") == [4724 * KIB, 2087.13 * KIB]


def test_basic_iostat_in_megabytes() -> None:
    assert values(read("iostat-basic.txt"), "disk_read_bytes_per_s", "vda") == [4.57 * MIB, 2.07 * MIB]


def test_old_iostat_with_sectors_and_decimal_commas() -> None:
    telemetry = read("iostat-old.txt")
    assert values(telemetry, "disk_read_bytes_per_s", "sda") == [3200 * 512]
    assert values(telemetry, "disk_await_us", "sda") == [8250]
    assert values(telemetry, "disk_busy", "sda") == [0.9]
    # Waiting for the disk is not work.
    assert values(telemetry, "cpu_busy", "all") == [0.5]
    assert values(telemetry, "disk_reads_per_s", "sdb") == [1]


@pytest.mark.parametrize("name", ["mpstat.txt", "mpstat.json"])
def test_mpstat_tells_cpus_apart(name: str) -> None:
    telemetry = read(name)
    assert set(telemetry.series) == {("cpu_busy", label) for label in ("all", "0", "1")}
    assert telemetry.series["cpu_busy", "0"] == ([1, 2], [1, 1])


def test_mpstat_in_twelve_hours_over_midnight() -> None:
    text = """Linux 6.8.0 (db1) \t03/24/2026 \t_x86_64_\t(2 CPU)

11:59:58 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
11:59:59 PM  all   78.50    0.00    0.50    0.25    0.00    0.00    0.25    0.00    0.00   20.50
12:00:00 AM  all   50.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   50.00
Average:     all   64.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   36.00
"""
    assert mpstat.parse(StringIO(text)).series["cpu_busy", "all"] == ([1, 2], [0.79, 0.5])


def test_vmstat_in_both_widths() -> None:
    for name in ("vmstat.txt", "vmstat-wide.txt"):
        telemetry = read(name)
        assert values(telemetry, "disk_written_bytes_per_s", "all") == [300508 * KIB, 55632 * KIB]
        assert values(telemetry, "memory_free_bytes") == [13463696 * KIB] * 2
        assert values(telemetry, "cpu_busy", "all") == [1, 1]
        assert telemetry.stamped == ("wide" in name)
    assert values(read("vmstat.txt"), "context_switches_per_s") == [8035, 10824]


def test_vmstat_repeats_its_header_and_may_know_guests() -> None:
    head = (
        "procs ---memory--- -swap- --io-- -system- --cpu--\n"
        " r b swpd free buff cache si so bi bo in cs us sy id wa st gu\n"
    )
    row = "64 0 0 77587968 1492872 80447144 0 0 0 80256 73418 29000 78 1 19 1 1 0\n"
    assert vmstat.parse(StringIO((head + row * 2) * 2)).series["cpu_busy", "all"] == ([1, 2, 3], [0.79] * 3)


def test_dstat_on_a_terminal_and_as_csv() -> None:
    telemetry = read("dstat.txt")
    assert telemetry.series["cpu_busy", "all"] == ([1], [1])
    assert values(telemetry, "disk_written_bytes_per_s", "all") == [102 * MIB]
    assert values(telemetry, "context_switches_per_s") == [10_000]
    telemetry = read("dstat.csv")
    assert telemetry.series["cpu_busy", "all"] == ([1, 3], [0.7, 0.8])
    assert values(telemetry, "net_rx_bytes_per_s", "eth0") == [150, 160]
    assert values(telemetry, "disk_read_bytes_per_s", "all") == [4096, 0]


def test_dstat_of_pcp_prints_its_first_row_empty() -> None:
    text = """You did not select any stats, using -cdngy by default.
\x1b[0;34m----system---- ----total-usage---- -dsk/total- -net/total-\x1b[0m
     time     |usr sys idl wai stl| read  writ| recv  send
24-03 10:34:50|                   |           |
24-03 10:34:51| 80   0  19   1   0|   0    78M|1837B 1658B
"""
    telemetry = dstat.parse(StringIO(text))
    assert telemetry.series["cpu_busy", "all"] == ([1], [0.8])
    assert values(telemetry, "net_tx_bytes_per_s", "all") == [1658]


def test_numbers_and_times() -> None:
    assert [number(text) for text in ("5.3M", "0,25", "416.0k", "2.8%", "x", "", "1e9")] == [
        5.3 * MIB,
        0.25,
        416 * KIB,
        2.8,
        None,
        None,
        None,
    ]
    assert number("89k", base=1000) == 89_000
    assert time_of_day_s("12:00:01 AM") == 1
    assert time_of_day_s("03/24/2026 12:00:01 PM") == 43_201
    assert time_of_day_s("2026-11-21 25:00:00") is None


def test_samples_without_stamps_can_be_stretched() -> None:
    telemetry = iostat.parse(StringIO("Device tps kB_read/s kB_wrtn/s\nsda 1 2 3\n" * 3))
    telemetry.stretch(10)
    assert telemetry.series["disk_read_bytes_per_s", "sda"] == ([10, 20], [2 * KIB] * 2)
