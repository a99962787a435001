"""Reads the sentences of reasons back, and recomputes what they claim from the boxes by plain rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from viewer.plain_reasons import LEAST, plain_kind

if TYPE_CHECKING:
    from viewer.plain_reasons import Facts, Plain

__all__ = ["check_words_of_detection", "check_words_of_object"]

_NUMBER = r"-?\d[\d.]*(?:e-?\d+)?"
_MEASURE = rf"(?:IoU {_NUMBER}|{_NUMBER} of the detection lies in it)"
_OBJECT = r"[oO]bject \d+(?: \(\w+\))?"
_CLAUSE = rf"(?:{_OBJECT}(?: of its class)? has {_MEASURE} with it|{_NUMBER} of it lies in {_OBJECT}(?: of its class)?)"
_NEEDED = rf"a match needs (?:at least|more than) {_NUMBER}"
_TAKER = rf"(?:an earlier detection with the same score|a detection with a better score) \({_NUMBER}, {_MEASURE}\)"
_TOO_LOW = rf"its score {_NUMBER} is below the score threshold {_NUMBER}"
_LEAST = r"IoU 0\.10 or more with it"
_RULE = r"(?:it |its |only |nobody |not all )[^:]+"


def _sentences(*patterns: str) -> list[re.Pattern[str]]:
    return [re.compile(one) for one in patterns]


_OF_DETECTIONS = _sentences(
    rf"It matches (?P<one>{_OBJECT}): (?P<measure>{_MEASURE}), and (?P<needed>{_NEEDED})",
    rf"(?P<more>{_CLAUSE}), which is more, but (?:it is ignored, and objects that count come first|(?P<taker>{_TAKER}) "
    "matches that object)",
    rf"It matches (?P<one>{_OBJECT}) \((?P<measure>{_MEASURE})\), which does not count: {_RULE}",
    rf"A better detection matches (?P<one>{_OBJECT}) already, and further ones \((?P<measure>{_MEASURE})\) do not "
    "count",
    "It matches no object",
    f"It (?:matches no object, and )?does not count: (?:{_RULE}|(?P<low>{_TOO_LOW}))",
    rf"(?P<taken>{_CLAUSE}), but (?P<taker>{_TAKER}) matches that object",
    f"That object does not count: (?P<ignored>{_RULE})",
    r"An overlap of exactly the (?P<exactly>threshold) counts as a wrong place",
    "By this protocol, a detection matches its best object or none",
    rf"No object (?P<alike>of its class )?has (?P<none>{_LEAST})",
    r"No object that counts has IoU above (?P<background>0\.10) with it",
    rf"It lies on (?P<lies>{_OBJECT}), of another class: (?P<measure>{_MEASURE})(?:, and (?P<needed>{_NEEDED}))?",
    rf"The best of its class (?P<counts>that counts )?is (?P<best>{_OBJECT}): (?P<measure>{_MEASURE}), and "
    rf"(?P<needed>{_NEEDED})",
    rf"A detection with score (?P<score>{_NUMBER}) matches that object",
    rf"(?P<other>{_CLAUSE}), but that object is of another class",
)
_FOUND = rf"(?P<measure>{_MEASURE}), score (?P<score>{_NUMBER})"
_BEST = "The best detection of its class(?P<that_counts> that counts)?"
_OF_OBJECTS = _sentences(
    f"It does not count: {_RULE}",
    r"The (?:detection that matches it does|\d+ detections that match it do) not count either",
    rf"A detection with score (?P<score>{_NUMBER}) matches it: (?P<measure>{_MEASURE})",
    rf"A detection matches it \((?P<measure>{_MEASURE})\), but (?P<low>{_TOO_LOW})",
    rf"A detection of another class \((?P<class>\w+), score (?P<its_score>{_NUMBER}), (?P<its_measure>{_MEASURE})\) "
    rf"lies on it(?P<but>, but does not count: (?:{_RULE}|(?P<its_low>{_TOO_LOW})))?",
    rf"{_BEST} \({_FOUND}\) is not close enough: (?P<needed>{_NEEDED})",
    f"And it does not count: (?:{_RULE}|(?P<low>{_TOO_LOW}))",
    rf"It matches (?P<elsewhere>{_OBJECT})",
    rf"{_BEST} \({_FOUND}\) does not count: {_RULE}",
    rf"{_BEST} \({_FOUND}\) (?:matches|overlaps most with) (?P<elsewhere>{_OBJECT}): "
    rf"{_MEASURE}",
    f"Besides, (?P<low>{_TOO_LOW})",
    f"No detection (?P<alike>of its class )?has (?P<none>{_LEAST})",
)


def _parsed(words: str, patterns: list[re.Pattern[str]]) -> list[tuple[str, dict[str, str]]]:
    """Each sentence, which has to be one of those that are known, and its parts."""
    found = []
    assert words.endswith("."), words
    for sentence in words[:-1].split(". "):
        matches = [match for pattern in patterns if (match := pattern.fullmatch(sentence))]
        assert matches, sentence
        found.append((sentence, {name: part for name, part in matches[0].groupdict().items() if part}))
    return found


def _check_number(text: str, value: float) -> None:
    """It has at most four digits, and is right to the last of them."""
    decimals = len(text.partition(".")[2].partition("e")[0])
    assert decimals <= 4, text
    assert abs(float(text) - value) <= 10.0**-decimals * max(1.0, 10.0 if "e" in text else 1.0)


def _check_overlap(text: str, fact: Plain, threshold: float) -> None:
    """An IoU, or a share for a crowd, on the right side of 0, the threshold and 1."""
    number = re.findall(_NUMBER, re.sub(_OBJECT, "", text))[0]  # names of classes may be numbers, too
    assert ("lies in" in text) == fact.area, text
    _check_number(number, fact.iou)
    for limit in (0, threshold, 1):
        if abs(fact.iou - limit) > 1e-10:
            assert (float(number) < limit) == (fact.iou < limit), text
            assert (float(number) > limit) == (fact.iou > limit), text


def _place(facts: Facts, text: str, row: int) -> int:
    """The object that is named, with its class if it is not the detection's."""
    match = re.search(r"[oO]bject (\d+)(?: \((\w+)\))?", text)
    assert match, text
    place: int = facts.gt.ids.tolist().index(int(match[1]))
    category = int(facts.gt.category_ids[place])
    names = dict(zip(facts.gt.categories.ids.tolist(), facts.gt.categories.names, strict=True))
    assert match[2] == (None if category == facts.dt.category_ids[row] else names[category])
    return place


def _check_needed(facts: Facts, text: str, threshold: float, place: int) -> None:
    rules = [rule for rule in facts.protocol.ignored if rule.flag in facts.gt.flags]
    exceed = any(rule.more_than and facts.gt.flags[rule.flag][place] for rule in rules)
    assert ("more than" in text) == (facts.protocol.threshold == "more_than" or exceed)
    assert abs(float(text.rsplit(" ", 1)[1]) - threshold) < 1e-5


def _check_low(text: str, score: float, threshold: float) -> None:
    said, limit = re.findall(_NUMBER, text)
    assert float(said) < float(limit)
    _check_number(said, score)
    _check_number(limit, threshold)


def check_words_of_detection(facts: Facts, row: int, words: str, threshold: float) -> None:
    """Every sentence about a detection is true."""
    pairs = {place: fact for (one, place), fact in facts.pairs.items() if one == row and fact.iou >= LEAST}
    alike = {place: fact for place, fact in pairs.items() if fact.alike}
    score, named = float(facts.dt.scores[row]), -1
    for sentence, parts in _parsed(words, _OF_DETECTIONS):
        clause = next((parts[name] for name in ("one", "more", "taken", "lies", "best", "other") if name in parts), "")
        if clause:
            named = _place(facts, clause, row)
            _check_overlap(parts.get("measure", clause), pairs[named], threshold)
        if "needed" in parts:
            _check_needed(facts, parts["needed"], threshold, named)
        if "low" in parts:
            _check_low(parts["low"], score, facts.score)
        if "none" in parts:
            assert not (alike if "alike" in parts else pairs), sentence
        if "ignored" in parts:
            assert named in facts.ignored
        if "exactly" in parts:
            assert pairs[named].iou == pytest.approx(threshold, abs=1e-9)
        if {"best", "lies"} & parts.keys():
            after = words.partition(f"{sentence}. ")[2]
            assert after.startswith("That object does not count") == (named in facts.ignored), words
        if "background" in parts:
            assert all(fact.iou <= 0.1 for place, fact in pairs.items() if place not in facts.ignored)
        if {"more", "lies", "other", "best"} & parts.keys():
            _check_rank(facts, row, named, sentence, parts)
        if "score" in parts:
            scores = [float(facts.dt.scores[one]) for one in facts.took if facts.took[one] == named]
            assert any(abs(float(parts["score"]) - each) < 1e-3 for each in scores), sentence
        if "taker" in parts:
            _check_taker(facts, row, named, parts["taker"], threshold)


def _check_rank(facts: Facts, row: int, named: int, sentence: str, parts: dict[str, str]) -> None:
    """An object is the nearest one, or nearer than another, as the sentence says."""
    pairs = {place: fact for (one, place), fact in facts.pairs.items() if one == row and fact.iou >= LEAST}
    alike, others = ([fact for fact in pairs.values() if fact.alike == wanted] for wanted in (True, False))
    if "more" in parts:  # an IoU is more than an IoU, a share more than a share
        match = facts.found.matched[row]
        assert (pairs[named].area, pairs[named].meets) == (pairs[match].area, True)
        assert pairs[named].iou > pairs[match].iou
        assert named in facts.ignored or "ignored" not in sentence
    if "lies" in parts or "other" in parts:
        assert not pairs[named].alike
        # Objects that do not count are named only if no other one makes the kind of error.
        meant = [pairs[place] for place in plain_kind(facts, row, facts.threshold)[1]] if "lies" in parts else []
        close = [fact for fact in meant or others if fact.meets]
        if pairs[named].area:
            assert all(fact.area for fact in close), "a crowd is named, and another object is nearer"
        elif close:
            assert pairs[named].iou == max(fact.iou for fact in close if not fact.area)
    if "best" in parts:
        assert pairs[named].alike
        counted = [fact for place, fact in pairs.items() if fact.alike and place not in facts.ignored]
        alike = counted if "counts" in parts else alike
        if pairs[named].area:
            assert all(fact.area for fact in alike)
        assert pairs[named].iou == max(one.iou for one in alike if one.area == pairs[named].area)


def _check_taker(facts: Facts, row: int, place: int, text: str, threshold: float) -> None:
    """The best detection that takes an object is named, and is better than this one."""
    takers = [one for one, its in facts.found.matched.items() if its == place]
    best = max(takers, key=lambda one: float(facts.dt.scores[one]))
    said, _, measure = text.partition("(")[2].partition(", ")
    _check_number(said, float(facts.dt.scores[best]))
    _check_overlap(measure, facts.pairs[best, place], threshold)
    assert ("same score" in text) == (facts.dt.scores[best] == facts.dt.scores[row])
    assert facts.dt.scores[best] >= facts.dt.scores[row]


def check_words_of_object(facts: Facts, place: int, words: str, row: int, threshold: float) -> None:
    """Every sentence about an object is true; `row` is the detection that the reason is about, -1 for none."""
    near = {one: fact for (one, its), fact in facts.pairs.items() if its == place and fact.iou >= LEAST}
    pairs = {one: fact for one, fact in near.items() if one in facts.listed}
    for sentence, parts in _parsed(words, _OF_OBJECTS):
        if "measure" in parts:
            _check_overlap(parts["measure"], pairs[row], threshold)
        if "score" in parts:
            assert abs(float(parts["score"]) - float(facts.dt.scores[row])) < 1e-3
        if "needed" in parts:
            assert not pairs[row].meets
            _check_needed(facts, parts["needed"], threshold, place)
        if sentence.startswith("The best detection of its class") and row in facts.counted:
            higher = [one for one, fact in pairs.items() if fact.alike and fact.iou > pairs[row].iou + 1e-12]
            assert ("that_counts" in parts) == bool(higher), words
        if "low" in parts:
            _check_low(parts["low"], float(facts.dt.scores[row]), facts.score)
        if "none" in parts:
            assert not [one for one, fact in pairs.items() if fact.alike or "alike" not in parts], sentence
        if "class" in parts:
            _check_other_class(facts, pairs, parts, threshold)
        if "elsewhere" in parts:
            other = _place(facts, parts["elsewhere"], row)
            assert "most with" in sentence or facts.found.matched[row] == other


def _check_other_class(facts: Facts, pairs: dict[int, Plain], parts: dict[str, str], threshold: float) -> None:
    """A detection of another class overlaps an object most: of those that count, or if there is none, of the others."""
    names = dict(zip(facts.gt.categories.ids.tolist(), facts.gt.categories.names, strict=True))
    wrong = {one: fact for one, fact in pairs.items() if not fact.alike}
    counted = {one: fact for one, fact in wrong.items() if one in facts.counted}
    assert ("but" in parts) == (not counted)
    meant = [
        one
        for one, fact in (counted or wrong).items()
        if names[int(facts.dt.category_ids[one])] == parts["class"]
        and abs(float(parts["its_score"]) - float(facts.dt.scores[one])) < 1e-3
    ]
    assert meant
    if counted:
        assert max(fact.iou for fact in counted.values()) in {counted[one].iou for one in meant}
    _check_overlap(parts["its_measure"], max((wrong[one] for one in meant), key=lambda fact: fact.iou), threshold)
    if "its_low" in parts:
        _check_low(parts["its_low"], float(parts["its_score"]), facts.score)
