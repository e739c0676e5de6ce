"""`LiveView`: a simulation served to browsers, until it is closed."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from functools import partial
from inspect import isawaitable
from io import StringIO
from ipaddress import ip_address
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ..errors import InputError, needed
from ..simulate.stepping.advance import State
from .contract import LiveSimulation
from .loop import Player
from .scene import LiveScene


# --- `Controls`: the buttons, sliders and numbers beside the scene --------------------------------------------------------
class Controls:
    """The panel of a player in a viser page."""

    def __init__(self, server: Any, player: Player):
        """Adds the panel of a player to the page of a `viser.ViserServer`."""
        self._player, gui = player, server.gui
        self._play = gui.add_button("Play")
        self._play.on_click(_told(self._toggle))
        gui.add_button("Step").on_click(_told(player.step))
        gui.add_button("Reset").on_click(_told(player.reset))
        self.forces = gui.add_checkbox("contact forces", True)
        self._numbers, self._message = gui.add_markdown(""), gui.add_markdown("")
        self._sliders: dict[str, Any] = {}
        units = ", ".join(dict.fromkeys(one.unit for one in player.sliders))
        with gui.add_folder(f"Joints [{units}]" if units else "Joints", expand_by_default=len(player.sliders) <= 12):
            for one in player.sliders:
                # viser shows as many digits as the ends and the step have
                digits = 3 - math.floor(math.log10(max(one.upper - one.lower, 1e-5)))
                lower, step = round(one.lower, digits), 10.0**-digits
                upper = max(round(one.upper, digits), lower + step)
                ends = tuple((end, f"{end:.3g}") for end in (lower, upper))
                start = min(max(round(one.shown(player.state.q), digits), lower), upper)
                handle = gui.add_slider(one.name, lower, upper, step, start, marks=ends)
                handle.on_update(self._moved(one.name))
                self._sliders[one.name] = handle

    def show(self, energy: tuple[float, float, float]) -> None:
        """Shows the player's state, and its kinetic, potential and total energy [J]."""
        player = self._player
        label = "Pause" if player.playing else "Play"
        if self._play.label != label:
            self._play.label = label
        pace = f" · {100.0 * player.pace:.0f} % of real time" if player.playing and player.pace < 0.95 else ""
        kinetic, potential, total = energy
        self._numbers.content = (
            f"**t = {player.state.time:.3f} s**{pace}\n\nkinetic {kinetic:.4g} J · potential {potential:.4g} J\n\n"
            f"**total {total:.4g} J**"
        )
        if self._message.content != player.message:
            self._message.content = player.message
        for one in player.sliders:
            self._sliders[one.name].value = one.shown(player.state.q)

    def _toggle(self) -> None:
        if self._player.playing:
            self._player.pause()
        else:
            self._player.play()

    def _moved(self, name: str) -> Callable[[Any], None]:
        def update(event: Any) -> None:
            if event.client is not None:  # by a person, and not by `show`
                self._player.slide(name, float(event.target.value))

        return update


def _told(action: Callable[[], None]) -> Callable[[Any], None]:
    return lambda event: action()


# --- who may open the viewer's connection: pages that it served itself, not any page that the same browser shows ----------
_STARTING = Lock()


def comes_from_its_page(origin: str | None, host: str | None, *, local: bool) -> bool:
    """Whether a handshake is of a page from the same address, or of a program, which sends no origin.

    Args:
        origin: header Origin: the address of the page, which scripts cannot change.
        host: header Host: the address that the browser asks.
        local: whether only this computer is served. A name other than localhost is then refused: its owner may have it point
            here, and the origin with it.

    >>> comes_from_its_page("http://localhost:8080", "localhost:8080", local=True)
    True
    >>> comes_from_its_page("https://elsewhere.example", "localhost:8080", local=True)
    False
    """
    if origin is None:
        return True
    try:
        there, here = urlsplit(origin), urlsplit(f"//{host}")
        same = there.hostname is not None and (there.hostname, there.port or 80) == (here.hostname, here.port or 80)
    except ValueError:
        return False
    return same and (not local or _is_local(there.hostname or ""))


def _is_local(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


@contextmanager
def own_pages_only(address: str) -> Iterator[None]:
    """Has a server of viser, started in the block, refuse handshakes of other pages; viser has no option for it.

    Args:
        address: that the server listens at.
    """
    import websockets.asyncio.server as library

    async def answer(inner: Any, connection: Any, request: Any) -> Any:
        origin, host = (", ".join(request.headers.get_all(name)) or None for name in ("Origin", "Host"))
        if not comes_from_its_page(origin, host, local=_is_local(address)):
            return connection.respond(403, "this page is not the viewer's own\n")
        answered = None if inner is None else inner(connection, request)
        return await answered if isawaitable(answered) else answered

    def guarded(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        return serve(*arguments, process_request=partial(answer, process_request), **options)

    with _STARTING:
        serve = library.serve
        library.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = serve  # type: ignore[misc]


# --- the session ----------------------------------------------------------------------------------------------------------
#: No positions and no forces.
_NONE = np.zeros((0, 3)), np.zeros((0, 3))


class LiveView:
    """A simulation in a browser page, served by viser; `Simulation.view` makes one.

    Whoever can reach the address can use the page, which is why it is this computer alone unless told otherwise. Other pages
    that the same browser shows cannot.

    Attributes:
        player: plays the simulation: `play`, `pause`, `step`, `reset`, `slide`, and the present `state`.
        server: the `viser.ViserServer`, to which more may be added.
        url: the page's address.

    >>> from kumitate import Simulation, load
    >>> with Simulation(load("four_bar")).view(port=8093) as view:
    ...     view.player.step(10)
    ...     print(view.url.startswith("http://127.0.0.1:"), round(view.player.state.time, 6))
    True 0.01
    """

    def __init__(self, simulation: LiveSimulation, *, host: str = "127.0.0.1", port: int = 8080, dark: bool = False):
        """Serves a simulation; where the port is taken, on the next free one.

        Args:
            simulation: to play. Wrenches that it was made with as inputs (`wrenches={body: None}`) are what the mouse pulls by.
            host: the address to listen at; "0.0.0.0" opens the page to the whole network.
            port: to listen at.
            dark: whether the page is dark.

        Raises:
            InputError: if viser is not installed, or the port is not one.
        """
        if not 0 < port < 65536:
            raise InputError(f"port {port}: must be 1 to 65535")
        viser = _viser()
        self._drawing = Lock()
        self.player = Player(simulation, self._show)
        with _quiet(), own_pages_only(host):
            self.server = viser.ViserServer(host=host, port=port, verbose=False)
        try:
            self.server.gui.configure_theme(dark_mode=dark, show_share_button=False)  # nothing leaves this computer
            self._simulation, robot = simulation, simulation.robot
            self._scene = LiveScene(self.server, robot, self.player.state.q, dark=dark)
            self._scene.on_drag(self.player.pulled, self._dragged)
            self._controls = Controls(self.server, self.player)
            self._controls.forces.on_update(lambda event: self._show(self.player))
            self.player.begin()
        except BaseException:
            self.close()
            raise
        shown = "127.0.0.1" if host == "0.0.0.0" else host
        self.url = f"http://{shown}:{self.server.get_port()}"

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LiveView({self.url!r})"

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks on the same computer."""
        return f'<iframe src="{html.escape(self.url)}" width="100%" height="560" style="border:0"></iframe>'

    def close(self) -> None:
        """Stops the simulation and the server."""
        self.player.close()
        with _quiet():
            self.server.stop()

    def _dragged(self, body: str, event: Any) -> None:
        """A body follows the mouse."""
        if event.phase == "start":
            self.player.grab(body, event.start_position)
        if event.phase == "end":
            self.player.release()
        else:
            self.player.drag(event.end_position)

    def _show(self, player: Player) -> None:
        """Draws the player's state."""
        robot, state, spring = self._simulation.robot, player.state, player.spring
        with self._drawing, self.server.atomic():
            self._scene.move(robot.poses(state.q))
            if spring is None:
                self._scene.show_pull()
            else:
                self._scene.show_pull(spring.end(robot, state.q), spring.target)
            self._scene.show_forces(*(self._forces(state) if self._controls.forces.value else _NONE))
            energy = robot.energy(state.q, state.v)
            self._controls.show((float(energy.kinetic), float(energy.potential), float(energy.total)))

    def _forces(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Where contact acts (m, 3) [m], and its forces (m, 3) [N], with the efforts and the pull of the last step."""
        touched = self._simulation.touching(state)
        return _NONE if touched is None else (touched.record.position[0], touched.record.force[0])


def _quiet() -> AbstractContextManager[Any]:
    """viser prints a banner and its end, which are not for the output of programs."""
    return redirect_stdout(StringIO())


def _viser() -> Any:
    otherwise = ", or write a page that plays without it with `run.page`"
    return needed("viser", "the live viewer needs viser", "live", otherwise)
