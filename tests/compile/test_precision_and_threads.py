"""float32 kernels, and large batches on threads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel, threads
from kumitate.errors import InputError
from kumitate.programs import make_program
from kumitate.scalar import arctan2, cos, exp, is_double, loop, select, sin, sqrt, table, trace


@pytest.fixture(scope="module")
def program():
    return make_program(km.load("pa10").mechanism, "forward_dynamics")


def states(n: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, 7)) for _ in range(3)]


@pytest.mark.parametrize("n", [1, 3, 15, 16, 37])
def test_single_precision_follows_double(program, n):
    single, double = Kernel(program, np.float32), Kernel(program)
    given = states(n)
    a, b = single(*given), double(*given)
    assert a.dtype == np.float32
    assert np.abs(a - b).max() < 1e-5 * np.abs(b).max()
    assert np.array_equal(single(*(x[0] for x in given)), a[0])


def test_single_precision_has_twice_the_lanes(program):
    assert Kernel(program, np.float32).lanes == 2 * Kernel(program).lanes


def test_single_precision_of_everything():
    """Functions, library calls, loops and tables, scattered outputs."""
    values = table([0.5, 0.25, 0.125])

    def page(x):
        total, kept = loop(3, lambda i, c: (c * values[i] + sin(c), c), x[0])
        return [total, kept[1], cos(x[1]), exp(x[1]), arctan2(x[0], x[1])] + [x[0] * float(k) for k in range(80)]

    program = trace(page, {"x": 2}, name="everything")
    given = np.random.default_rng(1).uniform(0.5, 2.0, (19, 2))
    assert np.allclose(Kernel(program, np.float32)(given), Kernel(program)(given), rtol=2e-6)


def test_a_robot_compiles_in_single_precision_on_request():
    arm = km.load("pa10")
    kernel = arm.compile("mass_matrix", dtype=np.float32)
    assert kernel(arm.start[0]).dtype == np.float32
    assert kernel is not arm.compile("mass_matrix")
    assert arm.compile("mass_matrix", portable=True).portable
    assert not arm.compile("mass_matrix").portable


def test_other_dtypes_are_refused(program):
    with pytest.raises(InputError, match="float64 or float32, not in int64"):
        Kernel(program, np.int64)


@pytest.mark.parametrize("n", [64, 100, 101, 127, 1000])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_threads_change_no_bit(program, monkeypatch, n, count):
    given = states(n)
    whole = Kernel(program)(*given)
    monkeypatch.setenv("KUMITATE_THREADS", str(count))
    monkeypatch.setattr("kumitate.compile.kernel.states_for_one_thread", lambda program: 16)
    monkeypatch.setattr("kumitate.compile.fastcall.states_for_one_thread", lambda program: 16)
    assert np.array_equal(Kernel(program)(*given), whole)


#: A batch, and rounds of batches, shared by two threads however small they are.
BATCH = """
    from kumitate.compile import Kernel, fastcall, kernel
    from kumitate.scalar import sin, trace

    for module in (kernel, fastcall):
        module.states_for_one_thread = lambda program: 16
    sine, x = Kernel(trace(lambda x: [1.5 * sin(x[0])], {"x": 1}, "forked")), np.linspace(0.0, 1.0, 200)[:, None]
    call = lambda: sine(x)
"""
ROUNDS = """
    import kumitate as km
    from kumitate.papers.parallel import parallel_ada, plan

    plan.WORTH_SHARING = 0
    arm = km.load("pa10")
    parallel, state = parallel_ada(arm, threads=2), (*arm.start, np.zeros(arm.nv))
    call = lambda: parallel(*state)
"""


@pytest.mark.parametrize("work", [BATCH, ROUNDS], ids=["batch", "rounds"])
def test_threads_after_a_fork_give_the_same_bits(work):
    script = f"""
import os, signal, sys, warnings
import numpy as np
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, since Python 3.12
{textwrap.dedent(work)}
before = call()
child = os.fork()
if child == 0:
    signal.alarm(10)  # ends what hangs
    os._exit(0 if np.array_equal(call(), before) else 3)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    environment = {**os.environ, "KUMITATE_THREADS": "2"}
    answer = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=100)
    assert answer.returncode == 0, f"the child ended with {answer.returncode} (-14: it hung); {answer.stderr}"


@pytest.mark.parametrize(("dtype", "expected"), [(np.float64, 1.0), (np.float32, 0.0)])
@pytest.mark.parametrize("portable", [False, True])
def test_programs_know_their_precision(dtype, expected, portable):
    kernel = Kernel(trace(lambda x: [select(is_double(x[0]), 1.0, 0.0)], {"x": 1}, "known"), dtype, portable=portable)
    x = np.array([[1e-6], [1.0], [1.234], [3e5], [7.0], [8.0], [9.0], [10.0], [11.0]], dtype)
    assert (kernel(x) == expected).all()
    assert kernel(x[0]) == expected


def test_numbers_too_small_for_a_precision_are_not_zero():
    kernel = Kernel(trace(lambda x: [x[0] / (x[0] + 1e-300), sqrt(x[0] * x[0] + 1e-300)], {"x": 1}, "small"), np.float32)
    assert np.isfinite(kernel(np.zeros(1, np.float32))).all()


def test_stretches_cover_every_state_once():
    done = np.zeros(103, int)

    def count(n: int, pointer: int) -> None:
        done[pointer : pointer + n] += 1

    threads.run_states(count, 103, [0], [1], lanes=8, most=10)
    assert (done == 1).all()


def test_a_wrong_number_of_threads_is_answered(monkeypatch):
    monkeypatch.setenv("KUMITATE_THREADS", "many")
    with pytest.raises(InputError, match="KUMITATE_THREADS is 'many'"):
        threads.thread_count()
