"""`Boxes`: which data it accepts and refuses, and what its methods return."""

from __future__ import annotations

import copy
import pickle
from typing import Any, get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Boxes
from ioukit.typing import BoxFormat
from support.capybara import CAPYBARA

FORMATS: tuple[BoxFormat, ...] = get_args(BoxFormat)
ROWS = [[10.0, 20.0, 50.0, 80.0], [20.0, 30.0, 60.0, 90.0], [5.0, 5.0, 5.0, 9.0]]

every_format = pytest.mark.parametrize("fmt", FORMATS)


def boxes_in(fmt: BoxFormat, **options: Any) -> Boxes:
    return Boxes(ROWS, **options).convert(fmt)


class TestConstruction:
    @pytest.mark.parametrize(
        ("data", "dtype"),
        [
            (ROWS, np.float32),
            (tuple(map(tuple, ROWS)), np.float32),
            ([np.array(row) for row in ROWS], np.float32),
            (np.array(ROWS, np.float16), np.float32),
            (np.array(ROWS, np.float32), np.float32),
            (np.array(ROWS, ">f4"), np.float32),
            (np.array(ROWS, np.float64), np.float64),
            (np.array(ROWS, np.uint8), np.float64),
            (np.array(ROWS, np.int64), np.float64),
        ],
    )
    def test_dtype(self, data: Any, dtype: Any) -> None:
        boxes = Boxes(data)
        assert boxes.dtype == dtype
        assert boxes.dtype.isnative
        assert_array_equal(boxes.numpy(), ROWS)
        for forced in (np.float32, "float64"):
            assert Boxes(data, dtype=forced).dtype == forced

    @pytest.mark.parametrize("data", [[], (), np.zeros((0, 4)), np.zeros(0)])
    def test_nothing(self, data: Any) -> None:
        assert Boxes(data).shape == (0, 4)
        assert len(Boxes(data, "cxcywh").convert("xyxy").drop_empty()) == 0
        assert Boxes(data).area.shape == (0,)

    def test_one_box(self) -> None:
        assert Boxes(ROWS[0]).shape == (1, 4)
        assert Boxes(np.array(ROWS[0])) == Boxes(ROWS[:1])

    def test_later_changes_of_the_array_do_not_show(self) -> None:
        array = np.array(ROWS)
        boxes = Boxes(array)
        array[:] = 0
        boxes.numpy()[:] = 0
        assert boxes.to_list() == ROWS

    def test_boxes_are_converted_and_keep_unit_and_dtype(self) -> None:
        source = Boxes(np.array(ROWS) / 100, normalized=True)
        again = Boxes(source, "cxcywh")
        assert (again.format, again.normalized, again.dtype) == ("cxcywh", True, np.dtype(np.float64))
        assert again == source.convert("cxcywh")
        assert Boxes(source, dtype=np.float32).dtype == np.float32
        assert Boxes(source, normalized=True) == source
        with pytest.raises(ValueError, match="do not mix"):
            Boxes(Boxes(ROWS), normalized=True)

    def test_a_list_of_boxes_is_joined_each_in_its_own_format(self) -> None:
        parts = [Boxes(ROWS[:1]).convert("xywh"), Boxes(ROWS[1:]).convert("cxcywh")]
        assert Boxes(parts, "xyxy") == Boxes(ROWS)
        with pytest.raises(TypeError, match=r"boxes\[1\] must be Boxes like the others, got list"):
            Boxes([parts[0], ROWS[1]])  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (np.zeros((2, 5)), r"boxes must have shape \(N, 4\) or \(4,\), got \(2, 5\)"),
            (np.zeros((1, 2, 4)), r"got \(1, 2, 4\)"),
            (3.0 * np.ones(3), r"got \(3,\)"),
            ([[0, 0, 1, 1], [0, 0, 1, float("nan")]], r"boxes\[1\] is .*: every coordinate must be finite"),
            ([[0, 0, 1, float("inf")]], r"boxes\[0\] is .*: every coordinate must be finite"),
            ([[0, 0, 1, 1], [3, 0, 2, 1]], r"boxes\[1\] is \[3\.0, 0\.0, 2\.0, 1\.0\]: inverted, x2 < x1"),
            ([[0, 2, 1, 1]], r"inverted, y2 < y1"),
            ([[0, 0, 1, 2**24 + 1]], r"whole numbers up to 2\*\*24 only, .* pass dtype=np\.float64"),
            (np.array([[0, 0, 1, 2**53 + 1]]), r"integer beyond 2\*\*53"),
            ([[0, 0, 1, 1], [0, 0, 1]], r"boxes must be a regular array of numbers"),
            (np.array([[0, 0, 1e200, 1]]), r"beyond 2\*\*500 in float64"),
        ],
    )
    def test_wrong_values_are_refused(self, data: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Boxes(data)

    @pytest.mark.parametrize(("row", "side"), [([0, 0, -1, 1], "width"), ([0, 0, 1, -1], "height")])
    @pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
    def test_negative_sizes_are_refused(self, fmt: BoxFormat, row: list[float], side: str) -> None:
        with pytest.raises(ValueError, match=rf"boxes\[0\] is .*: negative {side} \(format '{fmt}'\)"):
            Boxes(row, fmt)

    def test_wrong_kinds_and_names_are_refused(self) -> None:
        with pytest.raises(TypeError, match=r"boxes must be Boxes, a NumPy array or nested lists, got str"):
            Boxes("abcd")
        with pytest.raises(ValueError, match=r"unknown format 'yxyx'; choose from xyxy, xywh, cxcywh"):
            Boxes(ROWS, "yxyx")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"dtype must be float32 or float64, got int32"):
            Boxes(ROWS, dtype=np.int32)

    def test_large_whole_numbers_with_a_dtype(self) -> None:
        row = [0, 0, 2**24 + 1, 1]
        assert Boxes(row, dtype=np.float64).to_list() == [row]
        assert Boxes(row, dtype=np.float32).to_list() == [[0, 0, 2**24, 1]]
        assert Boxes(np.array(row)).to_list() == [row]

    def test_a_cast_that_overflows_is_refused_by_name(self) -> None:
        with pytest.raises(ValueError, match=r"boxes\[0\] is .*: every coordinate must be finite"):
            Boxes(np.array([[0, 0, 1e60, 1]]), dtype=np.float32)


class TestValue:
    def test_is_frozen(self) -> None:
        boxes = Boxes(ROWS)
        for name in ("format", "normalized", "dtype", "anything"):
            with pytest.raises(AttributeError):
                setattr(boxes, name, "xywh")
        with pytest.raises(TypeError, match="does not support item assignment"):
            boxes[0] = 1  # type: ignore[index]

    def test_equality_and_hash(self) -> None:
        boxes = Boxes(ROWS)
        for same in (Boxes(ROWS), Boxes(np.array(ROWS)), boxes[:], pickle.loads(pickle.dumps(boxes)), copy.copy(boxes)):
            assert same == boxes
            assert hash(same) == hash(boxes)
        others: list[Any] = [
            boxes[:2],
            boxes.convert("xywh"),
            Boxes(ROWS, normalized=True),
            boxes.shift(1, 0),
            boxes.numpy().tolist(),
            None,
        ]
        for other in others:
            assert other != boxes
        assert Boxes([-0.0, 0, 1, 1]) == Boxes([0, 0, 1, 1])
        assert hash(Boxes([-0.0, 0, 1, 1])) == hash(Boxes([0, 0, 1, 1]))

    def test_a_copy_is_as_frozen_as_the_original(self) -> None:
        for boxes in (pickle.loads(pickle.dumps(Boxes(ROWS))), copy.deepcopy(Boxes(ROWS)), Boxes(ROWS)[1:]):
            assert not boxes._array.flags.writeable

    def test_is_no_array_by_accident(self) -> None:
        with pytest.raises(TypeError, match=r"use boxes\.numpy\(\)"):
            np.asarray(Boxes(ROWS))
        with pytest.raises(TypeError, match="unsupported operand"):
            np.zeros(4) * Boxes(ROWS)

    def test_repr(self) -> None:
        assert repr(Boxes(ROWS[0])) == "Boxes([[10., 20., 50., 80.]], format='xyxy', dtype=float32)"
        assert repr(Boxes([], "xywh", normalized=True)) == "Boxes([], format='xywh', normalized=True, dtype=float32)"
        assert repr(Boxes(ROWS)).count("\n") == 2
        assert len(repr(Boxes(ROWS * 1000)).splitlines()) < 10


class TestSelection:
    @pytest.mark.parametrize(
        ("index", "rows"),
        [
            (0, [0]),
            (-1, [2]),
            (np.int64(1), [1]),
            (np.uint8(1), [1]),
            (slice(1, None), [1, 2]),
            (slice(None, None, -1), [2, 1, 0]),
            ([2, 0, 0], [2, 0, 0]),
            ((1, 2), [1, 2]),
            (np.array([True, False, True]), [0, 2]),
            ([True, False, True], [0, 2]),
            (np.array([-1, 0]), [2, 0]),
            ([], []),
        ],
    )
    def test_rows(self, index: Any, rows: list[int]) -> None:
        boxes = Boxes(ROWS, normalized=True).convert("xywh")
        selected = boxes[index]
        assert selected.numpy().tolist() == [boxes.to_list()[row] for row in rows]
        assert (selected.format, selected.normalized, selected.dtype) == ("xywh", True, boxes.dtype)

    @pytest.mark.parametrize("index", [3, -4, [0, 3], np.array([True, False])])
    def test_rows_that_are_not_there(self, index: Any) -> None:
        with pytest.raises(IndexError):
            Boxes(ROWS)[index]

    @pytest.mark.parametrize("index", ["0", 1.0, None, ..., True, np.zeros((1, 1), int), [0.0]])
    def test_what_is_no_index(self, index: Any) -> None:
        with pytest.raises(TypeError, match="Boxes are indexed by integers, slices, masks and index arrays, got"):
            Boxes(ROWS)[index]

    def test_iteration_gives_boxes_of_one(self) -> None:
        boxes = boxes_in("cxcywh")
        assert [len(box) for box in boxes] == [1, 1, 1]
        assert Boxes.concat(list(boxes)) == boxes
        assert Boxes(list(boxes), "cxcywh") == boxes

    def test_concat(self) -> None:
        first, second = boxes_in("xywh"), Boxes(np.array(ROWS))
        joined = Boxes.concat([first, second[:1]])
        assert (joined.format, joined.dtype, len(joined)) == ("xywh", np.dtype(np.float64), 4)
        assert joined.to_list() == [*first.to_list(), first.to_list()[0]]
        with pytest.raises(ValueError, match=r"normalized and absolute boxes do not mix; .*denormalize"):
            Boxes.concat([first, Boxes(ROWS, normalized=True)])
        with pytest.raises(ValueError, match="concat needs at least one Boxes"):
            Boxes.concat([])
        with pytest.raises(TypeError, match=r"boxes\[1\] must be Boxes like the others, got ndarray"):
            Boxes.concat([first, np.array(ROWS)])  # type: ignore[list-item]


class TestMethods:
    @every_format
    def test_values_of_capybara(self, fmt: BoxFormat) -> None:
        expected = CAPYBARA["box_by_mode"][fmt.upper()]
        boxes = Boxes(expected["input"], fmt)
        for name in ("width", "height", "area", "aspect_ratio", "center"):
            assert_allclose(getattr(boxes, name)[0], expected[name], rtol=1e-6)
        for name in ("left_top", "right_top", "right_bottom", "left_bottom"):
            assert_array_equal(getattr(boxes, name)[0], expected[name])
        results = {
            **{f"to_{other}": boxes.convert(other) for other in FORMATS},
            "normalize_100_200": boxes.normalize(100, 200),
            "shift_3_m4": boxes.shift(3, -4),
            "scale_fx2_fyhalf": boxes.scale(2, 0.5),
            "clip_15_0_45_60": boxes.clip(15, 0, 45, 60),
        }
        for name, result in results.items():
            assert_allclose(result.numpy()[0], expected[name], rtol=1e-6, err_msg=name)
            assert result.format == (name[3:] if name.startswith("to_") else fmt)

    @every_format
    def test_values_of_capybara_for_several(self, fmt: BoxFormat) -> None:
        expected, boxes = CAPYBARA["boxes"], boxes_in(fmt)
        for name in ("width", "height", "area", "aspect_ratio", "center", "left_top", "right_bottom"):
            assert_allclose(getattr(boxes, name), expected[name], rtol=1e-6)
        assert np.flatnonzero(boxes.is_empty).tolist() == expected["get_empty_index"]
        assert boxes.drop_empty().convert("xyxy").to_list() == expected["drop_empty"]
        assert boxes[:2].square().convert("xyxy").to_list() == expected["square"]

    @every_format
    @pytest.mark.parametrize("normalized", [False, True])
    def test_methods_keep_format_unit_and_dtype(self, fmt: BoxFormat, normalized: bool) -> None:
        for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
            boxes = boxes_in(fmt, normalized=normalized, dtype=dtype)
            results = [
                boxes.clip(np.float64(-1), 2, 30, 40),
                boxes.shift(np.float64(1.5), 2),
                boxes.scale(np.float64(1.5)),
                boxes.square(),
                boxes.drop_empty(),
                boxes.convert(fmt),
            ]
            for result in results:
                assert (result.format, result.normalized, result.dtype) == (fmt, normalized, dtype)
                assert not result._array.flags.writeable
            for name in ("width", "area", "aspect_ratio", "center", "left_top"):
                assert getattr(boxes, name).dtype == dtype

    def test_units(self) -> None:
        boxes = Boxes([[10, 20, 50, 80]])
        relative = boxes.normalize(100, 200)
        assert relative.normalized
        assert_array_equal(relative.numpy(), np.array([[0.1, 0.1, 0.5, 0.4]], np.float32))
        assert relative.denormalize(100, 200) == boxes
        with pytest.raises(ValueError, match="already normalized"):
            relative.normalize(100, 200)
        with pytest.raises(ValueError, match="already absolute"):
            boxes.denormalize(100, 200)
        for size in ((0, 1), (1, -1), (np.nan, 1), (1, np.inf)):
            with pytest.raises(ValueError, match=r"(width|height) must be positive and finite"):
                boxes.normalize(*size)

    @every_format
    def test_clip_takes_any_window(self, fmt: BoxFormat) -> None:
        boxes = Boxes([[-20, -20, -5, 30], [100, 100, 110, 110]]).convert(fmt)
        clipped = boxes.clip(-10, -10, 10, np.inf).convert("xyxy")
        assert clipped.to_list() == [[-10, -10, -5, 30], [10, 100, 10, 110]]
        assert boxes.clip(-np.inf, -np.inf, np.inf, np.inf) == boxes
        for window in ((1, 0, 0, 1), (0, 1, 1, 0), (0, 0, np.nan, 1)):
            with pytest.raises(ValueError, match="xmin <= xmax and ymin <= ymax"):
                boxes.clip(*window)

    def test_scale_keeps_the_centre(self) -> None:
        boxes = Boxes([[0, 0, 4, 8]])
        assert boxes.scale(0.5).to_list() == [[1, 2, 3, 6]]
        assert boxes.scale(1, 2).to_list() == [[0, -4, 4, 12]]
        assert boxes.scale(0).to_list() == [[2, 4, 2, 4]]
        for factors in ((-1, 1), (1, -0.5), (np.nan, 1)):
            with pytest.raises(ValueError, match="factors must not be negative"):
                boxes.scale(*factors)
        with pytest.raises(ValueError, match="fx must be finite, got inf"):
            boxes.scale(np.inf)

    def test_shift_is_finite(self) -> None:
        with pytest.raises(ValueError, match="dy must be finite, got nan"):
            Boxes([]).shift(0, np.nan)

    def test_what_overflows_is_refused(self) -> None:
        boxes = Boxes(np.array([[0, 0, 8e37, 1]], np.float32))
        with pytest.raises(ValueError, match=r"boxes\[0\] is .*beyond 2\*\*126 in float32"):
            boxes.shift(8e37, 0)
        with pytest.raises(ValueError, match=r"boxes\[0\] is .*(beyond|finite)"):
            boxes.scale(1e30)
        assert_array_equal(Boxes(np.array([[0, 0, 1e30, 1e30]], np.float32)).area, [np.inf])

    def test_aspect_ratio_of_lines_and_points(self) -> None:
        boxes = Boxes([[0, 0, 0, 2], [0, 0, 2, 0], [1, 1, 1, 1], [0, 0, 3, 2]])
        assert_array_equal(boxes.aspect_ratio, [0, np.inf, np.nan, 1.5])
        assert_array_equal(boxes.is_empty, [True, True, True, False])
        assert boxes.drop_empty().to_list() == [[0, 0, 3, 2]]
