"""`LiveView`: a simulation served to browsers, until it is closed."""

from __future__ import annotations

import html
from contextlib import AbstractContextManager, redirect_stdout
from io import StringIO
from threading import Lock
from typing import Any

import numpy as np

from ..errors import InputError
from ..simulate.stepping.advance import State
from .contract import LiveSimulation
from .controls import Controls
from .loop import Player
from .origin import own_pages_only
from .scene import LiveScene

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
        simulation = self._simulation
        at = np.array([state.time]), state.q[None], state.v[None]
        u = simulation.compiled.efforts_along(*at, np.asarray(state.carried["u"]))
        touched = simulation.compiled.touched(simulation.step_size, *at[1:], u)
        return _NONE if touched is None else (touched.record.position[0], touched.record.force[0])


def _quiet() -> AbstractContextManager[Any]:
    """viser prints a banner and its end, which are not for the output of programs."""
    return redirect_stdout(StringIO())


def _viser() -> Any:
    """viser.

    Raises:
        InputError: if it is not installed.
    """
    try:
        import viser
    except ImportError:
        raise InputError(
            "the live viewer needs viser, which is not installed; pip install 'kumitate[live]' installs it, or write a page "
            "that plays without it with `run.page`"
        ) from None
    return viser
