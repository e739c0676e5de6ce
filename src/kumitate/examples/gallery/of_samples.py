"""Samples that move freely from their starts: pendulums, chains, loops, an arm (thesis; IFToMM's problems A01, A02, A04)."""

from collections.abc import Callable

from ...model.samples import sample
from ...results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def _run(name: str) -> Callable[[], Result]:
    """The run of a sample: from its start, for its duration, without control."""

    def run() -> Result:
        start = sample(name)
        return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")

    return run


def _shown(name: str, title: str, summary: str, rows: tuple[str, ...] = (), panels: tuple[str, ...] | None = None) -> Example:
    return Example(name, title, rows, summary, _run(name), panels)


EXAMPLES = (
    _shown(
        "pendulum",
        "Pendulum let go at 60 deg",
        "A point mass of 1 kg on a massless rod of 1 m swings freely from 60 deg for 10 s. Its total energy stays "
        "constant, and its period is 2.1529 s: 7 % longer than that of small swings, as the elliptic integral says.",
    ),
    _shown(
        "double_pendulum",
        "Double pendulum let go at 90 deg",
        "Two point masses of 1 kg on massless rods of 1 m are let go from the level, stretched out, and swing for 10 "
        "s. The motion is chaotic, yet the total energy stays constant.",
    ),
    _shown(
        "planar_3r",
        "Planar 3R serial chain, falling",
        "Three rods of 1 m and 1 kg fall freely for 3 s from 135, -45, 225 deg. Nothing drives the joints, so the sum "
        "of kinetic and potential energy stays constant.",
        rows=("T-3.1",),
    ),
    _shown(
        "planar_4r",
        "Planar 4R closed loop, falling",
        "The chain of planar_3r with its end pinned at (1, 0) m, a parallelogram, falls freely for 3 s. The loop "
        "stays closed to rounding, and the total energy constant. joint4 closes the loop: its angle is that of the "
        "last rod seen from the ground.",
        rows=("T-3.3",),
    ),
    _shown(
        "planar_4r_singular",
        "Planar 4R closed loop through its singular posture",
        "The loop of planar_4r swings five times in 3 s through the posture where all rods lie in a line, the first "
        "joint at +90 or -90 deg. There the determinant of the loop's J Jᵀ is zero and the loop may fold another way; "
        "in the thesis velocities jump there and energy is lost. Here it goes on as it came, and the energy stays "
        "constant.",
        rows=("T-3.4",),
    ),
    _shown(
        "distance_pendulum",
        "Pendulum as a free point mass held at a distance",
        "A point mass of 1 kg moves freely in space and is held 1 m from the origin by one equation. From rest at "
        "(-1, 0) it swings as the pendulum does: after 10 s it is at (-0.275087462576117, -0.961419205099125) m "
        "(reference problem A01 of IFToMM's library).",
        panels=("q", "v", "a", "energy"),
    ),
    _shown(
        "four_bars_2",
        "Row of two four-bar linkages, toppling",
        "Three upright legs, joined on top by two rods, topple and turn for 10 s. About ten times all rods lie in a "
        "line, where the mobility jumps from 1 to 3; the motion goes on as that of one pendulum, to 31.7505971869861 "
        "rad after 10 s (reference problem A02 of IFToMM's library, N = 2).",
    ),
    _shown(
        "four_bars_40",
        "Row of forty four-bar linkages, toppling",
        "Forty-one upright legs, joined on top by forty rods, with 200 equations of loops of which 120 follow from "
        "the others, topple and turn for 10 s through postures of mobility 41. The motion is still that of one "
        "pendulum (reference problem A02 of IFToMM's library, N = 40).",
        panels=("energy", "center_of_mass", "center_of_mass_velocity", "momentum"),
    ),
    _shown(
        "bricard",
        "Bricard's mechanism, which ought not to move",
        "Five bars and six revolute joints in space: by the count of equations nothing can move, yet one of them "
        "always follows from the others. The mechanism swings under gravity with a period of just under 5 s, and its "
        "energy stays constant (reference problem A04 of IFToMM's library; z here is y there).",
    ),
    _shown(
        "pa10",
        "Seven-joint arm PA-10 in free fall",
        "The arm, its axes z y z y z y z, falls freely for 10 s from 0, 45, 10, 0, 0, 0, 0 deg. As in the thesis "
        "every link has the inertia diag(1, 1, 1) kg·m², and neither floor nor joint limits stop it. The total energy "
        "stays constant.",
        rows=("T-PA10",),
    ),
)
