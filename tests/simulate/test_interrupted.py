"""A run that ends early keeps what was computed: after Ctrl-C, SIGTERM, or an error in a controller."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import kumitate as km


class Failing:
    """A controller that raises after some calls."""

    def __init__(self, error, calls=30):
        self.error, self.calls = error, calls

    def __call__(self, t, q, v):
        self.calls -= 1
        if self.calls < 0:
            raise self.error
        return -v


@pytest.mark.parametrize("error", [ValueError("the table ends here"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_an_exception_carries_the_run_up_to_there(error):
    arm = km.load("planar_3r")
    whole = km.simulate(arm, duration=0.1, controller=Failing(error, 1000), integrator="rk4")
    with pytest.raises(type(error)) as raised:
        km.simulate(arm, duration=0.1, controller=Failing(error), integrator="rk4")
    assert raised.value is error
    kept = raised.value.result
    assert isinstance(kept, km.Run)
    assert len(kept) == 31
    np.testing.assert_array_equal(kept.q, whole.q[:31])
    np.testing.assert_allclose(kept.energy.total, whole.energy.total[:31], rtol=1e-12)
    assert raised.value.__notes__ == ["The result up to t = 0.03 s is kept in the error's `result`."]


def test_an_error_at_the_start_is_just_that():
    with pytest.raises(ValueError, match="no table") as raised:
        km.simulate(km.load("pendulum"), duration=0.1, controller=Failing(ValueError("no table"), 0))
    assert not hasattr(raised.value, "result")


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_stopped_command_saves_what_it_has(tmp_path, kind):
    """Stopped while it simulates, the command leaves a readable result that begins as the whole run does."""
    options = ["--integrator", "rkf45_adaptive", "--duration", "10000", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "kumitate", "simulate", "pendulum", *options]
    for wait in (2.0, 4.0, 8.0, 16.0, 32.0):  # too early, and nothing is recorded yet
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
        )  # fmt: skip
        time.sleep(wait)
        process.send_signal(kind)
        _, errors = process.communicate(timeout=60.0)
        if "the run up to t = " in errors:
            break
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[kind], errors
    assert "Traceback" not in errors
    kept = km.open(next(tmp_path.glob("result.*")))
    whole = km.simulate(km.load("pendulum"), duration=0.1, step=kept.time[1], integrator="rkf45_adaptive")
    n = min(len(kept), len(whole))
    assert n > 1
    np.testing.assert_array_equal(kept.q[:n], whole.q[:n])


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_that_python_drops_stops_the_command_all_the_same(tmp_path, kind):
    """An exception that a signal raises inside a destructor is dropped; the signal comes again, and is not printed."""
    script = textwrap.dedent(f"""
        import os, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from kumitate.simulate.rows import fill
        from kumitate.simulate import simulation

        class Dropping:
            def __del__(self):
                os.kill(os.getpid(), {int(kind)})
                for _ in range(1000):
                    pass  # the signal is taken here

        def dropping(*arguments):
            thing = Dropping()
            del thing
            return fill(*arguments)

        simulation.fill = dropping
        from kumitate.cli import main
        main(["simulate", "pendulum", "--integrator", "rkf45_adaptive", "--duration", "1000", "--out", {str(tmp_path)!r}])
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100.0, check=False)
    assert done.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[kind], done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("call", ["simulation.step(simulation.start(), 10**9)", "simulation.batch(64).step(10**8)"])
def test_long_steps_are_stopped(call):
    """Steps without records, by themselves an hour of machine code, return to Python between pieces."""
    script = f"""
        import signal, kumitate as km
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        simulation = km.Simulation(km.load("pendulum"), integrator="rk4")
        simulation.batch(64).step()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        {call}
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60.0, check=False
    )
    assert "KeyboardInterrupt" in done.stderr


def test_long_steps_in_pieces_are_the_same_motion(monkeypatch):
    """Of a loop, whose steps begin by closing it, with what is recorded at their end."""
    simulation = km.Simulation(km.load("four_bar"), outputs=["energy"])
    whole = simulation.batch(3)
    whole.step(50)
    monkeypatch.setattr("kumitate.compile.recurrence._PIECE", 1)
    monkeypatch.setattr("kumitate.compile.recurrence._STEPS", 7)
    pieces = simulation.batch(3)
    pieces.step(50)
    np.testing.assert_array_equal(pieces.q, whole.q)
    np.testing.assert_array_equal(pieces.time, whole.time)
    np.testing.assert_array_equal(pieces.outputs["energy.kinetic"], whole.outputs["energy.kinetic"])
