"""The folder in which an evaluation in parts keeps what it has done, so that it can go on after an interruption.

Owns: whose folder it is (the job, the lock), the rows that were split, and what is said of each piece. Does not own:
the tables in it (table_files.py), checksums and the words for damage (kept_files.py), the order of the steps
(engines/).
There is no list of what is done: a file appears complete under its name or not at all, so the names are the list, and
nothing can disagree with it after a crash. What a piece says is written last, because it needs the files that it names.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ioukit import _core
from ioukit._output import whole_file, write_whole
from ioukit.errors import DatasetError
from ioukit.scale.kept_files import checked_digest, checksum, pyarrow, reading, with_digest
from ioukit.scale.parts import rows_of_images
from ioukit.scale.table_files import TableFile, read_batches, write_batches

_JOB = "ioukit-job.json"
_LOCK = "lock"
_WORDS = {
    "ground_truth": "another ground truth",
    "detections": "other detections (or files that have changed)",
    "protocol": "another protocol or other options of it",
    "iou_type": "another kind of region",
    "categories": "other classes",
    "near": "another near=, as with or without --errors or --report",
    "ioukit": "another version of ioukit",
    "layout": "another version of ioukit's folders",
}
_LAYOUT = 5


class WorkFolder:
    """Finished steps as files: each appears complete or not at all."""

    def __init__(self, path: Path) -> None:
        """Take a folder that exists."""
        self.path = path

    def table(self, first: int, end: int) -> TableFile:
        """The table of the images from one position to before another one, whether it exists or not."""
        return TableFile(self.path / "tables" / f"{first:09d}-{end:09d}")

    def start_again(self, job: Mapping[str, Any]) -> None:
        """Forget all steps; the run goes on as described by another job."""
        for name in ("pieces", "tables", "by_piece"):  # in this order: what a piece says needs its tables
            if (self.path / name).exists():
                shutil.rmtree(self.path / name)
        if (self.path / _JOB).exists():
            write_whole(self.path / _JOB, json.dumps(job))

    def has_piece(self, piece: int) -> bool:
        """Whether a piece of the input has been split."""
        return (self._pieces / f"{piece:05d}.json").exists()

    def finished_piece(self, piece: int) -> dict[str, Any]:
        """What :meth:`finish_piece` was told about a piece of the input.

        Raises:
            DatasetError: If the file is missing or damaged.
        """
        path = self._pieces / f"{piece:05d}.json"
        with self._reading(path):
            about = checked_digest(path.read_text(encoding="utf-8"))
            for batch in about["batches"]:  # as arrays: there are as many numbers as pieces times parts
                batch["offsets"] = np.array(batch["offsets"])
            return about

    def check_piece(self, piece: int) -> None:
        """Compare the files of a piece that an earlier run wrote with their checksums: Arrow files have none.

        Raises:
            DatasetError: If a file is missing or differs.
        """
        for number, batch in enumerate(self.finished_piece(piece)["batches"]):
            path = self._batch(piece, number)
            with self._reading(path):
                if checksum(path) != batch["checksum"]:
                    raise ValueError("it does not have its checksum")

    @property
    def _pieces(self) -> Path:
        return self.path / "pieces"

    def _batch(self, piece: int, number: int) -> Path:
        return self._pieces / f"{piece:05d}-{number:05d}.arrow"

    def _reading(self, path: Path) -> contextlib.AbstractContextManager[None]:
        return reading(f"{path}: the file is")

    def add_batch(self, piece: int, number: int, parts: Sequence[Any]) -> dict[str, Any]:
        """Write the rows of a batch of a piece, one record batch per part: where each is, and the file's checksum."""
        self._pieces.mkdir(exist_ok=True)
        path = self._batch(piece, number)
        with whole_file(path) as unfinished, pyarrow().OSFile(os.fsencode(unfinished), "wb") as file:
            offsets = write_batches(file, parts)
        return {"checksum": checksum(path), "offsets": offsets}

    def finish_piece(self, piece: int, about: Mapping[str, Any]) -> None:
        """Say that all batches of a piece are written: the ``batches``, how many ``rows``, and anything else."""
        self._pieces.mkdir(exist_ok=True)
        write_whole(self._pieces / f"{piece:05d}.json", with_digest(about))

    def batches(
        self, part: int, pieces: Sequence[Mapping[str, Any]], places: tuple[int, int] | None = None
    ) -> Iterator[tuple[int, Any]]:
        """The rows of a part, each batch behind the row of the whole input at which its piece begins.

        Args:
            part: The number of the part.
            pieces: What :meth:`finished_piece` says of each piece; ``parts`` is how many rows it has of each part.
            places: Positions of images: only rows from the first one to before the second one.
        """
        start = 0
        for number, piece in enumerate(pieces):
            for at, batch in enumerate(piece["batches"] if piece["parts"][part] else ()):
                path = self._batch(number, at)
                with self._reading(path):
                    (rows,) = read_batches(path, batch["offsets"], range(part, part + 1))
                if places is not None:
                    rows = rows_of_images(rows, *places)
                yield start, rows
            start += piece["rows"]


def remove_folder(path: Path, process: int) -> None:
    """Remove the temporary folder of a run, unless a fork of the process ends that made it."""
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


_LEFT = ".ioukit-"
"""How names of files and folders begin that were not finished when a process was killed."""


def remove_left(path: Path) -> None:
    """Remove what was not finished in a folder when a process was killed."""
    for one in list(path.rglob(f"{_LEFT}*")):
        shutil.rmtree(one, ignore_errors=True) if one.is_dir() else one.unlink(missing_ok=True)


@contextlib.contextmanager
def work_folder(
    given: str | os.PathLike[str] | None, job: Mapping[str, Any]
) -> Iterator[tuple[WorkFolder, dict[str, Any]]]:
    """A folder to work in, locked against other processes, and the job that it belongs to.

    Without ``given``, a temporary folder; after an error it is removed. A folder of an earlier run goes on if the run
    had the same job; it keeps its parts.

    Args:
        given: The folder, new, empty or of an earlier run.
        job: What is evaluated: inputs with sizes and times, rules, parts.

    Raises:
        DatasetError: If the folder belongs to another job, or holds other files.
        BlockingIOError: If another process works in it.
    """
    if given is None:
        path = Path(tempfile.mkdtemp(prefix="ioukit-"))
        try:
            yield WorkFolder(path), dict(job)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        return
    path = Path(given)
    if path.exists() and not path.is_dir():
        raise DatasetError(f"{path}: expected a folder, found a file")
    path.mkdir(parents=True, exist_ok=True)
    known = path / _JOB
    if not known.exists() and any(one.name != _LOCK and not one.name.startswith(_LEFT) for one in path.iterdir()):
        raise DatasetError(f"{path}: expected an empty folder or one of an earlier run, found other files")
    with _locked(path):
        remove_left(path)
        described = {"layout": _LAYOUT, "ioukit": _core.__version__, **job}
        if known.exists():
            found = _read(known)
            others = [words for name, words in _WORDS.items() if found.get(name) != described.get(name)]
            if others:
                raise DatasetError(
                    f"{path}: expected the folder of a run like this one, found that of a run with "
                    f"{' and '.join(others)}; choose another folder, or remove this one"
                )
            described |= {name: found[name] for name in ("parts", "by_piece")}
        else:
            write_whole(known, json.dumps(described))
        yield WorkFolder(path), described


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not (
            isinstance(found, dict)
            and isinstance(found.get("by_piece"), bool)
            and isinstance(found.get("parts"), int)
            and found["parts"] > 0
        ):
            raise ValueError("no description of a job")
    except ValueError as error:
        raise DatasetError(f"{path}: cut or damaged: {error}") from None
    return found


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock on a folder; the system releases it when the process ends, however it ends."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where nothing locks
    except ImportError:
        yield
        return
    with open(path / _LOCK, "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"{path}: another process works in this folder") from None
        yield
