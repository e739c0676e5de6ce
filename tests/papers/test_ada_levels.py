"""ADA in rounds: the pages against articulated bodies over any tree, the rounds' number, and the compiled batches."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

from kumitate.dynamics import Acting, aba, rnea
from kumitate.dynamics.assembly.connection import WORLD, carriers
from kumitate.errors import InputError, ModelError
from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.model.samples import floating_chain, four_bars, pa10, planar_chain
from kumitate.papers.parallel import plan as level_plan
from kumitate.papers.parallel.plan import parallel_ada
from kumitate.papers.parallel.programs import MOST_HANDLES, rounds
from kumitate.robot import Robot
from kumitate.scalar.evaluate import evaluate
from kumitate.spatial import pose
from studies.bench.subjects import RandomChain

from ..mechanisms import every_kind, random_case, random_mechanism, random_state, seeds
from ..repo.sources import ROOT


class Interpreted:
    """Stands in for a kernel: the program run row by row on floats, without compiling."""

    lanes = 1

    def __init__(self, program):
        self.program, self.name = program, program.name
        self.inputs, self.outputs = program.inputs, program.outputs

    def into(self, made, *given):
        for k in range(len(given[0])):
            values = evaluate(self.program, [x for array in given for x in array[k].ravel().tolist()])
            for array, spec in zip(made, self.outputs, strict=True):
                array[k] = np.array(values[: spec.size]).reshape(spec.shape)
                values = values[spec.size :]


@pytest.fixture
def interpreted(monkeypatch):
    """Nothing is compiled: laws over many mechanisms with many kinds of joints would take minutes."""
    monkeypatch.setattr(level_plan, "Kernel", Interpreted)


def heavy(mechanism: Mechanism) -> Mechanism:
    """Every body with an inertia that has an inverse."""
    bodies = tuple(replace(b, mass=b.mass + 0.5, inertia=np.array(b.inertia) + 0.05 * np.eye(3)) for b in mechanism.bodies)
    return replace(mechanism, bodies=bodies)


def check_against_articulated_bodies(mechanism: Mechanism, q, v, tau, found) -> None:
    """The residual rule, and the accelerations themselves."""
    tree, gravity = mechanism.tree, mechanism.gravity
    expected = np.array(aba(tree, q, v, tau, Acting(gravity)))
    needed = np.array(rnea(tree, q, v, found.tolist(), gravity=gravity)) - tau
    still = np.array(rnea(tree, q, v, [0.0] * tree.nv, gravity=gravity)) - tau
    assert np.linalg.norm(needed) <= 1e-11 * np.linalg.norm(still)
    assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.row("T-f2")
@pytest.mark.parametrize(**seeds(12))
def test_trees_of_any_joints_move_as_articulated_bodies_do(interpreted, seed):
    case = random_case(seed)
    mechanism = heavy(case.mechanism)
    found = parallel_ada(mechanism)(case.q, case.v, case.tau)
    check_against_articulated_bodies(mechanism, case.q, case.v, case.tau, found)


@pytest.mark.row("T-f2")
def test_every_kind_of_joint_is_assembled(interpreted):
    case = every_kind(3)
    mechanism = heavy(case.mechanism)
    found = parallel_ada(mechanism)(case.q, case.v, case.tau)
    check_against_articulated_bodies(mechanism, case.q, case.v, case.tau, found)


def test_a_body_that_floats_within_a_tree_is_pushed_by_its_drive_alone(interpreted):
    rng = np.random.default_rng(5)
    mechanism = heavy(random_mechanism(rng, ["revolute", "floating", "universal", "prismatic"], chain=True))
    state = random_state(mechanism, rng)
    found = parallel_ada(mechanism)(state.q, state.v, state.tau)
    check_against_articulated_bodies(mechanism, state.q, state.v, state.tau, found)


@pytest.mark.parametrize("links", [1, 2, 7])
def test_thin_rods_are_lent_what_they_lack(interpreted, links):
    mechanism, rng = planar_chain(links), np.random.default_rng(links)
    q, v, tau = rng.normal(size=(3, links)).tolist()
    check_against_articulated_bodies(mechanism, q, v, tau, parallel_ada(mechanism)(q, v, tau))


# --- rounds -----------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f2")
@pytest.mark.parametrize("links", [1, 2, 3, 4, 7, 8, 63, 64, 300])
def test_a_chain_takes_as_many_rounds_as_its_length_doubles(links):
    assert len(rounds(floating_chain(links).tree)) == math.ceil(math.log2(links + 1))


def comb(teeth: int) -> Mechanism:
    """A chain of which every link carries one more."""
    names = [f"back{k}" for k in range(teeth)] + [f"tooth{k}" for k in range(teeth)]
    carried = ["world", *names[: teeth - 1], *names[:teeth]]
    bodies = tuple(Body(name, 1.0, (0.0, 0.0, 0.1), (0.01, 0.02, 0.03)) for name in names)
    joints = tuple(
        Joint(f"j_{name}", KINDS["revolute"], on, name, pose((0.1, 0.0, 0.3), (0.2, 0.3, 0.0)))
        for on, name in zip(carried, names, strict=True)
    )
    return Mechanism("comb", bodies, joints)


def bush(count: int, seed: int) -> Mechanism:
    """A random tree whose links carry up to three others."""
    rng = np.random.default_rng(seed)
    free = ["world"]
    bodies, joints = [], []
    for k in range(count):
        on = free.pop(int(rng.integers(len(free))))
        free += [f"b{k}"] * 3
        bodies.append(Body(f"b{k}", 1.0, (0.0, 0.0, 0.1), (0.01, 0.02, 0.03)))
        joints.append(Joint(f"j{k}", KINDS["revolute"], on, f"b{k}", pose((0.1, 0.0, 0.3), (0.2, 0.3, 0.0))))
    return Mechanism("bush", tuple(bodies), tuple(joints))


@pytest.mark.parametrize("mechanism", [comb(32), comb(200), bush(60, 1), bush(300, 2)], ids=lambda m: f"{m.name}{m.nv}")
def test_rounds_close_every_joint_once_between_bodies_that_are_there(mechanism):
    tree = mechanism.tree
    plan, carried_by = rounds(tree), carriers(tree)
    assert len(plan) <= 3 * math.log2(tree.nv + 1)
    assert sorted(merge.joint for done in plan for merge in done) == list(range(tree.nv))
    there = {index: (index,) for index in range(tree.nv)} | {WORLD: ()}
    for done in plan:
        numbers = [body.number for merge in done for body in (merge.inner, merge.outer) if body.number != WORLD]
        assert len(numbers) == len(set(numbers)), "a body is in two pairs of a round"
        made = {}
        for merge in done:
            for end, body in ((merge.carrier, merge.inner), (merge.joint, merge.outer)):
                assert there[body.number] == body.handles
                assert end in body.handles or end == WORLD
            assert carried_by[merge.joint] == merge.carrier
            assert len(merge.result.handles) <= MOST_HANDLES
            made[merge.result.number] = merge.result.handles
        for number in numbers:
            del there[number]
        there |= made
    assert all(not handles for handles in there.values()), "a handle is left"


@pytest.mark.parametrize("mechanism", [comb(6), bush(14, 3)], ids=lambda m: m.name)
def test_combs_and_bushes_move_as_articulated_bodies_do(interpreted, mechanism):
    q, v, tau = np.random.default_rng(1).normal(size=(3, mechanism.nv)).tolist()
    check_against_articulated_bodies(mechanism, q, v, tau, parallel_ada(mechanism)(q, v, tau))


# --- compiled ---------------------------------------------------------------------------------------------------------
@pytest.mark.row("T-f2")
@pytest.mark.parametrize(("links", "chunk"), [(3, 512), (40, 16), (90, 32)])
def test_compiled_batches_agree_and_threads_change_nothing(monkeypatch, links, chunk):
    monkeypatch.setattr(level_plan, "CHUNK", chunk)
    monkeypatch.setattr(level_plan, "WORTH_SHARING", 0)
    mechanism = RandomChain("chain", "random chain", links).mechanism
    q, v, tau = np.random.default_rng(links).normal(size=(3, links))
    accelerate = parallel_ada(mechanism)
    found = accelerate(q, v, tau)
    check_against_articulated_bodies(mechanism, q.tolist(), v.tolist(), tau.tolist(), found)
    np.testing.assert_array_equal(accelerate(q, v, tau), found)  # nothing is left over from call to call
    for threads in (2, 3):
        np.testing.assert_array_equal(accelerate.on(threads)(q, v, tau), found)


def test_calls_from_several_threads_do_not_mix():
    mechanism = pa10()
    accelerate, found = parallel_ada(mechanism), {}
    states = np.random.default_rng(0).normal(size=(4, 3, 7))

    def work(k: int) -> None:
        for _ in range(20):
            found[k] = accelerate(*states[k])

    workers = [Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k, state in enumerate(states):
        np.testing.assert_array_equal(found[k], accelerate(*state))


@pytest.mark.slow
@pytest.mark.row("T-f2")
def test_ten_thousand_links_leave_a_small_residual_within_two_gigabytes():
    """In a process of its own, whose memory is its own, too."""
    script = textwrap.dedent("""
        import sys
        import numpy as np
        from kumitate.papers.parallel.plan import parallel_ada
        from kumitate.robot import Robot
        from studies.bench.subjects import RandomChain

        links = 10_000
        robot = Robot(RandomChain("chain", "random chain", links).mechanism)
        q, v, tau = np.random.default_rng(0).normal(size=(3, links))
        accelerate = parallel_ada(robot, threads=2)
        found = accelerate(q, v, tau)
        assert accelerate.levels == 14
        assert accelerate.bytes < 100e6
        needed, still = (robot.inverse_dynamics(q, v, a) - tau for a in (found, np.zeros(links)))
        assert np.linalg.norm(needed) <= 1e-11 * np.linalg.norm(still)
        if sys.platform == "linux":  # kilobytes; getrusage counts what the process that started this one had
            status = dict(line.split(":", 1) for line in open("/proc/self/status"))
            assert int(status["VmHWM"].split()[0]) < 2e6
    """)
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stderr


# --- refusals ---------------------------------------------------------------------------------------------------------
def test_what_it_does_not_do_is_refused():
    with pytest.raises(ModelError, match="method='ada'"):
        parallel_ada(four_bars(1))
    with pytest.raises(InputError, match="threads is 0"):
        parallel_ada(pa10(), threads=0)
    with pytest.raises(InputError, match=r"q has shape \(2, 7\).*\(7,\)"):
        parallel_ada(Robot(pa10()))(np.zeros((2, 7)), np.zeros(7), np.zeros(7))


def test_very_many_rods_without_inverse_are_refused_before_memory_runs_out():
    with pytest.raises(ModelError, match="inertia about every axis"):
        parallel_ada(planar_chain(340))
