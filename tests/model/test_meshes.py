"""Mesh files as surfaces: formats agree, hulls hold, thinning keeps shapes, and what is kept on disk spoils no result."""

from __future__ import annotations

import datetime
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.model import Mesh
from kumitate.model.meshes import Facets, decimated, hull, load_mesh
from kumitate.model.shapes import mesh_files

from ..robots import ROBOT_FILES

trimesh = pytest.importorskip("trimesh")
pytest.importorskip("fast_simplification")
pytest.importorskip("scipy")

TETRA = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]) + np.array([0.5, -0.25, 0.125])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
COLLADA = '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
UP = "<asset>{unit}<up_axis>{up}</up_axis></asset>"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def mesh(path: Path, scale=(1.0, 1.0, 1.0)) -> Mesh:
    return Mesh(path.name, scale, str(path))


def binary_stl(points, faces) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *np.asarray(points)[face].ravel(), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + rows


def ascii_stl(points, faces) -> bytes:
    lines = ["solid s"]
    for face in faces:
        corners = "".join(f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in np.asarray(points)[face].tolist())
        lines.append(f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet")
    return "\n".join([*lines, "endsolid s"]).encode()


def obj(points, faces, head: str = "") -> bytes:
    lines = [head, *("v {} {} {}".format(*p) for p in np.asarray(points).tolist())]
    return "\n".join([*lines, *("f {} {} {}".format(*(face + 1)) for face in np.asarray(faces))]).encode()


def geometry(points, primitive: str, name: str = "g", more: str = "") -> str:
    values = " ".join(map(repr, np.asarray(points).ravel().tolist()))
    array = f'<float_array id="{name}a" count="{np.size(points)}">{values}</float_array>'
    return (
        f'<geometry id="{name}"><mesh><source id="{name}p">{array}'
        f'<technique_common><accessor source="#{name}a" count="{len(points)}" stride="3"/></technique_common></source>{more}'
        f'<vertices id="{name}v"><input semantic="POSITION" source="#{name}p"/></vertices>{primitive}</mesh></geometry>'
    )


def triangles(faces, name: str = "g", material: str = "") -> str:
    indices = " ".join(map(str, np.asarray(faces).ravel()))
    return (
        f'<triangles count="{len(faces)}" material="{material}"><input semantic="VERTEX" source="#{name}v" offset="0"/>'
        f"<p>{indices}</p></triangles>"
    )


def dae(geometries: str, nodes: str, *, unit: str = "", up: str = "Z_UP", more: str = "") -> bytes:
    return (
        f'<?xml version="1.0" encoding="utf-8"?>{COLLADA}{UP.format(unit=unit, up=up)}{more}<library_geometries>{geometries}'
        f'</library_geometries><library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    ).encode()


def plain_dae(points, faces) -> bytes:
    return dae(geometry(points, triangles(faces)), '<node><instance_geometry url="#g"/></node>')


WRITERS = {"a.stl": binary_stl, "b.STL": ascii_stl, "c.obj": obj, "C.OBJ": obj, "d.dae": plain_dae, "D.DAE": plain_dae}


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def corners(surface: Facets) -> np.ndarray:
    """The triangles (m, 9), each begun at its least corner, in order: equal for equal surfaces."""
    found = surface.vertices[surface.faces]
    turned = [np.roll(t, -min(range(3), key=lambda k: tuple(t[k])), axis=0).ravel() for t in found]
    return np.array(sorted(map(tuple, turned)))


def volume(surface: Facets) -> float:
    a, b, c = surface.vertices[surface.faces].swapaxes(0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def ball(seed: int, count: int = 6) -> Facets:
    """A lumpy ball of 20·4ᵏ faces."""
    sphere = trimesh.creation.icosphere(subdivisions=count)
    bump = 1.0 + 0.05 * np.sin(np.random.default_rng(seed).uniform(2, 4, 3) * sphere.vertices).sum(axis=1)
    return Facets(sphere.vertices * bump[:, None], sphere.faces)


# --- formats ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", WRITERS)
def test_formats_give_the_same_surface(tmp_path, name):
    surface = load_mesh(mesh(written(tmp_path / name, WRITERS[name](TETRA, FACES))))
    assert surface.vertices.shape == (4, 3)  # those of one place are one
    np.testing.assert_array_equal(corners(surface), corners(Facets(TETRA, FACES)))
    assert surface.colors is None
    assert volume(surface) == pytest.approx(1.0)
    with pytest.raises(ValueError):
        surface.vertices[0] = 0.0


@pytest.mark.parametrize("scale", [(2.0, 1.0, 0.5), (-1.0, 1.0, 1.0), (-1.0, -2.0, 1.0), (-1.0, -1.0, -3.0)])
def test_the_outside_stays_outside_under_every_scale(tmp_path, scale):
    path = written(tmp_path / "t.stl", binary_stl(TETRA, FACES))
    for make in (load_mesh, hull, decimated):
        surface = make(mesh(path, scale))
        assert volume(surface) == pytest.approx(abs(np.prod(scale)))
        assert {tuple(v) for v in surface.vertices} == {tuple(v) for v in TETRA * scale}


def test_a_collada_scene_counts_with_its_transforms_and_unit_but_not_its_up_axis(tmp_path):
    nodes = (
        '<node><translate>10 0 0</translate><rotate>0 0 2 90</rotate><scale>1 1 -2</scale><instance_geometry url="#g"/></node>'
        '<node><matrix>1 0 0 1 0 1 0 2 0 0 1 3 0 0 0 1</matrix><node><instance_node url="#part"/></node></node>'
    )
    library = '<library_nodes><node id="part"><instance_geometry url="#g"/></node></library_nodes>'
    content = dae(geometry(TETRA, triangles(FACES)), nodes, unit='<unit meter="0.01"/>', up="Y_UP", more=library)
    surface = load_mesh(mesh(written(tmp_path / "scene.dae", content)))
    x, y, z = TETRA.T
    expected = np.concatenate([np.stack([10.0 - y, x, -2.0 * z], axis=1), TETRA + np.array([1.0, 2.0, 3.0])])
    order = lambda points: points[np.lexsort(np.round(points, 9).T)]  # noqa: E731
    np.testing.assert_allclose(order(surface.vertices), order(0.01 * expected), atol=1e-12)
    assert volume(surface) == pytest.approx(1e-6 * (2.0 + 1.0))  # the mirrored part too has its outside outside


SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
VERTEX = '<input semantic="VERTEX" source="#gv" offset="0"/><input semantic="NORMAL" source="#none" offset="1"/>'


@pytest.mark.parametrize(
    "primitive",
    [
        f"<polylist>{VERTEX}<vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>",
        f"<polylist>{VERTEX}<vcount>3 3</vcount><p>0 9 1 9 2 9 0 9 2 9 3 9</p></polylist>",
        f"<polygons>{VERTEX}<p>0 0 1 0 2 0 3 0</p></polygons>",
        f"<trifans>{VERTEX}<p>0 0 1 0 2 0 3 0</p></trifans>",
        f"<tristrips>{VERTEX}<p>1 0 2 0 0 0 3 0</p></tristrips>",
        f"<triangles>{VERTEX}<p>0 0 1 0 2 0 0 0 2 0 3 0</p></triangles>",
    ],
    ids=["polylist", "two polygons", "polygons", "trifans", "tristrips", "triangles"],
)
def test_collada_primitives_are_cut_into_triangles(tmp_path, primitive):
    content = dae(geometry(SQUARE, primitive), '<node><instance_geometry url="#g"/></node>')
    surface = load_mesh(mesh(written(tmp_path / "q.dae", content)))
    a, b, c = surface.vertices[surface.faces].swapaxes(0, 1)
    np.testing.assert_allclose(np.cross(b - a, c - a), [[0.0, 0.0, 1.0]] * 2)  # both face up


@pytest.mark.parametrize("seed", range(3))
def test_collada_agrees_with_pycollada(tmp_path, seed):
    pytest.importorskip("collada")
    ours = ball(seed, 2)
    path = written(tmp_path / "ball.dae", trimesh.Trimesh(ours.vertices, ours.faces, process=False).export(file_type="dae"))
    theirs = trimesh.load_scene(path, process=False).to_mesh()
    surface = load_mesh(mesh(path))
    np.testing.assert_allclose(corners(surface), corners(Facets(theirs.vertices, theirs.faces)), atol=1e-6)


# --- colours ----------------------------------------------------------------------------------------------------------
def test_colours_come_from_obj_materials(tmp_path):
    (tmp_path / "paint.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    lines = obj(TETRA, FACES, "mtllib paint.mtl").decode().splitlines()
    text = "\n".join([*lines[:5], "usemtl red", *lines[5:7], "usemtl blue", *lines[7:]])
    surface = load_mesh(mesh(written(tmp_path / "t.obj", text.encode())))
    assert sorted(map(tuple, surface.colors.tolist())) == [(0, 0, 255)] * 2 + [(255, 0, 0)] * 2
    (tmp_path / "paint.mtl").unlink()
    assert load_mesh(mesh(tmp_path / "t.obj")).colors is None


def collada_material(diffuse: str, parameters: str = "") -> str:
    return (
        f'<library_effects><effect id="e"><profile_COMMON>{parameters}<technique><phong><diffuse>{diffuse}</diffuse></phong>'
        '</technique></profile_COMMON></effect></library_effects><library_materials><material id="m">'
        '<instance_effect url="#e"/></material></library_materials>'
    )


BOUND = (
    '<node><instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="paint" target="#m"/>'
    "</technique_common></bind_material></instance_geometry></node>"
)


def test_colours_come_from_collada_materials_and_textures(tmp_path):
    plain = dae(geometry(TETRA, triangles(FACES, material="paint")), BOUND, more=collada_material("<color>0 0.5 1 1</color>"))
    assert load_mesh(mesh(written(tmp_path / "p.dae", plain))).colors.tolist() == [[0, 128, 255]] * 4
    image = pytest.importorskip("PIL.Image")
    picture = image.new("RGB", (2, 2), (255, 0, 0))
    picture.putpixel((1, 0), (0, 255, 0))  # upper right
    picture.save(tmp_path / "map.png")
    parameters = (
        '<newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>'
        '<newparam sid="t"><sampler2D><source>f</source></sampler2D></newparam>'
    )
    library = '<library_images><image id="i"><init_from>map.png</init_from></image></library_images>'
    accessor = '<technique_common><accessor stride="2"/></technique_common>'
    uv = f'<source id="uv"><float_array>0.1 0.1 0.9 0.9</float_array>{accessor}</source>'
    face = (
        '<triangles material="paint"><input semantic="VERTEX" source="#gv" offset="0"/>'
        '<input semantic="TEXCOORD" source="#uv" offset="1"/><p>0 0 1 0 2 0 0 1 2 1 3 1</p></triangles>'
    )
    more = library + collada_material('<texture texture="t" texcoord="UV"/>', parameters)
    path = written(tmp_path / "t.dae", dae(geometry(SQUARE, face, more=uv), BOUND, more=more))
    surface = load_mesh(mesh(path))
    assert {tuple(color) for color in surface.colors.tolist()} == {(255, 0, 0), (0, 255, 0)}
    (tmp_path / "map.png").unlink()
    assert len(load_mesh(mesh(path)).faces) == 2  # the geometry stays, whatever becomes of its picture


# --- what is refused --------------------------------------------------------------------------------------------------
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


def test_entities_are_refused_before_they_act(tmp_path):
    content = plain_dae(TETRA, FACES).replace(b"?><", b"?>" + LAUGHS + b"<", 1)
    with pytest.raises(InputError, match=r"document type.*remove the declaration"):
        load_mesh(mesh(written(tmp_path / "t.dae", content)))
    wide = content.decode().replace("utf-8", "utf-16").encode("utf-16")
    with pytest.raises(InputError, match="document type"):
        load_mesh(mesh(written(tmp_path / "t.dae", wide)))
    odd = plain_dae(TETRA, FACES).replace(b'encoding="utf-8"', b'encoding="cp1252"')
    with pytest.raises(InputError, match=r"encoding 'cp1252'.*UTF-8"):
        load_mesh(mesh(written(tmp_path / "t.dae", odd)))


def test_nodes_that_double_without_end_are_refused(tmp_path):
    doubling = "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(60)
    )
    content = dae(geometry(TETRA, triangles(FACES)), '<node><instance_node url="#n0"/></node>', more=doubling)
    with pytest.raises(InputError, match="without end"):
        load_mesh(mesh(written(tmp_path / "t.dae", content)))
    circle = dae(geometry(TETRA, triangles(FACES)), '<node id="n"><instance_node url="#n"/></node>')
    with pytest.raises(InputError, match="without end"):
        load_mesh(mesh(written(tmp_path / "t.dae", circle)))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.ply", b"ply", r"'\.ply' are not read; convert it to one of \.stl"),
        ("t.stl", binary_stl(TETRA, FACES)[:-20], "cannot be read"),
        ("t.stl", b"", r"cannot be read|no triangle"),
        ("t.obj", b"v 0 0 0\n", r"cannot be read|no triangle"),
        ("t.stl", binary_stl(np.full((4, 3), np.nan), FACES), "not finite"),
        ("t.dae", b"<COLLADA>", "malformed XML"),
        ("t.dae", b"PK\x03\x04", "malformed XML"),
        ("t.dae", dae(geometry(TETRA, triangles(FACES + 9)), '<node><instance_geometry url="#g"/></node>'), "not there"),
        ("t.dae", dae(geometry(TETRA, triangles(FACES)).replace("0.5", "half"), BOUND), "not numbers"),
        ("t.dae", dae("", "", unit='<unit meter="-1"/>'), "number above 0"),
        ("t.dae", dae("", ""), "no triangle"),
    ],
)
def test_broken_files_are_named(tmp_path, name, content, words):
    with pytest.raises(InputError, match=rf"t\.\w+.*(?:{words})"):
        load_mesh(mesh(written(tmp_path / name, content)))


def test_missing_files_and_packages_are_named(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"package://a/b\.stl.*ROS_PACKAGE_PATH"):
        load_mesh(Mesh("package://a/b.stl"))
    with pytest.raises(InputError, match=r"gone\.stl: cannot be read \(No such file or directory\); check the path"):
        hull(mesh(tmp_path / "gone.stl"))
    path = written(tmp_path / "t.stl", binary_stl(TETRA, FACES))
    with pytest.raises(InputError, match="faces=3 is too few"):
        decimated(mesh(path), 3)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    assert len(load_mesh(mesh(path)).faces) == len(FACES)  # a binary STL needs no package
    with pytest.raises(InputError, match=r"trimesh.*pip install 'kumitate\[mesh\]'"):
        load_mesh(mesh(written(tmp_path / "t.obj", obj(TETRA, FACES))))


# --- hulls and fewer faces --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_a_hull_holds_all_points(tmp_path, seed):
    points = np.random.default_rng(seed).normal(size=(300, 3)) * [1.0, 0.3, 0.05]
    path = written(tmp_path / "cloud.obj", obj(points, np.arange(300).reshape(-1, 3)))
    found = hull(mesh(path))
    assert {tuple(v) for v in found.vertices} <= {tuple(p) for p in points}
    a, b, c = found.vertices[found.faces].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    assert (np.einsum("fk,pfk->pf", normals, points[:, None] - a) <= 1e-9).all()  # no point is outside of any face
    assert len(found.vertices) - 1.5 * len(found.faces) + len(found.faces) == 2  # Euler: closed, of one piece


def test_flat_meshes_have_flat_hulls_and_lines_have_none(tmp_path):
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
    grid = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0), [0.0]), axis=-1).reshape(-1, 3) @ turn.T
    flat = hull(mesh(written(tmp_path / "flat.obj", obj(grid, np.arange(12).reshape(-1, 3)))))
    assert len(flat.vertices) == 4
    a, b, c = flat.vertices[flat.faces].swapaxes(0, 1)
    assert 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() == pytest.approx(2 * 6.0)
    line = np.outer(np.arange(6.0), [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"on one line.*use a"):
        hull(mesh(written(tmp_path / "line.obj", obj(line, np.arange(6).reshape(-1, 3)))))


@pytest.mark.parametrize("seed", range(3))
def test_thinning_keeps_the_shape(tmp_path, seed):
    whole = ball(seed)
    path = written(tmp_path / "ball.stl", binary_stl(whole.vertices, whole.faces))
    thin = decimated(mesh(path), 1000)
    assert 500 < len(thin.faces) <= 1250
    size = np.ptp(whole.vertices, axis=0).max()
    for end in (np.min, np.max):
        np.testing.assert_allclose(end(thin.vertices, axis=0), end(whole.vertices, axis=0), atol=0.01 * size)
    assert volume(thin) == pytest.approx(volume(whole), rel=0.01)


def test_loose_pieces_are_thinned_too(tmp_path):
    rng = np.random.default_rng(3)
    places = rng.uniform(size=(3000, 1, 3))
    points = (places + 1e-3 * rng.normal(size=(3000, 4, 3))).reshape(-1, 3)
    faces = (FACES[None] + 4 * np.arange(3000)[:, None, None]).reshape(-1, 3)
    thin = decimated(mesh(written(tmp_path / "dust.stl", binary_stl(points, faces))), 1000)
    assert 0 < len(thin.faces) <= 2500


def test_faces_keep_their_colours(tmp_path):
    whole = ball(0, 5)
    (tmp_path / "paint.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    upper = whole.vertices[whole.faces].mean(axis=1)[:, 2] > 0.0
    head, *lines = obj(whole.vertices, whole.faces, "mtllib paint.mtl").decode().splitlines()
    vertices, faces = lines[: len(whole.vertices)], np.array(lines[len(whole.vertices) :])
    text = "\n".join([head, *vertices, "usemtl red", *faces[upper], "usemtl blue", *faces[~upper]])
    thin = decimated(mesh(written(tmp_path / "ball.obj", text.encode())), 2000)
    height = thin.vertices[thin.faces].mean(axis=1)[:, 2]
    clear = np.abs(height) > 0.1
    assert (thin.colors[clear & (height > 0.0)] == [255, 0, 0]).all()
    assert (thin.colors[clear & (height < 0.0)] == [0, 0, 255]).all()


# --- what is kept -----------------------------------------------------------------------------------------------------
def test_what_was_made_is_kept_by_content(tmp_path, folder, monkeypatch):
    path = written(tmp_path / "t.obj", obj(TETRA, FACES, "mtllib p.mtl"))
    first = decimated(mesh(path))
    hull(mesh(path))
    assert len(list(folder.glob("*.npz"))) == 2
    calls = []
    read = mesh_files.read_surface
    monkeypatch.setattr(mesh_files, "read_surface", lambda *rest: calls.append(1) or read(*rest))
    copy = written(tmp_path / "elsewhere.obj", path.read_bytes())
    again = decimated(mesh(copy, (2.0, 2.0, 2.0)))
    assert not calls
    np.testing.assert_array_equal(again.vertices, 2.0 * first.vertices)
    for change in (
        lambda: (tmp_path / "p.mtl").write_text("newmtl a\nKd 1 0 0\n"),  # what it names is part of it
        lambda: path.write_bytes(obj(2.0 * TETRA, FACES)),
    ):
        change()
        decimated(mesh(path))
        decimated(mesh(path))
        assert len(calls) == 1
        calls.clear()
    decimated(mesh(path), 1000)  # of the surface that was read last
    assert not calls
    mesh_files._read_last.clear()
    decimated(mesh(path), 500)
    assert len(calls) == 1


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda raw: b"", lambda raw: b"x" + raw[1:]])
def test_a_damaged_entry_is_made_again(tmp_path, folder, damage):
    path = written(tmp_path / "t.stl", binary_stl(TETRA, FACES))
    whole = hull(mesh(path))
    (entry,) = folder.iterdir()
    raw = entry.read_bytes()
    entry.write_bytes(damage(raw))
    np.testing.assert_array_equal(hull(mesh(path)).vertices, whole.vertices)
    assert len(entry.read_bytes()) == len(raw)


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "file" / "cache"))
    path = written(tmp_path / "t.stl", binary_stl(TETRA, FACES))
    assert [len(hull(mesh(path)).vertices) for _ in range(2)] == [4, 4]


def test_processes_at_once_do_not_disturb_each_other(tmp_path, folder):
    whole = ball(1, 4)
    path = written(tmp_path / "ball.stl", binary_stl(whole.vertices, whole.faces))
    script = (
        "import sys\nfrom kumitate.model import Mesh\nfrom kumitate.model.meshes import decimated\n"
        "for k in range(5):\n    assert len(decimated(Mesh('ball', resolved=sys.argv[1]), 500 + k).faces) > 250\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(path)], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert [entry.suffix for entry in folder.iterdir()] == [".npz"] * 5


# --- real files -------------------------------------------------------------------------------------------------------
def real_meshes() -> list[Path]:
    return sorted(path for path in ROBOT_FILES.rglob("*") if path.suffix.lower() in (".stl", ".obj", ".dae") and path.is_file())


#: Some of the meshes, checked always; the slow test checks a quarter of the rest.
PARTS = ("g1_description/", "laikago_description/", "panda_description/", "hextilt_description/", "foot/")


def some_of(part: str) -> list[Path]:
    return [path for path in real_meshes() if part in path.as_posix()][:12]


def check_against_coal(paths: list[Path]) -> None:
    """The box of each mesh against that of Pinocchio's loader, Assimp with the up-axis ignored."""
    coal = pytest.importorskip("coal")
    loader = coal.MeshLoader(coal.NODE_TYPE.BV_AABB)  # the cheapest of its trees, of which nothing is asked here
    assert paths
    for path in paths:
        surface = load_mesh(mesh(path))
        theirs = np.array(loader.load(str(path), np.ones(3)).vertices())
        size = np.ptp(theirs, axis=0).max()
        for end in (np.min, np.max):
            found, expected = end(surface.vertices, axis=0), end(theirs, axis=0)
            np.testing.assert_allclose(found, expected, atol=1e-4 * size, err_msg=str(path))


@pytest.mark.parametrize("part", PARTS)
def test_meshes_of_robots_agree_with_pinocchio(part):
    check_against_coal(some_of(part))


@pytest.mark.slow
def test_other_meshes_of_example_robot_data_are_read():
    """A quarter of them, of every robot: each day another, so that all are read in four days."""
    done, day = {path for part in PARTS for path in some_of(part)}, datetime.date.today().toordinal()
    check_against_coal([path for path in real_meshes() if path not in done][day % 4 :: 4])
