"""Why each detection of an image is right or wrong, and why each object is found or missed, in words.

Owns: the reasons. That a detection is false, the match table says (`evaluation/matching.py`); this file says why, and
starts from that outcome. It asks in the order in which matching refuses: does the detection count at all, did it match,
is it ignored, which object makes it an error of its kind (`_false_positive`), did a better detection take the object
that it wants, and which object was nearest. So a reason agrees with the outcome, whatever the protocol, and with the
kind of error that the page says above it.

Does not own: who overlaps, matches and could match whom (`neighbours.py`), and which rule ignores a mark
(`evaluation/why_ignored.py`). It is cut here because those stay the same in any other form of words. Numbers have as
many digits as it takes to show which one is larger: "0.50 is below 0.50" explains nothing. Four are enough: of nearer
numbers, the lower one is rounded down. The share of a detection in a crowd is never compared with an IoU.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, NamedTuple

from ioukit._output import printable
from ioukit._words_and_colours import overlap_name
from ioukit.evaluation.table import LEFT_OUT, NEARLY_ONE, NOT_EXHAUSTIVE
from ioukit.evaluation.why_ignored import cap_words, detection_rule, excuse, left_out_rule, object_rule
from ioukit.viewer.images.neighbours import Found, Neighbours, Pair, Thing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import MatchTable


class Reason(NamedTuple):
    """Why a mark is what it is."""

    code: str
    """The reason as one word.

    Of detections: ``matched``, ``ignored_match``, ``found_before``, ``not_exhaustive``, ``outside``, ``excused``,
    ``void``, ``taken``, ``below``, ``other_class``, ``background``; of those that do not count: ``below_score``,
    ``beyond_cap``, ``left_out``.

    Of objects: ``found``, ``ignored``, ``void``, ``below_score``, ``beyond_cap``, ``left_out``, ``took_another``,
    ``low_iou``, ``other_class``, ``none``.
    """
    words: str
    """The reason in a few sentences."""
    object: int = -1
    """Row in the table of the object that the words are about, besides the mark itself; -1 for none."""
    detection: int = -1
    """Row in the table of the detection that the words are about, besides the mark itself; -1 for none."""
    iou: float = math.nan
    """The overlap of the mark with that object, or else with that detection; NaN for none."""


class Explainer:
    """Says why, for the marks of one image.

    Args:
        truth: The ground truth.
        detections: The detections.
        table: The matches of both.
        neighbours: The marks of the image.
    """

    def __init__(self, truth: GroundTruth, detections: Detections, table: MatchTable, neighbours: Neighbours) -> None:
        self._truth, self._data, self._table, self._all = truth, detections, table, neighbours
        self._protocol = table.protocol
        self._overlap = overlap_name(table.iou_type)
        self._together = "" if self._protocol.ranks else ": pairs are chosen together, the most and then the closest"

    def detection(self, row: int) -> Reason:
        """Why a detection is right, wrong, ignored or not counted.

        Args:
            row: Its row in the table.
        """
        one = self._all.detections[row]
        match = self._all.match.get(row)
        if not one.counts:
            return self._not_counted(one)
        if match is None:
            return self._ignored_alone(one) if one.ignored else self._false_positive(one)
        if not one.matched:
            name, measured = self._named(match), self._measured(match)
            words = f"It takes {name} ({measured}), and matches with that object do not count."
            return Reason("void", words, match.object.row, -1, match.iou)
        return self._ignored_match(match) if one.ignored else self._true_positive(match)

    def object(self, row: int) -> Reason:
        """Why an object is found, missed or ignored.

        Args:
            row: Its row in the table.
        """
        one, takers = self._all.objects[row], self._all.takers.get(row, [])
        counted = [pair for pair in takers if pair.detection.counts and pair.detection.matched]
        if one.ignored:
            words = f"It does not count: {self._rule_of(one)}."
            if len(counted) == 1:
                words += " The detection that matches it does not count either."
            elif counted:
                words += f" The {len(counted):,} detections that match it do not count either."
            best = counted[0] if counted else None
            return Reason("ignored", words, -1, best.detection.row if best else -1, best.iou if best else math.nan)
        found = next((pair for pair in counted if not pair.detection.ignored), None)
        if found is not None:
            words = f"A detection{self._scored(found.detection)} matches it: {self._measured(found)}."
            return Reason("found", words, -1, found.detection.row, found.iou)
        return self._missed(one, takers)

    def _not_counted(self, one: Found) -> Reason:
        if one.special & LEFT_OUT:
            return Reason("left_out", f"It does not count: {self._left_out(one)}.")
        if not one.within:
            return Reason("beyond_cap", f"It does not count: only {cap_words(self._protocol)}.")
        return Reason("below_score", f"It does not count: {self._too_low(one)}.")

    def _left_out(self, one: Found) -> str:
        return left_out_rule(self._data, self._protocol, int(self._table.detections.row[one.row]))

    def _too_low(self, one: Found) -> str:
        score, limit = _apart(one.score, self._all.score_threshold)
        return f"its score {score} is below the score threshold {limit}"

    def _true_positive(self, match: Pair) -> Reason:
        words = f"It matches {self._named(match)}: {self._measured(match)}, and {self._needed(match.object)}."
        for better in self._all.alike(match.detection):
            if better.iou <= match.iou:
                break
            if better.object.is_area != match.object.is_area or not self._all.reaches(better):
                continue
            if better.object.ignored:
                why = "it is ignored, and objects that count come first"
            elif self._all.takers.get(better.object.row):
                why = f"{self._taker(better)} matches that object{self._together}"
            else:
                continue
            words += f" {self._clause(better)}, which is more, but {why}."
            break
        return Reason("matched", words, match.object.row, -1, match.iou)

    def _ignored_match(self, match: Pair) -> Reason:
        name, measured = self._named(match), self._measured(match)
        if match.object.ignored:
            words = f"It matches {name} ({measured}), which does not count: {self._rule_of(match.object)}."
            return Reason("ignored_match", words, match.object.row, -1, match.iou)
        words = f"A better detection matches {name} already, and further ones ({measured}) do not count."
        return Reason("found_before", words, match.object.row, -1, match.iou)

    def _ignored_alone(self, one: Found) -> Reason:
        if one.special & NOT_EXHAUSTIVE:
            return Reason(
                "not_exhaustive",
                "It matches no object, and does not count: not all objects of its class are annotated on this image.",
            )
        row = int(self._table.detections.row[one.row])
        rule = detection_rule(self._data, self._protocol, self._all.area_range, row)
        if rule or not self._protocol.why_matches_vary:
            why = rule or "it is outside of the range"
            return Reason("outside", f"It matches no object, and does not count: {why}.")
        own = self._class(self._table.detections.category[one.row])
        for pair in self._all.near_of(one):
            other = self._class(self._table.objects.category[pair.object.row])
            why = excuse(self._protocol, own, other, is_area=pair.object.is_area)
            if why and pair.iou > self._all.threshold:
                words = f"It does not count: it lies on {self._named(pair)} ({self._measured(pair)}), and {why}."
                return Reason("excused", words, pair.object.row, -1, pair.iou)
        return Reason("excused", "It matches no object, and does not count.")

    def _false_positive(self, one: Found) -> Reason:
        """The object that makes the detection an error of its kind comes first, because the page says that kind."""
        kind, makers = self._all.error(one)
        about, wanted = self._nearest(makers), self._all.wanted(one)
        if about is not None and about.object.category != one.category:
            return self._on_another_class(about)
        start = ""
        if about is None:
            start = f"No object that counts has {self._overlap} above {_short(self._all.background)} with it. "
        if wanted is not None and (about is None or wanted in makers or kind == "duplicate"):
            words = start + self._taken(wanted)
            if kind == "localisation":  # as TIDE has it
                words += " An overlap of exactly the threshold counts as a wrong place."
            taker = self._all.takers[wanted.object.row][0].detection.row
            return Reason("taken", words, wanted.object.row, taker, wanted.iou)
        best = about or self._nearest(self._all.alike(one))
        other = self._nearest(pair for pair in self._all.near_of(one) if pair.object.category != one.category)
        if best is None and other is None:
            return Reason("background", f"No object has {self._overlap} {self._least()} with it.")
        if best is None or (
            about is None and other and self._all.reaches(other) and _closeness(best) < _closeness(other)
        ):
            assert other is not None
            return self._on_another_class(other, start)
        words = f"{start}It matches no object. {self._best_alike(best)}"
        if wanted is not None:
            words += f" {self._taken(wanted)}"
        if other is not None and self._all.reaches(other):
            words += f" {self._clause(other)}, but that object is of another class."
        counted = self._counted_taker(best)
        return Reason("below", words, best.object.row, counted.detection.row if counted else -1, best.iou)

    def _on_another_class(self, pair: Pair, start: str = "") -> Reason:
        """The detection lies on an object of another class; then why it matches none of its own."""
        one, least = pair.detection, "" if self._all.reaches(pair) else f", and {self._needed(pair.object)}"
        wanted = self._all.wanted(one)
        if wanted is None:
            own = self._best_alike(self._nearest(self._all.alike(one)))
        else:
            own = self._taken(wanted, of=" of its class")
        words = f"{start}It lies on {self._named(pair)}, of another class: {self._measured(pair)}{least}."
        if pair.object.ignored:
            words += f" {self._ignored(pair.object)}"
        return Reason("other_class", f"{words} {own}", pair.object.row, -1, pair.iou)

    def _ignored(self, one: Thing) -> str:
        return f"That object does not count: {self._rule_of(one)}."

    def _taken(self, wanted: Pair, of: str = "") -> str:
        """Another detection took the object that a detection wants."""
        words = f"{self._clause(wanted, of)}, but {self._taker(wanted)} matches that object."
        one = wanted.detection
        if self._protocol.takes_best_or_none and sum(map(self._all.reaches, self._all.alike(one))) > 1:
            words += " By this protocol, a detection matches its best object or none."
        return words

    def _nearest(self, pairs: Iterable[Pair]) -> Pair | None:
        """The object that a detection lies on most; a crowd only if no other object is close enough."""
        return max(pairs, key=lambda pair: (self._all.reaches(pair), *_closeness(pair)), default=None)

    def _best_alike(self, best: Pair | None) -> str:
        """A sentence about the best object of the class of a detection that reaches no object of it."""
        if best is None:
            return f"No object of its class has {self._overlap} {self._least()} with it."
        name, needed = self._named(best), self._needed(best.object)
        counts = "" if best == self._nearest(self._all.alike(best.detection)) else " that counts"
        words = f"The best of its class{counts} is {name}: {self._measured(best)}, and {needed}."
        if best.object.ignored:
            return f"{words} {self._ignored(best.object)}"
        taker = self._counted_taker(best)
        if taker is None:
            return words
        which = f"A detection{self._scored(taker.detection)}" if self._protocol.ranks else "Another detection"
        return f"{words} {which} matches that object."

    def _counted_taker(self, pair: Pair) -> Pair | None:
        """The best pair of a detection that counts and takes the object of a pair."""
        return next((other for other in self._all.takers.get(pair.object.row, []) if other.detection.counts), None)

    def _missed(self, one: Thing, takers: Sequence[Pair]) -> Reason:
        """Why an object that counts has no match that counts."""
        if any(pair.detection.counts for pair in takers):
            best = takers[0]
            start = f"A detection{self._scored(best.detection)} takes it ({self._measured(best)})"
            words = f"{start}, but matches with it do not count."
            return Reason("void", words, -1, best.detection.row, best.iou)
        if takers:
            best = takers[0]
            words = f"A detection matches it ({self._measured(best)}), but {self._too_low(best.detection)}."
            return Reason("below_score", words, -1, best.detection.row, best.iou)
        pairs = list(self._all.near_to(one))
        alike = [pair for pair in pairs if pair.detection.category == one.category]
        reaching = [pair for pair in alike if self._all.reaches(pair)]
        if reaching:
            return self._went_elsewhere(min(reaching, key=_rank), reaching)
        others = (pair for pair in pairs if pair.detection.category != one.category)
        nearest = min(others, key=_rank, default=None)
        other = ""
        if nearest is not None and (self._all.reaches(nearest) or not alike):
            other = self._of_another_class(nearest)
        if alike:
            best = min(alike, key=_rank)
            measured = self._measured_and_scored(best)
            words = f"{self._best_of(best, alike)} ({measured}) is not close enough: {self._needed(one)}."
            taken = self._all.match.get(best.detection.row)
            if not best.detection.counts:
                words += f" And it does not count: {self._why_not(best.detection)}."
            elif taken:
                words += f" It matches {self._named(taken)}."
            return Reason("low_iou", f"{words} {other}".rstrip(), -1, best.detection.row, best.iou)
        if nearest is not None:
            words = f"{other} No detection of its class has {self._overlap} {self._least()} with it."
            return Reason("other_class", words, -1, nearest.detection.row, nearest.iou)
        return Reason("none", f"No detection has {self._overlap} {self._least()} with it.")

    def _of_another_class(self, pair: Pair) -> str:
        """A sentence about a detection of another class that overlaps an object."""
        one = pair.detection
        name = self._class(self._table.detections.category[one.row])
        listed = ", ".join([name, *self._score(one), self._measured(pair)])
        but = "" if one.counts else f", but does not count: {self._why_not(one)}"
        return f"A detection of another class ({listed}) lies on it{but}."

    def _why_not(self, one: Found) -> str:
        """Why a detection does not count."""
        if one.special & LEFT_OUT:
            return self._left_out(one)
        return self._too_low(one) if one.within else f"only {cap_words(self._protocol)}"

    @staticmethod
    def _best_of(best: Pair, pairs: Sequence[Pair]) -> str:
        """The best detection of the class of an object; those that do not count may overlap it more."""
        counts = " that counts" if best.detection.counts and any(pair.iou > best.iou for pair in pairs) else ""
        return f"The best detection of its class{counts}"

    def _went_elsewhere(self, pair: Pair, reaching: Sequence[Pair]) -> Reason:
        """Why a detection that overlaps an object enough does not match it."""
        one = pair.detection
        start = f"{self._best_of(pair, reaching)} ({self._measured_and_scored(pair)})"
        if not one.within:
            code = "left_out" if one.special & LEFT_OUT else "beyond_cap"
            return Reason(code, f"{start} does not count: {self._why_not(one)}.", -1, one.row, pair.iou)
        taken = self._all.match.get(one.row) or next(self._all.alike(one))
        does = "matches" if one.row in self._all.match else "overlaps most with"
        words = f"{start} {does} {self._named(taken)}: {self._measured(taken)}."
        if not one.counts:
            words += f" Besides, {self._too_low(one)}."
        return Reason("took_another", words, taken.object.row, one.row, pair.iou)

    def _taker(self, pair: Pair) -> str:
        """The detection that has the object of a pair, because it chose before the detection of the pair could."""
        taker = self._all.takers[pair.object.row][0]
        if not self._protocol.ranks:
            return f"another detection ({self._measured(taker)})"
        score = _apart(taker.detection.score, pair.detection.score)[0]
        same = taker.detection.score == pair.detection.score
        which = "an earlier detection with the same score" if same else "a detection with a better score"
        return f"{which} ({score}, {self._measured(taker)})"

    def _score(self, one: Found) -> list[str]:
        """The score of a detection; nothing where the protocol does not read it."""
        return [f"score {_number(one.score)}"] if self._protocol.ranks else []

    def _scored(self, one: Found) -> str:
        return "".join(f" with {score}" for score in self._score(one))

    def _measured_and_scored(self, pair: Pair) -> str:
        return ", ".join([self._measured(pair), *self._score(pair.detection)])

    def _clause(self, pair: Pair, of: str = "") -> str:
        """What a detection shares with an object, and more about that object."""
        if pair.object.is_area:
            return f"{_overlap(pair.iou, self._all.threshold)} of it lies in {self._named(pair)}{of}"
        return f"{self._named(pair, first=True)}{of} has {self._measured(pair)} with it"

    def _named(self, pair: Pair, *, first: bool = False) -> str:
        """The object of a pair, with its class if that is not the detection's."""
        row = pair.object.row
        name = f"{'Object' if first else 'object'} {self._table.objects.id[row]}"
        same = self._table.objects.category[row] == self._table.detections.category[pair.detection.row]
        return name if same else f"{name} ({self._class(self._table.objects.category[row])})"

    def _class(self, category: int) -> str:
        return printable(self._table.categories.names[int(category)])

    def _rule_of(self, one: Thing) -> str:
        row = int(self._table.objects.row[one.row])
        return object_rule(self._truth, self._protocol, self._all.area_range, row) or "the protocol ignores it"

    def _measured(self, pair: Pair) -> str:
        """The overlap of a pair, with its name."""
        value = _overlap(pair.iou, self._all.threshold)
        return f"{value} of the detection lies in it" if pair.object.is_area else f"{self._overlap} {value}"

    def _needed(self, one: Thing) -> str:
        """What a match needs."""
        threshold = _short(self._all.threshold)
        return f"a match needs {'more than' if self._all.needs_more(one) else 'at least'} {threshold}"

    def _least(self) -> str:
        return f"{_short(self._all.least)} or more"


def _rank(pair: Pair) -> tuple[bool, bool, float, float]:
    """Detections that count come first, then those within the cap; then the highest overlap, then the best score."""
    return not pair.detection.counts, not pair.detection.within, -pair.iou, -pair.detection.score


def _short(value: float) -> str:
    """A threshold with two digits, or with as many as it has."""
    text = f"{value:.2f}"
    return text if abs(float(text) - value) < 1e-9 else f"{value:.6g}"


def _closeness(pair: Pair) -> tuple[bool, float]:
    """Orders the objects around a detection: any IoU comes before a share of the detection that lies in a crowd."""
    return not pair.object.is_area, pair.iou


def _overlap(value: float, threshold: float) -> str:
    """An overlap with two digits, or with as many as show that it differs from a threshold, from 0 and from 1."""
    value = 1.0 if value >= NEARLY_ONE else value  # as matching has it
    for digits in range(2, 5):
        rounded = float(f"{value:.{digits}f}")
        wrong = [
            limit for limit in (0, threshold, 1) if (rounded < limit, rounded > limit) != (value < limit, value > limit)
        ]
        if not wrong:
            return f"{value:.{digits}f}"
    return str(Decimal(repr(value)).quantize(Decimal("0.0001"), ROUND_FLOOR if value < wrong[0] else ROUND_CEILING))


def _number(value: float) -> str:
    """A score."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.2f}"
    return f"{value:.2e}"


def _apart(value: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell which one is larger."""
    for digits in range(2, 5):
        texts = f"{value:.{digits}f}", f"{other:.{digits}f}"
        if texts[0] != texts[1] or value == other:
            return texts
    roundings = (ROUND_FLOOR, ROUND_CEILING) if value < other else (ROUND_CEILING, ROUND_FLOOR)
    first, second = (
        f"{Context(prec=4, rounding=rounding).create_decimal(repr(number)):g}"
        for number, rounding in zip((value, other), roundings, strict=True)
    )
    return first, second
