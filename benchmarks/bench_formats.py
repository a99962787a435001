"""Reading label files of YOLO, Pascal VOC and Open Images against other readers, each engine in a fresh process.

    pip install . supervision globox datumaro hotcoco
    python benchmarks/bench_formats.py --images 20000 --annotations 5000 --rows 300000

The files are drawn: YOLO text files of 7 boxes on average with black images of 64 x 48 pixels, XML files like
those of VOC 2012, and the CSV file of boxes of Open Images. `bytes` opens and reads the same files, one after another,
in Python, and does nothing with them. The time is that of reading alone, without the import of the library, and with
files that the system holds in memory; CPU is the time of all cores together. Every engine must find as many boxes as
were drawn.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import struct
import tempfile
import zlib
from pathlib import Path

from _fresh import Run, run_in_turns
from _machine import described


def png(width: int, height: int) -> bytes:
    """A black image. Some readers decode images to learn their sizes."""
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes((3 * width + 1) * height))),
        (b"IEND", b""),
    ]
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


PNG = png(64, 48)

TIMED = """
import json, os, sys, time
folder = sys.argv[1]
{setup}
start, worked = time.perf_counter(), sum(os.times()[:4])
{read}
took, worked = time.perf_counter() - start, sum(os.times()[:4]) - worked
print(json.dumps([took, worked, {count}]))
"""


def timed(setup: str, read: str, count: str) -> str:
    """A program that prints the seconds of reading, those of all cores together, and how many boxes there are."""
    return TIMED.format(setup=setup, read=read, count=count)


BYTES = """
total = 0
for place in {places}:
    for entry in os.scandir(folder + place):
        with open(entry.path, "rb", buffering=0) as file:
            total += len(file.read())
"""
OURS = "import ioukit\nfrom ioukit.datasets import GroundTruth, formats\nfrom ioukit.datasets.formats import {module}"
SUPERVISION = "import supervision as sv"
GLOBOX = "from globox import AnnotationSet"
DATUMARO = "import datumaro, itertools"

YOLO = {
    "bytes": timed("import os", BYTES.format(places=("/labels/val", "/images/val")), "None"),
    "ioukit": timed(OURS.format(module="yolo"), "data = ioukit.datasets.read(folder + '/data.yaml')", "len(data)"),
    "hotcoco": timed(
        "import hotcoco",
        "data = hotcoco.COCO.from_yolo(folder + '/labels/val', images_dir=folder + '/images/val')",
        "len(data.dataset['annotations'])",
    ),
    "supervision": timed(
        SUPERVISION,
        "data = sv.DetectionDataset.from_yolo(folder + '/images/val', folder + '/labels/val', folder + '/data.yaml')",
        "sum(len(one) for one in data.annotations.values())",
    ),
    "globox": timed(
        GLOBOX,
        "options = dict(image_folder=folder + '/images/val', image_extension='.png')\n"
        "data = AnnotationSet.from_yolo_v5(folder + '/labels/val', **options)",
        "sum(len(one.boxes) for one in data)",
    ),
    "datumaro": timed(
        DATUMARO,
        "data = datumaro.Dataset.import_from(folder, 'yolo'); data.init_cache()",
        "sum(len(one.annotations) for one in data)",
    ),
}
VOC = {
    "bytes": timed("import os", BYTES.format(places=("/Annotations",)), "None"),
    "ioukit": timed(OURS.format(module="voc"), "data = ioukit.datasets.read(folder)", "len(data)"),
    "hotcoco": timed(
        "import hotcoco",
        "data = hotcoco.COCO.from_voc(folder)",
        "len(data.dataset['annotations'])",
    ),
    "globox": timed(
        GLOBOX, "data = AnnotationSet.from_pascal_voc(folder + '/Annotations')", "sum(len(one.boxes) for one in data)"
    ),
    "datumaro": timed(
        DATUMARO,
        "data = datumaro.Dataset.import_from(folder, 'voc'); data.init_cache()",
        "sum(len(one.annotations) for one in data)",
    ),
}
OPEN_IMAGES = {
    "bytes": timed("", "total = len(open(folder + '/train-annotations-bbox.csv', 'rb').read())", "None"),
    "ioukit": timed(
        OURS.format(module="open_images"),
        "data = ioukit.datasets.read(folder + '/train-annotations-bbox.csv')",
        "len(data)",
    ),
    "globox": timed(
        GLOBOX,
        "data = AnnotationSet.from_openimage(folder + '/train-annotations-bbox.csv', image_folder=folder + '/images')",
        "sum(len(one.boxes) for one in data)",
    ),
}


def main() -> None:
    """Draws the files, runs every engine and prints a table per format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=20_000, help="text files of YOLO")
    parser.add_argument("--annotations", type=int, default=5_000, help="XML files of VOC")
    parser.add_argument("--rows", type=int, default=300_000, help="rows of Open Images")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(described("ioukit", "supervision", "globox", "datumaro", "hotcoco"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for title, programs, make, count in (
            ("YOLO", YOLO, make_yolo, options.images),
            ("Pascal VOC", VOC, make_voc, options.annotations),
            ("Open Images", OPEN_IMAGES, make_open_images, options.rows),
        ):
            inner = place / title
            inner.mkdir()
            boxes = make(inner, count)
            show(title, count, boxes, run_in_turns(programs, options.runs, str(inner)))


def show(title: str, count: int, boxes: int, runs: dict[str, list[Run]]) -> None:
    """Prints the median times of each engine, and their ratios to those of ioukit."""
    taken = {}
    for name, rounds in runs.items():
        results = [json.loads(run.output.splitlines()[-1]) for run in rounds]
        found = {result[2] for result in results}
        if found not in ({None}, {boxes}):
            print(f"{title}: {name} found {found} boxes, {boxes} were drawn")
        taken[name] = [statistics.median(result[at] for result in results) for at in (0, 1)]
    print(f"\n{title}, {count:,} files or rows, {boxes:,} boxes\n")
    print("| engine | time | time / ioukit | CPU | CPU / ioukit |\n| --- | ---: | ---: | ---: | ---: |")
    ours = taken["ioukit"]
    for name, (seconds, worked) in taken.items():
        ratios = f"{seconds / ours[0]:.2f} | {worked:.2f} s | {worked / ours[1]:.2f}"
        print(f"| {name} | {seconds:.3f} s | {ratios} |", flush=True)


def make_yolo(folder: Path, count: int) -> int:
    """Images and text files; returns the number of boxes."""
    draw = random.Random(0)
    for inner in ("images/val", "labels/val"):
        (folder / inner).mkdir(parents=True)
    total = 0
    for number in range(count):
        boxes = 1 + int(draw.expovariate(1 / 6.3))
        total += boxes
        lines = []
        for _ in range(boxes):
            width, height = draw.uniform(0.01, 0.5), draw.uniform(0.01, 0.5)
            x, y = draw.uniform(width / 2, 1 - width / 2), draw.uniform(height / 2, 1 - height / 2)
            lines.append(f"{draw.randrange(80)} {x:.6f} {y:.6f} {width:.6f} {height:.6f}\n")
        (folder / f"labels/val/{number:012d}.txt").write_text("".join(lines))
        (folder / f"images/val/{number:012d}.png").write_bytes(PNG)
    names = "".join(f"  {number}: class {number}\n" for number in range(80))
    # hotcoco looks for the names beside the text files.
    for settings in (folder / "data.yaml", folder / "labels/val/data.yaml"):
        settings.write_text(f"path: {folder}\ntrain: images/val\nval: images/val\nnc: 80\nnames:\n{names}")
    return total


def make_voc(folder: Path, count: int) -> int:
    """XML files; returns the number of boxes."""
    draw = random.Random(1)
    for inner in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (folder / inner).mkdir(parents=True)
    names = [*("bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "dog", "horse"), "person"]
    total = 0
    for number in range(count):
        objects = ""
        for _ in range(1 + int(draw.expovariate(1 / 1.4))):
            total += 1
            x, y = draw.randrange(1, 400), draw.randrange(1, 280)
            objects += (
                f"\t<object>\n\t\t<name>{draw.choice(names)}</name>\n\t\t<pose>Unspecified</pose>\n"
                f"\t\t<truncated>{draw.randrange(2)}</truncated>\n\t\t<difficult>0</difficult>\n\t\t<bndbox>\n"
                f"\t\t\t<xmin>{x}</xmin>\n\t\t\t<ymin>{y}</ymin>\n\t\t\t<xmax>{draw.randrange(x + 5, 501)}</xmax>\n"
                f"\t\t\t<ymax>{draw.randrange(y + 5, 376)}</ymax>\n\t\t</bndbox>\n\t</object>\n"
            )
        (folder / f"Annotations/2008_{number:06d}.xml").write_text(
            f"<annotation>\n\t<folder>VOC2012</folder>\n\t<filename>2008_{number:06d}.jpg</filename>\n\t<source>\n"
            "\t\t<database>The VOC2008 Database</database>\n\t\t<annotation>PASCAL VOC2008</annotation>\n"
            "\t\t<image>flickr</image>\n\t</source>\n\t<size>\n\t\t<width>500</width>\n\t\t<height>375</height>\n"
            f"\t\t<depth>3</depth>\n\t</size>\n\t<segmented>0</segmented>\n{objects}</annotation>\n"
        )
    listed = "".join(f"2008_{number:06d}\n" for number in range(count))
    (folder / "ImageSets/Main/val.txt").write_text(listed)
    return total


def make_open_images(folder: Path, count: int) -> int:
    """The CSV file of boxes, and the images for readers that need them; returns the number of boxes."""
    draw = random.Random(2)
    (folder / "images").mkdir()
    classes = [f"/m/0{number:05x}" for number in range(601)]
    image, left = "", 0
    with open(folder / "train-annotations-bbox.csv", "w") as file:
        file.write("ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,")
        file.write("IsDepiction,IsInside\n")
        for _ in range(count):
            if not left:
                image, left = f"{draw.getrandbits(64):016x}", 1 + int(draw.expovariate(1 / 7.5))
                (folder / "images" / image).write_bytes(PNG)
            left -= 1
            x, y = (sorted((draw.random(), draw.random())) for _ in range(2))
            file.write(
                f"{image},xclick,{draw.choice(classes)},1,{x[0]:.6f},{x[1]:.6f},{y[0]:.6f},{y[1]:.6f},0,0,0,0,0\n"
            )
    return count


if __name__ == "__main__":
    main()
