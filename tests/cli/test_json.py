"""`--json [FILE]`: where its value may stand, and what it means."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Annotated

import pytest
import typer

from ioukit.cli._command import Command
from ioukit.cli._data_files import input_files
from ioukit.cli._output import STDOUT, AnswerOptions, json_option
from ioukit.cli._streams import Talk

OPTION = json_option("Print JSON.")


def parsed(command: str, *words: str) -> dict[str, object]:
    """What a command is called with."""
    seen: dict[str, object] = {}
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.command("two", cls=Command)
    def two(
        gt: Annotated[Path, typer.Argument(metavar="GT")],
        dt: Annotated[Path, typer.Argument(metavar="DT")],
        other: Annotated[str | None, typer.Option("--other", "-o")] = None,
        json: Annotated[Path | None, OPTION] = None,
    ) -> None:
        seen.update(gt=str(gt), dt=str(dt), other=other, json=json)

    @app.command("many", cls=Command)
    def many(network: Path, images: list[Path], json: Annotated[Path | None, OPTION] = None) -> None:
        seen.update(network=str(network), images=[*map(str, images)], json=json)

    @app.command("none", cls=Command)
    def none(json: Annotated[Path | None, OPTION] = None) -> None:
        seen.update(json=json)

    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        app([command, *words])
    return seen or {"error": err.getvalue().strip().splitlines()[-1]}


TWO = {"gt": "g", "dt": "d", "other": None}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("g d", {**TWO, "json": None}),
        ("g d --json", {**TWO, "json": STDOUT}),
        ("--json g d", {**TWO, "json": STDOUT}),
        ("g --json d", {**TWO, "json": STDOUT}),
        ("g d --json -o x", {**TWO, "json": STDOUT, "other": "x"}),
        ("g d --json out", {**TWO, "json": Path("out")}),
        ("g d --json out -o x", {**TWO, "json": Path("out"), "other": "x"}),
        ("g -o x d --json out", {**TWO, "json": Path("out"), "other": "x"}),
        ("g d --json -", {**TWO, "json": STDOUT}),
        ("--json=out g d", {**TWO, "json": Path("out")}),
        ("g --json=out d", {**TWO, "json": Path("out")}),
        ("g d --json=-", {**TWO, "json": STDOUT}),
        ("--json - d", {"gt": "-", "dt": "d", "other": None, "json": STDOUT}),
        ("--json -- g d", {**TWO, "json": STDOUT}),
        ("-- g --json", {"gt": "g", "dt": "--json", "other": None, "json": None}),
        ("g d --json --json out", {**TWO, "json": Path("out")}),
        ("--json out g d", {**TWO, "json": Path("out")}),
        ("--json out g -o x d", {**TWO, "json": Path("out"), "other": "x"}),
    ],
)
def test_what_a_word_means(words: str, expected: dict[str, object]) -> None:
    assert parsed("two", *words.split()) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("g d x --json", "Error: expected GT DT, got x, too"),
        ("g d --json=", "Error: Invalid value for --json: expected a file, or - for standard output"),
        ("g --json", "Error: Missing argument 'DT'."),
    ],
)
def test_bad_use(words: str, message: str) -> None:
    assert parsed("two", *words.split()) == {"error": message}


def test_many_arguments() -> None:
    assert parsed("many", "n", "a", "b", "--json") == {"network": "n", "images": ["a", "b"], "json": STDOUT}
    file = Path("out")
    assert parsed("many", "n", "a", "b", "--json", "out") == {"network": "n", "images": ["a", "b"], "json": file}
    assert parsed("many", "n", "--json", "a", "b") == {"network": "n", "images": ["a", "b"], "json": STDOUT}
    assert parsed("many", "n", "--json=out", "a", "b") == {"network": "n", "images": ["a", "b"], "json": file}


def test_what_may_be_read_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind `--json` and before the paths: a file that is there is written only if it holds an answer."""
    monkeypatch.chdir(tmp_path)
    Path("gt.json").write_text('{"images": []}')
    Path("old.json").write_text('{\n  "summary": {"AP": 0.4}}')
    assert parsed("two", "--json", "old.json", "g", "d") == {**TWO, "json": Path("old.json")}
    assert parsed("two", "--json", "gt.json", "g", "d") == {"error": "Error: expected GT DT, got d, too"}
    many = {"network": "n", "images": ["a"]}
    assert parsed("many", "--json", "new.json", "n", "a") == {**many, "json": Path("new.json")}
    assert parsed("many", "--json", "old.json", "n", "a") == {**many, "json": Path("old.json")}
    read = parsed("many", "--json", "gt.json", "n", "a")
    assert read == {"network": "gt.json", "images": ["n", "a"], "json": STDOUT}


def test_no_arguments() -> None:
    assert parsed("none", "--json") == {"json": STDOUT}
    assert parsed("none", "--json", "out") == {"json": Path("out")}


def test_it_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.json"
    talk = Talk(quiet=False)
    AnswerOptions(target).give(lambda: "text", lambda: "[1]", talk, done="done")
    AnswerOptions(STDOUT).give(lambda: "text", lambda: "[2]", talk)
    AnswerOptions(None).give(lambda: "text", lambda: "[3]", talk)
    assert target.read_text() == "[1]\n"
    assert capsys.readouterr() == ("text\n[2]\ntext\n", f"wrote {target}\ndone\n")
    with pytest.raises(typer.BadParameter, match=r"out\.json is an input and would be overwritten"):
        AnswerOptions(target).check([target])
    with pytest.raises(typer.BadParameter, match="is a folder, expected a file to write"):
        AnswerOptions(tmp_path).check([])
    with pytest.raises(typer.BadParameter, match=r"out\.json is the file of --json, too"):
        AnswerOptions(target).check([], {"--csv": target})
    AnswerOptions(STDOUT).check([target])


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert input_files(Path("a"), Path("b")) == [Path("a"), Path("b")]
    assert input_files() == []
    if Path("/dev/stdin").exists():
        assert input_files(Path("a"), Path("-")) == [Path("a"), Path("/dev/stdin")]
    with pytest.raises(typer.BadParameter, match=r"- \(standard input\) stands for one file, got it twice"):
        input_files(Path("-"), Path("-"))
    monkeypatch.setattr("os.path.exists", lambda _: False)
    with pytest.raises(typer.BadParameter, match="cannot be read on this system: name a file"):
        input_files(Path("-"))
