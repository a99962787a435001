"""An evaluation as Markdown, for the summary of a job of GitHub Actions, a comment or a page."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ioukit._checks import pluralize
from ioukit.report._numbers import measure_rows
from ioukit.report._texts import abbreviate, text

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from ioukit.evaluation import ClassResult, Evaluation, Measure, RequirementResult


# GitHub refuses summaries of more than 1 MiB per step. Half of it leaves room for what else a step writes.
_MOST_BYTES = 512 * 1024
_MOST_NOTES = 50
_SIGNS = re.compile(r"[\\`*_{}\[\]()#+!|~<>&@$^=\u2028\u2029]|://|www\.|^-+|^\d+\.")
"""What a dialect of Markdown could take for more than text: in a line, in a cell of a table, or as a link."""


def markdown_summary(
    evaluation: Evaluation,
    *,
    title: str | None = None,
    worst: int = 10,
    requirements: Sequence[RequirementResult] = (),
) -> str:
    """An evaluation in Markdown: its numbers, its worst classes, its notes.

    It suits the summary of a job of GitHub Actions, a comment, or a page. Names from the data are escaped, so they can
    contain no links, HTML or cells. The text has at most 512 KiB; GitHub takes 1 MiB per step of a job.

    Args:
        evaluation: The result of `ioukit.evaluate`.
        title: The heading; the protocol and the kind of region if ``None``.
        worst: How many classes to list, those with the lowest number of the protocol's main measure first. Classes
            without objects are counted and not listed.
        requirements: Results of `ioukit.evaluation.check_requirements`, which get a table of their own.

    Returns:
        Markdown with tables, as GitHub, GitLab and most other tools read it.

    Raises:
        ValueError: If ``worst`` is negative.

    Examples:
        >>> import ioukit
        >>> from ioukit.datasets import Detections, GroundTruth
        >>> gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[7], boxes=[[10, 10, 50, 50]])
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[7], boxes=[[10, 10, 50, 50]], scores=[0.9])
        >>> print(markdown_summary(ioukit.evaluate(gt, dt), worst=0).splitlines()[2])
        1 image, 1 class, 1 object, 1 detection
    """
    if worst < 0:
        raise ValueError(f"worst must not be negative, got {worst}")
    heading = f"{evaluation.protocol.name}, {evaluation.matches.iou_type}" if title is None else title
    parts = [f"### {escaped(heading)}", _counts(evaluation)]
    if requirements:
        parts.append(_requirements(requirements))
    parts.append(_measures(evaluation))
    end = _notes(evaluation)
    left = _MOST_BYTES - sum(len(part.encode()) + 2 for part in [*parts, *end])
    return "\n\n".join([*parts, *_classes(evaluation, worst, left), *end]) + "\n"


def _counts(evaluation: Evaluation) -> str:
    counts = evaluation.counts
    words = [("image", "images"), ("class", "categories"), ("object", "annotations"), ("detection", "detections")]
    parts = [pluralize(counts[key], word) for word, key in words]
    if counts["crowds"]:
        parts[2] += f" ({counts['crowds']:,} of them crowds)"
    if counts["dropped"]:
        parts.append(f"{counts['dropped']:,} invalid records left out")
    return ", ".join(parts)


def _requirements(results: Sequence[RequirementResult]) -> str:
    rows = [
        ("passed" if one.met else "**failed**", escaped(one.requirement.metric), one.shown, one.requirement.bound)
        for one in results
    ]
    return markdown_table(("Check", "Metric", "Value", "Required"), rows, numbers=(2,))


def _measures(evaluation: Evaluation) -> str:
    listed = measure_rows(evaluation)
    rows = [(escaped(measure.key), value, iou, escaped(area), cap) for measure, iou, area, cap, value in listed]
    return markdown_table(("Metric", "Value", "IoU", "Area", "Detections"), rows, numbers=(1, 4))


def _notes(evaluation: Evaluation) -> list[str]:
    notes = [f"- {escaped(note)}" for note in evaluation.notes[:_MOST_NOTES]]
    if len(evaluation.notes) > _MOST_NOTES:
        notes.append(f"- and {len(evaluation.notes) - _MOST_NOTES:,} more notes")
    return ["\n".join(["**Notes**", "", *notes])] if notes else []


def _classes(evaluation: Evaluation, worst: int, room: int) -> list[str]:
    """The heading and the table of the worst classes, in at most ``room`` bytes; none if no class has a number."""
    protocol = evaluation.protocol
    main = protocol.main_measure
    ranked = _ranked(evaluation, main)
    if not ranked or not worst or len(evaluation.per_class) < 2:  # the number of one class is that of the whole
        return []
    keys = [m.key for m in protocol.measures if m == main or (m.headline and protocol.defines(m))]
    head = ("Class", *map(escaped, keys), "Objects", "Detections")
    rows: list[tuple[str, ...]] = []
    room -= 500 + len(markdown_table(head, ()).encode())  # with the heading
    for result in ranked[:worst]:
        numbers = [text(result.summary[key]) for key in keys]
        counts = f"{result.num_ground_truth:,}", f"{result.num_detections:,}"
        row = (escaped(result.name, f"class {result.id}"), *numbers, *counts)
        room -= len(_row(row).encode()) + 1
        if room < 0:
            break
        rows.append(row)
    words = f"The worst {len(rows):,} of {len(ranked):,} classes with objects"
    if len(rows) == len(ranked):
        words = f"All {len(rows):,} classes with objects, the worst first"
    return [f"**{words}**", markdown_table(head, rows, numbers=range(1, len(head)))]


def _ranked(evaluation: Evaluation, main: Measure) -> list[ClassResult]:
    """The classes with a number, the worst first."""
    sign = -1 if main.lower_is_better else 1
    defined = [result for result in evaluation.per_class if not math.isnan(result.summary[main.key])]
    return sorted(defined, key=lambda result: (sign * result.summary[main.key], result.id))


def escaped(value: str, otherwise: str = "") -> str:
    """Text of one line that Markdown shows as it is, without formats, links, HTML and cells of a table.

    Signs become HTML entities, which all dialects of Markdown read. An underscore gets a backslash instead, so that
    usual names stay readable in the source.
    """
    return _SIGNS.sub(lambda found: _entities(found[0]), abbreviate(value.strip(), otherwise))


def _entities(found: str) -> str:
    return "\\_" if found == "_" else "".join(sign if sign.isalnum() else f"&#{ord(sign)};" for sign in found)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Container[int] = ()) -> str:
    """A table; the columns at the positions `numbers` are aligned to the right."""
    line = [("---:" if at in numbers else "---") for at in range(len(head))]
    return "\n".join(map(_row, [head, line, *rows]))


def _row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"
