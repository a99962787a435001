"""Plant faults in correct data sets and count which of them `ioukit check` finds: the table of docs/check.md.

python benchmarks/planted_faults.py --json rows.json          # all kinds, strengths and data sets
python benchmarks/planted_faults.py --missed                  # list the faults that move AP and are not found
python benchmarks/planted_faults.py --read a.json b.json      # the table of earlier runs
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from ioukit.checks import Case, Data, check
from support.planted_faults import FAULTS, plant
from support.planted_scenes import DRAWN, drawn, real

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit import Detections, GroundTruth
    from support.planted_faults import Fault

__all__ = ["MOVES", "Planted", "measure", "table"]

MOVES = 0.01


class Planted(NamedTuple):
    """A fault in a data set."""

    kind: str
    strength: int
    data: str
    moved: float
    """By how much AP moves; 1 if the data are refused."""
    found: bool
    others: tuple[str, ...]
    """Codes of harmful findings that do not name the fault."""


def measure(name: str, data: tuple[GroundTruth, Detections], faults: dict[str, Fault], seed: int) -> Iterable[Planted]:
    """Plants each fault at each strength."""
    right = next(iter(Case(Data(*data)).summary.values()))
    for kind, fault in faults.items():
        for place, strength in enumerate(fault.strengths):
            wrong = plant(fault, data, strength, seed)
            if wrong is None:
                continue
            checked = check(*wrong)
            harmful = [finding for finding in checked if finding.harmful]
            refused = any(finding.suspicion.refused for finding in harmful)
            after = next(iter(checked.summary.values()), float("nan"))
            moved = 1.0 if refused else abs(after - right)
            codes = [finding.code for finding in harmful]
            found = any(code in fault.codes for code in codes)
            yield Planted(kind, place, name, moved, found, tuple(code for code in codes if code not in fault.codes))


def table(rows: list[Planted]) -> str:
    """A line per kind: of the data sets, at each strength, found of those whose AP moves by 0.01."""
    lines = ["| fault | strength is | 1 | 2 | 3 | 4 | 5 | AP moves by |", "|---|---|---|---|---|---|---|---|"]
    for kind, fault in FAULTS.items():
        cells = []
        for strength in range(5):
            moving = [row for row in rows if (row.kind, row.strength) == (kind, strength) and row.moved >= MOVES]
            cells.append(f"{sum(row.found for row in moving)} of {len(moving)}" if moving else "-")
        sizes = [row.moved for row in rows if row.kind == kind and row.moved < 1]
        span = f"{min(sizes):.3f} to {max(sizes):.3f}" if sizes else "refused"
        lines.append(f"| {fault.title} | {fault.strength} | {' | '.join(cells)} | {span} |")
    moving = [row for row in rows if row.moved >= MOVES]
    found, evaluated = sum(row.found for row in moving), [row for row in moving if row.moved < 1]
    lines.append(
        f"\n{found:,} of {len(moving):,} are found ({found / len(moving):.1%}); without the data that `evaluate` "
        f"refuses, {sum(row.found for row in evaluated):,} of {len(evaluated):,}."
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", help="only these kinds, separated by commas")
    parser.add_argument("--sets", help="only these data sets, separated by commas")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn data sets and of the faults")
    parser.add_argument("--missed", action="store_true", help="list the faults that move AP and are not found")
    parser.add_argument("--json", type=Path, help="write all rows to a file")
    parser.add_argument("--read", type=Path, nargs="+", help="print the table of the rows in these files")
    given = parser.parse_args()
    if given.read:
        print(table([Planted(**row) for path in given.read for row in json.loads(path.read_text(encoding="utf-8"))]))
        return
    chosen = {kind: FAULTS[kind] for kind in (given.kinds.split(",") if given.kinds else FAULTS)}
    sets: dict[str, Any] = {**real(), **{name: drawn(name, given.seed) for name in DRAWN}}
    if given.sets:
        sets = {name: sets[name] for name in given.sets.split(",")}
    rows: list[Planted] = []
    for name, data in sets.items():
        alarms = [finding.code for finding in check(*data) if finding.harmful]
        print(f"{name}: {data[0]}, {data[1]}; false alarms: {alarms or 'none'}", file=sys.stderr, flush=True)
        rows += measure(name, data, chosen, given.seed)
    print(table(rows))
    if given.missed:
        for row in rows:
            if row.moved >= MOVES and not row.found:
                print(row)
    if given.json:
        given.json.write_text(json.dumps([row._asdict() for row in rows], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
