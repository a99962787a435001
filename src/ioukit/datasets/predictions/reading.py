"""From what a detector returns to `Detections`."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ioukit._checks import check_choice
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.datasets.predictions import tools
from ioukit.datasets.predictions.columns import PredictedColumns
from ioukit.datasets.predictions.prediction import Tool
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth


TOOLS = (
    Tool("Ultralytics (Results)", tools.is_ultralytics, tools.read_ultralytics),
    Tool("supervision (Detections)", tools.is_supervision, tools.read_supervision),
    Tool("MMDetection (DetDataSample)", tools.is_mmdetection, tools.read_mmdetection),
    Tool("Detectron2 (Instances)", tools.is_detectron2, tools.read_detectron2),
    Tool("torchvision or Transformers (a dict with boxes, scores and labels)", tools.is_dict, tools.read_dict),
)
"""What detectors return, in the order in which an object is compared with them."""

Classes = Mapping[Any, int | str] | Sequence[int | str]


def from_predictions(
    predictions: Iterable[Any] | Mapping[Any, Any],
    *,
    image_ids: Iterable[int | str] | None = None,
    ground_truth: GroundTruth | None = None,
    classes: Classes | None = None,
    normalized: bool = False,
    areas: str = "boxes",
    mask_threshold: float = 0.5,
    on_invalid: OnInvalid = "error",
    source: str = "predictions",
) -> Detections:
    """Take what a detector returned: one object per image.

    The kind of an object is found by its attributes or keys:

    - torchvision, Transformers' ``post_process_object_detection``, and what TorchMetrics takes: a dict with ``boxes``
      (xyxy), ``scores``, ``labels``, and perhaps ``masks`` and ``keypoints``.
    - Ultralytics' ``Results``: boxes, oriented boxes, masks, keypoints, tracks.
    - supervision's ``Detections``: boxes, oriented boxes, masks, tracks.
    - Detectron2's ``Instances``, or a dict with ``instances``: boxes, rotated boxes, masks, keypoints.
    - MMDetection's and MMRotate's ``DetDataSample``, or the same as a dict: boxes, rotated boxes, masks.

    No tool is imported. Arrays may be of any library and on any device. Corners are converted to
    ``[x, y, width, height]`` in float64. Masks become RLE.

    Args:
        predictions: One object per image; a generator is read once. Or a mapping from the ids of images to objects.
        image_ids: The id of the image of each object, in the same order; its file name or path if ``ground_truth`` is
            given. If ``None``, the objects must say it, as those of Ultralytics (``path``) and MMDetection do. Without
            ``ground_truth``, the name of the file stands for a path.
        ground_truth: The data set. Images are then found by id, by the name of their file, or by that name without
            folders and suffix, and classes by name where the objects have names (Ultralytics, supervision).
        classes: The class of each label: a list, or a mapping by label or name. Its values are ids of categories, or
            names of categories of ``ground_truth``. If ``None``, classes are found by name as said above; where there
            are no names or no ``ground_truth``, labels are ids of categories already, as those of torchvision's models
            for COCO are.
        normalized: Whether boxes are fractions of the image, as those of Transformers without ``target_sizes`` are. The
            sizes of images are then needed from ``ground_truth``.
        areas: ``"boxes"``, or ``"masks"``: which area decides whether a detection is small, medium or large.
            torchvision, Detectron2 and MMDetection take that of the mask when they evaluate masks.
        mask_threshold: A pixel belongs to a mask if its probability is above this number.
        on_invalid: ``"error"`` refuses an invalid detection; ``"drop"`` leaves it out and counts it. Invalid are boxes
            that are not finite or have x1 > x2 or y1 > y2, scores that are not finite, and classes and images that
            ``classes`` and ``ground_truth`` do not have. ``"pycocotools"`` is the same as ``"error"``.
        source: The name of the data in messages.

    Returns:
        Detections in the order of the objects. An image without detections has no rows.

    Raises:
        TypeError: If an object is of no known kind.
        ValueError: If there are not as many ids as objects, or an argument is needed that is not given.
        DatasetError: If values are invalid; the message names the object, the field and the row.

    Examples:
        >>> outputs = [{"boxes": [[10, 20, 50, 40]], "scores": [0.9], "labels": [3]}]
        >>> detections = from_predictions(outputs, image_ids=[7])
        >>> detections.boxes
        array([[10., 20., 40., 20.]])
    """
    check_choice("areas", areas, ("boxes", "masks"))
    problems = Problems.of(on_invalid)
    images = _Images(ground_truth, source, normalized=normalized)
    columns = PredictedColumns(_Classes(classes, ground_truth), problems, source, mask_threshold)
    for at, (given, value) in enumerate(_with_ids(predictions, image_ids, source)):
        where = f"{source}[{at}]"
        tool = tool_of(value, where)
        prediction = tool.read(value, where)
        named = prediction.image if given is None else given
        if named is None:
            raise ValueError(f"{where}: {tool.name} does not say which image it is of: give image_ids=[...]")
        try:
            label, size = images.find(named, where)
        except DatasetError as error:
            problems.meet("unknown image", str(error))
            continue
        columns.add(prediction, label, size, where)
    return problems.noted_in(columns.detections(areas=areas))


def _with_ids(predictions: Any, image_ids: Any, source: str) -> Iterable[tuple[Any, Any]]:
    """Each object with the id of its image, or with ``None``."""
    if any(tool.recognises(predictions) for tool in TOOLS):
        raise TypeError(f"{source}: expected a list with an object per image, found one object: write [prediction]")
    if isinstance(predictions, Mapping):
        if image_ids is not None:
            raise ValueError(f"{source}: the keys of a mapping are the ids of images: leave image_ids out")
        yield from predictions.items()
        return
    if isinstance(predictions, str) or not isinstance(predictions, Iterable):
        raise TypeError(f"{source}: expected a list with an object per image, found {type(predictions).__name__}")
    if image_ids is None:
        yield from ((None, value) for value in predictions)
        return
    ids, end = iter(image_ids), object()
    for at, value in enumerate(predictions):
        if (given := next(ids, end)) is end:
            raise ValueError(f"{source}: expected an id of an image per object, found {at:,} ids and more objects")
        yield given, value
    if next(ids, end) is not end:
        raise ValueError(f"{source}: expected an id of an image per object, found more ids than objects")


def tool_of(value: Any, where: str) -> Tool:
    """The tool that returned an object.

    Raises:
        TypeError: If no tool recognises it.
    """
    for tool in TOOLS:
        if tool.recognises(value):
            return tool
    names = "; ".join(tool.name for tool in TOOLS)
    raise TypeError(f"{where}: expected what a detector returns ({names}), found {type(value).__name__}")


class _Images:
    """Ids of images, by what the objects or the caller say."""

    def __init__(self, ground_truth: GroundTruth | None, source: str, *, normalized: bool) -> None:
        if normalized and ground_truth is None:
            raise ValueError(f"{source}: boxes in fractions need the sizes of images: give ground_truth=...")
        self.finder = None if ground_truth is None else ImageFinder(ground_truth)
        self.labels: dict[int | str, int] = {}
        if ground_truth is not None:
            self.labels = {label: at for at, label in enumerate(ground_truth.images.labels.tolist())}
        self.normalized = normalized

    def find(self, named: Any, where: str) -> tuple[int | str, tuple[float, float] | None]:
        """The id of an image, and what to multiply its boxes with.

        Raises:
            DatasetError: If the ground truth has no such image, or not its size.
        """
        name: int | str = named if isinstance(named, str) else _integer(named, where)
        if self.finder is None:
            # A path of another machine means nothing to anybody else: the name of the file is left.
            return (name.replace("\\", "/").rpartition("/")[2] if isinstance(name, str) else name), None
        at = self.labels.get(name, -1)
        if at < 0 and isinstance(name, str):
            at = self.finder.position(name, where)
        if at < 0:
            refuse(where, f"an image of {self.finder.source}", abbreviate(name))
        label = self.finder.labels[at].item()
        if not self.normalized:
            return label, None
        width, height = self.finder.sizes[at].tolist()
        if math.isnan(width) or math.isnan(height):
            refuse(where, "an image whose width and height are known, as boxes are fractions", abbreviate(label))
        return label, (width, height)


def _integer(value: Any, where: str) -> int:
    try:
        return operator.index(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{where}: expected the id of an image, an integer or a string, found {type(value).__name__}"
        ) from None


class _Classes:
    """Ids of categories, by labels and names."""

    def __init__(self, classes: Classes | None, ground_truth: GroundTruth | None) -> None:
        if isinstance(classes, str):
            raise TypeError(f"classes must be a list or a mapping, got {classes!r}")
        self.known: Mapping[Any, int | str] | None = None
        if classes is not None:
            self.known = classes if isinstance(classes, Mapping) else dict(enumerate(classes))
        self.categories = None if ground_truth is None else ground_truth.categories

    def find(self, label: float | None, name: str | None, where: str) -> int:
        """The id of the category.

        Raises:
            DatasetError: If there is none.
        """
        wanted: Any = name
        if self.known is not None:
            keys = [key for key in (label, name) if key is not None and key in self.known]
            if not keys:
                found = abbreviate(label if name is None else name)
                refuse(where, f"a label among the {len(self.known):,} of classes", found)
            wanted = self.known[keys[0]]
        elif label is not None and (name is None or self.categories is None):
            if not float(label).is_integer():
                refuse(where, "a whole number", abbreviate(label))
            return int(label)
        if not isinstance(wanted, str):
            return operator.index(wanted)
        if self.categories is None:
            raise ValueError(f"{where}: names of classes need ground_truth=..., got {wanted!r}")
        try:
            return int(self.categories.ids[self.categories.positions([wanted])[0]])
        except ValueError as error:
            refuse(where, "the name of a category (classes={...} maps names)", f"{abbreviate(wanted)}: {error}")
