"""Running a module of WebAssembly in Node."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kumitate.compile.wasm import WasmModule

from ..tools import NODE

_SCRIPT = """
const fs = require("fs"), given = JSON.parse(fs.readFileSync(0));
const found = given.map(({file, calls}) => {
    const {memory, ...functions} = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file))).exports;
    const numbers = new Float64Array(memory.buffer);
    return calls.map(({put, call, times, get}) => {
        put.forEach(([address, hex]) => Buffer.from(memory.buffer).set(Buffer.from(hex, "hex"), address));
        times === null ? functions[call]() : functions[call](times);
        return get.map(([address, size]) => Buffer.from(memory.buffer, address, 8 * size).toString("hex"));
    });
});
process.stdout.write(JSON.stringify(found));
"""


class Instance:
    """The calls of an instance of a module: what is put into its memory, what runs, and what is read then."""

    def __init__(self, module: WasmModule):
        self.module = module
        self.calls: list[dict[str, Any]] = []
        self.shapes: list[list[tuple[int, ...]]] = []

    def call(self, name: str, put: Mapping[str, Any], get: Sequence[str], times: int | None = None) -> None:
        """A call of a function after putting arrays at their places; the arrays read behind it."""
        places = self.module.places
        for key, value in put.items():
            assert np.shape(value) == places[key][1], key
        given = [(places[key][0], np.asarray(value, dtype="<f8").tobytes().hex()) for key, value in put.items()]
        sizes = [(places[key][0], int(np.prod(places[key][1]))) for key in get]
        self.calls.append({"put": given, "call": name, "times": times, "get": sizes})
        self.shapes.append([places[key][1] for key in get])


def run_in_node(instances: Sequence[Instance]) -> list[list[list[np.ndarray]]]:
    """What each call of each instance gave."""
    with TemporaryDirectory() as folder:
        given = []
        for k, one in enumerate(instances):
            path = Path(folder, f"{k}.wasm")
            path.write_bytes(one.module.code)
            given.append({"file": str(path), "calls": one.calls})
        run = subprocess.run(
            [NODE.needed(), "-e", _SCRIPT], input=json.dumps(given), capture_output=True, text=True, check=False
        )  # fmt: skip
    assert not run.returncode, run.stderr[-3000:]
    return [
        [
            [np.frombuffer(bytes.fromhex(text)).reshape(shape) for text, shape in zip(texts, shapes, strict=True)]
            for texts, shapes in zip(calls, one.shapes, strict=True)
        ]
        for calls, one in zip(json.loads(run.stdout), instances, strict=True)
    ]
