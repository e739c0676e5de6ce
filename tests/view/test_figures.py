"""Figures, snapshots and animations of hand-made motions: what is on them, that files are whole, that nonsense is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Sphere
from kumitate.records.record import Energy, Record
from kumitate.spatial import pose

mpl = pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")
font_manager = pytest.importorskip("matplotlib.font_manager")
pytest.importorskip("matplotlib.figure")

from kumitate.view.drawing_window import Stage  # noqa: E402
from kumitate.view.figures import figure, plot  # noqa: E402
from kumitate.view.outlines import Silhouettes, View, broadside  # noqa: E402
from kumitate.view.panels import PANELS, panels_of  # noqa: E402
from kumitate.view.snapshots import animate, snapshots, snapshots_figure  # noqa: E402
from kumitate.view.style import print_style  # noqa: E402

ROD = {"mass": 1.0, "center_of_mass": (0, 0, 0.5), "inertia": (1 / 12, 1 / 12, 0.0)}
MAGIC = {".pdf": b"%PDF", ".eps": b"%!PS", ".png": b"\x89PNG", ".svg": b"<?xml"}
DRAWN = [*MAGIC]


def made(mechanism: Mechanism, n: int = 101, span: float = 2.0, **changes) -> Record:
    time = np.linspace(0.0, span, n)
    q, v = (np.sin(np.outer(time, 1.0 + np.arange(k))) for k in (mechanism.nq, mechanism.nv))
    kinetic = np.cos(time) ** 2
    values = {"q": q, "v": v, "a": -v, "tau": 2 * v, "center_of_mass": np.zeros((n, 3)), "momentum": np.ones((n, 6))}
    return Record(mechanism, time, **{**values, **changes}, energy=Energy(kinetic, 1 - kinetic, np.ones(n)))


@pytest.fixture(scope="module")
def pendulum() -> Record:
    joints = (
        Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        Joint("elbow", "revolute", "upper", "lower", pose(xyz=(0, 0, 1.0)), axis=(0, 1, 0)),
    )
    return made(Mechanism("double pendulum", (Body("upper", **ROD), Body("lower", **ROD)), joints))


@pytest.fixture(scope="module")
def robot() -> Record:
    """A floating base with 14 joints and one slider."""
    bodies = [Body("trunk", 5.0, inertia=(0.1, 0.2, 0.2))]
    joints = [Joint("free", "floating", "world", "trunk")]
    for k in range(15):
        bodies.append(Body(f"part{k}", **ROD))
        kind = "prismatic" if k == 14 else "revolute"
        parent = "trunk" if k % 5 == 0 else f"part{k - 1}"
        joints.append(Joint(f"joint{k}", kind, parent, f"part{k}", pose(xyz=(0, 0.2 * k, 1.0)), axis=(0, 1, 0)))
    result = made(Mechanism("robot", tuple(bodies), tuple(joints)))
    tau = np.array(result.tau)
    tau[:, :6] = 0.0
    return replace(result, tau=tau)


def chain_poses(result: Record) -> np.ndarray:
    """Poses of the double pendulum: turns about y."""

    def turn(angle: np.ndarray) -> np.ndarray:
        X = np.tile(np.eye(4), (len(angle), 1, 1))
        X[:, 0, 0] = X[:, 2, 2] = np.cos(angle)
        X[:, 0, 2], X[:, 2, 0] = np.sin(angle), -np.sin(angle)
        return X

    upper = turn(result.q[:, 0])
    step = np.eye(4)
    step[2, 3] = 1.0
    return np.stack([upper, upper @ step @ turn(result.q[:, 1])], axis=1)


# --- panels and plots -------------------------------------------------------------------------------------------------
def test_the_panels_of_an_arm_are_those_of_the_thesis(pendulum):
    panels = panels_of(pendulum)
    assert [panel.unit for panel in panels] == ["deg", "deg/s", "deg/s²", "N·m", "J"]
    assert panels[0].names == ("shoulder", "elbow")
    assert np.allclose(panels[0].values, np.rad2deg(pendulum.q))
    assert np.array_equal(panels_of(pendulum, "q", degrees=False)[0].values, pendulum.q)


def test_floating_bases_show_their_center_of_mass_too(robot):
    quantities = [panel.quantity for panel in panels_of(robot)]
    assert quantities[-3:] == ["Center of mass", "Velocity of center of mass", "Energy"]
    assert "Base torque" not in quantities  # nothing drives the base, and there are joints to show
    velocity = panels_of(robot, "center_of_mass_velocity")[0]
    assert velocity.unit == "m/s"
    assert np.allclose(velocity.values, robot.momentum[:, 3:] / sum(body.mass for body in robot.mechanism.bodies))


def test_units_are_never_mixed(robot):
    panels = panels_of(robot, ["q", "v", "tau", "center_of_mass", "momentum"])
    found = [(panel.quantity, panel.unit, len(panel.names)) for panel in panels]
    assert found == [
        ("Base quaternion", "", 4), ("Base position", "m", 3), ("Joint angle", "deg", 14), ("Slider position", "m", 1),
        ("Base angular velocity", "deg/s", 3), ("Base velocity", "m/s", 3), ("Joint angular velocity", "deg/s", 14),
        ("Slider velocity", "m/s", 1), ("Joint torque", "N·m", 14), ("Slider force", "N", 1), ("Center of mass", "m", 3),
        ("Angular momentum about origin", "kg·m²/s", 3), ("Linear momentum", "kg·m/s", 3),
    ]  # fmt: skip
    assert np.array_equal(panels[0].values, robot.q[:, :4])
    assert np.array_equal(panels[5].values, robot.v[:, 3:6])
    assert np.array_equal(panels[9].values, robot.tau[:, -1:])


def test_curves_carry_units_names_and_values(pendulum):
    axes = figure(pendulum).axes
    assert [place.get_ylabel() for place in axes] == ["[deg]", "[deg/s]", "[deg/s²]", "[N·m]", "[J]"]
    assert axes[0].get_title(loc="left") == "(a) Joint angle"
    assert [line.get_label() for line in axes[4].lines] == ["kinetic", "potential", "total"]
    assert np.allclose(axes[0].lines[1].get_ydata(), np.rad2deg(pendulum.q[:, 1]))
    assert axes[4].get_xlabel() == "Time [s]"


def test_many_joints_share_one_legend(robot):
    drawn = figure(robot)
    shared = [text.get_text() for legend in drawn.legends for text in legend.get_texts()]
    assert sorted(shared) == sorted(f"joint{k}" for k in range(14))
    styles = {(line.get_color(), line.get_linestyle()) for line in drawn.axes[2].lines}
    assert len(styles) > 1


@pytest.mark.parametrize("suffix", DRAWN)
def test_every_format_is_written_whole(tmp_path, pendulum, suffix):
    target = plot(pendulum, tmp_path / f"run{suffix}", ["q", "energy"])
    assert target.read_bytes().startswith(MAGIC[suffix])
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("suffix", [".pdf", ".svg", ".png"])
def test_the_same_result_gives_the_same_bytes(tmp_path, pendulum, suffix):
    first, second = (plot(pendulum, tmp_path / f"{k}{suffix}", "energy").read_bytes() for k in range(2))
    assert first == second


def test_drawing_leaves_the_settings_of_matplotlib_alone(pendulum):
    before = dict(mpl.rcParams)
    figure(pendulum)
    assert dict(mpl.rcParams) == before


def test_names_take_a_japanese_font_where_there_is_one(monkeypatch):
    manager = font_manager.fontManager
    for known, last in ((["DejaVu Sans"], "DejaVu Sans"), (["Yu Gothic", "IPAGothic"], "IPAGothic")):
        monkeypatch.setattr(manager, "get_font_names", lambda known=known: known)
        with print_style():
            assert mpl.rcParams["font.family"][-1] == last


def test_constant_single_and_unfinished_runs_are_drawn(pendulum):
    n = len(pendulum)
    still = replace(pendulum, q=np.full((n, 2), 1e-17), v=np.full((n, 2), 3.0))
    assert figure(still).axes[0].get_ylim() == (-1.0, 1.0)
    gone = np.array(pendulum.q)
    gone[50:] = np.inf
    figure(replace(pendulum, q=gone))
    figure(made(pendulum.mechanism, n=1))


def test_plots_refuse_what_they_cannot_do(tmp_path, pendulum):
    with pytest.raises(InputError, match=r"run\.jpg.*\.pdf"):
        plot(pendulum, tmp_path / "run.jpg")
    with pytest.raises(InputError, match=r"'speed'.*center_of_mass"):
        plot(pendulum, tmp_path / "run.pdf", ["speed"])
    with pytest.raises(InputError, match="folder"):
        plot(pendulum, tmp_path / "absent" / "run.pdf")
    with pytest.raises(InputError, match="0 times"):
        plot(made(pendulum.mechanism, n=0), tmp_path / "run.pdf")
    assert not list(tmp_path.iterdir())


def test_all_panels_fit_on_one_page(tmp_path, robot):
    # forces at joints need dynamics, which this hand-made robot without inertia about its rods has not
    drawn = figure(robot, [name for name in PANELS if name != "joint_forces"])
    boxes = [place.get_position() for place in drawn.axes]
    assert all(0.0 < box.x0 < box.x1 <= 1.0 and 0.0 < box.y0 < box.y1 < 1.0 for box in boxes)


# --- drawings ---------------------------------------------------------------------------------------------------------
def test_a_motion_in_a_plane_is_seen_square_on(pendulum):
    poses = chain_poses(pendulum)
    assert np.array_equal(View.of_motion(poses).axes, View.along(1).axes)
    cycled = np.eye(4)[[2, 0, 1, 3]]  # x → y → z: the plane x-z becomes y-x
    assert np.array_equal(View.of_motion(cycled @ poses).axes, View.along(2).axes)
    tilted = np.array(poses)
    tilted[-1, 1, 1, 3] = 0.5
    assert not View.of_motion(tilted).plane


def test_a_motion_along_a_wall_is_seen_broadside():
    along = np.array([0.48, -0.72, 0.0])
    points = np.outer(np.sin(np.arange(50.0)), along) + np.outer(np.cos(np.arange(50.0)), [0.0, 0.0, 1.0])
    eye = View.from_angles(broadside(points), 0.0).axes[2]
    assert eye[1] < 0.0
    assert abs(eye @ along) / np.linalg.norm(along) == pytest.approx(np.sin(np.radians(25.0)))
    everywhere = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    assert broadside(everywhere) == broadside(np.zeros((1, 3))) == np.radians(-52.0)


def test_falling_far_does_not_make_a_motion_flat():
    poses = np.tile(np.eye(4), (3, 2, 1, 1))
    poses[:, 1, :2, 3] = 0.5  # two bodies across a corner from one another, falling straight down
    poses[:, :, 2, 3] = [[0.0], [-5.0], [-40.0]]
    assert not View.of_motion(poses).plane


def test_every_view_is_a_rotation():
    for view in (View.along(0), View.along(1), View.along(2), View.from_angles(0.3, 0.4)):
        assert np.allclose(view.axes @ view.axes.T, np.eye(3))
        assert np.isclose(np.linalg.det(view.axes), 1.0)


def test_outlines_have_the_size_of_their_shapes_and_hide_what_is_behind():
    shapes = (Geometry(Box((0.4, 0.2, 0.6)), pose(xyz=(0, 1.0, 0))), Geometry(Sphere(0.1), pose(xyz=(0, -1.0, 0))))
    body = Body("block", 1.0, inertia=(1, 1, 1), visuals=shapes)
    drawing = Silhouettes(Mechanism("block", (body,), (Joint("free", "floating", "world", "block"),)), View.along(1))
    box, ball = drawing.outlines(np.eye(4)[None])
    assert np.allclose(np.ptp(box.points, axis=0), (0.4, 0.6))
    assert np.allclose(np.ptp(ball.points, axis=0), (0.2, 0.2))
    assert ball.depth > box.depth
    low, high = drawing.box(np.eye(4)[None])
    assert np.allclose([low, high], [[-0.2, -0.3], [0.2, 0.3]])


@pytest.mark.parametrize("suffix", DRAWN)
def test_snapshots_are_written_whole(tmp_path, pendulum, suffix):
    target = snapshots(pendulum, chain_poses(pendulum), pendulum.time, tmp_path / f"strip{suffix}")
    assert target.read_bytes().startswith(MAGIC[suffix])
    assert list(tmp_path.iterdir()) == [target]


def test_snapshots_share_one_scale_and_say_their_times(pendulum):
    drawn = snapshots_figure(pendulum, chain_poses(pendulum), pendulum.time, 5)
    assert len(drawn.axes) == 5
    assert len({(*place.get_xlim(), *place.get_ylim()) for place in drawn.axes}) == 1
    assert [place.texts[-1].get_text() for place in drawn.axes] == ["0.00 s", "0.50 s", "1.00 s", "1.50 s", "2.00 s"]
    place = drawn.axes[0]
    place.apply_aspect()
    (left, right), (bottom, top), box = place.get_xlim(), place.get_ylim(), place.get_window_extent()
    assert np.isclose(box.width / (right - left), box.height / (top - bottom))


def test_poses_that_do_not_fit_are_refused(tmp_path, pendulum):
    poses = chain_poses(pendulum)
    with pytest.raises(InputError, match=r"\(n, 2, 4, 4\)"):
        snapshots(pendulum, poses[:, :1], pendulum.time, tmp_path / "strip.png")
    with pytest.raises(InputError, match="finite"):
        snapshots(pendulum, poses * np.nan, pendulum.time, tmp_path / "strip.png")
    with pytest.raises(InputError, match="1 or more"):
        snapshots(pendulum, poses, pendulum.time, tmp_path / "strip.png", 0)


def test_an_animation_plays_in_real_time(tmp_path, pendulum):
    seen = []
    target = animate(
        pendulum, chain_poses(pendulum), pendulum.time, tmp_path / "run.gif", fps=12, size=(160, 120),
        progress=seen.append,
    )  # fmt: skip
    assert seen == [k / 25 for k in range(1, 26)]
    with Image.open(target) as picture:
        assert picture.size == (160, 120)
        assert picture.info["loop"] == 0
        assert picture.convert("RGB").getpixel((2, 118)) == (255, 255, 255)
        durations = []
        for k in range(picture.n_frames):
            picture.seek(k)
            durations.append(picture.info["duration"])
    assert sum(durations[:-1]) == 2000
    assert list(tmp_path.iterdir()) == [target]


def test_a_broken_off_animation_leaves_no_file(tmp_path, pendulum):
    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        animate(pendulum, chain_poses(pendulum), pendulum.time, tmp_path / "run.gif", 5, (64, 48), progress=stop)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [{"fps": 0}, {"fps": 99}, {"size": (0, 9)}])
def test_animations_refuse_what_they_cannot_do(tmp_path, pendulum, options):
    with pytest.raises(InputError, match=r"a\.gif.*pixels"):
        animate(pendulum, chain_poses(pendulum), pendulum.time, tmp_path / "a.gif", **options)
    with pytest.raises(InputError, match=r"\.gif"):
        animate(pendulum, chain_poses(pendulum), pendulum.time, tmp_path / "a.mp4")


def test_a_robot_that_travels_far_is_followed(tmp_path, robot):
    poses = np.tile(np.eye(4), (20, len(robot.mechanism.bodies), 1, 1))
    poses[..., 0, 3] = 100.0 * np.linspace(0, 1, 20)[:, None]
    poses[..., 2, 3] = np.arange(len(robot.mechanism.bodies))
    poses[..., 1, 3] = np.arange(len(robot.mechanism.bodies)) % 3
    drawn = snapshots_figure(robot, poses, np.linspace(0, 1, 20), 3)
    widths = {round(float(np.ptp(place.get_xlim())), 6) for place in drawn.axes}
    assert len(widths) == 1
    assert widths.pop() < 50.0


def test_the_axes_of_the_world_stand_where_bodies_cover_least():
    """A plate fills the upper left corner with few edges; small balls, of many, leave most of the other two free."""
    shapes = {"plate": Box((0.4, 0.01, 0.4)), "high": Sphere(0.004), "low": Sphere(0.004)}
    bodies = tuple(Body(name, 1.0, inertia=(0.1,) * 3, collisions=(Geometry(shape),)) for name, shape in shapes.items())
    free = Mechanism("three", bodies, tuple(Joint(name, "floating", "world", name) for name in shapes), gravity=(0.0, 0.0, 0.0))
    places = ((0.2, 0.0, 0.8), (0.99, 0.0, 0.96), (0.99, 0.0, 0.04))
    poses = np.tile(np.eye(4), (1, 3, 1, 1))
    poses[0, :, :3, 3] = places
    stage = Stage(free, poses, View.along(1))
    axes = mpl.figure.Figure(figsize=(2.0, 2.0)).add_axes((0.0, 0.0, 1.0, 1.0))
    stage.frame(axes, poses[0])
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    corner = stage.free_corner(axes, [poses[0]])
    assert corner in ((1, 0), (1, 1))
    stage.triad(axes, corner)
    assert all(text.get_path_effects() for text in axes.texts)  # legible where bodies fill every corner
