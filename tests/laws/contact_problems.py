"""Random contact problems of one to four bodies, solved by both schedules of contact, and how well an answer keeps the laws.

The laws are evaluated here from the mass matrix and the Jacobian of the points, in NumPy; but for what a point alone says of
its residual and its compliance, which are pages of `contact.laws`, nothing of either schedule is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kumitate.compile import Kernel
from kumitate.contact.impulse.compliance import Compliance
from kumitate.contact.impulse.frames import LEAST
from kumitate.contact.impulse.step import impact_program
from kumitate.contact.laws import RECOVERY, onto_disc, residual
from kumitate.contact.models import IMPULSE_MODELS
from kumitate.contact.scene import FLOOR, Contact, contact_pairs
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Mechanism, Sphere
from kumitate.simulate.scenes.many_bodies import ManyBodies
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid, unconnected

from ..mechanisms import quaternion_of

__all__ = ["KINDS", "SOFT", "TURNING", "Answer", "Kept", "Kind", "Problem", "by_list", "by_trace", "kept", "problem_of"]

#: A step [s], and what weight moves a body by in two of them [m/s].
H, RESTING = 1e-3, 2.0 * 9.81e-3


@dataclass(frozen=True)
class Kind:
    """Problems with the same code: their bodies and surface; which differ in places and velocities.

    Attributes:
        bodies: from below; alone: whether they are apart from the floor, without weight.
        unique: whether the laws allow one answer only, also for the impulses.
        between: who touches whom; all, if it is empty.
        gaps: between the bodies, from and to [m].
        apart: by how much energies may differ [J]. Points that carry the same load need not be shared alike, and friction then
            follows how they are.
    """

    name: str
    bodies: tuple[Body, ...]
    surface: Surface
    unique: bool = False
    alone: bool = False
    between: tuple[tuple[str, str], ...] = ()
    gaps: tuple[float, float] = (-1e-4, 5e-5)
    apart: float = 1e-9

    @cached_property
    def contact(self) -> Contact:
        """The contact of the bodies."""
        return Contact(ground=() if self.alone else FLOOR, surface=self.surface, between=self.between or None)

    def in_order(self, answer: Answer) -> bool:
        """Whether impacts may have followed one another within the step: each obeys the laws then, not their sum."""
        pushes = np.abs(answer.impulse).sum(axis=1) > 0.0
        return self.surface.restitution > 0.0 and len(self.bodies) > 1 and bool((answer.gap[pushes] > 1e-6).any())

    @cached_property
    def mechanism(self) -> Mechanism:
        """The bodies."""
        return unconnected(*self.bodies)


def ball(name: str, radius: float = 0.1, mass: float = 1.0) -> Body:
    return solid(name, Sphere(radius), mass)


def brick(name: str, mass: float = 1.0) -> Body:
    return solid(name, Box((0.2, 0.16, 0.12)), mass)


TOWER = tuple(pairwise(("ground", "a", "b", "c", "d")))
TURNING = Surface(0.6, torsional=0.01, rolling=0.004)
SOFT = Surface(0.5, stiffness=2e4, damping=20.0)
KINDS = {
    kind.name: kind
    for kind in (
        Kind("ball", (ball("a"),), Surface(0.4, 0.3, restitution=0.7), unique=True),
        Kind("ball that turns", (ball("a"),), TURNING, unique=True),
        Kind("soft ball", (ball("a"),), SOFT, unique=True),
        Kind("two balls", (ball("a"), ball("b", 0.07, 2.0)), TURNING, unique=True, alone=True),
        Kind(
            "four balls",
            tuple(ball(name) for name in "abcd"),
            Surface(0.5, restitution=0.5),
            unique=True,
            between=TOWER,
        ),
        Kind("brick", (brick("a"),), Surface(0.5)),
        Kind("soft brick", (brick("a"),), SOFT),
        Kind("ball on a brick", (brick("a", 3.0), ball("b")), Surface(0.6, 0.4, restitution=0.4)),
        Kind("two bricks", (brick("a"), brick("b", 0.5)), Surface(0.7), apart=1e-5),
        Kind(
            "balls with gaps",
            tuple(ball(name, 0.1, mass) for name, mass in zip("abcd", (1.0, 2.0, 0.5, 1.5), strict=True)),
            Surface(0.5, restitution=0.5),
            unique=True,
            between=TOWER,
            gaps=(2e-6, 2e-4),
        ),
    )
}


class Problem(NamedTuple):
    """A step of a kind: the state, and the velocities after the step without contact."""

    kind: Kind
    q: np.ndarray
    v: np.ndarray
    v_free: np.ndarray


class Answer(NamedTuple):
    """Velocities after a step, and at each point what pushes: all in the world's axes."""

    v: np.ndarray
    bodies: np.ndarray
    place: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    friction: np.ndarray
    impulse: np.ndarray
    moment: np.ndarray


# --- random states -----------------------------------------------------------------------------------------------------------
def problem_of(kind: Kind, seed: int) -> Problem:
    """A step in which bodies that are all but in touch push each other."""
    rng = np.random.default_rng([5, list(KINDS).index(kind.name), seed])
    count = len(kind.bodies)
    shapes = [body.collisions[0].shape for body in kind.bodies]
    places, turns = np.zeros((count, 3)), [np.eye(3) for _ in range(count)]
    height = 0.0
    for k, shape in enumerate(shapes):
        half = shape.radius if isinstance(shape, Sphere) else 0.5 * shape.size[2]
        turns[k] = _turned(rng, (0.002 if count == 1 else 2e-4) if isinstance(shape, Box) else 3.0)
        gap = rng.uniform(*kind.gaps)
        places[k] = [*rng.uniform(-0.02, 0.02, 2), height + half + gap]
        if k > 0 and isinstance(shape, Sphere) and isinstance(shapes[k - 1], Sphere):
            up = np.array([0.0, 0.0, 1.0]) + rng.normal(size=3) * (1.0 if kind.alone else 0.1)
            places[k] = places[k - 1] + up / np.linalg.norm(up) * (shapes[k - 1].radius + half + gap)
        height += 2.0 * half
    v = rng.normal(size=(count, 6)) * [0.3, 0.3, 0.3, 0.5, 0.5, 0.1]
    before = np.array([[*(R.T @ w[:3]), *(R.T @ (w[3:] - [0.0, 0.0, 0.4 * (k + 1)]))]
                       for k, (w, R) in enumerate(zip(v, turns, strict=True))])  # fmt: skip
    q = np.concatenate([[*quaternion_of(R), *place] for R, place in zip(turns, places, strict=True)])
    return Problem(kind, q, before.ravel(), np.zeros_like(before.ravel()))


def _turned(rng: np.random.Generator, tilt: float) -> np.ndarray:
    """A rotation about the vertical after one by about `tilt` [rad] about axes across it."""
    yaw, (x, y) = rng.uniform(-0.5, 0.5), rng.normal(size=2) * tilt
    about = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(x), -np.sin(x)], [0.0, np.sin(x), np.cos(x)]])
    across = np.array([[np.cos(y), 0.0, np.sin(y)], [0.0, 1.0, 0.0], [-np.sin(y), 0.0, np.cos(y)]])
    return np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]]) @ about @ across


# --- both schedules ----------------------------------------------------------------------------------------------------------
@lru_cache
def _stepper(kind: Kind) -> Any:
    """Of the scene of a kind, to which bodies far away belong: contact of one or two is traced."""
    far = tuple(ball(f"far{k}") for k in range(2))
    mechanism = unconnected(*kind.bodies, *far)
    simulation = MechanismSimulation(Setup(mechanism, contact=kind.contact, step=H))
    assert isinstance(simulation.compiled, ManyBodies)
    start = simulation.start()
    return simulation.compiled.stepper(simulation.actuation, H, start.q, start.v)


def by_list(problem: Problem) -> tuple[Problem, Answer]:
    """The problem with its velocities without contact, and the answer of the schedule over lists."""
    stepper, count = _stepper(problem.kind), len(problem.kind.bodies)
    q = np.concatenate([problem.q, *([0.0, 0.0, 0.0, 1.0, 50.0 + k, 0.0, 9.0] for k in range(2))])
    stepper.begin(q, np.concatenate([problem.v, np.zeros(12)]))
    stepper.run({}, 1, 1)
    points, bodies, some = stepper.scene.points, stepper.scene.bodies, int(stepper.scene.counts[5])
    frame = points.frame[:some]
    turned = some if len(points.turns.length) else 0
    moment = np.zeros((some, 3))
    moment[:turned] = np.einsum("n,nki,nk->ni", points.turns.length[:turned], frame[:turned], points.turns.impulse[:turned])
    after = stepper.logged[-1].reached.reshape(-1, 6)[:count]
    free = [[*(R.T @ w[:3]), *(R.T @ w[3:])] for R, w in zip(_rotations(problem.q), bodies.free, strict=False)]
    answer = Answer(
        after.ravel(), points.body[:some].copy(), points.place[:some].copy(), frame[:, 0].copy(), points.gap[:some].copy(),
        points.friction[:some].copy(), np.einsum("nki,nk->ni", frame, points.impulse[:some]), moment,
    )  # fmt: skip
    return problem._replace(v_free=np.ravel(free)), answer


@lru_cache
def _kernel(kind: Kind) -> tuple[Kernel, list[str], np.ndarray]:
    program = impact_program(kind.mechanism, kind.contact, IMPULSE_MODELS["rigid"])
    pairs = contact_pairs(kind.mechanism, kind.mechanism.tree, kind.contact)
    bodies = [pair.links for pair in pairs for _ in range(pair.capacity)]
    return Kernel(program), [array.name for array in program.outputs], np.array(bodies)


def by_trace(problem: Problem) -> Answer:
    """The answer of straight-line code."""
    kernel, names, bodies = _kernel(problem.kind)
    found = dict(zip(names, map(np.array, kernel(H, problem.q, problem.v, problem.v_free)), strict=True))
    near = found["gaps"] < 0.02
    moments = found.get("moments", np.zeros_like(found["impulses"]))
    return Answer(
        found["v"], bodies[near], found["positions"][near], found["normals"][near], found["gaps"][near],
        found["frictions"][near], found["impulses"][near], moments[near],
    )  # fmt: skip


def _rotations(q: np.ndarray) -> list[np.ndarray]:
    found = []
    for x, y, z, w in q.reshape(-1, 7)[:, :4]:
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        found.append(np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross)
    return found


# --- the laws ----------------------------------------------------------------------------------------------------------------
class Kept(NamedTuple):
    """How well an answer keeps the laws.

    Attributes:
        residual: the largest of a point [m/s]; balance: M (v − v_free) − Jᵀ λ, as velocities [m/s].
        gained: the energy of motion that contact adds to the step without it [J]; pushed: the most that pushing overlaps out,
            and springs, may add [J].
    """

    residual: float
    balance: float
    gained: float
    pushed: float


def kept(problem: Problem, answer: Answer) -> Kept:
    """How well an answer keeps the laws of contact, from the mass matrix and the Jacobian of its points."""
    rotations, surface = _rotations(problem.q), problem.kind.surface
    places = problem.q.reshape(-1, 7)[:, 4:]
    yielding = np.zeros((6 * len(places), 6 * len(places)))
    for k, (body, R) in enumerate(zip(problem.kind.bodies, rotations, strict=True)):
        yielding[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = R @ np.linalg.inv(np.reshape(body.inertia, (3, 3))) @ R.T
        yielding[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.eye(3) / body.mass
    turn = np.zeros_like(yielding)
    for k, R in enumerate(rotations):
        turn[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = turn[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = R
    before, free, after = (turn @ w for w in (problem.v, problem.v_free, answer.v))
    # springs act when the bodies' own spin has turned their velocities, and weight has not yet changed them
    begun = np.concatenate([(b[:3], a[3:]) for a, b in zip(before.reshape(-1, 6), free.reshape(-1, 6), strict=True)]).ravel()
    frames = [_frame(n) for n in answer.normal]
    J, spins = np.zeros((len(frames), 3, len(before))), np.zeros((len(frames), 3, len(before)))
    for c, (frame, (a, b), place) in enumerate(zip(frames, answer.bodies, answer.place, strict=True)):
        for body, sign in ((a, 1.0), (b, -1.0)):
            if body >= 0:
                J[c, :, 6 * body : 6 * body + 3] = sign * np.cross(place - places[body], frame)
                J[c, :, 6 * body + 3 : 6 * body + 6] = spins[c, :, 6 * body : 6 * body + 3] = sign * frame
    pushed = np.zeros(len(before))
    gained, given, worst = 0.0, 0.0, 0.0
    touching = (
        answer.gap + H * np.minimum(0.0, np.minimum(J[:, 0] @ (begun if surface.stiffness else before), J[:, 0] @ free)) < 0.0
    )
    for c, frame in enumerate(frames):
        impulse, moment = frame @ answer.impulse[c], frame @ answer.moment[c]
        pushed += J[c].T @ impulse + spins[c].T @ moment
        old, wished, u = J[c] @ before, J[c] @ free, J[c] @ after
        gained += 0.5 * impulse @ (wished + u) + 0.5 * moment @ (spins[c] @ (free + after))
        size = max(J[c, k] @ yielding @ J[c, k] for k in range(3))
        alike = [d for d in range(len(frames)) if (answer.bodies[d] == answer.bodies[c]).all() and (d == c or touching[d])]
        give = max(sum(J[c, 0] @ yielding @ J[d, 0] for d in alike), LEAST * float(J[c, 0] @ yielding @ J[c, 0]))
        softness, target = _law(surface, float(answer.gap[c]), J[c] @ begun if surface.stiffness else old, wished, give)
        given += impulse[0] * max(u[0] if surface.stiffness else min(-float(answer.gap[c]) / H, RECOVERY), 0.0)
        slid = surface.kinetic if np.hypot(old[1], old[2]) > 1e-4 else surface.friction
        assert answer.friction[c] == slid or problem.kind.in_order(answer)
        at = (impulse.tolist(), u.tolist(), target, float(answer.friction[c]), size, 1.0 / size, softness)
        worst = max(worst, residual(*at)["error"])
        worst = max(worst, _missed_by_moments(surface, moment, impulse[0], spins[c] @ after, spins[c] @ yielding @ spins[c].T))
    balance = after - free - yielding @ pushed
    return Kept(float(worst), float(np.abs(balance).max()), float(gained), float(given))


def _frame(n: np.ndarray) -> np.ndarray:
    """The normal, and two tangents."""
    across = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    across /= np.linalg.norm(across)
    return np.array([n, across, np.cross(n, across)])


def _law(surface: Surface, gap: float, before: np.ndarray, free: np.ndarray, give: float) -> tuple[float, float]:
    """Softness and target of a point."""
    target = min(-gap / H, RECOVERY)
    if surface.stiffness is not None:
        soft = Compliance(surface.stiffness, surface.damping, H, RESTING).law(gap, before[0], free[0], give)
        return float(soft.softness), float(soft.target)
    if surface.restitution > 0.0 and gap + H * min(before[0], free[0]) < 0.0 and before[0] < -RESTING:
        target = max(target, min(free[0] - before[0], 0.0) - surface.restitution * before[0])
    return 0.0, target


def _missed_by_moments(
    surface: Surface, moment: np.ndarray, normal: float, rates: np.ndarray, yields: np.ndarray
) -> float:  # fmt: skip
    """The residual of torsional and rolling friction at the radius of a ball of 0.1 m [m/s]."""
    worst, size = 0.0, float(np.diag(yields).max())
    for axes, limit in ((slice(0, 1), surface.torsional), (slice(1, 3), surface.rolling)):
        asked = onto_disc((moment[axes] - rates[axes] / size).tolist(), limit * max(normal, 0.0))
        worst = max(worst, 0.1 * size * float(np.abs(moment[axes] - asked).max()))
    return worst
