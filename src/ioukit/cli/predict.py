"""`ioukit predict`: boxes in images."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioukit._checks import pluralize
from ioukit.cli._arguments import QuietOption
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._output import print_result, printable, whole_file
from ioukit.cli._prediction_inputs import drawings, ids, read_images, with_results
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk

if TYPE_CHECKING:
    from ioukit.postprocess import OperatingPoints
    from ioukit.torch.detector.data import OnInvalid
    from ioukit.torch.detector.model import Config
    from ioukit.torch.detector.predict import Result

__all__ = ["EXAMPLES", "predict"]

EXAMPLES = """\b
Examples:
  ioukit predict run/best.safetensors photo.jpg
  ioukit predict run/best.safetensors photos/ --draw drawn/ --score 0.4
  ioukit predict run/best.safetensors photos/ --operating-points points.json
  ioukit predict run/best.safetensors photos/ --json detections.json
  ioukit predict run/best.safetensors photos/ --json detections.json --ids-from gt.json
  ioukit predict run/best.safetensors val.json --images val/ --score 0.001 --json=detections.json
"""


def predict(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="The network, such as best.safetensors.")],
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
        JsonOutput | None,
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
    folder: Annotated[
        Path | None, typer.Option("--images", metavar="DIR", help="Folder of the images, for a COCO file.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split of data.yaml: val or train.")] = "val",
    score: Annotated[float | None, typer.Option(help="Leave out boxes with a lower score. [default: 0.25]")] = None,
    operating_points: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Leave out boxes below the threshold of their class, as ioukit operate wrote it, and calibrate "
            "scores if the file has a calibration.",
        ),
    ] = None,
    iou: Annotated[float, typer.Option(help="Of two boxes of a class with an IoU above this, keep the better.")] = 0.5,
    max_dets: Annotated[int, typer.Option(min=1, metavar="N", help="The largest number of boxes per image.")] = 100,
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Images per step.")] = 8,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... [default: cuda if there is one]")] = None,
    on_invalid: Annotated[
        str, typer.Option(help="A file that cannot be read as an image: error, or skip and report it.")
    ] = "error",
    quiet: QuietOption = False,
) -> None:
    """Find objects in images: a line per box on stdout, and optionally drawings or COCO results.

    A line is: image, class, score, and the corners x1 y1 x2 y2 in pixels, separated by tabs.
    """
    # Long: each option takes a line or more.
    talk = Talk(quiet=quiet)
    sources = input_files(*images) if ids_from is None else input_files(*images, ids_from)
    with bad_use():
        from ioukit.datasets import GroundTruth  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.predict import predict as results_of  # noqa: PLC0415

        policy = _check_options(json, ids_from, split, on_invalid)
        model = load_model(network, device)
        points = _points(operating_points, score, model.config)
    with bad_input():
        given = read_images(sources[: len(images)], folder, split, policy, talk)  # type: ignore[arg-type]
        ground_truth = None if ids_from is None else GroundTruth.from_coco(sources[-1])
    with bad_use():
        image_ids, class_ids = ids(given, model.config, ground_truth, source=ids_from or images[0])
        if json is not None:
            json.check([network, *given.files, *sources, *([] if operating_points is None else [operating_points])])
        targets = None if draw is None else drawings(given.files, draw)
    if json is not None and ground_truth is None and given.data is None:
        talk.say("note image_id and category_id count from 1; use --ids-from to take them from a COCO file")
    results: dict[int, Result] = {}
    with bad_input(FloatingPointError):
        if draw is not None:
            draw.mkdir(parents=True, exist_ok=True)
        answers = results_of(
            model, given.opened, score_threshold=score, operating_points=points, iou_threshold=iou,
            max_detections=max_dets, batch=batch, on_invalid=policy,
        )  # fmt: skip
        for position, result in with_results(given, answers, talk):
            results[position] = result
            if json is None or json.path is not None:
                _print_boxes(given.files[position], result)
            if targets is not None:
                _draw(result, targets[position])
        if json is not None:
            json.write(_to_json(results, image_ids, class_ids), talk)
    boxes = sum(len(result.boxes) for result in results.values())
    talk.say(f"found {pluralize(boxes, 'box')} in {pluralize(len(results), 'image')}")


def _check_options(json: JsonOutput | None, ids_from: Path | None, split: str, on_invalid: str) -> OnInvalid:
    from ioukit.torch.detector.data import SUFFIXES, check_on_invalid  # noqa: PLC0415

    if split not in ("train", "val"):
        raise ValueError(f"unknown split {split!r}; choose from train, val")
    if ids_from is not None and json is None:
        raise ValueError("--ids-from needs --json: the lines on stdout have no ids")
    if json is not None and json.path is not None and json.path.suffix.lower() in SUFFIXES:
        # In `predict NETWORK a.jpg --json b.jpg`, b.jpg is probably meant as an image.
        raise ValueError(f"--json would write {json.path}, which has the name of an image: put --json last")
    return check_on_invalid(on_invalid)


def _points(path: Path | None, score: float | None, config: Config) -> OperatingPoints | None:
    """The operating points of a file in the order of the network: by name, or by position if it has no names."""
    if path is None:
        return None
    if score is not None:
        raise ValueError("--score and --operating-points are two thresholds: expected one of them")
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


def _to_json(results: dict[int, Result], image_ids: list[int], class_ids: list[int]) -> str:
    from ioukit.torch.detector.predict import to_coco  # noqa: PLC0415

    return json_module.dumps(to_coco(results.values(), [image_ids[position] for position in results], class_ids))
