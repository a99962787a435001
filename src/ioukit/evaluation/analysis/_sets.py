"""Matching of two sets: the pairs with the largest sum of overlaps in which each member is at most once."""

from __future__ import annotations

import numpy as np

from ioukit._array_types import Floats, Rows


def matched_edges(first: Rows, second: Rows, weight: Floats) -> Rows:
    """(M,) the pairs of a matching with the largest sum of weights, in ascending order.

    Args:
        first: (P,) numbers of members of one set.
        second: (P,) numbers of members of the other set; no pair is listed twice.
        weight: (P,) weights above 0.
    """
    if not len(first):
        return np.zeros(0, np.int64)
    a, b = np.unique(first, return_inverse=True)[1], np.unique(second, return_inverse=True)[1]
    found: list[Rows] = []
    rest = np.ones(len(first), np.bool_)
    # Most pairs are alone, or share one member with all their neighbours: the best of them is in the matching.
    for centre, other in ((a, b), (b, a)):
        shared = np.bincount(centre, np.bincount(other)[other] > 1)[centre] > 0
        stars = np.flatnonzero(rest & ~shared)
        order = stars[np.lexsort((stars, -weight[stars], centre[stars]))]
        found.append(order[np.flatnonzero(np.append(True, np.diff(centre[order]) != 0)[: len(order)])])
        rest[stars] = False
    left = np.flatnonzero(rest)
    for part in _parts(a[left], b[left]):
        edges = left[part]
        rows, columns = np.unique(a[edges], return_inverse=True)[1], np.unique(b[edges], return_inverse=True)[1]
        if rows.max() > columns.max():
            rows, columns = columns, rows
        found.append(edges[_best(rows, columns, weight[edges])])
    return np.sort(np.concatenate(found))


def _parts(first: Rows, second: Rows) -> list[Rows]:
    """The pairs that are connected, for each connected part."""
    if not len(first):
        return []
    # Each pair takes the lowest number of the pairs that it shares a member with, until nothing changes.
    label = np.arange(len(first))
    while True:
        before = label
        for members in (first, second):
            lowest = np.full(int(members.max()) + 1, len(first))
            np.minimum.at(lowest, members, label)
            label = lowest[members]
        if (label == before).all():
            break
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _best(rows: Rows, columns: Rows, weight: Floats) -> Rows:
    """The pairs of the best matching of a connected part, by the Hungarian algorithm with potentials.

    There are at most as many rows as columns. A column of its own stands for each row that stays alone.
    """
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    cost = np.zeros((height, width + height))
    cost[rows, columns] = -weight
    # Row 0 and column 0 are the start of each search.
    of_row, of_column = np.zeros(height + 1), np.zeros(width + height + 1)
    match = np.zeros(width + height + 1, np.int64)
    for row in range(1, height + 1):
        match[0] = row
        column = 0
        least = np.full(width + height + 1, np.inf)
        way = np.zeros(width + height + 1, np.int64)
        used = np.zeros(width + height + 1, np.bool_)
        while match[column]:
            used[column] = True
            of = match[column]
            reduced = cost[of - 1] - of_row[of] - of_column[1:]
            better = np.flatnonzero(~used[1:] & (reduced < least[1:])) + 1
            least[better], way[better] = reduced[better - 1], column
            open_columns = np.flatnonzero(~used)
            following = open_columns[int(np.argmin(least[open_columns]))]
            step = least[following]
            of_row[match[used]] += step
            of_column[used] -= step
            least[~used] -= step
            column = following
        while column:
            before = way[column]
            match[column] = match[before]
            column = before
    return np.flatnonzero(match[columns + 1] == rows + 1)
