"""Random data sets for round trips through files, and what must come back of them."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - examples have no deadline
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.formats.left_out import Holds
from ioukit.regions import Masks, RotatedBoxes
from support import strategies as _profile  # noqa: F401 - it sets no deadline for examples

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

__all__ = [
    "ALL_COLUMNS",
    "CLASS_NAMES",
    "FILE_STEMS",
    "FREE",
    "HALVES",
    "IMAGE_STEMS",
    "assert_came_back",
    "assert_detections_came_back",
    "detections_of",
    "ground_truths",
    "stem_of",
]

IMAGE_STEMS = ("a", "000007", "image 2", "straße-ü", "図", "a.b", "it's", 'x"y', "<&>", "a,b;c", "#1", "-rf", "0")
"""Stems of file names that a careless writer breaks."""

FILE_STEMS = ("a", "000007", "image 2", "straße-ü", "図", "a.b", "it's", "a,b;c", "#1", "-rf", "0")
"""Those that can be names of files on every system, for formats with a file per image."""

CLASS_NAMES = (
    *("person", "Person", "traffic light", "Ärger", "犬", "a,b", 'say "x"', "<b>&amp;", "it's", "1", "x|y", "null"),
)
"""Names of classes that a careless writer breaks."""

HALVES = st.integers(-2, 1200).map(lambda k: k / 2)
"""Coordinates that every format with a digit after the point holds."""

FREE = st.floats(0, 600, allow_subnormal=False).map(lambda value: value + 0.0)
"""Coordinates of any bits."""

ALL_COLUMNS = Holds(
    regions=frozenset({"segmentations", "keypoints", "RotatedBoxes"}),
    flags=None,
    attributes=None,
    image_attributes=None,
    category_attributes=None,
    category_ids=True,
    unused_categories=True,
)
"""A format that holds all but the ids of images and annotations, and the areas."""


@st.composite
def ground_truths(
    draw: st.DrawFn,
    *,
    coordinates: st.SearchStrategy[float] = FREE,
    stems: Sequence[str] = IMAGE_STEMS,
    suffix: str = ".jpg",
    classes: Sequence[str] = CLASS_NAMES,
    integer_ids: bool | None = None,
    sizes: bool | None = True,
    inside: bool = False,
    with_area: bool = False,
    flags: Sequence[str] = (),
    attributes: Mapping[str, st.SearchStrategy[float | str]] | None = None,
    polygons: bool = False,
    masks: bool = False,
    keypoints: int = 0,
    rotated: bool = False,
    most: int = 6,
) -> GroundTruth:
    """Data sets with odd names, images without objects and classes without objects; some are empty.

    Args:
        draw: Given by Hypothesis.
        coordinates: Corners of boxes; sorted, they make a box.
        stems: File names of images without their suffixes.
        suffix: Their end.
        classes: Names of classes.
        integer_ids: Whether the ids of images are numbers; else they are the file names. Drawn if ``None``.
        sizes: Whether the sizes of images are known. Some are if ``None``.
        inside: Whether boxes are inside their images.
        with_area: Whether all boxes have an area.
        flags: Flags by name.
        attributes: Values by name.
        polygons: Whether objects have a polygon or none.
        masks: Whether objects have a mask or none. It needs sizes.
        keypoints: How many keypoints each object has.
        rotated: Whether objects have a rotated box, around which their box is.
        most: The largest number of images, and of objects.
    """
    chosen = draw(st.lists(st.sampled_from(stems), unique=True, max_size=most))
    names = [stem + suffix for stem in chosen]
    numbers = draw(st.booleans()) if integer_ids is None else integer_ids
    ids: Any = names
    if numbers:
        ids = draw(st.lists(st.integers(0, 2**40), unique=True, min_size=len(names), max_size=len(names)))
    side = st.integers(601, 4000).map(float)
    known = st.tuples(side, side)
    size_of = known if sizes else st.just((math.nan, math.nan)) if sizes is False else known | st.just((math.nan,) * 2)
    image_sizes = [draw(size_of) for _ in names]
    listed = draw(st.lists(st.sampled_from(classes), unique=True, min_size=1, max_size=4))
    numbered = draw(st.lists(st.integers(0, 1000), unique=True, min_size=len(listed), max_size=len(listed)))
    count = draw(st.integers(0, most)) if names else 0
    at = [draw(st.integers(0, len(names) - 1)) for _ in range(count)]
    corners: list[Any] = [_corners(draw, coordinates, with_area=with_area) for _ in range(count)]
    if inside:
        corners = [np.clip(one, 0, np.tile(image_sizes[image], 2)) for image, one in zip(at, corners, strict=True)]
    boxes = np.array([[x1, y1, x2 - x1, y2 - y1] for x1, y1, x2, y2 in corners], np.float64).reshape(-1, 4)
    further: dict[str, Any] = {}
    if polygons or masks:
        further["segmentations"] = [
            _segmentation(draw, box, image_sizes[image], masks=masks) for box, image in zip(boxes, at, strict=True)
        ]
    if keypoints:
        further["keypoints"] = np.array([_points(draw, keypoints) for _ in range(count)]).reshape(-1, keypoints, 3)
    if rotated:
        turned = np.array([_rotated(draw, box) for box in boxes], np.float64).reshape(-1, 5)
        further["regions"] = RotatedBoxes(turned, unit="radians", sense="clockwise")
        boxes = np.asarray(further["regions"].to_boxes().convert("xywh").numpy(), np.float64)
    return GroundTruth.from_arrays(
        image_ids=np.array([ids[image] for image in at], np.int64 if numbers else np.str_),
        category_ids=np.array([draw(st.sampled_from(numbered)) for _ in range(count)], np.int64),
        boxes=boxes,
        areas=boxes[:, 2] * boxes[:, 3],
        images=np.array(ids, np.int64 if numbers else np.str_),
        sizes=np.array(image_sizes, np.float64).reshape(-1, 2),
        names=names,
        categories=dict(zip(numbered, listed, strict=True)),
        flags={name: np.array([draw(st.booleans()) for _ in range(count)], np.bool_) for name in flags},
        attributes={
            name: np.array([draw(values) for _ in range(count)]) for name, values in (attributes or {}).items() if count
        },
        **further,
    )


@st.composite
def detections_of(
    draw: st.DrawFn,
    gt: GroundTruth,
    *,
    coordinates: st.SearchStrategy[float] = FREE,
    scores: st.SearchStrategy[float] | None = None,
    with_area: bool = False,
    attributes: Mapping[str, st.SearchStrategy[float | str]] | None = None,
    rotated: bool = False,
    most: int = 6,
) -> Detections:
    """Detections of images and classes of a ground truth.

    Args:
        draw: Given by Hypothesis.
        gt: The ground truth.
        coordinates: Corners of boxes.
        scores: Scores; any within [0, 1] if ``None``.
        with_area: Whether all boxes have an area.
        attributes: Values by name.
        rotated: Whether detections have a rotated box, around which their box is.
        most: The largest number.
    """
    count = draw(st.integers(0, most)) if len(gt.images) else 0
    corners = [_corners(draw, coordinates, with_area=with_area) for _ in range(count)]
    boxes = np.array([[x1, y1, x2 - x1, y2 - y1] for x1, y1, x2, y2 in corners], np.float64).reshape(-1, 4)
    regions = None
    if rotated:
        turned = np.array([_rotated(draw, box) for box in boxes], np.float64).reshape(-1, 5)
        regions = RotatedBoxes(turned, unit="radians", sense="clockwise")
        boxes = np.asarray(regions.to_boxes().convert("xywh").numpy(), np.float64)
    score = st.floats(0, 1, allow_subnormal=False) if scores is None else scores
    return Detections.from_arrays(
        image_ids=gt.images.labels[[draw(st.integers(0, len(gt.images) - 1)) for _ in range(count)]],
        category_ids=np.array([draw(st.sampled_from(gt.categories.ids.tolist())) for _ in range(count)], np.int64),
        boxes=boxes,
        scores=np.array([draw(score) for _ in range(count)], np.float64),
        areas=boxes[:, 2] * boxes[:, 3],
        regions=regions,
        attributes={
            name: np.array([draw(values) for _ in range(count)]) for name, values in (attributes or {}).items() if count
        },
    )


def _corners(draw: st.DrawFn, coordinates: st.SearchStrategy[float], *, with_area: bool) -> Sequence[float]:
    x, y = (sorted(draw(st.tuples(coordinates, coordinates))) for _ in range(2))
    if with_area:
        x, y = ([low, high if high - low >= 1 else low + 1] for low, high in (x, y))
    return x[0], y[0], x[1], y[1]


def _segmentation(draw: st.DrawFn, box: Any, size: tuple[float, float], *, masks: bool) -> Any:
    """A polygon within the box, a run of the mask of its image, or none."""
    if not draw(st.booleans()):
        return None
    x, y, width, height = box.tolist()
    if not masks:
        return [[x, y, x + width, y, x + width / 2, y + height]]
    polygon = [x, y, x + width, y, x + width / 2, y + height + 1]
    return Masks.from_coco([[polygon]], height=int(size[1]), width=int(size[0])).to_rle()[0]


def _points(draw: st.DrawFn, count: int) -> list[tuple[float, float, float]]:
    one = st.tuples(st.integers(1, 600), st.integers(1, 600), st.sampled_from([1.0, 2.0]))
    return [(0.0, 0.0, 0.0) if draw(st.booleans()) else draw(one) for _ in range(count)]


def _rotated(draw: st.DrawFn, box: Any) -> list[float]:
    x, y, width, height = box.tolist()
    return [x + width / 2, y + height / 2, width + 1, height + 1, draw(st.floats(-1.5, 1.5))]


def assert_came_back(
    before: GroundTruth,
    after: GroundTruth,
    holds: Holds,
    notes: Collection[str],
    *,
    tolerance: float = 0.0,
    image_key: Callable[[str], str] | None = None,
    order: str = "image",
) -> None:
    """Compares all columns that the files hold, and expects a note about each other column that has values.

    Args:
        before: What was written.
        after: What was read.
        holds: What the files hold.
        notes: What the writer returned.
        tolerance: By how many pixels boxes may differ.
        image_key: From the file name of an image to the id that it has when it is read; the name itself if ``None``.
        order: Objects keep their order within each ``"image"``, or within each ``"class"`` of each image.
    """
    keys = _image_keys(before, holds, image_key)
    wanted = [key for label, key in keys.items() if holds.empty_images or label in set(before.image_labels().tolist())]
    assert sorted(map(str, after.images.labels.tolist())) == sorted(map(str, wanted))
    if holds.image_sizes:
        sizes = dict(zip(map(str, after.images.labels.tolist()), after.images.sizes.tolist(), strict=True))
        for label, size in zip(before.images.labels.tolist(), before.images.sizes.tolist(), strict=True):
            if str(keys[label]) in sizes:
                np.testing.assert_array_equal(sizes[str(keys[label])], size, err_msg=f"the size of {label}")
    used = set(before.category_ids.tolist())
    classes = dict(zip(before.categories.ids.tolist(), before.categories.names, strict=True))
    names = {name for number, name in classes.items() if holds.unused_categories or number in used}
    assert names <= set(after.categories.names), "names of classes"
    if holds.category_ids:
        again = dict(zip(after.categories.names, after.categories.ids.tolist(), strict=True))
        assert {name: again[name] for name in names} == {n: i for i, n in classes.items() if n in names}
    _same_rows(before, after, keys, holds, tolerance, order)
    _noted(before, holds, notes)


def assert_detections_came_back(
    before: Detections,
    after: Detections,
    ground_truth: GroundTruth,
    holds: Holds,
    *,
    tolerance: float = 0.0,
    score_tolerance: float = 0.0,
    order: str = "image",
) -> None:
    """Compares detections that were written and read with the same ground truth; the arguments are as above."""
    keys = {label: label for label in ground_truth.images.labels.tolist()}
    _same_rows(before, after, keys, holds, tolerance, order, score_tolerance)


def _image_keys(gt: GroundTruth, holds: Holds, image_key: Callable[[str], str] | None) -> dict[Any, Any]:
    """The id of each image after reading, by its id before."""
    labels = gt.images.labels.tolist()
    if holds.image_ids and gt.images.keys is None:
        return {label: label for label in labels}
    names = [name or str(label) for label, name in zip(labels, gt.images.names, strict=True)]
    return dict(zip(labels, [image_key(name) if image_key else name for name in names], strict=True))


def _same_rows(
    before: Any, after: Any, keys: Mapping[Any, Any], holds: Holds, tolerance: float, order: str, scores: float = 0.0
) -> None:
    assert len(after) == len(before), "the number of rows"
    mine, its = _grouped(before, keys, order), _grouped(after, {key: key for key in keys.values()}, order)
    assert mine.keys() == its.keys()
    ours = np.array([row for key in mine for row in mine[key]], np.intp)
    theirs = np.array([row for key in mine for row in its[key]], np.intp)
    np.testing.assert_allclose(after.boxes[theirs], before.boxes[ours], rtol=0, atol=tolerance)
    if isinstance(before, GroundTruth):
        assert _classes(after, theirs) == _classes(before, ours)
        for name in before.flags:
            if holds.flags is None or name in holds.flags:
                assert after.flag(name)[theirs].tolist() == before.flag(name)[ours].tolist(), name
        if holds.areas:
            np.testing.assert_allclose(after.areas[theirs], before.areas[ours], rtol=0, atol=tolerance)
        if holds.ids:
            assert after.ids[theirs].tolist() == before.ids[ours].tolist()
    else:
        assert after.category_ids[theirs].tolist() == before.category_ids[ours].tolist()
        np.testing.assert_allclose(after.scores[theirs], before.scores[ours], rtol=0, atol=scores)
    for name, column in before.attributes.items():
        if (holds.attributes is None or name in holds.attributes) and len(before):
            np.testing.assert_array_equal(after.attributes[name][theirs], column[ours], err_msg=name)
    for kind in set(before.regions) & holds.regions:
        if len(before):
            _same_regions(kind, before, ours, after, theirs, tolerance)


def _grouped(data: Any, keys: Mapping[Any, Any], order: str) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for row, label in enumerate(data.image_labels().tolist()):
        name = _classes(data, np.array([row]))[0] if order == "class" and isinstance(data, GroundTruth) else ""
        number = data.category_ids[row] if order == "class" and isinstance(data, Detections) else 0
        groups[str(keys[label]), name, number].append(row)
    return dict(sorted(groups.items()))


def _classes(gt: GroundTruth, rows: Any) -> list[str]:
    names = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    return [names[number] for number in gt.category_ids[rows].tolist()]


def _same_regions(kind: str, before: Any, ours: Any, after: Any, theirs: Any, tolerance: float) -> None:
    if kind == "segmentations":
        its = after.segmentations or [None] * len(after)
        for row, other in zip(ours.tolist(), theirs.tolist(), strict=True):
            _same_segmentation(before.segmentations[row], its[other], tolerance)
    elif kind == "keypoints":
        column = decode_keypoints(after.regions[kind], source="after", array="annotations")
        np.testing.assert_allclose(column[theirs], before.regions[kind][ours], rtol=0, atol=tolerance)
    else:
        assert kind in after.regions, f"{kind} did not come back"
        close = after.regions[kind].numpy()[theirs], before.regions[kind].numpy()[ours]
        np.testing.assert_allclose(*close, rtol=0, atol=max(tolerance, 1e-9))


def _same_segmentation(mine: Any, its: Any, tolerance: float) -> None:
    if isinstance(mine, list):
        for path, other in zip(mine, its, strict=True):
            np.testing.assert_allclose(np.ravel(other), np.ravel(path), rtol=0, atol=tolerance)
    else:
        assert its == mine


def _noted(before: GroundTruth, holds: Holds, notes: Collection[str]) -> None:
    """Whether each column with values that the files do not hold has a note."""
    text = "\n".join(notes)
    for kind, column in before.regions.items():
        filled = any(row is not None for row in column) if kind == "segmentations" else len(column) > 0
        if filled and kind not in holds.regions:
            assert f"{kind} of" in text
    for name, column in before.flags.items():
        if column.any() and holds.flags is not None and name not in holds.flags:
            assert f"flag {name} of {column.sum()} " in text
    for name in before.attributes:
        if holds.attributes is not None and name not in holds.attributes:
            assert f"attribute {name} of" in text
    empty = len(before.images) - len(np.unique(before.image_ids))
    assert (f"{empty:,} images without objects" in text) == (bool(empty) and not holds.empty_images)
    unused = len(before.categories) - len(np.unique(before.category_ids))
    assert (f"{unused:,} classes without objects" in text) == (bool(unused) and not holds.unused_categories)


def stem_of(name: str) -> str:
    """The name of a file without folders and suffix: what formats with a file per image have as the id."""
    return PurePosixPath(name).stem
