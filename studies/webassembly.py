"""What steps are as WebAssembly: how large, how long writing takes, and how long a step takes beside machine code."""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
import time as clock
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import kumitate as km
from kumitate.compile.stored import traced
from kumitate.compile.wasm import WasmModule
from kumitate.contact import Contact, Surface
from kumitate.errors import InputError
from kumitate.live.playable import live_scene
from kumitate.measure.timing import machine
from kumitate.model.samples import HOAP1_STANDING
from kumitate.share import browser
from kumitate.view import write_page
from kumitate.view.scene import packed

__all__ = ["CASES", "COLUMNS", "PAGES", "PLAYED", "Measured", "cells", "measured", "page", "played"]

#: Of the table.
COLUMNS = (
    "robot", "step", "written in [s]", "size [kB]", "as gzip [kB]", "first step in Chromium [ms]", "machine code [µs]",
    "Node [µs]", "Chromium [µs]",
)  # fmt: skip
_PAGE = """# Steps as WebAssembly

Printed by `scripts/study webassembly`.
A simulation's step of 1 ms and what is recorded of it are one module that imports nothing (`kumitate.compile.wasm`), written
once the programs are traced. The times of steps are those of one state, the fastest of many stretches after a second of motion:
machine code as simulations run it, with fused products, and the module in Node and in Chromium. Node 20
takes long to optimize functions of some ten thousand operations, and does it less well than browsers of today.

{table}

## In the page

A page that simulates, in Chromium for {seconds:g} s without WebGL, so that nothing is drawn in 3D: how much of the elapsed
time was simulated, what the first step takes behind the page's own warm-up, a step of many, what part of a processor they
take, and what the simulator adds to the file. The load is that of the machine meanwhile: where it is above the number of
processors, the page waits for them; it is behind then, or above 100 % as it makes up for what it owed before.

{played}

{machine}, Node {node}
"""
#: Of the second table.
PLAYED = (
    "page", "simulated of the elapsed time", "first step [ms]", "step [µs]", "of a processor", "simulator [kB]", "load",
)  # fmt: skip
#: Without WebGL, a page draws its curves alone.
_UNDRAWN = """{
    const { prototype } = HTMLCanvasElement, { getContext } = prototype;
    prototype.getContext = function (kind, ...rest) {
        return /webgl/.test(kind) ? null : getContext.call(this, kind, ...rest);
    };
}"""
_PLAYED = """
(seconds) => {
    const { clock, simulator } = kumitate;
    clock.set({ playing: false });
    let begin = performance.now();
    simulator.step(1);
    const first = performance.now() - begin;
    clock.set({ playing: true });
    return new Promise((done) => setTimeout(() => {
        const [from, start] = [simulator.time, performance.now()];
        setTimeout(() => {
            const part = (simulator.time - from) / (1e-3 * (performance.now() - start));
            clock.set({ playing: false });
            let best = Infinity;
            begin = performance.now();
            simulator.step(100);
            const count = Math.ceil(500 / (performance.now() - begin + 0.1)); // several milliseconds of a coarse clock
            for (let k = 0; k < 20; k++) {
                begin = performance.now();
                simulator.step(count);
                best = Math.min(best, (performance.now() - begin) / count);
            }
            done([part, first, 1e3 * best, (1e-3 * best) / simulator.live.step]);
        }, 1e3 * seconds);
    }, 1000));
}
"""
_TIMED = """
(base64, start, settle, count, seconds) => {
    const code = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    return WebAssembly.instantiate(code).then(({instance: {exports: {memory, run}}}) => {
        const numbers = new Float64Array(memory.buffer);
        start.forEach(([address, values]) => numbers.set(values, address / 8));
        let begin = performance.now();
        run(1);
        const first = performance.now() - begin, end = begin + 1e3 * seconds;
        run(settle);
        let best = Infinity;
        while (performance.now() < end || best === Infinity) {
            begin = performance.now();
            run(count);
            best = Math.min(best, (performance.now() - begin) / count);
        }
        return [first, 1e3 * best];
    });
}
"""


class Case(NamedTuple):
    """A simulation: its robot and step, what makes it, and so many steps of a stretch."""

    robot: str
    step: str
    make: Callable[[], km.Simulation]
    stretch: int


class Measured(NamedTuple):
    """What was measured of a case: seconds, bytes, and times [ms, µs]; NaN for a browser that is not there."""

    robot: str
    step: str
    written: float
    size: int
    packed: int
    first: float
    native: float
    node: float
    chromium: float


def _cassie() -> km.Simulation:
    from kumitate.examples.gallery.cassie import standing

    robot, q = standing()
    return _touching(robot, q)


def _humanoid() -> km.Simulation:
    return _touching(km.load("hoap1").mechanism, np.array(HOAP1_STANDING))


def _touching(robot: km.Mechanism, q: np.ndarray) -> km.Simulation:
    contact = Contact(surface=Surface(friction=0.8))
    return km.Simulation(robot, step=1e-3, contact=contact, side_by_side=True, start=(q, np.zeros(robot.nv)))


def _stepped(robot: str, integrator: str) -> Callable[[], km.Simulation]:
    return lambda: km.Simulation(km.load(robot), step=1e-3, integrator=integrator)


CASES = (
    Case("pa10", "Runge-Kutta 4", _stepped("pa10", "rk4"), 4000),
    Case("four_bar", "Runge-Kutta 4, loops closed", _stepped("four_bar", "rk4"), 4000),
    Case("four_bar", "semi-implicit, loops closed", _stepped("four_bar", "semi_implicit_euler"), 8000),
    Case("cassie", "standing: loops, drives, rigid contact", _cassie, 40),
    Case("hoap1", "lying: rigid contact", _humanoid, 40),
)


def measured(case: Case, seconds: float = 20.0, settle: int = 1000) -> Measured:
    """Writes a case's module and times its steps for so many seconds each."""
    simulation = case.make()
    recurrence, state = simulation.straight.recurrence, simulation._stepper.state
    programs = traced(recurrence.step), traced(recurrence.look)
    begin = clock.perf_counter()
    module = recurrence.wasm()
    code = module.code
    written = clock.perf_counter() - begin
    given = {name: array[0] for name, array in state.items()} | {"h": np.array(simulation.step_size)}
    start = [(module.places[a.name][0], np.ravel(given[a.name]).tolist()) for a in programs[0].inputs]
    _, node = _in_node(module, start, settle, case.stretch, seconds)
    first, chromium = _in_browser(module, start, settle, case.stretch, seconds)
    native = _native(recurrence, state, simulation.step_size, settle, case.stretch, seconds)
    return Measured(case.robot, case.step, written, len(code), len(gzip.compress(code)), first, native, node, chromium)


def played(name: str, make: Callable[[], km.Simulation], seconds: float = 5.0) -> tuple[str, ...]:
    """A row of the second table."""
    program = browser.find_chromium()
    if program is None:
        raise SystemExit("scripts/study webassembly: there is no Chromium; install it, or set KUMITATE_CHROMIUM to its path")
    scene = live_scene(make())
    size = len(packed(scene)) - len(packed({key: part for key, part in scene.items() if key != "live"}))
    with TemporaryDirectory() as folder:
        path = write_page(Path(folder, "page.html"), scene)
        with browser.opened(program, path.as_uri(), (880, 400), before=_UNDRAWN) as shown:
            with suppress(InputError):  # it says that it cannot draw
                browser.wait_until_ready(shown)
            part, first, step, share = shown.evaluate(f"({_PLAYED})({seconds})")
    times = f"{first:.1f}", f"{step:.2g}", f"{100 * share:.2g} %"
    return name, f"{100 * part:.1f} %", *times, f"{1e-3 * size:.0f}", f"{os.getloadavg()[0]:.1f}"


def _pile() -> km.Simulation:
    world, rng = km.World("pile"), np.random.default_rng(0)
    world.ground()
    for k in range(20):
        at = km.pose((*rng.uniform(-0.1, 0.1, 2), 0.2 + 0.15 * k))
        world.add(km.box((0.2, 0.16, 0.12), density=300.0), name=f"box{k}", at=at)
    return world.simulation(step=2e-3)


#: What is played in pages, by the name of the row.
PAGES: dict[str, Callable[[], km.Simulation]] = {
    "pa10": _stepped("pa10", "rk4"), "four_bar": _stepped("four_bar", "rk4"), "cassie, standing": _cassie, "20 boxes": _pile,
}  # fmt: skip


def _call(module: WasmModule, *arguments: Any) -> str:
    listed = ", ".join(json.dumps(one) for one in (base64.b64encode(module.code).decode(), *arguments))
    return f"({_TIMED})({listed})"


def _in_node(module: WasmModule, *arguments: Any) -> Sequence[float]:
    with TemporaryDirectory() as folder:
        script = Path(folder, "timed.js")
        script.write_text(f"{_call(module, *arguments)}.then(found => console.log(JSON.stringify(found)));", encoding="utf-8")
        found: Sequence[float] = json.loads(subprocess.run(["node", script], capture_output=True, check=True, text=True).stdout)
    return found


def _in_browser(module: WasmModule, *arguments: Any) -> Sequence[float]:
    program = browser.find_chromium()
    if program is None:
        return np.nan, np.nan
    with browser.opened(program, "about:blank", (400, 300)) as page:
        found: Sequence[float] = page.evaluate(_call(module, *arguments))
    return found


def _native(recurrence: Any, state: Mapping[str, np.ndarray], step: float, settle: int, count: int, seconds: float) -> float:
    seen = {array.name: np.empty((1, 1, *array.shape)) for array in recurrence.seen}
    rollout = recurrence.over(state, {"h": np.array([[step]]), "u": state["u"][:, None]}, seen, batch=False)
    rollout.run(0, settle)
    best, end = np.inf, clock.perf_counter() + seconds
    while clock.perf_counter() < end or not np.isfinite(best):
        begin = clock.perf_counter()
        rollout.run(0, count)
        best = min(best, (clock.perf_counter() - begin) / count)
    return 1e6 * best


def cells(one: Measured) -> tuple[str, ...]:
    """A row of the table."""
    sizes = (f"{1e-3 * one.size:.1f}", f"{1e-3 * one.packed:.1f}")
    times = (f"{x:.2g}" if x < 10.0 else f"{x:.0f}" for x in (one.native, one.node, one.chromium))
    return (one.robot, one.step, f"{one.written:.2f}", *sizes, f"{one.first:.1f}", *times)


def page(found: Sequence[Measured], rows: Sequence[Sequence[str]], seconds: float = 5.0) -> str:
    """docs/webassembly.md."""
    told = ", ".join(f"{name} {value}" for name, value in machine().items())
    node = subprocess.run(["node", "--version"], capture_output=True, check=True, text=True).stdout.strip()
    tables = _table(COLUMNS, [cells(one) for one in found]), _table(PLAYED, rows)
    return _PAGE.format(table=tables[0], played=tables[1], seconds=seconds, machine=told, node=node)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))
