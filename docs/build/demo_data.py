"""Makes what `ioukit demo` writes from its ground truth and photographs: python docs/build/demo_data.py [PHOTOGRAPHS].

PHOTOGRAPHS is the folder of the photographs as COCO has them; without it, only the second model is made.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

FILES = Path(__file__).parents[2] / "src" / "ioukit" / "cli" / "demo_files"
QUALITY = 80  # of the JPEG files: the wheel carries them


def second_model() -> None:
    """Tighter boxes and fewer wrong classes than the first model, but more small objects are missed."""
    rng = np.random.default_rng(33)
    truth = json.loads((FILES / "gt.json").read_bytes())
    classes = [category["id"] for category in truth["categories"]]
    sizes = {image["id"]: (image["width"], image["height"]) for image in truth["images"]}
    found = []
    for record in truth["annotations"]:
        x, y, width, height = record["bbox"]
        small = record["area"] < 32**2
        if record["iscrowd"] or rng.random() < (0.3 if small else 0.05):
            continue
        left, top, right, bottom = np.multiply([width, height] * 2, rng.normal(0, 0.035, 4))
        category = int(rng.choice(classes)) if rng.random() < 0.05 else record["category_id"]
        box = [x + left, y + top, width - left + right, height - top + bottom]
        found.append((record["image_id"], category, box, rng.beta(4, 3 if small else 1.5)))
    for image, (width, height) in sizes.items():  # and something where nothing is
        for _ in range(2):
            box = [*rng.uniform(0, 0.7, 2) * (width, height), *rng.uniform(0.05, 0.3, 2) * (width, height)]
            found.append((image, int(rng.choice(classes)), box, rng.beta(2, 5)))
    records = [
        {"image_id": image, "category_id": category, "bbox": [round(float(v), 2) for v in box], "score": round(s, 3)}
        for image, category, box, s in found
    ]
    (FILES / "b.json").write_text(json.dumps(records), encoding="utf-8")


def photographs(source: Path) -> None:
    """The photographs in their size, as smaller files."""
    for record in json.loads((FILES / "gt.json").read_bytes())["images"]:
        with Image.open(source / record["file_name"]) as image:
            smaller = FILES / "photos" / record["file_name"]
            image.save(smaller, "JPEG", quality=QUALITY, optimize=True, progressive=True)


if __name__ == "__main__":
    second_model()
    for folder in sys.argv[1:]:
        photographs(Path(folder))
