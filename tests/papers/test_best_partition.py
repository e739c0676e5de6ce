"""The best partition into sub-chains: never worse than the thesis's, near the best of all, and measured where asked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, aba
from kumitate.dynamics.hybrid import hybrid_operations
from kumitate.dynamics.subchains import chosen_parts
from kumitate.measure.timing import Effort
from kumitate.model.samples import floating_arm, pa10, planar_7r
from kumitate.model.tree.subchains import parts_by_cuts, parts_by_names
from kumitate.papers.best_partition import best_partition
from studies.partitions import HEAD, other_trials, partitions_page, rows_of_trials

from ..mechanisms import random_mechanism

QUICK = Effort(rounds=3, scale=1.0 / 16.0)
THESIS = {"planar_7r": (planar_7r, {4}), "floating_arm": (floating_arm, {3})}


def operations_of(mechanism, cuts) -> int:
    return hybrid_operations(mechanism.tree, parts_by_cuts(mechanism.tree, cuts))


@pytest.mark.row("T-f1")
@pytest.mark.parametrize("name", THESIS)
def test_the_automatic_partition_needs_no_more_operations_than_the_thesis_split(name):
    build, cuts = THESIS[name]
    mechanism = build()
    assert [len(part) for part in parts_by_cuts(mechanism.tree, cuts)] == ([4, 3] if name == "planar_7r" else [3, 3])
    assert automatic(mechanism) <= operations_of(mechanism, cuts)


def automatic(mechanism) -> int:
    """The operations with partition="auto"."""
    tree = mechanism.tree
    return hybrid_operations(tree, chosen_parts(tree, "auto", hybrid_operations))


def random_chain(seed: int, links: int):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["revolute", "revolute", "prismatic", "universal"], links).tolist()
    chain = random_mechanism(rng, kinds, chain=True)
    heavy = (replace(b, mass=b.mass + 0.5, inertia=np.array(b.inertia) + 0.05 * np.eye(3)) for b in chain.bodies)
    return replace(chain, bodies=tuple(heavy))


@pytest.mark.row("T-f1")
@pytest.mark.parametrize(("seed", "links"), [(0, 7), (1, 6), (2, 5), (3, 7)])
def test_nor_on_random_chains(seed, links):
    """Splits as the thesis has them: the first half and the rest, and threes."""
    mechanism = random_chain(seed, links)
    found = automatic(mechanism)
    for cuts in ({(links + 1) // 2}, set(range(3, links, 3)), set()):
        assert found <= operations_of(mechanism, cuts)


@pytest.mark.slow
@pytest.mark.row("T-f1")
@pytest.mark.parametrize(("build", "beside"), [(planar_7r, 1.01), (floating_arm, 1.11), (pa10, 1.0)])
def test_the_automatic_partition_is_near_the_best_of_all(build, beside):
    """All 2^(n−1) of a chain are counted; `beside` is what looking at few of them costs."""
    mechanism = build()
    found = best_partition(mechanism)
    assert len(found.trials) == 2 ** (len(mechanism.tree.links) - 1)
    assert found.best.operations <= automatic(mechanism) <= beside * found.best.operations
    assert [t.operations for t in found.trials] == sorted(t.operations for t in found.trials)


def test_all_partitions_of_a_small_tree_are_counted_each_once():
    mechanism = random_chain(8, 4)
    found = best_partition(mechanism)
    assert len({t.parts for t in found.trials}) == len(found.trials) == 8
    for trial in found.trials:
        assert trial.operations == hybrid_operations(mechanism.tree, parts_by_names(mechanism.tree, trial.parts))
    assert found.best.operations <= automatic(mechanism)


@pytest.mark.row("T-f1")
@pytest.mark.parametrize("by", ["time", "batch"])
def test_measured_partitions_are_compared_before_they_are_chosen(by):
    mechanism = random_chain(5, 4)
    told: list[float] = []
    own = [["j0"], ["j1", "j2", "j3"]]
    found = best_partition(mechanism, by=by, candidates=2, also=[own], effort=QUICK, progress=told.append)
    measured = [t for t in found.trials if math.isfinite(t.single)]
    assert measured[:2] == list(found.trials[:2])
    assert {tuple(map(tuple, own)), (("j0", "j1"), ("j2", "j3"))} <= {t.parts for t in measured}  # what is asked, and halves
    for trial in measured:
        assert 0.0 < trial.batch < 1.0
        assert trial.compilation > 0.0
    key = {"time": "single", "batch": "batch"}[by]
    assert getattr(found.best, key) == min(getattr(t, key) for t in found.trials)
    assert told == sorted(told)
    assert told[-1] == 1.0
    # what is chosen is taken
    robot, rng = km.Robot(mechanism), np.random.default_rng(0)
    q, v, tau = (rng.normal(size=mechanism.nv) for _ in range(3))
    a = robot.forward_dynamics(q, v, tau, method="hybrid", partition=found.partition)
    np.testing.assert_allclose(
        a, aba(mechanism.tree, q.tolist(), v.tolist(), tau.tolist(), Acting(mechanism.gravity)), atol=1e-9 * np.abs(a).max()
    )


def test_counting_measures_nothing():
    found = best_partition(km.Robot(random_chain(6, 3)))
    assert not found.machine
    assert all(math.isinf(t.single) and math.isinf(t.batch) for t in found.trials)


def test_what_was_tried_is_a_table():
    found = best_partition(random_chain(7, 3), by="time", candidates=1, effort=QUICK)
    rows = rows_of_trials(found)
    assert len(rows) < len(found.trials) == 4
    assert all(len(row) == len(HEAD) for row in rows)
    assert [row[-1] for row in rows].count("by time") == 1
    assert "—" not in [cell for row in rows for cell in row]
    assert f"{4 - len(rows)} more were counted" in other_trials(found)
    page = partitions_page([found], QUICK)
    assert other_trials(found) in page
    assert all(f"| {' | '.join(row)} |" in page for row in rows)
    assert "| machine |" in page
    assert found.as_dict()["partition"] == found.partition


def test_partitions_that_are_none_are_refused():
    with pytest.raises(km.InputError, match="chosen by operations, time, batch, not by 'luck'"):
        best_partition(random_chain(0, 3), by="luck")
    with pytest.raises(km.ModelError, match="leaves out j1"):
        best_partition(random_chain(0, 3), also=[[["j0"], ["j2"]]])
