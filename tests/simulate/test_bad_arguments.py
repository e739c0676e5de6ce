"""The arguments of simulations and contacts are checked before anything is computed: the value, the rule, what to do."""

import math

import numpy as np
import pytest

import kumitate as km
from kumitate import control
from kumitate.contact.models import Penalty
from kumitate.errors import InputError

BALL = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(km.Geometry(km.Sphere(0.1)),))
CAP = km.Body("cap", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(km.Geometry(km.Sphere(0.1)),))
BARE = km.Body("bare", 1.0, inertia=(0.1, 0.1, 0.1))
BALLS = km.Mechanism(
    "balls",
    (BALL, CAP, BARE),
    (
        km.Joint("free", "floating", "world", "ball"),
        km.Joint("mount", "fixed", "ball", "cap"),
        km.Joint("apart", "floating", "world", "bare"),
    ),
)


ARM, STILL = km.load("planar_3r"), [0.0, 0.0, 0.0]


def simulate(**options):
    return lambda: km.simulate(km.load("pendulum"), **{"duration": 0.01, **options})


def batch(**options):
    return lambda: km.simulate_batch(km.load("pendulum"), **{"q": [[0.1], [0.2]], "duration": 0.01, **options})


def stepped(what):
    return lambda: what(km.Simulation(km.load("pendulum")))


def touching(**options):
    return lambda: km.simulate(BALLS, duration=0.01, contact=km.Contact(**options))


# fmt: off
REFUSED = [
    ("step as text", simulate(step="1e-3"), "step is '1e-3', which is not a real number"),
    ("step complex", simulate(step=1e-3 + 0j), "step is (0.001+0j), which is not a real number"),
    ("the name of a robot", lambda: km.simulate("pendulum", duration=0.1), "'pendulum' is not a robot; give what kumitate"),
    ("runs of a name", lambda: km.simulate_batch("pendulum", [[0.1]], duration=0.1), "'pendulum' is not a robot"),
    ("a simulation of nothing", lambda: km.Simulation(None), "None is not a robot"),
    ("nothing to load", lambda: km.load(None), "None cannot be loaded; give the path of a file"),
    ("a push that ends before", lambda: control.half_sine(0.3, 0.1), "it must end after its start"),
    ("inputs in a list", simulate(inputs=[1.0]), "inputs is [1.0]; it must be a dictionary by name"),
    ("targets without drives", simulate(inputs={"target": {"hinge": 1.0}}), "'target' is for drives, and no joint has one"),
    ("steps below zero", stepped(lambda sim: sim.step(sim.start(), -1)), "the number of steps is -1; it must be a whole"),
    ("half a step", stepped(lambda sim: sim.step(sim.start(), 1.5)), "the number of steps is 1.5; it must be a whole number"),
    ("efforts nan", stepped(lambda sim: sim.step(sim.start(), tau=[math.nan])), "the controller as an input is [nan]; it must"),
    ("q too short", lambda: km.simulate(BALLS, [0.0], duration=0.01), "it must have 14 components: free.qx, free.qy"),
    ("v too short", lambda: km.simulate(BALLS, v=[0.0], duration=0.01), "it must have 12 components: free.wx, free.wy"),
    ("q nan", lambda: km.simulate(BALLS, [0, 0, math.nan, *[1.0] * 11], duration=0.01), "q is nan for 'free.qz'"),
    ("no states", stepped(lambda sim: sim.batch(0)), "the number of states is 0; it must be a whole number, 1 or more"),
    ("states below zero", stepped(lambda sim: sim.batch(-1)), "the number of states is -1; it must be a whole number"),
    ("steps of rows below zero", stepped(lambda sim: sim.batch(2).step(-1)), "the number of steps is -1"),
    ("no records", stepped(lambda sim: sim.batch(2).record(0)), "the number of records is 0; it must be a whole number, 1"),
    ("rows unknown", stepped(lambda sim: sim.batch(2).reset([2])), "rows is [2]; there are rows 0 to 1"),
    ("step denormal", simulate(step=1e-320), "step is 1e-320"),
    ("duration as text", simulate(duration="1"), "duration is '1', which is not a real number"),
    ("duration none", simulate(duration=None), "duration is None"),
    ("tolerance as text", simulate(integrator="rkf45_adaptive", tolerance="1e-8"), "tolerance is '1e-8'"),
    ("tolerance nan, not used", simulate(tolerance=math.nan), "tolerance is nan"),
    ("sample time as text", simulate(sample_time="0.01"), "sample_time is '0.01'"),
    ("sample time negative", simulate(sample_time=-0.1), "sample_time is -0.1"),
    ("baumgarte as text", simulate(baumgarte="10"), "baumgarte is '10'"),
    ("baumgarte nan", simulate(baumgarte=math.nan), "baumgarte is nan"),
    ("stabilisation unknown", simulate(stabilisation="loose"), "stabilisation is 'loose'; it must be one of lagged, strict"),
    ("stabilisation and a rate", simulate(stabilisation="strict", baumgarte=1.0), "leave one out"),
    ("integrator a list", simulate(integrator=["rk4"]), "there is no integrator ['rk4']"),
    ("held method without points", simulate(held_method="x"), "there is no held_method 'x'; there are rows"),
    ("held points", simulate(held=["link"]), "'link', which is not a held point"),
    ("wrenches in a list", simulate(wrenches=[1.0]), "wrenches is [1.0]; it must be a dictionary by name"),
    ("drives as a number", simulate(loop_tau=3.0), "loop_tau is 3.0; it must be a dictionary by name"),
    ("q as texts", simulate(q=["0.1"]), "q is ['0.1']; give 1 real numbers"),
    ("q complex", simulate(q=np.array([0.1 + 1j])), "q is array([0.1+1.j]); give 1 real numbers"),
    ("q masked", simulate(q=np.ma.array([0.1], mask=True)), "give 1 real numbers"),
    ("q of too many digits", simulate(q=[10**400]), "give 1 real numbers"),
    ("contact a number", simulate(contact=3), "contact is 3; give a kumitate.Contact"),
    ("states of all runs as texts", batch(q=[["0.1"]]), "q is [['0.1']]; give rows of 1 real numbers"),
    ("states of all runs complex", batch(v=np.ones((2, 1), complex)), "give rows of 1 real numbers"),
    ("every half a step", batch(every=2.5), "every is 2.5; it must be a whole number, 1 or more"),
    ("every as text", batch(every="2"), "every is '2'; it must be a whole number, 1 or more"),
    ("every zero", batch(every=0), "every is 0; it must be a whole number, 1 or more"),
    # --- contact ------------------------------------------------------------------------------------------------------------
    ("model unknown", touching(model="hard"), "there is no contact model 'hard'; there are rigid"),
    ("model a list", touching(model=["rigid"]), "there is no contact model ['rigid']"),
    ("option unknown", touching(options={"stifness": 1e4}), "rigid contact has no option 'stifness'; it has only 'sleeping'"),
    ("option of another", touching(model="multipoint", options={"damping": 1.0}), "multipoint contact has no option 'damping'"),
    ("option misspelt", touching(model="penalty", options={"stifness": 1e4}), "penalty contact has no option 'stifness'"),
    ("option as text", touching(model="penalty", options={"stiffness": "1"}), "stiffness is '1', which is not a real number"),
    ("option nan", touching(model="penalty", options={"exponent": math.nan}), "exponent is nan"),
    ("option far", touching(model="penalty", options={"exponent": 1e300}), "exponent is 1e+300"),
    ("options in a list", touching(options=["stiffness"]), "options has ['stiffness']; it must hold a dictionary of numbers"),
    ("with itself", touching(between=[("ball", "ball")]), "between has ('ball', 'ball'); it must hold pairs of two different"),
    ("twice", touching(between=[("a", "b"), ("b", "a")]), "between has ('b', 'a'); it must hold pairs of bodies, each"),
    ("pairs as text", touching(between="ab"), "between has 'ab'; it must hold pairs of names"),
    ("three", touching(between=[("a", "b", "c")]), "between has ('a', 'b', 'c'); it must hold pairs of names"),
    ("unknown body", touching(between=[("ball", "bat")]), "contact names 'bat', which is not a body; those with shapes"),
    ("fixed to each other", touching(between=[("ball", "cap")]), "'ball' and 'cap', which are fixed to each other"),
    ("without a shape", touching(between=[("ball", "bare")]), "'bare' has no shape to touch with"),
    ("no shape on the ground", touching(between=[("bare", "ground")]), "'bare' has no shape to touch with"),
    ("ground no shape", touching(ground=[km.Plane()]), "ground has [Plane()]; it must hold shapes with their poses"),
    ("surface a number", touching(surface=0.5), "surface has 0.5; it must hold a kumitate.Surface"),
    ("surfaces of numbers", touching(surfaces={"ball": 0.5}), "surfaces has {'ball': 0.5}; it must hold a dictionary"),
    ("hull of half a vertex", touching(hull_vertices=4.5), "hull_vertices is 4.5; it must be a whole number, 4 or more"),
    ("hull of two", touching(hull_vertices=2), "hull_vertices is 2; it must be a whole number, 4 or more"),
    ("friction negative", lambda: km.Surface(friction=-0.1), "the friction is -0.1; it must be zero or more"),
    ("friction nan", lambda: km.Surface(friction=math.nan), "the friction is nan"),
    ("friction as text", lambda: km.Surface(friction="0.5"), "the friction is '0.5'"),
    ("friction none", lambda: km.Surface(friction=None), "the friction is None"),
    ("kinetic above", lambda: km.Surface(friction=0.1, kinetic_friction=0.2), "the kinetic friction 0.2 and the static"),
    ("kinetic nan", lambda: km.Surface(kinetic_friction=math.nan), "the kinetic friction is nan"),
    ("restitution above", lambda: km.Surface(restitution=1.1), "the restitution is 1.1; it must be between 0 and 1"),
    ("restitution below", lambda: km.Surface(restitution=-0.1), "the restitution is -0.1"),
    ("restitution nan", lambda: km.Surface(restitution=math.nan), "the restitution is nan"),
    ("penalty exponent as text", lambda: Penalty.of({"exponent": "1"}, 1.0), "exponent is '1'"),
    # --- held points --------------------------------------------------------------------------------------------------------
    ("normal zero", lambda: km.PlaneSurface(normal=(0, 0, 0)), "the normal (0, 0, 0) has no direction"),
    ("normal nan", lambda: km.PlaneSurface(normal=(0, math.nan, 1)), "the normal is (0.0, nan, 1.0)"),
    ("through two", lambda: km.PlaneSurface(through=(0, 0)), "the point 'through' [m] is (0, 0) (2 values)"),
    ("radius zero", lambda: km.SphereSurface(0.0), "the radius [m] is 0.0"),
    ("radius as text", lambda: km.CylinderSurface("1"), "the radius [m] is '1'"),
    ("center infinite", lambda: km.SphereSurface(1.0, (math.inf, 0, 0)), "the point 'center' [m] is (inf, 0.0, 0.0)"),
    ("axis as text", lambda: km.CylinderSurface(1.0, axis="z"), "the axis is 'z'"),
    # --- controllers --------------------------------------------------------------------------------------------------------
    ("gain nan", lambda: control.pd(ARM, STILL, kp=math.nan, kd=1.0), "planar_3r: nan is given for kp"),
    ("gain as text", lambda: control.pd(ARM, STILL, kp=1.0, kd="1"), "planar_3r: '1' is given for kd; it must be real"),
    ("gain of two", lambda: control.pd(ARM, STILL, kp=[1.0, 2.0], kd=1.0), "an array of shape (2,) is given for kp; it must"),
    ("reference nan", lambda: control.pd(ARM, [math.nan, 0, 0], kp=1.0, kd=1.0), "nan is given for the reference"),
    ("reference as texts", lambda: control.pd(ARM, ["a", 0, 0], kp=1.0, kd=1.0), "['a', 0, 0] is given for the reference"),
    ("limit of two", lambda: control.limited(ARM, None, limits=[1.0, 2.0]), "shape (2,) is given for the limit of effort"),
    ("limit as text", lambda: control.limited(ARM, None, limits="1"), "'1' is given for the limit of effort"),
    ("stop nan", lambda: control.joint_stops(ARM, stiffness=math.nan), "nan is given for the stiffness of joint stops"),
    ("stop negative", lambda: control.joint_stops(ARM, stiffness=-1.0), "-1.0 is given for the stiffness of joint stops"),
    ("stop that drives", lambda: control.joint_stops(ARM, stiffness=1.0, damping=-1.0), "-1.0 is given for the damping"),
    ("stop of no width", lambda: control.joint_stops(ARM, stiffness=1.0, width=0.0), "the width of joint stops is 0.0"),
    ("period as text", lambda: control.Sampled(None, "0.1"), "the period [s] is '0.1'"),
    ("period nan", lambda: control.Noisy(None, period=math.nan, seed=1), "the period [s] is nan"),
    ("delay as text", lambda: control.Delayed(None, sensing="1"), "the delay sensing [s] is '1'"),
    ("delay negative", lambda: control.Delayed(None, acting=-1.0), "the delay acting [s] is -1.0"),
    ("noise nan", lambda: control.Noisy(None, q=math.nan, period=0.1, seed=1), "nan is given for the deviation of q"),
    ("noise negative", lambda: control.Noisy(None, v=-1.0, period=0.1, seed=1), "-1.0 is given for the deviation of v"),
    ("seed as text", lambda: control.Noisy(None, period=0.1, seed="x"), "the seed is 'x'; it must be a whole number"),
    ("times as texts", lambda: control.Spline(["a", "b"], [0, 1]), "['a', 'b'] is given for the times; it must be real"),
    ("way-points nan", lambda: control.Spline([0, 1], [0, math.nan]), "nan is given for the way-points"),
    ("goal infinite", lambda: control.Trapezoid(0.0, math.inf, velocity=1.0, acceleration=1.0), "inf is given for the goal"),
    ("velocity as text", lambda: control.Trapezoid(0.0, 1.0, velocity="1", acceleration=1.0), "'1' is given for the limit"),
    # --- functions of a robot -----------------------------------------------------------------------------------------------
    ("assembly nan", lambda: km.load("four_bar").assemble([math.nan, 0, 0]), "q is nan for 'pivot0'; it must be finite"),
    ("assembly of two", lambda: ARM.assemble([0, 0]), "q has shape (2,); it must have 3 components"),
    ("assembly speed", lambda: ARM.assemble(STILL, ["a", 0, 0]), "v is ['a', 0, 0]; give 3 real numbers"),
    ("report nan", lambda: km.load("four_bar").constraint_report([math.nan, 0, 0]), "q is nan for 'pivot0'"),
    ("rest of two", lambda: ARM.static_equilibrium([0, 0]), "q has shape (2,)"),
    ("dynamics of texts", lambda: ARM.forward_dynamics(["0", "0", "0"], STILL, STILL), "q is ['0', '0', '0']"),
    ("slopes of texts", lambda: km.linearize(ARM, STILL, v=["a", 0, 0]), "v is ('a', 0, 0)"),
    ("slopes complex", lambda: km.linearize(ARM, STILL, tau=np.array([1j, 0, 0])), "1j"),
    ("points nan", lambda: ARM.reach(STILL, "link1", [[math.nan, 0, 0]], [0, 0, 1]), "nan is given for the points of 'link1'"),
    ("ground at a text", lambda: ARM.zmp(STILL, STILL, STILL, height="a"), "'a' is given for the height [m]"),
    ("ground nan", lambda: km.on_ground(BALLS, [0, 0, 0, 1, 0, 0, 1] * 2, height=math.nan), "the height [m] is nan"),
    ("lifted texts", lambda: km.on_ground(BALLS, ["a"]), "['a'] is given for q; it must be real numbers"),
    ("pictures a second", lambda: km.simulate(ARM, duration=0.0).page("x.html", fps=math.nan), "fps is nan"),
    ("no pictures", lambda: km.simulate(ARM, duration=0.0).snapshots("x.png", count=0), "count is 0; it must be a whole"),
]
# fmt: on


@pytest.mark.parametrize(("call", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_an_argument_that_cannot_be_is_refused(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("call", [simulate(duration=1e12, step=1e-3), batch(duration=1e12, step=1e-3)])
def test_more_steps_than_memory_holds_are_refused_before_they_are_allocated(call):
    with pytest.raises(
        InputError, match=r"pendulum: [12]e\+15 recorded states would take .* GB of memory, and this machine has"
    ):
        call()


def test_counts_may_be_written_as_whole_floats():
    runs, same = (batch(every=every)() for every in (2.0, 2))
    assert np.array_equal(runs.q, same.q)


def test_the_order_of_a_pair_does_not_matter_and_a_generator_will_do():
    pairs = (("b", "a") for _ in range(1))
    assert km.Contact(between=pairs).between == (("b", "a"),)


def test_counts_and_rows_that_are_possible():
    """Whole numbers of any type, no steps, no rows, rows from the end; targets that a controller reads without any drive."""
    simulation = km.Simulation(km.load("pendulum"), inputs={"target": [0.2]}, controller=lambda t, q, v, target: target - q)
    start = simulation.start([0.1])
    assert simulation.step(start, 0).q == start.q
    assert simulation.step(start, np.int64(2)).time == 2e-3
    rows = simulation.batch([[0.1], [0.1]])
    rows.step(2)
    rows.reset([])
    rows.reset([-1], [0.3])
    assert rows.q[0] == simulation.step(start, 2.0).q
    assert rows.q[1] == 0.3


def test_coordinates_that_are_given_start_at_rest():
    """In one run as in a simulation's and a batch's, though the sample's own start moves."""
    rod = km.load("free_rod")
    q, v = rod.start
    assert np.abs(v).max() > 0.5
    assert not km.simulate(rod, q, duration=0.01).v[0].any()
    assert not km.Simulation(rod).run(q, duration=0.01).v[0].any()
    np.testing.assert_array_equal(km.simulate(rod, duration=0.01).v[0], v)
    np.testing.assert_array_equal(km.simulate(rod, None, 2.0 * v, duration=0.01).v[0], 2.0 * v)


def test_one_name_is_a_list_of_one(tmp_path):
    """Of outputs and of joints to lock; `on_ground` takes a robot as well as its mechanism, and pages are HTML."""
    robot = km.load("pendulum")
    simulation = km.Simulation(robot, outputs="energy")
    assert set(simulation.start().outputs) == {"energy.kinetic", "energy.potential"}
    assert robot.locked("hinge").nv == 0
    ball = km.load(km.Mechanism("ball", (BALL,), BALLS.joints[:1]))
    assert km.on_ground(ball, ball.start[0])[6] == pytest.approx(0.1)
    with pytest.raises(InputError, match="a page is a file that browsers open"):
        simulation.run(duration=0.01).page(tmp_path / "page.png")


def test_rows_of_any_layout_make_a_batch():
    """Coordinates alone, whose velocities are zero, and numbers that lie in memory column by column."""
    simulation = km.Simulation(ARM)
    q = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    alone, columns = simulation.batch(q), simulation.batch(np.asfortranarray(q), np.zeros((2, 3)))
    for rows in (alone, columns):
        rows.step(10)
    np.testing.assert_array_equal(alone.q, columns.q)
    np.testing.assert_array_equal(alone.q[1], simulation.step(simulation.start(q[1]), 10).q)
