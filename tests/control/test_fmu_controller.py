"""A unit of FMI as a controller: it acts as the model that it was written from, and what does not fit is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.control import FmuController
from kumitate.errors import InputError

from ..tools import GCC


def motor() -> km.Simulation:
    """A rotor with friction: what a voltage and the joint's speed drive, and whose speed is the torque, with a lag of I/d."""
    rotor = km.Body("rotor", 1.0, inertia=(0.02, 0.02, 0.02))
    return km.Simulation(km.Mechanism("motor", (rotor,), (km.Joint("shaft", "revolute", "world", "rotor", damping=0.5),)))


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def unit(request, tmp_path_factory) -> Path:
    GCC.needed()
    return motor().fmu(tmp_path_factory.mktemp("fmu") / "motor.fmu", version=request.param, page=False)


class ByHand:
    """The same rotor, stepped by its own simulation."""

    def __init__(self) -> None:
        self.simulation = motor()
        self.state, self.given = self.simulation.start(), 0.0

    def __call__(self, t, q, v):
        steps = round((t - self.state.time) / 1e-3)
        if steps:
            self.state = self.simulation.step(self.state, steps, tau=[self.given])
        self.given = 3.0 * np.sin(5.0 * t) - 0.8 * v[1]
        return np.array([0.0, self.state.v[0], 0.0])


@pytest.mark.parametrize("sample_time", [None, 0.004])
def test_it_acts_as_its_model(unit, sample_time):
    """Twice, as a second run begins with a new state."""
    arm = km.load("planar_3r")
    law = FmuController(
        arm.mechanism,
        unit,
        inputs={"tau.shaft": lambda t, q, v: 3.0 * np.sin(5.0 * t) - 0.8 * v[1]},
        outputs={"v.shaft": "joint2"},
    )
    expected = km.simulate(arm, controller=ByHand(), duration=0.1, step=1e-3, sample_time=sample_time)
    for _ in range(2):
        run = km.simulate(arm, controller=law, duration=0.1, step=1e-3, sample_time=sample_time)
        assert np.abs(run.q - expected.q).max() < 1e-12
    assert np.abs(run.tau[:, 1]).max() > 0.1
    assert not run.tau[:, [0, 2]].any()


def test_coordinates_numbers_and_starts_are_given(unit):
    """A speed as an input slows the joint; a start is the unit's own."""
    arm = km.load("planar_3r").mechanism
    law = FmuController(
        arm, unit, inputs={"tau.shaft": "v.joint2"}, outputs={"v.shaft": "joint2"}, start={"start.v.shaft": 2.0}
    )
    assert law(0.0, np.zeros(3), np.zeros(3)).tolist() == [0.0, 2.0, 0.0]
    slowed = law(0.05, np.zeros(3), np.zeros(3))[1]
    assert slowed == pytest.approx(2.0 * np.exp(-0.05 * 0.5 / 0.02), rel=1e-6)
    law(0.0, np.zeros(3), np.array([0.0, -4.0, 0.0]))
    assert law(1.0, np.zeros(3), np.zeros(3))[1] == pytest.approx(-8.0, rel=1e-6)  # tau/d, after a long time
    fixed = FmuController(arm, unit, inputs={"tau.shaft": 1.0}, outputs={"v.shaft": "joint1"})
    fixed(0.0, np.zeros(3), np.zeros(3))
    assert fixed(1.0, np.zeros(3), np.zeros(3))[0] == pytest.approx(2.0, rel=1e-6)


def test_a_unit_that_fails_says_when(unit):
    arm = km.load("planar_3r").mechanism
    law = FmuController(arm, unit, inputs={"tau.shaft": float("nan")}, outputs={"v.shaft": "joint1"})
    law(0.0, np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match=r"the unit failed at t = 0.01 s: fmi\dDoStep"):
        law(0.01, np.zeros(3), np.zeros(3))


def changed(path: Path, target: Path, old: str, new: str) -> Path:
    """The unit with another description, or with other names of its files."""
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(target, "w") as made:
        for name in given.namelist():
            data = given.read(name)
            made.writestr(
                name.replace(old, new), data.replace(old.encode(), new.encode()) if name.endswith("ption.xml") else data
            )
    return target


def test_what_does_not_fit_is_refused(unit, tmp_path):
    arm = km.load("planar_3r").mechanism
    asked = {"inputs": {"tau.shaft": "v.joint2"}, "outputs": {"v.shaft": "joint2"}}
    (tmp_path / "text.fmu").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "empty.fmu", "w") as empty:
        empty.writestr("readme", "nothing")
    version = (
        "2.0" if "win64" in changed(unit, tmp_path / "other.fmu", "linux64", "win64").read_bytes().decode("latin-1") else "3.0"
    )
    former = changed(unit, tmp_path / "former.fmu", f'fmiVersion="{version}"', 'fmiVersion="1.0"')
    windows = changed(
        changed(unit, tmp_path / "a.fmu", "linux64", "win64"), tmp_path / "b.fmu", "x86_64-linux", "x86_64-windows"
    )
    broken = changed(unit, tmp_path / "broken.fmu", 'causality="input"', 'causality="inputs"')
    for path, given, message in (
        (tmp_path / "none.fmu", asked, "there is no such file"),
        (tmp_path / "text.fmu", asked, "not a unit of FMI"),
        (tmp_path / "empty.fmu", asked, "not a unit of FMI"),
        (former, asked, "the unit is of FMI 1.0; export it as FMI 2.0 or 3.0"),
        (windows, asked, "the unit has no library for x86_64-linux, but for"),
        (broken, asked, "FMPy finds this unit of FMI invalid"),
        (unit, asked | {"inputs": {"tau.shat": 0.0}}, "no input 'tau.shat'.*'tau.shaft'"),
        (unit, asked | {"outputs": {"tau.shaft": "joint2"}}, "no output 'tau.shaft'"),
        (unit, asked | {"outputs": {"v.shaft": "joint9"}}, "the output 'v.shaft' names no velocity"),
        (unit, asked | {"inputs": {"tau.shaft": "joint2"}}, "must be 'q.JOINT', 'v.JOINT', a number or a function"),
    ):
        with pytest.raises(InputError, match=message):
            FmuController(arm, path, **given)
