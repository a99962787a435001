"""Every command over every kind of wrong input: one line and exit code 2, and nothing half-written.

What is tried is written down from the help of the commands alone. Each file and option is wrong on its own.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from ioukit.cli import _app
from support.command import Outcome, run_here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMAGES = [{"id": i, "file_name": f"{i}.jpg", "width": 90, "height": 80} for i in (1, 2)]
CLASSES = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
OBJECTS = [
    {
        "id": k,
        "image_id": 1 + k % 2,
        "category_id": 1 + k // 4,
        "bbox": [5 + k, 5, 30, 20],
        "area": 600,
        "iscrowd": 0,
        "attributes": {"track_id": k},
    }
    for k in range(1, 7)
]
GT = {"images": IMAGES, "categories": CLASSES, "annotations": OBJECTS}
DT = [{**{key: one[key] for key in ("image_id", "category_id", "bbox", "attributes")}, "score": 0.9} for one in OBJECTS]

FEW = ("--replicates=9", "--permutations=9")
COMMANDS: dict[str, list[str]] = {
    "eval": ["{gt}", "{dt}"],
    "compare": ["{gt}", "{dt}", "{dt}", *FEW],
    "check": ["{gt}", "{dt}"],
    "nms": ["{dt}", "--output=out"],
    "operate": ["{gt}", "{dt}", "--replicates=9"],
    "inspect": ["{gt}"],
    "labels": ["{gt}", "{dt}"],
    "panoptic": ["{gt}", "{dt}"],
    "agree": ["{gt}", "{gt}"],
    "grounding": ["{gt}", "{dt}"],
    "nuscenes": ["{gt}", "{dt}"],
    "tracks": ["{gt}", "{dt}"],
    "protocols": ["{gt}", "{dt}"],
    "convert": ["{gt}", "out", "--to=coco"],
    "merge": ["{gt}", "{gt}", "out", "--duplicates=first"],
    "slices": ["{gt}", "{dt}", "--table={table}", "--by=weather", *FEW],
    "subset": ["{gt}", "out", "--classes=cat"],
    "remap": ["{gt}", "out", "--classes={names}"],
    "runs": ["--log={log}"],
    "show": ["--log={log}", "B"],
    "gate": ["--log={log}", "--baseline=A", "--candidate=B"],
    "view": ["{gt}", "{dt}", "--no-browser", "--port=0"],
    "predict": ["{net}", "{gt}"],
    "val": ["{net}", "{gt}"],
    "export": ["{net}", "--output=out"],
    "train": ["{gt}", "--output=out", "--epochs=1"],
    "make-shapes": ["out", "--images=1", "--size=32"],
    "demo": ["out"],
    "doctor": [],
    "playground": ["--output=out"],
}
CHECKS = ("check", "gate", "doctor", "--at-least", "--at-most")
"""What may end with 1."""

CONTENTS: dict[str, bytes] = {
    "empty.json": b"",
    "cut.json": json.dumps(GT).encode()[:-30],
    "binary.json": bytes(range(256)) * 4,
    "other.xml": b"<?xml version='1.0'?><a><b/></a>",
    "text.txt": b"some words\nand others\n",
    "nan.json": json.dumps([{**DT[0], "score": float("nan")}]).encode(),
    "kinds.json": json.dumps([{**DT[0], "bbox": "1,2", "image_id": []}]).encode(),
    "lists.json": b'{"images": 7, "categories": {"a": 1}, "annotations": null}',
    "nested.json": b"[" * 50_000,
    "long.csv": b"image_id," + b"x" * 300_000 + b"\n1,2\n",
    "header.csv": b"image,weather\n",
    "wide.csv": b'image_id,weather\n1,"sun\n2,a,b,c\n\0\n',
    "nested.toml": b"a = " + b"[" * 5_000,
    "other.toml": b"rules = 3\n[name]\nx = 1979-05-27\n",
    "wrong.yaml": b"train: [1,\nnames: {",
    "fake.db": b"SQLite format 3\0" + b"\0" * 99,
    "fake.safetensors": b"\xff" * 7 + b"\0{}",
    "fake.parquet": b"PAR1xxxxPAR1",
    "fake.json.gz": b"\x1f\x8b\x08\0\0",
    "utf16.json": json.dumps(GT).encode("utf-16"),
}
VALUES = [
    "",
    "x",
    "-1",
    "nan",
    "=",
    "1" * 30,
    "0.5:0.1:0",
    "a:x:y",
    "@nowhere",
    "gt:boxes=9",
    "\udcff\x1b[m",
    "x" * 999,
]
PATHS = ["/dev/full", "nowhere/out", ".", "taken", "n" * 300]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Good files by their names in `COMMANDS`."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "gt.json").write_text(json.dumps(GT))
    (folder / "dt.json").write_text(json.dumps(DT))
    (folder / "table.csv").write_text("image_id,weather\n1,sun\n2,rain\n")
    (folder / "names.csv").write_text("cat,pet\n")
    paths = {path.name.partition(".")[0]: str(path) for path in folder.iterdir()}
    paths |= {"log": str(folder / "log.db"), "net": str(folder / "net.safetensors")}
    for name in "AB":
        assert run_here("eval", paths["gt"], paths["dt"], "--log", paths["log"], "--name", name).code == 0
    return paths


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Paths of wrong files."""
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in CONTENTS.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "link.json").symlink_to("link.json")
    (folder / "line\nbreak.json").write_bytes(b"{")
    paths = [str(path) for path in (*sorted(folder.iterdir()), folder / "missing.json", folder / ("n" * 300))]
    paths += ["", "/dev/null"]
    if sys.platform == "linux":
        (folder / os.fsdecode(b"latin\xe9.json")).write_bytes(b"[7]")
        paths += [str(folder / os.fsdecode(b"latin\xe9.json")), str(folder / os.fsdecode(b"none\xe9.json"))]
    return paths


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    if "view" in COMMANDS:
        uvicorn = pytest.importorskip("uvicorn", reason="the app needs uvicorn: pip install 'ioukit[view]'")
        monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)


def tried(words: list[str], folder: Path) -> str | None:
    """What is wrong with how a command ended; it runs in the empty folder."""
    os.chdir(folder)
    try:
        ended = run_here(*words)
    except Exception as error:
        return f"traceback: {type(error).__name__}: {error}"
    left = [path for path in folder.iterdir() if path.name != "taken"]
    for path in left:
        _remove(path)
    if ended.code == 1 and any(word.startswith(CHECKS) for word in words):
        return None
    if ended.code == 2:
        return _of_refusal(ended, left)
    return None if ended.code == 0 else f"exit code {ended.code}"


def _of_refusal(ended: Outcome, left: list[Path]) -> str | None:
    lines = ended.err.split("\n")
    said = [line for line in lines if line.startswith("Error: ")]
    if len(said) != 1 or not ended.err.endswith(f"{said[0]}\n"):
        return f"not one line at the end: {ended.err[-300:]!r}"
    if not all(line.isprintable() for line in lines) or len(said[0]) > 2_500:
        return f"not a line for a terminal: {said[0][:300]!r}"
    return f"left behind: {left}" if left else "printed a result" if ended.out else None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink()


def options_of(command: str) -> Iterator[tuple[str, bool]]:
    """The options of a command that take a value, and whether it is something that is written."""
    for option in _app.built(command).params:
        if option.param_type_name == "option" and not option.is_flag and "--help" not in option.opts:
            yield max(option.opts, key=len), option.metavar in ("FILE", "DIR", "OUT", "[FILE]")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    before = os.getcwd()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    yield tmp_path
    os.chdir(before)


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_files(command: str, given: dict[str, str], wrong: list[str], here: Path) -> None:
    good = [word.format(**given) for word in COMMANDS[command]]
    found = {}
    for at, word in enumerate(COMMANDS[command]):
        if "{" in word:
            for path in wrong:
                words = [*good[:at], word[: word.index("{")] + path, *good[at + 1 :]]
                found[word, path] = tried([command, *words], here)
    assert not {case: says for case, says in found.items() if says}


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_values(command: str, given: dict[str, str], wrong: list[str], here: Path) -> None:
    """Three values of each option, which are others for the next option: all meet many."""
    good = [word.format(**given) for word in COMMANDS[command]]
    found = {}
    for number, (option, writes) in enumerate(options_of(command)):
        values = [*VALUES[number % 6 :: 6], PATHS[number % 5] if writes else wrong[number % len(wrong)]]
        for value in values:
            words = [word for word in good if not word.startswith(f"{option}=")]
            found[option, value] = tried([command, *words, f"{option}={value}"], here)
    assert not {case: says for case, says in found.items() if says}
