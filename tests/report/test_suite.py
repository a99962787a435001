"""The data and the file of the page of a suite: what the command prints, and nothing else."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import evaluate, read_coco
from ioukit.comparison import evaluate_suite
from ioukit.report import write_suite
from ioukit.report.suite_page import suite_data
from support.paths import DEMO
from support.suite_cases import CASES, models_on

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.comparison import Suite
    from ioukit.report.suite_page import SuitePage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")


@pytest.fixture(scope="module", params=CASES)
def suite(request: pytest.FixtureRequest) -> Suite:
    return CASES[request.param]()


def page_data(suite: Suite) -> SuitePage:
    return suite_data(suite, title=None, created=None)


def words_of(text: str) -> list[str]:
    return text.replace("\N{MINUS SIGN}", "-").split()


def test_sentences_and_models_are_those_of_the_command(suite: Suite) -> None:
    data, told = page_data(suite), words_of(suite.text())
    assert data.title == f"AP on {len(suite.sets)} data set{'' if len(suite.sets) == 1 else 's'}"
    if any("\n" in name or len(name) > 99 for name in (*suite.names, *suite.sets)):
        return  # shown otherwise
    for sentence in (*data.verdicts, *data.words):
        assert " ".join(words_of(sentence)) in " ".join(told)
    for row in data.models:
        assert " ".join([row.name, *row.texts]) in " ".join(told)
    for line, of_set in zip(suite.values.tolist(), data.sets, strict=True):
        shown = ["-" if math.isnan(value) else f"{value:.4f}" for value in line]
        assert " ".join([of_set.name, of_set.images.text, *shown]) in " ".join(told)


def test_bars_whiskers_and_bold_numbers_are_those_of_the_result(suite: Suite) -> None:
    data = page_data(suite)
    assert [row.bar for row in data.models] == suite.means.tolist()
    for row, interval in zip(data.models, suite.intervals, strict=False):
        if row.whisker is None:
            assert math.isnan(interval.low)
        else:
            assert (row.whisker.low, row.whisker.high) == (interval.low, interval.high)
    assert all(row.whisker is None for row in data.models) or suite.intervals
    for line, of_set in zip(suite.values.tolist(), data.sets, strict=True):
        assert [cell.value for cell, _ in of_set.cells] == [None if math.isnan(value) else value for value in line]
        best = [len(line) > 1 and value == max(line) for value in line]
        assert [bold for _, bold in of_set.cells] == best


def test_tests_are_those_of_the_result(suite: Suite) -> None:
    data = page_data(suite)
    assert len(data.tests) == len(suite.differences)
    assert bool(data.test_columns) == bool(suite.differences)
    for row, one, name in zip(data.tests, suite.differences, suite.names[1:], strict=False):
        assert len(row) == 1 + len(data.test_columns)
        assert float(row[1].replace("\N{MINUS SIGN}", "-")) == pytest.approx(100 * one.difference, abs=0.0051)
        if math.isnan(one.low):
            assert row[2] == "\N{EN DASH}"
        else:
            low, high = (float(text) for text in row[2].replace("\N{MINUS SIGN}", "-").split(" to "))
            np.testing.assert_allclose([low, high], [100 * one.low, 100 * one.high], atol=0.0051)
        assert float(row[3]) == pytest.approx(one.p_value, abs=6e-4)
        if suite.ranking is not None:
            assert float(row[4]) == pytest.approx(suite.ranking.p_value(suite.names[0], name), abs=6e-4)


def test_the_file(suite: Suite, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    suite.report(path, title="A title", created=datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc))
    text = path.read_text(encoding="utf-8")
    assert "2026-01-02 03:04 UTC" in text
    assert "A title" in text
    assert not re.search(r'(src|href)="(?!#|data:)', text)
    assert ("Permutations" in text) == bool(suite.differences)


def test_notes_name_their_data_sets() -> None:
    noted = {}
    for at in range(5):
        notes = ("of all", *(["of one"] if at == 2 else []))
        models = models_on(at, ("base", "fewer"))
        noted[f"set {at}"] = {name: dataclasses.replace(one, notes_on_reading=notes) for name, one in models.items()}
    suite = evaluate_suite(noted, replicates=0)
    assert page_data(suite).notes == ("5 data sets: of all", "set 2: of one")


def test_files_are_named_and_not_overwritten(tmp_path: Path) -> None:
    truth, found = DEMO / "gt.json", DEMO / "a.json"
    path = tmp_path / "found.json"
    path.write_bytes(found.read_bytes())
    models = {"base": evaluate(*read_coco(truth, found)), "copy": evaluate(*read_coco(truth, path))}
    suite = evaluate_suite({"demo": models}, replicates=0)
    assert [(file.role, file.name) for file in page_data(suite).files] == [
        ("Ground truth of demo", "gt.json"),
        ("Detections of base on demo", "a.json"),
        ("Detections of copy on demo", "found.json"),
    ]
    with pytest.raises(ValueError, match="is an input and would be overwritten"):
        suite.report(path)
    with pytest.raises(ValueError, match="there is no folder"):
        suite.report(tmp_path / "none/page.html")
    with pytest.raises(TypeError, match=r"expected what ioukit\.comparison\.evaluate_suite returns, got dict"):
        write_suite({}, tmp_path / "page.html")  # type: ignore[arg-type]
    assert path.read_bytes() == found.read_bytes()
