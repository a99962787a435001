"""Figures of trainings, from numbers that were recorded in docs/data."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ioukit import plots

__all__ = ["detector_ablation", "detector_training", "regression_simulation"]

DATA = Path(__file__).parents[1] / "data"


def regression_simulation() -> Figure:
    """From the numbers that ``benchmarks/regression_simulation.py`` wrote."""
    found = json.loads((DATA / "regression_simulation.json").read_text(encoding="utf-8"))
    styles = {"iou": ":", "giou": "-.", "diou": "--", "ciou": "-", "eiou": (0, (3, 1, 1, 1, 1, 1))}
    names = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU", "eiou": "EIoU"}
    titles = {"published": "slopes of the paper's program", "exact": "gradients of the losses"}
    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    for ax, (slopes, errors) in zip(figure.subplots(1, 2, sharey=True), found["errors"].items(), strict=True):
        for name, curve in errors.items():
            ax.plot([error / 1e6 for error in curve], linestyle=styles[name], label=names[name], linewidth=1.6)
        ax.set(xlabel="steps of gradient descent", ylim=(0, None), title=titles[slopes])
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    figure.axes[0].set_ylabel("total L1 error, millions")
    return figure


def detector_training() -> Figure:
    """From the log of the command in docs/detector.md."""
    with open(DATA / "detector_training.csv", encoding="utf-8", newline="") as file:
        rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    return plots.training_figure(rows)


def detector_ablation() -> Figure:
    """From the runs that ``benchmarks/ablation_detector.py`` kept: a mark a seed, a bar at their mean."""
    found = json.loads((DATA / "detector_ablation.json").read_text(encoding="utf-8"))["runs"]
    kinds = list(dict.fromkeys((run["head"], run["assigner"], run["loss"]) for run in found))
    kinds.sort(key=lambda kind: kind[0], reverse=True)  # the free head, which is the default, comes first
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    for ax, key in zip(figure.subplots(1, 2, sharey=True), ("AP", "AP75"), strict=True):
        for place, kind in enumerate(kinds):
            values = [run[key] for run in found if (run["head"], run["assigner"], run["loss"]) == kind]
            ax.plot(values, [place] * len(values), "o", mfc="none", mec="#0072B2", ms=6)
            ax.plot([np.mean(values)] * 2, [place - 0.3, place + 0.3], color="black", lw=2)
        ax.set(xlabel=key, xlim=(0, None), yticks=range(len(kinds)))
        ax.set_yticklabels([", ".join(kind) for kind in kinds])
        ax.yaxis.set_inverted(True)
        ax.grid(axis="x", color="0.9", lw=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
