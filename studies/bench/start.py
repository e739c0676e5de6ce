"""The cases of starting: compiling with an empty cache and from the cache, and importing the package."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import kumitate
from kumitate.compile import Kernel, host
from kumitate.errors import KumitateError
from kumitate.measure.timing import Contender, Effort, Timing, by_turns

from .contract import Case, SubjectCase
from .ours import forward_dynamics
from .report import Row

__all__ = ["Compilation", "FirstPage", "FirstRun", "ImportTime", "Loading", "empty_cache"]


@dataclass(frozen=True)
class Compilation(SubjectCase):
    """Tracing and compiling forward dynamics.

    Attributes:
        total: target for trace and LLVM together [s]; `llvm`: for LLVM alone; `cached`: for finding the code
            on the disk.
        repeats: how often.
    """

    total: float | None = None
    llvm: float | None = None
    cached: float = 0.05
    repeats: int = 5

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"compile_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"compiling the forward dynamics of {self.subject.title}"

    def rows(self, effort: Effort) -> Iterator[Row]:
        samples: dict[str, list[float]] = {}
        self.subject.mechanism.base_parameter_tree  # noqa: B018 - built before the clock starts: it belongs to loading
        for _ in range(max(1, min(self.repeats, effort.rounds))):
            for part, spent in self._once().items():
                samples.setdefault(part, []).append(spent)
        timings = {part: Timing.of(spent) for part, spent in samples.items()}
        row = Row(self.name, "trace", timings["trace"], remarks="Python, from the page to the program")
        yield row
        for lanes in (1, host().lanes):
            states = "one state" if lanes == 1 else f"{lanes} states"
            alone = "program to machine code, text included, empty cache"
            yield replace(row, what=f"LLVM, {states}", ours=timings[f"llvm {lanes}"], at_most=self.llvm, remarks=alone)
            yield replace(row, what=f"trace and LLVM, {states}", ours=timings[f"total {lanes}"], at_most=self.total, remarks="")
            again = "program to machine code that is on the disk, text included"
            yield replace(
                row, what=f"from the cache, {states}", ours=timings[f"cached {lanes}"], at_most=self.cached, remarks=again
            )

    def _once(self) -> dict[str, float]:
        begin = time.perf_counter()
        program = forward_dynamics(self.subject.mechanism)
        spent = {"trace": time.perf_counter() - begin}
        for lanes in (1, host().lanes):
            with empty_cache():
                begin = time.perf_counter()
                Kernel(program).code(lanes)
                whole = time.perf_counter() - begin
                begin = time.perf_counter()
                Kernel(program).code(lanes)
                again = time.perf_counter() - begin
            spent |= {f"llvm {lanes}": whole, f"total {lanes}": spent["trace"] + whole, f"cached {lanes}": again}
        return spent


@dataclass(frozen=True)
class ImportTime(Case):
    """`import kumitate`, each time in a new process."""

    at_most: float
    repeats: int = 9
    name: str = "import"
    title: str = "import kumitate"

    def rows(self, effort: Effort) -> Iterator[Row]:
        probe = "import time; begin = time.perf_counter(); import kumitate; print(time.perf_counter() - begin)"
        samples = [float(_in_a_process(probe)) for _ in range(min(self.repeats, effort.rounds))]
        yield Row(self.name, "import kumitate", Timing.of(samples), at_most=self.at_most, remarks="NumPy included")


@dataclass(frozen=True)
class Loading(Case):
    """Loading the humanoid of gymnasium, an MJCF file, after packages are imported."""

    at_most: float
    name: str = "load_mjcf"
    title: str = "loading an MJCF humanoid"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return ", ".join(name for name in ("gymnasium", "mujoco") if find_spec(name) is None)

    def rows(self, effort: Effort) -> Iterator[Row]:
        import gymnasium

        file = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "humanoid.xml"

        def load() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kumitate.load(file)

        timings = by_turns({"load": Contender(load, 1)}, max(2, effort.rounds // 4))
        yield Row(self.name, "load humanoid.xml of gymnasium", timings["load"], at_most=self.at_most)


#: Simulates once. Given the names of modules, imports them and prints the processor time that the simulation takes then; what
#: they leave to Python's garbage collector is collected before, as that is a cost of importing.
_FIRST = """
import contextlib, gc, importlib, sys, time, warnings
import kumitate as km
from kumitate.model.samples import hoap1

warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
gc.collect()
robot, begin = km.load(hoap1()), time.process_time()
km.simulate(robot, duration=1e-3, contact="rigid", controller=lambda t, q, v: -0.1 * v)
print(time.process_time() - begin if sys.argv[1:] else " ".join(sorted(sys.modules)))
"""


@dataclass(frozen=True)
class FirstRun(Case):
    """The first `simulate` of a process, of a humanoid with contact whose programs another process left on disk."""

    at_most: float
    repeats: int = 5
    name: str = "first_run"
    title: str = "the first simulate of a process, its programs on disk"

    def rows(self, effort: Effort) -> Iterator[Row]:
        modules = [name for name in _in_a_process(_FIRST).split() if name != "__main__"]
        samples = [float(_in_a_process(_FIRST, *modules)) for _ in range(min(self.repeats, effort.rounds))]
        told = "processor time of 1 step of 1 ms; modules were imported, their garbage collected, the robot read; README: parts"
        yield Row(self.name, "simulate, apart from import", Timing.of(samples), at_most=self.at_most, remarks=told)


@dataclass(frozen=True)
class FirstPage(Case):
    """The page of robots on a floor by `kumitate simulate`, with an empty cache and with that of another robot.

    Attributes:
        cold, second: targets of processor time with an empty cache and after the other robot [s].
    """

    cold: float
    second: float
    name: str = "first_page"
    title: str = "the first page of a robot on a floor, by `kumitate simulate`"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return "" if find_spec("gymnasium") else "gymnasium"

    def rows(self, effort: Effort) -> Iterator[Row]:
        import gymnasium

        assets = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
        standing = ("--floating-base", "--hold")
        robots: dict[str, tuple[str, ...]] = {name: (name, *standing) for name in ("go2", "anymal_b", "g1", "talos")}
        robots |= {f"{name} of gymnasium": (str(assets / f"{name}.xml"),) for name in ("ant", "humanoid")}
        with empty_cache():
            _page(robots["go2"])  # Python's own cache of modules is not what is timed
        for name, asked in robots.items():
            before = robots["anymal_b" if name == "go2" else "go2"]
            with empty_cache():
                first = Timing.of([_page(asked)])
            with empty_cache():
                _page(before)
                second = Timing.of([_page(asked)])
            remarks = "processor time of the command"
            yield Row(self.name, f"{name}, empty cache", first, at_most=self.cold, remarks=remarks)
            yield Row(self.name, f"{name}, after {before[0]}", second, at_most=self.second, remarks=remarks)


def _page(asked: tuple[str, ...]) -> float:
    """The processor time of `kumitate simulate` of a robot on the floor, with what it starts [s]."""
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-m", "kumitate", "simulate", *asked, "--contact", "rigid", "--out", f"{folder}/run"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        begin = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(call, capture_output=True, text=True, env=environment)
        end = getrusage(RUSAGE_CHILDREN)
        if not list(Path(folder).rglob("*.html")):
            raise KumitateError(f"{' '.join(call)} wrote no page; nothing is timed\n{done.stderr}")
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def _in_a_process(script: str, *arguments: str) -> str:
    """What a script prints in a new process."""
    sources = str(Path(__file__).absolute().parents[2])
    paths = os.pathsep.join(filter(None, (sources, os.environ.get("PYTHONPATH", ""))))
    call = [sys.executable, "-c", script, *arguments]
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(call, capture_output=True, text=True, check=True, env=environment).stdout


@contextmanager
def empty_cache() -> Iterator[None]:
    """Compiled code goes to a separate folder in this context."""
    before = os.environ.get("KUMITATE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KUMITATE_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["KUMITATE_CACHE"]
            else:
                os.environ["KUMITATE_CACHE"] = before
