"""Semantic segmentation: the confusion matrix of pixels, and the IoU of every class."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._checks import check_count, pluralize
from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_value
from ioukit.datasets.formats.panoptic_png import read_label_png
from ioukit.errors import DatasetError

Labels: TypeAlias = npt.ArrayLike | str | os.PathLike[str]
"""(H, W) integer classes, or a PNG file of them."""


@record(frozen=True, eq=False, repr=False)
class SemanticIoU(Frozen):
    """The result of :func:`semantic_iou`.

    Results can be added with ``+`` or :meth:`merge`. They are counts of pixels, so the sum is exact for any split. They
    do not know their images: an image that is in two parts counts twice.
    """

    confusion: npt.NDArray[np.int64]
    """(K, K) pixels of each true class (row) that are predicted as each class (column)."""
    names: tuple[str, ...]
    """(K,) names of the classes; their numbers if none were given."""
    num_ignored: int
    """Pixels whose true label is ``ignore_label``."""
    num_images: int
    """Images."""

    @property
    def iou(self) -> Floats:
        """(K,) IoU of each class: its pixels on the diagonal over those of its row or column; NaN if it has none."""
        union = self.confusion.sum(axis=1) + self.confusion.sum(axis=0) - self.confusion.diagonal()
        return _quotient(self.confusion.diagonal(), union)

    @property
    def accuracy(self) -> Floats:
        """(K,) share of the pixels of each true class that are right; NaN if no pixel has the class."""
        return _quotient(self.confusion.diagonal(), self.confusion.sum(axis=1))

    @property
    def mean_iou(self) -> float:
        """Mean IoU over the classes that are true or predicted for some pixel. NaN if there is none."""
        return _mean(self.iou)

    @property
    def frequency_weighted_iou(self) -> float:
        """IoU of each class, weighted by its share of the true pixels. NaN if there is no pixel."""
        weights = self.confusion.sum(axis=1)
        iou = np.where(weights > 0, self.iou, 0.0)
        return float((weights * iou).sum() / weights.sum()) if weights.any() else math.nan

    @property
    def pixel_accuracy(self) -> float:
        """Share of all pixels that are right. NaN if there is no pixel."""
        total = int(self.confusion.sum())
        return int(self.confusion.trace()) / total if total else math.nan

    @property
    def mean_accuracy(self) -> float:
        """Mean of :attr:`accuracy` over the classes that are true for some pixel. NaN if there is none."""
        return _mean(self.accuracy)

    @property
    def summary(self) -> Mapping[str, float]:
        """``mean_iou``, ``frequency_weighted_iou``, ``pixel_accuracy`` and ``mean_accuracy``."""
        names = ("mean_iou", "frequency_weighted_iou", "pixel_accuracy", "mean_accuracy")
        return MappingProxyType({name: getattr(self, name) for name in names})

    def __add__(self, other: SemanticIoU) -> SemanticIoU:
        """The result of the images of both; see :meth:`merge`."""
        return SemanticIoU.merge([self, other]) if isinstance(other, SemanticIoU) else NotImplemented

    @classmethod
    def merge(cls, parts: Iterable[SemanticIoU]) -> SemanticIoU:
        """The result of the images of all parts.

        Raises:
            ValueError: If ``parts`` is empty, or parts have different classes.
        """
        parts = list(parts)
        if not parts:
            raise ValueError("merge needs at least one result")
        names = parts[0].names
        if any(part.names != names for part in parts):
            raise ValueError("results with different classes do not add up: evaluate all with the same classes")
        return cls(
            np.sum([part.confusion for part in parts], axis=0),
            names,
            sum(part.num_ignored for part in parts),
            sum(part.num_images for part in parts),
        )

    def table(self) -> str:
        """A line per class with its IoU, its accuracy and its share of the true pixels, then the summary; percent."""
        truth = self.confusion.sum(axis=1)
        shares = _quotient(truth, np.full(len(truth), truth.sum()))
        width = max(map(len, (*self.names, *self.summary)))
        lines = [f"{'class':{width}}    IoU  accuracy  pixels"]
        rows = zip(self.names, self.iou.tolist(), self.accuracy.tolist(), shares.tolist(), strict=True)
        lines += [f"{name:{width}}  {100 * a:5.1f}  {100 * b:8.1f}  {100 * c:6.1f}" for name, a, b, c in rows]
        lines += ["", *(f"{name:{width}}  {100 * value:5.1f}" for name, value in self.summary.items())]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        rows = zip(self.names, self.iou.tolist(), self.accuracy.tolist(), strict=True)
        return {
            "summary": plain_value(self.summary),
            "per_class": [{"name": name, "iou": plain_value(a), "accuracy": plain_value(b)} for name, a, b in rows],
            "confusion": self.confusion.tolist(),
            "counts": {"images": self.num_images, "pixels": int(self.confusion.sum()), "ignored": self.num_ignored},
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        import json  # noqa: PLC0415 - keeps `import ioukit` fast

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={value:.4f}" for key, value in self.summary.items())
        return f"SemanticIoU({numbers}, {pluralize(len(self.names), 'class')}, {pluralize(self.num_images, 'image')})"


def semantic_iou(
    ground_truth: Iterable[Labels] | Labels,
    predictions: Iterable[Labels] | Labels,
    num_classes: int,
    ignore_label: int | None = 255,
    *,
    names: Sequence[str] | None = None,
) -> SemanticIoU:
    """Returns the confusion matrix of pixels, with IoU per class and their means.

    Pixels whose true label is ``ignore_label`` are left out, with any prediction. All other pixels of all images have
    the same weight, in one matrix.

    Args:
        ground_truth: True classes: an (H, W) array of integers from 0 to ``num_classes - 1`` or ``ignore_label``; an
            (N, H, W) array; or an iterable of images, which may differ in size. An image may be a path to a PNG file of
            one channel, whose values are the classes.
        predictions: Predicted classes, of the same form. There must be a class for every pixel that is not ignored.
        num_classes: K, the number of classes.
        ignore_label: The true label of pixels that are left out; ``None`` if there is none.
        names: (K,) names of the classes.

    Raises:
        DatasetError: If images do not fit each other, or a label is out of range; the message names image and pixel.
        ValueError: If an option is invalid, or the number of predictions is not that of the images.
        ModuleNotFoundError: If PNG files are read and Pillow is not installed.

    Source:
        Long, Shelhamer, Darrell: Fully Convolutional Networks for Semantic Segmentation, CVPR 2015, arXiv:1411.4038,
        section 5, which has all four means.

    Examples:
        >>> truth = [[0, 0, 1, 1], [0, 0, 1, 255]]
        >>> found = [[0, 0, 0, 1], [0, 0, 1, 1]]
        >>> result = semantic_iou([truth], [found], num_classes=2)
        >>> result.confusion
        array([[4, 0],
               [1, 2]])
        >>> result.iou  # 4 of 5 pixels, 2 of 3 pixels
        array([0.8       , 0.66666667])
        >>> round(result.mean_iou, 4)
        0.7333
    """
    check_count(num_classes=num_classes)
    if ignore_label is not None and 0 <= ignore_label < num_classes:
        raise ValueError(f"ignore_label must not be one of the classes 0 to {num_classes - 1}, got {ignore_label}")
    named = tuple(map(str, range(num_classes) if names is None else names))
    if len(named) != num_classes:
        raise ValueError(f"names must have {num_classes} strings, one per class, got {len(named)}")
    confusion = np.zeros((num_classes, num_classes), np.int64)
    ignored = images = 0
    done = object()
    truths, founds = iter(_listed(ground_truth)), iter(_listed(predictions))
    while True:
        truth, found = next(truths, done), next(founds, done)
        if truth is done and found is done:
            return SemanticIoU(confusion, named, ignored, images)
        if truth is done or found is done:
            few, many = ("ground_truth", "predictions") if truth is done else ("predictions", "ground_truth")
            raise ValueError(f"expected one prediction per image, got {images} {few} and more {many}")
        counts, left_out = _counts(truth, found, images, num_classes, ignore_label)
        confusion += counts
        ignored += left_out
        images += 1


def _listed(images: Any) -> Iterable[Any]:
    """The images one by one."""
    if isinstance(images, str | os.PathLike):
        return [images]
    return [images] if getattr(images, "ndim", 3) == 2 else images


def _counts(
    truth: Any, found: Any, image: int, num_classes: int, ignore_label: int | None
) -> tuple[npt.NDArray[np.int64], int]:
    """The confusion matrix of one image, and the number of its ignored pixels."""
    gt_name, gt = _labels(truth, f"ground_truth[{image}]")
    dt_name, dt = _labels(found, f"predictions[{image}]")
    if gt.shape != dt.shape:
        raise DatasetError(f"{dt_name}: expected shape {gt.shape} as in {gt_name}, found {dt.shape}")
    expected = f"a class from 0 to {num_classes - 1}"
    kept = np.ones(gt.shape, np.bool_) if ignore_label is None else gt != ignore_label
    _check_range(gt, kept, num_classes, gt_name, expected if ignore_label is None else f"{expected} or {ignore_label}")
    _check_range(dt, kept, num_classes, dt_name, expected)
    pairs = gt[kept].astype(np.int64) * num_classes + dt[kept].astype(np.int64)
    counts = np.bincount(pairs, minlength=num_classes * num_classes)
    return counts.reshape(num_classes, num_classes), int(gt.size - len(pairs))


def _labels(labels: Any, name: str) -> tuple[str, npt.NDArray[Any]]:
    """The name of an image in messages, and its labels."""
    if isinstance(labels, str | os.PathLike):
        name = f"{name}, {os.fspath(labels)}"
        labels = read_label_png(labels, name, needed_by="semantic_iou with PNG files")
    array = np.asarray(labels)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise DatasetError(f"{name}: expected (H, W) integers, found shape {array.shape} and dtype {array.dtype}")
    return name, array


def _check_range(
    labels: npt.NDArray[Any], kept: npt.NDArray[np.bool_], num_classes: int, name: str, expected: str
) -> None:
    wrong = kept & (labels >= num_classes)
    if labels.dtype.kind == "i":
        wrong |= kept & (labels < 0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise DatasetError(f"{name}: expected {expected} in row {row}, column {column}, found {labels[row, column]}")


def _quotient(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> Floats:
    """Element by element; NaN where the whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1), math.nan)


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan
