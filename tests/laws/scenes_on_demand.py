"""Laws of contact over random problems of one step and random scenes, for `on_demand`.

A problem is a step of a few bodies that both schedules of contact take; a scene is thrown into a bin for half a second.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kumitate.contact import Contact, Surface
from kumitate.model import Geometry, Mechanism, Plane
from kumitate.model.read import from_json, to_json
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from studies.random_scenes import G, random_scene

from .contact_problems import KINDS, by_list, by_trace, kept, problem_of

STEP, DURATION = 1e-3, 0.4


@dataclass(frozen=True)
class Scene:
    """Free bodies and robots above a bin of half side `half` [m], and its surface's numbers."""

    mechanism: Mechanism
    q: list[float]
    v: list[float]
    half: float
    friction: float
    restitution: float
    gravity: float = G

    @property
    def contact(self) -> Contact:
        """The bin."""
        turn = 0.5 * math.pi
        walls = [((s * self.half, 0.0, 0.0), (0.0, -s * turn, 0.0)) for s in (1, -1)]
        walls += [((0.0, s * self.half, 0.0), (s * turn, 0.0, 0.0)) for s in (1, -1)]
        ground = [Geometry(Plane()), *(Geometry(Plane(), pose(at, rpy=by)) for at, by in walls)]
        return Contact(ground=ground, surface=Surface(self.friction, restitution=self.restitution))

    def run(self, **options):
        """Its motion."""
        q, v = np.array(self.q), np.array(self.v)
        setup = Setup(self.mechanism, contact=self.contact, step=STEP, q=q, v=v, **options)
        return MechanismSimulation(setup).run(duration=DURATION)


def drawn(seed: int) -> Scene:
    """The scene of a seed."""
    mechanism, contact, q, v, _ = random_scene(seed)
    half = float(abs(np.array(contact.ground[1].pose.matrix(), dtype=float)[0, 3]))
    surface = contact.surface
    return Scene(mechanism, q.tolist(), v.tolist(), half, float(surface.friction), float(surface.restitution))


def keeps_its_laws(scene: Scene) -> float:
    """Energy rises by no more than the audit tells, loops stay closed, and no body falls through the floor or a wall."""
    run = scene.run()
    energy = run.energy.total
    rise = float((energy - np.minimum.accumulate(energy)).max())
    told = run.audit.contact.gained + 2.0 * run.audit.energy_drift
    worst = max(0.0, rise - told) / (1e-4 * max(1.0, float(run.energy.kinetic.max())))
    gaps = max((gap.distance for gap in run.audit.loop_gaps), default=0.0)
    touched = run.contact
    deep = float(touched.penetration.max()) if touched is not None and touched.penetration.size else 0.0
    return max(worst, gaps / 1e-6, deep / 0.02)


def turned_by_a_quarter(scene: Scene) -> float:
    """The bin and all in it turned by a quarter about the vertical: the same motion, while it is not chaotic."""
    turn = pose(rpy=(0.0, 0.0, 0.5 * math.pi))
    if any(joint.parent == "world" and joint.kind.name != "floating" for joint in scene.mechanism.joints):
        return 0.0
    other = replace(
        scene.mechanism,
        joints=tuple(replace(j, pose=(turn @ j.pose).dense()) if j.parent == "world" else j for j in scene.mechanism.joints),
    )
    one = scene.run()
    two = replace(scene, mechanism=other).run()
    early = int(np.argmax(np.abs(one.contact.force).sum(axis=(1, 2)) > 0.0)) + 20 if one.contact is not None else 20
    early = min(early, len(one.q) - 1)
    return float(np.abs(one.q[:early] - two.q[:early]).max()) / 1e-6


def rests_under_the_ground(scene: Scene) -> float:
    """Momentum is what weight and the ground gave it; bodies give each other nothing."""
    if scene.mechanism.loops or scene.mechanism.couplings or any(j.parent != "world" for j in scene.mechanism.joints):
        return 0.0  # steps of robots keep momentum to the order of the step
    run = scene.run()
    touched = run.contact
    if touched is None:
        return 0.0
    ground = [k for k, pair in enumerate(touched.bodies) if "ground" in pair]
    given = touched.force[:, ground].sum(axis=1) + np.array([0.0, 0.0, -G * scene.mechanism.tree.mass])
    change = np.diff(run.momentum[:, 3:], axis=0) - STEP * given[:-1]
    moving = float(np.abs(touched.force).sum(axis=1).max() * STEP + np.abs(run.momentum[:, 3:]).max())
    return float(np.abs(change).max()) / (1e-9 * moving)


LAWS = {law.__name__: law for law in (keeps_its_laws, rests_under_the_ground, turned_by_a_quarter)}


def smaller(scene: Scene) -> Iterator[Scene]:
    """The scene without one free body, without friction, or without rebound."""
    m, q_at, v_at = scene.mechanism, 0, 0
    carriers = {joint.parent for joint in m.joints}
    for joint in m.joints:
        nq, nv = joint.kind.nq, joint.kind.nv
        if joint.parent == "world" and joint.child not in carriers and len(m.joints) > 1:
            rest = replace(
                m,
                joints=tuple(j for j in m.joints if j is not joint),
                bodies=tuple(b for b in m.bodies if b.name != joint.child),
            )
            q, v = scene.q[:q_at] + scene.q[q_at + nq :], scene.v[:v_at] + scene.v[v_at + nv :]
            yield replace(scene, mechanism=rest, q=q, v=v)
        q_at, v_at = q_at + nq, v_at + nv
    if scene.friction:
        yield replace(scene, friction=0.0)
    if scene.restitution:
        yield replace(scene, restitution=0.0)
    if any(scene.v):
        yield replace(scene, v=[0.0] * len(scene.v))


def plain(scene: Scene) -> dict:
    """A scene as JSON."""
    kept = {name: getattr(scene, name) for name in ("q", "v", "half", "friction", "restitution")}
    return kept | {"mechanism": json.loads(to_json(scene.mechanism))}


def read(kept: dict) -> Scene:
    """The scene of JSON."""
    numbers = (kept[name] for name in ("q", "v", "half", "friction", "restitution"))
    return Scene(from_json(json.dumps(kept["mechanism"])), *numbers)


# --- one step -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    """A problem of one step, by its kind and seed; there is none that is smaller."""

    kind: str
    seed: int


def drawn_step(seed: int) -> Step:
    """The problem of a seed, of each kind in turn."""
    return Step(list(KINDS)[seed % len(KINDS)], seed // len(KINDS))


def both_schedules_keep_the_laws(step: Step) -> float:
    """Impulses balance, the laws of contact hold, energy does not rise, by lists and by straight-line code."""
    kind = KINDS[step.kind]
    problem, listed = by_list(problem_of(kind, step.seed))
    worst = 0.0
    for answer in (listed, by_trace(problem)):
        one = kept(problem, answer)
        missed = 0.0 if kind.in_order(answer) else one.residual / 1e-8
        worst = max(worst, one.balance / 1e-10, missed, (one.gained - one.pushed) / 1e-9)
    return worst


STEP_LAWS = {both_schedules_keep_the_laws.__name__: both_schedules_keep_the_laws}
