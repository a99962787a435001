"""The models that `ioukit compare` and `ioukit view` show, from files or from a ledger, and labels of their images.

A label of an image is its scene or camera, for example: from a CSV file, or from an attribute of the images.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

import ioukit
from ioukit._output import printable
from ioukit.cli._data_files import Reader, ReadingOptions, with_attributes
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._rules import RuleOptions, check_scored_alike, chosen_classes
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.cli._streams import Talk
    from ioukit.datasets import GroundTruth
    from ioukit.evaluation import Evaluation, Protocol


Models = dict[str, "Evaluation"]
Labels = dict[str, Any]


class LabelOptions(NamedTuple):
    """Which images belong together when they are drawn."""

    strata: Annotated[
        str | None,
        typer.Option(
            metavar="CSV|NAME",
            help="Label of each image; replicates keep the number of images of each. A CSV file (image id or file "
            "name, label), FILE.csv:COLUMN, or an attribute of the images.",
        ),
    ] = None
    clusters: Annotated[
        str | None,
        typer.Option(metavar="CSV|NAME", help="In the same way: images of one scene or video, drawn together."),
    ] = None

    def of(self, gt: "GroundTruth") -> Labels:
        """The labels of the images, by the names of the options that are given."""
        found: Labels = {}
        for option, text in self._asdict().items():
            if text is not None:
                with bad_value(f"--{option}"), bad_input():  # a wrong file is one line; a wrong name, about the option
                    found[option] = image_labels(text, gt)
        return found

    def of_runs(self, evaluation: "Evaluation") -> Labels:
        """Those of runs. A ledger knows the ids of images, and neither their file names nor their attributes."""
        ids = evaluation.matches.image_ids
        return self.of(ioukit.GroundTruth.from_arrays(image_ids=ids[:0], category_ids=[], boxes=[], images=ids))

    def say(self, found: Labels, talk: "Talk") -> None:
        """Says how many groups of images there are, and names one, which shows that the wrong column was read."""
        from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

        for option, of_images in found.items():
            groups = sorted({printable(str(label)) for label in of_images.values()})
            example = f", such as {groups[0]}" if groups else ""
            talk.say(f"note --{option}: {pluralize(len(groups), 'group')} of images{example}")


def models_of_files(
    sources: Sequence[Path],
    names: list[str] | None,
    rules: RuleOptions,
    reading: ReadingOptions,
    reader: Reader,
    labels: LabelOptions | None = None,
    iou_threshold: float | None = None,
    *,
    least: int = 2,
    attributes: bool = False,
    near: float | None = None,
) -> tuple[Models, Labels]:
    """The evaluations of files of detections by the names of the models, and the labels of the images.

    Args:
        sources: The ground truth, and the detections of each model.
        names: The names of the models; those of the files if ``None``.
        rules: What to evaluate, and by which rules.
        reading: How to read the files.
        reader: What reads them.
        labels: What ``--strata`` and ``--clusters`` say.
        iou_threshold: What ``--iou-threshold`` says.
        least: How many models are needed.
        attributes: Whether further values of images and annotations are read, too.
        near: The lowest IoU of near pairs, if they are needed for certain; the protocol's lowest IoU threshold if that
            is lower.

    Raises:
        typer.BadParameter: If an option is wrong.
        typer.Exit: If a file is, after a message.
    """
    with bad_use():
        if len(sources) <= least:
            raise typer.BadParameter(
                "at least two models are needed, behind the ground truth: GT, the detections of A, and those of B"
            )
        names = model_names(names, sources[1:])
        rules.protocol_of(rules.kind())  # said before anything is read, if they are wrong
    gt, detections = None, []
    for path in sources[1:]:
        read_from = reading.sources([sources[0], path])
        if attributes:
            with bad_input():
                read_from[0] = with_attributes(read_from[0])
        gt, dt = reader.pair(read_from, known=gt)
        detections.append(dt)
    assert gt is not None  # there is at least one model
    with bad_input():
        check_scored_alike(rules.protocol, detections)
    kind, protocol = rules.of_data(gt, detections[0], reader.talk)
    found = {} if labels is None else labels.of(gt)
    _check_iou_threshold(protocol, iou_threshold)
    chosen = chosen_classes(rules.classes, gt.categories, protocol)
    if near is not None:
        near = min(near, *protocol.iou_thresholds)
    with bad_input(), reader.talk.busy("evaluating"):
        models = {
            model: ioukit.evaluate(
                gt, dt, protocol, iou_type=kind.name, categories=chosen, near=near, threads=reader.threads
            )
            for model, dt in zip(names, detections, strict=True)
        }
    return models, found


def models_of_runs(
    log: Path,
    runs: Sequence[Path],
    names: list[str] | None,
    about_files: Sequence[Any],
    labels: LabelOptions,
    iou_threshold: float | None,
    threads: int | None,
) -> tuple[Models, Labels]:
    """The evaluations of runs of a ledger by the names of the models, and the labels of the images.

    Args:
        log: The ledger.
        runs: What chooses each run; paths because the same arguments may name files.
        names: The names of the models; what chooses the runs for good if ``None``, such as ``B@2``.
        about_files: The groups of options about files: nothing may be given, except where to write the report.
        labels: What ``--strata`` and ``--clusters`` say.
        iou_threshold: What ``--iou-threshold`` says.
        threads: How many threads; all cores if ``None``.

    Raises:
        typer.BadParameter: If an option is wrong, or is about files.
        typer.Exit: If the ledger or a run is, after a message.
    """
    from ioukit.cli._ledger import about_runs  # noqa: PLC0415 - files need no ledger
    from ioukit.runs import Ledger  # noqa: PLC0415 - as above

    refuse_about_files(about_files)
    ledger = Ledger(log)
    with about_runs():
        found = [ledger.run(str(run)) for run in runs]
        if len({run.id for run in found}) < len(found):
            raise ValueError(f"expected different runs, got {', '.join(run.reference for run in found)}")
        evaluations = [ledger.evaluation(run, threads=threads) for run in found]
    with bad_use():
        chosen = model_names(names, runs) if names is not None else [run.reference for run in found]
    _check_iou_threshold(evaluations[0].protocol, iou_threshold)
    return dict(zip(chosen, evaluations, strict=True)), labels.of_runs(evaluations[0])


def refuse_about_files(groups: Sequence[Any]) -> None:
    """Refuses options about files where runs of a ledger are named, except where to write the report.

    Raises:
        typer.BadParameter: If there is one.
    """
    for group in groups:
        for name, value in group._asdict().items():
            if name != "report" and value not in (None, False, "error"):
                raise typer.BadParameter(
                    "is about files, and the runs of a ledger are evaluated already",
                    param_hint=f"--{name.replace('_', '-')}",
                )


def _check_iou_threshold(protocol: "Protocol", iou_threshold: float | None) -> None:
    with bad_value("--iou-threshold"):
        protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)


def model_names(given: list[str] | None, paths: Sequence[Path]) -> list[str]:
    """The names of the models: the given ones, or those of the files with as many folders as make them differ.

    Raises:
        typer.BadParameter: If there are more or fewer names than models, or two are equal.
    """
    if given is None:
        for folders in range(3):
            names = ["/".join([*path.parts[-1 - folders : -1], path.stem]) for path in paths]
            if len(set(names)) == len(names):
                return names
        return [f"{path.stem} {place}" for place, path in enumerate(paths, 1)]
    if len(given) != len(paths):
        from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

        listed = given[0].split(",") if len(given) == 1 else []
        hint = f"; repeat it: {' '.join(f'--name {one}' for one in listed)}" if len(listed) == len(paths) else ""
        expected = pluralize(len(paths), "name")
        raise typer.BadParameter(f"expected {expected}, got {len(given)}{hint}", param_hint="--name")
    if len(set(given)) < len(given):
        raise typer.BadParameter("two models have the same name", param_hint="--name")
    if not all(map(str.strip, given)):
        raise typer.BadParameter("a name needs a letter", param_hint="--name")
    return given


def image_labels(text: str, ground_truth: "GroundTruth") -> dict[Any, Any]:
    """The label of each image by its id.

    Args:
        text: ``FILE.csv``, whose first column names images by id or file name, and whose second column has the labels;
            ``FILE.csv:COLUMN`` for another column, by the name in the first line; or the name of an attribute of the
            images, such as ``video_id``.
        ground_truth: The images.

    Raises:
        DatasetError: If the file has an unknown image, an image twice or not at all, or no such column.
        ValueError: If the images have no such attribute.
        OSError: If the file cannot be read.
    """
    path, column = _path_and_column(text)
    return _attribute(text, ground_truth) if path is None else _labels_of_file(path, ground_truth, column)


def labelled_files(*texts: str | None) -> list[Path]:
    """The files among what options for labels say."""
    return [path for path, _ in (_path_and_column(text) for text in texts if text is not None) if path is not None]


def _labels_of_file(path: Path, ground_truth: "GroundTruth", column: str | None = None) -> dict[Any, str]:
    """The label of each image by its id, from a CSV file. A text that is an id as well as a file name is the id.

    Args:
        path: The file. Its first column names images by id or file name; a first line that does not is a heading.
        ground_truth: The images.
        column: Which column has the labels, by its heading; the second one if ``None``.

    Raises:
        DatasetError: If the file has an unknown image, an image twice or not at all, or no such column.
        OSError: If the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            rows = [(lines.line_num, row) for row in lines if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: expected a CSV file: {error}") from None
    return _of_rows(path, rows, column, ground_truth)


def _path_and_column(text: str) -> tuple[Path | None, str | None]:
    name, colon, column = text.rpartition(":")
    if colon and name.lower().endswith(".csv"):
        return Path(name), column
    return (Path(text), None) if text.lower().endswith(".csv") else (None, None)


def _attribute(name: str, ground_truth: "GroundTruth") -> dict[Any, Any]:
    images = ground_truth.images
    values = images.attributes.get(name)
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        known = [other for other, column in images.attributes.items() if getattr(column, "ndim", 0) == 1]
        there = f"they have {', '.join(known)}" if known else "they have none"
        raise ValueError(f"the images have no attribute {name!r} ({there}); give the name of a CSV file to read labels")
    return dict(zip(images.labels.tolist(), values.tolist(), strict=True))


def _of_rows(
    path: Path, rows: list[tuple[int, list[str]]], column: str | None, ground_truth: "GroundTruth"
) -> dict[Any, str]:
    """The labels from the rows of a file, each with the number of its line."""
    from ioukit.datasets.formats.text_files import shortened  # noqa: PLC0415 - for those who give a file

    images = ground_truth.images
    ids = images.labels.tolist()
    known = {name: number for name, number in zip(images.names[:], ids, strict=False) if name}
    known |= {str(number): number for number in ids}
    at = 1
    if rows and rows[0][1][0].strip() not in known:
        head = [cell.strip() for cell in rows.pop(0)[1]]
        if column is not None:
            if column not in head[1:]:
                raise DatasetError(f"{path}: expected a column {column!r}, found {', '.join(head[1:]) or 'none'}")
            at = head.index(column, 1)
    elif column is not None:
        raise DatasetError(f"{path}: the first line names no columns, so there is no column {column!r}")
    labels: dict[Any, str] = {}
    for line, row in rows:
        image, where = row[0].strip(), f"{path}: line {line}"
        if image not in known:
            raise DatasetError(f"{where}: expected the id or file name of an image, found {shortened(repr(image), 60)}")
        if len(row) <= at or not row[at].strip():
            raise DatasetError(f"{where}: image {image!r} has no label")
        if known[image] in labels:
            raise DatasetError(f"{where}: image {image!r} is there twice")
        labels[known[image]] = row[at].strip()
    missing = [number for number in ids if number not in labels]
    if missing:
        raise DatasetError(f"{path}: {len(missing):,} of {len(ids):,} images have no label, for example {missing[0]}")
    return labels
