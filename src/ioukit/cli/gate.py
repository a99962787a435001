"""`ioukit gate`: may a run of a ledger replace another one?"""

import contextlib
import json as json_module
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ioukit.cli._arguments import QuietOption, ThreadsOption
from ioukit.cli._errors import bad_output, bad_use
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._ledger import LedgerOption, about_runs
from ioukit.cli._output import print_result, printable, write_markdown, write_whole
from ioukit.cli._result_files import check_outputs
from ioukit.cli._talk import Talk
from ioukit.runs import Ledger, Rules, check_rules, default_rules, gate_junit, gate_markdown, read_rules

__all__ = ["EXAMPLES", "check_gate"]

EXAMPLES = """\b
Examples:
  ioukit gate --log runs.db --baseline main --candidate B
  ioukit gate --log runs.db --baseline main --candidate B --rules gate.toml
  ioukit gate --log runs.db --baseline main@-2 --candidate main --markdown "$GITHUB_STEP_SUMMARY"
  ioukit gate --log runs.db --baseline main --candidate B --junit gate.xml --json | jq .outcome

Exit codes: 0 all rules pass, 1 a rule is broken, 2 it cannot be decided: there is no such run,
the ground truth or the protocol differs, a number is undefined, or an option is wrong.
"""


def check_gate(
    *,
    log: LedgerOption,
    candidate: Annotated[
        str, typer.Option(metavar="RUN", help="The run that may replace the baseline: B, or B@2, or an id such as @7.")
    ],
    baseline: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="The run to compare with. Rules about the candidate alone need none."),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rules in TOML. [default: the main number may not fall, with a certainty of 95 %]"
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the result as Markdown, for a pull request. If FILE is that of $GITHUB_STEP_SUMMARY, the "
            "text is appended.",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write each rule as a test, in JUnit's XML.")
    ] = None,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the text; with FILE, write it there and print the text."),
    ] = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Check whether a run may replace another one: rules about its numbers and their uncertainty."""
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    ledger = Ledger(log)
    inputs = [log] if rules is None else [log, rules]
    with bad_use():
        check_outputs({"--markdown": markdown, "--junit": junit, "--json": file_of(json)}, inputs)
        asked = None if rules is None else read_rules(rules)
    with _defects_are_undecided():
        with about_runs():
            of_candidate = ledger.run(candidate)
            of_baseline = None if baseline is None else ledger.run(baseline)
            first = ledger.evaluation(of_candidate, threads=threads)
            second = None if of_baseline is None else ledger.evaluation(of_baseline, threads=threads)
        asked = default_rules(first.protocol) if asked is None else asked
        with bad_use():
            _check_baseline(asked, baseline)
            result = check_rules(
                first,
                second,
                asked,
                candidate_values=of_candidate.values,
                baseline_values={} if of_baseline is None else of_baseline.values,
                names=(of_candidate.reference, "" if of_baseline is None else of_baseline.reference),
                threads=threads,
            )
    seconds = time.perf_counter() - start
    with bad_output():
        if markdown is not None:
            write_markdown(markdown, gate_markdown(result))
            talk.say(f"wrote {printable(str(markdown))}")
        if junit is not None:
            write_whole(junit, gate_junit(result, seconds=seconds))
            talk.say(f"wrote {printable(str(junit))}")
        if json is not None:
            json.write(json_module.dumps(result.to_dict(), allow_nan=False), talk)
    if json is None or json.path is not None:
        print_result("\n".join(map(printable, result.to_text().splitlines())))
    talk.say(f"done {seconds:.2f} s")
    raise typer.Exit(result.exit_code)


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


def _check_baseline(rules: Rules, baseline: str | None) -> None:
    """Refuses rules that need a baseline, if there is none."""
    if baseline is None and any(rule.compares for rule in rules.rules):
        raise typer.BadParameter(f"{rules.source} compares with a baseline: name a run", param_hint="--baseline")
