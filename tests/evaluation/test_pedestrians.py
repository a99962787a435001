"""CrowdHuman's and Caltech's rules against their arithmetic, written plainly."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation.plain_pedestrians import (
    Image,
    clipped,
    log_average,
    plain_ap,
    plain_jaccard,
    plain_outcomes,
)
from ioukit import DatasetError, Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import (
    MatchTable,
    jaccard_indices,
    load_table,
    match,
    miss_rate_curves,
    save_table,
)
from ioukit.evaluation.analysis._sets import matched_edges
from ioukit.evaluation.protocols import CALTECH, COCO, CROWDHUMAN, MissRateRule, find_protocol

if TYPE_CHECKING:
    from pathlib import Path

Columns = tuple[GroundTruth, Detections]


def crowd(seed: int) -> tuple[Columns, list[Image]]:
    """Persons that overlap, ignored regions, and detections near them; a third of the seeds has equal scores."""
    random = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {name: [] for name in ("image", "box", "ignore", "found_in", "found", "score")}
    images, sizes = [], []
    for image in range(int(random.integers(1, 6))):
        width, height = random.integers(60, 140, 2).tolist()
        count = int(random.integers(1, 9))
        boxes = np.hstack([random.uniform(-20, 110, (count, 2)), random.uniform(10, 60, (count, 2))])
        boxes = boxes[random.integers(0, max(count // 2, 1), count)] + random.uniform(-4, 4, (count, 4))
        ignore = random.random(count) < 0.25
        ignore[0] = False
        number = int(random.integers(0, 14))
        found = boxes[random.integers(0, count, number)] + random.normal(0, 3, (number, 4))
        if seed % 2:
            boxes, found = np.round(boxes), np.round(found)
        found[:, 2:] = np.maximum(found[:, 2:], 0)
        scores = np.round(random.random(number), 1) if seed % 3 == 0 else random.random(number)
        sizes.append((width, height))
        rows["image"] += [image] * count
        rows["box"] += boxes.tolist()
        rows["ignore"] += ignore.tolist()
        rows["found_in"] += [image] * number
        rows["found"] += found.tolist()
        rows["score"] += scores.tolist()
        corners = [[clipped(box, width, height) for box in each.tolist()] for each in (boxes, found)]
        images.append(Image(corners[0], ignore.tolist(), corners[1], scores.tolist()))
    count = len(rows["score"])
    gt = GroundTruth.from_arrays(
        image_ids=rows["image"],
        category_ids=[1] * len(rows["image"]),
        boxes=rows["box"],
        flags={"ignore": rows["ignore"]},
        images=range(len(sizes)),
        sizes=sizes,
    )
    dt = Detections.from_arrays(
        image_ids=np.array(rows["found_in"], np.int64),
        category_ids=[1] * count,
        boxes=np.array(rows["found"]).reshape(-1, 4),
        scores=np.array(rows["score"], np.float64),
    )
    return (gt, dt), images


def test_crowdhuman_has_the_numbers_of_the_plain_arithmetic() -> None:
    pairs = 0
    for seed in range(120):
        (gt, dt), images = crowd(seed)
        evaluation = evaluate(gt, dt, CROWDHUMAN)
        found = plain_outcomes(images, 1e-6, lambda overlap: overlap > 0.5)
        objects = sum(not ignored for image in images for ignored in image.ignored)
        rates = log_average(found, objects, len(images), CROWDHUMAN.miss_rate.fppi, caltech=False)
        curve = miss_rate_curves(evaluation.matches).per_class[0]
        assert curve.at(CROWDHUMAN.miss_rate.fppi).tolist() == rates, seed
        indices = [plain_jaccard(images, 0.1 * place) for place in range(10)]
        assert jaccard_indices(evaluation.matches).mean[0].tolist() == pytest.approx(indices, rel=1e-14, nan_ok=True), (
            seed
        )
        with np.errstate(divide="ignore"):
            assert evaluation.summary["MR-2"] == np.exp(np.log(rates).mean())
        assert evaluation.summary["AP"] == plain_ap(found, objects)
        assert evaluation.summary["JI"] == pytest.approx(max(indices), rel=1e-14, nan_ok=True)
        pairs += len(evaluation.matches.pairs)
    assert pairs > 1000


def street(seed: int) -> tuple[Columns, list[Image]]:
    """Persons of all heights in frames of 640 x 480, some hidden, some at the border, and groups that are ignored."""
    random = np.random.default_rng(seed)
    images = []
    sides: list[list[Any]] = [[], []]
    for image in range(int(random.integers(1, 30))):
        count, number = int(random.integers(0, 7)) + (image == 0), int(random.integers(0, 9))
        height = random.uniform(30, 200, count)
        boxes = np.column_stack(
            [
                random.uniform(-5, 600, count),
                random.uniform(-5, 350, count),
                height * random.uniform(0.3, 0.6, count),
                height,
            ]
        )
        ignore, visibility = random.random(count) < 0.15, np.round(random.uniform(0.3, 1, count), 2)
        if image == 0:
            boxes[0], ignore[0], visibility[0] = [50, 50, 41, 100], False, 0.65
        near = random.integers(0, max(count, 1), number)
        found = (boxes[near] if count else np.full((number, 4), 60.0)) + random.normal(0, 6, (number, 4))
        found[:, 2:] = np.maximum(found[:, 2:], 1)
        scores = np.round(random.random(number), 2)
        sides[0] += [(image, *row) for row in zip(boxes.tolist(), ignore.tolist(), visibility.tolist(), strict=True)]
        sides[1] += [(image, *row) for row in zip(found.tolist(), scores.tolist(), strict=True)]
        images.append(_street_image(boxes, ignore, visibility, found, scores))
    gt = GroundTruth.from_arrays(
        image_ids=[row[0] for row in sides[0]],
        category_ids=[1] * len(sides[0]),
        boxes=[row[1] for row in sides[0]],
        flags={"ignore": [row[2] for row in sides[0]]},
        attributes={"visibility": [row[3] for row in sides[0]]},
        images=range(len(images)),
    )
    dt = Detections.from_arrays(
        image_ids=np.array([row[0] for row in sides[1]], np.int64),
        category_ids=[1] * len(sides[1]),
        boxes=np.array([row[1] for row in sides[1]]).reshape(-1, 4),
        scores=np.array([row[2] for row in sides[1]], np.float64),
    )
    return (gt, dt), images


def _street_image(boxes: Any, ignore: Any, visibility: Any, found: Any, scores: Any) -> Image:
    def resized(box: list[float]) -> list[float]:
        x, y, w, h = box
        wider = h * 0.41 - w
        return [x - wider / 2, y, w + wider, h]

    def corners(box: list[float]) -> list[float]:
        x, y, w, h = box
        return [x, y, x + w, y + h]

    counts = [
        not skip and h >= 50 and seen >= 0.65 and x >= 5 and x + w <= 635 and y >= 5 and y + h <= 475
        for (x, y, w, h), skip, seen in zip(boxes.tolist(), ignore, visibility, strict=True)
    ]
    objects = [
        corners(resized(box) if is_counted else box) for box, is_counted in zip(boxes.tolist(), counts, strict=True)
    ]
    kept = [row for row, box in enumerate(found.tolist()) if box[3] >= 40]
    detections = [corners(resized(found[row].tolist())) for row in kept]
    return Image(objects, [not each for each in counts], detections, scores[kept].tolist())


def test_caltech_has_the_numbers_of_the_plain_arithmetic() -> None:
    hits = 0
    for seed in range(120):
        (gt, dt), images = street(seed)
        evaluation = evaluate(gt, dt, CALTECH)
        found = plain_outcomes(images, 0.0, lambda overlap: overlap >= 0.5)
        objects = sum(not ignored for image in images for ignored in image.ignored)
        rates = log_average(found, objects, len(images), CALTECH.miss_rate.fppi, caltech=True)
        curve = miss_rate_curves(evaluation.matches).per_class[0]
        assert curve.at(CALTECH.miss_rate.fppi).tolist() == pytest.approx(rates, abs=0), seed
        assert evaluation.summary["MR-2"] == np.exp(np.log(np.maximum(rates, 1e-10)).mean())
        assert len(evaluation.matches) == sum(len(image.scores) for image in images)
        assert (dt.boxes[evaluation.matches.detections.row, 3] >= 40).all()
        hits += sum(found)
    assert hits > 1000


@pytest.mark.parametrize("scene", [crowd, street])
def test_a_sum_of_splits_has_the_same_bits(scene: Any, tmp_path: Path) -> None:
    protocol = CROWDHUMAN if scene is crowd else CALTECH
    for seed in range(3, 23):
        (gt, dt), _ = scene(seed)
        whole = evaluate(gt, dt, protocol)
        parts = [match(gt, dt, protocol, images=[image]) for image in gt.images.ids[::-1].tolist()]
        save_table(parts[0], tmp_path / "part.npz")
        parts[0] = load_table(tmp_path / "part.npz")
        together = Evaluation.from_table(MatchTable.merge(parts))
        np.testing.assert_equal(dict(together.summary), dict(whole.summary))
        for name in ("scores", "miss_rate", "fppi"):
            curves = [miss_rate_curves(each.matches).overall for each in (whole, together)]
            assert np.array_equal(*(getattr(curve, name) for curve in curves))
        for threads in (1, 2):
            again = evaluate(gt, dt, protocol, threads=threads)
            np.testing.assert_equal(dict(again.summary), dict(whole.summary))


def test_a_matching_of_sets_is_the_best_one() -> None:
    scipy = pytest.importorskip("scipy.optimize", reason="an independent matching")
    for seed in range(300):
        random = np.random.default_rng(seed)
        table = random.uniform(0.5, 1, tuple(random.integers(1, 12, 2)))
        table[random.random(table.shape) < random.uniform(0, 0.9)] = 0
        first, second = np.nonzero(table)
        chosen = matched_edges(first + 7, second * 3, table[first, second])
        rows, columns = first[chosen], second[chosen]
        assert len(set(rows.tolist())) == len(set(columns.tolist())) == len(rows)
        best = scipy.linear_sum_assignment(table, maximize=True)
        assert table[rows, columns].sum() == pytest.approx(table[best].sum())


def _two(**columns: Any) -> GroundTruth:
    boxes = [[10, 10, 20, 60], [100, 10, 20, 60]]
    return GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes, **columns)


def _found(boxes: list[list[float]], scores: list[float], **columns: Any) -> Detections:
    count = len(boxes)
    return Detections.from_arrays(
        image_ids=[1] * count, category_ids=[1] * count, boxes=boxes, scores=scores, **columns
    )


def test_a_curve_that_does_not_reach_an_fppi_ends_there() -> None:
    gt = _two(images=[1], sizes=[[200, 100]])
    one = _found([[10, 10, 20, 60]], [0.9])
    assert evaluate(gt, one, CROWDHUMAN).summary["MR-2"] == 0.5  # the last point, at no false positive
    none = _found([[50, 10, 20, 60]], [0.9])
    curve = miss_rate_curves(evaluate(gt, none, CROWDHUMAN).matches).overall
    assert curve.fppi.tolist() == [1.0]
    assert curve.at([0.01, 1.0]).tolist() == [1.0, 1.0]
    both = _found([[10, 10, 20, 60], [100, 10, 20, 60]], [0.9, 0.8])
    assert evaluate(gt, both, CROWDHUMAN).summary["MR-2"] == 0
    floor = CROWDHUMAN.replace(miss_rate=CROWDHUMAN.miss_rate._replace(floor=1e-10))
    assert evaluate(gt, both, floor).summary["MR-2"] == pytest.approx(1e-10)


@pytest.mark.parametrize("protocol", [CROWDHUMAN, CALTECH])
def test_without_detections_all_is_missed(protocol: Any) -> None:
    gt = _two(attributes={"visibility": [1.0, 1.0]}, images=[1], sizes=[[200, 100]])
    nothing = Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    summary = evaluate(gt, nothing, protocol).summary
    assert summary["MR-2"] == 1
    assert (summary.get("AP", 0), summary.get("JI", 0)) == (0, 0)
    empty = _two(attributes={"visibility": [1.0, 1.0]}, images=[1], sizes=[[9, 9]]).take([])
    assert all(math.isnan(value) for value in evaluate(empty, nothing, protocol).summary.values())


def test_a_table_shows_the_numbers_of_the_protocol() -> None:
    (gt, dt), _ = crowd(4)
    evaluation = evaluate(gt, dt, CROWDHUMAN)
    names = [line.split(" = ")[0] for line in evaluation.table().splitlines()]
    assert names == ["AP", "MR-2", "JI"]
    assert list(json.loads(evaluation.to_json())["summary"]) == names
    assert evaluation.per_class[0].summary == pytest.approx(dict(evaluation.summary))
    assert (evaluation.curves.miss_rate is None, evaluation.curves.jaccard is None) == (False, False)
    assert evaluate(gt, dt).curves.miss_rate is None


def test_sizes_of_images_may_come_with_the_detections() -> None:
    box = [[180.0, 10.0, 40.0, 60.0]]
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[185, 10, 40, 60]])
    with pytest.raises(DatasetError, match=r"ground truth: image 1: expected a width and a height, found none: .*cuts"):
        evaluate(gt, _found(box, [0.9]), CROWDHUMAN)
    found = _found(box, [0.9], attributes={"image_size": [[200.0, 100.0]]})
    assert evaluate(gt, found, CROWDHUMAN).matches.pairs.iou[0] == pytest.approx(0.75)
    two = _found(box * 2, [0.9, 0.8], attributes={"image_size": [[200.0, 100.0], [201.0, 100.0]]})
    with pytest.raises(DatasetError, match=r"detections\[0\]\.image_size: expected \[201.*found \[200"):
        evaluate(gt, two, CROWDHUMAN)


def test_an_attribute_that_a_protocol_chooses_by_must_be_there() -> None:
    found = _found([[10, 10, 20, 60]], [0.9])
    with pytest.raises(
        DatasetError, match=r"ground truth: the attribute 'visibility' of annotations: .*no such attribute"
    ):
        evaluate(_two(), found, CALTECH)
    with pytest.raises(DatasetError, match=r"expected a number for each, found shape \(2,\) of <U3"):
        evaluate(_two(attributes={"visibility": ["all", "all"]}), found, CALTECH)


def test_an_object_outside_a_range_is_ignored() -> None:
    found = _found([[10, 10, 20, 60], [100, 10, 20, 60], [100, 10, 20, 39]], [0.9, 0.8, 0.7])
    table = match(_two(attributes={"visibility": [0.64, math.nan]}), found, CALTECH)
    assert table.is_ignored().tolist() == [True, False]
    assert table.objects.special.tolist() == [1 | 2 | 4, 0]
    assert table.detections.row.tolist() == [0, 1]
    assert table.sources == (2, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"box_aspect_ratio": -1}, "box_aspect_ratio must be a finite number of at least 0, got -1"),
        ({"overlap_epsilon": math.inf}, "overlap_epsilon must be a finite number of at least 0, got inf"),
        ({"counted_values": [("height", 5, 2)]}, "counted_values must hold the name of a value, a lower and a higher"),
        ({"miss_rate": COCO.miss_rate._replace(fppi=(0.1, 0.1))}, "fppi must rise from above 0"),
        ({"miss_rate": COCO.miss_rate._replace(fppi=())}, "fppi must rise from above 0"),
        ({"miss_rate": COCO.miss_rate._replace(floor=2)}, r"floor must be within \[0, 1\], got 2"),
        ({"miss_rate": MissRateRule(reading="near")}, "unknown miss_rate.reading 'near'"),  # type: ignore[arg-type]
    ],
)
def test_wrong_fields_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        COCO.replace(**changes)


def test_the_jaccard_index_needs_a_table_that_was_matched_for_it() -> None:
    (gt, dt), _ = crowd(1)
    with pytest.raises(ValueError, match="the protocol COCO has no measure with quantity='JI'"):
        jaccard_indices(match(gt, dt, near=0.1))


@pytest.mark.parametrize("name", ["crowdhuman", "caltech"])
def test_each_is_found_by_its_name_and_survives_a_file(name: str) -> None:
    protocol = find_protocol(name)
    assert protocol.reference
    assert type(protocol).from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
