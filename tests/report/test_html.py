"""Pages that ask for nothing and let nothing in."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import sys
from typing import Any

import pytest

from ioukit.report import _html

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

TEMPLATE = (
    '<meta http-equiv="Content-Security-Policy" content="{{ policy }}"><style>{{ style }}</style>'
    '<h1>{{ title }}</h1><script type="application/json" id="data">{{ data }}</script><script>{{ script }}</script>'
)
EVIL = "</script><script>alert(1)</script><!-- & \u2028 \u2029 '\" \N{PILE OF POO}"


def made(**changes: Any) -> str:
    arguments: dict[str, Any] = {"css": "p { color: red }", "js": "let a = 1 && 2 < 3;", "data": [1], "title": "A"}
    return _html.page(TEMPLATE, **{**arguments, **changes})


def test_the_policy_has_the_hashes_of_what_stands_there() -> None:
    page = made()
    (policy,) = re.findall(r'content="(.*?)"', page)
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page)
        expected = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        # An attribute has quotes and plus signs escaped, which the browser reads back.
        assert f"{tag}-src &#39;sha256-{expected}&#39;" in policy
    assert policy.startswith("default-src &#39;none&#39;; ")
    assert "unsafe" not in policy


def test_data_come_back_and_cannot_leave_their_element() -> None:
    page = made(data={EVIL: [EVIL, None, 1.5]}, title=EVIL)
    (text,) = re.findall(r'id="data">(.*?)</script>', page)
    assert json.loads(text) == {EVIL: [EVIL, None, 1.5]}
    assert not set("<>&\u2028\u2029") & set(text)
    assert page.count("<script") == 2
    assert "<h1>&lt;/script&gt;&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"css": "a{} </STYLE>"}, "css holds '</STYLE'"),
        ({"js": "'</script>'"}, "js holds '</script'"),
        ({"js": "'<!--'"}, "js holds '<!--'"),
        ({"data": [math.nan]}, "not JSON compliant"),
    ],
)
def test_what_cannot_stand_in_a_page_is_refused(change: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        made(**change)


def test_a_template_without_its_parts_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("the template has no {{ policy }}")):
        _html.page("<p>", css="", js="", data=None)


def test_without_jinja2_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"a test needs jinja2: pip install 'ioukit\[report\]'"):
        made(needed_by="a test")
