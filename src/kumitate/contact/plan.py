"""What contact of a mechanism will be: which bodies may touch, how that is computed and why, and what it costs beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Mechanism
from . import tuned
from .scene import Contact, Pair, Touchable
from .surface import Surface, VariedSurface

#: Operations of a traced step, fitted to balls and bricks: per point with the world; per pair of moving links, per point of
#: these. They are those of all steps and sweeps that the solver may take.
_WORLD_POINT, _BETWEEN, _BETWEEN_POINT = 2.6e6, 8e5, 3.8e6
#: Time to trace and compile an operation [s], on a processor of 2023.
_SECONDS = 6e-8
#: How many times as many operations, and how much longer, where few bodies may be solved by multipliers too (`impulse.cones`).
_BY_CONES, _LONGER = 5.7, 1.6
#: More pairs than this are printed by kinds.
_LISTED = 20


@dataclass(frozen=True)
class PlannedPair:
    """Two bodies that may touch by two of their shapes.

    Attributes:
        bodies: their names; the second may be "ground"; shapes: the kinds of their shapes.
        points: at most so many.
        surface: what holds between them.
    """

    bodies: tuple[str, str]
    shapes: tuple[str, str]
    points: int
    surface: Surface | VariedSurface

    @property
    def material(self) -> str:
        """The numbers of its surface that are not the usual ones."""
        one = self.surface
        if not isinstance(one, Surface):
            return "by parameters"
        units = {"restitution": "", "threshold": " m/s", "torsional": " m", "rolling": " m", "damping": " N s/m"}
        found = [f"friction {one.friction:g}" + ("" if one.one_friction else f", {one.kinetic:g} sliding")]
        found += [f"{name} {getattr(one, name):g}{unit}" for name, unit in units.items() if getattr(one, name)]
        return ", ".join(found + ([] if one.stiffness is None else [f"stiffness {one.stiffness:g} N/m"]))


@dataclass(frozen=True)
class ContactPlan:
    """What contact of a mechanism will be; as text, a report.

    Attributes:
        solver: "traced", "scene" or "penalty"; why: the reason, in words.
        pairs: all pairs of shapes that may touch.
        operations: estimated, of a step in which the solver takes all its passes; None for scenes, whose pairs are lists.
        seconds: estimated, to trace and compile what nobody has compiled before.
        traced_seconds: the same for code of its own, of contact that goes through lists; None where there is none.
    """

    solver: str
    why: str
    pairs: tuple[PlannedPair, ...]
    operations: int | None
    seconds: float | None
    traced_seconds: float | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """Numbers, texts, lists and dictionaries."""
        pairs = [
            {"bodies": list(pair.bodies), "shapes": list(pair.shapes), "points": pair.points, "material": pair.material}
            for pair in self.pairs
        ]
        return {
            "solver": self.solver, "why": self.why, "pairs": pairs, "operations": self.operations, "seconds": self.seconds,
            "traced_seconds": self.traced_seconds,
        }  # fmt: skip

    def __str__(self) -> str:
        groups: dict[tuple[str, str, str], list[PlannedPair]] = {}
        for pair in self.pairs:
            names = " on ".join(pair.bodies) if len(self.pairs) <= _LISTED else ""
            shapes = " on ".join(pair.shapes if names else sorted(pair.shapes))
            groups.setdefault((names, shapes, pair.material), []).append(pair)
        counted = f"{len(self.pairs)} pair{'' if len(self.pairs) == 1 else 's'} of shapes, at {_points(self.pairs)},"
        lines = [f"contact: {self.solver}, as {self.why}", f"{counted} may touch{self._cost}"]
        for (names, shapes, material), pairs in groups.items():
            lines.append(f"  {names or len(pairs)}{': ' if names else ' times '}{shapes}, {_points(pairs)}; {material}")
        return "\n".join(lines)

    @property
    def _cost(self) -> str:
        if self.seconds is None:
            return ""
        steps = "" if self.operations is None else f", steps of at most {self.operations / 1e6:.1f} million operations"
        told = f"; compiling takes about {self.seconds:.1f} s, and none once it is on the disk{steps} (estimated)"
        if self.traced_seconds is not None:
            told += f". Code of its own, as batches and derivatives have, takes about {self.traced_seconds:.1f} s"
        return told


def _points(pairs: Sequence[PlannedPair]) -> str:
    most = sum(pair.points for pair in pairs)
    return "1 point" if most == 1 else f"up to {most} points"


def pairs_traced(pairs: Sequence[Pair], freedoms: int) -> tuple[tuple[PlannedPair, ...], int, float]:
    """The pairs of a traced step of so many degrees of freedom, its operations and the time to compile it [s]."""
    listed: list[PlannedPair] = []
    between: set[tuple[int, int]] = set()
    operations = 0.0
    for pair in pairs:
        kinds = (pair.geometries[0].shape.kind, pair.geometries[1].shape.kind)
        listed.append(PlannedPair(pair.bodies, kinds, pair.capacity, pair.surface))
        if pair.links[1] >= 0:
            between.add(pair.links)
        operations += pair.capacity * (_WORLD_POINT if pair.links[1] < 0 else _BETWEEN_POINT)
    operations += len(between) * _BETWEEN
    plain = not any(pair.surface.turns or pair.surface.stiffness for pair in pairs)
    few = not between and freedoms > tuned.FEWEST_JOINTS and sum(pair.points for pair in listed) > min(tuned.FEW, freedoms // 2)
    if plain and not few and freedoms <= tuned.FEW_FREEDOMS:
        return tuple(listed), int(_BY_CONES * operations), _LONGER * _SECONDS * operations
    return tuple(listed), int(operations), _SECONDS * operations


def pairs_of_scene(mechanism: Mechanism, contact: Contact) -> tuple[PlannedPair, ...]:
    """The pairs of a scene."""
    from .pairs.rows.solids import MOST  # with the procedures of scenes

    found, listed = Touchable.of(mechanism, mechanism.tree, contact), []
    for (a, _, one), (b, _, other) in found.pairs(mechanism.tree):
        shapes = (one.shape.kind, other.shape.kind)
        listed.append(PlannedPair((a, b), shapes, 1 if "sphere" in shapes else MOST, contact.where(a, b, (one, other))))
    return tuple(listed)
