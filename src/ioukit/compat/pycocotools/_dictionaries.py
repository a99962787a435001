"""The dictionaries of pycocotools: data sets as `json.load` gives them, and indexes of their records."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

from ioukit.compat.pycocotools._results import complete

__all__ = ["dataset_of_results", "indexes"]

Record = dict[str, Any]


def indexes(dataset: Record) -> dict[str, Any]:
    """The dictionaries of pycocotools that find the records of a data set."""
    anns, imgs, cats = (
        {record["id"]: record for record in dataset.get(name, ())} for name in ("annotations", "images", "categories")
    )
    of_images: defaultdict[Any, list[Record]] = defaultdict(list)
    of_categories: defaultdict[Any, list[Any]] = defaultdict(list)
    annotations = dataset.get("annotations", ())
    for record in annotations:
        of_images[record["image_id"]].append(record)
    if "categories" in dataset:
        for record in annotations:
            of_categories[record["category_id"]].append(record["image_id"])
    return {"anns": anns, "imgToAnns": of_images, "catToImgs": of_categories, "imgs": imgs, "cats": cats}


def dataset_of_results(truth: Record, anns: list[Record]) -> Record:
    """The data set of results on the images of another one, without the records, which are completed in place."""
    if not anns:
        raise IndexError("loadRes got no results: for a model without any, make COCO() and set its dataset")
    if complete(anns) == "captions":
        named = {record["image_id"] for record in anns}
        dataset = images_and_categories(truth, {})
        dataset["images"] = [image for image in dataset["images"] if image["id"] in named]
        return dataset
    return images_and_categories(truth, anns[0])


def images_and_categories(truth: Record, first: Record) -> Record:
    """What a data set of results takes over, given the first of them."""
    dataset: Record = {"info": copy.deepcopy(truth.get("info", {})), "images": list(truth["images"])}
    if any(key in first for key in ("bbox", "segmentation", "keypoints")):
        dataset["categories"] = copy.deepcopy(truth["categories"])
    return dataset
