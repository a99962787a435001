"""The page of a comparison: whether a model is better than another, where, and what changed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit._array_types import Positions
from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.comparison.sides import table_with_near_pairs
from ioukit.comparison.words import change_sentences, doubt_sentence, verdict_notes
from ioukit.evaluation import score_curves
from ioukit.report._changes import Thresholds, change_list, pair_marks, side_by_side
from ioukit.report._curves import SliderCurves, slider
from ioukit.report._differences import DifferenceRow, PartList, difference_rows, in_points, part_lists
from ioukit.report._numbers import settings
from ioukit.report._sources import InputFile, input_file, input_paths, made_with, name_of, time_text, view_command
from ioukit.report._texts import abbreviate, class_name, class_names, fact_list, iou_text, score_text, text
from ioukit.report.writer import Layout, Page, write_page
from ioukit.statistics.detectable import alarm

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ioukit.comparison import ModelComparison, ModelPair, Ranking
    from ioukit.evaluation import ScoreCurves
    from ioukit.report._changes import PairMarks


_MOST_CLASSES = 100  # with curves of their own: those with the largest parts of the difference
_CARDS = 12
_NO_DATA = "The evaluations do not hold their data, so images cannot be drawn."


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
    """The letter and the name of each model; A and B are the first two."""
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
    numbers: tuple[DifferenceRow, ...]
    numbers_words: str
    level: str
    """The level of the intervals, such as ``"95 %"``."""
    alarm: str
    """The highest p-value that is significant, such as ``"0.05"``."""
    scale: str
    """The value at the left end of the bars of intervals; empty without bars."""
    ranking: tuple[RankedModel, ...]
    """Empty for two models."""
    ranking_words: str
    changes_lead: str
    """What became of the objects and the false positives, counted."""
    changes_words: str
    """How the changes were found."""
    images_words: str
    iou: str
    """The IoU threshold of curves, changes and images."""


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
    curves = [
        score_curves(one.matches, iou_threshold=pair.changes.iou_threshold, area_range=pair.changes.area_range)
        for one in (pair.a, pair.b)
    ]
    names = class_names(pair.a.matches.categories)
    drawn, missing, notes = _drawn(pair, curves, names, folder=images, photographs=photographs)
    rows, scale = difference_rows(pair.a, pair.comparison)
    models = [(_letter(place), abbreviate(name, "unnamed")) for place, name in enumerate(comparison.names)]
    ranking, counts = comparison.ranking, pair.a.counts
    sources = _sources(comparison)
    scores = [_score_words(score) for score in pair.changes.score_thresholds]
    thresholds = f"A {scores[0]}, B {scores[1]}"
    level = percent(pair.difference.level)
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
            ("object", "objects", curves[0].overall.num_ground_truth),
            *(
                (f"detection of {letter}", f"detections of {letter}", one.counts["detections"])
                for (letter, _), one in zip(models, comparison.evaluations, strict=True)
            ),
        ),
        lead=printable(pair.verdict() if ranking is None else ranking.verdict()),
        verdicts=() if ranking is None else tuple(printable(one.verdict()) for one in comparison.pairs),
        lead_notes=verdict_notes(pair.difference, pair.comparison.num_images),
        protocol=abbreviate(comparison.protocol.name),
        key=comparison.protocol.main_measure.key,
        numbers=tuple(rows),
        numbers_words=_numbers_words(pair, level),
        level=level,
        alarm=f"{alarm(pair.difference.level):g}",
        scale=scale,
        ranking=() if ranking is None else _ranking(ranking, comparison.names),
        ranking_words="" if ranking is None else ranking.note(),
        changes_lead=" ".join(change_sentences(pair.changes, ("A", "B"), same_boxes=pair.same_boxes)),
        changes_words=_changes_words(pair, thresholds, drawn),
        images_words=_images_words(drawn),
        iou=iou_text(pair.changes.iou_threshold),
        notes=tuple(notes),
        settings=(*settings(pair.a), *_settings(pair, thresholds), *made_with()),
        files=sources,
        missing=missing,
        drawn=drawn,
    )


def _drawn(
    pair: ModelPair, curves: list[ScoreCurves], names: list[str], *, folder: Path | None, photographs: int
) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """The data of the page's script, the reasons for missing parts, and notes."""
    missing: dict[str, str] = {}
    listed = change_list(pair.changes)
    order = _order(pair, listed.columns["image"])
    drawn_images: dict[int, dict[str, Any]] = {}
    found: PairMarks | None = None
    style: dict[str, Any] = {}
    notes = _notes(pair)
    sliders, chosen = _sliders(pair, curves)
    truth, a, b = pair.a.ground_truth, pair.a.detections, pair.b.detections
    if truth is None or a is None or b is None:
        missing["images"] = _NO_DATA
    elif not len(order):
        missing["images"] = "No image changed."
    else:
        scores = [np.array(one["scores"] if one else [], np.float64) for one in sliders]
        thresholds = Thresholds(pair.changes.iou_threshold, pair.changes.area_range, (scores[0], scores[1]))
        tables = table_with_near_pairs(pair.a), table_with_near_pairs(pair.b)
        found = pair_marks(tables, (truth, a, b), thresholds)
        table = pair.a.matches
        pictures = side_by_side(truth, (a, b), table, found, order, folder=folder, photographs=photographs)
        drawn_images, style = pictures.images, pictures.style
        notes += pictures.notes
    place = {image: k for k, image in enumerate(order.tolist())}
    records = _records(pair, order, drawn_images)
    parts: list[PartList] = []
    if pair.parts is None:
        missing["parts"] = printable(pair.without_parts) or "The difference cannot be split."
    else:
        evaluated = names if len(pair.parts.categories) == len(names) else ["all classes"]
        parts = part_lists(pair, pair.parts, evaluated, place, [record["name"] for record in records])
    if not len(listed):
        missing["changes"] = "Nothing changed: both models find the same objects, with the same false positives."
    if not any(sliders):
        reason = "No detection counts" if curves[0].overall.num_ground_truth else "There are no objects"
        missing["curves"] = f"{reason}, so there are no curves."
    drawn = {
        "names": names,
        "models": [abbreviate(pair.name_a, "unnamed"), abbreviate(pair.name_b, "unnamed")],
        "iou": pair.changes.iou_threshold,
        "view": view_command([pair.a, pair.b], folder, names=(pair.name_a, pair.name_b)),
        "parts": parts,
        "curves": {"a": sliders[0], "b": sliders[1], "classes": chosen} if any(sliders) else None,
        "starts": [_start(one, score) for one, score in zip(sliders, pair.changes.score_thresholds, strict=True)],
        "changes": listed.to_json(place, found) if len(listed) else None,
        "leftOut": listed.left_out,
        "images": records,
        "drawn": [place[image] for image in drawn_images],
        "cards": _CARDS,
        "drawing": style,
    }
    return drawn, missing, notes


def _notes(pair: ModelPair) -> list[str]:
    """The notes of both evaluations, those of both once."""
    both = dict.fromkeys((*pair.a.notes, *pair.b.notes))
    sides = {note: [side for side, one in (("A", pair.a), ("B", pair.b)) if note in one.notes] for note in both}
    return [f"{' and '.join(of)}: {printable(note)}" for note, of in sides.items()]


def _order(pair: ModelPair, changed: Positions) -> Positions:
    """Positions of the images that changed, those with the largest parts of the difference first."""
    count = np.bincount(changed, minlength=len(pair.changes.image_ids))
    size = np.zeros(len(count)) if pair.parts is None else np.abs(pair.parts.images)
    order = np.lexsort((-count, -size))
    return order[(size[order] > 0) | (count[order] > 0)].astype(np.int64)


def _records(pair: ModelPair, order: Positions, drawn: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """The images for the script of the page, each with its name and a few words."""
    table, truth = pair.a.matches, pair.a.ground_truth
    listed: Any = truth.images.positions(table.image_ids) if truth is not None else []
    counts = pair.changes.by_image()
    key = pair.a.protocol.main_measure.key
    found, lost = counts["found"] + counts["right_class_now"], counts["lost"] + counts["other_class_now"]
    new, gone = counts["new_false_positive"], counts["gone_false_positive"]
    records = []
    for image in order.tolist():
        raw = truth.images.names[int(listed[image])] if truth is not None else ""
        false = f"{new[image]:,} new and {gone[image]:,} gone false positives"
        words = f"{found[image]:,} found, {lost[image]:,} lost, {false}"
        if pair.parts is not None:
            words = f"{key} {in_points(float(pair.parts.images[image]))} points: {words}"
        name = abbreviate(raw, f"image {table.image_ids[image]}")
        records.append({"name": name, "words": words, **drawn.get(image, {})})
    return records


def _sliders(pair: ModelPair, curves: list[ScoreCurves]) -> tuple[list[SliderCurves | None], list[str]]:
    """The data of the two sliders, ``None`` without curves, and the names of the classes with curves of their own."""
    classes = len(curves[0].per_class)
    order = np.arange(classes)
    if pair.parts is not None and len(pair.parts.classes) == classes:
        order = np.argsort(-np.abs(pair.parts.classes), kind="stable")
    chosen = sorted(order[:_MOST_CLASSES].tolist())
    sliders = [
        slider(one, chosen, score) if one.overall.num_ground_truth else None
        for one, score in zip(curves, pair.changes.score_thresholds, strict=True)
    ]
    names = [class_name(result.name, result.id) for result in pair.a.per_class]
    return sliders, [names[place] for place in chosen]


def _start(drawn: SliderCurves | None, score: float) -> int:
    """The position of a slider at which the detections with at least a score count."""
    if drawn is None:
        return 0
    return max(int(np.searchsorted(-np.array(drawn["scores"]), -score, side="right")) - 1, 0)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"{place + 1}"


def _sources(comparison: ModelComparison) -> tuple[InputFile, ...]:
    """The input files: the ground truth once, the detections of each model."""
    return tuple(
        input_file(f"{role} {_letter(place)}" if role == "Detections" else role, path)
        for place, evaluation in enumerate(comparison.evaluations)
        for role, path in input_paths(evaluation)
        if role == "Detections" or not place
    )


def _score_words(score: float) -> str:
    return "all detections" if math.isinf(score) else f"at least {score_text(score)}"


def _numbers_words(pair: ModelPair, level: str) -> str:
    statistics = pair.comparison
    return (
        f"The {level} interval of a difference shows what other images could give. The p-value is the share of "
        f"{statistics.permutations:,} random exchanges of A and B that show a difference as large. "
        f"{doubt_sentence(statistics.differences, statistics.differences[0].level)}"
    ).rstrip()


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


def _changes_words(pair: ModelPair, thresholds: str, drawn: Mapping[str, Any]) -> str:
    changes = pair.changes
    words = (
        f"Objects and false positives that changed from A to B, at IoU {iou_text(changes.iou_threshold)}. Detections "
        f"count with these scores: {thresholds}. An object is better or worse placed if its IoU changes by at least "
        f"{changes.placement:g}."
    )
    if drawn["leftOut"]:
        words += f" The list has the changes with the highest scores; {drawn['leftOut']:,} others are left out."
    return words


def _images_words(drawn: Mapping[str, Any]) -> str:
    count, total = len(drawn["drawn"]), len(drawn["images"])
    words = "The images with the largest shares of the difference."
    if count < total:
        words += f" {count:,} of {total:,} images that changed are drawn on this page, so that it stays small."
    return words


def _settings(pair: ModelPair, thresholds: str) -> list[tuple[str, str]]:
    changes, statistics = pair.changes, pair.comparison
    paired = "the IoU of their boxes" if changes.paired_by == "boxes" else "the order of their scores"
    words = f"IoU {iou_text(changes.iou_threshold)}, area “{abbreviate(changes.area_range)}”, scores: {thresholds}"
    return [
        ("Changes, images", words),
        ("Pairs of false positives", f"by {paired}"),
        ("Bootstrap, permutations", f"{statistics.replicates:,}, {statistics.permutations:,}; seed {statistics.seed}"),
    ]
