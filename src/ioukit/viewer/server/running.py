"""The server: its socket, its thread, and its end; and the servers that a program keeps, one for the same data."""

from __future__ import annotations

import atexit
import contextlib
import errno
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ioukit._optional import import_extra
from ioukit.viewer.server.guard import Guard, host_names
from ioukit.viewer.server.replies import Application

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

    from ioukit.viewer.server.app import App


_PORTS_TRIED = 50
_SECONDS_TO_END = 1
_SECONDS_TO_ASK = 10  # for the first request of a connection; those that never ask leave no room for others

MOST_SERVERS = 4
"""The most servers that are kept. Another one ends the oldest, so that a cell that is run again and again does not keep
all its results."""

_servers: dict[Any, Server[App]] = {}

A = TypeVar("A", bound=Application)
_lock = threading.Lock()


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address, at this port or the next free one.

    Args:
        host: A name or an address of this machine.
        port: The first port that is tried; 0: one that the system chooses.

    Raises:
        ValueError: If the machine has no such address, or the port may not be used.
        OSError: If no port is free.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise ValueError(f"no address is known for {host!r}: {error}") from None
    last = min(port + _PORTS_TRIED, 65536) if port else 1
    for tried in range(port, last):
        listening = socket.socket(family, kind)
        try:
            # Windows lets another program take a port in use otherwise.
            option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
            listening.setsockopt(socket.SOL_SOCKET, option, 1)
            listening.bind((address[0], tried, *address[2:]))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if error.errno in (errno.EADDRINUSE, errno.EACCES) and tried > 1023:
                continue
            raise ValueError(f"cannot listen at {host}, port {tried}: {error.strerror}") from None
        return listening
    raise OSError(f"no port from {port} to {last - 1} is free: give another one with --port")


class Server(Generic[A]):
    """Serves an app to the browser of its owner.

    Args:
        app: The app.
        host: A name or an address of this machine.
        port: The first port that is tried; 0: one that the system chooses.
        frames: Who may put the page in a frame, see :class:`ioukit.viewer.server.guard.Guard`.

    Raises:
        ValueError, OSError: As :func:`bound`.
        ModuleNotFoundError: If uvicorn is not installed.
    """

    def __init__(self, app: A, *, host: str = "127.0.0.1", port: int = 8421, frames: Iterable[str] = ()) -> None:
        uvicorn = import_extra("uvicorn", extra="view", needed_by="ioukit view")
        self.app = app
        """What it serves."""
        self._socket = bound(host, port)
        address = self._socket.getsockname()
        self.port: int = address[1]
        """The port that it listens at."""
        self.is_local = ipaddress.ip_address(address[0]).is_loopback
        """Whether only this machine can reach it."""
        self._host = socket.gethostname() if ipaddress.ip_address(address[0]).is_unspecified else host
        self._guard = Guard(app, port=self.port, names=host_names(host, address[0]), frames=frames)
        config: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False, "lifespan": "off"}
        config |= {"proxy_headers": False, "server_header": False, "ws": "none", "loop": "asyncio", "http": _protocol()}
        config |= {"timeout_graceful_shutdown": _SECONDS_TO_END, "limit_concurrency": 1000}
        self._uvicorn = uvicorn.Server(uvicorn.Config(self._guard, **config))
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def address(self, query: str = "", *, ticket: bool = False) -> str:
        """The address to open.

        Args:
            query: What the page shows, as the query of an address.
            ticket: Whether it opens the page once only, see :meth:`ioukit.viewer.server.guard.Guard.ticket`.
        """
        token = self._guard.ticket() if ticket else self._guard.token
        return f"{self._origin}/?token={token}{'&' if query else ''}{query}"

    def frame_address(self, query: str = "") -> str:
        """The address for a frame on a page that `frames` allows."""
        return f"{self._origin}/~{self._guard.token}/{'?' if query else ''}{query}"

    @property
    def _origin(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    def run(self) -> None:
        """Serves until Ctrl-C."""
        with contextlib.suppress(KeyboardInterrupt):
            try:
                self.app.prepare()
                self._uvicorn.run(sockets=[self._socket])
            finally:
                self.app.close()
                self._socket.close()

    @contextlib.contextmanager
    def ended_by_signals(self) -> Iterator[None]:
        """Ends :meth:`run` after SIGINT, SIGTERM or SIGHUP within the block, also before it has begun.

        An exception that a handler raises is lost where Python ignores exceptions, within an import for example, and
        the server would go on. So the handler only asks for the end.

        Raises:
            SystemExit: At the end of the block, after another signal than SIGINT: 128 plus its number.
        """
        received: list[int] = []

        def end(number: int, _: FrameType | None) -> None:
            received.append(number)
            self._uvicorn.should_exit = True

        names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP
        before = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in names)}
        changed = {number: known for number, known in before.items() if known not in (signal.SIG_IGN, None)}
        for number in changed:
            signal.signal(number, end)
        try:
            yield
        finally:
            for number, known in changed.items():
                signal.signal(number, known)
        for number in received:
            if number != signal.SIGINT:
                raise SystemExit(128 + number)

    def start(self) -> None:
        """Serves in a thread until :meth:`close`; returns when the server answers.

        Raises:
            RuntimeError: If the thread ends before.
        """
        self._thread = threading.Thread(target=self._run_in_thread, name="ioukit view", daemon=True)
        self._thread.start()
        while not self._uvicorn.started and self._thread.is_alive():
            time.sleep(0.005)
        if not self._uvicorn.started:
            self.close()
            raise RuntimeError("the server of the viewer ended at its start") from self._failure

    def _run_in_thread(self) -> None:
        try:
            self.run()
        except BaseException as error:  # `start` raises it
            self._failure = error

    def wait(self) -> None:
        """Waits for Ctrl-C or :meth:`close`, then ends."""
        with contextlib.suppress(KeyboardInterrupt):
            while self._thread is not None and self._thread.is_alive():
                self._thread.join(0.2)
        self.close()

    @property
    def is_running(self) -> bool:
        """Whether the thread of :meth:`start` serves."""
        return self._thread is not None and self._thread.is_alive() and not self._uvicorn.should_exit

    def close(self) -> None:
        """Ends the thread of :meth:`start`. A second call does nothing."""
        self._uvicorn.should_exit = True
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_END + 5)
        self.app.close()
        self._socket.close()

    def __enter__(self) -> Server[A]:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _protocol() -> Any:
    """HTTP as uvicorn reads it, except that a connection without a whole first request is closed after some seconds."""
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415 - of an extra

    class Protocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(_SECONDS_TO_ASK, self._close_without_request)

        def _close_without_request(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.close()

    return Protocol


def check_installed() -> None:
    """Refuses, before the work, to serve what could not be served after it.

    Raises:
        ModuleNotFoundError: If a package that the viewer needs is not installed.
    """
    for package in ("uvicorn", "jinja2", "PIL.Image"):
        import_extra(package, extra="view", needed_by="ioukit view")


def open_browser(address: str) -> bool:
    """Opens an address in the browser of the user; returns whether there is one.

    Without a screen, a browser for terminals would write over the lines of the command.
    """
    if sys.platform not in ("darwin", "win32") and not (os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}):
        return False
    import webbrowser  # noqa: PLC0415 - only for those who want it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return webbrowser.open(address)
        except (OSError, webbrowser.Error):
            return False


def shared_server(key: Any) -> Server[App] | None:
    """The running server of some data; ``None`` if there is none."""
    with _lock:
        for other in [other for other, server in _servers.items() if not server.is_running]:
            del _servers[other]
        return None if key is None else _servers.get(key)


def share_server(key: Any, server: Server[App]) -> None:
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
