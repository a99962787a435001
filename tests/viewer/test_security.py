"""Attempts to break in by requests: of other sites, of other users of the machine, of broken programs."""

from __future__ import annotations

import json
import logging
import socket
from typing import TYPE_CHECKING

import pytest

from support.viewing import Client, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ioukit.viewer.server.app import App
    from ioukit.viewer.server.running import Server
    from support.viewing import Asked

image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[view]'")

ADDRESSES: tuple[str, ...] = (
    "/",
    "/api/data",
    "/api/answer",
    "/api/numbers",
    "/api/drawings?at=0",
    "/api/image?at=0",
    "/api/sequences",
    "/api/events?at=0",
    "/api/notes",
    "/thumb?at=0&side=320",
)
ADDRESSES += ("/photo?at=0", "/export?as=csv&of=filtered", "/favicon.ico", "/nothing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    images = root / "images"
    images.mkdir()
    image_module.new("RGB", (80, 60), "red").save(images / "red.jpg")
    return images


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server[App]]:
    with served(["red.jpg"], folder, notes=folder.parent / "notes.db") as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server[App]) -> Client:
    return Client(server.address())


# ---- Who may ask.


def test_the_page_and_its_parts_are_there_for_the_owner(client: Client) -> None:
    assert client.ask("/").status == 200
    assert client.ask("/api/data").json["images"] == 1
    assert client.ask("/photo?at=0").header("content-type") == "image/jpeg"


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_without_the_cookie_there_is_no_answer(client: Client, address: str, method: str) -> None:
    wrong = f"ioukit-{client.port}={client.token[:-1]}{'A' if client.token[-1] != 'A' else 'B'}"
    others = (
        None,
        "",
        f"ioukit-{client.port}=",
        wrong,
        f"ioukit={client.token}",
        f"ioukit-1={client.token}",
        "=",
        ";;",
    )
    own = [("Origin", f"http://127.0.0.1:{client.port}"), ("Content-Type", "application/json")]
    for cookie in others:
        asked = client.ask(address, method=method, cookie=cookie or None, headers=own if method == "POST" else ())
        assert asked.status == 403, cookie
        assert b"token" in asked.body or method == "HEAD"
        assert_protected(asked)


def test_the_token_is_taken_from_the_address_of_the_page_alone(client: Client) -> None:
    asked = client.ask(f"/?token={client.token}&class=%3Cb%3Ecat%3C/b%3E&score=0.5..", cookie=None, at_root=True)
    assert (asked.status, asked.header("location")) == (303, f"{client.folder}/?class=%3Cb%3Ecat%3C%2Fb%3E&score=0.5..")
    cookie = asked.header("set-cookie")
    assert cookie == f"{client.cookie}; HttpOnly; SameSite=Strict; Path={client.folder}/"
    assert client.token not in str(asked.header("location"))
    for address in ADDRESSES:
        separator = "&" if "?" in address else "?"
        assert client.ask(f"{address}{separator}token={client.token}", cookie=None).status == 403, address
    for wrong in ("", client.token[:-1], client.token + "A", "%00", f"{client.token}&token={client.token}", "é"):
        address = f"/?token={wrong}".replace("é", "%C3%A9")
        assert client.ask(address, cookie=None, at_root=True).status == 403, wrong
    long = "/?" + "a=b&" * 5000 + f"token={client.token}"
    assert client.ask(long, cookie=None, at_root=True).status in (400, 403)


def test_the_app_stands_in_a_secret_folder(client: Client, folder: Path) -> None:
    """Browsers send cookies to all ports of a machine, but only to the folder that they are for."""
    assert len(client.folder) > 12
    for address in ADDRESSES:
        assert client.ask(address, at_root=True).status == 403, address
        for other in ("/other", client.folder[:-1], f"{client.folder}x", "/", f"/.{client.folder}", client.folder * 2):
            assert client.ask(f"{other}{address}", at_root=True).status in (403, 404), other
    assert client.ask("", at_root=False).status == 403  # without the slash at its end
    with served(["red.jpg"], folder) as server:
        assert Client(server.address()).folder != client.folder


def test_what_follows_the_token_cannot_lead_to_another_site(client: Client) -> None:
    for query in ("//evil.example/", "\\\\evil", "%0d%0aSet-Cookie:%20x=y", "a=%0d%0aX:y", "url=https://evil.example"):
        asked = client.ask(f"/?token={client.token}&{query}", cookie=None, at_root=True)
        assert asked.status == 303
        assert str(asked.header("location")).startswith(f"{client.folder}/?")
        assert asked.header("x") is None
        assert "evil=" not in str(asked.header("set-cookie"))


def test_every_server_has_its_own_token_and_cookie(client: Client, folder: Path) -> None:
    with served(["red.jpg"], folder) as server:
        other = Client(server.address())
        assert other.token != client.token
        assert len(other.token) >= 40
        assert other.ask("/", cookie=client.cookie).status == 403
        assert other.ask("/", cookie=f"{client.cookie}; {other.cookie}").status == 200


def test_a_ticket_opens_the_page_once(client: Client, server: Server[App]) -> None:
    address = server.address("outcome=fp", ticket=True)
    target = address.removeprefix(f"http://127.0.0.1:{client.port}")
    assert client.token not in address
    first, second = (client.ask(target, cookie=None, at_root=True) for _ in range(2))
    assert (first.status, second.status) == (303, 403)
    assert client.ask("/", cookie=str(first.header("set-cookie")).partition(";")[0]).status == 200


def test_a_ticket_is_void_after_two_minutes(
    client: Client, server: Server[App], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ioukit.viewer.server.guard._TICKET_SECONDS", -1.0)
    target = server.address(ticket=True).removeprefix(f"http://127.0.0.1:{client.port}")
    assert client.ask(target, cookie=None, at_root=True).status == 403


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}", "evil.example"),
        *(
            "127.0.0.1",
            "localhost",
            "127.0.0.1:1",
            "127.0.0.1:{port}0",
            "0.0.0.0:{port}",
            "[::1]:{port}",
            "127.1:{port}",
        ),
        *("2130706433:{port}", "127.0.0.1:{port}@evil.example", "evil.example@127.0.0.1:{port}", "", ":{port}"),
        *("localhost.:{port}", "127.0.0.1:{port}, evil.example", "[127.0.0.1:{port}", "127.0.0.1::{port}"),
    ],
)
def test_a_name_that_points_here_is_refused(client: Client, host: str) -> None:
    """DNS rebinding: the browser asks this machine under a name of another site, and has no cookie for it, or has."""
    for cookie in (None, client.cookie):
        lines = (
            f"GET {client.folder}/api/data HTTP/1.1\r\nHost: {host.format(port=client.port)}\r\nConnection: close\r\n"
        )
        lines += f"Cookie: {cookie}\r\n" if cookie else ""
        asked = client.raw(f"{lines}\r\n".encode())
        assert asked.status in (400, 403), cookie
        assert b"classes" not in asked.body


def test_names_of_this_machine_are_allowed_in_any_case(client: Client) -> None:
    for host in ("127.0.0.1", "localhost", "LocalHost"):
        assert client.ask("/api/data", host=f"{host}:{client.port}").status == 200


def test_a_request_has_one_host(client: Client) -> None:
    own = f"127.0.0.1:{client.port}"
    cookie = f"Cookie: {client.cookie}\r\nConnection: close\r\n\r\n"
    for lines in (
        f"GET {client.folder}/api/data HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n",
        f"GET {client.folder}/api/data HTTP/1.1\r\nHost: {own}\r\nHost: {own}\r\n",
        f"GET {client.folder}/api/data HTTP/1.1\r\n",
        f"GET {client.folder}/api/data HTTP/1.0\r\n",
    ):
        assert client.raw((lines + cookie).encode()).status == 400, lines
    absolute = f"GET http://evil.example{client.folder}/api/data HTTP/1.1\r\nHost: evil.example\r\n{cookie}"
    assert client.raw(absolute.encode()).status in (400, 403)


@pytest.mark.parametrize(
    "headers",
    [
        [("Origin", "http://evil.example")],
        [("Origin", "null")],
        [("Origin", "")],
        [("Origin", "https://127.0.0.1:{port}")],
        [("Origin", "http://127.0.0.1:{port}.evil.example")],
        [("Origin", "http://localhost:3000")],
        [("Origin", "http://localhost:{port}")],  # the page has the name that the request has
        [("Origin", "http://127.0.0.1:{port}"), ("Origin", "http://evil.example")],
        [("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "same-site")],  # another port of localhost: strict cookies are sent
        [("Sec-Fetch-Site", "same-origin, cross-site")],
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")],
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites_get_nothing(client: Client, headers: list[tuple[str, str]], method: str) -> None:
    filled = [(name, value.format(port=client.port)) for name, value in headers]
    filled += [("Content-Type", "application/json")] if method == "POST" else []
    for address in ADDRESSES[1:]:
        asked = client.ask(address, method=method, headers=filled, body=b"{}" if method == "POST" else b"")
        assert asked.status == 403, address
        assert b"only" in asked.body
        assert asked.header("access-control-allow-origin") is None


def test_a_link_of_another_site_may_open_the_page_but_a_frame_or_a_script_may_not(client: Client) -> None:
    def opened(kind: str, mode: str, target: str = "/", cookie: str | None = "") -> Asked:
        headers = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", kind)]
        return client.ask(target, headers=headers, cookie=cookie, at_root="token=" in target)

    # A browser sends no strict cookie after such a redirect: a page that leads on is sent instead.
    asked = opened("document", "navigate", f'/?token={client.token}&class="><script>', cookie=None)
    assert asked.status == 200
    assert b'content="0;url=' + client.folder.encode() + b'/?class=%22%3E%3Cscript%3E"' in asked.body
    assert client.token.encode() not in asked.body
    assert "default-src 'none'" in str(asked.header("content-security-policy"))
    assert opened("document", "navigate", cookie=None).status == 403
    for kind, mode in (("empty", "cors"), ("image", "no-cors"), ("script", "no-cors"), ("object", "navigate")):
        assert opened(kind, mode).status == 403, kind
    framed = opened("iframe", "navigate")
    assert framed.header("x-frame-options") == "DENY"
    assert "frame-ancestors 'none'" in str(framed.header("content-security-policy"))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    asked = client.ask("/api/notes", method=method)
    assert asked.status in (400, 405)
    assert asked.header("access-control-allow-methods") is None


def test_a_websocket_is_refused(client: Client) -> None:
    headers = [
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Key", "x3JJHMbDL1EzLkh9GBhXDw=="),
        ("Sec-WebSocket-Version", "13"),
    ]
    assert client.ask("/api/data", headers=headers).status != 101


# ---- What is written.


def test_a_form_of_another_page_writes_nothing(client: Client) -> None:
    entry = {"at": 0, "tags": ["planted"], "note": ""}
    own = ("Origin", f"http://127.0.0.1:{client.port}")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""):
        asked = client.post("/api/notes", entry, headers=[own, ("Content-Type", kind)])
        assert asked.status == 415, kind
    assert client.post("/api/notes", entry, headers=[own]).status == 415
    assert client.post("/api/notes", entry, headers=[("Content-Type", "application/json")]).status == 403
    assert client.ask("/api/notes").json["tags"] == []
    for address in ("/", "/api/answer", "/thumb?at=0", "/export?as=csv"):
        assert client.post(address, entry).status == 405, address


def test_a_large_or_broken_body_is_refused(client: Client) -> None:
    own = f"POST {client.folder}/api/notes HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nConnection: close\r\n"
    own += f"Cookie: {client.cookie}\r\nOrigin: http://127.0.0.1:{client.port}\r\nContent-Type: application/json\r\n"
    assert client.raw(f"{own}Content-Length: 99999999999\r\n\r\n".encode()).status == 413
    for length in ("-1", "1e3", "0x10", "5, 5000"):
        assert client.raw(f"{own}Content-Length: {length}\r\n\r\n".encode()).status in (400, 413), length
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    assert client.raw(f"{own}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 17).status == 413
    for body in (
        b"{",
        b"[" * 50_000,
        b"\xff",
        b"null",
        b"[]",
        b'"at"',
        b"1e999",
        b'{"at": 1e400}',
        b'{"at": NaN}',
        b"{}",
    ):
        asked = client.raw(f"{own}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert asked.status == 400, body[:20]
        assert asked.json["words"]
    assert client.ask("/api/notes").json["tags"] == []


# ---- What every answer says to the browser.


def assert_protected(asked: Asked) -> None:
    policy = str(asked.header("content-security-policy"))
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert asked.header("x-content-type-options") == "nosniff"
    assert asked.header("x-frame-options") == "DENY"
    assert asked.header("referrer-policy") == "no-referrer"
    assert asked.header("cross-origin-resource-policy") == "same-origin"
    assert asked.header("cache-control") in ("no-store", "private, max-age=60")
    assert asked.header("access-control-allow-origin") is None
    assert asked.header("server") is None


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_is_protected(client: Client, address: str) -> None:
    for cookie in (None, client.cookie):
        assert_protected(client.ask(address, cookie=cookie))
    assert_protected(client.ask(address, host="evil.example"))
    assert_protected(client.ask(address, method="PUT"))


def test_the_page_allows_its_own_script_and_its_own_server_alone(client: Client) -> None:
    policy = str(client.ask("/").header("content-security-policy"))
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("script-src").startswith("'sha256-")
    assert rules.pop("style-src").startswith("'sha256-")
    assert rules == {
        "default-src": "'none'",
        "connect-src": "'self'",
        "img-src": "data: 'self' blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


def test_the_token_is_in_no_log(
    client: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        client.ask(f"/?token={client.token}", cookie=None, at_root=True)
        client.ask("/")
        with socket.create_connection(("127.0.0.1", client.port)) as connection:
            connection.sendall(f"GET /?token={client.token} HTTP/1.1\r\nbroken\r\n\r\n".encode())
            connection.recv(1000)
    printed = capfd.readouterr()
    assert client.token not in caplog.text + printed.out + printed.err


def test_it_listens_at_this_machine_alone(client: Client, server: Server[App]) -> None:
    assert server.is_local
    assert server.address().startswith("http://127.0.0.1:")
    others = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for other in others - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError), socket.create_connection((str(other), client.port), 2):
            pass


def test_on_all_addresses_numbers_and_own_names_are_hosts_and_other_names_are_not(folder: Path) -> None:
    with served(["red.jpg"], folder, host="0.0.0.0") as server:
        client = Client(server.address())
        assert not server.is_local
        for host in ("127.0.0.1", "192.0.2.7", "localhost", socket.gethostname(), "[2001:db8::1]"):
            assert client.ask("/api/data", host=f"{host}:{client.port}").status == 200, host
        for host in ("evil.example", "127.0.0.1.evil.example", "192.0.2", "192.0.2.7.", "0x7f000001"):
            assert client.ask("/api/data", host=f"{host}:{client.port}").status == 403, host


# ---- What is asked wrongly.


@pytest.mark.parametrize(
    "query", ["", "at=", "at=-1", "at=1", "at=0x0", "at=%D9%A1", "at=0&at=0", "at=1e0", "at=99999999999"]
)
def test_positions_that_are_none_are_refused_in_words(client: Client, query: str) -> None:
    for address in ("/photo", "/thumb", "/api/image"):
        asked = client.ask(f"{address}?{query}")
        assert asked.status == 400, address
        assert asked.json["words"]


def test_what_is_wrong_with_a_filter_is_said(client: Client) -> None:
    for query in ("colour=red", "outcome=maybe", "class=dog", "score=a..b", "at_iou=0.123", "%00=%00", "=", "class"):
        asked = client.ask(f"/api/answer?{query}")
        assert asked.status == 400, query
        assert len(asked.json["words"]) > 10
    assert client.ask(f"/api/drawings?at={','.join(['0'] * 1000)}").status == 400


def test_names_of_the_data_stand_in_no_page(client: Client) -> None:
    assert b"<b>cat</b>" not in client.ask("/").body
    assert json.loads(client.ask("/api/data").body)["classes"][0]["name"] == "<b>cat</b>"
