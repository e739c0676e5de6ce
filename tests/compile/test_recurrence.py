"""A step that is repeated in machine code: the same bits as repeated calls, for any rows, lanes, records and threads."""

from __future__ import annotations

import os

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.compile.recurrence import Recurrence
from kumitate.compile.threads import can_pool
from kumitate.errors import InputError
from kumitate.scalar import loop, sin, trace

STEPS, EVERY = 12, 3


def _pendulums(size: int) -> Recurrence:
    """A chain of damped oscillators with a counter, driven by u at the rate h."""
    inputs = {"count": (), "x": size, "v": size, "h": (), "u": size}

    def step(count, x, v, h, u):
        def accelerated(k, _):
            return [h * (u[i] - sin(x[i]) - 0.1 * v[i] + 0.3 * x[i - 1]) for i in range(size)], None

        change, _ = loop(2, accelerated, [0.0] * size)
        faster = [a + b for a, b in zip(v, change, strict=True)]
        return {"count": count + 1.0, "x": [a + h * b for a, b in zip(x, faster, strict=True)], "v": faster}

    def look(count, x, v, h, u):
        return {"time": count * h, "x": list(x), "energy": sum((a * a + b * b for a, b in zip(x, v, strict=True)), 0.0)}

    return Recurrence(trace(step, inputs, "step"), trace(look, inputs, "look"))


def _start(rows: int, size: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(11)
    state = {"count": np.zeros(rows), "x": rng.normal(size=(rows, size)), "v": rng.normal(size=(rows, size))}
    given = {"h": np.full((1, 1), 0.01), "u": rng.normal(size=(rows, STEPS // EVERY, size))}
    return state, given


def _repeated(recurrence: Recurrence, rows: int, size: int) -> tuple[dict[str, np.ndarray], dict[str, list[np.ndarray]]]:
    """By calls of one step for one row at a time."""
    step, look = Kernel(recurrence.step), Kernel(recurrence.look)
    state, given = _start(rows, size)
    seen: dict[str, list] = {array.name: [] for array in recurrence.seen}
    for row in range(rows):
        own = [state[name][row] for name in state]
        records = []
        for k in range(STEPS):
            held = (given["h"][0, 0], given["u"][row, k // EVERY])
            own = list(step(*own, *held))
            if (k + 1) % EVERY == 0:
                records.append(look(*own, *held))
        for name, value in zip(state, own, strict=True):
            state[name][row] = value
        for k, name in enumerate(seen):
            seen[name].append(np.array([record[k] for record in records]))
    return state, seen


def _rolled_out(recurrence: Recurrence, rows: int, size: int, *, batch: bool, splits: int = 1) -> tuple[dict, dict]:
    state, given = _start(rows, size)
    seen = {array.name: np.full((rows, STEPS // EVERY, *array.shape), np.nan) for array in recurrence.seen}
    share = STEPS // EVERY // splits
    for first in range(0, STEPS // EVERY, share):
        own = slice(first, first + share)
        held = {"h": given["h"], "u": given["u"][:, own]}
        recurrence.over(state, held, {name: array[:, own] for name, array in seen.items()}, batch=batch).run(share, EVERY)
    return state, seen


@pytest.mark.parametrize("size", [1, 3, 11])
@pytest.mark.parametrize("rows", [1, 2, 8, 13])
def test_steps_in_machine_code_give_the_bits_of_single_calls(rows, size):
    recurrence = _pendulums(size)
    state, seen = _repeated(recurrence, rows, size)
    for splits in (1, 2, 4):
        rolled, looked = _rolled_out(recurrence, rows, size, batch=False, splits=splits)
        assert all(np.array_equal(rolled[name], state[name]) for name in state)
        assert all(np.array_equal(looked[name], np.array(seen[name])) for name in seen)


@pytest.mark.parametrize("rows", [1, 7, 8, 13, 40])
def test_a_row_has_the_same_bits_in_any_lane_and_number_of_rows(rows):
    size, recurrence = 5, _pendulums(5)
    whole, looked = _rolled_out(recurrence, 40, size, batch=True)
    state, given = _start(40, size)
    own = np.random.default_rng(5).permutation(40)[:rows]
    few = {name: array[own].copy() for name, array in state.items()}
    seen = {array.name: np.empty((rows, STEPS // EVERY, *array.shape)) for array in recurrence.seen}
    recurrence.over(few, {"h": given["h"], "u": given["u"][own]}, seen, batch=True).run(STEPS // EVERY, EVERY)
    assert all(np.array_equal(few[name], whole[name][own]) for name in few)
    assert all(np.array_equal(seen[name], looked[name][own]) for name in seen)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_change_no_bit(threads, monkeypatch):
    recurrence = _pendulums(4)
    results = []
    for count in (1, threads):
        monkeypatch.setenv("KUMITATE_THREADS", str(count))
        state, given = _start(400, 4)
        seen = {array.name: np.empty((400, 4, *array.shape)) for array in recurrence.seen}
        rollout = recurrence.over(state, given, seen, batch=True)
        for _ in range(20):
            rollout.run(4, 100)
        results.append((state, seen))
    (one, looked), (many, watched) = results
    assert all(np.array_equal(one[name], many[name]) for name in one)
    assert all(np.array_equal(looked[name], watched[name]) for name in looked)


def test_a_forked_process_has_threads_of_its_own(monkeypatch):
    assert can_pool()
    monkeypatch.setenv("KUMITATE_THREADS", "3")
    recurrence = _pendulums(4)

    def rolled() -> np.ndarray:
        state, given = _start(400, 4)
        seen = {array.name: np.empty((400, 4, *array.shape)) for array in recurrence.seen}
        recurrence.over(state, given, seen, batch=True).run(4, 100)
        return seen["x"]

    expected = rolled()
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(rolled(), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_arrays_of_another_shape_are_refused_by_name():
    recurrence = _pendulums(4)
    state, given = _start(3, 4)
    seen = {array.name: np.empty((3, 4, *array.shape)) for array in recurrence.seen}
    with pytest.raises(InputError, match=r"x has shape \(3, 5\)"):
        recurrence.over({**state, "x": np.zeros((3, 5))}, given, seen, batch=False)
    with pytest.raises(InputError, match="v has 2 rows; there are 3"):
        recurrence.over({**state, "v": np.zeros((2, 4))}, given, seen, batch=False)
    with pytest.raises(InputError, match=r"energy .*float32"):
        recurrence.over(state, given, {**seen, "energy": np.zeros((3, 4), np.float32)}, batch=False)


def test_a_step_must_give_what_it_takes():
    inputs = {"x": 2, "h": ()}
    step = trace(lambda x, h: {"y": [x[0] + h, x[1]]}, inputs, "step")
    with pytest.raises(ValueError, match="must give its first inputs"):
        Recurrence(step, trace(lambda x, h: {"x": list(x)}, inputs, "look"))
