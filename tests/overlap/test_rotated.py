"""Overlaps of rotated boxes: values of other projects, exact values, laws (sources: tests/data/rotated/SOURCES.md)."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes, RotatedBoxes, elementwise_intersection, elementwise_iou, pairwise_intersection, pairwise_iou
from support.paths import DATA
from support.rotated_pairs import KINDS, exact_intersection, exact_ring, make_pairs
from support.strategies import grid_boxes

if TYPE_CHECKING:
    from ioukit.typing import FloatArray

CASES = json.loads((DATA / "rotated" / "rotated_iou.json").read_text())
PAIRS = json.loads((DATA / "rotated" / "box_pairs.json").read_text())["pairs"]
MEASURES = ["intersection", "iou", "ioa", "iom", "jaccard_distance", "tiou"]


def clockwise(rows: Any) -> RotatedBoxes:
    return RotatedBoxes(np.array(rows, np.float64).reshape(-1, 5), unit="degrees", sense="clockwise")


def of_case(row: list[float], case: dict[str, Any]) -> RotatedBoxes:
    unit = {"deg": "degrees", "rad": "radians"}[case["angle_unit"]]
    sense = "counterclockwise" if case["angle_sense"].startswith("ccw") else "clockwise"
    return RotatedBoxes(row, unit=unit, sense=sense)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["id"])
def test_pairs_of_other_projects(case: dict[str, Any]) -> None:
    a, b = of_case(case["a"], case), of_case(case["b"], case)
    shared, iou = pairwise_intersection(a, b).item(), pairwise_iou(a, b).item()
    wanted = case["shapely_f64"]
    assert_allclose(shared, wanted["inter"], rtol=1e-9, atol=1e-9)
    assert_allclose(iou, wanted["iou"], rtol=1e-9, atol=1e-9)
    assert_allclose(ioukit.pairwise_ioa(a, b, of="first").item(), wanted["inter_over_area_a"], rtol=1e-9, atol=1e-9)
    if "upstream_expected_iou" in case:
        assert_allclose(iou, case["upstream_expected_iou"], rtol=0, atol=case["upstream_atol"])
    if "upstream_expected_inter" in case:
        assert_allclose(shared, case["upstream_expected_inter"], rtol=0, atol=case["upstream_atol"])


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_pairs_computed_to_sixty_digits(pair: dict[str, Any]) -> None:
    a, b = clockwise(pair["a"]), clockwise(pair["b"])
    smaller = min(a.area.item(), b.area.item())
    assert_allclose(pairwise_intersection(a, b).item(), pair["intersection"], rtol=0, atol=4e-15 * smaller)
    assert_allclose(pairwise_iou(a, b).item(), pair["iou"], rtol=0, atol=4e-15)
    # The corners are those of the file; the first one may differ.
    assert_allclose(a.corners()[0], pair["corners_a"], rtol=1e-14, atol=1e-13 * abs(np.array(pair["a"])).max())


def test_mmcv_reads_clockwise_radians() -> None:
    table = CASES["tables"][0]
    a, b = (RotatedBoxes(table[name], unit="radians", sense="clockwise") for name in ("boxes1", "boxes2"))
    assert_allclose(pairwise_iou(a, b), table["upstream_iou"], atol=table["upstream_atol"])
    assert_allclose(pairwise_iou(a, b), table["shapely_f64_iou"], rtol=1e-12, atol=1e-15)
    assert_allclose(elementwise_iou(a, b), table["upstream_aligned_iou"], atol=table["upstream_atol"])
    assert_allclose(
        ioukit.pairwise_ioa(a, b, of="first"), table["upstream_iof_over_boxes1"], atol=table["upstream_atol"]
    )
    assert_allclose(
        ioukit.elementwise_ioa(a, b, of="first"), table["upstream_aligned_iof"], atol=table["upstream_atol"]
    )
    other = (RotatedBoxes(table[name], unit="radians", sense="counterclockwise") for name in ("boxes1", "boxes2"))
    assert_allclose(pairwise_iou(*other), table["shapely_f64_iou_if_read_as_ccw"], rtol=1e-12, atol=1e-15)


def test_difference_the_sense_of_detectron2() -> None:
    """Detectron2's issues 1207 and 4961: counterclockwise angles read as clockwise are other boxes."""
    rows = [160, 153, 230, 23, -37], [190, 127, 80, 21, -46]
    right = (RotatedBoxes(row, unit="degrees", sense="counterclockwise") for row in rows)
    wrong = (RotatedBoxes(row, unit="degrees", sense="clockwise") for row in rows)
    assert pairwise_iou(*right).item() == 0
    assert_allclose(pairwise_iou(*wrong).item(), 0.2654928967364957, rtol=1e-12)


def test_difference_powerboxes_counts_degrees() -> None:
    powerboxes = pytest.importorskip("powerboxes")
    rows = np.array([[10, 10, 8, 2, 1.2]]), np.array([[10, 10, 8, 2, 0.4]])
    degrees = (RotatedBoxes(row, unit="degrees", sense="clockwise") for row in rows)
    radians = (RotatedBoxes(row, unit="radians", sense="clockwise") for row in rows)
    theirs = 1 - powerboxes.rotated_iou_distance(*rows).item()
    assert_allclose(pairwise_iou(*degrees).item(), theirs, rtol=1e-12)
    assert pairwise_iou(*radians).item() < theirs - 0.3


def test_difference_shapely_takes_touching_boxes_for_equal() -> None:
    """GEOS snaps nearly collinear edges and may then return the wrong polygon."""
    first, second = (clockwise(rows) for rows in make_pairs("shared edges and corners", 20_000))
    a, b = (shapely.polygons(boxes.corners()) for boxes in (first, second))
    ours, theirs = elementwise_intersection(first, second), shapely.area(shapely.intersection(a, b))
    wrong = np.flatnonzero(np.abs(ours - theirs) > 1e-9)
    assert 0 < len(wrong) < 40
    for k in wrong:
        exact = exact_intersection(exact_ring(first.numpy()[k]), exact_ring(second.numpy()[k]))
        assert abs(float(exact) - ours[k]) < 1e-14 * first.area[k]


@pytest.mark.parametrize("kind", KINDS)
def test_exact_arithmetic(kind: str) -> None:
    rows = make_pairs(kind, 60)
    first, second = map(clockwise, rows)
    shared, iou = elementwise_intersection(first, second).tolist(), elementwise_iou(first, second).tolist()
    for k, (a, b) in enumerate(zip(*rows, strict=True)):
        exact = exact_intersection(exact_ring(a), exact_ring(b))
        areas = [Fraction(row[2]) * Fraction(row[3]) for row in (a.tolist(), b.tolist())]
        assert abs(Fraction(shared[k]) - exact) <= Fraction(1e-14) * min(areas)
        assert abs(Fraction(iou[k]) - exact / (sum(areas) - exact)) <= Fraction(2e-15)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith(("far", "shared"))])
def test_shapely(kind: str) -> None:
    """Without the pairs for which Shapely is wrong: far corners are rounded, and the test above."""
    first, second = (clockwise(rows) for rows in make_pairs(kind, 3000))
    a, b = (shapely.polygons(boxes.corners()) for boxes in (first, second))
    shared = shapely.area(shapely.intersection(a, b))
    wanted = shared / (shapely.area(a) + shapely.area(b) - shared)
    assert_allclose(elementwise_iou(first, second), wanted, rtol=0, atol=1e-11)


def test_a_box_is_itself_exactly() -> None:
    first, _ = (clockwise(rows) for rows in make_pairs("identical", 500))
    assert_array_equal(elementwise_iou(first, first), np.ones(500))
    for unit, sense in (("radians", "clockwise"), ("degrees", "counterclockwise")):
        same = RotatedBoxes(first.numpy(), unit=unit, sense=sense)  # type: ignore[arg-type]
        assert_array_equal(np.diag(pairwise_iou(same, same)), np.ones(500))


rotated = st.lists(
    st.tuples(
        st.integers(-50, 50).map(lambda x: x / 4),
        st.floats(-20, 20),
        st.sampled_from([0, 0.25, 1, 2, 8.5]) | st.floats(0, 20),
        st.sampled_from([0, 0.25, 1, 2, 8.5]) | st.floats(0, 20),
        st.sampled_from([0, 30, 45, 90, 135, -90, 180]) | st.floats(-400, 400),
    ),
    max_size=5,
).map(clockwise)


@given(rotated, rotated)
def test_laws(a: RotatedBoxes, b: RotatedBoxes) -> None:
    table, shared = pairwise_iou(a, b), pairwise_intersection(a, b)
    assert table.shape == (len(a), len(b))
    assert table.dtype == np.float64
    assert ((table >= 0) & (table <= 1)).all()
    assert (shared <= np.minimum.outer(a.area, b.area)).all()
    assert_array_equal(table, pairwise_iou(b, a).T)
    assert_array_equal(shared, pairwise_intersection(b, a).T)
    assert_array_equal(table, pairwise_iou(a, b, threads=1))
    # A translation that needs no rounding; another unit; another sense; a quarter turn of everything.
    scale = 1e-12 + 1e-12 * shared
    for one, other in (
        (a.shift(1024, -512), b.shift(1024, -512)),
        (a.convert(unit="radians"), b),
        (a, b.convert(sense="counterclockwise")),
        (a.canonical(), b.canonical("half")),
        (quarter(a), quarter(b)),
    ):
        assert (np.abs(pairwise_intersection(one, other) - shared) <= scale).all()


def quarter(boxes: RotatedBoxes) -> RotatedBoxes:
    """All boxes rotated clockwise about the origin."""
    rows = boxes.numpy()
    rows[:, :2] = np.stack([-rows[:, 1], rows[:, 0]], axis=1)
    rows[:, 4] += 90
    return clockwise(rows)


@given(grid_boxes(np.float64), grid_boxes(np.float64), st.sampled_from([0, 90, 180, -90, 270]))
def test_upright_boxes_agree_with_the_axis_aligned_functions(a: FloatArray, b: FloatArray, turn: float) -> None:
    first, second = Boxes(a, dtype=np.float64), Boxes(b, dtype=np.float64)
    one = RotatedBoxes.from_boxes(first, unit="degrees")
    rows = RotatedBoxes.from_boxes(second, unit="degrees").numpy()
    if turn % 180:
        rows[:, 2:4] = rows[:, [3, 2]]
    rows[:, 4] = turn
    other = RotatedBoxes(rows, unit="degrees", sense="counterclockwise")
    assert other.to_boxes() == second
    for measure in MEASURES:
        function = getattr(ioukit, f"pairwise_{measure}")
        assert_array_equal(function(one, other), function(first, second), strict=True)


@given(st.floats(0, 360), st.floats(-3, 3), st.floats(0.1, 5))
def test_the_parts_of_a_box_share_what_it_shares(angle: float, x: float, width: float) -> None:
    """Two halves, side by side."""
    whole = clockwise([x, 0.5, width, 3, angle])
    step = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))]) * width / 4
    halves = RotatedBoxes.concat([clockwise([x, 0.5, width / 2, 3, angle]).shift(*way) for way in (step, -step)])
    other = clockwise([0, 0, 2, 4, 25])
    assert_allclose(pairwise_intersection(halves, other).sum(), pairwise_intersection(whole, other).item(), atol=1e-12)


@pytest.mark.parametrize("power", [-150, -40, 40, 150])
def test_scale_changes_nothing(power: int) -> None:
    a, b = (clockwise(rows) for rows in make_pairs("random", 100))
    factor = np.array([2.0**power] * 4 + [1])
    scaled = [clockwise(boxes.numpy() * factor) for boxes in (a, b)]
    assert_array_equal(elementwise_iou(*scaled), elementwise_iou(a, b))


def test_touching_boxes_share_nothing() -> None:
    box = clockwise([0, 0, 2, 2, 0])
    others = clockwise([[2, 0, 2, 2, 0], [2, 2, 2, 2, 90], [0, -2, 2, 2, 180], [1 + 2**0.5, 0, 2, 2, 45]])
    assert_array_equal(pairwise_intersection(box, others), np.zeros((1, 4)))


def test_boxes_without_area_and_none_at_all() -> None:
    boxes = clockwise([[0, 0, 2, 2, 30], [0, 0, 0, 2, 30], [0, 0, 0, 0, 0]])
    assert_array_equal(pairwise_iou(boxes, boxes), np.diag([1.0, 0, 0]))
    assert_array_equal(np.diag(ioukit.pairwise_jaccard_distance(boxes, boxes)), [0, 1, 1])
    none = clockwise([])
    assert pairwise_iou(none, boxes).shape == (0, 3)
    assert pairwise_iou(boxes, none).shape == (3, 0)
    assert elementwise_iou(none, none).shape == (0,)


def test_the_layout_of_the_result() -> None:
    """Elementwise and pairwise have the same bits for more pairs than a block, or a part of a thread, has."""
    a, b = (clockwise(rows) for rows in make_pairs("random", 300))
    table = pairwise_iou(a, b, threads=2)
    assert_array_equal(table, np.concatenate([pairwise_iou(one, b, threads=1) for one in a]))
    assert_array_equal(np.diag(table), elementwise_iou(a, b))
    assert_array_equal(ioukit.pairwise_jaccard_distance(a, b), 1 - table)
    assert_array_equal(ioukit.pairwise_tiou(a, b), table * ioukit.pairwise_ioa(a, b, of="first"))
    shared, areas = pairwise_intersection(a, b), (a.area[:, None], b.area[None])
    assert_array_equal(ioukit.pairwise_ioa(a, b), shared / areas[1])
    assert_array_equal(ioukit.pairwise_ioa(a, b, of="first"), shared / areas[0])
    assert_array_equal(ioukit.pairwise_iom(a, b), shared / np.minimum(*areas))


def test_plain_arrays_are_not_guessed() -> None:
    rows = np.zeros((2, 5))
    with pytest.raises(ValueError, match=r"boxes1 must have shape .* passed as RotatedBoxes\(\.\.\., unit=, sense=\)"):
        pairwise_iou(rows, rows)
    with pytest.raises(ValueError, match=r"passed as Boxes3D\(\.\.\., z=, unit=, sense=\)"):
        pairwise_iou(np.zeros((2, 7)), np.zeros((2, 7)))
    with pytest.raises(ValueError, match=r"got \(3, 4, 2\); points of 2 numbers are passed as Polygons\("):
        pairwise_iou(np.zeros((3, 4, 2)), np.zeros((3, 4, 2)))
    with pytest.raises(ValueError, match=r"rows of 4 points are passed as Polygons.from_flat"):
        pairwise_iou(np.zeros((2, 8)), np.zeros((2, 8)))
    with pytest.raises(TypeError, match=r"both sets must be of one kind, got RotatedBoxes and ndarray: convert one"):
        pairwise_iou(clockwise(rows), rows)
    with pytest.raises(TypeError, match="diou is defined for upright boxes; for RotatedBoxes there are intersection"):
        ioukit.pairwise_diou(clockwise(rows), clockwise(rows))
