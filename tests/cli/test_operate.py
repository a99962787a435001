"""`ioukit operate`: tables, files, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate, read_coco
from ioukit.cli.operate import _apart
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


def written(folder: Path, scores: list[float | None], wrong: list[float]) -> list[str | Path]:
    """An image with an object per score, which is found with it, or missed if it is ``None``; and wrong detections."""
    box, far = [0, 0, 20, 20], [50, 50, 20, 20]
    images = [{"id": at, "width": 99, "height": 99, "file_name": f"{at}.jpg"} for at in range(len(scores))]
    objects = [
        {"id": at + 1, "image_id": at, "category_id": 1, "bbox": box, "area": 400, "iscrowd": 0}
        for at in range(len(scores))
    ]
    rows = [
        *({"image_id": at, "category_id": 1, "bbox": box, "score": score} for at, score in enumerate(scores) if score),
        *({"image_id": at, "category_id": 1, "bbox": far, "score": score} for at, score in enumerate(wrong)),
    ]
    truth = {"images": images, "annotations": objects, "categories": [{"id": 1, "name": "a"}]}
    (folder / "gt.json").write_text(json.dumps(truth))
    (folder / "dt.json").write_text(json.dumps(rows))
    return ["operate", folder / "gt.json", folder / "dt.json", "--quiet"]


def head(*words: str | Path) -> str:
    """What stands above the table, in one line."""
    command = run_here(*words)
    assert command.code == 0, command.err
    return " ".join(command.out.partition("\n\n")[0].split())


def test_few_images_are_said_with_their_intervals(tmp_path: Path) -> None:
    words = written(tmp_path, [0.5 + at / 20 for at in range(8)], [])
    shown = head(*words)
    assert "false positives per image* 0.000, 95 % interval 0.000 to 0.461" in shown
    assert "doubtful intervals, as there are 8 images: threshold, precision*, recall*, F1*, false positives" in shown
    one = written(tmp_path, [0.5], [])
    assert "1 object threshold 0.500 no intervals, as there is 1 image: threshold * on" in head(*one)
    assert "1 object threshold 0.500 * on" in head(*one, "--replicates", "0"), "it needs no replicates"


def test_a_limit_that_fails_on_other_images_is_said(tmp_path: Path) -> None:
    """Halves with a wrong detection below 0.9 have a higher threshold than the others."""
    rng = np.random.default_rng(0)
    words = written(tmp_path, [*rng.uniform(0.5, 1, 40), *[None] * 20], rng.uniform(0.3, 0.9, 30).tolist())
    words += ["--replicates", "0"]
    for rule, name in (
        ("fppi=0.1", "false_positives_per_image"),
        ("precision=0.9", "precision"),
        ("recall=0.6", "recall"),
    ):
        limit = float(rule.partition("=")[2])
        shown = json.loads(run_here(*words, "--rule", rule, "--json").out)["choice"]["overall"]["held_out"][name]
        side = "above" if rule.startswith("fppi") else "below"
        assert (shown > limit) == (side == "above"), rule
        said = head(*words, "--rule", rule).partition("on other images ")[2]
        assert said.endswith(f", {side} the {limit:g} asked for"), said
    assert " false positives of one class per image, above the 0.1" in head(*words, "--rule", "fppi=0.1", "--per-class")
    # Rounded, the number would be the limit itself, or on its other side.
    assert [_apart(value, 0.815) for value in (0.8148, 0.81496, 0.815004, 0.5)] == [
        "0.8148",
        "0.81496",
        "0.815004",
        "0.500",
    ]
    assert _apart(0.81476, 0.8148) == "0.81476"


def test_calibration_without_a_map_is_said(tmp_path: Path) -> None:
    words = written(tmp_path, [0.5, *[None] * 9], [])
    text = " ".join(run_here(*words, "--calibrate", "platt", "--replicates", "50").out.split())
    assert "D-ECE 0.5000 0.5000 +0.0000 LaECE" in text, "no interval"
    reason = "no intervals, as all detections are in one part, so no map could be fitted without it, and scores stay"
    assert f"{reason} as they are: D-ECE, LaECE, LaECE0, Brier" in text


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
    assert "no intervals" not in command.out, "what is undefined is not in doubt"
    assert json.loads((tmp_path / "points.json").read_text())["classes"][0]["threshold"] is None
