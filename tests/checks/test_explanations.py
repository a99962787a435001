"""`explain`: every code that a rule can write has one explanation, and the page has the same table."""

from __future__ import annotations

import ast
import itertools
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from ioukit.checks import rules
from ioukit.checks.explanations import FAULTS, explain, table
from ioukit.checks.repairs.boxes import FORMATS, TURNS
from support.command import run_here
from support.paths import ROOT

# What the holes of codes are filled with, by the expression in the hole.
HOLES = {
    "side": ("detections", "ground_truth"),
    "repair.side": ("detections", "ground_truth"),
    "place.code": (
        *TURNS,
        "other_sides",
        "moved",
        "turned",
        "crosswise",
        "begin_elsewhere",
        "end_elsewhere",
        "begin_and_end_elsewhere",
    ),
    "how": ("percent", "logits"),
    "how.replace('-', '_')": ("other_sense", "degrees", "radians", "quarter_turn"),
    "name": ("detections", "annotations"),
    "finding.code": ("looks_like_xyxy", "looks_like_yxyx", "looks_like_cxcywh", "normalized_not_declared"),
    "code": (*FORMATS, "fractions", "fractions_cxcywh", "scaled_twice"),
}
PASSED_ON = {  # codes that a rule hands to a function which writes the finding
    "repeats.py": ("detections_of_several_classes", "detections_of_several_images"),
    "images.py": ("train_images_by_name", "train_images_by_content"),
    "readings.py": (),  # those that call it name the code
}


def written(code: ast.expr, file: str) -> list[str]:
    """All codes that an expression can be."""
    if isinstance(code, ast.Constant):
        return [str(code.value)]
    if isinstance(code, ast.IfExp):
        return [*written(code.body, file), *written(code.orelse, file)]
    if isinstance(code, ast.JoinedStr):
        parts = [
            HOLES[ast.unparse(part.value)] if isinstance(part, ast.FormattedValue) else (ast.literal_eval(part),)
            for part in code.values
        ]
        return ["".join(words) for words in itertools.product(*parts)]
    assert ast.unparse(code) == "code", ast.unparse(code)
    return list(PASSED_ON[file])


def all_codes() -> set[str]:
    codes = set()
    for path in Path(rules.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Suspicion":
                codes.update(written(call.args[0], path.name))
            elif isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".suspicion"):
                codes.update(written(call.args[2], path.name))
            elif isinstance(call, ast.Call) and ast.unparse(call.func) == "dataclasses.replace":
                given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
                codes.update(code for value in given for code in written(value, path.name))
        assert all(f'"{code}"' in text for code in PASSED_ON.get(path.name, ()))
    return codes


def test_every_code_has_one_explanation_and_no_explanation_is_left_over() -> None:
    codes = all_codes()
    assert len(codes) >= 80
    assert {explain(code) for code in codes} == set(FAULTS)
    patterns = [pattern for fault in FAULTS for pattern in fault.codes]
    assert [pattern for pattern in patterns if not any(fnmatchcase(code, pattern) for code in codes)] == []
    exact = [pattern for pattern in patterns if "*" not in pattern]
    assert [explain(pattern).title for pattern in exact] == [
        fault.title for fault in FAULTS for pattern in fault.codes if "*" not in pattern
    ]


def test_the_page_has_the_table() -> None:
    assert table() in (ROOT / "docs" / "check.md").read_text(encoding="utf-8")


def test_the_command_explains_without_files() -> None:
    said = run_here("check", "--explain", "scores_all_equal")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(
        "Scores equal, rounded, or of few values\nlooks like:  AP may depend on the order of the file\n"
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [("nms_mising", "did you mean 'nms_missing'?"), ("colours", "docs/check.md lists them")],
)
def test_an_unknown_code_is_an_error_with_a_near_one(code: str, said: str) -> None:
    answer = run_here("check", "--explain", code)
    assert (answer.code, answer.out) == (2, "")
    assert f"no finding has the code {code!r}" in answer.err
    assert said in " ".join(answer.err.split())
