"""The three methods for the inertia matrix on equal footing (article C): composite bodies, unit vectors, link Jacobians.

The forms are those of `times`. Here too the motion subspaces of the joints are numbers in dense-block form, so that no method
gains from zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.dynamics import crba
from kumitate.errors import KumitateError
from kumitate.measure.timing import Contender, Effort, Timing, by_turns, random_states, raw, seconds_text
from kumitate.model import Mechanism
from kumitate.model.samples import floating_arm, pa10
from kumitate.papers import jacobian_inertia, unit_vector
from kumitate.scalar import Program, trace

from ..bench.dense import constants, dense_program, dense_tree
from .chains import chain_in_space
from .times import INTERPRETED_SHARE, STATES, TRACED_STATES

__all__ = ["INERTIA_FORMS", "INERTIA_METHODS", "InertiaEntry", "inertia_curves", "inertia_tables", "measured_inertias"]

#: The methods by the names of their rows, the first being the one that others are compared with.
INERTIA_METHODS: dict[str, Callable[..., Any]] = {
    "composite bodies": crba,
    "unit vectors": unit_vector,
    "Jacobians": jacobian_inertia,
}
INERTIA_FORMS = ("interpreted", "dense blocks", "traced")
#: Links of the chains in space.
CHAINS = (1, 2, 3, 4, 5, 6, 7)


@dataclass(frozen=True)
class InertiaEntry:
    """One method in one form on one mechanism.

    Attributes:
        subject: "3 links" of the chain in space, "PA-10", "floating arm".
        links: of the chain; 0 for the others.
        form: "interpreted", "dense blocks" or "traced"; `method`: a key of `INERTIA_METHODS`.
        operations: of one evaluation; `timing`: seconds an evaluation, one state at a time.
        agreement: the largest difference to composite bodies, as part of the largest entry.
    """

    subject: str
    links: int
    form: str
    method: str
    operations: int
    timing: Timing
    agreement: float


def measured_inertias(effort: Effort, longest: int | None = None) -> Iterator[InertiaEntry]:
    """All methods in all forms, timed by turns: chains in space of up to `longest` links, PA-10, the arm of T-4.2.

    Raises:
        KumitateError: if the matrices differ: nothing is then timed.
    """
    for n in CHAINS:
        if longest is None or n <= longest:
            yield from _measured(f"{n} link{'s' * (n > 1)}", n, chain_in_space(n), effort)
    if longest is None:
        yield from _measured("PA-10", 0, pa10(), effort)
        yield from _measured("floating arm", 0, floating_arm(), effort)


def _measured(subject: str, links: int, mechanism: Mechanism, effort: Effort) -> Iterator[InertiaEntry]:
    tree, (q, _, _) = mechanism.tree, random_states(mechanism, STATES)
    numbers = np.array([constants(tree, state.tolist()) for state in q])
    expected: np.ndarray = np.array([crba(tree, state.tolist()) for state in q])
    dense = [q, numbers, np.zeros((STATES, tree.nv + 3))]
    tiled = [np.tile(q, (TRACED_STATES // STATES, 1))]
    programs = {("dense blocks", name): dense_program(page, tree, f"dense_{k}") for k, (name, page) in _numbered()}
    programs |= {("traced", name): _traced(mechanism, page, f"traced_{k}") for k, (name, page) in _numbered()}
    errors, compiled = {}, {}
    for key, program in programs.items():
        inputs = dense if key[0] == "dense blocks" else tiled
        out = np.empty((len(inputs[0]), mechanism.nv, mechanism.nv))
        run = raw(Kernel(program), 1, inputs, (out,))
        run()
        errors[key] = _agreement(f"{subject}, {' '.join(key)}", out[:STATES], expected)
        compiled[" ".join(key)] = Contender(run, len(out))
    interpreted, given, one = {}, dense_tree(tree, numbers[0].tolist()), q[0].tolist()
    for name, page in INERTIA_METHODS.items():
        errors["interpreted", name] = _agreement(f"{subject}, interpreted {name}", np.array(page(given, one)), expected[0])
        interpreted[name] = Contender(partial(page, given, one), 1)
    timings, slowly = by_turns(compiled, effort.rounds), by_turns(interpreted, max(2, effort.rounds // INTERPRETED_SHARE))
    for (form, name), program in programs.items():
        operations = program.operations.total()
        yield InertiaEntry(subject, links, form, name, operations, timings[f"{form} {name}"], errors[form, name])
        if form == "dense blocks":
            yield InertiaEntry(
                subject, links, "interpreted", name, operations, slowly[name], errors["interpreted", name]
            )  # fmt: skip


def inertia_tables(entries: tuple[InertiaEntry, ...]) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Operations, times, and both as ratios to composite bodies: heads and rows, a column a mechanism."""
    subjects = list(dict.fromkeys(entry.subject for entry in entries))
    by_key = {(e.form, e.method, e.subject): e for e in entries}
    head = ("form", "method", *subjects)
    compiled = [form for form in INERTIA_FORMS if form != "interpreted"]

    def rows(forms: list[str], methods: list[str], cell: Callable[[InertiaEntry], str]) -> list[tuple[str, ...]]:
        return [(f, m, *(cell(by_key[f, m, s]) for s in subjects)) for f in forms for m in methods]

    def ratio(entry: InertiaEntry) -> str:
        base = by_key[entry.form, next(iter(INERTIA_METHODS)), entry.subject]
        counts = base.operations and entry.form != "interpreted"  # of one link M is a number; floats are not counted
        counted = f"{entry.operations / base.operations:.1f}" if counts else "—"
        return f"{counted}, {entry.timing.minimum / base.timing.minimum:.1f}"

    methods = list(INERTIA_METHODS)
    return [
        (head, rows(compiled, methods, lambda entry: f"{entry.operations}")),
        (head, rows(list(INERTIA_FORMS), methods, lambda entry: seconds_text(entry.timing.minimum))),
        (head, rows(list(INERTIA_FORMS), methods[1:], ratio)),
    ]


def inertia_curves(entries: tuple[InertiaEntry, ...]) -> dict[str, dict[str, dict[int, float]]]:
    """By panel ("dense blocks [ns]", …) and method, the time by the links of the chain in space [ns]."""
    panels: dict[str, dict[str, dict[int, float]]] = {}
    for form in INERTIA_FORMS[1:]:
        panels[f"{form} [ns]"] = {
            name: {e.links: e.timing.minimum * 1e9 for e in entries if (e.form, e.method) == (form, name) and e.links}
            for name in INERTIA_METHODS
        }
    return panels


def _numbered() -> Iterator[tuple[int, tuple[str, Callable[..., Any]]]]:
    return enumerate(INERTIA_METHODS.items())


def _traced(mechanism: Mechanism, page: Callable[..., Any], name: str) -> Program:
    tree = mechanism.base_parameter_tree
    return trace(lambda q: page(tree, q), {"q": tree.nq}, name)


def _agreement(what: str, found: np.ndarray, expected: np.ndarray) -> float:
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error <= 1e-11:
        raise KumitateError(
            f"{what}: the inertia matrix differs from that of composite bodies by {error:.1e} of its largest entry"
        )
    return error
