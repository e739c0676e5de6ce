"""Loops and couplings as equality constraints of MJCF, between sites at the two ends; springs as tendons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.etree.ElementTree import Element, SubElement

from ...spatial import Transform, pose
from ..elements import Limits, Loop
from ..mechanism import Mechanism
from ..read.notes import Notes
from .inexpressible import note_fields
from .numbers import numbers, quaternion, xyz

_SOFT = "loops and couplings, written as constraints of MuJoCo, which are soft and open under load"
#: Fields of loops that are written, for all kinds; those of springs in addition.
_PLACES = {"name", "kind", "body_a", "body_b", "pose_a", "pose_b", "axis", "second_axis"}
_SPRING = {"stiffness", "rest", "damping", "friction"}


def write_loops(model: Element, bodies: Mapping[str, Element], mechanism: Mechanism, notes: Notes) -> None:
    """Adds the loops to a model whose bodies are there; notes those that cannot be expressed."""
    lever = 0.5 * mechanism.tree.size
    for loop in mechanism.loops:
        writer = _WRITERS.get(loop.kind.name)
        if writer is None:
            notes.add(f"loops of the kind {loop.kind.name}, left out: the mechanism moves otherwise", loop.name)
            continue
        note_fields(loop, _PLACES | (_SPRING if writer is _spring else set()), "loops'", notes)
        writer(model, bodies, loop, lever, notes)


def write_couplings(model: Element, mechanism: Mechanism, notes: Notes) -> None:
    """Adds the couplings."""
    for item in mechanism.couplings:
        notes.add(_SOFT, item.name)
        polynomial = numbers([item.offset, item.ratio, 0.0, 0.0, 0.0])
        SubElement(
            _section(model, "equality"), "joint", name=item.name, joint1=item.joint, joint2=item.of, polycoef=polynomial
        )  # fmt: skip


def _ball(model: Element, bodies: Mapping[str, Element], loop: Loop, lever: float, notes: Notes) -> None:
    notes.add(_SOFT, loop.name)
    ends = _sites(bodies, loop)
    SubElement(_section(model, "equality"), "connect", name=loop.name, site1=ends[0], site2=ends[1])


def _weld(model: Element, bodies: Mapping[str, Element], loop: Loop, lever: float, notes: Notes) -> None:
    notes.add(_SOFT, loop.name)
    ends = _sites(bodies, loop)
    SubElement(_section(model, "equality"), "weld", name=loop.name, site1=ends[0], site2=ends[1])


def _hinge(model: Element, bodies: Mapping[str, Element], loop: Loop, lever: float, notes: Notes) -> None:
    """Two points on the axis: five constraints, and one more that follows from them."""
    notes.add(_SOFT, loop.name)
    for end, side in (("low", -lever), ("high", lever)):
        shift = pose([side * part for part in loop.axis])
        ends = _sites(bodies, loop, f".{end}", shift)
        SubElement(_section(model, "equality"), "connect", name=f"{loop.name}.{end}", site1=ends[0], site2=ends[1])


def _spring(model: Element, bodies: Mapping[str, Element], loop: Loop, lever: float, notes: Notes) -> None:
    """A line with a spring and a damper is a tendon between two sites."""
    if loop.limits[0] != Limits():
        notes.add("limits of lines, left out", loop.name)
    ends = _sites(bodies, loop)
    values = {"stiffness": loop.stiffness, "damping": loop.damping, "frictionloss": loop.friction, "springlength": loop.rest}
    given = {name: numbers(value) for name, value in values.items()}  # type: ignore[arg-type]
    tendon = SubElement(_section(model, "tendon"), "spatial", given, name=loop.name)
    for end in ends:
        SubElement(tendon, "site", site=end)


#: By the kind of a loop, what adds it: (model, bodies by name, loop, half the distance of points on an axis [m], notes).
_WRITERS: dict[str, Callable[[Element, Mapping[str, Element], Loop, float, Notes], None]] = {
    "spherical": _ball, "fixed": _weld, "revolute": _hinge, "line": _spring,
}  # fmt: skip


def _sites(bodies: Mapping[str, Element], loop: Loop, suffix: str = "", shift: Transform | None = None) -> tuple[str, str]:
    """The names of the sites at the two ends, moved by `shift` in the loop's frames."""
    names = (f"{loop.name}{suffix}.a", f"{loop.name}{suffix}.b")
    for name, body, at in zip(names, (loop.body_a, loop.body_b), (loop.pose_a, loop.pose_b), strict=True):
        there = at if shift is None else at @ shift
        SubElement(bodies[body], "site", name=name, pos=xyz(there), quat=numbers(quaternion(there)))
    return names


def _section(model: Element, tag: str) -> Element:
    found = model.find(tag)
    return SubElement(model, tag) if found is None else found
