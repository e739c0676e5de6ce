"""Checks who can write to the cache: cached code is executed, so whoever can write to it can execute code as this user.

The folder and its entries must belong to this user or to root, and no other user may have write permission. No folder above may
be writable by everybody without the sticky bit (which /tmp has): anybody could replace the cache by another folder. Folders
above that belong to other users or are writable by a group are accepted, as a replacement would have the wrong owner.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

__all__ = ["folder_fault", "owner_fault"]

_ROOT = 0


def owner_fault(status: os.stat_result) -> str | None:
    """Why the owner or the mode of a file or folder is not acceptable; None if it is."""
    if not hasattr(os, "geteuid"):  # Windows protects the user's folders by access control lists
        return None
    mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
    if status.st_uid not in (_ROOT, os.geteuid()):
        return f"belongs to user {status.st_uid}, not to user {os.geteuid()} ({mode})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(
        status.st_mode
    ):  # the mode of a symbolic link means nothing
        return f"can be written to by others than user {status.st_uid} ({mode})"
    return None


def folder_fault(folder: Path) -> str | None:
    """Why a folder, which is named, is not acceptable; None if it is, or if it does not exist."""
    places = dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder)))
    try:
        faults = {place: owner_fault(os.lstat(place)) for place in places}
        above = {parent: os.stat(parent).st_mode for parent in dict.fromkeys(chain.from_iterable(map(_above, places)))}
    except OSError:  # it does not exist or is not accessible: reading and writing will fail
        return None
    found = [f"{place} {fault}" for place, fault in faults.items() if fault]
    if hasattr(os, "geteuid"):
        found += [f"{place} can be written to by everybody" for place, mode in above.items() if _open_to_all(mode)]
    return found[0] if found else None


def _above(place: str) -> Iterator[str]:
    """The folders that a place is in, to the root."""
    while (parent := os.path.dirname(place)) != place:
        yield parent
        place = parent


def _open_to_all(mode: int) -> bool:
    return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX
