"""Y π is inverse dynamics, for every mechanism; the compiled rows are those of the page."""

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import regressor, rnea
from kumitate.identification.equations import regressor_rows
from kumitate.model.tree.base_parameters import numbers_of

from ..mechanisms import cases, random_case, seeds


def parameters(tree) -> np.ndarray:
    """π of the model: ten numbers per link, then armatures, dampings, dry frictions."""
    of_links = [x for link in tree.links for x in numbers_of(link.inertia)]
    of_joints = [x for key in ("armature", "damping", "friction") for link in tree.links for x in getattr(link, key)]
    return np.array(of_links + of_joints, dtype=float)


def same_efforts(case) -> None:
    m = case.mechanism
    Y = np.array(regressor(m.tree, case.q, case.v, case.a, gravity=m.gravity), dtype=float)
    tau = np.array(rnea(m.tree, case.q, case.v, case.a, gravity=m.gravity), dtype=float)
    assert np.abs(Y @ parameters(m.tree) - tau).max() <= 1e-12 * max(1.0, np.abs(tau).max())


@pytest.mark.parametrize(**cases(24, every=4))
def test_random_mechanisms(make):
    same_efforts(make())


@pytest.mark.parametrize(**seeds(6))
def test_free_bases(seed):
    same_efforts(random_case(seed, root="floating"))


def test_compiled_rows_are_those_of_the_page():
    case = random_case(3)
    m = case.mechanism
    Y = np.array(regressor(m.tree, case.q, case.v, case.a, gravity=m.gravity), dtype=float)
    rows = regressor_rows(m, *(np.tile(x, (9, 1)) for x in (case.q, case.v, case.a)))
    assert np.abs(rows - Y).max() <= 1e-12 * np.abs(Y).max()
    assert np.abs(regressor_rows(m, case.q, case.v, case.a) - Y).max() <= 1e-12 * np.abs(Y).max()


def test_dry_friction_is_what_the_robot_has():
    arm = km.load("pa10")
    q, v = np.zeros((3, 7)), np.outer([1e-3, 0.02, 1.0], np.ones(7))
    rough = km.Robot(km.Mechanism("rough", arm.mechanism.bodies, tuple(
        km.Joint(j.name, j.kind, j.parent, j.child, j.pose, j.axis, friction=2.0) for j in arm.mechanism.joints)))  # fmt: skip
    felt = rough.inverse_dynamics(q, v, 0.0 * v) - arm.inverse_dynamics(q, v, 0.0 * v)
    Y = regressor_rows(arm.mechanism, q, v, 0.0 * v)
    assert np.allclose(2.0 * Y[:, range(7), range(-7, 0)], felt, atol=1e-12)
