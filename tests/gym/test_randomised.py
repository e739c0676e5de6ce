"""Numbers of the model that are drawn for every episode, from the seed of its row."""

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.gym import Env, Start, Task, VectorEnv
from kumitate.gym.tasks.cart_pole import mechanism

RANGES = {"mass:pole": (0.05, 0.3), "damping:*": (0.0, 0.2), "gain:strength": (5.0, 15.0)}


def balance(ranges=RANGES, begin=None, **options):
    def start(numbers):
        return Start(0.1 * numbers[:, :2], 0.1 * numbers[:, 2:])

    return Task(
        mechanism(), actions=1, observation=lambda t, q, v: np.stack([*q, *v]), reward=lambda t, q, v: 1.0,
        begin=begin or start, draws=4, steps=2, step=0.01, integrator="rk4", randomised=ranges,
        controller=lambda t, q, v, action, strength=10.0: np.stack([strength * action[0], 0.0 * action[0]]), **options,
    )  # fmt: skip


def test_each_row_moves_as_a_robot_built_with_what_was_drawn_for_it():
    envs = VectorEnv(balance(), 3)
    first, _ = envs.reset(seed=5)
    drawn = {name: values.copy() for name, values in envs.batch.parameters.items()}
    for name, (least, most) in RANGES.items():
        assert ((least <= drawn[name]) & (drawn[name] <= most)).all()
        assert len(np.unique(drawn[name])) == drawn[name].size
    seen, *_ = envs.step(np.ones((3, 1), dtype=np.float32))
    made = mechanism()
    for row in range(3):
        bodies = tuple(
            km.Body(b.name, drawn["mass:pole"][row] if b.name == "pole" else b.mass, b.center_of_mass, b.inertia)
            for b in made.bodies
        )
        damped = dict(zip([joint.name for joint in made.joints], drawn["damping:*"][row], strict=True))
        joints = tuple(km.Joint(j.name, j.kind, j.parent, j.child, j.pose, j.axis, damping=damped[j.name]) for j in made.joints)
        robot = km.Mechanism("cart_pole", bodies, joints, gravity=made.gravity)
        sim = km.Simulation(robot, controller=[drawn["gain:strength"][row], 0.0], step=0.01, integrator="rk4")
        after = sim.step(sim.start(first[row, :2].astype(float), first[row, 2:].astype(float)), 2)
        np.testing.assert_allclose(seen[row], [*after.q, *after.v], rtol=1e-5, atol=1e-6)


def test_a_seed_repeats_what_was_drawn_and_the_start_does_not_depend_on_it():
    envs, plain = VectorEnv(balance(), 4), VectorEnv(balance({}), 4)
    first, _ = envs.reset(seed=7)
    drawn = {name: values.copy() for name, values in envs.batch.parameters.items()}
    np.testing.assert_array_equal(plain.reset(seed=7)[0], first)
    envs.reset()
    assert all((envs.batch.parameters[name] != drawn[name]).all() for name in drawn)
    again, _ = envs.reset(seed=7)
    np.testing.assert_array_equal(again, first)
    for name, values in envs.batch.parameters.items():
        np.testing.assert_array_equal(values, drawn[name])
    env = Env(balance())
    env.reset(seed=8)
    assert env._episodes.batch.parameters["mass:pole"][0] == drawn["mass:pole"][1]


def test_a_start_may_give_parameters_by_rules_of_its_own():
    def begin(numbers):
        return Start(0.1 * numbers[:, :2], 0.1 * numbers[:, 2:], {}, {"gravity": 3.0 + numbers[:, 0]})

    envs = VectorEnv(balance({}, begin, parameters=["gravity"]), 3)
    envs.reset(seed=1)
    np.testing.assert_allclose(envs.batch.parameters["gravity"], 3.0 + 10.0 * envs.batch.q[:, 0])


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"mass:pol": (0.1, 0.2)}, "did you mean 'mass:pole'"),
        ({"mass:pole": (0.2, 0.1)}, "give the lesser number first"),
        ({"mass:pole": (-0.1, 0.1)}, "it must be zero, or from"),
        ({"mass:pole": 0.1}, "it must be 2 numbers"),
    ],
)
def test_ranges_are_checked(ranges, message):
    with pytest.raises(InputError, match=message):
        balance(ranges)
