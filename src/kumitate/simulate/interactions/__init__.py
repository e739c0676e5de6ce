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
    asked: Contact | str | None,
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
    if asked is None:
        return Interaction(mechanism)
    if integrator not in _OF_SCENES:
        needed = f"scenes have no integrator={integrator!r}"
    from ...contact.models import FORCE_MODELS, IMPULSE_MODELS, check_model
    from ...contact.scene import Contact
    from ...contact.settings import as_plain
    from .contact import why_traced

    contact = Contact(asked) if isinstance(asked, str) else asked
    if not isinstance(contact, Contact):
        raise InputError(f"{mechanism.name}: contact is {contact!r:.60}; give a kumitate.Contact, or the name of a model")
    contact = contact.on(mechanism)
    check_model(contact.model, contact.options)
    if contact.model in FORCE_MODELS:
        FORCE_MODELS[contact.model](contact.options, mechanism.tree.mass)  # refuses options
    model: Hashable = FORCE_MODELS.get(contact.model) or IMPULSE_MODELS[contact.model]

    def made() -> Interaction:
        why = why_traced(mechanism, contact, wanted, needed)
        if not why:
            from .scene import SceneContact

            return SceneContact(mechanism, contact)
        check_model(contact.model, contact.options, scene=False)
        from .impulses import ForceContact, ImpulseContact

        kind = ForceContact if contact.model in FORCE_MODELS else ImpulseContact
        return kind.of(mechanism, contact, parameters, why)

    content = asked if isinstance(asked, str) else json.dumps(as_plain(contact))
    key = (mechanism, model, content, wanted, needed, None if parameters is None else parameters.key)
    return _KEPT.get(key, made)
