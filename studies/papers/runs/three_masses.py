"""Three masses in a row on springs, in absolute and in relative coordinates (lecture Y, figure 1)."""

from kumitate.examples.catalogue import Example
from kumitate.lagrange import System, coordinates, spring, translation
from kumitate.model import KINDS, Body, Box, Geometry, Joint, Mechanism
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..lagrange_notes import agreement

#: Of each mass [kg] and spring [N/m], and a spring's length at rest [m].
MASS, STIFFNESS, LENGTH = 1.0, 20.0, 0.5
#: Lengths of the springs at the start [m].
START = (0.6, 0.45, 0.5)


def system(*, absolute: bool) -> System:
    """A spring from the wall to the first mass, from there to the second, to the third.

    Args:
        absolute: whether the coordinates are distances from the wall (figure 1a), or from the mass before (1b).
    """
    q = coordinates("q_1 q_2 q_3")
    x = list(q) if absolute else [q[0], q[0] + q[1], q[0] + q[1] + q[2]]
    stretched = [x[0] - LENGTH, x[1] - x[0] - LENGTH, x[2] - x[1] - LENGTH]
    kinetic = sum(translation(MASS, place) for place in x)
    return System(q, kinetic, spring(STIFFNESS, stretched), name="three_masses")


def mechanism() -> Mechanism:
    """The same as bodies that slide, each on the one before."""
    colors = ((0.16, 0.42, 0.70, 1.0), (0.90, 0.49, 0.13, 1.0), (0.20, 0.60, 0.40, 1.0))
    bodies = tuple(
        Body(f"mass{k}", MASS, inertia=(1e-3, 1e-3, 1e-3), visuals=(Geometry(Box((0.12, 0.12, 0.12)), color=color),))
        for k, color in enumerate(colors, start=1)
    )
    joints = tuple(
        Joint(
            f"spring{k}", KINDS["prismatic"], f"mass{k - 1}" if k > 1 else "world", f"mass{k}", axis=(1.0, 0.0, 0.0),
            stiffness=(STIFFNESS,), rest=(LENGTH,),
        )
        for k in (1, 2, 3)
    )  # fmt: skip
    return Mechanism("three_masses", bodies, joints)


def run() -> Record:
    """Ten seconds from rest, the springs 0.1 m too long, 0.05 m too short, and right."""
    result = simulate(mechanism(), START, (0.0, 0.0, 0.0), duration=10.0, step=1e-3, integrator="rkf45")
    places = [START[0], START[0] + START[1], sum(START)]
    relative = system(absolute=False).simulate(START, [0.0] * 3, duration=10.0, step=1e-2)
    absolute = system(absolute=True).simulate(places, [0.0] * 3, duration=10.0, step=1e-2)
    notes = agreement(result, relative, absolute.q @ [[1, -1, 0], [0, 1, -1], [0, 0, 1]], system(absolute=False))
    return result.noted(*notes)


EXAMPLE = Example(
    name="three_masses",
    title="Three masses in a row on springs",
    rows=("Y-8",),
    summary=(
        "Three masses of 1 kg slide in a row, tied to the wall and to one another by springs of 20 N/m. The equations come "
        "from the energies alone, once in distances from the wall and once in distances between the masses; both give one "
        "motion, and that of the mechanism. Its frequencies are 2√(k/m) sin((2j − 1)π/14)."
    ),
    run=run,
)
