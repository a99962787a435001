"""Box, Boxes, BoxMode and the overlaps of DocsaidKit: upstream's values, and the differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
import ioukit.compat.docsaidkit as D
from support.capybara import CAPYBARA
from support.strategies import grid_boxes

MODES = ("XYXY", "XYWH", "CXCYWH")
ROWS = CAPYBARA["boxes"]["input"]


# Values


@pytest.mark.parametrize("mode", MODES)
def test_values_of_a_box(mode: str) -> None:
    case = CAPYBARA["box_by_mode"][mode]
    box = D.Box(case["input"], mode)
    for name in ("width", "height", "area", "aspect_ratio"):
        assert getattr(box, name) == pytest.approx(case[name])
    for name in ("center", "left_top", "right_bottom", "left_bottom", "right_top"):
        assert_allclose(getattr(box, name), case[name])
    results: dict[str, Any] = {
        "to_xyxy": box.convert("XYXY"),
        "to_xywh": box.convert(1),
        "to_cxcywh": box.convert(D.BoxMode.CXCYWH),
        "normalize_100_200": box.normalize(100, 200),
        "shift_3_m4": box.shift(3, -4),
        "scale_dsize_10_20": box.scale(dsize=(10, 20)),
        "scale_fx2_fyhalf": box.scale(fx=2, fy=0.5),
        "clip_15_0_45_60": box.clip(15, 0, 45, 60),
        "square": box.square(),
        "to_polygon": box.to_polygon(),
    }
    for name, found in results.items():
        assert_allclose(found.numpy(), case[name], rtol=1e-6, err_msg=name)
        if not name.startswith("to_"):
            assert found.box_mode is D.BoxMode[mode], name


def test_values_of_boxes() -> None:
    case, boxes = CAPYBARA["boxes"], D.Boxes(ROWS)
    for name in ("width", "height", "area", "aspect_ratio", "center", "left_top", "right_bottom"):
        assert_allclose(getattr(boxes, name), case[name], rtol=1e-6)
    assert boxes.get_empty_index().tolist() == case["get_empty_index"]
    assert_allclose(boxes.drop_empty().numpy(), case["drop_empty"])
    assert_allclose(boxes.drop_empty().square().numpy(), case["square"])
    assert [polygon.to_list() for polygon in boxes.drop_empty().to_polygons()] == [
        D.Box(row).to_polygon().to_list() for row in ROWS[:2]
    ]


@pytest.mark.parametrize("mode", MODES)
def test_every_method_of_boxes_is_that_of_each_box(mode: str) -> None:
    boxes = D.Boxes(D.Boxes(ROWS[:2]), mode)
    calls: list[Any] = [
        lambda b: b.convert("CXCYWH"), lambda b: b.normalize(30, 40), lambda b: b.clip(15, 0, 45, 60),
        lambda b: b.shift(3, -4), lambda b: b.scale(dsize=(1, 2)), lambda b: b.scale(fy=3), lambda b: b.copy(),
    ]  # fmt: skip
    for call in calls:
        assert_allclose(call(boxes).numpy(), [call(box).numpy() for box in boxes], rtol=1e-6)
    for name in ("left_bottom", "right_top", "center", "area"):
        assert_allclose(getattr(boxes, name), [getattr(box, name) for box in boxes])
    assert boxes.to_list() == boxes.tolist() == boxes.numpy().tolist()


def test_values_of_overlaps() -> None:
    case = CAPYBARA["pairwise"]["mixed"]
    boxes1, boxes2 = D.Boxes(case["boxes1"], case["mode1"]), D.Boxes(case["boxes2"], case["mode2"])
    for function, name in ((D.pairwise_intersection, "intersection"), (D.pairwise_iou, "iou")):
        found = function(boxes1, boxes2)
        assert found.dtype == np.float32
        assert_allclose(found, case[name], rtol=1e-6)
    readme = D.Boxes(ROWS[:2])
    assert_allclose(D.pairwise_iou(readme, readme), [[1, 0.45454547], [0.45454547, 1]])
    assert_allclose(D.pairwise_ioa(readme, readme), [[1, 0.625], [0.625, 1]])
    assert_allclose(D.pairwise_ioa(readme, D.Boxes([[10, 20, 30, 90]])), [[1200 / 1400], [600 / 1400]])


def test_merged_boxes() -> None:
    boxes = D.Boxes([[0, 0, 4, 4], [9, 9, 1, 1], [0, 1, 4, 4], [0, 2, 4, 4]], "XYWH")
    merged, groups = D.merge_boxes(boxes, threshold=0.5)
    assert merged == D.Boxes([[0, 0, 4, 6], [9, 9, 1, 1]], "XYWH")
    assert groups == [[0, 2, 3], [1]]
    assert [len(part) for part in D.merge_boxes(D.Boxes([]))] == [0, 0]


def test_what_a_box_is() -> None:
    box = D.Box((10, 20, 50, 80))
    assert len(box) == 4
    assert box[0] == 10.0
    assert type(box[0]) is float
    assert_array_equal(box[1:3], [20, 50])
    assert repr(box) == "Box([10. 20. 50. 80.]), BoxMode.XYXY"
    assert repr(D.Boxes([[0, 0, 1, 1]], "XYWH", True)) == "Boxes([[0. 0. 1. 1.]]), BoxMode.XYWH"
    with pytest.raises(TypeError, match="unhashable"):
        hash(box)
    assert box.numpy().dtype == np.float32


@pytest.mark.parametrize(
    ("code", "mode"), [(0, "XYXY"), ("xywh", "XYWH"), ("CxCyWh", "CXCYWH"), (np.int64(2), "CXCYWH")]
)
def test_codes_of_modes(code: Any, mode: str) -> None:
    assert D.BoxMode.align_code(code) is D.BoxMode[mode]
    assert D.BoxMode.align_code(D.BoxMode[mode]) is D.BoxMode[mode]


# Laws


@given(grid_boxes(), grid_boxes(), st.sampled_from(MODES), st.sampled_from(MODES))
def test_modes_do_not_change_overlaps(first: Any, second: Any, mode1: str, mode2: str) -> None:
    """The overlaps equal ioukit's in all modes, because eighths are exact in all of them."""
    boxes1, boxes2 = (D.Boxes(rows).drop_empty().convert(mode) for rows, mode in ((first, mode1), (second, mode2)))
    corners = boxes1.convert("XYXY").numpy(), boxes2.convert("XYXY").numpy()
    assert_array_equal(D.pairwise_iou(boxes1, boxes2), ioukit.pairwise_iou(*corners))
    assert_array_equal(D.pairwise_ioa(boxes1, boxes2), ioukit.pairwise_ioa(*corners))
    assert_array_equal(D.pairwise_intersection(boxes1, boxes2), ioukit.pairwise_intersection(*corners))


@given(grid_boxes(), st.sampled_from(MODES))
def test_methods_agree_with_those_of_ioukit(rows: Any, mode: str) -> None:
    boxes, clean = D.Boxes(D.Boxes(rows), mode), ioukit.Boxes(rows).convert(D.BoxMode[mode].format)
    assert_array_equal(boxes.numpy(), clean.numpy())
    assert_array_equal(boxes.clip(-9, -9, 99, 99).numpy(), clean.clip(-9, -9, 99, 99).numpy())
    assert_array_equal(boxes.shift(3, -4).numpy(), clean.shift(3, -4).numpy())
    assert_array_equal(boxes.scale(fx=2, fy=0.5).numpy(), clean.scale(2, 0.5).numpy())
    assert_array_equal(boxes.square().numpy(), clean.square().numpy())
    assert_array_equal(boxes.drop_empty().numpy(), clean.drop_empty().numpy())
    assert_array_equal(boxes.area, clean.area)
    assert boxes.copy() == boxes == boxes.convert("CXCYWH")


# Mended


def test_conversion_takes_lists_and_integers() -> None:
    assert D.BoxMode.convert([0, 0, 5, 5], "XYXY", "CXCYWH").tolist() == [2.5, 2.5, 5, 5]
    whole = D.BoxMode.convert(np.array([[[200, 200, 100, 90]]], np.uint8), "XYWH", "XYXY")
    assert whole.tolist() == [[[200, 200, 300, 290]]]
    assert whole.dtype == np.int64
    single = np.ones((3, 4), np.float32)
    copied = D.BoxMode.convert(single, 1, 1)
    assert copied.dtype == np.float32
    assert not np.shares_memory(copied, single)


def test_a_box_in_another_mode_is_converted() -> None:
    box = D.Box([10, 20, 40, 60], "XYWH")
    assert D.Box(box, "XYXY").to_list() == [10, 20, 50, 80]
    mixed = D.Boxes([box, D.Box([30, 50, 40, 60], "CXCYWH"), [10, 20, 50, 80]])
    assert mixed.to_list() == [[10, 20, 50, 80]] * 3
    assert D.Boxes(mixed, "XYWH").to_list() == [[10, 20, 40, 60]] * 3


def test_every_method_keeps_the_unit_and_the_mode() -> None:
    for mode in MODES:
        row = [0.1, 0.1, 0.5, 0.5]
        structures: list[Any] = [D.Box(row, mode, True), D.Boxes([row] * 3, mode, normalized=True)]
        for boxes in structures:
            made: list[Any] = [
                boxes.copy(), boxes.shift(0.1, 0), boxes.square(), boxes.scale(fx=0.5), boxes.clip(0, 0, 0.3, 1),
                type(boxes)(boxes, mode),
            ]  # fmt: skip
            if isinstance(boxes, D.Boxes):
                made += [
                    boxes.drop_empty(),
                    boxes[:1],
                    boxes[0],
                    boxes[[0]],
                    next(iter(boxes)),
                    D.Boxes([boxes[0]], mode),
                ]
            for one in made:
                assert one.is_normalized
                assert one.normalized
                assert one.box_mode is D.BoxMode[mode]
            assert boxes.convert("CXCYWH").is_normalized
            assert not boxes.denormalize(10, 10).is_normalized


@pytest.mark.parametrize("function", [D.pairwise_intersection, D.pairwise_iou, D.pairwise_ioa])
def test_units_do_not_mix(function: Any) -> None:
    absolute, relative = D.Boxes([[0, 0, 1, 1]]), D.Boxes([[0, 0, 1, 1]], is_normalized=True)
    with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
        function(absolute, relative)
    with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
        D.Boxes([D.Box([0, 0, 1, 1]), D.Box([0, 0, 1, 1], is_normalized=True)])
    with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
        D.Boxes(relative, is_normalized=False)
    with pytest.raises(ValueError, match="is_normalized=True and normalized=False contradict"):
        D.Box([0, 0, 1, 1], is_normalized=True, normalized=False)


@pytest.mark.parametrize("boxes", [D.Box([10, 20, 50, 80]), D.Boxes(ROWS)])
def test_a_unit_is_changed_once(boxes: Any) -> None:
    relative = boxes.normalize(100, 200)
    assert relative.denormalize(100, 200) == boxes
    with pytest.raises(ValueError, match="already normalized: dividing twice would lose"):
        relative.normalize(100, 200)
    with pytest.raises(ValueError, match="not normalized: multiplying would lose"):
        boxes.denormalize(100, 200)
    with pytest.raises(ValueError, match="w must be positive"):
        boxes.normalize(0, 200)


def test_the_callers_list_stays_and_any_nesting_is_taken() -> None:
    rows = [D.Box([0, 0, 1, 1]), [0, 0, 2, 2]]
    boxes = D.Boxes(rows)
    assert isinstance(rows[0], D.Box)
    assert rows[1] == [0, 0, 2, 2]
    assert boxes == D.Boxes(((0, 0, 1, 1), (0, 0, 2, 2)))
    array = np.zeros((1, 4))
    made = D.Boxes(array)
    array += 1
    assert made.to_list() == [[0, 0, 0, 0]]
    made.numpy()[:] = 7
    assert made.to_list() == [[0, 0, 0, 0]]


@pytest.mark.parametrize("nothing", [[], (), np.zeros(0), np.zeros((0, 4))])
def test_no_boxes_are_no_special_case(nothing: Any) -> None:
    boxes = D.Boxes(nothing)
    assert boxes.numpy().shape == (0, 4)
    assert D.pairwise_iou(boxes, D.Boxes(ROWS[:2])).shape == (0, 2)
    assert D.pairwise_ioa(D.Boxes(ROWS[:2]), boxes).shape == (2, 0)
    assert boxes.square().shift(1, 1).drop_empty().clip(0, 0, 1, 1).area.shape == (0,)
    assert len(boxes.to_polygons()) == 0


def test_windows_may_begin_below_zero() -> None:
    assert D.Box([-20, -20, 5, 5]).clip(-10, -5, 2, 3).to_list() == [-10, -5, 2, 3]


def test_scale_and_square_of_any_number_of_boxes() -> None:
    for count in (1, 2, 3, 5):
        boxes = D.Boxes([[0, 0, 2, 4]] * count)
        assert boxes.square().to_list() == [[-1, 0, 3, 4]] * count
        assert boxes.scale(fy=0.5).to_list() == [[0, 1, 2, 3]] * count
        assert boxes.scale(fx=2).to_list() == [[-1, 0, 3, 4]] * count


def test_boxes_are_selected() -> None:
    boxes = D.Boxes(ROWS)
    for index in (1, -2, np.int64(1), np.uint8(1)):
        assert boxes[index] == D.Box(ROWS[1])
    for rows in (slice(1, 3), [1, 2], (1, 2), np.array([1, 2]), [False, True, True], np.array([False, True, True])):
        assert boxes[rows] == D.Boxes(ROWS[1:])
    assert len(boxes[[]]) == 0
    for wrong in ("0", 1.5, None, [[1]], ["a"], True):
        with pytest.raises(TypeError, match="ind"):
            boxes[wrong]
    with pytest.raises(IndexError):
        boxes[3]


def test_equality_is_of_regions_in_one_unit() -> None:
    box = D.Box([10, 20, 40, 60], "XYWH")
    assert box == D.Box([10, 20, 50, 80])
    assert box != D.Box([10, 20, 40, 60], "XYXY")
    assert D.Box([0, 0, 1, 1]) != D.Box([0, 0, 1, 1], is_normalized=True)
    assert D.Boxes(ROWS) != D.Boxes(ROWS[:2])
    assert D.Boxes(ROWS) != ROWS


def test_numbers_that_are_none_are_errors_and_large_ones_are_right() -> None:
    good = D.Boxes([[0, 0, 1, 1]])
    for bad in (np.nan, np.inf):
        boxes = D.Boxes([[0, 0, 1, 1], [0, 0, bad, 1]])
        for function in (D.pairwise_iou, D.pairwise_ioa, D.pairwise_intersection):
            with pytest.raises(ValueError, match=r"(boxes2|boxes)\[1\].*finite"):
                function(good, boxes)
        with pytest.raises(ValueError, match="only finite boxes can be clipped"):
            boxes.clip(0, 0, 1, 1)
    large = D.Boxes([[0, 0, 1e20, 1e20]])
    assert D.pairwise_iou(large, large).tolist() == [[1]]


@pytest.mark.parametrize("row", [[5, 5, 5, 9], [5, 5, 9, 5], [5, 5, 1, 9]])
def test_boxes_without_area_are_named(row: list[float]) -> None:
    good, empty = D.Boxes([[0, 0, 9, 9]]), D.Boxes([[0, 0, 1, 1], row])
    for function in (D.pairwise_iou, D.pairwise_ioa):
        with pytest.raises(ValueError, match=r"boxes2\[1\] is .* try to run `drop_empty\(\)` first"):
            function(good, empty)
    assert D.pairwise_intersection(good, empty).tolist() == [[1, 0]]
    assert D.pairwise_iou(good, empty.drop_empty()).shape == (1, 1)
    with pytest.raises(ValueError, match="a polygon needs width and height above 0"):
        empty[1].to_polygon()


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: D.BoxMode.align_code("nope"), KeyError, r"^unknown box mode 'nope'; choose from XYXY \(0\)"),
        (lambda: D.BoxMode.align_code("nope"), ValueError, r"^unknown box mode 'nope'; choose from XYXY \(0\)"),
        (lambda: D.Boxes([[0, 0, 1, 1], [0, 0, 1]]), TypeError, "boxes must be a regular array of numbers"),
        (lambda: D.BoxMode.align_code(3), ValueError, "unknown box mode 3; choose"),
        (lambda: D.BoxMode.align_code(1.0), TypeError, "not int, str, or BoxMode: got float"),  # type: ignore[arg-type]
        (lambda: D.BoxMode.convert([0, 0, 1], 0, 1), ValueError, r"must have shape \(..., 4\), got \(3,\)"),
        (lambda: D.Box([0, 0, 1]), TypeError, r"a Box has 4 numbers, got shape \(3,\)"),
        (lambda: D.Box("0011"), TypeError, "got str"),
        (lambda: D.Boxes([0, 0, 1, 1]), TypeError, r"Boxes must have shape \(N, 4\), got \(4,\)"),
        (lambda: D.Box([0, 0, 1, 1]).clip(2, 0, 1, 1), ValueError, "xmin <= xmax"),
        (lambda: D.Box([0, 0, 1, 1]).clip(np.nan, 0, 1, 1), ValueError, "xmin <= xmax"),
        (lambda: D.Box([0, 0, 1, 1]).scale((1, 1), fx=2), ValueError, "dsize, or fx and fy, not both"),
        (
            lambda: D.pairwise_iou(D.Boxes([]), ROWS),
            TypeError,
            "boxes1 and boxes2 must be Boxes of .*, got Boxes and list",
        ),
        (lambda: D.merge_boxes(ROWS), TypeError, "boxes must be Boxes of .*, got list"),
    ],
)
def test_errors(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()
