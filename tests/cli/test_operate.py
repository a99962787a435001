"""`ioukit operate`: tables, files, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ioukit import Detections, GroundTruth, evaluate, read_coco
from ioukit.operating import LeastCost, calibrate, choose_thresholds
from ioukit.postprocess import OperatingPoints
from support.command import run_here
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

GT = EXAMPLES / "coco_val2017_100" / "ground_truth.json"
DT = EXAMPLES / "coco_val2017_100" / "yolact.json"
FAST: list[str | Path] = ["--replicates", "20", "--splits", "2", "--classes", "person,car,dog,cow", "--quiet"]


def evaluation() -> object:
    return evaluate(*read_coco(GT, DT), categories=["person", "car", "dog", "cow"])


def test_the_table_and_the_file(tmp_path: Path) -> None:
    out = tmp_path / "points.json"
    command = run_here("operate", GT, DT, *FAST, "--rule", "precision=0.9", "--per-class", "-o", out)
    assert command.code == 0, command.err
    choice = choose_thresholds(evaluation(), "precision=0.9", per_class=True, replicates=20, splits=2)  # type: ignore[arg-type]
    points = OperatingPoints.load(out)
    assert points.thresholds.tolist()[:2] == [one.threshold for one in choice.classes][:2]
    assert points.names == ("person", "car", "dog", "cow")
    assert points.chosen_on["ground_truth"] == str(GT)
    lines = command.out.splitlines()
    assert lines[0] == "precision=0.9, one threshold per class, IoU 0.5, 100 images, 246 objects"
    numbers = ["precision", "recall", "F1"]
    shown = ["class", "objects", "threshold", "precision", "recall", *(f"{name}*" for name in numbers)]
    assert lines[1].startswith("precision* ")
    assert "no objects, so the threshold of all classes is taken: cow" in lines[: lines.index("")]
    table = lines[lines.index("") + 1 :]
    assert (table[0].split(), "left out to fit 80 columns: F1" in lines) == (shown, True)
    assert [line.split()[0] for line in table[1:5]] == ["all", "person", "car", "dog"]
    kept = tmp_path / "kept.json"
    ids = points.category_ids.tolist()
    records = [record for record in json.loads(DT.read_text()) if record["category_id"] in ids]
    (tmp_path / "few.json").write_text(json.dumps(records))
    assert (
        run_here("nms", tmp_path / "few.json", "-o", kept, "--iou-threshold", "1", "--operating-points", out).code == 0
    )
    again = evaluate(GroundTruth.from_coco(GT), Detections.from_coco(kept)).score_curves().overall.at(0)
    assert again.true_positives == choice.overall.chosen.true_positives
    assert again.false_positives == choice.overall.chosen.false_positives


def test_json_and_calibration(tmp_path: Path) -> None:
    out = tmp_path / "points.json"
    words = [
        "operate",
        GT,
        DT,
        *FAST,
        "--rule",
        "f-beta=2",
        "--calibrate",
        "isotonic",
        "--iou-threshold",
        "0.75",
        "--seed",
        "3",
    ]
    command = run_here(*words, "-o", out, "--json")
    assert command.code == 0, command.err
    result = json.loads(command.out)
    options = {"replicates": 20, "iou_threshold": 0.75, "seed": 3}
    fit = calibrate(evaluation(), "isotonic", **options)  # type: ignore[arg-type]
    choice = choose_thresholds(evaluation(), "f-beta=2", splits=2, **options)  # type: ignore[arg-type]
    assert result["calibration"] == fit.to_dict()
    assert result["choice"]["overall"] == choice.overall.to_dict()
    assert result["output"] == str(out)
    points = OperatingPoints.load(out)
    assert points.to_json().partition('"calibration"')[2] == choice.operating_points(fit).to_json().partition(
        '"calibration"'
    )[2]  # fmt: skip
    both = run_here(*words, "--calibrate-per-class", "--json", tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["calibration"]["maps"] == 4
    assert "calibration by isotonic, one map per class (4), 25 ranges of scores" in both.out
    assert "few detections, so the map of all classes is taken: " in both.out
    assert "D-ECE" in both.out


def test_costs_of_classes() -> None:
    words = ["operate", GT, DT, *FAST, "--rule", "cost=1:2", "--class-cost", "person=1:20", "--json"]
    result = json.loads(run_here(*words).out)["choice"]
    rule = LeastCost(1, 2, {"person": (1, 20)})
    expected = choose_thresholds(evaluation(), rule, replicates=20, splits=2)  # type: ignore[arg-type]
    assert result["overall"] == expected.overall.to_dict()
    assert result["rule"] == "cost=1.0:2.0, person=1.0:20.0"


def test_clusters_are_read(tmp_path: Path) -> None:
    ids = json.loads(GT.read_text())["images"]
    file = tmp_path / "clusters.csv"
    lines = ["image,cluster", *(f"{image['id'] if at % 2 else image['file_name']},{at // 10}" for at, image in enumerate(ids))]  # fmt: skip # noqa: E501
    file.write_text("\n".join(lines))
    result = json.loads(run_here("operate", GT, DT, *FAST, "--clusters", file, "--json").out)["choice"]
    clusters = {image["id"]: at // 10 for at, image in enumerate(ids)}
    expected = choose_thresholds(evaluation(), replicates=20, splits=2, clusters=clusters)  # type: ignore[arg-type]
    assert result["overall"] == expected.overall.to_dict()
    for text, message in (
        ("image,cluster\n\nnowhere.jpg,1", "line 3: expected the id or file name of an image, found 'nowhere.jpg'"),
        (f"{ids[0]['id']},1\n{ids[0]['file_name']},2", "clusters.csv: line 2: image '"),
        (f"{ids[0]['id']},", "line 1: image '"),  # not a cluster of all images without one
        (f"{ids[0]['id']},1", "99 of 100 images have no label"),
        (f"{ids[0]['id']},{'x' * 200_000}", "expected a CSV file: field larger than field limit"),
    ):
        file.write_text(text)
        refused = run_here("operate", GT, DT, *FAST, "--clusters", file)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.count("\n") == 1
        assert message in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rule", "best"], "unknown rule 'best'; expected one of f1"),
        (["--rule", "precision=2"], "precision must be above 0 and at most 1, got 2.0"),
        (["--iou-threshold", "0.3"], "Invalid value for --iou-threshold: no IoU threshold 0.3"),
        (["--class-cost", "person=1:2"], "it is for --rule cost=..., and the rule is f1"),
        (["--rule", "cost=1:2", "--class-cost", "person"], "expected CLASS=A:B, such as person=1:20, got 'person'"),
        (
            ["--rule", "cost=1:2", "--class-cost", "prson=1:2"],
            "no category has the name 'prson'; did you mean 'person'",
        ),
        (["--classes", "prson"], "no category has the name 'prson'"),
        (["--calibrate-per-class"], "needs --calibrate"),
        (["--calibrate", "beta"], "'beta' is not one of"),
        (["-o", "GT"], "is an input and would be overwritten"),
        (["-o", "OUT", "--json=OUT"], "is the file of --output, too"),
        (["--protocol", "kitti"], ""),
    ],
)
def test_wrong_use(words: list[str], message: str, tmp_path: Path) -> None:
    given = [{"GT": str(GT)}.get(word, word.replace("OUT", str(tmp_path / "out.json"))) for word in words]
    refused = run_here("operate", GT, DT, "--replicates", "0", "--splits", "0", *given)
    assert (refused.code, refused.out) == (2, "")
    assert message in " ".join(refused.err.split())
    assert list(tmp_path.iterdir()) == []


def test_data_without_detections_or_objects(tmp_path: Path) -> None:
    empty = tmp_path / "dt.json"
    empty.write_text("[]")
    command = run_here(
        "operate", GT, empty, "--replicates", "5", "--calibrate", "platt", "-o", tmp_path / "points.json"
    )
    assert command.code == 0, command.err
    assert "not reached, so no detection counts: all classes" in command.out
    assert json.loads((tmp_path / "points.json").read_text())["classes"][0]["threshold"] is None
