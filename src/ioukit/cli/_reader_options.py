"""Arguments of the reader of a format, as the options of commands give them: ``NAME=VALUE``."""

from __future__ import annotations

import functools
import inspect
import json
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from ioukit._near_names import suggest
from ioukit.cli._errors import bad_argument, bad_input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_OF_COMMANDS = ("ground_truth", "on_invalid", "threads")
"""Arguments of readers that the commands give; they have options of their own, or none."""
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def reader_options(
    words: Sequence[str],
    reader: Callable[..., Any],
    format: str,
    option: str,
    *,
    of_all: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """The arguments that the words stand for.

    What a value is depends on the annotation of the argument. A list of names is ``cat,dog``, or ``@FILE`` with a name
    per line. A mapping is a JSON object, or ``key:name,key:name``. All else is one word.

    Args:
        words: Each ``name=value``.
        reader: The reader of a format, for files of ground truth or of detections.
        format: The name of the format, for messages.
        option: The option that has the words, for messages.
        of_all: A function with arguments that there are for all formats.

    Raises:
        typer.Exit: If the reader has no argument of a name, a value is of another kind, or a file with names cannot be
            read, after a message.
    """
    arguments = dict(inspect.signature(reader).parameters)
    if of_all is not None:
        arguments |= {name: one for name, one in inspect.signature(of_all).parameters.items() if name not in arguments}
    known = [
        name
        for name, one in arguments.items()
        if one.kind is inspect.Parameter.KEYWORD_ONLY and name not in _OF_COMMANDS
    ]
    namespace = getattr(inspect.unwrap(reader), "__globals__", {})
    options: dict[str, Any] = {}
    with bad_input(), bad_argument(option):
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or not name.isidentifier():
                raise ValueError(f"expected NAME=VALUE, got {word!r}")
            if name not in known:
                raise ValueError(
                    f"the reader of {format} has no option {name!r}{_known(name, known)}{_repair(word, option)}"
                )
            if name in options:
                raise ValueError(f"{name} is given twice")
            options[name] = _value(name, value, arguments[name].annotation, namespace)
    return options


def _known(name: str, known: Sequence[str]) -> str:
    """Words about the options that there are."""
    if not known:
        return f"; it has none{': the classes are those of the ground truth' if name == 'names' else ''}"
    return f"; it has {', '.join(known)}{suggest(name, known, most=1)}"


def _repair(word: str, option: str) -> str:
    """What to write for an option that is the name of a repair."""
    from ioukit.checks import REPAIRS  # noqa: PLC0415 - only for a message

    side = "gt:" if option == "--gt-option" else ""
    return f"; --repair {side}{word} changes what was read" if word.partition("=")[0] in REPAIRS else ""


def _value(name: str, text: str, annotation: Any, namespace: dict[str, Any]) -> Any:
    """A value of the kind that the annotation of its argument names."""
    if not isinstance(annotation, str):  # of a module without postponed annotations
        annotation = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    kinds = [kind for kind in annotation.split(" | ") if kind != "None"]
    if kinds == ["bool"]:
        if text.lower() not in _TRUTH:
            raise ValueError(f"{name}: expected true or false, got {text!r}")
        return _TRUTH[text.lower()]
    if kinds == ["int"]:
        if not (digits := text.removeprefix("-")).isascii() or not digits.isdecimal():
            raise ValueError(f"{name}: expected a whole number, got {text!r}")
        return int(text)
    if annotation.startswith(("Mapping[", "collections.abc.Mapping[")):
        return _mapping(name, text)
    if annotation.startswith(("Sequence[", "collections.abc.Sequence[")):
        return _names(name, text)
    choices = [choice for kind in kinds for choice in _choices(kind, namespace)]
    if choices and text not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {text!r}")
    return text


def _choices(kind: str, namespace: dict[str, Any]) -> Sequence[str]:
    """The values of a type that is a `Literal`; none for other types."""
    first, *rest = kind.split(".")
    try:
        found = functools.reduce(getattr, rest, namespace[first])
    except (KeyError, AttributeError):  # only type checkers know it
        return ()
    return get_args(found) if get_origin(found) is Literal else ()


def _names(name: str, text: str) -> list[str]:
    """Names from ``cat,dog``, or from the lines of the file that ``@FILE`` names."""
    if text.startswith("@"):
        from ioukit.datasets.formats.text_files import names_of  # noqa: PLC0415 - for names in a file

        names = list(names_of(text[1:]))
    else:
        names = [one.strip() for one in text.split(",")]
    if not names or not all(names):
        raise ValueError(
            f"{name}: expected names with commas between them, or @FILE with a name per line, got {text!r}"
        )
    return names


def _mapping(name: str, text: str) -> dict[str, Any]:
    """A mapping from ``key:name,key:name``, or from a JSON object."""
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"{name}: expected a JSON object, got {text!r}") from None
        for value in found.values():
            if not _is_words(value):
                raise ValueError(f"{name}: expected names, or lists of names, as values, got {value!r}")
        return dict(found)
    pairs = [one.partition(":") for one in text.split(",")]
    if not all(key.strip() and value.strip() for key, _, value in pairs):
        raise ValueError(f"{name}: expected key:name,key:name or a JSON object, got {text!r}")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _is_words(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
