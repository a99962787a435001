"""What all functions share: the kinds of arrays they take, and the order of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Boxes

BOXES = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [4, 0, 14, 10], [30, 0, 40, 10]], np.float32)
SCORES = np.array([0.9, 0.8, 0.7, 0.6], np.float32)
LABELS = np.array([0, 0, 1, 1])

WITH_THRESHOLD: dict[str, Callable[..., Any]] = {
    "nms": ioukit.nms,
    "nms_padded": lambda *a, **o: ioukit.nms_padded(*a, max_keep=3, **o),
    "soft_nms": ioukit.soft_nms,
    "fast_nms": ioukit.fast_nms,
    "cluster_nms": lambda *a, **o: ioukit.cluster_nms(*a, variant="weighted", **o),
    "non_maximum_merge": ioukit.non_maximum_merge,
}


def _at_a_third(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda boxes, scores: function(boxes, scores, 0.3)


def _tiled(boxes: Any, scores: Any) -> Any:
    (tile,) = ioukit.cut_tiles((60, 60), 60)
    return ioukit.TiledNms([tile]).add(tile, boxes, scores)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _at_a_third(function) for name, function in WITH_THRESHOLD.items()},
    "matrix_nms": ioukit.matrix_nms,
    "weighted_boxes_fusion": lambda boxes, scores: ioukit.weighted_boxes_fusion([boxes], [scores]),
    "non_maximum_weighted": lambda boxes, scores: ioukit.non_maximum_weighted([boxes], [scores]),
    "tiles": _tiled,
}


def arrays(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", WITH_THRESHOLD)
def test_the_threshold_may_be_the_third_argument(name: str) -> None:
    function = WITH_THRESHOLD[name]
    for threshold in (0.3, 0.5):
        found = function(BOXES, SCORES, threshold)
        for one, other in zip(arrays(found), arrays(function(BOXES, SCORES, iou_threshold=threshold)), strict=True):
            assert_array_equal(one, other)
    with pytest.raises(TypeError, match="positional argument"):
        function(BOXES, SCORES, LABELS, 0.5)  # the order of torchvision's batched_nms


def test_labels_in_the_place_of_the_threshold() -> None:
    with pytest.raises(TypeError, match="iou_threshold must be a number, got ndarray"):
        ioukit.nms(BOXES, SCORES, LABELS)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"nms", "nms_padded"}))
def test_boxes_and_other_regions(name: str) -> None:
    function = FUNCTIONS[name]
    for one, other in zip(arrays(function(Boxes(BOXES), SCORES)), arrays(function(BOXES, SCORES)), strict=True):
        assert_array_equal(one, other)
    rotated = ioukit.RotatedBoxes([[5, 5, 4, 4, 0]], unit="degrees", sense="clockwise")
    with pytest.raises(TypeError, match=r"must be Boxes, (Masks, )?a NumPy array or nested lists, got RotatedBoxes"):
        function(rotated, [0.5])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_in_and_tensors_out(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    function = FUNCTIONS[name]
    kind = getattr(torch, dtype)
    boxes, scores = torch.from_numpy(BOXES).to(kind), torch.from_numpy(SCORES).to(kind)
    exact = function(boxes.double().numpy(), scores.double().numpy())
    allowed = {torch.int64, torch.bool, torch.float64 if name == "tiles" else kind}
    for one, other in zip(arrays(function(boxes, scores)), arrays(exact), strict=True):
        assert isinstance(one, torch.Tensor)
        assert one.dtype in allowed
        np.testing.assert_allclose(one.double(), other, rtol=2e-2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_boxes_follow_the_library_of_the_scores(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    function = FUNCTIONS[name]
    found = function(Boxes(BOXES.astype(np.float64)), torch.from_numpy(SCORES).bfloat16())
    for array in arrays(found):
        assert isinstance(array, torch.Tensor)
        if array.ndim == 2:
            assert array.dtype == torch.float64


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_libraries_are_refused(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    function = FUNCTIONS[name]
    for boxes, scores in ((torch.from_numpy(BOXES), SCORES), (BOXES, torch.from_numpy(SCORES))):
        with pytest.raises(TypeError, match="must come from one library, but boxes"):
            function(boxes, scores)
    with pytest.raises(TypeError, match="class_scores must come from one library"):
        ioukit.filter_detections(torch.from_numpy(BOXES), SCORES[:, None])


def test_columns_of_a_device_are_checked_in_the_same_words() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from ioukit.postprocess._inputs import device_set  # noqa: PLC0415

    boxes, scores = torch.from_numpy(BOXES), torch.from_numpy(SCORES)

    def given(b: Any = boxes, s: Any = scores, labels: Any = None, batch: Any = None) -> Any:
        return device_set(b, s, labels, batch, format=None, check=True)

    assert given(labels=LABELS, batch=[0, 1, 2, 3]).labels.tolist() == LABELS.tolist()
    with pytest.raises(ValueError, match=r"boxes must have shape \(N, 4\), got \(1, 4, 4\)"):
        given(b=boxes[None])
    with pytest.raises(ValueError, match=r"scores must have shape \(4,\), one per box, got \(3,\)"):
        given(s=scores[:3])
    with pytest.raises(ValueError, match=r"labels must have shape \(4,\), one per box, got \(2,\)"):
        given(labels=torch.zeros(2, dtype=torch.int64))
    with pytest.raises(TypeError, match=r"batch must be integers, got dtype torch\.float32"):
        given(batch=scores)
    with pytest.raises(ValueError, match=r"boxes\[1\] is .*: inverted"):
        given(b=torch.tensor([[0.0, 0, 1, 1], [3, 0, 1, 1]]), s=scores[:2])
    with pytest.raises(ValueError, match=r"scores\[0\] is NaN"):
        given(s=scores * torch.nan)
