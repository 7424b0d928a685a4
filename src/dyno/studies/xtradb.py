"""Study 004's form: new orders a minute of each variant, one against the other, and the CPU time it took."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from dyno.report.model import Table
from dyno.studies.run import UNTESTED, new_orders_per_min, ratio, shown

if TYPE_CHECKING:
    from dyno.report.model import Cell
    from dyno.studies.run import StudiedRun

Row = dict[str, str]


def of_rows(rows: list[Row]) -> list[Table]:
    """The two ratios of the text; the document's graphs are not given as numbers."""
    return [
        Table(
            id="ratios",
            title="NOTPM, one against the other",
            columns=[
                "Comparison",
                "Variant",
                "Against",
                "NOTPM",
                "Ratio",
                "Warehouses",
                "Connections",
                "Data",
            ],
            rows=[
                [
                    *(row["comparison"], row["numerator"], row["denominator"], UNTESTED),
                    f"about {float(row['approximate_ratio']):g}×",
                    *(row["warehouses"], row["connections"]),
                    f"{row['data_gib']} GiB in a buffer pool of {row['buffer_pool_gib']} GiB",
                ]
                for row in rows
            ],
            note=f"{UNTESTED} only in a graph, not given as a number.",
        )
    ]


def of_run(run: StudiedRun) -> list[Table]:
    """Engine against engine for each workload, settings set and load.

    Raises:
        DynoError: A workload has no new-order transaction.
    """
    made = []
    for workload, settings, title in run.conditions():
        for load in run.levels():
            engines = list(reversed(run.engines()))
            cells = [run.cell(engine.id, settings, workload, load.id) for engine in engines]
            notpm = [new_orders_per_min(cell) for cell in cells]
            rows = [
                [engine.label, shown(value, cell), ratio(value, notpm[0]), _server_cpus(cell)]
                for engine, cell, value in zip(engines, cells, notpm, strict=True)
            ]
            made.append(
                Table(
                    id=f"{workload}-{settings}-{load.id}",
                    title=f"NOTPM: {title}, {load.label}",
                    columns=["Engine", "NOTPM", f"÷ {engines[0].label}", "Server CPU, cores"],
                    rows=rows,
                )
            )
    return made


def _server_cpus(cell: Cell | None) -> str:
    """Mean number of cores that the server kept busy over the good trials."""
    used = [t.server_cpu_cores for t in cell.trials if t.status == "ok"] if cell else []
    known = [value for value in used if value is not None]
    return f"{fmean(known):.2f}" if known else UNTESTED
