"""Motors and gears: closed forms, rotors as bodies of their own, and the balance of electrical power."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import ModelError
from kumitate.model.mechanism import digest
from kumitate.model.read import from_json, to_json

#: A small motor with a gear, its load [kg·m²], and what follows of them at the joint.
K, R, N, ROTOR, LOAD, U = 0.03, 0.6, 50.0, 2e-5, 0.04, 24.0
INERTIA = LOAD + N**2 * ROTOR
STALL, FREE, LAG = N * K * U / R, U / (N * K), R * INERTIA / (N * K) ** 2


def motor(**options):
    return km.DCMotor(torque_constant=K, resistance=R, gear_ratio=N, rotor_inertia=ROTOR, **options)


def wheel(drive=None, *, kind="revolute", mass=0.0, **joint):
    """A body that turns about a vertical axis, or slides along a level one."""
    body = km.Body("wheel", mass, inertia=(LOAD,) * 3)
    axis = (0, 0, 1) if kind == "revolute" else (1, 0, 0)
    return km.Mechanism("wheel", (body,), (km.Joint("axle", kind, "world", "wheel", axis=axis, drive=drive, **joint),))


@pytest.mark.parametrize(("integrator", "error"), [("rk4", 1e-9), ("semi_implicit_euler", 0.02)])
def test_a_motor_runs_up_to_its_free_speed_exponentially(integrator, error):
    run = km.simulate(wheel(motor()), duration=5.0 * LAG, step=LAG / 50.0, integrator=integrator, inputs={"target": U})
    expected = FREE * (1.0 - np.exp(-run.time / LAG))
    assert np.abs(run.v[:, 0] - expected).max() < error * FREE
    np.testing.assert_allclose(run.tau[:, 0], STALL * (1.0 - run.v[:, 0] / FREE), rtol=1e-12, atol=1e-12)
    assert run.tau[0, 0] == pytest.approx(STALL)
    assert run.audit.energy_drift < 10.0 * error * INERTIA * FREE**2


def test_electrical_power_becomes_heat_and_motion():
    """u i = R i² + τ q̇ at every instant, and over the run: the joint's work is the kinetic energy of load and rotor."""
    run = km.simulate(wheel(motor()), duration=2.0 * LAG, step=LAG / 100.0, integrator="rk4", inputs={"target": U})
    current = run.tau[:, 0] / (N * K)
    np.testing.assert_allclose(U * current, R * current**2 + run.tau[:, 0] * run.v[:, 0], rtol=1e-11)
    np.testing.assert_allclose(run.energy.kinetic, 0.5 * INERTIA * run.v[:, 0] ** 2, rtol=1e-12)
    assert run.audit.work == pytest.approx(run.energy.kinetic[-1], rel=1e-9)


def test_a_short_circuited_motor_is_a_brake():
    run = km.simulate(wheel(motor()), v=[5.0], duration=2.0 * LAG, step=LAG / 100.0, integrator="rk4")
    np.testing.assert_allclose(run.v[:, 0], 5.0 * np.exp(-run.time / LAG), rtol=1e-8)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_supply_limits_the_voltage_and_the_limit_the_torque(sign):
    options = {"duration": LAG, "integrator": "rk4"}
    supplied = km.simulate(wheel(motor(voltage=U)), **options, inputs={"target": sign * 3.0 * U})
    np.testing.assert_array_equal(supplied.v, km.simulate(wheel(motor()), **options, inputs={"target": sign * U}).v)
    limited = km.simulate(wheel(motor(limit=0.1 * STALL)), duration=0.5 * LAG, integrator="rk4", inputs={"target": sign * U})
    np.testing.assert_allclose(limited.v[:, 0], sign * 0.1 * STALL / INERTIA * limited.time, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_rotor_behind_a_gear_is_a_body_that_turns_as_much_faster(kind, integrator):
    """By two routes: inertia of the rotor as of the drive, and a rotor whose own joint a gear couples to the joint."""
    drive = km.PositionDrive(kp=30.0, kd=0.4)
    reflected = wheel(replace(drive, gear_ratio=N, rotor_inertia=ROTOR), kind=kind, mass=0.5)
    plain = wheel(drive, kind=kind, mass=0.5)
    body = km.Body("rotor", 0.0, inertia=(ROTOR,) * 3)
    spindle = km.Joint("spindle", "revolute", "world", "rotor")
    gear = km.Coupling("gear", "spindle", "axle", N)
    coupled = km.Mechanism("wheel", (*plain.bodies, body), (*plain.joints, spindle), couplings=(gear,))
    options = {"duration": 0.2, "integrator": integrator, "inputs": {"target": 0.3}}
    one, other = km.simulate(reflected, **options), km.simulate(coupled, **options)
    assert np.abs(one.q[:, 0]).max() > 0.1
    np.testing.assert_allclose(other.q[:, 0], one.q[:, 0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(other.q[:, 1], N * one.q[:, 0], rtol=0.0, atol=1e-7)


def test_motors_are_part_of_the_model_and_of_its_files():
    for drive in (motor(), motor(voltage=12.0, limit=3.0), motor(voltage=math.inf)):
        assert from_json(to_json(wheel(drive))) == wheel(drive)
    assert len({digest(wheel(drive)) for drive in (motor(), motor(voltage=12.0), replace(motor(), gear_ratio=2.0))}) == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: km.DCMotor(torque_constant=0.0, resistance=1.0),
            "a dc_motor drive: its torque_constant is 0.0; it must",
        ),
        (lambda: km.DCMotor(torque_constant=1.0, resistance=-1.0), "its resistance is -1.0; it must be above zero"),
        (lambda: motor(voltage=-12.0), "its voltage is -12.0; it must be zero or more"),
        (lambda: km.EffortDrive(gear_ratio=0.0), "an? effort drive: its gear_ratio is 0.0; it must be above zero"),
        (lambda: km.PositionDrive(kp=1.0, rotor_inertia=-1e-5), "its rotor_inertia is -1e-05; it must be zero"),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises(ModelError, match=words):
        make()
