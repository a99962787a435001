"""`filter_detections` of a batch, beside the loop that people write by hand: threshold, top-k and NMS, image by image.

    pip install 'ioukit[bench]' && python benchmarks/bench_filter.py

16 images of 8,400 boxes and 80 classes, as a YOLO gives them; 1,000 candidates and 300 boxes per image. "Few" and
"many" is how many scores reach a threshold. The loop uses NumPy and `ioukit.nms`, so that the suppression itself is the
same on both sides; its scores are compared. Medians, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
from _machine import described

from ioukit import filter_detections, nms

IMAGES, BOXES, CLASSES, CANDIDATES, KEPT = 16, 8_400, 80, 1_000, 300


def by_hand(boxes: Any, scores: Any, threshold: float) -> list[Any]:
    found = []
    for of_image, table in zip(boxes, scores, strict=True):
        box, label = np.nonzero(table >= threshold)
        score = table[box, label]
        if len(score) > CANDIDATES:
            best = np.argpartition(-score, CANDIDATES)[:CANDIDATES]
            box, label, score = box[best], label[best], score[best]
        kept = nms(of_image[box], score, 0.5, labels=label)[:KEPT]
        found.append((of_image[box[kept]], score[kept], label[kept]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    rng = np.random.default_rng(0)
    corner = rng.uniform(0, 600, (IMAGES, BOXES, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(8, 120, corner.shape)], axis=-1).astype(np.float32)
    print(f"{described('ioukit', 'numpy')}\n")
    print("| scores | threshold | candidates per image | ioukit | by hand | faster by |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, power in (("few", 400), ("many", 40)):
        scores = (0.9 * rng.random((IMAGES, BOXES, CLASSES)) ** power).astype(np.float32)
        for threshold in (0.25, 0.001):
            options: dict[str, Any] = {"score_threshold": threshold, "top_k": CANDIDATES, "max_detections": KEPT}
            ours, theirs = filter_detections(boxes, scores, **options), by_hand(boxes, scores, threshold)
            assert np.array_equal(ours.scores, np.concatenate([score for _, score, _ in theirs]))
            mine_taken, hand_taken = [], []
            for _ in range(rounds):
                start = time.perf_counter()
                filter_detections(boxes, scores, **options)
                middle = time.perf_counter()
                by_hand(boxes, scores, threshold)
                mine_taken.append(middle - start)
                hand_taken.append(time.perf_counter() - middle)
            mine, hand = (statistics.median(taken) * 1e3 for taken in (mine_taken, hand_taken))
            count = int((scores >= threshold).sum() / IMAGES)
            print(f"| {name} | {threshold} | {count:,} | {mine:.1f} ms | {hand:.1f} ms | {hand / mine:.1f} |")


if __name__ == "__main__":
    main()
