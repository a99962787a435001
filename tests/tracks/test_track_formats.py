"""Tracks from the files of each format: the same numbers, whatever the files are."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError, evaluate_tracks
from ioukit.datasets import find_format, read, read_detections
from ioukit.scale import open_detections

if TYPE_CHECKING:
    from pathlib import Path

FRAMES = range(8, 13)
"""The example of docs/tracks.md, with frames whose order as numbers is not that of their names."""


def truth_rows() -> list[tuple[int, int, list[float]]]:
    """Frame, track and box of each object."""
    return [(frame, 1, [0.0, 0.0, 10.0, 10.0]) for frame in FRAMES]


def found_rows() -> list[tuple[int, int, list[float]]]:
    """Track 7 follows the object in three frames, track 8 in one, and is elsewhere in one."""
    return [(frame, 7 if frame < 11 else 8, [0.0 if frame < 12 else 50.0, 0.0, 10.0, 10.0]) for frame in FRAMES]


def assert_numbers(gt: Any, dt: Any, sequences: tuple[str, ...] = ("walk",)) -> None:
    """The numbers of the example, in each sequence."""
    tracks = evaluate_tracks(gt, dt)
    numbers = {key: tracks.summary[key] for key in ("TP", "FN", "FP", "IDSW", "Frames")}
    count = len(sequences)
    assert numbers == {"TP": 4 * count, "FN": count, "FP": count, "IDSW": count, "Frames": 5 * count}
    assert tuple(tracks.sequences) == sequences
    assert round(tracks.summary["HOTA"], 4) == 0.5725


@pytest.mark.parametrize("frame_name", ["frame_index", "frame_id"])
@pytest.mark.parametrize("track_name", ["track_id", "instance_id"])
@pytest.mark.parametrize("videos", [["walk"], ["run", "walk"]])
def test_coco_videos(frame_name: str, track_name: str, videos: list[str], tmp_path: Path) -> None:
    images, annotations, found = [], [], []
    for video in range(len(videos)):
        for (frame, track, box), (_, other, box_found) in zip(truth_rows(), found_rows(), strict=True):
            image = 100 * video + 50 - frame  # ids of images say nothing about the order
            images.append({"id": image, "video_id": video, frame_name: frame, "file_name": "a.jpg"})
            row = {"image_id": image, "category_id": 1, "video_id": video}
            annotations.append({"id": image, **row, "bbox": box, track_name: track + 10 * video})
            found.append({**row, "bbox": box_found, "score": 0.5, "track_id": other + 10 * video})
    listed = [{"id": number, "name": name} for number, name in enumerate(videos)]
    gt = {"videos": listed, "images": images, "annotations": annotations, "categories": [{"id": 1, "name": "person"}]}
    (tmp_path / "gt.json").write_text(json.dumps(gt))
    (tmp_path / "dt.json").write_text(json.dumps(found))
    (tmp_path / "dt.jsonl").write_text("".join(json.dumps(record) + "\n" for record in found))
    assert_numbers(tmp_path / "gt.json", tmp_path / "dt.json", tuple(videos))
    assert_numbers(tmp_path / "gt.json", tmp_path / "dt.jsonl", tuple(videos))
    assert_numbers(gt, found, tuple(videos))
    without = {key: value for key, value in gt.items() if key != "videos"}
    assert_numbers(without, found, tuple(map(str, range(len(videos)))))
    del annotations[3][track_name]
    with pytest.raises(
        DatasetError, match=rf"annotations\[3\].{track_name}: expected the id of a track, .*, found none"
    ):
        evaluate_tracks(gt, found)


def row_table(rows: list[tuple[int, int, list[float]]], header: str, order: str) -> str:
    """A table with the columns of a tool: ``order`` says which number stands in each of them."""
    lines = [header]
    for frame, track, (x, y, width, height) in rows:
        values: dict[str, Any] = {"x": x, "y": y, "w": width, "h": height, "r": x + width, "b": y + height}
        values |= {"s": "walk", "f": frame, "t": track, "c": "person", "1": 1, "p": 1}
        lines.append(",".join(str(values[one]) for one in order))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("truth", "order", "found", "order_found"),
    [
        ("sequence,frame,track_id,class,x,y,width,height", "sftcxywh", ",score", "p"),
        ("video,frame_index,track,label,x1,y1,x2,y2", "sftcxyrb", ",conf", "p"),
        ("seq,Frame ID,Track ID,class,x,y,w,h", "sftcxywh", ",confidence", "p"),
        ("video_id,frame,id,bb_left,bb_top,bb_width,bb_height,class", "sftxywhc", ",conf", "p"),  # MOTChallenge's words
        ("sequence,FrameId,Id,X,Y,Width,Height,ClassId", "sftxywh1", ",Confidence", "p"),  # py-motmetrics
        ("x_min,y_min,x_max,y_max,class_id,tracker_id,frame_number", "xyrb1tf", ",confidence", "p"),  # supervision
    ],
)
def test_tables_with_a_column_of_frames(truth: str, order: str, found: str, order_found: str, tmp_path: Path) -> None:
    (tmp_path / "gt.csv").write_text(row_table(truth_rows(), truth, order))
    (tmp_path / "dt.csv").write_text(row_table(found_rows(), truth + found, order + order_found))
    name = "walk" if "s" in order else "sequence"
    assert_numbers(tmp_path / "gt.csv", tmp_path / "dt.csv", (name,))


@pytest.mark.parametrize("kind", ["tsv", "parquet", "arrow", "pandas", "polars"])
def test_other_tables_with_a_column_of_frames(kind: str, tmp_path: Path) -> None:
    tables: list[Any] = []
    for name, rows in (("gt", truth_rows()), ("dt", found_rows())):
        columns: dict[str, list[Any]] = {"video": ["walk"] * 5, "frame": [row[0] for row in rows], "class": ["a"] * 5}
        columns |= {side: [row[2][at] for row in rows] for at, side in enumerate(("x", "y", "w", "h"))}
        columns |= {"track": [f"t{row[1]}" for row in rows], **({"score": [1.0] * 5} if name == "dt" else {})}
        if kind == "tsv":
            lines = [columns.keys(), *zip(*columns.values(), strict=True)]
            (tmp_path / f"{name}.tsv").write_text("\n".join("\t".join(map(str, line)) for line in lines))
            tables.append(tmp_path / f"{name}.tsv")
        elif kind in ("pandas", "polars"):
            tables.append(pytest.importorskip(kind, reason=f"its tables need {kind}").DataFrame(columns))
        else:
            arrow = pytest.importorskip("pyarrow", reason="the files need PyArrow")
            module = importlib.import_module("pyarrow.parquet" if kind == "parquet" else "pyarrow.feather")
            writer = module.write_table if kind == "parquet" else module.write_feather
            writer(arrow.table(columns), tmp_path / f"{name}.{kind}")
            tables.append(tmp_path / f"{name}.{kind}")
    assert_numbers(tables[0], tables[1])


def test_a_table_and_the_files_of_a_sequence(tmp_path: Path) -> None:
    """Frames of MOTChallenge have six digits, and those of tables need none."""
    for sequence in ("run", "walk"):
        (tmp_path / "gt" / sequence / "gt").mkdir(parents=True)
        text = "".join(f"{frame},{track},{','.join(map(str, box))},1,1,1\n" for frame, track, box in truth_rows())
        (tmp_path / "gt" / sequence / "gt" / "gt.txt").write_text(text)
        length = f"[Sequence]\nseqLength={FRAMES[-1]}\n"
        (tmp_path / "gt" / sequence / "seqinfo.ini").write_text(length)
    rows = ["sequence,frame,track,class,x,y,w,h,score"]
    for sequence in ("run", "walk"):
        rows += [f"{sequence},{f},{track},pedestrian,{','.join(map(str, box))},1" for f, track, box in found_rows()]
    (tmp_path / "dt.csv").write_text("\n".join(rows))
    tracks = evaluate_tracks(tmp_path / "gt", tmp_path / "dt.csv")
    assert (tracks.summary["TP"], tracks.summary["IDSW"], tracks.summary["Frames"]) == (8, 2, 24)
    (tmp_path / "dt.csv").write_text("\n".join([*rows, "walk,99,1,pedestrian,0,0,1,1,1"]))
    with pytest.raises(DatasetError, match=r"dt.csv: line 12, frame: expected an image of .*gt, found 'walk/99'"):
        evaluate_tracks(tmp_path / "gt", tmp_path / "dt.csv")


def table_of(folder: Path, name: str, frames: str) -> Path:
    """A table with an object in each frame, such as ``"walk/1 walk/2"``."""
    rows = [f"{','.join(frame.rsplit('/', 1))},1,a,0,0,9,9" for frame in frames.split()]
    (folder / name).write_text("\n".join(["sequence,frame,track,class,x,y,w,h", *rows]))
    return folder / name


@pytest.mark.parametrize(
    ("truth", "found", "wrong"),
    [
        ("walk/1 walk/2", "walk/1 run/2", "run/2"),
        ("walk/1 walk/2", "run/1 walk/2", "run/1"),
        ("walk/1 walk/2", "run/1 jump/2", "run/1"),
        ("walk/1 jump/2", "run/1 run/2", "run/1"),
        ("walk/1 jump/2", "jump/2 jump/1", "jump/1"),  # the frame is that of another sequence
        ("walk/1 walk/2", "walk/1 walk/3", "walk/3"),
    ],
)
def test_frames_of_other_sequences_are_refused(truth: str, found: str, wrong: str, tmp_path: Path) -> None:
    gt, dt = read(table_of(tmp_path, "gt.csv", truth)), table_of(tmp_path, "dt.csv", found)
    with pytest.raises(DatasetError, match=rf"dt.csv: line \d, frame: expected an image of .*gt.csv, found '{wrong}'"):
        evaluate_tracks(gt, dt)
    left = read_detections(dt, ground_truth=gt, on_invalid="drop")
    assert left.image_labels().tolist() == [one for one in found.split() if one in truth.split()]
    assert f"found '{wrong}'" in left.notes[0]
    with pytest.raises(DatasetError, match=f"expected the id of an image of the ground truth, found '{wrong}'"):
        evaluate_tracks(gt, read_detections(dt, ground_truth=read(dt)))  # ids of columns meet in the same way


def test_the_only_sequence_may_have_another_name_and_a_note_says_so(tmp_path: Path) -> None:
    truth, dt = table_of(tmp_path, "gt.csv", "walk/1 walk/2"), table_of(tmp_path, "dt.csv", "run/1 run/2")
    note = f"{dt}: its only sequence, 'run', is taken as 'walk', the only one of {truth}"
    for found in (dt, read_detections(dt, ground_truth=read(dt))):
        tracks = evaluate_tracks(truth, found)
        assert (tracks.summary["TP"], tracks.summary["FP"], tracks.notes) == (2, 0, (note,))
    for name in ("walk", "videos/walk"):  # a longer path is no other name
        same = table_of(tmp_path, "dt.csv", f"{name}/1 {name}/2")
        assert not any("only sequence" in one for one in evaluate_tracks(truth, same).notes)


def test_the_file_of_the_only_sequence_may_have_another_name_and_a_note_says_so(tmp_path: Path) -> None:
    truth = table_of(tmp_path, "gt.csv", "walk/1 walk/2")
    (tmp_path / "run.txt").write_text("1,1,0,0,9,9,1,-1,-1,-1\n2,1,0,0,9,9,1,-1,-1,-1\n")
    note = f"{tmp_path / 'run.txt'}: its only sequence, 'run', is taken as 'walk', the only one of {truth}"
    assert evaluate_tracks(truth, tmp_path / "run.txt").notes == (note,)
    (tmp_path / "run.txt").rename(tmp_path / "walk.txt")
    assert evaluate_tracks(truth, tmp_path / "walk.txt").notes == ()


@pytest.mark.parametrize(
    ("frame", "sequence", "message"),
    [
        ("1.5", "walk", "line 3, frame: expected the number of a frame, a whole number of at least 0, found '1.5'"),
        ("-1", "walk", "line 3, frame: expected the number of a frame, .*, found '-1'"),
        ("", "walk", "line 3, frame: expected the number of a frame, .*, found ''"),
        ("nan", "walk", "line 3, frame: expected the number of a frame, .*, found 'nan'"),
        ("first", "walk", "line 3, frame: expected the number of a frame, .*, found 'first'"),
        ("2", "", "line 3, seq: expected the name of a sequence, found ''"),
    ],
)
def test_frames_of_tables_that_are_none(frame: str, sequence: str, message: str, tmp_path: Path) -> None:
    text = f"seq,frame,id,class,x,y,w,h,score\nwalk,1,1,a,0,0,1,1,1\n{sequence},{frame},1,a,0,0,1,1,1\n"
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DatasetError, match=message):
        read(tmp_path / "t.csv")
    with pytest.raises(DatasetError, match=message):
        read_detections(tmp_path / "t.csv", ground_truth=read(table_of_one(tmp_path)))
    gt = read(tmp_path / "t.csv", on_invalid="drop")
    assert (gt.image_labels().tolist(), gt.attributes["track_id"].tolist(), gt.dropped) == (["walk/1"], [1], 1)


def table_of_one(folder: Path) -> Path:
    (folder / "one.csv").write_text("seq,frame,id,class,x,y,w,h\nwalk,1,1,a,0,0,1,1\n")
    return folder / "one.csv"


def test_the_column_of_frames_can_be_named(tmp_path: Path) -> None:
    text = "image,shot,when,who,id,class,x,y,w,h\na,walk,3,7,1,person,0,0,1,1\n"
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv").image_labels().tolist() == ["a"]
    gt = read(tmp_path / "t.csv", columns={"sequence": "shot", "frame": "when", "track": "who"})
    assert (gt.image_labels().tolist(), gt.ids.tolist(), gt.attributes["track_id"].tolist()) == (["walk/3"], [1], [7])
    assert gt.attributes["image"].tolist() == ["a"]
    with pytest.raises(ValueError, match="columns takes a column of images or one of frames, got both"):
        read(tmp_path / "t.csv", columns={"image": "image", "frame": "when"})


TWO = [(1, 1, [0.0, 0.0, 10.0, 10.0]), (2, 1, [0.0, 0.0, 10.0, 10.0])]
MISTAKES = {  # what stands for frame, track, left and width of the first row of results, and what is said about it
    "not a number": ("1", "1", "nan", "10", r"{where}.*(bb_left|x|left|bbox).*found '?(nan|NaN)"),
    "text": ("1", "1", "left", "10", r"{where}.*(bb_left|x|left|bbox).*found .*left"),
    "a negative side": ("1", "1", "0", "-10", r"{where}.*(at least|wider).*-10"),
    "a negative frame": ("-1", "1", "0", "10", r"{where}.*frame.*-1"),
    "a frame that is none": ("1.5", "1", "0", "10", r"{where}.*frame.*1\.5"),
    "a frame beyond the last": ("3", "1", "0", "10", r"{where}.*frame.*3"),
    "a track twice": (
        "2",
        "1",
        "0",
        "10",
        "each track once in a frame, found track 1 again in image 'walk/0*2' of .*'walk'",
    ),
    "a track with a fraction": ("1", "1.5", "0", "10", "track_id: expected .*whole number.*1.5"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("form", ["mot", "kitti", "csv"])
def test_mistakes_are_said_with_their_place(form: str, mistake: str, tmp_path: Path) -> None:
    *values, message = MISTAKES[mistake]

    def save(name: str, rows: list[tuple[str, ...]]) -> Path:
        place = tmp_path / name / ("walk.csv" if form == "csv" else "walk.txt")
        is_truth = name == "gt"
        if form == "mot":
            texts = [
                f"{frame},{track},{left},0,{width},10,1,{'1,1' if is_truth else '-1,-1,-1'}"
                for frame, track, left, width in rows
            ]
            place = tmp_path / name / "walk" / "gt" / "gt.txt" if is_truth else place
        elif form == "kitti":
            rest = "10 -1 -1 -1 -1000 -1000 -1000 -10" + ("" if is_truth else " 1")
            ends = [left if left.isalpha() else f"{float(left) + float(width):g}" for _, _, left, width in rows]
            texts = [
                f"{f} {t} Car 0 0 -10 {left} 0 {end} {rest}" for (f, t, left, _), end in zip(rows, ends, strict=True)
            ]
        else:
            texts = [
                "seq,frame,id,class,x,y,w,h,score",
                *(f"walk,{f},{t},a,{left},0,{w},10,1" for f, t, left, w in rows),
            ]
        place.parent.mkdir(parents=True)
        place.write_text("\n".join(texts))
        (tmp_path / "gt" / "walk").mkdir(exist_ok=True)
        (tmp_path / "gt" / "walk" / "seqinfo.ini").write_text("[Sequence]\nseqLength=2\n")
        return place if form == "csv" else tmp_path / name

    rows = [tuple(f"{value:g}" for value in (frame, track, box[0], box[2])) for frame, track, box in TWO]
    gt = save("gt", rows)
    dt = save("dt", [tuple(values), rows[1]])
    assert_refused = pytest.raises(DatasetError, match=message.format(where=r"walk\.(csv|txt): line [12]"))
    with assert_refused:
        evaluate_tracks(gt, dt, protocol="plain")  # KITTI leaves out small boxes before ids are read


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_of_videos_in_parts(suffix: str, tmp_path: Path) -> None:
    """Pieces of a table read the columns of sequences and frames, and not that of tracks."""
    (tmp_path / "gt.csv").write_text(row_table(truth_rows(), "seq,frame,id,class,x,y,w,h", "sftcxywh"))
    (tmp_path / "dt.csv").write_text(row_table(found_rows(), "seq,frame,id,class,x,y,w,h,score", "sftcxywhp"))
    place = tmp_path / f"dt.{suffix}"
    if suffix == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet", reason="the files need PyArrow")
        parquet.write_table(importlib.import_module("pyarrow.csv").read_csv(tmp_path / "dt.csv"), place)
    source = open_detections(place, read(tmp_path / "gt.csv"))
    found = list(source.batches())
    assert [label for dt in found for label in dt.image_labels().tolist()] == [f"walk/{frame}" for frame in FRAMES]
    assert not any(dt.attributes for dt in found)


def test_scalabel_videos(tmp_path: Path) -> None:
    for name, rows in (("gt", truth_rows()), ("dt", found_rows())):
        frames = []
        for video in ("run", "walk"):
            for frame, track, (x, y, width, height) in rows:
                box = {"x1": x, "y1": y, "x2": x + width, "y2": y + height}
                label = {"id": str(track), "category": "car", "box2d": box, "score": 1}
                named = {"name": f"{video}-{100 - frame}.jpg", "videoName": video, "frameIndex": frame}
                frames.append({**named, "labels": [label]})
        (tmp_path / f"{name}.json").write_text(json.dumps(frames))
    assert_numbers(tmp_path / "gt.json", tmp_path / "dt.json", ("run", "walk"))


@pytest.mark.parametrize(
    "order", ["info images videos tracks annotations categories", "videos annotations images categories"]
)
def test_files_of_tao_are_of_coco(order: str, tmp_path: Path) -> None:
    """Their videos have the lists that LVIS's images have, and their classes have frequencies."""
    lists: dict[str, list[int]] = {"neg_category_ids": [], "not_exhaustive_category_ids": []}
    images = [{"id": frame, "video_id": 1, "frame_index": frame, "video": "walk"} for frame in FRAMES]
    row = {"category_id": 1, "video_id": 1}
    parts: dict[str, Any] = {
        "info": {"version": "1"},
        "images": images,
        "videos": [{"id": 1, "name": "walk", **lists}],
        "tracks": [{"id": 1, "category_id": 1, "video_id": 1}],
        "annotations": [{"id": f, "image_id": f, **row, "bbox": box, "track_id": t} for f, t, box in truth_rows()],
        "categories": [{"id": 1, "name": "person", "frequency": "f"}],
    }
    found = [{"image_id": f, **row, "bbox": box, "score": 1, "track_id": t} for f, t, box in found_rows()]
    for padding in (0, 1 << 17):  # the keys may be far from both ends of the file
        parts["images"] = [*images, {"id": 99, "video_id": 1, "frame_index": 99, "note": "-" * padding}]
        parts["videos"][0]["note"] = "-" * padding
        (tmp_path / "gt.json").write_text(json.dumps({name: parts[name] for name in order.split()}))
        (tmp_path / "dt.json").write_text(json.dumps(found))
        assert find_format(tmp_path / "gt.json").name == "coco"
        tracks = evaluate_tracks(tmp_path / "gt.json", tmp_path / "dt.json")
        assert (tracks.summary["TP"], tracks.summary["IDSW"], tracks.summary["Frames"]) == (4, 1, 6)
        assert tuple(tracks.sequences) == ("walk",)
