"""The parts of a difference add up to it, and are those of the definition."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison.two_models import two_models
from ioukit import Evaluation, evaluate
from ioukit.comparison import changes, compare_models, parts
from ioukit.datasets import read, read_detections
from ioukit.evaluation.protocols import find_protocol
from support.paths import DATA
from support.planted_scenes import drawn
from support.region_cases import boxes_in_space, keypoints, masks, polygons, rotated_boxes

if TYPE_CHECKING:
    from collections.abc import Callable

    from comparison.two_models import TwoModels
    from ioukit import Detections, GroundTruth
    from ioukit.comparison import Parts

EXACT = 1e-12
PROTOCOLS = ("coco", "voc2007", "voc2012", "tide", "ultralytics", "dota")


def lists(split: Parts) -> dict[str, float]:
    """The sum of each list."""
    kinds = {} if split.kinds is None else {"kinds": sum(split.kinds.values())}
    return kinds | {
        "classes": float(split.classes.sum()),
        "images": float(split.images.sum()),
        "sizes": sum(split.sizes.values()),
        "objects": float(split.objects.sum() + split.false_positives.sum()),
    }


@pytest.mark.parametrize("name", PROTOCOLS)
@settings(max_examples=25)
@given(two_models())
def test_parts_add_up_to_the_difference(name: str, models: TwoModels) -> None:
    protocol = find_protocol(name, "bbox")
    a, b = (evaluate(models.truth, each, protocol) for each in (models.a, models.b))
    for measure in protocol.measures:
        if measure.quantity not in ("AP", "AR"):
            continue
        if np.isnan([a.summary[measure.key], b.summary[measure.key]]).any():
            with pytest.raises(ValueError, match="is undefined"):
                parts(a, b, measure.key)
            continue
        split = parts(a, b, measure.key)
        assert split.difference == split.b - split.a
        assert lists(split) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)
        as_given = parts(a, b, measure.key, one_scale=False)
        assert lists(as_given) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)
        back = parts(b, a, measure.key, one_scale=False)
        np.testing.assert_allclose(back.images, -as_given.images, atol=EXACT)
        np.testing.assert_allclose(back.objects, -as_given.objects, atol=EXACT)


def test_groups_of_categories_and_classes_that_were_not_looked_for() -> None:
    """LVIS: APr, APc and APf are means over groups of categories, and some detections have no part."""
    truth = read(DATA / "lvis_10" / "gt.json", "lvis")
    found = read_detections(DATA / "lvis_10" / "dt.json", ground_truth=truth)
    a, b = (evaluate(truth, each, find_protocol("lvis")) for each in (found, found[found.scores > 0.3]))
    keys = [key for key, value in a.summary.items() if not np.isnan(value)]
    assert {"AP", "APr", "APc", "APf"} & set(keys)
    for key in keys:
        split = parts(a, b, key)
        assert lists(split) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)


def test_other_integrals_of_the_curve() -> None:
    """Lines between the points of the curve: the area under steps says how the difference is spread."""
    truth, found = drawn("crowd")
    for name in ("crowdhuman", "wider-face", "open-images"):
        protocol = find_protocol(name, "bbox").replace(ranges_by="area", verified="all", ignored=())
        a, b = (evaluate(truth, each, protocol) for each in (found, found[found.scores > 0.3]))
        split = parts(a, b)
        assert lists(split) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)


@pytest.mark.parametrize(
    ("iou_type", "data"),
    [
        *(("segm", masks), ("boundary", masks), ("keypoints", keypoints), ("rotated", rotated_boxes)),
        *(("polygon", polygons), ("box3d", boxes_in_space), ("bev", boxes_in_space)),
    ],
)
def test_every_kind_of_region(iou_type: str, data: Callable[[], tuple[GroundTruth, Detections]]) -> None:
    truth, found = data()
    rows = np.arange(len(found))
    a, b = (evaluate(truth, found[rows % step != 0], iou_type=iou_type) for step in (5, 3))
    split = parts(a, b)
    assert split.difference != 0
    assert lists(split) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)
    changed = changes(a, b, score_threshold=0.0)
    assert changed.counts["found"] + changed.counts["lost"] > 0


def test_numbers_that_cannot_be_split() -> None:
    truth, found = drawn("crowd")
    caltech = find_protocol("caltech").replace(ignored=(), counted_values=(), detection_values=())
    pedestrians = evaluate(truth, found, caltech)
    with pytest.raises(ValueError, match="only a difference of AP or AR can be split into parts, and MR-2 is neither"):
        parts(pedestrians, pedestrians)
    one = evaluate(truth, found)
    with pytest.raises(ValueError, match="unknown key 'AP60'; choose from AP, AP50"):
        parts(one, one, "AP60")
    with pytest.raises(ValueError, match="not evaluated by the same rules"):
        parts(one, pedestrians)
    compared = compare_models({"A": pedestrians, "B": pedestrians}, replicates=20, permutations=20)
    assert compared.pairs[0].parts is None
    assert "Where the difference comes from is not known: only a difference of AP or AR" in compared.text()
    assert compared.to_dict()["pairs"][0]["parts"] is None
    assert "have the same MR-2" in compared.to_markdown()


def test_all_models_are_checked_before_the_first_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = drawn("crowd")
    a, b = (evaluate(truth, each) for each in (found, found[found.scores > 0.3]))
    monkeypatch.setattr("ioukit.comparison.model_comparison.compare", lambda *_, **__: pytest.fail("it took long"))
    with pytest.raises(ValueError, match="A and C were not evaluated on the same ground truth"):
        compare_models(a, b, evaluate(*drawn("one class")))


@given(two_models())
def test_an_image_without_a_change_has_no_part(models: TwoModels) -> None:
    first = models.truth.images.ids[0]
    kept = [each.image_ids != first for each in (models.a, models.b)]
    shared = models.a[~kept[0]]
    same = [type(shared).concat([shared, each[keep]]) for each, keep in zip((models.a, models.b), kept, strict=True)]
    a, b = (evaluate(models.truth, each) for each in same)
    if np.isnan(a.summary["AP"]):
        return
    assert parts(a, b, one_scale=False).images[0] == pytest.approx(0.0, abs=1e-16)


@given(two_models())
def test_tables_are_enough(models: TwoModels) -> None:
    a, b = (evaluate(models.truth, each) for each in (models.a, models.b))
    if np.isnan(a.summary["AP"]):
        return
    table_a, table_b = (Evaluation.from_table(one.near_matches(0.1)) for one in (a, b))
    whole, alone = parts(a, b), parts(table_a, table_b)
    np.testing.assert_array_equal(whole.images, alone.images)
    assert whole.kinds == alone.kinds
    without = parts(Evaluation.from_table(a.matches), Evaluation.from_table(b.matches))
    assert without.kinds is None
    assert lists(without) == pytest.approx(dict.fromkeys(lists(without), whole.difference), abs=EXACT)


@given(two_models(), st.sampled_from([0.5, 0.125]))
def test_another_scale_of_the_scores_changes_no_part(models: TwoModels, factor: float) -> None:
    """Halving all scores changes no order, so nothing has a part; as they are, gains and losses cancel."""
    halved = dataclasses.replace(models.a, scores=models.a.scores * factor)
    a, b = (evaluate(models.truth, each) for each in (models.a, halved))
    if np.isnan(a.summary["AP"]) or not a.matches.is_true_positive().any():
        return
    split = parts(a, b)
    assert (split.difference, split.spread) == (0, 0)
    assert not split.images.any()
    assert not split.objects.any()
