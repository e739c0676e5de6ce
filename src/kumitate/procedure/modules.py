"""The modules of a procedure as LLVM text: its functions and those of all that it calls, and what waits for its first call."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..compile.llvm.entries import Gathered, inlined, write_module
from ..compile.llvm.writer import Module, Writer
from ..compile.target import host
from ..scalar import Program
from . import tree
from .kinds import ENTRY, FAULT_WORDS, TABLE, Kind
from .walk import LLVM_TYPES, ProcedureWriter

#: A procedure that waits for its first call as it is called by the table: the address of what makes one of a number, that of
#: each that is made, and those that such ones call in the module that does not wait.
_BY_TABLE = """\
define internal {head} noinline #0 {{
entry:
  %place = getelementptr ptr, ptr @{table}, i64 {place}
  %known = load atomic ptr, ptr %place acquire, align 8
  %lacks = icmp eq ptr %known, null
  br i1 %lacks, label %ask, label %go
ask:
  %make = load ptr, ptr @{table}
  call void %make(i64 {number})
  %made = load atomic ptr, ptr %place acquire, align 8
  %fails = icmp eq ptr %made, null
  br i1 %fails, label %leave, label %go
leave:
  ret {result}{nothing}
go:
  %code = phi ptr [ %known, %entry ], [ %made, %ask ]
  {call}musttail call {result} %code({arguments})
  ret {result}{found}
}}"""


def procedure_family(typed: tree.TypedProcedure, without: Collection[tree.TypedProcedure] = ()) -> list[tree.TypedProcedure]:
    """The procedures that a procedure calls, directly or indirectly, each once and before its callers; itself last.

    without: procedures that are among them, but not for what they call.
    """
    found: dict[tree.TypedProcedure, None] = {}
    for called in typed.calls:
        found.update(dict.fromkeys([called] if called in without else procedure_family(called, without)))
    return [*found, typed]


class LlvmText:
    """The module with the functions of a procedure and of all that it calls, and their entry.

    Attributes:
        text: the module.
        checked: whether indices and the like are checked; portable: whether programs give the same bits on every processor.
        names: of the functions; needs: of every procedure written so far, the leaves of its arguments that it reads, by number.
        sites: of the checks, by number, with what they say.
        programs: the names of the functions of traced programs that are compiled alone, by what lists choose, and whether there
            is a list at all.
        inlined: the names of those that are written here, or None for programs that are too long for it.
        loops: how many loops are written out.
        waiting: the procedures that are left out of the text, and made when they are first called; none unless `waits`.
        parts: their texts.
    """

    def __init__(
        self, typed: tree.TypedProcedure, *, checked: bool = False, portable: bool = False, waits: bool = False
    ):  # fmt: skip
        family = procedure_family(typed)
        self.checked, self.portable = checked, checked or portable
        self.sites: list[tuple[tree.Site, str]] = []
        self.module = Module(1)
        self.programs: dict[tuple[Program, tuple[bool, ...], bool], str] = {}
        self.inlined: dict[Program, str | None] = {}
        self.loops = 0
        self.names = {one: f"p{k}_{re.sub('[^A-Za-z0-9_]', '_', one.name)}" for k, one in enumerate(family)}
        self.needs: dict[tree.TypedProcedure, list[int]] = {}
        functions = {one: ProcedureWriter(one, self).text() for one in family}
        self.module.further = [f"!{k} = distinct !{{!{k}, !{self.loops}}}" for k in range(self.loops)]
        self.module.further += [f'!{self.loops} = !{{!"llvm.loop.unroll.full"}}'] if self.loops else []
        self.waiting = [one for one in family if waits and one.waits and one is not typed]
        here = procedure_family(typed, self.waiting)[:-1]
        short = dict(zip(filter(None, self.inlined.values()), self.module.functions, strict=True))
        elsewhere = {called for one in self.waiting for called in procedure_family(one, self.waiting)}
        both = [one for one in here if one in elsewhere - {*self.waiting} and " noinline #0 {" in functions[one]]
        places = {one: 1 + k for k, one in enumerate([*self.waiting, *both])}

        def module(table: str, first: tree.TypedProcedure, listed: Collection[tree.TypedProcedure], *last: str) -> str:
            called = procedure_family(first, listed)[:-1]
            texts = [self._by_table(one, places[one]) if one in listed else functions[one] for one in called]
            inlined = [text for name, text in short.items() if any(f"@{name}(" in one for one in (*texts, *last))]
            self.module.functions = [table, *inlined, *texts, *last]
            return self.module.text()

        known = ["ptr null"] * (1 + len(self.waiting)) + [f"ptr @{self.names[one]}.listed" for one in both]
        table = f"@{TABLE} = global [{len(known)} x ptr] [{', '.join(known)}]" if waits else ""
        self.text = module(table, typed, self.waiting, functions[typed], *map(self._listed, both), self._entry(typed))
        self.parts = []
        for number, one in enumerate(self.waiting):
            own = functions[one].replace(f"define internal {self.head(one)}", f"define {self.head(one, f'{TABLE}{number}')}")
            self.parts.append(module(f"@{TABLE} = external global ptr", one, places, own))

    def modules(self, part: int = -1) -> list[str]:
        """The module of what waits by this number, −1 of what does not, and those of the programs that it calls."""
        own = self.text if part < 0 else self.parts[part]
        called = ((one, name) for one, name in self.programs.items() if f"@{name}(" in own)
        programs = (
            (Gathered(name, program, listed), host().lanes if several else 1) for (program, listed, several), name in called
        )
        return [own, *(write_module(entry, lanes, portable=self.portable) for entry, lanes in programs)]

    def head(self, typed: tree.TypedProcedure, name: str = "") -> str:
        """The result, the name and the parameters of a procedure's function."""
        leaves = [leaf for _, kind in typed.parameters for leaf in kind.leaves]
        types = [(k, LLVM_TYPES[leaves[k]] + (" noalias" if leaves[k] == "pointer" else "")) for k in self.needs[typed]]
        handed = ", ".join([*self.fault(), *(f"{kind} %a{k}" for k, kind in types)])
        return f"{self.result_type(typed.result)} @{name or self.names[typed]}({handed})"

    def _listed(self, typed: tree.TypedProcedure) -> str:
        """A procedure as the table has it: LLVM may still change how those of its own module call it."""
        head, result = self.head(typed, f"{self.names[typed]}.listed"), self.result_type(typed.result)
        handed = head[head.index("(") + 1 : -1].replace(" noalias", "")
        call, found = ("", "") if result == "void" else ("%found = ", " %found")
        return f"define internal {head} #0 {{\n  {call}call {result} @{self.names[typed]}({handed})\n  ret {result}{found}\n}}"

    def _by_table(self, typed: tree.TypedProcedure, place: int) -> str:
        """The function of a procedure whose address is in the table."""
        head, result = self.head(typed), self.result_type(typed.result)
        handed = head[head.index("(") + 1 : -1].replace(" noalias", "")
        nothing = "" if result == "void" else f" {ProcedureWriter.nothing(result)}"
        call, found = ("%found = ", " %found") if nothing else ("", "")
        return _BY_TABLE.format(
            head=head, table=TABLE, number=place - 1, place=place, result=result, arguments=handed, call=call,
            nothing=nothing, found=found,
        )  # fmt: skip

    def result_type(self, kind: Kind) -> str:
        """What a function returns: nothing, a number, or several."""
        types = [LLVM_TYPES[leaf] for leaf in kind.leaves]
        return "void" if not types else types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"

    def program(self, program: Program, listed: tuple[bool, ...], *, several: bool) -> str:
        """The name of the function that evaluates a program, once or over a list."""
        key = program, listed, several
        if key not in self.programs:
            clean = re.sub("[^A-Za-z0-9_]", "_", program.name)
            name = f"{'over' if several else 'once'}_{clean}_{''.join('01'[one] for one in listed)}"
            same = sum(1 for one in self.programs.values() if one.split(".")[0] == name)
            self.programs[key] = f"{name}.{same}" if same else name
        return self.programs[key]

    def short(self, program: Program) -> str | None:
        """The name of the function of a short program, which is written into this module and inlined; None for a long one."""
        if program not in self.inlined:
            name = f"short_{re.sub('[^A-Za-z0-9_]', '_', program.name)}.{len(self.inlined)}"
            text = inlined(name, program, portable=self.portable)
            self.inlined[program] = None if text is None else name
            self.module.functions += [] if text is None else [text]
        return self.inlined[program]

    def fault(self) -> list[str]:
        """The first argument of all functions, if they are checked: where they say what failed."""
        return ["ptr %words"] if self.checked else []

    def _entry(self, typed: tree.TypedProcedure) -> str:
        """The function that takes a block of words."""
        write, results = Writer(self.module), typed.result.leaves
        given = [leaf for _, kind in typed.parameters for leaf in kind.leaves]
        arguments = []
        for k in self.needs[typed]:
            place = write.line(f"getelementptr i64, ptr %words, i64 {FAULT_WORDS + len(results) + k}")
            value = write.line(f"load {'i64' if given[k] == 'bool' else LLVM_TYPES[given[k]]}, ptr {place}")
            value = write.line(f"icmp ne i64 {value}, 0") if given[k] == "bool" else value
            arguments.append(f"{LLVM_TYPES[given[k]]} {value}")
        kind = self.result_type(typed.result)
        call = f"call {kind} @{self.names[typed]}({', '.join([*self.fault(), *arguments])})"
        found = write.line(call) if results else ""
        if not results:
            write.effect(call)
        for k, leaf in enumerate(results):
            value = write.line(f"extractvalue {kind} {found}, {k}") if len(results) > 1 else found
            value = write.line(f"zext i1 {value} to i64") if leaf == "bool" else value
            place = write.line(f"getelementptr i64, ptr %words, i64 {FAULT_WORDS + k}")
            write.effect(f"store {'i64' if leaf == 'bool' else LLVM_TYPES[leaf]} {value}, ptr {place}")
        write.effect("ret void")
        return write.framed(f"define void @{ENTRY}(ptr %words) #0")
