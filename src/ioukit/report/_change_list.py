"""The list of a page with everything that changed between two models: objects and false positives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.comparison import DetectionChange, ObjectChange

if TYPE_CHECKING:
    from ioukit.comparison import Changes
    from ioukit.report._side_by_side import Regions

__all__ = ["LISTED", "ChangeList", "change_list"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST = 40_000  # about two megabytes of the page
_OF_A_KIND = ("name", "title", "look", "sign", "words")


@dataclass(frozen=True)
class ListedKind:
    """A kind of change, as the list names it."""

    change: ObjectChange | DetectionChange
    name: str
    """The name in the page's script."""
    title: str
    look: str
    """``"gain"`` if B is better here, ``"loss"`` if A is."""
    sign: str
    """What stands before the title."""
    words: str
    """A sentence."""


LISTED = (
    ListedKind(ObjectChange.FOUND, "found", "found", "gain", "▲", "Only B finds the object."),
    ListedKind(
        ObjectChange.RIGHT_CLASS_NOW,
        "right-class",
        "right class",
        "gain",
        "▲",
        "B finds the object. A has another class for it.",
    ),
    ListedKind(ObjectChange.BETTER_PLACED, "better", "better placed", "gain", "△", "The IoU of B is higher."),
    ListedKind(
        DetectionChange.GONE, "gone", "gone false positive", "gain", "▲", "A has this false positive, and B does not."
    ),
    ListedKind(ObjectChange.LOST, "lost", "lost", "loss", "▼", "Only A finds the object."),
    ListedKind(
        ObjectChange.OTHER_CLASS_NOW,
        "other-class",
        "other class",
        "loss",
        "▼",
        "A finds the object. B has another class for it.",
    ),
    ListedKind(ObjectChange.WORSE_PLACED, "worse", "worse placed", "loss", "▽", "The IoU of B is lower."),
    ListedKind(
        DetectionChange.NEW, "new", "new false positive", "loss", "▼", "B has this false positive, and A does not."
    ),
)
"""The kinds of the list, in its order."""


@dataclass(frozen=True)
class ChangeList:
    """The columns of the list, for the script of the page."""

    kind: Rows
    """(N,) position in :data:`LISTED`."""
    image: Rows
    """(N,) position in the match tables."""
    category: Rows
    """(N,) position in the categories."""
    category_a: Rows
    """(N,) class of the detection of A; -1 for none."""
    category_b: Rows
    """(N,) class of the detection of B; -1 for none."""
    score_a: Floats
    """(N,) NaN for none."""
    score_b: Floats
    """(N,) NaN for none."""
    iou_a: Floats
    """(N,) NaN for none."""
    iou_b: Floats
    """(N,) NaN for none."""
    object: Rows
    """(N,) row in the objects of the match tables; -1 for false positives."""
    detection_a: Rows
    """(N,) row in the detections of A; -1 for none."""
    detection_b: Rows
    """(N,) row in the detections of B; -1 for none."""
    left_out: int
    """How many changes are not listed."""

    def __len__(self) -> int:
        return len(self.kind)

    def drawn(self, image: dict[int, int], regions: Regions | None) -> dict[str, Any]:
        """The list for the script of the page.

        Args:
            image: From the position of an image in the match tables to its position on the page.
            regions: The regions of the images that are drawn; ``None`` if none is.
        """
        nothing = np.full(len(self), -1)
        places = [nothing] * 3
        if regions is not None:
            rows = (self.object, self.detection_a, self.detection_b)
            known = (regions.objects, *regions.detections)
            places = [_taken(at, row) for at, row in zip(known, rows, strict=True)]
        columns = {
            "kind": self.kind,
            "image": np.array([image[place] for place in self.image.tolist()], np.int64),
            "label": self.category,
            "label_a": self.category_a,
            "label_b": self.category_b,
            "object": places[0],
            "a": places[1],
            "b": places[2],
        }
        numbers = {"score_a": self.score_a, "score_b": self.score_b, "iou_a": self.iou_a, "iou_b": self.iou_b}
        return {
            "kinds": [{name: getattr(kind, name) for name in _OF_A_KIND} for kind in LISTED],
            **{name: column.tolist() for name, column in columns.items()},
            **{name: _thousandths(column) for name, column in numbers.items()},
        }


def change_list(changes: Changes) -> ChangeList:
    """The changes without what stays, those of the highest scores if there are too many."""
    objects, false = changes.objects, changes.detections
    of_object = np.full(len(ObjectChange), -1)
    of_false = np.full(len(DetectionChange), -1)
    for place, kind in enumerate(LISTED):
        (of_object if isinstance(kind.change, ObjectChange) else of_false)[kind.change] = place
    one, two = np.flatnonzero(of_object[objects.kind] >= 0), np.flatnonzero(of_false[false.kind] >= 0)
    none, unknown = np.full(len(two), -1), np.full(len(two), np.nan)
    category = false.category[two]
    columns: dict[str, npt.NDArray[Any]] = {
        "kind": np.concatenate([of_object[objects.kind[one]], of_false[false.kind[two]]]),
        "image": np.concatenate([objects.image[one], false.image[two]]),
        "category": np.concatenate([objects.category[one], category]),
        "object": np.concatenate([objects.row[one], none]),
        "iou_a": np.concatenate([objects.iou_a[one], unknown]),
        "iou_b": np.concatenate([objects.iou_b[one], unknown]),
    }
    for side in ("a", "b"):
        detection = getattr(false, f"detection_{side}")[two]
        of_side = np.where(detection >= 0, category, -1)
        columns[f"category_{side}"] = np.concatenate([getattr(objects, f"category_{side}")[one], of_side])
        for name in (f"score_{side}", f"detection_{side}"):
            columns[name] = np.concatenate([getattr(objects, name)[one], getattr(false, name)[two]])
    highest = np.fmax(columns["score_a"], columns["score_b"])
    kept = np.argsort(-highest, kind="stable")[:_MOST]  # NaN, the score of nothing, is last
    kept = kept[np.argsort(columns["kind"][kept], kind="stable")]
    return ChangeList(**{name: column[kept] for name, column in columns.items()}, left_out=len(highest) - len(kept))


def _taken(places: Rows, rows: Rows) -> Rows:
    """(N,) the places of rows; -1 where the row is -1."""
    return np.append(places, -1)[rows]


def _thousandths(values: Floats) -> list[int | None]:
    whole = (values * 1000).clip(-1e12, 1e12).round()
    return [None if math.isnan(value) else int(value) for value in whole.tolist()]
