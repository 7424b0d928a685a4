"""`imported.json`: what another program's log says of one trial (docs/FORMAT.md, 1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from dyno.errors import DynoError
from dyno.record.manifest import Part
from dyno.record.stream import explain

if TYPE_CHECKING:
    from pathlib import Path


class ImportedInterval(Part):
    """One interval report: end in seconds, rates per second; the latency is the printed percentile, µs."""

    t_s: float
    throughput_per_s: float
    latency_us: float | None = None
    errors_per_s: float | None = None


class Imported(Part):
    """A trial as its log tells it: rates and percentiles as printed; there are no histograms."""

    format: Literal["dyno-imported/1"] = "dyno-imported/1"
    tool: str
    tool_version: str | None
    source: str
    source_sha256: str
    threads: int | None
    problem: str | None
    transactions: int | None
    throughput_per_s: float | None
    measure_s: float | None
    errors: int | None
    latency_mean_us: float | None
    latency_max_us: float | None
    latency_percentile: int | None
    latency_percentile_us: float | None
    intervals: list[ImportedInterval]


def read_imported(path: Path) -> Imported | None:
    """Read an imported trial; None where there is no such file: the trial was measured, not imported.

    Raises:
        DynoError: It is damaged.
    """
    try:
        return Imported.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise DynoError(f"{path}: {explain(error)}", hint="import the logs again") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DynoError(f"{path} cannot be read: {error}", hint="import the logs again") from None
