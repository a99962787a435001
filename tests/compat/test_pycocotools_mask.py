"""All functions compared with pycocotools: equal to the last bit, and an error where it is undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pycocotools.mask as theirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Masks, pairwise_mask_iou
from ioukit.compat.pycocotools import mask as ours
from support.mask_cases import SIZES, mask_arrays, polygons, random_masks
from support.paths import DATA, DEMO, load

# NumPy 2 says of pycocotools' decode that its __array__ takes no copy.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")


def stacked(arrays: Any) -> Any:
    """(N, H, W) as pycocotools has them: (H, W, N) in Fortran order."""
    return np.asfortranarray(arrays.transpose(1, 2, 0))


def assert_same(mine: Any, its: Any) -> None:
    assert_array_equal(mine, its, strict=True)
    if isinstance(its, np.ndarray) and its.ndim:
        assert (mine.flags.f_contiguous, mine.flags.c_contiguous) == (its.flags.f_contiguous, its.flags.c_contiguous)


def assert_all_the_same(arrays: Any) -> None:
    pixels = stacked(arrays)
    records = theirs.encode(pixels)
    assert ours.encode(pixels) == records
    assert ours.encode(np.asfortranarray(arrays[0])) == records[0]
    assert Masks.from_arrays(arrays).to_rle(text=False) == records
    assert_same(ours.decode(records), theirs.decode(records))
    assert_same(ours.decode(records[0]), theirs.decode(records[0]))
    assert_same(ours.area(records), theirs.area(records))
    assert_same(ours.area(records[0]), theirs.area(records[0]))
    assert_same(ours.toBbox(records), theirs.toBbox(records))
    assert_same(ours.toBbox(records[0]), theirs.toBbox(records[0]))
    for intersect in (0, 1, True):
        assert ours.merge(records, intersect) == theirs.merge(records, intersect)
    crowd = [index % 2 for index in range(len(records))]
    table = theirs.iou(records, records[::-1], crowd)
    assert_same(ours.iou(records, records[::-1], crowd), table)
    masks = Masks.from_rle(records)
    assert_array_equal(pairwise_mask_iou(masks, masks[::-1], crowd=crowd), table)


@pytest.mark.parametrize("size", SIZES)
def test_masks_of_every_size(size: tuple[int, int]) -> None:
    assert_all_the_same(random_masks(np.random.default_rng(7), 8, *size))


@given(mask_arrays(max_count=6))
def test_random_masks(arrays: Any) -> None:
    assert_all_the_same(arrays)


@given(st.data())
def test_polygons(data: st.DataObject) -> None:
    height, width = data.draw(st.tuples(*[st.integers(1, 60)] * 2))
    rings = data.draw(st.lists(polygons(height, width), min_size=1, max_size=4))
    records = theirs.frPyObjects(rings, height, width)
    assert ours.frPyObjects(rings, height, width) == records
    assert Masks.from_polygons([[ring] for ring in rings], height=height, width=width).to_rle(text=False) == records
    assert Masks.from_polygons([rings], height=height, width=width).to_rle(text=False)[0] == theirs.merge(records)


def test_many_polygons() -> None:
    """Coordinates on fifths and tenths of a pixel, where every rounding shows."""
    rng = np.random.default_rng(11)
    for _ in range(800):
        height, width = rng.integers(1, 50, 2).tolist()
        step = rng.choice([0.1, 0.2, 0.5, 1.0, 1 / 3])
        numbers = rng.integers(-60, 400, 2 * rng.integers(3, 9)) * step
        rings = [numbers.tolist(), np.repeat(numbers.reshape(-1, 2), 2, axis=0).reshape(-1).tolist()]
        assert ours.frPyObjects(rings, height, width) == theirs.frPyObjects(rings, height, width)


@pytest.mark.parametrize(
    "ring",
    [
        [5.0] * 6,
        [0, 0, 9, 0, 0, 0],
        [-1, -1, -1, -9, -9, -9],
        [0, 0, 0, 4, 5, 4, 5, 0],
        [0.5, 0.5, 0.5, 3.5, 4.5, 3.5, 4.5, 0.5],
        [-0.1, -0.1, 5.1, -0.1, 5.1, 4.1, -0.1, 4.1],
        [1e5, 1e5, -1e5, 1e5, 0, -1e5],
        [2, 2, 2, 2, 4, 2, 4, 2, 4, 3, 2, 3],
    ],
)
def test_odd_polygons(ring: list[float]) -> None:
    assert ours.frPyObjects([ring], 4, 5) == theirs.frPyObjects([ring], 4, 5)
    assert ours.frPyObjects([tuple(ring)], 4, 5) == theirs.frPyObjects([tuple(ring)], 4, 5)


def test_boxes() -> None:
    rng = np.random.default_rng(2)
    for step in (1.0, 0.2, 0.1, None):
        boxes = rng.integers(-30, 120, (300, 4)) * step if step else rng.uniform(-20, 60, (300, 4))
        boxes[:, 2:] = np.abs(boxes[:, 2:])
        assert ours.frPyObjects(boxes, 40, 30) == theirs.frPyObjects(boxes, 40, 30)


def test_uncompressed_counts() -> None:
    records = [{"size": [3, 4], "counts": [4, 2, 1, 2, 3]}, {"size": [2, 2], "counts": [0, 4]}]
    assert ours.frPyObjects(records, 9, 9) == theirs.frPyObjects(records, 9, 9)
    assert ours.frPyObjects(records[0], 9, 9) == theirs.frPyObjects(records[0], 9, 9)


@given(st.lists(st.tuples(*[st.integers(-40, 40)] * 2, *[st.integers(0, 40)] * 2), min_size=1, max_size=5), st.data())
def test_iou_of_boxes(rows: Any, data: st.DataObject) -> None:
    boxes = np.array(rows) * data.draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    crowd = data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    with np.errstate(all="ignore"):
        table = theirs.iou(boxes, boxes[::-1], crowd)
    assert_same(ours.iou(boxes, boxes[::-1], crowd), table)
    assert_same(ours.iou(boxes.tolist(), boxes[::-1].tolist(), crowd), table)


def test_nothing() -> None:
    record = theirs.encode(np.ones((2, 2), np.uint8, order="F"))
    for mine, its in ((ours, theirs), (theirs, ours)):
        assert mine.iou([], [record], [0]) == its.iou([], [record], [0]) == []
        assert mine.iou([record], [], []) == []
        assert mine.merge([]) == its.merge([])
    assert_same(ours.area([]), theirs.area([]))
    assert_same(ours.toBbox([]), theirs.toBbox([]))
    assert ours.encode(np.zeros((2, 2, 0), np.uint8, order="F")) == []


@pytest.mark.parametrize("one", [None, 7, np.float64(2)])
def test_what_is_neither_box_nor_mask_is_refused_beside_nothing(one: Any) -> None:
    """As in pycocotools, which looks at both sides before it counts them."""
    for library in (ours, theirs):
        with pytest.raises(TypeError):
            library.iou([], [one], [0])
        assert library.iou([], [[1, 2, 3, 4]], [0]) == []
    with pytest.raises(TypeError, match="got one of NoneType"):
        ours.iou([[1, 2, 3, 4]], [None], [0])


@pytest.mark.parametrize("folder", [str(DEMO / "gt.json"), "coco_val2014_100/instances_val2014_100.json"])
def test_real_segmentations(folder: str) -> None:
    """Polygons and crowds of COCO: records, areas, boxes, and IoU within each image."""
    data = load(DATA / folder)
    sizes = {image["id"]: (image["height"], image["width"]) for image in data["images"]}
    by_image: dict[int, list[Any]] = {}
    for annotation in data["annotations"]:
        by_image.setdefault(annotation["image_id"], []).append(annotation)
    for image_id, members in by_image.items():
        height, width = sizes[image_id]
        values = [annotation["segmentation"] for annotation in members]
        records = []
        for value in values:
            made = theirs.frPyObjects(value, height, width)
            assert ours.frPyObjects(value, height, width) == made
            records.append(made if isinstance(value, dict) else theirs.merge(made))
        masks = Masks.from_coco(values, height=height, width=width)
        assert masks.to_rle(text=False) == records
        assert_array_equal(masks.area, theirs.area(records))
        assert_array_equal(masks.to_boxes().convert("xywh").numpy(), theirs.toBbox(records))
        crowd = [annotation["iscrowd"] for annotation in members]
        assert_array_equal(pairwise_mask_iou(masks, masks, crowd=crowd), theirs.iou(records, records, crowd))


class TestDifferences:
    """Cases in which pycocotools 2.0.11 reads foreign memory or returns nonsense; it runs in few of them."""

    square: Any = staticmethod(lambda: {"size": [2, 2], "counts": b"04"})
    other: Any = staticmethod(lambda: {"size": [1, 4], "counts": b"04"})

    @pytest.mark.parametrize("function", [ours.decode, ours.area, ours.toBbox, ours.merge])
    @pytest.mark.parametrize(
        ("counts", "says"),
        [
            (b"05", r"rleObjs\[1\]: the counts sum to 5, but 2 x 2"),
            (b"03", "the counts sum to 3"),
            (b"0Q", "end within a number"),
            (b"0\x804", "byte 1 of the compressed counts is 0x80"),
            (b"0O5", r"counts\[1\] is -1"),
        ],
    )
    def test_broken_counts(self, function: Any, counts: bytes, says: str) -> None:
        with pytest.raises(ValueError, match=says):
            function([self.square(), {"size": [2, 2], "counts": counts}])
        with pytest.raises(ValueError, match=r"gt\[0\]|dt\[0\]"):
            ours.iou([{"size": [2, 2], "counts": counts}], [self.square()], [0])

    def test_masks_of_two_sizes(self) -> None:
        assert theirs.iou([self.square()], [self.other()], [0]) == [[-1]]
        assert theirs.merge([self.square(), self.other()]) == {"size": [0, 0], "counts": b""}
        with pytest.raises(ValueError, match="masks of another size"):
            ours.iou([self.square()], [self.other()], [0])
        for function in (ours.merge, ours.decode):
            with pytest.raises(ValueError, match="masks of another size"):
                function([self.square(), self.other()])

    def test_pixels_that_are_not_all_alike(self) -> None:
        pixels = np.array([[1, 2, 0]], np.uint8, order="F")
        assert_array_equal(theirs.decode(theirs.encode(pixels)), [[1, 0, 1]])
        assert_array_equal(ours.decode(ours.encode(pixels)), [[1, 1, 0]])

    def test_empty_runs_in_between(self) -> None:
        counts = {"size": [2, 2], "counts": [1, 0, 3]}
        assert_array_equal(theirs.toBbox(theirs.frPyObjects(counts, 2, 2)), [2, 2, 2**32 - 1, 2**32 - 1])
        assert ours.frPyObjects(counts, 2, 2) == {"size": [2, 2], "counts": b"4"}
        assert_array_equal(ours.toBbox(ours.frPyObjects(counts, 2, 2)), [0, 0, 0, 0])

    def test_no_columns(self) -> None:
        assert ours.frPyObjects([[0.0, 0, 9, 0, 9, 9]], 9, 0) == [{"size": [9, 0], "counts": b"0"}]

    def test_one_polygon_one_box_and_lists_of_boxes(self) -> None:
        ring, box = [0, 0, 0, 2, 2, 2], [0, 0, 1, 1]
        for value in (ring, box, [box]):
            with pytest.raises(TypeError):
                theirs.frPyObjects(value, 3, 4)
        assert ours.frPyObjects(ring, 3, 4) == ours.frPyObjects([ring], 3, 4)[0]
        assert ours.frPyObjects(box, 3, 4) == ours.frPyObjects([box], 3, 4)[0]
        assert ours.frPyObjects([box], 3, 4) == theirs.frPyObjects(np.array([box], float), 3, 4)

    def test_polygons_of_two_points_or_half_a_point(self) -> None:
        for ring in ([0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2, 3]):
            assert len(theirs.frPyObjects([ring], 3, 4)) == 1
            with pytest.raises(ValueError, match=r"pyobj\[0\]\[0\] has . numbers"):
                ours.frPyObjects([ring], 3, 4)

    @pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 wraps the number around")
    def test_areas_of_many_records(self) -> None:
        records = [self.square()] * 300
        with pytest.raises(OverflowError):
            theirs.area(records)
        assert_same(ours.area(records), np.full(300, 4, np.uint32))

    def test_counts_that_are_no_integers(self) -> None:
        record = {"size": [2, 2], "counts": [1.9, 3]}
        assert theirs.frPyObjects(record, 2, 2)["counts"] == b"13"
        with pytest.raises(TypeError, match="counts must be"):
            ours.frPyObjects(record, 2, 2)


class TestErrors:
    @pytest.mark.parametrize(
        ("pixels", "error", "says"),
        [
            (np.zeros((3, 4), np.uint8), ValueError, "bimask is not Fortran contiguous"),
            (np.zeros((3, 4), np.int64, order="F"), ValueError, "bimask must be of uint8 or bool, got int64"),
            (np.zeros(3, np.uint8), ValueError, r"bimask must have shape \(H, W\) or \(H, W, N\), got \(3,\)"),
            ([[0, 1]], TypeError, "bimask must be a NumPy array, got list"),
        ],
    )
    def test_encode(self, pixels: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            ours.encode(pixels)
        if isinstance(pixels, np.ndarray) and pixels.ndim == 2:  # the type that pycocotools raises
            with pytest.raises(error):
                theirs.encode(pixels)

    def test_iou(self) -> None:
        record = {"size": [2, 2], "counts": b"04"}
        with pytest.raises(ValueError, match="must have the same length as gt, got 2 flags for 1"):
            ours.iou([record], [record], [0, 1])
        with pytest.raises(TypeError, match="dt and gt must be of one kind"):
            ours.iou([record], [[0, 0, 1, 1]], [0])
        with pytest.raises(TypeError, match="dt must be a list of records, or boxes"):
            ours.iou((record,), (record,), [0])
        with pytest.raises(ValueError, match=r"gt must be boxes of shape \(N, 4\)"):
            ours.iou([[0, 0, 1, 1]], [[0, 0, 1]], [0])

    def test_decode_needs_a_size(self) -> None:
        with pytest.raises(ValueError, match="decode needs at least one record"):
            ours.decode([])
        with pytest.raises(TypeError, match=r"rleObjs\[0\] must be a dict"):
            ours.area((1, 2))  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("value", "error", "says"),
        [
            ([], ValueError, "pyobj is empty"),
            ("x", TypeError, "pyobj must be an array of boxes, a list or a record, got str"),
            (np.zeros((1, 4), int), ValueError, r"boxes must be \(N, 4\) of float64, got int64"),
            ({"size": [2, 2], "counts": "04"}, ValueError, r"pyobj\[0\]: counts are compressed already"),
        ],
    )
    def test_frpyobjects(self, value: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            ours.frPyObjects(value, 2, 2)
