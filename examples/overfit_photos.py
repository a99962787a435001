"""Overfits six photographs: a detector that cannot do that has a fault that more data would only hide.

    python examples/overfit_photos.py PHOTOS [--out DIR]

PHOTOS is a folder with the six images of COCO val2017 that `ioukit demo` lists in gt.json (CC BY 2.0; the file names
their authors under `flickr_url`), for example the folder val2017 itself, or photos/ of the demo, which are smaller
files. The network is trained without augmentation and evaluated on the same photographs. AP50 should be at least 0.95
on the objects larger than 16 pixels; the size of an object is the shorter side of its box in the photograph. Smaller
objects are learnt too, but ignored in the evaluation, by COCO's rule for area ranges with the square of the size as the
area.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path

import numpy as np

from ioukit import COCO, Evaluation, GroundTruth, evaluate
from ioukit.anchors import fit_anchors
from ioukit.torch.detector.batches import NO_AUGMENTATION
from ioukit.torch.detector.checkpoint import load_model
from ioukit.torch.detector.data import Data, read_coco_data
from ioukit.torch.detector.model import Config
from ioukit.torch.detector.predict import detections_of
from ioukit.torch.detector.train import Epoch, Settings, train

ANNOTATIONS = Path(__file__).parents[1] / "src" / "ioukit" / "cli" / "demo_files" / "gt.json"
LARGER = 16  # pixels


def config_for(data: Data, *, side: int) -> Config:
    """A small network with anchors fitted to the boxes of the data."""
    sides = np.concatenate([(one.boxes[:, 2:] - one.boxes[:, :2]) * side / max(one.size) for one in data.records])
    rows = [tuple(row) for row in np.round(fit_anchors(sides, 9, seed=1).anchors, 2).tolist()]
    return Config(
        num_classes=len(data.names), image_size=(side, side), width=0.25, depth=0.34,
        anchors=(tuple(rows[:3]), tuple(rows[3:6]), tuple(rows[6:])), names=data.names,
    )  # fmt: skip


def settings_for(epochs: int) -> Settings:
    """Each epoch is one step with all six images; the running mean of the weights is short because the training is."""
    return Settings(
        epochs=epochs, batch=6, warmup=10, ema=0.98, weight_decay=0.0, augmentation=NO_AUGMENTATION, plain_epochs=0,
        evaluate_every=epochs, device="cpu",
    )  # fmt: skip


def larger_than(ground_truth: GroundTruth) -> GroundTruth:
    """The same objects, with the square of the shorter side as the area."""
    return dataclasses.replace(ground_truth, areas=ground_truth.boxes[:, 2:].min(axis=1) ** 2)


def evaluated(network: Path, data: Data) -> Evaluation:
    """Evaluates a network on the objects larger than `LARGER` pixels."""
    found = detections_of(load_model(network, "cpu"), data)
    protocol = COCO.replace(area_ranges={"all": (LARGER**2 + 1e-6, 1e10)})
    return evaluate(larger_than(data.ground_truth), found, protocol)


def show(epoch: Epoch) -> None:
    """Prints a line every ten steps."""
    if epoch.epoch % 10 == 0:
        print(f"step {epoch.epoch}  loss {epoch.losses['total']:.3f}  {epoch.seconds:.0f} s", file=sys.stderr)


def main() -> None:
    """Trains and evaluates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--out", type=Path, help="folder for the network; by default it is not kept")
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--side", type=int, default=416)
    options = parser.parse_args()
    data = read_coco_data(ANNOTATIONS, options.photos)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary) / "run"
        train(data, data, config_for(data, side=options.side), folder, settings_for(options.epochs), on_epoch=show)
        result = evaluated(folder / "last.safetensors", data)
    objects = sum(one.num_ground_truth for one in result.per_class)
    print(f"AP50 {result.summary['AP50']:.3f} on {objects} objects larger than {LARGER} pixels")
    for one in result.per_class:
        if one.num_ground_truth and one.summary["AP50"] < 0.9995:
            print(f"  {one.name}: {one.summary['AP50']:.3f} on {one.num_ground_truth}")


if __name__ == "__main__":
    main()
