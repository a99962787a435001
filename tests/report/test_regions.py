"""Regions that are not boxes in the data of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import REGION_KINDS, Outline, Outlines, region_kind, register_kind
from ioukit.report import _images
from ioukit.report.report_page import report_data
from support import discs, region_cases
from support.discs import Discs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")

KIND_NAMES = ["object", "TP", "FP", "FN", "ignored", "ignored"]


def rows_of(image: dict[str, Any]) -> Any:
    return np.array(image["boxes"]).reshape(-1, 7)


def distance(points: Any, ring: Any) -> Any:
    """(P,) distances of points from a closed path."""
    start, along = ring, np.roll(ring, -1, axis=0) - ring
    offset = points[:, None] - start
    share = np.clip((offset * along).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-12), 0, 1)
    return np.hypot(*np.moveaxis(offset - share[..., None] * along, 2, 0)).min(axis=1)


@pytest.mark.parametrize("kind", region_cases.KINDS)
def test_outlines_are_those_of_the_data(kind: str) -> None:
    evaluation = region_cases.evaluated(kind)
    data = report_data(evaluation, score_threshold=0)
    assert json.loads(json.dumps(data.drawn, allow_nan=False)) == data.drawn
    truth = evaluation.ground_truth
    assert truth is not None
    expected = REGION_KINDS[kind].outlines_of(truth, truth)
    style = data.drawn["drawing"]
    assert style["filled"] == (kind in ("segm", "boundary"))
    assert style["ground"] == (kind in ("box3d", "bev"))
    for image in (data.drawn["images"][place] for place in data.drawn["worst"]):
        rows = rows_of(image)
        assert len(rows) == len(image["shapes"]) >= 5
        of_image = [expected[row] for row in np.flatnonzero(truth.image_ids == int(image["name"].split()[1])).tolist()]
        objects = [shape for row, shape in zip(rows, image["shapes"], strict=True) if row[0] in (0, 3)]
        assert len(objects) == len(of_image)
        unit = 1.0 if not style["ground"] else check_ground(image)
        shown = sorted(size_of(shape, unit) for shape in objects)
        assert_allclose(shown, sorted(size_of_outline(outline) for outline in of_image), rtol=0.05)


def size_of(shape: dict[str, Any], unit: float) -> float:
    parts = [np.array(ring).reshape(-1, 2) for ring in shape.get("rings", [])]
    parts += [np.array(shape["lines"]).reshape(-1, 2)] if "lines" in shape else []
    parts += [np.array(shape["points"]).reshape(-1, 3)[:, :2]] if "points" in shape else []
    return float(np.ptp(np.concatenate(parts), axis=0).sum()) / 10 * unit


def size_of_outline(outline: Outline) -> float:
    x1, y1, x2, y2 = outline.bounds.tolist()
    return float(x2 - x1 + y2 - y1)


def check_ground(image: dict[str, Any]) -> float:
    """Checks the grid of a view from above; metres per unit of the page."""
    assert max(image["w"], image["h"]) == 1000
    units = []
    for axis, sign in (("x", 1), ("y", -1)):
        places, numbers = zip(*((place, float(text)) for place, text in image["grid"][axis]), strict=True)
        assert all(0 <= place <= 1000 for place in places)
        units += (sign * np.diff(numbers) / np.diff(places)).tolist()
    assert_allclose(units, units[0], rtol=0.02)
    rows = rows_of(image)
    assert (rows[:, 3:5] >= 0).all()
    assert (rows[:, 3] + rows[:, 5] <= 10 * image["w"]).all()
    assert (rows[:, 4] + rows[:, 6] <= 10 * image["h"]).all()
    return float(units[0])


def test_masks_have_few_points_and_stay_within_a_pixel() -> None:
    evaluation = region_cases.evaluated("segm")
    drawn = report_data(evaluation, score_threshold=0).drawn
    truth = evaluation.ground_truth
    assert truth is not None
    expected = {outline.bounds.tobytes(): outline for outline in REGION_KINDS["segm"].outlines_of(truth, truth)}
    checked = 0
    for image in drawn["images"]:
        for row, shape in zip(rows_of(image), image["shapes"], strict=True):
            if row[0] not in (0, 3):
                continue
            x, y, width, height = row[3:] / 10
            outline = expected[np.array([x, y, x + width, y + height]).tobytes()]
            for ring, whole in zip(shape["rings"], outline.rings, strict=True):
                simple = np.array(ring).reshape(-1, 2) / 10
                assert len(simple) <= len(whole)
                assert distance(whole, simple).max() <= 1 + 1e-9
            assert sum(map(len, shape["rings"])) < sum(2 * len(ring) for ring in outline.rings) / 2
            checked += 1
    assert checked == 15


def test_keypoints_keep_which_points_are_hidden() -> None:
    evaluation = region_cases.evaluated("keypoints")
    data = report_data(evaluation, score_threshold=0)
    assert data.drawn["drawing"]["words"] == "Hollow points are hidden keypoints."
    truth = evaluation.ground_truth
    assert truth is not None
    hidden = int((truth.regions["keypoints"][..., 2] == 1).sum())
    shapes = [
        (row[0], shape)
        for image in data.drawn["images"]
        for row, shape in zip(rows_of(image), image["shapes"], strict=True)
    ]
    assert sum(sum(shape["points"][2::3]) for kind, shape in shapes if kind in (0, 3)) == hidden
    assert not any(sum(shape["points"][2::3]) for kind, shape in shapes if kind in (1, 2))


def test_boxes_need_no_outlines() -> None:
    truth, found = region_cases.rotated_boxes()
    drawn = report_data(evaluate(truth, found), score_threshold=0).drawn
    assert drawn["drawing"] == {"filled": False, "ground": False, "words": ""}
    assert not any("shapes" in image for image in drawn["images"])


def test_views_from_above_show_no_photographs(tmp_path: Path) -> None:
    data = report_data(region_cases.evaluated("bev"), images=tmp_path)
    assert not any("thumb" in image for image in data.drawn["images"])
    assert not any("photograph" in note for note in data.notes)


def test_images_beyond_the_limit_are_listed_without_a_drawing() -> None:
    evaluation = region_cases.evaluated("segm")
    with mock.patch.object(_images, "_MOST_NUMBERS", 400):
        data = report_data(evaluation, worst=1, score_threshold=0)
    assert ["shapes" in image for image in data.drawn["images"]].count(True) == 1
    assert "shapes" in data.drawn["images"][data.drawn["worst"][0]]


@pytest.fixture
def disc_kinds() -> Iterator[None]:
    from ioukit.overlap import register_engine  # noqa: PLC0415 - as a user would

    register_engine(Discs, discs.ENGINE)
    with mock.patch.dict(REGION_KINDS):
        register_kind(region_kind("disc", "discs", "Discs"))
        register_kind(region_kind("large discs", "discs", "Discs", outlines=only_large))
        yield


def only_large(rows: GroundTruth | Detections, _: GroundTruth) -> Outlines:
    """Triangles for discs with a radius above 5; nothing for others."""
    numbers = rows.regions["Discs"].rows
    triangle = np.array([[0.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    return Outlines(tuple(Outline((row[:2] + row[2] * triangle,) if row[2] > 5 else ()) for row in numbers))


@pytest.mark.usefixtures("disc_kinds")
def test_a_kind_from_outside_draws_its_outlines_and_leaves_out_what_has_none() -> None:
    rows = [[20, 20, 9], [60, 20, 3], [20, 60, 9]]
    truth = GroundTruth.from_arrays(image_ids=[1, 1, 1], category_ids=[1, 1, 1], regions=Discs(rows))
    found = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 1], scores=[1, 1], regions=Discs(rows[:2]))
    data = report_data(evaluate(truth, found, iou_type="large discs"))
    (image,) = data.drawn["images"]
    assert [KIND_NAMES[row[0]] for row in rows_of(image)] == ["object", "FN", "TP"]
    assert image["shapes"][0] == {"rings": [[200, 110, 290, 290, 110, 290]]}
    assert "2 regions cannot be drawn and are left out." in data.notes
    whole = report_data(evaluate(truth, found, iou_type="disc"))
    assert next(shape["rings"][0][:4] for shape in whole.drawn["images"][0]["shapes"]) == [110, 110, 290, 110]
    assert not any("cannot be drawn" in note for note in whole.notes)
