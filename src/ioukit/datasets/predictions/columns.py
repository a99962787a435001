"""The columns of detections, filled prediction by prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Floats
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import refuse
from ioukit.datasets.predictions.prediction import Prediction, masks_of
from ioukit.errors import DatasetError
from ioukit.regions.masks import Masks
from ioukit.regions.rotated import RotatedBoxes

Rows = npt.NDArray[np.intp]


class PredictedColumns:
    """The valid detections so far."""

    def __init__(self, classes: Any, problems: Problems, source: str, mask_threshold: float) -> None:
        """Take what finds classes: ``classes.find(label, name, where)``."""
        self.find_class: Callable[[float | None, str | None, str], int] = classes.find
        self.problems = problems
        self.source = source
        self.mask_threshold = mask_threshold
        self.images: list[int | str] = []
        self.categories: list[int] = []
        self._known: dict[tuple[float | None, str | None], int] = {}
        self._parts: dict[str, list[tuple[int, Any]]] = {}

    def add(self, prediction: Prediction, image: int | str, size: tuple[float, float] | None, where: str) -> None:
        """Add the valid detections of an image; the size is that of the image if boxes are fractions."""
        corners = _corners(prediction, size)
        scores = prediction.scores
        count = len(corners) if scores is None else len(scores)
        good = self._good(corners, scores, where)
        kept, categories = self._classes(prediction, good, where)
        self.images += [image] * len(kept)
        self.categories += categories
        masks = None
        if prediction.masks is not None:
            masks = masks_of(prediction.masks, f"{where}: masks", threshold=self.mask_threshold).to_rle()
        given: dict[str, Any] = {
            "boxes": np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1),
            "scores": scores,
            "rotated": prediction.rotated,
            "keypoints": prediction.keypoints,
            "masks": masks,
            **{f"attribute {name}": column for name, column in prediction.attributes.items()},
        }
        for name, column in given.items():
            if column is None:
                continue
            if len(column) != count:
                refuse(f"{where}: {name}", f"{count:,} rows, one per box", f"{len(column):,}")
            rows = [column[row] for row in kept] if isinstance(column, list) else column[kept]
            self._parts.setdefault(name, []).append((len(self.images) - len(kept), rows))

    def detections(self, *, areas: str) -> Detections:
        """All detections.

        Raises:
            DatasetError: If some of them have masks, keypoints or rotated boxes, and others have none.
        """
        columns = {name: self._joined(name, parts) for name, parts in self._parts.items()}
        numbers = all(isinstance(image, int) for image in self.images)
        masks, rotated = columns.get("masks"), columns.get("rotated")
        if areas == "masks" and masks is None and self.images:
            raise DatasetError(f"{self.source}: expected masks, as areas='masks' was given, found none")
        attributes = {name.removeprefix("attribute "): column for name, column in columns.items() if " " in name}
        return Detections.from_arrays(
            image_ids=np.array(self.images, np.int64) if numbers else self.images,
            category_ids=np.array(self.categories, np.int64),
            boxes=columns.get("boxes", np.zeros((0, 4))),
            scores=columns.get("scores", None if self.images else np.zeros(0)),
            areas=Masks.from_rle(masks).area if areas == "masks" and masks else None,
            segmentations=masks,
            keypoints=columns.get("keypoints"),
            regions=None if rotated is None else RotatedBoxes(rotated, unit="radians", sense="clockwise"),
            attributes=attributes,
            source=self.source,
        )

    def _joined(self, name: str, parts: Sequence[tuple[int, Any]]) -> Any:
        count = len(self.images)
        found = sum(len(rows) for _, rows in parts)
        if found < count and not name.startswith("attribute "):
            raise DatasetError(
                f"{self.source}: expected {name} of all detections or of none, found those of {found:,} of {count:,}"
            )
        if name == "masks":
            return [one for _, rows in parts for one in rows]
        shapes = {rows.shape[1:] for _, rows in parts if len(rows)}
        if len(shapes) > 1:
            sizes = " and ".join(str(shape) for shape in sorted(shapes))
            raise DatasetError(f"{self.source}: expected {name} of one shape, found {sizes}")
        column = np.full((count, *(shapes.pop() if shapes else parts[0][1].shape[1:])), np.nan)
        for start, rows in parts:
            if len(rows):
                column[start : start + len(rows)] = rows
        return column

    def _good(self, corners: Floats, scores: Floats | None, where: str) -> Rows:
        """The rows with a valid box and score."""
        finite: Flags = np.all(np.isfinite(corners), axis=1)
        valid: Flags = finite & np.all(corners[:, :2] <= corners[:, 2:], axis=1)
        for row in np.flatnonzero(~valid).tolist():
            expected = "x1 <= x2 and y1 <= y2" if finite[row] else "finite numbers"
            self.problems.meet("invalid box", f"{where}: box {row}: expected {expected}, found {corners[row].tolist()}")
        if scores is None:
            return np.flatnonzero(valid)
        for row in np.flatnonzero(valid & ~np.isfinite(scores)).tolist():
            self.problems.meet("invalid score", f"{where}: score {row}: expected a finite number, found {scores[row]}")
        return np.flatnonzero(valid & np.isfinite(scores))

    def _classes(self, prediction: Prediction, rows: Rows, where: str) -> tuple[Rows, list[int]]:
        """The rows whose class is known, and the ids of their categories."""
        labels = [None] * len(rows) if prediction.labels is None else prediction.labels[rows].tolist()
        names = [None] * len(rows) if prediction.names is None else [prediction.names[row] for row in rows.tolist()]
        keys = list(zip(labels, names, strict=True))
        for row, key in zip(rows.tolist(), keys, strict=True):
            if key not in self._known and (found := self._class(*key, f"{where}: label {row}")) is not None:
                self._known[key] = found
        kept = [at for at, key in enumerate(keys) if key in self._known]
        return rows[kept], [self._known[keys[at]] for at in kept]

    def _class(self, label: float | None, name: str | None, where: str) -> int | None:
        try:
            return self.find_class(label, name, where)
        except DatasetError as error:
            self.problems.meet("unknown class", str(error))
            return None


def _corners(prediction: Prediction, size: tuple[float, float] | None) -> Floats:
    """(N, 4) ``x1, y1, x2, y2`` in pixels."""
    corners, rotated = prediction.boxes, prediction.rotated
    if corners is None:
        assert rotated is not None
        valid: Flags = np.all(np.isfinite(rotated), axis=1) & np.all(rotated[:, 2:4] >= 0, axis=1)
        corners = np.full((len(rotated), 4), np.nan)
        around = RotatedBoxes(rotated[valid], unit="radians", sense="clockwise").to_boxes()
        corners[valid] = around.convert("xyxy").numpy()
    return corners if size is None else corners * np.tile(size, 2)
