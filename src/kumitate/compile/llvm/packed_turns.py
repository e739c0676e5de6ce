"""Sines and cosines of several joints at once, for one state: four in a vector, before anything else is computed.

The results go through memory, where the scalar code that follows reads them. Vectors of eight would be slower: processors that
have them run at half their width meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Symbol

__all__ = ["PACKED", "Angle", "packed_angles"]

#: How many are computed at once, in 256 bits.
PACKED = 4
#: An angle: the node, the input that it is read from, and the number that is added to that.
Angle = tuple[Symbol, Symbol, float]


def packed_angles(line: Sequence[Symbol]) -> list[list[Angle]]:
    """The arguments of sines and cosines that are known before the line runs, in groups of two to `PACKED`."""
    found: dict[Symbol, Angle] = {}
    for node in line:
        if node.op in ("sin", "cos") and node.args[0] not in found:
            angle = _read(node.args[0])
            if angle is not None:
                found[angle[0]] = angle
    angles = list(found.values())
    groups = [angles[k : k + PACKED] for k in range(0, len(angles), PACKED)]
    return [group for group in groups if len(group) > 1]


def _read(node: Symbol) -> Angle | None:
    """An input, or an input and a number."""
    if node.op == "input":
        return node, node, -0.0  # which changes no number, zeros included
    if node.op not in ("add", "sub"):
        return None
    first, second = node.args
    if first.op == "input" and second.op == "const":
        return node, first, second.payload if node.op == "add" else -second.payload
    return (node, second, first.payload) if node.op == "add" and first.op == "const" and second.op == "input" else None
