"""What code is compiled for: a processor, and a floating-point format."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    import llvmlite.binding as llvm


@dataclass(frozen=True)
class Precision:
    """A format: LLVM's name for it, the suffix of its intrinsics, its size, the letter of its buffers, NumPy's dtype."""

    name: str
    suffix: str
    bytes: int
    letter: str
    dtype: np.dtype


DOUBLE = Precision("double", "f64", 8, "d", np.dtype(np.float64))
SINGLE = Precision("float", "f32", 4, "f", np.dtype(np.float32))


def precision_of(dtype: object) -> Precision:
    """The format of a NumPy dtype, float64 or float32; an `InputError` for another one."""
    for precision in (DOUBLE, SINGLE):
        if np.dtype(dtype) == precision.dtype:  # type: ignore[call-overload]
            return precision
    raise InputError(f"kernels compute in float64 or float32, not in {np.dtype(dtype)}")  # type: ignore[call-overload]


# --- the processor that code is compiled for ------------------------------------------------------------------------------
@dataclass(frozen=True)
class Target:
    """A processor.

    Attributes:
        triple, cpu, features: LLVM's names for it.
        lanes: how many float64 lanes one of its instructions works on.
        code_cache: bytes of its first-level instruction cache.
    """

    triple: str
    cpu: str
    features: str
    lanes: int
    code_cache: int = 32768


#: Processors of 64-bit PCs by LLVM's names, for which code can be made instead of for the one at hand: their lanes, and
#: what the one at hand must have to run it.
CPUS: dict[str, tuple[int, tuple[str, ...]]] = {
    "x86-64": (2, ("sse2",)), "nehalem": (2, ("sse4.2",)), "sandybridge": (4, ("avx",)),
    "haswell": (4, ("avx2", "fma", "bmi2")),
    "skylake-avx512": (8, ("avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd")),
}  # fmt: skip
#: Where Linux tells the caches of the processor.
_CACHES = "/sys/devices/system/cpu/cpu0/cache"
#: 64-bit ARM processors of the servers' kind, with two float64 lanes.
ARM64 = Target("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon,+fp-armv8", 2)
#: Browsers and Node, with what they all have since 2021.
WASM32 = Target("wasm32-unknown-unknown", "generic", "+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals", 1)
#: Compute capabilities of GPUs that code is compiled for; PTX of one is assembled for those above it, too.
_CAPABILITIES = ((8, 0), (9, 0), (10, 0), (12, 0))
_NVIDIA = "nvptx64-nvidia-cuda"


def gpu_target(capability: tuple[int, int]) -> Target:
    """The target for NVIDIA's GPUs of a compute capability, such as (9, 0): the last of those known that is not above it."""
    major, minor = max(known for known in _CAPABILITIES if known <= max(capability, _CAPABILITIES[0]))
    return Target(_NVIDIA, f"sm_{major}{minor}", "", 1)


def binding() -> ModuleType:
    """LLVM itself, which takes a tenth of a second to load: it is loaded when the first program is compiled."""
    import llvmlite.binding

    return llvmlite.binding


#: Stretches of code of so many loads and stores are ordered without comparing every two of them: the machine code is as fast,
#: and is made in up to a sixth of the time where a program gives many results.
_REGIONS = ("-dag-maps-huge-region=100", "-dag-maps-reduction-size=50")


@cache
def host() -> Target:
    """The processor that runs this, or that of `CPUS` which the environment variable KUMITATE_CPU names.

    Raises:
        InputError: for another name, or a processor whose instructions the one at hand does not have.
    """
    llvm = binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for option in _REGIONS:
        llvm.set_option("", option)
    features = llvm.get_host_cpu_features()
    chosen = os.environ.get("KUMITATE_CPU")
    if chosen:
        lanes, needed = CPUS.get(chosen, (0, ()))
        missing = [name for name in needed if not features.get(name)]
        if not lanes or missing:
            why = f"the one at hand has no {', '.join(missing)}" if missing else f"there are {', '.join(CPUS)}"
            raise InputError(
                f"KUMITATE_CPU is {chosen!r}, for which no code can be made here: {why}; unset it for the one at hand"
            )
        return Target(llvm.get_process_triple(), chosen, "", lanes, *_code_cache())
    lanes = next((width for name, width in (("avx512f", 8), ("avx", 4)) if features.get(name)), 2)
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), lanes, *_code_cache())


def _code_cache() -> list[int]:
    """The size of the first-level instruction cache, where Linux tells it."""
    with contextlib.suppress(OSError, ValueError):
        for name in sorted(name for name in os.listdir(_CACHES) if name.startswith("index")):
            level, kind, size = (Path(_CACHES, name, what).read_text().strip() for what in ("level", "type", "size"))
            if (level, kind) == ("1", "Instruction"):
                return [1024 * int(size.removesuffix("K"))]
    return []


@cache
def machine(target: Target, effort: int = 2) -> llvm.TargetMachine:
    """LLVM's code generator for a target, with an effort from 0 to 3.

    The small code model lets constants be operands of instructions; LLVM's own mid-level passes find little after ours.
    """
    llvm, native = binding(), host()
    if target != native:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(  # type: ignore[no-any-return]
        cpu=target.cpu, features=target.features, opt=effort, reloc="static" if target is WASM32 else "pic", codemodel="small"
    )
