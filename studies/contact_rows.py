"""The problems of docs/contact-table.md, and what was expected of each contact model before it ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from kumitate_problems import PROBLEMS
from kumitate_problems import contact as problems
from kumitate_problems.contact import Trial
from kumitate_problems.contract import Measured
from kumitate_problems.scenes import balls, buildings, dominoes, machines, tops

__all__ = ["ROWS", "Expected", "Row"]


@dataclass(frozen=True)
class Expected:
    """What a model is expected to do, and why; `at_first`: the expectation before the first run, if it was different."""

    holds: bool
    because: str
    at_first: str = ""


def _yes(because: str, at_first: str = "") -> Expected:
    return Expected(True, because, at_first)


def _no(because: str, at_first: str = "") -> Expected:
    return Expected(False, because, at_first)


@dataclass(frozen=True)
class Row:
    """A problem and what was expected of each model, written before it ran.

    Attributes:
        name: unique; `what`: the problem and its closed form.
        problem: what measures it.
        expected: by the names of models; those that are not named cannot run it, such as scenes of many bodies.
    """

    name: str
    what: str
    problem: Callable[[Trial], list[Measured]]
    expected: Mapping[str, Expected]


_LAW = "computes exactly this law"
_ONE = "with one point it computes exactly this law"
_STIFF = "the stiff spring's collision is over within a step"
_TIPS = "normal impulses are computed without friction; its moment then tips the cube, which chatters on its corners"
_PAIRS = "pairs collide one after the other"
_CREEPS = "rounded friction is viscous near rest, so that it creeps"


def _published(name: str, expected: Mapping[str, Expected]) -> Row:
    """The row of a problem that `kumitate validate` runs, too."""
    problem = PROBLEMS[name]
    return Row(name, problem.what, problem.measure, expected)


ROWS = (
    _published(
        "bouncing ball",
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes(_STIFF + "; its damper is chosen for e")},
    ),
    _published(
        "head-on spheres",
        {
            "rigid": _yes(_LAW), "multipoint": _yes(_ONE),
            "penalty": _yes("a linear spring and damper give back the same part of any velocity"),
        },
    ),
    _published(
        "sliding block",
        {
            "rigid": _yes(_LAW), "multipoint": _no(_TIPS, "holds: all points slide alike"),
            "penalty": _yes("full friction above 4 mm/s"),
        },
    ),
    _published(
        "incline, held",
        {
            "rigid": _yes("what sticks has no velocity"), "multipoint": _yes("every corner is within its own cone"),
            "penalty": _no(_CREEPS),
        },
    ),
    Row(
        "incline, at the limit", "tan θ = μ_s (1 − 1e-9): no creep", problems.steep_hold,
        {
            "rigid": _yes("the upper corners slip onto the lower ones, which hold"),
            "multipoint": _no("friction is shared evenly: the upper corners carry less and slip, beyond tan θ = μ_s/(1 + μ_s)"),
            "penalty": _no(_CREEPS),
        },
    ),
    _published(
        "incline, sliding",
        {
            "rigid": _yes(_LAW), "multipoint": _no("friction is computed afterwards and makes the cube tremble"),
            "penalty": _yes("full friction above 4 mm/s"),
        },
    ),
    _published(
        "incline, between thresholds",
        {
            "rigid": _yes("static friction below 0.1 mm/s, else kinetic"),
            "multipoint": _no("slides as it should, but tan θ > μ_s/(1 + μ_s): the upper corners slip"),
            "penalty": _no("knows the kinetic coefficient only"),
        },
    ),
    _published(
        "cube pushed along 0, 30, 45, 60 deg",
        {
            "rigid": _yes("its friction cone is round"), "multipoint": _no(_TIPS, "holds: friction is against the slip"),
            "penalty": _yes("friction is directed against the slip"),
        },
    ),
    _published(
        "sphere, sliding to rolling",
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes("rolls once the slip is spent")},
    ),
    _published(
        "sphere, rolling down",
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes("slips by less than a mm/s")},
    ),
    _published(
        "spring with dry friction",
        {"rigid": _yes(_LAW), "multipoint": _yes("all points alike"), "penalty": _no("swings right, then creeps")},
    ),
    _published(
        "stack of 4",
        {
            "rigid": _yes("the equations are solved to rounding, not by sweeps"),
            "multipoint": _yes("all normal forces push: least norm is it"),
            "penalty": _yes("equal boxes, stiff springs"),
        },
    ),
    _published(
        "heavy on light",
        {
            "rigid": _yes("large ratios of masses matter only for rounding"), "multipoint": _yes("as for the stack"),
            "penalty": _no("the spring is chosen for the light box and swings for seconds under the heavy one"),
        },
    ),
    _published(
        "box on four corners",
        {
            "rigid": _yes("its regularised step starts from zero impulses, which gives the least norm"),
            "multipoint": _yes("a pseudo-inverse"),
            "penalty": _yes("equal springs under a rigid sole are the least-norm split"),
        },
    ),
    Row(
        "Newton's cradle, touching", "three balls, e = 1: the last goes alone", problems.row_of_balls,
        {
            "rigid": _no("it solves all collisions at once: −⅓, ⅔, ⅔ keeps momentum and energy, too"),
            "multipoint": _no("it solves all collisions at once: −⅓, ⅔, ⅔"),
            "penalty": _no("the wave through linear springs spreads: the last ball gets most of the momentum, not all"),
        },
    ),
    _published(
        "Newton's cradle, 1.1 mm apart",
        {
            "rigid": _yes(_PAIRS), "multipoint": _yes(_PAIRS), "penalty": _yes("each collision is over before the next"),
        },
    ),
    _published(
        "Painlevé rod",
        {
            "rigid": _yes("impulses may jump: the tip jams and strikes (impact without collision)"),
            "multipoint": _yes(
                "friction, coming after the normal impulse, does press the tip in, by less than 1.5 h v; it comes out again",
                "fails: friction presses the tip into the floor",
            ),
            "penalty": _yes("forces are finite; the spring takes the blow"),
        },
    ),
    Row(
        "ball at rest", "depth (m g/K)^(1/n) on springs, none for rigid bodies", problems.ball_at_rest,
        {"rigid": _yes("gaps are closed, not more"), "multipoint": _yes("the same"), "penalty": _yes("static balance")},
    ),
    Row(
        "stack of 10", "contact k carries (n − k + 1) m g; nothing moves", partial(problems.stack, masses=(1.0,) * 10),
        {"rigid": _yes("the equations are solved to rounding, not by sweeps")},
    ),
    Row(
        "stack of 20", "the same", partial(problems.stack, masses=(1.0,) * 20),
        {"rigid": _yes("the equations are solved to rounding, not by sweeps")},
    ),
    _published(
        "balls on a dragged box",
        {"rigid": _yes("its friction cone is round: all directions are equal")},
    ),
    _published(
        "elastic balls",
        {"rigid": _yes("the velocity turns round exactly; a step of an impact is off by part of its length")},
    ),
    Row(
        "666", "SimBenchmark: 216 smooth balls of 10 kg, e = 0, fall in a cube and spread: no depth, no gained energy",
        balls.cube_of_balls, {"rigid": _yes("gaps are closed, not passed, but for the curvature of a step's way")},
    ),
    Row(
        "elastic 666", "SimBenchmark: the same with e = 1: the energy stays", partial(balls.cube_of_balls, restitution=1.0),
        {"rigid": _yes("each impact of a step loses m g h v at most")},
    ),
    Row(
        "ball on a turntable", "rolls round a circle at 2/7 of the turntable's rate (Weltner 1979)", balls.turntable,
        {"rigid": _yes("sticks to what moves")},
    ),
    Row(
        "brick wall hit by a ball", "momentum is that of the start and of the floor's impulses; energy is never gained",
        balls.wall_hit, {"rigid": _yes("every impulse has its opposite at the same point")},
    ),
    _published(
        "arch",
        {"rigid": _yes("what can stand does: the hinges open exactly where the thrust leaves the stones")},
    ),
    Row(
        "card house", "two cards stand if μ ≥ ½ (tan α − d/L); a house of seven stands", buildings.card_house,
        {"rigid": _yes("what can stick does")},
    ),
    Row(
        "dominoes", "the wave along 24 dominoes whose feet do not slip, without friction between them (van Leeuwen 2010)",
        dominoes.dominoes, {"rigid": _yes("collisions are plastic, as the theory has them")},
    ),
    Row(
        "rattleback", "Kane and Levinson's: reverses when spun against its sense, as the equations of rolling say (Bondi 1986)",
        tops.rattleback,
        {"rigid": _yes("rolls without slip; steps of order one make rattling grow too fast, by a part of order h")},
    ),
    _published(
        "tippe top",
        {"rigid": _yes("sliding friction at one point; order one in h")},
    ),
    _published(
        "boxes on a conveyor",
        {"rigid": _yes("friction relative to the belt")},
    ),
    Row(
        "gripper that shakes a cube", "held as long as 2 μ P ≥ m (g + a)", machines.gripper,
        {"rigid": _yes("the cone is exact")},
    ),
    Row(
        "two arms of a robot", "driven together they meet, and press with the moment over its lever", machines.arms_meet,
        {"rigid": _yes(_LAW)},
    ),
    _published(
        "chain over a drum",
        {"rigid": _yes("the cone is exact")},
    ),
)  # fmt: skip
