"""Runs whose contact is forces like any other: how they are integrated, and what touched along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import kinetic_energy, potential_energy
from ..compile import Kernel
from ..contact.forces import ContactForces
from ..contact.models import FORCE_MODELS
from ..contact.scene import Contact
from ..contact.straddling import warn_of_thin_boxes
from ..model import Mechanism
from ..scalar import trace
from .forcing import Forcing
from .system import dynamics_program
from .touching import ContactRecord, Touched

__all__ = ["Pressing"]


@dataclass(frozen=True)
class Pressing:
    """The contact of a run by a model of forces.

    Attributes:
        forces: of all points, at any state.
    """

    mechanism: Mechanism
    forces: ContactForces

    @classmethod
    def of(cls, mechanism: Mechanism, contact: Contact) -> Pressing:
        """Of a mechanism, by a model of `FORCE_MODELS`; errors and warnings as of the model, of `contact_pairs` and of
        `warn_of_thin_boxes`.
        """
        model = FORCE_MODELS[contact.model](contact.options, mechanism.tree.mass)
        forces = ContactForces.of(mechanism, contact, model)
        warn_of_thin_boxes(mechanism.name, forces.pairs)
        return cls(mechanism, forces)

    def integrator(self, name: str, notes: list[str]) -> str:
        """The integrator that "auto" means beside stiff springs at points: one that finds its steps."""
        if name != "auto":
            return name
        notes.append(
            "integrator: rkf45_adaptive was taken, as springs, dampers and rounded friction at points of contact may be too "
            "fast for fixed steps"
        )
        return "rkf45_adaptive"

    def record(self, forcing: Forcing, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched:
        """What touched along a motion of states h apart.

        Forces and velocities are those at each time. The work of contact in a step is what the energy gains beyond the work of
        all else, which is taken by the trapezoidal rule with corrected ends: exact where nothing else works.
        """
        mechanism, forces = self.mechanism, self.forces
        tree = mechanism.tree

        def pressed(q: Any, v: Any) -> dict[str, Any]:
            found = forces.at(q, v)
            return {
                "force": [list(point.force) for point in found.points],
                "position": [list(point.position) for point in found.points],
                "normal": [list(point.normal) for point in found.points],
                "gap": [point.gap for point in found.points],
                "velocity": [list(point.velocity) for point in found.points],
                "power": found.power,
                "energy": kinetic_energy(tree, q, v) + potential_energy(tree, q, mechanism.gravity),
            }

        program = trace(pressed, {"q": mechanism.nq, "v": mechanism.nv}, f"pressed_{mechanism.name}")
        found = dict(zip([array.name for array in program.outputs], Kernel(program)(q, v), strict=True))
        dynamics = Kernel(dynamics_program(mechanism, forcing, implicit_damping=False, pressing=forces))
        acceleration, power = dynamics(0.0, q, v, u)
        others = power - found["power"]
        slope = np.gradient(others, h) if len(q) > 1 else others
        work = np.diff(found["energy"]) - 0.5 * h * (others[1:] + others[:-1]) + h * h / 12.0 * np.diff(slope)
        touched = np.flatnonzero(np.abs(found["force"]).max(axis=(0, 2), initial=0.0) > 0.0)
        owners = [pair.bodies for pair in forces.pairs for _ in range(pair.capacity)]
        kinetic = np.array([pair.surface.kinetic for pair in forces.pairs for _ in range(pair.capacity)])
        record = ContactRecord(
            bodies=tuple(owners[k] for k in touched),
            force=found["force"][:, touched],
            position=found["position"][:, touched],
            normal=found["normal"][:, touched],
            gap=found["gap"][:, touched],
            velocity=found["velocity"][:, touched],
            friction=np.broadcast_to(kinetic[touched], (len(q), len(touched))),
            residual=np.zeros(len(q)),
            penetration=np.maximum(-found["gap"].min(axis=1), 0.0),
            work=np.append(work, 0.0),
        )
        return Touched(record, acceleration, record.residual)
