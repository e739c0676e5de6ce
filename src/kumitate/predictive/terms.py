"""Costs and constraints of planned motions: residuals at nodes, an entry of a list each, and the programs of all of them.

A cost is half the square of its residuals. A constraint c = 0 or c ≤ 0 joins them by an augmented Lagrangian: √μ (c + y) and
√μ max(0, c + y), where μ is the penalty and μ y the multiplier (Nocedal and Wright, Numerical Optimization, chapter 17).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ..compile import Kernel
from ..errors import InputError
from ..inverse_kinematics import Goal
from ..inverse_kinematics.goals import Posture, checked_target
from ..inverse_kinematics.search import limits_of
from ..kinematics import gathered, world_velocity
from ..model import Mechanism
from ..scalar import Scalar, absolute, call, inlined, jacobian, maximum, select, sqrt, trace
from ..scalar.blocks import shaped
from ..spatial import dot


class Node:
    """A state and an action of a mechanism at a time, while residuals are evaluated: t, q, v and u (of size 0 at the end)."""

    def __init__(self, mechanism: Mechanism, t: Any, q: Any, v: Any, u: Any):
        self.mechanism, self.t = mechanism, t
        self.q, self.v, self.u = (np.array(list(part), dtype=object) for part in (q, v, u))

    @cached_property
    def posture(self) -> Posture:
        return Posture(self.mechanism.tree, list(self.q))

    def of(self, function: Callable[..., Any]) -> list[Scalar]:
        """What a function gives of (q, v, u), or (t, q, v, u), u left out at the end: an array, or an `InputError`."""
        given = (self.q, self.v, self.u)[: 2 if not len(self.u) else 3]
        count = sum(one.default is one.empty for one in inspect.signature(function).parameters.values())
        name, names = getattr(function, "__name__", "a function"), ", ".join("qvu"[: len(given)])
        if count not in (len(given), len(given) + 1):
            raise InputError(
                f"{self.mechanism.name}: {name} takes {count} arguments; residuals are functions of ({names}) or (t, {names})"
            )
        found = function(*given) if count == len(given) else function(self.t, *given)
        if np.ndim(found) == 0:
            raise InputError(
                f"{self.mechanism.name}: {name} gives a number; costs are half the squares of residuals. Give an array of "
                "residuals: for a cost c ≥ 0 that is np.array([np.sqrt(2 * c)])"
            )
        return list(np.ravel(found))


@dataclass(frozen=True, eq=False)
class PlanTerm:
    """A cost or a constraint of planned motions.

    Attributes:
        residuals: of a node and a target (size).
        target: of a mechanism (size), or (n, size), one for each node.
        kind: whether residuals cost half their squares ("cost"), are zero ("equal"), or are not positive ("most").
    """

    residuals: Callable[[Node, list[Scalar]], list[Scalar]]
    target: Callable[[Mechanism], np.ndarray] = lambda _: np.zeros(0)
    kind: str = "cost"


def velocity_of(place: str, velocity: Any = (0.0,) * 6, weight: float = 1.0) -> PlanTerm:
    """The cost ½ · weight · |[ω; v] − velocity|² of a body or frame: that of its origin, in the axes of the world.

    Args:
        velocity: (6), or one for each node (n, 6) [rad/s, m/s].

    >>> velocity_of("hand", [0, 0, 0, 0.1, 0, 0]).kind
    'cost'
    """

    def residuals(node: Node, target: list[Scalar]) -> list[Scalar]:
        tree = node.mechanism.tree
        moving = world_velocity(tree, list(node.q), list(node.v), tree.places[place])
        return [weight**0.5 * (part - wanted) for part, wanted in zip(moving, target, strict=True)]

    def target(mechanism: Mechanism) -> np.ndarray:
        mechanism.tree.place(place, "a velocity is for")
        return checked_target(f"the velocity of {place!r}", velocity, (6,))

    return PlanTerm(residuals, target)


def exactly(term: Any) -> PlanTerm:
    """The constraint that the residuals of a function, a goal or a velocity are zero.

    >>> exactly(lambda q, v: v).kind
    'equal'
    """
    return replace(term_of(term), kind="equal")


def not_positive(function: Callable[..., Any]) -> PlanTerm:
    """The constraint that no number is positive which a function of (q, v, u) or (t, q, v, u) gives.

    >>> not_positive(lambda q, v, u: v - 2.0).kind
    'most'
    """
    return replace(term_of(function), kind="most")


def within_limits() -> PlanTerm:
    """The constraint that joints are within the position limits of their file.

    >>> within_limits().kind
    'most'
    """

    def residuals(node: Node, _: list[Scalar]) -> list[Scalar]:
        low, high = limits_of(node.mechanism)
        return [*(end - node.q[i] for i, end in low.items()), *(node.q[i] - end for i, end in high.items())]

    return PlanTerm(residuals, kind="most")


#: Of the tip of a cone, which has no slope [N].
_SMOOTH = 1e-6


def friction_cone(force: Callable[..., Any], friction: float, normal: Sequence[float] = (0.0, 0.0, 1.0)) -> PlanTerm:
    """The constraint that a force presses, and lies within the cone of friction.

    Args:
        force: a function of (q, v, u) or (t, q, v, u) that gives it (3) [N], such as a part of u.
        friction: the coefficient; normal: the direction in which the force presses.

    >>> friction_cone(lambda q, v, u: u[:3], 0.8).kind
    'most'
    """
    unit = np.array(normal) / np.linalg.norm(normal)

    def residuals(node: Node, _: list[Scalar]) -> list[Scalar]:
        f = np.array(node.of(force), dtype=object)
        along = f - (f @ unit) * unit
        return [sqrt(along @ along + _SMOOTH**2) - friction * (f @ unit) - _SMOOTH]

    return PlanTerm(residuals, kind="most")


def term_of(given: Any) -> PlanTerm:
    """A term, or the cost that a goal of inverse kinematics or a function is; an `InputError` for anything else."""
    if isinstance(given, PlanTerm):
        return given
    if isinstance(given, Goal):
        root, goal = given.weight**0.5, given.errors
        return PlanTerm(lambda node, target: [root * x for x in goal(node.posture, target)], lambda m: given.target(m.tree))
    if callable(given):
        return PlanTerm(lambda node, _: node.of(given))
    raise InputError(
        f"{given!r:.60} is not a cost: give a function of (q, v, u) that returns residuals, a goal, or a constraint"
    )


class Terms:
    """The costs and constraints of nodes as programs.

    `targets` are those of the `nodes` (n, size), `bound` is the number of constraints, and `values` gives, of t, q, v, u and
    target, the residuals r of costs and those c of constraints.
    """

    def __init__(self, mechanism: Mechanism, given: Any, size: int, nodes: int, rows: int = 1):
        """Those of a list, or of one; `size`: of actions, 0 at the end; `rows`: how often each node's target is there."""
        self._mechanism, self.nodes = mechanism, nodes
        self._terms = [term_of(one) for one in (given if isinstance(given, list | tuple) else [given])]
        targets, ends = self._aimed()
        self.targets = np.repeat(targets, rows, axis=0)
        kinds: list[str] = []

        def page(t: Any, q: Any, v: Any, u: Any, target: Any) -> dict[str, Any]:
            node, own = Node(mechanism, t, q, v, u), list(target)
            found = [one.residuals(node, own[a:b]) for one, a, b in zip(self._terms, ends, ends[1:], strict=False)]
            kinds[:] = [one.kind for one, values in zip(self._terms, found, strict=True) for _ in values]
            rows = list(zip(kinds, [x for values in found for x in values], strict=True))
            return {"r": [x for kind, x in rows if kind == "cost"], "c": [x for kind, x in rows if kind != "cost"]}

        self._sizes: dict[str, int | tuple[int, ...]] = {"t": (), "q": mechanism.nq, "v": mechanism.nv, "u": size}
        self._sizes["target"] = self.targets.shape[1]
        self.values = trace(page, self._sizes, f"residuals_{mechanism.name}")
        self._equal = [kind == "equal" for kind in kinds if kind != "cost"]
        self.bound = len(self._equal)
        self.listing = f"{self.values} {self._equal}"
        self._sizes |= {"shift": self.bound, "root": ()}
        self.weigh = Kernel(trace(self.weighed, self._sizes, f"cost_{mechanism.name}"))
        self.bend = Kernel(trace(self._bent, self._sizes, f"bent_cost_{mechanism.name}"))

    def _aimed(self) -> tuple[np.ndarray, np.ndarray]:
        """The targets of all nodes (n, size), and where those of each term begin and end."""
        rows = []
        for term in self._terms:
            target = term.target(self._mechanism)
            if target.ndim > 2 or (target.ndim == 2 and len(target) != self.nodes):
                raise InputError(
                    f"{self._mechanism.name}: a target has leading axes {target.shape[:-1]}; give one target, or one for each "
                    f"of the {self.nodes} nodes"
                )
            rows.append(np.broadcast_to(target, (self.nodes, target.shape[-1])))
        return np.hstack(rows), np.cumsum([0, *(row.shape[1] for row in rows)])

    def weighed(self, t: Any, q: Any, v: Any, u: Any, target: Any, shift: Any, root: Scalar) -> dict[str, Any]:
        """The cost, what the constraints add to it, c + y where it counts, and the largest violation of a constraint."""
        found = call(self.values, t, q, v, u, target)
        pushed = self._pushed(found["c"], shift)
        missed = (absolute(c) if equal else c for equal, c in zip(self._equal, found["c"], strict=True))
        violation = reduce(maximum, missed, 0.0)
        cost, added = 0.5 * dot(found["r"], found["r"]), 0.5 * root * root * dot(pushed, pushed)
        return {"cost": cost, "added": added, "pushed": pushed, "violation": violation}

    def _pushed(self, c: Any, shift: Any) -> list[Scalar]:
        sums = [x + y for x, y in zip(c, shift, strict=True)]
        return [x if equal else maximum(x, 0.0) for equal, x in zip(self._equal, sums, strict=True)]

    def _bent(self, t: Any, q: Any, v: Any, u: Any, target: Any, shift: Any, root: Scalar) -> dict[str, Any]:
        """The gradient and the curvature, that of Gauss and Newton, by (ξ, δv, δu), ξ being the displacement of q."""
        given = [[t], list(q), list(v), list(u), list(target)]
        columns: list[list[Scalar]] = []
        for name in ("q", "v", "u")[: 3 if len(u) else 2]:
            program = jacobian(self.values, name)
            found = shaped(program.outputs, inlined(program, given))
            own = [[*r, *c] for r, c in zip(found[f"r_by_{name}"], found[f"c_by_{name}"], strict=True)]
            if name == "q":
                along = [gathered(self._mechanism.tree, q, row) for row in zip(*own, strict=True)]
                own = [list(column) for column in zip(*along, strict=True)]
            columns += own
        sums = [x + y for x, y in zip(found["c"], shift, strict=True)]
        counts = [root if equal else select(x > 0.0, root, 0.0) for equal, x in zip(self._equal, sums, strict=True)]
        weights, r = [1.0] * len(found["r"]) + counts, [*found["r"], *(root * x for x in self._pushed(found["c"], shift))]
        columns = [[w * x for w, x in zip(weights, column, strict=True)] for column in columns]
        lower = [[dot(a, b) for b in columns[: i + 1]] for i, a in enumerate(columns)]
        n = range(len(columns))
        return {"gradient": [dot(a, r) for a in columns], "curvature": [[lower[max(i, j)][min(i, j)] for j in n] for i in n]}
