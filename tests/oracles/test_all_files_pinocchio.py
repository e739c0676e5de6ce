"""Every URDF of example-robot-data, its dynamics by us and by Pinocchio; the files that are left out or differ, by name.

The algorithms' pages run over floats, on the trees that the compiled kernels are made of: compiling 121 robots would take
minutes. Joints that mimic others move independently here, as they do in Pinocchio unless asked otherwise (how they follow is in
test_urdf_pinocchio.py); neither has damping.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pytest

from kumitate.analysis import kinetic_energy, potential_energy
from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.errors import ModelError
from kumitate.kinematics import link_poses, neutral, place_pose, random_coordinates
from kumitate.model import Mechanism, check_inertias, check_resistance, convert, lock
from kumitate.model.convert import Order
from kumitate.model.read import read_urdf

from ..robots import ROBOT_FILES

pin = pytest.importorskip("pinocchio")


FILES = {str(file.relative_to(ROBOT_FILES)): file for file in sorted(ROBOT_FILES.rglob("*.urdf"))}

# --- what is left out, and why ------------------------------------------------------------------------------------------
#: A file without links, which Pinocchio refuses.
EMPTY = "ur_description/urdf/ur3.urdf"
#: A file with a negative inertia, which Pinocchio computes with; here it has poses and no dynamics.
FAULTY = "romeo_description/urdf/romeo_laas_small.urdf"
#: Files whose root link is "world": there is nothing that could float.
HELD = {
    "asr_twodof_description/urdf/TwoDofs.urdf", "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "ur_description/urdf/ur10_robot.urdf", "ur_description/urdf/ur3_gripper.urdf",
    "ur_description/urdf/ur3_joint_limited_robot.urdf", "ur_description/urdf/ur3_robot.urdf",
    "ur_description/urdf/ur5_gripper.urdf", "ur_description/urdf/ur5_joint_limited_robot.urdf",
    "ur_description/urdf/ur5_robot.urdf", "xarm_description/urdf/xarm7.urdf", "z1_description/urdf/z1.urdf",
}  # fmt: skip
#: Files of one body: with the base fixed nothing moves.
STILL = {"hector_description/robots/quadrotor_base.urdf", "iris_description/robots/iris_simple.urdf"}
#: Files with joints that move nothing that resists: the accelerations of these are not determined, and they are locked.
LOCKED = {"romeo_description/urdf/romeo.urdf": ("Hand", "Finger", "Thumb")}
#: Files with joints that the file says to follow others.
MIMIC = {
    "alex_description/urdf/alex_psyonic_hands.urdf", "baxter_description/urdf/baxter.urdf", "panda_description/urdf/panda.urdf",
    "panda_description/urdf/panda_collision.urdf", "pr2_description/urdf/pr2.urdf", "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf", "talos_data/robots/talos_full_v2_box.urdf",
    "talos_data/robots/talos_left_arm.urdf", "talos_data/robots/talos_reduced.urdf",
    "talos_data/robots/talos_reduced_box.urdf", "talos_data/robots/talos_reduced_corrected.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
}  # fmt: skip
#: By how much robots may pass the bounds below, floating, and why; fixed, all keep them.
_CLIPPED = "small negative principal values of inertia, which we read as zero, in the base"
BEYOND = {
    "tiago_description/robots/tiago.urdf": (1e2, _CLIPPED),
    "tiago_description/robots/tiago_dual.urdf": (1e2, _CLIPPED),
    "tiago_description/robots/tiago_no_hand.urdf": (1e2, _CLIPPED),
}

CASES = [
    pytest.param(name, floating, id=f"{name.replace('/', ':')}-{'floating' if floating else 'fixed'}")
    for name in FILES
    for floating in (False, True)
    if name not in (EMPTY, FAULTY) and name not in (HELD if floating else STILL)
]
seeds = pytest.mark.parametrize("seed", range(2), ids=lambda seed: f"seed{seed}")


# --- a robot twice --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pair:
    """The same robot, ours and theirs, and the way between their states."""

    mechanism: Mechanism
    model: pin.Model
    order: Order


def read(name: str, *, floating: bool) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_urdf(FILES[name], floating_base=floating, keep_angles=True)


@lru_cache(maxsize=4)
def pair(name: str, floating: bool) -> Pair:
    mechanism = read(name, floating=floating)
    file = str(FILES[name])
    model = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(file)
    idle = [
        joint.name for joint in mechanism.joints if joint.kind.nv and any(word in joint.name for word in LOCKED.get(name, ()))
    ]
    if idle:
        mechanism = lock(mechanism, idle)
        model = pin.buildReducedModel(model, [model.getJointId(joint) for joint in idle], pin.neutral(model))
    # Pinocchio's algorithms know no damping and dry friction; ours add what the file says
    bare = tuple(replace(joint, damping=0.0, friction=0.0, armature=0.0) for joint in mechanism.joints)
    mechanism = replace(mechanism, joints=bare, couplings=())
    model.armature[:] = 0.0
    return Pair(mechanism, model, convert.pinocchio(mechanism, model))


def beyond(case: Pair, seed: int) -> dict[str, float]:
    """How far we are from Pinocchio in a random state, as multiples of what is allowed."""
    mechanism, model, order = case.mechanism, case.model, case.order
    tree, gravity, data = mechanism.base_parameter_tree, mechanism.gravity, model.createData()
    rng = np.random.default_rng(seed)
    q = random_coordinates(tree, rng)
    v, a, tau = (rng.normal(size=mechanism.nv).tolist() for _ in range(3))
    their_q, their_v, their_a = order.to(q, v, a)
    their_tau, still = order.forces_to(q, tau), [0.0] * mechanism.nv

    def apart(ours, theirs, scale: float = 0.0) -> float:
        """Relative to the largest entry, of what 1e-10 allows."""
        size = max(float(np.abs(theirs).max()), scale, 1e-3)
        return float(np.abs(np.asarray(ours, dtype=float) - theirs).max()) / (1e-10 * size)

    A = order.velocity_matrix(q)
    upper = np.triu(pin.crba(model, data, their_q))
    M = upper + np.triu(upper, 1).T
    found = {"mass matrix": apart(A @ np.array(crba(tree, q)) @ A.T, M)}
    theirs = pin.computeGeneralizedGravity(model, data, their_q)
    found["gravity forces"] = apart(order.forces_to(q, rnea(tree, q, still, still, gravity=gravity)), theirs)
    theirs = pin.rnea(model, data, their_q, their_v, their_a)
    found["inverse dynamics"] = apart(order.forces_to(q, rnea(tree, q, v, a, gravity=gravity)), theirs)
    energy = pin.computeKineticEnergy(model, data, their_q, their_v)
    found["kinetic energy"] = apart(kinetic_energy(mechanism.tree, q, v), energy)
    # Pinocchio's potential energy counts what is fixed to the world: compared as a difference of two postures
    postures = q, neutral(tree)
    ours = [potential_energy(mechanism.tree, x, gravity) for x in postures]
    theirs = [pin.computePotentialEnergy(model, data, order.to(x)) for x in postures]
    found["potential energy"] = apart(ours[0] - ours[1], theirs[0] - theirs[1], max(map(abs, theirs)))
    # an ill-conditioned M takes digits from accelerations, whoever computes them: what they satisfy is bounded closely
    their_h = pin.nonLinearEffects(model, data, their_q, their_v)
    accelerations = order.to(q, v, aba(tree, q, v, tau, Acting(gravity)))[2]
    force = np.linalg.norm(their_tau - their_h)
    found["equation of motion"] = float(np.linalg.norm(M @ accelerations - (their_tau - their_h))) / (1e-11 * force)
    theirs = pin.aba(model, data, their_q, their_v, their_tau)
    allowed = 1e-12 * np.linalg.cond(M) * np.linalg.norm(theirs)
    found["accelerations"] = float(np.linalg.norm(accelerations - theirs)) / allowed
    pin.framesForwardKinematics(model, data, their_q)
    poses = link_poses(mechanism.tree, q)
    for body in mechanism.bodies:
        X_WB = place_pose(mechanism.tree, poses, mechanism.tree.places[body.name]).matrix()
        frame = data.oMf[model.getFrameId(body.name, pin.BODY)].homogeneous
        found["poses"] = max(found.get("poses", 0.0), apart(X_WB, frame))
    return found


# --- tests ----------------------------------------------------------------------------------------------------------------
@seeds
@pytest.mark.parametrize(("name", "floating"), CASES)
def test_every_robot_moves_as_in_pinocchio(name, floating, seed):
    allowed = BEYOND[name][0] if floating and name in BEYOND else 1.0
    found = beyond(pair(name, floating), seed)
    assert max(found.values()) <= allowed, found


def test_so_many_are_compared():
    assert len(FILES) == 69
    assert ({EMPTY, FAULTY} | HELD | STILL | LOCKED.keys() | MIMIC | BEYOND.keys()) <= FILES.keys()
    bases = [case.values[1] for case in CASES]
    assert (bases.count(False), bases.count(True)) == (65, 56)


def test_what_is_left_out_has_nothing_to_compare():
    assert "<link" not in FILES[EMPTY].read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="does not contain a valid URDF"):
        pin.buildModelFromUrdf(str(FILES[EMPTY]))
    faulty = read(FAULTY, floating=False)
    with pytest.raises(ModelError, match="negative principal value"):
        check_inertias(faulty)
    assert {name for name in FILES if read(name, floating=False).faults} == {FAULTY}


def test_held_files_are_those_that_cannot_float():
    held = set()
    for name in FILES.keys() - {EMPTY, FAULTY}:
        try:
            read(name, floating=True)
        except ModelError:
            held.add(name)
            with pytest.raises(ModelError, match="the file itself holds the robot"):
                read(name, floating=True)
    assert held == HELD


def test_still_locked_and_mimicking_files_are_those():
    mechanisms = {name: read(name, floating=False) for name in FILES if name not in (EMPTY, FAULTY)}
    assert {name for name, mechanism in mechanisms.items() if mechanism.nv == 0} == STILL
    undetermined = set()
    for name, mechanism in mechanisms.items():
        try:
            check_resistance(mechanism)
        except ModelError:
            undetermined.add(name)
    assert undetermined == LOCKED.keys()
    assert {name for name, file in FILES.items() if "<mimic" in file.read_text(encoding="utf-8")} == MIMIC


@pytest.mark.parametrize("name", BEYOND)
def test_files_that_may_pass_the_bounds_do_so(name):
    assert max(max(beyond(pair(name, True), seed).values()) for seed in range(2)) > 1.0, "take it out of the list"


def test_orders_differ_in_earnest():
    """Pinocchio sorts children by name; a converter that only renamed would pass where files are sorted already."""
    shuffled = 0
    for name in FILES.keys() - {EMPTY, FAULTY} - STILL:
        case = pair(name, False)
        shuffled += [j.link.name for j in case.order.joints] != [link.name for link in case.mechanism.tree.links]
    assert shuffled > 20
