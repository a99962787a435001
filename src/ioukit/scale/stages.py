"""The three steps of an evaluation in parts, as functions of plain data: split, match, draw. Engines run them.

Owns: what a step computes. Does not own: where it runs and what is between two steps (engines/), which images are a
part (parts.py), the order of rows in files (table_files.py), the merge of the parts (merging.py).
Cut here because matching needs one image at a time, and a curve all scores of a category, but only their sorted rows.
So the steps before the curves share nothing, and a curve needs a block of each part at a time, not the rows. Protocols
that need more than sorted rows (:attr:`ioukit.Protocol.draws_in_parts`) are drawn from the joined table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import OutcomeColumns
from ioukit._columns import positions_in
from ioukit.datasets import Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation import MatchTable, match
from ioukit.evaluation.curves import drawing_of
from ioukit.evaluation.matching import check_scores
from ioukit.evaluation.protocols import Protocol
from ioukit.scale.kept_files import pyarrow
from ioukit.scale.merging import merged
from ioukit.scale.parts import Job
from ioukit.scale.table_files import Run, Runs, TableFile, arrow_array, narrowed, numpy_column

_ATTRIBUTE = "attribute."  # before the names of further columns


def split(job: Job, detections: Detections, first_row: int, *, narrow: bool = False) -> list[Any]:
    """The detections of each part, as one Arrow record batch per part, in the given order.

    Args:
        job: The job.
        detections: Some of the detections, in the order of their source.
        first_row: The row of the first of them in their piece.
        narrow: Whether columns take half the space if that changes no number.

    Raises:
        DatasetError: If a detection has an image or category that the ground truth does not list, or detections have no
            scores and the protocol ranks.
    """
    arrow = pyarrow()
    dt = detections
    check_scores(dt, job.protocol)
    ids, listed = dt.image_ids_in(job.images), job.images.ids
    known = np.isin(dt.category_ids, job.known_categories)
    starts = np.flatnonzero(np.append(len(ids) > 0, ids[1:] != ids[:-1]))  # rows of one image often follow one another
    place = np.repeat(positions_in(listed, ids[starts]), np.diff(np.append(starts, len(ids))))
    if (place < 0).any() or not known.all():
        # The core says which one is not listed. It looks at all images before it looks at categories.
        _core.known_detections(dt.source, (ids, dt.category_ids), (listed, job.known_categories), "error")
    parts = np.arange(job.parts, dtype=np.uint16 if job.parts < 65_536 else np.int64)
    part = np.repeat(parts, np.diff(job.edges))[place]
    order = None if (part[1:] >= part[:-1]).all() else np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=job.parts))
    columns: dict[str, Any] = {
        "place": place.astype(np.uint32),
        "category_ids": dt.category_ids,
        "boxes": dt.boxes,
        "scores": dt.scores,
        "row": np.arange(first_row, first_row + len(dt), dtype=np.int64),
    }
    if dt.areas is not None:
        columns["areas"] = dt.areas
    for name, column in dt.attributes.items():
        if column.dtype.kind in "biuf":
            columns[_ATTRIBUTE + name] = column.astype(np.float64)
    arrays = {
        name: arrow_array(arrow, one if order is None else one.take(order, axis=0))
        for name, column in columns.items()
        for one in [narrowed(column) if narrow else column]
    }
    batch = arrow.record_batch(list(arrays.values()), names=list(arrays))
    return [batch.slice(first, end - first) for first, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]


def match_part(
    job: Job,
    first: int,
    objects: tuple[GroundTruth, npt.NDArray[np.int64]],
    batches: Iterable[tuple[int, Any]],
    *,
    sources: tuple[int, int],
    threads: int | None = 1,
) -> MatchTable:
    """The match table of a range of images; its columns ``row`` are rows of the whole data.

    Args:
        job: The job.
        first: The position of the first of the images.
        objects: The images with their objects, and (G,) the rows of these in the whole ground truth.
        batches: What :func:`split` gave for these images, in the order of the data, each behind the row of the whole
            input at which its piece begins.
        sources: The number of rows of the whole ground truth and of all detections.
        threads: How many threads match.
    """
    columns, rows = _columns(list(batches))
    ground_truth, ground_truth_rows = objects
    places = columns.pop("place").astype(np.int64) - first
    images = ground_truth.images
    dt = Detections(
        image_ids=images.ids[places] if images.keys is None else places,
        category_ids=columns["category_ids"],
        boxes=columns["boxes"],
        scores=columns["scores"],
        areas=columns.get("areas"),
        attributes={
            name.removeprefix(_ATTRIBUTE): column for name, column in columns.items() if name.startswith(_ATTRIBUTE)
        },
        image_keys=images.keys,
        source=f"detections of the images behind the first {first:,}",
    )
    table = match(
        ground_truth,
        dt,
        job.protocol,
        iou_type=job.iou_type,
        categories=None if job.categories is None else list(job.categories),
        near=job.near,
        threads=threads,
    )
    return dataclasses.replace(
        table,
        detections=dataclasses.replace(table.detections, row=rows[table.detections.row]),
        objects=dataclasses.replace(table.objects, row=ground_truth_rows[table.objects.row]),
        sources=sources,
    )


_TYPES: dict[str, Any] = {"place": np.uint32, "category_ids": np.int64, "row": np.int64}


def _columns(batches: Sequence[tuple[int, Any]]) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]:
    """The columns of several record batches, and the rows of the whole input."""
    given = [(start, batch) for start, batch in batches if batch.num_rows]
    names = list(dict.fromkeys(name for _, batch in given for name in batch.schema.names))
    if any(set(batch.schema.names) != set(names) for _, batch in given):
        raise DatasetError(f"the detections differ in their columns: all pieces need {', '.join(names)}")
    columns = {}
    for name in names or ["place", "category_ids", "boxes", "scores", "row"]:
        dtype, shape = _TYPES.get(name, np.float64), (4,) if name == "boxes" else ()
        found = [numpy_column(batch.column(name), dtype, shape) for _, batch in given]
        if name == "row":
            found = [rows + start for rows, (start, _) in zip(found, given, strict=True)]
        columns[name] = np.concatenate(found) if len(found) > 1 else (found or [np.zeros((0, *shape), dtype)])[0]
    rows = columns.pop("row")
    return columns, rows


def draw(protocol: Protocol, category: int, tables: Sequence[Runs]) -> dict[str, npt.NDArray[np.float64]]:
    """The curves of one evaluated category, as :func:`ioukit.evaluation.accumulate` draws them, from any rows."""
    num_objects = np.sum([table.header["num_objects"][category] for table in tables], axis=0)
    drawer = _core.CurveDrawer(num_objects.astype(np.uint64), drawing_of(protocol))
    for run in merged([table.blocks(category) for table in tables]):
        drawer.feed(*run)
    drawn: dict[str, npt.NDArray[np.float64]] = drawer.finish()
    return drawn


def draw_together(protocol: Protocol, group: range, tables: Sequence[TableFile]) -> dict[str, npt.NDArray[Any]]:
    """The same of evaluated categories that follow one another, whose rows are in memory together.

    The rows of one part after the other, each in falling order of score, are in the order of the images where scores
    are equal. So they are drawn as those of a whole table are, and a category costs as little as it does there.
    """
    edges = [table.header["ends"][group.start : group.stop + 1].astype(np.int64) for table in tables]
    rows = Run.joined([run for table, one in zip(tables, edges, strict=True) for run in table.rows(one[0], one[-1])])
    category = np.concatenate([np.repeat(np.arange(len(group), dtype=np.uint32), np.diff(one)) for one in edges])
    num_objects = np.sum([table.header["num_objects"][group.start : group.stop] for table in tables], axis=0)
    columns = OutcomeColumns(category, *rows, num_objects.astype(np.uint64))
    return dict(_core.accumulate(columns, drawing_of(protocol), 1))


def groups_of(sizes: npt.NDArray[np.int64], most: int) -> list[range]:
    """All categories in groups of at most ``most`` bytes; one that has more is alone.

    Args:
        sizes: (E,) the bytes of the detections of each category and of its curves, which are there twice for a moment.
        most: The bytes of what is drawn together.
    """
    groups: list[range] = []
    start = filled = 0
    for category, size in enumerate(sizes.tolist()):
        if filled + size > most and category > start:
            groups.append(range(start, category))
            start, filled = category, 0
        filled += size
    return [*groups, range(start, len(sizes))] if len(sizes) else []
