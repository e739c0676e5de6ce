"""From LLVM text to a function in memory.

Programs are optimized while they are traced and written, and go straight to LLVM's code generator. Procedures, which have loops
and memory, go through LLVM's own passes first: they inline, unroll and vectorize.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ProgramError
from ..scalar.under_way import expect
from ..scalar.verify import verifying
from .disk import CacheEntry, cached
from .perf_map import name_functions
from .target import WASM32, Target, binding, host, machine

if TYPE_CHECKING:
    import llvmlite.binding as llvm

_FORM = "6"  # version of `object_code` itself, apart from the text and the target; part of the cache's key
_BYTES_PER_LINE = 8  # of machine code for a line of LLVM text, if the code is about as long as the cache; less in short code
_LONG = 4000  # lines of a function whose registers, once assigned, are not followed by another ordering of its instructions
_LONGER_BY = 1.03  # so much longer than unscheduled code that is too long may scheduled code be
_SECONDS, _OPTIMIZING = 0.7e-6, 3e-6  # that LLVM takes for a letter of a module, about the same for all on one machine
#: Lines of a module for which LLVM's passes do without those that gain least; of one whose loops run through long rows.
LEAN, LEAN_OF_ROWS = 500, 10_000
_MOST_QUICK = 20_000  # lines of a module whose values may all be in memory: a megabyte of the stack
_SHARE = 16  # so many libraries share a linker
_switch = threading.Lock()


@dataclass(frozen=True)
class Code:
    """A function in memory.

    Attributes:
        addresses: of the functions, by name. The code lives as long as this object.
        size: bytes of the object file; seconds: that LLVM took, or, if it was `from_cache`, loading.
        on_disk: whether it is in the cache now.
    """

    addresses: dict[str, int]
    size: int
    seconds: float
    from_cache: bool
    on_disk: bool
    _keep: Any


def generate(text: str, target: Target, *, kept: bool = True, quick: bool = False) -> CacheEntry:
    """The object file of an LLVM module; from the disk cache, if the same LLVM made it before.

    quick: LLVM takes a quarter of its time for code that takes twice as long and keeps every value in memory.
    """
    quick = quick and text.count("\n") < _MOST_QUICK

    def make() -> bytes:
        expect(_SECONDS * len(text))
        return _emitted(text, target, scheduled=False, effort=0) if quick else object_code(text, target)

    if kept:
        return kept_image(f"quick\0{text}" if quick else text, target, make)
    begin = time.perf_counter()
    return CacheEntry(make(), False, False, time.perf_counter() - begin)


def kept_image(key: str, target: Target, make: Callable[[], bytes]) -> CacheEntry:
    """The object file of a key, for a target and this LLVM, made and kept on disk unless it is there."""
    begin = time.perf_counter()
    version = ".".join(str(part) for part in binding().llvm_version_info)
    whole = "\0".join((_FORM, key, target.triple, target.cpu, target.features, str(target.code_cache), version))
    return cached(whole, make)._replace(seconds=time.perf_counter() - begin)


class _Here(threading.local):
    """The linker in use in a thread, and how many libraries were linked there."""

    linker: Any = None
    libraries = 0


_here = _Here()


def link(images: Sequence[CacheEntry], functions: Sequence[str], called: Sequence[Code] = ()) -> Code:
    """Object files in memory together, with the addresses of these functions of the first.

    LLVM keeps the names and tables of a library until its linker is freed, so that only a few libraries share one; making one
    takes longer than linking a small library. Each thread has its own, and trackers, with which libraries are freed, keep them
    alive. LLVM's JITLink puts code and constants next to each other, as the small code model needs. A linker that is given
    a machine does not look for the processor's features again.

    Args:
        called: code in memory whose functions they call.
    """
    begin = time.perf_counter()
    builder = binding().JITLibraryBuilder()
    for image in images:
        builder = builder.add_object_img(image.content)
    builder = builder.add_current_process()
    for code in called:
        for name, address in code.addresses.items():
            builder = builder.import_symbol(name, address)
    for name in functions:
        builder.export_symbol(name)
    if _here.libraries % _SHARE == 0:
        _here.linker = binding().create_lljit_compiler(machine(host()), use_jit_link=True)
    _here.libraries += 1
    tracker = builder.link(_here.linker, f"kumitate{_here.libraries}")
    seconds = sum(image.seconds for image in images) + time.perf_counter() - begin
    size, addresses = sum(len(image.content) for image in images), {name: tracker[name] for name in functions}
    name_functions([image.content for image in images], addresses)
    return Code(
        addresses, size, seconds, all(image.from_cache for image in images),
        all(image.on_disk for image in images), (tracker, *called),
    )  # fmt: skip


def load(text: str, target: Target, functions: Sequence[str]) -> Code:
    """The functions of an LLVM module that was not made from a program."""
    return link([generate(text, target)], functions)


def assembly(text: str, target: Target) -> str:
    """The assembly text of an LLVM module, as in compiled code."""
    return str(_emitted(text, target, scheduled=_best_code(text, target)[1], form="assembly"))


def object_code(text: str, target: Target) -> bytes:
    """The object file of an LLVM module."""
    return _best_code(text, target)[0]


def _best_code(text: str, target: Target) -> tuple[bytes, bool]:
    """The object file, and whether LLVM's scheduler ordered its instructions.

    It does so where the code fits into the first-level instruction cache. Longer code is fetched more slowly than it could run,
    so that the shorter variant is the faster one: mostly the traced order, branch by branch.
    """
    if _BYTES_PER_LINE * text.count("\n") > target.code_cache:
        return _emitted(text, target, scheduled=False), False
    ordered = _emitted(text, target, scheduled=True)
    if _code_size(ordered) > target.code_cache:
        plain = _emitted(text, target, scheduled=False)
        if _LONGER_BY * _code_size(plain) < _code_size(ordered):
            return plain, False
    return ordered, True


def _emitted(text: str, target: Target, *, scheduled: bool, form: str = "object", effort: int = 2) -> Any:
    """The code of a module; LLVM's scheduler runs from the top down, or not, and again on assigned registers, or not.

    LLVM also stops looking for neighbouring results to store together: it looks at every pair of stores, which takes a quarter
    of the time of programs for one state, and their code is as fast without.

    From the top down it keeps fewer values alive than from the bottom up, as LLVM does on its own. Running it again makes code
    a hundredth faster, in a time that grows with the square of a function's length: most of the time of long functions.
    """
    module, long = _parsed(text, target), any(function.count("\n") > _LONG for function in text.split("\ndefine "))
    wanted = (f"-enable-misched={str(scheduled).lower()}", f"-disable-post-ra={str(long).lower()}")
    usual = (
        "-misched-prera-direction=bottomup", "-combiner-store-merging=true", "-enable-misched=true", "-disable-post-ra=false",
    )  # fmt: skip
    with _switched(("-misched-prera-direction=topdown", "-combiner-store-merging=false", *wanted), usual):
        return getattr(machine(target, effort), f"emit_{form}")(module)


def _code_size(image: bytes) -> int:
    """Bytes of the instructions in an object file."""
    return sum(section.size() for section in binding().ObjectFileRef.from_data(image).sections() if section.is_text())


def _parsed(text: str, target: Target) -> llvm.ModuleRef:
    """The LLVM module of a text, verified if programs are."""
    module = binding().parse_assembly(text)
    module.triple = target.triple
    if verifying():
        try:
            module.verify()
        except RuntimeError as error:
            raise ProgramError(f"after 'write': {error}; LLVM refuses the module. This is a fault of the compiler") from error
    return module


@contextlib.contextmanager
def _switched(wanted: Sequence[str], usual: Sequence[str]) -> Iterator[None]:
    """Options of LLVM in this context, and as they are put back after it; for one thread at a time.

    They belong to the whole process, so that they are put back at once; another user of LLVM in another thread would meanwhile
    get slower, not wrong, code.
    """
    with _switch:
        for option in wanted:
            binding().set_option("", option)
        try:
            yield
        finally:
            for option in usual:
                binding().set_option("", option)


def optimized_object(text: str, target: Target, lean: int = LEAN) -> CacheEntry:
    """The object file of an LLVM module after the passes of `-O3`; kept on disk for the same LLVM.

    Modules of more than `lean` lines, such as a step of a scene of many bodies, get those of `-O2`, are not vectorized by LLVM,
    and what inlined functions say about memory that does not overlap is dropped: short loops along rows are operations on
    vectors already (`procedure.side_by_side`), and the code was as fast, or a little faster, in two thirds of the time.
    """

    def make() -> bytes:
        expect(_OPTIMIZING * len(text))
        return machine(target).emit_object(_passed(text, target, lean))  # type: ignore[no-any-return]

    return kept_image(f"O3, or lean from {lean}\0{text}", target, make)


def joined_object(texts: Sequence[str], programs: Sequence[str], target: Target) -> CacheEntry:
    """The object file of several LLVM modules that call each other: those of procedures, which go through LLVM's passes, and
    those of programs.

    For WebAssembly instructions stay in their order, as LLVM has it until a process has compiled for a processor: 4 % shorter.
    """

    def make() -> bytes:
        processor, whole = machine(target), _parsed(programs[0], target)
        whole.data_layout = str(processor.target_data)
        for module in (*(_passed(text, target) for text in texts), *(_parsed(text, target) for text in programs[1:])):
            module.data_layout = whole.data_layout
            whole.link_in(module)
        with _switched((f"-enable-misched={str(target != WASM32).lower()}",), ("-enable-misched=true",)):
            return processor.emit_object(whole)  # type: ignore[no-any-return]

    return kept_image("\0".join(("joined", *texts, *programs)), target, make)


def _passed(text: str, target: Target, lean: int = LEAN) -> llvm.ModuleRef:
    """The module of a text after the passes of `optimized_object`."""
    llvm, module, processor = binding(), _parsed(text, target), machine(target)
    module.data_layout = str(processor.target_data)
    whole = text.count("\n") <= lean
    settings = llvm.create_pipeline_tuning_options(speed_level=3 if whole else 2)
    settings.loop_vectorization = settings.slp_vectorization = settings.loop_unrolling = settings.loop_interleaving = whole
    passes = llvm.create_pass_builder(processor, settings)
    option = "-enable-noalias-to-md-conversion"
    with _switched((f"{option}={str(whole).lower()}",), (f"{option}=true",)):
        passes.getModulePassManager().run(module, passes)
    return module


def threads_assembly(text: str, target: Target) -> str:
    """The assembly text of an LLVM module for a GPU, after LLVM's passes, by which a thread's own memory becomes registers.

    Instructions are ordered and registers assigned by what assembles it.
    """
    llvm, processor = binding(), machine(target)
    module = _parsed(text, target)
    module.data_layout = str(processor.target_data)
    settings = llvm.create_pipeline_tuning_options(speed_level=2)
    settings.loop_vectorization = settings.slp_vectorization = False
    passes = llvm.create_pass_builder(processor, settings)
    passes.getModulePassManager().run(module, passes)
    return str(processor.emit_assembly(module))
