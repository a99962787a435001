"""Mistakes on the command line: each is answered with what to do next, in one line, or does what was meant.

What is typed was collected from what a person would type, before the parser was looked at. The answer must have all of
the words behind the line.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

ANSWERED: list[tuple[str, str]] = [
    # Which command.
    ("evaluate gt.json dt.json", "did you mean 'eval'?"),
    ("evl gt.json dt.json", "did you mean 'eval'"),
    ("gt.json dt.json", "ioukit eval gt.json dt.json evaluates"),
    ("version", "did you mean '--version'?"),
    ("--verison", "--version"),
    ("completion powershell", "'bash', 'zsh', 'fish'"),
    # Which paths, in which order.
    ("eval", "Missing argument 'GT'|For example: ioukit eval "),
    ("eval gt.json", "Missing argument 'DT'|For example: ioukit eval "),
    ("eval dt.json gt.json", "swapped"),
    ("eval gt.jsn dt.json", "gt.jsn: there is no such file|did you mean 'gt.json'"),
    ("eval gt.json dt.json b.json", "ioukit compare GT A B compares models"),
    ("eval --gt gt.json --dt dt.json", "paths stand alone: ioukit eval [OPTIONS] GT DT"),
    ("compare gt.json dt.json", "behind the ground truth: GT, the detections of A, and those of B"),
    ("val gt.json dt.json", "expected a network, got 'gt.json'; for files of detections, `ioukit eval GT DT`"),
    ("eval pictures dt.json", "a folder of images alone|by --images FOLDER in commands"),
    ("eval gt.json pictures", "a folder of images alone|annotations or detections"),
    ("view pictures gt.json", "a folder of images alone|by --images FOLDER in commands"),
    ("eval gt.json results.pkl", "a pickle is not read|image_id, category_id, bbox, score"),
    ("compare dt.json b.json b.json", "swapped"),
    ("labels gt.json dt.json b.json", "the detections of one model|ioukit compare GT A B"),
    ("gate gt.json dt.json", "--baseline"),
    ("convert gt.json yolo", "Missing option '--to'|For example: ioukit convert "),
    ("inspect gt.json dt.json", "ioukit eval GT DT|ioukit check GT DT"),
    ("inspect dt.json", "detections, not ground truth: ioukit eval GT dt.json"),
    ("show B", "expected a ledger and a run of it, got 'B'"),
    ("runs", "name the ledger"),
    ("compare runs.db B B@1", "expected different runs, got B@1, B@1"),
    ("eval gt.json dt.json --report page.html --images phtos", "did you mean 'photos'?"),
    ("view gt.json --images phtos", "did you mean 'photos'?"),
    ("slices gt.json dt.json --table scenes.cvs", "did you mean 'scenes.csv'"),
    # Which option.
    ("eval gt.json dt.json --iou 0.5", "did you mean '--iou-thresholds'?"),
    ("eval gt.json dt.json --iou-threshold 0.5", "did you mean '--iou-thresholds'?"),
    ("nms dt.json -o kept.json --iou-thresholds 0.5", "did you mean '--iou-threshold'?"),
    ("eval gt.json dt.json --conf 0.25", "ioukit nms DT -o KEPT --score-threshold 0.25"),
    ("eval gt.json dt.json --output out.json", "'--report' or '--json'"),
    ("eval gt.json dt.json --class cat", "did you mean '--classes'?"),
    ("eval gt.json dt.json --iou-thresholds 0.5 0.75", "write --iou-thresholds 0.5,0.75"),
    ("eval gt.json dt.json --classes cat dog --json x.json", "got dog, too; write --classes cat,dog"),
    ("eval gt.json dt.json --dt-option a=1 b=2", "repeat it: --dt-option a=1 --dt-option b=2"),
    ("eval gt.json dt.json b.json --classes cat", "ioukit compare GT A B compares models"),
    ("errors gt.json dt.json", "did you mean 'eval --errors'?"),
    ("report gt.json dt.json", "did you mean 'eval --report'?"),
    ("plot gt.json dt.json", "did you mean 'figures'?"),
    ("eval gt.json dt.json --format yolo", "'--gt-format' or '--dt-format'"),
    ("eval gt.json dt.json --max-detections 100", "did you mean '--max-dets'?"),
    ("compare gt.json dt.json b.json --fail-on-worse", "did you mean '--fail-if-worse'?"),
    ("eval gt.json dt.json --strata scenes.csv", "it is an option of compare"),
    (
        "protocols gt.json dt.json --sigmas coco",
        "it is an option of eval, slices, compare, suite, gate, operate, check, labels, view, figures",
    ),
    ("operate gt.json dt.json --precision 0.9", "did you mean '--rule'?"),
    ("eval gt.json dt.json --report", "requires an argument: FILE"),
    ("eval gt.json dt.json --help-al", "did you mean '--help-all'"),
    ("eval gt.json dt.json --metric mAP50", "--json has them for programs, and --at-least AP50=0.5 checks one"),
    ("eval gt.json dt.json --area-range 0,1024", "did you mean '--areas'?"),
    ("eval --ann gt.json --res dt.json", "paths stand alone: ioukit eval [OPTIONS] GT DT"),
    ("convert gt.json --to yolo -o out", "paths stand alone: ioukit convert [OPTIONS] IN OUT"),
    ("subset gt.json --classes cat --output out.json", "paths stand alone: ioukit subset [OPTIONS] IN OUT"),
    # Which value.
    ("eval gt.json dt.json --gt-format yolo", "expected train, val and names|this is a COCO file"),
    ("eval gt.json dt.json --iou-thresholds 50", "must lie within (0, 1]|did you mean 0.5?"),
    ("eval gt.json dt.json --report report.txt", "the page is HTML|name it .html or .pdf, got 'report.txt'"),
    ("eval gt.json dt.json --iou-type mask", "did you mean 'segm'?"),
    ("eval gt.json dt.json --iou-type boxes", "did you mean 'bbox'?"),
    ("eval gt.json dt.json --iou-type keypoint", "did you mean 'keypoints'?"),
    ("eval gt.json dt.json --protocol pascal", "did you mean 'voc2012' or 'voc2007'?"),
    ("eval gt.json dt.json --protocol voc", "did you mean 'voc2012' or 'voc2007'?"),
    ("eval gt.json dt.json --protocol coc", "did you mean 'coco'"),
    ("protocols gt.json dt.json --start pascal --end coco", "did you mean 'voc2012'"),
    ("eval gt.json dt.json --like coco", "did you mean 'pycocotools'?"),
    ("eval gt.json dt.json --dt-format yolov8", "did you mean 'yolo'?"),
    ("convert gt.json out --to cocojson", "did you mean 'coco'?"),
    ("eval gt.json dt.json --classes dgo", "did you mean 'dog'?"),
    ("eval gt.json dt.json --on-invalid skip", "did you mean 'drop'?"),
    ("eval gt.json dt.json --at-least mAP=0.4", "did you mean 'AP'"),
    ("eval gt.json dt.json --at-least AP0.4", "such as AP=0.4"),
    ("eval gt.json dt.json --areas small", "such as small:0:1024"),
    ("slices gt.json dt.json --table scenes.csv --by wether", "did you mean 'weather'"),
    ("labels gt.json dt.json --kinds overloked", "did you mean 'overlooked'?"),
    ("operate gt.json dt.json --rule precision=90", "at most 1, got 90"),
    ("eval gt.json dt.json --json nowhere/out.json", "there is no folder nowhere"),
    ("eval gt.json dt.json --json photos", "photos is a folder, expected a file"),
    ("eval gt.json ''", "got an empty word: is a variable of the shell not set?"),
    ("compare gt.json dt.json ''", "got an empty word"),
    ("eval gt.json dt.json --dt-option boxes=xyxy", "--repair boxes=xyxy changes what was read"),
    ("eval gt.json dt.json --gt-option boxes=xyxy", "--repair gt:boxes=xyxy changes what was read"),
    ("eval gt.json dt.json --protocol coco2017", "did you mean 'coco'?"),
    ("figures gt.json dt.json --only pr_curve", "did you mean 'precision_recall'?"),
    ("figures gt.json dt.json --width 85mm", "the width is in inches"),
    ("figures gt.json dt.json --format png", "each figure is written as PDF and as SVG"),
    (
        "figures gt.json dt.json -o pr.pdf",
        "expected a folder, which gets a PDF and an SVG of each figure, got 'pr.pdf'",
    ),
    ("compare gt.json dt.json b.json --score-threshold 50", "all scores are at most 1, got 50; did you mean 0.5?"),
    ("view gt.json dt.json --filter outcome=fp class=cat", "repeat it: --filter outcome=fp --filter class=cat"),
    ("compare gt.json dt.json b.json --name A,B", "expected 2 names, got 1; repeat it: --name A --name B"),
    ("eval gt.json keys.json", "detections[0].score: expected a number, found no such key among|rename 'confidence'"),
    ("eval scored labels", "need the sizes of their images|a detection with its score: are the two swapped?"),
    ("eval sized labels", "line 1: expected class cx cy w h, got|are the two swapped?"),
    ("eval gt.json photos/none.json", "photos/none.json: there is no such file or folder"),
    ("eval gt.json gt.json/x", "a part of the path is a file"),
]

WORK: list[tuple[str, str]] = [
    ("help eval", "Usage: ioukit eval"),
    ("eval --json out.json gt.json dt.json", "wrote out.json"),
    ("compare --json out.json gt.json dt.json b.json --replicates 2 --permutations 1", "wrote out.json"),
    ("compare gt.json dt.json dt.json --permutations 1 --replicates 2", "note dt.json is compared with itself"),
    ("eval gt.json dt.json --report rep", "wrote rep.html"),
    ("runs runs.db", "B@1"),
    ("show runs.db B", "id 1"),
    ("gate gt.json dt.json dt.json", "passed"),
    ("gate runs.db B B", "passed"),
    ("playground out.html", "wrote out.html"),
    ("eval gt.json dt.json --classes cat", "done 1 class "),
]
"""What a person would type and is right, too."""

IMAGES = [{"id": i, "file_name": f"{i}.jpg", "width": 90, "height": 80} for i in (1, 2, 3)]
CLASSES = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
OBJECTS = [
    {"id": k, "image_id": 1 + k % 3, "category_id": 1 + k % 2, "bbox": [5 + k, 5, 30, 20], "area": 600, "iscrowd": 0}
    for k in range(1, 7)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mistakes")
    found = [{**{key: one[key] for key in ("image_id", "category_id", "bbox")}, "score": 0.9} for one in OBJECTS]
    (path / "gt.json").write_text(json.dumps({"images": IMAGES, "categories": CLASSES, "annotations": OBJECTS}))
    (path / "dt.json").write_text(json.dumps(found))
    (path / "b.json").write_text(json.dumps(found[1:]))
    renamed = [{"confidence" if key == "score" else key: value for key, value in one.items()} for one in found]
    (path / "keys.json").write_text(json.dumps(renamed))
    for name, line in (("labels", ""), ("scored", " 0.9"), ("sized", " 0.9")):
        (path / name).mkdir()
        (path / name / "1.txt").write_text(f"0 0.5 0.5 0.2 0.2{line}\n")
    (path / "sized" / "sizes.csv").write_text("name,width,height\n1.jpg,90,80\n")
    (path / "scenes.csv").write_text("image_id,weather\n1,sun\n2,rain\n3,sun\n")
    (path / "photos").mkdir()
    (path / "pictures").mkdir()
    (path / "pictures" / "1.jpg").touch()
    (path / "results.pkl").touch()
    log = ("--log", path / "runs.db", "--name", "B", "-q")
    assert run_here("eval", path / "gt.json", path / "dt.json", *log).code == 0
    return path


@pytest.mark.parametrize(("line", "answer"), ANSWERED, ids=[line for line, _ in ANSWERED])
def test_a_mistake_is_answered(line: str, answer: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    done = run_here(*shlex.split(line))
    (said,) = [one for one in done.err.splitlines() if one.startswith("Error: ")]
    assert (done.code, done.out) == (2, "")
    assert [words for words in answer.split("|") if words not in said] == [], said
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(("line", "answer"), WORK, ids=[line for line, _ in WORK])
def test_what_is_typed_works(line: str, answer: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "rep" in line.split() or "playground" in line:
        pytest.importorskip("jinja2", reason="pages need Jinja2: pip install 'ioukit[report]'")
    monkeypatch.chdir(folder)
    for _ in range(2):  # the second time, the file is there
        done = run_here(*shlex.split(line))
        assert done.code == 0, done.err
        assert answer in done.out + done.err


def test_there_are_forty() -> None:
    assert len(ANSWERED) + len(WORK) >= 40
