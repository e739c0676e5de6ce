"""Every URDF of example-robot-data, read by us and by Pinocchio: the same masses, placements, axes and inertias."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

from kumitate.errors import ModelError
from kumitate.model import Mechanism
from kumitate.model.read import from_json, read_urdf, to_json
from kumitate.spatial import Transform

pinocchio = pytest.importorskip("pinocchio")


def robots_folder() -> Path | None:
    """Where the wheels of example-robot-data put their files, beside Pinocchio's."""
    spec = importlib.util.find_spec("pinocchio")
    above = Path(spec.origin).parents if spec is not None and spec.origin else ()
    return next((place for p in above if (place := p / "share" / "example-robot-data" / "robots").is_dir()), None)


FOLDER = robots_folder()
FILES = sorted(FOLDER.rglob("*.urdf")) if FOLDER is not None else []
NAMES = [str(file.relative_to(FOLDER)).replace("/", ":") for file in FILES]

#: Files that break a rule, and what we must say of them.
BROKEN = {
    "romeo_laas_small.urdf": "negative principal value",
    "ur3.urdf": "no <link>",
}
#: Files with small negative principal values, which we read as zero: so far our inertias may be from theirs [kg·m²].
CLIPPED = {"tiago.urdf": 1e-7, "tiago_dual.urdf": 1e-7, "tiago_no_hand.urdf": 1e-7}


def read(file: Path, **options) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_urdf(file, **options)


def dense(X: Transform) -> np.ndarray:
    return np.array(X.matrix(), dtype=float)


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_every_robot_is_read_as_pinocchio_reads_it(file):
    if file.name in BROKEN:
        with pytest.raises(ModelError, match=BROKEN[file.name]) as caught:
            read(file)
        assert f"{file}:" in str(caught.value)
        return
    mechanism = read(file)
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
