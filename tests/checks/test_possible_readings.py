"""Which layout and scale answers may have: every reading is listed with its number, and none is chosen.

Answers are written from known boxes in each layout and scale. The numbers are compared with F1 in plain Python.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import DatasetError, GroundTruth
from ioukit.checks import ComparedReading, ComparedReadings, compare_readings
from ioukit.datasets import read_detections
from ioukit.datasets.formats.answers_layouts import LAYOUTS, PROFILES, SCALES
from support.command import run_here

SIZE = (1280, 720)
INPUT = (644, 364)
"""The size of the picture that the model saw: not of the same shape, as the sides are multiples of 28."""
NAMES = {1: "cat", 2: "dog"}
LENGTHS: dict[str, tuple[float, float]] = {
    "1": (1, 1), "100": (100, 100), "999": (999, 999), "1000": (1000, 1000), "1000-bins": (1000, 1000),
    "1023": (1023, 1023), "1024": (1024, 1024), "pixels": SIZE, "input-pixels": INPUT,
}  # fmt: skip
DECIMALS = {"1": 4, "100": 2}


def known(seed: int = 0, images: int = 4, of_each: int = 6) -> list[tuple[int, int, list[float]]]:
    """An image, a class and ``x1, y1, x2, y2`` in pixels per object; none is square or in a corner."""
    rng = np.random.default_rng(seed)
    rows = []
    for image in range(1, images + 1):
        for _ in range(of_each):
            x, y = rng.uniform(20, 900), rng.uniform(20, 400)
            corners = [x, y, x + rng.uniform(60, 350), y + rng.uniform(60, 290)]
            rows.append((image, int(rng.integers(1, 3)), corners))
    return rows


def truth_of(rows: list[tuple[int, int, list[float]]], sizes: bool = True) -> GroundTruth:
    images = sorted({row[0] for row in rows})
    return GroundTruth.from_arrays(
        image_ids=[row[0] for row in rows],
        category_ids=[row[1] for row in rows],
        boxes=[[x1, y1, x2 - x1, y2 - y1] for _, _, (x1, y1, x2, y2) in rows],
        images=images,
        names=[f"{image}.jpg" for image in images],
        sizes=[SIZE for _ in images] if sizes else None,
        categories=NAMES,
    )


def in_scale(corners: list[float], scale: str) -> list[float]:
    """Corners in pixels as a model with this scale writes them."""
    lengths, shift = LENGTHS[scale] * 2, SCALES[scale].shift
    values = [value / whole * length for value, whole, length in zip(corners, SIZE * 2, lengths, strict=True)]
    if scale == "1000-bins":
        return [math.floor(value) for value in values]
    return [round(value - shift, DECIMALS.get(scale, 0)) for value in values]


def in_layout(layout: str, label: str, corners: list[float]) -> str:
    x1, y1, x2, y2 = (f"{value:g}" for value in corners)
    x_first, y_first = f"{x1}, {y1}, {x2}, {y2}", f"{y1}, {x1}, {y2}, {x2}"
    tokens = [f"<loc_{value}>" for value in (x1, y1, x2, y2)]
    return {
        "bbox_2d": f'{{"bbox_2d": [{x_first}], "label": "{label}"}}\n',
        "box_2d": f'{{"box_2d": [{y_first}], "label": "{label}"}}\n',
        "bbox": f'{{"bbox": [{x_first}], "label": "{label}"}}\n',
        "loc-yxyx": "".join(f"<loc{int(value):04d}>" for value in y_first.split(", ")) + f" {label} ; "
        if "." not in y_first
        else "",
        "loc-xyxy": f"{label}{''.join(tokens)}",
        "box": f"<ref>{label}</ref><box>[[{x_first}]]</box>",
        "box_start": f"<|object_ref_start|>{label}<|object_ref_end|><|box_start|>({x1},{y1}),({x2},{y2})<|box_end|>",
        "det": f"<|ref|>{label}<|/ref|><|det|>[[{x_first}]]<|/det|>",
        "point": f'<point x="{x1}" y="{y1}" alt="{label}">{label}</point>',
    }[layout]


def written(folder: Path, rows: list[tuple[int, int, list[float]]], layout: str, scale: str, **members: Any) -> Path:
    path = folder / "answers.jsonl"
    lines = []
    for image in sorted({row[0] for row in rows}):
        texts = [in_layout(layout, NAMES[row[1]], in_scale(row[2], scale)) for row in rows if row[0] == image]
        lines.append(json.dumps({"image": f"{image}.jpg", "answer": "".join(texts), "input_size": INPUT, **members}))
    path.write_text("\n".join(lines))
    return path


def compared(path: Path, gt: GroundTruth, **options: Any) -> ComparedReadings:
    found = compare_readings(path, gt, **options)
    assert found is not None
    return found


def reading(found: ComparedReadings, layout: str, scale: str) -> ComparedReading:
    (one,) = [one for one in found.readings if one.options == {"layout": layout, "scale": scale}]
    return one


def iou(first: list[float], second: list[float]) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (first, second)]
    return shared / (sum(areas) - shared) if shared else 0.0


def most_pairs(partners: list[list[int]], taken: dict[int, int]) -> int:
    """The size of the largest one-to-one matching, by augmenting paths."""

    def finds(row: int, tried: set[int]) -> bool:
        for other in partners[row]:
            if other not in tried:
                tried.add(other)
                if other not in taken or finds(taken[other], tried):
                    taken[other] = row
                    return True
        return False

    return sum(finds(row, set()) for row in range(len(partners)))


def plain_f50(truth: list[tuple[int, int, list[float]]], found: list[tuple[int, int, list[float]]]) -> float:
    """The mean over the classes of F1 at IoU 0.50, from lists."""
    values = []
    for number in sorted({row[1] for row in truth}):
        pairs = 0
        for image in sorted({row[0] for row in truth}):
            objects, boxes = (
                [row[2] for row in rows if row[:2] == (image, number)] for rows in (truth, found)
            )  # fmt: skip
            partners = [[at for at, one in enumerate(objects) if iou(box, one) >= 0.5] for box in boxes]
            pairs += most_pairs(partners, {})
        count = sum(row[1] == number for row in truth) + sum(row[1] == number for row in found)
        values.append(2 * pairs / count)
    return sum(values) / len(values)


WRITABLE = [
    (layout, scale)
    for layout in LAYOUTS
    for scale in SCALES
    if layout != "point" and not (layout.startswith("loc") and scale in DECIMALS)
]


@pytest.mark.parametrize(("layout", "scale"), WRITABLE)
def test_the_right_reading_is_listed_and_first(layout: str, scale: str, tmp_path: Path) -> None:
    rows = known()
    found = compared(written(tmp_path, rows, layout, scale), truth_of(rows))
    assert {one.options["layout"] for one in found.readings} == {layout}
    assert {one.options["scale"] for one in found.readings} == {*SCALES}
    right = reading(found, layout, scale)
    assert right.number == found.readings[0].number == 1
    assert (right.records, right.boxes, right.left_out, right.beyond) == (4, 24, 0, 0)
    numbers = [one.number for one in found.readings]
    assert numbers == sorted(numbers, reverse=True)
    assert right.models == tuple(name for name, one in PROFILES.items() if (one.layout, one.scale) == (layout, scale))


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_are_those_of_plain_python(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    rows = known(seed)
    answered = [
        (image, int(rng.integers(1, 3)) if rng.random() < 0.2 else number, [value + rng.normal(0, 25) for value in box])
        for image, number, box in rows
        if rng.random() < 0.8
    ]
    answered = [row for row in answered if row[2][0] < row[2][2] and row[2][1] < row[2][3]]
    scale = ["1000", "pixels", "input-pixels", "1024", "999"][seed]
    found = compared(written(tmp_path, answered, "bbox", scale), truth_of(rows))
    values = [(image, number, in_scale(box, scale)) for image, number, box in answered]
    for one in found.readings:
        lengths, shift = LENGTHS[one.options["scale"]] * 2, SCALES[one.options["scale"]].shift
        boxes = [
            (image, number, [(value + shift) * whole / length for value, whole, length in
                             zip(box, SIZE * 2, lengths, strict=True)])
            for image, number, box in values
        ]  # fmt: skip
        assert one.number == pytest.approx(plain_f50(rows, boxes), abs=1e-12)
        beyond = [
            any(value < 0 or value > length for value, length in zip(box, lengths, strict=True))
            for _, _, box in values
        ]  # fmt: skip
        assert one.beyond == sum(beyond)
        assert one.boxes == len(answered)
    assert 0 < reading(found, "bbox", scale).number < 1


def test_readings_with_one_number_and_readings_with_the_same_boxes(tmp_path: Path) -> None:
    rows = known()
    path = written(tmp_path, rows, "bbox_2d", "pixels", input_size=SIZE)
    found = compared(path, truth_of(rows))
    first, second = reading(found, "bbox_2d", "pixels"), reading(found, "bbox_2d", "input-pixels")
    assert first.same_boxes == second.same_boxes
    assert len({one.same_boxes for one in found.readings}) == len(SCALES) - 1
    text = " ".join(str(found).split())
    assert (
        "F50 1.000 is the number of several, which it does not tell apart: "
        "layout=bbox_2d scale=input-pixels; layout=bbox_2d scale=pixels" in text
    )
    assert (
        "These files cannot tell apart, as all boxes are equal: "
        "layout=bbox_2d scale=input-pixels; layout=bbox_2d scale=pixels" in text
    )
    assert "The same as layout=bbox_2d scale=input-pixels: --dt-option model=qwen2.5-vl" in text


def test_an_answer_in_two_layouts_has_the_readings_of_both(tmp_path: Path) -> None:
    rows = known()
    path = written(tmp_path, rows, "bbox_2d", "1000")
    first, *others = path.read_text().splitlines()
    box = in_layout("box_2d", "cat", [100, 200, 300, 400])
    record = json.loads(first)
    path.write_text("\n".join([json.dumps({**record, "answer": record["answer"] + box}), *others]))
    found = compared(path, truth_of(rows))
    assert {one.options["layout"] for one in found.readings} == {"bbox_2d", "box_2d"}
    assert reading(found, "box_2d", "1000").records == 1
    assert found.num_records == 4


def test_what_is_named_is_not_varied(tmp_path: Path) -> None:
    rows = known()
    gt, path = truth_of(rows), written(tmp_path, rows, "bbox_2d", "1000")
    assert {one.words for one in compared(path, gt, layout="bbox_2d").readings} == {
        f"layout=bbox_2d scale={scale}" for scale in SCALES
    }
    assert [one.words for one in compared(path, gt, scale=1000).readings] == ["layout=bbox_2d scale=1000"]
    assert compare_readings(path, gt, model="qwen3-vl") is None
    assert compare_readings(path, gt, layout="bbox_2d", scale="1000") is None
    with pytest.raises(DatasetError, match=r"no reading fits: .* layouts \(box_2d\), found none in 4 answers"):
        compare_readings(path, gt, layout="box_2d")
    with pytest.raises(ValueError, match="unknown scale '10000'; choose from"):
        compare_readings(path, gt, scale="10000")


def test_damaged_answers_and_unknown_names_are_counted(tmp_path: Path) -> None:
    rows = known()
    path = written(tmp_path, rows, "box_2d", "1000")
    bad = [
        {"image": "1.jpg", "answer": '{"box_2d": [1, 2'},
        {"image": "1.jpg", "answer": in_layout("box_2d", "mug", [1, 2, 3, 4])},
        {"image": "2.jpg", "answer": "I see nothing."},
    ]
    path.write_text("\n".join([path.read_text(), *map(json.dumps, bad)]))
    one = reading(compared(path, truth_of(rows)), "box_2d", "1000")
    assert (one.number, one.records, one.boxes, one.left_out) == (1, 5, 24, 2)
    named = reading(compared(path, truth_of(rows), synonyms={"mug": "cat"}), "box_2d", "1000")
    assert (named.boxes, named.left_out) == (25, 1)
    assert named.number < 1


def test_a_reading_that_lacks_a_size_says_so(tmp_path: Path) -> None:
    rows = known()
    path = written(tmp_path, rows, "bbox", "1000", input_size=None)
    found = compared(path, truth_of(rows))
    one = found.readings[-1]
    assert one.options["scale"] == "input-pixels"
    assert math.isnan(one.number)
    assert "line 1: expected the size of the picture that the model saw" in one.why_not
    text = " ".join(str(found).split())
    assert "Not layout=bbox scale=input-pixels: " in text
    assert "input-pixels" not in text.split("Not layout")[0]
    assert one.to_dict()["F50"] is None


def test_without_sizes_of_images_pixels_alone_can_be_read(tmp_path: Path) -> None:
    rows = known()
    found = compared(written(tmp_path, rows, "bbox", "pixels"), truth_of(rows, sizes=False))
    assert [one.options["scale"] for one in found.readings if not one.why_not] == ["pixels"]
    assert found.readings[0].number == 1


def test_points_overlap_nothing_in_any_scale(tmp_path: Path) -> None:
    rows = known()
    found = compared(written(tmp_path, rows, "point", "100"), truth_of(rows))
    assert {one.number for one in found.readings} == {0}
    assert reading(found, "point", "100").models == ("molmo",)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['{"image": "1.jpg", "answer": "I see nothing."}'], "no reading fits: expected a whole box .* in 1 answer"),
        (['{"image": "1.jpg", "answer": "[]"}'], "no reading fits"),
        (['{"image": "1.jpg", "answer": "{\\"bbox_2d\\": [1, 2"}'], "no reading fits"),
        (['{"image": "9.jpg", "answer": "<ref>cat</ref><box>(1,2),(3,4)</box>"}'], "line 1.*9.jpg"),
        (['{"image": "1.jpg", "answer": "x"}', "{"], "line 2"),
        (
            ['{"image": "1.jpg", "answer": "{\\"bbox\\": [1, 2, 3, 4], \\"label\\": \\"cat\\", \\"score\\": 0.5}, '
             '{\\"bbox\\": [1, 2, 3, 4], \\"label\\": \\"cat\\"}"}'],
            "expected a score for all 2 boxes or for none",
        ),
    ],
    ids=["words", "an empty list", "a cut box", "an unknown image", "no JSON", "scores of some"],
)  # fmt: skip
def test_a_file_that_no_reading_can_read(lines: list[str], says: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(DatasetError, match=says):
        compare_readings(path, truth_of(known()))


def test_bad_lines_can_be_dropped(tmp_path: Path) -> None:
    rows = known()
    path = written(tmp_path, rows, "bbox", "1000")
    unknown = json.dumps({"image": "9.jpg", "answer": in_layout("bbox", "cat", [1, 2, 3, 4])})
    path.write_text("\n".join([path.read_text(), "{", unknown]))
    one = reading(compared(path, truth_of(rows), on_invalid="drop"), "bbox", "1000")
    assert (one.number, one.boxes) == (1, 24)


def test_files_that_say_how_they_are_meant_have_no_readings(tmp_path: Path) -> None:
    path = tmp_path / "dt.json"
    path.write_text('[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}]')
    assert compare_readings(path, truth_of(known())) is None


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[Path, Path]:
        rows = known()
        gt = tmp_path / "gt.json"
        gt.write_text(json.dumps(coco(rows)))
        return gt, written(tmp_path, rows, "box_2d", "1000")

    def test_check_lists_the_readings_and_each_can_be_written_as_it_says(self, files: tuple[Path, Path]) -> None:
        command = run_here("check", *files)
        assert command.code == 1, command.err
        assert f"{files[1]}: 4 answers. Nothing says how" in " ".join(command.out.split())
        lines = [line for line in command.out.splitlines() if "--dt-option layout=" in line]
        assert len(lines) == len(SCALES)
        for line in lines:
            number, _, _, _, _, *options = line.split()
            again = run_here("eval", *files, *options, "--json", "--quiet")
            assert again.code == 0, again.err
            assert f"{json.loads(again.out)['summary']['F50']:.3f}" == number
        assert "layout=box_2d scale=1000: --dt-option model=gemini" in command.out
        assert run_here("check", *files, "--dt-option", "model=gemini").code in (0, 1)

    def test_json(self, files: tuple[Path, Path]) -> None:
        found = json.loads(run_here("check", *files, "--json", "--quiet").out)
        assert (found["ok"], found["answers"]) == (False, 4)
        assert {one["options"]["scale"] for one in found["readings"]} == {*SCALES}
        (right,) = [one for one in found["readings"] if one["options"]["scale"] == "1000"]
        assert (right["F50"], right["models"]) == (1, ["gemini"])

    def test_eval_names_check(self, files: tuple[Path, Path]) -> None:
        command = run_here("eval", *files)
        assert command.code == 2
        assert f"ioukit check GT {files[1]} lists the number that each reading gives" in command.err

    def test_a_file_without_a_reading(self, files: tuple[Path, Path]) -> None:
        files[1].write_text('{"image": "1.jpg", "answer": "nothing"}')
        command = run_here("check", *files)
        assert command.code == 2
        assert "no reading fits" in command.err


def coco(rows: list[tuple[int, int, list[float]]]) -> dict[str, Any]:
    return {
        "images": [
            {"id": image, "file_name": f"{image}.jpg", "width": SIZE[0], "height": SIZE[1]}
            for image in sorted({row[0] for row in rows})
        ],
        "categories": [{"id": number, "name": name} for number, name in NAMES.items()],
        "annotations": [
            {
                "id": at, "image_id": image, "category_id": number, "bbox": [x1, y1, x2 - x1, y2 - y1],
                "area": (x2 - x1) * (y2 - y1), "iscrowd": 0,
            }
            for at, (image, number, (x1, y1, x2, y2)) in enumerate(rows, start=1)
        ],
    }  # fmt: skip


def test_reading_the_file_says_what_check_does(tmp_path: Path) -> None:
    path = written(tmp_path, known(), "box_2d", "1000")
    with pytest.raises(DatasetError, match=r"is not guessed: .*; ioukit check GT .*answers.jsonl lists the number"):
        read_detections(path, ground_truth=truth_of(known()))
