"""Units of FMI give the steps that they were written from, bit for bit, in a tool of somebody else (FMPy)."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave
from fmpy.validation import validate_fmu
from PIL import Image

import kumitate as km
from kumitate.analysis import loop_equations
from kumitate.compile import Kernel
from kumitate.errors import InputError
from kumitate.examples.gallery.excavator import excavator
from kumitate.export.unit import base_unit, ready
from kumitate.model.samples import ANDREWS_TORQUE, planar_4r
from kumitate.simulate.stepping.advance import start_of

from ..tools import GCC, WINE


# --- routes ---------------------------------------------------------------------------------------------------------------
def portable(simulation: km.Simulation, steps: int) -> dict[str, np.ndarray]:
    """What is recorded of a motion by machine code whose bits do not depend on the processor."""
    simulation = ready(simulation)
    compiled, h = simulation.straight, simulation.step_size
    step, look = (
        Kernel(program, portable=True, quick=True).filled(compiled._fillings)
        for program in (compiled.code.repeated, compiled.code.recorded)
    )
    start = start_of(simulation.actuation, h, *(x[None] for x in simulation._starts.default))
    u, now = start["u"][0], [start[array.name][0].copy() for array in compiled.code.repeated.outputs]
    seen = []
    for _ in range(steps + 1):
        seen.append(look(*now, h, u))
        now = list(step(*now, h, u))
    return {array.name: np.array(rows) for array, rows in zip(look.outputs, zip(*seen, strict=True), strict=True)}


def simulated(path: Path, steps: int, h: float, **options: Any) -> Any:
    """The table of co-simulation by FMPy, in steps that are those of the model."""
    return fmpy.simulate_fmu(str(path), stop_time=steps * h, step_size=h, output_interval=h, fmi_type="CoSimulation", **options)


def columns(table: Any, prefix: str) -> np.ndarray:
    return np.column_stack([table[name] for name in table.dtype.names if name.startswith(prefix)])


def falling_ball() -> km.Simulation:
    shape = (km.Geometry(km.Sphere(0.1)),)
    ball = km.Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=shape)
    thrown = km.Mechanism("thrown-ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    start = ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    return km.Simulation(thrown, start=start, contact="rigid", outputs=["force:ball"])


def fast_andrews() -> km.Simulation:
    return km.Simulation(km.load("andrews"), step=1e-4, controller=[ANDREWS_TORQUE, *[0.0] * 6])


def standing_loop() -> km.Simulation:
    """A driven parallelogram on a table that stands on a floor by four spheres, one hardly on it."""
    feet = tuple(km.Geometry(km.Sphere(0.05), km.pose((x, y, 0.0))) for x in (-0.8, 1.2) for y in (-0.5, 0.5))
    table = km.Body("table", 20.0, (0.2, 0.0, 0.0), (2.0, 5.0, 6.0), collisions=feet)
    linkage = planar_4r()
    on = [replace(joint, parent="table") if joint.parent == "world" else joint for joint in linkage.joints]
    bodies, joints = (table, *linkage.bodies), (km.Joint("free", "floating", "world", "table"), *on)
    loops = tuple(replace(loop, body_a="table") for loop in linkage.loops)
    robot = km.Robot(replace(linkage, name="standing_loop", bodies=bodies, joints=joints, loops=loops))
    robot = robot.with_drives({"joint1": km.PositionDrive(kp=200.0, kd=20.0)})
    start = [0.0, 1e-4, 0.0, 1.0, 0.0, 0.0, 0.05, *np.deg2rad([135.0, -45.0, 225.0])]
    return km.Simulation(robot, start=(start, None), contact="rigid")


def driven_arm() -> km.Simulation:
    """Position drives, a wrench and a law with an input: what is compiled in, and what stays an input."""
    robot = km.load("planar_3r")
    robot = robot.with_drives({"joint1": km.PositionDrive(kp=50.0, kd=2.0), "joint2": km.PositionDrive(kp=50.0, kd=2.0)})
    return km.Simulation(
        robot, wrenches={"link3": None}, inputs={"push": [0.5]}, controller=lambda t, q, v, push: push[0] * np.sin(3.0 * t) - v,
        outputs=["tau", "pose:link3"],
    )  # fmt: skip


#: Simulations, and whether there is model exchange.
UNITS = {
    "tree": (lambda: km.Simulation(km.load("pa10"), outputs=["energy", "a"], parameters=["gravity"]), True),
    "loop": (lambda: km.Simulation(km.load("four_bar"), outputs=["energy"]), True),
    "fast loops": (fast_andrews, True),
    "contact": (falling_ball, False),
    "drives": (driven_arm, True),
    "hydraulics": (lambda: km.Simulation(excavator(), limits=False), True),
    "standing": (standing_loop, False),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Writes the unit of a name in a version of FMI, once."""
    GCC.needed()
    made: dict[tuple[str, str], tuple[km.Simulation, Path]] = {}

    def write(name: str, version: str = "2.0") -> tuple[km.Simulation, Path]:
        if (name, version) not in made:
            simulation = UNITS[name][0]()
            path = tmp_path_factory.mktemp("fmu") / f"{name.replace(' ', '_')}.fmu"
            made[name, version] = simulation, simulation.fmu(path, version=version, page=False)
        return made[name, version]

    return write


# --- steps ----------------------------------------------------------------------------------------------------------------
SLOWER = [
    pytest.param(*case, marks=pytest.mark.slow)
    for case in (("tree", "3.0"), ("fast loops", "2.0"), ("contact", "2.0"), ("standing", "2.0"), ("hydraulics", "2.0"))
]


@pytest.mark.parametrize(
    ("name", "version"), [("tree", "2.0"), ("loop", "3.0"), ("contact", "3.0"), ("drives", "2.0"), *SLOWER]
)
def test_a_tool_gives_the_same_bits(written, name, version):
    simulation, path = written(name, version)
    assert validate_fmu(str(path)) == []
    expected = portable(simulation, 300)
    table = simulated(path, 300, simulation.step_size)
    for order in "qv":
        assert np.array_equal(columns(table, f"{order}."), expected[order])
    if name == "contact":
        assert np.array_equal(columns(table, "force.ball["), expected["force:ball"])
        assert expected["force:ball"][-1, 2] > 1.0  # it lies on the floor


@pytest.mark.parametrize(("name", "version"), [("tree", "2.0"), ("loop", "3.0"), SLOWER[1], ("drives", "2.0"), SLOWER[-1]])
def test_model_exchange_gives_the_motion(written, name, version):
    simulation, path = written(name, version)
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.03, output_interval=1e-3, fmi_type="ModelExchange", relative_tolerance=1e-12
    )
    setup = simulation.setup
    options = {key: getattr(setup, key) for key in ("controller", "wrenches", "inputs", "limits")}
    run = km.simulate(simulation.robot, duration=0.03, step=1e-5, integrator="rk4", every=100, **options)
    assert np.abs(columns(found, "q.") - run.q).max() < 1e-9


def test_stops_and_contact_have_no_model_exchange(written):
    assert fmpy.read_model_description(str(written("contact")[1])).modelExchange is None


def test_the_names_and_units_of_variables(written):
    _, path = written("drives")
    described = {one.name: one for one in fmpy.read_model_description(str(path)).modelVariables}
    assert {"target.joint1", "wrench.link3.fx", "push", "q.joint1", "pose.link3[1,4]", "effort.joint3"} <= described.keys()
    assert not any(name.startswith("tau.") for name in described)  # the law gives these
    assert described["q.joint1"].unit == "rad"
    assert described["wrench.link3.nx"].unit == "N.m"
    assert described["push"].start == "0.5"
    assert described["pose.link3[1,4]"].description == "pose:link3[1,4]"


def test_base_units():
    assert base_unit("N·m") == {"kg": 1, "m": 2, "s": -2}
    assert base_unit("kg·m²") == {"kg": 1, "m": 2}
    assert base_unit("rad/s²") == {"rad": 1, "s": -2}


# --- instances ------------------------------------------------------------------------------------------------------------
class Tool:
    """An instance in FMPy, begun."""

    def __init__(self, path: Path, *, exchange: bool = False, start: dict[str, float] | None = None):
        described = fmpy.read_model_description(str(path))
        third = described.fmiVersion.startswith("3")
        kind = {(False, False): FMU2Slave, (False, True): FMU2Model, (True, False): FMU3Slave, (True, True): FMU3Model}
        model = described.modelExchange if exchange else described.coSimulation
        self.fmu = kind[third, exchange](
            guid=described.guid, unzipDirectory=fmpy.extract(str(path)), modelIdentifier=model.modelIdentifier
        )
        self.refs = {one.name: one.valueReference for one in described.modelVariables}
        self.third = third
        self.fmu.instantiate()
        if not third:
            self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.put(**(start or {}))
        self.fmu.exitInitializationMode()

    def put(self, **values: float) -> None:
        refs = [self.refs[name] for name in values]
        if refs:
            (self.fmu.setFloat64 if self.third else self.fmu.setReal)(refs, list(values.values()))

    def get(self, *names: str) -> np.ndarray:
        refs = [self.refs[name] for name in names]
        return np.array((self.fmu.getFloat64 if self.third else self.fmu.getReal)(refs))

    def all_of(self, prefix: str) -> np.ndarray:
        return self.get(*(name for name in self.refs if name.startswith(prefix)))

    def step(self, now: float, length: float) -> None:
        self.fmu.doStep(currentCommunicationPoint=now, communicationStepSize=length)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_state_is_kept_and_another_instance_takes_it(written, version):
    _, path = written("tree", version)
    one, other = Tool(path), Tool(path)
    one.step(0.0, 0.05)
    kinds = ("FMUState", "deserialize") if one.third else ("FMUstate", "deSerialize")

    def ask(tool: Tool, verb: str, *given: Any) -> Any:
        return getattr(tool.fmu, verb + kinds[0])(*given)

    state = ask(one, "get")
    ask(other, "set", ask(other, kinds[1], ask(one, "serialize", state)))
    one.step(0.05, 0.05)
    after = one.all_of("q.")
    ask(one, "set", state)
    one.step(0.05, 0.05)
    other.step(0.05, 0.05)
    assert np.array_equal(one.all_of("q."), after)
    assert np.array_equal(other.all_of("q."), after)
    ask(one, "free", state)
    one.fmu.reset()
    assert not np.array_equal(one.all_of("q."), after)


def test_lengths_that_are_no_multiples_of_the_step(written):
    """Steps of 0.75 and 1.5 ms are one and two shorter ones, of the length that a simulation of that step has."""
    _, path = written("tree")
    tool = Tool(path)
    for k in range(4):
        tool.step(k * 0.00075, 0.00075)
    for k in range(2):
        tool.step(0.003 + k * 0.0015, 0.0015)
    run = km.simulate(km.load("pa10"), duration=0.006, step=0.00075, integrator="rkf45")
    assert np.abs(tool.all_of("q.") - run.q[-1]).max() < 1e-14


def test_inputs_and_targets_that_change(written):
    simulation, path = written("drives")
    tool, state = Tool(path), simulation.start()
    for k in range(6):
        pushed, aimed = 0.4 * k, 0.1 * k
        tool.put(**{"push": pushed, "wrench.link3.fx": -pushed, "target.joint2": aimed})
        tool.step(k * 0.01, 0.01)
        state = simulation.step(
            state, 10, inputs={"push": [pushed], "target": {"joint2": aimed}},
            wrenches={"link3": [0.0, 0.0, 0.0, -pushed, 0.0, 0.0]},
        )  # fmt: skip
    assert np.abs(tool.all_of("q.") - state.q).max() < 1e-13
    assert np.abs(tool.all_of("pose.link3").reshape(4, 4) - state.outputs["pose:link3"]).max() < 1e-13


def test_parameters_act_as_in_the_simulation(tmp_path):
    asked = ["mass:link3", "damping:joint1", "moment:link5.xx", "gravity"]
    simulation = km.Simulation(km.load("pa10"), parameters=asked)
    tool = Tool(simulation.fmu(tmp_path / "arm.fmu", page=False))
    tool.step(0.0, 0.02)
    tool.put(**{"mass.link3": 9.0, "damping.joint1": 0.7, "moment.link5.xx": 0.3, "gravity": 3.7})
    tool.step(0.02, 0.02)
    state = simulation.step(simulation.start(), 20)
    changed = dict(zip(asked, (9.0, 0.7, 0.3, 3.7), strict=True))
    after = simulation.step(state, 20, parameters=changed)
    assert np.abs(tool.all_of("q.") - after.q).max() < 1e-13
    assert np.abs(simulation.step(state, 20).q - after.q).max() > 1e-4


def test_another_start_closes_loops(written):
    simulation, path = written("loop")
    q = simulation.start().q
    there = Tool(path, start={"start.q.pivot0": float(q[0]) + 0.01}).all_of("q.")
    assert loop_equations(simulation.mechanism).gaps_of_rows(there[None], np.zeros((1, 3))).max() < 1e-12
    assert 1e-3 < abs(there[0] - q[0]) < 0.02


@pytest.mark.parametrize(("name", "version"), [("tree", "2.0"), ("drives", "3.0"), ("loop", "2.0"), ("loop", "3.0")])
def test_directional_derivatives(written, name, version):
    """They are the slopes of what the unit gives, for loops along directions that would open them, too."""
    _, path = written(name, version)
    tool = Tool(path, exchange=True)
    states = np.linspace(0.1, 0.9, len([name for name in tool.refs if name.startswith("state.")]))
    if name == "loop":  # at its posture; velocities that open it are closed by the unit
        states[:3] = tool.all_of("q.")
    knowns = [ref for name, ref in tool.refs.items() if name.startswith("state.")][:2]
    unknowns = [ref for name, ref in tool.refs.items() if name.startswith(("der.v.", "energy.", "pose."))]
    count = len(states)

    def values(x: np.ndarray) -> np.ndarray:
        array = (np.ctypeslib.ctypes.c_double * count)(*x)
        tool.fmu.setContinuousStates(array, count)
        return np.array((tool.fmu.getFloat64 if tool.third else tool.fmu.getReal)(unknowns))

    away = np.zeros(count)
    away[:2] = 1e-6, -2e-6
    expected = (values(states + away) - values(states - away)) / 2e-6
    values(states)
    found = tool.fmu.getDirectionalDerivative(unknowns, knowns, [1.0, -2.0])
    assert np.abs(np.array(found) - expected).max() < 1e-6 * max(np.abs(expected).max(), 1.0)


# --- files ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_declarations_are_those_of_the_standard(written, version, tmp_path):
    """The sources compile without a warning, alone and with the standard's own headers, which FMPy has."""
    _, path = written("contact", version)
    zipfile.ZipFile(path).extractall(tmp_path)
    headers, major = Path(fmpy.__file__).parent / "c-code", version[0]
    strict = [GCC.needed(), "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    for further in ([], ["-Wno-strict-prototypes", f"-I{headers}", "-include", f"fmi{major}Functions.h"]):
        done = subprocess.run([*strict, *further, f"fmi{major}.c"], cwd=tmp_path / "sources", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_library_for_windows(tmp_path):
    """By the compiler of ziglang: a DLL for x86-64 that offers what tools call; where Wine is installed, its bits are ours."""
    simulation = km.Simulation(km.load("pendulum"))
    path = simulation.fmu(tmp_path / "pendulum.fmu", platforms="x86_64-windows", page=False)
    library = zipfile.ZipFile(path).read("binaries/win64/pendulum.dll")
    assert library[:2] == b"MZ"
    header = struct.unpack_from("<I", library, 0x3C)[0]
    magic, machine = struct.unpack_from("<4sH", library, header)
    is_dll = struct.unpack_from("<H", library, header + 22)[0] & 0x2000
    assert (magic, machine, bool(is_dll)) == (b"PE\0\0", 0x8664, True)
    assert all(name in library for name in (b"fmi2Instantiate\0", b"fmi2DoStep\0", b"fmi2GetDerivatives\0"))
    if wine := WINE.found():
        described = fmpy.read_model_description(str(path))
        refs = [str(one.valueReference) for one in described.modelVariables if one.name in ("q.hinge", "v.hinge")]
        (tmp_path / "pendulum.dll").write_bytes(library)
        defined = [f'-DTOKEN="{described.guid}"', f"-DREFS={','.join(refs)}"]
        build = [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-target",
            "x86_64-windows-gnu",
            "-O2",
            "-nostdlib",
            *defined,
            "-lkernel32",
        ]
        source = Path(__file__).parent / "windows_host.c"
        subprocess.run([*build, str(source), "-Wl,-e,start", "-o", "host.exe"], cwd=tmp_path, check=True)
        settings = os.environ | {"WINEPREFIX": str(tmp_path / "prefix"), "WINEDEBUG": "-all"}
        done = subprocess.run([wine, "host.exe"], cwd=tmp_path, env=settings, capture_output=True)
        assert done.returncode == 0, done
        expected = portable(simulation, 100)
        assert done.stdout == np.concatenate([expected["q"][-1], expected["v"][-1]]).tobytes()


def test_a_page_is_inside_and_files_are_the_same_again(tmp_path):
    simulation = km.Simulation(km.load("pendulum"))
    one, other = (simulation.fmu(tmp_path / f"{name}.fmu") for name in ("one", "other"))
    archive = zipfile.ZipFile(one)
    assert "start.q.hinge" in archive.read("documentation/index.html").decode()
    assert len(archive.read("documentation/simulator.html")) > 100_000
    picture = Image.open(BytesIO(archive.read("model.png")))
    assert picture.size == (256, 256)
    assert len(picture.convert("RGB").getcolors(65536)) > 2  # something is drawn
    third = zipfile.ZipFile(simulation.fmu(tmp_path / "third.fmu", version="3.0", platforms=()))
    assert third.read("documentation/diagram.png") == archive.read("model.png")
    assert archive.namelist() == zipfile.ZipFile(other).namelist()
    assert archive.read("sources/model.h") == zipfile.ZipFile(other).read("sources/model.h")


# --- refusals -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"integrator": "rkf45_adaptive", "equal_steps": False}, {}, "an FMU makes steps of equal length"),
        ({"controller": lambda t, q, v: [float(np.random.default_rng().normal())]}, {}, "an FMU has no Python, and the contr"),
        ({"parameters": ["center_of_mass:bob.x"]}, {}, "does not depend on 'center_of_mass:bob.x' linearly"),
        ({}, {"version": "1.0"}, "there are 2.0, 3.0"),
        ({}, {"platforms": "beos"}, "there is no platform 'beos'; there are x86_64-linux"),
        ({}, {"path": "arm.zip"}, "'.zip' is not that suffix"),
    ],
)
def test_what_cannot_be_a_unit_is_refused(tmp_path, options, given, message):
    given = dict(given)
    path = tmp_path / given.pop("path", "arm.fmu")
    with pytest.raises(InputError, match=message):
        km.Simulation(km.load("pendulum"), **options).fmu(path, **given)
    assert not path.exists()


def test_a_start_beyond_limits_is_refused(tmp_path):
    limited = km.load("four_bar").mechanism
    joints = tuple(replace(joint, limits=(km.Limits(lower=2.0, upper=3.0),)) for joint in limited.joints)
    with pytest.raises(InputError, match="limit"):
        km.Simulation(replace(limited, joints=joints)).fmu(tmp_path / "closed.fmu")


def test_scenes_are_refused(tmp_path):
    world = km.World()
    world.ground()
    for k in range(6):
        world.add(km.box((0.1, 0.1, 0.1), name=f"box{k}", mass=1.0), at=(0.0, 0.0, 0.05 + 0.1 * k))
    with pytest.raises(InputError, match="an FMU has one robot"):
        km.Simulation(world).fmu(tmp_path / "scene.fmu")
