"""One program for similar calls: a function that is run several times on values of one structure is traced once, and called.

Numbers that are the same in all calls are constants in the program; the rest are its inputs. Results that are constants
stay constants for the caller, so that known zeros are not lost at the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .blocks import Program
from .graph import Symbol
from .rules import known_number
from .tracing import active_scope, call, flatten, trace

#: Number of programs kept for later traces.
KEPT = 256


@dataclass(frozen=True)
class _SharedPage:
    """A traced function: the program of its results that are not constants, and how all results are put together."""

    program: Program
    leaves: tuple[Any, ...]
    build: Callable[[Sequence[Any]], Any]

    def run(self, given: Sequence[Any]) -> Any:
        """The function's result for these inputs."""
        computed = dict(zip(self.program.results, call(self.program, given) if self.program.results else [], strict=True))
        return self.build([computed[leaf] if leaf.__class__ is Symbol else leaf for leaf in self.leaves])


def call_grouped(calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]], *, name: str, at_least: int = 2) -> list[Any]:
    """`page(*arguments)` for every (page, arguments), with one program for similar calls.

    Calls are similar if their pages, which are hashable, are equal and their arguments, scalars in tuples and frozen
    dataclasses, have the same structure. Without a trace in progress the pages are run directly.

    Args:
        calls: pages and their arguments; name: of the programs.
        at_least: the number of similar calls from which a program is made; fewer are traced inline, and may be simplified
            there.
    """
    if active_scope() is None:
        return [page(*arguments) for page, arguments in calls]
    results: list[Any] = [None] * len(calls)
    taken = [flatten(arguments) for _, arguments in calls]
    groups: dict[tuple[Callable[..., Any], Any], list[int]] = {}
    for k, (leaves, build) in enumerate(taken):
        groups.setdefault((calls[k][0], build([0.0] * len(leaves))), []).append(k)
    for alike, members in groups.items():
        if len(members) < at_least:
            for k in members:
                results[k] = calls[k][0](*calls[k][1])
            continue
        columns = zip(*(taken[k][0] for k in members), strict=True)
        constants = tuple(_number(column) for column in columns)
        prepared = _prepared(alike, constants, name)
        for k in members:
            results[k] = prepared.run([leaf for leaf, number in zip(taken[k][0], constants, strict=True) if number is None])
    return results


def call_shared(page: Callable[..., Any], *arguments: Any, name: str) -> Any:
    """`page(*arguments)` as a call of a program, one for all arguments of the same structure with the same numbers in it."""
    return call_grouped([(page, arguments)], name=name, at_least=1)[0]


def _number(column: Sequence[Any]) -> float | None:
    """The number that is the same in all calls, or None."""
    first = known_number(column[0])
    return float(first) if first is not None and all(known_number(leaf) == first for leaf in column) else None


@lru_cache(maxsize=KEPT)
def _prepared(alike: tuple[Callable[..., Any], tuple[Any, ...]], constants: tuple[float | None, ...], name: str) -> _SharedPage:
    page, structure = alike
    _, build = flatten(structure)
    kept: list[Any] = []

    def run(*given: Any) -> list[Any]:
        inputs = iter(given[0] if given else ())
        leaves, rebuild = flatten(page(*build([next(inputs) if number is None else number for number in constants])))
        kept.append((tuple(leaves), rebuild))
        return list(dict.fromkeys(leaf for leaf in leaves if leaf.__class__ is Symbol))

    program = trace(run, {"given": sum(number is None for number in constants)}, name)
    return _SharedPage(program, *kept[0])
