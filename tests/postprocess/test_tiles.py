"""Tiles cover the image, and NMS over them as they come is NMS over all of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit.postprocess import Tile
from support import fusion_oracles as oracle


def boxes_of_tiles(seed: int, tiles: list[Tile], count: int) -> list[tuple[Tile, Any, Any, Any]]:
    """Boxes within each tile, in its pixels; scores repeat, and boxes gather at the sides, where tiles meet."""
    rng = np.random.default_rng(seed)
    found = []
    for tile in tiles:
        low = rng.integers(0, [tile.width - 2, tile.height - 2], (count, 2))
        low = np.where(rng.random((count, 1)) < 0.5, low, np.where(low < tile.width // 2, 0, low))
        high = np.minimum(low + rng.integers(1, 30, (count, 2)), [tile.width, tile.height])
        boxes = np.concatenate([low, high], axis=1).astype(np.float32)
        found.append((tile, boxes, np.round(rng.random(count), 2), rng.integers(0, 2, count)))
    return found


def whole(detections: list[tuple[Tile, Any, Any, Any]], threshold: float, order: list[Tile]) -> list[tuple[int, int]]:
    """Greedy NMS over everything, as (tile, row), in the order of the tiles."""
    detections = sorted(detections, key=lambda one: order.index(one[0]))
    boxes = [box for tile, part, _, _ in detections for box in tile.to_image(part).tolist()]
    scores = [score for _, _, part, _ in detections for score in part.tolist()]
    labels = [label for _, _, _, part in detections for label in part.tolist()]
    names = [(order.index(tile), row) for tile, part, _, _ in detections for row in range(len(part))]
    return sorted(names[k] for k in oracle.greedy(boxes, scores, threshold, labels))


def together(batches: list[Any]) -> list[tuple[int, int]]:
    return sorted((int(t), int(r)) for batch in batches for t, r in zip(batch.tiles, batch.rows, strict=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("overlap", [0, 15])
def test_streaming_changes_nothing(seed: int, threshold: float, overlap: int) -> None:
    tiles = ioukit.cut_tiles((150, 110), 50, overlap)
    detections = boxes_of_tiles(seed, tiles, 12)
    expected = whole(detections, threshold, tiles)
    rng = np.random.default_rng(seed)
    for turn in range(2):
        stream = detections if turn == 0 else [detections[k] for k in rng.permutation(len(tiles))]
        batches = list(ioukit.nms_over_tiles(stream, tiles=tiles, iou_threshold=threshold))
        assert together(batches) == expected
        for batch in batches:
            assert (np.diff(batch.scores) <= 0).all()
            for box, score, tile, row in zip(batch.boxes, batch.scores, batch.tiles, batch.rows, strict=True):
                assert_array_equal(box, tiles[tile].to_image(detections[tile][1])[row])
                assert score == detections[tile][2][row]


@pytest.mark.parametrize("metric", ["iom", "diou"])
@pytest.mark.parametrize("seed", range(4))
def test_other_overlaps_stream_too(metric: Any, seed: int) -> None:
    tiles = ioukit.cut_tiles((150, 110), 50, 15)
    detections = boxes_of_tiles(seed, tiles, 12)
    (alone,) = ioukit.nms_over_tiles(
        [(Tile(0, 0, 150, 110, (150, 110)), *joined(detections))],
        tiles=[Tile(0, 0, 150, 110, (150, 110))],
        metric=metric,
    )
    batches = list(ioukit.nms_over_tiles(detections, tiles=tiles, metric=metric))
    assert len(batches) > 1
    rows = np.cumsum([0] + [len(part) for _, part, _, _ in detections])
    assert sorted(alone.rows.tolist()) == sorted(int(rows[tile]) + row for tile, row in together(batches))


def joined(detections: list[tuple[Tile, Any, Any, Any]]) -> tuple[Any, Any, Any]:
    boxes = np.concatenate([tile.to_image(part) for tile, part, _, _ in detections])
    scores, labels = (np.concatenate([one[k] for one in detections]) for k in (2, 3))
    return boxes, scores, labels


def test_what_is_certain_leaves_at_once_and_the_rest_waits() -> None:
    tiles = ioukit.cut_tiles((180, 60), 60, 0)
    nms = ioukit.TiledNms(tiles, iou_threshold=0.5)
    # In the second tile could be nothing that covers more than half of these.
    found = nms.add(tiles[0], [[0, 0, 10, 10], [50, 0, 60, 10]], [0.5, 0.4])
    assert found.rows.tolist() == [0, 1]
    assert nms.pending == 0
    overlapping = ioukit.cut_tiles((180, 60), 70, 15)
    nms = ioukit.TiledNms(overlapping, iou_threshold=0.5)
    found = nms.add(overlapping[0], [[0, 0, 10, 10], [56, 0, 66, 10]], [0.5, 0.4])
    assert found.rows.tolist() == [0]
    assert nms.pending == 1  # the whole of it lies in the next tile too
    found = nms.add(overlapping[1], [], [])
    assert (found.tiles.tolist(), found.rows.tolist(), nms.pending) == ([0], [1], 0)


def test_a_chain_waits_for_its_far_end() -> None:
    """Each box is suppressed by the next, if that stays: the tile at the end decides all of them."""
    tiles = ioukit.cut_tiles((400, 20), 200, 20)
    starts = np.arange(0, 184, 4.0)
    chain = np.stack([starts, 0 * starts, starts + 16, 0 * starts + 20], axis=1)
    scores = np.linspace(0.1, 0.5, len(chain))
    expected: dict[bool, list[int]] = {}
    for suppressed in (True, False):
        nms = ioukit.TiledNms(tiles, iou_threshold=0.5)
        assert len(nms.add(tiles[0], chain, scores).rows) == 0
        assert nms.pending == len(chain)
        late = ([[4, 0, 20, 20]], [0.9]) if suppressed else ([], [])
        found, rest = nms.add(tiles[1], *late), nms.finish()
        expected[suppressed] = sorted(
            int(row) for part in (found, rest) for row, tile in zip(part.rows, part.tiles, strict=True) if tile == 0
        )
        image = [*tiles[0].to_image(chain).tolist(), *(tiles[1].to_image(late[0]).tolist() if suppressed else [])]
        keep = oracle.greedy(image, [*scores.tolist(), *late[1]], 0.5)
        assert expected[suppressed] == sorted(k for k in keep if k < len(chain))
    assert expected[True] != expected[False]
    assert 0 in set(expected[True]) ^ set(expected[False])  # as far as the other end


def test_memory_is_that_of_a_strip() -> None:
    tiles = ioukit.cut_tiles((2_000, 2_000), 200, 40)
    nms, most, total = ioukit.TiledNms(tiles), 0, 0
    for tile, boxes, scores, labels in boxes_of_tiles(0, tiles, 60):
        nms.add(tile, boxes, scores, labels)
        most, total = max(most, nms.pending), total + len(boxes)
    assert nms.pending == 0
    assert most < total / 6


@given(st.integers(0, 1_000))
def test_whole_objects_in_overlapping_tiles_are_those_of_the_whole_image(seed: int) -> None:
    """The condition of the help: tiles overlap by more than the largest object, and what a tile cuts is left out."""
    rng = np.random.default_rng(seed)
    size, count, largest = (int(rng.integers(60, 200)), int(rng.integers(60, 200))), 60, 20
    low = rng.integers(0, [size[0] - 2, size[1] - 2], (count, 2))
    boxes = np.concatenate([low, np.minimum(low + rng.integers(1, largest + 1, (count, 2)), size)], axis=1)
    scores = rng.permutation(count) / count
    tiles = ioukit.cut_tiles(size, 50, largest + 1)
    stream = []
    for tile in tiles:
        x1, y1, x2, y2 = tile.box
        seen = (boxes[:, 0] < x2) & (boxes[:, 2] > x1) & (boxes[:, 1] < y2) & (boxes[:, 3] > y1)
        cut = np.clip(boxes[seen] - [x1, y1] * 2, 0, [tile.width, tile.height] * 2).astype(np.float64)
        whole_ones = (cut == boxes[seen] - [x1, y1] * 2).all(axis=1)
        uncut = ~tile.cuts(cut)
        assert (whole_ones | ~uncut).all()  # what is cut off ends at an inner side
        stream.append((tile, cut[uncut], scores[seen][uncut]))
    found = list(ioukit.nms_over_tiles(stream, tiles=tiles, iou_threshold=0.4))
    expected = oracle.greedy(boxes.tolist(), scores.tolist(), 0.4)
    got = sorted(tuple(box) for batch in found for box in batch.boxes.tolist())
    assert got == sorted(tuple(map(float, boxes[k])) for k in expected)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 30), st.integers(2, 30), st.data())
def test_tiles_cover_the_image(width: int, height: int, wide: int, high: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, wide - 1)), data.draw(st.integers(0, high - 1))
    tiles = ioukit.cut_tiles((width, height), (wide, high), overlap)
    image = np.zeros((height, width), int)
    for tile in tiles:
        x1, y1, x2, y2 = tile.box
        assert (x2 - x1, y2 - y1) == (min(wide, width), min(high, height))
        image[y1:y2, x1:x2] += 1
    assert (image > 0).all()
    assert len(set(tiles)) == len(tiles)
    if wide <= width and high <= height:  # any window as large as the overlap lies in one of them
        for _ in range(5):
            x = data.draw(st.integers(0, width - overlap[0]))
            y = data.draw(st.integers(0, height - overlap[1]))
            box = x, y, x + overlap[0], y + overlap[1]
            assert any(
                t.box[0] <= box[0] and t.box[1] <= box[1] and box[2] <= t.box[2] and box[3] <= t.box[3] for t in tiles
            )


def test_boxes_of_a_tile_in_the_image() -> None:
    tile = Tile(100, 50, 64, 64, (300, 200))
    assert_array_equal(tile.to_image([[1, 2, 3, 5]]), [[101, 52, 103, 55]])
    assert_array_equal(tile.to_image([[1, 2, 2, 3]], format="xywh"), [[101, 52, 2, 3]])
    assert_array_equal(tile.to_image([[2, 3.5, 2, 3]], format="cxcywh"), [[102, 53.5, 2, 3]])
    assert tile.to_image(np.zeros((0, 4), np.float32)).shape == (0, 4)
    far = Tile(2**25, 0, 64, 64, (2**26, 64))
    assert far.to_image(np.array([[0.25, 0, 1, 1]], np.float32))[0, 0] == 2**25 + 0.25
    with pytest.raises(ValueError, match="boxes are normalized, expected pixels of the tile"):
        tile.to_image(ioukit.Boxes([[0, 0, 1, 1]], normalized=True))


def test_cuts_names_what_reaches_an_inner_side() -> None:
    boxes = [[0, 10, 10, 20], [10, 0, 20, 10], [54, 10, 64, 20], [10, 54, 20, 64], [10, 10, 20, 20]]
    inside = Tile(64, 64, 64, 64, (192, 192))
    assert inside.cuts(boxes).tolist() == [True, True, True, True, False]
    assert Tile(0, 0, 64, 64, (192, 64)).cuts(boxes).tolist() == [False, False, True, False, False]
    assert inside.cuts(boxes, margin=10).tolist() == [True] * 5


def test_bad_tiles() -> None:
    for arguments, message in (
        (((0, 10), 5), "image_size and tile_size must be positive, got (0, 10) and 5"),
        (((10, 10), 5, 5), "overlap must be at least 0 and smaller than the tile, 5, got 5"),
        (((10, 10), (5, 5, 5)), "tile_size must be (x, y), got (5, 5, 5)"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            ioukit.cut_tiles(*arguments)
    with pytest.raises(TypeError, match=r"tile_size must be whole numbers of pixels, got 5\.5"):
        ioukit.cut_tiles((10, 10), 5.5)  # type: ignore[arg-type]


def test_bad_streams() -> None:
    tiles = ioukit.cut_tiles((100, 60), 60, 20)
    with pytest.raises(ValueError, match="a tile is in tiles twice"):
        ioukit.TiledNms([*tiles, tiles[0]])
    nms = ioukit.TiledNms(tiles)
    with pytest.raises(ValueError, match=r"boxes\[1\] is .* reaches out of a tile of 60 x 60: clip it first"):
        nms.add(tiles[0], [[0, 0, 9, 9], [50, 0, 61, 9]], [0.5, 0.5])
    nms.add(tiles[0], [[0, 0, 9, 9]], [0.5], [1])
    with pytest.raises(ValueError, match="was added before"):
        nms.add(tiles[0], [], [])
    with pytest.raises(ValueError, match="is none of the tiles"):
        nms.add(Tile(1, 1, 60, 60, (100, 60)), [], [])
    with pytest.raises(ValueError, match="labels must come with all tiles or with none"):
        nms.add(tiles[1], [[0, 0, 9, 9]], [0.5])


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    (tile,) = tiles = ioukit.cut_tiles((60, 60), 60)
    found = ioukit.TiledNms(tiles).add(tile, torch.tensor([[0.0, 0, 9, 9]]), torch.tensor([0.5]))
    assert isinstance(found.boxes, torch.Tensor)
    assert_allclose(found.boxes.numpy(), [[0, 0, 9, 9]])
