"""Who may open the viewer's connection: pages that it served itself, not any page that the same browser shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from ipaddress import ip_address
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

_STARTING = Lock()


def comes_from_its_page(origin: str | None, host: str | None, *, local: bool) -> bool:
    """Whether a handshake is of a page from the same address, or of a program, which sends no origin.

    Args:
        origin: header Origin: the address of the page, which scripts cannot change.
        host: header Host: the address that the browser asks.
        local: whether only this computer is served. A name other than localhost is then refused: its owner may have it point
            here, and the origin with it.

    >>> comes_from_its_page("http://localhost:8080", "localhost:8080", local=True)
    True
    >>> comes_from_its_page("https://elsewhere.example", "localhost:8080", local=True)
    False
    """
    if origin is None:
        return True
    try:
        there, here = urlsplit(origin), urlsplit(f"//{host}")
        same = there.hostname is not None and (there.hostname, there.port or 80) == (here.hostname, here.port or 80)
    except ValueError:
        return False
    return same and (not local or _is_local(there.hostname or ""))


def _is_local(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


@contextmanager
def own_pages_only(address: str) -> Iterator[None]:
    """Has a server of viser, started in the block, refuse handshakes of other pages; viser has no option for it.

    Args:
        address: that the server listens at.
    """
    import websockets.asyncio.server as library

    async def answer(inner: Any, connection: Any, request: Any) -> Any:
        origin, host = (", ".join(request.headers.get_all(name)) or None for name in ("Origin", "Host"))
        if not comes_from_its_page(origin, host, local=_is_local(address)):
            return connection.respond(403, "this page is not the viewer's own\n")
        answered = None if inner is None else inner(connection, request)
        return await answered if isawaitable(answered) else answered

    def guarded(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        return serve(*arguments, process_request=partial(answer, process_request), **options)

    with _STARTING:
        serve = library.serve
        library.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = serve  # type: ignore[misc]
