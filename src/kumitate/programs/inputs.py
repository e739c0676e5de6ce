"""The inputs that functions of a robot share, and the forces that act in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dynamics
from ..errors import InputError
from ..model import Mechanism, Place, Tree
from ..model.tree.traversal import with_limbs
from ..renamed import offers

#: A function to be traced, and the sizes of its inputs.
Traceable = tuple[Callable[..., Any], dict[str, int | tuple[int, ...]]]


def choose(what: str, table: dict[str, Any], name: str) -> Any:
    if not offers(table, name):
        raise InputError(f"there is no {what} {name!r}; there are {', '.join(table)}")
    return table[name]


def place_of(m: Mechanism, name: str) -> Place:
    return choose("body or frame", m.tree.places, name)


def state_inputs(m: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return {"q": m.nq, "v": m.nv}


def wrench_inputs(wrenches: Sequence[str]) -> dict[str, int | tuple[int, ...]]:
    return {f"wrench_{name}": 6 for name in wrenches}


def applied(tree: Tree, wrenches: Sequence[str], values: Sequence[Any]) -> dynamics.Wrenches | None:
    for name in wrenches:
        choose("body or frame", tree.places, name)
    return dynamics.Wrenches(tree, dict(zip(wrenches, values, strict=True))) if wrenches else None


def limbed(tree: Tree, wrenches: Sequence[str]) -> Tree:
    """The tree with its alike limbs noted, without those that wrenches act on."""
    return with_limbs(tree, [choose("body or frame", tree.places, name).link for name in wrenches])


def loop_inputs(m: Mechanism, loops: Sequence[str]) -> dict[str, int | tuple[int, ...]]:
    known = {loop.name: loop.kind.nv for loop in m.loops}
    return {f"tau_{name}": choose("loop", known, name) for name in loops}


def acting(
    m: Mechanism, tree: Tree, wrenches: Sequence[str], loop_tau: Sequence[str], values: Sequence[Any]
) -> dynamics.Acting:
    """The forces that act on the tree of a mechanism; `values`: of the wrenches, then of the efforts in loops."""
    pushed = applied(tree, wrenches, values[: len(wrenches)])
    return dynamics.Acting(m.gravity, pushed, dict(zip(loop_tau, values[len(wrenches) :], strict=True)))
