"""How long an evaluation takes on 1, 16 and 256 nodes: measured costs per detection, and a simulation of the stages.

    python benchmarks/scale_simulation.py measure FOLDER   # costs, and runs of 1 and 2 processes: docs/data/scale.json
    python benchmarks/scale_simulation.py tables           # the tables of docs/scale_arithmetic.md

`measure` makes detections in FOLDER (about 1 GB) and runs the stages of `ioukit.scale` in processes. The costs come
from one process and 3 million detections. The check is 6 million other detections in 1 and 2 processes. Costs are
seconds of the processor, so that other work on the machine counts less; the wall times are given beside them. Every
run is the median of three.
"""

from __future__ import annotations

import argparse
import dataclasses
import heapq
import importlib
import json
import multiprocessing
import pickle
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _machine import described

import ioukit
from ioukit.evaluation import COCO, match
from ioukit.scale.memory import PER_ROW_MATCH, bytes_of
from ioukit.scale.parts import GroundTruthParts, edges_of
from ioukit.scale.sources import open_detections
from ioukit.scale.stages import Job, draw, match_part, split
from ioukit.scale.table_files import BLOCK_ROWS, write_table
from ioukit.scale.work import WorkFolder

DATA = Path(__file__).resolve().parent.parent / "docs" / "data" / "scale.json"
CATEGORIES = 80
DETECTIONS_PER_IMAGE, OBJECTS_PER_IMAGE = 100, 7
LARGEST_SHARE = 0.3  # of persons in COCO
NODES = (1, 16, 256)
SIZES = (10**7, 10**8, 10**9, 10**10)
TASKS = (1_000_000, 2_000_000, 4_000_000, 8_000_000)
STAGES = ("split", "match", "draw")


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The machines of a simulation."""

    nodes: int
    cores: int = 16
    bytes_per_second: float = 1.25e9
    """Between a node and all others, and between a node and the storage: a network of 10 Gbit/s."""


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
    """Bytes per detection that drawing reads."""
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
        self.objects = GroundTruthParts(gt, self.job.edges)

    def split(self, number: int) -> int:
        rows = batches = 0
        for batch in self.pieces[number].read():
            self.folder.add_batch(number, batches, split(self.job, batch, rows))
            batches, rows = batches + 1, rows + len(batch)
        self.folder.finish_piece(number, batches, rows)
        return rows

    def match(self, part: int) -> int:
        known = [self.folder.piece(number) or {} for number in range(len(self.pieces))]
        total = sum(piece["rows"] for piece in known)
        batches = self.folder.batches(part, known)
        objects = self.objects.part(part), self.objects.rows(part)
        table = match_part(self.job, part, *objects, batches, sources=(len(self.gt), total))
        write_table(table, self.folder.table(part).folder)
        return len(table)

    def draw(self, category: int) -> int:
        tables = [self.folder.table(part) for part in range(self.job.parts)]
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
        table_bytes=_bytes_in(work / "tables", "*.*") / rows,
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


def spread(tasks: Sequence[float], workers: int) -> float:
    """When the last of some tasks ends, if each goes to the first worker that is free."""
    free = [0.0] * min(workers, max(len(tasks), 1))
    for task in tasks:
        heapq.heapreplace(free, free[0] + task)
    return max(free)


def tasks_of(
    costs: Costs, rows: int, pieces: int, parts: int, largest_first: bool = True
) -> dict[str, Callable[[], tuple[list[float], list[float]]]]:
    """The tasks of each stage: the seconds of a core that each takes, and the bytes that it reads."""
    per_piece, per_part = rows / pieces, rows / parts
    of_category = sorted(shares() * rows, reverse=largest_first)
    return {
        "split": lambda: (
            [per_piece * costs.split + parts * costs.split_fragment] * pieces,
            [per_piece * costs.input_bytes] * pieces,
        ),
        "match": lambda: (
            [per_part * costs.match + pieces * costs.match_fragment] * parts,
            [per_part * costs.split_bytes] * parts,
        ),
        "draw": lambda: (
            [each * costs.draw + parts * costs.draw_run for each in of_category],
            [each * costs.run_bytes for each in of_category],
        ),
    }


def simulate(costs: Costs, rows: int, cluster: Cluster, rows_per_task: int = 1_000_000) -> dict[str, float]:
    """The seconds of each stage. A stage begins when the one before it has ended.

    A task takes the longer of its computation and its bytes. All cores of a node share its network, so a stage takes at
    least as long as its bytes through all nodes. On one node, only the input comes from elsewhere.
    """
    pieces = parts = max(-(-rows // rows_per_task), 1)
    found = {}
    for stage, tasks in tasks_of(costs, rows, pieces, parts).items():
        seconds, moved = tasks()
        if cluster.nodes == 1 and stage != "split":
            moved = [0.0] * len(moved)
        each = [max(one, size / cluster.bytes_per_second) for one, size in zip(seconds, moved, strict=True)]
        through = sum(moved) / (cluster.bytes_per_second * cluster.nodes)
        found[stage] = max(spread(each, cluster.nodes * cluster.cores), through)
    return found


def checked(costs: Costs, folder: Path) -> list[dict[str, Any]]:
    """Runs of 6 million other detections in 1 and 2 processes, beside what the simulation says."""
    place, rows, parts = folder / "check", 6_000_000, 6
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    make(place, rows, seed=2)
    found = []
    for processes in (1, 2):
        real = run(place, parts, processes)
        tasks = tasks_of(costs, rows, len(real["split"]["cpu"]), parts, largest_first=False)
        for stage in STAGES:
            simulated = spread(tasks[stage]()[0], processes)
            of_tasks = spread(real[stage]["cpu"], processes)
            found.append(
                {"processes": processes, "stage": stage, "simulated": simulated, "processor": of_tasks}
                | {"wall": real[stage]["wall"]}
            )
    return found


def measure(folder: Path) -> None:
    """Measure everything, and write it."""
    folder.mkdir(parents=True, exist_ok=True)
    costs = unit_costs(folder)
    found = {
        "machine": described("ioukit", "numpy", "pyarrow"),
        "in_memory": in_memory(folder),
        "costs": dataclasses.asdict(costs),
        "check": checked(costs, folder),
    }
    for name in ("small", "large", "check"):
        shutil.rmtree(folder / name)
    DATA.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _duration(seconds: float) -> str:
    if seconds < 99.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(each)} |" for each in (head, ["---", *["---:"] * (len(head) - 1)], *rows)]
    return "\n".join(lines)


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The tables of the page, by name."""
    costs = Costs(**found["costs"])
    # Long: a table after the other.
    return {
        "bytes": _table(
            ("what", "bytes per detection"),
            [
                ("Parquet file: image, class, four numbers, score", f"{costs.input_bytes:.0f}"),
                ("columns in memory (`Detections`)", f"{costs.column_bytes:.0f}"),
                ("files after the split", f"{costs.split_bytes:.0f}"),
                ("match table in memory", f"{costs.memory_bytes:.0f}"),
                ("match table as bytes (`pack_table`)", f"{costs.packed_bytes:.0f}"),
                ("match table in the files of `ioukit.scale`", f"{costs.table_bytes:.0f}"),
                ("what drawing reads of it", f"{costs.run_bytes:.0f}"),
            ],
        ),
        "costs": _table(
            ("stage", "detections per second and core", "time / evaluation in memory"),
            [
                (name, f"{1 / value / 1e6:.2g} million", f"{value / found['in_memory']:.2f}")
                for name, value in (
                    *((stage, getattr(costs, stage)) for stage in STAGES),
                    ("all three", sum(getattr(costs, stage) for stage in STAGES)),
                    ("evaluation in memory", found["in_memory"]),
                )
            ],
        ),
        "nodes": _table(
            ("detections", *(f"{nodes} node{'s' if nodes > 1 else ''}" for nodes in NODES), "256 nodes / 1 node"),
            [_row_of_nodes(costs, rows) for rows in SIZES],
        ),
        "stages": _table(
            ("detections", *(f"{nodes} nodes: {stage}" for nodes in NODES[1:] for stage in STAGES)),
            [
                (
                    _millions(rows),
                    *(
                        _duration(seconds)
                        for nodes in NODES[1:]
                        for seconds in simulate(costs, rows, Cluster(nodes)).values()
                    ),
                )
                for rows in SIZES
            ],
        ),
        "tasks": _table(
            (
                "detections per task",
                "pieces x parts",
                "split",
                "match",
                "draw",
                "memory of a match",
                "memory of a draw",
            ),
            [
                (
                    _millions(task),
                    f"{(SIZES[-1] // task) ** 2 / 1e6:.1f} million",
                    *map(_duration, simulate(costs, SIZES[-1], Cluster(256), task).values()),
                    _size(task * PER_ROW_MATCH),
                    _size(SIZES[-1] / task * BLOCK_ROWS * costs.run_bytes),
                )
                for task in TASKS
            ],
        ),
        "ground truth": _table(
            ("detections", "images", "objects", "ground truth", "list of images"),
            [
                (
                    _millions(rows),
                    f"{images / 1e6:g} million",
                    f"{images * OBJECTS_PER_IMAGE / 1e6:g} million",
                    _size(images * (OBJECTS_PER_IMAGE * costs.object_bytes + costs.image_bytes)),
                    _size(images * costs.image_bytes),
                )
                for rows in SIZES
                for images in (rows // DETECTIONS_PER_IMAGE,)
            ],
        ),
        "check": _table(
            ("processes", "stage", "simulated", "processor time of the tasks", "error", "wall time"),
            [
                (
                    str(each["processes"]),
                    each["stage"],
                    f"{each['simulated']:.2f} s",
                    f"{each['processor']:.2f} s",
                    _error(each["simulated"], each["processor"]),
                    f"{each['wall']:.2f} s",
                )
                for each in found["check"]
            ],
        ),
    }


def facts(found: dict[str, Any]) -> dict[str, str]:
    """What sentences of the page say, by name."""
    costs = Costs(**found["costs"])
    errors = {}
    for processes in (1, 2):
        of_run = [each for each in found["check"] if each["processes"] == processes]
        simulated, real = (sum(each[name] for each in of_run) for name in ("simulated", "processor"))
        errors[processes] = _error(simulated, real)
    laptop = sum(simulate(costs, 10**8, Cluster(1, cores=8)).values())
    network = 16 * costs.input_bytes / costs.split * 8 / 1e9
    return {
        "laptop": f"evaluates 100 million detections in about {_duration(laptop)}",
        "split": f"moves {costs.split_bytes:.0f} bytes per detection between nodes",
        "network": f"less than {network:.0f} Gbit/s",
        "error": f"is {errors[1]} with one process and {errors[2]} with two",
        "machine": f"Machine: {found['machine']}",
    }


def _error(simulated: float, real: float) -> str:
    percent = round(100 * (simulated / real - 1))
    return f"{percent:+d}%" if percent else "0%"


def _size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _millions(rows: int) -> str:
    return f"{rows // 10**6:,} million"


def _row_of_nodes(costs: Costs, rows: int) -> tuple[str, ...]:
    totals = [sum(simulate(costs, rows, Cluster(nodes)).values()) for nodes in NODES]
    return _millions(rows), *map(_duration, totals), f"{totals[0] / totals[-1]:.0f} x faster"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "tables"])
    parser.add_argument("folder", type=Path, nargs="?")
    options = parser.parse_args()
    if options.what == "measure":
        if options.folder is None:
            parser.error("measure needs a folder for the data")
        measure(options.folder)
    found = json.loads(DATA.read_text(encoding="utf-8"))
    for name, text in (tables(found) | facts(found)).items():
        print(f"{name}\n\n{text}\n")


if __name__ == "__main__":
    main()
