"""A command: how its words are read, which words a mistake is answered with, and what its help shows.

Owns: `Command`, the optional value of ``--json``, and ``--help-all``. Does not own: what an option means, nor the texts
of help and mistakes, which are imported when they are asked for (`_help.py`, `_mistakes.py`): a command that is typed
right waits for none of them.
"""

import os
from typing import Any

import typer
from typer.core import TyperCommand

from ioukit.cli._output import JSON, STDOUT, is_answer

ALL = "--help-all"
COMPLETE = "_IOUKIT_COMPLETE"
"""The variable by which a shell asks for what completes its line; Typer makes its name of that of the program."""


CommandError: Any = typer.BadParameter.mro()[2]
"""What Typer raises for words that it does not take. Typer names it since 0.28; before 0.26 it is Click's."""


class Command(TyperCommand):
    """A command whose ``--json``, if it has one, has an optional value.

    - ``--json=FILE`` writes the file, ``--json=-`` and ``--json`` alone write to standard output.
    - ``--json FILE`` writes the file if the words before it give every argument a value, or if all other words do and
      FILE can be nothing to read: there is no such file yet, or an earlier answer. Otherwise the next word is an
      argument, so that ``ioukit eval --json gt.json dt.json`` never overwrites ``gt.json``.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if ALL in args:
            ctx.meta[ALL] = True
            args = ["--help"]
        try:
            left = super().parse_args(ctx, [*self._with_json(ctx, args)])
            for param in self.params:
                given = ctx.params.get(param.name or "")
                words = given if isinstance(given, list | tuple) else [given]
                if param.param_type_name == "argument" and "" in words:
                    raise typer.BadParameter("got an empty word: is a variable of the shell not set?", ctx, param)
            return left
        except CommandError as error:
            from ioukit.cli._mistakes import explain  # noqa: PLC0415 - for a mistake

            explain(error, self, ctx, args)
            raise

    def _with_json(self, ctx: typer.Context, args: list[str]) -> list[str]:
        """The words with a value behind each ``--json``."""
        if JSON not in args or not any(JSON in param.opts for param in self.params):
            return args
        words: list[str] = []
        left = list(args)
        while left:
            word = left.pop(0)
            if word == "--":
                return [*words, word, *left]
            if word == JSON:
                word = f"{JSON}={left.pop(0) if left and self._is_file(ctx, words, *left) else STDOUT}"
            words.append(word)
        return words

    def _is_file(self, ctx: typer.Context, before: list[str], word: str, *behind: str) -> bool:
        """Whether a word behind ``--json`` is the file to write, and no argument."""
        if word != "-" and word.startswith("-"):
            return False
        if self._arguments(ctx, before)[0]:
            return True
        rest = [one for one in behind if one != JSON]
        given, _ = self._arguments(ctx, [*before, *rest])
        _, too_many = self._arguments(ctx, [*before, word, *rest])
        return given and (is_answer(word) if os.path.lexists(word) else too_many or word.endswith(".json"))

    def _arguments(self, ctx: typer.Context, words: list[str]) -> tuple[bool, bool]:
        """Whether the words give each required argument a value, and each list one at least; whether some are left."""
        resilient, ctx.resilient_parsing = ctx.resilient_parsing, True  # required words may be missing
        try:
            values, left, _ = self.make_parser(ctx).parse_args(list(words))
        finally:
            ctx.resilient_parsing = resilient
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        # Without this, the first of several optional files would be overwritten. Names of runs are no files.
        needed = [param for param in arguments if param.required or (param.nargs == -1 and not values.get("log"))]
        found = [values.get(param.name or "") for param in needed]
        # Versions of Click have different objects for no value; a list without values is an empty tuple.
        return all(isinstance(value, str | tuple) and value != () for value in found), bool(left)

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        from ioukit.cli._help import write_options  # noqa: PLC0415 - for those who ask

        write_options(self, ctx, formatter, every=ALL in ctx.meta)

    def format_epilog(self, _: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        from ioukit.cli._help import write_examples  # noqa: PLC0415 - for those who ask

        write_examples(self.epilog, formatter)
