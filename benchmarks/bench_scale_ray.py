"""Evaluation in parts as tasks on Ray, relative to threads of one process: the same steps, the same files.

    pip install '.[ray]' && python benchmarks/make_coco.py bench-data x10 --parquet
    python benchmarks/bench_scale_ray.py bench-data/gt_x10_parquet.json bench-data/dt_x10.parquet
    python benchmarks/bench_scale_ray.py bench-data/gt_x10_parquet.json bench-data/dt_x10.parquet --nodes 1 2

Wall time of a call on a running cluster, whose workers have done a small evaluation before. The engines take turns.
`start` is what a cluster of this machine takes to start and to end. With `--nodes`, clusters of so many nodes with one
core each are compared instead; all are processes of this machine, so more nodes than it has cores gain little.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _machine import described

import ioukit
from ioukit import scale

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = Path(__file__).parent.parent / "examples" / "coco_val2017_100"
NODE = {"num_cpus": 1, "object_store_memory": 2 * 10**9}  # the rows of x10 fit: otherwise, one node writes them to disk


def compare_nodes(options: argparse.Namespace) -> None:
    """Print the wall time of clusters with one core per node, relative to the first of them."""
    import ray  # noqa: PLC0415 - after the message of --help
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    small = ioukit.read_coco(SMALL / "ground_truth.json", SMALL / "yolact.json")
    print(described("ioukit", "ray", "numpy", "pyarrow"))
    first = None
    for count in options.nodes:
        cluster = Cluster(initialize_head=True, head_node_args=NODE)
        for _ in range(count - 1):
            cluster.add_node(**NODE)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        scale.evaluate(*small, on="ray", parts=4)
        times = []
        for _ in range(options.runs):
            start = time.perf_counter()
            scale.evaluate(options.ground_truth, options.detections, memory=options.memory, on="ray")
            times.append(time.perf_counter() - start)
        ray.shutdown()
        cluster.shutdown()
        first = min(times) if first is None else first
        print(f"{count} nodes {min(times):7.2f} s  {first / min(times):5.2f} x as fast as the first", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ground_truth", type=Path)
    parser.add_argument("detections", type=Path, help="a folder of Parquet files")
    parser.add_argument("--workers", type=int, default=2, help="tasks of Ray, and threads, at a time")
    parser.add_argument("--memory", default="2GB", help="of the process with threads, and of each task")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--nodes", type=int, nargs="+", help="numbers of nodes to compare")
    options = parser.parse_args()
    if options.nodes:
        compare_nodes(options)
        return
    import ray  # noqa: PLC0415 - after the message of --help

    start = time.perf_counter()
    ray.init(num_cpus=options.workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    started = time.perf_counter() - start
    small = ioukit.read_coco(SMALL / "ground_truth.json", SMALL / "yolact.json")
    scale.evaluate(*small, on="ray", parts=4)

    def run(**further: Any) -> ioukit.Evaluation:
        paths = options.ground_truth, options.detections
        return scale.evaluate(*paths, memory=options.memory, threads=options.workers, **further)

    works: dict[str, Callable[[], ioukit.Evaluation]] = {
        "threads": run,
        "Ray": lambda: run(on="ray"),
    }
    taken: dict[str, list[float]] = {name: [] for name in works}
    numbers: list[dict[str, float]] = []
    for _ in range(options.runs):
        for name, work in works.items():
            start = time.perf_counter()
            evaluation = work()
            taken[name].append(time.perf_counter() - start)
            numbers.append(dict(evaluation.summary))
            rows = evaluation.counts["detections"]
            del evaluation
    if any(each != numbers[0] for each in numbers):
        raise SystemExit("the engines differ in their numbers")
    start = time.perf_counter()
    ray.shutdown()
    started += time.perf_counter() - start
    print(f"{described('ioukit', 'ray', 'numpy', 'pyarrow')}\n{rows:,} detections, {options.workers} at a time")
    for name, times in taken.items():
        print(f"{name:10} {min(times):7.2f} s  {min(times) / min(taken['threads']):5.2f} x threads")
    print(f"{'start':10} {started:7.2f} s")


if __name__ == "__main__":
    main()
