"""`--log`, `--name`, `--tag`, `--value`: an evaluation as a run of a ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import check_output, printable
from ioukit.cli._standard_input import STANDARD_INPUT
from ioukit.runs import Ledger
from ioukit.runs.ledger.naming import check_name, check_tags, check_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ioukit.cli._talk import Talk
    from ioukit.evaluation import Evaluation

__all__ = ["RunLog", "parse_tags"]


class RunLog:
    """The run that the options ask for.

    Args:
        log: The ledger.
        name: The name of the run.
        tags: Texts such as ``lr=1e-3``.
        values: Texts such as ``latency=12.3``.

    Raises:
        typer.BadParameter: If one of the options is wrong. It names the option.
    """

    def __init__(
        self, *, log: Path | None, name: str | None, tags: Sequence[str] | None, values: Sequence[str] | None
    ) -> None:
        if log is None:
            given = {"--name": name, "--tag": tags, "--value": values}
            option = next(option for option, value in given.items() if value)
            raise typer.BadParameter("needs --log: the ledger that keeps the run", param_hint=option)
        if name is None:
            raise typer.BadParameter("needs --name: the name of the run in the ledger", param_hint="--log")
        self.ledger = Ledger(log)
        with bad_value("--name"):
            self.name = check_name(name)
        with bad_value("--tag"):
            self.tags = check_tags(_pairs(tags or ()))
        with bad_value("--value"):
            self.values = check_values({key: _number(key, text) for key, text in _pairs(values or ()).items()})

    def check(self, inputs: Sequence[Path], taken: Sequence[Path]) -> None:
        """Refuses, before the work, a ledger that could not be written after it.

        Args:
            inputs: Files that are read.
            taken: Files that other options write.

        Raises:
            typer.BadParameter: If the ledger is one of the other files.
            typer.Exit: If it cannot be written or is no ledger, after a message.
        """
        with bad_value("--log"):
            check_output(Path(self.ledger.path), inputs)
            if any(os.path.realpath(self.ledger.path) == os.path.realpath(other) for other in taken):
                raise ValueError(f"{self.ledger.path} is the file of another option, too")
        with bad_use():
            self.ledger.check_writable()

    def add(
        self,
        evaluation: Evaluation,
        inputs: Sequence[Path],
        options: Mapping[str, Any],
        talk: Talk,
        threads: int | None,
    ) -> None:
        """Adds the run, and says how it is referred to.

        Raises:
            typer.Exit: If that fails, after a message.
        """
        roles = dict(zip(("ground_truth", "detections"), inputs, strict=True))
        given = {key: value for key, value in options.items() if value not in (None, False)}
        with bad_input(), bad_output():
            run = self.ledger.add(
                evaluation,
                name=self.name,
                tags=self.tags,
                values=self.values,
                options=given,
                inputs={role: path for role, path in roles.items() if path != STANDARD_INPUT},
                threads=threads,
            )
        talk.say(f"logged {printable(run.reference)} (id {run.id}) in {printable(self.ledger.path)}")


def parse_tags(words: Iterable[str]) -> dict[str, str | None]:
    """Tags to look for, from ``lr=1e-3``, or ``lr`` for any text."""
    split = [word.partition("=") for word in words]
    return {key: text if sign else None for key, sign, text in split}


def _pairs(words: Sequence[str]) -> dict[str, str]:
    """What ``lr=1e-3`` gives; a name alone has an empty text."""
    found: dict[str, str] = {}
    for word in words:
        key, _, text = word.partition("=")
        if found.setdefault(key, text) != text:
            raise ValueError(f"{key!r} is given twice: {found[key]!r} and {text!r}")
    return found


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{key!r} must have a number, as in latency=12.3, got {text!r}") from None
