"""The live viewer with viser: what is in the scene, where it listens, and that it ends."""

import socket
import threading
import time
import urllib.request
from types import SimpleNamespace

import imageio_ffmpeg
import numpy as np
import pytest
import viser
import websockets.asyncio.server

import kumitate as km
from kumitate.cli.app import run as command
from kumitate.errors import InputError
from kumitate.live import LiveView
from kumitate.live.loop import FREQUENCY
from kumitate.live.session import comes_from_its_page


@pytest.fixture
def ball():
    """A ball that lies on the floor."""
    body = km.Body("ball", 2.0, inertia=(0.008, 0.008, 0.008), collisions=(km.Geometry(km.Sphere(0.1)),))
    mechanism = km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),))
    return km.Simulation(mechanism, start=([0, 0, 0, 1, 0, 0, 0.1], None), contact="rigid")


def running():
    """The threads of the viewer and of viser."""
    return [thread for thread in threading.enumerate() if thread.is_alive() and thread.name != "kumitate-watch"]


def test_it_serves_this_computer_alone_and_ends_without_threads(capsys):
    before = set(running())
    view = km.Simulation(km.load("four_bar")).view(port=18471)
    try:
        assert view.url.startswith("http://127.0.0.1:184")
        port = view.server.get_port()
        with urllib.request.urlopen(view.url, timeout=10) as page:
            assert b"<html" in page.read().lower()
        with socket.socket() as other:
            other.settimeout(2.0)
            assert other.connect_ex(("127.0.0.2", port)) != 0  # another address of this computer
        assert view.url in view._repr_html_()
        view.player.play()
    finally:
        view.close()
    end = time.monotonic() + 10.0
    while set(running()) - before and time.monotonic() < end:
        time.sleep(0.01)
    assert set(running()) - before == set()
    with socket.socket() as other:
        other.settimeout(2.0)
        assert other.connect_ex(("127.0.0.1", port)) != 0
    assert capsys.readouterr().out == ""


def handshake(port, host, origin):
    """The first line of the answer to a raw handshake."""
    headers = {
        "Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13", "Sec-WebSocket-Protocol": f"viser-v{viser.__version__}",
    }  # fmt: skip
    lines = [f"{name}: {value}" for name, value in {**headers, **({"Origin": origin} if origin else {})}.items()]
    with socket.create_connection(("127.0.0.1", port), timeout=10.0) as other:
        other.sendall("\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
        answer = other.recv(65536)
        while b"\r\n\r\n" not in answer:
            answer += other.recv(65536)
        return answer.partition(b"\r\n")[0].decode()


def test_pages_of_others_in_the_same_browser_cannot_connect(ball):
    serve = websockets.asyncio.server.serve
    with ball.view(port=18476) as view:
        port = view.server.get_port()
        own = f"127.0.0.1:{port}"
        for origin in (f"http://{own}", None):  # its page; a program
            assert handshake(port, own, origin).startswith("HTTP/1.1 101")
        assert handshake(port, f"localhost:{port}", f"http://localhost:{port}").startswith("HTTP/1.1 101")
        for origin in (
            "https://evil.example",
            "http://127.0.0.1:1",
            "http://127.0.0.1",
            "null",
            f"http://localhost:{port}",
            "http://[::",
        ):
            assert handshake(port, own, origin).startswith("HTTP/1.1 403"), origin
        # a name whose owner has it point here
        assert handshake(port, f"evil.example:{port}", f"http://evil.example:{port}").startswith("HTTP/1.1 403")
    assert websockets.asyncio.server.serve is serve


def test_a_page_open_to_the_network_is_used_from_its_own_address():
    for address in ("192.168.1.7:8080", "robot.local:8080"):
        assert comes_from_its_page(f"http://{address}", address, local=False)
        assert not comes_from_its_page(f"http://{address}", address, local=True)
        assert not comes_from_its_page("http://evil.example:8080", address, local=False)


def test_the_scene_shows_what_the_simulation_computes(ball):
    with ball.view(port=18472) as view:
        view.player.step()
        (line,) = view._scene._forces.points
        weight = 2.0 * 9.80665  # its force is drawn from the point of contact, 0.6 of the size long
        np.testing.assert_allclose(line[0], [0.0, 0.0, 0.0], atol=1e-3)
        assert np.linalg.norm(line[1] - line[0]) == pytest.approx(weight * view._scene._per_newton, rel=1e-2)
        view.player.grab("ball", (0.0, 0.0, 0.1))
        view.player.drag((0.0, 0.0, 0.1 + 0.25 * weight / (2.0 * FREQUENCY**2)))  # a quarter of the weight
        view.player.step()
        ((begin, end),) = view._scene._forces.points
        assert np.linalg.norm(end - begin) == pytest.approx(0.75 * weight * view._scene._per_newton, rel=2e-2)
        node = view._scene.bodies["ball"]
        np.testing.assert_allclose(node.position, view.player.state.q[4:], atol=1e-12)
        assert "t = 0.002 s" in view._controls._numbers.content
        view._controls.forces.value = False
        assert not np.ptp(view._scene._forces.points, axis=1).any()


def test_a_body_follows_the_mouse(ball):
    with ball.view(port=18473) as view:
        told = {"start_position": (0.0, 0.0, 0.2), "end_position": (0.3, 0.0, 0.6), "modifier": None}
        view._dragged("ball", SimpleNamespace(phase="start", **told))
        view._dragged("ball", SimpleNamespace(phase="update", **told))
        view.player.step(300)
        assert view.player.state.q[4] > 0.1
        assert view.player.state.q[6] > 0.15
        assert np.ptp(view._scene._pull.points, axis=1).any()
        view._dragged("ball", SimpleNamespace(phase="end", **told))
        assert view.player.spring is None


def test_free_bodies_in_scenes_can_be_dragged():
    """Twelve balls in a row, of which one is dragged out."""
    bodies = tuple(
        km.Body(f"ball {k}", 1.0, inertia=(0.004,) * 3, collisions=(km.Geometry(km.Sphere(0.1)),)) for k in range(12)
    )
    joints = tuple(km.Joint(f"free {k}", "floating", "world", body.name) for k, body in enumerate(bodies))
    q = np.concatenate([[0, 0, 0, 1, 0.3 * k, 0, 0.1] for k in range(12)])
    sim = km.Simulation(km.Mechanism("row", bodies, joints), start=(q, None), contact="rigid")
    assert sim.interaction.of_many_bodies
    with sim.view(port=18477) as view:
        view.player.grab("ball 3", (0.9, 0.0, 0.1))
        view.player.drag((0.9, 0.4, 0.1))
        view.player.step(200)
        moved = view.player.state.q.reshape(12, 7)[:, 5]
    assert moved[3] > 0.1
    np.testing.assert_array_equal(np.delete(moved, 3), 0.0)


def test_a_click_moves_a_slider_but_a_picture_does_not():
    with km.Simulation(km.load("four_bar")).view(port=18474) as view:
        name = view.player.sliders[0].name
        handle = view._controls._sliders[name]
        view.player.step(50)  # the slider follows, and does not restart the simulation
        assert view.player.state.time == pytest.approx(0.05)
        assert handle.value == pytest.approx(view.player.state.q[0])
        view._controls._moved(name)(SimpleNamespace(client=object(), target=SimpleNamespace(value=0.5)))
        assert view.player.state.time == 0.0
        assert view.player.state.q[0] == pytest.approx(0.5)


def test_robots_of_all_sorts_are_drawn():
    """Skeletons, wheels, shapes of the world; coloured and clear ones."""
    for name in ("bicycle", "pa10"):
        robot = km.load(name)
        with km.Simulation(robot).view(port=18475) as view:
            assert sum(map(len, view._scene.shapes.values())) >= len(robot.mechanism.bodies) / 2


@pytest.mark.parametrize("name", ["planar_4r", "pa10", "free_rod"])
def test_the_camera_sees_the_whole_robot_above_the_ground(name):
    """All origins of bodies are within the smaller half of viser's field of view, 75 deg high, and not below the grid."""
    robot = km.load(name)
    with km.Simulation(robot).view(port=18479, dark=True) as view:
        camera = view.server.initial_camera
        places = np.array([X[:3, 3] for X in robot.poses(view.player.state.q).values()])
        towards, rays = camera.look_at - camera.position, places - camera.position
        cosines = rays @ towards / np.linalg.norm(rays, axis=1) / np.linalg.norm(towards)
        assert np.degrees(np.arccos(cosines.min())) < 37.5
        (grid,) = (node for node in view.server.scene._handle_from_node_name.values() if node.name == "/ground")
        assert places[:, 2].min() >= grid.position[2] - 0.1 * view._scene.size


def test_ends_of_sliders_are_short_and_units_are_named():
    with km.Simulation(km.load("four_bar")).view(port=18480) as view:
        (slider, *_) = view._controls._sliders.values()
        assert [mark.label for mark in slider._impl.props._marks] == ["-3.14", "3.14"]
        assert slider.precision == 3
        assert {one.unit for one in view.player.sliders} == {"rad"}


def test_the_command_serves_until_it_is_stopped(monkeypatch, capsys):
    opened = []

    def wait(self, timeout=None):
        opened.append(threading.main_thread())
        raise KeyboardInterrupt

    monkeypatch.setattr("kumitate.cli.view.Event", lambda: SimpleNamespace(wait=lambda: wait(None)))
    assert command(["view", "pendulum", "--port", "18476", "--hold"]) == 130
    assert "http://127.0.0.1:184" in capsys.readouterr().err
    assert opened
    assert command(["view", "pendulum", "--step", "-1"]) == 1


def test_a_port_that_is_none_is_refused():
    with pytest.raises(InputError, match="port 70000: must be 1 to 65535"):
        LiveView(km.Simulation(km.load("pendulum")), port=70000)


def test_without_viser_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(InputError, match=r"pip install 'kumitate\[live\]'"):
        km.Simulation(km.load("pendulum")).view()


def test_the_panel_sets_plots_and_goes_back():
    robot = km.load("four_bar").with_drives({"pivot0": km.VelocityDrive(kd=500.0)})
    with km.Simulation(robot, parameters=["gravity"]).view(port=18481) as view:
        panel, player = view._controls, view.player
        assert list(panel.settings) == ["target pivot0", "gravity"]
        changed = SimpleNamespace(client=object(), target=SimpleNamespace(value=3.0))
        panel._set(player.settings[0])(changed)
        player.step(200)
        player.step(200)
        assert player.state.v[0] == pytest.approx(3.0, rel=0.1)
        assert [len(curve) for curve in panel._curves.data] == [3, 3, 3, 3]
        panel.signal.value = f"v {robot.mechanism.v_names[0]}"
        panel._change_plot()
        np.testing.assert_array_equal(panel._curves.data[1], [state.v[0] for state in player.past])
        assert panel._back.min == pytest.approx(-0.4)
        player.seek(0.2)
        assert panel._back.value == pytest.approx(-0.2)


def test_frames_collision_shapes_and_inertias_are_drawn_over_the_robot(ball):
    with ball.view(port=18482) as view:
        scene = view._scene
        for name in scene.OVERLAYS:
            scene.overlay(name, True)
        assert scene.bodies["ball"].show_axes
        (touching,), (inertia,) = (scene._overlays[name] for name in ("collision shapes", "inertias"))
        assert np.ptp(touching.vertices, axis=0) == pytest.approx([0.2] * 3, rel=0.02)
        assert np.ptp(inertia.vertices, axis=0) == pytest.approx([np.sqrt(6.0 * 0.008 / 2.0)] * 3, rel=1e-6)
        scene.overlay("inertias", False)
        assert (touching.visible, inertia.visible) == (True, False)


def test_files_are_read_again_and_what_is_wrong_is_said():
    made = []

    def read():
        if len(made) > 1:
            raise InputError("the file is damaged; mend it")
        made.append(km.Simulation(km.load(("pendulum", "planar_4r")[len(made)])))
        return made[-1]

    with read().view(port=18483, reload=read) as view:
        assert view.player.simulation.robot.nv == 1
        view.reload()
        assert view.player.simulation.robot.nv == 3
        view.player.step(3)
        view.reload()
        assert view._controls._message.content == "the file is damaged; mend it"
        assert view.player.state.time == pytest.approx(0.003)


class FakeBrowser:
    """A browser of 101 × 80 pixels that draws the ball's height as a shade of gray, and keeps what it is sent."""

    def __init__(self, player, draws=True):
        self.camera, self.files, self._player, self._draws = self, {}, player, draws
        self.image_height, self.image_width = 80, 101

    def get_render(self, height, width, **options):
        if not self._draws:
            raise TimeoutError("the browser did not draw it")
        return np.full((height, width, 3), round(100.0 * self._player.state.q[6]), np.uint8)

    def send_file_download(self, name, content, **options):
        self.files[name] = content


def test_a_film_shows_what_was_played_and_leaves_the_state(tmp_path):
    """Pictures of even sizes every 0.04 s from the first state on; without them the page says why."""
    body = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1))
    rising = km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),), gravity=(0, 0, 0))
    with km.Simulation(rising, start=([0, 0, 0, 1, 0, 0, 0.5], [0, 0, 0, 0, 0, 5.0]), step=0.01).view(port=18490) as view:
        player = view.player
        for _ in range(16):
            player.step()
        browser = FakeBrowser(player)
        view._controls._send_film(browser)
        assert player.state is player.past[-1]
        ((name, film),) = browser.files.items()
        assert name == "ball 0.160 s.mp4"
        (tmp_path / "film.mp4").write_bytes(film)
        (about, *frames) = imageio_ffmpeg.read_frames(str(tmp_path / "film.mp4"))
        assert about["size"] == (100, 80)
        np.testing.assert_allclose([frame[0] for frame in frames], [50, 70, 90, 110], atol=2)
        view._controls._send_picture(browser)
        assert browser.files["ball 0.160 s.png"].startswith(b"\x89PNG")
        view._controls._send_film(FakeBrowser(player, draws=False))
        assert player.message == "the browser did not draw it"
        assert player.state is player.past[-1]
