"""Boxes drawn on images: which they are, how they look, and where their labels stand."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit._label_places import place_labels
from ioukit.evaluation import Evaluation, Outcome
from ioukit.plots import boxes_figure, worst_images_figure
from ioukit.plots._box_drawing import score_text
from ioukit.plots.boxes import KINDS
from ioukit.statistics import image_influence
from support.data_rows import outcomes_in_data
from support.evaluated_scenes import HARD_NAMES, SCENES, made

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

# matplotlib says so where its font lacks letters, and draws empty rectangles; what is tested is that they come through.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font:UserWarning")

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


@cache
def scene(name: str) -> Evaluation:
    found: Evaluation = SCENES[name]()
    return found


def render(figure: Any, dpi: float = 80) -> Any:
    """Pixels, (H, W, 3)."""
    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def plates(ax: Any) -> Any:
    """(L, 4) what the labels cover, in pixels."""
    shown = [text for text in ax.texts if str(text.get_gid()).startswith("label of") and text.get_visible()]
    return np.array([text.get_bbox_patch().get_window_extent().extents for text in shown]).reshape(-1, 4)


def overlaps(rectangles: Any) -> int:
    """How many pairs have pixels in common."""
    low = np.maximum(rectangles[:, None, :2], rectangles[None, :, :2])
    high = np.minimum(rectangles[:, None, 2:], rectangles[None, :, 2:])
    return int(np.triu((high - low > 1e-6).all(axis=2), 1).sum())


def check_labels(ax: Axes) -> int:
    """None covers another, none leaves the axes; how many there are."""
    found, frame = plates(ax), np.array(ax.get_window_extent().extents)
    assert overlaps(found) == 0
    assert (found[:, :2] >= frame[:2] - 1e-6).all()
    assert (found[:, 2:] <= frame[2:] + 1e-6).all()
    return len(found)


def patches(ax: Axes) -> dict[str, Any]:
    found = [(str(patch.get_gid()), patch) for patch in ax.patches if patch.get_gid() is not None]
    assert len(dict(found)) == len(found)
    return dict(found)


class TestPlaceLabels:
    @settings(max_examples=200)
    @given(
        corners=st.lists(st.tuples(*[st.floats(-50, 450)] * 4), max_size=40),
        sizes=st.lists(st.tuples(st.floats(1, 200), st.floats(1, 40)), min_size=40, max_size=40),
        frame=st.tuples(st.floats(1, 500), st.floats(1, 500)),
        covered=st.floats(0, 1),
    )
    def test_none_covers_another_or_leaves_the_frame(
        self, corners: Any, sizes: Any, frame: Any, covered: float
    ) -> None:
        boxes = np.array([[min(a, c), min(b, d), max(a, c), max(b, d)] for a, b, c, d in corners]).reshape(-1, 4)
        wordings = [[size, (size[0] / 2, size[1])] for size in sizes[: len(boxes)]]
        placed = place_labels(boxes, wordings, np.array([0, 0, *frame]), covered=covered)
        assert len(placed) == len(boxes)
        rectangles = []
        for box, spot, words in zip(boxes, placed, wordings, strict=True):
            if spot is None:
                continue
            wording, x, y = spot
            width, height = words[wording]
            assert x >= 0
            assert y >= 0
            assert x + width <= frame[0] + 1e-9
            assert y + height <= frame[1] + 1e-9
            assert x <= box[2] + 1e-9, "a label touches its box"
            assert x + width >= box[0] - 1e-9
            assert y <= box[3] + 1e-9
            assert y + height >= box[1] - 1e-9
            rectangles.append([x, y, x + width, y + height])
        assert overlaps(np.array(rectangles).reshape(-1, 4)) == 0
        areas = [(r[2] - r[0]) * (r[3] - r[1]) for r in rectangles]
        assert sum(areas[1:]) <= covered * frame[0] * frame[1] + 1e-6

    def test_above_first_then_inside(self) -> None:
        frame = np.array([0, 0, 100, 100])
        boxes = np.array([[10, 30, 60, 80], [10, 5, 60, 80]])
        assert place_labels(boxes[:1], [[(20, 10)]], frame) == [(0, 10, 20)]
        assert place_labels(boxes[1:], [[(20, 10)]], frame) == [(0, 10, 5)], "no room above"

    def test_the_shorter_wording_where_the_longer_has_no_room(self) -> None:
        frame = np.array([0, 0, 30, 30])
        assert place_labels(np.array([[0, 0, 30, 30]]), [[(31, 5), (29, 5)]], frame) == [(1, 0, 0)]
        assert place_labels(np.array([[0, 0, 30, 30]]), [[(31, 5)]], frame) == [None]

    def test_a_box_outside_of_the_frame_has_none(self) -> None:
        assert place_labels(np.array([[40, 40, 50, 50]]), [[(5, 5)]], np.array([0, 0, 30, 30])) == [None]


class TestBoxes:
    def test_boxes_are_those_of_the_data(self) -> None:
        evaluation = scene("three classes")
        became = outcomes_in_data(evaluation.matches, evaluation.outcomes(score_threshold=0.3))
        truth, detections = evaluation.ground_truth, evaluation.detections
        assert truth is not None
        assert detections is not None
        for image_id in truth.images.ids.tolist():
            shown = patches(boxes_figure(evaluation, image_id, score_threshold=0.3))
            expected = {}
            for row in np.flatnonzero(truth.image_ids == image_id).tolist():
                kind = {
                    Outcome.TRUE_POSITIVE: "object",
                    Outcome.FALSE_NEGATIVE: "FN",
                    Outcome.IGNORED: "ignored object",
                }
                expected[f"{kind[Outcome(became.ground_truth[row])]} {row}"] = truth.boxes[row]
            for row in np.flatnonzero(detections.image_ids == image_id).tolist():
                said = {Outcome.TRUE_POSITIVE: "TP", Outcome.FALSE_POSITIVE: "FP", Outcome.IGNORED: "ignored"}
                if became.detections[row] != Outcome.NOT_COUNTED:
                    expected[f"{said[Outcome(became.detections[row])]} {row}"] = detections.boxes[row]
            assert set(shown) == set(expected)
            for gid, (x, y, w, h) in expected.items():
                assert_allclose(shown[gid].get_path().get_extents().extents, [x, y, x + w, y + h], err_msg=gid)

    def test_labels_say_class_and_score(self) -> None:
        evaluation = scene("three classes")
        detections = evaluation.detections
        assert detections is not None
        ax = boxes_figure(evaluation, 1, score_threshold=0.3)
        render(ax.figure)
        names = dict(enumerate(evaluation.matches.categories.names, 1))
        said = 0
        for text in ax.texts:
            kind, row = str(text.get_gid()).removeprefix("label of ").rsplit(" ", 1)
            if kind in ("TP", "FP"):
                mark = "FP " if kind == "FP" else ""
                score = detections.scores[int(row)]
                assert text.get_text() == f"{mark}{names[int(detections.category_ids[int(row)])]} {score:.2f}"
                said += 1
            assert "object" not in kind or kind == "ignored object", "the object that was found has no second label"
        assert said > 1

    def test_with_little_room_the_class_stays(self) -> None:
        words = score_text("a remote control", 0.456, "FP ")
        assert (words[0], words[-1]) == ("FP a remote control 0.46", "FP a remo\N{HORIZONTAL ELLIPSIS}rol")
        assert score_text("", 0.456, "FP ") == ["FP 0.46"]

    def test_kinds_differ_without_colour(self) -> None:
        dashes = [str(kind.dashes) for kind in KINDS.values()]
        assert len(set(zip(dashes, [kind.hatch for kind in KINDS.values()], strict=True))) == 4
        assert KINDS["object"].dashes == KINDS["TP"].dashes == "-"
        assert KINDS["TP"].width > 2 * KINDS["object"].width
        assert {kind.mark for name, kind in KINDS.items() if name in ("FP", "FN", "ignored")} == {
            "FP ",
            "FN ",
            "ignored ",
        }

    def test_by_default_from_the_score_with_the_best_f1(self) -> None:
        evaluation = scene("three classes")
        best = evaluation.score_curves().overall.best.score
        one, other = (patches(boxes_figure(evaluation, 2, **o)) for o in ({}, {"score_threshold": best}))  # type: ignore[arg-type]
        assert set(one) == set(other)
        became = evaluation.outcomes(score_threshold=best)
        assert set(patches(boxes_figure(evaluation, 2, outcomes=became))) == set(one)

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("name", ["three classes", "hard names", "no detections", "no objects", "one image"])
    def test_labels_of_a_scene(self, name: str, theme: Any) -> None:
        evaluation = scene(name)
        assert evaluation.ground_truth is not None
        labels = 0
        for image_id in evaluation.ground_truth.images.ids.tolist():
            ax = boxes_figure(evaluation, image_id, theme=theme, score_threshold=-1)
            render(ax.figure, dpi=50)
            labels += check_labels(ax)
        assert labels > len(evaluation.ground_truth.images)

    @pytest.mark.parametrize("seed", range(4))
    def test_labels_of_crowded_images(self, seed: int) -> None:
        """Sixty boxes in all sizes of axes, which change after the labels were made."""
        rng = np.random.default_rng(seed)
        names = [*HARD_NAMES, "cat", "dog"]
        evaluation = crowded(rng, names)
        figure = Figure(figsize=(7, 5), layout="constrained")
        panels = figure.subplots(1, 2, width_ratios=[3, 1])
        for ax in panels:
            boxes_figure(evaluation, 1, ax=ax, score_threshold=0, legend=False)
        for dpi, size in ((60, (7, 5)), (150, (7, 5)), (80, (3, 5)), (80, (2, 2))):
            figure.set_size_inches(size)
            render(figure, dpi)
            counts = [check_labels(ax) for ax in panels]
            if size == (7, 5):
                assert counts[0] >= 10

    def test_zoomed_in_labels_stay_in_the_axes(self) -> None:
        ax = boxes_figure(scene("three classes"), 1, score_threshold=0)
        ax.set(xlim=(100, 300), ylim=(250, 100))
        render(ax.figure)
        check_labels(ax)

    @pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P"])
    def test_files_and_arrays(self, mode: str, tmp_path: Path) -> None:
        """A picture half red and half blue is seen where it should be."""
        pixels = np.zeros((48, 64, 3), np.uint8)
        pixels[:, :32, 0] = pixels[:, 32:, 2] = 255
        path = tmp_path / "picture.png"
        Image.fromarray(pixels).convert(mode).save(path)
        evaluation = scene("no detections")
        for image in (path, str(path), np.asarray(Image.open(path).convert("L" if mode == "L" else "RGB"))):
            ax = boxes_figure(evaluation, 3, image=image, labels=False)
            assert ax.get_xlim() == (0, 640)
            assert ax.get_ylim() == (480, 0)
            (drawn,) = ax.get_images()
            assert tuple(drawn.get_extent()) == (0, 640, 480, 0), "stretched over the frame"
            seen = render(ax.figure)
            (left, top), (right, _) = ax.transData.transform([(10, 10), (630, 10)]).astype(int)
            height = len(seen)
            if mode == "L":
                assert seen[height - top, left].max() < 100
            else:
                assert_array_equal(seen[height - top, left] > 128, [True, False, False])
                assert_array_equal(seen[height - top, right] > 128, [False, False, True])

    def test_the_frame_where_the_data_does_not_say(self) -> None:
        from ioukit import Detections, GroundTruth, evaluate  # noqa: PLC0415

        truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=np.array([[10.0, 20.0, 30.0, 40.0]]))
        evaluation = evaluate(truth, Detections.from_coco([]))
        ax = boxes_figure(evaluation, 1)
        assert ax.get_xlim() == (0, 40)
        assert ax.get_ylim() == (60, 0)
        assert boxes_figure(evaluation, 1, image=np.zeros((90, 120, 3), np.uint8)).get_xlim() == (0, 120)

    def test_what_is_refused(self, tmp_path: Path) -> None:
        evaluation = scene("three classes")
        with pytest.raises(ValueError, match="no image has the id 99"):
            boxes_figure(evaluation, 99)
        with pytest.raises(ValueError, match=r"image must be a path or of shape \(H, W\), .* got \(2, 2, 2\)"):
            boxes_figure(evaluation, 1, image=np.zeros((2, 2, 2)))
        with pytest.raises(FileNotFoundError, match=r"missing\.png"):
            boxes_figure(evaluation, 1, image=tmp_path / "missing.png")
        alone = Evaluation(evaluation.matches, evaluation.curves)
        with pytest.raises(ValueError, match="this evaluation holds only its match table"):
            boxes_figure(alone, 1)


def crowded(rng: Any, names: list[str]) -> Evaluation:
    """One image with thirty objects and thirty detections."""
    from ioukit import Detections, GroundTruth, evaluate  # noqa: PLC0415

    sides = rng.uniform(4, 200, (60, 2)) ** rng.uniform(0.3, 1, (60, 1))
    boxes = np.concatenate([rng.uniform(-20, [620, 460], (60, 2)), sides], axis=1)
    labels = rng.integers(1, len(names) + 1, 60)
    truth = {
        "images": [{"id": 1, "width": 640, "height": 480}],
        "categories": [{"id": k, "name": name} for k, name in enumerate(names, 1)],
        "annotations": [
            {"id": k + 1, "image_id": 1, "category_id": int(labels[k]), "bbox": boxes[k].tolist(),
             "area": float(sides[k].prod()), "iscrowd": 0} for k in range(30)
        ],
    }  # fmt: skip
    found = [
        {"image_id": 1, "category_id": int(labels[k]), "bbox": boxes[k].tolist(), "score": float(rng.random())}
        for k in range(15, 60)
    ]
    return evaluate(GroundTruth.from_coco(truth), Detections.from_coco(found))


class TestWorstImages:
    def test_the_worst_come_first(self) -> None:
        evaluation = scene("three classes")
        figure = worst_images_figure(evaluation, most=5, columns=3, score_threshold=0.3)
        results = evaluation.per_image(score_threshold=0.3)
        worst = results.worst(5)
        drawn = [ax for ax in figure.axes if ax.get_gid()]
        assert [ax.get_gid() for ax in drawn] == [f"image {results.image_ids[at]}" for at in worst]
        for ax, at in zip(drawn, worst, strict=True):
            title = ax.get_title(loc="left")
            assert f"FP {results.false_positives[at]}   FN {results.false_negatives[at]}   F1" in title
            assert f"{results.image_ids[at]}.png" in title
            shown = [gid.split()[0] for gid in patches(ax)]
            assert shown.count("FP") == results.false_positives[at]
            assert shown.count("FN") == results.false_negatives[at]
        render(figure)
        assert sum(check_labels(ax) for ax in drawn) > 4

    @pytest.mark.parametrize("name", [*SCENES])
    def test_whatever_there_is(self, name: str) -> None:
        render(worst_images_figure(scene(name), most=4, theme="dark"), dpi=40)

    def test_images_without_errors_are_left_out(self) -> None:
        evaluation = scene("neither")
        (ax,) = worst_images_figure(evaluation).axes
        assert [text.get_text() for text in ax.texts] == ["no errors on 9 images"]

    def test_the_most_costly_come_first(self) -> None:
        evaluation = scene("three classes")
        figure = worst_images_figure(evaluation, most=5, columns=3, worst_by="cost")
        costly = image_influence(evaluation).worst(5)
        assert costly
        drawn = [ax for ax in figure.axes if ax.get_gid()]
        assert [ax.get_gid() for ax in drawn] == [f"image {row.image_id}" for row in costly]
        for ax, row in zip(drawn, costly, strict=True):
            assert f"costs {-row.adds:.4f} AP" in ax.get_title(loc="left")
        render(figure)
        (ax,) = worst_images_figure(scene("neither"), worst_by="cost").axes
        assert [text.get_text() for text in ax.texts] == ["no cost of any of 9 images"]

    def test_images_of_a_folder_and_by_id(self, tmp_path: Path) -> None:
        evaluation = scene("no detections")
        for number in (1, 2, 3):
            Image.new("RGB", (32, 24), "red").save(tmp_path / f"{number}.png")
        for images in (tmp_path, str(tmp_path), {k: np.zeros((4, 4)) for k in (1, 2, 3)}):
            figure = worst_images_figure(evaluation, images=images, most=9)
            with_picture = {ax.get_gid() for ax in figure.axes if ax.get_images()}
            assert with_picture == {"image 1", "image 2", "image 3"}

    def test_names_do_not_lead_out_of_the_folder(self, tmp_path: Path) -> None:
        from ioukit.plots._images import found_in  # noqa: PLC0415

        inside = tmp_path / "inside"
        inside.mkdir()
        for path in (tmp_path / "secret.png", inside / "1.png"):
            path.write_bytes(b"")
        assert found_in(inside, "1.png") == inside / "1.png"
        for name in ("../secret.png", str(tmp_path / "secret.png"), "", ".", "2.png"):
            assert found_in(inside, name) is None

    def test_what_is_refused(self) -> None:
        with pytest.raises(ValueError, match="most must be at least 1, got 0"):
            worst_images_figure(made(), most=0)
        with pytest.raises(ValueError, match="unknown worst_by 'size'"):
            worst_images_figure(made(), worst_by="size")  # type: ignore[arg-type]
