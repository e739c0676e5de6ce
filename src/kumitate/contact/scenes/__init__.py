"""Rigid contact of many free bodies: from the pairs that can touch to the velocities after a step, as procedures.

A step goes through the pages in this order: `broad_phase` (which solids are near each other), `narrow_phase` (where they
touch, and which impulses the same points had), `points` (levers, masses and targets of the points), `islands`, and for each
island the methods of `solvers`; then bodies move.
"""
