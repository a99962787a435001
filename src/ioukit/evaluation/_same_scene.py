"""Were two evaluations made on the same ground truth? Only then do their numbers say which detections are better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_result, pluralize

if TYPE_CHECKING:
    from ioukit.evaluation.results import Evaluation
    from ioukit.evaluation.table import MatchTable, ObjectRows


def check_same_ground_truth(a: Evaluation, b: Evaluation, *, names: tuple[str, str] = ("A", "B")) -> None:
    """Check that two evaluations have the same rules, images, categories and objects.

    The match tables are compared, see :func:`check_same_scene`. If both evaluations hold their ground truth, so are the
    boxes of the objects.

    Args:
        a: An evaluation.
        b: Another one.
        names: What the message calls them.

    Raises:
        ValueError: If something differs; the message says what and where.
    """
    for given in (a, b):
        check_result(given, "matches", "ioukit.evaluate")
    a.matches.announce("comparison", b.matches)
    b.matches.announce("comparison", a.matches)
    check_same_scene(a.matches, b.matches, names=names)
    one, other = a.ground_truth, b.ground_truth
    if one is None or other is None or one is other:
        return
    rows = a.matches.objects.row, b.matches.objects.row
    if any(len(row) and int(row.max()) >= len(data) for row, data in zip(rows, (one, other), strict=True)):
        return  # a sum of tables numbers its rows on: they are not those of this data
    boxes = one.boxes[rows[0]], other.boxes[rows[1]]
    if (at := _first_difference(*boxes)) is not None:
        found = f"{boxes[0][at].tolist()} in {names[0]} and {boxes[1][at].tolist()} in {names[1]}"
        raise _differ(names, f"the box of {_described(a.matches, at)} is {found}")


def check_same_scene(a: MatchTable, b: MatchTable, *, names: tuple[str, str] = ("A", "B")) -> None:
    """Check that two match tables have the same protocol, kind of region, images, categories and objects.

    Objects are compared by image, category, annotation id, and by what the area ranges and flags say about them. The
    order of the objects of an image and category counts, because equal overlaps are decided by it.

    Args:
        a: A match table.
        b: Another one.
        names: What the message calls them.

    Raises:
        ValueError: If something differs; the message says what and where.
    """
    if a is b:
        return
    _check_rules(a, b, names)
    _check_images(a.image_ids, b.image_ids, names)
    _check_objects(a, b, names)


def _check_rules(a: MatchTable, b: MatchTable, names: tuple[str, str]) -> None:
    if a.protocol is not b.protocol and a.protocol != b.protocol:
        one, other = a.protocol.to_dict(), b.protocol.to_dict()
        fields = [name for name in one if name in other and one[name] != other[name]]
        first = fields[0] if fields else "name"
        found = f"{first} is {one.get(first)} in {names[0]} and {other.get(first)} in {names[1]}"
        raise _differ(names, f"their protocols differ: {found}", "by the same rules")
    if a.iou_type != b.iou_type:
        found = f"the kind of region is {a.iou_type!r} in {names[0]} and {b.iou_type!r} in {names[1]}"
        raise _differ(names, found, "by the same rules")
    if a.categories is b.categories:
        return
    listed = [list(zip(table.categories.ids.tolist(), table.categories.names, strict=True)) for table in (a, b)]
    if listed[0] != listed[1]:
        alone = [sorted(set(one) - set(other)) for one, other in (listed, listed[::-1])]
        at = 0 if alone[0] else 1
        number, name = alone[at][0]
        raise _differ(names, f"the category {name!r} (id {number}) is in {names[at]} alone")
    groups = a.protocol.category_groups
    if groups and groups != "name":
        columns = a.categories.column(groups), b.categories.column(groups)
        if not np.array_equal(*columns):  # type: ignore[arg-type]
            raise _differ(names, f"the {groups} of their categories differs")


def _check_images(a: npt.NDArray[Any], b: npt.NDArray[Any], names: tuple[str, str]) -> None:
    if np.array_equal(a, b):
        return
    if a.dtype.kind != b.dtype.kind and len(a) and len(b):
        kinds = ["strings" if ids.dtype.kind == "U" else "integers" for ids in (a, b)]
        raise _differ(names, f"image ids are {kinds[0]} in {names[0]} and {kinds[1]} in {names[1]}")
    alone = [np.setdiff1d(one, other) for one, other in ((a, b), (b, a))]
    at = 0 if len(alone[0]) else 1
    more = f", and {pluralize(len(alone[at]) - 1, 'other image')}" if len(alone[at]) > 1 else ""
    raise _differ(
        names,
        f"{names[0]} has {pluralize(len(a), 'image')} and {names[1]} has {len(b):,}; image {alone[at][0]} is in "
        f"{names[at]} alone{more}",
    )


def _check_objects(a: MatchTable, b: MatchTable, names: tuple[str, str]) -> None:
    one, other = _keys(a.objects), _keys(b.objects)
    if (at := _first_difference(one, other)) is not None:
        table, name = (a, names[0]) if len(one) > at else (b, names[1])
        if len(one) > at and len(other) > at:
            found = f"{_described(a, at)} in {names[0]} is {_described(b, at)} in {names[1]}"
        else:
            found = f"{_described(table, at)} is in {name} alone"
        counts = f"{names[0]} has {pluralize(len(one), 'object')} and {names[1]} has {len(other):,}"
        raise _differ(names, f"{counts}; the first difference: {found}")
    for column, meaning in (
        ("ignored", "has another area, crowd flag or flag to ignore it"),
        ("special", "has another flag"),
    ):
        if (at := _first_difference(getattr(a.objects, column), getattr(b.objects, column))) is not None:
            raise _differ(names, f"{_described(a, at)} {meaning} in {names[1]} than in {names[0]}")


def _keys(objects: ObjectRows) -> npt.NDArray[np.int64]:
    """(G, 3) what identifies each object."""
    return np.stack([objects.image.astype(np.int64), objects.category.astype(np.int64), objects.id], axis=1)


def _first_difference(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> int | None:
    """The first row that differs, or that only one has; ``None`` if there is none."""
    if np.array_equal(a, b):
        return None
    common = min(len(a), len(b))
    rows = np.flatnonzero((a[:common] != b[:common]).any(axis=1))
    return int(rows[0]) if len(rows) else common


def _described(table: MatchTable, at: int) -> str:
    """One object of a table in words."""
    objects = table.objects
    name = table.categories.names[objects.category[at]]
    return f"object {objects.id[at]} ({name}, image {table.image_ids[objects.image[at]]})"


def _differ(names: tuple[str, str], what: str, alike: str = "on the same ground truth") -> ValueError:
    return ValueError(f"{names[0]} and {names[1]} were not evaluated {alike}: {what}")
