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


@pytest.mark.parametrize(("thickness", "wide"), [(1, 1), (2, 1), (3, 3), (5, 5)])
def test_lines_are_as_thick_as_asked(thickness: int, wide: int) -> None:
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
    each = D.draw_boxes(CANVAS, boxes, [RED, (0, 255, 0)], [1, 3])
    assert_array_equal(each, D.draw_box(D.draw_box(CANVAS, boxes[0], RED, 1), boxes[1], (0, 255, 0), 3))
    polygons = D.Boxes(boxes).to_polygons()
    assert_array_equal(D.draw_polygons(CANVAS, polygons, [RED, (0, 255, 0)], [1, 3]), each)
    assert_array_equal(D.draw_boxes(CANVAS, []), CANVAS)
    with pytest.raises(ValueError, match="color must be one for all or one each, got 1 for 2"):
        D.draw_boxes(CANVAS, boxes, [RED])


def test_shapes_outside_the_image_are_cut() -> None:
    assert_array_equal(D.draw_box(CANVAS, [-50, -50, -10, -10]), CANVAS)
    assert painted(D.draw_box(CANVAS, [-5, -5, 2, 100], RED, 1)) == [[y, 2] for y in range(20)]
    assert_array_equal(D.draw_polygon(CANVAS, [[100, 100], [200, 100], [200, 200]], fillup=True), CANVAS)


def test_keypoints_are_discs_in_their_colours() -> None:
    keypoints = D.Keypoints([[5, 5, 2], [15, 10, 1], [25, 5, 0]])
    image = D.draw_keypoints(CANVAS, keypoints)
    assert tuple(image[5, 5]) == keypoints.point_colors[0][::-1]
    assert tuple(image[10, 15]) == keypoints.point_colors[1][::-1]
    assert not image[5, 25].any()
    ring = D.draw_keypoints(CANVAS, keypoints[:2], scale=2, thickness=1)
    assert not ring[5, 5].any()
    assert ring[5, 9].any()
    listed = D.draw_keypoints_list(CANVAS, D.KeypointsList([keypoints, keypoints.shift(0, 8)]))
    assert_array_equal(listed, D.draw_keypoints(image, keypoints.shift(0, 8)))


def test_detections_have_labels() -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    canvas = np.zeros((60, 100, 3), np.uint8)
    plain = D.draw_box(canvas, [10, 30, 40, 50], RED, 2)
    labelled = D.draw_detection(canvas, [10, 30, 40, 50], "cat", 0.75, RED)
    assert np.count_nonzero((labelled != plain).any(axis=2)) > 100
    assert_array_equal(labelled[31:], plain[31:])
    boxes = D.Boxes([[10, 30, 40, 50], [60, 30, 80, 50]])
    each = D.draw_detections(canvas, boxes, ["cat", "dog"], [0.75, 0.5])
    first = D.draw_detection(canvas, boxes[0], "cat", 0.75)
    assert_array_equal(each, D.draw_detection(first, boxes[1], "dog", 0.5))
    assert D.draw_detection(np.zeros((5, 5), np.uint8), [0, 0, 4, 4], "a long label").any()
    with pytest.raises(ValueError, match="labels must have one entry per box, got 1 for 2"):
        D.draw_detections(canvas, boxes, ["cat"])


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a uint8 array of shape .* got float64 of shape \(2, 2\)"):
        D.draw_box(np.zeros((2, 2)), [0, 0, 1, 1])
    with pytest.raises(TypeError, match="got list"):
        D.draw_box([[0]], [0, 0, 1, 1])


def test_structures_are_prepared() -> None:
    assert D.prepare_box([0, 0, 4, 4], src_mode="XYWH", dst_mode="CXCYWH") == D.Box([2, 2, 4, 4], "CXCYWH")
    assert D.prepare_box(D.Box([0, 0, 4, 4], "CXCYWH")).to_list() == [-2, -2, 2, 2]
    assert D.prepare_boxes([[0, 0, 4, 4]], "XYWH") == D.Boxes([[0, 0, 4, 4]])
    assert D.prepare_polygon([[0, 0], [1, 1], [0, 1]], 3) == D.Polygon([[0, 0], [1, 1], [0, 1]])
    assert len(D.prepare_polygons([[[0, 0], [1, 1], [0, 1]]])) == 1
    with pytest.raises(ValueError, match=r"box\[7\]: a Box has 4 numbers"):
        D.prepare_box([0, 0, 4], 7)
    with pytest.raises(ValueError, match=r"polygon\[1\]: a Polygon must have shape"):
        D.prepare_polygons([[[0, 0]], [[0, 0, 0]]])


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
