"""`ioukit predict`: boxes in images."""

from __future__ import annotations

import json as json_text
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ioukit._output import printable, whole_file
from ioukit.cli._arguments import OperatingPointsOption
from ioukit.cli._data_files import input_files
from ioukit.cli._detector_data import (
    BatchOption,
    DeviceOption,
    Images,
    ImagesOption,
    NetworkPath,
    RectangularOption,
    SizeOption,
    SplitOption,
    check_split,
    ids,
    read_images,
)
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import AnswerOptions, QuietOption, json_option
from ioukit.cli._streams import Talk, print_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ioukit.postprocess import OperatingPoints
    from ioukit.torch.detector.data import Pixels
    from ioukit.torch.detector.model import Config
    from ioukit.torch.detector.predict import Result


# Long: the steps of a command, one after the other.
def predict(
    network: NetworkPath,
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="IMAGES...", help="Images, folders of images, or a data set: data.yaml or a COCO file; - is stdin."
        ),
    ],
    *,
    draw: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw the boxes on copies of the images in this folder.")
    ] = None,
    json: Annotated[
        Path | None,
        json_option(
            "Print COCO results as JSON instead of the lines; with FILE, write them there and print the lines."
        ),
    ] = None,
    ids_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --json: take image_id and category_id from this COCO file, by file name and class name. "
            "[default: those of the data set, else counted from 1]",
        ),
    ] = None,
    folder: ImagesOption = None,
    split: SplitOption = "val",
    score_threshold: Annotated[
        float | None, typer.Option(metavar="SCORE", help="Leave out boxes with a lower score. [default: 0.25]")
    ] = None,
    operating_points: OperatingPointsOption = None,
    iou_threshold: Annotated[
        float, typer.Option(metavar="IOU", help="Of two boxes of a class with an IoU above this, keep the better.")
    ] = 0.5,
    max_dets: Annotated[int, typer.Option(min=1, metavar="N", help="The largest number of boxes per image.")] = 100,
    size: SizeOption = None,
    rectangular: RectangularOption = False,
    batch: BatchOption = 8,
    device: DeviceOption = None,
    on_invalid: Annotated[
        str, typer.Option(help="A file that cannot be read as an image: error, or skip and report it.")
    ] = "error",
    quiet: QuietOption = False,
) -> None:
    """Find objects in images: a line per box on stdout, and optionally drawings or COCO results.

    A line is: image, class, score, and the corners x1 y1 x2 y2 in pixels, separated by tabs.

    Examples:
      ioukit predict run/best.safetensors photo.jpg
      ioukit predict run/best.safetensors photos/ --draw drawn/ --score-threshold 0.4
      ioukit predict run/best.safetensors photos/ --operating-points points.json
      ioukit predict run/best.safetensors photos/ --json detections.json
      ioukit predict run/best.safetensors photos/ --json detections.json --ids-from gt.json
      ioukit predict run/best.safetensors val.json --images val/ --score-threshold 0.001 --json=detections.json
    """
    answer = AnswerOptions(json, quiet)
    talk = answer.talk()
    sources = input_files(*images) if ids_from is None else input_files(*images, ids_from)
    with bad_use():
        from ioukit.datasets import GroundTruth  # noqa: PLC0415
        from ioukit.torch.detector import predict as prediction  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415
        from ioukit.torch.detector.data import check_on_invalid  # noqa: PLC0415

        part = check_split(split)
        _check_options(answer, ids_from)
        policy = check_on_invalid(on_invalid)
        model = load_model(network, device, size)
        points = _points(operating_points, score_threshold, model.config)
    with bad_input():
        given = read_images(sources[: len(images)], folder, part, policy, talk)
        ground_truth = None if ids_from is None else GroundTruth.from_coco(sources[-1])
    with bad_use():
        image_ids, class_ids = ids(given, model.config, ground_truth, source=ids_from or images[0])
        answer.check([network, *given.files, *sources, *([] if operating_points is None else [operating_points])])
        targets = None if draw is None else _drawings(given.files, draw)
    if answer.json is not None and ground_truth is None and given.data is None:
        talk.say("note image_id and category_id count from 1; use --ids-from to take them from a COCO file")
    results: dict[int, Result] = {}
    with bad_input(FloatingPointError):
        if draw is not None:
            draw.mkdir(parents=True, exist_ok=True)
        answers = prediction.predict(
            model, given.opened, score_threshold=score_threshold, operating_points=points, iou_threshold=iou_threshold,
            max_detections=max_dets, batch=batch, rectangular=rectangular, on_invalid=policy,
        )  # fmt: skip
        for position, result in _with_results(given, answers, talk):
            results[position] = result
            if not answer.is_json:
                _print_boxes(given.files[position], result)
            if targets is not None:
                _draw(result, targets[position])
    answer.give(
        None,
        lambda: json_text.dumps(prediction.to_coco(results.values(), [image_ids[at] for at in results], class_ids)),
        talk,
    )
    boxes = sum(len(result.boxes) for result in results.values())
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    talk.say(f"found {pluralize(boxes, 'box')} in {pluralize(len(results), 'image')}")
    if results and not boxes:
        best = max(result.best_score for result in results.values())
        least = prediction.SCORE_THRESHOLD if score_threshold is None else score_threshold
        limit = f"{least:g}" if points is None else "the threshold of its class"
        talk.say(
            f"note the highest score of all images is {best:.2g}, and no box reaches {limit}: a lower "
            "--score-threshold shows boxes of which the network is less sure; a longer training makes it surer"
        )


def _check_options(answer: AnswerOptions, ids_from: Path | None) -> None:
    from ioukit.torch.detector.data import SUFFIXES  # noqa: PLC0415

    if ids_from is not None and answer.json is None:
        raise ValueError("--ids-from needs --json: the lines on stdout have no ids")
    if answer.file is not None and answer.file.suffix.lower() in SUFFIXES:
        # In `predict NETWORK a.jpg --json b.jpg`, b.jpg is probably meant as an image.
        raise ValueError(f"--json would write {answer.file}, which has the name of an image: put --json last")


def _points(path: Path | None, score: float | None, config: Config) -> OperatingPoints | None:
    """The operating points of a file in the order of the network: by name, or by position if it has no names."""
    if path is None:
        return None
    if score is not None:
        raise ValueError("--score-threshold and --operating-points are two thresholds: expected one of them")
    from ioukit.postprocess import OperatingPoints  # noqa: PLC0415

    points = OperatingPoints.load(path)
    if not config.names:
        if len(points) != config.num_classes:
            raise ValueError(
                f"{path} has {len(points)} classes, and the network {config.num_classes} classes without names: "
                "expected the same number"
            )
        return points
    try:
        return points.for_classes(config.names)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _print_boxes(file: Path, result: Result) -> None:
    boxes = result.boxes
    for box, score, label in zip(boxes.xyxy.tolist(), boxes.conf.tolist(), boxes.cls.tolist(), strict=True):
        name = result.names[label] if result.names else str(label)
        corners = "\t".join(f"{number:.1f}" for number in box)
        print_result(f"{printable(str(file))}\t{printable(name)}\t{score:.3f}\t{corners}")


def _draw(result: Result, path: Path) -> None:
    from PIL import Image  # noqa: PLC0415 - an extra

    from ioukit.torch.detector.drawing import draw  # noqa: PLC0415

    with whole_file(path) as unfinished:
        Image.fromarray(draw(result)).save(unfinished, format="PNG")


def _drawings(files: Sequence[Path], folder: Path) -> list[Path]:
    """The path of the drawing of each file.

    Raises:
        ValueError: If two drawings would have one name, or one would overwrite an image.
    """
    owner: dict[Path, Path] = {}
    targets = [folder / f"{file.stem}.png" for file in files]
    inputs = {os.path.realpath(file) for file in files}
    for file, target in zip(files, targets, strict=True):
        if target in owner:
            raise ValueError(f"{owner[target]} and {file} would both be drawn to {target}")
        if os.path.realpath(target) in inputs:
            raise ValueError(f"{target} is an input and would be overwritten")
        owner[target] = file
    return targets


def _with_results(images: Images, results: Iterable[Result], talk: Talk) -> Iterator[tuple[int, Result]]:
    """The results with the positions of their images; images that were skipped are reported."""
    position = 0
    for result in results:
        while not _is_of(result.image, images.opened[position]):
            _say_skipped(images.files[position], talk)
            position += 1
        yield position, result
        position += 1
    for file in images.files[position:]:
        _say_skipped(file, talk)


def _is_of(shown: Any, image: Path | Pixels) -> bool:
    return shown is image if isinstance(image, np.ndarray) else shown == str(image)


def _say_skipped(file: Path, talk: Talk) -> None:
    talk.say(f"note skipped {printable(str(file))}: it cannot be read as an image")
