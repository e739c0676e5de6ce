"""The procedures that a scene's steps call, by the model of contact; another model is another class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...contact.laws import RECOVERY
from ...contact.models.penalty import FALL, Penalty
from ...contact.parting import THROWN
from ...contact.scene import Contact
from ...contact.scenes.arrays import OverlapList, Scene, Springs
from ...contact.scenes.springs import MOST, law_program, spring_program
from ...contact.scenes.step import advance_scene
from ...errors import InputError
from ...model import Mechanism
from ...procedure import LocatedProgram
from ...records.contact_record import throws


class ScenePage:
    """The steps of a scene: those of rigid contact in this class, subclasses have others. There is one page for each state.

    Attributes:
        gains: whether the energy that contact adds in a step is an error, and not what springs give back.
    """

    gains = True

    def __init__(self, mechanism: Mechanism, contact: Contact):
        """A page before the first step."""
        self._mechanism, thrown = mechanism, THROWN * mechanism.tree.mass * FALL
        self._overlaps = OverlapList(np.array([1, 0]), thrown, np.zeros(4), np.zeros((0, 3)))

    def bound(self, scene: Scene, *rest: Any) -> Callable[[], int]:
        """Steps from a state, with arguments as of `advance_scene`; returns how they ended."""
        return advance_scene.bound(self.whole(scene), *rest)

    def whole(self, scene: Scene) -> Scene:
        """A scene with what the page has of it."""
        self._make_room(len(scene.points.gap))
        return scene._replace(overlaps=self._overlaps, springs=self.springs(scene))

    def springs(self, scene: Scene) -> Springs:
        """The springs at its points."""
        return scene.springs

    def begin(self) -> None:
        """Lets a motion begin at another state."""
        self._overlaps.marks[:] = (1, 0)

    def carried(self) -> np.ndarray:
        """Rows (n, 6) that are carried from step to step beside impulses; the third number of each is negative."""
        rows = np.zeros((int(self._overlaps.marks[1]), 6))
        if not len(rows):
            return rows
        rows[:, [0, 1, 3]], rows[:, 2] = self._overlaps.rows[: len(rows)], -1.0
        return rows

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        """Continues from such rows; `begins`: whether no step was made yet."""
        self._make_room(len(rows))
        self._overlaps.rows[: len(rows)] = rows[:, [0, 1, 3]]
        self._overlaps.marks[:] = (begins, len(rows))

    def refusal(self, scene: Scene) -> Exception:
        """What is wrong where steps ended otherwise than those of `advance_scene` do."""
        return AssertionError("steps end in the ways of `advance_scene`")

    def closes(self, step: float) -> float:
        """The overlap that a step closes, as of `Touched` [m]."""
        return RECOVERY * step

    def thrown(self, names: Sequence[str]) -> tuple[str, ...]:
        """A warning about solids of these names that overlap at the start, as of `throws`."""
        energy, depth, a, b = self._overlaps.held
        return throws(self._mechanism, [(names[int(a)], names[int(b)])], np.array([-depth]), np.array([energy]), slowly=True)

    def _make_room(self, rows: int) -> None:
        more, own = rows - len(self._overlaps.rows), self._overlaps
        if more > 0:  # else steps that are bound already would go on with other rows
            self._overlaps = own._replace(rows=np.concatenate([own.rows, np.zeros((more, 3))]))


class SpringsPage(ScenePage):
    """Springs and dampers at every point."""

    gains = False

    def __init__(self, mechanism: Mechanism, contact: Contact):
        """The law of a point with the options of the contact; it is compiled for the first steps."""
        super().__init__(mechanism, contact)
        self._model, self._clock = Penalty.of(contact.options, mechanism.tree.mass), np.zeros(2)

    def springs(self, scene: Scene) -> Springs:
        law = np.array([program.address for program in _law_of(self._model)])
        return Springs(law, self._clock, np.zeros(len(scene.bodies.mass)), np.zeros((len(scene.points.gap), 3)))

    def begin(self) -> None:
        super().begin()
        self._clock[0] = 0.0

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        super().load(rows, begins=begins)
        self._clock[0] = 0.0

    def refusal(self, scene: Scene) -> Exception:
        longest, step = float(self._clock[1]), scene.rules.step
        return InputError(
            f"{self._mechanism.name}: the springs of contact need steps of {longest:.2g} s, and a step of {step:g} s is made "
            f"in at most {MOST} parts. Give a step of at most {MOST * longest:.2g} s, or a smaller stiffness, such as "
            "options={'stiffness': 1e5}"
        )

    def closes(self, step: float) -> float:
        return np.inf


@lru_cache(maxsize=64)
def _law_of(model: Penalty) -> tuple[LocatedProgram, LocatedProgram]:
    return LocatedProgram(law_program(model)), LocatedProgram(spring_program(model))


#: By the model of contact.
PAGES: dict[str, type[ScenePage]] = {"rigid": ScenePage, "penalty": SpringsPage}
