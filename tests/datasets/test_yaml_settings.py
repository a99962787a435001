"""Plain settings are read without PyYAML as PyYAML reads them, and all others are left to it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ioukit.datasets.formats.yaml_settings import plain_document

yaml = pytest.importorskip("yaml", reason="this compares with PyYAML: pip install 'ioukit[yolo]'")

PLAIN: list[tuple[str, Any]] = [
    (
        "train: ../train/images\nval: ../valid/images\n\nnc: 2\nnames: ['helmet', 'no helmet']\n",
        {"train": "../train/images", "val": "../valid/images", "nc": 2, "names": ["helmet", "no helmet"]},
    ),
    (
        "# a data set\npath: ../datasets/coco8  # its root\ntest:\nnames:\n  0: person\n  1: traffic light # red\n",
        {"path": "../datasets/coco8", "test": None, "names": {0: "person", 1: "traffic light"}},
    ),
    ("names:\n- ant\n- 'no'\nval: /data/val.txt\n", {"names": ["ant", "no"], "val": "/data/val.txt"}),
    ('names: {0: ant, 1: "a-b"}\r\nkpt_shape: [17, 3]\r\n', {"names": {0: "ant", 1: "a-b"}, "kpt_shape": [17, 3]}),
    ("roboflow:\n  url: https://example.org/a\n", {"roboflow": {"url": "https://example.org/a"}}),
]
OTHERS = [
    "names: [yes, No]", "names: [1e3, 2]", "names: [a: b]", "a: 010", "a: 1_0", "a: ~", "a: null", "a: 2024-01-01",
    "a: 1:30", "a: .5", "a: &x b", "a: *x", "a: !!str b", "a: |\n  b", "a: b\n  c", "a: 'b''c'", 'a: "\\u0041"',
    "<<: {a: b}", "a: [b,\n  c]", "a: {b}", "a:\n  b:\n    c: d", "a:\n - b\n  - c", "a:\n  b: c\n  - d", "---\na: b",
    "a: b\n...\n", "- a", "a", "", "a:\tb", "a: b: c", "a: [b, ]", "a: [[b]]", "a: C:/x, y", "a:\n- b: c", "é: \x85",
    "a: [b", "a: 'b", "a: - b", "a: 'b # c'",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_what_tools_write(text: str, expected: Any) -> None:
    assert plain_document(text) == yaml.safe_load(text) == expected


@pytest.mark.parametrize("text", OTHERS)
def test_what_may_mean_something_else_is_left_to_pyyaml(text: str) -> None:
    with pytest.raises(ValueError):
        plain_document(text)


def test_no_document_is_read_in_another_way() -> None:
    """Whatever pieces a document is made of: PyYAML reads the same, or it is not read."""
    draw, read = random.Random(1), 0
    pieces = [
        "names", "val", "a", "0", "1", "07", "no", "x y", "é", ": ", ":", "\n", "\n", "\n  ", "\n- ", "\n  - ", "  ",
        "[", "]", "{", "}", ", ", ",", "'", '"', " # c", "#", "../i/v", "https://e.org", "-", "~", "&", "\\", ".", "\t",
    ]  # fmt: skip
    lines = [
        "names: [a, 'b c', 1]",
        "val: x/y z",
        "names:",
        "  0: a b",
        "- 'no'",
        "  - x",
        "a: {0: b, 'c': d}",
        "#c",
        "",
    ]
    for _ in range(6000):
        text = "\n".join(draw.choices(lines, k=draw.randint(1, 4)))
        for _ in range(draw.randint(0, 3)):
            at = draw.randrange(len(text) + 1)
            text = text[:at] + draw.choice(pieces) + text[at + draw.randint(0, 1) :]
        try:
            found = plain_document(text)
        except ValueError:
            continue
        read += 1
        expected = yaml.safe_load(text)
        assert (found, list(found)) == (expected, list(expected)), text
        assert repr(found) == repr(expected), text
    assert read > 500
