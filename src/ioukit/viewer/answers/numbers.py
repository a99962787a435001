"""AP, curve, kinds of errors and confusions of what is filtered: the panel "Numbers" of the page.

Owns: which part of a filter these numbers follow. AP is a number of whole images: the detections of an image compete
for its objects, and AP needs those of every score. So the numbers follow the conditions on images and the classes. The
other conditions choose regions, and are not followed; the page says so. So a click on a cell or a bar of the panel
filters the grid, and the panel stays as it is.

Does not own: the numbers. All of them are read from a match table of some images, which the library would make, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit.evaluation import ERROR_KINDS, ScoreCurve, accumulate
from ioukit.evaluation.analysis.operating import pooled_curve
from ioukit.evaluation.analysis.outcomes_by_score import FALSE, TRUE
from ioukit.evaluation.summary import averaged, value_of, values_of_classes
from ioukit.statistics.copies import repeat_images
from ioukit.viewer.answers.answering import Counts
from ioukit.viewer.answers.conditions import Tagged, among
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.selecting import Selection, select
from ioukit.viewer.answers.values import finite_or_none

if TYPE_CHECKING:
    from ioukit.evaluation import Curves, Measure
    from ioukit.viewer.answers.collection import Collection, Model


MOST_CLASSES = 30
"""With more classes, the most frequent confusions are listed in the place of a matrix."""
_MOST_LISTED = 50  # confusions: as many as a reader scrolls through
_MOST_POINTS = 300  # of a curve: as many as the pixels of its drawing
_MOST_MEASURES = 3


@dataclass(frozen=True)
class ModelNumbers:
    """The numbers of one model."""

    measures: dict[str, float]
    """The main numbers of the protocol by their keys, such as AP and AP50: of all score thresholds."""
    counts: Counts
    """What the model does at the thresholds."""
    curve: ScoreCurve | None
    """Precision and recall over the score threshold, at the IoU threshold, of all classes together; ``None`` if the
    protocol does not read scores."""

    def to_json(self) -> dict[str, Any]:
        """The numbers and some points of the curve; ``None`` where undefined."""
        return {
            "measures": {key: finite_or_none(value) for key, value in self.measures.items()},
            "counts": self.counts.to_json(),
            "curve": None if self.curve is None else _points_of(self.curve),
        }


def _points_of(curve: ScoreCurve) -> dict[str, list[float | None]]:
    points = np.unique(np.linspace(0, max(0, len(curve.scores) - 1), _MOST_POINTS).round().astype(np.int64))
    columns = {"score": curve.scores, "recall": curve.recall, "precision": curve.precision}
    return {name: [*map(finite_or_none, values[points[: len(values)]])] for name, values in columns.items()}


@dataclass(frozen=True)
class NumbersOfFilter:
    """What the panel shows for a filter."""

    images: int
    """The images that pass all conditions on images."""
    models: tuple[ModelNumbers, ...]
    """The numbers of each model."""
    errors: dict[str, int]
    """The errors of each kind of the chosen model: of the detections at or above the score threshold alone."""
    confusions: npt.NDArray[np.int64]
    """(C, 3) the cells of the confusion matrix that are not empty: true class, predicted class, and how often. The
    background is the class behind the last one."""
    background: int
    """The number of classes."""

    def to_json(self) -> dict[str, Any]:
        """The numbers as lists and mappings: the whole matrix if few classes occur, else the most frequent confusions.

        ``classes`` are those of the matrix, ``None`` if confusions are listed.
        """
        cells = self.confusions
        classes = np.unique(cells[:, :2])
        classes = classes[classes < self.background]
        is_matrix = len(classes) <= MOST_CLASSES
        if not is_matrix:
            cells = cells[(cells[:, 0] != cells[:, 1]) & (cells[:, :2] < self.background).all(axis=1)]
            cells = cells[np.argsort(-cells[:, 2], kind="stable")][:_MOST_LISTED]
        return {
            "images": self.images,
            "models": [one.to_json() for one in self.models],
            "errors": self.errors,
            "classes": classes.tolist() if is_matrix else None,
            "cells": cells.tolist(),
        }


def numbers(collection: Collection, chosen: Filter, tagged: Tagged | None = None) -> NumbersOfFilter:
    """The numbers of the images and classes that a filter chooses, at its thresholds.

    They are those of :func:`ioukit.evaluate` of these images. With a filter of classes, AP is the mean over these. The
    conditions on regions are not followed.

    Args:
        collection: What is shown.
        chosen: The filter.
        tagged: Tags and notes.

    Raises:
        ValueError: If there are no detections, or the filter names what is not in the collection.
    """
    if not collection.models:
        raise ValueError("numbers need detections: there is ground truth alone")
    selection = select(collection, chosen, tagged)
    count = len(collection.categories)
    places = [place for name in chosen.classes for place in collection.classes_called(name)]
    classes = among(count, places if chosen.classes else range(count))
    others = [one.name for one in selection.conditions if one.name != "class"]
    return NumbersOfFilter(
        images=int(selection.passed.sum()),
        models=tuple(_of_model(selection, at, classes, others) for at in range(len(collection.models))),
        errors=_errors(selection, others),
        confusions=_confusions(selection, classes),
        background=count,
    )


def _of_model(selection: Selection, at: int, classes: Flags, others: list[str]) -> ModelNumbers:
    model, passed = selection.collection.models[at], selection.passed
    protocol, curves = selection.collection.protocol, _curves(model, passed)
    keys = protocol.headline_keys[:_MOST_MEASURES]
    measures = {one.key: one for one in protocol.measures if one.key in keys}
    detected, tp, fp, missed, *ignored, _ = selection.kinds(at, *others).tolist()
    return ModelNumbers(
        measures={key: _mean(curves, measures[key], classes) for key in keys},
        counts=Counts(tp, fp, detected, missed, sum(ignored)),
        curve=_curve(selection, at, classes) if protocol.ranks else None,
    )


def _curves(model: Model, images: Flags) -> Curves:
    """The curves of some images; the last ones are kept."""
    if images.all():
        return model.evaluation.curves
    return model.curves.of(images.tobytes(), lambda: accumulate(repeat_images(model.table, images)))


def _mean(curves: Curves, measure: Measure, classes: Flags) -> float:
    """The number of a measure, the mean over some classes; over all if classes have no numbers of their own."""
    if classes.all() or curves.protocol.class_agnostic:
        return value_of(curves, measure)
    values = averaged(values_of_classes(curves, measure)[classes], curves.protocol)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _curve(selection: Selection, at: int, classes: Flags) -> ScoreCurve:
    marks = selection.marks[at]
    table, level = marks.model.table, marks.level

    def chosen(rows: Any) -> Flags:
        found: Flags = selection.passed[rows.image] & classes[rows.category]
        return found

    rows = np.flatnonzero(chosen(table.detections) & ((level.kind == TRUE) | (level.kind == FALSE)))
    rows = rows[np.argsort(-table.detections.score[rows], kind="stable")]
    objects = int(np.count_nonzero(chosen(table.objects) & ~level.ignored))
    return pooled_curve(table.detections.score[rows], level.kind[rows] == TRUE, objects)


def _errors(selection: Selection, others: list[str]) -> dict[str, int]:
    counts = np.zeros(len(ERROR_KINDS) + 1, np.int64)
    for failed in selection.failures():
        counts += np.bincount(failed.side.error[failed.chosen(*others)], minlength=len(counts))
    return dict(zip(ERROR_KINDS, counts.tolist(), strict=False))


def _confusions(selection: Selection, classes: Flags) -> npt.NDArray[np.int64]:
    """The cells of the chosen model's matrix in the rows or the columns of some classes."""
    marks, background = selection.of_model, len(classes)
    table, (predicted, true) = marks.model.table, marks.confused
    # Each object has its cell; each detection on the background, too. Other detections are in the cell of their object.
    objects = np.flatnonzero((predicted >= 0) & selection.passed[table.objects.image])
    alone = np.flatnonzero((true == background) & selection.passed[table.detections.image])
    rows = np.concatenate([table.objects.category[objects], np.full(len(alone), background)]).astype(np.int64)
    columns = np.concatenate([predicted[objects], table.detections.category[alone]]).astype(np.int64)
    chosen = np.append(classes, False)
    wanted = chosen[rows] | chosen[columns]
    cells, counts = np.unique(rows[wanted] * (background + 1) + columns[wanted], return_counts=True)
    return np.column_stack([*np.divmod(cells, background + 1), counts])
