"""How fast do losses bring boxes to their targets? The simulation of the DIoU paper, from scratch.

    python benchmarks/regression_simulation.py --json docs/data/regression_simulation.json && python docs/build/draw.py

Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287, "Simulation experiment": anchors at 5,000 places, uniform
in a circle of radius 3 about (10, 10), of 7 scales and 7 aspect ratios at each place, regress to each of 7 targets of
area 1 at (10, 10): 1,715,000 cases. Gradient descent on centre and size, B <- B - rate (2 - IoU) dL/dB, 200 times, at
the rate 0.1, from 80 % of the steps on 0.01 and from 90 % on 0.001; the error is the sum over the cases of the L1
distance of the four numbers.

It runs twice. ``exact`` descends along the gradient of the loss, by `ioukit.losses.loss_and_gradient`. ``published``
descends along the slopes that the authors' program takes for it, written here from what they are (`published_slopes`):
the figure of the paper is of these, and the distance between its curves comes from where they are not the gradient.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ioukit.losses import loss_and_gradient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.losses.upright import NativeLoss
    from ioukit.typing import FloatArray

Slopes: TypeAlias = Literal["exact", "published"]
LOSSES: dict[Slopes, tuple[NativeLoss, ...]] = {
    "published": ("iou", "giou", "diou", "ciou"),
    "exact": ("iou", "giou", "diou", "ciou", "eiou"),
}
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


def exact_slopes(name: NativeLoss, boxes: FloatArray, goal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The gradient of a loss in centre and size, (N, 2) each."""
    _, slope = loss_and_gradient(name, boxes, goal)
    return slope[:, :2] + slope[:, 2:], (slope[:, 2:] - slope[:, :2]) / 2


def published_slopes(name: NativeLoss, boxes: FloatArray, goal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the authors' program takes for that gradient; it differs from it in four places.

    - GIoU multiplies the sides of the intersection with their signs: boxes that lie apart along one axis have a
      negative intersection, and along both a positive one, which neither of them holds.
    - The slopes of IoU and GIoU in the size are twice as large: those of the corners, without the half.
    - The slope of DIoU's diagonal has the wrong sign in the centre, which hurries it home; each side of the hull moves
      with both axes; and where the box holds the target, its own side counts the wrong way.
    - CIoU's aspect term leaves out 1 / (w^2 + h^2), as the paper says.
    """
    (low, high), (goal_low, goal_high) = (np.split(x, 2, axis=1) for x in (boxes, goal))
    size, goal_size = high - low, goal_high - goal_low
    shared = np.minimum(high, goal_high) - np.maximum(low, goal_low)
    hull = np.maximum(high, goal_high) - np.minimum(low, goal_low)
    beyond_low, beyond_high = low < goal_low, high > goal_high
    area = shared.prod(axis=1, keepdims=True)
    union = size.prod(axis=1, keepdims=True) + goal_size.prod(axis=1, keepdims=True) - area
    overlap = (shared > 0).all(axis=1, keepdims=True)
    area_slopes = _by_corner(shared, low > goal_low, high < goal_high)
    union_slopes = _by_corner(size, True, True) - area_slopes
    guarded = np.where(overlap, union, 1.0)
    corners = np.where(overlap, -(union * area_slopes - area * union_slopes) / guarded**2, 0.0)
    if name == "giou":
        whole = hull.prod(axis=1, keepdims=True)
        hull_slopes = _by_corner(hull, beyond_low, beyond_high)
        corners -= (whole * union_slopes - union * hull_slopes) / whole**2
    of_centre, of_size = corners[:, :2] + corners[:, 2:], corners[:, 2:] - corners[:, :2]
    if name in ("diou", "ciou"):
        apart = (low + high - goal_low - goal_high) / 2
        distance, diagonal = (np.square(x).sum(axis=1, keepdims=True) for x in (apart, hull))
        both = hull.sum(axis=1, keepdims=True)
        moved = 2 * both * (beyond_high.astype(float) - beyond_low)
        grown = both * (beyond_high.astype(float) + beyond_low) - np.where(beyond_low & beyond_high, 4 * hull, 0.0)
        of_centre = of_centre + (2 * apart * diagonal + distance * moved) / diagonal**2
        of_size = of_size - distance * grown / diagonal**2
    if name == "ciou":
        turn = np.arctan(goal_size[:, :1] / goal_size[:, 1:]) - np.arctan(size[:, :1] / size[:, 1:])
        aspect = 4 / np.pi**2 * turn**2
        iou = np.where(overlap, area / guarded, 0.0)
        of_size = of_size - aspect / (1 - iou + aspect + 1e-7) * 8 / np.pi**2 * turn * size[:, ::-1] * [1, -1]
    return of_centre, of_size


def _by_corner(sides: FloatArray, low: NDArray[np.bool_] | bool, high: NDArray[np.bool_] | bool) -> FloatArray:
    """(N, 4), how an area grows with the corners of a box: by the other side, where the corner is the area's."""
    other = sides[:, ::-1]
    return np.concatenate([np.where(low, -other, 0.0), np.where(high, other, 0.0)], axis=1)


def errors(
    name: NativeLoss,
    pred: FloatArray,
    target: FloatArray,
    steps: int = STEPS,
    *,
    slopes: Slopes = "exact",
    decay: bool = True,
) -> FloatArray:
    """(steps + 1,): the total error before each step and at the end."""
    slopes_of = exact_slopes if slopes == "exact" else published_slopes
    total = np.zeros(steps + 1)
    part = 1 << 12  # a part stays in the cache for all its steps

    def error(boxes: FloatArray, goal: FloatArray) -> float:
        low, high = np.split(boxes - goal, 2, axis=1)
        return float(np.abs(low + high).sum() / 2 + np.abs(high - low).sum())

    for start in range(0, len(pred), part):
        boxes, goal = pred[start : start + part].copy(), np.ascontiguousarray(target[start : start + part])
        for step in range(steps):
            total[step] += error(boxes, goal)
            rate = RATE * (1 if not decay or step < 0.8 * steps else 0.1 if step < 0.9 * steps else 0.01)
            losses, _ = loss_and_gradient("iou", boxes, goal)
            of_centre, of_size = slopes_of(name, boxes, goal)
            speed = rate * (1 + losses)[:, None]  # 2 - IoU = 1 + (1 - IoU)
            boxes[:, :2] -= speed * (of_centre - of_size / 2)
            boxes[:, 2:] -= speed * (of_centre + of_size / 2)
        total[steps] += error(boxes, goal)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=PLACES, help=f"of anchors (default: {PLACES}, the paper's)")
    parser.add_argument("--fixed-rate", action="store_true", help="stay at the first rate")
    parser.add_argument("--json", type=Path, help="where the numbers go")
    options = parser.parse_args()

    pred, target = cases(options.places)
    found: dict[str, Any] = {"cases": len(pred), "steps": STEPS, "rate": RATE, "errors": {}}
    print(
        f"{len(pred):,} cases\n\n| slopes | loss | before | after 50 | after 100 | after {STEPS} | left per case | s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for slopes, names in LOSSES.items():
        found["errors"][slopes] = {}
        for name in names:
            start = time.perf_counter()
            curve = errors(name, pred, target, slopes=slopes, decay=not options.fixed_rate)
            seconds = time.perf_counter() - start
            found["errors"][slopes][name] = [round(float(x), 1) for x in curve]
            cells = [f"{curve[k]:,.0f}" for k in (0, 50, 100, STEPS)]
            left = curve[-1] / len(pred)
            print(f"| {slopes} | {name} | {' | '.join(cells)} | {left:.4f} | {seconds:.0f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
