"""A rule about images of the training set."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from ioukit.checks.repairs.images import stem
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.checks.case import Case
    from ioukit.datasets import GroundTruth

__all__ = ["train_images"]

_BLOCK = 1 << 20


def train_images(case: Case) -> Iterator[Suspicion]:
    """Images that the training set has as well, by name, and by the bytes of the files where folders are given."""
    if case.train is None:
        return
    gt = case.ground_truth
    ours, theirs = _names(gt), set(_names(case.train))
    both = [name for name in ours if name in theirs]
    yield from _found(gt, both, "have the name of an image of the training set", "train_images_by_name")
    folder, train_folder = case.folders
    if folder is not None and train_folder is not None:
        yield from _found(
            gt, _same_files(folder, train_folder), "have the bytes of an image of the training set",
            "train_images_by_content",
        )  # fmt: skip


def _names(gt: GroundTruth) -> list[str]:
    """The name of each image without folders and extension; its id if it has no name."""
    return [stem(name or label) for name, label in zip(gt.images.names, gt.images.labels.tolist(), strict=True)]


def _found(gt: GroundTruth, names: list[str], says: str, code: str) -> Iterator[Suspicion]:
    if names:
        yield Suspicion(
            code, "sure" if code.endswith("content") else "likely",
            f"{len(names):,} of {len(gt.images):,} images {says}: AP on them does not tell how good the detector is",
            len(names), len(gt.images), "leave them out of the test set, or of the training set (`ioukit subset "
            "--images @FILE` keeps the images of a list)", examples(names),
        )  # fmt: skip


def _same_files(folder: str, other: str) -> list[str]:
    """The names of the files of a folder whose bytes a file of another folder has; only files of one size are read."""
    ours, theirs = _sizes(folder), _sizes(other)
    of_both = set(ours.values()) & set(theirs.values()) - {0}
    known = {_digest(path) for path, size in theirs.items() if size in of_both}
    return [path.name for path, size in ours.items() if size in of_both and _digest(path) in known]


def _sizes(folder: str) -> dict[Path, int]:
    """The files of a folder and of the folders in it, with their sizes; links out of the folder are left out."""
    root = Path(folder).resolve()
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and path.resolve().is_relative_to(root))
    return {path: path.stat().st_size for path in files}


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()
