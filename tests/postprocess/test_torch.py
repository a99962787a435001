"""`nms` and `nms_padded` of PyTorch tensors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Boxes, nms, nms_padded, pairwise_iou
from ioukit.compat import torchvision_ops as compat
from ioukit.postprocess import _array_api
from ioukit.postprocess._inputs import device_set
from ioukit.postprocess._options import limits_of, rule_of
from postprocess.plain import greedy, random_set, table

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def few_boxes(count: int = 60, dtype: Any = np.float32) -> tuple[Any, Any]:
    rng = np.random.default_rng(count)
    low = rng.integers(-20, 20, (count, 2))
    boxes = np.concatenate([low, low + rng.integers(1, 30, (count, 2))], axis=1).astype(dtype)
    return boxes, (rng.integers(0, 40, count) / 40).astype(dtype)


def test_tensors_on_the_cpu() -> None:
    boxes, scores = few_boxes()
    labels = np.arange(60) % 3
    wanted = nms(boxes, scores, iou_threshold=0.3, labels=labels, max_keep=9)
    b, s, c = torch.from_numpy(boxes).requires_grad_(), torch.from_numpy(scores).requires_grad_(), torch.tensor(labels)
    for codes in (labels, c, c.to(torch.int32), labels.tolist()):
        keep = nms(b, s, iou_threshold=0.3, labels=codes, max_keep=9)
        assert keep.dtype == torch.int64
        assert_array_equal(keep.numpy(), wanted)
    assert_array_equal(nms(b, s, iou_threshold=0.3, batch=c, labels=c), nms(b, s, iou_threshold=0.3, labels=c))
    assert_array_equal(nms(Boxes(boxes), torch.from_numpy(scores), iou_threshold=0.3), nms(b, s, iou_threshold=0.3))
    assert_array_equal(nms(b, s, iou_threshold=0.3, explain=True).keep, nms(boxes, scores, iou_threshold=0.3))
    assert len(nms(torch.empty(0, 4), torch.empty(0), iou_threshold=0.5)) == 0
    with pytest.raises(TypeError, match="boxes is Tensor of torch, scores is ndarray of numpy"):
        nms(b, scores, iou_threshold=0.5)
    with pytest.raises(ValueError, match=r"scores\[1\] is NaN"):
        nms(b[:2], torch.tensor([0.0, torch.nan]), iou_threshold=0.5)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_overlaps_of_halves_are_compared_in_float32(kind: str) -> None:
    rng = np.random.default_rng(2)
    for number in range(200):
        boxes, scores = random_set(rng)
        b, s = (torch.tensor(array).to(getattr(torch, kind)) for array in (boxes.clip(-99, 99), scores))
        overlap = pairwise_iou(b.float(), b.float())
        values = overlap if number % 2 else pairwise_iou(b, b)
        values = values[values > 0]
        threshold = float(values[rng.integers(len(values))]) if len(values) else 0.5
        for at in (False, True):
            keep = nms(b, s, iou_threshold=threshold, suppress="at_or_above" if at else "above")
            wanted = greedy(overlap.numpy(), s.double().tolist(), threshold, at=at)
            assert keep.tolist() == wanted
            rule = rule_of("iou", None, threshold, "at_or_above" if at else "above")
            given = device_set(b, s, format=None, check=True)
            assert _array_api.survivors(given, rule, limits_of(None, None)).tolist() == wanted


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_halves_give_what_torchvision_gives_under_autocast(kind: str) -> None:
    """Autocast runs `nms` in float32; without it, torchvision has no NMS of halves on the CPU."""
    torchvision_ops = pytest.importorskip("torchvision.ops", reason="torchvision is not installed")
    rng = np.random.default_rng(7)
    for number in range(300):
        boxes, scores = random_set(rng)
        # Of equal scores torchvision takes any first.
        scores = rng.permutation(len(boxes)) / 256
        b, s = (torch.tensor(array).to(getattr(torch, kind)) for array in (boxes.clip(-99, 99), scores))
        area = (b[:, 2:] - b[:, :2]).float().prod(dim=1)
        b, s = b[area > 0], s[area > 0]  # torchvision's overlap of boxes without an area is NaN
        labels = torch.from_numpy(rng.integers(0, 3, len(b)))
        rounded = pairwise_iou(b, b)
        values = rounded[rounded > 0]
        # torchvision compares with a double, so the threshold is one that float32 has.
        threshold = float(values[rng.integers(len(values))]) if number % 3 and len(values) else 0.5
        with torch.autocast("cpu", torch.bfloat16):
            wanted = torchvision_ops.nms(b, s, threshold)
            wanted_by_class = torchvision_ops.batched_nms(b, s, labels, threshold)
        assert nms(b, s, threshold).tolist() == wanted.tolist()
        assert compat.nms(b, s, threshold).tolist() == wanted.tolist()
        if len(b) and float(b.min()) >= 0:  # torchvision shifts classes apart by the largest coordinate
            assert compat.batched_nms(b, s, labels, threshold).tolist() == wanted_by_class.tolist()


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_all_kinds_of_suppression_compare_halves_in_float32(kind: str) -> None:
    rng = np.random.default_rng(8)
    functions: list[Any] = [
        ioukit.soft_nms, ioukit.matrix_nms, ioukit.fast_nms, ioukit.cluster_nms, ioukit.non_maximum_merge,
        functools.partial(ioukit.cluster_nms, variant="weighted"),
        functools.partial(nms_padded, iou_threshold=0.5, max_keep=9),
    ]  # fmt: skip
    for _ in range(30):
        boxes, scores = random_set(rng)
        b, s = (torch.tensor(array).to(getattr(torch, kind)) for array in (boxes.clip(-99, 99), abs(scores)))
        for function in functions:
            found, wanted = function(b, s), function(b.float(), s.float())
            for ours, theirs in zip(*((each,) if isinstance(each, torch.Tensor) else each for each in (found, wanted)),
                                    strict=True):  # fmt: skip
                assert_array_equal(ours.float().numpy(), theirs.to(ours.dtype).float().numpy())


@pytest.mark.parametrize("metric", ["iou", "giou", "ciou", "ioa"])
def test_the_way_of_a_device_gives_the_same_on_the_cpu(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_array_api, "_BLOCK", 16)
    monkeypatch.setattr(_array_api, "_PIECE", 7)
    for count in (0, 1, 16, 17, 150):
        boxes, scores = few_boxes(count)
        labels = np.arange(count) % 2
        for threshold in (0.0, 0.31, 0.62):
            rule = rule_of(metric, None, threshold, "above")
            for codes in (None, torch.from_numpy(labels)):
                given = device_set(torch.from_numpy(boxes), torch.from_numpy(scores), codes, format=None, check=False)
                found = _array_api.survivors(given, rule, limits_of(0.1, None))
                wanted = nms(
                    boxes, scores, iou_threshold=threshold, metric=metric, score_threshold=0.1,
                    labels=None if codes is None else labels,
                )  # fmt: skip
                assert_array_equal(found.numpy(), wanted)


def test_the_way_of_a_device_keeps_the_best_of_each_image() -> None:
    boxes, scores = few_boxes(150)
    batch = np.arange(150) % 3
    rule = rule_of("iou", None, 0.3, "above")
    for images in (None, batch, torch.from_numpy(batch).to(torch.int32)):
        for max_keep in (0, 5, 1_000):
            given = device_set(torch.from_numpy(boxes), torch.from_numpy(scores), None, images, format=None, check=True)
            found = _array_api.survivors(given, rule, limits_of(None, max_keep))
            wanted = nms(boxes, scores, 0.3, batch=None if images is None else batch, max_keep=max_keep)
            assert_array_equal(found.numpy(), wanted)


def test_the_way_of_a_device_on_random_sets() -> None:
    rng = np.random.default_rng(3)
    for number in range(200):
        boxes, scores = random_set(rng, [np.float32, np.float64][number % 2])
        rule = rule_of("iou", None, 0.25, "at_or_above")
        given = device_set(torch.from_numpy(boxes), torch.from_numpy(scores), format="xyxy", check=False)
        found = _array_api.survivors(given, rule, limits_of(None, None))
        assert found.tolist() == greedy(table("iou", boxes), scores.tolist(), 0.25, at=True)


@pytest.mark.gpu
def test_cuda_tensors_stay_on_their_device() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    boxes, scores = few_boxes(3_000)
    b, s = torch.from_numpy(boxes).cuda(), torch.from_numpy(scores).cuda()
    for options in ({}, {"score_threshold": 0.5}, {"max_keep": 5, "batch": np.arange(3_000) % 3}):
        keep = nms(b, s, iou_threshold=0.4, **options)
        assert keep.device == b.device
        assert_array_equal(keep.cpu().numpy(), nms(boxes, scores, iou_threshold=0.4, **options))
    with pytest.raises(ValueError, match=r"scores\[0\] is NaN"):
        nms(b, s * torch.nan, iou_threshold=0.5)


def test_a_padded_result_is_that_of_nms() -> None:
    boxes, scores = few_boxes()
    for library in (np.asarray, torch.from_numpy):
        keep, valid = nms_padded(library(boxes), library(scores), iou_threshold=0.3, max_keep=50)
        wanted = nms(boxes, scores, iou_threshold=0.3)
        assert keep.shape == valid.shape == (50,)
        assert_array_equal(keep[valid], wanted)
        assert (keep[~valid] == -1).all()


def test_a_compiled_program_of_one_graph() -> None:
    boxes, scores = map(torch.from_numpy, few_boxes())
    labels = torch.arange(60) % 3

    def program(boxes: Any, scores: Any, labels: Any) -> Any:
        return nms_padded(boxes, scores, iou_threshold=0.3, labels=labels, score_threshold=0.2, max_keep=6)

    compiled = torch.compile(program, fullgraph=True, backend="eager")
    keep, valid = compiled(boxes, scores, labels)
    wanted = nms(boxes, scores, iou_threshold=0.3, labels=labels, score_threshold=0.2, max_keep=6)
    assert valid.all()
    assert_array_equal(keep.numpy(), wanted.numpy())


def test_a_compiled_program_with_a_break() -> None:
    boxes, scores = map(torch.from_numpy, few_boxes())
    compiled = torch.compile(lambda boxes, scores: nms(boxes, scores, iou_threshold=0.3) * 2, backend="eager")
    assert_array_equal(compiled(boxes, scores).numpy(), 2 * nms(boxes, scores, iou_threshold=0.3).numpy())


def test_a_batch_is_padded_as_its_images_are() -> None:
    rng = np.random.default_rng(4)
    sets = [few_boxes(60, np.float32) for _ in range(3)]
    boxes = np.stack([one + k for k, (one, _) in enumerate(sets)])
    scores, labels = np.stack([rng.permuted(one) for _, one in sets]), rng.integers(0, 3, (3, 60))
    program = functools.partial(nms_padded, iou_threshold=0.3, max_keep=12, score_threshold=0.3)
    wanted = [program(*one[:2], labels=one[2])[0] for one in zip(boxes, scores, labels, strict=True)]
    for library in (np.asarray, torch.from_numpy, lambda array: array.tolist()):
        found, valid = program(library(boxes), library(scores), labels=library(labels))
        assert_array_equal(found, wanted)
        assert_array_equal(valid, np.array(wanted) >= 0)
    given = [torch.from_numpy(one) for one in (boxes, scores, labels)]
    assert_array_equal(torch.vmap(lambda b, s, c: program(b, s, labels=c)[0])(*given), wanted)
    assert_array_equal(torch.vmap(lambda s: program(given[0][1], s)[0])(given[1])[1], program(boxes[1], scores[1])[0])
    assert nms_padded(boxes[:, :0], scores[:, :0], 0.3, max_keep=2)[0].tolist() == [[-1, -1]] * 3
    with pytest.raises(ValueError, match=r"boxes must have shape \(3, 60, 4\) for scores of shape \(3, 60\), got"):
        nms_padded(boxes[:, :9], scores, 0.3, max_keep=2)


@pytest.mark.filterwarnings("ignore")  # of tracers
def test_recorded_programs_check_the_boxes_of_the_day() -> None:
    boxes, scores = map(torch.from_numpy, few_boxes(9))
    program = torch.jit.trace(lambda b, s: nms(b, s, 0.3), (boxes, scores))
    assert program(boxes[:4], scores[:4]).tolist() == nms(boxes[:4], scores[:4], 0.3).tolist()
    with pytest.raises(RuntimeError, match=r"ValueError: scores\[0\] is NaN"):
        program(boxes, scores * torch.nan)
    with pytest.raises(TypeError, match=r"boxes is traced .* use nms_padded"):
        torch.vmap(lambda b: nms(b, scores, 0.3))(boxes[None])


def test_a_counter_of_operations_does_not_record() -> None:
    from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415

    boxes, scores = map(torch.from_numpy, few_boxes(9))
    with FlopCounterMode(display=False):
        assert ioukit.soft_nms(boxes, scores)[0].tolist() == ioukit.soft_nms(boxes.numpy(), scores.numpy())[0].tolist()
