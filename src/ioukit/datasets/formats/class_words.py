"""The names of classes for formats whose fields are words with spaces in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.datasets.formats.text_files import refuse, shown

if TYPE_CHECKING:
    from ioukit.datasets.columns.images import Categories

__all__ = ["class_words"]


def class_words(categories: Categories, source: str) -> tuple[dict[int, str], list[str]]:
    """The name of each class as one word, by its id, and a note if names change: spaces become ``_``.

    Raises:
        DatasetError: If a name is empty, or two of them become the same word.
    """
    names = dict(zip(categories.ids.tolist(), categories.names, strict=True))
    words = {number: "_".join(name.split()) for number, name in names.items()}
    if len(set(words.values())) < len(words) or "" in words.values():
        refuse(source, "names of classes that differ, also without spaces", shown(list(names.values())))
    changed = sum(words[number] != name for number, name in names.items())
    return words, [f"spaces in the names of {changed:,} classes: they are written as _"] if changed else []
