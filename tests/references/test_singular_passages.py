"""Through postures where loops lose rank: the thesis's parallelogram goes on as the pendulum that it is (T-3.4)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.model import Mechanism
from kumitate.model.samples import planar_4r
from kumitate.spatial import pose

#: θ'' = FACTOR·sin θ in the parallelogram mode.
FACTOR = 1.2 * 9.81
RIGHT = math.pi / 2.0


def exact(time: np.ndarray, angle: float, speed: float) -> np.ndarray:
    motion = solve_ivp(
        lambda t, y: [y[1], FACTOR * math.sin(y[0])], (0.0, time[-1]), [angle, speed],
        method="DOP853", rtol=1e-13, atol=1e-14, t_eval=time,
    )  # fmt: skip
    return motion.y[0]


def leaning(mechanism: Mechanism) -> Mechanism:
    """The loop in a plane that no coordinate plane is, with gravity along it."""
    turn = pose((0.3, -0.2, 0.5), (0.4, -0.7, 1.1))
    R = np.array(turn.matrix())[:3, :3]
    joints = tuple(replace(j, pose=(turn @ j.pose).dense()) if j.parent == "world" else j for j in mechanism.joints)
    loops = tuple(replace(loop, pose_a=(turn @ loop.pose_a).dense()) for loop in mechanism.loops)
    return replace(mechanism, joints=joints, loops=loops, gravity=tuple(R @ mechanism.gravity))


def posture(angle: float) -> np.ndarray:
    return np.array([angle, RIGHT - angle, RIGHT + angle])


def moving(speed: float) -> np.ndarray:
    return speed * np.array([1.0, -1.0, 1.0])


def check(run: km.Record, angle: float, speed: float) -> None:
    """The bounds of the row: θ1 within 1e-8 rad of the pendulum, energy within 1e-8 J, the loop closed to 1e-10 m."""
    assert np.abs(run.q[:, 0] - exact(run.time, angle, speed)).max() < 1e-8
    assert run.audit.energy_drift < 1e-8
    for gap in run.audit.loop_gaps:
        assert gap.distance < 1e-10
        assert gap.angle < 1e-10
        assert gap.speed < 1e-8


@pytest.mark.row("T-3.4")
@pytest.mark.row("T-sing")
@pytest.mark.parametrize("in_space", [False, True], ids=["upright", "in-space"])
def test_five_singular_passages(in_space):
    loop = leaning(planar_4r()) if in_space else planar_4r()
    start = np.deg2rad([60.0, 30.0, 150.0])
    run = km.simulate(loop, start, duration=3.0, step=1e-3)
    check(run, start[0], 0.0)
    assert int((np.diff(np.sign(np.cos(run.q[:, 0]))) != 0).sum()) == 5
    closeness = np.abs(np.cos(run.q[:, 0])).min()
    assert closeness < 1e-2  # and close to the singular posture itself
    report = km.Robot(loop).constraint_report(posture(RIGHT))
    assert report.singular
    assert (report.mobility, report.usual_mobility, report.redundant) == (2, 1, 3)


@pytest.mark.row("T-3.4")
def test_singular_passages_from_forty_starts():
    loop, rng, passages = leaning(planar_4r()), np.random.default_rng(4), 0
    for angle, speed in zip(rng.uniform(-1.5, 1.5, 40), rng.uniform(-3.0, 3.0, 40), strict=True):
        run = km.simulate(loop, posture(angle), moving(speed), duration=3.0, step=1e-3)
        check(run, angle, speed)
        passages += int((np.diff(np.sign(np.cos(run.q[:, 0]))) != 0).sum())
    assert passages > 120


@pytest.mark.row("T-3.4")
@pytest.mark.parametrize("beside", [(1e-9, 0, 0), (0, 1e-9, 0), (0, 0, -1e-9), (1e-9, -2e-9, 1e-9)], ids=str)
@pytest.mark.parametrize("angle", [math.pi / 3.0, RIGHT - 1e-5], ids=["60deg", "nearly-singular"])
def test_starts_beside_symmetry(angle, beside):
    run = km.simulate(planar_4r(), posture(angle) + beside, moving(0.3), duration=3.0, step=1e-3)
    assert np.abs(run.q[0] - posture(angle)).max() < 1e-4  # closed again: a posture of the parallelogram nearby
    check(run, run.q[0, 0], run.v[0, 0])


@pytest.mark.row("T-3.4")
@pytest.mark.parametrize("angle", [RIGHT, -RIGHT, RIGHT + 1e-9], ids=["singular", "other-singular", "beside"])
def test_a_start_in_the_singular_posture_goes_the_way_of_its_velocities(angle):
    run = km.simulate(planar_4r(), posture(angle), moving(1.0), duration=3.0, step=1e-3)
    check(run, angle, 1.0)


@pytest.mark.row("T-3.4")
@pytest.mark.slow
def test_a_bar_a_little_longer_passes_as_at_a_hundredth_of_the_step():
    """Lengths 1, 1, 1, 1.0001: no posture is singular, but the loop turns over within two milliseconds beside one.

    A fixed step of 1 ms cannot see that: the step must adapt. The energy says so where it does not.
    """
    parallel = planar_4r()
    longer = replace(parallel.loops[0], pose_b=pose((0.0, 0.0, 1.0001)))
    loop = replace(parallel, loops=(longer,))
    start = km.Robot(loop).assemble(posture(math.pi / 3.0))
    fine = km.simulate(loop, start, duration=3.0, step=1e-5)
    run = km.simulate(loop, start, duration=3.0, step=1e-3, integrator="rkf45_adaptive", tolerance=1e-12)
    assert np.abs(run.q - fine.q[::100]).max() < 1e-6
    for result in (run, fine):
        assert result.audit.energy_drift < 1e-8
        assert result.audit.loop_gaps[0].distance < 1e-10
    coarse = km.simulate(loop, start, duration=3.0, step=1e-3, integrator="rkf45")
    assert coarse.audit.energy_drift > 1e-3


# --- starting in a singular posture -----------------------------------------------------------------------------------------
#: The branches through the posture where all rods lie on a line: the parallelogram, and the rod that turns about both pins.
BRANCHES = np.array([[1.0, -1.0, 1.0], [0.0, 1.0, 0.0]]) / np.sqrt([[3.0], [1.0]])


@pytest.mark.parametrize("in_space", [False, True], ids=["upright", "in-space"])
def test_a_velocity_that_no_branch_has_is_refused_with_the_nearest_that_one_has(in_space):
    loop = km.Robot(leaning(planar_4r()) if in_space else planar_4r())
    singular, rng = posture(RIGHT), np.random.default_rng(8)
    for first, second in rng.normal(size=(6, 2)):
        v = np.array([first, second, first])  # whatever the second is, the loop opens at no rate
        along = BRANCHES @ v
        nearest = BRANCHES[np.argmax(np.abs(along))] * along[np.argmax(np.abs(along))]
        with pytest.raises(
            km.InputError,
            match=r"not the velocity of any motion through the initial q, where loop 'joint4' loses rank.*assemble",
        ) as caught:
            km.simulate(loop, singular, v, duration=0.01)
        said = np.array([float(part) for part in str(caught.value).split("v = [")[1].split("]")[0].split(",")])
        np.testing.assert_allclose(said, nearest, atol=1e-5)
        np.testing.assert_allclose(loop.assemble(singular, v)[1], nearest, atol=1e-7)
    for branch in BRANCHES:
        np.testing.assert_allclose(loop.assemble(singular, branch)[1], branch, rtol=0.0, atol=1e-15)
        run = km.simulate(loop, singular, branch, duration=0.2)
        assert run.audit.energy_drift < 1e-6


def test_near_a_singular_posture_a_velocity_that_closing_would_change_is_refused():
    """Within 1e-7 rad of it the loop's rate is as small as rounding, but only another velocity keeps it closed."""
    with pytest.raises(km.InputError, match="where loop 'joint4' loses rank, or nearly so"):
        km.simulate(planar_4r(), posture(RIGHT + 1e-7), [0.5, 0.3, 0.5], duration=0.01)


def test_energy_that_goes_in_one_step_is_named():
    """A stiff strut let go: in the first step of order 1 its energy goes, by more than the damper takes."""
    mass = km.Body("mass", 1.0, inertia=(0.1, 0.1, 0.1))
    slide = km.Joint("slide", "prismatic", "world", "mass", axis=(1, 0, 0), stiffness=(1e6,), damping=(2e4,))
    strut = km.Mechanism("strut", (mass,), (slide,), gravity=(0.0, 0.0, 0.0))
    run = km.simulate(strut, [0.01], duration=0.05, integrator="semi_implicit_euler")
    (note,) = run.audit.notes
    lost = run.energy.total[0] - run.energy.total[1]
    assert "lost in the step from t = 0 s" in note
    assert float(note.split(" J,")[0].removeprefix("energy: ")) == pytest.approx(lost, rel=0.2)
    assert km.simulate(strut, [0.01], duration=0.05, integrator="extrapolated_euler").audit.notes == ()
