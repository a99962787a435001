"""What `Evaluator.update` takes and what it refuses. A refused update changes nothing."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import ioukit
from evaluation.loop_batches import Image, batch_of, data_of_images, random_images
from evaluation.test_evaluator import assert_same
from ioukit.evaluation import Evaluator, match
from ioukit.evaluation.protocols import find_protocol
from ioukit.regions import Boxes
from ioukit.regions.formats import convert


def as_lists(array: Any) -> Any:
    return array.tolist()


def as_torch(array: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(array)


def with_gradient(array: Any) -> Any:
    tensor = as_torch(array)
    return tensor.requires_grad_() if array.dtype.kind == "f" else tensor


def as_jax(array: Any) -> Any:
    return pytest.importorskip("jax").numpy.asarray(array)


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def strided(array: Any) -> Any:
    return np.repeat(array, 2, axis=0)[::2]


def swapped(array: Any) -> Any:
    return array.astype(array.dtype.newbyteorder())


def in_turn(array: Any) -> Any:
    """Another kind of value for every image."""
    kinds = [as_lists, lambda one: one, read_only, strided]
    if importlib.util.find_spec("torch"):
        kinds.append(as_torch)
    in_turn.calls = getattr(in_turn, "calls", 0) + 1  # type: ignore[attr-defined]
    return kinds[in_turn.calls % len(kinds)](array)  # type: ignore[attr-defined]


def values_as(images: list[Image], kind: Any) -> list[Image]:
    return [tuple({key: kind(value) for key, value in one.items()} for one in pair) for pair in images]  # type: ignore[misc]


KINDS = [as_lists, as_torch, with_gradient, as_jax, read_only, strided, swapped, in_turn]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_values_of_every_library(kind: Any, seed: int) -> None:
    images = random_images(seed, 12)
    evaluator = Evaluator()
    for start in (0, 5):
        evaluator.update(*batch_of(values_as(images[start : start + 5 + start], kind)))
    assert_same(evaluator.compute(), ioukit.evaluate(*data_of_images(images[:15])))


@pytest.mark.parametrize("dtype", ["int16", "uint8", "int64", "float16", "bfloat16"])
def test_other_dtypes_are_exact(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    box = np.array([[1, 2, 60, 40], [3, 3, 17, 65]])
    kind = getattr(torch, dtype)
    values = {"boxes": torch.from_numpy(box).to(kind), "labels": torch.tensor([0, 1], dtype=torch.uint8)}
    evaluator = Evaluator()
    evaluator.update([{**values, "scores": torch.tensor([1, 0], dtype=kind)}], [values])
    evaluation = evaluator.compute()
    assert evaluation.matches.pairs.iou.tolist() == [1, 1]
    assert evaluation.matches.detections.score.tolist() == [1, 0]


@pytest.mark.parametrize("fmt", ["xywh", "cxcywh"])
@pytest.mark.parametrize("with_boxes", [False, True])
def test_other_formats(fmt: Any, with_boxes: bool) -> None:
    images = random_images(2, 12)
    evaluator = Evaluator(box_format="xyxy" if with_boxes else fmt)
    for place, pair in enumerate(images):
        for one in pair:
            rows = convert(one["boxes"].astype(np.float64), "xyxy", fmt)  # exact on this grid
            one["boxes"] = Boxes(rows, fmt) if with_boxes and place % 3 else one["boxes"] if with_boxes else rows
    evaluator.update(*batch_of(images))
    assert_same(evaluator.compute(), ioukit.evaluate(*data_of_images(random_images(2, 12))))


def test_images_without_boxes_in_any_shape() -> None:
    box = np.array([[0, 0, 9, 9]], np.float32)
    empty: list[Any] = [[], np.zeros(0), np.zeros((0, 4)), np.zeros((0, 4), np.int64)]
    evaluator = Evaluator()
    for value in empty:
        nothing = {"boxes": value, "labels": [], "scores": np.zeros(0)}
        some = {"boxes": box, "labels": [1], "scores": [0.5]}
        evaluator.update([nothing, some], [some, nothing])
    evaluator.update([], [])
    assert len(evaluator) == 8
    assert evaluator.compute().counts["annotations"] == 4
    alone = Evaluator()
    alone.update([{"boxes": [], "labels": [], "scores": []}], [{"boxes": [], "labels": []}])
    assert np.isnan(alone.compute().summary["AP"])


PREDICTION: dict[str, Any] = {"boxes": [[0.0, 0, 9, 9], [1, 1, 8, 8]], "scores": [0.5, 0.25], "labels": [1, 2]}
TARGET: dict[str, Any] = {"boxes": [[0.0, 0, 9, 9]], "labels": [1]}
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("prediction", "target", "message"),
    [
        ({"labels": [1]}, {}, r"predictions\[1\]: labels: expected 2 values, one per detection, found 1"),
        ({"scores": [1, 2, 3]}, {}, r"predictions\[1\]: scores: expected 2 values, one per detection, found 3"),
        ({}, {"labels": []}, r"targets\[1\]: labels: expected 1 value, one per object, found 0"),
        ({}, {"iscrowd": [0, 1]}, r"targets\[1\]: iscrowd: expected 1 value, one per object, found 2"),
        ({"labels": [1.0, 2.0]}, {}, r"labels: expected integers of shape \(N,\) \(names .*\), found dtype float64"),
        ({"labels": [True, False]}, {}, r"labels: expected integers of shape \(N,\) \(names .*\), found dtype bool"),
        ({"labels": ["a", "b"]}, {}, r"labels: expected integers of shape \(N,\) \(names .*\), found dtype <U1"),
        ({"scores": ["a", "b"]}, {}, r"scores: expected numbers of shape \(N,\), found dtype <U1"),
        ({"scores": [0.5, NAN]}, {}, r"predictions\[1\]: scores: row 1: expected a finite number, found nan"),
        ({"scores": [INF, 0.5]}, {}, r"predictions\[1\]: scores: row 0: expected a finite number, found inf"),
        ({"scores": [[0.5], [0.4]]}, {}, r"scores: expected numbers of shape \(N,\), found shape \(2, 1\)"),
        ({"boxes": [[0, 0, 9, 9], [8, 1, 3, 8]]}, {}, r"boxes: row 1: .* 3.0, 8.0\]; if .*box_format='xywh'"),
        ({"boxes": [[0, 0, 9, 9], [8, 1, NAN, 8]]}, {}, r"predictions\[1\]: boxes: row 1: expected finite numbers"),
        ({"boxes": [[0, 0, 9, 9], [0, 1, 1e17, 8]]}, {}, r"boxes: row 1: expected coordinates of at most 2\*\*53"),
        ({"boxes": [[0, 0, 9, 9], [-9e15, 1, 9e15, 8]]}, {}, r"boxes: row 1: expected coordinates of at most 2\*\*53"),
        ({"boxes": [0, 0, 9, 9]}, {}, r"boxes: expected numbers of shape \(N, 4\), found shape \(4,\)"),
        ({"boxes": [[0, 0, 9], [1, 1, 8]]}, {}, r"boxes: expected numbers of shape \(N, 4\), found shape \(2, 3\)"),
        ({"boxes": [[0, 0, 9, 9], [1, 1]]}, {}, r"boxes: expected .*, found a list that is no regular array"),
        ({"boxes": [[0, 0, 9, "a"], [1, 1, 2, 2]]}, {}, r"predictions\[1\]: boxes: expected numbers of shape"),
        ({"boxes": np.ma.masked_array(np.ones((2, 4)))}, {}, r"boxes: .*found a masked array"),
        ({"boxes": None}, {}, r"predictions\[1\]: boxes: expected numbers of shape \(N, 4\), found nothing"),
        ({"boxes": Boxes([[0, 0, 1, 1]] * 2, normalized=True)}, {}, r"predictions\[1\]: boxes: expected pixels"),
        ({"boxes": np.ones((2, 4), np.complex64)}, {}, r"found dtype complex64"),
        ({"boxes": np.ones((2, 4), bool)}, {}, r"found dtype bool"),
        ({}, {"boxes": [[5, 5, 2, 9]]}, r"targets\[1\]: boxes: row 0: expected x1 <= x2 and y1 <= y2"),
        ({}, {"iscrowd": [2]}, r"targets\[1\]: iscrowd: row 0: expected 0 or 1, found 2"),
        ({}, {"iscrowd": [0.5]}, r"iscrowd: expected bools, or 0 and 1, of shape \(N,\), found dtype float64"),
        ({}, {"area": [-1]}, r"targets\[1\]: area: row 0: expected a finite number of at least 0, found -1"),
        ({}, {"area": [NAN]}, r"targets\[1\]: area: row 0: expected a finite number of at least 0, found nan"),
        ({}, {"crowd": [1]}, r"targets\[1\]: expected the key 'iscrowd', or no such key, found 'crowd'"),
        ({}, {"areas": [1]}, r"targets\[1\]: expected the key 'area', or no such key, found 'areas'"),
        ({"labels": np.array([1, 2**63], np.uint64)}, {}, r"labels: row 1: expected an integer below 2\*\*63"),
        ({}, {"image_id": 1}, r"targets\[0\]: expected the key 'image_id', as other targets have it"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(prediction: Any, target: Any, message: str) -> None:
    evaluator = Evaluator()
    evaluator.update([PREDICTION], [TARGET])
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([PREDICTION, {**PREDICTION, **prediction}], [TARGET, {**TARGET, **target}])
    assert len(evaluator) == 1
    evaluator.update([PREDICTION], [TARGET])
    expected = Evaluator()
    expected.update([PREDICTION, PREDICTION], [TARGET, TARGET])
    assert_same(evaluator.compute(), expected.compute())


@pytest.mark.parametrize(
    ("predictions", "targets", "error", "message"),
    [
        ([PREDICTION], [], ValueError, "one entry per image, got 1 predictions and 0 targets"),
        (PREDICTION, [TARGET], TypeError, r"predictions must be a list .* got one dict: write \[prediction\]"),
        ([PREDICTION], TARGET, TypeError, r"targets must be a list .* got one dict: write \[target\]"),
        (3, [TARGET], TypeError, "predictions must be a list with one entry per image, got int"),
        ("ab", [TARGET], TypeError, "predictions must be a list with one entry per image, got str"),
        ([PREDICTION], [[1, 2]], TypeError, r"targets\[0\]: expected a dict with boxes, labels, got list"),
        ([{"bbox": [], "scores": []}], [TARGET], ValueError, r"the key 'boxes', found 'bbox', 'scores'; rename 'bbox'"),
        ([{"boxes": [], "score": [], "labels": []}], [TARGET], ValueError, r"key 'scores', .*; rename 'score'"),
        ([PREDICTION], [{"boxes": []}], ValueError, r"targets\[0\]: expected the key 'labels', found 'boxes'$"),
        ([PREDICTION], [{"boxes": [], "class_labels": []}], ValueError, r"'labels', .*; rename 'class_labels'"),
        ([{}], [TARGET], ValueError, r"predictions\[0\]: expected the key 'boxes', found no keys"),
        ([TARGET], [TARGET], ValueError, r"expected the key 'scores', found 'boxes', 'labels'$"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(predictions: Any, targets: Any, error: Any, message: str) -> None:
    evaluator = Evaluator()
    with pytest.raises(error, match=message):
        evaluator.update(predictions, targets)
    assert len(evaluator) == 0


def test_tensors_without_values() -> None:
    torch = pytest.importorskip("torch")
    away = torch.zeros((2, 4), device="meta")
    with pytest.raises(ioukit.DatasetError, match=r"predictions\[0\]: boxes: .* without values \(device 'meta'\)"):
        Evaluator().update([{**PREDICTION, "boxes": away}], [TARGET])


def test_tensors_on_two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device "meta" stands for a GPU, which has values."""
    torch = pytest.importorskip("torch")

    def copied(tensor: Any) -> Any:
        return np.zeros(tensor.shape, np.float32) if tensor.device.type == "meta" else tensor.numpy()

    monkeypatch.setattr("ioukit.evaluation.evaluator.values.as_numpy", copied)
    near, away = torch.zeros((2, 4)), torch.zeros((2, 4), device="meta")
    scores, labels = torch.zeros(2), torch.tensor([1, 2])
    evaluator = Evaluator()
    message = r"predictions: boxes: expected tensors on one device, found cpu \(image 0\) and meta \(image 1\)"
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([{**PREDICTION, "boxes": near}, {**PREDICTION, "boxes": away}], [TARGET, TARGET])
    message = "predictions: expected tensors on one device, found boxes on meta and labels on cpu"
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([{"boxes": away, "scores": scores, "labels": labels}], [TARGET])
    message = "targets: expected tensors on one device, found boxes on cpu and area on meta"
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([PREDICTION], [{"boxes": near, "labels": labels, "area": away[:, 0]}])
    assert len(evaluator) == 0
    evaluator.update([{"boxes": away, "scores": [0, 0], "labels": [1, 2]}], [{"boxes": near, "labels": labels}])


def test_boxes_of_torchvision_know_their_format() -> None:
    torch, tv_tensors = pytest.importorskip("torch"), pytest.importorskip("torchvision.tv_tensors")
    rows = torch.tensor([[0.0, 0, 9, 9], [1, 1, 8, 8]])
    corners, sides = (tv_tensors.BoundingBoxes(rows, format=name, canvas_size=(20, 20)) for name in ("XYXY", "XYWH"))
    evaluator = Evaluator()
    evaluator.update([{**PREDICTION, "boxes": corners}], [TARGET])
    message = r"predictions\[0\]: boxes: expected the format 'xyxy' .*, found BoundingBoxes in the format 'xywh'"
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([{**PREDICTION, "boxes": sides}], [TARGET])
    assert len(evaluator) == 1


def test_ids_of_images() -> None:
    evaluator = Evaluator()
    evaluator.update([PREDICTION], [TARGET], image_ids=[5])
    for ids, message in [
        ([5], r"image_ids\[0\]: expected an image that is new, found 5, which was in an earlier update"),
        (["a"], "image_ids: expected all integers or all strings, found both"),
        ([1.5], r"image_ids\[0\]: expected the id of one image, an integer or a string, found 1.5"),
        ([2**70], r"image_ids\[0\]: expected"),
        ([None], r"image_ids\[0\]: expected the id of one image, an integer or a string, found nothing"),
        (None, "update: expected image_ids, as earlier images had them, found none"),
    ]:
        with pytest.raises(ioukit.DatasetError, match=message):
            evaluator.update([PREDICTION], [TARGET], image_ids=ids)  # type: ignore[arg-type]
    with pytest.raises(ioukit.DatasetError, match=r"image_ids\[1\]: .* found 7, which was in this update"):
        evaluator.update([PREDICTION] * 2, [TARGET] * 2, image_ids=[7, 7])
    with pytest.raises(ValueError, match="image_ids must hold one id per image, expected 1, got 2"):
        evaluator.update([PREDICTION], [TARGET], image_ids=[7, 8])
    with pytest.raises(TypeError, match="image_ids must be a list"):
        evaluator.update([PREDICTION], [TARGET], image_ids="7")
    with pytest.raises(ValueError, match=r"image_ids must have shape \(I,\), got \(1, 1\)"):
        evaluator.update([PREDICTION], [TARGET], image_ids=np.array([[7]]))
    assert len(evaluator) == 1
    evaluator.update([PREDICTION], [{**TARGET, "image_id": np.array([7])}])
    numbered = Evaluator()
    numbered.update([PREDICTION], [TARGET])
    with pytest.raises(ioukit.DatasetError, match="expected no image_ids, as earlier images had none"):
        numbered.update([PREDICTION], [TARGET], image_ids=[7])


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (3, TypeError, "image_ids must be a list with one id per image, got int"),
        ("a", TypeError, "image_ids must be a list with one id per image, got 'a'"),
        (np.zeros((1, 1), np.int64), ValueError, r"image_ids must have shape \(I,\), got \(1, 1\)"),
        ([np.uint64(2**63)], ioukit.DatasetError, "expected an integer of 64 signed bits, found 9223372036854775808"),
        ([1.5], ioukit.DatasetError, "expected the id of one image, an integer or a string, found 1.5"),
    ],
)
def test_wrong_ids_of_images_are_refused(ids: Any, error: Any, message: str) -> None:
    evaluator = Evaluator()
    with pytest.raises(error, match=message):
        evaluator.update([PREDICTION], [TARGET], image_ids=ids)
    assert len(evaluator) == 0


def test_labels_beyond_the_categories() -> None:
    for categories in (["cat", "dog"], {0: "cat", 1: "dog", 10**7: "cow"}, [-5, 0, 1]):
        evaluator = Evaluator(categories=categories)
        message = r"predictions\[0\]: labels: row 1: expected the id of a category: .*, found 2"
        with pytest.raises(ioukit.DatasetError, match=message):
            evaluator.update([PREDICTION], [TARGET])
        assert len(evaluator) == 0
        with pytest.raises(ioukit.DatasetError, match="found -1"):
            evaluator.update([{**PREDICTION, "labels": [-1, 0]}], [TARGET])


@pytest.mark.parametrize(
    ("categories", "error", "message"),
    [
        ("cat", TypeError, "categories must be a list of names or ids, or a mapping of names by id, got 'cat'"),
        (3, TypeError, "categories must be a list of names or ids, or a mapping of names by id, got 3"),
        (["cat", "cat"], ValueError, "names that differ"),
        ([1, 1], ValueError, "ids that differ"),
        ([], ValueError, "at least one category"),
        ([1.5], ValueError, r"categories must be integers, got 1\.5"),
    ],
)
def test_wrong_categories_are_refused(categories: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Evaluator(categories=categories)


def test_wrong_settings_are_refused() -> None:
    for wrong, message in [
        ({"iou_type": "box"}, "unknown iou_type 'box'"),
        ({"box_format": "yxyx"}, "unknown format 'yxyx'"),
        ({"near": 2}, "near must be above 0 and at most 1, got 2"),
        ({"threads": 0}, "threads must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            Evaluator(**wrong)  # type: ignore[arg-type]


def test_merging_needs_the_same_settings() -> None:
    evaluator = Evaluator()
    evaluator.update([PREDICTION], [TARGET])
    with pytest.raises(TypeError, match="merge expects an Evaluator, got int"):
        evaluator.merge(3)  # type: ignore[arg-type]
    for other, message in [
        (Evaluator(near=0.1), "must have the same near, expected None, got 0.1"),
        (
            Evaluator(ioukit.COCO.replace(max_dets=(1, 5))),
            "must have the same protocol, expected COCO, got COCO with other values of max_dets$",
        ),
        (Evaluator(iou_type="rotated"), "must have the same iou_type, expected 'bbox', got 'rotated'"),
    ]:
        other._images.ids.add([0], running=True)
        with pytest.raises(ValueError, match=message):
            evaluator.merge(other)
    named = Evaluator()
    named.update([PREDICTION], [TARGET], image_ids=["a"])
    with pytest.raises(ValueError, match="only one of the evaluators was given ids of images"):
        evaluator.merge(named)
    again = Evaluator()
    again.update([PREDICTION], [TARGET], image_ids=["a"])
    with pytest.raises(ioukit.DatasetError, match="merge: image 0: expected an image that is new, found 'a'"):
        named.merge(again)
    assert len(named) == len(evaluator) == 1
    chosen, other = Evaluator(categories={1: "cat", 2: "dog"}), Evaluator(categories={1: "cat", 2: "dog", 3: "owl"})
    chosen.update([PREDICTION], [TARGET])
    other.update([PREDICTION], [{**TARGET, "labels": [3]}])
    with pytest.raises(ValueError, match="the other evaluator has categories that this one was not given"):
        chosen.merge(other)
    assert len(chosen) == 1
    other.merge(chosen)
    assert len(other) == 2
    assert repr(other) == "Evaluator(2 images, bbox, COCO)"


def test_data_sets_and_lists_do_not_mix() -> None:
    gt, dt = data_of_images(random_images(1, 3))
    evaluator = Evaluator()
    with pytest.raises(TypeError, match="got list as targets"):
        evaluator.update(dt, [TARGET])
    with pytest.raises(TypeError, match="got list as predictions"):
        evaluator.update([PREDICTION], gt)
    with pytest.raises(ValueError, match="image_ids must be left out: the ground truth lists its images"):
        evaluator.update(dt, gt, image_ids=[1])
    with pytest.raises(ioukit.DatasetError, match="found 7"):
        evaluator.update(
            ioukit.Detections.from_arrays(image_ids=[7], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[1]), gt
        )
    assert len(evaluator) == 0
    evaluator.update(dt, gt)
    with pytest.raises(ioukit.DatasetError, match=r"targets: images\[0\]: expected an image that is new, found 0"):
        evaluator.update(dt, gt)
    with pytest.raises(ioukit.DatasetError, match="targets: categories: expected those of the evaluator, found the id"):
        Evaluator(categories=[77]).update(dt, gt)


@pytest.mark.parametrize(
    ("protocol", "error", "message"),
    [
        ("voc2021", ValueError, "unknown protocol 'voc2021'; did you mean 'voc2012' or 'voc2007'"),
        (
            ["cat", "dog"],
            TypeError,
            "protocol must be a Protocol, such as ioukit.COCO, or the name of one, got list: the names",
        ),
    ],
)
def test_what_is_no_protocol_is_refused(protocol: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Evaluator(protocol)
    with pytest.raises(error, match=message):
        ioukit.evaluate("no_such_file.json", "no_such_file.json", protocol)


def test_a_protocol_may_be_given_by_its_name() -> None:
    gt = ioukit.GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
    dt = ioukit.Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 8]], scores=[0.9])
    rules = find_protocol("voc2012")
    assert ioukit.evaluate(gt, dt, "VOC2012").protocol is rules
    assert match(gt, dt, "voc2012").protocol is rules
    assert Evaluator("voc2012").protocol is rules
    assert Evaluator("coco", iou_type="keypoints").protocol is find_protocol("coco-keypoints")
