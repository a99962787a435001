"""Figures of what a data set holds: they show the counts of plain Python, in both themes, also of nothing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import GroundTruth, Inspection, inspect, plots
from support.drawn_figures import contrast, named, render, texts
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

FIGURES: dict[str, Callable[..., Any]] = {
    name: getattr(plots, name)
    for name in (
        "class_counts_figure", "object_sizes_figure", "object_shapes_figure", "object_positions_figure",
        "objects_per_image_figure", "neighbour_overlaps_figure",
    )
}  # fmt: skip


@cache
def coco() -> Inspection:
    return inspect(EXAMPLES / "coco_val2017_100" / "ground_truth.json")


@cache
def nothing() -> Inspection:
    return inspect(GroundTruth.from_coco({"images": [], "categories": [], "annotations": []}))


@cache
def odd() -> Inspection:
    """Boxes without an area, no sizes of images, and names that matplotlib could take for formulas."""
    names = {1: "$x_1$", 2: "long " * 30, 3: "日本 \U0001f600", 4: "_hidden"}
    return inspect(
        GroundTruth.from_arrays(
            image_ids=[1, 1, 2], category_ids=[1, 2, 1], boxes=np.array([[0, 0, 0, 5], [0, 0, 1e6, 1], [0, 0, 1e6, 1]]),
            images=[1, 2, 3], categories=names,
        )
    )  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("held", [coco, nothing, odd], ids=["coco", "nothing", "odd"])
@pytest.mark.filterwarnings("ignore:Glyph .* missing")  # of a font that this machine may lack
def test_they_are_drawn_in_both_themes(name: str, held: Callable[[], Inspection]) -> None:
    pictures = {}
    for theme in ("light", "dark"):
        ax = FIGURES[name](held(), theme=theme)
        pictures[theme] = render(ax.figure)
        assert contrast(ax.xaxis.label.get_color(), ax.get_facecolor()) > 7
    assert pictures["light"].mean() > 128 > pictures["dark"].mean()


@pytest.mark.parametrize("name", FIGURES)
def test_they_draw_on_the_axes_of_the_caller(name: str) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415 - imported where it is known to be installed

    given = Figure().subplots()
    ax = FIGURES[name](coco(), ax=given)
    assert ax is given
    assert ax.get_title() == ""
    with pytest.raises(ValueError, match="unknown theme 'blue'; choose from light, dark"):
        FIGURES[name](coco(), theme="blue")


def test_class_counts() -> None:
    held = coco()
    ax = plots.class_counts_figure(held, most=5)
    bars = named(ax.patches)
    assert {name: bar.get_width() for name, bar in bars.items()} == {
        f"class {row}": held.objects_per_class[row]
        for row in np.argsort(-held.objects_per_class, kind="stable")[:5].tolist()
    }
    assert named(ax.texts)["count 0"].get_text() == "221"
    assert ax.get_xlabel() == "objects, log scale (75 more classes have 393)"
    assert "$x_1$" in texts(plots.class_counts_figure(odd()))
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        plots.class_counts_figure(held, most=0)


def test_sizes_have_the_counts_of_the_inspection() -> None:
    held = coco()
    chosen: list[list[int | str] | None] = [None, ["person", 3]]
    for classes in chosen:
        ax = plots.object_sizes_figure(held, classes=classes)
        rows = slice(None) if classes is None else np.isin(held.ground_truth.category_ids, [1, 3])
        expected = np.bincount(held.size_names[rows], minlength=3).tolist()
        patches: list[Any] = [*ax.patches]
        assert [patch.get_data().values.sum() for patch in patches] == expected
        assert [patch.get_gid() for patch in ax.patches] == ["small", "medium", "large"]
    small = named(ax.patches)["small"].get_data()
    sides = held.sides[np.isin(held.ground_truth.category_ids, [1, 3])]
    for low, high, count in zip(small.edges[1:-1], small.edges[2:], small.values[1:], strict=True):
        assert count == ((sides >= low) & (sides < high)).sum()
    with pytest.raises(ValueError, match="no category has the name 'persn'; did you mean 'person'"):
        plots.object_sizes_figure(held, classes=["persn"])


def test_shapes() -> None:
    held = coco()
    shape = named(plots.object_shapes_figure(held).patches)["shapes"].get_data()
    for low, high, count in zip(shape.edges[1:-2], shape.edges[2:-1], shape.values[1:-1], strict=True):
        assert count == ((held.aspect_ratios >= low) & (held.aspect_ratios < high)).sum()
    assert shape.values.sum() == 745
    assert named(plots.object_shapes_figure(odd()).patches)["shapes"].get_data().values.sum() == 2
    assert plots.object_shapes_figure(nothing()).get_legend() is None


def test_positions_of_fewer_cells_are_sums() -> None:
    held = coco()
    image: Any = plots.object_positions_figure(held, cells=2).images[0]
    whole = held.positions
    expected = [[whole[:16, :16].sum(), whole[:16, 16:].sum()], [whole[16:, :16].sum(), whole[16:, 16:].sum()]]
    assert image.get_array().tolist() == expected
    for cells in (0, 5, 64):
        with pytest.raises(ValueError, match=f"cells must divide 32, got {cells}"):
            plots.object_positions_figure(held, cells=cells)


def test_objects_per_image() -> None:
    held = coco()
    bars = named(plots.objects_per_image_figure(held).patches)
    for name, bar in bars.items():
        low, _, high = name.partition("-")
        within = (held.objects_per_image >= int(low)) & (held.objects_per_image <= int(high or low))
        assert bar.get_height() == within.sum()
    assert sum(bar.get_height() for bar in bars.values()) == 100
    assert list(named(plots.objects_per_image_figure(odd()).patches)) == ["0", "1", "2"]


def test_overlaps_with_the_nearest_neighbour() -> None:
    held = coco()
    lines = named(plots.neighbour_overlaps_figure(held).lines)
    for name, overlaps in (("any class", held.overlaps), ("same class", held.overlaps_of_class)):
        for threshold, share in zip(*lines[name].get_data(), strict=True):
            np.testing.assert_allclose(share, 100 * (overlaps >= max(threshold, 1e-300)).mean())
    x = lines["any class"].get_xdata()
    np.testing.assert_allclose(x, [0, *(np.arange(1, 21) / 20)], atol=1e-12)
