"""LabelMe's JSON: what each shape becomes, what is refused, and what comes back after writing."""

from __future__ import annotations

import base64
import io
import json
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, GroundTruth
from ioukit.datasets import find_format, read, write
from ioukit.datasets.formats.labelme import _HOLDS
from ioukit.regions import Masks
from support.data_sets import FREE, HALVES, assert_came_back, ground_truths
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLES = DATA / "formats_small" / "labelme_json"
TEXTS = st.sampled_from(["a", "", "Ärger\n", "a,b", "<b>", "犬"])


def record(*shapes: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    head: dict[str, Any] = {"version": "5.5.0", "flags": {}, "imagePath": "a.jpg", "imageData": None}
    return {**head, "imageWidth": 40, "imageHeight": 30, "shapes": list(shapes), **changes}


def shape(kind: str | None, points: Any, **changes: Any) -> dict[str, Any]:
    made = {"label": "cat", "points": points, "shape_type": kind, "flags": {}, "group_id": None, **changes}
    return {name: value for name, value in made.items() if name != "shape_type" or kind is not None}


def read_record(folder: Path, content: Any, **options: Any) -> GroundTruth:
    (folder / "a.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return read(folder / "a.json", "labelme", **options)


def test_the_samples_have_the_expected_boxes() -> None:
    expected = json.loads((DATA / "formats_small" / "expected_boxes.json").read_text())["labelme_json"]
    assert find_format(SAMPLES).name == "labelme"
    gt = read(SAMPLES)
    names = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    found: dict[str, list[Any]] = {}
    for image, category, (x, y, w, h) in zip(gt.image_labels(), gt.category_ids.tolist(), gt.boxes, strict=True):
        found.setdefault(str(image), []).append([names[category], x, y, x + w, y + h])
    assert found == expected
    assert gt.images.sizes.tolist() == [[500, 333], [500, 375], [500, 333]]


def test_each_shape_becomes_a_box_and_perhaps_a_segmentation(tmp_path: Path) -> None:
    gt = read_record(
        tmp_path,
        record(
            shape("rectangle", [[10, 20], [4, 2]]),
            shape("rectangle", [[0, 0], [5, 0], [5, 6], [0, 6]]),
            shape(None, [[1, 1], [5, 1], [5, 4]], flags={"hidden": True}, description="far", score=0.5),
            shape("circle", [[10, 10], [13, 14]], label="dog"),
            shape("oriented_rectangle", [[5, 0], [10, 5], [5, 10], [0, 5]]),
        ),
    )
    assert gt.boxes[:3].tolist() == [[4, 2, 6, 18], [0, 0, 5, 6], [1, 1, 4, 3]]
    np.testing.assert_allclose(gt.boxes[3:], [[5, 5, 10, 10], [0, 0, 10, 10]], atol=1e-12)
    assert gt.segmentations is not None
    assert gt.segmentations[:3] == [None, None, [[1, 1, 5, 1, 5, 4]]]
    assert gt.areas[[2, 4]].tolist() == [6, 50]
    assert gt.areas[3] == pytest.approx(math.pi * 25, rel=2e-3)
    circle = np.reshape(gt.segmentations[3][0], (-1, 2))
    np.testing.assert_allclose(np.hypot(*(circle - 10).T), 5)
    assert gt.categories.names == ("cat", "dog")
    assert gt.flag("hidden").tolist() == [False, False, True, False, False]
    assert gt.attributes["description"].tolist() == ["", "", "far", "", ""]
    np.testing.assert_array_equal(gt.attributes["score"], [np.nan, np.nan, 0.5, np.nan, np.nan])


def test_shapes_without_a_region_are_counted(tmp_path: Path) -> None:
    lines = [shape(kind, [[1, 1], [2, 2]]) for kind in ("line", "linestrip", "point", "point", "points")]
    gt = read_record(tmp_path, record(*lines, shape("rectangle", [[1, 1], [2, 2]])))
    assert len(gt) == 1
    assert [note.rpartition("left out ")[2] for note in gt.notes] == [
        "1 x shape line",
        "1 x shape linestrip",
        "2 x shape point",
        "1 x shape points",
    ]


def test_shapes_of_a_group_are_one_object(tmp_path: Path) -> None:
    parts = [shape("polygon", [[x, 0], [x + 4, 0], [x, 4]], group_id=3) for x in (0, 10)]
    gt = read_record(tmp_path, record(*parts, shape("rectangle", [[20, 5], [22, 6]], group_id=3, label="dog")))
    assert gt.boxes.tolist() == [[0, 0, 14, 4], [20, 5, 2, 1]]
    assert gt.areas.tolist() == [16, 2]
    assert gt.segmentations == [[[0, 0, 4, 0, 0, 4], [10, 0, 14, 0, 10, 4]], None]


def png(pixels: Any) -> str:
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.fromarray(np.asarray(pixels, np.uint8)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def test_masks_are_placed_by_their_first_and_last_pixel(tmp_path: Path) -> None:
    part = np.array([[1, 0, 1], [1, 1, 0]])
    gt = read_record(tmp_path, record(shape("mask", [[5, 7], [7, 8]], mask=png(part))))
    assert gt.segmentations is not None
    pixels = Masks.from_rle(gt.segmentations).to_arrays()[0]
    assert pixels.shape == (30, 40)
    assert pixels.sum() == 4
    assert pixels[7:9, 5:8].tolist() == part.astype(bool).tolist()
    assert gt.boxes.tolist() == [[5, 7, 3, 2]]
    assert gt.areas.tolist() == [4]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (shape("rectangle", [[1, 1]]), r"a\.json: shapes\[0\]\.points: expected 2 points of a rectangle, found 1"),
        (shape("polygon", [[1, 1], [2, 2]]), r"shapes\[0\]\.points: expected at least 3 points of a polygon, found 2"),
        (shape("cube", [[1, 1]]), r"shapes\[0\]\.shape_type: expected polygon, rectangle, .*, found 'cube'"),
        (shape("rectangle", [[1, 1], [2]]), r"shapes\[0\]\.points\[1\]: expected \[x, y\], found \[2\]"),
        (shape("rectangle", [[1, 1], [2, "x"]]), r"points\[1\]\[1\] \(y\): expected a number, found 'x'"),
        (shape("rectangle", [[1, 1], [2, 2]], label=None), r"shapes\[0\]\.label: expected text, found nothing"),
        (shape("rectangle", [[1, 1], [2, 2]], label=""), r"label: expected the name of a class, found ''"),
        (shape("rectangle", [[1, 1], [2, 2]], flags={"a": 1}), r"flags: expected an object of true and false, found"),
        (shape("rectangle", [[1, 1], [2, 2]], group_id="a"), r"group_id: expected a whole number, found 'a'"),
        (shape("mask", [[1, 1], [2, 2]], mask="?"), r"shapes\[0\]\.mask: expected a PNG in base64, found something"),
    ],
)
def test_a_bad_shape_is_refused_or_left_out(changed: Any, says: str, tmp_path: Path) -> None:
    content = record(changed, shape("rectangle", [[1, 1], [2, 2]]))
    with pytest.raises(DatasetError, match=says):
        read_record(tmp_path, content)
    gt = read_record(tmp_path, content, on_invalid="drop")
    assert (len(gt), gt.dropped) == (1, 1)
    assert "left out 1 x bad shape" in gt.notes[0]


def test_masks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    good = png(np.ones((2, 2)))
    for points, mask, says in (
        ([[1, 1], [3, 3]], good, r"expected a PNG of 3 x 3 pixels, as the points say, found 2 x 2"),
        ([[39, 1], [40, 2]], good, r"expected a mask inside of the image of 40 x 30 pixels, found 2 x 2 pixels at 39"),
        ([[1, 1], [2, 2]], png(np.zeros((2, 2))), r"expected a mask with at least one pixel, found none"),
    ):
        with pytest.raises(DatasetError, match=says):
            read_record(tmp_path, record(shape("mask", points, mask=mask)))
    both = [shape("mask", [[1, 1], [2, 2]], mask=good, group_id=1) for _ in range(2)]
    with pytest.raises(DatasetError, match=r"group_id: expected a mask in a group of its own, found 1"):
        read_record(tmp_path, record(*both))


def test_ids_are_paths_from_the_folder(tmp_path: Path) -> None:
    for name, path in (("x/1", "a.jpg"), ("x/2", "..\\b.jpg"), ("3", "../../out/c.jpg"), ("4", "/root/d.jpg")):
        (tmp_path / f"{name}.json").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.json").write_text(json.dumps(record(imagePath=path)))
    assert read(tmp_path).images.labels.tolist() == ["b.jpg", "c.jpg", "d.jpg", "x/a.jpg"]
    (tmp_path / "5.json").write_text(json.dumps(record(imagePath="d.jpg")))
    with pytest.raises(DatasetError, match=r"5\.json\.imagePath: expected an image that differs from those before"):
        read(tmp_path)
    assert len(read(tmp_path, on_invalid="drop").images) == 4


@given(
    st.sampled_from([HALVES, FREE]).flatmap(
        lambda coordinates: ground_truths(
            coordinates=coordinates,
            flags=("crowd", "difficult"),
            attributes={"note": TEXTS, "depth": st.floats(-10, 10)},
            polygons=coordinates is FREE,
        )
    )
)
def test_what_is_written_comes_back(gt: GroundTruth) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels"
        if not len(gt.images):
            with pytest.raises(DatasetError, match="expected at least one image, because each has a file, found none"):
                write(gt, path, "labelme")
            return
        notes = write(gt, path, "labelme")
        assert find_format(path).name == "labelme"
        assert_came_back(gt, read(path), _HOLDS, notes, tolerance=1e-9)


def test_losses_of_writing_are_named(tmp_path: Path) -> None:
    rle = Masks.from_arrays(np.ones((1, 3, 3), bool)).to_rle()[0]
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1],
        category_ids=[1, 1],
        boxes=[[0, 0, 3, 3], [0, 0, 5, 5]],
        areas=[9, 2],
        images=[1],
        sizes=[[3, 3]],
        names=["../a.jpg"],
        categories={1: "a"},
        segmentations=[rle, [[0, 0, 4, 0, 0, 4]]],
        attributes={"label": ["x", "y"], "pair": [[1, 2], [3, 4]], "far": [math.inf, 1.0], "sure": [True, False]},
    )
    notes = write(gt, tmp_path / "out", "labelme")
    for said in (
        "areas of 1 object ",
        "masks of pixels of 1 object: their boxes remain",
        "boxes of 1 object: those around their segmentations remain",
        "folders of 1 images",
        "attribute label: the name means something else in the files",
        "attribute pair: it is not one number or text per object",
        "attribute far of 1 objects: numbers beyond 2**53",
        "attribute sure: it becomes a flag",
    ):
        assert any(said in note for note in notes), said
    again = read(tmp_path / "out")
    assert again.boxes.tolist() == [[0, 0, 3, 3], [0, 0, 4, 4]]
    assert again.images.labels.tolist() == ["a.jpg"]
    no_size = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 1, 1]])
    with pytest.raises(DatasetError, match=r"image 'a': expected a width and a height, found none"):
        write(no_size, tmp_path / "none", "labelme")
    assert not (tmp_path / "none").exists()


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        shapes = [shape("rectangle", [[1, 2], [3, 4]]), shape("polygon", [[1, 1], [5, 1], [5, 4.5]], group_id=1)]
        (folder / "b.json").write_text(json.dumps(record(*shapes), indent=1))
        return folder

    outcomes = read_damaged(make, "b.json", lambda path, **options: read(path, "labelme", **options), tmp_path)
    assert outcomes.read.total() > 20
    assert outcomes.refused.total() > 100


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        for name in "ab":
            (folder / f"{name}.json").write_text(json.dumps(record(imagePath=f"{name}.jpg")))
        return folder

    assert_links_out_are_refused(make, "b.json", read, tmp_path)
