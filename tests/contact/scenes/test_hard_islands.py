"""Single bodies, at states that were met in random scenes, whose laws Newton steps on all points at once do not solve."""

from __future__ import annotations

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Capsule, Geometry, Plane
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .places import simulation, upright

#: Other bodies: contact of one or two is traced.
FAR = tuple(solid(f"far{k}", Box((0.1, 0.1, 0.1))) for k in range(2))


def one_step(body, contact, q, v):
    """The contact of one step of a body from a state."""
    start = np.array([*q, *upright((0.0, 0.0, 50.0), (0.0, 0.0, 60.0))]), np.array([*v, *np.zeros(12)])
    return simulation(unconnected(body, *FAR), contact, start=start).run(duration=1e-3).contact


def test_a_brick_that_falls_flat_and_slides_is_carried_by_three_corners():
    """All four corners close in the step; which three of them push is a matter of rounding, and one solution keeps the laws."""
    brick = solid("brick", Box((0.11839135819695513, 0.1677458456831783, 0.1043419030668939)), 0.10764292543100842)
    q = [-0.8859492411, -0.463782212, -2.09041e-05, -3.99238e-05, 0.3464666678, -0.195138213, 0.0521785116]
    v = [0.1667511579, 2.46838e-05, -0.109591696, 0.0144300288, 0.0285690303, 0.0139864162]
    touched = one_step(brick, Contact(surface=Surface(0.5, restitution=0.3)), q, v)
    assert touched.residual[0] < 1e-9
    assert touched.force[0, :, 2].sum() > 0.0


def test_a_capsule_that_friction_wedges_between_floor_and_wall_is_left_there():
    """It overlaps both by 5e-10 m; with μ = 0.9 nothing pushes it out of both without sliding, but the laws are kept."""
    wall = Geometry(Plane(), pose((0.568430605059032, 0.0, 0.0), rpy=(0.0, -0.5 * np.pi, 0.0)))
    shape, inertia = Capsule(0.024577935079400346, 0.10656336455780606), (0.0080796570657, 0.0080796570657, 0.0014643190135)
    capsule = Body("capsule", 3.6361029840648857, inertia=inertia, collisions=(Geometry(shape),))
    q = [-0.0218077659, -0.7067704161, 0.7067704163, -0.0218077732, 0.54385267, -0.4708803956, 0.0245779351]
    v = [0.8400341638, -0.0240825458, -0.1342677706, 0.0012962029, 0.0447574125, -0.0190369026]
    touched = one_step(capsule, Contact(ground=[Geometry(Plane()), wall], surface=Surface(0.9)), q, v)
    assert touched.residual[0] < 1e-8
    assert touched.penetration[0] < 1e-9
