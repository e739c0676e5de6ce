"""Hydraulic cylinders: closed forms of speed, stiffness, flow through the valve, and force; and their state in runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, ModelError
from kumitate.model import Command
from kumitate.model.mechanism import digest
from kumitate.model.read import from_json, to_json

A, B, STROKE, DEAD, BULK = 5e-3, 3.5e-3, 1.2, 4e-4, 1.3e9
MASS, MIDDLE = 800.0, 0.5


def cylinder(**options):
    return km.HydraulicCylinder(piston_area=A, rod_side_area=B, stroke=STROKE, dead_volume=DEAD, bulk_modulus=BULK, **options)


def sledge(drive, *, in_loop=False, **joint):
    """A mass on a level rail that a cylinder pushes: in its joint, or as a line from 3 m behind."""
    body = km.Body("mass", MASS, inertia=(10.0,) * 3)
    rail = km.Joint("rail", "prismatic", "world", "mass", axis=(1, 0, 0), drive=None if in_loop else drive, **joint)
    back = replace(drive, retracted=drive.retracted + 3.0)
    line = km.Loop("rail_line", km.Line(), "world", "mass", km.pose((-3.0, 0, 0)), drive=back)
    return km.Mechanism("sledge", (body,), (rail,), (line,) if in_loop else ())


def oil_spring(q):
    return BULK * (A**2 / (DEAD + A * q) + B**2 / (DEAD + B * (STROKE - q)))


# --- closed forms ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("in_loop", [False, True])
def test_a_constant_flow_gives_the_speed_flow_over_area(integrator, in_loop):
    flow = 2e-3
    machine = sledge(cylinder(), in_loop=in_loop, damping=2e4)
    options = {"step": 5e-4, "integrator": integrator, "inputs": {"target": flow}}
    run = km.simulate(machine, [0.1], duration=1.5, **options)
    assert run.v[-1, 0] == pytest.approx(flow / A, rel=1e-6)
    force = (run.loop_tau["rail_line"] if in_loop else run.tau)[-1, 0]
    assert force == pytest.approx(2e4 * flow / A, rel=1e-5)  # it balances the rail's damping
    name = "rail_line" if in_loop else "rail"
    pressures = (run.drive_states[f"{name}.{side}_pressure"] for side in ("piston", "rod"))
    assert force == pytest.approx(sum(area * p[-1] for area, p in zip((A, -B), pressures, strict=True)), rel=1e-12)


@pytest.mark.parametrize("in_loop", [False, True])
def test_a_mass_on_locked_oil_swings_at_the_frequency_of_its_two_springs(in_loop):
    """ω² = β (A²/V_A + B²/V_B)/m, for motions that are small beside the chambers."""
    omega = math.sqrt(oil_spring(MIDDLE) / MASS)
    period, speed = 2.0 * math.pi / omega, 1e-4
    machine = sledge(cylinder(), in_loop=in_loop)
    run = km.simulate(machine, [MIDDLE], [speed], duration=period, step=period / 400, integrator="rk4")
    expected = MIDDLE + speed / omega * np.sin(omega * run.time)
    np.testing.assert_allclose(run.q[:, 0], expected, rtol=0.0, atol=2e-4 * speed / omega)
    assert run.energy.kinetic[-1] == pytest.approx(run.energy.kinetic[0], rel=1e-4)


def test_implicit_steps_converge_to_the_same_swing_at_order_one():
    omega = math.sqrt(oil_spring(MIDDLE) / MASS)
    errors = []
    for count in (400, 800, 1600):
        period = 2.0 * math.pi / omega
        options = {"duration": period, "step": period / count, "integrator": "semi_implicit_euler"}
        run = km.simulate(sledge(cylinder()), [MIDDLE], [1e-4], **options)
        errors.append(abs(run.v[-1, 0] / 1e-4 - 1.0))
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)
    assert errors[1] / errors[2] == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("opening", [0.3, -0.8, 4.0])
def test_the_flow_through_the_valve_goes_with_the_root_of_the_pressure(opening):
    K, supply, tank, a, b = 2e-6, 2e7, 1e5, 6e6, 4e6
    valve = cylinder(valve=K, supply=supply, tank=tank, laminar=1.0)
    found = valve.state_law(MIDDLE, 0.0, Command(opening), (a, b))
    u = max(min(opening, 1.0), -1.0)
    into_a = K * u * math.sqrt(supply - a if u > 0 else a - tank)
    into_b = -K * u * math.sqrt(b - tank if u > 0 else supply - b)
    volumes = DEAD + A * MIDDLE, DEAD + B * (STROKE - MIDDLE)
    np.testing.assert_allclose(found.rates, [BULK * Q / V for Q, V in zip((into_a, into_b), volumes, strict=True)], rtol=1e-12)


def test_the_slopes_that_implicit_steps_use_are_those_of_the_rates():
    drive = cylinder(valve=2e-6, supply=2e7, tank=1e5, leak=1e-12)
    q, v, state, opening = 0.4, 0.2, np.array([6e6, 4e6]), Command(0.5)
    law = drive.state_law(q, v, opening, state)
    for k, step in enumerate(np.diag([10.0, 10.0])):
        ends = [drive.state_law(q, v, opening, state + sign * step) for sign in (1.0, -1.0)]
        slope = (np.array(ends[0].rates) - ends[1].rates) / 20.0
        np.testing.assert_allclose([row[k] for row in law.rates_by_state], slope, rtol=1e-6)
        assert (ends[0].effort - ends[1].effort) / 20.0 == pytest.approx(law.by_state[k])
    ends = [drive.state_law(q, v + sign * 1e-3, opening, state) for sign in (1.0, -1.0)]
    np.testing.assert_allclose(law.rates_by_velocity, (np.array(ends[0].rates) - ends[1].rates) / 2e-3, rtol=1e-9)


def test_at_steady_speed_valve_load_and_pressures_are_in_balance():
    """Q = K u √Δp on both sides and A p_A − B p_B = F: v = K u √((p_S − F/A)/(A² (1 + (B/A)³))), tank at zero."""
    K, u, supply, load = 4e-6, 0.4, 2e7, 3e4
    drive = cylinder(valve=K, supply=supply, laminar=10.0, piston_pressure=load / A)
    machine = replace(sledge(drive, damping=0.0), gravity=(-load / MASS, 0.0, 0.0))
    run = km.simulate(machine, [0.05], duration=1.5, step=1e-3, integrator="semi_implicit_euler", inputs={"target": u})
    ratio = B / A
    speed = K * u * math.sqrt((supply - load / A) / (1.0 + ratio**3)) / A
    assert run.v[-1, 0] == pytest.approx(speed, rel=1e-4)
    a, b = (run.drive_states[f"rail.{side}_pressure"][-1] for side in ("piston", "rod"))
    assert A * a - B * b == pytest.approx(load, rel=1e-3)
    assert K * u * math.sqrt(supply - a) == pytest.approx(A * speed, rel=1e-4)
    assert K * u * math.sqrt(b) == pytest.approx(B * speed, rel=1e-4)


def test_oil_that_leaks_past_the_piston_is_lost_on_one_side_and_gained_on_the_other():
    """A load on locked oil: the pressures recorded are the integrals of flow and motion over the volumes."""
    leak, load = 1e-11, 2e4
    drive = cylinder(leak=leak, piston_pressure=load / A)
    machine = replace(sledge(drive), gravity=(-load / MASS, 0.0, 0.0))
    run = km.simulate(machine, [0.9], duration=0.5, step=2e-4, integrator="rk4")
    a, b = (run.drive_states[f"rail.{side}_pressure"] for side in ("piston", "rod"))
    q, v = run.q[:, 0], run.v[:, 0]
    volumes = DEAD + A * q, DEAD + B * (STROKE - q)
    for V, area, p, sign in ((volumes[0], A, a, 1.0), (volumes[1], B, b, -1.0)):
        rate = BULK / V * (-sign * area * v - sign * leak * (a - b))
        moved = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(run.time))])
        np.testing.assert_allclose(p - p[0], moved, atol=1e-4 * load / A)
    assert v[-1] < 0.0


# --- steps, batches, files ------------------------------------------------------------------------------------------------
def test_stiff_oil_is_stable_at_long_steps():
    """A light mass on short oil columns: ω h = 9, and a valve far open at a small pressure difference."""
    drive = cylinder(valve=1e-4, supply=1e6)
    light = sledge(drive)
    light = replace(light, bodies=(replace(light.bodies[0], mass=5.0),))
    run = km.simulate(light, [0.02], duration=2.0, step=5e-3, integrator="semi_implicit_euler", inputs={"target": 0.01})
    assert math.sqrt(oil_spring(0.02) / 5.0) * 5e-3 > 5.0
    speeds = np.diff(run.v[100:200, 0])
    assert np.abs(speeds).max() < 1e-3
    assert 0.0 < run.v[-1, 0] < 1.0


def test_states_of_drives_continue_in_steps_batches_restarts_and_files(tmp_path):
    sim = km.Simulation(sledge(cylinder(valve=2e-6, supply=2e7)), integrator="semi_implicit_euler", inputs={"target": 0.5})
    run = sim.run([0.3], duration=0.2)
    pressure = run.drive_states["rail.piston_pressure"]
    assert pressure[0] == 0.0 < pressure[-1]
    state = sim.start([0.3])
    for count in (50, 150):
        sim.save(state := sim.step(state, count), tmp_path / "state.npz")
        state = sim.restore(tmp_path / "state.npz")
    np.testing.assert_array_equal(state.q, run.q[-1])
    assert state.carried["states"][0] == pressure[-1]
    batch = sim.batch(np.tile([0.3], (5, 1)))
    batch.step(200)
    np.testing.assert_allclose(batch.q, np.tile(run.q[-1], (5, 1)), rtol=0.0, atol=1e-14)
    batch.reset(q=[0.3])
    batch.step(200)
    np.testing.assert_allclose(batch.q, np.tile(run.q[-1], (5, 1)), rtol=0.0, atol=1e-14)
    again = km.open(run.save(tmp_path / "run.npz"))
    np.testing.assert_array_equal(again.drive_states["rail.piston_pressure"], pressure)
    assert again.outputs == {}


@pytest.mark.parametrize("integrator", ["rkf45_adaptive", "extrapolated_euler"])
def test_adaptive_steps_and_functions_called_from_python_see_the_same_pressures(integrator):
    machine, calls = sledge(cylinder(valve=2e-6, supply=2e7), damping=500.0), []

    def opening(t, q, v):
        calls.append(t)
        return [0.5 * np.sin(3.0 * t)]

    fine = km.simulate(
        machine, [0.3], duration=0.2, step=1e-4, integrator="rk4", inputs={"target": lambda t, q, v: [0.5 * np.sin(3.0 * t)]}
    )
    run = km.simulate(
        machine, [0.3], duration=0.2, step=1e-2, integrator=integrator, sample_time=0.0, inputs={"target": opening}
    )
    assert len(calls) > 20
    np.testing.assert_allclose(run.q[-1], fine.q[-1], rtol=0.0, atol=1e-7)
    name = "rail.piston_pressure"
    np.testing.assert_allclose(run.drive_states[name][-1], fine.drive_states[name][-1], rtol=1e-4)


def test_cylinders_are_part_of_the_model_and_of_its_files():
    for drive in (cylinder(), cylinder(valve=1e-6, supply=2e7, retracted=-0.4, limit=3e4)):
        assert from_json(to_json(sledge(drive))) == sledge(drive)
    assert len({digest(sledge(drive)) for drive in (cylinder(), cylinder(valve=1e-6), cylinder(leak=1e-12))}) == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cylinder(valve=-1.0), "a hydraulic_cylinder drive: its valve is -1.0; it must be zero or more"),
        (lambda: replace(cylinder(), piston_area=0.0), "its piston_area is 0.0; it must be above zero"),
        (lambda: replace(cylinder(), bulk_modulus=math.nan), "its bulk_modulus is nan"),
        (lambda: (sim := km.Simulation(sledge(cylinder()), integrator="rk4")).slopes(sim.start()), "states of their own"),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises((ModelError, InputError), match=words):
        make()


def test_scenes_of_many_bodies_refuse_states_of_drives_by_name():
    ball = km.Geometry(km.Sphere(0.1))
    balls = [km.Body(f"ball{k}", 1.0, inertia=(0.004,) * 3, collisions=(ball,)) for k in range(6)]
    free = [km.Joint(f"free{k}", "floating", "world", f"ball{k}", km.pose((0.0, 0.0, 0.3 * k))) for k in range(6)]
    machine = sledge(cylinder())
    crowd = replace(machine, bodies=(*machine.bodies, *balls), joints=(*machine.joints, *free))
    with pytest.raises(InputError, match="the hydraulic_cylinder drive of 'rail' has a state of its own, which scenes"):
        km.Simulation(crowd, contact="rigid")
