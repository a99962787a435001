"""`ioukit demo` writes data to try the commands on, and what it prints runs."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support.command import run_here
from support.paths import DATA, DEMO, load

if TYPE_CHECKING:
    from pathlib import Path

PHOTOGRAPHS = sorted(record["file_name"] for record in load(DEMO / "gt.json")["images"])
FILES = sorted(["LICENCES.md", "a.json", "b.json", "gt.json", *(f"photos/{name}" for name in PHOTOGRAPHS)])


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_four_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jinja2", reason="the report needs Jinja2: pip install 'ioukit[report]'")
    pytest.importorskip("PIL", reason="the photographs need Pillow: pip install 'ioukit[report]'")
    monkeypatch.chdir(tmp_path)
    made = run_here("demo")
    assert made.code == 0, made.err
    assert sorted(contents(tmp_path / "ioukit-demo")) == FILES
    cd, *lines = map(shlex.split, made.out.splitlines())
    assert cd == ["cd", "ioukit-demo"]
    monkeypatch.chdir(tmp_path / "ioukit-demo")
    assert [line[:2] for line in lines] == [["ioukit", name] for name in ("eval", "eval", "compare", "view")]
    answers = [run_here(*line[1:]) for line in lines[:3]]
    assert [answer.code for answer in answers] == [0, 0, 0], answers
    expected = load(DATA / "coco_ccby_images" / "expected.json")["bbox"]["stats"]
    assert [line[-5:] for line in answers[0].out.splitlines()[:12]] == [f"{one:.3f}" for one in expected.values()]
    assert "data:image/jpeg" in (tmp_path / "ioukit-demo" / "report.html").read_text(encoding="utf-8")
    assert "6 images cannot tell a and b apart" in answers[2].out


def served(folder: Path, *words: str) -> str:
    """What a command that serves a page prints until it has its address; then it is ended by Ctrl-C."""
    command = [sys.executable, "-m", "ioukit", *words]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        out = ""
        for line in process.stdout:
            out += line
            if line.startswith("http://"):
                break
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    assert out.rpartition("\n")[0].rpartition("\n")[2].startswith("http://127.0.0.1:"), err
    return err


def test_open_writes_the_report_and_serves_the_viewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("jinja2", "PIL", "uvicorn"):
        pytest.importorskip(package, reason="needs ioukit[view]")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(variable, raising=False)
    err = served(tmp_path, "demo", "try", "--open")
    assert "found 6 of 6 images" in err
    assert "wrote try/report.html" in err
    assert "data:image/jpeg" in (tmp_path / "try" / "report.html").read_text(encoding="utf-8")


def test_the_licences_name_each_photograph() -> None:
    text = (DEMO / "LICENCES.md").read_text(encoding="utf-8")
    addresses = {record["file_name"]: record["flickr_url"] for record in load(DEMO / "gt.json")["images"]}
    assert [name for name in PHOTOGRAPHS if f"| `{name}` | {addresses[name]} |" not in text] == []
    assert "https://creativecommons.org/licenses/by/2.0/" in text
    assert {one["url"] for one in load(DEMO / "gt.json")["licenses"]} == {"http://creativecommons.org/licenses/by/2.0/"}


def test_the_wheel_carries_at_most_600_kilobytes() -> None:
    assert sorted(contents(DEMO)) == FILES
    assert sum(map(len, contents(DEMO).values())) <= 600_000


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "my folder"
    assert run_here("demo", folder).out.startswith(f"cd '{folder}'\n")
    (folder / "b.json").unlink()
    assert run_here("demo", folder).code == 0, "the rest is there already, and stays"
    assert sorted(contents(folder)) == FILES
    (folder / "gt.json").write_text(json.dumps({"mine": 1}), encoding="utf-8")
    (folder / "a.json").unlink()
    before = contents(folder)
    refused = run_here("demo", folder)
    assert (refused.code, refused.out) == (2, "")
    assert "gt.json exists and is another file: name another folder" in refused.err
    assert contents(folder) == before


@pytest.mark.parametrize("place", ["file", "file/folder"])
def test_what_cannot_become_a_folder_is_said(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused = run_here("demo", tmp_path / place)
    assert (refused.code, refused.out) == (2, "")
    assert f"{tmp_path / 'file'} is a file, expected a folder" in refused.err


def test_without_the_packages_of_the_viewer_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused = run_here("demo", tmp_path / "try", "--open")
    assert (refused.code, refused.out) == (2, "")
    assert "pip install 'ioukit[view]'" in refused.err
    assert list(tmp_path.iterdir()) == []
