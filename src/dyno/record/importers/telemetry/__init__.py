"""What iostat, vmstat, mpstat and dstat saw of the host beside a log, as the metrics of docs/FORMAT.md, 3."""

from dyno.record.importers.telemetry import dstat, iostat, mpstat, vmstat
from dyno.record.importers.telemetry.samples import Telemetry

__all__ = ["Telemetry", "dstat", "iostat", "mpstat", "vmstat"]
