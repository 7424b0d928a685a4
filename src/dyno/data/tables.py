"""The tables that a run is read as: every column with its type, its unit (last in its name) and what it says.

The one list behind the frames of `dyno.open`, the tables of `dyno sql`, its `--schema` and docs/DATA.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "category", "int", "float", "bool"]

PANDAS: dict[Kind, str] = {
    "text": "string",
    "category": "category",
    "int": "Int64",
    "float": "float64",
    "bool": "bool",
}
SQL: dict[Kind, str] = {
    "text": "VARCHAR",
    "category": "VARCHAR",
    "int": "BIGINT",
    "float": "DOUBLE",
    "bool": "BOOLEAN",
}


@dataclass(frozen=True)
class Column:
    """One column; a value that there is none of is NA in a frame and NULL in SQL."""

    name: str
    kind: Kind
    text: str


@dataclass(frozen=True)
class Schema:
    """One table: what a row is, and its columns in order."""

    row: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """The columns' names in order."""
        return [column.name for column in self.columns]


def _estimate(name: str, text: str) -> list[Column]:
    """The columns of a value with its confidence interval."""
    return [
        Column(name, "float", text),
        Column(f"{name}_low", "float", "lower end of its 95 % confidence interval; none from one trial"),
        Column(f"{name}_high", "float", "upper end"),
        Column(f"{name}_n", "int", "trials behind it"),
    ]


_RUN = Column("run", "text", "id of the run")
_CELL = Column("cell", "text", "id of the cell")
_PLACE = (
    Column("engine", "text", "id of the engine"),
    Column("settings", "text", "id of the settings set, such as a memory tier"),
    Column("workload", "text", "id of the workload"),
    Column(
        "load", "text", "id of the load level: `s16` is 16 sessions, `r2000` 2,000 transactions/s offered"
    ),
)
_LOAD = (
    Column("loop", "text", "`closed` or `open`"),
    Column("sessions", "int", "sessions of a closed loop; connections that serve an open one"),
    Column("offered_per_s", "float", "transactions/s offered by an open loop; none in a closed one"),
)
_PERCENTILES = ("mean_us", "p50_us", "p95_us", "p99_us", "p999_us", "p9999_us", "max_us")

TRIALS = Schema(
    "a planned trial, the statistical unit; also those that failed or were never reached",
    (
        _RUN,
        Column("trial", "text", "id of the trial"),
        _CELL,
        *_PLACE,
        *_LOAD,
        Column("order_in_run", "int", "its place in the randomised order, from 1"),
        Column("block", "int", "complete block that it belongs to, from 1"),
        Column("status", "text", "`ok`, `failed`, `invalid` or `missing`; only `ok` may enter a mean"),
        Column("reason", "text", "why it is not `ok`"),
        Column("throughput_per_s", "float", "good transactions a second of the measured window"),
        Column(
            "p99_us", "float", "99th percentile: service time in a closed loop, response time in an open one"
        ),
        Column("server_cpu_cores", "float", "CPU time of the server, in cores"),
        Column("client_cpu_share", "float", "busy share of the rig's CPUs, 0…1"),
        Column("retries", "int", "transactions that were repeated after a deadlock or the like"),
        Column(
            "steadiness",
            "text",
            "`steady`, `drifting`, `stepped`, `oscillating` or `too short`; of closed loops",
        ),
        Column("effective_n", "float", "effective sample size of the seconds of the measured window"),
        Column(
            "half_width_share", "float", "half of the 95 % interval of the window's mean, as a share of it"
        ),
        Column("marks", "text", "reasons to read the number with care, joined by `; `"),
    ),
)
CELLS = Schema(
    "a cell: engine × settings × workload × load level over its good trials",
    (
        _RUN,
        _CELL,
        *_PLACE,
        *_LOAD,
        Column("status", "text", "`ok`, `partial` (some trials good) or `failed`"),
        *_estimate("throughput_per_s", "mean of its good trials"),
        *_estimate(
            "server_cpu_us_per_transaction", "CPU time of the server for a transaction, mean of trials"
        ),
        *_estimate("client_cpu_us_per_transaction", "CPU time of the rig for a transaction, mean of trials"),
        Column("marks", "text", "reasons to read the numbers with care, joined by `; `"),
    ),
)
LATENCY = Schema(
    "one kind of latency of a cell: percentiles of the merged histograms of its good trials",
    (
        _RUN,
        _CELL,
        *_PLACE,
        Column("of", "text", "`transaction` or `statement`"),
        Column("time", "text", "`service` (start to end), `response` (due to end) or `lag` (due to start)"),
        Column("name", "text", "type of transaction or statement; `all` for all transaction types together"),
        Column("count", "int", "how many there were"),
        *(
            Column(
                name, "float", {"mean_us": "mean", "max_us": "maximum"}.get(name, f"{name[:-3]} percentile")
            )
            for name in _PERCENTILES
        ),
    ),
)
COMPARISONS = Schema(
    "an engine against the baseline of the run in one settings × workload × load level",
    (
        _RUN,
        *_PLACE,
        Column("baseline", "text", "id of the engine that it is compared with"),
        Column("measure", "text", "`throughput_per_s` (closed loop) or `p99_us` (open loop)"),
        *_estimate("ratio", "engine ÷ baseline, of the measure"),
        Column("p_value", "float", "of “the ratio is 1”; none where nothing was tested"),
        Column("p_value_holm", "float", "the same, corrected by Holm over the run"),
        Column(
            "verdict",
            "category",
            "`faster`, `slower`, `no relevant difference`, `undecided`, `untested`, `missing`",
        ),
        Column("sentence", "text", "the same in words"),
    ),
)
SETTINGS = Schema(
    "a server variable of one engine",
    (
        _RUN,
        Column("settings", "text", "id of the settings set"),
        Column("engine", "text", "id of the engine"),
        Column("variable", "text", "name of the server variable"),
        Column("logical", "text", "the logical setting that it came from; none where Dyno did not set it"),
        Column("requested", "text", "value asked for"),
        Column(
            "effective", "text", "value that the server reports; none where this engine lacks the variable"
        ),
        Column(
            "differs", "bool", "whether the engines of the settings set differ in it, in more than spelling"
        ),
        Column("ignored", "bool", "whether this server did not take the requested value"),
    ),
)
FINDINGS = Schema(
    "a computed sentence",
    (
        _RUN,
        Column("rule", "text", "the rule that made it"),
        Column("strength", "text", "`measured`, `untested` (a single trial) or `caution`"),
        Column("sentence", "text", "the sentence"),
        Column("cells", "text", "ids of the cells that it rests on, separated by spaces"),
        Column("trials", "text", "ids of the trials that it rests on, separated by spaces"),
    ),
)
SERIES = Schema(
    "a sample: one metric over one interval (usually 1 s) of one trial; a second is not a repeat of anything",
    (
        Column("run", "category", "id of the run"),
        Column("trial", "category", "id of the trial"),
        Column("cell", "category", "id of the cell"),
        Column("t_s", "float", "end of the interval, seconds since the beginning of warm-up"),
        Column("phase", "category", "`warmup`, `measure` or `drain`"),
        Column(
            "metric", "category", "what was sampled; docs/FORMAT.md (3) lists them, units are in the names"
        ),
        Column("label", "category", "the CPU, device, transaction type, …; empty where there is one of them"),
        Column("value", "float", "the value, in the metric's unit"),
    ),
)

TABLES: dict[str, Schema] = {
    "trials": TRIALS,
    "cells": CELLS,
    "latency": LATENCY,
    "comparisons": COMPARISONS,
    "settings": SETTINGS,
    "findings": FINDINGS,
    "series": SERIES,
}
