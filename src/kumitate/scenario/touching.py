"""The parts of a scenario that say what touches: the contact of bodies and the surfaces that points are held on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, fields, replace
from functools import partial
from typing import Any

from ..contact import FORCE_MODELS, IMPULSE_MODELS, Contact, Surface
from ..contact.scene import ACCURACIES
from ..contact.surface import SURFACE_RULES
from ..errors import InputError
from ..held import CylinderSurface, HeldPoint, PlaneSurface, SphereSurface
from ..model.values import NOT_NEGATIVE, checked_numbers, shown
from ..renamed import load_papers
from .laws import ControlLaw
from .setup import Described
from .written import Section, number_of, text_of

#: Surfaces that points are held on, by name.
HELD_ON = {"plane": PlaneSurface, "sphere": SphereSurface, "cylinder": CylinderSurface}


# --- contact ----------------------------------------------------------------------------------------------------------


def read_contact(top: Section, setup: Described) -> Described:
    """The setup with the contact that is asked for."""
    given = top.values.get("contact")
    if given is None:
        if setup.height is not None:
            top.mistakes.add(("start", "height"), "is a height above the floor, and there is no contact; write contact: rigid")
        return setup
    known = (
        "model", *SURFACE_RULES, "surfaces", "pairs", "between", "apart", "groups", "options", "hull_vertices", "accuracy",
    )  # fmt: skip
    section = Section({"model": given} if isinstance(given, str) else given, ("contact",), top.mistakes, known)
    load_papers(section.values.get("model"))
    model = section.text("model", (*IMPULSE_MODELS, *FORCE_MODELS), "rigid")
    bodies = (*(body.name for body in setup.mechanism.bodies), "ground")
    surfaces = section.section("surfaces", bodies)
    own = (*SURFACE_RULES, "belt")
    named = {name: _surface(surfaces.section(name, own), belt=True) for name in surfaces.values if name in bodies}
    between = section.take("between", lambda value: value if value == "all" else _pairs(value, bodies))
    apart = section.take("apart", lambda value: _pairs(value, bodies)) or ()
    usual = not any(rule in section for rule in SURFACE_RULES)
    with top.mistakes.catching(("contact",)):
        contact = Contact(
            model, surface=None if usual else _surface(section), surfaces=named, pairs=_surfaces_of_pairs(section, bodies),
            between=between, apart=apart, groups=section.section("groups", bodies).values,
            options=section.section("options").values, hull_vertices=section.whole("hull_vertices", 4, 16),
            accuracy=section.text("accuracy", ACCURACIES, ACCURACIES[0]),
        )  # fmt: skip
        return replace(setup, contact=contact)
    return setup


def _surface(part: Section, *, belt: bool = False) -> Surface:
    """The surface that a section describes among other things; `belt`: whether it may be one."""
    found = {key: part.number(key, rule) for key, rule in SURFACE_RULES.items() if key in part}
    found |= {"belt": part.take("belt", lambda given: _vector("belt [m/s]", given))} if belt else {}
    with part.mistakes.catching(part.at):
        return Surface(**{key: value for key, value in found.items() if value is not None})
    return Surface()


def _surfaces_of_pairs(section: Section, bodies: Collection[str]) -> dict[tuple[str, str], Any]:
    """The surfaces of pairs, from sections that name two bodies each."""
    given, at = section.values.get("pairs"), (*section.at, "pairs")
    if given is not None and not isinstance(given, list):
        section.mistakes.add(
            at, f"is {shown(given)}; write a list, each with two bodies: [{{bodies: [one, other], friction: 0.1}}]"
        )
        return {}
    found: dict[tuple[str, str], Any] = {}
    for k, item in enumerate(given or ()):
        part = Section(item, (*at, k), section.mistakes, ("bodies", *SURFACE_RULES))
        with section.mistakes.catching(part.at):
            if "bodies" not in part:
                raise InputError("names no bodies; write bodies: [one, other]")
            pair = part.take("bodies", lambda value: _pair(value, bodies))
            surface = _surface(part)
            if pair is not None and ({pair, pair[::-1]} & set(found)):
                raise InputError(f"is the second surface of {pair[0]!r} and {pair[1]!r}; keep one")
            if pair is not None:
                found[pair] = surface
    return found


def _pairs(given: Any, bodies: Collection[str]) -> list[tuple[str, str]]:
    if not isinstance(given, list):
        raise InputError(f"is {shown(given)}; write pairs of bodies, [[one, other]]")
    return [_pair(pair, bodies) for pair in given]


def _pair(given: Any, bodies: Collection[str]) -> tuple[str, str]:
    if not isinstance(given, list) or len(given) != 2:
        raise InputError(f"is {shown(given)}; write pairs of bodies, [one, other]")
    one, other = (text_of("body", name, bodies) for name in given)
    if one == other:
        raise InputError(f"is of {one!r} against itself; write two different bodies")
    return one, other


# --- points held on surfaces ------------------------------------------------------------------------------------------
def read_held(top: Section, setup: Described) -> Described:
    """The setup with the points that are held on surfaces, by name; they are on the body or frame of that name unless told."""
    section, held, places = top.section("held"), [], setup.mechanism.tree.places
    for name, given in section.values.items():
        given = {"body": name, **given} if isinstance(given, dict) else given
        part = Section(given, (*section.at, name), top.mistakes, ("body", "point", "surface", "friction"))
        with top.mistakes.catching(part.at):
            body, point = (
                part.text("body", places, name),
                part.take("point", partial(_vector, "the point [m]"), (0.0, 0.0, 0.0)),
            )
            held.append(HeldPoint(body, point, _held_on(part), part.number("friction", NOT_NEGATIVE, 0.0), str(name)))
    return replace(setup, held=tuple(held))


def _held_on(part: Section) -> Any:
    """The surface of a held point: the floor, one by name, or a function of a file."""
    given, at = part.values.get("surface", "plane"), (*part.at, "surface")
    given = {"kind": given} if isinstance(given, str) else given
    if isinstance(given, ControlLaw):
        return given
    kind = HELD_ON[Section(given, at, part.mistakes, ()).text("kind", HELD_ON, "plane")]
    numbers = {one.name: one.default is MISSING for one in fields(kind)}  # the others are vectors
    section = Section(given, at, part.mistakes, ("kind", *numbers))
    for name, needed in numbers.items():
        if needed and name not in section:
            raise InputError(f"the surface has no {name}; write a number, {name}: 0.5")
    return kind(**{
        name: number_of(name, section.values[name]) if needed else _vector(name, section.values[name])
        for name, needed in numbers.items() if name in section
    })  # fmt: skip


def _vector(what: str, given: Any) -> tuple[float, ...]:
    numbers = [number_of(what, value) for value in given] if isinstance(given, list) else given
    return checked_numbers("scenario", what, numbers, 3, error=InputError)
