"""What the page of a comparison says of two models: numbers, parts of the difference, curves, changes, and images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._array_types import Positions
from ioukit._output import printable
from ioukit._words_and_colours import overlap_name, percent
from ioukit.comparison.sides import table_with_near_pairs
from ioukit.comparison.words import doubt_sentence
from ioukit.evaluation import score_curves
from ioukit.report._changes import Thresholds, change_list, pair_marks, side_by_side
from ioukit.report._curves import SliderCurves, slider
from ioukit.report._differences import DifferenceRow, PartList, difference_rows, in_points, part_lists
from ioukit.report._sources import view_command
from ioukit.report._texts import abbreviate, class_name, class_names, iou_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ioukit.comparison import ModelPair
    from ioukit.evaluation import ScoreCurves
    from ioukit.report._changes import PairMarks


_MOST_CLASSES = 100  # with curves of their own: those with the largest parts of the difference
_CARDS = 12
_NO_DATA = "The evaluations do not hold their data, so images cannot be drawn."


@dataclass(frozen=True, kw_only=True)
class PairPart:
    """What the template gets of the first model, A, and one of the others."""

    letter: str
    """Of the other model."""
    names: tuple[str, str]
    objects: int
    """How many objects count."""
    iou: str
    """The IoU threshold of curves, changes and images."""
    numbers: tuple[DifferenceRow, ...]
    numbers_words: str
    scale: str
    """The value at the left end of the bars of intervals; empty without bars."""
    changes_lead: str
    """What became of the objects and the false positives, counted."""
    changes_words: str
    """How the changes were found."""
    images_words: str
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    missing: Mapping[str, str]
    """For each missing part, the reason why it is missing."""
    drawn: Mapping[str, Any]
    """The data of the page's script."""


def pair_part(pair: ModelPair, letter: str, *, folder: Path | None, photographs: int, share: int) -> PairPart:
    """Collect what the page says of two models.

    Args:
        pair: The models.
        letter: The letter of the second one.
        folder: The folder of the photographs.
        photographs: The largest number of photographs.
        share: How many pairs have to fit into the page.
    """
    curves = [
        score_curves(one.matches, iou_threshold=pair.changes.iou_threshold, area_range=pair.changes.area_range)
        for one in (pair.a, pair.b)
    ]
    names = class_names(pair.a.matches.categories)
    drawn, missing, notes = _drawn(
        pair, letter, curves, names, folder=folder, photographs=photographs // share, share=share
    )
    rows, scale = difference_rows(pair.a, pair.comparison, pair.p_corrected)
    scores = [f"at least {text}" if text else "all detections" for text in pair.threshold_texts]
    thresholds = f"A {scores[0]}, {letter} {scores[1]}" if pair.a.protocol.ranks else ""
    return PairPart(
        letter=letter,
        names=(abbreviate(pair.name_a, "unnamed"), abbreviate(pair.name_b, "unnamed")),
        objects=curves[0].overall.num_ground_truth,
        iou=iou_text(pair.changes.iou_threshold),
        numbers=tuple(rows),
        numbers_words=_numbers_words(pair, letter, percent(pair.difference.level)),
        scale=scale,
        changes_lead=" ".join(pair.change_sentences(("A", letter))),
        changes_words=_changes_words(pair, letter, thresholds, drawn),
        images_words=_images_words(drawn),
        notes=tuple(notes),
        settings=tuple(_settings(pair, thresholds)),
        missing=missing,
        drawn=drawn,
    )


def _drawn(
    pair: ModelPair,
    letter: str,
    curves: list[ScoreCurves],
    names: list[str],
    *,
    folder: Path | None,
    photographs: int,
    share: int,
) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """The data of the page's script, the reasons for missing parts, and notes."""
    missing: dict[str, str] = {}
    listed = change_list(pair.changes)
    order = _order(pair, listed.columns["image"])
    drawn_images: dict[int, dict[str, Any]] = {}
    found: PairMarks | None = None
    style: dict[str, Any] = {}
    notes = _notes(pair, letter)
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
        pictures = side_by_side(truth, (a, b), table, found, order, folder=folder, photographs=photographs, share=share)
        drawn_images, style = pictures.images, pictures.style
        notes += pictures.notes
    place = {image: k for k, image in enumerate(order.tolist())}
    records = _records(pair, order, drawn_images)
    parts: list[PartList] = []
    if pair.parts is None:
        known = f"It is not known: {printable(pair.without_parts)}." if pair.without_parts else ""
        missing["parts"] = known or "The difference cannot be split."
    else:
        evaluated = names if len(pair.parts.categories) == len(names) else ["all classes"]
        parts = part_lists(pair, letter, pair.parts, evaluated, place, [record["name"] for record in records])
    if not len(listed):
        missing["changes"] = "Nothing changed: both models find the same objects, with the same false positives."
    if not any(sliders):
        reason = "No detection counts" if curves[0].overall.num_ground_truth else "There are no objects"
        missing["curves"] = f"{reason}, so there are no curves."
    drawn = {
        "letter": letter,
        "names": names,
        "models": [abbreviate(pair.name_a, "unnamed"), abbreviate(pair.name_b, "unnamed")],
        "iou": pair.changes.iou_threshold,
        "ranks": pair.a.protocol.ranks,
        "view": view_command([pair.a, pair.b], folder, names=(pair.name_a, pair.name_b)),
        "parts": parts,
        "curves": {"a": sliders[0], "b": sliders[1], "classes": chosen} if any(sliders) else None,
        "starts": [_start(one, score) for one, score in zip(sliders, pair.changes.score_thresholds, strict=True)],
        "changes": listed.to_json(letter, place, found) if len(listed) else None,
        "leftOut": listed.left_out,
        "images": records,
        "drawn": [place[image] for image in drawn_images],
        "cards": _CARDS,
        "drawing": style,
        "overlap": overlap_name(pair.a.matches.iou_type),
    }
    return drawn, missing, notes


def _notes(pair: ModelPair, letter: str) -> list[str]:
    """The notes of both evaluations, those of both once."""
    both = dict.fromkeys((*pair.a.notes, *pair.b.notes))
    sides = {note: [side for side, one in (("A", pair.a), (letter, pair.b)) if note in one.notes] for note in both}
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


def _numbers_words(pair: ModelPair, letter: str, level: str) -> str:
    statistics = pair.comparison
    key = pair.a.protocol.main_measure.key
    corrected = "" if pair.p_corrected is None else f"; that of {key} is corrected for the number of pairs of models"
    # The data itself is one of all ways.
    every, made = statistics.is_every_permutation, statistics.permutations
    exchanges = f"all {made + 1:,}" if every else f"{made:,} random"
    return (
        f"The {level} interval of a difference shows what other images could give. The p-value is the share of "
        f"{exchanges} exchanges of A and {letter} that show a difference as large{corrected}. "
        f"{doubt_sentence(statistics.differences, statistics.differences[0].level)}"
    ).rstrip()


def _changes_words(pair: ModelPair, letter: str, thresholds: str, drawn: Mapping[str, Any]) -> str:
    changes = pair.changes
    counted = f"Detections count with these scores: {thresholds}." if thresholds else "All detections count."
    at = f"{overlap_name(changes.iou_type)} {iou_text(changes.iou_threshold)}"
    words = (
        f"Objects and false positives that changed from A to {letter}, at {at}. "
        f"{counted} An object is better or worse placed if its overlap changes by at least {changes.placement:g}."
    )
    if drawn["leftOut"]:
        kept = "The list has the changes with the highest scores;" if thresholds else "The list has not all changes:"
        words += f" {kept} {drawn['leftOut']:,} others are left out."
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
    words = (
        f"{overlap_name(changes.iou_type)} {iou_text(changes.iou_threshold)}, area “{abbreviate(changes.area_range)}”"
    )
    words += f", scores: {thresholds}" if thresholds else ""
    return [
        ("Changes, images", words),
        ("Pairs of false positives", f"by {paired}"),
        ("Bootstrap, permutations", f"{statistics.replicates:,}, {statistics.permutations:,}; seed {statistics.seed}"),
    ]
