"""Contact of bodies, and whether it is traced pair by pair or computed as a scene of many bodies."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...contact.models import FORCE_MODELS
from ...contact.models.penalty import FALL
from ...contact.pairs.own_points import warn_of_thin_boxes
from ...contact.parting import SHRINKS, THROWN
from ...contact.scene import Contact, Pair, contact_pairs
from ...contact.scenes.parts import free_links
from ...contact.settings import as_plain
from ...errors import InputError, KumitateWarning, ModelError
from ...model import Mechanism
from ..driving.forcing import Overlaps
from ..results.contact_record import throws
from ..stepping.interaction import Interaction, content_of


@dataclass(frozen=True, eq=False)
class ContactOfBodies(Interaction):
    """Contact of the bodies of a mechanism with each other and with the ground."""

    mechanism: Mechanism
    contact: Contact

    @property
    def key(self) -> Hashable:  # type: ignore[override]
        """The object itself: there is one per mechanism and content."""
        return self

    @cached_property
    def plain(self) -> dict[str, Any]:  # type: ignore[override]
        """The contact as numbers, texts, lists and dictionaries."""
        return as_plain(self.contact)


class TracedContact(ContactOfBodies):
    """Contact that is traced pair by pair, in the code of the steps of one robot.

    Attributes:
        pairs: the shapes that may touch; model: the class or function of the contact's model.
    """

    pairs: list[Pair]
    model: Any

    @cached_property
    def content(self) -> str | None:  # type: ignore[override]
        """The contact and the shapes that can touch, as text."""
        varied = () if self.parameters is None else (self.parameters.key,)
        return content_of(self.model, self.contact, self.pairs, *varied)

    def warn(self) -> None:
        """Warns as `warn_of_thin_boxes` does."""
        warn_of_thin_boxes(self.mechanism.name, self.pairs)

    @property
    def owners(self) -> list[Pair]:
        """The pair of each point."""
        return [pair for pair in self.pairs for _ in range(pair.capacity)]

    @property
    def touching_bodies(self) -> list[tuple[str, str]]:
        return [pair.bodies for pair in self.owners]

    @abstractmethod
    def gaps(self, q: np.ndarray) -> np.ndarray:
        """The gaps (m) of all points at q (nq) [m]."""

    @abstractmethod
    def stored(self, gaps: np.ndarray) -> np.ndarray:
        """The energy (m) of the springs of points with these gaps [J]; zero of points that are rigid."""

    def overlaps(self, q: np.ndarray) -> Overlaps | None:
        """Those of points with springs, if these would throw the mechanism up (`THROWN`)."""
        depths = self._depths(q)
        return Overlaps(self._depths, len(depths), SHRINKS) if depths.any() else None

    def _depths(self, q: np.ndarray) -> np.ndarray:
        """The depths (m) of points with springs at q (nq), if these would throw the mechanism up; else zeros."""
        gaps = self.gaps(q)
        energy = self.stored(gaps)
        thrown = energy.sum() >= THROWN * self.mechanism.tree.mass * FALL
        return np.where(energy > 0.0, np.maximum(-gaps, 0.0), 0.0) * thrown

    def thrown(self, gaps: np.ndarray, *, slowly: bool) -> tuple[str, ...]:
        """The warning of `throws` about a start with these gaps (m) [m]."""
        return throws(self.mechanism, self.touching_bodies, gaps, self.stored(gaps), slowly)


class Begins(NamedTuple):
    """Where scenes begin for a model of contact.

    Attributes:
        fewest: the number of free bodies from which on contact is a scene; alone: without robots and functions of the state.
        traced: options that only the traced code has.
    """

    fewest: int
    alone: int
    traced: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Where they begin, in words."""
        of = f"scenes begin with {self.fewest} free bodies"
        return of if self.alone == self.fewest else f"{of}, or {self.alone} alone"


#: Mechanisms of fewer free bodies have each pair of shapes traced into their own code, which is faster for few pairs: of one
#: body; and of two beside a robot, or with functions of the state, which scenes call from Python at every step. Springs are
#: traced for as many bodies as compile in reasonable time: then all integrators can be taken.
BEGINS = {"rigid": Begins(3, 2), "penalty": Begins(5, 5, traced=("pull", "sharpness"))}
#: Up to so many bodies can be traced where that is asked for: six bricks take minutes to compile.
MOST_TRACED = 4


def is_scene(mechanism: Mechanism, contact: Contact, *, traced: bool, called: bool, beyond: bool) -> bool:
    """Whether contact of a mechanism is a scene: that of as many free bodies as `BEGINS` says, and robots beside them.

    So is that of fewer bodies with shapes that cannot be traced against each other, such as a box on a larger hull.

    Args:
        traced: whether few bodies should be traced nevertheless.
        called: whether functions of the state act on it, or joints follow motions.
        beyond: whether any number should be traced, for what scenes do not have.

    Raises:
        InputError: for belts where they are not computed.
    """
    bodies = len(free_links(mechanism))
    if contact.belts:
        _check_belts(mechanism, contact)
        return True
    if beyond or _only_traced(contact) or (traced and bodies <= MOST_TRACED):
        return False
    begins = BEGINS[contact.model]
    alone = bodies == len(mechanism.tree.links) and not called
    untraced = _untraced(mechanism, contact)
    if bodies < (begins.alone if alone else begins.fewest) and not untraced:
        return False
    fault = _fault_of(mechanism, contact)
    if fault and untraced:
        raise ModelError(f"{fault}; so contact is traced pair by pair, where {untraced}")
    return not fault


def why_traced(mechanism: Mechanism, contact: Contact) -> str:
    """Why contact of a mechanism is not computed as a scene."""
    if only := _only_traced(contact):
        return only
    if _are_few(mechanism, contact):
        bodies = len(free_links(mechanism))
        return f"{BEGINS[contact.model].words}, and {'1 is' if bodies == 1 else f'{bodies} are'} free"
    traced = f"up to {MOST_TRACED} free bodies are traced for batches, "
    traced += f"{BEGINS[contact.model].alone} also for functions"
    if contact.model in FORCE_MODELS:
        traced = "any number of bodies is traced for integrators that scenes do not have"
    return _fault_of(mechanism, contact) or traced


def kept_from_scenes(mechanism: Mechanism, contact: Contact) -> str:
    """The shape by which contact of bodies that are as many as those of a scene is traced nevertheless, or ""."""
    return "" if _only_traced(contact) or _are_few(mechanism, contact) else _fault_of(mechanism, contact)


def _are_few(mechanism: Mechanism, contact: Contact) -> bool:
    """Whether free bodies are fewer than scenes begin with."""
    bodies, begins = len(free_links(mechanism)), BEGINS[contact.model]
    return bodies < (begins.alone if bodies == len(mechanism.tree.links) else begins.fewest)


def _only_traced(contact: Contact) -> str:
    """Why scenes do not have such contact, whatever the number of bodies, or ""."""
    if contact.model not in BEGINS:
        return f"scenes have no {contact.model} contact"
    options = [name for name in BEGINS[contact.model].traced if contact.options.get(name)]
    return f"scenes with {contact.model} contact do not have the option {options[0]!r}" if options else ""


def _fault_of(mechanism: Mechanism, contact: Contact) -> str:
    """Why a mechanism is not a scene of free bodies and robots, or ""."""
    from ...contact.scenes.building import fault_of  # with the procedures of scenes: loaded where there may be one

    return fault_of(mechanism, contact)


def _untraced(mechanism: Mechanism, contact: Contact) -> str:
    """Why only the routines for any two convex solids find the points of some pair of shapes, or ""."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KumitateWarning)  # of meshes: said by whatever simulates the contact
        try:
            contact_pairs(mechanism, mechanism.tree, contact)
        except ModelError as error:
            return str(error)
        except InputError:
            return ""
    return ""


def _check_belts(mechanism: Mechanism, contact: Contact) -> None:
    """Refuses belts where they are not computed."""
    other = "" if contact.model == "rigid" else f"only rigid contact has belts, not {contact.model}"
    if fault := other or _fault_of(mechanism, contact):
        raise InputError(
            f"{mechanism.name}: the surface of {contact.belts[0]!r} is a belt, which moves; but {fault}. Leave the belt out"
        )
