"""How do I read it? Ground truth and detections as columns, from files, Python records or arrays."""

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.hierarchy import ClassHierarchy
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.formats.coco import read_coco
from ioukit.datasets.formats.createml import read_createml, read_createml_detections
from ioukit.datasets.formats.crowdhuman import read_crowdhuman, read_crowdhuman_detections
from ioukit.datasets.formats.cvat import read_cvat
from ioukit.datasets.formats.format import Format
from ioukit.datasets.formats.kitti import KITTI_NAMES, read_kitti, read_kitti_detections
from ioukit.datasets.formats.labelme import read_labelme
from ioukit.datasets.formats.labelme_xml import read_labelme_xml
from ioukit.datasets.formats.lvis import read_lvis
from ioukit.datasets.formats.open_images import read_open_images, read_open_images_detections
from ioukit.datasets.formats.registry import FORMATS, find_format, read, read_detections, register_format, write
from ioukit.datasets.formats.scalabel import read_scalabel, read_scalabel_detections
from ioukit.datasets.formats.via import read_via

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
    "read",
    "read_coco",
    "read_createml",
    "read_createml_detections",
    "read_crowdhuman",
    "read_crowdhuman_detections",
    "read_cvat",
    "read_detections",
    "read_kitti",
    "read_kitti_detections",
    "read_labelme",
    "read_labelme_xml",
    "read_lvis",
    "read_open_images",
    "read_open_images_detections",
    "read_scalabel",
    "read_scalabel_detections",
    "read_via",
    "register_format",
    "write",
]
