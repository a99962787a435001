"""The answers of the viewer, slow and plain: one dictionary per mark, one condition after the other."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import evaluate
from ioukit.evaluation import ERROR_KINDS, Outcome, confusion_matrix, error_kinds, outcomes
from ioukit.evaluation.table import OVER_DETECTION
from ioukit.tracks.sequences import frames_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.viewer.answers.collection import Collection, Model
    from ioukit.viewer.answers.conditions import Tagged

__all__ = ["PlainAnswer", "plain_answer", "plain_marks"]

Mark = dict[str, Any]

_OF_OBJECT = {Outcome.TRUE_POSITIVE: "detected", Outcome.FALSE_NEGATIVE: "fn", Outcome.IGNORED: "ignored"}
_OF_DETECTION = {Outcome.TRUE_POSITIVE: "tp", Outcome.FALSE_POSITIVE: "fp", Outcome.IGNORED: "ignored"}
_BLAMED = ("classification", "localisation")  # an object with such an error is not missed
_ASCENDING = ("name", "position", "frame")


# Long: every key of a mark stands beside the function of the library that it comes from.
@lru_cache(maxsize=64)
def plain_marks(collection: Collection, model: Model, at_iou: float, at_score: float) -> list[Mark]:
    """A dictionary for each object and for each detection that counts, from the library's own functions."""
    table = model.table
    protocol, truth = table.protocol, collection.ground_truth
    became = outcomes(table, iou_threshold=at_iou, score_threshold=at_score)
    error_of, missed = _errors(model, at_iou, at_score)
    matrix = confusion_matrix(table, iou_threshold=at_iou, score_threshold=at_score)
    confused_objects, confused_detections = {}, {}
    for place, row, true, predicted in zip(
        matrix.object.tolist(), matrix.detection.tolist(), matrix.true.tolist(), matrix.predicted.tolist(), strict=True
    ):
        confused_objects[place], confused_detections[row] = (true, predicted), (true, predicted)
    near_objects, near_detections = Counter[int](), Counter[int]()
    assert table.near is not None
    for row, place, iou in zip(
        table.near.detection.tolist(), table.near.object.tolist(), table.near.iou.tolist(), strict=True
    ):
        if not table.objects.special[place] & OVER_DETECTION:  # of a crowd it is no IoU
            near_detections[row] = max(near_detections[row], iou)
        near_objects[place] = max(near_objects[place], iou)
    found: list[Mark] = []
    for place in range(len(table.objects)):
        data_row = int(table.objects.row[place])
        outcome = _OF_OBJECT[Outcome(int(became.objects[place]))]
        finder = int(became.matched_detection[place])
        if not collection.models:
            outcome = "ignored" if outcome == "ignored" else "detected"
        found.append(
            {
                "side": "object",
                "row": place,
                "image": int(table.objects.image[place]),
                "class": int(table.objects.category[place]),
                "outcome": outcome,
                "error": ERROR_KINDS[-1] if place in missed and collection.models else None,
                "score": float(table.detections.score[finder]) if outcome == "detected" and finder >= 0 else None,
                "iou": float(became.match_iou[finder]) if finder >= 0 else float(near_objects[place]),
                "area": float(truth.areas[data_row]),
                "flags": {name for name, flag in truth.flags.items() if flag[data_row]},
                "cell": confused_objects.get(place),
                "issues": _issues(collection, collection.issues.objects[place] if collection.issues else 0),
            }
        )
    detections = model.evaluation.detections
    assert detections is not None
    areas = detections.areas_or_those_of_boxes()
    at = collection.models.index(model) if collection.models else 0
    for row in range(len(table)):
        if became.detections[row] == Outcome.NOT_COUNTED:
            continue
        error = error_of[row]
        partner = int(became.matched_object[row])
        bits = collection.issues.detections[at][row] if collection.issues and collection.issues.detections else 0
        found.append(
            {
                "side": "detection",
                "row": row,
                "image": int(table.detections.image[row]),
                "class": int(table.detections.category[row]),
                "outcome": _OF_DETECTION[Outcome(int(became.detections[row]))],
                "error": None if error < 0 else ERROR_KINDS[error],
                "score": float(table.detections.score[row]),
                "iou": float(became.match_iou[row]) if partner >= 0 else float(near_detections[row]),
                "area": float(areas[table.detections.row[row]]),
                "flags": set[str](),
                "cell": confused_detections.get(row),
                "issues": _issues(collection, bits),
            }
        )
    for mark in found:
        mark["size"] = float(np.float32(math.sqrt(mark["area"])))
        mark["iou"] = float(np.float32(mark["iou"]))
        ranges = [] if protocol.objects_choose or protocol.ranges_by != "area" else protocol.area_ranges
        inside = [one for one in ranges if one.low <= mark["area"] <= one.high]
        mark["range"] = min(inside, key=lambda one: (one.high - one.low, -one.low)).label if inside else None
    return found


def _errors(model: Model, at_iou: float, at_score: float) -> tuple[dict[int, int], set[int]]:
    """The error of each detection at or above the score threshold, -1 for none, and the objects that are missed."""
    table, given = model.table, model.evaluation
    background = min(0.1, at_iou)
    rows = np.flatnonzero(table.detections.score >= at_score).tolist()
    if table.protocol.objects_choose is not None:
        # An object can choose a detection with a low score, so what is left out would change what the others are.
        every = error_kinds(table, iou_threshold=at_iou, background_threshold=background)
        became = outcomes(table, iou_threshold=at_iou, score_threshold=at_score)
        blamed = {int(every.detection_object[row]) for row in rows if ERROR_KINDS[every.detection_kind[row]] in _BLAMED}
        missed = {
            place for place in np.flatnonzero(became.objects == Outcome.FALSE_NEGATIVE).tolist() if place not in blamed
        }
        return {row: int(every.detection_kind[row]) for row in rows}, missed
    assert given.ground_truth is not None
    assert given.detections is not None
    kept = np.flatnonzero(given.detections.scores >= at_score)
    filtered = evaluate(given.ground_truth, given.detections[kept], table.protocol, iou_type=table.iou_type)
    near = filtered.near_matches(background)
    kinds = error_kinds(near, iou_threshold=at_iou, background_threshold=background)
    row_of = {number: row for row, number in enumerate(table.detections.row.tolist())}
    data_rows = kept[near.detections.row].tolist()
    errors = {row_of[number]: kind for number, kind in zip(data_rows, kinds.detection_kind.tolist(), strict=True)}
    return errors, set(np.flatnonzero(kinds.missed).tolist())


def _issues(collection: Collection, bits: Any) -> set[str]:
    return {name for at, name in enumerate(collection.issues.kinds if collection.issues else ()) if int(bits) >> at & 1}


class PlainAnswer:
    """The numbers of an answer."""

    def __init__(self, collection: Collection, items: Sequence[tuple[str, str]], tagged: Tagged) -> None:
        """Find them for the keys and values of a filter."""
        self.collection, self.tagged = collection, tagged
        self.wanted: dict[str, list[str]] = {}
        self._classes: dict[str, set[int]] = {}
        self._chosen: dict[Any, list[Mark]] = {}  # as every value of a facet asks for the same
        for key, text in items:
            self.wanted.setdefault(key, []).append(text)
        protocol = collection.protocol
        self.at_iou = float(self._one("at_iou") or protocol.main_iou)
        names = [model.name for model in collection.models]
        self.model = names.index(self._one("model") or names[0]) if names else 0
        self.marks = [
            plain_marks(collection, model, self.at_iou, self._score(model))
            for model in collection.models or (collection.scene,)
        ]
        self.change = self._changes(names)
        self.mark_keys = [key for key in self.wanted if self._of_marks(key)]
        self.image_keys = [
            key for key in self.wanted if key in ("text", "tag", "noted") or self._column(key) == "image"
        ]
        self.images = [
            at
            for at in range(len(collection.table.image_ids))
            if all(self._image_passes(at, key) for key in self.image_keys)
        ]

    def _one(self, key: str) -> str | None:
        return self.wanted.get(key, [None])[0]

    def _score(self, model: Model) -> float:
        given = self._one("at_score")
        if given is not None:
            return float(given)
        best = model.evaluation.score_curves().overall.best.score
        scores = model.evaluation.matches.detections.score
        return best if not math.isnan(best) else float(min(scores, default=0.0))

    def _column(self, key: str) -> str | None:
        name = key.removeprefix("column.")
        return self.collection.values[name].of if key.startswith("column.") else None

    def _of_marks(self, key: str) -> bool:
        number = key in ("score", "iou", "size", "area")
        plain = ("class", "outcome", "error", "true", "predicted", "flag", "issue", "change")
        return number or key in plain or self._column(key) == "object"

    def _changes(self, names: list[str]) -> dict[int, str]:
        """What became of each object."""
        if len(names) < 2:
            return {}
        given = self._one("models")
        a, b = [names.index(name) for name in given.split(",")] if given else (0, 1)
        pairs = zip(*([mark for mark in self.marks[at] if mark["side"] == "object"] for at in (a, b)), strict=True)
        words = {(False, True): "won", (True, False): "lost", (True, True): "both", (False, False): "neither"}
        return {
            one["row"]: words[one["outcome"] == "detected", other["outcome"] == "detected"]
            for one, other in pairs
            if one["outcome"] != "ignored"
        }

    def _class(self, text: str) -> set[int]:
        if text not in self._classes:
            self._classes[text] = self._classes_called(text)
        return self._classes[text]

    def _classes_called(self, text: str) -> set[int]:
        categories = self.collection.categories
        numbered = {at for at, number in enumerate(categories.ids) if f"id:{number}" == text}
        return numbered or {at for at, name in enumerate(categories.names) if name == text}

    def _image_passes(self, at: int, key: str) -> bool:
        texts = self.wanted[key]
        if key == "text":
            return any(text.casefold() in self.collection.image_names[at].casefold() for text in texts)
        if key == "tag":
            return any(at in self.tagged.tags.get(text, ()) for text in texts)
        if key == "noted":
            return (at in self.tagged.noted) == (texts[0] == "yes")
        return self._value_passes(key, at)

    def _value_passes(self, key: str, row: int) -> bool:
        value = self.collection.values[key.removeprefix("column.")]
        if value.texts is None:
            return any(_within(float(value.values[row]), text) for text in self.wanted[key])
        place = int(value.values[row])
        return (value.texts[place] if place >= 0 else "") in self.wanted[key]

    def _passes(self, mark: Mark, key: str) -> bool:
        texts = set(self.wanted[key])
        single = key != "score"
        if key in ("true", "predicted"):
            background = len(self.collection.categories)
            places = set.union(*({background} if text == "background" else self._class(text) for text in texts))
            passed = mark["cell"] is not None and mark["cell"][key == "predicted"] in places
        elif key == "class":
            passed = any(mark["class"] in self._class(text) for text in texts)
        elif key in ("outcome", "error"):
            passed = mark[key] in texts
        elif key in ("score", "iou", "size"):
            passed = mark[key] is not None and any(_within(mark[key], text, single=single) for text in texts)
        elif key == "area":
            passed = mark["range"] in texts
        elif key in ("flag", "issue"):
            passed = bool(mark[f"{key}s"] & texts)
        elif key == "change":
            passed = mark["side"] == "object" and self.change.get(mark["row"]) in texts
        else:
            passed = mark["side"] == "object" and self._value_passes(key, mark["row"])
        return passed

    def chosen(self, *without: str, model: int | None = None, images: bool = True) -> list[Mark]:
        """The marks that pass all conditions but some."""
        asked = without, model, images
        if asked not in self._chosen:
            keys = [key for key in self.mark_keys if key not in without]
            shown = set(self.images)
            self._chosen[asked] = [
                mark
                for mark in self.marks[self.model if model is None else model]
                if (not images or mark["image"] in shown) and all(self._passes(mark, key) for key in keys)
            ]
        return self._chosen[asked]

    def order(self) -> list[int]:
        """The images, in their order."""
        with_marks = {mark["image"] for mark in self.chosen()}
        shown = [at for at in self.images if not self.mark_keys or at in with_marks]
        sort = self._one("sort") or ("errors" if self.collection.models else "position")
        order = self._one("order") or ("asc" if sort in _ASCENDING else "desc")
        values = {at: self._sort_value(sort, at) for at in shown}

        def rank(at: int) -> tuple[bool, Any]:
            value = values[at]
            if value is None:
                return (True, 0)
            return (False, value if order == "asc" else -value)

        return sorted(shown, key=rank)

    def _sort_value(self, sort: str, at: int) -> Any:
        names = self.collection.image_names
        if sort in ("frame", "position"):
            return (
                at
                if sort == "position"
                else int(frames_of(self.collection.ground_truth).place[self.collection.image_rows[at]])
            )
        if sort == "name":
            return sorted(range(len(names)), key=lambda one: (names[one], one)).index(at)
        if sort.startswith("column."):
            value = self.collection.values[sort.removeprefix("column.")]
            rows = [at] if value.of == "image" else np.flatnonzero(self.collection.table.objects.image == at)
            numbers = [float(value.values[row]) for row in rows]
            if value.texts is not None:
                numbers = [math.nan if number < 0 else number for number in numbers]
            return max((number for number in numbers if not math.isnan(number)), default=None)
        if sort == "score":
            scores = [mark["score"] for mark in self.chosen() if mark["image"] == at and mark["score"] is not None]
            return max(scores, default=None)
        of = Counter((mark["side"], mark["outcome"]) for mark in self.chosen("outcome", "error") if mark["image"] == at)
        tp, fp = of["detection", "tp"], of["detection", "fp"]
        found, fn = of["object", "detected"], of["object", "fn"]
        follows = {"outcome", "error", "true", "predicted"} & self.wanted.keys()
        if sort in ("precision", "recall", "f1"):
            return self._ratios(of)[sort]
        return {
            "errors": sum(mark["image"] == at for mark in self.chosen()) if follows else fp + fn,
            "fp": fp,
            "fn": fn,
            "tp": found if self._objects_only() else tp,
            "objects": found + fn + of["object", "ignored"],
            "detections": tp + fp + of["detection", "ignored"],
        }[sort]

    def counts(self, model: int) -> dict[str, float | None]:
        """What a model does."""
        of = Counter((mark["side"], mark["outcome"]) for mark in self.chosen("outcome", "error", model=model))
        objects_only = self._objects_only()
        return {
            "tp": of["object", "detected"] if objects_only else of["detection", "tp"],
            "fp": None if objects_only else of["detection", "fp"],
            "found": of["object", "detected"],
            "fn": None if "score" in self.wanted else of["object", "fn"],
            "ignored": of["object", "ignored"] + of["detection", "ignored"],
            **self._ratios(of),
        }

    def _objects_only(self) -> bool:
        return any(key in ("flag", "change") or self._column(key) == "object" for key in self.mark_keys)

    def _ratios(self, of: Counter[tuple[str, str]]) -> dict[str, float | None]:
        """The exact ratios; none where the filter leaves out one side of it, or decides which objects are found."""
        tp, fp = of["detection", "tp"], of["detection", "fp"]
        found, fn = of["object", "detected"], of["object", "fn"]
        objects_only = self._objects_only()
        precision = Fraction(tp, tp + fp) if tp + fp and not objects_only and "true" not in self.wanted else None
        partial = {"score", "change", "predicted"} & self.wanted.keys()
        recall = Fraction(found, found + fn) if found + fn and not partial else None
        f1 = None
        if precision is not None and recall is not None:
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)
        elif not (objects_only or partial or "true" in self.wanted) and not tp and not found and fp + fn:
            f1 = Fraction(0)  # false positives without objects, or missed objects without detections
        ratios = {"precision": precision, "recall": recall, "f1": f1}
        return {name: None if one is None else float(one) for name, one in ratios.items()}

    def facet(self, key: str, value: str | int) -> int:
        """How many marks have a value and pass all other conditions."""
        listed = self.chosen(key)
        if key == "class":
            return sum(mark["class"] == value for mark in listed)
        if key == "change":
            return sum(mark["side"] == "object" and self.change.get(mark["row"]) == value for mark in listed)
        if key in ("flag", "issue"):
            return sum(value in mark[f"{key}s"] for mark in listed)
        return sum(mark["range" if key == "area" else key] == value for mark in listed)

    def images_without(self, key: str) -> list[int]:
        """The images that pass all conditions on images but one, and have a mark that passes those on marks."""
        with_marks = {mark["image"] for mark in self.chosen(images=False)}
        return [
            at
            for at in range(len(self.collection.table.image_ids))
            if all(self._image_passes(at, other) for other in self.image_keys if other != key)
            and (not self.mark_keys or at in with_marks)
        ]

    def histogram(self, key: str, edges: Sequence[float]) -> list[int]:
        """How many values of marks or images are in each bin."""
        value = self.collection.values.get(key.removeprefix("column."))
        if value is None:
            values = [mark[key] for mark in self.chosen(key) if mark[key] is not None]
        elif value.of == "image":
            values = [float(value.values[at]) for at in self.images_without(key)]
        else:
            values = [float(value.values[mark["row"]]) for mark in self.chosen(key) if mark["side"] == "object"]
        counts = [0] * (len(edges) - 1)
        for number in values:
            if edges[0] <= number <= edges[-1]:
                counts[min(bisect.bisect_right(edges, number) - 1, len(counts) - 1)] += 1
        return counts


def _within(value: float, text: str, *, single: bool = False) -> bool:
    low, dots, high = text.partition("..")
    ends = (low or "-inf", (high or "inf") if dots else low)
    least, most = (float(np.float32(end)) if single else float(end) for end in ends)
    return least <= value <= most


def plain_answer(collection: Collection, items: Sequence[tuple[str, str]], tagged: Tagged) -> PlainAnswer:
    """The plain answer to a filter."""
    return PlainAnswer(collection, items, tagged)
