"""What a person decided about suspicious labels: read from a table, and applied to the data set.

A table is checked against the label errors, found again in the same data. What is applied comes from them and not from
the table. So every box keeps its bits, and no number that a spreadsheet changed gets into the data set.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Ids
from ioukit._checks import pluralize
from ioukit._columns import concat_columns, take_rows
from ioukit._output import whole_file
from ioukit.datasets import GroundTruth
from ioukit.datasets.columns._regions import KEYPOINTS, WITHOUT_KEYPOINTS
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.text_files import abbreviate, read_text, refuse
from ioukit.datasets.formats.written_names import class_names, image_names
from ioukit.datasets.formats.written_rows import plain, rows_of_images, write_json
from ioukit.datasets.operations.columns_in_common import in_common
from ioukit.errors import DatasetError
from ioukit.label_errors.label_error import BADLY_DRAWN, DOUBLED, LABEL_ERROR_KINDS, OVERLOOKED, SPURIOUS, SWAPPED
from ioukit.label_errors.label_errors import CSV_COLUMNS, WHICH, LabelErrors, cells

if TYPE_CHECKING:
    from collections.abc import Sequence


DECISIONS = ("yes", "no", "unsure")
"""What a person can decide: the proposed change is right, the label is right, or neither is sure."""
_WORDS = {"": "", **{word: one for one in DECISIONS for word in (one, one[0])}}
_REGION = {"type": "rectanglelabels", "from_name": "label", "to_name": "image"}


def read_decisions(errors: LabelErrors, path: str | os.PathLike[str]) -> npt.NDArray[np.str_]:
    """The decisions of a table: that of :meth:`LabelErrors.write_csv` with a further column ``decision``.

    The column has ``yes``, ``no``, ``unsure``, their first letters, or nothing. Rows may be left out, and be in any
    order. The cells that say which label is meant, and what is proposed, may not be edited.

    Args:
        errors: The label errors of the same data, found with the same options: all of them, not only the likely ones.
        path: The file, in UTF-8.

    Returns:
        (N,) the decision about each of ``errors``, one of :data:`DECISIONS`; empty for none.

    Raises:
        DatasetError: If the table is invalid, is about other data, or has a label twice; names file and line, what was
            expected and what came.
        OSError: If the file cannot be read.
    """
    known: dict[tuple[str, str], list[tuple[int, list[str]]]] = {}
    for at, error in enumerate(errors.rows()):
        texts = ["" if cell is None else str(cell) for cell in cells(error)[:WHICH]]
        known.setdefault((texts[0], texts[2]), []).append((at, texts))
    file, decisions, lines = os.fspath(path), np.full(len(errors), "", "U6"), dict[int, int]()
    table = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True, restval="")
    try:
        if missing := {*CSV_COLUMNS[:WHICH], "decision"}.difference(names := table.fieldnames or ()):
            refuse(f"{file}: line 1", f"a column {min(missing)}", abbreviate(", ".join(names)))
        for row in table:
            where, found = f"{file}: line {table.line_num}", [row[name] for name in CSV_COLUMNS[:WHICH]]
            listed = known.get((found[0], found[2]), ())
            near = [([k for k in range(WHICH) if not _is_same(found[k], one[k])], at, one) for at, one in listed]
            if not near:
                label = f"annotation {found[2]}" if found[2] else "an overlooked object"
                refuse(where, "a label that is suspicious in these data", f"{label} of image {found[0]}"[:200])
            # An image may have several overlooked objects: the most similar one is meant.
            differing, at, texts = min(near, key=lambda one: (len(one[0]), one[1] in lines))
            for k in differing:
                refuse(f"{where}: {CSV_COLUMNS[k]}", f"{abbreviate(texts[k])} as in these data", abbreviate(found[k]))
            if lines.setdefault(at, table.line_num) != table.line_num:
                refuse(where, "a label that differs from those before", f"that of line {lines[at]}")
            if (word := row["decision"].strip().casefold()) not in _WORDS:
                refuse(f"{where}: decision", f"{', '.join(DECISIONS)} or nothing", abbreviate(row["decision"]))
            decisions[at] = _WORDS[word]
    except csv.Error as error:
        refuse(f"{file}: line {table.line_num}", "CSV", f"something else: {error}")
    return decisions


def _is_same(one: str, other: str) -> bool:
    """Whether two cells say the same. A spreadsheet may round numbers."""
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=1e-6)
    except ValueError:
        return False


def apply_decisions(errors: LabelErrors, decisions: npt.NDArray[np.str_] | Sequence[str]) -> GroundTruth:
    """The data set with the changes that were decided with ``yes``; all else is as it was.

    - An overlooked object is added behind the others, with the next free id, and box, area and region of the detection.
    - A badly drawn one gets box, area and region of the detection. Without a region, such as a mask, it keeps none.
    - An object of a wrong class gets the other class.
    - A doubled object, the accused one of the two, and a label of nothing are removed.

    Args:
        errors: The label errors, of an evaluation that holds its data.
        decisions: (N,) the decision about each, as :func:`read_decisions` returns them.

    Returns:
        The corrected data set. Its notes say which attributes it lacks, because a new object has no value for them.

    Raises:
        ValueError: If there is not one decision per label error, or the evaluation does not hold its data.
        DatasetError: If an object has to be drawn and the detections lack the kind of region of the data set.
    """
    decided = np.asarray(decisions, np.str_)
    if decided.shape != errors.kind.shape or not np.isin(decided, ("", *DECISIONS)).all():
        raise ValueError(f"expected {len(errors):,} decisions: {', '.join(DECISIONS)} or '', got {decided}")
    return _changed(errors, decided == "yes", None)[0]


def annotation_tasks(errors: LabelErrors, ground_truth: GroundTruth | None = None) -> GroundTruth:
    """The images with labels that are in doubt, for a tool in which annotators work.

    It has all objects of these images. An object in doubt has the kind of error, the reason and the proposed change in
    the attribute ``reason``; overlooked objects are added. ``ioukit.datasets.write`` writes it for CVAT, and
    :func:`write_label_studio` for Label Studio.

    Args:
        errors: The labels in doubt, of an evaluation that holds its data.
        ground_truth: The data set as :func:`apply_decisions` corrected it; that of the evaluation if ``None``.

    Raises:
        ValueError: If the evaluation does not hold its data.
        DatasetError: As :func:`apply_decisions`.
    """
    # Of a corrected data set, only the ids of objects are those of the evaluation: nothing but new objects is changed.
    gt, ids = _changed(errors, errors.kind == OVERLOOKED, ground_truth)
    words = {kind.key: f"{kind.title}: {{}} Proposed: {kind.change}." for kind in LABEL_ERROR_KINDS}
    reasons = {k: words[row.kind].format(row.reason) for k, row in zip(ids.tolist(), errors.rows(), strict=True)}
    told = {**gt.attributes, "reason": np.array([reasons.get(one, "") for one in gt.ids.tolist()], np.str_)}
    images = errors.evaluation.matches.image_ids[np.unique(errors.image)]
    return dataclasses.replace(gt, attributes=told).filter(images=images)


def write_label_studio(tasks: GroundTruth, path: str | os.PathLike[str]) -> list[str]:
    """Write tasks for Label Studio: a JSON file with a task per image, and its objects as predictions.

    The labeling configuration needs ``<Image name="image" value="$image"/>`` and ``<RectangleLabels name="label"
    toName="image">`` with the classes. The image of a task is the name of its file. The attribute ``reason`` of an
    object becomes the text beside its region. Boxes are written, and no masks.

    Args:
        tasks: What :func:`annotation_tasks` returns. It must have the sizes of images.
        path: The file to write. After an error it is as it was.

    Returns:
        What the file does not hold.

    Raises:
        DatasetError: If the size of an image is unknown, or names cannot be told apart.
        OSError: If the file cannot be written.
    """
    classes, names = class_names(tasks.categories, tasks.source), image_names(tasks.images, tasks.source)[0]
    records, tasks = list[dict[str, Any]](), tasks.in_pixels()
    for at, rows in enumerate(rows_of_images(tasks, tasks.images)):
        across, down = map(plain, tasks.images.sizes[at].tolist())
        if not min(across, down) >= 1:
            refuse(f"{tasks.source}: image {abbreviate(names[at])}", "a width and a height", f"{across}, {down}")
        regions = []
        for row in rows:
            # Label Studio's unit is a hundredth of the image.
            shares = tasks.boxes[row] / np.array([across, down] * 2) * 100
            value: dict[str, Any] = dict(zip(("x", "y", "width", "height"), shares.tolist(), strict=True))
            value |= {"rotation": 0, "rectanglelabels": [classes[int(tasks.category_ids[row])]]}
            told = {"text": [text] if (text := str(tasks.attributes["reason"][row])) else []}
            size = {"original_width": across, "original_height": down, "image_rotation": 0}
            regions.append({"id": str(tasks.ids[row]), **_REGION, **size, "value": value, "meta": told})
        records.append({"data": {"image": names[at]}, "predictions": [{"model_version": "ioukit", "result": regions}]})
    with whole_file(path) as unfinished:
        write_json(unfinished, records)
    return left_out_columns(tasks, Holds(attributes=frozenset({"reason"}), ids=True))


def _changed(errors: LabelErrors, accepted: Flags, corrected: GroundTruth | None) -> tuple[GroundTruth, Ids]:
    """The data set after the accepted changes, and (N,) the id of the object that each label error is about."""
    own, dt, table = errors.evaluation.ground_truth, errors.evaluation.detections, errors.evaluation.near_matches()
    if own is None or dt is None:
        raise ValueError("the evaluation does not hold its data: evaluate the ground truth and the detections together")
    gt = own if corrected is None else corrected
    count, is_new, classes = len(gt), errors.kind == OVERLOOKED, table.categories.ids[errors.suggested]
    # The position -1 of no object takes the last value.
    place = np.append(table.objects.row.astype(np.int64), -1)[errors.object]
    ids = np.where(is_new, gt.ids.max(initial=0) + np.cumsum(is_new & accepted), np.append(own.ids, 0)[place])
    labels, kept = gt.category_ids.copy(), np.ones(count, np.bool_)
    swapped = accepted & (errors.kind == SWAPPED)
    labels[place[swapped]] = classes[swapped]
    kept[place[accepted & np.isin(errors.kind, (DOUBLED, SPURIOUS))]] = False
    made = dataclasses.replace(gt, category_ids=labels)
    drawn = np.flatnonzero(accepted & np.isin(errors.kind, (OVERLOOKED, BADLY_DRAWN)))
    if not len(drawn):
        return made.take(kept), ids
    found, added = dt.take(table.detections.row[errors.detection[drawn]]), is_new[drawn]
    lacking = () if KEYPOINTS in dt.regions else (WITHOUT_KEYPOINTS,)
    looks = dataclasses.replace(
        gt[:0],
        ids=ids[drawn],
        image_ids=gt.images.ids[gt.images.positions(table.image_ids[errors.image[drawn]])],
        category_ids=classes[drawn],
        boxes=found.boxes,
        areas=found.boxes[:, 2:].prod(axis=1) if found.areas is None else found.areas,
        flags={name: np.full(len(drawn), name in lacking) for name in gt.flags},
        regions={kind: column for kind, column in found.regions.items() if kind in gt.regions},
        attributes={},
    )
    # A new object has no value: NaN says so, and integers cannot.
    own_values = {name: one.astype(float) if one.dtype.kind in "iu" else one for name, one in gt.attributes.items()}
    parts, notes = in_common([dataclasses.replace(made, attributes=own_values), looks])
    if lost := gt.regions.keys() - parts[0].regions.keys():
        raise DatasetError(f"{dt.source}: expected {min(lost)}, which objects of {gt.source} have, found boxes alone")
    columns = {name: concat_columns([getattr(part, name) for part in parts], name) for name in gt.column_names()}
    # Behind all others stands what drawn objects look like. Badly drawn ones take it from there, and keep all else.
    order = np.arange(count + len(drawn))
    order[place[drawn[~added]]] = count + np.flatnonzero(~added)
    columns |= {name: take_rows(columns[name], order) for name in ("boxes", "areas", "regions")}
    bare, redrawn = gt.regions.keys() - found.regions.keys(), int((~added).sum())
    if bare and redrawn:
        objects = pluralize(redrawn, "badly drawn object")
        notes = [*notes, f"{min(bare)} of {objects}: the new box is that of a detection, which has none"]
    made = dataclasses.replace(made, **columns, notes=(*gt.notes, *notes))
    return made.take(np.concatenate([kept, added])), ids
