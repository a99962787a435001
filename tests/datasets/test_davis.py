"""DAVIS' folders of masks: a PNG file per frame, with the id of an object in each pixel."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, GroundTruth, Masks
from ioukit.datasets import find_format, read, read_davis, read_davis_detections, read_detections
from support.command import run_here
from support.davis_files import VOID, write_davis, write_frame
from support.malformed import assert_links_out_are_refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HIGH, WIDE = 8, 10


def frame(*rectangles: tuple[int, int], size: tuple[int, int] = (HIGH, WIDE)) -> np.ndarray:
    """Rectangles of 2 x 3 pixels by their value and the row of their upper left corner; others are background."""
    values = np.zeros(size, np.uint8)
    for value, row in rectangles:
        values[row : row + 2, 4:7] = value
    return values


BEAR = [frame((1, 0), (2, 4)), frame((1, 1)), frame()]
COWS = [frame((3, 0), (VOID, 4))]


def labels_in(folder: Path) -> Path:
    return write_davis(folder, {"bear": BEAR, "cows": COWS})


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return labels_in(tmp_path / "gt")


def test_folders_become_columns(labels: Path) -> None:
    assert find_format(labels).name == "davis"
    gt = read(labels)
    assert gt.images.labels.tolist() == ["bear/00000", "bear/00001", "bear/00002", "cows/00000"]
    assert gt.images.names[0] == "bear/00000.jpg"  # the picture
    assert gt.images.sizes.tolist() == [[WIDE, HIGH]] * 4
    assert gt.image_labels().tolist() == ["bear/00000", "bear/00000", "bear/00001", "cows/00000", "cows/00000"]
    assert gt.attributes["track_id"].tolist() == [1, 2, 1, 3, -1]
    assert gt.categories.names == ("object", "void")
    assert gt.category_ids.tolist() == [1, 1, 1, 1, VOID]
    for name in ("void", "ignore_region", "crowd"):
        assert gt.flag(name).tolist() == [False] * 4 + [True]
    assert gt.boxes[2].tolist() == [4, 1, 3, 2]
    assert gt.areas.tolist() == [6] * 5
    masks = gt.regions["Masks"]
    assert isinstance(masks, Masks)
    assert np.array_equal(masks.to_arrays()[1], BEAR[0] == 2)


def test_one_folder_is_one_sequence(labels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gt = read(labels / "bear")
    assert gt.images.labels.tolist() == ["bear/00000", "bear/00001", "bear/00002"]
    assert gt.categories.names == ("object",)
    assert not gt.flag("void").any()
    monkeypatch.chdir(labels / "bear")
    assert read(".").images.labels.tolist() == gt.images.labels.tolist()
    results = labels.parent / "results"
    shutil.copytree(labels / "bear", results / "mine")
    for place in (results, results / "mine"):  # there is one sequence, whatever it is called
        dt = read_detections(place, ground_truth=gt)
        assert dt.image_labels().tolist() == ["bear/00000", "bear/00000", "bear/00001"]
        assert dt.attributes["track_id"].tolist() == [1, 2, 1]
        assert not dt.scored
        assert any("its only sequence, 'mine', is taken as 'bear', the only one of" in note for note in dt.notes)


def test_values_count_and_not_colours(tmp_path: Path) -> None:
    places = [write_davis(tmp_path / str(grey), {"bear": BEAR}, grey=grey) for grey in (False, True)]
    coloured, grey = (read(place, "davis") for place in places)
    assert grey.regions["Masks"] == coloured.regions["Masks"]
    assert grey.attributes["track_id"].tolist() == coloured.attributes["track_id"].tolist() == [1, 2, 1]


def test_some_sequences_can_be_named(labels: Path, tmp_path: Path) -> None:
    assert read_davis(labels, sequences=["cows"]).images.labels.tolist() == ["cows/00000"]
    listed = tmp_path / "val.txt"
    listed.write_text("bear\n")
    run = run_here("inspect", labels, "--option", f"sequences=@{listed}", "--json")
    assert run.code in (None, 0), run.err
    assert "3 images" in run.err
    with pytest.raises(DatasetError, match="gt: expected a folder of PNG files for the sequence 'dog', found none"):
        read_davis(labels, sequences=["bear", "dog"])


def test_two_values_are_those_of_davis_2016(tmp_path: Path) -> None:
    gt = read(write_davis(tmp_path / "gt", {"bear": [frame((VOID, 2)), frame()], "cows": [frame((VOID, 1))]}))
    assert gt.attributes["track_id"].tolist() == [VOID] * 2
    assert (gt.categories.names, gt.flag("void").any()) == (("object",), np.False_)
    (note,) = (note for note in gt.notes if "255" in note)
    assert "2 x mask with the value 255, which is an object here and not void" in note


def test_results_lose_void_pixels(labels: Path, tmp_path: Path) -> None:
    cows = [frame((5, 1), (7, 4))]  # 7 is on void pixels alone
    cows[0][3, 0:9] = VOID  # an id like others
    cows[0][4, 0:9] = VOID
    found = write_davis(tmp_path / "found", {"bear": BEAR, "cows": cows})
    gt = read(labels)
    dt = read_detections(found, ground_truth=gt)
    assert dt.attributes["track_id"].tolist() == [1, 2, 1, 5, VOID]
    assert dt.regions["Masks"].area.tolist() == [6, 6, 6, 6, 15]
    assert dt.category_ids.tolist() == [1] * 5
    (note,) = (note for note in dt.notes if "are void" in note)
    assert "2 x mask with pixels that are void in the ground truth; these pixels do not count" in note


def test_results_of_some_sequences_can_be_read(labels: Path) -> None:
    gt = read(labels, sequences=["cows"])
    with pytest.raises(DatasetError, match=r"found 'bear'; the argument sequences of the results \(--dt-option"):
        read_detections(labels, ground_truth=gt)
    assert read_detections(labels, ground_truth=gt, sequences=["cows"]).image_labels().tolist() == ["cows/00000"]
    chosen = ("--gt-option", "sequences=cows", "--dt-option", "sequences=cows")
    assert run_here("tracks", labels, labels, *chosen).out.splitlines()[1].split()[:2] == ["cows", "100.000"]
    with pytest.raises(DatasetError, match="a folder of PNG files for the sequence 'dog', found none"):
        read_detections(labels, ground_truth=gt, sequences=["dog"])
    nothing: list[str] = []
    for wrong in ("cows", nothing):
        with pytest.raises(ValueError, match="sequences must be a list of names, one at least, got"):
            read_davis(labels, sequences=wrong)


def test_pixels_of_one_bit(tmp_path: Path) -> None:
    """As programs write masks of a single object."""
    file = tmp_path / "gt" / "bear" / "00000.png"
    file.parent.mkdir(parents=True)
    pixels = np.zeros((HIGH, WIDE), bool)
    pixels[2:4, 3:8] = True
    pytest.importorskip("PIL.Image").fromarray(pixels).save(file)
    gt = read_davis(tmp_path / "gt")
    assert (gt.attributes["track_id"].tolist(), gt.areas.tolist()) == ([1], [10])


def test_results_go_with_ground_truth_of_other_formats(labels: Path) -> None:
    images = ["bear/00000", "bear/00001", "bear/00002", "cows/00000"]
    columns: dict[str, Any] = {"image_ids": [1], "category_ids": [4], "boxes": [[0, 0, 5, 5]]}
    gt = GroundTruth.from_arrays(**columns, images=[1, 2, 3, 4], names=[f"{name}.png" for name in images])
    assert read_detections(labels, ground_truth=gt).image_ids.tolist() == [1, 1, 2, 4, 4]
    gt = GroundTruth.from_arrays(**{**columns, "image_ids": images[:1]}, images=images)  # names of files are not known
    assert read_detections(labels, ground_truth=gt).image_labels().tolist() == [
        *images[:1] * 2,
        images[1],
        *images[3:] * 2,
    ]
    gt = GroundTruth.from_arrays(**columns, images=[1], categories={4: "cat", 5: "dog"})
    with pytest.raises(DatasetError, match="a ground truth with one class, as the files say none, found 2"):
        read_detections(labels, ground_truth=gt)
    with pytest.raises(DatasetError, match="frames and classes come from the ground truth"):
        read_davis_detections(labels)


def colours(path: Path) -> None:
    pytest.importorskip("PIL.Image").new("RGB", (WIDE, HIGH)).save(path)


def sixteen_bits(path: Path) -> None:
    pytest.importorskip("PIL.Image").fromarray(np.zeros((HIGH, WIDE), np.uint16)).save(path)


FRAMES: dict[str, tuple[Callable[[Path], object], str]] = {
    "colours": (colours, r"{}: expected a PNG of one channel, found PNG of mode RGB"),
    "16 bits": (sixteen_bits, r"{}: expected a PNG with at most 8 bits per pixel, found 16 bits"),
    "another size": (
        lambda path: write_frame(path, frame(size=(4, 5))),
        r"{}: expected 10 x 8 pixels, as in (00000\.png|the ground truth), found 5 x 4",
    ),
    "no picture": (lambda path: path.write_bytes(b"text"), r"{} cannot be read as a PNG: cannot identify"),
    "an end": (
        lambda path: path.write_bytes(path.read_bytes()[:60]),
        r"{} cannot be read as a PNG: ",
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_bad_frames_are_refused(name: str, labels: Path, tmp_path: Path) -> None:
    gt = read(labels)
    found = labels_in(tmp_path / "found")
    spoil, message = FRAMES[name]
    for side in (labels, found):
        spoil(side / "bear" / "00001.png")
    with pytest.raises(DatasetError, match=message.format("gt.bear.00001.png")):
        read(labels, "davis")
    with pytest.raises(DatasetError, match=message.format("found.bear.00001.png")):
        read_detections(found, "davis", ground_truth=gt)
    kept = read(labels, "davis", on_invalid="drop")
    assert kept.images.labels.tolist() == ["bear/00000", "bear/00002", "cows/00000"]
    assert kept.dropped == 1
    dt = read_detections(found, "davis", ground_truth=gt, on_invalid="drop")
    assert (dt.dropped, set(dt.image_labels().tolist())) == (1, {"bear/00000", "cows/00000"})


def remove(name: str) -> Callable[[Path], object]:
    return lambda folder: shutil.move(folder / name, folder.parent / "elsewhere")


RESULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a frame is missing": (
        remove("bear/00001.png"),
        r"bear: expected a file for each frame of .*gt, found no 00001.png",
    ),
    "a frame is unknown": (
        lambda folder: write_frame(folder / "bear/00003.png", frame()),
        r"00003.png: expected the name of a frame of .*gt, found '00003'",
    ),
    "a sequence is missing": (
        remove("cows"),
        r"found: expected a folder of PNG files for the sequence 'cows' of .*gt, found none; the argument sequences "
        r"of the ground truth \(--gt-option sequences=@FILE\) says which are evaluated",
    ),
    "a sequence is unknown": (
        lambda folder: write_frame(folder / "dog/00000.png", frame()),
        r"dog: expected the name of a sequence of .*gt, found 'dog'",
    ),
    "a folder is empty": (
        lambda folder: [shutil.move(file, folder.parent / file.name) for file in (folder / "bear").iterdir()],
        r"bear: expected a PNG file per frame of the sequence, found no PNG file",
    ),
    "all is empty": (
        lambda folder: [shutil.move(one, folder.parent / f"no_{one.name}") for one in folder.iterdir()],
        r"found: expected a folder with a folder of PNG files per sequence, .*, found neither PNG files nor folders",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_must_have_the_frames(name: str, labels: Path, tmp_path: Path) -> None:
    found = labels_in(tmp_path / "found")
    spoil, message = RESULTS[name]
    spoil(found)
    with pytest.raises(DatasetError, match=message):
        read_detections(found, "davis", ground_truth=read(labels))


def test_a_whole_sequence_can_be_left_out(labels: Path, tmp_path: Path) -> None:
    found = labels_in(tmp_path / "found")
    shutil.rmtree(found / "bear")
    dt = read_detections(found, "davis", ground_truth=read(labels), on_invalid="drop")
    assert (dt.dropped, dt.image_labels().tolist()) == (1, ["cows/00000"])  # the pixels of 255 are void


def test_what_is_no_folder_of_sequences(labels: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"00000.png: expected a folder with a folder of PNG files .*, found a file"):
        read(labels / "bear" / "00000.png", "davis")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none", "davis")
    (tmp_path / "empty" / "bear").mkdir(parents=True)
    with pytest.raises(DatasetError, match="bear: expected a PNG file per frame of the sequence, found no PNG file"):
        read(tmp_path / "empty", "davis")


def test_hidden_files_are_no_frames(labels: Path) -> None:
    for place in (labels, labels / "bear"):
        (place / "._00000.png").write_bytes(b"")
        (place / ".hidden").mkdir()
    assert find_format(labels).name == "davis"
    assert len(read(labels).images) == 4


def test_links_out_are_refused(tmp_path: Path) -> None:
    assert_links_out_are_refused(labels_in, "bear/00001.png", read_davis, tmp_path)


def grey_square(side: int, seed: int | None) -> np.ndarray:
    """A square of one value, or of random ones."""
    return np.full((side, side), 1) if seed is None else np.random.default_rng(seed).integers(0, 255, (side, side))


OTHERS: dict[str, Callable[[Path], object]] = {
    "photographs in grey": lambda folder: write_frame(folder / "00000.png", grey_square(64, 1), grey=True),
    "photographs in colour": lambda folder: colours(folder / "00000.png"),
    "16 bits": lambda folder: sixteen_bits(folder / "00000.png"),
    "another name": lambda folder: write_frame(folder / "000000.png", frame()),
    "further files": lambda folder: [
        write_frame(folder / "00000.png", frame()),
        (folder / "00000.txt").write_text(""),
    ],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_folders_of_pictures_are_not_recognised(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    OTHERS[name](folder)
    try:
        known = find_format(folder).name
    except DatasetError:
        known = ""
    assert known in ("", "yolo")


def test_grey_files_that_are_no_photographs_are_recognised(tmp_path: Path) -> None:
    write_frame(tmp_path / "gt" / "bear" / "00000.png", grey_square(64, None), grey=True)
    assert find_format(tmp_path / "gt").name == "davis"
