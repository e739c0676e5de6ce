"""Interactions of a mechanism with its surroundings: none, contact by impulses or forces, points held on surfaces."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from ...errors import InputError
from ...model import Mechanism
from ..kept import Kept
from ..parameters import Variation
from ..stepping.interaction import Asked, Interaction, StepDesign

if TYPE_CHECKING:
    from ...contact.scene import Contact
    from ...held.point import HeldPoint

__all__ = ["Asked", "Interaction", "StepDesign", "interaction_of"]

_KEPT = Kept[Interaction](32)
#: The integrators of scenes, and "auto".
_OF_SCENES = ("auto", "time_stepping", "semi_implicit_euler")


def interaction_of(
    mechanism: Mechanism,
    contact: Contact | str | None,
    held: Sequence[HeldPoint] = (),
    held_method: str = "rows",
    parameters: Variation | None = None,
    integrator: str = "auto",
    *,
    wanted: str = "",
    needed: str = "",
) -> Interaction:
    """The interaction of a mechanism with its surroundings; its modules are loaded on first use.

    `wanted`, `needed`: why contact is traced pair by pair, as of `contact.why_traced`.
    """
    if held:
        from .held import HeldContact, HeldDynamics, HeldPoints

        return HeldContact(mechanism, HeldDynamics(HeldPoints(mechanism, held), held_method))
    if contact is None:
        return Interaction(mechanism)
    from ...contact.models import FORCE_MODELS, IMPULSE_MODELS, check_model
    from ...contact.scene import Contact
    from ...contact.settings import as_plain
    from .contact import why_traced

    asked = Contact(contact) if isinstance(contact, str) else contact
    if not isinstance(asked, Contact):
        raise InputError(f"{mechanism.name}: contact is {asked!r:.60}; give a kumitate.Contact, or the name of a model")
    own, needed = asked.on(mechanism), needed if integrator in _OF_SCENES else f"scenes have no integrator={integrator!r}"
    check_model(own.model, own.options)
    if own.model in FORCE_MODELS:
        FORCE_MODELS[own.model](own.options, mechanism.tree.mass)  # refuses options

    def made() -> Interaction:
        why = why_traced(mechanism, own, wanted, needed)
        if not why:
            from .scene import SceneContact

            return SceneContact(mechanism, own)
        check_model(own.model, own.options, scene=False)
        from .impulses import ForceContact, ImpulseContact

        return (ForceContact if own.model in FORCE_MODELS else ImpulseContact).of(mechanism, own, parameters, why)

    model: Hashable = FORCE_MODELS.get(own.model) or IMPULSE_MODELS[own.model]
    content = contact if isinstance(contact, str) else json.dumps(as_plain(own))
    key = (mechanism, model, content, wanted, needed, None if parameters is None else parameters.key)
    return _KEPT.get(key, made)
