"""Procedures as LLVM text: a function each, and the entry that is called from outside.

The entry takes one block of 64-bit words: three for the message of a check that failed, then the results, then the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...compile.llvm.gathered import inlined
from ...scalar import Program
from ..kinds import Kind
from ..operations import LLVM_LIBRARY
from ..tree import Site, TypedProcedure
from .llvm_function import LLVM_TYPES, LlvmFunction
from .walk import procedure_family

__all__ = ["ENTRY", "FAULT_WORDS", "LlvmText"]

#: The name of the entry, and how many words of its block say which check failed: its number from 1 on, and two integers.
ENTRY, FAULT_WORDS = "procedure_entry", 3
_DECLARED = re.compile(r"@(llvm\.[a-z0-9.]+|[a-z_0-9]+)\(")
_INTRINSICS = {
    "llvm.fabs.f64": "double (double)", "llvm.sqrt.f64": "double (double)", "llvm.floor.f64": "double (double)",
    "llvm.ceil.f64": "double (double)", "llvm.copysign.f64": "double (double, double)", "llvm.abs.i64": "i64 (i64, i1)",
    "llvm.smin.i64": "i64 (i64, i64)", "llvm.smax.i64": "i64 (i64, i64)", "llvm.ctpop.i64": "i64 (i64)",
    "llvm.ctlz.i64": "i64 (i64, i1)", "llvm.fptosi.sat.i64.f64": "i64 (double)",
    "llvm.minimum.f64": "double (double, double)", "llvm.maximum.f64": "double (double, double)",
    "llvm.memset.p0.i64": "void (ptr, i8, i64, i1)",
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh"), "double (double)"),
    "atan2": "double (double, double)", "hypot": "double (double, double)",
}  # fmt: skip


class LlvmText:
    """The module of a procedure and of all that it calls.

    Attributes:
        text: the module.
        sites: of the checks, by number, with what they say.
        programs: the names of the functions of traced programs that are compiled alone, by what lists choose, and whether there
            is a list at all.
        inlined: the names and texts of those that are written here, or None for programs that are too long for it.
    """

    def __init__(self, typed: TypedProcedure, *, checked: bool = False):
        self.checked = checked
        self.sites: list[tuple[Site, str]] = []
        self.tables: dict[str, str] = {}
        self.programs: dict[tuple[Program, tuple[bool, ...], bool], str] = {}
        self.inlined: dict[Program, tuple[str, str] | None] = {}
        self.declared: set[str] = set()
        self.loops = 0
        family = procedure_family(typed)
        self.names = {one: f"p{k}_{re.sub('[^A-Za-z0-9_]', '_', one.name)}" for k, one in enumerate(family)}
        self.needs: dict[TypedProcedure, list[int]] = {}
        functions = [LlvmFunction(one, self).text() for one in family]
        self.text = self._whole([*functions, self._entry(typed)])

    def result_type(self, kind: Kind) -> str:
        """What a function returns: nothing, a number, or several."""
        types = [LLVM_TYPES[leaf] for leaf in kind.leaves]
        return "void" if not types else types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"

    def _entry(self, typed: TypedProcedure) -> str:
        """The function that takes a block of words."""
        lines = [f"define void @{ENTRY}(ptr %words) #0 {{"]
        results, given = typed.result.leaves, [leaf for _, kind in typed.parameters for leaf in kind.leaves]
        for k in self.needs[typed]:
            leaf = given[k]
            lines.append(f"  %at{k} = getelementptr i64, ptr %words, i64 {FAULT_WORDS + len(results) + k}")
            if leaf == "bool":
                lines += [f"  %w{k} = load i64, ptr %at{k}", f"  %a{k} = icmp ne i64 %w{k}, 0"]
            else:
                lines.append(f"  %a{k} = load {LLVM_TYPES[leaf]}, ptr %at{k}")
        arguments = [f"{LLVM_TYPES[given[k]]} %a{k}" for k in self.needs[typed]]
        call = f"call {self.result_type(typed.result)} @{self.names[typed]}({', '.join([*self.fault(), *arguments])})"
        lines.append(f"  %r = {call}" if results else f"  {call}")
        for k, leaf in enumerate(results):
            value = "%r"
            if len(results) > 1:
                lines.append(f"  %r{k} = extractvalue {self.result_type(typed.result)} %r, {k}")
                value = f"%r{k}"
            if leaf == "bool":
                lines.append(f"  %z{k} = zext i1 {value} to i64")
                value, leaf = f"%z{k}", "int"
            lines += [f"  %out{k} = getelementptr i64, ptr %words, i64 {FAULT_WORDS + k}"]
            lines += [f"  store {LLVM_TYPES[leaf]} {value}, ptr %out{k}"]
        return "\n".join([*lines, "  ret void", "}"])

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
            made = inlined(name, program, portable=self.checked)
            self.inlined[program] = None if made is None else (name, made[0])
            self.declared |= set() if made is None else made[1]
        entry = self.inlined[program]
        return None if entry is None else entry[0]

    def fault(self) -> list[str]:
        """The first argument of all functions, if they are checked: where they say what failed."""
        return ["ptr %words"] if self.checked else []

    def _whole(self, functions: Sequence[str]) -> str:
        """The module: tables, what is called of LLVM's and C's functions, and the functions."""
        body = "\n".join([*(entry[1] for entry in self.inlined.values() if entry is not None), *functions])
        library, waiting = {}, set(_DECLARED.findall(body))
        for name in sorted(waiting & set(LLVM_LIBRARY)):
            returned = {"least": "double", "greatest": "double", "finite": "i1"}.get(name, "i64")
            library[name] = f"define internal {returned} @{name}{LLVM_LIBRARY[name]}"
        body = "\n".join([*library.values(), body])
        declared = []
        for name in sorted(set(_DECLARED.findall(body)) & set(_INTRINSICS)):
            returned, takes = _INTRINSICS[name].split(" ", 1)
            pure = "" if name.startswith("llvm.") else " #1"
            declared.append(f"declare {returned} @{name}{takes}{pure}")
        declared += [text for text in sorted(self.declared) if _DECLARED.findall(text)[0] not in _INTRINSICS]
        for (_, listed, _), name in self.programs.items():
            declared.append(f"declare void @{name}({', '.join(['i64', *['ptr'] * (len(listed) + sum(listed))])})")
        tables = [f"{name} = internal constant {value}, align 64" for value, name in self.tables.items()]
        loops = [f"!{k} = distinct !{{!{k}, !{self.loops}}}" for k in range(self.loops)]
        loops += [f'!{self.loops} = !{{!"llvm.loop.unroll.full"}}'] if self.loops else []
        attributes = [
            'attributes #0 = { nounwind "prefer-vector-width"="256" }',
            "attributes #1 = { nounwind willreturn memory(none) }",
        ]
        return "\n".join([*declared, *tables, body, *attributes, *loops, ""])
