"""The entry that fills a hole: `void hole_NAME(ptr in, ptr out, ptr)`, a program on blocks of lanes for another module."""

from __future__ import annotations

from ...scalar import Program
from .body import called_function, hole_name
from .module import Module
from .scratch import scratch_memory, scratch_size

__all__ = ["Filling"]


class Filling:
    """A program in the place of a hole.

    Attributes:
        name: of the function.
        program: that fills the hole.
    """

    def __init__(self, hole: str, program: Program):
        self.name, self.program, self.programs = hole_name(hole), program, (program,)

    def function(self, module: Module) -> str:
        """The function around the program's, with scratch memory of its own."""
        called = called_function(module, self.program)
        taken, given_back = scratch_memory(module, scratch_size(self.program))
        scratch = "%scratch" if taken else "null"
        call = f"  call void {called}(ptr %in, ptr %out, ptr {scratch})"
        head = f"define void @{self.name}(ptr %in, ptr %out, ptr %unused) noinline #0"
        return "\n".join([f"{head} {{", "entry:", *taken, call, *given_back, "  ret void", "}"])
