"""The page of an agreement: numbers of each two annotators, classes, images with the regions of all, and lone ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Counts, Positions
from ioukit._checks import check_result, pluralize
from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.comparison.agreement import number_titles, shown
from ioukit.report._limits import Limits, known_limits
from ioukit.report._numbers import Cell
from ioukit.report._pictures import Drawer, Photographs, picture_notes, tenths
from ioukit.report._sources import input_files, made_with, time_text
from ioukit.report._texts import UNDEFINED, abbreviate, class_names, fact_list, iou_text
from ioukit.report.writer import Layout, Page, write_page

if TYPE_CHECKING:
    import datetime
    import os

    from ioukit.comparison import Agreement
    from ioukit.statistics import Interval

MOST_DRAWN = 6
"""How many annotators the pictures show: so many colours can be told apart."""
MOST_REGIONS = 2000
"""How many regions a picture has at most."""
MOST_ROWS = 5000
"""How many rows the list of regions without a partner has at most, and that of classes."""

# What becomes of an object.
AGREED, CLASSES, LACKING = range(3)

_MEANINGS = {
    "F1": "Twice the pairs of one class, divided by the regions of both.",
    "F1_mean": "The same at higher thresholds: the mean over 0.50, 0.55, ... 0.95.",
    "F1_any_class": "Twice the pairs of any class, divided by the regions of both: are the same objects there?",
    "IoU": "Of pairs of any class: are they drawn alike?",
    "kappa": "Of pairs of any class: 1 is agreement, 0 is what chance gives.",
    "alpha": "Of objects that two annotators or more have: 1 is agreement, 0 is what chance gives.",
}


class AgreementNumber(NamedTuple):
    """A row of the numbers."""

    title: str
    meaning: str
    value: str
    limits: str
    bar: float | None
    """The number, if it and its limits lie within [0, 1]."""
    whisker: Limits | None


class PairNumbers(NamedTuple):
    """The numbers of two annotators, or of all."""

    title: str
    words: str
    rows: tuple[AgreementNumber, ...]


@dataclass(frozen=True, kw_only=True)
class AgreementPage(Page):
    """What the template of the page of an agreement gets."""

    layout: ClassVar[Layout] = Layout(
        "agreement/agreement.html.j2",
        ("shared/document.css", "shared/controls.css", "agreement/agreement.css"),
        (
            *("shared/words.js", "shared/tables.js", "shared/paged.js", "shared/hints.js"),
            *("agreement/look.js", "shared/pictures.js", "agreement/main.js"),
        ),
        "write_agreement",
    )

    lead: str
    annotators: tuple[str, ...]
    iou: str
    """The IoU threshold."""
    level: str
    """The level of the limits, such as ``"95 %"``."""
    tables: tuple[PairNumbers, ...]
    class_rows: tuple[tuple[str, list[Cell]], ...]
    """The classes, those that agree least first."""
    confusion_words: str
    """How many rows the list of classes has; empty if it has all."""
    images_words: str
    alone_words: str
    """The same of the list of regions without a partner."""


def write_agreement(
    agreement: Agreement,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    examples: int = 24,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows how far annotators agree: numbers, classes, and images with the regions of all.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        agreement: The result of `ioukit.comparison.agree`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs; regions without photographs if ``None``.
        title: The heading; the names of the annotators if ``None``.
        examples: How many images to show, those that agree least.
        created: The time that the page shows; now if ``None``.

    Raises:
        TypeError: If ``agreement`` is not such a result.
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that the annotations were
            read from, or is one of the images; if ``images`` is not a folder, or ``examples`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    check_result(agreement, "annotator", "ioukit.comparison.agree")
    write_page(
        path,
        images,
        [source for _, source in _sources(agreement)],
        lambda folder: agreement_data(agreement, images=folder, title=title, most_examples=examples, created=created),
    )


def _sources(agreement: Agreement) -> list[tuple[str, Path]]:
    """The files or folders that the annotations were read from; those from memory have none."""
    paths = [(name, Path(source)) for name, source in zip(agreement.names, agreement.sources, strict=True) if source]
    return [(name, path) for name, path in paths if path.exists()]


def agreement_data(
    agreement: Agreement,
    *,
    images: Path | None,
    title: str | None,
    most_examples: int,
    created: datetime.datetime | None,
) -> AgreementPage:
    """Collect the data of a page; the arguments are those of :func:`write_agreement`."""
    if most_examples < 0:
        raise ValueError(f"examples must not be negative, got {most_examples}")
    gt = agreement.annotations
    names = [abbreviate(name, "unnamed") for name in agreement.names]
    became = _Became.of(agreement)
    pictures, style, picture_words = _pictures(agreement, became, images, most_examples)
    drawn = len(pictures)
    alone, left_out = _alone(agreement, became, pictures)
    confusion = _confusion(agreement)
    notes = [*agreement.notes, *filter(None, [agreement.doubts]), *picture_words]
    if len(names) > MOST_DRAWN and drawn:
        notes.append(f"The pictures show the regions of the first {MOST_DRAWN} of {len(names):,} annotators.")
    return AgreementPage(
        title=abbreviate(", ".join(agreement.names) if title is None else title, "Annotators"),
        created=time_text(created),
        facts=fact_list(
            ("annotator", "annotators", len(names)),
            ("image", "images", len(gt.images)),
            ("class", "classes", len(gt.categories)),
            ("region", "regions", len(gt)),
            ("object", "objects", len(agreement.objects)),
        ),
        lead=_lead(became, len(names)),
        annotators=tuple(names),
        iou=iou_text(agreement.iou_threshold),
        level=percent(agreement.alpha.level),
        tables=tuple(_tables(agreement, names)),
        class_rows=tuple(_class_rows(agreement, became)),
        images_words=_images_words(became, drawn),
        confusion_words=_listed_words(len(confusion)),
        alone_words=_listed_words(len(alone) + left_out),
        notes=tuple(map(printable, notes)),
        settings=(
            ("Pairs", f"IoU of at least {iou_text(agreement.iou_threshold)}, kind of region: {agreement.iou_type}"),
            *made_with(),
        ),
        files=input_files(
            (f"Annotations of {abbreviate(name, 'unnamed')}", path) for name, path in _sources(agreement)
        ),
        drawn={
            "names": class_names(gt.categories),
            "annotators": names,
            "images": pictures,
            "drawn": drawn,
            "alone": alone,
            "confusion": confusion[:MOST_ROWS],
            "drawing": style,
        },
    )


class _Became(NamedTuple):
    """What becomes of each object."""

    state: Positions
    """(G,) `AGREED`: all have it and give it one class; `CLASSES`: all have it, with different classes; `LACKING`: not
    all have it."""
    of_region: Positions
    """(R,) the object of each region."""
    of_image: Counts
    """(I, 3) how many objects of each image became what."""
    place: Positions
    """(R,) the position of the image of each region."""
    alone: npt.NDArray[np.bool_]
    """(R,) whether a region is in no pair."""

    @classmethod
    def of(cls, agreement: Agreement) -> _Became:
        gt, objects = agreement.annotations, agreement.objects
        has = objects >= 0
        place = np.searchsorted(gt.images.ids, gt.image_ids)
        label = np.searchsorted(gt.categories.ids, gt.category_ids)
        row, annotator = np.nonzero(has)
        of_region = np.zeros(len(gt), np.int64)
        of_region[objects[row, annotator]] = row
        lowest, highest = np.full(len(objects), len(gt.categories)), np.full(len(objects), -1)
        np.minimum.at(lowest, of_region, label)
        np.maximum.at(highest, of_region, label)
        state = np.where(~has.all(axis=1), LACKING, np.where(lowest < highest, CLASSES, AGREED))
        first = np.zeros(len(objects), np.int64)
        first[of_region] = place
        of_image = np.zeros((len(gt.images), 3), np.int64)
        np.add.at(of_image, (first, state), 1)
        alone = np.zeros(len(gt), np.bool_)
        alone[objects[row, annotator]] = agreement.overlaps[row, annotator] == 0  # that of a pair is above 0
        return cls(state, of_region, of_image, place, alone)


def _lead(became: _Became, annotators: int) -> str:
    """How many objects all have, how many of one class, and how many regions are alone."""
    total = len(became.state)
    if not total:
        return "Nobody has a region."
    every = "Both annotators" if annotators == 2 else f"All {annotators:,} annotators"
    both, agreed = int((became.state != LACKING).sum()), int((became.state == AGREED).sum())
    alone = int(became.alone.sum())
    last = f"{pluralize(alone, 'region')} {'has' if alone == 1 else 'have'} no partner."
    return (
        f"{every} have {both:,} of {pluralize(total, 'object')}, and give {agreed:,} of these the same class. "
        f"{last if alone else 'Every region has a partner.'}"
    )


def _tables(agreement: Agreement, names: list[str]) -> list[PairNumbers]:
    """The numbers of each two annotators, and that of all: with two annotators, in one table."""
    titles = number_titles(agreement.iou_threshold)
    of_all = _number("alpha", titles["alpha"], agreement.alpha)
    known = dict(zip(agreement.names, names, strict=True))
    tables = [
        PairNumbers(
            " and ".join(known[name] for name in pair.names),
            f"{pluralize(pair.paired, 'pair')} of any class",
            tuple(_number(key, titles[key], one) for key, one in pair.numbers.items()),
        )
        for pair in agreement.pairs
    ]
    if len(names) == 2:
        return [tables[0]._replace(rows=(*tables[0].rows, of_all))]
    return [*tables, PairNumbers("All annotators", pluralize(len(agreement.objects), "object"), (of_all,))]


def _number(key: str, title: str, interval: Interval) -> AgreementNumber:
    value, limits = shown(interval)
    whisker = known_limits({key: interval}).get(key)
    ends = (interval.value,) if whisker is None else (interval.value, whisker.low, whisker.high)
    is_share = all(0 <= end <= 1 for end in ends)  # NaN is none
    return AgreementNumber(
        title, _MEANINGS[key], value, limits, interval.value if is_share else None, whisker if is_share else None
    )


def _class_rows(agreement: Agreement, became: _Became) -> list[tuple[str, list[Cell]]]:
    gt = agreement.annotations
    label = np.searchsorted(gt.categories.ids, gt.category_ids)
    shape = (len(gt.categories), len(agreement.names))
    counts, alone = np.zeros(shape, np.int64), np.zeros(shape[0], np.int64)
    np.add.at(counts, (label, agreement.annotator), 1)
    np.add.at(alone, label, became.alone)
    names = class_names(gt.categories)
    rows = []
    for at in np.argsort(agreement.by_class, kind="stable").tolist():
        f1 = float(agreement.by_class[at])
        numbers = [*counts[at].tolist(), int(alone[at])]
        first = Cell(UNDEFINED, None) if math.isnan(f1) else Cell(f"{f1:.3f}", f1)
        rows.append((names[at], [first, *(Cell(f"{number:,}", number) for number in numbers)]))
    return rows


def _confusion(agreement: Agreement) -> list[list[int]]:
    """Pairs of two classes, the most frequent first: the pair of annotators, both classes, and how many there are."""
    found = [
        [at, first, second, int(pair.confusion[first, second])]
        for at, pair in enumerate(agreement.pairs)
        for first, second in np.argwhere(pair.confusion).tolist()
        if first != second
    ]
    return sorted(found, key=lambda row: -row[3])


def _listed_words(rows: int) -> str:
    return f"The list has the first {MOST_ROWS:,} of {rows:,} rows." if rows > MOST_ROWS else ""


def _images_words(became: _Became, drawn: int) -> str:
    """How many images have something that annotators do not agree on."""
    differ, total = int((became.of_image[:, CLASSES:].sum(axis=1) > 0).sum()), len(became.of_image)
    if not differ:
        return ""
    words = f"On {differ:,} of {pluralize(total, 'image')}, an annotator lacks an object, or classes differ."
    return f"{words} Those with the lowest F1 are drawn: {drawn:,} of {differ:,}." if drawn < differ else words


def _pictures(
    agreement: Agreement, became: _Became, folder: Path | None, most: int
) -> tuple[list[dict[str, Any]], dict[str, Any], list[str]]:
    """The images that agree least for the script of the page, how it draws them, and notes for the reader."""
    gt = agreement.annotations
    drawer = Drawer(agreement.iou_type, gt)
    photographs = Photographs(drawer, gt, folder)
    label = np.searchsorted(gt.categories.ids, gt.category_ids)
    differ = became.of_image[:, CLASSES:].sum(axis=1)
    order = np.lexsort((-differ, agreement.by_image))
    order = order[differ[order] > 0][:most]
    by_image = np.argsort(became.place, kind="stable")
    starts = np.searchsorted(became.place[by_image], np.arange(len(gt.images) + 1))
    lacking = "one lacks" if len(agreement.names) == 2 else "not all have"
    pictures = []
    for image in order.tolist():
        rows = by_image[starts[image] : starts[image + 1]]
        rows = rows[agreement.annotator[rows] < MOST_DRAWN]
        state = became.state[became.of_region[rows]]
        if len(rows) > MOST_REGIONS:  # those that differ stay
            rows = rows[np.sort(np.argsort(state == AGREED, kind="stable")[:MOST_REGIONS])]
            state = became.state[became.of_region[rows]]
        kinds, zeros = 3 * agreement.annotator[rows] + state, np.zeros(len(rows), np.int64)
        table = np.column_stack([kinds, label[rows], zeros, tenths(gt.boxes[rows]), zeros, rows])
        drawing = drawer.drawing(table, gt.images.sizes[image])
        agreed, classes, lost = became.of_image[image].tolist()
        name = abbreviate(gt.images.names[image], f"image {gt.images.labels[image]}")
        words = f"F1 {agreement.by_image[image]:.3f}: {pluralize(agreed + classes + lost, 'object')}, {agreed:,} agreed"
        words += f", {classes:,} with different classes" if classes else ""
        words += f", {lost:,} that {lacking}" if lost else ""
        record: dict[str, Any] = {"name": name, "words": words, "at": image}
        if address := photographs.beside(drawing, image, name, table):
            record["thumb"] = address
        pictures.append(record | drawing)
    return pictures, drawer.style(), picture_notes(photographs, drawer)


def _alone(agreement: Agreement, became: _Became, pictures: list[dict[str, Any]]) -> tuple[list[list[Any]], int]:
    """Regions without a partner, image by image, those of drawn images first; and how many are left out.

    Each has the position of its image in `pictures`, which gets the names of those that are not drawn; its annotator,
    its class, and its box.
    """
    gt = agreement.annotations
    rows = np.flatnonzero(became.alone)
    known = {record.pop("at"): place for place, record in enumerate(pictures)}
    rank = np.array([known.get(image, len(known)) for image in range(len(gt.images))])
    rows = rows[np.lexsort((rows, became.place[rows], rank[became.place[rows]]))]
    label = np.searchsorted(gt.categories.ids, gt.category_ids)
    found = []
    for row in rows[:MOST_ROWS].tolist():
        image = int(became.place[row])
        if image not in known:
            known[image] = len(pictures)
            pictures.append({"name": abbreviate(gt.images.names[image], f"image {gt.images.labels[image]}")})
        box = [round(number, 1) for number in gt.boxes[row].tolist()]
        found.append([known[image], int(agreement.annotator[row]), int(label[row]), *box])
    return found, max(len(rows) - MOST_ROWS, 0)
