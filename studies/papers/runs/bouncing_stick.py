"""A stick that bounces on the floor and slips to rest, by penalty contact (lecture Y, 10 and 11.3, code 5)."""

from collections.abc import Mapping
from math import pi

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.model import KINDS, Body, Capsule, Geometry, Hull, Joint, Mechanism, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

#: Mass [kg], length [m], acceleration of free fall [m/s²], friction.
M, L, G, FRICTION = 1.0, 1.0, 9.8, 0.3
#: Moments of inertia about the middle [kg·m²]: as Y prints it, which is a uniform rod's about its end, and a uniform rod's.
PRINTED, UNIFORM = M * L**2 / 3.0, M * L**2 / 12.0
#: Options of penalty contact: stiffness [N/m] and damping [N·s/m] of methods 1 and 2, and the sigmoids of code 5.
METHODS = {
    1: {"stiffness": 8e3, "damping": 25.0, "pull": 1, "sharpness": 1e4, "friction_sharpness": 1e4},
    2: {"stiffness": 12e3, "damping": 80.0, "pull": 0, "sharpness": 1e4, "friction_sharpness": 1e4},
}
#: The middle's place [m] and the slope [rad] at the start; how long code 5 goes on [s].
START, DURATION = (0.0, 5.0, pi / 4.0), 6.45


def mechanism(*, inertia: float = PRINTED) -> Mechanism:
    """A stick that moves in the plane of x and z, and touches with its two ends.

    Args:
        inertia: about its middle [kg·m²].
    """
    ends = Geometry(Hull(((-0.5 * L, 0.0, 0.0), (0.5 * L, 0.0, 0.0))))
    visuals = (
        Geometry(Capsule(0.02, L), pose(rpy=(0.0, 0.5 * pi, 0.0)), (0.16, 0.42, 0.70, 1.0)),
        Geometry(Sphere(0.04), pose((-0.5 * L, 0.0, 0.0)), (0.90, 0.49, 0.13, 1.0)),
        Geometry(Sphere(0.04), pose((0.5 * L, 0.0, 0.0)), (0.20, 0.60, 0.40, 1.0)),
    )
    stick = Body("stick", M, inertia=(0.0, inertia, inertia), visuals=visuals, collisions=(ends,))
    joints = (
        Joint("x", KINDS["prismatic"], "world", "slide", axis=(1.0, 0.0, 0.0)),
        Joint("y", KINDS["prismatic"], "slide", "lift", axis=(0.0, 0.0, 1.0)),
        Joint("angle", KINDS["revolute"], "lift", "stick", axis=(0.0, -1.0, 0.0)),  # from x towards the height, as in Y
    )
    return Mechanism("bouncing_stick", (Body("slide"), Body("lift"), stick), joints, gravity=(0.0, 0.0, -G))


def simulated(
    method: int = 1, *, inertia: float = PRINTED, step: float = 1e-2, duration: float = DURATION, tolerance: float = 1e-9
) -> Record:
    """The fall by a method of Y; options as of `mechanism` and `kumitate.simulate`."""
    contact = Contact("penalty", surface=Surface(FRICTION), options=METHODS[method])
    return simulate(
        mechanism(inertia=inertia), START, duration=duration, step=step, contact=contact, integrator="rkf45_adaptive",
        tolerance=tolerance,
    )  # fmt: skip


def driven(result: Record) -> float:
    """What friction put into the motion, where it drove instead of braking [J]."""
    record = result.contact
    assert record is not None
    slip = record.velocity - record.normal * np.einsum("nmk,nmk->nm", record.velocity, record.normal)[..., None]
    return float(np.maximum(np.einsum("nmk,nmk->nm", record.force, slip), 0.0).sum() * result.settings["step"])


def pulled(result: Record) -> float:
    """How long the floor held an end back by more than 1 N [s]."""
    record = result.contact
    assert record is not None
    return float((record.normal_force < -1.0).any(axis=1).sum() * result.settings["step"])


def run() -> Record:
    """Method 1 with the printed inertia, as in code 5."""
    result = simulated()
    notes = [f"inertia {PRINTED:.6g} kg·m² about the middle, as printed; a uniform rod has {UNIFORM:.6g} kg·m²"]
    for method in METHODS:
        fine = simulated(method, step=5e-4)
        height = 1e3 * fine.q[-1, 1]
        notes.append(
            f"method {method}: the floor holds back for {1e3 * pulled(fine):.3g} ms, during which friction drives: "
            f"{1e3 * driven(fine):.3g} mJ gained; at rest {-height:.3g} mm deep, x = {fine.q[-1, 0]:.6f} m"
        )
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """The methods and the inertias compared."""
    runs = {"method 1": result, "method 2": simulated(2), "I = ml²/12": simulated(inertia=UNIFORM)}
    names = tuple(runs)
    return {
        "methods": Plate(
            (
                Curves("Height of the middle", "m", names, np.column_stack([run.q[:, 1] for run in runs.values()])),
                Curves("Slope", "deg", names, np.column_stack([np.degrees(run.q[:, 2]) for run in runs.values()])),
                Curves("Energy", "J", names, np.column_stack([run.energy.total for run in runs.values()])),
            ),
            "A stick falls from 5 m at 45°, K = 8000 N/m and C = 25 N·s/m (method 1), 12 000 and 80 without pull (method 2), "
            "μ = 0.3. I = ml²/3 as printed, but for the third curve, which is method 1.",
        )
    }


EXAMPLE = Example(
    name="bouncing_stick",
    title="Bouncing stick, penalty contact",
    rows=("Y-stick",),
    summary=(
        "A stick of 1 m and 1 kg falls from 5 m at 45 deg, bounces on its ends, slips and comes to rest, for 6.45 s; every "
        "fifth sample is an output of code 5. The floor is a spring and a damper under each end: method 1, whose damper holds "
        "back on the way out, and method 2, whose damper does not. The inertia is ml²/3 as printed; a uniform rod about its "
        "middle has ml²/12."
    ),
    run=run,
    panels=("q", "v", "energy", "contact_forces", "penetration"),
    plates=plates,
)
