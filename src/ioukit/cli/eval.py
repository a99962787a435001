"""`ioukit eval`: the numbers of a protocol, such as COCO's, for ground truth and detections."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ioukit
from ioukit._checks import pluralize
from ioukit._plain_values import plain_values
from ioukit.cli._arguments import BestAndWorstOption, ThreadsOption, complete_tool
from ioukit.cli._data_files import DetectionsPath, GroundTruthPath, ReadingOptions, RepairOption, input_files
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._in_parts import PartsOptions, with_hint
from ioukit.cli._ledger import LogOptions
from ioukit.cli._orders import OrderOptions
from ioukit.cli._output import STDOUT, AnswerOptions
from ioukit.cli._report import ReportOptions
from ioukit.cli._rules import RuleOptions, chosen_classes, chosen_tool
from ioukit.cli._sending import Sending, SendingOptions, TablesOptions
from ioukit.cli._tables import analyse, evaluation_json, evaluation_table

if TYPE_CHECKING:
    from ioukit.cli._streams import Talk
    from ioukit.datasets import Detections, GroundTruth


# Long: the steps of a command, one after the other; each group of options does its own part.
def eval_files(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    per_class: BestAndWorstOption = False,
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="Show also why AP is lost (the error kinds of TIDE) and the score of the best F1; JSON: `analysis`.",
        ),
    ] = False,
    intervals: Annotated[
        bool | None,
        typer.Option(
            "--intervals/--no-intervals",
            show_default=False,
            help="Show also 95 % intervals of the headline numbers: what they would be on endlessly many images; "
            "JSON: `intervals`. With --log, the run keeps them. The page of --report has rough ones unless "
            "--no-intervals is given.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="TOOL",
            autocompletion=complete_tool,
            help="The rules of another tool, such as pycocotools, torchmetrics, supervision, voc_eval, lvis or tidecv; "
            "prints on stderr what they are.",
        ),
    ] = None,
    order: OrderOptions,
    rules: RuleOptions,
    reading: ReadingOptions,
    repair: RepairOption = None,
    page: ReportOptions,
    tables: TablesOptions,
    log: LogOptions,
    send: SendingOptions,
    parts: PartsOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Evaluate detections against ground truth: the numbers of COCO, then AP per class.

    The numbers are those of pycocotools to the last bit. A number that is undefined, such as AP without objects, is
    printed as -1, and is null in JSON.

    Examples:
      ioukit eval instances_val2017.json detections.json
      ioukit eval gt.json dt.json --iou-type segm
      ioukit eval gt.json dt.json --json | jq .summary.AP
      ioukit eval gt.json dt.json --json result.json --per-class
      ioukit eval gt.json dt.json --report report.html --images val2017/
      ioukit eval gt.json dt.json --tables tables --tables-format parquet
      ioukit eval gt.json dt.json --at-least AP=0.4 --at-least AP50/person=0.6 --junit checks.xml
      ioukit eval gt.json dt.json --markdown "$GITHUB_STEP_SUMMARY" --log-to runs.jsonl
      ioukit eval gt.json dt.json --log runs.db --name B --tag lr=1e-3 --value latency=12.3
      ioukit eval gt.json dt.json --errors --intervals
      ioukit eval gt.json answers.json --scores-missing 1
      ioukit eval gt.json detections/ --memory 2GB --work run/
      ioukit eval gt.json s3://bucket/detections --on ray --address head:6379
      ioukit eval gt.json dt.json --like torchmetrics
      ioukit eval gt.json dt.json --repair boxes=xyxy
      ioukit eval labels/ boxes.csv --gt-option split=test --dt-option boxes=xyxy
      ioukit eval gt.json dt.json --classes person,car --areas tiny:0:256,other:256:inf
      xz -dc dt.json.xz | ioukit eval gt.json -
    """
    start = time.perf_counter()
    talk = answer.talk()
    sources = input_files(ground_truth, detections)
    with bad_use():
        page.check(sources)
        sending = Sending(send, log, sources, page.report, answer)
        tables.check([*sources, *sending.files.values(), answer.file])
        kind = rules.kind()
        tool = chosen_tool(like, rules.protocol)
        protocol = rules.protocol_of(kind, tool)
        order.check(protocol)
        further = {
            "--scores-missing": order.scores_missing is not None,
            "--repair": repair,
            "--dt-format": reading.dt_format,
            "--dt-option": reading.dt_option,
            "--images": page.images,
            "--on-invalid": reading.on_invalid != "error",
        }
        parts.check(kind, further)

    read_from, reader = reading.sources(sources), reading.reader(threads, talk)
    if parts.given:
        asked = {
            "errors": errors,
            "intervals": intervals,
            "log": log.log,
            "report": page.report,
            "tables": tables.tables,
        }
        analyses: Any = [name for name, value in asked.items() if value]
        evaluation, read = parts.evaluate(read_from, protocol, rules.classes, reader, analyses)
    else:
        gt, dt = reader.pair(with_hint(read_from), repairs=repair or ())
        dt = order.filled(dt)
        read = time.perf_counter()
        kind, protocol = rules.of_data(gt, dt, talk, tool)
        chosen = chosen_classes(rules.classes, gt.categories, protocol)
        with bad_input(), talk.busy("evaluating"):
            evaluation = ioukit.evaluate(gt, dt, protocol, iou_type=kind.name, categories=chosen, threads=threads)
        _tell_of_tracks(gt, dt, talk)
    if tool is not None:
        talk.say(tool.text(kind.name))
    orders = order.ranges(evaluation, talk, threads)
    with bad_input(), talk.busy("analysing"):
        analysis = analyse(evaluation, threads=threads) if errors else None
    with bad_use(), talk.busy("estimating intervals", tells=True):
        known = page.intervals(evaluation, threads) if intervals else {}
    found = {key: one for key, one in known.items() if key in evaluation.protocol.headline_keys}
    sections = {
        "intervals": {key: one.to_dict() for key, one in found.items()},
        "orders": {key: plain_values(one) for key, one in orders.items()},
        "analysis": analysis,
        "requirements": sending.checked(evaluation),
    }

    tables.write(evaluation, talk)
    answer.write(lambda: evaluation_json(evaluation, **sections), talk)
    options = {"intervals": None if intervals is None else known, "threads": threads}
    page.write("write_report", evaluation, evaluation.ground_truth, talk, **options)
    # The run knows its kind of region, which may have been found in the data.
    settings = {
        "like": like,
        "repair": repair,
        **order._asdict(),
        **rules._replace(iou_type=None)._asdict(),
        **reading._asdict(),
    }
    sending.send(evaluation, found, talk, seconds=time.perf_counter() - start, threads=threads, settings=settings)
    end = time.perf_counter()
    classes = pluralize(len(evaluation.per_class), "class")
    talk.say(f"done {classes}  {end - read:.2f} s  {end - start:.2f} s in all")
    answer.print(
        lambda: sending.text(evaluation, evaluation_table(evaluation, analysis, found, orders, every=per_class)),
        lambda: evaluation_json(evaluation, **sections),
        fit=send.markdown != STDOUT,
    )
    if page.report is None:
        talk.suggest("--report", "report.html")
    sending.exit(talk, printed=not answer.is_json)


def _tell_of_tracks(gt: "GroundTruth", dt: "Detections", talk: "Talk") -> None:
    from ioukit.tracks.identities import has_tracks  # noqa: PLC0415 - `ioukit eval --help` needs no data

    if has_tracks(gt, dt):
        talk.say("note both sides have track ids, which eval does not look at: ioukit tracks evaluates them")
