"""What changed between two models: the list of objects and false positives, and the images with both models' marks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats, Rows
from ioukit.comparison import DetectionChange, ObjectChange
from ioukit.evaluation import Outcome, outcomes
from ioukit.report._pictures import Drawer, Photographs, numbers_of, picture_notes, tenths, thousandths
from ioukit.report._texts import abbreviate

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.comparison import Changes
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import MatchTable


_MOST = 40_000  # changes: about two megabytes of the page
_MOST_NUMBERS = 1_200_000  # of boxes, outlines and matches: about four megabytes of the page
_MOST_CHARACTERS = 5_000_000  # characters of photographs; the list of changes needs the rest of the page

# The sides of the page.
_OBJECT, _IGNORED_OBJECT, _OF_A, _OF_B = range(4)
_FALSE, _IGNORED = -1, -2


class ListedKind(NamedTuple):
    """A kind of change, as the list names it."""

    change: ObjectChange | DetectionChange
    name: str
    """The name in the page's script."""
    title: str
    sign: str
    """What stands before the title: it points up if the second model is better here, down if A is."""
    words: str
    """A sentence, with ``{b}`` for the letter of the second model."""

    def to_json(self, letter: str) -> dict[str, str]:
        """The kind for the script of the page."""
        look = "gain" if self.sign in "▲△" else "loss"
        words = self.words.format(b=letter)
        return {"name": self.name, "title": self.title, "look": look, "sign": self.sign, "words": words}


LISTED = (
    ListedKind(ObjectChange.LOST, "lost", "lost", "▼", "Only A finds the object."),
    ListedKind(
        *(ObjectChange.OTHER_CLASS_NOW, "other-class", "other class", "▼"),
        "A finds the object. {b} has another class for it.",
    ),
    ListedKind(DetectionChange.NEW, "new", "new false positive", "▼", "{b} has this false positive, and A does not."),
    ListedKind(ObjectChange.WORSE_PLACED, "worse", "worse placed", "▽", "The overlap of {b} is lower."),
    ListedKind(ObjectChange.FOUND, "found", "found", "▲", "Only {b} finds the object."),
    ListedKind(
        *(ObjectChange.RIGHT_CLASS_NOW, "right-class", "right class", "▲"),
        "{b} finds the object. A has another class for it.",
    ),
    ListedKind(
        DetectionChange.GONE, "gone", "gone false positive", "▲", "A has this false positive, and {b} does not."
    ),
    ListedKind(ObjectChange.BETTER_PLACED, "better", "better placed", "△", "The overlap of {b} is higher."),
)
"""The kinds of the list, in its order: what was lost comes first."""


@dataclass(frozen=True)
class ChangeList:
    """The list of changes."""

    columns: dict[str, npt.NDArray[Any]]
    """(N,) each. ``kind``: position in :data:`LISTED`; ``image``: position in the match tables; ``category``: position
    in the categories; ``object``: row in the objects of the match tables, -1 for false positives. Of A and of B, with
    ``_a`` and ``_b`` behind the name: ``detection``: row in the detections, ``category``: its class, -1 for none of
    both; ``score`` and ``iou``, NaN for none."""
    left_out: int
    """How many changes are not listed."""

    def __len__(self) -> int:
        return len(self.columns["kind"])

    def to_json(self, letter: str, image: dict[int, int], marks: PairMarks | None) -> dict[str, Any]:
        """The list for the script of the page.

        Args:
            letter: The letter of the second model.
            image: From the position of an image in the match tables to its position on the page.
            marks: The marks of the images that are drawn; ``None`` if none is.
        """
        columns = self.columns
        named = {"label": "category", "label_a": "category_a", "label_b": "category_b"}
        places = {"object": "object", "a": "detection_a", "b": "detection_b"}
        known = (None,) * 3 if marks is None else (marks.objects, *marks.detections)
        return {
            "kinds": [kind.to_json(letter) for kind in LISTED],
            "kind": columns["kind"].tolist(),
            "image": [image[place] for place in columns["image"].tolist()],
            **{name: columns[of].tolist() for name, of in named.items()},
            **{
                name: ([-1] * len(self) if at is None else np.append(at, -1)[columns[of]].tolist())
                for (name, of), at in zip(places.items(), known, strict=True)
            },
            **{name: _rounded_thousandths(columns[name]) for name in ("score_a", "score_b", "iou_a", "iou_b")},
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
    }
    for side in ("a", "b"):
        detection = getattr(false, f"detection_{side}")[two]
        of_side = np.where(detection >= 0, category, -1)
        columns[f"category_{side}"] = np.concatenate([getattr(objects, f"category_{side}")[one], of_side])
        columns[f"iou_{side}"] = np.concatenate([getattr(objects, f"iou_{side}")[one], unknown])
        for name in (f"score_{side}", f"detection_{side}"):
            columns[name] = np.concatenate([getattr(objects, name)[one], getattr(false, name)[two]])
    highest = np.fmax(columns["score_a"], columns["score_b"])
    kept = np.argsort(-highest, kind="stable")[:_MOST]  # NaN, the score of nothing, is last
    kept = kept[np.argsort(columns["kind"][kept], kind="stable")]
    return ChangeList({name: column[kept] for name, column in columns.items()}, len(highest) - len(kept))


def _rounded_thousandths(values: Floats) -> list[int | None]:
    whole = (values * 1000).clip(-1e12, 1e12).round()
    return [None if math.isnan(value) else int(value) for value in whole.tolist()]


@dataclass(frozen=True)
class Thresholds:
    """The IoU threshold and the area range of the page, and the positions of its two sliders."""

    iou: float
    area: str
    scores: tuple[Floats, Floats]
    """(P,) the scores at which each slider stops, in descending order."""


@dataclass(frozen=True)
class PairMarks:
    """The marks of all images: the objects, then the detections of A, then those of B, image by image."""

    rows: Rows
    """(R, 10) side; the object that a detection matches, -1 for none, -2 if the detection is ignored; the position of
    the slider at which it counts; class; score in thousandths; x, y, width and height in tenths of a pixel; its row in
    the data."""
    starts: Rows
    """(I + 1,) the first mark of each image."""
    objects: Rows
    """(G,) place of each object of the match tables among the marks of its image."""
    detections: tuple[Rows, Rows]
    """(N,) place of each detection of A, and of each one of B; -1 for those that no threshold lets count."""

    def of_image(self, image: int) -> Rows:
        """(B, 10) its marks."""
        return self.rows[self.starts[image] : self.starts[image + 1]]


@dataclass(frozen=True)
class SideBySide:
    """The drawn images of a page."""

    images: dict[int, dict[str, Any]]
    """From the position of an image in the match tables to its size, marks and photograph, for the script."""
    style: dict[str, Any]
    """How the script draws regions, and a sentence about it for the reader."""
    notes: list[str]


def pair_marks(tables: tuple[MatchTable, MatchTable], sides: tuple[Any, Any, Any], thresholds: Thresholds) -> PairMarks:
    """The marks of all images, with what each becomes at every position of the sliders.

    Args:
        tables: The match tables of A and B on the same ground truth.
        sides: The ground truth, the detections of A, those of B.
        thresholds: The thresholds of the page.
    """
    became = [outcomes(table, iou_threshold=thresholds.iou, area_range=thresholds.area) for table in tables]
    listed = [table.detections for table in tables]
    counted = [np.flatnonzero(outcome.detections != Outcome.NOT_COUNTED) for outcome in became]
    objects, count = tables[0].objects, len(tables[0].image_ids)
    columns = [objects.image, *(side.image[rows] for side, rows in zip(listed, counted, strict=True))]
    image = np.concatenate(columns).astype(np.int64)
    order = np.argsort(image, kind="stable")
    starts = np.searchsorted(image[order], np.arange(count + 1))
    place = np.empty(len(image), np.int64)
    place[order] = np.arange(len(image)) - starts[image[order]]
    of_object, *of_models = np.split(place, np.cumsum([len(objects), len(counted[0])]))

    side = np.where(became[0].objects == Outcome.IGNORED, _IGNORED_OBJECT, _OBJECT)
    zeros = np.zeros(len(objects), np.int64)
    boxes = tenths(sides[0].boxes[objects.row])
    parts = [np.column_stack((side, zeros - 1, zeros, objects.category, zeros, boxes, objects.row))]
    found = []
    for number, (detections, outcome, rows) in enumerate(zip(listed, became, counted, strict=True)):
        kind, score, row = outcome.detections[rows], detections.score[rows], detections.row[rows]
        matched = np.where(kind == Outcome.FALSE_POSITIVE, _FALSE, _IGNORED)
        right = kind == Outcome.TRUE_POSITIVE
        matched[right] = of_object[outcome.matched_object[rows[right]]]
        stops = thresholds.scores[number]
        reach = np.minimum(np.searchsorted(-stops, -score, side="left"), max(len(stops) - 1, 0))
        side, boxes = np.full(len(rows), (_OF_A, _OF_B)[number]), tenths(sides[number + 1].boxes[row])
        category = detections.category[rows]
        parts.append(np.column_stack((side, matched, reach, category, thousandths(score), boxes, row)))
        every = np.full(len(detections.score), -1)
        every[rows] = of_models[number]
        found.append(every)
    return PairMarks(np.concatenate(parts)[order], starts, of_object, (found[0], found[1]))


def side_by_side(
    truth: GroundTruth,
    detections: tuple[Detections, Detections],
    table: MatchTable,
    found: PairMarks,
    order: Rows,
    *,
    folder: Path | None,
    photographs: int,
    share: int,
) -> SideBySide:
    """Draw images until the page is full.

    Args:
        truth: The ground truth.
        detections: The detections of A, and those of B.
        table: The match table of one of them.
        found: The marks.
        order: Rows of images, those to draw first at the beginning.
        folder: The folder of the photographs.
        photographs: How many of the first images get their photographs.
        share: How many pairs of models have to fit into the page.
    """
    drawer = Drawer(table.iou_type, truth, *detections)
    listed = truth.images.positions(table.image_ids)
    photos = Photographs(drawer, truth, folder, most=photographs, characters=_MOST_CHARACTERS // share)
    images: dict[int, dict[str, Any]] = {}
    room = _MOST_NUMBERS // share
    for image in order.tolist():
        rows, at = found.of_image(image), int(listed[image])
        side = np.maximum(rows[:, 0] - 1, 0)
        numbered = np.column_stack([np.arange(len(rows)), rows[:, 3:9], side, rows[:, 9]])
        drawing = drawer.drawing(numbered, truth.images.sizes[at])
        needed = numbers_of(drawing) + 3 * len(rows)
        if needed > room and images:
            break
        room -= needed
        drawing["regions"] = rows[:, :3].ravel().tolist()
        label = abbreviate(truth.images.names[at], f"image {table.image_ids[image]}")
        if address := photos.beside(drawing, at, label, numbered):
            drawing["thumb"] = address
        images[image] = drawing
    return SideBySide(images, drawer.style(), picture_notes(photos, drawer))
