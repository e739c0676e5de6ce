"""Files that are not what their names say: each is refused by the package's own error, which names the file, or is read.

Strange ones one by one; tests/fuzz changes ordinary ones at random.
"""

import os
import re
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, ModelError
from kumitate.model.meshes import load_mesh
from kumitate.model.read.json import from_json
from kumitate.model.read.urdf import read_urdf
from kumitate.model.shapes import mesh_files
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
    monkeypatch.setattr(mesh_files, "_MOST_FACES", 5000)
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


def saved(suffix, folder):
    ball = km.Body("ball", 1.0, inertia=(1, 1, 1), collisions=(km.Geometry(km.Sphere(0.1)),))
    one = km.Mechanism("one", (ball,), (km.Joint("slide", "prismatic", "world", "ball"),))
    return km.simulate(one, [0.101], duration=0.01, contact="rigid").save(folder / f"run{suffix}").read_bytes()


def test_a_text_of_hdf5_that_lies_in_a_damaged_heap_is_refused(tmp_path):
    """The library's own reader goes round in such a heap for ever."""
    data = bytearray(saved(".h5", tmp_path))
    heap = data.index(b"GCOL\x01")
    data[heap + 24 : heap + 32] = (2**64 - 16).to_bytes(8, "little")  # the size of its first text leads back to its start
    (tmp_path / "run.h5").write_bytes(data)
    with pytest.raises(InputError, match=r"run\.h5: is damaged \(a text is not where the file says\)"):
        km.open(tmp_path / "run.h5")
