"""The robot of `kumitate simulate` and `kumitate view`, where it starts, what it touches, and what holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..contact.models import FORCE_MODELS, IMPULSE_MODELS
from ..errors import InputError, did_you_mean
from ..scenario.written import number_of
from .options import FixInertia, FloatingBase

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from ..model import Mechanism
    from ..robot import Robot


# --- coordinates by name, as on the command line: "shoulder=30deg, elbow=-0.2" --------------------------------------------
def with_values(text: str, option: str, names: Sequence[str], start: Sequence[float]) -> list[float]:
    """`start` with the values that the text names.

    Args:
        text: "name=value" with commas between; SI units, or degrees as in "30deg".
        option: where the text is from, for messages.
        names: of the components of `start`.

    Raises:
        InputError: for an unknown name or a value that is not a number.

    >>> with_values("b=90deg, a=2", "--q", ("a", "b"), (0.0, 0.0))
    [2.0, 1.5707963267948966]
    """
    values = [float(value) for value in start]
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (part.strip() for part in item.partition("="))
        if not names:
            raise InputError(
                f"{option}: {item!r} names a component, and there are none: all joints are fixed. Leave {option} out"
            )
        if not equals:
            raise InputError(f'{option}: {item!r} is not of the form name=value; write "{names[0]}=0.5" or "{names[0]}=30deg"')
        if name not in names:
            near = did_you_mean(name, names, lead=", ")
            raise InputError(f"{option}: there is no component {name!r}{near}; there are {', '.join(names)}")
        values[list(names).index(name)] = _number(option, item, number)
    return values


def start_by_name(robot: Robot, q: str | None, v: str | None = None) -> tuple[list[float], list[float]]:
    """The robot's start with the values that the texts of --q and --v name; other joints close its loops around these.

    Raises:
        InputError: as `with_values`, and if the loops cannot be closed with these values.

    >>> from kumitate import load
    >>> start_by_name(load("pendulum"), "hinge=90deg", "hinge=2")
    ([1.5707963267948966], [2.0])
    """
    m, (usual_q, usual_v) = robot.mechanism, (list(part) for part in robot.start)
    q0 = with_values(q or "", "--q", m.q_names, usual_q)
    v0 = with_values(v or "", "--v", m.v_names, usual_v)
    if not (q or v) or not (m.loops or m.couplings):
        return q0, v0
    named_q = {name: q0[m.q_names.index(name)] for name in _names(q)}
    named_v = {name: v0[m.v_names.index(name)] for name in _names(v)}
    closed_q, closed_v = robot.state(named_q, named_v)
    return closed_q.tolist(), closed_v.tolist()


def values_by_name(text: str, option: str) -> dict[str, float]:
    """The numbers of a text such as "mass:link3=6, gravity=3.7", by name; errors as of `with_values`."""
    names = _names(text)
    return dict(zip(names, with_values(text, option, names, [0.0] * len(names)), strict=True))


def _names(text: str | None) -> list[str]:
    return [item.partition("=")[0].strip() for item in (text or "").split(",") if item.strip()]


def _number(option: str, item: str, text: str) -> float:
    try:
        return number_of(item, text if text.endswith("deg") else float(text))
    except ValueError:  # of float, or an InputError
        raise InputError(f"{option}: in {item!r}, {text!r} is not a finite number; write 0.5 (SI units) or 30deg") from None


# --- the options ----------------------------------------------------------------------------------------------------------
#: The options that describe a surface or its hulls.
_SURFACE = ("friction", "restitution", "hull_vertices")


@dataclass(frozen=True, kw_only=True)
class Placing:
    """A robot from its file or its name, with its start and its contact, as options of a verb.

    Attributes:
        q: Initial coordinates, "name=value, ...", in SI units; angles also as 30deg. Other joints close loops.
        v: Initial velocities, "name=value, ...", in SI units; angular ones also as 30deg, per second.
        lock: Joints to lock in their initial positions, "name, ...".
        friction: Coefficient of friction, with --contact; 0.5 by default.
        restitution: Coefficient of restitution, 0 to 1, with --contact; 0 by default.
        height: Initial height of the lowest point above the floor [m], with --contact; with --floating-base 0 by default.
        hull_vertices: Most vertices of the hulls that meshes touch with, with --contact; 16 by default, fewer compile faster.
        hold: Joints without drives hold their initial positions, by drives with gains from the inertia.
    """

    floating_base: FloatingBase = False
    fix_inertia: FixInertia = False
    q: str | None = None
    v: str | None = None
    lock: str | None = None
    contact: Annotated[
        str | None,
        Parameter(help=f"Contact with the floor z = 0, and its model: {', '.join((*IMPULSE_MODELS, *FORCE_MODELS))}."),
    ] = None
    friction: float | None = None
    restitution: float | None = None
    height: float | None = None
    hull_vertices: int | None = None
    hold: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    @property
    def surface(self) -> dict[str, Any]:
        """Those of them that describe what touches."""
        return {name: value for name, value in self.given.items() if name in _SURFACE}

    def placed(self, robot: str) -> tuple[Robot, list[float], list[float], Contact | None]:
        """The robot of this name, with the drives that hold it; q and v that it starts at; and what it touches.

        Raises:
            KumitateError: if the file or an option is refused.
        """
        from .. import load

        machine = load(robot, floating_base=self.floating_base, fix_inertia=self.fix_inertia)
        if self.lock:
            machine = machine.locked([joint.strip() for joint in self.lock.split(",")])
        q, v = start_by_name(machine, self.q, self.v)
        contact = touched_by(self)
        q = start_on(self, contact, machine.mechanism, q)
        return (_held(machine, q, contact) if self.hold else machine), q, v, contact


#: Without any option.
AS_IT_IS = Placing()


def touched_by(placing: Placing) -> Contact | None:
    """The contact that the options describe; None without `--contact`.

    Raises:
        InputError: if an option needs `--contact`, or has a value that a surface cannot have.
    """
    if placing.contact is None:
        for name in (*_SURFACE, "height"):
            if name in placing.given:
                option = f"--{name.replace('_', '-')} {placing.given[name]:g}"
                raise InputError(f"{option} needs --contact, for example --contact rigid")
        return None
    from ..contact.scene import Contact
    from ..contact.surface import Surface
    from ..renamed import load_papers

    load_papers(placing.contact)
    said = placing.surface
    hulls = {"hull_vertices": said.pop("hull_vertices")} if "hull_vertices" in said else {}
    return Contact(placing.contact, surface=Surface(**said) if said else None, **hulls)


def start_on(placing: Placing, contact: Contact | None, mechanism: Mechanism, q: list[float]) -> list[float]:
    """q, moved up or down so that its lowest point is `height` [m] above the floor.

    Without a height, robots with a floating base are put onto the floor, unless `--q` gives the height of the base; all others
    stay where they are.
    """
    own = any(item.partition("=")[0].strip().endswith(".z") for item in (placing.q or "").split(","))
    if contact is None or (placing.height is None and (own or not placing.floating_base)):
        return q
    from ..contact.placement import on_ground

    return on_ground(mechanism, q, contact, height=placing.height or 0.0).tolist()


def _held(machine: Robot, q: list[float], contact: Contact | None) -> Robot:
    """The robot with drives that hold it at q, stiff enough for the bodies on which it starts; no body without contact."""
    from ..contact import lowest_bodies
    from ..control import holding_drives

    standing = lowest_bodies(machine.mechanism, q, contact) if contact else []
    return machine.with_drives(holding_drives(machine, q, standing=standing))
