"""The metric in several processes: each has a part of the images, all get the results of the whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="ioukit.torch needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("torchmetrics", reason="the metric needs TorchMetrics: pip install 'ioukit[torch]'")

import torch

from support.metric_batches import same_results
from support.paths import IMPORTED_FROM

if not torch.distributed.is_available():
    pytest.skip("this PyTorch knows no other process", allow_module_level=True)

pytestmark = pytest.mark.slow  # each process imports PyTorch anew

TESTS = Path(__file__).parent.parent

# Image i belongs to process i % processes, as a DistributedSampler deals them out; or all to the first process.
PROGRAM = """
import sys
rank, processes, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
import warnings
import numpy as np, torch
warnings.simplefilter("ignore")
from ioukit.torch import MeanAveragePrecision
from support.metric_batches import random_batches

def images_of(seed, arguments):
    batches = random_batches(np.random.default_rng(seed), arguments, images=11)
    return [[item for batch in batches for item in batch[side]] for side in (0, 1)]

CASES = [
    {"iou_type": "bbox", "box_format": "xyxy", "class_metrics": True, "extended_summary": True},
    {"iou_type": "segm", "box_format": "xyxy", "average": "micro"},
    {"iou_type": ("bbox", "segm"), "box_format": "xywh", "class_metrics": True},
]
if processes > 1:
    torch.distributed.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=processes)
found = []
for seed in range(6):
    for at, arguments in enumerate(CASES):
        preds, target = images_of(seed, arguments)
        metric = MeanAveragePrecision(**arguments)
        alone = seed % 3 == 2  # all images are in the first process
        for image in range(11):
            if (0 if alone else image % processes) == rank:
                metric.update(preds[image : image + 1], target[image : image + 1])
        found.append(metric.compute())
        assert len(metric.tables) == metric.update_count, "the tables of this process are back"
        if processes > 1 and not alone:
            again = metric(preds[rank : rank + 1], target[rank : rank + 1])
            assert again.keys() == found[-1].keys() or "map_per_class" not in again
            metric.reset()
torch.save(found, f"{folder}/{processes}_{rank}.pt")
if processes > 1:
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
"""


def run(processes: int, folder: Path) -> list[Any]:
    environment = {**os.environ, "PYTHONPATH": f"{IMPORTED_FROM}:{TESTS}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM]
    arguments = [str(processes), str(folder)]
    started = [
        subprocess.Popen([*command, str(rank), *arguments], env=environment, stderr=subprocess.PIPE, text=True)
        for rank in range(processes)
    ]
    for process in started:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
    return [torch.load(folder / f"{processes}_{rank}.pt", weights_only=False) for rank in range(processes)]


def test_two_processes_get_the_results_of_one(tmp_path: Path) -> None:
    (expected,) = run(1, tmp_path)
    for found in run(2, tmp_path):
        for mine, whole in zip(found, expected, strict=True):
            same_results(mine, whole)
