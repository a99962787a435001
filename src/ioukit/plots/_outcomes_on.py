"""The regions of one image with their outcomes, and how each outcome looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._words_and_colours import COLOURS, OUTCOME_WORDS
from ioukit.plots._box_drawing import score_text
from ioukit.plots._images import frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Evaluation, Outcomes, Outline


@dataclass(frozen=True)
class Kind:
    """The look of the regions of one kind: colour, dashes, width and hatch. Kinds differ in all of them."""

    meaning: str
    """The name of its words and its colours, see `ioukit._words_and_colours`."""
    dashes: Any
    width: float
    hatch: str | None = None
    mark: str = ""
    """The first letters of its labels."""

    @property
    def words(self) -> str:
        """Its name in a legend."""
        return OUTCOME_WORDS[self.meaning]

    @property
    def on_image(self) -> str:
        """Its colour on a photograph, and that of the plates of its labels, which have black letters."""
        return COLOURS[self.meaning].dark


KINDS = {
    "object": Kind("object", "-", 1.0),
    "ignored": Kind("ignored", (0, (1, 2)), 1.2, mark="ignored "),
    "TP": Kind("tp", "-", 2.2),
    "FP": Kind("fp", (0, (5, 2)), 2.0, mark="FP "),
    "FN": Kind("fn", (0, (1, 1)), 2.2, hatch="/", mark="FN "),
}


@dataclass(frozen=True)
class Drawn:
    """A region to draw."""

    kind: str
    outline: Outline
    gid: str
    name: str
    score: float | None = None

    @property
    def wordings(self) -> Sequence[str]:
        """The text of its label, and shorter ones for less room."""
        return score_text(self.name, self.score, KINDS[self.kind].mark)


@dataclass(frozen=True)
class Scene:
    """What is drawn of one image."""

    drawn: list[Drawn]
    """The regions, the least important first."""
    filled: bool
    """Whether paths are filled, as masks are."""
    ground: bool
    """Whether the scene is seen from above. There is no photograph then."""

    def frame(
        self, truth: GroundTruth, position: int, pixels: NDArray[Any] | None
    ) -> tuple[float, float, float, float]:
        """Left, top, right and bottom edge: those of the image, or those of the ground that has regions."""
        bounds = np.array([entry.outline.bounds for entry in self.drawn]).reshape(-1, 4)
        if self.ground:
            from ioukit.evaluation.outlines.outline import ground_frame  # noqa: PLC0415 - for views from above

            return ground_frame(bounds)
        width, height = frame_of(truth, position, pixels, bounds)
        return 0.0, 0.0, float(width), float(height)


def data_of(evaluation: Evaluation) -> tuple[GroundTruth, Detections]:
    """The ground truth and the detections of an evaluation."""
    if evaluation.ground_truth is None or evaluation.detections is None:
        raise ValueError("this evaluation holds only its match table, not the ground truth and detections to draw")
    return evaluation.ground_truth, evaluation.detections


def outcomes_of(evaluation: Evaluation, iou_threshold: float | None, score_threshold: float | None) -> Outcomes:
    """The outcomes at a score threshold, by default the one with the best F1."""
    if score_threshold is None:
        best = evaluation.score_curves(iou_threshold=iou_threshold).overall.best.score
        score_threshold = -np.inf if np.isnan(best) else float(best)
    return evaluation.outcomes(iou_threshold=iou_threshold, score_threshold=score_threshold)


def drawn_on(evaluation: Evaluation, outcomes: Outcomes, image_id: int | str) -> Scene:
    """The regions of an image. Regions that have nothing to draw are left out."""
    from ioukit.evaluation import Outcome, Outlines  # noqa: PLC0415 - keeps `import ioukit.plots` fast
    from ioukit.evaluation.kinds import find_kind  # noqa: PLC0415 - as above

    truth, detections = data_of(evaluation)
    table = evaluation.matches
    region = find_kind(table.iou_type)
    position = int(np.flatnonzero(table.image_ids == image_id)[0]) if image_id in table.image_ids else -1
    names = table.categories.names
    found: list[tuple[str, str, str, float | None]] = []
    objects = {Outcome.TRUE_POSITIVE: "object", Outcome.FALSE_NEGATIVE: "FN", Outcome.IGNORED: "ignored"}
    of_image = np.flatnonzero(table.objects.image == position)
    rows = of_image[np.argsort(table.objects.row[of_image])]
    rows = rows[np.isin(outcomes.objects[rows], list(objects))]
    for row, at in zip(rows.tolist(), table.objects.row[rows].tolist(), strict=True):
        kind = objects[Outcome(int(outcomes.objects[row]))]
        gid = f"{kind} {at}" if kind != "ignored" else f"ignored object {at}"
        found.append((kind, gid, names[int(table.objects.category[row])], None))
    drawn = [region.outlines_of(truth[table.objects.row[rows]], truth)]
    guesses = {Outcome.TRUE_POSITIVE: "TP", Outcome.FALSE_POSITIVE: "FP", Outcome.IGNORED: "ignored"}
    of_image = np.flatnonzero(table.detections.image == position)
    rows = of_image[np.lexsort((table.detections.row[of_image], -table.detections.score[of_image]))]
    rows = rows[np.isin(outcomes.detections[rows], list(guesses))]
    for row, at in zip(rows.tolist(), table.detections.row[rows].tolist(), strict=True):
        kind = guesses[Outcome(int(outcomes.detections[row]))]
        score = float(table.detections.score[row])
        found.append((kind, f"{kind} {at}", names[int(table.detections.category[row])], score))
    drawn.append(region.outlines_of(detections[table.detections.row[rows]], truth))
    outlines = Outlines.joined(drawn)
    shown = [
        Drawn(kind, outline, gid, name, score)
        for (kind, gid, name, score), outline in zip(found, outlines, strict=True)
        if not outline.is_empty
    ]
    if outlines.filled:
        shown.sort(key=lambda entry: -_extent(entry.outline))  # a small mask is not covered by a large one
    order = list(KINDS)
    return Scene(sorted(shown, key=lambda entry: order.index(entry.kind)), outlines.filled, outlines.view == "ground")


def _extent(outline: Outline) -> float:
    """The area of the box around an outline."""
    x1, y1, x2, y2 = outline.bounds.tolist()
    return float((x2 - x1) * (y2 - y1))
