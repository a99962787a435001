"""Rules about where boxes lie: on a turned image, too large, moved, or on other images than the objects.

Owns: which places are tried, and the comparison with other images, which tells that detections and objects do not
belong together whatever the cause. Does not own: other formats and units of the numbers (``boxes.py``), and images
that were resized for the network (``frames.py``).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit.checks.case import different, most_by_chance, pairwise_iou, rows_by
from ioukit.checks.repairs.boxes import TURNS, moved, turned, with_edges, with_sides
from ioukit.checks.rules.edges import Shift, of_wrong_side, shift_of, within_a_step
from ioukit.checks.rules.readings import NAMES, Reading, best_reading
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.typing import FloatArray

    Places = NDArray[np.intp]
    Flags = NDArray[np.bool_]

# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
MISSED, FOUND = 0.3, 0.6  # the best IoU of a box that has no partner, and of one that has
FEWEST, FEWEST_IMAGES, LEAST_SHARE = 6, 10, 0.03
SAME_CENTRE, SAME_SHAPE, SAME_SIZE = 0.2, 0.15, 0.08
OTHER_SIZE = 0.15  # of the logarithm of a side; a detector may draw all boxes a little too large
OFFSET_BIN, MOST_OFFSETS = 8.0, 3  # pixels, and how many offsets are tried
FAR = 0.1  # of a side: an offset of all boxes that is worth a try
NO_BETTER = 0.1  # overlap with the own image, above that with another one
MOST_IMAGES, MOST_BAD, MOST_CANDIDATES, MOST_DETECTIONS = 200, 40, 500, 50
BELONGS, FEWEST_BOXES, UPPER, DRAWS = 0.5, 2, 0.75, 100

LOOSE = 1.5  # boxes that are so many times too large, or less, can be those of a weak detector
EITHER_SIDE = ("moved", "edges", "sides", "hflip", "vflip", "rot180")  # put either side where the other one is

WORDS = {
    "hflip": "the mirror image (left and right)",
    "vflip": "the mirror image (top and bottom)",
    "rot90": "the image turned by 90 degrees",
    "rot180": "the image turned by 180 degrees",
    "rot270": "the image turned by 270 degrees",
}


class _Place(NamedTuple):
    """Other boxes of one side."""

    code: str
    what: str
    boxes: FloatArray
    repair: tuple[str, str] | None


class _Tried(NamedTuple):
    """A place, and the IoU of the pairs there."""

    place: _Place
    overlaps: FloatArray


def places(case: Case) -> Iterator[Suspicion]:
    """Boxes of either side that match those of the other side at another place, and detections of other images.

    A place that is right for all images, or for some, is a reading like those of other formats. One that is right for
    single boxes (as the offset of a tile) counts if it finds partners for many boxes that have none, and much more
    often than it finds a second partner for boxes that have one.
    """
    if case.iou_type != "bbox" or not len(case.fewer_pairs.objects):
        return
    now = case.overlaps_of(case.detections.boxes, pairs=case.fewer_pairs)
    shift = shift_of(case, now)
    if shift is not None and within_a_step(case, shift.pixels):
        shift = None
    at_other_places: dict[Side, tuple[Suspicion, _Place]] = {}
    for side in NAMES:
        tried = [
            _Tried(place, case.overlaps_of(place.boxes, side, pairs=case.fewer_pairs))
            for place in _places(case, side, now, shift)
        ]
        of_images = _of_images(case, side, now, tried)
        if of_images is None:
            yield from _of_rows(case, side, now, tried)
        else:
            at_other_places[side] = of_images
    yield from _of_one_side(case, at_other_places)
    yield from _of_other_images(case)


def _of_one_side(case: Case, found: dict[Side, tuple[Suspicion, _Place]]) -> Iterator[Suspicion]:
    """The suspicions, one where either side can be put where the other one is: of the side that is wrong.

    AP does not tell it: larger boxes overlap more, and mirrored ones as much on either side. If nothing does, it is the
    detections that are moved back.
    """
    repairs = [set(place.repair or ()) & set(EITHER_SIDE) for _, place in found.values()]
    if len(found) < 2 or not set.intersection(*repairs):
        yield from (suspicion for suspicion, _ in found.values())
        return
    boxes = {side: place.boxes for side, (_, place) in found.items()}
    yield of_wrong_side(case, boxes, {side: one for side, (one, _) in found.items()}, "at another place")


def _places(case: Case, side: Side, now: FloatArray, shift: Shift | None) -> Iterator[_Place]:
    boxes = case.data.of(side).boxes
    sizes = case.sizes if side == "detections" else case.object_sizes
    if not np.isnan(sizes).any():
        for how in TURNS:
            yield _Place(how, f"are taken from {WORDS[how]}", turned(boxes, sizes, how), ("turn", how))
    for factor in _factors(case, side):
        what = f"have {factor:g} times their width and height"
        yield _Place("other_sides", what, with_sides(boxes, factor), ("sides", f"{factor:g}"))
    for x, y in _offsets(case, side, now):
        what = f"are moved by {x:+g}, {y:+g} pixels"
        yield _Place("moved", what, moved(boxes, x, y), ("moved", f"{x:+g},{y:+g}"))
    if shift is not None and shift.tells:
        yield _edges(boxes, side, shift)
    if side == "ground_truth":  # tools that turn a box about its first corner, or about its centre
        (x, y, width, height), centre = boxes.T, "are turned by 90 degrees about their"
        yield _Place("turned", f"{centre} first corner", np.stack([x - height, y, height, width], axis=1), None)
    crosswise = [boxes[:, :2] + (boxes[:, 2:] - boxes[:, :1:-1]) / 2, boxes[:, :1:-1]]
    yield _Place("crosswise", "are turned by 90 degrees about their centre", np.concatenate(crosswise, axis=1), None)


def _votes(case: Case, side: Side) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(P, 2) how far the centres of all pairs are apart, the logarithm of the ratio of the sides, and the sides.

    Of the other side, in relation to this one.
    """
    pairs = case.fewer_pairs
    ours, theirs = case.detections.boxes[pairs.detections], case.ground_truth.boxes[pairs.objects]
    if side == "ground_truth":
        ours, theirs = theirs, ours
    apart = theirs[:, :2] + theirs[:, 2:] / 2 - ours[:, :2] - ours[:, 2:] / 2
    with np.errstate(all="ignore"):
        return apart, np.log(theirs[:, 2:] / ours[:, 2:]), np.maximum(ours[:, 2:], theirs[:, 2:])


def _factors(case: Case, side: Side) -> list[float]:
    """By which factors the sides of boxes differ from those of a box with the same centre, the most frequent first."""
    apart, ratios, sides = _votes(case, side)
    with np.errstate(all="ignore"):
        same = (np.abs(apart) <= SAME_CENTRE * sides).all(axis=1) & (np.abs(np.diff(ratios)[:, 0]) <= SAME_SHAPE)
    votes = ratios[same].mean(axis=1)
    counts, edges = np.histogram(votes, bins=np.arange(-1.6, 1.6, 0.05))
    smooth = np.convolve(counts, np.ones(3), mode="same")
    # Not the shoulder of the sizes that are about right, but a peak of its own.
    peak = (smooth >= np.append(0, smooth[:-1])) & (smooth >= np.append(smooth[1:], 0))
    centre = edges[:-1] + 0.025
    smooth = np.where(peak & (np.abs(centre) >= OTHER_SIZE), smooth, 0)
    at = int(np.argmax(smooth))
    near = votes[np.abs(votes - centre[at]) <= 0.1]
    return [float(f"{np.exp(np.median(near)):.2g}")] if smooth[at] >= FEWEST else []


def _edges(boxes: FloatArray, side: Side, shift: Shift) -> _Place:
    """The boxes of a side with their edges where those of the other side are."""
    pixels = 0.0 + (shift.pixels if side == "detections" else -shift.pixels)  # no -0
    begin, end = (f"{x:+g}, {y:+g}" for x, y in pixels.reshape(2, 2).tolist())
    which = [name for name, two in zip(("begin", "end"), pixels.reshape(2, 2), strict=True) if two.any()]
    said = " and ".join(f"{name} {begin if name == 'begin' else end}" for name in which)
    what = f"{said} pixels from where they do"
    if shift.grows:
        what += ", which makes them " + ("larger" if (pixels[:2] < pixels[2:]).any() else "smaller")
    value = ",".join(f"{each:+g}" for each in pixels.tolist())
    return _Place(f"{'_and_'.join(which)}_elsewhere", what, with_edges(boxes, pixels), ("edges", value))


def _offsets(case: Case, side: Side, now: FloatArray) -> list[tuple[float, float]]:
    """By how much boxes are moved from those of the same size.

    First by how much all are that still overlap. Then by how much boxes without a partner are, the most frequent first.
    In rows at a pitch, a neighbour is as near in the opposite direction: what that gives is expected by chance.
    """
    apart, ratios, sides = _votes(case, side)
    pairs = case.fewer_pairs
    lonely = np.repeat(pairs.best(now) < MISSED, np.diff(np.append(pairs.starts, len(pairs.objects))))
    with np.errstate(all="ignore"):
        of_one_size = (np.abs(ratios) <= SAME_SIZE).all(axis=1)
        same = of_one_size & (np.abs(apart) > sides / 2).any(axis=1) & lonely

    def exactly(start: FloatArray, of: NDArray[np.bool_]) -> tuple[float, float]:
        """More pairs than those of the same size tell an offset more exactly: all that fit after it."""
        fit = of & (case.overlaps_of(moved(case.data.of(side).boxes, *start.tolist()), side, pairs=pairs) >= FOUND)
        x, y = (np.median(apart[fit], axis=0) if fit.any() else start).tolist()
        return round(x, 1), round(y, 1)

    found: list[tuple[float, float]] = []
    near = of_one_size & (now > 0)
    if near.sum() >= FEWEST:
        common = np.median(apart[near], axis=0)
        if (np.abs(common) >= FAR * np.median(sides[near], axis=0)).any():
            found.append(exactly(common, np.ones_like(lonely)))
    bins, where, times = np.unique(np.round(apart[same] / OFFSET_BIN), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-times, kind="stable")
    for at in order[: int((times >= FEWEST).sum())].tolist():
        opposite = float(times[(bins == -bins[at]).all(axis=1)].sum())
        if times[at] >= most_by_chance(opposite):
            found.append(exactly(np.median(apart[same][where.reshape(-1) == at], axis=0), lonely))
        if len(found) == MOST_OFFSETS:
            break
    return found


def _of_images(case: Case, side: Side, now: FloatArray, tried: list[_Tried]) -> tuple[Suspicion, _Place] | None:
    """The best place that is right for all images, or for some."""
    best: tuple[Reading, _Place] | None = None
    for place, then in tried:
        reading = best_reading(case, side, place.boxes, now, then, case.fewer_pairs, fewest_objects=FEWEST)
        if reading is not None and (best is None or reading.gain > best[0].gain):
            best = reading, place
    if best is None:
        return None
    reading, place = best
    repair = None if place.repair is None else reading.repair([place.repair], side)
    # A repair must raise AP by itself: larger boxes on both sides overlap more, whatever is right. An offset does not.
    certain = repair is None or repair.name == "moved"
    weak = repair is not None and repair.name == "sides" and 1 / LOOSE <= float(repair.value) <= LOOSE
    found = reading.suspicion(
        case, side, f"{side}_{place.code}", place.what,
        hint=f"write the boxes of the {NAMES[side]} as they are on the image", repair=None if weak else repair,
        least_gain=0.001 if certain else 0.01,
    )  # fmt: skip
    said = f"{found.message}. A weak detector draws such boxes, too" if weak else found.message
    found = dataclasses.replace(found, sure="likely" if certain else "possible", message=said)
    return found, place._replace(boxes=reading.changed(case.data.of(side), place.boxes))


def _of_rows(case: Case, side: Side, now: FloatArray, tried: list[_Tried]) -> list[Suspicion]:
    """The place that finds partners for most boxes that have none."""
    pairs = case.fewer_pairs
    best: tuple[int, int, _Place, str] | None = None
    for place, then in tried:
        of_rows = {"objects": (case.ground_truth.boxes[pairs.objects[pairs.starts]], pairs.best(now), pairs.best(then))}
        # If objects are left out, their detections only look as if they had no partner.
        if side == "detections" and pairs is case.pairs:
            rows, row = np.unique(pairs.detections, return_inverse=True)
            both = np.zeros((2, len(rows)))
            np.maximum.at(both[0], row, now)
            np.maximum.at(both[1], row, then)
            of_rows["detections"] = (case.detections.boxes[rows], both[0], both[1])
        for whose, (boxes, before, after) in of_rows.items():
            lonely, paired = before < MISSED, before >= FOUND
            found = lonely & (after >= FOUND)
            count, chance = int(found.sum()), (after[paired] >= FOUND).mean() if paired.any() else 0
            apart = different(boxes[found])
            # Frames of one scene repeat what is expected by chance, too.
            expected = float(chance) * lonely.sum() * apart / max(count, 1)
            enough = count >= LEAST_SHARE * len(before) and apart >= FEWEST
            if enough and apart >= most_by_chance(expected) and (
                best is None or count > best[0]
            ):  # fmt: skip
                best = count, len(before), place, whose
    if best is None:
        return []
    count, total, place, whose = best
    return [Suspicion(
        f"{side}_partly_{place.code}", "likely",
        f"{count:,} of {total:,} {whose} overlap no box of the other side, and do by at least {FOUND:g} if the boxes "
        f"of the {NAMES[side]} {place.what}",
        count, total, f"find out which boxes of the {NAMES[side]} are at another place, and write where they are",
    )]  # fmt: skip


def _of_other_images(case: Case) -> Iterator[Suspicion]:
    """Detections that overlap the objects of their own image no more than those of another image do."""
    gt, dt = case.ground_truth, case.detections
    objects = {place: gt.boxes[rows] for place, rows in rows_by(case.object_places, np.flatnonzero(~gt.crowd))}
    best = np.argsort(-dt.scores, kind="stable")
    best = best[case.places[best] >= 0]
    found = {place: dt.boxes[rows[:MOST_DETECTIONS]] for place, rows in rows_by(case.places, best)}
    both = [place for place in objects if place in found]
    looked_at = both[:: max(1, len(both) // MOST_IMAGES)]
    if len(looked_at) < FEWEST_IMAGES:
        return
    bests = [_best(objects[place], found[place]) for place in looked_at]
    own = np.array([best.mean() for best in bests])
    others = np.array([
        _best(objects[place], found[other]).mean()
        for place, other in zip(looked_at, [*looked_at[1:], looked_at[0]], strict=True)
    ])  # fmt: skip
    many = np.array([min(len(objects[place]), len(found[place])) >= FEWEST_BOXES for place in looked_at])
    typical = float(np.quantile(own[many], UPPER)) if many.any() else 0.0
    whole = own.mean() < MISSED and own.mean() - others.mean() < NO_BETTER
    limit = min(others.mean() + NO_BETTER / 2, MISSED)
    lonely = many & (own <= limit)
    apart = np.flatnonzero(lonely)
    few = len(apart) < max(FEWEST // 2, LEAST_SHARE * many.sum())
    if not few:
        by_chance = len(apart) < most_by_chance(_low_by_chance(bests, many, lonely, limit))
        if not whole and (by_chance or different(np.concatenate([objects[looked_at[at]] for at in apart])) < FEWEST):
            return
    bad = [looked_at[at] for at in apart.tolist()][:MOST_BAD]
    exchanged = _exchanged(objects, found, bad, mutual=few)
    if few and not exchanged:
        return
    labels, those = gt.images.labels, case.labels(np.array([looked_at[at] for at in apart.tolist()]))
    if few or len(exchanged) >= max(FEWEST // 2, len(bad) / 4):
        pairs = [f"those of {labels[place].item()} are under {labels[there].item()}" for place, there in exchanged]
        # Partners are looked for on some of the images only.
        of_these = "these" if len(bad) == len(apart) else f"the first {len(bad):,} of these"
        yield Suspicion(
            "detections_of_other_images", "likely",
            f"on {len(apart):,} of {len(looked_at):,} images that were looked at, detections do not lie on the "
            f"objects of the image; for {len(exchanged):,} of {of_these}, detections that lie on the objects are "
            "filed under the id of another image",
            len(apart), len(looked_at), "write the detections under the ids of their images", examples(pairs), those,
        )  # fmt: skip
    elif whole:
        yield Suspicion(
            "detections_off_objects", "likely",
            f"objects overlap the best detection of their own image by {own.mean():.2f} on average, and that of "
            f"another image by {others.mean():.2f}: detections and objects do not lie together",
            len(both), len(gt.images),
            "check that both files are of the same images, in the same order, and that boxes are in the pixels of the "
            "image: turned, mirrored, cut or resized images, or another file, can be the cause",
        )  # fmt: skip
    elif typical >= BELONGS:
        yield Suspicion(
            "detections_off_objects", "likely",
            f"on {len(apart):,} of {len(looked_at):,} images that were looked at, objects overlap detections no more "
            f"than those of another image do ({own[apart].mean():.2f}; {typical:.2f} is typical): detections and "
            "objects do not lie together there",
            len(apart), len(looked_at),
            "look at these images: turned, mirrored, cut or resized ones, or those of another file",
            examples(those), those,
        )  # fmt: skip


def _low_by_chance(bests: list[FloatArray], many: Flags, lonely: Flags, limit: float) -> float:
    """How many images have a mean IoU of at most the limit if their objects are as those of the usual images."""
    usual, images = ([bests[at] for at in np.flatnonzero(which)] for which in (many & ~lonely, many))
    if not usual:
        return 0.0
    pool, rng = np.concatenate(usual), np.random.default_rng(0)
    return float(sum((rng.choice(pool, (DRAWS, len(image))).mean(axis=1) <= limit).mean() for image in images))


def _exchanged(
    objects: Mapping[int, FloatArray], found: Mapping[int, FloatArray], images: list[int], *, mutual: bool
) -> list[tuple[int, int]]:
    """Of some images, those whose objects have the detections of another image, and which one that is.

    If they are few, they count only if the other one has theirs: chance gives no such two images.
    """
    partners = ((one, _partner(objects[one], found, [other for other in found if other != one])) for one in images)
    pairs = [(one, there) for one, there in partners if there is not None]
    return [pair for pair in pairs if pair[::-1] in pairs] if mutual else pairs


def _partner(objects: FloatArray, found: Mapping[int, FloatArray], others: list[int]) -> int | None:
    """The image whose detections lie on these objects, far better than those of all other images."""
    others = others[:MOST_CANDIDATES]
    if len(objects) < FEWEST_BOXES or len(others) < 2:
        return None
    starts = np.cumsum([0, *(len(found[other]) for other in others[:-1])])
    iou = pairwise_iou(objects, np.concatenate([found[other] for other in others]))
    overlaps = np.maximum.reduceat(iou, starts, axis=1).mean(axis=0)
    second, first = np.argsort(overlaps)[-2:].tolist()
    alone = overlaps[first] >= BELONGS and overlaps[first] >= overlaps[second] + 2 * NO_BETTER
    return others[first] if alone else None


def _best(objects: FloatArray, found: FloatArray) -> FloatArray:
    """(G,) the IoU of objects with their best detection."""
    best: FloatArray = pairwise_iou(objects, found).max(axis=1)
    return best
