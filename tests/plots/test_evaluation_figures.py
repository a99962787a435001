"""Figures of evaluations: what they show is what the evaluation says, whatever there is to show."""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import plots
from ioukit.evaluation import COCO, ERROR_KINDS
from ioukit.plots import _drawing
from ioukit.plots._drawing import THEMES, shorten, tint
from ioukit.plots._reading import score_limits
from support.evaluated_scenes import HARD_NAMES, SCENES, made

mpl = pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402 - behind the skip
from matplotlib.colors import to_rgba  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402

# matplotlib says so where its font lacks letters, and draws empty rectangles; what is tested is that they come through.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ioukit.evaluation import Evaluation

DRAW: dict[str, Callable[..., Any]] = {
    "precision_recall_figure": plots.precision_recall_figure,
    "precision_recall_figure at each IoU": lambda e, **o: plots.precision_recall_figure(e, iou_threshold="all", **o),
    "ap_by_iou_figure": plots.ap_by_iou_figure,
    "ap_by_size_figure": plots.ap_by_size_figure,
    "class_ap_figure": plots.class_ap_figure,
    "class_ap_figure at 0.5": lambda e, **o: plots.class_ap_figure(e, iou_threshold=0.5, **o),
    "score_curves_figure": lambda e, **o: plots.score_curves_figure(e.score_curves(), **o),
    "confusion_figure": lambda e, **o: plots.confusion_figure(e.confusion(), **o),
    "confusion_figure of shares": lambda e, **o: plots.confusion_figure(e.confusion(), normalize="truth", **o),
    "score_histogram_figure": plots.score_histogram_figure,
    "score_histogram_figure, linear": lambda e, **o: plots.score_histogram_figure(e, log=False, **o),
    "iou_histogram_figure": plots.iou_histogram_figure,
    "error_kinds_figure": lambda e, **o: plots.error_kinds_figure(e.error_kinds(), **o),
}
every_figure = pytest.mark.parametrize("figure", DRAW)


@cache
def scene(name: str) -> Evaluation:
    found: Evaluation = SCENES[name]()
    return found


def named(artists: Any) -> dict[str, Any]:
    """By their ids, each of which stands once."""
    found = [(artist.get_gid(), artist) for artist in artists if artist.get_gid() is not None]
    assert len(dict(found)) == len(found)
    return dict(found)


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text() and text.get_visible()]


def render(figure: Any, dpi: float = 60) -> Any:
    """Pixels, (H, W, 3)."""
    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


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
    def test_draws_whatever_there_is(self, figure: str, name: str) -> None:
        ax = DRAW[figure](scene(name), theme="dark")
        pixels = render(ax.figure, dpi=40)
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20

    @every_figure
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_nothing_is_cut_off_at_the_edge(self, figure: str, theme: Any) -> None:
        for name in ("three classes", "eighty classes", "hard names", "no detections"):
            pixels = render(DRAW[figure](scene(name), theme=theme).figure)
            paper = np.round(np.array(to_rgba(THEMES[theme].paper)[:3]) * 255)
            edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
            assert_array_equal(edge, np.broadcast_to(paper, edge.shape), err_msg=name)

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


def contrast(one: Any, other: Any) -> float:
    """Of two colours, as WCAG 2.2 has it."""
    lights = []
    for colour in (one, other):
        rgb = np.array(to_rgba(colour)[:3])
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ (0.2126, 0.7152, 0.0722)) + 0.05)
    return max(lights) / min(lights)


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


class TestPrecisionRecall:
    def test_lines_are_the_curves(self) -> None:
        evaluation = scene("three classes")
        lines = named(plots.precision_recall_figure(evaluation, iou_threshold=0.75).get_lines())
        precision = evaluation.precision[5, :, :, 0, -1]
        assert set(lines) == {"mean", "class 0", "class 1", "class 2"}
        for k in range(3):
            assert_array_equal(lines[f"class {k}"].get_xdata(), COCO.recall_thresholds)
            assert_array_equal(lines[f"class {k}"].get_ydata(), precision[:, k])
        assert_allclose(lines["mean"].get_ydata(), precision.mean(axis=1))

    def test_the_numbers_of_the_legend_are_those_of_the_table(self) -> None:
        evaluation = scene("three classes")
        shown = texts(plots.precision_recall_figure(evaluation))
        assert f"mean of 3 classes: AP {evaluation.summary['AP50']:.3f}" in shown
        for result in evaluation.per_class:
            assert f"{result.name}: AP {result.summary['AP50']:.3f}" in shown

    def test_classes_without_objects_are_gaps(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.precision_recall_figure(evaluation)
        lines = named(ax.get_lines())
        assert set(lines) == {"mean"} | {
            f"class {k}" for k, result in enumerate(evaluation.per_class) if result.num_ground_truth
        }
        assert_allclose(np.mean(lines["mean"].get_ydata()), evaluation.summary["AP50"])
        chosen = plots.precision_recall_figure(evaluation, classes=["airplane", "dog"])
        assert "airplane: AP \N{EN DASH}" in texts(chosen)
        assert set(named(chosen.get_lines())) == {"mean", "class 4", "class 16"}

    def test_a_line_at_each_threshold(self) -> None:
        evaluation = scene("eighty classes")
        lines = named(plots.precision_recall_figure(evaluation, iou_threshold="all").get_lines())
        assert list(lines) == [f"iou {iou:g}" for iou in COCO.iou_thresholds]
        means = [float(np.mean(line.get_ydata())) for line in lines.values()]
        shown = np.array([means[0], means[5], np.mean(means)])
        assert_allclose(shown, np.array([evaluation.summary[key] for key in ("AP50", "AP75", "AP")]))

    def test_the_mean_of_one_class_is_not_drawn_twice(self) -> None:
        assert set(named(plots.precision_recall_figure(scene("one class")).get_lines())) == {"class 0"}

    def test_a_range_of_sizes(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.precision_recall_figure(evaluation, area_range="small")
        mean = named(ax.get_lines())["mean"].get_ydata()
        assert_allclose(mean, np.nanmean(evaluation.precision[0, :, :, 1, -1], axis=1))
        assert ax.get_xlabel() == "recall (small objects)"

    def test_curves_alone_will_do(self) -> None:
        evaluation = scene("three classes")
        one, other = (plots.precision_recall_figure(given).get_lines() for given in (evaluation, evaluation.curves))
        for a, b in zip(one, other, strict=True):
            assert_array_equal(a.get_xydata(), b.get_xydata())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"iou_threshold": 0.52}, r"no IoU threshold 0.52; there are 0.5, 0.55"),
            ({"area_range": "tiny"}, "no area range 'tiny'; there are all, small, medium, large"),
            ({"classes": ["catt"]}, "no category has the name 'catt'; did you mean 'cat'"),
        ],
    )
    def test_what_is_refused(self, options: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            plots.precision_recall_figure(scene("three classes"), **options)


class TestAP:
    def test_by_threshold(self) -> None:
        evaluation = scene("eighty classes")
        lines = named(plots.ap_by_iou_figure(evaluation).get_lines())
        mean = lines["mean"].get_ydata()
        assert_array_equal(lines["mean"].get_xdata(), COCO.iou_thresholds)
        assert_allclose([mean[0], mean[5], np.mean(mean)], [evaluation.summary[key] for key in ("AP50", "AP75", "AP")])
        person = lines["class 0"].get_ydata()
        assert_allclose(np.mean(person), evaluation.per_class[0].summary["AP"])

    def test_by_size(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.ap_by_size_figure(evaluation)
        heights = {gid: patch.get_height() for gid, patch in named(ax.patches).items()}
        expected = {"AP all": "AP", "AP small": "APs", "AP medium": "APm", "AP large": "APl", "AP50 all": "AP50"}
        for gid, key in (expected | {"AP75 all": "AP75"}).items():
            assert_allclose(heights[gid], evaluation.summary[key], err_msg=gid)
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        assert ticks[1] == "small\nto 32 px\n222 objects"
        assert ticks[3] == "large\nfrom 96 px\n258 objects"

    def test_a_size_without_objects_has_a_dash(self) -> None:
        ax = plots.ap_by_size_figure(scene("no objects"))
        assert texts(ax).count("\N{EN DASH}") == 12

    def test_of_classes_sorted(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.class_ap_figure(evaluation)
        bars = named(ax.patches)
        for gid, bar in bars.items():
            result = evaluation.per_class[int(gid.split()[1])]
            assert_allclose(bar.get_width(), np.nan_to_num(result.summary["AP"]), err_msg=result.name)
        widths = [bar.get_width() for bar in sorted(bars.values(), key=lambda bar: bar.get_y())]
        assert widths == sorted(widths, reverse=True)
        assert_allclose(named(ax.get_lines())["mean"].get_xdata(), evaluation.summary["AP"])
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names[0] == max(evaluation.per_class, key=lambda r: np.nan_to_num(r.summary["AP"])).name
        assert evaluation.per_class[[r.name for r in evaluation.per_class].index(names[-1])].num_ground_truth == 0
        columns = {text.get_gid(): text.get_text() for text in ax.texts}
        row = names.index("person")
        assert (columns[f"AP {row}"], columns[f"objects {row}"]) == (f"{widths[row]:.3f}", "221")

    def test_of_classes_as_asked_for(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.class_ap_figure(evaluation, classes=["dog", "person", "dog"], sort=False, iou_threshold=0.75)
        assert [label.get_text() for label in ax.get_yticklabels()] == ["dog", "person"]
        person = evaluation.per_class[0].summary["AP75"]
        assert_allclose(named(ax.patches)["class 0"].get_width(), person)


class TestScoreCurves:
    def test_lines_and_the_best_point(self) -> None:
        curves = scene("three classes").score_curves(iou_threshold=0.75)
        for category, curve in ((None, curves.overall), ("dog", curves.per_class[1])):
            ax = plots.score_curves_figure(curves, category=category)
            lines = named(ax.get_lines())
            for name in ("precision", "recall", "f1"):
                assert_array_equal(lines[name].get_xdata(), curve.scores[::-1])
                assert_array_equal(lines[name].get_ydata(), getattr(curve, name)[::-1])
            best = lines["best"].get_xydata()[0]
            assert best.tolist() == [curve.best.score, curve.best.f1]
            assert f"best F1 {curve.best.f1:.3f} at score {curve.best.score:.3g}" in " ".join(texts(ax))
            assert max(lines["f1"].get_ydata()) == best[1]

    @pytest.mark.parametrize("name", ["no detections", "no objects", "neither"])
    def test_no_best_point_where_nothing_is_found(self, name: str) -> None:
        ax = plots.score_curves_figure(scene(name).score_curves())
        assert "best" not in named(ax.get_lines())
        assert ("no detections" in texts(ax)) == (name != "no objects")

    @pytest.mark.parametrize(
        ("scores", "limits"),
        [([], (0, 1)), ([0.2, 0.7], (0, 1)), ([-3, 4], (-3, 4)), ([7, 7], (6.5, 7.5)), ([0.5, math.inf], (0, 1))],
    )
    def test_where_an_axis_of_scores_ends(self, scores: list[float], limits: tuple[float, float]) -> None:
        assert score_limits(np.array(scores)) == limits


class TestConfusion:
    @pytest.mark.parametrize("normalize", [None, "truth", "prediction"])
    @pytest.mark.parametrize("name", ["three classes", "one class", "hard names", "no detections", "no objects"])
    def test_cells_are_those_of_the_matrix(self, name: str, normalize: Any) -> None:
        confusion = scene(name).confusion()
        ax = plots.confusion_figure(confusion, normalize=normalize)
        cells = {gid: text.get_text() for gid, text in named(ax.texts).items()}
        values = confusion.counts if normalize is None else confusion.normalized(normalize)
        expected = {
            f"cell {row} {column}": f"{values[row, column]:.2f}" if normalize else str(values[row, column])
            for row, column in np.argwhere(confusion.counts > 0).tolist()
        }
        assert cells == expected
        assert [label.get_text() for label in ax.get_xticklabels()][-1] == "background"

    def test_colours_of_many_classes(self) -> None:
        confusion = scene("eighty classes").confusion()
        ax = plots.confusion_figure(confusion)
        (mesh,) = ax.collections
        shown = np.asarray(np.ma.getdata(mesh.get_array()))  # type: ignore[arg-type]
        shown = shown.reshape(81, 81).copy()
        shown[-1, -1] = 0
        assert_array_equal(shown, confusion.counts)
        assert len(ax.texts) == 0
        assert len(ax.figure.axes) == 2, "a colour bar stands for the numbers"

    def test_numbers_stand_out_from_their_cells(self) -> None:
        for theme in ("light", "dark"):
            ax = plots.confusion_figure(scene("three classes").confusion(), theme=theme)
            (mesh,) = ax.collections
            render(ax.figure)
            colours = np.asarray(mesh.get_facecolor()).reshape(4, 4, 4)
            for gid, text in named(ax.texts).items():
                row, column = (int(part) for part in gid.split()[1:])
                assert contrast(text.get_color(), colours[row, column]) >= 4.5

    def test_the_classes_that_are_left_out_are_added_up(self) -> None:
        confusion = scene("eighty classes").confusion()
        ax = plots.confusion_figure(confusion, classes=["person", "bus"])
        assert [label.get_text() for label in ax.get_yticklabels()] == ["person", "bus", "other classes", "background"]
        cells = {gid: int(text.get_text()) for gid, text in named(ax.texts).items()}
        assert sum(cells.values()) == confusion.counts.sum()
        assert cells["cell 0 0"] == confusion.counts[0, 0]
        assert cells["cell 1 1"] == confusion.counts[5, 5]
        assert cells["cell 0 3"] == confusion.counts[0, 80]
        rest = [k for k in range(80) if k not in (0, 5)]
        assert cells["cell 2 2"] == confusion.counts[np.ix_(rest, rest)].sum()

    def test_an_unknown_way_to_normalize(self) -> None:
        with pytest.raises(ValueError, match="unknown normalize 'all'; choose from truth, prediction, None"):
            plots.confusion_figure(scene("three classes").confusion(), normalize="all")  # type: ignore[arg-type]


class TestHistograms:
    def test_scores(self) -> None:
        evaluation = scene("eighty classes")
        table = evaluation.matches
        right = table.is_true_positive(0.5)
        wrong = ~right & ~table.is_ignored(0.5)
        parts = named(plots.score_histogram_figure(evaluation, bins=20, log=False).patches)
        for name, mask, sign in (("TP", right, 1), ("FP", wrong, -1)):
            counts, edges = np.histogram(table.detections.score[mask], 20, (0, 1))
            assert_array_equal(parts[name].get_data().values, sign * counts)
            assert_array_equal(parts[name].get_data().edges, edges)
        assert parts["TP"].get_hatch() != parts["FP"].get_hatch()
        logged = named(plots.score_histogram_figure(evaluation, bins=20).patches)
        assert_allclose(10 ** logged["TP"].get_data().values - 1, parts["TP"].get_data().values, atol=1e-9)

    @pytest.mark.parametrize("log", [True, False])
    def test_both_parts_count_upwards(self, log: bool) -> None:
        ax = plots.score_histogram_figure(scene("eighty classes"), log=log)
        render(ax.figure)
        for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True):
            count = float(label.get_text().replace(",", ""))
            assert count == pytest.approx(10 ** abs(tick) - 1 if log else abs(tick))

    def test_of_a_class_and_a_size(self) -> None:
        evaluation = scene("eighty classes")
        table = evaluation.matches
        ax = plots.score_histogram_figure(
            evaluation, classes=["dog"], area_range="large", iou_threshold=0.75, log=False
        )
        count = int((table.is_true_positive(0.75, "large") & (table.detections.category == 16)).sum())
        assert named(ax.patches)["TP"].get_data().values.sum() == count
        assert f"true positives: {count}" in texts(ax)

    def test_of_matches(self) -> None:
        evaluation = scene("three classes")
        table = evaluation.matches
        ax = plots.iou_histogram_figure(evaluation, bins=10)
        found = named(ax.patches)["matches"].get_data()
        truth, detections = evaluation.ground_truth, evaluation.detections
        assert truth is not None
        assert detections is not None
        values = []
        for row in np.flatnonzero(table.is_true_positive(0.5)).tolist():
            one = truth.boxes[table.objects.row[table.matched_object(0.5)[row]]]
            other = detections.boxes[table.detections.row[row]]
            values.append(iou_of(one, other))
        assert_array_equal(found.values, np.histogram(values, np.linspace(0.5, 1, 11))[0])
        assert_allclose(named(ax.get_lines())["median"].get_xdata(), np.median(values))

    def test_no_bins(self) -> None:
        with pytest.raises(ValueError, match="bins must be at least 1, got 0"):
            plots.iou_histogram_figure(scene("three classes"), bins=0)
        with pytest.raises(TypeError, match=r"bins must be an integer, got 2\.5"):
            plots.iou_histogram_figure(scene("three classes"), bins=2.5)  # type: ignore[arg-type]


def iou_of(one: Any, other: Any) -> float:
    """Of two boxes, xywh."""
    sides = [max(0.0, min(one[k] + one[k + 2], other[k] + other[k + 2]) - max(one[k], other[k])) for k in (0, 1)]
    common = sides[0] * sides[1]
    return float(common / (one[2] * one[3] + other[2] * other[3] - common))


class TestErrorKinds:
    def test_bars_and_counts(self) -> None:
        errors = scene("eighty classes").error_kinds()
        ax = plots.error_kinds_figure(errors)
        bars, words = named(ax.patches), named(ax.texts)
        assert set(bars) == {*ERROR_KINDS, "false_positive", "false_negative"}
        for name, bar in bars.items():
            assert bar.get_width() == errors.delta_ap[name]
            said = f"{errors.delta_ap[name]:.3f}"
            assert words[f"value of {name}"].get_text() == (
                f"{said}  ({errors.counts[name]:,})" if name in ERROR_KINDS else said
            )
        assert bars["false_positive"].get_hatch()
        assert f"{errors.ap:.3f}" in ax.get_xlabel()

    def test_undefined_numbers_are_dashes(self) -> None:
        ax = plots.error_kinds_figure(scene("no objects").error_kinds())
        assert all(bar.get_width() == 0 for bar in named(ax.patches).values())
        assert named(ax.texts)["value of missed"].get_text() == "\N{EN DASH}  (0)"


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
