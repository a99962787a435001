"""Messages about text that is damaged: short, printable, and about the line."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from ioukit import DatasetError, GroundTruth
from ioukit.datasets import read
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

LONG = "9" * 1_750_000
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452 00000064 00000032 0802000000 00000000 0000000049444154")


def yolo(folder: Path, label: str, classes: str = "ant\nbee\n") -> Path:
    for inner in ("labels", "images"):
        (folder / inner).mkdir()
    (folder / "labels" / "classes.txt").write_text(classes)
    (folder / "labels" / "a.txt").write_text(label)
    (folder / "images" / "a.png").write_bytes(PNG)
    return folder / "labels"


@pytest.mark.parametrize(
    "line",
    ["0 " * 1_000_000, f"0 .5 .5 .5 {LONG[:300]}", f"0.5{'0' * 900_000} .5 .5 .5 .5", f"0 .5 .5 1e3{'0' * 900_000} .5"],
    ids=["many numbers", "far", "class", "word"],
)
def test_a_long_line_gives_a_short_message(line: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"a\.txt: line 1") as caught:
        read(yolo(tmp_path, line), "yolo")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["kitti", "dota", "mot", "padilla", "wider-face", "csv"])
def test_a_long_line_of_any_format_gives_a_short_message(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"cat {LONG} 1 2 3\n")
    with pytest.raises(DatasetError) as caught:
        read(tmp_path if name in ("kitti", "dota", "padilla") else tmp_path / "a.txt", name)
    assert len(str(caught.value)) < 1000


def test_control_characters_in_a_message_are_escapes() -> None:
    with pytest.raises(DatasetError) as caught:
        raise DatasetError("class \x1b[31mred\x1b[0m\nof \u202eé")
    assert str(caught.value) == r"class \x1b[31mred\x1b[0m\nof \u202eé"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    bad = {"images": [], "categories": [{"id": 1}], "annotations": [{"id": "\x1b[2J"}]}
    with pytest.raises(DatasetError, match=r"found '\\x1b\[2J'"):
        GroundTruth.from_coco(bad)


def test_a_file_of_the_core_is_named_with_escapes(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J.json"
    path.write_text("[1")
    with pytest.raises(DatasetError, match=r"a\\x1b\[2J\.json: expected an object"):
        GroundTruth.from_coco(path)


@pytest.mark.parametrize("settings", ["names: ['']", "names: ['', bee]", "names: {0: ant, 1: ' '}"])
def test_empty_names_of_classes_are_refused(settings: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="data.yaml needs PyYAML: pip install 'ioukit[yolo]'")
    yolo(tmp_path, "0 .5 .5 .2 .2\n")
    (tmp_path / "data.yaml").write_text(f"val: images\n{settings}\n")
    with pytest.raises(DatasetError, match=r"data\.yaml: names: class [01]: expected a name, found '"):
        read(tmp_path, "yolo")


@pytest.mark.parametrize("names", ["", "\n \n"])
def test_an_empty_list_of_classes_is_refused(names: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"classes\.txt: expected a name of a class in each line, found none"):
        read(yolo(tmp_path, "", names), "yolo")


def test_a_zero_byte_in_a_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"image,class,xmin,ymin,xmax,ymax\na.jpg,cat,1,2,3,4\nb.jpg,c\0t,1,2,3,4\n")
    with pytest.raises(DatasetError, match=r"a\.csv: line 3: expected CSV in UTF-8, found a zero byte"):
        read(path)


def test_a_line_of_dota_with_too_few_numbers_is_named(tmp_path: Path) -> None:
    """Not: the folder is empty."""
    (tmp_path / "labelTxt").mkdir()
    (tmp_path / "labelTxt" / "a.txt").write_text("1 1 5 1 5 5 1 plane 0\n")
    with pytest.raises(DatasetError, match=r"a\.txt: line 1, y4: expected a number, found 'plane'"):
        read(tmp_path)
    assert "line 1" in run_here("inspect", tmp_path).err
