"""Lines that are read at once and lines that are read one by one give the same data, or the same refusal."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from ioukit.datasets import read_mot, read_mot_detections
from ioukit.datasets.formats import mot
from ioukit.errors import DatasetError
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from pathlib import Path

SETS = 120
SPOILED = ("", "x", "nan", "1e17", "-3", "0", "2.5", "99", "1_0", " 7 ", "1e400", "+4")


def write_set(rng: random.Random, root: Path) -> tuple[Path, Path]:
    """Sequences with results; in half of the sets, a field or a line is changed."""
    truth, found = root / "train", root / "found"
    found.mkdir(parents=True)
    names = [f"S{at}" for at in range(rng.randint(1, 3))]
    spoil = rng.random() < 0.5
    width = rng.choice((7, 8, 9, 10))
    for name in names:
        folder = truth / name / "gt"
        folder.mkdir(parents=True)
        if rng.random() < 0.6:
            size = "imWidth=90\nimHeight=80\n" * rng.randint(0, 1)
            (truth / name / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={rng.randint(4, 6)}\nimDir=img1\n{size}")
        (folder / "gt.txt").write_text(lines(rng, rng.choice((7, 8, 9, 10)), spoil=spoil and rng.random() < 0.5))
        (found / f"{name}.txt").write_text(lines(rng, width, spoil=spoil))
    return truth, found


def lines(rng: random.Random, width: int, *, spoil: bool) -> str:
    """The lines of a file, with the ends of lines of some system."""
    rows = []
    for _ in range(rng.randint(0, 12)):
        frame, track, known = rng.randint(1, 4), rng.randint(1, 5), rng.choice((-1, 1, 2, 13))
        box = [f"{rng.uniform(-5, 90):.{rng.randint(0, 3)}f}" for _ in range(2)]
        box += [f"{rng.uniform(0, 30):.{rng.randint(0, 3)}f}" for _ in range(2)]
        known = max(known, 1) if width in (8, 9) and rng.random() < 0.8 else known
        rows.append([frame, track, *box, rng.choice((0, 1)), known, round(rng.random(), 2), -1][:width])
    if rows and spoil:
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = rng.choice(SPOILED)
        if rng.random() < 0.2:
            rng.choice(rows).pop()
    end = rng.choice(("\n", "\r\n"))
    return end.join([rng.choice((",", ", ")).join(map(str, row)) for row in rows] + [""] * rng.randint(0, 2))


def answer(truth: Path, found: Path, on_invalid: Any, first_pixel: int) -> Any:
    """The data, or the refusal."""
    options = {"on_invalid": on_invalid, "first_pixel": first_pixel}
    try:
        gt = read_mot(truth, **options)
        return gt, read_mot_detections(found, ground_truth=gt, **options)
    except (DatasetError, ValueError) as error:
        return str(error)


@pytest.mark.parametrize("first", range(0, SETS, 40))
def test_both_ways_are_the_same(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = 0
    for seed in range(first, first + 40):
        rng = random.Random(seed)
        paths = write_set(rng, tmp_path / str(seed))
        options = (rng.choice(("error", "error", "drop")), rng.randint(0, 1))
        quick = answer(*paths, *options)
        with monkeypatch.context() as patch:
            patch.setattr(mot, "valid_lines", lambda *_: None)
            slow = answer(*paths, *options)
        refused += isinstance(slow, str)
        if isinstance(slow, str) or isinstance(quick, str):
            assert quick == slow, seed
            continue
        for one, other in zip(quick, slow, strict=True):
            assert_same_columns(one, other)
            assert one.notes == other.notes, seed
    assert 5 <= refused <= 35


def test_valid_lines_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mot, "_lines")  # what reads line by line
    truth, found = tmp_path / "train" / "a" / "gt", tmp_path / "found"
    for folder in (truth, found):
        folder.mkdir(parents=True)
    (truth / "gt.txt").write_text("2,1,0,0,5,5,1,1,0.5\n1,1,0,0,5,5,0,3,1\n")
    (found / "a.txt").write_text("1,4,0,0,5,5,0.25,-1,-1,-1\n")
    gt = read_mot(tmp_path / "train")
    dt = read_mot_detections(found, ground_truth=gt)
    assert gt.images.labels.tolist() == ["a/000001", "a/000002"]
    assert (gt.flag("ignore").tolist(), dt.scores.tolist()) == ([False, True], [0.25])
