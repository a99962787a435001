"""Ground truth of every format with detections of every format: the right number, or one sentence that says why not."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, Detections, GroundTruth, datasets, evaluate
from ioukit.datasets import FORMATS
from support.command import run_here
from support.mixed_formats import data_set, pictures, read_ground_truth, write_detections, write_ground_truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOLERANCE = 1e-9
"""Fractions of an image (YOLO, Open Images) come back with an error of the last bits, which moves no IoU over a
threshold here."""

_OF_MASKS = {"burst", "davis", "mots", "youtube-vis"}  # without boxes
GROUND_TRUTH = [name for name, known in FORMATS.items() if known.read is not None and name not in _OF_MASKS]
DETECTIONS = [name for name, known in FORMATS.items() if known.write_detections is not None]

WITHOUT_CROWD = frozenset(
    {"voc", "createml", "kitti", "nuscenes", "open-images", "dota", "mot", "padilla", "yolo", "labelme-xml"}
)
"""Formats that have no crowds; in LVIS, they are ignored."""
WITHOUT_SIZES = frozenset({"createml", "dota", "icdar2015", "kitti", "mot", "nuscenes", "padilla", "wider-face"})
"""Formats of ground truth that do not have the sizes of images. CrowdHuman has them, and no names of files."""
NAMES_OF_CLASSES = frozenset({"voc", "createml", "scalabel", "kitti", "open-images", "dota", "padilla"})
"""Formats of detections that have the names of classes, and no ids."""
ONE_CLASS = frozenset({"crowdhuman", "icdar2015", "wider-face"})
"""Formats with one class: persons, texts, or faces."""


REFUSED: tuple[tuple[Callable[[str, str, int], bool], str], ...] = (
    (
        lambda _, dt, classes: dt == "wider-face" and classes > 1,
        "expected a ground truth with one class, or with the class face, found 3 classes",
    ),
    (
        lambda gt, dt, _: gt in ("icdar2015", "wider-face") and dt in NAMES_OF_CLASSES,
        "expected one of (the 1 classes|face|text)",  # detections of the class person
    ),
    (lambda gt, dt, _: gt in {*WITHOUT_SIZES, "open-images"} and dt == "yolo", "expected .* a width and a height"),
    (
        lambda gt, dt, _: gt == "open-images" and dt != "open-images",
        "boxes are pixels, and those of .* are fractions of the image: give the folder of the images",
    ),
    (
        lambda gt, dt, _: gt in WITHOUT_SIZES and dt == "open-images",
        "boxes are fractions of the image, and the size of image .* is not known",
    ),
    (
        lambda gt, dt, classes: gt == "yolo" and (dt in {"coco", "lvis"} or (dt == "mot" and classes > 1)),
        "categor|class",  # YOLO's classes are numbered from 0
    ),
)
"""Which pairs have no number, and the sentence that says why: all others have the right one."""


def reason(gt: str, dt: str, classes: int) -> str | None:
    """The sentence with which a pair is refused; ``None`` if it has a number."""
    return next((text for is_refused, text in REFUSED if is_refused(gt, dt, classes)), None)


def lacks_crowds(gt: GroundTruth) -> GroundTruth:
    """The ground truth as formats without crowds have it: a crowd is an object like others."""
    return dataclasses.replace(gt, flags={})


def ap(gt: GroundTruth, dt: Detections) -> float:
    return float(evaluate(gt, dt).summary["AP"])


def of_persons(gt: GroundTruth, dt: Detections) -> Detections:
    """What CrowdHuman's files hold of detections."""
    return dt.filter(categories=gt.categories.ids[gt.categories.positions(["person"])].tolist())


@pytest.mark.parametrize("classes", [("cat", "dog", "person"), ("person",)], ids=["three", "one"])
def test_any_two_formats_give_the_right_number_or_a_sentence(classes: tuple[str, ...], tmp_path: Path) -> None:
    gt, dt = data_set(classes, crowd=True)
    places = {name: write_detections(dt, gt, name, tmp_path) for name in DETECTIONS if name != "wider-face"}
    if len(classes) > 1:
        with pytest.raises(DatasetError, match=f"^detections: {reason('coco', 'wider-face', len(classes))}$"):
            write_detections(dt, gt, "wider-face", tmp_path)
    # Files with faces do not say classes: they are the same for a ground truth with one.
    one, faces = data_set(classes[-1:], crowd=True)
    places["wider-face"] = write_detections(faces, one, "wider-face", tmp_path)
    wrong = []
    for first in GROUND_TRUTH:
        if len(classes) > 1 and first in ONE_CLASS:
            continue
        read = read_ground_truth(write_ground_truth(gt, first, tmp_path), first, gt)
        held = lacks_crowds(gt) if first in {*WITHOUT_CROWD, *ONE_CLASS} else gt
        held = dataclasses.replace(gt, flags={"ignore": gt.crowd}) if first == "lvis" else held
        for second, place in places.items():
            expected = reason(first, second, len(classes))
            found: float | str
            try:
                found = ap(read, datasets.read_detections(place, ground_truth=read))
            except DatasetError as error:
                found = str(error)
            if expected is None:
                whole = ap(held, of_persons(gt, dt) if second == "crowdhuman" else dt)
                good = isinstance(found, float) and abs(found - whole) <= TOLERANCE
                wrong += [] if good else [f"{first} x {second}: expected {whole}, found {found}"]
            else:
                good = isinstance(found, str) and bool(re.search(expected, found)) and "\n" not in found
                wrong += [] if good else [f"{first} x {second}: expected {expected!r}, found {found!r}"]
    assert not wrong, "\n".join(wrong)


KEEPS_IDS = frozenset({"coco", "coco-panoptic", "roboflow-coco", "lvis", "csv", "parquet", "arrow", "mot"})
"""Formats that keep the ids of images; MOTChallenge's frames are numbered in the order of the ids."""


def test_ids_of_a_file_never_meet_ids_that_a_reader_made_up(tmp_path: Path) -> None:
    """YOLO's reader would number these images 0, 1, 2 by name; the results mean others by these numbers."""
    gt, dt = data_set(("cat", "dog", "person"), stems=("a", "b", "c"), ids=(2, 3, 1))
    results = write_detections(dt, gt, "coco", tmp_path)
    for name in sorted({*GROUND_TRUTH} - ONE_CLASS - {"open-images"}):
        read = read_ground_truth(write_ground_truth(gt, name, tmp_path), name, gt)
        # Category ids are not the question here: YOLO's begin at 0.
        moved = dataclasses.replace(
            Detections.from_coco(results), category_ids=dt.category_ids - (1 if name == "yolo" else 0)
        )
        if name in KEEPS_IDS:
            assert ap(read, moved) == ap(gt, dt), name
        else:
            with pytest.raises(
                DatasetError, match=r"image_id: expected the id or the file name of an image .* found [123]"
            ):
                evaluate(read, moved)
            with pytest.raises(DatasetError, match=r"image_id: expected the id or the file name"):
                moved.known_to(read)


def test_ids_in_memory_are_those_that_the_reader_gave(tmp_path: Path) -> None:
    gt, dt = data_set(("cat", "dog", "person"), stems=("a", "b", "c"), ids=(2, 3, 1))
    read = read_ground_truth(write_ground_truth(gt, "yolo", tmp_path), "yolo", gt)
    ours = Detections.from_arrays(
        image_ids=np.array([0, 0, 1, 2, 2]), category_ids=dt.category_ids - 1, boxes=dt.boxes, scores=dt.scores
    )
    assert ap(read, ours) == pytest.approx(ap(gt, dt), abs=TOLERANCE)


@pytest.mark.parametrize(
    ("named", "ids"),
    [
        ([123, 7, 5], [123, 7, 5]),  # by id
        (["000123.jpg", "000007.jpg", "000005.jpg"], [123, 7, 5]),  # by name
        (["x/000123", "000007", "5"], [123, 7, 5]),  # by stem, by number
        (["123", "0007", "5.png"], [123, 7, 5]),
    ],
)
def test_images_meet_by_id_then_name_then_stem(named: list[int | str], ids: list[int]) -> None:
    gt, _ = data_set(("cat", "dog", "person"))
    given = Detections.from_arrays(image_ids=named, category_ids=[1] * 3, boxes=[[0, 0, 8, 8]] * 3, scores=[1] * 3)
    assert given.known_to(gt).image_ids.tolist() == ids
    said = [note for note in given.meeting(gt).notes if "image ids are names of images" in note]
    assert len(said) == (0 if named == ids else 1)


def test_names_are_asked_only_if_not_all_ids_are_known() -> None:
    """5 is an id and the name of another file: if all ids are known, they are ids; else all of them are names."""
    gt = GroundTruth.from_arrays(
        image_ids=[5], category_ids=[1], boxes=[[0, 0, 8, 8]], images=[5, 6], names=["000009.jpg", "000005.jpg"]
    )

    def met(*images: int) -> list[int]:
        rows = len(images)
        given: dict[str, Any] = {"category_ids": [1] * rows, "boxes": [[0, 0, 8, 8]] * rows, "scores": [1] * rows}
        ids: list[int] = Detections.from_arrays(image_ids=images, **given).known_to(gt).image_ids.tolist()
        return ids

    assert met(5, 6) == [5, 6]
    assert met(5, 9) == [6, 5]
    with pytest.raises(DatasetError, match="expected the id of an image of the ground truth, found 10"):
        met(5, 10)


def test_dropping_leaves_out_images_without_a_name() -> None:
    gt, _ = data_set(("cat", "dog", "person"))
    given = Detections.from_arrays(
        image_ids=["000123", "other", "000005"], category_ids=[1] * 3, boxes=[[0, 0, 8, 8]] * 3, scores=[1] * 3
    )
    with pytest.raises(
        DatasetError, match=r"detections\[1\]\.image_id: expected the id or the file name .* found 'other'"
    ):
        given.known_to(gt)
    kept = given.known_to(gt, on_invalid="drop")
    assert (kept.image_ids.tolist(), kept.dropped) == ([123, 5], 1)


@pytest.mark.parametrize("name", ["open-images", "yolo"])
def test_a_folder_of_images_gives_the_sizes(name: str, tmp_path: Path) -> None:
    gt, dt = data_set(("cat", "dog", "person"))
    images = pictures(gt, tmp_path / "photographs")
    place = write_ground_truth(gt, name, tmp_path)
    if name == "yolo":
        place = place / "labels" / "val"
        (place / "sizes.csv").unlink()
    read = datasets.read(place, name, images=images)
    assert not read.normalized
    results = write_detections(dt, gt, "padilla", tmp_path)
    assert ap(read, datasets.read_detections(results, ground_truth=read)) == pytest.approx(ap(gt, dt), abs=TOLERANCE)
    command: list[str | Path] = ["eval", place, results, "--gt-option", f"images={images}", "--json", "-"]
    done = run_here(*command, *(["--gt-format", "yolo"] if name == "yolo" else []))
    assert done.code in (None, 0), done.err
    assert json.loads(done.out)["summary"]["AP"] == pytest.approx(ap(gt, dt), abs=TOLERANCE)


def test_fractions_are_not_written_as_pixels(tmp_path: Path) -> None:
    gt, dt = data_set(("cat", "dog", "person"))
    place = write_ground_truth(gt, "open-images", tmp_path)
    done = run_here("convert", place, tmp_path / "x.json", "--to", "coco")
    assert done.code == 2
    assert "boxes are fractions of the image, and the size of image '000007' is not known" in done.err
    assert done.err.count("\n") == 1
    read = datasets.read(place)
    assert read.normalized
    for name in ("voc", "csv", "padilla"):
        with pytest.raises(DatasetError, match="boxes are fractions of the image"):
            datasets.write(read, tmp_path / "out", name)
    results = datasets.read_detections(write_detections(dt, gt, "open-images", tmp_path), ground_truth=gt)
    with pytest.raises(DatasetError, match="boxes are fractions of the image: ground_truth="):
        datasets.write(results, tmp_path / "out.json", "coco")
    datasets.write(results, tmp_path / "out.json", "coco", ground_truth=gt)
    assert ap(gt, Detections.from_coco(tmp_path / "out.json")) == pytest.approx(ap(gt, dt), abs=TOLERANCE)
    images = pictures(gt, tmp_path / "photographs")
    done = run_here("convert", place, tmp_path / "x.json", "--to", "coco", "--option", f"images={images}")
    assert done.code in (None, 0), done.err
    assert ap(datasets.read(tmp_path / "x.json"), datasets.read_detections(tmp_path / "out.json")) == pytest.approx(
        ap(gt, dt), abs=TOLERANCE
    )


COMMANDS = ("compare", "labels", "slices", "protocols", "operate")


@pytest.mark.parametrize(
    ("command", "name"), [*((one, "voc") for one in COMMANDS), ("eval", "kitti"), ("eval", "dota")]
)
def test_commands_take_results_with_numbers(command: str, name: str, tmp_path: Path) -> None:
    """Ids of these formats are strings. Numbers meet names that are numbers; others are one sentence, no traceback."""
    classes = ("Car", "Cyclist", "Pedestrian")
    for stems, code in (((7, 123, 5), (None, 0)), (("a", "b", "c"), (2,))):
        gt, dt = data_set(classes, stems=[str(stem) for stem in stems])
        folder = tmp_path / str(stems[0])
        folder.mkdir()
        truth, results = write_ground_truth(gt, name, folder), write_detections(dt, gt, "coco", folder)
        gt_options = ["--gt-option", f"names={','.join(classes)}"] if name == "kitti" else []
        further: dict[str, list[str | Path]] = {"compare": [results], "slices": ["--by", "category"]}
        done = run_here(command, truth, results, *further.get(command, []), *gt_options)
        assert done.code in code, done.err
        assert "Traceback" not in done.err
        if code == (2,):
            assert "expected the id or the file name of an image" in done.err
