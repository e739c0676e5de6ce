"""The page on the same bits: each of its lines, by a test of its name."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.model.samples import sample
from kumitate.scalar import evaluate
from kumitate_problems.contact import solid, unconnected

from .compile.in_node import Instance, run_in_node

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "same-bits.md"
OPTIONS = {"duration": 0.2, "step": 1e-3}
#: What a process prints: the bits of a function, of a portable one, and of runs without a loop and with one.
TOLD = """
import hashlib
import numpy as np
import kumitate as km
def bits(x): return hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16]
arm = km.load("planar_3r")
q, v, tau = np.random.default_rng(0).normal(size=(3, 24, 3))
print(bits(arm.forward_dynamics(q, v, tau)), bits(arm.compile("forward_dynamics", portable=True)(q, v, tau)))
print(bits(km.simulate(arm, [0.1, 0.2, 0.3], duration=0.2).q))
print(bits(km.simulate(km.load("planar_4r"), np.deg2rad([120.0, -30.0, 210.0]), duration=0.1).q))
"""


def told(folder: Path, **variables: str) -> list[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "KUMITATE_CACHE": str(folder), **variables}
    done = subprocess.run([sys.executable, "-c", TOLD], capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def same(*found) -> bool:
    return all(np.asarray(one).tobytes() == np.asarray(found[0]).tobytes() for one in found)


def states(count: int = 19) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(size=(count, 3)), rng.normal(size=(count, 3))


def batch(simulation: km.Simulation, q: np.ndarray, v: np.ndarray, steps: int = 200) -> np.ndarray:
    rows = simulation.batch(q, v)
    rows.step(steps)
    return np.hstack([rows.q, rows.v])


@pytest.fixture(scope="module")
def arm() -> km.Simulation:
    return km.Simulation(km.load("planar_3r"), step=1e-3)


@pytest.fixture(scope="module")
def processors(tmp_path_factory) -> dict[str, list[str]]:
    """By processor, the bits of what its code computes."""
    return {cpu: told(tmp_path_factory.mktemp(cpu), KUMITATE_CPU=cpu) for cpu in ("haswell", "sandybridge", "nehalem")}


def balls() -> km.Simulation:
    """Two balls that fall beside each other onto a floor: a scene."""
    scene = unconnected(solid("one", km.Sphere(0.1)), solid("other", km.Sphere(0.1)))
    return km.Simulation(scene, step=1e-3, contact="rigid")


BALLS = np.array([0, 0, 0, 1, 0, 0, 0.15, 0, 0, 0, 1, 0.15, 0.02, 0.3]), np.array([0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0, 0.5, 0])


# --- in every bit -----------------------------------------------------------------------------------------------------
def test_again():
    first, second = (km.simulate(km.load("planar_3r"), [0.1, 0.2, 0.3], **OPTIONS) for _ in range(2))
    assert same(first.q, second.q)
    assert same(first.v, second.v)
    assert same(first.energy.total, second.energy.total)


def test_process(tmp_path):
    cold, warm = (told(tmp_path, PYTHONHASHSEED=seed, KUMITATE_VERIFY="0") for seed in "12")
    assert cold == warm
    assert len(cold) == 4


def test_threads(monkeypatch):
    found, (q, v) = [], states(500)
    for count in ("1", "2", "7"):
        monkeypatch.setenv("KUMITATE_THREADS", count)
        found.append(batch(km.Simulation(km.load("planar_3r"), step=1e-3), q, v))
    assert same(*found)


def test_place(arm):
    q, v = states()
    whole, order = batch(arm, q, v), np.random.default_rng(1).permutation(len(q))
    assert same(whole[order], batch(arm, q[order], v[order]))
    assert same(whole[3:8], batch(arm, q[3:8], v[3:8]))
    assert same(whole[5], batch(arm, q[5:6], v[5:6])[0])


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "midpoint", "rk4", "rkf45"])
def test_alone(integrator):
    simulation, (q, v) = km.Simulation(km.load("planar_3r"), step=1e-3, integrator=integrator), states(9)
    rows = batch(simulation, q, v, 50)
    for k in range(len(q)):
        state = simulation.step(simulation.start(q[k], v[k]), 50)
        assert same(rows[k], np.hstack([state.q, state.v]))


@pytest.mark.parametrize("name", ["planar_3r", "planar_4r"])
def test_halves(name):
    simulation = km.Simulation(km.load(name), step=1e-3)
    start = simulation.start(sample(name).q, sample(name).v)
    whole, half = simulation.step(start, 100), simulation.step(start, 37)
    for state in (half, copy.deepcopy(half)):
        assert same(whole.q, simulation.step(state, 63).q)
        assert same(whole.v, simulation.step(state, 63).v)


def test_copies(arm):
    other = pickle.loads(pickle.dumps(arm))
    start = arm.start(*(part[0] for part in states()))
    assert same(arm.step(start, 100).q, other.step(pickle.loads(pickle.dumps(arm.step(start, 40))), 60).q)


@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_files(suffix, tmp_path):
    run = km.simulate(km.load("planar_3r"), [0.1, 0.2, 0.3], **OPTIONS)
    run.save(tmp_path / f"run{suffix}")
    kept = km.open(tmp_path / f"run{suffix}")
    for name in ("time", "q", "v", "a", "tau"):
        assert same(getattr(run, name), getattr(kept, name))
    again = km.simulate(kept.mechanism, kept.q[0], kept.v[0], **OPTIONS)
    assert same(run.q, again.q)


def test_scenes(monkeypatch):
    first = balls()
    assert same(*(first.run(*BALLS, duration=0.2).q for _ in range(2)))
    rows, found = [np.tile(part, (6, 1)) for part in BALLS], []
    for count in ("1", "2"):
        monkeypatch.setenv("KUMITATE_THREADS", count)
        found.append(batch(balls(), *rows, steps=150))
    assert same(*found)
    assert same(*found[0])


def test_portable(processors):
    robot, (q, v) = km.load("planar_3r"), states(3)
    kernel = robot.compile("forward_dynamics", portable=True)
    found = kernel(q, v, 0.1 * q)
    for row in range(3):
        values = evaluate(kernel.program, np.hstack([q[row], v[row], 0.1 * q[row]]).tolist())
        assert same(found[row], np.ravel(values))
    assert len({bits[1] for bits in processors.values()}) == 1


def test_webassembly():
    kernel, (q, v) = km.load("planar_3r").compile("forward_dynamics", portable=True), states(3)
    module = Instance(kernel.wasm())
    for row in range(3):
        module.call("kernel", {"q": q[row], "v": v[row], "tau": 0.1 * q[row]}, ["kernel.result"])
    ((*found,),) = run_in_node([module])
    assert same(kernel(q, v, 0.1 * q), np.array([part for (part,) in found]))


# --- to rounding only -------------------------------------------------------------------------------------------------
def test_processors(processors):
    assert processors["sandybridge"] == processors["nehalem"]  # neither fuses products; four lanes and two
    assert all(processors["haswell"][k] != processors["nehalem"][k] for k in (0, 3))


def test_auto():
    robot = km.load("governor")
    start = robot.start
    one = km.simulate(robot, *start, duration=0.02)
    rows = km.simulate_batch(robot, *(np.tile(part, (2, 1)) for part in start), duration=0.02)
    away = np.abs(rows.q[0, -1] - one.q[-1]).max()
    assert 0.0 < away < 1e-3


def test_closing():
    robot = km.load("planar_4r")
    simulation, q = km.Simulation(robot, step=1e-3), robot.assemble(np.deg2rad([60.0, 30.0, 150.0]))
    for speed in (0.0, 1.0):
        v = robot.assemble(q, [speed, 0.0, 0.0])[1]
        many, alone = (batch(simulation, np.tile(q, (n, 1)), np.tile(v, (n, 1)), 20) for n in (19, 1))
        assert same(many[0], many[-1], alone[0])
        np.testing.assert_allclose(many, np.tile(alone, (19, 1)), atol=1e-13)


def test_restart():
    start = np.deg2rad([60.0, 30.0, 150.0])
    whole = km.simulate(km.load("planar_4r"), start, duration=0.4, step=1e-2)
    rest = km.simulate(km.load("planar_4r"), whole.q[20], whole.v[20], duration=0.2, step=1e-2)
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=1e-7)


def test_schedules():
    ball = unconnected(solid("ball", km.Sphere(0.1)))
    q, v = [0, 0, 0, 1, 0, 0, 0.1], [0.3, 0, 0, 1.0, 0.2, 0]
    one, other = (
        km.simulate(ball, q, v, duration=0.3, contact="rigid", side_by_side=choice) for choice in (True, False)
    )  # fmt: skip
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)


def test_methods():
    robot, (q, v) = km.load("planar_7r"), np.random.default_rng(1).normal(size=(2, 50, 7))
    one, other = (robot.forward_dynamics(q, v, 0.0 * q, method=method) for method in ("aba", "crba"))
    assert not same(one, other)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_single():
    robot, (q, v) = km.load("planar_3r"), states()
    double, single = (robot.compile("forward_dynamics", dtype=kind)(*map(kind, (q, v, q))) for kind in (np.float64, np.float32))
    np.testing.assert_allclose(single, double, rtol=1e-3)
    assert single.dtype == np.float32


# --- the page ---------------------------------------------------------------------------------------------------------
def test_every_line_of_the_page_is_a_test_and_every_test_a_line():
    lines = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    tests = re.findall(r"^def test_([a-z]+)\(", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    assert lines == tests
