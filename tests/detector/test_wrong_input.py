"""What is wrong with the data is named and counted, and the run stops or goes on as the option says."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")


from ioukit import DatasetError
from ioukit.datasets.shapes import CLASSES
from ioukit.torch.detector.data import read_yolo_data
from ioukit.torch.detector.predict import predict
from support.command import run_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(few_images: Path, tmp_path: Path) -> Path:
    return shutil.copytree(few_images, tmp_path / "copy")


def missing(folder: Path) -> None:
    (folder / "images" / "val" / "000005.png").unlink()


def corrupt(folder: Path) -> None:
    image = folder / "images" / "val" / "000005.png"
    image.write_bytes(image.read_bytes()[:300])


def out_of_range(folder: Path) -> None:
    (folder / "labels" / "val" / "000005.txt").write_text("7 0.5 0.5 0.2 0.2\n")


def outside(folder: Path) -> None:
    (folder / "labels" / "val" / "000005.txt").write_text("0 0.5 0.5 0.2 0.2\n0 0.95 0.5 0.2 0.2\n")


def coco_outside(folder: Path) -> None:
    path = folder / "annotations" / "val.json"
    data = json.loads(path.read_text())
    data["annotations"][0]["bbox"] = [60, 10, 20, 20]
    path.write_text(json.dumps(data))


PROBLEMS = [
    ("yolo", missing, "missing image", r"000005\.txt has labels, but there is no image 000005 in .*val"),
    ("yolo", corrupt, "corrupt image", r"000005\.png cannot be read as an image"),
    ("yolo", out_of_range, "label out of range", r"000005\.txt: line 1: class 7 is not one of 0 to 6"),
    ("yolo", outside, "box outside", r"000005\.txt: line 2: box \['0\.95', .* reaches out of the image"),
    ("coco", missing, "missing image", r"there is no image .*000005\.png"),
    ("coco", corrupt, "corrupt image", r"000005\.png cannot be read as an image"),
    ("coco", coco_outside, "box outside", r"annotation \d+: box \[60\.0, 10\.0, 20\.0, 20\.0\] .* image of 64 x 64"),
]


@pytest.mark.parametrize(
    ("form", "spoil", "kind", "message"), PROBLEMS, ids=[f"{row[0]}-{row[1].__name__}" for row in PROBLEMS]
)
def test_stops_or_goes_on(
    form: str, spoil: Callable[[Path], None], kind: str, message: str, folder: Path, network: Path
) -> None:
    spoil(folder)
    source: list[str | Path] = [folder / "data.yaml"]
    if form == "coco":
        source = [folder / "annotations" / "val.json", "--images", folder / "images" / "val"]
    stopped = run_here("val", network, *source, "--device", "cpu")
    assert (stopped.code, stopped.out) == (2, "")
    assert re.search(rf"Error: .*{message}", stopped.err), stopped.err
    went_on = run_here("val", network, *source, "--device", "cpu", "--on-invalid", "skip", "--json")
    assert went_on.code in (0, None), went_on.err
    assert re.search(rf"note val    1 x {kind}: .*{message}", went_on.err), went_on.err
    images = 3 if "image" in kind else 4
    assert f"read val    {images} images" in went_on.err
    assert json.loads(went_on.out)["counts"]["images"] == images


def test_an_empty_label_file_is_background_either_way(folder: Path, network: Path) -> None:
    (folder / "labels" / "val" / "000005.txt").write_text("\n")
    for option in ("error", "skip"):
        evaluated = run_here("val", network, folder / "data.yaml", "--device", "cpu", "--on-invalid", option)
        assert evaluated.code in (0, None), evaluated.err
        assert re.search(r"note val    1 x background: .*000005\.txt names no object", evaluated.err)


def test_training_says_it_too(folder: Path, tmp_path: Path) -> None:
    corrupt(folder)
    stopped = run_here("train", folder / "data.yaml", "-o", tmp_path / "run")
    assert stopped.code == 2
    assert re.search(r"Error: .*000005\.png cannot be read as an image", stopped.err)
    assert not (tmp_path / "run").exists()
    wrong = run_here("train", folder / "data.yaml", "-o", tmp_path / "run", "--on-invalid", "ignore")
    assert (wrong.code, "unknown on_invalid 'ignore'; choose from error, skip" in wrong.err) == (2, True)


def test_nothing_left(folder: Path) -> None:
    for image in (folder / "images" / "val").iterdir():
        image.write_bytes(b"no image")
    with pytest.raises(DatasetError, match=r"val: no image can be used: .*000004\.png cannot be read"):
        read_yolo_data(folder / "data.yaml", "val", on_invalid="skip")


def test_a_list_of_images(folder: Path) -> None:
    names = ["images/val/000004.png", "images/val/000006.png", "images/val/none.png"]
    (folder / "val.txt").write_text("\n".join(names))
    (folder / "data.yaml").write_text(f"train: images/train\nval: val.txt\nnames: {json.dumps(list(CLASSES))}\n")
    with pytest.raises(DatasetError, match=r"there is no image .*none\.png"):
        read_yolo_data(folder / "data.yaml", "val")
    data = read_yolo_data(folder / "data.yaml", "val", on_invalid="skip")
    assert [record.path.name for record in data.records] == ["000004.png", "000006.png"]
    assert all(len(record.labels) for record in data.records)
    (folder / "data.yaml").write_text("train: images/train\nval: [a, 5]\nnames: [a]\n")
    with pytest.raises(DatasetError, match=r"val must be a folder or a \.txt file, or a list of them, got \['a', 5\]"):
        read_yolo_data(folder / "data.yaml", "val")


class TestPredict:
    def test_the_others_are_answered(self, folder: Path, network: Path, tmp_path: Path) -> None:
        corrupt(folder)
        options = ["--score-threshold", "0", "--max-dets", "1", "--device", "cpu", "--batch", "2"]
        stopped = run_here("predict", network, folder / "images" / "val", *options)
        assert stopped.code == 2
        assert re.search(r"Error: .*000005\.png cannot be read as an image", stopped.err)
        found = run_here(
            "predict", network, folder / "images" / "val", *options, "--on-invalid", "skip", "--json",
            tmp_path / "dt.json",
        )  # fmt: skip
        assert found.code in (0, None), found.err
        assert [line.split("\t")[0][-10:] for line in found.out.splitlines()] == [
            "000004.png", "000006.png", "000007.png",
        ]  # fmt: skip
        assert re.search(r"note skipped .*000005\.png", found.err)
        records = json.loads((tmp_path / "dt.json").read_text())
        assert [record["image_id"] for record in records] == [1, 3, 4]  # each keeps its number

    def test_files_folders_and_arrays(self, folder: Path, network: Path) -> None:
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415

        model = load_model(network, "cpu")
        file = folder / "images" / "val" / "000004.png"
        array = np.zeros((40, 30, 3), np.uint8)
        assert len(list(predict(model, file))) == len(list(predict(model, str(file)))) == 1
        assert len(list(predict(model, array))) == 1
        assert len(list(predict(model, folder / "images" / "val"))) == 4
        mixed = list(predict(model, [array, str(file), folder / "images" / "val"], score_threshold=0, batch=4))
        assert len(mixed) == 6
        assert isinstance(mixed[0].image, np.ndarray)
        assert mixed[1].image == str(file)
        boxes = mixed[1].boxes
        assert boxes.xyxy.shape == boxes.xywh.shape == boxes.cxcywh.shape == (100, 4)
        assert boxes.conf.shape == boxes.cls.shape == (100,)
        assert list(predict(model, [])) == []
        with pytest.raises(ValueError, match="unknown on_invalid 'never'; choose from error, skip"):
            list(predict(model, file, on_invalid="never"))  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["train", "val", "predict"])
def test_help_has_examples(command: str) -> None:
    shown = run_here(command, "--help")
    assert shown.code in (0, None)
    assert "Examples:" in shown.out
    assert f"ioukit {command}" in shown.out
    assert "--on-invalid" in shown.out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"5", r"data\.yaml: expected train, val and names, got 5"),
        (b"train", r"data\.yaml: expected train, val and names, got 'train'"),
        (b"", r"data\.yaml: expected train, val and names, got None"),
        (b"1: a\ntrain: b", r"data\.yaml: expected train, val and names, got \[1, 'train'\]"),
        (b"train: [", r"data\.yaml: line 1: not YAML: expected the node content"),
        (b"\xff\xfe\x00", r"data\.yaml: line 1: expected text in UTF-8, found the byte 0xff"),
    ],
)
def test_a_file_that_is_no_data_yaml_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "data.yaml").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        read_yolo_data(tmp_path / "data.yaml", "train")
