"""`Repair`: a change of the data with a name, such as ``boxes=xyxy``, that options and findings share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit._register import Register, imported
from ioukit.datasets import Detections, GroundTruth
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.bool_]


Side: TypeAlias = Literal["detections", "ground_truth"]
_GT, _CLASSES = "gt:", "classes="


class Data(NamedTuple):
    """Ground truth and its detections."""

    ground_truth: GroundTruth
    detections: Detections | None = None

    def of(self, side: Side) -> GroundTruth | Detections:
        """One of the two.

        Raises:
            ValueError: If there are no detections.
        """
        if side == "ground_truth":
            return self.ground_truth
        if self.detections is None:
            raise ValueError("there are no detections to repair")
        return self.detections

    def with_side(self, data: GroundTruth | Detections) -> Data:
        """The same with one of the two replaced."""
        if isinstance(data, GroundTruth):
            return self._replace(ground_truth=data)
        return self._replace(detections=data)


Apply: TypeAlias = Callable[[Data, "Repair"], Data]


@dataclass(frozen=True)
class RepairKind:
    """A kind of repair."""

    name: str
    """Its name, the part of a repair before ``=``."""
    values: str
    """The values that it takes, for messages; empty if it takes none."""
    title: str
    """What it does, in one line."""
    apply: Apply | str
    """``apply(data, repair)`` returns the changed data; or the name ``"package.module:function"`` of the function."""
    sides: tuple[Side, ...] = ("detections",)
    """What it can change; a repair of ground truth is written ``gt:name=value``."""
    in_part: bool = False
    """Whether it can be restricted to some images or classes."""

    def function(self) -> Apply:
        """The function; its module is imported now."""
        found: Apply = imported(self.apply)
        return found


REPAIRS: Register[RepairKind] = Register("repair")
"""The kinds of repairs by name."""


def register_repair(kind: RepairKind) -> None:
    """Adds a kind of repair, so that `Repair.parse` and the option ``--repair`` know it.

    Raises:
        ValueError: If there is one of that name.
    """
    REPAIRS.add(kind.name, kind)


@dataclass(frozen=True)
class Repair:
    """A change of the data: a pure function, with the name that the option ``--repair`` takes.

    Examples:
        >>> print(Repair("boxes", "xyxy"), Repair.parse("gt:boxes=cxcywh"))
        boxes=xyxy gt:boxes=cxcywh
    """

    name: str
    """The kind, one of `REPAIRS`."""
    value: str = ""
    """How, such as the format of boxes."""
    side: Side = "detections"
    """What is changed."""
    images: tuple[int | str, ...] | None = None
    """The ids of the images whose rows are changed; ``None`` for all images."""
    classes: tuple[int, ...] | None = None
    """The ids of the classes whose rows are changed; ``None`` for all classes."""
    then: Repair | None = None
    """A repair that follows."""

    def __str__(self) -> str:
        only = "" if self.images is None else "@FILE"
        if self.classes is not None:
            only = f"@{_CLASSES}{','.join(map(str, self.classes))}"
        text = f"{_GT if self.side == 'ground_truth' else ''}{self.name}{'=' if self.value else ''}{self.value}{only}"
        return text if self.then is None else f"{text} {self.then}"

    @classmethod
    def parse(cls, text: str) -> Repair:
        """The repair for a text ``[gt:]NAME[=VALUE]``; of some images ``...@FILE``, some classes ``...@classes=3,7``.

        The file has the id of an image in each line.

        Raises:
            ValueError: If there is no such repair, or it does not apply to this side or to a part of it.
            OSError: If the file cannot be read.
        """
        side: Side = "ground_truth" if text.startswith(_GT) else "detections"
        words, at, part = text.removeprefix(_GT).partition("@")
        name, _, value = words.partition("=")
        if name not in REPAIRS:
            raise ValueError(
                f"unknown repair {name!r}; expected NAME or NAME=VALUE such as boxes=xyxy, "
                f"with a NAME of {', '.join(REPAIRS)}"
            )
        kind = REPAIRS[name]
        if side not in kind.sides:
            raise ValueError(f"repair {name!r} changes {kind.sides[0].replace('_', ' ')} only, got {text!r}")
        if at and not kind.in_part:
            raise ValueError(f"repair {name!r} cannot be restricted to images or classes, got {text!r}")
        if bool(value) != bool(kind.values):
            raise ValueError(f"repair {name!r} takes {kind.values or 'no value'}, got {text!r}")
        if not at:
            return cls(name, value, side)
        if not part.startswith(_CLASSES):
            return cls(name, value, side, tuple(filter(None, Path(part).read_text(encoding="utf-8").splitlines())))
        ids = part.removeprefix(_CLASSES).split(",")
        if not all(number.removeprefix("-").isdecimal() for number in ids):
            raise ValueError(f"expected ids of classes such as @classes=3,7, got {text!r}")
        return cls(name, value, side, classes=tuple(map(int, ids)))

    @staticmethod
    def chain(repairs: Iterable[Repair]) -> Repair:
        """One repair that does several, one after the other."""
        first, *others = repairs
        return first if not others else dataclasses.replace(first, then=Repair.chain(others))

    def __call__(self, data: Data) -> Data:
        """The changed data; the given data stay as they are.

        Raises:
            ValueError: If the value is unknown, or the data lack what the repair needs, such as sizes of images.
        """
        changed = REPAIRS[self.name].function()(data, self)
        return changed if self.then is None else self.then(changed)

    def wrong_value(self) -> ValueError:
        """The error about an unknown value."""
        return ValueError(f"repair {self.name!r} takes {REPAIRS[self.name].values}, got {self.value!r}")

    def rows(self, side: GroundTruth | Detections) -> Rows:
        """(N,) which rows of a side are changed."""
        chosen: Rows = np.ones(len(side), np.bool_)
        if self.classes is not None:
            chosen &= np.isin(side.category_ids, self.classes)
        if self.images is not None:
            # Ids from a file are strings, also where those of the data are integers.
            images = np.array([str(image) for image in self.images], np.str_)
            chosen &= np.isin(side.image_labels().astype(np.str_), images)
        return chosen


def repaired(
    ground_truth: GroundTruth, detections: Detections | None, repairs: Iterable[Repair | str]
) -> tuple[GroundTruth, Detections | None]:
    """The data after some repairs, one after the other. The given data stay as they are.

    Args:
        ground_truth: The ground truth.
        detections: Its detections, if there are any.
        repairs: Repairs, or their texts as for the option ``--repair``: ``"boxes=xyxy"``, ``"gt:boxes=cxcywh"``.

    Raises:
        ValueError: If there is no such repair, or it does not fit the data.

    Examples:
        >>> gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[10, 20, 5, 5]])
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[10, 20, 15, 25]], scores=[0.9])
        >>> repaired(gt, dt, ["boxes=xyxy"])[1].boxes.tolist()
        [[10.0, 20.0, 5.0, 5.0]]
    """
    data = Data(ground_truth, detections)
    for given in repairs:
        repair = Repair.parse(given) if isinstance(given, str) else given
        _check_part(data, repair, str(given))
        data = repair(data)
        _check_boxes(data, str(given))
    return data.ground_truth, data.detections


def _check_part(data: Data, repair: Repair, given: str) -> None:
    """Refuses a repair of images or classes that the data do not have, as it would change nothing and not say so."""
    gt, dt = data
    for part, what, listed, column in (
        (repair.images, "images of the data, one in each line", gt.images.labels, Detections.image_labels),
        (repair.classes, "classes of the data", gt.categories.ids, attrgetter("category_ids")),
    ):
        if part is not None:
            known = set(map(str, listed.tolist() + ([] if dt is None else np.unique(column(dt)).tolist())))
            unknown = [label for label in map(str, part) if label not in known]
            if unknown or not part:
                one = (
                    f"{len(unknown):,} of {len(part):,} are none, such as {unknown[0]!r}"
                    if unknown
                    else "found no line"
                )
                raise ValueError(f"repair {given!r}: expected ids of {what}; {one}")


def _check_boxes(data: Data, given: str) -> None:
    """Refuses a repair that leaves boxes with a negative side, which no reader accepts."""
    for side in (data.ground_truth, data.detections):
        if side is not None and (wrong := np.flatnonzero((side.boxes[:, 2:] < 0).any(axis=1))).size:
            raise DatasetError(
                f"{side.source}: row {wrong[0]}: expected boxes that fit {given}, found a negative width or height "
                f"after it, in {len(wrong):,} of {len(side):,} rows"
            )


_BOTH: tuple[Side, ...] = ("detections", "ground_truth")
_HERE = "ioukit.checks.repairs"

for _kind in (
    RepairKind(
        "boxes", "xyxy, yxyx, cxcywh, yxhw, yxwh, xyhw or xxyy", "boxes are read in this format, not as xywh",
        f"{_HERE}.boxes:read_as", _BOTH, in_part=True,
    ),
    RepairKind(
        "units", "fractions or scaled-twice", "boxes are fractions, or were scaled twice",
        f"{_HERE}.boxes:in_pixels", _BOTH, in_part=True,
    ),
    RepairKind(
        "network", "MODE:SIZE, such as letterbox:640, stretch:640x480, longest:640, shortest:800 or factor:0.5",
        "boxes are in the pixels of the network's image", f"{_HERE}.boxes:from_network", _BOTH, in_part=True,
    ),
    RepairKind(
        "turn", "hflip, vflip, rot90, rot180 or rot270", "boxes are on the mirrored or turned image",
        f"{_HERE}.boxes:turn_back", _BOTH, in_part=True,
    ),
    RepairKind(
        "sides", "a factor, such as 2", "width and height are multiplied, around the same centres",
        f"{_HERE}.boxes:with_other_sides", _BOTH, in_part=True,
    ),
    RepairKind(
        "moved", "X,Y in pixels, such as +30,-9", "boxes are moved to the right and down",
        f"{_HERE}.boxes:move", _BOTH, in_part=True,
    ),
    RepairKind(
        "edges", "LEFT,TOP,RIGHT,BOTTOM in pixels, such as 0,0,-8,-8", "edges of boxes are moved to the right and down",
        f"{_HERE}.boxes:move_edges", _BOTH, in_part=True,
    ),
    RepairKind(
        "angles", "other-sense, degrees, radians or quarter-turn", "angles of rotated boxes are read in another way",
        f"{_HERE}.regions:with_other_angles", _BOTH, in_part=True,
    ),
    RepairKind(
        "points", "yx, or the positions of all keypoints in another order, such as 0,2,1 of three",
        "keypoints are y, x, or in another order", f"{_HERE}.regions:with_other_points", _BOTH, in_part=True,
    ),
    RepairKind("clip", "", "boxes are cut at the border of the image", f"{_HERE}.boxes:clip", _BOTH),
    RepairKind(
        "classes", "+N, -N, positions0, positions1, earlier, later, 91to80, 80to91 or OLD>NEW,OLD>NEW,...",
        "other ids of classes",
        f"{_HERE}.classes:with_other_ids", in_part=True,
    ),
    RepairKind(
        "merge-classes", "OLD>NEW,OLD>NEW,...", "two ids become one class in ground truth and detections",
        f"{_HERE}.classes:merged",
    ),
    RepairKind(
        "only", "detected-images, annotated-images or detected-classes", "images or classes without rows are left out",
        f"{_HERE}.images:only",
    ),
    RepairKind(
        "images", "stem, positions0 or positions1", "images are matched by another name",
        f"{_HERE}.images:with_other_ids",
    ),
    RepairKind(
        "duplicates", "", "rows that repeat an earlier one are left out",
        f"{_HERE}.rows:without_duplicates", _BOTH,
    ),
    RepairKind("nms", "an IoU threshold", "NMS per image and class", f"{_HERE}.rows:suppressed"),
    RepairKind(
        "scores", "percent, logits or negated", "scores become confidences", f"{_HERE}.rows:with_other_scores",
        in_part=True,
    ),
    RepairKind(
        "areas", "masks or boxes", "areas are those of the masks or boxes",
        f"{_HERE}.regions:with_other_areas", ("ground_truth",),
    ),
    RepairKind(
        "crowd", "rle, or ids of annotations", "annotations with RLE, or some of them, are crowds",
        f"{_HERE}.regions:with_crowds", ("ground_truth",),
    ),
):  # fmt: skip
    register_repair(_kind)


def replaced(data: GroundTruth | Detections, **columns: object) -> GroundTruth | Detections:
    """The data with other columns."""
    return dataclasses.replace(data, **columns)  # type: ignore[arg-type]
