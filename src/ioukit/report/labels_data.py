"""The data that the page of label errors shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._output import printable
from ioukit.evaluation.kinds import find_kind
from ioukit.label_errors import LABEL_ERROR_KINDS
from ioukit.report._names import shown
from ioukit.report._numbers import Tile
from ioukit.report._outlines import FARTHEST, Drawer, picture_size
from ioukit.report._sources import InputFile, input_file, made_with, time_text
from ioukit.report._thumbnails import thumbnail
from ioukit.report.data import input_paths

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping
    from pathlib import Path

    from ioukit.label_errors import LabelError, LabelErrors

__all__ = ["LabelsData", "labels_data"]

Positions = npt.NDArray[np.int64]

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


@dataclass(frozen=True)
class LabelsData:
    """The data of the page. Invisible characters in texts are already escaped."""

    title: str
    created: str
    facts: tuple[tuple[str, str], ...]
    tiles: tuple[Tile, ...]
    """How many labels of each kind are listed."""
    listed: int
    """How many labels the page lists."""
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    files: tuple[InputFile, ...]
    drawn: Mapping[str, Any] = field(repr=False)
    """The data of the page's script."""


def labels_data(
    errors: LabelErrors,
    *,
    images: Path | None,
    title: str | None,
    most: int,
    photographs: int,
    created: datetime.datetime | None,
) -> LabelsData:
    """Collect the data of a page; the arguments are those of :func:`write_label_errors`."""
    for name, value in (("most", most), ("photographs", photographs)):
        if value < 0:
            raise ValueError(f"{name} must not be negative, got {value}")
    evaluation, listed = errors.evaluation, errors[:most]
    files = tuple(input_file(role, path) for role, path in input_paths(evaluation))
    by_role = {file.role: file.name for file in files}
    rows = listed.rows()
    categories = evaluation.matches.categories
    names = [shown(name, f"class {n}") for n, name in zip(categories.ids.tolist(), categories.names, strict=True)]
    records, notes, style = _pictures(listed, rows, images, photographs)
    if len(listed) < len(errors):
        notes.insert(0, f"The page lists the {len(listed):,} most suspicious of {len(errors):,} labels.")
    if evaluation.ground_truth is None and len(listed):
        notes.append("The evaluation does not hold its data, so boxes and names of files are not known.")
    facts = [
        (len(evaluation.matches.image_ids), "image", "images"),
        (len(evaluation.matches.objects), "annotation", "annotations"),
        (len(evaluation.near_matches()), "detection", "detections"),
    ]
    return LabelsData(
        title=shown(title if title is not None else by_role.get("Ground truth", "Labels")),
        created=time_text(created),
        facts=tuple((one if count == 1 else many, f"{count:,}") for count, one, many in facts),
        tiles=tuple(_tiles(errors)),
        listed=len(listed),
        notes=tuple(map(printable, notes)),
        settings=made_with(),
        files=files,
        drawn={
            "names": names,
            "kinds": [[kind.title, kind.change] for kind in LABEL_ERROR_KINDS],
            "images": records["images"],
            "photos": records["photos"],
            "drawing": style,
        },
    )


def _tiles(errors: LabelErrors) -> list[Tile]:
    tiles = []
    for place, kind in enumerate(LABEL_ERROR_KINDS):
        scores = errors.score[errors.kind == place]
        expected = float(scores.sum())
        about = f" About {expected:,.0f} of them are expected to be wrong." if len(scores) else ""
        tiles.append(Tile(kind.title, f"{len(scores):,}", _MEANINGS[kind.key] + about))
    return tiles


def _pictures(
    errors: LabelErrors, rows: list[LabelError], folder: Path | None, photographs: int
) -> tuple[dict[str, list[Any]], list[str], dict[str, Any]]:
    """The labels with their pictures, notes for the reader, and how the script draws regions."""
    evaluation = errors.evaluation
    truth, table = evaluation.ground_truth, evaluation.near_matches()
    kinds = {kind.key: place for place, kind in enumerate(LABEL_ERROR_KINDS)}
    photos: list[str] = []
    place_of: dict[int, tuple[int, tuple[int, int]] | None] = {}
    missing: dict[int, str] = {}
    found = []
    sides = [] if evaluation.detections is None else [evaluation.detections]
    drawer = None if truth is None else Drawer(find_kind(table.iou_type), truth, *sides)
    listed: Any = [] if truth is None else truth.images.positions(table.image_ids)
    for at, row in enumerate(rows):
        image = int(errors.image[at])
        record: dict[str, Any] = {
            "name": shown(row.file_name, f"image {row.image_id}"),
            "kind": kinds[row.kind],
            "score": round(row.score, 4),
            "id": row.annotation_id,
            "label": int(errors.category[at]),
            "suggested": int(errors.suggested[at]),
            "reason": printable(row.reason),
        }
        found.append(record)
        if truth is None or drawer is None:
            continue
        known = truth.images.sizes[int(listed[image])]
        regions = _regions(errors, at)
        drawing = drawer.drawing(regions, known)
        if folder is not None and not drawer.seen_from_above:
            if image not in place_of and len(photos) < photographs:
                raw = truth.images.names[int(listed[image])]
                small = thumbnail(folder, raw, (float(known[0]), float(known[1])))
                if isinstance(small, str):
                    missing[image], place_of[image] = f"{record['name']} ({small})", None
                else:
                    place_of[image] = len(photos), small[1]
                    photos.append(small[0])
            if (photo := place_of.get(image)) is not None:
                record["photo"] = photo[0]
                if np.isnan(known).any():
                    drawing["w"], drawing["h"] = picture_size(photo[1], regions[:, :7])
        record |= drawing
    notes = []
    if missing:
        some = [*missing.values()]
        notes.append(f"{len(some):,} photographs are missing: {', '.join(some[:3])}{', ...' if len(some) > 3 else ''}")
    shown_images = {int(image) for image in errors.image.tolist()}
    if folder is not None and len(shown_images) > len(place_of):
        notes.append(f"The photographs of {len(shown_images) - len(place_of):,} further images are left out.")
    return {"images": found, "photos": photos}, notes, {} if drawer is None else drawer.style()


def _regions(errors: LabelErrors, at: int) -> Positions:
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
    parts = [np.column_stack([kinds, table.objects.category[objects], zeros, _tenths(truth.boxes[rows]), zeros, rows])]
    if errors.suggested[at] >= 0:
        place = int(errors.detection[at])
        row = int(table.detections.row[place])
        points = np.clip(np.nan_to_num(table.detections.score[place]) * 1000, -1e9, 1e9).round().astype(np.int64)
        what = [_PROPOSED, int(errors.suggested[at]), int(points)]
        parts.append(np.array([[*what, *_tenths(detections.boxes[row]).tolist(), 1, row]], np.int64))
    return np.concatenate(parts)


def _tenths(boxes: npt.NDArray[np.float64]) -> Positions:
    whole: Positions = (boxes * 10).clip(-FARTHEST, FARTHEST).round().astype(np.int64)
    return whole
