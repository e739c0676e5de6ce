"""Files of every kind changed at random and read, in processes with limits of time and memory.

`scripts/fuzz --count 50000 --seed 1`: each input is one of the examples of its kind, changed by its seed in bytes, words or
structure. It is right to read it, or to refuse it by an error of the package that names the file. Everything else is a failure:
another error or warning, an error without the file's name, more than 2 s of processor time or 1 GB, the end of the process,
other numbers.
`scripts/fuzz --kind urdf --seed 17 --count 1` makes one input again.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kumitate
from kumitate.errors import KumitateError, KumitateWarning

from .kinds import KINDS, Kind, kept, made

#: Processor time [s] and memory [bytes] that one input may take; time that passes until a process is stopped [s].
SECONDS, MEMORY, PATIENCE = 2.0, 10**9, 60.0
RIGHT = ("read", "refused")
#: Kinds whose inputs take long, each by a process of its own: so many fewer are tried.
SELDOM = {"xacro": 25}
ROOT = Path(__file__).resolve().parents[2]


class _TooLong(BaseException):
    """What the timer raises; no reader catches it."""


def _stop(*_: object) -> None:
    raise _TooLong


def verdict(kind: Kind, path: Path) -> tuple[str, str]:
    """What reading a file comes to, in a word, and what was said."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        signal.signal(signal.SIGPROF, _stop)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            kind.read(path)
            found, said = "read", ""
        except KumitateError as error:
            said = str(error)
            found = "refused" if any(name in said for name in (str(path), *kind.names)) else "unnamed"
        except _TooLong:
            found, said = "slow", f"more than {SECONDS} s"
        except MemoryError as error:
            found, said = "memory", str(error)
        except Exception as error:
            place = error.__traceback__
            while place and place.tb_next:
                place = place.tb_next
            at = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
            found, said = "foreign", f"{type(error).__name__}: {error} ({at})"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
    others = [item for item in told if not issubclass(item.category, KumitateWarning)]
    if others and found in RIGHT:
        return "warning", f"{others[0].category.__name__}: {others[0].message} ({others[0].filename}:{others[0].lineno})"
    return found, said


def work(name: str, seeds: range, keep: Path) -> None:
    """Tries seeds one after the other in this process, and prints a line before and after each."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        kind = made(name, Path(folder) / name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in kind.examples:
                kind.read(path)  # as it is; imports what reading needs
        pages = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (pages + MEMORY, pages + MEMORY))
        for seed in seeds:
            path, content = kind.drawn(seed)
            print(json.dumps([seed]), flush=True)
            path.write_bytes(content)
            found, said = verdict(kind, path)
            if found not in RIGHT:
                (keep / f"{name}-{seed}{path.suffix}").write_bytes(content)
            shutil.copy(kept(path), path)
            print(json.dumps([seed, found, said[:600]]), flush=True)


@dataclass
class _Worker:
    """A process that tries the seeds of a kind, and those that are left to it."""

    name: str
    seeds: range
    keep: Path
    under_way: int | None = None
    heard: float = 0.0
    process: subprocess.Popen[bytes] | None = None
    text: bytes = b""
    ended: bool = False

    def start(self) -> None:
        """Begins, or goes on after the process has ended."""
        call = [sys.executable, "-P", "-m", "tests.fuzz.on_demand", "--work", self.name]
        call += ["--seed", str(self.seeds.start), "--count", str(len(self.seeds)), "--out", str(self.keep)]
        places = os.pathsep.join((str(ROOT), str(Path(kumitate.__file__).parents[1])))
        environment = os.environ | {
            "PYTHONPATH": places,
            "OMP_NUM_THREADS": "1",
            "ARROW_IO_THREADS": "1",
            "KUMITATE_VERIFY": "0",
        }
        self.heard, self.text, self.ended = time.monotonic(), b"", False
        self.process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)

    def lines(self) -> Iterator[list]:
        """The whole lines that have come."""
        assert self.process
        assert self.process.stdout
        piece = os.read(self.process.stdout.fileno(), 1 << 16)
        self.ended = not piece
        self.text += piece
        *whole, self.text = self.text.split(b"\n")
        self.heard = time.monotonic()
        for line in whole:
            if line.startswith(b"["):  # a library may print
                yield json.loads(line)


def fuzz(seeds: dict[str, range], keep: Path, processes: int = 2) -> tuple[dict[str, Counter], list[tuple[str, int, str, str]]]:
    """The verdicts by kind, counted, and the failures: kind, seed, verdict, what was said."""
    counts: dict[str, Counter] = {name: Counter() for name in seeds}
    failures: list[tuple[str, int, str, str]] = []

    def told(name: str, seed: int, found: str, said: str) -> None:
        counts[name][found] += 1
        if found not in RIGHT:
            failures.append((name, seed, found, said))

    waiting = [_Worker(name, span, keep) for name, span in seeds.items()]
    running: list[_Worker] = []
    while waiting or running:
        while waiting and len(running) < processes:
            running.append(waiting.pop(0))
            running[-1].start()
        with selectors.DefaultSelector() as selector:
            for one in running:
                assert one.process
                assert one.process.stdout
                selector.register(one.process.stdout, selectors.EVENT_READ, one)
            ready = [key.data for key, _ in selector.select(1.0)]
        for one in ready:
            for seed, *rest in one.lines():
                one.under_way = None if rest else seed
                if rest:
                    told(one.name, seed, *rest)
                    one.seeds = range(seed + 1, one.seeds.stop)
        for one in list(running):
            assert one.process
            stuck = time.monotonic() - one.heard > (PATIENCE if one.under_way is not None else 10.0 * PATIENCE)
            if stuck:
                one.process.kill()
            elif not one.ended:
                continue
            one.process.wait()
            running.remove(one)
            one.process.stdout.close()  # type: ignore[union-attr]
            if one.under_way is not None:
                told(one.name, one.under_way, "slow" if stuck else "ended", f"the process ended with {one.process.returncode}")
                one.seeds, one.under_way = range(one.under_way + 1, one.seeds.stop), None
            elif len(one.seeds) and one.process.returncode:
                raise RuntimeError(f"{one.name}: the process ended with {one.process.returncode} before it began")
            if len(one.seeds):
                waiting.insert(0, one)
    return counts, failures


def table(counts: dict[str, Counter]) -> str:
    """Counts in Markdown."""
    wrong = sorted({word for of in counts.values() for word in of} - set(RIGHT))
    head = ("kind", "inputs", *RIGHT, *wrong)
    rows = [(name, sum(of.values()), *(of[word] for word in (*RIGHT, *wrong))) for name, of in counts.items()]
    rows.append(("all", *(sum(row[k] for row in rows) for k in range(1, len(head)))))
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ("---",) * len(head), *rows))


def shared(count: int, first: int, kinds: tuple[str, ...] | list[str]) -> dict[str, range]:
    """Seeds for each kind, so many in all."""
    weights = {name: 1.0 / SELDOM.get(name, 1) if len(kinds) > 1 else 1.0 for name in kinds}
    each = count / sum(weights.values())
    return {name: range(first, first + max(1, round(each * weight))) for name, weight in weights.items()}


def main() -> int:
    """The command."""
    parser = ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="inputs of all kinds together")
    parser.add_argument("--seed", type=int, default=0, help="the first seed of each kind")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind; may be given several times")
    parser.add_argument("--processes", type=int, default=2, help="that read at a time")
    parser.add_argument("--out", type=Path, default=Path("fuzz-failures"), help="folder for inputs that fail")
    parser.add_argument("--work", choices=KINDS, help="be a process that reads; used by the command itself")
    asked = parser.parse_args()
    if asked.work:
        work(asked.work, range(asked.seed, asked.seed + asked.count), asked.out)
        return 0
    asked.out.mkdir(parents=True, exist_ok=True)
    counts, failures = fuzz(shared(asked.count, asked.seed, asked.kind or KINDS), asked.out, asked.processes)
    print(table(counts))
    for name, seed, found, said in failures:
        print(f"{name} {seed}: {found}: {said}", file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
