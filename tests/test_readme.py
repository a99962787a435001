"""What README.md says is so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

from support.paths import ROOT, load

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_gives_the_numbers_of_pycocotools() -> None:
    (command,) = re.findall(r"^\.venv/bin/ioukit (.*)$", README, re.MULTILINE)
    ran = subprocess.run(
        [sys.executable, "-m", "ioukit", *shlex.split(command)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    expected = load(ROOT / "examples" / "coco_val2017_100" / "expected.json")["bbox"]["stats"]
    printed = [line.rpartition("= ")[2] for line in ran.stdout.splitlines()[:12]]
    assert printed == [f"{number:0.3f}" for number in expected.values()]
