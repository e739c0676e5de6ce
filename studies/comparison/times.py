"""Operations and times of the methods over chains of growing length (thesis tables 4.2, 4.3), on equal footing.

Three forms of each method are compared:

* *interpreted*: the pages in dense-block form, run by Python on floats;
* *dense blocks*: the same pages compiled, nothing simplified across links (`dense`); hybrid modelling moreover with each
  sub-chain's equations prepared symbolically and full blocks between them, as the thesis has it (*prepared*);
* *traced*: all simplified for the one mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.dynamics import Acting, aba, crba, factored
from kumitate.dynamics.ada import ada
from kumitate.dynamics.hybrid import hybrid, hybrid_operations
from kumitate.dynamics.subchains import chosen_parts, tried_partitions
from kumitate.errors import KumitateError
from kumitate.lagrange import lagrange
from kumitate.measure.timing import Contender, Effort, Timing, by_turns, random_states, raw
from kumitate.model import Mechanism, Tree
from kumitate.model.samples import floating_chain, planar_chain
from kumitate.model.tree.subchains import parts_by_cuts
from kumitate.scalar import Program, trace

from .dense import DenseForm, dense_aba, dense_ada, dense_crba, dense_hybrid, dense_lagrange, prepared_hybrid

__all__ = ["FAMILIES", "Entry", "Family", "measured"]

Parts = tuple[tuple[int, ...], ...]
#: States that are timed: few in dense-block form, as each has constants of its own to read, many where these are known.
STATES, TRACED_STATES = 64, 1024
#: Partitions that are counted in dense-block form.
DENSE_TRIALS = 8
#: Interpreted pages take a thousand times as long: they have one sample for so many of the others.
INTERPRETED_SHARE = 4


@dataclass(frozen=True)
class Family:
    """Chains of one kind and several lengths.

    Attributes:
        name, title: what they are.
        build: the chain of so many links.
        lengths: which are compared.
        sub_chain: how many links the thesis's sub-chains have; `whole`: chains up to this length are left whole there.
        printed: the thesis's seconds for 10 s of motion, by method and length.
    """

    name: str
    title: str
    build: Callable[[int], Mechanism]
    lengths: tuple[int, ...]
    sub_chain: int
    whole: int
    printed: dict[str, dict[int, float]]

    def partition(self, tree: Tree) -> Parts:
        """The thesis's partition."""
        return parts_by_cuts(tree, range(self.sub_chain, len(tree.links), self.sub_chain))


FAMILIES = (
    Family(
        "planar", "Planar nR chain on the ground (table 4.2, figure 4.13)", planar_chain, (1, 2, 3, 4, 5, 6, 7), 4, 4,
        {
            "Lagrange": {1: 0.5, 2: 0.9, 3: 1.5, 4: 3.0, 5: 8.3, 6: 18.4, 7: 38.2},
            "ADA": {1: 5.3, 2: 9.6, 3: 14.0, 4: 18.3, 5: 22.8, 6: 27.3, 7: 32.0},
            "hybrid": {7: 19.1},
        },
    ),
    Family(
        "space", "Chain in space on a floating base (table 4.3, figure 4.16)", floating_chain, (1, 3, 6, 9, 12), 3, 1,
        {
            "ADA": {1: 6.2, 3: 17.8, 6: 35.8, 9: 57.8, 12: 80.3},
            "hybrid": {1: 6.2, 3: 12.5, 6: 25.4, 9: 39.4, 12: 53.2},
        },
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One method in one form on one chain.

    Attributes:
        family, links: which chain.
        form: "interpreted", "dense blocks", "prepared" or "traced".
        method: "Lagrange", "CRBA", "ABA", "ADA", "hybrid" (the thesis's partition) or "hybrid, best".
        parts: the lengths of the sub-chains.
        operations: of one evaluation.
        timing: seconds an evaluation, one state at a time.
        agreement: the largest difference to articulated bodies, as part of the largest acceleration.
    """

    family: str
    links: int
    form: str
    method: str
    parts: tuple[int, ...]
    operations: int
    timing: Timing
    agreement: float


def measured(family: Family, links: int, effort: Effort) -> Iterator[Entry]:
    """All methods in all forms on one chain, timed by turns.

    Raises:
        KumitateError: if the results differ: nothing is then timed.
    """
    mechanism = family.build(links)
    states = random_states(mechanism, STATES)
    expected = Kernel(_traced(mechanism, mechanism.base_parameter_tree, aba))(*states)
    forms = _dense_forms(family, mechanism)
    programs = {
        key: (form.program(mechanism.tree, f"{key[0].split()[0]}_{len(parts)}_parts_{key[1].split(',')[0]}"), parts)
        for key, (form, parts) in forms.items()
    }
    programs |= _traced_programs(family, mechanism)
    contenders: dict[str, Contender] = {}
    errors: dict[tuple[str, ...], float] = {}
    for key, (program, _) in programs.items():
        count = STATES if key in forms else TRACED_STATES
        inputs = [np.tile(x, (count // STATES, 1)) for x in states]
        if key in forms:
            inputs.append(np.tile(forms[key][0].constants, (count, 1)))
        out = np.empty((count, mechanism.nv))
        run = raw(Kernel(program), 1, inputs, (out,))
        run()
        errors[key] = _agreement(" ".join(key), out[:STATES], expected)
        contenders[" ".join(key)] = Contender(run, count)
    timings, one = by_turns(contenders, effort.rounds), [x[0].tolist() for x in states]
    by_python: dict[str, Contender] = {}
    for key, (form, _) in forms.items():
        numbers = form.constants.tolist()
        errors["interpreted", *key] = _agreement(" ".join(key), np.array(form.page(*one, numbers)), expected[0])
        by_python[" ".join(key)] = Contender(partial(form.page, *one, numbers), 1)
    slowly = by_turns(by_python, max(2, effort.rounds // INTERPRETED_SHARE))
    for key, (program, parts) in programs.items():
        sizes = tuple(len(part) for part in parts)
        operations = program.operations.total()
        yield Entry(family.name, links, *key, sizes, operations, timings[" ".join(key)], errors[key])
        if key in forms:
            name = "interpreted" if key[0] == "dense blocks" else "interpreted, prepared"
            yield Entry(family.name, links, name, key[1], sizes, operations, slowly[" ".join(key)], errors["interpreted", *key])


def _dense_forms(family: Family, mechanism: Mechanism) -> dict[tuple[str, str], tuple[DenseForm, Parts]]:
    tree, gravity = mechanism.tree, mechanism.gravity
    made: dict[tuple[str, str], tuple[DenseForm, Parts]] = {
        ("dense blocks", "Lagrange"): (dense_lagrange(tree, gravity), ()),
        ("dense blocks", "CRBA"): (dense_crba(tree, gravity), ()),
        ("dense blocks", "ABA"): (dense_aba(tree, gravity), ()),
        ("dense blocks", "ADA"): (dense_ada(tree, gravity), ()),
    }

    def count(tree: Tree, parts: Parts) -> int:
        return dense_hybrid(tree, gravity, parts).program(tree, "count").operations.total()

    if len(tree.links) > family.whole:
        parts = family.partition(tree)
        made["dense blocks", "hybrid"] = (dense_hybrid(tree, gravity, parts), parts)
        made["prepared", "hybrid"] = (prepared_hybrid(tree, gravity, parts), parts)
        best = min(tried_partitions(tree, count, DENSE_TRIALS), key=lambda trial: trial.operations).parts
        made["dense blocks", "hybrid, best"] = (dense_hybrid(tree, gravity, best), best)
    return made


def _traced_programs(family: Family, mechanism: Mechanism) -> dict[tuple[str, str], tuple[Program, Parts]]:
    tree, lean = mechanism.tree, mechanism.base_parameter_tree
    made: dict[tuple[str, str], tuple[Program, Parts]] = {
        ("traced", "Lagrange"): (_traced(mechanism, lean, lagrange), ()),
        ("traced", "CRBA"): (_traced(mechanism, lean, partial(factored, crba)), ()),
        ("traced", "ABA"): (_traced(mechanism, lean, aba), ()),
        ("traced", "ADA"): (_traced(mechanism, tree, lambda *state, **options: ada(*state, **options).vdot), ()),
    }
    if len(tree.links) > family.whole:
        for method, parts in (
            ("hybrid", family.partition(tree)),
            ("hybrid, best", chosen_parts(tree, "auto", hybrid_operations)),
        ):
            made["traced", method] = (_traced(mechanism, tree, partial(hybrid, partition=parts)), parts)
    return made


def _traced(mechanism: Mechanism, tree: Tree, page: Callable[..., Any]) -> Program:
    inputs: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": tree.nv, "tau": tree.nv}
    return trace(lambda q, v, tau: page(tree, q, v, tau, Acting(mechanism.gravity)), inputs, f"traced_{mechanism.name}")


def _agreement(what: str, found: np.ndarray, expected: np.ndarray) -> float:
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error <= 1e-6:  # rods that hardly resist their spin leave this much
        raise KumitateError(f"{what}: the accelerations differ from articulated bodies' by {error:.1e} of the largest")
    return error
