"""Text, JSON and XML from files that nobody has checked yet, and the values in them.

Owns: the words of every refusal, in which the place comes first (the file, then the line, the record or the element),
then what was expected and what was found; JSON; XML without document types, which could grow beyond the memory;
and paths that files name, which must not lead out of their folder.
Does not own: what a format does after a refusal, see `problems.py`. Formats of many files or rows read text in the
core, which words its own refusals in the same way.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat

from ioukit._special_files import read_all
from ioukit.datasets.columns._checks import existing_file
from ioukit.datasets.formats.recognising import count_of, first_bytes, names_in
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ioukit.datasets.formats.problems import Problems


FARTHEST = 2.0**53
"""Beyond this number, a double no longer tells pixels apart."""

_DEEPEST = 100
_LONGEST_PART = 250
"""In bytes; most file systems allow 255, which leaves room for another suffix."""


def refuse(where: str, expected: str, found: str) -> NoReturn:
    """Raise the error about a value: where it is, what was expected, and what was found."""
    raise DatasetError(f"{where}: expected {expected}, found {found}")


def abbreviate(value: Any) -> str:
    """A value for a message, at most 60 characters long; ``None`` is a member that is missing."""
    if value is None:
        return "nothing"
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=repr)
    return shortened(text, 60)


def shortened(text: str, most: int = 200) -> str:
    """Text for a message, at most as many characters long."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def names_of(names: Sequence[str]) -> Sequence[str]:
    """Names of classes: as they are given, or the lines of the file whose path is given.

    Raises:
        DatasetError: If the file has no names.
        OSError: If it cannot be read.
    """
    if not isinstance(names, str | os.PathLike):
        return names
    listed = [line.strip() for line in read_lines(names)]
    while listed and not listed[-1]:
        listed.pop()
    if not listed:
        refuse(os.fspath(names), "a name of a class in each line", "none")
    return listed


def to_number(
    value: Any,
    where: str,
    *,
    lowest: float = -FARTHEST,
    highest: float = FARTHEST,
    whole: bool = False,
    text: bool = True,
) -> float:
    """A finite number from text, or from a number of JSON.

    Args:
        value: The text or the number; anything else is refused.
        where: The place, for the message.
        lowest: The smallest number that is good.
        highest: The largest one.
        whole: Whether it must not have a fraction.
        text: Whether text that spells a number is good; JSON can tell them apart.

    Raises:
        DatasetError: If it is no such number.
    """
    expected = "a whole number" if whole else "a number"
    if lowest > -FARTHEST and highest < FARTHEST:
        expected += f" from {lowest:g} to {highest:g}"
    elif lowest > -FARTHEST:
        expected += f" of at least {lowest:g}"
    number = math.nan
    if isinstance(value, str) and text:
        with contextlib.suppress(ValueError):
            # Python reads 1_000 and digits of other scripts as numbers, which no tool writes.
            number = float(value) if value.isascii() and "_" not in value else math.nan
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) <= FARTHEST else math.inf
    if not lowest <= number <= highest or (whole and not number.is_integer()):
        refuse(where, expected, abbreviate(value))
    return number


def to_numbers(words: Sequence[str], names: Sequence[str], where: str) -> list[float]:
    """The finite numbers that words spell; there may be fewer words than names.

    Raises:
        DatasetError: If a word is no such number; the message has the name of the number.
    """
    joined = "".join(words)
    if joined.isascii() and "_" not in joined:
        with contextlib.suppress(ValueError):
            values = list(map(float, words))
            if all(-FARTHEST <= value <= FARTHEST for value in values):
                return values
    return [to_number(word, f"{where}, {name}") for word, name in zip(words, names, strict=False)]


def numbers(values: Any, names: Sequence[str], where: str, *, text: bool = True) -> list[float]:
    """A list of as many finite numbers as there are names.

    Raises:
        DatasetError: If it is no such list; the message has the name of the number.
    """
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != len(names):
        refuse(where, f"[{', '.join(names)}]", abbreviate(values))
    return [
        to_number(value, f"{where}[{at}] ({name})", text=text)
        for at, (value, name) in enumerate(zip(values, names, strict=True))
    ]


def member(record: Any, name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """A member of a JSON object, of a kind such as ``str``, ``list`` or ``dict``.

    Raises:
        DatasetError: If the record is no object, or has no such member of this kind.
    """
    words = {str: "text", list: "a list", dict: "an object", bool: "true or false"}
    if not isinstance(record, Mapping):
        refuse(where, "an object", abbreviate(record))
    value = record.get(name)
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        refuse(f"{where}.{name}", " or ".join(words.get(one, "a number") for one in kinds), abbreviate(value))
    return value


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file, without a byte-order mark.

    Raises:
        DatasetError: If it is not UTF-8, or the path is a folder.
        OSError: If it cannot be read.
    """
    content = read_all(existing_file(path)).removeprefix(codecs.BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        refuse(f"{os.fspath(path)}: line {line}", "text in UTF-8", f"the byte 0x{content[error.start]:02x}")


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a UTF-8 file. Only line feeds, with or without carriage returns, end a line."""
    return [line.removesuffix("\r") for line in read_text(path).split("\n")]


def words_of_lines(lines: Iterable[str], path: str | os.PathLike[str]) -> Iterator[tuple[str, list[str]]]:
    """The words of each line of a file that has any, after the place of the line."""
    for number, line in enumerate(lines, start=1):
        if words := line.split():
            yield f"{os.fspath(path)}: line {number}", words


def is_number(word: str) -> bool:
    """Whether Python reads a word as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def read_json(path: str | os.PathLike[str]) -> Any:
    """What a JSON file holds, also NaN and Infinity, which Python writes: :func:`to_number` refuses them.

    Raises:
        DatasetError: If it is not JSON, or is nested too deeply; the message has line and column.
        OSError: If it cannot be read.
    """
    return parse_json(read_text(path), os.fspath(path))


def parse_json(text: str, where: str) -> Any:
    """The value that JSON text spells; `where` is for messages."""
    return _parsed(text, where, lines=True)


def parse_json_line(content: bytes, where: str) -> Any:
    """The value that one line of a file of JSON lines spells; `where` has the file and the line.

    Raises:
        DatasetError: If it is not UTF-8, or not JSON; the message has the column.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        refuse(f"{where}, column {error.start + 1}", "text in UTF-8", f"the byte 0x{content[error.start]:02x}")
    return _parsed(text, where, lines=False)


def _parsed(text: str, where: str, *, lines: bool) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f": line {error.lineno}, column {error.colno}" if lines else f", column {error.colno}"
        refuse(f"{where}{place}", "JSON", f"something else: {error.msg}")
    except RecursionError:
        refuse(where, "JSON", "lists or objects that are nested too deeply")
    except ValueError as error:  # a whole number of too many digits
        refuse(where, "JSON", f"something else: {error}")


def read_xml(path: str | os.PathLike[str], root: str) -> Element:
    """The root element of an XML file. Document types and entities are refused, as is what is nested too deeply.

    Args:
        path: The file.
        root: The name that the root element must have.

    Raises:
        DatasetError: If it is no such file; the message has the line.
        OSError: If it cannot be read.
    """
    return parse_xml(read_all(existing_file(path)), root, os.fspath(path))


def parse_xml(content: bytes, root: str, where: str) -> Element:
    """The root element of XML; see :func:`read_xml`."""
    from xml.etree.ElementTree import TreeBuilder  # noqa: PLC0415 - few formats are XML

    builder = TreeBuilder()
    parser = expat.ParserCreate()
    depth = 0

    def at() -> str:
        return f"{where}: line {parser.CurrentLineNumber}"

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            refuse(at(), f"elements that are nested at most {_DEEPEST} deep", "deeper ones")
        if depth == 1 and name != root:
            refuse(at(), f"the element <{root}>", f"<{name[:40]}>")
        builder.start(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name)

    def no_document_type(name: str, *_: Any) -> NoReturn:
        refuse(at(), "XML without a document type", f"<!DOCTYPE {name[:40]}>")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = no_document_type
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        refuse(f"{where}: line {error.lineno}", "XML", f"something else: {expat.ErrorString(error.code)}")
    except (LookupError, ValueError) as error:  # an encoding that Python does not have
        refuse(where, "XML", f"something else: {error}")
    return builder.close()


def is_name(text: str) -> bool:
    """Whether a text is a name: JSON can spell halves of characters, which no file of text can hold."""
    return bool(text) and "\0" not in text and (text.isascii() or text == text.encode(errors="ignore").decode())


def fits_a_path(named: str) -> bool:
    """Whether a file system can hold a file of this path, also with another suffix: the parts are not too long."""
    try:
        encoded = os.fsencode(named)
    except UnicodeEncodeError:  # half of a pair of surrogates, which JSON can spell
        return False
    return b"\0" not in encoded and len(encoded) < 2000 and max(map(len, encoded.split(b"/"))) <= _LONGEST_PART


def lies_in(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Whether a path lies in a folder when links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def inside(folder: Path, named: str, where: str) -> Path:
    """A path that a file names, relative to a folder, which it must not leave: not by ``..``, nor by a link.

    Raises:
        DatasetError: If the path is absolute or leads out of the folder.
    """
    plain = named.replace("\\", "/")
    parts = plain.split("/")
    if not plain or "\0" in plain or plain.startswith("/") or ".." in parts or ":" in parts[0]:
        refuse(where, "a path inside the folder of the data set", abbreviate(named))
    path = folder / plain
    if not fits_a_path(plain):
        refuse(where, "a path that a file can have", abbreviate(named))
    if not lies_in(path, folder):
        refuse(where, "a path inside the folder of the data set", f"a link out of it, {abbreviate(named)}")
    return path


def check_inner_file(folder: Path, file: Path) -> None:
    """Refuse a file in a folder, or in those inside of it, that is a link out of the folder, or a pipe or a device."""
    mode = file.lstat().st_mode
    if stat.S_ISLNK(mode):
        inside(folder, file.relative_to(folder).as_posix(), str(file))
        mode = file.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        refuse(str(file), "a regular file", "a pipe, a device or a socket")


def single_file(path: Path, usual: str) -> Path:
    """A file, or the one that a folder holds: that of the usual name, else the only one with the same suffix.

    Raises:
        DatasetError: If the folder has none or several, or a link out of it.
    """
    if not path.is_dir():
        return path
    suffix = Path(usual).suffix
    files = [path / usual] if (path / usual).is_file() else sorted(path.glob(f"*{suffix}"))
    if len(files) != 1:
        kind = suffix[1:].upper()
        refuse(str(path), f"{usual}, or a single {kind} file", f"{len(files)} {kind} files")
    check_inner_file(path, files[0])
    return files[0]


def start_of_single_file(path: Path, usual: str) -> bytes:
    """The first bytes of what :func:`single_file` finds; empty if that is refused. For recognisers."""
    if path.is_dir() and count_of(path, Path(usual).suffix) != 1 and not (path / usual).is_file():
        return b""
    try:
        return first_bytes(single_file(path, usual))
    except DatasetError:
        return b""


def existing_folder(path: str | os.PathLike[str], what: str) -> Path:
    """The path of a folder.

    Raises:
        OSError: If there is nothing.
        DatasetError: If it is a file: what was expected.
    """
    folder = Path(path)
    if not folder.is_dir():
        folder.stat()
        refuse(str(folder), what, f"a file; if it is one of them, name its folder, {folder.parent}")
    return folder


def files_in(path: str | os.PathLike[str], pattern: str, what: str, problems: Problems | None = None) -> list[Path]:
    """The files in a folder whose names fit a pattern such as ``*.txt``, by name, see :func:`names_in`.

    Formats that have a flat folder name an image by its file alone, so files in folders inside could be of other images
    of the same name, or of another split. They are not read.

    Args:
        path: The folder.
        pattern: Of the names, with one star.
        what: What the folder should be, for the message, such as ``"a folder of text files with labels"``.
        problems: Gets a note about the files in folders inside.

    Raises:
        DatasetError: If the path is a file, or a link among the files leads out of the folder.
        OSError: If there is no such folder.
    """
    folder = existing_folder(path, what)
    files = [folder / name for name in names_in(folder, pattern)]
    for file in files:
        check_inner_file(folder, file)
    if problems is not None:
        _note_inner_files(folder, pattern, problems)
    return files


def _note_inner_files(folder: Path, pattern: str, problems: Problems) -> None:
    """A note about files that fit a pattern, but lie in folders inside. Links to folders are not followed."""
    with os.scandir(folder) as entries:
        inner = sorted(entry.name for entry in entries if entry.name[0] != "." and entry.is_dir(follow_symlinks=False))
    files = [
        os.path.join(place, name)
        for one in inner
        for place, _, _ in os.walk(folder / one)
        for name in names_in(place, pattern)
    ]
    if files:
        first = os.path.relpath(files[0], folder)
        what = f"file in a folder inside, which is not read, such as {first}: name that folder, or move its files up"
        problems.note(what, len(files))


def shorter(value: float) -> str:
    """The shortest text that is read as the same number: ``3`` and not ``3.0``."""
    return repr(float(value)).removesuffix(".0")
