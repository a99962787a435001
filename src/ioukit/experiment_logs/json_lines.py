"""Plain JSON lines: one object per evaluation, at the end of a file."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.experiment_logs.tracker import Channel, Tracker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ioukit.experiment_logs.figures import Picture


SUFFIXES = (".jsonl", ".ndjson")


class _Channel(Channel):
    """The line is written by ``close``, whole, when all its files are there."""

    def __init__(self, run: Any, step: int | None) -> None:
        self._file = run if isinstance(run, io.TextIOBase) else None
        self._path = Path() if self._file is not None else Path(run)
        if self._file is None and not self._path.parent.is_dir():
            raise FileNotFoundError(f"{self._path}: there is no folder {self._path.parent}")
        self._line: dict[str, Any] = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(), "step": step}
        self._files: dict[str, str] = {}
        self._folder: Path | None = None

    def numbers(self, numbers: Mapping[str, float]) -> None:
        self._line |= numbers

    def undefined(self, names: Iterable[str]) -> None:
        self._line |= dict.fromkeys(names)

    def figure(self, name: str, picture: Picture) -> None:
        self._target(name, ".png").write_bytes(picture.png)

    def file(self, name: str, path: Path) -> None:
        shutil.copyfile(path, self._target(name, path.suffix))

    def close(self) -> None:
        if self._files:
            self._line["files"] = self._files
        text = f"{json.dumps(self._line, allow_nan=False)}\n"
        if self._file is not None:
            self._file.write(text)
            self._file.flush()
        else:
            _append(self._path, text.encode("ascii"))

    def _target(self, name: str, suffix: str) -> Path:
        """Where a figure or a file goes: into a folder beside the lines, with a number for each line."""
        if self._file is not None:
            raise ValueError("an open file takes numbers only; give the path of a file instead")
        if self._folder is None:
            self._folder = _new_folder(self._path.with_name(f"{self._path.stem}_files"))
        target = self._folder / f"{name.replace('/', '_')}{suffix}"
        self._files[name] = target.relative_to(self._path.parent).as_posix()
        return target


def _new_folder(parent: Path) -> Path:
    """A folder for the files of one line, by the first number that is free."""
    parent.mkdir(exist_ok=True)
    number = 1 + max((int(one.name) for one in parent.iterdir() if one.name.isdecimal()), default=0)
    while True:
        folder = parent / str(number)
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
        number += 1


def _append(path: Path, line: bytes) -> None:
    """Writes one line to the end of a file, in one piece, so that lines of several processes do not mix.

    If the last line has no end, because a program was stopped while it wrote, the new one begins below it.
    """
    with open(path, "a+b", buffering=0) as file:
        _wait_for_others(file)
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line)


def _wait_for_others(file: io.FileIO) -> None:
    """Holds the file until it is closed: a line that another process is still writing also has no end."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where nothing locks
    except ImportError:
        return
    with contextlib.suppress(OSError):  # not every network file system can lock
        fcntl.flock(file, fcntl.LOCK_EX)


def _recognises(run: Any) -> bool:
    if isinstance(run, (str, os.PathLike)):
        return str(os.fspath(run)).lower().endswith(SUFFIXES)
    return isinstance(run, io.TextIOBase)


TRACKER = Tracker(
    "JSON lines",
    f"a path that ends with {SUFFIXES[0]}, or an open text file",
    _recognises,
    _Channel,
    shows_figures=False,
)
