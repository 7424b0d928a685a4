"""A made-up run as the statistics would describe it: seeded, plausible in shape, nobody's measurement."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass, field

from scipy import stats as scipy_stats

from dyno.report.model import (
    Analysis,
    Cell,
    Comparison,
    Engine,
    Estimate,
    Finding,
    Latency,
    Load,
    Mark,
    Metric,
    Named,
    Package,
    Reproduction,
    Series,
    SettingRow,
    Table,
    TrialResult,
)

HOSTILE = '</script><img src=x onerror="window.hostile=1"><!-- \' \u2028 & %s'
FAILED_ENGINE = "mysql-9.7"
PARTIAL_ENGINE = "mariadb-11.8"
BASELINE = "mariadb-10.11"
LABELS = {
    "mariadb-10.11": "MariaDB 10.11",
    "mariadb-11.8": "MariaDB 11.8",
    "mysql-9.7": "MySQL 9.7",
    "percona-8.4": "Percona Server 8.4",
}
SPEED = {"mariadb-10.11": 1.0, "mariadb-11.8": 0.93, "mysql-9.7": 0.78}
LOG_TAIL = (
    "2026-11-20T19:33:12.101Z 0 [Note] InnoDB: Buffer pool(s) load completed\n"
    "2026-11-20T19:33:40.377Z 41 [ERROR] [MY-012592] [InnoDB] Operating system error 28 in a file write.\n"
    "2026-11-20T19:33:40.377Z 41 [ERROR] [MY-012596] [InnoDB] Error 28 means 'No space left on device'\n"
    "2026-11-20T19:33:40Z UTC - mysqld got signal 6 ;"
)


@dataclass(frozen=True)
class Shape:
    """What the made-up run visits."""

    workloads: tuple[str, ...] = ("oltp_read_write",)
    settings: tuple[str, ...] = ("default",)
    sessions: tuple[int, ...] = (1, 4, 16)
    blocks: int = 3
    measure_s: int = 30
    seed: int = 1


def analysis(shape: Shape | None = None) -> Analysis:
    """Return the Analysis of a made-up run with one failed cell and one missing engine."""
    shape = shape or Shape()
    make = _Maker(shape, random.Random(shape.seed))
    cells = [
        make.cell(engine, settings, workload, sessions)
        for workload in shape.workloads
        for settings in shape.settings
        for engine in SPEED
        for sessions in shape.sessions
    ]
    ok = sum(t.status == "ok" for c in cells for t in c.trials)
    planned = sum(len(c.trials) for c in cells)
    comparisons = _comparisons(cells)
    return Analysis(
        run="20261120-193000-quickstart",
        name="quickstart",
        title="MariaDB and MySQL on this machine",
        question="Which of the current long-term releases does more read-write transactions here?",
        created="2026-11-20T19:30:00Z",
        dyno_version="0.1.0",
        loop="Closed loop: every session sends its next transaction when the last one has ended. "
        "Throughput is capacity; latency is service time, not the response time of an arriving user.",
        baseline=BASELINE,
        relevant_difference=0.05,
        trials_planned=planned,
        trials_ok=ok,
        trials_per_cell=shape.blocks,
        phases=[("warm-up", "10 s"), ("measure", f"{shape.measure_s} s"), ("drain", "1 s")],
        placement="server on CPUs 0-1, rig on CPUs 2-3",
        host=_host(),
        doctor=[
            Mark(
                kind="host",
                severity="warn",
                text="Swap is on (2 GiB): a page-out would enter the result. hint: swapoff -a",
            ),
            Mark(
                kind="host",
                severity="info",
                text="The CPU frequency governor is not visible in this virtual machine.",
            ),
        ],
        engines=_engines(),
        settings=[_settings(name) for name in shape.settings],
        workloads=[_workload(name) for name in shape.workloads],
        loads=[
            Load(id=f"s{n}", kind="closed", label=f"{n} session{'s' if n > 1 else ''}", x=n)
            for n in shape.sessions
        ],
        cells=cells,
        comparisons=comparisons,
        findings=_findings(cells, comparisons),
        tables=[_table(cells, shape)],
        setting_rows=[row for name in shape.settings for row in _setting_rows(name)],
        series=make.series,
        reproduction=Reproduction(
            command=["dyno", "run", "plans/quickstart.toml"],
            seed=shape.seed,
            plan_sha256="5f1f0c7a6d9e" + "0" * 52,
            plan_toml='name = "quickstart"\nengines = ["mariadb@10.11", "mariadb@11.8", "mysql@9.7"]\n'
            'workloads = ["oltp_read_write"]\nsessions = [1, 4, 16]\ntrials = 3\n',
        ),
    )


def hostile() -> Analysis:
    """Return a run in which everything an engine, a plan or a host can name tries to be markup."""
    whole = analysis()
    whole.title = whole.name = whole.run = whole.question = whole.placement = whole.loop = HOSTILE
    for engine in whole.engines:
        engine.label = f"{engine.label} {HOSTILE}"
        engine.server_version = engine.source = HOSTILE
        engine.packages = [Package(name=HOSTILE, version=HOSTILE, sha256=HOSTILE)]
    for named in (*whole.settings, *whole.workloads):
        named.label = HOSTILE
        named.facts = [(HOSTILE, HOSTILE)]
    for mark in whole.doctor:
        mark.text = HOSTILE
    for finding in whole.findings:
        finding.sentence = HOSTILE
    for comparison in whole.comparisons:
        comparison.sentence = HOSTILE
    for trial in (t for c in whole.cells for t in c.trials if t.status != "ok"):
        trial.reason = trial.hint = trial.log_tail = HOSTILE
    for row in whole.setting_rows:
        row.effective = dict.fromkeys(row.effective, HOSTILE)
    for table in whole.tables:
        table.rows = [[HOSTILE] * len(table.columns)]
    whole.host = [(HOSTILE, HOSTILE)]
    return whole


def _estimate(values: list[float], method: str) -> Estimate:
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(value=mean, n=len(values), method=method)
    half = (
        float(scipy_stats.t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))
    )
    return Estimate(value=mean, low=mean - half, high=mean + half, n=len(values), method=method)


def _capacity_per_s(engine: str, settings: str, workload: str, sessions: int) -> float:
    """A saturating curve: sessions share a server whose best is reached slowly."""
    best = (
        5200
        * SPEED[engine]
        * (1.25 if settings != "default" else 1)
        * (2.1 if "read_only" in workload else 1)
    )
    return best * sessions / (sessions + 3.1) * (1 - 0.0004 * sessions)


@dataclass
class _Maker:
    """Makes cells one after the other from one stream of dice, and keeps their series."""

    shape: Shape
    dice: random.Random
    series: dict[str, Series] = field(default_factory=dict)

    def cell(self, engine: str, settings: str, workload: str, sessions: int) -> Cell:
        name = f"{engine}~{settings}~{workload}~s{sessions}"
        levels = self.shape.sessions
        first = workload == self.shape.workloads[0] and settings == self.shape.settings[0]
        fails = first and engine == FAILED_ENGINE and sessions == levels[-1]
        partial = first and engine == PARTIAL_ENGINE and sessions == levels[-2]
        level = _capacity_per_s(engine, settings, workload, sessions)
        trials = [
            _failed_trial(name, block)
            if fails or (partial and block == 2)
            else self.trial(name, level * self.dice.gauss(1, 0.008), sessions, block)
            for block in range(1, self.shape.blocks + 1)
        ]
        good = [t.throughput_per_s for t in trials if t.throughput_per_s is not None]
        return Cell(
            id=name,
            engine=engine,
            settings=settings,
            workload=workload,
            load=f"s{sessions}",
            status="failed" if fails else "partial" if partial else "ok",
            throughput_per_s=_estimate(good, "t interval of trial means") if good else None,
            latency=[self.latency(workload, statistics.fmean(good), sessions)] if good else [],
            server_cpu_us_per_transaction=_estimate([410 / SPEED[engine]], "mean") if good else None,
            client_cpu_us_per_transaction=_estimate([38.0], "mean") if good else None,
            trials=trials,
            marks=_marks(fails=fails, partial=partial, limited=sessions == levels[-1] and engine == BASELINE),
        )

    def trial(self, cell: str, level: float, sessions: int, block: int) -> TrialResult:
        name = f"{block:04d}-{cell}-b{block}"
        self.series[name] = self.seconds(name, level, sessions)
        return TrialResult(
            id=name,
            block=block,
            status="ok",
            throughput_per_s=level,
            p99_us=3.4e6 * sessions / level * self.dice.gauss(1, 0.04),
            client_cpu_share=min(0.95, 0.06 * sessions),
            server_cpu_cores=min(1.97, 0.9 * sessions),
            retries=self.dice.randrange(3) if sessions > 4 else 0,
            series=name,
        )

    def latency(self, workload: str, level: float, sessions: int) -> Latency:
        mean = 1e6 * sessions / level
        return Latency(
            name=workload,
            count=int(level * self.shape.measure_s * self.shape.blocks),
            mean_us=mean,
            p50_us=mean * 0.86,
            p95_us=mean * 1.9,
            p99_us=mean * 3.4,
            p999_us=mean * 7.7,
            p9999_us=mean * 14.2,
            max_us=mean * 31,
        )

    def seconds(self, trial: str, level: float, sessions: int) -> Series:
        warmup_s = 10
        seconds = list(range(1, warmup_s + self.shape.measure_s + 1))

        def line(mean: float, spread: float, ramp: float = 0.0) -> list[float | None]:
            return [
                mean * (1 - ramp * math.exp(-t / 3)) * max(0.05, self.dice.gauss(1, spread)) for t in seconds
            ]

        latency = 1e6 * sessions / level
        metrics = [
            Metric(metric="throughput_per_s", label="", unit="1/s", values=line(level, 0.03, 0.5)),
            Metric(metric="latency_p50_us", label="", unit="us", values=line(latency * 0.86, 0.02)),
            Metric(metric="latency_p95_us", label="", unit="us", values=line(latency * 1.9, 0.05)),
            Metric(metric="latency_p99_us", label="", unit="us", values=line(latency * 3.4, 0.1)),
            Metric(metric="latency_max_us", label="", unit="us", values=line(latency * 14, 0.4)),
            Metric(metric="errors_per_s", label="", unit="1/s", values=[0.0 for _ in seconds]),
            Metric(metric="client_cpu", label="", unit="cores", values=line(0.09 * sessions / 2, 0.05)),
            Metric(metric="server_cpu", label="", unit="cores", values=line(min(1.9, 0.9 * sessions), 0.02)),
            *(
                Metric(
                    metric="cpu_busy",
                    label=str(cpu),
                    unit="share",
                    values=line(0.9 if cpu < 2 else 0.3, 0.05),
                )
                for cpu in range(4)
            ),
            Metric(metric="disk_read_bytes_per_s", label="vda", unit="bytes/s", values=line(2.2e5, 0.5)),
            Metric(metric="disk_written_bytes_per_s", label="vda", unit="bytes/s", values=line(6.1e7, 0.2)),
            Metric(metric="server_rss_bytes", label="", unit="bytes", values=line(7.1e8, 0.001, 0.2)),
            Metric(metric="memory_available_bytes", label="", unit="bytes", values=line(5.4e9, 0.002)),
            Metric(
                metric="status/Innodb_rows_read", label="", unit="1/s", values=line(level * 410, 0.03, 0.5)
            ),
            Metric(metric="status/Handler_commit", label="", unit="1/s", values=line(level * 2, 0.03, 0.5)),
        ]
        # A second in which the server did not answer the sampler: a gap, not a zero.
        metrics[7].values[20] = None
        end = float(seconds[-1])
        return Series(
            trial=trial,
            t_s=[float(t) for t in seconds],
            phases=[("warmup", 0.0, float(warmup_s)), ("measure", float(warmup_s), end)],
            metrics=metrics,
        )


def _failed_trial(cell: str, block: int) -> TrialResult:
    return TrialResult(
        id=f"{block:04d}-{cell}-b{block}",
        block=block,
        status="failed",
        reason="the server ended with signal 6 after 28.4 s",
        hint="the last lines of its log say why; free disk space in the data directory",
        log_tail=LOG_TAIL,
    )


def _marks(*, fails: bool, partial: bool, limited: bool) -> list[Mark]:
    if fails:
        return [
            Mark(kind="failed", severity="bad", text="all 3 trials failed: the server ended with signal 6")
        ]
    if partial:
        return [Mark(kind="failed", severity="warn", text="1 of 3 trials failed; 2 are left")]
    text = "the rig used 93 % of its CPUs: the generator may be the limit"
    return [Mark(kind="client_cpu", severity="warn", text=text)] if limited else []


def _comparisons(cells: list[Cell]) -> list[Comparison]:
    by = {(c.engine, c.settings, c.workload, c.load): c for c in cells}
    found = []
    for cell in cells:
        if cell.engine == BASELINE:
            continue
        base = by[BASELINE, cell.settings, cell.workload, cell.load]
        found.append(_comparison(cell, base))
    return found


def _comparison(cell: Cell, base: Cell) -> Comparison:
    who, other, level = LABELS[cell.engine], LABELS[BASELINE], cell.load.removeprefix("s")
    common = {
        "engine": cell.engine,
        "baseline": BASELINE,
        "settings": cell.settings,
        "workload": cell.workload,
    }
    if cell.throughput_per_s is None or base.throughput_per_s is None:
        return Comparison(
            **common,
            load=cell.load,
            verdict="missing",
            sentence=f"{who} has no good trial at {level} sessions, so it is not compared.",
        )
    pairs = [
        math.log(a.throughput_per_s / b.throughput_per_s)
        for a, b in zip(cell.trials, base.trials, strict=True)
        if a.throughput_per_s is not None and b.throughput_per_s is not None
    ]
    log = _estimate(pairs, "paired log-ratio by block")
    low, high = (None if v is None else math.exp(v) for v in (log.low, log.high))
    ratio = Estimate(value=math.exp(log.value), low=low, high=high, n=log.n, method=log.method)
    verdict = _verdict(ratio)
    return Comparison(
        **common,
        load=cell.load,
        ratio=ratio,
        p_value=0.004,
        p_value_holm=0.012,
        verdict=verdict,
        sentence=f"{who} is {ratio.value:.2f}× {other} at {level} sessions, 95 % CI "
        f"[{low:.2f}, {high:.2f}], {ratio.n} trials each: {verdict}.",
    )


def _verdict(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return "untested"
    if ratio.high < 1:
        return "slower"
    if ratio.low > 1:
        return "faster"
    return "no relevant difference" if ratio.low > 0.95 and ratio.high < 1.05 else "undecided"


def _findings(cells: list[Cell], comparisons: list[Comparison]) -> list[Finding]:
    peak = max(
        (c for c in cells if c.throughput_per_s),
        key=lambda c: c.throughput_per_s.value if c.throughput_per_s else 0,
    )
    rate = peak.throughput_per_s
    assert rate is not None
    leader = Finding(
        rule="peak",
        sentence=f"{LABELS[peak.engine]} reached the highest throughput: {rate.value:,.0f} transactions/s "
        f"at {peak.load.removeprefix('s')} sessions "
        f"(95 % CI {rate.low:,.0f} to {rate.high:,.0f}, {rate.n} trials).",
        strength="measured",
        cells=[peak.id],
    )
    compared = [
        Finding(
            rule="comparison",
            sentence=c.sentence,
            strength="measured",
            cells=[f"{e}~{c.settings}~{c.workload}~{c.load}" for e in (c.engine, c.baseline)],
        )
        for c in comparisons
        if c.verdict in {"faster", "slower"} and c.load == peak.load
    ]
    failed = [
        Finding(
            rule="failed",
            sentence=f"{LABELS[c.engine]} at {c.load.removeprefix('s')} sessions failed in {bad} of "
            f"{len(c.trials)} trials.",
            strength="caution",
            cells=[c.id],
            trials=[t.id for t in c.trials if t.status == "failed"],
        )
        for c in cells
        if (bad := sum(t.status == "failed" for t in c.trials))
    ]
    absent = Finding(
        rule="engine_missing",
        sentence="Percona Server 8.4 could not be had and was not run: no package of that version in sid.",
        strength="caution",
    )
    small = Finding(
        rule="n",
        sentence="Three trials a cell: a difference below about 4 % could not have been seen.",
        strength="caution",
    )
    return [leader, *compared, absent, *failed, small]


def _engines() -> list[Engine]:
    def engine(name: str, server_version: str | None, source: str, missing: str | None = None) -> Engine:
        family, version = name.split("-")
        packages = [Package(name=f"{family}-server", version=f"1:{version}.14-1", sha256="c0ffee" + "1" * 58)]
        return Engine(
            id=name,
            label=LABELS[name],
            family=family,
            version=version,
            server_version=server_version,
            source=source,
            content_sha256=None if missing else "9b1d" + "a" * 60,
            packages=[] if missing else packages,
            missing=missing,
        )

    return [
        engine("mariadb-10.11", "10.11.14-MariaDB-0+deb12u2", "debian:bookworm"),
        engine("mariadb-11.8", "11.8.3-MariaDB-1", "debian:trixie"),
        engine("mysql-9.7", "9.7.0", "debian:sid"),
        engine("percona-8.4", None, "debian:sid", "no package of that version in sid"),
    ]


def _host() -> list[tuple[str, str]]:
    return [
        ("Host", "stand-1"),
        ("CPU", "AMD EPYC 7B13, 4 CPUs"),
        ("Memory", "8.0 GiB"),
        ("Kernel", "6.1.0-31-amd64"),
        ("System", "Debian GNU/Linux 12"),
        ("Virtualisation", "kvm"),
        ("File system", "ext4 on vda, scheduler none"),
    ]


def _settings(name: str) -> Named:
    pool = "256 MiB" if name == "default" else "2 GiB"
    return Named(
        id=name,
        label=name if name != "default" else "default (buffer pool 256 MiB)",
        facts=[("buffer_pool", pool), ("durability", "full"), ("binlog", "off"), ("charset", "utf8mb4")],
    )


def _workload(name: str) -> Named:
    return Named(
        id=name,
        label=name,
        facts=[("definition", "version 1"), ("tables", "4 × 25,000 rows"), ("statements", "prepared")],
    )


def _setting_rows(settings: str) -> list[SettingRow]:
    pool = str(256 << 20)
    rows = [
        SettingRow(
            settings=settings,
            variable="innodb_buffer_pool_size",
            logical="buffer_pool",
            requested=dict.fromkeys(SPEED, pool),
            effective=dict.fromkeys(SPEED, pool),
            differs=False,
        ),
        SettingRow(
            settings=settings,
            variable="innodb_log_file_size",
            logical="redo",
            requested={"mariadb-10.11": pool, "mariadb-11.8": pool, "mysql-9.7": None},
            effective={"mariadb-10.11": "100663296", "mariadb-11.8": pool, "mysql-9.7": None},
            differs=True,
            ignored=["mariadb-10.11"],
        ),
        SettingRow(
            settings=settings,
            variable="collation_server",
            logical="collation",
            requested=dict.fromkeys(SPEED, "utf8mb4_bin"),
            effective=dict.fromkeys(SPEED, "utf8mb4_bin"),
            differs=False,
        ),
        SettingRow(
            settings=settings,
            variable="optimizer_switch",
            logical=None,
            requested=dict.fromkeys(SPEED),
            effective={
                name: ",".join(f"index_{i}=on" for i in range(i0, i0 + 18)) for i0, name in enumerate(SPEED)
            },
            differs=True,
        ),
    ]
    rows += [
        SettingRow(
            settings=settings,
            variable=f"innodb_example_{i:03d}",
            logical=None,
            requested=dict.fromkeys(SPEED),
            effective=dict.fromkeys(SPEED, "ON"),
            differs=False,
        )
        for i in range(240)
    ]
    return rows


def _table(cells: list[Cell], shape: Shape) -> Table:
    by = {
        (c.engine, c.load): c
        for c in cells
        if c.workload == shape.workloads[0] and c.settings == shape.settings[0]
    }

    def shown(cell: Cell) -> str:
        rate = cell.throughput_per_s
        if rate is None:
            return "failed"
        return (
            f"{rate.value:,.0f} ± {rate.high - rate.value:,.0f}"
            if rate.high is not None
            else f"{rate.value:,.0f}"
        )

    return Table(
        id="throughput",
        title="Throughput, transactions/s",
        columns=["Engine", *(f"{n} sessions" for n in shape.sessions)],
        rows=[[LABELS[e], *(shown(by[e, f"s{n}"]) for n in shape.sessions)] for e in SPEED],
        note="mean of trial means ± half of the 95 % interval",
    )
