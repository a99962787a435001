"""Pascal VOC: an XML file for each image, and a text file of detections for each class."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice, check_threads
from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.image_names import ImageFinder
from ioukit.datasets.columns.lazy import Names
from ioukit.datasets.formats.image_files import files_below
from ioukit.datasets.formats.known_names import ClassIds, required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.recognising import first_bytes
from ioukit.datasets.formats.text_files import abbreviate, fits_a_path, inside, read_lines, refuse, shorter, to_number
from ioukit.datasets.formats.written_names import class_names, image_file_names
from ioukit.datasets.formats.written_rows import image_places
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt


Corners = Literal["as_is", "pixels"]
"""What ``xmin`` to ``ymax`` are: the edges of the box as they are, or its first and last pixels, counted from 1."""

_NARROWEST = {"as_is": 0.0, "pixels": -1 - 1e-9}
"""How large ``xmax - xmin`` and ``ymax - ymin`` are for a box without an area; 1 is not added without rounding."""
_FLAGS = ("difficult", "truncated", "occluded")
_UNKNOWN = 2
"""The value of a flag that a file does not have."""
_RESULT = "comp4_det_test_"
_RESULTS = re.compile(r"comp\d+_det_[^_]+_(?P<category>.+)\.txt")
_ANNOTATION = re.compile(rb"<annotation[\s/>]")
_LABELME = re.compile(rb"<(polygon|imagesize|sourceImage|sourceAnnotation)[\s/>]")
_ONE_CLASS = re.compile(r"\s+(1|0|-1)$")
"""What lists of images for one class have behind each image: whether it has an object of the class."""
_MOST_INVERTED = 0.01
"""The share of the boxes of results that may end before they begin. A darknet network gave 3 of 87,765; in a file whose
lines hold something else than corners, many more do."""

_FEW = 200
"""How many entries of a folder tell its format."""


def recognises(path: Path) -> bool:
    """Whether a path is an annotation, a folder with some, or a folder of detections."""
    if not path.is_dir():
        return bool(_RESULTS.fullmatch(path.name)) or _is_annotation(path)
    with contextlib.suppress(OSError):
        for folder in (path, path / "Annotations", *_years(path), *sorted(path.iterdir())[:_FEW]):
            names = _some_names(folder) if folder.is_dir() else []
            if folder == path and any(map(_RESULTS.fullmatch, names)):
                return True
            if annotation := next((name for name in names if name.endswith(".xml")), None):
                return _is_annotation(folder / annotation)
    return False


def _some_names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, _FEW)]


def _is_annotation(path: Path) -> bool:
    """Whether a file begins like one of VOC. LabelMe's have the same outermost element, and other ones inside."""
    start = first_bytes(path) if path.suffix.lower() == ".xml" else b""
    return bool(_ANNOTATION.search(start)) and not _LABELME.search(start)


def _years(path: Path) -> list[Path]:
    """The folders of annotations in a ``VOCdevkit``."""
    return sorted(path.glob("VOC*/Annotations"))


def read_voc(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    corners: Corners = "as_is",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> GroundTruth:
    """Read the XML files of Pascal VOC, which LabelImg, CVAT and others write, too.

    The ids of images are the names of the XML files without ``.xml``, after their folders if there are folders inside.
    Names and sizes of images are those in the files; a size of 0 is unknown. Classes get the ids 1, 2, ... in
    alphabetical order. The flags are ``difficult``, ``truncated`` and ``occluded``; an object without a flag has it
    false. The attribute ``pose`` is there if a file has one. The parts of objects, such as heads and hands, and the
    segmentations in PNG files are not read.

    Args:
        path: A folder with XML files; a folder with ``Annotations`` in it, such as ``VOC2007``; a ``VOCdevkit`` with
            one such folder; or one XML file.
        split: The list of images to read, ``ImageSets/Main/<split>.txt``; all images if ``None``.
        corners: ``"as_is"``: ``xmin`` to ``ymax`` are the edges of the box, as most tools write and read them. The
            protocols ``voc2007`` and ``voc2012`` expect that, too: they add 1 where they compare boxes. ``"pixels"``:
            they are the first and the last pixel of the box, and the first pixel of an image is 1, as in the VOC
            challenge. The box begins at ``xmin - 1`` and is ``xmax - xmin + 1`` wide.
        on_invalid: ``"error"`` refuses a file or an object that is invalid, ``"drop"`` leaves it out and counts it.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: How many threads read; all cores if ``None``.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If a file is invalid; names file, line and element, what was expected and what was found. Document
            types and entities are refused.
        OSError: If a file cannot be read.

    Reference: Everingham, Winn, "The PASCAL Visual Object Classes Challenge 2012 Development Kit", section 11.
    """
    check_choice("corners", corners, get_args(Corners))
    problems = Problems.of(on_invalid)
    folder, keys = _annotations(Path(path), split)
    prefix = os.path.join(folder, "")
    files = [f"{prefix}{key}.xml" for key in keys]
    raw = _core.read_voc_annotations(files, _NARROWEST[corners], check_threads(threads))
    # The first problem in the order of files is the one that stops.
    for _, kind, count, message in sorted(
        (first[:2], kind, count, f"{files[first[0]]}: {first[2]}")
        for kind, (count, first) in (("bad file", raw["bad_files"]), ("bad object", raw["bad_objects"]))
        if count
    ):
        problems.meet(kind, message, count)
    names, labels = Names(*raw["names"])[:], np.array(keys, np.str_)
    good = np.flatnonzero(raw["good"])
    class_codes, *class_names = raw["classes"]
    gt = GroundTruth.from_arrays(
        image_ids=labels[raw["files"]],
        category_ids=class_codes + 1,
        boxes=_boxes(raw["corners"], corners),
        images=labels[good],
        sizes=raw["sizes"][good],
        names=[names[at] or keys[at] for at in good.tolist()],
        categories=dict(enumerate(Names(*class_names)[:], start=1)),
        flags={
            name: raw["flags"][:, at] == 1 for at, name in enumerate(_FLAGS) if (raw["flags"][:, at] < _UNKNOWN).any()
        },
        attributes=_poses(*raw["poses"]),
        source=os.fspath(path),
    )
    by_name = dataclasses.replace(gt.categories, made_up_ids=True)
    return problems.noted_in(dataclasses.replace(gt, categories=by_name))


def _annotations(path: Path, split: str | None) -> tuple[str, list[str]]:
    """The folder of the XML files, and the names of the files in it, sorted and without ``.xml``."""
    if not path.is_dir():
        path.stat()
        return os.fspath(path.parent), [path.stem]
    folder = path / "Annotations"
    if not folder.is_dir():
        years = _years(path)
        if len(years) > 1:
            found = " and ".join(year.parent.name for year in years)
            refuse(str(path), "one folder with Annotations", f"{found}: name one of them")
        folder = years[0] if years else path
    found_files, links = files_below(folder, frozenset((".xml",)))
    for name in links:
        inside(folder, name, os.fspath(folder))
    keys = sorted(name[:-4] for name in found_files if name.endswith(".xml"))
    if split is not None:
        listing = inside(folder.parent, f"ImageSets/Main/{split}.txt", os.fspath(path))
        if not os.path.isfile(listing):
            lists = ", ".join(sorted(file.stem for file in Path(listing).parent.glob("*.txt"))[:8]) or "none"
            raise DatasetError(f"expected {listing}, the names of the images of split={split!r}; there are {lists}")
        there, keys = set(keys), []
        for number, line in enumerate(read_lines(listing), start=1):
            key = line.strip()
            if key and key not in there:
                key = _ONE_CLASS.sub("", key)
            if key and key not in there:
                expected = f"the name of a file in {folder}, without .xml"
                refuse(f"{listing}: line {number}", expected, abbreviate(key))
            keys += [key] if key else []
        keys = sorted(set(keys))
    if not keys:
        refuse(str(folder), "XML files", "none")
    return os.fspath(folder), keys


def _boxes(corners: npt.NDArray[np.float64], convention: Corners) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]``."""
    sides = corners[:, 2:] - corners[:, :2]
    first = 1 if convention == "pixels" else 0
    return np.hstack([corners[:, :2] - first, np.maximum(sides + first, 0)])


def _corners(boxes: npt.NDArray[np.float64], convention: Corners) -> list[list[float]]:
    first = boxes[:, :2] + (1 if convention == "pixels" else 0)
    return np.hstack([first, boxes[:, :2] + boxes[:, 2:]]).tolist()  # type: ignore[no-any-return]


def _poses(codes: npt.NDArray[np.int64], text: bytes, ends: npt.NDArray[np.uint64]) -> dict[str, npt.NDArray[np.str_]]:
    poses = np.array(Names(text, ends)[:] or [""], np.str_)
    said = set(poses.tolist()) - {"", "Unspecified"}
    return {"pose": poses[codes]} if said else {}


def read_voc_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    corners: Corners = "as_is",
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; text files are read one by one
) -> Detections:
    """Read VOC's results: a file ``comp4_det_test_<class>.txt`` for each class.

    A line is ``image score xmin ymin xmax ymax``, in pixels. A network can give a box that ends before it begins. If at
    most one line of a hundred is such a box, it is kept as a box without an area: the reference ``voc_eval`` counts it
    as a false positive. A note tells how many there are. If more lines are, they are invalid.

    Args:
        path: The folder of the files, or one file.
        ground_truth: The data set of the images and classes. An image is found by its id or by the name of its file,
            with or without suffix.
        corners: As for :func:`read_voc`.
        on_invalid: As for :func:`read_voc`, for lines.
        threads: Not used.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If a line is invalid, or no ``ground_truth`` is given; names file, line and field, what was
            expected and what was found.
        OSError: If a file cannot be read.
    """
    check_choice("corners", corners, get_args(Corners))
    problems = Problems.of(on_invalid)
    ground_truth = required(ground_truth, path, "ids of classes")
    known = ClassIds(ground_truth)
    finder = ImageFinder(ground_truth)
    positions: dict[str, int] = {}
    rows: list[tuple[int, int, list[float]]] = []
    inverted: dict[int, str] = {}
    for file, name in _results(Path(path)):
        if name not in known:
            refuse(str(file), f"one of the {len(known):,} classes", abbreviate(name))
        for number, line in enumerate(read_lines(file), start=1):
            if not line.strip():
                continue
            with problems.record("bad line"):
                image, values = _result(line, f"{file}: line {number}")
                if image not in positions:
                    positions[image] = finder.position(image, f"{file}: line {number}, image")
                if problem := _inverted(values, f"{file}: line {number}", _NARROWEST[corners]):
                    inverted[len(rows)] = problem
                rows.append((positions[image], known[name], values))
    if len(inverted) > _MOST_INVERTED * len(rows):
        for problem in inverted.values():
            problems.meet("bad line", problem)
        rows = [values for row, values in enumerate(rows) if row not in inverted]
    else:
        problems.note("box that ends before it begins: kept without an area, a false positive", len(inverted))
    numbers = np.array([values for *_, values in rows], np.float64).reshape(-1, 5)
    dt = Detections.from_arrays(
        image_ids=finder.labels[np.array([position for position, *_ in rows], np.int64)],
        category_ids=np.array([category for _, category, _ in rows], np.int64),
        boxes=_boxes(numbers[:, 1:], corners),
        scores=numbers[:, 0],
        source=os.fspath(path),
    )
    return problems.noted_in(dt)


def _results(path: Path) -> list[tuple[Path, str]]:
    """The files of results, and the class of each."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found = [(file, match["category"]) for file in files if (match := _RESULTS.fullmatch(file.name))]
    if not found:
        path.stat()
        refuse(str(path), "files named comp4_det_test_<class>.txt", "none")
    if path.is_dir():
        for file, _ in found:
            inside(path, file.name, os.fspath(path))
    return found


_FIELDS = ("score", "xmin", "ymin", "xmax", "ymax")


def _result(line: str, where: str) -> tuple[str, list[float]]:
    """The image of a line, and its score and corners."""
    image, *words = line.strip().rsplit(None, 5)  # the name of an image may have blanks
    if len(words) != 5:
        refuse(where, f"image {' '.join(_FIELDS)}", abbreviate(line.strip()))
    return image, [to_number(word, f"{where}, {field}") for word, field in zip(words, _FIELDS, strict=True)]


def _inverted(values: Sequence[float], where: str, narrowest: float) -> str:
    """The message about a box that ends before it begins; empty for other boxes."""
    for low, high in ((1, 3), (2, 4)):
        if values[high] < values[low] + narrowest:
            found = f"{values[low]:g} and {values[high]:g}"
            return f"{where}, {_FIELDS[high]}: expected at least {_FIELDS[low]}, found {found}"
    return ""


def write_voc(
    ground_truth: GroundTruth, path: Path, *, split: str = "val", corners: Corners = "as_is"
) -> Sequence[str]:
    """Write ``Annotations/``, with an XML file for each image, and the list of them, ``ImageSets/Main/<split>.txt``.

    Args:
        ground_truth: What to write.
        path: An empty folder.
        split: The name of the list.
        corners: As for :func:`read_voc`.

    Returns:
        A note for each kind of loss.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If an image has a name that cannot be that of a file in the folder, or a name cannot be in XML.
    """
    check_choice("corners", corners, get_args(Corners))
    gt = ground_truth
    names = image_file_names(gt)
    classes = [_element(name, f"{gt.source}: class") for name in gt.categories.names]
    class_names(gt.categories, gt.source)
    values = [list(map(shorter, row)) for row in _corners(gt.boxes, corners)]
    flags = {name: gt.flags[name].tolist() for name in _FLAGS if name in gt.flags}
    poses = gt.attributes["pose"].tolist() if "pose" in gt.attributes else None
    objects: dict[int, list[str]] = {}
    of_class = np.searchsorted(gt.categories.ids, gt.category_ids).tolist()
    for row, at in enumerate(image_places(gt, gt.images).tolist()):
        parts = [f"\t<object>\n\t\t<name>{classes[of_class[row]]}</name>\n"]
        if poses is not None:
            parts.append(f"\t\t<pose>{_element(str(poses[row]), f'{gt.source}: pose')}</pose>\n")
        parts += [f"\t\t<{name}>{int(flag[row])}</{name}>\n" for name, flag in flags.items()]
        parts.append("\t\t<bndbox>\n")
        parts += [
            f"\t\t\t<{field}>{value}</{field}>\n"
            for field, value in zip(("xmin", "ymin", "xmax", "ymax"), values[row], strict=True)
        ]
        parts.append("\t\t</bndbox>\n\t</object>\n")
        objects.setdefault(at, []).append("".join(parts))
    from xml.sax.saxutils import escape  # noqa: PLC0415 - imports what HTTP needs, for which readers would wait

    folder = path / "Annotations"
    stems = [os.path.splitext(name)[0] for name in names]
    for inner in {os.path.dirname(name) for name in names} | {""}:
        (folder / inner).mkdir(parents=True, exist_ok=True)
    for at, (name, size) in enumerate(zip(names, gt.images.sizes.tolist(), strict=True)):
        text = f"<annotation>\n\t<filename>{escape(name)}</filename>\n"
        if not any(map(np.isnan, size)):
            width, height = map(shorter, size)
            text += f"\t<size>\n\t\t<width>{width}</width>\n\t\t<height>{height}</height>\n\t</size>\n"
        (folder / f"{stems[at]}.xml").write_bytes((text + "".join(objects.get(at, ())) + "</annotation>\n").encode())
    listing = inside(path, f"ImageSets/Main/{split}.txt", "split")
    listing.parent.mkdir(parents=True)
    listing.write_bytes("".join(f"{stem}\n" for stem in sorted(stems)).encode())
    return left_out_columns(gt, Holds(flags=frozenset(_FLAGS), attributes=frozenset(["pose"])))


def write_voc_detections(
    detections: Detections, path: Path, *, ground_truth: GroundTruth | None = None, corners: Corners = "as_is"
) -> Sequence[str]:
    """Write a file ``comp4_det_test_<class>.txt`` for each class.

    Args:
        detections: What to write.
        path: An empty folder.
        ground_truth: The data set of the images and classes, with their names.
        corners: As for :func:`read_voc`.

    Returns:
        A note for each kind of loss.

    Raises:
        ValueError: If ``corners`` is unknown.
        DatasetError: If there is no ground truth, if it lacks an image or a class, or if the name of a class cannot be
            part of the name of a file.
    """
    check_choice("corners", corners, get_args(Corners))
    ground_truth = required(ground_truth, detections.source)
    dt = detections.known_to(ground_truth)
    stems = [os.path.splitext(name)[0] for name in image_file_names(ground_truth)]
    if blank := next((stem for stem in stems if stem != stem.strip()), None):
        refuse(ground_truth.source, "names of images without outer spaces", abbreviate(blank))
    names = ground_truth.categories.names
    for at, name in enumerate(names):
        is_file = name.isprintable() and name.strip() and not set(name) & set("/\\:") and fits_a_path(_RESULT + name)
        if not is_file or name in names[:at]:
            raise DatasetError(
                f"{ground_truth.source}: class {abbreviate(name)}: expected a name that can be that of one file"
            )
    lines: list[list[str]] = [[] for _ in names]
    of_class = np.searchsorted(ground_truth.categories.ids, dt.category_ids).tolist()
    positions = image_places(dt, ground_truth.images).tolist()
    rows = zip(positions, of_class, dt.scores.tolist(), _corners(dt.boxes, corners), strict=True)
    for at, category, score, box in rows:
        lines[category].append(f"{stems[at]} {score!r} {' '.join(map(shorter, box))}\n")
    for name, of_file in zip(names, lines, strict=True):
        (path / f"{_RESULT}{name}.txt").write_bytes("".join(of_file).encode())
    return left_out_columns(dt, Holds())


def _element(text: str, where: str) -> str:
    """Text for an element of XML."""
    if not all(character.isprintable() for character in text) or text != text.strip() or not text:
        refuse(where, "text that XML can hold", abbreviate(text))
    from xml.sax.saxutils import escape  # noqa: PLC0415 - as above

    return escape(text)
