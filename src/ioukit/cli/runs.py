"""`ioukit runs`: the runs of a ledger."""

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import aligned, printable, terminal_width
from ioukit.cli._errors import bad_output, bad_use
from ioukit.cli._ledger import LedgerOption, about_runs, ledger_and_runs, number_text, pairs_text, parse_tags
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOption, ReportOptions
from ioukit.runs import Ledger, Run
from ioukit.runs.ledger.selected_runs import group_of, number_of

_SHOWN = 3  # numbers of the summary, if no columns are asked for


def list_runs(
    path: Annotated[
        Path | None, typer.Argument(metavar="[LEDGER]", help="The ledger, made by `ioukit eval --log`.")
    ] = None,
    *,
    log: LedgerOption = None,
    name: Annotated[
        str | None, typer.Option(metavar="PATTERN", help="Only runs with this name; * matches any text, as in yolo-*.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=TEXT]", help="Only runs with this tag. Can be repeated: a run must have all."),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Sort by a number such as AP, a value, name or created; -AP: the highest first."
        ),
    ] = None,
    last: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the last N runs, after sorting.")] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="The numbers to show: AP,APs,latency. [default: the first three, all values]"
        ),
    ] = None,
    delete: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Delete this run; nothing is listed then. Can be repeated: all or none."),
    ] = None,
    report: ReportOption = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also copy the runs that are listed into this ledger.")
    ] = None,
    answer: AnswerOptions,
) -> None:
    """List the runs of a ledger, the file of `ioukit eval --log FILE`, in the order in which they were added.

    A run is chosen by its name: B is the newest run of this name, B@2 the second one, @7 the one with the id 7.

    Examples:
      ioukit runs runs.db
      ioukit runs runs.db --name "yolo-*" --tag lr=1e-3 --sort AP --last 10
      ioukit runs runs.db --keys AP,APs,latency --json
      ioukit runs runs.db --report runs.html
      ioukit runs runs.db --delete B@2
      ioukit runs runs.db --tag release --export releases.db
    """
    talk = answer.talk()
    log, _ = ledger_and_runs(log, [] if path is None else [str(path)])
    ledger = Ledger(log)
    if delete:
        if any(one is not None for one in (name, tag, sort, last, keys, report, export, answer.json)):
            raise typer.BadParameter("stands alone: it deletes the runs that it names", param_hint="--delete")
        with about_runs(), bad_output():
            deleted = ledger.delete(delete)
        for run in deleted:
            talk.say(f"deleted {printable(run.reference)} (id {run.id})")
        return
    with bad_use():
        ReportOptions(report).check([log])
        answer.check([log], {"--report": report, "--export": export if report is not None else None})
    with about_runs():
        runs = ledger.runs(name=name, tags=parse_tags(tag or ()), sort=sort, last=last, on_damaged="skip")
        damaged = ledger.damaged()
        shown = _keys(runs, keys)
        if export is not None:
            # In the order in which they were added: a later number first would leave none for the earlier runs.
            added = ledger.copy_to(Ledger(export), sorted(run.id for run in runs))
            talk.say(f"copied {len(added):,} of {len(runs):,} runs to {printable(str(export))}")
            before = {run.uid: run.reference for run in runs}
            for run in added:
                if (old := before[run.uid]) != run.reference:
                    talk.say(printable(f"note {old} is {run.reference} there: it has had {old} or a later run"))
    if report is not None:
        from ioukit.runs import write_runs_page  # noqa: PLC0415 - listing does not need NumPy

        with bad_output():
            write_runs_page(runs, report, ledger=log, notes=[f"Left out: {why}" for why in damaged])
        talk.say(f"wrote {printable(str(report))}")
    for why in damaged:
        talk.say(printable(f"left out: {why}"))
    places = {group: at for at, group in enumerate(dict.fromkeys(map(group_of, runs)), 1)}
    groups = {run: places[group_of(run)] for run in runs}
    answer.give(
        lambda: _table(runs, groups, shown) if runs else "no runs",
        lambda: json.dumps({"runs": [{**run.to_dict(), "group": groups[run]} for run in runs], "damaged": damaged}),
        talk,
    )


def _keys(runs: tuple[Run, ...], asked: str | None) -> list[str]:
    """The numbers to show.

    Raises:
        ValueError: If no run has one that is asked for.
    """
    first = list(dict.fromkeys(key for run in runs for key in list(run.summary)[:_SHOWN]))
    if asked is None:
        return [*first, *dict.fromkeys(key for run in runs for key in run.values if key not in first)]
    keys = [key.strip() for key in asked.split(",")]
    known = [*dict.fromkeys(key for run in runs for key in (*run.summary, *run.values))]
    known += [*dict.fromkeys(f"counts/{key}" for run in runs for key in run.counts)]
    for key in keys:
        if runs and key not in known:
            raise ValueError(f"no run has the number {key!r}; choose from {', '.join(known)}")
    return keys


def _table(runs: tuple[Run, ...], groups: dict[Run, int], keys: list[str]) -> str:
    """A line per run: how it is chosen, its group if there are several, when it was added, its numbers and its tags."""
    several = int(max(groups.values()) > 1)
    head = ["run", "id", *["group"] * several, "created", *map(printable, keys), "tags"]
    rows = [
        [
            printable(run.reference),
            str(run.id),
            *[str(groups[run])] * several,
            printable(run.created),
            *_numbers(run, keys),
            pairs_text(run.tags),
        ]
        for run in runs
    ]
    created = head.index("created")
    drop = [created, *range(len(head) - 2, created + 1, -1)]
    table = aligned([head, *rows], left=(0, created, -1), width=terminal_width(), drop=drop)
    return f"{table}\nNumbers of different groups cannot be compared: their data or rules differ." if several else table


def _numbers(run: Run, keys: list[str]) -> list[str]:
    found = [number_of(run, key) for key in keys]
    return [
        f"{value:,.0f}" if key.startswith("counts/") and not math.isnan(value) else number_text(value)
        for key, value in zip(keys, found, strict=True)
    ]
