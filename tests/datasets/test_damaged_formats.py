"""Every format with every kind of damage: files are read, or refused with one message that names a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import datasets
from ioukit.datasets.formats.builtin import BUILTIN
from support.command import run_here
from support.label_samples import Sample, write_sample
from support.malformed import damaged, read_damaged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("yaml", reason="data.yaml needs PyYAML: pip install 'ioukit[yolo]'")
pytest.importorskip("pyarrow", reason="Parquet and Arrow files need PyArrow: pip install 'ioukit[tables]'")

FORMATS = {known.name: known for known in BUILTIN}
PICTURES = (".jpg", ".jpeg")


def sample_in(name: str, folder: Path) -> Sample:
    folder.mkdir()
    return write_sample(name, folder)


def kinds_of_files(path: Path) -> list[Path]:
    """A file of each kind: in a folder, the first of those with the same suffix."""
    if path.is_file():
        return [path]
    found: dict[tuple[Path, str], Path] = {}
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.suffix not in PICTURES:
            found.setdefault((file.parent, file.suffix), file)
    return list(found.values())


def assert_all_damage_is_met(
    name: str, choose: Callable[[Sample], Path], read: Callable[..., Any], tmp_path: Path
) -> None:
    sample = sample_in(name, tmp_path / "sample")
    refused = 0
    for number, file in enumerate(kinds_of_files(choose(sample))):
        place = tmp_path / str(number)
        place.mkdir()
        broken = file.relative_to(tmp_path / "sample").as_posix()
        outcomes = read_damaged(lambda made: choose(write_sample(name, made)), broken, read, place, cuts=15, places=4)
        refused += outcomes.refused.total()
    assert refused > 20


@pytest.mark.parametrize("name", [name for name, known in FORMATS.items() if known.read])
def test_ground_truth(name: str, tmp_path: Path) -> None:
    def read(path: Path, **options: Any) -> Any:
        return datasets.read(path, name, **options)

    assert_all_damage_is_met(name, lambda sample: sample.ground_truth, read, tmp_path)


@pytest.mark.parametrize("name", ["answers", *(name for name, known in FORMATS.items() if known.write_detections)])
def test_detections(name: str, tmp_path: Path) -> None:
    reference = sample_in(name, tmp_path / "reference").reference
    further: dict[str, Any] = {"ground_truth": reference} if FORMATS[name].needs_ground_truth else {}
    if name == "answers":
        further["model"] = "qwen3-vl"

    def path_of(sample: Sample) -> Path:
        assert sample.detections is not None
        return sample.detections

    def read(path: Path, **options: Any) -> Any:
        return datasets.read_detections(path, name, **further, **options)

    assert_all_damage_is_met(name, path_of, read, tmp_path)


@pytest.mark.parametrize("name", [name for name, known in FORMATS.items() if known.read])
def test_the_command_ends_without_a_traceback(name: str, tmp_path: Path) -> None:
    path = sample_in(name, tmp_path / "sample").ground_truth
    good = run_here("inspect", path, "--json")
    assert (good.code or 0, good.err.count("Traceback")) == (0, 0)
    assert json.loads(good.out)["format"] == name
    for file in kinds_of_files(path)[:2]:
        content = file.read_bytes()
        for kind, changed in list(damaged(content, cuts=3, places=1))[::9]:
            file.write_bytes(changed)
            command = run_here("inspect", path, "--json")
            assert command.code in (None, 0, 2), f"{kind}: {command.err}"
            assert "Traceback" not in command.err, kind
            if command.code == 2:
                assert command.err.count("\n") == 1, f"{kind}: {command.err}"
                assert str(tmp_path) in command.err, f"{kind}: {command.err}"
                assert not command.out, kind
            else:
                json.loads(command.out)
        file.write_bytes(content)
