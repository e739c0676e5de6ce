"""Object files of code with loops and memory, which LLVM's own passes make faster: they inline, unroll and vectorize.

Long modules, such as a step of a scene of many bodies, are not vectorized by LLVM, and what inlined functions say about memory
that does not overlap is dropped: short loops along rows are operations on vectors already (`procedure.writing.vectors`), and
the code was as fast, or a little faster, in two thirds of the time.
"""

from __future__ import annotations

import time

from ..errors import ProgramError
from ..scalar.under_way import expect
from ..scalar.verify import verifying
from .engine import ObjectFile, kept_image, switched
from .target import Target, binding, machine

__all__ = ["optimized_object"]

#: LLVM's time for a letter of a module, about the same for all on one machine [s].
_SECONDS = 3e-6
#: Lines of a long module.
_LONG = 10_000


def optimized_object(text: str, target: Target) -> ObjectFile:
    """The object file of an LLVM module after the passes of `-O3`, of a long one `-O2`; kept on disk for the same LLVM."""

    def make() -> ObjectFile:
        begin = time.perf_counter()
        expect(_SECONDS * len(text))
        return ObjectFile(_object_code(text, target), False, False, time.perf_counter() - begin)

    return kept_image(f"O3 or lean\0{text}", target, make)


def _object_code(text: str, target: Target) -> bytes:
    llvm = binding()
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    processor = machine(target)
    module.data_layout = str(processor.target_data)
    if verifying():
        try:
            module.verify()
        except RuntimeError as error:
            raise ProgramError(f"{error}; LLVM refuses the module. This is a fault of the compiler") from error
    lean = text.count("\n") > _LONG
    settings = llvm.create_pipeline_tuning_options(speed_level=2 if lean else 3)
    settings.loop_vectorization = settings.slp_vectorization = not lean
    settings.loop_unrolling = settings.loop_interleaving = not lean
    passes = llvm.create_pass_builder(processor, settings)
    option = "-enable-noalias-to-md-conversion"
    with switched((f"{option}={str(not lean).lower()}",), (f"{option}=true",)):
        passes.getModulePassManager().run(module, passes)
    return processor.emit_object(module)  # type: ignore[no-any-return]
