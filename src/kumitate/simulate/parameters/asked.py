"""The parameters that a simulation is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...model import Mechanism
from .contract import Plant
from .gains import gains_of
from .variation import Variation

if TYPE_CHECKING:
    from ...contact.scene import Contact

__all__ = ["variation_of"]


def variation_of(
    mechanism: Mechanism, contact: Contact | str | None, sources: Sequence[Any], names: Sequence[str] | str
) -> Variation | None:
    """The parameters of these names of a mechanism, its contact, and the functions that drive it; None without names.

    Raises:
        InputError: as `Variation.of`.
    """
    if not names:
        return None
    if contact is not None:
        from ...contact.scene import Contact  # loaded only where something touches

        contact = (Contact(contact) if isinstance(contact, str) else contact).on(mechanism)
    return Variation.of(Plant(mechanism, contact, gains_of(sources)), names)
