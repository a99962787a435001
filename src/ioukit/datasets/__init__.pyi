"""How do I read it? Ground truth and detections as columns, from files, Python records or arrays."""

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.hierarchy import ClassHierarchy
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.formats.answers import from_answers, read_answers_detections
from ioukit.datasets.formats.burst import read_burst, read_burst_detections
from ioukit.datasets.formats.coco import read_coco
from ioukit.datasets.formats.createml import read_createml, read_createml_detections
from ioukit.datasets.formats.crowdhuman import read_crowdhuman, read_crowdhuman_detections
from ioukit.datasets.formats.cvat import read_cvat
from ioukit.datasets.formats.davis import read_davis, read_davis_detections
from ioukit.datasets.formats.dota import read_dota, read_dota_detections
from ioukit.datasets.formats.format import Format
from ioukit.datasets.formats.hugging_face import read_hugging_face
from ioukit.datasets.formats.icdar2015 import read_icdar2015, read_icdar2015_detections
from ioukit.datasets.formats.kitti import KITTI_NAMES, read_kitti, read_kitti_detections
from ioukit.datasets.formats.labelme import read_labelme
from ioukit.datasets.formats.labelme_xml import read_labelme_xml
from ioukit.datasets.formats.lvis import read_lvis
from ioukit.datasets.formats.mot import MOT_NAMES, read_mot, read_mot_detections
from ioukit.datasets.formats.mots import MOTS_NAMES, read_mots, read_mots_detections
from ioukit.datasets.formats.nuscenes import NUSCENES_NAMES, read_nuscenes, read_nuscenes_detections
from ioukit.datasets.formats.open_images import read_open_images, read_open_images_detections
from ioukit.datasets.formats.registry import FORMATS, find_format, read, read_detections, register_format, write
from ioukit.datasets.formats.scalabel import read_scalabel, read_scalabel_detections
from ioukit.datasets.formats.tables import read_frame, read_frame_detections, read_table, read_table_detections
from ioukit.datasets.formats.via import read_via
from ioukit.datasets.formats.voc import read_voc, read_voc_detections
from ioukit.datasets.formats.wider_face import read_wider_face, read_wider_face_detections
from ioukit.datasets.formats.yolo import read_yolo, read_yolo_detections
from ioukit.datasets.formats.youtube_vis import read_youtube_vis, read_youtube_vis_detections
from ioukit.datasets.operations.class_map import read_class_map
from ioukit.datasets.operations.merge import merge, merge_detections
from ioukit.datasets.operations.remap import remap, remap_detections
from ioukit.datasets.operations.subset import split, subset, subset_detections
from ioukit.datasets.predictions.reading import from_predictions

__all__ = [
    "FORMATS",
    "KITTI_NAMES",
    "MOTS_NAMES",
    "MOT_NAMES",
    "NUSCENES_NAMES",
    "Categories",
    "ClassHierarchy",
    "Detections",
    "Format",
    "GroundTruth",
    "IdLists",
    "Images",
    "find_format",
    "from_answers",
    "from_predictions",
    "merge",
    "merge_detections",
    "read",
    "read_answers_detections",
    "read_burst",
    "read_burst_detections",
    "read_class_map",
    "read_coco",
    "read_createml",
    "read_createml_detections",
    "read_crowdhuman",
    "read_crowdhuman_detections",
    "read_cvat",
    "read_davis",
    "read_davis_detections",
    "read_detections",
    "read_dota",
    "read_dota_detections",
    "read_frame",
    "read_frame_detections",
    "read_hugging_face",
    "read_icdar2015",
    "read_icdar2015_detections",
    "read_kitti",
    "read_kitti_detections",
    "read_labelme",
    "read_labelme_xml",
    "read_lvis",
    "read_mot",
    "read_mot_detections",
    "read_mots",
    "read_mots_detections",
    "read_nuscenes",
    "read_nuscenes_detections",
    "read_open_images",
    "read_open_images_detections",
    "read_scalabel",
    "read_scalabel_detections",
    "read_table",
    "read_table_detections",
    "read_via",
    "read_voc",
    "read_voc_detections",
    "read_wider_face",
    "read_wider_face_detections",
    "read_yolo",
    "read_yolo_detections",
    "read_youtube_vis",
    "read_youtube_vis_detections",
    "register_format",
    "remap",
    "remap_detections",
    "split",
    "subset",
    "subset_detections",
    "write",
]
