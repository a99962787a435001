"""Pictures of overlap: what they show is what the library computes, and nothing else changes."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes
from ioukit.overlap.variants import VARIANTS
from ioukit.plots import grid_figure, overlap_figure, variant_figure, variants_figure
from support.strategies import grid_boxes

mpl = pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402 - behind the skip
from matplotlib.figure import Figure  # noqa: E402 - behind the skip
from matplotlib.patches import PathPatch  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.typing import FloatArray

OBJECT, DETECTION = [2.0, 2.0, 8.0, 8.0], [4.0, 3.0, 10.0, 9.0]

every_picture = pytest.mark.parametrize(
    "draw",
    [
        lambda ax: overlap_figure(OBJECT, DETECTION, ax=ax),
        lambda ax: grid_figure([OBJECT, DETECTION], image_size=(13, 13), labels=["a", "b"], ax=ax),
        lambda ax: variants_figure(motion="shift", ax=ax),
        lambda ax: variants_figure(motion="scale", ax=ax),
        lambda ax: variant_figure("giou", ax=ax),
    ],
    ids=["overlap", "grid", "shift", "scale", "variant"],
)


def patches(ax: Axes) -> dict[str, PathPatch]:
    """By their ids, each of which stands once."""
    found = [(patch.get_gid(), patch) for patch in ax.patches if isinstance(patch, PathPatch)]
    assert len(dict(found)) == len(found)
    return {str(gid): patch for gid, patch in found}


def area(patch: PathPatch) -> float:
    """Of what the patch fills: rings turned one way count, holes turned the other way are taken off."""
    total = 0.0
    for ring in patch.get_path().to_polygons(closed_only=True):
        x, y = np.asarray(ring).T
        total += float(x[:-1] @ y[1:] - x[1:] @ y[:-1]) / 2
    return total


def extent(patch: PathPatch) -> list[float]:
    return [float(side) for side in patch.get_path().get_extents().extents]


def texts(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [text.get_text() for text in [*ax.texts, *(legend.get_texts() if legend else ())]]


class TestOverlap:
    def test_regions_are_those_of_the_boxes(self) -> None:
        shown = patches(overlap_figure(OBJECT, DETECTION))
        assert {name: area(patch) for name, patch in shown.items()} == {
            "TP": 20, "FP": 16, "FN": 16, "ground_truth": 36, "detection": 36,
        }  # fmt: skip
        assert extent(shown["TP"]) == [4, 3, 8, 8]
        assert extent(shown["FN"]) == OBJECT
        assert extent(shown["FP"]) == DETECTION

    @settings(max_examples=25)
    @given(pair=grid_boxes(np.float64, min_size=2, max_size=2))
    def test_areas_add_up(self, pair: FloatArray) -> None:
        ax = overlap_figure(*pair)
        shown = {name: area(patch) for name, patch in patches(ax).items()}
        common = float(ioukit.elementwise_intersection(*pair))
        assert shown.get("TP", 0) == common
        assert (
            shown.get("TP", 0) + shown.get("FN", 0) == Boxes(pair[0], dtype=np.float64).area[0] == shown["ground_truth"]
        )
        assert shown.get("TP", 0) + shown.get("FP", 0) == Boxes(pair[1], dtype=np.float64).area[0] == shown["detection"]
        assert all(size > 0 for name, size in shown.items() if name in ("TP", "FP", "FN")), "no empty region is drawn"

    def test_values_are_those_of_the_library(self) -> None:
        ax = overlap_figure(OBJECT, DETECTION)
        (table,) = (text.get_text() for text in ax.texts if text.get_gid() == "values")
        printed = {name: float(value) for name, value in (line.split() for line in table.splitlines())}
        assert printed == {
            name: round(float(getattr(ioukit, f"elementwise_{name.lower()}")(OBJECT, DETECTION)), 3)
            for name in ("IoU", "IoA", "GIoU", "DIoU", "CIoU")
        }

    def test_names_and_areas_are_written(self) -> None:
        ax = overlap_figure(OBJECT, DETECTION)
        shown = texts(ax)
        assert {"TP", "FP", "FN", "TN", "object: 36", "detection: 36", "TN (the rest): not counted"} <= set(shown)
        assert {"TP (both): 20", "FP (detection only): 16", "FN (object only): 16"} <= set(shown)
        for text in ax.texts:
            if text.get_text() in ("TP", "FP", "FN"):
                inside = patches(ax)[text.get_text()].get_path().contains_point(text.get_position())
                assert inside, f"{text.get_text()} stands outside its region"

    def test_a_sliver_has_its_name_in_the_legend_alone(self) -> None:
        ax = overlap_figure([0, 0, 100, 20], [95, 0, 105, 20])
        assert "FP" not in texts(ax)
        assert "FP (detection only): 100" in texts(ax)

    @pytest.mark.parametrize(
        ("detection", "regions"),
        [
            (OBJECT, {"TP"}),
            ([4, 4, 6, 6], {"TP", "FN"}),
            ([0, 0, 9, 9], {"TP", "FP"}),
            ([8, 2, 9, 8], {"FP", "FN"}),
            ([5, 5, 5, 5], {"FN"}),
        ],
    )
    def test_only_regions_that_are_there(self, detection: list[float], regions: set[str]) -> None:
        assert patches(overlap_figure(OBJECT, detection)).keys() - {"ground_truth", "detection"} == regions

    def test_regions_differ_without_colour(self) -> None:
        shown = patches(overlap_figure(OBJECT, DETECTION))
        assert len({shown[name].get_hatch() for name in ("TP", "FP", "FN")} - {None}) == 3
        assert shown["ground_truth"].get_linestyle() != shown["detection"].get_linestyle()

    def test_hatches_are_seen_in_svg(self) -> None:
        """There a transparent patch hides a hatch of its own colour."""
        for patch in patches(overlap_figure(OBJECT, DETECTION)).values():
            if patch.get_hatch():
                assert np.asarray(patch.get_facecolor())[3] == 1
                assert patch.get_facecolor() != patch.get_edgecolor()

    def test_formats_and_units(self) -> None:
        as_sizes = overlap_figure([2, 2, 6, 6], [4, 3, 6, 6], format="xywh")
        assert extent(patches(as_sizes)["TP"]) == [4, 3, 8, 8]
        mixed = overlap_figure(Boxes([5, 5, 6, 6], "cxcywh"), DETECTION)
        assert extent(patches(mixed)["FN"]) == OBJECT
        relative = [Boxes(box, normalized=True).scale(0.05) for box in (OBJECT, DETECTION)]
        assert overlap_figure(*relative).get_xlabel() == "x (parts of the image)"
        with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
            overlap_figure(relative[0], DETECTION)

    @pytest.mark.parametrize(
        ("pair", "message"),
        [
            ((OBJECT, [OBJECT, OBJECT]), "detection must be one box, got 2"),
            (([], OBJECT), "ground_truth must be one box, got 0"),
            ((OBJECT, [3, 0, 2, 1]), r"detection: boxes\[0\] is .*inverted"),
        ],
    )
    def test_what_is_not_one_box(self, pair: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            overlap_figure(*pair)

    def test_y_points_down_and_the_boxes_are_in_sight(self) -> None:
        ax = overlap_figure(OBJECT, DETECTION)
        ax.figure.canvas.draw()
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert left < 2
        assert right > 10
        assert top < 2
        assert bottom > 9


class TestGrid:
    BOXES: tuple[list[float], ...] = (
        [96, 96, 224, 160],
        [100, 200, 300, 390],
        [180, 250, 230, 350],
        [400, 5, 432, 60],
        [-90, 300, 20, 340],
    )

    @pytest.mark.parametrize("grid", [13, 26, 52])
    def test_the_cell_of_each_centre_is_marked(self, grid: int) -> None:
        shown = patches(grid_figure(self.BOXES, grid=grid, image_size=(416, 416)))
        cells = set()
        for x1, y1, x2, y2 in self.BOXES[:3]:
            row, column = (int((low + high) / 2 // (416 / grid)) for low, high in ((y1, y2), (x1, x2)))
            cells.add(f"cell {row} {column}")
            x, y = (x1 + x2) / 2, (y1 + y2) / 2
            left, top, right, bottom = extent(shown[f"cell {row} {column}"])
            assert left <= x < right
            assert top <= y < bottom
            assert_allclose([right - left, bottom - top], 416 / grid)
        # The fourth has its centre on the right edge, the last beyond the left one: no cell answers.
        assert {name for name in shown if name.startswith("cell")} == cells
        for number, box in enumerate(self.BOXES):
            assert extent(shown[f"box {number}"]) == box

    def test_cells_are_half_open(self) -> None:
        ax = grid_figure(np.array([[63, 31, 65, 33], [0, 0, 0, 0], [-1, -1, 0.9, 1]]), image_size=(416, 416))
        assert {name for name in patches(ax) if "cell" in name} == {"cell 1 2", "cell 0 0"}

    def test_an_image_that_is_no_square(self) -> None:
        shown = patches(grid_figure([[300, 100, 340, 140]], grid=10, image_size=(640, 480)))
        assert extent(shown["cell 2 5"]) == [320, 96, 384, 144]

    def test_a_shared_cell_is_hatched(self) -> None:
        ax = grid_figure(self.BOXES, image_size=(416, 416))
        shown = patches(ax)
        assert shown["cell 9 6"].get_hatch()
        assert not shown["cell 4 5"].get_hatch()
        assert {"cell of several centres", "cell of one centre"} <= set(texts(ax))

    def test_labels_units_and_formats(self) -> None:
        boxes = Boxes(self.BOXES)
        ax = grid_figure(boxes.normalize(416, 208).convert("cxcywh"), image_size=(416, 208), labels=list("abcde"))
        assert set("abcde") <= set(texts(ax))
        for number, box in enumerate(self.BOXES):
            assert_allclose(extent(patches(ax)[f"box {number}"]), box, rtol=1e-5)
        as_sizes = boxes.convert("xywh").to_list()
        assert extent(patches(grid_figure(as_sizes, image_size=(416, 416), format="xywh"))["box 1"]) == self.BOXES[1]

    def test_no_boxes(self) -> None:
        ax = grid_figure([], image_size=(416, 416))
        assert patches(ax) == {}
        assert len(ax.get_lines()) == 2 * 12

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"grid": 0}, ValueError, "grid must be at least 1, got 0"),
            ({"grid": 1.5}, TypeError, "float"),
            ({"image_size": (0, 416)}, ValueError, "width must be positive"),
            ({"labels": ["a"]}, ValueError, "labels must hold one label per box, got 1 for 5"),
        ],
    )
    def test_what_is_refused(self, options: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            grid_figure(self.BOXES, **{"image_size": (416, 416), **options})


class TestVariants:
    @pytest.mark.parametrize("motion", ["shift", "scale"])
    def test_lines_are_what_the_library_computes(self, motion: Any) -> None:
        ax = variants_figure(motion=motion)
        lines = {str(line.get_label()): line for line in ax.get_lines()}
        assert list(lines) == ["IoU", "GIoU", "DIoU", "CIoU"]
        for name, line in lines.items():
            steps, values = (np.asarray(data) for data in line.get_data())
            for step, value in zip(steps[::25].tolist(), values[::25].tolist(), strict=True):
                moved = [4 * step, 0, 4 * step + 4, 4] if motion == "shift" else [4 - 2 * step, 1, 4 + 2 * step, 3]
                assert value == getattr(ioukit, f"elementwise_{name.lower()}")([0, 0, 4, 4], moved)

    @pytest.mark.parametrize("motion", ["shift", "scale"])
    def test_lines_differ_without_colour_and_are_named_where_they_end(self, motion: Any) -> None:
        ax = variants_figure(motion=motion)
        lines = ax.get_lines()
        assert len({line.get_linestyle() for line in lines}) == len({line.get_marker() for line in lines}) == 4
        named = [name for text in ax.texts for name in text.get_text().split(" = ")]
        assert sorted(named) == sorted(str(line.get_label()) for line in lines)
        low, high = ax.get_ylim()
        heights = sorted(text.xy[1] for text in ax.texts)  # type: ignore[attr-defined]
        assert (np.diff(heights) > 0.04 * (high - low)).all(), "labels overlap"

    def test_equal_ends_share_a_label(self) -> None:
        assert "DIoU = CIoU" in texts(variants_figure(motion="shift"))

    def test_an_unknown_motion(self) -> None:
        with pytest.raises(ValueError, match="unknown motion 'spin'; choose from shift, scale"):
            variants_figure(motion="spin")  # type: ignore[arg-type]

    @pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
    def test_one_variant(self, row: Any) -> None:
        options = getattr(row, "option_values", {})
        ax = variant_figure(row.name, **options)
        line = ax.get_lines()[0]
        shift, values = (np.asarray(data) for data in line.get_data())
        boxes = np.array([1.0, 1, 3, 3]) + 4 * shift[:, None] * [1, 0, 1, 0]
        assert_array_equal(values, getattr(ioukit, f"elementwise_{row.name}")([0, 0, 4, 4], boxes, **options))
        assert_allclose(values, values[::-1], atol=1e-12, err_msg="left and right are alike")
        assert row.name.replace("_", "") == ax.get_ylabel().lower().replace("-", "").replace(" ", "")

    def test_options_reach_the_function(self) -> None:
        (line,) = variant_figure("ioa", of="first").get_lines()[:1]
        assert np.asarray(line.get_ydata()).max() == 0.25

    def test_an_unknown_variant(self) -> None:
        with pytest.raises(ValueError, match="unknown variant 'jaccard'; choose from intersection, iou"):
            variant_figure("jaccard")


class TestManners:
    @every_picture
    def test_axes_in_axes_out(self, draw: Any) -> None:
        figure = Figure(figsize=(10, 4), layout="constrained")
        ax, other = figure.subplots(1, 2)
        assert draw(ax) is ax
        assert not other.has_data()
        assert ax.get_title() == ""
        assert figure.get_suptitle() == ""
        assert ax.get_xlabel()
        assert ax.get_ylabel()

    @every_picture
    def test_nothing_global_changes(self, draw: Any) -> None:
        before = dict(mpl.rcParams)
        had_pyplot = "matplotlib.pyplot" in sys.modules
        draw(None).figure.canvas.draw()
        assert dict(mpl.rcParams) == before
        assert ("matplotlib.pyplot" in sys.modules) == had_pyplot

    @every_picture
    def test_renders_without_a_display_and_clips_nothing(self, draw: Any) -> None:
        canvas: Any = FigureCanvasAgg(draw(None).figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert (edge == 255).all(), "something is cut off at the edge of the figure"


def test_without_matplotlib_the_extra_is_named() -> None:
    program = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] == 'matplotlib':\n"
        "            raise ModuleNotFoundError(name='matplotlib')\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from ioukit import plots\n"
        "for draw in (lambda: plots.overlap_figure([0, 0, 1, 1], [0, 0, 1, 1]), plots.variants_figure,\n"
        "             lambda: plots.grid_figure([], image_size=(1, 1)), lambda: plots.variant_figure('iou')):\n"
        "    try:\n"
        "        draw()\n"
        "    except ModuleNotFoundError as error:\n"
        "        print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names = ["overlap_figure", "variants_figure", "grid_figure", "variant_figure"]
    assert ran.stdout.splitlines() == [f"{name} needs matplotlib: pip install 'ioukit[plots]'" for name in names]


def test_the_fonts_of_a_pdf_are_truetype() -> None:
    for ax in (overlap_figure(OBJECT, DETECTION), variants_figure(motion="shift")):
        file = io.BytesIO()
        assert isinstance(ax.figure, Figure)
        ax.figure.savefig(file, format="pdf")
        assert b"/CIDFontType2" in file.getvalue()
        assert b"/Type3" not in file.getvalue()
