"""Losses of rotated boxes on NumPy, against Shapely and published formulas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

import ioukit
from ioukit import losses
from ioukit.overlap.rotated import RotatedPairs
from support.losses_cases import ROTATED, adversarial_rotated

ANY: Any = losses  # to be called with what its types forbid
DATA = Path(__file__).parents[1] / "data" / "losses"
GAUSSIAN = json.loads((DATA / "gaussian_rotated.json").read_text())["rows"]
EXACT = [
    case
    for case in json.loads((DATA / "rotated_iou.json").read_text())["cases"]
    if {"a", "b", "shapely_f64", "angle_unit"} <= case.keys() and len(case["a"]) == 5 and "iou" in case["shapely_f64"]
]


def random_boxes(count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.uniform(0, 10, (count, 2)), rng.uniform(0.1, 10, (count, 2)), rng.uniform(-7, 7, (count, 1))], axis=1
    )


def polygon(box: Any) -> Any:
    shapely = pytest.importorskip("shapely", reason="shapely is not installed")
    x, y, width, height, angle = box
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    return shapely.Polygon([np.array([x, y]) + (s * width * along + t * height * across) / 2 for s, t in signs])


@pytest.mark.parametrize("row", GAUSSIAN, ids=lambda row: f"{row['pred']}-{row['target']}")
def test_published_formulas(row: dict[str, Any]) -> None:
    pair = np.array(row["pred"], float), np.array(row["target"], float)
    assert_allclose(1 - losses.probiou_loss(*pair), row["probiou"], atol=2e-8)  # see SOURCES.md
    assert_allclose(losses.probiou_loss(*pair, mode="l2"), row["bhattacharyya"], rtol=1e-9, atol=1e-15)
    assert_allclose(1 - losses.kfiou_loss(*pair), row["kfiou"], rtol=1e-9)
    assert_allclose(1 - losses.rotated_iou_loss(*pair), row["exact_rotated_iou"], atol=1e-9)


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case["id"])
def test_exact_overlap_of_bug_reports(case: dict[str, Any]) -> None:
    sense: Any = "counterclockwise" if case["angle_sense"].startswith("ccw") else "clockwise"
    unit: Any = {"deg": "degrees", "rad": "radians"}[case["angle_unit"]]
    pair = np.array(case["a"], float), np.array(case["b"], float)
    found = 1 - losses.rotated_iou_loss(*pair, unit=unit, sense=sense)
    assert_allclose(found, case["shapely_f64"]["iou"], atol=1e-9)


def test_there_are_cases() -> None:
    assert len(EXACT) > 15


def test_exact_overlap_is_shapelys() -> None:
    a, b = random_boxes(400, 0), random_boxes(400, 1)
    b[:50], b[50:100], b[100:150] = a[:50], a[50:100], a[100:150]  # equal, turned by a right angle, nearly equal
    b[50:100, 4] += np.pi / 2
    b[100:150] *= 1 + 1e-9
    shapes = [(polygon(x), polygon(y)) for x, y in zip(a, b, strict=True)]
    expected = np.array([x.intersection(y).area / (x.area + y.area - x.intersection(y).area) for x, y in shapes])
    assert_allclose(1 - losses.rotated_iou_loss(a, b), expected, atol=1e-12)
    assert_allclose(1 - losses.rotated_iou_loss(a.astype("f4"), b.astype("f4")), expected, atol=2e-6)


def test_upright_boxes_are_the_special_case() -> None:
    a, b = random_boxes(200, 2), random_boxes(200, 3)
    a[:, 4] = b[:, 4] = 0
    corners = [np.concatenate([x[:, :2] - x[:, 2:4] / 2, x[:, :2] + x[:, 2:4] / 2], axis=1) for x in (a, b)]
    for mode in ("linear", "log", "square"):
        assert_allclose(
            losses.rotated_iou_loss(a, b, mode=mode), losses.iou_loss(*corners, mode=mode), rtol=1e-10, atol=1e-12
        )


def test_what_gaussians_do_not_see() -> None:
    square, turned = np.array([5.0, 5, 4, 4, 0]), np.array([5.0, 5, 4, 4, np.pi / 4])
    assert_allclose(losses.probiou_loss(square, turned), 0, atol=1e-15)
    assert_allclose(losses.kfiou_loss(square, turned), 2 / 3)
    assert_allclose(1 - losses.rotated_iou_loss(square, turned), np.sqrt(0.5))
    assert losses.kfiou_loss(square, square + np.array([100, 0, 0, 0, 0])) == losses.kfiou_loss(square, square)


def gaussian(box: Any) -> tuple[Any, Any]:
    """The mean of a box, and its covariance with half sides as standard deviations."""
    cos, sin = np.cos(box[4]), np.sin(box[4])
    turn = np.array([[cos, -sin], [sin, cos]])
    return box[:2], turn @ np.diag(box[2:4] ** 2 / 4) @ turn.T


def root(matrix: Any) -> Any:
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def test_distances_of_gaussians_by_matrices() -> None:
    """The formulas of the papers, as they stand there."""
    a, b = random_boxes(200, 10), random_boxes(200, 11)
    squares, divergences = [], []
    for (m1, s1), (m2, s2) in zip(map(gaussian, a), map(gaussian, b), strict=True):
        squares.append((m1 - m2) @ (m1 - m2) + np.trace(s1 + s2 - 2 * root(root(s1) @ s2 @ root(s1))))
        inverse = np.linalg.inv(s2)
        logs = np.log(np.linalg.det(s2) / np.linalg.det(s1))
        divergences.append(((m1 - m2) @ inverse @ (m1 - m2) + np.trace(inverse @ s1) + logs) / 2 - 1)
    for loss, distance in ((losses.gwd_loss, np.array(squares)), (losses.kld_loss, np.array(divergences))):
        assert_allclose(loss(a, b), 1 - 1 / (1 + np.log1p(distance)), rtol=1e-9)
        assert_allclose(loss(a, b, function="sqrt", tau=3), 1 - 1 / (3 + np.sqrt(distance)), rtol=1e-9)
        nearly = a * (1 + 1e-9)
        assert_allclose(loss(a, a), 0, atol=1e-15)
        assert_allclose(loss(nearly, a), 0, atol=1e-13)
        turned = a[:, [0, 1, 3, 2, 4]] + [0, 0, 0, 0, np.pi / 2]
        assert_allclose(loss(turned.astype("f4"), a.astype("f4")), 0, atol=3e-5)
        empty = a * [1, 1, 0, 1, 1]
        assert (loss(empty, b) == 1).all()


def test_targets_broadcast_and_means_have_another_divisor() -> None:
    a, b = random_boxes(6, 12).reshape(2, 3, 5), random_boxes(3, 13)
    for loss in ROTATED.values():
        each = loss(a, b)
        assert_allclose(each, loss(a, np.stack([b, b])))
        assert_allclose(loss(a, b, weight=[1, 0, 2]), each * [1, 0, 2])
        assert_allclose(loss(a, b, reduction="mean", avg_factor=4), each.sum() / 4)


@pytest.mark.parametrize("name", ROTATED)
def test_laws(name: str) -> None:
    a, b = random_boxes(200, 4), random_boxes(200, 5)
    loss = ROTATED[name]
    expected = loss(a, b)
    if not name.startswith("kld"):
        assert_allclose(loss(b, a), expected, atol=1e-12, err_msg="symmetric")
    swapped = a[:, [0, 1, 3, 2, 4]] + [0, 0, 0, 0, np.pi / 2]
    assert_allclose(loss(swapped, b), expected, atol=1e-12, err_msg="the same box with its sides swapped")
    if not name.startswith("gwd"):
        scaled = [boxes * [8, 8, 8, 8, 1] for boxes in (a, b)]
        assert_allclose(loss(*scaled), expected, rtol=1e-12, atol=1e-13, err_msg="scale")
    degrees, other = (x * [1, 1, 1, 1, -180 / np.pi] for x in (a, b))
    found = loss(degrees, other, unit="degrees", sense="counterclockwise")
    assert_allclose(found, expected, atol=1e-12)
    found = loss(strict.asarray(a), strict.asarray(b))
    assert_allclose(np.from_dlpack(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_finite_for_all_boxes(name: str, dtype: Any) -> None:
    pred, target = adversarial_rotated(100_000, dtype)
    found = ROTATED[name](pred, target)
    assert found.dtype == dtype
    assert np.isfinite(found).all()
    if name not in ("rotated_iou_log", "probiou_l2"):
        assert found.min() >= -1e-5
        assert found.max() <= 1


def test_pairwise() -> None:
    import array_api_compat.numpy as xp  # noqa: PLC0415 - only a namespace

    a, b = random_boxes(7, 6), random_boxes(5, 7)
    pairs = RotatedPairs(xp, a, b, pairwise=True)
    rows, columns = np.repeat(a, 5, axis=0), np.tile(b, (7, 1))
    assert_allclose(pairs.iou().ravel(), 1 - losses.rotated_iou_loss(rows, columns), atol=1e-14)
    assert_allclose(pairs.kfiou().ravel(), 1 - losses.kfiou_loss(rows, columns))


def test_sets_of_rotated_boxes_know_their_angles() -> None:
    a, b = random_boxes(3, 8), random_boxes(3, 9)
    sets = [ioukit.RotatedBoxes(x, unit="radians", sense="clockwise").convert(unit="degrees") for x in (a, b)]
    for loss in (losses.rotated_iou_loss, losses.probiou_loss, losses.kfiou_loss):
        assert_allclose(loss(*sets), loss(a, b), rtol=1e-9, atol=1e-12)
    with pytest.raises(TypeError, match="target must be rotated boxes, got Boxes"):
        losses.kfiou_loss(a, ioukit.Boxes([[0, 0, 1, 1]]))


def test_reduction_and_weight() -> None:
    a, b = random_boxes(3, 8), random_boxes(3, 9)
    each, weight = losses.probiou_loss(a, b), np.array([1.0, 0, 2])
    assert_allclose(losses.probiou_loss(a, b, reduction="mean"), each.mean())
    assert_allclose(losses.probiou_loss(a, b, reduction="mean", weight=weight), each @ weight / 3)
    assert losses.rotated_iou_loss(a[:0], b[:0], reduction="mean") == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: ANY.rotated_iou_loss(a, a, mode="cubic"), ValueError, "unknown mode 'cubic'; choose from linear"),
        (lambda a: ANY.probiou_loss(a, a, mode="l3"), ValueError, "unknown mode 'l3'; choose from l1, l2"),
        (lambda a: ANY.kfiou_loss(a, a, unit="turns"), ValueError, "unknown unit 'turns'; choose from radians"),
        (lambda a: ANY.kfiou_loss(a, a, sense="left"), ValueError, "unknown sense 'left'; choose from clockwise"),
        (lambda a: ANY.kfiou_loss(a[:, :4], a), ValueError, r"pred must have shape \(..., 5\), got \(4, 4\)"),
        (lambda a: ANY.kfiou_loss(a, a[:2]), ValueError, r"target must broadcast to pred, got shapes \(2, 5\)"),
        (lambda a: ANY.gwd_loss(a, a, function="cbrt"), ValueError, "unknown function 'cbrt'; choose from log, sqrt"),
        (lambda a: ANY.kld_loss(a, a, tau=0.5), ValueError, "tau must be finite and at least 1, got 0.5"),
        (lambda a: ANY.kfiou_loss(a, strict.asarray(a)), TypeError, "must come from one library"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(random_boxes(4, 0))
