"""Closed loops: the constraint equations of chords and gears, the constraint forces, and the algorithms that combine both."""
