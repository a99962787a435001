"""Every figure of an evaluation draws whatever there is to show, in both themes, and changes nothing else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import plots
from ioukit._words_and_colours import shorten
from ioukit.plots import _drawing
from ioukit.plots._drawing import THEMES, tint
from support.drawn_figures import DRAW, contrast, render, scene, texts
from support.evaluated_scenes import HARD_NAMES, SCENES, made

mpl = pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")
from matplotlib.colors import to_rgba  # noqa: E402 - behind the skip
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402

# matplotlib says so where its font lacks letters, and draws empty rectangles; what is tested is that they come through.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")

if TYPE_CHECKING:
    pass

every_figure = pytest.mark.parametrize("figure", DRAW)


@pytest.mark.filterwarnings("error:Glyph .* missing from font:UserWarning")
class TestLetters:
    NAME = "\N{STRAIGHTNESS}"  # in the second of these fonts alone

    def test_they_come_from_another_font_where_one_has_them(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(_drawing, "OTHER_FONTS", ("A font that nobody has", "STIXGeneral"))
        evaluation = made([self.NAME, "cat"])
        render(plots.class_ap_figure(evaluation).figure)
        render(plots.precision_recall_figure(evaluation).figure)
        ax = plots.score_curves_figure(evaluation.score_curves(), category=self.NAME)
        render(ax.figure)
        assert ax.xaxis.label.get_fontfamily() == [*mpl.rcParams["font.family"], "STIXGeneral"]
        assert not caplog.records, "matplotlib complains of fonts that are not there"

    def test_the_callers_font_comes_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_drawing, "OTHER_FONTS", ())
        with mpl.rc_context({"font.family": ["DejaVu Serif", "STIXGeneral"]}):
            ax = plots.class_ap_figure(made([self.NAME, "cat"]))
            assert ax.get_yticklabels()[0].get_fontfamily() == ["DejaVu Serif", "STIXGeneral"]
            render(ax.figure)


class TestEveryFigure:
    @every_figure
    @pytest.mark.parametrize("name", SCENES)
    def test_draws_whatever_there_is_and_cuts_nothing_off_at_the_edge(self, figure: str, name: str) -> None:
        # All are drawn in the dark, and the one with the widest texts in the light, too.
        for theme in ("dark", "light") if name == "hard names" else ("dark",):
            pixels = render(DRAW[figure](scene(name), theme=theme).figure)
            assert len(np.unique(pixels.reshape(-1, 3) @ (1, 256, 65_536))) > 20, "colours"
            paper = np.round(np.array(to_rgba(THEMES[theme].paper)[:3]) * 255)
            edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
            assert_array_equal(edge, np.broadcast_to(paper, edge.shape), err_msg=theme)

    @every_figure
    def test_axes_in_axes_out(self, figure: str) -> None:
        outer = Figure(figsize=(12, 4), layout="constrained", facecolor="pink")
        ax, other = outer.subplots(1, 2)
        assert DRAW[figure](scene("three classes"), ax=ax, theme="dark") is ax
        assert not other.has_data()
        assert ax.get_title() == outer.get_suptitle() == ""
        assert outer.get_facecolor() == to_rgba("pink")
        assert ax.get_facecolor() == to_rgba(THEMES["dark"].paper)
        assert ax.get_xlabel() or figure.startswith("ap_by_size")
        assert ax.get_ylabel() or figure.startswith(("class_ap", "error_kinds"))

    @every_figure
    def test_what_was_on_the_axes_stays(self, figure: str) -> None:
        ax = Figure(layout="constrained").subplots()
        (line,) = ax.plot([0, 1], [1, 0], gid="mine")
        for name in ("one class", "eighty classes"):
            DRAW[figure](scene(name), ax=ax)
            assert line in ax.lines

    @every_figure
    def test_nothing_global_changes(self, figure: str) -> None:
        before, had_pyplot = dict(mpl.rcParams), "matplotlib.pyplot" in sys.modules
        render(DRAW[figure](scene("three classes")).figure)
        assert dict(mpl.rcParams) == before
        assert ("matplotlib.pyplot" in sys.modules) == had_pyplot

    @every_figure
    @pytest.mark.parametrize("theme", THEMES)
    def test_hatches_are_on_opaque_paper_or_none(self, figure: str, theme: Any) -> None:
        """On transparent paper they cannot be seen in SVG."""
        for patch in DRAW[figure](scene("three classes"), theme=theme).patches:
            if patch.get_hatch() and patch.get_fill():
                paper, lines = patch.get_facecolor(), patch.get_edgecolor()
                assert paper[3] == lines[3] == 1
                assert contrast(paper, lines) > 1.3

    @every_figure
    def test_an_unknown_theme(self, figure: str) -> None:
        with pytest.raises(ValueError, match="unknown theme 'blue'; choose from light, dark"):
            DRAW[figure](scene("three classes"), theme="blue")

    @every_figure
    def test_every_text_of_a_dark_figure_stands_out(self, figure: str) -> None:
        ax = DRAW[figure](scene("three classes"), theme="dark")
        render(ax.figure)
        for text in ax.figure.findobj(Text):
            inside = str(text.get_gid()).startswith("cell")
            if text.get_text() and not inside:
                assert contrast(text.get_color(), THEMES["dark"].paper) >= 4.5, text.get_text()

    @every_figure
    def test_names_are_shown_as_they_are(self, figure: str) -> None:
        """As text: a formula would be parsed, and the unclosed one raise."""
        ax = DRAW[figure](scene("hard names"))
        for text in ax.figure.findobj(Text):
            if "$" in text.get_text():
                assert not text.get_parse_math()
                assert not text.get_usetex()
        shown = "\n".join(texts(ax))
        if any(part in figure for part in ("class_ap", "confusion", "precision_recall_figure", "ap_by_iou")):
            if "each" in figure:
                return
            longest = 24 if "confusion" in figure else 28
            for name in HARD_NAMES:
                assert shorten(name, longest) in shown


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_colours_that_mean_something_stand_out(theme: Any) -> None:
    assert contrast(theme.ink, theme.paper) >= 7
    assert contrast(theme.soft, theme.paper) >= 4.5
    for colour in (theme.blue, theme.good, theme.bad, theme.many):
        assert contrast(colour, theme.paper) >= 3
    assert len({dashes for _, dashes in theme.styles}) == len(theme.styles)


@pytest.mark.parametrize(
    ("name", "longest", "short"),
    [
        ("cat", 10, "cat"),
        ("a" * 10, 10, "a" * 10),
        ("0123456789abc", 10, "012345…abc"),
        ("two\nlines", 20, "two lines"),
        ("", 10, ""),
    ],
)
def test_shortened_names(name: str, longest: int, short: str) -> None:
    assert shorten(name, longest) == short
    assert len(shorten(name, longest)) <= longest


@pytest.mark.parametrize(
    ("strength", "paper", "thinned"),
    [(1, "#FFFFFF", "#102030"), (0, "#FFFFFF", "#FFFFFF"), (0.5, "#304050", "#203040"), (0.25, "#000000", "#04080C")],
)
def test_tints(strength: float, paper: str, thinned: str) -> None:
    assert tint("#102030", strength, paper) == thinned


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr("importlib.import_module", refuse)
    for name, draw in DRAW.items():
        with pytest.raises(ModuleNotFoundError, match=r"needs matplotlib: pip install 'ioukit\[plots\]'"):
            draw(scene("three classes"))
        assert name


def refuse(name: str) -> Any:
    raise ModuleNotFoundError(name=name.partition(".")[0])
