"""A kernel as a built-in Python function: no Python between the call and the machine code.

The wrapper is LLVM code too: it asks every array for its buffer, checks format and shape, and runs the kernel. Whatever is not
as expected (another dtype, strides, a mask, a batch, a list) is left to a fallback, which is called with the same arguments. It
uses the documented C API alone; where that cannot be linked (another interpreter, say), there is no such function.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..scalar import Program
from .engine import Code
from .llvm.writer import Module, Writer, declarations
from .stored import StoredProgram
from .target import Precision
from .threads import states_for_one_thread

#: The name of the wrapper in the module.
FAST_ENTRY = "fastcall"

# struct Py_buffer (bufferobject.h, stable since 3.11): offsets of the members that are looked at
_VIEW_BYTES, _OBJ, _NDIM, _FORMAT, _SHAPE = 80, 8, 36, 40, 48
_TYPE = 8  # struct PyObject (object.h): offset of the type
_WRITABLE, _FORMAT_FLAG, _CONTIGUOUS = 0x1, 0x4, 0x8
_METH_FASTCALL = 0x80


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


class FastWrapper(Writer):
    """LLVM text of the wrapper: `PyObject *fastcall(self, args, n)`, its arguments the outputs and then the inputs.

    With `truth` its arguments are the inputs alone, and it returns whether the only result, a number, is not zero.

    With one lane it takes one state. With several it takes arrays with one leading axis, of at least that many states and at
    most as many as one thread should do, that do not overlap; it runs them with the interpreter's lock released.
    """

    def __init__(self, program: Program | StoredProgram, lanes: int, precision: Precision, *, truth: bool = False):
        super().__init__(Module(1, precision))
        given = [] if truth else program.outputs
        self.arrays = [*given, *program.inputs]
        self.outputs, self.truth, self.batch, self.lanes = len(given), truth, lanes > 1, lanes
        self.most = states_for_one_thread(program.operations.total())
        self.states = ""  # how many a batch has

    def is_number(self, k: int) -> bool:
        """Inputs without axes are given as Python numbers, if it is for one state."""
        return not self.batch and k >= self.outputs and self.arrays[k].shape == ()

    def member(self, kind: str, place: str, offset: int, unit: str = "i8") -> str:
        """A member of a struct."""
        return self.line(f"load {kind}, ptr {self.line(f'getelementptr {unit}, ptr {place}, i64 {offset}')}")

    def require(self, condition: str, otherwise: str = "refuse") -> None:
        """Goes on where a condition holds."""
        going = self.label()
        self.effect(f"br i1 {self.line(condition)}, label %{going}, label %{otherwise}")
        self.start(going)

    def text(self, entry: str) -> str:
        """The declarations, and the function."""
        real, last = self.module.real, len(self.arrays)
        numbers = [k for k in range(last) if self.is_number(k)]
        places = {k: self.line(f"alloca {real}") for k in numbers}
        views = {k: self.line(f"alloca [{_VIEW_BYTES} x i8], align 8") for k in range(last) if k not in places}
        for view in views.values():  # releasing a view that was never filled does nothing
            self.effect(f"store ptr null, ptr {self.line(f'getelementptr i8, ptr {view}, i64 {_OBJ}')}")
        truth = [self.line(f"alloca {real}")] if self.truth else []
        array = self.line("call ptr @PyTuple_GetItem(ptr %self, i64 3)")
        self.require(f"icmp eq i64 %given, {last}")
        for k in range(last):
            item = self.member("ptr", "%args", k, "ptr")
            if self.is_number(k):
                self.number(item, places[k])
            else:
                places[k] = self.buffer(k, item, views[k], array)
        if self.batch:
            self.separate(places)
        pointers = [places[k] for k in (*range(self.outputs, last), *range(self.outputs))] + truth
        thread = self.line("call ptr @PyEval_SaveThread()") if self.batch else ""
        arguments = ", ".join(f"ptr {pointer}" for pointer in pointers)
        self.effect(f"call void @{entry}(i64 {self.states if self.batch else 1}, {arguments})")
        if self.batch:
            self.effect(f"call void @PyEval_RestoreThread(ptr {thread})")
        self.release(views.values())
        if self.truth:
            holds = self.line(f"fcmp une {real} {self.line(f'load {real}, ptr {truth[0]}')}, 0.0")
            long = self.line(f"zext i1 {holds} to i64")
            self.effect(f"ret ptr {self.line(f'call ptr @PyBool_FromLong(i64 {long})')}")
        else:
            self.effect("call void @Py_IncRef(ptr @_Py_NoneStruct)")
            self.effect("ret ptr @_Py_NoneStruct")
        self.start("failed")
        self.effect("call void @PyErr_Clear()")
        self.go("refuse")
        self.release(views.values())
        fallback = self.line("call ptr @PyTuple_GetItem(ptr %self, i64 0)")
        other = self.line(f"call ptr @PyObject_Vectorcall(ptr {fallback}, ptr %args, i64 %given, ptr null)")
        self.effect(f"ret ptr {other}")
        text = self.framed(f"define ptr @{FAST_ENTRY}(ptr %self, ptr %args, i64 %given) nounwind")
        declared = [line for line in declarations(text) if f"@{entry}(" not in line]
        return "\n".join([*declared, "@_Py_NoneStruct = external global i8", text])

    def release(self, views: Iterable[str]) -> None:
        """Gives the buffers back."""
        for view in views:
            self.effect(f"call void @PyBuffer_Release(ptr {view})")

    def number(self, item: str, place: str) -> None:
        """A Python number to a number in memory."""
        value, real = self.line(f"call double @PyFloat_AsDouble(ptr {item})"), self.module.real
        if real != "double":
            value = self.line(f"fptrunc double {value} to {real}")
        self.effect(f"store {real} {value}, ptr {place}")
        self.require(f"icmp eq ptr {self.line('call ptr @PyErr_Occurred()')}, null", "failed")

    def buffer(self, k: int, item: str, view: str, array: str) -> str:
        """The address in the buffer of an array, not of a subclass that may mean more, if format and shape are right."""
        flags = _FORMAT_FLAG | _CONTIGUOUS | (_WRITABLE if k < self.outputs else 0)
        self.require(f"icmp eq ptr {self.member('ptr', item, _TYPE)}, {array}")
        status = self.line(f"call i32 @PyObject_GetBuffer(ptr {item}, ptr {view}, i32 {flags})")
        self.require(f"icmp eq i32 {status}, 0", "failed")
        letters = self.line(f"load i16, ptr {self.member('ptr', view, _FORMAT)}, align 1")  # one, and the end of the text
        real = self.line(f"icmp eq i16 {letters}, {ord(self.module.precision.letter)}")
        shape = self.arrays[k].shape
        axes = self.line(f"icmp eq i32 {self.member('i32', view, _NDIM)}, {len(shape) + self.batch}")
        self.require(f"and i1 {real}, {axes}")
        sizes = self.member("ptr", view, _SHAPE)
        found = [self.member("i64", sizes, axis, "i64") for axis in range(len(shape) + self.batch)]
        same = "true"
        if self.batch and not k:
            self.states = found[0]
            enough = self.line(f"icmp uge i64 {self.states}, {self.lanes}")
            few = self.line(f"icmp ule i64 {self.states}, {self.most}")
            same = self.line(f"and i1 {enough}, {few}")
        for size, wanted in zip(found, [*([self.states] if self.batch else []), *shape], strict=True):
            equal = self.line(f"icmp eq i64 {size}, {wanted}")
            same = self.line(f"and i1 {same}, {equal}")
        self.require(f"and i1 {same}, true")
        return self.line(f"load ptr, ptr {view}")

    def separate(self, places: Mapping[int, str]) -> None:
        """Refuses outputs that overlap inputs: the last block of a batch reads states that were already written."""
        spans = []
        for k, array in enumerate(self.arrays):
            begin = self.line(f"ptrtoint ptr {places[k]} to i64")
            size = self.line(f"mul i64 {self.states}, {array.size * self.module.precision.bytes}")
            spans.append((begin, self.line(f"add i64 {begin}, {size}")))
        apart = "true"
        for (begin, end), (first, last) in itertools.product(spans[: self.outputs], spans[self.outputs :]):
            after, before = self.line(f"icmp uge i64 {begin}, {last}"), self.line(f"icmp uge i64 {first}, {end}")
            apart = self.line(f"and i1 {apart}, {self.line(f'or i1 {after}, {before}')}")
        self.require(f"and i1 {apart}, true")


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
