"""The part of a scenario that says what touches: the model, the surfaces of bodies and of pairs, which bodies may touch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ..errors import InputError, did_you_mean
from ..model.values import checked_numbers, shown
from ..renamed import load_papers
from .mistakes import Section
from .setup import Described


def read_contact(top: Section, setup: Described) -> Described:
    """The setup with the contact that is asked for."""
    given = top.values.get("contact")
    if given is None:
        if setup.height is not None:
            top.mistakes.add(("start", "height"), "is a height above the floor, and there is no contact; write contact: rigid")
        return setup
    from ..contact.models import FORCE_MODELS, IMPULSE_MODELS
    from ..contact.scene import Contact
    from ..contact.surface import SURFACE_RULES

    known = ("model", *SURFACE_RULES, "surfaces", "pairs", "between", "apart", "groups", "options", "hull_vertices")
    section = Section({"model": given} if isinstance(given, str) else given, ("contact",), top.mistakes, known)
    load_papers(section.values.get("model"))
    model = section.text("model", (*IMPULSE_MODELS, *FORCE_MODELS), "rigid")
    bodies = (*(body.name for body in setup.mechanism.bodies), "ground")
    surfaces = section.section("surfaces", bodies)
    named = {
        name: _surface(surfaces.section(name, (*SURFACE_RULES, "belt")), belt=True)
        for name in surfaces.values
        if name in bodies
    }
    between = section.take("between", lambda value: value if value == "all" else _pairs(value, bodies))
    apart = section.take("apart", lambda value: _pairs(value, bodies)) or ()
    own = not any(rule in section for rule in SURFACE_RULES)
    with top.mistakes.catching(("contact",)):
        contact = Contact(
            model, surface=None if own else _surface(section), surfaces=named, pairs=_surfaces_of_pairs(section, bodies),
            between=between, apart=apart, groups=section.section("groups", bodies).values,
            options=section.section("options").values, hull_vertices=section.whole("hull_vertices", 4, 16),
        )  # fmt: skip
        return replace(setup, contact=contact)
    return setup


def _surface(part: Section, *, belt: bool = False) -> Any:
    """The surface that a section describes among other things; `belt`: whether it may be one."""
    from ..contact.surface import SURFACE_RULES, Surface

    found = {key: part.number(key, rule) for key, rule in SURFACE_RULES.items() if key in part}
    if belt:
        found["belt"] = part.take("belt", lambda value: checked_numbers("contact", "belt [m/s]", value, 3, error=InputError))
    with part.mistakes.catching(part.at):
        return Surface(**{key: value for key, value in found.items() if value is not None})
    return Surface()


def _surfaces_of_pairs(section: Section, bodies: Collection[str]) -> dict[tuple[str, str], Any]:
    """The surfaces of pairs, from sections that name two bodies each."""
    from ..contact.surface import SURFACE_RULES

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
    for name in given:
        if name not in bodies:
            near = did_you_mean(name, bodies, lead=", ")
            raise InputError(f"there is no body {shown(name)}{near}; there are {', '.join(bodies)}")
    if given[0] == given[1]:
        raise InputError(f"is of {given[0]!r} against itself; write two different bodies")
    return given[0], given[1]
