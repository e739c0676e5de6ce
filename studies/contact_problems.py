"""Small problems of contact with answers in closed form, each to be run with any contact model.

Every function takes a `Trial` and gives what it measured: errors against the closed form, and the tolerance for each. Steps of
size h place things to 1.5 h v and impacts to h at best, as impacts fall into the step that they happen in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from kumitate.contact.models import FORCE_MODELS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Floating, Geometry, Hull, Joint, Mechanism, Plane, Prismatic, Shape, Sphere
from kumitate.results.result import Result
from kumitate.simulate.run import simulate

__all__ = [
    "Measured", "Trial", "at", "ball_at_rest", "between_thresholds", "block_on_spring", "block_stops", "bouncing_ball",
    "box_on_corners", "head_on", "heavy_on_light", "held_on_incline", "pushed_cube", "rod_jams", "rolling_down", "row_of_balls",
    "slides_down", "sliding_to_rolling", "solid", "stack", "steep_hold", "to", "unconnected", "weightless",
]  # fmt: skip

G = 9.81
FLOOR = (Geometry(Plane()),)
#: A spring at a point of contact, a mass [N/m a kg]: a collision of two bodies takes about π/√SPRING.
SPRING = 1e8


@dataclass(frozen=True)
class Measured:
    """A number against its closed form; `unit`: of the error and the tolerance."""

    what: str
    error: float
    tolerance: float
    unit: str

    @property
    def holds(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        return self.error <= self.tolerance


@dataclass(frozen=True)
class Trial:
    """A contact model on one problem.

    Attributes:
        model: its name; step: h [s].
    """

    model: str = "rigid"
    step: float = 1e-3

    def run(
        self,
        mechanism: Mechanism,
        q: Sequence[float] | np.ndarray,
        v: Sequence[float] | np.ndarray | None = None,
        *,
        duration: float,
        surface: Surface | None = None,
        ground: Sequence[Geometry] = FLOOR,
        between: Iterable[tuple[str, str]] | None = None,
        options: dict[str, float] | None = None,
        struck: float | None = None,
        surfaces: Mapping[str, Surface] | None = None,
        pairs: Mapping[tuple[str, str], Surface] | None = None,
        **driven: Any,
    ) -> Result:
        """A run. For models of springs, `options` are theirs, or come from the mass that is struck [kg] and the restitution.

        `driven`: more arguments of `simulate`, such as a controller or wrenches.
        """
        surface = surface or Surface()
        springs = (options or self.springs(struck or mechanism.tree.mass, surface)) if self.model in FORCE_MODELS else {}
        contact = Contact(self.model, ground, surface, surfaces or {}, pairs or {}, between=between, options=springs)
        return simulate(mechanism, q, v, duration=duration, step=self.step, contact=contact, **driven)

    @staticmethod
    def springs(mass: float, surface: Surface) -> dict[str, float]:
        """A stiff spring, and the damper whose collisions give back the restitution: ln e = −π ζ/√(1 − ζ²)."""
        stiffness = SPRING * mass
        lost = -math.log(max(surface.restitution, 1e-300))  # e = 0: all but critical
        ratio = lost / math.hypot(math.pi, lost)
        return {"stiffness": stiffness, "damping": 2.0 * ratio * math.sqrt(stiffness * mass), "pull": 1.0}


# --- bodies -----------------------------------------------------------------------------------------------------------
def solid(name: str, shape: Box | Sphere, mass: float = 1.0) -> Body:
    """A homogeneous body [kg], centered on its frame, that touches with its shape."""
    if isinstance(shape, Sphere):
        inertia = (0.4 * mass * shape.radius**2,) * 3
    else:
        x, y, z = (size * size / 12.0 * mass for size in shape.size)
        inertia = (y + z, x + z, x + y)
    return _body(name, shape, mass, inertia)


def _body(name: str, shape: Shape, mass: float, inertia: Sequence[float]) -> Body:
    return Body(name, mass, inertia=inertia, visuals=(Geometry(shape),), collisions=(Geometry(shape),))


def unconnected(*bodies: Body, slope: float = 0.0) -> Mechanism:
    """Bodies that move freely; gravity leans by `slope` [rad] towards +x, as if the floor did the other way."""
    joints = tuple(Joint(f"{body.name}_free", Floating(), "world", body.name) for body in bodies)
    return Mechanism("bodies", bodies, joints, gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))


def weightless(mechanism: Mechanism) -> Mechanism:
    """The same without gravity."""
    return replace(mechanism, gravity=(0.0, 0.0, 0.0))


CUBE = Box((0.2, 0.2, 0.2))
BALL = Sphere(0.1)


def at(*places: Sequence[float]) -> np.ndarray:
    """q of free bodies that stand upright at these places."""
    return np.array([x for place in places for x in (0.0, 0.0, 0.0, 1.0, *place)])


def to(*velocities: Sequence[float]) -> np.ndarray:
    """v of free bodies that do not turn."""
    return np.array([x for velocity in velocities for x in (0.0, 0.0, 0.0, *velocity)])


def _speed(run: Result) -> np.ndarray:
    """Of the first free body (n,) [m/s]."""
    return np.linalg.norm(run.v[:, 3:6], axis=1)


def _place(h: float, v: float, error: float, what: str) -> Measured:
    """A position after steps h at speeds up to v."""
    return Measured(what, abs(error), 1.5 * h * v, "m")


# --- impacts ----------------------------------------------------------------------------------------------------------
def bouncing_ball(trial: Trial) -> list[Measured]:
    """Dropped by 1 m with e = 0.8; it is at rest after t1 (1 + e)/(1 − e), and the run goes on."""
    e, first = 0.8, math.sqrt(2.0 / G)
    run = trial.run(unconnected(solid("ball", BALL)), at((0.0, 0.0, 1.1)), duration=4.5, surface=Surface(restitution=e))
    thrown = run.time[1:][np.diff(run.v[:, 5]) > 0.5] - 0.5 * trial.step  # the middles of such steps
    hits = [thrown[0], thrown[np.flatnonzero(np.diff(thrown) > 0.1)[0] + 1]]
    late = run.time > first * (1.0 + e) / (1.0 - e) + trial.step
    return [
        Measured("first impact", abs(hits[0] - first), trial.step, "s"),
        Measured("second impact", abs(hits[1] - first * (1.0 + 2.0 * e)), trial.step, "s"),
        Measured("height, once at rest", float(np.abs(run.q[late, 6] - 0.1).max()), 1e-6, "m"),
    ]


def head_on(trial: Trial, restitutions: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> list[Measured]:
    """Two equal balls at 1 and −0.5 m/s, of several restitutions e: v̄ ∓ e (v1 − v2)/2."""
    found = []
    for e in restitutions:
        run = _line(trial, [1.0, -0.5], gap=0.1003, duration=0.15, restitution=e)
        exact = np.array([0.25 - 0.75 * e, 0.25 + 0.75 * e])
        found.append(Measured(f"velocities, e = {e:g}", float(np.abs(run.v[-1, 3::6] - exact).max()), 1e-6, "m/s"))
    return found


def row_of_balls(trial: Trial, gap: float = 0.0, count: int = 3) -> list[Measured]:
    """Newton's cradle, e = 1: a ball at 1 m/s strikes equal ones in a row; the last goes on alone."""
    run = _line(trial, [1.0] + [0.0] * (count - 1), gap=gap, duration=0.05, restitution=1.0)
    exact = np.array([0.0] * (count - 1) + [1.0])
    return [Measured("velocities", float(np.abs(run.v[-1, 3::6] - exact).max()), 1e-6, "m/s")]


def _line(trial: Trial, speeds: Sequence[float], *, gap: float, duration: float, restitution: float) -> Result:
    """Equal balls in a row without gravity or friction."""
    names = [f"ball{k}" for k in range(len(speeds))]
    balls = unconnected(*(solid(name, BALL) for name in names))
    places = [(k * (0.2 + gap), 0.0, 0.0) for k in range(len(speeds))]
    return trial.run(
        weightless(balls), at(*places), to(*((v, 0.0, 0.0) for v in speeds)), duration=duration, ground=(),
        between=list(pairwise(names)), surface=Surface(0.0, restitution=restitution), struck=0.5,
    )  # fmt: skip


# --- friction ---------------------------------------------------------------------------------------------------------
def block_stops(trial: Trial) -> list[Measured]:
    """At 5 m/s with μ = 0.5: it stops after v²/(2 μ g) and v/(μ g)."""
    v, mu = 5.0, 0.5
    run = trial.run(unconnected(solid("block", CUBE)), at((0, 0, 0.1)), to((v, 0, 0)), duration=1.2, surface=Surface(mu))
    stopped = run.time[np.flatnonzero(_speed(run) < 5e-3)[0]]
    return [
        _place(trial.step, v, run.q[-1, 4] - v * v / (2.0 * mu * G), "where"),
        Measured("when", abs(stopped - v / (mu * G)), 1.5 * trial.step, "s"),
    ]


def _on_slope(trial: Trial, slope: float, v: float, surface: Surface, duration: float, **driven: Any) -> Result:
    block = unconnected(solid("block", CUBE), slope=slope)
    return trial.run(block, at((0.0, 0.0, 0.1)), to((v, 0.0, 0.0)), duration=duration, surface=surface, **driven)


def _creep(run: Result) -> Measured:
    """How far anything moved from its start; turns count by the cube's half diagonal."""
    return Measured("moved", float(np.abs(run.q - run.q[0]).max()), 1e-8, "m in 10 s")


def held_on_incline(trial: Trial) -> list[Measured]:
    """A cube on an incline of tan θ = 0.3, μ_s = 0.5: held, without creep."""
    return [_creep(_on_slope(trial, math.atan(0.3), 0.0, Surface(0.5, 0.4), 10.0))]


def steep_hold(trial: Trial) -> list[Measured]:
    """tan θ = μ_s (1 − 1e-9): held to the end of the cone, by code of its own; through lists it creeps 1.4e-8 m."""
    slope = math.atan(0.5 * (1.0 - 1e-9))
    return [_creep(_on_slope(trial, slope, 0.0, Surface(0.5, 0.5), 10.0, side_by_side=True))]


def slides_down(trial: Trial) -> list[Measured]:
    """At tan θ > μ_s: from rest at g (sin θ − μ_k cos θ)."""
    slope, t = math.radians(35.0), 1.0
    a = G * (math.sin(slope) - 0.4 * math.cos(slope))
    run = _on_slope(trial, slope, 0.0, Surface(0.5, 0.4), t)
    return [_place(trial.step, a * t, run.q[-1, 4] - 0.5 * a * t * t, "where")]


def between_thresholds(trial: Trial) -> list[Measured]:
    """μ_k < tan θ = 0.45 < μ_s: what is at rest stays, what slides goes on at g (sin θ − μ_k cos θ)."""
    slope, t, v = math.atan(0.45), 1.0, 1.0
    a = G * (math.sin(slope) - 0.4 * math.cos(slope))
    slid = _on_slope(trial, slope, v, Surface(0.5, 0.4), t)
    stayed = _creep(_on_slope(trial, slope, 0.0, Surface(0.5, 0.4), 10.0))
    return [stayed, _place(trial.step, v + a * t, slid.q[-1, 4] - v * t - 0.5 * a * t * t, "slid")]


def pushed_cube(trial: Trial) -> list[Measured]:
    """The same push along 0, 30, 45 and 60 deg: the same straight path, and no yaw."""
    cube, reached, aside, turned = unconnected(solid("cube", CUBE)), [], 0.0, 0.0
    for degrees in (0.0, 30.0, 45.0, 60.0):
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        run = trial.run(cube, at((0, 0, 0.1)), to((3.0 * c, 3.0 * s, 0)), duration=0.8, surface=Surface(0.5))
        x, y = run.q[:, 4], run.q[:, 5]
        reached.append(float(c * x[-1] + s * y[-1]))
        aside = max(aside, float(np.abs(c * y - s * x).max()))
        turned = max(turned, 2.0 * float(np.abs(run.q[:, 2]).max()))
    return [
        Measured("lengths apart", max(reached) - min(reached), 1e-6, "m"),
        Measured("aside", aside, 1e-6, "m"),
        Measured("yaw", turned, 1e-6, "rad"),
    ]


def sliding_to_rolling(trial: Trial) -> list[Measured]:
    """A ball at 1 m/s that does not turn, μ = 0.3: rolls at 5/7 v0 from t = 2 v0/(7 μ g) on."""
    v, mu, t = 1.0, 0.3, 0.5
    run = trial.run(unconnected(solid("ball", BALL)), at((0, 0, 0.1)), to((v, 0, 0)), duration=t, surface=Surface(mu))
    rolls = 2.0 * v / (7.0 * mu * G)
    exact = v * rolls - 0.5 * mu * G * rolls**2 + 5.0 / 7.0 * v * (t - rolls)
    return [
        Measured("speed", abs(float(_speed(run)[-1]) - 5.0 / 7.0 * v), 1e-6, "m/s"),
        _place(trial.step, v, run.q[-1, 4] - exact, "where"),
    ]


def rolling_down(trial: Trial) -> list[Measured]:
    """A ball on an incline of 20 deg, μ = 0.3: a = 5/7 g sin θ."""
    slope, t = math.radians(20.0), 1.0
    a = 5.0 / 7.0 * G * math.sin(slope)
    ball = unconnected(solid("ball", BALL), slope=slope)
    run = trial.run(ball, at((0.0, 0.0, 0.1)), duration=t, surface=Surface(0.3))
    return [_place(trial.step, a * t, run.q[-1, 4] - 0.5 * a * t * t, "where")]


def block_on_spring(trial: Trial) -> list[Measured]:
    """A block on a spring with dry friction: each half swing is shorter by 2 μ m g/k; at last it sticks off the middle."""
    k, mu, start = 100.0, 0.2, 0.11
    spring = Joint("along", Prismatic(), "world", "rail", axis=(1.0, 0.0, 0.0), stiffness=k)
    carried = Joint("up", Prismatic(), "rail", "block", axis=(0.0, 0.0, 1.0))
    slider = Mechanism("slider", (Body("rail"), solid("block", CUBE)), (spring, carried))
    run = trial.run(slider, [start, 0.1], duration=2.0, surface=Surface(mu))
    lost, v = 2.0 * mu * G / k, start * math.sqrt(k)
    swings = math.ceil((start - 0.5 * lost) / lost)
    x, found = run.q[:, 0], []
    for n in range(1, swings + 1):  # errors add up, swing by swing
        reached = x[round(n * math.pi / math.sqrt(k) / trial.step)]
        found.append(_place(trial.step, n * v, float(reached) - (-1) ** n * (start - n * lost), f"after {n} half swings"))
    return [*found, Measured("moved in the last 0.5 s", float(np.ptp(x[run.time > 1.5])), 1e-8, "m")]


# --- loads ------------------------------------------------------------------------------------------------------------
def stack(trial: Trial, masses: Sequence[float] = (1.0,) * 4, duration: float = 2.0) -> list[Measured]:
    """A stack of boxes: each contact carries the weight above it, and nothing moves once the stack is at rest."""
    names = [f"box{k}" for k in range(len(masses))]
    boxes = unconnected(*(solid(name, CUBE, mass) for name, mass in zip(names, masses, strict=True)))
    below = list(zip(names, ["ground", *names], strict=False))
    run = trial.run(
        boxes, at(*((0.0, 0.0, 0.1 + 0.2 * k) for k in range(len(masses)))), duration=duration,
        between=below[1:], struck=min(masses),
    )  # fmt: skip
    touched = run.contact
    assert touched is not None
    loads = np.array(
        [sum(touched.normal_force[-1, k] for k, pair in enumerate(touched.bodies) if set(pair) == set(of)) for of in below]
    )
    carried = G * np.cumsum(masses[::-1])[::-1]
    late = run.q[run.time > 0.1]
    return [
        Measured("loads", float(np.abs(loads / carried - 1.0).max()), 1e-6, "of the load"),
        Measured("moved after 0.1 s", float(np.abs(late - late[0]).max()), 1e-7, "m"),
    ]


def heavy_on_light(trial: Trial) -> list[Measured]:
    """1000 kg on 1 kg."""
    return stack(trial, (1.0, 1000.0))


def box_on_corners(trial: Trial) -> list[Measured]:
    """A box with its center of mass off the middle: corner forces sum to m g, and are the least-norm ones that balance it."""
    shape, mass, (x, y) = Box((0.4, 0.3, 0.2)), 2.0, (0.1, 0.05)
    middle = solid("box", shape, mass)
    body = Body("box", mass, (x, y, 0.0), middle.inertia, middle.visuals, middle.collisions)
    run = trial.run(unconnected(body), at((0.0, 0.0, 0.1)), duration=0.5)
    touched = run.contact
    assert touched is not None
    places, forces = touched.position[-1], touched.normal_force[-1]
    balance = np.array([np.ones(len(forces)), places[:, 0], places[:, 1]])
    least = np.linalg.pinv(balance) @ (mass * G * np.array([1.0, x, y]))
    return [
        Measured("sum", abs(float(forces.sum()) - mass * G), 1e-5, "N"),
        Measured("split", float(np.abs(forces - least).max()), 1e-4, "N"),
    ]


def ball_at_rest(trial: Trial) -> list[Measured]:
    """How deep a ball has sunk in when at rest: (m g/K)^(1/n) on springs, n = 1 and 1.5; rigid bodies not at all."""
    found = []
    for n in (1.0, 1.5):
        options = {"stiffness": 1e4, "damping": 100.0, "exponent": n}
        ball = unconnected(solid("ball", BALL))
        run = trial.run(ball, at((0.0, 0.0, 0.1)), duration=2.0, options=options)
        depth = (G / options["stiffness"]) ** (1.0 / n) if trial.model in FORCE_MODELS else 0.0
        found.append(Measured(f"depth, n = {n:g}", abs(0.1 - run.q[-1, 6] - depth), 1e-8, "m"))
    return found


def rod_jams(trial: Trial) -> list[Measured]:
    """Painlevé's rod: it slides on its tip, leaning so that friction presses it in (μ = 2): no NaN, no gained energy."""
    lean, speed = math.radians(30.0), 2.0
    rod = _body("rod", Hull(((0.0, 0.0, -0.5), (0.0, 0.0, 0.5))), 1.0, (1 / 12, 1 / 12, 1e-4))
    c, s = math.cos(lean), math.sin(lean)
    q = [0.0, math.sin(lean / 2.0), 0.0, math.cos(lean / 2.0), 0.0, 0.0, 0.5 * c]
    v = [0.0, 0.0, 0.0, -c * speed, 0.0, -s * speed]  # along −x, in the rod's axes
    run = trial.run(unconnected(rod), q, v, duration=0.3, surface=Surface(2.0))
    touched, energy = run.contact, run.energy.total
    assert touched is not None
    return [
        Measured("energy above that of the start", float((energy - energy[0]).max()), 1e-9, "J"),
        Measured("how deep the tip gets", float(touched.penetration.max()), 1.5 * trial.step * speed, "m"),
    ]
