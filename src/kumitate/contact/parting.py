"""Bodies that overlap at the start: springs of contact leave the overlaps out, less and less, so that they part slowly."""

from __future__ import annotations

#: Overlaps are left out if their springs hold the energy to lift the mechanism by this height on the earth [m].
THROWN = 0.01
#: How fast overlaps that are left out shrink [m/s].
SHRINKS = 0.2
#: Bodies then part at less than this speed, as with rigid contact [m/s]: a spring of natural frequency ω whose end moves at a
#: speed V throws a mass that lies on it at up to V + √(V² + (g/ω)²), which is 0.42 m/s where the mass sinks in by 1 mm.
PARTING = 0.5
