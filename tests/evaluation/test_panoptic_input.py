"""Panoptic data that is refused: every message names the file, the record and the field."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.evaluation import panoptic_quality
from support.panoptic_files import write_panoptic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CATEGORIES = [{"id": 1, "name": "person", "isthing": 1}, {"id": 2, "name": "sky", "isthing": 0}]
IDS = np.array([[3, 3, 4], [3, 3, 4]])


def segments() -> list[dict[str, Any]]:
    return [{"id": 3, "category_id": 1, "iscrowd": 0, "area": 4}, {"id": 4, "category_id": 2, "iscrowd": 0, "area": 2}]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data = {7: (IDS, segments()), 8: (IDS, segments())}
    return write_panoptic(tmp_path / "gt.json", data, CATEGORIES), write_panoptic(tmp_path / "dt.json", data)


def changed(path: Path, change: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def second(document: Any) -> Any:
    return document["annotations"][1]


CHANGES: dict[str, tuple[str, Callable[[Any], object], str]] = {
    "unknown category": (
        "dt",
        lambda d: second(d)["segments_info"][1].update(category_id=9),
        "annotations[1].segments_info[1].category_id: expected the id of a category, found 9",
    ),
    "category of the ground truth": (
        "gt",
        lambda d: second(d)["segments_info"][0].update(category_id=9),
        "annotations[1].segments_info[0].category_id: expected the id of a category, found 9",
    ),
    "path through a parent": (
        "dt",
        lambda d: second(d).update(file_name="../gt/8.png"),
        "annotations[1].file_name: expected a path inside the folder of the data set, found '../gt/8.png'",
    ),
    "path of its own": (
        "gt",
        lambda d: second(d).update(file_name="/etc/passwd"),
        "annotations[1].file_name: expected a path inside the folder of the data set, found '/etc/passwd'",
    ),
    "no category": (
        "dt",
        lambda d: second(d)["segments_info"][1].pop("category_id"),
        "annotations[1].segments_info[1].category_id: expected an integer, found no such key",
    ),
    "segment without a record": (
        "gt",
        lambda d: second(d)["segments_info"].pop(),
        "annotations[1].segments_info: expected a record of segment 4, which has 2 pixels in FOLDER/8.png, found none",
    ),
    "prediction without a record": (
        "dt",
        lambda d: second(d)["segments_info"].pop(0),
        "annotations[1].segments_info: expected a record of segment 3, which has 4 pixels in FOLDER/8.png, found none",
    ),
    "record without pixels": (
        "dt",
        lambda d: second(d)["segments_info"].append({"id": 5, "category_id": 1}),
        "annotations[1].segments_info[2].id: expected pixels of segment 5 in FOLDER/8.png, found none",
    ),
    "another area": (
        "gt",
        lambda d: second(d)["segments_info"][0].update(area=5),
        "annotations[1].segments_info[0].area: expected 4, the pixels of segment 3 in FOLDER/8.png, found 5; without "
        "the key, they are counted",
    ),
    "an area in words": (
        "gt",
        lambda d: second(d)["segments_info"][0].update(area="4"),
        "annotations[1].segments_info[0].area: expected an integer, found '4'",
    ),
    "an id twice": (
        "gt",
        lambda d: second(d)["segments_info"][1].update(id=3),
        "annotations[1].segments_info[1].id: expected a new id, found 3 again",
    ),
    "the id of void": (
        "gt",
        lambda d: second(d)["segments_info"][1].update(id=0),
        "annotations[1].segments_info[1].id: expected at least 1 (0 is void), found 0",
    ),
    "a crowd of two": (
        "gt",
        lambda d: second(d)["segments_info"][1].update(iscrowd=2),
        "annotations[1].segments_info[1].iscrowd: expected 0 or 1, found 2",
    ),
    "no list of segments": (
        "dt",
        lambda d: second(d).update(segments_info=None),
        "annotations[1].segments_info: expected a list, found None",
    ),
    "a segment that is no object": (
        "dt",
        lambda d: second(d)["segments_info"].append(3),
        "annotations[1].segments_info[2]: expected an object, found 3",
    ),
    "an image twice": (
        "dt",
        lambda d: second(d).update(image_id=7),
        "annotations[1].image_id: image 7 is in annotations[0] already",
    ),
    "no id of the image": (
        "gt",
        lambda d: second(d).pop("image_id"),
        "annotations[1].image_id: expected an integer or a string, found no such key",
    ),
    "no file": ("dt", lambda d: second(d).pop("file_name"), "annotations[1].file_name: expected a string, found no"),
    "an unknown image": (
        "dt",
        lambda d: d["annotations"].append({"image_id": 9, "file_name": "8.png", "segments_info": []}),
        "annotations[2]: image 9 is not in ",
    ),
    "a missing image": (
        "dt",
        lambda d: d["annotations"].pop(),
        "expected a prediction for image 8 (GT: annotations[1]), found none",
    ),
    "a missing file": (
        "dt",
        lambda d: second(d).update(file_name="9.png"),
        "annotations[1].file_name: there is no file FOLDER/9.png",
    ),
    "another size than stated": (
        "gt",
        lambda d: d["images"][1].update(width=4),
        "annotations[1]: expected 4 x 2 pixels as in images, found 3 x 2 in FOLDER/8.png",
    ),
    "no annotations": ("dt", lambda d: d.pop("annotations"), "annotations: expected a list, found no such key"),
    "no object": ("dt", lambda d: d["annotations"].append(1), "annotations[2]: expected an object, found int"),
    "no categories": ("gt", lambda d: d.pop("categories"), "categories: expected a list of categories with id and"),
    "a category twice": (
        "gt",
        lambda d: d["categories"][1].update(id=1),
        "categories[1].id: expected a new id, found 1 again",
    ),
    "neither thing nor stuff": (
        "gt",
        lambda d: d["categories"][1].pop("isthing"),
        "categories[1].isthing: expected 0 or 1, found no such key",
    ),
    "a category that is no object": (
        "gt",
        lambda d: d["categories"].append("car"),
        "categories[2]: expected an object, found 'car'",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_bad_files(change: str, files: tuple[Path, Path]) -> None:
    side, apply, says = CHANGES[change]
    gt, dt = files
    path = gt if side == "gt" else dt
    changed(path, apply)
    says = says.replace("FOLDER", str(path.with_suffix(""))).replace("GT", str(gt))
    for threads in (1, 2):
        with pytest.raises(DatasetError, match=rf"^{re.escape(f'{path}: {says}')}"):
            panoptic_quality(gt, dt, threads=threads)


def test_a_png_of_another_size(files: tuple[Path, Path], tmp_path: Path) -> None:
    gt, dt = files
    changed(dt, lambda d: d.pop("images"))
    larger = write_panoptic(tmp_path / "larger.json", {8: (np.repeat(IDS, 2, axis=1), segments())})
    (tmp_path / "larger" / "8.png").replace(tmp_path / "dt" / "8.png")
    says = f"{dt}: annotations[1]: expected 3 x 2 pixels as in {tmp_path}/gt/8.png, found 6 x 2 in {tmp_path}/dt/8.png"
    with pytest.raises(DatasetError, match=f"^{re.escape(says)}$"):
        panoptic_quality(gt, dt)
    assert larger.exists()


def test_files_that_are_no_png_in_colour(files: tuple[Path, Path]) -> None:
    pil = pytest.importorskip("PIL.Image")
    gt, dt = files
    file = dt.with_suffix("") / "7.png"
    pil.fromarray(IDS.astype(np.uint8)).save(file)
    where = re.escape(f"{dt}: annotations[0].file_name: ")
    with pytest.raises(DatasetError, match=rf"^{where}expected a PNG with 8 bits .* found PNG of mode L in .*7\.png$"):
        panoptic_quality(gt, dt)
    pil.fromarray(np.zeros((2, 3, 3), np.uint8)).save(file, format="JPEG")
    with pytest.raises(DatasetError, match=rf"^{where}expected a PNG .* found JPEG of mode RGB in "):
        panoptic_quality(gt, dt)
    file.write_bytes(b"no image")
    with pytest.raises(DatasetError, match=rf"^{where}.*7\.png cannot be read as a PNG: "):
        panoptic_quality(gt, dt)


def test_files_that_are_no_json(files: tuple[Path, Path], tmp_path: Path) -> None:
    gt, dt = files
    with pytest.raises(FileNotFoundError, match="none"):
        panoptic_quality(gt, tmp_path / "none.json")
    with pytest.raises(DatasetError, match="expected a JSON file, found a folder"):
        panoptic_quality(gt, tmp_path)
    with pytest.raises(
        DatasetError, match=r"there is no folder .*nowhere with its PNG files; name the folder: dt_fold"
    ):
        panoptic_quality(gt, dt, dt_folder=tmp_path / "nowhere")
    dt.write_text("[]")
    with pytest.raises(DatasetError, match=r"dt\.json: expected an object with annotations, found list"):
        panoptic_quality(gt, dt)
    dt.write_text('{"annotations": [')
    with pytest.raises(DatasetError, match=r"dt\.json: expected JSON: .*line 1"):
        panoptic_quality(gt, dt)


def refuse(name: str) -> None:
    raise ModuleNotFoundError(name=name.partition(".")[0])


def test_pillow_is_named_where_it_is_missing(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"PNG files needs PIL: pip install 'ioukit\[shapes\]'"):
        panoptic_quality(*files, threads=1)


GOOD = {7: (IDS, segments())}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({7: (IDS.astype(float), segments())}, r"predictions\[7\]: expected segment ids, .* and dtype float64"),
        ({7: (IDS[0], segments())}, r"predictions\[7\]: expected segment ids, .* shape \(3,\)"),
        ({7: (IDS - 4, segments())}, r"predictions\[7\]: expected segment ids from 0 \(void\) to 4294967295, found -1"),
        ({7: (IDS + 2**32, segments())}, r"predictions\[7\]: expected segment ids from 0 .* found 429496729"),
        ({7: (IDS.T, segments())}, r"predictions\[7\]: expected 3 x 2 pixels as in ground_truth\[7\], found 2 x 3"),
        ({7: IDS}, r"predictions\[7\]: expected \(segment ids, segments_info\), found ndarray"),
        ({7: (IDS, [{"id": "3", "category_id": 1}])}, r"predictions\[7\].segments_info\[0\].id: expected an integer"),
        ({8: GOOD[7]}, r"predictions\[8\]: image 8 is not in ground_truth; images= of panoptic_quality names those"),
        ({}, r"predictions: expected a prediction for image 7 \(ground_truth\[7\]\), found none"),
    ],
)
def test_bad_arrays(data: Any, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        panoptic_quality(GOOD, data, CATEGORIES)


def test_bad_arguments(files: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match="categories are needed where ground_truth is a mapping"):
        panoptic_quality(GOOD, GOOD)
    with pytest.raises(
        DatasetError, match="categories: expected a list of categories with id and isthing, found 'car'"
    ):
        panoptic_quality(GOOD, GOOD, "car")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"predictions must be a path or a mapping of image ids .*, got list"):
        panoptic_quality(GOOD, [GOOD[7]], CATEGORIES)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"image ids must be integers or strings, got 1\.5"):
        panoptic_quality({1.5: GOOD[7]}, GOOD, CATEGORIES)
    with pytest.raises(ValueError, match="gt_folder belongs to a JSON file, and ground_truth is a mapping"):
        panoptic_quality(GOOD, GOOD, CATEGORIES, gt_folder="here")
    with pytest.raises(ValueError, match="no image of ground_truth has the id 9"):
        panoptic_quality(GOOD, GOOD, CATEGORIES, images=[9])
    with pytest.raises(ValueError, match="images names an image twice"):
        panoptic_quality(GOOD, GOOD, CATEGORIES, images=[7, 7])
    with pytest.raises(ValueError, match="threads must be at least 1"):
        panoptic_quality(*files, threads=0)
    mixed = {7: GOOD[7], "a": GOOD[7]}
    with pytest.raises(DatasetError, match="ground_truth: image ids must be all integers or all strings"):
        panoptic_quality(mixed, mixed, CATEGORIES)
