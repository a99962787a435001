"""Tiles of an image that is too large for a detector, and NMS over the boxes of tiles that come one by one.

Owns: the positions of tiles, their pixels in the image, and which boxes wait for a missing tile (`TiledNms._open`).
Does not own: the fates of boxes along their pairs (``settle_pairs``, native code), and merging of parts (`merging.py`).
Cut here because the survivors are exactly those of NMS over all boxes; the order of tiles changes only when a survivor
is returned. A box is certain if no missing tile can bring a better box that removes it, and if every better box that
overlaps it is certain, too. So memory holds the boxes near missing tiles, not the image.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.postprocess._inputs import host_boxes, host_set, restored
from ioukit.postprocess._options import SymmetricMetric, check_metric, check_thresholds, join_threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


@dataclass(frozen=True)
class Tile:
    """A window of an image, in whole pixels."""

    x: int
    """Its left side."""
    y: int
    """Its upper side."""
    width: int
    height: int
    image_size: tuple[int, int]
    """(width, height) of the image."""

    @property
    def box(self) -> tuple[int, int, int, int]:
        """(x1, y1, x2, y2) in the image: the detector gets ``image[y1:y2, x1:x2]``."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    def to_image(self, boxes: BoxesLike, *, format: BoxFormat | None = None, check: bool = True) -> Array:
        """Boxes in the pixels of the tile as boxes in the pixels of the image.

        Args:
            boxes: (N, 4) array, xyxy by default, lists, or `Boxes` in pixels.
            format: The format of plain arrays and of the result: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
                For `Boxes` the result is xyxy.
            check: Whether plain arrays are checked.

        Returns:
            (N, 4) in the caller's library, in float64: float32 has too few digits for the far pixels of a huge image.

        Raises:
            ValueError: If the boxes are normalized, or not valid.
        """
        moved = self._corners(boxes, format, check) + np.array([self.x, self.y] * 2, np.float64)
        if format == "xywh":
            moved[:, 2:] -= moved[:, :2]
        elif format == "cxcywh":
            sides = moved[:, 2:] - moved[:, :2]
            moved = np.concatenate([moved[:, :2] + sides / 2, sides], axis=1)
        return restored(moved, boxes)

    def cuts(self, boxes: BoxesLike, *, margin: float = 0.0, format: BoxFormat | None = None) -> Array:
        """Which boxes, in the pixels of the tile, reach a side of the tile that is not a side of the image.

        The tile may have cut such an object off. If tiles overlap by more than the size of the object, a neighbour has
        all of it.

        Args:
            boxes: (N, 4) array, xyxy by default, lists, or `Boxes` in pixels.
            margin: A box reaches a side if it is at most this far from it, in pixels.
            format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.

        Returns:
            (N,) bool, in the caller's library.

        Raises:
            ValueError: If the boxes are normalized, or not valid.
        """
        corners = self._corners(boxes, format, True)
        width, height = self.image_size
        inner = np.array([self.x > 0, self.y > 0, self.x + self.width < width, self.y + self.height < height])
        room = np.concatenate([corners[:, :2], np.array([self.width, self.height]) - corners[:, 2:]], axis=1)
        return restored(((room <= margin) & inner).any(axis=1), boxes)

    def _corners(self, boxes: BoxesLike, fmt: BoxFormat | None, check: bool) -> NDArray[np.float64]:
        _check_pixels(boxes)
        return host_boxes(boxes, fmt, check)[0].astype(np.float64)


def _check_pixels(boxes: object) -> None:
    if getattr(boxes, "normalized", False):
        raise ValueError("boxes are normalized, expected pixels of the tile: denormalize(width, height) them first")


def cut_tiles(
    image_size: Sequence[int], tile_size: int | Sequence[int], overlap: int | Sequence[int] = 0
) -> list[Tile]:
    """Tiles of one size that cover an image, row by row.

    The last tile of a row or a column ends at the edge of the image, so it may overlap its neighbour by more than
    ``overlap``. An object that is not wider and not higher than the overlap lies completely in one of the tiles.

    Args:
        image_size: (width, height) in pixels.
        tile_size: (width, height), or one number for both. A tile is never larger than the image.
        overlap: The smallest number of pixels that neighbours share: (x, y), or one number for both. Less than the size
            of a tile.

    Returns:
        The tiles.

    Raises:
        ValueError: If a size is not positive, or the overlap is negative or not smaller than the tile.

    Examples:
        >>> from ioukit import cut_tiles
        >>> [tile.box for tile in cut_tiles((100, 60), 60, 20)]
        [(0, 0, 60, 60), (40, 0, 100, 60)]
    """
    width, height = _two("image_size", image_size)
    sides, shared = _two("tile_size", tile_size), _two("overlap", overlap)
    if min(width, height, *sides) < 1:
        raise ValueError(f"image_size and tile_size must be positive, got {image_size} and {tile_size}")
    if min(shared) < 0 or shared[0] >= sides[0] or shared[1] >= sides[1]:
        raise ValueError(f"overlap must be at least 0 and smaller than the tile, {tile_size}, got {overlap}")
    columns, rows = (
        _starts(size, side, side - both) for size, side, both in zip((width, height), sides, shared, strict=True)
    )
    wide, high = min(sides[0], width), min(sides[1], height)
    return [Tile(x, y, wide, high, (width, height)) for y in rows for x in columns]


def _two(name: str, value: int | Sequence[int]) -> tuple[int, int]:
    both: Any = value if hasattr(value, "__len__") else (value, value)
    try:
        numbers = tuple(operator.index(number) for number in both)
    except TypeError:
        raise TypeError(f"{name} must be whole numbers of pixels, got {value!r}") from None
    if len(numbers) != 2:
        raise ValueError(f"{name} must be (x, y), got {value!r}")
    return numbers


def _starts(size: int, side: int, step: int) -> list[int]:
    return [*range(0, max(size - side, 0), step), max(size - side, 0)]


class TiledDetections(NamedTuple):
    """Boxes that survive whatever the missing tiles bring."""

    boxes: Array
    """(K, 4) xyxy float64, in the pixels of the image."""
    scores: Array
    """(K,) float64, descending."""
    labels: Array
    """(K,) int64; 0 without labels."""
    tiles: Array
    """(K,) int64, the tile of each box, as a position in ``tiles``."""
    rows: Array
    """(K,) int64, the position of each box among the boxes of its tile."""


class _Pending(NamedTuple):
    """Boxes whose fate a missing tile may still decide."""

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    tiles: NDArray[np.int64]
    rows: NDArray[np.int64]

    def take(self, places: NDArray[Any]) -> _Pending:
        return _Pending(*(column[places] for column in self))


class TiledNms:
    """Greedy NMS over the boxes of tiles, which come tile by tile. A box is returned as soon as it surely survives.

    In the end the survivors are exactly those of greedy NMS over all boxes of all tiles, in the pixels of the image and
    in float64, with equal scores in the order of ``tiles`` and then of the boxes. This always holds. The order in which
    the tiles come changes only when a box is returned. A box waits as long as one of these can happen:

    - A missing tile brings a box that removes it. This is possible if the window of the tile covers more than
      ``iou_threshold`` of the box, because its IoU with a box inside the window is at most this part. With ``"iom"`` it
      is possible if the window meets the box.
    - A better box that overlaps it is itself waiting, and so on along a chain of descending scores.

    A box that a surviving box removes is dropped at once. So memory holds the boxes near missing tiles (for tiles row
    by row, about one row of overlaps) and the boxes in chains that lead to them. Chains of real detections are short,
    but there is no bound: a long chain of boxes with descending scores can depend on one missing tile.

    An object in two tiles has two boxes. If neither is cut off, they are nearly equal, and NMS keeps one. If a tile
    cuts the object off, the box of the part may overlap the whole by less than the threshold and survive. To avoid
    this, let tiles overlap by more than the largest object, and leave out the boxes that `Tile.cuts` marks, because
    another tile has the whole object. Then the survivors are those of NMS over the whole image, if the detector
    predicts the same box for an object in every tile. For larger objects, ``metric="iom"`` or `non_maximum_merge`
    merges the parts.

    Args:
        tiles: All tiles that will come.
        iou_threshold: At least 0. An overlap **above** this removes a box.
        metric: The overlap.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Raises:
        ValueError: If an option is out of range, or a tile is in ``tiles`` twice.

    Examples:
        >>> from ioukit import TiledNms, cut_tiles
        >>> left, right = tiles = cut_tiles((100, 60), 60, 20)
        >>> nms = TiledNms(tiles)
        >>> nms.add(left, [[0, 0, 9, 9], [45, 10, 55, 20]], [0.5, 0.6]).boxes  # the second box waits
        array([[0., 0., 9., 9.]])
        >>> nms.add(right, [[5, 10, 15, 21]], [0.8]).boxes
        array([[45., 10., 55., 21.]])
    """

    def __init__(
        self,
        tiles: Sequence[Tile],
        *,
        iou_threshold: float = 0.5,
        metric: SymmetricMetric = "iou",
        threads: int | None = None,
    ) -> None:
        check_thresholds(iou_threshold=iou_threshold)
        check_metric(metric)
        self._threshold, self._metric, self._threads = float(iou_threshold), metric, check_threads(threads)
        self._numbers = {tile: number for number, tile in enumerate(tiles)}
        if len(self._numbers) != len(tiles):
            raise ValueError("a tile is in tiles twice")
        self._windows = np.array([tile.box for tile in tiles], np.float64).reshape(-1, 4)
        self._missing = np.ones(len(tiles), np.bool_)
        self._labelled: bool | None = None
        self._pending = _Pending(np.zeros((0, 4)), np.zeros(0), *(np.zeros(0, np.int64) for _ in range(3)))

    @property
    def pending(self) -> int:
        """The number of boxes that wait."""
        return len(self._pending.scores)

    def add(
        self,
        tile: Tile,
        boxes: BoxesLike,
        scores: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
    ) -> TiledDetections:
        """Adds the boxes of a tile and returns the boxes that surely survive now.

        Args:
            tile: One of ``tiles``. Each is added once; a tile without boxes must be added too.
            boxes: (N, 4) array, xyxy by default, lists, or `Boxes`: in the pixels of the tile, and inside it.
            scores: (N,) numbers from the same library, also infinities.
            labels: (N,) integers, with all tiles or with none. Only boxes with equal labels remove each other.
            format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
            check: Whether plain arrays are checked.

        Returns:
            The boxes that survive and were not returned before, by descending score.

        Raises:
            ValueError: If the tile is unknown or was added before, a box is not valid or reaches out of the tile (where
                it could overlap boxes that were returned already), or only some tiles have labels.
            TypeError: If an argument has the wrong type, or the arrays come from different libraries.
        """
        number = self._numbers.get(tile)
        if number is None or not self._missing[number]:
            problem = "is none of the tiles" if number is None else "was added before"
            raise ValueError(f"{tile} {problem}")
        _check_pixels(boxes)
        given = host_set(boxes, scores, labels, format=format, check=check)
        numbers = given.comparable_scores()
        count = len(numbers)
        if count and self._labelled not in (None, labels is not None):
            raise ValueError("labels must come with all tiles or with none")
        corners = given.boxes.astype(np.float64)
        out = (corners < 0) | (corners > np.array([tile.width, tile.height] * 2))
        if out.any():
            row = int(np.flatnonzero(out.any(axis=1))[0])
            raise ValueError(
                f"boxes[{row}] is {corners[row].tolist()}, which reaches out of a tile of "
                f"{tile.width} x {tile.height}: clip it first"
            )
        if count:
            self._labelled = labels is not None
        come = _Pending(
            corners + np.array([tile.x, tile.y] * 2, np.float64),
            numbers,
            np.zeros(count, np.int64) if given.labels is None else given.labels,
            np.full(count, number, np.int64),
            np.arange(count, dtype=np.int64),
        )
        self._pending = _Pending(*(np.concatenate(pair) for pair in zip(self._pending, come, strict=True)))
        self._missing[number] = False
        return self._settle(like=given.like)

    def finish(self) -> TiledDetections:
        """Treats the missing tiles as empty and returns the remaining survivors, as NumPy arrays."""
        self._missing[:] = False
        return self._settle(like=None)

    def _settle(self, like: Any) -> TiledDetections:
        waiting = self._pending
        waiting = waiting.take(np.lexsort((waiting.rows, waiting.tiles, -waiting.scores)))
        least = join_threshold(self._threshold, waiting.boxes)
        rows, others, values = _core.overlap_join(
            self._metric, least, waiting.boxes, None, waiting.labels, None, self._threads
        )
        above = values > self._threshold
        fates = _core.settle_pairs(self._open(waiting.boxes), rows[above], others[above])
        kept = waiting.take(np.flatnonzero(fates == 0))
        self._pending = waiting.take(np.flatnonzero(fates == 2))
        return TiledDetections(*(restored(column, like) for column in kept))

    def _open(self, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) the boxes that a box of a missing tile could remove."""
        # A little less than the threshold, because of rounding. Waiting too long costs only memory.
        part = 0.0 if self._metric == "iom" else self._threshold * (1 - 1e-9)
        reached = np.zeros(len(boxes), np.bool_)
        if part < 1:
            least = join_threshold(part, boxes)
            windows = self._windows[self._missing]
            rows, _, _ = _core.overlap_join("ioa_first", least, boxes, windows, None, None, self._threads)
            reached[rows] = True
        return reached


def nms_over_tiles(
    detections: Iterable[tuple[Tile, BoxesLike, ArrayLike] | tuple[Tile, BoxesLike, ArrayLike, ArrayLike | None]],
    *,
    tiles: Sequence[Tile],
    iou_threshold: float = 0.5,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    threads: int | None = None,
) -> Iterator[TiledDetections]:
    """Greedy NMS over an iterable of tiles: yields the survivors that `TiledNms` returns after each tile.

    Args:
        detections: ``(tile, boxes, scores)`` or ``(tile, boxes, scores, labels)`` per tile, with boxes in the pixels of
            the tile, xyxy by default. Tiles that do not come have no boxes.
        tiles: All tiles that may come.
        iou_threshold: At least 0. An overlap **above** this removes a box.
        metric: The overlap.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Yields:
        The boxes that surely survive after a tile, by descending score; only if there are any.

    Raises:
        ValueError: As `TiledNms`.
    """
    nms = TiledNms(tiles, iou_threshold=iou_threshold, metric=metric, threads=threads)
    for tile, boxes, scores, *labels in detections:
        found = nms.add(tile, boxes, scores, labels[0] if labels else None, format=format)
        if len(found.scores):
            yield found
    rest = nms.finish()
    if len(rest.scores):
        yield rest
