"""From data to an app: the collection, its photographs, its notes and its columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ioukit._checks import check_result
from ioukit.datasets import GroundTruth
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.columns import UserColumns, user_columns
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.issues import label_issues
from ioukit.viewer.images.photographs import Photographs
from ioukit.viewer.images.thumbnails import Thumbnails
from ioukit.viewer.marking.noted_marks import Noting
from ioukit.viewer.marking.notes import Notes, notes_file
from ioukit.viewer.server.app import App
from ioukit.viewer.server.views import Views

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ioukit.evaluation import Evaluation, Protocol


_SECONDS_TO_WRITE = 2.0  # notes, while another program uses their file; questions wait meanwhile


def app_of(
    data: GroundTruth | Evaluation | Mapping[str, Evaluation],
    folder: Path | None = None,
    *,
    table: Any = None,
    notes: str | os.PathLike[str] | None = None,
    issues: bool = False,
    annotators: tuple[str, str] | None = None,
    iou_type: str = "bbox",
    protocol: Protocol | None = None,
    cache: Path | None = None,
    threads: int | None = None,
) -> tuple[App, tuple[str, ...]]:
    """What :func:`ioukit.view` serves, and notes about the attributes and columns that a user should know.

    Args:
        data: As for :func:`ioukit.view`.
        folder: The folder of the photographs.
        table: As for :func:`ioukit.view`.
        notes: As for :func:`ioukit.view`.
        issues: As for :func:`ioukit.view`.
        annotators: The names of two annotators if the data are an evaluation of one on the other, see
            :func:`ioukit.comparison.agreement.evaluate_annotators`.
        iou_type: The kind of region of ground truth alone.
        protocol: The rules of ground truth alone; those of the kind if ``None``.
        cache: The folder that keeps small copies of photographs; they are kept in memory alone if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError, DatasetError: As :func:`ioukit.view`.
    """
    truth, models = _sides(data)
    ids = next(iter(models.values())).matches.image_ids if models else None
    further = UserColumns((), ()) if table is None else user_columns(table, truth, ids)
    collection = Collection.of(
        truth,
        models,
        folder=folder,
        columns=further.values,
        issues=label_issues(list(models.values()), threads=threads) if issues and models else None,
        annotators=annotators,
        iou_type=iou_type,
        protocol=protocol,
    )
    rows = collection.image_rows
    photographs = Photographs(folder, truth.images.names.take(rows), truth.images.sizes[rows], Thumbnails(cache))
    path = notes_file(truth.source) if notes is None else notes
    noting = Noting(collection, Notes(path, timeout=_SECONDS_TO_WRITE, follow_link=notes is not None))
    return App(Views(collection, photographs, noting), photographs), (*collection.notes, *further.notes)


def filter_query(pairs: Iterable[tuple[str, Any]]) -> str:
    """The keys and values of a filter as the query of an address.

    Raises:
        ValueError: If a key or a value is unknown.
    """
    return urlencode(Filter.parse([(key, str(value)) for key, value in pairs]).items())


def _sides(data: Any) -> tuple[GroundTruth, dict[str, Evaluation]]:
    """The ground truth, and the evaluations by the names of the models."""
    if isinstance(data, GroundTruth):
        return data, {}
    models = (
        dict(data) if isinstance(data, Mapping) else {_name(check_result(data, "matches", "ioukit.evaluate")): data}
    )
    if not models:
        raise ValueError("expected at least one model, got none: give the ground truth to look at it alone")
    truth = next(iter(models.values())).ground_truth
    if truth is None or any(one.detections is None for one in models.values()):
        raise ValueError("an evaluation holds a match table alone, without its data: keep the data to look at them")
    return truth, models


def _name(evaluation: Evaluation) -> str:
    source = "" if evaluation.detections is None else evaluation.detections.source
    return Path(source).stem or "detections"
