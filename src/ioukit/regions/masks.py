"""`Masks`: sets of pixels of images, as COCO's run lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.regions import _mask_input
from ioukit.regions.boxes import Boxes
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions._mask_input import Parts
    from ioukit.typing import FloatArray

__all__ = ["Masks"]


class Masks(Regions):
    """N masks, each of a height and a width of its own: a frozen value that holds runs, not pixels.

    A mask is a set of pixels. COCO's run lengths (RLE) go down one column after the other and begin with a run of
    zeros, which may be empty; other empty runs that a file may have are joined with their neighbours here. All that
    pycocotools can do with masks, these do to the last bit: ``docs/masks.md`` lists the differences, which are errors
    where it reads foreign memory or goes on with nonsense.

    Build them with :meth:`from_arrays`, :meth:`from_rle`, :meth:`from_polygons`, :meth:`from_boxes` or
    :meth:`from_coco`. Two `Masks` are equal, and hash the same, if their pixels and sizes are. ``masks[i]`` is a
    `Masks` of one mask; slices, boolean masks and index arrays select.

    Examples:
        >>> masks = Masks.from_rle([{"size": [3, 4], "counts": [4, 2, 1, 2, 3]}])
        >>> masks.to_arrays()[0].astype(int)
        array([[0, 0, 0, 0],
               [0, 1, 1, 0],
               [0, 1, 1, 0]])
        >>> masks.to_boxes()
        Boxes([[1., 1., 3., 3.]], format='xyxy', dtype=float64)
        >>> masks.area
        array([4.])
    """

    __slots__ = ("_offsets", "_runs", "_sizes")
    _runs: NDArray[np.uint32]  # of all masks
    _offsets: NDArray[np.int64]  # (N + 1,), where those of each begin and the last end
    _sizes: NDArray[np.uint32]  # (N, 2), height and width

    def __init__(self) -> None:
        raise TypeError("build masks with Masks.from_arrays, from_rle, from_polygons, from_boxes or from_coco")

    @classmethod
    def _trusted(cls, runs: NDArray[np.uint32], offsets: NDArray[np.int64], sizes: NDArray[np.uint32]) -> Masks:
        """Masks around arrays of their own, whose runs are settled."""
        masks = object.__new__(cls)
        for array in (runs, offsets, sizes):
            array.flags.writeable = False
        masks._runs, masks._offsets, masks._sizes = runs, offsets, sizes
        return masks

    @property
    def _parts(self) -> Parts:
        return self._runs, self._offsets, self._sizes

    @classmethod
    def from_arrays(cls, arrays: ArrayLike | Sequence[ArrayLike]) -> Masks:
        """Masks of pixels.

        Args:
            arrays: (N, H, W), or a list of (H, W) that may differ in size, of bool or uint8; any value but 0 is
                foreground. NumPy arrays, or what another library holds on any device.

        Raises:
            TypeError: If the dtype is another.
            ValueError: If the shape is another, or a mask has more than 2**31 - 1 pixels.
        """
        return cls._trusted(*_mask_input.from_arrays(arrays))

    @classmethod
    def from_rle(cls, records: Iterable[Mapping[str, Any]]) -> Masks:
        """Masks of COCO's records.

        Args:
            records: Each with ``size``, [height, width], and ``counts``: compressed (str or bytes), or the lengths of
                the runs as a list or array of integers.

        Raises:
            ValueError: If counts do not sum to the pixels, are negative, or are no compressed counts; names the record.
            TypeError: If a record or a field is of the wrong kind.
            KeyError: If a field is missing.
        """
        if isinstance(records, Mapping):
            raise TypeError("records must be a list of records, got one: [record]")
        return cls._trusted(*_core.masks_from_rle(list(records), "records"))

    @classmethod
    def from_polygons(
        cls,
        polygons: Iterable[Sequence[ArrayLike]],
        *,
        height: int | ArrayLike,
        width: int | ArrayLike,
        threads: int | None = None,
    ) -> Masks:
        """Masks of COCO's polygons, drawn as its tools draw them: pixel for pixel those of pycocotools.

        Args:
            polygons: For each mask a list of polygons, whose union it is; none make an empty mask. A polygon is flat,
                ``[x1, y1, x2, y2, ...]`` in pixels, and may reach beyond the image.
            height: Of the image in pixels; one for all, or (N,).
            width: The same.
            threads: How many threads draw, by default as many as there are cores.

        Raises:
            ValueError: If a polygon has less than 3 points or an odd number of coordinates, or a coordinate is not
                finite or beyond 2**27; names mask and polygon.
            TypeError: If a polygon is no flat list of numbers.
        """
        items = list(polygons)
        sizes = _mask_input.sizes_of(height, width, len(items))
        return cls._trusted(*_core.masks_from_polygons(items, sizes, "polygons", check_threads(threads)))

    @classmethod
    def from_boxes(cls, boxes: Boxes, *, height: int | ArrayLike, width: int | ArrayLike) -> Masks:
        """Masks of boxes in pixels, drawn like polygons of four points, as ``pycocotools.mask.frPyObjects`` does.

        Args:
            boxes: In any format, not normalized.
            height: Of the image in pixels; one for all, or (N,).
            width: The same.

        Raises:
            ValueError: If the boxes are normalized, or a coordinate is beyond 2**27.
        """
        return cls._trusted(*_mask_input.from_boxes(boxes, height, width))

    @classmethod
    def from_coco(
        cls,
        segmentations: Iterable[Any],
        *,
        height: int | ArrayLike,
        width: int | ArrayLike,
        threads: int | None = None,
    ) -> Masks:
        """Masks of what COCO files have under ``segmentation``: polygons, and records compressed or not, also mixed.

        Args:
            segmentations: ``GroundTruth.segmentations`` or ``Detections.segmentations``, say.
            height: Of the images in pixels, for polygons; one for all, or (N,). Records know their own.
            width: The same.
            threads: How many threads draw polygons, by default as many as there are cores.

        Raises:
            ValueError, TypeError, KeyError: As :meth:`from_rle` and :meth:`from_polygons`; names the segmentation.
        """
        return cls._trusted(*_mask_input.from_coco(list(segmentations), height, width, check_threads(threads)))

    @staticmethod
    def concat(masks: Sequence[Masks]) -> Masks:
        """All masks of a sequence, in order; none make an empty `Masks`.

        Raises:
            TypeError: If an element is not `Masks`.
        """
        Masks._check_parts(masks, "masks")
        return Masks._trusted(*_mask_input.joined([item._parts for item in masks]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(N, 2) heights and widths in pixels."""
        return self._sizes.astype(np.int64)

    @property
    def size(self) -> tuple[int, int]:
        """The height and width in pixels that all masks share.

        Raises:
            ValueError: If they differ, or there is no mask.
        """
        if not len(self):
            raise ValueError("no masks have no size: there must be at least one")
        other = np.flatnonzero((self._sizes != self._sizes[0]).any(axis=1))
        if other.size:
            raise ValueError(
                f"masks of another size: masks[{other[0]}] is {_shape(self._sizes[other[0]])}, "
                f"masks[0] {_shape(self._sizes[0])} (height x width)"
            )
        height, width = self._sizes[0].tolist()
        return height, width

    @property
    def area(self) -> FloatArray:
        """(N,) numbers of foreground pixels, as float64."""
        return _core.mask_areas(*self._parts).astype(np.float64)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,), true for masks without a foreground pixel."""
        empty: NDArray[np.bool_] = np.diff(self._offsets) == 1
        return empty

    def to_arrays(self) -> NDArray[np.bool_]:
        """(N, H, W) pixels of masks of one size; a new array, whose columns lie in one piece as in pycocotools.

        ``np.ascontiguousarray`` makes rows of it. No masks are of shape (0, 0, 0).

        Raises:
            ValueError: If the sizes differ.
        """
        height, width = self.size if len(self) else (0, 0)
        pixels = np.zeros((len(self), width, height), np.uint8)
        _core.masks_to_pixels(*self._parts, pixels.reshape(-1))
        arrays: NDArray[np.bool_] = pixels.view(np.bool_).transpose(0, 2, 1)
        return arrays

    def to_rle(self, *, compressed: bool = True, text: bool = True) -> list[dict[str, Any]]:
        """COCO's records, ``{"size": [height, width], "counts": ...}``.

        Args:
            compressed: Whether counts are in the compressed form rather than a list of integers.
            text: Whether the compressed form is str, ready for JSON, rather than bytes, as pycocotools gives it.
        """
        return _core.masks_to_rle(*self._parts, compressed, text)

    def to_boxes(self) -> Boxes:
        """The smallest boxes around the foreground: whole pixels, ``"xyxy"``, float64; all 0 for an empty mask.

        ``to_boxes().convert("xywh")`` has the numbers of ``pycocotools.mask.toBbox``.
        """
        return Boxes._trusted(_core.mask_bounds(*self._parts), "xywh", False).convert("xyxy")

    def merge(self, intersect: bool = False) -> Masks:
        """One mask: the union of all, or with ``intersect`` their intersection.

        Raises:
            ValueError: If the sizes differ, or there is no mask.
        """
        return Masks._trusted(*_core.masks_merge(*self._parts, intersect))

    def boundary(self, dilation_ratio: float = 0.02, *, threads: int | None = None) -> Masks:
        """The boundary regions: the pixels of each mask from which its outside, or that of the image, is near.

        Near is a distance of ``d = max(1, round(dilation_ratio * diagonal of the image))`` along both axes: the mask
        loses what ``d`` erosions by 3 x 3 leave of it, with nothing around the image.

        Args:
            dilation_ratio: A share of the diagonal, at least 0; 0 gives ``d = 1``.
            threads: How many threads work, by default as many as there are cores.

        Reference: Cheng et al., Boundary IoU, CVPR 2021, arXiv:2103.16562; ``mask_to_boundary`` of its authors.
        """
        if not (math.isfinite(dilation_ratio) and dilation_ratio >= 0):
            raise ValueError(f"dilation_ratio must be at least 0 and finite, got {dilation_ratio}")
        return Masks._trusted(*_core.masks_boundary(*self._parts, float(dilation_ratio), check_threads(threads)))

    def __len__(self) -> int:
        return len(self._sizes)

    def _state(self) -> Parts:
        return self._parts

    def _select(self, rows: slice | NDArray[Any]) -> Masks:
        return Masks._trusted(*_mask_input.chosen(self._parts, rows))

    def __repr__(self) -> str:
        if not len(self):
            return "Masks([])"
        same = bool((self._sizes == self._sizes[0]).all())
        size = f"{_shape(self._sizes[0])} (height x width)" if same else "several sizes"
        area = np.array2string(self.area.astype(np.int64), separator=", ", threshold=10)
        return f"Masks({len(self)} of {size}, area={area})"


def _shape(size: NDArray[np.uint32]) -> str:
    return f"{size[0]} x {size[1]}"
