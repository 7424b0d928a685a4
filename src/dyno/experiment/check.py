"""Whether the data of a trial is consistent, and holds what the rig says that it committed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.errors import DynoError
from dyno.experiment.rig import Rig, find_rig
from dyno.experiment.spec import data_spec
from dyno.record.layout import write_json

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from dyno.plan.resolved import ResolvedConnection, ResolvedWorkload
    from dyno.plan.schema import OptionValue
    from dyno.record.checked import Checked, Counts
    from dyno.record.layout import TrialLayout
    from dyno.record.stream import Stream

DISTRICTS = 10
"""Of a warehouse: the most orders that one Delivery delivers."""

SHOWN_MAX = 3
HINT = "check-after.json of the trial has the rows; `dyno check` asks the server again"


@dataclass(frozen=True)
class Checker:
    """Checks the data of one trial and keeps what was found in its folder.

    Args:
        rig: The rig.
        workload: Whose data.
        connection: How to connect.
        seed: Of the run.
    """

    rig: Rig
    workload: ResolvedWorkload
    connection: ResolvedConnection
    seed: int

    def check(self, when: str, target: dict[str, Any], trial: TrialLayout) -> Checked:
        """Check now; `when` is `before` or `after`.

        Raises:
            DynoError: The conditions cannot be asked: no such tables, no connection.
        """
        spec = trial.check(when, "spec.json")
        write_json(spec, data_spec(self.workload, target, self.seed, [], self.connection))
        return self.rig.check(spec, trial.check(when, "log"), trial.check(when, "json"))


def check_server(
    workload: str, options: dict[str, OptionValue], target: dict[str, Any], folder: Path, *, limit_s: float
) -> Checked:
    """Check the data on any server, outside a run.

    Args:
        workload: Its name.
        options: Its options; those that are not named have the rig's defaults.
        target: How to reach the server (`target` of spec.json).
        folder: Where the rig's files go.
        limit_s: Seconds that the server may spend on one condition.

    Raises:
        DynoError: The conditions cannot be asked: no such tables, no connection, no such option.
    """
    spec = folder / "check.spec.json"
    work = {"name": workload, "options": options}
    write_json(spec, {"format": "dyno-spec/1", "target": target, "workload": work})
    return Rig(find_rig()).check(spec, folder / "check.log", folder / "check.json", limit_s=limit_s)


def complaint(checked: Checked, when: str) -> str | None:
    """What is wrong with the data, in one sentence that begins with when it was so; None when nothing is."""
    broken = checked.broken
    if not broken:
        return None
    rest = f"; and {len(broken) - SHOWN_MAX} more" if len(broken) > SHOWN_MAX else ""
    shown = "; ".join(condition.complaint() for condition in broken[:SHOWN_MAX])
    return (
        f"{when} the data breaks {len(broken)} of {len(checked.conditions)} consistency conditions:"
        f" {shown}{rest}"
    )


def require_consistent(checked: Checked) -> None:
    """Refuse to measure on data that is not consistent before the load.

    Raises:
        DynoError: Some condition does not hold.
    """
    wrong = complaint(checked, "before the load")
    if wrong is not None:
        raise DynoError(wrong, hint="build the data anew: what is measured on it means nothing")


def contradictions(stream: Stream, before: Counts, after: Counts) -> list[str]:
    """Where the growth of the data is not what the rig counted.

    The rig counts what ended in warm-up and measure. Beyond that each session may end one transaction while
    it drains, and one that was lost with its connection may have been committed: the growth has bounds.
    """
    sessions = max((interval.sessions for interval in stream.intervals), default=0)
    carried = sum(interval.open.carried for interval in stream.intervals if interval.open)
    spare = sessions + carried + sum(interval.lost for interval in stream.intervals)
    done = _done(stream)
    orders, payments = after.orders - before.orders, after.payments - before.payments
    delivered = orders - (after.undelivered - before.undelivered)
    ended, paid = done["new_order"], done["payment"]
    # A rig that only counts transactions leaves open how many were rolled back or found no order to deliver.
    entered, taken = (0, ended), (0, DISTRICTS * done["delivery"])
    if done["new_order.lines"]:
        entered = (ended - done["new_order.rolled_back"], ended - done["new_order.rolled_back"])
    if done["delivery.delivered"] + done["delivery.skipped"]:
        taken = (done["delivery.delivered"], done["delivery.delivered"])
    return [
        *_outside("orders", "d_next_o_id", orders, entered, spare),
        *_outside("payments", "history", payments, (paid, paid), spare),
        *_outside("delivered orders", "new_order", delivered, taken, DISTRICTS * spare),
    ]


def _done(stream: Stream) -> Counter[str]:
    """Transactions by type over all intervals, and `type.counter` → what else was counted of them."""
    done: Counter[str] = Counter()
    for interval in stream.intervals:
        for each in interval.transactions:
            done[each.type] += each.ok
            done.update({f"{each.type}.{name}": count for name, count in each.counters.items()})
    return done


def _outside(what: str, where: str, grown: int, counted: tuple[int, int], spare: int) -> list[str]:
    """A complaint when the data grew by less than was acknowledged, or by more than was under way."""
    low, high = counted[0], counted[1] + spare
    if low <= grown <= high:
        return []
    return [f"by the rig's count {low:,} to {high:,} {what} were added, {where} shows {grown:,}"]
