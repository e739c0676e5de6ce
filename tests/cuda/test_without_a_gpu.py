"""What is said where there is no GPU, and of arrays that are not on it; the exchange of arrays by DLPack."""

from __future__ import annotations

import ctypes
import gc
from types import SimpleNamespace

import numpy as np
import pytest

import kumitate as km
from kumitate.cuda import DeviceKernel, driver, gpu
from kumitate.cuda.arrays import _HELD, CUDA, DeviceView, capsule_of, of_capsule, packed, view
from kumitate.cuda.kernel import checked_lead, stream_of
from kumitate.errors import InputError


@pytest.fixture
def nothing(monkeypatch):
    """A machine without NVIDIA's driver."""

    def missing(name):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(driver.ctypes, "CDLL", missing)
    driver._driver.cache_clear()
    yield
    driver._driver.cache_clear()


@pytest.fixture
def kernel():
    return km.load("pa10").compile("forward_dynamics", dtype=np.float32, target="cuda")


def test_a_kernel_is_made_without_a_gpu_and_refuses_calls(nothing, kernel):
    assert isinstance(kernel, DeviceKernel)
    assert [array.shape for array in (*kernel.inputs, *kernel.outputs)] == [(7,)] * 4
    with pytest.raises(InputError, match=r"no NVIDIA driver is installed here .* leave out target='cuda'"):
        kernel(*np.zeros((3, 7), np.float32))


def test_an_old_driver_is_refused(monkeypatch):
    def answer(name, status):
        return lambda *arguments: status

    def version(pointer):
        ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int))[0] = 11080
        return 0

    library = SimpleNamespace(cuInit=answer("cuInit", 0), cuDriverGetVersion=version)
    monkeypatch.setattr(driver, "_library", lambda: library)
    driver._driver.cache_clear()
    with pytest.raises(InputError, match=r"the NVIDIA driver is for CUDA 11\.8; 12\.0 or later is needed"):
        gpu()
    library.cuInit, library.cuGetErrorString = answer("cuInit", 100), answer("cuGetErrorString", 0)
    with pytest.raises(InputError, match="there is an NVIDIA driver here and no GPU that it can use"):
        gpu()
    driver._driver.cache_clear()


@pytest.mark.parametrize(("target", "portable"), [("gpu", False), ("cuda", True)])
def test_other_targets_are_refused(target, portable):
    with pytest.raises(InputError, match=f"there is no target '{target}'"):
        km.load("pa10").compile("mass_matrix", target=target, portable=portable)


DEVICE = SimpleNamespace(ordinal=0, name="a GPU")


class Foreign:
    """An array of another library on a GPU, in memory that nobody touches."""

    def __init__(self, shape=(4, 7), ordinal=0):
        self.array = SimpleNamespace(
            address=4096,
            shape=shape,
            strides=packed(shape),
            dtype=np.dtype(np.float32),
            device=SimpleNamespace(ordinal=ordinal),
        )

    def __dlpack_device__(self):
        return CUDA, self.array.device.ordinal

    def __dlpack__(self, *, stream):
        assert stream == 1  # the default stream by its name in the standard
        return capsule_of(self.array)


@pytest.mark.usefixtures("little_to_collect")
def test_arrays_are_exchanged_where_they_stand():
    before = len(_HELD)
    found = view("q", Foreign(), DEVICE, 0)
    assert found[:4] == (4096, (4, 7), (7, 1), np.dtype(np.float32))
    assert found.is_contiguous(2)
    assert len(_HELD) == before + 1
    del found
    gc.collect()
    assert len(_HELD) == before


def test_capsules_hold_what_they_say():
    array = SimpleNamespace(address=64, shape=(2, 3), strides=(8, 1), dtype=np.dtype(np.float64), device=DEVICE)
    capsule = capsule_of(array)
    assert of_capsule(capsule) == (64, (2, 3), (8, 1), np.dtype(np.float64))


def test_the_older_interface_is_read_too():
    known = {"shape": (4, 7), "typestr": "<f4", "data": (128, False), "version": 3, "strides": (64, 4)}
    found = view("q", SimpleNamespace(__cuda_array_interface__=known), DEVICE, 0)
    assert found[:4] == (128, (4, 7), (16, 1), np.dtype(np.float32))
    assert not found.is_contiguous(2)
    assert found.is_contiguous(1)


@pytest.mark.parametrize("value", [np.zeros(7), [0.0] * 7, 1.0])
def test_arrays_elsewhere_are_refused_with_the_remedy(value):
    with pytest.raises(InputError, match=r"q is \w+ in the processor's memory; .* kumitate\.cuda\.to_device\(q\)"):
        view("q", value, DEVICE, 0)


def test_arrays_of_another_gpu_are_refused():
    with pytest.raises(InputError, match="q is on GPU 1, and the current one is GPU 0"):
        view("q", Foreign(ordinal=1), DEVICE, 0)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (DeviceView(0, (4, 7), (7, 1), np.dtype(float), None), "q has dtype float64; this kernel computes in float32"),
        (DeviceView(0, (4, 6), (6, 1), np.dtype(np.float32), None), r"q has shape \(4, 6\); it must be \(7\), or \(..., 7\)"),
        (
            DeviceView(0, (4, 7), (1, 4), np.dtype(np.float32), None),
            "the numbers of a state of q do not stand behind each other",
        ),
    ],
)
def test_arrays_of_wrong_form_are_refused(kernel, found, words):
    with pytest.raises(InputError, match=words):
        checked_lead(kernel.name, kernel.inputs[0], found, kernel.precision)


def test_streams_of_several_libraries_are_taken():
    streams = (None, 7, SimpleNamespace(cuda_stream=8), SimpleNamespace(ptr=9))
    assert [stream_of(stream) for stream in streams] == [0, 7, 8, 9]
    with pytest.raises(InputError, match="is not a stream"):
        stream_of("fast")


def test_what_the_assembler_says_is_in_the_error(monkeypatch):
    """Of a driver that refuses everything after it was started."""

    def call(name, *arguments):
        if name == "cuLinkAddData_v2":
            raise driver.DriverError(218, "the GPU's driver says in cuLinkAddData_v2: invalid PTX (218)")

    device = driver.Device.__new__(driver.Device)
    device._call = call
    with pytest.raises(InputError, match=r"pa10: the GPU's driver says .* invalid PTX"):
        device.assemble("pa10", "")
