"""Error against processor time: kumitate's integrators and other programs on problems whose end is known otherwise."""
