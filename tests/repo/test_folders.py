"""A folder's listing is read like a table of contents: it is short, unless all in it are of one kind."""

import pytest

from .sources import PACKAGE

MOST = 16
#: One file per joint, format, verb, view or example: however many there are, a reader looks for one.
OF_ONE_KIND = {"cli", "examples/gallery", "model/joints", "model/read", "view"}
#: Rooms that still have to be sorted into folders.
UNSORTED = {"contact", "control", "simulate"}
FOLDERS = {
    path.relative_to(PACKAGE).as_posix(): [*path.glob("*.py")]
    for path in PACKAGE.rglob("*")
    if path.is_dir() and [*path.glob("*.py")]
}


@pytest.mark.parametrize("folder", sorted(set(FOLDERS) - OF_ONE_KIND - UNSORTED))
def test_a_folder_holds_few_modules(folder):
    count = len({path.name for path in FOLDERS[folder]} - {"__init__.py", "__main__.py"})
    assert count <= MOST, f"{folder} holds {count} modules, over {MOST}: put those that belong together into a folder"
