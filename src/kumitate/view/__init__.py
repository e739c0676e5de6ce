"""Visualisation of results: graphs over time, snapshots, animations, and the page that plays a run."""

from .figures import figure, plot, plot_balance, plot_momentum, plot_power
from .page import playback, write_page
from .panels import PANELS
from .snapshots import animate, snapshots

__all__ = [
    "PANELS", "animate", "figure", "playback", "plot", "plot_balance", "plot_momentum", "plot_power", "snapshots", "write_page",
]  # fmt: skip
