"""All methods of forward dynamics give the same accelerations: trees, loops, every kind of joint, any partition and order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, Wrenches
from kumitate.model.tree.subchains import parts_by_cuts
from kumitate.programs import FORWARD_DYNAMICS

from ..mechanisms import MOVING, Case, random_case, random_mechanism, random_pose, random_state, seeds
from .test_closed_loops import compiled_case, every_case, made
from .test_hybrid import LOOPS, heavy, regular_loops, same

#: Hybrid modelling in partitions drawn at random: so many besides the whole and every link by itself.
PARTITIONS = 1


def options_of(method: str, tree, rng: np.random.Generator) -> list[dict]:
    """What a method may be told besides: the sub-chains, the order of assembly."""
    n = len(tree.links)
    if method == "hybrid":
        shares = (0.0, *rng.uniform(0.2, 0.8, PARTITIONS), 1.0)
        return [{"partition": parts_by_cuts(tree, {k for k in range(n) if rng.random() < share})} for share in shares]
    return [{"order": order} for order in (None, "balanced")] if method in ("ada", "dca") else [{}]


def all_agree(case: Case, rng: np.random.Generator, **forces) -> None:
    """By every name that users have, to a billionth of the largest acceleration."""
    tree, acting = case.mechanism.tree, Acting(case.mechanism.gravity, **forces)
    expected = np.array(FORWARD_DYNAMICS["aba"](tree, case.q, case.v, case.tau, acting))
    for method, page in FORWARD_DYNAMICS.items():
        for options in options_of(method, tree, rng):
            found = page(tree, case.q, case.v, case.tau, acting, **options)
            apart = np.abs(np.array(found) - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0))
            assert apart <= 1e-9, f"{method} {options}: {apart:.2g} from aba"


def test_every_method_is_here():
    assert set(FORWARD_DYNAMICS) == {"aba", "ada", "dca", "crba", "unit_vector", "lagrange", "hybrid"}


@pytest.mark.row("T-lag", "T-aba", "T-dca", "T-ada", "T-4.1")
@pytest.mark.parametrize(**seeds(6))
def test_trees(seed):
    case = random_case(seed, root="floating" if seed % 3 == 2 else None)
    case = Case(heavy(case.mechanism), case.q, case.v, case.tau, case.a)
    rng = np.random.default_rng(seed)
    pushed = Wrenches(case.mechanism.tree, {case.mechanism.bodies[-1].name: rng.normal(size=6).tolist()})
    all_agree(case, rng, wrenches=pushed)


@pytest.mark.row("T-lag", "T-sing")
@every_case
def test_loops_gears_and_rods(make):
    """Redundant loops, loops that share bodies, rods of fixed length, gears; drives, springs, dampers along their freedoms."""
    case, efforts = made(make)
    all_agree(case, np.random.default_rng(0), loop_tau=efforts)


@pytest.mark.row("T-lag")
@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize(**seeds(2))
def test_loops_under_wrenches(seed, loops):
    case, efforts = regular_loops(seed, loops)
    rng = np.random.default_rng(seed)
    pushed = Wrenches(case.mechanism.tree, {case.mechanism.bodies[-1].name: rng.normal(size=6).tolist()})
    all_agree(case, rng, loop_tau=efforts, wrenches=pushed)


@pytest.mark.row("T-lag")
@compiled_case
def test_lagrange_compiled_with_loops(make):
    case, efforts = made(make)
    robot = km.Robot(case.mechanism)
    state = [np.array([x] * 3) for x in (case.q, case.v, case.tau)]
    drives = {name: np.array([values] * 3) for name, values in efforts.items()}
    expected = robot.forward_dynamics(*state, loop_tau=drives)
    found = robot.forward_dynamics(*state, method="lagrange", loop_tau=drives)
    assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.row("T-lag", "T-3.3")
def test_lagranges_parallelogram_is_one_pendulum():
    """θ̈ = (6/5)(g/l) sin θ, away from the posture in line: a closed form that no other method has a part in."""
    robot = km.load("planar_4r")
    for angle in np.radians([135.0, 30.0, -70.0]):
        q = np.array([angle, np.pi / 2 - angle, np.pi / 2 + angle])
        a = robot.forward_dynamics(q, np.zeros(3), np.zeros(3), method="lagrange")
        assert np.abs(a - 1.2 * 9.81 * np.sin(angle) * np.array([1.0, -1.0, 1.0])).max() < 1e-9


def tied(seed: int) -> Case:
    """A random tree with a weld and a locked joint, tied by springs: lines anywhere, and in both, a line and a loop joint.

    What ties a rigid body to itself does nothing.
    """
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(MOVING, 5)]
    tree = random_mechanism(rng, ["revolute", *kinds, "fixed"])
    welded, hinged = tree.joint("j6"), tree.joint("j0")
    names, spring = [body.name for body in tree.bodies], {"stiffness": 50.0, "rest": 0.1, "damping": 0.3}
    inside = [(joint.parent, joint.child) for joint in (welded, hinged)]
    ties = [("line", *rng.choice(names, 2, replace=False)) for _ in range(2)]
    ties += [(kind, *ends) for kind in ("line", "revolute") for ends in inside]
    poses = [(random_pose(rng).dense(), random_pose(rng).dense()) for _ in ties]
    loops = tuple(
        km.Loop(f"tie{k}", km.Line() if kind == "line" else kind, str(a), str(b), *poses[k], **spring)
        for k, (kind, a, b) in enumerate(ties)
    )
    locked = km.Robot(replace(heavy(tree), loops=loops)).locked([hinged.name]).mechanism
    return random_state(locked, rng)


@pytest.mark.parametrize(**seeds(6))
def test_springs_within_one_rigid_body_do_nothing(seed):
    case = tied(seed)
    all_agree(case, np.random.default_rng(seed))
    free = replace(case.mechanism, loops=case.mechanism.loops[:2])
    state = (free.tree, case.q, case.v, case.tau, Acting(free.gravity))
    same(FORWARD_DYNAMICS["ada"](*state), FORWARD_DYNAMICS["aba"](case.mechanism.tree, *state[1:]))
