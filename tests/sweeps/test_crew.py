"""Crews lose no block when workers die, wait for none when they close, and give up a scheduler that stays silent."""

import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import pytest

from kumitate.sweeps import crew as crews
from kumitate.sweeps.crew import CrewLostError, DaskCrew, ProcessCrew


def test_a_block_that_meets_a_broken_pool_is_sent_to_a_new_one(monkeypatch):
    class Broken:
        _broken = True

        def submit(self, *_):
            raise BrokenProcessPool

        def shutdown(self, **_):
            pass

    pools = [Broken(), ThreadPoolExecutor(1)]
    monkeypatch.setattr(ProcessCrew, "_started", lambda self: pools.pop(0))
    crew = ProcessCrew(1)
    assert crew.submit(str, 7).result() == "7"
    crew.close()


def test_closing_ends_the_processes_in_the_middle_of_their_blocks():
    crew = ProcessCrew(1)
    block = crew.submit(time.sleep, 5.0)
    crew.close()
    with pytest.raises((BrokenProcessPool, CancelledError)):
        block.result()


@pytest.fixture
def dask(monkeypatch):
    """A crew of a scheduler with one worker of three threads, in front of a clock that the test sets."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(crews, "clock", SimpleNamespace(monotonic=lambda: clock.now))
    client = SimpleNamespace(status="running", workers={"one": 3}, get_executor=lambda **_: None)
    client.nthreads = lambda: client.workers
    module = SimpleNamespace(Client=lambda *_, **__: client, KilledWorker=KeyError)
    monkeypatch.setattr(crews, "needed", lambda *_: module)
    return DaskCrew("tcp://here:1", patience=30.0), client, clock


def test_a_scheduler_is_given_up_when_it_had_no_worker_for_longer_than_the_patience(dask):
    crew, client, clock = dask
    assert crew.room() == 6
    client.workers = {}
    clock.now += 29.0
    crew.look()
    client.workers = {"two": 1}
    clock.now += 2.5
    crew.look()  # 31.5 s after the first worker was seen, and another one is there
    client.workers = {}
    clock.now += 29.9
    crew.look()
    clock.now += 0.2
    with pytest.raises(CrewLostError, match="the scheduler tcp://here:1 has no worker"):
        crew.look()


def test_a_scheduler_out_of_reach_is_given_up_after_the_patience_and_at_once_when_it_closes(dask):
    crew, client, clock = dask
    crew.look()
    client.status = "connecting"
    clock.now += 30.0
    crew.look()
    clock.now += 0.1
    with pytest.raises(CrewLostError, match="is out of reach"):
        crew.look()
    clock.now -= 20.0
    crew.look()
    for status in ("closing", "closed"):
        client.status = status
        with pytest.raises(CrewLostError, match="is out of reach"):
            crew.look()
