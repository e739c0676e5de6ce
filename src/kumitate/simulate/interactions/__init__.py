"""Interactions of a mechanism with its surroundings: none, contact by impulses or forces, points held on surfaces."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from ...errors import InputError
from ...model import Bound, Mechanism, bounds_of
from ...model.tree.traversal import rolled_runs
from ..stepping.kept import Kept
from .contract import Asked, Interaction

if TYPE_CHECKING:
    from ...contact.held.point import HeldPoint
    from ...contact.scene import Contact

__all__ = ["Asked", "Interaction", "interaction_of"]

_KEPT = Kept[Interaction](32)


def interaction_of(
    mechanism: Mechanism,
    contact: Contact | str | None,
    held: Sequence[HeldPoint] = (),
    held_method: str = "rows",
    *,
    limits: bool = False,
) -> Interaction:
    """The interaction of a mechanism with its surroundings; its modules are loaded on first use.

    `limits`: whether joints stop at their limits. They do not with held points, with the contact model "multipoint", or in
    chains that are compiled as loops.

    Raises:
        InputError: for both contact and held points, an unknown model or method, or options that the model refuses.
    """
    if held or held_method != "rows":
        from ...contact.held.motion import check_method
        from .held import HeldContact

        check_method(held_method)
        if held and contact is not None:
            raise InputError(f"{mechanism.name}: points are held on surfaces or touch them; give `held` or `contact`, not both")
        if held:
            return HeldContact.of(mechanism, held, held_method)
    bounds = tuple(bounds_of(mechanism)) if limits and not rolled_runs(mechanism.base_parameter_tree) else ()
    if contact is not None:
        return _contact(mechanism, contact, bounds)
    if not bounds:
        return Interaction(mechanism)
    from .stops import Stops

    return Stops(mechanism, bounds)


def _contact(mechanism: Mechanism, contact: Contact | str, bounds: tuple[Bound, ...]) -> Interaction:
    from ...contact.models import FORCE_MODELS, IMPULSE_MODELS, STOPPING, check_model
    from ...contact.scene import Contact
    from ...contact.settings import as_plain
    from .forces import ForceContact
    from .impulses import ImpulseContact

    contact = Contact(contact) if isinstance(contact, str) else contact
    if not isinstance(contact, Contact):
        raise InputError(f"{mechanism.name}: contact is {contact!r:.60}; give a kumitate.Contact, or the name of a model")
    check_model(contact.model, contact.options)
    kind: type[ForceContact | ImpulseContact] = ForceContact if contact.model in FORCE_MODELS else ImpulseContact
    model: Hashable = FORCE_MODELS.get(contact.model) or IMPULSE_MODELS[contact.model]
    if contact.model in IMPULSE_MODELS and contact.model not in STOPPING:
        bounds = ()
    key = mechanism, model, json.dumps(as_plain(contact)), bool(bounds)
    return _KEPT.get(key, lambda: kind.of(mechanism, contact, bounds))
