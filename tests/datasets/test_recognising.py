"""The first file of a folder, as recognisers ask for it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from ioukit.datasets.formats.recognising import count_of, first_file

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_first_file_by_name_is_found(tmp_path: Path) -> None:
    for name in ("b.json", "a.JSON", ".0.json", "0.txt", "x/y/0.xml", "w/1.xml", "v.json/c.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert first_file(tmp_path, ".json") == tmp_path / "a.JSON"
    assert count_of(tmp_path, ".json") == 2
    assert first_file(tmp_path, ".xml") is None
    assert first_file(tmp_path, ".xml", depth=2) == tmp_path / "w" / "1.xml"
    (tmp_path / "w" / "1.xml").unlink()
    assert first_file(tmp_path, ".xml", depth=2) is None
    assert first_file(tmp_path, ".xml", depth=3) == tmp_path / "x" / "y" / "0.xml"
    assert first_file(tmp_path / "nothing", ".xml") is None
    assert count_of(tmp_path / "b.json", ".json") == 0


def test_a_folder_that_does_not_change_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").touch()
    listed: list[str] = []
    scandir = os.scandir

    def counting(folder: str) -> Any:
        listed.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", counting)
    for _ in range(2):  # it may still change without another time
        assert count_of(tmp_path, ".json") == 1
    assert len(listed) == 2
    os.utime(tmp_path, (time.time() - 9,) * 2)
    for _ in range(3):
        assert count_of(tmp_path, ".json") == 1
    assert len(listed) == 3
    (tmp_path / "b.json").touch()
    assert count_of(tmp_path, ".json") == 2
