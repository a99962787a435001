"""How often chance alone shows what bounds say: permutation tests beside the bounds of a gate."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ioukit.runs.gate.gate_result import PERMUTATIONS, Finding, RuleCheck
from ioukit.runs.gate.rules import Rule
from ioukit.statistics.comparing import PermutationTests, permutation_tests
from ioukit.statistics.detectable import alarm
from ioukit.statistics.evidence import Evidence

ROUNDING = 1e-12
"""Of sums of numbers within 0 and 1."""


class ByChance:
    """Permutation tests of differences, which are made when they are first asked for."""

    def __init__(self, evidence: Evidence, keys: Sequence[str]) -> None:
        self._evidence, self._keys = evidence, keys

    def confirmed(self, rule: Rule, checks: Sequence[RuleCheck], certainty: float, *, strict: bool) -> list[RuleCheck]:
        """The checks of a rule, in doubt where chance alone would often show what their bounds say.

        Args:
            rule: The rule.
            checks: What its bounds show.
            certainty: How certain the data must be.
            strict: Whether it must be shown that the rule holds, too: doubt does not pass.
        """
        bounded = [check for check in checks if not math.isnan(check.low)]
        chances: dict[str, float] = {}
        if any(check.finding == "broken" for check in bounded):
            corrected = self._corrected([check.key for check in checks], certainty, falls=rule.forbids_low)
            chances = {check.key: corrected[check.key] for check in bounded if check.finding == "broken"}
        at_limit = dict(chances)
        for check in bounded:
            gain = check.difference if rule.forbids_low else -check.difference
            if strict and check.finding == "holds" and gain > rule.limit + ROUNDING:
                # Every class must hold, so none needs a correction.
                chances[check.key] = self._p_value(check.key, falls=not rule.forbids_low)
                at_limit[check.key] = with_margin(chances[check.key], rule.limit, gain)
        if not chances:
            return list(checks)
        highest = max(alarm(certainty), self._smallest)
        findings: dict[str, Finding] = {key: "in doubt" for key, p_value in at_limit.items() if not p_value <= highest}
        return [
            dataclasses.replace(
                check,
                finding=findings.get(check.key, check.finding),
                p_value=chances.get(check.key, math.nan),
                permutations=len(self._tests.swapped) if check.key in chances else 0,
            )
            for check in checks
        ]

    @cached_property
    def _tests(self) -> PermutationTests:
        one = dataclasses.replace(self._evidence, replicates=1, further=2 * PERMUTATIONS)
        return permutation_tests(one, PERMUTATIONS, all_if_few=True)

    @property
    def _smallest(self) -> float:
        """The smallest p-value that there is: more certainty than that of all permutations cannot be asked for."""
        return max(1 / (1 + self._tests.asked), 0.5**self._tests.num_clusters)

    def _p_value(self, key: str, *, falls: bool) -> float:
        """The one-sided p-value of a difference."""
        at, sign = self._keys.index(key), -1 if falls else 1
        observed, swapped = sign * self._tests.observed[at], sign * self._tests.swapped[:, at]
        # A permutation whose number is undefined counts.
        share = float(1 + np.count_nonzero(~(swapped < observed - ROUNDING))) / (1 + len(swapped))
        return max(share, 2.0 ** -int(self._tests.differing[at]))  # other images have no say

    def _corrected(self, keys: Sequence[str], certainty: float, *, falls: bool) -> dict[str, float]:
        """The one-sided p-values of differences, corrected for their number as `compare` does it for classes."""
        if len(keys) == 1:
            return {keys[0]: self._p_value(keys[0], falls=falls)}
        columns, sign = [self._keys.index(key) for key in keys], -1 if falls else 1
        one_sided = dataclasses.replace(
            self._tests,
            observed=np.maximum(sign * self._tests.observed[columns], 0),
            swapped=np.maximum(sign * self._tests.swapped[:, columns], 0),
            clusters=self._tests.clusters[columns],
            differing=self._tests.differing[columns] + 1,  # one-sided p-values are half as large
        )
        # A class is not hopeless because no number of permutations that is made reaches the certainty.
        level = min(certainty, 1 - 2 * self._smallest)
        return dict(zip(keys, one_sided.adjusted(slice(None), "westfall-young", level), strict=True))


def with_margin(p_value: float, margin: float, gain: float) -> float:
    """The p-value of a gain, where a loss of a margin is allowed.

    Of k images that differ, all favour one of two equal models with a probability of ``(1 / 2) ** k``. If the model is
    worse by the margin, each of them favours it with ``(1 - margin / gain) / 2`` only: such images lose the margin
    where images of which all favour it win the gain.

    Args:
        p_value: The p-value without a margin.
        margin: The loss that is allowed, at least 0 and below the gain.
        gain: How much better the number is.
    """
    return math.pow(p_value, 1 - math.log2(1 - margin / gain))
