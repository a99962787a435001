"""The viewer in notebooks: one server for the same data, frames on other pages, and cut-outs without a server."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import evaluate
from ioukit.viewer import viewing
from support.evaluated_scenes import made
from support.viewing import Client, evaluation_of, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ioukit.viewer.viewing import Viewer
    from support.viewing import Asked

image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[view]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")
pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")

FRAMES = ("http://localhost:*",)


@pytest.fixture
def view() -> Iterator[Any]:
    """`ioukit.view` on any free port, without a browser; what was started is closed."""
    from ioukit import view as start  # noqa: PLC0415 - after the checks

    started: list[Viewer] = []

    def starting(*arguments: Any, **options: Any) -> Viewer:
        started.append(start(*arguments, browser=False, **{"port": 0, **options}))
        return started[-1]

    yield starting
    for one in started:
        one.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "red.jpg")
    return tmp_path


def source(shown: str) -> str:
    """The address, or the page, of a frame."""
    return html.unescape(re.findall(r' src(?:doc)?="([^"]*)"', shown)[0])


def data_of(page: str) -> Any:
    """The data within a page."""
    return json.loads(re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[0])


# ---- Frames.


def assert_closed(asked: Asked) -> None:
    assert asked.header("x-frame-options") == "DENY"
    assert str(asked.header("content-security-policy")).count("frame-ancestors") == 1
    assert "frame-ancestors 'none'" in str(asked.header("content-security-policy"))


def test_frames_are_allowed_where_they_are_asked_for(folder: Path) -> None:
    """The page is then at an address that begins with the token. Elsewhere nothing changes."""
    with served(["red.jpg"], folder, frames=FRAMES) as server:
        client = Client(server.address())
        start = f"/~{client.token}"
        asked = client.ask(f"{start}/", at_root=True, cookie=None)
        assert asked.status == 200
        assert str(asked.header("content-security-policy")).endswith("; frame-ancestors http://localhost:*")
        assert asked.header("x-frame-options") is None
        assert asked.header("set-cookie") is None
        for other in ("/api/data", "/thumb?at=0", "/api/answer?class=%3Cb%3Ecat%3C/b%3E", "/export?as=ids"):
            within = client.ask(f"{start}{other}", at_root=True, cookie=None)
            assert_closed(within)
            assert within.status == 200
            assert within.body == client.ask(other).body
        assert_closed(client.ask("/"))
        assert client.ask("/", cookie=None).status == 403


@pytest.mark.parametrize(
    "start", ["/~", "/~wrong", "/~{token}x", "/~{short}", "/~{token}%00", "/~/{token}", "/{token}", "/~{cookie}", "/~*"]
)
def test_only_the_whole_token_opens_a_frame(folder: Path, start: str) -> None:
    with served(["red.jpg"], folder, frames=FRAMES) as server:
        client = Client(server.address())
        start = start.format(token=client.token, short=client.token[:-1], cookie=client.cookie)
        for path in ("/", "/api/data", "/photo?at=0"):
            assert client.ask(start + path, at_root=True, cookie=None).status == 403
            assert client.ask(start + path, at_root=True).status in (403, 404)


def test_a_frame_obeys_the_other_rules(folder: Path) -> None:
    with served(["red.jpg"], folder, notes=folder / "notes.db", frames=FRAMES) as server:
        client = Client(server.address())
        start = f"/~{client.token}"
        assert client.ask(f"{start}/api/data", at_root=True, cookie=None, host="evil.example").status == 403
        foreign = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")]
        assert client.ask(f"{start}/api/data", at_root=True, cookie=None, headers=foreign).status == 403
        framed = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")]
        assert client.ask(f"{start}/", at_root=True, cookie=None, headers=framed).status == 200
        assert client.ask(f"{start}/api/data", at_root=True, cookie=None, headers=framed).status == 403
        entry = {"at": 0, "tags": ["t"], "note": ""}
        assert client.post(f"{start}/api/notes", entry, at_root=True).status == 200
        evil = [("Origin", "http://localhost:8888"), ("Content-Type", "application/json")]
        assert client.post(f"{start}/api/notes", entry, headers=evil, at_root=True).status == 403


def test_without_frames_no_address_has_the_token(folder: Path) -> None:
    with served(["red.jpg"], folder) as server:
        client = Client(server.address())
        for root in (False, True):
            assert client.ask(f"/~{client.token}/", cookie=None, at_root=root).status == 403
        assert client.ask(f"/~{client.token}/").status == 404


# ---- What a notebook shows.


def test_a_notebook_shows_the_page_in_a_frame(view: Any) -> None:
    viewer = view(evaluation_of(["a.jpg"]), filter={"class": "<b>cat</b>", "outcome": ["fp", "tp"]})
    shown = viewer._repr_html_()
    address = source(shown)
    assert address.endswith("/?class=%3Cb%3Ecat%3C%2Fb%3E&outcome=fp&outcome=tp")
    assert "<b>" not in shown
    asked = Client(viewer.address).ask(address.partition(str(viewer._server.port))[2], cookie=None, at_root=True)
    assert asked.status == 200
    assert b"ioukit view" in asked.body
    policy = str(asked.header("content-security-policy"))
    assert policy.endswith(f"frame-ancestors {' '.join(viewing.FRAMES)}")


def test_the_same_data_have_one_server(view: Any) -> None:
    evaluation = evaluation_of(["a.jpg"])
    first, again = view(evaluation), view(evaluation, filter={"outcome": "fp"})
    assert first._server is again._server
    assert again.address == f"{first.address}&outcome=fp"
    assert view({"a": evaluation})._server is not first._server
    assert view(evaluation, table={"image_id": [1], "speed": [3]})._server is not first._server
    first.close()
    assert not again._server.is_running
    assert "srcdoc" in again._repr_html_()
    assert repr(again) == "Viewer without a server"
    assert view(evaluation)._server is not first._server


def test_few_servers_are_kept(view: Any) -> None:
    from ioukit.viewer.server.running import MOST_SERVERS  # noqa: PLC0415 - after the checks

    viewers = [view(evaluation_of(["a.jpg"])) for _ in range(MOST_SERVERS + 2)]
    assert [one._server.is_running for one in viewers] == [False] * 2 + [True] * MOST_SERVERS


def test_a_cut_out_needs_no_server(view: Any, folder: Path) -> None:
    viewer = view(evaluation_of(["red.jpg", "missing.jpg"]), folder, filter={"at_score": 0}, static=True)
    assert viewer.address == ""
    assert viewer._server is None
    viewer.wait()  # returns
    shown = viewer._repr_html_()
    assert 'sandbox="allow-scripts"' in shown
    assert shown.isascii()
    page = source(shown)
    assert page == viewer.to_html()
    data = data_of(page)
    assert [image["name"] for image in data["images"]] == ["red.jpg", "missing.jpg"]
    assert list(data["photos"]) == ["0"]
    assert data["photos"]["0"].startswith("data:image/")
    assert (data["counts"][0]["tp"], data["counts"][0]["fp"]) == (2, 2)
    assert data["names"] == ["<b>cat</b>"]
    assert "<b>cat" not in page
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]
    assert "connect-src" not in policy
    assert "default-src &#39;none&#39;" in policy


def test_a_cut_out_has_the_first_images_of_the_filter(view: Any) -> None:
    evaluation = made(images=60)
    viewer = view(evaluation, filter={"outcome": "fn", "sort": "name", "order": "desc"}, static=True)
    data = data_of(viewer.to_html(images=5))
    names = [f"{image}.png" for image in range(1, 61)]
    shown = [image["name"] for image in data["images"]]
    assert len(shown) == 5
    assert shown == [name for name in sorted(names, reverse=True) if name in shown]
    assert data["total"] < 60
    assert all(any(image["chosen"]) for image in data["images"])
    assert len(data_of(viewer.to_html())["images"]) == 24


def test_a_notebook_elsewhere_gets_a_cut_out(view: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in viewing._ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("ioukit.viewer.viewing._in_notebook", lambda: True)
    assert view(evaluation_of(["a.jpg"])).address
    monkeypatch.setenv("COLAB_RELEASE_TAG", "1")
    assert view(evaluation_of(["a.jpg"])).address == ""
    assert view(evaluation_of(["a.jpg"]), static=False).address
    monkeypatch.setattr("ioukit.viewer.viewing._in_notebook", lambda: False)
    assert view(evaluation_of(["a.jpg"])).address


def test_two_models_and_ground_truth_alone(view: Any) -> None:
    first = made(images=4)
    assert first.ground_truth is not None
    second = evaluate(first.ground_truth, made(images=4, seed=3).detections)  # type: ignore[arg-type]
    data = data_of(view({"a": first, "b": second}, filter={"model": "b"}, static=True).to_html())
    assert (data["models"], data["model"], len(data["counts"])) == (["a", "b"], 1, 2)
    assert data_of(view(first.ground_truth, static=True).to_html())["counts"] == []


CELLS = (
    "import sys, urllib.request; sys.path[:0] = {path!r}; import ioukit; from support.evaluated_scenes import made",
    "viewer = ioukit.view(made(images=4), port=0); viewer",
    "urllib.request.urlopen(viewer._server.frame_address()).status",
    "viewer.close(); ioukit.view(made(images=4), static=True)",
)


def test_cells_of_a_notebook_show_frames() -> None:
    nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient: pip install 'ioukit[test]'")
    nbformat = pytest.importorskip("nbformat", reason="as above")
    pytest.importorskip("ipykernel", reason="as above")
    import sys  # noqa: PLC0415 - for the kernel's path

    cells = [nbformat.v4.new_code_cell(cell.replace("{path!r}", repr(sys.path))) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [cell["outputs"] for cell in notebook.cells]
    assert re.search(r'<iframe src="http://127\.0\.0\.1:\d+/~[\w-]{20,}/"', outputs[1][0]["data"]["text/html"])
    assert outputs[1][0]["data"]["text/plain"].startswith("Viewer at http://127.0.0.1:")
    assert outputs[2][0]["data"]["text/plain"] == "200"
    page = source(outputs[3][0]["data"]["text/html"])
    assert len(data_of(page)["images"]) == 4
