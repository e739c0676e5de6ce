"""Several programs as one module of WebAssembly, with one memory in which everything has a fixed place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import InputError
from ...scalar import Program
from ..exports.text import identifiers
from ..stored import StoredProgram, traced
from .body import Shared, copied, write_function
from .encoding import PAGE, Function, Parts, encoded, text

#: Pages of a memory of 32-bit addresses.
_LARGEST = 65536


@dataclass(frozen=True)
class WasmModule:
    """A module of WebAssembly that computes programs, as browsers and Node take it.

    It imports nothing and exports its `memory`, which never grows, and one function `() -> ()` for each program, by the
    program's key. A function reads its inputs from memory and writes its outputs there, as float64 numbers, little-endian, in
    row-major order. An instance holds one state: another state is another instance of the same compiled module.

    Programs read inputs of the same name at the same place. Outputs never stand on inputs: a program can be called again with
    the same inputs. `run(n: i32)`, if there is a program to repeat, runs that n times; behind each time, its outputs become
    the inputs of the same names. What it does not give back, such as efforts u, stays as it was written.

    Results are the same bits in every browser, and those of kernels compiled with `portable=True`.

    Attributes:
        code: the bytes, for `WebAssembly.instantiate`.
        places: the address in bytes and the shape of every array: of an input by its name ("q"), of an output by the
            program's key and its name ("look.q").
        pages: of the memory, 64 KiB each.
    """

    code: bytes
    places: dict[str, tuple[int, tuple[int, ...]]]
    pages: int
    _parts: Parts | None = None

    @property
    def text(self) -> str:
        """The same module in the text form of WebAssembly.

        Raises:
            InputError: for a module that LLVM made.
        """
        if self._parts is None:
            raise InputError("LLVM made this module, and not its text; wasm2wat prints it")
        return text(self._parts)


def wasm_module(
    programs: Mapping[str, Program | StoredProgram],
    fillings: Mapping[str, Program] | None = None,
    *,
    repeated: str | None = None,
) -> WasmModule:
    """The module of some programs.

    Args:
        programs: by the names of their functions; inputs of the same name have the same shape.
        fillings: programs for their holes, by the holes' names.
        repeated: the key of a program for `run`, such as the `step` of a `Recurrence`: its outputs are the first of its inputs.

    Raises:
        InputError: if inputs of one name have different shapes, a hole is empty, the outputs of the repeated program are not
            its first inputs, or a function or the memory is larger than browsers take.

    >>> from kumitate.scalar import trace
    >>> step = trace(lambda x, h: {"x": x + h}, {"x": (), "h": ()}, "step")
    >>> wasm_module({"step": step}, repeated="step").places
    {'x': (0, ()), 'h': (8, ()), 'step.x': (16, ())}
    """
    given = {name: traced(program) for name, program in programs.items()}
    taken = {"memory", "run"} & given.keys() if repeated is not None else {"memory"} & given.keys()
    if taken:
        raise InputError(f"a program is called {taken.pop()!r}, which the module exports itself; give it another name")
    shared = Shared(given, fillings or {})
    for name, program in given.items():
        inputs = {array.name: shared.places[array.name][0] for array in program.inputs}
        outputs = next((shared.places[f"{name}.{array.name}"][0] for array in program.outputs), 0)
        write_function(shared, program, inputs, outputs, export=name)
    if repeated is not None:
        shared.functions.append(_run(shared, repeated, given[repeated]))
    pages = max(-(-8 * shared.count // PAGE), 1)
    if pages > _LARGEST:
        raise InputError(
            f"{', '.join(given)}: the memory would have {pages} pages of 64 KiB, over the {_LARGEST} of WebAssembly"
        )
    names = identifiers([one.name for one in shared.functions], ())
    functions = [one._replace(name=name) for one, name in zip(shared.functions, names, strict=True)]
    parts = Parts(functions, pages, shared.constants)
    return WasmModule(encoded(parts), shared.places, pages, parts)


def _run(shared: Shared, key: str, program: Program) -> Function:
    """The function `run` of a program."""
    if program.outputs != program.inputs[: len(program.outputs)]:
        raise InputError(f"{program.name} cannot be repeated: its outputs are not the first of its inputs")
    number = next(k for k, one in enumerate(shared.functions) if one.export == key)
    code = [("block",), ("loop",), ("local.get", 0), ("i32.eqz",), ("br_if", 1), ("call", number)]
    for array in program.outputs:
        code += copied(shared.places[f"{key}.{array.name}"][0], shared.places[array.name][0], array.size)
    code += [("local.get", 0), ("i32.const", 1), ("i32.sub",), ("local.set", 0), ("br", 0), ("end",), ("end",)]
    return Function("run", ["i32"], [], [], code, "run")
