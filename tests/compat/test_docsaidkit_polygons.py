"""Polygon and Polygons of DocsaidKit and their functions: upstream's values, and the differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit.compat.docsaidkit as D
from support.capybara import CAPYBARA

DIAMOND, SQUARE = CAPYBARA["polygon"]["diamond"], CAPYBARA["polygon"]["scale_square"]
IRREGULAR = [[3, 1], [20, 5], [17, 19], [9, 12], [1, 14]]


# Values of polygons


def test_values_of_a_polygon() -> None:
    polygon = D.Polygon(DIAMOND["points"])
    for name in ("area", "arclength", "extent", "centroid", "min_box_wh"):
        assert_allclose(getattr(polygon, name), DIAMOND[name], rtol=1e-6)
    assert polygon.boundingbox.to_list() == DIAMOND["boundingbox_upstream_test"]
    assert polygon.boundingbox.box_mode is D.BoxMode.XYWH
    assert polygon.shift(2, 3).boundingbox.to_list() == [2, 3, 10, 10]
    (centre, radius), (expected_centre, expected_radius) = polygon.min_circle, DIAMOND["min_circle"]
    assert_allclose([*centre, radius], [*expected_centre, expected_radius])
    assert polygon.orientation == pytest.approx(DIAMOND["orientation_upstream"])
    assert polygon.solidity == 1
    case = CAPYBARA["polygon"]["to_box"]
    assert D.Polygon(case["points"]).to_box().to_list() == case["xyxy"]
    assert D.Polygon(case["points"]).to_box("XYWH").to_list() == [10, 7, 13, 16]


def test_a_polygon_grows_point_by_point() -> None:
    pytest.importorskip("shapely", reason="Shapely is not installed")
    square = D.Polygon(SQUARE["points"])
    assert_allclose(square.scale(SQUARE["distance"]).numpy(), SQUARE["expected"])
    assert_allclose(square.scale(-1).scale(1).numpy(), SQUARE["points"])
    assert square.scale(-5).is_empty()
    assert len(square.scale(-5)) == 0
    for style in D.JOIN_STYLE:
        assert len(square.scale(2, join_style=style)) == 4
    assert [style.value for style in D.JOIN_STYLE] == [1, 2, 3]
    assert D.Polygons([square, square]).scale(1) == D.Polygons([SQUARE["expected"]] * 2)
    assert D.Polygons([square, square.scale(6)]).scale(-5.5).to_list() == [square.scale(0.5).to_list()]
    with pytest.raises(ValueError, match="at least 3 points to grow, got 2"):
        D.Polygon([[0, 0], [1, 1]]).scale(3)


@pytest.mark.parametrize("array", [[[1, 2]], [1, 2], np.array([[[1, 2]]]), (1.0, 2.0), D.Polygon([1, 2])])
def test_shapes_of_points(array: Any) -> None:
    polygon = D.Polygon(array)
    assert polygon.to_list() == [[1, 2]]
    assert polygon.numpy().dtype == np.float32
    assert polygon.to_list(flatten=True) == polygon.tolist(flatten=True) == [1, 2]
    assert polygon.is_empty()
    assert not polygon.is_empty(threshold=1)
    assert polygon.area == 0


def test_few_points_have_no_area() -> None:
    line = D.Polygon([[0, 0], [3, 4]])
    assert (line.area, line.arclength) == (0, 10)
    assert line.to_box().to_list() == [0, 0, 3, 4]
    assert line.min_circle == ((1.5, 2), 2.5)
    assert set(line.moments.values()) == {0}
    nothing = D.Polygon([])
    assert len(nothing) == 0
    assert nothing.area == nothing.arclength == 0
    assert np.isnan(nothing.centroid).all()
    assert math.isnan(nothing.min_circle[0][0])
    with pytest.raises(ValueError, match="no points and hence no bounding box"):
        nothing.to_box()


def test_methods_of_a_polygon() -> None:
    polygon = D.Polygon(IRREGULAR)
    assert_allclose(polygon.shift(1, -2).numpy(), np.add(IRREGULAR, [1, -2]))
    assert_allclose(polygon.clip(2, 3, 18, 15).numpy(), np.clip(IRREGULAR, [2, 3], [18, 15]))
    assert_allclose(polygon.normalize(100, 50).numpy(), np.array(IRREGULAR) / [100, 50], rtol=1e-6)
    assert polygon.normalize(100, 50).denormalize(100, 50) == polygon
    assert polygon.copy() == polygon
    assert polygon != D.Polygon(IRREGULAR[:4])
    assert_array_equal(polygon[1], [20, 5])
    assert polygon.to_convexhull().to_list() == [row for row in IRREGULAR if row != [9, 12]]
    corners = polygon.to_min_boxpoints()
    assert corners.area == pytest.approx(math.prod(polygon.min_box_wh), rel=1e-5)
    assert 0 < polygon.solidity < 1
    assert repr(D.Polygon([[0, 1]], True)) == "Polygon([[0. 1.]])"
    assert repr(D.Polygons([[[0, 1]]])) == "Polygons([Polygon([[0. 1.]])])"
    with pytest.raises(TypeError, match="unhashable"):
        hash(polygon)


def test_opencv_measures_the_same() -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    rng = np.random.default_rng(4)
    # Of each, one smallest rectangle alone: around a triangle two or three have the same area, and either is right.
    for points in (
        np.array(IRREGULAR),
        rng.uniform(0, 50, (9, 2)),
        rng.uniform(0, 9, (12, 2)),
        np.array(IRREGULAR)[::-1],
    ):
        array = points.astype(np.float32)
        polygon = D.Polygon(array)
        expected = cv2.moments(array)
        assert polygon.moments.keys() == expected.keys()
        for name, value in expected.items():
            assert polygon.moments[name] == pytest.approx(value, rel=1e-6, abs=1e-9 * expected["m00"]), name
        (x, y), radius = cv2.minEnclosingCircle(array)
        assert_allclose([*polygon.min_circle[0], polygon.min_circle[1]], [x, y, radius], rtol=1e-4)
        assert polygon.arclength == pytest.approx(cv2.arcLength(array, True), rel=1e-5)
        assert polygon.area == pytest.approx(cv2.contourArea(array), rel=1e-5)
        _, sides, degrees = cv2.minAreaRect(array)
        assert sorted(polygon.min_box_wh) == pytest.approx(sorted(sides), rel=1e-4)
        assert polygon.min_box[2] % 90 == pytest.approx(degrees % 90, abs=1e-2)


def test_min_box_has_an_angle_within_90_degrees() -> None:
    flat = D.Polygon([[0, 0], [4, 0], [4, 2], [0, 2]])
    assert flat.min_box == ((2, 1), (2, 4), 90)
    assert flat.orientation == 90  # the angle of min_box, as upstream
    turn = np.radians(np.arange(5, 180, 10))
    for angle in turn:
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        _, (width, height), degrees = D.Polygon([4 * along, 4 * along + across, across, [0, 0]]).min_box
        assert 0 < degrees <= 90
        first, second = (width, height), (4, 1) if np.degrees(angle) <= 90 else (1, 4)
        assert first == pytest.approx(second, rel=1e-4)
        assert degrees == pytest.approx(np.degrees(angle) % 90, abs=1e-3)


# Mended


def test_a_point_without_a_corner_moves_to_the_corner_next_to_it() -> None:
    """Upstream leaves such a point at (0, 0)."""
    pytest.importorskip("shapely", reason="Shapely is not installed")
    needle = D.Polygon(np.array([[10, 10], [40, 10], [40, 11], [12, 10.5], [10, 30]]))
    corners = needle.scale(-0.4).numpy()
    assert len(corners) == 5
    assert (corners >= 10).all()
    crossed = D.Polygon([[0, 0], [10, 10], [10, 0], [0, 10]])  # upstream grows what crosses itself, too
    assert len(crossed.scale(1)) == 4


def test_of_boxes_with_one_area_one_is_taken() -> None:
    """All boxes along the sides of a triangle are equally small; rounding decides upstream."""
    triangle = D.Polygon([[18.97, 16.34], [28.52, 32.65], [9.07, 23.48]])
    (_, _), (width, height), degrees = triangle.min_box
    assert width * height == pytest.approx(2 * triangle.area)
    assert 0 < degrees <= 90
    assert triangle.to_min_boxpoints().area == pytest.approx(2 * triangle.area, rel=1e-5)


def test_corners_of_a_hull_begin_where_opencv_begins() -> None:
    corners = [[0, 4], [2, 0], [9, 3], [5, 8]]
    for shift in range(4):  # in the order of the hull, the first point comes first
        turned = corners[shift:] + corners[:shift]
        assert D.Polygon(turned).to_convexhull().to_list() == turned
        assert D.Polygon(turned[::-1]).to_convexhull().to_list() == turned  # in the opposite order, the last point
    mixed = [corners[0], corners[2], corners[1], corners[3]]  # else the one with the largest x
    assert D.Polygon(mixed).to_convexhull().to_list() == [[9, 3], [5, 8], [0, 4], [2, 0]]
    line = D.Polygon([[1, 2], [3, 4], [5, 6]])
    assert line.to_convexhull().to_list() == [[5, 6], [1, 2]]
    assert D.Polygon([[1, 2], [1, 2]]).to_convexhull().to_list() == [[1, 2]]
    assert D.Polygon([]).to_convexhull().to_list() == []


def test_normalized_corners_keep_their_digits() -> None:
    small = D.Polygon(np.array([[10, 7], [10, 23], [23, 20], [20, 7]]) / 65536, is_normalized=True)
    assert_allclose(small.to_min_boxpoints().numpy() * 65536, [[10, 7], [23, 7], [23, 23], [10, 23]], atol=0.01)


def test_the_unit_of_a_polygon_is_kept() -> None:
    pytest.importorskip("shapely", reason="Shapely is not installed")
    polygon = D.Polygon(np.array(SQUARE["points"]) / 100, is_normalized=True)
    for one in (
        polygon.copy(), polygon.shift(0.1, 0), polygon.clip(0, 0, 0.1, 1), polygon.scale(0.01), polygon.to_convexhull(),
        polygon.to_min_boxpoints(), polygon.to_box(), polygon.boundingbox, D.Polygon(polygon), D.Polygons([polygon]),
        D.Polygons([polygon]).shift(1, 1), D.Polygons([polygon])[:0], D.Polygons([polygon]).drop_empty(9),
        D.Polygons([polygon]).to_boxes(), D.Box([0, 0, 1, 1], normalized=True).to_polygon(),
        D.Boxes([[0, 0, 1, 1]], normalized=True).to_polygons(),
    ):  # fmt: skip
        assert one.is_normalized
        assert one.normalized
    with pytest.raises(ValueError, match="already normalized"):
        polygon.normalize(2, 2)
    with pytest.raises(ValueError, match="not normalized"):
        polygon.denormalize(2, 2).denormalize(2, 2)
    with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
        D.Polygons([polygon, D.Polygon(SQUARE["points"])])
    assert_allclose(polygon.boundingbox.numpy(), [0.1, 0.1, 0.1, 0.1], rtol=1e-6)


def test_centroid_and_solidity_are_exact() -> None:
    polygon = D.Polygon(DIAMOND["points"]).shift(1e3, 0)
    assert polygon.centroid.tolist() == [1005, 5]
    assert polygon.solidity == 1


# Polygons


def test_polygons() -> None:
    polygons = D.Polygons([DIAMOND["points"], D.Polygon(IRREGULAR), [[0, 0]]])
    assert len(polygons) == 3
    assert polygons.is_empty().tolist() == [False, False, True]
    assert polygons[polygons.area > 60] == polygons[1:2]
    assert polygons[~polygons.is_empty()] == polygons[:2]
    assert polygons.drop_empty() == D.Polygons([DIAMOND["points"], IRREGULAR])
    kept = polygons.drop_empty()
    for name in ("moments", "min_circle", "min_box"):
        assert getattr(kept, name) == [getattr(polygon, name) for polygon in kept], name
    shapes: dict[str, tuple[int, ...]] = {"centroid": (2,), "min_box_wh": (2,), "boundingbox": (4,)}
    for name in ("area", "arclength", "centroid", "boundingbox", "min_box_wh", "orientation", "extent", "solidity"):
        measured, expected = getattr(kept, name), [getattr(polygon, name) for polygon in kept]
        assert_array_equal(measured, [list(one) for one in expected] if name in shapes else expected)
        assert measured.shape == (2, *shapes.get(name, ()))
        assert measured.dtype == np.float64
        assert getattr(polygons[:0], name).shape == (0, *shapes.get(name, ()))
    assert polygons[:0].is_empty().tolist() == []
    assert polygons[:0].is_empty().dtype == np.bool_
    assert kept.to_boxes() == D.Boxes([[0, 0, 10, 10], [1, 1, 20, 19]])
    assert kept.to_boxes("XYWH").box_mode is D.BoxMode.XYWH
    calls: list[Any] = [
        lambda p: p.copy(), lambda p: p.normalize(10, 10), lambda p: p.shift(1, 2), lambda p: p.clip(1, 1, 9, 9),
        lambda p: p.to_convexhull(), lambda p: p.to_min_boxpoints(), lambda p: p.normalize(3, 4).denormalize(3, 4),
    ]  # fmt: skip
    for call in calls:
        assert call(kept).to_list() == [call(polygon).to_list() for polygon in kept]
    assert D.Polygons.cat([kept, polygons]).to_list() == kept.to_list() + polygons.to_list()
    assert len(D.Polygons([])) == 0


def test_polygons_as_numbers() -> None:
    square, diamond = SQUARE["points"], DIAMOND["points"]
    same, ragged = D.Polygons([square, diamond]), D.Polygons([square, IRREGULAR])
    assert same.numpy().shape == (2, 4, 2)
    assert same.numpy(flatten=True).shape == (2, 8)
    assert ragged.numpy().shape == (2,)
    assert ragged.numpy()[1].tolist() == IRREGULAR
    assert same.to_list() == same.tolist() == [square, diamond]
    assert D.Polygons(np.array([square, diamond])) == same


def test_polygons_are_selected() -> None:
    polygons = D.Polygons([[[k, 0], [k + 1, 0], [k, 1]] for k in range(3)])
    for index in (1, -2, np.int64(1)):
        assert isinstance(polygons[index], D.Polygon)
        assert polygons[index].to_list()[0] == [1, 0]
    for rows in (slice(1, 3), [1, 2], np.array([1, 2]), [False, True, True], np.array([False, True, True])):
        assert polygons[rows] == D.Polygons([polygons[1], polygons[2]])
    assert len(polygons[[]]) == 0


def test_contours_of_an_image() -> None:
    pytest.importorskip("cv2", reason="OpenCV is not installed")
    image = np.zeros((20, 30), np.uint8)
    image[2:6, 3:9], image[10:15, 20:28] = 255, 255
    boxes = D.Polygons.from_image(image).to_boxes().to_list()
    assert sorted(boxes) == [[3, 2, 8, 5], [20, 10, 27, 14]]
    image[18, 1] = 255  # the contour of a single pixel is a point
    assert len(D.Polygons.from_image(image)) == 2
    with pytest.raises(TypeError, match="image must be a NumPy array, got str"):
        D.Polygons.from_image("image")  # type: ignore[arg-type]


# Overlap


@pytest.mark.parametrize("name", ["squares", "disjoint"])
def test_values_of_polygon_iou(name: str) -> None:
    case = CAPYBARA["polygon_iou"][name]
    assert D.polygon_iou(D.Polygon(case["a"]), D.Polygon(case["b"])) == pytest.approx(case["polygon_iou"])


def test_polygons_that_cross_themselves_count_by_what_they_enclose() -> None:
    pytest.importorskip("shapely", reason="Shapely is not installed")
    case = CAPYBARA["polygon_iou"]["bowtie"]
    assert case["capybara"] == 0
    bow, square = D.Polygon(case["a"]), D.Polygon(case["b"])
    assert D.polygon_iou(bow, square) == D.polygon_iou(square, bow) == pytest.approx(0.5)
    assert D.polygon_iou(bow, bow) == 1


def test_polygons_without_area_overlap_nothing() -> None:
    pytest.importorskip("shapely", reason="Shapely is not installed")
    point = D.Polygon(CAPYBARA["polygon_iou"]["degenerate"]["a"])
    assert D.polygon_iou(point, point) == 0
    assert D.polygon_iou(D.Polygon([]), D.Polygon(SQUARE["points"])) == 0


@pytest.mark.parametrize("case", CAPYBARA["jaccard_index"])
def test_values_of_the_document_index(case: dict[str, Any]) -> None:
    for kind in (np.array, D.Polygon):
        found = D.jaccard_index(kind(case["pred"]), kind(case["gt"]), image_size=case["image_size"])
        assert found == pytest.approx(case["jaccard"], abs=1e-6)
    if "polygon_iou" in case:
        assert D.polygon_iou(D.Polygon(case["pred"]), D.Polygon(case["gt"])) == pytest.approx(case["polygon_iou"])


def test_a_page_that_is_not_found_scores_0_and_a_bad_truth_is_an_error() -> None:
    page = [[4, 0], [6, 0], [10, 10], [0, 10]]
    crossed = [page[0], page[2], page[1], page[3]]
    behind = [[0, -5], [10, -5], [10, 10], [0, 10]]  # the sides of the page meet at y = -2.5
    for found in (crossed, behind, [[1, 1]] * 4):
        assert D.jaccard_index(found, page, (100, 100)) == 0
    for truth in (crossed, [[1, 1]] * 4):
        with pytest.raises(ValueError, match="gt must be a convex quadrilateral"):
            D.jaccard_index(page, truth, (100, 100))


def test_units_do_not_mix() -> None:
    absolute, relative = D.Polygon(DIAMOND["points"]), D.Polygon(DIAMOND["points"], normalized=True)
    for call in (
        lambda: D.polygon_iou(absolute, relative),
        lambda: D.jaccard_index(absolute, relative, (9, 9)),
        lambda: D.poly_angle(absolute, relative),
        lambda: D.is_inside_box(relative, D.Box([0, 0, 9, 9])),
        lambda: D.Polygons.cat([D.Polygons([absolute]), D.Polygons([relative])]),
    ):
        with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
            call()


# Points and angles


@pytest.mark.parametrize("case", CAPYBARA["calc_angle"])
def test_angles(case: dict[str, Any]) -> None:
    assert D.calc_angle(case["v1"], np.array(case["v2"])) == pytest.approx(case["deg"])


def test_angles_of_quadrilaterals() -> None:
    square = D.Polygon([[0, 0], [10, 0], [10, 10], [0, 10]])
    turned = D.Polygon(DIAMOND["points"])  # begins at its top: the upright square by 45 degrees, clockwise
    assert D.poly_angle(square) == 0
    assert D.poly_angle(square, base_vector=(1, 0)) == 270
    assert D.poly_angle(square, turned) == pytest.approx(45)
    assert D.poly_angle(turned, square) == pytest.approx(315)
    assert math.isnan(D.calc_angle((0, 0), (1, 0)))
    assert 0 <= D.calc_angle((1, 0), (1, -1e-300)) < 360
    with pytest.raises(ValueError, match="poly1 must have 4 points, got 1"):
        D.poly_angle(D.Polygon([0, 0]))


@pytest.mark.parametrize("case", CAPYBARA["order_points_clockwise"])
def test_order_of_points(case: dict[str, Any]) -> None:
    for points in (np.array(case["points"], float), np.array(case["points"], float)[[2, 0, 3, 1]]):
        assert_array_equal(D.order_points_clockwise(points), case["order"])
        first, second, third, fourth = case["order"]
        assert_array_equal(D.order_points_clockwise(points, inverse=True), [first, fourth, third, second])


def test_points_in_a_box() -> None:
    box = D.Box([0, 0, 4, 4], "XYWH")
    assert D.is_inside_box(np.array([[0, 0], [4, 4], [2, 1]]), box)
    assert not D.is_inside_box(np.array([[0, 0], [4.1, 4]]), box)
    assert D.is_inside_box(D.Polygon([[0, 0], [4, 0], [1, 4]]), box)
    assert D.is_inside_box(D.Keypoints([[0, 0, 2], [4, 0, 0]]), box)
    assert D.is_inside_box(D.Box([1, 1, 4, 4]), box)
    assert not D.is_inside_box(D.Box([1, 1, 4, 4], "XYWH"), box)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: D.Polygon([[0, 0], [1]]), TypeError, "polygon must be a regular array of numbers"),
        (lambda: D.Polygon([]).is_empty("3"), TypeError, 'expected "int", got "str"'),  # type: ignore[arg-type]
        (lambda: D.Polygon([[0, np.nan]] * 3).clip(0, 0, 1, 1), ValueError, "finite"),
        (lambda: D.Polygon([[0, np.inf]] * 3).scale(1), ValueError, "finite"),
        (lambda: D.Polygons("12"), TypeError, "polygons must be Polygons, a list or an array, got str"),
        (lambda: D.Polygons.cat("ab"), TypeError, "should be a list of Polygons, got str"),  # type: ignore[arg-type]
        (lambda: D.Polygon([[1, 2, 3]]), TypeError, r"must have shape \(K, 2\), .* got \(1, 3\)"),
        (lambda: D.Polygon("12"), TypeError, "got str"),
        (lambda: D.Polygon([[0, np.nan]] * 3).area, ValueError, "finite"),
        (lambda: D.Polygon(IRREGULAR).clip(1, 0, 0, 1), ValueError, "xmin <= xmax"),
        (lambda: D.Polygons.cat([]), ValueError, "at least one Polygons"),
        (lambda: D.Polygons.cat([1]), TypeError, r"polygons_list\[0\] must be Polygons, got int"),  # type: ignore[list-item]
        (lambda: D.Polygons([], normalized=True).normalize(1, 1), ValueError, "already normalized"),
        (lambda: D.Polygons([]).denormalize(1, 1), ValueError, "not normalized"),
        (lambda: D.polygon_iou(D.Polygon([]), []), TypeError, "poly2 must be Polygon of .*, got list"),  # type: ignore[arg-type]
        (lambda: D.jaccard_index(SQUARE["points"], IRREGULAR, (9, 9)), ValueError, "gt_poly must have 4 points, got 5"),
        (lambda: D.jaccard_index(SQUARE["points"], SQUARE["points"], None), ValueError, "the image size must be"),
        (lambda: D.jaccard_index([[np.nan, 0]] * 4, SQUARE["points"], (9, 9)), ValueError, "finite"),
        (lambda: D.order_points_clockwise([[0, 0]]), ValueError, r"pts must have shape \(4, 2\), got \(1, 2\)"),
    ],
)
def test_errors(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()
