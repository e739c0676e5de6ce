"""kumitate cache"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.filesize import decimal

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
    cleared = entries(folder) if folder is not None and action == "clear" else {}
    for path in cleared:
        path.unlink(missing_ok=True)  # another process may clear it too
    kept = kept_on_disk(folder)
    if as_json:
        print_json({**kept, "deleted": len(cleared)})
        return
    facts = [("folder", str(folder or "none")), ("kernels", str(kept["kernels"])), ("meshes", str(kept["meshes"]))]
    facts += [("size", f"{decimal(kept['bytes'])} of at most {decimal(int(kept['limit']))}")]
    facts += [("not used", kept["fault"])] if kept["fault"] else []
    print_facts("kept on disk", facts if action == "show" else [*facts, ("deleted", str(len(cleared)))])


def kept_on_disk(folder: Path | None) -> dict[str, Any]:
    """How much the folder of the cache holds, how much it may, and why it is not used, if so."""
    found = {} if folder is None else entries(folder)
    kernels, meshes = (sum(path.suffix == suffix for path in found) for suffix in (".o", ".npz"))
    fault = "there is no home folder" if folder is None else folder_fault(folder)
    counts = {"entries": len(found), "kernels": kernels, "meshes": meshes}
    return {
        "folder": folder, **counts, "bytes": sum(status.st_size for status in found.values()), "limit": size_limit(),
        "fault": fault,
    }  # fmt: skip
