"""What is asked of an evaluation in parts afterwards keeps to its memory, or is refused before it starts."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate, scale
from ioukit.comparison import changes, parts
from ioukit.datasets import write
from ioukit.runs import Ledger
from ioukit.scale.memory import ANALYSES
from ioukit.scale.table_files import TableFile
from ioukit.statistics import compare

pytest.importorskip("pyarrow")

Call = Callable[[Evaluation, Evaluation, Path], Any]
CALLS: dict[str, tuple[str, int, Call]] = {
    "compare": ("comparison", 2, lambda a, b, _: a.compare(b)),
    "numbers": ("comparison", 2, lambda a, b, _: compare(a, b)),
    "changes": ("comparison", 2, lambda a, b, _: changes(a, b)),
    "parts": ("comparison", 2, lambda a, b, _: parts(a, b)),
    "intervals": ("intervals", 1, lambda a, _, __: a.intervals()),
    "interval of a class": ("intervals", 1, lambda a, _, __: a.interval("AP/class 1")),
    "report": ("report", 1, lambda a, _, folder: a.report(folder / "report.html")),
    "errors": ("errors", 1, lambda a, _, __: a.error_kinds()),
    "table": ("tables", 1, lambda a, _, __: a.to_arrow("per_detection")),
    "log": ("log", 1, lambda a, _, folder: Ledger(folder / "runs.db").add(a, name="a")),
    "images": ("analysis", 1, lambda a, _, __: a.per_image()),
    "sum": ("analysis", 1, lambda a, b, _: a.matches + b.matches),
    "pickle": ("analysis", 1, lambda a, _, __: pickle.dumps(a)),
}


def scene(images: int, classes: int, per_image: int) -> tuple[GroundTruth, list[Detections]]:
    """Seven objects per image, and two models: a third of their detections are near objects."""
    rng = np.random.default_rng(5)
    image = np.repeat(np.arange(images), 7)
    boxes = np.column_stack([rng.random((len(image), 2)) * 500, 20 + rng.random((len(image), 2)) * 200])
    gt = GroundTruth.from_arrays(
        image_ids=image,
        category_ids=rng.integers(1, classes + 1, len(image)),
        boxes=boxes,
        images=np.arange(images),
        categories={number: f"class {number}" for number in range(1, classes + 1)},
    )
    models = []
    for noise in (0.05, 0.04):
        at = rng.integers(0, len(image), images * per_image)
        near = rng.random(len(at)) < 1 / 3
        models.append(
            Detections.from_arrays(
                image_ids=image[at],
                category_ids=np.where(near, gt.category_ids[at], rng.integers(1, classes + 1, len(at))),
                boxes=np.where(near[:, None], boxes[at] * (1 + rng.normal(0, noise, (len(at), 4))), boxes[at[::-1]]),
                scores=rng.random(len(at)).round(4),
            )
        )
    return gt, models


@pytest.fixture(scope="module")
def small() -> tuple[GroundTruth, list[Detections]]:
    return scene(20, 3, 10)


@pytest.mark.parametrize("name", CALLS)
def test_what_does_not_fit_is_refused_before_it_starts(
    name: str, small: tuple[GroundTruth, list[Detections]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, models = small
    a, b = (scale.evaluate(gt, dt, memory="400MB", near=0.1) for dt in models)
    analysis, tables, call = CALLS[name]
    monkeypatch.setitem(ANALYSES, analysis, (0, 3_000_000, 0, 0))
    monkeypatch.setattr(TableFile, "read", lambda _: pytest.fail("rows were read"))
    rows = 200 * tables
    with pytest.raises(ValueError, match=f"too little for the {analysis}") as caught:
        call(a, b, tmp_path)
    said = re.fullmatch(
        rf"memory of 400 MB is too little for the {analysis}, with the matches of all {rows} detections at "
        r"once: expected at least ([\d,]+) MB\. Evaluate with that memory: in the same folder for work, nothing is "
        "matched again",
        str(caught.value),
    )
    assert said is not None
    assert 0 <= int(said[1].replace(",", "")) - (120 + 3 * rows) < 25  # what was drawn of few classes
    assert not list(tmp_path.iterdir())


def test_one_of_two_may_be_in_memory(
    small: tuple[GroundTruth, list[Detections]], monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, models = small
    stored, other = scale.evaluate(gt, models[0], memory="400MB"), evaluate(gt, models[1])
    monkeypatch.setitem(ANALYSES, "comparison", (0, 3_000_000, 0, 0))
    for pair in ((stored, other), (other, stored)):
        with pytest.raises(ValueError, match="too little for the comparison, with the matches of all 400"):
            changes(*pair)


def test_what_fits_is_as_in_memory(small: tuple[GroundTruth, list[Detections]]) -> None:
    gt, models = small
    stored = [scale.evaluate(gt, dt, memory="400MB", near=0.1) for dt in models]
    plain = [evaluate(gt, dt, near=0.1) for dt in models]
    options: dict[str, Any] = {"replicates": 20, "permutations": 20}
    without_data = [Evaluation.from_table(one.matches) for one in plain]
    assert (
        stored[0].compare(stored[1], **options).to_dict()
        == without_data[0].compare(without_data[1], **options).to_dict()
    )


def test_many_replicates_and_threads_count(
    small: tuple[GroundTruth, list[Detections]], monkeypatch: pytest.MonkeyPatch
) -> None:
    gt, models = small
    stored = scale.evaluate(gt, models[0], memory="400MB")
    with pytest.raises(ValueError, match=r"too little for the intervals.*expected at least 6[\d][\d] MB"):
        stored.intervals(["AP"], replicates=20_000_000)
    monkeypatch.setitem(ANALYSES, "intervals", (0, 0, 0, 10_000_000))
    with pytest.raises(ValueError, match=r"too little for the intervals.*expected at least 7[\d][\d] MB"):
        stored.intervals(["AP"], replicates=20, threads=20)
    assert len(stored.intervals(["AP"], replicates=20, threads=2)) == 1


def test_what_was_announced_is_not_refused_again(
    small: tuple[GroundTruth, list[Detections]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of rows of a text file is an estimate, which may be a little too low."""
    gt, models = small
    stored = scale.evaluate(gt, models[0], memory="400MB", analyses=["intervals"])
    monkeypatch.setitem(ANALYSES, "intervals", (0, 3_000_000, 0, 0))
    assert len(stored.intervals(["AP"], replicates=20)) == 1


MEASURED = """
import pickle, re, sys
from ioukit import scale
folder = sys.argv[1]
with open(f"{folder}/gt", "rb") as file:
    gt = pickle.load(file)
def compare(memory):
    a, b = (scale.evaluate(gt, f"{folder}/{name}.parquet", memory=memory, work=f"{folder}/{name}") for name in "ab")
    a.compare(b, replicates=10, permutations=10)
try:
    compare("330MB")
except ValueError as error:
    needed = re.search("the comparison.*expected at least ([0-9]+) MB[.]", str(error))[1]
compare(f"{needed}MB")
with open("/proc/self/status") as lines:  # not ru_maxrss, which starts with the memory of the parent
    print(needed, next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
@pytest.mark.parametrize("classes", [80, pytest.param(1203, marks=pytest.mark.slow)])
def test_what_is_needed_is_enough(classes: int, tmp_path: Path) -> None:
    gt, models = scene(1_600, classes, 100)
    (tmp_path / "gt").write_bytes(pickle.dumps(gt))
    for name, dt in zip("ab", models, strict=True):
        write(dt, tmp_path / f"{name}.parquet", "parquet")
    run = subprocess.run([sys.executable, "-c", MEASURED, str(tmp_path)], capture_output=True, text=True, check=True)
    needed, peak = map(float, run.stdout.split())
    assert needed / 1.6 < peak < needed
