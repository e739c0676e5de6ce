"""Angles that files round: quarter turns up to the last digits are exact, others stay, and a note tells of it."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import KumitateWarning
from kumitate.model.read import read_sdf, read_urdf
from kumitate.model.read.parts import NEAR, exact_quarter_turn

ROUNDED = 1.57079632679


def urdf(angle: str) -> str:
    return f"""<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
        <joint name="turn" type="revolute"><parent link="base"/><child link="tip"/><origin rpy="{angle} 0 0"/>
        <limit effort="1" velocity="1" lower="-1" upper="1"/></joint></robot>"""


def sdf(angle: str, attributes: str = "") -> str:
    return f"""<sdf version="1.7"><model name="arm"><link name="tip"><pose {attributes}>0 0 1 {angle}</pose>
        <inertial><mass>1</mass></inertial></link></model></sdf>"""


def read(reader, text, **options):
    """The rotation of the last joint, and the notes on angles."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KumitateWarning)
        mechanism = reader(text, **options)
    said = [str(w.message) for w in caught if "quarter turn" in str(w.message)]
    return np.array(mechanism.joints[-1].pose.matrix())[:3, :3].astype(float), said


def turned(angle: float) -> np.ndarray:
    return np.array([[1, 0, 0], [0, math.cos(angle), -math.sin(angle)], [0, math.sin(angle), math.cos(angle)]])


def test_whole_quarter_turns():
    for k in range(-8, 9):
        exact = k * math.pi / 2.0
        for near in (exact, exact + 0.9 * NEAR, exact - 0.9 * NEAR):
            assert exact_quarter_turn(near) == pytest.approx(exact, abs=1e-15)
        for far in (exact + 1.1 * NEAR, exact - 1.1 * NEAR):
            assert exact_quarter_turn(far) == far


@pytest.mark.parametrize(("reader", "text"), [(read_urdf, urdf(str(ROUNDED))), (read_sdf, sdf(f"{ROUNDED} 0 0"))])
def test_a_rounded_quarter_turn_is_exact_unless_it_is_to_be_kept(reader, text):
    rotation, said = read(reader, text)
    np.testing.assert_allclose(rotation, turned(math.pi / 2.0), rtol=0, atol=1e-16)
    assert len(said) == 1
    assert "<text>" in said[0]
    assert "keep_angles=True" in said[0]
    assert "in line" in said[0]
    kept, said = read(reader, text, keep_angles=True)
    np.testing.assert_allclose(kept, turned(ROUNDED), rtol=0, atol=1e-16)
    assert abs(kept[1, 1]) > 4e-12
    assert not said


@pytest.mark.parametrize("angle", ["0", "1.5708", repr(math.pi / 2.0), "3.141592653589793", "0.3"])
def test_other_angles_stay_without_a_note(angle):
    rotation, said = read(read_urdf, urdf(angle))
    np.testing.assert_allclose(rotation, turned(float(angle)), rtol=0, atol=1e-15)
    assert not said


def test_degrees_and_quaternions_of_sdf_stay():
    rotation, said = read(read_sdf, sdf("1.57079632679 0 0", 'degrees="true"'))
    np.testing.assert_allclose(rotation, turned(math.radians(ROUNDED)), rtol=0, atol=1e-15)
    assert not said
    _, said = read(read_sdf, sdf("1e-12 0 0 1", 'rotation_format="quat_xyzw"'))
    assert not said


def test_faulty_angles_are_refused_as_before():
    for wrong in ("1 2 x", "1 2", "nan 0 0", "inf 0 0"):
        with pytest.raises(km.ModelError, match="rpy"):
            read_urdf(urdf("0").replace('rpy="0 0 0"', f'rpy="{wrong}"'))


def test_load_takes_the_option(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(urdf(str(ROUNDED)), encoding="utf-8")
    with pytest.warns(KumitateWarning, match=r"arm\.urdf: angles within 1e-10 rad of a quarter turn"):
        exact = km.load(file)
    kept = km.load(file, keep_angles=True)
    q, v = np.array([0.4]), np.array([0.2])
    assert exact.compile("forward_dynamics").operations <= kept.compile("forward_dynamics").operations
    np.testing.assert_allclose(exact.pose(q, "tip"), kept.pose(q, "tip"), rtol=0, atol=1e-11)
    assert not np.array_equal(exact.pose(q, "tip"), kept.pose(q, "tip"))
    assert exact.nv == kept.nv == len(v)


@pytest.mark.parametrize(("name", "text"), [("arm.urdf.xacro", urdf(str(ROUNDED))), ("arm.yaml", "closed_loop: []")])
def test_files_that_lead_to_a_urdf_take_the_option_too(name, text, tmp_path):
    (tmp_path / "arm.urdf").write_text(urdf(str(ROUNDED)), encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.warns(KumitateWarning, match="within 1e-10 rad of a quarter turn"):
        exact = km.load(tmp_path / name)
    kept = km.load(tmp_path / name, keep_angles=True)
    turns = [np.array(robot.mechanism.joints[-1].pose.matrix())[:3, :3].astype(float) for robot in (exact, kept)]
    np.testing.assert_allclose(turns[0], turned(math.pi / 2.0), rtol=0, atol=1e-16)
    np.testing.assert_allclose(turns[1], turned(ROUNDED), rtol=0, atol=1e-16)
