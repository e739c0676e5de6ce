"""Which runs of a sweep are simulated together: blocks whose runs share one compiled step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..scenario.design import Design

#: Runs of one block at most: enough to fill the lanes of all threads, few enough that progress is seen and little is lost.
LARGEST = 1024
#: Blocks that a sweep of one mechanism is divided into at least, if it has so many runs to give each of them `LANES`.
SHARES, LANES = 64, 8


@dataclass(frozen=True)
class Block:
    """Runs that are simulated side by side.

    Attributes:
        number: from 0, the same in every process, shard and resumption.
        group: of blocks that share what is compiled in.
        runs: their numbers, rising.
    """

    number: int
    group: int
    runs: tuple[int, ...]


def blocks_of(design: Design) -> list[Block]:
    """The blocks of a sweep: they depend on nothing but its design."""
    compiled = [k for k, one in enumerate(design.parameters) if not one.shared]
    groups: dict[tuple, list[int]] = {}
    for run in range(len(design)):
        values = design.values(run)
        groups.setdefault(tuple(values[k] for k in compiled), []).append(run)
    size = min(LARGEST, LANES * max(1, math.ceil(len(design) / (SHARES * LANES))))
    blocks: list[Block] = []
    for group, runs in enumerate(groups.values()):
        blocks += [Block(len(blocks) + k, group, tuple(runs[at : at + size])) for k, at in enumerate(range(0, len(runs), size))]
    return blocks


def shard_of(blocks: Sequence[Block], shard: str | None) -> list[Block]:
    """The blocks of one shard "i/n", i from 1 to n: each block belongs to exactly one of them.

    Raises:
        InputError: for anything else.

    >>> shard_of([Block(k, 0, (k,)) for k in range(5)], "2/2")
    [Block(number=1, group=0, runs=(1,)), Block(number=3, group=0, runs=(3,))]
    """
    if shard is None:
        return list(blocks)
    first, slash, last = str(shard).partition("/")
    if not (slash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise InputError(f"--shard {shard}: must be i/n with i from 1 to n; write 1/8 for the first of eight")
    return list(blocks[int(first) - 1 :: int(last)])
