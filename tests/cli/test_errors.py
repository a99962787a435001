"""Which errors of a command are one line, and which keep their traceback."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
from typing import TYPE_CHECKING, Any

import pytest
import typer

import ioukit
from ioukit._near_names import did_you_mean, near_files
from ioukit.cli._errors import bad_input, bad_output, bad_use, no_answer_about_a_path
from support.command import run_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def ended(context: Callable[[], Any], error: Exception) -> str:
    """The line that a command ends with if its block raises this."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err), pytest.raises(typer.Exit) as stop, context():
        raise error
    assert stop.value.exit_code == 2
    return err.getvalue()


def test_checks_take_a_wrong_value_for_wrong_use() -> None:
    assert ended(bad_use, ValueError("size must be even")) == "Error: size must be even\n"
    for error in (ioukit.DatasetError("x.json: no"), OSError("no room"), ModuleNotFoundError("it needs y", name="y")):
        assert ended(bad_use, error) == f"Error: {error}\n"


def test_work_takes_errors_about_files_alone() -> None:
    for error in (ioukit.DatasetError("x.json: no"), OSError("no room"), ModuleNotFoundError("it needs y", name="y")):
        assert ended(bad_input, error) == f"Error: {error}\n"
    assert ended(lambda: bad_input(KeyError), KeyError("x")) == "Error: 'x'\n"
    for defect in (ValueError("shapes do not match"), KeyError("x")):
        with pytest.raises(type(defect)), bad_input():
            raise defect


def test_writing_takes_errors_about_files_alone_and_offers_no_name(tmp_path: Path) -> None:
    (tmp_path / "result.json").touch()
    error = FileNotFoundError(2, "No such file or directory", str(tmp_path / "results.json"))
    said = f"Error: {error.filename}: there is no such file or folder"
    assert ended(bad_output, error) == f"{said}\n"
    assert ended(bad_input, error).startswith(f"{said}; did you mean")
    for defect in (ValueError("shapes do not match"), ioukit.DatasetError("x.json: no")):
        with pytest.raises(type(defect)), bad_output():
            raise defect


def test_questions_about_a_path_that_have_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    for number in (errno.EACCES, errno.ENAMETOOLONG):
        with pytest.raises(SystemExit) as stop, no_answer_about_a_path():
            raise OSError(number, "no answer", "secret/gt.json")
        assert stop.value.code == 2
        assert capsys.readouterr().err == "Error: secret/gt.json: no answer\n"
    with pytest.raises(OSError, match="defect"), no_answer_about_a_path():
        raise OSError(errno.EIO, "defect")


def test_a_missing_module_of_ioukit_is_a_defect() -> None:
    with pytest.raises(ModuleNotFoundError), bad_use():
        importlib.import_module("ioukit.none")


def test_a_message_is_one_line_that_steers_no_terminal() -> None:
    assert ended(bad_use, ValueError("a\nb\x1b[31m")) == "Error: a\\nb\\x1b[31m\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "annotations").mkdir()
    for name in ("instances_val2017.json", "instances_train2017.json", "a.txt"):
        (tmp_path / "annotations" / name).touch()
    return tmp_path


def test_near_names(folder: Path) -> None:
    there = folder / "annotations"
    assert near_files(there / "instances_val2016.json")[0] == str(there / "instances_val2017.json")
    assert near_files(folder / "anotations" / "a.txt") == [str(there / "a.txt")]
    assert near_files(folder / "anotations" / "none.txt") == []
    assert near_files(there / "A.TXT") == [str(there / "a.txt")]
    assert near_files(there / "something else") == []
    assert near_files(folder / "a" / "b" / "c" / "d") == []
    assert near_files("") == near_files("/") == []
    assert did_you_mean([]) == ""
    assert did_you_mean(["a", "b"]) == "; did you mean 'a' or 'b'?"


@pytest.mark.parametrize("command", ["eval", "nms"])
def test_a_missing_file_offers_near_names(command: str, folder: Path) -> None:
    there = folder / "annotations"
    done = run_here(command, there / "instance_val2017.json", *{"eval": ["dt.json"], "nms": ["-o", "o"]}[command])
    assert done.code == 2
    assert f"; did you mean '{there / 'instances_val2017.json'}'" in done.err
    assert "Traceback" not in done.err


def test_a_defect_while_drawing_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL", reason="shapes need Pillow: pip install 'ioukit[shapes]'")

    def defect(*_: object, **__: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr("ioukit.datasets.shapes.writing.draw_scene", defect)
    with pytest.raises(ValueError, match="broadcast"):
        run_here("make-shapes", tmp_path / "out", "--images", "2")
    assert list(tmp_path.iterdir()) == []


def test_a_defect_of_the_playground_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect() -> str:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr("ioukit.report.playground.playground_page", defect)
    monkeypatch.setattr("ioukit.report.playground_page", defect, raising=False)
    with pytest.raises(ValueError, match="broadcast"):
        run_here("playground", "-o", tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
