"""What an extra installs: imported where it is needed, named where it is missing."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from typing import TYPE_CHECKING

import pytest

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_there_is_imported() -> None:
    assert import_extra("json.decoder", extra="plots", needed_by="a test") is json.decoder


def test_what_is_missing_is_named_with_its_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        import_extra("no_such_package.part", extra="plots", needed_by="grid_figure")
    assert str(caught.value) == "grid_figure needs no_such_package: pip install 'ioukit[plots]'"
    assert caught.value.name == "no_such_package"


def test_a_broken_package_shows_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_dependency'"):
        import_extra("broken_package", extra="plots", needed_by="a test")
    assert "broken_package" not in sys.modules


def test_the_extra_exists() -> None:
    assert "plots" in (importlib.metadata.metadata("ioukit").get_all("Provides-Extra") or [])
