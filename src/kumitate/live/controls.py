"""`Controls`: the buttons, sliders and numbers beside the scene."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .loop import Player


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
