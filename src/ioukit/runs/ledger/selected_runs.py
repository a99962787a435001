"""Choosing and sorting runs."""

from __future__ import annotations

import fnmatch
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from ioukit.runs.ledger.run import Run


_TEXTS = ("name", "created")


def selected(
    runs: Sequence[Run],
    *,
    name: str | None,
    tags: Mapping[str, str | None] | None,
    sort: str | None,
    last: int | None,
) -> tuple[Run, ...]:
    """The runs that are asked for, see :meth:`ioukit.runs.Ledger.runs`."""
    if last is not None and last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    found = [run for run in runs if _is_asked_for(run, name, tags or {})]
    if sort is not None:
        found = _sorted(found, sort)
    return tuple(found if last is None else found[-last:])


def number_of(run: Run, key: str) -> float:
    """A number of a run by its name: of the summary, of the values, or a count; NaN if there is none."""
    if key.startswith("counts/"):
        return float(run.counts.get(key.removeprefix("counts/"), math.nan))
    return run.summary.get(key, run.values.get(key, math.nan))


def group_of(run: Run) -> Hashable:
    """What two runs have in common whose numbers can be compared. Data without a file have no hash, but counts."""
    truth = next((one.sha256 for one in run.inputs if one.role == "ground_truth"), None)
    return truth, run.iou_type, run.rules, *run.summary, *map(run.counts.get, ("images", "categories", "annotations"))


def _is_asked_for(run: Run, name: str | None, tags: Mapping[str, str | None]) -> bool:
    # The name itself comes first, because it may have characters that mean something in a pattern.
    named = name is None or run.name == name or fnmatch.fnmatchcase(run.name, name)
    return named and all(key in run.tags and text in (None, run.tags[key]) for key, text in tags.items())


def _sorted(runs: list[Run], key: str) -> list[Run]:
    falls, key = key.startswith("-"), key.removeprefix("-")
    if key in _TEXTS:
        return sorted(runs, key=lambda run: str(getattr(run, key)), reverse=falls)
    numbers = {run.id: number_of(run, key) for run in runs}
    if runs and all(math.isnan(number) for number in numbers.values()):
        known = list(dict.fromkeys(one for run in runs for one in (*run.summary, *run.values)))
        raise ValueError(f"no run has the number {key!r} to sort by; choose from {', '.join([*known, *_TEXTS])}")
    sign = -1 if falls else 1
    return sorted(runs, key=lambda run: (not math.isnan(numbers[run.id]), sign * numbers[run.id]))
