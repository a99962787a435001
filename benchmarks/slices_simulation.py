"""How often does the search for the worst slices raise a false alarm, and how often does it find harm that was planted?

    python benchmarks/slices_simulation.py --sets 1000

Each data set has 150 images and three classes; four fifths of the objects are found. Weather (three values), speed (a
number, cut in four) and camera (two values) are drawn at random for each image, so they say nothing about the detector.
The search looks at these columns and at the position of the objects in the image, at 95 %.

- Without harm: the share of the data sets with a slice that is called worse. At most 5 % is asked.
- With harm: a share of the detections on one kind of weather is removed. The share of the data sets in which this
  weather is found, and in which it is the first slice of the list.

A second table is about objects on few images, where images differ much in how much is found, and a slice has most of
its objects on a quarter of them. Nothing but chance makes it look worse.
"""

from __future__ import annotations

import argparse

import numpy as np

from ioukit import Detections, GroundTruth, evaluate
from ioukit.slices import worst_slices

IMAGES, WIDTH, HEIGHT = 150, 640, 480
COLUMNS = ("weather", "speed", "camera", "position")
FEW = ((15, 25), (20, 20), (60, 8), (150, 4))  # how many images, and objects on each


def drawn(seed: int) -> tuple[GroundTruth, Detections, dict[str, np.ndarray]]:
    """Objects, detections, and a table of the images."""
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 8, IMAGES)
    image = np.repeat(np.arange(IMAGES), count)
    sides = rng.uniform(10, 240, (len(image), 2))
    boxes = np.hstack([rng.uniform(0, 1, sides.shape) * ([WIDTH, HEIGHT] - sides), sides])
    category = rng.integers(0, 3, len(image))
    found = np.flatnonzero(rng.random(len(image)) < 0.8)
    false = rng.integers(0, IMAGES, 2 * IMAGES)
    noise = rng.normal(0, 0.05, (len(found), 4)) * np.tile(sides[found], 2)
    background = np.hstack([rng.uniform(0, 300, (len(false), 2)), rng.uniform(10, 150, (len(false), 2))])
    gt = GroundTruth.from_arrays(
        image_ids=image,
        category_ids=category,
        boxes=boxes,
        images=np.arange(IMAGES),
        sizes=np.tile([WIDTH, HEIGHT], (IMAGES, 1)),
    )
    dt = Detections.from_arrays(
        image_ids=np.append(image[found], false),
        category_ids=np.append(category[found], rng.integers(0, 3, len(false))),
        boxes=np.vstack([np.maximum(boxes[found] + noise, 0.5), background]),
        scores=np.append(rng.beta(5, 2, len(found)), rng.beta(2, 5, len(false))),
    )
    table = {
        "image_id": np.arange(IMAGES),
        "weather": rng.choice(["sun", "rain", "fog"], IMAGES),
        "speed": rng.uniform(0, 130, IMAGES),
        "camera": rng.choice(["front", "rear"], IMAGES, p=[0.8, 0.2]),
    }
    return gt, dt, table


def on_few_images(images: int, each: int, seed: int) -> tuple[GroundTruth, Detections]:
    """Objects that are found or not, by image; two flags say nothing about that."""
    rng = np.random.default_rng([seed, images])
    count = images * each
    image = np.repeat(np.arange(images), each)
    boxes = np.column_stack([np.tile(30.0 * np.arange(each), images), *np.full((3, count), 20.0)])
    often = rng.random((2, images)) < 0.25
    flags = rng.random((2, count)) < np.where(often, 0.9, 0.03)[:, image]
    kept = rng.random(count) < np.clip(rng.normal(0.7, 0.3, images), 0.02, 0.98)[image]
    classes = np.zeros(count, np.int64)
    gt = GroundTruth.from_arrays(
        image_ids=image, category_ids=classes, boxes=boxes, attributes={"first": flags[0], "second": flags[1]}
    )
    scores = rng.random(np.count_nonzero(kept))
    return gt, Detections.from_arrays(
        image_ids=image[kept], category_ids=classes[kept], boxes=boxes[kept], scores=scores
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=200)
    arguments = parser.parse_args()
    print("| detections removed on fog | data sets | with an alarm | fog is found | fog is the worst |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for share, sets in ((0.0, arguments.sets), (0.2, arguments.sets // 5), (0.4, arguments.sets // 5)):
        alarms = hits = first = 0
        for seed in range(sets):
            gt, dt, table = drawn(seed)
            fog = np.isin(dt.image_ids, np.flatnonzero(table["weather"] == "fog"))
            lost = fog & (np.random.default_rng(seed + 1).random(len(dt)) < share)
            found = worst_slices(
                evaluate(gt, dt.take(~lost)),
                COLUMNS,
                tables=table,
                permutations=arguments.permutations,
                replicates=1,
                seed=seed,
            )
            names = [one.name for one in found.found]
            alarms += bool(names)
            hits += "weather: fog" in names
            first += names[:1] == ["weather: fog"]
        shares = " | ".join(f"{100 * one / sets:.1f} %" for one in (alarms, hits, first))
        print(f"| {100 * share:.0f} % | {sets:,} | {shares} |", flush=True)
    print("\n| images | objects on each | data sets | with an alarm |\n| ---: | ---: | ---: | ---: |")
    for images, each in FEW:
        alarms = 0
        for seed in range(arguments.sets):
            evaluation = evaluate(*on_few_images(images, each, seed))
            alarms += bool(worst_slices(evaluation, ["first", "second"], replicates=1, seed=seed).found)
        print(f"| {images} | {each} | {arguments.sets:,} | {100 * alarms / arguments.sets:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
