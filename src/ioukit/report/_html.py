"""One HTML file with styles, script and data inside, and a policy that forbids every request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit._words_and_colours import COLOURS, ERROR_WORDS, OUTCOME_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping


# JSON inside of <script>: escape everything that could end the element, and line ends of old JavaScript.
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def asset(name: str) -> str:
    """The text of a file of ``report/assets``, with the line ends of HTML parsers."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")  # with universal line ends


def style(*names: str) -> str:
    """The style of a page: the colours and the shared style, then the given files of ``report/assets`` in order.

    The custom properties ``--tp``, ``--fp``, ... are the colours of :data:`ioukit._words_and_colours.COLOURS`.
    """
    colours = "".join(f"  --{name}: light-dark({light}, {dark});\n" for name, (light, dark) in COLOURS.items())
    return "".join([f":root {{\n{colours}}}\n", *map(asset, ("shared/page.css", *names))])


def program(*names: str) -> str:
    """The script of a page, in one scope: the shared script, then the given files of ``report/assets`` in order.

    Before them stands the constant ``WORDS``: how outcomes and kinds of errors are named.
    """
    errors = {kind: words._asdict() for kind, words in ERROR_WORDS.items()}
    words = f"const WORDS = {_json({'outcomes': OUTCOME_WORDS, 'errors': errors})};"
    parts = "\n".join([words, *map(asset, ("shared/page.js", *names))])
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def page(
    template: str,
    *,
    css: str,
    js: str,
    data: Any,
    needed_by: str = "ioukit.report",
    sources: Mapping[str, str] | None = None,
    **context: Any,
) -> str:
    """A complete HTML page from a Jinja2 template.

    The template must have each of these parts once::

        <meta http-equiv="Content-Security-Policy" content="{{ policy }}">
        <style>{{ style }}</style>
        <script type="application/json" id="data">{{ data }}</script>
        <script>{{ script }}</script>

    The policy allows this style and this script, by their hashes, and images written as ``data:``. It allows no
    request, no other script, no ``style=`` and no ``onclick=`` (a script may set ``element.style`` and add listeners).

    Args:
        template: The text of the template, which may include others of ``report/assets``. All other values are escaped.
        css: The one style of the page.
        js: The one script, which reads ``JSON.parse(document.getElementById("data").textContent)``.
        data: Values that JSON can hold; None stands for NaN.
        needed_by: The name of the caller, for the message if Jinja2 is not installed.
        sources: As for :func:`policy`: what a page of a server may ask for.
        context: Further values for the template.

    Raises:
        ValueError: If the style or the script would end its own element, a part is missing, or ``data`` holds NaN.
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    jinja2 = import_extra("jinja2", extra="report", needed_by=needed_by)
    markup = import_extra("markupsafe", extra="report", needed_by=needed_by).Markup
    for name, text, ends in (("css", css, "</style"), ("js", js, "</script|<!--")):
        if found := re.search(ends, text, re.IGNORECASE):
            raise ValueError(f"{name} holds {found[0]!r}, which would end its element")
    parts = {
        "policy": policy(css, js, sources),
        "style": markup(css),
        "script": markup(js),
        "data": markup(_json(data)),
    }
    for name in parts:
        if not re.search(rf"{{{{-?\s*{name}\s*-?}}}}", template):
            raise ValueError(f"the template has no {{{{ {name} }}}}")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, loader=jinja2.FunctionLoader(asset)
    )
    return str(environment.from_string(template).render(**context, **parts))


def policy(css: str, js: str, sources: Mapping[str, str] | None = None) -> str:
    """The content security policy of a page.

    Args:
        css: The one style of the page.
        js: Its one script.
        sources: Further sources by the name of the directive, such as ``{"connect-src": "'self'"}``.
    """
    directives = {
        "default-src": "'none'",
        "script-src": f"'{_hash(js)}'",
        "style-src": f"'{_hash(css)}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    for name, further in (sources or {}).items():
        directives[name] = f"{directives[name]} {further}" if name in directives else further
    return "; ".join(f"{name} {allowed}" for name, allowed in directives.items())


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_UNSAFE)
