"""Files of every kind, changed at random: read, or refused by an error of the package that names the file."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateError, ModelError
from kumitate.model.shapes.mesh_files import read_surface
from kumitate.model.shapes.surfaces import SideFiles

from . import on_demand
from .kinds import KINDS, Kind, _files, made
from .mutations import by_bytes, by_words, xml
from .on_demand import RIGHT, fuzz, table, verdict

#: Inputs of each kind; xacro files take half a second each, sweeps and results are written first.
SHORT = (
    dict.fromkeys(KINDS, 40) | {"xacro": 1, "mjcf": 15, "scenario": 4} | dict.fromkeys(("cache", "manifest", "part", "h5"), 12)
)


@pytest.mark.parametrize("name", KINDS)
def test_files_that_are_changed_at_random_are_read_or_refused(name, tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_VERIFY", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = made(name, tmp_path / name)
        for path in kind.examples:
            kind.read(path)  # as it is, it can be read
    for seed in range(SHORT[name]):
        path, content = kind.drawn(seed)
        original = path.read_bytes()
        path.write_bytes(content)
        found, said = verdict(kind, path)
        path.write_bytes(original)
        assert found in RIGHT, f"scripts/fuzz --kind {name} --seed {seed} --count 1: {found}: {said}"


def test_the_same_seed_gives_the_same_file(tmp_path):
    one, other = (made("mjcf", tmp_path / part) for part in "ab")
    for seed in range(20):
        (path, content), (again, same) = one.drawn(seed), other.drawn(seed)
        assert (path.name, content) == (again.name, same)


def test_what_is_changed_is_still_like_the_kind(tmp_path):
    """Otherwise every change would be found by the parser alone."""
    kind, parsed = made("urdf", tmp_path), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(60):
            path, content = kind.drawn(seed)
            path.write_bytes(content)
            try:
                kind.read(path)
                parsed += 1
            except KumitateError as error:
                parsed += "malformed XML" not in str(error)
    assert parsed > 20


def _fails(how):
    def read(path: Path) -> None:
        if how == "unnamed":
            raise InputError("a file is wrong")
        if how == "foreign":
            raise KeyError("x")
        if how == "warning":
            warnings.warn("of another", RuntimeWarning, stacklevel=1)
        if how == "memory":
            raise MemoryError
        while how == "slow":
            pass
        if how == "refused":
            raise InputError(f"{path}: is wrong")

    return read


@pytest.mark.parametrize("how", ["unnamed", "foreign", "warning", "memory", "slow", "refused", "read"])
def test_every_failure_is_seen(how, tmp_path, monkeypatch):
    monkeypatch.setattr(on_demand, "SECONDS", 0.1)
    files = _files(tmp_path, "urdf", "<robot/>")
    assert verdict(Kind(files, _fails(how)), files[0])[0] == how


def test_the_command_counts_what_its_processes_find(tmp_path):
    counts, failures = fuzz({"transmissions": range(3, 9)}, tmp_path, processes=1)
    assert not failures
    assert sum(counts["transmissions"].values()) == 6
    assert table(counts).splitlines()[-1].startswith("| all | 6 |")


# --- found by it ----------------------------------------------------------------------------------------------------------
def test_mjcf_whose_elements_are_not_closed_is_refused_at_once(tmp_path):
    """Each reason that was sought further doubled the text."""
    path = tmp_path / "open.xml"
    path.write_text("<mujoco>\n<worldbody/>\n<actuator>\n" + "<motor/>\n" * 40 + "</ectuator>\n</mujoco>")
    begin = time.process_time()
    with pytest.raises(ModelError, match=r"open\.xml:\d+: MuJoCo refuses the file: .*MISMATCHED"):
        km.load(path)
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize("wrong", ["", ' f="0 1"'], ids=["read", "refused"])
def test_a_muscle_of_a_joint_that_runs_away_does_not_keep_the_reader(wrong, tmp_path):
    """MuJoCo looks for a muscle's range of lengths by a simulation, which began again without end where it was unstable."""
    path = tmp_path / "muscle.xml"
    path.write_text(f"""<mujoco><worldbody>
        <body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
        <body><joint type="slide"/><geom size=".1" pos=".3 0 0"/>
        <body><joint axis="1 0 0" armature=".2"/><geom size=".1" pos=".3 .1 0"/>
        <body><joint name="free" axis="0 1 0"/><joint axis="0 0 1"/><geom size=".1" pos=".3 .1 0"/>
        </body></body></body></body></body></worldbody>
        <actuator><muscle joint="free"{wrong}/></actuator></mujoco>""")
    code = f"import kumitate as km\ntry: print(km.load({str(path)!r}))\nexcept km.ModelError as error: print(error)"
    call = [sys.executable, "-W", "ignore", "-c", code]  # a process, as no signal is heard inside MuJoCo
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=True)
    assert ("muscle.xml:7: MuJoCo refuses the file" if wrong else "6 bodies") in done.stdout


def test_words_of_mujoco_on_files_that_are_refused_are_not_warned_of(tmp_path):
    path = tmp_path / "sheet.xml"
    path.write_text(
        '<mujoco><worldbody><body name="c"><flexcomp name="s" type="grid" count="3 3 1" spacing=".1 .1 .1" mass=".1" '
        'radius=".01" dim="2"/></body>\n<geom sice="1"/></worldbody></mujoco>'
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(ModelError, match=r"sheet\.xml:2: .*sice"):
            km.load(path)
    assert not told


def test_names_in_mjcf_that_are_not_utf_8_are_refused_with_the_file(tmp_path):
    path = tmp_path / "name.xml"
    path.write_bytes(b'<mujoco model="\xf5"><worldbody><geom size=".1"/></worldbody></mujoco>')
    with pytest.raises(ModelError, match=r"name\.xml: a name in it is not text in UTF-8 .* save the file as UTF-8"):
        km.load(path)


@pytest.mark.parametrize("number", [b"\0\0\x80\x7f", b"\1\0\x80\x7f"], ids=["infinite", "signalling NaN"])
def test_meshes_that_are_not_finite_are_refused_without_words_of_numpy(number):
    content = b"\0" * 80 + b"\1\0\0\0" + bytes(12) + number * 2 + bytes(28) + b"\0\0"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=r"m\.stl: some of its vertices are not finite"):
            read_surface(content, Path("m.stl"), SideFiles(Path()))


@pytest.mark.parametrize("robot", [["planar_3r"], {"a": 1}, 3])
def test_a_robot_that_is_no_name_is_a_mistake_of_the_scenario(robot):
    with pytest.raises(InputError, match="robot"):
        km.read_scenario({"robot": robot, "solver": {"duration": 0.1}})


def test_changes_are_of_their_level():
    text = b'<robot name="r"><link name="a" mass="1.5"/><link name="b"/></robot>'
    rng = random.Random(3)
    assert all(xml(text, rng).startswith(b"<") for _ in range(50))
    assert len({by_words(text, rng) for _ in range(50)}) > 20
    assert sum(by_bytes(text, rng) != text for _ in range(50)) > 40
