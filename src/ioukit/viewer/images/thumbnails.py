"""Small copies of photographs, kept in memory and in the user's cache folder, both with a limit."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from pathlib import Path

from ioukit.report._picture_files import opened

_IN_MEMORY = 32 << 20  # bytes
_ON_DISK = 512 << 20
_LARGEST = 4 << 20  # of one copy
_START = b"\xff\xd8\xff"  # of a JPEG
_DAY = 86_400.0


def cache_folder() -> Path | None:
    """The folder of the user's cache for small copies; ``None`` if the user has no home. It may not exist yet."""
    try:
        if sys.platform == "win32":
            root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            root = Path.home() / "Library" / "Caches"
        else:
            root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return root / "ioukit" / "thumbnails" if root.is_absolute() else None


class Thumbnails:
    """Keeps JPEGs by key. All threads may share it. What cannot be kept on the disk is kept in memory alone.

    Args:
        folder: Keeps them from one run to the next; ``None`` for memory alone. Only a folder of this user that others
            cannot write to is used.
        in_memory: The most bytes in memory.
        on_disk: The most bytes in the folder. The oldest files are removed first.
    """

    def __init__(self, folder: Path | None = None, *, in_memory: int = _IN_MEMORY, on_disk: int = _ON_DISK) -> None:
        self._folder = folder
        self._ready: bool | None = None if folder is not None else False
        self._most, self._most_on_disk = in_memory, on_disk
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._new_on_disk = on_disk  # so that the first one is followed by a look at what is there
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """The copy with this key, if it is kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = self._read(key)
        if found is not None:
            self._keep(key, found)
        return found

    def put(self, key: str, content: bytes) -> None:
        """Keeps a copy."""
        self._keep(key, content)
        if not self._usable() or len(content) > _LARGEST:
            return
        with contextlib.suppress(OSError):  # a full disk, for example
            self._write(self._path(key), content)
            with self._lock:
                self._new_on_disk += len(content)
                full = self._new_on_disk > self._most_on_disk // 8
                if full:
                    self._new_on_disk = 0
            if full:
                self._remove_oldest()

    def _keep(self, key: str, content: bytes) -> None:
        with self._lock:
            self._bytes += len(content) - len(self._kept.pop(key, b""))
            self._kept[key] = content
            while self._bytes > self._most and self._kept:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest)

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.jpg"

    def _usable(self) -> bool:
        """Whether the folder is there, or can be made, and is this user's alone."""
        if self._ready is None and self._folder is not None:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                state = self._folder.lstat()
                mine = not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)
                self._ready = mine and not self._folder.is_symlink()
            except OSError:
                self._ready = False
        return bool(self._ready)

    def _read(self, key: str) -> bytes | None:
        if not self._usable():
            return None
        path = self._path(key)
        try:
            with opened(path) as file:
                content = file.read(_LARGEST + 1)
                if time.time() - os.fstat(file.fileno()).st_mtime > _DAY:
                    os.utime(path)  # it is used, and should not be the next to go
        except OSError:
            return None
        return content if content.startswith(_START) and len(content) <= _LARGEST else None

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        """Writes a whole file or none; others may read at the same time."""
        number, name = tempfile.mkstemp(prefix="new-", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def _remove_oldest(self) -> None:
        """Removes the oldest files until a quarter of the folder is free."""
        assert self._folder is not None
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process removes, too
                    state = entry.stat(follow_symlinks=False)
                    found.append((state.st_mtime, state.st_size, entry.path))
        left = sum(size for _, size, _ in found)
        if left <= self._most_on_disk:
            return
        for _, size, path in sorted(found):
            if left <= self._most_on_disk * 3 // 4:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            left -= size
