"""The audit of a run: energy balance, quaternion lengths, limits of joints, contact, and what the run cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate
from math import tau as turn
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analysis import LoopGap
from ..analysis.loop_motion import loops_at
from ..model import Joint, Limits, Loop, Mechanism, joint_columns

if TYPE_CHECKING:
    from .contact_record import ContactRecord

#: A step or a run is reported if its energy is out of balance by more than this part of the energy that the run exchanges, and
#: that is more than this part of the energy itself.
_JUMP, _ROUNDING = 0.02, 1e-9
#: A step past a singular posture is reported above this part, if its change is so many times that of most steps.
_BESIDE, _ALONE = 1e-5, 100.0
#: How notes on energy begin.
_ENERGY = "energy: "
#: A step counts as gaining energy from contact above this part of the largest kinetic energy of the run.
_GAIN = 1e-7
#: Above this part of the energy that a run exchanges, the audit says where its drift comes from.
_WORTH_A_WORD = 1e-3
#: A joint that is so little outside its limits has stopped there, to the rounding of its stop [rad or m].
_REACHED = 1e-9


class LimitPassed(NamedTuple):
    """A limit that a joint exceeded.

    Attributes:
        joint: name of the degree of freedom, as in `Mechanism.v_names`.
        time: when it was first exceeded [s].
        excess: the largest excess over the run [the unit of the quantity].
        quantity: "position", "velocity" or "effort".
    """

    joint: str
    time: float
    excess: float
    quantity: str = "position"


class SolverAccount(NamedTuple):
    """What solved the contact of a run through lists, as numbers of all its steps.

    Attributes:
        rounds: of the interior point method.
        newton: steps of Newton's method.
        islands: groups of bodies that touch each other, whose impulses of the step before did not fit any more.
        turns: how often islands were solved again, with points that had waited.
        small, large: the largest residuals in piles of up to 20 bodies, and in larger ones [m/s].
    """

    rounds: int
    newton: int
    islands: int
    turns: int
    small: float
    large: float


class ContactAccount(NamedTuple):
    """Contact over a run, in numbers.

    Attributes:
        penetration: the largest penetration depth [m].
        residual: the largest residual of the contact laws in any step [m/s].
        work: done by contact over the run [J].
        gains: the number of steps in which contact added energy (`ContactRecord.gained`), as resolving a penetration does.
        gained: the energy added in those steps [J].
        solver: what solved it, where steps go through lists.
    """

    penetration: float
    residual: float
    work: float
    gains: int
    gained: float = 0.0
    solver: SolverAccount | None = None


@dataclass(frozen=True)
class Audit:
    """The audit of a run: its errors, exceeded limits and cost.

    Attributes:
        energy_drift: max |E(t) − E(0) − work(t)| [J]: what the integration gained or lost.
        work: done on the mechanism by controllers, drives, applied wrenches, damping, contact and stops over the run [J].
        quaternion_error: max |1 − |q|| over all quaternions and times.
        limits_passed: the limits of joints that were exceeded: of velocity and effort, which stop nothing, or of position where
            joints do not stop.
        loop_gaps: the largest gap of each loop and coupling over the run.
        notes: sentences for people, such as the choice of another method.
        steps, rejected_steps: of the integrator (numbers of steps).
        wall_time: the time that the run took [s].
        efforts: how the controller and each wrench was evaluated, and why.
        contact: contact over the run, if there was any.
        exchanged: the largest kinetic energy of the run, or the range of its potential energy [J], if that is more.
        drift_at_stops: how much of all unexplained changes of energy, 0 to 1, falls on steps in which joints are at stops or
            bodies touch.
        remedy: why the drift is as large, and what to do about it; empty where it is not worth a word.
    """

    energy_drift: float = 0.0
    work: float = 0.0
    quaternion_error: float = 0.0
    limits_passed: tuple[LimitPassed, ...] = ()
    loop_gaps: tuple[LoopGap, ...] = ()
    notes: tuple[str, ...] = ()
    steps: int = 0
    rejected_steps: int = 0
    wall_time: float = 0.0
    efforts: tuple[str, ...] = ()
    contact: ContactAccount | None = None
    exchanged: float = 0.0
    drift_at_stops: float = 0.0
    remedy: str = ""

    def __post_init__(self) -> None:
        for name in ("energy_drift", "work", "quaternion_error", "wall_time", "exchanged", "drift_at_stops"):
            object.__setattr__(self, name, float(getattr(self, name)))
        passed = tuple(LimitPassed(str(name), float(time), float(by), *rest) for name, time, by, *rest in self.limits_passed)
        object.__setattr__(self, "limits_passed", passed)
        object.__setattr__(self, "loop_gaps", tuple(LoopGap(str(name), *map(float, gap)) for name, *gap in self.loop_gaps))
        for name in ("notes", "efforts"):
            object.__setattr__(self, name, tuple(str(line) for line in getattr(self, name)))

    def lines(self) -> list[str]:
        """The audit for people, one line per entry."""
        rejected = f", {self.rejected_steps} rejected" if self.rejected_steps else ""
        lines = [self._balance_line()]
        driven = self.work - (self.contact.work if self.contact else 0.0)
        if abs(driven) > 1e-12 * abs(self.work):
            lines.append(f"work of controllers, wrenches and damping {driven:.6g} J")
        if contact := self.contact:
            steps = f"{contact.gains} step{'s' if contact.gains > 1 else ''} gained {contact.gained:.3g} J"
            lines += [
                f"contact: laws kept to {contact.residual:.3g} m/s, penetration at most {contact.penetration:.3g} m",
                *([_solved(contact.solver, self.steps)] if contact.solver and contact.solver.islands else []),
                f"work of contact {contact.work:.6g} J, {steps if contact.gains else 'no step gained'}",
            ]
        if self.quaternion_error:
            lines.append(f"quaternions of unit length to {self.quaternion_error:.3g}")
        if self.loop_gaps:
            worst = LoopGap("", *(max(column) for column in list(zip(*self.loop_gaps, strict=True))[1:]))
            lines.append(
                f"loops closed to {worst.distance:.3g} m and {worst.angle:.3g} rad, "
                f"their velocities to {worst.speed:.3g} m/s and {worst.turning:.3g} rad/s"
            )
        lines.append(f"{self.steps} steps{rejected}, {self.wall_time:.3g} s")
        for joint in dict.fromkeys(item.joint for item in self.limits_passed):
            passed = [item for item in self.limits_passed if item.joint == joint]
            what = ", ".join(f"{item.quantity} from {item.time:.3g} s by up to {item.excess:.3g}" for item in passed)
            lines.append(f"limits passed at {joint} (SI units): {what}")
        return [*lines, *self.efforts, *self.notes]

    def _balance_line(self) -> str:
        """The drift of energy, as a part of what the run exchanges, and why it is large where it is and no note says so."""
        line = f"energy balance kept to {self.energy_drift:.3g} J"
        if not self.exchanged > self.energy_drift:  # at rest, where a percentage says nothing
            return line
        line += f", {100.0 * self.energy_drift / self.exchanged:.2g} % of the {self.exchanged:.3g} J exchanged"
        noted = any(note.startswith(_ENERGY) for note in self.notes)
        return f"{line}: {self.remedy}" if self.remedy and not noted else line

    def as_dict(self) -> dict[str, Any]:
        """The audit as plain data."""
        passed, gaps = ([item._asdict() for item in items] for items in (self.limits_passed, self.loop_gaps))
        parts = {"limits_passed": passed, "loop_gaps": gaps, "notes": list(self.notes), "efforts": list(self.efforts)}
        contact = None if self.contact is None else self.contact._asdict()
        if contact and contact["solver"]:
            contact["solver"] = contact["solver"]._asdict()
        return {**asdict(self), **parts, "contact": contact}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """The audit that `as_dict` gave."""
        passed = tuple(LimitPassed(**item) for item in data.get("limits_passed", ()))
        gaps = tuple(LoopGap(**item) for item in data.get("loop_gaps", ()))
        known = {key: value for key, value in data.items() if key != "loop_error"}  # of version 1 files, always None there
        contact = data.get("contact")
        if contact is not None:
            solver = contact.get("solver")
            contact = ContactAccount(**{**contact, "solver": SolverAccount(**solver) if solver else None})
        return cls(**{**known, "limits_passed": passed, "loop_gaps": gaps, "contact": contact})


def _solved(solver: SolverAccount, steps: int) -> str:
    """A line about the solver; steps: of the run."""
    words = ("interior point rounds", "Newton steps", "islands", "turns with points that had waited")
    each = ", ".join(f"{count / max(steps, 1):.3g} {what}" for count, what in zip(solver, words, strict=False) if count)
    large = f", of larger ones {solver.large:.2g} m/s" if solver.large else ""
    return f"solver, a step: {each}; residual in piles of up to 20 bodies {solver.small:.2g} m/s{large}"


def contact_account(record: ContactRecord, kinetic: np.ndarray, solver: np.ndarray | None = None) -> ContactAccount:
    """The audit of contact along a run; `kinetic`: its kinetic energies (n,) [J]; solver: as of `Touched`.

    Forces and residuals are of the steps that begin at the run's times, of which the last was not made.
    """
    gained = record.gained[:-1]
    least = _GAIN * float(kinetic.max(initial=0.0))
    return ContactAccount(
        penetration=float(record.penetration.max(initial=0.0)),
        residual=float(record.residual[:-1].max(initial=0.0)),
        work=float(record.work[:-1].sum()),
        gains=int((gained > least).sum()),
        gained=float(gained[gained > least].sum()),
        solver=None if solver is None else SolverAccount(
            *map(int, solver[:-1, :4].sum(axis=0)), *map(float, solver[:-1, 4:].max(axis=0, initial=0.0))
        ),
    )  # fmt: skip


def energy_balance(energies: np.ndarray, work: np.ndarray, stopped: np.ndarray, order: int) -> dict[str, Any]:
    """What an audit says on energies (2, n) and work (n) of a run; `stopped`: where joints are at stops or bodies touch (n)."""
    balance = energies.sum(axis=0) - work
    changes, where = np.abs(np.diff(balance)), stopped[1:] | stopped[:-1]
    drift, exchanged = float(np.abs(balance - balance[0]).max()), _exchanged(*energies)
    at_stops = float(changes[where].sum() / changes.sum()) if changes.any() else 0.0
    remedy = "" if drift < _WORTH_A_WORD * exchanged else _remedy(order, at_stops)
    return {"energy_drift": drift, "exchanged": exchanged, "drift_at_stops": at_stops, "remedy": remedy}


def _remedy(order: int, at_stops: float) -> str:
    """Why energy drifts in steps of an order, and what to do; `at_stops`: how much of it at stops and contacts."""
    if at_stops > 0.5:
        return "most of it where joints are at stops or bodies touch, in steps of order 1; shorter ones lose less"
    if order == 1:
        return "steps of order 1 do so where inertia varies: take a smaller step, in proportion, or midpoint, rk4 or rkf45"
    return "the steps are long for this motion: take a smaller step, or rkf45_adaptive"


def _exchanged(kinetic: np.ndarray, potential: np.ndarray) -> float:
    return max(float(kinetic.max()), float(np.ptp(potential)))


def energy_notes(
    time: np.ndarray, energies: np.ndarray, work: np.ndarray, remedy: str, singular: Callable[[int], bool]
) -> tuple[str, ...]:  # fmt: skip
    """A note on energy that nothing accounts for: on the step with the largest change, or else on the drift of the run.

    `energies` are kinetic and potential (2, n), `work` that since the start (n), contact included [J]; `remedy` is that of
    `energy_balance`; `singular` says whether the step from the time of this index passes a singular posture of the loops.
    """
    balance = energies.sum(axis=0) - work
    jumps, drifts = np.diff(balance), balance - balance[0]
    if not len(jumps) or not np.isfinite(jumps).all():
        return ()
    worst, exchanged = int(np.argmax(np.abs(jumps))), _exchanged(*energies)
    jump, drift = float(jumps[worst]), float(drifts[np.argmax(np.abs(drifts))])
    rounding = _ROUNDING * float(np.abs(balance).max())

    def said(amount: float) -> str:
        share, gone = 100.0 * abs(amount) / exchanged, "gained" if amount > 0.0 else "lost"
        return f"{_ENERGY}{abs(amount):.3g} J, {share:.2g} % of all that the run exchanges, are {gone}"

    sudden = abs(jump) > _JUMP * exchanged + rounding
    alone = abs(jump) > _BESIDE * exchanged + rounding and abs(jump) > _ALONE * float(np.sort(np.abs(jumps))[len(jumps) // 2])
    if sudden or alone:
        passing = singular(worst)
        if sudden or passing:
            where = ", where the loops pass a singular posture" if passing else ""
            better = "; stabilisation='strict' or rkf45_adaptive may pass it better" if passing else ""
            return (
                f"{said(jump)} in the step from t = {time[worst]:.6g} s{where}, which no effort, "
                f"damping or contact accounts for; take a smaller step, or an integrator of higher order{better}",
            )
    if abs(drift) <= _JUMP * exchanged + rounding:
        return ()
    return (f"{said(drift)} over the run, a little in each step: {remedy}",)


def limits_passed(
    mechanism: Mechanism, time: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
    loop_tau: Mapping[str, np.ndarray] | None = None,
) -> tuple[LimitPassed, ...]:  # fmt: skip
    """The limits of joints that a motion exceeds, those of the tree first; `loop_tau`: efforts (n, k) of drives in loops.

    Position limits are checked for joints whose coordinates correspond one to one to degrees of freedom (not for quaternions).
    """
    passed = _passed(mechanism.joints, time, q, v, tau)
    if any(loop.limits != (Limits(),) * loop.kind.nv for loop in mechanism.loops):
        passed += _passed(mechanism.loops, time, *_in_loops(mechanism, q, v, loop_tau or {}))
    return tuple(passed)


def _in_loops(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, loop_tau: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """q, v and efforts (n, …) of loop joints and lines; angles begin with the turn nearest to the middle of their ranges."""
    place, rates = loops_at(mechanism, q, v).values()
    starts = accumulate((loop.kind.nq for loop in mechanism.loops), initial=0)
    for loop, start in zip(mechanism.loops, starts, strict=False):
        for k in loop.kind.angles:
            ends = [end for end in (loop.limits[k].lower, loop.limits[k].upper) if end is not None]
            own = np.unwrap(place[:, start + k])
            place[:, start + k] = own + turn * np.round((np.mean(ends or [0.0]) - own[0]) / turn)
    still = np.zeros((len(q), 0))
    efforts = [loop_tau.get(loop.name, np.zeros((len(q), loop.kind.nv))) for loop in mechanism.loops]
    return [place, rates, np.hstack([still, *efforts])]


@lru_cache(maxsize=64)
def _watched(items: tuple[Joint, ...] | tuple[Loop, ...]) -> tuple[Any, ...]:
    """The names of degrees of freedom, which of them each coordinate is (or −1), and their limits.

    These are low and high of coordinates, speed and effort: NaN where there is none, which nothing exceeds.
    """
    names: list[str] = []
    numbers: list[tuple[float | None, ...]] = []
    freedom: list[int] = []
    for item in items:
        rates = item.kind.velocities
        plain = item.kind.nq == item.kind.nv
        freedom += [len(names) + k if plain else -1 for k in range(item.kind.nq)]
        names += [item.name if len(rates) == 1 else f"{item.name}.{rates[k]}" for k in range(item.kind.nv)]
        numbers += [(limit.lower, limit.upper, limit.velocity, limit.effort) for limit in item.limits]
    each = np.array([*numbers, (None,) * 4], dtype=float)  # the last, of index −1, is of coordinates without limits
    return names, freedom, *each[freedom, :2].T, *each[:-1, 2:].T


def _passed(
    items: tuple[Joint, ...] | tuple[Loop, ...], time: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> list[LimitPassed]:
    """The limits that joints exceed in their motion, whose columns are those of each after those of the one before."""
    names, freedom, low, high, speed, effort = _watched(items)
    passed: list[tuple[int, LimitPassed]] = []
    for quantity, moved, least, most in (
        ("position", q, low, high), ("velocity", v, -speed, speed), ("effort", tau, -effort, effort)
    ):  # fmt: skip
        outside = (moved < least) | (moved > most)
        for column in np.flatnonzero(outside.any(axis=0)).tolist() if outside.any() else ():
            n = freedom[column] if quantity == "position" else column
            excess = np.fmax(least[column] - moved[:, column], moved[:, column] - most[column])
            beyond = excess > (_REACHED if quantity == "position" else 0.0)
            if beyond.any():
                first = float(time[int(np.argmax(beyond))])
                passed.append((n, LimitPassed(names[n], first, float(np.nanmax(excess)), quantity)))
    return [item for _, item in sorted(passed, key=lambda pair: pair[0])]


def quaternion_error(mechanism: Mechanism, q: np.ndarray) -> float:
    """max |1 − |quaternion|| over all quaternions of q, shape (n, nq)."""
    quaternions = q[:, _quaternions(mechanism)]
    return float(np.abs(1.0 - np.linalg.norm(quaternions, axis=2)).max(initial=0.0))


@lru_cache(maxsize=64)
def _quaternions(mechanism: Mechanism) -> np.ndarray:
    """Where the numbers of quaternions stand in q (quaternions, 4)."""
    own = [(item.q.start, item.kind.coordinates) for item in joint_columns(mechanism)]
    turned = [start + k for start, names in own for k, name in enumerate(names) if name in ("qx", "qy", "qz", "qw")]
    return np.array(turned, dtype=int).reshape(-1, 4)
