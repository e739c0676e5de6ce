"""Robots beside free bodies: the solver that traces a robot's contact, invariants, and closed forms."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.contact.scene import Contact
from kumitate.contact.scenes.building import log_of
from kumitate.contact.scenes.step import DONE, advance_scene
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.kinematics import link_poses
from kumitate.model import Body, Box, Geometry, Joint, Limits, Mechanism, PositionDrive, Sphere, bounds_of
from kumitate.simulate.scenes.robots import acting_of, begun_program, settled_program
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import solid, unconnected

from .places import BRICK, G, at_random, bin_of, simulation, upright

H = 1e-3
BRICKS = tuple(solid(f"brick{k}", BRICK) for k in range(3))
FAR = [(50.0, 0.0, 0.06), (60.0, 0.0, 0.06), (70.0, 0.0, 0.06)]


def arm(damping: float = 0.0) -> Mechanism:
    """Three hinges above the floor, a ball at the end of each of two rods."""
    rods = tuple(
        Body(
            f"rod{k}",
            1.0 + k,
            (0.15, 0.0, 0.0),
            (0.002, 0.02, 0.02),
            collisions=(Geometry(Sphere(0.05), pose((0.3, 0.0, 0.0))),),
        )
        for k in range(2)
    )
    joints = (
        Joint("turn", "revolute", "world", "hub", axis=(0.0, 0.0, 1.0), pose=pose((0.0, 0.0, 0.4))),
        Joint("lift", "revolute", "hub", "rod0", axis=(0.0, 1.0, 0.0), damping=damping),
        Joint("bend", "revolute", "rod0", "rod1", axis=(0.0, 1.0, 0.0), pose=pose((0.3, 0.0, 0.0)), damping=damping),
    )
    return Mechanism("arm", (Body("hub", 0.5, (0.0, 0.0, 0.0), (0.001, 0.001, 0.001)), *rods), joints)


def walker() -> Mechanism:
    """A floating trunk of a box with two legs of capsule-like balls at hinges: eight degrees of freedom, two rows."""
    trunk = Body("trunk", 3.0, (0.01, 0.0, 0.02), (0.03, 0.04, 0.05), collisions=(Geometry(Box((0.2, 0.3, 0.1))),))
    legs = tuple(
        Body(
            f"leg{k}",
            0.7,
            (0.0, 0.0, -0.1),
            (0.004, 0.004, 0.001),
            collisions=(Geometry(Sphere(0.04), pose((0.0, 0.0, -0.25))),),
        )
        for k in range(2)
    )
    joints = (
        Joint("base", "floating", "world", "trunk"),
        *(
            Joint(
                f"hip{k}",
                "revolute",
                "trunk",
                f"leg{k}",
                axis=(0.0, 1.0, 0.2),
                pose=pose((0.0, 0.1 - 0.2 * k, -0.05)),
                damping=0.05,
            )
            for k in range(2)
        ),
    )
    return Mechanism("walker", (trunk, *legs), joints)


def beside(robot: Mechanism, *bodies: Body, **changed) -> Mechanism:
    """The robot with free bodies behind it."""
    free = unconnected(*bodies)
    return replace(robot, bodies=robot.bodies + free.bodies, joints=robot.joints + free.joints, **changed)


CASES = {
    "arm": (arm(), [0.3, 0.2, 0.1], [0.5, 0.0, -1.0]),
    "damped arm": (arm(0.3), [0.3, 0.2, 0.1], [0.5, 0.0, -1.0]),
    "walker": (walker(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.36, 0.3, -0.2], [0.2, 0.1, 0.3, 0.4, 0.0, -0.2, 0.5, -0.5]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_robot_moves_in_a_scene_as_by_itself(case):
    """Its contact alone is traced into straight lines: another implementation of the same laws. Bricks are far away."""
    robot, q, v = CASES[case]
    alone = MechanismSimulation(Setup(robot, contact=Contact(surface=Surface(0.4)))).run(q, v, duration=0.5)
    scene = simulation(beside(robot, *BRICKS), Contact(surface=Surface(0.4)))
    run = scene.run([*q, *upright(*FAR)], [*v, *np.zeros(18)], duration=0.5)
    nq, nv = robot.nq, robot.nv
    assert alone.contact.force.max() > 1.0  # it has met the floor
    assert np.abs(run.q[:, :nq] - alone.q).max() < 1e-8
    assert np.abs(run.v[:, :nv] - alone.v).max() < 1e-6
    assert np.abs(run.a[:, :nv] - alone.a).max() < 1e-3
    assert run.audit.work == pytest.approx(alone.audit.work, abs=1e-5)
    assert run.energy.kinetic == pytest.approx(alone.energy.kinetic, abs=1e-6)
    assert np.abs(run.q[:, nq:] - run.q[0, nq:]).max() < 1e-9


def test_a_ram_and_the_brick_that_it_hits_go_on_together():
    """In free space, head on: momentum to rounding, and of a plastic hit ram and brick have one speed, the cart its own."""
    cart = solid("cart", Box((0.2, 0.2, 0.2)), 3.0)
    joints = (Joint("base", "floating", "world", "cart"), Joint("slide", "prismatic", "cart", "ram", axis=(1.0, 0.0, 0.0)))
    robot = Mechanism("pusher", (cart, replace(solid("ram", Sphere(0.05), 1.0))), joints, gravity=(0.0, 0.0, 0.0))
    q = [*upright((0.0, 0.0, 0.0)), 0.3, *upright((0.8, 0.0, 0.0), (3.0, 0.0, 0.0), (-3.0, 0.0, 0.0))]
    v = [0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 1.75, *np.zeros(18)]
    run = simulation(beside(robot, *BRICKS), Contact(ground=())).run(q, v, duration=0.4)
    assert np.abs(run.momentum - run.momentum[0]).max() < 1e-13
    cart, ram, brick = run.v[-1, 3], run.v[-1, 3] + run.v[-1, 6], run.v[-1, 10]
    assert (cart, ram, brick) == pytest.approx((0.25, 1.0, 1.0), abs=1e-9)  # 2 m/s of 1 kg, shared by 1 + 1 kg
    assert run.contact.work.sum() == pytest.approx(-1.0, abs=1e-9)


def test_a_walker_among_bricks_keeps_momentum_to_the_order_of_its_steps():
    rng = np.random.default_rng(4)
    mechanism = beside(walker(), *BRICKS, gravity=(0.0, 0.0, 0.0))
    q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1, -0.1, *upright((0.4, 0.0, 0.05), (0.62, 0.1, 0.0), (-3.0, 0.0, 0.0))]
    v = [*(0.2 * rng.normal(size=3)), 1.5, 0.0, 0.1, 0.3, -0.2, *np.zeros(18)]
    drifts = []
    for step in (1e-3, 2.5e-4):
        run = simulation(mechanism, Contact(ground=()), step=step).run(q, v, duration=0.4)
        assert len(run.contact.bodies) >= 2
        assert (run.contact.gained < 1e-12).all()
        drifts.append(np.abs(run.momentum - run.momentum[0]).max())
    assert drifts[0] < 2e-3
    assert drifts[1] < 0.4 * drifts[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_walker_under_a_shower_of_bricks_obeys_the_laws(seed):
    """Twelve bodies thrown onto it in a bin: the residual, the cones, and no energy but that of pushing out."""
    robot, q, v = CASES["walker"]
    bodies = tuple(solid(f"body{k}", BRICK if k % 3 else Sphere(0.08)) for k in range(12))
    places, speeds = at_random(np.random.default_rng(seed), 12)
    places[6::7] += 0.5
    run = simulation(beside(robot, *bodies), bin_of(0.5)).run([*q, *places], [*v, *speeds], duration=1.0)
    assert any("leg0" in pair or "leg1" in pair for pair in run.contact.bodies)
    assert run.contact.residual.max() < 1e-4, seed
    assert (run.contact.residual > 1e-6).mean() < 0.01, seed
    assert run.contact.cone_violation.max() < 1e-9 * np.abs(run.contact.force).max(), seed
    allowed = 1e-7 * run.energy.kinetic.max() + np.where(run.contact.penetration > 1e-9, 0.5 * 16.4 * 0.5**2, 0.0)
    assert (run.contact.gained < allowed).all(), seed


def test_a_brick_on_an_arm_that_is_held_weighs_what_it_should():
    """A tray on a slide, held by a constant force, carries three bricks; then their weight is missing and all accelerate."""
    tray = Body("tray", 2.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Box((1.0, 1.0, 0.1))),))
    lift = Mechanism("lift", (tray,), (Joint("slide", "prismatic", "world", "tray", axis=(0.0, 0.0, 1.0)),))
    places = [(0.3 * k - 0.3, 0.0, 0.11 + 0.0) for k in range(3)]
    mechanism = beside(lift, *BRICKS)
    q = [0.0, *upright(*places)]
    held = simulation(mechanism, Contact(ground=()), controller=[5.0 * G, *np.zeros(18)]).run(q, duration=0.3)
    assert np.abs(held.q - held.q[0]).max() < 1e-9
    assert held.contact.force[-1, :, 2].sum() == pytest.approx(-3.0 * G if held.contact.bodies[0][0] == "tray" else 3.0 * G)
    risen = simulation(mechanism, Contact(ground=()), controller=[5.0 * (G + 2.0), *np.zeros(18)]).run(q, duration=0.3)
    assert risen.v[-1, [0, 6, 12, 18]] == pytest.approx([0.6] * 4, abs=1e-9)
    assert risen.audit.energy_drift < 0.01 * risen.energy.kinetic[-1] + 5.0 * G * 0.5 * H * 0.6


def test_poses_of_a_robot_in_a_scene_are_those_of_its_own_tree():
    mechanism = beside(arm(), *BRICKS)
    q = [0.3, -0.4, 0.9, *upright(*FAR)]
    whole, own = link_poses(mechanism.tree, q), link_poses(arm().tree, q[:3])
    for one, other in zip(mechanism.tree.links[:3], arm().tree.links, strict=True):
        np.testing.assert_allclose(list(whole[one].translation), list(own[other].translation), atol=1e-15)


def test_wrenches_on_links_act_as_on_the_robot_alone():
    robot, q, v = CASES["walker"]
    wrench = {"leg0": (0.1, 0.2, -0.1, 3.0, 1.0, 2.0)}
    alone = MechanismSimulation(Setup(robot, contact="rigid", wrenches=wrench)).run(q, v, duration=0.3)
    run = simulation(beside(robot, *BRICKS), wrenches=wrench).run([*q, *upright(*FAR)], [*v, *np.zeros(18)], duration=0.3)
    assert np.abs(run.q[:, : robot.nq] - alone.q).max() < 1e-8
    assert run.audit.work == pytest.approx(alone.audit.work, abs=1e-5)


def test_a_state_of_a_scene_with_a_robot_goes_on_the_same():
    robot, q, v = CASES["walker"]
    sim = simulation(beside(robot, *BRICKS))
    start = sim.start([*q, *upright((0.3, 0.0, 0.06), *FAR[1:])], [*v, *np.zeros(18)])
    half = sim.step(start, 150)
    assert np.array_equal(sim.step(half, 100).q, sim.step(start, 250).q)
    assert np.array_equal(sim.run(start.q, start.v, duration=0.25, every=50).q[-1], sim.step(half, 100).q)


def driven_arm(limit: float | None = None) -> Mechanism:
    """The arm with position drives, and with narrow limits of its last joint."""
    robot = arm(0.1)
    drives = {"turn": PositionDrive(kp=50.0, kd=5.0), "lift": PositionDrive(kp=400.0, kd=20.0, limit=limit)}
    bent = Limits(-0.3, 0.4)
    joints = (replace(joint, limits=bent) if joint.name == "bend" else joint for joint in robot.joints)
    return replace(robot, joints=tuple(joints)).with_drives(drives)


@pytest.mark.parametrize("limit", [None, 12.0], ids=["drives", "weak drives"])
def test_drives_and_stops_of_a_robot_hold_as_by_itself(limit):
    """The last joint swings freely between its stops, the first two are held; traced code settles them likewise."""
    robot = driven_arm(limit)
    q, v = [0.3, 0.2, 0.1], [0.5, 0.0, -1.0]
    commands = {"target": [0.5, 0.1]}
    alone = MechanismSimulation(Setup(robot, contact="rigid", integrator="semi_implicit_euler", inputs=commands)).run(
        q, v, duration=0.5
    )
    scene = simulation(beside(robot, *BRICKS), integrator="semi_implicit_euler", inputs=commands)
    run = scene.run([*q, *upright(*FAR)], [*v, *np.zeros(18)], duration=0.5)
    assert alone.q[:, 2].min() == pytest.approx(-0.3, abs=1e-6) or alone.q[:, 2].max() == pytest.approx(0.4, abs=1e-6)
    assert np.abs(run.q[:, :3] - alone.q).max() < 1e-6
    assert run.audit.work == pytest.approx(alone.audit.work, abs=1e-4)
    assert np.abs(run.q[:, 2] - 0.05).max() < 0.35 + 1e-6


def test_drives_within_their_limits_are_settled_in_one_pass():
    """Whatever the motion: two drives whose laws have unlike slopes, both with limits, and a joint far from its stops."""
    robot, q, v = driven_arm(1e6), np.array([0.3, 0.2, 0.1]), np.array([0.5, 0.0, -1.0])
    bounds, asked = bounds_of(robot), np.array([[0.5, 0.0, 0.0], [0.1, 0.0, 0.0]])
    resisting, rates = {}, np.array([3.0, -2.0, 1.0])
    for one in acting_of(robot, bounds):
        begun, settled = begun_program(one), settled_program(one)
        place, rate, drive = one.q, one.v, one.drive
        given = (H, q[place : place + 1], v[rate : rate + 1], asked[drive : drive + 1], one.numbers)
        started = Kernel(begun)(*given, np.zeros(one.pieces))
        first = dict(zip((array.name for array in begun.outputs), started, strict=True))
        end = Kernel(settled)(*given, rates[rate : rate + 1], first["pieces"])
        found = dict(zip((array.name for array in settled.outputs), end, strict=True))
        assert found["unsettled"] == 0.0
        for name in ("effort", "resisting"):
            np.testing.assert_array_equal(found[name], first[name])
        resisting[rate] = float(first["resisting"][0])
    assert min(resisting[0], resisting[1]) > 0.0
    assert resisting[0] != resisting[1]


@pytest.mark.parametrize("limit", [None, 1.0], ids=["drives", "weak drives"])
def test_what_rests_at_a_stop_or_gives_all_it_can_needs_one_pass_a_step_also_where_its_state_is_restored(tmp_path, limit):
    """Drives hold the first rod, or do not, the second one hangs at its stop; a state that is new takes a second pass."""

    def made():
        return simulation(beside(driven_arm(limit), *BRICKS), integrator="semi_implicit_euler", inputs={"target": [0.5, 0.0]})

    def passes(sim):
        motions = sim._stepper.scene.bodies.robots.motions
        return motions.pieces[motions.acting[:, 7] - 1].tolist()

    sim, other = made(), made()
    state = sim.step(sim.start([0.5, 0.0, 0.4, *upright(*FAR)], np.zeros(21)), 2000)
    assert abs(state.q[2] - 0.05) == pytest.approx(0.35, abs=1e-6)
    assert passes(sim) == [1.0, 1.0, 1.0]
    again = other.step(other.restore(sim.save(state, tmp_path / "state.npz")))
    assert passes(other) == [1.0, 1.0, 1.0]
    ahead = sim.step(state)
    assert np.array_equal(again.q, ahead.q)
    assert np.array_equal(again.v, ahead.v)
    fresh = made()
    fresh.step(fresh.start(state.q, state.v))
    assert min(passes(fresh)) > 1.0
    # another state knows nothing of that rest, whether it begins a motion or goes on with one
    start, there = ([0.5, 0.0, 0.3, *upright(*FAR)], np.zeros(21)), made()
    begun = there.step(there.start(*start), 2)
    wanted = there.step(begun).v, passes(there)
    assert np.array_equal(sim.step(begun).v, wanted[0])
    assert passes(sim) == wanted[1]
    free = simulation(
        beside(driven_arm(limit), *BRICKS), limits=False, integrator="semi_implicit_euler", inputs={"target": [0.5, 0.0]}
    )
    assert np.array_equal(free.step(state).q, free.step(free.restore(sim.save(state, tmp_path / "other.npz"))).q)
    first, second = (there.run(state.q, state.v, duration=0.001) for _ in range(2))
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.v, second.v)


def test_joints_of_a_kind_share_what_their_drives_and_stops_do():
    """Gains, limits and stops are numbers of one page; drives without a limit are of another kind than those with one."""

    def acting(limit, gain):
        robot = driven_arm(limit)
        return acting_of(robot.with_drives({"lift": PositionDrive(kp=gain, kd=20.0, limit=limit)}), bounds_of(robot))

    weak, strong, free = acting(5.0, 300.0), acting(7.0, 400.0), acting(None, 300.0)
    assert [one.kind for one in weak] == [one.kind for one in strong]
    assert free[1].kind == weak[0].kind != weak[1].kind
    assert [one.numbers == other.numbers for one, other in zip(weak, strong, strict=True)] == [True, False, True]


def test_a_slide_at_its_stop_carries_bricks():
    """A tray that falls onto its lower stop with bricks on it rests there, and the bricks on it; nothing passes the stop."""
    tray = Body("tray", 2.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Box((1.0, 1.0, 0.1))),))
    slide = Joint("slide", "prismatic", "world", "tray", axis=(0.0, 0.0, 1.0), limits=Limits(-0.05, 1.0))
    mechanism = beside(Mechanism("lift", (tray,), (slide,)), *BRICKS)
    q = [0.0, *upright(*((0.3 * k - 0.3, 0.0, 0.11) for k in range(3)))]
    run = simulation(mechanism, Contact(ground=())).run(q, duration=0.3)
    assert run.q[:, 0].min() > -0.05 - 1e-9
    assert run.q[-1, 0] == pytest.approx(-0.05, abs=1e-9)
    assert run.q[-1, [7, 14, 21]] == pytest.approx([0.06] * 3, abs=1e-8)
    assert np.abs(run.v[-1]).max() < 1e-7
    assert np.abs(run.contact.force[-1, :, 2].sum()) == pytest.approx(3.0 * G, rel=1e-6)


def test_a_press_pushes_with_no_more_than_its_drive_has():
    """A ram with a position drive of limited force squeezes a brick against the ground: force and weight on the ground."""
    ram = Body("ram", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Box((0.1, 0.1, 0.1))),))
    slide = Joint("slide", "prismatic", "world", "ram", axis=(0.0, 0.0, 1.0), pose=pose((0.0, 0.0, 0.18)))
    robot = Mechanism("press", (ram,), (slide,)).with_drives({"slide": PositionDrive(kp=1e5, kd=1e3, limit=30.0)})
    run = simulation(beside(robot, *BRICKS), inputs={"target": -0.1}).run(
        [0.0, *upright((0.0, 0.0, 0.06), *FAR[1:])], duration=0.2
    )
    pushed = {pair: run.contact.force[-1, k, 2] for k, pair in enumerate(run.contact.bodies)}
    assert abs(pushed[("ram", "brick0")]) == pytest.approx(30.0 + G, rel=1e-6)
    assert pushed[("brick0", "ground")] == pytest.approx(30.0 + 2.0 * G, rel=1e-6)
    assert np.abs(run.v[-1]).max() < 1e-7


def driven_walker() -> Mechanism:
    """The walker with position drives at its hips, which its limits and the drives' efforts end."""
    robot = walker()
    driven = {"drive": PositionDrive(kp=60.0, kd=2.0, limit=4.0), "limits": (Limits(-0.4, 0.5),)}
    joints = (replace(joint, **driven) if joint.name[:3] == "hip" else joint for joint in robot.joints)
    return replace(robot, joints=tuple(joints))


@pytest.mark.parametrize("make", [walker, driven_walker])
def test_steps_by_one_and_many_at_a_time_have_equal_bits(make):
    """So have rows of a batch: robots and bodies are moved by one code, however many steps a call makes."""
    q = np.array([*CASES["walker"][1], *upright((0.05, 0.0, 0.75), (2.0, 0.0, 0.06), (2.0, 0.0, 0.2))])
    v = np.array([*CASES["walker"][2], *np.zeros(18)])
    check_steps_by_one_and_many(simulation(beside(make(), *BRICKS), Contact()), q, v)


def check_steps_by_one_and_many(sim: MechanismSimulation, q: np.ndarray, v: np.ndarray) -> None:
    """The same bits from 300 steps one by one, at once, and as a row of a batch, whose other row starts more slowly."""
    by_one = many = sim.start(q, v)
    for _ in range(300):
        by_one = sim.step(by_one)
    many = sim.step(many, count=300)
    batch = sim.batch(np.stack([q, q]), np.stack([0.9 * v, v]))
    batch.step(100)
    batch.step(200)
    record = sim.batch(np.stack([q]), np.stack([v])).record(3, 100)
    assert np.linalg.norm(many.v) > 1e-3  # it moves
    for found in (by_one, batch.q[1], record["q"][0, -1]):
        assert np.array_equal(found if isinstance(found, np.ndarray) else found.q, many.q)
    assert np.array_equal(by_one.v, many.v)
    assert by_one.work == many.work == batch.work[1]
    assert not np.array_equal(batch.q[0], batch.q[1])


def test_a_row_of_a_batch_starts_anew_where_it_is_reset():
    sim = simulation(beside(driven_walker(), *BRICKS), Contact())
    q = np.array([*CASES["walker"][1], *upright((0.05, 0.0, 0.75), (2.0, 0.0, 0.06), (2.0, 0.0, 0.2))])
    v = np.array([*CASES["walker"][2], *np.zeros(18)])
    batch = sim.batch(np.stack([q, q]), np.stack([v, v]))
    batch.step(200)
    first = batch.q[0].copy()
    batch.reset([0], q, v)
    batch.step(200)
    assert np.array_equal(batch.q[0], first)
    assert not np.array_equal(batch.q[1], first)
    assert batch.time.tolist() == pytest.approx([0.2, 0.4])


def test_scenes_side_by_side_need_functions_that_can_be_compiled():
    counted = [0.0]

    def counts(t, q, v):
        counted[0] += 1.0
        return [counted[0]] * 26

    sim = simulation(beside(walker(), *BRICKS), Contact(), controller=counts)
    with pytest.raises(InputError, match=r"functions that can be compiled.*the controller: called once per step.*sample_time"):
        sim.batch(2)


def test_machine_code_and_python_step_robots_alike():
    q = np.array([*CASES["walker"][1], *upright((0.05, 0.0, 0.75), (2.0, 0.0, 0.06), (2.0, 0.0, 0.2))])
    v = np.array([*CASES["walker"][2], *np.zeros(18)])
    q[6] = 0.335  # its feet are on the floor
    check_python_steps(simulation(beside(driven_walker(), *BRICKS), Contact()), q, v)


def check_python_steps(sim: MechanismSimulation, q: np.ndarray, v: np.ndarray) -> None:
    """The procedures of a scene as written step it as their machine code does, and something touches."""
    stepper = sim.compiled.stepper(sim.actuation, H, q, v)
    stepper.run({}, 1, 1)
    ends = []
    for make in (advance_scene, advance_scene.plain):
        scene, state = copy.deepcopy(stepper.scene), stepper.look()
        own, work, bodies = scene.bodies.robots.motions, np.zeros(1), len(scene.bodies.mass)
        rows = np.zeros((bodies, 7)), np.zeros((bodies, 6))
        sim.compiled.model.places.take(state["q"], state["v"], *rows, own)
        assert make(scene, *rows, work, 2, 1, log_of(bodies, 2, 200, (len(own.q), len(own.v)))) == DONE
        assert scene.counts[0] > 0  # something pushes
        ends.append(np.concatenate([own.q, own.v, rows[0].ravel(), work]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-9
