"""The metric beside TorchMetrics' own: the same results, and the same place in programs."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="ioukit.torch needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("torchmetrics", reason="compared with torchmetrics")
pytest.importorskip("torchvision", reason="torchmetrics converts boxes with torchvision")
pytest.importorskip("pycocotools", reason="the backend of torchmetrics")

import torch
import torchmetrics
from torchmetrics.detection import MeanAveragePrecision as Theirs

from ioukit.torch import MeanAveragePrecision
from support.metric_batches import random_arguments, random_batches, same_results

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")


def filled(metric: Any, batches: list[Any]) -> Any:
    for batch in batches:
        metric.update(*batch)
    return metric


def expected_of(batches: list[Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """TorchMetrics' results. Where it mixes macro and micro, its two halves are computed one by one."""
    expected = filled(Theirs(**arguments), batches).compute()
    both = not isinstance(arguments["iou_type"], str)
    if not (both and arguments["class_metrics"] and arguments["average"] == "micro"):
        return dict(expected)
    micro = filled(Theirs(**{**arguments, "class_metrics": False}), batches).compute()
    return {key: expected[key] if "per_class" in key else value for key, value in micro.items()}


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**31))
def test_results_are_the_same_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arguments = random_arguments(rng)
    batches = random_batches(rng, arguments, images=int(rng.integers(1, 8)))
    found = filled(MeanAveragePrecision(**arguments), batches).compute()
    same_results(found, expected_of(batches, arguments))


@pytest.mark.parametrize("seed", range(6))
def test_many_classes_and_images(seed: int) -> None:
    """More detections than the cap, and sizes of all area ranges."""
    rng = np.random.default_rng(seed)
    batches = []
    for _ in range(12):
        sides = []
        for count, spread in ((150, 8.0), (20, 0.0)):
            low = np.repeat(rng.integers(0, 300, (4, 2)).astype(float), count // 4 + 1, axis=0)[:count]
            size = np.repeat(rng.integers(10, 200, (4, 2)).astype(float), count // 4 + 1, axis=0)[:count]
            boxes = np.concatenate([low, low + size], axis=1) + np.abs(rng.normal(0, spread, (count, 4)))
            sides.append({"boxes": torch.tensor(boxes, dtype=torch.float32), "labels": torch.arange(count) % 3})
        sides[0]["scores"] = torch.tensor(np.round(rng.random(150), 1), dtype=torch.float32)
        batches.append(([sides[0]], [sides[1]]))
    arguments: dict[str, Any] = {"iou_type": "bbox", "class_metrics": True, "average": ("macro", "micro")[seed % 2]}
    found = filled(MeanAveragePrecision(**arguments, extended_summary=True), batches).compute()
    same_results(found, filled(Theirs(**arguments, extended_summary=True), batches).compute())


def one_batch(seed: int = 0) -> tuple[dict[str, Any], list[Any]]:
    rng = np.random.default_rng(seed)
    arguments = {"iou_type": "bbox", "box_format": "xyxy", "class_metrics": True, "average": "macro"}
    return arguments, random_batches(rng, arguments, images=6)


@pytest.mark.parametrize("caps", [[1, 10, 50], [1, 100, 300], [300, 400, 500]])
@pytest.mark.parametrize("backend", ["pycocotools", "faster_coco_eval"])
def test_the_cap_of_map(backend: str, caps: list[int]) -> None:
    pytest.importorskip("faster_coco_eval" if backend == "faster_coco_eval" else "pycocotools")
    arguments, batches = one_batch(2)
    changed: dict[str, Any] = {**arguments, "max_detection_thresholds": caps, "backend": backend}
    found = filled(MeanAveragePrecision(**changed), batches).compute()
    for key, value in filled(Theirs(**changed), batches).compute().items():
        assert torch.allclose(found[key], value, atol=1e-6), key


def test_torchmetrics_takes_a_box_with_nan_for_a_match() -> None:
    """Why such boxes are refused here."""
    pred = {"boxes": torch.tensor([[0, 0, torch.nan, 10]]), "scores": torch.ones(1), "labels": torch.zeros(1).long()}
    target = {"boxes": torch.tensor([[90.0, 5, 99, 15]]), "labels": torch.zeros(1).long()}
    assert filled(Theirs(), [([pred], [target])]).compute()["map"] == 1
    with pytest.raises(ValueError, match="expected finite numbers"):
        MeanAveragePrecision().update([pred], [target])


def test_torchmetrics_mixes_macro_and_micro() -> None:
    """Why two kinds with class metrics differ."""
    arguments: dict[str, Any] = {"iou_type": ("bbox", "segm"), "average": "micro"}
    batches = random_batches(np.random.default_rng(0), arguments | {"box_format": "xyxy"}, images=6)
    alone = filled(Theirs(**arguments), batches).compute()
    mixed = filled(Theirs(**arguments, class_metrics=True), batches).compute()
    assert alone["bbox_map"] == mixed["bbox_map"]
    assert alone["segm_map"] != mixed["segm_map"]
    assert (
        filled(MeanAveragePrecision(**arguments, class_metrics=True), batches).compute()["segm_map"]
        == alone["segm_map"]
    )


def test_it_is_a_metric_of_torchmetrics() -> None:
    metric = MeanAveragePrecision(compute_with_cache=False, sync_on_compute=False)
    assert isinstance(metric, torchmetrics.Metric)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `unknown`"):
        MeanAveragePrecision(unknown=1)
    assert torch.jit.script(metric) is not None


def test_a_collection_shares_no_tables_of_other_rules() -> None:
    """A collection lets metrics with equal states share them. The rules are part of the state."""
    arguments, batches = one_batch()
    metrics = {
        "all": MeanAveragePrecision(**arguments),
        "same": MeanAveragePrecision(**{**arguments, "backend": "faster_coco_eval"}),
        "loose": MeanAveragePrecision(**arguments, iou_thresholds=[0.5]),
    }
    alone = {name: filled(copy.deepcopy(metric), batches).compute() for name, metric in metrics.items()}
    collection = torchmetrics.MetricCollection(metrics, compute_groups=True)
    filled(collection, batches)
    assert len(collection.compute_groups) == 2
    collection.compute()
    for name, metric in collection.items(keep_base=True, copy_state=True):
        same_results(metric.compute(), alone[name])
    collection = collection.to("cpu").clone()
    collection.reset()
    for batch in batches:
        collection(*batch)
    same_results(collection["loose"].compute(), alone["loose"])


def test_two_processes_with_a_function_that_gathers() -> None:
    """`dist_sync_fn` as TorchMetrics' own tests use it: two processes with the same images."""
    arguments, batches = one_batch(3)
    options: dict[str, Any] = {
        "dist_sync_fn": lambda state, group: [state, state],  # noqa: ARG005
        "distributed_available_fn": lambda: True,
    }
    metric = filled(MeanAveragePrecision(**arguments, **options), batches)
    doubled = [(preds + preds, target + target) for preds, target in batches]
    expected = filled(Theirs(**arguments), doubled).compute()
    found = metric.compute()
    same_results({key: found[key] for key in expected}, expected)
    assert len(metric.tables) == len(batches)  # its own tables are back
    metric.update(*batches[0])


def test_forward_is_that_of_torchmetrics() -> None:
    arguments, batches = one_batch(5)
    mine, theirs = MeanAveragePrecision(**arguments), Theirs(**arguments)
    for batch in batches:
        same_results(mine(*batch), theirs(*batch))
    same_results(mine.compute(), theirs.compute())


def test_plot_draws() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    _, batches = one_batch(7)
    metric = filled(MeanAveragePrecision(), batches)
    figure, axes = metric.plot()
    assert axes.get_ylim()[0] <= 0
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize("kinds", ["bbox", "segm"])
def test_files_hold_the_same(tmp_path: Path, kinds: str) -> None:
    """TorchMetrics reads what this class writes, and the other way round."""
    rng = np.random.default_rng(1)
    arguments: dict[str, Any] = {"iou_type": kinds, "box_format": "xywh"}
    batches = random_batches(rng, arguments, images=8)
    mine, theirs = filled(MeanAveragePrecision(**arguments), batches), filled(Theirs(**arguments), batches)
    mine.tm_to_coco(f"{tmp_path}/mine")
    theirs.tm_to_coco(f"{tmp_path}/theirs")
    for reader in (Theirs(), MeanAveragePrecision()):
        sides = [
            reader.coco_to_tm(f"{tmp_path}/{name}_preds.json", f"{tmp_path}/{name}_target.json", kinds)
            for name in ("mine", "theirs")
        ]
        for found, expected in zip(*sides, strict=True):
            for one, other in zip(found, expected, strict=True):
                assert one.keys() == other.keys()
                assert all(torch.equal(one[key], other[key]) for key in other)


def test_lightning_logs_it() -> None:
    lightning: Any = pytest.importorskip("lightning", reason="the loop of Lightning")
    arguments, batches = one_batch(9)
    arguments = {**arguments, "class_metrics": False}

    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.metric = MeanAveragePrecision(**arguments)
            self.layer = torch.nn.Linear(1, 1)

        def validation_step(self, batch: Any, at: int) -> None:  # noqa: ARG002
            self.metric.update(*batch)

        def on_validation_epoch_end(self) -> None:
            results = self.metric.compute()
            self.log_dict({key: value for key, value in results.items() if value.ndim == 0 and key != "classes"})
            self.metric.reset()

    trainer = lightning.Trainer(
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    loader = torch.utils.data.DataLoader(batches, batch_size=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (logged,) = trainer.validate(Module(), loader, verbose=False)
    expected = filled(Theirs(**arguments), batches).compute()
    assert logged["map"] == expected["map"].item()
    assert logged["mar_100"] == expected["mar_100"].item()
