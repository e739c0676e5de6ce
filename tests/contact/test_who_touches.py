"""Which bodies touch: by default, all but neighbours, by name, by groups, SRDF and MJCF; in traced contact and in scenes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.plan import pairs_of_scene
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.errors import InputError
from kumitate.model import Body, Box, Geometry, Joint, Loop, Mechanism, Sphere
from kumitate.model.read import read_file
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.spatial import pose
from kumitate_problems.contact import unconnected

BALL = (Geometry(Sphere(0.1)),)


def balls(count: int, *bodies: Body) -> Mechanism:
    """Free balls of 1 kg: ball0, ball1, …; and other bodies that are free."""
    return unconnected(*(Body(f"ball{k}", 1.0, inertia=(0.004, 0.004, 0.004), collisions=BALL) for k in range(count)), *bodies)


def chain(*loops: Loop) -> Mechanism:
    """Four balls on hinges, the first fixed to the second by a joint of the tree that moves, and so on."""
    bodies = tuple(Body(f"b{k}", 1.0, inertia=(0.01, 0.01, 0.01), collisions=BALL) for k in range(4))
    joints = tuple(
        Joint(f"j{k}", "revolute", f"b{k - 1}" if k else "world", f"b{k}", pose=pose((0.3, 0.0, 0.0))) for k in range(4)
    )
    return Mechanism("chain", bodies, joints, loops)


def pairs_in(mechanism: Mechanism, contact: Contact) -> set[tuple[str, str]]:
    """The pairs of bodies that may touch; traced contact and scenes agree on them."""
    traced = {tuple(sorted(pair.bodies)) for pair in contact_pairs(mechanism, mechanism.base_parameter_tree, contact)}
    assert {tuple(sorted(pair.bodies)) for pair in pairs_of_scene(mechanism, contact)} == traced
    return traced


def test_links_of_a_robot_touch_by_name_or_all_but_neighbours():
    ground = {(f"b{k}", "ground") for k in range(4)}
    assert pairs_in(chain(), Contact()) == ground
    assert pairs_in(chain(), Contact(between=[("b0", "b3")])) == ground | {("b0", "b3")}
    assert pairs_in(chain(), Contact(between=[("b0", "b3"), ("ground", "b1")])) == ground | {("b0", "b3")}
    assert pairs_in(chain(), Contact(between="all")) == ground | {("b0", "b2"), ("b0", "b3"), ("b1", "b3")}
    closed = chain(Loop("rod", "revolute", "b0", "b3"))
    assert pairs_in(closed, Contact(between="all")) == ground | {("b0", "b2"), ("b1", "b3")}
    apart = replace(closed, no_contact=(("b0", "b2"),))
    assert pairs_in(apart, Contact(between="all", apart=[("b3", "b1"), ("ground", "b2")])) == ground - {("b2", "ground")}


def test_groups_and_masks_let_two_touch_if_each_is_in_the_others_mask():
    groups = {"ball0": (0b01, 0b10), "ball1": (0b10, 0b01), "ball2": (0b10, 0b11), "ground": (0b10, 0b11)}
    found = pairs_in(balls(4), Contact(groups=groups))
    assert ("ball0", "ball1") in found  # each has the other's group
    assert ("ball1", "ball2") not in found  # 2 takes group 2, and 1 takes group 1 only
    assert ("ball0", "ground") in found
    assert ("ball1", "ground") not in found
    assert {pair for pair in found if "ball3" in pair} == {(f"ball{k}", "ball3") for k in range(3)} | {("ball3", "ground")}


@pytest.mark.parametrize("count", [2, 4], ids=["traced", "scene"])
def test_a_ball_that_the_ground_does_not_touch_falls_through_it(count):
    """And through a ball below it that is kept apart from it, and rests on the floor; one on a fixed table stays there."""
    table = Body("table", 1.0, inertia=(1.0, 1.0, 1.0), collisions=(Geometry(Box((0.4, 0.4, 0.2))),))
    mechanism = balls(count)
    mechanism = replace(
        mechanism, bodies=(*mechanism.bodies, table),
        joints=(*mechanism.joints, Joint("stands", "fixed", "world", "table", pose=pose((3.0, 0.0, 0.1)))),
    )  # fmt: skip
    contact = Contact(apart=[("ball1", "ground"), ("ball0", "ball1"), ("table", "ball0")])
    sim = MechanismSimulation(Setup(mechanism, contact=contact, side_by_side=count == 2))
    assert bool(sim.interaction.of_many_bodies) == (count == 4)
    far = [x for k in range(2, count) for x in (0.0, 0.0, 0.0, 1.0, 10.0 + k, 0.0, 0.1)]
    run = sim.run([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0, 0.02, 0.0, 0.35, *far], duration=0.5)
    assert run.q[-1, 6] == pytest.approx(0.1, abs=1e-9)
    assert run.q[-1, 13] == pytest.approx(0.35 - 0.5 * 9.81 * 0.5**2, abs=5e-3)  # to h v
    places = [0.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0, 3.0, 0.05, 0.3, *far]
    run = sim.run(places, duration=0.4)
    assert run.q[-1, 6] == pytest.approx(0.1, abs=1e-9)  # through the table, onto the ground
    assert run.q[-1, 13] == pytest.approx(0.3, abs=1e-6)  # on the table


def test_an_srdf_keeps_pairs_apart(tmp_path):
    """disabled_collisions of an SRDF are what `apart` takes."""
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
        for k in range(4)
    )
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/></joint>' for k in range(3)
    )
    (tmp_path / "arm.urdf").write_text(f'<robot name="arm">{links}{joints}</robot>')
    (tmp_path / "arm.srdf").write_text('<robot name="arm"><disable_collisions link1="l1" link2="l3" reason="Never"/></robot>')
    robot = km.load(tmp_path / "arm.urdf")
    srdf = km.read_srdf(tmp_path / "arm.srdf", robot.mechanism)
    found = pairs_in(robot.mechanism, Contact(between="all", apart=srdf.disabled_collisions))
    assert {pair for pair in found if "ground" not in pair and "l0" not in pair} == set()
    assert ("l1", "l3") in pairs_in(robot.mechanism, Contact(between="all"))


MASKED = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body name="a"><freejoint/><geom size=".1" contype="2" conaffinity="1"/></body>
<body name="b"><freejoint/><geom size=".1" contype="1" conaffinity="4"/></body>
<body name="c"><freejoint/><geom size=".1" contype="4" conaffinity="4"/><geom size=".05" contype="0" conaffinity="1"/></body>
<body name="d"><freejoint/><geom size=".1" contype="8" conaffinity="8"/><body name="e" pos="1 0 0"><joint/>
<geom size=".1"/></body></body></worldbody>{}</mujoco>"""


@pytest.mark.filterwarnings("ignore::kumitate.errors.KumitateWarning")
def test_masks_of_mjcf_keep_bodies_apart_as_mujoco_does(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    for name, more in {"plain": "", "paired": '<contact><pair geom1="ga" geom2="gd"/></contact>'}.items():
        text = MASKED.format(more).replace('<geom size=".1" contype="2"', '<geom name="ga" size=".1" contype="2"')
        text = text.replace('<geom size=".1" contype="8"', '<geom name="gd" size=".1" contype="8"')
        (tmp_path / f"{name}.xml").write_text(text)
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)  # all free bodies are at one place, so that whatever may touch does
        mujoco.mj_forward(model, data)
        bodies = model.geom_bodyid[np.array(data.contact.geom)]
        touching = {tuple(sorted((model.body(i).name, model.body(j).name))) for i, j in bodies if i and j}
        mechanism = read_file(tmp_path / f"{name}.xml")
        free = {("d", "e")}
        every = {(one, two) for one in "abcde" for two in "abcde" if one < two} - free
        assert set(mechanism.no_contact) == {pair for pair in every if pair not in touching and "e" not in pair} | {
            pair for pair in every if "e" in pair and not _may(model, *pair)
        }


def _may(model, one: str, two: str) -> bool:
    """MuJoCo's rule for two bodies."""
    geoms = [[g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body(name).id] for name in (one, two)]
    kinds, masks = model.geom_contype, model.geom_conaffinity
    return any((kinds[a] & masks[b]) | (kinds[b] & masks[a]) for a in geoms[0] for b in geoms[1])


def test_refusals_say_what_is_wrong():
    cases = [
        ({"apart": [("ball0", "ball0")]}, r"apart has \('ball0', 'ball0'\); it must hold pairs of two different bodies"),
        ({"groups": {"ball0": 1}}, r"groups has 1; it must hold a dictionary of \(groups, mask\) by body"),
        ({"groups": [("ball0", 1, 1)]}, r"groups has \[\('ball0', 1, 1\)\]; it must hold a dictionary"),
        ({"groups": {"ball0": (1.0, 1)}}, r"groups has \(1.0, 1\); it must hold a dictionary"),
    ]
    for fields, words in cases:
        with pytest.raises(InputError, match=words):
            Contact(**fields)
    for fields in ({"apart": [("ball0", "bell")]}, {"groups": {"bell": (1, 1)}}):
        with pytest.raises(InputError, match="contact names 'bell', which is not a body; those with shapes are ball0, ball1"):
            contact_pairs(balls(2), balls(2).base_parameter_tree, Contact(**fields))
