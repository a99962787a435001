"""How often is equal called different? Models that are equally good, and columns that have nothing to do with a model.

    python docs/build/false_alarms.py run RESULTS.jsonl [--samples 100] [--workers 2]   # ten minutes; can be continued
    python docs/build/false_alarms.py summarise RESULTS.jsonl                       # writes docs/data/false_alarms.json

The populations are those of ``interval_coverage.py``. Five models find the same objects with errors of their own; each
is as good as the others. A sixth one finds less, for the power of the tests.
"""

from __future__ import annotations

import json
import math
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from interval_coverage import POPULATIONS, WORSE, add, lines_of, program, sample

from ioukit import COCO
from ioukit.comparison import compare_models
from ioukit.runs import Rule, Rules, check_rules
from ioukit.slices import slice_numbers, worst_slices
from ioukit.statistics import compare

DATA = Path(__file__).parents[1] / "data" / "false_alarms.json"
SETS = (("balanced", 100), ("balanced", 400), ("uneven", 200), ("videos", 320), ("videos", 1200))
MODELS, REPLICATES, COLUMNS = 5, 200, 10
ALL_SIZES = COCO.replace(area_ranges={"all": (0, 1e10)}, max_dets=[100])  # AP alone is tested
ALARMS = {
    "compare": "`compare`: p of AP at most 0.05",
    "limits": "`compare`: the interval lacks 0",
    "classes": "`compare`: any corrected p of a class at most 0.05",
    "ranking": "a ranking of five: any two told apart",
    "gate": "`gate`: AP breaks the default rule",
    "gate classes": "`gate`: AP of any class breaks a rule",
    "slices": "`slices`: the interval of a difference lacks 0",
    "worst": "`worst_slices`: any of twenty slices",
}
POWER = {"worse": "`compare` finds a worse model", "gate worse": "`gate` breaks with a worse model"}


def repetition(job: tuple[str, int, int]) -> str:
    """Whether each kind of alarm is given, on one set."""
    name, images, number = job
    seed = [number, images, zlib.crc32(name.encode()), 3]
    models, video = sample(POPULATIONS[name], images, seed, [0.0] * (MODELS - 1) + [WORSE], ALL_SIZES)
    *equal, worse = models
    options: dict[str, Any] = {"seed": number, "clusters": video, "replicates": REPLICATES, "threads": 1}
    one = compare(*equal[:2], keys="AP", per_class="AP", permutations=REPLICATES, **options)
    ap = one["AP"]
    ranking = compare_models(
        {str(at): model for at, model in enumerate(equal)}, permutations=REPLICATES, **options
    ).ranking
    rng = np.random.default_rng(seed)
    groups = np.arange(images) if video is None else video
    columns = {"image": np.arange(images)}
    columns |= {f"c{at}": rng.integers(0, 2, groups[-1] + 1)[groups] for at in range(COLUMNS)}
    names = [name for name in columns if name != "image"]
    tables: dict[str, Any] = {"tables": columns, "image_column": "image"}
    slices = slice_numbers(equal[0], names[:1], keys="AP", **tables, **options)
    limits = [interval for part in slices for interval in part.differences.values()]
    found = worst_slices(equal[0], names, **tables, **{**options, "replicates": 1}, least_objects=10).found
    result = {
        "compare": ap.p_value <= 0.05,
        "limits": ap.low > 0 or ap.high < 0,
        "classes": any(row.p_adjusted <= 0.05 for row in one.per_class["AP"]),
        "ranking": len(set(ranking.letters)) > 1,
        "gate": broken(*equal[:2], {}, video),
        "gate classes": broken(*equal[:2], {"classes": "all"}, video),
        "slices": any(each.low > 0 or each.high < 0 for each in limits[:1]),
        "worst": bool(found),
        "worse": compare(equal[0], worse, keys="AP", permutations=REPLICATES, **options)["AP"].p_value <= 0.05,
        "gate worse": broken(equal[0], worse, {}, video),
    }
    return json.dumps(
        {"population": name, "images": images, "number": number, **{k: bool(v) for k, v in result.items()}}
    )


def broken(a: Any, b: Any, rule: dict[str, Any], video: Any) -> bool:
    rules = Rules(rules=(Rule(metric="AP", may_fall_by=0.0, **rule),), replicates=REPLICATES)
    return check_rules(b, a, rules, clusters=video, threads=1).results[0].outcome == "broken"


def summarise(path: Path) -> dict[str, Any]:
    """How often each kind of alarm was given, for each population and size."""
    lines = lines_of(path)
    found = []
    for name, images in SETS:
        rows = [row for row in lines if (row["population"], row["images"]) == (name, images)]
        counts = {kind: sum(row[kind] for row in rows) for kind in (*ALARMS, *POWER)}
        found.append({"population": name, "images": images, "sets": len(rows), "alarms": counts})
    return {"replicates": REPLICATES, "sets": found}


def table(found: dict[str, Any]) -> str:
    """The table of the page: alarms in percent."""
    sets = found["sets"]
    heads = [f"{POPULATIONS[one['population']].title} {one['images']:,}" for one in sets]
    lines = [f"| in percent of the sets | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(sets)}"]
    lines.append(f"| sets | {' | '.join(str(one['sets']) for one in sets)} |")
    for kind, title in (ALARMS | POWER).items():
        shares = (f"{100 * one['alarms'][kind] / one['sets']:.1f}" for one in sets)
        lines.append(f"| {title} | {' | '.join(shares)} |")
    return "\n".join(lines)


def words(found: dict[str, Any]) -> str:
    """What the page says of the table."""
    sets = min(one["sets"] for one in found["sets"])
    within = 196 * math.sqrt(0.05 * 0.95 / sets)
    every = [100 * one["alarms"][kind] / one["sets"] for one in found["sets"] for kind in ALARMS]
    return (
        f"All shares but those of the last two rows should be at most 5. With {sets} sets, a share of 5 is known "
        f"within {within:.1f}. The mean of all of these is {sum(every) / len(every):.1f}, and the largest one "
        f"{max(every):.1f}."
    )


def run(path: Path, samples: int, workers: int) -> None:
    """Add the sets that a file lacks, all populations in turns."""
    done = {(row["population"], row["images"], row["number"]) for row in lines_of(path)}
    jobs = [(*one, number) for number in range(samples) for one in SETS]
    add(path, [job for job in jobs if job not in done], repetition, workers)


if __name__ == "__main__":
    program(sys.modules[__name__], {"run": run}, samples=100)
