"""`kumitate simulate --contact`: a robot file falls onto the floor."""

import json
import re
from dataclasses import asdict

import pytest

import kumitate as km
from kumitate.cli.app import run
from kumitate.cli.asked import asked
from kumitate.errors import InputError

from ..view.unpacking import unpacked

URDF = """<robot name="stool">
  <link name="seat">
    <inertial><mass value="3"/><inertia ixx=".02" iyy=".03" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius=".1"/></geometry></collision>
  </link>
  <link name="leg">
    <inertial><origin xyz="0 0 -.1"/><mass value=".5"/>
      <inertia ixx=".002" iyy=".002" izz=".0002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -.3"/><geometry><sphere radius=".03"/></geometry></collision>
  </link>
  <joint name="hip" type="continuous"><parent link="seat"/><child link="leg"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture
def stool(tmp_path):
    path = tmp_path / "stool.urdf"
    path.write_text(URDF)
    return path


def simulate(capsys, *arguments):
    """What the command said, as JSON."""
    assert run(["simulate", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_robot_file_is_dropped_on_the_floor(stool, capsys):
    out = stool.parent / "out"
    said = simulate(
        capsys, stool, "--floating-base", "--contact", "rigid", "--friction", "0.7", "--restitution", "0.1", "--duration",
        "0.1", "--formats", "svg", "--out", out,
    )  # fmt: skip
    made = km.open(out / "result.h5")
    assert made.q[0, 6] == pytest.approx(0.33)  # the lowest point of the leg is on the floor
    usual = json.loads(json.dumps(asdict(km.Surface())))
    assert said["settings"]["contact"]["surface"] == usual | {"friction": 0.7, "restitution": 0.1}
    assert said["audit"]["contact"]["penetration"] == made.contact.penetration.max()
    assert made.contact.on("leg")[:20, 2].max() > 1.0
    (scene,) = re.findall(r'id="scene">([^<]*)<', (out / "page.html").read_text(encoding="utf-8"))
    assert "Normal contact force" in [channel["title"] for channel in unpacked(scene)["channels"]]


@pytest.mark.parametrize(
    ("floating", "typed", "height", "expected"),
    [
        (True, "", None, 0.33), (True, "", 0.2, 0.53), (True, "floating_base.z=2", None, 2.0),
        (True, "floating_base.z=2", 0.0, 0.33), (False, "", None, 0.0), (False, "", 0.2, 0.53),
    ],
)  # fmt: skip
def test_where_it_starts(stool, floating, typed, height, expected):
    """A robot that is free by --floating-base is put onto the floor, one that is free in its file stays where it is."""
    free = km.load(stool, floating_base=True).save(stool.parent / "free.json")
    options = {"contact": "rigid", "floating_base": floating, "q": typed, "height": height}
    given = {name: value for name, value in options.items() if value is not None and value is not False and value != ""}
    assert asked(str(stool if floating else free), given)[1].setup.start[0][6] == pytest.approx(expected)


def test_options_without_contact_and_robots_without_shapes_are_named(stool):
    with pytest.raises(InputError, match=r"^--friction 0\.5 needs --contact, for example --contact rigid$"):
        asked(str(stool), {"friction": 0.5})
    with pytest.raises(InputError, match=r"^--restitution: restitution is 2\.0"):
        asked(str(stool), {"contact": "rigid", "restitution": 2.0})
    assert asked(str(stool), {})[1].setup.contact is None
    with pytest.raises(InputError, match="pa10: no moving body has a shape to touch with"):
        km.simulate(km.load("pa10"), duration=0.1, contact="rigid")


def test_contact_is_explained_and_nothing_is_simulated(stool, capsys):
    """Two bodies and the floor, by name; a folder for results is not made."""
    asked_for = (
        stool,
        "--floating-base",
        "--contact",
        "rigid",
        "--friction",
        "0.7",
        "--explain",
        "--out",
        stool.parent / "none",
    )
    told = simulate(capsys, *asked_for)
    assert [pair["bodies"] for pair in told["pairs"]] == [["seat", "ground"], ["leg", "ground"]]
    assert told["solver"] == "scene"
    assert run(["simulate", *map(str, asked_for)]) == 0
    assert "leg on ground: sphere on plane, 1 point; friction 0.7" in capsys.readouterr().out
    assert not (stool.parent / "none").exists()
    assert run(["simulate", str(stool), "--explain"]) != 0
    assert "nothing can touch" in capsys.readouterr().err
