"""The examples under control: balancing, swinging up, a robot in space."""

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.control import actuated_columns, partition
from kumitate.errors import InputError
from kumitate.examples.catalogue import Example
from kumitate.examples.gallery import acrobot
from kumitate.records.readings import momenta_of
from studies.papers.runs import space_robot, wheeled_pendulum, wheeled_pendulum_balanced


def whole(shown: Example) -> bool:
    return bool(shown.title and shown.summary and shown.name)


@pytest.mark.row("Y-wip")
def test_pd_control_balances_the_wheeled_pendulum():
    """Exercise 3.2, as a mechanism and by Lagrange's equations: at rest upright, where it started from."""
    w = wheeled_pendulum_balanced
    result = w.run(duration=40.0)
    at_10 = int(np.searchsorted(result.time, 10.0 - 1e-9))
    beta, alpha = np.abs(result.q[:, 1]), np.abs(result.q[:, 2])
    assert alpha[at_10] < 0.05
    assert beta[at_10] < 0.003
    assert max(alpha[-1], beta[-1]) < 1e-6
    np.testing.assert_allclose(result.q[:, 0], wheeled_pendulum.R * result.q[:, 2], atol=1e-12)  # it rolls
    motion = w.system().simulate([0.0, wheeled_pendulum.LEAN], [0.0, 0.0], duration=40.0, step=1e-2)
    np.testing.assert_allclose(result.q[::5, [2, 1]], motion.q, atol=1e-10)
    assert result.audit.energy_drift < 1e-9
    assert whole(w.EXAMPLE)


@pytest.mark.row("Y-wip")
def test_the_slow_mode_is_the_swing_that_is_seen():
    """Late in the run the fast mode has died out: what is left obeys the slow pair of poles."""
    result = wheeled_pendulum_balanced.run(duration=20.0)
    slow = wheeled_pendulum_balanced.linearized().modes[0]
    assert slow.pole == pytest.approx(-0.376 + 1.26j, abs=5e-4)
    late = result.time >= 12.0
    t, alpha = result.time[late], result.q[late, 2]
    waves = np.exp(slow.pole.real * t)[:, None] * np.column_stack([np.cos(slow.pole.imag * t), np.sin(slow.pole.imag * t)])
    parts, *_ = np.linalg.lstsq(waves, alpha, rcond=None)
    assert np.abs(waves @ parts - alpha).max() < 1e-3 * np.abs(alpha).max()


@pytest.mark.slow
def test_the_acrobot_swings_up_as_planned():
    """The plan obeys kumitate's own dynamics, and its torques, replayed by two integrators, bring it up."""
    pytest.importorskip("casadi")
    robot = acrobot.mechanism()
    q, v, torques = acrobot.planned(robot)
    assert np.abs(torques).max() <= acrobot.TORQUE + 1e-6
    np.testing.assert_allclose(q[[0, -1]], [acrobot.HANGING, acrobot.STANDING], atol=1e-8)
    np.testing.assert_allclose(v[[0, -1]], 0.0, atol=1e-8)
    alike = acrobot.replayed(robot, torques, integrator="rk4", step=acrobot.TIME / acrobot.INTERVALS / acrobot.STEPS)
    assert acrobot.apart(alike, q, v) < 1e-8  # the same steps; rounding, grown by e^8 or so on the way
    finer = acrobot.replayed(robot, torques, integrator="rkf45", step=1e-3)
    assert acrobot.apart(finer, q, v) < 2e-3  # what the plan's steps of 3 ms leave out
    np.testing.assert_allclose(finer.q[-1], acrobot.STANDING, atol=1e-3)
    assert not np.any(finer.tau[:, 0])
    lifted = 2.0 * acrobot.MASS * 9.81 * 2.0 * acrobot.LENGTH
    assert finer.audit.work == pytest.approx(lifted, abs=1e-3)
    assert whole(acrobot.EXAMPLE)


def test_the_exported_program_is_the_dynamics():
    casadi = pytest.importorskip("casadi")
    kernel = Kernel(acrobot.forward_dynamics(acrobot.mechanism()))
    function = kernel.to_casadi()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    found = np.array(function(*(casadi.DM(x) for x in (q, v, tau)))).ravel()
    np.testing.assert_allclose(found, kernel(q, v, tau), rtol=1e-12)


def test_without_casadi_the_acrobot_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)
    with pytest.raises(InputError, match=r"pip install 'kumitate\[casadi\]'"):
        acrobot.run()


@pytest.mark.slow
@pytest.mark.row("T-6.1")
def test_the_space_robot_moves_its_hand_and_does_not_turn():
    result = space_robot.run()
    robot, start = result.mechanism, space_robot.start(result.mechanism)
    assert space_robot.turned(result.q).max() < 1e-8
    assert space_robot.turned(space_robot.run(careless=True).q).max() > 0.1
    found = momenta_of(result)
    assert np.abs(found.angular).max() < 1e-9
    assert np.abs(found.linear).max() < 1e-9
    assert np.abs(result.tau[:, :6]).max() == 0.0
    assert np.abs(result.tau).max() > 0.05
    np.testing.assert_allclose(result.center_of_mass, 0.0, atol=1e-9)
    p = space_robot.hand_page(robot)(result.q[[0, -1]])[:, 0]
    np.testing.assert_allclose(p[1] - p[0], space_robot.AWAY, atol=1e-5)
    assert np.abs(result.q[-1, 4:7] - start[4:7]).max() > 1e-2  # the base gives way
    assert result.audit.energy_drift < 1e-9
    assert whole(space_robot.EXAMPLE)


@pytest.mark.row("T-6.1")
def test_the_space_robot_does_so_by_kinematics_too():
    """θ̇ = N_fl b, the base moving as its momentum of zero has it: M_fl θ̇ has no angular rows, by the partition itself."""
    robot = space_robot.mechanism()
    times, q = space_robot.moved_by_velocities(robot, step=2e-2)
    assert times[-1] == pytest.approx(10.0)
    assert space_robot.turned(q).max() < 1e-8
    p = space_robot.hand_page(robot)(q[[0, -1]])[:, 0]
    np.testing.assert_allclose(p[1] - p[0], space_robot.AWAY, atol=1e-5)
    joints = actuated_columns(robot.tree, "satellite")
    for k in range(100, 400, 50):  # central differences of 20 ms
        rates = (q[k + 1] - q[k - 1])[7:] / 0.04
        coupling = np.array(partition(robot.tree, q[k].tolist(), "satellite", about_mass_center=True).M_fl)[:3]
        assert np.abs(coupling @ rates).max() < 1e-4
    assert len(joints) == len(space_robot.START)
