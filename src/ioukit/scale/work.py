"""The folder in which an evaluation in parts keeps what it has done, so that it can go on after an interruption."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ioukit import _core
from ioukit._optional import import_extra
from ioukit._output import whole_file, write_whole
from ioukit.errors import DatasetError
from ioukit.scale.table_files import TableFile

__all__ = ["WorkFolder", "work_folder"]

_JOB = "ioukit-job.json"
_LAYOUT = 1


class WorkFolder:
    """Finished steps as files: each appears complete or not at all."""

    def __init__(self, path: Path) -> None:
        """Take a folder that exists."""
        self.path = path

    def table(self, part: int) -> TableFile:
        """The table of a part, whether it exists or not."""
        return TableFile(self.path / "tables" / f"{part:05d}")

    def has_table(self, part: int) -> bool:
        """Whether the table of a part is complete."""
        return self.table(part).folder.is_dir()

    def piece(self, piece: int) -> dict[str, int] | None:
        """``batches`` and ``rows`` of a piece of the input that has been split; ``None`` if it has not."""
        try:
            found = json.loads((self._pieces / f"{piece:05d}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise DatasetError(f"{self._pieces / f'{piece:05d}.json'}: cut or damaged: {error}") from None
        return dict(found)

    @property
    def _pieces(self) -> Path:
        return self.path / "pieces"

    def add_batch(self, piece: int, number: int, parts: Sequence[Any]) -> None:
        """Write the rows of a batch of a piece: one record batch per part."""
        arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
        options = arrow.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        self._pieces.mkdir(exist_ok=True)
        with (
            whole_file(self._pieces / f"{piece:05d}-{number:05d}.arrow") as unfinished,
            arrow.OSFile(str(unfinished), "wb") as file,
            arrow.ipc.new_file(file, parts[0].schema, options=options) as writer,
        ):
            for batch in parts:
                writer.write_batch(batch)

    def finish_piece(self, piece: int, batches: int, rows: int) -> None:
        """Say that all batches of a piece are written."""
        self._pieces.mkdir(exist_ok=True)
        write_whole(self._pieces / f"{piece:05d}.json", json.dumps({"batches": batches, "rows": rows}))

    def batches(self, part: int, pieces: Sequence[Mapping[str, int]]) -> Iterator[tuple[int, Any]]:
        """The rows of a part, each batch behind the row of the whole input at which its piece begins."""
        arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
        start = 0
        for number, piece in enumerate(pieces):
            for batch in range(piece["batches"]):
                path = self._pieces / f"{number:05d}-{batch:05d}.arrow"
                try:
                    with arrow.ipc.open_file(arrow.OSFile(str(path), "rb")) as reader:
                        yield start, reader.get_batch(part)
                except (arrow.ArrowException, OSError) as error:
                    raise DatasetError(f"{path}: missing, cut or damaged: {error}; remove {self.path}") from None
            start += piece["rows"]

    def forget_pieces(self) -> None:
        """Remove the split input, when all tables are written."""
        shutil.rmtree(self._pieces, ignore_errors=True)


def _removed(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def work_folder(
    given: str | os.PathLike[str] | None, job: Mapping[str, Any]
) -> Iterator[tuple[WorkFolder, dict[str, Any]]]:
    """A folder to work in, locked against other processes, and the job that it belongs to.

    Without ``given``, a temporary folder; after an error it is removed. A folder of an earlier run goes on if the run
    had the same job; it keeps its number of parts.

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
            _removed(path)
            raise
        return
    path = Path(given)
    path.mkdir(parents=True, exist_ok=True)
    known = path / _JOB
    if not known.exists() and any(path.iterdir()):
        raise DatasetError(f"{path}: expected an empty folder or one of an earlier run, found other files")
    with _locked(path):
        described = {"layout": _LAYOUT, "ioukit": _core.__version__, **job}
        if known.exists():
            found = _read(known)
            for name in described.keys() | found.keys():
                if name != "parts" and found.get(name) != described.get(name):
                    raise DatasetError(
                        f"{path}: belongs to another run: its {name} was {_short(found.get(name))}, now it is "
                        f"{_short(described.get(name))}; choose another folder, or remove this one"
                    )
            described["parts"] = found["parts"]
        else:
            write_whole(known, json.dumps(described))
        yield WorkFolder(path), described


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not isinstance(found.get("parts"), int):
            raise ValueError("no description of a job")
    except ValueError as error:
        raise DatasetError(f"{path}: cut or damaged: {error}") from None
    return found


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a lock on a folder; the system releases it when the process ends, however it ends."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where nothing locks
    except ImportError:
        yield
        return
    with open(path / "lock", "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(f"{path}: another process works in this folder") from None
        yield
