"""A file format, a protocol and a kind of region that ioukit does not have: each is added without a change inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest

from evaluation.plain_rules import plain_ap, plain_matching
from ioukit import COCO, Detections, GroundTruth, Protocol, evaluate
from ioukit.datasets import FORMATS, Format, find_format, read, read_detections, register_format
from ioukit.errors import DatasetError
from ioukit.evaluation import Evaluation, confusion_matrix, error_kinds, load_table, match, outcomes, save_table
from ioukit.evaluation.kinds import REGION_KINDS, region_kind, register_kind
from ioukit.evaluation.protocols import PROTOCOLS, IgnoreRule, Measure, find_protocol, register_protocol
from ioukit.overlap import register_engine
from ioukit.report import write_report
from support import discs
from support.command import run_here
from support.discs import Discs
from support.everything import assert_says_the_same

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = {1: "sun", 2: "moon", 3: "coin"}

LAX = Protocol(
    name="Lax",
    iou_thresholds=(0.3,),
    recall_thresholds=tuple(np.linspace(0, 1, 11).tolist()),
    max_dets=(50,),
    area_ranges={"everything": (0, 1e10), "pebbles": (0, 200)},  # type: ignore[arg-type]
    threshold="more_than",
    ties="first",
    integral="area",
    ignored=(IgnoreRule("blurred"),),
    summary=(
        Measure("mAP30", line="mean AP at IoU 0.30: {value}", headline=True, words="The mean over {classes}."),
        Measure("pebbles", area_range="pebbles"),
        Measure("found", "AR"),
    ),
)
"""One threshold, which is none of COCO's, with area ranges, flags and measures of its own names."""


def read_rows(path: Any) -> tuple[list[list[str]], dict[str, Any]]:
    """The words of each line, and the columns that both sides have."""
    rows = [line.split() for line in Path(path).read_text().splitlines()[1:]]
    return rows, {
        "image_ids": [row[0] for row in rows],
        "category_ids": [int(row[1]) for row in rows],
        "regions": Discs([[float(word) for word in row[2:5]] for row in rows]),
        "source": str(path),
    }


def read_truth(path: Any, **_: Any) -> GroundTruth:
    rows, columns = read_rows(path)
    return GroundTruth.from_arrays(
        **columns, flags={"blurred": [row[5] == "blurred" for row in rows]}, categories=NAMES
    )


def read_found(path: Any, **_: Any) -> Detections:
    rows, columns = read_rows(path)
    return Detections.from_arrays(**columns, scores=[float(row[5]) for row in rows])


def is_discs(path: Path) -> bool:
    """By the first line, not by the name."""
    return path.is_file() and path.read_bytes().startswith(b"#discs")


@pytest.fixture(autouse=True)
def additions() -> Iterator[None]:
    """The three of them, gone after the test."""
    register_engine(Discs, discs.ENGINE)
    with mock.patch.dict(FORMATS), mock.patch.dict(PROTOCOLS), mock.patch.dict(REGION_KINDS):
        register_format(Format("discs", "lines of image, class, x, y, radius", is_discs, read_truth, read_found))
        register_protocol("lax", LAX)
        register_kind(region_kind("disc", "discs: x, y, radius", "Discs"))
        yield


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Discs at random, and detections that are near most of them."""
    rng = np.random.default_rng(5)
    truth, found = ["#discs"], ["#discs"]
    for image in ("north", "south", "east", "9"):
        for _ in range(12):
            category, (x, y), radius = rng.integers(1, 4), rng.uniform(0, 60, 2), rng.uniform(2, 12)
            flag = "blurred" if rng.random() < 0.2 else "sharp"
            truth.append(f"{image} {category} {x} {y} {radius} {flag}")
            for _ in range(rng.integers(0, 3)):
                seen = category if rng.random() < 0.8 else rng.integers(1, 4)
                (dx, dy), factor = rng.normal(0, radius / 3, 2), rng.uniform(0.7, 1.4)
                found.append(f"{image} {seen} {x + dx} {y + dy} {radius * factor} {rng.random():.2f}")
    paths = tmp_path / "truth.txt", tmp_path / "found.txt"
    for path, lines in zip(paths, (truth, found), strict=True):
        path.write_text("\n".join(lines) + "\n")
    return paths


def test_a_format_is_found_by_looking_and_named_in_errors(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert find_format(files[0]).name == "discs"
    gt, dt = read(files[0]), read_detections(files[1])
    assert gt.images.labels.tolist() == ["9", "east", "north", "south"]
    assert gt.categories.names == ("sun", "moon", "coin")
    assert len(dt) == len(dt.regions["Discs"]) > 30
    (tmp_path / "note.txt").write_text("hello")
    with pytest.raises(
        DatasetError, match=r"note.txt: not a format that can be read; the formats are coco, .*, discs$"
    ):
        read(tmp_path / "note.txt")
    with pytest.raises(ValueError, match="there is a format 'discs' already"):
        register_format(FORMATS["discs"])


def plain_overlap(gt: GroundTruth, dt: Detections) -> Any:
    """The IoU of two discs by the rows of the data, one pair at a time."""
    first, second = dt.regions["Discs"].rows, gt.regions["Discs"].rows

    def overlap(row: int, place: int, *, crowd: bool) -> float:
        return float(discs.overlap("ioa_first" if crowd else "iou", first[row], second[place]))

    return overlap


@pytest.mark.parametrize("protocol", [LAX, COCO], ids=["lax", "coco"])
def test_a_kind_and_a_protocol_give_the_numbers_of_the_plain_rules(
    files: tuple[Path, Path], protocol: Protocol
) -> None:
    gt, dt = read(files[0]), read_detections(files[1])
    dt = dt.known_to(gt)
    evaluation = evaluate(gt, dt, protocol, iou_type="disc")
    table, overlap = evaluation.matches, plain_overlap(gt, dt)
    hits = 0
    for threshold in protocol.iou_thresholds:
        for area in protocol.area_ranges:
            plain = plain_matching(gt, dt, protocol, threshold, area, protocol.max_dets[-1], overlap)
            matched = table.matched_object(threshold, area.label)
            rows = np.flatnonzero(matched >= 0)
            objects = table.objects.row[matched[rows]]
            assert dict(zip(table.detections.row[rows].tolist(), objects.tolist(), strict=True)) == plain.matched
            hits += len(plain.matched)
            expected = plain_ap(gt, dt, protocol, threshold, area, protocol.max_dets[-1], overlap)
            t, a = protocol.iou_thresholds.index(threshold), protocol.area_labels.index(area.label)
            ours = evaluation.curves.ap[t, :, a, -1]
            np.testing.assert_allclose(ours, list(expected.values()), rtol=1e-12)
    assert hits > 20


def test_its_tables_are_merged_saved_and_analysed(files: tuple[Path, Path], tmp_path: Path) -> None:
    gt, dt = read(files[0]), read_detections(files[1])
    settings: dict[str, Any] = {"protocol": LAX, "iou_type": "disc", "near": 0.1}
    whole = match(gt, dt, **settings)
    parts = [match(gt, dt, images=[image], **settings) for image in gt.images.labels]
    total = type(whole).merge(parts)
    assert_says_the_same(total, whole)
    save_table(whole, tmp_path / "table.npz")
    loaded = load_table(tmp_path / "table.npz")
    assert loaded.protocol == LAX
    assert loaded.iou_type == "disc"
    assert_says_the_same(loaded, whole, rows_too=True)
    kinds = error_kinds(whole)
    assert kinds.iou_threshold == 0.3
    assert confusion_matrix(whole, score_threshold=0.5).counts.sum() > 0
    assert (outcomes(whole, score_threshold=0.5).matched_object >= 0).sum() > 5


def test_the_table_the_page_and_the_figures_use_its_names(files: tuple[Path, Path], tmp_path: Path) -> None:
    evaluation = evaluate(*files, LAX, iou_type="disc", near=0.1)
    assert list(evaluation.summary) == ["mAP30", "pebbles", "found"]
    value = f"{evaluation.summary['mAP30']:0.3f}"
    assert evaluation.table().splitlines()[0] == f"mean AP at IoU 0.30: {value}"
    assert list(evaluation.per_class["moon"].summary) == ["mAP30", "pebbles", "found"]
    assert Evaluation.from_table(evaluation.matches).to_json() == evaluation.to_json()
    write_report(evaluation, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "mAP30" in page
    assert "pebbles" in page
    assert "AP50" not in page


def test_the_command_knows_all_three(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "numbers.json"
    ended = run_here("eval", *files, "--iou-type", "disc", "--protocol", "Lax", f"--json={out}", "--errors")
    assert (ended.code, "mean AP at IoU 0.30" in ended.out) == (0, True), ended.err
    numbers = json.loads(out.read_text())
    expected = evaluate(*files, find_protocol("lax"), iou_type="disc")
    assert numbers["summary"] == expected.summary
    assert "AP50" not in ended.out


UNRANKED = Protocol(
    name="Unranked",
    iou_thresholds=(0.5, 0.75),
    recall_thresholds=(),  # so detections are not ranked
    max_dets=(1000,),
    area_ranges={"all": (0, 1e10)},  # type: ignore[arg-type]
    ignored=(),
    precision_epsilon=False,
    summary=(
        Measure("F1", "F1", line="F1 at IoU 0.5 and 0.75: {value}", headline=True),
        Measure("F1-50", "F1", iou_threshold=0.5),
        Measure("precision", "precision"),
        Measure("recall", "AR"),
    ),
)
"""Detections without scores: one object each, and counts instead of curves."""


def plain_counts(truth: list[list[float]], found: list[list[float]], iou: float) -> tuple[int, int, int]:
    """Right, wrong and missed boxes of one image, where each found box takes the best object that is left."""
    free, right = list(range(len(truth))), 0
    for box in found:
        overlaps = [(plain_iou(box, truth[place]), place) for place in free]
        best = max(overlaps, default=(0.0, -1))
        if best[0] >= iou:
            free.remove(best[1])
            right += 1
    return right, len(found) - right, len(free)


def plain_iou(a: list[float], b: list[float]) -> float:
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(width, 0.0) * max(height, 0.0)
    return both / (a[2] * a[3] + b[2] * b[3] - both)


@pytest.mark.parametrize("seed", range(4))
def test_a_protocol_that_does_not_rank_counts(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    truth = {image: random.integers([0, 0, 20, 20], [60, 60, 80, 80], (9, 4)).astype(float) for image in range(5)}
    found = {
        image: np.concatenate([boxes + random.integers(-4, 5, boxes.shape), boxes[:3] + 1])
        for image, boxes in truth.items()
    }
    sides: list[dict[str, Any]] = [
        {
            "image_ids": np.repeat(list(side), [len(boxes) for boxes in side.values()]),
            "category_ids": np.ones(sum(map(len, side.values())), int),
            "boxes": np.concatenate(list(side.values())),
        }
        for side in (truth, found)
    ]
    gt = GroundTruth.from_arrays(**sides[0])
    dt = Detections.from_arrays(**sides[1], scores=random.random(len(sides[1]["boxes"])))  # nothing reads the scores
    evaluation = evaluate(gt, dt, UNRANKED)
    expected: dict[str, list[float]] = {"F1": [], "precision": [], "recall": []}
    for iou in UNRANKED.iou_thresholds:
        counts = [plain_counts(truth[image].tolist(), found[image].tolist(), iou) for image in truth]
        right, wrong, missed = map(sum, zip(*counts, strict=True))
        expected["precision"].append(right / (right + wrong))
        expected["recall"].append(right / (right + missed))
        expected["F1"].append(2 * right / (2 * right + wrong + missed))
    means = {key: float(np.mean(values)) for key, values in expected.items()}
    assert evaluation.summary == pytest.approx({**means, "F1-50": expected["F1"][0]}, abs=1e-15)
    assert not UNRANKED.ranks
    write_report(evaluation, tmp_path / "report.html")
    assert evaluation.table().startswith(f"F1 at IoU 0.5 and 0.75: {means['F1']:.3f}")
    assert evaluation.per_class[0].summary == pytest.approx(evaluation.summary)
    assert Protocol.from_dict(json.loads(json.dumps(UNRANKED.to_dict()))) == UNRANKED


def test_a_protocol_that_does_not_rank_has_no_measures_of_curves() -> None:
    with pytest.raises(ValueError, match=r"without recall_thresholds, no measure can be one of curves, got AP$"):
        UNRANKED.replace(summary=(Measure("AP"), Measure("recall", "AR")))
