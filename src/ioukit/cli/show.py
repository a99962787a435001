"""`ioukit show`: one run of a ledger."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit.cli._analysis import analyse, analysis_table
from ioukit.cli._arguments import QuietOption, ThreadsOption
from ioukit.cli._class_table import class_table
from ioukit.cli._errors import bad_input, bad_output, bad_use
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._ledger import LedgerOption, about_runs, described
from ioukit.cli._output import print_result, printable
from ioukit.cli._report import check_report, write_report
from ioukit.cli._result_files import check_outputs
from ioukit.cli._talk import Talk
from ioukit.runs import Ledger

__all__ = ["EXAMPLES", "show_run"]

EXAMPLES = """\b
Examples:
  ioukit show --log runs.db B
  ioukit show --log runs.db B@2 --per-class
  ioukit show --log runs.db B --errors
  ioukit show --log runs.db B --report report.html
  ioukit show --log runs.db B --json | jq .summary.AP
  ioukit show --log runs.db B --save-table matches.npz
"""


def show_run(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A name such as B, or B@2, or an id such as @7.")],
    *,
    log: LedgerOption,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not the best and worst five.")
    ] = False,
    errors: Annotated[
        bool,
        typer.Option("--errors", help="Show also the error kinds of TIDE and the score of the best F1."),
    ] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write one HTML page to look at: curves, errors.")
    ] = None,
    save_table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the match table, which ioukit.evaluation.load_table reads."),
    ] = None,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the text; with FILE, write it there and print the text."),
    ] = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show a run of a ledger: where it comes from, and all its numbers."""
    talk = Talk(quiet=quiet)
    ledger = Ledger(log)
    with bad_use():
        check_report(report, None, [log], file_of(json))
        check_outputs({"--json": file_of(json), "--report": report, "--save-table": save_table}, [log])
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
    if report is not None:
        write_report(evaluation, report, None, threads, talk, long=False)
    if json is not None:
        about = {**found.to_dict(), "settings": dict(found.settings)}
        with bad_output():
            json.write(json_module.dumps({"run": about, **evaluation.to_dict(), **sections}, allow_nan=False), talk)
    if json is None or json.path is not None:
        tables = [described(found), evaluation.table()]
        if evaluation.per_class:
            tables.append(class_table(evaluation.per_class, evaluation.protocol, every=per_class))
        if analysis is not None:
            tables.append(analysis_table(analysis))
        print_result("\n\n".join(tables))
