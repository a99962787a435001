"""What pip calls to build: maturin's hooks, and one sentence where Rust is missing and cannot be fetched."""

from __future__ import annotations

import runpy
import shutil
import sys
import sysconfig
from types import SimpleNamespace
from typing import Any

import pytest

from support.paths import ROOT

HOOKS = (
    "get_requires_for_build_editable", "get_requires_for_build_sdist", "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable", "prepare_metadata_for_build_wheel", "build_editable", "build_sdist",
    "build_wheel",
)  # fmt: skip


def fails(*_: Any, **__: Any) -> str:
    raise ConnectionError("no route\nto host")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    stub = SimpleNamespace(**dict.fromkeys(HOOKS, lambda *given: given))
    stub.prepare_metadata_for_build_wheel = fails
    monkeypatch.setitem(sys.modules, "maturin", stub)
    return runpy.run_path(str(ROOT / "release" / "build_backend.py"))


def test_all_hooks_are_those_of_maturin(backend: dict[str, Any]) -> None:
    working = [hook for hook in HOOKS if hook != "prepare_metadata_for_build_wheel"]
    assert [backend[hook]("folder", None) for hook in working] == [("folder", None)] * 7


def test_one_sentence_without_rust(backend: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        backend["prepare_metadata_for_build_wheel"]("folder")
    said = str(ended.value)
    assert (
        "no cargo on the PATH, and fetching Rust failed (ConnectionError: no route to host): install Rust first" in said
    )
    assert "or install the wheel ioukit-*-cp310-abi3-*.whl" in said
    assert "\n" not in said


def test_an_error_with_rust_stays_what_it_is(backend: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/cargo")
    with pytest.raises(ConnectionError, match="no route"):
        backend["prepare_metadata_for_build_wheel"]("folder")


def test_one_sentence_on_free_threaded_python(backend: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
    with pytest.raises(
        SystemExit, match="the free-threaded build of Python, for which there is no ioukit yet"
    ) as ended:
        backend["build_wheel"]("folder")
    assert "\n" not in str(ended.value)
