"""Which box loss, and which head? The same small detector, trained from scratch with each, over several seeds.

    python benchmarks/ablation_detector.py --json docs/data/detector_ablation.json && python docs/build/draw.py

One data set of drawn shapes (the same for all), one network of each head, one plan of training; what differs is the
loss that boxes learn by, or the head, and the seed of the weights, the order of the images and the augmentation. The
learning rate ends its cosine within the run, so every AP is that of a finished, short training. Runs that are in the
file are kept: a sweep that was stopped goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import tempfile
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from ioukit.anchors import fit_anchors
from ioukit.datasets.shapes import make_shapes

LOSSES = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU", "eiou": "EIoU"}
HEADS = ("free", "anchor")
PLAN = {"images": 1200, "size": 128, "epochs": 12, "width": 0.25, "depth": 0.34}
KEYS = ("AP", "AP50", "AP75")


def runs(seeds: int) -> list[dict[str, Any]]:
    """Each loss with the head without anchors, then the other head with the loss that is the default."""
    pairs = [("free", loss) for loss in LOSSES] + [(head, "ciou") for head in HEADS if head != "free"]
    return [{"head": head, "loss": loss, "seed": seed} for seed in range(1, seeds + 1) for head, loss in pairs]


def one(run: dict[str, Any], folder: Path, threads: int) -> dict[str, Any]:
    """Trains, and gives the run with what it reached."""
    import numpy as np  # noqa: PLC0415 - in the process that trains
    import torch  # noqa: PLC0415

    from ioukit.torch.detector.data import read_yolo_data  # noqa: PLC0415
    from ioukit.torch.detector.model import Config  # noqa: PLC0415
    from ioukit.torch.detector.train import Settings, train  # noqa: PLC0415

    torch.set_num_threads(threads)
    learn, held_out = (read_yolo_data(folder / "data.yaml", split) for split in ("train", "val"))
    size = int(PLAN["size"])
    sides = np.concatenate([record.boxes[:, 2:] - record.boxes[:, :2] for record in learn.records])
    rows = [tuple(row) for row in np.round(fit_anchors(sides, 9, seed=1).anchors, 2).tolist()]
    config = Config(
        num_classes=len(learn.names), head=run["head"], image_size=(size, size), width=PLAN["width"],
        depth=PLAN["depth"], anchors=(tuple(rows[:3]), tuple(rows[3:6]), tuple(rows[6:])), names=learn.names,
    )  # fmt: skip
    epochs = int(PLAN["epochs"])
    settings = Settings(epochs=epochs, loss=run["loss"], seed=run["seed"], evaluate_every=epochs, plain_epochs=2)
    with tempfile.TemporaryDirectory() as out:
        done = train(learn, held_out, config, Path(out) / "run", settings)
    return {**run, **{key: done.evaluation.summary[key] for key in KEYS}, "seconds": round(done.epochs[-1].seconds)}


def table(found: list[dict[str, Any]]) -> str:
    """Mean and standard deviation over the seeds, a line a combination."""
    lines = ["| head | loss | AP | AP50 | AP75 |", "| --- | --- | --- | --- | --- |"]
    for head, loss in itertools.product(HEADS, LOSSES):
        same = [run for run in found if (run["head"], run["loss"]) == (head, loss)]
        if not same:
            continue
        cells = []
        for key in KEYS:
            values = [run[key] for run in same]
            spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
            cells.append(f"{mean(values):.3f}{spread}")
        lines.append(f"| {head} | {LOSSES[loss]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("ablation_detector.json"), help="where the runs are kept")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at once")
    parser.add_argument("--threads", type=int, default=1, help="of each training")
    arguments = parser.parse_args()

    kept = json.loads(arguments.json.read_text(encoding="utf-8")) if arguments.json.exists() else {}
    found: list[dict[str, Any]] = kept["runs"] if kept.get("plan") == PLAN else []
    done = {(run["head"], run["loss"], run["seed"]) for run in found}
    missing = [run for run in runs(arguments.seeds) if (run["head"], run["loss"], run["seed"]) not in done]
    with tempfile.TemporaryDirectory() as folder:
        shapes, size = Path(folder) / "shapes", int(PLAN["size"])
        make_shapes(shapes, images=int(PLAN["images"]), size=(size, size), seed=1, handwritten=False)
        with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
            for run in pool.imap(partial(one, folder=shapes, threads=arguments.threads), missing):
                print({key: round(value, 3) if isinstance(value, float) else value for key, value in run.items()})
                found.append(run)
                text = json.dumps({"plan": PLAN, "runs": found}, indent=1)
                arguments.json.write_text(text + "\n", encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
