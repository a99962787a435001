"""From the dicts that `update` takes to checked rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import pluralize
from ioukit._near_names import near_names
from ioukit.datasets.columns._checks import pixel_boxes
from ioukit.datasets.formats.text_files import refuse
from ioukit.evaluation.evaluator.categories import KnownCategories
from ioukit.evaluation.evaluator.rows import Rows
from ioukit.evaluation.evaluator.values import Joined, Member, joined, place_of
from ioukit.regions.boxes import Boxes
from ioukit.regions.formats import convert
from ioukit.typing import BoxFormat

_SAFE = 2.0**51  # sides of boxes with such coordinates stay below 2**53
_OPTIONAL = {"predictions": (), "targets": ("iscrowd", "area")}

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

Records = Sequence[Mapping[str, Any]]


class Reader:
    """Reads the dicts of one side. It remembers which keys it has seen, so that they are checked once."""

    def __init__(self, side: str, format: BoxFormat) -> None:
        self.side, self.format = side, format
        self.needs: tuple[str, ...] = ("boxes", "labels", "scores") if side == "predictions" else ("boxes", "labels")
        self.optional: tuple[str, ...] = _OPTIONAL[side]
        self._boxes = Member(side, "boxes", (4,), "iuf")
        self._labels = Member(side, "labels", (), "iu")
        self._scores = Member(side, "scores", (), "iuf")
        self._crowd = Member(side, "iscrowd", (), "biu")
        self._areas = Member(side, "area", (), "iuf")
        self._keys_seen: set[tuple[str, ...]] = set()

    def rows(self, records: Records, known: KnownCategories | None) -> Rows:
        """The boxes of all images.

        Raises:
            DatasetError: If a value is missing or invalid; the message names the image, the key and the row.
            TypeError: If a record is no mapping.
        """
        self._check_keys(records)
        fields, read = self._fields_of(records)
        counts: list[int] = fields["counts"]
        read["labels"] = self._labels_of(records, counts, known)
        rows = Rows(labels=read["labels"].rows, **fields)
        if "scores" in self.needs:
            read["scores"] = self._scores_of(records, counts)
            rows.scores = read["scores"].rows
        if self.side == "targets":
            read |= self._add_flags(records, rows)
        self._check_devices(read)
        return rows

    def _fields_of(self, records: Records) -> tuple[dict[str, Any], dict[str, Joined]]:
        """The fields of :class:`Rows` that the regions give, and the values that were read."""
        boxes, box_format = self._boxes_of(records)
        return {"counts": boxes.counts, "boxes": boxes.rows, "format": box_format}, {"boxes": boxes}

    def _check_keys(self, records: Records) -> None:
        """Raises an error for a record that is no mapping or lacks a key, and for keys that are nearly right."""
        for at, record in enumerate(records):
            if type(record) is not dict and not isinstance(record, Mapping):
                raise TypeError(
                    f"{self.side}[{at}]: expected a dict with {', '.join(self.needs)}, got {type(record).__name__}"
                )
            keys = tuple(record)
            if keys in self._keys_seen:
                continue
            self._check_names(keys, f"{self.side}[{at}]")
            self._keys_seen.add(keys)

    def _check_names(self, keys: tuple[Any, ...], where: str) -> None:
        names = [key for key in keys if isinstance(key, str)]
        for name in self.needs:
            if name not in names:
                others = [key for key in names if key not in (*self.needs, *self.optional)]
                near = near_names(name, others, 1, cutoff=0.5)
                found = ", ".join(map(repr, keys)) or "no keys"
                refuse(where, f"the key {name!r}", f"{found}{f'; rename {near[0]!r}' if near else ''}")
        others = [key for key in names if key not in self.optional]
        for name in self.optional:
            if name not in names and (near := near_names(name, others, 1, cutoff=0.8)):
                refuse(where, f"the key {name!r}, or no such key", repr(near[0]))

    def _boxes_of(self, records: Records) -> tuple[Joined, BoxFormat]:
        values = [record["boxes"] for record in records]
        if any(isinstance(value, Boxes) for value in values):
            return self._with_formats(values), "xywh"
        for at, value in enumerate(values):
            if type(value).__name__ == "BoundingBoxes":
                self._check_named_format(value, at)
        found = joined(values, self._boxes)
        rows = np.ascontiguousarray(_as_floats(found.rows))
        is_small = not rows.size or (rows.max() <= _SAFE and rows.min() >= -_SAFE)
        if _core.first_invalid(rows, self.format == "xyxy") is not None or not is_small:
            self._check_boxes(rows, found.counts)
        return found._replace(rows=rows), self.format

    def _check_named_format(self, value: Any, at: int) -> None:
        """Refuses torchvision's boxes in another format; they know theirs, and arrays do not."""
        named = getattr(getattr(value, "format", None), "name", self.format).lower()
        if named != self.format:
            expected = f"the format {self.format!r} of Evaluator(box_format=...)"
            refuse(f"{self.side}[{at}]: boxes", expected, f"BoundingBoxes in the format {named!r}")

    def _with_formats(self, values: Sequence[Any]) -> Joined:
        """Boxes of which some know their format."""
        parts = []
        for at, value in enumerate(values):
            if isinstance(value, Boxes):
                if value.normalized:
                    refuse(f"{self.side}[{at}]: boxes", "pixels", "normalized boxes: denormalize(width, height) them")
                parts.append(Joined(pixel_boxes(value, len(value)), [len(value)], None))
            else:
                # Messages number the images, so the images before this one stand as empty ones.
                before: list[Any] = [[]] * at
                one = joined([*before, value], self._boxes)
                rows = one.rows.astype(np.float64)
                self._check_boxes(rows, one.counts)
                parts.append(Joined(convert(rows, self.format, "xywh"), one.counts[-1:], one.device))
        rows = np.concatenate([part.rows for part in parts])
        counts = [part.counts[0] for part in parts]
        devices = {part.device for part in parts} - {None}
        if (problem := _core.box_problem(np.ascontiguousarray(rows, np.float64))) is not None:
            row, expected, found = problem
            image, at = place_of(row, counts)
            refuse(f"{self.side}[{image}]: boxes: row {at}", expected, found)
        return Joined(rows, counts, devices.pop() if len(devices) == 1 else None)

    def _check_boxes(self, rows: npt.NDArray[Any], counts: Sequence[int]) -> None:
        sides = np.ascontiguousarray(convert(rows.astype(np.float64), self.format, "xywh"), np.float64)
        if (problem := _core.box_problem(sides)) is None:
            return
        row, expected, _ = problem
        image, at = place_of(row, counts)
        hint = ""
        if expected.startswith("a width") and self.format == "xyxy":
            expected = "x1 <= x2 and y1 <= y2"
            hint = "; if these are widths and heights, say so: box_format='xywh', or 'cxcywh'"
        elif expected.startswith("a width"):
            hint = f" with box_format={self.format!r}"
        refuse(f"{self.side}[{image}]: boxes: row {at}", expected, f"{rows[row].tolist()}{hint}")

    def values_of(self, records: Records, counts: Sequence[int], member: Member) -> Joined:
        """The values of a key, one per row.

        Raises:
            DatasetError: If a value is something else, or an image has more or fewer values than boxes.
        """
        found = joined([record[member.name] for record in records], member)
        self._check_counts(found, counts, member.name)
        return found

    def _labels_of(self, records: Records, counts: Sequence[int], known: KnownCategories | None) -> Joined:
        """The labels, one per row."""
        values = [record["labels"] for record in records]
        if known is not None and any(_are_names(value) for value in values):
            values = [self._ids_of_names(value, at, known) for at, value in enumerate(values)]
        labels = joined(values, self._labels)
        self._check_counts(labels, counts, "labels")
        if labels.rows.dtype != np.int64:
            labels = labels._replace(rows=labels.rows.astype(np.int64))
        if known is not None:
            known.check(labels.rows, counts, self.side)
        return labels

    def _ids_of_names(self, value: Any, at: int, known: KnownCategories) -> Any:
        if not _are_names(value):
            return value
        return [known.id_of(str(name), f"{self.side}[{at}]: labels: row {row}") for row, name in enumerate(value)]

    def _scores_of(self, records: Records, counts: Sequence[int]) -> Joined:
        """The scores, one per row: any finite numbers."""
        scores = self.values_of(records, counts, self._scores)
        rows = _as_floats(scores.rows)
        self._check_finite(rows, counts, "scores")
        return scores._replace(rows=rows)

    def _add_flags(self, records: Records, rows: Rows) -> dict[str, Joined]:
        """Put ``iscrowd`` and ``area`` of targets into their rows; the values that were read are returned."""
        read = {}
        crowd = self.flags_of(records, rows.counts, self._crowd)
        if crowd is not None:
            rows.crowd = crowd.rows if crowd.rows.any() else None
            read["iscrowd"] = crowd
        area, missing = self.optional_values(records, rows.counts, self._areas)
        if area is not None:
            values = _as_floats(area.rows)
            self._check_finite(values, rows.counts, "area", lowest=0.0)
            if missing is not None:
                values = np.where(missing, np.array(np.nan, values.dtype), values)
            rows.areas = values
            read["area"] = area
        return read

    def flags_of(self, records: Records, counts: Sequence[int], member: Member) -> Joined | None:
        """The booleans of a key that records may lack, false for those that do; ``None`` if all of them do.

        Raises:
            DatasetError: If a value is neither a boolean nor 0 or 1.
        """
        found, _ = self.optional_values(records, counts, member)
        if found is None or found.rows.dtype.kind == "b":
            return found
        wrong = (found.rows != 0) & (found.rows != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            image, at = place_of(row, counts)
            refuse(f"{self.side}[{image}]: {member.name}: row {at}", "0 or 1", str(found.rows[row]))
        return found._replace(rows=found.rows != 0)

    def optional_values(
        self, records: Records, counts: Sequence[int], member: Member
    ) -> tuple[Joined | None, npt.NDArray[np.bool_] | None]:
        """A column that records may lack, and the rows of those that do; ``None`` if all or none of them do."""
        values = [record.get(member.name) for record in records]
        lacks = [value is None for value in values]
        if all(lacks):
            return None, None
        rows = None
        if any(lacks):
            values = [
                np.zeros(count, np.int64) if value is None else value
                for value, count in zip(values, counts, strict=True)
            ]
            rows = np.repeat(lacks, counts)
        found = joined(values, member)
        self._check_counts(found, counts, member.name)
        return found, rows

    def _check_counts(self, found: Joined, counts: Sequence[int], name: str) -> None:
        """Raises :class:`~ioukit.DatasetError` for the first image with more or fewer values than boxes."""
        if found.counts == counts:
            return
        for image, (count, boxes) in enumerate(zip(found.counts, counts, strict=True)):
            if count != boxes:
                row = "detection" if self.side == "predictions" else "object"
                refuse(f"{self.side}[{image}]: {name}", f"{pluralize(boxes, 'value')}, one per {row}", f"{count:,}")

    def _check_finite(
        self, rows: npt.NDArray[Any], counts: Sequence[int], name: str, *, lowest: float | None = None
    ) -> None:
        fine = np.isfinite(rows)
        if lowest is not None:
            fine &= rows >= lowest
        if fine.all():
            return
        row = int(np.argmin(fine))
        image, at = place_of(row, counts)
        expected = "a finite number" if lowest is None else f"a finite number of at least {lowest:g}"
        refuse(f"{self.side}[{image}]: {name}: row {at}", expected, str(rows[row]))

    def _check_devices(self, read: Mapping[str, Joined]) -> None:
        """Raises :class:`~ioukit.DatasetError` if the tensors of one side are on different devices."""
        found: dict[str, str] = {}
        for name, one in read.items():
            if one.device is not None:
                found.setdefault(one.device, name)
        if len(found) > 1:
            listed = " and ".join(f"{name} on {device}" for device, name in found.items())
            refuse(self.side, "tensors on one device", listed)


def _as_floats(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers as float32 or float64, without loss."""
    if rows.dtype in _FLOATS:
        return rows
    return rows.astype(np.float32 if rows.dtype == np.float16 else np.float64)


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray) and len(value) > 0 and isinstance(value[0], str)
