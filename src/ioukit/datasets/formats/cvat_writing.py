"""How CVAT's XML for images is written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.text_files import abbreviate, refuse, shorter
from ioukit.datasets.formats.written_rows import (
    attribute_values,
    class_names,
    drawn_segmentations,
    far_end,
    image_names,
    rows_of_images,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns.ground_truth import GroundTruth

__all__ = ["write_cvat"]

_HOLDS = Holds(
    regions=frozenset({"segmentations", "RotatedBoxes", "keypoints"}),
    flags=None,
    attributes=None,
    unused_categories=True,
    areas_of_regions=True,
)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_cvat(gt: GroundTruth, path: Path, *, keypoints: bool = False) -> list[str]:
    """Write the XML file of CVAT for images, as :func:`read_cvat` reads it.

    An object with a polygon becomes a ``polygon``; one with RLE or several polygons a ``mask``; one with a rotated box
    a ``box`` with ``rotation``; all others a ``box``. Flags other than ``occluded`` become attributes of the kind
    ``checkbox``, further columns attributes of the kind ``number`` or ``text``.

    Args:
        gt: The ground truth. It must have the sizes of images.
        path: The file.
        keypoints: Whether all objects with keypoints become a ``skeleton``. A skeleton has no box of its own. If false,
            this is done only where the box is the one around the keypoints.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If the size of an image is unknown, names cannot be told apart, or text has characters that XML
            does not allow.
    """
    names, notes = image_names(gt.images, gt.source)
    classes = class_names(gt.categories, gt.source)
    segmentations, changed = drawn_segmentations(gt, gt.images, parts=False, masks=True)
    attributes, odd = attribute_values(gt, gt.flags.keys())
    writer = _Writer(gt, classes, segmentations, attributes, keypoints=keypoints)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(writer.head())
        for image, rows in enumerate(rows_of_images(gt, gt.images)):
            width, height = gt.images.sizes[image].tolist()
            if math.isnan(width) or math.isnan(height):
                refuse(f"{gt.source}: image {abbreviate(names[image])}", "a width and a height", "none")
            name = writer.quoted(names[image])
            file.write(f'  <image id="{image}" name={name} width="{shorter(width)}" height="{shorter(height)}">\n')
            for row in rows:
                file.writelines(writer.shape(row, (width, height)))
            file.write("  </image>\n")
        file.write("</annotations>\n")
    return [*left_out_columns(gt, _HOLDS), *notes, *changed, *writer.notes(), *odd]


class _Writer:
    """Spells the parts of the file."""

    def __init__(
        self,
        gt: GroundTruth,
        classes: Mapping[int, str],
        segmentations: Sequence[Any],
        attributes: Sequence[Mapping[str, Any]],
        *,
        keypoints: bool,
    ) -> None:
        self.gt = gt
        self.classes = classes
        self.segmentations = segmentations
        self.attributes = attributes
        self.boxes = gt.boxes.tolist()
        self.flags = {name: column.tolist() for name, column in gt.flags.items()}
        self.checkboxes = [name for name in self.flags if name != "occluded"]
        turned: Any = gt.regions.get("RotatedBoxes")
        self.turned = None if turned is None else turned.convert(unit="degrees", sense="clockwise").numpy().tolist()
        self.points = _keypoints(gt)
        self.all_keypoints = keypoints
        self.without_keypoints = self.moved = 0

    def quoted(self, text: str) -> str:
        """Text as the value of an XML attribute."""
        return quoteattr(self._checked(text))

    def _checked(self, text: str) -> str:
        if _NO_XML.search(text):
            refuse(self.gt.source, "text with characters that XML allows", abbreviate(text))
        return text

    def _content(self, text: str) -> str:
        return escape(self._checked(text), {"\r": "&#13;"})

    def head(self) -> Iterator[str]:
        """The list of labels, each with all attributes; the points of skeletons are labels too."""
        kinds: dict[str, str] = dict.fromkeys(self.checkboxes, "checkbox")
        for row in self.attributes:
            for name, value in row.items():
                kind = "text" if isinstance(value, str) else "checkbox" if isinstance(value, bool) else "number"
                kinds.setdefault(name, kind)
        skeletons = self.points is not None and bool(self.points.shape[1])
        yield '<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n  <version>1.1</version>\n'
        yield f"  <meta>\n    <task>\n      <size>{len(self.gt.images)}</size>\n      <mode>annotation</mode>\n"
        yield "      <labels>\n"
        for name in self.classes.values():
            kind = "skeleton" if skeletons else "any"
            yield f"        <label>\n          <name>{self._content(name)}</name>\n          <type>{kind}</type>\n"
            yield "          <attributes>\n"
            for attribute, held in kinds.items():
                yield f"            <attribute>\n              <name>{self._content(attribute)}</name>\n"
                yield f"              <mutable>False</mutable>\n              <input_type>{held}</input_type>\n"
                yield "              <default_value></default_value>\n              <values></values>\n"
                yield "            </attribute>\n"
            yield "          </attributes>\n        </label>\n"
            for point in range(1, self.points.shape[1] + 1) if self.points is not None else ():
                yield f"        <label>\n          <name>{point}</name>\n          <type>points</type>\n"
                yield f"          <attributes></attributes>\n          <parent>{self._content(name)}</parent>\n"
                yield "        </label>\n"
        yield "      </labels>\n    </task>\n  </meta>\n"

    def shape(self, row: int, size: Sequence[float]) -> Iterator[str]:
        """The element of an object."""
        occluded = int(self.flags.get("occluded", [False] * (row + 1))[row])
        common = (
            f'label={self.quoted(self.classes[int(self.gt.category_ids[row])])} source="file" occluded="{occluded}"'
        )
        inner = [
            *((name, "true" if self.flags[name][row] else "false") for name in self.checkboxes),
            *((name, _spelled(value)) for name, value in self.attributes[row].items() if name != "group_id"),
        ]
        if "group_id" in self.attributes[row]:
            common += f" group_id={self.quoted(_spelled(self.attributes[row]['group_id']))}"
        tag, fields, points = self._drawn(row, size)
        spelled = "".join(f' {name}="{value}"' for name, value in fields.items())
        yield f'    <{tag} {common}{spelled} z_order="0">\n'
        yield from points
        for name, value in inner:
            yield f"      <attribute name={self.quoted(name)}>{self._content(value)}</attribute>\n"
        yield f"    </{tag}>\n"

    def _drawn(self, row: int, size: Sequence[float]) -> tuple[str, dict[str, str], list[str]]:
        """The name of the element, its XML attributes, and the points of a skeleton."""
        segmentation = self.segmentations[row]
        if segmentation is None and self._is_skeleton(row):
            return "skeleton", {}, list(self._skeleton_points(row))
        if isinstance(segmentation, Mapping):
            return "mask", _runs(segmentation, size, f"{self.gt.source}: object {row}"), []
        if segmentation is not None:
            points = drawn_shapes.points_of(segmentation[0])
            return "polygon", {"points": ";".join(f"{shorter(x)},{shorter(y)}" for x, y in points)}, []
        if self.turned is None:
            return "box", _corners(self.boxes[row]), []
        cx, cy, width, height, degrees = self.turned[row]
        around = drawn_shapes.turned_rectangle([cx - width / 2, cy - height / 2, width, height], degrees).box
        self.moved += any(abs(one - other) > 1e-6 for one, other in zip(around, self.boxes[row], strict=True))
        corners = _corners([cx - width / 2, cy - height / 2, width, height])
        return "box", {**corners, "rotation": shorter(degrees % 360)}, []

    def _is_skeleton(self, row: int) -> bool:
        if self.points is None:
            return False
        seen = self.points[row][self.points[row][:, 2] > 0]
        if not len(seen):
            return False
        around = drawn_shapes.around_points(seen.tolist(), "").box
        is_around = all(abs(one - other) <= 1e-6 for one, other in zip(around, self.boxes[row], strict=True))
        self.moved += self.all_keypoints and not is_around
        self.without_keypoints += not (self.all_keypoints or is_around)
        return self.all_keypoints or is_around

    def _skeleton_points(self, row: int) -> Iterator[str]:
        assert self.points is not None
        for number, (x, y, seen) in enumerate(self.points[row].tolist(), start=1):
            state = f'outside="{int(seen <= 0)}" occluded="{int(seen == 1)}"'
            yield f'      <points label="{number}" source="file" {state} points="{shorter(x)},{shorter(y)}"></points>\n'

    def notes(self) -> list[str]:
        """What was lost while shapes were written."""
        made = []
        if self.without_keypoints:
            made.append(f"keypoints of {self.without_keypoints:,} objects, whose boxes are not those around them")
        if self.moved:
            made.append(f"boxes of {self.moved:,} objects: those around their keypoints or rotated boxes remain")
        return made


def _keypoints(gt: GroundTruth) -> Any:
    """(N, P, 3) keypoints without NaN, or ``None``."""
    if "keypoints" not in gt.regions:
        return None
    from ioukit.datasets.columns.keypoints import decode_keypoints  # noqa: PLC0415 - few data sets have them

    return np.nan_to_num(decode_keypoints(gt.regions["keypoints"], source=gt.source, array="annotations"))


def _corners(box: Sequence[float]) -> dict[str, str]:
    x, y, width, height = box
    values = (x, y, far_end(x, width), far_end(y, height))
    return {name: shorter(value) for name, value in zip(("xtl", "ytl", "xbr", "ybr"), values, strict=True)}


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else shorter(value)


def _runs(rle: Mapping[str, Any], size: Sequence[float], where: str) -> dict[str, str]:
    """The runs of a mask, row by row in the smallest box around it."""
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - few data sets have masks

    masks = Masks.from_rle([rle])
    height, width = masks.size
    if (width, height) != tuple(size):
        refuse(where, f"a mask of {size[0]:g} x {size[1]:g} pixels, as its image", f"{width} x {height}")
    left, top, right, bottom = (int(value) for value in masks.to_boxes().numpy()[0])
    if right <= left:
        refuse(where, "a mask with at least one pixel", "none")
    part = masks.to_arrays()[0][top:bottom, left:right].ravel()
    edges = np.concatenate([[0], np.flatnonzero(np.diff(part)) + 1, [len(part)]])
    runs = [*([0] if part[0] else []), *np.diff(edges).tolist()]
    place = {"left": left, "top": top, "width": right - left, "height": bottom - top}
    return {"rle": ", ".join(map(str, runs)), **{name: str(value) for name, value in place.items()}}
