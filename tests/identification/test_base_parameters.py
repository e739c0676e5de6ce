"""Base parameters by structure: as many as the rank over random states, the same space, and the numbers of publications."""

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import regressor
from kumitate.identification import base_parameters
from kumitate.identification.base_parameters import felt_by_structure, unknowns_of
from kumitate.model import KINDS

from ..mechanisms import every_kind, random_case, random_mechanism, random_state, seeds
from .robots import with_screws


def rows_over_states(m, columns: int) -> np.ndarray:
    """Regressors of inertias and armatures at random states, one below the other, twice as many rows as columns."""
    rng, rows = np.random.default_rng(0), []
    while len(rows) * m.nv < 2 * columns + 10:
        case = random_state(m, rng)
        Y = np.array(regressor(m.tree, case.q, case.v, case.a, gravity=m.gravity), dtype=float)
        rows.append(Y[:, :columns])
    return np.vstack(rows)


def structure_is_rank(m) -> None:
    felt = felt_by_structure(m.tree, m.gravity)
    Y = rows_over_states(m, felt.shape[1])
    lengths = np.abs(Y).max(axis=0)
    s = np.linalg.svd(Y / np.where(lengths > 1e-9, lengths, 1.0), compute_uv=False)
    assert np.linalg.matrix_rank(felt) == len(felt)
    assert len(felt) == int((s > 1e-8 * s[0]).sum())
    assert np.abs(Y - Y @ np.linalg.pinv(felt) @ felt).max() <= 1e-11 * np.abs(Y).max()


@pytest.mark.parametrize(**seeds(6))
def test_random_mechanisms(seed):
    structure_is_rank(random_case(seed).mechanism)


@pytest.mark.parametrize(**seeds(2))
def test_free_bases(seed):
    structure_is_rank(random_mechanism(np.random.default_rng(seed), ["revolute", "universal"], root="floating"))


def test_one_joint_of_every_kind():
    structure_is_rank(every_kind(0).mechanism)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.nv])
def test_a_chain_of_one_kind(kind):
    structure_is_rank(random_mechanism(np.random.default_rng(1), [kind] * 2, chain=True))


def test_a_chain_of_screws():
    structure_is_rank(with_screws(random_mechanism(np.random.default_rng(1), ["revolute"] * 3, chain=True)))


# --- published numbers ------------------------------------------------------------------------------------------------
def chain(poses, axes=None) -> km.Mechanism:
    """Revolute joints about z of their frames, each at a pose in the link before; the bodies are irregular."""
    rng = np.random.default_rng(5)
    bodies, joints, above = [], [], "world"
    for k, pose in enumerate(poses):
        body = random_mechanism(rng, ["revolute"]).bodies[0]
        bodies.append(km.Body(f"link{k + 1}", body.mass, body.center_of_mass, body.inertia))
        joints.append(km.Joint(f"joint{k + 1}", "revolute", above, f"link{k + 1}", pose))
        above = f"link{k + 1}"
    return km.Mechanism("chain", tuple(bodies), tuple(joints))


def by_denavit_hartenberg(rows) -> km.Mechanism:
    """From (a [m], α [rad], d [m]) of each joint: a along x and a turn α about x, then d along z."""
    return chain([km.pose((a, 0, 0), (alpha, 0, 0)) @ km.pose((0, 0, d)) for a, alpha, d in rows])


R = np.pi / 2
PUMA = [(0, 0, 0), (0, -R, 0), (0.4318, 0, 0.1501), (0.0203, -R, 0.4318), (0, R, 0), (0, -R, 0)]
PANDA = [(0, 0, 0.333), (0, -R, 0), (0, R, 0.316), (0.0825, R, 0), (-0.0825, -R, 0.384), (0, R, 0), (0.088, R, 0)]


def test_puma_560_has_36():
    """Gautier and Khalil, IEEE Trans. Robotics and Automation 6(3), 1990, 368-373: 36 of 60, without the drives' inertias."""
    assert len(base_parameters(by_denavit_hartenberg(PUMA))) == 36


def test_panda_has_43():
    """Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca, IEEE Robotics and Automation Letters 4(4), 2019: 43 of 70."""
    assert len(base_parameters(by_denavit_hartenberg(PANDA))) == 43


@pytest.mark.parametrize("joints", [1, 2, 5])
@pytest.mark.parametrize("leading", [1, 2, 3])
@pytest.mark.parametrize("upright", [True, False])
def test_parallel_and_perpendicular_axes(joints, leading, upright):
    """Mayeda, Yoshida, Osuka, IEEE Trans. Robotics and Automation 6(3), 1990, 312-321: 7n − 4β, and 2 fewer if the first
    axis is vertical, with β joints that begin the chain with parallel axes."""
    leading = min(leading, joints)
    first = km.pose((0, 0, 0.1)) if upright else km.pose((0, 0, 0.1), (R, 0, 0))
    poses = [first] + [km.pose((0.3, 0.1, 0.2), (0 if k < leading else R, 0, 0)) for k in range(1, joints)]
    assert len(base_parameters(chain(poses))) == 7 * joints - 4 * leading - 2 * upright


def test_a_free_body_has_10_and_each_revolute_joint_7():
    m = random_mechanism(np.random.default_rng(2), ["revolute"] * 3, root="floating", passive=False)
    assert len(base_parameters(m)) == 10 + 3 * 7


# --- their combinations -----------------------------------------------------------------------------------------------
def test_combinations_are_what_the_regressor_needs():
    m = by_denavit_hartenberg(PUMA)
    base = base_parameters(m)
    assert np.allclose(base.G @ base.H, np.eye(36), atol=0.0)
    robot, rng = km.Robot(m), np.random.default_rng(0)
    change = (np.eye(60) - base.H @ base.G) @ (1e-3 * rng.normal(size=60))  # what nobody feels
    unknowns = unknowns_of(m, ["inertia:*"])
    other = km.Robot(unknowns.mechanism_with(unknowns.values + change))
    q, v, a = rng.normal(size=(3, 20, 6))
    assert np.abs(change).max() > 1e-4
    assert np.allclose(other.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), atol=1e-11)


def test_words():
    base = base_parameters(km.load("double_pendulum").mechanism)
    assert base.names == ("upper.hx", "upper.hz", "upper.Iyy", "lower.hx", "lower.hz", "lower.Iyy")
    assert base.combination(2) == "upper.Iyy + 1·lower.mass"
    assert base.combination(1) == "upper.hz - 1·lower.mass"
