"""The rules that every program obeys, checked between the compiler's passes if KUMITATE_VERIFY is set, as in the tests.

Otherwise a faulty pass would show up much later, as a wrong number or an LLVM error; here it is named with the node.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from ..errors import ProgramError
from .blocks import Array, LoopBlock, Program, origin
from .graph import Symbol
from .operations import TRACED

NUMBER, CONDITION, COUNTER, LOOP, CALL = "number", "condition", "counter", "loop", "call"
_LETTERS = {"f": NUMBER, "b": CONDITION}
#: The kinds of the operands of every operation, and the kind of its result.
_OPERATIONS = {
    name: (tuple(_LETTERS[letter] for letter in row.kinds[:-1]), _LETTERS[row.kinds[-1]]) for name, row in TRACED.items()
}
#: The kinds of the nodes that read, repeat or call; a capture is of the kind of what it captures.
_BLOCKS = {
    **dict.fromkeys(("const", "hole", "input", "load", "lookup", "ordinal", "carried", "result", "element"), NUMBER),
    "counter": COUNTER,
    "loop": LOOP,
    "call": CALL,
}


def verifying() -> bool:
    """Whether programs are checked between passes: whether $KUMITATE_VERIFY is set, to anything but 0."""
    return os.environ.get("KUMITATE_VERIFY", "0") not in ("", "0")


def verify(program: Program, after: str = "trace") -> None:
    """Checks that a program keeps the rules; those that it calls were checked when they were traced.

    A `ProgramError` names the pass, `after`, that made it, the node and the rule.
    """
    check = _Check(program, after)
    check.arrays()
    made = check.line(program.line, None)
    check.results(made)


class _Block(NamedTuple):
    """The loop whose line is being checked, and the values made by the line around it."""

    node: Symbol
    around: dict[Symbol, str]


class _Check:
    """One program under check."""

    def __init__(self, program: Program, after: str):
        self.program, self.after = program, after
        self.sizes = {array.name: array.size for array in program.inputs}
        self.counts: dict[Symbol, int] = {}  # number of passes per counter
        self.seen: set[Symbol] = set()

    def refuse(self, node: object, got: str, rule: str) -> NoReturn:
        raise ProgramError(
            f"{self.program.name}, after {self.after!r}: {node!r} {got}; {rule}. "
            "This is a fault of the compiler, not of the model: report it with what was compiled"
        )

    # --- the whole ------------------------------------------------------------------------------------------------------------
    def arrays(self) -> None:
        """Names are given once, and there is one result per scalar of the outputs."""
        for arrays in (self.program.inputs, self.program.outputs):
            names = [array.name for array in arrays]
            if twice := [name for name in names if names.count(name) > 1]:
                self.refuse(twice[0], "names two arrays", "names of inputs and of outputs are different")
        expected = _scalars(self.program.outputs)
        if len(self.program.results) != expected:
            self.refuse("results", f"are {len(self.program.results)}", f"the outputs hold {expected} scalars")

    def results(self, made: dict[Symbol, str]) -> None:
        """Results are numbers that the line computes."""
        for node in self.program.results:
            self.expect(node, "a result", made, node, NUMBER)

    def line(self, nodes: Sequence[Symbol], block: _Block | None) -> dict[Symbol, str]:
        """The kinds of the nodes of a line, which are checked one after the other."""
        made: dict[Symbol, str] = {}
        for node in nodes:
            if node in self.seen:
                self.refuse(node, "stands twice", "a node is computed in one place")
            self.seen.add(node)
            signature = _OPERATIONS.get(node.op)
            if signature is None:
                made[node] = self.block_node(node, made, block)
                continue
            kinds, made[node] = signature
            if len(node.args) != len(kinds):
                self.refuse(node, f"has {len(node.args)} operands", f"{node.op} takes {len(kinds)}")
            for argument, kind in zip(node.args, kinds):  # noqa: B905 (as many, as was just seen; strict costs a third)
                if made.get(argument) is not kind:
                    self.expect(node, "an operand", made, argument, kind)
        return made

    def expect(self, node: Symbol, what: str, made: dict[Symbol, str], found: Symbol, *kinds: str) -> None:
        """Checks that an operand is made before it is used, and is of a right kind."""
        kind = made.get(found)
        if kind is None or (found is node and what == "an operand"):
            self.refuse(node, f"has {what} {found!r} that is not made before", "operands are computed earlier in the same line")
        if kind not in kinds:
            self.refuse(node, f"has {what} {found!r} that is a {kind}", f"here stands a {' or a '.join(kinds)}")

    # --- what is not arithmetic -----------------------------------------------------------------------------------------------
    def block_node(self, node: Symbol, made: dict[Symbol, str], block: _Block | None) -> str:
        """The kind of a node that reads, repeats or calls."""
        if node.op == "capture":
            return self.captured(node, block)
        if node.op not in _BLOCKS:
            self.refuse(node, "is not an operation", "the operations are those of `scalar.operations`, and the blocks")
        payload = node.payload
        if node.op == "const":
            if node.args or payload.__class__ is not float:
                self.refuse(node, f"holds {payload!r}", "a constant is a float")
        elif node.op == "input":
            self.within(node, self.input_size(node, payload[0]), payload[1], payload[1])
        elif node.op == "load":
            self.indexed(node, made, self.input_size(node, payload[0]))
        elif node.op in ("lookup", "ordinal"):
            self.indexed(node, made, None if node.op == "ordinal" else len(payload[0]))
        elif node.op == "counter":
            if block is None or COUNTER in made.values():
                self.refuse(node, "has no loop of its own", "a loop has one counter, and it stands in the loop's own line")
            self.counts[node] = block.node.payload.count
        elif node.op != "hole":
            getattr(self, f"_{node.op}")(node, made, block)
        return _BLOCKS[node.op]

    def _carried(self, node: Symbol, made: dict[Symbol, str], block: _Block | None) -> None:
        owner, k = node.payload if isinstance(node.payload, tuple) else (None, -1)
        if block is None or owner is not block.node or not 0 <= k < len(owner.payload.carried):
            self.refuse(node, "belongs to another loop", "a carried value stands in the line of its own loop")
        if owner.payload.carried[k] is not node:
            self.refuse(node, f"is not entry {k} of its loop", "a loop lists the values that it carries")

    def captured(self, node: Symbol, block: _Block | None) -> str:
        """The kind of a value from outside of a loop."""
        kind = None if block is None else block.around.get(node.payload)
        if kind is None:
            self.refuse(node, f"takes {node.payload!r} from outside", "what is captured is made before the loop, around it")
        if kind is COUNTER:
            self.counts[node] = self.counts[node.payload]
        return kind

    def _loop(self, node: Symbol, made: dict[Symbol, str], block: _Block | None) -> None:
        loop: LoopBlock = node.payload
        carried, following = ([symbol is None for symbol in symbols] for symbols in (loop.carried, loop.following))
        if carried != following:
            self.refuse(node, "carries values that nothing follows", "every carried value has one that it becomes")
        if loop.count < 1:
            self.refuse(node, f"makes {loop.count} passes", "a loop makes at least one")
        captured = [inner.payload for inner in loop.line if inner.op == "capture"]
        if list(map(id, node.args[len(loop.carries) :])) != list(map(id, captured)):
            rule = "behind the first carried values stand the captures"
            self.refuse(node, "has other arguments than its line captures", rule)
        for argument in node.args[: len(loop.carries)]:
            self.expect(node, "an operand", made, argument, NUMBER)
        for argument in captured:
            self.expect(node, "an operand", made, argument, NUMBER, CONDITION, COUNTER, LOOP)
        inside = self.line(loop.line, _Block(node, made))
        inside.update({symbol: NUMBER for symbol, _ in loop.carries.values()})  # those that its line does not read included
        for kept in (*(then for _, then in loop.carries.values()), *loop.keeps.values()):
            self.expect(kept, "an end", inside, kept, NUMBER)
        if loop.condition is not None:
            self.expect(loop.condition, "an end", inside, loop.condition, CONDITION)

    def _call(self, node: Symbol, made: dict[Symbol, str], block: _Block | None) -> None:
        if not isinstance(node.payload, Program):
            self.refuse(node, f"calls {node.payload!r}", "a call has a program")
        expected = _scalars(node.payload.inputs)
        if len(node.args) != expected:
            self.refuse(node, f"gives {len(node.args)} scalars", f"{node.payload.name} takes {expected}")
        for argument in node.args:
            self.expect(node, "an operand", made, argument, NUMBER)

    def _result(self, node: Symbol, made: dict[Symbol, str], block: _Block | None) -> None:
        self.expect(node, "an operand", made, node.args[0], LOOP, CALL)
        payload = node.args[0].payload
        known = payload.carries if node.args[0].op == "loop" else range(len(getattr(payload, "results", ())))
        if node.payload not in known:
            self.refuse(node, f"reads result {node.payload}", "the loop or call gives no such result")

    def _element(self, node: Symbol, made: dict[Symbol, str], block: _Block | None) -> None:
        self.expect(node, "an operand", made, node.args[0], LOOP)
        source = origin(node.args[0])
        if node.payload[0] not in source.payload.keeps:
            self.refuse(node, f"reads column {node.payload[0]} of a stack", "the loop keeps no such value")
        if len(node.args) == 1:
            self.within(node, source.payload.count, node.payload[2], node.payload[2])
        else:
            self.indexed(node, made, source.payload.count)

    # --- arrays and indices ---------------------------------------------------------------------------------------------------
    def input_size(self, node: Symbol, name: str) -> int:
        if name not in self.sizes:
            self.refuse(node, f"reads {name!r}", f"the inputs are {', '.join(self.sizes) or 'none'}")
        return self.sizes[name]

    def indexed(self, node: Symbol, made: dict[Symbol, str], size: int | None) -> None:
        """Reads at stride·counter + offset, in all passes within an array of a size."""
        counter, (_, stride, offset) = node.args[-1], node.payload
        self.expect(node, "an operand", made, counter, COUNTER)
        ends = sorted((offset, stride * (self.counts[counter] - 1) + offset))
        if size is not None:
            self.within(node, size, *ends)

    def within(self, node: Symbol, size: int, first: int, last: int) -> None:
        if not 0 <= first <= last < size:
            self.refuse(node, f"reads elements {first} to {last}", f"the array has {size}")


def _scalars(arrays: Sequence[Array]) -> int:
    return sum(array.size for array in arrays)
