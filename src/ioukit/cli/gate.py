"""`ioukit gate`: may a model replace another one?"""

import contextlib
import json
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit.cli._arguments import RESULTS, MarkdownOption, ThreadsOption
from ioukit.cli._compared_models import (
    LabelOptions,
    Labels,
    labelled_files,
    models_of_files,
    refuse_about_files,
)
from ioukit.cli._data_files import Reader, ReadingOptions, input_files
from ioukit.cli._errors import bad_use
from ioukit.cli._ledger import LedgerOption, about_runs, is_ledger, ledger_and_runs
from ioukit.cli._output import AnswerOptions, write_text
from ioukit.cli._rules import RuleOptions
from ioukit.runs import Ledger, Rules, check_rules, default_rules, gate_junit, gate_markdown, read_rules

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Side(NamedTuple):
    """A model of the comparison."""

    name: str
    evaluation: Any
    """Its `Evaluation`; ``None`` for a baseline that is not given."""
    values: "Mapping[str, float]"
    """What its run keeps besides its numbers, such as a latency; files have none."""


# Long: its signature is the command line, a line or more per option.
def check_gate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[GT BASELINE CANDIDATE]",
            help="Ground truth and the detections of both models; or a ledger and its two runs.",
        ),
    ] = None,
    *,
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rules in TOML. [default: broken if the data show, with 95 % certainty, that the main number fell]",
        ),
    ] = None,
    log: LedgerOption = None,
    candidate: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="The run that may replace the baseline: B, or B@2, or an id such as @7."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="The run to compare with. Rules about the candidate alone need none."),
    ] = None,
    markdown: MarkdownOption = None,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=RESULTS, help="Also write each rule as a test, in JUnit's XML."),
    ] = None,
    labels: LabelOptions,
    evaluated: RuleOptions,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Check whether a model may replace another one: rules about its numbers and their uncertainty.

    Exit codes: 0 all rules pass, 1 a rule is broken, 2 it cannot be decided: there is no such run, the ground truth or
    the protocol differs, a number is undefined, or an option is wrong.

    Examples:
      ioukit gate gt.json main.json new.json
      ioukit gate gt.json main.json new.json --rules gate.toml --junit gate.xml
      ioukit gate runs.db --baseline main --candidate B
      ioukit gate --log runs.db --baseline main --candidate B --rules gate.toml
      ioukit gate runs.db --baseline main@-2 --candidate main --markdown "$GITHUB_STEP_SUMMARY"
      ioukit gate runs.db main B --json | jq .outcome
    """
    start = time.perf_counter()
    talk = answer.talk()
    words = list(paths or [])
    if log is None and (not words or is_ledger(words[0])):
        log, words = ledger_and_runs(None, list(map(str, words)), most=2)[0], words[1:]
    files = input_files(*words) if log is None else [log]
    with bad_use():
        read = [*files, *labelled_files(*labels), *([] if rules is None else [rules])]
        answer.check(read, {"--markdown": markdown, "--junit": junit})
        asked = None if rules is None else read_rules(rules)
        if log is None and asked is not None:
            _check_no_values(asked)
    with _defects_are_undecided():
        if log is None:
            runs = {"--candidate": candidate, "--baseline": baseline}
            reader = reading.reader(threads, talk)
            sides, groups = _of_files(files, runs, labels, evaluated, reading, reader)
        else:
            refuse_about_files((evaluated, reading))
            sides = _of_runs(log, list(map(str, words)), baseline, candidate, threads)
            groups = labels.of_runs(sides[-1].evaluation)
        labels.say(groups, talk)
        new, old = sides[-1], _Side("", None, {}) if len(sides) == 1 else sides[0]
        asked = default_rules(new.evaluation.protocol) if asked is None else asked
        with bad_use():
            if old.evaluation is None and any(rule.compares for rule in asked.rules):
                raise typer.BadParameter(f"{asked.source} compares with a baseline: name one", param_hint="--baseline")
            with talk.busy("checking the rules", tells=True):
                result = check_rules(
                    new.evaluation,
                    old.evaluation,
                    asked,
                    candidate_values=new.values,
                    baseline_values=old.values,
                    names=(new.name, old.name),
                    threads=threads,
                    **groups,
                )
    seconds = time.perf_counter() - start
    if markdown is not None:
        write_text(markdown, gate_markdown(result), talk)
    if junit is not None:
        write_text(junit, gate_junit(result, seconds=seconds), talk)
    answer.give(
        lambda: "\n".join(map(printable, result.to_text().splitlines())),
        lambda: json.dumps(result.to_dict(), allow_nan=False),
        talk,
        done=f"done {seconds:.2f} s",
        verdict=True,
    )
    raise typer.Exit(result.exit_code)


def _check_no_values(rules: Rules) -> None:
    """Refuses rules about values, which files of detections do not have.

    Raises:
        typer.BadParameter: If there is one.
    """
    for rule in rules.rules:
        if rule.metric is None:
            raise typer.BadParameter(
                f"{rules.source}: a rule is about the value {rule.value!r}, and files of detections have no values: "
                f"runs of a ledger do (`ioukit eval --log FILE --value {rule.value}=NUMBER`)",
                param_hint="--rules",
            )


def _of_files(
    files: Sequence[Path],
    runs: "Mapping[str, str | None]",
    labels: LabelOptions,
    evaluated: RuleOptions,
    reading: ReadingOptions,
    reader: Reader,
) -> tuple[list[_Side], Labels]:
    """The models of files of detections: the candidate, and before it the baseline, if there is one."""
    for option, run in runs.items():
        if run is not None:
            raise typer.BadParameter("names a run of a ledger: name the ledger with --log", param_hint=option)
    if len(files) not in (2, 3):
        raise typer.BadParameter(f"expected GT BASELINE CANDIDATE, got {pluralize(len(files), 'path')}")
    models, groups = models_of_files(files, None, evaluated, reading, reader, labels, least=1)
    return [_Side(name, evaluation, {}) for name, evaluation in models.items()], groups


def _of_runs(
    log: Path, words: list[str], baseline: str | None, candidate: str | None, threads: int | None
) -> list[_Side]:
    """The runs of a ledger, in the same way, by their options or in their order."""
    if candidate is None and words:
        candidate = words.pop()
    if baseline is None and words:
        baseline = words.pop()
    if words:
        raise typer.BadParameter(f"both runs are named already, got {words[0]!r}, too")
    if candidate is None:
        raise typer.BadParameter("name the run that may replace the baseline", param_hint="--candidate")
    ledger = Ledger(log)
    with about_runs():
        found = [ledger.run(name) for name in (baseline, candidate) if name is not None]
        return [_Side(run.reference, ledger.evaluation(run, threads=threads), run.values) for run in found]


@contextlib.contextmanager
def _defects_are_undecided() -> Iterator[None]:
    """Ends with exit code 2 and the traceback after an error that nobody expected.

    Python's own exit code would be 1, which says that a rule is broken.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (typer.Exit, typer.Abort, *typer.BadParameter.__bases__)):
            raise
        traceback.print_exc()
        raise typer.Exit(2) from None
