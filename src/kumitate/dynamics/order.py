"""The order in which joints are assembled: free in principle (thesis 2.2.1), but not all orders cost the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import InputError, ModelError
from ..model import Link, Tree

__all__ = ["ORDERS", "WORLD", "assembly_order", "carriers"]

#: The index of the world.
WORLD = -1


def carriers(tree: Tree) -> dict[int, int]:
    """The index of the link (or the world) on A's side of every joint, by the index of the link on B's side."""
    return {child.index: index for index in (WORLD, *(link.index for link in tree.links)) for child in tree.children(index)}


def both_ends(tree: Tree) -> list[int]:
    """From the world to the middle of every trunk, and from the tips to there.

    The bodies next to the world and at the tips have many zeros, and the joint in the middle, closed last, passes nothing on.
    """
    branching = {link.index for link in tree.links if len(tree.children(link.index)) > 1}
    trunks = [_trunk(tree, root) for root in tree.children(WORLD)]
    outer = [index for trunk in trunks for index in trunk[: (len(trunk) + (trunk[-1] in branching)) // 2]]
    return outer + [index for index in reversed(range(len(tree.links))) if index not in outer]


def leaf_first(tree: Tree) -> list[int]:
    """From the tips to the world."""
    return list(reversed(range(len(tree.links))))


def serial(tree: Tree) -> list[int]:
    """From the world to the tips."""
    return list(range(len(tree.links)))


def balanced(tree: Tree) -> list[int]:
    """As many joints as possible side by side, then the same with what they have made: O(log n) rounds in a chain."""
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
    return order


ORDERS: dict[str, Callable[[Tree], list[int]]] = {
    "balanced": balanced, "both_ends": both_ends, "leaf_first": leaf_first, "serial": serial
}  # fmt: skip


def assembly_order(tree: Tree, order: str | Sequence[int]) -> list[int]:
    """The indices of a tree's joints in the order named, or as given.

    Raises:
        InputError: for an unknown name; ModelError: if a sequence does not name every joint once.
    """
    if isinstance(order, str):
        if order not in ORDERS:
            raise InputError(
                f"there is no order of assembly {order!r}; there are {', '.join(ORDERS)}, or give the joints' indices"
            )
        return ORDERS[order](tree)
    last = len(tree.links) - 1
    if sorted(order) != list(range(last + 1)):
        raise ModelError(f"the order of assembly {list(order)} must name each of the joints 0 … {last} once")
    return list(order)


def _trunk(tree: Tree, link: Link) -> list[int]:
    """The links from this one on as long as each carries one other."""
    trunk = [link.index]
    while len(children := tree.children(trunk[-1])) == 1:
        trunk.append(children[0].index)
    return trunk
