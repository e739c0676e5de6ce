"""A contact as plain data for the settings of a run, and its ground from these data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..model import KINDS, WORLD, Body, Geometry, Joint, Mechanism
from ..model.read.json import from_json, to_json
from .scene import FLOOR, GROUND, USUAL, Contact


def as_plain(contact: Contact | str) -> dict[str, Any]:
    """The contact as numbers, strings, lists and dictionaries; its ground as a mechanism in kumitate's JSON format."""
    contact = Contact(contact) if isinstance(contact, str) else contact
    between = contact.between
    held = Joint(GROUND, KINDS["fixed"], WORLD, GROUND)
    ground = Mechanism(GROUND, (Body(GROUND, collisions=FLOOR if contact.ground is None else tuple(contact.ground)),), (held,))
    return {
        "model": contact.model,
        "ground": json.loads(to_json(ground)),
        "surface": asdict(contact.surface or USUAL),
        "own_friction": contact.surface is None,
        "surfaces": {name: asdict(surface) for name, surface in contact.surfaces.items()},
        "pairs": [[*pair, asdict(surface)] for pair, surface in contact.pairs.items()],
        "between": between if between is None or isinstance(between, str) else [list(pair) for pair in between],
        "apart": [list(pair) for pair in contact.apart],
        "groups": {name: list(bits) for name, bits in contact.groups.items()},
        "hull_vertices": contact.hull_vertices,
        "accuracy": contact.accuracy,
        "options": dict(contact.options),
    }


def ground_of(settings: Mapping[str, Any]) -> tuple[Geometry, ...]:
    """The shapes fixed in the world of a run, from its settings; empty for a run without contact."""
    asked = settings.get("contact")
    return from_json(json.dumps(asked["ground"])).bodies[0].collisions if isinstance(asked, Mapping) else ()
