"""Answers of language models: what each layout and scale means, and what is said about damaged ones.

The samples are written for these tests, as the documentation of the models describes their answers. The boxes expected
are computed by hand: the images have sizes with which parts of 1000, 1023 and 999 become whole pixels.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, Detections, GroundTruth
from ioukit.datasets import find_format, from_answers, read_detections, write
from ioukit.datasets.formats.answers_layouts import LAYOUTS, PROFILES, SCALES, says_nothing_found
from support.command import run_here

CLASSES = {1: "cat", 2: "Traffic Light", 3: "person"}
CAT, LIGHT, PERSON = CLASSES
SIZES = {"k.jpg": (2000, 1000), "b.jpg": (2046, 1023), "n.jpg": (1998, 999), "c.jpg": (200, 100)}
IMAGES = {"100": "c.jpg", "999": "n.jpg", "1023": "b.jpg"}
"""The image of a sample, by the scale of the model; else k.jpg."""

GT = GroundTruth.from_arrays(
    image_ids=[1],
    category_ids=[1],
    boxes=[[0, 0, 9, 9]],
    images=[1, 2, 3, 4],
    names=list(SIZES),
    sizes=list(SIZES.values()),
    categories=CLASSES,
)

Row = tuple[int, float, float, float, float]
"""A class and ``x, y, width, height``."""


def bbox_2d(label: str = "cat", box: Any = (100, 200, 300, 400), **members: Any) -> str:
    return json.dumps({"bbox_2d": box, "label": label, **members})


FIRST: Row = (CAT, 200, 200, 400, 200)
"""What ``bbox_2d()`` is in parts of 1000 of k.jpg."""
REF, OBJECT = "<ref>cat</ref>", "<|object_ref_start|>cat<|object_ref_end|>"
DET = "<|ref|>cat<|/ref|>"

GOOD: list[tuple[str, str, list[Row]]] = [
    ("qwen3-vl", f"[{bbox_2d()}]", [FIRST]),
    ("qwen3-vl", bbox_2d(), [FIRST]),
    ("qwen3-vl", f"```json\n[\n\t{bbox_2d()},\n\t{bbox_2d('person')}\n]\n```", [FIRST, (PERSON, *FIRST[1:])]),
    ("qwen3-vl", f"```\n[{bbox_2d()}]\n```", [FIRST]),
    ("qwen3-vl", f"Sure! Here are the objects:\n```json\n[{bbox_2d()}]\n```\nI found one cat.", [FIRST]),
    ("qwen3-vl", f"[{bbox_2d()},]", [FIRST]),
    ("qwen3-vl", '[{"bbox_2d": [100, 200, 300, 400,], "label": "cat",},]', [FIRST]),
    ("qwen3-vl", f"[{bbox_2d('CAT')}, {bbox_2d(' cat ')}]", [FIRST, FIRST]),
    ("qwen3-vl", f"[{bbox_2d('traffic light')}]", [(LIGHT, *FIRST[1:])]),
    ("qwen3-vl", '{"label": "cat", "bbox_2d": [100, 200, 300, 400]}', [FIRST]),
    ("qwen3-vl", '{"name": "cat", "bbox_2d": [100, 200, 300, 400]}', [FIRST]),
    ("qwen3-vl", f'{{"objects": [{bbox_2d()}, {bbox_2d()}], "count": 2}}', [FIRST, FIRST]),
    ("qwen3-vl", bbox_2d(parts=[json.loads(bbox_2d("person"))]), [FIRST, (PERSON, *FIRST[1:])]),
    ("qwen3-vl", f"{bbox_2d()}\n{bbox_2d('person')}", [FIRST, (PERSON, *FIRST[1:])]),
    ("qwen3-vl", f"The set {{a, b}} is none. {bbox_2d()}", [FIRST]),
    ("qwen3-vl", f"[{bbox_2d()}, ", [FIRST]),
    ("qwen3-vl", f"[{bbox_2d()}", [FIRST]),
    ("qwen3-vl", f"[{bbox_2d(box=[100.5, 200.25, 300, 400])}]", [(CAT, 201, 200.25, 399, 199.75)]),
    ("qwen3-vl", f"[{bbox_2d(box=[0, 0, 1000, 1000])}]", [(CAT, 0, 0, 2000, 1000)]),
    ("qwen3-vl", f"[{bbox_2d(box=[5, 5, 5, 5])}]", [(CAT, 10, 5, 0, 0)]),
    ("qwen3-vl", f"[{bbox_2d(sub_label='a, b,} [c]')}]", [FIRST]),
    ("qwen3-vl", "[]", []),
    ("qwen3-vl", "```json\n[]\n```", []),
    ("qwen3-vl", '{"objects": []}', []),
    ("qwen3-vl", "", []),
    ("gemini", '[{"box_2d": [200, 100, 400, 300], "label": "cat"}]', [FIRST]),
    ("gemini", '```json\n[\n  {"box_2d": [200, 100, 400, 300], "label": "cat"}\n]\n```', [FIRST]),
    ("gemini", '[{"box_2d": [200, 100, 400, 300], "mask": "data:image/png;base64,iVBOR", "label": "cat"}]', [FIRST]),
    ("gemini", '{"boxes": [{"box_2d": [200, 100, 400, 300], "label": "cat"}]}', [FIRST]),
    ("gemini", '[{"label": "person", "box_2d": [0, 0, 1000, 500]}]', [(PERSON, 0, 0, 1000, 1000)]),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040> cat", [(CAT, 40, 10, 40, 20)]),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040> cat<eos>", [(CAT, 40, 10, 40, 20)]),
    (
        "paligemma",
        "<loc0010><loc0020><loc0030><loc0040> cat ; <loc0000><loc0000><loc1023><loc0512> person",
        [(CAT, 40, 10, 40, 20), (PERSON, 0, 0, 1024, 1023)],
    ),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040> traffic light", [(LIGHT, 40, 10, 40, 20)]),
    ("paligemma", f"<loc0010><loc0020><loc0030><loc0040>{'<seg001>' * 16} cat", [(CAT, 40, 10, 40, 20)]),
    ("paligemma", "<eos>", []),
    ("florence-2", "</s><s>cat<loc_100><loc_200><loc_300><loc_400></s>", [(CAT, 201, 200.5, 400, 200)]),
    (
        "florence-2",
        "cat<loc_100><loc_200><loc_300><loc_400><loc_0><loc_0><loc_999><loc_999>",
        [(CAT, 201, 200.5, 400, 200), (CAT, 1, 0.5, 1998, 999)],
    ),
    (
        "florence-2",
        "cat<loc_100><loc_200><loc_300><loc_400>traffic light<loc_0><loc_0><loc_10><loc_20>",
        [(CAT, 201, 200.5, 400, 200), (LIGHT, 1, 0.5, 20, 20)],
    ),
    ("florence-2", "</s><s></s>", []),
    ("internvl", f"{REF}<box>[[100, 200, 300, 400]]</box>", [FIRST]),
    ("internvl", f"{REF}<box>[[100,200,300,400],[0,0,1000,1000]]</box>", [FIRST, (CAT, 0, 0, 2000, 1000)]),
    ("internvl", f"A {REF}<box>[[100, 200, 300, 400]]</box> sits beside a cup.", [FIRST]),
    ("internvl", "<ref>traffic light</ref><box>[[100, 200, 300, 400]]</box>", [(LIGHT, *FIRST[1:])]),
    ("internvl", f"{REF}<box>[100, 200, 300, 400]</box>", [FIRST]),
    ("internvl", f"{REF}\n<box>[[100, 200, 300, 400]]</box>\n<ref>person</ref><box>[[0, 0, 10, 10]]</box>",
     [FIRST, (PERSON, 0, 0, 20, 10)]),
    ("qwen-vl", f"{REF}<box>(100,200),(300,400)</box>", [FIRST]),
    ("qwen-vl", f"{REF}<box>(100,200),(300,400)</box><box>(0,0),(10,10)</box>", [FIRST, (CAT, 0, 0, 20, 10)]),
    ("qwen2-vl", f"{OBJECT}<|box_start|>(100,200),(300,400)<|box_end|>", [FIRST]),
    ("qwen2-vl", f"{OBJECT}<|box_start|>(100,200),(300,400)<|box_end|><|im_end|>", [FIRST]),
    ("qwen2-vl", f"{OBJECT}<|box_start|>(100,200),(300,400)", [FIRST]),
    ("qwen2-vl", f"{OBJECT}<|box_start|>( 100 , 200 ) , ( 300 , 400 )<|box_end|>", [FIRST]),
    ("qwen2-vl", f"{OBJECT}<|box_start|>(100,200),(300,400)<|box_end|>, {OBJECT}<|box_start|>(0,0),(10,10)<|box_end|>",
     [FIRST, (CAT, 0, 0, 20, 10)]),
    ("deepseek-vl2", f"{DET}<|det|>[[100, 200, 300, 400]]<|/det|>", [FIRST]),
    ("deepseek-vl2", f"{DET}<|det|>[[0, 0, 999, 999]]<|/det|><|EOT|>", [(CAT, 0, 0, 1998, 999)]),
    ("deepseek-vl2", f"{DET}<|det|>[[100, 200, 300, 400], [0, 0, 10, 10]]<|/det|>", [FIRST, (CAT, 0, 0, 20, 10)]),
    ("deepseek-vl2", f"<|grounding|>A {DET}<|det|>[[100, 200, 300, 400]]<|/det|> and no dog.", [FIRST]),
    ("molmo", '<point x="10.5" y="20.0" alt="cat">cat</point>', [(CAT, 21, 20, 0, 0)]),
    ("molmo", "<point x='10.5' y='20.0' alt='cat'>cat</point>", [(CAT, 21, 20, 0, 0)]),
    ("molmo", '<points x1="10" y1="20" x2="30.5" y2="40" alt="cat">cats</points>',
     [(CAT, 20, 20, 0, 0), (CAT, 61, 40, 0, 0)]),
    ("molmo", 'The <point x="10.5" y="20.0">cat</point> sits.', [(CAT, 21, 20, 0, 0)]),
    ("molmo", 'Here: <point x="0" y="100" alt="person"></point>', [(PERSON, 0, 100, 0, 0)]),
]  # fmt: skip


def image_of(model: str) -> str:
    return IMAGES.get(PROFILES[model].scale, "k.jpg")


def written(path: Path, *records: Any) -> Path:
    file = path / "answers.jsonl"
    file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records))
    return file


def rows(dt: Detections) -> list[Row]:
    return [(category, *box) for category, box in zip(dt.category_ids.tolist(), dt.boxes.tolist(), strict=True)]


def assert_rows(dt: Detections, expected: list[Row]) -> None:
    assert dt.category_ids.tolist() == [row[0] for row in expected]
    np.testing.assert_allclose(dt.boxes, np.array([row[1:] for row in expected]).reshape(-1, 4), rtol=1e-12, atol=1e-9)
    assert not dt.normalized


@pytest.mark.parametrize(("model", "text", "expected"), GOOD)
def test_every_layout_is_read(model: str, text: str, expected: list[Row], tmp_path: Path) -> None:
    image = image_of(model)
    dt = from_answers([text], image_ids=[image], ground_truth=GT, model=model)
    assert_rows(dt, expected)
    assert not dt.dropped
    assert not dt.scored
    assert all("a point" in note for note in dt.notes)
    file = written(tmp_path, {"image": image, "answer": text})
    assert find_format(file).name == "answers"
    again = read_detections(file, ground_truth=GT, model=model)
    assert rows(again) == rows(dt)
    assert set(again.image_ids.tolist()) <= {list(SIZES).index(image) + 1}


def test_there_are_sixty_samples_of_all_models_but_the_one_that_needs_a_size() -> None:
    assert len(GOOD) >= 60
    assert {model for model, *_ in GOOD} == {*PROFILES} - {"qwen2.5-vl"}


CUT = bbox_2d()[:30]
DAMAGED: list[tuple[str, str, list[Row], str]] = [
    ("qwen3-vl", f"[{bbox_2d()}, {CUT}", [FIRST], "character 54: expected a whole box, found"),
    ("qwen3-vl", CUT, [], "character 2: expected a whole box, found"),
    ("qwen3-vl", f'{{"objects": [{bbox_2d()}, {CUT}', [FIRST], "expected a whole box"),
    ("qwen3-vl", '[{"bbox_2d": [100, 200, 300, 400], "label": "cat}]', [], "expected a whole box"),
    ("qwen3-vl", '{"bbox_2d": [100 200 300 400], "label": "cat"}', [], "expected a whole box"),
    ("qwen3-vl", f'{{"bbox_2d": [1, 2, "label": "cat"}}, {bbox_2d()}', [FIRST], "character 2: expected a whole box"),
    ("qwen3-vl", '{"bbox_2d": [1, 2, 3, 4] "label": "cat"}', [], "expected a whole box"),
    ("qwen3-vl", f'{bbox_2d()}, "bbox_2d": [1, 2, 3, 4], "label": "cat"}}', [FIRST], "character 52: expected a"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3]), [], r"bbox_2d: expected \[x1, y1, x2, y2\], found \[1, 2, 3\]"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3, 4, 5]), [], r"found \[1, 2, 3, 4, 5\]"),
    ("qwen3-vl", bbox_2d(box=[]), [], r"found \[\]"),
    ("qwen3-vl", bbox_2d(box="1, 2, 3, 4"), [], "found '1, 2, 3, 4'"),
    ("qwen3-vl", bbox_2d(box=None), [], "found nothing"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3, "4"]), [], r"bbox_2d\[3\] \(y2\): expected a number, found '4'"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3, True]), [], "expected a number, found true"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3, float("nan")]), [], "expected a number, found NaN"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3, float("inf")]), [], "expected a number, found Infinity"),
    ("qwen3-vl", bbox_2d(box=[1, 2, 3, 1e300]), [], "expected a number, found 1e[+]300"),
    ("qwen3-vl", bbox_2d(box=[[1, 2, 3, 4]]), [], r"found \[\[1, 2, 3, 4\]\]"),
    ("qwen3-vl", bbox_2d(box=[3, 2, 1, 4]), [], "expected x1 <= x2 and y1 <= y2, found 3, 2, 1, 4"),
    ("qwen3-vl", bbox_2d(box=[1, 4, 3, 2]), [], "expected x1 <= x2 and y1 <= y2, found 1, 4, 3, 2"),
    ("qwen3-vl", '{"bbox_2d": [1, 2, 3, 4]}', [], "a box without a name of a class: line 1, character 1"),
    ("qwen3-vl", bbox_2d(""), [], "a box without a name of a class"),
    ("qwen3-vl", bbox_2d(7), [], "a box without a name of a class"),  # type: ignore[arg-type]
    ("qwen3-vl", bbox_2d("kitten"), [], r"a name that is no class: 'kitten' x 1 \(first: line 1, character 1\)"),
    ("qwen3-vl", bbox_2d("a cat."), [], "a name that is no class: 'a cat.' x 1"),
    ("qwen3-vl", bbox_2d("cat\ud800"), [], r"'cat\\ud800' x 1"),
    ("qwen3-vl", bbox_2d(box=[0, 0, 1200, 900]), [(CAT, 0, 0, 2400, 900)], "1 x a box that reaches beyond the image"),
    ("qwen3-vl", bbox_2d(box=[-5, 0, 10, 10]), [(CAT, -10, 0, 30, 10)], "if coordinates are 0 to 1000"),
    ("qwen3-vl", bbox_2d(box=[0.1, 0.2, 0.3, 0.4]), [(CAT, 0.2, 0.2, 0.4, 0.2)], "above 1: are they 0 to 1000"),
    ("qwen3-vl", "There are no cats.", [], "an answer without a box of the layout: line 1: 'There are no cats.'"),
    ("qwen3-vl", "I cannot help with that.", [], "an answer without a box of the layout"),
    ("qwen3-vl", "[[100, 200, 300, 400]]", [], "an answer without a box of the layout"),
    ("qwen3-vl", '[{"bbox": [1, 2, 3, 4], "label": "cat"}]', [], "an answer without a box of the layout"),
    ("qwen3-vl", f"{REF}<box>[[1, 2, 3, 4]]</box>", [], "an answer without a box of the layout"),
    ("qwen3-vl", "{'bbox_2d': [1, 2, 3, 4], 'label': 'cat'}", [], "an answer without a box of the layout"),
    ("qwen3-vl", "__import__('os').system('true')", [], "an answer without a box of the layout"),
    ("qwen3-vl", '{"a":' * 5000 + bbox_2d(box=[1]) + "}" * 5000, [], "left out 1 x what cannot be read"),
    ("gemini", '[{"box_2d": [200, 100, 400], "label": "cat"}]', [], r"box_2d: expected \[y1, x1, y2, x2\]"),
    ("gemini", '[{"box_2d": [400, 100, 200, 300], "label": "cat"}]', [], "found 100, 400, 300, 200"),
    ("gemini", bbox_2d(), [], "an answer without a box of the layout"),
    ("gemini", '[{"box_2d": [200, 100, 400, 300], "label": "cat"}, {"box_2d": [2', [FIRST], "expected a whole box"),
    ("paligemma", "<loc0010><loc0020><loc0030> cat", [], "character 1: expected 4 tokens, found 3"),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040><loc0050> cat", [], "expected 4 tokens, found 5"),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040>" * 2 + " cat", [], "expected 4 tokens, found 8"),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040> cat ; <loc00", [(CAT, 40, 10, 40, 20)],
     "character 44: expected a whole box, found '<loc00'"),
    ("paligemma", "<loc0030><loc0020><loc0010><loc0040> cat", [], "<= y2, found 20, 30, 40, 10"),
    ("paligemma", "<loc0010><loc0020><loc0030><loc0040>", [], "a box without a name of a class"),
    ("paligemma", "<loc0010><loc0020><loc0030><loc2000> cat", [(CAT, 40, 10, 3960, 20)], "beyond the image"),
    ("paligemma", "cat", [], "an answer without a box of the layout"),
    ("florence-2", "cat<loc_1><loc_2><loc_3>", [], "character 4: expected 4 tokens, found 3"),
    ("florence-2", "cat<loc_1><loc_2><loc_3><loc_4><loc_5>", [], "expected 4 tokens, found 5"),
    ("florence-2", "cat<loc_1><loc_2><loc_3><loc_", [], "character 31|expected 4 tokens, found 3"),
    ("florence-2", "<loc_1><loc_2><loc_3><loc_4>", [], "a box without a name of a class"),
    ("florence-2", "cat<loc_-1><loc_2><loc_3><loc_4>", [], "expected a whole box, found '<loc_-1>"),
    ("internvl", f"{REF}<box>[[1, 2, 3]]</box>", [], r"expected boxes of 4 numbers, found '\[\[1, 2, 3\]\]'"),
    ("internvl", f"{REF}<box>null</box>", [], "expected boxes of 4 numbers, found 'null'"),
    ("internvl", f"{REF}<box>[[100, 200, 300, 400], [1, 2", [FIRST], "expected boxes of 4 numbers"),
    ("internvl", f"{REF}<box>[[1, 2, 3, 4", [], "expected boxes of 4 numbers"),
    ("internvl", "<box>[[1, 2, 3, 4]]</box>", [], "a box without a name of a class"),
    ("internvl", f"{REF}<box>[[9, 2, 3, 4]]</box>", [], "expected x1 <= x2"),
    ("internvl", f"{REF} is here.", [], "an answer without a box of the layout"),
    ("qwen2-vl", f"{OBJECT}<|box_start|>(1,2),(3<|box_end|>", [], "expected boxes of 4 numbers"),
    ("qwen2-vl", f"{OBJECT}<|box_start|>(1,2),(3,", [], "expected boxes of 4 numbers"),
    ("qwen2-vl", f"{OBJECT}<|box_start|><|box_end|>", [], "expected boxes of 4 numbers, found ''"),
    ("deepseek-vl2", f"{DET}<|det|>[[1, 2, x, 4]]<|/det|>", [], "expected boxes of 4 numbers"),
    ("deepseek-vl2", "<|ref|>cat<|det|>[[1, 2, 3, 4]]<|/det|>", [], "a box without a name of a class"),
    ("molmo", '<point x="10.5" alt="cat">cat</point>', [], "y: expected a number, found nothing"),
    ("molmo", '<point x="ten" y="2" alt="cat">cat</point>', [], "x: expected a number, found 'ten'"),
    ("molmo", '<point x="10.5" y="2', [], "character 1: expected a whole box"),
    ("molmo", '<points x1="1" y1="2" x2="3" alt="cat">cat</points>', [(CAT, 2, 2, 0, 0)], "y2: expected a number"),
    ("molmo", '<points coords="1 1 334 270">cat</points>', [], "point: expected x and y"),
    ("molmo", '<point x="10.5" y="2"></point>', [], "a box without a name of a class"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "text", "expected", "said"), DAMAGED)
def test_damaged_answers_are_counted_and_listed(
    model: str, text: str, expected: list[Row], said: str, tmp_path: Path
) -> None:
    file = written(tmp_path, {"image": image_of(model), "answer": text})
    dt = read_detections(file, ground_truth=GT, model=model)
    assert_rows(dt, expected)
    notes = [note for note in dt.notes if re.search(said, note)]
    assert notes, dt.notes
    assert all(note.startswith(f"{file}: ") and note.isprintable() for note in dt.notes)
    assert "line 1" in notes[0] or "above 1" in notes[0]
    assert dt.dropped or "beyond" in notes[0] or "above 1" in notes[0] or "without a box" in notes[0]


LINE = {"image": "k.jpg", "answer": f"[{bbox_2d()}]"}
BAD_LINES = [
    ('{"image": "k.jpg", "answer": "[]"', r"line 2, column 34: expected JSON"),
    ("[1, 2]", r"line 2: expected an object, found \[1, 2\]"),
    ('{"answer": "[]"}', r"line 2\.image: expected text or a number, found nothing"),
    ('{"image": "k.jpg"}', r"line 2\.answer: expected text, found nothing"),
    ('{"image": "k.jpg", "answer": [1]}', r"line 2\.answer: expected text, found \[1\]"),
    ('{"image": "z.jpg", "answer": "[]"}', r"line 2: expected an image of ground truth, found 'z.jpg'"),
    ('{"image": "k.jpg", "answer": "[]", "label": 7}', r"line 2\.label: expected text, found 7"),
    ('{"image": "k.jpg", "answer": "[]", "input_size": 7}', r"line 2\.input_size: expected \[width, height\], found 7"),
    ('{"image": "k.jpg", "answer": "[]", "input_size": [0, 7]}', r"line 2\.input_size: expected a width and a height"),
]


@pytest.mark.parametrize(("line", "said"), BAD_LINES)
def test_damaged_lines_are_refused_or_counted(line: str, said: str, tmp_path: Path) -> None:
    file = written(tmp_path, LINE, line, LINE)
    with pytest.raises(DatasetError, match=said):
        read_detections(file, ground_truth=GT, model="qwen3-vl")
    dt = read_detections(file, ground_truth=GT, model="qwen3-vl", on_invalid="drop")
    assert_rows(dt, [FIRST, FIRST])
    assert dt.dropped == 1
    assert any(re.search(said, note) for note in dt.notes)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(json.dumps(LINE).encode() + b"\n\xff\n")
    with pytest.raises(DatasetError, match="line 2: expected text in UTF-8"):
        read_detections(file, ground_truth=GT, model="qwen3-vl")


def test_there_are_sixty_damaged_samples() -> None:
    assert len(DAMAGED) + len(BAD_LINES) >= 60


def test_nothing_is_guessed(tmp_path: Path) -> None:
    file = written(tmp_path, LINE)
    for options, lacking in (
        ({}, r"name the model, .*qwen2\.5-vl.*bbox_2d.*input-pixels"),
        ({"layout": "bbox_2d"}, r"beside layout=bbox_2d, give scale=NAME \(1, .*pixels\); .* scale=NAME"),
        ({"scale": "1000"}, r"beside scale=1000, give layout=NAME \(bbox_2d, .*point\); .* layout=NAME"),
    ):
        with pytest.raises(DatasetError, match=f"how boxes are written is not guessed: {lacking}"):
            read_detections(file, ground_truth=GT, **options)
    for wrong, said in (
        ({"model": "qwen3"}, "unknown model 'qwen3'; choose from .*did you mean 'qwen3-vl'"),
        ({"layout": "json", "scale": "1"}, "unknown layout 'json'; choose from bbox_2d"),
        ({"layout": "bbox", "scale": "640"}, "unknown scale '640'; choose from 1, 100"),
    ):
        with pytest.raises(ValueError, match=said):
            read_detections(file, ground_truth=GT, **wrong)
    with pytest.raises(DatasetError, match="come from the ground truth"):
        read_detections(file, model="qwen3-vl")


def test_pixels_of_the_picture_that_the_model_saw_need_its_size(tmp_path: Path) -> None:
    sized = {**LINE, "input_size": [1000, 500]}
    assert_rows(
        read_detections(written(tmp_path, sized), ground_truth=GT, model="qwen2.5-vl"), [(CAT, 200, 400, 400, 400)]
    )
    with pytest.raises(DatasetError, match=r"line 2: expected the size of the picture .* scale=pixels"):
        read_detections(written(tmp_path, sized, LINE), ground_truth=GT, model="qwen2.5-vl")
    dt = read_detections(written(tmp_path, LINE), ground_truth=GT, model="qwen2.5-vl", scale="pixels")
    assert_rows(dt, [(CAT, 100, 200, 200, 200)])
    texts = [LINE["answer"]] * 2
    dt = from_answers(
        texts, image_ids=[1, 4], ground_truth=GT, model="qwen2.5-vl", input_sizes=[(1000, 500), (500, 1000)]
    )
    assert_rows(dt, [(CAT, 200, 400, 400, 400), (CAT, 40, 20, 80, 20)])


@pytest.mark.parametrize(
    ("scale", "box", "expected"),
    [
        (1, [0.25, 0.5, 0.75, 1], (500, 500, 1000, 500)),
        (100, [25, 50, 75, 100], (500, 500, 1000, 500)),
        ("999", [0, 0, 999, 999], (0, 0, 2000, 1000)),
        ("1000", [250, 500, 750, 1000], (500, 500, 1000, 500)),
        ("1000-bins", [0, 0, 999, 999], (1, 0.5, 1998, 999)),
        ("1023", [0, 0, 1023, 1023], (0, 0, 2000, 1000)),
        (1024, [256, 512, 768, 1024], (500, 500, 1000, 500)),
        ("pixels", [25, 50, 75, 100], (25, 50, 50, 50)),
        ("input-pixels", [5, 10, 50, 100], (100, 100, 900, 900)),
    ],
)
def test_every_scale(scale: str | int, box: list[float], expected: tuple[float, float, float, float]) -> None:
    text = json.dumps({"bbox": box, "class": "cat"})
    sizes = [(100, 100)] if scale == "input-pixels" else None
    dt = from_answers([text], image_ids=[1], ground_truth=GT, layout="bbox", scale=scale, input_sizes=sizes)
    assert_rows(dt, [(CAT, *expected)])


def test_scores_are_those_of_all_boxes_or_of_none() -> None:
    scored = f"[{bbox_2d(score=0.5)}, {bbox_2d(confidence=1)}]"
    dt = from_answers({1: scored}, ground_truth=GT, model="qwen3-vl")
    assert dt.scored
    assert dt.scores.tolist() == [0.5, 1]
    for other in (bbox_2d(), bbox_2d(score="high"), bbox_2d(score=True), bbox_2d(score=float("nan"))):
        with pytest.raises(
            DatasetError, match=r"a score for all 3 boxes or for none, found 1 .* at \[1\], character 1"
        ):
            from_answers([scored, other], image_ids=[1, 2], ground_truth=GT, model="qwen3-vl")
    dt = from_answers({1: bbox_2d(score="high")}, ground_truth=GT, model="qwen3-vl")
    assert not dt.scored
    assert dt.scores.tolist() == [1]


def test_synonyms_come_from_a_file_or_a_mapping(tmp_path: Path) -> None:
    text = f"[{bbox_2d('Kitten')}, {bbox_2d('semaphore')}, {bbox_2d('mug')}]"
    names = {"kitten": "cat", "Semaphore": "traffic light", "mug": None}
    for suffix, content in (
        ("csv", "old,new\nkitten,cat\nSemaphore,traffic light\nmug,\n"),
        ("txt", "kitten: cat\nSemaphore: traffic light\nmug:\n"),
        ("json", json.dumps(names)),
    ):
        file = tmp_path / f"names.{suffix}"
        file.write_text(content)
        dt = from_answers({1: text}, ground_truth=GT, model="qwen3-vl", synonyms=file)
        assert dt.category_ids.tolist() == [CAT, LIGHT]
        assert "'mug' x 1" in dt.notes[0]
    file.write_text('{"kitten": "dog"}')
    with pytest.raises(DatasetError, match=r"names.json: 'kitten': expected one of the 3 classes, found 'dog'"):
        from_answers({1: text}, ground_truth=GT, model="qwen3-vl", synonyms=file)
    with pytest.raises(DatasetError, match=r"answers: synonyms: 'kitten': expected one of the 3 classes"):
        from_answers({1: text}, ground_truth=GT, model="qwen3-vl", synonyms={"kitten": "dog"})
    for content, said in (("[1]", "expected an object"), ('{"kitten": 7}', "kitten: expected text")):
        file.write_text(content)
        with pytest.raises(DatasetError, match=said):
            from_answers({1: text}, ground_truth=GT, model="qwen3-vl", synonyms=file)


def test_unknown_names_are_counted_the_most_frequent_first() -> None:
    texts = [bbox_2d("mug"), bbox_2d("cup"), f"{bbox_2d('cup')} {bbox_2d()}"]
    dt = from_answers(texts, image_ids=["k.jpg"] * 3, ground_truth=GT, model="qwen3-vl")
    assert_rows(dt, [FIRST])
    assert dt.dropped == 3
    assert dt.notes == (
        "answers: left out 3 x a box of a name that is no class: 'cup' x 2 (first: [1], character 1); "
        "'mug' x 1 (first: [0], character 1)",
    )


def test_long_lists_of_places_end() -> None:
    dt = from_answers(["no"] * 25, image_ids=[1] * 25, ground_truth=GT, model="qwen3-vl")
    assert dt.notes[0].startswith("answers: 25 x an answer without a box of the layout: [0]: 'no'; [1]: 'no'; ")
    assert dt.notes[0].endswith("[19]: 'no'; and 5 more")


def test_the_class_of_the_question_names_boxes_without_a_name(tmp_path: Path) -> None:
    records = [{**LINE, "label": "person"}, {"image_id": 2, "text": '{"bbox_2d": [0, 0, 10, 10]}', "label": "cat"}]
    file = written(tmp_path, *records, "")
    dt = read_detections(file, "answers", ground_truth=GT, model="qwen3-vl")
    assert_rows(dt, [FIRST, (CAT, 0, 0, 20.46, 10.23)])
    assert dt.image_ids.tolist() == [1, 2]


def test_two_classes_that_differ_in_case_alone_are_told_apart_by_their_exact_names() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=[], images=[1], sizes=[(9, 9)], categories={1: "Cat", 2: "CAT"}
    )
    assert from_answers({1: bbox_2d("CAT")}, ground_truth=gt, model="qwen3-vl").category_ids.tolist() == [2]
    with pytest.raises(DatasetError, match="several classes are called 'cat'"):
        from_answers({1: bbox_2d("cat")}, ground_truth=gt, model="qwen3-vl")


def test_without_sizes_boxes_are_fractions_if_those_of_the_ground_truth_are() -> None:
    arrays: dict[str, Any] = {"image_ids": ["a"], "category_ids": [1], "boxes": [[0, 0, 1, 1]], "categories": CLASSES}
    gt = GroundTruth.from_arrays(**arrays, normalized=True)
    dt = from_answers({"a": bbox_2d()}, ground_truth=gt, model="qwen3-vl")
    assert dt.normalized
    np.testing.assert_allclose(dt.boxes, [[0.1, 0.2, 0.2, 0.2]])
    assert dt.image_labels().tolist() == ["a"]
    with pytest.raises(DatasetError, match="fractions"):
        from_answers({"a": bbox_2d()}, ground_truth=GroundTruth.from_arrays(**arrays), model="qwen3-vl")


def test_arguments_that_do_not_fit_are_refused() -> None:
    arguments: dict[str, Any] = {"ground_truth": GT, "model": "qwen3-vl"}
    with pytest.raises(TypeError, match="a list of texts, or a mapping, found one text"):
        from_answers("[]", image_ids=[1], **arguments)
    with pytest.raises(TypeError, match=r"answers\[0\]: expected text, found dict"):
        from_answers([{}], image_ids=[1], **arguments)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="leave image_ids out"):
        from_answers({1: "[]"}, image_ids=[1], **arguments)
    with pytest.raises(ValueError, match=r"give image_ids=\[...\]"):
        from_answers(["[]"], **arguments)
    with pytest.raises(ValueError, match="found 1 texts, 2 image_ids and 1 input_sizes"):
        from_answers(["[]"], image_ids=[1, 2], **arguments)


def test_commands_read_answers_with_the_options_of_the_reader(tmp_path: Path) -> None:
    gt = tmp_path / "gt.json"
    write(GroundTruth.from_arrays(
        image_ids=[1], category_ids=[CAT], boxes=[FIRST[1:]], images=[1], names=["k.jpg"], sizes=[(2000, 1000)],
        categories=CLASSES,
    ), gt, "coco")  # fmt: skip
    answers = written(tmp_path, {"image": "k.jpg", "answer": f"[{bbox_2d('kitten', score=0.5)}, {bbox_2d('mug')}]"})
    names = tmp_path / "names.csv"
    names.write_text("kitten,cat\n")
    words = ["eval", str(gt), str(answers), "--json"]
    command = run_here(*words, "--dt-option", "model=qwen3-vl", "--dt-option", f"synonyms={names}")
    assert command.code == 0, command.err
    assert json.loads(command.out)["summary"]["AP"] == pytest.approx(1)
    assert re.search(r"note .*left out 1 x a box of a name that is no class: 'mug' x 1 \(first: line 1", command.err)
    command = run_here(*words)
    assert command.code == 2
    assert "how boxes are written is not guessed: name the model" in command.err
    command = run_here(*words, "--dt-option", "model=qwen4")
    assert command.code == 2
    assert "Invalid value for --dt-option: unknown model 'qwen4'; choose from qwen-vl" in command.err


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(
    "text",
    ["[" * 20000, "{" * 5000, '"' + '\\"' * 20000, "<loc_1>" * 9000, "<box>" * 9000, "<point " * 9000 + "a" * 9000,
     "a" * 99000, " " * 99000, "," * 99000, "<box>" + "[" * 20000, "<ref>cat</ref>" * 5000, "1" * 9000 + "<loc"],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_long_nonsense_is_read_in_a_moment(name: str, text: str) -> None:
    assert all(0 <= one.at < len(text) for one in LAYOUTS[name](text))


PIECES = [
    '{"bbox_2d": ',
    '"box_2d"',
    "[1, 2, 3, 4]",
    '"label": "cat"',
    "}",
    "{",
    "[",
    "]",
    ",",
    '"',
    "\\",
    "<box>",
    "</box>",
]
PIECES += [
    "<ref>",
    "</ref>",
    "cat",
    "(1,2),(3,4)",
    "<loc0001>",
    "<loc_1>",
    "<seg001>",
    "<|det|>",
    "<|/det|>",
    "<|ref|>",
]
PIECES += [
    "<point ",
    'x="1"',
    "y='2'",
    ">",
    "<",
    " ",
    "\n",
    "1",
    "-",
    ".",
    "é",
    "\0",
    "\ud800",
    "<|box_start|>",
    '"score": 1',
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.sampled_from(sorted(PROFILES)))
def test_any_text_is_read_or_listed(text: str, model: str) -> None:
    dt = from_answers([text], image_ids=[1], ground_truth=GT, model=model, input_sizes=[(100, 100)])
    assert len(dt) or dt.notes or says_nothing_found(text)
    assert np.isfinite(dt.boxes).all()
    assert (dt.boxes[:, 2:] >= 0).all()
    assert all(note.isprintable() for note in dt.notes)


def test_no_model_answers_more_than_a_bound() -> None:
    found = from_answers({1: "{" * 200_001, 2: bbox_2d()}, ground_truth=GT, model="qwen3-vl")
    assert (len(found), found.dropped) == (1, 1)
    assert "answers: left out 1 x what cannot be read: [0]: more than 200,000 characters" in found.notes


def test_every_profile_is_of_a_layout_and_a_scale_that_there_are() -> None:
    assert {profile.layout for profile in PROFILES.values()} <= {*LAYOUTS}
    assert {profile.scale for profile in PROFILES.values()} <= {*SCALES}
    assert all(profile.source for profile in PROFILES.values())
    documented = from_answers.__doc__ or ""
    for name in (*PROFILES, *LAYOUTS, *SCALES):
        assert f'"{name}"' in documented
