"""Where results go: standard output, ``--json [FILE]``, and files that appear complete or not at all.

Owns: `AnswerOptions`, the options ``--json`` and ``--quiet`` of every command, and the check of all files that a
command writes. Does not own: the streams themselves (`_streams.py`), nor what a result says.

A command uses `AnswerOptions` in three places::

    def val(..., answer: AnswerOptions) -> None:
        talk = answer.talk()
        answer.check(inputs, {"--csv": csv})  # before the work
        answer.give(found.table, found.to_json, talk, done="done")  # after the work

Typer has no options with optional values, so `_command.Command` completes ``--json`` before the words are parsed.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from ioukit._output import check_output, fitted, printable, terminal_width, write_whole
from ioukit.cli._arguments import RESULTS
from ioukit.cli._errors import bad_output, bad_value
from ioukit.cli._streams import Talk, has_colours, print_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


JSON = "--json"
STDOUT = Path("-")
"""The file that stands for standard output."""

QuietOption: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", rich_help_panel=RESULTS, help="Print only errors on stderr.")
]


def _parse_file(text: str) -> Path:
    if not text:
        raise typer.BadParameter("expected a file, or - for standard output", param_hint=JSON)
    return Path(text)


def json_option(help: str) -> Any:
    """The option of a command: a file, `STDOUT`, or ``None`` if it is not given."""
    return typer.Option(JSON, metavar="[FILE]", parser=_parse_file, rich_help_panel=RESULTS, help=help)


SummaryOption: TypeAlias = Annotated[
    Path | None, json_option("Print a summary as one JSON object; with FILE, write it there.")
]
"""For commands that print nothing else on stdout."""


_FIRST = (
    "choice", "counts", "iou_type", "ioukit", "keys", "looked_at", "models", "ok", "outcome", "output", "run", "runs",
    "source", "summary", "trackers",
)  # fmt: skip
"""What the JSON of a command begins with, a command or two per word; no data set begins so."""


def is_answer(path: str) -> bool:
    """Whether a file holds the JSON of a command."""
    try:
        with open(path, "rb") as file:
            start = b"".join(file.read(99).split())
    except OSError:
        return False
    return start.startswith(tuple(f'{{"{word}":'.encode() for word in _FIRST))


class AnswerOptions(NamedTuple):
    """What a command prints: text or JSON on stdout, and lines on stderr or none."""

    json: Annotated[
        Path | None,
        json_option("Print one JSON object instead of the text; with FILE, write it there and print the text."),
    ] = None
    quiet: QuietOption = False

    @property
    def file(self) -> Path | None:
        """The file that ``--json`` names, if any."""
        return None if self.is_json else self.json

    @property
    def is_json(self) -> bool:
        """Whether standard output has the JSON."""
        return self.json == STDOUT

    def talk(self) -> Talk:
        """Where the lines of the command go."""
        return Talk(quiet=self.quiet)

    def check(self, inputs: "Iterable[Path]", others: "Mapping[str, Path | None] | None" = None) -> None:
        """Refuses, before the work, files that could not be written after it; see `check_files`.

        Args:
            inputs: The files that the command reads.
            others: The files that the command writes besides that of ``--json``, by their options.
        """
        check_files({JSON: self.file, **(others or {})}, inputs)

    def give(
        self,
        text: "Callable[[], str] | None",
        json: "Callable[[], str]",
        talk: Talk,
        *,
        done: str | None = None,
        fit: bool = True,
        verdict: bool = False,
    ) -> None:
        """Writes the file of ``--json``, says that the command is done, and prints the text or the JSON.

        Args:
            text: Makes the text, if there is one.
            json: Makes the JSON.
            talk: Where lines go.
            done: The last line about the work.
            fit: Whether lines are broken that are wider than the terminal.
            verdict: Whether the text begins with the verdict.
        """
        self.write(json, talk)
        if done is not None:
            talk.say(done)
        self.print(text, json, fit=fit, verdict=verdict)

    def write(self, json: "Callable[[], str]", talk: Talk) -> None:
        """Writes the file of ``--json``, if it names one."""
        if self.file is not None:
            write_text(self.file, f"{json()}\n", talk)

    def print(
        self,
        text: "Callable[[], str] | None",
        json: "Callable[[], str]",
        *,
        fit: bool = True,
        verdict: bool = False,
    ) -> None:
        """Prints the text, if there is one, or the JSON if ``--json`` names no file for it.

        Args:
            text: Makes the text.
            json: Makes the JSON.
            fit: Whether lines are broken that are wider than the terminal.
            verdict: Whether the text begins with the verdict.
        """
        if self.is_json:
            print_result(json())
        elif text is not None:
            shown = fitted(text(), terminal_width()) if fit else text()
            print_result(_coloured(shown, verdict=verdict) if has_colours() else shown)


_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_COLOURS = {"passed": 32, "failed": 31, "broken": 31, "sure": 31, "likely": 33, "undecided": 33}
"""The colours of a terminal for words that lines begin with: green, red and yellow."""
_COLOURED = re.compile(rf"^({'|'.join(_COLOURS)})\b", re.MULTILINE)


def _coloured(text: str, *, verdict: bool) -> str:
    """The text with outcomes in colour, and with its first paragraph in bold, if that is the verdict."""
    first, gap, rest = text.partition("\n\n") if verdict else ("", "", text)
    if verdict:
        first = "\n".join(f"{_BOLD}{line}{_PLAIN}" for line in first.split("\n"))
    return first + gap + _COLOURED.sub(lambda word: f"\x1b[{_COLOURS[word[0]]}m{word[0]}{_PLAIN}", rest)


def check_files(outputs: "Mapping[str, Path | None]", inputs: "Iterable[Path]") -> None:
    """Refuses files that could not be written, files that are read, and one file for two results.

    Args:
        outputs: The files by their options; ``None`` where an option is not given.
        inputs: The files that the command reads.

    Raises:
        typer.BadParameter: If one of the files is refused. It names the option.
    """
    inputs, taken = list(inputs), dict[str, str]()
    for option, path in outputs.items():
        if path is None:
            continue
        with bad_value(option):
            # The JSON of an earlier run is no label, so the next run may replace it where it is.
            check_output(path, [one for one in inputs if not (one.is_dir() and is_answer(os.fspath(path)))])
            other = taken.setdefault(os.path.realpath(path), option)
            if other != option:
                raise ValueError(f"{path} is the file of {other}, too")


def write_text(path: Path, text: str, talk: Talk) -> None:
    """Writes a file of the command, and says so. Ends the command if it cannot be written.

    The summary of a job of GitHub Actions is appended to, as other commands of the step do; other files are replaced.
    """
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    with bad_output():
        if summary and os.path.realpath(path) == os.path.realpath(summary):
            with open(path, "ab", buffering=0) as file:
                file.write(text.encode())
        else:
            write_whole(path, text)
    talk.say(f"wrote {printable(str(path))}")
