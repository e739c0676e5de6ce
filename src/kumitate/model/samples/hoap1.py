"""The small humanoid of HOAP-1's size, from its file (paper S, section 4)."""

from __future__ import annotations

from pathlib import Path

from ..mechanism import Mechanism

#: Where it stands upright on the floor z = 0: the floating base, then 20 joints at zero. Its trunk's frame is 0.2355 m up.
HOAP1_STANDING = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2355) + (0.0,) * 20


def hoap1() -> Mechanism:
    """A humanoid of 6 + 20 degrees of freedom, 48 cm and 6 kg, free to move: `files/hoap1.urdf`, which names its sources."""
    from ..read import read_file  # loaded only to read a file

    return read_file(Path(__file__).parent / "files" / "hoap1.urdf", floating_base=True)
