"""Who may ask the server: the owner's own browser, with the token. All others get a reason and nothing else.

The threats are web pages in the same browser (requests across sites, and names that a stranger's DNS server lets point
to this machine), other users and programs of this machine, and pages that put this one in a frame.

Owns: every header that decides who may ask, and every header that tells the browser what others may do with an answer.
Does not own: what is answered (`app.py`), the socket (`running.py`). It is cut here so that the application behind it
can trust each request and has no line about security; a new address needs no check of its own. Every reason to refuse
comes before the first line of the application runs, in the order of the class below.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable


_MOST_BODY = 1_000_000  # bytes: a note or a few thousand tags; a choice
_IN_FRAME = "/~"
_TICKET_SECONDS = 120.0  # a slow browser needs some seconds to start; a choice
_METHODS = ("GET", "HEAD", "POST")
_STRANGER = (
    "This page needs the token of its server. Open the whole address that the command printed, with ?token= and what "
    "follows. The token changes with every start."
)
_REPLIES = {
    400: "The request is not complete.",
    403: "This server answers only to its own page, at the address that the command printed.",
    405: "This server answers only to GET, HEAD and POST.",
    413: "The request is too large.",
    415: "The request must be JSON.",
}


def host_names(host: str, address: str) -> frozenset[str] | None:
    """The names by which a browser may ask a server; ``None``: any address in numbers, and the machine's own names.

    Args:
        host: The name or address that the server was asked to listen at.
        address: The address that it listens at.
    """
    if ipaddress.ip_address(address).is_unspecified:
        return None
    names = {host.lower(), address}
    if ipaddress.ip_address(address).is_loopback:
        names |= {"localhost", "127.0.0.1" if "." in address else "::1"}
    return frozenset(names)


class Guard:
    """An ASGI application around another one, which only its owner's browser reaches.

    A request is answered if

    - its method is GET, HEAD or POST, and its body is small,
    - its ``Host`` is a name of this server with its port: a stranger's name that points to this machine is refused,
    - the browser says that it comes from this server's own page (``Origin`` and ``Sec-Fetch-Site``), or from the
      address bar,
    - it has the cookie with the token. Only the first page may have the token in its address: it gets the cookie, and
      is sent on to the address without it. In a frame, the address begins with the token instead: browsers send no
      strict cookie from a frame on another site, and ``localhost`` and ``127.0.0.1`` are two sites.

    The app stands in a folder with a secret name, and the cookie is for this folder: browsers send cookies to all ports
    of a machine, so to the servers of its other users, too.

    Args:
        app: The application.
        port: The port of the server.
        names: What :func:`host_names` returns.
        frames: Who may put the page in a frame, at ``/~TOKEN/``: sources of a content security policy, such as
            ``("http://localhost:*",)``. Nobody by default.
    """

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        *,
        port: int,
        names: frozenset[str] | None,
        frames: Iterable[str] = (),
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        self._app, self._names, self._port = app, names, port
        self._folder = f"/{secrets.token_urlsafe(12)}/"
        self._frames = " ".join(frames)
        self._cookie = f"ioukit-{port}"
        self._tickets: dict[bytes, float] = {}
        self._tickets_lock = threading.Lock()

    def ticket(self) -> str:
        """A token that opens the page once, within two minutes.

        It is for the command line of the browser, which other users of the machine can read.
        """
        ticket = secrets.token_urlsafe(32)
        with self._tickets_lock:
            self._tickets[_digest(ticket)] = time.monotonic() + _TICKET_SECONDS
        return ticket

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request, or passes it on to the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        framed = bool(self._frames) and scope["path"].startswith(_IN_FRAME)
        if framed:
            scope, framed = self._without_token(scope)
        path = scope["path"]
        at_page = path in ("/", self._folder)
        sending = self._protected(send, in_frame=at_page and framed)
        refused = self._refused(scope, headers)
        if refused is not None:
            await _reply(sending, scope, refused, _REPLIES[refused], as_page=at_page)
            return
        if path == "/" and (query := _query(scope)) and "token" in dict(query):
            given = [value for name, value in query if name == "token"]
            if len(given) == 1 and self._opens(given[0]):
                await self._let_in(sending, scope, headers, query)
                return
        if not framed:
            if not path.startswith(self._folder) or not self._knows(headers.get(b"cookie", [])):
                await _reply(sending, scope, 403, _STRANGER, as_page=at_page)
                return
            scope = {**scope, "path": path[len(self._folder) - 1 :]}
        try:
            await self._app(scope, _limited(receive, _MOST_BODY), sending)
        except BodyTooLongError:
            await _reply(sending, scope, 413, _REPLIES[413])

    def _refused(self, scope: Any, headers: dict[bytes, list[bytes]]) -> int | None:
        """The status of the answer to a request that is refused whoever sent it; else ``None``."""
        if scope["method"] not in _METHODS:
            return 405
        hosts = headers.get(b"host", [])
        if len(hosts) != 1:
            return 400
        return 403 if not self._is_own(hosts[0]) else self._refused_source(scope, headers, hosts[0])

    def _refused_source(self, scope: Any, headers: dict[bytes, list[bytes]], host: bytes) -> int | None:
        """The same for what the browser says about the page that asks."""
        origins = headers.get(b"origin", [])
        if any(origin.lower() != b"http://" + host.lower() for origin in origins):
            return 403
        site = b",".join(headers.get(b"sec-fetch-site", []))
        opens_page = scope["path"] in ("/", self._folder) and scope["method"] == "GET" and _is_navigation(headers)
        if site not in (b"", b"none", b"same-origin") and not opens_page:
            return 403
        if scope["method"] == "POST":
            return self._refused_post(headers, known=bool(origins) or site == b"same-origin")
        return None

    @staticmethod
    def _refused_post(headers: dict[bytes, list[bytes]], *, known: bool) -> int | None:
        if not known:  # a browser says where a POST comes from
            return 403
        kinds = headers.get(b"content-type", [])
        if len(kinds) != 1 or kinds[0].partition(b";")[0].strip().lower() != b"application/json":
            return 415  # a form of another page can send other kinds without asking
        length = headers.get(b"content-length", [b"0"])[0]
        return 413 if not length.isdigit() or int(length) > _MOST_BODY else None

    def _is_own(self, host: bytes) -> bool:
        """Whether ``Host`` is a name of this server, with its port."""
        text = host.decode("latin-1").lower()
        name, separator, port = text.rpartition(":")
        if not separator or "]" in port:  # port 80 is left out
            name, port = text, "80"
        if port != str(self._port):
            return False
        if ":" in name:  # an address of IPv6 stands in brackets
            if not (name.startswith("[") and name.endswith("]")):
                return False
            name = name[1:-1]
        if self._names is not None:
            return name in self._names
        return name in _names_of_machine() or _is_address(name)

    def _opens(self, given: str) -> bool:
        """Whether a token of an address is right; a ticket is used up."""
        digest = _digest(given)
        if hmac.compare_digest(digest, _digest(self.token)):
            return True
        with self._tickets_lock:
            return self._tickets.pop(digest, 0.0) >= time.monotonic()

    def _knows(self, cookies: list[bytes]) -> bool:
        pairs = [pair.strip().partition(b"=") for cookie in cookies for pair in cookie.split(b";")]
        given = [value for name, _, value in pairs if name == self._cookie.encode()]
        right = _digest(self.token)
        return any([hmac.compare_digest(_digest(value.decode("latin-1")), right) for value in given])  # noqa: C419 - all are compared

    async def _let_in(self, send: Any, scope: Any, headers: dict[bytes, list[bytes]], query: Any) -> None:
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        target = f"{self._folder}?{rest}" if rest else self._folder
        cookie = f"{self._cookie}={self.token}; HttpOnly; SameSite=Strict; Path={self._folder}"
        sent: list[tuple[bytes, bytes]] = [(b"set-cookie", cookie.encode())]
        if b",".join(headers.get(b"sec-fetch-site", [])) in (b"", b"none", b"same-origin"):
            await _send(send, scope, 303, b"", [*sent, (b"location", target.encode())])
            return
        # A redirect after a link on another page counts as that page's request, which gets no strict cookie.
        quoted = target.replace("&", "&amp;")  # all else is already escaped for an address
        start = '<!doctype html><meta charset="utf-8"><title>ioukit</title>'
        page = f'{start}<meta http-equiv="refresh" content="0;url={quoted}">'
        sent += [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", b"default-src 'none'")]
        await _send(send, scope, 200, page.encode(), sent)

    def _without_token(self, scope: Any) -> tuple[Any, bool]:
        """A request from a frame at the address without the token, and whether the token is right."""
        token, _, rest = scope["path"].removeprefix(_IN_FRAME).partition("/")
        if not hmac.compare_digest(_digest(token), _digest(self.token)):
            return scope, False
        return {**scope, "path": f"/{rest}"}, True

    def _protected(self, send: Any, *, in_frame: bool) -> Any:
        """The sender that adds what every answer says to the browser."""
        ancestors = self._frames if in_frame else "'none'"

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = [pair for pair in message.get("headers", []) if pair[0].lower() != b"server"]
                known = {name.lower(): place for place, (name, _) in enumerate(headers)}
                if (place := known.get(b"content-security-policy")) is not None:
                    own = headers[place][1] + f"; frame-ancestors {ancestors}".encode()
                    headers[place] = (b"content-security-policy", own)
                else:
                    policy = f"default-src 'none'; frame-ancestors {ancestors}; sandbox"
                    headers.append((b"content-security-policy", policy.encode()))
                if b"cache-control" not in known:
                    headers.append((b"cache-control", b"no-store"))
                if ancestors == "'none'":
                    headers.append((b"x-frame-options", b"DENY"))
                message["headers"] = [*headers, *_PROTECTION]
            await send(message)

        return sending


_PROTECTION = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"x-robots-tag", b"noindex"),
)


class BodyTooLongError(Exception):
    """The body of a request is too long."""


def _digest(text: str) -> bytes:
    """Of one length for every text, so that a comparison says nothing about it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _headers(scope: Any) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value)
    return found


def _query(scope: Any) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=1000)
    except ValueError:  # more fields
        return []


def _is_navigation(headers: dict[bytes, list[bytes]]) -> bool:
    """Whether a browser opens a page, in a tab or a frame; what it may do there, the cookie and the policy say."""
    modes, kinds = headers.get(b"sec-fetch-mode", []), headers.get(b"sec-fetch-dest", [])
    return modes == [b"navigate"] and kinds in ([b"document"], [b"iframe"])


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _names_of_machine() -> set[str]:
    import socket  # noqa: PLC0415 - only for a server that others may reach

    return {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}


def _limited(receive: Any, most: int) -> Any:
    """A receiver that ends the request if its body is longer, whatever the request said about its length."""
    left = most

    async def receiving() -> Any:
        nonlocal left
        message = await receive()
        if message["type"] == "http.request":
            left -= len(message.get("body", b""))
            if left < 0:
                raise BodyTooLongError
        return message

    return receiving


async def _reply(send: Any, scope: Any, status: int, words: str, *, as_page: bool = False) -> None:
    """A refusal in words: JSON for scripts and pictures, a page for people."""
    if as_page:
        page = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>ioukit</title>'
            f'<meta name="viewport" content="width=device-width"><h1>ioukit view</h1><p>{words}</p></html>'
        )
        body, kind = page.encode(), b"text/html; charset=utf-8"
    else:
        body, kind = json.dumps({"words": words}).encode(), b"application/json"
    await _send(send, scope, status, body, [(b"content-type", kind)])


async def _send(send: Any, scope: Any, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
