"""ADA in rounds: the programs of every round, the array rows that they read and write, and the function that runs them.

The bodies of a round are stored in the order in which the next rounds read them, so that large arrays are read sequentially.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from ...compile import Kernel
from ...compile.threads import pool
from ...dynamics.assembly.connection import WORLD, heavy_freedoms
from ...dynamics.assembly.initial import prepared
from ...errors import InputError, ModelError
from ...model import HasMechanism, Mechanism, check_resistance
from ...scalar import flatten
from . import programs as pages
from .programs import BODY, TURN, Cluster, Family, Merge, PairForm, PairNumbers, PairPrograms, SinglePrograms

#: Pairs or links per batch: smaller batches balance better between threads, larger ones cost less Python overhead.
CHUNK = 2048
#: Operations of a round from which it is split over threads: waking a thread takes as long as some 100 000.
WORTH_SHARING = 300_000
#: Identifies the structure of the links or pairs that a program is for.
Key = tuple[Any, ...]
#: The pairs of one form in one round.
Group = tuple[Key, list[Merge]]
#: An array, and the rows of it for each link or pair of a batch; where these are consecutive, the view of them, and None.
Place = tuple[np.ndarray, np.ndarray]
View = tuple[np.ndarray, np.ndarray | None]


# --- kernels run over rows of arrays in rounds: the batches of a round are independent and may run on threads -------------
@dataclass(frozen=True)
class KernelBatch:
    """A kernel over as many rows of its inputs, each result going to its rows of an array.

    Where rows are gathered or scattered, the temporary memory is allocated each time: it is then still in the cache.
    """

    kernel: Kernel
    count: int
    sources: Sequence[View]
    targets: Sequence[View]

    @cached_property
    def operations(self) -> int:
        """Of one run."""
        return self.count * self.kernel.operations

    def __call__(self) -> None:
        """Reads, computes, writes."""
        given = [array if at is None else array.take(at, axis=0, mode="clip") for array, at in self.sources]
        made = [
            array if at is None else np.empty((self.count, *spec.shape))
            for (array, at), spec in zip(self.targets, self.kernel.outputs, strict=True)
        ]
        self.kernel.into(made, *given)
        for (array, at), results in zip(self.targets, made, strict=True):
            if at is not None:
                array[at] = results


Round = Sequence[KernelBatch]


def _batches(kernel: Kernel, sources: Sequence[Place], targets: Sequence[Place]) -> list[KernelBatch]:
    """Applies a kernel to rows in chunks; if there are too few rows, they are repeated to fill the processor's SIMD lanes."""

    def full(at: np.ndarray) -> np.ndarray:
        return np.concatenate([at, np.repeat(at[-1:], max(0, kernel.lanes - len(at)), axis=0)])

    read = [(array, full(at)) for array, at in sources if array.shape[-1]]
    written = [(array, full(at)) for array, at in targets]
    count = len(read[0][1])
    edges = np.linspace(0, count, max(1, count // CHUNK) + 1).round().astype(int).tolist()
    return [
        KernelBatch(kernel, end - begin, *([_view(array, at[begin:end]) for array, at in places] for places in (read, written)))
        for begin, end in pairwise(edges)
    ]


def _view(array: np.ndarray, at: np.ndarray) -> View:
    first, count = int(at.flat[0]), len(at)
    if at.ndim == 1 and array.ndim > 1 and first + count <= len(array) and (at == np.arange(first, first + count)).all():
        return array[first : first + count], None
    return array, at


def _whole(rows: np.ndarray) -> Place:
    return rows, np.arange(len(rows))


def _ends(array: np.ndarray, form: PairForm, merges: Sequence[Merge]) -> list[Place]:
    """The rows of an array for the links of some joints and, unless they are on the world, for their carriers."""
    ends = [[merge.joint for merge in merges], *([] if form.grounded else [[merge.carrier for merge in merges]])]
    return [(array, np.array(rows)) for rows in ends]


def _run(batches: Iterable[KernelBatch]) -> None:
    for batch in batches:
        batch()


# --- the order of pairs and turns -----------------------------------------------------------------------------------------
def _structure(thing: Any) -> str:
    """Everything of a value except its numbers."""
    leaves, build = flatten(thing)
    return repr(build([0.0] * len(leaves)))


def _in_reading_order(plan: list[list[Group]]) -> list[list[Group]]:
    """The pairs of every round, in the order in which later pairs read their bodies."""
    ordered: list[list[Group]] = []
    rank: dict[int, tuple[int, ...]] = {}  # of bodies
    following = 0
    for groups in reversed(plan):
        sorted_groups = []
        for key, members in groups:
            merges = sorted(members, key=lambda merge: rank.get(merge.result.number, ()))
            for position, merge in enumerate(merges):
                rank |= {merge.inner.number: (following, 0, position), merge.outer.number: (following, 1, position)}
            following += 1
            sorted_groups.append((key, merges))
        ordered.insert(0, sorted_groups)
    return ordered


def _turns(plan: list[list[Group]], links: int) -> tuple[list[list[np.ndarray]], list[list[np.ndarray]], int]:
    """The turns to compose (inner, outer, result), those that rotate ω (turn, from whose carrier, to whose), and their number.

    A handle's turn maps ω of the carrier of its body's innermost link to ω of the handle.
    """
    row = {index: index for index in range(links)}
    innermost = dict(row)
    count = links
    joins, rotations = [], []
    for groups in plan:
        join, rotation = [], []
        for merge in (merge for _, merges in groups for merge in merges if merge.carrier != WORLD):
            inner, start = row[merge.carrier], innermost[merge.carrier]
            rotation.append((inner, start, merge.joint))
            for handle in set(merge.result.handles) & set(merge.outer.handles):
                join.append((inner, row[handle], count))
                row[handle], innermost[handle] = count, start
                count += 1
        joins.append([*np.array(join).T])
        rotations.append([*np.array(rotation).T])
    return [join for join in joins if join], [rotation for rotation in rotations if rotation], count


# --- the compiled function ------------------------------------------------------------------------------------------------
class ParallelADA:
    """v̇ of one mechanism without loops, by ADA in rounds (thesis 2.2.1; its 8.2 item 2).

    Memory is allocated on construction, kernels are compiled at the first call. It is meant for one state of one large
    mechanism; for many states of a small one use `forward_dynamics`, which takes them all at once.

    Attributes:
        mechanism: the one whose v̇ is computed.
        threads: how many threads share the batches of a round.
        levels: the number of rounds in which the joints are closed: ⌈log₂(n + 1)⌉ for a chain of n links.
        rounds: those of a call: batches, each of which depends only on those of earlier rounds.
        arrays: those kept between programs and calls, by name.
    """

    def __init__(self, mechanism: Mechanism, *, threads: int = 1):
        """Plans the rounds and allocates their arrays; a `ModelError` as for method "ada", or for loops or couplings."""
        if mechanism.tree.closed:
            raise ModelError(
                f"{mechanism.source or mechanism.name}: it has loops or couplings, which parallel rounds do not close; use "
                "forward_dynamics(method='ada')"
            )
        check_resistance(mechanism)
        self._share(threads)
        self.mechanism, self._busy, self._ready = mechanism, Lock(), prepared(mechanism.tree)
        self._ready.warn_of_lost_digits()
        self._links = self._ready.tree.links
        self._singles = [pages.single_of(self._ready, link) for link in self._links]
        # a nonzero armature adds one constraint force to a joint
        self._forms = [(_structure(single), *heavy_freedoms(single.link.armature)) for single in self._singles]
        n = len(self._links)
        plan = _in_reading_order([self._grouped(merges) for merges in pages.rounds(self._ready.tree)])
        self.levels = len(plan)
        self._state, self._rates = np.zeros(mechanism.nq + 2 * mechanism.nv), np.zeros(mechanism.nv)
        self.arrays: dict[str, np.ndarray] = {"omega": np.zeros((n, 3))} | {
            name: np.zeros((n, 6)) for name in ("bias", "B", "force", "V")
        }
        self.rounds = [*self._velocities(plan), *self._forces(plan)]

    def __call__(self, q: Any, v: Any, tau: Any) -> np.ndarray:
        """v̇ (nv) [rad/s², m/s²] of one state q (nq), v (nv) under the forces tau (nv) of the drives [N·m, N].

        Damping and friction of the joints, springs, armatures and gravity are included.

        Raises:
            InputError: for wrong shapes.
        """
        m, parts = self.mechanism, []
        for name, value, size in (("q", q, m.nq), ("v", v, m.nv), ("tau", tau, m.nv)):
            part = np.asarray(value, dtype=float)
            if part.shape != (size,):
                raise InputError(f"{m.name}: {name} has shape {part.shape}; parallel ADA takes one state, ({size},)")
            parts.append(part)
        with self._busy:
            np.concatenate(parts, out=self._state)
            others = pool(self.threads - 1, "rounds") if self.threads > 1 else None
            for batches in self.rounds:
                self._run_round(batches, others)
            return self._rates.copy()

    def _run_round(self, batches: Round, others: ThreadPoolExecutor | None) -> None:
        """Runs a round; a large one is split over this thread and those of a pool."""
        if others is None or len(batches) == 1 or sum(batch.operations for batch in batches) < WORTH_SHARING:
            _run(batches)
            return
        waiting = [others.submit(_run, batches[k :: self.threads]) for k in range(1, self.threads)]
        _run(batches[:: self.threads])
        for other in waiting:
            other.result()

    def on(self, threads: int) -> ParallelADA:
        """The same computation in the same memory, on the given number of threads."""
        other = copy(self)
        other._share(threads)
        return other

    def _share(self, threads: int) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise InputError(f"threads is {threads!r}; it must be a positive whole number")
        self.threads = threads

    @property
    def operations(self) -> int:
        """The number of operations of one call."""
        return sum(batch.operations for batches in self.rounds for batch in batches)

    @property
    def bytes(self) -> int:
        """The size of the arrays kept between programs and calls, without the mechanism's constants [bytes]."""
        return sum(array.nbytes for array in self.arrays.values())

    def _grouped(self, merges: Iterable[Merge]) -> list[Group]:
        groups: dict[Key, list[Merge]] = defaultdict(list)
        for merge in merges:
            groups[self._forms[merge.joint], PairForm.of(merge, len(self._links))].append(merge)
        return list(groups.items())

    # --- single links and their angular velocities --------------------------------------------------------------------
    def _velocities(self, plan: list[list[Group]]) -> list[Round]:
        """ω of every link's carrier, then the velocity-dependent terms of the link and its joint."""
        families: dict[Key, list[int]] = defaultdict(list)
        for index, form in enumerate(self._forms):
            families[form].append(index)
        joins, rotations, count = _turns(plan, len(self._links))
        turns = self.arrays["turns"] = np.zeros((count, TURN))
        omega, bias, B, force, V = (self.arrays[name] for name in ("omega", "bias", "B", "force", "V"))
        first: list[KernelBatch] = []
        last: list[KernelBatch] = []
        self._moved: list[KernelBatch] = []
        for members in families.values():
            at, programs = np.array(members), SinglePrograms(Family([self._singles[index] for index in members]))
            state, numbers = self._states(members), _whole(programs.family.rows)
            first += _batches(Kernel(programs.turn()), [state, numbers], [(turns, at)])
            last += _batches(Kernel(programs.unheld()), [state, (omega, at), numbers], [(bias, at), (B, at)])
            self._moved += _batches(Kernel(programs.moved()), [(B, at), (force, at), numbers], [(V, at)])
        join, turned = Kernel(pages.join_turns()), Kernel(pages.rotate())
        up = [_batches(join, [(turns, a), (turns, b)], [(turns, c)]) for a, b, c in joins]
        down = [_batches(turned, [(turns, a), (omega, b)], [(omega, c)]) for a, b, c in reversed(rotations)]
        return [first, *up, *down, last]

    def _states(self, joints: Iterable[int]) -> Place:
        """The places of q, v and tau of the joints in the state array."""
        rows, m = [], self.mechanism
        for link in (self._links[joint] for joint in joints):
            q = range(link.q_start, link.q_start + link.kind.nq)
            v = range(m.nq + link.v_start, m.nq + link.v_start + link.kind.nv)
            rows.append([*q, *v, *(k + m.nv for k in v)])
        return self._state, np.array(rows)

    # --- pairs --------------------------------------------------------------------------------------------------------
    def _forces(self, plan: list[list[Group]]) -> list[Round]:
        """Assembly and disassembly of bodies; then the acceleration of every link and every joint."""
        together: dict[Key, list[Merge]] = defaultdict(list)
        for key, merges in (group for groups in plan for group in groups):
            together[key] += merges
        self._pairs = {key: self._programs(key, merges) for key, merges in together.items()}
        self._stores, self._rows = self._stored(plan)
        self.arrays |= {"bodies of one handle": self._stores[1], "bodies of two": self._stores[2]}
        up: list[list[KernelBatch]] = [[] for _ in plan]
        down: list[list[KernelBatch]] = [[] for _ in plan]
        done: dict[Key, int] = defaultdict(int)
        for level, groups in enumerate(plan):
            for key, merges in groups:
                closed, opened = self._pair_batches(key, merges, done[key])
                done[key] += len(merges)
                up[level] += closed
                down[-1 - level] += opened
        return [*up, *down, self._moved, self._accelerations(together)]

    def _programs(self, key: Key, merges: Sequence[Merge]) -> tuple[PairPrograms, Kernel, Kernel]:
        form, singles = key[1], self._singles
        carriers = [None if form.grounded else singles[merge.carrier] for merge in merges]
        numbers = [PairNumbers.of(form, P, singles[merge.joint]) for P, merge in zip(carriers, merges, strict=True)]
        programs = PairPrograms(form, Family(numbers), self._ready, self.mechanism.gravity)
        link = self._links[merges[0].joint]
        held = link.kind.rows + len(heavy_freedoms(link.armature))
        return programs, Kernel(programs.close()), Kernel(programs.open(held))

    def _stored(self, plan: list[list[Group]]) -> tuple[dict[int, np.ndarray], dict[int, int]]:
        """The arrays of bodies by their number of handles, padded to a full batch, and the row of each body."""
        rows = {index: index for index in range(len(self._links))}
        counts, lanes = {1: 0, 2: 0}, next(iter(self._pairs.values()))[1].lanes
        for key, merges in (group for groups in plan for group in groups):
            if handles := len(key[1].kept):
                rows |= {merge.result.number: counts[handles] + k for k, merge in enumerate(merges)}
                counts[handles] += max(len(merges), lanes)
        stores = {handles: np.zeros((count, BODY[handles])) for handles, count in counts.items()}
        return {0: self.arrays["B"], **stores}, rows

    def _pair_batches(self, key: Key, merges: list[Merge], begin: int) -> tuple[list[KernelBatch], list[KernelBatch]]:
        """What closes and opens the joints of a group, whose first pair is number `begin` of its form."""
        programs, close, open_ = self._pairs[key]
        form, joints, result = programs.form, np.array([merge.joint for merge in merges]), merges[0].result.number
        count, read = max(len(joints), close.lanes), np.arange(len(joints))
        state, numbers = self._states(joints), _whole(programs.family.rows[begin : begin + len(joints)])
        inner = [] if form.grounded else [self._bodies(form.inner, [merge.inner for merge in merges])]
        outer = self._bodies(form.outer, [merge.outer for merge in merges])
        made = {spec.name: np.zeros((count, *spec.shape)) for spec in close.outputs if spec.name != "body"}
        self.arrays |= {f"{name} of {result}": array for name, array in made.items()}
        results = [(self._stores[len(form.kept)], self._rows[result] + np.arange(count))] if form.kept else []
        results += map(_whole, made.values())
        closing = _batches(close, [state, (self.arrays["bias"], joints), *inner, outer, numbers], results)
        force = self.arrays["force"]
        kept = [(force, np.array([merge.result.handles[k] for merge in merges])) for k in range(len(form.kept))]
        gains = [(array, read) for array in made.values()]
        return closing, _batches(open_, [state, *gains, *kept, numbers], _ends(force, form, merges))

    def _bodies(self, handles: Sequence[int], clusters: Sequence[Cluster]) -> Place:
        return self._stores[len(handles)], np.array([self._rows[cluster.number] for cluster in clusters])

    def _accelerations(self, together: dict[Key, list[Merge]]) -> Round:
        """v̇ of all joints."""
        found: list[KernelBatch] = []
        for key, merges in together.items():
            programs, joints = self._pairs[key][0], np.array([merge.joint for merge in merges])
            links = [self._links[joint] for joint in joints]
            at = np.array([range(link.v_start, link.v_start + link.kind.nv) for link in links])
            given = [(self.arrays["bias"], joints), *_ends(self.arrays["V"], programs.form, merges)]
            sources = [self._states(joints), *given, _whole(programs.family.rows)]
            found += _batches(Kernel(programs.rates()), sources, [(self._rates, at)])
        return found


def parallel_ada(robot: HasMechanism | Mechanism, *, threads: int = 1) -> ParallelADA:
    """v̇ of one large robot without loops as a function of q, v and tau, by ADA in O(log n) rounds.

    Every round is a batch over pairs of bodies, shared by `threads` threads. Errors are those of `ParallelADA`.

    >>> import kumitate as km
    >>> arm = km.load("pa10")
    >>> accelerate = parallel_ada(arm)
    >>> accelerate.levels
    3
    >>> q, v, tau = [0.1] * 7, [0.2] * 7, [0.3] * 7
    >>> bool(abs(accelerate(q, v, tau) - arm.forward_dynamics(q, v, tau)).max() < 1e-9)
    True
    """
    return ParallelADA(robot if isinstance(robot, Mechanism) else robot.mechanism, threads=threads)
