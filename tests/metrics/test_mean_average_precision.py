"""The metric by itself: its numbers, states and errors."""

from __future__ import annotations

import copy
import importlib
import io
import json
import pickle
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="ioukit.torch needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("torchmetrics", reason="the metric needs TorchMetrics: pip install 'ioukit[torch]'")

import torch

import ioukit
from ioukit import Detections, GroundTruth
from ioukit.evaluation import COCO
from ioukit.torch import MeanAveragePrecision
from support.metric_batches import random_arguments, random_batches, same_results

if TYPE_CHECKING:
    from pathlib import Path

BOXES = torch.tensor([[258.0, 41.0, 606.0, 285.0]])
NONE = torch.zeros(0)
NO_LABELS = torch.zeros(0, dtype=torch.long)
PRED = {"boxes": BOXES, "scores": torch.tensor([0.536]), "labels": torch.tensor([0])}
TARGET = {"boxes": torch.tensor([[214.0, 41.0, 562.0, 285.0]]), "labels": torch.tensor([0])}


def filled(batches: list[Any], **arguments: Any) -> Any:
    metric = MeanAveragePrecision(**arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for batch in batches:
            metric.update(*batch)
    return metric


def batches_of(seed: int, **changes: Any) -> tuple[dict[str, Any], list[Any]]:
    rng = np.random.default_rng(seed)
    arguments = random_arguments(rng) | changes
    return arguments, random_batches(rng, arguments, images=7)


def test_without_torchmetrics_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, MeanAveragePrecision.__module__)
    message = "ioukit.torch.MeanAveragePrecision needs torchmetrics: pip install 'ioukit[torch]'"
    with pytest.raises(ModuleNotFoundError, match=re.escape(message)):
        importlib.import_module(MeanAveragePrecision.__module__)


def test_the_example_of_torchmetrics() -> None:
    result = filled([([PRED], [TARGET])]).compute()
    shown = {key: round(value.item(), 4) for key, value in result.items()}
    assert shown == {
        **dict.fromkeys(("map", "map_large", "mar_1", "mar_10", "mar_100", "mar_large"), 0.6),
        **dict.fromkeys(("map_50", "map_75"), 1.0),
        **dict.fromkeys(("map_small", "map_medium", "mar_small", "mar_medium"), -1.0),
        **dict.fromkeys(("map_per_class", "mar_100_per_class"), -1.0),
        "classes": 0,
    }
    assert all(value.shape == () for value in result.values())
    assert {value.dtype for key, value in result.items() if key != "classes"} == {torch.float32}
    assert result["classes"].dtype == torch.int32


@pytest.mark.parametrize("seed", range(8))
def test_the_numbers_are_those_of_evaluate(seed: int) -> None:
    """With the same thresholds, given as they are, and boxes that both read alike."""
    rng = np.random.default_rng(seed)
    arguments: dict[str, Any] = {"iou_type": "bbox", "box_format": "xywh"}
    thresholds = {"iou_thresholds": list(COCO.iou_thresholds), "rec_thresholds": list(COCO.recall_thresholds)}
    batches = random_batches(rng, arguments, images=9)
    result = filled(batches, **arguments, **thresholds, class_metrics=True).compute()
    preds, target = ([item for batch in batches for item in batch[side]] for side in (0, 1))
    columns: dict[str, Any] = {
        name: np.concatenate([item[key].double().numpy().reshape(-1, *shape) for item in side])
        for name, side, key, shape in (
            ("boxes", preds, "boxes", (4,)), ("scores", preds, "scores", ()), ("labels", preds, "labels", ()),
            ("objects", target, "boxes", (4,)), ("classes", target, "labels", ()),
        )
    }  # fmt: skip
    if min(columns["boxes"][:, 2:].min(initial=0), columns["objects"][:, 2:].min(initial=0)) < 0:
        pytest.skip("evaluate refuses boxes with negative sides")
    areas = [given_or_own(item) for item in target]
    crowd = [item.get("iscrowd", torch.zeros(len(item["labels"]))) for item in target]
    image_of = [np.repeat(np.arange(9), [len(item["labels"]) for item in side]) for side in (preds, target)]
    evaluation = ioukit.evaluate(
        GroundTruth.from_arrays(
            image_ids=image_of[1],
            category_ids=columns["classes"].astype(int),
            boxes=columns["objects"],
            areas=np.concatenate(areas),
            crowd=np.concatenate([column.numpy() for column in crowd]).astype(bool),
            images=np.arange(9),
            categories=np.union1d(columns["classes"], columns["labels"]).astype(int),
        ),
        Detections.from_arrays(
            image_ids=image_of[0],
            category_ids=columns["labels"].astype(int),
            boxes=columns["boxes"],
            scores=columns["scores"],
        ),
    )
    names = {
        "map": "AP", "map_50": "AP50", "map_75": "AP75", "map_small": "APs", "map_medium": "APm", "map_large": "APl",
        "mar_1": "AR1", "mar_10": "AR10", "mar_100": "AR100", "mar_small": "ARs", "mar_medium": "ARm",
        "mar_large": "ARl",
    }  # fmt: skip
    for key, name in names.items():
        assert result[key].item() == np.float32(np.nan_to_num(evaluation.summary[name], nan=-1.0)), key
    per_class = [np.float32(np.nan_to_num(one.summary["AP"], nan=-1.0)) for one in evaluation.per_class]
    assert result["map_per_class"].reshape(-1).tolist() == per_class
    assert result["classes"].reshape(-1).tolist() == [one.id for one in evaluation.per_class]


def given_or_own(item: dict[str, Any]) -> Any:
    sides = item["boxes"].double().numpy().reshape(-1, 4)[:, 2:]
    own = sides[:, 0] * sides[:, 1]
    given = item["area"].double().numpy() if "area" in item else np.zeros(len(own))
    return np.where(given > 0, given, own)


@pytest.mark.parametrize("seed", range(20))
def test_any_split_of_the_images_gives_the_same_results(seed: int) -> None:
    arguments, batches = batches_of(seed)
    expected = filled(batches, **arguments).compute()
    preds, target = ([item for batch in batches for item in batch[side]] for side in (0, 1))
    one_by_one = [([pred], [one]) for pred, one in zip(preds, target, strict=True)]
    same_results(filled(one_by_one, **arguments).compute(), expected)
    same_results(filled([(preds, target)], **arguments).compute(), expected)


@pytest.mark.filterwarnings("ignore:.*negative side:UserWarning", "ignore:.*Encountered more than:UserWarning")
@pytest.mark.parametrize("seed", range(8))
def test_forward_returns_the_result_of_the_batch_and_keeps_it(seed: int) -> None:
    arguments, batches = batches_of(seed)
    metric = MeanAveragePrecision(**arguments)
    for batch in batches:
        same_results(metric(*batch), filled([batch], **arguments).compute())
    same_results(metric.compute(), filled(batches, **arguments).compute())


def test_compute_can_be_called_between_updates() -> None:
    arguments, batches = batches_of(3)
    metric = MeanAveragePrecision(**arguments)
    for at, batch in enumerate(batches):
        metric.update(*batch)
        same_results(metric.compute(), filled(batches[: at + 1], **arguments).compute())
    metric.reset()
    metric.update(*batches[0])
    same_results(metric.compute(), filled(batches[:1], **arguments).compute())


def test_before_the_first_image_every_number_is_undefined() -> None:
    metric = MeanAveragePrecision(class_metrics=True, extended_summary=True)
    with pytest.warns(UserWarning, match=re.escape("was called before")):
        result = metric.compute()
    assert "map_per_class" not in result
    assert {value.item() for key, value in result.items() if key != "classes"} == {-1.0}
    assert result["classes"].shape == (0,)
    metric = MeanAveragePrecision()
    metric.update([], [])
    same_results(metric.compute(), {key: result[key] for key in result})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))])
def test_copies_go_on_by_themselves(copied: Any) -> None:
    arguments, batches = batches_of(5)
    metric = filled(batches, **arguments)
    other = copied(metric)
    same_results(other.compute(), metric.compute())
    other.reset()
    assert not other.tables
    assert metric.tables


def test_the_state_is_in_the_state_dict_after_persistent() -> None:
    arguments, batches = batches_of(6)
    metric = filled(batches, **arguments)
    assert not metric.state_dict()
    metric.persistent(True)
    file = io.BytesIO()
    torch.save(metric.state_dict(), file)
    file.seek(0)
    other = MeanAveragePrecision(**arguments)
    other.load_state_dict(torch.load(file, weights_only=True))
    with pytest.warns(UserWarning, match="was called before"):
        found = other.compute()
    same_results(found, metric.compute())


def test_merge_state_puts_the_other_images_first() -> None:
    arguments, batches = batches_of(8)
    first, rest = filled(batches[:1], **arguments), filled(batches[1:], **arguments)
    rest.merge_state(first)
    same_results(rest.compute(), filled(batches, **arguments).compute())


def test_a_function_can_gather_the_tables() -> None:
    """As if two processes had the same images."""
    arguments, batches = batches_of(4)
    metric = filled(
        batches,
        **arguments,
        dist_sync_fn=lambda state, group: [state, state] if group is None else [],
        distributed_available_fn=lambda: True,
    )
    twice = [([one for one in preds for _ in "ab"], [one for one in target for _ in "ab"]) for preds, target in batches]
    same_results(metric.compute(), filled(twice, **arguments).compute())
    assert len(metric.tables) == len(batches)  # its own tables are back


def test_images_matched_with_other_arguments_are_refused() -> None:
    metric, other = filled([([PRED], [TARGET])]), MeanAveragePrecision(iou_thresholds=[0.5])
    other.merge_state(metric)
    other.update([PRED], [TARGET])
    with pytest.raises(ValueError, match="matched with other arguments"):
        other.compute()


def test_tables_stay_on_the_cpu_and_small() -> None:
    count = 100
    pred = {"boxes": torch.rand(count, 4).cumsum(1), "scores": torch.rand(count), "labels": NO_LABELS.new_zeros(count)}
    metric = filled([([pred] * 50, [TARGET] * 50)], keep_inputs=False)
    metric = metric.to("meta").to(torch.float16)
    assert [table.device.type for table in metric.tables] == ["cpu"]
    assert sum(map(len, metric.tables)) < 60 * 50 * count
    assert not metric.inputs


def test_inputs_of_several_types_and_gradients() -> None:
    target = {"boxes": TARGET["boxes"].double(), "labels": TARGET["labels"].to(torch.uint8), "name": "not read"}
    pred = {"boxes": PRED["boxes"].half().requires_grad_(), "scores": PRED["scores"], "labels": torch.tensor([False])}
    metric = filled([([PRED, pred], [TARGET, target])])
    assert metric(([pred]), [target])["map"] == pytest.approx(0.6)
    assert metric.compute()["map"] == pytest.approx(0.6)


def test_the_cap_of_map_follows_the_backend() -> None:
    batch = [([PRED], [TARGET])]
    caps = [1, 10, 1000]
    assert filled(batch, max_detection_thresholds=caps).compute()["map"] == -1
    other = filled(batch, max_detection_thresholds=caps, backend="faster_coco_eval").compute()
    assert other["map"] == pytest.approx(0.6)
    assert "mar_1000_per_class" in other


def test_many_detections_and_negative_sides_are_warned_of() -> None:
    pred = {"boxes": BOXES.repeat(101, 1), "scores": torch.rand(101), "labels": NO_LABELS.new_zeros(101)}
    metric = MeanAveragePrecision()
    with pytest.warns(UserWarning, match="Encountered more than 100 detections in a single image"):
        metric.update([pred], [TARGET])
    metric.warn_on_many_detections = False
    metric.update([pred], [TARGET])
    wrong = {**TARGET, "boxes": torch.tensor([[300.0, 20.0, 10.0, 10.0]])}
    with pytest.warns(UserWarning, match=r"target: 1 of 1 boxes have a negative side.*box_format='xyxy' right"):
        metric.update([PRED], [wrong])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"box_format": "yxyx"}, "Expected argument `box_format` to be one of"),
        ({"iou_type": "keypoints"}, "Expected argument `iou_type` to be one of"),
        ({"iou_type": ()}, "Expected argument `iou_type` to be one of"),
        ({"iou_thresholds": 0.5}, "Expected argument `iou_thresholds` to either be `None` or a list of floats"),
        ({"iou_thresholds": [0.0]}, "iou_thresholds"),
        ({"rec_thresholds": (0.1,)}, "Expected argument `rec_thresholds` to either be `None` or a list of floats"),
        ({"max_detection_thresholds": 100}, "Expected argument `max_detection_thresholds` to either be `None`"),
        ({"max_detection_thresholds": [1, 10]}, "should have length 3"),
        ({"max_detection_thresholds": [0, 1, 10]}, "max_dets"),
        ({"class_metrics": 0}, "Expected argument `class_metrics` to be a boolean"),
        ({"extended_summary": "yes"}, "Expected argument `extended_summary` to be a boolean"),
        ({"average": "weighted"}, "Expected argument `average` to be one of"),
        ({"backend": "hotcoco"}, "Expected argument `backend` to be one of"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MeanAveragePrecision(**arguments)


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != key}


@pytest.mark.parametrize(
    ("preds", "target", "message"),
    [
        (PRED, [TARGET], "Expected argument `preds` to be of type Sequence"),
        ([PRED], torch.zeros(1), "Expected argument `target` to be of type Sequence"),
        ([PRED], [TARGET, TARGET], "to have the same length, but got 1 and 2"),
        ([without(PRED, "boxes")], [TARGET], "Expected all dicts in `preds` to contain the `boxes` key"),
        ([without(PRED, "scores")], [TARGET], "Expected all dicts in `preds` to contain the `scores` key"),
        ([PRED], [without(TARGET, "labels")], "Expected all dicts in `target` to contain the `labels` key"),
        ([{**PRED, "boxes": []}], [TARGET], "Expected all boxes in `preds` to be of type Tensor"),
        ([{**PRED, "scores": [0.5]}], [TARGET], "Expected all scores in `preds` to be of type Tensor"),
        ([PRED], [{**TARGET, "labels": [0]}], "Expected all labels in `target` to be of type Tensor"),
        ([{**PRED, "scores": NONE}], [TARGET], "scores of sample 0 in predictions have a different length"),
        ([PRED], [{**TARGET, "labels": NO_LABELS}], "labels of sample 0 in targets have a different length"),
        ([{**PRED, "scores": torch.tensor([1])}], [TARGET], "Invalid input score of sample 0, element 0"),
        ([{**PRED, "scores": torch.tensor([[0.5]])}], [TARGET], "Invalid input score of sample 0, element 0"),
        ([PRED], [{**TARGET, "labels": torch.tensor([0.0])}], "Invalid input class of sample 0, element 0"),
        ([{**PRED, "boxes": BOXES[:, :3]}], [TARGET], r"Invalid input box of sample 0.*shape \(1, 3\)"),
        ([PRED], [{**TARGET, "area": NONE}], "Input 'area' and labels of sample 0"),
        ([PRED], [{**TARGET, "iscrowd": [0]}], "Expected all iscrowd in `target` to be of type Tensor"),
        ([PRED, {**PRED, "boxes": BOXES * torch.nan}], [TARGET] * 2, r"preds\[1\]\['boxes'\]\[0\]: expected finite"),
        ([{**PRED, "scores": torch.tensor([torch.inf])}], [TARGET], r"preds\[0\]\['scores'\]\[0\]: expected finite"),
    ],
)
def test_wrong_input_changes_nothing(preds: Any, target: Any, message: str) -> None:
    metric = filled([([PRED], [TARGET])])
    with pytest.raises(ValueError, match=message):
        metric.update(preds, target)
    assert len(metric.tables) == len(metric.inputs) == 1
    assert metric.compute()["map"] == pytest.approx(0.6)


def test_wrong_masks() -> None:
    masks = torch.zeros(1, 8, 8, dtype=torch.bool)
    pred, target = ({**without(side, "boxes"), "masks": masks} for side in (PRED, TARGET))
    metric = MeanAveragePrecision(iou_type="segm")
    for wrong in (masks.float(), masks[:, 0]):
        with pytest.raises(ValueError, match="Invalid input mask of sample 0"):
            metric.update([{**pred, "masks": wrong}], [target])
    with pytest.raises(ioukit.DatasetError, match="expected a mask of 8 x 8"):
        metric.update([{**pred, "masks": torch.zeros(1, 8, 9, dtype=torch.bool)}], [target])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kinds", ["bbox", "segm", ("bbox", "segm")])
def test_files_and_back(tmp_path: Path, kinds: Any, seed: int) -> None:
    arguments, batches = batches_of(seed, iou_type=kinds, box_format="xywh", average="macro")
    if any((item["boxes"].reshape(-1, 4)[:, 2:] < 0).any() for batch in batches for side in batch for item in side
           if "boxes" in item):  # fmt: skip
        pytest.skip("files of COCO hold no boxes with negative sides")
    metric = filled(batches, **arguments)
    metric.tm_to_coco(f"{tmp_path}/images")
    target = json.loads((tmp_path / "images_target.json").read_text())
    labels = {int(label) for batch in batches for side in batch for item in side for label in item["labels"]}
    assert [category["id"] for category in target["categories"]] == sorted(labels)
    if not target["annotations"]:
        return
    preds, targets = MeanAveragePrecision.coco_to_tm(
        f"{tmp_path}/images_preds.json", f"{tmp_path}/images_target.json", kinds
    )
    # Images without targets are left out, so only recall is the same.
    again = filled([(preds, targets)], **arguments).compute()
    assert {key for key in again if "mar" in key} == {key for key in metric.compute() if "mar" in key}
    kept = sorted({row["image_id"] for row in target["annotations"]})
    images = [[item for batch in batches for item in batch[side]] for side in (0, 1)]
    order = {number: place for place, number in enumerate(dict.fromkeys(r["image_id"] for r in target["annotations"]))}
    for number in kept:
        for side, found in ((images[0], preds), (images[1], targets)):
            given, read = side[number], found[order[number]]
            assert torch.equal(read["labels"], given["labels"].to(torch.int32))
            for key in ("boxes", "masks", "scores"):
                if key in given and (key != "boxes" or len(given[key])):
                    assert torch.equal(read[key].reshape(-1), given[key].to(read[key].dtype).reshape(-1)), key


def test_files_need_the_inputs(tmp_path: Path) -> None:
    metric = filled([([PRED], [TARGET])], keep_inputs=False)
    with pytest.raises(ValueError, match="keep_inputs=True"):
        metric.tm_to_coco(f"{tmp_path}/images")
    assert not list(tmp_path.iterdir())


def test_the_arguments_can_be_read() -> None:
    metric = MeanAveragePrecision(iou_type=("bbox", "segm"), max_detection_thresholds=[300, 1, 100], average="micro")
    assert metric.iou_type == ("bbox", "segm")
    assert metric.max_detection_thresholds == [1, 100, 300]
    assert metric.iou_thresholds[1] == 0.550000011920929
    assert len(metric.rec_thresholds) == 101
    assert (metric.box_format, metric.average, metric.backend) == ("xyxy", "micro", "pycocotools")
    assert not metric.class_metrics
    assert not metric.extended_summary


def test_a_box_with_nan_is_shown_as_it_was_given() -> None:
    wrong = {**PRED, "boxes": torch.tensor([[float("nan"), 1.0, 2.0, 3.0]])}
    with pytest.raises(ValueError, match=r"preds\[1\]\['boxes'\]\[0\]: .*, found \[nan, 1\.0, 2\.0, 3\.0\]"):
        MeanAveragePrecision().update([PRED, wrong], [TARGET, TARGET])
