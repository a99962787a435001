"""The models that `ioukit compare` compares: evaluated from files, or read from a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

import ioukit
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import read_data, sources_of, with_attributes
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._options import chosen_classes
from ioukit.evaluation.kinds import find_kind

if TYPE_CHECKING:
    from ioukit.cli._talk import Talk
    from ioukit.evaluation import Evaluation, Kind, Protocol

__all__ = ["EvaluationOptions", "models_of_files", "models_of_runs"]

Models = dict[str, "Evaluation"]
Labels = dict[str, Any]


class EvaluationOptions(NamedTuple):
    """The options that say how files are read and evaluated."""

    iou_type: str | None
    protocol: str | None
    iou_thresholds: list[str] | None
    max_dets: list[str] | None
    areas: list[str] | None
    classes: list[str] | None
    class_agnostic: bool
    gt_format: str | None
    dt_format: str | None
    gt_option: list[str] | None
    dt_option: list[str] | None
    on_invalid: Any

    def rules(self, kind: Kind) -> Protocol:
        """The protocol for a kind of region."""
        return chosen_protocol(
            self.protocol,
            kind,
            iou_thresholds=self.iou_thresholds,
            max_dets=self.max_dets,
            areas=self.areas,
            class_agnostic=self.class_agnostic,
        )


def models_of_files(
    sources: Sequence[Path],
    names: list[str] | None,
    options: EvaluationOptions,
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
        options: How to read and evaluate.
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
        with bad_value("--iou-type"):
            kind = find_kind(options.iou_type or "bbox")
        rules = options.rules(kind)
    gt, detections = None, []
    for path in sources[1:]:
        read_from = sources_of(
            [sources[0], path], (options.gt_format, options.dt_format), (options.gt_option, options.dt_option)
        )
        if attributes:
            with bad_input():
                read_from[0] = with_attributes(read_from[0])
        gt, dt = read_data(read_from, options.on_invalid, threads, talk, long=long, known=gt)
        detections.append(dt)
    assert gt is not None  # there is at least one model
    if options.iou_type is None and detections[0].regions:
        kind = _chosen_kind(gt, detections[0], rules, talk)
        rules = options.rules(kind)
    found = _labels(gt, labels)
    _check_iou_threshold(rules, iou_threshold)
    chosen = chosen_classes(options.classes, gt.categories)
    if near is not None:
        near = min(near, *rules.iou_thresholds)
    with bad_input(), talk.busy("evaluating", long=long):
        models = {
            model: ioukit.evaluate(gt, dt, rules, iou_type=kind.name, categories=chosen, near=near, threads=threads)
            for model, dt in zip(names, detections, strict=True)
        }
    return models, found


def models_of_runs(
    log: Path,
    runs: Sequence[Path],
    names: list[str] | None,
    options: EvaluationOptions,
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
        options: How to read and evaluate files: nothing may be given.
        labels: What ``--strata`` and ``--clusters`` say.
        iou_threshold: What ``--iou-threshold`` says.
        images: What ``--images`` says.
        threads: How many threads; all cores if ``None``.

    Raises:
        typer.BadParameter: If an option is wrong, or is about files.
        typer.Exit: If the ledger or a run is, after a message.
    """
    from ioukit.cli._ledger import about_runs  # noqa: PLC0415 - files need no ledger
    from ioukit.ledger import Ledger  # noqa: PLC0415 - as above

    given = {**options._asdict(), "images": images}
    for name, value in given.items():
        if value not in (None, False) and (name, value) != ("on_invalid", "error"):
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


def _check_iou_threshold(rules: Protocol, iou_threshold: float | None) -> None:
    with bad_value("--iou-threshold"):
        rules.position_of_iou(rules.main_iou if iou_threshold is None else iou_threshold)


def _chosen_kind(gt: ioukit.GroundTruth, dt: ioukit.Detections, rules: Protocol, talk: Talk) -> Kind:
    """The kind of region of files that have more than boxes; a line says why."""
    from ioukit.cli._iou_type import chosen_iou_type  # noqa: PLC0415 - files of boxes need no choice

    name, why = chosen_iou_type(gt, dt, rules)
    if why:
        talk.say(why)
    return find_kind(name)


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
        raise typer.BadParameter(f"expected {len(paths)} names, got {len(given)}", param_hint="--name")
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
