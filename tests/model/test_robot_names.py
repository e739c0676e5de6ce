"""`km.load` of robots by name, and of xacro files."""

from __future__ import annotations

import json
import re
import sys

import pytest

import kumitate as km
from kumitate.cli.app import run
from kumitate.errors import InputError, ModelError
from kumitate.model.read import file as files
from kumitate.model.read import robot_names

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:include filename="$(find parts)/parts.xacro"/>
  <link name="base"/>
  <xacro:rod name="upper" parent="base"/>
  <xacro:rod name="lower" parent="upper"/>
</robot>
"""
PARTS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="rod" params="name parent">
    <link name="${name}">
      <inertial><origin xyz="0 0 ${length/2}"/><mass value="$(arg mass)"/>
        <inertia ixx="${2*length**2/12}" iyy="${2*length**2/12}" izz="0.001"/></inertial>
    </link>
    <joint name="${name}_joint" type="continuous"><parent link="${parent}"/><child link="${name}"/>
      <origin xyz="0 0 ${length}"/><axis xyz="0 1 0"/></joint>
  </xacro:macro>
</robot>
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "package.xml").write_text("<package><name>parts</name></package>", encoding="utf-8")
    (folder / "parts.xacro").write_text(PARTS, encoding="utf-8")
    (folder / "arm.urdf.xacro").write_text(ARM, encoding="utf-8")
    return folder


# --- xacro --------------------------------------------------------------------------------------------------------------------
def test_a_xacro_file_is_expanded_and_read(package):
    robot = km.load(package / "arm.urdf.xacro")
    assert list(robot.joints) == ["fixed_base", "upper_joint", "lower_joint"]
    assert robot.bodies["lower"].mass == 2.0
    assert robot.bodies["lower"].inertia[0][0] == pytest.approx(2.0 * 0.25 / 12.0)
    assert km.load(package / "arm.urdf.xacro", xacro_args={"mass": 3}).bodies["lower"].mass == 3.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ARM.replace("$(find parts)/", "no/such/"), r"broken\.xacro: xacro cannot expand the file: .*parts\.xacro.*xacro_args"),
        (ARM.replace("xacro:rod", "xacro:stick"), r"xacro cannot expand the file: .*stick"),
        (ARM.replace('<link name="base"/>', '<link name="base"/><link name="base"/>'),
         r"broken\.xacro \(expanded\):\d+: the link name 'base' is used"),
    ],
)  # fmt: skip
def test_faults_of_xacro_files_are_named(package, text, message):
    file = package / "broken.xacro"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        km.load(file)


def evaluating(file, expression):
    file.write_text(ARM.replace('name="arm"', f'name="${{{expression}}}"'), encoding="utf-8")
    return file


def test_a_xacro_file_that_never_ends_is_stopped(package, monkeypatch):
    monkeypatch.setattr(files, "SECONDS", 1)
    with pytest.raises(
        ModelError, match=r"endless\.xacro: xacro cannot .* not done after 1 s of processor time, and was stopped"
    ):
        km.load(evaluating(package / "endless.xacro", "9**9**9"))


def test_texts_of_other_files_are_not_quoted_at_length(package, tmp_path):
    (tmp_path / "secret.yaml").write_text("secret " * 1000)
    with pytest.raises(
        ModelError, match=r"could not convert string to float: 'secret secret .*\. Correct what it names"
    ) as caught:
        km.load(evaluating(package / "curious.xacro", f"float(xacro.load_yaml('{tmp_path}/secret.yaml'))"))
    assert len(str(caught.value)) < 700


def test_xacro_needs_its_package_and_only_xacro_takes_arguments(package, monkeypatch):
    with pytest.raises(InputError, match=r"xacro_args are for \.xacro files"):
        km.load(package / "arm.urdf", xacro_args={"mass": 3})
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(InputError, match=r"pip install 'kumitate\[xacro\]'"):
        km.load(package / "arm.urdf.xacro")


# --- names --------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "moving"), [("double_pendulum_simple", 2), ("ur5", 6), ("ur3", 6)])
def test_robots_of_example_robot_data_have_names(name, moving):
    with pytest.warns(km.KumitateWarning):
        assert km.load(name).nv == moving


def test_files_of_one_name_have_those_of_their_folders():
    known = [robot.name for robot in robot_names.named_robots()]
    assert {"panda", "anymal_b", "anymal_c", "cassie", "talos"} <= set(known)
    assert len(known) == len(set(known))


def test_a_sample_comes_before_a_robot_of_the_same_name():
    assert "double_pendulum" in [robot.name for robot in robot_names.named_robots()]
    assert km.load("double_pendulum").start[0].tolist() != [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pandaa", r"there is no sample 'pandaa', nor a robot of this name; did you mean 'panda'\? The samples are pendulum"),
        ("Panda", r"did you mean 'panda'\?"),
        ("talos_full", r"did you mean 'talos_full_v2' or"),
        ("zzzzzz", r"nor a robot of this name; The samples are .*pip install 'kumitate\[robots\]'"),
    ],
)
def test_unknown_names_suggest_close_ones(name, message):
    with pytest.raises(InputError, match=message):
        km.load(name)


@pytest.mark.filterwarnings("ignore::kumitate.KumitateWarning")
@pytest.mark.parametrize(("name", "taken", "moving"), [("talos", "talos_full_v2", 44), ("g1", "g1_29dof_rev_1_0", 29)])
def test_the_name_of_a_folder_is_its_file_with_the_shortest_name(name, taken, moving):
    """Nothing is downloaded for a robot that is here; what is taken, and what there is besides, is said."""
    with pytest.warns(km.KumitateWarning, match=f"robot '{name}' is '{taken}' of example-robot-data; there are also '{name}_"):
        assert km.load(name).nv == moving
    with pytest.warns(km.KumitateWarning) as said:
        km.load(taken)
    assert "Load it by its full name" not in "".join(str(one.message) for one in said)


DESCRIPTION = """from ._cache import clone_to_cache as _clone_to_cache

REPOSITORY_PATH: str = _clone_to_cache(
    "{repository}",
    commit=None,
)
{key}: str = {path!r}
"""
REPOSITORIES = """from dataclasses import dataclass

@dataclass
class Repository:
    cache_path: str
    commit: str
    url: str

REPOSITORIES = {
    "sticks": Repository("sticks", "0123456789012345678901234567890123456789", "ssh://sticks"),
    "mills": Repository("mills", "v1.0", "ssh://mills"),
}
"""
CACHE = """def clone_to_cache(name, commit=None):
    print("Cloning", name)
    if name == "mills":
        raise OSError("Cmd('git') failed: \\n stderr: 'fatal: could not resolve host: mills'")
    return name
"""


@pytest.fixture
def downloads(tmp_path, monkeypatch, package):
    """A package of the shape of robot_descriptions, with one repository cloned, and another that cannot be."""
    folder = tmp_path / "robot_descriptions"
    folder.mkdir()
    (tmp_path / "stick.urdf").write_text('<robot name="stick"><link name="rod"/></robot>', encoding="utf-8")
    files = {
        "stick": ("sticks", "URDF_PATH", tmp_path / "stick.urdf"), "g1": ("sticks", "URDF_PATH", tmp_path / "stick.urdf"),
        "made": ("sticks", "XACRO_PATH", package / "arm.urdf.xacro"), "wind": ("mills", "MJCF_PATH", tmp_path / "wind.xml"),
    }  # fmt: skip
    for name, (repository, key, path) in files.items():
        text = DESCRIPTION.format(repository=repository, key=key, path=str(path))
        more = "XACRO_ARGS = {'mass': '7'}\n" if key == "XACRO_PATH" else ""
        (folder / f"{name}_description.py").write_text(text + more, encoding="utf-8")
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "_repositories.py").write_text(REPOSITORIES, encoding="utf-8")
    (folder / "_cache.py").write_text(CACHE, encoding="utf-8")
    (tmp_path / "cache" / "sticks" / ".git").mkdir(parents=True)
    (tmp_path / "cache" / "sticks" / ".git" / "HEAD").write_text("0123456789" * 4 + "\n", encoding="utf-8")
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    for name in [key for key in sys.modules if key.split(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [key for key in sys.modules if key.split(".")[0] == "robot_descriptions"]:
        sys.modules.pop(name)


@pytest.mark.usefixtures("downloads")
def test_other_robots_come_through_robot_descriptions(capfd):
    assert km.load("stick").name == "stick"
    assert km.load("made").bodies["upper"].mass == 7.0
    assert capfd.readouterr() == ("", ""), "they are here, and no word of git's is"
    with pytest.raises(InputError, match="did you mean 'stick'"):
        km.load("stik")


@pytest.mark.usefixtures("downloads")
def test_a_download_is_announced_and_its_failure_has_a_remedy(capfd):
    message = (
        r"robot 'wind': .* bring its file: could not resolve host: mills\. It downloads .* `kumitate robots` lists without"
    )
    with pytest.raises(InputError, match=message):
        km.load("wind")
    said = capfd.readouterr()
    assert said.out == ""
    assert re.fullmatch(
        r"kumitate: robot_descriptions downloads the robot 'wind' from ssh://mills, once, to .*cache\n", said.err
    )


@pytest.mark.filterwarnings("ignore::kumitate.KumitateWarning")
@pytest.mark.usefixtures("downloads")
def test_of_a_robot_in_both_packages_the_one_that_is_here_is_taken():
    with pytest.warns(km.KumitateWarning, match=r"'g1' is 'g1_29dof_rev_1_0'.*'g1_description' of robot_descriptions"):
        assert km.load("g1").nv == 29
    assert km.load("g1_description").name == "stick"


@pytest.mark.usefixtures("downloads")
def test_the_command_lists_all_names_and_what_each_needs(capsys):
    assert run(["robots", "--json"]) == 0
    listed = {robot["name"]: robot for robot in json.loads(capsys.readouterr().out)["robots"]}
    assert listed["pa10"] == {"name": "pa10", "source": "kumitate", "needs": ""}
    assert listed["talos"] == {"name": "talos", "source": "example-robot-data: talos_full_v2", "needs": ""}
    assert (listed["stick"]["source"], listed["stick"]["needs"]) == ("robot_descriptions", "")
    assert listed["wind"]["needs"] == "a download"
    assert run(["robots", "WIN"]) == 0
    assert capsys.readouterr().out.split() == ["name", "from", "needs", "wind", "robot_descriptions", "a", "download"]
    assert run(["robots", "stikc"]) == 1
    assert "did you mean 'stick'? `kumitate robots` lists all" in capsys.readouterr().err.replace("\n", " ")
    assert run(["info"]) == 2
    assert "`kumitate robots` lists" in capsys.readouterr().err.replace("\n", " ")


# --- gravity ------------------------------------------------------------------------------------------------------------------
def test_gravity_takes_the_place_of_the_files_own():
    moon = km.load("pa10", gravity=(0.0, 0.0, -1.62))
    earth = km.load("pa10")
    q, _ = earth.start
    assert moon.start[0].tolist() == q.tolist()
    assert moon.gravity_forces(q) == pytest.approx(earth.gravity_forces(q) * 1.62 / 9.81, rel=1e-12)
    with pytest.raises(ModelError, match=r"gravity \[m/s²\]"):
        km.load("pa10", gravity=(1.0, 2.0))
