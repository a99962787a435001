"""Which classes are kinds of which: an animal is what every cat is, too."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit._special_files import read_all
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit._array_types import Ids
    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.datasets.columns.images import Categories


NAMES = "label_name"
"""The attribute of the categories with their names in a hierarchy, such as ``/m/01yrx``."""
POSITIVE, NEGATIVE = "positive_category_ids", "negative_category_ids"
"""The attributes of the images with the categories that are known to be present, and those known to be absent."""
_DEEPEST = 100


class ClassHierarchy:
    """A tree of classes, as in the JSON files of Open Images. Each class is a kind of the classes above it.

    The root of the tree holds all classes together and is no class itself. A class may have several places in the tree.
    The classes of a data set are found by the attribute ``label_name`` of its categories, or by their names if it has
    no such attribute.

    Examples:
        >>> tree = {"LabelName": "all", "Subcategory": [{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}]}]}
        >>> hierarchy = ClassHierarchy(tree)
        >>> hierarchy.ancestors["cat"], hierarchy.descendants["animal"]
        (('animal',), ('cat',))
    """

    ancestors: Mapping[str, tuple[str, ...]]
    """The classes above each class, sorted."""
    descendants: Mapping[str, tuple[str, ...]]
    """The classes below each class, sorted."""

    def __init__(self, tree: Mapping[str, Any], *, source: str = "hierarchy") -> None:
        """Take a tree.

        Args:
            tree: A node: a mapping with ``LabelName``, and, if it has nodes below it, a list ``Subcategory`` of them.
                Other keys are not read.
            source: The name of the tree in messages, such as the path of its file.

        Raises:
            DatasetError: If a node is invalid, or a class lies below itself.
        """
        above: dict[str, set[str]] = {}
        below: dict[str, set[str]] = {}
        for path in _paths(tree, "", (), source):
            *others, name = path[1:]
            above.setdefault(name, set()).update(others)
            below.setdefault(name, set())
            for other in others:
                below[other].add(name)
        self.ancestors = {name: tuple(sorted(names)) for name, names in above.items()}
        self.descendants = {name: tuple(sorted(names)) for name, names in below.items()}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ClassHierarchy:
        """The hierarchy of a JSON file.

        Raises:
            DatasetError: If the file is no JSON, a node is invalid, or a class lies below itself.
            OSError: If the file cannot be read.
        """
        content = read_all(path)
        try:
            tree = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{path}: expected JSON, found something else: {error}") from None
        return cls(tree, source=os.fspath(path))

    def __repr__(self) -> str:
        return f"ClassHierarchy({pluralize(len(self.ancestors), 'class')})"

    def expand_ground_truth(self, ground_truth: GroundTruth) -> GroundTruth:
        """The ground truth with a copy of each object for every class above its own.

        A class that is known to be present on an image makes the classes above it known to be present, and one that is
        known to be absent makes the classes below it known to be absent. Classes that the ground truth does not list
        are left out. The objects get new ids, 1 to N.

        Args:
            ground_truth: Objects with their own classes alone. An object that has been copied already would be copied
                again.
        """
        categories = ground_truth.categories
        above, below = (_by_id(relatives, categories) for relatives in (self.ancestors, self.descendants))
        rows, category_ids = _copies(ground_truth.category_ids, above)
        attributes = dict(ground_truth.images.attributes)
        for name, relatives in ((POSITIVE, above), (NEGATIVE, below)):
            lists = attributes.get(name)
            if isinstance(lists, IdLists):
                attributes[name] = IdLists.of(
                    sorted({one for number in numbers for one in (number, *relatives.get(number, ()))})
                    for numbers in lists.tolist()
                )
        return dataclasses.replace(
            ground_truth.take(rows),
            category_ids=category_ids,
            ids=np.arange(1, len(rows) + 1),
            images=dataclasses.replace(ground_truth.images, attributes=attributes),
        )

    def expand_detections(self, detections: Detections, categories: Categories) -> Detections:
        """The detections with a copy of each for every class above its own, with the same score.

        Args:
            detections: Detections with their own classes alone.
            categories: The categories of the ground truth. Classes that it does not list are left out.
        """
        rows, category_ids = _copies(detections.category_ids, _by_id(self.ancestors, categories))
        return dataclasses.replace(detections.take(rows), category_ids=category_ids)


def _paths(node: Any, place: str, above: tuple[str, ...], source: str) -> Iterator[tuple[str, ...]]:
    """The names from the root to each node but the root."""
    shown = f"{source}: {place.lstrip('.')}" if place else f"{source}: the root"
    if not isinstance(node, Mapping):
        raise DatasetError(f"{shown}: expected a node with LabelName, found {_shown(node)}")
    name, children = node.get("LabelName"), node.get("Subcategory", [])
    if not isinstance(name, str) or not name:
        raise DatasetError(f"{shown}.LabelName: expected text, found {_shown(name)}")
    if name in above:
        circle = " > ".join((*above[above.index(name) :], name))
        raise DatasetError(f"{shown}: expected a class that does not lie below itself, found a circle: {circle}")
    if not isinstance(children, Sequence) or isinstance(children, str):
        raise DatasetError(f"{shown}.Subcategory: expected a list of nodes, found {_shown(children)}")
    if len(above) > _DEEPEST:
        raise DatasetError(f"{shown}: expected at most {_DEEPEST} levels of classes, found more")
    path = (*above, name)
    if above:
        yield path
    for at, child in enumerate(children):
        yield from _paths(child, f"{place}.Subcategory[{at}]", path, source)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _by_id(relatives: Mapping[str, tuple[str, ...]], categories: Categories) -> dict[int, tuple[int, ...]]:
    """The relatives of each category that has some, as ids."""
    names = categories.attributes.get(NAMES, np.array(categories.names, np.str_)).tolist()
    ids = dict(zip(names, categories.ids.tolist(), strict=True))
    found = {ids[name]: tuple(ids[other] for other in relatives.get(name, ()) if other in ids) for name in ids}
    return {number: others for number, others in found.items() if others}


def _copies(category_ids: Ids, relatives: Mapping[int, tuple[int, ...]]) -> tuple[npt.NDArray[np.intp], Ids]:
    """Each row followed by its copies: their rows, and their categories."""
    numbers, of_rows = np.unique(category_ids, return_inverse=True)
    made = IdLists.of((number, *relatives.get(number, ())) for number in numbers.tolist()).take(of_rows)
    sizes = np.diff(made.ends, prepend=0)
    return np.repeat(np.arange(len(category_ids)), sizes), np.array(made.ids)
