"""Designs and blocks: every run once, in blocks that share what is compiled, in shards that share no block."""

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.sweeps.blocks import blocks_of, shard_of


def design(count=50, **sweep):
    given = {
        "grid": {"damping:*": [0.0, 0.1], "q:shoulder": {"from": 0, "to": "90deg", "count": 3}},
        "random": {"count": count, "seed": 5, "v:*": {"normal": [1.0, 2.0], "each": True}},
    }
    scenario = {"robot": "double_pendulum", "solver": {"duration": 0.1}, "sweep": {**given, **sweep}}
    return km.read_scenario(scenario).design


@pytest.fixture(scope="module")
def body():
    return km.load("double_pendulum").mechanism.bodies[0].name


def of(count, body):
    random = {"count": count, "seed": 5, "v:*": {"normal": [1.0, 2.0], "each": True}, f"mass:{body}": {"choice": [1.0, 2.0]}}
    return design(random=random)


def test_a_design_is_all_combinations_of_the_grid_with_every_draw(body):
    found = of(50, body)
    assert len(found) == 2 * 3 * 50
    rows = np.array([found.values(run) for run in range(len(found))])
    assert [one.name for one in found.parameters] == ["damping:*", "q:shoulder", "v:shoulder", "v:elbow", f"mass:{body}"]
    assert {tuple(row) for row in rows[:, :2].tolist()} == {(d, q) for d in (0.0, 0.1) for q in (0.0, np.pi / 4, np.pi / 2)}
    np.testing.assert_array_equal(rows[:50, 2:], rows[50:100, 2:])
    assert abs(rows[:50, 2].mean() - 1.0) < 4 * 2.0 / np.sqrt(50)


def test_more_draws_only_add_to_those_that_there_are(body):
    few, many = of(10, body), of(30, body)
    assert few.drawn == many.drawn[:10]


def test_every_run_is_in_one_block_of_one_shard_and_blocks_share_what_is_compiled(body):
    free, made = {"damping:*": [0.0, 0.1], "q:shoulder": [0.0, 0.5]}, {"solver:step": [0.001, 0.002]}
    choice = {"count": 200, "seed": 5, f"mass:{body}": {"choice": [1.0, 2.0]}, "solver:every": {"choice": [1, 2]}}
    found = design(grid={**made, **free}, random=choice)
    blocks = blocks_of(found)
    assert sorted(run for block in blocks for run in block.runs) == list(range(len(found)))
    assert [block.number for block in blocks] == list(range(len(blocks)))
    compiled = {block.group: set() for block in blocks}
    for block in blocks:
        compiled[block.group] |= {(values[0], values[4]) for values in map(found.values, block.runs)}
    assert sorted(len(values) for values in compiled.values()) == [1] * 4
    for n in (1, 2, 3, 7, 100):
        shards = [block for i in range(1, n + 1) for block in shard_of(blocks, f"{i}/{n}")]
        assert sorted(shards, key=lambda block: block.number) == blocks


def test_draws_follow_their_distributions():
    random = {
        "count": 2000, "seed": 3, "q:shoulder": {"uniform": ["-90deg", "90deg"]}, "q:elbow": {"choice": ["30deg", 0]},
        "damping:elbow": {"log_uniform": [0.01, 1.0]}, "v:elbow": {"normal": [2.0, 0.5]},
    }  # fmt: skip
    drawn = np.array(design(grid={}, random=random).drawn)
    uniform, choice, log_uniform, normal = drawn.T
    for found, mean, deviation in (
        (uniform, 0.0, np.pi / np.sqrt(12)), ((choice > 0).astype(float), 0.5, 0.5),
        (np.log10(log_uniform), -1.0, 2 / np.sqrt(12)), (normal, 2.0, 0.5),
    ):  # fmt: skip
        assert found.mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(2000))
        assert found.std() == pytest.approx(deviation, rel=0.1)
    assert set(choice) == {np.pi / 6, 0.0}


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3"])
def test_what_is_not_a_shard_is_refused(shard):
    with pytest.raises(InputError, match="must be i/n"):
        shard_of([], shard)


def test_one_thing_is_not_varied_twice():
    with pytest.raises(InputError, match=r"'damping:\*' and 'damping:elbow' both set damping:elbow"):
        design(grid={"damping:*": [0.0], "damping:elbow": [1.0]})
    with pytest.raises(
        InputError, match="'q:elbow' in grid and in random both set q:elbow; a run has one value of it: keep one"
    ):
        design(grid={"q:elbow": [0.1, 0.2]}, random={"count": 2, "q:elbow": {"uniform": [0.0, 1.0]}})
    with pytest.raises(InputError, match="write all, none, or a list of runs from 0 to"):
        design(record=[10**9], random={"count": 2, "v:*": {"normal": [0, 1]}})
