"""kumitate cache"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..compile import cache_folder
from .options import AsJson
from .report import print_facts, print_json

__all__ = ["cache"]

#: Compiled code, reduced meshes, and what an interrupted process left of them. Nothing else is counted or deleted, whatever
#: folder is chosen.
_OURS = re.compile(r"[0-9a-f]{64}(\.o|\.npz|.*\.part)")


def cache(
    action: Annotated[
        Literal["show", "clear"], Parameter(help="Show what is there, or delete it; code is compiled again when it is needed.")
    ] = "show",
    /,
    *,
    as_json: AsJson = False,
) -> None:
    """Show or clear the compiled code and the reduced meshes that are kept on disk."""
    folder = cache_folder()
    sizes = _entries(folder)
    deleted = 0
    if action == "clear":
        for path in sizes:
            path.unlink(missing_ok=True)  # another process may clear it too
            deleted += 1
        sizes = _entries(folder)
    size = sum(sizes.values())
    kernels, meshes = (sum(path.suffix == suffix for path in sizes) for suffix in (".o", ".npz"))
    if as_json:
        counts = {"entries": len(sizes), "kernels": kernels, "meshes": meshes}
        print_json({"folder": folder, **counts, "bytes": size, "deleted": deleted})
        return
    facts = [("folder", str(folder)), ("kernels", str(kernels)), ("meshes", str(meshes)), ("size", _readable(size))]
    print_facts("kept on disk", facts if action == "show" else [*facts, ("deleted", str(deleted))])


def _entries(folder: Path) -> dict[Path, int]:
    """The files of the cache, and the bytes of each."""
    sizes = {}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if _OURS.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):  # deleted by another process meanwhile
                    sizes[path] = path.stat().st_size
    return sizes


def _readable(size: float) -> str:
    for unit in ("bytes", "kB"):
        if size < 1000:
            return f"{size:.4g} {unit}"
        size /= 1000
    return f"{size:.4g} MB"
