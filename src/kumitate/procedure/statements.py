"""From Python's statements to typed ones: which names have values where, and what is written to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from . import tree
from .expressions import Calling, whole
from .kinds import FLOAT, INT, NOTHING, ArrayKind, RecordKind
from .source import Source


def read_procedure(function: Callable[..., Any]) -> tree.TypedProcedure:
    """The typed tree of a function; a `ProcedureError` if it leaves the subset."""
    source = Source(function)
    parameters, result = source.signature()
    typed = tree.TypedProcedure(function.__name__, parameters, result)
    reader = _Statements(source, typed)
    typed.names.update(parameters)
    typed.assignments.update(list(typed.names))
    reader.assigned = {name for name, _ in parameters}
    typed.body = reader.block(source.tree.body)
    if reader.assigned is not None and result != NOTHING:
        raise source.fault(source.tree, f"can end without a result; every path returns {result}")
    reader.find_writes()
    return typed


class _Statements(Calling):
    """Reads the statements of one procedure."""

    def __init__(self, source: Source, typed: tree.TypedProcedure):
        super().__init__(source, typed)
        self.leaving: list[list[set[str] | None]] = []  # of each loop around: what has a value where it is left
        self.again: list[list[set[str] | None]] = []  # likewise where its next pass begins

    def block(self, body: Sequence[ast.stmt]) -> tuple[tree.Statement, ...]:
        """The statements of a block."""
        found: list[tree.Statement] = []
        around = self.before
        for node in body:
            self.before = []
            method = getattr(self, f"read_{type(node).__name__}", None)
            if method is None:
                raise self.source.fault(node, f"{type(node).__name__} is not a statement of procedures; see kumitate.procedure")
            made = method(node)
            found += [*self.before, *(made if isinstance(made, list) else [made] if made is not None else [])]
        self.before = around
        return tuple(found)

    # --- values -------------------------------------------------------------------------------------------------------
    def read_Pass(self, node: ast.Pass) -> None:
        return None

    def read_Expr(self, node: ast.Expr) -> tree.Statement | None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return None
        return tree.Set((), self.read(node.value))

    def read_Assign(self, node: ast.Assign) -> tree.Statement | list[tree.Statement]:
        if len(node.targets) != 1:
            raise self.source.fault(node, "gives a value to several names; write one assignment each")
        if (array := self.whole_array(node.targets[0])) is not None:
            return self.elements(array, None, node.value, node)
        if isinstance(node.targets[0], ast.Name) and self.is_arithmetic(node.value) and self.shape(node.value):
            return self.new_array(node.targets[0], node.value)
        value = self.read(node.value)
        if not isinstance(node.targets[0], ast.Tuple):
            return self.assign([node.targets[0]], [value], node)
        targets = node.targets[0].elts
        if not isinstance(value.kind, RecordKind) or len(value.kind.parts) != len(targets):
            raise self.source.fault(node, f"gives {value.kind} to {len(targets)} targets")
        if isinstance(value, tree.Made):
            return self.assign(targets, value.parts, node)
        made = self.assign(targets, [tree.Member(value, k, part) for k, part in enumerate(value.kind.parts)], node)
        if value.kind.parts != tuple(target.kind for target in made.targets):
            raise self.source.fault(node, f"gives {value.kind} to names of other kinds; use other names")
        return tree.Set(made.targets, value)

    def assign(self, targets: Sequence[ast.expr], values: Sequence[tree.Expression], node: ast.AST) -> tree.Set:
        """Values for targets; each is turned into its target's kind."""
        places = tuple(self.target(target, value) for target, value in zip(targets, values, strict=True))
        turned = tuple(self.as_kind(value, place.kind, node) for value, place in zip(values, places, strict=True))
        if len(turned) == 1:
            return tree.Set(places, turned[0])
        return tree.Set(places, tree.Made(turned, RecordKind(tuple(value.kind for value in turned))))

    def target(self, node: ast.expr, value: tree.Expression) -> tree.Local | tree.SetElement:
        """A name, or an element of an array."""
        if isinstance(node, ast.Name):
            if value.kind == NOTHING:
                raise self.source.fault(node, "is given None; the procedure called returns nothing")
            kind = self.typed.names.setdefault(node.id, value.kind)
            self.typed.assignments[node.id] += 1
            self.assigned = None if self.assigned is None else self.assigned | {node.id}
            self.typed.origins.setdefault(node.id, []).append(value)
            return tree.Local(node.id, kind)
        if isinstance(node, ast.Subscript):
            found = self.read(node)
            if isinstance(found, tree.ArrayElement):
                self.written.append((found.array, node))
                return tree.SetElement(found.array, found.indices, found.kind, found.site)
            raise self.source.fault(node, f"is {found.kind}; of several values each is a number: write this one by itself")
        raise self.source.fault(node, "cannot be given a value; write to a name, or to an element of an array")

    def read_AnnAssign(self, node: ast.AnnAssign) -> tree.Statement:
        if node.value is None:
            raise self.source.fault(node, "has no value; write one")
        return self.assign([node.target], [self.read(node.value)], node)

    def read_AugAssign(self, node: ast.AugAssign) -> tree.Statement | list[tree.Statement]:
        array = self.read(node.target) if isinstance(node.target, ast.Name) else self.whole_array(node.target)
        if array is not None and isinstance(array.kind, ArrayKind):
            return self.elements(array, node.op, node.value, node)
        value = self.read(node.value)
        if isinstance(node.target, ast.Name):
            old = self.read(ast.Name(node.target.id, ast.Load(), lineno=node.lineno))
            return self.assign([node.target], [self.binary(node.op, old, value, node)], node)
        place = self.target(node.target, value)
        assert isinstance(place, tree.SetElement)
        combined = self.as_kind(self.binary(node.op, tree.Old(place.kind), value, node), place.kind, node)
        return tree.Set((replace(place, updated=True),), combined)

    def whole_array(self, node: ast.expr) -> tree.Expression | None:
        """The array, row or slice that stands left of an assignment of arrays; None of names and elements."""
        if not isinstance(node, ast.Subscript):
            return None
        is_all = isinstance(node.slice, ast.Slice) and node.slice.lower is node.slice.upper is node.slice.step is None
        found = self.read(node.value if is_all else node)
        return found if isinstance(found.kind, ArrayKind) else None

    def new_array(self, target: ast.Name, value: ast.expr) -> list[tree.Statement]:
        """A name for a local array of the values of arithmetic on arrays."""
        shape = self.shape(value)
        if None in shape:
            raise self.source.fault(value, "has any number of rows; give them to an array that is there, as in y[:] = 2.0 * x")
        if target.id in {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}:
            raise self.source.fault(value, "is a new array by its old values, which are gone; write x[:] = ..., or x += ...")
        named = self.assign([target], [tree.Fresh(ArrayKind(FLOAT, shape))], value)
        return [named, *self.elements(self.read(target), None, value, value)]

    def computed(self, value: ast.expr) -> ast.Name:
        """A name for what arithmetic on arrays gives before the statement."""
        name = ast.copy_location(ast.Name(f"_values{len(self.typed.names)}", ast.Load()), value)
        self.source.inside.add(name.id)
        self.before += self.new_array(name, value)
        return name

    def elements(self, array: tree.Expression, op: ast.operator | None, value: ast.expr, node: ast.AST) -> list[tree.Statement]:
        """Gives every element of an array its own of a value: a vector of three one by one, others in loops over their axes."""
        assert isinstance(array.kind, ArrayKind)
        self.written.append((array, node))
        shape, kind = self.shape(value), array.kind.element
        if shape and shape != array.kind.shape:
            raise self.source.fault(node, f"gives {_sizes(shape)} numbers to an array of {_sizes(array.kind.shape)}")
        if shape and self.reads(value, tree.roots(self.typed, array)):
            return self.elements(array, op, self.computed(value), node)
        once = self.once = []

        def given(at: Sequence[tree.Expression]) -> tree.Set:
            place = self.element_of(array, at, node)
            one = self.element(value, at)
            one = one if op is None else self.binary(op, tree.Old(kind), one, node)
            spot = tree.SetElement(place.array, place.indices, kind, place.site, updated=op is not None)
            return tree.Set((spot,), self.as_kind(one, kind, node))

        if array.kind.shape == (3,):
            made: list[tree.Statement] = [given([whole(k)]) for k in range(3)]
        else:
            names = [f"_at{axis}" for axis in range(len(array.kind.shape))]
            for name in names:
                self.target(ast.Name(name), whole(0))
            body: tree.Statement = given([tree.Local(name, INT) for name in names])
            for name, size in zip(reversed(names), reversed(array.kind.shape), strict=True):
                stop = tree.Length(array, INT) if size is None else whole(size)
                body = tree.Counting(name, whole(0), stop, 1, (body,))
            made = [body]
        self.once = None
        return [*once, *made]

    # --- paths --------------------------------------------------------------------------------------------------------
    def read_If(self, node: ast.If) -> tree.Statement:
        condition = self.condition(node.test)
        before = self.assigned
        then = self.block(node.body)
        after, self.assigned = self.assigned, before
        other = self.block(node.orelse)
        self.assigned = _joined([after, self.assigned])
        return tree.When(condition, then, other)

    def read_While(self, node: ast.While) -> tree.Statement:
        condition = self.at_once(node.test, self.condition)
        body, left, _ = self.loop(node)
        forever = isinstance(condition, tree.Constant) and condition.value
        self.assigned = _joined(left) if forever else self.assigned
        return tree.Repeat(condition, body)

    def read_For(self, node: ast.For) -> tree.Statement:
        if isinstance(node.iter, ast.Name | ast.Attribute) and self.read(node.iter).kind == ArrayKind(INT, (None,)):
            node = self.along(node)
        called = node.iter
        is_range = isinstance(called, ast.Call) and self.source.static(called.func) is range
        if not is_range or not isinstance(called, ast.Call) or not isinstance(node.target, ast.Name):
            raise self.source.fault(node.iter, "loops count: write for i in range(...)")
        if called.keywords or not 1 <= len(called.args) <= 3:
            raise self.source.fault(called, "range takes one, two or three integers")
        ends = [self.as_kind(self.number(argument), INT, argument) for argument in called.args]
        start, stop = (whole(0), ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        step = ends[2] if len(ends) == 3 else whole(1)
        if not isinstance(step, tree.Constant) or step.value == 0:
            raise self.source.fault(called, "the step of a range is a constant that is not 0")
        before = self.assigned
        self.target(node.target, start)
        body, left, ended = self.loop(node)
        found = tree.Counting(node.target.id, start, stop, step.value, body)
        self.assigned = _joined([*left, ended]) if found.passes else before
        return found

    def along(self, node: ast.For) -> ast.For:
        """A loop along a list of integers, as one that counts their places."""
        place = ast.Name(f"_place{len(self.typed.names)}", ast.Load())
        self.source.inside.add(place.id)
        count = ast.Call(ast.Name("range"), [ast.Call(ast.Name("len"), [node.iter], [])], [])
        taken = ast.Assign([node.target], ast.Subscript(node.iter, place, ast.Load()))
        return ast.fix_missing_locations(ast.copy_location(ast.For(place, count, [taken, *node.body], node.orelse), node))

    def loop(self, node: ast.While | ast.For) -> tuple[tuple[tree.Statement, ...], list[set[str] | None], set[str] | None]:
        """The body of a loop; what has a value where it breaks, and at its end. What has one before is put back."""
        if node.orelse:
            raise self.source.fault(node, "loops have no else; set a flag before break")
        before = self.assigned
        self.leaving.append([])
        self.again.append([])
        body = self.block(node.body)
        ended = _joined([self.assigned, *self.again.pop()])
        self.assigned = before
        return body, self.leaving.pop(), ended

    def read_Break(self, node: ast.Break | ast.Continue) -> tree.Statement:
        leaves = isinstance(node, ast.Break)
        (self.leaving if leaves else self.again)[-1].append(self.assigned)
        self.assigned = None
        return tree.Jump(leaves)

    read_Continue = read_Break

    def read_Return(self, node: ast.Return) -> tree.Statement:
        value = None if node.value is None else self.read(node.value)
        if (value is None) != (self.typed.result == NOTHING):
            raise self.source.fault(
                node, f"returns {'nothing' if value is None else value.kind}; the annotation says {self.typed.result}"
            )
        if value is not None:
            value = self.as_kind(value, self.typed.result, node)
        self.assigned = None
        return tree.Return(value)

    # --- what is written to -------------------------------------------------------------------------------------------
    def find_writes(self) -> None:
        """Finds the arguments that are written to, and refuses to write to constants."""
        for array, node in self.written:
            self.write(array, (), node)
        for made, node in self.handed:
            names = [name for name, _ in made.procedure.parameters]
            for path in made.procedure.writes:
                name, *fields = path.split(".")
                self.write(made.arguments[names.index(name)], tuple(fields), node)

    def write(self, array: tree.Expression, path: tuple[str, ...], node: ast.AST) -> None:
        """Notes that this array, or a field of this record, is written to."""
        found = tree.roots(self.typed, array, path)
        if tree.CONSTANT in found:
            raise self.source.fault(node, "writes to a constant of the module; make it an argument")
        names = {name for name, _ in self.typed.parameters}
        self.typed.writes |= {root for root in found if root.split(".")[0] in names}


def _sizes(shape: Sequence[int | None]) -> str:
    return " × ".join("n" if size is None else str(size) for size in shape)


def _joined(paths: Sequence[set[str] | None]) -> set[str] | None:
    """What has a value on all paths that lead on; None if none does."""
    open_paths = [path for path in paths if path is not None]
    return set.intersection(*open_paths) if open_paths else None
