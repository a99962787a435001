"""How fast do losses bring boxes to their targets? The simulation of the DIoU paper, from scratch.

    python benchmarks/regression_simulation.py --json docs/regression_simulation.json && python docs/figures/draw.py

Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287, "Simulation experiment": anchors at 5,000 places, uniform
in a circle of radius 3 about (10, 10), of 7 scales and 7 aspect ratios at each place, regress to each of 7 targets of
area 1 at (10, 10): 1,715,000 cases. Gradient descent on centre and size, B <- B - 0.1 (2 - IoU) dL/dB, 200 times; the
error is the sum over the cases of |B - target| in L1. ``--corners`` descends on the corners instead, which halves the
pull on the centre and doubles that on the size. The value and the gradient are those of
`ioukit.losses.loss_and_gradient`, without smoothing: the paper's own code leaves 1 / (w^2 + h^2) out of CIoU's slope.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.losses import loss_and_gradient

if TYPE_CHECKING:
    from ioukit.losses.native import NativeLoss
    from ioukit.typing import FloatArray

LOSSES: tuple[NativeLoss, ...] = ("iou", "giou", "diou", "ciou", "eiou")
CENTRE, RADIUS = 10.0, 3.0
SCALES = (0.5, 0.67, 0.75, 1, 1.33, 1.5, 2)
RATIOS = (1 / 4, 1 / 3, 1 / 2, 1, 2, 3, 4)
RATE, STEPS, PLACES = 0.1, 200, 5000


def boxes_of(centres: FloatArray, areas: FloatArray, ratios: FloatArray) -> FloatArray:
    """(..., 4) from centres (..., 2), areas and ratios of width and height."""
    sides = np.sqrt(np.stack([areas * ratios, areas / ratios], axis=-1))
    return np.concatenate([centres - sides / 2, centres + sides / 2], axis=-1)


def cases(places: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Anchors and targets, (343 * places, 4) each."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, places), RADIUS * np.sqrt(rng.uniform(0, 1, places))
    centres = CENTRE + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    shape = (places, len(SCALES), len(RATIOS), len(RATIOS))
    scales, ratios = (
        np.broadcast_to(np.reshape(x, s), shape) for x, s in ((SCALES, (1, -1, 1, 1)), (RATIOS, (1, 1, -1, 1)))
    )
    anchors = boxes_of(np.broadcast_to(centres[:, None, None, None], (*shape, 2)), scales.astype(float), ratios)
    targets = boxes_of(np.full((len(RATIOS), 2), CENTRE), np.ones(len(RATIOS)), np.array(RATIOS))
    return anchors.reshape(-1, 4), np.broadcast_to(targets, (*shape, 4)).reshape(-1, 4)


# From corners to centre and size, and, by its inverse transposed, from the slopes in the ones to those in the others.
CENTRED = np.array([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [-1, 0, 1, 0], [0, -1, 0, 1]])


def errors(
    name: NativeLoss, pred: FloatArray, target: FloatArray, steps: int = STEPS, *, corners: bool = False
) -> FloatArray:
    """(steps + 1,): the total error before each step and at the end, in the numbers that descend."""
    coded = np.eye(4) if corners else CENTRED
    # A step in the coded numbers, as one in the corners: their slopes by the inverse transposed, and the way back.
    decoded = np.linalg.inv(coded)
    step_by = decoded @ decoded.T
    total = np.zeros(steps + 1)
    part = 1 << 15  # a part stays in the cache for all its steps
    for start in range(0, len(pred), part):
        boxes, goal = pred[start : start + part].copy(), np.ascontiguousarray(target[start : start + part])
        for step in range(steps):
            total[step] += np.abs((boxes - goal) @ coded.T).sum()
            losses, slope = loss_and_gradient(name, boxes, goal)
            if name != "iou":
                losses, _ = loss_and_gradient("iou", boxes, goal)
            boxes -= (RATE * (1 + losses))[:, None] * (slope @ step_by)  # 2 - IoU = 1 + (1 - IoU)
        total[steps] += np.abs((boxes - goal) @ coded.T).sum()
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=PLACES, help=f"of anchors (default: {PLACES}, the paper's)")
    parser.add_argument("--corners", action="store_true", help="descend on the corners")
    parser.add_argument("--json", type=Path, help="where the numbers go")
    options = parser.parse_args()

    pred, target = cases(options.places)
    found: dict[str, Any] = {"cases": len(pred), "steps": STEPS, "rate": RATE, "errors": {}}
    print(f"{len(pred):,} cases\n\n| loss | before | after 50 | after 100 | after {STEPS} | left per case | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in LOSSES:
        start = time.perf_counter()
        curve = errors(name, pred, target, corners=options.corners)
        seconds = time.perf_counter() - start
        found["errors"][name] = [round(float(x), 1) for x in curve]
        cells = [f"{curve[k]:,.0f}" for k in (0, 50, 100, STEPS)]
        print(f"| {name} | {' | '.join(cells)} | {curve[-1] / len(pred):.4f} | {seconds:.0f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
