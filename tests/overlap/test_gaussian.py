"""ProbIoU and KFIoU as measures; their formulas are tested with the losses of rotated boxes."""

from __future__ import annotations

import json
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import Boxes, elementwise_kfiou, elementwise_probiou, pairwise_kfiou, pairwise_probiou
from support.paths import ROOT

ROWS = json.loads((ROOT / "tests" / "data" / "losses" / "gaussian_rotated.json").read_text())["rows"]
PRED, TARGET = (np.array([row[key] for row in ROWS], float) for key in ("pred", "target"))


@pytest.mark.parametrize(
    ("pairwise", "elementwise", "key"),
    [(pairwise_probiou, elementwise_probiou, "probiou"), (pairwise_kfiou, elementwise_kfiou, "kfiou")],
)
def test_published_formulas(pairwise: Any, elementwise: Any, key: str) -> None:
    found = elementwise(PRED, TARGET)
    assert_allclose(found, [row[key] for row in ROWS], atol=2e-8)  # tests/data/losses/SOURCES.md
    assert_allclose(np.diagonal(pairwise(PRED, TARGET)), found, atol=1e-14)
    assert_allclose(pairwise(PRED, TARGET[:3]).T, pairwise(TARGET[:3], PRED), atol=1e-14)
    turned, other = (boxes * [1, 1, 1, 1, -180 / np.pi] for boxes in (PRED, TARGET))
    assert_allclose(elementwise(turned, other, unit="degrees", sense="counterclockwise"), found, atol=1e-14)
    assert_allclose(np.from_dlpack(elementwise(strict.asarray(PRED), strict.asarray(TARGET))), found, atol=1e-14)
    assert elementwise(PRED.tolist(), TARGET.tolist()).dtype == np.float64
    assert pairwise(PRED[:0], TARGET).shape == (0, len(TARGET))
    flat = PRED * [1, 1, 0, 1, 1]
    assert (elementwise(flat, flat) == 0).all()


def test_rotated_boxes_know_their_angles() -> None:
    rotated = pytest.importorskip("ioukit.regions.rotated", reason="there are no rotated boxes yet")
    degrees = PRED * [1, 1, 1, 1, -180 / np.pi]
    pred = rotated.RotatedBoxes(degrees, unit="degrees", sense="counterclockwise")
    target = rotated.RotatedBoxes(TARGET, unit="radians", sense="clockwise")
    assert_allclose(pairwise_probiou(pred, target), pairwise_probiou(PRED, TARGET), atol=1e-12)


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"boxes2 must have shape \(N, 5\), got \(7, 4\)"):
        pairwise_probiou(PRED, TARGET[:, :4])
    with pytest.raises(ValueError, match=r"one shape \(..., 5\), got \(7, 5\) and \(3, 5\)"):
        elementwise_kfiou(PRED, TARGET[:3])
    with pytest.raises(ValueError, match="unknown unit 'turns'; choose from radians, degrees"):
        pairwise_kfiou(PRED, TARGET, unit="turns")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="boxes1 and boxes2 must come from one library, but boxes1 is ndarray of numpy"):
        pairwise_kfiou(PRED, strict.asarray(TARGET))
    with pytest.raises(TypeError, match="boxes1 must be rotated boxes, got Boxes"):
        pairwise_probiou(Boxes([[0, 0, 1, 1]], format="xyxy"), PRED)
