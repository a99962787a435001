"""The models that `ioukit compare` compares: evaluated from files, or read from a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import ioukit
from ioukit.cli._arguments import OnInvalid
from ioukit.cli._data_files import read_data, with_attributes
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._option_groups import ReadingOptions, RuleOptions
from ioukit.cli._options import chosen_classes

if TYPE_CHECKING:
    from ioukit.cli._talk import Talk
    from ioukit.evaluation import Evaluation, Protocol

__all__ = ["models_of_files", "models_of_runs"]

Models = dict[str, "Evaluation"]
Labels = dict[str, Any]


def models_of_files(
    sources: Sequence[Path],
    names: list[str] | None,
    rules: RuleOptions,
    reading: ReadingOptions,
    labels: Mapping[str, str | None],
    iou_threshold: float | None,
    talk: Talk,
    threads: int | None,
    *,
    long: bool,
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
        labels: What ``--strata`` and ``--clusters`` say.
        iou_threshold: What ``--iou-threshold`` says.
        talk: Where to report what was read.
        threads: How many threads; all cores if ``None``.
        long: Whether this may take seconds.
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
            raise typer.BadParameter("at least two models are needed: give the detections of another one")
        names = _names(names, sources[1:])
        rules.protocol_of(rules.kind())  # said before anything is read, if they are wrong
    gt, detections = None, []
    for path in sources[1:]:
        read_from = reading.sources([sources[0], path])
        if attributes:
            with bad_input():
                read_from[0] = with_attributes(read_from[0])
        gt, dt = read_data(read_from, reading.on_invalid.value, threads, talk, long=long, known=gt)
        detections.append(dt)
    assert gt is not None  # there is at least one model
    kind, protocol = rules.of_data(gt, detections[0], talk)
    found = _labels(gt, labels)
    _check_iou_threshold(protocol, iou_threshold)
    chosen = chosen_classes(rules.classes, gt.categories)
    if near is not None:
        near = min(near, *protocol.iou_thresholds)
    with bad_input(), talk.busy("evaluating", long=long):
        models = {
            model: ioukit.evaluate(gt, dt, protocol, iou_type=kind.name, categories=chosen, near=near, threads=threads)
            for model, dt in zip(names, detections, strict=True)
        }
    return models, found


def models_of_runs(
    log: Path,
    runs: Sequence[Path],
    names: list[str] | None,
    rules: RuleOptions,
    reading: ReadingOptions,
    labels: Mapping[str, str | None],
    iou_threshold: float | None,
    images: Path | None,
    threads: int | None,
) -> tuple[Models, Labels]:
    """The evaluations of runs of a ledger by the names of the models, and the labels of the images.

    Args:
        log: The ledger.
        runs: What chooses each run; paths because the same arguments may name files.
        names: The names of the models; what chooses the runs for good if ``None``, such as ``B@2``.
        rules: What to evaluate, and by which rules: nothing may be given.
        reading: How to read files: nothing may be given.
        labels: What ``--strata`` and ``--clusters`` say.
        iou_threshold: What ``--iou-threshold`` says.
        images: What ``--images`` says.
        threads: How many threads; all cores if ``None``.

    Raises:
        typer.BadParameter: If an option is wrong, or is about files.
        typer.Exit: If the ledger or a run is, after a message.
    """
    from ioukit.cli._ledger import about_runs  # noqa: PLC0415 - files need no ledger
    from ioukit.runs import Ledger  # noqa: PLC0415 - as above

    given = {**rules._asdict(), **reading._asdict(), "images": images}
    for name, value in given.items():
        if value not in (None, False, OnInvalid.ERROR):
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(
                "is about files, and the runs of a ledger are evaluated already", param_hint=option
            )
    ledger = Ledger(log)
    with about_runs():
        found = [ledger.run(str(run)) for run in runs]
        if len({run.id for run in found}) < len(found):
            raise ValueError(f"expected different runs, got {', '.join(run.reference for run in found)}")
        evaluations = [ledger.evaluation(run, threads=threads) for run in found]
    with bad_use():
        chosen = _names(names, runs) if names is not None else [run.reference for run in found]
    _check_iou_threshold(evaluations[0].protocol, iou_threshold)
    ids = evaluations[0].matches.image_ids
    # A ledger knows the ids of images, and neither their file names nor their attributes.
    known = ioukit.GroundTruth.from_arrays(image_ids=ids[:0], category_ids=[], boxes=[], images=ids)
    return dict(zip(chosen, evaluations, strict=True)), _labels(known, labels)


def _check_iou_threshold(protocol: Protocol, iou_threshold: float | None) -> None:
    with bad_value("--iou-threshold"):
        protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)


def _names(given: list[str] | None, paths: Sequence[Path]) -> list[str]:
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

        raise typer.BadParameter(f"expected {pluralize(len(paths), 'name')}, got {len(given)}", param_hint="--name")
    if len(set(given)) < len(given):
        raise typer.BadParameter("two models have the same name", param_hint="--name")
    return given


def _labels(gt: ioukit.GroundTruth, options: Mapping[str, str | None]) -> Labels:
    """The labels of the images that `--strata` and `--clusters` name."""
    found: Labels = {}
    for option, text in options.items():
        if text is not None:
            from ioukit.cli._image_labels import image_labels  # noqa: PLC0415 - for those who give labels

            with bad_value(f"--{option}"), bad_input():  # a wrong file is one line; a wrong name is about the option
                found[option] = image_labels(text, gt)
    return found
