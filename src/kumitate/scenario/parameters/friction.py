"""Parameters of friction: dry friction of joints, and the surfaces that touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...model.values import FRACTION, NOT_NEGATIVE
from ..setup import Setup
from .contract import ParameterKind
from .model import OfJoints

__all__ = ["FLOOR", "Friction", "Restitution"]

#: Stands for the surface of everything that touches, unless it has one of its own.
FLOOR = "floor"


def _surfaces(setup: Setup) -> list[str]:
    return [] if setup.contact is None else [FLOOR, *(name for name in setup.contact.surfaces if name != FLOOR)]


def _with_surface(setup: Setup, targets: Sequence[str], **properties: float) -> Setup:
    """The setup with these properties of surfaces."""
    contact = setup.contact
    assert contact is not None
    surfaces = {
        name: replace(surface, **properties) if name in targets else surface for name, surface in contact.surfaces.items()
    }
    surface = replace(contact.surface, **properties) if FLOOR in targets else contact.surface
    return replace(setup, contact=replace(contact, surface=surface, surfaces=surfaces))


class Friction(OfJoints):
    """The dry friction of a joint, or the coefficient of friction of what touches."""

    name, rule = "friction", NOT_NEGATIVE
    meaning = "the dry friction of a joint; or, as friction:floor, the coefficient of friction of what touches"
    units: ClassVar = ("N·m", "N")

    def targets(self, setup: Setup) -> Sequence[str]:
        return [*super().targets(setup), *_surfaces(setup)]

    def unit(self, setup: Setup, target: str) -> str:
        return "1" if target in _surfaces(setup) else super().unit(setup, target)

    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        touching = [target for target in targets if target in _surfaces(setup)]
        return _with_surface(setup, touching, friction=value) if touching else super().put(setup, targets, value)


class Restitution(ParameterKind):
    """The coefficient of restitution of what touches."""

    name, meaning, rule = "restitution", "the coefficient of restitution of what touches, as restitution:floor", FRACTION

    def targets(self, setup: Setup) -> Sequence[str]:
        return _surfaces(setup)

    def unit(self, setup: Setup, target: str) -> str:
        return "1"

    def put(self, setup: Setup, targets: Sequence[str], value: Any) -> Setup:
        return _with_surface(setup, targets, restitution=value)
