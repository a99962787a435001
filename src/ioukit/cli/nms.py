"""`ioukit nms`: the detections of a file that survive, or those of several files fused."""

import json as json_module
import time
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import ioukit
from ioukit import _core
from ioukit.cli._errors import bad_input, bad_value
from ioukit.cli._output import check_output, print_result, write_whole
from ioukit.cli._records import record_texts, with_score
from ioukit.cli._talk import Talk
from ioukit.postprocess._groups import best_of_images, groups

__all__ = ["EXAMPLES", "filter_files"]

_LONG_WORK = 30_000_000  # bytes of input: each record is looked at as text
_SOFT_THRESHOLD = 0.001  # where soft_nms stops by itself

EXAMPLES = """\b
Examples:
  ioukit nms detections.json -o filtered.json
  ioukit nms detections.json -o filtered.json --iou 0.6 --score-threshold 0.05 --max-dets 100
  ioukit nms detections.json -o filtered.json --soft gaussian --json | jq .kept
  ioukit nms --fuse a.json b.json -o fused.json --weights 2,1
"""


class Soft(str, Enum):
    """How scores fall."""

    LINEAR = "linear"
    GAUSSIAN = "gaussian"


class Metric(str, Enum):
    """How overlap is measured."""

    IOU = "iou"
    IOM = "iom"
    GIOU = "giou"
    DIOU = "diou"
    CIOU = "ciou"


class Confidence(str, Enum):
    """How the score of a fused box follows from those of its members."""

    AVG = "avg"
    MAX = "max"
    BOX_AND_MODEL_AVG = "box_and_model_avg"
    ABSENT_MODEL_AWARE_AVG = "absent_model_aware_avg"


def filter_files(
    files: Annotated[list[Path], typer.Argument(metavar="DT...", help="Detections: COCO results, .json or .json.gz.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, whole or not at all.")],
    iou: Annotated[
        float | None,
        typer.Option(
            help="Overlap above which boxes meet; --soft gaussian has none. [default: 0.5; linear 0.3; fuse 0.55]"
        ),
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(help="How overlap is measured; --fuse knows IoU alone. [default: iou]")
    ] = None,
    soft: Annotated[Soft | None, typer.Option(help="Lower scores instead of removing boxes.")] = None,
    sigma: Annotated[
        float | None, typer.Option(help="With --soft gaussian: the larger, the less scores fall. [default: 0.5]")
    ] = None,
    fuse: Annotated[
        bool, typer.Option("--fuse", help="Average the boxes of all files (weighted boxes fusion).")
    ] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="LIST", help="With --fuse: a weight per file, as 2,1. [default: all 1]")
    ] = None,
    confidence: Annotated[
        Confidence | None, typer.Option(help="With --fuse: how scores are averaged. [default: avg]")
    ] = None,
    score_threshold: Annotated[
        float | None, typer.Option(help="Leave out boxes with a lower score. [default: none; soft 0.001; fuse 0]")
    ] = None,
    max_dets: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most so many boxes per image. [default: all]")
    ] = None,
    class_agnostic: Annotated[
        bool, typer.Option("--class-agnostic", help="Let boxes of different classes meet.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print counts as one JSON object.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads to use; the results are the same. [default: all]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Remove, soften or fuse the overlapping detections of COCO results, image by image and class by class.

    Records that are kept stay to the letter as the file has them, in its order, with all their fields; with --soft the
    score changes. Fused records are new: image_id, category_id, bbox and score.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    _check_use(files, output, fuse=fuse)
    _check_options(
        fuse,
        soft,
        for_soft={"--sigma": sigma},
        for_fuse={"--weights": weights, "--confidence": confidence},
        not_for_fuse={"--soft": soft, "--metric": metric, "--class-agnostic": class_agnostic or None},
    )

    long = sum(path.stat().st_size for path in files if path.is_file()) > _LONG_WORK
    width = max(len(str(path)) for path in files)
    sets = []
    for path in files:
        began = time.perf_counter()
        with bad_input(), talk.busy(f"reading {path}", long=long):
            sets.append(ioukit.Detections.from_coco(path, threads=threads))
        talk.say(f"read {path!s:{width}}  {len(sets[-1]):,} detections  {time.perf_counter() - began:.2f} s")

    worked = time.perf_counter()
    with talk.busy("working", long=long):
        if fuse:
            lines = _fused(
                sets,
                iou=iou,
                score_threshold=score_threshold,
                weights=_weights(weights),
                confidence=(confidence or Confidence.AVG).value,
                max_dets=max_dets,
                threads=threads,
            )
        else:
            with bad_value(None):
                rows, scores = _kept(
                    sets[0],
                    iou=(0.3 if soft else 0.5) if iou is None else iou,
                    metric=(metric or Metric.IOU).value,
                    soft=soft.value if soft else None,
                    sigma=0.5 if sigma is None else sigma,
                    score_threshold=score_threshold,
                    max_dets=max_dets,
                    class_agnostic=class_agnostic,
                    threads=threads,
                )
            with bad_input():
                lines = _as_written(files[0], rows, scores)
    with bad_input():
        write_whole(output, "[" + ",\n".join(lines) + "]\n")
    end = time.perf_counter()

    given = sum(map(len, sets))
    images = len(np.unique(np.concatenate([detections.image_ids for detections in sets])))
    verb = "fused into" if fuse else "kept"
    talk.say(f"{verb} {len(lines):,} of {given:,} in {images:,} images  {end - worked:.2f} s")
    talk.say(f"wrote {output}  {end - start:.2f} s in all")
    if json:
        counts: dict[str, Any] = {
            "output": str(output),
            "detections": given,
            "kept": len(lines),
            "removed": given - len(lines),
            "images": images,
            "seconds": round(end - start, 3),
        }
        print_result(json_module.dumps(counts))


def _check_use(files: list[Path], output: Path, *, fuse: bool) -> None:
    with bad_value("--output"):
        check_output(output, files)
        if output.suffix == ".gz":
            raise ValueError(f"{output}: expected a name without .gz, as the file is not packed")
    if len(files) > 1 and not fuse:
        raise typer.BadParameter(f"expected one file, got {len(files)}; --fuse takes several")


def _check_options(
    fuse: bool,
    soft: Soft | None,
    *,
    for_soft: dict[str, object],
    for_fuse: dict[str, object],
    not_for_fuse: dict[str, object],
) -> None:
    """Refuses options that would change nothing; what is None was not given."""
    for applies, options, problem in (
        (soft is Soft.GAUSSIAN, for_soft, "is for --soft gaussian"),
        (fuse, for_fuse, "is for --fuse"),
        (not fuse, not_for_fuse, "does not go with --fuse"),
    ):
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


def _kept(
    detections: ioukit.Detections,
    *,
    iou: float,
    metric: Any,
    soft: Any,
    sigma: float,
    score_threshold: float | None,
    max_dets: int | None,
    class_agnostic: bool,
    threads: int | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
    """The rows that stay, in the order of the file, and their scores if they have changed."""
    boxes, image_ids = detections.boxes, detections.image_ids
    labels = None if class_agnostic else detections.category_ids
    if not soft:
        return np.sort(
            ioukit.nms(
                boxes,
                detections.scores,
                iou_threshold=iou,
                labels=labels,
                batch=image_ids,
                metric=metric,
                score_threshold=score_threshold,
                max_keep=max_dets,
                format="xywh",
                threads=threads,
            )
        ), None
    keep, scores = ioukit.soft_nms(
        boxes,
        detections.scores,
        method=soft,
        iou_threshold=iou,
        sigma=sigma,
        score_threshold=_SOFT_THRESHOLD if score_threshold is None else score_threshold,
        labels=groups(labels, image_ids),
        metric=metric,
        format="xywh",
        threads=threads,
    )
    best = best_of_images(image_ids[keep], scores, len(keep) if max_dets is None else max_dets)
    best = best[np.argsort(keep[best])]
    return keep[best], scores[best]


def _as_written(path: Path, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float64] | None) -> list[str]:
    """The records of these rows, as the file has them but for new scores."""
    text = _core.read_text(str(path)).decode("utf-8", "surrogatepass")
    wanted = iter(rows.tolist())
    row = next(wanted, None)
    lines: list[str] = []
    for number, record in enumerate(record_texts(text)):
        if number == row:
            lines.append(record if scores is None else with_score(record, float(scores[len(lines)])))
            row = next(wanted, None)
    return lines


def _fused(
    sets: list[ioukit.Detections],
    *,
    iou: float | None,
    score_threshold: float | None,
    weights: list[float] | None,
    confidence: Any,
    max_dets: int | None,
    threads: int | None,
) -> list[str]:
    """New records: by image in the order the files name them, and by falling score."""
    image_ids = np.concatenate([detections.image_ids for detections in sets])
    category_ids = np.concatenate([detections.category_ids for detections in sets])
    meet = groups(category_ids, image_ids)
    assert meet is not None
    ends = np.cumsum([len(detections) for detections in sets])[:-1]
    with bad_value(None):
        fused = ioukit.weighted_boxes_fusion(
            [detections.boxes for detections in sets],
            [detections.scores for detections in sets],
            np.split(meet, ends),
            weights=weights,
            iou_threshold=0.55 if iou is None else iou,
            skip_box_threshold=0.0 if score_threshold is None else score_threshold,
            confidence=confidence,
            format="xywh",
            threads=threads,
        )
    known, first = np.unique(meet, return_index=True)
    source = first[np.searchsorted(known, fused.labels)]
    _, appears, image = np.unique(image_ids, return_index=True, return_inverse=True)
    place = appears[image][source]
    best = best_of_images(place, fused.scores, len(place) if max_dets is None else max_dets)
    return [
        json_module.dumps(
            {
                "image_id": int(image_ids[source[row]]),
                "category_id": int(category_ids[source[row]]),
                "bbox": fused.boxes[row].tolist(),
                "score": float(fused.scores[row]),
            }
        )
        for row in best
    ]
