"""The arguments of simulations, checked before anything is computed or allocated."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import ceil, isfinite
from typing import Any

import numpy as np

from ..analysis import joint_coordinates
from ..errors import InputError
from ..model import Bound, Limits, Mechanism, in_loops, loop_bounds
from ..model.values import NOT_NEGATIVE, POSITIVE, Rule, checked_number, checked_whole, real_array, shown

TIME = Rule(POSITIVE.words, "Give a time in seconds", POSITIVE.holds)
DURATION = Rule(NOT_NEGATIVE.words, "Give a time in seconds", NOT_NEGATIVE.holds)
TOLERANCE = Rule("between 0 and 1, both excluded", "1e-8 is usual", lambda x: 0.0 < x < 1.0)
RATE = Rule(NOT_NEGATIVE.words, "Give a rate in 1/s, or leave it out for projection", NOT_NEGATIVE.holds)
#: A quaternion counts as of unit length if its length differs from 1 by less than this.
OFF_MANIFOLD = 1e-6
#: Coordinates of mechanisms with loops may start outside their limits by this much [rad, m].
_OUTSIDE = 1e-6
#: Assumed for a machine that does not report its memory [bytes].
_MEMORY = 64 * 2**30
#: Numbers that a run keeps per recorded time in addition to q, v, a, tau and efforts: energies, center of mass, momentum.
_BESIDES = 16


# --- states -----------------------------------------------------------------------------------------------------------
def checked_state(mechanism: Mechanism, what: str, size: int, values: Any) -> np.ndarray:
    """q or v as float64 numbers; refused, naming the component and the rule, if they are not a state of the mechanism."""
    array = real_array(values)
    if array is None:
        raise InputError(f"{mechanism.name}: {what} is {shown(values)}; give {size} real numbers")
    names = mechanism.q_names if what == "q" else mechanism.v_names
    if array.shape != (size,):
        raise InputError(
            f"{mechanism.name}: {what} has shape {array.shape}; it must have {size} components: {', '.join(names)}"
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(f"{mechanism.name}: {what} is {array[bad[0]]} for {names[bad[0]]!r}; it must be finite")
    if what == "q":
        check_manifold(mechanism, array)
    return array


def checked_rows(mechanism: Mechanism, what: str, values: Any, size: int, rows: int | None = None) -> np.ndarray:
    """Rows of finite numbers, one per run; exactly `rows` of them, if that is known. All else is refused."""
    array = real_array(values)
    if array is None:
        raise InputError(f"{mechanism.name}: {what} is {shown(values)}; give rows of {size} real numbers, one row per run")
    if array.ndim != 2 or array.shape[1] != size or not len(array) or rows not in (None, len(array)):
        raise InputError(f"{mechanism.name}: {what} has shape {array.shape}; it must be ({rows or 'N'}, {size}), a row per run")
    if not np.isfinite(array).all():
        run, k = np.argwhere(~np.isfinite(array))[0]
        raise InputError(f"{mechanism.name}: {what} is {array[run, k]} in column {k} of run {run}; it must be finite")
    if what == "q":
        check_manifold(mechanism, array)
    return array


def chosen_rows(rows: Any, count: int) -> np.ndarray:
    """The numbers of some of `count` rows: of indices, a mask, or a slice; refuses rows that there are not."""
    try:
        return np.arange(count)[rows]
    except (IndexError, TypeError) as error:
        raise InputError(
            f"rows is {shown(rows)}; there are rows 0 to {count - 1}. Give numbers, a mask of {count}, or a slice ({error})"
        ) from None


def check_manifold(mechanism: Mechanism, q: np.ndarray) -> None:
    """Refuses coordinates (..., nq) whose quaternions are not of unit length, with the order of components as a hint."""
    rows = q.reshape(-1, mechanism.nq) if mechanism.nq else q.reshape(0, 0)
    for link in mechanism.tree.links:
        if link.kind.nq == link.kind.nv or not len(rows):
            continue
        values = rows[:, link.q_start : link.q_start + link.kind.nq]
        apart = np.abs(link.kind.off_manifold(list(values.T)))
        worst = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
        own, off = values[worst].tolist(), apart[worst]
        if not off < OFF_MANIFOLD:
            raise InputError(
                f"{mechanism.name}: the quaternion in q of joint {link.name!r} is {off:.3g} off unit length: {own}. The "
                f"order of its components is ({', '.join(link.kind.coordinates)}); some programs put the position or w first"
            )


def check_limits(mechanism: Mechanism, bounds: Sequence[Bound], q: np.ndarray) -> None:
    """Refuses a start q (nq) of a mechanism with loops outside its limits: stops would bring it back against the loops."""
    if not mechanism.loops or not bounds:
        return
    place = joint_coordinates(mechanism, q.tolist()) if in_loops(mechanism, bounds) else q.tolist()
    gaps = [float(bound.gap(place)) for bound in bounds]
    gap, worst = min(zip(gaps, bounds, strict=True), key=lambda one: one[0])
    if gap < -_OUTSIDE:
        side = "lower" if worst.sign > 0.0 else "upper"
        names = (*mechanism.q_names, *mechanism.loop_q_names)
        raise InputError(
            f"{mechanism.name}: joint {worst.name!r} starts at {worst.at + worst.sign * gap:.6g}, outside its {side} limit "
            f"{worst.at:.6g} ({names[worst.q]} in rad or m). Stops would force it back against closed loops: start within the "
            "limits (robot.state, --q), correct the limit, or take limits=False (--no-limits)"
        )


def first_notes(mechanism: Mechanism, limits: bool) -> list[str]:
    """What is said of a mechanism that does not move, and, with stops, of position limits of loop joints that do not stop."""
    still = [] if mechanism.nv else ["nothing moves: all joints are fixed"]
    free = [loop.name for loop in mechanism.loops if len(loop_bounds(loop)) < sum(map(_ends, loop.limits))]
    if not free or not limits:
        return still
    names = ", ".join(map(repr, free))
    return [
        *still,
        f"limits of loop joints ({names}): not all are stops, as angles of loop joints are known up to whole turns, so that "
        "their ranges must be narrower than a turn, and quaternions have no limits. Correct them, or cut the loop at another "
        "joint, by kumitate.model.recut(mechanism, loop, joint)",
    ]


def _ends(limits: Limits) -> int:
    return sum(at is not None and isfinite(at) for at in (limits.lower, limits.upper))


# --- times ------------------------------------------------------------------------------------------------------------
def run_times(name: str, duration: float, step: float, every: int | None) -> tuple[float, int, int]:
    """The step of a run, the number of its steps, and of those from one recorded state to the next, one unless given.

    The step is the next shorter one of which the duration is a multiple, and of `every` of them, unless it is so itself. All
    steps are then equal, which contact and the order of an integrator are better off with than with a short last one.
    """
    every = checked_whole(name, "every", 1 if every is None else every, 1, remedy="Give a number of steps", error=InputError)
    duration = checked_number("simulate", "duration", duration, DURATION, error=InputError)
    step = checked_number("simulate", "step", step, TIME, error=InputError)
    if abs(round(duration / step) * step - duration) > 1e-9 * max(duration, step):
        step = duration / (every * ceil(duration / (every * step)))
    count = round(duration / step)
    if count % every:
        raise InputError(f"every is {every}; it must divide the number of steps, {count}. Take another, or another duration")
    return step, count, every


def fitted_sample_time(sample_time: float | None, asked: float, fitted: float) -> float | None:
    """A sample time that is as many fitted steps as it was of those that were asked for."""
    hold = steps_held(sample_time, asked)
    return sample_time if hold is None or fitted == asked else hold * fitted


def step_notes(asked: float, fitted: float, hold: int | None = None) -> list[str]:
    """The sentence that says that a step was made shorter; `hold`: for so many of them sampled efforts are held."""
    held = f", and efforts are sampled every {hold * fitted:.6g} s" if hold else ""
    return [] if fitted == asked else [f"the step is {fitted:.6g} s{held}: the duration is not a multiple of {asked:.6g} s"]


def checked_count(count: Any, what: str = "the number of steps", least: int = 0) -> int:
    """A number of steps, records or states: whole, and at least so many."""
    return checked_whole("simulate", what, count, least, remedy="Give a whole number", error=InputError)


def steps_held(sample_time: float | None, step: float) -> int | None:
    """The number of steps that a sampled effort is held; None if efforts are not sampled at multiples of a time."""
    if sample_time is None:
        return None
    period = checked_number("simulate", "sample_time", sample_time, DURATION, error=InputError)
    if period == 0.0:
        return None
    hold = round(period / step)
    if hold < 1 or abs(hold * step - period) > 1e-9 * period:
        raise InputError(f"sample_time {period} s is not a multiple of the step {step} s; take {max(hold, 1) * step:.12g} s")
    return hold


def check_memory(mechanism: Mechanism, times: int, runs: int = 1) -> None:
    """Refuses to record more states than the machine's memory holds."""
    needed = 8.0 * runs * times * (mechanism.nq + 4 * mechanism.nv + _BESIDES)
    there = _memory()
    if needed > there:
        raise InputError(
            f"{mechanism.name}: {runs * times:.3g} recorded states would take {needed / 2**30:.3g} GB of memory, and this "
            f"machine has {there / 2**30:.3g} GB. Take a longer step or a shorter duration, or let simulate_batch record fewer "
            "states (every=...)"
        )


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # not a Unix
        return float(_MEMORY)


# --- options ----------------------------------------------------------------------------------------------------------
def by_name(what: str, given: Any) -> dict[str, Any]:
    """A dictionary given by the user; empty for None, and refused if it is anything else."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"simulate: {what} is {shown(given)}; it must be a dictionary by name. Write {what}={{name: …}}")
    return dict(given)
