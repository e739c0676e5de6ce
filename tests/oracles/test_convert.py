"""States in other programs' orders: Pinocchio and MuJoCo move the same mechanism alike; Drake's by what its documents say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import kinetic_energy
from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.errors import InputError
from kumitate.kinematics import integrate
from kumitate.model import KINDS, Body, Joint, Limits, Mechanism, convert
from kumitate.spatial import pose

from ..mechanisms import (
    agree,
    body_poses,
    near,
    random_axes,
    random_body,
    random_coordinates,
    random_pose,
    seeds,
    slope,
)  # fmt: skip

#: Kinds whose coordinates depend on the axes of both frames: other programs know them along the frames' own axes only.
FRAMED = {"spherical", "planar", "floating"}
KNOWN = {
    "Pinocchio": ["revolute", "revolute", "prismatic", "universal", "spherical", "planar"],
    "MuJoCo": ["revolute", "revolute", "prismatic", "spherical"],
}


# --- the same mechanism in three programs -----------------------------------------------------------------------------------
def random_joint(rng: np.random.Generator, name: str, kind: str, parent: str, child: str) -> Joint:
    first, second = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)) if kind in FRAMED else random_axes(rng)
    limits = (Limits(-9.0, 9.0),) if kind == "revolute" and rng.random() < 0.5 else ()
    return Joint(name, KINDS[kind], parent, child, random_pose(rng), first, second, limits)


def random_tree(seed: int, peer: str) -> Mechanism:
    """A tree of all kinds that the peer knows on a floating root; names are not in the order of the joints."""
    rng = np.random.default_rng(seed)
    kinds = ["floating", *(str(kind) for kind in rng.permutation(KNOWN[peer] * 2))]
    names = [f"j{k:02}" for k in rng.permutation(len(kinds))]
    bodies = [f"b{k}" for k in range(len(kinds))]
    parents = ["world", *(str(rng.choice(bodies[:k])) for k in range(1, len(kinds)))]
    joints = [random_joint(rng, *row) for row in zip(names, kinds, parents, bodies, strict=True)]
    fixed = Joint("weld", "fixed", "b0", "tool", random_pose(rng), second_axis=(0.0, 1.0, 0.0))
    carried = tuple(random_body(rng, name) for name in (*bodies, "tool"))
    return Mechanism("random", carried, (*joints, fixed), gravity=(1.3, -0.7, -9.81))


def by_name(mechanism: Mechanism) -> Iterator[Joint]:
    """The joints depth first, children by their names."""
    waiting = [joint for joint in mechanism.joints if joint.parent == "world"]
    while waiting:
        waiting.sort(key=lambda joint: joint.name, reverse=True)
        joint = waiting.pop()
        yield joint
        yield from _below(mechanism, joint)


def _below(mechanism: Mechanism, joint: Joint) -> Iterator[Joint]:
    for child in sorted((j for j in mechanism.joints if j.parent == joint.child), key=lambda j: j.name):
        yield child
        yield from _below(mechanism, child)


def rotation_to(joint: Joint) -> np.ndarray:
    """A rotation that takes z to the joint's axis."""
    return np.column_stack([np.cross(joint.second_axis, joint.axis), joint.second_axis, joint.axis])


def pinocchio_model(mechanism: Mechanism):
    pin = pytest.importorskip("pinocchio")
    kinds = {
        "revolute": lambda j: pin.JointModelRevoluteUnaligned(np.array(j.axis)),
        "prismatic": lambda j: pin.JointModelPrismaticUnaligned(np.array(j.axis)),
        "universal": lambda j: pin.JointModelUniversal(np.array(j.axis), np.array(j.second_axis)),
        "spherical": lambda j: pin.JointModelSpherical(),
        "planar": lambda j: pin.JointModelPlanar(),
        "floating": lambda j: pin.JointModelFreeFlyer(),
    }
    model = pin.Model()
    model.gravity.linear = np.array(mechanism.gravity)
    carriers = {"world": (0, pin.SE3.Identity())}
    for joint in by_name(mechanism):
        index, X = carriers[joint.parent]
        X = X * pin.SE3(np.array(joint.pose.matrix(), dtype=float))
        if joint.kind.nv:
            made, turn = kinds[joint.kind.name](joint), pin.SE3.Identity()
            if joint.kind.name == "revolute" and joint.limits[0].lower is None:
                made, turn = pin.JointModelRUBZ(), pin.SE3(rotation_to(joint), np.zeros(3))
            # a free joint is called otherwise in most models
            index = model.addJoint(index, made, X * turn, "root_joint" if joint.kind.nv == 6 else joint.name)
            X = turn.inverse()
        carriers[joint.child] = index, X
        body = mechanism.body(joint.child)
        inertia = pin.Inertia(body.mass, np.array(body.center_of_mass), np.array(body.inertia))
        model.appendBodyToJoint(index, inertia, X)
        model.addBodyFrame(joint.child, index, X, 0)
    return model


def mujoco_model(mechanism: Mechanism):
    mujoco = pytest.importorskip("mujoco")
    types = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}

    def numbers(values) -> str:
        return " ".join(repr(float(value)) for value in values)

    def body(joint: Joint) -> str:
        part, X = mechanism.body(joint.child), np.array(joint.pose.matrix(), dtype=float)
        I = np.array(part.inertia)
        full = numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        moving = f'<joint name="{joint.name}" type="{types.get(joint.kind.name)}" axis="{numbers(joint.axis)}"/>'
        own = "<freejoint/>" if joint.kind.nv == 6 else moving if joint.kind.nv else ""
        children = sorted((j for j in mechanism.joints if j.parent == joint.child), key=lambda j: j.name)
        return (
            f'<body name="{part.name}" pos="{numbers(X[:3, 3])}" xyaxes="{numbers([*X[:3, 0], *X[:3, 1]])}">{own}'
            f'<inertial pos="{numbers(part.center_of_mass)}" mass="{part.mass!r}" fullinertia="{full}"/>'
            f"{''.join(body(child) for child in children)}</body>"
        )

    roots = "".join(body(joint) for joint in mechanism.joints if joint.parent == "world")
    option = f'<option gravity="{numbers(mechanism.gravity)}"><flag contact="disable" energy="enable"/></option>'
    text = f'<mujoco><compiler angle="radian"/>{option}<worldbody>{roots}</worldbody></mujoco>'
    return mujoco.MjModel.from_xml_string(text)


ORDERS = {
    "Pinocchio": lambda mechanism: convert.pinocchio(mechanism, pinocchio_model(mechanism)),
    "MuJoCo": lambda mechanism: convert.mujoco(mechanism, mujoco_model(mechanism)),
    "Drake": lambda mechanism: convert.drake(mechanism, [j.name for j in by_name(mechanism) if j.kind.nv]),
}
KNOWN["Drake"] = ["revolute", "revolute", "prismatic", "universal", "planar"]
every_peer = pytest.mark.parametrize("peer", ORDERS)


class Case:
    """A random mechanism, its order in the peer, and a state."""

    def __init__(self, seed: int, peer: str):
        self.mechanism = random_tree(seed, peer)
        self.order = ORDERS[peer](self.mechanism)
        rng = np.random.default_rng(seed)
        self.q = np.array(random_coordinates(self.mechanism, rng))
        self.v, self.a, self.tau = (rng.normal(size=self.mechanism.nv) for _ in range(3))
        self.n = len(self.mechanism.joints) + self.mechanism.nv

    @property
    def tree(self):
        return self.mechanism.tree

    def inverse_dynamics(self) -> np.ndarray:
        return np.array(rnea(self.tree, self.q, self.v, self.a, gravity=self.mechanism.gravity))

    def mass_matrix(self) -> np.ndarray:
        return np.array(crba(self.tree, self.q), dtype=float)

    def accelerations(self) -> np.ndarray:
        return np.array(aba(self.tree, self.q, self.v, self.tau, Acting(self.mechanism.gravity)))

    def kinetic_energy(self) -> float:
        return kinetic_energy(self.tree, self.q, self.v)


# --- Pinocchio and MuJoCo -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**seeds(6))
def test_pinocchio_moves_alike(seed):
    pin = pytest.importorskip("pinocchio")
    case = Case(seed, "Pinocchio")
    model = pinocchio_model(case.mechanism)
    data = model.createData()
    q, v, a = case.order.to(case.q, case.v, case.a)
    assert (len(q), len(v)) == (model.nq, model.nv)
    pin.framesForwardKinematics(model, data, q)
    for name, X in body_poses(case.mechanism, case.q).items():
        if name != "world":
            agree(data.oMf[model.getFrameId(name)].homogeneous, X, case.n)
    agree(pin.computeKineticEnergy(model, data, q, v), case.kinetic_energy(), case.n)
    upper = np.triu(pin.crba(model, data, q))
    M, A = upper + np.triu(upper, 1).T, case.order.velocity_matrix(case.q)
    agree(A @ case.mass_matrix() @ A.T, M, case.n)
    agree(case.order.forces_to(case.q, case.inverse_dynamics()), pin.rnea(model, data, q, v, a), case.n)
    theirs = pin.aba(model, data, q, v, case.order.forces_to(case.q, case.tau))
    agree(case.order.to(case.q, case.v, case.accelerations())[2], theirs, case.n, condition=np.linalg.cond(M))


@pytest.mark.parametrize(**seeds(6))
def test_mujoco_moves_alike(seed):
    mujoco = pytest.importorskip("mujoco")
    case = Case(seed, "MuJoCo")
    model = mujoco_model(case.mechanism)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = case.order.to(case.q, case.v, case.a)
    mujoco.mj_inverse(model, data)
    # MuJoCo takes inertias apart into axes and principal values, to about 1e-10
    tolerance = 1e-9
    for name, X in body_poses(case.mechanism, case.q).items():
        body = data.body(name)
        near(body.xpos, X[:3, 3], tolerance)
        near(body.xmat.reshape(3, 3), X[:3, :3], tolerance)
    mujoco.mj_energyVel(model, data)
    near(data.energy[1], case.kinetic_energy(), tolerance)
    near(case.order.forces_to(case.q, case.inverse_dynamics()), data.qfrc_inverse, tolerance)
    A, M = case.order.velocity_matrix(case.q), np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    near(A @ case.mass_matrix() @ A.T, M, tolerance)
    data.qfrc_applied = case.order.forces_to(case.q, case.tau)
    mujoco.mj_forward(model, data)
    near(case.order.to(case.q, case.v, case.accelerations())[2], data.qacc, tolerance * np.linalg.cond(M))


# --- Drake: numbers by hand ---------------------------------------------------------------------------------------------------
def test_a_free_body_in_drake():
    """A quarter turn about z takes the body's x to the world's y, and its y to −x."""
    body = Mechanism("body", (Body("b", 1.0, (0.0, 0.0, 0.0), np.eye(3).tolist()),), (Joint("free", "floating", "world", "b"),))
    order = convert.drake(body, ["b"])  # named after the body there
    h = math.sqrt(0.5)
    q, v, a = order.to([0, 0, h, h, 1, 2, 3], [1, 0, 2, 4, 5, 6], [0.1, 0.2, 0.3, 7, 8, 9])
    np.testing.assert_allclose(q, [h, 0, 0, h, 1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(v, [0, 1, 2, -5, 4, 6], atol=1e-15)
    # ω × v = (1, 0, 2) × (4, 5, 6) = (−10, 2, 5) is added to (7, 8, 9) before turning
    np.testing.assert_allclose(a, [-0.2, 0.1, 0.3, -10, -3, 14], atol=1e-14)
    tau = order.forces_to([0, 0, h, h, 1, 2, 3], [1, 0, 0, 0, 0, 1])
    np.testing.assert_allclose(tau, [0, 1, 0, 0, 0, 1], atol=1e-15)


def test_a_planar_joint_in_drake_and_in_pinocchio():
    """On a turntable at a quarter turn; Drake's velocities are rates, Pinocchio's are along the turned axes."""
    body = Mechanism("body", (Body("b", 1.0, (0.0, 0.0, 0.0), np.eye(3).tolist()),), (Joint("p", "planar", "world", "b"),))
    state = [math.pi / 2, 1.0, 2.0], [3.0, 4.0, 5.0], [0.0, 0.0, 0.0]
    np.testing.assert_allclose(np.concatenate(convert.drake(body, ["p"]).to(*state)), [1, 2, math.pi / 2, 4, 5, 3, 0, 0, 0])
    q, v, a = convert.pinocchio(body, ["p"]).to(*state)
    np.testing.assert_allclose(q, [1, 2, 0, 1], atol=1e-15)
    np.testing.assert_allclose(v, [5, -4, 3], atol=1e-14)
    np.testing.assert_allclose(a, [3 * -4, -3 * 5, 0], atol=1e-14)  # a straight line, seen from the turning body


# --- laws -------------------------------------------------------------------------------------------------------------------
@every_peer
@pytest.mark.parametrize(**seeds(4))
def test_there_and_back(peer, seed):
    case = Case(seed, peer)
    theirs = case.order.to(case.q, case.v, case.a)
    for ours, again in zip((case.q, case.v, case.a), case.order.back(*theirs), strict=True):
        np.testing.assert_allclose(again, ours, rtol=1e-14, atol=1e-14 * np.abs(ours).max())
    for part, again in zip(theirs, case.order.to(*case.order.back(*theirs)), strict=True):
        np.testing.assert_allclose(again, part, rtol=1e-14, atol=1e-14 * np.abs(part).max())
    tau = case.order.forces_to(case.q, case.tau)
    np.testing.assert_allclose(case.order.forces_back(theirs[0], tau), case.tau, rtol=1e-14, atol=1e-14)


@every_peer
@pytest.mark.parametrize(**seeds(4))
def test_accelerations_are_the_rates_of_velocities(peer, seed):
    case = Case(seed, peer)

    def velocity(t: float) -> np.ndarray:
        q = integrate(case.tree, case.q, (case.v * t).tolist())
        return case.order.to(q, case.v + case.a * t)[1]

    near(slope(velocity), case.order.to(case.q, case.v, case.a)[2])


@every_peer
@pytest.mark.parametrize(**seeds(4))
def test_power_and_energy_are_the_same(peer, seed):
    case = Case(seed, peer)
    v, tau = case.order.to(case.q, case.v)[1], case.order.forces_to(case.q, case.tau)
    agree(tau @ v, case.tau @ case.v, case.n)
    A = case.order.velocity_matrix(case.q)
    agree(A @ A.T, np.eye(len(v)), case.n)
    agree(A @ case.v, v, case.n)
    agree(v @ (A @ case.mass_matrix() @ A.T) @ v / 2.0, case.kinetic_energy(), case.n)


@every_peer
def test_batches_have_leading_axes(peer):
    case = Case(0, peer)
    rng = np.random.default_rng(1)
    q = np.array([random_coordinates(case.mechanism, rng) for _ in range(6)]).reshape(2, 3, -1)
    v, a = rng.normal(size=(2, 2, 3, case.mechanism.nv))
    for many, one in ((case.order.to(q, v, a), case.order.to), (case.order.back(*case.order.to(q, v, a)), None)):
        for i, j in np.ndindex(2, 3):
            single = one(q[i, j], v[i, j], a[i, j]) if one else (q[i, j], v[i, j], a[i, j])
            for part, alone in zip(many, single, strict=True):
                np.testing.assert_allclose(part[i, j], alone, rtol=1e-14, atol=1e-13)
    assert case.order.velocity_matrix(q).shape == (2, 3, case.order.nv, case.order.nv)
    assert case.order.to(case.q, v)[1].shape == v.shape  # one posture, many velocities


@pytest.mark.parametrize("peer", ["Pinocchio", "MuJoCo"])
def test_names_do_where_the_program_is_not_at_hand(peer):
    case = Case(3, peer)
    names = [joint.name for joint in case.order.joints]
    if peer == "Pinocchio":
        continuous = {joint.link.name for joint in case.order.joints if "cos" in joint.layout.q and len(joint.layout.q) == 2}
        order = convert.pinocchio(case.mechanism, names, continuous=continuous)
        assert continuous
    else:
        order = convert.mujoco(case.mechanism, names)
    for part, same in zip(order.to(case.q, case.v), case.order.to(case.q, case.v), strict=True):
        np.testing.assert_array_equal(part, same)


def test_a_robot_will_do_and_nothing_need_move():
    arm = km.load("pa10")
    order = convert.drake(arm, [link.name for link in arm.mechanism.tree.links][::-1])
    np.testing.assert_array_equal(order.to(np.arange(7.0)), np.arange(7.0)[::-1])
    still = Mechanism("still", (), ())
    assert convert.drake(still, []).to([], [])[1].shape == (0,)


# --- faults -----------------------------------------------------------------------------------------------------------------
def chain(*kinds: str, **of_last) -> Mechanism:
    body = random_body(np.random.default_rng(0), "b")
    joints = [Joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}") for k, kind in enumerate(kinds)]
    joints[-1] = replace(joints[-1], **of_last)
    return Mechanism("chain", tuple(replace(body, name=f"b{k}") for k in range(len(kinds))), tuple(joints))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: convert.drake(chain("revolute", "prismatic"), ["j0"]), r"Drake lacks 'j1'\. Read the same file"),
        (lambda: convert.drake(chain("revolute"), ["j0", "z"]), r"Drake has 'z', which move nothing here"),
        (lambda: convert.drake(chain("revolute"), ["other"]), r"has 'other'.*lacks 'j0'"),
        (lambda: convert.mujoco(chain("revolute"), ["j0", "j0"]), r"names that repeat, \['j0'\]"),
        (lambda: convert.mujoco(chain("planar"), ["j0"]), r"'j0' is 'planar' here and MuJoCo has no such joint"),
        (lambda: convert.pinocchio(chain("spherical_euler"), ["j0"]), r"'j0' is 'spherical_euler' here and Pinocchio"),
        (lambda: convert.mujoco(chain("revolute", "floating"), ["j0", "j1"]), r"'j1' hangs on a moving body"),
        (lambda: convert.mujoco(chain("spherical", axis=(1, 0, 0)), ["j0"]), r"axis=\(1\.0, 0\.0, 0\.0\) turns away"),
    ],
)
def test_what_cannot_be_converted_is_an_error(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_another_kind_of_joint_is_an_error():
    mechanism = chain("revolute", "prismatic")
    bounded = tuple(replace(joint, limits=(Limits(-1.0, 1.0),)) for joint in mechanism.joints)
    model = pinocchio_model(replace(mechanism, joints=bounded))
    convert.pinocchio(mechanism, model)
    with pytest.raises(InputError, match="joint 'j1' is 'revolute' here 'prismatic' in Pinocchio"):
        convert.pinocchio(chain("revolute", "revolute"), model)


def test_a_wrong_state_is_an_error():
    order = convert.pinocchio(chain("floating"), ["root_joint"])
    good = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0]
    with pytest.raises(InputError, match=r"q has the shape \(6,\).*nq=7, nv=6"):
        order.to(good[:6])
    with pytest.raises(InputError, match=r"nv=6"):
        order.to(good, good)
    with pytest.raises(InputError, match=r"must be \(x, y, z, qx, qy, qz, qw\), in this order"):
        order.back(good)
    with pytest.raises(InputError, match=r"'j0' is \[1\.0, .* must be \(qx, qy, qz, qw, x, y, z\)"):
        order.to([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])
    with pytest.raises(InputError, match="unit length"):
        order.to([math.nan] * 7)
    with pytest.raises(InputError, match="without velocities"):
        order.to(good, None, [0.0] * 6)


def test_a_base_that_stands_elsewhere_in_the_world():
    """MuJoCo's free joint says where the body is in the world, whatever frame ours starts from."""
    X_WF = pose((1.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2))
    order = convert.mujoco(chain("floating", pose=X_WF), ["base"])
    h = math.sqrt(0.5)
    q, v = order.to([0, 0, 0, 1, 2, 0, 0], [1, 0, 0, 1, 0, 0])
    np.testing.assert_allclose(q, [1, 2, 0, h, 0, 0, h], atol=1e-15)
    np.testing.assert_allclose(v, [0, 1, 0, 1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(order.back(q, v)[0], [0, 0, 0, 1, 2, 0, 0], atol=1e-15)


def test_it_is_imported_as_a_module_or_as_a_name():
    assert import_module("kumitate.convert") is km.convert
