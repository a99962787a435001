"""Damaged files for every reader: whatever is in them, a reader returns data or refuses with the name of the file."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Outcomes", "assert_links_out_are_refused", "damaged", "read_damaged", "refused"]

_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_HUGE = (b"1e999", b"9" * 400, b"9" * 5000)
_BAD_NUMBERS = (b"NaN", b"Infinity", *_HUGE, b"-1", b"0.5", b"", b"x", b'"7"', b"true", b"null")
_TEXT = re.compile(rb'"[^"\n]{1,80}"|(?<=>)[^<>\n]{1,80}(?=</)|(?<![\w./-])[A-Za-z][\w./-]{0,80}')
_PATHS = (b"/etc/passwd", b"../../../etc/passwd", b"C:\\\\x", b"~")
_BAD_TEXTS = (b"", *_PATHS, b"\\ud800", b"\xff", b"\0", b"x" * 5000, b"7")
_BOMB = b'<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_OUTSIDE = b'<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
DEEP = 10_000


@dataclass(frozen=True)
class Outcomes:
    """What a reader did with damaged files."""

    read: Counter[str]
    """How many were read, by the kind of damage."""
    refused: Counter[str]
    """How many were refused."""


def damaged(content: bytes, *, cuts: int = 60, places: int = 12) -> Iterator[tuple[str, bytes]]:
    """Copies of a good file with one kind of damage each: the kind, and the content.

    Args:
        content: The good file.
        cuts: At how many places it is cut.
        places: How many numbers and texts are replaced; they are spread over the file.
    """
    step = max(len(content) // cuts, 1)
    yield from (("cut", content[:at]) for at in range(0, len(content), step))
    yield from (("cut start", content[at:]) for at in range(1, len(content), step * 4))
    yield "byte-order mark", b"\xef\xbb\xbf" + content
    yield "Windows lines", content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    yield "old Macintosh lines", content.replace(b"\n", b"\r")
    yield "UTF-16", content.decode("utf-8", "replace").encode("utf-16")
    yield "UTF-16 without a mark", content.decode("utf-8", "replace").encode("utf-16-le")
    yield "Latin-1", re.sub(rb"[a-z]", b"\xe9", content, count=1)
    yield "no lines", content.replace(b"\n", b"")
    for name, added in (("wrong byte", b"\xff"), ("zero byte", b"\0")):
        yield from ((name, content[:at] + added + content[at:]) for at in range(0, len(content), step * 8))
    for name, pattern, bad in (("number", _NUMBER, _BAD_NUMBERS), ("text", _TEXT, _BAD_TEXTS)):
        for found in _spread(list(pattern.finditer(content)), places):
            for value in bad:
                quoted = b'"' + value + b'"' if name == "text" and found[0].startswith(b'"') else value
                yield f"{name} {value[:20]!r}", content[: found.start()] + quoted + content[found.end() :]
    yield from _changed_lines(content, places)
    yield from _nested(content)


def _spread(found: list[Any], most: int) -> list[Any]:
    return found[:: max(len(found) // most, 1)]


def _changed_lines(content: bytes, places: int) -> Iterator[tuple[str, bytes]]:
    lines = content.split(b"\n")
    for at in _spread(list(range(len(lines))), places):
        yield "line left out", b"\n".join([*lines[:at], *lines[at + 1 :]])
        yield "line twice", b"\n".join([*lines[: at + 1], *lines[at:]])
        yield "column too many", b"\n".join([*lines[:at], lines[at] + b" 1,1", *lines[at + 1 :]])
        yield "column too few", b"\n".join([*lines[:at], re.sub(rb"[ ,][^ ,]*$", b"", lines[at]), *lines[at + 1 :]])


def _nested(content: bytes) -> Iterator[tuple[str, bytes]]:
    yield "nested lists", b"[" * DEEP + b"]" * DEEP
    yield "nested objects", b'{"a":' * DEEP + b"1" + b"}" * DEEP
    start = content.lstrip(b"\xef\xbb\xbf \n")
    if start.startswith(b"{"):
        yield "nested member", b'{"deep": ' + b"[" * DEEP + b"]" * DEEP + b", " + start[1:]
        line, rest = start, b""
        try:
            document = json.loads(line)
        except ValueError:  # a document per line
            line, _, rest = start.partition(b"\n")
            document = json.loads(line)
        yield from (("another value", other + b"\n" + rest) for other in _other_values(document))
    if start.startswith(b"<"):
        body = start[start.index(b"?>") + 2 :] if start.startswith(b"<?") else start
        yield "nested elements", b"<a>" * DEEP + b"</a>" * DEEP
        inner = re.sub(rb"^(\s*<[^>]*>)", rb"\1" + b"<a>" * DEEP + b"</a>" * DEEP, body, count=1)
        yield "nested inner elements", inner
        yield "entity bomb", _BOMB + body.replace(b"</", b"&b;</", 1)
        yield "outer entity", _OUTSIDE + body.replace(b"</", b"&a;</", 1)
        yield "unknown entity", body.replace(b"</", b"&nothing;</", 1)
        yield "unknown encoding", b'<?xml version="1.0" encoding="no-such"?>' + body


def _other_values(document: Any, depth: int = 0) -> Iterator[bytes]:
    """The document with a value of another kind in the place of each member, down to the third level."""
    keys: list[Any] = list(document) if isinstance(document, dict) else list(range(min(len(document), 2)))
    for key in keys[:12]:
        kept = document[key]
        others: tuple[Any, ...] = (None, 1, -1.5, "text", [], [[]], {}, {"a": 1}, True, [None], ["x"])
        for other in others:
            document[key] = other
            yield json.dumps(document).encode()
        document[key] = kept
        if isinstance(kept, dict | list) and depth < 3:
            for inner in _other_values(kept, depth + 1):
                document[key] = json.loads(inner)
                yield json.dumps(document).encode()
            document[key] = kept


def read_damaged(
    make: Callable[[Path], Path],
    broken: str,
    read: Callable[..., Any],
    folder: Path,
    **limits: int,
) -> Outcomes:
    """Reads a data set again and again, with one of its files damaged in every way.

    Every reading must return data, or raise a :class:`DatasetError` that names a file of the data set; with
    ``on_invalid="drop"``, too.

    Args:
        make: Writes a good data set into a folder, and returns the path to read.
        broken: The file to damage, relative to the folder.
        read: ``read(path, on_invalid=...)``.
        folder: An empty folder.
        **limits: Of :func:`damaged`.
    """
    good = folder / "data"
    good.mkdir()
    path = make(good)
    content = (good / broken).read_bytes()
    read(path, on_invalid="error")
    outcomes = Outcomes(Counter(), Counter())
    for kind, changed in damaged(content, **limits):
        (good / broken).write_bytes(changed)
        for policy in ("error", "drop"):
            message = _message(read, path, policy, f"{kind}, on_invalid={policy!r}: {changed[:300]!r}")
            if message is None:
                outcomes.read[kind] += 1
                continue
            assert str(good) in message, f"{kind}: the message names no file: {message}"
            assert "\n" not in message, f"{kind}: the message has several lines: {message!r}"
            assert "root:" not in message, f"{kind}: a file outside was read: {message}"
            assert len(message) < 1000, f"{kind}: the message has {len(message)} characters: {message[:200]}"
            outcomes.refused[kind] += 1
    (good / broken).write_bytes(content)
    read(path, on_invalid="error")
    return outcomes


def _message(read: Callable[..., Any], path: Path, policy: str, damage: str) -> str | None:
    """The message with which a reader refuses; ``None`` if it returns data."""
    try:
        read(path, on_invalid=policy)
    except DatasetError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(damage) from error
    return None


def refused(read: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The message with which a reader refuses; an error if it does not."""
    try:
        read(*arguments, **options)
    except DatasetError as error:
        return str(error)
    raise AssertionError("expected a DatasetError")


def assert_links_out_are_refused(
    make: Callable[[Path], Path], inner: str, read: Callable[..., Any], folder: Path
) -> None:
    """Replaces a file of a data set with a link to a file outside, which no reader may follow.

    Args:
        make: Writes a good data set into a folder, and returns the path to read, which is a folder.
        inner: The file to replace, relative to the folder.
        read: ``read(path)``.
        folder: An empty folder.
    """
    good = folder / "data"
    good.mkdir()
    path = make(good)
    read(path)
    outside = folder / "outside"
    shutil.move(good / inner, outside)
    (good / inner).symlink_to(outside)
    message = refused(read, path)
    assert Path(inner).name in message
    assert "a link out of it" in message
