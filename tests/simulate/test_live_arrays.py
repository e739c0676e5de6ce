"""Assignment to the arrays of a batch writes to them; other attributes of what is settled cannot be assigned."""

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError


def pushed(t, q, v, push):
    return 3.0 * push


def simulation():
    return km.Simulation(
        km.load("planar_3r"), step=1e-3, integrator="rk4", wrenches={"link3": None}, outputs=["center_of_mass"],
    )  # fmt: skip


def with_input():
    return km.Simulation(km.load("planar_3r"), step=1e-3, integrator="rk4", controller=pushed, inputs={"push": 3})


def test_assigned_efforts_act_as_written_ones():
    rng = np.random.default_rng(3)
    tau, wrench = rng.normal(size=(4, 3)), rng.normal(size=6)
    written, assigned = simulation().batch(4), simulation().batch(4)
    written.tau[:], written.wrenches["link3"][:] = tau, wrench
    array = assigned.tau
    assigned.tau = tau
    assigned.wrenches["link3"] = wrench
    assert assigned.tau is array
    assigned.tau += 1.0
    written.tau[:] += 1.0
    for batch in (written, assigned):
        batch.step(50)
    np.testing.assert_array_equal(assigned.q, written.q)
    assert np.abs(assigned.v).min() > 1e-3
    assigned.v = 0.0
    assert not assigned.state["v"].any()


def test_assigned_inputs_and_dictionaries_act():
    push = np.array([1.0, -2.0, 0.5])
    written, one, all_of_them = (with_input().batch(3) for _ in range(3))
    written.inputs["push"][:] = push
    one.inputs["push"] = push
    all_of_them.inputs = {"push": push}
    for batch in (written, one, all_of_them):
        batch.step(20)
    np.testing.assert_array_equal(one.q, written.q)
    np.testing.assert_array_equal(all_of_them.q, written.q)
    assert np.abs(written.v).max() > 1e-3


@pytest.mark.parametrize("name", ["q", "v", "work", "error", "tau", "efforts"])
def test_every_array_of_numbers_is_live(name):
    batch = simulation().batch(2)
    live = getattr(batch, name)
    setattr(batch, name, np.full(live.shape, 0.25))
    assert getattr(batch, name) is live
    assert (live == 0.25).all()


def test_mistakes_are_refused():
    batch, sim = simulation().batch(4), simulation()
    with pytest.raises(InputError, match=r"Batch\.tau has shape \(4, 2\); it must have the shape \(4, 3\)"):
        batch.tau = np.zeros((4, 2))
    with pytest.raises(InputError, match=r"Batch\.tau is .*nan.*must be finite real numbers"):
        batch.tau = [0.0, np.nan, 0.0]
    with pytest.raises(InputError, match="no attribute 'taus', did you mean 'tau'"):
        batch.taus = 1.0
    with pytest.raises(InputError, match=r"Batch\.wrenches has no 'link4', did you mean 'link3'"):
        batch.wrenches["link4"] = np.zeros(6)
    with pytest.raises(InputError, match=r"Batch\.wrenches is .*; it must be a dictionary by name: link3"):
        batch.wrenches = np.zeros(6)
    with pytest.raises(InputError, match=r"cannot be taken out; write zeros"):
        del batch.wrenches["link3"]
    with pytest.raises(InputError, match=r"Batch\.time cannot be assigned: it is settled"):
        batch.time = 0.0
    with pytest.raises(InputError, match=r"Simulation\.step_size cannot be assigned"):
        sim.step_size = 1e-4
    with pytest.raises(InputError, match="Simulation has no attribute 'intergrator', did you mean 'integrator'"):
        sim.intergrator = "rk4"
    batch._mine = sim._mine = 1  # one's own


def test_an_unknown_option_has_a_near_one():
    with pytest.raises(InputError, match="a simulation has no option 'integrater', did you mean 'integrator'"):
        km.Simulation(km.load("pendulum"), integrater="rk4")


def test_saved_rows_go_on_as_they_did():
    """With an input and a parameter that differ by row; one row can be where many go on."""
    sim = km.Simulation(
        km.load("planar_3r"), step=1e-3, integrator="semi_implicit_euler", parameters=["mass:*"], inputs={"push": 1},
        controller=lambda t, q, v, push: push[0] * np.cos(q), outputs=["energy"],
    )  # fmt: skip
    batch = sim.batch(4, parameters={"mass:*": np.array([1.0, 2.0, 3.0, 4.0])})
    batch.inputs["push"][:, 0] = [1.0, 2.0, 3.0, 4.0]
    batch.step(20)
    saved = batch.save([1, 3])
    batch.step(30)
    expected = {name: array[[1, 3]].copy() for name, array in batch.arrays().items()}
    batch.inputs["push"][:] = 9.0
    batch.set({"mass:*": 7.0})
    batch.step(5)
    batch.restore(saved, [0, 2])
    batch.step(30)
    for name, array in batch.arrays().items():
        np.testing.assert_array_equal(array[[0, 2]], expected[name])
    batch.restore({name: array[:1] for name, array in saved.items()}, slice(1, 4))
    batch.step(30)
    for name, array in batch.arrays().items():
        np.testing.assert_array_equal(array[1:], np.repeat(expected[name][:1], 3, axis=0))
    with pytest.raises(InputError, match="it has 2 rows for 3"):
        batch.restore(saved, [0, 1, 2])
    with pytest.raises(InputError, match="another simulation"):
        km.Simulation(km.load("pendulum")).batch(2).restore(saved)
