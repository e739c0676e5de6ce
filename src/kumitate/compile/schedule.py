"""The order of a line: what can start first comes first, within a window, so that the processor need not wait and little is kept.

The traced order (branch by branch) keeps few values alive; strict dependency or register-pressure orders are worse. Looking a few
hundred nodes ahead for one whose operands are ready hides latencies and adds hardly any live values.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from ..scalar import Program, Symbol

__all__ = ["schedule"]

#: How far ahead of the first node that is not placed yet another one may be taken.
WINDOW = 256
#: Cycles until a result can be used, and cycles of issue that the operation takes; a rough picture of current processors.
LATENCY = {"div": 13.0, "sqrt": 18.0, "sin": 55.0, "cos": 55.0, "exp": 60.0, "log": 60.0, "tanh": 60.0, "atan2": 80.0}
ISSUE = {"sin": 15.0, "cos": 15.0, "exp": 30.0, "log": 30.0, "tanh": 30.0, "atan2": 40.0, "div": 2.0, "sqrt": 4.0}
_READ = frozenset({"const", "input"})


def schedule(program: Program, *, window: int = WINDOW) -> Program:
    """The program with the lines of its entry reordered; what it computes does not change in any bit."""
    return replace(program, line=tuple(_ordered(program.line, window)))


def _ordered(line: Sequence[Symbol], window: int) -> list[Symbol]:
    position = {node: k for k, node in enumerate(line)}
    users: list[list[int]] = [[] for _ in line]
    waiting = [0] * len(line)  # operands that are not placed
    for k, node in enumerate(line):
        for argument in set(node.args):
            users[position[argument]].append(k)
            waiting[k] += 1
    ready = [0.0] * len(line)  # when the operands are there
    done = [False] * len(line)
    pending: list[tuple[float, int]] = []  # in the window, operands placed, by when they can start
    active: list[int] = []  # those that can start now, by the traced order
    order: list[Symbol] = []
    now, first, end = 0.0, 0, 0

    def admit(k: int) -> None:
        heapq.heappush(pending, (ready[k], k))

    while len(order) < len(line):
        while first < len(line) and done[first]:
            first += 1
        while end < min(first + window, len(line)):
            if not waiting[end]:
                admit(end)
            end += 1
        while pending and pending[0][0] <= now:
            heapq.heappush(active, heapq.heappop(pending)[1])
        if not active:
            now = max(now, pending[0][0])
            continue
        k = heapq.heappop(active)
        node = line[k]
        done[k] = True
        order.append(node)
        if node.op in _READ:
            finished = now
        else:
            now += ISSUE.get(node.op, 0.5)
            finished = now + LATENCY.get(node.op, 4.0)
        for user in users[k]:
            ready[user] = max(ready[user], finished)
            waiting[user] -= 1
            if not waiting[user] and user < end:
                admit(user)
    return order
