"""The pages about suppression and fusion print what they say."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from support.paths import ROOT


@pytest.mark.parametrize(("name", "count"), [("nms.md", 3), ("fusion.md", 5)])
def test_the_programs_of_the_page_print_what_it_says(name: str, count: int) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    programs, printed = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    assert len(programs) == len(printed) == count
    # A program goes on where the last ended; a line of its own tells what each prints.
    ran = subprocess.run(
        [sys.executable, "-c", "print('---')\n".join(programs)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("---\n") == printed
