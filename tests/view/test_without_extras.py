"""Where only the core is installed, whatever needs an extra says its name, as an InputError; everything else works."""

import sys

import pytest

import kumitate as km
from kumitate.cli.app import run as command
from kumitate.compile.exports import to_casadi, to_sympy
from kumitate.control.whole_body import WholeBodyController
from kumitate.errors import InputError
from kumitate.lagrange.symbols import sympy_module
from kumitate.model.meshes import decimated, hull, load_mesh, touching_hull

EXTRAS = (
    "PIL", "casadi", "coacd", "fast_simplification", "h5py", "imageio_ffmpeg", "matplotlib", "mcap_ros2", "mpl_toolkits",
    "mujoco", "pandas", "pinocchio", "proxsuite", "pyarrow", "scipy", "sympy", "trimesh", "viser",
)  # fmt: skip
FACET = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 {}\nendloop\nendfacet\nendsolid\n"


@pytest.fixture
def core_only(monkeypatch, tmp_path):
    """Python as it is without the extras: their modules cannot be imported."""
    for name in [*EXTRAS, *(name for name in sys.modules if name.partition(".")[0] in EXTRAS)]:
        monkeypatch.setitem(sys.modules, name, None)
    sympy_module.cache_clear()  # another test may have loaded it
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def run():
    return km.simulate(km.load("pendulum"), duration=0.05)


def mesh(tmp_path, height):
    (tmp_path / "m.stl").write_text(FACET.format(height))
    return km.Mesh("m.stl", resolved=str(tmp_path / "m.stl"))


PLOT = "matplotlib, which is not installed; pip install 'kumitate[plot]' installs it"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run, _: run.plot("x.png"), PLOT),
        (lambda run, _: run.snapshots("x.pdf"), PLOT),
        (lambda run, _: run.animate("x.gif"), PLOT),
        (lambda run, _: run.plot_balance("x.png"), PLOT),
        (lambda run, _: run.plot_momentum("x.png"), PLOT),
        (lambda run, _: run.plot_power("x.png"), PLOT),
        (
            lambda run, _: run.save("x.h5"),
            "h5py, which is not installed; pip install 'kumitate[hdf5]' installs it, or save as .npz",
        ),
        (lambda run, _: run.figure(), PLOT),
        (lambda run, _: run.to_pandas(), "need pandas, which is not installed; pip install 'kumitate[table]'"),
        (lambda run, _: run.export("x.parquet"), "need pyarrow, which is not installed; pip install 'kumitate[table]'"),
        (lambda run, _: run.export("x.mcap"), "need mcap-ros2-support, which is not installed; pip install 'kumitate[mcap]'"),
        (lambda run, _: run.export("x.mp4"), "need imageio-ffmpeg, which is not installed; pip install 'kumitate[film]'"),
        (
            lambda run, _: km.lagrange.of_mechanism(run.mechanism),
            "SymPy, which is not installed; pip install 'kumitate[lagrange]'",
        ),
        (lambda run, _: km.lagrange.coordinates("a b"), "SymPy, which is not installed; pip install 'kumitate[lagrange]'"),
        (
            lambda run, _: to_sympy(run.robot.compile("energy").program),
            "SymPy, which is not installed; pip install 'kumitate[lag",
        ),
        (
            lambda run, _: to_casadi(run.robot.compile("energy").program),
            "CasADi, which is not installed; pip install 'kumitate[cas",
        ),
        (lambda run, _: WholeBodyController(run.robot, []), "needs ProxQP, which is not installed; pip install 'kumitate[qp]'"),
        (lambda run, folder: load_mesh(mesh(folder, 1)), "trimesh, which is not installed; pip install 'kumitate[mesh]'"),
        (lambda run, folder: hull(mesh(folder, 2)), "trimesh, which is not installed; pip install 'kumitate[mesh]'"),
        (lambda run, folder: touching_hull(mesh(folder, 3)), "trimesh, which is not installed; pip install 'kumitate[mesh]'"),
        (lambda run, folder: decimated(mesh(folder, 4)), "trimesh, which is not installed; pip install 'kumitate[mesh]'"),
    ],
)
def test_what_needs_an_extra_names_it(call, words, run, core_only, tmp_path):
    with pytest.raises(InputError) as caught:
        call(run, tmp_path)
    assert words in str(caught.value)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "x."))]  # nothing half written


def test_a_file_of_hdf5_names_it_too(run, tmp_path, monkeypatch):
    path = run.save(tmp_path / "run.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"h5py, which is not installed; pip install 'kumitate\[hdf5\]'"):
        km.open(path)


def test_all_else_works(core_only, tmp_path, capsys):
    run = km.simulate(km.load("pendulum"), duration=0.05)
    assert run.page("run.html").stat().st_size > 10_000
    assert len(km.open(run.save("run.npz"))) == 51
    assert command(["simulate", "pendulum", "--duration", "0.05"]) == 0
    out, err = capsys.readouterr()
    assert "result.npz" in out
    assert "graphs are left out: they need matplotlib; pip install 'kumitate[plot]'" in " ".join(err.split())


def test_what_is_offered_as_a_whole_is_a_module(monkeypatch):
    """`lagrange` is a function in it, too."""
    for name in ("control", "convert", "lagrange"):
        monkeypatch.delitem(vars(km), name, raising=False)
        assert getattr(km, name).__name__ in (f"kumitate.{name}", f"kumitate.model.{name}")
