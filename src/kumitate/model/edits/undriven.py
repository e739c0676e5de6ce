"""The check that joints which an edit takes away have no drives, which would be lost with them."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import ModelError
from ..mechanism import Mechanism


def check_undriven(mechanism: Mechanism, joints: Iterable[str], what: str) -> None:
    """Refuses to take away joints that have drives; `what` is done to them, for the message.

    Raises:
        ModelError: naming the joint.
    """
    driven = {item.name: item.drive for item in mechanism.driven}
    for name in joints:
        if name in driven:
            raise ModelError(
                f"{mechanism.name}: joint {name!r} {what}, but it has a {driven[name].kind} drive, which would be lost with "
                f"its target; take the drive out first, by mechanism.with_drives({{{name!r}: None}})"
            )
