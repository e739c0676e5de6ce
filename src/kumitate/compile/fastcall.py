"""A kernel as a built-in Python function: no Python between the call and the machine code.

The wrapper is LLVM code too: it asks every array for its buffer, checks format and shape, and runs the kernel. Whatever is not
as expected (another dtype, strides, a mask, a batch, a list) is left to a fallback, which is called with the same arguments. It
uses the documented C API alone; where that cannot be linked (another interpreter, say), there is no such function.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..scalar import Program
from .engine import Code
from .llvm.writer import Precision
from .stored import StoredProgram
from .threads import states_for_one_thread

__all__ = ["FAST_ENTRY", "can_wrap", "fast_function", "fast_wrapper"]

#: The name of the wrapper in the module.
FAST_ENTRY = "fastcall"

# struct Py_buffer (bufferobject.h, stable since 3.11): offsets of the members that are looked at
_VIEW_BYTES, _OBJ, _NDIM, _FORMAT, _SHAPE = 80, 8, 36, 40, 48
_TYPE = 8  # struct PyObject (object.h): offset of the type
_WRITABLE, _FORMAT_FLAG, _CONTIGUOUS = 0x1, 0x4, 0x8
_METH_FASTCALL = 0x80
_DECLARATIONS = (
    "declare i32 @PyObject_GetBuffer(ptr, ptr, i32)",
    "declare void @PyBuffer_Release(ptr)",
    "declare double @PyFloat_AsDouble(ptr)",
    "declare ptr @PyErr_Occurred()",
    "declare void @PyErr_Clear()",
    "declare void @Py_IncRef(ptr)",
    "declare ptr @PyEval_SaveThread()",
    "declare void @PyEval_RestoreThread(ptr)",
    "declare ptr @PyTuple_GetItem(ptr, i64)",
    "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
    "@_Py_NoneStruct = external global i8",
)
#: Returns None.
_NOTHING = ("  call void @Py_IncRef(ptr @_Py_NoneStruct)", "  ret ptr @_Py_NoneStruct")


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


def fast_wrapper(program: Program | StoredProgram, entry: str, lanes: int, precision: Precision, *, truth: bool = False) -> str:
    """LLVM text of the wrapper: `PyObject *fastcall(self, args, n)`, its arguments the outputs and then the inputs.

    With `truth` its arguments are the inputs alone, and it returns whether the only result, a number, is not zero.

    With one lane it takes one state. With several it takes arrays with one leading axis, of at least that many states and at
    most as many as one thread should do, that do not overlap; it runs them with the interpreter's lock released.
    """
    wrapper = _Wrapper(program, lanes, precision, truth=truth)
    return wrapper.text(entry)


class _Wrapper:
    """The writer of one wrapper."""

    def __init__(self, program: Program | StoredProgram, lanes: int, precision: Precision, *, truth: bool = False):
        given = [] if truth else program.outputs
        self.arrays = [*given, *program.inputs]
        self.outputs, self.truth = len(given), truth
        self.batch = lanes > 1
        self.lanes, self.precision = lanes, precision
        self.most = states_for_one_thread(program.operations.total())

    def is_number(self, k: int) -> bool:
        """Inputs without axes are given as Python numbers, if it is for one state."""
        return not self.batch and k >= self.outputs and self.arrays[k].shape == ()

    def text(self, entry: str) -> str:
        last = len(self.arrays)
        lines = [*_DECLARATIONS, f"define ptr @{FAST_ENTRY}(ptr %self, ptr %args, i64 %given) nounwind {{", "entry:"]
        if self.truth:
            lines = ["declare ptr @PyBool_FromLong(i64)", *lines, f"  %truth = alloca {self.precision.name}"]
        for k in range(last):
            lines.append(f"  %view{k} = alloca [{_VIEW_BYTES} x i8], align 8")
            lines.append(f"  %obj{k} = getelementptr i8, ptr %view{k}, i64 {_OBJ}")
            lines.append(f"  store ptr null, ptr %obj{k}")  # releasing a view that was never filled does nothing
            if self.is_number(k):
                lines.append(f"  %number{k} = alloca {self.precision.name}")
        lines.append("  %array = call ptr @PyTuple_GetItem(ptr %self, i64 3)")
        lines += [f"  %enough = icmp eq i64 %given, {last}", "  br i1 %enough, label %argument0, label %refuse"]
        for k in range(last):
            lines += [
                f"argument{k}:",
                f"  %slot{k} = getelementptr ptr, ptr %args, i64 {k}",
                f"  %item{k} = load ptr, ptr %slot{k}",
            ]
            lines += self.number(k) if self.is_number(k) else self.buffer(k)
        lines.append(f"argument{last}:")
        lines += self.separate() if self.batch else []
        order = (*range(self.outputs, last), *range(self.outputs))
        data = [f"%{'number' if self.is_number(k) else 'data'}{k}" for k in order]
        pointers = ", ".join(f"ptr {pointer}" for pointer in (*data, *(["%truth"] if self.truth else [])))
        if self.batch:
            lines += [
                "  %thread = call ptr @PyEval_SaveThread()",
                f"  call void @{entry}(i64 %size0_0, {pointers})",
                "  call void @PyEval_RestoreThread(ptr %thread)",
            ]
        else:
            lines.append(f"  call void @{entry}(i64 1, {pointers})")
        release = [f"  call void @PyBuffer_Release(ptr %view{k})" for k in range(last) if not self.is_number(k)]
        lines += [*release, *(self.answer() if self.truth else _NOTHING)]
        lines += ["failed:", "  call void @PyErr_Clear()", "  br label %refuse", "refuse:"]
        lines += [
            *release,
            "  %fallback = call ptr @PyTuple_GetItem(ptr %self, i64 0)",
            "  %other = call ptr @PyObject_Vectorcall(ptr %fallback, ptr %args, i64 %given, ptr null)",
            "  ret ptr %other",
            "}",
        ]
        return "\n".join(lines)

    def answer(self) -> list[str]:
        """Returns whether the result is not zero."""
        return [
            f"  %result = load {self.precision.name}, ptr %truth",
            f"  %holds = fcmp une {self.precision.name} %result, 0.0",
            "  %long = zext i1 %holds to i64",
            "  %bool = call ptr @PyBool_FromLong(i64 %long)",
            "  ret ptr %bool",
        ]

    def number(self, k: int) -> list[str]:
        """A Python number to a number in memory."""
        lines = [f"  %value{k} = call double @PyFloat_AsDouble(ptr %item{k})"]
        value = f"%value{k}"
        if self.precision.name != "double":
            lines.append(f"  %short{k} = fptrunc double {value} to {self.precision.name}")
            value = f"%short{k}"
        return [
            *lines,
            f"  store {self.precision.name} {value}, ptr %number{k}",
            f"  %error{k} = call ptr @PyErr_Occurred()",
            f"  %fine{k} = icmp eq ptr %error{k}, null",
            f"  br i1 %fine{k}, label %argument{k + 1}, label %failed",
        ]

    def buffer(self, k: int) -> list[str]:
        """The buffer of an array, not of a subclass that may mean more; its format, and its shape."""
        flags = _FORMAT_FLAG | _CONTIGUOUS | (_WRITABLE if k < self.outputs else 0)
        shape = self.arrays[k].shape
        expected: list[str] = [*(["%size0_0"] if self.batch else []), *(str(size) for size in shape)]
        lines = [
            f"  %typeat{k} = getelementptr i8, ptr %item{k}, i64 {_TYPE}",
            f"  %type{k} = load ptr, ptr %typeat{k}",
            f"  %plain{k} = icmp eq ptr %type{k}, %array",
            f"  br i1 %plain{k}, label %buffer{k}, label %refuse",
            f"buffer{k}:",
            f"  %status{k} = call i32 @PyObject_GetBuffer(ptr %item{k}, ptr %view{k}, i32 {flags})",
            f"  %got{k} = icmp eq i32 %status{k}, 0",
            f"  br i1 %got{k}, label %check{k}, label %failed",
            f"check{k}:",
            f"  %formatat{k} = getelementptr i8, ptr %view{k}, i64 {_FORMAT}",
            f"  %format{k} = load ptr, ptr %formatat{k}",
            f"  %letters{k} = load i16, ptr %format{k}, align 1",
            f"  %real{k} = icmp eq i16 %letters{k}, {ord(self.precision.letter)}",  # the letter and the end of the text
            f"  %ndimat{k} = getelementptr i8, ptr %view{k}, i64 {_NDIM}",
            f"  %ndim{k} = load i32, ptr %ndimat{k}",
            f"  %axes{k} = icmp eq i32 %ndim{k}, {len(expected)}",
            f"  %like{k} = and i1 %real{k}, %axes{k}",
            f"  br i1 %like{k}, label %shape{k}, label %refuse",
            f"shape{k}:",
            f"  %data{k} = load ptr, ptr %view{k}",
            f"  %shapeat{k} = getelementptr i8, ptr %view{k}, i64 {_SHAPE}",
            f"  %sizes{k} = load ptr, ptr %shapeat{k}",
        ]
        same = "true"
        for axis, size in enumerate(expected):
            lines += [
                f"  %sizeat{k}_{axis} = getelementptr i64, ptr %sizes{k}, i64 {axis}",
                f"  %size{k}_{axis} = load i64, ptr %sizeat{k}_{axis}",
                f"  %equal{k}_{axis} = icmp eq i64 %size{k}_{axis}, {size}",
                f"  %same{k}_{axis} = and i1 {same}, %equal{k}_{axis}",
            ]
            same = f"%same{k}_{axis}"
        if self.batch and k == 0:
            lines += [
                f"  %enoughstates = icmp uge i64 %size0_0, {self.lanes}",
                f"  %fewstates = icmp ule i64 %size0_0, {self.most}",
                "  %somestates = and i1 %enoughstates, %fewstates",
                f"  %first = and i1 {same}, %somestates",
            ]
            same = "%first"
        return [*lines, f"  br i1 {same}, label %argument{k + 1}, label %refuse"]

    def separate(self) -> list[str]:
        """Refuses outputs that overlap inputs: the last block of a batch reads states that were already written."""
        lines = []
        for k, array in enumerate(self.arrays):
            lines += [
                f"  %begin{k} = ptrtoint ptr %data{k} to i64",
                f"  %bytes{k} = mul i64 %size0_0, {array.size * self.precision.bytes}",
                f"  %end{k} = add i64 %begin{k}, %bytes{k}",
            ]
        apart = "true"
        for o in range(self.outputs):
            for i in range(self.outputs, len(self.arrays)):
                lines += [
                    f"  %after{o}_{i} = icmp uge i64 %begin{o}, %end{i}",
                    f"  %before{o}_{i} = icmp uge i64 %begin{i}, %end{o}",
                    f"  %clear{o}_{i} = or i1 %after{o}_{i}, %before{o}_{i}",
                    f"  %apart{o}_{i} = and i1 {apart}, %clear{o}_{i}",
                ]
                apart = f"%apart{o}_{i}"
        return [*lines, f"  br i1 {apart}, label %run, label %refuse", "run:"]


def fast_function(code: Code, name: str, fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The built-in function of a compiled wrapper: None on success, else the result of `fallback` for the same arguments."""
    if FAST_ENTRY not in code.addresses:
        return fallback
    definition = _MethodDef(name.encode(), code.addresses[FAST_ENTRY], _METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    # the function's `self` keeps its definition and its machine code alive
    return make(ctypes.addressof(definition), (fallback, definition, code, np.ndarray), None)


def can_wrap() -> bool:
    """Whether this interpreter has the C API that the wrapper is written for."""
    return sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8
