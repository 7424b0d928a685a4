"""`imported.json`: what another program's log says of one trial (docs/FORMAT.md, 1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from dyno.errors import DynoError
from dyno.record.manifest import Part
from dyno.record.stream import explain

if TYPE_CHECKING:
    from pathlib import Path

FILE = "imported.json"


class ImportedType(Part):
    """One transaction type over the measured time; latencies in µs as printed, by percentile."""

    name: str
    count: int
    errors: int = 0
    latency_mean_us: float | None = None
    latency_max_us: float | None = None
    latency_percentiles_us: dict[float, float] = Field({})


class ImportedFile(Part):
    """A file that the trial was made of."""

    name: str
    format: str


class Imported(Part):
    """A trial as its log tells it: rates and percentiles as printed; its intervals are in series.parquet."""

    format: Literal["dyno-imported/2"] = "dyno-imported/2"
    tool: str
    tool_version: str | None
    source: str
    source_sha256: str
    threads: int | None
    problem: str | None
    transactions: int | None
    throughput_per_s: float | None
    new_orders_per_min: float | None = None
    rate_per_s: int | None = None
    measure_s: float | None
    errors: int | None
    latency_mean_us: float | None
    latency_max_us: float | None
    latency_percentile: int | None
    latency_percentile_us: float | None
    latency: str | None = None
    transaction_types: list[ImportedType] = Field([])
    beside: list[ImportedFile] = Field([])


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
