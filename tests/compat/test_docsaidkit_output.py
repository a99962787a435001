"""Drawing, the functions `prepare_...`, and JSON, of DocsaidKit."""

from __future__ import annotations

import json
from datetime import date
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit.compat.docsaidkit as D

CANVAS = np.zeros((20, 30, 3), np.uint8)
RED = (0, 0, 255)


def painted(image: Any) -> list[list[int]]:
    """Rows and columns of the pixels that are not black."""
    found: list[list[int]] = np.argwhere(image.any(axis=2)).tolist()
    return found


def test_the_outline_of_a_box_is_where_its_corners_are() -> None:
    image = D.draw_box(CANVAS, [3.9, 4.2, 8.7, 7.1], RED, thickness=1)
    border = {(y, x) for y in (4, 7) for x in range(3, 9)} | {(y, x) for y in range(4, 8) for x in (3, 8)}
    assert {tuple(place) for place in painted(image)} == border
    assert (image[4, 3] == RED).all()
    assert not CANVAS.any()
    filled = D.draw_box(CANVAS, D.Box([3, 4, 5, 3], "XYWH"), RED, thickness=-1)
    assert painted(filled) == [[y, x] for y in range(4, 8) for x in range(3, 9)]


@pytest.mark.parametrize(("thickness", "wide"), [(1, 1), (2, 3), (3, 5), (4, 5), (5, 7), (9, 11)])
def test_lines_are_as_thick_as_those_of_opencv(thickness: int, wide: int) -> None:
    image = D.draw_polygon(CANVAS, [[5, 10], [25, 10]], RED, thickness)
    assert np.count_nonzero(image[:, 15].any(axis=1)) == wide


def test_normalized_shapes_are_drawn_in_pixels() -> None:
    expected = D.draw_box(CANVAS, [3, 4, 15, 10])
    relative = D.Box([3, 4, 15, 10]).normalize(30, 20)
    assert_array_equal(D.draw_box(CANVAS, relative), expected)
    polygon = D.Polygon([[3, 4], [15, 4], [15, 10], [3, 10]])
    assert_array_equal(D.draw_polygon(CANVAS, polygon), expected)


def test_polygons_are_filled() -> None:
    image = D.draw_polygon(CANVAS, [[2, 2], [10, 2], [2, 10]], RED, fillup=True)
    assert painted(image) == [[y, x] for y in range(2, 11) for x in range(2, 13 - y)]


def test_many_shapes_have_one_colour_or_one_each() -> None:
    boxes = [[0, 0, 4, 4], [10, 10, 14, 14]]
    both = D.draw_boxes(CANVAS, boxes, RED, 1)
    assert_array_equal(both, D.draw_box(D.draw_box(CANVAS, boxes[0], RED, 1), boxes[1], RED, 1))
    each = D.draw_boxes(CANVAS, boxes, colors=[RED, (0, 255, 0)], thicknesses=[1, 3])
    assert_array_equal(each, D.draw_box(D.draw_box(CANVAS, boxes[0], RED, 1), boxes[1], (0, 255, 0), 3))
    polygons = D.Boxes(boxes).to_polygons()
    assert_array_equal(D.draw_polygons(CANVAS, polygons, colors=[RED, (0, 255, 0)], thicknesses=[1, 3]), each)
    # DocsaidKit's names of the same arguments
    assert_array_equal(D.draw_boxes(CANVAS, boxes, color=[RED, (0, 255, 0)], thickness=[1, 3]), each)
    assert_array_equal(D.draw_polygons(CANVAS, polygons, color=[RED, (0, 255, 0)], thickness=[1, 3]), each)
    assert_array_equal(D.draw_boxes(CANVAS, []), CANVAS)
    with pytest.raises(ValueError, match="colors must be one for all or one each, got 1 for 2"):
        D.draw_boxes(CANVAS, boxes, [RED])
    with pytest.raises(ValueError, match="thicknesses must be one for all or one each, got 3 for 2"):
        D.draw_boxes(CANVAS, boxes, RED, [1, 2, 3])


def test_shapes_outside_the_image_are_cut() -> None:
    assert_array_equal(D.draw_box(CANVAS, [-50, -50, -10, -10]), CANVAS)
    assert painted(D.draw_box(CANVAS, [-5, -5, 2, 100], RED, 1)) == [[y, 2] for y in range(20)]
    assert_array_equal(D.draw_polygon(CANVAS, [[100, 100], [200, 100], [200, 200]], fillup=True), CANVAS)


def test_arguments_of_opencv_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'lineType'"):
        D.draw_polygon(CANVAS, [[2, 2], [10, 2], [2, 10]], lineType=16)  # type: ignore[call-arg]


def test_points_are_discs_or_rings() -> None:
    disc = D.draw_point(CANVAS, (5, 6), scale=5, color=RED)
    assert painted(D.draw_point(CANVAS, (5, 6), color=RED)) == [[5, 5], [6, 4], [6, 5], [6, 6], [7, 5]]
    ring = D.draw_point(CANVAS, (5, 6), scale=5, color=RED, thickness=1)
    assert disc[6, 5].any()
    assert not ring[6, 5].any()
    assert ring.any()
    several = D.draw_points(CANVAS, [(5, 6), (20, 6)], [5, 1], [RED, 7], [-1, -1])
    assert_array_equal(several, D.draw_point(disc, (20, 6), color=7))
    grey = CANVAS[..., 0]
    assert D.draw_point(grey, (5, 5), color=9).shape == grey.shape
    assert D.draw_points(grey, [(5, 5)]).shape == CANVAS.shape
    assert not CANVAS.any()


def test_keypoints_are_discs_in_their_colours() -> None:
    keypoints = D.Keypoints([[5, 5, 2], [15, 10, 1], [25, 5, 0]])
    image = D.draw_keypoints(CANVAS, keypoints)
    assert tuple(image[5, 5]) == keypoints.point_colors[0]
    assert tuple(image[10, 15]) == keypoints.point_colors[1]
    assert not image[5, 25].any()
    listed = D.draw_keypoints_list(
        CANVAS, D.KeypointsList([keypoints, keypoints.shift(0, 8)]), scales=[1, 9], thicknesses=[-1, 1]
    )
    assert_array_equal(listed, D.draw_keypoints(image, keypoints.shift(0, 8), 9, 1))
    assert_array_equal(D.draw_keypoints_list(CANVAS, []), CANVAS)


def test_lines_are_dots_or_dashes() -> None:
    assert painted(D.draw_line(CANVAS, (0, 5), (29, 5), RED, thickness=0, gap=10)) == [[5, 0], [5, 10], [5, 20]]
    dashes = D.draw_line(CANVAS, (0, 5), (29, 5), RED, style="line", gap=5)
    assert painted(dashes) == [[5, x] for x in range(30) if x % 10 <= 5 and x <= 25]
    assert painted(D.draw_line(CANVAS, (3, 3), (3, 3), RED, style="line")) != []
    own = CANVAS.copy()
    assert D.draw_line(own, (0, 5), (29, 5), RED, inplace=True) is own
    assert own.any()
    for options, says in (
        ({"style": "wavy"}, "Unknown style: 'wavy'; choose from dotted, line"),
        ({"gap": 0}, "gap must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=says):
            D.draw_line(CANVAS, (0, 0), (9, 9), **options)
    with pytest.raises(ValueError, match=r"\(H, W, 3\) can be drawn in place, got \(20, 30\)"):
        D.draw_line(CANVAS[..., 0].copy(), (0, 0), (9, 9), inplace=True)


def test_text_is_drawn() -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    image = D.draw_text(CANVAS, "I", (4, 3), RED, text_size=14)
    rows, columns = np.nonzero(image.any(axis=2))
    assert rows.min() == 3
    assert 4 <= columns.min() <= 8
    assert not image[..., :2].any()
    assert D.draw_text(CANVAS[..., 0], "I", (4, 3), 255).shape == CANVAS.shape
    assert np.count_nonzero(D.draw_text(CANVAS, "I", (4, 3), RED, 14, stroke_width=2)) > np.count_nonzero(image)
    with pytest.raises(ValueError, match=r"font_path 'no\.ttf' is not a font that Pillow can read"):
        D.draw_text(CANVAS, "I", (4, 3), font_path="no.ttf")


def test_detections_have_labels() -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    canvas = np.zeros((60, 100, 3), np.uint8)
    plain = D.draw_box(canvas, [10, 30, 40, 50], RED, 2)
    labelled = D.draw_detection(canvas, [10, 30, 40, 50], "cat", 0.75, RED, 2)
    assert np.count_nonzero((labelled != plain).any(axis=2)) > 100
    assert_array_equal(labelled[36:], plain[36:])
    faint = D.draw_detection(canvas, [10, 30, 40, 50], "cat", 0.75, RED, 2, box_alpha=0.5)
    assert_array_equal(faint[36:], np.rint(plain[36:] * 0.5))
    clear = D.draw_detection(canvas, [10, 30, 40, 50], "", color=RED, thickness=2, text_bg_alpha=0)
    assert_array_equal(clear, plain)
    boxes = D.Boxes([[10, 30, 40, 50], [60, 30, 80, 50]])
    each = D.draw_detections(canvas, boxes, ["cat", "dog"], [0.75, 0.5])
    first = D.draw_detection(canvas, boxes[0], "cat", 0.75)
    assert_array_equal(each, D.draw_detection(first, boxes[1], "dog", 0.5))
    styled = D.draw_detections(
        canvas, boxes, ["cat", "dog"], colors=[RED, 9], thicknesses=[1, 3], text_colors=[0, 255], text_sizes=[12, 15]
    )
    first = D.draw_detection(canvas, boxes[0], "cat", color=RED, thickness=1, text_color=0, text_size=12)
    second = D.draw_detection(first, boxes[1], "dog", color=9, thickness=3, text_color=255, text_size=15)
    assert_array_equal(styled, second)
    assert D.draw_detection(canvas, boxes[0], "-3").any()  # upstream does not return for a negative number
    assert D.draw_detection(np.zeros((5, 5), np.uint8), [0, 0, 4, 4], "a long label").any()
    with pytest.raises(ValueError, match="Number of boxes must match number of labels, got 2 and 1"):
        D.draw_detections(canvas, boxes, ["cat"])
    with pytest.raises(ValueError, match="Number of scores must match number of boxes, got 1 and 2"):
        D.draw_detections(canvas, boxes, ["cat", "dog"], [0.5])
    with pytest.raises(ValueError, match=r"box_alpha must be within \[0, 1\], got 2"):
        D.draw_detection(canvas, boxes[0], "cat", box_alpha=2)


def test_masks_are_mixed_into_the_image() -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    mask = np.arange(600, dtype=np.float64).reshape(20, 30)
    image = D.draw_mask(CANVAS, mask, min_max_normalize=True)
    expected = cv2.applyColorMap((mask / 599 * 255).astype(np.uint8), cv2.COLORMAP_JET)
    assert np.abs(image.astype(int) - expected / 2).max() <= 1
    grey = np.stack([mask.astype(np.uint8)] * 3, axis=2)
    assert_array_equal(D.draw_mask(CANVAS[..., 0], grey), D.draw_mask(CANVAS, grey[..., 0]))
    assert D.draw_mask(CANVAS, mask[:5, :5].astype(np.uint8), weight=(1, 0)).shape == CANVAS.shape
    assert_array_equal(D.draw_mask(CANVAS, np.full((4, 4), 7), cv2.COLORMAP_HOT, (1, 0), 3), CANVAS + 3)
    assert np.ptp(D.draw_mask(CANVAS, np.full((4, 4), 7.5), min_max_normalize=True).reshape(-1, 3), axis=0).max() == 0
    with pytest.raises(ValueError, match=r"Mask must be either 2D or have 3 channels, got shape \(20, 30, 2\)"):
        D.draw_mask(CANVAS, np.zeros((20, 30, 2)))


def test_colours_are_generated() -> None:
    np.random.seed(0)  # noqa: NPY002 - the generator that upstream uses
    assert D.generate_colors(2, "triadic") == [(0, 180, 255), (255, 0, 180)]
    assert len(set(D.generate_colors(4, "square"))) == 4
    assert len(set(D.generate_colors(9, "analogous"))) == 9
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    assert D.generate_colors(2)[0] == (255, 0, 0)
    with pytest.raises(ValueError, match="unknown scheme 'no'; choose triadic, analogous, square or a colour map"):
        D.generate_colors(2, "no")


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(TypeError, match="img must be a uint8 array, got float64"):
        D.draw_box(np.zeros((2, 2)), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"\(H, W, 3\), got shape \(2, 2, 4\)"):
        D.draw_box(np.zeros((2, 2, 4), np.uint8), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"img\[3\] must be an array of shape .*, got list"):
        D.prepare_img([[0]], 3)
    assert not D.is_numpy_img(np.zeros(3))
    assert D.prepare_img(np.ones((2, 2, 1))).shape == (2, 2, 3)


def test_structures_are_prepared() -> None:
    assert D.prepare_box([0, 0, 4, 4], src_mode="XYWH", dst_mode="CXCYWH") == D.Box([2, 2, 4, 4], "CXCYWH")
    assert D.prepare_box(D.Box([0, 0, 4, 4], "CXCYWH")).to_list() == [-2, -2, 2, 2]
    assert D.prepare_boxes([[1, 2, 4, 4]], "XYWH") == D.Boxes([[1, 2, 5, 6]])
    assert D.prepare_boxes([[1, 2, 4, 4]], "XYWH", "CXCYWH").to_list() == [[3, 4, 4, 4]]
    assert len(D.prepare_boxes([])) == 0
    assert D.prepare_polygon([[0, 0], [1, 1], [0, 1]], 3) == D.Polygon([[0, 0], [1, 1], [0, 1]])
    assert len(D.prepare_polygons([[[0, 0], [1, 1], [0, 1]]])) == 1
    assert D.prepare_keypoints([(0, 1), (2, 3)]) == D.Keypoints([(0, 1), (2, 3)])
    assert len(D.prepare_keypoints_list([[(0, 1)], [(2, 3)]])) == 2
    with pytest.raises(ValueError, match=r"boxes\[7\] is \[0, 0, 4\], but a Box has 4 numbers"):
        D.prepare_box([0, 0, 4], 7)
    with pytest.raises(TypeError, match=r"polygons\[1\] is \[\[0, 0, 0\]\], but a Polygon must have shape"):
        D.prepare_polygons([[[0, 0]], [[0, 0, 0]]])
    with pytest.raises(TypeError, match=r"keypoints_list\[0\] is \[1\], but Keypoints must have shape"):
        D.prepare_keypoints_list([[1]])


def test_styles_are_prepared() -> None:
    assert D.prepare_color(7) == D.prepare_color([7, 7, 7]) == D.prepare_color(np.array([7.9, 7, 7])) == (7, 7, 7)
    assert D.prepare_colors(np.array([1, 2, 3]), 2) == [(1, 2, 3)] * 2
    assert D.prepare_colors([(1, 2, 3), [4, 5, 6]]) == [(1, 2, 3), (4, 5, 6)]
    assert D.prepare_thicknesses(2.0, 2) == D.prepare_thicknesses(np.array([2, 2])) == [2, 2]
    assert D.prepare_scales([1, 1.5]) == [1, 1.5]
    assert D.prepare_points([(1.9, 2), np.array([3, 4])]) == [(1, 2), (3, 4)]
    calls: list[tuple[Any, type[Exception], str]] = [
        (lambda: D.prepare_color("red", 2), TypeError, r"the input colors\[2\] is 'red', but a colour is"),
        (lambda: D.prepare_colors([(1, 2, 3), (1.5, 2, 3)]), TypeError, r"colors\[1\] is \(1.5, 2, 3\)"),
        (lambda: D.prepare_thickness(-2, 1), ValueError, r"thickness\[1\] must be a number of at least -1, got -2"),
        (lambda: D.prepare_scale("1"), ValueError, "scale must be a number of at least -1, got '1'"),
        (lambda: D.prepare_point((1,), 0), TypeError, r"the input points\[0\] is \(1,\), but a point has two numbers"),
        (lambda: D.prepare_point((np.nan, 1)), TypeError, "a point has two numbers"),
    ]
    for call, kind, says in calls:
        with pytest.raises(kind, match=says):
            call()


def test_dictionaries_become_json_without_rounding() -> None:
    given = {
        "box": D.Box([0.25, 0.5, 1, 2], "XYWH"),
        "boxes": D.Boxes([[0.25, 0.5, 1, 2]]),
        "polygon": D.Polygon([[0.5, 0.0], [1.0, 1.0]]),
        "polygons": D.Polygons([[[0.5, 0.0], [1.0, 1.0]]]),
        "keypoints": D.Keypoints([[0.5, 1]]),
        "list": [D.Keypoints([[0.5, 1]]), {"array": np.array([[1, 2]]), "number": np.float32(0.5)}],
        "mode": D.BoxMode.XYWH,
        "path": PurePosixPath("a/b"),
        "day": date(2024, 2, 29),
        "plain": (1, "a", None, True),
        "own": {1, 2},
    }
    made = D.dict_to_jsonable(given, jsonable_func={"own": sorted})
    assert json.loads(json.dumps(made)) == {
        "box": [0.25, 0.5, 1.25, 2.5],
        "boxes": [[0.25, 0.5, 1, 2]],
        "polygon": [[0.5, 0], [1, 1]],
        "polygons": [[[0.5, 0], [1, 1]]],
        "keypoints": [[0.5, 1]],
        "list": [[[0.5, 1]], {"array": [[1, 2]], "number": 0.5}],
        "mode": "XYWH",
        "path": "a/b",
        "day": "2024-02-29",
        "plain": [1, "a", None, True],
        "own": [1, 2],
    }
    with pytest.raises(TypeError, match=r"d\['list'\]\[0\] is a set, which JSON does not know"):
        D.dict_to_jsonable({"list": [{1}]})
