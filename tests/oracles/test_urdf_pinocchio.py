"""Every URDF of example-robot-data, read by us and by Pinocchio: the same masses, placements, axes and inertias."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Mechanism
from kumitate.model.read import from_json, read_urdf, to_json
from kumitate.spatial import Transform

from ..robots import ROBOT_FILES

pinocchio = pytest.importorskip("pinocchio")


FILES = sorted(ROBOT_FILES.rglob("*.urdf"))
NAMES = [str(file.relative_to(ROBOT_FILES)).replace("/", ":") for file in FILES]

#: A file without links, which Pinocchio refuses.
EMPTY = "ur3.urdf"
#: Files with negative principal values, small ones that we read as zero, and large ones that we replace and have faults of: so
#: far our inertias may be from theirs [kg·m²].
CLIPPED = {"tiago.urdf": 1e-7, "tiago_dual.urdf": 1e-7, "tiago_no_hand.urdf": 1e-7, "romeo_laas_small.urdf": 0.05}


def read(file: Path, **options) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_urdf(file, keep_angles=True, **options)


def dense(X: Transform) -> np.ndarray:
    return np.array(X.matrix(), dtype=float)


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_every_robot_is_read_as_pinocchio_reads_it(file):
    mechanism = read(file)
    if file.name == EMPTY:
        assert (mechanism.nq, mechanism.bodies) == (0, ())
        with pytest.raises(ValueError, match="does not contain a valid URDF"):
            pinocchio.buildModelFromUrdf(str(file))
        return
    assert bool(mechanism.faults) == (file.name == "romeo_laas_small.urdf")
    model = pinocchio.buildModelFromUrdf(str(file))
    total = sum(body.mass for body in mechanism.bodies)
    np.testing.assert_allclose(pinocchio.computeTotalMass(model) + model.inertias[0].mass, total, rtol=1e-12, atol=1e-15)
    assert mechanism.nv == model.nv
    places = compare_joints(mechanism, model)
    compare_inertias(mechanism, model, places, CLIPPED.get(file.name, 0.0))
    text = to_json(mechanism)
    assert to_json(from_json(text)) == text


def moments(mass: float, center: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Mass, first moments and inertia about the origin in one matrix: what adds up over the bodies of a link."""
    skew = np.array([[0.0, -center[2], center[1]], [center[2], 0.0, -center[0]], [-center[1], center[0], 0.0]])
    out = np.zeros((4, 4))
    out[:3, :3] = inertia - mass * skew @ skew
    out[3, :3] = mass * np.asarray(center)
    out[3, 3] = mass
    return out


def compare_joints(mechanism: Mechanism, model) -> dict[str, tuple[str, np.ndarray]]:
    """Placements from moving joint to moving joint; axes by Pinocchio's motion subspaces (linear part first there)."""
    place = {"world": ("universe", np.eye(4))}  # the moving joint that carries a body, and the body in its frame
    for joint in mechanism.joints:
        carrier, X = place[joint.parent]
        X = X @ dense(joint.pose)
        if joint.kind.nv == 0:
            place[joint.child] = carrier, X
            continue
        place[joint.child] = joint.name, np.eye(4)
        index = model.getJointId(joint.name)
        assert index < model.njoints, joint.name
        assert model.names[model.parents[index]] == carrier
        np.testing.assert_allclose(model.jointPlacements[index].homogeneous, X, atol=1e-12, err_msg=joint.name)
        if joint.kind.nv == 1:
            theirs = model.joints[index]
            data = theirs.createData()
            theirs.calc(data, pinocchio.neutral(model)[theirs.idx_q : theirs.idx_q + theirs.nq])
            linear, angular = np.split(np.ravel(data.S), 2)
            axis, other = (angular, linear) if joint.kind.name == "revolute" else (linear, angular)
            np.testing.assert_allclose(axis, joint.axis, atol=1e-12, err_msg=joint.name)
            np.testing.assert_allclose(other, 0.0)
        for limit, i in zip(joint.limits, range(model.idx_vs[index], model.idx_vs[index] + joint.kind.nv), strict=True):
            if limit.effort is not None:
                assert model.upperEffortLimit[i] == limit.effort
    return place


def compare_inertias(mechanism: Mechanism, model, places: dict[str, tuple[str, np.ndarray]], clipped: float) -> None:
    """All bodies that one joint carries, together, in that joint's frame."""
    sums: dict[str, np.ndarray] = {name: np.zeros((4, 4)) for name in model.names}
    for body in mechanism.bodies:
        carrier, X = places[body.name]
        rotation = X[:3, :3]
        center = rotation @ body.center_of_mass + X[:3, 3]
        sums[carrier] += moments(body.mass, center, rotation @ np.asarray(body.inertia) @ rotation.T)
    for name, theirs in zip(model.names, model.inertias, strict=True):
        expected = moments(theirs.mass, theirs.lever, theirs.inertia)
        size = max(np.abs(expected).max(), 1e-3)
        np.testing.assert_allclose(sums[name], expected, atol=1e-12 * size + clipped, err_msg=name)


FLOATING = {"anymal.urdf": "base", "talos_reduced.urdf": "base_link", "g1_29dof_rev_1_0.urdf": "pelvis"}


@pytest.mark.parametrize("file", [file for file in FILES if file.name in FLOATING], ids=lambda file: file.stem)
def test_a_floating_base_moves_the_root_link(file):
    mechanism = read(file, floating_base=True)
    model = pinocchio.buildModelFromUrdf(str(file), pinocchio.JointModelFreeFlyer())
    assert (mechanism.nq, mechanism.nv) == (model.nq, model.nv)
    first = mechanism.joints[0]
    assert (first.name, first.kind.name, first.child) == ("floating_base", "floating", FLOATING[file.name])


#: Files whose joints follow some that Pinocchio has not read yet, or that the file does not have: it refuses them.
LEADERS_LATER = {"alex_psyonic_hands", "romeo", "talos_full_v2", "talos_full_v2_box"}
MIMICKING = [file for file in FILES if "<mimic" in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", MIMICKING, ids=lambda file: file.stem)
def test_joints_follow_others_as_in_pinocchio(file):
    """With mimic joints Pinocchio has fewer coordinates; the bodies stand alike where ours follow by their couplings."""
    mechanism = read(file)
    if file.stem in LEADERS_LATER:
        with pytest.raises(ValueError, match="parent joint of the mimic joint is not in the kinematic tree"):
            pinocchio.buildModelFromUrdf(str(file), mimic=True)
        return
    model = pinocchio.buildModelFromUrdf(str(file), mimic=True)
    couplings = {item.joint: item for item in mechanism.couplings}
    assert {name for name in model.names if "Mimic" in model.joints[model.getJointId(name)].shortname()} == couplings.keys()
    rng = np.random.default_rng(1)
    q = dict(zip(mechanism.q_names, rng.uniform(-1.0, 1.0, mechanism.nq), strict=True))
    for name in q:
        chain = [name]
        while chain[-1] in couplings:
            chain.append(couplings[chain[-1]].of)
        for follower in reversed(chain[:-1]):
            item = couplings[follower]
            q[follower] = item.ratio * q[item.of] + item.offset
    theirs = pinocchio.neutral(model)
    for name, value in q.items():
        index = model.getJointId(name)
        start, size = model.idx_qs[index], model.nqs[index]
        if name not in couplings:
            theirs[start : start + size] = [value] if size == 1 else [np.cos(value), np.sin(value)]
    data = model.createData()
    pinocchio.forwardKinematics(model, data, theirs)
    tree = mechanism.tree
    poses = link_poses(tree, list(q.values()))
    for joint in mechanism.joints:
        if joint.kind.nv:
            expected = data.oMi[model.getJointId(joint.name)].homogeneous
            ours = place_pose(tree, poses, tree.places[joint.child])
            np.testing.assert_allclose(dense(ours), expected, atol=1e-12, err_msg=joint.name)
