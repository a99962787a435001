"""One thing has one name and one colour in figures, pages and text: those of `_words_and_colours`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ioukit._words_and_colours import COLOURS, ERROR_WORDS, OUTCOME_WORDS, overlap_name, percent, shorten, shorten_apart
from ioukit.evaluation import ERROR_KINDS
from ioukit.report import _html

SOURCE = Path(__file__).parent.parent / "src" / "ioukit"
FILES = [
    path
    for path in sorted(SOURCE.rglob("*"))
    if path.suffix in {".py", ".js", ".css", ".j2"} and path.name != "_words_and_colours.py"
]
OTHER_WORDS = re.compile(  # a table of words: a kind of error or an outcome, and a text
    rf"""['"]?\b({"|".join(ERROR_WORDS)}|tp|fp|fn)\b['"]?: *[\[(]?\s*f?['"][A-Za-z]{{3,}} [a-z]"""
)
SYNONYMS = re.compile(r"[Ff]ound objects?\b(?! counts)|['\"](?:[Ff]alse alarms?|[Oo]n background|not counted)\b")
OTHER_PERCENT = re.compile(r":\.?\d?[fg]?%\}|:\.?\d?[fg]?\} ?%")
OTHER_COLOURS = re.compile(
    rf"--(?:{'|'.join(COLOURS)}):|{'|'.join({shade for one in COLOURS.values() for shade in one})}", re.IGNORECASE
)
THE_ACCENT = ("page.css", "--accent: light-dark(#1f5aa8, #8ab8f5);")  # of links and buttons: no outcome, the same blue


def lines_with(pattern: re.Pattern[str], *suffixes: str) -> list[str]:
    return [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in FILES
        if path.suffix in suffixes
        for line in path.read_text(encoding="utf-8").splitlines()
        if pattern.search(line) and (path.name, line.strip()) != THE_ACCENT
    ]


def test_every_kind_of_error_has_words() -> None:
    assert tuple(ERROR_WORDS) == ERROR_KINDS
    assert OUTCOME_WORDS.keys() < COLOURS.keys()


def test_no_file_has_other_words() -> None:
    assert lines_with(OTHER_WORDS, ".py", ".js") == []
    assert lines_with(SYNONYMS, ".py", ".js", ".j2") == []


def test_a_share_is_written_in_one_way() -> None:
    assert lines_with(OTHER_PERCENT, ".py") == []
    assert [percent(0.95), percent(0.995), percent(0.1234, 1), percent(1, 0)] == ["95 %", "99.5 %", "12.3 %", "100 %"]


def test_no_file_has_other_colours() -> None:
    assert lines_with(OTHER_COLOURS, ".py", ".js", ".css", ".j2") == []


def test_the_search_finds_other_words_and_colours() -> None:
    assert OTHER_WORDS.search('const WORDS = { classification: "not the class" }')
    assert OTHER_WORDS.search('    "missed": ("Missed by all", ""),')
    assert SYNONYMS.search('"Found objects"')
    assert OTHER_PERCENT.search('f"{share:.1%}"')
    assert OTHER_PERCENT.search('f"{100 * share:.0f} %"')
    assert OTHER_COLOURS.search("--fn: purple;")


def test_pages_get_the_words_and_the_colours() -> None:
    style, script = _html.style(), _html.program()
    for name, (light, dark) in COLOURS.items():
        assert f"--{name}: light-dark({light}, {dark});" in style
    for words in (*OUTCOME_WORDS.values(), *(word for kind in ERROR_WORDS.values() for word in kind)):
        assert f'"{words}"' in script


@pytest.mark.parametrize("name", COLOURS)
def test_text_in_these_colours_is_readable(name: str) -> None:
    """WCAG 2, level AA, on the backgrounds of pages and of figures."""
    light, dark = COLOURS[name]
    assert min(contrast(light, paper) for paper in ("#ffffff", "#f7f7f5")) >= 4.5
    assert min(contrast(dark, paper) for paper in ("#000000", "#15171c", "#1a1d22")) >= 4.5


def contrast(one: str, other: str) -> float:
    low, high = sorted(luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_long_names_of_models_differ_also_where_they_are_cut() -> None:
    names = [f"experiment-yolov8m-lr0.00{rate}-augmosaic-epochs300-imgsz640" for rate in (1, 2, 5)]
    found = shorten_apart(["short", *names], 24)
    assert found == ["short", *(f"…m-lr0.00{rate}-augmosaic-ep…" for rate in (1, 2, 5))]
    assert max(map(len, found)) == 24
    far = [f"{'a' * 40}{letter}{'b' * 40}{number}{'c' * 40}" for letter, number in (("x", 1), ("y", 1), ("x", 2))]
    assert shorten_apart(far, 24) == far, "no short text tells these apart"
    assert shorten_apart(["same" * 20] * 2, 24) == [shorten("same" * 20, 24)] * 2


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("bbox", "IoU"), ("segm", "IoU"), ("rotated", "IoU"), ("box3d", "IoU"), ("a kind of your own", "IoU")),
        *(("keypoints", "OKS"), ("keypoints-crowdpose", "OKS"), ("rotated-probiou", "ProbIoU")),
        *(("boundary", "boundary IoU"), ("centre-in-box", "overlap"), ("centre-in-mask", "overlap")),
    ],
)
def test_an_overlap_has_the_name_of_its_measure(kind: str, name: str) -> None:
    assert overlap_name(kind) == name
