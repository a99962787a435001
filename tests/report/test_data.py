"""What a report shows is what the evaluation says."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.evaluation import ERROR_KINDS, Evaluation, Outcome, score_curves
from ioukit.report._curves import MOST_POSITIONS, slider_scores
from ioukit.report._pictures import thumbnail
from ioukit.report._texts import score_text
from ioukit.report.report_page import report_data
from support.data_rows import outcomes_in_data
from support.report_cases import CASES, coco, drawn, photographed
from support.report_marks import cell_images, kinds_at, matrix_at, rows_at

image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")


def totals(steps: list[int]) -> list[int]:
    return list(itertools.accumulate(steps))


@pytest.mark.parametrize("case", CASES)
def test_every_case_can_be_shown_and_sent(case: str) -> None:
    data = report_data(CASES[case]())
    assert json.loads(json.dumps(data.drawn, allow_nan=False)) == data.drawn
    assert data.lead.endswith(".")
    for part in ("curves", "matrix", "reliability"):
        assert bool(data.drawn[part]) != (part in data.missing), part
    assert any("boxes" in image for image in data.drawn["images"]) != ("images" in data.missing)


def test_endless_names_are_cut() -> None:
    evaluation = drawn(20, ["a" * 200, "b" * 100_000])
    data = report_data(evaluation, title="c" * 1000)
    assert data.drawn["classes"] == data.drawn["names"] == ["a" * 200, "b" * 199 + "\N{HORIZONTAL ELLIPSIS}"]
    assert len(data.title) == 200


@pytest.mark.parametrize("case", ["three classes", "80 classes", "crowds", "all wrong"])
def test_every_position_of_the_slider_has_the_counts_of_the_curve_there(case: str) -> None:
    evaluation = CASES[case]()
    drawn_curves = report_data(evaluation).drawn["curves"]
    curves = score_curves(evaluation.matches)
    assert len(drawn_curves["rows"]) == 1 + len(curves.per_class)
    for row, curve in zip(drawn_curves["rows"], (curves.overall, *curves.per_class), strict=True):
        points = [curve.at(score) for score in drawn_curves["scores"]]
        assert row["n"] == curve.num_ground_truth
        assert totals(row["tp"]) == [point.true_positives for point in points]
        assert totals(row["fp"]) == [point.false_positives for point in points]
        if math.isnan(curve.best.score):
            assert row["best"] == -1
        else:
            assert curve.at(drawn_curves["scores"][row["best"]]).f1 == curve.best.f1


def test_a_long_slider_keeps_its_ends_and_every_best_score() -> None:
    evaluation = coco()
    curves = score_curves(evaluation.matches)
    scores = slider_scores(curves)
    assert 400 < len(scores) <= MOST_POSITIONS < len(curves.overall.scores)
    assert (np.diff(scores) < 0).all()
    assert np.isin(scores, curves.overall.scores).all()
    assert (scores[0], scores[-1]) == (curves.overall.scores[0], curves.overall.scores[-1])
    best = [curve.best.score for curve in (curves.overall, *curves.per_class)]
    assert np.isin([score for score in best if not math.isnan(score)], scores).all()


def test_the_slider_begins_where_matrix_and_images_are() -> None:
    evaluation = drawn(200, ["cat", "dog"])
    best = score_curves(evaluation.matches).overall.best
    for threshold, expected in ((None, best.score), (0.5, 0.5)):
        data = report_data(evaluation, score_threshold=threshold)
        curves = data.drawn["curves"]
        at = curves["scores"][curves["start"]]
        assert at == min(score for score in curves["scores"] if score >= expected)
        assert data.score == f"with a score of at least {expected:.4f}"


def test_the_cells_hold_the_matrix_and_lead_to_its_images() -> None:
    evaluation = photographed()
    data = report_data(evaluation, score_threshold=0.3)
    confusion = evaluation.confusion(score_threshold=0.3)
    start, matrix = data.drawn["start"], data.drawn["matrix"]
    assert (matrix_at(matrix, start) == confusion.counts).all()
    names = evaluation.ground_truth.images.names if evaluation.ground_truth is not None else ()
    for cell in matrix["cells"]:
        rows = confusion.cell(cell["true"], cell["predicted"])
        found = cell_images(cell, len(confusion.categories), start)
        listed = {data.drawn["images"][image]["name"]: times for image, times in found.items()}
        expected = np.unique(confusion.image[rows], return_counts=True)
        assert listed == {names[image]: times for image, times in zip(*(e.tolist() for e in expected), strict=True)}


def test_the_worst_images_come_first_with_all_their_boxes() -> None:
    evaluation = photographed()
    assert evaluation.ground_truth is not None
    assert evaluation.detections is not None
    data = report_data(evaluation, score_threshold=0.5, worst=4)
    results = evaluation.per_image(score_threshold=0.5)
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes(score_threshold=0.5))
    worst = results.worst(4)
    assert data.drawn["worst"] == list(range(len(worst)))
    for position, image in enumerate(worst.tolist()):
        shown = data.drawn["images"][position]
        gt_rows = np.flatnonzero(evaluation.ground_truth.image_ids == results.image_ids[image])
        dt_rows = np.flatnonzero(evaluation.detections.image_ids == results.image_ids[image])
        assert (shown["tp"], shown["fp"], shown["fn"]) == (
            results.true_positives[image],
            results.false_positives[image],
            results.false_negatives[image],
        )
        boxes, kinds = rows_at(shown)[0], kinds_at(shown, data.drawn["start"])
        gt, dt = became.ground_truth[gt_rows], became.detections[dt_rows]
        of = [
            (gt == Outcome.TRUE_POSITIVE),
            (dt == Outcome.TRUE_POSITIVE),
            (dt == Outcome.FALSE_POSITIVE),
            (gt == Outcome.FALSE_NEGATIVE),
            (gt == Outcome.IGNORED),
            (dt == Outcome.IGNORED),
        ]
        assert np.bincount(kinds[kinds >= 0], minlength=6).tolist() == [int(kind.sum()) for kind in of]
        false = boxes[kinds == 2]
        expected = evaluation.detections.boxes[dt_rows[of[2]]]
        assert np.abs(false[:, 3:] / 10 - expected).max() <= 0.05 + 1e-9
        assert np.abs(false[:, 2] / 1000 - evaluation.detections.scores[dt_rows[of[2]]]).max() <= 0.0005 + 1e-9


def test_ap_by_iou_and_by_size_are_those_of_the_evaluation() -> None:
    evaluation = coco()
    data = report_data(evaluation)
    by_iou = data.drawn["byIou"]
    assert by_iou["mean"][0] == pytest.approx(evaluation.summary["AP50"], abs=1e-5)
    assert np.mean(by_iou["mean"]) == pytest.approx(evaluation.summary["AP"], abs=1e-5)
    for values, result in zip(by_iou["classes"], evaluation.per_class, strict=True):
        if math.isnan(result.summary["AP"]):
            assert set(values) == {None}
        else:
            assert np.mean(values) == pytest.approx(result.summary["AP"], abs=1e-5)
    best = score_curves(evaluation.matches).overall.best.score
    for row, letter, words in zip(
        data.sizes, ("", "s", "m", "l"), ("every size", "below 32² px", "32² to 96² px", "at least 96² px"), strict=True
    ):
        point = score_curves(evaluation.matches, area_range=row.name).overall.at(best)
        objects = point.true_positives + point.false_negatives
        assert row.words == words
        assert row.numbers == (
            f"{evaluation.summary[f'AP{letter}']:.3f}",
            f"{evaluation.summary[f'AR{letter}' if letter else 'AR100']:.3f}",
            *(f"{count:,}" for count in (objects, point.false_negatives, point.false_positives)),
        )


def test_the_tables_are_those_of_the_evaluation() -> None:
    evaluation = coco()
    data = report_data(evaluation)
    assert {measure.key: value for measure, *_, value in data.measures} == {
        key: f"{value:.3f}" for key, value in evaluation.summary.items()
    }
    assert data.class_columns[0] == "AP"
    curves = score_curves(evaluation.matches)
    for (name, cells), result, curve in zip(data.class_rows, evaluation.per_class, curves.per_class, strict=True):
        shown = dict(zip(data.class_columns, cells, strict=True))
        assert name == result.name
        for key in ("AP", "AP50", "APs", "AR100"):
            number = result.summary[key]
            assert shown[key].value == (None if math.isnan(number) else number)
        assert shown["objects"].value == result.num_ground_truth
        assert shown["detections"].value == result.num_detections
        assert shown["at score"].value == (None if math.isnan(curve.best.score) else curve.best.score)
    kinds = evaluation.error_kinds()
    assert {row.name.lower() for row in data.errors} == set(ERROR_KINDS)  # TIDE's names
    assert sorted(row.numbers[0] for row in data.errors) == sorted(f"{count:,}" for count in kinds.counts.values())
    losses = [float(row.numbers[1]) for row in data.errors]
    assert losses == sorted(losses, reverse=True)
    assert data.errors[0].share == 1


def test_a_protocol_of_ones_own() -> None:
    protocol = COCO.replace(
        iou_thresholds=[0.6], max_dets=[5], area_ranges={"all": (0, 1e10), "tiny": (0, 900)}, class_agnostic=True
    )
    base = photographed()
    assert base.ground_truth is not None
    assert base.detections is not None
    evaluation = evaluate(base.ground_truth, base.detections, protocol)
    data = report_data(evaluation)
    assert data.iou == "0.60"
    assert [measure.key for measure, *_ in data.measures] == ["AP", "APtiny", "AR5", "ARtiny"]
    assert len(data.drawn["classes"]) == 1
    assert len(data.drawn["matrix"]["classes"]) == len(base.ground_truth.categories)
    assert ("Classes", "a detection may match an object of any class") in data.settings
    with pytest.raises(ValueError, match=r"no IoU threshold 0.5; there are 0.6"):
        report_data(evaluation, iou_threshold=0.5)
    odd = evaluate(base.ground_truth, base.detections, COCO.replace(area_ranges={"tiny": (0, 900)}))
    data = report_data(odd)
    kinds = odd.error_kinds()
    assert {row.name.lower(): row.numbers[0] for row in data.errors} == {
        kind: f"{count:,}" for kind, count in kinds.counts.items()
    }


def test_a_selection_is_kept() -> None:
    base = coco()
    assert base.ground_truth is not None
    assert base.detections is not None
    images = base.matches.image_ids[:10]
    evaluation = evaluate(base.ground_truth, base.detections, categories=["person", "dog"], images=images)
    data = report_data(evaluation)
    assert data.drawn["matrix"]["classes"] == ["person", "dog"]
    assert len(data.drawn["images"]) <= 10
    labels = {data.drawn["names"][label] for image in data.drawn["images"] for label in image["boxes"][1::7]}
    assert labels <= {"person", "dog"}


def test_without_the_boxes_the_numbers_are_still_shown() -> None:
    evaluation = dataclasses.replace(coco(), ground_truth=None, detections=None)
    data = report_data(evaluation)
    assert data.drawn["curves"] is not None
    assert data.drawn["matrix"] is None
    assert set(data.missing) == {"matrix", "errors", "images"}
    assert "neither its data nor near pairs" in data.missing["matrix"]


def test_a_match_table_alone_shows_all_but_boxes() -> None:
    whole = coco()
    evaluation = Evaluation.from_table(whole.near_matches())
    data, expected = report_data(evaluation), report_data(whole)
    assert set(data.missing) == {"images"}
    assert (data.headline, data.measures, data.class_rows, data.errors) == (
        expected.headline,
        expected.measures,
        expected.class_rows,
        expected.errors,
    )
    for key in ("steps", "objects", "kinds", "new", "gone"):
        for part in ("matrix", "errors"):
            assert data.drawn[part].get(key) == expected.drawn[part].get(key)
    start = data.drawn["start"]
    assert (matrix_at(data.drawn["matrix"], start) == matrix_at(expected.drawn["matrix"], start)).all()
    assert data.drawn["worst"] == []
    assert {image["name"] for image in data.drawn["images"]} <= {f"image {k}" for k in evaluation.matches.image_ids}


def test_files_have_names_and_hashes() -> None:
    data = report_data(coco())
    assert [(file.role, file.name) for file in data.files] == [
        ("Ground truth", "ground_truth.json"),
        ("Detections", "yolact.json"),
    ]
    evaluation = coco()
    assert evaluation.detections is not None
    content = Path(evaluation.detections.source).read_bytes()
    assert data.files[1].sha256 == hashlib.sha256(content).hexdigest()
    assert data.files[1].size == len(content)
    assert (data.title, data.against) == ("yolact.json", "ground_truth.json")
    assert report_data(drawn(5, ["a"])).files == ()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("yolo11n", "yolo11n"),
        ("runs/exp3/labels", "exp3"),
        ("runs/exp4/Labels/", "exp4"),
        ("exp5/labels/val", "val"),
        ("labels", "labels"),
        ("../here/second/data", "second"),
        ("found.v2", "found.v2"),
    ],
)
def test_a_folder_has_the_name_that_tells_it_apart(
    folder: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    truth = here / "coco" / "annotations"
    for place, line in ((truth, "cat 0 0 9 9"), (here / folder, "cat 0.5 0 0 9 9")):
        place.mkdir(parents=True)
        (place / "1.txt").write_text(f"{line}\n")
    monkeypatch.chdir(here)
    data = report_data(evaluate("coco/annotations", folder))
    assert (data.title, data.against, data.files) == (name, "coco", ())
    assert data.lead.startswith(f"{name} has AP 1.000")


def test_the_working_folder_has_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, line in (("gt", "cat 0 0 9 9"), ("best", "cat 0.5 0 0 9 9")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "1.txt").write_text(f"{line}\n")
    monkeypatch.chdir(tmp_path / "best")
    assert report_data(evaluate("../gt", ".")).title == "best"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"worst": -1}, "worst must not be negative, got -1"),
        ({"score_threshold": math.nan}, "score_threshold must be a number, got nan"),
        ({"iou_threshold": 0.55}, "no IoU threshold 0.55; there are 0.5"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], match: str) -> None:
    base = drawn(5, ["a"])
    assert base.ground_truth is not None
    assert base.detections is not None
    evaluation = evaluate(base.ground_truth, base.detections, COCO.replace(iou_thresholds=[0.5]))
    with pytest.raises(ValueError, match=match):
        report_data(evaluation, **change)


# ---- Photographs.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    photographs = tmp_path / "photographs"
    (photographs / "deeper").mkdir(parents=True)
    image_module.new("RGB", (900, 600), "red").save(photographs / "red.jpg", exif=b"Exif\0\0secret")
    image_module.new("RGBA", (30, 20), "blue").save(photographs / "deeper" / "blue.png")
    image_module.new("RGB", (10, 10)).save(tmp_path / "outside.png")
    (photographs / "text.jpg").write_text("no photograph")
    (photographs / "leads_out.png").symlink_to(tmp_path / "outside.png")
    return photographs


def test_a_photograph_becomes_small_and_loses_what_is_not_pixels(folder: Path) -> None:
    found = thumbnail(folder, "red.jpg")
    assert not isinstance(found, str)
    address, size = found
    assert size == (900, 600)
    content = base64.b64decode(address.removeprefix("data:image/jpeg;base64,"))
    assert b"secret" not in content
    assert image_module.open(io.BytesIO(content)).size == (720, 480)
    for name in ("deeper/blue.png", "elsewhere/red.jpg"):  # the second by its last part
        assert not isinstance(thumbnail(folder, name), str)


@pytest.mark.parametrize(
    "name",
    [
        "../outside.png",
        "deeper/../../outside.png",
        "leads_out.png",
        "/etc/passwd",
        "deeper",
        "",
        ".",
        "missing.png",
        "text.jpg",
        "nul\0.png",
        "lone\ud800.png",
        "x" * 5000,
    ],
)
def test_nothing_leads_out_of_the_folder_and_nothing_stops_the_report(folder: Path, name: str) -> None:
    reason = thumbnail(folder, name)
    assert isinstance(reason, str)
    assert reason == "not in the folder" or reason.startswith("cannot be read")


def test_an_image_that_unpacks_to_an_enormous_one_is_not_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_module, "MAX_IMAGE_PIXELS", 1000)
    assert thumbnail(folder, "red.jpg") == "cannot be read: DecompressionBombError"
    monkeypatch.setattr(image_module, "MAX_IMAGE_PIXELS", 400_000)
    assert thumbnail(folder, "red.jpg") == "cannot be read: DecompressionBombWarning"


def test_a_photograph_is_turned_where_its_boxes_are(tmp_path: Path) -> None:
    stored = image_module.new("RGB", (40, 20), "red")
    stored.paste("blue", (0, 0, 20, 20))
    exif = image_module.Exif()
    exif[274] = 6  # a quarter turn: what is on the left is at the top
    stored.save(tmp_path / "turned.png", exif=exif)
    stored.save(tmp_path / "plain.png")
    for name, expected, size in (
        ("turned.png", (40.0, 20.0), (40, 20)),
        ("turned.png", (20.0, 40.0), (20, 40)),
        ("turned.png", (math.nan, math.nan), (40, 20)),
        ("turned.png", None, (40, 20)),
        ("plain.png", (20.0, 40.0), (40, 20)),
    ):
        found = thumbnail(tmp_path, name, expected)
        assert not isinstance(found, str)
        assert found[1] == size
        shown = image_module.open(io.BytesIO(base64.b64decode(found[0].partition(",")[2])))
        assert shown.size == size
        red, _, blue = shown.getpixel((size[0] - 4, 4))
        assert (red > blue) == (size == (40, 20))  # the upper right


def test_missing_photographs_are_told(folder: Path) -> None:
    gt = GroundTruth.from_coco(
        {
            "images": [{"id": 1, "file_name": "red.jpg"}, {"id": 2, "file_name": "../outside.png"}],
            "categories": [{"id": 1, "name": "cat"}],
            "annotations": [
                {"id": k, "image_id": k, "category_id": 1, "bbox": [1, 2, 300, 400], "area": 9, "iscrowd": 0}
                for k in (1, 2)
            ],
        }
    )
    dt = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
    data = report_data(evaluate(gt, dt), images=folder)
    assert data.notes[-1] == "1 of 2 photographs are missing: ../outside.png (not in the folder)"
    first, second = data.drawn["images"]
    # The size is that of the photograph, or what the boxes reach to, where the data set does not say.
    assert (first["w"], first["h"], "thumb" in first) == (900, 600, True)
    assert (second["w"], second["h"], "thumb" in second) == (301, 402, False)


def test_a_score_of_zero_has_no_decimals() -> None:
    assert [score_text(value) for value in (0.0, -0.0, 0.5, 1e-5)] == ["0", "0", "0.5000", "1.00e-05"]


def test_the_confusions_of_the_first_screen_have_their_photographs(tmp_path: Path) -> None:
    evaluation = coco()
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    counts = confusion.counts[:-1, :-1].copy()
    np.fill_diagonal(counts, 0)
    pairs = [divmod(int(at), len(counts)) for at in np.argsort(-counts, axis=None, kind="stable")[:3]]
    shown = [int(confusion.image[confusion.cell(true, predicted)[0]]) for true, predicted in pairs]
    assert evaluation.ground_truth is not None
    images = evaluation.ground_truth.images
    for image in shown:
        image_module.new("RGB", tuple(images.sizes[image].astype(int).tolist())).save(tmp_path / images.names[image])
    assert set(shown) - set(evaluation.per_image(score_threshold=best).worst(1).tolist())
    data = report_data(evaluation, images=tmp_path, worst=1)
    with_photograph = {image["name"] for image in data.drawn["images"] if "thumb" in image}
    assert with_photograph >= {images.names[image] for image in shown}
