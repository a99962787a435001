"""One data set from several: their images, classes and objects."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Ids
from ioukit._checks import check_choice
from ioukit._columns import concat_columns
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.columns.lazy import Names
from ioukit.datasets.operations.columns_in_common import filled_attributes, images_in_common, in_common

Duplicates: TypeAlias = Literal["error", "join", "first", "keep"]
"""What happens to an image that is in several data sets."""
_Place = tuple[int, int]
"""A data set, and the position of an image in it."""
Classes: TypeAlias = Literal["by-name", "by-id"]
"""Which classes of two data sets are the same one."""


def merge(
    ground_truths: Sequence[GroundTruth], *, classes: Classes = "by-name", duplicates: Duplicates = "error"
) -> GroundTruth:
    """One ground truth with the images, classes and objects of several.

    Ids stay where they can: an image, class or object whose id an earlier data set has gets the next free id. Names of
    images stay. If all data sets have strings as ids of images, so has the result; if only some have, these images get
    numbers, and their strings are their names. Columns that only some data sets have are filled if there is a value for
    "not known": false for a flag, NaN for a number, an empty text, no mask, no keypoints. Other such columns are left
    out, and :attr:`GroundTruth.notes` say so.

    Args:
        ground_truths: At least one data set.
        classes: ``"by-name"``: classes with one name are one class. ``"by-id"``: classes with one id are one class,
            and must have the same name.
        duplicates: What happens to images that have one name, or one id if ids are strings: ``"error"`` refuses them;
            ``"join"`` makes them one image with all objects; ``"first"`` leaves out the image and its objects in all
            data sets but the first that has it; ``"keep"`` keeps them apart.

    Raises:
        ValueError: If there is no data set, an image is in two of them, or classes contradict each other.

    Examples:
        >>> from ioukit import GroundTruth
        >>> cats = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 8, 8]], categories={1: "cat"})
        >>> dogs = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[4, 4, 8, 8]], categories={1: "dog"})
        >>> both = merge([cats, dogs])
        >>> both.image_ids.tolist(), both.category_ids.tolist(), both.categories.names
        ([1, 2], [1, 2], ('cat', 'dog'))
    """
    plan = _plan(ground_truths, classes, duplicates)
    parts: list[GroundTruth] = []
    used = np.zeros(0, np.int64)
    for gt, part in zip(ground_truths, plan.parts, strict=True):
        renumbered = _renumbered(gt, part, used)
        used = np.union1d(used, renumbered.ids)
        parts.append(replace(renumbered, categories=plan.categories))
    images, image_notes = images_in_common([part.images for part in parts])
    aligned, notes = in_common([replace(part, images=own) for part, own in zip(parts, images, strict=True)])
    merged = GroundTruth.concat(aligned)
    if plan.keys is not None:
        merged = replace(merged, images=replace(merged.images, keys=plan.keys))
    return replace(merged, notes=tuple(dict.fromkeys([*merged.notes, *plan.notes, *notes, *image_notes])))


def merge_detections(
    detections: Sequence[Detections],
    ground_truths: Sequence[GroundTruth],
    *,
    classes: Classes = "by-name",
    duplicates: Duplicates = "error",
) -> Detections:
    """The detections of several data sets, with the ids of images and classes that :func:`merge` gives.

    Args:
        detections: One set of detections per data set.
        ground_truths: The data sets, in the same order, before they were merged.
        classes: As for :func:`merge`.
        duplicates: As for :func:`merge`.

    Raises:
        ValueError: As for :func:`merge`, and if the numbers of sets differ.
        DatasetError: If a detection is of an image or class that its data set does not list.
    """
    if len(detections) != len(ground_truths):
        raise ValueError(f"expected detections for {len(ground_truths)} data sets, got {len(detections)}")
    plan = _plan(ground_truths, classes, duplicates)
    parts = []
    for dt, gt, part in zip(detections, ground_truths, plan.parts, strict=True):
        known = dt.known_to(gt)
        places = np.searchsorted(gt.images.ids, known.image_ids_in(gt.images))
        kept = part.taken[places]
        chosen, places = known.take(kept), places[kept]
        image_ids = part.image_ids[places] if plan.keys is None else part.image_ids[places] - 1
        category_ids = looked_up(chosen.category_ids, part.category_ids)
        parts.append(replace(chosen, image_ids=image_ids, image_keys=plan.keys, category_ids=category_ids))
    aligned, notes = in_common(parts)
    merged = Detections.concat(aligned)
    return replace(merged, notes=tuple(dict.fromkeys([*merged.notes, *notes])))


class _Part(NamedTuple):
    """The new ids of one data set."""

    image_ids: npt.NDArray[np.int64]
    """(I,) the new id of each image."""
    own: npt.NDArray[np.bool_]
    """(I,) whether the image comes from this data set; else an earlier one has it."""
    taken: npt.NDArray[np.bool_]
    """(I,) whether the objects of the image stay."""
    category_ids: Mapping[int, int]
    """New ids of classes by their old ones."""


class _Plan(NamedTuple):
    parts: list[_Part]
    categories: Categories
    keys: npt.NDArray[np.str_] | None
    """(I,) the strings of all images in ascending order, if ids are strings."""
    notes: list[str]


def _plan(ground_truths: Sequence[GroundTruth], classes: Classes, duplicates: Duplicates) -> _Plan:
    check_choice("classes", classes, get_args(Classes))
    check_choice("duplicates", duplicates, get_args(Duplicates))
    listed = GroundTruth._parts(ground_truths)
    notes: list[str] = []
    categories, category_ids = merged_categories([gt.categories for gt in listed], classes, notes)
    keyed = all(gt.images.keys is not None for gt in listed)
    same = _same_images(listed, duplicates, keyed=keyed)
    if repeated := sum(earlier is not None for row in same for earlier in row):
        what = "are one image with that" if duplicates == "join" else "are left out with their objects: they are those"
        notes.append(f"{repeated:,} images {what} of an earlier data set with the same name")
    ids, keys = _new_keys(listed, same) if keyed else (_new_ids(listed, same), None)
    parts = []
    for numbers, row, new_categories in zip(ids, same, category_ids, strict=True):
        own = np.array([earlier is None for earlier in row], np.bool_)
        parts.append(_Part(numbers, own, np.ones(len(own), np.bool_) if duplicates == "join" else own, new_categories))
    return _Plan(parts, categories, keys, notes)


def _same_images(listed: Sequence[GroundTruth], duplicates: Duplicates, *, keyed: bool) -> list[list[_Place | None]]:
    """For each image of each data set, the image of an earlier one that it is the same as."""
    firsts: dict[str, _Place] = {}
    same: list[list[_Place | None]] = []
    for number, gt in enumerate(listed):
        own: dict[str, _Place] = {}
        row: list[_Place | None] = []
        for place, known_as in enumerate(_known_as(gt.images, keyed=keyed)):
            earlier = firsts.get(known_as)
            if known_as:
                own.setdefault(known_as, (number, place))
            if earlier is not None and duplicates == "error":
                raise ValueError(
                    f"the image {known_as!r} is in {listed[earlier[0]].source} and in {gt.source}; choose "
                    "duplicates, or --duplicates in a command: join (one image with all objects), first (the first "
                    "image), or keep (both images)"
                )
            if earlier is not None and duplicates == "join":
                _check_sizes(listed[earlier[0]].images.sizes[earlier[1]], gt.images.sizes[place], known_as)
            row.append(None if duplicates == "keep" else earlier)
        firsts = {**own, **firsts}
        same.append(row)
    return same


def _known_as(images: Images, *, keyed: bool) -> list[str]:
    """What tells that two images are the same: the string, or the name; empty if nothing does."""
    keys = [""] * len(images) if images.keys is None else images.keys.tolist()
    return keys if keyed else [name or key for name, key in zip(images.names, keys, strict=True)]


def _check_sizes(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], name: str) -> None:
    if not np.isnan([first, second]).any() and not np.array_equal(first, second):
        sizes = " and ".join(f"{width:g} x {height:g}" for width, height in (first, second))
        raise ValueError(f"the image {name!r} has two sizes in the data sets, {sizes} pixels: these are two images")


def _new_ids(listed: Sequence[GroundTruth], same: Sequence[Sequence[_Place | None]]) -> list[npt.NDArray[np.int64]]:
    """The new ids of the images of each data set, if they are numbers."""
    made: list[npt.NDArray[np.int64]] = []
    used = np.zeros(0, np.int64)
    for gt, row in zip(listed, same, strict=True):
        own = np.array([earlier is None for earlier in row], np.bool_)
        ids = np.zeros(len(row), np.int64)
        ids[own] = free_ids(gt.images.ids[own], used)
        for place in np.flatnonzero(~own).tolist():
            earlier = row[place]
            assert earlier is not None
            ids[place] = made[earlier[0]][earlier[1]]
        used = np.union1d(used, ids)
        made.append(ids)
    return made


def _new_keys(
    listed: Sequence[GroundTruth], same: Sequence[Sequence[_Place | None]]
) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.str_]]:
    """The new ids of the images of each data set, if they are strings, and all strings in ascending order."""
    used: set[str] = set()
    strings = []
    for gt, row in zip(listed, same, strict=True):
        own = [
            key if earlier is not None or key not in used else _other(key, used)
            for key, earlier in zip(gt.images.labels.tolist(), row, strict=True)
        ]
        used |= set(own)
        strings.append(own)
    keys = np.array(sorted(used), np.str_) if used else np.zeros(0, "U1")
    return [np.searchsorted(keys, np.array(own, keys.dtype)).astype(np.int64) + 1 for own in strings], keys


def _other(key: str, used: set[str]) -> str:
    return next(name for number in itertools.count(2) if (name := f"{key} ({number})") not in used)


def _renumbered(gt: GroundTruth, part: _Part, used: npt.NDArray[np.int64]) -> GroundTruth:
    """The data set with new ids of images, classes and objects; its images are those that no earlier one has."""
    places = np.searchsorted(gt.images.ids, gt.image_ids)
    kept = part.taken[places]
    rows = gt.take(kept)
    names = gt.images.names
    if gt.images.keys is not None:
        names = Names.of([name or key for name, key in zip(names, gt.images.keys.tolist(), strict=True)])
    attributes = {name: _with_new_ids(column, part.category_ids) for name, column in gt.images.attributes.items()}
    images = replace(gt.images, ids=part.image_ids, names=names, keys=None, attributes=attributes)
    return replace(
        rows,
        images=images.take(part.own),
        ids=free_ids(rows.ids, used),
        image_ids=part.image_ids[places[kept]],
        category_ids=looked_up(rows.category_ids, part.category_ids),
    )


def _with_new_ids(column: Any, new: Mapping[int, int]) -> Any:
    """A column of the images; lists of classes get the new ids."""
    return IdLists(looked_up(column.ids, new, others=True), column.ends) if isinstance(column, IdLists) else column


def merged_categories(
    listed: Sequence[Categories], classes: Classes, notes: list[str]
) -> tuple[Categories, list[dict[int, int]]]:
    """All classes, each once, and for each data set the new ids of its classes by their old ones.

    A class keeps its id, unless another class of an earlier data set has it: then it gets the next free one.

    Raises:
        ValueError: If one id has two names and classes are joined by id, or one name has two ids in one data set and
            they are joined by name.
    """
    names: dict[int, str] = {}  # of the new classes by id
    by_name: dict[str, int] = {}
    maps: list[dict[int, int]] = []
    added: list[Categories] = []
    for categories in listed:
        if classes == "by-name" and len(set(categories.names)) < len(categories):
            twice = next(name for name in categories.names if categories.names.count(name) > 1)
            raise ValueError(f"two classes of a data set have the name {twice!r}: join classes by id")
        new: dict[int, int] = {}
        rows = []
        for row, (old, name) in enumerate(zip(categories.ids.tolist(), categories.names, strict=True)):
            number = by_name.get(name) if classes == "by-name" else old if old in names else None
            if number is None:
                number = old if old not in names else max([*names, *categories.ids.tolist()]) + 1
                rows.append(row)
                names[number] = name
                by_name.setdefault(name, number)
            elif names[number] != name:
                raise ValueError(f"the class {number} is {names[number]!r} in one data set and {name!r} in another")
            new[old] = number
        maps.append(new)
        own = categories.take(np.array(rows, np.intp))
        added.append(dataclasses.replace(own, ids=np.array([new[old] for old in own.ids.tolist()], np.int64)))
    _note_case(list(by_name), notes)
    columns = filled_attributes([(one.attributes, len(one)) for one in added], "attribute {} of the classes", notes)
    filled = [attributes for attributes, one in zip(columns, added, strict=True) if len(one)] or columns[:1]
    joined = Categories(
        np.concatenate([one.ids for one in added]),
        tuple(name for one in added for name in one.names),
        concat_columns(filled, "attributes"),
    )
    return joined.take(np.argsort(joined.ids)), maps


def _note_case(names: Sequence[str], notes: list[str]) -> None:
    """A note about classes that are probably one."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault("".join(name.casefold().replace("_", " ").replace("-", " ").split()), []).append(name)
    notes += [
        f"the classes {' and '.join(map(repr, group))} differ only by case or spaces: remap joins them"
        for group in alike.values()
        if len(group) > 1
    ]


def free_ids(ids: Ids, used: Ids) -> Ids:
    """(N,) the ids, with new ones in the place of those that are used: the next numbers behind all of both."""
    taken = np.isin(ids, used)
    count = int(taken.sum())
    if not count:
        return ids
    start = int(max(ids.max(), used.max())) + 1
    made: Ids = ids.copy()
    if start + count <= np.iinfo(np.int64).max:
        made[taken] = np.arange(start, start + count)
    else:  # there are no numbers behind these
        candidates = np.arange(1, len(ids) + len(used) + 1)
        made[taken] = np.setdiff1d(candidates, np.union1d(ids, used))[:count]
    return made


def looked_up(ids: Ids, new: Mapping[int, int], *, others: bool = False) -> Ids:
    """(N,) the new ids; with ``others``, ids that have no new one stay."""
    unique, places = np.unique(ids, return_inverse=True)
    listed = [new.get(old, old) if others else new[old] for old in unique.tolist()]
    found: Ids = np.array(listed, np.int64)[places.reshape(-1)]
    return found
