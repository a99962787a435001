"""`ioukit gate`: may a run of a ledger replace another one?"""

import contextlib
import json
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import printable
from ioukit.cli._arguments import MarkdownOption, ThreadsOption
from ioukit.cli._errors import bad_use
from ioukit.cli._ledger import LedgerOption, about_runs
from ioukit.cli._output import AnswerOptions, write_text
from ioukit.runs import Ledger, check_rules, default_rules, gate_junit, gate_markdown, read_rules


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
    markdown: MarkdownOption = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write each rule as a test, in JUnit's XML.")
    ] = None,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Check whether a run may replace another one: rules about its numbers and their uncertainty.

    Exit codes: 0 all rules pass, 1 a rule is broken, 2 it cannot be decided: there is no such run, the ground truth or
    the protocol differs, a number is undefined, or an option is wrong.

    Examples:
      ioukit gate --log runs.db --baseline main --candidate B
      ioukit gate --log runs.db --baseline main --candidate B --rules gate.toml
      ioukit gate --log runs.db --baseline main@-2 --candidate main --markdown "$GITHUB_STEP_SUMMARY"
      ioukit gate --log runs.db --baseline main --candidate B --junit gate.xml --json | jq .outcome
    """
    start = time.perf_counter()
    talk = answer.talk()
    ledger = Ledger(log)
    with bad_use():
        answer.check([log, *([] if rules is None else [rules])], {"--markdown": markdown, "--junit": junit})
        asked = None if rules is None else read_rules(rules)
    with _defects_are_undecided():
        with about_runs():
            of_candidate = ledger.run(candidate)
            of_baseline = None if baseline is None else ledger.run(baseline)
            first = ledger.evaluation(of_candidate, threads=threads)
            second = None if of_baseline is None else ledger.evaluation(of_baseline, threads=threads)
        asked = default_rules(first.protocol) if asked is None else asked
        with bad_use():
            if baseline is None and any(rule.compares for rule in asked.rules):
                raise typer.BadParameter(
                    f"{asked.source} compares with a baseline: name a run", param_hint="--baseline"
                )
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
    if markdown is not None:
        write_text(markdown, gate_markdown(result), talk)
    if junit is not None:
        write_text(junit, gate_junit(result, seconds=seconds), talk)
    answer.give(
        lambda: "\n".join(map(printable, result.to_text().splitlines())),
        lambda: json.dumps(result.to_dict(), allow_nan=False),
        talk,
        done=f"done {seconds:.2f} s",
    )
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
