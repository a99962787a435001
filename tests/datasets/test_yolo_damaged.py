"""A data.yaml that is damaged or hostile, and links out of the folder of a YOLO data set, are refused in one line."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ioukit import DatasetError
from ioukit.datasets import read
from support.malformed import refused

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("yaml", reason="data.yaml needs PyYAML: pip install 'ioukit[yolo]'")

DOUBLED = "\n".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]" for k in range(1, 40))
MERGED = "\n".join(f"a{k}: &a{k} {{<<: [*a{k - 1}, *a{k - 1}]}}" for k in range(1, 40))


def data_set(folder: Path) -> Path:
    labels = folder / "labels" / "here"
    labels.mkdir(parents=True)
    (labels / "a.txt").write_text("0 .5 .5 .5 .5")
    (labels / "sizes.csv").write_text("name,width,height\na.jpg,8,8\n")
    (folder / "data.yaml").write_text("val: images/here\nnames: [cat]\n")
    return folder


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"a0: &a0 [x]\n{DOUBLED}\nval: images/here\nnames: *a39", "names: class 0: expected a name, found "),
        (f"a0: &a0 [x]\n{DOUBLED}\nval: *a39\nnames: [cat]", r"val must be a folder .*, got \[\[\.\.\.\], "),
        (f"a0: &a0 {{x: 1}}\n{MERGED}\nval: images/here\nnames: [cat]", "line 2: not YAML: expected no key <<"),
        ("val: images/here\nnames: &a [*a]", r"names: class 0: expected a name, found \[\[\.\.\.\]\]"),
        ("val: images/here\nnames:\n  .nan: cat\n  1: dog", "names must be a list, .*, got a mapping of 2 keys"),
        ("val: images/here\nnames:\n  a: cat\n  1: dog", "names must be a list, .*, got a mapping of 2 keys"),
        (f"val: images/here\nnames: [0x{'f' * 5000}]", "class 0: expected a name, found a number out of range"),
        (f"val: images/here\nnames: 0x{'f' * 5000}", "names must be a list, .*, got a number out of range"),
        (f"val: images/here\nnames: [{'9' * 5000}]", r"data\.yaml: not YAML: Exceeds the limit"),
        ("val: images/here\nnames: [2001-99-99]", r"data\.yaml: not YAML: month must be in 1\.\.12"),
        (f"val: {'x' * 5000}\nnames: [cat]", "val: there is no folder "),
        ('val: "a\\0b"\nnames: [cat]', "val: there is no folder "),
        ('val: "a\\nb"\nnames: [cat]', "val: there is no folder "),
        (f"val: images/here\nnames: [cat]\npath: {'x' * 5000}", "val: there is no folder "),
        ("val: images/here\nnames: [cat\n", "line 3: not YAML: expected ',' or ']'"),
        (
            "val: !!python/object/apply:os.getcwd []\nnames: [cat]",
            "line 1: not YAML: could not determine a constructor",
        ),
        ("[" * 10_000, "not YAML: maximum recursion depth"),
    ],
)
def test_a_damaged_data_yaml_is_refused_in_one_short_line(text: str, message: str, tmp_path: Path) -> None:
    data_set(tmp_path)
    (tmp_path / "data.yaml").write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        read(tmp_path, "yolo")
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'data.yaml'}: ")
    assert "\n" not in said
    assert len(said) < 600


def test_names_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    folder = data_set(tmp_path)
    (folder / "labels" / "here" / "sizes.csv").write_text(f"name,width,height\na.jpg,8,8\n{'x' * 300}.jpg,8,8\n")
    with pytest.raises(DatasetError, match=r"sizes\.csv: line 3, name: expected a path that a file can have"):
        read(folder, "yolo", on_invalid="drop")
    (folder / "data.yaml").write_text("val: list.txt\nnames: [cat]\n")
    for named in ("x" * 300, "a\0b"):
        (folder / "list.txt").write_text(f"images/here/a.jpg\nimages/here/{named}.jpg")
        with pytest.raises(DatasetError, match=r"list\.txt: line 2: expected a path inside "):
            read(folder, "yolo", on_invalid="drop")


@pytest.mark.parametrize(
    "name", ["data.yaml", "labels", "labels/here", "labels/here/sizes.csv", "labels/here/a.txt", "list.txt"]
)
def test_no_link_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = data_set(tmp_path / "data")
    if name == "list.txt":
        (folder / "list.txt").write_text("images/here/a.jpg")
        (folder / "data.yaml").write_text("val: list.txt\nnames: [cat]\n")
    else:
        assert len(read(folder, "yolo")) == 1
    shutil.move(folder / name, tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    assert "a link out of it" in refused(read, folder, "yolo")


def test_a_folder_that_the_user_names_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(data_set(tmp_path / "data"))
    assert len(read(tmp_path / "link", "yolo")) == 1
    assert len(read(tmp_path / "link" / "data.yaml", "yolo")) == 1
    described = tmp_path / "elsewhere.yaml"
    described.write_text(f"path: {tmp_path / 'link'}\nval: images/here\nnames: [cat]\n")
    assert len(read(described, "yolo")) == 1


def test_class_names_may_be_any_scalar(tmp_path: Path) -> None:
    data_set(tmp_path)
    (tmp_path / "data.yaml").write_text("val: &v images/here\ntest: *v\nnames: [7, 2.5, yes, null, 2001-01-02, cat]\n")
    assert read(tmp_path, "yolo").categories.names == ("7", "2.5", "True", "None", "2001-01-02", "cat")
