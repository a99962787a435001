"""The server as a process: its ports, its end, and what stands in the terminal."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.viewer.images.photographs import Photographs
from support.command import run_here
from support.paths import DATA
from support.viewing import Client, evaluation_of, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")
pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
posix = pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")


@pytest.fixture(autouse=True, scope="module")
def signals_are_not_ignored() -> Iterator[None]:
    """Processes inherit which signals are ignored, as `nohup` has it for SIGHUP: the server then goes on, rightly."""
    usual: dict[str, Any] = {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}
    before = {
        number: signal.signal(number, handler)
        for name, handler in usual.items()
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) == signal.SIG_IGN
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@contextmanager
def running(*words: str | Path, cache: Path, seconds: float = 60) -> Iterator[tuple[Any, str]]:
    """A process of `ioukit view`, and the address that it prints."""
    command = [sys.executable, "-m", "ioukit", "view", *map(str, words), "--no-browser"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(command, **options) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(seconds)


def ended(process: Any, number: int) -> tuple[int, str]:
    """The exit code and the rest of stderr after a signal, which ends the process within seconds."""
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


@posix
def test_ctrl_c_ends_it_with_open_connections(tmp_path: Path) -> None:
    with running(GT, DT, "--port", "0", cache=tmp_path) as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
        client = Client(address)
        port = client.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)  # it stays open
        connection.request("GET", f"{client.folder}/api/data", headers={"Cookie": client.cookie})
        assert json.loads(connection.getresponse().read())["images"] == 100
        half = socket.create_connection(("127.0.0.1", port))
        half.sendall(b"GET /api/answer HTTP/1.1\r\nHost: ")
        idle = socket.create_connection(("127.0.0.1", port))
        code, err = ended(process, signal.SIGINT)
        for one in (connection, half, idle):
            one.close()
        assert code == 0
        assert "Traceback" not in err
        assert re.findall(r"^read .*100 images", err, re.MULTILINE)
        assert err.splitlines()[-1] == "ended"
        assert address.partition("token=")[2] not in err


@posix
def test_a_signal_to_stop_ends_it_as_other_commands(tmp_path: Path) -> None:
    with running(GT, "--port", "0", "--quiet", cache=tmp_path) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        code, err = ended(process, signal.SIGTERM)
        assert (code, err) == (128 + signal.SIGTERM, "")


@posix
def test_the_next_port_is_taken_and_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with running(GT, "--port", str(port), cache=tmp_path) as (process, address):
            other = int(re.findall(r":(\d+)/", address)[0])
            assert port < other <= port + 49
            assert f"port {port} is taken: using {other}\n" in ended(process, signal.SIGINT)[1]


def test_the_address_opens_with_the_filter(tmp_path: Path) -> None:
    words = ("--filter", "outcome=fp", "--filter", "class=person", "--filter", "score=0.7..")
    with running(GT, DT, "--port", "0", *words, cache=tmp_path) as (_, address):
        client = Client(address)
        assert client.start.endswith("/?class=person&outcome=fp&score=0.7..")


def test_the_command_says_how_many_photographs_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    (folder / "train").mkdir(parents=True)
    (folder / "b.jpg").mkdir()  # no file
    for name in ("a.jpg", "train/c.jpg", "e.jpg", "f.txt", "h.jpg"):
        (folder / name).touch()
    names = ["a.jpg", "b.jpg", "train/c.jpg", "d.jpg", "e", "f", "../images/a.jpg", "C:\\data\\h.jpg", "../../a"]
    listed = [{"id": at, "width": 9, "height": 9, "file_name": name} for at, name in enumerate(names)]
    found = Photographs(folder, names, np.full((len(names), 2), 9.0))
    count = sum(map(found.has, range(len(names))))
    assert count == 6
    truth = tmp_path / "gt.json"
    truth.write_text(json.dumps({"images": listed, "annotations": [], "categories": [{"id": 1, "name": "a"}]}))
    with running(truth, "--images", str(folder), "--port", "0", cache=tmp_path) as (process, _):
        assert f"found {count} of {len(names)} images in {folder}\n" in ended(process, signal.SIGINT)[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((GT, DT, DT, DT, DT), "at most 3 models"),
        ((GT, DT, "--images", "missing"), "expected a folder, got 'missing'"),
        ((GT, DT, "--filter", "outcome"), "expected KEY=VALUE"),
        ((GT, DT, "--filter", "colour=red"), "no filter is called 'colour'"),
        ((GT, DT, "--filter", "class=xx"), "no class is called 'xx'"),
        ((GT, DT, "--filter", "issue=missing"), "start with --issues"),
        ((GT, DT, "--filter", "change=lost"), "change needs two models"),
        ((GT, DT, "--filter", "model=other"), "no model is called 'other'"),
        ((GT, DT, "--filter", "area=huge"), "there is no area range 'huge'"),
        ((GT, DT, "--filter", "at_iou=0.42"), "no IoU threshold 0.42"),
        ((GT, DT, "--filter", "column.fog=1"), "no column is called 'fog'"),
        ((GT, DT, "--filter", "sort=column.fog"), "no column is called 'fog'"),
        ((GT, "--filter", "outcome=fp"), "outcome needs detections"),
        ((GT, "--filter", "score=0.5.."), "score needs detections"),
        ((GT, DT, "--port", "70000"), "70000"),
        ((GT, DT, "--host", "no.such.name.invalid"), "no address is known"),
        ((GT, DT, "--table", "missing.csv"), "missing.csv"),
        ((GT, "--iou-type", "colour"), "colour"),
        (("missing.json",), "missing.json"),
        ((GT, DT, "--host", "192.0.2.1"), "cannot listen at 192.0.2.1"),
    ],
)
def test_what_is_wrong_is_one_line(words: tuple[Any, ...], said: str) -> None:
    done = run_here("view", *words, "--no-browser")
    assert done.code == 2
    assert done.out == ""
    assert said in done.err.splitlines()[-1] or said in done.err
    assert "Traceback" not in done.err


def test_a_taken_port_and_the_privileged_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    from ioukit.viewer.server import running as module  # noqa: PLC0415 - after the checks

    with module.bound("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with module.bound("127.0.0.1", port) as second:
            assert second.getsockname()[1] > port
        monkeypatch.setattr(module, "_PORTS_TRIED", 1)
        with pytest.raises(OSError, match=f"no port from {port} to {port} is free"):
            module.bound("127.0.0.1", port)
    with module.bound("localhost", 0) as named:
        assert named.getsockname()[0] in ("127.0.0.1", "::1")


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_the_address_of_ipv6() -> None:
    try:
        server = served(["a.jpg"], host="::1")
    except (ValueError, OSError):
        pytest.skip("needs IPv6")
    with server:
        assert server.is_local
        assert server.address().startswith(f"http://[::1]:{server.port}/")
        client = Client(server.address())
        for host, status in (("[::1]", 200), ("localhost", 200), ("::1", 403), ("[::2]", 403), ("127.0.0.1", 403)):
            assert client.ask("/api/data", host=f"{host}:{client.port}").status == status, host


# ---- From Python.


def test_view_serves_until_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    evaluation = evaluation_of(["a.jpg", "b.jpg"])
    shown = ioukit.view(evaluation, browser=False, port=0, filter={"outcome": ["fp", "fn"], "score": "0.5.."})
    assert shown.address.endswith("&outcome=fp&outcome=fn&score=0.5..")
    assert shown.address in repr(shown)
    client = Client(shown.address)
    assert client.ask("/api/answer?outcome=fp&at_score=0").json["total"] == 2
    shown.close()
    shown.close()
    with pytest.raises(ConnectionRefusedError):
        client.ask("/")


def test_view_opens_the_browser_with_an_address_that_works_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    opened: list[str] = []

    def open_it(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setenv("BROWSER", "none")
    monkeypatch.setattr("webbrowser.open", open_it)
    truth = evaluation_of(["a.jpg"]).ground_truth
    assert truth is not None
    shown = ioukit.view(truth, port=0)
    (address,) = opened
    assert address.partition("token=")[2] not in shown.address
    client = Client(shown.address)
    target = address.removeprefix(f"http://127.0.0.1:{client.port}")
    assert [client.ask(target, cookie=None, at_root=True).status for _ in range(2)] == [303, 403]
    shown.close()


def test_what_view_refuses(tmp_path: Path) -> None:
    evaluation = evaluation_of(["a.jpg"])
    with pytest.raises(ValueError, match="must be a folder"):
        ioukit.view(evaluation, tmp_path / "missing", browser=False)
    with pytest.raises(ValueError, match="at most 3 models"):
        ioukit.view(dict.fromkeys("abcd", evaluation), browser=False)
    with pytest.raises(ValueError, match="keep the data"):
        ioukit.view(ioukit.Evaluation.from_table(evaluation.matches), browser=False)
    with pytest.raises(ValueError, match="at least one model"):
        ioukit.view({}, browser=False)
    with pytest.raises(ValueError, match="no filter is called 'colour'"):
        ioukit.view(evaluation, filter={"colour": "red"}, browser=False)
    with pytest.raises(ValueError, match="no class is called 'xx'"):
        ioukit.view(evaluation, filter={"class": "xx"}, browser=False)


# ---- Answers.


def test_pictures_are_asked_for_once(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image")
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "a.jpg")
    with served(["a.jpg"], tmp_path) as server:
        client = Client(server.address())
        for address in ("/thumb?at=0&side=320", "/photo?at=0"):
            first = client.ask(address)
            tag = str(first.header("etag"))
            again = client.ask(address, headers=[("If-None-Match", tag)])
            assert (first.status, again.status, again.body) == (200, 304, b"")
            assert again.header("etag") == tag
            assert client.ask(address, headers=[("If-None-Match", '"other"')]).status == 200
            head = client.ask(address, method="HEAD")
            assert (head.body, head.header("content-length")) == (b"", str(len(first.body)))


def test_notes_are_written_and_a_change_elsewhere_is_said(tmp_path: Path) -> None:
    with served(["a.jpg", "b.jpg"], notes=tmp_path / "notes.db") as server:
        client = Client(server.address())
        asked = client.post("/api/notes", {"at": 1, "tags": ["blurred"], "note": "first"})
        written = asked.json
        assert (written["tags"], written["note"]) == (["blurred"], "first")
        assert written["all"]["tags"] == [{"name": "blurred", "count": 1, "images": 1}]
        assert client.ask("/api/answer?tag=blurred").json["order"] == [1]
        late = {"at": 1, "tags": [], "note": "second", "was": {"tags": [], "note": ""}}
        asked = client.post("/api/notes", late)
        assert asked.status == 409
        assert asked.json["entry"] == {name: written[name] for name in ("tags", "note", "changed")}
        assert client.ask("/api/data").json["notes"] == "notes.db"


def test_downloads_have_a_name_and_all_rows() -> None:
    with served([f"{number}.jpg" for number in range(600)]) as server:
        client = Client(server.address())
        for form, kind in (("csv", "text/csv"), ("coco", "application/json"), ("ids", "text/plain")):
            asked = client.ask(f"/export?as={form}&of=filtered&outcome=fp&at_score=0")
            assert asked.status == 200
            assert str(asked.header("content-type")).startswith(kind)
            assert re.fullmatch(r'attachment; filename="[\w.-]+"', str(asked.header("content-disposition")))
            rows = len(json.loads(asked.body)["images"]) if form == "coco" else len(asked.body.splitlines())
            assert rows == 600 + (form == "csv")
        assert client.ask("/export?as=exe").status == 400


def test_a_defect_is_said_and_does_not_end_the_server(caplog: pytest.LogCaptureFixture) -> None:
    with served(["a.jpg"]) as server:
        client = Client(server.address())
        views = server.app.views

        def broken(*_: object) -> None:
            raise RuntimeError("a defect")

        views.answer = broken  # type: ignore[method-assign, assignment]
        asked = client.ask("/api/answer")
        assert asked.status == 500
        assert "RuntimeError" in asked.json["words"]
        assert "a defect" in caplog.text
        assert client.ask("/api/data").status == 200


def test_a_server_that_ends_at_its_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    server = served(["a.jpg"])

    def broken(**_: object) -> None:
        raise OSError("no more sockets")

    monkeypatch.setattr(server._uvicorn, "run", broken)
    with pytest.raises(RuntimeError, match="ended at its start") as raised:
        server.start()
    assert isinstance(raised.value.__cause__, OSError)
    assert not server.is_running


def test_connections_that_never_ask_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ioukit.viewer.server.running._SECONDS_TO_ASK", 0.5)
    with served(["a.jpg"]) as server:
        client = Client(server.address())
        silent, half = (socket.create_connection(("127.0.0.1", client.port), 30) for _ in range(2))
        with silent, half:
            half.sendall(b"GET /api/answer HTTP/1.1\r\nHost: ")
            assert silent.recv(1) == b""
            assert half.recv(1) == b""
        assert client.ask("/api/data").status == 200


@posix
def test_a_signal_before_the_server_runs_ends_it() -> None:
    before = signal.getsignal(signal.SIGTERM)
    for number in (signal.SIGTERM, signal.SIGHUP):
        server = served(["a.jpg"])
        ending = server.ended_by_signals()
        ending.__enter__()
        signal.raise_signal(number)  # where an exception could be lost
        server.run()
        with pytest.raises(SystemExit) as ended_by:
            ending.__exit__(None, None, None)
        assert ended_by.value.code == 128 + number
    server = served(["a.jpg"])
    with server.ended_by_signals():
        signal.raise_signal(signal.SIGINT)
        server.run()
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_data_says_is_what_the_library_says() -> None:
    evaluation = evaluation_of(["a.jpg", "b.jpg"])
    with served(["a.jpg", "b.jpg"]) as server:
        data = Client(server.address()).ask("/api/data").json
    assert data["iou_thresholds"] == list(evaluation.protocol.iou_thresholds)
    assert data["classes"] == [{"name": "<b>cat</b>", "objects": 2}]
    assert data["default"]["at_score"] == evaluation.score_curves().overall.best.score
    assert np.allclose(data["score_range"], [0.5, 0.9])
    assert [area["name"] for area in data["areas"]] == ["all", "small", "medium", "large"]
