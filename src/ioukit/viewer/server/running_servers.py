"""The servers of a program: one for the same data, and few at once."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioukit.viewer.server.running import Server

__all__ = ["MOST_SERVERS", "share_server", "shared_server"]

MOST_SERVERS = 4
"""The most servers that are kept. Another one ends the oldest, so that a cell that is run again and again does not keep
all its results."""

_servers: dict[Any, Server] = {}
_lock = threading.Lock()


def shared_server(key: Any) -> Server | None:
    """The running server of some data; ``None`` if there is none."""
    with _lock:
        for other in [other for other, server in _servers.items() if not server.is_running]:
            del _servers[other]
        return None if key is None else _servers.get(key)


def share_server(key: Any, server: Server) -> None:
    """Keep a server for the next who asks for it, and end it with the program.

    Args:
        key: What the data are known by; ``None`` if nobody else may ask for it.
        server: The server, which has started.
    """
    with _lock:
        ended = [_servers.pop(oldest) for oldest in list(_servers)[: max(0, len(_servers) - MOST_SERVERS + 1)]]
        _servers[object() if key is None else key] = server
    for one in ended:
        one.close()


@atexit.register
def _end_all() -> None:
    for server in list(_servers.values()):
        server.close()
