"""kumitate cache"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..compile import cache_folder
from ..compile.disk import entries, folder_fault, size_limit
from .options import AsJson
from .report import print_facts, print_json


def cache(
    action: Annotated[
        Literal["show", "clear"], Parameter(help="Show what is there, or delete it; code is compiled again when it is needed.")
    ] = "show",
    /,
    *,
    as_json: AsJson = False,
) -> None:
    """Show or clear the compiled code and the reduced meshes that are kept on disk.

    KUMITATE_CACHE names another folder, KUMITATE_CACHE_SIZE how many MB are kept (1000).
    """
    folder = cache_folder()
    kept = _sizes(folder)
    deleted = 0
    if action == "clear":
        for path in kept:
            path.unlink(missing_ok=True)  # another process may clear it too
            deleted += 1
        kept = _sizes(folder)
    size, limit = sum(kept.values()), size_limit()
    kernels, meshes = (sum(path.suffix == suffix for path in kept) for suffix in (".o", ".npz"))
    fault = "there is no home folder" if folder is None else folder_fault(folder)
    if as_json:
        counts = {"entries": len(kept), "kernels": kernels, "meshes": meshes}
        print_json({"folder": folder, **counts, "bytes": size, "limit": limit, "fault": fault, "deleted": deleted})
        return
    facts = [("folder", str(folder or "none")), ("kernels", str(kernels)), ("meshes", str(meshes))]
    facts += [("size", f"{_readable(size)} of at most {_readable(limit)}")]
    facts += [("not used", fault)] if fault else []
    print_facts("kept on disk", facts if action == "show" else [*facts, ("deleted", str(deleted))])


def _sizes(folder: Path | None) -> dict[Path, int]:
    """The files of the cache, and the bytes of each."""
    return {} if folder is None else {path: status.st_size for path, status in entries(folder).items()}


def _readable(size: float) -> str:
    for unit in ("bytes", "kB"):
        if size < 1000:
            return f"{size:.4g} {unit}"
        size /= 1000
    return f"{size:.4g} MB"
