"""What `ioukit eval` does with its numbers besides printing them: checks, tables, JUnit, Markdown, trackers, ledger.

Owns: `SendingOptions` and `TablesOptions`, their checks before the work, and what they do after it. Does not own: the
ledger (`_ledger.py`), the report (`_report.py`), nor the trackers (`ioukit.experiment_logs`).

`Sending` exists for every evaluation, and does nothing for options that are not given. It imports what an option needs
when the option is given: a plain evaluation waits for none of it.
"""

import contextlib
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ioukit._optional import import_extra
from ioukit._output import check_output, check_place, printable
from ioukit.cli._arguments import RESULTS, RUNS
from ioukit.cli._errors import bad_output, bad_value, end_command, missing_extra
from ioukit.cli._ledger import LogOptions
from ioukit.cli._output import STDOUT, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.cli._output import AnswerOptions
    from ioukit.cli._streams import Talk
    from ioukit.evaluation import Evaluation, RequirementResult
    from ioukit.evaluation.requirements import Requirement
    from ioukit.statistics import Interval


class TablesOptions(NamedTuple):
    """The tables that an evaluation writes to a folder."""

    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write tables to a new folder: a file for the numbers per class, image, detection, object and "
            "point of a curve.",
        ),
    ] = None
    tables_format: Annotated[
        Literal["csv", "parquet"] | None, typer.Option(help="With --tables: the files to write. [default: csv]")
    ] = None

    def check(self, files: "Sequence[Path | None]") -> None:
        """Refuses, before the work, a folder that could not be written after it.

        Args:
            files: What the command reads, and the other files that it writes.

        Raises:
            typer.BadParameter: If one of the options is wrong. It names the option.
            typer.Exit: If a package that the format needs is not installed, after a message.
        """
        folder = self.tables
        if folder is None:
            if self.tables_format is not None:
                raise typer.BadParameter("--tables-format needs --tables, the folder to write")
            return
        with bad_value("--tables"):
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise ValueError(f"{folder} exists: expected a new or an empty folder")
            target = os.path.realpath(folder)
            if any(file is not None and os.path.realpath(file) == target for file in files):
                raise ValueError(f"{folder} is the file of another option, too")
            check_place(folder)
        if self.tables_format == "parquet":
            with missing_extra():
                import_extra("pyarrow", extra="tables", needed_by="--tables-format parquet")

    def write(self, evaluation: "Evaluation", talk: "Talk") -> None:
        """Writes the tables, if they are asked for, at the main IoU threshold and area range of the protocol."""
        if self.tables is None:
            return
        from ioukit.evaluation import write_tables  # noqa: PLC0415 - a plain evaluation should not wait for it

        with bad_output(), talk.busy("writing tables"):
            written = write_tables(evaluation, self.tables, format=self.tables_format or "csv")
        talk.say(f"wrote {printable(str(self.tables))}  {len(written)} tables")
        if all(path.stem != "curves" for path in written):
            talk.say("left out the table of curves, which has more than ten million rows")


class SendingOptions(NamedTuple):
    """What the numbers must reach, and where else they go."""

    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=RESULTS,
            help="Also write numbers and worst classes as Markdown; - prints it instead of the tables. The file of "
            "$GITHUB_STEP_SUMMARY is appended to.",
        ),
    ] = None
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=NUMBER",
            help="Exit with 1 if the metric is lower or undefined: AP=0.4, AP50/person=0.6. Can be repeated.",
        ),
    ] = None
    at_most: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=NUMBER", help="Exit with 1 if the metric is higher or undefined, as MR-2=0.5."),
    ] = None
    junit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the checks of --at-least and --at-most as tests, in JUnit's XML."
        ),
    ] = None
    log_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN",
            rich_help_panel=RUNS,
            help="Also send numbers to a tracker: FILE.jsonl for JSON lines, mlflow[:URI] or wandb[:PROJECT] with "
            "figures and report. Can be repeated.",
        ),
    ] = None

    def requirements(self) -> "list[Requirement]":
        """What the numbers must reach, from texts such as ``AP=0.4`` and ``AP50/person=0.6``, each once.

        Raises:
            typer.BadParameter: If a text is not a name and a number. It names the option.
        """
        sides: list[tuple[Literal["at_least", "at_most"], list[str]]]
        sides = [("at_least", self.at_least or []), ("at_most", self.at_most or [])]
        found = []
        for kind, words in sides:
            with bad_value(_option(kind)):
                found += [_requirement(word, kind) for word in words]
        return list(dict.fromkeys(found))


class Sending:
    """What the options ask for, checked before the work, and the results of the checks.

    Args:
        options: What the numbers must reach, and where else they go.
        log: The run of the ledger.
        inputs: Ground truth and detections.
        report: The file of ``--report``.
        answer: Where the answer goes.

    Raises:
        typer.BadParameter: If one of the options is wrong, or a file could not be written. It names the option.
        typer.Exit: If the ledger could not be written, after a message.
    """

    def __init__(
        self,
        options: SendingOptions,
        log: LogOptions,
        inputs: "Sequence[Path]",
        report: Path | None,
        answer: "AnswerOptions",
    ) -> None:
        self.options, self.inputs = options, inputs
        self.markdown = None if options.markdown == STDOUT else options.markdown
        self.required = options.requirements()
        self.results: tuple[RequirementResult, ...] = ()
        if options.junit is not None and not self.required:
            raise typer.BadParameter("needs --at-least or --at-most: they are its tests", param_hint="--junit")
        if options.junit == STDOUT:
            raise typer.BadParameter("cannot go to standard output: name a file", param_hint="--junit")
        if options.markdown == answer.json == STDOUT:
            raise typer.BadParameter("standard output has the JSON already: name a file", param_hint="--markdown")
        for address in options.log_to or ():
            with bad_value("--log-to"):
                _check_address(address, inputs)
        self.files = {"--report": report, "--markdown": self.markdown, "--junit": options.junit, "--log": log.log}
        answer.check(inputs, self.files)
        self.run = log.prepared()

    def checked(self, evaluation: "Evaluation") -> list[dict[str, Any]]:
        """Compares the numbers with what is required. Returns the results for JSON.

        Raises:
            typer.BadParameter: If the evaluation has no such metric. It names the option.
        """
        if self.run is not None:
            self.run.check(evaluation)
        for requirement in self.required:
            from ioukit.evaluation.requirements import check_requirements  # noqa: PLC0415 - as above

            with bad_value(_option(requirement.kind)):
                self.results += tuple(check_requirements(evaluation, [requirement]))
        return [
            {
                "metric": one.requirement.metric,
                one.requirement.kind: one.requirement.threshold,
                "value": None if math.isnan(one.value) else one.value,
                "met": one.met,
            }
            for one in self.results
        ]

    def send(
        self,
        evaluation: "Evaluation",
        intervals: "Mapping[str, Interval]",
        talk: "Talk",
        *,
        seconds: float,
        threads: int | None,
        settings: "Mapping[str, Any]",
    ) -> None:
        """Adds the run to the ledger, writes the files, and sends to the trackers.

        Args:
            evaluation: What to send.
            intervals: Those of its numbers that were asked for, which the ledger keeps.
            talk: Where to report what was written.
            seconds: How long the evaluation took.
            threads: How many threads; all cores if ``None``.
            settings: The options that decided the numbers.

        Raises:
            typer.Exit: If a file cannot be written or a tracker fails, after a message.
        """
        if self.run is not None:
            self.run.add(evaluation, intervals, self.inputs, settings, talk, threads)
        if self.options.junit is not None:
            from ioukit.experiment_logs import junit_xml  # noqa: PLC0415 - as above

            write_text(self.options.junit, junit_xml(evaluation, self.results, seconds=seconds), talk)
        if self.markdown is not None:
            write_text(self.markdown, f"{self._markdown(evaluation)}\n", talk)
        for address in self.options.log_to or ():
            _log(evaluation, address, talk, threads)

    def text(self, evaluation: "Evaluation", tables: str) -> str:
        """What is printed: the tables and a line per requirement, or the Markdown."""
        if self.options.markdown == STDOUT:
            return self._markdown(evaluation)
        lines = [f"{'passed' if one.met else 'failed'}  {printable(str(one))}" for one in self.results]
        return "\n\n".join([tables, *(["\n".join(lines)] if lines else [])])

    def exit(self, talk: "Talk", *, printed: bool) -> None:
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

    def _markdown(self, evaluation: "Evaluation") -> str:
        from ioukit.report import markdown_summary  # noqa: PLC0415 - as above

        return markdown_summary(evaluation, requirements=self.results).rstrip("\n")


def _option(kind: str) -> str:
    return f"--{kind.replace('_', '-')}"


def _requirement(word: str, kind: Literal["at_least", "at_most"]) -> "Requirement":
    from ioukit.evaluation.requirements import Requirement  # noqa: PLC0415 - as above

    metric, sign, number = word.rpartition("=")  # the name of a class may have the sign, too
    if not sign or not metric.strip():
        raise ValueError(f"expected a metric and a number, such as AP=0.4, got {word!r}")
    try:
        threshold = float(number)
    except ValueError:
        raise ValueError(f"the threshold of {metric} must be a number, got {number!r}") from None
    return Requirement(metric.strip(), threshold, kind)


def _check_address(address: str, inputs: "Sequence[Path]") -> None:
    """Refuses an address of no tracker, and a file of JSON lines that could not be written."""
    from ioukit.experiment_logs.json_lines import TRACKER  # noqa: PLC0415 - as above

    _start_run(address)
    if TRACKER.recognises(address):
        check_output(Path(address), inputs)


def _log(evaluation: "Evaluation", address: str, talk: "Talk", threads: int | None) -> None:
    from ioukit.experiment_logs import TrackerError  # noqa: PLC0415 - as above

    with contextlib.ExitStack() as stack:
        stack.enter_context(missing_extra())
        try:
            run = stack.enter_context(_start_run(address))
            logged = evaluation.log_to(run, errors="raise", threads=threads)
        except ModuleNotFoundError:
            raise
        except TrackerError as error:
            end_command(f"--log-to {address}: {error}")
        except Exception as error:  # of a tracker that does not start a run, whatever its class
            end_command(f"--log-to {address}: {type(error).__name__}: {error}")
    for note in logged.notes:
        talk.say(printable(note))
    talk.say(f"sent {len(logged.numbers):,} numbers to {printable(address)}")


def _start_run(address: str) -> contextlib.AbstractContextManager[Any]:
    """The run for an address: the path of a file of JSON lines, or the word of a tracker, with a colon and more.

    Raises:
        ValueError: If there is no such tracker.
    """
    from ioukit.experiment_logs.registry import TRACKERS  # noqa: PLC0415 - as above

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
