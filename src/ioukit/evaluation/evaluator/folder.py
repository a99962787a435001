"""Processes without a common network library exchange bytes through a folder that all of them see."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from ioukit._output import write_whole
from ioukit.errors import DatasetError

__all__ = ["FolderGather"]

_FORMAT = "ioukit gather"
_VERSION = 1
_MESSAGE, _ANSWER = ".table", ".read"
_GONE = (errno.ENOENT, errno.ESTALE)
"""What opening a file says that was removed, here or by another node."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.5

Identity = tuple[int, int, int]
"""What changes if a file is replaced: its number, time and size."""

_rounds: dict[tuple[str, str, int, int], int] = {}
"""The next round by folder, run, number of processes and rank: objects of one run go on where the last one stopped."""


class FolderGather:
    """Exchanges the bytes of several processes through a folder, for :meth:`Evaluator.sync` without a process group.

    The processes may run on different nodes; all of them must see the folder. Each call is one round. In a round, every
    process writes its message to a temporary file that is then renamed, and reads the messages of all others. It then
    writes which messages it has read. A process returns when all have read the same messages, so all of them get the
    same list. A message has a random mark. Files that a killed process left behind are never part of a result, because
    no process that still runs answers with their marks.

    At the end of a round, each process removes its message, and rank 0 removes the rest as soon as all others are
    through. After an error, each process removes its own files.

    Args:
        folder: A folder that exists, the same for all processes.
        rank: The number of this process, 0 to ``world_size - 1``. Each process has another one.
        world_size: The number of processes, at least 1.
        run: The name of the job or of one evaluation in it, the same in all processes. Jobs that share a folder have
            different names.
        timeout: How long a round may take, in seconds.

    Raises:
        TypeError: If ``rank`` or ``world_size`` is no integer, or ``run`` is no string.
        ValueError: If the folder does not exist, ``rank``, ``world_size`` or ``timeout`` is out of range, or ``run`` is
            empty or longer than 100 characters.

    Examples:
        >>> from ioukit.evaluation import FolderGather
        >>> gather = FolderGather(".", rank=0, world_size=1, run="epoch-3", timeout=60)
        >>> gather(b"the message of this process")
        [b'the message of this process']
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, rank: int, world_size: int, run: str, timeout: float = 600.0
    ) -> None:
        for name, number in (("rank", rank), ("world_size", world_size)):
            if not isinstance(number, int) or isinstance(number, bool):
                raise TypeError(f"{name} must be an integer, got {number!r}")
        if world_size < 1:
            raise ValueError(f"world_size must be at least 1, got {world_size}")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be within 0 and {world_size - 1}, got {rank}")
        if not isinstance(run, str):
            raise TypeError(f"run must be a string, got {type(run).__name__}")
        if not 0 < len(run) <= 100 or len(quote(run, safe="")) > 180:
            raise ValueError(f"run must have 1 to 100 characters, got {run!r}")
        if not timeout > 0:
            raise ValueError(f"timeout must be above 0 seconds, got {timeout}")
        if not os.path.isdir(folder):
            raise ValueError(f"folder must be an existing folder that all processes share, {os.fspath(folder)} is none")
        self.folder = Path(os.path.realpath(folder))
        """The folder."""
        self.rank = rank
        """The number of this process."""
        self.world_size = world_size
        """The number of processes."""
        self.run = run
        """The name of the job or evaluation."""
        self.timeout = float(timeout)
        """How long a round may take, in seconds."""
        self._key = (str(self.folder), run, world_size, rank)
        if self._key not in _rounds:
            _rounds[self._key] = 0
            self._remove_leftovers()

    def __repr__(self) -> str:
        return f"FolderGather({str(self.folder)!r}, rank {self.rank} of {self.world_size}, run {self.run!r})"

    def __call__(self, message: bytes) -> list[bytes]:
        """The messages of all processes, in the order of their ranks. Every process must call this.

        Args:
            message: The bytes of this process.

        Raises:
            TimeoutError: If a process did not send its message, or did not answer, in time. The message names it.
            DatasetError: If the file of a process is cut or damaged. The message names the process.
            RuntimeError: If another process has the same rank.
            OSError: If the folder cannot be read or written.
        """
        number = _rounds[self._key]
        _rounds[self._key] = number + 1
        if self.world_size == 1:
            return [message]
        place = self.folder / f"{_prefix(self.run)}{number}.of-{self.world_size}"
        return _Round(self, place, number).exchanged(message)

    def _remove_leftovers(self) -> None:
        """Remove what an earlier process of this run and rank left behind."""
        ending = f".of-{self.world_size}"
        for place in self.folder.glob(f"{_prefix(self.run)}*{ending}"):
            for kind in (_MESSAGE, _ANSWER):
                with contextlib.suppress(OSError):
                    (place / f"{self.rank}{kind}").unlink()
            _remove_if_unused(place, set())


def _prefix(run: str) -> str:
    """How the names of the folders of a run begin."""
    return f"ioukit-gather.{quote(run, safe='')}."


def _remove_if_unused(place: Path, silent: set[int]) -> None:
    """Remove a folder if it holds nothing but temporary files, and files of ranks that do not answer."""
    with contextlib.suppress(OSError):
        names = os.listdir(place)
        if all(name.startswith(".") or name.partition(".")[0] in map(str, silent) for name in names):
            shutil.rmtree(place, ignore_errors=True)


class _Round:
    """One exchange of messages."""

    def __init__(self, gather: FolderGather, place: Path, number: int) -> None:
        self._gather = gather
        self._place = place
        self._number = number
        self._end = time.monotonic() + gather.timeout
        self._header = b""
        self._messages: dict[int, bytes] = {}
        self._marks: dict[int, str] = {}
        """What tells one message of a rank from another."""
        self._answers: dict[int, str] = {}
        """The mark of all messages that a rank has read, as it says."""
        self._own_answer = ""
        self._known: dict[str, Identity] = {}

    def exchanged(self, message: bytes) -> list[bytes]:
        """The messages of all ranks, in order."""
        silent: set[int] = set()
        try:
            self._send(message)
            pause = _FIRST_PAUSE
            while not self._agreed():
                if time.monotonic() > self._end:
                    silent = self._silent()
                    raise TimeoutError(self._complaint(silent))
                time.sleep(pause)
                pause = min(pause * 1.3, _LONGEST_PAUSE)
        except BaseException:
            self._withdraw(silent)
            raise
        self._finish()
        return [self._messages[rank] for rank in range(self._gather.world_size)]

    def _send(self, message: bytes) -> None:
        header = {
            **self._expected(self._gather.rank),
            "mark": os.urandom(16).hex(),
            "bytes": len(message),
            "sha256": hashlib.sha256(message).hexdigest(),
        }
        self._header = json.dumps(header).encode() + b"\n"
        self._messages[self._gather.rank] = message
        self._marks[self._gather.rank] = _mark(self._header)
        self._write(_MESSAGE, self._header + message)

    def _expected(self, rank: int) -> dict[str, object]:
        """What the header of a rank must say."""
        run, size = self._gather.run, self._gather.world_size
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "run": run,
            "round": self._number,
            "world_size": size,
            "rank": rank,
        }

    def _write(self, kind: str, content: bytes) -> None:
        path = self._place / f"{self._gather.rank}{kind}"
        while not self._written(path, content):
            time.sleep(_FIRST_PAUSE)

    def _written(self, path: Path, content: bytes) -> bool:
        """Write a file. False if the folder vanished meanwhile: others gave up, and the last of them removed it."""
        try:
            self._place.mkdir(exist_ok=True)
            write_whole(path, content)
            self._known[path.name] = _identity(os.stat(path))
        except OSError as error:
            # `mkdir` says that the folder exists if it was removed just after that.
            vanished = error.errno in (*_GONE, errno.EEXIST) and self._gather.folder.is_dir()
            if not vanished or time.monotonic() > self._end:
                raise
            return False
        return True

    def _agreed(self) -> bool:
        """Whether all ranks have read the same messages, after a look at what is new."""
        self._look()
        everybody = range(self._gather.world_size)
        if len(self._messages) < len(everybody):
            return False
        answer = _mark("\n".join(self._marks[rank] for rank in everybody).encode())
        if answer != self._own_answer:
            self._write(_ANSWER, answer.encode())
            self._own_answer = self._answers[self._gather.rank] = answer
        return all(self._answers.get(rank) == answer for rank in everybody)

    def _look(self) -> None:
        """Read all files that are new or were replaced."""
        found = _files(self._place)
        own = f"{self._gather.rank}{_MESSAGE}"
        if own not in found:
            self._write(_MESSAGE, self._header + self._messages[self._gather.rank])
        for rank in range(self._gather.world_size):
            for kind in (_MESSAGE, _ANSWER):
                name = f"{rank}{kind}"
                identity = found.get(name)
                if identity is None or identity == self._known.get(name):
                    continue
                with _unless_gone():  # since the look
                    if kind == _MESSAGE:
                        self._read(rank, name)
                    else:
                        self._answers[rank] = (self._place / name).read_text(encoding="ascii", errors="replace")
                    self._known[name] = identity

    def _read(self, rank: int, name: str) -> None:
        """Read the message of a rank."""
        where = f"FolderGather: the message of rank {rank} ({self._place / name})"
        with open(self._place / name, "rb") as file:
            line = file.readline(1 << 16)
            content = file.read()
        header = _parsed(line)
        if header is None:
            raise DatasetError(f"{where} is cut or damaged: expected a header, found {line[:40]!r}")
        if len(content) != header["bytes"]:
            raise DatasetError(f"{where} is cut: expected {header['bytes']:,} bytes, found {len(content):,}")
        if hashlib.sha256(content).hexdigest() != header["sha256"]:
            raise DatasetError(f"{where} is damaged: its bytes are not those that were sent")
        expected = self._expected(rank)
        if (other := {key: header.get(key) for key in expected}) != expected:
            raise DatasetError(f"{where} is of another exchange: expected {expected}, found {other}")
        if rank == self._gather.rank:
            if line != self._header:
                raise RuntimeError(
                    f"FolderGather: another process also has rank {rank} in run {self._gather.run!r}: give each "
                    "process its own rank, and each job its own run"
                )
            return
        self._messages[rank], self._marks[rank] = content, _mark(line)

    def _silent(self) -> set[int]:
        """The ranks that sent nothing, or did not answer to the messages of this round."""
        everybody = range(self._gather.world_size)
        missing = {rank for rank in everybody if rank not in self._messages}
        return missing or {rank for rank in everybody if self._answers.get(rank) != self._own_answer}

    def _complaint(self, silent: set[int]) -> str:
        gather = self._gather
        ranks = sorted(silent)
        shown = ", ".join(map(str, ranks[:8])) + (f" and {len(ranks) - 8} more" if len(ranks) > 8 else "")
        sent = "sent no message" if ranks[0] not in self._messages else "sent a message and then no answer"
        text = (
            f"FolderGather: waited {gather.timeout:g} s, and rank {shown} of {gather.world_size} processes {sent} "
            f"(run {gather.run!r}, round {self._number}, folder {gather.folder})"
        )
        others = sorted(place.name for place in gather.folder.glob(f"{_prefix(gather.run)}*") if place != self._place)
        if others:
            text += f"; the folder also has {', '.join(others[:4])}: do all processes have the same world_size?"
        return f"{text}; is the process alive, and does its node see this folder?"

    def _withdraw(self, silent: set[int]) -> None:
        """Remove the files of this process, after an error."""
        path = self._place / f"{self._gather.rank}{_MESSAGE}"
        with contextlib.suppress(OSError):
            with open(path, "rb") as file:
                line = file.readline(1 << 16)
            if line != self._header and _parsed(line) is not None:
                return  # those of another process of the same rank
            path.unlink()
        with contextlib.suppress(OSError):
            path.with_suffix(_ANSWER).unlink()
        _remove_if_unused(self._place, silent)

    def _finish(self) -> None:
        """Remove the message, which all have read. Rank 0 stays until all have done so, and removes the answers."""
        with contextlib.suppress(OSError):
            (self._place / f"{self._gather.rank}{_MESSAGE}").unlink()
        if self._gather.rank:
            return
        pause = _FIRST_PAUSE
        while any(name.endswith(_MESSAGE) for name in _files(self._place)) and time.monotonic() < self._end:
            time.sleep(pause)
            pause = min(pause * 1.3, _LONGEST_PAUSE)
        shutil.rmtree(self._place, ignore_errors=True)


@contextlib.contextmanager
def _unless_gone() -> Iterator[None]:
    """Ignores that a file was removed."""
    try:
        yield
    except OSError as error:
        if error.errno not in _GONE:
            raise


def _files(place: Path) -> dict[str, Identity]:
    """The files of a folder, none if there is no such folder."""
    found = {}
    with _unless_gone(), os.scandir(place) as entries:
        for entry in entries:
            with _unless_gone():  # since it was listed
                found[entry.name] = _identity(entry.stat())
    return found


def _identity(status: os.stat_result) -> Identity:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _parsed(line: bytes) -> dict[str, object] | None:
    """The header in the first line of a message; ``None`` if it is none."""
    try:
        header = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    whole = isinstance(header, dict) and isinstance(header.get("bytes"), int) and header.get("format") == _FORMAT
    return header if whole else None
