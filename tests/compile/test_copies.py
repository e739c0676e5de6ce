"""Programs and kernels that are copied, or sent to other processes: the same code, the same bits."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.programs import make_program
from kumitate.scalar import Program, call, evaluate, loop, select, sin, table, trace, when


def pickled(thing):
    """As another process gets it."""
    return pickle.loads(pickle.dumps(thing))


def everything() -> Program:
    """A loop in a loop, one that stops early, what is kept of a loop, a table, one program called twice, a branch."""
    called = trace(lambda x: [sin(x[0]) * x[1], x[0] - x[1]], {"x": 2}, "called")
    values = table([0.5, 0.25, 0.125])

    def body(i, carried):
        inner, _ = loop(2, lambda j, c: (c * values[i] + carried, None), carried)
        return inner + j_free, (inner, carried)

    def page(x, n):
        nonlocal j_free
        j_free = x[1] * n
        last, kept = loop(3, body, x[0])
        until, _ = loop(5, lambda i, c: (c * 2.0, None), x[1], while_=lambda c: c < 3.0)
        first, second = call(called, [last, x[1]]), call(called, [until, kept[1][0]])
        branch = when(x[0] < 0.5, lambda: sin(x[0]), x[1])
        return {"a": [*first, *second], "b": [[kept[0][1], branch], [select(x[0] < x[1], n, 2.0), 3.0]]}

    j_free = None
    return trace(page, {"x": 2, "n": ()}, "everything")


def chain(n: int) -> Program:
    def page(x):
        total = x[0]
        for k in range(n):
            total = total * x[0] + float(k)
        return [total]

    return trace(page, {"x": 1}, "chain")


def dynamics() -> Program:
    return make_program(km.load("pa10").mechanism, "forward_dynamics")


PROGRAMS = {"everything": everything, "a chain of 10 000": lambda: chain(10_000), "pa10": dynamics}


# what refers to what refers to ... is 10 000 deep in the chain: copying must not follow it as far as the stack reaches
@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("copied", [pickled, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_copied_program_is_the_same(make, copied):
    program = make()
    other = copied(program)
    assert other is not program
    assert str(other) == str(program)
    assert other.operations == program.operations
    assert Kernel(other).source("llvm") == Kernel(program).source("llvm")  # so that the disk cache has its code
    given = np.random.default_rng(2).uniform(0.1, 0.9, sum(array.size for array in program.inputs))
    assert evaluate(other, given) == evaluate(program, given)


def test_a_program_that_is_called_twice_stays_one():
    (called,) = pickled(everything()).callees
    assert called.name == "called"


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])
@pytest.mark.parametrize(("dtype", "portable"), [(np.float64, False), (np.float32, True)])
def test_a_copy_of_a_used_kernel_gives_the_same_bits(copied, dtype, portable):
    kernel = Kernel(everything(), dtype, portable=portable)
    rng = np.random.default_rng(3)
    given = rng.uniform(0.1, 0.9, (2 * kernel.lanes + 1, 2)), rng.uniform(0.1, 0.9, 2 * kernel.lanes + 1)
    batch, one = kernel(*given), kernel(given[0][0], given[1][0])
    other = copied(kernel)
    assert (other.precision, other.portable, other.name) == (kernel.precision, portable, kernel.name)
    for mine, its in ((batch, other(*given)), (one, other(given[0][0], given[1][0]))):
        for a, b in zip(mine, its, strict=True):
            np.testing.assert_array_equal(a, b)
    assert other.code(1).from_cache


def test_a_kernel_can_be_sent_to_another_process(tmp_path):
    kernel = Kernel(trace(lambda x: [1.5 * sin(x[0])], {"x": 1}, "sent"))
    result = kernel([0.3])
    (tmp_path / "kernel").write_bytes(pickle.dumps((kernel, result)))
    script = textwrap.dedent(
        """
        import pickle, sys
        from pathlib import Path
        kernel, result = pickle.loads(Path(sys.argv[1]).read_bytes())
        assert kernel([0.3]) == result
        """
    )
    answer = subprocess.run([sys.executable, "-c", script, tmp_path / "kernel"], capture_output=True, text=True, timeout=100)
    assert answer.returncode == 0, answer.stderr
