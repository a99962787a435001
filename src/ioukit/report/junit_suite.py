"""JUnit's XML, which shows checks among the tests of a build."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from ioukit._output import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SuiteCase(NamedTuple):
    """One check, and how it ended."""

    name: str
    """What is checked."""
    failure: str = ""
    """Why it failed; empty if it did not."""
    error: str = ""
    """Why it could not be checked; empty if it could."""
    kind: str = "requirement"
    """The type of the failure or error."""


def suite_xml(
    name: str,
    cases: Sequence[SuiteCase],
    properties: Mapping[str, object],
    *,
    created: datetime.datetime | None,
    seconds: float,
) -> str:
    """Checks as a file of JUnit. The document is valid by the schemas of Ant and of Jenkins.

    Args:
        name: The name of the suite, and the class of its test cases.
        cases: The checks.
        properties: What to tell about the suite; ``"undefined"`` is written for NaN.
        created: When the tests ran; now if ``None``.
        seconds: How long that took, within [0, inf).

    Returns:
        The text of an XML document in UTF-8.
    """
    when = datetime.datetime.now(datetime.timezone.utc) if created is None else created
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=printable(name),
        package=printable(name),
        id="0",
        hostname="localhost",
        timestamp=when.strftime("%Y-%m-%dT%H:%M:%S"),
        tests=str(len(cases)),
        failures=str(sum(bool(case.failure) for case in cases)),
        errors=str(sum(bool(case.error) for case in cases)),
        time=f"{seconds:.3f}",
    )
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        text = "undefined" if isinstance(value, float) and math.isnan(value) else str(value)
        ElementTree.SubElement(listed, "property", name=printable(key), value=printable(text))
    for case in cases:
        words = {"classname": printable(name), "name": printable(case.name), "time": "0.000"}
        element = ElementTree.SubElement(suite, "testcase", words)
        for tag, message in (("failure", case.failure), ("error", case.error)):
            if message:
                ended = ElementTree.SubElement(element, tag, message=printable(message), type=case.kind)
                ended.text = printable(message)
    for stream in ("system-out", "system-err"):
        ElementTree.SubElement(suite, stream)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
