"""Object files of code with loops and memory, which LLVM's own passes make faster: they inline, unroll and vectorize."""

from __future__ import annotations

import time

from ..errors import ProgramError
from ..scalar.verify import verifying
from .engine import ObjectFile, kept_image
from .target import Target, binding, machine

__all__ = ["optimized_object"]


def optimized_object(text: str, target: Target) -> ObjectFile:
    """The object file of an LLVM module after the passes of `-O3`; from the disk cache, if the same LLVM made it before."""

    def make() -> ObjectFile:
        begin = time.perf_counter()
        return ObjectFile(_object_code(text, target), False, False, time.perf_counter() - begin)

    return kept_image(f"O3\0{text}", target, make)


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
    settings = llvm.create_pipeline_tuning_options(speed_level=3)
    settings.loop_vectorization = settings.slp_vectorization = settings.loop_unrolling = settings.loop_interleaving = True
    passes = llvm.create_pass_builder(processor, settings)
    passes.getModulePassManager().run(module, passes)
    return processor.emit_object(module)  # type: ignore[no-any-return]
