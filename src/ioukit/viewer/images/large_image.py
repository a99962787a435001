"""One image large: its drawing, and everything that is known of its marks; `reasons.py` says why they are false."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._output import printable
from ioukit.evaluation import ERROR_KINDS
from ioukit.evaluation.analysis.outcomes_by_score import FALSE, MISSED
from ioukit.viewer.answers.sizes import areas_of
from ioukit.viewer.answers.values import finite_or_none
from ioukit.viewer.images.drawing import Drawings, Surroundings, with_folder
from ioukit.viewer.images.neighbours import Neighbours
from ioukit.viewer.images.reasons import Explainer
from ioukit.viewer.marking.noted_marks import Place

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.filters import Filter
    from ioukit.viewer.answers.marks import Marks
    from ioukit.viewer.images.drawing import Drawn


def explained(collection: Collection, chosen: Filter, at: int, around: Surroundings | None = None) -> dict[str, Any]:
    """One image as the page reads it: the drawing of the grid, and more about each of its marks.

    ``marks`` has an entry for each mark, in the order of ``boxes``: ``class``, ``score``, ``iou`` with the partner or
    else the highest, ``kind``, ``error`` (one of :data:`~ioukit.evaluation.ERROR_KINDS` or ``None``), ``why`` (some
    sentences), ``partner`` and ``about`` (positions in this list of the mark that it matches, and of the one that the
    sentences are about, or ``None``), ``id`` of an object, ``area`` in square pixels, ``flags`` of an object, and
    ``tags`` and ``note`` if there are notes. ``columns`` lists names and values of the columns of the image; ``note``
    and ``image_tags`` are those of the image itself. Data with track ids have ``track`` in each entry, and ``trails``.

    Args:
        collection: What is shown.
        chosen: The filter.
        at: The position of the image.
        around: What else is known of the image; whether there is a folder of photographs if ``None``.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    around = around or with_folder(collection)
    made = Drawings(collection, chosen, around)
    drawn = made.of(at)
    page = drawn.page | {"style": made.style(), "marks": _entries(collection, made.marks, chosen, at, drawn)}
    columns = [value for value in collection.values.values() if value.of == "image"]
    page["columns"] = [[printable(value.name), _value(value.values[at], value.texts)] for value in columns]
    if collection.has_tracks:
        from ioukit.viewer.images.trails import add_tracks  # noqa: PLC0415 - the viewer starts without it

        add_tracks(collection, at, made.marks, page)
    noting = around.noting
    if noting is not None:
        own = noting.entry(Place(at))
        page |= {"note": own.note, "image_tags": list(own.tags)}
        places = zip(drawn.sides.tolist(), page["boxes"][8::9], strict=True)
        for entry, (side, row) in zip(page["marks"], places, strict=True):
            written = noting.entry(Place(at, side, row))
            entry |= {"tags": list(written.tags), "note": written.note}
    return page


def _entries(
    collection: Collection, all_marks: list[Marks], chosen: Filter, at: int, drawn: Drawn
) -> list[dict[str, Any]]:
    """What is known of each mark, in the order of the drawing."""
    model = collection.model_at(chosen.model)
    place = {key: k for k, key in enumerate(zip(drawn.sides.tolist(), drawn.rows.tolist(), strict=True))}
    explainers = [_explainer(collection, one, at) for one in all_marks] if collection.models else []
    truth, table = collection.ground_truth, collection.table
    areas = [lambda rows: truth.areas[rows], *(areas_of(one.detections) for one in collection.models)]
    found = []
    for side, row in place:
        number = model if side == 0 else side - 1
        of_side = all_marks[number].objects if side == 0 else all_marks[number].detections
        data_rows = table.objects.row if side == 0 else all_marks[number].model.table.detections.row
        data_row, kind, error = int(data_rows[row]), int(of_side.kind[row]), int(of_side.error[row])
        entry: dict[str, Any] = {
            "class": printable(collection.class_keys[int(of_side.category[row])]),
            "score": finite_or_none(of_side.score[row]),
            "iou": finite_or_none(of_side.iou[row]),
            "kind": kind,
            "error": ERROR_KINDS[error] if kind in (FALSE, MISSED) and error < len(ERROR_KINDS) else None,
            "why": "",
            **dict.fromkeys(("partner", "about", "id")),
            "area": finite_or_none(areas[side](np.array([data_row]))[0]),
            "flags": [],
        }
        if collection.models:
            reason = explainers[number].object(row) if side == 0 else explainers[number].detection(row)
            other = number + 1 if side == 0 else 0
            entry["why"] = "" if collection.annotators else reason.words  # the words are of a detector and the truth
            entry["partner"] = place.get((other, int(of_side.partner[row])))
            entry["about"] = place.get((other, reason.detection if side == 0 else reason.object))
        if side == 0:
            entry["id"] = int(table.objects.id[row])
            entry["flags"] = [printable(name) for name, flag in truth.flags.items() if flag[data_row]]
        found.append(entry)
    return found


def _explainer(collection: Collection, marks: Marks, at: int) -> Explainer:
    table = marks.model.table
    rows = marks.model.detections_of(at)
    neighbours = Neighbours(
        table, collection.objects_of(at), rows, iou_threshold=marks.at_iou, score_threshold=marks.at_score
    )
    return Explainer(collection.ground_truth, marks.model.detections, table, neighbours)


def _value(value: Any, texts: tuple[str, ...] | None) -> float | str | None:
    if texts is None:
        return finite_or_none(value)
    return printable(texts[int(value)]) if value >= 0 else None
