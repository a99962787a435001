"""The XML of LabelMe's web tool: what objects become, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit import DatasetError
from ioukit.datasets import find_format, read
from support.data_sets import CLASS_NAMES
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = DATA / "formats_small" / "labelme_xml"
POINTS = "<pt><x>1</x><y>2</y></pt><pt><x>5.5</x><y>2</y></pt><pt><x>5</x><y>6</y></pt>"


def text(*objects: str, name: str = "a.jpg") -> str:
    size = "<imagesize><nrows>30</nrows><ncols>40</ncols></imagesize>"
    return f"<annotation><filename>{name}</filename>{size}{''.join(objects)}</annotation>"


def one(inner: str = f"<polygon>{POINTS}</polygon>", name: str = "cat") -> str:
    return f"<object><name>{name}</name>{inner}</object>"


def test_the_sample_becomes_columns() -> None:
    assert find_format(SAMPLE).name == "labelme-xml"
    gt = read(SAMPLE)
    assert gt.images.labels.tolist() == ["subset1/img1.png"]
    assert gt.images.sizes.tolist() == [[102, 77]]
    names = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    found = {names[number]: box for number, box in zip(gt.category_ids.tolist(), gt.boxes.tolist(), strict=True)}
    assert found == {
        "window": [43, 34, 2, 3],
        "license plate": [58, 66, 4, 2],
        "o1": [15, 12, 27, 14],
        "q1": [28, 21, 15, 10],
        "b1": [13, 19, 10, 11],
        "m1": [56, 14, 14, 9],
        "hg": [60, 21, 14, 13],
    }
    assert [one is not None for one in gt.segmentations or ()] == [True, False, True, True, False, False, True]
    assert gt.flag("occluded").tolist() == [False, False, True, False, True, False, False]
    assert gt.attributes["attributes"].tolist() == ["", "", "a1", "kj", "hg", "d", "gfd lkj lkj hi"]
    assert gt.notes == (f"{SAMPLE}: 2 x mask in another file, which is not read",)


def test_what_is_no_object_is_counted(tmp_path: Path) -> None:
    line = "<polygon><pt><x>1</x><y>2</y></pt></polygon>"
    (tmp_path / "a.xml").write_text(text(one(line), one(f"<deleted>1</deleted>{line}"), one()))
    gt = read(tmp_path / "a.xml")
    assert gt.boxes.tolist() == [[1, 2, 4.5, 4]]
    assert [note.rpartition("left out ")[2] for note in gt.notes] == [
        "1 x polygon of fewer than 3 points",
        "1 x deleted object",
    ]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (one(""), r"a\.xml: object\[0\]: expected <polygon>, or <segm> with <box>, found none of them"),
        (one(name=""), r"object\[0\]: <name>: expected the name of a class, found ''"),
        (one().replace("5.5", "x"), r"object\[0\]: <pt>\[1\]\.x: expected a number, found 'x'"),
        (one("<segm><box><xmin>1</xmin></box></segm>"), r"object\[0\]: <box>\.ymin: expected a number, found nothing"),
    ],
)
def test_a_bad_object_is_refused_or_left_out(changed: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(text(changed, one()))
    with pytest.raises(DatasetError, match=says):
        read(tmp_path / "a.xml")
    gt = read(tmp_path / "a.xml", on_invalid="drop")
    assert (len(gt), gt.dropped) == (1, 1)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(text(name=""))
    with pytest.raises(DatasetError, match=r"a\.xml: <filename>: expected the name of an image, found ''"):
        read(tmp_path)
    for name in "ab":
        (tmp_path / f"{name}.xml").write_text(text())
    with pytest.raises(DatasetError, match=r"b\.xml: <filename>: expected an image that differs from those before"):
        read(tmp_path)
    with pytest.raises(DatasetError, match=r"expected XML files of LabelMe, found none"):
        read(DATA / "formats_small" / "labelme_json", "labelme-xml")


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        names = [name.replace("&", "&amp;").replace("<", "&lt;") for name in CLASS_NAMES[:3]]
        (folder / "a.xml").write_text(text(*(one(name=name) for name in names)).replace("><", ">\n<"))
        return folder / "a.xml"

    outcomes = read_damaged(make, "a.xml", lambda path, **options: read(path, "labelme-xml", **options), tmp_path)
    assert outcomes.read.total() > 20
    assert outcomes.refused.total() > 100


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        for name in "ab":
            (folder / f"{name}.xml").write_text(text(name=name))
        return folder

    assert_links_out_are_refused(make, "b.xml", read, tmp_path)
