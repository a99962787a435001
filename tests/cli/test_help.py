"""Help that can be read: nothing is cut, no line is wider than the terminal, and the most wanted stands first."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from ioukit.cli import _app, _help
from ioukit.cli._app import COMMANDS, GROUPS
from ioukit.datasets import FORMATS
from support.command import run_here


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def shown(*words: str) -> str:
    done = run_here(*words)
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("columns", [80, 300])
def test_a_command_is_explained_within_the_terminal(
    command: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for page in (shown(command, "--help"), shown(command, "--help-all")):
        assert max(map(len, page.splitlines())) <= min(columns, 100)
        assert page.startswith(f"Usage: ioukit {command} ")
        assert "Examples:\n" in page or command in ("doctor", "playground")
        assert not re.search(r"[a-z]\.\.\.\n *--", page), "a description is cut"


def test_no_option_is_left_out() -> None:
    for name in COMMANDS:
        page, every = shown(name, "--help"), shown(name, "--help-all")
        for option in (one for param in _app.built(name).params for one in param.opts if one.startswith("--")):
            assert re.search(rf"{option}\b(?!-)", page), f"{name} {option}"
            assert re.search(rf"^  (-\w, )?{option}\b(?!-)", every, re.MULTILINE), f"{name} {option}"
        titles = re.findall(r"^(\w.*):$", every, re.MULTILINE)
        known = [title for title in ("Arguments", *_help.ORDER, "Examples") if title in titles]
        assert titles == known, "headings have one order"


def test_what_only_large_data_needs_is_in_the_long_help() -> None:
    page, every = shown("eval", "--help"), shown("eval", "--help-all")
    assert "Large data:" not in page
    assert "`ioukit eval --help-all` also shows --memory, --work, --plan," in page
    assert re.search(r"^Large data:\n  --memory SIZE ", every, re.MULTILINE)
    assert page.index("--per-class") < page.index("--report") < page.index("--iou-type") < page.index("--gt-format")


def test_examples_are_what_a_shell_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long goes on behind a backslash, between words."""
    monkeypatch.setenv("COLUMNS", "50")
    for name in COMMANDS:
        wrapped = shown(name, "--help").partition("Examples:\n")[2].replace("\\\n", "")
        whole = _app.built(name).epilog or ""
        assert [shlex.split(line) for line in wrapped.splitlines()] == [
            shlex.split(line) for line in whole.splitlines()
        ]


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_the_first_help(words: tuple[str, ...]) -> None:
    page = shown(*words)
    assert max(map(len, page.splitlines())) <= 80
    assert re.findall(r"^(\w+):$", page, re.MULTILINE) == [*GROUPS, "Examples"]
    for group in GROUPS.values():
        for name, (_, text) in group.items():
            assert f"  {name:11}  {text}\n" in page
    assert len(re.findall(r"^  ioukit ", page, re.MULTILINE)) == 4
    assert "docs/" in page


def test_help_of_a_command_by_name() -> None:
    assert shown("help", "eval") == shown("eval", "--help")


def test_the_first_help_imports_no_command() -> None:
    program = (
        "import sys\nfrom ioukit.cli._app import app_of\n"
        "try:\n    app_of()(['--help'], prog_name='ioukit')\nexcept SystemExit:\n"
        "    print([name for name in sys.modules if name.startswith('ioukit.cli.') and '._' not in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_convert_names_every_format_that_is_written() -> None:
    text = " ".join(shown("convert", "--help").split())
    named = re.search(r"Format to write: ([\w, -]+)\.", text)
    assert named is not None
    written = {name for name, known in FORMATS.items() if known.write is not None or known.write_detections is not None}
    assert set(named[1].split(", ")) == written
