"""Limbs that are traced once compute what the same limbs link by link compute: on floats, traced, and at every width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate import dynamics
from kumitate.compile import Kernel
from kumitate.compile.llvm.plan import independent_loops
from kumitate.dynamics import Acting
from kumitate.dynamics.acting import LinkForces
from kumitate.model import Mechanism
from kumitate.model.tree.traversal import with_limbs
from kumitate.robot import Robot
from kumitate.scalar import evaluate, trace
from kumitate.scalar.elementary import PORTABLE
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.stepping.equations import dynamics_program
from kumitate.spatial import Force, Transform, Vector3, pose

from ..compile.lanes import run_with_lanes
from ..mechanisms import MOVING, Case, random_body, random_joint, random_state, seeds

MIRROR = np.diag([1.0, -1.0, 1.0])
ROOTS = ("floating", "revolute", None)


def limbed(seed: int, among: Sequence[str] = MOVING) -> Case:
    """Two to six limbs of like joints on one body, each of other numbers or mirrored, with limbs of other lengths beside them.

    `among`: the kinds of joints that are drawn. The body floats, or turns on the world, or is the world itself.
    """
    rng = np.random.default_rng(seed)
    count = 2 + seed % 5
    kinds = [str(kind) for kind in rng.choice(list(among), 3)]
    root = ROOTS[seed % 3]
    joints, bodies = [], []
    if root is not None:
        joints.append(random_joint(rng, "base", root, "world", "root", passive=False))
        bodies.append(random_body(rng, "root"))
    carrier = "world" if root is None else "root"
    first = None
    for k in range(count + 2):
        between = k in ((0, 3) if seed % 2 else (0, count + 1))  # limbs of other lengths, first and third, or first and last
        own = [str(rng.choice(list(among)))] * (1 + k % 2) if between else kinds
        limb = mirrored(first, k) if first and not between and rng.random() < 0.5 else drawn(rng, own, carrier, k)
        first = limb if first is None and not between else first
        joints += limb[0]
        bodies += limb[1]
    return random_state(Mechanism("limbed", tuple(bodies), tuple(joints), gravity=(1.3, -0.7, -9.81)), rng)


def drawn(rng, kinds, carrier, k):
    """The joints and bodies of a random limb."""
    names = [carrier, *(f"limb{k}_{i}" for i in range(len(kinds)))]
    bodies = [random_body(rng, name) for name in names[1:]]
    return [random_joint(rng, f"j_{b}", kind, a, b) for kind, a, b in zip(kinds, names, names[1:], strict=False)], bodies


def mirrored(limb, k):
    """The limb on the other side of the plane of x and z."""

    def image(place: Transform) -> Transform:
        rows = MIRROR @ np.array(place.matrix(), dtype=float)[:3, :3] @ MIRROR
        return pose((MIRROR @ list(map(float, place.translation))).tolist(), matrix=rows.tolist())

    joints, bodies = limb
    names = {body.name: f"limb{k}_{i}" for i, body in enumerate(bodies)}
    other = [
        replace(
            body, name=names[body.name], center_of_mass=MIRROR @ body.center_of_mass, inertia=MIRROR @ body.inertia @ MIRROR
        )
        for body in bodies
    ]
    turned = [
        replace(
            joint, name=f"j_{names[joint.child]}", parent=names.get(joint.parent, joint.parent), child=names[joint.child],
            pose=image(joint.pose), axis=(MIRROR @ joint.axis).tolist(),
            second_axis=None if joint.second_axis is None else (MIRROR @ joint.second_axis).tolist(),
        )
        for joint in joints
    ]  # fmt: skip
    return turned, other


def pages(tree, case):
    """The pages that traverse limbs, as functions of q, v and x."""
    on_links = LinkForces({k: Force(Vector3(1.0, -2.0, 0.5), Vector3(0.3, 4.0, -1.0)) for k in (1, len(tree.links) - 2)})
    gravity = case.mechanism.gravity
    return {
        "aba": lambda q, v, x: dynamics.aba(tree, q, v, x, Acting(gravity)),
        "rnea": lambda q, v, x: dynamics.rnea(tree, q, v, x, gravity=gravity),
        "aba with forces on links": lambda q, v, x: dynamics.aba(tree, q, v, x, Acting(gravity, wrenches=on_links)),
        "rnea with forces on links": lambda q, v, x: dynamics.rnea(tree, q, v, x, gravity=gravity, wrenches=on_links),
        "implicit aba": lambda q, v, x: dynamics.aba(tree, q, v, x, Acting(gravity, implicit_step=0.01)),
    }


def close(found, wanted):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize(**seeds(8))
def test_limbs_compute_what_their_links_compute(seed):
    case = limbed(seed)
    tree = case.mechanism.tree if seed % 2 else case.mechanism.base_parameter_tree
    plain, laned = pages(tree, case), pages(with_limbs(tree), case)
    assert with_limbs(tree).limbs
    for name in plain:
        wanted = plain[name](case.q, case.v, case.tau)
        close(laned[name](case.q, case.v, case.tau), wanted)
        program = trace(laned[name], {"q": len(case.q), "v": len(case.v), "x": len(case.v)})
        close(evaluate(program, [*case.q, *case.v, *case.tau]), wanted)


@pytest.mark.parametrize("seed", [2, 3, 4], ids="seed{}".format)  # four limbs; two; six, as three and three
def test_every_width_gives_the_same_bits(seed):
    case = limbed(seed, ("revolute", "prismatic"))
    tree = case.mechanism.base_parameter_tree
    given = [np.array([part] * 8) for part in (case.q, case.v, case.tau)]
    for name in ("aba", "rnea"):
        wanted = pages(tree, case)[name](case.q, case.v, case.tau)
        program = trace(pages(with_limbs(tree), case)[name], {"q": len(case.q), "v": len(case.v), "x": len(case.v)})
        assert independent_loops(program)
        found = [run_with_lanes(Kernel(program), lanes, *given)[0] for lanes in (1, 4)]
        close(found[0][0], wanted)
        assert all(np.array_equal(rows, found[0]) for rows in found)


@pytest.mark.parametrize("lanes", [1, 4])
def test_portable_code_rounds_as_the_reference_does(lanes):
    case = limbed(3, ("revolute", "prismatic"))
    program = trace(
        pages(with_limbs(case.mechanism.tree), case)["rnea"], {"q": len(case.q), "v": len(case.v), "x": len(case.v)}
    )
    given = [np.array([part] * 4) for part in (case.q, case.v, case.tau)]
    (found,) = run_with_lanes(Kernel(program, portable=True), lanes, *given)
    np.testing.assert_array_equal(found, [evaluate(program, [*case.q, *case.v, *case.tau], PORTABLE)] * 4)


def test_a_robot_computes_its_limbs_side_by_side_for_one_state():
    """Putting the accelerations into the inverse dynamics gives back the forces."""
    case, count = limbed(6, ("revolute", "prismatic")), 3
    robot, q, v, tau = Robot(case.mechanism), *(np.array(part) for part in (case.q, case.v, case.tau))
    close(robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau)), tau)
    for function in ("forward_dynamics", "inverse_dynamics"):
        kernel = robot.compile(function)
        assert independent_loops(kernel.program)
        assert f"fmul <{count} x double>" in kernel.source("llvm", 1)


def passes(program):
    """How many limbs a program computes in each of its loops over limbs."""
    return {program.line[k].payload.count for k in independent_loops(program)}


@pytest.mark.parametrize(("pushed", "left"), [("root", {3}), ("limb1_0", {2}), ("limb2_2", {2}), ("limb0_0", {3})])
def test_limbs_that_no_wrench_acts_on_stay_side_by_side(pushed, left):
    case = limbed(6, ("revolute", "prismatic"))
    robot, q, v, tau = Robot(case.mechanism), *(np.array(part) for part in (case.q, case.v, case.tau))
    push = {pushed: np.array([3.0, -1.0, 2.0, 5.0, 8.0, -4.0])}
    for function in ("forward_dynamics", "inverse_dynamics"):
        assert passes(robot.compile(function, wrenches=[pushed]).program) == left
    found = robot.forward_dynamics(q, v, tau, wrenches=push)
    close(found, robot.forward_dynamics(q, v, tau, method="crba", wrenches=push))
    close(robot.inverse_dynamics(q, v, found, wrenches=push), tau)


def test_forces_at_rest_are_those_without_accelerations():
    case = limbed(2, ("revolute", "prismatic"))
    robot, q, v = Robot(case.mechanism), np.array(case.q), np.array(case.v)
    still = np.zeros(robot.nv)
    plain = pages(case.mechanism.tree, case)["rnea"]
    for function, given, at in (("bias_forces", (q, v), v), ("gravity_forces", (q,), still)):
        assert passes(robot.compile(function).program) == {4}
        close(getattr(robot, function)(*given), plain(case.q, at.tolist(), still.tolist()))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_simulation_moves_its_limbs_as_a_batch_does_and_as_link_by_link(integrator):
    """Wrenches on all of them, zero here, have the steps computed link by link."""
    case = limbed(6, ("revolute", "prismatic"))
    robot, q, v = Robot(case.mechanism), np.array(case.q), 0.1 * np.array(case.v)
    on_all = {f"limb{k}_0": [0.0] * 6 for k in (1, 2, 3)}
    for wrenches, left in (({}, {3}), ({"root": [0.0] * 6}, {3}), (on_all, set())):
        dynamics = dynamics_program(Forcing(case.mechanism, wrenches=wrenches), implicit_damping=False)
        assert passes(dynamics) == left
    simulation = km.Simulation(robot, step=1e-3, integrator=integrator)
    alone = simulation.step(simulation.start(q, v), 5)
    batch = simulation.batch(np.array([q] * 9), np.array([v] * 9))
    batch.step(5)
    for rows, row in ((batch.q, alone.q), (batch.v, alone.v)):
        np.testing.assert_array_equal(rows, [row] * 9)
    by_link = km.Simulation(robot, step=1e-3, integrator=integrator, wrenches=on_all)
    plain = by_link.step(by_link.start(q, v), 5)
    close(alone.q, plain.q)
    close(alone.v, plain.v)


@pytest.mark.parametrize(("count", "together"), [(2, (2,)), (4, (4,)), (5, (2, 3)), (7, (3, 4)), (9, (3, 3, 3))])
def test_many_limbs_become_groups_for_the_lanes_there_are(count, together):
    tree = legs(count, 3).base_parameter_tree
    assert tuple(len(limbs.chains) for limbs in with_limbs(tree).limbs) == together
    assert sorted(k for limbs in with_limbs(tree).limbs for chain in limbs.chains for k in chain) == list(range(3 * count))


def legs(count, length):
    """So many chains of so many links on the world."""
    rng = np.random.default_rng(count)
    limbs = [drawn(rng, ["revolute"] * length, "world", k) for k in range(count)]
    bodies, joints = (tuple(part for limb in limbs for part in limb[k]) for k in (1, 0))
    return Mechanism("legs", bodies, joints, gravity=(0.0, 0.0, -9.81))


def test_few_links_many_links_and_closed_mechanisms_are_traced_link_by_link():
    assert with_limbs(legs(2, 25).base_parameter_tree).limbs
    assert not with_limbs(legs(2, 26).base_parameter_tree).limbs
    tree = limbed(2).mechanism.base_parameter_tree
    assert with_limbs(tree).limbs
    assert not with_limbs(replace(tree, gears=("any",))).limbs
    assert not with_limbs(km.load("planar_tree_5").mechanism.tree).limbs
