"""Other names for the classes of a data set: renamed, joined or left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_choice
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.operations.choices import near

Unmapped: TypeAlias = Literal["keep", "drop", "error"]
"""What happens to classes that the mapping does not name."""

_ABSENT = "neg_category_ids"
Data = TypeVar("Data", GroundTruth, Detections)


def remap(
    ground_truth: GroundTruth,
    mapping: Mapping[str, str | None],
    *,
    unmapped: Unmapped = "keep",
    drop: bool = False,
    ids: Mapping[str, int] | None = None,
) -> GroundTruth:
    """The data set with other names of classes. Classes that get one name become one class.

    A class keeps its id. Of classes that become one, the one that had the new name before gives the id, else the one
    with the lowest id; it also gives the attributes. Lists of classes per image, such as those of LVIS, follow: a class
    is verified to be absent only if all classes that it was made of are.

    Args:
        ground_truth: The data set.
        mapping: New names by old names; ``None`` leaves the class and its objects out.
        unmapped: Classes that the mapping does not name: ``"keep"`` them, ``"drop"`` them with their objects, or
            ``"error"``.
        drop: Whether a name may be mapped to ``None``. A mapping that was read from a file may have an empty name by
            mistake, so this must be told.
        ids: Ids by new name, such as those of another data set; a new name that they lack is an error.

    Raises:
        ValueError: If the mapping has a name that no class has, or classes that may not be left out; if two classes
            would have the same id.

    Examples:
        >>> from ioukit import GroundTruth
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 1, 1], category_ids=[3, 6, 8], boxes=[[0, 0, 8, 8]] * 3,
        ...     categories={3: "car", 6: "bus", 8: "dog"})
        >>> vehicles = remap(gt, {"car": "vehicle", "bus": "vehicle"})
        >>> vehicles.categories.names, vehicles.category_ids.tolist()
        (('vehicle', 'dog'), [3, 3, 8])
    """
    plan = _plan(ground_truth.categories, mapping, unmapped, ids, drop=drop)
    gt = _applied(ground_truth, plan)
    return dataclasses.replace(gt, categories=plan.categories, images=_with_lists(gt.images, plan))


def remap_detections(
    detections: Detections,
    mapping: Mapping[str, str | None],
    categories: Categories,
    *,
    unmapped: Unmapped = "keep",
    drop: bool = False,
    ids: Mapping[str, int] | None = None,
) -> Detections:
    """Detections with the classes that :func:`remap` gives the ground truth that they belong to.

    Args:
        detections: The detections. Their classes must be among ``categories``.
        mapping: As for :func:`remap`.
        categories: The classes of the ground truth before it was mapped.
        unmapped: As for :func:`remap`.
        drop: As for :func:`remap`.
        ids: As for :func:`remap`.

    Raises:
        ValueError: As for :func:`remap`, and if a detection has a class that is not listed.
    """
    unknown = np.setdiff1d(detections.category_ids, categories.ids)
    if len(unknown):
        raise ValueError(f"{detections.source}: no category has the id {unknown[0]}")
    return _applied(detections, _plan(categories, mapping, unmapped, ids, drop=drop))


class _Plan(NamedTuple):
    """What becomes of each class."""

    old: npt.NDArray[np.int64]
    """(K,) the ids of the classes, in ascending order."""
    new: npt.NDArray[np.int64]
    """(K,) the id that each class gets."""
    kept: npt.NDArray[np.bool_]
    """(K,) whether it stays."""
    categories: Categories
    """The new classes."""


def _plan(
    categories: Categories,
    mapping: Mapping[str, str | None],
    unmapped: Unmapped,
    ids: Mapping[str, int] | None,
    *,
    drop: bool,
) -> _Plan:
    check_choice("unmapped", unmapped, get_args(Unmapped))
    for name, target in mapping.items():
        if name not in categories.names:
            raise ValueError(f"no class has the name {name!r}{near(name, categories.names)}")
        if target is None and not drop:
            raise ValueError(
                f"the class {name!r} gets no name: drop=True, or --drop in a command, leaves out its objects"
            )
        if target is not None and not target.strip():
            raise ValueError(f"the class {name!r} must get a name, or None to be left out, got {target!r}")
    others = [name for name in categories.names if name not in mapping]
    if others and unmapped == "error":
        raise ValueError(f"no new name is given for {len(others):,} of the classes: {', '.join(map(repr, others[:5]))}")
    # None in the mapping stays None.
    targets = [mapping.get(name, name if unmapped == "keep" else None) for name in categories.names]
    groups: dict[str, list[int]] = {}
    for position, target in enumerate(targets):
        if target is not None:
            groups.setdefault(target, []).append(position)
    leaders = {
        name: next((p for p in group if categories.names[p] == name), group[0]) for name, group in groups.items()
    }
    new_ids = {name: int(categories.ids[leader]) for name, leader in leaders.items()}
    if ids is not None:
        if missing := [name for name in groups if name not in ids]:
            raise ValueError(f"no id is given for the new class {missing[0]!r}{near(missing[0], ids)}")
        new_ids = {name: int(ids[name]) for name in groups}
        if len(set(new_ids.values())) < len(new_ids):
            raise ValueError(f"ids must differ, got {new_ids}")
    order = sorted(groups, key=new_ids.__getitem__)
    chosen = categories.take(np.array([leaders[name] for name in order], np.intp))
    listed = dataclasses.replace(chosen, ids=np.array([new_ids[name] for name in order], np.int64), names=tuple(order))
    new = np.array([-1 if target is None else new_ids[target] for target in targets], np.int64)
    return _Plan(categories.ids, new, np.array([target is not None for target in targets], np.bool_), listed)


def _applied(data: Data, plan: _Plan) -> Data:
    positions = np.searchsorted(plan.old, data.category_ids)
    kept = data.take(plan.kept[positions])
    return dataclasses.replace(kept, category_ids=plan.new[positions[plan.kept[positions]]])


def _with_lists(images: Images, plan: _Plan) -> Images:
    """The images with the new ids in their lists of classes."""
    lists = {name: column for name, column in images.attributes.items() if isinstance(column, IdLists)}
    if not lists:
        return images
    by_old = {old: new for old, new, kept in zip(plan.old.tolist(), plan.new.tolist(), plan.kept, strict=True) if kept}
    parts: dict[int, set[int]] = {}
    for old, new in by_old.items():
        parts.setdefault(new, set()).add(old)
    changed = dict(images.attributes)
    for name, column in lists.items():
        rows = []
        for listed in column.tolist():
            found = {by_old[old] for old in listed if old in by_old}
            if name == _ABSENT:
                found = {new for new in found if parts[new] <= set(listed)}
            rows.append(sorted(found))
        changed[name] = IdLists.of(rows)
    return dataclasses.replace(images, attributes=changed)
