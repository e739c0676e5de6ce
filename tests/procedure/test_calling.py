"""Calls of procedures: which arguments they take, in several threads, in forked processes, in the next process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from kumitate.compile import pipeline
from kumitate.contact.scenes.solvers.laws import add_wrench
from kumitate.errors import InputError, ProcedureError
from kumitate.procedure import Floats, Ints, LocatedProgram, Shaped, apply_at, machine, procedure
from kumitate.procedure.called import later
from kumitate.procedure.programs import call_at
from kumitate.scalar import trace

SCALE = 2.0


class Cloud(NamedTuple):
    points: Floats[3]
    count: int


@procedure
def total(cloud: Cloud, weights: Floats, shift: Shaped[3]) -> float:
    found = 0.0
    for k in range(cloud.count):
        found += scaled(cloud.points[k, 0] + shift[0], weights[k])
    return found


class Clouds(NamedTuple):
    near: Cloud
    far: Cloud


@procedure
def counted(clouds: Clouds, k: int) -> int:
    cloud, at = clouds.near, k + 1
    return cloud.count * at


@procedure
def scaled(x: float, weight: float) -> float:
    return SCALE * x * weight


@procedure
def count_up(x: Ints, rounds: int, up: bool) -> int:
    for _ in range(rounds):
        for k in range(len(x)):
            x[k] += 1 if up else -1
    return x[0]


POINTS, WEIGHTS, SHIFT = np.arange(12.0).reshape(4, 3), np.ones(5), np.zeros(3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((Cloud(POINTS, 4), WEIGHTS), "total takes 3 arguments (cloud, weights, shift), got 2"),
        ((POINTS, WEIGHTS, SHIFT), "total: cloud is ndarray; it must be Cloud, with 2 fields"),
        ((Cloud(POINTS.T, 4), WEIGHTS, SHIFT), "total: cloud.points has shape (3, 4) and dtype float64, not contiguous; it "
         "must be a C-contiguous float64 array of shape (n, 3)"),
        ((Cloud(POINTS, 4.0), WEIGHTS, SHIFT), "total: cloud.count is float; it must be int"),
        ((Cloud(POINTS, 2**63), WEIGHTS, SHIFT), "total: cloud.count is 9223372036854775808; integers have 64 bits"),
        ((Cloud(POINTS, 4), [1.0], SHIFT), "total: weights is list; it must be a C-contiguous float64 array of shape (n,)"),
        ((Cloud(POINTS, 4), WEIGHTS.astype(int), SHIFT), "total: weights has shape (5,) and dtype int64"),
        ((Cloud(POINTS, 4), WEIGHTS[::2], SHIFT), "not contiguous"),
        ((Cloud(POINTS, 4), WEIGHTS, WEIGHTS), "total: shift has shape (5,) and dtype float64; it must be a C-contiguous "
         "float64 array of shape (3,)"),
    ],
)  # fmt: skip
def test_arguments_are_refused_by_name(arguments, words):
    with pytest.raises(InputError) as caught:
        total(*arguments)
    assert words in str(caught.value)


def test_arguments_by_name_and_bound():
    cloud = Cloud(POINTS.copy(), 4)
    expected = 2.0 * POINTS[:, 0].sum()
    assert total(cloud, shift=SHIFT, weights=WEIGHTS) == expected
    again = total.bound(cloud, WEIGHTS, shift=SHIFT)
    assert again() == expected
    cloud.points[0, 0] = 10.0
    assert again() == expected + 20.0


def test_only_what_is_read_of_records_is_handed_on():
    """A name for a part of a record, given together with others, stands for that part."""
    (head,) = [line for line in counted.source().splitlines() if line.startswith("define internal i64 @p0_counted(")]
    assert head.count("%") == 2  # of seven leaves the count, and k
    cloud = Cloud(POINTS, 4)
    assert counted(Clouds(cloud, cloud), 2) == counted.plain(Clouds(cloud, cloud), 2) == 12


def test_as_written_runs_all_as_written(monkeypatch):
    """Machine code keeps the constant that it was compiled with; the function as written reads the one of the module."""
    total(Cloud(POINTS, 4), WEIGHTS, SHIFT)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    assert total.plain(Cloud(POINTS, 4), WEIGHTS, SHIFT) == 3.0 * POINTS[:, 0].sum()
    assert total(Cloud(POINTS, 4), WEIGHTS, SHIFT) == 2.0 * POINTS[:, 0].sum()


def test_threads_call_at_once():
    arrays = [np.zeros(1000, dtype=np.int64) for _ in range(8)]
    fresh = procedure(count_up.__wrapped__)  # compiled by whichever thread comes first
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pair: fresh(pair[1], 10 * pair[0], True), enumerate(arrays)))
    assert found == [10 * k for k in range(8)]
    assert all((array == 10 * k).all() for k, array in enumerate(arrays))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_calls_too():
    x = np.zeros(10, dtype=np.int64)
    assert count_up(x, 2, True) == 2
    child = os.fork()
    if child == 0:
        os._exit(count_up(x, 5, True))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    assert count_up(x, 1, False) == 1


PROBE = """
import sys
import numpy as np
from tests.procedure.test_calling import count_up
import llvmlite.binding as llvm
llvm.parse_assembly = None  # not called: the object file is on disk
print(count_up(np.zeros(3, dtype=np.int64), 5, False))
"""


def test_the_next_process_finds_the_code_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    procedure(count_up.__wrapped__)(np.zeros(3, dtype=np.int64), 1, True)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    answer = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, env=environment)
    assert answer.stdout == "-5\n"


@pytest.mark.parametrize(
    "damaged", [b"rubbish", bytes(8) + b"\1", (1).to_bytes(8, "little") + (500).to_bytes(8, "little") + bytes(500)]
)
def test_damaged_code_of_a_procedure_of_kumitate_is_made_again(tmp_path, monkeypatch, damaged):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    monkeypatch.setenv("KUMITATE_VERIFY", "0")
    for _ in range(2):
        lever, impulse, wrench = np.array([0.0, 1.0, 0.0]), np.array([1.0, 3.0, 4.0]), np.zeros(6)
        procedure(add_wrench.__wrapped__)(np.eye(3), lever, impulse, 0.5, wrench)
        np.testing.assert_allclose(wrench, [2.0, 0.0, -0.5, 0.5, 1.5, 2.0], rtol=1e-15)
        entries = {path: path.read_bytes() for path in tmp_path.glob("*.o")}
        joined = [path for path, content in entries.items() if not content.startswith(b"\x7fELF")]
        assert len(joined) == 1
        for path in joined:
            path.write_bytes(damaged + hashlib.sha256(damaged).digest())
    procedure(add_wrench.__wrapped__)(np.eye(3), lever, impulse, 0.5, wrench)
    assert {path: path.read_bytes() for path in entries} == entries


# --- by address ---------------------------------------------------------------------------------------------------------------
@procedure
def push(x: Floats, by: float, up: bool) -> tuple[float, bool]:
    x[0] += by if up else -by
    return x[0], x[0] > 0.0


@procedure
def pull(x: Floats, by: float, up: bool) -> tuple[float, bool]:
    x[0] -= 2.0 * (by if up else -by)
    return x[0], x[0] > 0.0


@procedure
def chosen(addresses: Ints, order: Ints, x: Floats) -> int:
    """Calls what the list says, one after the other; how many left the number above zero."""
    above = 0
    for k in range(len(order)):
        reached, positive = call_at(addresses[order[k]], push, x, 0.5 + k, order[k] == k)
        if positive and reached > 0.0:
            above += 1
    return above


def test_procedures_are_called_by_their_addresses():
    addresses, order = np.array([push.address, pull.address]), np.array([0, 1, 1, 0, 0])
    machine, plain, expected, above = np.zeros(1), np.zeros(1), np.zeros(1), 0
    for k, number in enumerate(order.tolist()):
        above += (push, pull)[number].plain(expected, 0.5 + k, number == k)[1]
    assert chosen(addresses, order, machine) == chosen.plain(addresses, order, plain) == above == 2
    assert machine[0] == plain[0] == expected[0]


def test_procedures_called_by_address_are_compiled_apart():
    assert "push" not in chosen.source()


def test_no_procedure_at_an_address_is_refused_as_written():
    with pytest.raises(InputError, match="there is no procedure at the address 12345; its attribute `address` gives one"):
        chosen.plain(np.array([12345]), np.array([0]), np.zeros(1))


@procedure
def reads_beyond(x: Floats, by: float, up: bool) -> tuple[float, bool]:
    return x[len(x)], up


def test_a_check_that_fails_behind_an_address_ends_the_checked_caller(monkeypatch):
    monkeypatch.setenv("KUMITATE_DEBUG", "1")
    with pytest.raises(IndexError, match=r"call_at.*the procedure at this address failed a check; call it by itself"):
        chosen.machine(checked=True).call((np.array([reads_beyond.address]), np.array([0]), np.zeros(1)))


def test_calls_by_address_name_a_procedure_that_is_alike():
    @procedure
    def wrong(address: int, x: Floats) -> float:
        return call_at(address, x)

    with pytest.raises(ProcedureError, match=r"is called as call_at\(address, like, arguments…\), like being a procedure"):
        _ = wrong.typed


# --- made when they are first called ------------------------------------------------------------------------------------------
@procedure
def summed(x: Floats, by: float) -> float:
    """Long enough to stay a function, in one module for all that call it."""
    total = 0.0
    for k in range(len(x)):
        x[k] += by
        if x[k] > 1e6:
            total -= scaled(x[k] - 1e6, by) + scaled(x[k] + 1e6, by) + scaled(x[k], by) + scaled(x[k] - 1.0, by)
        else:
            total += scaled(x[k] - 1e3, by) + scaled(x[k] + 1e3, by) + scaled(x[k], by) + scaled(x[k] - 1.0, by)
        while total > 1e3:
            total = 0.5 * total - scaled(x[k], 0.001)
    return total


@later
def deepest(x: Floats, by: float) -> tuple[float, bool]:
    x[0] -= 1.0
    return summed(x, by), x[0] > 0.0


@later
def deep(x: Floats, by: float, up: bool) -> None:
    reached, above = deepest(x, by if up else -by)
    x[1] = reached if above else -reached


@procedure
def seldom(x: Floats, by: float, down: int) -> float:
    if down > 0:
        deep(x, by, down > 1)
        return deepest(x, by)[0]
    return summed(x, by)


def test_procedures_that_wait_are_compiled_when_they_are_first_called():
    fresh = procedure(seldom.__wrapped__)
    for down, made in ((0, 0), (1, 2), (2, 2)):
        x, y = np.arange(5.0), np.arange(5.0)
        assert fresh(x, 0.3, down) == pytest.approx(fresh.plain(y, 0.3, down), rel=1e-14)
        np.testing.assert_allclose(x, y, rtol=1e-14)
        assert len(fresh.machine()._made) == made
    assert "made_later" not in fresh.source()  # what is exported has all
    assert "deepest" in fresh.source()
    checked = procedure(seldom.__wrapped__).machine(checked=True).call([np.arange(5.0), 0.3, 2])
    assert checked == pytest.approx(fresh(np.arange(5.0), 0.3, 2), rel=1e-12)


def test_threads_wait_for_one_procedure():
    fresh = procedure(seldom.__wrapped__)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: fresh(np.arange(5.0), 0.3, 2), range(8)))
    assert found == [fresh(np.arange(5.0), 0.3, 2)] * 8
    assert len(fresh.machine()._made) == 2


@pytest.mark.parametrize("stop", [MemoryError("no room for machine code"), KeyboardInterrupt()])
def test_what_stops_the_compilation_of_a_part_is_raised_after_it(monkeypatch, stop):
    """Machine code lies between: it goes on, with the part if Ctrl-C is all that came, and the next call is as ever."""
    fresh, link, stops = procedure(seldom.__wrapped__), machine.link, [stop]
    fresh(np.arange(5.0), 0.3, 0)

    def stopped(*arguments):
        if stops:
            raise stops.pop()
        return link(*arguments)

    monkeypatch.setattr(machine, "link", stopped)
    x = np.arange(5.0)
    with pytest.raises(type(stop)):
        fresh(x, 0.3, 2)
    y = np.arange(5.0)
    fresh.plain(y, 0.3, 2)
    assert np.allclose(x, y) == isinstance(stop, KeyboardInterrupt)
    assert fresh(np.arange(5.0), 0.3, 2) == pytest.approx(seldom.plain(np.arange(5.0), 0.3, 2), rel=1e-14)


@procedure
def applied(program: int, x: Shaped[2], y: Shaped[2]) -> float:
    apply_at(program, (x, 2.0), (y,))
    return y[1]


def test_programs_that_wait_are_compiled_when_they_are_first_called(monkeypatch):
    program = LocatedProgram(trace(lambda x, scale: [scale * x[1], x[0]], {"x": 2, "scale": ()}, "swapped"))
    x, y, plain = np.array([3.0, 4.0]), np.zeros(2), np.zeros(2)
    waiting, compiled = program.waiting(3), pipeline.compiled
    monkeypatch.setattr(pipeline, "compiled", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        applied(waiting, x, y)
    monkeypatch.setattr(pipeline, "compiled", compiled)
    for address in (waiting, program.address, waiting):
        assert applied(address, x, y) == 3.0
        np.testing.assert_array_equal(y, [8.0, 3.0])
    assert applied.plain(waiting, x, plain) == 3.0
