"""`Player`: a simulation that plays in real time in a thread of its own, and that sliders, buttons and the mouse act on."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any

from ..analysis import loop_equations
from ..errors import KumitateError
from .contract import LiveSimulation
from .sliders import joint_sliders, slid
from .spring import Spring

__all__ = ["Player"]

#: From one picture to the next [s].
FRAME = 1.0 / 30.0
#: Steps between looks at the clock and the buttons.
_STEPS = 8


class Player:
    """A simulation at one state, which plays in real time; its methods may be called from any thread.

    Where steps take longer than the time that they simulate, it plays slower instead of falling behind.

    Attributes:
        state: the present one.
        playing: whether time goes on.
        pace: simulated time per time of the last picture; 1 in real time.
        spring: that pulls a body, or None.
        message: why it stopped, or why a slider could not be moved; "" after the next success.
        pulled: the bodies that springs can pull.
    """

    def __init__(self, simulation: LiveSimulation, shown: Callable[[Player], None] = lambda player: None):
        """A player, paused at the simulation's start; `shown` is called after every change."""
        self.simulation, self._shown = simulation, shown
        mechanism = simulation.robot.mechanism
        self.sliders, self._loops = joint_sliders(mechanism), loop_equations(mechanism)
        forcing = simulation.actuation.forcing
        taken = {name for name, given in forcing.wrenches.items() if given is not None}
        self.pulled = tuple(name for name in forcing.wrenches if name not in taken)
        self._first = self.state = simulation.start()
        self.playing, self.pace, self.message = False, 1.0, ""
        self.spring: Spring | None = None
        self._due, self._lock, self._ended = 0.0, Lock(), Event()
        self._thread = Thread(target=self._run, name="kumitate live viewer", daemon=True)

    def begin(self) -> None:
        """Compiles what steps and springs need, and starts the thread."""
        with self._lock:
            self.simulation.step(self.state)
            self.simulation.robot.mass_matrix(self.state.q)
        self._thread.start()
        self._shown(self)

    def close(self) -> None:
        """Stops the thread; what it simulates is at most one picture further."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def play(self) -> None:
        """Lets time go on."""
        self.message, self._due, self.playing = "", 0.0, True

    def pause(self) -> None:
        """Stops time."""
        self.playing = False
        self._shown(self)

    def step(self, count: int = 1) -> None:
        """Pauses, and makes single steps."""
        self.playing = False
        with self._lock:
            self._step(count)
        self._shown(self)

    def reset(self) -> None:
        """Pauses at the first state, exactly as it was."""
        with self._lock:
            self.playing, self.spring, self.message, self.state = False, None, "", self._first
        self._shown(self)

    def slide(self, name: str, value: float) -> None:
        """Pauses at rest, at t = 0, with a coordinate at a value and the loops closed; else says why that is impossible."""
        with self._lock:
            self.playing = False
            try:
                q = slid(self._loops, self.sliders, self.state.q, name, value)
                self.state, self.message = self.simulation.start(q), ""
            except KumitateError as error:
                self.message = str(error)
        self._shown(self)

    def grab(self, body: str, position: Any) -> None:
        """Fixes a spring to a body at a position in the world (3,) [m], where it can be pulled."""
        if body in self.pulled:
            self.spring = Spring.grab(self.simulation.robot, self.state.q, body, position)

    def drag(self, target: Any) -> None:
        """Leads the spring's free end to a target in the world (3,) [m]."""
        if self.spring is not None:
            self.spring = self.spring.to(target)

    def release(self) -> None:
        """Takes the spring away."""
        self.spring = None

    def advance(self, elapsed: float) -> None:
        """Simulates as much time as went by [s], unless that takes longer than a picture may."""
        h, begun = self.simulation.step_size, clock.perf_counter()
        self._due += elapsed
        asked = whole = int(self._due / h)
        self._due -= whole * h
        while whole > 0 and self.playing and clock.perf_counter() - begun < FRAME:
            count = min(whole, _STEPS)
            with self._lock:
                if self.playing:
                    self._step(count)
            whole -= count
        if asked:
            self.pace = (asked - whole) * h / max(elapsed, h)

    def _step(self, count: int) -> None:
        """Makes steps, each with the force that the spring then has; where they fail, the state stays, and time stops."""
        robot, spring = self.simulation.robot, self.spring
        try:
            if spring is None:
                self.state = self.simulation.step(self.state, count)
                return
            for _ in range(count):
                state = self.state
                pull = spring.wrench(robot, state.q, state.v)
                self.state = self.simulation.step(state, wrenches={spring.body: pull})
        except KumitateError as error:
            self.playing, self.message = False, str(error)

    def _run(self) -> None:
        last, rest = clock.perf_counter(), FRAME
        while not self._ended.wait(rest):
            begun = clock.perf_counter()
            if self.playing:
                self.advance(begun - last)
                self._shown(self)
            last = begun
            rest = max(FRAME - (clock.perf_counter() - begun), 1e-3)
