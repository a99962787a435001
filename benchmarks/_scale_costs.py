"""What the stages of an evaluation in parts cost per detection, measured in processes on this machine."""

from __future__ import annotations

import dataclasses
import importlib
import multiprocessing
import pickle
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

import ioukit
from ioukit.evaluation import COCO, match
from ioukit.scale.memory import bytes_of
from ioukit.scale.parts import GroundTruthParts, Job, edges_of
from ioukit.scale.sources.opening import open_detections
from ioukit.scale.stages import draw, match_part, split
from ioukit.scale.table_files import write_table
from ioukit.scale.work import WorkFolder

__all__ = [
    "CATEGORIES", "DETECTIONS_PER_IMAGE", "LARGEST_SHARE", "OBJECTS_PER_IMAGE", "STAGES", "Costs", "Steps", "in_memory",
    "make", "run", "shares", "unit_costs",
]  # fmt: skip

CATEGORIES = 80
DETECTIONS_PER_IMAGE, OBJECTS_PER_IMAGE = 100, 7
LARGEST_SHARE = 0.3  # of persons in COCO
STAGES = ("split", "match", "draw")


@dataclasses.dataclass(frozen=True)
class Costs:
    """Measured on one core."""

    split: float
    """Seconds per detection: read from Parquet, bring into parts, write."""
    match: float
    """Seconds per detection: read, match, sort, write."""
    draw: float
    """Seconds per detection: read, merge, draw."""
    split_fragment: float
    """Seconds per batch and part: what a batch costs for each part that it has rows of."""
    match_fragment: float
    """Seconds per batch and part: opening and reading."""
    draw_run: float
    """Seconds per category and part."""
    input_bytes: float
    """Bytes per detection in the Parquet file."""
    split_bytes: float
    """Bytes per detection in the files of the split."""
    table_bytes: float
    """Bytes per detection in the files of the tables."""
    run_bytes: float
    """Bytes per detection of the columns that the curves need."""
    column_bytes: float
    """Bytes per detection as columns in memory."""
    memory_bytes: float
    """Bytes per detection of a match table in memory."""
    packed_bytes: float
    """Bytes per detection of a match table from `pack_table`."""
    object_bytes: float
    """Bytes per object of the ground truth in memory."""
    image_bytes: float
    """Bytes per image of the ground truth in memory."""


def shares() -> np.ndarray[Any, np.dtype[np.float64]]:
    """(K,) the part of the detections that each category has: one is frequent, the others as in a Zipf law."""
    rest = 1 / np.arange(2, CATEGORIES + 1)
    return np.append(LARGEST_SHARE, (1 - LARGEST_SHARE) * rest / rest.sum())


def make(folder: Path, rows: int, seed: int) -> None:
    """Write `detections.parquet` and `ground_truth.pickle`: objects, detections near some of them, and others."""
    arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))

    rng = np.random.default_rng(seed)
    images = max(1, rows // DETECTIONS_PER_IMAGE)
    objects = images * OBJECTS_PER_IMAGE
    corner, size = rng.random((objects, 2)) * 500, np.exp(rng.normal(4, 0.8, (objects, 2)))
    gt = ioukit.GroundTruth.from_arrays(
        image_ids=np.repeat(np.arange(images), OBJECTS_PER_IMAGE),
        category_ids=rng.choice(CATEGORIES, objects, p=shares()) + 1,
        boxes=np.concatenate([corner, size], axis=1),
        images=np.arange(images),
        categories={number: f"class {number}" for number in range(1, CATEGORIES + 1)},
    )
    (folder / "ground_truth.pickle").write_bytes(pickle.dumps(gt))
    image = rng.permutation(np.repeat(np.arange(images), DETECTIONS_PER_IMAGE))[:rows]
    at = image * OBJECTS_PER_IMAGE + rng.integers(0, OBJECTS_PER_IMAGE, rows)
    near = rng.random(rows) < 0.3
    boxes = np.where(near[:, None], gt.boxes[at] * (1 + rng.normal(0, 0.05, (rows, 4))), rng.random((rows, 4)) * 300)
    category = np.where(near, gt.category_ids[at], rng.choice(CATEGORIES, rows, p=shares()) + 1)
    columns = {
        "image_id": image,
        "category_id": category.astype(np.int32),
        **dict(zip(("x", "y", "width", "height"), boxes.astype(np.float32).T, strict=True)),
        "score": rng.random(rows).astype(np.float32),
    }
    parquet.write_table(arrow.table(columns), folder / "detections.parquet", row_group_size=max(1, rows // 12))


class Steps:
    """The tasks of a run. Each returns the seconds of the processor that it took, and its detections."""

    def __init__(self, folder: Path, work: Path, parts: int) -> None:
        gt = pickle.loads((folder / "ground_truth.pickle").read_bytes())
        ioukit.evaluate(
            gt.filter(images=[0]),
            ioukit.Detections.from_arrays(image_ids=[0], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.5]),
        )  # what is imported at the first use
        self.gt, self.folder = gt, WorkFolder(work)
        self.job = Job(COCO, "bbox", None, None, gt.images, gt.categories.ids, edges_of(len(gt.images), parts))
        self.pieces = open_detections(folder / "detections.parquet", gt, piece_rows=1, batch_rows=10**6).pieces
        self.objects = GroundTruthParts(gt)

    def split(self, number: int) -> int:
        rows, batches = 0, list[Any]()
        of_parts = np.zeros(self.job.parts, np.int64)
        for batch in self.pieces[number].read():
            parts = split(self.job, batch, rows, narrow=True)
            batches.append(self.folder.add_batch(number, len(batches), parts))
            rows += len(batch)
            of_parts += [part.num_rows for part in parts]
        self.folder.finish_piece(number, {"batches": batches, "rows": rows, "parts": of_parts.tolist()})
        return rows

    def match(self, part: int) -> int:
        known = [self.folder.finished_piece(number) for number in range(len(self.pieces))]
        total = sum(piece["rows"] for piece in known)
        batches = self.folder.batches(part, known)
        first, end = self.job.images_of(part)
        table = match_part(self.job, first, self.objects.between(first, end), batches, sources=(len(self.gt), total))
        write_table(table, self.folder.table(first, end).path)
        return len(table)

    def draw(self, category: int) -> int:
        tables = [self.folder.table(*self.job.images_of(part)) for part in range(self.job.parts)]
        draw(COCO, category, tables)
        return sum(table.header["num_detections"][category] for table in tables)


_steps: list[Steps] = []  # of a worker


def _start(*arguments: Any) -> None:
    _steps.append(Steps(*arguments))


def _step(stage: str, number: int) -> tuple[float, int]:
    started = time.process_time()
    rows = getattr(_steps[0], stage)(number)
    return time.process_time() - started, rows


def run(folder: Path, parts: int, processes: int) -> dict[str, dict[str, Any]]:
    """The stages: for each the wall time, and the processor time and rows of its tasks; medians of three runs."""
    runs = [run_once(folder, parts, processes) for _ in range(3)]
    return {
        stage: {
            name: np.median([each[stage][name] for each in runs], axis=0).tolist() for name in ("wall", "cpu", "rows")
        }
        for stage in STAGES
    }


def run_once(folder: Path, parts: int, processes: int) -> dict[str, dict[str, Any]]:
    """The stages, one after the other."""
    work = folder / f"work-{processes}"
    shutil.rmtree(work, ignore_errors=True)
    (work / "tables").mkdir(parents=True)
    here = Steps(folder, work, parts)
    counts = {"split": len(here.pieces), "match": here.job.parts, "draw": CATEGORIES}
    found: dict[str, dict[str, Any]] = {}
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _start, (folder, work, parts)) as pool:
        pool.map(time.sleep, [0.5] * processes, 1)  # until all of them have started
        for stage in STAGES:
            started = time.perf_counter()
            tasks = pool.starmap(_step, [(stage, number) for number in range(counts[stage])], 1)
            wall = time.perf_counter() - started
            found[stage] = {"wall": wall, "cpu": [cpu for cpu, _ in tasks], "rows": [rows for _, rows in tasks]}
    return found


def _bytes_in(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.rglob(pattern))


def _array_bytes(columns: Any) -> int:
    return sum(value.nbytes for value in vars(columns).values() if isinstance(value, np.ndarray))


def unit_costs(folder: Path) -> Costs:
    """Costs of one process: per detection from a run of 3 million, per fragment and run from one with few rows each."""
    small, large = folder / "small", folder / "large"
    for place, rows in ((small, 24_000), (large, 3_000_000)):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        make(place, rows, seed=1)
    many, one = run(small, 240, 1), run(small, 1, 1)
    extra = {stage: sum(many[stage]["cpu"]) - sum(one[stage]["cpu"]) for stage in STAGES}
    fragments, runs = 12 * 239, CATEGORIES * 239
    runs_of_large = run(large, 3, 1)
    rows = int(sum(runs_of_large["split"]["rows"]))
    each = {stage: max(extra[stage] / (runs if stage == "draw" else fragments), 0) for stage in STAGES}
    small_tasks = {"split": 12 * 3, "match": 12 * 3, "draw": CATEGORIES * 3}
    per_row = {stage: (sum(runs_of_large[stage]["cpu"]) - small_tasks[stage] * each[stage]) / rows for stage in STAGES}
    work = large / "work-1"
    gt = pickle.loads((large / "ground_truth.pickle").read_bytes())
    detections = ioukit.datasets.read_detections(large / "detections.parquet", ground_truth=gt)
    table = match(gt, detections, threads=1)
    return Costs(
        **per_row,
        split_fragment=each["split"],
        match_fragment=each["match"],
        draw_run=each["draw"],
        input_bytes=_bytes_in(large, "detections.parquet") / rows,
        split_bytes=_bytes_in(work / "pieces", "*.arrow") / rows,
        table_bytes=_bytes_in(work / "tables", "*") / rows,
        run_bytes=_array_bytes(table.detections) / rows - 16,  # without category, image and row
        column_bytes=_array_bytes(detections) / rows,
        memory_bytes=sum(_array_bytes(each) for each in (table.detections, table.objects, table.pairs)) / rows,
        packed_bytes=len(ioukit.evaluation.pack_table(table)) / rows,
        object_bytes=bytes_of(dataclasses.replace(gt, images=gt.images.take([]))) / len(gt),
        image_bytes=_array_bytes(gt.images) / len(gt.images),
    )


def in_memory(folder: Path) -> float:
    """Seconds of the processor per detection if all is in memory: read the detections and evaluate, in one thread."""
    gt = pickle.loads((folder / "large" / "ground_truth.pickle").read_bytes())
    found = []
    for _ in range(3):
        started = time.process_time()
        detections = ioukit.datasets.read_detections(folder / "large" / "detections.parquet", ground_truth=gt)
        ioukit.evaluate(gt, detections, threads=1)
        found.append((time.process_time() - started) / len(detections))
    return float(np.median(found))
