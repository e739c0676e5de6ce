"""Robots with closed loops beside free bodies: the solver that traces a robot's contact, invariants, and closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.model import Body, Box, Coupling, Geometry, Joint, Limits, Loop, Mechanism, Plane, PositionDrive, Sphere
from kumitate.model.samples import four_bars, four_bars_start
from kumitate.records.archive import load, save
from kumitate.records.readings import loop_records
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid

from .places import BRICK, G, simulation, upright
from .test_robots import BRICKS, FAR, beside, check_python_steps, check_steps_by_one_and_many

NO_GROUND = Contact(ground=(), surface=Surface(0.4))


def four_bar(**changed: object) -> Mechanism:
    """Two legs of 1 m on the ground, joined on top by a rod, one with a ball in its middle; `changed`: of the loop."""
    linkage = four_bars(1)
    ball = (Geometry(Sphere(0.1), pose((0.0, 0.0, 0.5))),)
    bodies = tuple(replace(body, collisions=ball) if body.name == "leg0" else body for body in linkage.bodies)
    return replace(linkage, bodies=bodies, loops=tuple(replace(loop, **changed) for loop in linkage.loops))


def with_bricks(robot: Mechanism, q, v, contact: Contact = NO_GROUND, **options):
    """A scene of a robot and three bricks far away, that begins at a state of the robot."""
    start = np.array([*q, *upright(*FAR)]), np.array([*v, *np.zeros(18)])
    return simulation(beside(robot, *BRICKS), contact, start=start, **options)


def apart(run) -> float:
    """By how much loops were ever open [m]."""
    return max(gap.distance for gap in run.audit.loop_gaps)


def rise(run) -> float:
    """By how much the energy ever rose above the least before [J]."""
    return float((run.energy.total - np.minimum.accumulate(run.energy.total)).max())


def test_a_four_bar_pushed_by_a_box_moves_as_its_traced_contact_does():
    """A box of 20 kg flies against a leg, which leans; traced code keeps the loop closed by rows and multipliers."""
    robot = beside(four_bar(), solid("thrown", Box((0.3, 0.3, 0.3)), 20.0))
    (legs, speeds), thrown = four_bars_start(1, 0.1, 0.0), upright((-0.45, 0.02, 0.45))
    q, v = np.array([*legs, *thrown]), np.array([*speeds, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0])
    alone = MechanismSimulation(Setup(robot, contact=NO_GROUND, q=q, v=v)).run(duration=0.2)
    run = with_bricks(robot, q, v).run(duration=0.2)
    assert alone.contact.force.max() > 100.0
    assert np.abs(run.q[:, : robot.nq] - alone.q).max() < 1e-8
    assert np.abs(run.v[:, : robot.nv] - alone.v).max() < 1e-6
    assert run.audit.work == pytest.approx(alone.audit.work, abs=1e-6)
    assert apart(run) < 1e-12


DRIVE = {"pivot0": PositionDrive(kp=300.0, kd=20.0, limit=25.0)}
GEAR = Coupling("gear", "pivot1", "pivot0", ratio=1.0)
ALONE = {
    "a loop": (four_bar(), {}),
    "a loop with a spring and a damper": (four_bar(stiffness=30.0, damping=2.0), {}),
    "a loop with a drive": (four_bar(damping=0.5), {"loop_tau": {"loop0": [4.0]}}),
    "a loop, a drive and a stop": (
        replace(
            four_bar(),
            joints=tuple(replace(j, limits=Limits(-0.5, 0.6)) if j.name == "pivot1" else j for j in four_bar().joints),
        ).with_drives(DRIVE),
        {"inputs": {"target": [0.8]}},
    ),
    "a loop joint with a drive": (four_bar(damping=0.5, drive=DRIVE["pivot0"]), {"inputs": {"target": [1.6]}}),
    "a loop joint with a stiff drive": (four_bar(drive=PositionDrive(kp=1e4, kd=500.0)), {"inputs": {"target": [1.3]}}),
    "a coupling": (replace(four_bar(), loops=(), couplings=(GEAR,)), {}),
    "a wrench on a loop": (four_bar(), {"wrenches": {"top0": [0.0, 1.0, 0.0, 5.0, 0.0, 0.0]}}),
}


@pytest.mark.parametrize(
    ("case", "integrator"),
    [*((case, "semi_implicit_euler") for case in ALONE), ("a loop with a spring and a damper", "auto"), ("a coupling", "auto")],
)
def test_what_acts_on_loops_acts_as_on_the_robot_by_itself(case, integrator):
    """Nothing touches; drives of loops and joints, springs, dampers, stops and couplings are as in a step without scenes."""
    robot, options = ALONE[case]
    q, v = four_bars_start(1, 0.3, 0.5)
    deep = Contact(ground=(Geometry(Plane(), pose((0.0, 0.0, -2.0))),))
    options = {"integrator": integrator, **options}
    alone = MechanismSimulation(Setup(robot, contact=deep, q=np.array(q), v=np.array(v), **options)).run(duration=0.3)
    run = with_bricks(robot, q, v, **options).run(duration=0.3)
    assert np.abs(alone.v).max() > 0.1
    assert np.abs(run.q[:, : robot.nq] - alone.q).max() < 1e-8
    assert np.abs(run.v[:, : robot.nv] - alone.v).max() < 1e-7
    assert np.abs(run.a[1:, : robot.nv] - alone.a[1:]).max() < 1e-4
    assert run.audit.work == pytest.approx(alone.audit.work, abs=1e-6)
    for name, efforts in alone.loop_tau.items():
        assert np.abs(run.loop_tau[name] - efforts).max() < 1e-5
    assert not robot.loops or apart(run) < 1e-12


@pytest.mark.parametrize("driven", [{}, {"drive": DRIVE["pivot0"]}], ids=["free", "driven"])
def test_stops_of_loop_joints_hold_as_on_the_robot_by_itself(driven):
    """It reaches its lower or its upper limit, and is not let through."""
    robot = four_bar(limits=(Limits(1.0, 1.5) if driven else Limits(0.6, 1.3),), **driven)
    options: dict[str, object] = {"integrator": "semi_implicit_euler"} | ({"inputs": {"target": [1.6]}} if driven else {})
    q, v = four_bars_start(1, 0.3, 0.5)
    deep = Contact(ground=(Geometry(Plane(), pose((0.0, 0.0, -2.0))),))
    alone = MechanismSimulation(Setup(robot, contact=deep, q=np.array(q), v=np.array(v), **options)).run(duration=0.6)
    run = with_bricks(robot, q, v, **options).run(duration=0.6)
    angle = run.loops["loop0"].q[:, 0]
    limit = robot.loops[0].limits[0]
    assert limit.lower - 1e-9 < angle.min()
    assert angle.max() < limit.upper + 1e-9
    assert min(angle[-1] - limit.lower, limit.upper - angle[-1]) < (1e-6 if driven else 0.1)
    assert np.abs(run.q[:, : robot.nq] - alone.q).max() < 1e-9
    assert np.abs(run.v[:, : robot.nv] - alone.v).max() < 1e-7
    assert run.audit.work == pytest.approx(alone.audit.work, abs=1e-5)


def test_a_loop_joint_stops_while_a_box_pushes_it():
    sim, _, _ = four_bar_that_is_hit(loop_limits=(Limits(0.5 * np.pi - 0.12, None),))
    run = sim.run(duration=0.1)
    assert max(np.abs(run.contact.force[k]).max() for k in range(len(run))) > 100.0
    assert run.q[:, 0].max() == pytest.approx(0.12, abs=1e-9)  # of a parallelogram whose angles are 0.12 and π/2 − 0.12
    assert apart(run) < 1e-12
    assert rise(run) <= run.audit.contact.gained + 2.0 * run.audit.energy_drift


def frame_robot(side: float = 0.3) -> tuple[Mechanism, list[float]]:
    """A free square of four boxes, jointed at its corners; hinges at all four leave five of six rows dependent on others."""
    names = [f"bar{k}" for k in range(4)]
    shape = (Geometry(Box((0.8 * side, 0.06, 0.06)), pose((0.5 * side, 0.0, 0.0))),)
    bodies = tuple(Body(name, 0.5, (0.5 * side, 0.0, 0.0), (4e-4, 5e-3, 5e-3), collisions=shape) for name in names)
    corner, about = pose((side, 0.0, 0.0)), (0.0, 1.0, 0.0)
    joints = (
        Joint("base", "floating", "world", "bar0"),
        *(Joint(f"corner{k}", "revolute", names[k - 1], names[k], pose=corner, axis=about) for k in range(1, 4)),
    )
    loops = (Loop("last", "revolute", "bar3", "bar0", corner, axis=about),)
    quarter = 0.5 * np.pi
    return Mechanism("frame", bodies, joints, loops), [quarter, quarter, quarter]


def test_a_frame_among_bricks_keeps_momentum_to_the_order_of_its_steps():
    robot, corners = frame_robot()
    mechanism = beside(robot, *BRICKS, gravity=(0.0, 0.0, 0.0))
    q = [*upright((0.0, 0.0, 0.0)), *corners, *upright((0.5, 0.0, -0.1), (0.75, 0.1, -0.2), (-3.0, 0.0, 0.0))]
    v = [0.1, 0.2, 0.1, 1.5, 0.0, 0.1, 0.0, 0.0, 0.0, *np.zeros(18)]
    drifts = []
    for step in (1e-3, 2.5e-4):
        run = simulation(mechanism, Contact(ground=()), step=step, start=(q, v)).run(duration=0.4)
        assert len(run.contact.bodies) >= 2
        assert rise(run) <= run.audit.contact.gained + 2.0 * run.audit.energy_drift
        assert apart(run) < 1e-12
        drifts.append(np.abs(run.momentum - run.momentum[0]).max())
    assert drifts[0] < 5e-3
    assert drifts[1] < 0.4 * drifts[0]


def test_two_frames_under_a_shower_of_bricks_obey_the_laws():
    """Two robots with loops and six bricks fall onto each other, for two seconds: loops stay closed, no energy is gained."""
    robot, corners = frame_robot()
    again = replace(
        robot,
        bodies=tuple(replace(body, name=f"other_{body.name}") for body in robot.bodies),
        joints=tuple(
            replace(j, name=f"other_{j.name}", parent=j.parent if j.parent == "world" else f"other_{j.parent}",
                    child=f"other_{j.child}") for j in robot.joints
        ),
        loops=tuple(replace(o, name=f"other_{o.name}", body_a="other_bar3", body_b="other_bar0") for o in robot.loops),
    )  # fmt: skip
    both = replace(
        robot, bodies=robot.bodies + again.bodies, joints=robot.joints + again.joints, loops=robot.loops + again.loops
    )
    bricks = tuple(solid(f"brick{k}", BRICK if k % 2 else Sphere(0.08)) for k in range(6))
    q = [*upright((0.0, 0.0, 0.5)), *corners, *upright((0.1, 0.03, 0.9)), *corners]
    q += upright(*((0.1 * (k % 3), 0.02 * k, 1.3 + 0.25 * k) for k in range(6))).tolist()
    sim = simulation(beside(both, *bricks), Contact(surface=Surface(0.5)), start=(q, np.zeros(18 + 36)))
    run = sim.run(duration=2.0)
    assert {"bar", "other"} <= {name[:5].rstrip("0123_") for pair in run.contact.bodies for name in pair}
    assert run.contact.residual.max() < 1e-5
    assert (run.contact.residual > 1e-8).mean() < 1e-3
    assert run.contact.cone_violation.max() < 1e-9 * np.abs(run.contact.force).max()
    assert apart(run) < 1e-12
    assert rise(run) <= run.audit.contact.gained + 2.0 * run.audit.energy_drift


def test_bricks_on_a_tray_that_legs_carry_weigh_what_they_should():
    """Two legs and the tray on them are a four-bar; by virtual work one motor holds all three bricks, and without them not."""
    lean, tray = 0.3, (Geometry(Box((1.0, 0.4, 0.1)), pose((0.0, 0.0, 0.5), rpy=(0.0, 0.5 * np.pi, 0.0))),)
    linkage = four_bars(1)
    bodies = tuple(replace(body, collisions=tray if body.name == "top0" else ()) for body in linkage.bodies)
    legs, _ = four_bars_start(1, lean, 0.0)
    places = [(np.sin(lean) + x, 0.0, np.cos(lean) + 0.11) for x in (0.2, 0.5, 0.8)]
    holding = -G * np.sin(lean) * (2 * 0.5 + 1.0 + 3.0)  # dV/dθ of legs, tray and bricks
    start = [*legs, *upright(*places)], np.zeros(3 + 18)
    mechanism = beside(replace(linkage, bodies=bodies), *BRICKS)
    held = simulation(mechanism, NO_GROUND, start=start, controller=[holding, *np.zeros(20)]).run(duration=0.3)
    assert np.abs(held.q - held.q[0]).max() < 1e-9
    weight = sum(abs(held.contact.force[-1, k, 2]) for k in range(len(held.contact.bodies)))
    assert weight == pytest.approx(3.0 * G, rel=1e-9)


def four_bar_that_is_hit(loop_limits: tuple[Limits, ...] | None = None):
    """A four-bar with a drive in its loop, a driven joint and a stop, in the tree or of the loop; and a box that hits it."""
    robot = four_bar(damping=0.5, **({"limits": loop_limits} if loop_limits else {})).with_drives(DRIVE)
    joints = tuple(
        replace(joint, limits=Limits(-0.5, 0.12)) if joint.name == "pivot1" and not loop_limits else joint
        for joint in robot.joints
    )
    bodies = solid("thrown", Box((0.3, 0.3, 0.3)), 20.0), *BRICKS[:2]
    (legs, speeds), places = four_bars_start(1, 0.1, 0.0), upright((-0.25, 0.02, 0.45), *FAR[:2])
    q, v = np.array([*legs, *places]), np.array([*speeds, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, *np.zeros(12)])
    options = {"inputs": {"target": [0.4]}, "loop_tau": {"loop0": [4.0]}}
    return simulation(beside(replace(robot, joints=joints), *bodies), NO_GROUND, start=(q, v), **options), q, v


def test_robots_with_loops_step_alike_by_one_and_many_and_side_by_side():
    check_steps_by_one_and_many(*four_bar_that_is_hit())


def test_machine_code_and_python_step_loops_alike():
    sim, q, v = four_bar_that_is_hit()
    met = sim.step(sim.start(q, v), 18)  # the box pushes
    check_python_steps(sim, met.q, met.v)


def test_rows_of_a_batch_start_with_closed_loops():
    """Of twenty moving rows, nearly closed, most are closed at once by compiled code; the first alone, as a start is."""
    sim, q, v = four_bar_that_is_hit()
    rng = np.random.default_rng(3)
    rows, speeds = np.tile(q, (20, 1)), np.outer(np.linspace(0.5, 1.5, 20), v)
    rows[:, :3] += 1e-9 * rng.normal(size=(20, 3))
    batch, alone = sim.batch(rows, speeds), sim.start(rows[0], speeds[0])
    batch.step(50)
    assert np.abs(batch.q[0] - sim.step(alone, 50).q).max() < 1e-9
    legs, _ = four_bars_start(1, 0.1, 0.0)
    assert np.abs(np.sum(batch.q[:, :3] * [[0.0, 1.0, 1.0]], axis=1) - legs[1] - legs[2]).max() < 1e-12  # the rod is level


def test_a_motion_that_runs_away_ends_without_an_error():
    legs, speeds = four_bars_start(1, 0.1, 0.0)
    sim = with_bricks(four_bar(), legs, speeds)
    stepper = sim.compiled.stepper(sim.actuation, sim.step_size, sim.start().q, sim.start().v)
    stepper.state["v"][:] = 1e200
    with np.errstate(all="ignore"):
        stepper.run({}, 5, 1)
    assert np.isinf(stepper.state["v"]).all()


def test_errors_that_decay_are_refused_with_the_loop_and_the_remedy():
    many = [replace(BRICKS[0], name=f"brick{k}") for k in range(5)]  # more than are traced
    q, v = four_bars_start(1, 0.1, 0.0)
    start = [*q, *upright(*((50.0 + k, 0.0, 0.06) for k in range(5)))], [*v, *np.zeros(30)]
    with pytest.raises(InputError, match=r"closes its loops \(loop0\) by projection .*leave out `baumgarte`"):
        MechanismSimulation(Setup(beside(four_bar(), *many), *start, contact=NO_GROUND, baumgarte=10.0))


def test_a_run_that_is_interrupted_keeps_what_it_has_with_its_loops(tmp_path):
    """Of a motor that fails after 30 ms; the file that the run is saved to tells the loop's motion and force."""
    (q, v), calls = four_bars_start(1, 0.3, 0.0), iter([np.zeros(21)] * 30)
    robot = with_bricks(four_bar(), q, v)

    def motor(t, q, v):
        found = next(calls, None)
        if found is None:
            raise KeyboardInterrupt
        return found

    whole = robot.run(duration=0.1)
    with pytest.raises(KeyboardInterrupt) as raised:
        with_bricks(four_bar(), q, v, controller=motor).run(duration=0.1)
    save(raised.value.result, tmp_path / "run.npz")
    kept = load(tmp_path / "run.npz")
    assert 20 < len(kept) <= 31
    np.testing.assert_array_equal(kept.q, whole.q[: len(kept)])
    np.testing.assert_allclose(loop_records(kept)["loop0"].wrench, loop_records(whole)["loop0"].wrench[: len(kept)], atol=1e-9)
