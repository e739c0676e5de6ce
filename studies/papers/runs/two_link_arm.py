"""The two-link arm in absolute and in relative angles (lecture Y, eq. 8.2, 8.3)."""

from math import pi

from kumitate.examples.catalogue import Example
from kumitate.lagrange import System, coordinates, gravity, translation
from kumitate.model import KINDS, Body, Capsule, Geometry, Joint, Mechanism, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from ..lagrange_notes import agreement

#: Of each point mass [kg], of each link [m], and the acceleration of free fall [m/s²].
MASS, LENGTH, FALL = 1.0, 1.0, 9.81
#: Relative angles at the start [rad].
START = (pi / 2.0, pi / 6.0)


def system(*, absolute: bool) -> System:
    """Point masses at the ends of both links; angles from the vertical, or of a link from the one before.

    Args:
        absolute: whether the second angle is one in space (8.2) or between the links (8.3).
    """
    from sympy import cos, sin, symbols

    m, l, g = symbols("m l g")
    q = coordinates("q_1 q_2")
    second = q[1] if absolute else q[0] + q[1]
    x_1 = [l * sin(q[0]), l * cos(q[0])]
    x_2 = [x_1[0] + l * sin(second), x_1[1] + l * cos(second)]
    kinetic = translation(m, x_1) + translation(m, x_2)
    potential = gravity(m, x_1[1], g) + gravity(m, x_2[1], g)
    return System(q, kinetic, potential, parameters={m: MASS, g: FALL, l: LENGTH}, name="two_link_arm")


def mechanism() -> Mechanism:
    """The same as bodies and joints, in relative angles."""
    colors = ((0.16, 0.42, 0.70, 1.0), (0.90, 0.49, 0.13, 1.0))
    bodies = tuple(
        Body(
            f"link{k}", MASS, (0.0, 0.0, LENGTH),
            visuals=(
                Geometry(Capsule(0.02, LENGTH), pose((0.0, 0.0, LENGTH / 2.0)), (0.55, 0.58, 0.62, 1.0)),
                Geometry(Sphere(0.07), pose((0.0, 0.0, LENGTH)), color),
            ),
        )
        for k, color in enumerate(colors, start=1)
    )  # fmt: skip
    joints = (
        Joint("shoulder", KINDS["revolute"], "world", "link1", axis=(0.0, 1.0, 0.0)),
        Joint("elbow", KINDS["revolute"], "link1", "link2", pose((0.0, 0.0, LENGTH)), axis=(0.0, 1.0, 0.0)),
    )
    return Mechanism("two_link_arm", bodies, joints, gravity=(0.0, 0.0, -FALL))


def run() -> Record:
    """Three seconds from rest, the lower link level."""
    result = simulate(mechanism(), START, (0.0, 0.0), duration=3.0, step=1e-3, integrator="rkf45")
    relative = system(absolute=False).simulate(START, [0.0, 0.0], duration=3.0, step=2e-3)
    absolute = system(absolute=True).simulate([START[0], sum(START)], [0.0, 0.0], duration=3.0, step=2e-3)
    notes = agreement(result, relative, absolute.q @ [[1, -1], [0, 1]], system(absolute=False))
    return result.noted(*notes)


EXAMPLE = Example(
    name="two_link_arm",
    title="Two-link arm in absolute and in relative angles",
    rows=("Y-8a",),
    summary=(
        "Two point masses of 1 kg at the ends of massless links of 1 m fall from rest. Equations of motion from the energies, "
        "once in absolute and once in relative angles, look unlike and give the same motion, and that of the mechanism."
    ),
    run=run,
)
