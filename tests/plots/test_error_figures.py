"""Figures of right and wrong detections show the counts of the evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import plots
from ioukit.evaluation import ERROR_KINDS
from support.drawn_figures import contrast, named, render, scene, texts

# matplotlib says so where its font lacks letters, and draws empty rectangles; what is tested is that they come through.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")


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
        ax = plots.confusion_figure(confusion, classes="all")
        mesh = named(ax.collections)["matrix"]
        shown = np.asarray(np.ma.getdata(mesh.get_array()))
        shown = shown.reshape(81, 81).copy()
        shown[-1, -1] = 0
        assert_array_equal(shown, confusion.counts)
        assert len(ax.texts) == 0
        assert len(ax.figure.axes) == 2, "a colour bar stands for the numbers"

    def test_the_twelve_most_confused_classes_fit_on_a_page(self) -> None:
        confusion = scene("eighty classes").confusion()
        ax = plots.confusion_figure(confusion)
        names = [label.get_text() for label in ax.get_yticklabels()]
        counts, listed = confusion.counts, confusion.categories.names
        errors = {
            name: counts[k].sum() + counts[:, k].sum() - 2 * counts[k, k]
            for k, name in enumerate(confusion.categories.names)
        }
        worst = sorted(listed, key=lambda name: (-errors[name], listed.index(name)))[:12]
        assert names == [*sorted(worst, key=listed.index), "other classes", "background"]
        assert max(ax.get_figure(root=True).get_size_inches()) <= 7.6  # type: ignore[union-attr]
        assert named(ax.texts)["cell 0 0"].get_fontsize() >= 7

    def test_numbers_stand_out_from_their_cells(self) -> None:
        for theme in ("light", "dark"):
            ax = plots.confusion_figure(scene("three classes").confusion(), theme=theme)
            render(ax.figure)
            meshes = named(ax.collections)
            colours = np.asarray(meshes["matrix"].get_facecolor()).reshape(4, 4, 4)
            over = np.asarray(meshes["right"].get_facecolor()).reshape(4, 4, 4)
            colours = np.where(over[..., 3:] > 0, over, colours)
            for gid, text in named(ax.texts).items():
                row, column = (int(part) for part in gid.split()[1:])
                assert contrast(text.get_color(), colours[row, column]) >= 4.5

    def test_correct_cells_have_another_colour_than_confusions(self) -> None:
        ax = plots.confusion_figure(scene("eighty classes").confusion(), classes=["person", "bus"])
        render(ax.figure)
        drawn = {gid: np.asarray(mesh.get_facecolor())[:, 3] > 0 for gid, mesh in named(ax.collections).items()}
        places = {
            gid: list(zip(*(at.tolist() for at in np.nonzero(drawn[gid].reshape(4, 4))), strict=True)) for gid in drawn
        }
        assert places["right"] == [(0, 0), (1, 1)]
        assert places["others"] == [(2, 2)]  # confusions of the other classes among them, too
        whole = plots.confusion_figure(scene("three classes").confusion())
        assert np.ma.count(named(whole.collections)["right"].get_array()) == 3
        assert np.ma.count(named(whole.collections)["others"].get_array()) == 0

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
