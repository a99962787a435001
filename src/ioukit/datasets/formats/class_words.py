"""The names of classes for formats in which a name is a word: it ends at the next space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.datasets.formats.text_files import abbreviate, refuse

if TYPE_CHECKING:
    from ioukit.datasets.columns.images import Categories

__all__ = ["class_words"]


def class_words(categories: Categories, source: str, joint: str = "_") -> tuple[dict[int, str], list[str]]:
    """A word for each class by its id, and a note if names were changed.

    Args:
        categories: The classes.
        source: The name of the data in messages.
        joint: What stands in the place of spaces and other blanks.

    Raises:
        DatasetError: If the words are not all different, or one is empty.
    """
    names = dict(zip(categories.ids.tolist(), categories.names, strict=True))
    words = {number: joint.join(name.split()) for number, name in names.items()}
    if len(set(words.values())) < len(words) or "" in words.values():
        refuse(source, "names of classes that differ, also without spaces", abbreviate(list(names.values())))
    changed = sum(words[number] != name for number, name in names.items())
    return words, [f"spaces in the names of {changed:,} classes: they are written as {joint}"] if changed else []
