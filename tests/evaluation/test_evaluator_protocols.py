"""`Evaluator` with every protocol: dicts of boxes where they are enough, columns where they are not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import ioukit
from evaluation.loop_batches import batch_of, data_of_images, random_images
from ioukit.datasets import IdLists
from ioukit.evaluation import Evaluator
from ioukit.evaluation.protocols.registry import PROTOCOLS
from parity.same_bits import assert_same_bits


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_is_followed_or_refuses_the_dicts_at_once(name: str) -> None:
    protocol = PROTOCOLS[name]
    images = random_images(9, 12, dtype=np.float64)
    try:
        expected = ioukit.evaluate(*data_of_images(images), protocol)
    except ioukit.DatasetError:
        evaluator = Evaluator(protocol)
        with pytest.raises(ioukit.DatasetError, match="expected"):
            evaluator.update(*batch_of(images))
        assert len(evaluator) == 0
        return
    evaluator = Evaluator(protocol)
    for start in range(0, 12, 3):
        evaluator.update(*batch_of(images[start : start + 3]))
    assert_same_bits(list(evaluator.compute().summary.values()), list(expected.summary.values()), "summary")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_columns_carry_what_protocols_need(name: str) -> None:
    gt, dt = data_of_images(random_images(9, 12, dtype=np.float64))
    gt = dataclasses.replace(
        gt,
        flags={flag: np.zeros(len(gt), bool) for flag in ("easy", "moderate", "hard", "medium", "crowd")}
        | {PROTOCOLS[name].area_labels[0]: np.ones(len(gt), bool)},
        images=dataclasses.replace(
            gt.images,
            sizes=np.full((12, 2), 640.0),
            attributes={
                key: IdLists.of([[0, 1]] * 12)
                for key in (
                    *("neg_category_ids", "not_exhaustive_category_ids"),
                    *("positive_category_ids", "negative_category_ids"),
                )
            },
        ),
        attributes={"visibility": np.ones(len(gt)), "occluded": np.zeros(len(gt)), "truncated": np.zeros(len(gt))},
        categories=dataclasses.replace(gt.categories, attributes={"frequency": np.array(["r", "c", "f"])}),
    )
    try:
        expected = ioukit.evaluate(gt, dt, PROTOCOLS[name])
    except (ioukit.DatasetError, ValueError) as error:
        pytest.skip(f"needs other columns: {error}")
    evaluator = Evaluator(PROTOCOLS[name])
    for start in range(0, 12, 5):
        ids = gt.images.ids[start : start + 5]
        evaluator.update(dt.filter(images=ids), gt.filter(images=ids))
    assert_same_bits(list(evaluator.compute().summary.values()), list(expected.summary.values()), "summary")
