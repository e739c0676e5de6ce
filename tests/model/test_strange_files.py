"""Files that are not what their names say: each is refused by the package's own error, which names the file, or is read.

Strange ones one by one, and then ordinary ones with a few bytes, words or elements changed at random; seeds are printed.
"""

import os
import random
import re
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateError, ModelError
from kumitate.model.meshes import load_mesh
from kumitate.model.read.json import from_json, to_json
from kumitate.model.read.sdf import read_sdf
from kumitate.model.read.srdf import read_srdf
from kumitate.model.read.urdf import read_urdf
from kumitate.model.shapes import collada
from kumitate.model.shapes.mesh_files import read_surface
from kumitate.model.shapes.surfaces import SideFiles, texture_colors

LINK = '<link name="{}"><inertial><mass value="1.5"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{}</link>'


def with_mesh(uri):
    shape = f'<visual><geometry><mesh filename="{uri}" scale="1 2 3"/></geometry></visual>'
    return f'<robot name="r">{LINK.format("a", shape)}</robot>'


def refused(path, *words, error=ModelError):
    with pytest.raises(error) as caught:
        km.load(path)
    for part in words:
        assert part in str(caught.value)


# --- one by one ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "encoding", ["utf-7", "idna", "punycode", "utf-16-be", "shift_jis", "undefined", "zip", "no-such", "\\x00"]
)
@pytest.mark.parametrize("suffix", ["urdf", "sdf"])
def test_encodings_that_the_parser_cannot_read_are_named(encoding, suffix, tmp_path):
    path = tmp_path / f"r.{suffix}"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"/>')
    with pytest.raises(ModelError, match=rf"r\.{suffix}:1: .*(encoding|XML)"):
        km.load(path)


def test_a_single_byte_encoding_is_read(tmp_path):
    (tmp_path / "r.urdf").write_bytes(
        '<?xml version="1.0" encoding="cp1252"?><robot name="é"><link name="a"/></robot>'.encode("cp1252")
    )
    assert km.load(tmp_path / "r.urdf").name == "é"


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "json"])
def test_pipes_folders_devices_and_impossible_names_are_no_files(suffix, tmp_path):
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    refused(tmp_path / f"pipe.{suffix}", f"pipe.{suffix}: is not a regular file but a pipe; give the path of a file")
    (tmp_path / f"folder.{suffix}").mkdir()
    refused(tmp_path / f"folder.{suffix}", f"folder.{suffix}: cannot be read (Is a directory); check the path, seen from")
    (tmp_path / f"zeros.{suffix}").symlink_to("/dev/zero")
    refused(tmp_path / f"zeros.{suffix}", "is not a regular file but a device")
    refused(f"{'x' * 5000}.{suffix}", "'…: cannot be read (File name too long)")
    refused(f"a\0b.{suffix}", "cannot be read (embedded null byte)")
    refused(f"~no-such-user/a.{suffix}", "cannot be read (Could not determine home directory")
    refused(tmp_path / "gone" / f"r.{suffix}", "cannot be read (No such file or directory)")


@pytest.mark.parametrize(
    "uri",
    [
        "package://[::1/x", "http://[::1", "model://", "package://", "file://", "://", "package://p/" + "x" * 5000 + ".stl",
        "x" * 5000, "package://" + "p" * 5000 + "/m.stl", "%00.stl", "~/m.stl", "http://host/m.stl",
    ],
)  # fmt: skip
def test_names_of_meshes_may_be_anything_and_are_not_found(uri, tmp_path):
    (tmp_path / "r.urdf").write_text(with_mesh(uri))
    with pytest.warns(UserWarning, match="meshes not found"):
        (shape,) = read_urdf(tmp_path / "r.urdf").bodies[0].visuals
    assert (shape.shape.path, shape.shape.resolved) == (uri, None)


def mechanism(**fields):
    """The text of an empty mechanism with some fields in other words."""
    plain = {"kumitate": "1", "name": '"r"', "bodies": "[]", "joints": "[]"} | fields
    return "{" + ", ".join(f'"{name}": {text}' for name, text in plain.items()) + "}"


def body(shape):
    return mechanism(bodies=f'[{{"name": "a", "visuals": [{{"shape": {shape}}}]}}]')


def joint(kind):
    return mechanism(joints=f'[{{"name": "j", "kind": {kind}, "parent": "a", "child": "b"}}]')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (mechanism(gravity=f"[1{'0' * 400}, 0, 0]"), "gravity [m/s²] is (inf, 0.0, 0.0)"),
        (mechanism(gravity=f"[1{'0' * 5000}, 0, 0]"), "not valid JSON: Exceeds"),
        (mechanism(name=f"1{'0' * 4000}"), "the name is 1000"),
        (mechanism(name="[" * 400 + "]" * 400), "the name is (((("),
        (
            mechanism(name="[" * 5000 + "]" * 5000),
            "its lists and objects stand too deep in one another; a mechanism needs less",
        ),
        (mechanism(name='{"a":' * 400 + "0" + "}" * 400), "the name is {'a': {'a': "),
        (mechanism(name='"\\ud800"'), r"the name is '\ud800'"),
        (mechanism(bodies='{"a": 1}'), "{'a': 1} stands where a list is expected"),
        (mechanism(loops="3"), "3 stands where a list is expected"),
        (mechanism(kumitate="[1]"), "format version [1]"),
        (body('{"kind": []}'), "{'kind': []} is not a shape; its kind must be one of box"),
        (body("[]"), "[] is not a shape; its kind must be one of box"),
        (joint("[]"), "unknown kind (); the kinds are cylindrical"),
        (joint('{"kind": {}}'), "{'kind': {}} is not a kind; write the name of one without parameters"),
    ],
)
def test_json_that_is_no_mechanism(text, words):
    with pytest.raises(ModelError) as caught:
        from_json(text, "r.json")
    assert str(caught.value).startswith("r.json: ")
    assert words in str(caught.value)


# --- meshes -------------------------------------------------------------------------------------------------------------------
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n"


def surface(name, data, folder=Path("/nowhere")):
    return read_surface(data, Path(name), SideFiles(folder))


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("m.obj", OBJ.replace(b"v 0 0 1", b"v 0 0"), "cannot be read as .obj"),
        ("m.obj", re.sub(rb"(v \S+ \S+) \S+", rb"\1", OBJ), "its vertices have the shape (4, 2), where three columns are"),
        ("m.obj", OBJ.replace(b"f 1 3 4", b"f 1 3 9"), "cannot be read as .obj"),
        ("m.obj", b"", "m.obj: "),
        ("m.obj", b"\xff\xfe\x00" * 50, "m.obj: "),
        ("m.stl", b"\xff" * 200, "it is neither of the binary kind nor text in UTF-8"),
        ("m.stl", b"solid a\nfacet", "m.stl: "),
        ("m.stl", b"\0" * 80 + b"\xff\xff\xff\xff" + b"\0" * 50, "m.stl: "),
        ("m.stl", b"", "m.stl: "),
    ],
)
def test_meshes_that_are_damaged_are_named(name, data, words, capfd):
    with pytest.raises(InputError) as caught:
        surface(name, data)
    assert str(caught.value).startswith(f"{name}: ")
    assert words in str(caught.value)
    assert capfd.readouterr() == ("", "")  # what the loaders say on the way is not ours


def test_names_in_an_obj_may_be_in_any_encoding():
    assert len(surface("m.obj", b"o caf\xe9\n" + OBJ).faces) == 2


DAE = (
    '<?xml version="1.0"?><COLLADA><library_geometries><geometry id="g"><mesh><source id="p"><float_array>0 0 0 1 0 0 0 1 0 '
    '0 0 1</float_array><technique_common><accessor stride="3"/></technique_common></source><vertices id="v"><input '
    'semantic="POSITION" source="#p"/></vertices>{}</mesh></geometry></library_geometries>{}</COLLADA>'
)
INPUT = '<input semantic="VERTEX" source="#v" offset="0"/>'


@pytest.mark.parametrize(
    "primitive",
    [
        f"<polylist>{INPUT}<vcount>1e9</vcount><p>0 1 2</p></polylist>",
        f"<polylist>{INPUT}<vcount>-3 6</vcount><p>0 1 2</p></polylist>",
        f"<polylist>{INPUT}<vcount>nan</vcount><p>0 1 2</p></polylist>",
        f"<polylist>{INPUT}<p>0 1 2</p></polylist>",
        f"<triangles>{INPUT}<p>0 1 9</p></triangles>",
        f"<triangles>{INPUT}<p>0 1 -1</p></triangles>",
        f"<triangles>{INPUT}<p>0 1 x</p></triangles>",
        f"<triangles>{INPUT.replace('0', '-1')}<p>0 1 2</p></triangles>",
        f"<triangles>{INPUT.replace('0', '999999999999')}<p>0 1 2</p></triangles>",
        "<triangles><p>0 1 2</p></triangles>",
    ],
)
def test_collada_whose_numbers_do_not_fit_is_named(primitive):
    with pytest.raises(InputError, match=r"^m\.dae: "):
        surface("m.dae", DAE.format(primitive, "").encode())


def test_collada_with_a_stride_of_nothing_is_named():
    text = DAE.format(f"<triangles>{INPUT}<p>0 1 2</p></triangles>", "").replace('stride="3"', 'stride="0"')
    with pytest.raises(InputError, match=r"^m\.dae: malformed COLLADA \(ZeroDivisionError"):
        surface("m.dae", text.encode())


def test_collada_that_shows_one_geometry_too_often_is_refused(monkeypatch):
    """A hundred kB of nodes can be ten billion triangles."""
    monkeypatch.setattr(collada, "_MOST_FACES", 5000)
    triangles = f"<triangles>{INPUT}<p>{'0 1 2 ' * 100}</p></triangles>"
    nodes = "<library_visual_scenes><visual_scene id='s'>{}</visual_scene></library_visual_scenes><scene>{}</scene>".format(
        "<node><instance_geometry url='#g'/></node>" * 2000, "<instance_visual_scene url='#s'/>"
    )
    with pytest.raises(InputError, match=r"m\.dae: its nodes show more than 5000 triangles; decimate the mesh first"):
        surface("m.dae", DAE.format(triangles, nodes).encode())


def test_a_picture_that_unpacks_to_gigabytes_is_not_looked_at():
    """A black PNG of 40 000 × 40 000 pixels: rows of zeros compress to nothing."""

    def chunk(name, content):
        return len(content).to_bytes(4, "big") + name + content + zlib.crc32(name + content).to_bytes(4, "big")

    side = (40_000).to_bytes(4, "big")
    parts = (b"IHDR", side + side + b"\x01\0\0\0\0"), (b"IDAT", zlib.compress(bytes(10**6))), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert texture_colors(png, np.zeros((1, 3, 2))) is None


def test_meshes_that_are_no_files_are_named(tmp_path):
    os.mkfifo(tmp_path / "pipe.stl")
    strange = {"pipe.stl": "is not a regular file but a pipe", ".": "Is a directory", "gone.stl": "No such file"}
    for path, words in strange.items():
        with pytest.raises(InputError, match=words):
            load_mesh(km.Mesh(path, resolved=str(tmp_path / path)))


# --- changed at random --------------------------------------------------------------------------------------------------------
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
A = """<visual><origin xyz="0 0 1" rpy="0 1 0"/><geometry><mesh filename="package://p/m.stl"/></geometry>
<material name="red"/></visual><collision><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>"""
TURN = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="3"/><dynamics damping="1"/>'
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
WORDS = [
    "nan", "inf", "-inf", "-1", "0", "1e308", "1e400", "-0", "1e-320", "1,5", "1_0", "0x10", "true", "null", "world",
    "__model__", "a", "b", "c", "f", "j", "k", "#g", "99999999999", "-99999999999", "fixed", "ball", "floating", "planar",
    "continuous", "universal", "gearbox", "helical", "line", "a::b", "..", "/", "7.x", "[]", "{}", "\\ud800", "9" * 400,
    "x" * 5000, "", " ", "1 2", "1 2 3 4", "é", "<!-- -->", "&amp;", "&#0;", "\0",
]  # fmt: skip
#: Values, words, elements and lists; nothing stands for any place.
PATTERNS = (
    rb'"[^"]*"', rb"'[^']*'", rb"(?<=[>,\[ ])[-+.\w]+(?=[<,\] ])", rb"<[^<>/]*/>", rb"<(\w+)[^<>]*>[^<>]*</\1>",
    rb"\[[^\[\]]*\]", b"",
)  # fmt: skip


def changed(text: bytes, rng: random.Random) -> bytes:
    """Some words, values or elements replaced, left out or doubled, or some bytes changed."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        pattern = rng.choice(PATTERNS)
        found = list(re.finditer(pattern, text)) if pattern else []
        if not found:
            at, size = rng.randrange(len(text) + 1), rng.choice((0, 1, 8, 100))
            instead = rng.choice((b"", rng.randbytes(rng.choice((1, 4))), text[at : at + size] * 2))
            text = text[:at] + instead + text[at + size :]
            continue
        one = rng.choice(found)
        quote = one[0][:1] if one[0][:1] in (b'"', b"'") else b""
        word = rng.choice((*(w.encode() for w in WORDS), rng.choice(found)[0].strip(b"\"'")))
        text = text[: one.start()] + rng.choice((quote + word + quote, one[0] * 2, b"")) + text[one.end() :]
    return text


def saved(suffix, folder):
    ball = km.Body("ball", 1.0, inertia=(1, 1, 1), collisions=(km.Geometry(km.Sphere(0.1)),))
    one = km.Mechanism("one", (ball,), (km.Joint("slide", "prismatic", "world", "ball"),))
    return km.simulate(one, [0.101], duration=0.01, contact="rigid").save(folder / f"run{suffix}").read_bytes()


def sources(kind, folder):
    if kind == "json":
        made = [km.load(name).mechanism for name in ("governor", "four_bar")] + [read_urdf(URDF)]
        return [to_json(mechanism).encode() for mechanism in made]
    triangles = np.zeros(4, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    triangles["corners"] = np.random.default_rng(0).normal(size=(4, 3, 3))
    text = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    return {
        "urdf": lambda: [URDF.encode()],
        "sdf": lambda: [SDF.encode()],
        "srdf": lambda: [SRDF.encode()],
        "obj": lambda: [b"mtllib a.mtl\nusemtl red\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nf 1/1/1 2/2/1 3/3/1\n" + OBJ],
        "stl": lambda: [b"\0" * 80 + b"\4\0\0\0" + triangles.tobytes(), b"solid a\n" + text * 3 + b"endsolid a\n"],
        "dae": lambda: [DAE.format(f"<triangles>{INPUT}<p>0 1 2 0 2 3</p></triangles>", "").encode()],
        "h5": lambda: [saved(".h5", folder)],
        "npz": lambda: [saved(".npz", folder)],
    }[kind]()


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("json", 80),
        ("urdf", 150),
        ("sdf", 80),
        ("srdf", 150),
        ("obj", 60),
        ("stl", 60),
        ("dae", 80),
        ("h5", 60),
        ("npz", 120),
    ],
)
def test_files_that_are_changed_at_random_are_read_or_refused(kind, count, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        originals, robot = sources(kind, tmp_path), read_urdf(URDF)
        path = tmp_path / f"changed.{kind}"
        read = {
            "srdf": lambda: read_srdf(path, robot),
            "h5": lambda: km.open(path),
            "npz": lambda: km.open(path),
            **dict.fromkeys(("obj", "stl", "dae"), lambda: surface(str(path), path.read_bytes(), tmp_path)),
        }.get(kind, lambda: to_json(km.load(path).mechanism))
        for original in originals:
            path.write_bytes(original)
            read()  # as it is, it can be read
        for seed in range(count):
            print("seed", seed)  # of a failure, the last one counts
            rng = random.Random(seed)
            path.write_bytes(changed(rng.choice(originals), rng))
            try:
                read()
            except KumitateError as error:
                said = str(error)
            else:
                continue
            assert str(path) in said


def test_a_text_of_hdf5_that_lies_in_a_damaged_heap_is_refused(tmp_path):
    """The library's own reader goes round in such a heap for ever."""
    data = bytearray(saved(".h5", tmp_path))
    heap = data.index(b"GCOL\x01")
    data[heap + 24 : heap + 32] = (2**64 - 16).to_bytes(8, "little")  # the size of its first text leads back to its start
    (tmp_path / "run.h5").write_bytes(data)
    with pytest.raises(InputError, match=r"run\.h5: is damaged \(a text is not where the file says\)"):
        km.open(tmp_path / "run.h5")


def test_what_is_changed_is_still_like_the_kind():
    """Otherwise every change would be found by the parser alone."""
    rng = random.Random(1)
    parsed = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(100):
            for text, read in ((URDF, read_urdf), (SDF, read_sdf)):
                try:
                    read(changed(text.encode(), rng).decode(errors="replace"))
                    parsed += 1
                except KumitateError as error:
                    parsed += "malformed XML" not in str(error)
    print(parsed, "of 200 are still XML")
    assert parsed > 60
