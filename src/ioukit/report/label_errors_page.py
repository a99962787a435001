"""The page of label errors: each suspicious label on its image, with the proposed change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._array_types import Positions
from ioukit._output import printable
from ioukit.label_errors import LABEL_ERROR_KINDS
from ioukit.label_errors.label_errors import CSV_COLUMNS, WHICH, cells
from ioukit.report._numbers import Tile
from ioukit.report._pictures import Drawer, Photographs, tenths, thousandths
from ioukit.report._sources import input_files, input_paths, made_with, name_of, time_text
from ioukit.report._texts import abbreviate, class_names, fact_list
from ioukit.report.writer import Layout, Page, write_page

if TYPE_CHECKING:
    import datetime
    import os
    from pathlib import Path

    from ioukit.label_errors import LabelErrors


_MOST_OBJECTS = 300  # other annotations on one picture

# The kinds of boxes on the page.
_OBJECT, _ACCUSED, _PROPOSED, _SECOND = range(4)

_MEANINGS = {
    "overlooked": "The model finds an object, and there is no annotation of it.",
    "badly_drawn": "The annotation and the detection of the object differ more than usual.",
    "swapped": "The model sees another class, and not the annotated one.",
    "doubled": "Two annotations of one object.",
    "spurious": "The model usually finds such objects, and sees nothing here.",
}


@dataclass(frozen=True, kw_only=True)
class LabelsPage(Page):
    """What the template of the page of label errors gets."""

    layout: ClassVar[Layout] = Layout(
        "labels/labels.html.j2",
        ("shared/document.css", "labels/labels.css"),
        ("shared/words.js", "shared/downloads.js", "labels/suspicions.js", "shared/pictures.js", "labels/decisions.js",
         "labels/cards.js"),
        "write_label_errors",
    )  # fmt: skip

    tiles: tuple[Tile, ...]
    """How many labels of each kind are listed."""
    listed: int
    """How many labels the page lists."""


def write_label_errors(
    errors: LabelErrors,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    most: int = 500,
    photographs: int = 150,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows each suspicious label on its image, with the proposed change.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        errors: The result of `ioukit.label_errors.find_label_errors`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs; boxes without photographs if ``None``.
        title: The heading; the name of the file of the ground truth if ``None``.
        most: How many labels to list, the most suspicious ones.
        photographs: How many photographs to put into the page. Each needs about 80 kB.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that the data were read from,
            or is one of the images; if ``images`` is not a folder, or ``most`` or ``photographs`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    write_page(
        path,
        images,
        [source for _, source in input_paths(errors.evaluation)],
        lambda folder: labels_data(
            errors, images=folder, title=title, most=most, photographs=photographs, created=created
        ),
    )


def labels_data(
    errors: LabelErrors,
    *,
    images: Path | None,
    title: str | None,
    most: int,
    photographs: int,
    created: datetime.datetime | None,
) -> LabelsPage:
    """Collect the data of a page; the arguments are those of :func:`write_label_errors`."""
    for name, value in (("most", most), ("photographs", photographs)):
        if value < 0:
            raise ValueError(f"{name} must not be negative, got {value}")
    evaluation, listed = errors.evaluation, errors[:most]
    sources = input_paths(evaluation)
    files = input_files(sources)
    records, notes, style = _pictures(listed, images, photographs)
    if len(listed) < len(errors):
        notes.insert(0, f"The page lists the {len(listed):,} most suspicious of {len(errors):,} labels.")
    if evaluation.ground_truth is None and len(listed):
        notes.append("The evaluation does not hold its data, so boxes and names of files are not known.")
    return LabelsPage(
        title=abbreviate(title if title is not None else name_of(sources, "Ground truth", "Labels")),
        created=time_text(created),
        facts=fact_list(
            ("image", "images", len(evaluation.matches.image_ids)),
            ("annotation", "annotations", len(evaluation.matches.objects)),
            ("detection", "detections", len(evaluation.near_matches())),
        ),
        tiles=tuple(_tiles(errors)),
        listed=len(listed),
        notes=tuple(map(printable, notes)),
        settings=made_with(),
        files=files,
        drawn={
            "names": class_names(evaluation.matches.categories),
            "kinds": [[kind.title, kind.change] for kind in LABEL_ERROR_KINDS],
            "images": records["images"],
            "photos": records["photos"],
            "drawing": style,
            "table": {"columns": CSV_COLUMNS, "which": WHICH, "key": files[0].sha256 if files else ""},
        },
    )


def _tiles(errors: LabelErrors) -> list[Tile]:
    tiles = []
    for place, kind in enumerate(LABEL_ERROR_KINDS):
        scores = errors.score[errors.kind == place]
        wrong = float(scores.sum())
        about = (
            f" Expected to be wrong: {wrong:,.{0 if wrong >= 10 else 1}f} of {len(scores):,}." if len(scores) else ""
        )
        tiles.append(Tile(kind.title, f"{len(scores):,}", _MEANINGS[kind.key] + about))
    return tiles


def _pictures(
    errors: LabelErrors, folder: Path | None, most: int
) -> tuple[dict[str, list[Any]], list[str], dict[str, Any]]:
    """The labels with their pictures, notes for the reader, and how the script draws regions."""
    evaluation = errors.evaluation
    truth, table = evaluation.ground_truth, evaluation.near_matches()
    kinds = {kind.key: place for place, kind in enumerate(LABEL_ERROR_KINDS)}
    found: list[dict[str, Any]] = [
        {
            "name": abbreviate(row.file_name, f"image {row.image_id}"),
            "kind": kinds[row.kind],
            "score": round(row.score, 4),
            "id": row.annotation_id,
            "label": int(errors.category[at]),
            "suggested": int(errors.suggested[at]),
            "reason": printable(row.reason),
            "row": cells(row)[:-1],
        }
        for at, row in enumerate(errors.rows())
    ]
    if truth is None:
        return {"images": found, "photos": []}, [], {}
    sides = [] if evaluation.detections is None else [evaluation.detections]
    drawer = Drawer(table.iou_type, truth, *sides)
    listed = truth.images.positions(table.image_ids)
    photographs = Photographs(drawer, truth, folder, most=most)
    photos: dict[int, tuple[int, str]] = {}
    for at, record in enumerate(found):
        image = int(listed[errors.image[at]])
        marks = _marks(errors, at)
        drawing = drawer.drawing(marks, truth.images.sizes[image])
        if address := photographs.beside(drawing, image, record["name"], marks):
            record["photo"] = photos.setdefault(image, (len(photos), address))[0]
        record.update(drawing)
    notes, images = photographs.notes(), len(np.unique(errors.image))
    if folder is not None and images > photographs.tried:
        notes.append(f"The photographs of {images - photographs.tried:,} further images are left out.")
    return {"images": found, "photos": [address for _, address in photos.values()]}, notes, drawer.style()


def _marks(errors: LabelErrors, at: int) -> Positions:
    """(B, 9) what a picture shows, as :meth:`Drawer.drawing` takes it: objects first, then the detection."""
    evaluation = errors.evaluation
    truth, detections, table = evaluation.ground_truth, evaluation.detections, evaluation.near_matches()
    if truth is None or detections is None:
        return np.zeros((0, 9), np.int64)
    accused, other, image = (int(column[at]) for column in (errors.object, errors.other, errors.image))
    start, end = np.searchsorted(table.objects.image, [image, image + 1])
    here = np.arange(start, end)
    here = here[(here != accused) & (here != other)][:_MOST_OBJECTS]
    named = [(row, kind) for row, kind in ((other, _SECOND), (accused, _ACCUSED)) if row >= 0]
    objects = np.append(here, [row for row, _ in named]).astype(np.int64)
    kinds = np.append(np.full(len(here), _OBJECT), [kind for _, kind in named]).astype(np.int64)
    rows = table.objects.row[objects]
    zeros = np.zeros(len(rows), np.int64)
    parts = [np.column_stack([kinds, table.objects.category[objects], zeros, tenths(truth.boxes[rows]), zeros, rows])]
    if errors.suggested[at] >= 0:
        place = int(errors.detection[at])
        row = int(table.detections.row[place])
        points = thousandths(np.nan_to_num(table.detections.score[place]))
        what = [_PROPOSED, int(errors.suggested[at]), int(points)]
        parts.append(np.array([[*what, *tenths(detections.boxes[row]).tolist(), 1, row]], np.int64))
    return np.concatenate(parts)
