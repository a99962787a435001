"""`ioukit labels`: the labels of the ground truth that are likely wrong."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

import ioukit
from ioukit._output import aligned, printable
from ioukit.cli._arguments import CsvOption, ThreadsOption, complete_label_kind
from ioukit.cli._data_files import DetectionsPath, GroundTruthPath, ReadingOptions, RepairOption, input_files, size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOptions
from ioukit.cli._rules import ChosenClasses, NamedRules, chosen_classes, parse_list

if TYPE_CHECKING:
    from ioukit.label_errors import LabelErrors


_LONG_WORK = 50_000_000  # bytes of input
_PRINTED = 20  # rows of the table on the terminal, unless --top says more


def find_labels(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    page: ReportOptions,
    csv: CsvOption = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="The N most suspicious labels. [default: 20 in the terminal, all in files]"
        ),
    ] = None,
    score_threshold: Annotated[
        float, typer.Option(metavar="SCORE", min=0.0, max=1.0, help="Only labels with this score or a higher one.")
    ] = 0.1,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            autocompletion=complete_label_kind,
            help="Only these kinds: overlooked, badly_drawn, swapped (wrong class), doubled, spurious (box around "
            "nothing). [default: all]",
        ),
    ] = None,
    named: NamedRules,
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    repair: RepairOption = None,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """List labels that are likely wrong: objects that are missing, badly drawn, of the wrong class, doubled or nothing.

    DT are detections of a model that was not trained on these images, with low scores, too. The score of a label is the
    estimated probability that it is wrong.

    Examples:
      ioukit labels gt.json dt.json
      ioukit labels gt.json dt.json --report labels.html --images val2017/
      ioukit labels gt.json dt.json --csv for_annotators.csv --score-threshold 0.3
      ioukit labels gt.json dt.json --kinds overlooked,swapped --top 100 --json | jq '.errors[].reason'
    """
    start = time.perf_counter()
    talk = answer.talk()
    sources = input_files(ground_truth, detections)
    with bad_use():
        page.check(sources)
        answer.check(sources, {"--report": page.report, "--csv": csv})
        wanted = _kinds(kinds)
        named.found()
    long = size_of(sources) > _LONG_WORK
    gt, dt = reading.reader(threads, talk, long=long).pair(reading.sources(sources), repairs=repair or ())
    kind, rules = named.of_data(gt, dt, talk)
    chosen = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("looking for wrong labels", long=long):
        from ioukit.label_errors import find_label_errors  # noqa: PLC0415 - `ioukit --help` should not load it

        evaluation = ioukit.evaluate(gt, dt, rules, iou_type=kind.name, categories=chosen, threads=threads)
        found = find_label_errors(evaluation, threads=threads)
        errors = found.chosen(top=top, at_least=score_threshold, kinds=wanted)
    if csv is not None:
        with bad_output():
            errors.write_csv(csv)
        talk.say(f"wrote {printable(str(csv))}")
    page.write("write_label_errors", errors, errors.evaluation.ground_truth, talk, long=long)
    done = f"done {time.perf_counter() - start:.2f} s in all"
    answer.give(lambda: _text(found, errors, _PRINTED if top is None else top), errors.to_json, talk, done=done)


def _kinds(words: list[str] | None) -> list[str] | None:
    """The names of the option; unknown ones are refused."""
    if words is None:
        return None
    from ioukit._checks import check_choice  # noqa: PLC0415 - loads NumPy
    from ioukit.label_errors import LABEL_ERROR_KINDS  # noqa: PLC0415 - as above

    names = parse_list(words)
    with bad_value("--kinds"):
        for name in names:
            check_choice("kind", name, tuple(kind.key for kind in LABEL_ERROR_KINDS))
    return names


def _text(found: "LabelErrors", errors: "LabelErrors", most: int) -> str:
    """How many labels of each kind are expected to be wrong and are listed, and the most suspicious ones in words."""
    from ioukit.label_errors import LABEL_ERROR_KINDS  # noqa: PLC0415 - as above

    counts = [["kind", "expected", "score at least 0.5", "listed", "what to do"]]
    for place, kind in enumerate(LABEL_ERROR_KINDS):
        scores, listed = found.score[found.kind == place], int((errors.kind == place).sum())
        numbers = [f"{scores.sum():,.0f}", f"{int((scores >= 0.5).sum()):,}", f"{listed:,}"]
        counts.append([kind.title, *numbers, kind.change])
    blocks = [aligned(counts)]
    titles = {kind.key: kind.title.lower() for kind in LABEL_ERROR_KINDS}
    for row in errors.chosen(top=most).rows():
        where = row.file_name or f"image {row.image_id}"
        label = "" if row.annotation_id is None else f"  annotation {row.annotation_id}"
        label += "" if row.category is None else f" ({row.category})"
        blocks.append(
            printable(f"{row.score:.2f}  {titles[row.kind]}  {where}{label}") + f"\n      {printable(row.reason)}"
        )
    if len(errors) > most:
        blocks.append(f"... {len(errors) - most:,} more: --top N, --csv FILE or --report FILE shows them")
    return "\n\n".join([blocks[0], "\n".join(blocks[1:])]) if len(blocks) > 1 else blocks[0]
