"""The pages in docs: figures are what their script draws, programs print what the page says, links lead somewhere."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import runpy
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
import typer

from ioukit import plots
from ioukit.cli._app import app_of
from support.command import run_fresh
from support.pages import PAGES, Example, Programs, commands, examples
from support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Answers = dict[Example, tuple[str, str | None, str | None]]

FIGURES = ROOT / "docs" / "figures"
LINKED = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", *PAGES]
OTHER_PAGES = {  # of figures
    "assignment_figure", "grid_figure", "overlap_figure", "slices_figure", "survivors_figure", "timeline_figure",
    "training_figure", "variant_figure", "variants_figure",
}  # fmt: skip
REDRAW = "run `python docs/build/draw.py`"
EXAMPLES = [example for page in PAGES for example in examples(page)]
PROGRAMS = [example for example in EXAMPLES if example.kind == "python"]
COMMANDS = [example for example in EXAMPLES if example.kind == "sh" and commands(example.code)]


def words(svg: Path) -> list[str]:
    """What is written in it: letters are outlines, and a comment above each text says what they read."""
    return re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"))


def test_committed_figures_are_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")
    image = pytest.importorskip("PIL.Image", reason="the photographs need Pillow: pip install 'ioukit[shapes]'")
    subprocess.run([sys.executable, "-W", "error", ROOT / "docs" / "build" / "draw.py", tmp_path], check=True)
    # Pictures of pages in a browser come from photograph.py (PNG) and photograph_viewer.py.
    drawn, committed = (
        sorted(path.name for path in folder.iterdir() if path.suffix in (".jpg", ".svg") and "viewer_" not in path.name)
        for folder in (tmp_path, FIGURES)
    )
    assert drawn == committed, REDRAW
    for name in drawn:
        assert (FIGURES / name).stat().st_size < 200_000, f"{name} is too large for a page"
        if name.endswith(".jpg"):  # other versions draw letters a little elsewhere
            here, there = (np.asarray(image.open(folder / name), float) for folder in (tmp_path, FIGURES))
            assert here.shape == there.shape, f"{name}: {REDRAW}"
            assert np.abs(here - there).mean() < 8, f"{name}: {REDRAW}"
            continue
        assert words(tmp_path / name), name
        assert words(tmp_path / name) == words(FIGURES / name), f"{name}: {REDRAW}"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Answers]]:
    """What the programs of a page answer, each page run once, in a folder of its own with the examples in it."""
    runner = Programs()

    @functools.cache
    def run(page: str) -> Answers:
        programs = [example for example in PROGRAMS if example.page == page]
        folder = tmp_path_factory.mktemp("page")
        return dict(zip(programs, runner.run([program.code for program in programs], folder), strict=True))

    yield run
    runner.close()


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_program_prints_what_its_page_says(program: Example, answers: Callable[[str], Answers]) -> None:
    printed, lacks, error = answers(program.page)[program]
    if lacks:
        pytest.skip(f"{program} needs {lacks}")
    assert error is None, error
    assert printed == (program.printed or "")


def test_the_walk_through_yolo_says_what_the_library_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    script = ROOT / "docs" / "build" / "make_iou_in_yolo.py"
    monkeypatch.syspath_prepend(script.parent)  # it imports from its own folder
    page = runpy.run_path(str(script))["page"]
    assert (ROOT / "docs" / "iou_in_yolo.md").read_text(encoding="utf-8") == page(), f"run python {script.name}"


def test_the_pages_about_figures_have_all_of_evaluations_and_data_sets() -> None:
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("figures.md", "inspect.md"))
    assert [name for name in plots.__all__ if name not in pages and name not in OTHER_PAGES] == []


def parse(line: list[str]) -> None:
    """Refuses commands and options that do not exist, and values of the wrong kind."""
    group = typer.main.get_group(app_of())
    parent = group.make_context("ioukit", [], resilient_parsing=True)
    name, found, rest = group.resolve_command(parent, line)
    assert found is not None
    with contextlib.suppress(typer.Exit):  # of an option that answers by itself
        found.make_context(name, rest, parent)


def test_the_commands_that_answer_a_search_exist() -> None:
    page = (ROOT / "docs" / "searched.md").read_text(encoding="utf-8")
    lines = [line for code in re.findall("`(ioukit .*?)`", page) for line in commands(code)]
    assert len(lines) >= 30
    for line in lines:
        parse(line)


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_command_exists_and_prints_what_its_page_says(command: Example, tmp_path: Path) -> None:
    lines = commands(command.code)
    for line in lines:
        parse(line)
    if command.printed is not None:
        (tmp_path / "examples").symlink_to(ROOT / "examples")
        ran = [run_fresh(*line, cwd=tmp_path) for line in lines]
        assert "".join(outcome.out if outcome.code == 0 else outcome.err for outcome in ran) == command.printed


@pytest.mark.parametrize("sketch", [example for example in EXAMPLES if example.kind == "py"], ids=str)
def test_a_sketch_compiles(sketch: Example) -> None:
    compile(sketch.code, str(sketch), "exec")


def test_examples_are_found() -> None:
    assert len(PROGRAMS) >= 40
    assert len(COMMANDS) >= 6
    assert sum(program.printed is not None for program in PROGRAMS) >= 35


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_a_group_of_the_navigation_has_at_most_nine_entries() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\n\n")[0]
    groups: dict[str, int] = {}
    above: list[str] = []
    for line in nav.splitlines():
        depth = line.index("-") // 4
        above[depth:] = [line.strip()]
        groups["".join(above[:depth])] = groups.get("".join(above[:depth]), 0) + 1
    assert len(groups) >= 10
    assert {group: size for group, size in groups.items() if size > 9} == {}


@pytest.mark.parametrize("page", LINKED)
def test_what_is_bold_begins_and_ends_alike(page: str) -> None:
    assert re.findall(r"\*\*\*.*", (ROOT / page).read_text(encoding="utf-8")) == []


def test_the_tests_that_a_page_names_exist() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = {name for page in LINKED for name in re.findall(r"`(test_\w+)`", (ROOT / page).read_text(encoding="utf-8"))}
    assert len(named) >= 10
    assert [name for name in sorted(named) if f"def {name}(" not in text] == []


def test_the_page_about_intervals_says_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "build")
    page = " ".join((ROOT / "docs" / "uncertainty.md").read_text(encoding="utf-8").split())
    for name in ("interval_coverage", "class_coverage", "false_alarms", "detectable_differences"):
        made = runpy.run_path(str(ROOT / "docs" / "build" / f"{name}.py"))
        found = json.loads(made["DATA"].read_text(encoding="utf-8"))
        for said in (*made["table"](found).split("\n\n"), made["words"](found)):
            assert " ".join(said.split()) in page, f"run python {name}.py summarise"
