"""Agreement of annotators beside plain Python: pairs by trying all, kappa and alpha by their definitions."""

from __future__ import annotations

import dataclasses
import html
import itertools
import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation.plain_unranked import best_pairs, iou
from ioukit import GroundTruth
from ioukit.comparison import Agreement, agree
from ioukit.datasets import read, write
from ioukit.statistics import Interval
from ioukit.statistics.estimating import interval_of_left_out
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

CLASSES = {3: "cat", 5: "dog", 9: "owl"}
IMAGES = 5
Region = tuple[int, int, tuple[float, float, float, float]]
"""Image, class, box."""


def drawn(rng: np.random.Generator, annotators: int) -> list[list[Region]]:
    """Objects as several annotators draw them: moved, of another class, overlooked, made up."""
    sets: list[list[Region]] = [[] for _ in range(annotators)]
    for image in range(1, IMAGES + 1):
        for _ in range(int(rng.integers(0, 4))):
            box, kind = rng.uniform((0, 0, 20, 20), (60, 60, 60, 60)), int(rng.choice([3, 5, 9]))
            for own in sets:
                if rng.random() < 0.85:
                    moved = box + rng.normal(0, 4, 4)
                    given = kind if rng.random() < 0.7 else int(rng.choice([3, 5, 9]))
                    own.append((image, given, (moved[0], moved[1], abs(moved[2]), abs(moved[3]))))
    return sets


def data_of(regions: list[Region], **options: Any) -> GroundTruth:
    return GroundTruth.from_arrays(
        image_ids=np.array([one[0] for one in regions], np.int64),
        category_ids=np.array([one[1] for one in regions], np.int64),
        boxes=np.array([one[2] for one in regions], np.float64).reshape(-1, 4),
        images=list(range(1, IMAGES + 1)),
        categories=CLASSES,
        **options,
    )


def plain_pairs(a: list[Region], b: list[Region], threshold: float, *, same: bool) -> list[tuple[int, int]]:
    """The rows that are pairs, by trying all choices."""
    pairs = []
    groups = itertools.product(range(1, IMAGES + 1), CLASSES if same else (None,))
    for image, kind in groups:
        rows, columns = (
            [at for at, one in enumerate(own) if one[0] == image and kind in (None, one[1])] for own in (a, b)
        )
        table = [[iou(a[row][2], b[column][2]) for column in columns] for row in rows]
        chosen = best_pairs(table, threshold)[2]
        pairs += [(row, columns[at]) for row, at in zip(rows, chosen, strict=True) if at >= 0]
    return pairs


def plain_numbers(a: list[Region], b: list[Region]) -> dict[str, float]:
    def f1(threshold: float, *, same: bool) -> float:
        regions = len(a) + len(b)
        return 2 * len(plain_pairs(a, b, threshold, same=same)) / regions if regions else math.nan

    pairs = plain_pairs(a, b, 0.5, same=False)
    ious = [iou(a[row][2], b[column][2]) for row, column in pairs]
    labels = [(a[row][1], b[column][1]) for row, column in pairs]
    return {
        "F1": f1(0.5, same=True),
        "F1_mean": sum(f1(0.5 + 0.05 * k, same=True) for k in range(10)) / 10,
        "F1_any_class": f1(0.5, same=False),
        "IoU": sum(ious) / len(ious) if ious else math.nan,
        "kappa": plain_kappa(labels),
    }


def plain_kappa(labels: list[tuple[int, int]]) -> float:
    if not labels:
        return math.nan
    first, second = (Counter(one[side] for one in labels) for side in (0, 1))
    agreed = sum(a == b for a, b in labels) / len(labels)
    chance = sum(first[kind] * second[kind] for kind in CLASSES) / len(labels) ** 2
    return (agreed - chance) / (1 - chance) if chance < 1 else math.nan


def plain_alpha(units: list[list[int]]) -> float:
    """Krippendorff's alpha of nominal data, by its table of coincidences."""
    coincidences: Counter[tuple[int, int]] = Counter()
    for unit in units:
        for a, b in itertools.permutations(range(len(unit)), 2):
            coincidences[unit[a], unit[b]] += 1 / (len(unit) - 1)  # type: ignore[assignment]
    total = sum(coincidences.values())
    of_class = {kind: sum(value for (a, _), value in coincidences.items() if a == kind) for kind in CLASSES}
    observed = sum(value for (a, b), value in coincidences.items() if a != b)
    expected = sum(of_class[a] * of_class[b] for a, b in itertools.permutations(CLASSES, 2))
    return 1 - (total - 1) * observed / expected if expected else math.nan


def labels_of(found: Agreement) -> list[list[int]]:
    """The classes that each object of two annotators or more was given."""
    kinds = found.annotations.category_ids
    units = [kinds[one[one >= 0]].tolist() for one in found.objects]
    return [unit for unit in units if len(unit) > 1]


@pytest.mark.parametrize("seed", range(15))
def test_numbers_of_two_annotators_are_those_of_plain_python(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    a, b = drawn(rng, 2)
    found = agree({"ann": data_of(a), "bob": data_of(b)})
    (pair,) = found.pairs
    expected = plain_numbers(a, b)
    for key, value in expected.items():
        assert pair.numbers[key].value == pytest.approx(value, abs=1e-12, nan_ok=True), key
    assert found.alpha.value == pytest.approx(plain_alpha(labels_of(found)), abs=1e-12, nan_ok=True)
    turned = agree({"bob": data_of(b), "ann": data_of(a)})
    for key in expected:
        assert turned.pairs[0].numbers[key].value == pytest.approx(expected[key], abs=1e-12, nan_ok=True), key
    np.testing.assert_array_equal(turned.pairs[0].confusion, pair.confusion.T)


@pytest.mark.parametrize("seed", range(4))
def test_limits_are_those_of_the_numbers_without_each_image(seed: int) -> None:
    rng = np.random.default_rng([4, seed])
    sets = drawn(rng, 2)
    found = agree({"ann": data_of(sets[0]), "bob": data_of(sets[1])}, level=0.9)
    without = []
    for image in range(1, IMAGES + 1):
        left = [[one for one in own if one[0] != image] for own in sets]
        again = agree({"ann": data_of(left[0]), "bob": data_of(left[1])})
        without.append({**{key: one.value for key, one in again.pairs[0].numbers.items()}, "alpha": again.alpha.value})
    for key, interval in {**found.pairs[0].numbers, "alpha": found.alpha}.items():
        left_out = np.array([one[key] for one in without])
        lowest = -1.0 if key in ("kappa", "alpha") else 0.0
        expected = interval_of_left_out(
            interval.value, left_out, np.zeros(IMAGES, np.intp), IMAGES, key=key, level=0.9, lowest=lowest
        )
        limits = (expected.low, expected.high) if expected.low < expected.high else (np.nan, np.nan)
        assert (interval.low, interval.high) == pytest.approx(limits, abs=1e-9, nan_ok=True), key


def test_where_no_image_moves_a_number_there_are_no_limits() -> None:
    alike = drawn(np.random.default_rng(5), 1)[0]
    found = agree({"ann": data_of(alike), "bob": data_of(alike)})
    number = found.pairs[0].numbers["F1"]
    assert number.value == 1
    assert np.isnan([number.low, number.high]).all()
    assert "1.000 to 1.000" not in found.table()


def test_rounding_is_no_difference() -> None:
    shifted: list[list[Region]] = [[], []]
    for image, copies in ((1, 1), (2, 5), (3, 3)):
        for place in range(copies):
            for own, by in zip(shifted, (0.0, 2.0), strict=True):
                own.append((image, 3, (100.0 * place + by, 0.0, 10.0, 10.0)))  # all pairs have an IoU of 2/3
    found = agree({"ann": data_of(shifted[0]), "bob": data_of(shifted[1])})
    for key, value in {"F1": 1, "F1_mean": 0.4, "F1_any_class": 1, "IoU": 2 / 3}.items():
        number = found.pairs[0].numbers[key]
        assert number.value == pytest.approx(value), key
        assert np.isnan([number.low, number.high]).all(), key
    assert " to " not in found.table()


def judged(*given: tuple[int, int, int], number: int = 0) -> Agreement:
    """Two annotators of so many images, or as many as are named; a row: an image, what each calls an object there."""
    sides: tuple[list[Region], list[Region]] = ([], [])
    for place, (image, *kinds) in enumerate(given):
        for own, kind in zip(sides, kinds, strict=True):
            own.append((image, kind, (100.0 * place, 0.0, 10.0, 10.0)))
    images = list(range(1, 1 + max(number, *(image for image, *_ in given))))
    ann, bob = (
        GroundTruth.from_arrays(
            image_ids=[one[0] for one in own],
            category_ids=[one[1] for one in own],
            boxes=[one[2] for one in own],
            images=images,
            categories=CLASSES,
        )
        for own in sides
    )
    return agree({"ann": ann, "bob": bob})


DIFFER, AGREED = "classes differ on {}", "annotators agree on a class besides the most common one on {}"


@pytest.mark.parametrize(
    ("differ", "agreed", "warnings"),
    [
        (5, 2, ()),
        (4, 2, (DIFFER.format("4 images"),)),
        (5, 1, (AGREED.format("1 image"),)),
        (2, 0, (DIFFER.format("2 images"), AGREED.format("0 images"))),
    ],
)
def test_limits_of_kappa_and_alpha_warn_of_few_images(differ: int, agreed: int, warnings: tuple[str, ...]) -> None:
    usual = [(image, 3, 3) for image in range(1, 21) for _ in range(2)]
    different = [(image, *((3, 9) if image % 2 else (9, 3))) for image in range(1, 1 + differ)]
    found = judged(*usual, *different, *((20 - k, 9, 9) for k in range(agreed)))
    numbers = found.pairs[0].numbers
    assert numbers["kappa"].warnings == found.alpha.warnings == warnings
    assert all(not numbers[key].warnings for key in numbers if key != "kappa")
    assert found.to_dict()["pairs"][0]["kappa"]["warnings"] == found.to_dict()["alpha"]["warnings"] == list(warnings)
    sentence = (
        "Intervals that may miss the true value in more than 5 % of cases: Cohen's kappa of classes and Krippendorff's "
        f"alpha of classes ({'; '.join(warnings)})."
    )
    assert found.doubts == (sentence if warnings else "")
    assert (sentence in found.table()) == bool(warnings)
    assert all(reason in repr(found.alpha) for reason in warnings)


def test_several_objects_of_an_image_are_one_image_of_evidence() -> None:
    found = judged(*((image, kind, kind if image == 1 else 3) for image in range(1, 21) for kind in (3, 3, 5, 5)))
    assert found.alpha.warnings == found.pairs[0].numbers["kappa"].warnings == (AGREED.format("1 image"),)


@pytest.mark.parametrize(("images", "empty", "warning"), [
    (20, 0, ()), (19, 0, ("there are 19 images",)), (21, 2, ("what counts is on 19 images",)),
])  # fmt: skip
def test_limits_of_few_images_are_doubtful(images: int, empty: int, warning: tuple[str, ...]) -> None:
    """A kind of image that one in ten is may be missing among them, and no number of theirs tells it."""
    kinds = [(image, kind, 3 if image % 3 == 0 else kind) for image in range(1, images - empty + 1) for kind in (3, 5)]
    found = judged(*kinds, number=images)
    limits = [*found.pairs[0].numbers.values(), found.alpha]
    assert {one.warnings for one in limits if not math.isnan(one.low)} == {warning}
    assert all(reason in found.doubts for reason in warning)


def test_doubts_of_three_name_the_annotators() -> None:
    sets = [data_of(one) for one in drawn(np.random.default_rng(7), 3)]
    found = agree(dict(zip("abc", sets, strict=True)))
    assert "Cohen's kappa of classes of a and b" in found.doubts


@pytest.mark.parametrize("seed", range(8))
def test_objects_of_three_have_one_region_of_each_and_every_region_once(seed: int) -> None:
    sets = drawn(np.random.default_rng([5, seed]), 3)
    found = agree(dict(zip("abc", map(data_of, sets), strict=True)))
    rows = found.objects[found.objects >= 0]
    assert sorted(rows.tolist()) == list(range(len(found.annotations)))
    for at in range(3):
        own = found.objects[:, at]
        assert (found.annotator[own[own >= 0]] == at).all()
    assert [pair.names for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found.alpha.value == pytest.approx(plain_alpha(labels_of(found)), abs=1e-12, nan_ok=True)
    has = (found.objects >= 0).sum(axis=1)
    sizes = {"union": len(has), "majority": (has > 1).sum(), "intersection": (has == 3).sum()}
    for kind, size in sizes.items():
        assert len(found.consensus(kind)) == size  # type: ignore[arg-type]


def test_a_consensus_has_the_region_and_the_class_of_most() -> None:
    same: Region = (1, 3, (0.0, 0.0, 20.0, 20.0))
    wide: Region = (1, 5, (0.0, 0.0, 26.0, 20.0))
    alone: Region = (2, 9, (0.0, 0.0, 20.0, 20.0))
    sets = {"ann": data_of([wide]), "bob": data_of([same, alone]), "eve": data_of([same])}
    found = agree(sets)
    assert found.consensus().boxes.tolist() == [[0, 0, 20, 20]]
    assert found.consensus().category_ids.tolist() == [3]
    assert found.consensus("union").category_ids.tolist() == [3, 9]
    assert found.consensus("intersection").ids.tolist() == [1]
    assert found.by_class.tolist()[:2] == pytest.approx([1.0 / 3, 0.0])
    with pytest.raises(ValueError, match="unknown kind 'all'; choose from union, intersection, majority"):
        found.consensus("all")  # type: ignore[arg-type]


def test_a_region_is_compared_with_all_others_of_its_object() -> None:
    boxes: list[tuple[float, float, float, float]] = [(0, 0, 100, 100), (10, 0, 100, 100), (40, 0, 100, 100)]
    given = {name: data_of([(1, 3, box)]) for name, box in zip(("ann", "bob", "eve"), boxes, strict=True)}
    found = agree(given)
    assert found.overlaps[0] == pytest.approx([(9 / 11 + 3 / 7) / 2, (9 / 11 + 7 / 13) / 2, (3 / 7 + 7 / 13) / 2])
    for kind in ("union", "intersection", "majority"):
        assert found.consensus(kind).boxes.tolist() == [[10, 0, 100, 100]]


@pytest.mark.parametrize("annotators", [2, 3, 4])
@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_regions_of_a_consensus_are_those_of_plain_python(annotators: int, threshold: float) -> None:
    below = 0
    for seed in range(12):
        sets = [data_of(one) for one in drawn(np.random.default_rng([6, seed]), annotators)]
        found = agree(dict(zip("abcd", sets, strict=False)), iou_threshold=threshold)
        boxes, chosen = found.annotations.boxes.tolist(), []
        for one, overlaps in zip(found.objects.tolist(), found.overlaps.tolist(), strict=True):
            means = [math.nan] * annotators
            for at, row in enumerate(one):
                ious = [iou(boxes[row], boxes[other]) for other in one if -1 not in (row, other) and other != row]
                if row >= 0:
                    means[at] = sum(ious) / len(ious) if ious else 0.0
                below += any(value < threshold for value in ious)
            assert overlaps == pytest.approx(means, abs=1e-12, nan_ok=True)
            best = max(value for value in means if not math.isnan(value))
            first = next(at for at, value in enumerate(means) if value > best - 1e-9)
            chosen.append(boxes[one[first]])
        assert sorted(found.consensus("union").boxes.tolist()) == sorted(chosen)
    assert (below > 0) == (annotators > 2)


def test_classes_that_only_some_list_are_said() -> None:
    ann, bob = (
        GroundTruth.from_arrays(
            image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]], categories=names
        )
        for names in ({1: "car", 2: "Bus"}, {1: "car", 2: "bus"})
    )
    said = "2 classes that not all annotators list: 'Bus' (only ann), 'bus' (only bob)"
    assert agree({"ann": ann, "bob": bob}).notes == (said,)
    assert agree({"ann": ann, "bob": ann}).notes == ()
    said = "2 classes that not all annotators list: 'Bus' (only ann and eve), 'bus' (only bob)"
    assert agree({"ann": ann, "bob": bob, "eve": ann}).notes == (said,)
    other = dataclasses.replace(
        bob, categories=dataclasses.replace(ann.categories, ids=np.arange(12), names=tuple("abcdefghijkl"))
    )
    (said,) = agree({"ann": ann, "bob": other}).notes
    assert said.startswith("14 classes that not all annotators list: ")
    assert (said.count("only"), said.endswith("), ...")) == (10, True)


def test_images_meet_by_name_and_what_is_left_out_is_said() -> None:
    region: Region = (1, 3, (0.0, 0.0, 20.0, 20.0))
    names = [f"{number}.jpg" for number in range(1, IMAGES + 1)]
    ann = data_of([region], names=names, flags={"crowd": [False]})
    crowd: Region = (1, 3, (50.0, 50.0, 20.0, 20.0))
    bob = data_of([(5, *region[1:]), (5, *crowd[1:])], names=names[::-1], flags={"crowd": [False, True]})
    found = agree({"ann": ann, "bob": bob})
    assert found.pairs[0].numbers["F1"].value == 1
    assert found.notes == ("ground truth: 1 crowd left out",)
    fewer = dataclasses.replace(bob, images=bob.images.take(np.array([1, 2, 3])))
    fewer = fewer.take(np.zeros(len(fewer), np.bool_))
    found = agree({"ann": ann, "bob": fewer})
    assert found.notes[-1] == (
        "2 images with 1 region left out, which not all annotators have: images on which somebody drew nothing must be "
        "listed, in a table by a row without a box"
    )
    assert math.isnan(found.pairs[0].numbers["F1"].value)
    other = data_of([region], names=[f"x{number}.jpg" for number in range(IMAGES)])
    with pytest.raises(ValueError, match="no image is in the annotations of all: ann, bob"):
        agree({"ann": ann, "bob": other})
    with pytest.raises(ValueError, match="expected the annotations of at least two annotators, got 1"):
        agree({"ann": ann})
    with pytest.raises(ValueError, match="iou_threshold must be above 0 and at most 1, got 0"):
        agree({"ann": ann, "bob": bob}, iou_threshold=0)


def _limits(interval: Interval) -> list[str]:
    return f"{interval.low:.3f} to {interval.high:.3f}".split()


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    files = [tmp_path / f"{name}.json" for name in ("ann", "bob")]
    for file, regions in zip(files, drawn(np.random.default_rng(8), 2), strict=True):
        write(data_of(regions), file, "coco")
    page = tmp_path / "page.html"
    for options, message in (
        (("--images", tmp_path), "--images needs --report"),
        (("--report", tmp_path), "is a folder, expected a file to write"),
        (("--report", files[0]), "is an input and would be overwritten"),
        (("--report", tmp_path / "no/page.html"), "there is no folder"),
        (("--report", page, "--images", tmp_path / "no"), "expected a folder"),
        (("--report", page, f"--json={page}"), "is the file of --json, too"),
    ):
        refused = run_here("agree", *files, *options)
        assert (refused.code, refused.out) == (2, "")
        assert message in " ".join(refused.err.split()), refused.err
        assert not page.exists()
    folder = tmp_path / "labels"
    write(data_of(drawn(np.random.default_rng(9), 1)[0], names=[f"{k}.jpg" for k in range(IMAGES)]), folder, "voc")
    label = next(folder.rglob("*.xml"))
    before = label.read_bytes()
    refused = run_here("agree", folder, folder, "--report", label)
    assert (refused.code, label.read_bytes()) == (2, before)
    assert "is in the input" in " ".join(refused.err.split())
    done = run_here("agree", *files, "--report", page)
    assert (done.code, f"wrote {page}" in done.err) == (0, True)
    text = page.read_text(encoding="utf-8")
    assert '<h1 class="name">ann, bob</h1>' in text
    assert "Annotations of bob" in text
    doubts = agree(dict(zip(("ann", "bob"), map(read, files), strict=True))).doubts
    assert "Intervals that may miss the true value in more than 5 % of cases: all (there are 5 images), Cohen" in doubts
    assert html.escape(doubts) in text.replace("&#39;", "&#x27;")


def test_the_command(tmp_path: Path) -> None:
    sets = drawn(np.random.default_rng(8), 3)
    files = [tmp_path / f"{name}.json" for name in ("ann", "bob", "eve")]
    for file, regions in zip(files, sets, strict=True):
        write(data_of(regions), file, "coco")
    expected = agree({file.stem: read(file) for file in files})
    done = run_here("agree", *files, "--output", tmp_path / "all.json", "--json", tmp_path / "found.json")
    assert done.code in (None, 0), done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0] == ["annotators", "number", "value", "95", "%", "limits"]
    shown = expected.pairs[0].numbers
    assert rows[2] == ["F1", "at", "IoU", "0.5", f"{shown['F1'].value:.3f}", *_limits(shown["F1"])]
    assert rows[6] == ["Cohen's", "kappa", "of", "classes", f"{shown['kappa'].value:.3f}", *_limits(shown["kappa"])]
    alpha = ["all", "Krippendorff's", "alpha", "of", "classes", f"{expected.alpha.value:.3f}"]
    assert [*alpha, *_limits(expected.alpha)] in rows
    assert json.loads((tmp_path / "found.json").read_text()) == expected.to_dict()
    again = read(tmp_path / "all.json")
    assert again.boxes.tolist() == expected.consensus().boxes.tolist()
    assert run_here("agree", files[0]).code == 2
    refused = run_here("agree", *files, "--consensus", "union")
    assert (refused.code, "--consensus: needs --output" in refused.err) == (2, True)
    assert "a name that ends with .json" in run_here("agree", *files, "-o", tmp_path / "all.csv").err
    before = files[0].read_bytes()
    assert run_here("agree", *files, "-o", files[0]).code == 2
    assert files[0].read_bytes() == before


def test_an_image_that_a_table_lists_without_a_box_takes_part(tmp_path: Path) -> None:
    files = [tmp_path / "ann.csv", tmp_path / "bob.csv"]
    head, boxes = "image,category,x,y,width,height\n", ["a.jpg,car,0,0,10,10\n", "b.jpg,car,0,0,10,10\n"]
    files[0].write_text(head + "".join(boxes))
    files[1].write_text(head + boxes[0])
    done = run_here("agree", *files, "--level", "0.5")
    assert "note 1 image with 1 region left out, which not all annotators have" in done.err
    assert "50 % limits" in done.out.splitlines()[0]
    assert [line.split()[-1] for line in done.out.splitlines() if "F1 at IoU 0.5 " in line] == ["1.000"]
    files[1].write_text(head + boxes[0] + "b.jpg,,,,,\n")
    done = run_here("agree", *files)
    assert "left out" not in done.err
    assert [line.split()[4] for line in done.out.splitlines() if "F1 at IoU 0.5  " in line][:1] == ["0.667"]


def test_the_command_says_each_note_once(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.json" for name in ("ann", "bob")]
    region: Region = (1, 3, (0.0, 0.0, 20.0, 20.0))
    for file, regions in zip(files, ([region], []), strict=True):
        write(data_of(regions), file, "coco")
    done = run_here("agree", *files)
    assert done.err.count("note ") == 1
    assert f"note {files[1]}: no annotations, so no image has an object" in done.err.splitlines()
    assert "is compared with itself" not in done.err
    again = run_here("agree", files[0], files[1], files[0])
    assert again.err.splitlines()[0] == f"note {files[0]} is compared with itself"
