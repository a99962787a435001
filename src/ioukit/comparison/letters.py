"""Groups of models that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["groups_not_apart"]


def groups_not_apart(count: int, apart: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The largest groups without two members that are apart, in the order of their first members.

    Two members that are not apart share at least one group; two that are apart share none. Every member has a group.

    Args:
        count: How many members there are: 0 to ``count - 1``.
        apart: The pairs of members that are apart.

    Reference: Piepho, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, Journal of
    Computational and Graphical Statistics 13, 2004: insert and absorb.

    Examples:
        >>> from ioukit.comparison.letters import groups_not_apart
        >>> groups_not_apart(3, [(0, 2)])
        [(0, 1), (1, 2)]
    """
    groups = [frozenset(range(count))] if count else []
    for pair in apart:
        split = [group for group in groups if group.issuperset(pair)]
        groups = [group for group in groups if group not in split]
        for part in (group - {member} for group in split for member in pair):
            if not any(part <= other for other in groups):
                groups = [other for other in groups if not other < part] + [part]
    return sorted(tuple(sorted(group)) for group in groups)
