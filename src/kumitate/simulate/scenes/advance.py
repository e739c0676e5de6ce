"""Steps of a scene in machine code, called with arguments that are laid out once and again where room has grown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...contact.scenes.building import log_of, roomier
from ...contact.scenes.scene import Scene, SceneLog
from ...contact.scenes.step import DONE, FULL, ROOM, UNSOLVED
from .pages import ScenePage

__all__ = ["Advance"]

#: The rows of a log for touches: at least this many, and this many per record and body.
_TOUCHES, _PER_BODY = 4096, 8


class Advance:
    """A scene with the rows of its moving bodies, advanced in place.

    Attributes:
        page: what its steps call; scene: as it is now, which is replaced where it lacks room.
        q, v: rows (bodies, 7) and (bodies, 6); `work`: done since the start [J].
    """

    def __init__(self, page: ScenePage, scene: Scene, q: np.ndarray, v: np.ndarray, work: np.ndarray):
        self.page, self.scene, self.q, self.v, self.work = page, scene, q, v, work
        self._asked = (0, 0)
        self._log = log_of(0, 0, 0)
        self._run: Callable[[], int] | None = None

    def make_room(self) -> None:
        """Gives the scene the room that its `counts` say it lacks."""
        self.scene, self._run = roomier(self.scene), None

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        """Continues from what the page carries."""
        self.page.load(rows, begins=begins)
        if len(rows):
            self._run = None  # the page may have made more room

    def begin(self, records: int, every: int) -> None:
        """Prepares for so many records of so many steps."""
        if (records, every) != self._asked:
            bodies = len(self.scene.bodies.mass)
            own = self.scene.bodies.robots.motions
            touches = _TOUCHES + _PER_BODY * bodies * records
            self._log, self._run = log_of(bodies, records, touches, (len(own.q), len(own.v))), None
            self._asked = records, every
        self._log.marks[:] = 0

    def go(self) -> bool:
        """Makes the steps of a call; returns whether all of them have a usable solution.

        Raises:
            InputError: if the page refuses steps of this length.
        """
        while (ended := self._ended()) not in (DONE, UNSOLVED):
            if ended == ROOM:
                self.make_room()
                continue
            if ended != FULL:
                raise self.page.refusal(self.scene)
            log = self._log
            more = np.zeros((2 * len(log.touches) + int(self.scene.counts[1] + self.scene.counts[4]), log.touches.shape[1]))
            more[: len(log.touches)] = log.touches
            self._log, self._run = log._replace(touches=more), None
        return ended == DONE

    def taken(self) -> SceneLog:
        """A copy of the log, with the touches that there are."""
        kept = self._log._replace(touches=self._log.touches[: int(self._log.marks[2])])
        return SceneLog(*(part.copy() for part in kept))

    def _ended(self) -> int:
        if self._run is None:
            self._run = self.page.bound(self.scene, self.q, self.v, self.work, *self._asked, self._log)
        return self._run()
