"""The programs that kumitate is timed against."""

from __future__ import annotations

from kumitate.measure.timing import version_of

__all__ = ["PEERS", "peer_versions"]

#: The peers by name: the name of their package.
PEERS = {"Pinocchio": "pin", "MuJoCo": "mujoco", "Crocoddyl": "crocoddyl", "pink": "pin-pink"}


def peer_versions() -> dict[str, str]:
    """The version of each peer, by its name."""
    return {name: version_of(package) or "not installed" for name, package in PEERS.items()}
