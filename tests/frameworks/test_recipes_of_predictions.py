"""The recipes of docs/frameworks.md that take predictions of tools; the numbers are those of `ioukit.evaluate`."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from frameworks.made_data import MADE, NAMES, as_tensors, expected, write_instances
from frameworks.recipes import assert_same, is_installed, run_recipe
from ioukit import Detections, Evaluator, evaluate
from support.predicted import as_instances

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore")  # frameworks warn about versions of each other


def test_supervision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    supervision, image = (pytest.importorskip(name) for name in ("supervision", "PIL.Image"))
    paths = [str(tmp_path / f"{at}.png") for at in range(len(MADE))]
    for at, path in enumerate(paths):
        image.new("RGB", (96, 64), (at, at, at)).save(path)
    annotations = {
        path: supervision.Detections(xyxy=photo.objects, class_id=photo.object_labels)
        for path, photo in zip(paths, MADE, strict=True)
    }
    dataset = supervision.DetectionDataset(classes=NAMES, images=paths, annotations=annotations)

    def detect(shown: Any) -> Any:
        photo = MADE[int(shown[0, 0, 0])]
        return supervision.Detections(xyxy=photo.found, confidence=photo.scores, class_id=photo.found_labels)

    evaluation = run_recipe("supervision", dataset=dataset, detect=detect)["evaluator"].compute()
    assert_same(evaluation.summary, expected(MADE, paths).summary)
    assert capsys.readouterr().out == evaluation.table() + "\n"


class Label(types.SimpleNamespace):
    """An object of FiftyOne."""

    def get_attribute_value(self, name: str, default: Any) -> Any:
        return getattr(self, name, default)


class Sample(dict[str, Any]):
    """A sample of FiftyOne, whose own need a database."""

    def __init__(self, number: int, **fields: Any) -> None:
        super().__init__(fields)
        self.id, self.metadata = f"{number:024x}", types.SimpleNamespace(width=128, height=64)


@pytest.mark.parametrize("own_labels", [False, True])
def test_fiftyone(own_labels: bool) -> None:
    made: Any = types.SimpleNamespace(Detection=Label, Detections=types.SimpleNamespace)
    if own_labels:
        made = pytest.importorskip("fiftyone.core.labels")

    def labelled(boxes: Any, labels: Any, **values: Any) -> Any:
        size = [128, 64] * 2  # powers of two: fractions of them are exact
        corners = boxes.astype(float)
        fractions = np.hstack([corners[:, :2], corners[:, 2:] - corners[:, :2]]) / size
        columns = {name: value.tolist() for name, value in values.items()}
        objects = [
            made.Detection(label=NAMES[label], bounding_box=box, **{name: value[at] for name, value in columns.items()})
            for at, (box, label) in enumerate(zip(fractions.tolist(), labels.tolist(), strict=True))
        ]
        return made.Detections(detections=objects) if objects else None

    crowds = [np.arange(len(photo.objects)) == 3 for photo in MADE]
    assert any(map(np.any, crowds))
    samples = [
        Sample(
            at,
            ground_truth=labelled(photo.objects, photo.object_labels, iscrowd=crowd),
            predictions=labelled(photo.found, photo.found_labels, confidence=photo.scores),
        )
        for at, (photo, crowd) in enumerate(zip(MADE, crowds, strict=True))
    ]
    assert any(sample["predictions"] is None for sample in samples)
    evaluation = run_recipe("fiftyone")["evaluate"](types.SimpleNamespace(iter_samples=lambda: iter(samples)), NAMES)
    wanted = Evaluator(categories=NAMES)
    for photo, crowd in zip(MADE, crowds, strict=True):
        target = {"boxes": photo.objects.astype(float), "labels": photo.object_labels, "iscrowd": crowd}
        found = {"boxes": photo.found.astype(float), "labels": photo.found_labels, "scores": photo.scores.astype(float)}
        wanted.update([found], [target])
    assert_same(evaluation.summary, wanted.compute().summary)
    assert set(evaluation.worst_images(9).image_ids) <= {sample.id for sample in samples}


def test_sahi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    image = pytest.importorskip("PIL.Image")
    sahi_model, prediction, predict = (
        pytest.importorskip(f"sahi.{name}") for name in ("models.base", "prediction", "predict")
    )

    class Recorded(sahi_model.DetectionModel):  # type: ignore[misc,name-defined]
        """Finds a photo's boxes that lie in a slice; the colour of a pixel tells which photo it is, and where."""

        def load_model(self) -> None:
            self.model = "recorded"

        def perform_inference(self, image: Any) -> None:
            self._original_predictions = int(image[0, 0, 0]), image.shape

        def _create_object_prediction_list_from_original_predictions(
            self, shift_amount_list: Any = None, full_shape_list: Any = None
        ) -> None:
            at, (height, width, _) = self._original_predictions
            (x, y), photo = shift_amount_list[0], MADE[at]
            made = []
            for box, score, label in zip(photo.found, photo.scores, photo.found_labels, strict=True):
                if box[0] >= x and box[1] >= y and box[2] <= x + width and box[3] <= y + height:
                    corners = (box.astype(float) - [x, y, x, y]).tolist()
                    made.append(
                        prediction.ObjectPrediction(
                            bbox=corners,
                            category_id=int(label),
                            category_name=NAMES[label],
                            score=float(score),
                            shift_amount=[x, y],
                            full_shape=full_shape_list[0],
                        )
                    )
            self._object_prediction_list_per_image = [made]

    monkeypatch.chdir(tmp_path)
    ids = [7, 3, 11]  # of the categories, in the order of the names
    for at in range(len(MADE)):
        image.new("RGB", (96, 64), (at, at, at)).save(f"{at}.png")
    truth = expected(MADE, list(range(100, 100 + len(MADE))), ids=ids).ground_truth
    assert truth is not None
    write_instances(tmp_path, truth, (96, 64))
    model = Recorded(confidence_threshold=0.0)
    names = run_recipe("sahi", detection_model=model)
    rows: dict[str, Any] = {"image_ids": [], "category_ids": [], "boxes": [], "scores": []}
    for at in range(len(MADE)):
        result = predict.get_sliced_prediction(f"{at}.png", model, slice_height=512, slice_width=512, verbose=0)
        for found in result.object_prediction_list:
            rows["image_ids"].append(100 + at)
            rows["category_ids"].append(ids[found.category.id])
            rows["boxes"].append(found.bbox.to_xywh())
            rows["scores"].append(found.score.value)
    wanted = evaluate(truth, Detections.from_arrays(**rows))
    assert len(rows["scores"]) > 10
    assert_same(evaluate(names["truth"], names["records"]).summary, wanted.summary)
    assert capsys.readouterr().out.endswith(wanted.table() + "\n")


def test_mmdetection() -> None:
    torch, mmengine = (pytest.importorskip(name) for name in ("torch", "mmengine.evaluator"))
    structures = pytest.importorskip("mmengine.structures")
    run_recipe("mmdetection")
    evaluator = mmengine.Evaluator({"type": "IoukitMetric"})
    evaluator.dataset_meta = {"classes": tuple(NAMES)}
    samples = []
    for at, photo in enumerate(MADE):
        found, truth = as_tensors(torch, photo)
        sample = structures.BaseDataElement(metainfo={"img_id": 50 + at})
        sample.pred_instances = structures.InstanceData(
            bboxes=found["boxes"], scores=found["scores"], labels=found["labels"]
        )
        sample.gt_instances = structures.InstanceData(bboxes=truth["boxes"], labels=truth["labels"])
        samples.append(sample)
    for part in (samples[:4], samples[4:]):
        evaluator.process(data_samples=part)
    assert_same(evaluator.evaluate(len(samples)), expected(MADE, list(range(50, 50 + len(MADE)))).summary)


def test_detectron2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_installed("detectron2"):
        package, evaluation = types.ModuleType("detectron2"), types.ModuleType("detectron2.evaluation")
        evaluation.DatasetEvaluator = object  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "detectron2", package)
        monkeypatch.setitem(sys.modules, "detectron2.evaluation", evaluation)
    ids = [7, 3, 11]
    image_ids = list(range(100, 100 + len(MADE)))
    wanted = expected(MADE, image_ids, ids=ids)
    assert wanted.ground_truth is not None
    write_instances(tmp_path, wanted.ground_truth, (96, 64))
    evaluator = run_recipe("detectron2")["IoukitEvaluator"](str(tmp_path / "instances.json"), NAMES)
    outputs = [
        as_instances({"boxes": photo.found, "scores": photo.scores, "labels": photo.found_labels}, lambda array: array)
        for photo in MADE
    ]
    for _ in range(2):
        evaluator.reset()
        for part in (slice(4), slice(4, None)):
            evaluator.process([{"image_id": number} for number in image_ids[part]], outputs[part])
        assert_same(evaluator.evaluate()["bbox"], wanted.summary)
