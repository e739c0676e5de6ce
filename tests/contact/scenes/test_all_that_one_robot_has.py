"""A scene of a hundred boxes with a robot in it has what one robot has: outputs, sensors, controllers, parameters, rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kumitate import Robot, Sensor, Simulation
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.model import Box, Mechanism
from kumitate.programs import PROGRAMS, catalogue
from kumitate.spatial import Vector3
from kumitate_problems.contact import solid

from .places import BRICK, G, upright
from .test_robots import arm, beside

COUNT = 100
ROOT = Path(__file__).resolve().parents[3]
#: The arm's coordinates come first, then seven of each box; a step is [s].
ARM, H = 3, 1e-3
#: A box that falls freely, and one that lies on the floor.
FALLS, LIES = 99, 0
OUTPUTS = {
    "where": f"pose:box{FALLS}",
    "energy": "energy",
    "a": "a",
    "tau": "tau",
    "feels": Sensor("accelerometer", f"box{FALLS}"),
    "weighs": Sensor("accelerometer", f"box{LIES}"),
    "turns": Sensor("gyro", "rod1"),
    "sole": Sensor("touch", f"box{LIES}", volume=Box((1.0, 1.0, 1.0))),
    "above": Sensor("touch", f"box{FALLS}", volume=Box((1.0, 1.0, 1.0))),
    "power": lambda t, q, v, tau, weights: (weights * tau[:ARM] * v[:ARM]).sum(),
}


@cache
def scene() -> Mechanism:
    """An arm above a field of boxes, each of 2 kg."""
    return beside(arm(0.1), *(solid(f"box{k}", BRICK, 2.0) for k in range(COUNT)))


def start() -> tuple[np.ndarray, np.ndarray]:
    """All boxes lie beside each other but the last, which falls and turns about an axis of its own."""
    places = [(0.8 + 0.3 * (k // 10), -1.5 + 0.3 * (k % 10), 0.06) for k in range(COUNT)]
    places[FALLS] = (-1.0, 0.0, 1.5)
    q, v = np.array([0.3, 0.2, 0.1, *upright(*places)]), np.zeros(ARM + 6 * COUNT)
    v[:ARM], v[ARM + 6 * FALLS] = (0.5, 0.0, -1.0), 2.0
    return q, v


def held(t, q, v, gain):
    return np.concatenate([-gain[:3] * v[:3] - gain[3] * q[:3], 0.0 * v[3:]])


def simulation(**options) -> Simulation:
    made = Simulation(
        scene(), contact="rigid", controller=held, inputs={"gain": [1.0, 1.0, 1.0, 5.0], "weights": np.ones(3)}, **options
    )
    assert made.interaction.of_many_bodies
    return made


@cache
def observed() -> Simulation:
    return simulation(outputs=OUTPUTS)


def test_outputs_are_those_of_the_robot_along_the_run():
    """By a second route: functions of the robot at the recorded states, and the run's own results."""
    q, v = start()
    run = observed().run(q, v, duration=0.02, every=2)
    robot, out = Robot(scene()), run.outputs
    assert np.abs(out["where"] - robot.pose(run.q, f"box{FALLS}")).max() < 1e-12
    assert np.array_equal(out["a"], run.a)
    assert np.array_equal(out["tau"], run.tau)
    assert out["energy.kinetic"] == pytest.approx(run.energy.kinetic, rel=1e-12)
    assert out["energy.potential"] == pytest.approx(run.energy.potential, rel=1e-12)
    assert out["power"] == pytest.approx((run.tau[:, :ARM] * run.v[:, :ARM]).sum(axis=1))
    assert np.abs(run.tau[:, :ARM]).max() > 0.5  # the controller acts


def test_sensors_measure_what_newton_says():
    """What falls feels nothing but its spin, what lies feels its weight, and pushes with it on what measures touch."""
    q, v = start()
    out = observed().run(q, v, duration=0.02, every=5).outputs
    assert np.abs(out["feels"]).max() < 1e-9
    assert out["weighs"] == pytest.approx(np.tile([0.0, 0.0, G], (5, 1)), abs=1e-6)
    assert out["sole"][:, 0] == pytest.approx(2.0 * G, rel=1e-6)
    assert not out["above"].any()
    assert np.abs(out["turns"]).max() > 0.1


def test_states_and_rows_show_the_same_outputs():
    q, v = start()
    sim = observed()
    state, run = sim.step(sim.start(q, v), 10), sim.run(q, v, duration=0.01, every=5)
    batch = sim.batch(q[None], v[None])
    batch.step(10)
    for name, values in run.outputs.items():
        assert np.array_equal(state.outputs[name], values[-1]), name
        assert np.array_equal(batch.outputs[name][0], values[-1]), name
    assert np.array_equal(sim.step(sim.step(sim.start(q, v), 4), 6).q, state.q)  # looking ahead changes nothing


@pytest.mark.parametrize("contact", ["rigid", "penalty"])
def test_a_compiled_controller_moves_a_scene_as_one_that_is_called(contact):
    q, v = start()
    runs = []
    for traced in (True, False):
        sim = Simulation(
            scene(), contact=contact, controller=held, inputs={"gain": [1.0, 1.0, 1.0, 5.0]}, traced=traced,
            wrenches={f"box{FALLS}": lambda t, q, v: [0.0, 0.0, 0.0, 3.0 * t, 0.0, 0.0], "rod1": [0.0, 0.1, 0.0, 0.0, 0.0, 0.0]}
        )  # fmt: skip
        state = sim.start(q, v)
        for gain in (1.0, 20.0):
            state = sim.step(state, 5, inputs={"gain": [gain, gain, gain, 5.0]})
        runs.append((state, sim.actuation.mode))
    (compiled, how), (called, other) = runs
    assert (how, other) == ("compiled", "sampled")
    assert np.abs(compiled.q - called.q).max() < 1e-13  # compiled sums are rounded once
    assert np.abs(compiled.v - called.v).max() < 1e-12
    assert abs(compiled.v[ARM + 6 * FALLS + 3]) > 0.0  # the wrench acts


def test_sixty_four_rows_with_parameters_of_their_own():
    """Each row moves as a run with its numbers does, and as a simulation of the mechanism that was made with them."""
    rng = np.random.default_rng(7)
    q, v = start()
    v[ARM + 6 * LIES + 3] = 1.0  # slides
    sim = simulation(parameters=[f"mass:box{LIES}", "friction:floor"])
    values = {f"mass:box{LIES}": rng.uniform(0.5, 5.0, 64), "friction:floor": rng.uniform(0.1, 0.9, 64)}
    batch = sim.batch(np.tile(q, (64, 1)), np.tile(v, (64, 1)), parameters=values)
    batch.step(10)
    slowed = (1.0 - batch.v[:, ARM + 6 * LIES + 3]) / (10 * H)
    assert slowed == pytest.approx(values["friction:floor"] * G, rel=1e-6)
    for row in (5, 63):
        alone = sim.run(q, v, duration=10 * H, every=10, parameters={name: column[row] for name, column in values.items()})
        assert np.array_equal(batch.q[row], alone.q[-1])
        assert alone.robot.mechanism.tree.mass == pytest.approx(scene().tree.mass - 2.0 + values[f"mass:box{LIES}"][row])
        made = Simulation(
            alone.robot,
            contact=Contact(surface=Surface(values["friction:floor"][row])),
            controller=held,
            inputs={"gain": [1.0, 1.0, 1.0, 5.0]},
        )
        assert np.abs(made.run(q, v, duration=10 * H, every=10).q[-1] - batch.q[row]).max() < 1e-12


def test_a_saved_state_goes_on_with_its_outputs_parameters_and_inputs(tmp_path):
    q, v = start()
    sim = simulation(outputs={"a": "a"}, parameters=[f"mass:box{LIES}"])
    state = sim.step(sim.start(q, v, parameters={f"mass:box{LIES}": 3.0}), 5, inputs={"gain": [2.0, 2.0, 2.0, 5.0]})
    again = simulation(outputs={"a": "a"}, parameters=[f"mass:box{LIES}"]).restore(sim.save(state, tmp_path / "state.npz"))
    assert again.parameters == {f"mass:box{LIES}": 3.0}
    ahead, later = sim.step(state, 10), sim.step(again, 10)
    assert np.array_equal(ahead.q, later.q)
    assert np.array_equal(ahead.outputs["a"], later.outputs["a"])


def test_a_robots_own_parameters_change_its_equations():
    q, v = start()
    sim = simulation(parameters=["mass:rod1"])
    light, heavy = (sim.step(sim.start(q, v, parameters={"mass:rod1": mass}), 5) for mass in (1.0, 4.0))
    usual = sim.step(sim.start(q, v), 5)
    assert np.abs(light.v[:ARM] - heavy.v[:ARM]).max() > 1e-3
    plain = simulation().step(simulation().start(q, v), 5)
    assert np.array_equal(usual.q, plain.q)


def test_what_a_scene_cannot_do_is_said():
    with pytest.raises(InputError, match="cannot be differentiated, as the solvers of scenes have no derivatives"):
        simulation().straight  # noqa: B018
    with pytest.raises(InputError, match="joints cannot follow prescribed motions where contact is computed as a scene"):
        Simulation(scene(), contact="rigid", motions={"turn": lambda t: t})


def test_an_output_is_added_as_the_architecture_says(monkeypatch):
    """The function of the page is added to the tables that the page names; a robot and a scene then have the output."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    text = page[page.index("def _spin(") :].split("```")[0]
    known = {**vars(catalogue), "Vector3": Vector3}
    exec(text, known)  # what a reader would write
    monkeypatch.setitem(PROGRAMS, "spin", known["_spin"])
    q, v = start()
    for mechanism, contact, state in ((arm(), None, (q[:ARM], v[:ARM])), (scene(), "rigid", (q, v))):
        run = Simulation(mechanism, contact=contact, outputs=["spin:rod1"]).run(*state, duration=0.005)
        expected = np.linalg.norm(Robot(mechanism).velocity(run.q, run.v, "rod1")[..., :3], axis=-1)
        assert run.outputs["spin:rod1"] == pytest.approx(expected, rel=1e-12)
        assert expected.min() > 0.1
