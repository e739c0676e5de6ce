"""The curves of contact: forces on each body, centers of pressure, gaps, penetration, residuals of the contact laws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..simulate.results.contact_record import ContactRecord
from ..simulate.results.result import Result
from .panel import Panel, without_impacts

#: All panels, and those drawn by default.
CONTACT_PANELS = ("contact_forces", "center_of_pressure", "contact_gaps", "penetration", "contact_residual")
USUAL_CONTACT_PANELS = ("contact_forces", "center_of_pressure", "penetration", "contact_residual")
#: Of more touched bodies than this, those with the largest impulses are shown; positions are shown for fewer bodies.
_BODIES, _PLACES = 8, 3
#: Gaps beyond this belong to unused contact slots [m].
_APART = 1e3


def contact_panels(result: Result, name: str) -> Iterator[Panel]:
    """The panels of this name in `CONTACT_PANELS`; no panels for a run without contact."""
    record = result.contact
    if record is None or not record.bodies:
        return
    bodies, note = _bodies(result, record)
    if name == "contact_forces":
        forces = [_forces(record, body) for body in bodies]
        for k, words in enumerate(("Normal contact force", "Tangential contact force")):
            values = np.column_stack([pair[k] for pair in forces])
            yield without_impacts(Panel(words, "N", tuple(bodies), values, note=note))
    elif name == "center_of_pressure":
        yield _places(record, bodies)
    elif name == "contact_gaps":
        yield Panel("Contact gap", "m", tuple(bodies), np.column_stack([_gap(record, body) for body in bodies]), note=note)
    elif name == "penetration":
        yield Panel("Deepest penetration", "m", ("deepest of all points",), record.penetration[:, None], log=True)
    else:
        yield Panel("Residual of contact laws", "m/s", ("a step's largest",), record.residual[:, None], log=True)


def _bodies(result: Result, record: ContactRecord) -> tuple[list[str], str]:
    """The bodies of the mechanism with the largest impulses, in the model's order, and a sentence if others touched too."""
    moving = [body.name for body in result.mechanism.bodies if result.mechanism.tree.places[body.name].link >= 0]
    pushed = {name: float(_forces(record, name)[0].sum()) for name in moving if any(name in pair for pair in record.bodies)}
    largest = sorted(pushed, key=lambda name: -pushed[name])[:_BODIES]
    touched = sum(impulse > 0.0 for impulse in pushed.values())
    note = (
        f"Of the {touched} bodies that touched, the {_BODIES} with the largest impulses have curves of contact; "
        "`run.contact` has the forces and gaps of all points."
    )
    return [name for name in pushed if name in largest], note if touched > _BODIES else ""


def _points(record: ContactRecord, body: str) -> list[int]:
    return [k for k, pair in enumerate(record.bodies) if body in pair]


def _forces(record: ContactRecord, body: str) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the normal forces' sizes on a body, and the size of the sum of its tangential forces, each (n,) [N]."""
    chosen = _points(record, body)
    signs = np.array([1.0 if record.bodies[k][0] == body else -1.0 for k in chosen])
    normal = record.normal_force[:, chosen]
    across = record.force[:, chosen] - normal[..., None] * record.normal[:, chosen]
    return normal.sum(axis=1), np.linalg.norm(np.einsum("nmk,m->nk", across, signs), axis=1)


def _gap(record: ContactRecord, body: str) -> np.ndarray:
    """The smallest gap of a body's points (n,) [m]; NaN where none is near."""
    smallest = record.gap[:, _points(record, body)].min(axis=1)
    return np.where(smallest < _APART, smallest, np.nan)


def _places(record: ContactRecord, bodies: list[str]) -> Panel:
    """x and y of the center of pressure of each body, or of all together where there are many."""
    if len(bodies) > _PLACES:
        center = record.center_of_pressure()
        return Panel("Center of pressure of all", "m", ("x", "y"), center[:, :2])
    names, columns = [], []
    for body in bodies:
        weight = record.normal_force[:, _points(record, body)]
        total = weight.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            center = np.einsum("nm,nmk->nk", weight, record.position[:, _points(record, body)]) / total[:, None]
        for k, axis in enumerate("xy"):
            names.append(axis if len(bodies) == 1 else f"{body} {axis}")
            columns.append(np.where(total > 0.0, center[:, k], np.nan))
    return Panel("Center of pressure", "m", tuple(names), np.column_stack(columns))
