"""The local variables of a function: those whose values are never needed at the same time share one."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from .encoding import Instruction


def shared_variables(code: Sequence[Instruction], kinds: Sequence[str], parameters: int) -> tuple[list[Instruction], list[str]]:
    """The code with its variables renumbered, and the types of those that are left; the first ones are the parameters.

    A variable that is set before a loop and used in it is needed until the loop ends.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    open_blocks: list[tuple[int, set[int]]] = []  # where each begins, and the variables in it that are older
    for place, instruction in enumerate(code):
        name = instruction[0]
        if name.startswith("local."):
            variable = instruction[1]
            begun = first.setdefault(variable, place)
            last[variable] = place
            for start, older in open_blocks:
                if begun < start:
                    older.add(variable)
        elif name in ("loop", "block"):
            open_blocks.append((place, set()))
        elif name == "end":
            _, older = open_blocks.pop()
            last.update(dict.fromkeys(older, place))
    places = dict(zip(range(parameters), range(parameters), strict=True))
    free: dict[str, list[int]] = {"f64": [], "i32": []}
    count = dict.fromkeys(free, 0)
    ending: list[tuple[int, int]] = []
    for variable, begun in first.items():
        if variable < parameters:
            continue
        while ending and ending[0][0] < begun:
            over = heappop(ending)[1]
            heappush(free[kinds[over]], places[over])
        kind = kinds[variable]
        if free[kind]:
            places[variable] = heappop(free[kind])
        else:
            places[variable], count[kind] = count[kind], count[kind] + 1
        heappush(ending, (last[variable], variable))
    behind = {"f64": parameters, "i32": parameters + count["f64"]}
    for variable in first:
        if variable >= parameters:
            places[variable] += behind[kinds[variable]]
    renumbered = [(one[0], places[one[1]]) if one[0].startswith("local.") else one for one in code]
    return renumbered, ["f64"] * count["f64"] + ["i32"] * count["i32"]
