"""Closed loops: the equations that chords and gears demand, the forces that keep them, and the pages that hold both."""
