"""All writers, with names and numbers that break files: what is written is read back, or nothing is left.

The tests of each format compare every column of tame data. Here, data are as odd as they can be.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ioukit import DatasetError
from ioukit.datasets import Detections, GroundTruth, read, read_detections, write
from ioukit.datasets.formats.builtin import BUILTIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.datasets.formats.format import Format

CLASSES = ("cat", "a:b", "a b", "007", "1", "", "  ", "x/y", "x\\y", "NaN", "a\nb", "\x1b[0m", "a,b", '"', "x" * 300)
MORE_CLASSES = (
    "#1",
    "true",
    "C:",
    "cat ",
    "Cat",
    "inf",
    "=1+1",
    "\ud800",
    "<b>",
    "0",
    "a\xa0b",
    "..",
    "face",
    "person",
)
IMAGES = ("a.jpg", "img 2.png", "007", "rain/1.jpg", "a:b.jpg", "x\\y.jpg", "..", "../a.jpg", "/abs.jpg", "", "\n.jpg")
MORE_IMAGES = (" b.jpg", "c .jpg", "x" * 260 + ".jpg", ".hidden.jpg", "d,e.jpg", "classes.jpg", "\ud800.jpg", "train")
HUGE = (2.0**53, 2.0**52 + 1, 1e15)
SIDES = st.one_of(st.floats(0, 600), st.integers(0, 600).map(float), st.sampled_from((1e-300, 1e-7, *HUGE)))
LOWS = st.one_of(SIDES, st.floats(-50, 0))
SCORES = st.one_of(st.floats(0, 1), st.sampled_from((2.0**54, -3.5, 1e300, 1e-310)))
IDS = st.one_of(st.integers(0, 9), st.integers(-(2**63), 2**63 - 1), st.just(2**53 + 1))
SIZES = st.sampled_from(((640.0, 480.0), (640.0, 480.0), (math.nan, math.nan), (0.5, 7.25)))


@st.composite
def odd_data(draw: st.DrawFn) -> tuple[GroundTruth, Detections]:
    """A ground truth with odd names, ids and numbers, and detections of the same. Most are odd in part."""
    odd = draw(st.sampled_from(("names", "classes", "numbers", "ids", "all")))
    images = (*IMAGES, *MORE_IMAGES) if odd in ("names", "all") else ("a.jpg", "b.jpg", "c.png")
    classes = (*CLASSES, *MORE_CLASSES) if odd in ("classes", "all") else ("cat", "dog")
    lows, sides = (LOWS, SIDES) if odd in ("numbers", "all") else (st.integers(0, 99), st.integers(1, 99))
    names = draw(st.lists(st.sampled_from(images), unique=True, max_size=3))
    listed = draw(st.lists(st.sampled_from(classes), unique=True, min_size=1, max_size=3))
    ids = IDS if odd in ("ids", "all") else st.integers(0, 99)
    labels: Any = np.array(names, np.str_)
    if odd in ("ids", "all") and draw(st.booleans()):
        labels = np.array(draw(st.lists(ids, unique=True, min_size=len(names), max_size=len(names))), np.int64)
    numbers = draw(st.lists(ids, unique=True, min_size=len(listed), max_size=len(listed)))

    def rows() -> dict[str, Any]:
        count = draw(st.integers(0, 3)) if names else 0
        places = [draw(st.integers(0, len(names) - 1)) for _ in range(count)]
        boxes = [[draw(lows), draw(lows), draw(sides), draw(sides)] for _ in range(count)]
        return {
            "image_ids": labels[places],
            "category_ids": np.array([draw(st.sampled_from(numbers)) for _ in range(count)], np.int64),
            "boxes": np.array(boxes, np.float64).reshape(-1, 4),
        }

    of_gt, of_dt = rows(), rows()
    gt = GroundTruth.from_arrays(
        **of_gt,
        ids=draw(st.lists(ids, unique=True, min_size=len(of_gt["boxes"]), max_size=len(of_gt["boxes"]))),
        images=labels,
        sizes=np.array([draw(SIZES) for _ in names], np.float64).reshape(-1, 2),
        names=names,
        categories=dict(zip(numbers, listed, strict=True)),
    )
    scores = SCORES if odd in ("numbers", "all") else st.floats(0, 1)
    return gt, Detections.from_arrays(**of_dt, scores=np.array([draw(scores) for _ in of_dt["boxes"]], np.float64))


def values_of(data: GroundTruth | Detections, gt: GroundTruth, *, named: bool) -> list[tuple[Any, ...]]:
    """The class, the box and the score of each row, in an order of their own."""
    names = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    scores = data.scores.tolist() if isinstance(data, Detections) else [0.0] * len(data)
    rows = zip(data.category_ids.tolist(), data.boxes.tolist(), scores, strict=True)
    return sorted((names[number] if named else "", *box, score) for number, box, score in rows)


def in_pixels(back: GroundTruth | Detections, gt: GroundTruth) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Boxes in fractions, as those of Open Images, in pixels."""
    sizes = dict(zip(map(str, gt.images.labels.tolist()), gt.images.sizes.tolist(), strict=True))
    if gt.images.keys is None:
        stems = (os.path.splitext(name)[0] or str(label) for name, label in zip(gt.images.names, sizes, strict=True))
        sizes = dict(zip(stems, sizes.values(), strict=True)) | sizes
    of_rows = np.array([sizes[str(label)] for label in back.image_labels().tolist()], np.float64).reshape(-1, 2)
    return back.boxes * np.tile(np.nan_to_num(of_rows, nan=1.0), 2)


def check(known: Format, data: GroundTruth | Detections, gt: GroundTruth, folder: Path) -> None:
    is_truth = data is gt
    path = folder / f"out{known.suffix if is_truth else known.detections_suffix}"
    refusal = ""
    try:
        notes = "; ".join(write(data, path, known.name, **({} if is_truth else {"ground_truth": gt})))
    except DatasetError as error:
        refusal = str(error)
    if refusal:
        assert refusal.isprintable()
        assert len(refusal) < 1000
        assert list(folder.iterdir()) == [], "a file is left"
        return
    if is_truth:
        options: dict[str, Any] = (
            {"names": ["_".join(name.split()) for name in gt.categories.names]} if known.name == "kitti" else {}
        )
        back: Any = read(path, known.name, **options)
    else:
        back = read_detections(path, known.name, ground_truth=gt)
    if len(back) < len(data):
        assert "without an area" in notes or "of other classes than person" in notes, notes
        return
    named = "names of" not in notes
    before, after = values_of(data, gt, named=named), values_of(back, back if is_truth else gt, named=named)
    assert [row[0] for row in before] == [row[0] for row in after], notes
    if known.name == "open-images":
        back_boxes = np.sort(in_pixels(back, gt), axis=None)
        tolerance = 1e-9 * np.abs(data.boxes).max(initial=1)
        cut = "are cut" in notes
        assert cut or np.abs(back_boxes - np.sort(data.boxes, axis=None)).max(initial=0) <= tolerance
    elif not any(word in notes for word in ("boxes", "digits")):
        ours, theirs = (np.array([row[1:] for row in rows]).reshape(-1, 5) for rows in (before, after))
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9 * np.abs(ours[:, :4]).max(initial=1))


@pytest.mark.parametrize("known", [one for one in BUILTIN if one.write], ids=lambda known: known.name)
def test_what_is_written_is_read_back_or_nothing_is_left(
    known: Format, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if known.name in ("parquet", "arrow"):
        pytest.importorskip("pyarrow", reason="its files need PyArrow: pip install 'ioukit[tables]'")
    if known.name == "yolo":
        pytest.importorskip("yaml", reason="data.yaml needs PyYAML: pip install 'ioukit[yolo]'")
    examples = settings(
        max_examples=20,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
    )

    @examples
    @given(odd_data())
    def holds(data: tuple[GroundTruth, Detections]) -> None:
        gt, dt = data
        check(known, gt, gt, tmp_path_factory.mktemp("gt"))
        if known.write_detections:
            check(known, dt, gt, tmp_path_factory.mktemp("dt"))

    run: Callable[[], None] = holds
    run()


def test_a_class_called_007_is_found_in_detections(tmp_path: Path) -> None:
    """Among files with numbers for classes, a number is a position; a class may be called so, too."""
    gt = GroundTruth.from_arrays(image_ids=["i"], category_ids=[4], boxes=[[1, 2, 3, 4]], categories={3: "x", 4: "007"})
    dt = Detections.from_arrays(image_ids=["i"], category_ids=[4], boxes=[[1, 2, 3, 4]], scores=[0.5])
    write(dt, tmp_path / "out", "padilla", ground_truth=gt)
    assert read_detections(tmp_path / "out", ground_truth=gt).category_ids.tolist() == [4]


def test_an_empty_set_of_dota_is_recognised(tmp_path: Path) -> None:
    write(GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[]), tmp_path / "out", "dota")
    assert len(read(tmp_path / "out")) == 0


@pytest.mark.parametrize("name", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("changes", "what"),
    [({"scores": [2.0**54]}, "score"), ({"category_ids": [2**53 + 1]}, "id of the class")],
)
def test_numbers_beyond_doubles_are_refused_with_the_row(
    name: str, changes: dict[str, Any], what: str, tmp_path: Path
) -> None:
    columns: dict[str, Any] = {"image_ids": ["i"], "category_ids": [1], "boxes": [[1, 2, 3, 4]], "scores": [0.5]}
    dt = Detections.from_arrays(**{**columns, **changes})
    with pytest.raises(DatasetError, match=rf"detections: row 0, {what}: expected numbers of at most 2\*\*53"):
        write(dt, tmp_path / f"out.{name}", name)
    assert list(tmp_path.iterdir()) == []
