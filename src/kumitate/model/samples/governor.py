"""The stiff flyball governor (A05): a slider on a turning shaft, held by springs and dampers to two arms with balls."""

from __future__ import annotations

import math

from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS, Line
from ..mechanism import WORLD, Mechanism
from ..shapes import Box, Geometry, Sphere
from .linkages import ABOUT_Y, COLORS, DARK, GREY

_LENGTH, _WIDTH, _ROD, _BALL, _SLIDER, _CUBE = 1.0, 0.01, 0.3, 5.0, 3.0, 0.1
_ACROSS = _ROD * (_LENGTH**2 + _WIDTH**2) / 12.0
_ALONG = _ROD * 2.0 * _WIDTH**2 / 12.0


def governor() -> Mechanism:
    """The governor, with its slider at half the shaft's height and its arms level at zero; a positive angle lowers a ball.

    Springs of 8e5 N/m and dampers of 4e4 N·s/m from the sides of the slider, below the hinges, to the middles of the rods make
    its fastest motion settle at 8100 1/s. They are relaxed with the arms 30 deg below level. The balls are points; the
    shaft turns freely.
    """
    shaft = Body("shaft", _ROD, (0.0, 0.0, 0.5), (_ACROSS, _ACROSS, _ALONG), _shaft_drawn())
    cube = _SLIDER * _CUBE**2 / 6.0
    slider = Body("slider", _SLIDER, inertia=(cube, cube, cube), visuals=(Geometry(Box((_CUBE,) * 3), color=COLORS[1]),))
    joints = (
        Joint("spin", KINDS["revolute"], WORLD, "shaft"),
        Joint("slide", KINDS["prismatic"], "shaft", "slider", pose((0.0, 0.0, 0.5))),
        Joint("hinge1", KINDS["revolute"], "shaft", "arm1", pose((0.05, 0.0, 1.0)), ABOUT_Y),
        Joint("hinge2", KINDS["revolute"], "shaft", "arm2", pose((-0.05, 0.0, 1.0), (0.0, 0.0, math.pi)), ABOUT_Y),
    )
    springs = tuple(
        Loop(
            f"spring{k}", Line(), "slider", f"arm{k}", pose((side * 0.5 * _CUBE, 0.0, 0.0)), pose((0.5, 0.0, 0.0)),
            stiffness=8e5, damping=4e4, rest=0.5,
        )
        for k, side in ((1, 1.0), (2, -1.0))
    )  # fmt: skip
    return Mechanism("governor", (shaft, slider, _arm("arm1"), _arm("arm2")), joints, springs)


def _arm(name: str) -> Body:
    """A rod along x with a ball on its end, as one body."""
    mass = _ROD + _BALL
    center = (_ROD * 0.5 * _LENGTH + _BALL * _LENGTH) / mass
    across = _ACROSS + _ROD * (0.5 * _LENGTH - center) ** 2 + _BALL * (_LENGTH - center) ** 2
    drawn = (
        Geometry(Box((_LENGTH, 2.0 * _WIDTH, 2.0 * _WIDTH)), pose((0.5 * _LENGTH, 0.0, 0.0)), COLORS[0]),
        Geometry(Sphere(0.08), pose((_LENGTH, 0.0, 0.0)), COLORS[0]),
    )
    return Body(name, mass, (center, 0.0, 0.0), (_ALONG, across, across), drawn)


def _shaft_drawn() -> tuple[Geometry, ...]:
    column = Geometry(Box((2.0 * _WIDTH, 2.0 * _WIDTH, 1.0)), pose((0.0, 0.0, 0.5)), GREY)
    head = Geometry(Box((0.12, 0.04, 0.04)), pose((0.0, 0.0, 1.0)), DARK)
    return column, head
