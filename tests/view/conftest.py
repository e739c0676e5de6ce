"""Runs that several tests of views look at."""

from __future__ import annotations

import pytest

import kumitate as km

MASS = 2.0


@pytest.fixture(scope="session")
def bounced() -> km.Run:
    """A ball thrown onto a floor next to a step, until it rolls."""
    ball = km.Body("ball", MASS, inertia=(0.008, 0.008, 0.008), collisions=(km.Geometry(km.Sphere(0.1)),))
    mechanism = km.Mechanism("ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    ground = (km.Geometry(km.Plane()), km.Geometry(km.Box((0.4, 0.4, 0.1)), km.pose((-0.6, 0.0, 0.05))))
    contact = km.Contact(ground=ground, surface=km.Surface(friction=0.4, restitution=0.2))
    q, v = [0, 0, 0, 1, 0, 0.05, 0.2], [0, 0, 0, 0.5, 0, 0]
    return km.simulate(mechanism, q, v, duration=0.6, contact=contact, side_by_side=True)
