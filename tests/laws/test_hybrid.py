"""Hybrid modelling: any partition gives the accelerations of articulated bodies; like sub-chains share a program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.analysis import LoopEquations
from kumitate.compile import Kernel
from kumitate.dynamics import Acting, Wrenches, aba, aba_with_loops, crba
from kumitate.dynamics.hybrid import hybrid, hybrid_operations
from kumitate.dynamics.subchains import chosen_parts, parted_tree, tried_partitions
from kumitate.errors import InputError, ModelError
from kumitate.model import Body, Joint, Mechanism, Tree
from kumitate.model.samples import floating_chain, pa10, planar_chain, planar_tree, planar_tree_5
from kumitate.model.tree.subchains import parts_by_cuts, parts_by_names
from kumitate.scalar import trace
from kumitate.spatial import pose

from ..mechanisms import (
    Case,
    closed_cases,
    every_kind,
    random_body,
    random_case,
    random_joint,
    random_linkage,
    random_ring,
    random_state,
    seeds,
)

DOWN = (0.0, 0.0, -9.81)


def heavy(mechanism: Mechanism) -> Mechanism:
    """Every body with an inertia that has an inverse."""
    bodies = tuple(replace(b, mass=b.mass + 0.5, inertia=np.array(b.inertia) + 0.05 * np.eye(3)) for b in mechanism.bodies)
    return replace(mechanism, bodies=bodies)


def some_cuts(tree: Tree, rng: np.random.Generator):
    """Partitions: the whole, two at random, every link by itself."""
    n = len(tree.links)
    for share in (0.0, 0.3, 0.6, 1.0):
        yield parts_by_cuts(tree, {index for index in range(n) if rng.random() < share})


def same(found, expected) -> None:
    """Equal to a billionth of the largest acceleration, as far as the mass matrices that occur here allow."""
    expected = np.array(expected)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.row("T-4.1")
@pytest.mark.parametrize(**seeds(12))
def test_every_partition_gives_the_accelerations_of_articulated_bodies(seed):
    case = random_case(seed, root="floating" if seed % 3 == 2 else None)
    mechanism, rng = heavy(case.mechanism), np.random.default_rng(seed)
    tree = mechanism.tree
    pushed = Wrenches(tree, {mechanism.bodies[-1].name: rng.normal(size=6).tolist()})
    acting = Acting(mechanism.gravity, pushed)
    expected = aba(tree, case.q, case.v, case.tau, acting)
    for parts in some_cuts(tree, rng):
        same(hybrid(tree, case.q, case.v, case.tau, acting, partition=parts), expected)


def test_every_kind_of_joint_within_sub_chains_and_between_them():
    case = every_kind(3)
    mechanism = heavy(case.mechanism)
    expected = aba(mechanism.tree, case.q, case.v, case.tau, Acting(mechanism.gravity))
    for parts in some_cuts(mechanism.tree, np.random.default_rng(3)):
        same(hybrid(mechanism.tree, case.q, case.v, case.tau, Acting(mechanism.gravity), partition=parts), expected)


LOOPS = {
    "ring": lambda seed: random_ring(seed, ["revolute", "revolute", "spherical", "universal", "prismatic", "revolute"]),
    "planar ring, redundant": lambda seed: random_ring(seed, ["revolute"] * 4, planar=True),
    "floating ring": lambda seed: random_ring(seed, ["spherical", "revolute", "universal", "revolute"], base="floating"),
    "two loops": lambda seed: random_linkage(
        seed,
        [
            ("revolute", "world", "b0"), ("universal", "b0", "b1"), ("spherical", "b1", "world"), ("revolute", "b1", "b2"),
            ("spherical", "b2", "b3"), ("spherical", "b3", "b0"),
        ],
    ),
}  # fmt: skip


def regular_loops(seed: int, loops: str):
    """The first draw whose loops are well away from a singular posture: near one, damping decides the last digits."""
    for again in range(seed, seed + 1000, 100):
        linkage = LOOPS[loops](again)
        (case, drives), *_ = closed_cases(again, linkage, ["h2", "h5"] if loops == "two loops" else [linkage.hinges[-1].name])
        sizes = np.linalg.svd(LoopEquations(case.mechanism).state(case.q, case.v).J)[1]
        if min(size for size in sizes if size > 1e-9 * sizes[0]) > 0.03 * sizes[0]:
            return case, drives
    raise AssertionError(f"no regular posture of {loops} from seed {seed} on")


@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize(**seeds(3))
def test_loops_through_sub_chains_and_between_them(seed, loops):
    case, drives = regular_loops(seed, loops)
    mechanism = case.mechanism
    tree, acting = mechanism.tree, Acting(mechanism.gravity, loop_tau=drives)
    expected = aba_with_loops(tree, case.q, case.v, case.tau, acting)
    for parts in some_cuts(tree, np.random.default_rng(seed)):
        same(hybrid(tree, case.q, case.v, case.tau, acting, partition=parts), expected)


@pytest.mark.parametrize("build", [planar_tree, planar_tree_5, lambda: planar_chain(7)])
def test_thin_rods_in_every_partition_straight_postures_too(build):
    mechanism, rng = build(), np.random.default_rng(0)
    tree, n = mechanism.tree, mechanism.nv
    for q in (np.zeros(n), rng.normal(size=n)):
        state = (q.tolist(), rng.normal(size=n).tolist(), rng.normal(size=n).tolist())
        expected = aba(tree, *state, Acting(DOWN))
        for parts in some_cuts(tree, rng):
            same(hybrid(tree, *state, Acting(DOWN), partition=parts), expected)


def test_a_point_that_no_joint_can_help_is_refused_alone_and_fine_within_a_sub_chain():
    """A cylindrical joint can lend a point no resistance to turning; within one sub-chain nobody asks for it."""
    joints = (Joint("turn", "revolute", "world", "a", axis=(1.0, 0.0, 0.0)), Joint("screw", "cylindrical", "a", "b"))
    mechanism = Mechanism("screwed", (Body("a", 1.0, inertia=(0.1, 0.1, 0.1)), Body("b", 2.0, (0.5, 0.0, 0.0))), joints)
    tree, state = mechanism.tree, ([0.1, 0.2, 0.3], [0.3, 0.4, 0.5], [1.0, 2.0, 3.0])
    same(hybrid(tree, *state, Acting(DOWN), partition=[["turn", "screw"]]), aba(tree, *state, Acting(DOWN)))
    with pytest.raises(ModelError, match="no joint can lend"):
        hybrid(tree, *state, Acting(DOWN), partition=[["turn"], ["screw"]])
    same(hybrid(tree, *state, Acting(DOWN), partition="auto"), aba(tree, *state, Acting(DOWN)))


# --- programs -----------------------------------------------------------------------------------------------------------
def legs(seed: int, *, equal: bool = True, count: int = 3) -> Case:
    """A floating trunk on legs of three links, equal or mirror images in their numbers only."""
    rng = np.random.default_rng(seed)
    joints = [random_joint(rng, "base", "floating", "world", "trunk", passive=False)]
    bodies = [random_body(rng, "trunk")]
    drawn = [(random_joint(rng, "", "revolute", "", ""), random_body(rng, "")) for _ in range(3)]
    for leg in range(count):
        above = "trunk"
        for k, (joint, body) in enumerate(drawn):
            name = f"leg{leg}_{k}"
            grown = 1.0 if equal else 1.0 + 0.25 * leg
            at = pose(rng.uniform(-0.5, 0.5, 3)) if k == 0 else joint.pose
            joints.append(replace(joint, name=f"hinge{leg}_{k}", parent=above, child=name, pose=at))
            bodies.append(replace(body, name=name, mass=body.mass * grown))
            above = name
    return random_state(Mechanism("legs", tuple(bodies), tuple(joints)), rng)


def traced(case: Case, partition, **options):
    tree = case.mechanism.tree
    inputs = {"q": tree.nq, "v": tree.nv, "tau": tree.nv}
    return trace(lambda q, v, tau: hybrid(tree, q, v, tau, Acting(DOWN), partition=partition, **options), inputs, "hybrid")


def by_legs(mechanism: Mechanism):
    return [["base"], *([f"hinge{leg}_{k}" for k in range(3)] for leg in range(3))]


def test_equal_legs_are_one_program_called_thrice():
    case = legs(0)
    program = traced(case, by_legs(case.mechanism))
    assert sorted(callee.name for callee in program.callees) == ["subchain", "subchain_rates"]
    called = [node.payload.name for node in program.line if node.op == "call"]
    assert called.count("subchain") == called.count("subchain_rates") == 3


def test_a_prepared_program_serves_every_trace_that_needs_it():
    case = legs(0)
    first, again = (traced(case, by_legs(case.mechanism)).callees for _ in range(2))
    assert set(first) == set(again)
    other = legs(0, count=2)
    parts = [["base"], *([f"hinge{leg}_{k}" for k in range(3)] for leg in range(2))]
    assert set(traced(other, parts).callees) == set(first)  # another mechanism with these legs


def test_legs_that_differ_by_numbers_share_a_program_that_reads_only_these():
    equal, grown = (traced(case, by_legs(case.mechanism)) for case in (legs(0), legs(0, equal=False)))
    sizes = [{c.name: c.inputs[0].size for c in program.callees}["subchain"] for program in (equal, grown)]
    assert sizes[0] < sizes[1] < sizes[0] + 3 * 16  # of each link's numbers, those of its inertia and no other


@pytest.mark.parametrize("share_from", [1, 2, 99])
@pytest.mark.parametrize("equal", [True, False], ids=["equal", "grown"])
def test_compiled_with_called_and_with_inlined_sub_chains(equal, share_from):
    case = legs(1, equal=equal)
    tree = case.mechanism.tree
    program = traced(case, by_legs(case.mechanism), share_from=share_from)
    assert bool(program.callees) == (share_from < 99)
    rng = np.random.default_rng(0)
    states = [random_state(case.mechanism, rng) for _ in range(9)]
    found = Kernel(program)(*(np.array([getattr(s, key) for s in states]) for key in ("q", "v", "tau")))
    same(found, [aba(tree, s.q, s.v, s.tau, Acting(DOWN)) for s in states])


# --- the best partition -------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f1")
@pytest.mark.parametrize(
    ("mechanism", "thesis"),
    [(planar_chain(7), {4}), (floating_chain(6), {3}), (floating_chain(9), {3, 6}), (pa10(), {4})],
    ids=lambda x: getattr(x, "name", ""),
)
def test_the_best_partition_takes_no_more_operations_than_that_of_the_thesis(mechanism, thesis):
    tree = mechanism.tree
    trials = tried_partitions(tree, hybrid_operations)
    assert len({trial.parts for trial in trials}) == len(trials)
    best = chosen_parts(tree, "auto", hybrid_operations)
    assert hybrid_operations(tree, best) == min(trial.operations for trial in trials)
    assert hybrid_operations(tree, best) <= hybrid_operations(tree, parts_by_cuts(tree, thesis))


def test_auto_is_the_best_partition():
    case = legs(2)
    tree = case.mechanism.tree
    same(
        hybrid(tree, case.q, case.v, case.tau, Acting(DOWN), partition="auto"),
        aba(tree, case.q, case.v, case.tau, Acting(DOWN)),
    )


def test_partitions_by_names_and_by_indices_are_the_same():
    tree = legs(0).mechanism.tree
    names = by_legs(legs(0).mechanism)
    index = {link.name: link.index for link in tree.links}
    assert parts_by_names(tree, names) == parts_by_names(tree, [[index[name] for name in part] for part in names])
    assert len(parted_tree(tree, parts_by_names(tree, names)).between) == 3


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ([["joint1", "joint2"]], r"leaves out joint3, joint4, joint5, joint6, joint7"),
        ([["joint1", "joint9"]], r"'joint9', which does not exist; there are joint1, "),
        ([[0, 1, 2, 3, 4, 5, 6], [6]], r"names joint7 more than once"),
        ([[0, 2], [1], [3, 4, 5, 6]], r"joint1, joint3 is not connected: it begins at joint1 and at joint3"),
        ([[0, 7]], r"the joint 7, which does not exist"),
    ],
)
def test_what_is_no_partition_is_refused(partition, message):
    tree = pa10().tree
    zeros = [0.0] * 7
    with pytest.raises(ModelError, match=message):
        hybrid(tree, zeros, zeros, zeros, Acting(DOWN), partition=partition)


def test_an_unknown_word_is_refused():
    zeros = [0.0] * 7
    with pytest.raises(InputError, match=r"no partition 'best'; give \"auto\""):
        hybrid(pa10().tree, zeros, zeros, zeros, Acting(DOWN), partition="best")


def test_the_mass_matrix_of_a_whole_sub_chain_is_that_of_the_mechanism():
    """(4.14): on the ground, one sub-chain is the mechanism; its tree has the same M."""
    case = random_case(5, passive=False)
    tree = case.mechanism.tree
    part, *others = parted_tree(tree, parts_by_cuts(tree, set())).parts
    if not others:
        own = part.coordinates(tree.links, case.q)
        np.testing.assert_allclose(crba(part.subchain.tree, list(own)), crba(tree, case.q), atol=1e-12)
