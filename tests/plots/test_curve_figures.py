"""Figures of precision, recall and AP show the numbers of the evaluation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import plots
from ioukit.evaluation import COCO
from ioukit.plots._reading import score_limits
from support.drawn_figures import named, scene, texts

# matplotlib says so where its font lacks letters, and draws empty rectangles; what is tested is that they come through.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")


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
        assert f"mean of 3 classes: AP50 {evaluation.summary['AP50']:.3f}" in shown
        for result in evaluation.per_class:
            assert f"{result.name}: AP50 {result.summary['AP50']:.3f}" in shown

    def test_classes_without_objects_are_gaps(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.precision_recall_figure(evaluation)
        lines = named(ax.get_lines())
        assert set(lines) == {"mean"}
        assert_allclose(np.mean(lines["mean"].get_ydata()), evaluation.summary["AP50"])
        chosen = plots.precision_recall_figure(evaluation, classes=["airplane", "dog"])
        assert "airplane: AP50 \N{EN DASH}" in texts(chosen)
        assert set(named(chosen.get_lines())) == {"mean", "class 4", "class 16"}

    def test_a_line_at_each_threshold(self) -> None:
        evaluation = scene("eighty classes")
        lines = named(plots.precision_recall_figure(evaluation, iou_threshold="all").get_lines())
        assert list(lines) == [f"iou {iou:g}" for iou in COCO.iou_thresholds]
        means = [float(np.mean(line.get_ydata())) for line in lines.values()]
        shown = np.array([means[0], means[5], np.mean(means)])
        assert_allclose(shown, np.array([evaluation.summary[key] for key in ("AP50", "AP75", "AP")]))

    @pytest.mark.parametrize("threshold", [None, "all"])
    def test_in_a_column_of_a_paper_the_names_leave_room_for_the_curves(self, threshold: Any) -> None:
        figure = Figure((3.25, 2.6), layout="constrained")
        ax = plots.precision_recall_figure(scene("three classes"), iou_threshold=threshold, ax=figure.subplots())
        figure.draw_without_rendering()
        names = ax.get_legend()
        assert names is not None
        assert ax.get_position().width > 0.75
        assert ax.get_position().height > 0.35
        assert names.get_window_extent().x1 <= figure.bbox.x1

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
        person = named(plots.ap_by_iou_figure(evaluation, classes=["person"]).get_lines())["class 0"].get_ydata()
        assert_allclose(np.mean(person), evaluation.per_class[0].summary["AP"])

    def test_by_size(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.ap_by_size_figure(evaluation)
        heights = {gid: patch.get_height() for gid, patch in named(ax.patches).items()}
        expected = {"AP all": "AP", "AP small": "APs", "AP medium": "APm", "AP large": "APl", "AP50 all": "AP50"}
        for gid, key in (expected | {"AP75 all": "AP75"}).items():
            assert_allclose(heights[gid], evaluation.summary[key], err_msg=gid)
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        assert ticks[1] == "small\nup to 32 px\n222 objects"
        assert ticks[3] == "large\nat least 96 px\n258 objects"

    def test_a_size_without_objects_has_a_dash(self) -> None:
        ax = plots.ap_by_size_figure(scene("no objects"))
        assert texts(ax).count("\N{EN DASH}") == 12

    def test_of_classes_sorted(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.class_ap_figure(evaluation, classes="all")
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

    def test_of_the_forty_classes_with_the_most_objects(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.class_ap_figure(evaluation)
        objects = [result.num_ground_truth for result in evaluation.per_class]
        drawn = [int(gid.split()[1]) for gid in named(ax.patches)]
        assert sorted(drawn) == sorted(sorted(range(80), key=lambda k: -objects[k])[:40])
        assert_allclose(named(ax.get_lines())["mean"].get_xdata(), evaluation.summary["AP"], err_msg="of all classes")
        assert ax.get_xlabel().endswith("the 40 classes with the most objects")
        assert max(ax.get_figure(root=True).get_size_inches()) < 9  # type: ignore[union-attr]
        assert float(ax.get_yticklabels()[0].get_fontsize()) >= 8

    def test_of_many_classes_is_a_band(self) -> None:
        evaluation = scene("eighty classes")
        ax = plots.precision_recall_figure(evaluation)
        assert set(named(ax.get_lines())) == {"mean"}
        precision = evaluation.curves.at("precision", 0, 2)[0]
        (path,) = named(ax.collections)["middle half"].get_paths()
        heights = path.vertices[np.isclose(path.vertices[:, 0], 0.5), 1]
        assert_allclose([heights.min(), heights.max()], np.nanquantile(precision[50], [0.25, 0.75]), atol=1e-9)
        assert "the middle half of the classes" in texts(ax)

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
