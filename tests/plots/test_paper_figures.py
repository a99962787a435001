"""Figures of several models show the numbers of each, and figures for a paper are as wide as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import plots
from ioukit.comparison import compare_models
from ioukit.evaluation import miss_rate_curves
from ioukit.operating import calibration_errors
from support.drawn_figures import named, render, scene, texts
from support.two_models import ground_truth, model, pair

pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")
from matplotlib.text import Text

from ioukit import evaluate

if TYPE_CHECKING:
    from ioukit import Evaluation

FEW: dict[str, Any] = {"replicates": 20, "permutations": 20}


@pytest.fixture(scope="module")
def models() -> dict[str, Evaluation]:
    truth = ground_truth(3)
    return {name: evaluate(truth, model(truth, seed, found=0.9 - seed / 10)) for seed, name in enumerate("ABC")}


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestSeveralModels:
    def test_a_line_per_model_has_its_mean(self, models: dict[str, Evaluation]) -> None:
        ax = plots.precision_recall_figure(models, iou_threshold=0.75)
        alone = [plots.precision_recall_figure(one, iou_threshold=0.75) for one in models.values()]
        lines = named(ax.lines)
        assert list(lines) == ["model 0", "model 1", "model 2"]
        for at, one in enumerate(alone):
            np.testing.assert_array_equal(lines[f"model {at}"].get_ydata(), named(one.lines)["mean"].get_ydata())
        assert legend_of(ax) == [f"{name}: AP75 {one.summary['AP75']:.3f}" for name, one in models.items()]

    def test_ap_over_iou_has_the_ap_of_the_summary(self, models: dict[str, Evaluation]) -> None:
        expected = [f"{name}: AP {one.summary['AP']:.3f}" for name, one in models.items()]
        assert legend_of(plots.ap_by_iou_figure(models)) == expected

    def test_dots_are_the_ap_of_the_classes(self, models: dict[str, Evaluation]) -> None:
        ax = plots.class_ap_figure(models)
        order = [label.get_text() for label in ax.get_yticklabels()]
        dots = named(ax.lines)
        for at, one in enumerate(models.values()):
            expected = [one.per_class[name].summary["AP"] for name in order]
            np.testing.assert_allclose(dots[f"model {at}"].get_xdata(), expected, rtol=1e-12)
        assert list(dots["model 0"].get_xdata()) == sorted(dots["model 0"].get_xdata(), reverse=True)

    def test_differences_are_those_of_the_comparison(self, models: dict[str, Evaluation]) -> None:
        found = compare_models(models, **FEW)
        ax = plots.differences_figure(found)
        marks = named(ax.lines)
        for m, one in enumerate(found.pairs):
            difference = one.comparison["AP"]
            assert marks[f"AP of {m + 1}"].get_xdata()[0] == 100 * difference.difference
            limits = marks[f"AP of {m + 1} limits"].get_xdata()
            np.testing.assert_array_equal(limits, [100 * difference.low, 100 * difference.high])
            hollow = marks[f"AP of {m + 1}"].get_markerfacecolor() != marks[f"AP of {m + 1}"].get_markeredgecolor()
            assert hollow is not difference.is_significant

    def test_models_of_other_rules_are_refused(self, models: dict[str, Evaluation]) -> None:
        other = pair(1)[0].protocol
        strict = evaluate(ground_truth(3), model(ground_truth(3), 0), other.replace(iou_thresholds=(0.5,)))
        with pytest.raises(ValueError, match="'strict' was evaluated by other rules or on other classes than 'A'"):
            plots.class_ap_figure({"A": models["A"], "strict": strict})
        with pytest.raises(ValueError, match="expected one to 6 models, got 7"):
            plots.ap_by_iou_figure(dict.fromkeys("ABCDEFG", strict))
        with pytest.raises(ValueError, match='got "all"'):
            plots.precision_recall_figure(models, iou_threshold="all")


@pytest.mark.parametrize(
    ("draw", "make"),
    [
        (plots.score_curves_figure, lambda one: one.score_curves()),
        (plots.error_kinds_figure, lambda one: one.error_kinds()),
        (plots.confusion_figure, lambda one: one.confusion()),
        (plots.miss_rate_figure, lambda one: miss_rate_curves(one.matches)),
        (plots.froc_figure, lambda one: miss_rate_curves(one.matches)),
        (plots.reliability_figure, calibration_errors),
    ],
)
def test_an_evaluation_stands_for_what_is_made_of_it(draw: Any, make: Any) -> None:
    evaluation = scene("three classes")
    assert texts(draw(evaluation)) == texts(draw(make(evaluation)))
    with pytest.raises(TypeError, match=r"expected what .* returns, got int"):
        draw(3)


class TestPaper:
    @pytest.mark.parametrize("width", [3.3, 6.9])
    def test_figures_have_the_width_and_small_letters(self, models: dict[str, Evaluation], width: float) -> None:
        two = {name: models[name] for name in ("A", "B")}
        figures = plots.paper_figures(two, width=width, comparison=compare_models(two, **FEW))
        each = ("ap_by_size", "score_curves", "error_kinds", "confusion")
        of_all = ("precision_recall", "class_ap", "ap_by_iou", "differences")
        assert list(figures) == [*of_all, *(f"{name}_{m}" for name in each for m in "AB")]
        for figure in figures.values():
            assert not isinstance(figure, str)
            assert figure.get_size_inches()[0] == width
            assert max(float(text.get_fontsize()) for text in figure.findobj(Text)) <= 8
        render(figures["precision_recall"], dpi=100)
        (ax,) = figures["precision_recall"].axes  # type: ignore[union-attr]
        legend = ax.get_legend()
        assert legend is not None
        box, inside = legend.get_window_extent(), ax.get_window_extent()
        assert (box.y0 >= inside.y1) if width < 4 else (box.x0 >= inside.x1)

    def test_one_model_has_no_differences(self, models: dict[str, Evaluation]) -> None:
        one = {"A": models["A"]}
        assert "differences" not in plots.paper_figures(one)
        assert plots.paper_figures(one, ["differences"]) == {"differences": "it needs two models"}
        with pytest.raises(ValueError, match="did you mean 'confusion'"):
            plots.paper_figures(one, ["confusions"])
