"""The free rod in space: a joint of six degrees of freedom at its lower end (thesis 3.4, figures 3.20 to 3.22)."""

from ...model.samples import free_rod, sample
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Example, texts

#: Inertia about the rod's own axis [kg·m²], where the thesis has zero.
AXIAL_INERTIA = 1e-6


def run(*, axial_inertia: float = AXIAL_INERTIA) -> Record:
    """Ten seconds with ω = (0.72, 0.48, 0.24) rad/s and v = (-0.24, 0.36, 0) m/s, for which the center of mass rests."""
    start = sample("free_rod")
    rod = free_rod(axial_inertia=axial_inertia)
    result = simulate(rod, start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")
    note = (
        f"axial_inertia = {axial_inertia:g} kg·m² about the rod's own axis, where the thesis has 0: with 0 the mass "
        "matrix is singular and nothing determines the spin. The rod's direction, its center of mass, energy and "
        "momentum do not depend on the value (1e-4, 1e-6 and 1e-8 agree); the angle of spin about the axis, and so "
        "the single components of the quaternion, may."
    )
    return result.noted(note)


EXAMPLE = Example(**texts("free_rod"), run=run)
