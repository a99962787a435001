"""The page of runs: their numbers over time with intervals, their tags as a table, and two of them side by side.

Runs of one group have the same ground truth and the same rules, so their numbers can be compared. The page shows one
group at a time. A p-value needs the match tables of two runs, which the page does not have: it names the command.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit.report._sources import made_with, time_text
from ioukit.report._texts import abbreviate, fact_list, rounded
from ioukit.report.writer import Layout, Page, write_page
from ioukit.runs.ledger.selected_runs import group_of

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable

    from ioukit.runs.ledger.run import Run


@dataclass(frozen=True, kw_only=True)
class RunsPage(Page):
    """What the template of a page of runs gets."""

    layout: ClassVar[Layout] = Layout(
        "runs/runs.html.j2",
        ("shared/document.css", "shared/controls.css", "runs/runs.css"),
        tuple(
            f"{name}.js"
            for name in (
                "shared/words",
                "shared/charts",
                "shared/paged",
                "shared/commands",
                "shared/hints",
                "runs/runs",
            )
        ),
        "write_runs_page",
    )


def write_runs_page(
    runs: Iterable[Run],
    path: str | os.PathLike[str],
    *,
    ledger: str | os.PathLike[str],
    notes: Iterable[str] = (),
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows runs over time, with their intervals and tags, and any two of them side by side.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        runs: The runs, as :meth:`Ledger.runs` returns them. They are shown by the time at which they were added.
        path: The file to write. After an error it is as it was.
        ledger: The file of the ledger, for the heading and for the command on the page that compares two runs.
        notes: What the reader should know, such as :meth:`Ledger.damaged`.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, or is the ledger.
        ModuleNotFoundError: If Jinja2 is not installed.
        OSError: If the file cannot be written.
    """
    name = os.fspath(ledger)
    page = runs_page(runs, name, notes=notes, created=created)
    write_page(path, None, [Path(name)], lambda _: page)


def runs_page(
    runs: Iterable[Run],
    name: str,
    *,
    notes: Iterable[str] = (),
    created: datetime.datetime | None = None,
    compare: str = "",
) -> RunsPage:
    """Collect the data of a page; the arguments are those of :func:`write_runs_page`.

    Args:
        runs: The runs.
        name: The file of the ledger.
        notes: What the reader should know.
        created: The time that the page shows; now if ``None``.
        compare: The address of the comparison of two runs, if there is a server; ``?a=ID&b=ID`` follows.
    """
    shown = sorted(runs, key=lambda run: (run.created, run.id))
    newest = {group_of(run): run for run in shown}
    groups = [*newest]
    return RunsPage(
        title=abbreviate(Path(name).name),
        created=time_text(created),
        facts=fact_list(("run", "runs", len(shown)), ("group of runs", "groups of runs", len(groups))),
        notes=tuple(map(printable, notes)),
        settings=made_with(),
        files=(),
        drawn={
            "command": ["ioukit", "compare", f"./{name}" if name.startswith("-") else name],
            "groups": [{"words": _words(run), "keys": list(run.summary)} for run in newest.values()],
            "runs": [_record(run, groups.index(group_of(run))) for run in shown],
            "compare": compare,
        },
    )


def _words(run: Run) -> str:
    """The rules and the ground truth of a run, for people."""
    truth = next((one.name for one in run.inputs if one.role == "ground_truth"), "unknown ground truth")
    counts = pluralize(run.counts.get("images", 0), "image"), pluralize(run.counts.get("categories", 0), "class")
    return ", ".join(map(abbreviate, (run.protocol, run.iou_type, truth, *counts)))


def _record(run: Run, group: int) -> dict[str, Any]:
    """A run for the script of the page."""
    return {
        "id": run.id,
        "group": group,
        "name": abbreviate(run.name),
        "number": run.number,
        # Some names could be mistaken: for an option, or for another name by what a terminal shows.
        "chosen_by": run.reference if printable(run.name) == run.name and run.name[:1] != "-" else f"@{run.id}",
        "added": abbreviate(run.created[:16].replace("T", " ")),
        "numbers": rounded(run.summary.values(), 6),
        "limits": {key: [*rounded(one[:2], 6), one.level] for key, one in run.intervals.items()},
        "values": {abbreviate(key): value for key, value in run.values.items()},
        "tags": {abbreviate(key): abbreviate(text) for key, text in run.tags.items()},
        "counts": dict(run.counts),
    }
