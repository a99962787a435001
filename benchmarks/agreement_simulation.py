"""How often do the limits of `ioukit agree` hold the true numbers? Annotators of made-up images, whose truth is known.

    python benchmarks/agreement_simulation.py

Two annotators find each object with some probability, move its box, and mistake its class. In the second population,
three of ten images are crowded and hard. The truth is the number of 30,000 images. Prints, for samples of 10 to 200
images, the share of samples whose 95 % limits hold it.
"""

from __future__ import annotations

import argparse

import numpy as np

from ioukit import GroundTruth
from ioukit.comparison import agree

CLASSES = (3, 5, 9)


def annotated(rng: np.random.Generator, images: int, *, clustered: bool) -> dict[str, GroundTruth]:
    """The same images as two annotators see them. Objects lie apart, so that nothing competes for one."""
    rows: tuple[list[tuple[float, ...]], ...] = ([], [])
    for image in range(images):
        hard = clustered and rng.random() < 0.3
        for place in range(rng.poisson(6 if hard else 2.5)):
            box = np.array([200.0 * place, 0, *rng.uniform(20, 60, 2)])
            kind = int(rng.choice(CLASSES, p=[0.6, 0.3, 0.1]))
            for own in rows:
                if rng.random() < (0.7 if hard else 0.92):
                    given = kind if rng.random() < (0.7 if hard else 0.9) else int(rng.choice(CLASSES))
                    own.append((image, given, *(box + rng.normal(0, 3, 4)).tolist()))
    sets = {}
    for name, own in zip(("ann", "bob"), rows, strict=True):
        table = np.array(own).reshape(-1, 6)
        sets[name] = GroundTruth.from_arrays(
            image_ids=table[:, 0].astype(np.int64),
            category_ids=table[:, 1].astype(np.int64),
            boxes=np.column_stack([table[:, 2:4], np.abs(table[:, 4:])]),
            images=list(range(images)),
            categories=dict(zip(CLASSES, "abc", strict=True)),
        )
    return sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    samples = parser.parse_args().samples
    for clustered in (False, True):
        whole = agree(annotated(np.random.default_rng(0), 30_000, clustered=clustered))
        true = {key: one.value for key, one in {**whole.pairs[0].numbers, "alpha": whole.alpha}.items()}
        for images in (10, 20, 50, 200):
            held = dict.fromkeys(true, 0)
            for sample in range(samples):
                rng = np.random.default_rng([sample, images, 7])
                found = agree(annotated(rng, images, clustered=clustered), threads=1)
                for key, one in {**found.pairs[0].numbers, "alpha": found.alpha}.items():
                    held[key] += one.low <= true[key] <= one.high
            shares = "  ".join(f"{key} {100 * count / samples:.1f} %" for key, count in held.items())
            print(f"{'crowded and hard ones among' if clustered else 'alike'}, {images} images: {shares}", flush=True)


if __name__ == "__main__":
    main()
