"""The passes to machine code: printed in their order, all of them run, and their results checked."""

from __future__ import annotations

import runpy
from dataclasses import replace

import pytest

from kumitate.compile import engine, host, pipeline
from kumitate.compile.llvm import HostBatch
from kumitate.compile.llvm import plan as partition
from kumitate.compile.pipeline import CODE_PASSES, PASSES, Compilation, machine_code, pass_table
from kumitate.errors import ProgramError
from kumitate.scalar import call, loop, trace


def chain():
    """A program of some length, with a loop and a call in it."""
    inner = trace(lambda x: [x[0] * x[1]], {"x": 2}, "inner")

    def page(x):
        total, kept = loop(3, lambda i, c: (c * x[1], c), x[0])
        for k in range(20):
            total = total * x[k % 2] + float(k)
        return [call(inner, [total, kept[2]])[0], total]

    return trace(page, {"x": 2}, "chain")


def test_the_module_prints_its_passes(capsys):
    runpy.run_module("kumitate.compile", run_name="__main__")
    assert capsys.readouterr().out == f"{pass_table()}\n"


def test_passes_have_names_and_sentences():
    names = [step.name for step in PASSES]
    assert len(set(names)) == len(names)
    assert names[0] == "trace"
    assert names[-1] == "link"
    assert all(callable(step.run) and step.does[0].islower() and not step.does.endswith(".") for step in PASSES)


def test_all_passes_to_machine_code_run_in_their_order(monkeypatch):
    ran = []

    def noted(step):
        return step._replace(run=lambda work: (ran.append(step.name), step.run(work)))

    monkeypatch.setattr(pipeline, "CODE_PASSES", tuple(map(noted, CODE_PASSES)))
    program = chain()
    code = machine_code(Compilation(HostBatch(program), 1, python=program))
    assert ran == ["partition", "write", "wrap", "generate", "link"]
    assert code.addresses["kernel"]


def test_threads_that_begin_one_compilation_write_their_own_modules(monkeypatch):
    """The second begins while the first has written its module but has not yet wrapped it."""
    work = Compilation(HostBatch(chain()), 1, python=True)
    ran = []

    def interrupted(step):
        def run(one):
            step.run(one)
            ran.append(step.name)
            if ran == ["partition", "write"]:
                pipeline.object_file(work)

        return step._replace(run=run)

    monkeypatch.setattr(pipeline, "CODE_PASSES", tuple(map(interrupted, CODE_PASSES)))
    assert machine_code(work).addresses["fastcall"]
    assert ran == ["partition", "write", "partition", "write", "wrap", "generate", "wrap", "generate", "link"]


@pytest.fixture
def cut():
    """The program cut into parts of five nodes, and its partition."""
    program = chain()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "LONGEST_LINE", 5)
        patch.setattr(partition, "PART", 5)
        partition.line_partition.clear()
        yield program, partition.line_partition(program)
    partition.line_partition.clear()


def test_a_sound_partition_is_accepted(cut):
    program, parts = cut
    assert len(parts.parts) > 3
    partition.check_partition(program, parts)


def test_a_value_whose_slot_is_taken_too_early_is_refused(cut):
    program, parts = cut
    crowded = replace(parts, slots=dict.fromkeys(parts.slots, 0))
    with pytest.raises(ProgramError, match="which its slot 0 does not hold"):
        partition.check_partition(program, crowded)


def test_a_value_without_a_slot_is_refused(cut):
    program, parts = cut
    with pytest.raises(ProgramError, match="which its slot None does not hold"):
        partition.check_partition(program, replace(parts, slots={}))


def test_parts_in_another_order_are_refused(cut):
    program, parts = cut
    with pytest.raises(ProgramError, match="part 0 reads"):
        partition.check_partition(program, replace(parts, parts=parts.parts[::-1]))


def test_a_part_that_is_missing_is_refused(cut):
    program, parts = cut
    read = {argument for part in parts.parts for node in part for argument in node.args} | set(program.results)
    kept = tuple(tuple(node for node in part if node in read) for part in parts.parts)
    unused = trace(lambda x: [x[0]], {"x": 1}, "unused").line
    longer = replace(program, line=(*program.line, *unused))
    with pytest.raises(ProgramError, match="nodes are in a part"):
        partition.check_partition(longer, replace(parts, parts=kept))


def test_a_module_that_llvm_refuses_is_named(monkeypatch):
    """Two definitions that a use does not come behind: the parser takes them, the check of modules does not."""
    text = "define double @f(double %x) {\nentry:\n  %a = fadd double %b, %x\n  %b = fadd double %x, %x\n  ret double %a\n}\n"
    monkeypatch.setenv("KUMITATE_VERIFY", "1")
    with pytest.raises(ProgramError, match=r"after 'write': .*dominate"):
        engine.object_code(text, host())
