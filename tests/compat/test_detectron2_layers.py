"""Detectron2's layout, its suppression and overlap of rotated boxes, and TorchScript."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit.compat.detectron2 as d2
from ioukit.compat.detectron2 import layers, structures

LAYOUT = {
    "structures": structures.__all__,
    "structures.boxes": ["BoxMode", "Boxes", "pairwise_intersection", "pairwise_iou", "matched_pairwise_iou"],
    "structures.rotated_boxes": ["RotatedBoxes", "pairwise_iou"],
    "layers": layers.__all__,
    "layers.nms": ["batched_nms", "batched_nms_rotated", "nms", "nms_rotated"],
    "layers.rotated_boxes": ["pairwise_iou_rotated"],
}


def test_names_are_where_detectron2_has_them() -> None:
    """One changed word in an import is enough."""
    for module, names in LAYOUT.items():
        program = f"from ioukit.compat.detectron2.{module} import {', '.join(names)}"
        subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
    assert {*structures.__all__, *layers.__all__} == set(d2.__all__)
    for group in (structures, layers):
        for name in group.__all__:
            assert getattr(d2, name) is getattr(group, name)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


def rotated_boxes(rng: np.random.Generator, count: int) -> Any:
    """Boxes in a crowd; some exactly equal, some turned by quarters."""
    boxes = np.column_stack(
        [rng.uniform(0, 60, (count, 2)), rng.uniform(4, 40, (count, 2)), rng.uniform(-180, 180, count)]
    )
    boxes[:: max(count // 7, 1), 4] = 90 * rng.integers(-2, 3)
    boxes[1::9] = boxes[0:1]
    return boxes.astype(np.float32)


def greedy(overlap: Any, scores: Any, labels: Any, threshold: float) -> list[int]:
    """Suppression as its definition says it, from a table of overlaps."""
    kept: list[int] = []
    for row in np.argsort(-scores, kind="stable").tolist():
        if all(labels[row] != labels[other] or overlap[row, other] <= threshold for other in kept):
            kept.append(row)
    return kept


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_rotated_suppression_is_its_definition(torch: Any, threshold: float) -> None:
    rng = np.random.default_rng(int(threshold * 10))
    for count in (1, 2, 17, 120):
        for _ in range(8):
            boxes = torch.tensor(rotated_boxes(rng, count))
            scores, labels = torch.tensor(rng.random(count)), torch.tensor(rng.integers(-2, 3, count))
            overlap = layers.pairwise_iou_rotated(boxes, boxes).numpy()
            clear = np.abs(overlap - threshold) > 1e-6  # rows for which rounding decides prove nothing
            if not clear.all():
                continue
            for dtype in (torch.float64, torch.float32):
                kept = layers.nms_rotated(boxes, scores.to(dtype), threshold)
                assert kept.dtype == torch.int64
                assert kept.tolist() == greedy(overlap, scores.to(dtype).numpy(), np.zeros(count), threshold)
            for classes in (labels, labels.float(), labels.to(torch.int32)):
                kept = layers.batched_nms_rotated(boxes, scores, classes, threshold)
                assert kept.tolist() == greedy(overlap, scores.numpy(), labels.numpy(), threshold)


def test_upright_and_rotated_suppression_agree(torch: Any) -> None:
    rng = np.random.default_rng(5)
    corners = rng.integers(0, 60, (300, 2))
    boxes = torch.tensor(
        np.concatenate([corners, corners + rng.integers(1, 40, (300, 2))], axis=1), dtype=torch.float32
    )
    centred = torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], dim=1)
    scores, classes = torch.tensor(rng.permutation(300) / 300), torch.tensor(rng.integers(0, 4, 300))
    for turned, degrees in (
        (centred, 0),
        (centred, 180),
        (centred[:, [0, 1, 3, 2]], 90),
        (centred[:, [0, 1, 3, 2]], -90),
    ):
        rotated = torch.cat([turned, torch.full((300, 1), float(degrees))], dim=1)
        for threshold in (0.213, 0.517, 0.811):
            assert_array_equal(layers.nms_rotated(rotated, scores, threshold), layers.nms(boxes, scores, threshold))
            expected = layers.batched_nms(boxes, scores, classes, threshold)
            assert_array_equal(layers.batched_nms_rotated(rotated, scores, classes, threshold), expected)


def test_suppression_of_no_rotated_boxes(torch: Any) -> None:
    nothing, none = torch.zeros(0, 5), torch.zeros(0)
    for rows in (layers.nms_rotated(nothing, none, 0.5), layers.batched_nms_rotated(nothing, none, none, 0.5)):
        assert rows.tolist() == []
        assert rows.dtype == torch.int64
    assert layers.batched_nms(torch.zeros(0, 4), none, none, 0.5).tolist() == []


def test_overlaps_of_rotated_boxes_have_both_names(torch: Any) -> None:
    rng = np.random.default_rng(2)
    first, second = (torch.tensor(rotated_boxes(rng, count)) for count in (30, 20))
    of_rotated = importlib.import_module("ioukit.compat.detectron2.structures.rotated_boxes").pairwise_iou
    expected = layers.pairwise_iou_rotated(first, second)
    assert expected.shape == (30, 20)
    sets = structures.RotatedBoxes(first), structures.RotatedBoxes(second)
    for found in (of_rotated(*sets), structures.pairwise_iou_rotated(*sets)):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    with pytest.raises(TypeError, match=r"boxes2 must be ioukit\.compat\.detectron2\.RotatedBoxes, got Boxes"):
        of_rotated(sets[0], structures.Boxes(torch.zeros(1, 4)))


def test_boxes_move_to_a_device(torch: Any) -> None:
    for boxes in (structures.Boxes(torch.ones(2, 4)), structures.RotatedBoxes(torch.ones(2, 5))):
        for options in ({}, {"non_blocking": True}, {"non_blocking": False}):
            moved = boxes.to(torch.device("cpu"), **options)
            assert type(moved) is type(boxes)
            assert_array_equal(moved.tensor, boxes.tensor)
        assert boxes.to(device="meta", non_blocking=True).device.type == "meta"


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_torchscript_gets_the_reason(torch: Any) -> None:
    def part(boxes: Any, scores: Any) -> Any:
        return layers.nms_rotated(boxes, scores, 0.5)

    functions = [name for name in d2.__all__ if name[0].islower()]
    for name in (*functions, "Boxes", "RotatedBoxes"):
        with pytest.raises(TypeError, match=rf"\.{name} cannot be compiled by TorchScript"):
            torch.jit.script(getattr(d2, name))
    with pytest.raises(TypeError, match=r"\.nms_rotated cannot be compiled by TorchScript"):
        torch.jit.script(part)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (
            lambda t: layers.nms_rotated([[0, 0, 1, 1, 0]], t.zeros(1), 0.5),
            TypeError,
            "boxes must be a tensor .* got list",
        ),
        (lambda t: layers.nms_rotated(t.zeros(1, 5), [0.5], 0.5), TypeError, "scores must be a tensor .* got list"),
        (
            lambda t: layers.batched_nms_rotated(t.zeros(1, 5), t.zeros(1), "0", 0.5),
            TypeError,
            "idxs must be .* got str",
        ),
        (
            lambda t: layers.batched_nms_rotated(t.zeros(1, 5), t.zeros(1), t.ones(1) / 2, 0.5),
            ValueError,
            "whole numbers",
        ),
        (lambda t: layers.nms_rotated(t.zeros(1, 4), t.zeros(1), 0.5), ValueError, r"\(N, 5\)"),
        (lambda t: layers.nms_rotated(t.zeros(2, 5), t.zeros(1), 0.5), ValueError, "scores"),
        (lambda t: layers.nms_rotated(t.full((1, 5), t.nan), t.zeros(1), 0.5), ValueError, "0"),
        (lambda t: layers.nms_rotated(t.ones(1, 5), t.full((1,), t.nan), 0.5), ValueError, "scores"),
        (lambda t: layers.pairwise_iou_rotated(t.zeros(1, 5), "boxes"), TypeError, "boxes2 must be .* got str"),
    ],
)
def test_errors_of_layers(torch: Any, call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call(torch)
