"""How do I read it? Ground truth and detections as columns, from files, Python records or arrays."""

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.hierarchy import ClassHierarchy
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.formats.coco import read_coco
from ioukit.datasets.formats.crowdhuman import read_crowdhuman, read_crowdhuman_detections
from ioukit.datasets.formats.format import Format
from ioukit.datasets.formats.kitti import KITTI_NAMES, read_kitti, read_kitti_detections
from ioukit.datasets.formats.lvis import read_lvis
from ioukit.datasets.formats.open_images import read_open_images, read_open_images_detections
from ioukit.datasets.formats.registry import FORMATS, find_format, read, read_detections, register_format, write
from ioukit.datasets.formats.voc import read_voc, read_voc_detections
from ioukit.datasets.formats.yolo import read_yolo, read_yolo_detections
from ioukit.datasets.operations.class_map import read_class_map
from ioukit.datasets.operations.merge import merge, merge_detections
from ioukit.datasets.operations.remap import remap, remap_detections
from ioukit.datasets.operations.subset import split, subset, subset_detections
from ioukit.datasets.predictions.reading import from_predictions

__all__ = [
    "FORMATS",
    "KITTI_NAMES",
    "Categories",
    "ClassHierarchy",
    "Detections",
    "Format",
    "GroundTruth",
    "IdLists",
    "Images",
    "find_format",
    "from_predictions",
    "merge",
    "merge_detections",
    "read",
    "read_class_map",
    "read_coco",
    "read_crowdhuman",
    "read_crowdhuman_detections",
    "read_detections",
    "read_kitti",
    "read_kitti_detections",
    "read_lvis",
    "read_open_images",
    "read_open_images_detections",
    "read_voc",
    "read_voc_detections",
    "read_yolo",
    "read_yolo_detections",
    "register_format",
    "remap",
    "remap_detections",
    "split",
    "subset",
    "subset_detections",
    "write",
]
