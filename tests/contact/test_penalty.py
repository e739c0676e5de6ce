"""Penalty contact: the law of a point, its forces on links by a second route, and what it does in runs."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.contact.forces import ContactForces
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.models.penalty import Penalty
from kumitate.contact.parting import PARTING, SHRINKS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.dynamics import Acting, aba_with_loops
from kumitate.errors import InputError, KumitateWarning
from kumitate.kinematics import link_poses, neutral, place_pose
from kumitate.model import KINDS, Body, Box, Geometry, Hull, Joint, Loop, Mechanism, Plane, Sphere
from kumitate.model.samples import planar_chain
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.run import simulate
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.simulate.stepping.equations import dynamics_program
from kumitate.spatial import Force, Vector3, pose

SOLID = Surface(0.5)
UP = Vector3(0.0, 0.0, 1.0)


def ball(radius=0.1, mass=1.0, name="ball"):
    inertia = 0.4 * mass * radius**2
    return Body(name, mass, inertia=(inertia,) * 3, collisions=(Geometry(Sphere(radius)),))


def free(*bodies, **options):
    joints = tuple(Joint(f"free_{body.name}", KINDS["floating"], "world", body.name) for body in bodies)
    return Mechanism("free", bodies, joints, **options)


def placed(*positions):
    return [x for position in positions for x in (0.0, 0.0, 0.0, 1.0, *position)]


# --- the law of a point -------------------------------------------------------------------------------------------------------
def test_force_of_a_point():
    point = Penalty(1e4, 100.0, friction_sharpness=1e6)
    assert tuple(point.force(1e-9, UP, Vector3(1.0, 0.0, -1.0), SOLID)) == (0.0, 0.0, 0.0)
    slides = tuple(point.force(-1e-3, UP, Vector3(3.0, -4.0, -1.0), SOLID))  # 10 N + 100 N, and half of that against the slip
    assert slides == pytest.approx((-33.0, 44.0, 110.0))
    slow = replace(point, friction_sharpness=1e3).force(-1e-3, UP, Vector3(1e-3, 0.0, 0.0), SOLID)
    assert slow.x == pytest.approx(-0.5 * 10.0 * math.tanh(0.5))  # 2 U_s − 1 (11.4)
    assert tuple(point.force(-1e-3, UP, Vector3(), SOLID)) == (0.0, 0.0, 10.0)


@pytest.mark.parametrize("pull", [0, 1])
def test_rounded_steps_become_steps(pull):
    """Where y and ẏ are not within a few 1/s of the step."""
    sharp, round_ = (Penalty(1e4, 100.0, pull=pull, sharpness=s) for s in (math.inf, 1e5))
    for gap in (-0.1, -1e-3, 1e-3, 5.0, 1e6):
        for rate in (-2.0, -1e-2, 1e-2, 2.0):
            assert round_.normal_force(gap, rate) == pytest.approx(sharp.normal_force(gap, rate), abs=1e-30)
    assert sharp.normal_force(-1e-3, 1.0) == (-90.0 if pull else 10.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": -5.0}, "stiffness is -5.0; it must be positive"),
        ({"stiffness": 0.0}, "stiffness is 0.0; it must be positive"),
        ({"damping": -1.0}, "damping is -1.0; it must be zero or more"),
        ({"damping": math.nan}, "damping is nan; it must be a number"),
        ({"pull": 2}, "pull is 2.0; it must be 1 .* or 0"),
        ({"sharpness": 0.0}, "sharpness is 0.0; it must be positive"),
        ({"friction_sharpness": math.inf}, "friction_sharpness is inf; it must be positive and finite"),
        ({"exponent": -1.0}, "exponent is -1.0; it must be positive"),
        ({"stifness": 1e4}, "no option 'stifness'; there are stiffness, damping"),
    ],
)
def test_options_out_of_range(options, words):
    with pytest.raises(InputError, match=words):
        simulate(free(ball()), placed((0, 0, 1)), duration=0.1, contact=Contact("penalty", options=options))


# --- forces on links ----------------------------------------------------------------------------------------------------------
def limbs(rng, *, gravity=(0.0, 0.0, -9.81)):
    """A body that floats, with two limbs; each is a box, that touches in corners."""
    size = (0.3, 0.2, 0.1)
    bodies = [
        Body(
            f"b{k}", rng.uniform(0.5, 2.0), rng.uniform(-0.05, 0.05, 3), rng.uniform(0.01, 0.012, 3),
            collisions=(Geometry(Box(size), pose(rng.uniform(-0.1, 0.1, 3), rng.uniform(-1, 1, 3))),),
        )
        for k in range(4)
    ]  # fmt: skip
    joints = [Joint("root", KINDS["floating"], "world", "b0")]
    for k, (kind, parent) in enumerate((("revolute", "b0"), ("spherical", "b1"), ("prismatic", "b0")), start=1):
        at = pose(rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 3))
        joints.append(Joint(f"j{k}", KINDS[kind], parent, f"b{k}", at, axis=rng.normal(size=3)))
    return Mechanism("limbs", tuple(bodies), tuple(joints), gravity=gravity)


@pytest.mark.parametrize("seed", range(2))
def test_forces_on_links_are_efforts_at_joints(seed):
    """v̇ with the forces on links is v̇ with the efforts Jᵀ f, whose J are columns in the world; the power is v·Jᵀ f."""
    rng = np.random.default_rng(seed)
    made = limbs(rng)
    tree = made.base_parameter_tree
    ground = (Geometry(Plane(), pose((0.0, 0.0, -0.1), (0.2, -0.1, 0.3))), Geometry(Box((1.0, 1.0, 0.2)), pose((0.3, 0, -0.2))))
    contact = Contact("penalty", ground=ground, surface=SOLID, between=[("b2", "b3")])
    forces = ContactForces.of(made, contact, Penalty(1e3, 10.0, pull=1))
    q = np.array(neutral(made.tree))
    q[4:7] = 0.02 * rng.normal(size=3)
    v = rng.normal(size=made.nv)
    found = forces.at(q.tolist(), v.tolist())
    assert sum(float(point.force.norm()) > 0.0 for point in found.points) >= 3
    jacobians = link_jacobians(tree, q.tolist())
    owners = [pair for pair in forces.pairs for _ in range(pair.capacity)]
    efforts = np.zeros(made.nv)
    for pair, point in zip(owners, found.points, strict=True):
        for index, force in zip(pair.links, (point.force, -point.force), strict=True):
            if index >= 0:
                arm = point.position - jacobians.origins[tree.links[index]]
                efforts += jacobians.efforts({index: Force(arm.cross(force), force)})
    tau = rng.normal(size=made.nv)
    kernel = Kernel(dynamics_program(Forcing(made, tau), implicit_damping=False, pressing=forces))
    acceleration, power = kernel(0.0, q, v, tau)
    wanted = aba_with_loops(tree, q.tolist(), v.tolist(), (tau + efforts).tolist(), Acting(made.gravity))
    assert np.allclose(acceleration, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert power == pytest.approx((tau + efforts) @ v, rel=1e-9, abs=1e-9)


def test_long_chains_are_pushed_where_they_touch():
    """A chain so long that it is a loop in the program: only the link that touches is pushed."""
    chain, touching = planar_chain(120), 60
    bodies = tuple(
        replace(body, collisions=(Geometry(Sphere(0.5)),)) if k == touching else body for k, body in enumerate(chain.bodies)
    )
    mechanism, name = replace(chain, bodies=bodies), bodies[touching].name
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-0.1, 0.1, mechanism.nq), rng.normal(size=mechanism.nv)
    tree = mechanism.base_parameter_tree
    origin = place_pose(tree, link_poses(tree, q.tolist()), tree.places[name]).translation
    contact = Contact("penalty", ground=(Geometry(Plane(), pose((0.0, 0.0, float(origin.z) - 0.4))),))
    forces = ContactForces.of(mechanism, contact, Penalty(1e3, 10.0))
    kernel = Kernel(dynamics_program(Forcing(mechanism), implicit_damping=False, pressing=forces))
    (point,) = forces.at(q.tolist(), v.tolist()).points
    assert point.force.norm() > 1.0
    wrench = [*(point.position - origin).cross(point.force), *point.force]
    pushed = Forcing(mechanism, wrenches={name: wrench})
    wanted = Kernel(dynamics_program(pushed, implicit_damping=False))(0.0, q, v, pushed(0.0, q, v))[0]
    assert np.allclose(kernel(0.0, q, v, np.zeros(mechanism.nv))[0], wanted, rtol=1e-7, atol=1e-7 * np.abs(wanted).max())


# --- runs ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_depth_at_rest(exponent):
    """(m g/k)^(1/n)."""
    options = {"stiffness": 9.81 / 2e-3**exponent, "damping": 60.0, "pull": 1, "exponent": exponent}
    result = simulate(free(ball()), placed((0, 0, 0.1)), duration=3.0, step=1e-2, contact=Contact("penalty", options=options))
    assert result.settings["integrator"] == "rkf45_adaptive"
    assert result.contact.gap[-1, 0] == pytest.approx(-2e-3, rel=1e-6)
    assert result.contact.normal_force[-1, 0] == pytest.approx(9.81, rel=1e-6)


def test_usual_options_sink_one_millimetre():
    result = simulate(free(ball(mass=30.0)), placed((0, 0, 0.11)), duration=1.0, step=1e-2, contact="penalty")
    assert result.contact.gap[-1, 0] == pytest.approx(-1e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("integrator", "step", "close"),
    [
        ("rk4", 1e-4, 1e-4), ("rkf45", 1e-4, 1e-4), ("semi_implicit_euler", 1e-5, 3e-3), ("extrapolated_euler", 1e-3, 1e-6),
        ("rkf45_adaptive", 1e-2, 1e-6),
    ],
)  # fmt: skip
def test_every_integrator_takes_it(integrator, step, close):
    """A ball that is thrown onto the floor and begins to roll, in one bounce; fixed steps miss the floor by h."""
    options = {"stiffness": 2e4, "damping": 20.0, "sharpness": 5e3, "friction_sharpness": 200.0}
    start = placed((0, 0, 0.12)), (0, 0, 0, 1.0, 0, -1.0)

    def thrown(**how):
        return simulate(free(ball()), *start, duration=0.1, contact=Contact("penalty", options=options), **how)

    exact = thrown(step=1e-2, integrator="rkf45_adaptive", tolerance=1e-12)
    result = thrown(step=step, integrator=integrator)
    assert exact.v[-1, 1] > 1.0  # it rolls
    assert exact.v[-1, 5] > 0.5  # and is thrown back
    assert np.abs(result.v[-1] - exact.v[-1]).max() < close
    assert result.audit.energy_drift < max(close, 1e-6)


def test_the_rounded_sign_creeps():
    """On an incline that static friction would hold: (2/s) artanh(tan θ/μ), the speed at which friction balances the weight."""
    angle, s = 0.2, 1e3
    gravity = (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))
    feet = Hull(tuple((x, y, -0.05) for x in (-0.2, 0.2) for y in (-0.2, 0.2)))
    box = Body("box", 2.0, inertia=(0.02,) * 3, collisions=(Geometry(feet),))
    contact = Contact("penalty", surface=SOLID, options={"friction_sharpness": s, "damping": 400.0})
    result = simulate(free(box, gravity=gravity), placed((0, 0, 0.0495)), duration=1.0, step=1e-2, contact=contact)
    assert result.v[-1, 3] == pytest.approx(2.0 / s * math.atanh(math.tan(angle) / 0.5), rel=1e-3)


def test_balls_in_space_keep_their_momentum():
    """Action and reaction at one place: linear and angular momentum stay, of unlike balls that meet off centre and rub."""
    pair = free(ball(0.1, 1.0, "small"), ball(0.2, 3.0, "large"), gravity=(0.0, 0.0, 0.0))
    contact = Contact("penalty", ground=(), surface=SOLID, options={"stiffness": 1e5, "damping": 30.0})
    v = [0, 0, 20.0, 2.0, 0, 0, 0, 0, 0, -1.0, 0, 0]
    result = simulate(pair, placed((-0.4, 0.15, 0.0), (0.0, 0.0, 0.05)), v, duration=0.3, step=1e-3, contact=contact)
    assert np.abs(result.momentum - result.momentum[0]).max() < 1e-9
    assert result.audit.energy_drift < 1e-6
    assert result.energy.total[-1] < result.energy.total[0] - 0.5
    assert result.contact.bodies == (("small", "large"),)
    assert np.allclose(result.contact.on("small"), -result.contact.on("large"))


def test_no_energy_is_gained():
    """Of a box that tumbles: what it has, and what the springs hold, falls all along without pull and with real steps."""
    box = Body("box", 1.0, inertia=(0.004, 0.006, 0.008), collisions=(Geometry(Box((0.3, 0.2, 0.1))),))
    options = {"stiffness": 1e4, "damping": 30.0}
    contact = Contact("penalty", surface=SOLID, options=options)
    v = [3.0, -2.0, 4.0, 0.5, 0.2, 0.0]
    result = simulate(free(box), placed((0, 0, 0.3)), v, duration=1.0, step=2e-3, contact=contact, tolerance=1e-9)
    held = 0.5 * options["stiffness"] * (np.minimum(result.contact.gap, 0.0) ** 2).sum(axis=1)
    assert result.contact.force.any(axis=2).sum(axis=0).min() > 0
    assert np.diff(result.energy.total + held).max() < 1e-6
    assert result.contact.work.sum() == pytest.approx(result.audit.work, abs=1e-8)


def test_contact_does_no_work_while_nothing_touches():
    """Of a pendulum: its energy is that of its bodies, not of the inertia that is left after some was moved to the world."""
    bob = replace(ball(), center_of_mass=(0.0, 0.0, -0.5))
    swing = Mechanism("swing", (bob,), (Joint("hinge", KINDS["revolute"], "world", "ball", pose((0.0, 0.0, 2.0)), (0, 1, 0)),))
    run = simulate(swing, [1.0], [0.0], duration=0.3, step=1e-3, integrator="rk4", contact=Contact("penalty"))
    assert np.abs(run.q[:, 0] - 1.0).max() > 0.1
    assert np.abs(run.contact.work).max() < 1e-9


def test_closed_loops_hit_the_floor():
    """A four-bar linkage whose middle rod falls onto a box: its loop stays closed, and the energy is accounted for."""
    rod = {"mass": 1.0, "center_of_mass": (0.5, 0.0, 0.0), "inertia": (1e-3, 1 / 12, 1 / 12)}
    middle = Geometry(Hull(((0.5, 0.0, 0.0),)))
    bodies = (Body("a", **rod), Body("b", **rod, collisions=(middle,)), Body("c", **rod))
    turn = {"kind": KINDS["revolute"], "axis": (0.0, 1.0, 0.0)}
    joints = (
        Joint("a", parent="world", child="a", **turn),
        Joint("b", parent="a", child="b", pose=pose((1.0, 0.0, 0.0)), **turn),
        Joint("c", parent="b", child="c", pose=pose((1.0, 0.0, 0.0)), **turn),
    )
    loop = Loop("d", KINDS["revolute"], "world", "c", pose((1.0, 0.0, 0.0)), pose((1.0, 0.0, 0.0)), axis=(0.0, 1.0, 0.0))
    linkage = Mechanism("linkage", bodies, joints, (loop,))
    ground = (Geometry(Plane(), pose((0.0, 0.0, 0.4))),)
    contact = Contact("penalty", ground=ground, options={"stiffness": 1e4, "damping": 50.0, "pull": 1})
    start = (-1.2, 1.2, math.pi - 1.2)  # up, across, and down
    result = simulate(linkage, start, duration=1.5, step=5e-3, contact=contact)
    assert (result.contact.normal_force > 0.0).any()
    assert result.contact.gap.min() < -1e-3
    assert max(gap.distance for gap in result.audit.loop_gaps) < 1e-12
    assert result.audit.energy_drift < 1e-6
    assert result.audit.work < -1.0


def test_called_controllers_see_the_same_floor():
    """Compiled steps and steps that call Python."""
    contact = Contact("penalty", options={"stiffness": 1e4, "damping": 20.0})

    def thrust(t, q, v):
        return [0.0 * v[0]] * 5 + [0.5 - 0.1 * v[5]]

    runs = [
        simulate(
            free(ball()), placed((0, 0, 0.11)), duration=0.2, step=1e-2, integrator="rkf45_adaptive", controller=thrust,
            contact=contact, traced=traced, tolerance=1e-10,
        )
        for traced in (True, False)
    ]  # fmt: skip
    assert runs[0].settings["forcing"] == "compiled"
    assert runs[1].settings["forcing"] == "called"
    assert np.abs(runs[0].v - runs[1].v).max() < 1e-6


def test_a_start_whose_springs_would_throw_bodies_up_causes_a_warning():
    """5 cm deep, the weight's depth being 1 mm: E/(m g) = (0.05 m)²/(2 · 1 mm) = 1.25 m."""
    told = (
        r"'ball' and 'ground' overlap at the start, by up to 0\.05 m; .* hold 12\.3 J there, .* 1\.25 m up\. "
        r".* at less than 0\.5 m/s"
    )
    with pytest.warns(KumitateWarning, match=told):
        run = simulate(free(ball()), placed((0.0, 0.0, 0.05)), duration=0.01, contact="penalty")
    assert any("overlap at the start" in note for note in run.audit.notes)


@pytest.mark.parametrize("options", [{}, {"pull": 1}, {"damping": 0.0}, {"stiffness": 1e6, "damping": 5.0}], ids=str)
def test_a_ball_that_starts_deep_leaves_below_the_speed_of_rigid_contact(options):
    """3 cm deep, where its springs would hold 4 to 450 J: it leaves at 0.2 to 0.42 m/s, and the work for that is reported."""
    with pytest.warns(KumitateWarning, match="push bodies apart at less than"):
        run = simulate(free(ball()), placed((0, 0, 0.07)), duration=0.3, contact=Contact("penalty", options=options))
    out = 0.03 / SHRINKS
    assert 0.03 / 0.5 < run.time[run.q[:, 6] > 0.098][0] < out + 0.05
    assert 0.99 * SHRINKS < run.v[:, 5].max() < 0.85 * PARTING
    assert run.audit.energy_drift < 1e-6
    assert run.audit.contact.gained >= (run.energy.total - run.energy.total[0]).max() - 1e-6
    np.testing.assert_allclose(run.contact.gap[:, 0], run.q[:, 6] - 0.1, rtol=0.0, atol=1e-12)  # gaps are those of the bodies


def test_a_tilted_box_that_starts_deep_is_not_thrown_up():
    turn = np.array([0.12, 0.05, 0.0, 1.0]) / np.linalg.norm([0.12, 0.05, 0.0, 1.0])
    box = Body("box", 1.0, inertia=(0.0033, 0.0045, 0.0055), collisions=(Geometry(Box((0.2, 0.16, 0.12))),))
    for traced in (True, False):
        with pytest.warns(KumitateWarning, match="overlap at the start"):
            run = simulate(free(box), [*turn, 0.0, 0.0, 0.03], duration=0.5, contact="penalty", traced=traced)
        assert run.v[:, 5].max() < PARTING
        assert 0.055 < run.q[:, 6].max() < 0.075


def test_the_law_is_unchanged_where_nothing_overlaps_at_the_start():
    """Also in a batch, and where a simulation is made for another start."""
    apart = MechanismSimulation(Setup(free(ball()), q=placed((0, 0, 0.11)), contact="penalty"))
    assert apart.actuation.forcing.overlaps is None
    assert apart.actuation.forcing.layout.size == 6
    deep = MechanismSimulation(Setup(free(ball()), q=placed((0, 0, 0.07)), contact="penalty", integrator="rk4"))
    assert deep.actuation.forcing.overlaps.depths(deep.start().q) == pytest.approx([0.03])
    batch = deep.batch(2)
    batch.step(50)
    with pytest.warns(KumitateWarning, match="overlap at the start"):
        run = deep.run(duration=0.05)
    np.testing.assert_allclose(batch.q, np.tile(run.q[-1], (2, 1)), rtol=0.0, atol=1e-14)


def test_a_start_at_rest_on_springs_causes_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error", KumitateWarning)
        simulate(free(ball()), placed((0.0, 0.0, 0.099)), duration=0.01, contact="penalty")
