"""From dicts with masks, keypoints or other regions to checked rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ioukit.datasets.columns.keypoints import boxes_of_keypoints
from ioukit.datasets.formats.text_files import refuse
from ioukit.datasets.predictions.prediction import masks_of
from ioukit.evaluation.evaluator.categories import KnownCategories
from ioukit.evaluation.evaluator.reading import Reader, Records
from ioukit.evaluation.evaluator.rows import Rows
from ioukit.evaluation.evaluator.values import Joined, Member, joined, place_of
from ioukit.regions.boxes import Boxes
from ioukit.regions.masks import Masks
from ioukit.regions.regions import Regions
from ioukit.typing import BoxFormat

_MASKS, _KEYPOINTS = "Masks", "keypoints"


class RegionReader(Reader):
    """Reads the dicts of one side, with the regions that a kind compares."""

    def __init__(self, side: str, format: BoxFormat, column: str | None) -> None:
        """Take the column of regions that both sides need; ``None`` takes all regions that there are."""
        super().__init__(side, format)
        self.column = column
        key = {None: (), _MASKS: ("masks",), _KEYPOINTS: ("keypoints",)}.get(column, ("boxes",))
        has_boxes = column == _KEYPOINTS and side == "targets"
        boxes = ("boxes",) if has_boxes else ()
        self.needs = (*boxes, *key, *(name for name in self.needs if name != "boxes"))
        self._points = Member(side, "keypoints", (None, 3), "iuf")

    def rows(self, records: Records, known: KnownCategories | None) -> Rows:
        """The regions of all images, and their boxes if there are any."""
        rows = super().rows(records, known)
        if self.side == "predictions":
            self._add_areas(rows)
        return rows

    def _fields_of(self, records: Records) -> tuple[dict[str, Any], dict[str, Joined]]:
        boxes, box_format = None, self.format
        if self._have_boxes(records):
            boxes, box_format = self._boxes_of(records)
        sets = self._sets(records)
        points = self._keypoints(records)
        fields = {
            "counts": self._common_counts(boxes, sets, points),
            "boxes": None if boxes is None else boxes.rows,
            "format": box_format,
            "regions": [one for one, _ in sets],
            "keypoints": None if points is None else points.rows.astype(np.float64),
        }
        return fields, {name: one for name, one in (("boxes", boxes), ("keypoints", points)) if one is not None}

    def _have_boxes(self, records: Records) -> bool:
        """Whether upright boxes are given. An image without rows may have them where others do not."""
        if self.column not in (None, _MASKS, _KEYPOINTS):
            return False  # they are the regions
        given: list[Any] = [record.get("boxes") for record in records]
        # Regions of another kind under this key are no upright boxes.
        lacks = [value is None or (isinstance(value, Regions) and not isinstance(value, Boxes)) for value in given]
        if not any(lacks):
            return True
        if with_boxes := [at for at, missing in enumerate(lacks) if not missing and len(given[at])]:
            other = lacks.index(True)
            refuse(f"{self.side}[{with_boxes[0]}]: boxes", f"none, as image {other} has none", "boxes")
        return False

    def _sets(self, records: Records) -> list[tuple[Regions, list[int]]]:
        """The sets of regions, each with the number of rows of every image."""
        found: list[tuple[Regions, list[int]]] = []
        if self.column == _MASKS or (self.column is None and all("masks" in record for record in records)):
            parts = [masks_of(record["masks"], f"{self.side}[{at}]: masks") for at, record in enumerate(records)]
            found.append((Masks.concat(parts), list(map(len, parts))))
        if self.column in (None, _MASKS, _KEYPOINTS):
            return found
        values = [record["boxes"] for record in records]
        for at, value in enumerate(values):
            if type(value).__name__ != self.column:
                refuse(f"{self.side}[{at}]: boxes", f"{self.column}, as this kind compares", type(value).__name__)
        return [*found, (type(values[0]).concat(values), list(map(len, values)))]

    def _keypoints(self, records: Records) -> Joined | None:
        if self.column != _KEYPOINTS and not (self.column is None and all(_KEYPOINTS in one for one in records)):
            return None
        found = joined([record[_KEYPOINTS] for record in records], self._points)
        finite = np.isfinite(found.rows).all(axis=(1, 2))
        if not finite.all():
            image, at = place_of(int(np.argmin(finite)), found.counts)
            refuse(f"{self.side}[{image}]: keypoints: row {at}", "finite numbers", "others")
        return found

    def _common_counts(
        self, boxes: Joined | None, sets: Sequence[tuple[Regions, list[int]]], points: Joined | None
    ) -> list[int]:
        """The number of rows of every image, the same for all that was read."""
        given = [] if boxes is None else [("boxes", boxes.counts)]
        given += [(type(one).__name__.lower(), counts) for one, counts in sets]
        given += [] if points is None else [("keypoints", points.counts)]
        if not given:
            refuse(self.side, "boxes, masks, keypoints or other regions", "none of them")
        first, counts = given[0]
        for name, others in given[1:]:
            for image, (mine, its) in enumerate(zip(counts, others, strict=True)):
                if mine != its:
                    refuse(f"{self.side}[{image}]: {name}", f"{mine:,} values, as many as {first}", f"{its:,}")
        return counts

    def _add_areas(self, rows: Rows) -> None:
        """The areas of detections are those of the regions that are compared, as pycocotools takes them."""
        if rows.regions:
            rows.areas = np.asarray(rows.regions[0].area, np.float64)
        elif rows.keypoints is not None:
            boxes, rows.areas = boxes_of_keypoints(rows.keypoints, self.side, None)
            if rows.boxes is None:
                rows.boxes, rows.format = boxes, "xywh"
