"""The contact of `kumitate simulate --contact`, and the height at which the robot starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..contact.models import FORCE_MODELS, IMPULSE_MODELS
from ..errors import InputError

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from ..model import Mechanism
    from ..robot import Robot

__all__ = ["ContactModel", "Friction", "HullVertices", "Restitution", "asked", "held", "start_on"]

#: The models for `--contact`.
MODELS = (*IMPULSE_MODELS, *FORCE_MODELS)

ContactModel = Annotated[str | None, Parameter(help=f"Contact with the floor z = 0, and its model: {', '.join(MODELS)}.")]
Friction = Annotated[float | None, Parameter(help="Coefficient of friction, with --contact; 0.5 by default.")]
Restitution = Annotated[float | None, Parameter(help="Coefficient of restitution, 0 to 1, with --contact; 0 by default.")]
HullVertices = Annotated[
    int | None,
    Parameter(help="Most vertices of the hulls that meshes touch with, with --contact; 16 by default, fewer compile faster."),
]


def asked(
    model: str | None,
    *,
    friction: float | None,
    restitution: float | None,
    height: float | None,
    hull_vertices: int | None = None,
) -> Contact | None:
    """The contact that the options describe; None without `--contact`.

    Raises:
        InputError: if an option needs `--contact`, or has a value that a surface cannot have.
    """
    if model is None:
        needing = {"--friction": friction, "--restitution": restitution, "--height": height, "--hull-vertices": hull_vertices}
        for option, value in needing.items():
            if value is not None:
                raise InputError(f"{option} {value:g} needs --contact, for example --contact rigid")
        return None
    from ..contact.scene import Contact
    from ..contact.surface import Surface
    from ..renamed import load_papers

    load_papers(model)
    given: dict[str, Any] = {"friction": friction, "restitution": restitution}
    said = {name: value for name, value in given.items() if value is not None}
    hulls: dict[str, Any] = {} if hull_vertices is None else {"hull_vertices": hull_vertices}
    return Contact(model, surface=Surface(**said) if said else None, **hulls)


def start_on(
    contact: Contact | None, mechanism: Mechanism, q: list[float], *, floating: bool, typed: str, height: float | None
) -> list[float]:
    """q, moved up or down so that its lowest point is `height` [m] above the floor.

    Without a height, robots with a floating base are put onto the floor, unless `--q` gives the height of the base; all others
    stay where they are.
    """
    own = any(item.partition("=")[0].strip().endswith(".z") for item in typed.split(","))
    if contact is None or (height is None and (own or not floating)):
        return q
    from ..contact.placement import on_ground

    return on_ground(mechanism, q, contact, height=height or 0.0).tolist()


def held(machine: Robot, q: list[float], contact: Contact | None) -> Robot:
    """The robot with drives that hold it at q, stiff enough for the bodies on which it starts; no body without contact."""
    from ..contact import lowest_bodies
    from ..control import holding_drives

    standing = lowest_bodies(machine.mechanism, q, contact) if contact else []
    return machine.with_drives(holding_drives(machine, q, standing=standing))
