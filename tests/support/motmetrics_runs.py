"""Random sequences through py-motmetrics, or what stands in its place.

`tests/data/compat/motmetrics.json` is what ``python tests/support/motmetrics_runs.py`` prints where py-motmetrics 1.4.0
is installed. It needs a NumPy below 2 and a pandas below 2, so the tests compare with the file. Nothing here imports
ioukit.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

SEEDS = range(30)
MERGED = 3
"""How many sequences are combined."""


def accumulated(mm: Any, seed: int) -> Any:
    """An accumulator after some frames: forbidden pairs, gaps, equal distances, switches, a hypothesis twice."""
    random = np.random.RandomState(seed)  # its stream never changes
    numbered = seed % 3 == 0
    accumulator = mm.MOTAccumulator(auto_id=numbered, max_switch_time=(float("inf"), 0, 1, 3)[seed % 4])
    objects, hypotheses = random.randint(0, 5), random.randint(0, 6)
    forbidden, step = (0, 0.3, 0.6)[random.randint(3)], (0.1, 0.25, 1)[random.randint(3)]
    frame = 0
    for _ in range(random.randint(0, 12)):
        frame += 1 + random.randint(3) * random.randint(2)
        oids, hids = (np.flatnonzero(random.rand(size) < 0.7) * 3 for size in (objects, hypotheses))
        if len(hids) > 1 and random.rand() < 0.05:
            hids[0] = hids[1]
        distances = np.round(random.rand(len(oids), len(hids)) / step) * step
        distances[random.rand(*distances.shape) < forbidden] = np.nan
        accumulator.update(oids, hids, distances, **({} if numbered else {"frameid": frame}))
    return accumulator


def rows(frame: Any) -> list[list[Any]]:
    """The rows of a data frame with those of its index, NaN being None."""
    plain = [[*(index if isinstance(index, tuple) else [index]), *row] for index, *row in frame.itertuples()]
    return [[None if isinstance(value, float) and np.isnan(value) else value for value in row] for row in plain]


def run(mm: Any) -> dict[str, Any]:
    """Events, metrics and text of all sequences."""
    host = mm.metrics.create()
    numbers = [name for name in host.names if name not in ("obj_frequencies", "pred_frequencies", "track_ratios")]
    numbers.remove("id_global_assignment")
    accumulators = [accumulated(mm, seed) for seed in SEEDS]
    groups = [accumulators[at : at + MERGED] for at in range(0, len(accumulators), MERGED)]
    overall = [host.compute_many(group, names=list("abc"), generate_overall=True) for group in groups]
    made = {
        "names": host.names,
        "numbers": numbers,
        "events": [rows(accumulator.events) for accumulator in accumulators],
        "metrics": [rows(host.compute(accumulator, metrics=numbers))[0] for accumulator in accumulators],
        "overall": [rows(frame) for frame in overall],
        "merged": [rows(mm.MOTAccumulator.merge_event_dataframes(group)) for group in groups[:2]],
        "text": mm.io.render_summary(overall[1], host.formatters, mm.io.motchallenge_metric_names),
    }
    plain: dict[str, Any] = json.loads(json.dumps(made, default=lambda value: value.item()))
    return plain


if __name__ == "__main__":
    json.dump(run(importlib.import_module("motmetrics")), sys.stdout, separators=(",", ":"))
