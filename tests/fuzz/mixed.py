"""Fuzzes pairs of formats with atheris: ground truth of one, detections of another; the right number, or a sentence.

    pip install atheris
    python tests/fuzz/mixed.py [-max_total_time=300]

The bytes of an input choose two formats and a small data set: names of images with folders, zeros and other suffixes,
ids, classes (also two of one name), sizes or none, boxes. Both sides are written, read and evaluated. The AP must be
that of the data in memory, or the pair ends with a `DatasetError` of one line. Options are those of libFuzzer.
"""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import atheris
import numpy as np

with atheris.instrument_imports(include=["ioukit.datasets"]):
    from ioukit import DatasetError, Detections, GroundTruth, datasets, evaluate
    from ioukit.datasets import FORMATS, formats

    # Modules of formats are imported when they are used, which would be too late to follow what runs in them.
    for module in pkgutil.iter_modules(formats.__path__, formats.__name__ + "."):
        importlib.import_module(module.name)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.mixed_formats import read_ground_truth, write_ground_truth  # found in the folder above

GROUND_TRUTH = [name for name, known in FORMATS.items() if known.write is not None]
DETECTIONS = [name for name, known in FORMATS.items() if known.write_detections is not None]
STEMS = ("1", "001", "2", "12", "000007", "a", "b", "c d", "rain/1", "sun/1", "x.y", "img1/3", "é", "A", "0")
NAMES = ("cat", "dog", "person", "cat", "traffic light", "a_b", "a b", "7", "face", "x:y", "Car")
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-len_control=0", "-max_len=96")
TOLERANCE = 1e-6
COUNTS: Counter[str] = Counter()


def run(data: bytes) -> None:
    """One pair."""
    choose = atheris.FuzzedDataProvider(data)
    first, second = choose.PickValueInList(GROUND_TRUTH), choose.PickValueInList(DETECTIONS)
    gt, dt = made(choose)
    folder = Path(tempfile.mkdtemp(prefix="mixed-"))
    try:
        compare(first, second, gt, dt, folder)
    except DatasetError as error:
        COUNTS["sentences"] += 1
        if "\n" in str(error):
            raise RuntimeError(f"{first} x {second}: a message of several lines: {error}") from error
    finally:
        shutil.rmtree(folder)
    if sum(COUNTS.values()) % 500 == 0:
        sys.stderr.write(f"{dict(COUNTS)}\n")


def made(choose: Any) -> tuple[GroundTruth, Detections]:
    """A data set in memory, and its detections."""
    count = choose.ConsumeIntInRange(1, 4)
    stems = [choose.PickValueInList(list(STEMS)) for _ in range(count)]
    suffix = choose.PickValueInList([".jpg", ".png", ""])
    ids = np.unique([choose.ConsumeIntInRange(0, 12) for _ in range(count)])
    classes = choose.ConsumeIntInRange(1, 3)
    first_class = choose.ConsumeIntInRange(0, 3)
    categories = {first_class + at: choose.PickValueInList(list(NAMES)) for at in range(classes)}
    has_sizes = choose.ConsumeBool()
    rows = choose.ConsumeIntInRange(1, 6)
    columns: dict[str, Any] = {
        "image_ids": ids[[choose.ConsumeIntInRange(0, len(ids) - 1) for _ in range(rows)]],
        "category_ids": [first_class + choose.ConsumeIntInRange(0, classes - 1) for _ in range(rows)],
    }
    boxes = np.array([[choose.ConsumeIntInRange(8, 20) for _ in range(4)] for _ in range(rows)], np.float64)
    gt = GroundTruth.from_arrays(
        **columns,
        boxes=boxes,
        images=ids,
        names=[f"{stem}{suffix}" for stem in stems[: len(ids)]],
        sizes=[[64, 48 + 8 * at] for at in range(len(ids))] if has_sizes else None,
        categories=categories,
    )
    # No IoU lies at a threshold, which the last bits of fractions would decide.
    moved = boxes + 0.917 * np.array([[choose.ConsumeIntInRange(-2, 2) for _ in range(4)] for _ in range(rows)])
    # Scores that differ: images may come in another order, and with it detections of one score.
    return gt, Detections.from_arrays(**columns, boxes=moved, scores=np.linspace(0.9, 0.1, rows))


def compare(first: str, second: str, gt: GroundTruth, dt: Detections, folder: Path) -> None:
    """Write, read and evaluate both sides, and compare the number with that of the data in memory."""
    truth = write_ground_truth(gt, first, folder)
    place = folder / f"dt{FORMATS[second].detections_suffix}"
    datasets.write(dt, place, second, ground_truth=gt)
    read = read_ground_truth(truth, first, gt)
    met = datasets.read_detections(place, second, ground_truth=read).known_to(read)
    found = evaluate(read, met).summary["AP"]
    if not comparable(first, second, gt, read):
        COUNTS["other ids of classes or frames"] += 1
        return
    if second == "crowdhuman" or first == "crowdhuman":
        COUNTS["persons alone"] += 1
        return
    expected = evaluate(gt, dt).summary["AP"]
    if not abs(found - expected) <= TOLERANCE:
        raise RuntimeError(f"{first} x {second}: expected {expected}, found {found}: {gt.images.names[:]}, {dt.notes}")
    COUNTS["numbers"] += 1


def comparable(first: str, second: str, gt: GroundTruth, read: GroundTruth) -> bool:
    """Whether the numbers must agree: ids in files of detections are those of the ground truth that was read.

    Ids of classes that a reader gave by name or by position mean something else in a file of results, as a note says.
    So do frames, which MOTChallenge's writer numbers if names of images are no numbers.
    """
    stems = [name.rpartition("/")[2].split(".")[0] for name in gt.images.names]
    frames = {int(stem) for stem in stems if stem.isdecimal()} - {0}
    if "mot" in (first, second) and len(frames) < len(stems):
        return False
    # An id that is a number may be the name of another image, where the ground truth has names alone.
    numbers = [
        int(stem) if stem.isdecimal() else number for stem, number in zip(stems, gt.images.ids.tolist(), strict=True)
    ]
    if (
        second in ("coco", "lvis")
        and numbers != gt.images.ids.tolist()
        and (read.images.keys is not None or read.images.made_up_ids)
    ):
        return False
    if first in ("icdar2015", "wider-face") or second == "wider-face":
        return False
    by_id = second in ("coco", "lvis", "mot", "yolo")
    listed = dict(zip(read.categories.ids.tolist(), read.categories.names, strict=True))
    same = all(
        listed.get(number) == name for number, name in zip(gt.categories.ids.tolist(), gt.categories.names, strict=True)
    )
    return same if by_id else len(set(gt.categories.names)) == len(gt.categories)


def main() -> None:
    """Fuzz until the options, or an error, end it."""
    with tempfile.TemporaryDirectory() as corpus:
        rng = np.random.default_rng(0)
        for number in range(200):
            (Path(corpus) / str(number)).write_bytes(rng.bytes(96))
        atheris.Setup([sys.argv[0], *LIMITS, *sys.argv[1:], corpus], run)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
