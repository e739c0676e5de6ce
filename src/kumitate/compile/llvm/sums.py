"""Sums in the form that the machine computes fastest: a·b + c in one instruction, for as many products as there are.

A trace adds two terms at a time: x + (a·b + c·d) is a product, a fused product, and a sum. Flattened, it is two fused products.
The order of the terms is decided here, alike for every number of lanes, so that a state has the same bits alone and in a batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...scalar import LoopBlock, Symbol

__all__ = ["WINDOW", "Term", "fused_sums", "uses", "uses_of_pass"]

#: A sum takes in what stands at most so many nodes before its use: until then its terms live, and registers are few.
WINDOW = 40


class Term(NamedTuple):
    """One term of a sum: a value or the product of two, and whether it is subtracted."""

    negative: bool
    factors: tuple[Symbol, ...]


def uses(line: Sequence[Symbol], further: Iterable[Symbol]) -> Counter[Symbol]:
    """How often each node of a line is used: in the line, and by what is listed as `further`."""
    found = Counter(further)
    for node in line:
        found.update(node.args)
    return found


def uses_of_pass(block: LoopBlock) -> Counter[Symbol]:
    """How often each node of a loop's line is used in a pass."""
    return uses(block.line, [s for s in (*block.following, *block.stacked, block.condition) if s is not None])


def fused_sums(line: Sequence[Symbol], used: Mapping[Symbol, int]) -> tuple[dict[Symbol, list[Term]], set[Symbol]]:
    """The sums of a line by the node that each ends in, and the nodes that are computed in no other way than within them.

    Terms come in the order in which they are known, behind one that is not a product, if there is one.
    """
    place = {node: k for k, node in enumerate(line)}
    taken: set[Symbol] = set()
    sums: dict[Symbol, list[Term]] = {}
    for node in reversed(line):  # a sum before those that it may take in
        if node.op in ("add", "sub") and node not in taken:
            terms = _terms(node, place, used, taken)
            terms.sort(key=lambda term: max(place.get(factor, -1) for factor in term.factors))
            first = next((k for k, term in enumerate(terms) if len(term.factors) == 1), 0)
            sums[node] = [terms[first], *terms[:first], *terms[first + 1 :]]
    return sums, taken


def _terms(root: Symbol, place: Mapping[Symbol, int], used: Mapping[Symbol, int], taken: set[Symbol]) -> list[Term]:
    """The terms of a sum; what it takes in is added to `taken`."""
    terms: list[Term] = []
    waiting = [(root, False, root)]
    while waiting:
        node, negative, user = waiting.pop()
        if node is not root:
            alone = used[node] == 1 and node in place and place[user] - place[node] <= WINDOW
            if not alone or node.op not in ("add", "sub", "mul"):
                terms.append(Term(negative, (node,)))
                continue
            taken.add(node)
            if node.op == "mul":
                terms.append(Term(negative, node.args))
                continue
        first, second = node.args
        waiting += [(second, negative != (node.op == "sub"), node), (first, negative, node)]
    return terms
