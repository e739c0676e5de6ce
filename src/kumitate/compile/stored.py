"""Programs found on disk by what they are made of, also by another process, so that nothing is traced twice.

A `StoredProgram` stands for a program that has not been traced. Its name, its arrays and its number of operations are kept on
disk with its machine code, both under a key that says what it is made of; the program itself is traced when something asks for
more than that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from ..scalar import Array, Program
from ..scalar.verify import verifying
from .disk import cached, source_stamp

__all__ = ["StoredProgram", "found_or_traced", "joint_key", "traced"]


class StoredProgram:
    """A program by its key.

    Attributes:
        key: what it is made of, as a digest.
    """

    def __init__(self, key: str, make: Callable[[], Program]):
        """The program that `make` traces, unless one was kept under this key by the same sources of kumitate."""
        import hashlib  # what the first program needs is not loaded with the package
        import json

        self.key = hashlib.sha256(f"{source_stamp()}\0{key}".encode()).hexdigest()
        self._make = make
        head = json.loads(cached(f"program\0{self.key}", self._head, suffix=".json").content)
        self.name: str = head["name"]
        self.inputs, self.outputs = (
            tuple(Array(name, tuple(shape)) for name, shape in head[part]) for part in ("inputs", "outputs")
        )
        self.operations: Counter[str] = Counter(head["operations"])

    @cached_property
    def program(self) -> Program:
        """The program itself, traced on first use."""
        return self._make()

    def _head(self) -> bytes:
        import json

        program = self.program
        arrays = {part: [[array.name, array.shape] for array in getattr(program, part)] for part in ("inputs", "outputs")}
        return json.dumps({"name": program.name, **arrays, "operations": dict(program.operations)}).encode()


def found_or_traced(key: str | None, make: Callable[[], Program]) -> Program | StoredProgram:
    """The program of a key; without a key, or where programs are checked between passes, it is traced now."""
    return make() if key is None or verifying() else StoredProgram(key, make)


def traced(program: Program | StoredProgram) -> Program:
    """The program itself."""
    return program.program if isinstance(program, StoredProgram) else program


def joint_key(programs: Sequence[Program | StoredProgram]) -> str:
    """The key of what is made of several programs; empty unless all have one."""
    keys = [program.key if isinstance(program, StoredProgram) else "" for program in programs]
    return "+".join(keys) if all(keys) else ""
