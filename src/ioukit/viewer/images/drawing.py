"""Drawings of images: the marks of all models, for the cards of the grid and for one large image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Rows
from ioukit.evaluation import Outlines
from ioukit.evaluation.analysis.outcomes_by_score import NOT_COUNTED
from ioukit.evaluation.outlines.outline import box_outlines
from ioukit.report._pictures import Drawer, picture_size, tenths, thousandths
from ioukit.report._texts import abbreviate
from ioukit.viewer.answers.selecting import select

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.filters import Filter
    from ioukit.viewer.answers.marks import Marks
    from ioukit.viewer.marking.noted_marks import Noting


_BOX, _SIDE, _DATA_ROW, _ROW = slice(3, 7), 7, 8, 9
_COLUMNS = 9  # of the page


@dataclass(frozen=True)
class Surroundings:
    """What else is known of images."""

    noting: Noting | None = None
    """Tags and notes."""
    has_photograph: Callable[[int], bool] = lambda _: False
    """Whether there is a photograph of the image at a position."""
    size_of_photograph: Callable[[int], tuple[int, int] | None] = lambda _: None
    """Width and height of it; asked for only if the ground truth does not know the size of the image."""


@dataclass(frozen=True)
class Drawn:
    """The drawing of one image."""

    page: dict[str, Any]
    """The drawing as the page reads it."""
    sides: Rows
    """(B,) of each mark, in the order of the page: 0 for an object, ``m`` for a detection of the ``m``-th model."""
    rows: Rows
    """(B,) its row in the match table of its model."""


class Drawings:
    """Draws images with the marks of a filter's thresholds.

    Args:
        collection: What is shown.
        chosen: The filter.
        around: What else is known of the images.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """

    def __init__(self, collection: Collection, chosen: Filter, around: Surroundings) -> None:
        self._collection, self._around = collection, around
        selection = select(collection, chosen, None if around.noting is None else around.noting.tagged())
        self.marks: list[Marks] = selection.marks
        """The marks of all models; those of the objects alone if there is no model."""
        self._model = selection.model
        self._chosen = selection.chosen_marks
        self._detections = [model.detections for model in collection.models]
        self._drawer = Drawer(collection.table.iou_type, collection.ground_truth, *self._detections)

    def style(self) -> dict[str, Any]:
        """How the page draws the images so far, and a sentence for the reader."""
        return self._drawer.style()

    def of(self, at: int) -> Drawn:
        """The drawing of the image at a position."""
        collection = self._collection
        number = int(collection.image_rows[at])
        rows = self._rows(at)
        known = collection.ground_truth.images.sizes[number]
        photograph = self._around.has_photograph(at)
        size = self._around.size_of_photograph(at) if photograph and np.isnan(known).any() else None
        width, height = picture_size(known if size is None else size, rows[:, :7])
        if self._drawer.draws_boxes:
            drawing: dict[str, Any] = {"w": width, "h": height}
        else:
            drawing = self._drawer.drawn(self._outlines(rows), rows, (width, height))
            rows = np.array(drawing.pop("boxes"), np.int64).reshape(-1, rows.shape[1])
        page = {
            "at": at,
            "name": abbreviate(collection.image_names[at]),
            "id": collection.table.image_ids[at].item(),
            "photo": photograph and "grid" not in drawing,
            **drawing,
            "boxes": rows[:, :_COLUMNS].ravel().tolist(),
        }
        if self._chosen is not None:
            picked = np.zeros(len(rows), np.int64)
            for side, of_side in enumerate(self._chosen):
                here = rows[:, _SIDE] == side
                picked[here] = of_side[rows[here, _ROW]]
            page["chosen"] = picked.tolist()
        if self._around.noting is not None:
            written = [entry for _, entry in self._around.noting.of_image(at)]
            page["tags"] = sorted({tag for entry in written for tag in entry.tags})
            page["noted"] = any(entry.note for entry in written)
        return Drawn(page, rows[:, _SIDE], rows[:, _ROW])

    def _rows(self, at: int) -> Rows:
        """(B, 10) the marks of an image: the nine numbers of the page, and the row in the table; objects first."""
        collection = self._collection
        truth, table = collection.ground_truth, collection.table
        # Objects are found or missed by the chosen model.
        objects, here = self.marks[self._model].objects, collection.objects_of(at)
        parts = [_part(objects.kind[here], table.objects, truth.boxes, here, 0)]
        for side, (model, detections) in enumerate(zip(collection.models, self._detections, strict=True), 1):
            of_model, listed, here = self.marks[side - 1], model.table.detections, model.detections_of(at)
            kinds = np.where(listed.score[here] >= of_model.at_score, of_model.level.kind[here], np.uint8(NOT_COUNTED))
            parts.append(_part(kinds, listed, detections.boxes, here, side))
        return np.concatenate(parts)

    def _outlines(self, rows: Rows) -> Outlines:
        """The outlines of marks; what has none, such as a person without keypoints, is drawn as its box."""
        found = self._drawer.outlines(rows[:, _SIDE], rows[:, _DATA_ROW])
        if found.view != "image" or not any(outline.is_empty for outline in found):
            return found
        pairs = zip(found, box_outlines(rows[:, _BOX] / 10), strict=True)
        return replace(found, items=tuple(box if outline.is_empty else outline for outline, box in pairs))


def drawings(
    collection: Collection, chosen: Filter, positions: Sequence[int], around: Surroundings | None = None
) -> dict[str, Any]:
    """The drawings of images, as the page reads them.

    Each has ``at``, ``name``, ``id``, ``w``, ``h``, ``photo``, ``boxes`` with nine numbers for each mark (kind, class,
    score in thousandths, x, y, width and height in tenths of a pixel, side, row in the data), ``shapes`` and ``grid``
    if the regions are not boxes, ``chosen`` with 0 or 1 for each mark if the filter says something about marks, and
    ``tags`` and ``noted`` if there are notes. ``style`` says how to draw them.

    Args:
        collection: What is shown.
        chosen: The filter.
        positions: The positions of the images.
        around: What else is known of the images; whether there is a folder of photographs if ``None``.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    made = Drawings(collection, chosen, around or with_folder(collection))
    return {"images": [made.of(at).page for at in positions], "style": made.style()}


def with_folder(collection: Collection) -> Surroundings:
    """Photographs of all images if there is a folder."""
    return Surroundings(has_photograph=lambda _: collection.folder is not None)


def _part(kinds: npt.NDArray[np.uint8], listed: Any, boxes: npt.NDArray[np.float64], rows: slice, side: int) -> Rows:
    """(B, 10) the marks of one side of an image, in the order of the data.

    Args:
        kinds: The kind of each mark of the image.
        listed: The objects or the detections of the match table.
        boxes: The boxes of the data.
        rows: The rows of the image in the table.
        side: 0 for objects, ``m`` for the detections of the ``m``-th model.
    """
    places = np.flatnonzero(kinds != NOT_COUNTED) + rows.start
    places = places[np.argsort(listed.row[places], kind="stable")]
    in_data = listed.row[places]
    scores = thousandths(listed.score[places]) if side else np.zeros(len(places), np.int64)
    around = tenths(np.nan_to_num(boxes[in_data]))
    sides = np.full(len(places), side)
    return np.column_stack(
        [kinds[places - rows.start], listed.category[places], scores, around, sides, in_data, places]
    ).astype(np.int64)
