"""ADA in rounds against articulated bodies, over chains of 10 to 10 000 links: depth, operations, time, memory.

The thesis leaves the parallel ADA open (8.2 item 2): with as many processors as links it should take O(log n). Here it runs on
one or two threads and the lanes of their processors; what it would take elsewhere is its depth.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.dynamics import Acting, aba, rnea
from kumitate.errors import KumitateError
from kumitate.measure.timing import Contender, Effort, Timing, by_turns, machine
from kumitate.model import Mechanism, Tree
from kumitate.papers.parallel.plan import Round, parallel_ada
from kumitate.scalar import Program, Scalar, trace

from ..bench.subjects import RandomChain
from .program_depth import program_depth

__all__ = ["LENGTHS", "Levels", "Line", "compare_levels", "rounds_depth"]

#: Links of the chains; those of which ABA is written line by line, so that its depth can be counted.
LENGTHS = (10, 30, 100, 300, 1000, 3000, 10000)
STRAIGHT = 90
#: ‖RNEA(v̇) − τ‖ as part of ‖τ − h‖ that is allowed, and the largest difference to articulated bodies.
RESIDUAL, DIFFERENCE = 1e-11, 1e-9


@dataclass(frozen=True)
class Line:
    """One chain.

    Attributes:
        links: how many.
        levels: rounds that its joints are closed in; `programs`: rounds of a whole evaluation.
        depth: the longest row of operations that wait for one another; `serial_depth`: that of ABA, where it is counted.
        operations: of an evaluation; `serial_operations`: of ABA.
        kept: bytes of the arrays between programs; `peak`: of the process by then, mechanism and compilers included.
        residual: ‖RNEA(v̇) − τ‖ / ‖τ − h‖; `difference`: to ABA, as part of the largest acceleration.
        timings: seconds an evaluation, by number of threads; `serial`: of ABA, compiled, one state, one thread.
    """

    links: int
    levels: int
    programs: int
    depth: int
    serial_depth: int | None
    operations: int
    serial_operations: int
    kept: int
    peak: int | None
    residual: float
    difference: float
    timings: dict[int, Timing]
    serial: Timing


@dataclass(frozen=True)
class Levels:
    """All chains, on which machine.

    Attributes:
        machine, rounds: on what, and how many samples of every time.
        lines: by length.
        control: how many times as much so many threads did, at the end, as one, of work that shares nothing.
    """

    machine: dict[str, str]
    lines: tuple[Line, ...]
    rounds: int
    control: dict[int, float]

    @property
    def fit(self) -> tuple[float, float, float]:
        """a, b and R² of depth = a + b log₂ n, by least squares."""
        x, y = np.log2([line.links for line in self.lines]), np.array([line.depth for line in self.lines], dtype=float)
        b, a = np.polyfit(x, y, 1)
        spread = float(((y - y.mean()) ** 2).sum())
        return float(a), float(b), 1.0 - float(((y - a - b * x) ** 2).sum()) / spread

    @property
    def fit_name(self) -> str:
        """What the fitted curve is called."""
        a, b, _ = self.fit
        return f"{a:.0f} + {b:.0f} log₂ n"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, times in seconds."""
        a, b, certainty = self.fit
        return {
            "machine": self.machine, "rounds": self.rounds, "control": self.control,
            "lines": [asdict(line) for line in self.lines],
            "depth": {"constant": a, "per doubling": b, "R2": certainty},
        }  # fmt: skip

    def table(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Head and rows."""
        threads = sorted({count for line in self.lines for count in line.timings})
        times = tuple(f"ADA, {count} thread{'s' * (count > 1)} [ms]" for count in threads)
        head = (
            "links", "levels", "programs", "depth", "depth of ABA", "operations", "of ABA", *times, "ABA [ms]",
            "kept [MB]", "process [MB]", "residual", "difference",
        )  # fmt: skip
        return head, [_row(line, threads) for line in self.lines]

    def curves(self) -> dict[str, dict[str, dict[int, float]]]:
        """What the figure shows: by panel and curve, the value by links."""
        a, b, _ = self.fit
        depth = {
            "ADA in rounds": {line.links: float(line.depth) for line in self.lines},
            self.fit_name: {line.links: a + b * math.log2(line.links) for line in self.lines},
            "ABA": {line.links: float(line.serial_depth) for line in self.lines if line.serial_depth is not None},
        }
        operations = {
            "ADA in rounds": {line.links: float(line.operations) for line in self.lines},
            "ABA": {line.links: float(line.serial_operations) for line in self.lines},
        }
        times: dict[str, dict[int, float]] = {}
        for line in self.lines:
            for count, timing in sorted(line.timings.items()):
                name = "ADA in rounds" if count == 1 else f"ADA on {count} threads"
                times.setdefault(name, {})[line.links] = timing.minimum * 1e3
            times.setdefault("ABA", {})[line.links] = line.serial.minimum * 1e3
        memory = {"between programs": {line.links: line.kept / 1e6 for line in self.lines}}
        if all(line.peak is not None for line in self.lines):
            memory["whole process"] = {line.links: (line.peak or 0) / 1e6 for line in self.lines}
        return {"Depth [operations]": depth, "Operations": operations, "Time [ms]": times, "Memory [MB]": memory}

    @property
    def verdict(self) -> str:
        """What the longest chain says, in words."""
        longest = self.lines[-1]
        work = longest.operations / longest.serial_operations
        slower = min(timing.minimum for timing in longest.timings.values()) / longest.serial.minimum
        begin = f"With {longest.links} links ADA in rounds does {work:.1f} times the operations of ABA"
        if slower < 1.0:
            return f"{begin}, in {slower:.2f} of its time."
        return (
            f"{begin} and takes {slower:.1f} times as long: on this machine the rounds do not pay. Their depth is small, which "
            "helps where many more operations run at a time."
        )

    def markdown(self) -> str:
        """The page; it shows the figure in the folder images next to it."""
        a, b, certainty = self.fit
        control = "".join(
            f" For comparison, {count} threads did {gain:.2f} times the independent work of one thread at that time."
            for count, gain in self.control.items()
        )
        text = _TEXT.format(
            a=a,
            b=b,
            certainty=certainty,
            rounds=self.rounds,
            residual=RESIDUAL,
            difference=DIFFERENCE,
            verdict=self.verdict,
            control=control,
        )
        head, rows = self.table()
        return "\n".join([text, *_table(("machine", ""), self.machine.items()), "", *_table(head, rows)]) + "\n"


def compare_levels(
    *,
    lengths: Sequence[int] = LENGTHS,
    threads: Sequence[int] = (1, 2),
    effort: Effort | None = None,
    progress: Callable[[float], None] | None = None,
) -> Levels:
    """Counts and times both methods over random chains in space.

    Args:
        lengths: of the chains, links.
        threads: how many ADA is timed on.
        effort: how much is spent on timing.
        progress: called with the fraction done, 0 to 1.

    Raises:
        KumitateError: if an acceleration is not right: it is then not timed.
    """
    effort = effort or Effort()
    lines = []
    for links in sorted(lengths):
        lines.append(_measured(links, threads, effort))
        if progress is not None:
            progress(sum(lengths[: len(lines)]) / sum(lengths))
    return Levels(machine(), tuple(lines), effort.rounds, {count: _control(count, effort) for count in threads if count > 1})


def rounds_depth(rounds: Iterable[Round]) -> int:
    """The longest row of operations that wait for one another: the deepest program of every round."""
    return sum(max(map(program_depth, {batch.kernel.program for batch in batches})) for batches in rounds)


def _measured(links: int, threads: Sequence[int], effort: Effort) -> Line:
    mechanism = RandomChain(f"chain_{links}", f"random chain of {links}", links).mechanism
    rng = np.random.default_rng(links)
    q, v, tau = rng.uniform(-math.pi, math.pi, mechanism.nv), *rng.normal(size=(2, mechanism.nv))
    one = parallel_ada(mechanism)
    found = one(q, v, tau)
    peak = _peak()
    serial = Kernel(_program(mechanism, mechanism.base_parameter_tree, aba))
    expected = serial(q, v, tau)
    difference = float(np.abs(found - expected).max() / np.abs(expected).max())
    residual = _residual(mechanism, q, v, tau, found)
    if not (residual <= RESIDUAL and difference <= DIFFERENCE):
        raise KumitateError(
            f"{links} links: accelerations leave {residual:.1e} of the forces (at most {RESIDUAL:g}) and differ from "
            f"articulated bodies' by {difference:.1e} of the largest (at most {DIFFERENCE:g})"
        )
    out = np.empty(mechanism.nv)
    contenders = {str(count): Contender(partial(one.on(count), q, v, tau), 1) for count in threads}
    contenders["ABA"] = Contender(partial(serial.into, out, q, v, tau), 1)
    timings = by_turns(contenders, effort.rounds)
    return Line(
        links, one.levels, len(one.rounds), rounds_depth(one.rounds),
        program_depth(serial.program) if links <= STRAIGHT else None, one.operations, serial.operations, one.bytes, peak,
        residual, difference, {count: timings[str(count)] for count in threads}, timings["ABA"],
    )  # fmt: skip


def _control(threads: int, effort: Effort) -> float:
    """How many times as much so many threads do as one, where nothing is shared: each evaluates ABA for states of its own."""
    states = 4096
    mechanism = RandomChain("chain_20", "random chain of 20", 20).mechanism
    kernel = Kernel(_program(mechanism, mechanism.base_parameter_tree, aba)).prepare()
    given = [np.random.default_rng(0).normal(size=(3, states, mechanism.nv)) for _ in range(threads)]
    outs = [np.empty((states, mechanism.nv)) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:

        def all_at_once() -> None:
            for done in [pool.submit(kernel.into, out, *state) for out, state in zip(outs, given, strict=True)]:
                done.result()

        alone = Contender(partial(kernel.into, outs[0], *given[0]), 1)
        found = by_turns({"alone": alone, "together": Contender(all_at_once, 1)}, effort.rounds)
    return threads * found["alone"].minimum / found["together"].minimum


def _inverse(tree: Tree, q: Any, v: Any, a: Any, acting: Acting) -> list[Scalar]:
    return rnea(tree, q, v, a, gravity=acting.gravity)


def _program(mechanism: Mechanism, tree: Tree, page: Callable[..., Any]) -> Program:
    inputs: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "x": mechanism.nv}

    def function(q: Any, v: Any, x: Any) -> Any:
        return page(tree, q, v, x, Acting(mechanism.gravity))

    return trace(function, inputs, f"{page.__name__}_{mechanism.name}")


def _residual(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, tau: np.ndarray, vdot: np.ndarray) -> float:
    """‖RNEA(v̇) − τ‖ / ‖τ − h‖."""
    inverse = Kernel(_program(mechanism, mechanism.tree, _inverse))
    needed, still = inverse(q, v, vdot) - tau, inverse(q, v, np.zeros(mechanism.nv)) - tau
    return float(np.linalg.norm(needed) / np.linalg.norm(still))


def _peak() -> int | None:
    """The most memory that this process has had so far [bytes]; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _row(line: Line, threads: Sequence[int]) -> tuple[str, ...]:
    return (
        str(line.links), str(line.levels), str(line.programs), str(line.depth),
        "—" if line.serial_depth is None else str(line.serial_depth), str(line.operations), str(line.serial_operations),
        *(f"{line.timings[count].minimum * 1e3:.3g}" for count in threads), f"{line.serial.minimum * 1e3:.3g}",
        f"{line.kept / 1e6:.1f}", "—" if line.peak is None else f"{line.peak / 1e6:.0f}",
        f"{line.residual:.1e}", f"{line.difference:.1e}",
    )  # fmt: skip


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


_TEXT = """# ADA in parallel

Printed by `scripts/study levels`.

The assembly-disassembly algorithm (ADA) can run in O(log n) steps on n processors; the thesis leaves that open (8.2).
Here it runs in rounds: all pairs of bodies that are assembled in one round are one batch, and so are all that are
disassembled. `kumitate.papers.parallel_ada(robot)` returns v̇ as a function of one state, for chains and trees without loops and
external forces; it does not compute forces at joints. `forward_dynamics(method="ada")` has none of these limits.

![Depth, operations, time and memory over links](images/parallel-ada.png)

The chains are random, in space. {verdict}{control}

| column | |
| --- | --- |
| levels | rounds of assembly, ⌈log₂(n + 1)⌉ |
| programs | batches that run one after another, in all |
| depth | longest sequence of dependent operations: {a:.0f} + {b:.0f} log₂ n by least squares, R² = {certainty:.4f} |
| depth of ABA | proportional to n; counted for short chains |
| times | the fastest of {rounds} samples taken by turns, for one state; ABA is `forward_dynamics` on one thread |
| kept, process | memory between batches; most memory of the process, with mechanism and compiler |
| residual | ‖RNEA(v̇) − τ‖ / ‖τ − h‖, at most {residual:g} |
| difference | from ABA's accelerations, as a part of the largest; at most {difference:g} |
"""
