"""The same bits for every split of the images, every order of the parts and every number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.evaluation import accumulate, match, summarise
from parity.random_data import random_case
from parity.same_bits import assert_same_bits
from support.paths import DATA, load
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit.evaluation import Curves

VAL2014 = DATA / "coco_val2014_100"
FILES = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
Data = tuple[ioukit.GroundTruth, ioukit.Detections]


@pytest.fixture(scope="module")
def data() -> Data:
    return ioukit.read_coco(*FILES)


def assert_same_curves(ours: Curves, expected: Curves) -> None:
    for field in ("precision", "recall", "scores"):
        assert_same_bits(getattr(ours, field), getattr(expected, field), field)
    assert_same_bits(list(summarise(ours).values()), np.array(list(summarise(expected).values())), "summary")


def assert_same_rows(ours: ioukit.MatchTable, expected: ioukit.MatchTable) -> None:
    """All columns but the rows in the source, which count through the parts of a sum."""
    assert_same_columns(ours, expected, but=("row", "sources"))


def parts_of(ids: Iterable[int], count: int, rng: Random) -> list[list[int]]:
    """A random split into `count` parts, some of them perhaps empty, in random order."""
    parts: list[list[int]] = [[] for _ in range(count)]
    for number in ids:
        rng.choice(parts).append(number)
    return parts


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_any_split_of_the_images_gives_the_same_bits(data: Data, count: int) -> None:
    gt, dt = data
    whole = match(gt, dt)
    for seed in range(3):
        tables = [match(gt, dt, images=part) for part in parts_of(gt.images.ids.tolist(), count, Random(seed))]
        merged = ioukit.MatchTable.merge(tables)
        assert_same_rows(merged, whole)
        assert_same_curves(accumulate(merged), accumulate(whole))


def test_parts_matched_apart_add_up(data: Data) -> None:
    """As workers do it: each has the annotations and detections of its own images only."""
    gt, dt = load(FILES[0]), load(FILES[1])
    whole = match(*data)
    tables = []
    for part in parts_of([image["id"] for image in gt["images"]], 7, Random(5)):
        mine = {
            key: [row for row in gt[key] if row[field] in part]
            for key, field in (("images", "id"), ("annotations", "image_id"))
        }
        tables.append(
            match(
                ioukit.GroundTruth.from_coco({**gt, **mine}),
                ioukit.Detections.from_coco([d for d in dt if d["image_id"] in part]),
            )
        )
    left, right = tables[0], tables[-1]
    for table in tables[1:]:
        left = left + table
    for table in reversed(tables[:-1]):
        right = table + right  # another order, other brackets
    assert_same_rows(left, whole)
    assert_same_rows(right, whole)
    assert_same_curves(accumulate(left), accumulate(whole))


@pytest.mark.parametrize("seed", range(0, 400, 4))
def test_splits_of_random_data(seed: int) -> None:
    case = random_case(seed)
    gt, dt = ioukit.GroundTruth.from_coco(case.gt), ioukit.Detections.from_coco(case.dt)
    protocol = ioukit.COCO.replace(**case.protocol)
    whole = match(gt, dt, protocol)
    parts = parts_of(gt.images.ids.tolist(), 3, Random(seed))
    merged = ioukit.MatchTable.merge([match(gt, dt, protocol, images=part) for part in parts])
    assert_same_rows(merged, whole)
    assert_same_curves(accumulate(merged), accumulate(whole))


def test_tables_that_do_not_add_up_are_refused(data: Data) -> None:
    gt, dt = data
    first, second = (int(i) for i in gt.images.ids[:2])
    table = match(gt, dt, images=[first])
    with pytest.raises(ValueError, match=rf"image {first} is in two tables"):
        table + match(gt, dt, images=[second, first])
    with pytest.raises(ValueError, match="different protocols"):
        table + match(gt, dt, ioukit.COCO.replace(max_dets=[1, 10, 300]), images=[second])
    with pytest.raises(ValueError, match="different categories"):
        table + match(gt, dt, images=[second], categories=["person"])
    with pytest.raises(ValueError, match="at least one table"):
        ioukit.MatchTable.merge([])
    with pytest.raises(TypeError):
        table + 1  # type: ignore[operator]


@pytest.mark.parametrize("changes", [{}, {"class_agnostic": True}, {"max_dets": [1, 10, 300]}], ids=str)
def test_any_number_of_threads_gives_the_same_bits(changes: dict[str, Any]) -> None:
    protocol = ioukit.COCO.replace(**changes)
    results = [
        ioukit.evaluate(*ioukit.read_coco(*FILES, threads=threads), protocol, threads=threads)
        for threads in (1, 2, 8, None)
    ]
    for result in results[1:]:
        assert_same_rows(result.matches, results[0].matches)
        np.testing.assert_array_equal(result.matches.detections.row, results[0].matches.detections.row)
        assert_same_curves(result.curves, results[0].curves)
        assert result.to_json() == results[0].to_json()


def test_matches_are_those_of_pycocotools(data: Data) -> None:
    gt, dt = data
    table = ioukit.evaluate(gt, dt).matches
    expected = load(VAL2014 / "expected_matches.json")["rows"]
    rows = table.detections
    position = {int(row): at for at, row in enumerate(rows.row)}
    seen = 0
    for iou in (0.5, 0.75):
        found, ignored = table.matched_object(iou), table.is_ignored(iou)
        for row in expected:
            at = [position[number - 1] for number in row["dt_ids"]]  # best first
            assert rows.rank[at].tolist() == list(range(len(at)))
            assert rows.score[at].tolist() == row["dt_scores"]
            assert table.image_ids[rows.image[at]].tolist() == [row["image_id"]] * len(at)
            assert table.categories.ids[rows.category[at]].tolist() == [row["category_id"]] * len(at)
            ids = [int(table.objects.id[i]) if i >= 0 else 0 for i in found[at]]
            assert ids == row[f"dt_matched_gt@{iou}"]
            assert ignored[at].tolist() == [bool(i) for i in row[f"dt_ignored@{iou}"]]
            seen += len(at)
    assert seen == 2 * len(dt) == 2 * len(table)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forked processes exist on Unix alone")
def test_a_forked_process_gives_the_same_bits_and_does_not_wait() -> None:
    """A worker of PyTorch's DataLoader inherits a pool of threads whose threads it does not have."""
    program = (
        "import multiprocessing, sys, ioukit\n"
        "def run(_): return ioukit.evaluate(*ioukit.read_coco(*sys.argv[1:])).to_json()\n"
        "here = run(0)\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(run, range(3)) == [here] * 3)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, FILES)]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout == "True\n"
