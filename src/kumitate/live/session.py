"""`LiveView`: a simulation served to browsers, until it is closed."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from functools import partial
from inspect import isawaitable
from io import StringIO
from ipaddress import ip_address
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError, KumitateError, needed
from .controls import Controls
from .loop import LiveSimulation, Player
from .scene import LiveScene

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
    """Has a server of viser that listens at an address, started in the block, refuse handshakes of other pages.

    viser has no option for it.
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


class LiveView:
    """A simulation in a browser page, served by viser; `Simulation.view` makes one.

    Whoever can reach the address can use the page, which is why it is this computer alone unless told otherwise. Other pages
    that the same browser shows cannot.

    Attributes:
        player: plays the simulation: `play`, `pause`, `step`, `reset`, `slide`, `set`, `seek`, and the present `state`.
        server: the `viser.ViserServer`, to which more may be added.
        url: the page's address.

    >>> from kumitate import Simulation, load
    >>> with Simulation(load("four_bar")).view(port=8093) as view:
    ...     view.player.step(10)
    ...     print(view.url.startswith("http://127.0.0.1:"), round(view.player.state.time, 6))
    True 0.01
    """

    def __init__(
        self,
        simulation: LiveSimulation,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        dark: bool = False,
        reload: Callable[[], LiveSimulation] | None = None,
    ):
        """Serves a simulation; where the port is taken, on the next free one.

        Args:
            simulation: to play. Wrenches that it was made with as inputs (`wrenches={body: None}`) are what the mouse pulls by.
            host: the address to listen at; "0.0.0.0" opens the page to the whole network.
            port: to listen at.
            dark: whether the page is dark.
            reload: reads the simulation again, by a button.

        Raises:
            InputError: if viser is not installed, or the port is not one.
        """
        if not 0 < port < 65536:
            raise InputError(f"port {port}: must be 1 to 65535")
        otherwise = ", or write a page that plays without it with `run.page`"
        viser = needed("viser", "the live viewer needs viser", "live", otherwise)
        self._drawing, self._dark, self._reload = Lock(), dark, reload
        self.player = Player(simulation, self._show)
        with _quiet(), own_pages_only(host):
            self.server = viser.ViserServer(host=host, port=port, verbose=False)
        try:
            self.server.gui.configure_theme(dark_mode=dark, show_share_button=False)  # nothing leaves this computer
            self._open()
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

    def _open(self) -> None:
        """Fills the page for the player, and lets it begin."""
        player = self.player
        self._scene = LiveScene(self.server, player.simulation.robot, player.state.q, dark=self._dark)
        self._scene.on_drag(player.pulled, self._dragged)
        self._controls = Controls(self.server, player, self._scene, self._reload and self.reload)
        self._controls.forces.on_update(lambda event: self._show(player))
        player.begin()

    def reload(self) -> None:
        """Reads the simulation again where the view was made with `reload`; what cannot be read is said on the page."""
        try:
            player = Player(self._reload(), self._show)  # type: ignore[misc]
        except KumitateError as error:
            self.player.message = str(error)
            self.player.pause()
            return
        self.player.close()
        with self._drawing:
            self.server.scene.reset()
            self.server.gui.reset()
            self.player = player
        self._open()

    def _dragged(self, body: str, event: Any) -> None:
        """A body follows the mouse, or turns with it while Shift is held."""
        if event.phase == "start":
            self.player.grab(body, event.start_position, turns=event.modifier == "shift")
        if event.phase == "end":
            self.player.release()
        else:
            self.player.drag(event.end_position)

    def _show(self, player: Player) -> None:
        """Draws the player's state."""
        robot, state, spring = player.simulation.robot, player.state, player.spring
        with self._drawing, self.server.atomic():
            self._scene.move(robot.poses(state.q))
            self._scene.show_pull(*(() if spring is None else (spring.end(robot, state.q), spring.target)))
            touched = player.simulation.touching(state) if self._controls.forces.value else None
            forces = () if touched is None else (touched.record.position[0], touched.record.force[0])
            self._scene.show_forces(*forces)  # of contact, with the efforts and the pull of the last step
            energy = robot.energy(state.q, state.v)
            self._controls.show((float(energy.kinetic), float(energy.potential), float(energy.total)))


def _quiet() -> AbstractContextManager[Any]:
    """viser prints a banner and its end, which are not for the output of programs."""
    return redirect_stdout(StringIO())
