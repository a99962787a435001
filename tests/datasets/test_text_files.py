"""Text, JSON and XML that nobody has checked yet."""

from __future__ import annotations

import contextlib
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - examples have no deadline
from ioukit import DatasetError
from ioukit.datasets.formats.text_files import (
    abbreviate,
    inside,
    member,
    numbers,
    parse_json,
    parse_json_line,
    parse_xml,
    read_json,
    read_lines,
    read_text,
    read_xml,
    to_number,
)
from support.malformed import DEEP, refused

if TYPE_CHECKING:
    from pathlib import Path


@given(st.floats(-(2.0**53), 2.0**53))
def test_a_number_keeps_its_bits(value: float) -> None:
    assert math.copysign(1, to_number(repr(value), "x")) == math.copysign(1, value)
    assert to_number(repr(value), "x") == to_number(value, "x") == value


@pytest.mark.parametrize("text", ["7", "-7", "7.0", "+7", " 7 ", "7e0", "07"])
def test_spellings_of_numbers(text: str) -> None:
    assert abs(to_number(text, "x", whole=True)) == 7


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "nan", "NaN", "inf", "-Infinity", "1e999", "1_000", "0x10", "٣", "1,5", "1\0", "9" * 5000),
        *(None, True, math.nan, math.inf, -math.inf, 10**400, 2**53 + 2, [], {}, b"7"),
    ],
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(DatasetError, match=r"^a\.txt: line 3: expected a number, found ."):
        to_number(value, "a.txt: line 3")


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ("1.5", {"whole": True}, r"expected a whole number, found '1\.5'"),
        (-1, {"lowest": 0}, "expected a number of at least 0, found -1"),
        (2, {"lowest": 0, "highest": 1}, "expected a number from 0 to 1, found 2"),
        ("7.5", {"lowest": 1, "highest": 9, "whole": True}, "expected a whole number from 1 to 9, found '7.5'"),
    ],
)
def test_limits_of_numbers(value: Any, options: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=f"^here: {message}$"):
        to_number(value, "here", **options)


def test_lists_of_numbers() -> None:
    assert numbers([1, "2.5"], ["x", "y"], "here") == [1, 2.5]
    with pytest.raises(DatasetError, match=r"^here\[1\] \(y\): expected a number, found '2\.5'$"):
        numbers([1, "2.5"], ["x", "y"], "here", text=False)
    for value in ([1], [1, 2, 3], "12", None, 7, {"x": 1, "y": 2}):
        with pytest.raises(DatasetError, match=r"^here: expected \[x, y\], found "):
            numbers(value, ["x", "y"], "here")
    with pytest.raises(DatasetError, match=r"^here\[1\] \(y\): expected a number, found null|nothing$"):
        numbers([1, None], ["x", "y"], "here")


def test_members_of_objects() -> None:
    record: dict[str, Any] = {"a": "text", "b": [1], "c": {}, "d": False}
    for name, good in (("a", str), ("b", list), ("c", dict), ("d", bool)):
        assert member(record, name, good, "here") == record[name]
    assert member(record, "a", (str, list), "here") == "text"
    for name, kind, message in (
        ("a", list, r"here\.a: expected a list, found 'text'"),
        ("b", (str, dict), r"here\.b: expected text or an object, found \[1\]"),
        ("e", bool, r"here\.e: expected true or false, found nothing"),
    ):
        with pytest.raises(DatasetError, match=f"^{message}$"):
            member(record, name, kind, "here")
    with pytest.raises(DatasetError, match=r"^here: expected an object, found \[\]$"):
        member([], "a", str, "here")


@pytest.mark.parametrize("value", ["x" * 500, list(range(1000)), {"a": "é" * 300}, 10**4000, object(), "line\nbreak"])
def test_messages_stay_short(value: Any) -> None:
    assert len(abbreviate(value)) <= 60
    assert "\n" not in abbreviate(value)


def test_text_is_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffé\r\nb\x0bc\u2028d\n\ne\rf".encode())
    assert read_lines(path) == ["é", "b\x0bc\u2028d", "", "e\rf"]
    path.write_bytes(b"a\nb\n\xe9")
    with pytest.raises(DatasetError, match=r"a\.txt: line 3: expected text in UTF-8, found the byte 0xe9$"):
        read_text(path)
    with pytest.raises(DatasetError, match="expected a file, found a folder"):
        read_text(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "nothing")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_json_is_that_of_python(value: Any) -> None:
    assert parse_json(json.dumps(value), "here") == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n "a": [1,\n 2', r"line 3, column 3: expected JSON, found something else"),
        ("", "line 1, column 1: expected JSON"),
        ("[1] [2]", "line 1, column 5: expected JSON, found something else: Extra data"),
        ("[nan]", "line 1, column 2: expected JSON"),
        ("[" * DEEP + "]" * DEEP, "expected JSON, found lists or objects that are nested too deeply"),
        ('{"a":' * DEEP + "1" + "}" * DEEP, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "expected JSON, found something else"),
    ],
)
def test_bad_json_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DatasetError, match=rf"a\.json: .*{message}"):
        read_json(path)


def test_a_line_of_json_has_columns() -> None:
    assert parse_json_line('{"é": 1}\r\n'.encode(), "a: line 3") == {"é": 1}
    for content, message in (
        (b'{"a": }', "a: line 3, column 7: expected JSON, found something else: Expecting value"),
        (b'{"a": "\xff"}', "a: line 3, column 8: expected text in UTF-8, found the byte 0xff"),
        (b"[" * DEEP, "a: line 3: expected JSON, found lists or objects that are nested too deeply"),
    ):
        assert refused(parse_json_line, content, "a: line 3") == message


def test_xml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes('<?xml version="1.0"?><a><!-- c --><b d="&amp;é">x<![CDATA[<y>]]></b><b/></a>'.encode())
    root = read_xml(path, "a")
    assert [(one.tag, one.text, dict(one.attrib)) for one in root] == [("b", "x<y>", {"d": "&é"}), ("b", None, {})]
    path.write_bytes("<a>é</a>".encode("utf-16"))
    assert read_xml(path, "a").text == "é"
    path.write_bytes(b"\xef\xbb\xbf<a/>")
    assert read_xml(path, "a").tag == "a"
    with pytest.raises(DatasetError, match="expected a file, found a folder"):
        read_xml(tmp_path, "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected XML, found something else: no element found"),
        ("<a>\n<b></a>", "line 2: expected XML, found something else: mismatched tag"),
        ("\n<b/>", "line 2: expected the element <a>, found <b>"),
        ("<a>" * 200 + "</a>" * 200, "expected elements that are nested at most 100 deep, found deeper ones"),
        ("<a>" + "<b>" * DEEP + "</b>" * DEEP + "</a>", "nested at most 100 deep"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "expected XML without a document type, found <!DOCTYPE a>"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "expected XML without a document type"),
        ("<a>&b;</a>", "undefined entity"),
        ('<?xml version="1.0" encoding="no-such"?><a/>', "expected XML, found something else"),
        ("<a>\0</a>", "expected XML, found something else"),
        ("<a/><a/>", "junk after document element"),
    ],
)
def test_bad_xml_is_refused(text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=rf"^a\.xml: .*{message}"):
        parse_xml(text.encode(), "a", "a.xml")


@given(st.binary(max_size=40) | st.text(alphabet="<a/>&b; ='\"!?[]-xmlDOCTYPE\n", max_size=40).map(str.encode))
def test_no_bytes_crash_the_parsers(content: bytes) -> None:
    with contextlib.suppress(DatasetError):
        parse_xml(content, "a", "a.xml")
    with contextlib.suppress(DatasetError):
        parse_json(content.decode("latin-1"), "a.json")


def test_named_paths_stay_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.jpg").touch()
    (folder / "link").symlink_to(folder / "images")
    (folder / "out").symlink_to(tmp_path)
    (folder / "round").symlink_to(folder / "round")
    for named in ("images/a.jpg", "images\\a.jpg", "./images/a.jpg", "link/a.jpg", "nothing.jpg", "a..b/c.jpg", "..a"):
        assert inside(folder, named, "here").is_relative_to(folder)
    outside = ("/etc/passwd", "../data/a", "images/../../x", "..\\x", "C:\\x", "c:/x", "\\\\host\\x", "..")
    for named in (*outside, "", "a\0b"):
        with pytest.raises(DatasetError, match=r"^here: expected a path inside the folder of the data set, found "):
            inside(folder, named, "here")
    with pytest.raises(DatasetError, match=r"found a link out of it, 'out/secret\.txt'"):
        inside(folder, "out/secret.txt", "here")
    for named in ("x" * 251, "図" * 84, "a/" * 1500, "\ud800"):
        with pytest.raises(DatasetError, match=r"^here: expected a path that a file can have, found "):
            inside(folder, named, "here")
    with pytest.raises(OSError, match="symbolic links"):
        read_text(inside(folder, "round/a.jpg", "here"))


@given(st.text(max_size=30))
def test_no_name_leaves_the_folder(tmp_path_factory: pytest.TempPathFactory, named: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        place = inside(folder, named, "here")
    except DatasetError:
        return
    assert place.resolve().is_relative_to(folder.resolve())
