"""Results as tables: making frames of them and writing files, relative to the evaluation, and pandas' own CSV.

    pip install '.[tables,pandas,polars]' && python benchmarks/make_coco.py bench-data large
    python benchmarks/bench_tables.py bench-data

The least time of several runs in turns, in one process. Packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _machine import described

import ioukit
from ioukit.evaluation import TABLES, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = {"to_arrow": "pyarrow", "to_pandas": "pandas", "to_polars": "polars"}


def calls(evaluation: ioukit.Evaluation, table: str, folder: Path) -> dict[str, Callable[[], object]]:
    """What is timed for a table, by its name."""
    found: dict[str, Callable[[], object]] = {
        method: lambda method=method: getattr(evaluation, method)(table)  # type: ignore[misc]
        for method, package in METHODS.items()
        if importlib.util.find_spec(package) is not None
    }

    def write(suffix: str) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as new:
            write_tables(evaluation, Path(new) / "tables", format=suffix, tables=[table])  # type: ignore[arg-type]

    found["CSV"] = lambda: write("csv")
    if "to_arrow" in found:
        found["Parquet"] = lambda: write("parquet")
    if "to_pandas" in found:
        frame = evaluation.to_pandas(table)
        found["CSV by pandas"] = lambda: frame.to_csv(folder / "pandas.csv", index=False)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder that make_coco.py wrote")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ground_truth, detections = ioukit.read_coco(options.folder / "gt.json", options.folder / "dt_large.json")
    evaluation = ioukit.evaluate(ground_truth, detections)
    packages = ("ioukit", "numpy", *METHODS.values())
    print(f"{described(*packages)}\n{len(detections):,} detections, {len(ground_truth):,} objects")
    with tempfile.TemporaryDirectory() as folder:
        timed: dict[str, dict[str, Callable[[], object]]] = {
            "evaluate": {"": lambda: ioukit.evaluate(ground_truth, detections)}
        }
        timed |= {table: calls(evaluation, table, Path(folder)) for table in TABLES}
        least: dict[tuple[str, str], float] = {}
        for _ in range(options.runs):
            for table, works in timed.items():
                for name, work in works.items():
                    start = time.perf_counter()
                    work()
                    taken = time.perf_counter() - start
                    least[table, name] = min(taken, least.get((table, name), taken))
    whole = least["evaluate", ""]
    for (table, name), taken in least.items():
        print(f"{table:14} {name:14} {taken * 1000:8.1f} ms  {taken / whole:6.2f} x evaluate")


if __name__ == "__main__":
    main()
