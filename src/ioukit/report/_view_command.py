"""The command that opens the data of a page in the viewer. The script of the page adds filters to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._output import printable
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.protocols import PROTOCOLS, find_protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import Evaluation

__all__ = ["view_command"]


def view_command(evaluations: Sequence[Evaluation], folder: str | os.PathLike[str] | None) -> dict[str, Any] | None:
    """The words of ``ioukit view`` up to the filters, for ``assets/shared/commands.js``.

    Args:
        evaluations: One or several, on the same ground truth.
        folder: The folder of the photographs.

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
    words = ["ioukit", "view", *paths]
    if folder is not None and printable(os.fspath(folder)) == os.fspath(folder):
        words += ["--images", os.fspath(folder)]
    return {"before": [*words, *_rules(evaluations[0])]}


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
