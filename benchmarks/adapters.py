"""ioukit in the places where projects evaluate themselves, beside the backends that they have.

    pip install ".[bench,torch]" "rfdetr[train]" libreyolo sahi fiftyone
    python benchmarks/adapters.py                     # the detections of examples/coco_val2017_100
    python benchmarks/make_coco.py bench-data small
    python benchmarks/adapters.py bench-data/gt.json bench-data/dt_small.json

The adapters are those of docs/frameworks.md: the program reads them from the page and runs them in the project. A
project that is not installed is named and left out, and so is a backend of it. Every run is a fresh process that reads
ground truth and detections in COCO's format, gives them to the project as its own validation does, and keeps every
value that the project returns. Time begins when the data and the project are loaded; it is that of the processor, in
all threads, so that other work on the machine does not count. Memory is by how much the peak of the process rises in
that time. Backends take turns; the table has medians, and the ratio of the times to that of ioukit.

"Equal" counts values: those of the project's backend that have the same bits under ioukit, and the largest difference
of the others. The second table has what a backend brings along: the packages that it needs, and its licence.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import io
import json
import logging
import re
import resource
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from _fresh import run_command
from _machine import described
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "coco_val2017_100"
BATCH = 16  # images
Values = dict[str, Any]
"""Names and numbers or arrays that a project returned."""


@dataclass(frozen=True)
class Dump:
    """Ground truth and detections, as files and image by image."""

    gt: str
    dt: str
    image_ids: list[int] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    """Of each image: its annotations."""
    found: list[Any] = field(default_factory=list)
    """Of each image: its detections."""


def read(gt: str, dt: str) -> Dump:
    truth, results = (json.loads(Path(path).read_bytes()) for path in (gt, dt))
    ids = [image["id"] for image in truth["images"]]
    objects: dict[int, list[Any]] = {one: [] for one in ids}
    found: dict[int, list[Any]] = {one: [] for one in ids}
    for records, by_image in ((truth["annotations"], objects), (results, found)):
        for record in records:
            by_image[record["image_id"]].append(record)
    return Dump(gt, dt, ids, list(objects.values()), list(found.values()))


def columns(records: list[Any]) -> dict[str, Any]:
    """The boxes of an image as corners in float32, as detectors return them, and their labels."""
    boxes = np.array([record["bbox"] for record in records], np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return {
        "boxes": boxes.astype(np.float32),
        "labels": np.array([record["category_id"] for record in records], np.int64),
    }


def scored(records: list[Any]) -> dict[str, Any]:
    return {**columns(records), "scores": np.array([record["score"] for record in records], np.float32)}


def page_code(name: str, kind: str = "adapter") -> dict[str, Any]:
    """Runs the adapter of a project, as the page has it, or its recipe; returns its names."""
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- {kind}: {name} -->\n```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    names: dict[str, Any] = {"__name__": "adapter"}
    exec(compile(found[1], f"<docs/frameworks.md: {name}>", "exec"), names)
    return names


class Cost(NamedTuple):
    """What a call took."""

    seconds: float
    """Of the processor, in all threads."""
    memory: float
    """Bytes by which the peak of the process rose."""


def timed(call: Callable[[], Any]) -> tuple[Cost, Any]:
    """What a call takes, and what it returns; what it prints is left out."""
    with contextlib.redirect_stdout(io.StringIO()):
        before, start = peak(), time.process_time()
        result = call()
        return Cost(time.process_time() - start, peak() - before), result


def peak() -> float:
    """The most memory that this process had so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def curves(evaluator: Any) -> Values:
    """What is left of an evaluation in the objects that all backends share."""
    return {name: evaluator.eval[name] for name in ("precision", "recall", "scores")}


def update_and_compute(metric: Any, dump: Dump) -> tuple[Cost, Values]:
    """Gives all images to a metric with the interface of TorchMetrics, in batches."""
    torch = importlib.import_module("torch")

    def tensors(arrays: dict[str, Any]) -> dict[str, Any]:
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    targets = [
        tensors(
            {
                **columns(records),
                "iscrowd": np.array([record.get("iscrowd", 0) for record in records], np.int64),
                "area": np.array([record["area"] for record in records], np.float32),
            }
        )
        for records in dump.objects
    ]
    preds = [tensors(scored(records)) for records in dump.found]

    def run() -> Any:
        for start in range(0, len(preds), BATCH):
            metric.update(preds[start : start + BATCH], targets[start : start + BATCH])
        return metric.compute()

    cost, result = timed(run)
    return cost, {name: value.numpy() for name, value in result.items() if torch.is_tensor(value)}


def rf_detr(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The metric of its validation: caps 1, 10 and 500, numbers of each class."""
    if backend == "ioukit":
        page_code("rf-detr")
    metric = importlib.import_module("rfdetr.training.coco_map").OnePassCocoMeanAveragePrecision(
        max_detection_thresholds=[1, 10, 500], class_metrics=True, backend=backend
    )
    return update_and_compute(metric, dump)


def torchmetrics(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The metric; all its curves are kept of the first 500 images, as it needs long to convert them."""

    def make(**options: Any) -> Any:
        if backend == "ioukit":
            return page_code("torchmetrics")["IoukitMeanAveragePrecision"](**options)
        if backend == "ioukit.torch":
            return importlib.import_module("ioukit.torch").MeanAveragePrecision(**options)
        return importlib.import_module("torchmetrics.detection").MeanAveragePrecision(backend=backend, **options)

    cost, numbers = update_and_compute(make(), dump)
    first = replace(dump, image_ids=dump.image_ids[:500], objects=dump.objects[:500], found=dump.found[:500])
    _, more = update_and_compute(make(extended_summary=True), first)
    return cost, {**numbers, **{f"{name} of 500 images": value for name, value in more.items()}}


def libreyolo(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The evaluator of its validator, and the best confidence of each class."""
    if backend == "ioukit":
        page_code("libreyolo")
    evaluators = importlib.import_module("libreyolo.validation.coco_evaluator")
    with contextlib.redirect_stdout(io.StringIO()):
        truth = importlib.import_module("pycocotools.coco").COCO(dump.gt)
    evaluator = evaluators.COCOEvaluator(truth, faster_coco_eval=backend == "faster_coco_eval")
    for image_id, records in zip(dump.image_ids, dump.found, strict=True):
        found = scored(records)
        evaluator.update({**found, "classes": found["labels"]}, image_id)
    cost, result = timed(evaluator.compute)
    best = evaluator.best_conf_thresholds()
    return cost, {
        **result,
        **curves(evaluator._last_coco_eval),
        "best confidence": np.array([best["global"], *(best["per_class"][key] for key in sorted(best["per_class"]))]),
    }


def sam_3(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The evaluation of a file of predictions, where categories that an image lacks are left out."""
    offline = importlib.import_module("sam3.eval.coco_eval_offline")
    with contextlib.redirect_stdout(io.StringIO()):
        truth = importlib.import_module("pycocotools.coco").COCO(dump.gt)
        results = truth.loadRes(dump.dt)

    def peer(truth: Any, results: Any, iou_type: str, positive_split: bool) -> Any:
        return offline.COCOevalCustom(truth, results, iou_type, dt_only_positive=positive_split)

    create = page_code("sam 3")["create_offline_evaluator"] if backend == "ioukit" else peer

    def run() -> Any:
        evaluator = create(truth, results, "bbox", True)
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
        return evaluator

    cost, evaluator = timed(run)
    return cost, {"stats": evaluator.stats, **curves(evaluator)}


def keep(kind: Any, kept: list[Any]) -> Callable[..., Any]:
    """A class that also puts what it makes into a list, for projects that return rounded numbers alone."""

    def make(*arguments: Any, **options: Any) -> Any:
        kept.append(kind(*arguments, **options))
        return kept[-1]

    return make


def sahi(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """`sahi coco evaluate` with the numbers of each class."""
    script = importlib.import_module("sahi.scripts.coco_evaluation")
    kept: list[Any] = []
    if backend == "ioukit":
        names = page_code("sahi")
        names["COCOeval"] = keep(names["COCOeval"], kept)
        evaluate = names["evaluate"]
    else:
        coco, cocoeval = (importlib.import_module(f"pycocotools.{name}") for name in ("coco", "cocoeval"))
        evaluate = functools.partial(script.evaluate_core, COCO=coco.COCO, COCOeval=keep(cocoeval.COCOeval, kept))
    with tempfile.TemporaryDirectory() as folder:
        cost, result = timed(lambda: evaluate(dump.gt, dump.dt, classwise=True, out_dir=folder))
    rounded = result["eval_results"]["results_per_category"]
    return cost, {
        "stats": kept[-1].stats,
        **curves(kept[-1]),
        **{name: float(value) for name, value in rounded.items()},
    }


def mmdetection(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """Its `CocoMetric` with the numbers of each class."""
    if backend == "ioukit":
        page_code("mmdetection")
    torch = importlib.import_module("torch")
    metrics: Any = importlib.import_module("mmdet.evaluation.metrics.coco_metric")
    kept: list[Any] = []
    metrics.COCOeval = keep(metrics.COCOeval, kept)
    with contextlib.redirect_stdout(io.StringIO()):
        metric = metrics.CocoMetric(dump.gt, classwise=True)
    names = {one["id"]: one["name"] for one in metric._coco_api.dataset["categories"]}
    metric.dataset_meta = {"classes": tuple(names.values())}
    labels = {one: at for at, one in enumerate(metric._coco_api.get_cat_ids(cat_names=list(names.values())))}
    for image_id, records in zip(dump.image_ids, dump.found, strict=True):
        found = scored(records)
        instances = {
            "bboxes": torch.from_numpy(found["boxes"]),
            "scores": torch.from_numpy(found["scores"]),
            "labels": torch.tensor([labels[one] for one in found["labels"].tolist()], dtype=torch.int64),
        }
        metric.process({}, [{"img_id": image_id, "ori_shape": (1, 1), "pred_instances": instances}])
    cost, result = timed(lambda: metric.compute_metrics(metric.results))
    return cost, {"stats": kept[-1].stats, **curves(kept[-1]), **result}


def ultralytics(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The evaluation of its validator's file of detections."""
    kind = importlib.import_module("ultralytics.models.yolo.detect").DetectionValidator
    if backend == "ioukit":
        kind = page_code("ultralytics")["IoukitValidator"]
    images = SimpleNamespace(dataset=SimpleNamespace(im_files=[f"{one:012}.jpg" for one in dump.image_ids]))
    validator = SimpleNamespace(
        args=SimpleNamespace(save_json=True),
        jdict=[None],
        is_coco=True,
        is_lvis=False,
        gdict=None,
        training=False,
        dataloader=images,
    )
    return timed(lambda: kind.coco_evaluate(validator, {}, dump.dt, dump.gt))


def transformers(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The metric of its example, which gets all images at once and returns the numbers of each class."""
    module = "torchmetrics.detection" if backend == "pycocotools" else "ioukit.torch"
    metric = importlib.import_module(module).MeanAveragePrecision(box_format="xyxy", class_metrics=True)
    return update_and_compute(metric, dump)


def detectron2(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """Its `COCOEvaluator`, with `use_fast_impl` for ioukit."""
    if backend == "ioukit":
        page_code("detectron2")
    torch, data, structures, evaluation = (
        importlib.import_module(name)
        for name in ("torch", "detectron2.data", "detectron2.structures", "detectron2.evaluation.coco_evaluation")
    )
    categories = sorted(json.loads(Path(dump.gt).read_bytes())["categories"], key=lambda one: int(one["id"]))
    contiguous = {one["id"]: at for at, one in enumerate(categories)}
    data.MetadataCatalog.get("dump").set(
        json_file=dump.gt,
        thing_classes=[one["name"] for one in categories],
        thing_dataset_id_to_contiguous_id=contiguous,
    )
    with contextlib.redirect_stdout(io.StringIO()):
        evaluator = evaluation.COCOEvaluator("dump", ("bbox",), False, use_fast_impl=backend == "ioukit")
    evaluator.reset()
    for image_id, records in zip(dump.image_ids, dump.found, strict=True):
        found, instances = scored(records), structures.Instances((1, 1))
        instances.pred_boxes = structures.Boxes(torch.from_numpy(found["boxes"]))
        instances.scores = torch.from_numpy(found["scores"])
        instances.pred_classes = torch.tensor([contiguous[one] for one in found["labels"].tolist()], dtype=torch.int64)
        evaluator.process([{"image_id": image_id}], [{"instances": instances}])
    cost, result = timed(evaluator.evaluate)
    return cost, dict(result["bbox"])


class FiftyOneSample(dict[str, Any]):
    """What stands for a sample of FiftyOne, whose own need a database."""

    def __init__(self, objects: Any, found: Any, image_id: int, width: int, height: int) -> None:
        super().__init__(ground_truth=objects, predictions=found)
        self.id, self.metadata = image_id, SimpleNamespace(width=width, height=height)


def fiftyone_samples(dump: Dump) -> tuple[Any, list[str]]:
    """Samples that answer what is asked to compute curves, and the labels."""
    labels = importlib.import_module("fiftyone.core.labels")
    truth = json.loads(Path(dump.gt).read_bytes())
    names = {one["id"]: one["name"] for one in truth["categories"]}
    sizes = {one["id"]: (one["width"], one["height"]) for one in truth["images"]}

    def labelled(records: list[Any]) -> Any:
        made = []
        for one in records:
            width, height = sizes[one["image_id"]]
            x, y, w, h = one["bbox"]
            values = {"label": names[one["category_id"]], "confidence": one.get("score")}
            values |= {"iscrowd": bool(one["iscrowd"])} if "iscrowd" in one else {}
            made.append(labels.Detection(bounding_box=[x / width, y / height, w / width, h / height], **values))
        return labels.Detections(detections=made)

    rows = [
        FiftyOneSample(labelled(objects), labelled(found), image_id, *sizes[image_id])
        for image_id, objects, found in zip(dump.image_ids, dump.objects, dump.found, strict=True)
    ]
    samples = SimpleNamespace(iter_samples=lambda **_options: iter(rows))
    samples.select_fields = lambda _fields: samples
    samples._handle_frame_field = lambda field: (field, False)
    return samples, list(names.values())


def fiftyone(backend: str, dump: Dump) -> tuple[Cost, Values]:
    """The curves of `evaluate_detections(..., compute_mAP=True)`, beside the recipe."""
    place = importlib.import_module("fiftyone.utils.eval.coco")
    samples, classes = fiftyone_samples(dump)
    if backend == "ioukit":
        evaluate = page_code("fiftyone", "recipe")["evaluate"]
        cost, evaluation = timed(lambda: evaluate(samples, classes))
        # FiftyOne has -1 where a class has no objects, and thresholds, classes and recalls in this order.
        curves = [np.nan_to_num(curve[..., 0, -1], nan=-1) for curve in (evaluation.precision, evaluation.recall)]
        return cost, {"precision": curves[0].swapaxes(1, 2), "recall": curves[1]}
    config = place.COCOEvaluationConfig("predictions", "ground_truth", iou=0.5, classwise=True, compute_mAP=True)
    cost, result = timed(lambda: place._compute_pr_curves(samples, config, classes=classes))
    return cost, {"precision": result[0], "recall": result[5]}


@dataclass(frozen=True)
class Project:
    """A project that evaluates detections, and the backends that it has."""

    name: str
    run: Callable[[str, Dump], tuple[Cost, Values]]
    module: str
    """What must be importable."""
    backends: dict[str, str]
    """Backends of its own, and the distribution of each."""
    ours: tuple[str, ...] = ("ioukit",)

    @property
    def installed(self) -> list[str]:
        """Its backends that can run here, ours last; none if the project is not installed."""
        if importlib.util.find_spec(self.module) is None:
            return []
        return [*(name for name, package in self.backends.items() if version_of(package)), *self.ours]


_PYCOCOTOOLS = {"pycocotools": "pycocotools"}
_FASTER = {"faster_coco_eval": "faster-coco-eval"}
PROJECTS = (
    Project(
        "RF-DETR",
        rf_detr,
        "rfdetr",
        {"vernier": "vernier", "hotcoco": "hotcoco", "ufcoco": "ultrafast-pycocotools", **_FASTER},
    ),
    Project("LibreYOLO", libreyolo, "libreyolo", _PYCOCOTOOLS | _FASTER),
    Project("SAM 3", sam_3, "sam3", _PYCOCOTOOLS),
    Project("TorchMetrics", torchmetrics, "torchmetrics", _PYCOCOTOOLS | _FASTER, ("ioukit", "ioukit.torch")),
    Project("SAHI", sahi, "sahi", _PYCOCOTOOLS),
    Project("Detectron2", detectron2, "detectron2", _PYCOCOTOOLS),
    Project("MMDetection", mmdetection, "mmdet", _PYCOCOTOOLS),
    Project("Ultralytics", ultralytics, "ultralytics", _FASTER),
    Project("FiftyOne", fiftyone, "fiftyone", {"fiftyone": "fiftyone"}),
    Project("Transformers", transformers, "torchmetrics", _PYCOCOTOOLS, ("ioukit.torch",)),
)


def version_of(package: str) -> str:
    """The version that is installed, or nothing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def needs(package: str) -> list[str]:
    """All packages that a package cannot do without here, those that they need included."""
    found: set[str] = set()
    waiting = [package]
    while waiting:
        for line in importlib.metadata.requires(waiting.pop()) or []:
            requirement = Requirement(line)
            name = requirement.name.lower()
            if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            found.add(name)
            if version_of(name):
                waiting.append(name)
    return sorted(found)


def licence(package: str) -> str:
    """The licence as the package declares it, the name alone."""
    about: dict[str, Any] = importlib.metadata.metadata(package).json
    classifiers = [line.rpartition(":: ")[2] for line in about.get("classifier", []) if line.startswith("License ::")]
    said: str = about.get("license_expression") or next(iter(classifiers), "") or about.get("license", "not declared")
    return said.splitlines()[0][:60]


def compare(peer: Values, own: Values) -> str:
    """How many values have the same bits, and the largest difference of the others."""
    equal = total = 0
    largest = 0.0
    missing = sorted(set(peer) ^ set(own))
    for name in sorted(set(peer) & set(own)):
        one, other = np.asarray(peer[name], np.float64), np.asarray(own[name], np.float64)
        if one.shape != other.shape:
            missing.append(f"{name}: {one.shape} and {other.shape}")
            continue
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        equal, total = equal + int(same.sum()), total + same.size
        largest = max(largest, float(np.max(np.abs(one - other)[~same], initial=0)))
    text = f"all {total:,}" if equal == total else f"{equal:,} of {total:,}, others within {largest:.2g}"
    return f"{text}; not in both: {', '.join(missing)}" if missing else text


def run_one(project: Project, backend: str, gt: str, dt: str, output: str) -> None:
    """The work of one process: prints seconds, and writes the values."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    cost, values = project.run(backend, read(gt, dt))
    with Path(output).open("wb") as file:
        np.savez(file, **{name: np.asarray(value) for name, value in values.items()})  # type: ignore[arg-type]
    print(json.dumps(cost))


def measure(project: Project, gt: str, dt: str, rounds: int) -> None:
    """Prints the rows of a project."""
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[Cost]] = {name: [] for name in project.installed}
        for _ in range(rounds):
            for name, done in runs.items():
                output = str(Path(folder, name))
                command = [sys.executable, __file__, gt, dt, "--one", project.name, name, output]
                done.append(Cost(*json.loads(run_command(command).output.splitlines()[-1])))
        values = {name: dict(np.load(Path(folder, name))) for name in runs}
    own = project.ours[0]
    seconds = {name: statistics.median(cost.seconds for cost in done) for name, done in runs.items()}
    for name, done in runs.items():
        memory = statistics.median(cost.memory for cost in done) / 1e6
        version = version_of(project.backends.get(name, "ioukit"))
        equal = "" if name == own else compare(values[name], values[own])
        ratio = seconds[name] / seconds[own]
        print(
            f"| {project.name} | {name} {version} | {equal} | {seconds[name]:.3f} s | {ratio:.2f} | {memory:.0f} MB |"
        )


def main() -> None:
    by_name = {project.name: project for project in PROJECTS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gt", nargs="?", default=str(EXAMPLE / "ground_truth.json"), help="COCO's ground truth")
    parser.add_argument("dt", nargs="?", default=str(EXAMPLE / "yolact.json"), help="COCO's list of detections")
    parser.add_argument("--projects", nargs="+", choices=by_name, default=list(by_name))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, backend, output = options.one
        return run_one(by_name[name], backend, options.gt, options.dt, output)

    print(described("ioukit", "numpy", "torch", *(by_name[name].module for name in options.projects)))
    print(f"\n{options.gt}, {options.dt}; median of {options.rounds}\n")
    print("| project | backend | values equal to ioukit's | time | / ioukit | memory |")
    print("| --- | --- | --- | ---: | ---: | ---: |", flush=True)
    chosen = [by_name[name] for name in options.projects]
    for project in chosen:
        if project.installed:
            measure(project, options.gt, options.dt, options.rounds)
        else:
            print(f"| {project.name} | not installed | | | | |")
        sys.stdout.flush()
    print("\n| backend | version | needs | licence |\n| --- | --- | --- | --- |")
    packages = dict.fromkeys(package for project in chosen for package in project.backends.values())
    for package in ("ioukit", *packages):
        if not version_of(package):
            print(f"| {package} | not installed | | |")
            continue
        names = needs(package)
        print(f"| {package} | {version_of(package)} | {len(names)}: {', '.join(names)} | {licence(package)} |")
    return None


if __name__ == "__main__":
    main()
