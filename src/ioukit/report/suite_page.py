"""The page of a suite: the mean of each model over many data sets, tests between models, and every number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ioukit._checks import check_result, pluralize
from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.report._differences import in_points
from ioukit.report._limits import Limits, interval_settings, known_limits
from ioukit.report._numbers import Cell
from ioukit.report._sources import input_files, input_paths, made_with, time_text
from ioukit.report._texts import UNDEFINED, abbreviate, fact_list
from ioukit.report.writer import Layout, Page, write_page

if TYPE_CHECKING:
    import datetime
    import os
    from pathlib import Path

    from ioukit.comparison import Suite


class SuiteModel(NamedTuple):
    """A row of the table of the models."""

    name: str
    texts: tuple[str, ...]
    bar: float | None
    """The mean, if all means and limits lie within [0, 1]."""
    whisker: Limits | None


class SetRow(NamedTuple):
    """A row of the table of the data sets."""

    name: str
    images: Cell
    cells: tuple[tuple[Cell, bool], ...]
    """The number of each model, and whether it is the best."""


@dataclass(frozen=True, kw_only=True)
class SuitePage(Page):
    """What the template of the page of a suite gets."""

    layout: ClassVar[Layout] = Layout(
        "suite/suite.html.j2",
        ("shared/document.css", "shared/controls.css", "suite/suite.css"),
        ("shared/words.js", "shared/tables.js", "shared/hints.js", "suite/main.js"),
        "write_suite",
    )

    key: str
    """What the number is called."""
    verdicts: tuple[str, ...]
    words: tuple[str, ...]
    """What the numbers need to be understood."""
    model_columns: tuple[str, ...]
    models: tuple[SuiteModel, ...]
    test_columns: tuple[str, ...]
    tests: tuple[tuple[str, ...], ...]
    """The names of both models, and the numbers of their test; empty without tests."""
    names: tuple[str, ...]
    sets: tuple[SetRow, ...]


def write_suite(
    suite: Suite,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows one number of each model over many data sets: means, tests, and every number.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        suite: The result of `ioukit.comparison.evaluate_suite`.
        path: The file to write. After an error it is as it was.
        title: The heading; the number and how many data sets there are if ``None``.
        created: The time that the page shows; now if ``None``.

    Raises:
        TypeError: If ``suite`` is not such a result.
        ValueError: If ``path`` is a folder, is in a folder that does not exist, or is a file that the data were read
            from.
        ModuleNotFoundError: If Jinja2 is not installed.
        OSError: If the file cannot be written.
    """
    check_result(suite, "mean_ranks", "ioukit.comparison.evaluate_suite")
    sources = [source for _, source in _sources(suite)]
    write_page(path, None, sources, lambda _: suite_data(suite, title=title, created=created))


def suite_data(suite: Suite, *, title: str | None, created: datetime.datetime | None) -> SuitePage:
    """Collect the data of a page; the arguments are those of :func:`write_suite`."""
    heading = f"{suite.key} on {pluralize(len(suite.sets), 'data set')}"
    head, *rows = suite.model_rows()
    tests = [("Permutations", f"{suite.permutations:,}")] if suite.differences else []
    return SuitePage(
        title=abbreviate(heading if title is None else title, "Suite"),
        created=time_text(created),
        facts=fact_list(
            ("data set", "data sets", len(suite.sets)),
            ("model", "models", len(suite.names)),
            ("image", "images", sum(suite.images)),
        ),
        key=suite.key,
        verdicts=tuple(map(printable, suite.verdicts())),
        words=tuple(map(printable, suite.notes())),
        model_columns=tuple(head[1:]),
        models=tuple(_models(suite, rows)),
        test_columns=_test_columns(suite),
        tests=tuple(_tests(suite)),
        names=tuple(abbreviate(name, "unnamed") for name in suite.names),
        sets=tuple(_sets(suite)),
        notes=tuple(_notes(suite)),
        settings=(
            ("Protocol", abbreviate(suite.evaluations[0][0].protocol.name)),
            *interval_settings({one.key: one for one in suite.intervals}),
            *tests,
            *made_with(),
        ),
        files=input_files(_sources(suite)),
        drawn={},
    )


def _notes(suite: Suite) -> list[str]:
    """The notes of all evaluations, each once, with the data sets that have it."""
    found: dict[str, dict[str, None]] = {}
    for name, models in zip(suite.sets, suite.evaluations, strict=True):
        for note in (note for one in models for note in one.notes):
            found.setdefault(note, {})[name] = None
    return [
        printable(f"{', '.join(sets) if len(sets) <= 3 else pluralize(len(sets), 'data set')}: {note}")
        for note, sets in found.items()
    ]


def _sources(suite: Suite) -> list[tuple[str, Path]]:
    """The files that the data were read from: for each data set its ground truth, then the detections of each model."""
    found: dict[Path, str] = {}
    for name, models in zip(suite.sets, suite.evaluations, strict=True):
        for model, one in zip(suite.names, models, strict=True):
            for role, path in input_paths(one):
                of = name if role == "Ground truth" else f"{model} on {name}"
                found.setdefault(path, abbreviate(f"{role} of {of}"))
    return [(role, path) for path, role in found.items()]


def _models(suite: Suite, rows: list[list[str]]) -> list[SuiteModel]:
    limits = [known_limits({one.key: one}).get(one.key) for one in suite.intervals] or [None] * len(rows)
    means = suite.means.tolist()
    ends = [end for one in limits if one is not None for end in (one.low, one.high)]
    is_share = all(0 <= value <= 1 for value in (*means, *ends))
    return [
        SuiteModel(abbreviate(name, "unnamed"), tuple(texts), *((mean, whisker) if is_share else (None, None)))
        for (name, *texts), mean, whisker in zip(rows, means, limits, strict=True)
    ]


def _test_columns(suite: Suite) -> tuple[str, ...]:
    if not suite.differences:
        return ()
    interval = f"{percent(suite.differences[0].level)} interval"
    return ("difference, points", interval, "p-value", *(["corrected"] if suite.ranking is not None else []))


def _tests(suite: Suite) -> list[tuple[str, ...]]:
    """Each further model beside the first one."""
    first, rows = suite.names[0], []
    for name, one in zip(suite.names[1:], suite.differences, strict=False):
        p_values = [one.p_value, *([] if suite.ranking is None else [suite.ranking.p_value(first, name)])]
        limits = UNDEFINED if math.isnan(one.low) else f"{in_points(one.low)} to {in_points(one.high)}"
        texts = (UNDEFINED if math.isnan(value) else f"{value:.3f}" for value in p_values)
        rows.append((abbreviate(name, "unnamed"), in_points(one.difference), limits, *texts))
    return rows


def _sets(suite: Suite) -> list[SetRow]:
    rows = []
    for name, images, values, ranks in zip(
        suite.sets, suite.images, suite.values.tolist(), suite.ranks.tolist(), strict=True
    ):
        cells = [Cell(UNDEFINED, None) if math.isnan(value) else Cell(f"{value:.4f}", value) for value in values]
        best = [len(ranks) > 1 and rank == min(ranks) for rank in ranks]
        row = tuple(zip(cells, best, strict=True))
        rows.append(SetRow(abbreviate(name, "unnamed"), Cell(f"{images:,}", images), row))
    return rows
