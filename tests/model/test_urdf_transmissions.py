"""Transmissions of URDF: which are drives, what they do at their joints, and that reading a robot is as without them."""

import warnings

import numpy as np
import pytest

import kumitate as km
from kumitate.model.read import read_urdf

EFFORT, POSITION = "hardware_interface/EffortJointInterface", "PositionJointInterface"
INERTIA = 0.2
TYPE = "transmission_interface/SimpleTransmission"


def interface(*names):
    return "".join(f"<hardwareInterface>{name}</hardwareInterface>" for name in names)


BY_EFFORT = interface(EFFORT)


def transmission(name="t", joint="elbow", kind=TYPE, of_joint=BY_EFFORT, of_motor=""):
    return (
        f'<transmission name="{name}"><type>{kind}</type><joint name="{joint}">{of_joint}</joint>'
        f'<actuator name="m">{of_motor}</actuator></transmission>'
    )


def old(inside='<actuator name="m"/><joint name="elbow"/>'):
    return f'<transmission name="t" type="SimpleTransmission">{inside}</transmission>'


def reduction(text):
    return f"<mechanicalReduction>{text}</mechanicalReduction>"


def arm(*transmissions):
    """A forearm of 0.2 kg·m² about a vertical axis, with transmissions from line 5 on."""
    return "\n".join([
        '<robot name="arm"><link name="base"/>',
        f'<link name="fore"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{INERTIA}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>",
        '<joint name="elbow" type="revolute"><parent link="base"/><child link="fore"/><axis xyz="0 0 1"/>',
        '<limit lower="-9" upper="9" effort="40" velocity="9"/></joint>',
        *transmissions, "</robot>",
    ])  # fmt: skip


def told(read, text):
    """What a function returns for a text, and its warnings, without the file's name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read(text)
    assert all(issubclass(item.category, km.KumitateWarning) for item in caught)
    return found, [str(item.message).split(": ", 1)[1] for item in caught]


def loaded(text):
    return told(lambda given: km.Robot(read_urdf(given)), text)


@pytest.mark.parametrize(
    ("text", "gear"),
    [
        (transmission(), 1.0),
        (transmission(of_motor=reduction(" 50 ")), 50.0),
        (transmission(of_motor=reduction("-6.05")), 6.05),
        (transmission(kind="SimpleTransmission", of_joint=interface("EffortJointInterface")), 1.0),
        (transmission(of_joint=interface(POSITION, EFFORT), of_motor=reduction(7)), 7.0),
        (transmission(of_joint="", of_motor=interface(EFFORT) + reduction(7)), 7.0),
        (old(), 1.0),
        (old('<actuator name="m"/><joint name="elbow"/>' + reduction(-79.2)), 79.2),
        (old('<joint name="elbow"/><actuator name="m"><drake:gear_ratio value="20"/></actuator>'), 20.0),
    ],
)
def test_simple_transmissions_are_drives_of_effort(text, gear):
    drives, messages = told(km.read_transmissions, arm(text))
    assert drives == {"elbow": km.EffortDrive(gear_ratio=gear)}
    assert messages == []
    _, messages = loaded(arm(text))
    assert len(messages) == 1
    assert "not simulated" not in messages[0]
    assert "read_transmissions" in messages[0]
    assert "(t in line 5)" in messages[0]


def test_a_geared_motor_accelerates_as_its_joint_feels_it():
    """v(t) = τ t/(I + n²J) for the effort τ at the joint, n times the motor's, within the joint's limit."""
    n, J, t = 30.0, 2e-4, 0.25
    motor = f'{reduction(n)}<drake:rotor_inertia value="{J}"/>'
    text = arm(transmission(of_motor=motor))
    robot, _ = loaded(text)
    drives, messages = told(km.read_transmissions, text)
    assert messages == []
    driven = robot.with_drives(drives)
    for of_motor, at_joint in ((0.05, n * 0.05), (9.0, 40.0)):
        run = km.simulate(driven, duration=t, step=1e-3, inputs={"target": {"elbow": n * of_motor}}, limits=False)
        assert run.v[-1, 0] == pytest.approx(at_joint * t / (INERTIA + n**2 * J), rel=1e-12)
    assert driven.mass_matrix([0.3])[0, 0] == pytest.approx(INERTIA + n**2 * J, rel=1e-14)


def test_transmissions_change_nothing_until_they_are_added_and_commanded():
    robot, _ = loaded(arm(transmission(of_motor=reduction(50))))
    plain, _ = loaded(arm())
    assert robot.mechanism == plain.mechanism
    drives, _ = told(km.read_transmissions, arm(transmission(of_motor=reduction(50))))
    runs = [km.simulate(one, v=[0.7], duration=0.05) for one in (plain, robot.with_drives(drives))]
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=1e-13)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (transmission(kind="transmission_interface/DifferentialTransmission"), "of type transmission_interface/Differential"),
        (transmission(of_joint=interface(POSITION)), "commanded by position or velocity, whose gains you give"),
        (transmission(of_joint=interface("hardware_interface/VelocityJointInterface")), "commanded by position or velocity"),
        (transmission(of_joint=interface("JointStateInterface")), "with the interface JointStateInterface"),
        (transmission(joint="elbo"), "of joints that the file does not have"),
        (old('<joint name="elbow"/>'), "of type SimpleTransmission without one joint and one actuator"),
    ],
)
def test_other_transmissions_are_told_with_name_and_line(text, reason):
    drives, messages = told(km.read_transmissions, arm(text))
    assert drives == {}
    assert messages == loaded(arm(text))[1]
    assert len(messages) == 1
    assert messages[0].startswith(f"<transmission> {reason}")
    assert messages[0].endswith("not simulated; torques act at the joints (t in line 5)")


def test_a_joint_has_the_drive_of_its_first_transmission():
    drives, messages = told(
        km.read_transmissions, arm(transmission(of_motor=reduction(3)), transmission("u", of_motor=reduction(5)))
    )
    assert drives["elbow"].gear_ratio == 3.0
    assert len(messages) == 1
    assert "another one drives already" in messages[0]
    assert "(u in line 6)" in messages[0]


def test_content_that_is_not_used_is_told():
    _, messages = told(km.read_transmissions, arm(transmission(of_motor="<motorTorqueConstant>2</motorTorqueConstant>")))
    assert messages == ["<motorTorqueConstant>: not known here, not used (m in line 5)"]


@pytest.mark.parametrize(
    ("motor", "message"),
    [
        (reduction("0.0"), "<text>:5: transmission 't' has the reduction 0"),
        (reduction("fifty"), "<text>:5: <mechanicalReduction> 'fifty' is not a number; give turns of the motor"),
        (reduction("nan"), "<text>:5: .*gear_ratio"),
        ('<drake:rotor_inertia value="-1"/>', "<text>:5: .*rotor_inertia"),
    ],
)
def test_impossible_numbers_are_refused_where_drives_are_asked_for(motor, message):
    text = arm(transmission(of_motor=motor))
    with pytest.raises(km.ModelError, match=message):
        km.read_transmissions(text)
    assert loaded(text)[0].nv == 1  # and only there


@pytest.mark.parametrize("name", ["arm.urdf.xacro", "arm.yaml"])
def test_other_files_than_urdf_are_refused(name):
    with pytest.raises(km.InputError, match=f"{name}: transmissions are read from a .urdf; give the one"):
        km.read_transmissions(name)
