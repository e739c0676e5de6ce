"""Runs with contact: how their steps are made, and what touched along them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import kinematics
from ..compile import Kernel
from ..contact.impacts import impact_program
from ..contact.models import FORCE_MODELS, IMPULSE_MODELS
from ..contact.scene import Contact, Pair, contact_pairs
from ..contact.shapes import touches
from ..contact.straddling import warn_of_thin_boxes
from ..errors import InputError
from ..kinematics import link_poses
from ..model import Mechanism
from ..scalar import Program, trace
from .choice import EXPLICIT
from .forcing import Forcing
from .integrators import FAILED, INTEGRATORS, RK4, Integrator, TimeStepping
from .stiffness import fastest_rate
from .system import dynamics_program

__all__ = ["ContactRecord", "Touched", "Touching"]

#: States that are evaluated side by side when a run's contacts are collected.
_CHUNK = 1024
#: Shapes this close to each other are said to touch where contact failed [m].
_NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class ContactRecord:
    """What touched along a run of n times, at m points (those that ever carried a force), in the axes of the world.

    Attributes:
        bodies: of every point, the names of the bodies A and B; B may be "ground".
        force: on A (n, m, 3) [N], the mean over the step that begins at each time; zero where nothing touches.
        position: (n, m, 3) [m]; normal: (n, m, 3), from B to A; gap: (n, m) [m], negative where they overlap.
        velocity: of A against B after the step (n, m, 3) [m/s].
        friction: the coefficient that held (n, m): static for what was at rest, else kinetic.
        residual: (n) [m/s], how far the step's laws of contact were from being obeyed.
        penetration: (n) [m], the deepest of all points, also of those without force.
        work: (n) [J], the kinetic energy that each step's impulses add to what the step would have without them.
    """

    bodies: tuple[tuple[str, str], ...]
    force: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    velocity: np.ndarray
    friction: np.ndarray
    residual: np.ndarray
    penetration: np.ndarray
    work: np.ndarray

    @property
    def normal_force(self) -> np.ndarray:
        """Along the normals (n, m) [N]."""
        return np.einsum("nmk,nmk->nm", self.force, self.normal)

    @property
    def complementarity(self) -> np.ndarray:
        """The largest |normal force · normal velocity| of a point that has no gap to close, at each time (n) [W]."""
        speed = np.einsum("nmk,nmk->nm", self.velocity, self.normal)
        return np.abs(self.normal_force * np.where(self.gap > 1e-9, 0.0, speed)).max(axis=1, initial=0.0)

    @property
    def cone_violation(self) -> np.ndarray:
        """How far at most a point's force is outside Coulomb's cone, at each time (n) [N]: |f_t| − μ f_n, or a pull −f_n."""
        normal = self.normal_force
        outside = np.linalg.norm(self._tangential(self.force), axis=2) - self.friction * normal
        return np.maximum(outside, -normal).max(axis=1, initial=0.0)

    @property
    def dissipation_gap(self) -> np.ndarray:
        """The most power that friction in the cone could take and did not, at each time (n) [W]: μ f_n |u_t| + f_t·u_t.

        Zero means that friction is what the principle of maximum dissipation asks for (Moreau 1988).
        """
        slip = self._tangential(self.velocity)
        most = self.friction * self.normal_force * np.linalg.norm(slip, axis=2)
        return np.abs(most + np.einsum("nmk,nmk->nm", self.force, slip)).max(axis=1, initial=0.0)

    def _tangential(self, vectors: np.ndarray) -> np.ndarray:
        """Their parts at right angles to the normals."""
        return vectors - np.einsum("nmk,nmk->nm", vectors, self.normal)[:, :, None] * self.normal

    def on(self, body: str) -> np.ndarray:
        """The sum of the forces on a body (n, 3) [N]."""
        signs = np.array([(a == body) * 1.0 - (b == body) * 1.0 for a, b in self.bodies])
        return np.einsum("nmk,m->nk", self.force, signs)

    def center_of_pressure(self, *bodies: str) -> np.ndarray:
        """The mean place of the normal forces on some bodies, or on all (n, 3) [m]; NaN while there are none."""
        chosen = [k for k, (a, _) in enumerate(self.bodies) if not bodies or a in bodies]
        weight = self.normal_force[:, chosen]
        total = weight.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0.0, np.einsum("nm,nmk->nk", weight, self.position[:, chosen]) / total, np.nan)


class Touched(NamedTuple):
    """What contact did along a run of n times.

    Attributes:
        record: its forces.
        acceleration: the mechanism's (n, nv), with them.
        unsolved: (n) of each step, how far the search for its impulses stopped from what it looks for, as a part of the points'
            speeds.
    """

    record: ContactRecord
    acceleration: np.ndarray
    unsolved: np.ndarray

    def failures(self, name: str, time: np.ndarray) -> list[str]:
        """What is to be said of steps whose contact could not be solved, if there are any; the last step was not made."""
        failed = np.flatnonzero(self.unsolved[:-1] > FAILED)
        if not len(failed):
            return []
        worst = int(failed[np.argmax(self.unsolved[failed])])
        pushed = np.abs(self.record.force[worst]).max(axis=1) > 0.0
        pairs = dict.fromkeys("{!r} on {!r}".format(*self.record.bodies[k]) for k in np.flatnonzero(pushed))
        steps = "1 step" if len(failed) == 1 else f"{len(failed)} steps"
        missed = f"{self.record.residual[worst]:.3g} m/s, {self.unsolved[worst]:.2g} of the points' speeds"
        return [
            f"{name}: contact could not be solved in {steps} of {len(time) - 1}, first at t = {time[failed[0]]:.6g} s, worst "
            f"at t = {time[worst]:.6g} s ({', '.join(pairs)}), where the velocities miss its laws by {missed}. Take a smaller "
            "step; high friction and restitution make it hard to solve"
        ]


@dataclass(frozen=True)
class Touching:
    """The contact of a run, ready to be stepped over."""

    mechanism: Mechanism
    contact: Contact
    pairs: list[Pair]
    impacts: Program = field(repr=False)

    @classmethod
    def of(cls, mechanism: Mechanism, contact: Contact | str) -> Touching:
        """The contact of a mechanism; a name stands for that model with all else as usual.

        Raises:
            InputError: if there is no such model.

        Warns:
            KumitateWarning: as of `warn_of_thin_boxes`.
        """
        contact = Contact(contact) if isinstance(contact, str) else contact
        if contact.model not in IMPULSE_MODELS:
            known = ", ".join([*IMPULSE_MODELS, *FORCE_MODELS])
            raise InputError(f"there is no contact model {contact.model!r}; there are {known}")
        pairs = contact_pairs(mechanism, mechanism.base_parameter_tree, contact)
        warn_of_thin_boxes(mechanism.name, pairs)
        return cls(mechanism, contact, pairs, impact_program(mechanism, contact, IMPULSE_MODELS[contact.model]))

    def integrator(self, name: str, step: float, q: np.ndarray, v: np.ndarray, notes: list[str]) -> Integrator:
        """What steps over impacts: `time_stepping`, with Runge-Kutta steps where nothing touches unless joints are too stiff.

        Raises:
            InputError: for an integrator that cannot have velocities jump.
        """
        if name in ("auto", "time_stepping"):
            rate, joint = fastest_rate(self.mechanism, q, v)
            if rate * step < EXPLICIT:
                return TimeStepping(RK4())
            notes.append(
                f"integrator: damping or springs at {joint!r} act at {rate:.3g} 1/s, too fast for Runge-Kutta steps of "
                f"{step:g} s between contacts; all steps are implicit in them, of order 1. A smaller step is more exact"
            )
            return TimeStepping()
        if name == "semi_implicit_euler":
            return TimeStepping()
        if name in INTEGRATORS:
            raise InputError(
                f"the contact model {self.contact.model!r} makes velocities jump, which {name} cannot: take "
                "integrator='auto', or a model of springs and dampers, contact='penalty'"
            )
        raise InputError(f"there is no integrator {name!r}; with contact there are auto, time_stepping, semi_implicit_euler")

    def meeting(self, q: np.ndarray) -> list[str]:
        """What touches, or is within `_NEAR` of it, at q (nq), in words: "'foot' on 'ground'"."""
        tree = self.mechanism.base_parameter_tree
        poses = link_poses(tree, q.tolist())
        found: dict[str, None] = {}
        for pair in self.pairs:
            X_WA, X_WB = pair.poses(tree, poses)
            shape_a, shape_b = (geometry.shape for geometry in pair.geometries)
            if any(touch.gap < _NEAR for touch in touches(shape_a, X_WA, shape_b, X_WB)):
                found["{!r} on {!r}".format(*pair.bodies)] = None
        return list(found)

    def record(self, forcing: Forcing, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched:
        """What touched along a motion of steps h.

        The solver starts anew from every state, so that this is what the run's steps found.
        """
        dynamics = Kernel(dynamics_program(self.mechanism, forcing, implicit_damping=True))
        tree = self.mechanism.tree
        turning = Kernel(trace(lambda v: kinematics.turning(tree, v), {"v": tree.nv}, f"turning_{self.mechanism.name}"))
        kernel = Kernel(self.impacts)
        names = [array.name for array in self.impacts.outputs]
        chunks: list[dict[str, np.ndarray]] = []
        for start in range(0, len(q), _CHUNK):
            some = slice(start, start + _CHUNK)
            free = v[some] + h * (dynamics(h, q[some], v[some], u[some])[0] - turning(v[some]))
            chunks.append(dict(zip(names, kernel(h, q[some], v[some], free), strict=True)))
        whole: dict[str, Any] = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in names}
        pushed = np.flatnonzero(np.abs(whole["impulses"]).max(axis=(0, 2), initial=0.0) > 0.0)
        owners = [pair for pair in self.pairs for _ in range(pair.capacity)]
        record = ContactRecord(
            bodies=tuple(owners[k].bodies for k in pushed),
            force=whole["impulses"][:, pushed] / h,
            position=whole["positions"][:, pushed],
            normal=whole["normals"][:, pushed],
            gap=whole["gaps"][:, pushed],
            velocity=whole["velocities"][:, pushed],
            friction=whole["frictions"][:, pushed],
            residual=whole["residual"],
            penetration=np.maximum(-whole["gaps"].min(axis=1), 0.0),
            work=whole["gained"],
        )
        return Touched(record, (whole["v"] - v) / h + turning(v), whole["unsolved"])
