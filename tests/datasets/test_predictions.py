"""What detectors return, as detections: every tool's object says the same as the arrays that it was made of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - examples have no deadline
from ioukit import DatasetError, evaluate
from ioukit.datasets import Detections, GroundTruth, from_predictions
from ioukit.datasets.columns.masks import decode
from support.predicted import MAKERS, NAMES, Instances, as_dict, as_instances, as_results, as_sample, as_supervision

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZE = (40, 60)
GT = GroundTruth.from_arrays(
    image_ids=[7],
    category_ids=[30],
    boxes=[[10, 10, 20, 10]],
    images=[7, 9],
    sizes=[[60, 40], [60, 40]],
    names=["val/a.jpg", "val/b.jpg"],
    categories={10: "traffic light", 20: "犬", 30: "cat"},
)
NONE: dict[str, Any] = {"boxes": [], "scores": [], "labels": []}
CATEGORY = {0: 30, 1: 10, 2: 20}
numbers = st.floats(0, 60, width=32)


@st.composite
def found_objects(draw: st.DrawFn, *, rotated: bool = False, masks: bool = False, keypoints: bool = False) -> Any:
    """What a model found on an image, as NumPy's arrays."""
    count = draw(st.integers(0, 4))
    corners = np.array([[draw(numbers) for _ in range(4)] for _ in range(count)], np.float32).reshape(-1, 2, 2)
    found: dict[str, NDArray[Any]] = {
        "boxes": np.sort(corners, axis=1).reshape(-1, 4),
        "scores": np.array([draw(st.floats(0, 1, width=32)) for _ in range(count)], np.float32),
        "labels": np.array([draw(st.sampled_from(sorted(NAMES))) for _ in range(count)], np.int64),
    }
    if rotated:
        rows = [
            (*(draw(st.floats(1, 50, width=32)) for _ in range(4)), draw(st.floats(-1.5, 1.5, width=32)))
            for _ in range(count)
        ]
        found["rotated"] = np.array(rows, np.float32).reshape(-1, 5)
    if masks:
        pixels = [draw(st.binary(min_size=300, max_size=300)) for _ in range(count)]
        bits = np.array([np.unpackbits(np.frombuffer(one, np.uint8)) for one in pixels], np.bool_)
        found["masks"] = bits.reshape(-1, *SIZE)
    if keypoints:
        found["keypoints"] = np.array([[draw(numbers) for _ in range(9)] for _ in range(count)], np.float32).reshape(
            -1, 3, 3
        )
    return found


def same(value: NDArray[Any]) -> NDArray[Any]:
    return value


def expect(dt: Detections, parts: list[Any], categories: Any = CATEGORY) -> None:
    """Whether the detections are those of the parts."""
    boxes = np.concatenate([part["boxes"] for part in parts]).astype(np.float64)
    labels = np.concatenate([part["labels"] for part in parts]).tolist()
    assert dt.scores.tolist() == np.concatenate([part["scores"] for part in parts]).tolist()
    assert dt.category_ids.tolist() == [categories[one] for one in labels]
    np.testing.assert_array_equal(dt.boxes, np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]))


@pytest.mark.parametrize("tool", MAKERS)
@given(parts=st.lists(found_objects(), min_size=2, max_size=2))
def test_boxes_scores_and_classes(tool: str, parts: list[Any]) -> None:
    values = [MAKERS[tool](part, same) for part in parts]
    dt = from_predictions(values, image_ids=[9, 7], ground_truth=GT, classes=["cat", "traffic light", "犬"])
    expect(dt, parts)
    assert dt.image_ids.tolist() == [9] * len(parts[0]["scores"]) + [7] * len(parts[1]["scores"])
    by_id = from_predictions(dict(zip([9, 7], values, strict=True)), classes=CATEGORY)
    assert (by_id.image_ids.tolist(), by_id.category_ids.tolist()) == (dt.image_ids.tolist(), dt.category_ids.tolist())
    as_they_are = from_predictions(iter(values), image_ids=iter([9, 7]))
    expect(as_they_are, parts, {label: label for label in NAMES})


@pytest.mark.parametrize("tool", ["ultralytics", "supervision"])
@given(part=found_objects())
def test_classes_are_found_by_name(tool: str, part: Any) -> None:
    dt = from_predictions([MAKERS[tool](part, same)], image_ids=["a"], ground_truth=GT)
    expect(dt, [part])
    assert set(dt.image_ids.tolist()) <= {7}
    swapped = from_predictions(
        [MAKERS[tool](part, same)], image_ids=["a"], ground_truth=GT, classes={"cat": "犬", "traffic light": 30, 2: 10}
    )
    expect(swapped, [part], {0: 20, 1: 30, 2: 10})


@pytest.mark.parametrize("tool", ["dict", "detectron2", "mmdetection", "supervision", "ultralytics"])
@given(part=found_objects(masks=True))
def test_masks(tool: str, part: Any) -> None:
    dt = from_predictions([MAKERS[tool](part, same)], image_ids=[7], ground_truth=GT, classes=CATEGORY)
    if len(dt):
        sizes = np.tile([60.0, 40.0], (len(dt), 1))
        masks = decode(dt.segmentations or [], sizes, source="x", array="detections")
        np.testing.assert_array_equal(masks.to_arrays(), part["masks"])
        areas = from_predictions([MAKERS[tool](part, same)], image_ids=[7], classes=CATEGORY, areas="masks").areas
        assert areas is not None
        assert areas.tolist() == part["masks"].sum(axis=(1, 2)).tolist()


@pytest.mark.parametrize("tool", ["dict", "detectron2", "ultralytics"])
@given(part=found_objects(keypoints=True))
def test_keypoints(tool: str, part: Any) -> None:
    dt = from_predictions([MAKERS[tool](part, same)], image_ids=[7])
    if len(dt):
        # Adding half a pixel and taking it away again rounds in float32.
        tolerance = 1e-5 if tool == "detectron2" else 0
        np.testing.assert_allclose(dt.regions["keypoints"], part["keypoints"], rtol=0, atol=tolerance)


@pytest.mark.parametrize("tool", ["ultralytics", "supervision", "detectron2", "mmdetection"])
@given(part=found_objects(rotated=True))
def test_rotated_boxes(tool: str, part: Any) -> None:
    dt = from_predictions([MAKERS[tool](part, same)], image_ids=[7])
    if len(dt):
        turned = dt.regions["RotatedBoxes"]
        assert (turned.unit, turned.sense) == ("radians", "clockwise")
        np.testing.assert_allclose(turned.numpy(), part["rotated"], rtol=0, atol=1e-4)
        if tool != "supervision":
            around = turned.to_boxes().convert("xywh").numpy()
            np.testing.assert_allclose(dt.boxes, around, rtol=0, atol=1e-9)


def test_a_turned_box_turns_clockwise() -> None:
    """A box of 20 x 10 that is turned by 90 degrees is 10 wide; by 30 degrees clockwise, its right end goes down."""
    found: Any = {"boxes": np.zeros((1, 4), np.float32), "scores": np.ones(1), "labels": np.zeros(1, np.int64)}
    found["rotated"] = np.array([[30, 20, 20, 10, np.pi / 6]], np.float32)
    for tool in ("ultralytics", "supervision", "detectron2", "mmdetection"):
        (corners,) = from_predictions([MAKERS[tool](found, same)], image_ids=[7]).regions["RotatedBoxes"].corners()
        right = corners[corners[:, 0] > 30]
        assert right[:, 1].mean() == pytest.approx(20 + 10 * np.sin(np.pi / 6), abs=1e-3), tool


def test_tracks_and_images_that_tools_know() -> None:
    found: Any = {"boxes": np.array([[1, 2, 3, 4]], np.float32), "scores": np.ones(1), "labels": np.array([0])}
    tracked = {**found, "tracks": np.array([5])}
    for path, label in (("/data/val/a.jpg", 7), ("b.jpg", 9), ("C:\\data\\val\\b.jpg", 9), ("x/b.png", 9)):
        dt = from_predictions([as_results(tracked, same, path)], ground_truth=GT)
        assert (dt.image_ids.tolist(), dt.attributes["track_id"].tolist()) == ([label], [5])
    mixed = from_predictions([as_results(tracked, same), as_results(found, same)], ground_truth=GT)
    np.testing.assert_array_equal(mixed.attributes["track_id"], [5, np.nan])
    assert from_predictions([as_supervision(tracked, same)], image_ids=[1]).attributes["track_id"].tolist() == [5]
    alone = from_predictions([as_results(found, same, "/data/val/a.jpg")])
    assert alone.image_labels().tolist() == ["a.jpg"]
    for meta, label in (
        ({"img_id": np.int64(9)}, 9),
        ({"img_path": "x/b.jpg"}, 9),
        ({"img_id": 7, "img_path": "b.jpg"}, 7),
    ):
        dt = from_predictions([as_sample(found, same, **meta)], ground_truth=GT, classes=CATEGORY)
        assert dt.image_ids.tolist() == [label]
    record = {"img_id": 9, "pred_instances": {"bboxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [1]}}
    assert from_predictions([record]).boxes.tolist() == [[1, 2, 2, 2]]
    assert from_predictions([Instances(SIZE, **as_instances(found, same)["instances"].get_fields())], image_ids=[1])


def test_fractions_become_pixels() -> None:
    outputs = [{"boxes": [[0, 0.25, 0.5, 1]], "scores": [1], "labels": [30]}]
    dt = from_predictions(outputs, image_ids=[7], ground_truth=GT, normalized=True)
    assert dt.boxes.tolist() == [[0, 10, 30, 30]]
    with pytest.raises(ValueError, match=r"boxes in fractions need the sizes of images: give ground_truth=\.\.\."):
        from_predictions(outputs, image_ids=[7], normalized=True)
    unknown = GroundTruth.from_arrays(image_ids=[7], category_ids=[30], boxes=[[0, 0, 1, 1]])
    with pytest.raises(DatasetError, match=r"predictions\[0\]: expected an image whose width and height are known"):
        from_predictions(outputs, image_ids=[7], ground_truth=unknown, normalized=True)


def test_names_in_the_place_of_labels() -> None:
    boxes, scores = [[1, 2, 3, 4]] * 2, [0.5, 0.25]
    for output in (
        {"labels": ["cat", "犬"]},
        {"labels": [0, 1], "text_labels": ["cat", "犬"]},
        {"labels": np.array(["cat", "犬"])},
    ):
        dt = from_predictions([{"boxes": boxes, "scores": scores, **output}], image_ids=[7], ground_truth=GT)
        assert dt.category_ids.tolist() == [30, 20]
    with pytest.raises(
        ValueError, match=r"predictions\[0\]: label 0: names of classes need ground_truth=..., got 'cat'"
    ):
        from_predictions([{"boxes": boxes, "scores": scores, "labels": ["cat", "犬"]}], image_ids=[7])
    with pytest.raises(DatasetError, match=r"label 0: expected the name of a category .*'cats': .*did you mean 'cat'"):
        from_predictions([{"boxes": boxes, "scores": scores, "labels": ["cats"] * 2}], image_ids=[7], ground_truth=GT)


def test_masks_of_results_that_have_another_size() -> None:
    found: Any = {
        "boxes": np.array([[10, 10, 30, 20]] * 2, np.float32),
        "scores": np.ones(2),
        "labels": np.array([0, 1]),
    }
    result = as_results(found, same)
    outline = np.array([[10, 10], [30, 10], [30, 20], [10, 20]], np.float32)
    result.masks = SimpleNamespace(data=np.zeros((2, 32, 32)), xy=[outline, np.zeros((0, 2), np.float32)])
    dt = from_predictions([result], ground_truth=GT)
    masks = decode(dt.segmentations or [], np.tile([60.0, 40.0], (2, 1)), source="x", array="detections")
    assert masks.area.tolist() == [200, 0]
    assert masks.to_arrays()[0, 10:20, 10:30].all()


def test_rle_of_masks() -> None:
    output = {"boxes": [[0, 0, 3, 2]], "scores": [1], "labels": [1], "masks": [{"size": [2, 3], "counts": [0, 6]}]}
    assert from_predictions([output], image_ids=[1], areas="masks").areas.tolist() == [6]  # type: ignore[union-attr]
    with pytest.raises(DatasetError, match=r"predictions\[0\]: masks: expected records of RLE, found "):
        from_predictions([{**output, "masks": [{"size": [2, 3], "counts": [0, 7]}]}], image_ids=[1])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"boxes": [[1, 2, 3]]}, r"\['boxes'\]: expected numbers of shape \(N, 4\), found shape \(1, 3\)"),
    ({"boxes": [[1, 2, 3, 4], [1, 2]]}, r"\['boxes'\]: expected a regular array, found a list of rows"),
    ({"boxes": [["a", "b", "c", "d"]]}, r"\['boxes'\]: expected numbers of shape \(N, 4\), found values of dtype <U1"),
    ({"boxes": None}, r"\['boxes'\]: expected numbers of shape \(N, 4\), found nothing"),
    ({"scores": [0.5, 0.5]}, r"\['scores'\]: expected 1 numbers, one per box, found 2"),
    ({"labels": None}, r"\['labels'\]: expected numbers of shape \(N,\), found nothing"),
    ({"labels": ["a", "b"]}, r"\['labels'\]: expected 1 names, one per box"),
    (
        {"masks": np.zeros((1, 3))},
        r": masks: expected pixels of shape \(N, H, W\), found shape \(1, 3\) of dtype float64",
    ),
    ({"masks": np.zeros((2, 3, 3))}, r": masks: expected 1 rows, one per box, found 2"),
    ({"masks": np.full((1, 3, 3), np.nan)}, r": masks: expected probabilities, found 'NaN'"),
    ({"keypoints": [[[1, 2]]]}, r"\['keypoints'\]: expected numbers of shape \(N, P, 3\), found shape \(1, 1, 2\)"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_a_bad_object_is_refused(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [1]}
    with pytest.raises(DatasetError, match=rf"^predictions\[1\]{message}"):
        from_predictions([good, {**good, **change}], image_ids=[1, 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boxes": [[1, 2, 3, np.nan]]}, r"box 0: expected finite numbers, found \[1\.0, 2\.0, 3\.0, nan\]"),
        ({"boxes": [[3, 2, 1, 4]]}, r"box 0: expected x1 <= x2 and y1 <= y2, found \[3\.0, 2\.0, 1\.0, 4\.0\]"),
        ({"scores": [np.inf]}, r"score 0: expected a finite number, found inf"),
        ({"labels": [7]}, r"label 0: expected a label among the 3 of classes, found 7\.0"),
        ({"labels": [0.5]}, r"label 0: expected a label among the 3 of classes, found 0\.5"),
    ],
)
def test_a_bad_detection_is_refused_or_left_out(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [1], "masks": np.ones((1, 2, 2))}
    values = [{**good, **change}, good]
    with pytest.raises(DatasetError, match=rf"^predictions\[0\]: {message}"):
        from_predictions(values, image_ids=[1, 2], classes=CATEGORY)
    dt = from_predictions(values, image_ids=[1, 2], classes=CATEGORY, on_invalid="drop")
    assert (dt.image_ids.tolist(), dt.dropped, len(dt.segmentations or [])) == ([2], 1, 1)
    assert "left out 1 x " in dt.notes[0]


def test_images_that_are_not_listed() -> None:
    good: dict[str, Any] = {"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [30]}
    for wrong in (8, "c.jpg"):
        with pytest.raises(DatasetError, match=r"predictions\[1\]: expected an image of ground truth, found "):
            from_predictions([good, good], image_ids=[7, wrong], ground_truth=GT)
        dt = from_predictions([good, good], image_ids=[7, wrong], ground_truth=GT, on_invalid="drop")
        assert (len(dt), dt.dropped) == (1, 1)


@pytest.mark.parametrize(
    ("predictions", "options", "kind", "message"),
    [
        ([5], {"image_ids": [1]}, TypeError, r"predictions\[0\]: expected what a detector returns .*found int"),
        ([{"boxes": []}], {"image_ids": [1]}, TypeError, "found dict"),
        ({"boxes": [], "scores": [], "labels": []}, {}, TypeError, r"found one object: write \[prediction\]"),
        ("results.json", {}, TypeError, "expected a list with an object per image, found str"),
        (5, {}, TypeError, "expected a list with an object per image, found int"),
        ([NONE], {}, ValueError, r"does not say which image it is of: give image_ids=\[...\]"),
        ([], {"image_ids": [1]}, ValueError, "found more ids than objects"),
        ([NONE], {"image_ids": []}, ValueError, "found 0 ids and more objects"),
        ({1: {}}, {"image_ids": [1]}, ValueError, "the keys of a mapping are the ids of images"),
        ([], {"areas": "mask"}, ValueError, "unknown areas 'mask'; choose from boxes, masks"),
        ([], {"classes": "cat"}, TypeError, "classes must be a list or a mapping, got 'cat'"),
        ([], {"on_invalid": "ignore"}, ValueError, "unknown on_invalid 'ignore'"),
        ([NONE], {"image_ids": [1.5]}, TypeError, "expected the id of an image"),
    ],
)
def test_wrong_arguments(predictions: Any, options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        from_predictions(predictions, **options)


def test_columns_that_only_some_detections_have() -> None:
    good: dict[str, Any] = {"boxes": [[1, 2, 3, 4]], "scores": [0.5], "labels": [1]}
    masks, points = {"masks": np.ones((1, 2, 2))}, {"keypoints": np.ones((1, 3, 3))}
    with pytest.raises(DatasetError, match="predictions: expected masks of all detections or of none, found those of"):
        from_predictions([good, {**good, **masks}], image_ids=[1, 2])
    with pytest.raises(DatasetError, match=r"expected keypoints of one shape, found \(2, 3\) and \(3, 3\)"):
        from_predictions([{**good, "keypoints": np.ones((1, 2, 3))}, {**good, **points}], image_ids=[1, 2])
    with pytest.raises(DatasetError, match="expected masks, as areas='masks' was given, found none"):
        from_predictions([good], image_ids=[1], areas="masks")
    classified = SimpleNamespace(orig_shape=(1, 1), names={}, path="", boxes=None, masks=None)
    with pytest.raises(DatasetError, match=r"predictions\[0\]: expected boxes or obb, found a result without them"):
        from_predictions([classified], image_ids=[1])
    dt = from_predictions([NONE, {**good, **masks, **points}, NONE], image_ids=[1, 2, 3])
    assert (len(dt), dt.regions["keypoints"].shape) == (1, (1, 3, 3))
    empty = from_predictions([NONE], image_ids=["a"])
    assert (len(empty), empty.boxes.shape) == (0, (0, 4))


def test_quadrilaterals_are_refused() -> None:
    sample = {"img_id": 1, "pred_instances": {"bboxes": np.zeros((1, 8)), "scores": [1], "labels": [0]}}
    with pytest.raises(DatasetError, match="expected 4 or 5 numbers per box, found 8: quadrilaterals"):
        from_predictions([sample])


def test_corners_that_are_no_rectangle_are_refused() -> None:
    found: dict[str, Any] = {
        "boxes": np.array([[10, 10, 30, 20]], np.float32),
        "rotated": np.array([[20, 15, 20, 10, 0.5]], np.float32),
        "scores": np.ones(1),
        "labels": np.array([0]),
    }
    output = as_supervision(found, same)
    assert "RotatedBoxes" in from_predictions([output], image_ids=[7], ground_truth=GT).regions
    output.data["xyxyxyxy"][0, 0] += 5
    with pytest.raises(DatasetError, match=r"predictions\[0\]\.data\['xyxyxyxy'\]: expected corners of rectangles"):
        from_predictions([output], image_ids=[7], ground_truth=GT)


def test_detections_can_be_evaluated() -> None:
    outputs = {
        7: as_dict(
            {"boxes": np.array([[10, 10, 30, 20]], np.float32), "scores": np.ones(1), "labels": np.array([0])}, same
        )
    }
    assert evaluate(GT, from_predictions(outputs, ground_truth=GT, classes=CATEGORY)).summary["AP"] == pytest.approx(1)


@pytest.mark.parametrize("tool", [tool for tool in MAKERS if tool != "supervision"])
@given(part=found_objects(masks=True))
def test_tensors(tool: str, part: Any) -> None:
    """Tensors of PyTorch, also in half precision and with a gradient."""
    torch = pytest.importorskip("torch")
    expected = from_predictions([MAKERS[tool](part, same)], image_ids=[7])
    ours = from_predictions([MAKERS[tool](part, torch.from_numpy)], image_ids=[7])
    assert (ours.boxes.tolist(), ours.scores.tolist()) == (expected.boxes.tolist(), expected.scores.tolist())
    assert list(ours.segmentations or []) == list(expected.segmentations or [])

    def recorded(value: Any) -> Any:
        tensor = torch.from_numpy(value)
        return tensor.bfloat16().requires_grad_() if tensor.is_floating_point() else tensor

    rough = from_predictions([MAKERS[tool](part, recorded)], image_ids=[7])
    np.testing.assert_allclose(rough.boxes[:, :2], expected.boxes[:, :2], rtol=0.01, atol=1e-3)
