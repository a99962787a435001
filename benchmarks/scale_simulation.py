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
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _machine import described
from _scale_costs import (
    DETECTIONS_PER_IMAGE,
    OBJECTS_PER_IMAGE,
    STAGES,
    Costs,
    in_memory,
    make,
    run,
    shares,
    unit_costs,
)

from ioukit.scale.memory import LEAST_BLOCK, PER_ROW_DRAW, PER_ROW_MATCH

DATA = Path(__file__).resolve().parent.parent / "docs" / "data" / "scale.json"
NODES = (1, 16, 256)
SIZES = (10**7, 10**8, 10**9, 10**10)
TASKS = (1_000_000, 2_000_000, 4_000_000, 8_000_000)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The machines of a simulation."""

    nodes: int
    cores: int = 16
    bytes_per_second: float = 1.25e9
    """Between a node and all others, and between a node and the storage: a network of 10 Gbit/s."""


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
                ("columns of the table that the curves need, in memory", f"{costs.run_bytes:.0f}"),
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
                    _size(SIZES[-1] / task * LEAST_BLOCK * PER_ROW_DRAW),
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
