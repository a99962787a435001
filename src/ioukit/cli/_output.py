"""Where results go: standard output, ``--json [FILE]``, and files that appear complete or not at all.

Owns: `AnswerOptions`, the options ``--json`` and ``--quiet`` of every command, and the check of all files that a
command writes. Does not own: the streams themselves (`_streams.py`), nor what a result says.

A command uses `AnswerOptions` in three places::

    def val(..., answer: AnswerOptions) -> None:
        talk = answer.talk()
        answer.check(inputs, {"--csv": csv})  # before the work
        answer.give(found.table, found.to_json, talk, done="done")  # after the work

Typer has no options with optional values, so `JsonCommand` completes ``--json`` before the words are parsed.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer
from typer.core import TyperCommand

from ioukit._output import check_output, printable, write_whole
from ioukit.cli._errors import bad_output, bad_value
from ioukit.cli._streams import Talk, print_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_OPTION = "--json"
STDOUT = Path("-")
"""The file that stands for standard output."""

QuietOption: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on stderr.")]


def _parse_file(text: str) -> Path:
    if not text:
        raise typer.BadParameter("expected a file, or - for standard output", param_hint=_OPTION)
    return Path(text)


def json_option(help: str) -> Any:
    """The option of a command with ``cls=JsonCommand``: a file, `STDOUT`, or ``None`` if it is not given."""
    return typer.Option(_OPTION, metavar="[FILE]", parser=_parse_file, help=help)


SummaryOption: TypeAlias = Annotated[
    Path | None, json_option("Print a summary as one JSON object; with FILE, write it there.")
]
"""For commands that print nothing else on stdout."""


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
        check_files({_OPTION: self.file, **(others or {})}, inputs)

    def give(
        self, text: "Callable[[], str] | None", json: "Callable[[], str]", talk: Talk, *, done: str | None = None
    ) -> None:
        """Writes the file of ``--json``, says that the command is done, and prints the text or the JSON.

        Args:
            text: Makes the text, if there is one.
            json: Makes the JSON.
            talk: Where lines go.
            done: The last line about the work.
        """
        self.write(json, talk)
        if done is not None:
            talk.say(done)
        self.print(text, json)

    def write(self, json: "Callable[[], str]", talk: Talk) -> None:
        """Writes the file of ``--json``, if it names one."""
        if self.file is not None:
            write_text(self.file, f"{json()}\n", talk)

    def print(self, text: "Callable[[], str] | None", json: "Callable[[], str]") -> None:
        """Prints the text, if there is one, or the JSON if ``--json`` names no file for it."""
        if self.is_json:
            print_result(json())
        elif text is not None:
            print_result(text())


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
            check_output(path, inputs)
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


class JsonCommand(TyperCommand):
    """A command whose ``--json`` has an optional value.

    - ``--json=FILE`` writes the file, ``--json=-`` and ``--json`` alone write to standard output.
    - ``--json FILE`` writes the file if all required arguments come before it. Otherwise the next word is an argument,
      so that ``ioukit eval --json gt.json dt.json`` never overwrites ``gt.json``.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        words: list[str] = []
        left = list(args)
        while left:
            word = left.pop(0)
            if word == "--":
                words += [word, *left]
                break
            if word == _OPTION:
                takes_next = left and _is_value(left[0]) and self._has_arguments(ctx, words)
                word = f"{_OPTION}={left.pop(0) if takes_next else STDOUT}"
            words.append(word)
        return super().parse_args(ctx, words)

    def _has_arguments(self, ctx: typer.Context, words: list[str]) -> bool:
        """Whether the words give every required argument a value, and every list at least one."""
        resilient, ctx.resilient_parsing = ctx.resilient_parsing, True  # required words may be missing
        try:
            values, _, _ = self.make_parser(ctx).parse_args(list(words))
        finally:
            ctx.resilient_parsing = resilient
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        # A list without values is an empty tuple.
        # Without this, the first of several optional files would be overwritten. Names of runs are no files.
        needed = [param for param in arguments if param.required or (param.nargs == -1 and not values.get("log"))]
        return all(values.get(param.name or "") not in (None, ()) for param in needed)


def _is_value(word: str) -> bool:
    return word == "-" or not word.startswith("-")
