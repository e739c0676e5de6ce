"""Rigid contact of many free bodies: from the pairs that can touch to the velocities after a step, as procedures.

A step goes through the pages in this order: `broad_phase` (which solids are near each other), `narrow_phase` (where they
touch), `matching` (the impulses of the last step), `points` (levers, masses and targets of the points), `islands`, and for each
island `solve`, which calls `newton`, `interior_point` and `proximal` on the block factors of `ordering` and `blocks`.
"""
