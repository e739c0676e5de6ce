"""`km.identify`: exact without noise, right within its deviations with noise, and always a robot that can exist."""

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.identification import MotionLog, base_parameters, exciting_trajectory
from kumitate.identification.base_parameters import NUMBERS, unknowns_of
from kumitate.identification.identified import base_figure
from kumitate.identification.identify import ALL
from kumitate.identification.physical import pseudo_inertia
from kumitate.model.tree.base_parameters import SIZE

from ..mechanisms import random_mechanism, seeds
from .robots import all_of, base_truth, parallel_arm, states, true_values, with_screws


def estimates(found) -> np.ndarray:
    return np.array([own.value for own in found.base])


def deviations(found) -> np.ndarray:
    return np.array([own.deviation for own in found.base])


def possible(found) -> None:
    """Every body of the result can exist: mass, principal moments that fulfil the triangle inequality, no negative friction."""
    values = found.physical.values
    for k in range(0, found.unknowns.inertial, SIZE):
        assert np.linalg.eigvalsh(pseudo_inertia(values[k : k + SIZE]))[0] > 0.0
    for body in (found.mechanism.bodies[k] for k in found.unknowns.bodies):
        principal = np.linalg.eigvalsh(np.array(body.inertia))
        assert body.mass > 0.0
        assert principal[0] > 0.0
        assert principal[2] <= principal[0] + principal[1]
    assert all(x >= 0.0 for joint in found.mechanism.joints for x in (*joint.armature, *joint.damping, *joint.friction))


# --- without noise ----------------------------------------------------------------------------------------------------
KINDS = {
    "revolute and prismatic": (["revolute", "prismatic", "revolute"], None),
    "ball joints": (["spherical", "universal"], None),
    "free base": (["revolute"], "floating"),
    "screw": (["revolute", "cylindrical", "planar"], None),
}


@pytest.mark.parametrize("kinds", KINDS)
def test_exact_without_noise(kinds):
    rng = np.random.default_rng(list(KINDS).index(kinds))
    joints, root = KINDS[kinds]
    mechanism = random_mechanism(rng, joints, chain=True, root=root)
    model = km.Robot(with_screws(mechanism) if kinds == "screw" else mechanism)
    unknowns = all_of(model)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    log = states(model, rng, 120)
    found = km.identify(log | {"tau": real.inverse_dynamics(log["q"], log["v"], log["a"])}, model)
    size = np.maximum(1.0, np.abs(base_truth(found, truth)))
    assert np.abs((estimates(found) - base_truth(found, truth)) / size).max() < 1e-8
    possible(found)
    of_possible = found.parameters.G @ found.physical.values
    assert np.abs((of_possible - base_truth(found, truth)) / size).max() < 1e-8
    other = states(model, rng, 20)
    moved = (other["q"], other["v"], other["a"])
    expected = real.inverse_dynamics(*moved)
    assert np.abs(found.robot.inverse_dynamics(*moved) - expected).max() < 1e-7 * np.abs(expected).max()


def test_exact_from_a_simulation():
    arm = parallel_arm()
    unknowns = all_of(arm)
    truth = true_values(unknowns, np.random.default_rng(3))
    real = km.Robot(unknowns.mechanism_with(truth))

    def shake(t, q, v):
        return np.array([6.0 * np.sin(3.0 * t), 3.0 * np.cos(5.0 * t)]) - 2.0 * v

    found = km.identify(km.simulate(real, [0.5, -0.4], duration=4.0, controller=shake), arm)
    assert np.abs(estimates(found) - base_truth(found, truth)).max() < 1e-8
    assert found.window == 0


@pytest.mark.parametrize(("name", "count"), [("four_bar", 5), ("planar_4r", 9)])
def test_closed_loops(name, count):
    """The robot that is found moves like the real one, although the forces in the loop are not in the log.

    A parallelogram has one inertia, two components of gravity, damping and friction. The second one also closes as an
    antiparallelogram, in which it has four more; the log does not show these.
    """
    arm = km.load(name)
    unknowns, rng = all_of(arm), np.random.default_rng(3)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth), start=arm.start)

    def shake(t, q, v):
        return np.sin(3.0 * t + np.arange(len(v))) - 0.5 * v

    run = km.simulate(real, duration=1.0, controller=shake)
    found = km.identify(run, arm)
    states = run.q[::50], run.v[::50], run.tau[::50]
    before, expected = arm.forward_dynamics(*states), real.forward_dynamics(*states)
    assert np.abs(before - expected).max() > 0.1 * np.abs(expected).max()
    assert np.abs(found.robot.forward_dynamics(*states) - expected).max() < 1e-6 * np.abs(expected).max()
    assert len(found.base) == count
    assert len(found.base) < len(base_parameters(arm.mechanism, ALL))
    excited = np.array([own.excited for own in found.base])
    assert np.abs(estimates(found) - found.parameters.G @ truth)[excited].max() < 1e-6
    used = np.isfinite(found.measured())
    assert used.mean() > 0.9  # some may be near singular postures
    assert np.abs(found.predicted() - found.measured())[used].max() < 1e-6 * np.abs(run.tau).max()
    possible(found)
    unknown = {"t": run.time, "q": run.q, "v": run.v, "a": run.a, "tau": run.tau * [1.0, np.nan, 1.0]}
    with pytest.raises(InputError, match=r"0 efforts for"):  # a loop of one degree of freedom: no motion is without it
        km.identify(unknown, arm)


def test_wrenches_from_outside_and_known_bodies():
    rng = np.random.default_rng(4)
    arm = parallel_arm(3)
    unknowns = unknowns_of(arm.mechanism, ["inertia:link3"])
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    log = states(arm, rng, 60)
    pushed = {"link3": rng.normal(size=(60, 6))}
    tau = real.inverse_dynamics(log["q"], log["v"], log["a"], wrenches=pushed)
    found = km.identify(log | {"tau": tau, "wrenches": pushed}, arm, find=["inertia:link3"])
    assert found.names == tuple(f"link3.{n}" for n in NUMBERS)
    assert np.abs(estimates(found) - base_truth(found, truth)).max() < 1e-8
    assert found.mechanism.body("link1") == arm.mechanism.body("link1")


def test_efforts_that_are_missing_and_several_logs():
    rng = np.random.default_rng(5)
    arm = parallel_arm()
    unknowns = all_of(arm)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    logs = []
    for _ in range(2):
        log = states(arm, rng, 60)
        tau = real.inverse_dynamics(log["q"], log["v"], log["a"])
        tau[rng.random(tau.shape) < 0.3] = np.nan
        logs.append(log | {"tau": tau})
    found = km.identify(logs, arm)
    assert np.abs(estimates(found) - base_truth(found, truth)).max() < 1e-8
    assert found.equations.samples.sum() == sum(np.isfinite(log["tau"]).sum() for log in logs)


# --- with noise -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**seeds(2))
def test_within_the_stated_covariance(seed):
    """Of 40 logs that differ in their noise, normalised errors have the mean 0 and variance 1 that statistics ask for."""
    rng = np.random.default_rng(seed)
    arm = parallel_arm()
    unknowns = all_of(arm)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    log = states(arm, rng, 120)
    tau = real.inverse_dynamics(log["q"], log["v"], log["a"])
    errors = []
    for _ in range(40):
        found = km.identify(log | {"tau": tau + rng.normal(size=tau.shape) * [2.0, 0.3]}, arm)
        errors.append((estimates(found) - base_truth(found, truth)) / deviations(found))
        possible(found)
        assert np.allclose(found.noise, [2.0, 0.3], rtol=0.35)
    errors = np.array(errors)
    count = errors.size
    # means of 40 and variances of all are normal to good accuracy: five standard deviations of each
    assert np.abs(errors.mean(axis=0)).max() < 5.0 / np.sqrt(40.0)
    assert abs(errors.var() - 1.0) < 5.0 * np.sqrt(2.0 / count)
    assert abs(np.mean(np.abs(errors) < 2.0) - 0.954) < 5.0 * np.sqrt(0.954 * 0.046 / count)


@pytest.mark.parametrize("noise", [0.3, 3.0, 100.0])
@pytest.mark.parametrize(**seeds(3))
def test_always_a_robot_that_can_exist(seed, noise):
    rng = np.random.default_rng(seed)
    arm = parallel_arm(3)
    unknowns = all_of(arm)
    real = km.Robot(unknowns.mechanism_with(true_values(unknowns, rng)))
    log = states(arm, rng, 40)
    tau = real.inverse_dynamics(log["q"], log["v"], log["a"])
    possible(km.identify(log | {"tau": tau * (1.0 + noise * rng.normal(size=tau.shape))}, arm))


def noisy_log(real: km.Robot, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Coordinates and efforts at 200 Hz over an exciting motion of 20 s, the efforts with 2 % noise."""
    t = np.arange(0.0, 20.0, 0.005)
    q, v, a = exciting_trajectory(real, trials=60)(t)
    tau = real.inverse_dynamics(q, v, a)
    return {"t": t, "q": q, "tau": tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)}


def test_held_back_parameters_of_a_seven_joint_arm_to_3_percent():
    rng = np.random.default_rng(0)
    arm = km.load("pa10")
    unknowns = unknowns_of(arm.mechanism, ["inertia:link7"])
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    found = km.identify(noisy_log(real, rng), arm, find=["inertia:link7"])
    assert (np.abs(found.physical.values - truth) / found.usual).max() < 0.03
    assert found["link7.mass"] == pytest.approx(truth[0], rel=0.03)


def test_all_parameters_of_a_seven_joint_arm():
    rng = np.random.default_rng(1)
    arm = km.load("pa10")
    unknowns = all_of(arm)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    found = km.identify(noisy_log(real, rng), arm)
    error = np.abs(estimates(found) - base_truth(found, truth))
    inertial = np.array([":" not in name for name in found.parameters.names])
    usual = np.abs(found.parameters.G) @ found.usual
    assert inertial.sum() == 43
    assert (error / usual)[inertial].max() < 0.03
    assert (error / deviations(found)).max() < 5.0
    assert not found.not_excited
    possible(found)
    # and the robot that it makes, on another motion
    q, v, a = exciting_trajectory(arm, trials=1, seed=5)(np.linspace(0.0, 10.0, 100))
    expected = real.inverse_dynamics(q, v, a)
    missed = found.robot.inverse_dynamics(q, v, a) - expected
    assert (np.sqrt(np.mean(missed**2, axis=0)) / np.sqrt(np.mean(expected**2, axis=0))).max() < 0.03


# --- drives -----------------------------------------------------------------------------------------------------------
def test_drive_constants_with_a_known_payload():
    rng = np.random.default_rng(6)
    arm = parallel_arm(3)
    find = ["inertia:link1", "inertia:link2", "damping:*", "friction:*", "drive:*"]  # link3 is known
    unknowns = unknowns_of(arm.mechanism, find)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    log = states(arm, rng, 400)
    constants = np.array([1.4, 0.8, 1.1])
    currents = real.inverse_dynamics(log["q"], log["v"], log["a"]) / constants
    exact = km.identify(log | {"tau": currents}, arm, find=find)
    assert np.allclose([K for K, _ in exact.drives.values()], constants, rtol=1e-8)
    assert np.abs(estimates(exact) - base_truth(exact, truth)).max() < 1e-8
    assert np.abs(exact.parameters.G @ exact.physical.values - base_truth(exact, truth)).max() < 1e-7
    noisy = km.identify(log | {"tau": currents + 0.5 * rng.normal(size=currents.shape)}, arm, find=find)
    for (K, deviation), true in zip(noisy.drives.values(), constants, strict=True):
        assert 0.0 < deviation < 0.1
        assert abs(K - true) < 4.0 * deviation
    predicted = noisy.predicted()
    assert np.sqrt(np.mean((predicted - currents) ** 2)) < 0.2


def test_drive_constants_of_which_only_ratios_are_seen():
    rng = np.random.default_rng(7)
    arm = parallel_arm()
    log = states(arm, rng, 60)
    tau = arm.inverse_dynamics(log["q"], log["v"], log["a"])
    with pytest.raises(InputError, match=r"only up to a common factor.* Leave out of `find` the inertia"):
        km.identify(log | {"tau": tau}, arm, find=["inertia:*", "drive:*"])


# --- what a motion does not show ----------------------------------------------------------------------------------------
def test_parameters_that_are_not_excited_are_named_and_stay():
    rng = np.random.default_rng(8)
    arm = parallel_arm()
    unknowns = all_of(arm)
    truth = true_values(unknowns, rng)
    real = km.Robot(unknowns.mechanism_with(truth))
    log = states(arm, rng, 60)
    log["v"][:, 1] = log["a"][:, 1] = 0.0
    log["q"][:, 1] = 0.3
    found = km.identify(log | {"tau": real.inverse_dynamics(log["q"], log["v"], log["a"])}, arm)
    named = {own.name: own for own in found.base}
    assert {"damping:joint2", "friction:joint2"} <= set(found.not_excited)
    assert named["damping:joint2"].deviation == np.inf
    assert named["damping:joint2"].digits == 0.0
    assert named["damping:joint1"].digits > 6.0
    assert named["damping:joint1"].value == pytest.approx(truth[unknowns.names.index("damping:joint1")], abs=1e-8)
    assert "not excited by this motion" in str(found)
    assert found["damping:joint2"] == 0.0  # as in the model
    possible(found)


# --- bad input --------------------------------------------------------------------------------------------------------
def refused(match, log=None, robot=None, **options):
    arm = parallel_arm() if robot is None else robot
    given = states(arm, np.random.default_rng(0), 30)
    given["tau"] = np.zeros((30, arm.nv))
    with pytest.raises(InputError, match=match):
        km.identify(given | (log or {}), arm, **options)


def test_errors_name_the_part_and_the_remedy():
    refused(r"'torque' is not a part of a log; there are time", {"torque": 1.0})
    refused(r"'tau' is missing", {"tau": None})
    refused(r"log: q is of shape \(30, 3\); it must be an array of shape \(30, 2\)", {"q": np.zeros((30, 3))})
    refused(r"q is not finite in row 7", {"q": np.where(np.arange(30)[:, None] == 7, np.nan, np.zeros((30, 2)))})
    refused(r"times that do not increase", {"t": np.zeros(30)})
    refused(r"it has a, but not v", {"v": None})
    refused(r"'inertia:link9' names nothing that moves; did you mean 'link", find=["inertia:link9"])
    refused(r"no parameter 'mass:link1'", find=["mass:link1"])
    refused(r"nothing to find", find=[])
    refused("'hand', which is not a body or frame", {"wrenches": {"hand": np.zeros((30, 6))}})
    refused(r"the window is 3; it must be a whole number above 4", {"a": None}, window=3)
    refused(r"the spread is -1", spread=-1.0)
    refused(
        r"closed loops, with which drive constants cannot be found.*lock",
        robot=km.load("four_bar"),
        find=["damping:*", "drive:*"],
    )
    arm = parallel_arm()
    short = {key: value[:4] for key, value in states(arm, np.random.default_rng(0), 30).items()}
    with pytest.raises(InputError, match=r"8 efforts for 11 parameters; give a longer log"):
        km.identify(short | {"tau": np.zeros((4, 2))}, arm)
    with pytest.raises(InputError, match=r"differentiation needs 20"):
        km.identify({"t": short["t"], "q": short["q"], "tau": np.zeros((4, 2))}, arm)


def test_a_log_may_be_an_object():
    arm = parallel_arm()
    log = states(arm, np.random.default_rng(0), 40)
    tau = arm.inverse_dynamics(log["q"], log["v"], log["a"])
    found = km.identify(MotionLog(log["t"], log["q"], tau, log["v"], log["a"]), arm)
    assert found["link1.mass"] == pytest.approx(2.0)
    with pytest.raises(InputError, match=r"did you mean 'link1.mass'"):
        found["link1.mas"]


def test_the_report(tmp_path):
    arm = parallel_arm()
    log = states(arm, np.random.default_rng(0), 40)
    found = km.identify(log | {"tau": arm.inverse_dynamics(log["q"], log["v"], log["a"])}, arm)
    page = found.write(tmp_path / "report").read_text()
    assert "| link2.Iyy |" in page
    assert "| armature:joint2 | " in page
    assert (tmp_path / "report" / "efforts.svg").stat().st_size > 1000
    assert (tmp_path / "report" / "base.svg").stat().st_size > 1000
    assert found.plot(tmp_path / "efforts.png").exists()
    (axes,) = base_figure(found).axes  # of a log without noise: no number differs, each on a line of its own with its name
    (points, *_), shown = axes.containers[0], [own for own in found.base if own.excited]
    np.testing.assert_allclose(np.asarray(points.get_xdata(), dtype=float), 0.0, atol=1e-6)
    assert list(points.get_ydata()) == list(range(len(shown)))[::-1]
    assert [label.get_text() for label in axes.get_yticklabels()] == [own.name for own in shown]
