"""Settings for all tests: no display, programs checked between the compiler's passes, skips that can be forbidden.

Property-based tests print how to repeat a failure.
"""

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("KUMITATE_VERIFY", "1")  # 0: as users run the package

import kumitate.papers  # noqa: F401 (its methods are then in the tables of methods that tests go through)

# Traced programs are millions of objects that live on in caches. As Python sets it, its collector walks through all of them so
# often that it takes an eighth of the processor's time.
gc.set_threshold(100_000, 20, 10)

# Compiling a kernel inside an example takes long the first time only: a deadline would fail at random.
settings.register_profile("kumitate", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kumitate")


@pytest.fixture
def little_to_collect() -> Iterator[None]:
    """What was made before a test is left out of what the collector looks at in it: whole caches would take it seconds."""
    gc.freeze()
    yield
    gc.unfreeze()


def pytest_unconfigure() -> None:
    """Ends without five searches of all that was traced for circles of objects, by which pytest finds errors in finalizers."""
    gc.freeze()


# A test that is skipped on a machine without the program or package that it needs guards nothing there. Continuous integration
# has to run all of them, so there a skip is a failure.
def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips", action="store_true", default=bool(os.environ.get("CI")),
        help="a test or file that is skipped fails instead; so it is wherever the environment variable CI is set",
    )  # fmt: skip
    parser.addoption(
        "--learn", action="store_true", help="tests of tests/learning, too: they take minutes and need the extra learn"
    )

    parser.addoption(
        "--drawn", default="", metavar="N:SEED", help="one test in N, drawn by the seed, which may be any text: 20:monday"
    )
    parser.addoption("--gpu", action="store_true", help="tests of tests/cuda that need an NVIDIA GPU, too")


#: A test that takes longer [s] is named after a run.
LONG = 20.0
#: Tests that run when they are asked for, by the option that does.
_ON_DEMAND = {"learning": "--learn", "test_pytorch_on_gpu.py": "--gpu"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    option = _ON_DEMAND.get(collection_path.name)
    return True if option is not None and not config.getoption(option) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that are drawn, the same on every machine; where none is, the first. Files with slow tests come first.

    One worker then has the large robots, so that it makes each once, and the last tests are short: none waits for a long one.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    part, _, seed = config.getoption("--drawn").partition(":")
    if not part:
        return
    kept = [item for item in items if crc32(f"{seed}{item.nodeid}".encode()) % int(part) == 0] or items[:1]
    if len(kept) < len(items):
        left = set(items) - set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped(report, collector.config)
    return report


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport, config: pytest.Config) -> None:
    if report.skipped and config.getoption("--no-skips"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome, report.longrepr = "failed", f"{reason}\nThis is a skip, and --no-skips makes a skip a failure."


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints what every folder of tests took, its set-ups included, with the work of all processes added up.

    Tests that take long are named, so that whoever made one such sees it.
    """
    tests, seconds, long = Counter[str](), Counter[str](), Counter[str]()
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            path = report.nodeid.split("::", 1)[0].split("/")
            room = path[1] if len(path) > 2 else "alone"
            tests[room] += report.when == "call"
            seconds[room] += report.duration
            long[report.nodeid] += report.duration
    if len(seconds) > 1:
        terminalreporter.section("seconds by folder", "-")
        for room, spent in seconds.most_common():
            terminalreporter.write_line(f"{room:<20}{tests[room]:>7} tests{spent:>9.1f} s")
        for name, spent in long.most_common():
            if spent > LONG:
                terminalreporter.write_line(f"over {LONG:g} s, which needs a reason: {name}{spent:>9.1f} s")
