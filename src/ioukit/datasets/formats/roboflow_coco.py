"""Folders as Roboflow exports COCO: a file ``_annotations.coco.json`` in a folder per split, among its images."""

from __future__ import annotations

import os
from pathlib import Path

from ioukit.datasets.columns._checks import OnInvalid, check_on_invalid
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.text_files import abbreviate, existing_folder, inside, refuse

FILE = "_annotations.coco.json"


def recognises(path: Path) -> bool:
    """Whether a folder, or a folder in it, has a file of that name."""
    try:
        return (path / FILE).is_file() or any(path.glob(f"*/{FILE}"))
    except OSError:
        return False


def read_roboflow_coco(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
    attributes: bool = False,
) -> GroundTruth:
    """Read the ground truth of one split.

    Args:
        path: The folder of the splits, or that of one split.
        split: The folder of the split, such as ``"train"``, ``"valid"`` or ``"test"``. It may be ``None`` if there is
            only one.
        on_invalid: As for :meth:`~ioukit.GroundTruth.from_coco`.
        threads: As for :meth:`~ioukit.GroundTruth.from_coco`.
        attributes: As for :meth:`~ioukit.GroundTruth.from_coco`.

    Raises:
        DatasetError: If there is no such split, there are several and none is named, or the file is invalid.
        OSError: If the file cannot be read.
    """
    check_on_invalid(on_invalid)
    folder = existing_folder(path, f"a folder with {FILE}")
    splits = sorted(file.parent.name for file in folder.glob(f"*/{FILE}"))
    if split is None and (folder / FILE).is_file():
        place = FILE
    elif split is None and len(splits) == 1:
        place = f"{splits[0]}/{FILE}"
    elif split in splits:
        place = f"{split}/{FILE}"
    else:
        names = ", ".join(splits) or "none"
        refuse(f"{folder}: split", f"one of the splits, which are {names}", abbreviate(split))
    file = inside(folder, place, f"{folder}: {place}")
    return GroundTruth.from_coco(file, on_invalid=on_invalid, threads=threads, attributes=attributes)
