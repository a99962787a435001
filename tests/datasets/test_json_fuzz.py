"""What Python's `json` reads as a COCO file is read with the same values to the last bit; any other text is refused."""

from __future__ import annotations

import itertools
import json
import math
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ioukit
from support.paths import write_coco
from support.plain_reader import Columns, RefusedError, bits, read_plainly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The same examples on every run: a fuzzer that finds something new belongs on a bench, not in a test suite.
fuzz = settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

# ---- A grammar of JSON text. A value is text already; arrays and objects are put together by `render`.

ODD_NUMBERS = [
    "-0",
    "-0.0",
    "0e0",
    "0E+1",
    "-0e-5",
    "1E5",
    "12e-1",
    "0.1",
    "1.0000000000000002",
    "5e-324",
    "2.4703282292062327e-324",  # rounds to 0
    "2.4703282292062328e-324",  # rounds to the smallest subnormal
    "2.2250738585072011e-308",  # once hung PHP and Java
    "2.2250738585072014e-308",
    "9007199254740993",  # half way between two doubles
    "9007199254740993.0000000000000000000000000000000001",
    "0.500000000000000166533453693773481063544750213623046875",
    "1" + "0" * 40 + "e-40",
    "0." + "0" * 60 + "1e61",
    "1e-99999999999999999999",
    "0e99999999999999999999",
    "18446744073709551616",
    "123456789012345678",
]


@st.composite
def digits(draw: st.DrawFn) -> str:
    """A number of any length, in any notation."""
    whole = draw(st.one_of(st.just("0"), st.from_regex(r"[1-9][0-9]{0,24}", fullmatch=True)))
    fraction = draw(st.one_of(st.just(""), st.from_regex(r"\.[0-9]{1,30}", fullmatch=True)))
    exponent = draw(st.one_of(st.just(""), st.from_regex(r"[eE][+-]?[0-9]{1,3}", fullmatch=True)))
    return draw(st.sampled_from(["", "-"])) + whole + fraction + exponent


@st.composite
def half_way(draw: st.DrawFn) -> str:
    """The exact middle of two neighbouring doubles, or a hair beside it."""
    low = draw(st.floats(min_value=1e-30, max_value=1e15))
    middle = (Decimal(low) + Decimal(math.nextafter(low, math.inf))) / 2
    return f"{middle:f}" + draw(st.sampled_from(["", "0", "1"] if "." in f"{middle:f}" else [""]))


numbers = st.one_of(
    st.sampled_from(ODD_NUMBERS),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    digits(),
    half_way(),
)
finite = numbers.filter(lambda text: math.isfinite(float(text)))
coordinates = numbers.filter(lambda text: abs(float(text)) <= 2**53)
sizes = coordinates.map(lambda text: text.removeprefix("-"))
areas = finite.map(lambda text: text.removeprefix("-"))
strings = st.one_of(
    st.builds(
        lambda text, escape: json.dumps(text, ensure_ascii=escape),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        st.booleans(),
    ),
    st.sampled_from(['"\\ud800"', '"\\udc00\\ud800x"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\/\\b\\f"', '"a\\"]}"']),
)
Value = Any  # a text, a list of values, or a dict-like list of (key, value) under the mark OBJECT
anything: st.SearchStrategy[Value] = st.recursive(
    st.one_of(numbers, strings, st.sampled_from(["true", "false", "null", "NaN", "Infinity", "-Infinity"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(st.tuples(st.sampled_from(["id", "bbox", "score", "é", ""]), inner), max_size=3).map(tuple),
    ),
    max_leaves=5,
)


def members(*required: tuple[str, st.SearchStrategy[Value]]) -> st.SearchStrategy[Value]:
    """An object with these members in any order, unknown ones among them, and in front repeated keys of any value."""
    keys = [key for key, _ in required]
    known = st.tuples(*[st.tuples(st.just(key), value) for key, value in required])
    unknown = st.lists(st.tuples(st.sampled_from(["segmentation", "licence", "Id", "bbox "]), anything), max_size=2)
    repeated = st.lists(st.tuples(st.sampled_from(keys), anything), max_size=1)
    body = st.tuples(known, unknown).flatmap(lambda parts: st.permutations([*parts[0], *parts[1]]))
    return st.tuples(repeated, body).map(lambda parts: (*parts[0], *parts[1]))


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A valid ground truth and valid detections."""
    image_ids = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3, unique=True))
    category_ids = draw(st.lists(st.integers(0, 90), min_size=1, max_size=2, unique=True))
    ids = draw(st.lists(st.integers(-5, 9), max_size=3, unique=True))
    image = st.sampled_from([*map(str, image_ids), *(f"{i}.0" for i in image_ids if abs(i) < 2**53)])
    category = st.sampled_from([text.format(i) for i in category_ids for text in ("{}", "{}.0", "{}e0")])
    box = st.tuples(coordinates, coordinates, sizes, sizes).map(list)
    crowd = st.sampled_from(["0", "1", "true", "false", "0.0", "1e0"])
    where = [("image_id", image), ("category_id", category), ("bbox", box)]
    gt = [
        ("images", [draw(members(("id", st.just(str(i))), ("width", numbers))) for i in image_ids]),
        ("categories", [draw(members(("id", st.just(str(i))), ("name", strings))) for i in category_ids]),
        (
            "annotations",
            [draw(members(("id", st.just(str(i))), *where, ("area", areas), ("iscrowd", crowd))) for i in ids],
        ),
        ("info", draw(anything)),
    ]
    dt = draw(st.lists(members(*where, ("score", finite)), max_size=3))
    # A short cycle of choices decorates the whole text; drawing each of them would drown the values.
    spaces = itertools.cycle(draw(st.lists(st.text(" \t\n\r", max_size=2), min_size=1, max_size=7)))
    escapes = itertools.cycle(draw(st.lists(st.booleans(), min_size=1, max_size=7)))
    order = draw(st.permutations(gt))
    return render(tuple(order), spaces, escapes).encode(), render(dt, spaces, escapes).encode()


def render(value: Value, spaces: Iterator[str], escapes: Iterator[bool]) -> str:
    """JSON text with `spaces` between the tokens and keys partly written as `\\u` escapes."""
    if isinstance(value, str):
        return next(spaces) + value + next(spaces)
    if isinstance(value, list):
        return next(spaces) + "[" + ",".join(render(v, spaces, escapes) for v in value) + "]" + next(spaces)
    pairs = []
    for key, inner in value:
        text = "".join(f"\\u{ord(c):04X}" if next(escapes) else c for c in key)
        pairs.append(f'{next(spaces)}"{text}"{next(spaces)}:{render(inner, spaces, escapes)}')
    return next(spaces) + "{" + ",".join(pairs) + "}" + next(spaces)


def damage(text: bytes, rng: Random) -> bytes:
    """The text with up to three bytes flipped, replaced, removed, added or copied, or cut short."""
    damaged = bytearray(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(damaged) or 1)
        kind = rng.choice(["flip", "replace", "digit", "digit", "digit", "delete", "insert", "copy", "cut"])
        if kind == "flip" and damaged:
            damaged[at] ^= 1 << rng.randrange(8)
        elif kind == "replace" and damaged:
            damaged[at] = rng.choice(b'0123456789+-.eE"\\{}[]:, \n\x00\x80\xed\xffNIt')
        elif kind == "digit":  # often still JSON, and often still a data set
            places = [i for i, byte in enumerate(damaged) if byte in b"0123456789"]
            if places:
                damaged[rng.choice(places)] = rng.choice(b"0123456789")
        elif kind == "delete":
            del damaged[at : at + 1]
        elif kind == "insert":
            damaged.insert(at, rng.choice(b'0-.e"\\{}[]:, \x0b\xc2'))
        elif kind == "copy":
            damaged[at:at] = damaged[at : at + rng.randrange(30)]
        elif kind == "cut" and rng.random() < 0.3:
            del damaged[at:]
    return bytes(damaged)


# ---- What must hold.


def assert_same_columns(gt: ioukit.GroundTruth, dt: ioukit.Detections, expected: Columns) -> None:
    assert gt.images.ids.tolist() == expected.image_ids
    assert gt.categories.ids.tolist() == expected.category_ids
    assert list(gt.categories.names) == expected.category_names
    ids, images, categories, boxes, area, crowd = zip(*expected.annotations, strict=True) if len(gt) else [()] * 6
    assert gt.ids.tolist() == list(ids)
    assert gt.image_ids.tolist() == list(images)
    assert gt.category_ids.tolist() == list(categories)
    assert bits(gt.boxes) == bits(boxes)
    assert bits(gt.areas) == bits(area)
    assert gt.crowd.tolist() == list(crowd)
    images, categories, boxes, scores = zip(*expected.detections, strict=True) if len(dt) else [()] * 4
    assert dt.image_ids.tolist() == list(images)
    assert dt.category_ids.tolist() == list(categories)
    assert bits(dt.boxes) == bits(boxes)
    assert bits(dt.scores) == bits(scores)


@pytest.mark.slow
@fuzz
@given(documents(), st.integers(0, 2**32))
def test_text_is_read_and_damaged_text_refused_exactly_as_python_and_the_rules_do(
    tmp_path: Path, texts: tuple[bytes, bytes], seed: int
) -> None:
    gt_read, dt_read = ioukit.read_coco(*write_coco(tmp_path, *texts))
    expected = read_plainly(*texts)
    assert (len(gt_read), len(dt_read)) == (len(expected.annotations), len(expected.detections))
    assert_same_columns(gt_read, dt_read, expected)
    rng = Random(seed)
    for _ in range(20):
        gt, dt = texts
        gt, dt = (damage(gt, rng), dt) if rng.random() < 0.5 else (gt, damage(dt, rng))
        files = write_coco(tmp_path, gt, dt)
        try:
            expected = read_plainly(gt, dt)
        except RefusedError:
            with pytest.raises(ioukit.DatasetError, match=r"(gt|dt)\.json"):
                ioukit.read_coco(*files)
        else:
            assert_same_columns(*ioukit.read_coco(*files), expected)


def some_number(rng: Random) -> str:
    style = rng.randrange(5)
    if style == 0:
        return repr(rng.uniform(-1e3, 1e3))
    if style == 1:
        return f"{rng.uniform(0, 700):.{rng.randrange(0, 25)}f}"
    if style == 2:
        return f"{rng.random():.{rng.randrange(0, 40)}e}"
    mantissa = str(rng.getrandbits(rng.randrange(1, 90)))
    if style == 3:
        return f"{mantissa}e{rng.randrange(-360, 280)}"
    return f"0.{'0' * rng.randrange(12)}{mantissa}"


def test_a_hundred_thousand_numbers(tmp_path: Path) -> None:
    """Enough to meet every branch of the conversion; long enough for the file to be read by several threads."""
    rng = Random(2)
    texts = [*ODD_NUMBERS, *(some_number(rng) for _ in range(100_000))]
    records = ",".join(f'{{"image_id":1,"category_id":1,"bbox":[0,0,1,1],"score":{text}}}' for text in texts)
    gt = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "c"}], "annotations": []}
    _, dt = ioukit.read_coco(*write_coco(tmp_path, gt, f"[{records}]"))
    ours, expected = bits(dt.scores), bits([float(json.loads(text)) for text in texts])
    wrong = [text for text, a, b in zip(texts, ours, expected, strict=True) if a != b]
    assert not wrong, f"{len(wrong)} numbers differ from Python's, such as {wrong[:3]}"
