"""The label errors of a data set: columns, rows in words, and files."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_choice, check_count, check_number, pluralize
from ioukit._columns import Columns, record
from ioukit._output import printable, spreadsheet_text, whole_file
from ioukit._words_and_colours import overlap_name
from ioukit.evaluation.results import Evaluation
from ioukit.label_errors.label_error import BADLY_DRAWN, LABEL_ERROR_KINDS, OVERLOOKED, SWAPPED, LabelError, reason

_KEYS = tuple(kind.key for kind in LABEL_ERROR_KINDS)


CSV_COLUMNS = (
    *("image_id", "file_name", "annotation_id", "other_id", "kind", "class", "suggested_class"),
    *("x", "y", "width", "height", "suggested_x", "suggested_y", "suggested_width", "suggested_height"),
    *("score", "detection_score", "overlap", "reason"),
)
"""The columns of a CSV file, in order."""
WHICH = CSV_COLUMNS.index("score")
"""How many of them say which label is meant, and what is proposed; the others say why."""


@record(frozen=True, eq=False, repr=False)
class LabelErrors(Columns):
    """The result of :func:`find_label_errors`: one row per suspicious label, in descending order of the score.

    ``errors[rows]`` chooses rows by a slice, by a list of positions or by an array of bools.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset({"evaluation"})

    evaluation: Evaluation
    """The evaluation whose labels were examined. The rows below are those of its near match table."""
    kind: npt.NDArray[np.uint8]
    """(N,) position in :data:`LABEL_ERROR_KINDS`."""
    score: npt.NDArray[np.float64]
    """(N,) estimated probability that the label is wrong, within [0, 1]."""
    image: npt.NDArray[np.int64]
    """(N,) position in :attr:`MatchTable.image_ids`."""
    object: npt.NDArray[np.int64]
    """(N,) row of the accused object in the table; -1 for an overlooked one."""
    detection: npt.NDArray[np.int64]
    """(N,) row of the detection that speaks against the label; -1 for none."""
    other: npt.NDArray[np.int64]
    """(N,) row of the other object of a double; -1 for none."""
    category: npt.NDArray[np.int64]
    """(N,) position of the class in :attr:`MatchTable.categories`; -1 for an overlooked object."""
    suggested: npt.NDArray[np.int64]
    """(N,) position of the class that the object should have; -1 if it should be removed."""
    overlap: npt.NDArray[np.float64]
    """(N,) overlap of the object with the detection, or with the other object of a double, by the measure of the kind
    of region: IoU, for keypoints OKS. NaN for none. It is a lower bound for doubles other than boxes: the sum of the
    overlaps of both with one detection, minus 1."""
    expected: npt.NDArray[np.float64]
    """(N,) what is usual, or speaks for the label. Overlooked: the share of detections like this one that match an
    object. Badly drawn: the overlap of such a detection with its object. Swapped: score times overlap of the strongest
    detection of the label's class, NaN for none. Spurious: the share of objects like this one that a reliable detection
    overlaps. NaN for doubled objects. Shares and the usual overlap are estimates, not counts."""

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, rows: slice | npt.NDArray[Any] | list[int]) -> LabelErrors:
        return self.take(rows)

    def __repr__(self) -> str:
        counts = np.bincount(self.kind, minlength=len(_KEYS))
        found = ", ".join(f"{count:,} {key}" for key, count in zip(_KEYS, counts.tolist(), strict=True) if count)
        return f"LabelErrors({pluralize(len(self), 'row')}{': ' if found else ''}{found})"

    @property
    def kinds(self) -> list[str]:
        """(N,) the kinds by name."""
        return [_KEYS[kind] for kind in self.kind.tolist()]

    @cached_property
    def boxes(self) -> npt.NDArray[np.float64]:
        """(N, 4) ``x, y, width, height`` of the accused objects in pixels; NaN if there is none or it is not known."""
        return self._boxes_of(self.object)

    @cached_property
    def other_boxes(self) -> npt.NDArray[np.float64]:
        """(N, 4) boxes of the other objects of doubles; NaN for none."""
        return self._boxes_of(self.other)

    @cached_property
    def suggested_boxes(self) -> npt.NDArray[np.float64]:
        """(N, 4) boxes that the objects should have; NaN if the object should be removed, or if it is not known.

        Overlooked and badly drawn objects get the box of the detection, swapped ones keep their own.
        """
        found = np.full((len(self), 4), np.nan)
        detections = self.evaluation.detections
        if detections is not None:
            drawn = np.isin(self.kind, (OVERLOOKED, BADLY_DRAWN))
            rows = self.evaluation.near_matches().detections.row[self.detection[drawn]]
            found[drawn] = detections.boxes[rows]
        same = self.kind == SWAPPED
        found[same] = self.boxes[same]
        return found

    def _boxes_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        found = np.full((len(self), 4), np.nan)
        truth = self.evaluation.ground_truth
        if truth is not None:
            known = rows >= 0
            found[known] = truth.boxes[self.evaluation.near_matches().objects.row[rows[known]]]
        return found

    def chosen(
        self, *, top: int | None = None, at_least: float = 0.0, kinds: Iterable[str] | None = None
    ) -> LabelErrors:
        """The most suspicious labels.

        Args:
            top: How many at most; all if ``None``.
            at_least: The lowest score, within [0, 1].
            kinds: The kinds to keep; all if ``None``.

        Raises:
            TypeError: If ``kinds`` is one name instead of a list.
            ValueError: If ``top`` is negative, the score is not within [0, 1], or a kind is unknown.
        """
        check_number(at_least=at_least)
        if not 0 <= at_least <= 1:
            raise ValueError(f"at_least must be within [0, 1], got {at_least}")
        if top is not None:
            check_count(top=top)
        kept = self.score >= at_least
        if kinds is not None:
            if isinstance(kinds, str):
                raise TypeError(f"expected a list of kinds, got {kinds!r}; write [{kinds!r}]")
            names = list(kinds)
            for name in names:
                check_choice("kind", name, _KEYS)
            kept = kept & np.isin(self.kind, [_KEYS.index(name) for name in names])
        return self.take(np.flatnonzero(kept)[:top])

    def image_scores(self) -> npt.NDArray[np.float64]:
        """(I,) estimated probability that an image has at least one wrong label, in the order of the match table.

        It assumes that the errors are independent: 1 minus the product of the chances that each label is right.
        """
        right = np.bincount(
            self.image, np.log1p(-np.minimum(self.score, 1 - 1e-9)), len(self.evaluation.matches.image_ids)
        )
        return -np.expm1(right)

    def rows(self) -> list[LabelError]:
        """The rows with names and words, in the same order."""
        table = self.evaluation.near_matches()
        names = table.categories.names
        files = self._file_names()
        scores = np.where(self.detection >= 0, _padded(table.detections.score)[self.detection], np.nan)
        # The rows -1 take the additional last value, which is not used.
        ids, others = (_padded(table.objects.id)[rows].tolist() for rows in (self.object, self.other))
        other_classes = _padded(table.objects.category)[self.other].tolist()
        iou_type = self.evaluation.matches.iou_type
        bound, measure = self.evaluation.ground_truth is None or iou_type != "bbox", overlap_name(iou_type)
        images, boxes = table.image_ids[self.image].tolist(), self.boxes.tolist()
        new_boxes = self.suggested_boxes.tolist()
        found = []
        for at, kind in enumerate(self.kinds):
            label, wanted = int(self.category[at]), int(self.suggested[at])
            score, overlap = float(scores[at]), float(self.overlap[at])
            known, suggested = names[label] if label >= 0 else None, names[wanted] if wanted >= 0 else None
            other_id, other_class = (others[at], names[other_classes[at]]) if kind == "doubled" else (None, None)
            row = LabelError(
                kind=kind,
                score=float(self.score[at]),
                image_id=images[at],
                file_name=files[at],
                annotation_id=ids[at] if label >= 0 else None,
                other_id=other_id,
                category=known,
                suggested_category=suggested,
                box=_box(boxes[at]),
                suggested_box=_box(new_boxes[at]),
                detection_score=None if math.isnan(score) else score,
                overlap=None if math.isnan(overlap) else overlap,
                reason="",
            )
            words = reason(
                row,
                other_class=other_class,
                usual=float(self.expected[at]),
                is_bound=bound,
                measure=measure,
            )
            found.append(row._replace(reason=words))
        return found

    def _file_names(self) -> list[str]:
        truth = self.evaluation.ground_truth
        if truth is None:
            return [""] * len(self)
        wanted, place = np.unique(self.image, return_inverse=True)
        listed = truth.images.positions(self.evaluation.matches.image_ids[wanted])
        names = truth.images.names.take(listed)[:]
        return [names[k] for k in place.reshape(-1).tolist()]

    def to_dict(self) -> dict[str, Any]:
        """The rows in plain Python values, the number of rows of each kind, and the version."""
        counts = np.bincount(self.kind, minlength=len(_KEYS)).tolist()
        rows = []
        for row in self.rows():
            fields = row._asdict()
            fields["box"], fields["suggested_box"] = (None if box is None else list(box) for box in row[8:10])
            rows.append(fields)
        return {"counts": dict(zip(_KEYS, counts, strict=True)), "errors": rows, "version": _core.__version__}

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as a CSV file for annotators; the file appears complete or not at all.

        A missing value is an empty field. Numbers have all digits that they need to be read back with the same bits.
        A text that a spreadsheet would run as a formula gets an apostrophe before it, and so does a text that begins
        with an apostrophe.

        Args:
            path: The file to write.

        Raises:
            OSError: If the file cannot be written. It is then as it was.
        """
        with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(CSV_COLUMNS)
            writer.writerows(map(cells, self.rows()))


def cells(row: LabelError) -> tuple[Any, ...]:
    """The cells of a label in a CSV file, see :data:`CSV_COLUMNS`; ``None`` for an empty one."""
    image = _text(row.image_id) if isinstance(row.image_id, str) else row.image_id
    names = (_text(row.category), _text(row.suggested_category))
    boxes = (*(row.box or (None,) * 4), *(row.suggested_box or (None,) * 4))
    what = (image, _text(row.file_name), row.annotation_id, row.other_id, row.kind, *names)
    return (*what, *boxes, row.score, row.detection_score, row.overlap, _text(row.reason))


def _padded(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.append(column, np.zeros(1, column.dtype))


def _box(numbers: list[float]) -> tuple[float, float, float, float] | None:
    if math.isnan(numbers[0]):
        return None
    x, y, width, height = numbers
    return x, y, width, height


def _text(text: str | None) -> str | None:
    """A text as a field: invisible characters are escaped, and a formula gets an apostrophe before it."""
    return spreadsheet_text(printable(text)) if text else text
