"""The settings of a YOLO data set: what its ``data.yaml`` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.text_files import FARTHEST, read_text, shortened
from ioukit.errors import DatasetError

__all__ = ["class_names", "in_words", "keypoint_shape", "yaml_document"]


def yaml_document(path: Path) -> Any:
    """The document of a YAML file."""
    yaml = import_extra("yaml", extra="yolo", needed_by="data.yaml")

    def no_merges(mapping: Any) -> None:
        for key, _ in mapping.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(None, None, "expected no key <<", key.start_mark)

    text, loader = read_text(path), None
    try:
        loader = yaml.SafeLoader(text)
        loader.flatten_mapping = no_merges  # a few merges of merges would fill the memory
        return loader.get_single_data()
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # ValueError: a date or a number out of its range
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or (str(error).splitlines() or ["nothing"])[0]
        raise DatasetError(f"{path}: {line}not YAML: {shortened(problem)}") from None
    finally:
        if loader is not None:
            loader.dispose()


def in_words(value: object) -> str:
    """A value of a YAML file for a message. Values that stand for each other may be very long when they are written."""
    if isinstance(value, list):
        return shortened(f"[{', '.join(map(_item, value[:9]))}{', ...' * (len(value) > 9)}]")
    return shortened(f"a mapping of {len(value):,} keys" if isinstance(value, dict) else _item(value))


def _item(value: object) -> str:
    if isinstance(value, list | dict | set | tuple):
        return "[...]" if value else "[]"
    return "a number out of range" if isinstance(value, int) and abs(value) > FARTHEST else repr(value)


def class_names(path: Path, names: object) -> tuple[str, ...]:
    """The names of the classes, from the value of ``names``."""
    if isinstance(names, dict) and names.keys() == set(range(len(names))):
        names = [names[number] for number in range(len(names))]
    if not isinstance(names, list) or not names:
        raise DatasetError(f"{path}: names must be a list, or a mapping from 0 on, got {in_words(names)}")
    for number, name in enumerate(names):
        if isinstance(name, list | dict | set | tuple) or (isinstance(name, int) and abs(name) > FARTHEST):
            raise DatasetError(f"{path}: names: class {number}: expected a name, found {in_words(name)}")
    return tuple(map(str, names))


def keypoint_shape(path: Path, shape: object) -> tuple[int, int] | None:
    """How many keypoints an object has, and of how many numbers each, from the value of ``kpt_shape``."""
    if shape is None:
        return None
    if isinstance(shape, list) and len(shape) == 2 and shape[1] in (2, 3) and shape[0] in range(1, 10_000):
        return int(shape[0]), int(shape[1])
    raise DatasetError(f"{path}: kpt_shape must be [points, 2 or 3], got {in_words(shape)}")
