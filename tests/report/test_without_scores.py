"""The page of detections without scores: it counts, and says nothing about scores or AP."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from support.report_cases import unscored

if TYPE_CHECKING:
    from pathlib import Path


def visible(page: str) -> str:
    """The text of a page without its script, style and data."""
    page = re.sub(r"<(script|style|noscript)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_its_sentences_are_counts(tmp_path: Path) -> None:
    evaluation = unscored()
    evaluation.report(tmp_path / "page.html", title="answers")
    text = visible((tmp_path / "page.html").read_text(encoding="utf-8"))
    recall, precision = evaluation.summary["R50_micro"], evaluation.summary["P50_micro"]
    main = evaluation.summary["F50"]
    finds = f"it finds {100 * recall:.1f} % of the objects, and {100 * precision:.1f} % of its detections are right."
    assert f"answers has F50 {main:.3f}. At IoU 0.50, {finds}" in text
    assert "R50 recall 0.50 all all" in text
    assert "F50_micro F1 of all classes together 0.50 all all" in text
    assert "All detections count, at IoU 0.50." in text
    assert "The protocol does not read scores, so nothing depends on them." in text
    said = re.findall(r".{30}(?:score of at least|score threshold|highest F1|\bAP\b|\bAR\b|average recall).{30}", text)
    assert said == []


def test_each_number_says_its_own_threshold() -> None:
    evaluation = unscored()
    words = {one.key: one.words for one in evaluation.protocol.measures}
    assert "at IoU 0.50" in words["F50"]
    assert "at IoU 0.75" in words["P75"]
    assert "at {thresholds}" in words["R"]
