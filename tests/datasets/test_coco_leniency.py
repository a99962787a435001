"""COCO files that other tools write: a byte order mark, records without `iscrowd` or `area`, a detection per line."""

from __future__ import annotations

import copy
import gzip
import itertools
import json
import math
import os
import re
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pycocotools import coco as pycocotools_coco
from pycocotools.cocoeval import COCOeval

import ioukit
from ioukit import datasets
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.regions import Masks
from support.command import run_here
from support.paths import DATA, load, write_coco

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

MARK = b"\xef\xbb\xbf"
VAL2014 = DATA / "coco_val2014_100"
TRUTH: dict[str, Any] = load(VAL2014 / "instances_val2014_100.json")
RESULTS: list[dict[str, Any]] = load(VAL2014 / "instances_val2014_fakebbox100_results.json")


def without(document: dict[str, Any], *keys: str, rows: slice = slice(None)) -> dict[str, Any]:
    """The ground truth, some of whose annotations lack these keys."""
    made = copy.deepcopy(document)
    for annotation in made["annotations"][rows]:
        for key in keys:
            del annotation[key]
    return made


def assert_same_rows(one: ioukit.GroundTruth, other: ioukit.GroundTruth) -> None:
    for name in ("ids", "image_ids", "category_ids", "boxes", "areas", "crowd"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert list(one.flags) == list(other.flags)


@pytest.mark.parametrize("name", ["gt.json", "gt.json.gz"])
def test_a_byte_order_mark_changes_nothing(name: str, tmp_path: Path) -> None:
    plain = json.dumps(TRUTH).encode()
    for content, path in ((plain, tmp_path / f"plain_{name}"), (MARK + plain, tmp_path / name)):
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    marked, expected = (ioukit.GroundTruth.from_coco(tmp_path / file) for file in (name, f"plain_{name}"))
    assert_same_rows(marked, expected)
    assert marked.notes == expected.notes == ()
    assert marked.segmentations is not None
    assert marked.segmentations[5] == TRUTH["annotations"][5]["segmentation"]
    result = tmp_path / "dt.json"
    result.write_bytes(MARK + json.dumps(RESULTS).encode())
    assert len(ioukit.Detections.from_coco(result)) == len(RESULTS)


def test_pycocotools_refuses_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_bytes(MARK + json.dumps(TRUTH).encode())
    with pytest.raises(json.JSONDecodeError, match="BOM"):
        pycocotools_coco.COCO(str(path))
    with pytest.raises(ioukit.DatasetError, match=r"gt\.json: .*byte order mark"):
        ioukit.GroundTruth.from_coco(path, on_invalid="pycocotools")


@pytest.mark.parametrize("in_file", [True, False])
def test_a_missing_crowd_flag_counts_as_0_and_a_missing_area_as_that_of_the_mask(
    *, in_file: bool, tmp_path: Path
) -> None:
    chosen = slice(3, 500, 2)
    lacking = without(TRUTH, "area", "iscrowd", rows=chosen)
    source = write_coco(tmp_path, lacking, [])[0] if in_file else lacking
    gt, full = ioukit.GroundTruth.from_coco(source), ioukit.GroundTruth.from_coco(TRUTH)
    sizes = {image["id"]: (image["height"], image["width"]) for image in TRUTH["images"]}
    for row in range(*chosen.indices(len(gt))):
        height, width = sizes[full.image_ids[row]]
        mask = Masks.from_coco([TRUTH["annotations"][row]["segmentation"]], height=height, width=width)
        assert gt.areas[row] == mask.area[0]
    rest = np.setdiff1d(np.arange(len(gt)), np.arange(len(gt))[chosen])
    assert (gt.areas[rest] == full.areas[rest]).all()
    assert not gt.crowd[chosen].any()
    assert (gt.crowd[rest] == full.crowd[rest]).all()
    assert list(gt.flags) == ["crowd"]
    count = len(range(*chosen.indices(len(gt))))
    assert [note.removeprefix(f"{gt.source}: ") for note in gt.notes] == [
        f"{count} annotations lack iscrowd, which counts as 0",
        f"{count} annotations lack area: that of the mask is used for {count}",
    ]


def test_masks_are_read_only_where_an_area_is_missing(tmp_path: Path) -> None:
    lacking = without(TRUTH, "area", rows=slice(7, 8))
    for annotation in [*lacking["annotations"][:7], *lacking["annotations"][8:]]:
        annotation["segmentation"] = "not a mask"
    gt = ioukit.GroundTruth.from_coco(write_coco(tmp_path, lacking, [])[0])
    assert gt.notes == (f"{gt.source}: 1 annotation lacks area: that of the mask is used for 1",)


@pytest.mark.parametrize("empty", [[], {}, None, ...])
def test_without_a_mask_the_area_is_that_of_the_box(empty: Any, tmp_path: Path) -> None:
    """Also where the size of the image is not known."""
    lacking = without(TRUTH, "area")
    lacking["images"] = [{"id": image["id"]} for image in TRUTH["images"]]
    for annotation in lacking["annotations"]:
        annotation["segmentation"] = empty
        if empty is ...:
            del annotation["segmentation"]
    text = json.dumps(lacking).replace("[]", "[ \n ]")
    for source in (lacking, write_coco(tmp_path, text, [])[0]):
        gt = ioukit.GroundTruth.from_coco(source)
        assert (gt.areas == gt.boxes[:, 2] * gt.boxes[:, 3]).all()
        assert gt.notes == (f"{gt.source}: 839 annotations lack area: that of the box is used for 839",)


def test_a_mask_that_cannot_be_read_is_named_or_dropped(tmp_path: Path) -> None:
    lacking = without(TRUTH, "area", rows=slice(4, 8))
    lacking["annotations"][6]["segmentation"] = [[1, 2]]
    file = write_coco(tmp_path, lacking, [])[0]
    for source in (lacking, file):
        with pytest.raises(ioukit.DatasetError, match=r"annotations\[6\]\.segmentation"):
            ioukit.GroundTruth.from_coco(source)
        gt = ioukit.GroundTruth.from_coco(source, on_invalid="drop")
        assert (len(gt), gt.dropped) == (838, 1)
        assert TRUTH["annotations"][6]["id"] not in gt.ids
        assert "that of the mask is used for 3" in " ".join(gt.notes)
    command = run_here("eval", file, tmp_path / "dt.json")
    assert command.code == 2
    assert command.err.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="named pipes are those of POSIX")
def test_a_pipe_cannot_be_read_again_for_areas(tmp_path: Path) -> None:
    pipe = tmp_path / "gt.json"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=(json.dumps(without(TRUTH, "area")),))
    writer.start()
    with pytest.raises(ioukit.DatasetError, match="found a pipe"):
        ioukit.GroundTruth.from_coco(pipe)
    writer.join()


@pytest.mark.parametrize("key", ["area", "iscrowd"])
@pytest.mark.parametrize("in_file", [True, False])
def test_pycocotools_raises_an_error_and_so_does_its_policy(key: str, *, in_file: bool, tmp_path: Path) -> None:
    lacking = without(TRUTH, key, rows=slice(0, 1))
    gt_path, dt_path = write_coco(tmp_path, lacking, RESULTS)
    theirs = pycocotools_coco.COCO(str(gt_path))
    evaluation = COCOeval(theirs, theirs.loadRes(str(dt_path)), "bbox")
    with pytest.raises(KeyError, match=key):
        evaluation.evaluate()
    with pytest.raises(ioukit.DatasetError, match=rf"annotations\[0\]\.{key}: expected .*, found no such key"):
        ioukit.GroundTruth.from_coco(gt_path if in_file else lacking, on_invalid="pycocotools")


def test_pycocotools_refuses_detections_of_unknown_images_alone(tmp_path: Path) -> None:
    """A category that is not known leaves its detections out; the error names the image, though it comes later."""
    of_category, of_image = {**RESULTS[0], "category_id": 12345}, {**RESULTS[0], "image_id": 424242}

    def found(records: list[Any]) -> ioukit.Evaluation:
        files = write_coco(tmp_path, TRUTH, records)
        return ioukit.evaluate(*ioukit.read_coco(*files, on_invalid="pycocotools"))

    assert found([of_category, *RESULTS]).summary == found(RESULTS).summary
    with pytest.raises(ioukit.DatasetError, match=r"detections\[1\]\.image_id: .*424242"):
        found([of_category, of_image])
    gt_path, dt_path = write_coco(tmp_path, TRUTH, [of_category, of_image])
    with pytest.raises(AssertionError, match="do not correspond to current coco set"):
        pycocotools_coco.COCO(str(gt_path)).loadRes(str(dt_path))


@pytest.mark.parametrize(
    ("score", "box", "named"),
    [(1, 2, r"detections\[1\]\.score"), (2, 1, r"detections\[1\]\.bbox: expected .*, found no such key")],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_the_first_of_two_bad_records_is_named(
    score: int, box: int, named: str, *, in_file: bool, tmp_path: Path
) -> None:
    records = [dict(RESULTS[0]) for _ in range(3)]
    records[score]["score"] = "high"
    del records[box]["bbox"]
    path = write_coco(tmp_path, TRUTH, records)[1]
    with pytest.raises(ioukit.DatasetError, match=named):
        ioukit.Detections.from_coco(path if in_file else records)
    assert len(ioukit.Detections.from_coco(path if in_file else records, on_invalid="drop")) == 1


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_files_and_records_agree(data: st.DataObject, tmp_path: Path) -> None:
    """Annotations lack any of the two fields and have any kind of mask: both readers give the same rows and notes."""
    masks: list[Any] = [..., None, [], [[1, 1, 5, 1, 5, 4]], {"size": [6, 8], "counts": [40, 5, 3]}, [[1, 1]], 3]
    annotations = []
    for number in range(data.draw(st.integers(1, 6))):
        mask = data.draw(st.sampled_from(masks))
        fields = {
            "area": data.draw(st.sampled_from([..., 0, 2.5, None])),
            "iscrowd": data.draw(st.sampled_from([..., 0, 1])),
        }
        record = {"id": number + 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, number, 2.5], **fields}
        annotations.append({key: value for key, value in {**record, "segmentation": mask}.items() if value is not ...})
    truth = {"images": [{"id": 1, "width": 8, "height": 6}], "categories": [{"id": 1}], "annotations": annotations}
    on_invalid: OnInvalid = data.draw(st.sampled_from(["error", "drop", "pycocotools"]))
    assert outcome(truth, on_invalid) == outcome(write_coco(tmp_path, truth, [])[0], on_invalid)


def outcome(source: Any, on_invalid: OnInvalid) -> tuple[Any, ...]:
    """Rows and notes, or record and field of the error."""
    try:
        gt = ioukit.GroundTruth.from_coco(source, on_invalid=on_invalid)
    except ioukit.DatasetError as error:
        named = re.search(r"annotations\[(\d+)\]\.(\w+)", str(error))
        assert named is not None
        return named.groups()
    notes = [note.removeprefix(f"{gt.source}: ") for note in gt.notes]
    return gt.ids.tolist(), gt.areas.tolist(), gt.crowd.tolist(), gt.dropped, notes


LINES = "".join(f"{json.dumps(record)}\n" for record in RESULTS)


@pytest.mark.parametrize("name", ["dt.jsonl", "dt.ndjson", "dt.json", "dt.jsonl.gz", "DT.NDJSON.GZ", "dt.json.gz"])
def test_a_detection_per_line_is_read_as_an_array_is(name: str, tmp_path: Path) -> None:
    expected = ioukit.Detections.from_coco(RESULTS)
    for text in (LINES, LINES.replace("\n", "\r\n\r\n"), LINES.rstrip(), f"\n{LINES}"):
        for mark in (b"", MARK):
            content = mark + text.encode()
            (tmp_path / name).write_bytes(gzip.compress(content) if name.lower().endswith("gz") else content)
            dt = ioukit.datasets.read_detections(tmp_path / name)
            for column in ("image_ids", "category_ids", "boxes", "scores"):
                assert getattr(dt, column).tobytes() == getattr(expected, column).tobytes()


def test_masks_of_lines_are_read_from_the_file(tmp_path: Path) -> None:
    mask = {"size": [480, 640], "counts": [640, 10, 306550]}
    records = [{"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": mask}] * 3
    path = tmp_path / "dt.jsonl"
    path.write_bytes(MARK + "\n".join(map(json.dumps, records)).encode())
    dt = ioukit.Detections.from_coco(path)
    assert dt.areas is not None
    assert (dt.areas.tolist(), dt.boxes.tolist()) == ([10.0] * 3, [[1, 160, 1, 10]] * 3)
    assert dt.segmentations is not None
    assert dt.segmentations[2] == mask


def test_an_empty_file_of_lines_has_no_detections(tmp_path: Path) -> None:
    for text in ("", "\n \n"):
        (tmp_path / "dt.jsonl").write_text(text)
        dt = ioukit.Detections.from_coco(tmp_path / "dt.jsonl")
        assert len(dt) == 0
        assert "no detections" in dt.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"image_id": 1}', r"detections\[0\]\.category_id|detections\[0\]\.bbox"),
        (f"{LINES}[1, 2]\n", rf"detections\[{len(RESULTS)}\]: expected an object"),
        (f"{LINES}null", rf"detections\[{len(RESULTS)}\]: expected an object"),
        (LINES.replace("\n", ",\n", 1), r"detections\[1\]: not valid JSON at byte \d+: expected a line break"),
        (LINES[:-20], r"not valid JSON at byte \d+: .*truncated"),
        (LINES.replace("}\n", "} ", 1), "expected a line break"),
        (LINES + "[" * 10_000, "nested more than"),
        (LINES.replace("0.", "NaN", 1), "NaN|not valid JSON"),
    ],
)
def test_bad_lines_are_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "dt.jsonl").write_text(text)
    with pytest.raises(ioukit.DatasetError, match=message):
        ioukit.Detections.from_coco(tmp_path / "dt.jsonl")
    command = run_here("eval", VAL2014 / "instances_val2014_100.json", tmp_path / "dt.jsonl")
    assert (command.code, command.out, command.err.count("\n")) == (2, "", 1)


def test_an_array_under_the_name_of_lines_is_read(tmp_path: Path) -> None:
    (tmp_path / "dt.jsonl").write_text(json.dumps(RESULTS))
    assert len(ioukit.Detections.from_coco(tmp_path / "dt.jsonl")) == len(RESULTS)


def test_ground_truth_per_line_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "gt.jsonl"
    path.write_text("".join(f"{json.dumps(a)}\n" for a in TRUTH["annotations"]))
    with pytest.raises(ioukit.DatasetError, match="do not list images and categories"):
        ioukit.GroundTruth.from_coco(path)


def test_notes_are_shown_by_the_command(tmp_path: Path) -> None:
    files = write_coco(tmp_path, without(TRUTH, "iscrowd"), RESULTS)
    assert "note " in run_here("eval", *files).err
    assert "839 annotations lack iscrowd, which counts as 0" in run_here("eval", *files).err


def test_a_data_set_whose_annotations_have_scores_is_read_as_detections(tmp_path: Path) -> None:
    cats = DATA / "toy_cats"
    gt = datasets.read(cats / "gts_coco_format" / "toy_example_coco.JSON")
    dt = datasets.read_detections(cats / "dets_coco_format" / "coco_dets.json")
    records = json.loads((cats / "dets_coco_format" / "coco_dets.json").read_text())["annotations"]
    assert dt.boxes.tolist() == [record["bbox"] for record in records]
    assert dt.scores.tolist() == [record["score"] for record in records]
    assert "a data set whose annotations have scores" in dt.notes[0]
    assert str(ioukit.evaluate(gt, dt)) == str(ioukit.evaluate(gt, ioukit.Detections.from_coco(records)))
    del records[3]["score"]
    (tmp_path / "dt.json").write_text(json.dumps({"images": [], "annotations": records, "categories": []}))
    with pytest.raises(
        ioukit.DatasetError, match=r"dt\.json: detections\[3\]\.score: expected a number, found no such key"
    ):
        datasets.read_detections(tmp_path / "dt.json")
    with pytest.raises(ioukit.DatasetError, match="expected an array of detections"):
        datasets.read_detections(cats / "gts_coco_format" / "toy_example_coco.JSON")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("where", ["bbox", "score", "area"])
def test_a_number_that_is_not_finite_is_treated_as_in_python_records(value: str, where: str, tmp_path: Path) -> None:
    """Python's `json` writes such numbers, and they are in the results of a training that diverged."""
    truth, results = copy.deepcopy(TRUTH), copy.deepcopy(RESULTS)
    record = truth["annotations"][3] if where == "area" else results[3]
    record[where] = [1.0, 2.0, float(value), 4.0] if where == "bbox" else float(value)
    files = write_coco(tmp_path, truth, results)
    assert value in (files[0] if where == "area" else files[1]).read_text()
    for source in (files, (truth, results)):
        gt, dt = ioukit.read_coco(*source, on_invalid="drop")
        assert (gt.dropped, dt.dropped) == ((1, 0) if where == "area" else (0, 1))
        assert (len(gt), len(dt)) == (len(TRUTH["annotations"]) - gt.dropped, len(RESULTS) - dt.dropped)
        for policy in ("error", "pycocotools"):
            with pytest.raises(ioukit.DatasetError, match=rf"\[3\]\.{where}: expected .* found .*(nan|NaN|inf|Inf)"):
                ioukit.read_coco(*source, on_invalid=policy)
    command = run_here("eval", *files, "--on-invalid", "drop")
    assert command.code == 0
    assert "1 " in command.err


def test_a_number_that_is_not_finite_does_not_matter_where_nobody_looks(tmp_path: Path) -> None:
    marked = copy.deepcopy(TRUTH)
    marked["info"] = {"loss": math.nan, "range": [-math.inf, math.inf]}
    for annotation in marked["annotations"]:
        annotation["confidence"] = math.nan
    files = write_coco(tmp_path, marked, RESULTS)
    assert ioukit.evaluate(*ioukit.read_coco(*files)).summary == ioukit.evaluate(TRUTH, RESULTS).summary


@pytest.mark.parametrize("in_file", [True, False])
def test_pycocotools_takes_many_values_for_a_crowd(*, in_file: bool, tmp_path: Path) -> None:
    marked = copy.deepcopy(TRUTH)
    for annotation, value in zip(marked["annotations"][::3], itertools.cycle((2, "1", " 7 ", 2.5, 255, True, 1.0, 0))):
        annotation["iscrowd"] = value
    files = write_coco(tmp_path, marked, RESULTS)
    theirs = pycocotools_coco.COCO(str(files[0]))
    evaluation = COCOeval(theirs, theirs.loadRes(str(files[1])), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    ours = ioukit.read_coco(*(files if in_file else (marked, RESULTS)), on_invalid="pycocotools")
    assert list(ioukit.evaluate(*ours).summary.values()) == evaluation.stats.tolist()


@pytest.mark.parametrize("value", [256, -1, "0", 0.5, "yes", "", None, [], math.nan])
def test_what_is_a_crowd_in_one_place_of_pycocotools_alone_is_refused(value: Any, tmp_path: Path) -> None:
    marked = copy.deepcopy(TRUTH)
    marked["annotations"][2]["iscrowd"] = value
    for source in (marked, write_coco(tmp_path, marked, [])[0]):
        with pytest.raises(ioukit.DatasetError, match=r"annotations\[2\]\.iscrowd: expected 0 or 1"):
            ioukit.GroundTruth.from_coco(source, on_invalid="pycocotools")


@pytest.mark.parametrize("in_file", [True, False])
def test_the_last_of_repeated_keys_counts_as_in_python(*, in_file: bool, tmp_path: Path) -> None:
    twice = json.dumps(TRUTH).replace('"iscrowd": 0', '"iscrowd": 1, "iscrowd": 0')
    twice = '{"annotations": [], ' + twice[1:]
    gt = ioukit.GroundTruth.from_coco(write_coco(tmp_path, twice, [])[0] if in_file else json.loads(twice))
    assert_same_rows(gt, ioukit.GroundTruth.from_coco(TRUTH))


def test_keypoints_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    points = [{**RESULTS[0], "keypoints": [1.0, 2.0, 2.0, value, 4.0, 2.0]} for value in (3.0, math.nan)]
    for source in (points, write_coco(tmp_path, TRUTH, points)[1]):
        with pytest.raises(ioukit.DatasetError, match=r"detections\[1\]\.keypoints: expected numbers"):
            decode_keypoints(
                ioukit.Detections.from_coco(source).regions["keypoints"], source="dt.json", array="detections"
            )
