"""The page of a data set: its numbers, charts for each class, and examples."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.inspection.histograms import (
    Histogram,
    overlap_histogram,
    per_image_histogram,
    position_histogram,
    range_names,
    ratio_histogram,
    side_histogram,
)
from ioukit.inspection.inspection import SIZES
from ioukit.report._examples import choose_examples, draw_examples
from ioukit.report._numbers import Cell, Tile
from ioukit.report._sources import input_file, made_with, time_text
from ioukit.report._texts import UNDEFINED, abbreviate, class_names, fact_list
from ioukit.report.writer import Layout, Page, write_page

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Mapping

    from ioukit.inspection import Inspection


CHARTED = 1000
"""The number of classes that have charts of their own: the most frequent ones."""

MAPPED = 200
"""The number of classes that have a heat map of their own."""

_CELLS = 16
_PAIRS = 20
_LOG_SIDES = (1, 2, 4, 8, 16, 32, 96, 256, 512, 1024, 2048, 4096)
_RATIO_NAMES = {2.0**k: f"{2**k}" if k >= 0 else f"1/{2**-k}" for k in range(-5, 6)}


@dataclass(frozen=True, kw_only=True)
class InspectionPage(Page):
    """What the template of the page of a data set gets."""

    layout: ClassVar[Layout] = Layout(
        "inspection/inspection.html.j2",
        ("shared/document.css", "inspection/inspection.css"),
        (
            *("shared/words.js", "shared/charts.js", "inspection/bars.js", "shared/tables.js"),
            *("inspection/examples.js", "shared/pictures.js", "inspection/main.js"),
        ),
        "write_inspection",
    )

    headline: tuple[Tile, ...]
    lines: tuple[tuple[str, str], ...]
    """The main numbers in words: a name and a text per line."""
    class_columns: tuple[str, ...]
    class_rows: tuple[tuple[str, list[Cell]], ...]
    """The classes, the most frequent first."""
    charted: int
    """How many of the classes have charts of their own."""
    pairs: tuple[tuple[str, str, str, float], ...]
    """Two classes, the number of images that show both, and the length of a bar within [0, 1]."""


def write_inspection(
    inspection: Inspection,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    examples: int = 24,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows what a data set holds: numbers, charts for each class, and examples.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        inspection: The result of `ioukit.inspect`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs, for thumbnails of the examples; boxes without photographs if ``None``.
        title: The heading; the name of the file or folder of the data set if ``None``.
        examples: How many images to show: the largest, the smallest, the tallest and the widest object, the image with
            the most objects, the nearest neighbours of one class, and then a typical object of each class.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is the file that the data set was read
            from, or is one of the images; if ``images`` is not a folder, or ``examples`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    source = _source_of(inspection)
    write_page(
        path,
        images,
        [] if source is None else [source],
        lambda folder: inspection_data(inspection, images=folder, title=title, most_examples=examples, created=created),
    )


def _source_of(inspection: Inspection) -> Path | None:
    """The file or folder that the data set was read from; ``None`` for data from memory."""
    path = Path(inspection.ground_truth.source)
    return path if path.exists() else None


def inspection_data(
    inspection: Inspection,
    *,
    images: Path | None,
    title: str | None,
    most_examples: int,
    created: datetime.datetime | None,
) -> InspectionPage:
    """Collect the data of a page; the arguments are those of :func:`write_inspection`."""
    if most_examples < 0:
        raise ValueError(f"examples must not be negative, got {most_examples}")
    gt, source = inspection.ground_truth, _source_of(inspection)
    numbers = inspection.to_dict()
    order = np.argsort(-inspection.objects_per_class, kind="stable")
    names = class_names(gt.categories)
    pictures, style, picture_notes = draw_examples(inspection, choose_examples(inspection, most_examples), images)
    pairs = itertools.islice(inspection.pairs_of_classes(), _PAIRS)
    found = [(names[a], names[b], count) for a, b, count in pairs]
    top = max((count for *_, count in found), default=1)
    name = title if title is not None else source.name if source is not None else gt.source
    return InspectionPage(
        title=abbreviate(name, "Data set"),
        created=time_text(created),
        facts=fact_list(
            ("image", "images", numbers["images"]),
            ("object", "objects", numbers["objects"]),
            ("class", "classes", len(names)),
        ),
        headline=tuple(_headline(numbers)),
        lines=tuple((label, printable(text)) for label, text in inspection.facts()),
        class_columns=("objects", "share", "images", "median side", *SIZES),
        class_rows=tuple((names[row], _cells(inspection, row)) for row in order.tolist()),
        charted=min(len(order), CHARTED),
        pairs=tuple((one, other, f"{count:,}", count / top) for one, other, count in found),
        notes=tuple(printable(note) for note in (*inspection.notes, *picture_notes)),
        settings=(("Format", inspection.format or "from memory"), *made_with()),
        files=(input_file("Data set", source),) if source is not None and source.is_file() else (),
        drawn={
            "classes": [names[row] for row in order[:CHARTED].tolist()],
            "names": names,
            "charts": _charts(inspection, order) if len(inspection) else None,
            "images": pictures,
            "drawing": style,
        },
    )


def _headline(numbers: Mapping[str, Any]) -> list[Tile]:
    """The numbers to read first, each with a sentence."""
    each, objects = numbers["objects_per_image"], numbers["objects"]
    small = numbers["sizes"]["small"]
    same = numbers["overlaps"]["same_class"]
    used = len(numbers["classes"]) - numbers["classes_without_objects"]
    return [
        Tile("Objects per image", _digits(each["mean"], 1), _per_image(numbers)),
        Tile("Classes with objects", f"{used:,}", f"Of {len(numbers['classes']):,} listed classes."),
        Tile(
            "Small objects", _percent(small, objects),
            "Area below 32 x 32 pixels. They are the hardest to find and to place.",
        ),
        Tile(
            "Median side", _digits(numbers["sides"]["median"], 0),
            "Square root of the area, in pixels: half of the objects are smaller.",
        ),
        Tile(
            "Close neighbours", _percent(same["at_least"]["0.5"], same["count"]),
            "Objects with IoU of at least 0.5 with another one of their class. NMS at 0.5 removes one of the two.",
        ),
    ]  # fmt: skip


def _per_image(numbers: Mapping[str, Any]) -> str:
    each, without = numbers["objects_per_image"], numbers["images_without_objects"]
    if not each["count"]:
        return "There are no images."
    have = "have" if without > 1 else "has"
    empty = f"{pluralize(without, 'image')} {have} none." if without else "Every image has objects."
    return f"The mean. At most {each['maximum']:,.0f}. {empty}"


def _percent(count: int, total: int) -> str:
    return percent(count / total, 1) if total else "undefined"


def _digits(value: float | None, digits: int) -> str:
    return "undefined" if value is None else f"{value:,.{digits}f}"


def _cells(inspection: Inspection, row: int) -> list[Cell]:
    """The numbers of a class, in the order of the columns."""
    count, total = int(inspection.objects_per_class[row]), len(inspection)
    share, side = count / total if total else 0.0, float(inspection.median_sides[row])
    cells = [
        Cell(f"{count:,}", count),
        Cell(percent(share, 1), share),
        Cell(f"{inspection.images_per_class[row]:,}", int(inspection.images_per_class[row])),
        Cell(UNDEFINED, None) if math.isnan(side) else Cell(f"{side:.1f}", side),
    ]
    sizes = inspection.sizes_per_class[row].tolist()
    return cells + [Cell(percent(n / count, 0), n / count) if count else Cell(UNDEFINED, None) for n in sizes]


def _charts(inspection: Inspection, order: Any) -> dict[str, Any]:
    """The histograms: a row for all classes together, then one for each class in the order of the table."""
    sides, ratios, images = (make(inspection) for make in (side_histogram, ratio_histogram, per_image_histogram))
    same, rows = overlap_histogram(inspection, same_class=True), np.concatenate([[0], order[:CHARTED] + 1])
    bounds = {name: round(math.sqrt(low)) for name, (low, _) in SIZES.items() if low}
    marks = [[_nearest(sides.edges, bound), str(bound)] for bound in bounds.values()]
    return {
        "sizes": _chart(sides, rows, [[_nearest(sides.edges, side), f"{side:,}"] for side in _LOG_SIDES])
        | {"marks": marks},
        "shapes": _chart(ratios, rows, [[_nearest(ratios.edges, ratio), text] for ratio, text in _RATIO_NAMES.items()]),
        "perImage": {"names": range_names(images.edges), "rows": images.counts[rows].tolist()},
        "overlaps": {
            "thresholds": [round(step, 2) for step in same.edges[2:-1].tolist()],
            "any": _reached(overlap_histogram(inspection, same_class=False), rows),
            "same": _reached(same, rows),
        },
        "positions": {"cells": _CELLS, "rows": position_histogram(inspection, order[:MAPPED], _CELLS).tolist()},
    }


def _chart(found: Histogram, rows: Any, ticks: list[list[Any]]) -> dict[str, Any]:
    """Bins without those that are empty at both ends, and ticks: the place in bins, and the text."""
    filled = np.flatnonzero(found.counts[0])
    low, high = (max(int(filled[0]) - 1, 0), int(filled[-1]) + 2) if len(filled) else (0, found.counts.shape[1])
    high = min(high, found.counts.shape[1])
    return {
        "edges": [float(f"{edge:.4g}") for edge in found.edges[low : high + 1].tolist()],
        "ticks": [[place - low, text] for place, text in ticks if low <= place <= high],
        "first": low,
        "rows": found.counts[rows, low:high].tolist(),
    }


def _nearest(edges: Any, value: float) -> float:
    """The place of a value among bounds that grow by a factor, in bins."""
    return round(float(np.interp(math.log(value), np.log(edges), np.arange(len(edges)), left=-1e9, right=1e9)), 3)


def _reached(found: Histogram, rows: Any) -> list[list[int]]:
    """For each row: the number of objects, then how many reach each threshold."""
    below = found.counts[rows][:, ::-1].cumsum(axis=1)[:, ::-1]
    reached: list[list[int]] = np.delete(below, 1, axis=1).tolist()
    return reached
