"""Ctrl-C ends the command with the code 130 and no traceback, whatever Python is doing; what was computed is kept."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import kumitate

STOP = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(10)\n"
#: What a module does while it is imported.
IMPORTED = {
    "in a text": f"exec({STOP!r})",
    "and says something else": f"try:\n    exec({STOP!r})\nexcept KeyboardInterrupt:\n    raise RuntimeError from None",
    "in a callback": f"class Late:\n    def __del__(self):\n        exec({STOP!r})\nLate()\n__import__('time').sleep(10)",
}


def stopped(folder, module, text):
    """`kumitate simulate` with another module of that name, which is stopped in its import."""
    (folder / "beside").mkdir()
    (folder / "beside" / f"{module}.py").write_text(text)
    path = os.pathsep.join([str(folder / "beside"), str(Path(kumitate.__file__).parents[1])])
    command = [
        sys.executable,
        "-m",
        "kumitate",
        "simulate",
        "pendulum",
        "--duration",
        "0.01",
        "--formats",
        "png",
        "--out",
        "out",
    ]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a test in the background ignores
    )  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT to send to another process")
@pytest.mark.parametrize("module", ["numpy", "cyclopts"])
def test_while_the_command_is_imported(tmp_path, module):
    done = stopped(tmp_path, module, STOP)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT to send to another process")
@pytest.mark.parametrize("text", IMPORTED.values(), ids=IMPORTED)
def test_while_it_draws(tmp_path, text):
    done = stopped(tmp_path, "matplotlib", text)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert list((tmp_path / "out").glob("result.*"))
