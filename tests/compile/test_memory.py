"""What a program and its machine code take of memory is given back when nobody refers to them any more."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.compile.llvm.plan import LONGEST_LINE, line_partition
from kumitate.scalar import loop, sin, trace

pytestmark = pytest.mark.usefixtures("little_to_collect")


def chain(n: int):
    """A program of n additions, each of the one before."""

    def page(x):
        total = x[0]
        for k in range(n):
            total = total + float(k + 1) * x[1]
        return [total]

    return trace(page, {"x": 2}, "chain")


def looping():
    """A program with a loop that keeps something of every pass."""

    def page(x):
        _, kept = loop(4, lambda i, c: (sin(c), c), x[0])
        return [kept[k] for k in range(4)]

    return trace(page, {"x": 1}, "looping")


@pytest.mark.parametrize("make", [lambda: chain(3), looping], ids=["line", "loop"])
def test_a_program_goes_with_its_kernel(make):
    program = make()
    kernel = Kernel(program)
    kernel.prepare()
    gone = weakref.ref(program)
    del program, kernel
    gc.collect()
    assert gone() is None


def test_a_long_program_goes_with_its_plan():
    program = chain(LONGEST_LINE)
    assert line_partition(program) is line_partition(program) is not None  # found once
    gone = weakref.ref(program)
    del program
    gc.collect()
    assert gone() is None


def test_a_function_of_a_kernel_keeps_the_code():
    kernel = Kernel(trace(lambda x: [2.0 * x[0]], {"x": 1}, "doubled")).prepare()
    into = kernel.into
    del kernel
    gc.collect()
    out = np.empty(1)
    into(out, np.array([3.0]))
    assert out[0] == 6.0


def test_machine_code_is_given_back():
    # 200 kernels of which none is kept; before that some more, until caches and the allocator's arenas are full
    script = textwrap.dedent(
        """
        import gc, resource, sys
        from pathlib import Path
        from kumitate.compile import Kernel
        from kumitate.scalar import sin, trace

        def megabytes():
            if Path("/proc/self/statm").exists():
                return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)

        program = trace(lambda x: [1.5 * sin(x[0])], {"x": 1}, "small")

        def use(count):
            for k in range(count):
                Kernel(program)([0.3])
                if k % 20 == 19:
                    gc.collect()

        use(60)
        before = megabytes()
        use(200)
        print(megabytes() - before)
        """
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr
    assert float(answer.stdout) < 0.5, f"200 kernels left {answer.stdout.strip()} MB behind"
