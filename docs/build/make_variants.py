"""Writes docs/variants.md from the table of overlap measures: `python docs/build/make_variants.py`."""

from __future__ import annotations

from pathlib import Path

from ioukit.overlap.variants import VARIANTS, Variant

PAGE = Path(__file__).parents[1] / "variants.md"

HEAD = """# Overlaps

Written by `docs/build/make_variants.py` from `src/ioukit/overlap/variants.py`.

A and B are boxes. They are half-open regions of the plane, so boxes that touch have no intersection. |A| is an area,
and C is the smallest box around both. 0/0 counts as 0; no formula has an epsilon. Every measure has a function
`pairwise_<name>`, from (N, 4) and (M, 4) to (N, M), and a function `elementwise_<name>`, from (..., 4) and (..., 4) to
(...).

"Gradient" is the gradient of the value, for arrays that have one (PyTorch, JAX). It is finite everywhere. Where a
formula has a kink, the gradient is 0; where two corners are equal, it is the mean of both sides.

In the pictures, one box slides across another. All measures from -1 to 1 have the same scale there.
"""


def section(row: Variant) -> str:
    options = [f"- **Option `{name}`:** {text}" for name, text in row.options.items()]
    lines = [
        f"## {row.name}",
        "",
        f"`{row.formula}`",
        "",
        f"![{row.name} as one box slides across another](figures/variant_{row.name}.svg)",
        "",
        f"- **Range:** {row.range}. {_of_itself(row)}",
        *options,
        f"- **Without area:** {row.degenerate}",
        f"- **Gradient:** {row.gradient}",
        f"- **Reference:** {row.reference}.",
    ]
    return "\n".join(lines) + "\n"


def _of_itself(row: Variant) -> str:
    return "" if row.of_itself is None else f"{row.of_itself:g} for a box with itself."


def page() -> str:
    return "\n".join([HEAD, *map(section, VARIANTS)]).replace(" \n", "\n")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
