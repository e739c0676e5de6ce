"""Twists, wrenches and responses of a robot's links in a scene against its Jacobians and inertia."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.impulse.problem import inertia
from kumitate.contact.pairs.rows import Solid, points_for, solids_of
from kumitate.contact.pairs.rows.convex import convex_convex, gap_along
from kumitate.contact.scene import Contact
from kumitate.contact.scenes.building import scene_of
from kumitate.contact.scenes.motion import read_state
from kumitate.contact.scenes.robots.links import gather, respond, spread, write_jacobian
from kumitate.dynamics import Acting, aba
from kumitate.kinematics import link_poses, turning
from kumitate.model import Geometry, Hull, Sphere
from kumitate.simulate.scenes.model import ScenePlaces
from kumitate.simulate.scenes.robots import robots_of, with_robots

from ...mechanisms import every_kind
from .places import simulation, upright
from .test_robots import BRICKS, H, beside, walker


def robot_of_scene(seed: int):
    """A walker at a random posture beside bricks, in the middle of a step: the moving bodies, the posture, random numbers."""
    rng = np.random.default_rng(seed)
    mechanism = beside(walker(), *BRICKS)
    turn = rng.normal(size=4)
    q = np.array([*turn / np.linalg.norm(turn), *rng.normal(size=3), *rng.normal(size=2)])
    whole = np.array([*q, *upright((9.0, 0.0, 0.06), (8.0, 0.0, 0.06), (7.0, 0.0, 0.06))])
    v = np.array([*rng.normal(size=8), *np.zeros(18)])
    sim = simulation(mechanism, Contact())
    scene = sim.compiled.stepper(sim.actuation, H, whole, v)
    scene.run({}, 1, 1)
    return scene.scene.bodies, q, rng


@pytest.mark.parametrize("seed", range(4))
def test_lists_of_links_give_the_motion_of_articulated_bodies(seed):
    case = every_kind(seed)
    joints = (
        replace(joint, stiffness=(30.0,), rest=(0.4,)) if joint.kind.nv == 1 and k % 2 else joint
        for k, joint in enumerate(case.mechanism.joints)
    )
    balls = tuple(replace(body, collisions=(Geometry(Sphere(0.1)),)) for body in case.mechanism.bodies)
    mechanism, h = replace(case.mechanism, joints=tuple(joints), bodies=balls), 1e-2
    robots, bodies = robots_of(mechanism), len(mechanism.tree.links)
    scene = with_robots(scene_of(mechanism, Contact(), [], step=h, patience=0, flies=False), robots)
    rows, places = (np.zeros((bodies, 7)), np.zeros((bodies, 6))), ScenePlaces(mechanism, [one.part for one in robots])
    own, listed = scene.bodies.robots.motions, scene.bodies.robots
    places.take(np.array(case.q), np.array(case.v), *rows, own)
    read_state(scene.rules, scene.bodies, scene.pulls, *rows)
    for k, robot in enumerate(robots):
        q, v = own.q[own.first_q[k] : own.first_q[k + 1]], own.v[own.first_v[k] : own.first_v[k + 1]]
        m, nv, state = robot.part.mechanism, robot.part.mechanism.nv, (q.tolist(), v.tolist())
        rates = aba(m.tree, *state, [0.0] * nv, Acting(m.gravity, implicit_step=h))
        poses, entries = link_poses(m.tree, state[0]), inertia(m.tree, *state, h)
        placed = np.array([poses[one] for one in m.tree.links], dtype=float)[:, :3]
        columns = [poses[one].rotation.rotate(part) for one in m.tree.links
                   for S in one.kind.subspace(one.coordinates(state[0])) for part in (S.angular, S.linear)]  # fmt: skip
        row, end = listed.first_row[k], listed.first_row[k + 1]
        M = own.inertia[listed.first_block[k] : listed.first_block[k + 1]].reshape(end - row, end - row, 6, 6)
        whole = M.swapaxes(1, 2).reshape(6 * (end - row), 6 * (end - row))
        after = listed.undriven[row:end].ravel() + np.linalg.solve(whole, own.falling[row:end].ravel())
        assert np.array_equal(whole[nv:], np.eye(len(whole))[nv:])
        for found, wanted in (
            (
                own.pose[listed.first_link[k] : listed.first_link[k + 1]],
                np.concatenate([placed[:, :, :3], placed[:, None, :, 3]], axis=1),
            ),
            (whole[:nv, :nv], np.array([[entries[i].get(j, 0.0) for j in range(nv)] for i in range(nv)])),
            (after[:nv], v + h * (np.array(rates) - np.array(turning(m.tree, state[1])))),
            (listed.columns[6 * row : 6 * row + nv].reshape(-1, 3), np.array(list(map(list, columns)), dtype=float)),
        ):
            assert np.abs(found - wanted).max() < 1e-10 * (1.0 + np.abs(wanted).max()), (seed, k)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_handed_along_the_tree_is_what_jacobians_give(seed):
    bodies, _, rng = robot_of_scene(seed)
    robots, links, rows = bodies.robots, len(bodies.robots.body), 2
    v, wrenches = rng.normal(size=(rows, 6)), rng.normal(size=(links, 6))
    v[1, 2:] = 0.0  # what fills up the last row moves nothing
    for link in range(links):
        write_jacobian(bodies, link)
    J = robots.jacobian.reshape(links, rows, 6, 6)
    spread(robots, 0, v)
    assert np.abs(robots.screw - np.einsum("lrik,rk->li", J, v)).max() < 1e-13, seed
    robots.screw[:] = wrenches
    efforts = np.zeros((rows, 6))
    gather(robots, 0, efforts)
    assert np.abs(efforts - np.einsum("lrik,li->rk", J, wrenches)).max() < 1e-13, seed


def test_jacobians_are_those_of_the_robot():
    bodies, q, _ = robot_of_scene(7)
    robot = km.Robot(walker())
    for link, name in enumerate(["trunk", "leg0", "leg1"]):
        write_jacobian(bodies, link)
        found = np.concatenate(bodies.robots.jacobian.reshape(3, 2, 6, 6)[link], axis=1)
        assert np.abs(found[:, :8] - robot.jacobian(q, name)).max() < 1e-14, name
        assert np.abs(found[:, 8:]).max() == 0.0


def test_the_inertia_is_inverted_only_where_something_pushes():
    bodies, _, rng = robot_of_scene(3)
    robots = bodies.robots
    robots.inverted[0] = 0
    v = np.zeros((2, 6))
    robots.felt[:] = 0.0
    respond(robots, 0, v)
    assert robots.inverted[0] == 0
    assert np.abs(v).max() == 0.0
    robots.felt[:] = rng.normal(size=(2, 6))
    respond(robots, 0, v)
    M = robots.inertia.reshape(2, 2, 6, 6).transpose(0, 2, 1, 3).reshape(12, 12)
    assert robots.inverted[0] == 1
    assert np.abs(M @ v.ravel() - robots.felt.ravel()).max() < 1e-12


# --- axes along which hulls are apart --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_hulls_that_are_far_apart_are_so_along_the_axis_that_is_remembered(seed):
    """Where no points are found the gap along the axis is larger than the margin, and along any axis at most the distance."""
    rng = np.random.default_rng(seed)
    solids = solids_of([Hull(tuple(map(tuple, rng.normal(size=(12, 3)).tolist()))) for _ in range(2)])
    far = 0
    for _ in range(200):
        poses = np.array([[*np.linalg.qr(rng.normal(size=(3, 3)))[0], 2.5 * rng.normal(size=3)] for _ in range(2)])
        for pose in poses:
            pose[:3] *= np.sign(np.linalg.det(pose[:3]))
        out, margin, both = points_for(1), 0.1, [Solid(solids, k, poses[k]) for k in range(2)]
        count = convex_convex(*both, margin, -1, out, 0)
        axis = rng.normal(size=3)
        gap = gap_along(*both, axis / np.linalg.norm(axis))
        if count == 0:
            far += 1
            assert gap_along(*both, out.normals[0].copy()) > margin, seed
        else:
            assert gap <= out.gaps[:count].min() + 1e-12, seed
    assert 20 < far < 190
