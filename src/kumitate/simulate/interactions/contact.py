"""Contact of bodies, and whether it is traced pair by pair or computed as a scene of many bodies."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
from ...records.contact_record import ContactRecord, throws
from ..driving.forcing import Overlaps
from ..integrators import INTEGRATORS
from ..parameters import Variation
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

    def _no_integrator(self, name: str, known: str) -> InputError:
        """What is wrong with an integrator of this name, where velocities jump and only the `known` ones step over that."""
        if name not in INTEGRATORS:
            return InputError(f"there is no integrator {name!r}; with contact there are {known}")
        return InputError(
            f"the contact model {self.contact.model!r} makes velocities jump, which {name} cannot: take "
            "integrator='auto', or a model of springs and dampers, contact='penalty'"
        )


@dataclass(frozen=True, eq=False)
class TracedContact(ContactOfBodies):
    """Contact of `pairs` of shapes that is traced in the code of the steps of one robot, by a `model`; `why` it is so."""

    pairs: list[Pair]
    model: Any
    parameters: Variation | None = None
    why: str = ""

    @cached_property
    def content(self) -> str | None:  # type: ignore[override]
        """The contact and the shapes that can touch, as text."""
        varied = () if self.parameters is None else (self.parameters.key,)
        return content_of(self.model, self.contact, self.pairs, *varied)

    def warn(self) -> None:
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

    def recorded(
        self, found: Mapping[str, np.ndarray], force: np.ndarray, moment: np.ndarray | None = None, **sums: np.ndarray
    ) -> tuple[ContactRecord, np.ndarray]:
        """The record of the points that are ever pushed, and which these are: of arrays (n, points, …) and sums (n) by name."""
        pushed = np.flatnonzero(np.abs(force).max(axis=(0, 2), initial=0.0) > 0.0)
        bodies, deepest = self.touching_bodies, np.maximum(-found["gap"].min(axis=1), 0.0)
        at_points = {name: found[name][:, pushed] for name in ("position", "normal", "gap", "velocity", "friction")}
        turns = None if moment is None else moment[:, pushed]
        both = tuple(bodies[k] for k in pushed)
        return ContactRecord(both, force[:, pushed], **at_points, penetration=deepest, moment=turns, **sums), pushed

    def thrown(self, gaps: np.ndarray, *, slowly: bool) -> tuple[str, ...]:
        """The warning of `throws` about a start with these gaps (m) [m]."""
        return throws(self.mechanism, self.touching_bodies, gaps, self.stored(gaps), slowly)


#: Up to so many free bodies have code of their own, traced pair by pair: six bricks take minutes to compile.
MOST_TRACED = 4
#: Penalty contact of fewer free bodies is traced: its code is short, and all integrators can be taken.
FEWEST_ON_SPRINGS = 5
#: Options of force models that only the traced code has.
_TRACED_OPTIONS = {"penalty": ("pull", "sharpness")}


def why_traced(mechanism: Mechanism, contact: Contact, wanted: str, needed: str) -> str:
    """Why contact is traced pair by pair, in code of the mechanism's own; "" where steps go through lists of what is near.

    One motion goes through lists, whose code is the same for all robots, so that it begins at once. Many motions and
    derivatives have code of their own, which takes long to compile and then less time per step; so do options that lists lack.

    Args:
        wanted: why code of its own is wanted, unless there are too many bodies for it; needed: why no other will do, likewise.
    """
    if contact.belts:
        other = "" if contact.model == "rigid" else f"only rigid contact has belts, not {contact.model}"
        if fault := other or kept_from_lists(mechanism, contact):
            raise InputError(
                f"{mechanism.name}: the surface of {contact.belts[0]!r} is a belt, which moves; but {fault}. Leave the belt out"
            )
        return ""
    bodies, untraced = len(free_links(mechanism)), ""
    if contact.model not in ("rigid", "penalty"):
        return f"scenes have no {contact.model} contact"
    if options := [name for name in _TRACED_OPTIONS.get(contact.model, ()) if contact.options.get(name)]:
        return f"scenes with {contact.model} contact do not have the option {options[0]!r}"
    if needed and (bodies <= MOST_TRACED or contact.model in FORCE_MODELS):
        if untraced := _untraced(mechanism, contact):
            raise InputError(
                f"{mechanism.name}: {needed}, so that contact is traced pair by pair; but {untraced}. Or leave that out"
            )
        return needed
    why = wanted if bodies <= MOST_TRACED else ""
    if contact.model in FORCE_MODELS and bodies < FEWEST_ON_SPRINGS:
        free = f"{bodies} {'is' if bodies == 1 else 'are'} free"
        why = f"scenes on springs begin with {FEWEST_ON_SPRINGS} free bodies, and {free}"
    if why and not (untraced := _untraced(mechanism, contact)):
        return why
    fault = kept_from_lists(mechanism, contact)
    if fault and (untraced or (untraced := _untraced(mechanism, contact))):
        raise ModelError(f"{fault}; so contact is traced pair by pair, where {untraced}")
    return fault


def kept_from_lists(mechanism: Mechanism, contact: Contact) -> str:
    """The shape for which lists have no routine, in words, or ""."""
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
