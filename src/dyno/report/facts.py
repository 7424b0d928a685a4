"""The facts of a run as label/value pairs: host, phases, settings, workloads, engines, load levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dyno.findings.words import number, percent, plural, ratio_phrase, size
from dyno.report import tpcc
from dyno.report.model import Engine, Estimate, Load, Mark, Named, NoiseFloor, Package

if TYPE_CHECKING:
    from dyno.record import manifest

FAMILIES = {"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona Server"}

HOST_LABELS = {
    "hostname": "Host",
    "cpu_model": "CPU",
    "cpus": "CPUs",
    "cpu_cores": "Cores",
    "cpu_caches": "Last-level caches",
    "numa_nodes": "NUMA nodes",
    "memory_bytes": "Memory",
    "kernel": "Kernel",
    "os": "System",
    "virtualization": "Virtualisation",
    "filesystem": "File system",
    "block_device": "Block device",
    "io_scheduler": "I/O scheduler",
    "governor": "CPU governor",
    "transparent_hugepages": "Transparent huge pages",
    "swap_bytes": "Swap",
    "nofile": "Open files limit",
}

SIZES = {"buffer_pool", "redo", "log_buffer", "query_cache", "sort_buffer"}
"""Logical settings that are bytes; a plain number of anything else stays one."""

CLOSED_LOOP = (
    "Closed loop: each session sends its next transaction when its last one has ended. Throughput is the"
    " capacity at that number of sessions; latency is service time, not the response time of arriving users."
)
OPEN_LOOP = (
    "Open loop: transactions are due at the offered rate, whatever the server does; latency is response time,"
    " from when a transaction was due."
)


def engine_label(engine_id: str, family: str | None, label: str | None) -> str:
    """An engine's name for readers: the plan's own label, or family and version series ("MariaDB 11.8")."""
    if label:
        return label
    family = family or engine_id.partition("-")[0]
    rest = engine_id.removeprefix(family).strip("-")
    return f"{FAMILIES[family]} {rest}".strip() if family in FAMILIES else engine_id


def engines(run: manifest.Manifest, versions: dict[str, str | None]) -> list[Engine]:
    """The engines of the run and those it missed; `versions`: engine id → the servers' own VERSION()."""
    found = [
        Engine(
            id=each.id,
            label=engine_label(each.id, each.family, each.label),
            family=each.family,
            version=each.version,
            server_version=versions.get(each.id) or each.server_version,
            source=each.source,
            content_sha256=each.content_sha256,
            packages=[Package(name=p.name, version=p.version, sha256=p.sha256) for p in each.packages],
            missing=None,
        )
        for each in run.engines
    ]
    missing = [
        Engine(
            id=each.id,
            label=engine_label(each.id, None, each.label),
            family=each.id.partition("-")[0],
            version=each.id.partition("-")[2],
            server_version=None,
            source="",
            content_sha256=None,
            missing=each.reason,
        )
        for each in run.engines_missing
    ]
    return found + missing


def different_versions(versions: set[str]) -> str | None:
    """The VERSION() of an engine's servers; more than one in a run is said as such."""
    if not versions:
        return None
    ordered = sorted(versions)
    return ordered[0] if len(ordered) == 1 else f"{plural(len(ordered), 'version')}: {', '.join(ordered)}"


def loads(run: manifest.Manifest) -> list[Load]:
    """The load levels in order of their size, schedules last."""
    found = [_schedule(each) if each.stages else _level(each) for each in run.loads]
    return sorted(found, key=lambda load: (load.schedule is not None, load.kind, load.x))


def _level(load: manifest.Load) -> Load:
    if load.kind == "closed":
        sessions = load.sessions or 0
        return Load(id=load.id, kind="closed", label=plural(sessions, "session"), x=float(sessions))
    rate = load.rate_per_s or 0.0
    return Load(id=load.id, kind="open", label=f"{number(rate)} transactions/s offered", x=rate)


def _schedule(load: manifest.Load) -> Load:
    """A level that changes; its place on an axis is its highest."""
    start = load.start if load.start is not None else load.stages[0].target
    from_ = (
        f"{number(start)} transactions/s offered" if load.kind == "open" else plural(int(start), "session")
    )
    steps = [f"from {from_}"]
    for stage in load.stages:
        target = number(stage.target) if load.kind == "open" else f"{stage.target:,.0f}"
        steps.append(f"to {target} " + (f"over {stage.duration_s:g} s" if stage.duration_s else "at once"))
    x = max(start, *(stage.target for stage in load.stages))
    return Load(id=load.id, kind=load.kind, label=f"schedule {load.id}", x=x, schedule=", ".join(steps))


def loop(run: manifest.Manifest) -> str:
    """What the load measures, in words, and what each schedule does."""
    kinds = {each.kind for each in run.loads}
    words = [text for kind, text in (("closed", CLOSED_LOOP), ("open", OPEN_LOOP)) if kind in kinds]
    words += [
        f"{load.label[0].upper()}{load.label[1:]}: {load.schedule}." for load in loads(run) if load.schedule
    ]
    return " ".join(words)


def phases(run: manifest.Manifest) -> list[tuple[str, str]]:
    """The planned phases with their lengths."""
    planned = run.phases
    measure, rule = f"{planned.measure_s:g} s", planned.stopping
    if rule is not None:
        measure = (
            f"{rule.measure_min_s:g} s to {measure}, until the mean is known to ±{100 * rule.precision:g} %"
            f" ({rule.rule})"
        )
    return [
        ("warm-up", f"{planned.warmup_s:g} s"),
        ("measure", measure),
        ("drain", f"at most {planned.drain_s:g} s"),
    ]


def host(run: manifest.Manifest) -> list[tuple[str, str]]:
    """What is known of the host; a fact that could not be read says so."""
    return [
        (HOST_LABELS.get(key, key.replace("_", " ")), _host_value(key, value))
        for key, value in run.host.items()
    ]


def _host_value(key: str, value: manifest.Scalar) -> str:
    if value is None:
        return "not visible"
    return size(float(value)) if key.endswith("_bytes") and isinstance(value, int | float) else str(value)


def noise_floor(run: manifest.Manifest) -> NoiseFloor | None:
    """What an A/A test had shown of the host, where there was one."""
    known = run.noise_floor
    if known is None:
        return None
    ratio = Estimate(
        value=known.ratio,
        low=known.ratio_low,
        high=known.ratio_high,
        n=known.trials,
        method="A/A test, as the comparisons of this run",
    )
    alarm = " It was a false alarm: 1 of 20 such tests is one on a quiet host." if known.false_alarm else ""
    load = f"{known.workload} at {plural(known.sessions, 'session')}"
    sentence = (
        f"Noise floor of this host: ±{percent(known.floor)}, measured {known.measured[:10]}:"
        f" {known.engine} is {ratio_phrase(ratio, 'itself')}; {load},"
        f" {plural(known.trials, 'trial')} a side of {known.measure_s:g} s, which scatter by"
        f" {percent(known.spread)}.{alarm}"
    )
    return NoiseFloor(
        sentence=sentence,
        ratio=ratio,
        **known.model_dump(include={"measured", "floor", "spread", "false_alarm"}),
    )


def doctor(run: manifest.Manifest) -> list[Mark]:
    """What the doctor objected to in the host."""
    return [
        Mark(
            kind="host",
            severity="bad" if check.verdict == "fail" else "warn",
            text=check.text + (f" (hint: {check.hint})" if check.hint else ""),
        )
        for check in run.doctor
        if check.verdict != "ok"
    ]


def settings(run: manifest.Manifest) -> list[Named]:
    """The logical configurations, all defaults included."""
    return [
        Named(id=s.id, label=s.id, facts=[(key, _setting(key, value)) for key, value in s.requested.items()])
        for s in run.settings
    ]


def workloads(run: manifest.Manifest) -> list[Named]:
    """The workloads with their options."""
    found = []
    for each in run.workloads:
        name = "" if each.name == each.id else f"{each.name}, "
        facts = [("definition", f"{name}version {each.version}")]
        facts += [("statements", each.statement_mode)] if each.statement_mode else []
        facts += [(key, _value(value)) for key, value in each.options.items()]
        found.append(Named(id=each.id, label=_label(each), facts=facts))
    return found


def _label(workload: manifest.Workload) -> str:
    """The id, with the profile and the SQL shape of a workload that has them: they change the measurement."""
    if "warehouses" not in workload.options:
        return workload.id
    return f"{workload.id} ({tpcc.profile_of(workload)}, {tpcc.shape_of(workload)})"


def _setting(key: str, value: Any) -> str:
    """A logical setting for a reader: bytes in binary units."""
    return size(value) if key in SIZES and isinstance(value, int) else _value(value)


def _value(value: Any) -> str:
    """A setting or option for a reader: switches as on and off, lists and tables in words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) or "none"
    return "not set" if value is None else str(value)
