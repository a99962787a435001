"""Conditions on columns: what they mean, and that nothing in their text is ever run."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit.slices import Expression

COLUMNS: dict[str, Any] = {
    "weather": ["rain", "sun", "", "rain", "fog"],
    "speed": [50, 50, math.nan, 10, 31],
    "wet": [True, False, True, False, False],
    "time of day": ["a", "b", "c", "d", "e"],
    "lambda": [1, 2, 3, 4, 5],
    "\N{LATIN SMALL LIGATURE FI}\N{SUPERSCRIPT TWO}": [1, 2, 3, 4, 5],  # Python reads fi2
    "a b": [1, 2, 3, 4, 5],
}


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ('weather == "rain" and speed > 30', [0]),
        ("weather == 'rain'", [0, 3]),
        ('not weather == "rain"', [1, 4]),
        ('weather != "rain"', [1, 4]),
        ('weather in ("rain", "fog")', [0, 3, 4]),
        ('weather not in ["rain",]', [1, 4]),
        ("wet", [0, 2]),
        ("not wet", [1, 3, 4]),
        ("wet == false", [1, 3, 4]),
        ("(speed > 30) == wet", [0, 3]),
        ("0 < speed < 40", [3, 4]),
        ("0 < speed < 40 == 40", [3, 4]),
        ("10 <= speed <= 10", [3]),
        ("speed in (50, -1, 31)", [0, 1, 4]),
        ("speed * 2 - 1 >= 2 ** 3 ** 1 + 50", [0, 1, 4]),
        ("-2 ** 2 == -4 and speed == 10", [3]),
        ("speed // 20 == 2", [0, 1]),
        ("speed % 20 == 10", [0, 1, 3]),
        ("speed / 0 > 1", [0, 1, 3, 4]),
        ("speed - speed < (0 / 0)", []),
        ("`time of day` == 'b' or speed < 11", [1, 3]),
        ("not (speed > 40 or wet)", [3, 4]),
        ("speed > 40 or wet", [0, 1, 2]),  # true, although the speed is missing
        ("not (speed > 40) or not wet", [1, 3, 4]),
        ("9 ** 9 ** 9 ** 9 > speed", [0, 1, 3, 4]),  # infinite, not a number of a billion digits
        ("\n speed\t>30 ", [0, 1, 4]),
        ("+speed > +3e1", [0, 1, 4]),
        (".5 < speed < 5.e1", [3, 4]),
        ("lambda > 4", [4]),
        ("\N{LATIN SMALL LIGATURE FI}\N{SUPERSCRIPT TWO} > 3 and not lambda < `a b`", [3, 4]),
        ("007 < speed", [0, 1, 3, 4]),
        (r"weather != 'r\x61in'", [0, 1, 3, 4]),  # no escapes
        ("speed in ((50), (-1), +31,)", [0, 1, 4]),
        ("speed not\nin (50, 10)", [4]),
        ("speed in (50, 10) < 40", [3]),
    ],
)
def test_a_condition_chooses_rows(text: str, chosen: list[int]) -> None:
    assert np.flatnonzero(Expression(text).evaluate(COLUMNS)).tolist() == chosen


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("weather = 'x'", "character 9.*write == instead of ="),
        ("wet & wet", "write and instead of &"),
        ("wet && wet", "write and instead of &&"),
        ("wet || wet", "write or instead of"),
        ("!wet", "write not instead of !"),
        ("1 < ", "at the end: expected a name"),
        ("wet wet", "character 5"),
        ("(wet", r"expected \)"),
        ("wet)", "expected the end"),
        ('"a', "quote is not closed"),
        ("`a", "quote is not closed"),
        ("weather in 'rain'", "expected a list"),
        ("weather in ()", "list is empty"),
        ("weather in (speed)", "expected a number, a text"),
        ("weather in ('a' 'b')", "expected , or the end of the list"),
        ("weather in ('a']", "expected , or the end of the list"),
        ("weather in ['a' ']']", "expected , or the end of the list"),
        ("speed in (-'a')", "expected a number"),
        ("speed not 3", "not in belong together"),
        ("3x > 2", "followed by a letter"),
        ("1e999 > speed", "too large"),
        ("1" * 50 + " > speed", "at most 40 characters"),
        ("a" * 3000, "at most 2,000 characters"),
        ("(" * 50 + "wet" + ")" * 50, "more than 40 parts"),
        ("not " * 60 + "wet", "more than 40 parts"),
        ("-" * 300 + "1 < speed", "more than 40 parts"),
        ("-" * 1990 + "1 < speed", "more than 40 parts"),
        ("not " * 490 + "wet", "more than 40 parts"),
        ("speed in (" + "-" * 1900 + "1)", "more than 40 parts"),
        (("not " * 9 + "1 < -(") * 9 + "1", "expected [)]"),
        (("not " * 9 + "1 < -(") * 9 + "1" + ")" * 9, "more than 40 parts"),
        ("2 ** " * 60 + "1 < speed", "more than 40 parts"),
        ("speed > 1 or " * 110 + "wet", "more than 100 comparisons"),
        ("+".join(["1"] * 500) + "> speed", "more than 100 comparisons"),
        ("1 < " * 200 + "speed", "more than 100 comparisons"),
        # Attempts to break in.
        ("__import__('os').system('true')", "cannot be called"),
        ("speed.__class__", "a name cannot have a dot"),
        ("().__class__.__bases__", "expected a name"),
        ("wet[0]", "expected the end"),
        ("lambda: 1", "no meaning"),
        ("[x for x in (1,)]", "expected a name"),
        ("{1: 2}", "no meaning"),
        ("speed := 3", "no meaning"),
        ("f'{speed}' == 'a'", "expected the end"),
        ("weather == 'a' 'b'", "character 16.*expected the end"),
        ("weather == '''a'''", "character 14.*expected the end"),
        ("0x1F > speed", "followed by a letter"),
        ("1_000 > speed", "followed by a letter"),
        ("(speed, 1) == 3", r"character 7.*expected \)"),
        ("speed, wet", "character 6.*expected the end"),
        ("speed == not wet", "character 10.*expected a name"),
        ("speed in (speed for speed in (1,))", "expected , or the end of the list"),
        ("speed is 3", "character 7.*expected the end"),
        ("*speed > 3", "character 1.*expected a name"),
        ("(wet(speed))", "character 5.*'wet' cannot be called"),
        ("wet if wet else wet", "expected the end"),
        ("wet; wet", "no meaning"),
        ("wet\0", "no meaning"),
        ("'a\0' == weather", "quote is not closed"),
        ("wet # comment", "no meaning"),
        ("wet @ wet", "no meaning"),
        ("\N{ARABIC-INDIC DIGIT THREE} > speed", "no meaning"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Expression(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed", "character 1: expected something that is true or false, got a number"),
        ("wet and weather", "character 9: expected something that is true or false, got a text"),
        ("weather == 3", "character 9: a text cannot be compared with a number"),
        ("weather > 'a'", "> compares numbers, got a text"),
        ("wet < true", "< compares numbers, got a flag"),
        ("speed in (1, 'a')", "a number cannot be compared with a text"),
        ("wet + 1 > 0", "expected a number, got a flag"),
        ("-weather == 'a'", "expected a number, got a text"),
        ("sped > 30", "character 1: there is no column 'sped'; did you mean 'speed'"),
        ("__class__ == 1", "no column '__class__'"),
    ],
)
def test_values_that_do_not_fit_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Expression(text).evaluate(COLUMNS)


def test_columns_of_other_kinds_or_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same length, got 1, 2"):
        Expression("a > b").evaluate({"a": [1], "b": [1, 2]})
    with pytest.raises(ValueError, match="'a' must hold numbers, texts or booleans"):
        Expression("a > 1").evaluate({"a": np.array([1j])})
    with pytest.raises(ValueError, match=r"'a' must have the shape \(N,\)"):
        Expression("a > 1").evaluate({"a": [[1]]})
    with pytest.raises(TypeError, match="an expression is a text, got int"):
        Expression(3)  # type: ignore[arg-type]


def test_an_expression_is_a_value() -> None:
    assert Expression("wet") == Expression("wet") != Expression("not wet")
    assert len({Expression("wet"), Expression("wet")}) == 1
    assert repr(Expression("wet")) == "Expression('wet')"
    assert Expression("wet and (speed > 1 or wet)").names == ("wet", "speed")


@given(st.text(alphabet="()[]<>=!+-*/%.,'\"`_ andorti123456\0\x1bé\n", max_size=60) | st.text(max_size=60))
def test_any_text_is_a_condition_or_an_error(text: str) -> None:
    try:
        found = Expression(text).evaluate({"a": [1.0], "d": [True]})
    except ValueError:
        return
    assert found.dtype == np.bool_


NUMBERS = ["a", "b", "c"]
FLAGS = ["p", "q"]


def _numeric(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(NUMBERS) | st.integers(0, 5).map(str) | st.sampled_from(["0.5", "2.0"])
    if not depth:
        return leaf
    part = _numeric(depth - 1)
    return (
        leaf
        | st.builds("({} {} {})".format, part, st.sampled_from(["+", "-", "*", "/", "//", "%"]), part)
        | (st.builds("-{}".format, part))
    )


def _logical(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(FLAGS) | st.builds(
        "{} {} {}".format, _numeric(2), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _numeric(2)
    )
    leaf |= st.builds("{} <= {} < {}".format, _numeric(1), _numeric(1), _numeric(1))
    leaf |= st.builds("{} {} ({}, 1)".format, st.sampled_from(NUMBERS), st.sampled_from(["in", "not in"]), st.just("2"))
    if not depth:
        return leaf
    part = _logical(depth - 1)
    return (
        leaf
        | st.builds("({}) {} {}".format, part, st.sampled_from(["and", "or"]), part)
        | (st.builds("not ({})".format, part))
    )


@given(
    _logical(3), st.lists(st.tuples(*[st.integers(-3, 3)] * 3, st.booleans(), st.booleans()), min_size=1, max_size=6)
)
def test_a_condition_means_what_it_means_in_python(text: str, rows: list[Any]) -> None:
    columns = dict(zip([*NUMBERS, *FLAGS], map(list, zip(*rows, strict=True)), strict=True))
    columns |= {name: list(map(float, columns[name])) for name in NUMBERS}
    try:
        expression = Expression(text)
    except ValueError as error:  # the generated text may be longer than what is accepted
        assert "more than" in str(error)  # noqa: PT017
        return
    found = expression.evaluate(columns)
    for at, chosen in enumerate(found.tolist()):
        names = {name: values[at] for name, values in columns.items()}
        try:
            expected = eval(text, {"__builtins__": {}}, names)
        except ZeroDivisionError:
            continue
        assert chosen is expected


def _can_be(wanted: bool, node: Any, row: dict[str, Any]) -> bool:
    """Whether a condition can be true, or false, for one row; a value that is None is missing."""
    word, *parts = node
    if word == "not":
        return _can_be(not wanted, parts[0], row)
    if word in ("and", "or"):
        each = [_can_be(wanted, part, row) for part in parts]
        return all(each) if (word == "and") == wanted else any(each)
    name, sign, value = parts
    if row[name] is None:
        return False
    means = {"<": row[name] < value, ">=": row[name] >= value, "==": row[name] == value, "!=": row[name] != value}
    return means[sign] is wanted


def _written(node: Any) -> str:
    word, *parts = node
    if word == "not":
        return f"not ({_written(parts[0])})"
    if word in ("and", "or"):
        return f" {word} ".join(f"({_written(part)})" for part in parts)
    return "{} {} {}".format(*parts)


_CONDITION = st.recursive(
    st.tuples(st.just("?"), st.sampled_from(NUMBERS), st.sampled_from(["<", ">=", "==", "!="]), st.integers(0, 2)),
    lambda part: st.tuples(st.just("not"), part) | st.tuples(st.sampled_from(["and", "or"]), part, part, part),
    max_leaves=12,
)


@given(_CONDITION, st.lists(st.tuples(*[st.integers(0, 2) | st.none()] * 3), min_size=1, max_size=6))
def test_missing_values_make_no_comparison_true_or_false(node: Any, rows: list[Any]) -> None:
    columns = {
        name: np.array([math.nan if row[at] is None else row[at] for row in rows]) for at, name in enumerate(NUMBERS)
    }
    found = Expression(_written(node)).evaluate(columns)
    assert found.tolist() == [_can_be(True, node, dict(zip(NUMBERS, row, strict=True))) for row in rows]


_SIGNS = [
    "a",
    "1",
    "'x'",
    "and",
    "or",
    "not",
    "in",
    "(",
    ")",
    "[",
    "]",
    ",",
    "+",
    "-",
    "*",
    "**",
    "//",
    "<",
    "==",
    "!=",
]
_ALLOWED = (ast.Expression, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.Compare,
            ast.cmpop, ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List)  # fmt: skip


@given(st.lists(st.sampled_from(_SIGNS), max_size=14))
def test_what_is_accepted_is_an_expression_of_python(signs: list[str]) -> None:
    text = " ".join(signs)
    try:
        Expression(text)
    except ValueError as error:
        place = re.search(r", character (\d+), at ", str(error))
        assert place is not None
        assert 1 <= int(place[1]) <= len(text) + 1
    else:
        assert all(isinstance(node, _ALLOWED) for node in ast.walk(ast.parse(text, mode="eval")))


@given(st.lists(st.sampled_from(["(", "-", "not ", "a ** ", "+", "a in ("]), max_size=600), st.integers(41, 600))
def test_deep_texts_are_refused_before_python_reads_them(parts: list[str], repeated: int) -> None:
    text = "".join(parts)[:1000] + "(" * repeated + "a" + ")" * repeated
    with pytest.raises(ValueError, match="character"):
        Expression(text)
