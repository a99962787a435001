"""TAO and BURST: what was not looked for does not count. TrackEval's own data sets are run beside on the same files."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import Detections, evaluate_tracks
from ioukit.errors import DatasetError
from ioukit.tracks import TRACK_PROTOCOLS
from ioukit.tracks.protocols import BURST
from support.random_federated_sets import ODD, PLAIN, random_burst_set, random_tao_set
from support.trackeval_runs import all_differences, numbers_of, trackeval

if TYPE_CHECKING:
    from pathlib import Path


def tao_of_trackeval(folder: Path, **options: Any) -> Any:
    folders = {"GT_FOLDER": str(folder / "gt"), "TRACKERS_FOLDER": str(folder), "TRACKERS_TO_EVAL": ["."]}
    with contextlib.redirect_stdout(io.StringIO()):
        return trackeval().datasets.TAO(
            {"PRINT_CONFIG": False, **folders, "TRACKER_SUB_FOLDER": "found", "OUTPUT_FOLDER": str(folder), **options}
        )


def write(folder: Path, truth: Any, found: Any) -> None:
    for name, values in (("gt", truth), ("found", found)):
        (folder / name).mkdir()
        (folder / name / "all.json").write_text(json.dumps(values))


@pytest.mark.parametrize("seed", [*range(40), 123])  # in 123, tracks of both sides are in other frames alone
def test_tao_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    truth, found = random_tao_set(seed)
    if not truth["annotations"]:
        return
    write(tmp_path, truth, found)
    most = 300 if seed % 4 else 3
    rules = replace(TRACK_PROTOCOLS["tao"], most_detections=most)
    expected = numbers_of(tao_of_trackeval(tmp_path, MAX_DETECTIONS=most))
    ours = evaluate_tracks(tmp_path / "gt" / "all.json", tmp_path / "found" / "all.json", protocol=rules)
    assert all_differences(ours, expected) == []


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("names", [PLAIN, ODD], ids=["plain", "distractors"])
@pytest.mark.parametrize("guided", [False, True], ids=["class", "exemplar"])
def test_burst_has_the_bits_of_trackeval(guided: bool, names: dict[int, str], seed: int, tmp_path: Path) -> None:
    """There, AP of whole tracks is of masks, and all other numbers are of the boxes around them."""
    if not hasattr(trackeval().datasets, "BURST"):
        pytest.skip("TrackEval's BURST needs tabulate")
    truth, found = random_burst_set(seed, names, 3 if names is PLAIN else 6, guided=guided)
    evaluated = names.keys() - BURST.left_out_ids - {967}  # which counts as a distractor
    if not any(evaluated & {*one["track_category_ids"].values()} for one in truth["sequences"]):
        return
    write(tmp_path, truth, found)
    folders = {"GT_FOLDER": str(tmp_path / "gt"), "TRACKERS_FOLDER": str(tmp_path), "TRACKERS_TO_EVAL": ["."]}
    with contextlib.redirect_stdout(io.StringIO()):
        data = trackeval().datasets.BURST(
            {"PRINT_CONFIG": False, **folders, "TRACKER_SUB_FOLDER": "found", "OUTPUT_FOLDER": str(tmp_path)}
            | {"EXEMPLAR_GUIDED": guided}
        )
    protocol = "burst-exemplar-guided" if guided else "burst"
    files = tmp_path / "gt" / "all.json", tmp_path / "found" / "all.json"
    parts, *others = numbers_of(data)
    parts = {one: {name.removeprefix("val-"): part for name, part in row.items()} for one, row in parts.items()}
    for kind in ("bbox", "segm"):
        wrong = all_differences(evaluate_tracks(*files, protocol=protocol, iou_type=kind), (parts, *others))
        assert [name for name in wrong if name.startswith(("AP_", "AR_")) == (kind == "segm")] == []


def burst_files(folder: Path) -> tuple[Path, Path]:
    """A frame with a cup, a mug, which is a distractor, and a cap; the result calls the cup a mug."""
    walk = {"dataset": "set", "seq_name": "walk", "width": 6, "height": 4, "annotated_image_paths": ["a.jpg"]}
    lists: dict[str, Any] = {"neg_category_ids": [], "not_exhaustive_category_ids": []}
    classes = {"1": 347, "2": 720, "3": 207}
    masks = {track: {"rle": text} for track, text in zip(classes, ("04d0", "84<", "`044"), strict=True)}
    truth = {"sequences": [{**walk, **lists, "track_category_ids": classes, "segmentations": [masks]}]}
    names = {347: "cup", 720: "mug", 207: "cap", 554: "hat"}
    of_result = {"1": masks["1"], "9": masks["3"]}
    found = {"sequences": [{**walk, "track_category_ids": {"1": 720, "9": 554}, "segmentations": [of_result]}]}
    write(folder, {**truth, "categories": [{"id": at, "name": name} for at, name in names.items()]}, found)
    return folder / "gt" / "all.json", folder / "found" / "all.json"


def test_burst_is_recognised_and_leaves_out_distractors(tmp_path: Path) -> None:
    files = burst_files(tmp_path)
    ours = evaluate_tracks(*files)
    assert ours.protocol == "BURST"
    assert {one.name: one.summary["TP"] for one in ours.per_class} == {"cup": 1, "hat": 1}
    assert any(
        "evaluated by the protocol BURST, which leaves out 1 of 3 objects and 0 of 2" in note for note in ours.notes
    )
    boxes = evaluate_tracks(*files, iou_type="bbox")
    assert boxes.protocol == "plain"
    assert any(
        note.endswith(
            "compared by 'bbox', so evaluated by the protocol plain and not by BURST; protocol='burst' (--protocol "
            "burst) has the rules of the benchmark for 'bbox', too"
        )
        for note in boxes.notes
    )
    for protocol in ("plain", "burst"):
        named = evaluate_tracks(*files, protocol=protocol, iou_type="bbox")
        assert not any("compared by" in note for note in named.notes)
    assert [one.name for one in evaluate_tracks(*files, protocol="tao").per_class] == ["cap", "cup", "mug"]
    with pytest.raises(DatasetError, match="the protocol BURST evaluates no distractors, and not mug"):
        evaluate_tracks(*files, protocol="burst", categories=["mug"])


def test_results_that_follow_given_objects_have_their_classes(tmp_path: Path) -> None:
    ours = evaluate_tracks(*burst_files(tmp_path), protocol="burst-exemplar-guided")
    assert {one.name: (one.summary["TP"], one.summary["FN"]) for one in ours.per_class} == {
        "cup": (1, 0),
        "hat": (0, 1),
    }
    assert any(note.endswith("left out 1 detection with a track id that no object has") for note in ours.notes)
    assert any("which leaves out 1 of 3 objects and 1 of 2 detections" in note for note in ours.notes)


BOX = [0.0, 0.0, 10.0, 10.0]


def video(*, absent: list[int], unfinished: list[int], objects: list[tuple[int, int]]) -> Any:
    """A video of three images; objects are the image and the class, all of one place."""
    return {
        "videos": [{"id": 1, "name": "walk", "neg_category_ids": absent, "not_exhaustive_category_ids": unfinished}],
        "images": [{"id": at, "video_id": 1, "frame_index": at, "file_name": f"{at}.jpg"} for at in (1, 2, 3)],
        "categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": at + 1, "image_id": image, "category_id": kind, "track_id": kind, "bbox": BOX, "iscrowd": 0}
            for at, (image, kind) in enumerate(objects)
        ],
    }


def result(*rows: tuple[int, int, float]) -> Any:
    """Detections: the image, the class and how far they are from the objects."""
    return [
        {"image_id": image, "category_id": kind, "track_id": at, "bbox": [far, 0.0, 10.0, 10.0], "score": 0.5}
        for at, (image, kind, far) in enumerate(rows, start=1)
    ]


ROWS = result((1, 1, 0), (1, 1, 90), (2, 1, 0), (3, 1, 0), (1, 2, 0))


@pytest.mark.parametrize(
    ("absent", "unfinished", "counted"),
    [
        ([], [], 2),  # the person in image 1, and what is beside; in image 2 is a dog, and nobody looked for persons
        ([1], [], 3),  # in image 3 is nothing at all
        ([], [1], 1),  # perhaps a person without a label is beside
    ],
)
def test_what_was_not_looked_for_does_not_count(absent: list[int], unfinished: list[int], counted: int) -> None:
    gt = video(absent=absent, unfinished=unfinished, objects=[(1, 1), (2, 2)])
    found = evaluate_tracks(gt, ROWS, protocol="tao")
    assert found.per_class["person"].summary["Dets"] == counted
    assert found.per_class["dog"].summary["Dets"] == 0
    assert found.notes[-1].startswith(
        f"ground truth: evaluated by the protocol TAO, which leaves out 0 of 2 objects and {5 - counted} of 5"
    )


def test_only_classes_with_objects_are_evaluated() -> None:
    gt = video(absent=[], unfinished=[], objects=[(1, 1)])
    assert [one.name for one in evaluate_tracks(gt, ROWS, protocol="tao").per_class] == ["person"]


def test_merged_classes_are_one() -> None:
    gt = video(absent=[], unfinished=[], objects=[(1, 1), (2, 2)])
    gt["categories"][0]["merged"] = [{"id": 2, "name": "dog"}]
    assert evaluate_tracks(gt, result((1, 2, 0), (2, 1, 0)), protocol="tao").summary["TP"] == 2
    gt["categories"][0]["merged"] = ["dog"]
    with pytest.raises(
        DatasetError, match=r'category 1.merged: expected a list of records with an id, found \["dog"\]'
    ):
        evaluate_tracks(gt, ROWS, protocol="tao")


def test_missing_and_wrong_lists_are_refused() -> None:
    gt = video(absent=[], unfinished=[], objects=[(1, 1)])
    gt["videos"][0]["neg_category_ids"] = 3
    with pytest.raises(
        DatasetError, match=r"videos\[0\].neg_category_ids: expected a list of ids of categories, found 3"
    ):
        evaluate_tracks(gt, ROWS, protocol="tao")
    del gt["videos"][0]["neg_category_ids"]
    with pytest.raises(DatasetError, match=r"videos: the protocol expects neg_category_ids, a list .* found none"):
        evaluate_tracks(gt, ROWS, protocol="tao")


def test_rules_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="a federated protocol names no classes"):
        replace(TRACK_PROTOCOLS["tao"], classes=("person",))
    with pytest.raises(ValueError, match="it alone can limit the detections of an image"):
        replace(TRACK_PROTOCOLS["plain"], most_detections=3)
    for rule in ({"left_out_ids": (1,)}, {"merged_ids": ((1, 2),)}, {"classes_of_objects": True}):
        with pytest.raises(ValueError, match="or have left_out_ids, merged_ids or classes_of_objects"):
            replace(TRACK_PROTOCOLS["plain"], **rule)


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_masks_follow_the_rules_of_boxes(seed: int) -> None:
    """On a grid of pixels, masks that fill their boxes have the numbers of the boxes."""
    truth, found = random_tao_set(seed)
    if not truth["annotations"]:
        return
    for image in truth["images"]:
        image |= {"width": 200, "height": 200}
    for record in (*truth["annotations"], *found):
        x, y, width, height = record["bbox"] = [record["bbox"][0] + 80, record["bbox"][1] + 80, *record["bbox"][2:]]
        corners = [x, y, x + width, y, x + width, y + height, x, y + height]
        record["segmentation"] = [corners]
    boxes, masks = (evaluate_tracks(truth, found, protocol="tao", iou_type=kind) for kind in ("bbox", "segm"))
    one, other = (evaluation.to_dict() for evaluation in (boxes, masks))
    assert one.pop("notes") == other.pop("notes")
    assert one == other


def test_tao_is_recognised_by_the_lists_of_its_videos() -> None:
    gt = video(absent=[], unfinished=[1], objects=[(1, 1), (2, 2)])
    found = evaluate_tracks(gt, ROWS)
    assert found.to_dict()["summary"] == evaluate_tracks(gt, ROWS, protocol="tao").to_dict()["summary"]
    assert (found.protocol, "AP_all" in found.summary) == ("TAO", True)
    assert found.notes[-1].endswith("; protocol='plain' (--protocol plain) leaves out none")
    assert "evaluated by the protocol TAO, which leaves out 0 of 2 objects and 4 of 5 detections" in found.notes[-1]
    one_list = {key: value for key, value in gt["videos"][0].items() if key != "neg_category_ids"}
    assert evaluate_tracks({**gt, "videos": [one_list]}, ROWS).protocol == "plain"
    without = Detections.from_coco(ROWS, attributes=True)
    without = replace(without, scored=False)
    assert evaluate_tracks(gt, without).protocol == "plain"
    assert "the protocol TAO needs scores, and the detections have none: " in evaluate_tracks(gt, without).notes[-1]
    assert not any("TAO" in note for note in evaluate_tracks(gt, without, protocol="plain").notes)


def test_ids_that_no_category_has_are_noted() -> None:
    gt = video(absent=[99, 1], unfinished=[], objects=[(1, 1)])
    note = "ground truth: neg_category_ids of videos has 1 id that no category has, the first one 99"
    assert evaluate_tracks(gt, ROWS).notes[-1] == note


def test_undefined_numbers_are_lines() -> None:
    gt = video(absent=[], unfinished=[], objects=[(1, 1)])
    table = evaluate_tracks(gt, ROWS, categories=["dog"]).table(["AP_all", "TP"])
    assert [line.split() for line in table.splitlines()[1:]] == [["walk", "-", "0"], ["all", "-", "0"]]


def test_the_note_of_an_empty_result_is_true_of_tracks() -> None:
    notes = evaluate_tracks(video(absent=[], unfinished=[], objects=[(1, 1)]), []).notes
    assert any(note.endswith("no detections: whatever there is to find is missed") for note in notes)
