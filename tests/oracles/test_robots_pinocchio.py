"""Dynamics and kinematics of real robots, by us and by Pinocchio."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

import kumitate as km

from ..robots import ROBOT_FILES

pin = pytest.importorskip("pinocchio")

TOLERANCE = 1e-10

#: File, whether the base floats, and frames whose Jacobians are compared.
ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", False),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", True),
    "talos_reduced": ("talos_data/robots/talos_reduced.urdf", True),
    "g1": ("g1_description/urdf/*.urdf", True),
}


@dataclass
class Pair:
    """The same robot twice, and the way from our order of q and v to Pinocchio's."""

    ours: km.Robot
    model: pin.Model
    data: pin.Data

    def joint(self, link) -> pin.JointModel:
        return self.model.joints[1 if link.kind.nq == 7 else self.model.getJointId(link.name)]

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Their q: position before quaternion, and cosine and sine for joints without limits."""
        theirs = np.zeros(self.model.nq)
        for link in self.ours.mechanism.tree.links:
            joint, part = self.joint(link), q[link.q_start : link.q_start + link.kind.nq]
            values = [*part[4:], *part[:4]] if link.kind.nq == 7 else part
            theirs[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(part[0]), np.sin(part[0])] if joint.nq == 2 else values
        return theirs

    def columns(self) -> np.ndarray:
        """For each of our velocities, the index of theirs: they put linear before angular."""
        order = np.zeros(self.ours.nv, dtype=int)
        for link in self.ours.mechanism.tree.links:
            start = self.joint(link).idx_v
            parts = [3, 4, 5, 0, 1, 2] if link.kind.nq == 7 else range(link.kind.nv)
            order[link.v_start : link.v_start + link.kind.nv] = [start + k for k in parts]
        return order

    def velocity(self, v: np.ndarray) -> np.ndarray:
        theirs = np.zeros(self.model.nv)
        theirs[self.columns()] = v
        return theirs


@pytest.fixture(scope="module", params=list(ROBOTS))
def pair(request) -> Pair:
    pattern, floating = ROBOTS[request.param]
    file = str(sorted(ROBOT_FILES.glob(pattern))[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = km.load(file, floating_base=floating, keep_angles=True).mechanism
    # Pinocchio's algorithms know neither damping nor dry friction; ours add what the URDF says
    bare = tuple(replace(joint, damping=0.0, friction=0.0, armature=0.0) for joint in mechanism.joints)
    model = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(file)
    model.armature[:] = 0.0
    return Pair(km.Robot(replace(mechanism, joints=bare, couplings=())), model, model.createData())


@pytest.fixture(params=range(3))
def state(request, pair):
    rng = np.random.default_rng(request.param)
    q, v = pair.ours.random_state(rng)
    return q, v, rng.normal(size=pair.ours.nv)


def assert_close(ours, theirs) -> None:
    """To a part of the largest entry."""
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=TOLERANCE * max(1e-3, np.abs(theirs).max()))


def test_inverse_dynamics(pair, state):
    q, v, a = state
    theirs = pin.rnea(pair.model, pair.data, pair.configuration(q), pair.velocity(v), pair.velocity(a))
    assert_close(pair.ours.inverse_dynamics(q, v, a), theirs[pair.columns()])


@pytest.mark.parametrize("method", ["aba", "crba"])
def test_forward_dynamics(pair, state, method):
    q, v, tau = state
    ours = pair.ours.forward_dynamics(q, v, tau, method=method)
    # ill-conditioned robots (g1's hands) lose digits of the acceleration whatever computes it: the forces are what must agree
    again = pin.rnea(pair.model, pair.data, pair.configuration(q), pair.velocity(v), pair.velocity(ours))[pair.columns()]
    bias = pin.nonLinearEffects(pair.model, pair.data, pair.configuration(q), pair.velocity(v))[pair.columns()]
    assert np.abs(again - tau).max() <= TOLERANCE * np.abs(tau - bias).max()
    theirs = pin.aba(pair.model, pair.data, pair.configuration(q), pair.velocity(v), pair.velocity(tau))[pair.columns()]
    condition = np.linalg.cond(pair.ours.mass_matrix(q))
    assert np.abs(ours - theirs).max() <= 1e-12 * condition * np.abs(theirs).max()


#: All but the largest, whose inertia matrix takes seconds to compile by the two methods that cost n² operations a column.
SMALLER = [name for name in ROBOTS if name != "g1"]


@pytest.mark.parametrize(
    ("pair", "method"),
    [*((name, "crba") for name in ROBOTS), *((name, method) for name in SMALLER for method in ("unit_vector", "jacobian"))],
    indirect=["pair"],
)
def test_mass_matrix(pair, state, method):
    q, _, _ = state
    upper = np.triu(pin.crba(pair.model, pair.data, pair.configuration(q)))
    theirs = upper + np.triu(upper, 1).T
    columns = pair.columns()
    assert_close(pair.ours.mass_matrix(q, method=method), theirs[np.ix_(columns, columns)])


def test_bias_and_gravity_forces(pair, state):
    q, v, _ = state
    theirs_q, columns = pair.configuration(q), pair.columns()
    assert_close(pair.ours.bias_forces(q, v), pin.nonLinearEffects(pair.model, pair.data, theirs_q, pair.velocity(v))[columns])
    assert_close(pair.ours.gravity_forces(q), pin.computeGeneralizedGravity(pair.model, pair.data, theirs_q)[columns])


def test_energies(pair, state):
    q, v, _ = state
    ours, theirs_q = pair.ours.energy(q, v), pair.configuration(q)
    assert_close(ours.kinetic, pin.computeKineticEnergy(pair.model, pair.data, theirs_q, pair.velocity(v)))
    # theirs counts what is fixed to the world too: compared as a difference of two postures
    neutral = pair.ours.neutral()
    fall = ours.potential - pair.ours.energy(neutral, v).potential
    theirs = [pin.computePotentialEnergy(pair.model, pair.data, pair.configuration(x)) for x in (q, neutral)]
    np.testing.assert_allclose(fall, theirs[0] - theirs[1], rtol=0.0, atol=TOLERANCE * max(map(abs, theirs)))


def test_mass_centre(pair, state):
    q, _, _ = state
    np.testing.assert_allclose(pair.ours.mass, pin.computeTotalMass(pair.model), rtol=TOLERANCE)
    assert_close(pair.ours.center_of_mass(q), pin.centerOfMass(pair.model, pair.data, pair.configuration(q)))


def test_momentum_about_the_origin_of_the_world(pair, state):
    q, v, _ = state
    about_center = pin.computeCentroidalMomentum(pair.model, pair.data, pair.configuration(q), pair.velocity(v))
    center = pin.centerOfMass(pair.model, pair.data, pair.configuration(q))
    theirs = [*(about_center.angular + np.cross(center, about_center.linear)), *about_center.linear]
    assert_close(pair.ours.momentum(q, v), np.array(theirs))


def test_poses_velocities_and_jacobians_of_frames(pair, state):
    q, v, _ = state
    model, data, theirs_q, theirs_v = pair.model, pair.data, pair.configuration(q), pair.velocity(v)
    pin.forwardKinematics(model, data, theirs_q, theirs_v)
    pin.computeJointJacobians(model, data, theirs_q)
    pin.updateFramePlacements(model, data)
    bodies = list(pair.ours.bodies)
    for name in [bodies[len(bodies) // 2], bodies[-1]]:
        frame = model.getFrameId(name, pin.BODY)
        assert_close(pair.ours.pose(q, name), data.oMf[frame].homogeneous)
        theirs = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        jacobian = pair.ours.jacobian(q, name)
        assert_close(jacobian, np.vstack([theirs[3:], theirs[:3]])[:, pair.columns()])
        assert_close(jacobian @ v, pair.ours.velocity(q, v, name))
        pin.computeJointJacobiansTimeVariation(model, data, theirs_q, theirs_v)
        rate = pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        assert_close(pair.ours.jacobian_rate(q, v, name), np.vstack([rate[3:], rate[:3]])[:, pair.columns()])
