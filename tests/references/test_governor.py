"""The stiff flyball governor (A05) against other integrators; its published motion is a problem of `kumitate validate`."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.examples.catalogue import example
from kumitate.kinematics import link_poses, place_pose
from kumitate.model.samples import sample

G, K, C, REST = 9.81, 8e5, 4e4, 0.5


@pytest.fixture(scope="module")
def run():
    return example("governor").run()


def test_both_arms_swing_alike(run):
    np.testing.assert_allclose(run.q[:, 2], run.q[:, 3], rtol=0.0, atol=1e-7)


def test_it_moves_as_lagrange_says(run):
    # three freedoms by hand: turning ω, height s of the slider, angle a of both arms below level
    rod, ball, slider, width = 0.3, 5.0, 3.0, 0.01
    mass, along = rod + ball, rod * 2 * width**2 / 12
    far = (rod * 0.5 + ball) / mass
    across = rod * (1 + width**2) / 12 + rod * (0.5 - far) ** 2 + ball * (1 - far) ** 2
    about_hinge = across + mass * far**2
    still = along + slider * 0.1**2 / 6  # of the shaft and the slider about z

    def turning(a):  # moment of inertia about z, and its derivative by a
        c, s = np.cos(a), np.sin(a)
        arm = mass * (0.05 + far * c) ** 2 + across * c**2 + along * s**2
        slope = -2 * mass * (0.05 + far * c) * far * s - 2 * across * c * s + 2 * along * c * s
        return still + 2 * arm, 2 * slope

    def pull(s, a, s_dot, a_dot):  # of one spring and damper, from the slider's side, with the directions it acts in
        x, z = 0.5 * np.cos(a), 1 - 0.5 * np.sin(a) - s
        length = np.hypot(x, z)
        by_s, by_a = -z / length, (-0.5 * x * np.sin(a) - 0.5 * z * np.cos(a)) / length
        return K * (length - REST) + C * (by_s * s_dot + by_a * a_dot), by_s, by_a

    spin = 2 * np.pi * turning(np.pi / 6)[0]

    def rate(_, y):
        s, a, s_dot, a_dot = y
        force, by_s, by_a = pull(s, a, s_dot, a_dot)
        inertia, slope = turning(a)
        centrifugal = 0.5 * slope * (spin / inertia) ** 2
        return [
            s_dot, a_dot, -G - 2 * force * by_s / slider,
            (centrifugal + 2 * mass * G * far * np.cos(a) - 2 * force * by_a) / (2 * about_hinge),
        ]  # fmt: skip

    solved = solve_ivp(rate, (0, 10), [0.5, np.pi / 6, 0, 0], "Radau", run.time[::200], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(0.5 + run.q[::200, 1], solved.y[0], rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(run.q[::200, 2], solved.y[1], rtol=0.0, atol=1e-5)


def test_its_springs_are_at_ease_at_the_start():
    start = sample("governor")
    mechanism = start.build()
    tree = mechanism.tree
    poses = link_poses(tree, list(start.q))
    for loop in mechanism.loops:
        a, b = (
            np.array([*(place_pose(tree, poses, tree.places[body]) @ X).translation], dtype=float)
            for body, X in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
        )
        assert np.linalg.norm(b - a) == pytest.approx(loop.rest[0], abs=1e-15)
        assert abs(a[0]) == 0.05  # on the slider's sides, where problem A05 has them


def test_stiff_springs_move_it_like_rods(run):
    """With couplers of constant length the slider is at 1 − sin(angle), and energy and angular momentum give the arms' rate."""
    robot = km.load(sample("governor").build())
    angle, energy, about = run.q[:, 2], run.energy.total[0], run.momentum[0, 2]
    assert run.q[:, 1].max() > 0.2
    first = run.time < 1.2
    np.testing.assert_allclose(0.5 + run.q[first, 1], 1.0 - np.sin(angle[first]), rtol=0.0, atol=3e-4)
    for q, v in zip(run.q[first][::20], run.v[first][::20], strict=True):
        rodded = np.array([0.0, 0.5 - np.sin(q[2]), q[2], q[2]])
        M = robot.mass_matrix(rodded)
        way = np.array([0.0, -np.cos(q[2]), 1.0, 1.0])
        left = energy - G * robot.mass * robot.center_of_mass(rodded)[2] - 0.5 * about**2 / M[0, 0]
        assert 0.5 * way @ M @ way * v[2] ** 2 == pytest.approx(left, abs=5e-3)


def test_its_sample_is_the_reference_problem():
    shaft, slider, *arms = sample("governor")().bodies
    assert [body.mass for body in (shaft, slider, *arms)] == [0.3, 3.0, 5.3, 5.3]
    for loop in sample("governor")().loops:
        assert (loop.stiffness, loop.damping, loop.rest) == ((K,), (C,), (REST,))
