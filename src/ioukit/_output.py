"""Files and folders that appear complete or not at all, and text for terminals: safe to print, and in columns."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_NEVER_READ = frozenset((".html", ".htm", ".pdf", ".md", ".svg", ".db", ".sqlite"))
"""The ends of names of files that commands write anew or go on with, and that no folder of labels or images has."""

_IN_WORDS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "this user may not read or write it",
    errno.EPERM: "this user may not read or write it",
    errno.EROFS: "it is on a disk that cannot be written",
    errno.ENOSPC: "the disk is full",
    errno.EISDIR: "it is a folder, expected a file",
    errno.ENOTDIR: "a part of the path is a file and no folder",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "it is a link that leads to itself",
    errno.EMFILE: "too many files are open",
    errno.EFBIG: "the file would be too large",
    errno.EIO: "the disk does not answer",
}


def in_words(error: BaseException) -> str:
    """What an error says; that of the system in plain words, behind the file that it is about."""
    if not isinstance(error, OSError) or error.errno is None or not error.strerror:
        return str(error)
    own = error.strerror != os.strerror(error.errno)  # words that ioukit has put in their place
    words = error.strerror if own else _IN_WORDS.get(error.errno, error.strerror)
    return words if error.filename is None else f"{os.fsdecode(error.filename)}: {words}"


def printable(text: str) -> str:
    """`text` with an escape for each character that is not printable or controls a terminal, such as a line break."""
    if text.isprintable():  # nearly all, and pages show thousands
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


# A spreadsheet runs a text that begins with one of these; some take the wide forms of East Asian keyboards, too.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\u2212")


def spreadsheet_text(text: str) -> str:
    """`text` for a field of a CSV file: one that a spreadsheet would run as a formula gets an apostrophe before it.

    So does a text that begins with an apostrophe. The text is what is left without the first apostrophe, if it has one.
    """
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or text.startswith("'") else text


def terminal_width() -> int:
    """The columns of the terminal, at most 100: longer lines are hard to read; 80 for what is no terminal.

    The variable COLUMNS says another number, as for other programs.
    """
    return max(min(shutil.get_terminal_size((80, 24)).columns, 100), 40)


def aligned(
    rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,), width: int | None = None, drop: Sequence[int] = ()
) -> str:
    """The rows as lines: the columns at `left` to the left, all others to the right. All rows have the same columns.

    Args:
        rows: The cells; the first row is the head.
        left: The places of columns of text; -1 is the last column.
        width: How long lines may be; as long as they are if ``None``.
        drop: The places of columns that are left out until the lines fit, the first one first. A last line names them.
    """
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    places = range(len(widths))
    kept, out = list(places), list[int]()
    for place in drop:
        if width is None or sum(widths[at] + 2 for at in kept) - 2 <= width:
            break
        kept.remove(places[place])
        out.append(places[place])
    texts = {places[at] for at in left}
    lines = [
        "  ".join(row[at].ljust(widths[at]) if at in texts else row[at].rjust(widths[at]) for at in kept).rstrip()
        for row in rows
    ]
    if out:
        lines.append(f"left out to fit {width} columns: {', '.join(rows[0][at] for at in sorted(out))}")
    return "\n".join(lines)


def fitted(text: str, width: int) -> str:
    """The text with lines that are too long broken between words; they go on below the last column of the line."""
    import textwrap  # noqa: PLC0415 - for text that does not fit

    lines = []
    for line in text.split("\n"):
        if len(line) > width:
            most = min(int(width * 0.6), width - max(map(len, line.split())))
            gaps = [match.end() for match in re.finditer(r"(?<=\S) {2,}(?=\S)", line) if match.end() <= most]
            indent = len(line) - len(line.lstrip())
            hang = gaps[-1] if gaps else indent + 2 if indent and line.split()[0].endswith(":") else indent
            line = textwrap.fill(  # noqa: PLW2901
                line, width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
            )
        lines.append(line)
    return "\n".join(lines)


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Raises `ValueError` if a file cannot be written, or is read. To be called before the work starts.

    Args:
        path: The file to write.
        inputs: The files and folders that are read. A file that is there in one of the folders may be one of those that
            are read, unless its name ends as that of a page or a ledger.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder, expected a file to write")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    target = Path(os.path.realpath(path))
    if (path.is_file() or not path.exists()) and not os.access(target.parent, os.W_OK):
        raise ValueError(f"{path}: the folder {target.parent} does not let files be written")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"{path} is an input and would be overwritten")
        if source.is_dir() and is_other_file(path, source):
            advice = "choose another name, or remove it first"
            raise ValueError(f"{path} is in the input {source} and would be overwritten: {advice}")


def is_other_file(path: Path, folder: Path) -> bool:
    """Whether a file is there in a folder, or in a folder inside, or is linked into it, that is no page or ledger."""
    if not path.exists() or path.suffix.lower() in _NEVER_READ:
        return False
    around = folder.resolve()
    return any(place.is_relative_to(around) for place in (path.resolve(), path.parent.resolve()))


def check_local(folder: str | os.PathLike[str]) -> None:
    """Raises `ValueError` for an address such as ``s3://bucket``, of which a folder called ``s3:`` would be made."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", os.fspath(folder)):
        raise ValueError(f"{folder} is an address, expected a folder of this machine")


def check_place(folder: Path) -> None:
    """Raises `ValueError` if a folder and its missing parents cannot be made. To be called before the work starts."""
    check_local(folder)
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not existing.is_dir():
        raise ValueError(f"{existing} is a file, expected a folder")
    if not os.access(existing, os.W_OK):
        raise ValueError(f"{folder}: {existing} does not let folders be made")


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes a file; `path` never holds half of it, see `whole_file`. Text is UTF-8 and keeps its line breaks."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[Path]:
    """Gives the block a temporary file to write, which becomes `path` if the block ends without an error.

    The temporary file is in the folder of `path` and is renamed at the end. So `path` holds either the old content or
    the complete new one at any time. After an error the temporary file is removed, and `path` is unchanged. The
    permissions are those of ``open(path, "w")``: an existing file keeps its own, a new one gets what the umask allows.
    If `path` is a link, the file that it points to is replaced. If it is a pipe or a device, the block writes to it
    directly.

    Args:
        path: The file.
        durable: Whether to wait until the disk has it; else, a machine that loses its power may leave `path` empty.

    Raises:
        OSError: If the file cannot be written; the error names `path`, never the temporary file.
    """
    given = Path(path)
    if given.exists() and not stat.S_ISREG(given.stat().st_mode):  # not of its real path: that of a pipe is no file
        with _named(path, given):
            yield given
        return
    target = Path(os.path.realpath(path))
    unfinished = _unfinished(target)
    try:
        with _named(path, unfinished):
            with open(unfinished, "xb") as file:  # only a new file shows what the umask allows
                mode = os.fstat(file.fileno()).st_mode
            if target.exists():
                mode = target.stat().st_mode
            yield unfinished
            if durable:
                with open(unfinished, "rb+") as file:
                    os.fsync(file.fileno())
            if unfinished.stat().st_mode != mode:
                os.chmod(unfinished, stat.S_IMODE(mode))
            os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives the block an empty temporary folder to fill, which becomes `path` if the block ends without an error.

    After an error the temporary folder is removed, and so are the parent folders that were made for it.

    Raises:
        OSError: If `path` exists and is not an empty folder, or if a file cannot be written; the error names `path` or
            the file in it, never the temporary folder.
    """
    target = Path(os.path.realpath(path))
    unfinished = _unfinished(target)
    missing = [folder for folder in target.parents if not folder.exists()]  # the deepest first
    try:
        with _named(path, unfinished):
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished.mkdir()
            yield unfinished
            if target.is_dir():
                target.rmdir()  # Windows does not rename to the name of an existing folder
            os.replace(unfinished, target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def left_over(folder: Path, *, seconds: float = 3600.0) -> list[Path]:
    """Temporary files and folders of `whole_file` and `whole_folder` that nobody has changed for so long.

    A process that is killed by force cannot remove its own. Nothing removes those of others, which may be at work.
    """
    before = time.time() - seconds
    return [path for path in sorted(folder.glob(".ioukit-*.tmp")) if path.lstat().st_mtime < before]


def _unfinished(target: Path) -> Path:
    """An unused name in the same folder; it is short enough even if the name of `target` is as long as allowed."""
    return target.with_name(f".ioukit-{os.urandom(8).hex()}.tmp")


@contextlib.contextmanager
def _named(path: str | os.PathLike[str], unfinished: Path) -> Iterator[None]:
    """Puts `path` into errors that name the temporary file or, like those of a full disk, no file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or isinstance(error.filename, int):
            raise
        name = None if error.filename is None else Path(os.fsdecode(error.filename))
        if name is not None and name != unfinished and unfinished not in name.parents:
            raise
        shown = Path(path) if name is None else Path(path) / name.relative_to(unfinished)
        raise OSError(error.errno, error.strerror, str(shown)) from None
