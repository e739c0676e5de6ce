"""Programs found on disk by what they are made of, also by another process, so that nothing is traced twice.

A `StoredProgram` stands for a program that has not been traced. Its name, its arrays and its number of operations are kept on
disk with its machine code, both under a key that says what it is made of; the program itself is traced when something asks for
more than that. A part of every key are the sources of kumitate by their content: other sources, other code. Times alone say
nothing of content: copies, archives and images of containers set them as they like.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from ..scalar import Array, Program
from ..scalar.verify import verifying
from .disk import cached

#: Folders that no source of a stored program is in: rooms that what makes such programs never imports (tests/repo), and
#: what Python keeps.
_WITHOUT_PROGRAMS = {
    "__pycache__", "cli", "diagnose", "examples", "gym", "identification", "live", "measure", "scenario", "share", "sweeps",
    "view",
}  # fmt: skip
#: Two changes of a file so close together may show the same time [ns].
_TICK = 2_000_000_000


class StoredProgram:
    """A program by its key, a digest of what it is made of."""

    def __init__(self, key: str, make: Callable[[], Program]):
        """The program that `make` traces, unless one was kept under this key by the same sources of kumitate."""
        import hashlib  # what the first program needs is not loaded with the package
        import json

        self.key = hashlib.sha256(f"{source_stamp()}\0{key}".encode()).hexdigest()
        self._make = make
        head = json.loads(cached(f"program\0{self.key}", self._head, suffix=".json").content)
        self.name: str = head["name"]
        self.inputs = tuple(Array(name, tuple(shape)) for name, shape in head["inputs"])
        self.outputs = tuple(Array(name, tuple(shape)) for name, shape in head["outputs"])
        self.operations: Counter[str] = Counter(head["operations"])

    @cached_property
    def program(self) -> Program:
        """The program itself, traced on first use."""
        return self._make()

    def _head(self) -> bytes:
        import json

        program = self.program
        arrays = {part: [[array.name, array.shape] for array in getattr(program, part)] for part in ("inputs", "outputs")}
        return json.dumps({"name": program.name, **arrays, "operations": dict(program.operations)}).encode()


def found_or_traced(key: str | None, make: Callable[[], Program]) -> Program | StoredProgram:
    """The program of a key; without one it is traced now."""
    return make() if key is None else StoredProgram(key, make)


def traced(program: Program | StoredProgram) -> Program:
    """The program itself."""
    return program.program if isinstance(program, StoredProgram) else program


def joint_key(programs: Sequence[Program | StoredProgram]) -> str:
    """The key of what is made of several programs; empty unless all have one."""
    keys = [program.key if isinstance(program, StoredProgram) else "" for program in programs]
    return "+".join(keys) if all(keys) else ""


# --- the sources of kumitate ----------------------------------------------------------------------------------------------
class Sources:
    """The Python files of a folder, as they are when this is made.

    Reading them takes 20 ms, a look at their times 3 ms. Their digest is therefore kept on disk under their paths, sizes, times
    and inodes, wherever the system itself keeps the time of the last change.
    """

    def __init__(self, folder: str):
        self._folder = folder
        self._files = _files(folder)

    @cached_property
    def digest(self) -> bytes:
        """The digest of paths and contents; of files that have changed since, one that no other files have."""
        newest = max((changed for *_, changed in self._files.values()), default=0)
        if not _keeps_times(self._folder) or newest > time.time_ns() - _TICK:
            return self._read()
        return cached(f"sources\0{sorted(self._files.items())}", self._read, suffix=".digest").content

    def _read(self) -> bytes:
        import hashlib

        found = hashlib.sha256()
        try:
            for path in sorted(self._files):
                content = Path(path).read_bytes()
                found.update(f"{os.path.relpath(path, self._folder)}\0{len(content)}\0".encode() + content)
            unchanged = _files(self._folder) == self._files
        except OSError:
            unchanged = False
        return found.digest() if unchanged else hashlib.sha256(f"changed\0{sorted(self._files.items())}".encode()).digest()


def _files(folder: str) -> dict[str, tuple[int, int, int, int]]:
    """The paths of Python files with their inodes, sizes, and times of modification, which a program may set, and of change."""
    files, folders = {}, [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    status = entry.stat()
                    files[entry.path] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                elif name not in _WITHOUT_PROGRAMS and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return files


def _keeps_times(folder: str) -> bool:
    """Whether the system sets the time of a file's last change: not in images for reading only, and not on Windows."""
    return hasattr(os, "statvfs") and not os.statvfs(folder).f_flag & os.ST_RDONLY


def source_stamp() -> str:
    """An identifier of what programs are made by: the sources, with their version among them, NumPy, and LLVM's binding.

    Programs that are checked between passes have another: what is found under it was checked by the process that made it.
    The sources are those at the import of this: what is kept was made by those that run, though files may have changed since.
    """
    import llvmlite
    import numpy as np

    return f"{_IMPORTED.digest.hex()} NumPy {np.__version__} llvmlite {llvmlite.__version__}{' checked' * verifying()}"


_IMPORTED = Sources(str(Path(__file__).parents[1]))
