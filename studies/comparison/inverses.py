"""The inverses that a forward dynamics takes, by their sizes: the column "Inverse" of thesis table 2.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from kumitate.dynamics.assembly.connection import heavy_freedoms, loop_closers
from kumitate.dynamics.assembly.order import assembly_order, connected_links
from kumitate.errors import InputError
from kumitate.model import Chord, Link, Mechanism, Tree

__all__ = ["inverse_sizes"]


def constraint_inverses(joint: Link | Chord) -> list[int]:
    """The sizes of the matrices inverted to close a joint: one matrix of size 6 − n_J plus the number of armatures."""
    rows = joint.kind.rows if isinstance(joint, Link) else joint.closure.rows
    size = rows + len(heavy_freedoms(joint.armature))
    return [size] if size else []


def joint_inverses(link: Link) -> list[int]:
    """The sizes of the matrices inverted to close a link's joint if it does not close a loop: 6 and n_J."""
    return [6, link.kind.nv]


def inverse_sizes(mechanism: Mechanism, method: str, order: str | Sequence[int] | None = None) -> dict[int, int]:
    """The matrices that a method inverts for one state, as size: count.

    What depends on no state does not count: the links' own inverse inertias are numbers. The mass-matrix methods, "crba" and
    "unit_vector", invert one matrix of the size of v. Of a mechanism with loops these and "aba" invert one more, of the size of
    all that its loops hold; "ada" and "dca" one for each joint and gear, as of a tree.

    Args:
        method: of `forward_dynamics`.
        order: of assembly, as `assembled_accelerations` has it; what closes loops depends on it.

    Raises:
        InputError: for a method that is not known here; the message lists them.

    >>> import kumitate as km
    >>> inverse_sizes(km.load("pa10").mechanism, "ada")
    {5: 7}
    """
    tree = mechanism.tree
    if method not in _METHODS:
        raise InputError(f"there is no count of inverses for {method!r}; there are {', '.join(_METHODS)}")
    return dict(sorted(Counter(_METHODS[method](tree, order)).items(), reverse=True))


def _released(tree: Tree, order: str | Sequence[int] | None) -> list[int]:
    """Articulated bodies: n_J, found by releasing one degree of freedom after another."""
    return [link.kind.nv for link in tree.links] + _loops(tree)


def _whole(tree: Tree, order: str | Sequence[int] | None) -> list[int]:
    return [tree.nv, *_loops(tree)]


def _loops(tree: Tree) -> list[int]:
    rows = sum(size for chord in tree.chords for size in constraint_inverses(chord)) + len(tree.gears)
    return [rows] if rows else []


def _assembled(of_link: Callable[[Link], list[int]], tree: Tree, order: str | Sequence[int] | None) -> list[int]:
    held = connected_links(tree)
    turns = [j for j in assembly_order(tree, order) if held[j]]
    closers = loop_closers(tree, turns)
    sizes = [size for j in turns if j < len(tree.links) and j not in closers for size in of_link(tree.links[j])]
    by_constraint: list[Link | Chord] = [*(tree.links[j] for j in turns if j < len(tree.links) and j in closers), *tree.chords]
    return sizes + [size for joint in by_constraint for size in constraint_inverses(joint)] + [1] * len(tree.gears)


_METHODS: dict[str, Callable[[Tree, str | Sequence[int] | None], list[int]]] = {
    "aba": _released,
    "ada": lambda tree, order: _assembled(constraint_inverses, tree, order),
    "dca": lambda tree, order: _assembled(joint_inverses, tree, order),
    "crba": _whole,
    "unit_vector": _whole,
}
