"""`ioukit eval`: the numbers of a protocol, such as COCO's, for ground truth and detections."""

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import ioukit
from ioukit.cli._analysis import analyse, analysis_table, to_json
from ioukit.cli._arguments import (
    DetectionsPath,
    GroundTruthPath,
    OnInvalid,
    QuietOption,
    RepairOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import chosen_tool
from ioukit.cli._class_table import class_table
from ioukit.cli._data_files import read_data, size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use
from ioukit.cli._in_parts import (
    AddressOption,
    Cluster,
    MemoryOption,
    OnOption,
    PlanOption,
    TimeoutOption,
    WorkOption,
    asked_for_parts,
    with_hint,
)
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._option_groups import ReadingOptions, RuleOptions
from ioukit.cli._options import chosen_classes
from ioukit.cli._output import print_result
from ioukit.cli._report import check_report, write_report
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "eval_files"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 100_000_000  # bytes of input

EXAMPLES = """\b
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
  ioukit eval gt.json dt.json --errors
  ioukit eval gt.json detections/ --memory 2GB --work run/
  ioukit eval gt.json s3://bucket/detections --on ray --address head:6379
  ioukit eval gt.json dt.json --like torchmetrics
  ioukit eval gt.json dt.json --repair boxes=xyxy
  ioukit eval labels/ boxes.csv --gt-option split=test --dt-option boxes=xyxy
  ioukit eval gt.json dt.json --classes person,car --areas tiny:0:256,other:256:inf
  xz -dc dt.json.xz | ioukit eval gt.json -
"""


# Long: the signature is the command line, a line or more per option.
def eval_files(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the tables; with FILE, write it there and print the tables."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write one HTML page to look at: curves, errors, worst images."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --report: folder of the images, to show the worst.")
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write tables to a new folder: a file for the numbers per class, image, detection, object and "
            "point of a curve.",
        ),
    ] = None,
    tables_format: Annotated[
        Literal["csv", "parquet"] | None, typer.Option(help="With --tables: the files to write. [default: csv]")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write numbers and worst classes as Markdown; - prints it instead of the tables. The file of "
            "$GITHUB_STEP_SUMMARY is appended to.",
        ),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=NUMBER",
            help="Exit with 1 if the metric is lower or undefined: AP=0.4, AP50/person=0.6. Can be repeated.",
        ),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=NUMBER", help="Exit with 1 if the metric is higher or undefined, as MR-2=0.5."),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the checks of --at-least and --at-most as tests, in JUnit's XML."
        ),
    ] = None,
    log_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN",
            help="Also send numbers to a tracker: FILE.jsonl for JSON lines, mlflow[:URI] or wandb[:PROJECT] with "
            "figures and report. Can be repeated.",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also add a run to a ledger: `ioukit runs` lists it, `compare` compares it."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="With --log: the name of the run.")] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[=TEXT]", help="With --log: text to find the run by: lr=1e-3. Can be repeated."),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", help="With --log: a number of your own: latency=12.3. Can be repeated."),
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not the best and worst five.")
    ] = False,
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="Show also why AP is lost (the error kinds of TIDE) and the score of the best F1; JSON: `analysis`.",
        ),
    ] = False,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="TOOL",
            help="The rules of another tool, such as pycocotools, torchmetrics, supervision, voc_eval, lvis or tidecv; "
            "prints on stderr what they are.",
        ),
    ] = None,
    rules: RuleOptions,
    reading: ReadingOptions,
    repair: RepairOption = None,
    memory: MemoryOption = None,
    work: WorkOption = None,
    plan: PlanOption = False,
    on: OnOption = None,
    address: AddressOption = None,
    timeout: TimeoutOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Evaluate detections against ground truth: the numbers of COCO, then AP per class.

    The numbers are those of pycocotools to the last bit. An undefined one is -1 in the table and null in JSON.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(ground_truth, detections)
    with bad_use():
        if json is not None:
            json.check(sources)
        check_report(report, images, sources, file_of(json))
        files = [*sources, report, markdown, junit, file_of(json)]
        result_tables = _result_tables(tables, tables_format, files)
        sending = _sending(
            {"log": log, "name": name, "tags": tag, "values": value},
            markdown=markdown,
            junit=junit,
            log_to=log_to,
            at_least=at_least,
            at_most=at_most,
        )
        if sending is not None:
            sending.check_files(sources, report, json)
        kind = rules.kind()
        tool = chosen_tool(like, rules.protocol)
        protocol = rules.protocol_of(kind, tool)
        further: dict[str, Any] = {
            "--repair": repair,
            "--dt-format": reading.dt_format,
            "--dt-option": reading.dt_option,
            "--images": images,
        }
        further["--on-invalid"] = reading.on_invalid is not OnInvalid.ERROR
        in_parts = asked_for_parts(memory, work, Cluster(on, address, timeout), kind, further, plan=plan)
    long = size_of(sources) > _LONG_WORK

    read_from = reading.sources(sources)
    if in_parts is None:
        repairs = repair or ()
        gt, dt = read_data(with_hint(read_from), reading.on_invalid.value, threads, talk, long=long, repairs=repairs)
        read = time.perf_counter()
        kind, protocol = rules.of_data(gt, dt, talk, tool)
        chosen = chosen_classes(rules.classes, gt.categories)
        with bad_input(), talk.busy("evaluating", long=long):
            evaluation = ioukit.evaluate(gt, dt, protocol, iou_type=kind.name, categories=chosen, threads=threads)
    else:
        near = errors or report is not None
        evaluation, read = in_parts.evaluate(read_from, protocol, rules.classes, threads, talk, near=near)
    if tool is not None:
        talk.say(tool.text(kind.name))
    with bad_input(), talk.busy("analysing", long=long):
        analysis = analyse(evaluation, threads=threads) if errors else None
    sections = {"analysis": analysis, "requirements": None if sending is None else sending.checked(evaluation)}

    if result_tables is not None:
        result_tables.write(evaluation, talk, long=long)
    if json is not None and json.path is not None:
        with bad_output():
            json.write(to_json(evaluation, **sections), talk)
    if report is not None:
        write_report(evaluation, report, images, threads, talk, long=long)
    if sending is not None:
        sending.send(
            evaluation,
            talk,
            seconds=time.perf_counter() - start,
            threads=threads,
            inputs=sources,
            settings={
                "like": like,
                "repair": repair,
                "protocol": rules.protocol,
                "classes": rules.classes,
                **rules.changes(),
                **reading._asdict(),
                "on_invalid": reading.on_invalid.value,
            },
        )
    end = time.perf_counter()
    talk.say(f"done {len(evaluation.per_class):,} classes  {end - read:.2f} s  {end - start:.2f} s in all")
    _print(evaluation, sections, json, sending, talk, every=per_class)


def _print(
    evaluation: ioukit.Evaluation,
    sections: dict[str, Any],
    json: JsonOutput | None,
    sending: Any,
    talk: Talk,
    *,
    every: bool,
) -> None:
    """Prints the JSON object or the tables, and ends the command as the requirements say."""
    if json is not None and json.path is None:
        json.write(to_json(evaluation, **sections), talk)
    else:
        text = _tables(evaluation, sections["analysis"], every=every)
        print_result(text if sending is None else sending.text(evaluation, text))
    if sending is not None:
        sending.exit(talk, printed=json is None or json.path is not None)


def _result_tables(folder: Path | None, format: Literal["csv", "parquet"] | None, files: list[Path | None]) -> Any:
    """What `--tables` and `--tables-format` ask for, checked; ``None`` if neither is given."""
    if folder is None and format is None:
        return None
    from ioukit.cli._result_tables import ResultTables  # noqa: PLC0415 - a plain evaluation should not wait for it

    asked = ResultTables(folder, format)
    asked.check(files)
    return asked


def _sending(run: dict[str, Any], **options: Any) -> Any:
    """What `--log`, `--markdown`, `--junit`, `--log-to`, `--at-least` and `--at-most` ask for; ``None`` if nothing."""
    if not any(options.values()) and not any(run.values()):
        return None
    from ioukit.cli._sending import Sending  # noqa: PLC0415 - a plain evaluation should not wait for it

    return Sending(**options, run=run)


def _tables(evaluation: ioukit.Evaluation, analysis: dict[str, Any] | None, *, every: bool) -> str:
    tables = [evaluation.table()]
    if evaluation.per_class:
        tables.append(class_table(evaluation.per_class, evaluation.protocol, every=every))
    if analysis is not None:
        tables.append(analysis_table(analysis))
    return "\n\n".join(tables)
