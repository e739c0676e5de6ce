"""Whatever is killed, a sweep that is started again gives the table that it gives undisturbed, bit by bit."""

import contextlib
import signal

import psutil
import pytest

import kumitate as km

from .makers import rows, started, wait_for, written

#: Long enough that a block takes a quarter of a second.
DURATION = 400.0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    scenario = written(folder, duration=DURATION)
    return scenario, rows(km.sweep(scenario, folder / "swept"))


def parts(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("parts/[!.]*.parquet")}


def workers(process):
    """The processes below one that simulate."""
    return [
        child for child in psutil.Process(process.pid).children(recursive=True) if "spawn_main" in " ".join(child.cmdline())
    ]


def killed(process):
    """Kills a process, and what it leaves behind once that was looked at."""
    below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()  # not for the end of its output: what it leaves behind may hold that open
    return below


def gone(below):
    """Whether processes have ended by themselves; those that have not are ended."""
    _, alive = psutil.wait_procs(below, timeout=20)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return not alive


@pytest.mark.slow
def test_a_killed_process_and_a_killed_sweep_lose_no_run_and_count_none_twice(undisturbed, tmp_path):
    scenario, expected = undisturbed
    out = tmp_path / "swept"
    sweep = started("sweep", scenario, "--out", out, "--processes", 2, "--no-page")
    wait_for(lambda: len(parts(out)) >= 2)
    workers(sweep)[0].kill()
    before = len(parts(out))
    wait_for(lambda: len(parts(out)) >= before + 2)
    assert gone(killed(sweep)), "processes outlived the sweep that they belonged to"
    kept = parts(out)
    assert 4 <= len(kept) < 20, "the sweep was over before it could be killed; make it longer"
    again = km.sweep(scenario, out)
    assert rows(again) == expected
    assert kept.items() <= parts(out).items(), "blocks that were done were simulated again"


@pytest.fixture
def cluster():
    """Starts a scheduler with two workers, and gives it with its address."""
    clusters = []

    def start():
        clusters.append(started("cluster", "--workers", 2, "--port", 0))
        return clusters[-1], clusters[-1].stdout.readline().split()[0]

    yield start
    for process in clusters:
        if process.poll() is None:
            process.terminate()  # tests in the background ignore Ctrl-C
            process.communicate(timeout=30)


@pytest.mark.slow
def test_a_killed_worker_and_a_killed_scheduler_lose_no_run_and_count_none_twice(undisturbed, tmp_path, cluster):
    scenario, expected = undisturbed
    out = tmp_path / "swept"
    one, address = cluster()
    assert address.startswith("tcp://127.0.0.1:"), "servers listen on this machine only unless told otherwise"
    sweep = started("sweep", scenario, "--out", out, "--scheduler", address, "--patience", 3.0, "--no-page")
    wait_for(lambda: len(parts(out)) >= 2)
    workers(one)[0].kill()
    before = len(parts(out))
    wait_for(lambda: len(parts(out)) >= before + 2)
    assert gone(killed(one))
    said = sweep.communicate(timeout=60)[1]
    kept = parts(out)
    assert 4 <= len(kept) < 20, "the sweep was over before the scheduler could be killed; make it longer"
    assert sweep.returncode == 1
    assert f"the scheduler {address} is out of reach" in said
    assert "Start the sweep again" in said
    again = km.sweep(scenario, out, scheduler=cluster()[1])
    assert rows(again) == expected
    assert kept.items() <= parts(out).items()
