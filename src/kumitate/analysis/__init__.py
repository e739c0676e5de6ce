"""What a state says: pure functions of q and v."""

from .energy import kinetic_energy, potential_energy
from .momentum import momentum

__all__ = ["kinetic_energy", "momentum", "potential_energy"]
