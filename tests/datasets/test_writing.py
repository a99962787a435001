"""Writing data sets: complete or not at all, with a note about everything that is lost."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError
from ioukit.datasets import Detections, Format, GroundTruth, read, register_format, write
from ioukit.datasets.formats.builtin import BUILTIN
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

GT = GroundTruth.from_arrays(
    image_ids=["a.jpg"], category_ids=[1], boxes=[[1, 2, 3, 4]], categories={1: "cat"}, flags={"crowd": [True]}
)
DT = Detections.from_arrays(image_ids=["a.jpg"], category_ids=[1], boxes=[[1, 2, 3, 4]], scores=[0.5])


def write_lines(data: GroundTruth | Detections, path: Path, *, end: str = "\n", **options: Any) -> list[str]:
    """A format of one file: a JSON list per object."""
    if isinstance(data, Detections):
        assert options["ground_truth"] is GT
    path.write_text("".join(json.dumps(box) + end for box in data.boxes.tolist()))
    return left_out_columns(data, Holds(category_ids=True, image_sizes=False))


def write_folder(data: GroundTruth, path: Path, *, broken: bool = False) -> list[str]:
    """A format of one folder, with a file per image."""
    assert list(path.iterdir()) == []
    (path / "labels").mkdir()
    for name in data.images.labels.tolist():
        (path / "labels" / f"{name}.txt").write_text("x")
        if broken:
            raise DatasetError("the second file cannot be written")
    return left_out_columns(data, Holds(category_ids=True, flags=None))


@pytest.fixture(autouse=True)
def formats() -> Iterator[None]:
    before = dict(FORMATS)
    register_format(
        Format(
            name="lines",
            title="a JSON list per object",
            recognises=lambda path: path.suffix == ".lines",
            read=lambda path, **_: GroundTruth.from_coco(path),
            write=write_lines,
            write_detections=write_lines,
            suffix=".lines",
            detections_suffix=".lines",
        )
    )
    register_format(
        Format(
            name="folders",
            title="a file per image",
            recognises=lambda path: path.name == "labels",
            read=lambda path, **_: GroundTruth.from_coco(path),
            write=write_folder,
        )
    )
    yield
    FORMATS.clear()
    FORMATS.update(before)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.lines"
    assert write(GT, path, "lines") == ("flag crowd of 1 object",)
    assert path.read_text() == "[1.0, 2.0, 3.0, 4.0]\n"
    assert write(GT, str(path), "lines", end="\r\n") == ("flag crowd of 1 object",)
    assert path.read_bytes().endswith(b"\r\n"), "the file was replaced"
    assert write(DT, path, "lines", ground_truth=GT) == ()
    assert os.listdir(tmp_path) == ["a.lines"]


def test_a_folder_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data"
    assert write(GT, path, "folders") == ()
    assert [file.name for file in path.rglob("*.txt")] == ["a.jpg.txt"]
    with pytest.raises(OSError, match="data"):
        write(GT, path, "folders")
    assert [file.name for file in path.rglob("*.txt")] == ["a.jpg.txt"], "nothing was replaced"
    (tmp_path / "empty").mkdir()
    write(GT, tmp_path / "empty", "folders")
    assert sorted(os.listdir(tmp_path)) == ["empty", "new"]


def test_nothing_half_is_left(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="the second file cannot be written"):
        write(GT, tmp_path / "new" / "data", "folders", broken=True)
    assert os.listdir(tmp_path) == []
    path = tmp_path / "a.lines"
    path.write_text("before")
    with pytest.raises(TypeError):
        write(GT, path, "lines", end=3)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.lines"]
    with pytest.raises(FileNotFoundError, match=r"nothing/a\.lines"):
        write(GT, tmp_path / "nothing" / "a.lines", "lines")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(ValueError, match=r"unknown format 'line'; did you mean 'lines'\? Else choose from coco, "):
        write(GT, path, "line")
    with pytest.raises(ValueError, match=r"the format folders writes no detections; choose from .*lines"):
        write(DT, path, "folders", ground_truth=GT)
    FORMATS["unwritten"] = Format(name="unwritten", title="", recognises=lambda _: False, read=read)
    with pytest.raises(ValueError, match=r"the format unwritten writes no ground truth; choose from .*lines, folders"):
        write(GT, path, "unwritten")
    with pytest.raises(TypeError, match="expected GroundTruth or Detections, got list"):
        write([1], path, "lines")  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


def test_formats_are_registered_once() -> None:
    with pytest.raises(ValueError, match="there is a format 'lines' already: a JSON list per object"):
        register_format(FORMATS["lines"])
    with pytest.raises(ValueError, match="format 'none' reads neither ground truth nor detections"):
        register_format(Format(name="none", title="", recognises=lambda _: False))


def test_a_format_of_detections_alone_is_not_read_as_ground_truth(tmp_path: Path) -> None:
    path = tmp_path / "a.scored"
    path.write_text("cat 0.5\n")
    register_format(
        Format(
            name="scored",
            title="a class and a score in each line",
            recognises=lambda path: path.suffix == ".scored",
            read_detections=lambda _, **__: DT,
        )
    )
    said = rf"{re.escape(str(path))}: the format scored \(a class and a score in each line\) holds no ground truth"
    for name in (None, "scored"):
        with pytest.raises(DatasetError, match=said):
            read(path, name)


@pytest.mark.parametrize("known", BUILTIN, ids=lambda known: known.name)
def test_the_table_of_formats_is_consistent(known: Format) -> None:
    assert known.read or known.read_detections
    assert known.title
    assert known.title[-1] not in ".:"
    assert known.write or not known.suffix
    assert known.write_detections or not known.detections_suffix
    for suffix in (known.suffix, known.detections_suffix):
        assert not suffix or suffix.startswith(".")


@pytest.mark.parametrize("known", [one for one in BUILTIN if one.write], ids=lambda known: known.name)
def test_an_empty_data_set_is_written_or_refused(known: Format, tmp_path: Path) -> None:
    """Each writer gets a data set without images and objects."""
    if known.name in ("parquet", "arrow"):
        pytest.importorskip("pyarrow", reason="its files need PyArrow: pip install 'ioukit[tables]'")
    empty = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[])
    path = tmp_path / f"out{known.suffix}"
    try:
        write(empty, path, known.name)
    except DatasetError:
        assert os.listdir(tmp_path) == []
    else:
        assert path.is_file() if known.suffix else path.is_dir()
