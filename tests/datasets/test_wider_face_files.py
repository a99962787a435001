"""WIDER FACE's lists and results: faces, subsets from .mat and JSON files, and what comes back of what is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, evaluate
from ioukit.datasets import Detections, GroundTruth, find_format, read, read_detections, write
from ioukit.datasets.formats.left_out import Holds
from ioukit.evaluation.protocols import WIDER_FACE
from support.command import run_here
from support.data_sets import (
    FREE,
    assert_came_back,
    assert_detections_came_back,
    detections_of,
    ground_truths,
)
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = DATA / "formats_small" / "wider_face"
SUBSETS = ("easy", "medium", "hard")
LIST = """0--Parade/0_Parade_1.jpg
2
449 330 122 149 0 0 0 0 0 0
361 98 26 31 2 0 0 1 2 1
0--Parade/0_Parade_2.jpg
0
0 0 0 0 0 0 0 0 0 0
1--Hands/1_Hands_1.jpg
1
5 6 7 8 1 1 1 0 1 0
"""
CHOSEN = {
    "easy": {"0--Parade/0_Parade_1.jpg": [0]},
    "medium": {"0--Parade/0_Parade_1.jpg": [0, 1]},
    "hard": {"0--Parade/0_Parade_1.jpg": [0, 1], "1--Hands/1_Hands_1.jpg": [0]},
}
FLAGS = {"easy": [True, False, False], "medium": [True, True, False], "hard": [True, True, True]}


def folder(place: Path) -> Path:
    (place / "wider_face_split").mkdir(parents=True)
    (place / "wider_face_split" / "wider_face_val_bbx_gt.txt").write_text(LIST.replace("1 0\n0--P", "1 0 \n0--P"))
    return place


def with_json(place: Path) -> Path:
    folder(place)
    (place / "wider_face_split" / "wider_face_val_subsets.json").write_text(json.dumps(CHOSEN))
    return place


def results(place: Path) -> Path:
    for name, lines in {
        "0--Parade/0_Parade_1": "450 331 120 147 0.9\n10 10 5 5 0.1\n",
        "1--Hands/1_Hands_1": "",
    }.items():
        file = place / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name.split('/')[1]}\n{lines.count(chr(10))}\n{lines}")
    return place


def test_the_samples() -> None:
    gt = read(SAMPLE)
    assert find_format(SAMPLE).name == "wider-face"
    assert gt.image_labels().tolist() == ["0--Parade/0_Parade_image_03.jpg"] * 3
    assert gt.boxes.tolist() == [[0, 0, 1, 1], [3, 2, 1, 2], [5, 6, 1, 1]]
    assert gt.flag("invalid").tolist() == [False, True, False]
    assert gt.attributes["blur"].tolist() == gt.attributes["occlusion"].tolist() == [2, 0, 2]
    assert gt.images.sizes.tolist() == [[15, 10]]
    assert gt.notes == (f"{SAMPLE}: this is the split val; split= takes one of train, val",)
    train = read(SAMPLE, split="train")
    assert train.boxes.tolist() == [[1, 2, 2, 2], [1, 1, 2, 2], [5, 1, 2, 2]]
    alone = SAMPLE / "wider_face_split" / "wider_face_train_bbx_gt.txt"
    assert find_format(alone).name == "wider-face"
    assert read(alone).boxes.tolist() == train.boxes.tolist()
    with pytest.raises(DatasetError, match="expected one of the splits train, val, found 'test'"):
        read(SAMPLE, split="test")


def test_a_list_becomes_columns(tmp_path: Path) -> None:
    gt = read(folder(tmp_path))
    assert gt.images.labels.tolist() == [
        "0--Parade/0_Parade_1.jpg",
        "0--Parade/0_Parade_2.jpg",
        "1--Hands/1_Hands_1.jpg",
    ]
    assert gt.boxes.tolist() == [[449, 330, 122, 149], [361, 98, 26, 31], [5, 6, 7, 8]]
    assert gt.categories.names == ("face",)
    assert list(gt.flags) == ["invalid"]
    assert {name: column.tolist() for name, column in gt.attributes.items()} == {
        "blur": [0, 2, 1],
        "expression": [0, 0, 1],
        "illumination": [0, 0, 1],
        "occlusion": [0, 2, 1],
        "pose": [0, 1, 0],
    }


def test_a_line_may_have_the_box_alone(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("a.jpg\n2\n1 2 3 4\n5 6 7 8 1 0 0 1 0 0\n")
    gt = read(tmp_path / "list.txt")
    assert gt.boxes.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert gt.flag("invalid").tolist() == [False, True]
    np.testing.assert_array_equal(gt.attributes["blur"], [np.nan, 1])


def test_the_protocol_from_files(tmp_path: Path) -> None:
    gt, dt = read(with_json(tmp_path / "gt")), results(tmp_path / "dt")
    assert {name: gt.flags[name].tolist() for name in SUBSETS} == FLAGS
    found = read_detections(dt, ground_truth=gt)
    assert find_format(dt).name == "wider-face"
    assert found.image_labels().tolist() == ["0--Parade/0_Parade_1.jpg"] * 2
    assert found.scores.tolist() == [0.9, 0.1]
    summary = evaluate(gt, found, WIDER_FACE).summary
    assert [round(summary[f"AP{name}"], 4) for name in SUBSETS] == [1.0, 0.5, 0.3333]
    command = run_here("eval", str(tmp_path / "gt"), str(dt), "--protocol", "wider-face", "--json", "--quiet")
    assert json.loads(command.out)["summary"]["APmedium"] == summary["APmedium"]


def mat_files(place: Path, faces: dict[str, list[list[float]]], chosen: dict[str, dict[str, list[int]]]) -> Path:
    """Files of the layout of the benchmark: cells of cells, by event and image; faces have numbers from 1 on."""
    scipy = pytest.importorskip("scipy.io", reason="the files need SciPy: pip install 'ioukit[sparse]'")
    place.mkdir(parents=True, exist_ok=True)
    events = sorted({name.split("/")[0] for name in faces})

    def cells(values: list[Any]) -> Any:
        column = np.empty((len(values), 1), object)
        for at, value in enumerate(values):
            column[at, 0] = value
        return column

    for subset in SUBSETS:
        of_event = [[name for name in faces if name.split("/")[0] == event] for event in events]
        content = {
            "event_list": cells(events),
            "file_list": cells(
                [cells([name.split("/")[1].removesuffix(".jpg") for name in names]) for names in of_event]
            ),
            "face_bbx_list": cells([cells([np.array(faces[name], float) for name in names]) for names in of_event]),
            "gt_list": cells(
                [
                    cells([np.array([[at + 1] for at in chosen[subset].get(name, [])]) for name in names])
                    for names in of_event
                ]
            ),
        }
        scipy.savemat(place / f"wider_{subset}_val.mat", content)
    return place


FACES: dict[str, list[list[float]]] = {
    "0--Parade/0_Parade_1.jpg": [[449.0, 330, 122, 149], [361, 98, 26, 31]],
    "0--Parade/0_Parade_2.jpg": [[0.0, 0, 0, 0]],
    "1--Hands/1_Hands_1.jpg": [[5.0, 6, 7, 8]],
}


def test_subsets_from_the_files_of_the_benchmark(tmp_path: Path) -> None:
    place = folder(tmp_path)
    mat_files(place / "eval_tools" / "ground_truth", FACES, CHOSEN)
    gt = read(place)
    assert {name: gt.flags[name].tolist() for name in SUBSETS} == FLAGS
    assert not gt.notes
    elsewhere = mat_files(tmp_path / "others", FACES | {"1--Hands/1_Hands_1.jpg": [[5.0, 6, 7, 9]]}, CHOSEN)
    gt = read(place, subsets=elsewhere)
    assert gt.notes == (f"{place}: 1 of 3 images have other boxes in the .mat files",)
    alone = read(place / "wider_face_split" / "wider_face_val_bbx_gt.txt", subsets=elsewhere)
    assert alone.flags["hard"].tolist() == FLAGS["hard"]


def test_subsets_of_another_list_are_refused(tmp_path: Path) -> None:
    place = folder(tmp_path / "gt")
    other = {**FACES, "0--Parade/0_Parade_1.jpg": FACES["0--Parade/0_Parade_1.jpg"][:1]}
    cases: list[tuple[dict[str, list[list[float]]], dict[str, dict[str, list[int]]], str]] = [
        ({**FACES, "2--Z/z.jpg": [[0.0, 0, 1, 1]]}, CHOSEN, "image 2--Z/z: expected an image of the list"),
        (other, CHOSEN, "expected 2 faces, as in the list, found 1"),
        (FACES, {**CHOSEN, "hard": {"1--Hands/1_Hands_1.jpg": [1]}}, "faces among the 1 of the image, found number 1"),
    ]
    for faces, chosen, expected in cases:
        mats = mat_files(tmp_path / "mats", faces, chosen)
        with pytest.raises(DatasetError, match=expected):
            read(place, subsets=mats)
    content = (tmp_path / "mats" / "wider_easy_val.mat").read_bytes()
    for at in range(0, len(content), 97):
        (tmp_path / "mats" / "wider_easy_val.mat").write_bytes(content[:at])
        with pytest.raises(DatasetError, match=r"wider_easy_val.mat: expected a .mat file with event_list"):
            read(place, subsets=tmp_path / "mats")


def test_json_subsets_are_checked(tmp_path: Path) -> None:
    place = folder(tmp_path / "gt")
    for changed, expected in (
        ({"easy": {}}, r"s.json.medium: expected an object, found nothing"),
        ({**CHOSEN, "hard": {"x.jpg": [0]}}, r"hard\['x.jpg'\]: expected an image of the list"),
        ({**CHOSEN, "hard": {"1--Hands/1_Hands_1.jpg": [True]}}, "expected a list of positions"),
        ({**CHOSEN, "hard": {"1--Hands/1_Hands_1.jpg": [-1]}}, "faces among the 1 of the image, found number -1"),
    ):
        (tmp_path / "s.json").write_text(json.dumps(changed))
        with pytest.raises(DatasetError, match=expected):
            read(place, subsets=tmp_path / "s.json")


def test_faces_that_are_left_out_keep_the_numbers_of_the_others(tmp_path: Path) -> None:
    place = with_json(tmp_path)
    file = place / "wider_face_split" / "wider_face_val_bbx_gt.txt"
    file.write_text(file.read_text().replace("449 330 122", "449 x 122"))
    with pytest.raises(DatasetError, match="line 3, y: expected a number, found 'x'"):
        read(place)
    gt = read(place, on_invalid="drop")
    assert gt.dropped == 1
    assert {name: gt.flags[name].tolist() for name in SUBSETS} == {name: flags[1:] for name, flags in FLAGS.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.jpg\n", "line 2: expected the number of faces of 'a.jpg', found nothing"),
        ("a.jpg\n1 2\n", "line 2: expected the number of faces of 'a.jpg', found '1 2'"),
        ("a.jpg\n2\n1 2 3 4 0 0 0 0 0 0\nb.jpg\n0\n", "line 4: expected 2 faces of a.jpg: x y .* found 'b.jpg'"),
        ("a.jpg\n1\n1 2 3 4 0 0\n", "line 3: expected x y width height blur .* found '1 2 3 4 0 0'"),
        ("a.jpg\n1\n1 2 -3 4 0 0 0 0 0 0\n", "line 3: expected a width and a height of at least 0, found -3 and 4"),
        ("a.jpg\n0\na.jpg\n0\n", "line 3: expected an image that differs from those before, found 'a.jpg'"),
    ],
)
def test_bad_lists_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "list.txt").write_text(text)
    with pytest.raises(DatasetError, match=expected):
        read(tmp_path / "list.txt", "wider-face")
    assert read(tmp_path / "list.txt", "wider-face", on_invalid="drop").dropped >= 1


def test_a_folder_without_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"expected a file wider_face_<split>_bbx_gt\.txt, found none"):
        read(tmp_path, "wider-face")


def test_results_of_unknown_images_are_refused(tmp_path: Path) -> None:
    gt = read(folder(tmp_path / "gt"))
    place = results(tmp_path / "dt")
    (place / "0--Parade" / "x.txt").write_text("x\n0\n")
    with pytest.raises(DatasetError, match=r"x.txt: expected an image of .*, found '0--Parade/x'"):
        read_detections(place, ground_truth=gt)
    (place / "0--Parade" / "x.txt").rename(place / "0--Parade" / "0_Parade_2.txt")
    (place / "0--Parade" / "0_Parade_2.txt").write_text("x\n0\ny\n0\n")
    with pytest.raises(DatasetError, match="line 3: expected the end of the file, found 'y'"):
        read_detections(place, ground_truth=gt)


NAMES = ("0--Parade/a", "0--Parade/b c", "1--図/a", "x/y/z", "plain", "a.b/c.d")
NUMBERS = {name: st.integers(0, 2).map(float) for name in ("blur", "occlusion")}


@given(st.data())
def test_lists_and_results_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    gt = data.draw(
        ground_truths(stems=NAMES, classes=("face",), flags=("invalid", *SUBSETS, "crowd"), attributes=NUMBERS)
    )
    place = tmp_path_factory.mktemp("wider") / "out"
    notes = write(gt, place, "wider-face")
    again = read(place, "wider-face")
    holds = Holds(
        flags=frozenset({"invalid", *SUBSETS}),
        attributes=frozenset(NUMBERS),
        image_sizes=False,
        unused_categories=True,
    )
    assert_came_back(gt, again, holds, notes)
    dt = data.draw(detections_of(gt, coordinates=FREE))
    write(dt, place.with_name("found"), "wider-face", ground_truth=gt)
    found = read_detections(place.with_name("found"), "wider-face", ground_truth=gt)
    assert_detections_came_back(dt, found, gt, Holds())


def test_other_classes_are_noted(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=["../a"], category_ids=[3], boxes=[[0, 0, 1, 1]], categories={3: "person", 4: "car"}
    )
    notes = write(gt, tmp_path / "out", "wider-face")
    assert "names of 2 classes: all objects are faces" in notes
    dt = Detections.from_arrays(image_ids=["../a"], category_ids=[3], boxes=[[0, 0, 1, 1]], scores=[1])
    with pytest.raises(DatasetError, match="expected a path inside the folder"):
        write(dt, tmp_path / "found", "wider-face", ground_truth=gt)
    assert not (tmp_path / "found").exists()
    with pytest.raises(DatasetError, match="with one class, or with the class face, found 2 classes"):
        read_detections(tmp_path / "out", "wider-face", ground_truth=gt)


def test_damaged_files(tmp_path: Path) -> None:
    for at, name in enumerate(("wider_face_val_bbx_gt.txt", "wider_face_val_subsets.json")):
        place = tmp_path / str(at)
        place.mkdir()
        broken = f"wider_face_split/{name}"
        outcomes = read_damaged(with_json, broken, lambda path, **options: read(path, "wider-face", **options), place)
        assert sum(outcomes.refused.values()) > 10
        assert outcomes.read["Windows lines"] == 2
        assert outcomes.read["byte-order mark"] == 2


def test_links_out_are_refused(tmp_path: Path) -> None:
    for at, name in enumerate(("wider_face_val_bbx_gt.txt", "wider_face_val_subsets.json")):
        place = tmp_path / str(at)
        place.mkdir()
        assert_links_out_are_refused(
            with_json, f"wider_face_split/{name}", lambda path: read(path, "wider-face"), place
        )
