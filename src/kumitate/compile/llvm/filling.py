"""Entries for other modules: programs on blocks of lanes, `void NAME(ptr in, ptr out, ptr scratch)`.

A filling takes the place of a hole: the modules around it do not know which program it will be. A shared program is one that
several modules call, and that is long enough to be compiled once for all of them.
"""

from __future__ import annotations

from ...scalar import Program
from .body import blocks_function, called_function, hole_name
from .module import Module
from .scratch import scratch_memory, scratch_size

__all__ = ["Filling", "SharedProgram"]


class Filling:
    """A program in the place of a hole.

    Attributes:
        name: of the function.
        program: that fills the hole.
    """

    def __init__(self, hole: str, program: Program):
        self.name, self.program, self.programs = hole_name(hole), program, (program,)

    def function(self, module: Module) -> str:
        """The function around the program's, with scratch memory of its own; that of the program itself if it needs none."""
        if not scratch_size(self.program):
            return blocks_function(module, self.program, f"void @{self.name}")
        called = called_function(module, self.program)
        taken, given_back = scratch_memory(module, scratch_size(self.program))
        scratch = "%scratch" if taken else "null"
        call = f"  call void {called}(ptr %in, ptr %out, ptr {scratch})"
        head = f"define void @{self.name}(ptr %in, ptr %out, ptr %unused) noinline #0"
        return "\n".join([f"{head} {{", "entry:", *taken, call, *given_back, "  ret void", "}"])


class SharedProgram:
    """A program that several modules call, in a module of its own; with the caller's scratch memory.

    Attributes:
        name: of the function.
        program: that it runs.
    """

    def __init__(self, name: str, program: Program):
        self.name, self.program, self.programs = name, program, (program,)

    def function(self, module: Module) -> str:
        """The function of the program."""
        return blocks_function(module, self.program, f"void @{self.name}")
