"""The page of a comparison: whether a model is better than another, where, and what changed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.report._numbers import settings
from ioukit.report._pair_part import PairPart, pair_part
from ioukit.report._sources import input_files, input_paths, made_with, name_of, time_text
from ioukit.report._texts import abbreviate, fact_list, text
from ioukit.report.writer import Layout, Page, write_page
from ioukit.statistics.detectable import alarm

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit.comparison import ModelComparison, Ranking


class RankedModel(NamedTuple):
    """A row of the ranking."""

    letter: str
    name: str
    value: str
    interval: str
    groups: str


@dataclass(frozen=True, kw_only=True)
class ComparisonPage(Page):
    """What the template of a comparison gets."""

    layout: ClassVar[Layout] = Layout(
        "comparison/comparison.html.j2",
        ("shared/document.css", "shared/outcomes.css", "shared/controls.css", "comparison/comparison.css"),
        (
            *("shared/words.js", "shared/charts.js", "shared/curves.js", "shared/paged.js", "shared/outcomes.js"),
            *("shared/pictures.js", "shared/commands.js", "comparison/look.js", "comparison/thresholds.js"),
            *("comparison/parts.js", "comparison/changes.js", "comparison/pair.js", "comparison/main.js"),
        ),
        "write_comparison",
    )

    models: tuple[tuple[str, str], ...]
    """The letter and the name of each model."""
    against: str
    """The ground truth that the models were evaluated against."""
    lead: str
    """Which model is better, and how sure that is; of more than two models, which is the best."""
    verdicts: tuple[str, ...]
    """Of more than two models, how each compares with the first."""
    lead_notes: str
    """How large a difference the images can show, and what ± is; may be empty."""
    protocol: str
    key: str
    """The key of the main number."""
    level: str
    """The level of the intervals, such as ``"95 %"``."""
    alarm: str
    """The highest p-value that is significant, such as ``"0.05"``."""
    ranking: tuple[RankedModel, ...]
    """Empty for two models."""
    ranking_words: str
    pairs: tuple[PairPart, ...]
    """The first model with each of the others; the page shows one of them at a time."""


def write_comparison(
    comparison: ModelComparison,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    photographs: int = 48,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows whether a model is better than another, where, and what changed.

    The first two models of the comparison are A and B. The file needs no server and no network. Needs the extra
    ``report``.

    Args:
        comparison: The result of `ioukit.comparison.compare_models`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs, for those of the images that changed most; boxes without photographs if
            ``None``.
        title: The heading; the names of A and B if ``None``.
        photographs: The largest number of photographs; the page has fewer if they are large.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that one of the evaluations
            was read from, or is one of the images; if ``images`` is not a folder, or ``photographs`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    write_page(
        path,
        images,
        [source for evaluation in comparison.evaluations for _, source in input_paths(evaluation)],
        lambda folder: comparison_data(
            comparison, images=folder, title=title, photographs=photographs, created=created
        ),
    )


def comparison_data(
    comparison: ModelComparison,
    *,
    images: Path | None,
    title: str | None,
    photographs: int,
    created: datetime.datetime | None,
) -> ComparisonPage:
    """Collect the data of a page; the arguments are those of :func:`write_comparison`."""
    if photographs < 0:
        raise ValueError(f"photographs must not be negative, got {photographs}")
    pair = comparison.pairs[0]
    models = [(_letter(place), abbreviate(name, "unnamed")) for place, name in enumerate(comparison.names)]
    others = [letter for letter, _ in models[1:]]
    parts = [
        pair_part(one, letter, folder=images, photographs=photographs, share=len(others))
        for one, letter in zip(comparison.pairs, others, strict=True)
    ]
    ranking, counts = comparison.ranking, pair.a.counts
    sources = _sources(comparison)
    return ComparisonPage(
        title=abbreviate(
            f"{', '.join(name for _, name in models[1:])} compared with {models[0][1]}" if title is None else title
        ),
        models=tuple(models),
        against=name_of(sources, "Ground truth"),
        created=time_text(created),
        facts=fact_list(
            ("image", "images", counts["images"]),
            ("class", "classes", counts["categories"]),
            ("object", "objects", parts[0].objects),
            *(
                (f"detection of {letter}", f"detections of {letter}", one.counts["detections"])
                for (letter, _), one in zip(models, comparison.evaluations, strict=True)
            ),
        ),
        lead=printable(pair.verdict() if ranking is None else ranking.verdict()),
        verdicts=() if ranking is None else tuple(printable(one.verdict()) for one in comparison.pairs),
        lead_notes=pair.notes(),
        protocol=abbreviate(comparison.protocol.name),
        key=comparison.protocol.main_measure.key,
        level=percent(pair.difference.level),
        alarm=f"{alarm(pair.difference.level):g}",
        ranking=() if ranking is None else _ranking(ranking, comparison.names),
        ranking_words="" if ranking is None else ranking.note(),
        pairs=tuple(parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        settings=(
            *settings(pair.a),
            *dict.fromkeys(row for part in parts for row in part.settings),
            *made_with(),
        ),
        files=input_files(sources),
        drawn={"pairs": [part.drawn for part in parts]},
    )


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"{place + 1}"


def _sources(comparison: ModelComparison) -> list[tuple[str, Path]]:
    """The inputs: the ground truth once, the detections of each model."""
    return [
        (f"{role} {_letter(place)}" if role == "Detections" else role, path)
        for place, evaluation in enumerate(comparison.evaluations)
        for role, path in input_paths(evaluation)
        if role == "Detections" or not place
    ]


def _ranking(ranking: Ranking, names: Sequence[str]) -> tuple[RankedModel, ...]:
    rows = zip(ranking.names, ranking.intervals, ranking.letters, strict=True)
    return tuple(
        RankedModel(
            _letter(names.index(name)),
            abbreviate(name, "unnamed"),
            text(one.value),
            "undefined" if math.isnan(one.low) else f"{one.low:.3f} to {one.high:.3f}",
            groups,
        )
        for name, one, groups in rows
    )
