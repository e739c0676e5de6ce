"""The contracts of a case, whose end is known, and of a program that runs it; and what a run cost, and how far off it was."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.model import Joint, Loop, Mechanism

__all__ = ["Case", "Peer", "Point", "converged", "solved", "timed"]

#: Repeats of a run: until they have taken so long [s], and at least twice.
ENOUGH = 0.05

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Case:
    """A motion and where it ends.

    Attributes:
        name: short; `title`: for headings; `reference`: how the end is known.
        mechanism: of which every program makes its own model.
        q, v: at the start; `duration`: [s].
        end: coordinates of joints at the end, by name, as the reference has them.
        tau: constant efforts of the joints, by name.
        steps: lengths of steps that programs try [s].
        motions: what joints follow, by name: f(t) [rad or m].
        contact: of the bodies with each other and with the floor z = 0.
    """

    name: str
    title: str
    reference: str
    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    duration: float
    end: Mapping[str, float]
    tau: Mapping[str, float] = field(default_factory=dict)
    steps: tuple[float, ...] = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)
    motions: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    contact: km.Contact | None = None

    @property
    def items(self) -> list[Joint | Loop]:
        """Joints, those that close loops, and lines."""
        return [*self.mechanism.joints, *self.mechanism.loops]

    @property
    def in_plane(self) -> bool:
        """Whether all that turns does so about parallel axes."""
        return int(np.linalg.matrix_rank([list(item.axis) for item in self.items if item.kind.name == "revolute"])) == 1

    @property
    def beyond(self) -> str:
        """What of it not every program here models, in words; empty if nothing."""
        stopped = any(limit != km.Limits() for joint in self.mechanism.joints for limit in joint.limits)
        parts = (("contact", self.contact), ("stops", stopped), ("joints that follow a motion", self.motions))
        return " and ".join(word for word, has in parts if has)

    def error(self, found: Mapping[str, float]) -> float:
        """The largest difference of a coordinate [rad or m]; not a number where a run failed."""
        return float(max(abs(found[name] - value) for name, value in self.end.items()))

    def count(self, step: float) -> int:
        """How many steps of about this length the motion takes."""
        return max(1, round(self.duration / step))


@dataclass(frozen=True)
class Point:
    """A run: its program, its method, its step [s] or tolerance, its error [rad or m] and its processor time [s]."""

    program: str
    method: str
    step: float
    error: float
    seconds: float


class Peer(ABC):
    """A program that may run a case: a file each."""

    name: ClassVar[str]
    #: How it was set, for the page.
    settings: ClassVar[str]

    @staticmethod
    @abstractmethod
    def installed() -> bool:
        """Whether it can be imported."""

    @abstractmethod
    def why_not(self, case: Case) -> str:
        """Why it cannot run a case; empty if it can."""

    @abstractmethod
    def runs(self, case: Case) -> Iterable[Point]:
        """Its runs, by all methods and steps that make sense."""


def timed(run: Callable[[], Answer]) -> tuple[Answer, float]:
    """What a run found, and the least processor time of some repeats [s]."""
    spent, least = 0.0, float("inf")
    for k in range(200):
        began = time.process_time()
        found = run()
        took = time.process_time() - began
        spent, least = spent + took, min(least, took)
        if k >= 1 and spent > ENOUGH:
            break
    return found, least


def solved(rates: Callable[[float, Any], Any], start: Any, duration: float) -> np.ndarray:
    """The end of a motion by equations that are written out: DOP853 to 1e-13."""
    return np.asarray(solve_ivp(rates, (0.0, duration), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1])


def converged(
    name: str, title: str, mechanism: Mechanism, q: np.ndarray, v: np.ndarray, duration: float, **options: Any
) -> Case:
    """A case whose end is kumitate's own by two integrators, which agree as its reference says."""
    ways = (options or {"integrator": "rkf45"}, {"integrator": "rk4"})
    ends = [
        km.simulate(mechanism, q, v, duration=duration, step=duration / 20_000, stabilisation="strict", **way).q[-1]
        for way in ways
    ]
    apart = float(np.abs(ends[0] - ends[1]).max())
    told = f"kumitate's own by rk4 at {duration / 20_000:.1g} s, to which {ways[0]['integrator']} agrees to {apart:.0e}"
    return Case(
        name, title, told, mechanism, q, v, duration, dict(zip(mechanism.q_names, ends[1], strict=True)),
        steps=(1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5),
    )  # fmt: skip
