"""``--json [FILE]``: an option with an optional value, the file to write.

A command uses it in three places::

    def val(..., json: Annotated[JsonOutput | None, json_option("Print one JSON object.")] = None): ...
    app.command("val", cls=JsonCommand)(val)
    json.check(inputs)  # before the work; json.write(text, talk) after the work

Typer has no options with optional values, so `JsonCommand` completes ``--json`` before the words are parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from ioukit.cli._output import check_output, print_result, printable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit.cli._talk import Talk

__all__ = ["JsonCommand", "JsonOutput", "json_option"]

_OPTION = "--json"
_STDOUT = "-"


@dataclass(frozen=True)
class JsonOutput:
    """Where ``--json`` writes: a file, or standard output if ``path`` is ``None``."""

    path: Path | None

    @classmethod
    def parse(cls, text: str) -> JsonOutput:
        """The output for a value of the option."""
        if not text:
            raise typer.BadParameter("expected a file, or - for standard output", param_hint=_OPTION)
        return cls(None if text == _STDOUT else Path(text))

    def check(self, inputs: Iterable[Path]) -> None:
        """Raises `ValueError` if the file is one of the inputs or cannot be written. To be called before the work."""
        if self.path is not None:
            check_output(self.path, inputs)

    def write(self, text: str, talk: Talk) -> None:
        """Writes a JSON text and a line break; a file appears complete or not at all."""
        if self.path is None:
            print_result(text)
        else:
            write_whole(self.path, f"{text}\n")
            talk.say(f"wrote {printable(str(self.path))}")


def json_option(help: str) -> Any:
    """The option of a command with ``cls=JsonCommand``; the type of its parameter is ``JsonOutput | None``."""
    return typer.Option(_OPTION, metavar="[FILE]", parser=JsonOutput.parse, help=help)


def file_of(json: JsonOutput | None) -> Path | None:
    """The file that ``--json`` writes; ``None`` if it writes none."""
    return None if json is None else json.path


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
                word = f"{_OPTION}={left.pop(0) if takes_next else _STDOUT}"
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
    return word == _STDOUT or not word.startswith("-")
