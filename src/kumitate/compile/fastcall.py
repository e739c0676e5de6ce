"""A kernel as a built-in Python function: one state, no Python on the way.

The wrapper is LLVM code too: it asks every argument for its buffer, checks format and shape, and runs the kernel. Whatever is
not as expected (another dtype, strides, a batch, a list) is left to the slow path: the wrapper then returns NotImplemented. It
uses the documented C API alone; where that cannot be linked (another interpreter, say), there is no such function.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from ..scalar import Array, Program
from .engine import Code

__all__ = ["FAST_ENTRY", "can_wrap", "fast_function", "fast_wrapper"]

#: The name of the wrapper in the module.
FAST_ENTRY = "fastcall"

# struct Py_buffer (bufferobject.h, stable since 3.11): offsets of the members that are looked at
_VIEW_BYTES, _OBJ, _NDIM, _FORMAT, _SHAPE = 80, 8, 36, 40, 48
_WRITABLE, _FORMAT_FLAG, _CONTIGUOUS = 0x1, 0x4, 0x8
_METH_FASTCALL = 0x80


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


def fast_wrapper(program: Program, entry: str) -> str:
    """LLVM text of the wrapper: `PyObject *fastcall(self, args, n)`, its arguments the outputs and then the inputs."""
    arrays = [*((a, True) for a in program.outputs), *((a, False) for a in program.inputs)]
    lines = [
        "declare i32 @PyObject_GetBuffer(ptr, ptr, i32)",
        "declare void @PyBuffer_Release(ptr)",
        "declare double @PyFloat_AsDouble(ptr)",
        "declare ptr @PyErr_Occurred()",
        "declare void @PyErr_Clear()",
        "declare void @Py_IncRef(ptr)",
        "@_Py_NoneStruct = external global i8",
        "@_Py_NotImplementedStruct = external global i8",
        f"define ptr @{FAST_ENTRY}(ptr %self, ptr %args, i64 %given) nounwind {{",
        "entry:",
    ]
    for k, (array, is_output) in enumerate(arrays):
        lines.append(f"  %view{k} = alloca [{_VIEW_BYTES} x i8], align 8")
        lines.append(f"  %obj{k} = getelementptr i8, ptr %view{k}, i64 {_OBJ}")
        lines.append(f"  store ptr null, ptr %obj{k}")  # releasing a view that was never filled does nothing
        if _is_number(array, is_output):
            lines.append(f"  %number{k} = alloca double")
    lines += [f"  %enough = icmp eq i64 %given, {len(arrays)}", "  br i1 %enough, label %argument0, label %refuse"]
    for k, (array, is_output) in enumerate(arrays):
        lines += [
            f"argument{k}:",
            f"  %slot{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"  %item{k} = load ptr, ptr %slot{k}",
        ]
        lines += _number(k) if _is_number(array, is_output) else _buffer(k, array, is_output)
    lines.append(f"argument{len(arrays)}:")
    ordered = [*range(len(program.outputs), len(arrays)), *range(len(program.outputs))]
    pointers = ", ".join(f"ptr %{'number' if _is_number(*arrays[k]) else 'data'}{k}" for k in ordered)
    lines.append(f"  call void @{entry}(i64 1, {pointers})")
    release = [f"  call void @PyBuffer_Release(ptr %view{k})" for k, item in enumerate(arrays) if not _is_number(*item)]
    lines += [*release, "  call void @Py_IncRef(ptr @_Py_NoneStruct)", "  ret ptr @_Py_NoneStruct"]
    lines += ["failed:", "  call void @PyErr_Clear()", "  br label %refuse", "refuse:"]
    lines += [*release, "  call void @Py_IncRef(ptr @_Py_NotImplementedStruct)", "  ret ptr @_Py_NotImplementedStruct", "}"]
    return "\n".join(lines)


def _is_number(array: Array, is_output: bool) -> bool:
    """Inputs without axes are given as Python numbers."""
    return array.shape == () and not is_output


def _number(k: int) -> list[str]:
    return [
        f"  %value{k} = call double @PyFloat_AsDouble(ptr %item{k})",
        f"  store double %value{k}, ptr %number{k}",
        f"  %error{k} = call ptr @PyErr_Occurred()",
        f"  %fine{k} = icmp eq ptr %error{k}, null",
        f"  br i1 %fine{k}, label %argument{k + 1}, label %failed",
    ]


def _buffer(k: int, array: Array, is_output: bool) -> list[str]:
    flags = _FORMAT_FLAG | _CONTIGUOUS | (_WRITABLE if is_output else 0)
    lines = [
        f"  %status{k} = call i32 @PyObject_GetBuffer(ptr %item{k}, ptr %view{k}, i32 {flags})",
        f"  %got{k} = icmp eq i32 %status{k}, 0",
        f"  br i1 %got{k}, label %check{k}, label %failed",
        f"check{k}:",
        f"  %formatat{k} = getelementptr i8, ptr %view{k}, i64 {_FORMAT}",
        f"  %format{k} = load ptr, ptr %formatat{k}",
        f"  %letters{k} = load i16, ptr %format{k}, align 1",
        f"  %double{k} = icmp eq i16 %letters{k}, {ord('d')}",  # "d" and its end
        f"  %ndimat{k} = getelementptr i8, ptr %view{k}, i64 {_NDIM}",
        f"  %ndim{k} = load i32, ptr %ndimat{k}",
        f"  %axes{k} = icmp eq i32 %ndim{k}, {len(array.shape)}",
        f"  %like{k} = and i1 %double{k}, %axes{k}",
        f"  br i1 %like{k}, label %shape{k}, label %refuse",
        f"shape{k}:",
        f"  %data{k} = load ptr, ptr %view{k}",
    ]
    lines += [f"  %shapeat{k} = getelementptr i8, ptr %view{k}, i64 {_SHAPE}", f"  %sizes{k} = load ptr, ptr %shapeat{k}"]
    same = "true"
    for axis, size in enumerate(array.shape):
        lines += [
            f"  %sizeat{k}_{axis} = getelementptr i64, ptr %sizes{k}, i64 {axis}",
            f"  %size{k}_{axis} = load i64, ptr %sizeat{k}_{axis}",
            f"  %equal{k}_{axis} = icmp eq i64 %size{k}_{axis}, {size}",
            f"  %same{k}_{axis} = and i1 {same}, %equal{k}_{axis}",
        ]
        same = f"%same{k}_{axis}"
    return [*lines, f"  br i1 {same}, label %argument{k + 1}, label %refuse"]


def fast_function(code: Code, name: str) -> Callable[..., Any] | None:
    """The built-in function of a compiled wrapper: None on success, NotImplemented if the slow path must do it."""
    if FAST_ENTRY not in code.addresses:
        return None
    definition = _MethodDef(name.encode(), code.addresses[FAST_ENTRY], _METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    # the function's `self` keeps its definition and its machine code alive
    return make(ctypes.addressof(definition), (definition, code), None)


def can_wrap() -> bool:
    """Whether this interpreter has the C API that the wrapper is written for."""
    return sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8
