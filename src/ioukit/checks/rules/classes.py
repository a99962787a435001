"""Rules about classes: ids of another convention, names that differ a little, classes without rows."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._array_types import Ids
from ioukit._checks import agree, pluralize
from ioukit.checks.case import MATCH, most_by_chance
from ioukit.checks.class_ids import conventions, in_words, mapped, mapping_text
from ioukit.checks.class_ids import other_ids as ids_after
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples
from ioukit.evaluation.counting import ignoring_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.suspicion import Sure
    from ioukit.datasets import Categories, GroundTruth

    Places = NDArray[np.intp]
    from ioukit.typing import FloatArray


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
BETTER = 0.1  # share of the objects that must gain their class; other conventions than the true one gain by chance
FEWEST_HITS = 2  # one object says nothing about a convention
DOMINANT = 0.6  # share of the objects of a class that agree; a clear majority, as a detector confuses classes, too
CLEARLY = 0.5  # share of the wrong objects of an image that gain: most of them
FEWEST_IMAGES = 2  # one image may be a coincidence
FEWEST_GAINED = 3  # objects, on an image where others are right already
STANDARD_DEVIATIONS = 3.0  # of what is gained by chance; and one object more, as chance is known from few mistakes
FEWEST_EXCHANGED, NEARLY_ALL = 10, 0.8  # objects of exchanged classes that show it, and their share
SHARE_GAINED = 5e-3  # of all objects: among many, a few differ by the same id by chance, and AP does not move
# The chance that all objects of a class are missed; below it, the class was not predicted at all. It was 1e-3 before
# that benchmark was written, which also brought the four constants below.
CERTAIN = 1e-2
TOUCHES = 0.1  # the IoU of a detection that is about an object, if only roughly
LEAST_MISSED = 0.2  # share of missed objects that is assumed at least: good detectors miss some classes more often
FEWEST_SILENT = 3  # classes without detections that may be counted together
# Longer names are not compared letter by letter, which takes memory in the square of the length; no class has one.
LONGEST_NAME = 100
LEFT_OUT = 0.5  # detections that the reader left out for each object of a class without detections
WHY_LEFT_OUT = (
    "see why detections were left out (without `--on-invalid drop`): their classes may have another name there"
)
SEVERAL, FEWEST_COLLAPSED, SHARE_COLLAPSED = 5, 3, 0.04
TIMES_SILENT = 2.0  # so many times more silent classes than by chance


def unknown(case: Case) -> Iterator[Suspicion]:
    """Detections of classes that the ground truth does not list."""
    dt, known = case.detections, case.ground_truth.categories.ids
    strange = ~np.isin(dt.category_ids, known)
    if strange.any():
        shown = examples(np.unique(dt.category_ids[strange]).tolist())
        yield Suspicion(
            "classes_only_in_detections", "sure",
            f"{int(strange.sum()):,} of {len(dt):,} detections "
            f"{agree(int(strange.sum()), 'have')} a class id that the ground truth does not list",
            int(strange.sum()), len(dt),
            "write the class ids of the ground truth; `--on-invalid drop` leaves these detections out, and `ioukit "
            "subset DT OUT --ground-truth GT` writes a file without them",
            shown, refused=True,
        )  # fmt: skip


class _Hits(NamedTuple):
    """Pairs that overlap: for each object, its best detection."""

    given: Ids
    wanted: Ids
    images: Places


def _hits(case: Case, *, by_score: bool = False) -> _Hits:
    """For each object, its detection: one of the object's own class before others, or the one of the highest score."""
    pairs, iou = case.pairs, case.overlaps
    gt, dt = case.ground_truth, case.detections
    close = iou >= MATCH
    if by_score:
        rank = np.where(close, dt.scores[pairs.detections], -np.inf)
    else:
        # An object that two detections share is no evidence. Of equal classes, the higher IoU comes first.
        rank = np.where(close, iou + 2 * pairs.same, -np.inf)
    order = np.lexsort((-rank, pairs.objects))
    first = order[np.unique(pairs.objects[order], return_index=True)[1]]
    first = first[close[first]]
    return _Hits(dt.category_ids[pairs.detections[first]], gt.category_ids[pairs.objects[first]], pairs.images[first])


def other_ids(case: Case) -> Iterator[Suspicion]:
    """Class ids that are shifted, positions, COCO's 80 or 91, or that another one-to-one mapping repairs.

    Each object is compared with a detection that overlaps it by at least 0.5. A convention is suspicious if at least a
    tenth more of the objects then have the class of this detection; or if on at least two images more than half of the
    objects gain it, and none loses it. The mapping has, for each class of detections, the class that at least 60 % of
    its objects have, if these classes are exchanged among each other or otherwise without detections.

    Detectors that write several classes for a box hide an exchange: the second class is the right one then. So classes
    are exchanged, too, if that is what the detections of the highest score say of nearly all of their objects.
    """
    yield from _collapsed(case)
    if exchange := _exchange(case):
        yield _suspicion(case, *exchange, None, by_score=True)
        return
    hits = _hits(case)
    if len(hits.given) < FEWEST_HITS:
        return
    now = hits.given == hits.wanted
    how, then = _best_convention(case, hits)
    gain = float(then.mean() - now.mean())
    mapping = _mapping(case, hits)
    if mapping:
        by_mapping = mapped(hits.given, mapping) == hits.wanted
        more = float(by_mapping.mean() - now.mean())
        if more > gain + 0.02:
            gain, how, then = more, mapping_text(mapping), by_mapping
    if gain >= BETTER or (gain > 0 and ">" in how):
        yield _suspicion(case, hits, how, then, None)
        if gain >= BETTER:
            return
    found = _of_some_images(case, hits)
    if found is not None:
        yield _suspicion(case, hits, *found)


def _best_convention(case: Case, hits: _Hits) -> tuple[str, NDArray[np.bool_]]:
    """The convention that gives most objects their class, and which ones; none that makes ids that no class has."""
    known = case.ground_truth.categories.ids
    tried = {how: ids_after(hits.given, how, known) == hits.wanted for how in conventions(hits.wanted - hits.given)}
    best = max(tried, key=lambda how: tried[how].sum())
    enough = (hits.given == hits.wanted).sum() + BETTER * len(hits.given)
    if tried[best].sum() >= enough:  # else it is not used
        ids = np.unique(case.detections.category_ids)
        strange = int((~np.isin(ids, known)).sum())
        allowed = [how for how in tried if (~np.isin(ids_after(ids, how, known), known)).sum() <= strange]
        best = max(allowed, key=lambda how: tried[how].sum(), default="+0")
    return best, tried.get(best, hits.given == hits.wanted)


def _collapsed(case: Case) -> Iterator[Suspicion]:
    """Images with objects of several classes, on which all detections have one class: the same on all of them."""
    gt, dt, listed = case.ground_truth, case.detections, case.places >= 0
    kinds = np.zeros((2, len(gt.images)), np.int64)
    for row, (place, category) in enumerate(
        ((case.object_places, gt.category_ids), (case.places[listed], dt.category_ids[listed]))
    ):
        of_image = np.unique(np.stack([place, category]), axis=1)[0]
        kinds[row] = np.bincount(of_image, minlength=len(gt.images))
    counts = np.bincount(case.places[listed], minlength=len(gt.images))
    several = (kinds[0] > 1) & (counts >= SEVERAL)
    one = np.flatnonzero(several & (kinds[1] == 1))
    of_one = dt.category_ids[listed][np.isin(case.places[listed], one)]
    if len(one) < max(FEWEST_COLLAPSED, SHARE_COLLAPSED * several.sum()):
        return
    values, times = np.unique(of_one, return_counts=True)
    number = int(values[times.argmax()])
    if times.max() >= DOMINANT * times.sum() and _finds_others(case, one, number):
        labels = case.labels(one)
        yield Suspicion(
            "classes_collapsed", "likely",
            f"on {len(one):,} of {int(several.sum()):,} images with objects of several classes, all detections have "
            f"one class, mostly {case.class_names.get(number) or number!r}",
            len(one), int(several.sum()), "write the class of each detection", examples(labels), labels,
        )  # fmt: skip


def _finds_others(case: Case, images: Places, number: int) -> bool:
    """Whether detections on these images lie on objects of other classes, too, and not on those of one class alone."""
    pairs = case.pairs
    objects, here = pairs.objects[pairs.starts], np.isin(pairs.images[pairs.starts], images)
    found = pairs.best(case.overlaps) >= MATCH
    others = case.ground_truth.category_ids[objects] != number
    if not (here & others).any():
        return False
    own = found[here & ~others].mean() if (here & ~others).any() else 0.0
    return bool(found[here & others].mean() > own / 2)


def _of_some_images(case: Case, hits: _Hits) -> tuple[str, NDArray[np.bool_], Places] | None:
    """The convention that repairs most objects of some images, the objects that have their class then, the images."""
    known = case.ground_truth.categories.ids
    images, where = np.unique(hits.images, return_inverse=True)
    now = hits.given == hits.wanted
    right, wrong = np.bincount(where, now), np.bincount(where, ~now)
    best: tuple[str, NDArray[np.bool_], Places] | None = None
    most = SHARE_GAINED * len(now)
    tried = {
        how: ids_after(hits.given, how, known) == hits.wanted for how in conventions((hits.wanted - hits.given)[~now])
    }
    # What is wrong on images that are mostly right is a mistake of the detector, and a single object does not tell its
    # image from others. Some convention repairs most of these mistakes.
    mistakes = ~now & ((right > wrong) | (right + wrong == 1))[where]
    share = (max(int(then[mistakes].sum()) for then in tried.values()) + 0.5) / (int(mistakes.sum()) + len(known))
    for how, then in tried.items():
        gained, lost = np.bincount(where, then & ~now), np.bincount(where, now & ~then)
        # A few ids are the same in both conventions. One wrong object is more often a mistake of the detector.
        least = np.maximum(np.floor(CLEARLY * wrong) + 1, np.where(right > 0, FEWEST_GAINED, 1))
        some = (lost == 0) & (gained >= least)
        if some.sum() < FEWEST_IMAGES:
            continue
        some &= ~np.isin(images, _with_new_ids(case, how))
        objects = then & ~now & some[where]
        given = np.unique(hits.given[objects])
        # Objects of one class show a convention only if no class has this id. A confusion of two classes gives no such.
        confused = bool(np.isin(given, known).all())
        if some.sum() < FEWEST_IMAGES or objects.sum() <= most:
            continue
        if confused and (len(given) == 1 or objects.sum() < FEWEST_GAINED):
            continue
        expected = _gained_by_chance(wrong[lost == 0], least[lost == 0], share) if confused else 0.0
        # A detector that takes one class for another on an image does so with all objects of that class there.
        different = len(np.unique(np.stack([where[objects], hits.given[objects]]), axis=1).T)
        if different > expected + STANDARD_DEVIATIONS * math.sqrt(expected) + 1:
            best, most = (how, then, images[some]), float(objects.sum())
    return best


def _with_new_ids(case: Case, how: str) -> Places:
    """The images on which all ids are those of classes, and some are not in this convention."""
    known, ids = case.ground_truth.categories.ids, case.detections.category_ids
    now, then = (~np.isin(each, known) for each in (ids, ids_after(ids, how, known)))
    return np.setdiff1d(case.places[then], case.places[now])


def _gained_by_chance(wrong: FloatArray, least: FloatArray, share: float) -> float:
    """How many objects of images such as these a convention repairs, if the detector confuses classes at random.

    Args:
        wrong: (I,) how many objects of each image have another class.
        least: (I,) how many of these a convention must repair on the image.
        share: The share of such objects that the best convention repairs on images whose objects are mostly right.
    """
    expected = 0.0
    kinds, times = np.unique(np.stack([wrong, least]), axis=1, return_counts=True)
    for number, fewest, often in zip(*kinds.astype(np.intp).tolist(), times.tolist(), strict=True):
        for hit in range(fewest, number + 1):
            ways = math.lgamma(number + 1) - math.lgamma(hit + 1) - math.lgamma(number - hit + 1)
            chance = math.exp(ways + hit * math.log(share) + (number - hit) * math.log(1 - share))
            expected += often * hit * chance
    return expected


def _mapping(case: Case, hits: _Hits) -> dict[int, int]:
    """A one-to-one mapping of classes of detections: cycles, or chains that end in a class without detections."""
    strong: dict[int, int] = {}
    weak: dict[int, int] = {}
    own = set(np.unique(hits.wanted[hits.given == hits.wanted]).tolist())
    for number in np.unique(hits.given).tolist():
        wanted, times = np.unique(hits.wanted[hits.given == number], return_counts=True)
        top = int(np.argmax(times))
        if wanted[top] != number and times[top] >= DOMINANT * times.sum():
            (strong if times[top] >= FEWEST_HITS else weak)[number] = int(wanted[top])
    # One object says little, unless other classes are exchanged as well.
    mapping = {**weak, **strong} if len(strong) >= FEWEST_HITS else strong
    taken = list(mapping.values())
    # A class whose target keeps detections of its own is a confusion of the detector, not of ids.
    mapping = {old: new for old, new in mapping.items() if taken.count(new) == 1 and new not in own - mapping.keys()}
    return _closed(mapping, set(np.unique(case.detections.category_ids).tolist()))


def _exchange(case: Case) -> tuple[_Hits, str, NDArray[np.bool_]] | None:
    """Classes exchanged by the detections of the highest score: the objects, the mapping, and which it gets right."""
    hits = _hits(case, by_score=True)
    mapping = _mapping(case, hits)
    if not mapping or set(mapping) != set(mapping.values()):
        return None
    if not np.isin(list(mapping), hits.wanted).all():
        return None  # a class without an object that a detection overlaps shows nothing
    now, then = hits.given == hits.wanted, mapped(hits.given, mapping) == hits.wanted
    of_them = then[np.isin(hits.wanted, list(mapping))]
    shares = [then[hits.wanted == number].mean() for number in mapping]
    if of_them.sum() < FEWEST_EXCHANGED or of_them.mean() < NEARLY_ALL or min(shares) < DOMINANT:
        return None
    convention = _best_convention(case, hits)[1]
    return (hits, mapping_text(mapping), then) if then.sum() > max(convention.sum(), now.sum()) else None


def _closed(mapping: dict[int, int], present: set[int]) -> dict[int, int]:
    """The mapping with chains that end in a class with detections closed to cycles, so that it stays one-to-one."""
    closed = dict(mapping)
    for first in mapping.keys() - set(mapping.values()):
        last = first
        while last in mapping:
            last = mapping[last]
        if last in present:
            closed[last] = first
    return closed


def _suspicion(
    case: Case, hits: _Hits, how: str, then: NDArray[np.bool_], images: Places | None, *, by_score: bool = False
) -> Suspicion:
    chosen = np.ones(len(then), np.bool_) if images is None else np.isin(hits.images, images)
    labels = None if images is None else case.labels(images)
    listing = how.replace(",", ", ").replace(">", " to ")
    what = f"the classes are mapped: {listing}" if ">" in how else in_words(how)
    own, right, total = int((hits.given == hits.wanted)[chosen].sum()), int(then[chosen].sum()), int(chosen.sum())
    where = "" if labels is None else f" of {len(labels):,} images"
    moved = dict.fromkeys(
        f"{given} is {case.class_names[wanted]} ({wanted})"
        for given, wanted in zip(hits.given[chosen & then].tolist(), hits.wanted[chosen & then].tolist(), strict=True)
        if given != wanted
    )
    repair = Repair("classes", how, images=labels)
    return Suspicion(
        "other_class_ids", "likely",
        f"of {total:,} objects{where} that a detection overlaps by at least {MATCH:g}, {own:,} "
        f"{agree(own, 'have')} {'the class of the one with the highest score' if by_score else 'its class'}, and "
        f"{right:,} if {what}",
        int(repair.rows(case.detections).sum()), len(case.detections),
        "write the class ids of the ground truth", examples(moved), labels or (), repair, least_gain=0.001,
    )  # fmt: skip


def names(case: Case) -> Iterator[Suspicion]:
    """Two classes of one data set, or of it and the training set, whose names differ by case, spaces or one letter."""
    gt = case.ground_truth
    ids, listed = gt.categories.ids, gt.categories.names
    objects = _times(gt.category_ids, ids)
    found = None if case.data.detections is None else _times(case.detections.category_ids, ids)
    unclear: list[str] = []
    for places in _alike(gt.categories):
        # The class with fewer objects is taken for the other one.
        old, new = sorted(places[:2], key=lambda place: (objects[place], -place))
        # To make one class of two that the detector confuses raises AP in any case.
        if not places[2] and (found is None or found[old] or not found[new]):
            unclear.append(f"{listed[old]} and {listed[new]}")
            continue
        yield Suspicion(
            "class_names_alike", "likely" if places[2] else "possible",
            f"the classes {listed[new]!r} ({objects[new]:,} objects) and {listed[old]!r} ({objects[old]:,}) have "
            "almost the same name",
            int(objects[old]), len(gt), "make them one class, if they are", (listed[old], listed[new]),
            repair=Repair("merge-classes", f"{ids[old]}>{ids[new]}"),
            least_gain=0.001 if places[2] else 0.005, must_improve=not places[2],
        )  # fmt: skip
    if unclear:
        yield Suspicion(
            "class_names_similar", "possible",
            f"the names of {pluralize(len(unclear), 'pair')} of classes differ by one letter",
            len(unclear), len(listed), "make them one class, if they are (`ioukit remap --classes FILE`)",
            examples(unclear),
        )  # fmt: skip
    if case.train is not None:
        known = case.train.categories.names
        theirs = {_plain(name): name for name in known}
        differing = [name for name in listed if _plain(name) in theirs and name not in known]
        if differing:
            shown = [f"{name} is {theirs[_plain(name)]} in the training set" for name in differing]
            yield Suspicion(
                "class_names_of_training", "possible",
                f"{pluralize(len(differing), 'class')} {agree(len(differing), 'have')} another spelling in the "
                "training set",
                len(differing), len(gt.categories),
                "write each name in one way (`ioukit remap --classes FILE`)", examples(shown),
            )  # fmt: skip


def _plain(name: str) -> str:
    """A name without case, accents, and the signs between words."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\s_\-./]+", "", "".join(sign for sign in letters if not unicodedata.combining(sign)))


def _alike(categories: Categories) -> list[tuple[int, int, bool]]:
    """Pairs of positions whose names are alike, and whether they differ by case and signs alone."""
    found: list[tuple[int, int, bool]] = []
    first_of: dict[str, int] = {}
    for place, name in enumerate(categories.names):
        plain = _plain(name)
        if not plain or plain.isdecimal():
            continue
        if plain in first_of:
            found.append((first_of[plain], place, True))
        first_of.setdefault(plain, place)
    # One letter more, less, other or exchanged: names that agree after one letter is deleted.
    shortened: dict[str, int] = {}
    for plain, place in first_of.items():
        if not 6 <= len(plain) <= LONGEST_NAME or re.search(r"\d", plain):
            continue
        forms = {plain, *(plain[:at] + plain[at + 1 :] for at in range(len(plain)))}
        others = {shortened[form] for form in forms if form in shortened}
        found += [(other, place, False) for other in sorted(others)]
        shortened |= dict.fromkeys(forms, place)
    return found


def empty(case: Case) -> Iterator[Suspicion]:
    """Classes without objects, without detections, or with detections only."""
    gt = case.ground_truth
    ids, listed = gt.categories.ids, gt.categories.names
    objects = _times(gt.category_ids[case.counted], ids)
    bare = np.flatnonzero(objects == 0)
    if not objects.any():
        yield _nothing_counts(case)
    elif len(bare):
        yield Suspicion(
            "classes_without_objects", "possible",
            f"{len(bare):,} of {len(ids):,} classes {agree(len(bare), 'have no object')}, and so no AP",
            len(bare), len(ids),
            "leave them out of the list of classes, if they should not be there (`ioukit subset --classes LIST` keeps "
            "the other classes)",
            examples(listed[place] for place in bare.tolist()),
        )  # fmt: skip
    if case.data.detections is None:
        return
    if len(case.detections):
        yield from _without_detections(case, gt, objects)
    else:
        hint = "check that the detector ran, and that this is the file it wrote"
        yield Suspicion(
            "no_detections", "sure",
            f"there is no detection, and every number is 0 where there are objects{_left_out(case)}", 0, 0,
            WHY_LEFT_OUT if case.detections.dropped else hint,
        )  # fmt: skip


def _nothing_counts(case: Case) -> Suspicion:
    """No annotation counts, or there is none. The flags that the protocol ignores say why."""
    gt = case.ground_truth
    flags = ignoring_flags(gt, case.rules)
    why = [f"{count:,} of {len(gt):,} annotations have the flag {flag!r}" for flag, count in flags.items()]
    said = f": {', and '.join(why)}" if why else ""
    return Suspicion(
        "no_objects", "sure", f"the ground truth has no object that counts, and every number is undefined{said}",
        len(gt), len(gt), "check that this is the file with the annotations"
        + (", and that these flags, or the visibilities of the keypoints, are right" if why else ""),
    )  # fmt: skip


def _left_out(case: Case) -> str:
    """How many detections the reader left out, and what it says of the first, as the end of a sentence."""
    dt = case.detections
    if not dt.dropped:
        return ""
    said = f"; the reader left out {pluralize(dt.dropped, 'detection')} of the file"
    # The note of a reader lists a few records, and the name of the file stands before each.
    notes = (note.split(f"{dt.source}: ") for note in dt.notes if note.startswith(f"{dt.source}: left out "))
    first = next((parts[2].rstrip("; ") for parts in notes if len(parts) > 2), "")
    return f"{said}; the first: {first}" if first else said


def _times(values: Ids, ids: Ids) -> Ids:
    """(K,) how often each id occurs."""
    found, times = np.unique(values, return_counts=True)
    counts = np.zeros(len(ids), np.int64)
    inside = np.isin(found, ids)
    counts[np.searchsorted(ids, found[inside])] = times[inside]
    return counts


def _without_detections(case: Case, gt: GroundTruth, objects: Ids) -> Iterator[Suspicion]:
    """Classes with objects and no detection, if so many objects are rarely missed."""
    found = _times(case.detections.category_ids, gt.categories.ids)
    silent = np.flatnonzero((found == 0) & (objects > 0))
    if not len(silent):
        return
    # The chance that all objects of a class are missed, if they are missed as those of other classes are.
    pairs = case.pairs
    missed = pairs.best(np.where(pairs.same, case.overlaps, 0.0)) < TOUCHES
    kinds = gt.category_ids[pairs.objects[pairs.starts]]
    spoken = ~np.isin(kinds, gt.categories.ids[silent])
    # One frequent class says little about rare ones, so each class has the same weight.
    of_class = np.unique(kinds[spoken], return_inverse=True)[1]
    each = np.bincount(of_class, missed[spoken]) / np.bincount(of_class)
    share = max((missed[spoken].sum() + 1) / (spoken.sum() + 2), (each.sum() + 1) / (len(each) + 2))
    chances = np.maximum(share, LEAST_MISSED) ** objects
    expected = float(chances[objects > 0].sum())
    many = len(silent) >= FEWEST_SILENT and len(silent) > most_by_chance(expected, TIMES_SILENT)
    certain = silent if many else silent[chances[silent] <= CERTAIN]
    few = np.setdiff1d(silent, certain)
    by_sureness: tuple[tuple[Places, Sure], ...] = ((certain, "likely"), (few, "possible"))
    for places, sure in by_sureness:
        if len(places):
            shown = [f"{gt.categories.names[place]} ({int(objects[place]):,})" for place in places.tolist()]
            lost = int(objects[places].sum())
            total = int((objects > 0).sum())
            # What the reader left out may be of these very classes, by another name.
            left_out = _left_out(case) if case.detections.dropped >= LEFT_OUT * lost else ""
            hint = WHY_LEFT_OUT if left_out else "check that the detector knows these classes, and their ids"
            only = Repair("only", "detected-classes") if sure == "likely" and not left_out else None
            yield Suspicion(
                "classes_without_detections" if sure == "likely" else "rare_classes_without_detections", sure,
                f"{len(places):,} of {total:,} classes with objects {agree(len(places), 'have no detection')} "
                f"({pluralize(lost, 'object')} in all){left_out}",
                len(places), total, hint, examples(shown), repair=only, must_improve=False,
            )  # fmt: skip
