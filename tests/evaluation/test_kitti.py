"""KITTI's protocol against its description in plain Python, in all that a match table promises, and its refusals."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation.plain_kitti import (
    LEAST,
    Image,
    Row,
    ground_overlap,
    image_overlap,
    plain_curve,
    random_images,
    write_images,
)
from ioukit import DatasetError, Detections, Evaluation, GroundTruth, Polygons, evaluate, pairwise_iou
from ioukit.datasets import read_kitti, read_kitti_detections
from ioukit.evaluation import (
    MatchTable,
    Outcome,
    compare_protocols,
    explain_difference,
    load_table,
    match,
    match_bins,
    save_table,
)
from ioukit.evaluation.protocols import (
    KITTI,
    KITTI_AOS,
    KITTI_R11,
    Measure,
    ObjectChoice,
    ObjectLimit,
    Protocol,
    find_protocol,
    read_protocol,
)
from support.command import run_here
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from pathlib import Path

ALL_STEPS = KITTI.replace(name="41 steps", recall_thresholds=[step / 40 for step in range(41)])
AOS_R11 = KITTI_AOS.replace(name="AOS R11", recall_thresholds=KITTI_R11.recall_thresholds)
OVERLAPS = {"bbox": image_overlap, "bev": ground_overlap}


CAR = Row("Car", (0, 0, 100, 100), 0, 0)
IN_SPACE = CAR._replace(size=(1.5, 1.6, 4.0), place=(0, 1.5, 10), turned=0.0)


def read(folder: Path, images: list[Image]) -> tuple[GroundTruth, Detections]:
    labels, results = write_images(folder, images)
    gt = read_kitti(labels)
    return gt, read_kitti_detections(results, ground_truth=gt)


@pytest.fixture
def data(tmp_path: Path) -> tuple[GroundTruth, Detections]:
    return read(tmp_path, [image for seed in range(8) for image in random_images(seed)])


@pytest.mark.parametrize("iou_type", OVERLAPS)
@pytest.mark.parametrize("seed", range(60))
def test_curves_are_those_of_the_description(iou_type: str, seed: int, tmp_path: Path) -> None:
    images = [*random_images(seed), Image([IN_SPACE], [IN_SPACE])]
    gt, dt = read(tmp_path, images)
    evaluation = evaluate(gt, dt, ALL_STEPS, iou_type=iou_type)
    of_40, of_11 = (evaluate(gt, dt, protocol, iou_type=iou_type).summary for protocol in (KITTI, KITTI_R11))
    for name, least in LEAST.items():
        for difficulty in ("easy", "moderate", "hard"):
            of_class = gt.categories.names.index(name)
            at = ALL_STEPS.position_of_iou(least), ALL_STEPS.position_of_area(difficulty)
            ours = evaluation.precision[at[0], :, of_class, at[1], 0]
            plain = plain_curve(images, name, difficulty, OVERLAPS[iou_type])
            np.testing.assert_array_equal(ours, plain, err_msg=f"{name} {difficulty}")
            for summary, points in ((of_40, plain[1:]), (of_11, plain[::4])):
                number = summary[f"{name}_{difficulty}"]
                np.testing.assert_allclose(number, sum(points) / len(points), rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(60))
def test_orientation_similarity_is_that_of_the_description(seed: int, tmp_path: Path) -> None:
    images = [*random_images(seed), Image([CAR], [CAR._replace(alpha=1.0)])]
    gt, dt = read(tmp_path, images)
    for recalls in (KITTI.recall_thresholds, KITTI_R11.recall_thresholds):
        rules = KITTI_AOS.replace(recall_thresholds=recalls)
        summary, without = evaluate(gt, dt, rules).summary, evaluate(gt, dt, KITTI.replace(recall_thresholds=recalls))
        for name in LEAST:
            for difficulty in ("easy", "moderate", "hard"):
                plain = plain_curve(images, name, difficulty, image_overlap, turned=True)
                points = plain[1:] if len(recalls) == 40 else plain[::4]
                number = summary[f"{name}_AOS_{difficulty}"]
                np.testing.assert_allclose(number, sum(points) / len(points), rtol=0, atol=1e-14)
        assert {key: value for key, value in summary.items() if "AOS" not in key} == pytest.approx(
            dict(without.summary), abs=0, nan_ok=True
        )


@pytest.mark.parametrize(
    ("turned", "expected"), [(0.0, 1.0), (np.pi / 2, 0.5), (np.pi, 0.0), (2 * np.pi, 1.0), (-np.pi / 3, 0.75)]
)
def test_a_true_positive_counts_by_its_angle(turned: float, expected: float, tmp_path: Path) -> None:
    evaluation = evaluate(*read(tmp_path, [Image([CAR] * 2, [CAR._replace(alpha=0.5 + turned)])]), KITTI_AOS)
    r11 = evaluate(*read(tmp_path, [Image([CAR] * 2, [CAR._replace(alpha=0.5 + turned)])]), AOS_R11)
    assert (evaluation.summary["Car_easy"], r11.summary["Car_easy"]) == (0.0, 1 / 11)  # one step, at recall 0
    assert r11.summary["Car_AOS_easy"] == pytest.approx(expected / 11, abs=1e-16)


def test_the_table_of_orientations(data: tuple[GroundTruth, Detections]) -> None:
    evaluation = evaluate(*data, KITTI_AOS)
    assert list(evaluation.summary)[:4] == ["AOS_moderate", "AOS_easy", "AOS_hard", "Car_AOS_easy"]
    assert evaluation.table().splitlines()[0] == (
        f" Orientation (AOS) | mean           | moderate = {evaluation.summary['AOS_moderate']:.4f}"
    )
    assert evaluation.per_class["Car"].summary["AOS_easy"] == evaluation.summary["Car_AOS_easy"] > 0
    for difficulty in ("easy", "moderate", "hard"):
        for name in LEAST:
            assert not evaluation.summary[f"{name}_AOS_{difficulty}"] > evaluation.summary[f"{name}_{difficulty}"]


def test_angles_stay_in_sums_and_files(data: tuple[GroundTruth, Detections], tmp_path: Path) -> None:
    gt, dt = data
    whole = evaluate(gt, dt, KITTI_AOS)
    parts = np.array_split(np.random.default_rng(1).permutation(gt.images.labels), 3)
    tables = [match(gt, dt, KITTI_AOS, images=part) for part in parts]
    save_table(tables[0], tmp_path / "part.npz")
    merged = MatchTable.merge([tables[2], load_table(tmp_path / "part.npz"), tables[1]])
    again = Evaluation.from_table(merged)
    np.testing.assert_array_equal(list(again.summary.values()), list(whole.summary.values()))
    assert match(gt, dt, KITTI).objects.angle is None
    table = dataclasses.replace(match(gt, dt, KITTI), protocol=KITTI_AOS)
    with pytest.raises(ValueError, match="was not matched by the protocol 'KITTI AOS'"):
        Evaluation.from_table(table)


def test_angles_in_degrees_are_refused(tmp_path: Path) -> None:
    degrees = CAR._replace(alpha=90)
    with pytest.raises(DatasetError, match=r"results: .* of the detections: expected angles in radians, found 90; are"):
        evaluate(*read(tmp_path / "a", [Image([CAR], [degrees])]), KITTI_AOS)
    with pytest.raises(DatasetError, match=r"label_2: .* of the objects: .* found 90; are they in degrees\?"):
        evaluate(*read(tmp_path / "b", [Image([degrees], [CAR])]), KITTI_AOS)
    assert evaluate(*read(tmp_path / "c", [Image([CAR], [CAR._replace(alpha=-6.3)])]), AOS_R11).summary["AOS_easy"] > 0


@pytest.mark.parametrize("protocol", ["kitti", "kitti-aos"])
@pytest.mark.parametrize(
    ("command", "files"),
    [("eval", 1), ("compare", 2), ("figures", 1), ("gate", 2), ("operate", 1), ("view", 1), ("labels", 1)],
)
def test_commands_refuse_a_part_of_the_classes(command: str, files: int, protocol: str, tmp_path: Path) -> None:
    labels, results = write_images(tmp_path, [Image([CAR, CAR._replace(type="Cyclist")], [CAR])])
    ends = {"figures": ["--output", str(tmp_path / "drawn")]}.get(command, [])
    said = run_here(command, labels, *[results] * files, "--protocol", protocol, "--classes", "Car", *ends)
    assert said.code == 2
    assert "needs all categories, because detections of one may match objects of another" in " ".join(said.err.split())
    assert "Traceback" not in said.err


def test_angles_that_are_missing_are_refused(tmp_path: Path) -> None:
    unknown = CAR._replace(alpha=-10)
    with pytest.raises(
        DatasetError,
        match=r"results: the protocol 'KITTI AOS' needs the attribute 'alpha' of the detections: expected an angle in "
        r"radians for each one of Car, Pedestrian, Cyclist, found none for 1 of 2 detections .*'kitti' needs no angles",
    ):
        evaluate(*read(tmp_path / "a", [Image([CAR], [CAR, unknown])]), KITTI_AOS)
    with pytest.raises(DatasetError, match=r"label_2: .* of the objects: .* found none for 1 of 1 object"):
        evaluate(*read(tmp_path / "b", [Image([unknown], [CAR])]), KITTI_AOS)
    gt, dt = read(tmp_path / "c", [Image([CAR], [CAR])])
    with pytest.raises(DatasetError, match="found none for 1 of 1 detection "):
        evaluate(gt, dataclasses.replace(dt, attributes={}), KITTI_AOS)
    others = [Row("Van", CAR.box, 0, 0, alpha=-10), Row("DontCare", (0, 0, 9, 9), alpha=-10)]
    images = [Image([CAR, *others], [CAR, CAR._replace(type="Van", alpha=-10)])]
    assert evaluate(*read(tmp_path / "d", images), AOS_R11).summary["Car_AOS_easy"] == 1 / 11
    assert np.isnan(evaluate(*read(tmp_path / "e", [Image([], [])]), KITTI_AOS).summary["AOS_moderate"])


def test_summary_has_the_lines_of_the_table(data: tuple[GroundTruth, Detections]) -> None:
    evaluation = evaluate(*data, KITTI)
    summary = evaluation.summary
    assert list(summary) == [
        *("AP_moderate", "AP_easy", "AP_hard"),
        *(f"{name}_{difficulty}" for name in LEAST for difficulty in ("easy", "moderate", "hard")),
    ]
    for difficulty in ("easy", "moderate", "hard"):
        numbers = [summary[f"{name}_{difficulty}"] for name in LEAST]
        assert summary[f"AP_{difficulty}"] == pytest.approx(np.nanmean(numbers), abs=1e-15)
    for name in LEAST:
        of_class = evaluation.per_class[name].summary
        for key in ("AP_easy", f"{name}_easy"):
            np.testing.assert_allclose(of_class[key], summary[f"{name}_easy"], rtol=0, atol=1e-15)
    assert np.isnan(evaluation.per_class["Van"].summary["AP_easy"])
    assert len(evaluation.table().splitlines()) == 12
    assert (
        evaluation.table().splitlines()[3]
        == f" Average Precision | Car            | easy     = {summary['Car_easy']:.4f}"
    )


def test_splits_threads_files_and_pickles_have_the_same_bits(
    data: tuple[GroundTruth, Detections], tmp_path: Path
) -> None:
    gt, dt = data
    whole = match(gt, dt, KITTI, iou_type="bev", threads=1)
    numbers = Evaluation.from_table(whole)
    for threads in (2, 8):
        again = evaluate(gt, dt, KITTI, iou_type="bev", threads=threads)
        assert_same_columns(again.curves, numbers.curves)
    parts = np.array_split(np.random.default_rng(1).permutation(gt.images.labels), 3)
    tables = [match(gt, dt, KITTI, iou_type="bev", images=part) for part in parts]
    save_table(tables[0], tmp_path / "part.npz")
    tables[0] = load_table(tmp_path / "part.npz")
    tables[1] = pickle.loads(pickle.dumps(tables[1]))
    merged = MatchTable.merge(tables[::-1])
    np.testing.assert_array_equal(merged.detections.outside, whole.detections.outside)
    assert_same_columns(Evaluation.from_table(merged).curves, numbers.curves)
    assert_same_columns(pickle.loads(pickle.dumps(numbers)).curves, numbers.curves)
    assert json.loads(numbers.to_json())["summary"] == {
        key: None if np.isnan(value) else value for key, value in numbers.summary.items()
    }


@pytest.mark.parametrize(
    ("objects", "found", "expected"),
    [
        pytest.param([CAR], [CAR], 1.0, id="found"),
        pytest.param([CAR._replace(box=(0, 0, 100, 40))], [CAR._replace(box=(0, 0, 100, 40))], 1.0, id="just high"),
        pytest.param([CAR], [CAR._replace(box=(0, 0, 100, 70))], 0.0, id="not more than 0.7"),
        pytest.param([CAR], [CAR._replace(type="Van")], 0.0, id="another class"),
        pytest.param([CAR], [CAR, CAR._replace(box=(200, 0, 300, 50), score=2)], 0.5, id="wrong"),
        pytest.param([CAR], [CAR, CAR._replace(box=(200, 0, 300, 39), score=2)], 1.0, id="too small to be wrong"),
        pytest.param(
            [CAR, Row("Van", (200, 0, 300, 50), 0, 0)],
            [CAR, CAR._replace(box=(200, 0, 300, 50), score=2)],
            1.0,
            id="a van",
        ),
        pytest.param(
            [CAR, CAR._replace(box=(200, 0, 300, 50), occluded=1)],
            [CAR, CAR._replace(box=(200, 0, 300, 50), score=2)],
            1.0,
            id="a hidden car",
        ),
        pytest.param(
            [CAR, Row("DontCare", (150, 0, 400, 200))],
            [CAR, CAR._replace(box=(200, 0, 300, 50), score=2)],
            1.0,
            id="an area that does not matter",
        ),
    ],
)
def test_what_counts(objects: list[Row], found: list[Row], expected: float, tmp_path: Path) -> None:
    """With one object to find there is one step, at recall 0."""
    evaluation = evaluate(*read(tmp_path, [Image(objects, found)]), ALL_STEPS)
    assert evaluation.precision[1, 0, 0, ALL_STEPS.position_of_area("easy"), 0] == expected


def test_outcomes_excuse_what_ap_excuses(tmp_path: Path) -> None:
    objects = [CAR, Row("Van", (200, 0, 300, 50), 0, 0), Row("DontCare", (400, 0, 600, 200))]
    boxes = [CAR.box, (200, 0, 300, 50), (420, 10, 500, 100), (700, 0, 800, 50), (700, 0, 800, 20)]
    found = [CAR._replace(box=box, score=1 - at / 10) for at, box in enumerate(boxes)]
    evaluation = evaluate(*read(tmp_path, [Image(objects, found)]), KITTI)
    outcomes = evaluation.outcomes(iou_threshold=0.7)
    assert [Outcome(each).name for each in outcomes.detections] == [
        "TRUE_POSITIVE",
        "IGNORED",
        "IGNORED",
        "FALSE_POSITIVE",
        "IGNORED",
    ]


def test_boxes_in_space_are_turned_as_in_the_camera(tmp_path: Path) -> None:
    """Corners by the formula of the development kit."""
    random = np.random.default_rng(5)

    def row(at: int) -> Row:
        size, place = random.uniform(1, 4, 3), random.uniform(-1, 1, 3)
        return Row(
            "Car", (0, 0, 9, 9), 0, 0, tuple(size.tolist()), tuple(place.tolist()), random.uniform(-3, 3), score=at
        )

    image = Image([row(at) for at in range(6)], [row(at) for at in range(7)])
    gt, dt = read(tmp_path, [image])
    assert gt.boxes.tolist() == [[0, 0, 9, 9]] * 6
    shapes = []
    for rows in (image.detections, image.objects):
        corners = []
        for each in rows:
            _, width, length = each.size
            along, across = np.array([1, 1, -1, -1]) * length / 2, np.array([1, -1, -1, 1]) * width / 2
            cos, sin = np.cos(each.turned), np.sin(each.turned)
            x, z = cos * along + sin * across + each.place[0], -sin * along + cos * across + each.place[2]
            corners.append(np.stack([x, z], axis=1))
        shapes.append(Polygons(corners))
    found, given = dt.regions["Boxes3D"], gt.regions["Boxes3D"]
    ground = pairwise_iou(*shapes)
    np.testing.assert_allclose(pairwise_iou(found.to_bird_eye(), given.to_bird_eye()), ground, atol=1e-12)
    volume = [np.prod(each.size) for each in image.detections], [np.prod(each.size) for each in image.objects]
    areas = [np.array([each.size[1] * each.size[2] for each in rows]) for rows in (image.detections, image.objects)]
    shared = ground * (areas[0][:, None] + areas[1]) / (1 + ground)
    bottom = [np.array([each.place[1] for each in rows]) for rows in (image.detections, image.objects)]
    top = [low - np.array([each.size[0] for each in rows]) for low, rows in zip(bottom, image[::-1], strict=True)]
    high = np.minimum(bottom[0][:, None], bottom[1]) - np.maximum(top[0][:, None], top[1])
    inside = shared * np.maximum(high, 0)
    expected = inside / (np.array(volume[0])[:, None] + np.array(volume[1]) - inside)
    np.testing.assert_allclose(pairwise_iou(found, given), expected, atol=1e-12)
    assert (expected > 0).any()


def test_the_protocol_survives_json_and_changes() -> None:
    assert Protocol.from_dict(json.loads(json.dumps(KITTI.to_dict()))) == KITTI
    assert pickle.loads(pickle.dumps(KITTI_R11)) == KITTI_R11
    assert find_protocol("KITTI-R11") is KITTI_R11
    assert Protocol.from_dict(json.loads(json.dumps(KITTI_AOS.to_dict()))) == KITTI_AOS
    assert KITTI_R11.recall_thresholds == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    loose = KITTI.replace(
        iou_thresholds=[0.25, 0.5], objects_choose=ObjectChoice((("Car", 0.5), ("Pedestrian", 0.25), ("Cyclist", 0.25)))
    )
    assert [measure.words[:23] for measure in loose.measures[3:7:3]] == [
        "AP of Car at IoU 0.5: o",
        "AP of Pedestrian at IoU",
    ]


CHOICE = KITTI.objects_choose
assert CHOICE is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iou_thresholds": [0.5]}, r"Car has the IoU threshold 0.7, which iou_thresholds must list; there are 0.5"),
        ({"area_ranges": {"all": (0, 1)}}, r"limit of 'occluded' .* each of the 1 area ranges, got \[1.0, 0.0, 2.0\]"),
        ({"class_agnostic": True}, "where objects choose, class_agnostic must be False, got True"),
        ({"threshold": "at_least"}, "where objects choose, threshold must be 'more_than', got 'at_least'"),
        ({"integral": "area"}, "where objects choose, integral must be 'recalls' or 'points', got 'area'"),
        ({"summary": (Measure("AOS", "AOS"),)}, "measures of AOS need objects_choose with an orientation, got AOS"),
        ({"cap_scope": "category"}, "cap_scope must be 'image_and_category' or 'image', got 'category'"),
    ],
)
def test_rules_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KITTI.replace(**changes)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"iou_thresholds": ()}, "must name at least one category"),
        (
            {"iou_thresholds": (("a", 0.5), ("a", 0.7))},
            r"iou_thresholds must name each category once, got \['a', 'a'\]",
        ),
        ({"neighbours": (("a", "c"), ("b", "c"))}, "neighbour of one other category"),
        ({"orientation": 1}, "orientation must be the name of an attribute, got 1"),
        ({"steps": 0}, "steps must be an integer from 1 to 10,000, got 0"),
        ({"limits": (ObjectLimit("occluded", (1,)), ("hidden",))}, "missing 1 required positional argument"),
    ],
)
def test_choices_that_mean_nothing_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        ObjectChoice(**{"iou_thresholds": (("a", 0.5),), **fields})


def test_data_that_lacks_something_is_refused(data: tuple[GroundTruth, Detections]) -> None:
    gt, dt = data
    with pytest.raises(ValueError, match=r"'KITTI' needs all categories.*got one without Van, Truck"):
        evaluate(gt, dt, KITTI, categories=["Car", "Pedestrian"])
    plain = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: "Car"})
    with pytest.raises(DatasetError, match=r"needs the attribute 'occluded' of the objects: expected \(1,\) numbers"):
        evaluate(plain, dt[:0], KITTI)
    evaluation = evaluate(gt, dt, KITTI)
    with pytest.raises(ValueError, match="its objects choose among the detections"):
        match_bins(evaluation.matches, np.ones(len(evaluation.matches.objects)), [0, 2])


def test_nothing_to_find_and_nothing_found(tmp_path: Path) -> None:
    empty = evaluate(*read(tmp_path / "a", [Image([], [])]), KITTI)
    assert all(np.isnan(value) for value in empty.summary.values())
    missed = evaluate(*read(tmp_path / "b", [Image([CAR], [])]), KITTI)
    assert (missed.summary["Car_easy"], missed.summary["AP_moderate"]) == (0.0, 0.0)
    assert np.isnan(missed.summary["Cyclist_easy"])


OWN = """
based_on = "kitti"
iou_thresholds = [0.3, 0.6]

[objects_choose]
iou_thresholds = {Bus = 0.6, Tram = 0.3}
neighbours = {Bus = "Truck"}
steps = 10

[[objects_choose.limits]]
attribute = "hidden"
at_most = [0.5, 0.2, 1]
"""


def test_a_file_can_name_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    choice = read_protocol(path).objects_choose
    assert choice == ObjectChoice(
        iou_thresholds=(("Bus", 0.6), ("Tram", 0.3)),
        neighbours=(("Bus", "Truck"),),
        limits=(ObjectLimit("hidden", (0.5, 0.2, 1)),),
        steps=10,
    )
    (tmp_path / "own.json").write_text(json.dumps(KITTI.to_dict()))
    assert read_protocol(tmp_path / "own.json") == KITTI


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("steps = 10", 'steps = "a"', r'own.toml: objects_choose.steps: expected a whole number, found "a"'),
        ("steps", "stepz", "objects_choose.stepz: the table has no such field; did you mean 'steps'?"),
        ("Bus = 0.6", "Bus = true", "objects_choose.iou_thresholds: expected a table with the IoU threshold of each"),
        ("Bus = 0.6", "Bus = 0.7", r"own.toml: Bus has the IoU threshold 0.7, which iou_thresholds must list"),
        ('attribute = "hidden"', "", r"objects_choose.limits\[0\].attribute: expected text, found none"),
        ("at_most = [0.5, 0.2, 1]", "at_most = 1", r"limits\[0\].at_most: expected a list of numbers, found 1"),
    ],
)
def test_a_file_with_wrong_rules_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_protocol(path)


def test_the_core_takes_no_table_of_another_protocol(data: tuple[GroundTruth, Detections]) -> None:
    table = match(*data, near=0.5)
    with pytest.raises(ValueError, match="was not matched by the protocol 'KITTI'"):
        Evaluation.from_table(dataclasses.replace(table, protocol=KITTI))


def test_a_cap_counts_the_best_detections(tmp_path: Path) -> None:
    wrong = [CAR._replace(box=(200, 0, 300, 50 + at), score=0.5) for at in range(3)]
    gt, dt = read(tmp_path, [Image([CAR], [*wrong, CAR._replace(score=0.4)])])
    evaluation = evaluate(gt, dt, KITTI_R11.replace(max_dets=[1, 2, 4]))
    assert evaluation.precision[1, 0, 0, 0].tolist() == [0, 0, 0.25]


@pytest.mark.parametrize(("start", "end"), [("coco", "kitti"), ("kitti", "kitti-r11"), ("kitti-r11", "voc2012")])
def test_a_walk_leads_to_other_protocols(start: str, end: str, data: tuple[GroundTruth, Detections]) -> None:
    walk = explain_difference(*data, start, end)
    for name, value in ((start, walk.start_value), (end, walk.end_value)):
        protocol = find_protocol(name)
        assert value == evaluate(*data, protocol).summary[protocol.main_measure.key] > 0
    titles = ", ".join(step.rule for step in walk.steps)
    assert ("objects choose" in titles) == (end != "kitti-r11")
    others = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    found = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[1])
    assert "needs the attribute 'occluded'" in compare_protocols(others, found).not_applied["kitti"]
