"""The threads of the server: what waits for what, and what does not."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from ioukit.viewer.marking.exporting import CocoFile
from support.viewing import Client, served

if TYPE_CHECKING:
    from pathlib import Path


def test_what_nobody_waits_for_is_not_begun() -> None:
    with served([f"{number}.jpg" for number in range(3)]) as server:
        client = Client(server.address())
        views, begun, goes_on = server.app.views, [], threading.Event()

        def slow(pairs: list[tuple[str, str]]) -> dict[str, int]:
            begun.append(pairs)
            goes_on.wait(60)
            return {}

        views.answer = slow  # type: ignore[method-assign]
        head = f"Host: 127.0.0.1:{client.port}\r\nCookie: {client.cookie}\r\n\r\n"
        for number in range(10):
            with socket.create_connection(("127.0.0.1", client.port)) as connection:
                connection.sendall(f"GET {client.folder}/api/answer?score=0.{number}.. HTTP/1.1\r\n{head}".encode())
                while not begun:  # the first; the others wait for it
                    time.sleep(0.005)
        # All of them have gone before the first ends: the server has read their ends when it answers a later request.
        for _ in range(20):
            assert client.ask("/api/other").status == 404
        goes_on.set()
        assert client.ask("/api/data").status == 200  # behind those that are begun
        assert len(begun) == 1


def test_it_ends_while_a_question_is_answered_and_while_a_download_is_made(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with served([f"{number}.jpg" for number in range(2000)]) as server:
        client = Client(server.address())

        begun, goes_on = threading.Event(), threading.Event()

        def slow(_: list[tuple[str, str]]) -> dict[str, int]:
            begun.set()
            goes_on.wait(60)
            return {}

        server.app.views.answer = slow  # type: ignore[method-assign, assignment]
        head = f"Host: 127.0.0.1:{client.port}\r\nCookie: {client.cookie}\r\n\r\n"
        opened = []
        for target in ("/export?as=csv", "/api/answer", "/api/answer"):
            opened.append(socket.create_connection(("127.0.0.1", client.port)))
            opened[-1].sendall(f"GET {client.folder}{target} HTTP/1.1\r\n{head}".encode())
        assert begun.wait(60)
        server.close()
        assert not goes_on.is_set()
        assert not server.is_running
        goes_on.set()
        for one in opened:
            one.close()
    assert not caplog.records
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


def test_pictures_go_on_while_a_question_is_answered(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "a.jpg")
    with served(["a.jpg"], tmp_path) as server:
        client = Client(server.address())

        begun, goes_on = threading.Event(), threading.Event()

        def slow(_: list[tuple[str, str]]) -> dict[str, int]:
            begun.set()
            goes_on.wait(60)
            return {}

        server.app.views.answer = slow  # type: ignore[method-assign, assignment]
        with socket.create_connection(("127.0.0.1", client.port)) as connection:
            head = f"Host: 127.0.0.1:{client.port}\r\nCookie: {client.cookie}\r\n\r\n"
            connection.sendall(f"GET {client.folder}/api/answer HTTP/1.1\r\n{head}".encode())
            assert begun.wait(60)
            assert client.ask("/thumb?at=0&side=320").status == 200
            goes_on.set()


def test_questions_go_on_while_a_file_of_coco_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(["a.jpg"]) as server:
        client = Client(server.address())
        begun, goes_on = threading.Event(), threading.Event()
        prepare = CocoFile.prepare

        def slow(self: CocoFile) -> None:
            begun.set()
            goes_on.wait(60)
            prepare(self)

        monkeypatch.setattr(CocoFile, "prepare", slow)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(client.ask, "/export?as=coco")
            assert begun.wait(60)
            assert client.ask("/api/answer").json["total"] == 1
            goes_on.set()
            assert len(json.loads(asked.result().body)["images"]) == 1
