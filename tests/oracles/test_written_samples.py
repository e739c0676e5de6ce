"""Samples written as URDF and MJCF, loaded by Pinocchio and MuJoCo: the same inertia matrix, floating bases included."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pinocchio
import pytest

import kumitate as km
from kumitate import convert
from kumitate.dynamics import crba
from kumitate.model.samples import SAMPLES

#: The others are compared joint by joint where their writers are tested.
FLOATING = [name for name, item in SAMPLES.items() if len(item.q) != len(item.v)]


def state(robot: km.Robot) -> np.ndarray:
    change = np.random.default_rng(3).uniform(-0.5, 0.5, robot.nv)
    return robot.integrate(robot.start[0], change) if robot.nq != robot.nv else robot.start[0] + change


def by_pinocchio(path, robot: km.Robot, q: np.ndarray) -> tuple[np.ndarray, convert.StateOrder]:
    model = pinocchio.buildModelFromUrdf(str(path))
    order = convert.pinocchio(robot, model)
    upper = np.triu(pinocchio.crba(model, model.createData(), order.to(q)))
    return upper + np.triu(upper, 1).T, order


def by_mujoco(path, robot: km.Robot, q: np.ndarray) -> tuple[np.ndarray, convert.StateOrder]:
    model = mujoco.MjModel.from_xml_path(str(path))
    order, data, M = convert.mujoco(robot, model), mujoco.MjData(model), np.zeros((model.nv, model.nv))
    data.qpos[:] = order.to(q)
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, M)
    return M, order


@pytest.mark.parametrize("name", [*FLOATING, "four_bars_40"])
@pytest.mark.parametrize(("file", "theirs"), [("robot.urdf", by_pinocchio), ("robot.xml", by_mujoco)], ids=["urdf", "mjcf"])
def test_written_robots_have_the_same_inertia_matrix(name, file, theirs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo's log
    robot = km.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what these formats do not have is tested elsewhere
        path = robot.save(tmp_path / file)
    q = state(robot)
    M, order = theirs(path, robot, q)
    A = order.velocity_matrix(q)
    ours = np.array(crba(robot.mechanism.tree, q.tolist()), dtype=float).reshape(M.shape)
    if file.endswith(".urdf"):
        ours = ours - np.diag([value for joint in robot.mechanism.joints for value in joint.armature])  # not in URDF
    np.testing.assert_allclose(M, np.linalg.inv(A).T @ ours @ np.linalg.inv(A), atol=1e-9 * np.abs(M).max())
