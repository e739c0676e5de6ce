"""`Controls`: the buttons, sliders, numbers and the plot beside the scene."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import numpy as np

from ..errors import KumitateError
from ..share.film import encode, encoder
from ..simulate.stepping.advance import State
from ..view.style import PALETTE
from .loop import Player, Setting, signals_of
from .scene import LiveScene

#: The speeds that can be chosen, in real times.
_SPEEDS = ("2", "1", "0.5", "0.2", "0.05")
#: From one plot to the next while it plays [s]; pictures come three times as often.
_PLOT = 0.1
#: Pictures of a film per second.
_FILM = 25.0
#: Folders with more entries than this are closed at first.
_OPEN = 8
_NOTHING, _START = "nothing", "start"


class Controls:
    """The panel of a player in a viser page."""

    def __init__(self, server: Any, player: Player, scene: LiveScene, reload: Callable[[], None] | None = None):
        """Adds the panel of a player and of its scene to the page of a `viser.ViserServer`; `reload` reads its files again."""
        self._player, self._gui, self._scene = player, server.gui, scene
        self._plotting, self._plotted = Lock(), clock.monotonic()
        self._add_time(reload)
        self._sliders: dict[str, Any] = {}
        self._add_joints()
        self.settings: dict[str, Any] = {}
        for group, title in (("inputs", "Targets and inputs"), ("parameters", "Parameters")):
            self._add_settings([one for one in player.settings if one.group == group], title)
        self._add_plot()
        self._add_scene()

    def show(self, energy: tuple[float, float, float]) -> None:
        """Shows the player's state, and its kinetic, potential and total energy [J]."""
        player = self._player
        label = "Pause" if player.playing else "Play"
        if self._play.label != label:
            self._play.label = label
        pace = f" · {100.0 * player.pace * player.speed:.0f} % of real time" if player.playing and player.pace < 0.95 else ""
        parts = "kinetic {:.4g} J · potential {:.4g} J\n\n**total {:.4g} J**".format(*energy)
        self._numbers.content = f"**t = {player.state.time:.3f} s**{pace}\n\n{parts}"
        if self._message.content != player.message:
            self._message.content = player.message
        for one in player.sliders:
            self._sliders[one.name].value = one.shown(player.state.q)
        if not player.playing or clock.monotonic() - self._plotted > _PLOT:
            self._plotted = clock.monotonic()
            with self._plotting:
                self._show_past()

    def _add_time(self, reload: Callable[[], None] | None) -> None:
        player, gui = self._player, self._gui
        self._play = gui.add_button("Play")
        self._play.on_click(_told(lambda: player.pause() if player.playing else player.play()))
        gui.add_button("Step").on_click(_told(player.step))
        gui.add_button("Reset").on_click(_told(player.reset))
        if reload is not None:
            gui.add_button("Reload", hint="Reads the files again").on_click(_told(reload))
        if names := list(player.simulation.robot.starts):
            start = gui.add_dropdown("restart at", (_START, *names))
            start.on_update(_by_person(lambda name: player.reset("" if name == _START else name)))
        speed = gui.add_dropdown("speed", _SPEEDS, initial_value="1", hint="Simulated time per time")
        speed.on_update(_by_person(lambda value: setattr(player, "speed", float(value))))
        self._back = gui.add_slider("back [s]", -1.0, 0.0, 0.01, 0.0, hint="Goes back to a state that was shown")
        self._back.on_update(_by_person(lambda value: player.seek(player.past[-1].time + value)))
        self._numbers, self._message = gui.add_markdown(""), gui.add_markdown("")

    def _add_joints(self) -> None:
        player, gui = self._player, self._gui
        units = ", ".join(dict.fromkeys(one.unit for one in player.sliders))
        with gui.add_folder(f"Joints [{units}]" if units else "Joints", expand_by_default=len(player.sliders) <= _OPEN):
            for one in player.sliders:
                handle = _slider(gui, one.name, one.lower, one.upper, one.shown(player.state.q))
                handle.on_update(self._moved(one.name))
                self._sliders[one.name] = handle

    def _moved(self, name: str) -> Callable[[Any], None]:
        return _by_person(lambda value: self._player.slide(name, float(value)))

    def _add_settings(self, settings: list[Setting], title: str) -> None:
        if not settings:
            return
        gui = self._gui
        with gui.add_folder(title, expand_by_default=len(settings) <= _OPEN):
            for one in settings:
                if one.lower is None or one.upper is None or one.lower >= one.upper:
                    step = 10.0 ** math.floor(math.log10(abs(one.value) or 1.0) - 1)
                    handle = gui.add_number(one.label, one.value, step=step)
                else:
                    handle = _slider(gui, one.label, one.lower, one.upper, one.value)
                handle.on_update(self._set(one))
                self.settings[one.label] = handle

    def _set(self, setting: Setting) -> Callable[[Any], None]:
        return _by_person(lambda value: self._player.set(setting, float(value)))

    def _add_plot(self) -> None:
        self._signals = signals_of(self._player.simulation.robot, self._player.state)
        self._values: dict[int, tuple[State, np.ndarray]] = {}
        with self._gui.add_folder("Plot") as self._folder:
            self.signal = self._gui.add_dropdown("over time", tuple(self._signals))
        self._plot()
        self.signal.on_update(lambda event: self._change_plot())

    def _change_plot(self) -> None:
        with self._plotting:
            self._curves.remove()
            self._plot()

    def _plot(self) -> None:
        """Adds the curves of the signal that is chosen."""
        from viser import uplot

        self._values.clear()
        parts = self._signals[self.signal.value].parts
        strokes = (uplot.Series(label=part, stroke=PALETTE[k % len(PALETTE)], width=2) for k, part in enumerate(parts))
        series = (uplot.Series(label="t [s]"), *strokes)
        scales = {"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)}
        with self._folder:
            self._curves = self._gui.add_uplot(self._data(), series, scales=scales, aspect=1.6)

    def _data(self) -> tuple[np.ndarray, ...]:
        """The times [s] and curves of the past."""
        signal, past = self._signals[self.signal.value], list(self._player.past)
        # with the states, so that no other takes their identity meanwhile
        self._values = {id(state): self._values.get(id(state)) or (state, signal.read(state)) for state in past}
        times, values = np.array([state.time for state in past]), [value for _, value in self._values.values()]
        return times, *np.ascontiguousarray(np.array(values, dtype=float).T)

    def _show_past(self) -> None:
        past = self._player.past
        self._curves.data = self._data()
        length = round(max(past[-1].time - past[0].time, 0.01), 2)
        if self._back.min != -length:
            self._back.min = -length
        self._back.value = max(round(self._player.state.time - past[-1].time, 2), -length)

    def _add_scene(self) -> None:
        gui, scene = self._gui, self._scene
        with gui.add_folder("Scene", expand_by_default=False):
            self.forces = gui.add_checkbox("contact forces", True)
            for name, hint in scene.OVERLAYS.items():
                overlay = gui.add_checkbox(name, False, hint=hint)
                overlay.on_update(lambda event, name=name: scene.overlay(name, event.target.value))
            self.followed = gui.add_dropdown("camera follows", (_NOTHING, *scene.bodies))
            self.followed.on_update(lambda event: scene.follow("" if event.target.value == _NOTHING else event.target.value))
            gui.add_button("Screenshot").on_click(lambda event: self._send_picture(event.client))
            film = gui.add_button("Film", hint="Of what was played, as the camera sees it now")
            film.on_click(lambda event: self._send_film(event.client))

    def _send_picture(self, client: Any) -> None:
        """Sends a browser what it shows, as a file."""
        camera, mechanism = client.camera, self._player.simulation.robot.mechanism
        picture = _picture(client, camera.image_height, camera.image_width)
        client.send_file_download(f"{mechanism.name} {self._player.state.time:.3f} s.png", picture, save_immediately=True)

    def _send_film(self, client: Any) -> None:
        """Sends a browser the past in real time, as a file; meanwhile it sees it, and time stops."""
        player, camera = self._player, client.camera
        now, times = player.state.time, np.arange(player.past[0].time, player.past[-1].time, 1.0 / _FILM)

        def pictures() -> Iterator[bytes]:
            for time in times:
                player.seek(float(time))
                yield _picture(client, *(2 * (side // 2) for side in (camera.image_height, camera.image_width)))

        with TemporaryDirectory(prefix="kumitate-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "film.mp4"
            try:
                encode(encoder(), pictures(), path, _FILM)
                name = f"{player.simulation.robot.mechanism.name} {now:.3f} s.mp4"
                client.send_file_download(name, path.read_bytes(), save_immediately=True)
                player.message = ""
            except (KumitateError, TimeoutError) as error:  # a browser that is closed, or draws no picture in time
                player.message = str(error)
        player.seek(now)


def _picture(client: Any, height: int, width: int) -> bytes:
    """What a browser shows, as PNG."""
    from imageio.v3 import imwrite  # viser needs it too

    pixels = client.camera.get_render(height, width, transport_format="png", timeout=30.0)
    return bytes(imwrite("<bytes>", pixels, extension=".png"))


def _slider(gui: Any, label: str, lower: float, upper: float, value: float) -> Any:
    """A slider from about `lower` to about `upper`: viser shows as many digits as the ends and the step have."""
    digits = 3 - math.floor(math.log10(max(upper - lower, 1e-5)))
    lower, step = round(lower, digits), 10.0**-digits
    upper = max(round(upper, digits), lower + step)
    marks = tuple((end, f"{end:.3g}") for end in (lower, upper))
    return gui.add_slider(label, lower, upper, step, min(max(round(value, digits), lower), upper), marks=marks)


def _told(action: Callable[[], None]) -> Callable[[Any], None]:
    return lambda event: action()


def _by_person(action: Callable[[Any], None]) -> Callable[[Any], None]:
    """What is done with a new value that a person gave, and not `show`."""

    def update(event: Any) -> None:
        if event.client is not None:
            action(event.target.value)

    return update
