"""`lvis.lvis`: the annotations of a file of LVIS, as dictionaries."""

from __future__ import annotations

import json
import logging
import os
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ioukit.compat._originals import keep
from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.compat.pycocotools._dictionaries import indexes, mask_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LVIS"]

Record = dict[str, Any]


class LVIS:
    """The annotations of a file: ``dataset``, and ``anns``, ``cats``, ``imgs`` by id.

    ``img_ann_map`` has the annotations of each image, ``cat_img_map`` the ids of images of each category, once per
    annotation.

    Args:
        annotation_path: The path of the file.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is no JSON.
        AssertionError: If it does not hold an object.
    """

    def __init__(self, annotation_path: str | os.PathLike[str]) -> None:
        self.logger = logging.getLogger("lvis.lvis")
        self.logger.info("Loading annotations.")
        self.dataset: Record = self._load_json(annotation_path)
        assert type(self.dataset) is dict, f"Annotation file format {type(self.dataset)} not supported."
        self._create_index()

    def _load_json(self, path: str | os.PathLike[str]) -> Any:
        with open(path) as file:
            return json.load(file)

    def _create_index(self) -> None:
        self.logger.info("Creating index.")
        made = indexes({name: self.dataset[name] for name in ("annotations", "images", "categories")})
        self.img_ann_map: defaultdict[Any, list[Record]] = made["imgToAnns"]
        self.cat_img_map: defaultdict[Any, list[Any]] = made["catToImgs"]
        self.anns, self.cats, self.imgs = made["anns"], made["cats"], made["imgs"]
        self.logger.info("Index created.")

    def get_ann_ids(self, img_ids: Any = None, cat_ids: Any = None, area_rng: Any = None) -> list[Any]:
        """Ids of annotations that pass all filters; ``None`` lets all pass.

        With `cat_ids` or `area_rng`, annotations pass whose area is above 0.

        Args:
            img_ids: Ids of images.
            cat_ids: Ids of categories.
            area_rng: An area below and an area above those of the annotations.
        """
        anns: Iterable[Record] = self.dataset["annotations"]
        if img_ids is not None:
            anns = [ann for image in img_ids for ann in self.img_ann_map[image]]
        if cat_ids is None and area_rng is None:
            return [ann["id"] for ann in anns]
        low, high = [0, float("inf")] if area_rng is None else area_rng
        wanted = None if cat_ids is None else set(cat_ids)
        return [
            ann["id"] for ann in anns if (wanted is None or ann["category_id"] in wanted) and low < ann["area"] < high
        ]

    def get_cat_ids(self) -> list[Any]:
        """Ids of all categories, in the order of the file."""
        return list(self.cats)

    def get_img_ids(self) -> list[Any]:
        """Ids of all images, in the order of the file."""
        return list(self.imgs)

    def _load_helper(self, _dict: dict[Any, Record], ids: Any) -> list[Record]:
        """The records with the ids; all for ``None``."""
        return list(_dict.values()) if ids is None else [_dict[one] for one in ids]

    def load_anns(self, ids: Any = None) -> list[Record]:
        """The annotations with the ids, or all."""
        return self._load_helper(self.anns, ids)

    def load_cats(self, ids: Any) -> list[Record]:
        """The categories with the ids; all for ``None``."""
        return self._load_helper(self.cats, ids)

    def load_imgs(self, ids: Any) -> list[Record]:
        """The images with the ids; all for ``None``."""
        return self._load_helper(self.imgs, ids)

    def download(self, save_dir: Any, img_ids: Any = None) -> None:
        """Refuse: this package loads nothing from the network.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            "ioukit downloads no images: fetch the address `coco_url` of each record in `imgs` with a tool of yours"
        )

    def ann_to_rle(self, ann: Record) -> Any:
        """The compressed mask of an annotation: of its polygons, or of its runs; a compressed mask stays as it is."""
        return mask_of(ann, self.imgs[ann["image_id"]], mask_utils)

    def ann_to_mask(self, ann: Record) -> NDArray[np.uint8]:
        """(H, W) the pixels of an annotation."""
        return mask_utils.decode(self.ann_to_rle(ann))


keep(LVIS)
