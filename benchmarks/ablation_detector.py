"""Which box loss, which assigner, which head? The same small detector, trained with each from scratch, three seeds.

    python benchmarks/ablation_detector.py --json docs/data/detector_ablation.json && python docs/build/draw.py

One data set of drawn shapes (the same for all), one plan of training. From the default of each head, one part is
exchanged at a time. The seed is that of the weights, the order of the images and the augmentation, so that runs of one
seed are pairs, and the table has their differences. The learning rate ends its cosine within the run, so every AP is
that of a finished, short training. Runs that are in the file are kept: a sweep that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import tempfile
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from ioukit.anchors import fit_anchors
from ioukit.datasets.shapes import make_shapes

LOSSES = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU", "eiou": "EIoU"}
KINDS = [
    *(("free", "task_aligned", loss) for loss in LOSSES),
    ("free", "simota", "ciou"),
    ("free", "atss", "ciou"),
    ("anchor", "yolov3", "ciou"),
    ("anchor", "task_aligned", "ciou"),
]
"""Head, assigner and loss of each network."""
DEFAULT = ("free", "task_aligned", "ciou")
SEEDS = 3
T = 4.303
"""Of Student's t with two degrees of freedom: 95 % between it and its negative."""
SHAPES: dict[str, Any] = {"images": 800, "val": 0.2, "sides": (0.3, 0.7), "mean": 1.5, "whole": True}
PLAN: dict[str, Any] = {"size": 96, "epochs": 8, "batch": 4, "width": 0.25, "depth": 0.34, **SHAPES}
KEYS = ("AP", "AP50", "AP75")


def runs() -> list[dict[str, Any]]:
    """All trainings, seed by seed."""
    return [
        {"head": head, "assigner": assigner, "loss": loss, "seed": seed}
        for seed in range(1, SEEDS + 1)
        for head, assigner, loss in KINDS
    ]


def kind(run: dict[str, Any]) -> tuple[str, str, str]:
    return run["head"], run["assigner"], run["loss"]


def one(run: dict[str, Any], folder: Path, threads: int) -> dict[str, Any]:
    """Trains, and gives the run with what it reached."""
    import numpy as np  # noqa: PLC0415 - in the process that trains
    import torch  # noqa: PLC0415

    from ioukit.torch.detector.data import read_yolo_data  # noqa: PLC0415
    from ioukit.torch.detector.model import Config  # noqa: PLC0415
    from ioukit.torch.detector.train import Settings, train  # noqa: PLC0415

    torch.set_num_threads(threads)
    learn, held_out = (read_yolo_data(folder / "data.yaml", split) for split in ("train", "val"))
    size = PLAN["size"]
    sides = np.concatenate([record.boxes[:, 2:] - record.boxes[:, :2] for record in learn.records])
    rows = [tuple(row) for row in np.round(fit_anchors(sides, 9, seed=1).anchors, 2).tolist()]
    config = Config(
        num_classes=len(learn.names), head=run["head"], image_size=(size, size), width=PLAN["width"],
        depth=PLAN["depth"], anchors=(tuple(rows[:3]), tuple(rows[3:6]), tuple(rows[6:])), names=learn.names,
    )  # fmt: skip
    epochs = PLAN["epochs"]
    settings = Settings(
        epochs=epochs, batch=PLAN["batch"], loss=run["loss"], assigner=run["assigner"], seed=run["seed"],
        evaluate_every=epochs, plain_epochs=2,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        done = train(learn, held_out, config, Path(out) / "run", settings)
    return {**run, **{key: done.evaluation.summary[key] for key in KEYS}, "seconds": round(done.epochs[-1].seconds)}


def table(found: list[dict[str, Any]]) -> str:
    """Means over the seeds, and how much more AP than the default in pairs of one seed, a line a network."""
    lines = ["| head | assigner | loss | AP | AP50 | AP75 | AP more than the default |"]
    lines.append("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    default = {run["seed"]: run["AP"] for run in found if kind(run) == DEFAULT}
    for one_kind in KINDS:
        same = [run for run in found if kind(run) == one_kind]
        if not same:
            continue
        head, assigner, loss = one_kind
        cells = [f"{mean(run[key] for run in same):.3f}" for key in KEYS]
        pairs = [run["AP"] - default[run["seed"]] for run in same if run["seed"] in default]
        if one_kind == DEFAULT or len(pairs) < SEEDS:
            cells.append("")
        else:
            low, high = (mean(pairs) + side * T * stdev(pairs) / math.sqrt(SEEDS) for side in (-1, 1))
            cells.append(f"{mean(pairs):+.3f} ({low:+.3f} to {high:+.3f})")
        lines.append(f"| {head} | {assigner} | {LOSSES[loss]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("ablation_detector.json"), help="where the runs are kept")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at once")
    parser.add_argument("--threads", type=int, default=1, help="of each training")
    arguments = parser.parse_args()

    kept = json.loads(arguments.json.read_text(encoding="utf-8")) if arguments.json.exists() else {}
    found: list[dict[str, Any]] = kept["runs"] if kept.get("plan") == json.loads(json.dumps(PLAN)) else []
    done = {(*kind(run), run["seed"]) for run in found}
    missing = [run for run in runs() if (*kind(run), run["seed"]) not in done]
    with tempfile.TemporaryDirectory() as folder:
        shapes, size = Path(folder) / "shapes", PLAN["size"]
        make_shapes(shapes, size=(size, size), seed=1, handwritten=False, **SHAPES)
        with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
            for run in pool.imap(partial(one, folder=shapes, threads=arguments.threads), missing):
                print({key: round(value, 3) if isinstance(value, float) else value for key, value in run.items()})
                found.append(run)
                text = json.dumps({"plan": PLAN, "runs": found}, indent=1)
                arguments.json.write_text(text + "\n", encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
