"""How models write boxes as text: layouts, scales, and which of them a model uses.

Owns: the boxes and the damaged places in the text of one answer (`LAYOUTS`), what a coordinate is a part of (`SCALES`),
and the layout and the scale of each model, with their source (`PROFILES`).
Does not own: which image and class a box belongs to, and what is said about damaged places, see `answers.py`.

Nothing is chosen by looking at the numbers: 0 to 1000 and pixels of a picture of 1000 x 800 look the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ioukit.datasets.formats.text_files import FARTHEST, abbreviate, numbers, refuse, to_number
from ioukit.errors import DatasetError

_CORNERS = ("x1", "y1", "x2", "y2")
_SWAPPED = ("y1", "x1", "y2", "x2")
_LABELS = ("label", "name", "class", "category")
_SCORES = ("score", "confidence")

_NUMBER = r"\s*(-?\d+(?:\.\d+)?)\s*"
_BOX = re.compile(rf"\[{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}\]|\({_NUMBER},{_NUMBER}\)\s*,\s*\({_NUMBER},{_NUMBER}\)")
# A string first, so that a comma in it stays. JSON has no line feeds in strings: a lone quote spoils only its line.
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])')
_NOTHING = re.compile(r"\[\s*\]|\{\s*\}")
_TOKEN = re.compile(r"\d+")
_ATTRIBUTE = re.compile(r"""\b([a-z]+\d*)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class AnsweredBox(NamedTuple):
    """A box of an answer; a point is a box without extent."""

    at: int
    """Where in the text it begins."""
    label: str | None
    corners: Sequence[float]
    """``x1, y1, x2, y2`` in the unit of the answer."""
    score: float | None = None


class Damage(NamedTuple):
    """A place of an answer where a box begins that cannot be read."""

    at: int
    what: str


Found = Iterator[AnsweredBox | Damage]


Layout = Callable[[str], Found]
"""Reads the boxes of an answer, and its damaged places."""


class Scale(NamedTuple):
    """What a coordinate is a part of."""

    title: str
    length: float = math.nan
    """The coordinate of the right and the lower edge; NaN if it is that of a picture."""
    shift: float = 0.0
    """What is added to a coordinate."""


class Profile(NamedTuple):
    """What a model writes."""

    layout: str
    scale: str
    source: str
    """Where that is said or done."""


def says_nothing_found(text: str) -> bool:
    """Whether an answer is an empty list, or has no words at all."""
    return not re.sub(r"<[^<>]*>", "", text).strip() or bool(_NOTHING.search(text))


def _box(at: int, label: str | None, corners: Sequence[float], score: float | None = None) -> AnsweredBox | Damage:
    x1, y1, x2, y2 = corners
    if x1 > x2 or y1 > y2:
        return Damage(at, f"expected x1 <= x2 and y1 <= y2, found {x1:g}, {y1:g}, {x2:g}, {y2:g}")
    return AnsweredBox(at, (label or "").strip() or None, corners, score)


def _of_json(text: str, key: str, names: Sequence[str]) -> Found:
    """Objects of JSON with a key, also where words or fences stand around them, and before the end of a cut answer."""
    plain = _LAST_COMMA.sub(lambda found: " " if found[0] == "," else found[0], text)
    decoder, at = json.JSONDecoder(), plain.find("{")
    spans: list[tuple[int, int]] = []
    while at >= 0:
        after = at + 1
        try:
            value, after = decoder.raw_decode(plain, at)
        except (ValueError, RecursionError):
            pass  # of an outer object that is cut, the inner ones are read by themselves
        else:
            spans.append((at, after))
            for record in _with_key(value, key):
                yield _of_record(at, record, key, names)
        at = plain.find("{", after)
    yield from _unread(text, f'"{key}"', spans)


def _with_key(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """The objects that have a key, in order. A stack in the place of recursion: JSON may be nested a thousand times."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict) and key in one:
            yield one
        if isinstance(one, dict | list):
            left += reversed(list(one.values()) if isinstance(one, dict) else one)


def _of_record(at: int, record: dict[str, Any], key: str, names: Sequence[str]) -> AnsweredBox | Damage:
    try:
        values = numbers(record[key], names, key, text=False)
    except DatasetError as error:
        return Damage(at, str(error))
    by_name = dict(zip(names, values, strict=True))
    label = next((record[name] for name in _LABELS if isinstance(record.get(name), str)), None)
    return _box(at, label, [by_name[name] for name in _CORNERS], _score(record))


def _score(record: dict[str, Any]) -> float | None:
    given = next((record[name] for name in _SCORES if name in record), None)
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= FARTHEST:
        return None
    return float(given)


def _unread(text: str, mark: str, spans: Sequence[tuple[int, int]]) -> Found:
    """The places of a mark outside of what was read."""
    left = iter(spans)
    span = next(left, None)
    for found in re.finditer(mark, text):
        while span is not None and span[1] <= found.start():
            span = next(left, None)
        if span is None or found.start() < span[0]:
            yield Damage(
                found.start(), f"expected a whole box, found {abbreviate(text[found.start() : found.start() + 99])}"
            )


def _of_tags(text: str, reference: tuple[str, str], tags: tuple[str, str]) -> Found:
    """Boxes between tags, after a label between others; the label of the box before if nothing stands between them.

    The closing tag of the last box may lack: servers that stop at it do not return it.
    """
    opening, closing = map(re.escape, tags)
    first, last = map(re.escape, reference)
    pattern = rf"(?:{first}([^<]*){last}\s*)?{opening}(.*?)(?:{closing}|(?={opening}|{first})|\Z)"
    label, before = None, -1
    for found in re.finditer(pattern, text, re.DOTALL):
        if found[1] is not None or before < 0 or text[before : found.start()].strip(" ,\n"):
            label = found[1]
        before = found.end()
        boxes = [[float(value) for value in one.groups() if value is not None] for one in _BOX.finditer(found[2])]
        for corners in boxes:
            yield _box(found.start(), label, corners)
        if not boxes or _BOX.sub("", found[2]).strip("[], \t\n"):
            yield Damage(found.start(), f"expected boxes of 4 numbers, found {abbreviate(found[2][:99])}")


def _of_tokens(text: str, pattern: str, mark: str, names: Sequence[str]) -> Found:
    """Boxes as tokens, a number each. The pattern has a group for the tokens, and one for a label behind them.

    A label before them is what stands between the last tag and the tokens: a pattern that begins with it would look at
    a long text again and again.
    """
    spans: list[tuple[int, int]] = []
    for found in re.finditer(pattern, text):
        at, end = found.span()
        label = found[2] if found.re.groups > 1 else text[spans[-1][1] if spans else 0 : at].rpartition(">")[2]
        spans.append((at, end))
        values = [float(value) for value in _TOKEN.findall(found[1])]
        # A label before the tokens (Florence-2) may stand for several boxes, one behind them (PaliGemma) does not.
        if len(values) % 4 or (found.re.groups > 1 and len(values) > 4):
            yield Damage(at, f"expected 4 tokens, found {len(values)}")
            continue
        for first in range(0, len(values), 4):
            by_name = dict(zip(names, values[first : first + 4], strict=True))
            yield _box(at, label, [by_name[name] for name in _CORNERS])
    yield from _unread(text, mark, spans)


def _of_points(text: str) -> Found:
    """Points as tags with ``x`` and ``y``, or ``x1``, ``y1``, ``x2`` and so on."""
    spans: list[tuple[int, int]] = []
    for found in re.finditer(r"<points?\b([^<>]*)>([^<]*)", text):
        spans.append(found.span())
        given = {name: first or second for name, first, second in _ATTRIBUTE.findall(found[1])}
        ends = [name[1:] for name in given if re.fullmatch(r"[xy]\d*", name)]
        try:
            if not ends:
                refuse("point", "x and y", abbreviate(found[0][:99]))
            for end in dict.fromkeys(ends):
                x, y = (to_number(given.get(f"{axis}{end}"), f"{axis}{end}") for axis in "xy")
                yield _box(found.start(), given.get("alt") or found[2], (x, y, x, y))
        except DatasetError as error:
            yield Damage(found.start(), str(error))
    yield from _unread(text, r"<points?\b", spans)


LAYOUTS: dict[str, Layout] = {
    # {"bbox_2d": [x1, y1, x2, y2], "label": "cat"}
    "bbox_2d": partial(_of_json, key="bbox_2d", names=_CORNERS),
    # {"box_2d": [y1, x1, y2, x2], "label": "cat"}
    "box_2d": partial(_of_json, key="box_2d", names=_SWAPPED),
    # {"bbox": [x1, y1, x2, y2], "label": "cat"}
    "bbox": partial(_of_json, key="bbox", names=_CORNERS),
    # <loc0010><loc0020><loc0030><loc0040> cat ; with y1, x1, y2, x2
    "loc-yxyx": partial(_of_tokens, pattern=r"((?:<loc\d{1,4}>)+)(?:<seg\d{3}>)*([^<;]*)", mark="<loc", names=_SWAPPED),
    # cat<loc_10><loc_20><loc_30><loc_40> with x1, y1, x2, y2
    "loc-xyxy": partial(_of_tokens, pattern=r"((?:<loc_\d{1,4}>)+)", mark="<loc_", names=_CORNERS),
    # <ref>cat</ref><box>[[x1, y1, x2, y2]]</box>, or <box>(x1,y1),(x2,y2)</box>
    "box": partial(_of_tags, reference=("<ref>", "</ref>"), tags=("<box>", "</box>")),
    # <|object_ref_start|>cat<|object_ref_end|><|box_start|>(x1,y1),(x2,y2)<|box_end|>
    "box_start": partial(
        _of_tags, reference=("<|object_ref_start|>", "<|object_ref_end|>"), tags=("<|box_start|>", "<|box_end|>")
    ),
    # <|ref|>cat<|/ref|><|det|>[[x1, y1, x2, y2]]<|/det|>
    "det": partial(_of_tags, reference=("<|ref|>", "<|/ref|>"), tags=("<|det|>", "<|/det|>")),
    # <point x="10.5" y="20.1" alt="cat">cat</point>
    "point": _of_points,
}
"""The layouts by name."""

SCALES = {
    "1": Scale("fractions of the image", 1),
    "100": Scale("hundredths of the image", 100),
    "999": Scale("0 to 999", 999),
    "1000": Scale("0 to 1000", 1000),
    "1000-bins": Scale("the numbers of 1000 bins, whose middles are meant", 1000, 0.5),
    "1023": Scale("0 to 1023", 1023),
    "1024": Scale("0 to 1024", 1024),
    "input-pixels": Scale("pixels of the picture that the model saw, whose size goes with each answer"),
    "pixels": Scale("pixels of the image"),
}
"""The scales by name."""

PROFILES = {
    # The README says [0, 1000), and the authors' evaluation divides by 999.
    "qwen-vl": Profile("box", "999", "QwenLM/Qwen-VL, README.md; eval_mm/evaluate_grounding.py: / 999"),
    # The tags are those of the paper, arXiv:2409.12191: no file of the repository has them.
    "qwen2-vl": Profile(
        "box_start", "1000", "QwenLM/Qwen3-VL, qwen-vl-finetune/tools/process_bbox.ipynb: round(x / width * 1000)"
    ),
    "qwen2.5-vl": Profile(
        "bbox_2d",
        "input-pixels",
        "QwenLM/Qwen3-VL, evaluation/ODinW-13/run_odinw.py: / resized_w; process_bbox.ipynb: for the resized image",
    ),
    "qwen3-vl": Profile(
        "bbox_2d", "1000", "QwenLM/Qwen3-VL, evaluation/ODinW-13/run_odinw.py, is_rel: / 1000; omni_recognition.ipynb"
    ),
    "gemini": Profile(
        "box_2d", "1000", "google-gemini/cookbook, quickstarts/Spatial_understanding.ipynb: [y1 x1 y2 x2], / 1000"
    ),
    # 1024 tokens, but the last one, <loc1023>, is the edge: they are written with round(1023 * y) and read with / 1023.
    "paligemma": Profile(
        "loc-yxyx",
        "1023",
        "google-research/big_vision, pp and evaluators/proj/paligemma/transfers/segmentation.py: * 1023, / 1023",
    ),
    "florence-2": Profile(
        "loc-xyxy", "1000-bins", "transformers, models/florence2/processing_florence2.py: dequantize"
    ),
    "internvl": Profile(
        "box", "1000", "OpenGVLab/InternVL, streamlit_demo/app.py: find_bounding_boxes, / 1000; eval/refcoco: / 1000"
    ),
    "deepseek-vl2": Profile(
        "det", "999", "deepseek-ai/DeepSeek-VL2, serve/app_modules/utils.py: parse_ref_bbox, / 999"
    ),
    "molmo": Profile("point", "100", "Molmo and PixMo, arXiv:2409.17146: points between 0 and 100"),
}
"""The models by name."""
