"""Parameters of a simulation: gains, surfaces, states that keep them, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.control import computed_torque, gravity_compensation, pd, total, undriven
from kumitate.errors import InputError
from kumitate.scalar import evaluate
from kumitate.simulate.parameters import MODEL_KINDS, Plant, Variation
from kumitate.simulate.stepping.equations import projection_program

ARM = km.load("planar_3r")
GOAL = np.array([0.3, -0.4, 0.5])


def ball(surface=None, model="rigid", **options):
    body = km.Body("ball", 1.0, inertia=(0.004,) * 3, collisions=(km.Geometry(km.Sphere(0.1)),))
    mechanism = km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),))
    contact = km.Contact(model, surface=surface or km.Surface(0.1), options=options.pop("contact", {}))
    q = [0.0, 0.0, 0.0999, 0.0, 0.0, 0.0, 1.0] if mechanism.q_names[0].endswith("x") else None
    return mechanism, contact, q


def laws(kp, kd):
    def mine(t, q, v, kp=kp, kd=kd):
        return kp * (GOAL - q) - kd * v

    return {
        "a function": mine,
        "pd": pd(ARM, GOAL, kp=kp, kd=kd),
        "computed torque": computed_torque(ARM, GOAL, kp=kp, kd=kd),
        "a sum": total(gravity_compensation(ARM), pd(ARM, GOAL, kp=kp, kd=kd)),
        "undriven": undriven(ARM, [ARM.mechanism.joints[0].name], pd(ARM, GOAL, kp=kp, kd=kd)),
    }


@pytest.mark.parametrize("law", laws(1.0, 1.0))
def test_a_gain_acts_as_a_controller_made_with_it(law):
    sim = km.Simulation(ARM, controller=laws(5.0, 1.0)[law], integrator="rk4", parameters=["gain:kp", "gain:kd"])
    batch = sim.batch(2, parameters={"gain:kp": [20.0, 30.0]})
    batch.step(50)
    for row, kp in enumerate((20.0, 30.0)):
        alone = km.Simulation(ARM, controller=laws(kp, 1.0)[law], integrator="rk4")
        np.testing.assert_allclose(batch.q[row], alone.step(alone.start(), 50).q, rtol=1e-12, atol=1e-13)
    assert batch.parameters["gain:kd"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_gain_of_a_drive_acts_as_the_drive_made_with_it_and_has_a_slope(integrator):
    names = [joint.name for joint in ARM.mechanism.joints]

    def driven(kp, kd):
        drives = [km.PositionDrive(kp=kp, kd=3.0, limit=40.0), km.PositionDrive(kp=9.0, kd=kd), km.VelocityDrive(kd=2.0)]
        return km.Robot(ARM.mechanism.with_drives(dict(zip(names, drives, strict=True))))

    given = {"integrator": integrator, "inputs": {"target": GOAL}, "step": 2e-3}
    sim = km.Simulation(driven(5.0, 1.0), parameters=[f"kp:{names[0]}", f"kd:{names[1]}"], **given)
    batch = sim.batch(2, parameters={f"kp:{names[0]}": [60.0, 20.0], f"kd:{names[1]}": [4.0, 0.5]})
    batch.step(30)
    slopes = sim.slopes(batch)
    for row, gains in enumerate(((60.0, 4.0), (20.0, 0.5))):
        alone = km.Simulation(driven(*gains), **given)
        state = alone.step(alone.start(), 30)
        np.testing.assert_allclose(batch.q[row], state.q, rtol=1e-11, atol=1e-12)
        for k, name in enumerate((f"kp:{names[0]}", f"kd:{names[1]}")):
            ends = []
            for change in (1e-3, -1e-3):
                moved = km.Simulation(driven(*(np.array(gains) + change * np.eye(2)[k])), **given)
                ends.append(moved.step(moved.start(batch.q[row], batch.v[row])).v)
            np.testing.assert_allclose(slopes.by(name)[row, 3:, 0], (ends[0] - ends[1]) / 2e-3, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("options", [{"traced": False}, {"sample_time": 0.004}], ids=["called", "sampled"])
def test_gains_and_masses_reach_functions_that_python_calls(options):
    body = ARM.mechanism.bodies[1].name
    sim = km.Simulation(ARM, controller=laws(5.0, 1.0)["a function"], parameters=["gain:kp", f"mass:{body}"], **options)
    state = sim.step(sim.start(parameters={"gain:kp": 20.0, f"mass:{body}": 3.0}), 40)
    heavier = replace(ARM.mechanism, bodies=tuple(replace(b, mass=3.0) if b.name == body else b for b in ARM.mechanism.bodies))
    alone = km.Simulation(km.Robot(heavier, start=ARM.start), controller=laws(20.0, 1.0)["a function"], **options)
    np.testing.assert_allclose(state.q, alone.step(alone.start(), 40).q, rtol=1e-11, atol=1e-12)


def test_loops_are_closed_by_the_masses_that_are_given():
    """A Newton step towards closed loops moves light bodies more."""
    robot, rng = km.load("four_bar"), np.random.default_rng(0)
    bodies = robot.mechanism.bodies
    heavier = replace(robot.mechanism, bodies=(replace(bodies[0], mass=9.0 * bodies[0].mass), *bodies[1:]))
    sim = km.Simulation(robot, parameters=[f"mass:{bodies[0].name}"])
    q, v = robot.start[0] + 1e-2 * rng.normal(size=robot.nq), rng.normal(size=robot.nv)
    forcing, state = sim.actuation.forcing, sim.start(parameters={f"mass:{bodies[0].name}": 9.0 * bodies[0].mass})
    row = state.carried["u"][forcing.layout.at("parameters")]
    given = evaluate(projection_program(robot.mechanism, parameters=forcing.parameters), [*q, *v, *row])
    np.testing.assert_allclose(given, evaluate(projection_program(heavier), [*q, *v]), rtol=1e-12)


def test_a_gain_of_several_numbers_keeps_those_that_are_not_named():
    own = np.array([1.0, 2.0, 3.0])
    second = ARM.mechanism.joints[1].name
    sim = km.Simulation(ARM, controller=pd(ARM, GOAL, kp=own, kd=1.0), parameters=["gain:kp", "gravity"])
    assert np.isnan(sim.start().parameters["gain:kp"])  # one name for three different numbers
    by_joint = km.Simulation(ARM, controller=pd(ARM, GOAL, kp=own, kd=1.0), parameters=[f"gain:kp:{second}", "gravity"])
    named = {f"gain:kp:{second}": 7.0, "gravity": 9.0}
    for one, given, kp in ((sim, {"gravity": 9.0}, own), (by_joint, named, [1.0, 7.0, 3.0])):
        state = one.step(one.start(parameters=given), 30)
        direction = np.array(ARM.mechanism.gravity) / np.linalg.norm(ARM.mechanism.gravity)
        made = replace(ARM.mechanism, gravity=tuple(9.0 * direction))
        alone = km.Simulation(km.Robot(made, start=ARM.start), controller=pd(ARM, GOAL, kp=np.array(kp), kd=1.0))
        np.testing.assert_allclose(state.q, alone.step(alone.start(), 30).q, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("model", ["rigid", "multipoint", "penalty"])
def test_surfaces_act_as_contact_made_with_them(model):
    options = {"contact": {"stiffness": 1e4, "damping": 20.0}} if model == "penalty" else {}
    mechanism, contact, _ = ball(model=model, **options)
    q = np.array(km.Robot(mechanism).start[0])
    q[[name.endswith("z") and "q" not in name.rpartition(".")[2] for name in mechanism.q_names].index(True)] = 0.15
    v = np.zeros(6)
    v[list(mechanism.v_names).index(next(n for n in mechanism.v_names if n.endswith("vx")))] = 1.0
    names = ["friction:floor", "restitution:floor", "mass:ball", "gravity"]
    settings = {"integrator": "rk4" if model == "penalty" else "auto", "outputs": ["energy", "a"]}
    sim = km.Simulation(mechanism, contact=contact, parameters=names, **settings)
    given = {"friction:floor": [0.05, 0.8], "restitution:floor": [0.0, 0.6], "mass:ball": [0.5, 3.0], "gravity": [9.0, 5.0]}
    batch = sim.batch(np.tile(q, (2, 1)), np.tile(v, (2, 1)), parameters=given)
    batch.step(250)
    for row in range(2):
        mine = {name: values[row] for name, values in given.items()}
        body = replace(mechanism.bodies[0], mass=mine["mass:ball"])
        made = replace(mechanism, bodies=(body,), gravity=(0.0, 0.0, -mine["gravity"]))
        surface = km.Surface(mine["friction:floor"], restitution=mine["restitution:floor"])
        alone = km.Simulation(made, contact=replace(contact, surface=surface), **settings)
        expected = alone.step(alone.start(q, v), 250)
        np.testing.assert_allclose(batch.v[row], expected.v, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(batch.work[row], expected.work, rtol=1e-7, atol=1e-7)
        for name, value in expected.outputs.items():
            np.testing.assert_allclose(batch.outputs[name][row], value, rtol=1e-6, atol=1e-6, err_msg=name)
    run, expected = sim.run(q, v, duration=0.25, parameters=mine), alone.run(q, v, duration=0.25)
    np.testing.assert_allclose(run.contact.force, expected.contact.force, rtol=1e-5, atol=1e-5)
    assert run.contact.work.sum() == pytest.approx(expected.contact.work.sum(), rel=1e-6)
    assert run.audit.energy_drift == pytest.approx(expected.audit.energy_drift, abs=1e-6)
    assert run.settings["contact"]["surface"]["friction"] == 0.8


def test_a_row_has_the_same_bits_alone_and_among_others():
    names = ["mass:*", "moment:*", "center_of_mass:*", "damping:*"]
    sim = km.Simulation(ARM, integrator="rk4", parameters=names, outputs=["energy"])
    mass, center = np.random.default_rng(3).uniform(0.5, 2.0, (2, 37, len(ARM.mechanism.bodies)))
    given = {"mass:*": mass, "center_of_mass:*": 0.1 * np.repeat(center, 3, axis=1)}
    batch = sim.batch(37, parameters=given)
    batch.step(20)
    for row in (0, 19, 36):
        alone = sim.batch(1, parameters={name: values[row : row + 1] for name, values in given.items()})
        alone.step(20)
        np.testing.assert_array_equal(alone.q[0], batch.q[row])
        np.testing.assert_array_equal(alone.outputs["energy.potential"][0], batch.outputs["energy.potential"][row])


def test_functions_of_outputs_see_the_numbers_of_the_row():
    body = ARM.mechanism.bodies[2].name
    outputs = {"center": "center_of_mass", "height": lambda t, q, v, center: center[0] + 0.0 * q[0]}
    sim = km.Simulation(ARM, parameters=[f"mass:{body}"], outputs=outputs)
    state = sim.start(parameters={f"mass:{body}": 9.0})
    assert state.outputs["height"] == state.outputs["center"][0] != sim.start().outputs["height"]


def test_states_keep_their_parameters_and_outputs_follow(tmp_path):
    body = ARM.mechanism.bodies[2].name
    sim = km.Simulation(ARM, integrator="rk4", parameters=[f"mass:{body}", "damping:*"], outputs=["energy"])
    state = sim.step(sim.start(parameters={f"mass:{body}": 4.0}), 10, parameters={"damping:*": 0.5})
    assert (state.parameters[f"mass:{body}"], state.parameters["damping:*"].tolist()) == (4.0, [0.5] * 3)
    again = sim.restore(sim.save(state, tmp_path / "state.npz"))
    assert {name: values.tolist() for name, values in again.parameters.items()} == {
        name: values.tolist() for name, values in state.parameters.items()
    }
    assert again.outputs["energy.potential"] == state.outputs["energy.potential"]
    np.testing.assert_array_equal(sim.step(again, 5).q, sim.step(state, 5).q)
    assert sim.start().parameters[f"mass:{body}"] == ARM.mechanism.bodies[2].mass
    other = km.Simulation(ARM, integrator="rk4", parameters=["mass:*", "gravity"], outputs=["energy"])
    with pytest.raises(InputError, match=r"is a state of Simulation.*damping"):
        other.restore(tmp_path / "state.npz")
    batch = sim.batch(3)
    batch.set({f"mass:{body}": [1.0, 2.0]}, rows=[0, 2])
    batch.look()
    assert batch.parameters[f"mass:{body}"].tolist() == [1.0, ARM.mechanism.bodies[2].mass, 2.0]
    kept = batch.outputs["energy.potential"].copy()
    batch.step(3)
    batch.reset([0, 1, 2])
    batch.look()
    np.testing.assert_array_equal(batch.outputs["energy.potential"], kept)
    with pytest.raises(ValueError, match="read-only"):
        batch.parameters["damping:*"][:] = 1.0


def test_a_run_accounts_for_its_own_energy_and_gives_its_own_mechanism():
    body = ARM.mechanism.bodies[1].name
    sim = km.Simulation(ARM, integrator="rkf45", parameters=[f"mass:{body}", "gravity", "damping:*"])
    run = sim.run(duration=0.3, parameters={f"mass:{body}": 7.0, "gravity": 3.0, "damping:*": 0.2})
    assert run.audit.energy_drift < 1e-8 * np.ptp(run.energy.kinetic)
    assert run.mechanism.body(body).mass == 7.0
    assert np.linalg.norm(run.mechanism.gravity) == pytest.approx(3.0)
    assert run.settings["parameters"][f"mass:{body}"] == 7.0
    potential = [km.Robot(run.mechanism).energy(q, v)[1] for q, v in zip(run.q[::100], run.v[::100], strict=True)]
    np.testing.assert_allclose(run.energy.potential[::100], potential, rtol=1e-12)


BODY = ARM.mechanism.bodies[0].name
REFUSED = [
    (["mas:x"], {}, "there is no parameter 'mas:x', did you mean 'mass:x'"),
    ([f"mass:{BODY}x"], {}, f"did you mean 'mass:{BODY}'"),
    (["mass:*", f"mass:{BODY}"], {}, "twice"),
    (["gain:kp"], {}, "gain has nothing to vary here"),
    (["mass:*"], {f"mass:{BODY}": -1.0}, "is -1.0 in row 0; it must be zero, or from"),
    (["mass:*"], {"damping:*": 1.0}, "is not a parameter of this simulation"),
    (["friction:*"], {"friction:*": -0.1}, "it must be zero or more"),
    (["mass:*"], {"mass:*": [1.0, 2.0, 3.0]}, "have shape"),
    (["mass:*"], {"mass:*": "heavy"}, "give a number"),
    ([f"moment:{BODY}.*"], {f"moment:{BODY}.xx": 1.0, f"moment:{BODY}.yy": 1.0, f"moment:{BODY}.zz": 3.0}, "sum of the other"),
    ([f"moment:{BODY}.*"], {f"moment:{BODY}.xy": 1e3}, "none may be negative"),
    (["mass:*", "inertia:*"], {"mass:*": 0.0, "inertia:*": 0.0}, "moves only bodies without mass"),
]


@pytest.mark.parametrize(("names", "given", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_impossible_is_refused(names, given, message):
    with pytest.raises(InputError, match=message):
        Variation.of(Plant(ARM.mechanism), names).put(np.tile(Variation.of(Plant(ARM.mechanism), names).blank, (1, 1)), given)


def test_the_row_that_is_impossible_is_named_and_nothing_is_changed():
    batch = km.Simulation(ARM, parameters=["mass:*"]).batch(4)
    before = batch.efforts.copy()
    with pytest.raises(InputError, match=r"is nan in row 2"):
        batch.set({f"mass:{BODY}": [1.0, 1.0, np.nan, 1.0]})
    np.testing.assert_array_equal(batch.efforts, before)
    with pytest.raises(InputError, match="make the simulation with parameters="):
        km.Simulation(ARM).batch(2).set({"gravity": 1.0})


def test_one_value_is_of_one_unit():
    joints = (
        km.Joint("rail", "prismatic", "world", "cart"),
        km.Joint("hinge", "revolute", "cart", "pole", axis=(0.0, 1.0, 0.0)),
    )
    bodies = tuple(km.Body(name, 1.0, (0.0, 0.0, 0.3), (0.1, 0.1, 0.1)) for name in ("cart", "pole"))
    batch = km.Simulation(km.Mechanism("cart", bodies, joints), parameters=["damping:*"]).batch(3)
    with pytest.raises(InputError, match="which have the units N·m·s/rad, N·s/m; name them apart, or give one for each"):
        batch.set({"damping:*": 0.1})
    batch.set({"damping:*": np.full((3, 2), 0.1), "damping:rail": 0.2})
    assert batch.parameters["damping:*"].tolist() == [[0.2, 0.1]] * 3


def test_masses_are_refused_where_contact_follows_from_them():
    mechanism, contact, _ = ball(model="penalty")
    with pytest.raises(InputError, match="follow from the mass by default"):
        km.Simulation(mechanism, contact=contact, parameters=["mass:*"])


def test_every_kind_says_what_it_is():
    assert len({kind.name for kind in MODEL_KINDS}) == len(MODEL_KINDS) == 13
    assert all(kind.meaning for kind in MODEL_KINDS)
