"""The page as a text: what it is made from, and that it stands alone."""

from __future__ import annotations

import json
import re

import pytest

from ioukit import losses
from ioukit.overlap.variants import VARIANTS
from ioukit.report import playground

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")


def test_it_is_made_from_the_table_of_overlaps() -> None:
    (text,) = re.findall(r'id="data">(.*?)</script>', playground.playground_page())
    told = {variant["name"]: variant for variant in json.loads(text)["variants"]}
    assert list(told) == [variant.name for variant in VARIANTS]
    for variant in VARIANTS:
        assert told[variant.name]["formula"] == variant.formula
        assert told[variant.name]["range"] == variant.range
        assert told[variant.name]["options"].keys() == variant.options.keys()
    assert set(playground.TITLES) == set(told)
    assert [name for name in told if told[name]["has_loss"]] == [
        name for name in told if hasattr(losses, f"{name}_loss")
    ]


def test_it_asks_for_nothing_and_styles_no_element_by_itself() -> None:
    page = playground.playground_page()
    assert not re.search(r"\b(src|href)=\"(?!#)", page)
    assert not re.search(r"\sstyle=|\son\w+=|@import|https?://(?!www\.w3\.org/2000/svg)", page)
    assert len(page.encode()) < 150_000


def test_it_is_the_same_every_time() -> None:
    assert playground.playground_page() == playground.playground_page()


@pytest.mark.parametrize("preset", playground.PRESETS, ids=lambda preset: preset.title)
def test_presets_lie_in_the_picture(preset: playground.Preset) -> None:
    for x1, y1, x2, y2 in (preset.object, preset.detection):
        assert 0 <= x1 <= x2 <= playground.IMAGE_SIZE[0]
        assert 0 <= y1 <= y2 <= playground.IMAGE_SIZE[1]
