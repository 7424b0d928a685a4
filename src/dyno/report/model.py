"""`analysis.json`: what the statistics say of a run, in the form the viewer draws.

`Analysis` is the one contract between the lab and the viewer: its JSON schema generates the viewer's
TypeScript types. The viewer computes nothing: every number, interval and sentence it shows is here.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Base: no unknown fields, so that writer and reader cannot drift apart."""

    model_config = ConfigDict(extra="forbid")


class Estimate(Model):
    """A value with its confidence interval; `low` and `high` are None where n is too small to say."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int
    confidence: float = 0.95
    method: str


class Mark(Model):
    """One reason to read a number with care."""

    kind: Literal[
        "errors",
        "client_cpu",
        "settings",
        "n",
        "failed",
        "invalid",
        "missing",
        "unfinished",
        "overload",
        "steady",
        "host",
        "log",
    ]
    severity: Literal["info", "warn", "bad"]
    text: str


class Latency(Model):
    """Percentiles in microseconds of the histograms of all good trials of a cell, merged, never averaged."""

    name: str = Field(description="the transaction or statement type; `all` for all transactions together")
    count: int
    mean_us: float
    p50_us: float
    p95_us: float
    p99_us: float
    p999_us: float
    p9999_us: float
    max_us: float


class OpenLoop(Model):
    """What an open loop shows beside its response times; of a cell: its good trials together.

    Percentiles are of merged histograms. `generator_lag` is how late the rig itself was; `lag` also holds the
    wait for a free session.
    """

    offered_per_s: float = Field(description="transactions that became due a second")
    due: int
    done: int
    dropped: int = Field(description="due transactions that found the backlog full")
    unfinished: int = Field(description="due transactions that had not ended when the trial did")
    backlog: int = Field(description="due transactions that waited when measure ended; of a cell: the most")
    service_p99_us: float | None
    lag_p99_us: float | None
    generator_lag_p50_us: float | None
    generator_lag_p99_us: float | None


class Swing(Model):
    """A periodic swing of throughput."""

    period_s: float
    depth: float = Field(description="crest to trough, as a share of the mean")


class Window(Model):
    """What the seconds of one measured window show: of the trial, never between engines."""

    state: Literal["steady", "drifting", "stepped", "oscillating", "too short"]
    reasons: list[str] = Field(description="everything found, a clause each")
    samples: int = Field(description="seconds")
    effective_n: float | None = Field(description="effective sample size, by batch means")
    half_width: float | None = Field(description="of the 95 % interval of the mean, as a share of it")
    drift: float | None = Field(
        description="change of the fitted line over the window, as a share of the mean"
    )
    stalls: int = Field(description="seconds under a tenth of the median")
    changes_s: list[float] = Field(description="where a new level begins, from the start of the window")
    swing: Swing | None
    littles_law: float | None = Field(
        description="throughput × response time ÷ sessions; None: not applicable, or not known"
    )


class Stopping(Model):
    """How a trial met the plan's `precision`."""

    rule: str
    precision: float = Field(description="target, as a share of the mean")
    ended_early: bool
    measured_s: float
    measure_max_s: float
    reach: float | None = Field(
        description="how far the mean may lie from that of the longest window; None: never inside the target"
    )


class TrialResult(Model):
    """One repeat: the statistical unit.

    An invalid trial keeps the number that it has, if any: it is shown, and used in no mean and no comparison.
    """

    id: str
    block: int
    status: Literal["ok", "failed", "invalid", "missing"]
    reason: str | None = None
    hint: str | None = Field(None, description="what to do about the reason")
    log_tail: str | None = Field(None, description="last lines of the server's error log, of a failed trial")
    throughput_per_s: float | None = None
    p99_us: float | None = Field(None, description="service time in a closed loop, response time in an open")
    open: OpenLoop | None = Field(None, description="None in a closed loop")
    client_cpu_share: float | None = Field(None, description="busy share of the rig's CPUs, 0…1")
    server_cpu_cores: float | None = None
    retries: int = 0
    marks: list[Mark] = []
    series: str | None = Field(None, description="key into Analysis.series")
    window: Window | None = Field(None, description="None in an open loop and where the load itself changes")
    stopping: Stopping | None = Field(None, description="None where the plan names no precision")


class InvalidFigures(Model):
    """Means of those trials of a cell that have a number which is invalid: shown, never compared."""

    n: int
    throughput_per_s: float
    p99_us: float | None


class TpccType(Model):
    """One transaction type of a TPC-C-derived load, with the specification's limits beside it."""

    name: str
    count: int
    per_minute: float
    share: float = Field(description="of all transactions, 0…1")
    share_min: float | None = Field(description="the specification's minimum; None: it has none")
    p50_us: float | None
    p90_us: float | None
    p99_us: float | None
    max_us: float | None
    p90_limit_us: float = Field(description="the specification's limit of the 90th percentile")
    missed: list[Literal["share", "p90"]] = Field([], description="what it misses of the specification")


class TpccShare(Model):
    """A share (or mean) that the specification wants in a range, over the measured time."""

    name: str
    value: float | None
    low: float
    high: float
    verdict: Literal["within", "outside", "too few to say", "not counted", "one warehouse"]


class TpccFigures(Model):
    """What a TPC-C-derived load shows beside its throughput; rates are a minute of measured time.

    NOPM are new orders entered, TPM all transactions, by the client's count; `server_tpm` is Com_commit +
    Com_rollback as the server counted them, repeated transactions included.
    """

    profile: str
    shape: str
    nopm: Estimate
    tpm: Estimate
    server_tpm: Estimate | None
    nopm_trials: list[float]
    types: list[TpccType]
    shares: list[TpccShare]


class Cell(Model):
    """Engine × settings × workload × load level, over all its trials."""

    id: str
    engine: str
    settings: str
    workload: str
    load: str
    loop: Literal["closed", "open"] = "closed"
    status: Literal["ok", "partial", "failed"]
    throughput_per_s: Estimate | None = None
    latency: list[Latency] = Field([], description="service time in a closed loop, response time in an open")
    service: list[Latency] = Field([], description="of an open loop, from the start of a transaction")
    lag: list[Latency] = Field([], description="of an open loop, from when it was due to its start")
    statements: list[Latency] = Field([], description="of single statements, from sent to answered")
    open: OpenLoop | None = Field(None, description="None in a closed loop, and without a good trial")
    invalid: InvalidFigures | None = None
    server_cpu_us_per_transaction: Estimate | None = None
    client_cpu_us_per_transaction: Estimate | None = None
    tpcc: TpccFigures | None = Field(None, description="of a TPC-C-derived load, from its good trials")
    trials: list[TrialResult]
    marks: list[Mark] = []


class Package(Model):
    """A package an engine was unpacked from; `sha256` is of the file that was downloaded."""

    name: str
    version: str
    sha256: str | None = None


class Engine(Model):
    """An engine as it really was: `server_version` is the server's own VERSION()."""

    id: str
    label: str
    family: str
    version: str
    server_version: str | None
    source: str
    content_sha256: str | None
    packages: list[Package] = []
    missing: str | None = Field(None, description="why it could not be had, else None")


class Load(Model):
    """A load level; `x` is its place on an axis (sessions, offered transactions/s; a schedule's highest)."""

    id: str
    kind: Literal["closed", "open"]
    label: str
    x: float
    schedule: str | None = Field(
        default=None, description="how the level changes, in words; None when it is constant"
    )


class Named(Model):
    """A settings set or a workload, with its facts as label/value pairs."""

    id: str
    label: str
    facts: list[tuple[str, str]]


class Comparison(Model):
    """One engine against the baseline in one settings × workload × load level.

    Compared is throughput in a closed loop and the 99th percentile of the response time in an open one, where
    a smaller ratio is "faster".
    """

    engine: str
    baseline: str
    settings: str
    workload: str
    load: str
    measure: Literal["throughput_per_s", "p99_us"] = "throughput_per_s"
    ratio: Estimate | None = Field(None, description="engine ÷ baseline, of the measure")
    p_value: float | None = None
    p_value_holm: float | None = None
    verdict: Literal["faster", "slower", "no relevant difference", "undecided", "untested", "missing"]
    sentence: str


class Finding(Model):
    """A computed sentence with its evidence."""

    rule: str
    sentence: str
    strength: Literal["measured", "untested", "contradicted", "caution"] = Field(
        description="a measured difference; single runs, untested; cells contradict each other; a caution"
    )
    cells: list[str] = []
    trials: list[str] = []


class Metric(Model):
    """One line of a time series: `values[i]` belongs to `Series.t_s[i]`; None is a gap.

    `metric` and `label` are those of series.parquet (FORMAT.md, 3): `cpu_busy` with the CPU's number as its
    label, `throughput_per_s` with an empty label for the sum of all transaction types.
    """

    metric: str
    label: str
    unit: Literal["1/s", "us", "cores", "share", "bytes", "bytes/s", "count"]
    values: list[float | None]


class Series(Model):
    """All time series of one trial on one clock; `phases` are (name, start_s, end_s).

    `t_s` are the ends of the rig's intervals; a sample of the host, the processes or the server's status
    stands at the interval's end nearest to it.
    """

    trial: str
    t_s: list[float]
    phases: list[tuple[str, float, float]]
    metrics: list[Metric]


class SettingRow(Model):
    """One server variable over the engines of one settings set; None where an engine lacks it."""

    settings: str
    variable: str
    logical: str | None = Field(None, description="the logical setting it came from, else None")
    requested: dict[str, str | None] = Field(description="engine id → value asked for")
    effective: dict[str, str | None] = Field(description="engine id → value the server reports")
    differs: bool = Field(
        description="the engines' effective values are not all the same, places and names apart"
    )
    idle: str | None = Field(
        default=None, description="why a difference of its values changes nothing; else None"
    )
    weight: Literal["matters", "cosmetic", "unknown"] | None = Field(
        default=None,
        description="what a difference means for the run's workloads; None where nothing differs",
    )
    reason: str | None = Field(default=None, description="why it has this weight; None where nothing differs")
    ignored: list[str] = Field(
        default=[], description="engines whose server did not take the requested value"
    )


class ScalingPoint(Model):
    """The fitted law at a number of sessions, with the interval of the curve there."""

    sessions: float
    value: float
    low: float
    high: float


class Knee(Model):
    """The test of one border of the host: does throughput bend there beside the law?"""

    sessions: float
    name: str = Field(description="what the host has that many of: CPUs of one cache, of one NUMA node, …")
    exponent: float = Field(description="from there on throughput is the law × (N ÷ sessions)^exponent")
    p_value: float
    p_value_holm: float
    found: bool


class Scaling(Model):
    """Throughput of one engine, settings set and workload over sessions: its law, or why it has none.

    X(N) = γN ÷ (1 + α(N − 1) + βN(N − 1)); β is 0 under Amdahl's law. A level is one
    observation, the geometric mean of its trials; `residuals` are measured ÷ fitted − 1.
    """

    label: str
    engine: str
    settings: str
    workload: str
    cells: list[str] = []
    sessions: list[float]
    throughput_per_s: list[float]
    law: Literal["usl", "amdahl"] | None = None
    refused: Literal["few levels", "past the peak", "bad fit", "no curvature"] | None = None
    reason: str | None = Field(default=None, description="why there is no law")
    gamma_per_s: Estimate | None = None
    alpha: Estimate | None = None
    beta: Estimate | None = Field(default=None, description="None under Amdahl's law")
    peak_sessions: Estimate | None = None
    peak_per_s: Estimate | None = None
    peak_note: str | None = Field(default=None, description="why there is no peak, or how far out it lies")
    extrapolated: bool = Field(default=False, description="the peak lies beyond the highest level run")
    limit_per_s: Estimate | None = Field(default=None, description="what Amdahl's law rises to, γ ÷ α")
    residuals: list[float] = []
    residual_spread: float | None = Field(default=None, description="of ln measured ÷ fitted")
    curve: list[ScalingPoint] = []
    knees: list[Knee] = []


class Table(Model):
    """A ready table: the same cells are printed, written as Markdown and CSV, and shown."""

    id: str
    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str | None = None


class Reproduction(Model):
    """What another person needs to repeat the run."""

    command: list[str]
    seed: int
    plan_sha256: str
    plan_toml: str = Field(description="the plan as written")


class NoiseFloor(Model):
    """What an A/A test had shown on this host before the run: `ratio` is of two equal sides, truly 1."""

    sentence: str
    measured: str
    floor: float = Field(description="share: a difference below it cannot be told from none by such a test")
    spread: float = Field(description="share: standard deviation of trials around the mean of their side")
    ratio: Estimate
    false_alarm: bool = Field(description="whether the test called the engine different from itself")


class Analysis(Model):
    """The whole of `analysis.json`."""

    format: Literal["dyno-analysis/1"] = "dyno-analysis/1"
    run: str
    name: str
    title: str
    question: str | None
    created: str
    dyno_version: str
    loop: str = Field(description="what the load measures: a sentence (closed loop: capacity, service time)")
    baseline: str | None
    relevant_difference: float
    trials_planned: int
    trials_ok: int
    trials_per_cell: int
    phases: list[tuple[str, str]]
    placement: str
    host: list[tuple[str, str]]
    doctor: list[Mark]
    noise_floor: NoiseFloor | None = Field(default=None, description="None: `dyno selftest --aa` was not run")
    engines: list[Engine]
    settings: list[Named]
    workloads: list[Named]
    loads: list[Load]
    cells: list[Cell]
    comparisons: list[Comparison]
    findings: list[Finding]
    scaling: list[Scaling] = []
    tables: list[Table]
    setting_rows: list[SettingRow]
    series: dict[str, Series]
    reproduction: Reproduction | None = Field(None, description="None for an imported run")
