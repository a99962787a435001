"""The text of an expression as a tree of nodes. Nothing of it is ever run as a program."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from ioukit.slices._nodes import Arithmetic, Both, Constant, Either, Member, Name, Negative, Node, Not, Ordered

__all__ = ["near_names", "parse"]

_LONGEST = 2000
"""The most characters of an expression."""

_DEEPEST = 40
"""The most parts that may stand within each other."""

_MOST_STEPS = 100
"""The most comparisons, steps of arithmetic, and words such as ``and``."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*)
  | `(?P<quoted>[^`\x00-\x1f]+)`
  | (?P<text>"[^"\x00-\x1f]*"|'[^'\x00-\x1f]*')
  | (?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%<>()\[\],])
    )""",
    re.VERBOSE,
)
_WORDS = ("and", "or", "not", "in")
_TRUTHS = {"True": True, "true": True, "False": False, "false": False}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_INSTEAD = {"=": "==", "&": "and", "&&": "and", "|": "or", "||": "or", "!": "not", "~": "not", "<>": "!=", "^": "**"}
_DIGITS = 40


class _Token(NamedTuple):
    kind: str
    """``"number"``, ``"name"``, ``"text"``, ``"word"``, ``"sign"`` or ``"end"``."""
    text: str
    """What it says: the name or text without quotes."""
    at: int
    """Its position in the expression."""


def parse(text: str) -> Node:
    """The tree of an expression.

    Raises:
        ValueError: If it is no expression. The message has the position, from 1.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"an expression must have at most {_LONGEST:,} characters, got {len(text):,}")
    return _Parser(text).whole()


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            _refuse_character(text, at)
        kind = str(found.lastgroup)
        said, start = found[kind], found.start(kind)
        if kind == "number" and len(said) > _DIGITS:
            _refuse(text, start, f"a number must have at most {_DIGITS} characters")
        if kind == "number" and math.isinf(float(said)):
            _refuse(text, start, "the number is too large")
        if kind == "number" and re.match(r"\w", text[found.end() :]):
            _refuse(text, start, "a number cannot be followed by a letter")
        if kind == "text":
            said = said[1:-1]
        if kind == "quoted":
            kind, start = "name", start - 1
        elif kind == "name" and said in _WORDS:
            kind = "word"
        yield _Token(kind, said, start)
        at = found.end()
    yield _Token("end", "", len(text))


def _refuse(text: str, at: int, problem: str) -> NoReturn:
    near = text[at : at + 20]
    where = f"at {near!r}" if near else "at the end"
    raise ValueError(f"expression {_shortened(text)!r}, character {at + 1}, {where}: {problem}")


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


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Parser:
    """Reads an expression from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = next(self._tokens)
        self._depth = self._steps_read = 0

    def whole(self) -> Node:
        if self._next.kind == "end":
            _refuse(self._text, 0, "the expression is empty")
        found = self._either()
        if self._next.kind != "end":
            if self._next.text == "(" and isinstance(found, Name):
                self._refuse(f"{found.name!r} cannot be called: there are no functions")
            self._refuse("expected the end, or one of and, or, a comparison, or + - * / // % **")
        return found

    def _refuse(self, problem: str) -> NoReturn:
        _refuse(self._text, self._next.at, problem)

    def _take(self) -> _Token:
        token = self._next
        self._next = next(self._tokens, token)
        return token

    def _count(self) -> None:
        """A comparison, a step of arithmetic or a word was read: a long chain of them makes a deep tree."""
        self._steps_read += 1
        if self._steps_read > _MOST_STEPS:
            self._refuse(f"more than {_MOST_STEPS} comparisons, steps of arithmetic, and words such as `and`")

    def _takes(self, *texts: str) -> bool:
        """Take the next token if it is one of these words or signs."""
        if self._next.kind not in ("word", "sign") or self._next.text not in texts:
            return False
        self._take()
        return True

    def _deeper(self, read: Callable[[], Node]) -> Node:
        """A part within a part."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self._refuse(f"more than {_DEEPEST} parts stand within each other")
        found = read()
        self._depth -= 1
        return found

    def _either(self) -> Node:
        found = self._both()
        while self._takes("or"):
            self._count()
            found = Either(found, self._both())
        return found

    def _both(self) -> Node:
        found = self._negation()
        while self._takes("and"):
            self._count()
            found = Both(found, self._negation())
        return found

    def _negation(self) -> Node:
        return Not(self._deeper(self._negation)) if self._takes("not") else self._comparison()

    def _comparison(self) -> Node:
        left, at = self._sum(), self._next.at
        compared: Node | None = None
        while True:
            token = self._next
            if token.kind == "sign" and token.text in _COMPARISONS:
                self._take()
                right = self._sum()
                step: Node = Ordered(token.text, left, right, at)
                left = right
            elif token.kind == "word" and token.text in ("in", "not"):
                self._take()
                if token.text == "not" and not self._takes("in"):
                    self._refuse("expected in: the words not in belong together")
                member = Member(left, self._list(), at)
                step = Not(member) if token.text == "not" else member
            else:
                return left if compared is None else compared
            self._count()
            compared, at = step if compared is None else Both(compared, step), self._next.at

    def _list(self) -> tuple[Constant, ...]:
        end = {"(": ")", "[": "]"}.get(self._next.text, "")
        if not self._takes("(", "["):
            self._refuse('expected a list of values, such as ("rain", "snow")')
        found: list[Constant] = []
        while not self._takes(end):
            negative = self._takes("-")
            at = self._next.at
            value = self._atom()
            if not isinstance(value, Constant):
                _refuse(self._text, at, "expected a number, a text in quotes, true or false")
            if negative:
                if not isinstance(value.value, float):
                    _refuse(self._text, at, "expected a number")
                value = Constant(-value.value, at)
            found.append(value)
            if not self._takes(",") and self._next[:2] != ("sign", end):
                self._refuse("expected , or the end of the list")
        if not found:
            self._refuse("the list is empty")
        return tuple(found)

    def _sum(self) -> Node:
        return self._steps(("+", "-"), lambda: self._steps(("*", "/", "//", "%"), self._factor))

    def _steps(self, signs: tuple[str, ...], read: Callable[[], Node]) -> Node:
        found = read()
        while self._next.kind == "sign" and self._next.text in signs:
            token = self._take()
            self._count()
            found = Arithmetic(token.text, found, read(), token.at)
        return found

    def _factor(self) -> Node:
        at = self._next.at
        if self._takes("-"):
            return Negative(self._deeper(self._factor), at)
        if self._takes("+"):
            return self._deeper(self._factor)
        base, at = self._atom(), self._next.at
        return Arithmetic("**", base, self._deeper(self._factor), at) if self._takes("**") else base

    def _atom(self) -> Node:
        token = self._next
        if self._takes("("):
            found = self._deeper(self._either)
            if not self._takes(")"):
                self._refuse("expected )")
            return found
        if token.kind == "number":
            self._take()
            return Constant(float(token.text), token.at)
        if token.kind == "text":
            self._take()
            return Constant(token.text, token.at)
        if token.kind != "name":
            self._refuse("expected a name, a number or a text in quotes")
        self._take()
        if token.text in _TRUTHS and self._text[token.at] != "`":
            return Constant(_TRUTHS[token.text], token.at)
        return Name(token.text, token.at)


def near_names(name: str, known: list[str]) -> str:
    """The end of a message about a name that is unknown: similar names, or all."""
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"; did you mean {' or '.join(map(repr, close))}?"
    return f"; there are {', '.join(sorted(known))}" if known else "; there are none"
