"""A scene as a detector in training sees it, and the assignment rules as papers have them: tables, in plain PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def scene(count: int, objects: int, classes: int = 80) -> tuple[Any, ...]:
    """Predictions, scores, objects, labels, points, strides (float32) and the number of cells of each level."""
    rng = np.random.default_rng(0)
    side = 640 * (count / 8400) ** 0.5
    size = np.exp(rng.uniform(np.log(10), np.log(0.6 * side), (objects, 2)))
    low = rng.uniform(0, 1, (objects, 2)) * (side - size)
    gt = np.concatenate([low, low + size], axis=1)
    labels = rng.integers(0, classes, objects)
    cells = round(side / 8)
    levels = [cells * 8 // stride for stride in (8, 16, 32)]
    point_rows, stride_rows = [], []
    for stride, n in zip((8, 16, 32), levels, strict=True):
        y, x = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        point_rows.append((np.stack([x, y], -1).reshape(-1, 2) + 0.5) * stride)
        stride_rows.append(np.full(n * n, stride))
    points, strides = np.concatenate(point_rows), np.concatenate(stride_rows)
    # Predictions as a half-trained detector makes them: near an object where one is, of any size elsewhere.
    near = rng.integers(0, objects, len(points))
    inside: Any = (points[:, None] > gt[None, :, :2]).all(-1) & (points[:, None] < gt[None, :, 2:]).all(-1)
    near = np.where(inside.any(1), inside.argmax(1), near)
    half = np.exp(rng.normal(0, 0.3, (len(points), 2))) * strides[:, None] * 2
    predictions = np.concatenate([points - half, points + half], axis=1)
    chosen = inside.any(1)
    predictions[chosen] = gt[near[chosen]] + rng.normal(0, 4, (chosen.sum(), 4))
    predictions[:, 2:] = np.maximum(predictions[:, 2:], predictions[:, :2] + 1)
    scores = rng.beta(1, 20, (len(points), classes))

    def small(array: Any) -> Any:
        return array.astype(np.float32)

    return small(predictions), small(scores), small(gt), labels, small(points), small(strides), [n * n for n in levels]


def iou_table(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    size = (
        torch.minimum(first[:, None, 2:], second[None, :, 2:]) - torch.maximum(first[:, None, :2], second[None, :, :2])
    ).clamp(min=0)
    inter = size[..., 0] * size[..., 1]
    areas = [(boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) for boxes in (first, second)]
    return inter / (areas[0][:, None] + areas[1][None] - inter).clamp(min=1e-9)


def inside_table(points: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    low, high = points[None] - boxes[:, None, :2], boxes[:, None, 2:] - points[None]
    return torch.cat([low, high], dim=2).amin(dim=2)


def task_aligned(predictions: Any, scores: Any, gt: Any, labels: Any, points: Any) -> torch.Tensor:
    overlap = iou_table(gt, predictions)
    metric = scores[:, labels].T * overlap**6
    values, place = metric.topk(13, dim=1)
    mask = torch.zeros_like(metric, dtype=torch.bool).scatter_(1, place, values > 0)
    mask &= inside_table(points, gt) > 0.01
    overlap = overlap.masked_fill(~mask, -1)
    best, target = overlap.max(dim=0)
    return torch.where(best >= 0, target, -1)


def simota(predictions: Any, scores: Any, gt: Any, labels: Any, points: Any, strides: Any) -> torch.Tensor:
    in_gt = inside_table(points, gt) > 0
    centre, half = (gt[:, None, :2] + gt[:, None, 2:]) / 2, 2.5 * strides[None, :, None]
    in_centre = ((points[None] - centre).abs() < half).all(dim=2)
    valid = torch.nonzero((in_gt | in_centre).any(dim=0))[:, 0]
    both = (in_gt & in_centre)[:, valid]
    overlap = iou_table(gt, predictions[valid])
    wanted = torch.nn.functional.one_hot(labels, scores.shape[1]).float()[:, None].expand(-1, len(valid), -1)
    given = scores[valid][None].expand(len(gt), -1, -1)
    cost = torch.nn.functional.binary_cross_entropy(given, wanted, reduction="none").sum(dim=2)
    cost = cost - 3 * torch.log(overlap + 1e-7) + 1e5 * ~both
    k = overlap.topk(min(10, len(valid)), dim=1).values.sum(dim=1).int().clamp(min=1)
    match = torch.zeros_like(cost, dtype=torch.bool)
    for row in range(len(gt)):
        match[row, cost[row].topk(int(k[row]), largest=False).indices] = True
    twice = match.sum(dim=0) > 1
    match[:, twice] = False
    match[cost[:, twice].argmin(dim=0), torch.nonzero(twice)[:, 0]] = True
    target = torch.full((len(predictions),), -1)
    target[valid] = torch.where(match.any(dim=0), match.int().argmax(dim=0), -1)
    return target


def atss(anchors: Any, gt: Any, levels: list[int]) -> torch.Tensor:
    overlap = iou_table(anchors, gt)
    centres, own = (anchors[:, :2] + anchors[:, 2:]) / 2, (gt[:, :2] + gt[:, 2:]) / 2
    distance = (centres[:, None] - own[None]).pow(2).sum(dim=-1).sqrt()
    places, start = [], 0
    for size in levels:
        places.append(distance[start : start + size].topk(9, dim=0, largest=False).indices + start)
        start += size
    place = torch.cat(places)
    candidates = overlap.gather(0, place)
    threshold = candidates.mean(dim=0) + candidates.std(dim=0)
    inside = inside_table(centres, gt).T.gather(0, place) > 0.01
    chosen = (candidates >= threshold) & inside
    table = torch.full_like(overlap, -1).scatter_(0, place, torch.where(chosen, candidates, -1))
    best, target = table.max(dim=1)
    return torch.where(best >= 0, target, -1)
