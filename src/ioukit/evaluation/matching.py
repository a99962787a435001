"""Which detection found which object: the match table, the only thing that the rest of an evaluation reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation.protocols.protocol import COCO, Protocol

__all__ = ["MatchTable", "match"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class MatchTable:
    """One row a detection that counts, by image, category and falling score, and what there was to find.

    Tables of different images add up: whatever the split, the order and the machine, the sum has the same rows, and
    everything computed from it the same bits. Only the columns ``detection`` and ``pair_ground_truth`` refer to the
    data that was matched; in a sum they count through the data of the first table, then the second.

    A set of IoU thresholds is (A, B) bytes: for each area range, threshold ``t`` in bit ``t % 8`` of byte ``t // 8``.
    """

    protocol: Protocol
    """The rules."""
    categories: Categories
    """(K,) categories evaluated; with a class-agnostic protocol one that stands for all."""
    image_ids: npt.NDArray[np.int64]
    """(I,) ids of the images evaluated, rising; equal scores are ordered by them."""
    num_ground_truth: npt.NDArray[np.uint64]
    """(K, A) objects to find: neither crowd nor outside the area range."""
    category: npt.NDArray[np.uint32]
    """(N,) position of the category."""
    image: npt.NDArray[np.uint32]
    """(N,) position of the image."""
    rank: npt.NDArray[np.uint32]
    """(N,) place among the detections of the category on the image, best first."""
    score: npt.NDArray[np.float64]
    """(N,) scores."""
    detection: npt.NDArray[np.int64]
    """(N,) row in the detections that were matched."""
    matched: npt.NDArray[np.uint8]
    """(N, A, B) thresholds at which the detection has a match."""
    ignored: npt.NDArray[np.uint8]
    """(N, A, B) thresholds at which it counts neither for nor against: matched to a crowd or to an object of another
    size, or unmatched and itself of another size."""
    pair_row: npt.NDArray[np.int64]
    """(P,) row of a detection that matches an object at some threshold and area range."""
    pair_ground_truth: npt.NDArray[np.int64]
    """(P,) row of that object in the ground truth that was matched."""
    pair_iou: npt.NDArray[np.float64]
    """(P,) their IoU; intersection over the area of the detection where the object is a crowd."""
    pair_matched: npt.NDArray[np.uint8]
    """(P, A, B) thresholds at which they match."""
    sources: tuple[int, int]
    """How many rows the ground truth and the detections had that were matched."""
    category_ids: npt.NDArray[np.int64]
    """Ids of the categories that take part, rising; with a class-agnostic protocol the one in :attr:`categories` stands
    for all of them."""

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return (
            f"MatchTable({len(self):,} detections, {int(self.num_ground_truth[:, 0].sum()):,} objects, "
            f"{len(self.image_ids):,} images, {len(self.categories):,} categories)"
        )

    def is_true_positive(self, iou: float = 0.5, area: str = "all") -> BoolArray:
        """(N,) whether each detection found an object that counts."""
        return self._bits(self.matched, iou, area) & ~self._bits(self.ignored, iou, area)

    def is_ignored(self, iou: float = 0.5, area: str = "all") -> BoolArray:
        """(N,) whether each detection counts neither for nor against."""
        return self._bits(self.ignored, iou, area)

    def matched_ground_truth(self, iou: float = 0.5, area: str = "all") -> npt.NDArray[np.int64]:
        """(N,) row of the object that each detection matches, a crowd or one of another size too; -1 for none."""
        found = np.full(len(self), -1)
        at = self._bits(self.pair_matched, iou, area)
        found[self.pair_row[at]] = self.pair_ground_truth[at]
        return found

    def matched_iou(self, iou: float = 0.5, area: str = "all") -> npt.NDArray[np.float64]:
        """(N,) IoU of each detection with :meth:`matched_ground_truth`, see :attr:`pair_iou`; NaN for none."""
        found = np.full(len(self), np.nan)
        at = self._bits(self.pair_matched, iou, area)
        found[self.pair_row[at]] = self.pair_iou[at]
        return found

    @property
    def area_labels(self) -> list[str]:
        """(A,) labels of the area ranges."""
        return [area_range.label for area_range in self.protocol.area_ranges]

    def _bits(self, sets: npt.NDArray[np.uint8], iou: float, area: str) -> BoolArray:
        byte, bit = divmod(self.protocol.position_of_iou(iou), 8)
        at = self.protocol.position_of_area(area)
        return (sets[:, at, byte] >> bit & 1).astype(np.bool_)

    def __add__(self, other: MatchTable) -> MatchTable:
        if not isinstance(other, MatchTable):
            return NotImplemented
        return MatchTable.merge([self, other])

    @classmethod
    def merge(cls, tables: Iterable[MatchTable]) -> MatchTable:
        """The sum of tables.

        Raises:
            ValueError: If there is none, if they follow different protocols or have different categories, or if two of
                them hold the same image (a sampler that pads its last batch does that).
        """
        tables = list(tables)
        if not tables:
            raise ValueError("merge needs at least one table")
        first = tables[0]
        if len(tables) == 1:
            return first
        for table in tables[1:]:
            if table.protocol != first.protocol:
                raise ValueError(f"tables of different protocols do not add up: {first.protocol}, {table.protocol}")
            if table.category_ids.tolist() != first.category_ids.tolist():
                raise ValueError(
                    "tables of different categories do not add up: match all of them with the same categories"
                )
        all_images = np.concatenate([table.image_ids for table in tables])
        image_ids, counts = np.unique(all_images, return_counts=True)
        if (counts > 1).any():
            raise ValueError(f"image {image_ids[counts > 1][0]} is in two tables; match each image once")
        image = np.concatenate([np.searchsorted(image_ids, table.image_ids)[table.image] for table in tables])
        category = np.concatenate([table.category for table in tables])
        rank = np.concatenate([table.rank for table in tables])
        order = np.lexsort((rank, category, image))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        row_starts = np.cumsum([0, *(len(table) for table in tables)])
        gt_starts, dt_starts = np.cumsum([(0, 0), *(table.sources for table in tables)], axis=0).T
        pair_row = place[
            np.concatenate([table.pair_row + start for table, start in zip(tables, row_starts, strict=False)])
        ]
        pair_order = np.argsort(pair_row, kind="stable")

        def joined(name: str) -> npt.NDArray[Any]:
            return np.concatenate([getattr(table, name) for table in tables])

        def shifted(name: str, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            return np.concatenate([getattr(table, name) + start for table, start in zip(tables, starts, strict=False)])

        return cls(
            protocol=first.protocol,
            categories=first.categories,
            image_ids=image_ids,
            num_ground_truth=np.sum([table.num_ground_truth for table in tables], axis=0, dtype=np.uint64),
            category=category[order],
            image=image[order].astype(np.uint32),
            rank=rank[order],
            score=joined("score")[order],
            detection=shifted("detection", dt_starts)[order],
            matched=joined("matched")[order],
            ignored=joined("ignored")[order],
            pair_row=pair_row[pair_order],
            pair_ground_truth=shifted("pair_ground_truth", gt_starts)[pair_order],
            pair_iou=joined("pair_iou")[pair_order],
            pair_matched=joined("pair_matched")[pair_order],
            sources=(int(gt_starts[-1]), int(dt_starts[-1])),
            category_ids=first.category_ids,
        )


def match(
    ground_truth: GroundTruth,
    detections: Detections,
    protocol: Protocol = COCO,
    *,
    categories: Sequence[int | str] | None = None,
    images: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
    threads: int | None = None,
) -> MatchTable:
    """Match detections to objects, as pycocotools does.

    On each image and in each category the detections choose in the order of their scores (of equal ones the first in
    the file). Each takes the object with the highest IoU at or above the threshold that is still free (of equal ones
    the last in the file); one that counts before one that is ignored; a crowd may be taken again and again.

    Args:
        ground_truth: The objects.
        detections: What is judged, of images and categories that the ground truth lists.
        protocol: The rules.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        images: Ids of the images to evaluate; all if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a detection is of an image or category that the ground truth does not list.
        ValueError: If ``categories`` or ``images`` names one that is not there.
    """
    chosen_images = _chosen_images(ground_truth, images)
    chosen_categories = np.zeros(len(ground_truth.categories), np.bool_)
    chosen_categories[:] = categories is None
    if categories is not None:
        chosen_categories[ground_truth.categories.positions(categories)] = True
    void = ground_truth.ids == 0 if ground_truth.on_invalid == "pycocotools" else np.zeros(0, np.bool_)
    columns = _core.match_detections(
        detections.source,
        ground_truth.images.ids,
        chosen_images,
        ground_truth.categories.ids,
        chosen_categories,
        ground_truth.image_ids,
        ground_truth.category_ids,
        ground_truth.boxes,
        ground_truth.areas,
        ground_truth.crowd,
        void,
        detections.image_ids,
        detections.category_ids,
        detections.boxes,
        detections.scores,
        np.array(protocol.iou_thresholds),
        np.array([(area.low, area.high) for area in protocol.area_ranges], np.float64),
        protocol.max_dets[-1],
        protocol.class_agnostic,
        check_threads(threads),
    )
    if protocol.class_agnostic:
        evaluated = Categories(np.array([-1]), ("all categories",))
    else:
        chosen = np.flatnonzero(chosen_categories)
        names = ground_truth.categories.names
        evaluated = Categories(ground_truth.categories.ids[chosen], tuple(names[position] for position in chosen))
    return MatchTable(
        protocol=protocol,
        categories=evaluated,
        image_ids=ground_truth.images.ids[chosen_images],
        sources=(len(ground_truth), len(detections)),
        category_ids=ground_truth.categories.ids[chosen_categories],
        **columns,
    )


def _chosen_images(ground_truth: GroundTruth, images: Sequence[int] | npt.NDArray[Any] | None) -> BoolArray:
    ids = ground_truth.images.ids
    if images is None:
        return np.ones(len(ids), np.bool_)
    wanted = np.asarray(images, np.int64)
    unknown = ~np.isin(wanted, ids)
    if unknown.any():
        raise ValueError(f"no image has the id {wanted[unknown][0]}")
    return np.isin(ids, wanted)
