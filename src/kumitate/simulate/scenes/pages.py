"""The procedures that a scene's steps call, by the model of contact; another model is another class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...contact.impulse.contact_points import RECOVERY
from ...contact.models.penalty import FALL, THROWN, Penalty
from ...contact.scene import Contact
from ...contact.scenes.scene import Scene
from ...contact.scenes.step import advance_scene
from ...errors import InputError
from ...model import Mechanism
from ...procedure import LocatedProgram
from ..prescribed.overlaps import PARTING

__all__ = ["PAGES", "ScenePage", "SpringsPage"]


class ScenePage:
    """The steps of a scene: those of rigid contact in this class, subclasses have others. There is one page for each state.

    Attributes:
        gains: whether the energy that contact adds in a step is an error, and not what springs give back.
    """

    gains = True

    def __init__(self, mechanism: Mechanism, contact: Contact):
        """A page before the first step; nothing of these is needed for rigid contact."""

    def bound(self, scene: Scene, *rest: Any) -> Callable[[], int]:
        """Steps from a state, with arguments as of `advance_scene`; returns how they ended."""
        return advance_scene.bound(scene, *rest)

    def begin(self) -> None:
        """Lets a motion begin at another state."""

    def carried(self) -> np.ndarray:
        """Rows (n, 6) that are carried from step to step beside impulses; the third number of each is negative."""
        return np.zeros((0, 6))

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        """Continues from such rows; `begins`: whether no step was made yet."""

    def refusal(self, scene: Scene) -> Exception:
        """What is wrong where steps ended otherwise than those of `advance_scene` do."""
        return AssertionError("steps end in the ways of `advance_scene`")

    def overlap(self, step: float, names: Sequence[str]) -> tuple[float, tuple[str, ...]]:
        """`closes` and `warned` of `Touched`; by the names of the solids."""
        return RECOVERY * step, ()


class SpringsPage(ScenePage):
    """Springs and dampers at every point."""

    gains = False

    def __init__(self, mechanism: Mechanism, contact: Contact):
        """The law of a point with the options of the contact; it is compiled for the first steps."""
        self._name, self._weight = mechanism.name, mechanism.tree.mass * FALL
        self._model = Penalty.of(contact.options, mechanism.tree.mass)
        self._clock, self._marks = np.zeros(2), np.array([1, 0])
        self._held, self._overlaps = np.zeros(4), np.zeros((0, 3))

    def bound(self, scene: Scene, *rest: Any) -> Callable[[], int]:
        from ...contact.scenes.springs import Springs, advance_springs

        law, room = np.array([program.address for program in _law_of(self._model)]), len(scene.points.gap)
        self._make_room(room)
        springs = Springs(
            law, self._clock, THROWN * self._weight, self._held, self._marks, self._overlaps,
            np.zeros(len(scene.bodies.mass)), np.zeros((room, 3)),
        )  # fmt: skip
        return advance_springs.bound(scene, springs, *rest)

    def begin(self) -> None:
        self._clock[0], self._marks[:] = 0.0, (1, 0)

    def carried(self) -> np.ndarray:
        rows = np.zeros((int(self._marks[1]), 6))
        rows[:, [0, 1, 3]], rows[:, 2] = self._overlaps[: len(rows)], -1.0
        return rows

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        self._make_room(len(rows))
        self._overlaps[: len(rows)] = rows[:, [0, 1, 3]]
        self._clock[0], self._marks[:] = 0.0, (begins, len(rows))

    def refusal(self, scene: Scene) -> Exception:
        from ...contact.scenes.springs import MOST

        longest, step = float(self._clock[1]), scene.rules.step
        return InputError(
            f"{self._name}: the springs of contact need steps of {longest:.2g} s, and a step of {step:g} s is made in at most "
            f"{MOST} parts. Give a step of at most {MOST * longest:.2g} s, or a smaller stiffness, such as "
            "options={'stiffness': 1e5}"
        )

    def overlap(self, step: float, names: Sequence[str]) -> tuple[float, tuple[str, ...]]:
        energy, depth, a, b = self._held
        if energy < THROWN * self._weight:
            return np.inf, ()
        return np.inf, (
            f"{self._name}: {names[int(a)]!r} and {names[int(b)]!r} overlap at the start, by up to {depth:.3g} m; the springs "
            f"of contact would hold {energy:.3g} J there, enough to throw all bodies {energy / self._weight:.3g} m up. They "
            f"begin without it, and push bodies apart at less than {PARTING:g} m/s. Start them apart",
        )

    def _make_room(self, rows: int) -> None:
        more = max(rows - len(self._overlaps), 0)
        self._overlaps = np.concatenate([self._overlaps, np.zeros((more, 3))])


@lru_cache(maxsize=64)
def _law_of(model: Penalty) -> tuple[LocatedProgram, LocatedProgram]:
    from ...contact.scenes.springs import law_program, spring_program

    return LocatedProgram(law_program(model)), LocatedProgram(spring_program(model))


#: By the model of contact.
PAGES: dict[str, type[ScenePage]] = {"rigid": ScenePage, "penalty": SpringsPage}
