"""Names of runs, tags and values: what they may be, and how a run is referred to."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping
from typing import NamedTuple

_LONGEST = 500  # characters
_LONGEST_TAG = 10_000
_REFERENCE = re.compile(r"(.*)@(-?[0-9]{1,18})", re.DOTALL)
_NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, ends of lines, and halves of characters, which UTF-8 cannot hold."""


class Reference(NamedTuple):
    """Which run is meant."""

    name: str
    """The name; empty if :attr:`number` counts all runs of the ledger."""
    number: int | None
    """The number of the run among those of the name, or its id if there is no name. Negative numbers count from the
    newest one, which is -1. ``None`` is the newest one."""

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}@{self.number}"


def parse_reference(run: str | int) -> Reference:
    """What ``B``, ``B@2``, ``B@-2``, ``@7``, ``@-1`` and the id 7 refer to.

    Raises:
        TypeError: If it is neither text nor an integer.
        ValueError: If it is empty, or the number is 0.
    """
    if isinstance(run, int) and not isinstance(run, bool):
        run = f"@{run}"
    if not isinstance(run, str):
        raise TypeError(f"expected the name of a run, such as 'B' or 'B@2', or its id, got {type(run).__name__}")
    found = _REFERENCE.fullmatch(run)
    reference = Reference(run, None) if found is None else Reference(found[1], int(found[2]))
    if reference.number == 0:
        raise ValueError(f"{run!r}: numbers of runs begin with 1; -1 is the newest")
    if not run:
        raise ValueError("expected the name of a run, such as 'B' or 'B@2', got an empty text")
    return reference


def check_name(name: str) -> str:
    """The name of a run, if it may be one.

    Raises:
        TypeError: If it is not text.
        ValueError: If it is empty, too long, begins or ends with a space, has a control character, or ends with ``@``
            and a number.
    """
    _check_text("the name of a run", name, _LONGEST)
    if _REFERENCE.fullmatch(name):
        raise ValueError(f"the name of a run must not end with @ and a number, which chooses among runs, got {name!r}")
    return name


def check_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags, if they may be tags: text by name.

    Raises:
        TypeError: If they are not a mapping of text to text.
        ValueError: If a name is empty, has ``=``, or is no name of a run for another reason; if a text is too long or
            has a character that UTF-8 cannot hold.
    """
    if not isinstance(tags, Mapping):
        raise TypeError(f"tags must be a mapping, such as {{'lr': '1e-3'}}, got {type(tags).__name__}")
    for name, text in tags.items():
        _check_key("tag", name)
        if not isinstance(text, str):
            raise TypeError(f"the tag {name!r} must be text, got {type(text).__name__}; numbers may be values instead")
        if len(text) > _LONGEST_TAG or re.search("[\x00\ud800-\udfff]", text):
            raise ValueError(
                f"the tag {name!r} must have at most {_LONGEST_TAG:,} characters of UTF-8, got {text!r:.80}"
            )
    return dict(tags)


def check_values(values: Mapping[str, float], keys: Container[str] = ()) -> dict[str, float]:
    """The values, if they may be values: finite numbers by name.

    Args:
        values: The values.
        keys: The keys of the numbers of the evaluation, which would hide values of the same name.

    Raises:
        TypeError: If they are not a mapping of text to numbers.
        ValueError: If a name may not be one of a tag, is that of a number or a count, or a number is not finite.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"values must be a mapping, such as {{'latency': 12.3}}, got {type(values).__name__}")
    found = {}
    for name, value in values.items():
        _check_key("value", name)
        if name in keys or name.startswith("counts/"):
            raise ValueError(f"the evaluation itself has a number with the name {name!r}: give the value another name")
        try:
            if isinstance(value, str):
                raise TypeError
            found[name] = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"the value {name!r} must be a number, got {value!r:.80}") from None
        except OverflowError:
            found[name] = math.inf
        if not math.isfinite(found[name]):
            raise ValueError(f"the value {name!r} must be a finite number, got {value!r:.80}")
    return found


def _check_key(kind: str, name: str) -> None:
    _check_text(f"the name of a {kind}", name, _LONGEST)
    if "=" in name:
        raise ValueError(f"the name of a {kind} must not have an equals sign, got {name!r}")


def _check_text(what: str, text: str, longest: int) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} must be text, got {type(text).__name__}")
    if not text or text != text.strip():
        raise ValueError(f"{what} must not be empty and must not begin or end with a space, got {text!r}")
    if len(text) > longest:
        raise ValueError(f"{what} must have at most {longest:,} characters, got {len(text):,}")
    wrong = _NOT_TEXT.search(text)
    if wrong:
        raise ValueError(f"{what} must not have control characters, got {wrong[0]!r} in {text!r}")
