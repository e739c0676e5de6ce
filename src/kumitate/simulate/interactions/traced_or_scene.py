"""Whether rigid contact of a mechanism is traced pair by pair, or computed as a scene of many bodies."""

from __future__ import annotations

import warnings

from ...contact.scene import Contact, contact_pairs
from ...contact.scenes.parts import free_links
from ...errors import InputError, KumitateWarning, ModelError
from ...model import Mechanism

__all__ = ["ALONE", "FEWEST", "is_scene", "why_traced"]

#: Mechanisms of fewer free bodies have each pair of shapes traced into their own code, which is faster for few pairs: of one
#: body; and of two beside a robot, or with functions of the state, which scenes call from Python at every step.
FEWEST, ALONE = 3, 2
#: Up to so many bodies can be traced where that is asked for: six bricks take minutes to compile.
MOST_TRACED = 4


def is_scene(mechanism: Mechanism, contact: Contact, *, traced: bool, called: bool) -> bool:
    """Whether contact of a mechanism is a scene: rigid contact of `FEWEST` free bodies and more, robots beside them, or of two.

    So is that of fewer bodies with shapes that cannot be traced against each other, such as a box on a larger hull.

    Args:
        traced: whether few bodies should be traced nevertheless.
        called: whether functions of the state act on it, or joints follow motions.

    Raises:
        InputError: for belts where they are not computed.
    """
    bodies = len(free_links(mechanism))
    if contact.belts:
        _check_belts(mechanism, contact)
        return True
    if contact.model != "rigid" or (traced and bodies <= MOST_TRACED):
        return False
    alone = bodies == len(mechanism.tree.links) and not called
    if bodies < (ALONE if alone else FEWEST) and not _needs_any_convex(mechanism, contact):
        return False
    return not _fault_of(mechanism, contact)


def why_traced(mechanism: Mechanism, contact: Contact) -> str:
    """Why contact of a mechanism is not computed as a scene."""
    bodies = len(free_links(mechanism))
    if contact.model != "rigid":
        return f"scenes have no {contact.model} contact"
    if bodies < (ALONE if bodies == len(mechanism.tree.links) else FEWEST):
        few = "1 is" if bodies == 1 else f"{bodies} are"
        return f"scenes begin with {FEWEST} free bodies, or {ALONE} alone, and {few} free"
    traced = f"up to {MOST_TRACED} free bodies are traced for batches, outputs and parameters, {ALONE} also for functions"
    return _fault_of(mechanism, contact) or traced


def _fault_of(mechanism: Mechanism, contact: Contact) -> str:
    """Why a mechanism is not a scene of free bodies and robots, or ""."""
    from ...contact.scenes.building import fault_of  # with the procedures of scenes: loaded where there may be one

    return fault_of(mechanism, contact)


def _needs_any_convex(mechanism: Mechanism, contact: Contact) -> bool:
    """Whether only the routines for any two convex solids find the points of some pair of shapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # of meshes: said by whatever simulates the contact
        try:
            contact_pairs(mechanism, mechanism.tree, contact)
        except ModelError:
            return True
        except InputError:
            return False
    return False


def _check_belts(mechanism: Mechanism, contact: Contact) -> None:
    """Refuses belts where they are not computed."""
    other = "" if contact.model == "rigid" else f"only rigid contact has belts, not {contact.model}"
    if fault := other or _fault_of(mechanism, contact):
        raise InputError(
            f"{mechanism.name}: the surface of {contact.belts[0]!r} is a belt, which moves; but {fault}. Leave the belt out"
        )
