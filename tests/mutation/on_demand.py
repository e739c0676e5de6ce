"""Mutants of a room: `scripts/mutate --room dynamics --count 100 --seed 1` changes one thing at a time, and runs tests.

First each file of tests runs once by itself, and which lines of the room it reaches is noted, with its time. A mutant then is
tried by those that reach its statement, the quickest first, until one fails or the processor time is spent. A test that fails,
an import that does not work and a time limit that is passed all kill. What no test reaches, and what all tests pass, survives.
A survivor may be equivalent, which somebody has to look at; or be killed by tests that were not run: by default those of the
room's own folder that are not slow, and four files of laws, and a minute of them.
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
#: Rooms whose laws are tests of them, too.
_BY_LAWS = ("spatial", "kinematics", "dynamics", "analysis", "scalar")
_LAWS = ("test_forward_and_inverse.py", "test_energy_and_momentum.py", "test_closed_loops.py", "test_invariance.py")


@dataclass(frozen=True)
class Reach:
    """What a file of tests reaches: lines by file, below the package; and its processor time [s]."""

    tests: str
    lines: dict[str, frozenset[int]]
    seconds: float

    def runs(self, mutant: Mutant, root: Path = PACKAGE) -> bool:
        """Whether the statement of a mutant runs."""
        first, last = mutant.lines
        return any(first <= line <= last for line in self.lines.get(mutant.path.relative_to(root).as_posix(), ()))


def _pytest(arguments: Sequence[str], source: Path, seconds: float, **variables: str) -> tuple[int, float]:
    """The exit code of pytest over a copy of the package, and its processor time; -1 if it took longer than that."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))

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


def reached(rooms: Sequence[str], files: Sequence[Path], into: Path, processes: int) -> list[Reach]:
    """What each file of tests reaches in the rooms; kept in a folder until a source or the tests change."""
    folders = os.pathsep.join(str(PACKAGE / room) for room in rooms)

    def one(path: Path) -> Reach | None:
        name = path.relative_to(ROOT).as_posix()
        sources = b"".join(file.read_bytes() for file in sorted(PACKAGE.rglob("*.py")))
        digest = hashlib.sha256(sources + path.read_bytes() + folders.encode()).hexdigest()[:16]
        kept = into / f"{name.replace('/', '.')}.{digest}.json"
        if not kept.exists():
            found = into / f"{kept.name}.lines"
            begin = time.monotonic()
            code, _ = _pytest(
                ["-p", "tests.mutation.covered", name], PACKAGE.parent, 300.0,
                KUMITATE_COVERED=folders, KUMITATE_COVERED_INTO=str(found),
            )  # fmt: skip
            lines = json.loads(found.read_text()) if code == 0 and found.exists() else {}
            kept.write_text(json.dumps({"lines": lines, "seconds": time.monotonic() - begin}))
            found.unlink(missing_ok=True)
        told = json.loads(kept.read_text())
        lines = {Path(file).relative_to(PACKAGE).as_posix(): frozenset(of) for file, of in told["lines"].items()}
        return Reach(name, lines, told["seconds"]) if lines else None

    with ThreadPoolExecutor(processes) as pool:
        return [found for found in pool.map(one, files) if found is not None]


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
    """What becomes of a mutant in a copy of the package, and by which tests: "killed", "survived" or "not reached"."""
    those = sorted((one for one in reach if one.runs(mutant)), key=lambda one: one.seconds)
    if not those:
        return "not reached", ""
    target = source / "kumitate" / mutant.path.relative_to(PACKAGE)
    target.write_text(mutant.text(), encoding="utf-8")
    try:
        left = seconds
        ran = []
        for one in those:
            if ran and left < 0.5 * one.seconds:
                break
            code, took = _pytest(["-x", one.tests], source, max(20.0, 3.0 * one.seconds))
            ran.append(one.tests)
            if code not in (0, 5):
                return "killed", one.tests if code == 1 else f"{one.tests} ({'time' if code == -1 else f'code {code}'})"
            left -= took
        return "survived", f"{len(ran)} of {len(those)} files of tests that reach it"
    finally:
        shutil.copy(mutant.path, target)


def tests_of(rooms: Sequence[str]) -> list[Path]:
    """The files of tests of rooms."""
    folders = [room for room in rooms if (ROOT / "tests" / room).is_dir()]
    laws = [ROOT / "tests" / "laws" / name for name in _LAWS if any(room in _BY_LAWS for room in rooms)]
    return sorted({path for folder in folders for path in (ROOT / "tests" / folder).rglob("test_*.py")} | set(laws))


def main() -> int:
    """The command."""
    parser = ArgumentParser(prog="scripts/mutate", description=__doc__)
    parser.add_argument(
        "--room", action="append", required=True, help="of the package, or a folder in it; may be given several times"
    )
    parser.add_argument("--count", type=int, default=20, help="mutants")
    parser.add_argument("--seed", type=int, default=0, help="which are drawn")
    parser.add_argument("--tests", type=Path, action="append", help="files of tests to choose from, in place of the room's own")
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
    reach = reached(asked.room, files, asked.kept, asked.processes)
    print(
        f"{len(reach)} of {len(files)} files of tests reach {', '.join(asked.room)} ({time.monotonic() - begin:.0f} s)",
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

        for mutant, end, by in pool.map(one, drawn(asked.room, asked.count, asked.seed)):
            counts[end] += 1
            print(f"{end}: {mutant.told(PACKAGE)}{f' ({by})' if by else ''}", flush=True)
    print(", ".join(f"{count} {end}" for end, count in counts.most_common()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
