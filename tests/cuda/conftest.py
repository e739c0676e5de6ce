"""The device of the tests: pretended by the processor, and with --gpu the GPU, too."""

import pytest

from kumitate.cuda import arrays, kernel

from .pretended import Pretended, PretendedCode


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        places = ["pretended", "gpu"] if metafunc.config.getoption("--gpu") else ["pretended"]
        metafunc.parametrize("device", places, indirect=True)


@pytest.fixture
def device(request, monkeypatch):
    """Where kernels and batches compute."""
    if request.param == "gpu":
        yield arrays.gpu()
        return
    pretended = Pretended()
    for module in (arrays, kernel):
        monkeypatch.setattr(module, "gpu", lambda: pretended)
    monkeypatch.setattr(kernel, "compiled", PretendedCode)
    yield pretended
