"""What tables of slices say is recomputed: counts, numbers, differences and the sentence about the worst slices."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import evaluate
from ioukit.slices import slice_numbers, worst_slices
from support.odd_models import odd_models

if TYPE_CHECKING:
    from ioukit import Evaluation
    from ioukit.typing import FloatArray

KINDS = [("some", "some"), ("same", "same"), ("right", "none"), ("none", "some"), ("some", "right")]
FOUND = re.compile(
    r"([\d,]+) slices? of at least (\d+) objects?(?:, of which (?P<none>\d+) cannot be compared)?: "
    r"(?:(none shows|1 shows|[\d,]+ show) that "
    r"(the detector is worse there than elsewhere|the second model is worse there than the first)|"
    r"25 permutations cannot show any), with ([\d.]+) % certainty for the whole search(?:; at least (\d+) are needed)?"
)
DECIDES = "the adjusted p-value decides, though the interval contains 0: "


def near(text: str, value: float) -> bool:
    """Whether a number is the one that is printed, to its last digit."""
    return math.isnan(value) if text == "-" else abs(float(text) - value) <= 5.0001e-4


def parsed(lines: list[str]) -> list[list[str]]:
    """The cells of a table: columns are at least two spaces apart, and each ends where its title ends."""
    return [re.split(r" {2,}", line.strip()) for line in lines]


def on_images(evaluation: Evaluation, images: Any) -> Evaluation:
    """The evaluation of some images alone."""
    gt, dt = evaluation.ground_truth, evaluation.detections
    assert gt is not None
    assert dt is not None
    return evaluate(gt.filter(images=images), dt.filter(images=images))


def error_of(evaluation: Evaluation, images: Any, every: Any, key: str = "AP") -> float:
    """The standard error of a number on some images, from leaving out each image of the data set in turn.

    NaN if fewer than five images have objects that count, or if no image changes the number.
    """
    gt = evaluation.ground_truth
    assert gt is not None
    low, high = {"APs": (0, 32**2), "APm": (32**2, 96**2), "APl": (96**2, 1e10)}.get(key, (0, 1e10))
    counted = ~gt.crowd & (gt.areas >= low) & (gt.areas <= high) & np.isin(gt.image_ids, images)
    left = np.array([on_images(evaluation, [one for one in images if one != out]).summary[key] for out in every])
    left = left[~np.isnan(left)]
    if len(np.unique(gt.image_ids[counted])) < 5 or left.min() == left.max():
        return math.nan
    return math.sqrt((len(every) - 1) / len(every) * float(((left - left.mean()) ** 2).sum()))


def check_interval(text: str, value: float, error: float, lowest: float) -> None:
    """The interval lies around the number, and is as wide as its standard error says.

    The error at a limit of a number from 0 to 1 is in proportion to that of a share of this size.
    """
    low, high = map(float, text.split(" to "))
    assert low - 1e-3 <= value <= high + 1e-3
    assert lowest <= low
    assert high <= 1
    of_share = lowest == 0 and 0 < value < 1
    for limit, end in ((low, lowest), (high, 1)):
        there = math.sqrt(limit * (1 - limit) / (value * (1 - value))) if of_share else 1
        if abs(limit - end) > 1e-3:  # it is not cut
            assert abs(value - limit) >= 1.95 * error * there - 2e-3


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Evaluation], FloatArray]:
    """Two models of few images, and a column that cuts the images in two or three."""
    images, classes = draw(st.sampled_from([2, 4, 12])), draw(st.sampled_from([1, 3]))
    models = odd_models(draw(st.integers(0, 10**6)), images, classes, draw(st.sampled_from(KINDS)))
    return models, np.array([draw(st.integers(0, 2)) for _ in range(images)], float)


def check_size(evaluation: Evaluation, size: str, cells: list[str], interval: str | None) -> None:
    """The counts, the AP and, if it is not ``None``, the interval of the objects of a size."""
    gt = evaluation.ground_truth
    assert gt is not None
    images, objects, share, ap = cells
    low, high = {"small": (0, 32**2), "medium": (32**2, 96**2), "large": (96**2, 1e10)}[size]
    inside = ~gt.crowd & (gt.areas >= low) & (gt.areas <= high)
    assert (int(images), int(objects)) == (len(np.unique(gt.image_ids[inside])), int(inside.sum()))
    assert share == f"{100 * inside.sum() / max((~gt.crowd).sum(), 1):.1f} %"
    key, every = f"AP{size[0]}", gt.images.ids
    assert near(ap, evaluation.summary[key])
    error = error_of(evaluation, every, every, key)
    assert interval is None or (interval == "-") == math.isnan(error)
    if interval not in (None, "-"):
        check_interval(interval, evaluation.summary[key], error, 0.0)


@settings(deadline=None, max_examples=20)
@given(scenes(), st.sampled_from([0, 50]), st.booleans())
def test_a_table_of_slices_is_true(drawn: tuple[list[Evaluation], FloatArray], replicates: int, two: bool) -> None:
    (one, other), column = drawn
    gt = one.ground_truth
    assert gt is not None
    every = gt.images.ids
    table = {"image_id": every, "kind": [f"k{value:.0f}" for value in column]}
    options: dict[str, Any] = {"tables": table, "keys": ["AP", "AR100"], "replicates": replicates}
    found = slice_numbers(one, ["kind", "size"], b=other if two else None, **options)
    lines = found.table().splitlines()
    counted = ~gt.crowd
    head, whole, *rows = parsed(lines[: 2 + len(found)])
    assert head[4:] == ["AP", "interval", *(["B", "B - A"] if two else ["rest", "difference"]), "interval", "AR100"]
    assert near(whole[1], one.summary["AP"])
    assert near(whole[-1], one.summary["AR100"])
    chance: dict[int, float] = {}
    for part, row in zip(found, rows, strict=True):
        name, images, objects, share, ap, interval, rest, difference, its_interval, recall = row
        assert name == part.name
        if part.by == "size":
            check_size(one, part.value, [images, objects, share, ap], interval if replicates else None)
            continue
        chosen = every[np.array(table["kind"]) == part.value]
        others = np.setdiff1d(every, chosen)
        number = on_images(one, chosen).summary
        assert (int(images), share) == (len(chosen), f"{100 * len(chosen) / len(every):.1f} %")
        assert int(objects) == int((counted & np.isin(gt.image_ids, chosen)).sum())
        assert near(ap, number["AP"])
        assert near(recall, number["AR100"])
        compared = on_images(other, chosen).summary["AP"] if two else on_images(one, others).summary["AP"]
        assert near(rest, compared)
        gain = compared - number["AP"] if two else number["AP"] - compared
        if difference == "-":
            assert math.isnan(gain)
        elif two or not replicates:
            assert near(difference, gain)
        else:  # what chance gives so many images is taken off, the same for each slice of so many
            taken_off = gain - float(difference)
            assert abs(chance.setdefault(len(chosen), taken_off) - taken_off) <= 1.1e-3
        error = error_of(one, chosen, every)
        assert (interval == "-") == (replicates == 0 or math.isnan(error))
        if interval != "-":
            check_interval(interval, number["AP"], error, 0.0)
        if its_interval != "-":
            check_interval(its_interval, float(difference), 0.0, -1.0)
    notes = "\n".join(lines[2 + len(found) :])
    assert ("intervals: 95 %, for each slice alone" in notes) == (replicates > 0)
    missing = [
        p
        for p in found
        for i in (p.numbers["AP"], (p.changes if two else p.differences)["AP"])
        if math.isnan(i.low) and not math.isnan(i.value)
    ]
    assert ("no interval (-): the objects that count are in fewer than 5 images" in notes) == (
        replicates > 0 and bool(missing)
    )
    assert ("less what random sets of as many images have" in notes) == (replicates > 0 and not two)
    of_objects = any(one.level == "object" for one in found)
    assert ("slices of objects: not corrected, often too high" in notes) == (replicates > 0 and not two and of_objects)


@settings(deadline=None, max_examples=20)
@given(scenes(), st.booleans(), st.sampled_from([1, 20]), st.sampled_from([0.95, 0.5]))
def test_the_sentence_about_the_worst_slices_is_true(
    drawn: tuple[list[Evaluation], FloatArray], two: bool, shown: int, level: float
) -> None:
    models, column = drawn
    gt = models[0].ground_truth
    assert gt is not None
    table = {"image_id": gt.images.ids, "kind": [f"k{value:.0f}" for value in column]}
    options: dict[str, Any] = {
        "tables": table,
        "least_objects": 1,
        "permutations": 25,
        "replicates": 20,
        "level": level,
    }
    search = worst_slices(models[0], ["kind", "shape"], b=models[1] if two else None, most_shown=shown, **options)
    every = worst_slices(models[0], ["kind", "shape"], b=models[1] if two else None, most_shown=1000, **options)
    first, *lines = search.table().splitlines()
    match = FOUND.fullmatch(first)
    if match is None:
        assert first == "no slice was compared: none has at least 1 object inside and outside"
        assert not every.slices
        return
    assert (match[1], match[2], match[6]) == (str(search.looked_at), "1", f"{100 * level:g}")
    assert match[5] is None or ("second model" in match[5]) == two
    assert int(match["none"] or 0) == search.not_compared
    # Slices of images and of objects have corrections of their own, and each p-value is at least 1 of 26.
    levels = 1 if two else len({"kind" in one.name for one in search.slices} | {"kind" in one.name for one in every})
    assert (match[4] is None) == (match[7] is not None) == (search.permutations_needed > 25)
    assert search.permutations_needed >= levels / (1 - level) - 1 - 1e-9
    # Slices that are not listed count, too.
    shown_worse = "0" if match[4] is None else match[4].split(" ")[0].replace("none", "0").replace(",", "")
    assert int(shown_worse) == sum(one.adjusted_p_value <= 1 - level + 1e-9 for one in every.slices)
    decides = [one.name for one in search.found if one.low <= 0 <= one.high]
    assert [line for line in lines if line.startswith(DECIDES)] == ([DECIDES + ", ".join(decides)] if decides else [])
    rows = parsed([line for line in lines[1:] if not line.startswith(DECIDES)])
    assert len(rows) == max(min(shown, len(every.slices)), search.num_found)
    assert len(search.found) == search.num_found
    for row, part in zip(rows, search.slices, strict=True):
        name, images, objects, key, expected, value, difference, interval, p_value, adjusted = row
        assert name == part.name
        assert abs(float(value) - float(expected) - float(difference)) <= 1.6e-3
        assert float(difference) <= 0
        if part.level == "image":
            chosen = gt.images.ids[np.array(table["kind"]) == name.removeprefix("kind: ")]
            assert (int(images), key) == (len(chosen), "AP")
            assert int(objects) == int((~gt.crowd & np.isin(gt.image_ids, chosen)).sum())
            assert near(value, on_images(models[-1 if two else 0], chosen).summary["AP"])
            assert not two or near(expected, on_images(models[0], chosen).summary["AP"])
        if interval != "-":
            low, high = map(float, interval.split(" to "))
            assert low - 1e-3 <= float(difference) <= high + 1e-3
        assert p_value == adjusted == "-" or float(p_value) <= float(adjusted)
    known = [float(row[-1]) for row in rows if row[-1] != "-"]
    assert known == sorted(known)
