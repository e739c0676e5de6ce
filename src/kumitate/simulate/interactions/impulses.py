"""Contact traced pair by pair, by forces or by impulses: how its runs are stepped, and the record of contact along them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ... import kinematics
from ...analysis import fastest_rate, kinetic_energy, potential_energy
from ...compile import Kernel, found_or_traced
from ...contact.forces import ContactForces
from ...contact.impulse.step import impact_program
from ...contact.laws import RECOVERY
from ...contact.models import FORCE_MODELS, IMPULSE_MODELS
from ...contact.pairs import Touch, touches
from ...contact.plan import ContactPlan, pairs_traced
from ...contact.scene import Contact, Pair, contact_pairs
from ...errors import InputError
from ...kinematics import link_poses
from ...model import Mechanism
from ...model.mechanism import digest
from ...records.contact_record import Touched
from ...scalar import Program, call, trace
from ..driving.forcing import Overlaps
from ..integrators import RK4, Integrator, Midpoint, TimeStepping
from ..parameters import Variation
from ..stepping.equations import NO_STEP, row_of
from ..stepping.interaction import EXPLICIT, Asked, ContactCode, check_midpoint
from ..stepping.jumps import pushes_of
from .contact import TracedContact, kept_from_lists


@dataclass(frozen=True, eq=False)
class ForceContact(TracedContact):
    """Contact of a run by a force model; `forces`: of all contact points, at any state."""

    forces: ContactForces = field(kw_only=True)

    @classmethod
    def of(cls, mechanism: Mechanism, contact: Contact, parameters: Variation | None = None, why: str = "") -> ForceContact:
        """The contact of a mechanism by a model of `FORCE_MODELS`."""
        make, mass = FORCE_MODELS[contact.model], mechanism.tree.mass
        model = make(contact.options, mass)
        if parameters is not None and parameters.varies("mass") and make(contact.options, 2.0 * mass) != model:
            raise InputError(
                f"{mechanism.name}: the springs and dampers of contact {contact.model!r} follow from the mass by default, and "
                "masses are parameters; give them in its options, such as Contact('penalty', options={'stiffness': 1e5, "
                "'damping': 1e3})"
            )
        forces = ContactForces.of(mechanism, contact, model)
        return cls(mechanism, contact, list(forces.pairs), make, parameters, why, forces=forces)

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
        """The contact along a motion of states h apart: forces and velocities are those at each time.

        The work of contact in a step is the gain of energy beyond the work of
        everything else, which is integrated by the trapezoidal rule with corrected ends: exact if nothing else does work.
        """
        forces = self.forces
        left_out = np.zeros((len(q), sum(pair.capacity for pair in forces.pairs)))
        if begun := step.layout.count("overlaps"):
            left_out[:, :begun] = u[:, step.layout.at("overlaps")]
        values = self._pressed(q, v, left_out, *step.layout.row(u))
        found = dict(zip([array.name for array in self._pressed.outputs], values, strict=True))
        acceleration, power = step.kernel("dynamics", quick=True)(NO_STEP, q, v, u)[:2]
        others = power - found["power"]
        slope = np.gradient(others, h) if len(q) > 1 else others
        work = np.append(np.diff(found["energy"]) - 0.5 * h * (others[1:] + others[:-1]) + h * h / 12.0 * np.diff(slope), 0.0)
        record, _ = self.recorded(found, found["force"], residual=np.zeros(len(q)), work=work, gained=work)
        return Touched(record, acceleration, record.residual, warned=self.thrown(found["gap"][0], slowly=bool(begun)))


# --- contact by impulses --------------------------------------------------------------------------------------------------
#: States that are evaluated in one batch when a run's contacts are collected.
_CHUNK = 1024
#: Contact of fewer states, or that is expected to compile for longer [s], is not compiled again for several states at a time.
_FEW, _LONG = 10_000, 5.0
#: Shapes this close to each other are reported as touching where contact failed [m].
_NEAR = 1e-3
#: What a model of some of the laws misses by more than this is worth a note [m/s].
_MISSED = 0.1


@dataclass(frozen=True, eq=False)
class ImpulseContact(TracedContact):
    """Contact of a run by an impulse model."""

    touches = True

    @classmethod
    def of(cls, mechanism: Mechanism, contact: Contact, parameters: Variation | None = None, why: str = "") -> ImpulseContact:
        """The contact of a mechanism by a model of `IMPULSE_MODELS`."""
        pairs = contact_pairs(mechanism, mechanism.tree, contact)
        return cls(mechanism, contact, pairs, IMPULSE_MODELS[contact.model], parameters, why)

    def impacts(self, **needed: bool) -> Program:
        """(h, q, v, v_free) → the velocities after a step, and the contact in it; `needed`: as of `impact_program`."""
        return impact_program(self.mechanism, self.contact, self.model, self.parameters, **needed)

    @cached_property
    def _stiffness(self) -> np.ndarray:
        """Of the spring of each point, zero if it is rigid."""
        return np.array([pair.surface.stiffness or 0.0 for pair in self.owners], dtype=float)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        return np.array([float(touch.gap) for _, touch in self._touches(q)])

    def stored(self, gaps: np.ndarray) -> np.ndarray:
        return 0.5 * self._stiffness * np.minimum(gaps, 0.0) ** 2

    def overlaps(self, q: np.ndarray) -> Overlaps | None:
        """Those of compliant points, if their springs would throw the mechanism up (`THROWN`)."""
        return super().overlaps(q) if self._stiffness.any() else None

    def _touches(self, q: np.ndarray) -> Iterator[tuple[Pair, Touch]]:
        """The points at q (nq), each with its pair."""
        tree = self.mechanism.tree
        poses = link_poses(tree, q.tolist())
        for pair in self.pairs:
            a, b = (geometry.shape for geometry in pair.geometries)
            X_WA, X_WB = pair.poses(tree, poses)
            yield from ((pair, touch) for touch in touches(a, X_WA, b, X_WB))

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """`time_stepping`, with Runge-Kutta steps where nothing touches unless joints are too stiff for them; or "midpoint"."""
        name, step = asked.name, asked.step
        if self.why and self.why == kept_from_lists(self.mechanism, self.contact):
            notes.append(f"contact: traced pair by pair, which takes long to compile: {self.why}")
        if name == Midpoint.name:
            self._check_midpoint()
            check_midpoint(self.mechanism, step, asked.q, asked.v)
            return Midpoint()
        if name not in ("auto", "time_stepping", "semi_implicit_euler"):
            raise self._no_integrator(name, "auto, time_stepping, semi_implicit_euler, midpoint")
        if name != "semi_implicit_euler":
            rate, joint = fastest_rate(self.mechanism, asked.q, asked.v)
            if rate * step < EXPLICIT:
                return TimeStepping(RK4())
            notes.append(
                f"integrator: damping, springs or drives at {joint!r} act at {rate:.3g} 1/s, too fast for Runge-Kutta steps of "
                f"{step:g} s between contacts; all steps are implicit in them, of order 1. A smaller step is more exact"
            )
        return TimeStepping()

    def _check_midpoint(self) -> None:
        """Refuses contact whose impulses cannot be made in two parts."""
        name = self.mechanism.name
        if self.contact.model != "rigid":
            raise InputError(
                f"{name}: steps of integrator='midpoint' need all laws of contact, of which {self.contact.model!r} obeys only "
                "some. Take contact='rigid', or integrator='auto'"
            )
        if soft := next((pair for pair in self.pairs if pair.surface.stiffness is not None), None):
            raise InputError(
                f"{name}: between {soft.bodies[0]!r} and {soft.bodies[1]!r} contact is compliant, which steps of "
                "integrator='midpoint' cannot follow at order two. Leave its stiffness out, or take integrator='auto'"
            )

    def touching(self, q: np.ndarray) -> list[str]:
        return list(dict.fromkeys("{!r} on {!r}".format(*pair.bodies) for pair, touch in self._touches(q) if touch.gap < _NEAR))

    def pushes(self, code: ContactCode, h: Any, q: Any, v: Any, u: Any) -> list[Any]:
        return pushes_of(call(code.jumps, h, q, v, u), h)  # type: ignore[arg-type]

    def plan(self) -> ContactPlan:
        return ContactPlan("traced", self.why, *pairs_traced(self.pairs, self.mechanism.nv))

    def slopes(self, impacts: Program | None) -> dict[Program, Program]:
        """The derivative of `impacts` at the solution of contact; refused where impulses obey only some of the laws."""
        if self.contact.model != "rigid":
            raise InputError(
                f"{self.mechanism.name}: steps with contact {self.contact.model!r} cannot be differentiated, as its impulses "
                "obey only some of the laws of contact. Take contact='rigid', or 'penalty'"
            )
        if turning := next((pair for pair in self.pairs if pair.surface.turns), None):
            raise InputError(
                f"{self.mechanism.name}: steps with torsional or rolling friction, as between {turning.bodies[0]!r} and "
                f"{turning.bodies[1]!r}, cannot be differentiated. Leave it out"
            )
        from ...contact.impulse.refined import impact_slopes

        return {} if impacts is None else {impacts: impact_slopes(impacts, self.mechanism, self.contact, self.parameters)}

    def record(self, step: ContactCode, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched:
        """The contact along a motion of steps h.

        The solver starts every step without memory of the last, so this repeats what the run's steps computed.
        """
        one_by_one = len(q) < _FEW or (self.plan().seconds or 0.0) > _LONG  # by what contact is expected to take to compile
        whole = _along(step.kernel("jumps"), h, (q, v, u), one_by_one=one_by_one)
        many = {"position": "positions", "normal": "normals", "gap": "gaps", "velocity": "velocities", "friction": "frictions"}
        found, sums = {one: whole[name] for one, name in many.items()}, ("residual", "work", "gained")
        moment = whole["moments"] / h if "moments" in whole else None
        record, pushed = self.recorded(found, whole["impulses"] / h, moment, **{name: whole[name] for name in sums})
        closes = np.where(self._stiffness[pushed] > 0.0, np.inf, RECOVERY * h)
        told = self.thrown(whole["gaps"][0], slowly=bool(step.layout.count("overlaps")))
        turning = np.zeros_like(v)
        for k, part in enumerate(kinematics.turning(self.mechanism.tree, list(v.T))):  # type: ignore[arg-type]
            turning[:, k] = part
        missed = self._missed(record.residual[:-1])
        return Touched(record, (whole["v"] - v) / h + turning, whole["unsolved"], closes, told, missed)

    def _missed(self, residual: np.ndarray) -> tuple[str, ...]:
        """A note on a model that obeys only some of the laws of contact, where its velocities miss others by much [m/s]."""
        worst, count = float(residual.max(initial=0.0)), int((residual >= _MISSED).sum())
        if self.contact.model == "rigid" or not count:
            return ()
        return (
            f"contact: velocities miss its laws by up to {worst:.3g} m/s, and in {count} of {len(residual)} steps by more than "
            f"{_MISSED:g} m/s, as {self.contact.model!r} obeys only some of them (docs/contact-models.md); "
            "contact='rigid' obeys all",
        )


def _along(kernel: Kernel, h: float, states: Sequence[np.ndarray], *, one_by_one: bool) -> dict[str, Any]:
    """The outputs of a kernel of h and a state, by name, along a motion of `states` (n, ...).

    One by one they take the code that made the steps; several at a time are faster, by code that is compiled for that alone,
    for about as long as 10 000 states take one by one.
    """
    count = len(states[0])
    whole = {array.name: np.empty((count, *array.shape), kernel.precision.dtype) for array in kernel.outputs}
    if one_by_one:
        for k in range(count):
            kernel.into([array[k, ...] for array in whole.values()], h, *(part[k] for part in states))
        return whole
    for some in (slice(start, start + _CHUNK) for start in range(0, count, _CHUNK)):
        kernel.into([array[some] for array in whole.values()], h, *(part[some] for part in states))
    return whole
