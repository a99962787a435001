"""What a release holds agrees with the sources."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys

import pytest

import ioukit
from support.paths import ROOT

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install 'ioukit[yolo]'")


def test_the_citation_has_the_version_and_the_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == ioukit.__version__
    assert citation["license"] == "MIT"
    assert {"message", "title", "authors"} <= citation.keys()


def test_the_changelog_knows_the_version_or_says_unreleased() -> None:
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heads[0] == "Unreleased" or heads[0].startswith(ioukit.__version__)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_licences_are_those_of_the_crates() -> None:
    command = [sys.executable, str(ROOT / "release" / "licences.py"), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_every_job_of_the_wheels_uses_files_that_exist() -> None:
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert set(jobs) == {"linux-x86_64", "others", "try", "try-musl", "publish"}
    for job in jobs.values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(jobs)
    for path in re.findall(r"(?:/here/|run: |sh )(release/\w+)", text):
        assert (ROOT / path).exists(), path
    assert "release/v1" not in text  # actions by version, not by a branch that moves


def test_a_release_is_built_by_the_same_tools_on_all_platforms() -> None:
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    build = (ROOT / "release" / "build").read_text(encoding="utf-8")
    for ours, theirs in (
        (r"maturin==([\d.]+)", r"maturin-version: v([\d.]+)"),
        (r"TOOLCHAIN=([\d.]+)", r"rust-toolchain: ([\d.]+)"),
    ):
        assert re.findall(ours, build) == re.findall(theirs, workflow) != []


def test_the_smoke_test_tells_other_numbers_from_other_last_bits() -> None:
    agrees = runpy.run_path(str(ROOT / "release" / "smoke.py"))["agrees"]
    older, newer = 0.11746728319434778, 0.11746728319434775  # pycocotools with NumPy 2.2.6 and with 2.4.6
    assert agrees(newer, newer, 0)
    assert agrees(older, newer, 16)
    assert not agrees(older, newer, 0)
    assert agrees(0.0, 0.0, 0)
    for wrong in (0.1174672831943, None, float("nan")):
        assert not agrees(wrong, newer, 16)
