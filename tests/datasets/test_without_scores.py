"""Detections that have no scores: what each way of reading makes of them, and who refuses them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ioukit import COCO, Detections, GroundTruth, evaluate, scale
from ioukit.datasets import from_predictions, read_detections, write
from ioukit.errors import DatasetError
from support.command import run_here
from support.label_samples import write_sample

TRUTH = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [5, 5, 20, 20]])


def unscored(count: int = 2) -> Detections:
    boxes = [[0, 0, 10, 9], [5, 5, 20, 18]][:count]
    return Detections.from_arrays(image_ids=[1, 2][:count], category_ids=[1] * count, boxes=boxes, scores=None)


def test_arrays_without_scores_are_said_to_have_none() -> None:
    found = unscored()
    assert not found.scored
    assert found.scores.tolist() == [1, 1]
    assert found.notes == ("detections: the detections have no scores, so nothing ranks them",)
    assert not found[:1].scored
    assert "score" not in next(iter(found.notebook_rows()[0]))
    none = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
    assert none.scored


def test_parts_with_and_without_scores_do_not_join() -> None:
    assert not Detections.concat([unscored(), unscored(1)]).scored
    scored = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[0.5])
    assert Detections.concat([scored, scored[:0], unscored(0)]).scored
    with pytest.raises(ValueError, match="some parts have scores, others have none: detections"):
        Detections.concat([scored, unscored()])


def test_a_protocol_that_ranks_refuses_them() -> None:
    with pytest.raises(DatasetError, match="have no scores, and COCO ranks by scores; the protocol 'unranked' counts"):
        evaluate(TRUTH, unscored(), COCO)


RECORDS: list[dict[str, Any]] = [
    {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 9]},
    {"image_id": 2, "category_id": 1, "bbox": [5, 5, 20, 18]},
]


def written(folder: Path, records: list[dict[str, Any]], name: str = "dt.json") -> Path:
    path = folder / name
    lines = name.endswith(".jsonl")
    path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records))
    return path


@pytest.mark.parametrize("name", ["dt.json", "dt.jsonl"])
@pytest.mark.parametrize("null", [False, True])
def test_files_and_records_of_coco_may_lack_scores(name: str, *, null: bool, tmp_path: Path) -> None:
    records = [{**record, "score": None} if null else record for record in RECORDS]
    for found in (read_detections(written(tmp_path, records, name)), Detections.from_coco(records)):
        assert not found.scored
        assert found.scores.tolist() == [1, 1]
        assert found.boxes.tolist() == unscored().boxes.tolist()


def test_some_scores_are_an_error_with_their_counts(tmp_path: Path) -> None:
    mixed = [{**RECORDS[0], "score": 0.5}, *RECORDS]
    path = written(tmp_path, mixed)
    with pytest.raises(DatasetError, match=r"dt\.json: detections\[1\]\.score: .* no score, as in 2 of 3 detections$"):
        read_detections(path)
    kept = read_detections(path, on_invalid="drop")
    assert (len(kept), kept.dropped, kept.scored) == (1, 2, True)
    counted = "expected a number, found no such key, as in 2 of 3 detections$"
    with pytest.raises(DatasetError, match=rf"detections\[1\]\.score: {counted}"):
        Detections.from_coco(mixed)
    with pytest.raises(DatasetError, match=rf"detections\[0\]\.score: {counted}"):
        Detections.from_coco(mixed[::-1])
    with pytest.raises(DatasetError, match=r"detections\[1\]\.score: .*None.*, as in 1 of 2 detections$"):
        Detections.from_coco([mixed[0], {**RECORDS[1], "score": None}])
    assert len(Detections.from_coco(mixed[::-1], on_invalid="drop")) == 1


def test_records_of_many_threads_count_as_one_file(tmp_path: Path) -> None:
    many = [{**RECORDS[k % 2], "note": "x" * 100} for k in range(20_000)]
    assert not read_detections(written(tmp_path, many), threads=2).scored
    many[12_345]["score"] = 0.5
    with pytest.raises(DatasetError, match=r"detections\[0\]\.score: .* as in 19999 of 20000 detections"):
        read_detections(written(tmp_path, many), threads=2)


@pytest.mark.parametrize("name", ["confidence", "scores", "conf"])
def test_a_score_by_another_name_is_not_overlooked(name: str, tmp_path: Path) -> None:
    renamed = [{**record, name: 0.5} for record in RECORDS]
    for source in (written(tmp_path, renamed), renamed):
        with pytest.raises(DatasetError, match=f"detections\\[0\\]\\.score: .*; rename '{name}'"):
            Detections.from_coco(source)


def test_tables_may_lack_scores(tmp_path: Path) -> None:
    table = tmp_path / "dt.csv"
    table.write_text("image_id,category_id,x,y,width,height\n1,1,0,0,10,9\n2,1,5,5,20,18\n")
    found = read_detections(table, ground_truth=TRUTH)
    assert not found.scored
    table.write_text("image_id,category_id,x,y,width,height,det_score\n1,1,0,0,10,9,0.5\n")
    with pytest.raises(DatasetError, match="expected a column of scores, such as score or confidence, found the col"):
        read_detections(table, ground_truth=TRUTH)


def test_lines_of_yolo_may_lack_scores(tmp_path: Path) -> None:
    truth = GroundTruth.from_arrays(
        image_ids=[1, 2],
        category_ids=[0, 0],
        boxes=[[0, 0, 10, 10], [5, 5, 20, 20]],
        images=[1, 2],
        sizes=np.full((2, 2), 100.0),
        names=["1.jpg", "2.jpg"],
    )
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "1.txt").write_text("0 0.05 0.05 0.1 0.1\n")
    (labels / "2.txt").write_text("0 0.1 0.1 0.1 0.1\n0 0.3 0.3 0.1 0.1\n")
    found = read_detections(labels, "yolo", ground_truth=truth)
    assert not found.scored
    assert np.allclose(found.boxes[0], [0, 0, 10, 10])
    (labels / "2.txt").write_text("0 0.1 0.1 0.1 0.1 0.9\n0 0.3 0.3 0.1 0.1\n")
    with pytest.raises(DatasetError, match=r"class cx cy w h score .*, as 1 of 3 lines have, got '0 0\.05"):
        read_detections(labels, "yolo", ground_truth=truth)


@pytest.mark.parametrize(
    ("name", "place"), [("dota", 1), ("kitti", -1), ("padilla", 1), ("voc", 1), ("wider-face", -1), ("yolo", -1)]
)
def test_a_line_of_text_without_its_score_is_refused(name: str, place: int, tmp_path: Path) -> None:
    sample = write_sample(name, tmp_path)
    assert sample.detections is not None
    assert len(read_detections(sample.detections, name, ground_truth=sample.reference)) > 1
    lines_of = {file: file.read_text().splitlines() for file in sorted(sample.detections.glob("*.txt"))}
    file = next(file for file, lines in lines_of.items() if lines and file.name != "classes.txt")
    words = lines_of[file][-1].split()
    del words[place]
    file.write_text("\n".join([*lines_of[file][:-1], " ".join(words)]))
    with pytest.raises(DatasetError, match=rf"{re.escape(file.name)}: line \d: expected .*score|results need a score"):
        read_detections(sample.detections, name, ground_truth=sample.reference)


def test_predictions_may_lack_scores() -> None:
    def answer(confidence: Any) -> Any:
        boxes = np.array([[0.0, 0, 10, 9]])
        fields = {"xyxy": boxes, "confidence": confidence, "class_id": np.array([1]), "mask": None, "tracker_id": None}
        return SimpleNamespace(**fields, data={})

    assert not from_predictions([answer(None), answer(None)], image_ids=[1, 2]).scored
    with pytest.raises(DatasetError, match="expected scores of all detections or of none, found those of 1 of 2"):
        from_predictions([answer(None), answer(np.array([0.5]))], image_ids=[1, 2])


@pytest.mark.parametrize("name", ["dt.json", "dt.csv", "dt.parquet", "dt.arrow"])
def test_what_is_written_is_read_without_scores(name: str, tmp_path: Path) -> None:
    if name in ("dt.parquet", "dt.arrow"):
        pytest.importorskip("pyarrow")
    formats = {"dt.json": "coco"}
    assert not write(unscored(), tmp_path / name, formats.get(name, name.split(".")[1]), ground_truth=TRUTH)
    again = read_detections(tmp_path / name, ground_truth=TRUTH)
    assert not again.scored
    assert again.boxes.tolist() == unscored().boxes.tolist()


def test_formats_that_need_scores_do_not_make_them_up(tmp_path: Path) -> None:
    able = "the detections have no scores, which the format yolo must have; choose from coco, csv, parquet, arrow"
    with pytest.raises(DatasetError, match=able):
        write(unscored(), tmp_path / "labels", "yolo", ground_truth=TRUTH)
    assert not (tmp_path / "labels").exists()


def test_commands_say_what_needs_scores(tmp_path: Path) -> None:
    truth, found = tmp_path / "gt.json", written(tmp_path, RECORDS)
    write(TRUTH, truth, "coco")
    sentences = {
        ("eval", "--protocol", "voc2012"): "have no scores, and VOC2012 ranks by scores",
        ("operate",): "thresholds and calibration of scores need scores, and the protocol Unranked does not read them",
        ("labels",): "suspicions about labels need scores, and the protocol Unranked does not read them",
    }
    for (command, *options), sentence in sentences.items():
        done = run_here(command, truth, found, *options)
        assert done.code == 2, command
        assert sentence in " ".join(done.err.split()), command
    done = run_here("nms", found, "-o", tmp_path / "kept.json")
    assert done.code == 2
    assert "have no scores, and scores decide which of them are kept" in " ".join(done.err.split())
    assert not (tmp_path / "kept.json").exists()


FEW = "--replicates 20"


@pytest.mark.parametrize(
    "command",
    ["eval --errors --intervals", "check", f"compare {FEW} --permutations 63", f"slices {FEW}"],
)
def test_commands_that_count_work(command: str, tmp_path: Path) -> None:
    truth, found = tmp_path / "gt.json", written(tmp_path, RECORDS)
    write(TRUTH, truth, "coco")
    name, *options = command.split()
    more = [written(tmp_path, RECORDS[:1], "b.json")] if name == "compare" else []
    done = run_here(name, truth, found, *more, *options)
    assert done.code in (None, 0), done.err
    assert "the detections have no scores, so nothing ranks them" in " ".join(done.err.split())
    assert "score of" not in done.out
    assert "at score" not in done.out


def test_scores_that_are_missing_are_filled_on_request(tmp_path: Path) -> None:
    truth, found, numbers = tmp_path / "gt.json", written(tmp_path, RECORDS), tmp_path / "numbers.json"
    write(TRUTH, truth, "coco")
    done = run_here("eval", truth, found, "--scores-missing", "1", "--json", numbers)
    assert done.code in (None, 0), done.err
    of_python = evaluate(TRUTH, unscored().with_equal_scores(1.0)).order_ranges()
    told = " ".join(done.out.split())
    assert " ".join(one.sentence() for one in of_python.values()) in told
    assert "That of the data: images by their ids, and the detections of an image as in the file." in told
    answer = json.loads(numbers.read_text())
    assert answer["orders"]["AP50"] == {"key": "AP50", "value": 1, "low": 1, "high": 1, "exact": True}
    assert answer["settings"]["protocol"] == "COCO"
    assert answer["notes"] == [f"{found}: the detections have no scores; all count as 1, so their order decides AP"]


def test_scores_that_are_missing_are_refused_where_none_are(tmp_path: Path) -> None:
    truth, found = tmp_path / "gt.json", written(tmp_path, RECORDS)
    write(TRUTH, truth, "coco")
    scored = written(tmp_path, [{**one, "score": 0.5} for one in RECORDS], "scored.json")
    mixed = written(tmp_path, [RECORDS[0], {**RECORDS[1], "score": 0.5}], "mixed.json")
    refused: dict[tuple[Any, ...], str] = {
        (scored, "1"): "the detections have scores, so none are missing",
        (mixed, "1"): "expected a number, found no score, as in 1 of 2 detections",
        (found, "nan"): "score must be finite, got nan",
        (found, "high"): "'high' is not a valid float",
        (found, "1", "--protocol", "unranked"): "and Unranked does not rank",
        (found, "1", "--protocol", "voc2012"): "and VOC2012 has choice='best_of_all' instead of 'best_free'",
        (found, "1", "--like", "torchmetrics", "--max-dets", "5"): "",
        (found, "1", "--memory", "1GB"): "cannot be used with --memory",
    }
    for (path, value, *options), sentence in refused.items():
        done = run_here("eval", truth, path, "--scores-missing", value, *options)
        assert (done.code == 2) == bool(sentence), done.err
        assert sentence in " ".join(done.err.split())


def test_parts_know_that_there_are_no_scores(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    found = written(tmp_path, RECORDS)
    with pytest.raises(DatasetError, match="have no scores, and COCO ranks by scores"):
        scale.evaluate(TRUTH, found)
    whole = evaluate(TRUTH, found)
    assert dict(scale.evaluate(TRUTH, found, "unranked").summary) == pytest.approx(dict(whole.summary), nan_ok=True)
