"""The order of trials: complete blocks, each visiting every cell once, shuffled from the plan's seed.

A block is a repeat of everything, so that a drift of the host over hours falls on all cells alike and
cells of one block can be compared as pairs.
"""

from __future__ import annotations

import random

from dyno.plan import names
from dyno.plan.resolved import ResolvedCell, ScheduledTrial


def schedule(cells: list[ResolvedCell], blocks: int, seed: int, *, shuffled: bool) -> list[ScheduledTrial]:
    """`blocks` × every cell.

    Each block is shuffled by Python's Mersenne Twister seeded with the plan's seed (`random.Random(seed)`,
    one Fisher-Yates shuffle a block, blocks in ascending order). The order itself is in the manifest, so
    nothing depends on repeating the shuffle.

    Args:
        cells: All cells of the run, in the order of the plan.
        blocks: Trials of each cell.
        seed: The plan's seed.
        shuffled: False keeps the order of the plan in every block.
    """
    generator = random.Random(seed)
    order: list[ScheduledTrial] = []
    for block in range(1, blocks + 1):
        visit = [cell.id for cell in cells]
        if shuffled:
            generator.shuffle(visit)
        order += [
            ScheduledTrial(trial=names.trial_id(len(order) + index, cell, block), cell=cell, block=block)
            for index, cell in enumerate(visit, start=1)
        ]
    return order
