"""Contact by continuous forces: how its runs are integrated, and the record of contact along them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...analysis import kinetic_energy, potential_energy
from ...compile import Kernel, found_or_traced
from ...contact.forces import ContactForces
from ...contact.models import FORCE_MODELS
from ...contact.plan import ContactPlan, pairs_traced
from ...contact.scene import Contact
from ...errors import InputError
from ...model import Mechanism
from ...model.mechanism import digest
from ...records.contact_record import ContactRecord, Touched
from ...scalar import trace
from ..integrators import Integrator
from ..parameters import Variation
from ..stepping.equations import NO_STEP, row_of
from ..stepping.interaction import Asked, ContactCode
from .contact import TracedContact


@dataclass(frozen=True, eq=False)
class ForceContact(TracedContact):
    """Contact of a run by a force model.

    Attributes:
        forces: of all contact points, at any state.
    """

    forces: ContactForces
    parameters: Variation | None = None
    why: str = ""

    @classmethod
    def of(cls, mechanism: Mechanism, contact: Contact, parameters: Variation | None = None, why: str = "") -> ForceContact:
        """The contact of a mechanism by a model of `FORCE_MODELS`; errors and warnings as in the model, in `contact_pairs` and
        in `warn_of_thin_boxes`.
        """
        make, mass = FORCE_MODELS[contact.model], mechanism.tree.mass
        model = make(contact.options, mass)
        if parameters is not None and parameters.varies("mass") and make(contact.options, 2.0 * mass) != model:
            raise InputError(
                f"{mechanism.name}: the springs and dampers of contact {contact.model!r} follow from the mass by default, and "
                "masses are parameters; give them in its options, such as Contact('penalty', options={'stiffness': 1e5, "
                "'damping': 1e3})"
            )
        return cls(mechanism, contact, ContactForces.of(mechanism, contact, model), parameters, why)

    @property
    def pairs(self) -> Any:  # type: ignore[override]
        return self.forces.pairs

    @property
    def model(self) -> Any:  # type: ignore[override]
        return FORCE_MODELS[self.contact.model]

    def gaps(self, q: np.ndarray) -> np.ndarray:
        return np.array([float(point.gap) for point in self.forces.at(q.tolist(), [0.0] * self.mechanism.nv).points])

    def stored(self, gaps: np.ndarray) -> np.ndarray:
        return np.array([float(self.forces.model.stored(max(-float(gap), 0.0))) for gap in gaps])

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """ "auto" takes an adaptive integrator, because springs at contact points may be stiff."""
        if asked.name != "auto":
            return super().integrator(asked, notes)
        notes.append(
            "integrator: rkf45_adaptive was taken, as springs, dampers and rounded friction at points of contact may be too "
            "fast for fixed steps"
        )
        return super().integrator(asked._replace(name="rkf45_adaptive"), notes)

    def plan(self) -> ContactPlan:
        """The pairs; their forces are evaluated with the dynamics, without a solver."""
        why = f"springs and dampers are forces at any time; {self.why}"
        return ContactPlan("penalty", why, pairs_traced(self.forces.pairs, self.mechanism.nv)[0], None, None)

    def pushes(self, code: ContactCode, h: Any, q: Any, v: Any, u: Any) -> list[Any]:
        found = self.forces.at(q, v, left_out=u[code.layout.at("overlaps")]).points
        return [part for point in found for part in (*point.force, *point.position, *point.normal)]

    @cached_property
    def _pressed(self) -> Kernel:
        """(q, v, left_out, row of parameters if there are any) → forces, positions, velocities of points, and the energy."""
        mechanism, forces, parameters = self.mechanism, self.forces, self.parameters

        def pressed(q: Any, v: Any, left_out: Any, *row: Any) -> dict[str, Any]:
            varied = parameters.at(row[0]) if parameters else None
            seen = varied.mechanism if varied else mechanism
            pairs = forces.pairs if varied is None else [varied.pair(pair) for pair in forces.pairs]
            found = forces.at(q, v, varied, left_out)
            return {
                "force": [list(point.force) for point in found.points],
                "position": [list(point.position) for point in found.points],
                "normal": [list(point.normal) for point in found.points],
                "gap": [point.gap for point in found.points],
                "velocity": [list(point.velocity) for point in found.points],
                "power": found.power,
                "energy": kinetic_energy(seen.tree, q, v) + potential_energy(seen.tree, q, seen.gravity),
                "friction": [pair.surface.kinetic for pair in pairs for _ in range(pair.capacity)],
            }

        known = digest(mechanism)
        key = None if known is None or self.content is None else f"pressed {known} {self.content}"
        sizes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv}
        sizes |= {"left_out": sum(pair.capacity for pair in forces.pairs), **row_of(parameters)}
        return Kernel(found_or_traced(key, lambda: trace(pressed, sizes, f"pressed_{mechanism.name}")))

    def record(self, step: ContactCode, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched:
        """The contact along a motion of states h apart.

        Forces and velocities are those at each time. The work of contact in a step is the gain of energy beyond the work of
        everything else, which is integrated by the trapezoidal rule with corrected ends: exact if nothing else does work.
        """
        forces = self.forces
        left_out = np.zeros((len(q), sum(pair.capacity for pair in forces.pairs)))
        if begun := step.layout.count("overlaps"):
            left_out[:, :begun] = u[:, step.layout.at("overlaps")]
        values = self._pressed(q, v, left_out, *step.layout.row(u))
        found = dict(zip([array.name for array in self._pressed.outputs], values, strict=True))
        acceleration, power = step.kernel("dynamics")(NO_STEP, q, v, u)[:2]
        others = power - found["power"]
        slope = np.gradient(others, h) if len(q) > 1 else others
        work = np.append(np.diff(found["energy"]) - 0.5 * h * (others[1:] + others[:-1]) + h * h / 12.0 * np.diff(slope), 0.0)
        touched = np.flatnonzero(np.abs(found["force"]).max(axis=(0, 2), initial=0.0) > 0.0)
        bodies = self.touching_bodies
        record = ContactRecord(
            bodies=tuple(bodies[k] for k in touched),
            force=found["force"][:, touched],
            position=found["position"][:, touched],
            normal=found["normal"][:, touched],
            gap=found["gap"][:, touched],
            velocity=found["velocity"][:, touched],
            friction=found["friction"][:, touched],
            residual=np.zeros(len(q)),
            penetration=np.maximum(-found["gap"].min(axis=1), 0.0),
            work=work,
            gained=work,
        )
        return Touched(record, acceleration, record.residual, warned=self.thrown(found["gap"][0], slowly=bool(begun)))
