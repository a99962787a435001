"""All numbers of an evaluation under flat names, such as ``AP`` and ``AP/person``, as trackers and checks need them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ioukit._checks import check_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.evaluation.class_results import ClassResult
    from ioukit.evaluation.protocols import Protocol

__all__ = ["category_labels", "class_labels", "flat_metrics"]


def flat_metrics(
    protocol: Protocol,
    summary: Mapping[str, float],
    counts: Mapping[str, int],
    classes: Sequence[ClassResult],
    per_class: bool | Sequence[str],
) -> dict[str, float]:
    """The numbers by flat names, see :meth:`ioukit.Evaluation.metrics`."""
    if per_class is True:
        keys = [measure.key for measure in protocol.measures if measure.headline]
    else:
        keys = [per_class] if isinstance(per_class, str) else list(per_class or ())
    for key in keys:
        check_choice("metric of per_class", key, tuple(summary))
    found: dict[str, float] = {**summary, **{f"counts/{name}": count for name, count in counts.items()}}
    labelled = list(zip(class_labels(classes), classes, strict=True)) if keys else []
    return found | {f"{key}/{label}": result.summary[key] for key in keys for label, result in labelled}


def class_labels(classes: Sequence[ClassResult]) -> list[str]:
    """A name for each class that no other class has: its own, with ``#`` and its id if others have it or it is empty.

    The labels depend only on the names and ids of all classes, so they are the same for every evaluation of a data set.
    """
    return category_labels([one.id for one in classes], [one.name for one in classes])


def category_labels(ids: Sequence[int], names: Sequence[str]) -> list[str]:
    """The same for categories, given the id and the name of each."""
    marked = [not name for name in names]
    while True:
        rows = zip(ids, names, marked, strict=True)
        labels = [f"{name}#{number}" if mark else name for number, name, mark in rows]
        times = Counter(labels)
        # Two labels with an id never are equal, so every round marks another class or is the last.
        again = [mark or times[label] > 1 for label, mark in zip(labels, marked, strict=True)]
        if again == marked:
            return labels
        marked = again
