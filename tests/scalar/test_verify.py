"""Programs that break a rule are refused, one for every rule, with the node and the rule named."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kumitate.errors import ProgramError
from kumitate.scalar import Array, Graph, Program, Symbol, Table, call, loop, passes, select, table, trace, when
from kumitate.scalar import verify as module
from kumitate.scalar.passes import Pass
from kumitate.scalar.verify import verify

X = (Array("x", (3,)),)


def program(nodes, results, *, inputs=X, outputs=None):
    outputs = (Array("y", (len(results),)),) if outputs is None else outputs
    return Program("broken", inputs, outputs, tuple(nodes), tuple(results))


def read(graph, k=0, name="x"):
    return graph.node("input", (), (name, k))


def summing(count=3):
    """A loop over a table, with a stack, read by a second loop: its program and the first loop's node."""

    def page(x):
        total, kept = loop(count, lambda i, c: (c + x[i] * table([1.0, 2.0, 4.0])[i], c * x[0]), x[0])
        again, _ = loop(count, lambda i, c: (c + kept[i], None), x[1])
        return [total, again, kept[1]]

    traced = trace(page, {"x": 3}, "broken")
    return traced, next(node for node in traced.line if node.op == "loop")


def in_loop(change, op):
    """The program of `summing` with one node of the first loop's line changed."""
    traced, first = summing()
    change(next(node for node in first.payload.line if node.op == op))
    return traced


def with_loop(**changes):
    """The program of `summing` with its first loop changed."""
    return with_loop_of(*summing(), **changes)


def with_loop_of(traced, node, **changes):
    node.payload = replace(node.payload, **changes)
    return traced


# --- the whole ---------------------------------------------------------------------------------------------------------------
def two_inputs_of_one_name():
    graph = Graph()
    return program([read(graph)], [read(graph)], inputs=(Array("x", (1,)), Array("x", (2,))))


def too_few_results():
    graph = Graph()
    return program([read(graph)], [read(graph)], outputs=(Array("y", (2,)),))


def result_that_nothing_computes():
    graph = Graph()
    return program([read(graph)], [read(graph, 1)])


def node_twice():
    graph = Graph()
    return program([read(graph), read(graph)], [read(graph)])


# --- operands ----------------------------------------------------------------------------------------------------------------
def unknown_operation():
    graph = Graph()
    node = graph.node("cube", (read(graph),))
    return program([read(graph), node], [node])


def operand_too_many():
    graph = Graph()
    node = graph.node("neg", (read(graph), read(graph)))
    return program([read(graph), node], [node])


def used_before_it_is_made():
    graph = Graph()
    node = graph.node("neg", (read(graph),))
    return program([node, read(graph)], [node])


def condition_as_number():
    graph = Graph()
    less = graph.node("lt", (read(graph), read(graph, 1)))
    node = graph.node("add", (less, read(graph)))
    return program([read(graph), read(graph, 1), less, node], [node])


def number_as_condition():
    graph = Graph()
    node = graph.node("select", (read(graph),) * 3)
    return program([read(graph), node], [node])


def condition_as_result():
    graph = Graph()
    less = graph.node("lt", (read(graph), read(graph, 1)))
    return program([read(graph), read(graph, 1), less], [less])


def constant_that_is_no_float():
    graph = Graph()
    node = Symbol("const", (), "one", graph)
    return program([node], [node])


# --- arrays ------------------------------------------------------------------------------------------------------------------
def unknown_input():
    graph = Graph()
    return program([read(graph, name="z")], [read(graph, name="z")])


def element_outside_of_input():
    graph = Graph()
    return program([read(graph, 3)], [read(graph, 3)])


def index_that_runs_out():
    return in_loop(lambda node: setattr(node, "payload", ("x", 1, 1)), "load")


def table_that_is_too_short():
    return in_loop(lambda node: setattr(node, "payload", (Table((1.0, 2.0)), 1, 0)), "lookup")


def stack_that_is_too_short():
    return with_loop(count=1)


# --- loops -------------------------------------------------------------------------------------------------------------------
def counter_outside_of_a_loop():
    graph = Graph()
    counter = graph.node("counter")
    node = graph.node("ordinal", (counter,), (None, 1, 0))
    return program([counter, node], [node])


def carried_value_of_another_loop():
    traced, _ = summing()
    first, second = (node for node in traced.line if node.op == "loop")
    next(node for node in second.payload.line if node.op == "carried").payload = (first, 0)
    return traced


def captured_from_nowhere():
    graph = Graph()
    capture = graph.node("capture", (), read(graph))
    return program([read(graph), capture], [capture])


def captured_value_that_is_no_argument():
    traced, first = summing()
    first.args = (*first.args[:-1], traced.line[-1])
    return traced


def carried_value_that_is_not_listed():
    traced, first = summing()
    return with_loop_of(traced, first, carried=(Symbol("carried", (), (first, 0), first.graph),))


def carried_value_that_nothing_follows():
    return with_loop(following=(None,))


def loop_without_a_pass():
    return with_loop(count=0)


def loop_condition_that_is_a_number():
    _, first = summing()
    return with_loop(condition=first.payload.following[0])


def column_that_is_not_kept():
    return with_loop(stacked=(None,))


# --- calls -------------------------------------------------------------------------------------------------------------------
def called(change):
    inner = trace(lambda x: [x[0] * x[1]], {"x": 2}, "inner")
    traced = trace(lambda x: call(inner, [x[0], x[1]]), {"x": 3}, "broken")
    change({node.op: node for node in traced.line})
    return traced


def call_with_too_few_arguments():
    return called(lambda nodes: setattr(nodes["call"], "args", nodes["call"].args[:1]))


def call_of_no_program():
    return called(lambda nodes: setattr(nodes["call"], "payload", None))


def result_that_the_call_does_not_give():
    return called(lambda nodes: setattr(nodes["result"], "payload", 1))


BROKEN = {
    two_inputs_of_one_name: "'x' names two arrays",
    too_few_results: "the outputs hold 2 scalars",
    result_that_nothing_computes: "that is not made before",
    node_twice: "stands twice",
    unknown_operation: "is not an operation",
    operand_too_many: "neg takes 1",
    used_before_it_is_made: "operands are computed earlier in the same line",
    condition_as_number: "is a condition; here stands a number",
    number_as_condition: "is a number; here stands a condition",
    condition_as_result: "has a result .* that is a condition",
    constant_that_is_no_float: "a constant is a float",
    unknown_input: "reads 'z'; the inputs are x",
    element_outside_of_input: "reads elements 3 to 3; the array has 3",
    index_that_runs_out: "reads elements 1 to 3; the array has 3",
    table_that_is_too_short: "reads elements 0 to 2; the array has 2",
    stack_that_is_too_short: "reads elements . to .; the array has 1",
    counter_outside_of_a_loop: "a loop has one counter",
    carried_value_of_another_loop: "belongs to another loop",
    captured_from_nowhere: "takes x\\[0\\] from outside",
    captured_value_that_is_no_argument: "other arguments than its line captures",
    carried_value_that_is_not_listed: "is not entry 0 of its loop",
    carried_value_that_nothing_follows: "every carried value has one that it becomes",
    loop_without_a_pass: "makes 0 passes",
    loop_condition_that_is_a_number: "is not made before|here stands a condition",
    column_that_is_not_kept: "keeps no such value",
    call_with_too_few_arguments: "gives 1 scalars; inner takes 2",
    call_of_no_program: "a call has a program",
    result_that_the_call_does_not_give: "gives no such result",
}


@pytest.mark.parametrize(("make", "rule"), BROKEN.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_program_that_breaks_a_rule_is_refused(make, rule):
    with pytest.raises(ProgramError, match=rule) as raised:
        verify(make(), "this pass")
    assert str(raised.value).startswith("broken, after 'this pass': ")


def test_programs_with_every_block_keep_the_rules():
    inner = trace(lambda x: [x[0] * x[1]], {"x": 2}, "inner")

    def page(x):
        total, kept = loop(3, lambda i, c: (c + x[i], [c, i.value]), x[0], while_=lambda c: c < 5.0)
        nested, _ = loop(2, lambda i, c: (c + loop(2, lambda j, d: (d * x[1] + kept[j][0], None), c)[0], None), total)
        late = when(x[0] < x[1], lambda: call(inner, [x[0], nested])[0], x[2])
        return [select(x[0] < 1.0, late, nested), kept[2][0]]

    verify(trace(page, {"x": 3}, "sound"))


def test_what_a_pass_breaks_is_found_behind_it(monkeypatch):
    """The check runs behind every pass where KUMITATE_VERIFY is set, and nowhere else."""

    def without_last(traced):
        return replace(traced, line=traced.line[:-1])

    monkeypatch.setattr(passes, "PROGRAM_PASSES", (*passes.PROGRAM_PASSES, Pass("careless", "drops a node", without_last)))
    monkeypatch.setenv("KUMITATE_VERIFY", "0")
    trace(lambda x: [x[0] + x[1]], {"x": 2}, "page")
    monkeypatch.setenv("KUMITATE_VERIFY", "1")
    with pytest.raises(ProgramError, match="page, after 'careless'"):
        trace(lambda x: [x[0] + x[1]], {"x": 2}, "page")


def test_every_rule_has_a_broken_program(monkeypatch):
    """Each place where the check refuses something is reached."""
    reached = set()

    def refuse(self, *message):
        reached.add(sys._getframe(1).f_lineno)
        raise ProgramError

    monkeypatch.setattr(module._Check, "refuse", refuse)
    for make in BROKEN:
        with pytest.raises(ProgramError):
            verify(make())
    places = {
        node.lineno
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "refuse"
    }
    assert places == reached
