"""The choice of the integrator, and the advice for runs that diverged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analysis import fastest_rate
from ...errors import InputError
from ...model import Mechanism
from ..exchange import GainingStep
from ..integrators import INTEGRATORS, ExtrapolatedEuler, FollowingSteps, Integrator, Midpoint, SemiImplicitEuler, TimeStepping

#: The fastest rate that explicit methods of order 4 and 5 follow, as a multiple of 1/step.
EXPLICIT = 2.5
#: The same for the midpoint rule, which finds its velocities by iteration.
ITERATED = 5.0
#: A joint whose coordinates come this close to their singularity explains why a run failed.
_SINGULAR = 0.1


def chosen_integrator(
    mechanism: Mechanism,
    name: str,
    step: float,
    tolerance: float,
    q: np.ndarray,
    v: np.ndarray,
    notes: list[str],
    *,
    equal_steps: bool = False,
) -> Integrator:
    """The integrator of this name; if "auto" takes another than rkf45, `notes` says so.

    Args:
        equal_steps: whether "auto" has to take a method of constant step.

    Raises:
        InputError: for an unknown name.
    """
    if name == "auto":
        try:
            rate, joint = fastest_rate(mechanism, q, v)
        except ZeroDivisionError:  # loops without equations at the start, which closing them says
            rate, joint = 0.0, ""
        name = "rkf45"
        if rate * step >= EXPLICIT:
            stiff = (
                f"integrator: damping, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for explicit "
                f"{step:g} s steps; "
            )
            name = SemiImplicitEuler.name if equal_steps else ExtrapolatedEuler.name
            notes.append(
                stiff + (
                    "semi_implicit_euler was taken, which is implicit in them and of order 1. Without steps of equal length, "
                    "`km.simulate` takes extrapolated_euler" if equal_steps
                    else "extrapolated_euler was taken, which is implicit in them, of order 8 within `tolerance`. "
                    "semi_implicit_euler takes less time, at order 1; batches and `km.Simulation` take it, as their steps are "
                    "of equal length"
                )
            )  # fmt: skip
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise InputError(f"there is no integrator {name!r}; there are auto, {', '.join(INTEGRATORS)}")
    kind = INTEGRATORS[name]
    if kind is Midpoint:
        check_midpoint(mechanism, step, q, v)
    if not kind.adaptive:
        return kind()
    return kind(relative=tolerance, absolute=tolerance * 1e-2)  # type: ignore[call-arg]


def check_midpoint(mechanism: Mechanism, step: float, q: np.ndarray, v: np.ndarray) -> None:
    """Refuses steps [s] of the midpoint rule from a state that are too long for a mechanism's stiff forces."""
    rate, joint = fastest_rate(mechanism, q, v)
    if rate * step >= ITERATED:
        raise InputError(
            f"{mechanism.name}: damping, friction, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for steps of "
            f"{step:g} s with integrator='midpoint'. Take steps below {ITERATED / rate:.2g} s, or integrator='auto', which is "
            "implicit in them"
        )


def divergence(
    mechanism: Mechanism,
    t: float,
    q: np.ndarray,
    v_before: np.ndarray,
    v: np.ndarray,
    method: Integrator,
    step: float,
    touching: Sequence[str] = (),
) -> str:
    """Why a run ends at time t [s], where its velocities v diverge, and what to do about it.

    Args:
        q: (n, nq), the coordinates just before, up to the start of the step; v_before: the velocities there.
        touching: the pairs that touched there, in words.
    """
    method = method.inner if isinstance(method, FollowingSteps) else method
    if _by_impulses(method) and np.isposinf(v).all():
        where = f" ({', '.join(touching)})" if touching else ""
        return (
            f"{mechanism.name}: the contact problem has no usable solution at t = {t:.6g} s{where}: the velocities miss "
            "the laws of contact by many times the speeds before. Take a smaller step, less friction or "
            "restitution, or contact='penalty', and look at `contact.residual` and `contact.penetration` of the steps before."
        )
    lost = ~np.isfinite(v)
    speeds = np.where(lost, np.inf, np.abs(v))
    worst = int(np.argmax(np.abs(v_before) if lost.all() else speeds))
    return (
        f"{mechanism.name}: the simulation diverges at t = {t:.6g} s: the velocity of {mechanism.v_names[worst]!r} goes from "
        f"{v_before[worst]:.3g} to {v[worst]:.3g} in one step of {step:g} s with {method.name}. "
        f"{_remedy(mechanism, q, v_before, method, step)}"
    )


def runaway(
    mechanism: Mechanism, time: float, gain: GainingStep, q: np.ndarray, v: np.ndarray, method: Integrator, step: float
) -> str:
    """Why a run ends whose energy grows by itself, and what to do about it.

    Args:
        time: at which the step begins that gains it [s].
        q: (n, nq), the coordinates up to there; v: the velocities there.
    """
    method = method.inner if isinstance(method, FollowingSteps) else method
    by_contact = gain.contact > 0.5 * gain.energy
    why = "most of it by contact itself" if by_contact else "which no effort, damping or contact accounts for"
    others = "" if by_contact else " Controllers are often too stiff for a step that is held."
    worst = int(np.argmax(np.abs(v)))
    return (
        f"{mechanism.name}: the simulation runs away: {gain.energy:.3g} J are gained in the step from t = {time:.6g} s, where "
        f"the velocity of {mechanism.v_names[worst]!r} is {v[worst]:.3g}: {gain.part:.2g} times all that was exchanged before, "
        f"{why}. {_remedy(mechanism, q, v, method, step)}{others}"
    )


def _remedy(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, method: Integrator, step: float) -> str:
    """The likeliest cause first."""
    if singular := singular_angles(mechanism, q, _SINGULAR):
        return _away_from(singular)
    rate, joint = fastest_rate(mechanism, q[-1], v)
    jumps = _by_impulses(method)
    explicit = method.flight is not None if isinstance(method, TimeStepping) else not method.implicit_damping
    if rate * step > 1.0 and explicit:
        taken = "'semi_implicit_euler', which is" if jumps else "'semi_implicit_euler' or 'extrapolated_euler', which are"
        return f"Damping, springs or drives at {joint!r} act at {rate:.3g} 1/s: take integrator={taken} implicit in them."
    if jumps or method.name == "rkf45_adaptive":
        return "Take a smaller step, and look at the efforts just before."
    return "Take a smaller step, or integrator='rkf45_adaptive'."


def _by_impulses(method: Integrator) -> bool:
    """Whether its steps solve problems of contact."""
    return isinstance(method, TimeStepping) or method.kicks


def vanishing_steps(mechanism: Mechanism, told: str, q: np.ndarray) -> str:
    """An adaptive integrator's message about vanishing steps, and the singularity along q (n, nq) that explains it, if any."""
    singular = singular_angles(mechanism, q, _SINGULAR)
    return f"{told} {_away_from(singular)}" if singular else told


def _away_from(singular: list[tuple[str, float, int]]) -> str:
    names = ", ".join(repr(name) for name, _, _ in singular)
    return (
        f"The cause is likely that the angles of joint {names} come within {min(near for _, near, _ in singular):.2g} of their "
        "singularity, where their rates grow without bound: take the kind of joint with a quaternion, which has none."
    )


def singular_angles(mechanism: Mechanism, q: np.ndarray, within: float) -> list[tuple[str, float, int]]:
    """The joints whose coordinates come within a distance of their singularity along q (n, nq): name, distance and row."""
    found = []
    for link in mechanism.tree.links:
        if link.kind.singularity([0.3] * link.kind.nq) == 1.0:  # has none
            continue
        distances = [link.kind.singularity(row[link.q_start : link.q_start + link.kind.nq]) for row in q]
        nearest = int(np.argmin(distances))
        if distances[nearest] < within:
            found.append((link.name, float(distances[nearest]), nearest))
    return found
