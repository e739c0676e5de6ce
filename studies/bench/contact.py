"""The cases with contact: steps of a humanoid that stands on a floor and that falls onto it, against MuJoCo's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.contact.scene import Contact
from kumitate.kinematics import random_coordinates
from kumitate.measure.timing import Contender, Effort, by_turns, raw, thread_seconds
from kumitate.model import Mechanism
from kumitate.model.samples import HOAP1_STANDING, hoap1
from kumitate.scalar import Program
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.interactions import Asked
from kumitate.simulate.interactions.impulses import ImpulseContact
from kumitate.simulate.run import simulate, simulate_batch
from kumitate.simulate.stepping.equations import dynamics_program
from kumitate.simulate.stepping.jumps import jump_program
from kumitate.simulate.stepping.system import StepParts, step_program

from .contract import Case, agreement
from .mujoco_floor import DEFAULT, STIFF, MuJoCoOnFloor, Settings
from .mujoco_peer import MuJoCo
from .ours import compiled_drives, rollout
from .report import Row

__all__ = ["ContactSteps", "Residuals"]


@dataclass(frozen=True)
class Residuals:
    """The largest violations of the laws of rigid contact in one second of standing.

    Attributes:
        penetration: how deep a point lies below the floor [m]; a gap that stays open does not count.
        complementarity: |normal force · normal velocity| of a point without a gap [W].
        cone: how far a force is outside the friction cone, μ f_n [N].
        creep: how far the soles have slipped in the end [m], by the velocities of the points that carry.
    """

    penetration: float
    complementarity: float
    cone: float
    creep: float

    def __str__(self) -> str:
        return (
            f"{self.penetration:.0e} m deep, {self.complementarity:.0e} W against complementarity, {self.cone:.0e} N outside "
            f"the cone, {self.creep:.0e} m crept"
        )


@dataclass(frozen=True)
class ContactSteps(Case):
    """Steps of 1 ms of a small humanoid on a floor, its joints damped and driven towards the upright posture.

    Some states stand, half a second after a push; the others fall: turned any way, their lowest point a centimetre up, moving.
    Of these a stretch of flight, impacts and lying is timed. Both sides have the same inertias, shapes, damping (implicit) and
    drives.

    Both step by semi-implicit Euler; ours takes, where nothing touches, steps of Runge-Kutta 4 unless told otherwise: rows of
    their own.

    Attributes:
        one, batch: targets for the ratio, one run after another and all lanes of the processor at once.
        at_most: targets for our time of a step [s], standing and falling: one after another, and all lanes at once.
        trajectories, count: how many, and the steps of each, every one starting where the last ended.
        stiffness: of the drives [N·m/rad]; `damping`: of the joints [N·m·s/rad]; `step` [s].
        friction: μ of the floor.
        settling: how long ago those that stand were pushed [s]; standing: for how long their residuals are looked at [s].
    """

    one: float
    batch: float
    at_most: dict[str, tuple[float, float]]
    trajectories: int = 32
    count: int = 100
    stiffness: float = 20.0
    damping: float = 0.2
    step: float = 1e-3
    settling: float = 0.5
    standing: float = 1.0
    name: str = "contact"
    title: str = "steps of a humanoid standing on a floor and falling onto it"
    peer = "MuJoCo"

    @cached_property
    def mechanism(self) -> Mechanism:
        """HOAP-1, its joints damped."""
        bare = hoap1()
        damped = (replace(joint, damping=self.damping) if joint.kind.nv == 1 else joint for joint in bare.joints)
        return replace(bare, joints=tuple(damped))

    @cached_property
    def contact(self) -> Contact:
        """On the floor z = 0."""
        return Contact()

    def rows(self, effort: Effort) -> Iterator[Row]:
        count = effort.share(self.count)
        euler, runge_kutta = (Kernel(self.program(count, name)) for name in ("semi_implicit_euler", "auto"))
        theirs = [self._peer(settings) for settings in (DEFAULT, STIFF)] if MuJoCo.installed() else []
        error = self._flights_agree(theirs)
        ours = f"ours: {self.residuals}"
        remarks = "; ".join(
            [f"1 s of standing, {ours}", *(f"MuJoCo {peer.settings.name}: {self.peer_residuals(peer)}" for peer in theirs)]
        )
        standing, falling = self.standing_states, self.falling_states
        cases = (
            ("standing", euler, standing, self.one, self.batch),
            ("falling", euler, falling, self.one, self.batch),
            ("falling, its flight by rk4", runge_kutta, falling, None, None),
        )
        for what, kernel, (q, v), one, batch in cases:
            out = np.empty_like(q), np.empty_like(v)
            contenders = {f"{lanes}": Contender(raw(kernel, lanes, (q, v), out), len(q) * count) for lanes in (1, host().lanes)}
            contenders |= {peer.settings.name: Contender(peer.steps(q, v, count), len(q) * count) for peer in theirs}
            timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
            said = remarks if what == "standing" else f"{len(q)} trajectories of {count} steps, flight included"
            for lanes, target in ((1, one), (host().lanes, batch)):
                peers: Sequence[MuJoCoOnFloor | None] = theirs or (None,)
                for peer in peers:
                    name = "" if peer is None else f"MuJoCo's mj_step(nstep={count}), {peer.settings.name}"
                    yield Row(
                        self.name, f"step {what}, {_runs(lanes)} at a time", timings[f"{lanes}"], name,
                        None if peer is None else timings[peer.settings.name], at_least=target, agreement=error, remarks=said,
                    )  # fmt: skip
                    said = ""
            for lanes, most in zip((1, host().lanes), self.at_most.get(what, ()), strict=False):
                yield Row(self.name, f"step {what}, {_runs(lanes)} at a time", timings[f"{lanes}"], at_most=most)

    def program(self, count: int, name: str) -> Program:
        """(q, v) → q, v after `count` steps: the step that `simulate` compiles for an integrator, in a loop."""
        mechanism, touching = self.mechanism, ImpulseContact.of(self.mechanism, self.contact)
        q, v = np.array(HOAP1_STANDING), np.zeros(mechanism.nv)
        integrator = touching.integrator(Asked(name, self.step, 1e-8, q, v), [])
        dynamics = dynamics_program(Forcing(mechanism), implicit_damping=integrator.implicit_damping)
        forcing = Forcing(mechanism, self.drives)
        drives = compiled_drives(forcing, q, v)
        jumps = jump_program(forcing, dynamics, touching.impacts(resisted=False))
        return rollout(mechanism, step_program(forcing, integrator, StepParts(dynamics, jumps=jumps), drives), self.step, count)

    @property
    def drives(self) -> Callable[[Any, Any, Any], Any]:
        """(t, q, v) → tau: springs towards the upright posture."""
        stiffness = self.stiffness  # a number is known to be constant, `self` is not
        return lambda t, q, v: np.concatenate([0.0 * v[:6], -stiffness * q[7:]])

    @cached_property
    def standing_states(self) -> tuple[np.ndarray, np.ndarray]:
        """Upright on both feet, some time after pushes of some hundredths of rad/s, or m/s, in all directions."""
        q = np.tile(HOAP1_STANDING, (self.trajectories, 1))
        v = np.random.default_rng(4).normal(scale=0.02, size=(self.trajectories, self.mechanism.nv))
        settled = simulate_batch(
            self.mechanism, q, v, duration=self.settling, step=self.step, every=100, controller=self.drives,
            contact=self.contact,
        )  # fmt: skip
        return settled.q[:, -1].copy(), settled.v[:, -1].copy()

    @cached_property
    def falling_states(self) -> tuple[np.ndarray, np.ndarray]:
        """Turned any way and bent a little, the lowest point a centimetre above the floor."""
        mechanism, rng = self.mechanism, np.random.default_rng(3)
        q = np.array([random_coordinates(mechanism.tree, rng) for _ in range(self.trajectories)])
        v = rng.normal(scale=0.5, size=(self.trajectories, mechanism.nv))
        q[:, 4:7], q[:, 7:] = (0.0, 0.0, 1.0), 0.1 * q[:, 7:]
        impacts = ImpulseContact.of(mechanism, self.contact).impacts(resisted=False)
        gaps = dict(zip((array.name for array in impacts.outputs), Kernel(impacts)(self.step, q, v, v), strict=True))["gaps"]
        q[:, 6] -= gaps.min(axis=1) - 0.01
        return q, v

    @cached_property
    def residuals(self) -> Residuals:
        """Of our standing."""
        q, v = (part[0] for part in self.standing_states)
        found = simulate(
            self.mechanism, q, v, duration=self.standing, step=self.step, controller=self.drives, contact=self.contact
        )
        record = found.contact
        assert record is not None
        force, velocity = (_along_normal(part, record.normal) for part in (record.force, record.velocity))
        moved = np.cumsum(np.where(force[0][..., None] > 0.0, velocity[1], 0.0) * self.step, axis=0)
        outside = np.linalg.norm(force[1], axis=2) - self.contact.of("ground").friction * force[0]
        creep = float(np.linalg.norm(moved, axis=2).max(initial=0.0))
        return Residuals(
            float(record.penetration.max()), float(record.complementarity.max()), max(float(outside.max()), 0.0), creep
        )

    def peer_residuals(self, peer: MuJoCoOnFloor) -> Residuals:
        """Of MuJoCo's."""
        q, v = (part[0] for part in self.standing_states)
        deepest = power = outside = 0.0
        moved: dict[tuple, np.ndarray] = {}
        for _ in peer.along(q, v, round(self.standing / self.step)):
            for key, gap, friction, force, velocity in peer.contacts():
                deepest = max(deepest, -gap)
                power = max(power, abs(force[0] * velocity[0]))
                outside = max(outside, float(np.hypot(*force[1:])) - friction * force[0])
                moved[key] = moved.get(key, np.zeros(2)) + self.step * velocity[1:]
        return Residuals(deepest, power, outside, max((float(np.linalg.norm(way)) for way in moved.values()), default=0.0))

    def _peer(self, settings: Settings) -> MuJoCoOnFloor:
        return MuJoCoOnFloor(self.mechanism, self.contact, settings, step=self.step, stiffness=self.stiffness)

    def _flights_agree(self, theirs: Sequence[MuJoCoOnFloor]) -> float | None:
        """How well the accelerations of falling states agree, a metre further up, where nothing touches."""
        q, v = self.falling_states
        q = q + np.eye(q.shape[1])[6]
        dynamics = Kernel(dynamics_program(Forcing(self.mechanism), implicit_damping=False))
        ours = dynamics(0.0, q, v, np.array([self.drives(0.0, *state) for state in zip(q, v, strict=True)]))[0]
        errors = [
            agreement(
                f"{self.name}, acceleration", ours, np.array([peer.acceleration(*s) for s in zip(q, v, strict=True)]), 1e-9
            )
            for peer in theirs
        ]
        return max(errors, default=None)


def _runs(lanes: int) -> str:
    return "one run" if lanes == 1 else f"{lanes} runs"


def _along_normal(vectors: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Their parts along the normals, as numbers, and at right angles to them."""
    along = np.einsum("nmk,nmk->nm", vectors, normal)
    return along, vectors - along[..., None] * normal
