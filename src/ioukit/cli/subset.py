"""`ioukit subset`: writes a part of a data set."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit.cli._data_sets import InputPath, OutputPath, ToOption, WritingOptions, convert_data
from ioukit.cli._rules import parse_classes, parse_list


def subset(
    source: InputPath,
    output: OutputPath,
    *,
    classes: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="The classes to keep, by name or id.")
    ] = None,
    images: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="The images to keep, by id or file name; @FILE has one per line."),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST", help="The objects to keep, by area: small, medium, large, or low:high in square pixels."
        ),
    ] = None,
    drop_empty_images: Annotated[
        bool, typer.Option("--drop-empty-images", help="Then leave out the images without objects.")
    ] = False,
    count: Annotated[int | None, typer.Option(min=0, metavar="N", help="Draw N of the images at random.")] = None,
    share: Annotated[
        float | None, typer.Option(metavar="PART", help="Draw this share of the images at random, from 0 to 1.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed for drawing at random.")] = 0,
    to: ToOption = None,
    ground_truth: Annotated[
        Path | None,
        typer.Option(metavar="GT", help="IN is detections: keep those on the images and of the classes of GT."),
    ] = None,
    options: WritingOptions,
) -> None:
    """Write a part of a data set: some classes, images or sizes of objects, or images drawn at random.

    The options apply in the order in which they are listed below. Images without objects stay unless
    --drop-empty-images is given. Ids stay as they are. The same seed draws the same images.

    Examples:
      ioukit subset instances.json people.json --classes person --drop-empty-images
      ioukit subset instances.json small.json --sizes small,4096:9216
      ioukit subset instances.json tenth.json --share 0.1 --seed 1
      ioukit subset results.json tenth_results.json --ground-truth tenth.json
    """
    conditions = {"--classes": classes, "--images": images, "--sizes": sizes, "--count": count, "--share": share}
    given = [name for name, value in conditions.items() if value is not None]
    if ground_truth is not None and (given or drop_empty_images):
        raise typer.BadParameter(
            "makes no subset of detections: make the subset of the ground truth, and name it with --ground-truth",
            param_hint=[*given, "--drop-empty-images"][0],
        )
    if count is not None and share is not None:
        raise typer.BadParameter("--count is given, too: give one of the two", param_hint="--share")

    def part(read: Sequence[Any], gt: Any) -> Any:
        from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

        if gt is not None:
            return datasets.subset_detections(read[0], gt)
        return datasets.subset(
            read[0],
            classes=None if classes is None else parse_classes(classes, read[0].categories.names),
            images=None if images is None else _listed(images),
            sizes=None if sizes is None else parse_list(sizes),
            drop_empty_images=drop_empty_images,
            sample=count if share is None else share,
            seed=seed,
        )

    convert_data(part, [source], output, to, options, truth=ground_truth, doing="choosing", check_ids=False)


def _listed(values: Sequence[str]) -> list[str]:
    """The images of the option: those between commas, and those in files."""
    from ioukit.datasets.formats.text_files import read_lines  # noqa: PLC0415 - for files of names alone

    listed: list[str] = []
    for value in values:
        if value.startswith("@"):
            listed += [line.strip() for line in read_lines(value[1:]) if line.strip()]
        else:
            listed += [item.strip() for item in value.split(",")]
    return listed
