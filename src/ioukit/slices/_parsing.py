"""The text of an expression as a tree of steps. Nothing of it is ever run as a program.

Owns the characters, words and signs of an expression, what may follow what, and the limits, so that every error has
its place. Does not own what belongs to what, which is Python's grammar (`ast.parse`), nor what a step means
(``expression.py``).

Python reads ``x`` in place of every name, number and text. So its keywords, escapes, prefixes and joined texts have no
meaning here, and names may have any letters. What Python would refuse is refused before Python reads it, because the
places and words of its errors differ between versions.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

# The limits are choices: more than people write by hand, and far less than what makes Python's parser overflow the
# stack of a thread.
_LONGEST = 2000
"""The most characters of an expression."""

_DEEPEST = 40
"""The most parts that may stand within each other."""

_MOST_STEPS = 100
"""The most of `_COUNTED`."""

_COUNTED = "comparisons, steps of arithmetic, and words such as `and`"

_DIGITS = 40
"""The most characters of a number."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<not_in>not\s+in)(?!\w)
  | (?P<name>[^\W\d]\w*)
  | (?P<quoted>`[^`\x00-\x1f]+`)
  | (?P<text>"[^"\x00-\x1f]*"|'[^'\x00-\x1f]*')
  | (?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%<>()\[\],])
    )""",
    re.VERBOSE,
)
_TRUTHS = {"True": True, "true": True, "False": False, "false": False}
_SIGNS = ("and", "or", "in", "not in", "<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "//", "%", "**")
_INSTEAD = {"=": "==", "&": "and", "&&": "and", "|": "or", "||": "or", "!": "not", "~": "not", "^": "**"}
_LISTED = ("in", "not in")
_CLOSING = {"(": ")", "[": "]"}
_VALUE_ENDS = ("x", ")", "]")
_EXPECTED = {"": "the end, or one of and, or, a comparison, or + - * / // % **", ")": ")"}


@dataclass(frozen=True)
class Step:
    """A value, or what is done with other steps."""

    sign: str
    """``"value"``, ``"name"`` of a column, or a sign or a word, such as ``"<"``, ``"in"``, ``"and"``."""
    at: int
    """Its position in the expression."""
    parts: tuple[Step, ...] = ()
    """What it is done with: one part is a negative number, and ``"in"`` has the values of the list behind the first."""
    value: float | str | bool = ""
    """The value, or the name of the column."""


class _Token(NamedTuple):
    sign: str
    """A sign, ``and``, ``or``, ``not``, ``in`` or ``not in``, or ``start``, ``end`` or ``x`` for a value or a name."""
    at: int
    step: Step | None = None
    """The value or the name."""


def parse(text: str) -> Step:
    """The tree of an expression.

    Raises:
        ValueError: If it is no expression. The message has the position, from 1.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"an expression must have at most {_LONGEST:,} characters, got {len(text):,}")
    return _Tree(text).step


class _Tree:
    """Makes steps of the tree that Python makes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_checked_tokens(text))
        _check_limits(text, self._tokens)
        self._number: dict[int, int] = {}
        """The number of the token that begins at a place of the program that Python reads."""
        program = ""
        for number, token in enumerate(self._tokens):
            self._number[len(program)] = number
            program += f"{token.sign} "
        self.step = self._step(ast.parse(program, mode="eval").body)

    def _token(self, node: ast.expr) -> _Token:
        return self._tokens[self._number[node.col_offset]]

    def _sign_before(self, node: ast.expr) -> _Token:
        """The sign of a step, whose last part this is."""
        number = self._number[node.col_offset] - 1
        while self._tokens[number].sign == "(":
            number -= 1
        return self._tokens[number]

    def _step(self, node: ast.expr) -> Step:
        token = self._token(node)
        match node:
            case ast.Name() if token.step:
                return token.step
            case ast.UnaryOp(op=op, operand=operand):
                part = self._step(operand)
                return part if isinstance(op, ast.UAdd) else Step(token.sign, token.at, (part,))
            case ast.BinOp(left=left, right=right):
                sign, at, _ = self._sign_before(right)
                return Step(sign, at, (self._step(left), self._step(right)))
            case ast.BoolOp(values=values):
                sign, at, _ = self._sign_before(values[1])
                return Step(sign, at, tuple(self._step(value) for value in values))
            case ast.Compare(left=left, comparators=comparators):
                parts = []
                for right in comparators:
                    sign, at, _ = self._sign_before(right)
                    if sign in _LISTED:
                        values = right.elts if isinstance(right, ast.Tuple | ast.List) else [right]
                        member = Step("in", at, (self._step(left), *map(self._constant, values)))
                        parts.append(member if sign == "in" else Step("not", at, (member,)))
                    else:
                        parts.append(Step(sign, at, (self._step(left), self._step(right))))
                        left = right
                return parts[0] if len(parts) == 1 else Step("and", token.at, tuple(parts))
        raise ValueError(f"expression {self._text!r}, character {token.at + 1}: this has no meaning here")

    def _constant(self, node: ast.expr) -> Step:
        """A value in a list."""
        found = self._step(node)
        inner = found.parts[0] if found.sign == "-" and len(found.parts) == 1 else found
        if inner.sign != "value":
            _refuse(self._text, self._token(node).at, "expected a number, a text in quotes, true or false")
        if inner is found:
            return found
        if not isinstance(inner.value, float):
            _refuse(self._text, inner.at, "expected a number")
        return Step("value", inner.at, value=-inner.value)


def _checked_tokens(text: str) -> Iterator[_Token]:
    """The tokens of an expression; the first one that cannot follow the one before it raises."""
    before = _Token("start", 0)
    brackets: list[str] = []  # what closes each open bracket, behind a comma if it is a list
    for token in _tokens(text):
        sign = token.sign
        around = brackets[-1] if brackets else ""
        if before.sign in _VALUE_ENDS:
            fits = sign in (*_SIGNS, *around) or (sign == "end" and not around)
        elif before.sign in _LISTED:
            fits = sign in _CLOSING
        else:
            fits = sign in ("x", "(", "-", "+")
            fits |= sign == "not" and before.sign in ("start", "(", "not", "and", "or")
            fits |= sign in _VALUE_ENDS and before.sign == "," and sign in around
        if not fits:
            _refuse_token(text, before, token, around)
        if sign in _CLOSING:
            brackets.append("," * (before.sign in _LISTED) + _CLOSING[sign])
        elif sign in _CLOSING.values():
            brackets.pop()
        if sign != "end":
            yield token
        before = token


def _refuse_token(text: str, before: _Token, token: _Token, around: str) -> NoReturn:
    sign, at, _ = token
    problem = "expected a name, a number or a text in quotes"
    if before.sign == "start" and sign == "end":
        at, problem = 0, "the expression is empty"
    elif before.sign in _LISTED:
        problem = 'expected a list of values, such as ("rain", "snow")'
    elif before.sign in _CLOSING and "," in around and sign in around:
        problem = "the list is empty"
    elif before.step and before.step.sign == "name" and sign == "(":
        problem = f"{before.step.value!r} cannot be called: there are no functions"
    elif before.sign in _VALUE_ENDS and sign == "not":
        problem = "expected in: the words not in belong together"
    elif before.sign in _VALUE_ENDS:
        problem = f"expected {_EXPECTED.get(around, ', or the end of the list')}"
    _refuse(text, at, problem)


def _check_limits(text: str, tokens: list[_Token]) -> None:
    """Raise `ValueError` if there are too many steps, or too many parts within each other.

    Every bracket, ``not``, sign of a number and ``**`` begins a part. ``and``, ``or`` and commas end all parts but the
    brackets, which leaves the depth ``base``. Other signs end all but the brackets and ``not``, which leaves ``held``.
    """
    base = held = depth = steps = 0
    outside: list[tuple[int, int, int]] = []
    before = ""
    for token in tokens:
        sign = token.sign
        if sign in _CLOSING:
            outside.append((base, held, depth))
            base = held = depth = depth + 1
        elif sign in _CLOSING.values():
            base, held, depth = outside.pop()
        elif sign == "**" or (sign != "x" and before not in _VALUE_ENDS):
            depth += 1
            held = depth if sign == "not" else held
        elif sign != "x":
            depth = held = base if sign in ("and", "or", ",") else held
            steps += sign != ","
        if depth > _DEEPEST:
            _refuse(text, token.at, f"more than {_DEEPEST} parts stand within each other")
        if steps > _MOST_STEPS:
            _refuse(
                text, token.at, f"more than {_MOST_STEPS} comparisons, steps of arithmetic, and words such as `and`"
            )
        before = sign


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            _refuse_character(text, len(text) - len(text[at:].lstrip()))
        kind = str(found.lastgroup)
        said, start = found[kind], found.start(kind)
        at = found.end()
        if kind == "sign" or said in ("and", "or", "not", "in"):
            yield _Token(said, start)
        elif kind == "not_in":
            yield _Token("not in", start)
        elif kind == "number":
            if len(said) > _DIGITS:
                _refuse(text, start, f"a number must have at most {_DIGITS} characters")
            if math.isinf(float(said)):
                _refuse(text, start, "the number is too large")
            if re.match(r"\w", text[at:]):
                _refuse(text, start, "a number cannot be followed by a letter")
            yield _Token("x", start, Step("value", start, value=float(said)))
        elif kind == "text":
            yield _Token("x", start, Step("value", start, value=said[1:-1]))
        elif said in _TRUTHS:
            yield _Token("x", start, Step("value", start, value=_TRUTHS[said]))
        else:
            yield _Token("x", start, Step("name", start, value=said.strip("`")))
    yield _Token("end", len(text))


def _refuse(text: str, at: int, problem: str) -> NoReturn:
    near = text[at : at + 20]
    where = f"at {near!r}" if near else "at the end"
    shortened = text if len(text) <= 60 else f"{text[:57]}..."
    raise ValueError(f"expression {shortened!r}, character {at + 1}, {where}: {problem}")


def _refuse_character(text: str, at: int) -> NoReturn:
    for length in (2, 1):
        instead = _INSTEAD.get(text[at : at + length])
        if instead is not None:
            _refuse(text, at, f"write {instead} instead of {text[at : at + length]}")
    if text[at] in "\"'`":
        _refuse(text, at, "the quote is not closed")
    if text[at] == ".":
        _refuse(text, at, "a name cannot have a dot; write a name with other characters in `backquotes`")
    _refuse(text, at, "this character has no meaning here")
