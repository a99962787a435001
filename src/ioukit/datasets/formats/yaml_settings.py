"""Settings in YAML, such as YOLO's ``data.yaml``.

Owns: which documents need no PyYAML. Keys with a word, a list in brackets, or a block of items are read line by line.
That is what tools write, and PyYAML takes ten times as long. Does not own: YAML. Whatever could mean something else
than the word that stands there (``no``, ``1e3``, ``2024-01-01``, an anchor, a text over several lines) is left to
PyYAML; a test compares both.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.text_files import read_text, shortened
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(r"""( *)(?:(- +)|('[^']*'|"[^"\\]*"|[^\W_][^:#'"]*):(?= |$))(.*?)(?: +#.*)?""")
"""The indent, the dash of an item, or the key, and the value."""
_WORD = re.compile(r"""(0|[1-9][0-9]*)|'([^']*)'|"([^"\\]*)"|((?:[^\W\d_]|/|\.\.?/)(?:[\w ./()+&'-]|:(?=[^\s,]))*)""")
"""A number, a quoted text, or a text that YAML takes for nothing else, but for these words."""
_OTHER_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "null"))


def read_yaml(path: Path) -> Any:
    """The document of a YAML file.

    Raises:
        DatasetError: If it is no YAML.
        ModuleNotFoundError: If it is not plain, and PyYAML is not installed.
    """
    text = read_text(path)
    with contextlib.suppress(ValueError):
        return plain_document(text)
    yaml = import_extra("yaml", extra="yolo", needed_by="data.yaml")

    def no_merges(mapping: Any) -> None:
        for key, _ in mapping.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(None, None, "expected no key <<", key.start_mark)

    loader = None
    try:
        loader = yaml.SafeLoader(text)
        loader.flatten_mapping = no_merges  # a few merges of merges would fill the memory
        return loader.get_single_data()
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # ValueError: a date or a number out of its range
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or (str(error).splitlines() or ["nothing"])[0]
        raise DatasetError(f"{path}: {line}not YAML: {shortened(problem)}") from None
    finally:
        if loader is not None:
            loader.dispose()


def plain_document(text: str) -> dict[str | int, Any]:
    """The document of plain lines.

    Raises:
        ValueError: If there is anything else.
    """
    document: dict[str | int, Any] = {}
    opened: str | int | None = None  # the key whose block may follow
    indent, of_block = 0, False  # of the block, and whether it has begun
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip(" ") or line.lstrip(" ").startswith("#"):
            continue
        if not line.isprintable() or (found := _LINE.fullmatch(line)) is None:
            raise ValueError(line)
        spaces, dash, key, value = found.groups()
        key, value = key and key.strip(" "), value.strip(" ")
        if not spaces and not dash:
            opened, of_block = (_word(key), False) if not value else (None, False)
            document[_word(key)] = _value(value) if value else None
            continue
        if opened is None or (of_block and (indent != len(spaces) or isinstance(document[opened], list) != bool(dash))):
            raise ValueError(line)
        if not of_block:
            document[opened], indent, of_block = [] if dash else {}, len(spaces), True
        if dash:
            document[opened].append(_word(value))
        else:
            document[opened][_word(key)] = _word(value)
    if not document:
        raise ValueError("nothing")
    return document


def _value(text: str) -> Any:
    """A word, or words in brackets."""
    ends = text[0] + text[-1]
    if ends not in ("[]", "{}"):
        return _word(text)
    words = [word.strip(" ") for word in text[1:-1].split(",")]
    if ends == "{}":
        pairs = [word.partition(": ")[::2] for word in words]
        return {_word(key, flow=True): _word(value.strip(" "), flow=True) for key, value in pairs}
    return [_word(word, flow=True) for word in words]


def _word(text: str, *, flow: bool = False) -> str | int:
    found = _WORD.fullmatch(text)
    if found is None or text.lower() in _OTHER_WORDS or (flow and found[4] and ":" in text):
        raise ValueError(text)
    number, *texts = found.groups()
    return int(number) if number else next(one for one in texts if one is not None)
