"""The recipes of docs/frameworks.md, run in their frameworks; the numbers are those of `ioukit.evaluate`."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from frameworks.made_data import MADE, NAMES, Photo, as_tensors, expected, photos
from frameworks.recipes import ADAPTERS, RECIPES, assert_same, is_installed, run_recipe
from ioukit import Boxes, GroundTruth, evaluate
from ioukit.datasets import from_predictions
from support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Frameworks warn about versions of each other, which are not the subject here.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_framework_of_the_page_has_a_recipe_that_is_short() -> None:
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", page.partition("\n## As a backend of a project\n")[0], re.MULTILINE)
    assert len(sections) == len(RECIPES) == 10
    for name, code in (RECIPES | ADAPTERS).items():
        assert len([line for line in code.splitlines() if line.strip()]) < 20, name
        assert max(map(len, code.splitlines())) <= 120, name


def test_torchvision() -> None:
    torch, detection = (pytest.importorskip(name) for name in ("torch", "torchvision.models.detection"))
    torch.manual_seed(0)
    model = detection.fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=3)
    images = [torch.rand(3, 64, 96) for _ in range(4)]
    model.eval()
    with torch.inference_mode():
        outputs = model(images)
    assert all(len(output["boxes"]) >= 5 for output in outputs)
    targets = [
        {
            "boxes": output["boxes"][:5] + torch.tensor([0.0, 0.0, 2.0, 1.0]),
            "labels": output["labels"][:5],
            "image_id": 10 + at,
            "iscrowd": torch.tensor([0, 0, 0, 0, 1]),
            "area": torch.full((5,), 50.0 + 2000 * at),
        }
        for at, output in enumerate(outputs)
    ]
    evaluation = run_recipe("torchvision")["evaluate"](
        model, [(images[:2], targets[:2]), (images[2:], targets[2:])], torch.device("cpu")
    )

    def joined(name: str) -> Any:
        return torch.cat([target[name] for target in targets]).numpy()

    truth = GroundTruth.from_arrays(
        image_ids=np.repeat([10, 11, 12, 13], 5),
        category_ids=joined("labels"),
        boxes=Boxes(joined("boxes").astype(np.float64)),
        areas=joined("area"),
        crowd=joined("iscrowd").astype(bool),
    )
    assert_same(evaluation.summary, evaluate(truth, from_predictions(outputs, image_ids=[10, 11, 12, 13])).summary)


def test_lightning(tmp_path: Path) -> None:
    torch, lightning = (pytest.importorskip(name) for name in ("torch", "lightning"))
    pairs = [as_tensors(torch, photo) for photo in MADE]

    class Recorded(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, images: Any) -> Any:
            return [pairs[int(image)][0] for image in images]

    batches = [
        ([torch.tensor(at) for at in part], [pairs[at][1] for at in part]) for part in ((0, 1, 2, 3), range(4, 9))
    ]
    detector = run_recipe("lightning")["Detector"](Recorded(), NAMES)
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        default_root_dir=tmp_path,
    )
    loader = torch.utils.data.DataLoader(batches, batch_size=None)
    wanted = expected(MADE).summary
    for _ in range(2):  # an epoch begins without the images of the last one
        trainer.validate(detector, loader, verbose=False)
        logged = {key: float(value) for key, value in trainer.callback_metrics.items()}
        assert set(logged) == {f"val/{key}" for key in wanted}
        for key, value in wanted.items():  # Lightning keeps float32
            np.testing.assert_equal(logged[f"val/{key}"], float(np.float32(value)))
    assert wanted["AP"] > 0.1


def items_near(found: list[Any], images: Any, sizes: list[tuple[int, int]]) -> list[Any]:
    """Items of a data set of Transformers whose objects are near the first detections of each image."""
    torch = pytest.importorskip("torch")
    items = []
    for at, (height, width) in enumerate(sizes):
        boxes = found[at]["boxes"][:4].clamp(min=0) + torch.tensor([0.0, 0.0, 2.0, 1.0])
        centres = torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], dim=1)
        labels = {
            "boxes": centres / torch.tensor([width, height, width, height]),
            "class_labels": found[at]["labels"][:4],
            "orig_size": torch.tensor([height, width]),
            "image_id": torch.tensor([at]),
        }
        items.append({"pixel_values": images[at], "labels": labels})
    return items


def test_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch, transformers = (pytest.importorskip(name) for name in ("torch", "transformers"))
    for name in ("accelerate", "scipy"):  # the trainer and the loss need them
        pytest.importorskip(name)
    # Files of tests lie in a folder `datasets`, which looks like the package of that name.
    monkeypatch.setattr("transformers.trainer.is_datasets_available", lambda: False)
    torch.manual_seed(3)
    config = transformers.YolosConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=[32, 48],
        patch_size=16, num_detection_tokens=7, id2label=dict(enumerate(NAMES)),
    )  # fmt: skip
    model, processor = transformers.YolosForObjectDetection(config).eval(), transformers.YolosImageProcessor()
    images = torch.rand(7, 3, 32, 48)
    sizes = [(60 + 3 * at, 90 + at) for at in range(7)]
    with torch.inference_mode():
        raw = [model(pixel_values=images[start : start + 3]) for start in (0, 3, 6)]
    found = [
        image
        for start, outputs in zip((0, 3, 6), raw, strict=True)
        for image in processor.post_process_object_detection(
            outputs, threshold=0.0, target_sizes=sizes[start : start + 3]
        )
    ]
    items = items_near(found, images, sizes)
    arguments = transformers.TrainingArguments(
        str(tmp_path), use_cpu=True, report_to="none", per_device_eval_batch_size=3, eval_do_concat_batches=False,
        remove_unused_columns=False, label_names=["labels"], disable_tqdm=True,
    )  # fmt: skip

    def collate(batch: Any) -> Any:
        pixels = torch.stack([item["pixel_values"] for item in batch])
        return {"pixel_values": pixels, "labels": [item["labels"] for item in batch]}

    recipe = run_recipe("transformers", model=model, processor=processor)
    kept: list[Any] = []

    def compute_metrics(results: Any) -> Any:
        kept[:] = [len(target["boxes"]) for batch in results.label_ids for target in batch]
        return recipe["compute_metrics"](results)

    trainer = transformers.Trainer(
        model=model,
        args=arguments,
        data_collator=collate,
        eval_dataset=items,
        compute_metrics=compute_metrics,
        preprocess_logits_for_metrics=recipe["preprocess_logits_for_metrics"],
    )
    trainer.evaluate()
    metrics = trainer.evaluate()  # without the images of the first time; the last batch is not full
    # The page warns about this: the last batch has one image, so one box is left of its four.
    assert kept == [4, 4, 4, 4, 4, 4, 1]
    relative = [Boxes(item["labels"]["boxes"].numpy(), format="cxcywh", normalized=True) for item in items]
    in_pixels = [
        one.denormalize(width, height).convert("xywh").numpy()
        for one, (height, width) in zip(relative, sizes, strict=True)
    ]
    truth = GroundTruth.from_arrays(
        image_ids=np.repeat(np.arange(7), [len(one) for one in in_pixels]),
        category_ids=torch.cat([item["labels"]["class_labels"] for item in items]).numpy(),
        boxes=np.concatenate(in_pixels),
        images=range(7),
        categories=dict(enumerate(NAMES)),
    )
    assert_same(metrics, evaluate(truth, from_predictions(found, image_ids=range(7))).summary, "eval_")


def yolo_folder(folder: Path, made: list[Photo]) -> Path:
    """A data set in YOLO's format: images of 128 x 64 pixels, which the loader scales by half."""
    image = pytest.importorskip("PIL.Image")
    for name in ("images", "labels"):
        (folder / name).mkdir(parents=True)
    for at, photo in enumerate(made):
        image.new("RGB", (128, 64), (at, 90, 90)).save(folder / "images" / f"{at:03}.png")
        sides = (photo.objects[:, :2] + photo.objects[:, 2:]) / 2, photo.objects[:, 2:] - photo.objects[:, :2]
        rows = np.hstack(sides) / [128, 64, 128, 64]
        lines = [
            f"{label} " + " ".join(map(repr, row))
            for label, row in zip(photo.object_labels, rows.tolist(), strict=True)
        ]
        (folder / "labels" / f"{at:03}.txt").write_text("\n".join(lines))
    data = {"path": str(folder), "train": "images", "val": "images", "names": dict(enumerate(NAMES))}
    (folder / "data.yaml").write_text(json.dumps(data))
    return folder / "data.yaml"


def test_ultralytics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("YOLO_CONFIG_DIR", str(tmp_path)), ("YOLO_OFFLINE", "true")):
        monkeypatch.setenv(name, value)
    torch, ultralytics = (pytest.importorskip(name) for name in ("torch", "ultralytics"))
    validator = pytest.importorskip("ultralytics.models.yolo.detect").DetectionValidator
    made = photos(9, seed=4, width=128, least=1)
    data = yolo_folder(tmp_path / "data", made)
    shown: list[Any] = []

    def preprocess(self: Any, batch: Any) -> Any:
        shown[:] = [int(os.path.basename(path)[:3]) for path in batch["im_file"]]
        return original(self, batch)

    def postprocess(_: Any, __: Any) -> Any:
        """The made detections, in pixels of the letterboxed images: half the size, 16 pixels further down."""
        return [
            {
                "bboxes": torch.from_numpy(made[at].found / 2 + np.array([0, 16, 0, 16], np.float32)),
                "conf": torch.from_numpy(made[at].scores),
                "cls": torch.from_numpy(made[at].found_labels).float(),
                "extra": torch.zeros(len(made[at].found), 0),
            }
            for at in shown
        ]

    original = validator.preprocess
    monkeypatch.setattr(validator, "preprocess", preprocess)
    monkeypatch.setattr(validator, "postprocess", postprocess)
    model = ultralytics.YOLO("yolov8n.yaml", verbose=False)
    names = run_recipe("ultralytics", model=model)
    validators: list[Any] = []
    model.add_callback("on_val_end", validators.append)
    options = {"imgsz": 64, "batch": 4, "workers": 0, "plots": False, "rect": False, "device": "cpu", "verbose": False}
    tables = []
    for _ in range(2):
        metrics = model.val(data=str(data), project=str(tmp_path / "runs"), **options)
        tables.append(validators[-1].evaluator.compute())
    assert capsys.readouterr().out.count("Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all") >= 2
    assert names["on_val_end"] is not None
    wanted = expected(made).summary
    assert wanted["AP"] > 0.1
    for evaluation in tables:
        # Labels and boxes went through fractions of the image and through the letterbox.
        np.testing.assert_allclose(list(evaluation.summary.values()), list(wanted.values()), rtol=0, atol=1e-9)
        assert evaluation.counts["images"] == len(made)
    assert metrics.box.map == pytest.approx(wanted["AP"], abs=0.2)  # Ultralytics' own numbers are still made


def test_keras() -> None:
    backend = "torch" if "torch" in sys.modules or is_installed("torch") else "jax"
    os.environ.setdefault("KERAS_BACKEND", backend)
    keras = pytest.importorskip("keras")
    most = max(max(len(photo.objects), len(photo.found)) for photo in MADE)

    def padded(name: str, other: float, tail: tuple[int, ...] = ()) -> Any:
        table = np.full((len(MADE), most, *tail), other, np.float32)
        for at, photo in enumerate(MADE):
            rows = getattr(photo, name)
            table[at, : len(rows)] = rows
        return table

    boxes, labels, scores = padded("found", -1, (4,)), padded("found_labels", -1), padded("scores", -1)

    class Recorded(keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.offset = self.add_weight(shape=(), initializer="zeros")

        def call(self, images: Any) -> Any:
            at = keras.ops.cast(images[:, 0], "int32")
            return {
                "boxes": keras.ops.take(boxes, at, axis=0),
                "labels": keras.ops.cast(keras.ops.take(labels, at, axis=0), "int32"),
                "confidence": keras.ops.take(scores, at, axis=0) + 0 * self.offset,
            }

        def compute_loss(self, *_: Any, **__: Any) -> Any:
            return self.offset**2

    truth = {"boxes": padded("objects", -1, (4,)), "labels": padded("object_labels", -1).astype(np.int32)}
    images = np.arange(len(MADE), dtype=np.float32)[:, None]
    data = [(images[part], {key: value[part] for key, value in truth.items()}) for part in (slice(4), slice(4, None))]
    model = Recorded()
    model.compile(optimizer="sgd", run_eagerly=backend == "torch")
    callback = run_recipe("keras")["COCOMetrics"](data, NAMES)
    history = model.fit(images, images, epochs=2, verbose=0, callbacks=[callback]).history
    for epoch in range(2):
        assert_same({key: values[epoch] for key, values in history.items()}, expected(MADE).summary, "val_")
