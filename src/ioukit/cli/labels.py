"""`ioukit labels`: the labels of the ground truth that are likely wrong."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

import ioukit
from ioukit._output import aligned, printable
from ioukit.cli._arguments import CsvOption, ThreadsOption, complete_label_kind
from ioukit.cli._data_files import (
    DetectionsPath,
    GroundTruthPath,
    ReadingOptions,
    RepairOption,
    input_files,
    open_source,
    with_attributes,
)
from ioukit.cli._data_sets import ToOption, check_target
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOptions
from ioukit.cli._rules import ChosenClasses, NamedRules, chosen_classes, parse_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ioukit.cli._data_files import Source
    from ioukit.cli._streams import Talk
    from ioukit.datasets import GroundTruth
    from ioukit.evaluation import Evaluation
    from ioukit.label_errors import LabelErrors


_PRINTED = 20  # rows of the table on the terminal, unless --top says more


class DecidingOptions(NamedTuple):
    """What a person decided, and what is written then; tasks for those who have to decide."""

    decisions: Annotated[Path | None, typer.Option(metavar="FILE", help="Apply decisions that the page saved.")] = None
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="OUT", help="The corrected labels.")] = None
    to: ToOption = None
    cvat: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write tasks for CVAT, as XML.")] = None
    label_studio: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write tasks for Label Studio.")] = None

    def target(self, source: "Source", inputs: "Sequence[Path]") -> str:
        """The format of the corrected ground truth; empty if none is written.

        Raises:
            typer.BadParameter: If an option needs another one, or the ground truth cannot be written so.
        """
        if (self.output or self.to) and None in (self.output, self.decisions):
            raise typer.BadParameter("--output needs --decisions, and --to needs both")
        name = (self.to or open_source(source).format.name) if self.output else ""
        if self.output is not None:
            check_target(self.output, name, inputs, force=True, is_detections=False)
        return name


def find_labels(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    page: ReportOptions,
    csv: CsvOption = None,
    deciding: DecidingOptions,
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
            help="Only these kinds: overlooked, badly_drawn, swapped (wrong class), doubled, spurious (label of "
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
      ioukit labels gt.json dt.json --decisions decisions.csv -o corrected.json
      ioukit labels gt.json dt.json --cvat tasks.xml --label-studio tasks.json
      ioukit labels gt.json dt.json --kinds overlooked,swapped --top 100 --json | jq '.errors[].reason'
    """
    start = time.perf_counter()
    talk = answer.talk()
    files = input_files(ground_truth, detections)
    inputs = [*files, *([] if deciding.decisions is None else [deciding.decisions])]
    sources = reading.sources(files)
    with bad_use():
        page.check(inputs)
        others = {"--output": deciding.output, "--cvat": deciding.cvat, "--label-studio": deciding.label_studio}
        answer.check(inputs, {"--report": page.report, "--csv": csv, **others})
        target = deciding.target(sources[0], inputs)
        wanted = _kinds(kinds)
        named.found()
        # What is written again should lose nothing.
        sources[:1] = map(with_attributes, sources[:1]) if target else sources[:1]
    gt, dt = reading.reader(threads, talk).pair(sources, repairs=repair or ())
    kind, rules = named.of_data(gt, dt, talk)
    chosen = chosen_classes(classes, gt.categories, rules)
    with bad_input(), talk.busy("looking for wrong labels"):
        from ioukit import label_errors  # noqa: PLC0415 - `ioukit --help` should not load it

        def evaluated(truth: "GroundTruth") -> "Evaluation":
            return ioukit.evaluate(truth, dt, rules, iou_type=kind.name, categories=chosen, threads=threads)

        with bad_use():
            found = label_errors.find_label_errors(evaluated(gt), threads=threads)
        doubted, corrected, outcome = found, gt, None
        if deciding.decisions is not None:
            decided = label_errors.read_decisions(found, deciding.decisions)
            corrected = label_errors.apply_decisions(found, decided)
            outcome = _outcome(found, decided, evaluated(corrected))
            doubted = found[(decided != "yes") & (decided != "no")]
        with bad_value("--score-threshold"):
            errors = doubted.chosen(top=top, at_least=score_threshold, kinds=wanted)
    if note := _without_low_scores(found):
        talk.say(note)
    _write(deciding, target, gt, corrected, errors, talk)
    if csv is not None:
        with bad_output():
            errors.write_csv(csv)
        talk.say(f"wrote {printable(str(csv))}")
    page.write("write_label_errors", errors, errors.evaluation.ground_truth, talk)
    done = f"done {time.perf_counter() - start:.2f} s in all"
    if outcome is None:
        answer.give(lambda: _text(found, errors, _PRINTED if top is None else top), errors.to_json, talk, done=done)
        if page.report is None:
            talk.suggest("--report", "labels.html")
    else:
        answer.give(lambda: outcome[0], lambda: json.dumps(outcome[1]), talk, done=done)


def _without_low_scores(found: "LabelErrors") -> str:
    """A note if a score threshold was left in the detections, else nothing."""
    from ioukit.label_errors.evidence import has_weak  # noqa: PLC0415 - as above

    scores = found.evaluation.near_matches().detections.score
    if not len(scores) or has_weak(scores):
        return ""
    return (
        f"note the lowest score of a detection is {scores.min():.3g}: detections with low scores, down to about 0.05, "
        "are evidence, too, and more wrong labels are found with them"
    )


def _write(
    deciding: DecidingOptions,
    target: str,
    gt: "GroundTruth",
    corrected: "GroundTruth",
    errors: "LabelErrors",
    talk: "Talk",
) -> None:
    """The corrected labels, and the tasks of labels that are still in doubt.

    Args:
        deciding: The files.
        target: The format of the corrected labels.
        gt: The labels as they were.
        corrected: The labels after the decisions.
        errors: The labels in doubt.
        talk: Where lines go.
    """
    from ioukit import datasets, label_errors  # noqa: PLC0415 - as above

    if deciding.decisions is not None and deciding.output is None:
        talk.say("note no labels are written: -o FILE writes the corrected ones")
    written = [(deciding.output, target, corrected)]
    with bad_input():
        if deciding.cvat is not None or deciding.label_studio is not None:
            tasks = label_errors.annotation_tasks(errors, corrected)
            written += [(deciding.cvat, "cvat", tasks), (deciding.label_studio, "", tasks)]
        for path, name, data in [(path, name, data) for path, name, data in written if path is not None]:
            lost = datasets.write(data, path, name) if name else label_errors.write_label_studio(data, path)
            for note in (*data.notes[len(gt.notes) :], *lost) if data is corrected else ():
                talk.say(f"lost {printable(note)}")
            talk.say(f"wrote {printable(str(path))}")


def _outcome(found: "LabelErrors", decided: "NDArray[np.str_]", after: "Evaluation") -> tuple[str, dict[str, Any]]:
    """What was changed and decided, and the main number of the protocol before and after: in words, and as values."""
    from ioukit._plain_values import plain_value  # noqa: PLC0415 - as above
    from ioukit.label_errors import DECISIONS, LABEL_ERROR_KINDS  # noqa: PLC0415 - as above

    key, changed = after.protocol.main_measure.key, found[decided == "yes"].kinds
    before, now = (float(evaluation.summary[key]) for evaluation in (found.evaluation, after))
    counts = {kind.key: changed.count(kind.key) for kind in LABEL_ERROR_KINDS}
    words = {word: int((decided == word).sum()) for word in DECISIONS}
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing"
    text = f"{key} {before:.4f} before, {now:.4f} after ({100 * (now - before):+.2f} points): {kinds} changed"
    values = {"counts": counts, "decisions": words, "measure": key, "before": before, "after": now}
    return f"{text}; {words['no']:,} no, {words['unsure']:,} unsure", plain_value(values)


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
