"""The inverses that a forward dynamics takes, by their sizes: the column "Inverse" of thesis table 2.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..errors import InputError
from ..model import Link, Mechanism
from .ada import constraint_inverses
from .dca import joint_inverses

__all__ = ["inverse_sizes"]


def released_inverses(link: Link) -> list[int]:
    """Articulated bodies: n_J, found by releasing one freedom after another."""
    return [link.kind.nv]


_OF_JOINT: dict[str, Callable[[Link], list[int]]] = {
    "aba": released_inverses, "ada": constraint_inverses, "dca": joint_inverses
}  # fmt: skip


def inverse_sizes(mechanism: Mechanism, method: str) -> dict[int, int]:
    """How many matrices of which size a method inverts for one state, as size: count.

    What depends on no state does not count: the links' own inverse inertias are numbers. The mass-matrix methods, "crba" and
    "unit_vector", invert one matrix of the size of v.

    Args:
        method: of `forward_dynamics`.

    Raises:
        InputError: for a method that is not known here; the message lists them.

    >>> import kumitate as km
    >>> inverse_sizes(km.load("pa10").mechanism, "ada")
    {5: 7}
    """
    tree = mechanism.tree
    if method in ("crba", "unit_vector"):
        return {tree.nv: 1}
    if method not in _OF_JOINT:
        raise InputError(f"there is no count of inverses for {method!r}; there are {', '.join(_OF_JOINT)}, crba, unit_vector")
    sizes = Counter(size for link in tree.links for size in _OF_JOINT[method](link))
    return dict(sorted(sizes.items(), reverse=True))
