"""The lines of `record.ndjson` that the lab reads (docs/FORMAT.md, 2), one model a line type.

Only what the lab uses is required: a field it does not know is no error, so that a newer rig stays readable.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

PhaseName = Literal["connect", "warmup", "measure", "drain"]


class Line(BaseModel):
    """Base of every line: immutable, tolerant of fields from a newer rig, strict in what it has."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Transactions(Line):
    """Ended transactions of one type. Histograms are encoded, of ns, None when empty.

    `latency` is service time in a closed loop and response time in an open one, which has `service` and `lag`
    beside it. `counters` are what the workload counts of the successful ones beside their number.
    """

    type: str
    ok: int = Field(ge=0)
    retries: int = Field(0, ge=0)
    latency: str | None = None
    service: str | None = None
    lag: str | None = None
    counters: dict[str, int] = Field(default_factory=dict)


class Statements(Line):
    """Statements of one type, with their latency as in `Transactions`."""

    type: str
    count: int = Field(ge=0)
    latency: str | None = None


class ErrorCount(Line):
    """How often the server answered with one error code."""

    code: int
    count: int = Field(ge=0)


class OpenCount(Line):
    """What an open loop counts beside its transactions; see docs/FORMAT.md, 2."""

    due: int = Field(0, ge=0)
    dropped: int = Field(0, ge=0)
    carried: int = Field(0, ge=0)
    backlog: int = Field(0, ge=0)
    generator_lag: str | None = None


class WorkerUse(Line):
    """CPU time of one of the rig's threads, and how long it was ready to run but had no CPU."""

    worker: int
    cpu_us: float = 0
    run_delay_us: float | None = None


class Worker(Line):
    """One thread of the rig and the CPU it is pinned to (None: not pinned)."""

    worker: int
    cpu: int | None = None


class Header(Line):
    """First line: who measured what, and on which clock."""

    format: str
    rig_version: str = ""
    t_epoch_us: int = 0
    spec: dict[str, Any] = {}
    server_version: str | None = None
    connection: dict[str, Any] | None = None
    workers: list[Worker] = []
    loop: Literal["closed", "open"] = "closed"
    latency_is: Literal["service", "response"] = "service"


class PhaseStart(Line):
    """A phase begins at `t_us`."""

    t_us: int
    phase: PhaseName


class Interval(Line):
    """What ended within one interval of the load; `t_us` is its end."""

    t_us: int
    duration_us: int = Field(ge=0)
    phase: PhaseName
    sessions: int = 0
    transactions: list[Transactions] = []
    statements: list[Statements] = []
    errors: list[ErrorCount] = []
    rows: int = 0
    client_cpu_us: float = 0
    workers: list[WorkerUse] = []
    open: OpenCount | None = None
    retry_us: float = 0
    lost: int = 0
    reconnects: int = 0


class Cpu(Line):
    """Time of one CPU in one interval, by kind."""

    cpu: int
    user_us: float = 0
    system_us: float = 0
    iowait_us: float = 0
    steal_us: float = 0
    idle_us: float = 0


class Memory(Line):
    """Levels of the host's memory, bytes."""

    total_bytes: int = 0
    available_bytes: int = 0
    dirty_bytes: int = 0
    cached_bytes: int = 0


class Disk(Line):
    """What one block device did in one interval."""

    device: str
    reads: int = 0
    read_bytes: int = 0
    writes: int = 0
    written_bytes: int = 0
    busy_us: float = 0


class Network(Line):
    """What one interface carried in one interval."""

    interface: str
    rx_bytes: int = 0
    tx_bytes: int = 0


class Host(Line):
    """One sample of the host the rig runs on."""

    t_us: int
    duration_us: int = Field(ge=0)
    cpus: list[Cpu] = []
    memory: Memory | None = None
    disks: list[Disk] = []
    networks: list[Network] = []
    context_switches: int = 0


class Process(Line):
    """One sample of the server's process or of the rig itself."""

    t_us: int
    duration_us: int = Field(ge=0)
    role: Literal["server", "rig"]
    pid: int
    cpu_user_us: float = 0
    cpu_system_us: float = 0
    rss_bytes: int = 0
    threads: int = 0


class Status(Line):
    """SHOW GLOBAL STATUS: what counters gained in the interval, and gauges as they stood."""

    t_us: int
    duration_us: int = Field(ge=0)
    counters: dict[str, float] = {}
    gauges: dict[str, float] = {}


class Note(Line):
    """Something the rig had to say."""

    t_us: int
    level: str
    text: str


class Failure(Line):
    """Why a trial failed, in the server's or the rig's words."""

    kind: str
    code: int | None = None
    sqlstate: str | None = None
    message: str
    statement: str | None = None
    hint: str | None = None


class Summary(Line):
    """Last line: totals over the measured window."""

    t_us: int
    outcome: Literal["ok", "failed", "interrupted"]
    error: Failure | None = None
    measure_us: int = Field(ge=0)
    measure_end: Literal["planned", "asked"] = "planned"
    transactions: list[Transactions] = []
    statements: list[Statements] = []
    errors: list[ErrorCount] = []
    unfinished: int = 0
    unstarted: int = 0
    open: OpenCount | None = None
    client_cpu_us: float = 0
    rows: int = 0
    retry_us: float = 0
    lost: int = 0
    reconnects: int = 0


MODELS: dict[str, type[Line]] = {
    "header": Header,
    "phase": PhaseStart,
    "interval": Interval,
    "host": Host,
    "process": Process,
    "status": Status,
    "note": Note,
    "summary": Summary,
}
"""The model of each value of a line's `record` field."""
