"""CVAT's XML for images and videos: what each shape becomes, what is refused, and what comes back after writing."""

from __future__ import annotations

import dataclasses
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ioukit import DatasetError, GroundTruth
from ioukit.datasets import find_format, read, write
from ioukit.datasets.formats.cvat import _HOLDS
from ioukit.regions import Masks, RotatedBoxes
from support.data_sets import FREE, HALVES, assert_came_back, ground_truths
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

SAMPLES = DATA / "formats_small"
TEXTS = st.sampled_from(["a", "", "Ärger\n\r\t ", "a,b", "<b>&", "犬", "true"])
LABELS = """<meta><task><labels>
<label><name>dog</name><attributes>
<attribute><name>wet</name><input_type>checkbox</input_type></attribute>
<attribute><name>age</name><input_type>number</input_type></attribute>
<attribute><name>mood</name><input_type>select</input_type></attribute></attributes></label>
<label><name>cat</name><attributes/></label>
<label><name>left</name><type>points</type><parent>cat</parent></label>
<label><name>right</name><type>points</type><parent>cat</parent></label>
</labels></task></meta>"""


def images(*shapes: str, head: str = LABELS, size: str = 'width="40" height="30"') -> str:
    return f'<annotations>{head}<image id="0" name="a/b.jpg" {size}>{"".join(shapes)}</image></annotations>'


def box(corners: str = "1 2 3 4", label: str = "dog", more: str = "", inner: str = "") -> str:
    names = zip(("xtl", "ytl", "xbr", "ybr"), corners.split(), strict=True)
    return f'<box label="{label}" {" ".join(f"{a}={b!r}" for a, b in names)} {more}>{inner}</box>'


def read_text(folder: Path, text: str, **options: Any) -> GroundTruth:
    (folder / "a.xml").write_text(text)
    assert find_format(folder / "a.xml").name == "cvat"
    return read(folder / "a.xml", **options)


def test_the_samples_have_the_expected_boxes() -> None:
    gt = read(SAMPLES / "cvat_images" / "train.xml")
    assert gt.images.labels.tolist() == ["img0.jpg", "img1.jpg"]
    assert gt.images.sizes.tolist() == [[8, 8], [10, 10]]
    assert (gt.boxes.tolist(), gt.image_labels().tolist()) == ([[0, 2, 4, 2]], ["img0.jpg"])
    assert gt.categories.names == ("label1", "label2")
    assert gt.flag("occluded").tolist() == gt.flag("a1").tolist() == [True]
    assert {name: column.tolist() for name, column in gt.attributes.items()} == {
        "a2": ["v3"],
        "a3": ["0003"],
        "a4": [2.4],
    }
    left_out = [note.rpartition(": left out ")[2] for note in gt.notes]
    assert left_out == ["1 x polyline without a label", "1 x polygon without a label", "1 x points"]
    video = read(SAMPLES / "cvat_video")
    assert video.images.labels.tolist() == [f"frame_0000{frame}" for frame in (10, 13, 16, 19)]
    assert video.images.sizes.tolist() == [[25, 20]] * 4
    assert (video.boxes.tolist(), video.image_labels().tolist()) == ([[3, 4, 7, 1]], ["frame_000010"])
    assert video.categories.names == ("klhg", "z U k", "II")
    assert video.attributes["track_id"].tolist() == [0]


def test_shapes_of_images_become_columns(tmp_path: Path) -> None:
    skeleton = (
        '<skeleton label="cat"><points label="right" outside="0" occluded="1" points="5,9"/>'
        '<points label="left" outside="0" occluded="0" points="2,3"/></skeleton>'
    )
    inner = "".join(
        f'<attribute name="{name}">{text}</attribute>'
        for name, text in (("wet", "true"), ("age", "2.5"), ("mood", " "))
    )
    gt = read_text(
        tmp_path,
        images(
            box("1.5 2 3 4", more='occluded="1" group_id="7"', inner=inner),
            '<polygon label="dog" points="1,1;5,1;5,4.5"/>',
            '<mask label="dog" rle="1, 2, 1, 2" left="4" top="6" width="3" height="2"/>',
            '<ellipse label="cat" cx="10" cy="10" rx="4" ry="2" rotation="90"/>',
            skeleton,
            '<cuboid label="dog" xtl1="0"/>',
            '<tag label="dog"/>',
        ),
    )
    assert gt.boxes[[0, 1, 2, 4]].tolist() == [[1.5, 2, 1.5, 2], [1, 1, 4, 3.5], [5, 6, 2, 2], [2, 3, 3, 6]]
    np.testing.assert_allclose(gt.boxes[3], [8, 6, 4, 8], atol=1e-12)
    assert gt.areas[:3].tolist() == [3, 7, 4]
    assert gt.segmentations is not None
    pixels = Masks.from_rle([gt.segmentations[2]]).to_arrays()[0]
    assert pixels.shape == (30, 40)
    assert pixels[6:8, 4:7].astype(int).tolist() == [[0, 1, 1], [0, 1, 1]]
    assert gt.categories.names == ("dog", "cat")
    assert gt.regions["keypoints"].tolist()[4] == [[2, 3, 2], [5, 9, 1]]
    assert gt.regions["keypoints"].tolist()[0] == [[0, 0, 0], [0, 0, 0]]
    assert gt.flag("occluded").tolist() == gt.flag("wet").tolist() == [True, *[False] * 4]
    assert gt.attributes["age"].tolist()[0] == 2.5
    assert gt.attributes["group_id"].tolist()[0] == 7
    assert gt.attributes["mood"].tolist() == [" ", "", "", "", ""]
    assert [note.rpartition(": left out ")[2] for note in gt.notes] == ["1 x cuboid", "1 x tag"]
    assert "RotatedBoxes" not in gt.regions


def test_a_rotation_is_clockwise_on_the_screen(tmp_path: Path) -> None:
    """The corner to the right of the centre moves down, where y grows."""
    gt = read_text(
        tmp_path,
        images(box("10 10 20 10", more='rotation="30"'), box("0 0 4 2"), "<polygon label='dog' points='0,0;2,0;0,2'/>"),
    )
    corners = gt.regions["RotatedBoxes"].corners()[0]
    right = corners[corners[:, 0].argmax()]
    np.testing.assert_allclose(right, [15 + 5 * math.cos(math.pi / 6), 10 + 5 * math.sin(math.pi / 6)])
    np.testing.assert_allclose(gt.boxes[0], [15 - 5 * math.cos(math.pi / 6), 7.5, 10 * math.cos(math.pi / 6), 5])
    assert gt.areas.tolist() == [0, 8, 2]
    turned = gt.regions["RotatedBoxes"].convert(unit="degrees", sense="clockwise").numpy()
    np.testing.assert_allclose(turned, [[15, 10, 10, 0, 30], [2, 1, 4, 2, 0], [1, 1, 2, 2, 0]])


def test_tracks_of_a_video(tmp_path: Path) -> None:
    track = (
        '<track id="4" label="cat"><box frame="2" keyframe="1" outside="0" xtl="1" ytl="1" xbr="2" ybr="2"/>'
        '<box frame="3" keyframe="0" outside="0" xtl="2" ytl="1" xbr="3" ybr="2"/>'
        '<box frame="4" keyframe="1" outside="1" xtl="2" ytl="1" xbr="3" ybr="2"/></track>'
    )
    gt = read_text(tmp_path, f"<annotations>{LABELS}{track}{track.replace('4', '9', 1)}</annotations>")
    assert gt.images.labels.tolist() == ["frame_000002", "frame_000003", "frame_000004"]
    assert gt.image_labels().tolist() == ["frame_000002", "frame_000003"] * 2
    assert gt.attributes["track_id"].tolist() == [4, 4, 9, 9]
    assert gt.flag("keyframe").tolist() == [True, False, True, False]
    assert np.isnan(gt.images.sizes).all()
    frames = (
        "<meta><task><size>3</size><start_frame>0</start_frame><stop_frame>5</stop_frame>"
        "<frame_filter>step=2</frame_filter></task></meta>"
    )
    listed = read_text(tmp_path, f"<annotations>{frames}{track}</annotations>").images.labels
    assert [int(name[-1]) for name in listed.tolist()] == [0, 2, 3, 4]  # those of the head, and one of the track
    contradicting = frames.replace("<size>3", "<size>900000000000")
    assert len(read_text(tmp_path, f"<annotations>{contradicting}{track}</annotations>").images) == 3


def test_frames_without_a_shape_are_counted(tmp_path: Path) -> None:
    def track(*frames: tuple[int, int]) -> str:
        corners = 'xtl="1" ytl="1" xbr="2" ybr="2"'
        shapes = [f'<box frame="{frame}" outside="{outside}" {corners}/>' for frame, outside in frames]
        return f'<track id="4" label="cat">{"".join(shapes)}</track>'

    whole = track((0, 0), (1, 0), (2, 1), (7, 0), (8, 1))
    assert read_text(tmp_path, f"<annotations>{LABELS}{whole}</annotations>").notes == ()
    keys = track((0, 0), (10, 0), (12, 1)) + whole
    (note,) = read_text(tmp_path, f"<annotations>{LABELS}{keys}</annotations>").notes
    assert note.endswith(": 10 x frame of a track without a shape, between two with one: nothing is interpolated")
    every_second = track((0, 0), (2, 0), (4, 0))
    assert read_text(tmp_path, f"<annotations>{LABELS}{every_second}</annotations>").notes == ()


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        (
            box("3 2 1 4"),
            r"a\.xml: image\[0\]: box\[0\]: expected xbr and ybr of at least xtl and ytl, found 3, 2, 1, 4",
        ),
        (box("1 x 3 4"), r"box\[0\]\.ytl: expected a number, found 'x'"),
        (box("1 nan 3 4"), r"box\[0\]\.ytl: expected a number, found 'nan'"),
        (box().replace("xbr", "xb"), r"box\[0\]\.xbr: expected a number, found nothing"),
        (box(label="bird"), r"box\[0\]\.label: expected one of the 2 labels of the file, found 'bird'"),
        (box(inner='<attribute name="wet">yes</attribute>'), r"attribute wet: expected true or false, found 'yes'"),
        (box(inner='<attribute name="age">old</attribute>'), r"attribute age: expected a number, found 'old'"),
        (box(inner="<attribute>old</attribute>"), r"<attribute>: expected a name, found nothing"),
        ('<polygon label="dog" points="1,1;2,2"/>', r"polygon\[0\]\.points: expected at least 3 points of a polygon"),
        (
            '<polygon label="dog" points="1,1;2;3,3"/>',
            r"points: expected x,y with semicolons between them, found '1,1;2;",
        ),
        ('<polygon label="dog"/>', r"points: expected x,y with semicolons between them, found ''"),
        (
            '<mask label="dog" rle="1,2" left="0" top="0" width="2" height="2"/>',
            r"rle: expected runs of 4 pixels, 2 x 2, found 3",
        ),
        (
            '<mask label="dog" rle="4" left="0" top="0" width="2" height="2"/>',
            r"rle: expected a mask with at least one pixel",
        ),
        (
            '<mask label="dog" rle="0,4" left="39" top="0" width="2" height="2"/>',
            r"rle: expected a mask inside of the image",
        ),
        (
            '<mask label="dog" rle="-1,5" left="0" top="0" width="2" height="2"/>',
            r"rle: expected whole numbers with commas",
        ),
        ('<ellipse label="dog" cx="1" cy="1" rx="-1" ry="1"/>', r"rx: expected a number of at least 0, found '-1'"),
        (
            '<star label="dog"/>',
            r"star\[0\]: expected one of box, polygon, ellipse, mask, skeleton, polyline, .*, found <star>",
        ),
        ('<skeleton label="cat"/>', r"skeleton\[0\]: expected at least one point that is not outside, found none"),
        (
            '<skeleton label="cat"><points label="left" points="1,1;2,2"/></skeleton>',
            r"points: expected 1 point, found 2",
        ),
        (
            '<skeleton label="cat"><points points="1,1"/></skeleton>',
            r"skeleton\[0\]: points\[0\]\.label: expected the name of a point, found nothing",
        ),
    ],
)
def test_a_bad_shape_is_refused_or_left_out(shape: str, says: str, tmp_path: Path) -> None:
    text = images(shape, box())
    with pytest.raises(DatasetError, match=says):
        read_text(tmp_path, text)
    gt = read_text(tmp_path, text, on_invalid="drop")
    assert (gt.boxes.tolist(), gt.dropped) == ([[1, 2, 2, 2]], 1)


def test_bad_images_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"image\[0\]\.height: expected a number of at least 1, found '0'"):
        read_text(tmp_path, images(size='width="1" height="0"'))
    twice = images().replace("</image>", '</image><image id="1" name="a/b.jpg"/>')
    with pytest.raises(DatasetError, match=r"image\[1\]\.name: expected an image that differs from those before"):
        read_text(tmp_path, twice)
    assert len(read_text(tmp_path, twice, on_invalid="drop").images) == 1
    with pytest.raises(DatasetError, match=r"expected a mask in an image of known width and height"):
        read_text(tmp_path, images('<mask label="dog" rle="0,4" left="0" top="0" width="2" height="2"/>', size=""))
    for none in ("<name/>", ""):
        with pytest.raises(DatasetError, match=r"a\.xml: <label>: expected a name, found (nothing|'')"):
            read_text(tmp_path, images(head=LABELS.replace("<name>cat</name>", none)))
    (tmp_path / "b.xml").write_text(images())
    with pytest.raises(DatasetError, match=r"expected annotations\.xml, or a single XML file, found 2 XML files"):
        read(tmp_path, "cvat")
    (tmp_path / "annotations.xml").write_text(images(box()))
    assert find_format(tmp_path).name == "cvat"
    assert len(read(tmp_path)) == 1


@given(
    st.sampled_from(["boxes", "polygons", "rotated", "keypoints"]).flatmap(
        lambda kind: ground_truths(
            coordinates=HALVES if kind == "boxes" else FREE,
            flags=("crowd", "occluded"),
            attributes={"note": TEXTS, "depth": st.floats(-10, 10), "group_id": st.integers(0, 5).map(float)},
            polygons=kind == "polygons",
            rotated=kind == "rotated",
            keypoints=3 if kind == "keypoints" else 0,
        )
    )
)
def test_what_is_written_comes_back(gt: GroundTruth) -> None:
    has_points = "keypoints" in gt.regions
    holds = dataclasses.replace(_HOLDS, regions=frozenset()) if has_points else _HOLDS  # boxes are not around them
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.xml"
        notes = write(gt, path, "cvat")
        assert find_format(path).name == "cvat"
        assert_came_back(gt, read(path), holds, [*notes, "keypoints of"] if has_points else notes, tolerance=1e-9)


@given(st.lists(arrays(np.bool_, (7, 9)).filter(np.any), min_size=1, max_size=4))
def test_masks_come_back(pixels: list[Any]) -> None:
    masks = Masks.from_arrays(pixels)
    gt = GroundTruth.from_arrays(
        image_ids=["a"] * len(masks),
        category_ids=[1] * len(masks),
        boxes=masks.to_boxes(),
        areas=masks.area,
        segmentations=masks.to_rle(),
        images=["a"],
        sizes=[[9, 7]],
        categories={1: "a"},
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.xml"
        assert write(gt, path, "cvat") == ("ids of 1 classes: their names remain",)
        again = read(path)
    assert list(again.segmentations or ()) == masks.to_rle()
    assert again.boxes.tolist() == gt.boxes.tolist()
    assert again.areas.tolist() == gt.areas.tolist()


def skeletons(boxes: Any) -> GroundTruth:
    points = np.array([[[1, 2, 2], [5, 9, 1], [0, 0, 0]], [[1, 1, 2], [2, 2, 2], [3, 3, 2]]], float)
    return GroundTruth.from_arrays(
        image_ids=["a.jpg", "a.jpg"],
        category_ids=[5, 6],
        boxes=boxes,
        images=["a.jpg"],
        sizes=[[20, 20]],
        categories={5: "a & b", 6: "c"},
        keypoints=points,
    )


def test_keypoints_are_written_where_boxes_are_around_them_or_if_asked(tmp_path: Path) -> None:
    gt = skeletons([[1, 2, 4, 7], [0, 0, 9, 9]])
    notes = write(gt, tmp_path / "a.xml", "cvat")
    assert "keypoints of 1 objects, whose boxes are not those around them" in notes
    again = read(tmp_path / "a.xml")
    assert again.boxes.tolist() == gt.boxes.tolist()
    assert again.regions["keypoints"].tolist() == [gt.regions["keypoints"][0].tolist(), [[0, 0, 0]] * 3]
    notes = write(gt, tmp_path / "b.xml", "cvat", keypoints=True)
    assert "boxes of 1 objects: those around their keypoints or rotated boxes remain" in notes
    again = read(tmp_path / "b.xml")
    assert again.regions["keypoints"].tolist() == gt.regions["keypoints"].tolist()
    assert again.boxes.tolist() == [[1, 2, 4, 7], [1, 1, 2, 2]]


def test_losses_of_writing_are_named(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=["a", "a"],
        category_ids=[1, 1],
        regions=RotatedBoxes([[5.0, 5, 4, 2, 0.5], [5.0, 5, 4, 2, 0]], unit="radians", sense="clockwise"),
        boxes=[[0, 0, 9, 9], [3, 4, 4, 2]],
        images=["a"],
        sizes=[[10, 10]],
        categories={1: "a"},
        segmentations=[None, [[0, 0, 4, 0, 0, 4], [5, 5, 9, 5, 5, 9]]],
        flags={"crowd": [True, False]},
        attributes={"crowd": [1.0, 2.0]},
    )
    notes = write(gt, tmp_path / "a.xml", "cvat")
    for said in (
        "segmentations of 1 object in several parts: they become masks of pixels",
        "boxes of 1 object: those around their segmentations remain",
        "boxes of 1 objects: those around their keypoints or rotated boxes remain",
        "attribute crowd: the name means something else in the files",
        "areas of 1 object ",
    ):
        assert any(said in note for note in notes), said
    odd = GroundTruth.from_arrays(
        image_ids=["a"], category_ids=[1], boxes=[[0, 0, 1, 1]], images=["a"], sizes=[[5, 5]], categories={1: "a\x01"}
    )
    with pytest.raises(DatasetError, match=r"expected text with characters that XML allows, found 'a\\x01'"):
        write(odd, tmp_path / "odd.xml", "cvat")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.xml"]


@pytest.mark.parametrize("kind", ["images", "video"])
def test_damaged_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    content = (SAMPLES / f"cvat_{kind}" / ("train.xml" if kind == "images" else "annotations.xml")).read_text()
    if kind == "images":
        content = content.replace(
            "</image>", '<mask label="label1" rle="0,4" left="1" top="1" width="2" height="2"/></image>', 1
        )

    def make(folder: Path) -> Path:
        (folder / "a.xml").write_text(content)
        return folder / "a.xml"

    outcomes = read_damaged(make, "a.xml", lambda path, **options: read(path, "cvat", **options), tmp_path)
    assert outcomes.read.total() > 20
    assert outcomes.refused.total() > 100


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        (folder / "annotations.xml").write_text(images(box()))
        return folder

    assert_links_out_are_refused(make, "annotations.xml", lambda path: read(path, "cvat"), tmp_path)
