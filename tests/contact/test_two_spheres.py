"""Two spheres that collide obliquely with friction: momentum about any point, and the impulse in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.contact.impulse.step import impact_program
from kumitate.contact.models import IMPULSE_MODELS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Sphere
from kumitate_problems.contact import solid, unconnected

from .distances import random_rotations

RADII, MASSES = np.array([0.1, 0.15]), np.array([1.0, 2.5])
SPINS = 0.4 * MASSES * RADII**2
E, MU = 0.6, 0.35


def quaternion(R: np.ndarray) -> np.ndarray:
    """x, y, z, w of a rotation, as the eigenvector of the largest eigenvalue of its symmetric form."""
    K = np.zeros((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K[3, 3] = np.trace(R)
    return np.linalg.eigh(K)[1][:, -1]


@pytest.fixture(scope="module")
def collided():
    """Normals from the second to the first, places, and velocities in the world before and after: (n, 2, 3) each."""
    rng, n = np.random.default_rng(2), 60
    spheres = unconnected(*(solid(f"ball{k}", Sphere(r), m) for k, (r, m) in enumerate(zip(RADII, MASSES, strict=True))))
    contact = Contact(ground=(), surface=Surface(MU, restitution=E))
    kernel = Kernel(program := impact_program(replace(spheres, gravity=(0.0, 0.0, 0.0)), contact, IMPULSE_MODELS["rigid"]))
    R = random_rotations(rng, 2 * n).reshape(n, 2, 3, 3)
    normal = rng.normal(size=(n, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    places = rng.normal(size=(n, 2, 3))
    places[:, 0] = places[:, 1] + RADII.sum() * normal
    spin, velocity = rng.normal(size=(2, n, 2, 3)) * [[[[5.0]]], [[[1.0]]]]
    velocity[:, 0] -= (np.einsum("ni,ni->n", velocity[:, 0] - velocity[:, 1], normal) + rng.uniform(0.1, 2.0, n))[
        :, None
    ] * normal

    def in_bodies(vectors):
        return np.einsum("nbji,nbj->nbi", R, vectors)

    quaternions = np.array([[quaternion(one) for one in both] for both in R])
    q = np.concatenate([quaternions, places], axis=2).reshape(n, 14)
    v = np.concatenate([in_bodies(spin), in_bodies(velocity)], axis=2).reshape(n, 12)
    found = dict(zip((array.name for array in program.outputs), kernel(1e-3, q, v, v), strict=True))
    after = found["v"].reshape(n, 2, 2, 3)
    turned = [np.einsum("nbij,nbj->nbi", R, after[:, :, part]) for part in (0, 1)]
    return normal, places, (spin, velocity), turned


def test_momentum_about_any_point_is_kept(collided):
    _, places, before, after = collided
    for point in np.random.default_rng(3).normal(size=(3, 3)):
        kept = []
        for spin, velocity in (before, after):
            linear = MASSES[:, None] * velocity
            kept.append(
                np.concatenate([(SPINS[:, None] * spin + np.cross(places - point, linear)).sum(axis=1), linear.sum(axis=1)], 1)
            )
        np.testing.assert_allclose(kept[1], kept[0], rtol=0.0, atol=1e-9)


def test_the_impulse_is_that_of_the_closed_form(collided):
    """Newton's along the normal; across it what stops the sliding, (2/7) of a mass that is not free to turn, or friction's."""
    normal, _, (spin, velocity), (spin_after, velocity_after) = collided
    arms = np.stack([-RADII[0] * normal, RADII[1] * normal], axis=1)
    at_point = velocity + np.cross(spin, arms)
    u = at_point[:, 0] - at_point[:, 1]
    closing = np.einsum("ni,ni->n", u, normal)
    yielding = (1.0 / MASSES).sum()
    along = -(1.0 + E) * closing / yielding
    across = -(u - closing[:, None] * normal) / (3.5 * yielding)
    size = np.linalg.norm(across, axis=1)
    slides = size > MU * along
    assert 10 < slides.sum() < 50
    across *= np.where(slides, MU * along / size, 1.0)[:, None]
    P = along[:, None] * normal + across
    pushes = np.stack([P, -P], axis=1)
    np.testing.assert_allclose(velocity_after, velocity + pushes / MASSES[:, None], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(spin_after, spin + np.cross(arms, pushes) / SPINS[:, None], rtol=0.0, atol=1e-8)
