"""Small problems of contact with answers in closed form, each to be run with any contact model.

Every function takes a `Trial`, by default of rigid contact, and gives what it measured. Steps of size h place things to 1.5 h v
and impacts to h at best, as impacts fall into the step that they happen in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from kumitate.contact.models import FORCE_MODELS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Floating, Geometry, Hull, Joint, Mechanism, Plane, Prismatic, Shape, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from .contract import Measured, Problem

__all__ = [
    "PROBLEMS", "RIGID", "Trial", "at", "ball_at_rest", "between_thresholds", "block_on_spring", "block_stops",
    "bouncing_ball", "box_on_corners", "head_on", "heavy_on_light", "held_on_incline", "oblique", "pushed_cube", "rocks",
    "rod_jams", "rod_lands", "rolling_down", "row_of_balls", "slides_down", "sliding_to_rolling", "solid", "stack",
    "steep_hold", "tips", "to", "unconnected", "weightless",
]  # fmt: skip

G = 9.81
FLOOR = (Geometry(Plane()),)
#: A spring at a point of contact, a mass [N/m a kg]: a collision of two bodies takes about π/√SPRING.
SPRING = 1e8


@dataclass(frozen=True)
class Trial:
    """A contact model on one problem.

    Attributes:
        model: its name; step: h [s].
        accuracy: of islands of many bodies, as of `Contact`.
    """

    model: str = "rigid"
    step: float = 1e-3
    accuracy: Literal["following", "strict"] = "following"

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
    ) -> Record:
        """A run. For models of springs, `options` are theirs, or come from the mass that is struck [kg] and the restitution.

        `driven`: more arguments of `simulate`, such as a controller or wrenches.
        """
        surface = surface or Surface()
        springs = (options or self.springs(struck or mechanism.tree.mass, surface)) if self.model in FORCE_MODELS else {}
        contact = Contact(
            self.model, ground, surface, surfaces or {}, pairs or {}, between=between, options=springs, accuracy=self.accuracy
        )
        return simulate(mechanism, q, v, duration=duration, step=self.step, contact=contact, **driven)

    @staticmethod
    def springs(mass: float, surface: Surface) -> dict[str, float]:
        """A stiff spring, and the damper whose collisions give back the restitution: ln e = −π ζ/√(1 − ζ²)."""
        stiffness = SPRING * mass
        lost = -math.log(max(surface.restitution, 1e-300))  # e = 0: all but critical
        ratio = lost / math.hypot(math.pi, lost)
        return {"stiffness": stiffness, "damping": 2.0 * ratio * math.sqrt(stiffness * mass), "pull": 1.0}


RIGID = Trial()


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


def _speed(run: Record) -> np.ndarray:
    """Of the first free body (n,) [m/s]."""
    return np.linalg.norm(run.v[:, 3:6], axis=1)


def _speed_at_end(trial: Trial, run: Record, exact: float, a: float) -> Measured:
    """A speed after a steady acceleration, which may begin or end within a step."""
    return Measured("speed", float(_speed(run)[-1]), 1.5 * trial.step * a, "m/s", exact)


def _place(h: float, v: float, found: float, exact: float, what: str = "where") -> Measured:
    """A position after steps h at speeds up to v."""
    return Measured(what, float(found), 1.5 * h * v, "m", exact)


# --- impacts ----------------------------------------------------------------------------------------------------------
def bouncing_ball(trial: Trial = RIGID) -> list[Measured]:
    """Dropped by 1 m with e = 0.8; it is at rest after t1 (1 + e)/(1 − e), and the run goes on."""
    e, first = 0.8, math.sqrt(2.0 / G)
    run = trial.run(unconnected(solid("ball", BALL)), at((0.0, 0.0, 1.1)), duration=4.5, surface=Surface(restitution=e))
    thrown = run.time[1:][np.diff(run.v[:, 5]) > 0.5] - 0.5 * trial.step  # the middles of such steps
    hits = [thrown[0], thrown[np.flatnonzero(np.diff(thrown) > 0.1)[0] + 1]]
    late = run.time > first * (1.0 + e) / (1.0 - e) + trial.step
    return [
        Measured("first impact", hits[0], trial.step, "s", first),
        Measured("second impact", hits[1], trial.step, "s", first * (1.0 + 2.0 * e)),
        Measured("height, once at rest", run.q[late, 6], 1e-6, "m", 0.1),
    ]


def head_on(trial: Trial = RIGID, restitutions: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> list[Measured]:
    """Two equal balls at 1 and −0.5 m/s, of several restitutions e: v̄ ∓ e (v1 − v2)/2."""
    found = []
    for e in restitutions:
        run = _line(trial, [1.0, -0.5], gap=0.1003, duration=0.15, restitution=e)
        exact = np.array([0.25 - 0.75 * e, 0.25 + 0.75 * e])
        found.append(Measured(f"velocities, e = {e:g}", run.v[-1, 3::6], 1e-6, "m/s", exact))
    return found


def row_of_balls(trial: Trial = RIGID, gap: float = 0.0, count: int = 3) -> list[Measured]:
    """Newton's cradle, e = 1: a ball at 1 m/s strikes equal ones in a row; the last goes on alone."""
    run = _line(trial, [1.0] + [0.0] * (count - 1), gap=gap, duration=0.05, restitution=1.0)
    exact = np.array([0.0] * (count - 1) + [1.0])
    return [Measured("velocities", run.v[-1, 3::6], 1e-6, "m/s", exact)]


def _line(trial: Trial, speeds: Sequence[float], *, gap: float, duration: float, restitution: float) -> Record:
    """Equal balls in a row without gravity or friction."""
    names = [f"ball{k}" for k in range(len(speeds))]
    balls = unconnected(*(solid(name, BALL) for name in names))
    places = [(k * (0.2 + gap), 0.0, 0.0) for k in range(len(speeds))]
    return trial.run(
        weightless(balls), at(*places), to(*((v, 0.0, 0.0) for v in speeds)), duration=duration, ground=(),
        between=list(pairwise(names)), surface=Surface(0.0, restitution=restitution), struck=0.5,
    )  # fmt: skip


# --- friction ---------------------------------------------------------------------------------------------------------
def block_stops(trial: Trial = RIGID) -> list[Measured]:
    """At 5 m/s with μ = 0.5: it stops after v²/(2 μ g) and v/(μ g)."""
    v, mu = 5.0, 0.5
    run = trial.run(unconnected(solid("block", CUBE)), at((0, 0, 0.1)), to((v, 0, 0)), duration=1.2, surface=Surface(mu))
    stopped = run.time[np.flatnonzero(_speed(run) < 5e-3)[0]]
    return [
        _place(trial.step, v, run.q[-1, 4], v * v / (2.0 * mu * G)),
        Measured("when", float(stopped), 1.5 * trial.step, "s", v / (mu * G)),
    ]


def _on_slope(trial: Trial, slope: float, v: float, surface: Surface, duration: float, **driven: Any) -> Record:
    block = unconnected(solid("block", CUBE), slope=slope)
    return trial.run(block, at((0.0, 0.0, 0.1)), to((v, 0.0, 0.0)), duration=duration, surface=surface, **driven)


def _creep(run: Record) -> Measured:
    """How far anything moved from its start; turns count by the cube's half diagonal."""
    return Measured("moved", float(np.abs(run.q - run.q[0]).max()), 1e-8, "m in 10 s")


def held_on_incline(trial: Trial = RIGID, duration: float = 10.0) -> list[Measured]:
    """A cube on an incline of tan θ = 0.3, μ_s = 0.5: held, without creep."""
    run = _on_slope(trial, math.atan(0.3), 0.0, Surface(0.5, 0.4), duration)
    assert run.contact is not None
    pushed = run.contact.force[-1].sum(axis=0)
    return [
        _creep(run),
        Measured("force of the slope", pushed, 1e-4, "N", G * np.array([-0.3, 0.0, 1.0]) / math.hypot(1.0, 0.3)),
    ]


def steep_hold(trial: Trial = RIGID, duration: float = 10.0) -> list[Measured]:
    """tan θ = μ_s (1 − 1e-9): held to the end of the cone, by code of its own; through lists it creeps 1.4e-8 m."""
    slope = math.atan(0.5 * (1.0 - 1e-9))
    return [_creep(_on_slope(trial, slope, 0.0, Surface(0.5, 0.5), duration, side_by_side=True))]


def slides_down(trial: Trial = RIGID) -> list[Measured]:
    """At tan θ > μ_s: from rest at g (sin θ − μ_k cos θ)."""
    slope, t = math.radians(35.0), 1.0
    a = G * (math.sin(slope) - 0.4 * math.cos(slope))
    run = _on_slope(trial, slope, 0.0, Surface(0.5, 0.4), t)
    return [_place(trial.step, a * t, run.q[-1, 4], 0.5 * a * t * t), _speed_at_end(trial, run, a * t, a)]


def between_thresholds(trial: Trial = RIGID, duration: float = 10.0) -> list[Measured]:
    """μ_k < tan θ = 0.45 < μ_s: what is at rest stays, what slides goes on at g (sin θ − μ_k cos θ)."""
    slope, t, v = math.atan(0.45), 1.0, 1.0
    a = G * (math.sin(slope) - 0.4 * math.cos(slope))
    slid = _on_slope(trial, slope, v, Surface(0.5, 0.4), t)
    stayed = _creep(_on_slope(trial, slope, 0.0, Surface(0.5, 0.4), duration))
    return [stayed, _place(trial.step, v + a * t, slid.q[-1, 4], v * t + 0.5 * a * t * t, "slid")]


def pushed_cube(trial: Trial = RIGID) -> list[Measured]:
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


def sliding_to_rolling(trial: Trial = RIGID) -> list[Measured]:
    """A ball at 1 m/s that does not turn, μ = 0.3: rolls at 5/7 v0 from t = 2 v0/(7 μ g) on."""
    v, mu, t = 1.0, 0.3, 0.5
    run = trial.run(unconnected(solid("ball", BALL)), at((0, 0, 0.1)), to((v, 0, 0)), duration=t, surface=Surface(mu))
    rolls = 2.0 * v / (7.0 * mu * G)
    exact = v * rolls - 0.5 * mu * G * rolls**2 + 5.0 / 7.0 * v * (t - rolls)
    return [
        Measured("speed", float(_speed(run)[-1]), 1e-6, "m/s", 5.0 / 7.0 * v),
        _place(trial.step, v, run.q[-1, 4], exact),
    ]


def rolling_down(trial: Trial = RIGID) -> list[Measured]:
    """A ball on an incline of 20 deg, μ = 0.3: a = 5/7 g sin θ."""
    slope, t = math.radians(20.0), 1.0
    a = 5.0 / 7.0 * G * math.sin(slope)
    ball = unconnected(solid("ball", BALL), slope=slope)
    run = trial.run(ball, at((0.0, 0.0, 0.1)), duration=t, surface=Surface(0.3))
    return [_place(trial.step, a * t, run.q[-1, 4], 0.5 * a * t * t), _speed_at_end(trial, run, a * t, a)]


def block_on_spring(trial: Trial = RIGID) -> list[Measured]:
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
        found.append(_place(trial.step, n * v, reached, (-1) ** n * (start - n * lost), f"after {n} half swings"))
    return [*found, Measured("moved in the last 0.5 s", float(np.ptp(x[run.time > 1.5])), 1e-8, "m")]


# --- loads ------------------------------------------------------------------------------------------------------------
def stack(trial: Trial = RIGID, masses: Sequence[float] = (1.0,) * 4, duration: float = 2.0) -> list[Measured]:
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
        Measured("loads", loads / carried, 1e-6, "of the load", 1.0),
        Measured("moved after 0.1 s", float(np.abs(late - late[0]).max()), 1e-7, "m"),
    ]


def heavy_on_light(trial: Trial = RIGID) -> list[Measured]:
    """1000 kg on 1 kg."""
    return stack(trial, (1.0, 1000.0))


def box_on_corners(trial: Trial = RIGID) -> list[Measured]:
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
        Measured("sum", float(forces.sum()), 1e-5, "N", mass * G),
        Measured("split", forces, 1e-4, "N", least),
    ]


def ball_at_rest(trial: Trial = RIGID) -> list[Measured]:
    """How deep a ball has sunk in when at rest: (m g/K)^(1/n) on springs, n = 1 and 1.5; rigid bodies not at all."""
    found = []
    for n in (1.0, 1.5):
        options = {"stiffness": 1e4, "damping": 100.0, "exponent": n}
        ball = unconnected(solid("ball", BALL))
        run = trial.run(ball, at((0.0, 0.0, 0.1)), duration=2.0, options=options)
        depth = (G / options["stiffness"]) ** (1.0 / n) if trial.model in FORCE_MODELS else 0.0
        found.append(Measured(f"depth, n = {n:g}", 0.1 - run.q[-1, 6], 1e-8, "m", depth))
    return found


def rod_jams(trial: Trial = RIGID) -> list[Measured]:
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


# --- impacts of bodies that turn -------------------------------------------------------------------------------------
def oblique(trial: Trial = RIGID) -> list[Measured]:
    """A smooth ball strikes an equal one at rest, 40 deg off its line, e = 1: they part at a right angle, v cos and v sin."""
    v, off, touch = 2.0, math.radians(40.0), 0.2
    balls = unconnected(solid("one", BALL), solid("other", BALL))
    normal = np.array([math.cos(off), math.sin(off), 0.0])
    start = -touch * normal - 0.0103 * np.array([1.0, 0.0, 0.0])
    run = trial.run(
        weightless(balls), at(tuple(start), (0.0, 0.0, 0.0)), to((v, 0.0, 0.0), (0.0, 0.0, 0.0)), duration=0.05, ground=(),
        between=[("one", "other")], surface=Surface(0.0, restitution=1.0), struck=0.5,
    )  # fmt: skip
    struck = v * math.cos(off) * normal
    bar = 2.0 * v * trial.step * v / touch  # the normal turns while a step lasts
    return [
        Measured("velocity of the struck ball", run.v[-1, 9:12], bar, "m/s", struck),
        Measured("velocity of the other", run.v[-1, 3:6], bar, "m/s", np.array([v, 0.0, 0.0]) - struck),
        Measured("cosine of the angle between them", float(run.v[-1, 9:12] @ run.v[-1, 3:6]), 1e-9, "m²/s²"),
    ]


def rod_lands(trial: Trial = RIGID) -> list[Measured]:
    """A level rod falls at v on its one end: it then turns at 3/2 (1 + e) v/L, and its middle goes on at v − (1 + e) v/4."""
    length, radius, v, found = 1.0, 0.01, 1.0, []
    ends = Hull(((-0.5 * length, 0.0, 0.0), (-0.5 * length, 0.0, 0.02)))
    for e in (0.0, 0.6):
        rod = _body("rod", ends, 1.0, (1e-4, length**2 / 12.0, length**2 / 12.0))
        run = trial.run(
            weightless(unconnected(rod)),
            at((0.0, 0.0, radius)),
            to((0.0, 0.0, -v)),
            duration=0.015,
            surface=Surface(0.0, restitution=e),
        )
        turning, bar = 1.5 * (1.0 + e) * v / length, 1e-3  # the impact is at most a step late, and the rod hardly turns
        struck = int(np.argmax(np.abs(run.v[:, 1]) > 1e-6))
        found += [
            Measured(f"rate, e = {e:g}", abs(float(run.v[struck, 1])), bar, "rad/s", turning),
            Measured(f"speed of the middle, e = {e:g}", float(run.v[struck, 5]), bar, "m/s", -v * (1.0 - 0.25 * (1.0 + e))),
        ]
    return found


def _block(trial: Trial, tilt: float, duration: float, slope: float = 0.0, mu: float = 5.0) -> Record:
    """A block of 0.2 m × 0.2 m × 0.6 m that leans about its lower edge by `tilt` [rad], on a slope."""
    half = np.array([0.1, 0.3])
    c, s = math.cos(0.5 * tilt), math.sin(0.5 * tilt)
    turn = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    x, z = turn @ [-half[0], half[1]] + [half[0], 0.0]  # about the edge at x = 0.1
    block = unconnected(solid("block", Box((0.2, 0.2, 0.6))), slope=slope)
    return trial.run(block, [0.0, s, 0.0, c, x, 0.0, z], duration=duration, surface=Surface(mu))


def rocks(trial: Trial = RIGID) -> list[Measured]:
    """Housner's block, let go leaning: it lands after acosh(1/(1 − θ/α))/p, and turns on at 1 − 3/2 sin² α of its rate."""
    fine = Trial(trial.model, trial.step / 10.0)
    tilt, alpha, R = 0.02, math.atan(1.0 / 3.0), math.hypot(0.1, 0.3)
    p = math.sqrt(3.0 * G / (4.0 * R))
    quarter = math.acosh(1.0 / (1.0 - tilt / alpha)) / p
    run = _block(fine, tilt, 1.5 * quarter)
    rate = run.v[:, 1]
    landed = int(np.argmin(rate))
    after = landed + 3
    return [
        Measured("when it lands", float(run.time[landed]), 0.01 * quarter, "s", quarter),
        Measured("rate at landing", float(rate[landed]), 0.01, "rad/s", -p * math.sqrt(2.0 * alpha * tilt - tilt**2)),
        Measured("what is left of it", float(rate[after] / rate[landed]), 0.01, "1", 1.0 - 1.5 * math.sin(alpha) ** 2),
    ]


def tips(trial: Trial = RIGID) -> list[Measured]:
    """A block on a rough slope stands as long as tan α ≤ width/height, here 1/3; it then turns about its lower edge."""
    stood, fell = (_block(trial, 0.0, 1.0, slope=math.atan(part / 3.0)) for part in (0.99, 1.01))
    edge = fell.q[-1, [4, 6]] - 0.1 * np.array([1.0, 0.0])
    return [
        Measured("what moves 1 % below", float(np.abs(stood.q - stood.q[0]).max()), 1e-7, "m"),
        Measured("how far from tipping, 1 % above", max(0.0, 0.01 - 2.0 * float(np.abs(fell.q[-1, 1]))), 0.0, "rad"),
        Measured("its middle from the edge", float(np.linalg.norm(edge)), 1e-4, "m", math.hypot(0.1, 0.3)),
    ]


_IMPACT, _FRICTION, _LOADS = "impacts", "friction", "loads"
_MERIAM = "Meriam and Kraige, Dynamics"
PROBLEMS = (
    Problem(
        "bouncing ball",
        _IMPACT,
        "e = 0.8 from 1 m: impacts at 0.4515 and 1.1740 s, at rest from 4.0637 s on",
        f"{_MERIAM}, 3/12",
        bouncing_ball,
    ),
    Problem(
        "head-on spheres",
        _IMPACT,
        "e = 0, ¼, ½, ¾, 1: momentum stays, relative velocity turns by −e",
        f"{_MERIAM}, 3/12",
        head_on,
    ),
    Problem(
        "Newton's cradle, 1.1 mm apart",
        _IMPACT,
        "three balls, e = 1, one collision after the other: the last goes alone",
        "Herrmann and Schmälzle, Am. J. Phys. 49, 1981",
        partial(row_of_balls, gap=1.1e-3),
    ),
    Problem("oblique impact", _IMPACT, "equal smooth balls, e = 1: they part at a right angle", f"{_MERIAM}, 3/12", oblique),
    Problem(
        "rod that lands on an end", _IMPACT, "rate 3/2 (1 + e) v/L, middle at (1 + e) v/4 less", f"{_MERIAM}, 6/8", rod_lands
    ),
    Problem(
        "rocking block",
        _IMPACT,
        "lands after acosh(1/(1 − θ/α))/p, goes on at 1 − 3/2 sin² α of its rate",
        "Housner, Bull. Seism. Soc. Am. 53, 1963",
        rocks,
    ),
    Problem("sliding block", _FRICTION, "v0 = 5 m/s, μ = 0.5: stops after 2.5484 m, 1.0194 s", f"{_MERIAM}, 3/4", block_stops),
    Problem(
        "incline, held",
        _FRICTION,
        "tan θ = 0.3, μ_s = 0.5: no creep",
        "Coulomb, Théorie des machines simples, 1785",
        held_on_incline,
    ),
    Problem(
        "incline, sliding", _FRICTION, "35 deg, μ_s = 0.5, μ_k = 0.4: a = g (sin θ − μ_k cos θ)", f"{_MERIAM}, 3/4", slides_down
    ),
    Problem(
        "incline, between thresholds",
        _FRICTION,
        "μ_k = 0.4 < tan θ = 0.45 < μ_s = 0.5: at rest it stays, sliding it goes on",
        "Coulomb, Théorie des machines simples, 1785",
        between_thresholds,
    ),
    Problem(
        "cube pushed along 0, 30, 45, 60 deg",
        _FRICTION,
        "the same straight path, no yaw",
        "Coulomb, Théorie des machines simples, 1785",
        pushed_cube,
    ),
    Problem(
        "sphere, sliding to rolling",
        _FRICTION,
        "v = 5/7 v0 from t = 2 v0/(7 μ g) on",
        "Coriolis, Jeu de billard, 1835",
        sliding_to_rolling,
    ),
    Problem("sphere, rolling down", _FRICTION, "a = 5/7 g sin θ", f"{_MERIAM}, 6/5", rolling_down),
    Problem(
        "spring with dry friction",
        _FRICTION,
        "each half swing is shorter by 2 μ m g/k; at last it sticks",
        "Den Hartog, Mechanical Vibrations, 8.7",
        block_on_spring,
    ),
    Problem("block on a steep slope", _LOADS, "tips where tan α > width/height", "Meriam and Kraige, Statics, 6/3", tips),
    Problem("stack of 4", _LOADS, "contact k carries (n − k + 1) m g; nothing moves", "Meriam and Kraige, Statics, 3/3", stack),
    Problem("heavy on light", _LOADS, "1000 kg on 1 kg", "Meriam and Kraige, Statics, 3/3", heavy_on_light),
    Problem(
        "box on four corners",
        _LOADS,
        "forces sum to m g; least-norm split",
        "Sugihara and Nakamura, multipoint contact, 3.1",
        box_on_corners,
    ),
    Problem(
        "Painlevé rod",
        _LOADS,
        "leans into its slide, μ = 2: no gained energy, the tip does not sink",
        "Painlevé, C. R. Acad. Sci. 121, 1895",
        rod_jams,
    ),
    Problem(
        "ball at rest on springs",
        _LOADS,
        "it sinks in by (m g/K)^(1/n), n = 1 and 1.5",
        "Hunt and Crossley, J. Appl. Mech. 42, 1975",
        partial(ball_at_rest, Trial("penalty")),
    ),
)
