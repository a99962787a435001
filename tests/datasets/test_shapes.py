"""The drawn data set: every box and mask is exact, and the same arguments draw the same files."""

from __future__ import annotations

import filecmp
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pycocotools import mask as coco_mask

import ioukit
from ioukit.datasets.shapes import CLASSES, Scene, draw_scene, make_shapes
from support.command import run_here

Image = pytest.importorskip("PIL.Image", reason="shapes need Pillow: pip install 'ioukit[shapes]'")

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (120, 90)


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return [draw_scene(index, seed=7, size=SIZE, handwritten=False) for index in range(60)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("data") / "shapes"
    make_shapes(target, images=10, seed=7, size=SIZE, val=0.3, handwritten=False)
    return target


class TestScenes:
    def test_boxes_are_the_edges_of_the_masks(self, scenes: list[Scene]) -> None:
        for scene in scenes:
            assert scene.pixels.shape == (90, 120, 3)
            assert scene.masks.sum(axis=0).max() == 1, "no pixel shows two shapes"
            for (x1, y1, x2, y2), mask in zip(scene.boxes.astype(int), scene.masks, strict=True):
                assert mask[y1:y2, x1:x2].sum() == mask.sum()
                assert mask[y1].any()
                assert mask[y2 - 1].any()
                assert mask[:, x1].any()
                assert mask[:, x2 - 1].any()

    def test_there_is_something_of_everything(self, scenes: list[Scene]) -> None:
        labels = np.concatenate([scene.labels for scene in scenes])
        assert set(labels) == set(range(len(CLASSES)))
        assert all(1 <= len(scene.labels) <= 12 for scene in scenes)
        sides = np.concatenate([(scene.boxes[:, 2:] - scene.boxes[:, :2]).max(axis=1) for scene in scenes])
        assert sides.max() / sides.min() > 4
        joined = [ioukit.overlap_join(scene.boxes, min_iou=0.05) for scene in scenes]
        assert sum(map(len, joined)) > 10, "boxes overlap"

    def test_a_scene_depends_on_its_own_number_alone(self) -> None:
        again = [draw_scene(3, seed=7, size=SIZE, handwritten=False) for _ in range(2)]
        assert_array_equal(again[0].pixels, again[1].pixels)
        assert not np.array_equal(again[0].pixels, draw_scene(4, seed=7, size=SIZE, handwritten=False).pixels)
        assert not np.array_equal(again[0].pixels, draw_scene(3, seed=8, size=SIZE, handwritten=False).pixels)

    def test_handwritten_digits(self) -> None:
        pytest.importorskip("sklearn", reason="handwritten digits need scikit-learn")
        typeset, handwritten = (
            [draw_scene(index, size=SIZE, handwritten=kind) for index in range(20)] for kind in (False, True)
        )
        assert any(not np.array_equal(a.pixels, b.pixels) for a, b in zip(typeset, handwritten, strict=True))

    def test_few_large_and_whole(self) -> None:
        easy = {"sides": (0.3, 0.7), "mean": 1.5, "whole": True}
        scenes = [draw_scene(index, seed=7, size=SIZE, handwritten=False, **easy) for index in range(60)]  # type: ignore[arg-type]
        assert np.mean([len(scene.labels) for scene in scenes]) == pytest.approx(1.5, abs=0.3)
        alone = [scene for scene in scenes if scene.labels.tolist() == [CLASSES.index("circle")]]
        sides = np.concatenate([scene.boxes[:, 2:] - scene.boxes[:, :2] for scene in alone])
        assert len(sides) > 3
        assert np.ptp(sides, axis=1).max() <= 1  # no edge cuts a circle
        assert 0.3 * 90 - 1 <= sides.min() <= sides.max() <= 0.7 * 90 + 1
        for wrong in ({"sides": (0.5, 0.3)}, {"sides": (0, 0.3)}, {"mean": 0.5}):
            with pytest.raises(ValueError, match=r"sides must ascend within \(0, 1\], and mean be at least 1"):
                draw_scene(0, **wrong)

    def test_too_small(self) -> None:
        with pytest.raises(ValueError, match=r"of at least 32 pixels each, got \(31, 40\)"):
            draw_scene(0, size=(31, 40))


class TestFolder:
    def test_coco_and_yolo_say_the_same(self, folder: Path) -> None:
        for split, count in (("train", 7), ("val", 3)):
            data = json.loads((folder / "annotations" / f"{split}.json").read_text())
            gt = ioukit.GroundTruth.from_coco(data)
            assert [entry["name"] for entry in data["categories"]] == list(CLASSES)
            assert len(data["images"]) == count
            assert len(gt) == len(data["annotations"])
            for image in data["images"]:
                own = [entry for entry in data["annotations"] if entry["image_id"] == image["id"]]
                pixels = np.asarray(Image.open(folder / "images" / split / image["file_name"]))
                assert pixels.shape == (image["height"], image["width"], 3)
                lines = (folder / "labels" / split / image["file_name"].replace("png", "txt")).read_text().splitlines()
                rows = np.array([[float(word) for word in line.split()] for line in lines])
                boxes = ioukit.Boxes(rows[:, 1:], "cxcywh", normalized=True).denormalize(*SIZE).convert("xywh")
                np.testing.assert_allclose(boxes.numpy(), [entry["bbox"] for entry in own], atol=1e-6)
                assert [entry["category_id"] - 1 for entry in own] == rows[:, 0].tolist()

    @pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # pycocotools 2.0.11
    def test_masks_are_what_pycocotools_reads(self, folder: Path) -> None:
        data = json.loads((folder / "annotations" / "train.json").read_text())
        scene = draw_scene(0, seed=7, size=SIZE, handwritten=False)
        own = [entry for entry in data["annotations"] if entry["image_id"] == 1]
        for entry, mask in zip(own, scene.masks, strict=True):
            encoded = coco_mask.frPyObjects(entry["segmentation"], *entry["segmentation"]["size"])
            assert_array_equal(coco_mask.decode(encoded), mask)
            assert coco_mask.area(encoded) == entry["area"]
            assert coco_mask.toBbox(encoded).tolist() == entry["bbox"]

    def test_the_same_arguments_make_the_same_files(self, folder: Path, tmp_path: Path) -> None:
        make_shapes(tmp_path / "again", images=10, seed=7, size=SIZE, val=0.3, handwritten=False)
        names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
        assert len(names) == 10 * 2 + 2 + 1
        assert filecmp.cmpfiles(folder, tmp_path / "again", names, shallow=False) == (names, [], [])

    def test_one_format(self, tmp_path: Path) -> None:
        make_shapes(tmp_path / "coco", images=2, size=(32, 32), val=0, formats=["coco"], handwritten=False)
        assert sorted(path.name for path in (tmp_path / "coco").iterdir()) == ["annotations", "images"]
        assert json.loads((tmp_path / "coco" / "annotations" / "val.json").read_text())["images"] == []

    def test_nothing_is_left_of_what_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any, **__: Any) -> None:
            raise OSError("no space left")

        monkeypatch.setattr("ioukit.datasets.shapes.writing._write", fail)
        with pytest.raises(OSError, match="no space left"):
            make_shapes(tmp_path / "out", images=2, size=(32, 32), handwritten=False)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"images": 0}, "images must be at least 1, got 0"),
            ({"val": 1.0}, "val must be at least 0 and below 1, got 1.0"),
            ({"seed": -1}, "seed must be at least 0, got -1"),
            ({"formats": ["voc"]}, r"formats must be one or both of coco, yolo, got \['voc'\]"),
            ({"size": (8, 8)}, "at least 32 pixels each"),
        ],
    )
    def test_wrong_arguments(self, wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=message):
            make_shapes(tmp_path / "out", **wrong)
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_in_use_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        with pytest.raises(FileExistsError, match="is there already and not empty"):
            make_shapes(tmp_path, images=1)
        assert (tmp_path / "mine.txt").read_text() == "mine"


class TestCommand:
    def test_draws_and_counts(self, tmp_path: Path) -> None:
        out = tmp_path / "shapes"
        result = run_here("make-shapes", out, "--images", "5", "--size", "64x48", "--typeset")
        assert result.code == 0, result.err
        assert result.out == ""
        assert "drew train  4 images" in result.err
        assert np.asarray(Image.open(out / "images" / "val" / "000004.png")).shape == (48, 64, 3)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--size", "big"], "expected PIXELS or WIDTHxHEIGHT, got 'big'"),
            (["--to", "voc"], "formats must be one or both of coco, yolo"),
            (["--val", "2"], "val must be at least 0 and below 1"),
        ],
    )
    def test_wrong_options(self, options: list[str], message: str, tmp_path: Path) -> None:
        result = run_here("make-shapes", tmp_path / "out", *options)
        assert result.code == 2
        assert message in result.err
