"""`pycocotools.coco` with the same names, results and printed lines: change the import, nothing else.

    from ioukit.compat.pycocotools.coco import COCO

A file is read into columns, which `COCOeval` evaluates. The dictionaries of pycocotools (`dataset`, `anns`, `cats`,
`imgs`, `imgToAnns`, `catToImgs`) are made from the text of the file when one of them is asked for, by your code or by a
method such as `loadAnns`. From then on they count: what you change in them changes the evaluation. Data in memory wait
likewise: an array for its records, and records for the dictionaries that find them.
`docs/pycocotools.md` lists the differences from pycocotools 2.0.11.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat._on_demand import OnDemand
from ioukit.compat._originals import functions_are_original, keep, methods_are_original
from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.compat.pycocotools._dictionaries import dataset_of_results, indexes, mask_of, records_of_array
from ioukit.compat.pycocotools._files import DICTIONARIES, AnnotationFile, Kept, ResultFile, columns_of
from ioukit.compat.pycocotools._records import Records, ResultArray, ResultRecords
from ioukit.compat.pycocotools._sides import distinct, positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

__all__ = ["COCO"]

Record = dict[str, Any]

maskUtils = mask_utils  # noqa: N816 - programs import it from here

_CHOOSING = ("getAnnIds", "getCatIds", "getImgIds", "loadAnns", "annToRLE")
_OF_MASKS = ("area", "toBbox", "frPyObjects", "merge")
_READING = open, json.load


def _isArrayLike(obj: Any) -> bool:
    return hasattr(obj, "__iter__") and hasattr(obj, "__len__")


def _listed(values: Any) -> Any:
    """The values, or a list of a single one."""
    return values if _isArrayLike(values) else [values]


def _lookup(values: Any) -> Any:
    """Something that answers ``in`` as the values do, in less time if they can be hashed."""
    try:
        return set(values)
    except TypeError:
        return values


class COCO(OnDemand):
    """The annotations of a data set, or results on its images, as dictionaries that pycocotools' users know."""

    dataset: Record
    """What the file holds: ``images``, ``annotations``, ``categories`` and so on."""
    anns: dict[Any, Record]
    """Annotations by id."""
    cats: dict[Any, Record]
    """Categories by id."""
    imgs: dict[Any, Record]
    """Images by id."""
    imgToAnns: defaultdict[Any, list[Record]]
    """The annotations of each image."""
    catToImgs: defaultdict[Any, list[Any]]
    """The ids of images of each category, once per annotation."""

    _waiting = DICTIONARIES
    _source: Kept | None = None

    def __init__(self, annotation_file: str | os.PathLike[str] | None = None) -> None:
        """Read a file of annotations; no file makes an object with an empty ``dataset``.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is no JSON.
            AssertionError: If it does not hold an object.
        """
        self.dataset, self.anns, self.cats, self.imgs = {}, {}, {}, {}
        self.imgToAnns, self.catToImgs = defaultdict(list), defaultdict(list)
        if annotation_file is None:
            return
        print("loading annotations into memory...")
        start = time.time()
        file = AnnotationFile.read(annotation_file) if self._may_wait() else None
        if file is None:
            with open(annotation_file, "r") as text:  # noqa: UP015 - the call of pycocotools, which a mock may see
                dataset = json.load(text)
            assert type(dataset) is dict, f"annotation file format {type(dataset)} not supported"
        print(f"Done (t={time.time() - start:0.2f}s)")
        if file is None:
            self.dataset = dataset
            self.createIndex()
        else:
            self._leave_to(file)
            print("creating index...")
            print("index created!")

    def __deepcopy__(self, memo: dict[int, Any]) -> COCO:
        """A copy; where nobody has asked for the dictionaries of a file of annotations, those of the copy wait, too."""
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        # Results that wait would copy their ground truth, too. And a subclass may choose what is copied.
        waits = type(self._source) in (AnnotationFile, Records) and type(self).__getstate__ is OnDemand.__getstate__
        vars(made).update(copy.deepcopy(vars(self) if waits else self.__getstate__(), memo))
        return made

    def _may_wait(self) -> bool:
        """Whether no program has replaced what reads a file, completes results and makes the dictionaries."""
        reading = open is _READING[0] and json.load is _READING[1]
        return (
            reading
            and methods_are_original(self, "COCO", ("createIndex",), DICTIONARIES)
            and functions_are_original(maskUtils, mask_utils.ORIGINAL, _OF_MASKS)
        )

    def _columns(self) -> Kept | None:
        """What is kept of the data; ``None`` once a dictionary was made that may have been changed.

        ``None`` also where a program has replaced a method that chooses annotations, or a function that draws masks.
        """
        if self._source is None or not self._source.tells(vars(self)):
            return None
        original = methods_are_original(self, "COCO", _CHOOSING) and functions_are_original(
            maskUtils, mask_utils.ORIGINAL, _OF_MASKS
        )
        return self._source if original else None

    def createIndex(self) -> None:
        """Make ``anns``, ``cats``, ``imgs``, ``imgToAnns`` and ``catToImgs`` from ``dataset``."""
        print("creating index...")
        dataset = self.dataset
        records = Records.of(dataset) if self._may_wait() else None
        made = indexes(dataset if records is None else {**dataset, "annotations": []})
        if records is not None:
            self._leave_to(records)
            made = {"dataset": dataset, "imgs": made["imgs"], "cats": made["cats"]}
        print("index created!")
        for name, index in made.items():
            setattr(self, name, index)

    def info(self) -> None:
        """Print what ``dataset["info"]`` says."""
        for key, value in self.dataset["info"].items():
            print(f"{key}: {value}")

    def getAnnIds(self, imgIds: Any = (), catIds: Any = (), areaRng: Any = (), iscrowd: Any = None) -> list[Any]:
        """Ids of annotations, in the order of the images that are asked for; a filter that is empty lets all pass.

        Args:
            imgIds: Ids of images, or a single one.
            catIds: Ids of categories, or a single one.
            areaRng: An area below and an area above those of the annotations.
            iscrowd: The value of ``iscrowd``; ``None`` for both.
        """
        imgIds, catIds = _listed(imgIds), _listed(catIds)
        if len(imgIds):
            of_images: Mapping[Any, list[Record]] = self.imgToAnns
            chosen: Iterable[Record] = itertools.chain.from_iterable(
                [of_images[image] for image in imgIds if image in of_images]
            )
        else:
            chosen = self.dataset["annotations"]
        if len(catIds):
            wanted = _lookup(catIds)
            chosen = [record for record in chosen if record["category_id"] in wanted]
        if len(areaRng):
            chosen = [record for record in chosen if areaRng[0] < record["area"] < areaRng[1]]
        return [record["id"] for record in chosen if iscrowd is None or record["iscrowd"] == iscrowd]

    def getCatIds(self, catNms: Any = (), supNms: Any = (), catIds: Any = ()) -> list[Any]:
        """Ids of categories with one of the names, of the supercategories and of the ids; an empty filter passes all.

        A single string counts as a list of its letters, as in pycocotools: a category named ``person`` passes the
        filter ``"person"`` because it is a part of it.
        """
        found = self.dataset["categories"]
        for key, given in (("name", catNms), ("supercategory", supNms), ("id", catIds)):
            wanted = _listed(given)
            if len(wanted):
                found = [record for record in found if record[key] in wanted]
        return [record["id"] for record in found]

    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[Any]:
        """Ids of images, all or those that have annotations of all the categories."""
        imgIds, catIds = _listed(imgIds), _listed(catIds)
        if len(imgIds) == len(catIds) == 0:
            return list(self.imgs)
        found = set(imgIds)
        for place, category in enumerate(catIds):
            of_category = set(self.catToImgs[category])
            found = of_category if place == 0 and not found else found & of_category
        return list(found)

    def loadAnns(self, ids: Any = ()) -> Any:
        """The annotations with the ids, or a list with the one of a single id."""
        return _with_ids(self.anns, ids)

    def loadCats(self, ids: Any = ()) -> Any:
        """The categories with the ids, or a list with the one of a single id."""
        return _with_ids(self.cats, ids)

    def loadImgs(self, ids: Any = ()) -> Any:
        """The images with the ids, or a list with the one of a single id."""
        return _with_ids(self.imgs, ids)

    def showAnns(self, anns: list[Record], draw_bbox: bool = False) -> int | None:
        """Draw masks and keypoints on the current axes of matplotlib, or print captions.

        Raises:
            ModuleNotFoundError: If matplotlib is not installed: ``pip install 'ioukit[plots]'``.
        """
        if len(anns) == 0:
            return 0
        if "segmentation" in anns[0] or "keypoints" in anns[0]:
            from ioukit.plots._coco_records import draw_records  # noqa: PLC0415 - needs matplotlib

            draw_records(anns, self._decoded, lambda category: self.cats[category]["skeleton"], boxes=draw_bbox)
        elif "caption" in anns[0]:
            for record in anns:
                print(record["caption"])
        else:
            raise Exception("datasetType not supported")
        return None

    def _decoded(self, record: Record) -> NDArray[np.uint8]:
        """The pixels of a record whose segmentation is no polygon."""
        return np.asarray(maskUtils.decode(self.annToRLE(record)))

    def loadRes(self, resFile: Any) -> COCO:
        """Results on the images of this data set.

        As in pycocotools, the first result tells what all of them are, and the records of a list are completed in
        place: with ``id``, ``area``, ``iscrowd``, ``segmentation`` or ``bbox``.

        Args:
            resFile: The path of a file, a list of records, or an (N, 7) array of image id, x, y, width, height, score
                and category id.

        Raises:
            AssertionError: If the results are no list, or some are of an image that this data set does not have.
            IndexError: If there are no results.
        """
        res = COCO()
        print("Loading and preparing results...")
        start = time.time()
        anns = resFile
        lazy: ResultFile | ResultRecords | ResultArray | None = None
        may_wait = isinstance(res, COCO) and res._may_wait()
        if isinstance(resFile, str | os.PathLike):
            lazy = ResultFile.read(resFile, self) if may_wait else None
            if lazy is None:
                with open(resFile) as file:
                    anns = json.load(file)
            else:
                COCO._check_images(self, lazy.columns.image_ids)
        elif type(resFile) is np.ndarray:
            converts = methods_are_original(self, "COCO", ("loadNumpyAnnotations",))
            lazy = ResultArray.read(resFile, self) if may_wait and converts else None
            if lazy is None:
                anns = self.loadNumpyAnnotations(resFile)
            else:
                _show_array(resFile)
                COCO._check_images(self, lazy.column(0))
        if lazy is None:
            assert type(anns) is list, "results in not an array of objects"
            lazy = ResultRecords.read(anns, self) if may_wait else None
        if lazy is None:
            COCO._check_images(self, [record["image_id"] for record in anns])
            res.dataset = {**dataset_of_results(self.dataset, anns, maskUtils), "annotations": anns}
        print(f"DONE (t={time.time() - start:0.2f}s)")
        if lazy is None:
            res.createIndex()
            return res
        res._leave_to(lazy)
        print("creating index...")
        print("index created!")
        return res

    def _check_images(self, ids: Any) -> None:
        """Refuse results on images that this data set does not have."""
        file = columns_of(self)
        if isinstance(file, AnnotationFile) and isinstance(ids, np.ndarray):
            known = file.columns.images.ids
            unknown = set(ids[positions(ids, known) < 0].tolist())
        else:
            original = methods_are_original(self, "COCO", ("getImgIds",))
            images = self.imgs if original else set(self.getImgIds())
            named = distinct(ids).tolist() if isinstance(ids, np.ndarray) else set(ids)
            unknown = {one for one in named if one not in images}
        assert not unknown, (
            "Results do not correspond to current coco set: "
            f"they have {len(unknown):,} images that it lacks, such as {next(iter(unknown))!r}"
        )

    def download(self, tarDir: str | None = None, imgIds: Any = ()) -> None:
        """Refuse: this package loads nothing from the network.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            "ioukit downloads no images: fetch the address `coco_url` of each record in `imgs` with a tool of yours, "
            "or use pycocotools for this one call"
        )

    def loadNumpyAnnotations(self, data: NDArray[Any]) -> list[Record]:
        """The records of an (N, 7) array of image id, x, y, width, height, score and category id.

        Raises:
            AssertionError: If it is no array of 7 columns.
        """
        _show_array(data)
        return records_of_array(data)

    def annToRLE(self, ann: Record) -> Any:
        """The compressed mask of an annotation: of its polygons, or of its runs; a compressed mask stays as it is."""
        return mask_of(ann, self.imgs[ann["image_id"]], maskUtils)

    def annToMask(self, ann: Record) -> NDArray[np.uint8]:
        """(H, W) the pixels of an annotation."""
        return maskUtils.decode(self.annToRLE(ann))


def _show_array(data: Any) -> None:
    """Print what pycocotools prints of an array of results."""
    print("Converting ndarray to lists...")
    assert type(data) is np.ndarray
    print(data.shape)
    assert data.shape[1] == 7
    for row in range(0, len(data), 1_000_000):
        print(f"{row}/{len(data)}")


def _with_ids(records: Mapping[Any, Record], ids: Any) -> Any:
    if _isArrayLike(ids):
        return [records[one] for one in ids]
    return [records[ids]] if type(ids) is int else None


keep(COCO)
