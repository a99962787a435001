"""`ioukit nms`: suppresses, softens or fuses the overlapping detections of files."""

import json as json_text
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import ioukit
from ioukit._output import printable, write_whole
from ioukit.cli._arguments import OperatingPointsOption, ThreadsOption
from ioukit.cli._data_files import check_readable_again, input_files
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import AnswerOptions, QuietOption, SummaryOption, check_files
from ioukit.cli._streams import Talk
from ioukit.cli._survivors import Suppressing, fused_records, surviving_records, surviving_rows
from ioukit.errors import DatasetError
from ioukit.postprocess._options import SymmetricMetric
from ioukit.postprocess.fusion import Confidence
from ioukit.postprocess.operating_points import OperatingPoints
from ioukit.postprocess.soft import SoftMethod

_COUNTS = b'{"output": '  # the beginning of the counts that --json writes


# Long: the signature is the command line, a line or more per option.
def filter_files(
    files: Annotated[
        list[Path], typer.Argument(metavar="DT...", help="Detections: COCO results, .json or .json.gz; - is stdin.")
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write. An error leaves it unchanged.")
    ],
    iou_threshold: Annotated[
        float | None,
        typer.Option(
            metavar="IOU",
            help="Threshold of the overlap; --soft gaussian has none. "
            "[default: 0.5; with --soft linear 0.3; with --fuse 0.55]",
        ),
    ] = None,
    metric: Annotated[SymmetricMetric | None, typer.Option(help="The overlap; --fuse uses IoU. [default: iou]")] = None,
    soft: Annotated[SoftMethod | None, typer.Option(help="Lower scores instead of removing boxes.")] = None,
    sigma: Annotated[
        float | None, typer.Option(help="With --soft gaussian: larger values lower scores less. [default: 0.5]")
    ] = None,
    fuse: Annotated[
        bool, typer.Option("--fuse", help="Average the boxes of all files (weighted boxes fusion).")
    ] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="LIST", help="With --fuse: one weight per file, such as 2,1. [default: all 1]")
    ] = None,
    confidence: Annotated[
        Confidence | None, typer.Option(help="With --fuse: how scores are averaged. [default: avg]")
    ] = None,
    score_threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Leave out boxes with a lower score. [default: none; with --soft 0.001; with --fuse 0]",
        ),
    ] = None,
    operating_points: OperatingPointsOption = None,
    max_dets: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The largest number of boxes per image. [default: all]")
    ] = None,
    class_agnostic: Annotated[
        bool, typer.Option("--class-agnostic", help="Let boxes of different classes remove each other.")
    ] = False,
    threads: ThreadsOption = None,
    json: SummaryOption = None,
    quiet: QuietOption = False,
) -> None:
    """Remove, soften or fuse the overlapping detections of COCO results, image by image and class by class.

    Records that are kept are written as they are in the file, in the same order and with all their fields; with --soft
    only the score changes. Fused records are new and have image_id, category_id, bbox and score.

    Examples:
      ioukit nms detections.json -o filtered.json
      ioukit nms detections.json -o filtered.json --iou-threshold 0.6 --score-threshold 0.05 --max-dets 100
      ioukit nms detections.json -o filtered.json --operating-points points.json
      ioukit nms detections.json -o filtered.json --soft gaussian --json | jq .kept
      ioukit nms --fuse a.json b.json -o fused.json --weights 2,1
    """
    start = time.perf_counter()
    answer = AnswerOptions(json, quiet)
    talk = answer.talk()
    sources = input_files(*files)
    points = _points(operating_points, score_threshold, alone=not fuse and soft is None)
    inputs = [*sources, *([] if operating_points is None else [operating_points])]
    check_files({"--output": output, "--json": answer.file}, inputs)
    if output.suffix == ".gz":
        raise typer.BadParameter(
            f"{output}: expected a name without .gz, as the file is not packed", param_hint="--output"
        )
    if len(files) > 1 and not fuse:
        raise typer.BadParameter(f"expected one file, got {len(files)}; --fuse takes several")
    if answer.file is not None and not _may_hold_counts(answer.file):
        # In `nms --fuse a.json --json b.json`, b.json is probably meant as an input.
        raise typer.BadParameter(
            f"{answer.file} holds no counts and would be overwritten: put --json last", param_hint="--json"
        )
    if not fuse:
        with bad_use():
            check_readable_again(sources, "the records that are kept are read again")
    _refuse(soft == "gaussian", "is for --soft gaussian", {"--sigma": sigma})
    _refuse(fuse, "is for --fuse", {"--weights": weights, "--confidence": confidence})
    others = {"--soft": soft, "--metric": metric, "--class-agnostic": class_agnostic or None}
    _refuse(not fuse, "cannot be used with --fuse", others)
    width = max(len(printable(str(path))) for path in sources)
    sets = [_read(path, talk, width, threads) for path in sources]

    worked = time.perf_counter()
    with talk.busy("working"):
        if fuse:
            with bad_value(None):
                lines = fused_records(
                    sets,
                    iou_threshold=0.55 if iou_threshold is None else iou_threshold,
                    skip_box_threshold=score_threshold or 0.0,
                    confidence=confidence or "avg",
                    weights=_weights(weights),
                    max_dets=max_dets,
                    threads=threads,
                )
        else:
            sigma = 0.5 if sigma is None else sigma
            how = Suppressing(iou_threshold, metric or "iou", soft, sigma, score_threshold, max_dets, points)
            with bad_value(None if points is None else "--operating-points"):
                rows, scores = surviving_rows(sets[0], how, class_agnostic=class_agnostic, threads=threads)
            with bad_input():
                lines = surviving_records(sources[0], rows, scores)
    with bad_output():
        write_whole(output, "[" + ",\n".join(lines) + "]\n")
    end = time.perf_counter()

    given = sum(map(len, sets))
    images = len(np.unique(np.concatenate([detections.image_ids for detections in sets])))
    verb = "fused into" if fuse else "kept"
    talk.say(f"{verb} {len(lines):,} of {given:,} in {images:,} images  {end - worked:.2f} s")
    talk.say(f"wrote {printable(str(output))}  {end - start:.2f} s in all")
    counts = {
        "output": str(output),
        "detections": given,
        "kept": len(lines),
        "removed": given - len(lines),
        "images": images,
        "seconds": round(end - start, 3),
    }
    answer.give(None, lambda: json_text.dumps(counts), talk)


def _read(path: Path, talk: Talk, width: int, threads: int | None) -> ioukit.Detections:
    """The detections of a file; prints a line about it, with the name padded to a width."""
    began = time.perf_counter()
    with bad_input(), talk.busy(f"reading {printable(str(path))}"):
        detections = ioukit.Detections.from_coco(path, threads=threads)
        if not detections.scored:
            raise DatasetError(f"{path}: the detections have no scores, and scores decide which of them are kept")
    talk.say(
        f"read {printable(str(path)):{width}}  {len(detections):,} detections  {time.perf_counter() - began:.2f} s"
    )
    return detections


def _points(path: Path | None, score_threshold: float | None, *, alone: bool) -> OperatingPoints | None:
    """The operating points of a file, if one is given."""
    if path is None:
        return None
    if not alone:
        raise typer.BadParameter(
            "cannot be used with --soft or --fuse, which make new scores: write a file, then filter it with "
            "--iou-threshold 1",
            param_hint="--operating-points",
        )
    if score_threshold is not None:
        raise typer.BadParameter("--score-threshold is given, too", param_hint="--operating-points")
    with bad_input():
        return OperatingPoints.load(path)


def _may_hold_counts(path: Path) -> bool:
    """Whether the counts can be written to this path without losing other data."""
    if not path.is_file():
        return True
    with open(path, "rb") as file:
        return file.read(len(_COUNTS)) in (b"", _COUNTS)


def _refuse(applies: bool, problem: str, options: Mapping[str, object]) -> None:
    """Refuses options that would have no effect. An option that was not given is None."""
    for option, given in options.items():
        if given is not None and not applies:
            raise typer.BadParameter(problem, param_hint=option)


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(item) for item in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"a weight must be a number, got {text!r}", param_hint="--weights") from None
