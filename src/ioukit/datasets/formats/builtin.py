"""The formats that ioukit has, as a table. The module of a format is imported when the format is used.

The module ``<name>.py`` of a format has the functions that its row lists: ``recognises(path)``, ``read_<name>``,
``read_<name>_detections``, ``write_<name>`` and ``write_<name>_detections``, as `Format` describes them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ioukit._register import Later
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats import coco, lvis
from ioukit.datasets.formats.format import Format
from ioukit.datasets.formats.recognising import OTHER_JSON, archive_in, first_bytes, last_bytes

FOLDER = "/"
"""Stands for folders among the suffixes of :func:`_row`."""


_HERE = "ioukit.datasets.formats"


def _recogniser(module: str, suffixes: tuple[str, ...], name: str = "recognises") -> Callable[[Path], bool]:
    """Asks a function of a module about the paths that may have the format. A pipe can be read only once."""

    def recognises(path: Path) -> bool:
        suffix = FOLDER if path.is_dir() else path.suffix.lower() if path.is_file() else None
        return suffix in suffixes and bool(Later(f"{_HERE}.{module}:{name}")(path))

    return recognises


def _row(
    name: str,
    title: str,
    *functions: str,
    suffixes: tuple[str, ...] = (),
    recognises: Callable[[Path], bool] | None = None,
    **fields: Any,
) -> Format:
    """A format whose functions are in the module of its name. To read detections, it needs the ground truth.

    Args:
        name: The name; the module has underscores in the place of hyphens.
        title: One line about the format.
        *functions: What there is: ``read``, ``read_detections``, ``write``, ``write_detections``.
        suffixes: The ends of names, in lower case, that are worth a look by the module; ``FOLDER`` for folders.
        recognises: In the place of the function of the module.
        **fields: Further fields of `Format`.
    """
    module = name.replace("-", "_")
    for function in functions:
        verb, _, kind = function.partition("_")
        fields[function] = Later(f"{_HERE}.{module}:{'_'.join(filter(None, (verb, module, kind)))}")
    return Format(
        name=name,
        title=title,
        recognises=recognises or _recogniser(module, suffixes),
        needs_ground_truth="read_detections" in functions,
        **fields,
    )


_PANOPTIC = OTHER_JSON["coco-panoptic"]


def _is_coco(path: Path) -> bool:
    """Whether a file is JSON, and has no keys of another format that is JSON, too. A packed file may be an archive."""
    if not coco.recognises(path) or lvis.recognises(path):
        return False
    start = first_bytes(path)
    if archive_in(start) or any(keys.search(start) for keys in OTHER_JSON.values()):
        return False
    # Panoptic files may list their images first, so that their keys are near the end.
    return not _PANOPTIC.search(last_bytes(path))


def _is_panoptic(path: Path) -> bool:
    """Whether a JSON file has segments near its start or its end."""
    return path.suffix.lower() == ".json" and any(_PANOPTIC.search(look(path)) for look in (first_bytes, last_bytes))


def _table_rows() -> tuple[Format, ...]:
    """The three kinds of files with tables, which one module reads."""
    suffixes = (".csv", ".tsv", ".parquet", ".pq", ".arrow", ".feather", ".ipc")
    kinds = (("csv", "CSV", ".csv"), ("parquet", "Parquet", ".parquet"), ("arrow", "Arrow (Feather)", ".arrow"))
    return tuple(
        Format(
            name=name,
            title=f"{title} tables with a row per object and named columns",
            recognises=_recogniser("tables", suffixes, f"recognises_{name}"),
            read=Later(f"{_HERE}.tables:read_table"),
            read_detections=Later(f"{_HERE}.tables:read_table_detections"),
            needs_ground_truth=True,
            write=Later(f"{_HERE}.tables:write_{name}"),
            write_detections=Later(f"{_HERE}.tables:write_{name}"),
            suffix=suffix,
            detections_suffix=suffix,
            scores_optional=True,
        )
        for name, title, suffix in kinds
    )


BUILTIN = (
    Format(
        name="coco",
        title="COCO's .json or .json.gz: annotations, or results",
        recognises=_is_coco,
        read=GroundTruth.from_coco,
        read_detections=coco.read_results,
        write=Later(f"{_HERE}.coco_writing:write_coco"),
        write_detections=Later(f"{_HERE}.coco_writing:write_coco_detections"),
        suffix=".json",
        detections_suffix=".json",
        scores_optional=True,
        by_name=True,
    ),
    _row(
        "coco-panoptic",
        "COCO's panoptic .json: segments_info per image, with a folder of PNG files",
        "read",
        recognises=_is_panoptic,
    ),
    _row(
        "roboflow-coco",
        "a folder as Roboflow exports COCO: _annotations.coco.json in a folder per split",
        "read",
        suffixes=(FOLDER,),
    ),
    _row(
        "crowdhuman",
        "CrowdHuman's .odgt: a record per line and image, with gtboxes or dtboxes",
        *("read", "read_detections", "write", "write_detections"),
        recognises=lambda path: path.suffix.lower() == ".odgt" and not path.is_dir(),
        suffix=".odgt",
        detections_suffix=".odgt",
    ),
    Format(
        name="lvis",
        title="LVIS's .json or .json.gz: annotations with neg_category_ids and not_exhaustive_category_ids per image",
        recognises=lvis.recognises,
        read=lvis.read_lvis,
        read_detections=coco.read_results,
        write=Later(f"{_HERE}.coco_writing:write_lvis"),
        write_detections=Later(f"{_HERE}.coco_writing:write_coco_detections"),
        suffix=".json",
        detections_suffix=".json",
        by_name=True,
    ),
    _row(
        "voc",
        "Pascal VOC's folder of XML files, or its results comp4_det_test_<class>.txt",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".xml", ".txt", FOLDER),
    ),
    _row(
        "youtube-vis",
        "YouTube-VIS's .json: videos, and a track per record with a list of masks, one per frame",
        *("read", "read_detections"),
        suffixes=(".json",),
    ),
    _row(
        "burst",
        "BURST's .json: sequences with the masks of all tracks, frame by frame",
        *("read", "read_detections"),
        suffixes=(".json",),
    ),
    _row(
        "createml",
        "Create ML's JSON: a list of images with annotations, boxes by their centres; or detections with confidence",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".json", FOLDER),
        suffix=".json",
        detections_suffix=".json",
    ),
    _row(
        "answers",
        "a JSON line per answer of a language model that sees images, with the boxes in its text",
        "read_detections",
        suffixes=(".jsonl", ".ndjson"),
        readings=Later(f"{_HERE}.answers:list_readings"),
    ),
    _row(
        "cvat",
        "CVAT's XML for images or videos: a file, or a folder with annotations.xml",
        *("read", "write"),
        suffixes=(".xml", FOLDER),
        suffix=".xml",
    ),
    _row(
        "labelme",
        "LabelMe's JSON: a file with shapes, or a folder with one per image",
        *("read", "write"),
        suffixes=(".json", FOLDER),
    ),
    _row(
        "labelme-xml",
        "the XML of LabelMe's web tool: a file, or a folder with one per image",
        "read",
        suffixes=(".xml", FOLDER),
    ),
    _row(
        "scalabel",
        "Scalabel's and BDD100K's JSON: frames with labels, or a folder of such files; or detections with scores",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".json", FOLDER),
        suffix=".json",
        detections_suffix=".json",
    ),
    _row(
        "via",
        "VIA's JSON or CSV, versions 1 and 2: projects, or annotations",
        *("read", "write"),
        suffixes=(".json", ".csv"),
        suffix=".json",
    ),
    _row(
        "kitti",
        "a folder of text files in KITTI's format: labels, or results with scores; or files of tracking",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(FOLDER, ".txt"),
    ),
    _row(
        "nuscenes",
        "nuScenes' detection results .json: boxes in space per sample; or ground truth of this shape",
        *("read", "read_detections"),
        suffixes=(".json",),
    ),
    _row(
        "open-images",
        "Open Images' CSV files: boxes, or a folder with boxes, labels, classes and hierarchy; or detections",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".csv", FOLDER),
        detections_suffix=".csv",
        fractions=True,
    ),
    *_table_rows(),
    _row(
        "icdar2015",
        "ICDAR 2015's text files: gt_img_1.txt with four points and a transcription per line, or results res_img_1.txt",
        *("read", "read_detections"),
        suffixes=(FOLDER, ".txt"),
        scores_optional=True,
    ),
    _row(
        "dota",
        "DOTA's text files: labelTxt folders with four points per line, or a file of results per class",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(FOLDER,),
    ),
    _row(
        "mot",
        "MOTChallenge's text files: sequences with gt/gt.txt or det/det.txt",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".txt", FOLDER),
    ),
    _row(
        "mots",
        "text files of MOTS Challenge and KITTI MOTS: masks of tracked cars and pedestrians, a file per sequence",
        *("read", "read_detections"),
        suffixes=(".txt", FOLDER),
    ),
    _row(
        "davis",
        "DAVIS' folders of PNG files: a folder per sequence, with an id of an object in each pixel of a frame",
        *("read", "read_detections"),
        suffixes=(FOLDER,),
    ),
    _row(
        "wider-face",
        "WIDER FACE's lists of faces (wider_face_split), or results: a folder per event with a text file per image",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".txt", FOLDER),
    ),
    _row(
        "padilla",
        "a folder of text files of Object-Detection-Metrics: class, perhaps a score, and a box in pixels",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(FOLDER,),
    ),
    _row(
        "yolo",
        "YOLO's data.yaml with folders of images and labels, or a folder of text files with detections",
        *("read", "read_detections", "write", "write_detections"),
        suffixes=(".yaml", ".yml", ".data", FOLDER),
    ),
)
"""The formats, in the order in which a path is compared with them."""
