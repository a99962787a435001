"""Choosing, putting together and filtering rows of columns does what it does to the records one by one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ioukit import Boxes, DatasetError, Detections, GroundTruth, Masks, Polygons
from ioukit._columns import concat_columns, positions_in
from support.discs import Discs
from support.same_columns import arrays_of, assert_same_columns
from support.strategies import EIGHTH

Record = dict[str, Any]
NAMES = {3: "ant", 5: "bee", 9: "cat"}
RLE = {"size": [2, 3], "counts": [1, 2, 3]}
NUMBER = st.integers(0, 800).map(lambda eighths: eighths * EIGHTH)

# ---------------------------------------------------------------------------------------------- records and columns


@st.composite
def data_sets(draw: st.DrawFn, *, first_image: int = 0, first_id: int = 1, strings: bool = False) -> Any:
    """(images, annotations, detections) as lists of records."""
    numbers = draw(st.lists(st.integers(0, 20), unique=True, max_size=5))
    images = [
        {
            "id": f"{first_image + number}.png" if strings else first_image + number,
            "size": draw(st.sampled_from([None, (640.0, 480.0), (3.0, 2.0)])),
            "name": draw(st.text(max_size=3)),
            "night": draw(st.booleans()),
        }
        for number in numbers
    ]
    if not images:
        return [], [], []
    rows = st.fixed_dictionaries(
        {
            "image": st.sampled_from([image["id"] for image in images]),
            "category": st.sampled_from(list(NAMES)),
            "box": st.tuples(NUMBER, NUMBER, NUMBER, NUMBER),
            "mask": st.sampled_from([None, RLE, [[0, 0, 4, 0, 4, 2]]]),
            "keypoints": st.tuples(st.tuples(NUMBER, NUMBER, st.sampled_from([0.0, 1.0, 2.0]))),
            "note": st.text(max_size=2).filter(lambda text: not text.endswith("\0")),
        }
    )
    annotation = st.tuples(rows, st.fixed_dictionaries({"area": NUMBER, "crowd": st.booleans(), "far": st.booleans()}))
    annotations = [{**a, **b} for a, b in draw(st.lists(annotation, max_size=6))]
    for number, record in enumerate(annotations, start=first_id):
        record["id"] = number
    detection = st.tuples(rows, st.fixed_dictionaries({"score": NUMBER}))
    return images, annotations, [{**a, **b} for a, b in draw(st.lists(detection, max_size=6))]


def column(records: list[Record], name: str) -> list[Any]:
    return [record[name] for record in records]


def shared_columns(records: list[Record]) -> dict[str, Any]:
    boxes = np.array(column(records, "box"), np.float64).reshape(-1, 4)
    return {
        "image_ids": column(records, "image"),
        "category_ids": column(records, "category"),
        "boxes": boxes,
        "regions": Boxes(boxes, "xywh"),
        "segmentations": column(records, "mask"),
        "keypoints": np.array(column(records, "keypoints"), np.float64).reshape(-1, 1, 3),
        "attributes": {"note": np.array(column(records, "note"), np.str_)},
    }


def ground_truth_of(images: list[Record], records: list[Record]) -> GroundTruth:
    return GroundTruth.from_arrays(
        **shared_columns(records),
        ids=column(records, "id"),
        areas=column(records, "area"),
        flags={name: np.array(column(records, name), np.bool_) for name in ("crowd", "far")},
        images=np.array(column(images, "id")),
        sizes=[image["size"] or (np.nan, np.nan) for image in images],
        names=column(images, "name"),
        image_attributes={"night": np.array(column(images, "night"), np.bool_)},
        categories=NAMES,
    )


def detections_of(records: list[Record]) -> Detections:
    return Detections.from_arrays(**shared_columns(records), scores=column(records, "score"))


def records_of(data: GroundTruth | Detections) -> list[Record]:
    shared = {
        "image": data.image_labels().tolist(),
        "category": data.category_ids.tolist(),
        "box": list(map(tuple, data.boxes.tolist())),
        "mask": list(data.segmentations or []),
        "keypoints": [tuple(map(tuple, row)) for row in data.regions["keypoints"].tolist()],
        "note": data.attributes["note"].tolist(),
    }
    np.testing.assert_array_equal(data.regions["Boxes"].convert("xywh").numpy(), data.boxes)
    if isinstance(data, Detections):
        own = {"score": data.scores.tolist()}
    else:
        own = {"area": data.areas.tolist(), "crowd": data.crowd.tolist(), "far": data.flag("far").tolist()}
        own["id"] = data.ids.tolist()
    columns = {**shared, **own}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def images_of(gt: GroundTruth) -> list[Record]:
    sizes = [None if np.isnan(size).any() else tuple(size.tolist()) for size in gt.images.sizes]
    columns = (gt.images.labels.tolist(), sizes, gt.images.names, gt.images.attributes["night"].tolist())
    return [dict(zip(("id", "size", "name", "night"), row, strict=True)) for row in zip(*columns, strict=True)]


def in_order(images: list[Record]) -> list[Record]:
    return sorted(images, key=lambda image: image["id"])


# ------------------------------------------------------------------------------------------------------- properties


@given(data_sets() | data_sets(strings=True))
def test_columns_hold_the_records(data: Any) -> None:
    images, annotations, detections = data
    gt = ground_truth_of(images, annotations)
    assert records_of(gt) == annotations
    assert images_of(gt) == in_order(images)
    assert records_of(detections_of(detections)) == detections


@given(data_sets() | data_sets(strings=True), st.data())
def test_rows_are_those_of_a_list(data: Any, more: st.DataObject) -> None:
    images, annotations, detections = data
    for whole, records in (
        (ground_truth_of(images, annotations), annotations),
        (detections_of(detections), detections),
    ):
        count = len(records)
        cut = more.draw(st.slices(count))
        assert records_of(whole[cut]) == records[cut]
        positions = more.draw(st.lists(st.integers(-count, count - 1), max_size=8)) if count else []
        for rows in (positions, np.array(positions, np.int32)):
            assert records_of(whole[rows]) == [records[row] for row in positions]
        mask = more.draw(st.lists(st.booleans(), min_size=count, max_size=count))
        chosen = [record for record, keep in zip(records, mask, strict=True) if keep]
        assert records_of(whole[np.array(mask, np.bool_)]) == chosen
        assert type(whole[cut]) is type(whole)
        assert records_of(whole) == records, "the whole has changed"


@given(data_sets(), data_sets(first_image=100, first_id=100), data_sets(first_image=200, first_id=200))
def test_parts_are_put_together_in_order(first: Any, second: Any, third: Any) -> None:
    check_concat((first, second, third))


@given(data_sets(strings=True), data_sets(first_image=100, first_id=100, strings=True))
def test_parts_that_call_their_images_by_strings_too(first: Any, second: Any) -> None:
    check_concat((first, second))


def check_concat(parts: tuple[Any, ...]) -> None:
    images, annotations, detections = ([record for part in parts for record in part[k]] for k in range(3))
    gts = [ground_truth_of(part[0], part[1]) for part in parts]
    assert_same_columns(GroundTruth.concat(gts), ground_truth_of(images, annotations), but=["notes"])
    renumbered = GroundTruth.concat(gts, renumber=True)
    assert renumbered.ids.tolist() == list(range(1, len(annotations) + 1))
    dts = [detections_of(part[2]) for part in parts]
    assert_same_columns(Detections.concat(dts), detections_of(detections), but=["notes"])


@given(data_sets() | data_sets(strings=True), st.data())
def test_filter_keeps_what_a_list_comprehension_keeps(data: Any, more: st.DataObject) -> None:
    images, annotations, detections = data
    ids = column(images, "id")
    some_images = more.draw(st.none() | st.lists(st.sampled_from(ids), unique=True) if ids else st.none())
    some = more.draw(st.none() | st.lists(st.sampled_from(list(NAMES)), unique=True))

    def kept(record: Record) -> bool:
        return (some_images is None or record["image"] in some_images) and (some is None or record["category"] in some)

    gt = ground_truth_of(images, annotations).filter(
        images=some_images, categories=some and [NAMES[number] for number in some]
    )
    assert records_of(gt) == list(filter(kept, annotations))
    assert images_of(gt) == in_order([image for image in images if some_images is None or image["id"] in some_images])
    assert gt.categories.ids.tolist() == sorted(NAMES if some is None else some)
    dt = detections_of(detections).filter(images=some_images, categories=some)
    assert records_of(dt) == list(filter(kept, detections))


@given(data_sets() | data_sets(strings=True))
def test_copies_are_the_same_and_read_only(data: Any) -> None:
    images, annotations, detections = data
    for whole in (ground_truth_of(images, annotations), detections_of(detections)):
        for other in (pickle.loads(pickle.dumps(whole)), copy.deepcopy(whole), copy.copy(whole), whole[:]):
            assert_same_columns(other, whole)
            assert other != whole, "equal tables are the same object"
            for name, array in arrays_of(other):
                assert not array.flags.writeable, name


# ------------------------------------------------------------------------------------------------------------ cases

BOX = [[0, 0, 4, 2], [1, 1, 2, 2]]
TWO: Record = {"image_ids": [7, 3], "category_ids": [2, 1], "boxes": BOX}


def test_arrays_cannot_be_written_whatever_they_are_a_view_of() -> None:
    gt = GroundTruth.from_arrays(**TWO, attributes={"colour": [[1, 2, 3], [4, 5, 6]]}, keypoints=np.zeros((2, 1, 3)))
    for name, array in arrays_of(gt):
        below: Any = array
        while isinstance(below, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                below[...] = 0
            below = below.base
        assert not array.flags.writeable, name
    with pytest.raises(AttributeError, match="cannot assign to field 'boxes'"):
        gt.boxes = np.zeros((2, 4))  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field 'boxes'"):
        del gt.boxes
    with pytest.raises(TypeError, match="does not support item assignment"):
        gt.flags["far"] = np.zeros(2, np.bool_)  # type: ignore[index]


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (0, TypeError, r"rows are chosen by a slice, a list of positions or an array of bools, got 0: write \[\[0\]\]"),
        ("score", TypeError, "rows are chosen by .*, got 'score'$"),
        (..., TypeError, "rows are chosen by .*, got Ellipsis"),
        ([0.5], TypeError, r"rows are chosen by .*, got \[0.5\]"),
        ([[0]], TypeError, r"rows are chosen by .*, got \[\[0\]\]"),
        ([True], IndexError, "expected 2 bools, one per row, got 1"),
        ([0, 2], IndexError, "row 2 is out of range: there are 2"),
        ([-3], IndexError, "row -3 is out of range: there are 2"),
    ],
)
def test_what_chooses_no_rows_is_refused(rows: Any, error: type[Exception], message: str) -> None:
    dt = Detections.from_arrays(**TWO, scores=[0.5, 0.25])
    with pytest.raises(error, match=message):
        dt[rows]
    assert len(dt[[]]) == len(dt[np.zeros(0)]) == len(dt[dt.scores > 1]) == 0
    with pytest.raises(TypeError, match="'Detections' object is not iterable"):
        list(dt)  # type: ignore[call-overload]


def test_detections_above_a_score() -> None:
    dt = Detections.from_arrays(**TWO, scores=[0.5, 0.75])
    assert dt[dt.scores > 0.5].boxes.tolist() == BOX[1:]
    assert dt[np.argsort(-dt.scores)].scores.tolist() == [0.75, 0.5]


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([], ValueError, "concat needs at least one GroundTruth"),
        (GroundTruth.from_arrays(**TWO), TypeError, "expects a list of GroundTruth, got one GroundTruth"),
        ([GroundTruth.from_arrays(**TWO), 5], TypeError, r"parts\[1\] must be GroundTruth, got int"),
        ([GroundTruth.from_arrays(**TWO)] * 2, ValueError, "image 3 is in two of the data sets"),
        (
            [GroundTruth.from_arrays(**TWO), GroundTruth.from_arrays(**{**TWO, "image_ids": ["a", "b"]})],
            ValueError,
            "image ids of some parts are strings, those of others are integers",
        ),
        (
            [GroundTruth.from_arrays(**TWO), GroundTruth.from_arrays(**{**TWO, "category_ids": [1, 1]}, source="b")],
            ValueError,
            "ground truth and b list different categories",
        ),
        (
            [GroundTruth.from_arrays(**TWO), GroundTruth.from_arrays(**{**TWO, "image_ids": [8, 4]})],
            DatasetError,
            r"two annotations have the id 1: concat\(..., renumber=True\) gives them new ids",
        ),
        (
            [
                GroundTruth.from_arrays(**TWO, attributes={"x": [1, 2]}),
                GroundTruth.from_arrays(**{**TWO, "image_ids": [8, 4]}, ids=[8, 9]),
            ],
            ValueError,
            r"some of the parts have attributes\['x'\], others have none",
        ),
    ],
)
def test_ground_truth_that_does_not_fit_together(parts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        GroundTruth.concat(parts)


def other_detections(**columns: Any) -> list[Detections]:
    return [
        Detections.from_arrays(**TWO, scores=[1, 2], **{name: value})
        for name, values in columns.items()
        for value in values
    ]


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ([GroundTruth.from_arrays(**TWO)], TypeError, r"parts\[0\] must be Detections, got GroundTruth"),
        (
            other_detections(attributes=[{"x": [1, 2]}, {}]),
            ValueError,
            r"some of the parts have attributes\['x'\], others have none",
        ),
        (
            other_detections(attributes=[{"x": [1, 2]}, {"x": ["a", "b"]}]),
            TypeError,
            r"attributes\['x'\] holds strings in some parts and numbers in others",
        ),
        (
            other_detections(keypoints=[np.zeros((2, 5, 3)), np.zeros((2, 17, 3))]),
            ValueError,
            r"regions\['keypoints'\] must have rows of one shape in all parts, got \(N, 5, 3\) and \(N, 17, 3\)",
        ),
        (
            other_detections(regions=[Discs([[1, 1, 1], [2, 2, 2]])]) * 2,
            TypeError,
            r"regions\['Discs'\]: Discs cannot be put together, it has no class method concat\(parts\)",
        ),
    ],
)
def test_detections_that_do_not_fit_together(parts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Detections.concat(parts)


def test_a_part_without_rows_needs_no_columns() -> None:
    full = other_detections(attributes=[{"x": [1, 2]}])[0]
    empty = Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    assert_same_columns(Detections.concat([empty, full, empty]), full, but=["notes"])
    gt = GroundTruth.from_arrays(**{**TWO, "image_ids": ["a", "b"]}, regions=Boxes(BOX, "xywh"))
    bare = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], categories=gt.categories)
    assert_same_columns(GroundTruth.concat([bare, gt]), gt, but=["notes"])


def test_areas_of_boxes_fill_those_that_a_part_does_not_have() -> None:
    parts = other_detections(areas=[[1, 2], None])
    assert parts[1].areas is None
    joined = Detections.concat(parts)
    assert joined.areas is not None
    assert joined.areas.tolist() == [1, 2, 8, 4]


def test_sequences_of_several_kinds_become_a_list() -> None:
    class Line(tuple[int, ...]):
        __slots__ = ()

    assert concat_columns([(1,), (2, 3)], "x") == (1, 2, 3)
    assert concat_columns([[1], (2,)], "x") == [1, 2]
    assert concat_columns([Line([1]), Line([2])], "x") == [1, 2]
    assert concat_columns([None, None], "x") is None
    with pytest.raises(TypeError, match="x must be of one kind in all parts, got ndarray, dict"):
        concat_columns([np.zeros(1), {}], "x")


def test_sets_of_regions_are_put_together_and_chosen() -> None:
    polygons = Polygons([[(0, 0), (4, 0), (4, 2)], [(1, 1), (3, 1), (3, 3)]])
    masks = Masks.from_rle([RLE, RLE])
    gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], regions=[polygons, masks])
    other = GroundTruth.from_arrays(image_ids=[2, 2], category_ids=[1, 1], regions=[polygons, masks])
    joined = GroundTruth.concat([gt, other], renumber=True)[[3, 0, 1]]
    assert joined.regions["Polygons"] == polygons[[1, 0, 1]]
    assert joined.regions["Masks"] == masks[[1, 0, 1]]
    np.testing.assert_array_equal(joined.areas, polygons.area[[1, 0, 1]])


@given(
    st.sets(st.integers(-30, 30), max_size=9), st.lists(st.integers(-40, 40), max_size=40), st.sampled_from([1, 2**40])
)
@example({*range(-30, 30), 2**20}, [*range(-40, 40), 2**20, 2**20 + 1], 1)
@example({*range(0, 120, 2), 2**9}, [*range(-1, 130), 2**9, 2**9 - 1], 1)
def test_positions_among_known_numbers(known: set[int], values: list[int], factor: int) -> None:
    """They are looked up by equal ranges of integers, unless there are few values or one range has many of them."""
    ascending = [number * factor for number in sorted(known)]
    given = np.array([value * factor for value in values], np.int64)
    places = {number: at for at, number in enumerate(ascending)}
    expected = [places.get(value, -1) for value in given.tolist()]
    assert positions_in(np.array(ascending, np.int64), given).tolist() == expected
    texts, wanted = np.sort(np.array(ascending, np.str_)), given.astype(np.str_)
    of_texts = {text: at for at, text in enumerate(texts.tolist())}
    assert positions_in(texts, wanted).tolist() == [of_texts.get(text, -1) for text in wanted.tolist()]
    ends = np.array([-(2**63), 2**63 - 1], np.int64)
    assert positions_in(ends, given).tolist() == [-1] * len(values)
    assert positions_in(np.array(ascending, np.int64), ends).tolist() == [-1, -1]
