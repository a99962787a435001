"""COCO's files that are read before anyone asks for them: the data and the errors are those of reading them later."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, Detections, GroundTruth, read_coco
from ioukit.datasets import read, read_detections, read_lvis
from ioukit.datasets.columns.masks import decode
from ioukit.datasets.reading_ahead import ReadingAhead
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = [str(EXAMPLES / "coco_val2017_100" / name) for name in ("ground_truth.json", "yolact.json")]

OUTLINE = [[0, 0, 2, 0, 2, 2, 0, 2]]


def truth(image: int) -> str:
    return json.dumps(
        {
            "images": [{"id": image, "width": 9, "height": 9, "file_name": "a.jpg"}],
            "categories": [{"id": 1, "name": "cat"}],
            "annotations": [
                {
                    "id": 1,
                    "image_id": image,
                    "category_id": 1,
                    "bbox": [0, 0, 2, 2],
                    "area": 4,
                    "iscrowd": 0,
                    "segmentation": OUTLINE,
                }
            ],
        }
    )


def found(image: int) -> str:
    return json.dumps([{"image_id": image, "category_id": 1, "bbox": [0, 0, 2, 2], "score": 0.5}])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "gt.json", tmp_path / "dt.json"
    for path, text in zip(paths, (truth(1), found(1)), strict=True):
        path.write_text(text)
    return paths


def same(one: Any, other: Any) -> None:
    """Compares all columns of two data sets, their regions as well."""
    for name in one.column_names():
        values, others = getattr(one, name), getattr(other, name)
        if isinstance(values, np.ndarray):
            np.testing.assert_array_equal(values, others, strict=True)
        elif values is None or others is None:
            assert values is others
        else:
            assert list(values) == list(others)
            for key in values if isinstance(values, Mapping) else ():
                assert len(values[key]) == len(others[key]) == len(one)


@pytest.mark.parametrize("source", ["a detector's results", "records of our own"])
def test_what_is_read_ahead_is_what_is_read_later(source: str, files: tuple[Path, Path]) -> None:
    paths = FILES if source == "a detector's results" else [str(path) for path in files]
    with ReadingAhead(paths[0], paths[1], threads=None):
        ahead = read(paths[0]), read_detections(paths[1])
    later = read(paths[0]), read_detections(paths[1])
    same(ahead[0], later[0])
    same(ahead[1], later[1])
    same(ahead[0].images, later[0].images)
    assert ahead[0].categories.names == later[0].categories.names
    if paths != FILES:
        assert ahead[0].segmentations is not None
        assert ahead[0].segmentations[0] == OUTLINE


def read_of_another_time(files: tuple[Path, Path], read_both: Callable[[], tuple[Any, Any]]) -> list[int]:
    """The images of what is read within the context, after the files with image 1 got image 2."""
    with ReadingAhead(*files, threads=None):
        time.sleep(0.2)  # for the other threads, which have little to do
        files[0].write_text(truth(2))
        files[1].write_text(found(2))
        return [int(one.image_ids[0]) for one in read_both()]


def test_the_usual_options_take_what_was_read_ahead(files: tuple[Path, Path]) -> None:
    for _ in range(20):  # a busy machine may not have begun before the files change
        files[0].write_text(truth(1))
        files[1].write_text(found(1))
        if read_of_another_time(files, lambda: (read(files[0]), read_detections(files[1]))) == [1, 1]:
            break
    else:
        pytest.fail("nothing was read ahead")
    # It is taken once, and only until the end of the context.
    assert read(files[0]).image_ids[0] == read_detections(files[1]).image_ids[0] == 2


def posed(places: list[float], **box: Any) -> str:
    """Detections with one point each, and no boxes."""
    one = {"image_id": 1, "category_id": 1, "score": 0.5}
    return json.dumps([{**one, "keypoints": [place, 2 * place, 1], **box} for place in places])


@pytest.mark.parametrize("box", [{}, {"bbox": [0, 0, 1, 1]}])
def test_keypoints_of_detections_without_boxes_are_read_ahead(box: dict[str, Any], files: tuple[Path, Path]) -> None:
    for _ in range(20):  # as above
        files[1].write_text(posed([3, 5], **box))
        with ReadingAhead(*files, threads=None):
            time.sleep(0.2)
            files[1].write_text(posed([4, 6], **box))  # as many bytes as before
            dt = read_detections(files[1])
            xs = [point[0] for point in dt.regions["keypoints"]]
        if box:  # they were not needed, and are read from the file as it is
            assert xs == [4, 6]
            break
        if dt.boxes[:, 0].tolist() == [3, 5]:
            break
        assert dt.boxes[:, 0].tolist() == [4, 6]
    else:
        pytest.fail("nothing was read ahead")


def test_keypoints_that_cannot_be_read_are_named(files: tuple[Path, Path]) -> None:
    files[1].write_text(posed([3, 5]).replace("5, 10", "true, 10"))
    with ReadingAhead(*files, threads=None), pytest.raises(DatasetError, match=r"detections\[1\]\.keypoints: expected"):
        read_detections(files[1])


def masked(count: int, side: int, last: Any = None) -> tuple[str, str]:
    """Squares as polygons, and detections as RLE without boxes; ``last`` is the mask of the last of each."""
    size = {"size": [9, 9], "counts": [0, side, 81 - side]}
    whole = json.loads(truth(1))
    objects = [{**whole["annotations"][0], "id": row + 1, "segmentation": square(side)} for row in range(count)]
    found = [{"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": size} for _ in range(count)]
    for rows in (objects, found):
        rows[-1]["segmentation"] = rows[-1]["segmentation"] if last is None else last
    return json.dumps({**whole, "annotations": objects}), json.dumps(found)


def square(side: int) -> list[list[int]]:
    return [[0, 0, side, 0, side, side, 0, side]]


def areas(objects: GroundTruth) -> Any:
    sizes = objects.images.sizes[np.zeros(len(objects), int)]
    masks = decode(objects.regions["segmentations"], sizes, source=objects.source, array="annotations")
    return masks.area.tolist()


@pytest.mark.parametrize("count", [1, 700])  # some parts of many records, the last of them not full
def test_masks_are_read_ahead(count: int, files: tuple[Path, Path]) -> None:
    for _ in range(20):  # as above
        for path, text in zip(files, masked(count, 3), strict=True):
            path.write_text(text)
        with ReadingAhead(*files, threads=None, masks=True):
            time.sleep(0.3)
            for path, text in zip(files, masked(count, 5), strict=True):  # as many bytes as before
                path.write_text(text)
            gt, dt = read(files[0]), read_detections(files[1])
            if areas(gt) == [9] * count and dt.areas is not None and dt.areas.tolist() == [3] * count:
                break
    else:
        pytest.fail("nothing was read ahead")


@pytest.mark.parametrize("wait", [0, 0.3])
@pytest.mark.parametrize("masks", [False, True])
def test_masks_that_cannot_be_read_are_named(files: tuple[Path, Path], masks: bool, wait: float) -> None:
    texts = masked(700, 3, [[0, 0, 3, 0, True, 3]])
    for path, text in zip(files, texts, strict=True):
        path.write_text(text)
    with ReadingAhead(*files, threads=None, masks=masks):
        time.sleep(wait)
        with pytest.raises(
            DatasetError, match=r"annotations\[699\]\.segmentation: expected polygons: .* another value"
        ):
            areas(read(files[0]))
        with pytest.raises(DatasetError, match=r"detections\[699\]\.segmentation: expected"):
            read_detections(files[1])


def test_masks_read_ahead_are_those_of_their_images(files: tuple[Path, Path]) -> None:
    files[0].write_text(masked(1, 5)[0])
    with ReadingAhead(*files, threads=None, masks=True):
        time.sleep(0.2)
        gt = read(files[0])
        smaller = gt.images.sizes / 3
        masks = decode(gt.regions["segmentations"], smaller, source="here", array="annotations")
    assert masks.area.tolist() == [9]


def test_other_options_read_for_themselves(files: tuple[Path, Path]) -> None:
    drop: dict[str, Any] = {"on_invalid": "drop"}
    both = lambda: (read(files[0], **drop), read_detections(files[1], **drop))  # noqa: E731
    assert read_of_another_time(files, both) == [2, 2]


def test_other_files_and_dialects_are_read_for_themselves(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "lvis.json"
    content = json.loads(truth(1))
    content["images"][0] |= {"neg_category_ids": [], "not_exhaustive_category_ids": [1]}
    other.write_text(json.dumps(content))
    with ReadingAhead(other, files[1], threads=None):
        lists = read_lvis(other).images.attributes["not_exhaustive_category_ids"]
        assert list(lists[0]) == [1]
        assert read(files[0]).image_ids[0] == 1


def test_another_thread_reads_for_itself(files: tuple[Path, Path]) -> None:
    read_there: list[int] = []
    with ReadingAhead(*files, threads=None):
        time.sleep(0.1)
        files[0].write_text(truth(2))
        thread = threading.Thread(target=lambda: read_there.append(int(read(files[0]).image_ids[0])))
        thread.start()
        thread.join()
    assert read_there == [2]


@pytest.mark.parametrize("text", ["", "{", '{"images": [', "[]", '{"images": [], "categories": [], "annotations": 3}'])
def test_errors_are_those_of_reading_later(files: tuple[Path, Path], text: str) -> None:
    files[0].write_text(text)
    messages = []
    for starts in (None, 1):  # with a number of threads, nothing is read ahead
        with ReadingAhead(*files, threads=starts), pytest.raises(DatasetError) as raised:
            GroundTruth.from_coco(files[0])
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    files[1].write_text(found(1)[:-20])
    with ReadingAhead(*files, threads=None), pytest.raises(DatasetError, match="truncated"):
        Detections.from_coco(files[1])


def test_a_missing_file_is_missing(files: tuple[Path, Path]) -> None:
    files[1].unlink()
    with ReadingAhead(*files, threads=None), pytest.raises(FileNotFoundError):
        read_coco(*files)


def test_the_error_of_a_context_comes_through(files: tuple[Path, Path]) -> None:
    with pytest.raises(KeyError, match="mine"), ReadingAhead(*files, threads=None):
        raise KeyError("mine")
    assert read(files[0]).image_ids[0] == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_left_to_its_reader(files: tuple[Path, Path], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(found(1)))
    with ReadingAhead(files[0], pipe, threads=None):
        writer.start()
        assert len(read_detections(pipe)) == 1
    writer.join()


@pytest.mark.parametrize("given", [(3, FILES[1]), (None, None), (FILES[0], b"x.json"), (FILES[0], "labels/")])
def test_what_is_no_pair_of_json_files_is_left_alone(given: tuple[Any, Any]) -> None:
    with ReadingAhead(*given, threads=None):
        assert len(read(FILES[0])) > 0
