"""Values that no quantity can have: every public constructor refuses them, with the value, the rule and what to do."""

import math
from fractions import Fraction

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import KumitateError, ModelError
from kumitate.model import KINDS, lock
from kumitate.model.values import LARGEST, SMALLEST
from kumitate.spatial import DenseRotation, Matrix3, Transform, Vector3

FAR = Transform(translation=Vector3(1e308, 0.0, 0.0))
SKEWED = Transform(DenseRotation(Matrix3.of([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])))
MIRRORED = Transform(DenseRotation(Matrix3.of([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])))
CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))


def body(**options):
    return km.Body("b", **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0)} | options)


def joint(kind="revolute", **options):
    return km.Joint("j", kind, "world", "b", **options)


def loop(**options):
    return km.Loop("l", km.Line(), "world", "b", **options)


def mechanism(**options):
    return km.Mechanism("m", **{"bodies": (body(),), "joints": (joint(),)} | options)


# fmt: off
REFUSED = [
    # --- no real number, or one out of range; for everything that takes a number, one of each kind of mistake ---------------
    ("mass nan", lambda: body(mass=math.nan), "the mass [kg] is nan"),
    ("mass infinite", lambda: body(mass=math.inf), "the mass [kg] is inf"),
    ("mass negative", lambda: body(mass=-1e-3), "the mass [kg] is -0.001"),
    ("mass that no number can be divided by", lambda: body(mass=5e-324), "the mass [kg] is 5e-324"),
    ("mass denormal", lambda: body(mass=1e-320), "the mass [kg] is 1e-320"),
    ("mass too large", lambda: body(mass=1e200), "the mass [kg] is 1e+200"),
    ("mass of too many digits", lambda: body(mass=10**400), "the mass [kg] is inf"),
    ("mass as text", lambda: body(mass="1.0"), "the mass [kg] is '1.0', which is not a real number"),
    ("mass complex", lambda: body(mass=1.0 + 0.0j), "the mass [kg] is (1+0j), which is not a real number"),
    ("mass complex of NumPy", lambda: body(mass=np.complex128(1.0)), "which is not a real number"),
    ("mass true", lambda: body(mass=True), "the mass [kg] is True, which is not a real number"),
    ("mass none", lambda: body(mass=None), "the mass [kg] is None, which is not a real number"),
    ("mass of two", lambda: body(mass=(1.0, 2.0)), "the mass [kg] is (1.0, 2.0), which is not a real number"),
    ("centre far", lambda: body(center_of_mass=(0.0, 0.0, 1e308)), "the center_of_mass [m] is (0.0, 0.0, 1e+308)"),
    ("centre of two", lambda: body(center_of_mass=(0.0, 0.0)), "the center_of_mass [m] is (0.0, 0.0) (2 values)"),
    ("centre as text", lambda: body(center_of_mass="123"), "the center_of_mass [m] is '123'"),
    ("centre alone", lambda: body(center_of_mass=0.5), "the center_of_mass [m] is 0.5"),
    ("inertia denormal", lambda: body(inertia=(1e-320, 1.0, 1.0)), "the moment of inertia about x [kg·m²] is 1e-320"),
    ("inertia infinite", lambda: body(inertia=(math.inf, 1.0, 1.0)), "(inf, 1.0, 1.0)"),
    ("inertia ragged", lambda: body(inertia=((1.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))), "it must be a 3×3 matrix"),
    ("inertia as texts", lambda: body(inertia=("1", "1", "1")), "('1', '1', '1')"),
    ("inertia complex", lambda: body(inertia=np.array([1.0, 1.0, 1j])), "1j"),
    ("name no text", lambda: km.Body(7, 1.0), "the name is 7"),
    ("name no UTF-8", lambda: km.Body("\ud800", 1.0), r"the name is '\ud800'"),
    ("collision no geometry", lambda: body(collisions=(km.Sphere(1.0),)), "collisions holds Sphere(radius=1.0)"),
    ("axis nan", lambda: joint(axis=(0.0, math.nan, 1.0)), "the axis is (0.0, nan, 1.0)"),
    ("axis zero", lambda: joint(axis=(0.0, 0.0, 0.0)), "the axis (0.0, 0.0, 0.0) has no direction"),
    ("axis tiny", lambda: joint(axis=(0.0, 0.0, 1e-200)), "the axis (0.0, 0.0, 1e-200) has no direction"),
    ("axis of two", lambda: joint(axis=(0.0, 1.0)), "the axis is (0.0, 1.0) (2 values)"),
    ("axis as text", lambda: joint(axis="xyz"), "the axis is 'xyz'"),
    ("second axis nan", lambda: joint("universal", second_axis=(0.0, math.nan, 0.0)), "the second axis is (0.0, nan, 0.0)"),
    ("pose far", lambda: joint(pose=FAR), "the position of the pose [m] is (1e+308, 0.0, 0.0)"),
    ("pose skewed", lambda: joint(pose=SKEWED), "the matrix of the pose is [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0]"),
    ("pose mirrored", lambda: joint(pose=MIRRORED), "which is not a rotation"),
    ("pose no pose", lambda: joint(pose=np.eye(3)), "the pose is array"),
    ("pose of a loop", lambda: loop(pose_b=FAR), "the position of the pose_b [m] is (1e+308, 0.0, 0.0)"),
    ("pose of a frame", lambda: km.Frame("f", "b", SKEWED), "which is not a rotation"),
    ("pose of a shape", lambda: km.Geometry(km.Sphere(1.0), MIRRORED), "which is not a rotation"),
    ("damping negative", lambda: joint(damping=-1.0), "the damping is -1.0"),
    ("damping nan", lambda: joint(damping=math.nan), "the damping is nan"),
    ("damping as text", lambda: joint(damping="1"), "the damping is '1'"),
    ("friction negative", lambda: joint(friction=-0.5), "the friction is -0.5"),
    ("armature denormal", lambda: joint(armature=1e-310), "the armature is 1e-310"),
    ("stiffness negative", lambda: loop(stiffness=-3.0), "the stiffness is -3.0"),
    ("rest infinite", lambda: loop(rest=math.inf), "the rest is inf"),
    ("stiffness of too many", lambda: loop(stiffness=(1.0, 2.0)), "2 values of stiffness for 1 degrees of freedom"),
    ("limits none of ours", lambda: joint(limits=((-1.0, 1.0),)), "limits holds (-1.0, 1.0)"),
    ("limit nan", lambda: km.Limits(lower=math.nan), "the limit 'lower' is nan"),
    ("limit as text", lambda: km.Limits(upper="1.5"), "the limit 'upper' is '1.5'"),
    ("limit of speed negative", lambda: km.Limits(velocity=-1.0), "the limit 'velocity' is -1.0"),
    ("limit of effort nan", lambda: km.Limits(effort=math.nan), "the limit 'effort' is nan"),
    ("limits swapped", lambda: joint(limits=km.Limits(2.0, 1.0)), "lower limit 2.0 is above the upper limit 1.0"),
    ("pitch zero", lambda: km.Helical(0.0), "the pitch [m] is 0.0"),
    ("pitch nan", lambda: km.Helical(math.nan), "the pitch [m] is nan"),
    ("pitch denormal", lambda: km.Helical(1e-315), "the pitch [m] is 1e-315"),
    ("length of a rod negative", lambda: km.Distance(-1.0), "the length [m] is -1.0"),
    ("length of a rod as text", lambda: km.Distance("1"), "the length [m] is '1'"),
    ("letters", lambda: km.EulerAngles("xy"), "the axes are 'xy'"),
    ("letters that are not axes", lambda: km.EulerAngles("abc"), "'abc' has no direction"),
    ("directions nan", lambda: km.EulerAngles(((1, 0, 0), (0, math.nan, 0), (0, 0, 1))), "axis 2 is (0.0, nan, 0.0)"),
    ("directions alone", lambda: km.EulerAngles(3), "the axes are 3"),
    ("ratio nan", lambda: km.Coupling("c", "a", "b", ratio=math.nan), "the ratio is nan"),
    ("ratio denormal", lambda: km.Coupling("c", "a", "b", ratio=-1e-310), "the ratio is -1e-310"),
    ("offset infinite", lambda: km.Coupling("c", "a", "b", offset=-math.inf), "the offset is -inf"),
    ("gravity of two", lambda: mechanism(gravity=(0.0, -9.81)), "gravity [m/s²] is (0.0, -9.81) (2 values)"),
    ("gravity nan", lambda: mechanism(gravity=(0.0, 0.0, math.nan)), "gravity [m/s²] is (0.0, 0.0, nan)"),
    ("gravity as texts", lambda: mechanism(gravity=("0", "0", "-9.81")), "gravity [m/s²] is ('0', '0', '-9.81')"),
    ("gravity alone", lambda: mechanism(gravity=9.81), "gravity [m/s²] is 9.81"),
    ("bodies none of ours", lambda: mechanism(bodies=("b",)), "bodies holds 'b'"),
    ("place of a lock nan", lambda: lock(mechanism(), {"j": [math.nan]}), "nan is given for the place where it is locked"),
    ("place of a lock as text", lambda: lock(mechanism(), {"j": ["0"]}), "['0'] is given for the place where it is locked"),
    # --- shapes -------------------------------------------------------------------------------------------------------------
    ("sphere negative", lambda: km.Sphere(-1), "a sphere: the radius [m] is -1.0"),
    ("sphere nan", lambda: km.Sphere(math.nan), "a sphere: the radius [m] is nan"),
    ("sphere as text", lambda: km.Sphere("0.1"), "a sphere: the radius [m] is '0.1'"),
    ("box nan", lambda: km.Box((math.nan, 1, 1)), "a box: the size [m] is (nan, 1.0, 1.0)"),
    ("box negative", lambda: km.Box((1, -1, 1)), "a box: the size [m] is (1.0, -1.0, 1.0)"),
    ("box of two", lambda: km.Box((1.0, 1.0)), "a box: the size [m] is (1.0, 1.0) (2 values)"),
    ("cylinder negative", lambda: km.Cylinder(0.1, -1.0), "a cylinder: the length [m] is -1.0"),
    ("cylinder infinite", lambda: km.Cylinder(math.inf, 1.0), "a cylinder: the radius [m] is inf"),
    ("capsule nan", lambda: km.Capsule(0.1, math.nan), "a capsule: the length [m] is nan"),
    ("capsule negative", lambda: km.Capsule(-0.1, 1.0), "a capsule: the radius [m] is -0.1"),
    ("polygon of two", lambda: km.Polygon(CORNERS[:2]), "a polygon has the corners ((0.0, 0.0), (1.0, 0.0))"),
    ("polygon nan", lambda: km.Polygon(((0, 0), (1, math.nan), (0, 1))), "vertex 1 [m] is (1.0, nan)"),
    ("polygon in space", lambda: km.Polygon(((0, 0, 0), (1, 0, 0), (0, 1, 0))), "vertex 0 [m] is (0, 0, 0) (3 values)"),
    ("polygon without depth", lambda: km.Polygon(CORNERS, depth=0.0), "the depth [m] is 0.0"),
    ("polygon's depth nan", lambda: km.Polygon(CORNERS, depth=math.nan), "the depth [m] is nan"),
    ("hull nan", lambda: km.Hull(((0, 0, math.nan),)), "vertex 0 [m] is (0.0, 0.0, nan)"),
    ("hull empty", lambda: km.Hull(()), "a hull has no vertices"),
    ("hull flat", lambda: km.Hull(((0, 0),)), "vertex 0 [m] is (0, 0) (2 values)"),
    ("hull alone", lambda: km.Hull(3), "the vertices are 3"),
    ("mesh scale nan", lambda: km.Mesh("a.stl", (1.0, math.nan, 1.0)), "the scale is (1.0, nan, 1.0)"),
    ("mesh scale alone", lambda: km.Mesh("a.stl", 2.0), "the scale is 2.0"),
    ("mesh path", lambda: km.Mesh(7), "the path is 7"),
    ("shape none of ours", lambda: km.Geometry("sphere"), "the shape is 'sphere'"),
    ("colour out of range", lambda: km.Geometry(km.Plane(), color=(2.0, 0.0, 0.0, 1.0)), "(2.0, 0.0, 0.0, 1.0)"),
    ("colour of three", lambda: km.Geometry(km.Plane(), color=(1.0, 0.0, 0.0)), "(1.0, 0.0, 0.0) (3 values)"),
    # --- poses --------------------------------------------------------------------------------------------------------------
    ("position nan", lambda: km.pose((0.0, math.nan, 0.0)), "xyz is (0.0, nan, 0.0)"),
    ("position of two", lambda: km.pose((0.0, 0.0)), "xyz is (0.0, 0.0)"),
    ("position as texts", lambda: km.pose(("0", "0", "0")), "xyz is ('0', '0', '0')"),
    ("position of too many digits", lambda: km.pose((10**400, 0, 0)), "xyz is (1000"),
    ("angles infinite", lambda: km.pose(rpy=(math.inf, 0.0, 0.0)), "rpy is (inf, 0.0, 0.0)"),
    ("matrix skewed", lambda: km.pose(matrix=((1, 1, 0), (0, 1, 0), (0, 0, 1))), "[0.0, 0.0, 1.0]] is not a rotation"),
    ("matrix mirrored", lambda: km.pose(matrix=((1, 0, 0), (0, 1, 0), (0, 0, -1))), "is not a rotation"),
    ("matrix of two rows", lambda: km.pose(matrix=((1, 0, 0), (0, 1, 0))), "is not a rotation"),
    ("matrix alone", lambda: km.pose(matrix=3), "a row of the matrix is 3"),
    ("matrix homogeneous", lambda: km.pose(matrix=np.eye(4)), "a row of the matrix is array([1., 0., 0., 0.])"),
]
# fmt: on


@pytest.mark.parametrize(("make", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_value_that_cannot_be_is_refused(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    message = str(caught.value)
    assert words in message
    assert len(message.partition(words)[2]) > 20  # rule and remedy come after


def test_numbers_of_any_real_type_are_taken():
    for one in (1, 1.0, np.float32(1.0), np.int64(1), np.array(1.0), Fraction(1)):
        made = body(mass=one, center_of_mass=[one, 0, 0])
        assert made == body(mass=1.0, center_of_mass=(1.0, 0.0, 0.0))
        assert type(made.mass) is float


# --- what is not refused can be computed with -------------------------------------------------------------------------------
@pytest.mark.parametrize("mass", [SMALLEST, 1e-60, 1e-3, 1e30, LARGEST])
@pytest.mark.parametrize("length", [1e-20, 1.0, 1e20])
def test_a_pendulum_of_any_mass_that_is_accepted_falls_as_a_pendulum_does(mass, length):
    """q̈ = −(g/l) sin q, whatever the mass: nothing is lost, let alone NaN."""
    bob = km.Body("bob", mass, center_of_mass=(0.0, 0.0, -length))
    pendulum = km.Mechanism("pendulum", (bob,), (km.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0)),))
    for method in ("aba", "crba"):
        found = km.load(pendulum).forward_dynamics([0.3], [0.0], [0.0], method=method)
        assert found == pytest.approx([-9.81 / length * math.sin(0.3)], rel=1e-12), method


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_small_and_large_bodies_obey_newton(kind):
    """Of a body at the ends of what is accepted, forward dynamics gives back what inverse dynamics took."""
    rng = np.random.default_rng(7)
    for mass, size in ((SMALLEST, 1.0), (0.1 * LARGEST, 1.0), (1.0, 1e-10), (1.0, 1e10)):
        inertia = np.array([2.0, 3.0, 4.0]) * mass * size**2
        block = km.Body("block", mass, center_of_mass=np.array([0.1, 0.2, 0.3]) * size, inertia=inertia)
        robot = km.load(km.Mechanism("m", (block,), (km.Joint("j", kind, "world", "block"),), gravity=(0, 0, 0)))
        q, v = robot.random_state(rng)
        a = rng.normal(size=robot.nv)
        if robot.nv:
            tau = robot.inverse_dynamics(q, v, a)
            assert np.isfinite(tau).all()
            found = robot.forward_dynamics(q, v, tau)
            assert np.abs(found - a).max() < 1e-6 * (1.0 + np.abs(a).max()) * max(size, 1.0 / size), (mass, size)


def test_a_body_that_resists_too_little_to_be_computed_with_is_named():
    """m l² = 1e-320 kg·m²: each number may be, their product may not."""
    bob = km.Body("bob", 1.0, center_of_mass=(0.0, 0.0, 1e-160))
    pendulum = km.Mechanism("m", (bob,), (km.Joint("hinge", "revolute", "world", "bob", axis=(0, 1, 0)),))
    with pytest.raises(ModelError, match="joint 'hinge' moves only bodies without mass, or without inertia about its axis"):
        km.load(pendulum).forward_dynamics([0.0], [0.0], [0.0])


# --- files ------------------------------------------------------------------------------------------------------------------
LINK = '<link name="a"><inertial><mass value="{mass}"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
# fmt: off
FILES = [
    ("urdf", f'<robot name="r">\n{LINK.format(mass="1e-320")}</robot>', "r.urdf:2: body 'a': the mass [kg] is 1e-320"),
    ("urdf", f'<robot name="r">\n{LINK.format(mass="1e308")}</robot>', "r.urdf:2: <mass> value='1e308' is larger than 1e+50"),
    ("urdf", f'<robot name="r">\n{LINK.format(mass="1")}<link name="b"/>\n<joint name="j" type="fixed"><parent link="a"/>'
             '<child link="b"/>\n<origin xyz="0 1e308 0"/></joint></robot>',
     "r.urdf:4: <origin> xyz='0 1e308 0' is larger than 1e+50"),
    ("urdf", f'<robot name="r">\n{LINK.format(mass="1")}<link name="b"/>\n<joint name="j" type="revolute"><parent link="a"/>'
             '<child link="b"/><limit velocity="-1"/></joint></robot>',
     "r.urdf:3: limits: the limit 'velocity' is -1.0"),
    ("sdf", '<sdf version="1.9"><model name="r">\n<link name="a"><inertial><mass>1e-320</mass></inertial></link></model></sdf>',
     "r.sdf:2: body 'a': the mass [kg] is 1e-320"),
    ("sdf", '<sdf version="1.9"><model name="r">\n<link name="a"><pose>1e308 0 0 0 0 0</pose></link></model></sdf>',
     "r.sdf:2: <pose> '1e308 0 0 0 0 0' is larger than 1e+50"),
    ("json", '{"kumitate": 1, "name": "r", "bodies": [], "joints": [], "gravity": [0, -9.81]}',
     "r.json: mechanism: r: gravity [m/s²] is (0, -9.81) (2 values)"),
    ("json", '{"kumitate": 1, "name": "r", "bodies": [], "joints": [], "gravity": [0, 0, "nan"]}',
     "r.json: mechanism: r: gravity [m/s²] is (0, 0, 'nan')"),
    ("json", '{"kumitate": 1, "name": "r", "bodies": [], "joints": [], "gravity": [0, 0, "inf"]}',
     "r.json: mechanism: r: gravity [m/s²] is (0, 0, 'inf')"),
    ("json", f'{{"kumitate": 1, "name": "r", "bodies": [], "joints": [], "gravity": [0, 0, 1{"0" * 400}]}}',
     "r.json: mechanism: r: gravity [m/s²] is (0.0, 0.0, inf)"),
    ("json", '{"kumitate": 1, "name": "r", "bodies": [{"name": "a", "mass": true}], "joints": []}',
     "r.json: mechanism.bodies[0]: body 'a': the mass [kg] is True"),
]
# fmt: on


@pytest.mark.parametrize(("kind", "text", "words"), FILES, ids=[f"{kind} {words[:40]}" for kind, _, words in FILES])
def test_a_file_with_such_a_value_is_refused_where_it_stands(kind, text, words, tmp_path):
    (tmp_path / f"r.{kind}").write_text(text)
    with pytest.raises(KumitateError) as caught:
        km.load(tmp_path / f"r.{kind}")
    assert words in str(caught.value).replace(f"{tmp_path}/", "")


def test_bodies_may_be_named_like_infinity():
    text = '{"kumitate": 1, "name": "r", "bodies": [{"name": "inf"}], "joints": [%s]}'
    fixed = '{"name": "-inf", "kind": "fixed", "parent": "world", "child": "inf"}'
    from kumitate.model.read.json import from_json

    made = from_json(text % fixed)
    assert (made.bodies[0].name, made.joints[0].name) == ("inf", "-inf")
