"""The order in which joints are assembled: any order is valid (thesis 2.2.1), but the costs differ.

Connections are numbered: the joints of the tree by their links, then the chords, then the gears.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ...errors import InputError, ModelError
from ...model import Link, Tree
from .connection import WORLD, carriers, connected_links


def few_handles(tree: Tree, preferred: Sequence[int]) -> list[int]:
    """Repeatedly picks the connection whose assembled body keeps the fewest handles; small loops are closed first.

    The world does not count as a handle, since forces do not pass through it: trees that stand on it stay separate. Ties
    are decided by the order `preferred`.
    """
    held = connected_links(tree)
    coupled = {link.index: {link.index} for link in tree.links}
    still_open = Counter(end for ends in held for end in ends)
    waiting, order = sorted(range(len(held)), key=preferred.index), []

    def joined(j: int) -> set[int]:
        return {index for end in held[j] if end != WORLD for index in coupled[end]}

    def handles_left(j: int) -> int:
        return sum(still_open[index] > (index in held[j]) for index in joined(j))

    while waiting:
        best = min(waiting, key=handles_left)
        waiting.remove(best)
        order.append(best)
        still_open.subtract(held[best])
        coupled |= dict.fromkeys(joined(best), joined(best))
    return order


#: A name in `ORDERS`, or the numbers of the connections; None for an order that costs little.
Order = str | Sequence[int] | None


def both_ends(tree: Tree) -> list[int]:
    """From the world to the middle of every unbranched chain, and from the tips to the middle.

    The bodies next to the world and at the tips have many zeros, and the joint in the middle, closed last, leaves no handles.
    """
    branching = {link.index for link in tree.links if len(tree.children(link.index)) > 1}
    trunks = [_trunk(tree, root) for root in tree.children(WORLD)]
    outer = [index for trunk in trunks for index in trunk[: (len(trunk) + (trunk[-1] in branching)) // 2]]
    return _with_loops(tree, outer + [index for index in reversed(range(len(tree.links))) if index not in outer])


def leaf_first(tree: Tree) -> list[int]:
    """From the tips to the world."""
    return _with_loops(tree, reversed(range(len(tree.links))))


def serial(tree: Tree) -> list[int]:
    """From the world to the tips."""
    return _with_loops(tree, range(len(tree.links)))


def balanced(tree: Tree) -> list[int]:
    """As many independent joints as possible per round, then the same with the assembled bodies: O(log n) rounds in a chain."""
    joints = carriers(tree)
    body = {index: index for index in (WORLD, *joints)}  # named by one of its links
    order: list[int] = []
    while len(order) < len(joints):
        taken: set[int] = set()
        for index in sorted(joints):
            A, B = body[joints[index]], body[index]
            if A != B and not taken & {A, B}:
                taken |= {A, B}
                order.append(index)
                body = {index: A if name == B else name for index, name in body.items()}
    return _with_loops(tree, order)


ORDERS: dict[str, Callable[[Tree], list[int]]] = {
    "balanced": balanced,
    "both_ends": both_ends,
    "few_handles": lambda tree: few_handles(tree, both_ends(tree)),
    "leaf_first": leaf_first,
    "serial": serial,
}


def assembly_order(tree: Tree, order: Order = None) -> list[int]:
    """The indices of a tree's joints, chords and gears in a named or given order; by default in one that costs little.

    Raises:
        InputError: for an unknown name; ModelError: if a sequence does not name each of them exactly once.
    """
    if order is None:
        order = "few_handles" if tree.closed else "both_ends"
    if isinstance(order, str):
        if order not in ORDERS:
            raise InputError(
                f"there is no order of assembly {order!r}; there are {', '.join(ORDERS)}, or give the joints' indices"
            )
        return ORDERS[order](tree)
    last = len(tree.links) + len(tree.chords) + len(tree.gears) - 1
    if sorted(order) != list(range(last + 1)):
        raise ModelError(f"the order of assembly {list(order)} must name each of the joints 0 … {last} once, loops after links")
    return list(order)


def _with_loops(tree: Tree, joints: Iterable[int]) -> list[int]:
    """The order with chords and gears inserted as soon as their links belong to one body."""
    held = connected_links(tree)
    waiting = list(range(len(tree.links), len(held)))
    body = {index: index for index in range(WORLD, len(tree.links))}
    order: list[int] = []
    for j in joints:
        order.append(j)
        if not waiting:
            continue
        names = {body[end] for end in held[j]}
        body = {index: min(names) if name in names else name for index, name in body.items()}
        ready = [k for k in waiting if len({body[end] for end in held[k]}) <= 1]
        order += ready
        waiting = [k for k in waiting if k not in ready]
    return order + waiting


def _trunk(tree: Tree, link: Link) -> list[int]:
    """The unbranched chain that starts at this link."""
    trunk = [link.index]
    while len(children := tree.children(trunk[-1])) == 1:
        trunk.append(children[0].index)
    return trunk
