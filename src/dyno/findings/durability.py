"""The verdict of a durability audit, in words."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.findings.words import percent, plural
from dyno.report.model import Finding

LIMITS_OF_A_KILL = (
    "SIGKILL ends the server and leaves the operating system: what the server had written survives, flushed"
    " to the disk or not. So this shows whether commits are written out before they are acknowledged"
    " (innodb_flush_log_at_trx_commit = 0 is caught), and not whether they are flushed: losing writes that"
    " were not (2, sync_binlog = 0, a disk that lies) takes a power cut."
)
"""What the audit can and cannot show."""


@dataclass(frozen=True)
class Kill:
    """One kill: transactions acknowledged before it, those that are gone, and whether halves were left."""

    acknowledged: int
    lost: int
    half: bool


def find_durability(engine: str, durability: str, kills: list[Kill]) -> Finding:
    """Whether every acknowledged transaction outlived every kill, or how many did not.

    Args:
        engine: What the server is called.
        durability: The logical setting that it ran with.
        kills: Every kill, in order.
    """
    acknowledged, lost = sum(kill.acknowledged for kill in kills), sum(kill.lost for kill in kills)
    times = plural(len(kills), "SIGKILL")
    under = f"{engine} with durability {durability}"
    if lost:
        worst = max(kill.lost for kill in kills)
        sentence = f"{under} lost {lost:,} of {acknowledged:,} acknowledged transactions"
        sentence += f" ({percent(lost / acknowledged)}) over {times}, {worst:,} at one"
    else:
        sentence = f"{under} kept every one of {acknowledged:,} acknowledged transactions over {times}"
    halves = sum(kill.half for kill in kills)
    sentence += (
        f", and left half transactions after {halves} of them." if halves else ", and left no half one."
    )
    return Finding(rule="durability", sentence=sentence, strength="caution" if lost or halves else "measured")
