"""Parameters of friction: dry friction of joints, and the surfaces that touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...model.values import FRACTION, NOT_NEGATIVE
from ..case import Case
from .contract import ParameterKind
from .model import OfJoints

__all__ = ["FLOOR", "Friction", "Restitution"]

#: Stands for the surface of everything that touches, unless it has one of its own.
FLOOR = "floor"


def _surfaces(case: Case) -> list[str]:
    return [] if case.contact is None else [FLOOR, *(name for name in case.contact.surfaces if name != FLOOR)]


def _with_surface(case: Case, targets: Sequence[str], **properties: float) -> Case:
    """The case with these properties of surfaces."""
    contact = case.contact
    assert contact is not None
    surfaces = {
        name: replace(surface, **properties) if name in targets else surface for name, surface in contact.surfaces.items()
    }
    surface = replace(contact.surface, **properties) if FLOOR in targets else contact.surface
    return replace(case, contact=replace(contact, surface=surface, surfaces=surfaces))


class Friction(OfJoints):
    """The dry friction of a joint, or the coefficient of friction of what touches."""

    name, rule = "friction", NOT_NEGATIVE
    meaning = "the dry friction of a joint; or, as friction:floor, the coefficient of friction of what touches"
    units: ClassVar = ("N·m", "N")

    def targets(self, case: Case) -> Sequence[str]:
        return [*super().targets(case), *_surfaces(case)]

    def unit(self, case: Case, target: str) -> str:
        return "1" if target in _surfaces(case) else super().unit(case, target)

    def put(self, case: Case, targets: Sequence[str], value: Any) -> Case:
        touching = [target for target in targets if target in _surfaces(case)]
        return _with_surface(case, touching, friction=value) if touching else super().put(case, targets, value)


class Restitution(ParameterKind):
    """The coefficient of restitution of what touches."""

    name, meaning, rule = "restitution", "the coefficient of restitution of what touches, as restitution:floor", FRACTION

    def targets(self, case: Case) -> Sequence[str]:
        return _surfaces(case)

    def unit(self, case: Case, target: str) -> str:
        return "1"

    def put(self, case: Case, targets: Sequence[str], value: Any) -> Case:
        return _with_surface(case, targets, restitution=value)
