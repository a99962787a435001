"""The protocol of ICDAR 2015 against plain Python, and `ioukit eval` on its files."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from evaluation.plain_icdar import Text, plain_counts, plain_numbers
from ioukit import DatasetError, Detections, GroundTruth, Polygons
from ioukit.datasets import read, read_detections
from ioukit.evaluation import accumulate, match, summarise
from ioukit.evaluation.protocols import ICDAR2015, Protocol, read_protocol
from support.command import run_here

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Points = list[tuple[float, float]]
SQUARE: Points = [(0, 0), (10, 0), (10, 10), (0, 10)]


def rectangle(x: float, y: float, width: float, height: float) -> Points:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def turned(rng: random.Random) -> Points:
    """A rhomboid anywhere."""
    x, y, across, down, slant = (rng.randint(low, high) for low, high in ((0, 40), (0, 40), (4, 20), (4, 12), (-4, 4)))
    return [(x, y), (x + across, y + slant), (x + across + slant, y + slant + down), (x + slant, y + down)]


def on_grid(rng: random.Random) -> Points:
    """A rectangle of few pixels, perhaps of none: IoU is often exactly 0.5, and two are often the same."""
    return rectangle(rng.randint(0, 4), rng.randint(0, 4), rng.randint(0, 4), rng.randint(1, 3))


def moved(rng: random.Random, points: Sequence[tuple[float, float]]) -> Points:
    by = rng.choice([-1, 0, 0, 1])
    return [(x + by, y) for x, y in points]


def sides(images: Sequence[tuple[list[Text], list[Points]]]) -> tuple[GroundTruth, Detections]:
    listed = [(number, text) for number, (texts, _) in enumerate(images) for text in texts]
    found = [(number, one) for number, (_, detections) in enumerate(images) for one in detections]
    truth = GroundTruth.from_arrays(
        image_ids=np.array([number for number, _ in listed], np.int64),
        category_ids=np.ones(len(listed), np.int64),
        regions=Polygons(np.array([text.points for _, text in listed], np.float64).reshape(-1, 4, 2)),
        images=range(len(images)),
        categories={1: "text"},
        flags={"dont_care": np.array([text.dont_care for _, text in listed], np.bool_)},
    )
    detections = Detections.from_arrays(
        image_ids=np.array([number for number, _ in found], np.int64),
        category_ids=np.ones(len(found), np.int64),
        regions=Polygons(np.array([one for _, one in found], np.float64).reshape(-1, 4, 2)),
        scores=None,
    )
    return truth, detections


@pytest.mark.parametrize("seed", range(120))
def test_random_sets_have_the_numbers_of_plain_python(seed: int) -> None:
    rng = random.Random(seed)
    draw = on_grid if seed % 2 else turned
    images = []
    for _ in range(rng.randint(1, 4)):
        texts = [Text(draw(rng), dont_care=rng.random() < 0.4) for _ in range(rng.choice([0, 1, 3, 8]))]
        near = [moved(rng, text.points) for text in texts if rng.random() < 0.7]
        images.append((texts, near + [draw(rng) for _ in range(rng.choice([0, 1, 4, 9]))]))
    truth, found = sides(images)
    summary = ioukit.evaluate(truth, found, "icdar2015", iou_type="polygon").summary
    ours = [0.0 if number != number else number for number in summary.values()]  # noqa: PLR0124 - NaN
    wanted = plain_numbers([plain_counts(texts, detections) for texts, detections in images])
    assert ours[1:] == list(wanted[1:])
    assert abs(ours[0] - wanted[0]) < 1e-15


def numbers(texts: list[Text], *found: Points) -> list[float]:
    return list(ioukit.evaluate(*sides([(texts, list(found))]), ICDAR2015, iou_type="polygon").summary.values())


def test_half_an_overlap_is_not_enough() -> None:
    assert numbers([Text(SQUARE)], rectangle(0, 0, 10, 5)) == [0, 0, 0]
    assert numbers([Text(SQUARE)], rectangle(0, 0, 10, 6)) == [1, 1, 1]
    area = Text(rectangle(20, 0, 4, 4), dont_care=True)
    assert numbers([Text(SQUARE), area], SQUARE, rectangle(22, 0, 4, 4)) == pytest.approx([2 / 3, 0.5, 1])
    assert numbers([Text(SQUARE), area], SQUARE, rectangle(21, 0, 4, 4)) == [1, 1, 1]


def test_a_detection_in_what_does_not_count_leaves_before_it_could_find_a_text() -> None:
    over = [Text(SQUARE), Text(rectangle(0, 0, 10, 9), dont_care=True)]
    undefined = numbers(over, SQUARE)
    assert np.isnan(undefined[1])
    assert undefined[2] == 0
    assert numbers(over, SQUARE, rectangle(0, 4, 10, 15)) == [0, 0, 0]


def test_texts_take_the_first_detection_and_not_the_best() -> None:
    first, best = rectangle(0, 0, 10, 7), SQUARE
    low = Text(rectangle(0, 0, 10, 12))
    table = ioukit.evaluate(*sides([([Text(SQUARE), low], [first, best])]), ICDAR2015, iou_type="polygon").matches
    assert table.pairs.detection.tolist() == [0, 1]
    assert table.pairs.object.tolist() == [0, 1]


def test_it_adds_up_and_is_an_own_protocol(tmp_path: Path) -> None:
    images = [([Text(SQUARE), Text(rectangle(20, 0, 4, 4), dont_care=True)], [SQUARE, rectangle(20, 0, 4, 5), SQUARE])]
    truth, found = sides(images * 3)
    whole = ioukit.evaluate(truth, found, ICDAR2015, iou_type="polygon")
    parts = [match(truth, found, ICDAR2015, iou_type="polygon", images=[image]) for image in range(3)]
    assert summarise(accumulate(parts[0] + parts[1] + parts[2])) == whole.summary
    assert Protocol.from_dict(ICDAR2015.to_dict()) == ICDAR2015
    stricter = tmp_path / "stricter.toml"
    stricter.write_text('based_on = "icdar2015"\niou_thresholds = [0.7]\n')
    assert read_protocol(stricter).choice == "in_order"


GT = "10,10,60,10,60,30,10,30,Caf\u00e9, open\r\n70,10,120,10,120,30,70,30,x\r\n10,50,90,50,90,80,10,80,###\r\n"
DT = "12,10,60,12,60,30,12,30\r\n20,55,40,55,40,70,20,70\r\n200,10,220,10,220,30,200,30\r\n"


def folders(root: Path) -> tuple[Path, Path]:
    for name in ("gt", "res"):
        (root / name).mkdir()
    (root / "gt" / "gt_img_1.txt").write_text(GT, encoding="utf-8-sig")
    (root / "gt" / "gt_img_2.txt").write_text("")
    (root / "res" / "res_img_1.txt").write_text(DT)
    return root / "gt", root / "res"


def test_the_command_compares_the_polygons_of_both_folders(tmp_path: Path) -> None:
    done = run_here("eval", *folders(tmp_path), "--protocol", "icdar2015")
    assert done.code in (None, 0), done.err
    assert done.out.startswith("hmean = 0.5000\nprecision = 0.5000\nrecall = 0.5000\n")
    assert "iou type: polygon (the protocol ICDAR 2015 compares polygons)" in done.err
    answer: Any = json.loads(
        run_here("eval", tmp_path / "gt", tmp_path / "res", "--protocol", "icdar2015", "--json").out
    )
    assert answer["summary"] == {"hmean": 0.5, "precision": 0.5, "recall": 0.5}


def test_the_command_names_the_line_that_is_wrong(tmp_path: Path) -> None:
    truth, found = folders(tmp_path)
    (found / "res_img_2.txt").write_text("1,2,3,4,5,6,7\n")
    done = run_here("eval", truth, found, "--protocol", "icdar2015")
    assert "res_img_2.txt: line 1: expected x1,y1,x2,y2,x3,y3,x4,y4, found '1,2,3,4,5,6,7'" in done.err
    with pytest.raises(DatasetError, match=r"res_img_2\.txt: line 1"):
        read_detections(found, ground_truth=read(truth))
