"""docs/fusion.md prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys

from paths import ROOT


def test_the_programs_of_the_page_print_what_it_says() -> None:
    page = (ROOT / "docs" / "fusion.md").read_text(encoding="utf-8")
    programs, printed = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    assert len(programs) == len(printed) == 6
    # A program goes on where the last ended; a line of its own tells what each prints.
    ran = subprocess.run(
        [sys.executable, "-c", "print('---')\n".join(programs)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("---\n") == printed
