"""`Masks` from pixels, records, polygons and boxes, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Boxes, Detections, GroundTruth, Masks, diagnose
from support.mask_cases import SIZES, SMALL, mask_arrays, plain_counts, polygons, random_masks
from support.paths import DEMO


class TestPixels:
    @pytest.mark.parametrize("size", SIZES)
    def test_there_and_back(self, size: tuple[int, int]) -> None:
        arrays = random_masks(np.random.default_rng(0), 7, *size)
        masks = Masks.from_arrays(arrays)
        assert masks.size == size
        assert_array_equal(masks.to_arrays(), arrays.astype(bool), strict=True)
        assert_array_equal(masks.area, arrays.sum(axis=(1, 2), dtype=float))
        assert_array_equal(masks.is_empty, masks.area == 0)
        assert [record["counts"] for record in masks.to_rle(compressed=False)] == list(map(plain_counts, arrays))

    @given(mask_arrays())
    def test_every_layout_gives_the_same(self, arrays: Any) -> None:
        masks = Masks.from_arrays(arrays)
        by_columns = np.ascontiguousarray(arrays.transpose(0, 2, 1)).transpose(0, 2, 1)
        strided = np.repeat(arrays, 2, axis=2)[:, :, ::2]
        for same in (by_columns, strided, arrays * 255, arrays.astype(bool), list(arrays)):
            assert Masks.from_arrays(same) == masks

    def test_sizes_may_differ(self) -> None:
        masks = Masks.from_arrays([np.ones((2, 3), bool), np.zeros((4, 1), np.uint8)])
        assert_array_equal(masks.sizes, [[2, 3], [4, 1]])
        assert_array_equal(masks.area, [6, 0])
        with pytest.raises(ValueError, match=r"masks of another size: masks\[1\] is 4 x 1, masks\[0\] 2 x 3"):
            masks.to_arrays()
        assert_array_equal(masks[1].to_arrays(), np.zeros((1, 4, 1), bool))

    def test_no_masks(self) -> None:
        for none in (Masks.from_arrays([]), Masks.from_rle([]), Masks.concat([])):
            assert len(none) == 0
            assert none.to_arrays().shape == (0, 0, 0)
            assert none.to_rle() == []
            assert none.to_boxes().shape == (0, 4)
            assert none.area.shape == (0,)
            assert none == Masks.from_polygons([], height=4, width=4)
        assert_array_equal(Masks.from_arrays(np.zeros((0, 3, 4), bool)).sizes, np.empty((0, 2)))

    def test_other_libraries(self) -> None:
        torch = pytest.importorskip("torch")
        assert Masks.from_arrays(torch.ones((1, 2, 3), dtype=torch.uint8)) == Masks.from_arrays(
            np.ones((1, 2, 3), bool)
        )

    @pytest.mark.parametrize(
        ("arrays", "error", "says"),
        [
            (np.zeros((1, 2, 3)), TypeError, "arrays must be an array of bool or uint8, got dtype float64"),
            (np.zeros((2, 3), bool), ValueError, r"arrays must have shape \(N, H, W\), got \(2, 3\)"),
            ([np.zeros(3, bool)], ValueError, r"arrays\[0\] must have shape \(H, W\), got \(3,\)"),
            ([[[0, 1]]], TypeError, r"arrays\[0\] must be an array of bool or uint8, got list"),
            ("mask", TypeError, "arrays must be an array of bool or uint8, got str"),
        ],
    )
    def test_other_things_are_refused(self, arrays: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            Masks.from_arrays(arrays)


class TestRecords:
    @given(mask_arrays())
    def test_there_and_back(self, arrays: Any) -> None:
        masks = Masks.from_arrays(arrays)
        for options in ({"compressed": False}, {"text": True}, {"text": False}):
            assert Masks.from_rle(masks.to_rle(**options)) == masks

    def test_counts_of_every_kind(self) -> None:
        forms: list[Any] = [[4, 2, 1, 2, 3], (4, 2, 1, 2, 3), np.array([4, 2, 1, 2, 3], np.uint32), "42102", b"42102"]
        sizes: list[Any] = [[3, 4], (3, 4), np.array([3, 4]), [np.int64(3), 4]]
        wanted = Masks.from_rle(SMALL[:1])
        for form in forms:
            for size in sizes:
                assert Masks.from_rle([{"size": size, "counts": form}]) == wanted
        assert wanted.to_rle() == [{"size": [3, 4], "counts": "42102"}]

    def test_empty_runs_are_joined(self) -> None:
        masks = Masks.from_rle([{"size": [3, 4], "counts": [2, 0, 2, 1, 0, 1, 1, 2, 3, 0]}])
        assert masks == Masks.from_rle(SMALL[:1])

    @pytest.mark.parametrize(
        ("record", "error", "says"),
        [
            (
                {"size": [3, 4], "counts": [4, 9]},
                ValueError,
                r"records\[1\]: the counts sum to 13, but 3 x 4 .* are 12",
            ),
            ({"size": [3, 4], "counts": [4]}, ValueError, "the counts sum to 4, but 3 x 4"),
            ({"size": [3, 4], "counts": [15, -3]}, ValueError, r"records\[1\]: counts\[1\] is -3, expected a length"),
            ({"size": [3, 4], "counts": "5O5"}, ValueError, r"counts\[1\] is -1, expected a length"),
            ({"size": [3, 4], "counts": "5 5"}, ValueError, r"byte 1 of the compressed counts is 0x20, expected"),
            ({"size": [3, 4], "counts": b"5\x005"}, ValueError, r"byte 1 of the compressed counts is 0x00"),
            ({"size": [3, 4], "counts": "é"}, ValueError, r"byte 0 of the compressed counts is 0xc3"),
            ({"size": [3, 4], "counts": "5Q"}, ValueError, "the compressed counts end within a number"),
            ({"size": [3, 4], "counts": "oooooooooo0"}, ValueError, "the number at byte 0 .* more than 7 digits"),
            ({"size": [-3, 4], "counts": []}, ValueError, r"records\[1\]: the size must .* got -3 x 4"),
            ({"size": [2**16, 2**15], "counts": []}, ValueError, r"at most 2\*\*31 - 1 pixels, got 65536 x 32768"),
            ({"size": [0, 2**40], "counts": []}, ValueError, "the size must"),
            ({"size": [3, 4, 1], "counts": []}, TypeError, r"records\[1\]: size must be \[height, width\] of integers"),
            ({"size": [3.5, 4], "counts": []}, TypeError, "size must be"),
            ({"size": None, "counts": []}, TypeError, "size must be .* got None"),
            ({"size": [3, 4], "counts": [4.0, 8]}, TypeError, "counts must be a str, bytes or a list of integers"),
            ({"size": [3, 4], "counts": 12}, TypeError, "counts must be .* got 12"),
            ({"size": [3, 4]}, KeyError, "has no .*counts"),
            ({"counts": []}, KeyError, "has no .*size"),
            ([[0, 0, 1, 1, 2, 2]], TypeError, r"records\[1\] must be a dict with size and counts, got list"),
        ],
    )
    def test_what_is_no_mask_is_refused_by_name(self, record: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            Masks.from_rle([SMALL[0], record])

    def test_one_record_is_no_list(self) -> None:
        with pytest.raises(TypeError, match=r"records must be a list of records, got one: \[record\]"):
            Masks.from_rle(SMALL[0])

    @given(st.text(st.characters(min_codepoint=40, max_codepoint=120), max_size=12), st.integers(0, 9))
    def test_no_string_crashes_and_what_is_read_is_written_alike(self, text: str, width: int) -> None:
        record: Any = {"size": [7, width], "counts": text}
        try:
            masks = Masks.from_rle([record])
        except ValueError as error:
            assert str(error).startswith("records[0]: ")  # noqa: PT017 - an error or a mask, never a crash
            assert diagnose([record]).findings[0].code == "bad_runs"
            return
        assert Masks.from_rle(masks.to_rle()) == masks
        assert masks.to_arrays().shape == (1, 7, width)

    @given(st.lists(st.integers(0, 2**31 - 1), max_size=9))
    def test_long_runs_survive_the_compressed_form(self, counts: list[int]) -> None:
        total = sum(counts)
        if total >= 2**31:
            with pytest.raises(ValueError, match="the size must"):
                Masks.from_rle([{"size": [1, total], "counts": counts}])
            return
        masks = Masks.from_rle([{"size": [1, total], "counts": counts}])
        assert Masks.from_rle(masks.to_rle(text=False)) == masks
        assert masks.area == sum(counts[1::2])


class TestPolygons:
    @given(st.data())
    def test_polygons_of_a_mask_are_united(self, data: st.DataObject) -> None:
        rings = [data.draw(polygons(30, 20)) for _ in range(3)]
        parts = Masks.from_polygons([[ring] for ring in rings], height=30, width=20)
        whole = Masks.from_polygons([rings], height=30, width=20)
        assert whole == parts.merge()
        assert_array_equal(whole.to_arrays()[0], parts.to_arrays().any(axis=0))

    def test_arrays_lists_and_sizes_of_each(self) -> None:
        ring = [1, 1, 1, 3, 3, 3, 3, 1]
        wanted = Masks.from_polygons([[ring], [ring]], height=[4, 5], width=[6, 7])
        assert_array_equal(wanted.sizes, [[4, 6], [5, 7]])
        assert_array_equal(wanted.area, [4, 4])
        assert wanted == Masks.from_polygons([(np.array(ring),), [tuple(ring)]], height=np.array([4, 5]), width=[6, 7])
        assert wanted == Masks.from_polygons([[np.array(ring, float)], [map(float, ring)]], height=[4, 5], width=[6, 7])  # type: ignore[list-item]

    def test_none_make_an_empty_mask(self) -> None:
        masks = Masks.from_polygons([[]], height=4, width=6)
        assert_array_equal(masks.area, [0])
        assert masks.size == (4, 6)

    def test_threads_change_nothing(self) -> None:
        rng = np.random.default_rng(0)
        rings = [[rng.uniform(0, 200, 40)] for _ in range(300)]
        first, *rest = (Masks.from_polygons(rings, height=200, width=150, threads=count) for count in (1, 2, 5, None))
        assert all(other == first for other in rest)

    def test_huge_coordinates_cost_nothing(self) -> None:
        far = 2.0**27
        masks = Masks.from_polygons([[[-far, -far, -far, far, far, far, far, -far]]], height=50, width=40)
        assert_array_equal(masks.area, [2000])
        line = Masks.from_polygons([[[-far, -far, far, far, 3 - far, -far]]], height=50, width=40)
        assert 0 < line.area[0] < 2000

    @pytest.mark.parametrize(
        ("polygons", "error", "says"),
        [
            (
                [[], [[0, 0, 1, 1]]],
                ValueError,
                r"polygons\[1\]\[0\] has 4 numbers, expected x and y in turn of at least 3",
            ),
            ([[[0, 0, 1, 1, 2, 2, 3]]], ValueError, r"polygons\[0\]\[0\] has 7 numbers"),
            ([[[0, 0, 1, np.nan, 2, 2]]], ValueError, r"polygons\[0\]\[0\]: coordinate 3 is NaN, expected a finite"),
            (
                [[[0] * 6, [0, 0, 1, 1, 2, 1e9]]],
                ValueError,
                r"polygons\[0\]\[1\]: coordinate 5 is 1000000000, .*2\*\*27",
            ),
            ([[[0, 0, 1, 1, 2, "x"]]], TypeError, r"polygons\[0\]\[0\] must be a flat list of coordinates"),
            ([[0, 0, 1, 1, 2, 2]], TypeError, r"polygons\[0\]\[0\] must be a flat list of coordinates, got 0"),
            ([[[[0, 0], [1, 1], [2, 2]]]], TypeError, r"polygons\[0\]\[0\] must be a flat list"),
            ([5], TypeError, r"polygons\[0\] must be a list of polygons, got int"),
        ],
    )
    def test_what_is_no_polygon_is_refused_by_name(self, polygons: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            Masks.from_polygons(polygons, height=4, width=4)

    def test_the_first_bad_polygon_is_named_whatever_the_threads(self) -> None:
        rings: list[Any] = [[[0.0] * 6] for _ in range(2000)]
        rings[700] = rings[1900] = [[np.inf] * 6]
        with pytest.raises(ValueError, match=r"polygons\[700\]\[0\]"):
            Masks.from_polygons(rings, height=4, width=4, threads=2)

    @pytest.mark.parametrize(
        ("height", "error", "says"),
        [
            ([4, 5], ValueError, "height must be one integer or 1 of them, one for each mask, got .* shape"),
            ([4.0], ValueError, "height must be one integer or 1 of them"),
            (4.0, TypeError, r"height must be an integer, or one for each mask, got 4\.0"),
            (-1, ValueError, r"polygons\[0\]: the size must"),
        ],
    )
    def test_what_is_no_height_is_refused(self, height: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            Masks.from_polygons([[]], height=height, width=4)


class TestBoxes:
    def test_boxes_of_whole_pixels_are_those_pixels(self) -> None:
        boxes = Boxes([[1, 2, 4, 3], [0, 0, 6, 5], [2, 2, 2, 4]])
        masks = Masks.from_boxes(boxes, height=5, width=6)
        assert_array_equal(masks.area, boxes.area)
        assert masks[:2].to_boxes() == boxes[:2]
        for fmt in ("xywh", "cxcywh"):
            assert Masks.from_boxes(boxes.convert(fmt), height=5, width=6) == masks

    def test_the_smallest_boxes_around_the_pixels(self) -> None:
        arrays = random_masks(np.random.default_rng(1), 60, 40, 30)
        boxes = Masks.from_arrays(arrays).to_boxes()
        assert (boxes.format, str(boxes.dtype), boxes.normalized) == ("xyxy", "float64", False)
        for mask, row in zip(arrays, boxes.numpy(), strict=True):
            y, x = np.nonzero(mask)
            wanted = [x.min(), y.min(), x.max() + 1, y.max() + 1] if len(x) else [0, 0, 0, 0]
            # A run that continues in the next column covers the last row and the first row.
            assert_array_equal(row, wanted)

    def test_other_boxes_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"boxes must be in pixels: boxes\.denormalize"):
            Masks.from_boxes(Boxes([[0, 0, 1, 1]], normalized=True), height=5, width=6)
        with pytest.raises(TypeError, match="boxes must be Boxes, which know their format, got list"):
            Masks.from_boxes([[0, 0, 1, 1]], height=5, width=6)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"boxes\[0\]: .* coordinate 0 is 1000000000"):
            Masks.from_boxes(Boxes([[1e9, 0, 2e9, 1]], dtype=np.float64), height=5, width=6)


class TestSegmentations:
    def test_all_kinds_at_once(self) -> None:
        ring = [1, 1, 1, 3, 3, 3, 3, 1]
        values = [[ring], SMALL[0], {"size": [3, 4], "counts": "42102"}, [ring, ring], SMALL[1]]
        masks = Masks.from_coco(values, height=5, width=6)
        assert_array_equal(masks.sizes, [[5, 6], [3, 4], [3, 4], [5, 6], [3, 4]])
        assert_array_equal(masks.area, [4, 4, 4, 4, 0])
        assert Masks.from_coco(values[:1], height=[5], width=[6]) == masks[0]
        assert len(Masks.from_coco([], height=5, width=6)) == 0

    def test_of_data_sets(self) -> None:
        path = DEMO / "gt.json"
        ground_truth = GroundTruth.from_coco(path)
        assert ground_truth.segmentations is not None
        rows = np.searchsorted(ground_truth.images.ids, ground_truth.image_ids)
        width, height = ground_truth.images.sizes[rows].astype(int).T
        masks = Masks.from_coco(ground_truth.segmentations, height=height, width=width)
        # The areas in the file are those of exact polygons, so pixels come near. Areas of crowds are of other pixels.
        near = np.abs(masks.area - ground_truth.areas) <= 0.01 * ground_truth.areas + 20
        assert near[~ground_truth.crowd].all()
        record = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 3, 2], "score": 0.5, "segmentation": SMALL[0]}
        detections = Detections.from_coco([record])
        assert detections.segmentations is not None
        assert_array_equal(Masks.from_coco(detections.segmentations, height=3, width=4).area, [4])

    @pytest.mark.parametrize(
        ("value", "error", "says"),
        [
            (None, TypeError, r"segmentations\[1\] must be a list of polygons or a dict .* got NoneType"),
            ({"size": [3, 4], "counts": "4"}, ValueError, r"segmentations\[1\]: the counts sum to 4"),
            ([[0, 0]], ValueError, r"segmentations\[1\]\[0\] has 2 numbers"),
        ],
    )
    def test_a_bad_one_is_named(self, value: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            Masks.from_coco([[], value], height=5, width=6)
