"""The register of formats: how the format of a path is found, and how a data set is read and written."""

from __future__ import annotations

import inspect
import os
from itertools import islice
from pathlib import Path
from typing import Any

from ioukit._checks import pluralize
from ioukit._register import Register
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.builtin import BUILTIN
from ioukit.datasets.formats.format import Format
from ioukit.datasets.formats.recognising import archive_in, counts_in, first_bytes, first_lines
from ioukit.errors import DatasetError

_MOST_FILES = 50
"""How many files of a folder are looked at for the message that it has no format."""
_FEW = 3
"""How many lines of a file are looked at for the message that its folder has one: WIDER FACE's third line has a box."""
_BOX = 4
"""The numbers of a box; a line has more words. Lists of images and texts to read have fewer, or no folder of labels."""


def _check_format(format: Format) -> None:
    if format.read is None and format.read_detections is None:
        raise ValueError(f"format {format.name!r} reads neither ground truth nor detections")


FORMATS: Register[Format] = Register("format", _check_format)
"""The formats by name, in the order in which a path is compared with them."""
for _format in BUILTIN:
    FORMATS.add(_format.name, _format)


def register_format(added: Format) -> None:
    """Add a format, so that :func:`read`, :func:`read_detections` and the commands know it.

    Raises:
        ValueError: If there is a format of that name, or it reads nothing.
    """
    FORMATS.add(added.name, added)


_ANY_NUMBER = ("coco", "lvis")
"""The formats whose readers take numbers beyond 2**53."""


def find_format(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format of a path: the named one, or the first that recognises the path.

    Raises:
        TypeError: If the name is no text.
        ValueError: If no format has the name.
        OSError: If no format was named, and there is nothing at the path or it cannot be opened.
        DatasetError: If no format recognises the path.
    """
    if format is not None and not isinstance(format, str):
        hint = ": write ground_truth=..." if isinstance(format, GroundTruth) else ""
        raise TypeError(f"format must be the name of a format, got {type(format).__name__}{hint}")
    if format is not None:
        return FORMATS.find(format)
    place = Path(path)
    for known in FORMATS.values():
        if known.recognises(place):
            return known
    if not place.is_dir():
        place.open("rb").close()  # a missing file, or one that may not be read, is the more likely mistake
    if kind := archive_in(first_bytes(place)):
        raise DatasetError(f"{path}: expected a file or a folder of labels, found {kind}: unpack it first")
    if place.suffix.lower() in (".pkl", ".pickle"):
        raise DatasetError(
            f"{path}: a pickle is not read, as it may run programs: write a JSON list of COCO's results (image_id, "
            "category_id, bbox, score), or give arrays to Detections.from_arrays"
        )
    if _holds_images_alone(place):
        raise DatasetError(
            f"{path}: a folder of images alone: expected the file or folder of the annotations or detections; "
            "photographs are named by images= in Python, and by --images FOLDER in commands"
        )
    if place.suffix.lower() == ".txt" and (around := _around(place)):
        raise DatasetError(f"{path}: one file of a folder in the format {around}: name the folder, {place.parent}")
    raise DatasetError(f"{path}: not a format that can be read{_held(place)}; the formats are {', '.join(FORMATS)}")


def _around(place: Path) -> str:
    """The format of the folder of a text file, if there is one, and the file begins with a line that has a box."""
    if not any(len(" ".join(words).replace(",", " ").split()) > _BOX for words in first_lines(place)[:_FEW]):
        return ""
    return next((known.name for known in FORMATS.values() if known.recognises(place.parent)), "")


def _holds_images_alone(place: Path) -> bool:
    from ioukit.datasets.formats.image_files import SUFFIXES  # noqa: PLC0415 - for a message

    counts = counts_in(place) if place.is_dir() else {}
    return bool(counts) and {*counts} <= SUFFIXES


def _lacking_columns(place: Path) -> str:
    """Words about the columns that a table lacks."""
    from ioukit.datasets.formats.csv_tables import delimiter_of, first_row  # noqa: PLC0415 - for a message
    from ioukit.datasets.formats.table_columns import choose_columns  # noqa: PLC0415 - as above

    try:
        choose_columns(first_row(place, delimiter_of(place)), "as a table")
    except DatasetError as error:
        return f"; {error}"
    return ""


def _held(place: Path) -> str:
    """Words about what lies in a folder: files that can be read alone, or the kinds of files."""
    if not place.is_dir():
        return _lacking_columns(place) if place.suffix.lower() in (".csv", ".tsv") else ""
    alone = []
    for file in islice((file for file in sorted(place.iterdir()) if file.is_file()), _MOST_FILES):
        known = next((known.name for known in FORMATS.values() if known.recognises(file)), None)
        # Any JSON file may be COCO's, so its keys are looked for.
        if known is not None and (known != "coco" or b'"image' in first_bytes(file)):
            alone.append(f"{file.name} ({known})")
    if alone:
        return f", but it holds {' and '.join(alone[:3])}"
    folders = sorted(entry.name for entry in place.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    counts = counts_in(place)
    most = sorted(counts, key=lambda suffix: -counts[suffix])[:3]
    kinds = ", ".join(f"{counts[suffix]:,} {suffix or 'other'} files" for suffix in most)
    if folders and not kinds:
        named = ", ".join(folders[:3]) + (", ..." if len(folders) > 3 else "")
        kinds = f"{pluralize(len(folders), 'folder')} ({named}): name the one with the files"
    return f": it holds {kinds}" if kinds else ": it is empty"


def read(
    path: str | os.PathLike[str] | Any,
    format: str | None = None,
    *,
    images: str | os.PathLike[str] | None = None,
    **options: Any,
) -> GroundTruth:
    """Read ground truth from a file, a folder, or a table in memory.

    - ``coco``: an annotation file, see :meth:`GroundTruth.from_coco`.
    - ``coco-panoptic``: a panoptic file, whose segments become objects. ``masks=True`` reads their masks from the PNG
      files; ``folder`` is the folder of these, ``X`` for ``X.json`` by default; ``things_only=True`` leaves out stuff.
    - ``roboflow-coco``: a folder with ``_annotations.coco.json`` in a folder per split; the option is ``split``.
    - ``lvis``: an annotation file of LVIS, see :func:`read_lvis`.
    - ``youtube-vis``: a JSON file of YouTube-VIS, see :func:`read_youtube_vis`.
    - ``burst``: a JSON file of BURST, see :func:`read_burst`.
    - ``davis``: a folder of PNG files per sequence, see :func:`read_davis`. The option ``sequences`` has names of some.
    - ``createml``: a JSON file of Create ML, see :func:`read_createml`.
    - ``cvat``: an XML file of CVAT for images or videos, see :func:`read_cvat`.
    - ``labelme``: JSON files of LabelMe, see :func:`read_labelme`.
    - ``labelme-xml``: XML files of LabelMe's web tool, see :func:`read_labelme_xml`.
    - ``scalabel``: JSON files of Scalabel or BDD100K, see :func:`read_scalabel`. The option ``corners`` is
      ``"edges"`` by default.
    - ``via``: a JSON or CSV file of VIA, see :func:`read_via`. The option ``class_attribute`` names the class.
    - ``crowdhuman``: an ``.odgt`` file, see :func:`read_crowdhuman`. The option ``box`` is ``"fbox"`` by default.
    - ``open-images``: CSV files of Open Images, see :func:`read_open_images`.
    - ``yolo``: one split of a ``data.yaml`` with folders of images and labels. The option ``split`` is ``"val"`` by
      default. Images get the ids 0, 1, ... in the order of their names, and classes keep their numbers. The sizes of
      images come from the headers of their files. A ``data.yaml`` with more than plain lines needs
      ``pip install 'ioukit[yolo]'``.
    - ``kitti``: a folder of KITTI's labels, see :func:`read_kitti`.
    - ``dota``: folders of DOTA's labels, see :func:`read_dota`.
    - ``mot``: sequences of MOTChallenge, see :func:`read_mot`.
    - ``wider-face``: lists of WIDER FACE, see :func:`read_wider_face`.
    - ``csv``, ``parquet``, ``arrow``: tables with a row per object, see :func:`read_table`.

    Args:
        path: What to read. A table of pandas, Polars or PyArrow is read by :func:`read_frame`, a data set of Hugging
            Face by :func:`read_hugging_face`.
        format: The name of a format, see :data:`FORMATS`; found by looking at the path if ``None``.
        images: The folder of the images, if the files do not have the sizes of images and these are needed: to evaluate
            boxes in fractions with boxes in pixels, or to write them.
        **options: ``on_invalid``, ``threads``, and other arguments of the format's own reader.

    Raises:
        DatasetError: If the data is invalid, or of no known format.
        OSError: If it cannot be read.
    """
    if not isinstance(path, str | os.PathLike):
        from ioukit.datasets.formats.in_memory import ground_truth_in_memory  # noqa: PLC0415 - most data is in files

        gt = ground_truth_in_memory(path, format, **options)
    else:
        found = find_format(path, format)
        if found.read is None:
            raise DatasetError(f"{path}: the format {found.name} ({found.title}) holds no ground truth")
        if images is not None and "images" in inspect.signature(found.read).parameters:
            return found.read(path, images=images, **options)
        gt = found.read(path, **options)
    if images is None:
        return gt
    from ioukit.datasets.formats.image_files import with_sizes  # noqa: PLC0415 - most files have the sizes
    from ioukit.datasets.formats.problems import Problems  # noqa: PLC0415 - as above

    problems = Problems.of(options.get("on_invalid", "error"))
    return problems.noted_in(with_sizes(gt, problems, images=images, threads=options.get("threads")))


def read_detections(
    path: str | os.PathLike[str] | Any,
    format: str | None = None,
    *,
    ground_truth: GroundTruth | None = None,
    **options: Any,
) -> Detections:
    """Read detections from a file, a folder, or a table in memory.

    - ``coco``, ``lvis``: a results file, see :meth:`Detections.from_coco`.
    - ``youtube-vis``: a JSON file of tracks, see :func:`read_youtube_vis_detections`. It needs ``ground_truth``.
    - ``burst``: a JSON file of sequences, see :func:`read_burst_detections`. It needs ``ground_truth``.
    - ``davis``: a folder of PNG files per sequence, see :func:`read_davis_detections`. It needs ``ground_truth``.
    - ``createml``: a JSON file, see :func:`read_createml_detections`. It needs ``ground_truth``.
    - ``scalabel``: JSON files, see :func:`read_scalabel_detections`. They need ``ground_truth``.
    - ``crowdhuman``: an ``.odgt`` file with the detections of an image in each line, see
      :func:`read_crowdhuman_detections`.
    - ``open-images``: a CSV file, see :func:`read_open_images_detections`. It needs ``ground_truth``.
    - ``yolo``: a folder with a text file per image, named like the image, with lines ``class cx cy w h score`` in
      fractions of the image. It needs ``ground_truth``.
    - ``kitti``: a folder of results in KITTI's format, see :func:`read_kitti_detections`. It needs ``ground_truth``.
    - ``dota``, ``mot``, ``wider-face``: results as the evaluation servers take them, see :func:`read_dota_detections`,
      :func:`read_mot_detections` and :func:`read_wider_face_detections`. They need ``ground_truth``.
    - ``answers``: a line per answer of a language model, see :func:`read_answers_detections`. They need
      ``ground_truth``.
    - ``csv``, ``parquet``, ``arrow``: tables with a row per detection, see :func:`read_table_detections`.

    Args:
        path: What to read. A table of pandas, Polars or PyArrow is read by :func:`read_frame_detections`.
        format: The name of a format; found by looking at the path if ``None``.
        ground_truth: What the detections will be compared with. Formats whose files do not say the sizes of images
            need it, such as YOLO's, and those whose files have names of classes; others do not look at it.
        **options: As for :func:`read`.

    Raises:
        DatasetError: If the data is invalid, or of no known format.
        OSError: If it cannot be read.
    """
    if not isinstance(path, str | os.PathLike):
        from ioukit.datasets.formats.in_memory import detections_in_memory  # noqa: PLC0415 - as above

        return detections_in_memory(path, format, ground_truth=ground_truth, **options)
    found = find_format(path, format)
    if found.read_detections is None:
        raise DatasetError(f"{path}: the format {found.name} ({found.title}) holds no detections")
    if found.needs_ground_truth:
        options["ground_truth"] = ground_truth
    return found.read_detections(path, **options)


def write(
    data: GroundTruth | Detections,
    path: str | os.PathLike[str],
    format: str,
    *,
    ground_truth: GroundTruth | None = None,
    **options: Any,
) -> tuple[str, ...]:
    """Write ground truth or detections as a file or a folder. The path appears complete or not at all.

    Args:
        data: What to write.
        path: A file, which is replaced, or a folder, which must be empty or not exist: what the format is made of, see
            :attr:`Format.suffix`.
        format: The name of a format, see :data:`FORMATS`.
        ground_truth: For detections: the data set that they belong to. It has the names of images and classes, and the
            sizes of images.
        **options: Arguments of the format's own writer.

    Returns:
        What the files do not hold, a note for each kind of loss; nothing if all columns come back when they are read.

    Raises:
        ValueError: If no format has the name, or the format writes no such data.
        DatasetError: If the data lacks something that the format must have, such as the sizes of images.
        OSError: If the path cannot be written, or is a folder that is not empty.
    """
    from ioukit._output import whole_file, whole_folder  # noqa: PLC0415 - reading does not need it

    found = find_format(path, format)
    is_truth = isinstance(data, GroundTruth)
    if not isinstance(data, GroundTruth | Detections):
        raise TypeError(f"expected GroundTruth or Detections, got {type(data).__name__}")
    writer, suffix = (found.write, found.suffix) if is_truth else (found.write_detections, found.detections_suffix)
    if writer is None:
        what = "ground truth" if is_truth else "detections"
        able = [name for name, known in FORMATS.items() if (known.write if is_truth else known.write_detections)]
        raise ValueError(f"the format {found.name} writes no {what}; choose from {', '.join(able)}")
    if isinstance(data, Detections) and not (data.scored or found.scores_optional):
        able = [name for name, known in FORMATS.items() if known.write_detections and known.scores_optional]
        raise DatasetError(
            f"{data.source}: the detections have no scores, which the format {found.name} must have; choose from "
            f"{', '.join(able)}"
        )
    if isinstance(data, Detections) and ground_truth is not None:
        data = data.meeting(ground_truth)
    if data.normalized and not found.fractions:
        data, ground_truth = _in_pixels(data, ground_truth)
    if not is_truth:
        options["ground_truth"] = ground_truth
    if found.by_name:
        options["name"] = os.path.basename(path)
    from ioukit.datasets.formats.text_files import abbreviate  # noqa: PLC0415 - as above
    from ioukit.datasets.formats.written_rows import check_rows  # noqa: PLC0415 - as above

    if found.name not in _ANY_NUMBER:
        check_rows(data)
    with whole_file(path) if suffix else whole_folder(path) as unfinished:
        try:
            return tuple(writer(data, unfinished, **options))
        except UnicodeEncodeError as error:  # half of a pair of surrogates, which JSON can spell
            named = abbreviate(error.object)
            raise DatasetError(f"{data.source}: expected names that are Unicode text, found {named}") from None


def _in_pixels(
    data: GroundTruth | Detections, ground_truth: GroundTruth | None
) -> tuple[GroundTruth | Detections, GroundTruth | None]:
    """Data in fractions of the image, and the ground truth of detections, both in pixels."""
    if isinstance(data, GroundTruth):
        return data.in_pixels(), None
    if ground_truth is None:
        raise DatasetError(
            f"{data.source}: boxes are fractions of the image: ground_truth=..., or --ground-truth in a command, gives "
            "the sizes of the images, with which they become pixels"
        )
    known = ground_truth.in_pixels()
    return data.meeting(known), known
