"""Elements, rows and slices of arrays."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from ..kinds import FLOAT, INT, ArrayKind, RecordKind
from ..tree import ArrayElement, ArrayRow, ArraySlice, Constant, Expression, Length, Member
from .expressions import Expressions, whole

__all__ = ["Indexing"]


class Indexing(Expressions):
    """Reads what stands in brackets."""

    def read_Subscript(self, node: ast.Subscript) -> Expression:
        base = self.read(node.value)
        written = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(base.kind, RecordKind):
            chosen = self.read(written[0])
            if len(written) == 1 and isinstance(chosen, Constant) and 0 <= chosen.value < len(base.kind.parts):
                return Member(base, chosen.value, base.kind.parts[chosen.value])
            raise self.source.fault(node, f"an index of a tuple is a number from 0 to {len(base.kind.parts) - 1}")
        if not isinstance(base.kind, ArrayKind):
            raise self.source.fault(node, f"{base.kind} has no elements")
        last = written[-1]
        if isinstance(last, ast.Slice):
            if len(written) > 1:
                base = self.place(base, written[:-1], node)
            return self.part(base, last, node)
        return self.place(base, written, node)

    def place(self, base: Expression, written: Sequence[ast.expr], node: ast.AST) -> Expression:
        """What indices choose: an element, or a row."""
        assert isinstance(base.kind, ArrayKind)
        if len(written) > len(base.kind.shape):
            raise self.source.fault(node, f"{base.kind} has {len(base.kind.shape)} axes, and there are {len(written)} indices")
        indices = tuple(self.index(base, axis, part) for axis, part in enumerate(written))
        kind = base.kind.after(len(indices))
        made = ArrayRow if isinstance(kind, ArrayKind) else ArrayElement
        return made(base, indices, kind, self.source.site(node))

    def index(self, base: Expression, axis: int, node: ast.expr) -> Expression:
        """One index; a constant one is checked, and counted from the end if it is negative."""
        if isinstance(node, ast.Slice):
            raise self.source.fault(node.lower or node.upper or ast.Constant(None, lineno=1), "a slice is the last index only")
        found = self.number(node)
        if found.kind == FLOAT:
            raise self.source.fault(node, "is a float; indices are integers: write int(...)")
        found = self.as_kind(found, INT, node)
        assert isinstance(base.kind, ArrayKind)
        size = base.kind.shape[axis]
        if isinstance(found, Constant):
            if size is None:
                return found if found.value >= 0 else self.operation("add.i", [Length(base, INT), found], node)
            if not -size <= found.value < size:
                raise self.source.fault(node, f"index {found.value} of an axis of {size} elements")
            return whole(found.value % size)
        return found

    def part(self, base: Expression, cut: ast.Slice, node: ast.AST) -> Expression:
        """`x[a:b]`: of fixed shape if both are constants."""
        assert isinstance(base.kind, ArrayKind)
        if cut.step is not None:
            raise self.source.fault(node, "slices have no step; write a loop")
        start = whole(0) if cut.lower is None else self.as_kind(self.number(cut.lower), INT, node)
        stop = None if cut.upper is None else self.as_kind(self.number(cut.upper), INT, node)
        size = base.kind.shape[0]
        if stop is None and size is not None:
            stop = whole(size)
        length = None
        if isinstance(start, Constant) and isinstance(stop, Constant):
            length = stop.value - start.value
        for end in (start, stop):
            if isinstance(end, Constant) and (end.value < 0 or (size is not None and end.value > size)):
                raise self.source.fault(node, f"{end.value} is not an end of an array of {size or 'any number of'} rows")
        if length is not None and length < 0:
            raise self.source.fault(node, "the slice ends before it begins")
        kind = replace(base.kind, shape=(length, *base.kind.shape[1:]))
        return ArraySlice(base, start, stop, kind, self.source.site(node))
