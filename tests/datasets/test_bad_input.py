"""A bad file ends in one message that names file and record, what was expected and what came, and in exit code 2."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from support.command import run_fresh, run_here
from support.paths import write_coco
from support.plain_reader import read_plainly

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

GT: dict[str, Any] = {
    "images": [{"id": 1, "width": 640, "height": 480}, {"id": 2, "width": 640, "height": 480}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [
        {"id": 7, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100, "iscrowd": 0},
        {"id": 8, "image_id": 2, "category_id": 1, "bbox": [5, 5, 20, 10], "area": 200, "iscrowd": 0},
    ],
}
DT: list[dict[str, Any]] = [
    {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9},
    {"image_id": 2, "category_id": 1, "bbox": [5, 5, 20, 10], "score": 0.8},
]


def gt_with(array: str, record: int, **changes: Any) -> str:
    """The ground truth with a changed record; a value of `...` removes the key. A text stands as it is."""
    return json_with({**GT, array: changed(GT[array], record, changes)}, changes)


def dt_with(record: int, **changes: Any) -> str:
    return json_with(changed(DT, record, changes), changes)


def changed(records: list[dict[str, Any]], at: int, changes: dict[str, Any]) -> list[dict[str, Any]]:
    record = {**records[at], **{key: f"<{key}>" if isinstance(value, Raw) else value for key, value in changes.items()}}
    return [*records[:at], {key: value for key, value in record.items() if value is not ...}, *records[at + 1 :]]


class Raw(str):
    """JSON text that Python's `json` would not write."""

    __slots__ = ()


def json_with(document: Any, changes: dict[str, Any]) -> str:
    text = json.dumps(document)
    for key, value in changes.items():
        if isinstance(value, Raw):
            text = text.replace(f'"<{key}>"', value)
    return text


Bad = tuple[str | bytes | None, str | bytes | None, str]  # ground truth and detections (None: good ones), the message


def bad_gt(content: str | bytes, says: str) -> Bad:
    """A ground truth that is refused; `...` in `says` stands for anything."""
    return content, None, f"gt.json: {says}"


def bad_dt(content: str | bytes, says: str) -> Bad:
    return None, content, f"dt.json: {says}"


def pattern(says: str) -> str:
    return ".*".join(map(re.escape, says.split("...")))


GT_TEXT, DT_TEXT = json.dumps(GT), json.dumps(DT)
DEEP = "[" * 1_000 + "]" * 1_000

BAD_TEXT = {
    "empty ground truth file": bad_gt(b"", "expected JSON...found an empty file"),
    "empty detections file": bad_dt(b"", "expected JSON...found an empty file"),
    "white space alone": bad_gt(" \n", "expected an object"),
    "truncated ground truth": bad_gt(GT_TEXT[:-30], "annotations[1]...byte...truncated"),
    "truncated detections": bad_dt(DT_TEXT[:-30], "detections[1]...byte...truncated"),
    "truncated behind the last record": bad_dt(DT_TEXT[:-1], "...byte...truncated"),
    "trailing garbage": bad_gt(GT_TEXT + "x", "expected the end"),
    "two documents": bad_dt(f"{DT_TEXT}\n{DT_TEXT}", "expected the end"),
    "results on one line": bad_dt(" ".join(map(json.dumps, DT)), "expected an array...an object with the key"),
    "results per line with commas": bad_dt(
        ",\n".join(map(json.dumps, DT)), "expected an array...an object with the key"
    ),
    "a record of ground truth per line": bad_gt("\n".join(map(json.dumps, DT)), "expected the end...JSON Lines"),
    "two byte order marks": bad_gt(b"\xef\xbb\xbf" * 2 + GT_TEXT.encode(), "expected an object"),
    "byte order mark alone": bad_dt(b"\xef\xbb\xbf", "expected an array"),
    "UTF-16": bad_dt(DT_TEXT.encode("utf-16"), "...UTF-16"),
    "UTF-16 without mark": bad_gt(GT_TEXT.encode("utf-16-le"), "...UTF-16"),
    "Latin-1": bad_gt(GT_TEXT.replace('"cat"', '"chaton né"').encode("latin-1"), "categories[0]...not UTF-8"),
    "gzip under another name": bad_gt(gzip.compress(GT_TEXT.encode()), "...gzip"),
    "comment": bad_gt(GT_TEXT.replace("[", "[ // all\n", 1), "images...byte"),
    "comma behind the last": bad_dt(DT_TEXT[:-1] + ",]", "detections...byte"),
    "single quotes": bad_dt(DT_TEXT.replace('"', "'"), "detections[0]...byte...expected a key"),
    "NaN": bad_dt(dt_with(1, score=Raw("NaN")), "detections[1].score: ...NaN"),
    "Infinity": bad_gt(gt_with("annotations", 1, area=Raw("Infinity")), "annotations[1].area: ...Infinity"),
    "-Infinity": bad_dt(dt_with(0, bbox=Raw("[0, 0, 1, -Infinity]")), "detections[0].bbox: ...-Infinity"),
    "NaN as an id": bad_gt(gt_with("images", 0, id=Raw("NaN")), "images[0].id: expected an integer, found NaN"),
    "NaN with a sign": bad_gt(gt_with("images", 0, note=Raw("[-NaN]")), "images[0].note: ...expected a digit"),
}
BAD_DOCUMENT = {
    "detections as ground truth": bad_gt(DT_TEXT, "expected an object...found an array...swapped"),
    "ground truth as detections": bad_dt(GT_TEXT, "expected an array...found an object with images or annotations"),
    "empty object as detections": bad_dt("{}", "expected an array of detections, found an empty object"),
    "empty object as ground truth": bad_gt("{}", "images: expected an array, found no such key"),
    "empty list as ground truth": bad_gt("[]", "expected an object"),
    "number as ground truth": bad_gt("7", "expected an object"),
    "null as detections": bad_dt("null", "expected an array"),
    "no images": bad_gt(json.dumps({k: v for k, v in GT.items() if k != "images"}), "images: ...no such key"),
    "no categories": bad_gt(json.dumps({k: v for k, v in GT.items() if k != "categories"}), "categories: ...no such"),
    "no annotations": bad_gt(
        json.dumps({k: v for k, v in GT.items() if k != "annotations"}), "annotations: ...no such"
    ),
    "annotations as an object": bad_gt(json.dumps({**GT, "annotations": {}}), "annotations: expected an array"),
    "annotation as a number": bad_gt(json.dumps({**GT, "annotations": [3]}), "annotations[0]: expected an object"),
    "detection as a list": bad_dt("[[1, 1, [0, 0, 1, 1], 0.5]]", "detections[0]: expected an object"),
    "a thousand levels": bad_gt(DEEP, "expected an object"),
    "a thousand levels in a value": bad_gt(gt_with("images", 1, info=Raw(DEEP)), "images[1]...nested more than"),
    "a million levels": bad_dt("[" * 1_000_000, "detections[0]...nested more than"),
    "a million levels in a value": bad_dt(
        '[{"segmentation": ' + '{"a":[' * 500_000 + "]}" * 500_000 + "}]", "detections[0]...nested more than"
    ),
}
MISSING_KEY = {
    **{
        f"{array[:-1]} without {key}": bad_gt(gt_with(array, at, **{key: ...}), f"{array}[{at}].{key}: ...no such key")
        for array, at, keys in [
            ("images", 1, ["id"]),
            ("categories", 0, ["id"]),
            ("annotations", 1, ["id", "image_id", "category_id", "bbox"]),
        ]
        for key in keys
    },
    **{
        f"detection without {key}": bad_dt(dt_with(1, **{key: ...}), f"detections[1].{key}: ...no such key")
        for key in ["image_id", "category_id", "bbox"]
    },
    # Where no detection has a score, they are counted instead.
    "one detection without score": bad_dt(
        dt_with(1, score=...), "detections[1].score: expected a number, found no score, as in 1 of 2 detections"
    ),
}
BAD_VALUE = {
    "string as score": bad_dt(
        dt_with(1, score="0.8"), 'detections[1].score: expected a number, found the string "0.8"'
    ),
    "string in a box": bad_dt(dt_with(0, bbox=["0", 0, 1, 1]), 'detections[0].bbox: expected 4 numbers...string "0"'),
    "string as id": bad_gt(gt_with("annotations", 0, id="7"), 'annotations[0].id: expected an integer...string "7"'),
    "null as box": bad_gt(gt_with("annotations", 1, bbox=None), "annotations[1].bbox: expected 4 numbers...null"),
    "true as score": bad_dt(dt_with(0, score=True), "detections[0].score: expected a number, found true"),
    "id with a fraction": bad_gt(gt_with("images", 0, id=1.5), "images[0].id: expected an integer, found...1.5"),
    "crowd of 2": bad_gt(gt_with("annotations", 0, iscrowd=2), "annotations[0].iscrowd: expected 0 or 1, found...2"),
    "three numbers": bad_dt(dt_with(1, bbox=[1, 2, 3]), "detections[1].bbox: expected 4 numbers...found 3"),
    "five numbers": bad_gt(gt_with("annotations", 0, bbox=[1] * 5), "annotations[0].bbox: expected 4...found 5"),
    "negative width": bad_gt(gt_with("annotations", 1, bbox=[0, 0, -1, 5]), "annotations[1].bbox: ...at least 0...-1"),
    "negative height": bad_dt(dt_with(0, bbox=[0, 0, 1, -5]), "detections[0].bbox: ...at least 0...-5"),
    "negative area": bad_gt(gt_with("annotations", 0, area=-1), "annotations[0].area: ...at least 0...-1"),
    "1e308": bad_dt(dt_with(0, bbox=[1e308, 0, 1, 1]), "detections[0].bbox: ...2**53...1e308"),
    "1e999": bad_dt(dt_with(0, bbox=Raw("[0, 1e999, 1, 1]")), "detections[0].bbox: ...beyond the largest double"),
    "score of 1e999": bad_dt(dt_with(0, score=Raw("1e999")), "detections[0].score: ...beyond the largest double"),
    "id beyond 64 bits": bad_gt(gt_with("annotations", 1, id=2**63), "annotations[1].id: ...beyond 64 bits"),
    "id far beyond": bad_dt(dt_with(0, image_id=10**30), "detections[0].image_id: ...beyond 64 bits"),
}
BAD_REFERENCE = {
    "unknown image": bad_dt(dt_with(1, image_id=3), "detections[1].image_id: ...image of the ground truth, found 3"),
    "unknown category": bad_dt(dt_with(1, category_id=9), "detections[1].category_id: ...category...found 9"),
    "annotation of no image": bad_gt(gt_with("annotations", 1, image_id=3), "annotations[1].image_id: ...found 3"),
    "annotation of no category": bad_gt(gt_with("annotations", 0, category_id=0), "annotations[0].category_id: ...0"),
    "annotation id twice": bad_gt(gt_with("annotations", 1, id=7), "annotations[1].id: ...7 again...annotations[0]"),
    "image id twice": bad_gt(gt_with("images", 1, id=1), "images[1].id: ...1 again"),
    "category id twice": bad_gt(json.dumps({**GT, "categories": GT["categories"] * 2}), "categories[1].id: ...1 again"),
}
BAD = {**BAD_TEXT, **BAD_DOCUMENT, **MISSING_KEY, **BAD_VALUE, **BAD_REFERENCE}


UNKNOWN = ("unknown image", "unknown category")


def assert_refused(files: tuple[Path, Path], message: str, offer: str = "") -> None:
    """Both faces refuse the files, with the same single message; the command may add an offer."""
    with pytest.raises((ioukit.DatasetError, OSError), match=pattern(message)) as refused:
        ioukit.read_coco(*files)
    command = run_here("eval", *files)
    assert (command.code, command.out) == (2, "")
    said = str(refused.value)
    if isinstance(refused.value, FileNotFoundError):
        said = f"{refused.value.filename}: there is no such file or folder"
    assert command.err == f"Error: {said}{offer}\n"
    assert len(command.err) < 400 + 2 * len(str(files))


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused(name: str, tmp_path: Path) -> None:
    gt, dt, message = BAD[name]
    files = write_coco(tmp_path, GT if gt is None else gt, DT if dt is None else dt)
    offer = (
        f"; ioukit check {files[0]} {files[1]} looks for the reason"
        if name in ("unknown image", "unknown category")
        else ""
    )
    assert_refused(files, message, offer)


def test_the_good_files_are_good(tmp_path: Path) -> None:
    result = ioukit.evaluate(*ioukit.read_coco(*write_coco(tmp_path, GT, DT)))
    assert result.summary["AR100"] == 1.0


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    gt, dt = write_coco(tmp_path, GT, DT)
    message = "No such file or directory: "
    far, near = tmp_path / "none.txt", tmp_path / "dt.jsn"
    assert_refused((gt, far), f"{message}{str(far)!r}")
    assert_refused((gt, near), f"{message}{str(near)!r}", f"; did you mean {str(dt)!r} or {str(gt)!r}?")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    _, dt = write_coco(tmp_path, GT, DT)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(ioukit.DatasetError, match=r"folder\.json: expected a file, found a folder"):
        ioukit.read_coco(tmp_path / "folder.json", dt)
    # The command finds the format first, and a data set may be a folder.
    command = run_here("eval", tmp_path / "folder.json", dt)
    assert (command.code, command.out) == (2, "")
    assert command.err.startswith(
        f"Error: {tmp_path / 'folder.json'}: not a format that can be read: it is empty; the formats are coco, "
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GT_TEXT.encode(), "gt.json.gz: ...expected a gzip file"),
        (gzip.compress(GT_TEXT.encode())[:-9], "gt.json.gz: ...ends too early"),
        (
            gzip.compress(GT_TEXT.encode())[:40] + b"\xff\xff\xff" + gzip.compress(GT_TEXT.encode())[43:],
            "gt.json.gz: ...damaged",
        ),
        (b"\x1f\x8b", "gt.json.gz: ...gzip"),
    ],
    ids=["not gzip", "truncated", "damaged", "header alone"],
)
def test_bad_gzip_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    _, dt = write_coco(tmp_path, GT, DT)
    (tmp_path / "gt.json.gz").write_bytes(content)
    assert_refused((tmp_path / "gt.json.gz", dt), message)


def test_gzip_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    _, dt = write_coco(tmp_path, GT, DT)
    path, spaces = tmp_path / "gt.json.gz", gzip.compress(b" " * (1 << 20))
    path.write_bytes(gzip.compress(GT_TEXT.encode()) + spaces)  # 500 times its size, and yet small
    assert len(ioukit.read_coco(path, dt)[0]) == 2
    path.write_bytes(gzip.compress(GT_TEXT.encode()) + spaces * 101)
    assert_refused((path, dt), f"gt.json.gz: ...at most 100 times its {path.stat().st_size} bytes, found more")


def test_gzip_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "gt.json.gz").write_bytes(gzip.compress(GT_TEXT.encode()))
    # Two members, one behind the other, are one file (`cat a.gz b.gz`).
    (tmp_path / "dt.JSON.GZ").write_bytes(gzip.compress(DT_TEXT[:20].encode()) + gzip.compress(DT_TEXT[20:].encode()))
    gt, dt = ioukit.read_coco(tmp_path / "gt.json.gz", tmp_path / "dt.JSON.GZ")
    assert (len(gt), len(dt)) == (2, 2)


def test_no_detections_are_a_result(tmp_path: Path) -> None:
    files = write_coco(tmp_path, GT, [])
    gt, dt = ioukit.read_coco(*files)
    summary = ioukit.evaluate(gt, dt).summary
    assert (summary["AP"], summary["AR100"]) == (0.0, 0.0)
    assert any("no detections" in note for note in dt.notes)
    command = run_here("eval", *files)
    assert command.code == 0
    assert command.out.startswith(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.000\n")
    assert "no detections" in command.err


def test_the_last_of_repeated_keys_counts(tmp_path: Path) -> None:
    first = json.dumps({**GT, "annotations": [{"id": "bad"}]})[:-1]
    text = f"{first}, {GT_TEXT[1:]}"
    gt, _ = ioukit.read_coco(*write_coco(tmp_path, text, DT))
    expected = read_plainly(text.encode(), DT_TEXT.encode())
    assert gt.ids.tolist() == [a[0] for a in expected.annotations] == [7, 8]


def test_drop_leaves_bad_records_out_and_counts_them(tmp_path: Path) -> None:
    gt = {**GT, "annotations": [*GT["annotations"], {"id": 9}, 5, {**GT["annotations"][0], "image_id": 99}]}
    dt = [*DT, {**DT[0], "bbox": [1, 2]}, {**DT[0], "image_id": 99}, {**DT[0], "category_id": 99}]
    ours = ioukit.read_coco(*write_coco(tmp_path, gt, dt), on_invalid="drop")
    assert [(len(data), data.dropped) for data in ours] == [(2, 3), (2, 3)]
    assert ioukit.evaluate(*ours).summary["AR100"] == 1.0


@pytest.mark.parametrize("on_invalid", ["error", "drop", "pycocotools"])
def test_text_that_is_not_json_is_refused_whatever_happens_to_records(on_invalid: OnInvalid, tmp_path: Path) -> None:
    with pytest.raises(ioukit.DatasetError, match=r"dt\.json: .*truncated"):
        ioukit.read_coco(*write_coco(tmp_path, GT, DT_TEXT[:-30]), on_invalid=on_invalid)


def test_no_traceback_in_a_process_of_its_own(tmp_path: Path) -> None:
    """What the command does under pytest could differ from what a shell sees; a crash would end pytest as well."""
    files = write_coco(tmp_path, GT, '[{"a":' + "[" * 3_000_000)
    command = run_fresh("eval", *files)
    assert (command.code, command.out) == (2, "")
    assert command.err.startswith(f"Error: {files[1]}: ")
    assert command.err.count("\n") == 1
