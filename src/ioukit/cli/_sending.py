"""`--at-least`, `--at-most`, `--junit`, `--markdown`, `--log-to`, `--log`: checks, and where else the numbers go."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ioukit.cli._errors import bad_output, bad_value, missing_extra
from ioukit.cli._output import check_output, printable, write_markdown, write_whole
from ioukit.cli._requirements import check_numbers, parse_requirements, requirements_table, requirements_to_list
from ioukit.experiment_logs import TrackerError, junit_xml
from ioukit.experiment_logs.json_lines import TRACKER as JSON_LINES
from ioukit.experiment_logs.registry import TRACKERS
from ioukit.report import markdown_summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.cli._json import JsonOutput
    from ioukit.cli._run_log import RunLog
    from ioukit.cli._talk import Talk
    from ioukit.evaluation import Evaluation, RequirementResult

__all__ = ["Sending"]

_STDOUT = Path("-")


class Sending:
    """What the options ask for, and the results of the checks.

    Args:
        markdown: The file; ``-`` for standard output.
        junit: The file.
        log_to: Addresses of runs.
        at_least: Texts such as ``AP=0.4``.
        at_most: The same.
        run: The arguments of `RunLog`.

    Raises:
        typer.BadParameter: If one of the options is wrong. It names the option.
    """

    def __init__(
        self,
        *,
        markdown: Path | None,
        junit: Path | None,
        log_to: Sequence[str] | None,
        at_least: Sequence[str] | None,
        at_most: Sequence[str] | None,
        run: Mapping[str, Any],
    ) -> None:
        self.markdown, self.junit, self.log_to = markdown, junit, log_to or ()
        self.required = parse_requirements(at_least or (), at_most or ())
        self.results: tuple[RequirementResult, ...] = ()
        if junit is not None and not self.required:
            raise typer.BadParameter("needs --at-least or --at-most: they are its tests", param_hint="--junit")
        for address in self.log_to:
            with bad_value("--log-to"):
                _started(address)
        self.run = _run(run)

    @property
    def prints_markdown(self) -> bool:
        """Whether the Markdown goes to standard output, in place of the tables."""
        return self.markdown == _STDOUT

    def check_files(self, inputs: Sequence[Path], report: Path | None, json: JsonOutput | None) -> None:
        """Refuses, before the work, files that could not be written after it.

        Raises:
            typer.BadParameter: If there is one. It names the option.
        """
        if self.prints_markdown and json is not None and json.path is None:
            raise typer.BadParameter("standard output has the JSON already: name a file", param_hint="--markdown")
        if self.junit == _STDOUT:
            raise typer.BadParameter("cannot go to standard output: name a file", param_hint="--junit")
        taken = [path for path in (report, None if json is None else json.path) if path is not None]
        for option, path in (("--markdown", self.markdown), ("--junit", self.junit)):
            if path is None or path == _STDOUT:
                continue
            with bad_value(option):
                check_output(path, inputs)
                if any(os.path.realpath(path) == os.path.realpath(other) for other in taken):
                    raise ValueError(f"{path} is the file of another option, too")
            taken.append(path)
        for address in self.log_to:
            if JSON_LINES.recognises(address):
                with bad_value("--log-to"):
                    check_output(Path(address), inputs)
        if self.run is not None:
            self.run.check(inputs, taken)

    def checked(self, evaluation: Evaluation) -> list[dict[str, Any]]:
        """Compares the numbers with what is required. Returns the results for JSON.

        Raises:
            typer.BadParameter: If the evaluation has no such metric. It names the option.
        """
        self.results = check_numbers(evaluation, self.required)
        return requirements_to_list(self.results)

    def send(
        self,
        evaluation: Evaluation,
        talk: Talk,
        *,
        seconds: float,
        threads: int | None,
        inputs: Sequence[Path],
        settings: Mapping[str, Any],
    ) -> None:
        """Adds the run to the ledger, writes the files, and sends to the trackers.

        Args:
            evaluation: What to send.
            talk: Where to report what was written.
            seconds: How long the evaluation took.
            threads: How many threads; all cores if ``None``.
            inputs: Ground truth and detections.
            settings: The options that decided the numbers.

        Raises:
            typer.Exit: If a file cannot be written or a tracker fails, after a message.
        """
        if self.run is not None:
            self.run.add(evaluation, inputs, settings, talk, threads)
        if self.junit is not None:
            with bad_output():
                write_whole(self.junit, junit_xml(evaluation, self.results, seconds=seconds))
            talk.say(f"wrote {printable(str(self.junit))}")
        if self.markdown is not None and not self.prints_markdown:
            with bad_output():
                write_markdown(self.markdown, f"{self.markdown_of(evaluation)}\n")
            talk.say(f"wrote {printable(str(self.markdown))}")
        for address in self.log_to:
            _log(evaluation, address, talk, threads)

    def markdown_of(self, evaluation: Evaluation) -> str:
        """The Markdown, without a line break at its end."""
        return markdown_summary(evaluation, requirements=self.results).rstrip("\n")

    def text(self, evaluation: Evaluation, tables: str) -> str:
        """What is printed: the tables and that of the checks, or the Markdown."""
        if self.prints_markdown:
            return self.markdown_of(evaluation)
        return f"{tables}\n\n{requirements_table(self.results)}" if self.results else tables

    def exit(self, talk: Talk, *, printed: bool) -> None:
        """Ends the command with exit code 1 if a number does not reach what is required.

        Args:
            talk: Names the numbers that do not.
            printed: Whether standard output names them already.
        """
        failed = [result for result in self.results if not result.met]
        for result in [] if printed else failed:
            talk.say(f"failed {printable(str(result))}")
        if failed:
            raise typer.Exit(1)


def _run(options: Mapping[str, Any]) -> RunLog | None:
    if not any(options.values()):
        return None
    from ioukit.cli._run_log import RunLog  # noqa: PLC0415 - only ledgers need it

    return RunLog(**options)


def _log(evaluation: Evaluation, address: str, talk: Talk, threads: int | None) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(missing_extra())
        try:
            run = stack.enter_context(_started(address))
            logged = evaluation.log_to(run, errors="raise", threads=threads)
        except ModuleNotFoundError:
            raise
        except TrackerError as error:
            _end(address, str(error))
        except Exception as error:  # of a tracker that does not start a run, whatever its class
            _end(address, f"{type(error).__name__}: {error}")
    for note in logged.notes:
        talk.say(printable(note))
    talk.say(f"sent {len(logged.numbers):,} numbers to {printable(address)}")


def _end(address: str, message: str) -> NoReturn:
    typer.echo(f"Error: --log-to {printable(address)}: {printable(message)}", err=True)
    raise typer.Exit(2) from None


def _started(address: str) -> contextlib.AbstractContextManager[Any]:
    """The run for an address: the path of a file of JSON lines, or the word of a tracker, with a colon and more.

    Raises:
        ValueError: If there is no such tracker.
    """
    for tracker in TRACKERS:
        word, _, rest = address.partition(":")
        if tracker.scheme and tracker.started is not None and word == tracker.scheme:
            return tracker.started(rest)
        if tracker.recognises(address):
            return contextlib.nullcontext(address)
    words = ", ".join(f"{tracker.scheme}[:ADDRESS]" for tracker in TRACKERS if tracker.started is not None)
    raise ValueError(
        f"expected a file that ends with .jsonl, or {words}, got {address!r}; "
        "in Python, evaluation.log_to takes the runs of other trackers, too"
    )
