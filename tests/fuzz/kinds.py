"""Every kind of file that is read: an example or more of it, and its reader."""

from __future__ import annotations

import os
import random
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.model.read import from_json, read_urdf, to_json
from kumitate.model.read.srdf import read_srdf
from kumitate.model.shapes.mesh_files import read_surface
from kumitate.model.shapes.surfaces import SideFiles
from kumitate.sweeps.folder import _digest, _sealed

from ..model.mjcf_models import DRIVEN, TIED, UNREAD, ZOO
from ..model.test_loops_yaml import FIVE_BAR, LOOPS
from .mutations import changed, sealed_json, sealed_table

LINK = '<link name="{}"><inertial><mass value="1.5"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{}</link>'
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
A = """<visual><origin xyz="0 0 1" rpy="0 1 0"/><geometry><mesh filename="package://p/m.stl"/></geometry>
<material name="red"/></visual><collision><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>"""
TURN = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="3"/><dynamics damping="1"/>'
GEAR = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"><hardwareInterface>
hardware_interface/EffortJointInterface</hardwareInterface></joint><actuator name="m"><mechanicalReduction>50
</mechanicalReduction></actuator></transmission>"""
URDF = f"""<?xml version="1.0" encoding="utf-8"?>
<robot name="r" version="1.0">
<material name="red"><color rgba="1 0 0 1"/></material>
{LINK.format("a", A)}
{LINK.format("b", '<collision><geometry><box size="1 2 3"/></geometry></collision>')}
{LINK.format("c", "")}
{JOINT.format("j", "revolute", "a", "b", TURN)}
{JOINT.format("k", "prismatic", "b", "c", '<origin xyz="0 0 1"/><mimic joint="j" multiplier="2" offset="0.1"/>')}
<loop_joint name="x" type="helical" pitch="0.1"><link1 link="a" xyz="0 0 0"/><link2 link="c"/><axis xyz="0 0 1"/></loop_joint>
</robot>"""
SDF = """<sdf version="1.9"><world name="w"><gravity>0 0 -9.8</gravity>
<model name="m" canonical_link="a" placement_frame="f"><pose>0 0 1 0 0 0</pose>
<link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx></inertia></inertial>
<visual name="v"><geometry><box><size>1 2 3</size></box></geometry></visual></link>
<link name="b"><pose relative_to="a" rotation_format="quat_xyzw">0 0 1 0 0 0 1</pose></link><link name="c"/>
<frame name="f" attached_to="a"><pose>0 0 0 0 0 1</pose></frame>
<joint name="j" type="revolute"><parent>a</parent><child>b</child>
<axis><xyz expressed_in="f">0 0 1</xyz><limit><lower>-1</lower><upper>1e16</upper></limit></axis></joint>
<joint name="k" type="universal"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz></axis>
<axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="s" type="screw"><parent>a</parent><child>c</child><screw_thread_pitch>0.1</screw_thread_pitch><axis/></joint>
<joint name="g" type="gearbox"><parent>a</parent><child>b</child><gearbox_reference_body>a</gearbox_reference_body><axis/>
<axis2/></joint></model></world></sdf>"""
SRDF = """<robot name="r">
<group name="g"><joint name="j"/><chain base_link="a" tip_link="c"/><link name="b"/><group name="h"/></group>
<group name="h"><joint name="k"/></group>
<group_state name="up" group="g"><joint name="j" value="0.5"/></group_state>
<virtual_joint name="v" type="fixed" parent_frame="world" child_link="a"/><end_effector name="e" parent_link="c" group="g"/>
<passive_joint name="k"/><disable_collisions link1="a" link2="b" reason="Adjacent"/></robot>"""
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="l" value="0.5"/>
<xacro:arg name="n" default="2"/><xacro:macro name="rod" params="name mass:=1 *more"><link name="${name}"><inertial>
<mass value="${mass * 2}"/><inertia ixx="1" iyy="1" izz="${l**2 / 12 + 1}"/></inertial><xacro:insert_block name="more"/></link>
</xacro:macro><xacro:rod name="a"><visual><geometry><sphere radius="${l}"/></geometry></visual></xacro:rod>
<xacro:if value="${$(arg n) > 1}"><xacro:rod name="b" mass="3"><visual><geometry><box size="1 ${l} 1"/></geometry></visual>
</xacro:rod><joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="${l} 0 0"/></joint>
</xacro:if></robot>"""
SCENARIO = """robot: planar_3r
start: {q: {joint1: 30deg, joint2: -0.4}, v: {joint3: 0.5}}
solver: {step: 1e-3, duration: 0.1, integrator: rk4}
controller: [gravity_compensation, {law: pd, kp: 20, kd: {joint1: 3}}]
parameters: {"mass:link3": 2.5, "damping:*": 0.1, gravity: 1.62}
outputs: [energy]
sweep:
  grid: {"friction:joint1": [0.0, 0.01]}
  random: {count: 8, seed: 7, "q:joint1": {uniform: [-90deg, 90deg]}, "v:*": {normal: [0, 2]}}
"""
ON_FLOOR = """robot: four_bar
start: {q: {pivot0: 0.1}}
prescribed: {corner0: {mean: 0.2, amplitude: 10deg, frequency: 0.5}}
solver: {duration: 0.05}
"""
PAINT = b"mtllib a.mtl\nusemtl red\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1\n"
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n"
DAE = (
    '<?xml version="1.0"?><COLLADA><asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry '
    'id="g"><mesh><source id="p"><float_array>0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common><accessor stride="3"/>'
    '</technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><polylist><input '
    'semantic="VERTEX" source="#v" offset="0"/><vcount>3 4</vcount><p>0 1 2 0 1 2 3</p></polylist></mesh></geometry>'
    '</library_geometries><library_visual_scenes><visual_scene id="s"><node><translate>1 2 3</translate><rotate>0 0 1 90'
    '</rotate><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene '
    'url="#s"/></scene></COLLADA>'
)
FACET = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"


@dataclass(frozen=True)
class Kind:
    """A kind of files.

    Attributes:
        examples: files that are read as they are, by the name of each, below a folder.
        read: the file; what it returns does not count.
        change: of structure, where it does not follow from the suffix.
        names: of what messages may name instead of the file: the folder that it is in, the file beside it.
    """

    examples: Sequence[Path]
    read: Callable[[Path], Any]
    change: Any = None
    names: Sequence[str] = ()

    def drawn(self, seed: int) -> tuple[Path, bytes]:
        """The file of a seed, and its changed content."""
        rng = random.Random(seed)
        path = rng.choice(self.examples)
        return path, changed(kept(path).read_bytes(), path, rng, self.change)


def kept(path: Path) -> Path:
    """Where the content of an example stays as it is."""
    return path.with_name(f"{path.name}.kept")


def robot(path: Path) -> None:
    """A robot's file: what is read can be written, and read again as the same."""
    mechanism = km.load(path).mechanism
    text = to_json(mechanism)
    again = to_json(from_json(text))
    assert again == text, "written and read, it is another mechanism"


def result(path: Path) -> None:
    """A result: what is read can be told and saved again."""
    run = km.open(path)
    assert repr(run)
    run.save(path.with_name("again.npz"))


def _run(path: Path) -> None:
    ball = km.Body("ball", 1.0, inertia=(1, 1, 1), collisions=(km.Geometry(km.Sphere(0.1)),))
    one = km.Mechanism("one", (ball,), (km.Joint("slide", "prismatic", "world", "ball"),))
    km.simulate(one, [0.101], duration=0.01, contact="rigid").save(path)


def _loop(path: Path) -> None:
    km.simulate(km.load("four_bar"), duration=0.005).save(path)


def robots(folder: Path) -> dict[str, Kind]:
    """Descriptions of robots."""
    triangles = np.zeros(4, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    triangles["corners"] = np.random.default_rng(0).normal(size=(4, 3, 3))
    (folder / "loops").mkdir()
    (folder / "loops" / "robot.urdf").write_text(FIVE_BAR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = read_urdf(URDF)
    mechanisms = [*(km.load(name).mechanism for name in ("governor", "four_bar")), base]
    geared = URDF.replace("</robot>", GEAR + "</robot>")
    stl = (b"\0" * 80 + b"\4\0\0\0" + triangles.tobytes(), b"solid a\n" + FACET * 3 + b"endsolid a\n")
    return {
        "urdf": Kind(_files(folder, "urdf", URDF, FIVE_BAR, geared), robot),
        "transmissions": Kind(_files(folder / "gears", "urdf", geared), km.read_transmissions),
        "sdf": Kind(_files(folder, "sdf", SDF), robot),
        "mjcf": Kind(_files(folder, "xml", ZOO, TIED, UNREAD, DRIVEN), robot),
        "xacro": Kind(_files(folder, "xacro", XACRO), robot),
        "loops": Kind(_files(folder / "loops", "yaml", LOOPS, names=("robot",)), robot, names=("robot.urdf",)),
        "srdf": Kind(_files(folder, "srdf", SRDF), lambda path: read_srdf(path, base)),
        "json": Kind(_files(folder, "json", *map(to_json, mechanisms)), robot),
        "mesh": Kind(
            [
                *_files(folder, "obj", PAINT + OBJ),
                *_files(folder, "stl", *stl),
                *_files(folder, "dae", DAE),
            ],
            lambda path: read_surface(path.read_bytes(), path, SideFiles(path.parent)),
        ),
    }  # fmt: skip


def _files(folder: Path, suffix: str, *contents: str | bytes, names: Sequence[str] = ()) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for name in names or [f"changed{k}" for k in range(len(contents))]]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        shutil.copy(path, kept(path))
    return paths


def experiments(folder: Path) -> dict[str, Kind]:
    """Scenarios, results, logs and sweeps."""
    for suffix in ("h5", "npz"):
        _run(folder / f"run0.{suffix}")
        _loop(folder / f"run1.{suffix}")
        for k in (0, 1):
            shutil.copy(folder / f"run{k}.{suffix}", kept(folder / f"run{k}.{suffix}"))
    log = km.simulate(km.load("double_pendulum"), [0.3, 0.1], duration=0.02).export(folder / "log.csv")
    shutil.copy(log, kept(log))
    text = SCENARIO.replace("count: 8", "count: 2")
    (folder / "swing.yaml").write_text(text)
    km.sweep(folder / "swing.yaml", folder / "swept")
    manifest, part = folder / "swept" / "sweep.json", next((folder / "swept" / "parts").glob("*.parquet"))
    shutil.copy(manifest, kept(manifest))
    shutil.copy(part, kept(part))
    whole = km.open_sweep(folder / "swept")

    def table(_: Path) -> Any:
        return km.Sweep(folder / "swept", whole.scenario).table

    return {
        "scenario": Kind(_files(folder, "yaml", SCENARIO, ON_FLOOR), km.read_scenario),
        "h5": Kind([folder / "run0.h5", folder / "run1.h5"], result),
        "npz": Kind([folder / "run0.npz", folder / "run1.npz"], result),
        "log": Kind([Path(log)], km.read_log),
        "manifest": Kind(
            [manifest], lambda path: km.open_sweep(path.parent).table, sealed_json(_digest), (str(folder / "swept"),)
        ),
        "part": Kind([part], table, sealed_table(_sealed), (str(folder / "swept"),)),
    }


def cache(folder: Path) -> dict[str, Kind]:
    """Compiled code on disk: whatever is there, results are right."""
    os.environ["KUMITATE_CACHE"] = str(folder / "cache")
    state = ([0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.0, 1.0, 2.0])
    expected = km.load("planar_3r").forward_dynamics(*state)
    files = [path for path in sorted((folder / "cache").iterdir()) if path.suffix in (".o", ".json", ".digest")]
    for path in files:
        shutil.copy(path, kept(path))

    def same(_: Path) -> None:
        os.environ["KUMITATE_CACHE"] = str(folder / "cache")
        found = km.Robot(km.load("planar_3r").mechanism).forward_dynamics(*state)
        assert np.array_equal(found, expected), "other numbers than from code compiled now"

    return {"cache": Kind(files, same)}


KINDS = (
    "urdf", "transmissions", "sdf", "mjcf", "xacro", "loops", "srdf", "json", "mesh", "scenario", "h5", "npz", "log",
    "manifest", "part", "cache",
)  # fmt: skip
_FAMILY = {name: robots if k < 9 else experiments if k < 15 else cache for k, name in enumerate(KINDS)}


def made(name: str, folder: Path) -> Kind:
    """A kind, with its examples in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    return _FAMILY[name](folder)[name]
