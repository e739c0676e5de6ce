"""Faults of mechanisms and files, as data."""

from dataclasses import replace

import pytest

from kumitate import load
from kumitate.diagnose.check import check, check_file
from kumitate.errors import InputError, ModelError
from kumitate.model import Body, Coupling, Distance, Geometry, Joint, Limits, Loop, Mechanism, Mesh
from kumitate.model.samples import SAMPLES
from kumitate.spatial import pose

GOOD = (1.0, 1.0, 1.0)


def one(inertia=GOOD, mass=1.0, **joint) -> Mechanism:
    """One link on one joint."""
    given = {"name": "hinge", "kind": "revolute", "parent": "world", "child": "link", **joint}
    return Mechanism("one", (Body("link", mass, inertia=inertia),), (Joint(**given),))


def found(mechanism: Mechanism) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(item.level, item.topic, tuple(name for name, _ in item.where)) for item in check(mechanism)}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_have_no_faults(name):
    assert all(finding.level == "note" for finding in check(SAMPLES[name].build()))


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (one((1.0, 1.0, 3.0)), ("warning", "inertia", ("link",))),
        (one(mass=0.0), ("warning", "inertia", ("link",))),
        (one((0.0, 0.0, 0.0), mass=0.0), ("error", "inertia", ("hinge",))),
        (one((1.0, 1.0, 0.0)), ("error", "inertia", ("hinge",))),  # a rod along its axis
        (one(limits=(Limits(0.5, 0.5),)), ("warning", "limits", ("hinge",))),
        (one(limits=(Limits(0.5, 1.0),)), ("note", "limits", ("hinge",))),
        (one(limits=(Limits(velocity=0.0),)), ("warning", "limits", ("hinge",))),
        (one(limits=(Limits(effort=0.0),)), ("warning", "limits", ("hinge",))),
        (one(kind="prismatic"), ("note", "limits", ("hinge",))),
        (one(name="a, b"), ("warning", "names", ("'a, b'",))),
    ],
)
def test_faults_of_one_link(mechanism, expected):
    assert found(mechanism) == {expected}


def test_a_point_off_the_axis_is_a_note_and_armature_replaces_inertia():
    point = replace(one(), bodies=(Body("link", 1.0, (1.0, 0.0, 0.0)),))
    assert found(point) == {("note", "inertia", ("link",))}
    assert not found(one((0.0, 0.0, 0.0), mass=0.0, armature=0.1))


def test_a_motion_without_inertia_is_named():
    """Two hinges on one axis, the first link massless: only their sum is resisted."""
    bodies = (Body("a"), Body("b", 1.0, inertia=GOOD))
    joints = (Joint("first", "revolute", "world", "a"), Joint("second", "revolute", "a", "b"))
    (fault,) = check(Mechanism("two", bodies, joints))
    assert (fault.level, [name for name, _ in fault.where]) == ("error", ["first", "second"])
    assert "no inertia" in fault.what


def test_names_that_differ_by_capitals():
    bodies = (Body("Arm", 1.0, inertia=GOOD), Body("arm", 1.0, inertia=GOOD))
    joints = (Joint("a", "revolute", "world", "Arm"), Joint("b", "revolute", "Arm", "arm"))
    assert found(Mechanism("two", bodies, joints)) == {("warning", "names", ("Arm and arm",))}


def test_loops_that_cannot_be_closed():
    loops = (Loop("open", "revolute", "world", "link", pose((0, 0, 0.1))), Loop("closed", "spherical", "world", "link"))
    (fault,) = check(replace(one(), loops=loops))
    assert (fault.level, fault.topic, fault.where) == ("error", "loops", (("open", "0.1 m, 0 rad"),))
    assert "loop 'open' cannot be closed from there: 0.1 m" in fault.what


def test_loops_that_close_elsewhere_are_a_note():
    """The slider is 0.25 m from where the loop holds it; a coupling asks for 0.1 rad."""
    bodies = (Body("a", 1.0, inertia=GOOD), Body("b", 1.0, inertia=GOOD), Body("c", 1.0, inertia=GOOD))
    limits = (Limits(-1.0, 1.0),)
    joints = (Joint("slide", "prismatic", "world", "a", limits=limits), Joint("h", "revolute", "a", "b"),
              Joint("k", "revolute", "a", "c"))  # fmt: skip
    loop = Loop("hold", "spherical", "world", "a", pose((0, 0, 0.25)))
    couplings = (Coupling("gear", "k", "h", 0.0, 0.1),)
    (fault,) = check(Mechanism("press", bodies, joints, (loop,), couplings=couplings))
    assert (fault.level, fault.topic) == ("note", "loops")
    assert fault.where == (("hold", "0.25 m, 0 rad"), ("gear", "0 m, 0.1 rad"))
    assert "is 0.269 away" in fault.what
    assert "'slide' by 0.25" in fault.what


def test_a_rod_between_coincident_points_is_reported():
    loop = Loop("rod", Distance(0.5), "world", "link")
    (fault,) = check(replace(one(), loops=(loop,)))
    assert (fault.level, fault.topic) == ("note", "loops")
    assert "no direction" in fault.what


def test_meshes_that_are_gone(tmp_path):
    mesh = Geometry(Mesh("package://robot/arm.stl", resolved=str(tmp_path / "arm.stl")))
    mechanism = replace(one(), bodies=(Body("link", 1.0, inertia=GOOD, visuals=(mesh,)),))
    assert found(mechanism) == {("warning", "meshes", ("package://robot/arm.stl",))}
    (tmp_path / "arm.stl").touch()
    assert not found(mechanism)


def urdf(tmp_path, inertia: str, extra: str = ""):
    file = tmp_path / "robot.urdf"
    file.write_text(
        f'<robot name="r"><link name="a"><inertial><mass value="1"/><inertia {inertia}/></inertial>{extra}</link></robot>'
    )
    return file


def test_a_file_with_an_impossible_inertia_is_still_read(tmp_path):
    file = urdf(tmp_path, 'ixx="-1" iyy="1" izz="1"', '<visual><geometry><mesh filename="no.stl"/></geometry></visual>')
    mechanism, findings = check_file(file)
    assert mechanism is not None
    assert [(item.level, item.topic) for item in findings] == [("error", "inertia"), ("warning", "meshes")]
    assert "negative" in findings[0].what
    assert findings[0].what == mechanism.faults[0]
    _, findings = check_file(file, fix_inertia=True)
    assert [item.level for item in findings] == ["warning", "warning"]


def test_joints_that_move_nothing_are_reported_once(tmp_path):
    file = tmp_path / "robot.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    hinge = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    file.write_text(f'<robot name="r"><link name="a">{inertial}</link><link name="b"/>{hinge}</robot>')
    _, findings = check_file(file)
    assert [(item.level, item.where) for item in findings] == [("error", (("j", "carries 'b'"),))]


def test_a_broken_triangle_is_told_once(tmp_path):
    _, findings = check_file(urdf(tmp_path, 'ixx="1" iyy="1" izz="3"'))
    assert [(item.level, item.topic, item.where[0][0]) for item in findings] == [("warning", "inertia", "a")]
    assert "--fix-inertia" in findings[0].remedy


def test_a_file_that_cannot_be_read(tmp_path):
    mechanism, findings = check_file(urdf(tmp_path, 'ixx="one"'))
    assert mechanism is None
    assert [item.level for item in findings] == ["error"]
    with pytest.raises(InputError, match="suffix"):
        check_file(tmp_path / "robot.txt")


URDF = """<robot name="bad">
<link name="a"><inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="b"/><link name="c"/><link name="d"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 0"/></joint>
<joint name="k" type="revolute"><parent link="b"/><child link="c"/><limit lower="1" upper="-1" effort="1" velocity="1"/></joint>
<joint name="l" type="fixed"><parent link="b"/><child link="dd"/></joint>
</robot>"""
SDF = """<sdf version="1.9"><model name="bad">
<link name="a"><inertial><mass>-1</mass></inertial></link>
<link name="b"/>
<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 0</xyz></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        ("bad.urdf", URDF, {2: "negative", 4: "no direction", 5: "above the upper limit", 6: "did you mean 'd'"}),
        ("bad.sdf", SDF, {2: "mass", 4: "no direction"}),
    ],
)
def test_all_mistakes_of_a_file_are_told_at_once(tmp_path, name, text, faults):
    """Also by `load`, whose error names one, and says that there are more."""
    path = tmp_path / name
    path.write_text(text)
    mechanism, findings = check_file(path)
    assert mechanism is None
    told = {int(finding.what.removeprefix(f"{path}:").split(":")[0]): finding.what for finding in findings}
    assert sorted(told) == sorted(faults)
    assert all(word in told[line] for line, word in faults.items())
    with pytest.raises(ModelError) as error:
        load(path)
    assert len(error.value.others) == len(faults) - 1
    assert error.value.__notes__ == [f"There are {len(faults) - 1} more mistakes in the file; `kumitate check` lists them all"]
