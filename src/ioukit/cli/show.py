"""`ioukit show`: one run of a ledger."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit._output import printable
from ioukit.cli._arguments import BestAndWorstOption, ThreadsOption
from ioukit.cli._errors import bad_input, bad_output, bad_use
from ioukit.cli._ledger import LedgerOption, about_runs, describe_run, ledger_and_runs
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOption, ReportOptions
from ioukit.cli._tables import analyse, evaluation_table
from ioukit.runs import Ledger


def show_run(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[LEDGER] RUN", help="The ledger, and a run of it: a name such as B, or B@2, or an id such as @7."
        ),
    ],
    *,
    log: LedgerOption = None,
    per_class: BestAndWorstOption = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Show also the error kinds of TIDE and the score of the best F1.")
    ] = False,
    report: ReportOption = None,
    save_table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the match table, which ioukit.evaluation.load_table reads."),
    ] = None,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Show a run of a ledger, the file of `ioukit eval --log FILE`: where it comes from, and all its numbers.

    Examples:
      ioukit show runs.db B
      ioukit show runs.db B@2 --per-class
      ioukit show runs.db B --errors
      ioukit show runs.db B --report report.html
      ioukit show runs.db B --json | jq .summary.AP
      ioukit show runs.db B --save-table matches.npz
    """
    talk, page = answer.talk(), ReportOptions(report)
    log, (run,) = ledger_and_runs(log, words, 1, 1)
    ledger = Ledger(log)
    with bad_use():
        page.check([log])
        answer.check([log], {"--report": report, "--save-table": save_table})
    with about_runs():
        found = ledger.run(run)
        evaluation = ledger.evaluation(found, threads=threads)
    with bad_input(ValueError):
        analysis = analyse(evaluation, threads=threads) if errors else None
    sections: dict[str, Any] = {} if analysis is None else {"analysis": analysis}
    if save_table is not None:
        from ioukit.evaluation import save_table as save  # noqa: PLC0415 - only this option needs it

        with bad_output():
            save(evaluation.matches, save_table)
        talk.say(f"wrote {printable(str(save_table))}")
    page.write("write_report", evaluation, evaluation.ground_truth, talk, threads=threads)
    about = {**found.to_dict(), "settings": dict(found.settings)}
    answer.give(
        lambda: f"{describe_run(found)}\n\n{evaluation_table(evaluation, analysis, every=per_class)}",
        lambda: json.dumps({"run": about, **evaluation.to_dict(), **sections}, allow_nan=False),
        talk,
    )
