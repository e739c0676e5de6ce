"""The problems of docs/contact-table.md, and what was expected of each contact model before it ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from . import contact_problems as problems
from .contact_problems import Measured, Trial
from .contact_scenes import balls, buildings, dominoes, machines, tops

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

ROWS = (
    Row(
        "bouncing ball", "e = 0.8 from 1 m: impacts at 0.4515 and 1.1740 s, at rest from 4.0637 s on", problems.bouncing_ball,
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes(_STIFF + "; its damper is chosen for e")},
    ),
    Row(
        "head-on spheres", "e = 0, ¼, ½, ¾, 1: momentum stays, relative velocity turns by −e", problems.head_on,
        {
            "rigid": _yes(_LAW), "multipoint": _yes(_ONE),
            "penalty": _yes("a linear spring and damper give back the same part of any velocity"),
        },
    ),
    Row(
        "sliding block", "v0 = 5 m/s, μ = 0.5: stops after 2.5484 m, 1.0194 s", problems.block_stops,
        {
            "rigid": _yes(_LAW), "multipoint": _no(_TIPS, "holds: all points slide alike"),
            "penalty": _yes("full friction above 4 mm/s"),
        },
    ),
    Row(
        "incline, held", "tan θ = 0.3, μ_s = 0.5: no creep", problems.held_on_incline,
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
    Row(
        "incline, sliding", "35 deg, μ_s = 0.5, μ_k = 0.4: a = g (sin θ − μ_k cos θ)", problems.slides_down,
        {
            "rigid": _yes(_LAW), "multipoint": _no("friction is computed afterwards and makes the cube tremble"),
            "penalty": _yes("full friction above 4 mm/s"),
        },
    ),
    Row(
        "incline, between thresholds", "μ_k = 0.4 < tan θ = 0.45 < μ_s = 0.5: at rest it stays, sliding it goes on",
        problems.between_thresholds,
        {
            "rigid": _yes("static friction below 0.1 mm/s, else kinetic"),
            "multipoint": _no("slides as it should, but tan θ > μ_s/(1 + μ_s): the upper corners slip"),
            "penalty": _no("knows the kinetic coefficient only"),
        },
    ),
    Row(
        "cube pushed along 0, 30, 45, 60 deg", "the same straight path, no yaw", problems.pushed_cube,
        {
            "rigid": _yes("its friction cone is round"), "multipoint": _no(_TIPS, "holds: friction is against the slip"),
            "penalty": _yes("friction is directed against the slip"),
        },
    ),
    Row(
        "sphere, sliding to rolling", "v = 5/7 v0 from t = 2 v0/(7 μ g) on", problems.sliding_to_rolling,
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes("rolls once the slip is spent")},
    ),
    Row(
        "sphere, rolling down", "a = 5/7 g sin θ", problems.rolling_down,
        {"rigid": _yes(_LAW), "multipoint": _yes(_ONE), "penalty": _yes("slips by less than a mm/s")},
    ),
    Row(
        "spring with dry friction", "each half swing is shorter by 2 μ m g/k; at last it sticks", problems.block_on_spring,
        {"rigid": _yes(_LAW), "multipoint": _yes("all points alike"), "penalty": _no("swings right, then creeps")},
    ),
    Row(
        "stack of 4", "contact k carries (n − k + 1) m g; nothing moves", problems.stack,
        {
            "rigid": _yes("the equations are solved to rounding, not by sweeps"),
            "multipoint": _yes("all normal forces push: least norm is it"),
            "penalty": _yes("equal boxes, stiff springs"),
        },
    ),
    Row(
        "heavy on light", "1000 kg on 1 kg", problems.heavy_on_light,
        {
            "rigid": _yes("large ratios of masses matter only for rounding"), "multipoint": _yes("as for the stack"),
            "penalty": _no("the spring is chosen for the light box and swings for seconds under the heavy one"),
        },
    ),
    Row(
        "box on four corners", "forces sum to m g; least-norm split", problems.box_on_corners,
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
    Row(
        "Newton's cradle, 1.1 mm apart", "the same, one collision after the other", partial(problems.row_of_balls, gap=1.1e-3),
        {
            "rigid": _yes(_PAIRS), "multipoint": _yes(_PAIRS), "penalty": _yes("each collision is over before the next"),
        },
    ),
    Row(
        "Painlevé rod", "leans into its slide, μ = 2: no gained energy, the tip does not sink", problems.rod_jams,
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
    Row(
        "balls on a dragged box",
        "SimBenchmark's rolling test: 25 balls on a box of 10 kg, 150 N along the diagonal: "
        "a (M + 2/7 n m) = F − μ (M + n m) g, balls at 2/7 a",
        balls.balls_on_a_box, {"rigid": _yes("its friction cone is round: all directions are equal")},
    ),
    Row(
        "elastic balls", "SimBenchmark's bouncing test: from 10 m, e = 1, 10 s: the energy stays", balls.bounces,
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
    Row(
        "arch", "a half circle of 20 stones stands at t/R = 0.109 and falls at 0.105; the limit is 0.1075 (Milankovitch 1907)",
        buildings.arch, {"rigid": _yes("what can stand does: the hinges open exactly where the thrust leaves the stones")},
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
    Row(
        "tippe top", "turns over (Cohen 1977); L·r is constant (Jellett), and so its spin ends at (1 − α)/(1 + α) of the first",
        tops.tippe_top, {"rigid": _yes("sliding friction at one point; order one in h")},
    ),
    Row(
        "boxes on a conveyor", "at the speed u of the belt after u/(μ g); the belt's work is m u²", machines.conveyor,
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
    Row(
        "chain over a drum", "8 beads hold weights up to ((1 + μ tan δ/2)/(1 − μ tan δ/2))⁸ to 1, δ = π/8 (Euler, Eytelwein)",
        machines.chain_over_drum, {"rigid": _yes("the cone is exact")},
    ),
)  # fmt: skip
