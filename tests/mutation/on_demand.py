"""Mutants of a room: `scripts/mutate --room dynamics --count 100 --seed 1` changes one thing at a time, and runs tests.

First each file of tests runs once by itself, and which lines each of its tests reaches is noted, with its time. A mutant then
is tried by tests that reach its statement, the quickest of each file first, then by whole files of them (what one test traces
another finds), until one fails or the processor time is spent. A test that fails, an import that does not work and a time limit
that is passed all kill. What no test reaches, and what all tests pass, survives. A survivor may be equivalent, which somebody
has to look at; or be killed by tests that were not run: by default those of the room's own folder and its neighbours that are
not slow, and four files of laws, and a minute of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from .mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "kumitate"
PATIENCE = 6.0  # time that passes for a second of processor time, on a machine that is shared
#: Rooms whose laws are tests of them, too; rooms that are tested by way of others.
_BY_LAWS = ("spatial", "kinematics", "dynamics", "analysis", "scalar")
_LAWS = ("test_forward_and_inverse.py", "test_energy_and_momentum.py", "test_closed_loops.py", "test_invariance.py")
_BY_OTHERS = {
    "dynamics": ("dynamics", "laws/test_assembly.py", "simulate/test_stops.py", "predictive/test_trajectory_optimizer.py"),
    "held": ("simulate/test_held_points.py", "scenario", "references"),
    "kinematics": ("kinematics", "laws/test_assembly_from_afar.py"),
    "analysis": ("analysis", "laws/test_assembly_from_afar.py", "laws/test_rolling.py"),
    "lagrange": ("lagrange", "laws/test_lagrange_forces.py"),
    "scalar": ("scalar", "laws/test_hybrid.py", "predictive/test_iterated_lqr.py"),
    "slopes": ("simulate/test_slope*.py", "simulate/test_rollouts.py", "predictive"),
}


@dataclass(frozen=True)
class Reach:
    """What a test, or a whole file of them, reaches: lines as bits by file, below the package; and its time [s]."""

    tests: str
    lines: dict[str, int]
    seconds: float

    def runs(self, mutant: Mutant, root: Path = PACKAGE) -> bool:
        """Whether the statement of a mutant runs."""
        first, last = mutant.lines
        return self.lines.get(mutant.path.relative_to(root).as_posix(), 0) >> first & (2 << last - first) - 1 != 0


def _pytest(arguments: Sequence[str], source: Path, seconds: float, **variables: str) -> tuple[int, float]:
    """The exit code of pytest over a copy of the package, and its processor time; -1 if it took longer than that."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (6 * 2**30, 6 * 2**30))  # Node reserves far more than it writes to

    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow", *arguments]
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", **variables}
    environment.pop("CI", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        call,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit,
        start_new_session=True,
    )
    try:
        code = process.wait(PATIENCE * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        code = -1
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (-1 if code in (-9, -24) else code), after.ru_utime - before.ru_utime


def reached(files: Sequence[Path], into: Path, processes: int, drawn: str = "") -> list[Reach]:
    """What each test of files reaches, or those drawn, and each file; kept in a folder until a source or the tests change."""
    sources = b"".join(file.read_bytes() for file in sorted(PACKAGE.rglob("*.py")))

    def one(path: Path) -> list[Reach]:
        name = path.relative_to(ROOT).as_posix()
        digest = hashlib.sha256(sources + path.read_bytes() + drawn.encode()).hexdigest()[:16]
        kept = into / f"{name.replace('/', '.')}.{digest}.json"
        if not kept.exists():
            found = into / f"{kept.name}.lines"
            _pytest(
                ["-p", "tests.mutation.covered", "--drawn", drawn, name], PACKAGE.parent, 600.0,
                KUMITATE_COVERED=str(PACKAGE), KUMITATE_COVERED_INTO=str(found),
            )  # fmt: skip
            kept.write_text(found.read_text() if found.exists() else '{"passed": [], "failed": [""]}')
            found.unlink(missing_ok=True)
        told = json.loads(kept.read_text())
        tests = [
            Reach(test, {file: int(bits, 16) for file, bits in lines.items()}, seconds)
            for test, seconds, lines in told["passed"]
        ]
        whole: dict[str, int] = {}
        for test in tests:
            for file, bits in test.lines.items():
                whole[file] = whole.get(file, 0) | bits
        return [*tests, *([] if told["failed"] else [Reach(name, whole, 1.0 + sum(test.seconds for test in tests))])]

    with ThreadPoolExecutor(processes) as pool:
        return [reach for found in pool.map(one, files) for reach in found]


def drawn(rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many mutants of rooms, the kind drawn first, so that rare kinds are among them."""
    rng = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = {}
    for room in rooms:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for one in mutants(path):
                by_kind.setdefault(one.kind, []).append(one)
    for of in by_kind.values():
        rng.shuffle(of)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(by_kind.values()):
        kind = rng.choice(sorted(kind for kind, of in by_kind.items() if of))
        chosen.append(by_kind[kind].pop())
    return chosen


def tried(mutant: Mutant, reach: Sequence[Reach], source: Path, seconds: float) -> tuple[str, str]:
    """What becomes of a mutant in a copy of the package, "killed", "out of time", "survived" or "not reached"; and by what."""
    calls = in_calls([one for one in reach if one.runs(mutant)], seconds)
    if not calls:
        return "not reached", ""
    target = source / "kumitate" / mutant.path.relative_to(PACKAGE)
    target.write_text(mutant.text(), encoding="utf-8")
    try:
        left = seconds
        ran = 0
        for some in calls:
            expected = sum(one.seconds for one in some)
            if ran and left < 0.5 * expected:
                continue
            code, took = _pytest(["-x", *(one.tests for one in some)], source, max(20.0, 3.0 * expected))
            ran += len(some)
            if code == 4 and _pytest(["--collect-only", *(one.tests for one in some)], PACKAGE.parent, 60.0)[0] == 4:
                code = 5  # tests of such names are not there; where it is the mutant that cannot be imported, it is killed
            if code not in (0, 5):
                by = some[0].tests if len(some) == 1 else f"one of {len(some)} from {some[0].tests}"
                return ("out of time" if code == -1 else "killed"), by if code in (1, -1) else f"{by} (code {code})"
            left -= took
        return "survived", f"{ran} of {sum(map(len, calls))} tests and files of tests that reach it"
    finally:
        shutil.copy(mutant.path, target)


def in_calls(reach: Sequence[Reach], seconds: float) -> list[list[Reach]]:
    """What reaches a mutant, in order: single tests, some at a time, the quickest of each file first; then whole files."""
    ranks: Counter[str] = Counter()
    single: list[tuple[int, float, Reach]] = []
    for one in sorted(reach, key=lambda one: one.seconds):
        name, _, test = one.tests.partition("::")
        if test:
            ranks[name] += 1
            single.append((ranks[name], one.seconds, one))
    calls: list[list[Reach]] = []
    spent, most = 0.0, 0.0
    for _, took, one in sorted(single, key=lambda each: each[:2]):
        if spent + took > 0.5 * seconds and calls:
            break
        if not calls or most + took > 2.0 * len(calls) ** 2:
            calls.append([])
            most = 0.0
        calls[-1].append(one)
        spent, most = spent + took, most + took
    return calls + [[one] for one in sorted(reach, key=lambda one: one.seconds) if "::" not in one.tests]


def tests_of(rooms: Sequence[str]) -> list[Path]:
    """The files of tests of rooms."""
    chosen = [f"laws/{name}" for name in _LAWS if any(room in _BY_LAWS for room in rooms)]
    for room in rooms:
        chosen += _BY_OTHERS.get(room, (room,))
    found = [path for one in chosen for path in (ROOT / "tests").glob(one)]
    return sorted({file for path in found for file in (path.rglob("test_*.py") if path.is_dir() else [path])})


def main() -> int:
    """The command."""
    parser = ArgumentParser(prog="scripts/mutate", description=__doc__)
    parser.add_argument(
        "--room", action="append", required=True, help="of the package, or a folder in it; may be given several times"
    )
    parser.add_argument("--count", type=int, default=20, help="mutants")
    parser.add_argument("--seed", type=int, default=0, help="which are drawn")
    parser.add_argument("--only", action="append", help="of those, lines of files: dense.py:38; may be given several times")
    parser.add_argument("--tests", type=Path, action="append", help="files of tests to choose from, in place of the room's own")
    parser.add_argument(
        "--drawn", default="", help="tests that are looked at, as of pytest's option: 3:a; files still run whole"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time for a mutant")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which no further mutant is tried")
    parser.add_argument("--processes", type=int, default=2, help="at a time")
    parser.add_argument(
        "--kept", type=Path, default=Path(tempfile.gettempdir()) / "kumitate-reach", help="folder for what tests reach"
    )
    asked = parser.parse_args()
    asked.kept.mkdir(parents=True, exist_ok=True)
    files = [path.resolve() for path in asked.tests] if asked.tests else tests_of([room.split("/")[0] for room in asked.room])
    begin = time.monotonic()
    reach = reached(files, asked.kept, asked.processes, asked.drawn)
    print(
        f"{len(reach)} tests and files of tests ({time.monotonic() - begin:.0f} s)",
        flush=True,
    )
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(asked.processes) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for k in range(asked.processes):
            copies.put(Path(shutil.copytree(PACKAGE.parent, Path(folder) / str(k))))

        def one(mutant: Mutant) -> tuple[Mutant, str, str]:
            if time.monotonic() - begin > 60.0 * asked.minutes:
                return mutant, "not tried", ""
            copy = copies.get()
            try:
                return mutant, *tried(mutant, reach, copy, asked.seconds)
            finally:
                copies.put(copy)

        chosen = drawn(asked.room, asked.count, asked.seed)
        chosen = [each for each in chosen if not asked.only or any(f"{part}: " in each.told(PACKAGE) for part in asked.only)]
        for mutant, end, by in pool.map(one, chosen):
            counts[end] += 1
            print(f"{end}: {mutant.told(PACKAGE)}{f' ({by})' if by else ''}", flush=True)
    print(", ".join(f"{count} {end}" for end, count in counts.most_common()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
