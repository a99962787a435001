"""The command that opens the data of a page in the viewer. The script of the page adds filters to it."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._output import printable
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.protocols import PROTOCOLS, find_protocol
from ioukit.report._names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.datasets import Categories
    from ioukit.evaluation import Evaluation

__all__ = ["view_command"]


def view_command(
    evaluations: Sequence[Evaluation], folder: str | os.PathLike[str] | None, *, names: Sequence[str] = ()
) -> dict[str, Any] | None:
    """The words of ``ioukit view`` up to the filters, for ``assets/shared/commands.js``.

    Args:
        evaluations: One or several, on the same ground truth.
        folder: The folder of the photographs.
        names: The names of the models, if the page has some.

    Returns:
        ``None`` if some of the data did not come from files, because the command could not read them.
    """
    sources = (evaluations[0].ground_truth, *(evaluation.detections for evaluation in evaluations))
    paths = []
    for source in sources:
        # Names with invisible characters could do something else in a shell than what they look like.
        if source is None or not Path(source.source).exists() or printable(source.source) != source.source:
            return None
        # A word with a hyphen before it would be an option.
        paths.append(f"./{source.source}" if source.source.startswith("-") else source.source)
    if any(printable(name) != name for name in names):
        return None
    words = ["ioukit", "view", *paths, *(word for name in names for word in ("--name", name))]
    if folder is not None and printable(os.fspath(folder)) == os.fspath(folder):
        words += ["--images", os.fspath(folder)]
    return {"before": [*words, *_rules(evaluations[0])], "ids": _by_id(evaluations[0].matches.categories)}


def _by_id(categories: Categories) -> dict[str, str]:
    """The classes that filters must name by their ids, because the page shows other names or names are not unique."""
    count = Counter(categories.names)
    return {
        str(place): f"id:{number}"
        for place, (number, name) in enumerate(zip(categories.ids.tolist(), categories.names, strict=True))
        if count[name] > 1 or shown(name) != name or not name or name == "background" or name.startswith("id:")
    }


def _rules(evaluation: Evaluation) -> list[str]:
    """The options that name the kind of region and the protocol, where they are not the usual ones.

    A protocol with changes of one's own has no name that the command knows; the viewer then follows the usual one.
    """
    kind, protocol = evaluation.matches.iou_type, evaluation.protocol
    words = [] if kind == "bbox" else ["--iou-type", kind]
    if protocol == find_kind(kind).protocol:
        return words
    for name in PROTOCOLS:
        try:
            known = find_protocol(name, kind)
        except ValueError:  # not for this kind
            continue
        if known == protocol:
            return [*words, "--protocol", name]
    return words
