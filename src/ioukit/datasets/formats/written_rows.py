"""What writers of several formats need of a data set: the rows of each image, attributes, segmentations, JSON."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.text_files import FARTHEST, abbreviate, is_name, refuse
from ioukit.datasets.formats.written_names import image_stems, other_stems

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from ioukit.datasets.columns.images import Images


def image_places(data: GroundTruth | Detections, images: Images) -> npt.NDArray[np.intp]:
    """(N,) the position of the image of each row in the list of images."""
    ids = data.image_ids if isinstance(data, GroundTruth) else data.image_ids_in(images)
    return images.ids.searchsorted(ids)


def rows_of_images(data: GroundTruth | Detections, images: Images) -> list[list[int]]:
    """(I,) the rows of each image, in order."""
    rows: list[list[int]] = [[] for _ in range(len(images))]
    for row, at in enumerate(image_places(data, images).tolist()):
        rows[at].append(row)
    return rows


def write_image_texts(
    folder: Path, data: GroundTruth | Detections, gt: GroundTruth, lines: Sequence[str], heads: Sequence[str] = ()
) -> list[str]:
    """Write a text file for each image, with the lines of its rows. Returns a note if the files have other names.

    Args:
        folder: Where to write. The files have the names that :func:`image_stems` gives.
        data: The rows.
        gt: It has the images.
        lines: (N,) the line of each row, without its end.
        heads: (I,) what each file begins with; nothing if empty.
    """
    texts = zip(image_stems(gt.images, gt.source), rows_of_images(data, gt.images), strict=True)
    for at, (stem, rows) in enumerate(texts):
        text = "".join([*heads[at : at + 1], *(f"{lines[row]}\n" for row in rows)])
        (folder / f"{stem}.txt").write_text(text, encoding="utf-8", newline="\n")
    return other_stems(gt.images, gt.source)


def check_rows(data: GroundTruth | Detections) -> None:
    """Refuse ids of images that are no names, scores beyond 2**53, and corners beyond half of it, as readers do.

    Corners are sums, and products of fractions, whose last bits may put them beyond 2**53.

    Raises:
        DatasetError: If there is one; it names the row.
    """
    keys = data.images.keys if isinstance(data, GroundTruth) else None
    labels = data.image_labels() if keys is None else keys
    for label in np.unique(labels).tolist() if labels.dtype.kind == "U" else ():
        if not is_name(label):
            refuse(data.source, "ids of images that files of text can hold", abbreviate(label))
    check_column(np.abs(data.boxes[:, :2]) + data.boxes[:, 2:], "corners of the box", data.source, highest=FARTHEST / 2)
    if isinstance(data, Detections):
        check_column(data.scores, "score", data.source)


def check_column(values: npt.NDArray[Any], what: str, source: str, *, highest: float = FARTHEST) -> None:
    """Refuse rows with a number that a reader would refuse, because it is too far from 0. NaN is not looked at.

    Raises:
        DatasetError: If there is one; it names the row.
    """
    beyond = np.abs(values.astype(np.float64)) > highest
    # An integer beyond 2**53 may be rounded to it.
    if values.dtype.kind in "iu":
        beyond |= (values > int(highest)) | (values < -int(highest))
    if beyond.any():
        row = int(np.argwhere(beyond)[0, 0])
        limit = "2**53" if highest == FARTHEST else f"{highest:g}"
        refuse(f"{source}: row {row}, {what}", f"numbers of at most {limit}, which files can hold", str(values[row]))


def far_end(low: float, length: float) -> float:
    """The end of a side, for formats with two corners: ``far_end(low, length) - low`` is the length if it can be.

    The sum may be rounded; one of its neighbours then gives the same length again, unless the corner is so far away
    that no number does.
    """
    end = low + length
    near = (end, math.nextafter(end, math.inf), math.nextafter(end, -math.inf))
    return next((one for one in near if one - low == length), end)


def attribute_values(
    data: GroundTruth | Detections, reserved: Collection[str] = ()
) -> tuple[list[dict[str, Any]], list[str]]:
    """(N,) the attributes of each row by name: bools, numbers and text; and notes about what is left out.

    Numbers that are not finite or beyond 2**53 are left out. NaN needs no note: it means that there is no value.

    Args:
        data: The rows.
        reserved: Names that mean something else in the format.
    """
    rows: list[dict[str, Any]] = [{} for _ in range(len(data))]
    notes = []
    for name, column in data.attributes.items():
        if column.ndim != 1 or column.dtype.kind not in "biufU":
            notes.append(f"attribute {name}: it is not one number or text per object")
            continue
        if name in reserved:
            notes.append(f"attribute {name}: the name means something else in the files")
            continue
        if column.dtype.kind == "b":
            notes.append(f"attribute {name}: it becomes a flag")
        kept = np.ones(len(column), np.bool_)
        if column.dtype.kind in "iuf":
            kept = np.abs(column.astype(np.float64)) <= FARTHEST
            if lost := int((~kept & (column == column)).sum()):  # noqa: PLR0124 - NaN differs from itself
                notes.append(f"attribute {name} of {lost:,} objects: numbers beyond 2**53")
        for row in np.flatnonzero(kept).tolist():
            rows[row][name] = column[row].item()
    return rows, notes


def plain(number: float) -> int | float:
    """A number as JSON should spell it: 640 and not 640.0."""
    return int(number) if float(number).is_integer() else float(number)


def write_json(path: Path, value: Any, *, indent: int | None = None) -> None:
    """Write a JSON file in UTF-8. Text that is no Unicode, such as half of a surrogate pair, is written as escapes."""
    for ascii_only in (False, True):
        text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent)
        with contextlib.suppress(UnicodeEncodeError):
            path.write_bytes(text.encode())
            return


def drawn_segmentations(
    data: GroundTruth | Detections, images: Images, *, parts: bool, masks: bool, own_box: bool = False
) -> tuple[list[Any], list[str]]:
    """The segmentation of each row as a format can hold it, or ``None``; and notes about what changes.

    Args:
        data: The rows.
        images: The images of the rows, with sizes.
        parts: Whether an object may have several polygons.
        masks: Whether an object may have RLE. If it may, and not several polygons, these become RLE.
        own_box: Whether a box can differ from the one around the segmentation.
    """
    column = data.segmentations
    if column is None:
        return [None] * len(data), []
    made: list[Any] = []
    lost: Counter[str] = Counter()
    moved = 0
    boxes = data.boxes.tolist()
    at = image_places(data, images)
    for row, segmentation in enumerate(column):
        one = segmentation or None
        is_rle = one is not None and not isinstance(one, Sequence)
        if one is not None and not is_rle and len(one) > 1 and not parts:
            size = images.sizes[at[row]].tolist()
            one, is_rle = (_as_rle(one, size), True) if masks and not math.isnan(size[0]) else (None, False)
            lost["segmentations of {} in several parts" + (": they become masks of pixels" if is_rle else "")] += 1
        elif is_rle and not masks:
            lost["masks of pixels of {}: their boxes remain"] += 1
            one = None
        made.append(one)
        moved += one is not None and not own_box and _is_elsewhere(boxes[row], one)
    if moved:
        lost["boxes of {}: those around their segmentations remain"] = moved
    return made, [text.format(f"{count:,} object{'' if count == 1 else 's'}") for text, count in lost.items()]


def _as_rle(polygons: Any, size: Sequence[float]) -> Mapping[str, Any]:
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - few files have masks

    return Masks.from_polygons([polygons], height=int(size[1]), width=int(size[0])).to_rle()[0]


def _is_elsewhere(box: Sequence[float], segmentation: Any) -> bool:
    """Whether a box differs from the one around the segmentation by more than rounding."""
    if isinstance(segmentation, Sequence):
        xs, ys = ([value for path in segmentation for value in path[start::2]] for start in (0, 1))
        around = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    else:
        from ioukit.regions.masks import Masks  # noqa: PLC0415 - as above

        around = Masks.from_rle([segmentation]).to_boxes().convert("xywh").numpy()[0].tolist()
    return any(abs(one - other) > 1e-6 for one, other in zip(box, around, strict=True))
