"""The adapters of docs/frameworks.md, in the places of the projects; the numbers are those of pycocotools, bit by bit.

Owns two kinds of tests. In the first, a stand-in has the names that the adapter takes from the project, and makes the
calls that the project makes (their order, positional or by name, and what is set on ``params``). It runs everywhere,
and says which of these calls ioukit must not lose. In the second, the project itself runs where it is installed.
Does not own speed: `benchmarks/adapters.py` runs the same adapters on files.
"""

from __future__ import annotations

import copy
import json
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from frameworks.made_data import NAMES, photos
from frameworks.recipes import ADAPTERS, run_adapter
from ioukit.compat.pycocotools import mask as our_mask

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

peer_coco, peer_eval = (pytest.importorskip(f"pycocotools.{name}") for name in ("coco", "cocoeval"))

# The projects warn about versions of each other, and one of their modules prints while it is imported.
pytestmark = pytest.mark.filterwarnings("ignore")

CURVES = ("precision", "recall", "scores")


def made_records() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A data set in COCO's format with crowds, and detections of it, some of equal score."""
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image, photo in enumerate(photos(30, seed=4), 10):
        for kind, boxes, labels in (
            (annotations, photo.objects, photo.object_labels),
            (results, photo.found, photo.found_labels),
        ):
            for box, label in zip(boxes.astype(np.float64).tolist(), labels.tolist(), strict=True):
                x, y, right, lower = box
                kind.append({"image_id": image, "category_id": label + 1, "bbox": [x, y, right - x, lower - y]})
    for at, record in enumerate(annotations, 1):
        record |= {"id": at, "iscrowd": int(at % 9 == 0), "area": record["bbox"][2] * record["bbox"][3]}
    for at, record in enumerate(results):
        record["score"] = (at * 7 % 20) / 20
    return {
        "info": {},
        "images": [{"id": image, "width": 96, "height": 64} for image in range(10, 40)],
        "categories": [{"id": at, "name": name} for at, name in enumerate(NAMES, 1)],
        "annotations": annotations,
    }, results


TRUTH, RESULTS = made_records()


def indexed(kind: Any, dataset: dict[str, Any]) -> Any:
    """A data set as projects make it from a dictionary."""
    coco = kind()
    coco.dataset = copy.deepcopy(dataset)
    coco.createIndex()
    return coco


def assert_same_evaluation(own: Any, peer: Any) -> None:
    np.testing.assert_array_equal(own.stats, peer.stats)
    for name in CURVES:
        np.testing.assert_array_equal(own.eval[name], peer.eval[name])
    assert peer.stats[0] > 0.1


def finish(evaluation: Any) -> Any:
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return evaluation


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that puts a module with some names in the place of a project's module."""

    def put(name: str, **names: Any) -> Any:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
            if end > 1:
                setattr(sys.modules[".".join(parts[: end - 1])], parts[end - 1], sys.modules[".".join(parts[:end])])
        module: Any = sys.modules[name]
        for key, value in names.items():
            setattr(module, key, value)
        return module

    return put


def test_every_adapter_of_the_page_has_a_test() -> None:
    here = sys.modules[__name__]
    for name in ADAPTERS:
        assert hasattr(here, f"test_calls_of_{name.replace('-', '_').replace(' ', '_')}"), name


class NamedBackend:
    """As the class for backends of TorchMetrics: made with a name, its three surfaces are properties."""

    def __init__(self, backend: str) -> None:
        assert backend in {"pycocotools", "faster_coco_eval"}
        self.backend = backend

    @property
    def coco(self) -> Any:
        raise AssertionError("the adapter gives its own class")

    cocoeval = mask_utils = coco


class PackageBackend:
    """As RF-DETR's class for hotcoco: its three surfaces are those of a package."""

    def __init__(self) -> None:
        self._package()

    def _package(self) -> Any:
        raise AssertionError("the adapter gives its own package")

    @property
    def coco(self) -> Any:
        return self._package().COCO

    @property
    def cocoeval(self) -> Any:
        return self._package().COCOeval

    @property
    def mask_utils(self) -> Any:
        return self._package().mask


def one_pass(backend: Any, caps: list[int]) -> Any:
    """The calls of a project that makes both sides from dictionaries."""
    truth, found = indexed(backend.coco, TRUTH), indexed(backend.coco, {**TRUTH, "annotations": detections()})
    return evaluated(backend, truth, found, caps)


def one_pass_of_array(backend: Any, caps: list[int]) -> Any:
    """The calls of RF-DETR's metric with hotcoco: the ground truth is a dictionary, the detections are an array."""
    truth = backend.coco(copy.deepcopy(TRUTH))
    rows = [[one["image_id"], *one["bbox"], one["score"], one["category_id"]] for one in RESULTS]
    return evaluated(backend, truth, truth.loadRes(np.array(rows)), caps)


def evaluated(backend: Any, truth: Any, found: Any, caps: list[int]) -> Any:
    """`params` is read, changed and set again, the kind is given by name."""
    evaluation = backend.cocoeval(truth, found, iouType="bbox")
    params = evaluation.params
    params.iouThrs = np.asarray(np.linspace(0.5, 0.95, 10, dtype=np.float32).tolist(), dtype=np.float64)
    params.recThrs = np.asarray(np.linspace(0, 1, 101, dtype=np.float32).tolist(), dtype=np.float64)
    params.maxDets = caps
    params.catIds = [1, 2, 3]
    evaluation.params = params
    return finish(evaluation)


def detections() -> list[dict[str, Any]]:
    """Detections as TorchMetrics writes them, with the members of annotations."""
    areas = [record["bbox"][2] * record["bbox"][3] for record in RESULTS]
    return [
        {**record, "id": at, "area": area, "iscrowd": 0}
        for at, (record, area) in enumerate(zip(RESULTS, areas, strict=True), 1)
    ]


def peer_backend() -> Any:
    return types.SimpleNamespace(coco=peer_coco.COCO, cocoeval=peer_eval.COCOeval)


def rf_detr_backend(stand_in: Any) -> Any:
    registry: dict[str, Any] = {}
    stand_in("rfdetr.training.coco_map", _HotCocoBackend=PackageBackend, _BACKENDS=registry)
    run_adapter("rf-detr")
    return registry["ioukit"]()


def test_calls_of_rf_detr(stand_in: Any) -> None:
    backend = rf_detr_backend(stand_in)
    assert backend.mask_utils is our_mask
    assert_same_evaluation(one_pass_of_array(backend, [1, 10, 100]), one_pass(peer_backend(), [1, 10, 100]))
    own, peer = one_pass_of_array(backend, [1, 10, 3]), one_pass(peer_backend(), [1, 10, 3])
    for name in CURVES:
        np.testing.assert_array_equal(own.eval[name], peer.eval[name])
    np.testing.assert_array_equal(own.stats[1:], peer.stats[1:])
    at_last = peer.eval["precision"][:, :, :, 0, -1]  # pycocotools has -1 here, RF-DETR the AP at the last cap
    assert (peer.stats[0], own.stats[0]) == (-1, np.mean(at_last[at_last > -1]))


def test_rf_detr_has_no_number_where_nothing_is_defined(stand_in: Any) -> None:
    backend = rf_detr_backend(stand_in)
    truth = backend.coco({**TRUTH, "annotations": []})
    found = backend.coco({**TRUTH, "annotations": detections()})  # as RF-DETR makes them for masks
    assert finish(backend.cocoeval(truth, found, iouType="bbox")).stats[0] == -1


def test_calls_of_torchmetrics(stand_in: Any) -> None:
    class MeanAveragePrecision:
        def __init__(self, **options: Any) -> None:
            self.options = options

    stand_in("torchmetrics.detection.helpers", CocoBackend=NamedBackend)
    sys.modules["torchmetrics.detection"].MeanAveragePrecision = MeanAveragePrecision  # type: ignore[attr-defined]
    metric = run_adapter("torchmetrics")["IoukitMeanAveragePrecision"](iou_type="bbox")
    assert metric.options == {"iou_type": "bbox"}
    backend = metric._coco_backend
    assert (backend.backend, backend.mask_utils) == ("pycocotools", our_mask)
    for caps in ([1, 10, 100], [1, 2, 3]):
        own, peer = (one_pass(made, caps) for made in (backend, peer_backend()))
        np.testing.assert_array_equal(own.stats, peer.stats)
        np.testing.assert_array_equal(own.eval["precision"], peer.eval["precision"])


def validated(evaluator: Any) -> Any:
    """The calls of LibreYOLO's evaluator: images and caps are set, matches are read image by image."""
    evaluation = evaluator._build_coco_eval()
    evaluation.params.imgIds = sorted(image["id"] for image in TRUTH["images"][:-3])
    evaluation.params.maxDets = sorted({1, 10, 100})
    return finish(evaluation)


def test_calls_of_libreyolo(stand_in: Any) -> None:
    class COCOEvaluator:
        def __init__(self, coco_gt: Any, iou_type: str = "bbox") -> None:
            self.coco_gt, self.iou_type, self.results = coco_gt, iou_type, copy.deepcopy(RESULTS)
            self.last_backend = ""

        def _build_coco_eval(self) -> Any:
            return peer_eval.COCOeval(self.coco_gt, self.coco_gt.loadRes(self.results), self.iou_type)

    stand_in("libreyolo.validation.coco_evaluator", COCOEvaluator=COCOEvaluator)
    truth = indexed(peer_coco.COCO, TRUTH)
    peer = validated(COCOEvaluator(truth))
    run_adapter("libreyolo")
    evaluator = COCOEvaluator(truth)
    own = validated(evaluator)
    assert evaluator.last_backend.startswith("ioukit 0")
    assert_same_evaluation(own, peer)
    # The best confidence of each class is searched in these records; a list is what LibreYOLO asks for.
    assert isinstance(own.evalImgs, list)
    for one, other in zip(own.evalImgs, peer.evalImgs, strict=True):
        assert (one is None) == (other is None)
        for name in ("dtScores", "dtMatches", "dtIgnore", "gtIgnore") if one else ():
            np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("positive_split", [False, True])
def test_calls_of_sam_3(positive_split: bool) -> None:
    create = run_adapter("sam 3")["create_offline_evaluator"]
    truth = indexed(peer_coco.COCO, TRUTH)
    results = truth.loadRes(copy.deepcopy(RESULTS))
    count = len(results.dataset["annotations"])
    own = finish(create(truth, results, "bbox", positive_split))
    present = {(record["image_id"], record["category_id"]) for record in TRUTH["annotations"]}
    kept = [one for one in RESULTS if not positive_split or (one["image_id"], one["category_id"]) in present]
    assert (len(kept) < len(RESULTS)) == positive_split
    assert len(results.dataset["annotations"]) == count  # the caller's results stay
    assert_same_evaluation(own, finish(peer_eval.COCOeval(truth, truth.loadRes(copy.deepcopy(kept)), "bbox")))


def test_calls_of_sahi(stand_in: Any, tmp_path: Path) -> None:
    kept = []

    def evaluate_core(
        dataset_path: str,
        result_path: str,
        COCO: Any,
        COCOeval: Any,
        classwise: bool = False,
        max_detections: int = 500,
    ) -> dict[str, Any]:
        truth = COCO(dataset_path)
        with open(result_path) as file:
            results = truth.loadRes(json.load(file))
        evaluation = COCOeval(truth, results, "bbox")
        evaluation.params.areaRng = [[0, 10000000000], [0, 1024], [1024, 9216], [9216, 10000000000]]
        evaluation.params.catIds = list(truth.cats.keys())
        evaluation.params.maxDets = [max_detections]
        evaluation.params.iouThrs = np.linspace(0.5, 0.95, 10)
        evaluation.evaluate()
        evaluation.accumulate()
        kept.append(evaluation)
        return {"classwise": classwise, "images": [len(truth.getImgIds(catIds=[one])) for one in truth.cats]}

    stand_in("sahi.scripts.coco_evaluation", evaluate_core=evaluate_core)
    gt, dt = coco_files(tmp_path)
    found = run_adapter("sahi")["evaluate"](str(gt), str(dt), classwise=True)
    wanted = evaluate_core(str(gt), str(dt), peer_coco.COCO, peer_eval.COCOeval, classwise=True)
    assert found == wanted
    for name in CURVES:
        np.testing.assert_array_equal(kept[0].eval[name], kept[1].eval[name])


def test_calls_of_detectron2(stand_in: Any, tmp_path: Path) -> None:
    module = stand_in("detectron2.evaluation.coco_evaluation", COCO=peer_coco.COCO, COCOeval_opt=peer_eval.COCOeval)
    path = tmp_path / "gt.json"
    path.write_text(json.dumps(TRUTH))

    def evaluate() -> Any:
        truth = module.COCO(str(path))
        assert "annotations" in truth.dataset
        evaluation = module.COCOeval_opt(truth, truth.loadRes(copy.deepcopy(RESULTS)), "bbox")
        evaluation.params.maxDets = [1, 10, 100]
        evaluation.params.imgIds = list(range(10, 30))
        return finish(evaluation)

    peer = evaluate()
    run_adapter("detectron2")
    own = evaluate()
    assert type(own) is not type(peer)
    assert_same_evaluation(own, peer)


def test_calls_of_mmdetection(stand_in: Any) -> None:
    module = stand_in("mmdet.evaluation.metrics.coco_metric", COCOeval=peer_eval.COCOeval)

    class COCO(peer_coco.COCO):  # type: ignore[misc,name-defined]
        """As MMDetection's: further names for the methods."""

        def get_img_ids(self) -> list[int]:
            return list(self.getImgIds())

    def evaluate() -> Any:
        truth = indexed(COCO, TRUTH)
        evaluation = module.COCOeval(truth, truth.loadRes(copy.deepcopy(RESULTS)), "bbox")
        evaluation.params.catIds = truth.getCatIds(catNms=NAMES)
        evaluation.params.imgIds = truth.get_img_ids()
        evaluation.params.maxDets = [100, 300, 1000]
        evaluation.params.iouThrs = np.linspace(0.5, 0.95, 10)
        return finish(evaluation)

    peer = evaluate()
    run_adapter("mmdetection")
    own = evaluate()
    assert type(own) is not type(peer)
    assert_same_evaluation(own, peer)


def coco_files(folder: Path) -> tuple[Path, Path]:
    gt, dt = folder / "gt.json", folder / "dt.json"
    gt.write_text(json.dumps(TRUTH))
    dt.write_text(json.dumps(RESULTS))
    return gt, dt


def as_validator(images: range, *, training: bool = False) -> Any:
    """What the method of Ultralytics' validator reads of it."""
    return types.SimpleNamespace(
        args=types.SimpleNamespace(save_json=True),
        jdict=[None],
        is_coco=True,
        is_lvis=False,
        gdict=None,
        training=training,
        dataloader=types.SimpleNamespace(dataset=types.SimpleNamespace(im_files=[f"{one:012}.jpg" for one in images])),
    )


@pytest.mark.parametrize("training", [False, True])
def test_calls_of_ultralytics(stand_in: Any, tmp_path: Path, training: bool) -> None:
    stand_in("ultralytics.models.yolo.detect", DetectionValidator=object)
    validator = run_adapter("ultralytics")["IoukitValidator"]
    gt, dt = coco_files(tmp_path)
    given = {"fitness": 0.25, "metrics/mAP50(B)": 0.5}
    found = validator.coco_evaluate(as_validator(range(10, 30), training=training), given, dt, gt)
    truth = indexed(peer_coco.COCO, TRUTH)
    peer = peer_eval.COCOeval(truth, truth.loadRes(copy.deepcopy(RESULTS)), "bbox")
    peer.params.imgIds = list(range(10, 30))
    ap, ap50, _, small, medium, large = finish(peer).stats[:6]
    wanted = {"metrics/mAP_small(B)": small, "metrics/mAP_medium(B)": medium, "metrics/mAP_large(B)": large}
    if training:
        wanted |= given
    else:
        wanted |= {"metrics/mAP50(B)": ap50, "metrics/mAP50-95(B)": ap, "fitness": 0.9 * ap + 0.1 * ap50}
    assert found == wanted


# ---- The projects themselves, where they are installed. ----


def tensors(side: dict[str, Any]) -> dict[str, Any]:
    torch = pytest.importorskip("torch")
    return {name: torch.from_numpy(value) for name, value in side.items()}


def batches(*, masks: bool = False) -> tuple[list[Any], list[Any]]:
    made = photos(20, seed=4)
    preds = [{"boxes": one.found, "scores": one.scores, "labels": one.found_labels} for one in made]
    target = [{"boxes": one.objects, "labels": one.object_labels} for one in made]
    if masks:
        for one in preds + target:
            one["masks"] = filled(one["boxes"])
    return [tensors(one) for one in preds], [tensors(one) for one in target]


def filled(boxes: Any) -> Any:
    """(N, 64, 96) masks: what lies in each box."""
    y, x = np.mgrid[:64, :96]
    left, top, right, lower = boxes.T[..., None, None]
    return (left <= x) & (x < right) & (top <= y) & (y < lower)


def assert_same_results(own: dict[str, Any], peer: dict[str, Any]) -> None:
    assert own.keys() == peer.keys()
    for name, value in peer.items():
        np.testing.assert_array_equal(np.asarray(own[name]), np.asarray(value), err_msg=name)


def test_torchmetrics_itself() -> None:
    pytest.importorskip("torchvision")  # without it, old versions of TorchMetrics have no MeanAveragePrecision
    detection = pytest.importorskip("torchmetrics.detection")
    kind = run_adapter("torchmetrics")["IoukitMeanAveragePrecision"]
    results = []
    for metric in (kind(class_metrics=True), detection.MeanAveragePrecision(class_metrics=True)):
        metric.update(*batches())
        results.append(metric.compute())
    assert_same_results(*results)
    assert results[0]["map"] > 0.1


@pytest.mark.parametrize("caps", [[1, 10, 100], [1, 10, 500]])
@pytest.mark.parametrize("kinds", ["bbox", ("bbox", "segm")])
def test_rf_detr_itself(caps: list[int], kinds: Any) -> None:
    coco_map = pytest.importorskip("rfdetr.training.coco_map")
    pytest.importorskip("faster_coco_eval")
    if "ioukit" not in coco_map._BACKENDS:
        run_adapter("rf-detr")
    results = []
    for backend in ("ioukit", "faster_coco_eval"):
        metric = coco_map.OnePassCocoMeanAveragePrecision(
            iou_type=kinds, max_detection_thresholds=caps, class_metrics=True, backend=backend
        )
        metric.update(*batches(masks=kinds != "bbox"))
        results.append(metric.compute())
    assert_same_results(*results)
    assert all(results[0][name] > 0.1 for name in (["map"] if kinds == "bbox" else ["bbox_map", "segm_map"]))


def test_libreyolo_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluators = pytest.importorskip("libreyolo.validation.coco_evaluator")
    monkeypatch.setattr(evaluators.COCOEvaluator, "_build_coco_eval", evaluators.COCOEvaluator._build_coco_eval)
    results = []
    for adapt in (False, True):
        if adapt:
            run_adapter("libreyolo")
        evaluator = evaluators.COCOEvaluator(indexed(peer_coco.COCO, TRUTH))
        for image, photo in enumerate(photos(30, seed=4), 10):
            found = {"boxes": photo.found, "scores": photo.scores, "classes": photo.found_labels + 1}
            evaluator.update(found, image)
        results.append((evaluator.compute(), evaluator.best_conf_thresholds(), evaluator.last_backend))
    assert_same_results(results[1][0], results[0][0])
    assert results[1][1] == results[0][1]
    assert [backend.partition(" ")[0] for *_, backend in results] == ["pycocotools", "ioukit"]


def test_sahi_itself(tmp_path: Path) -> None:
    script = pytest.importorskip("sahi.scripts.coco_evaluation")
    gt, dt = coco_files(tmp_path)
    own = run_adapter("sahi")["evaluate"](str(gt), str(dt), classwise=True)
    peer = script.evaluate_core(str(gt), str(dt), COCO=peer_coco.COCO, COCOeval=peer_eval.COCOeval, classwise=True)
    assert own["eval_results"] == peer["eval_results"]
    assert own["eval_results"]["bbox_mAP"] > 0.1


def test_sam_3_itself() -> None:
    offline = pytest.importorskip("sam3.eval.coco_eval_offline")
    create = run_adapter("sam 3")["create_offline_evaluator"]
    truth = indexed(peer_coco.COCO, TRUTH)
    results = truth.loadRes(copy.deepcopy(RESULTS))
    peer = offline.COCOevalCustom(truth, results, "bbox", dt_only_positive=True)
    assert_same_evaluation(finish(create(truth, results, "bbox", True)), finish(peer))


def test_ultralytics_itself(tmp_path: Path) -> None:
    pytest.importorskip("ultralytics")
    pytest.importorskip("faster_coco_eval")
    detect = pytest.importorskip("ultralytics.models.yolo.detect")
    gt, dt = coco_files(tmp_path)
    own, peer = (
        kind.coco_evaluate(as_validator(range(10, 40)), {}, str(dt), str(gt))
        for kind in (run_adapter("ultralytics")["IoukitValidator"], detect.DetectionValidator)
    )
    assert own.keys() == peer.keys()
    for name, value in peer.items():  # the means of faster-coco-eval differ in the last bits
        assert own[name] == pytest.approx(value, abs=1e-15), name
    assert own["fitness"] > 0.1


def test_mmdetection_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("mmcv")
    metrics = pytest.importorskip("mmdet.evaluation.metrics.coco_metric")
    monkeypatch.setattr(metrics, "COCOeval", metrics.COCOeval)
    gt, _ = coco_files(tmp_path)
    results = []
    for adapt in (False, True):
        if adapt:
            run_adapter("mmdetection")
        metric = metrics.CocoMetric(str(gt), classwise=True)
        metric.dataset_meta = {"classes": tuple(NAMES)}
        for image, photo in enumerate(photos(30, seed=4), 10):
            found = {"bboxes": photo.found, "scores": photo.scores, "labels": photo.found_labels}
            instances = {name: torch.from_numpy(value) for name, value in found.items()}
            metric.process({}, [{"img_id": image, "ori_shape": (64, 96), "pred_instances": instances}])
        results.append(metric.compute_metrics(metric.results))
    assert_same_results(results[1], results[0])
    assert results[0]["bbox_mAP"] > 0.1
