"""What the detector reads: both formats, augmented samples, bad lines and bad images."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")
import torch
from PIL import Image

from ioukit import DatasetError
from ioukit.datasets.shapes import CLASSES
from ioukit.torch.detector.batches import Augmentation, loader
from ioukit.torch.detector.data import Data, read_coco_data, read_yolo_data

if TYPE_CHECKING:
    from pathlib import Path


class TestData:
    def test_both_formats_say_the_same(self, folder: Path, learn: Data) -> None:
        coco = read_coco_data(folder / "annotations" / "train.json", folder / "images" / "train")
        assert coco.names == learn.names == CLASSES
        assert len(coco) == len(learn) == 16
        for a, b in zip(coco.records, learn.records, strict=True):
            assert a.path.name == b.path.name
            assert a.size == b.size == (64, 64)
            assert_array_equal(a.labels, b.labels)
            assert_allclose(a.boxes, b.boxes, atol=1e-4)

    @pytest.mark.filterwarnings("ignore:os.fork")  # of JAX, if another test has imported it
    def test_a_sample_depends_on_seed_epoch_and_number_alone(self, learn: Data) -> None:
        def batches(start: int = 0, workers: int = 0) -> list[Any]:
            return list(loader(learn, (64, 64), batch=4, epoch=2, seed=5, start=start, workers=workers))

        every = batches()
        assert len(every) == 4
        for again in (batches(), batches(workers=1)):
            for a, b in zip(every, again, strict=True):
                assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(every[2:], batches(start=2), strict=True):
            assert torch.equal(a.images, b.images)

    def test_ten_batches_have_one_of_many_sizes(self, learn: Data) -> None:
        def sizes(start: int = 0, epoch: int = 0) -> list[tuple[int, int]]:
            options: Any = {"batch": 1, "epoch": epoch, "seed": 5, "start": start, "multi_scale": True}
            return [(one.images.shape[3], one.images.shape[2]) for one in loader(learn, (128, 64), **options)]

        first = sizes()
        assert sizes(start=8) == first[8:]
        assert len(set(first[:10])) == len(set(first[10:])) == 1
        seen = {size for epoch in range(6) for size in sizes(epoch=epoch)}
        assert len(seen) > 2
        assert {width for width, _ in seen} <= {96, 128, 160, 192}
        assert {height for _, height in seen} <= {32, 64, 96}

    def test_boxes_stay_on_what_they_mark(self, tmp_path: Path) -> None:
        """Bright rectangles on black: after any augmentation, their boxes are where it is bright."""
        (tmp_path / "images").mkdir()
        (tmp_path / "labels").mkdir()
        rng = np.random.default_rng(0)
        for number in range(6):
            pixels = np.zeros((80, 100, 3), np.uint8)
            x1, y1 = rng.integers(5, 40, 2)
            w, h = rng.integers(20, 35, 2)
            pixels[y1 : y1 + h, x1 : x1 + w] = 255
            Image.fromarray(pixels).save(tmp_path / "images" / f"{number}.png")
            numbers = [(x1 + w / 2) / 100, (y1 + h / 2) / 80, w / 100, h / 80]
            (tmp_path / "labels" / f"{number}.txt").write_text(" ".join(map(str, [0, *numbers])))
        (tmp_path / "data.yaml").write_text("train: images\nval: images\nnames: [bright]\n")
        data = read_yolo_data(tmp_path / "data.yaml", "train")
        strong = Augmentation(mosaic=0.5, flip=0.5, scale=0.3, shift=0.1, hue=0, saturation=0, brightness=0)
        for epoch in range(6):
            for batch in loader(data, (96, 96), batch=2, epoch=epoch, seed=1, augmentation=strong):
                for image in range(2):
                    bright = batch.images[image].float().mean(dim=0).numpy() > 200
                    marked = np.zeros((96, 96), bool)
                    for x1, y1, x2, y2 in batch.boxes[batch.image == image].round().int().tolist():
                        marked[y1:y2, x1:x2] = True
                        inner = bright[y1 + 1 : y2 - 1, x1 + 1 : x2 - 1]
                        assert not inner.size or inner.mean() > 0.9
                    assert (bright & ~marked).sum() < 0.1 * max(bright.sum(), 60)

    @pytest.mark.parametrize(
        ("line", "kind", "message"),
        [
            ("9 0.5 0.5 0.1 0.1", "label out of range", "class 9 is not one of 0 to 6"),
            ("0 0.5 0.5 0.1", "bad line", "expected class cx cy w h"),
            ("0 0.5 nan 0.1 0.1", "bad line", "expected a finite number, found"),
            ("0 0.9 0.5 0.4 0.1", "box outside", "reaches out of the image by more than 1 % of it"),
            ("0 0.5 0.5 0 0.1", "box outside", "has no area in the image"),
        ],
    )
    def test_bad_lines(self, line: str, kind: str, message: str, folder: Path, tmp_path: Path) -> None:
        copy = _copy(folder, tmp_path)
        label = copy / "labels" / "train" / "000003.txt"
        good = label.read_text()
        label.write_text(f"{good}{line}\n")
        with pytest.raises(DatasetError, match=rf"000003\.txt: line {good.count(chr(10)) + 1}[:,] .*{message}"):
            read_yolo_data(copy / "data.yaml", "train")
        data = read_yolo_data(copy / "data.yaml", "train", on_invalid="skip")
        assert data.problems == {kind: 1}
        assert len(data) == 16

    def test_bad_images(self, folder: Path, tmp_path: Path) -> None:
        copy = _copy(folder, tmp_path)
        broken = copy / "images" / "train" / "000002.png"
        broken.write_bytes(broken.read_bytes()[:400])
        with pytest.raises(DatasetError, match=r"000002\.png cannot be read as an image"):
            read_yolo_data(copy / "data.yaml", "train")
        data = read_yolo_data(copy / "data.yaml", "train", on_invalid="skip")
        assert data.problems == {"corrupt image": 1}
        assert len(data) == 15
        broken.unlink()
        with pytest.raises(DatasetError, match=r"there is no image .*000002\.png"):
            read_coco_data(copy / "annotations" / "train.json", copy / "images" / "train")
        coco = read_coco_data(copy / "annotations" / "train.json", copy / "images" / "train", on_invalid="skip")
        assert coco.problems == {"missing image": 1}

    def test_an_image_without_objects_is_background(self, folder: Path, tmp_path: Path) -> None:
        copy = _copy(folder, tmp_path)
        (copy / "labels" / "train" / "000001.txt").write_text("")
        (copy / "labels" / "train" / "000004.txt").unlink()
        data = read_yolo_data(copy / "data.yaml", "train")
        assert data.problems == {"background": 2}
        assert len(data.records[1].labels) == 0

    def test_file_names_do_not_lead_out_of_the_folder(self, folder: Path, tmp_path: Path) -> None:
        path = tmp_path / "train.json"
        data = json.loads((folder / "annotations" / "train.json").read_text())
        data["images"][0]["file_name"] = "../val/000016.png"
        path.write_text(json.dumps(data))
        with pytest.raises(DatasetError, match=r"file_name '\.\./val/000016\.png' is not in"):
            read_coco_data(path, folder / "images" / "train")


def _copy(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder, tmp_path / "copy")
