"""How often do the limits of `ioukit agree` hold the true numbers? Annotators of made-up images, whose truth is known.

    python benchmarks/agreement_simulation.py

Two annotators find each object with some probability, move its box, and mistake its class. The truth is the number of
30,000 images. Prints, for samples of 5 to 200 images, the share of samples whose 95 % limits hold it. Those of
kappa and alpha count if they have no warning; how many that are is printed, too.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from ioukit import GroundTruth
from ioukit.comparison import agree

CLASSES = (3, 5, 9)
WARNED = ("kappa", "alpha")


class Kind(NamedTuple):
    """A kind of image."""

    objects: float
    """How many, on average."""
    classes: tuple[float, float, float]
    """The share of each class."""
    found: float
    """The probability with which an annotator finds an object."""
    mistaken: float
    """The probability with which an annotator gives it any class."""


SHARES = (0.6, 0.3, 0.1)
POPULATIONS: dict[str, tuple[float, Kind, Kind]] = {
    "alike": (0, Kind(2.5, SHARES, 0.92, 0.1), Kind(2.5, SHARES, 0.92, 0.1)),
    "crowded and hard ones among": (0.3, Kind(2.5, SHARES, 0.92, 0.1), Kind(6, SHARES, 0.7, 0.3)),
    "a rare class": (0, Kind(3, (0.95, 0.05, 0), 0.85, 0.04), Kind(3, (0.95, 0.05, 0), 0.85, 0.04)),
    "a class on few images": (0.1, Kind(5, (1, 0, 0), 0.95, 0.1), Kind(5, (0.5, 0.5, 0), 0.95, 0.1)),
    "few mistakes": (0, Kind(8, (0.9, 0.1, 0), 0.97, 0.02), Kind(8, (0.9, 0.1, 0), 0.97, 0.02)),
    "guesses on few images": (0.05, Kind(5, (0.5, 0.3, 0.2), 0.95, 0.03), Kind(5, (0.5, 0.3, 0.2), 0.95, 0.9)),
}
"""The share of images of the second kind, and both kinds."""


def annotated(rng: np.random.Generator, images: int, population: str) -> dict[str, GroundTruth]:
    """The same images as two annotators see them. Objects lie apart, so that nothing competes for one."""
    rows: tuple[list[tuple[float, ...]], ...] = ([], [])
    share, usual, other = POPULATIONS[population]
    for image in range(images):
        kind_of_image = other if rng.random() < share else usual
        for place in range(rng.poisson(kind_of_image.objects)):
            box = np.array([200.0 * place, 0, *rng.uniform(20, 60, 2)])
            kind = int(rng.choice(CLASSES, p=kind_of_image.classes))
            for own in rows:
                if rng.random() < kind_of_image.found:
                    given = int(rng.choice(CLASSES)) if rng.random() < kind_of_image.mistaken else kind
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
    parser.add_argument("--population", choices=POPULATIONS, action="append")
    given = parser.parse_args()
    for population in given.population or POPULATIONS:
        whole = agree(annotated(np.random.default_rng(0), 30_000, population))
        true = {key: one.value for key, one in {**whole.pairs[0].numbers, "alpha": whole.alpha}.items()}
        for images in (5, 10, 20, 50, 200):
            held: dict[str, list[bool]] = {key: [] for key in true}
            for sample in range(given.samples):
                rng = np.random.default_rng([sample, images, 7])
                found = agree(annotated(rng, images, population), threads=1)
                for key, one in {**found.pairs[0].numbers, "alpha": found.alpha}.items():
                    if not np.isnan(one.low) and not (one.warnings and key in WARNED):
                        held[key].append(one.low <= true[key] <= one.high)
            shares = "  ".join(
                f"{key} {100 * np.mean(ones):.1f} %{f' of {len(ones)}' if key in WARNED else ''}"
                if ones
                else f"{key} none"
                for key, ones in held.items()
            )
            print(f"{population}, {images} images: {shares}", flush=True)


if __name__ == "__main__":
    main()
