"""Eight made-up populations of images, of the kind of ``further_populations.py``, held back until the end.

They were written by somebody who did not know how the intervals are made, after everything about the limits had been
decided. The first four are plausible everyday data (``parcels`` is the plain one), the last four are nasty. Groups of
images have ``frames`` images on average; with one, each image is a group, and what it shows is distributed as in long
groups.
"""

from __future__ import annotations

import numpy as np
from detector_populations import (
    Array,
    Arrays,
    Items,
    Model,
    Population,
    Sample,
    background,
    blurred,
    by_size,
    emit,
    far,
    items,
    join,
    pick,
    repeat,
    sample,
    sequences,
    sides,
)
from further_populations import one_class, shake, take
from numpy.random import Generator

_fixed = np.random.default_rng(804)


def truth_of(rng: Generator, n: int, names: list[str], objects: Items) -> Arrays:
    """Only the truth of a sample."""
    return sample(rng, n, names, objects, take(objects, np.zeros(0, int)), Model(), Model())[0]


def shown(rng: Generator, owner: Array, chance: Array, group: Array) -> tuple[Array, Array]:
    """Things that belong to groups, each visible in some of its group's images: which thing, in which image."""
    length = np.bincount(group)
    start = np.cumsum(length) - length
    which = np.repeat(np.arange(len(owner)), length[owner])
    rank = np.arange(len(which)) - (np.cumsum(length[owner]) - length[owner])[which]
    seen = rng.random(len(which)) < chance[which]
    return which[seen], (start[owner[which]] + rank)[seen]


def draw_parcels(n: int, rng: Generator) -> Sample:
    """A sorting belt: independent images with a handful of parcels of three frequent classes; nothing is hard."""
    image = repeat(rng.poisson(4.0, n))
    category = one_class(rng, len(image), [0.5, 0.3, 0.2])
    size = sides(rng, len(image), np.array([64, 50, 38])[category], 0.5)
    logit = np.array([1.6, 1.2, 0.9])[category] + 0.3 * rng.standard_normal(n)[image]
    logit = logit + by_size(size, 50, 0.7) + rng.standard_normal(len(image))
    objects = items(image, category, far(rng, len(image)), size, logit, blurred(0.08, logit))
    clutter = background(rng, np.full(n, 1.0), np.array([0.45, 0.3, 0.25]), -1.2, 1.1, 45)
    return sample(rng, n, ["box", "bag", "tube"], objects, join(objects, clutter), Model(), Model(0.6, -0.2, 1.06))


SIGNS, FAMILIES = 110, 5
SIGN_SHARES = np.arange(1, SIGNS + 1) ** -0.75 / np.sum(np.arange(1, SIGNS + 1) ** -0.75)
SIGN_FAMILY = _fixed.permutation(np.arange(SIGNS) % FAMILIES)
SIGN_RIVAL = np.array(
    [_fixed.choice(np.flatnonzero((SIGN_FAMILY[k] == SIGN_FAMILY) & (np.arange(SIGNS) != k))) for k in range(SIGNS)]
)
SIGN_SKILL = 1.5 - 0.008 * np.arange(SIGNS) + 0.5 * _fixed.standard_normal(SIGNS)
SIGN_SURE = 2.2 - 0.012 * np.arange(SIGNS) + 0.8 * _fixed.standard_normal(SIGNS)


def draw_signs(n: int, rng: Generator) -> Sample:
    """Traffic signs of 110 classes, one pole or two per image; B is better for rare classes alone."""
    night = rng.random(n) < 0.2
    pole_image = repeat(rng.poisson(1.6 * rng.gamma(2, 0.5, n)))
    pole_size = 30 * np.exp(0.5 * rng.standard_normal(len(pole_image)))
    pole = repeat(1 + (rng.random(len(pole_image)) < 0.3))
    image, number = pole_image[pole], len(pole)
    category = one_class(rng, number, SIGN_SHARES)
    size = sides(rng, number, pole_size[pole], 0.1)
    hard = 0.5 * rng.standard_normal(n) - 1.0 * night
    logit = SIGN_SKILL[category] + hard[image] + by_size(size, 30, 1.2) + 0.8 * rng.standard_normal(number)
    objects = items(image, category, far(rng, number), size, logit, blurred(0.08, logit))
    sure = SIGN_SURE[category] + by_size(size, 30, 0.8) - 0.5 * night[image] + 1.2 * rng.standard_normal(number)
    own = objects._replace(logit=logit + np.minimum(sure, 0))
    unsure = np.flatnonzero(sure < 1.5)
    other = take(
        objects,
        unsure,
        category=SIGN_RIVAL[category[unsure]],
        logit=logit[unsure] - 1.5 * np.maximum(sure[unsure], 0) - 0.3,
        real=np.zeros(len(unsure), bool),
    )
    clutter = background(rng, 0.5 + 0.4 * night, 0.6 * SIGN_SHARES + 0.4 / SIGNS, -1.0, 1.0, 28)
    seen = join(own, other, clutter)
    balanced = seen._replace(logit=seen.logit + (0.4 * (seen.category > 40) - 0.25) * (1 + seen.real))
    names = [f"sign{k:03}" for k in range(SIGNS)]
    return truth_of(rng, n, names, objects), emit(rng, seen, Model()), emit(rng, balanced, Model()), None


def draw_broadcast(n: int, rng: Generator, frames: int = 10) -> Sample:
    """Matches with a tiny ball, and referees taken for players where shirts are alike; B is A trained again."""
    match = sequences(rng, n, frames, 0.5)
    number = match[-1] + 1
    close = rng.random(n) < rng.beta(2, 6, number)[match]
    rate = np.where(close[:, None], [2.0, 0.15, 0.1, 0.25], [11.0, 0.9, 0.5, 0.75])
    image, category = np.divmod(repeat(rng.poisson(rate).ravel()), 4)
    where = match[image]
    zoom = np.exp(0.25 * rng.standard_normal(number)[match] + 0.15 * rng.standard_normal(n) + 1.2 * close)
    size = sides(rng, len(image), np.array([46, 46, 46, 13])[category] * zoom[image], 0.18)
    light = 0.5 * rng.standard_normal(number)
    habit = np.array([0.3, 0.6, 0.8, 1.1]) * rng.standard_normal((number, 4))
    logit = np.array([2.6, 1.6, 1.3, 0.0])[category] + (habit + light[:, None])[where, category]
    logit = logit + 0.4 * rng.standard_normal(n)[image] + 0.9 * rng.standard_normal(len(image))
    logit = logit + 0.6 * np.log(zoom[image]) - 1.0 * (close[image] & (category == 3))
    objects = items(image, category, far(rng, len(image)), size, logit, blurred(0.08, logit))
    shirts = 1.5 + 1.5 * rng.standard_normal((number, 4))
    doubt = shirts[where, category] + 0.7 * rng.standard_normal(len(image))
    own = objects._replace(logit=logit + np.where((category == 1) | (category == 2), np.minimum(doubt, 0), 0))
    unsure = np.flatnonzero(((category == 1) | (category == 2)) & (doubt < 1))
    taken = take(
        objects,
        unsure,
        category=np.zeros(len(unsure), int),
        logit=logit[unsure] - np.maximum(doubt[unsure], 0),
        real=np.zeros(len(unsure), bool),
    )
    bench = background(rng, (1.2 * rng.gamma(0.7, 1 / 0.7, number))[match], np.array([0.8, 0.12, 0.08, 0]), -0.6, 1, 42)
    spots = background(rng, (0.7 * rng.gamma(0.7, 1 / 0.7, number))[match], np.array([0, 0, 0, 1.0]), -1, 1, 12)
    names = ["player", "referee", "keeper", "ball"]
    return sample(rng, n, names, objects, join(own, taken, bench, spots), Model(), Model(), match)


GOODS = 45
GOODS_SHARES = (np.arange(1, GOODS + 1) + 1.0) ** -1.15 / np.sum((np.arange(1, GOODS + 1) + 1.0) ** -1.15)
GOODS_TWIN = np.minimum(np.arange(GOODS) ^ 1, GOODS - 1)
GOODS_TWIN[-1] = 20
GOODS_MEDIAN = np.where(np.arange(GOODS) % 8 >= 6, 30.0, 150.0) * np.exp(0.2 * _fixed.standard_normal(GOODS))
GOODS_SURE = 2.3 - 0.02 * np.arange(GOODS) + 0.7 * _fixed.standard_normal(GOODS)


def draw_returns(n: int, rng: Generator) -> Sample:
    """Goods of 45 classes in pairs, some labelled wrongly; A has only scores above one half, B has all scores of A."""
    image = repeat((rng.random(n) < 0.95) * (1 + (rng.random(n) < 0.12)))
    number = len(image)
    category = one_class(rng, number, GOODS_SHARES)
    size = sides(rng, number, GOODS_MEDIAN[category], 0.35)
    side = np.sqrt(size.prod(axis=1))  # only every fourth pair of classes is ever small
    size = size * np.where((category % 8 < 6) & (side < 40), 40 / side, 1)[:, None]
    sure = GOODS_SURE[category] + 0.8 * rng.standard_normal(n)[image] + 1.1 * rng.standard_normal(number)
    logit = 0.3 + 0.9 * np.abs(sure) + by_size(size, 90, 0.3) + 0.4 * rng.standard_normal(number)
    blur = 0.035 * np.exp(0.4 * rng.standard_normal(number))
    things = items(image, category, far(rng, number), size, logit, blur)
    labels = things._replace(category=np.where(rng.random(number) < 0.05, GOODS_TWIN[category], category))
    found = things._replace(category=np.where(sure < 0, GOODS_TWIN[category], category))
    empty = background(rng, np.full(n, 0.12), 0.5 * GOODS_SHARES + 0.5 / GOODS, -0.2, 1.0, 90)
    seen = shake(rng, join(found, empty))
    names = [f"goods{k:02}" for k in range(GOODS)]
    a, b = Model(0, cut=0.0), Model(0, cut=-3.0)
    return truth_of(rng, n, names, labels), emit(rng, seen, a), emit(rng, seen, b), None


def draw_endoscopy(n: int, rng: Generator, frames: int = 16) -> Sample:
    """Lesions that are found, or not, in all frames; A is wrong in the second hospital, B is worse in the first."""
    patient = sequences(rng, n, frames, 0.6)
    number = patient[-1] + 1
    second = rng.random(number) < 0.22
    view = 0.5 * rng.standard_normal(number)
    rate = np.stack([np.where(second, 0.9, 0.7), np.full(number, 0.3), np.where(second, 0.1, 0.2)], axis=1)
    owner, kind = np.divmod(repeat(rng.poisson(rate).ravel()), 3)
    chance = rng.beta(1.2, 2.5, len(owner))
    skill = np.array([1.7, 0.1, 1.0])[kind] + np.array([1.1, 1.3, 1.3])[kind] * rng.standard_normal(len(owner))
    typical = np.array([48, 36, 70])[kind] * np.exp(0.4 * rng.standard_normal(len(owner)))
    loose = np.exp(0.3 * rng.standard_normal(len(owner)))
    which, image = shown(rng, owner, chance, patient)
    size = sides(rng, len(which), typical[which], 0.3)
    logit = skill[which] + view[owner[which]] + by_size(size, 45, 0.6) + 0.5 * rng.standard_normal(len(which))
    objects = items(image, kind[which], far(rng, len(which)), size, logit, blurred(0.09, logit) * loose[which])
    fold_owner = repeat(rng.poisson(np.where(second, 2.0, 0.9)))
    fold_chance, fold_level = rng.beta(0.8, 3, len(fold_owner)), 1.1 * rng.standard_normal(len(fold_owner)) - 0.3
    fold_kind = one_class(rng, len(fold_owner), [0.5, 0.35, 0.15])
    fold_side = 45 * np.exp(0.4 * rng.standard_normal(len(fold_owner)))
    fold, fold_image = shown(rng, fold_owner, fold_chance, patient)
    folds = items(
        fold_image,
        fold_kind[fold],
        far(rng, len(fold)),
        sides(rng, len(fold), fold_side[fold], 0.2),
        fold_level[fold] + 0.4 * rng.standard_normal(len(fold)),
        0.1,
        real=False,
    )
    specks = background(rng, (0.4 * rng.gamma(0.6, 1 / 0.6, number))[patient], np.array([0.5, 0.3, 0.2]), -1.2, 0.9, 38)
    seen = join(objects, folds, specks)
    there = second[patient[seen.image]]
    first = seen._replace(logit=seen.logit + there * np.where(seen.real, -0.9, 1.4))
    both = seen._replace(logit=seen.logit + np.where(there, 0.0, np.where(seen.real, -0.25, 0.1)))
    names = ["polyp", "flat", "ulcer"]
    return truth_of(rng, n, names, objects), emit(rng, first, Model(0.4)), emit(rng, both, Model(0.4)), patient


PARTS, DESIGNS = 36, 12
DESIGN_SHARES = np.array([0.19, 0.15, 0.12, 0.11, 0.09, 0.08, 0.07, 0.05, 0.04, 0.04, 0.03, 0.03])
_common = np.where(_fixed.random((DESIGNS, 10)) < 0.8, _fixed.integers(1, 5, (DESIGNS, 10)), 0)
_special = np.zeros((DESIGNS, PARTS - 10), int)
for _part in range(PARTS - 10):  # each special part is on one design or two
    _on = {_part % DESIGNS, int(_fixed.integers(0, DESIGNS))} if _part % 2 else {_part % DESIGNS}
    _special[list(_on), _part] = _fixed.integers(1, 7)
_common[0] = np.maximum(_common[0], 1)
DESIGN_PARTS = np.concatenate([_common, _special], axis=1)
PART_MEDIAN = np.exp(np.log(38) + 0.6 * _fixed.standard_normal(PARTS))
PART_MEDIAN[(PART_MEDIAN > 27) & (PART_MEDIAN < 40)] *= 0.66  # a part is either always small or never
PART_BLUR = 0.018 * np.exp(0.3 * _fixed.standard_normal(PARTS))
PART_TWIN = _fixed.permutation(PARTS)


def draw_boards(n: int, rng: Generator) -> Sample:
    """Boards of 12 designs; all is found but for a few out of focus, for A, and a few that are not fully labelled."""
    design = one_class(rng, n, DESIGN_SHARES)
    image, category = np.divmod(repeat(DESIGN_PARTS[design].ravel()), PARTS)
    number = len(image)
    size = PART_MEDIAN[category][:, None] * np.exp(0.05 * rng.standard_normal((number, 2)))
    unfocused = (rng.random(n) < 0.04) * np.minimum(rng.exponential(1.5, n), 3.0)
    logit = 4.5 + 0.7 * rng.standard_normal(number)
    parts = items(image, category, far(rng, number), size, logit, PART_BLUR[category])
    skipped = (rng.random(n) < 0.025)[:, None] & (rng.random((n, PARTS)) < 0.4)
    labels = take(parts, ~skipped[image, category])
    mixed = np.flatnonzero(rng.random(number) < 0.004 + 0.25 * np.minimum(unfocused, 1)[image])
    taken = take(
        parts,
        mixed,
        category=PART_TWIN[category[mixed]],
        logit=logit[mixed] - 2.0 + rng.standard_normal(len(mixed)),
        real=np.zeros(len(mixed), bool),
    )
    clutter = background(rng, 0.1 + 3 * unfocused, np.full(PARTS, 1 / PARTS), 1.0, 1.3, 34)
    seen = join(parts, taken, clutter)
    lack = unfocused[seen.image]
    first = seen._replace(logit=seen.logit - 2.2 * lack * seen.real, blur=seen.blur * np.exp(0.9 * lack))
    other = seen._replace(logit=seen.logit - 0.6 * lack * seen.real, blur=seen.blur * np.exp(0.3 * lack) * 1.07)
    names = [f"part{k:02}" for k in range(PARTS)]
    return truth_of(rng, n, names, labels), emit(rng, first, Model()), emit(rng, other, Model()), None


def draw_sonar(n: int, rng: Generator) -> Sample:
    """Sonar images, five in six empty, with echoes of what is found; only sand has objects that stand out."""
    sand = rng.random(n) < 0.25
    visits = (rng.random(n) < 0.17) * (1 + rng.poisson(0.9 * rng.gamma(0.6, 1 / 0.6, n)))
    image = repeat(visits)
    number = len(image)
    category = one_class(rng, number, [0.6, 0.28, 0.12])
    size = sides(rng, number, np.array([24, 38, 22])[category], 0.5)
    calm = 1.0 * rng.standard_normal(n) + np.where(sand, 1.1, -1.3)
    logit = np.array([-0.5, 0.0, -1.3])[category] + calm[image] + by_size(size, 26, 0.8)
    logit = logit + 0.8 * rng.standard_normal(number)
    objects = items(image, category, far(rng, number), size, logit, blurred(0.17, logit))
    stones = background(
        rng, np.where(sand, 2.5, 14.0) * rng.gamma(1, 1, n), np.array([0.5, 0.2, 0.3]), -1.5 + 0.2 * calm, 1.0, 26
    )
    seen = join(objects, stones)
    echo = np.flatnonzero(rng.random(len(seen.image)) < 0.35)
    echoes = take(
        seen,
        echo,
        boxes=seen.boxes[echo] + np.array([500, 0, 0, 0]),
        logit=seen.logit[echo] + 0.3 * rng.standard_normal(len(echo)),
        real=np.zeros(len(echo), bool),
    )
    names = ["pot", "wreck", "mine"]
    a, b = Model(0.4, cut=-2.5, levels=40), Model(0.6, -0.15, 1.05, -2.5, 40)
    return sample(rng, n, names, objects, join(seen, echoes), a, b)


SPECIES = np.cumsum([[0.62, 0.23, 0.15]], axis=1)


def draw_wildlife(n: int, rng: Generator) -> Sample:
    """Drone images, six in seven empty, the others with one animal or a herd; B differs from A in large herds alone."""
    herd = np.minimum(np.floor((rng.random(n) < 0.14) * (1 + rng.pareto(1.0, n))), 220).astype(int)
    kind = pick(rng, SPECIES, np.zeros(n, int))
    image = repeat(herd)
    number = len(image)
    dense = np.log(np.maximum(herd, 1))
    height = np.array([46, 80, 40])[kind] * np.exp(-0.16 * dense + 0.3 * rng.standard_normal(n))
    size = sides(rng, number, height[image], 0.15)
    guest = rng.random(number) < 0.04
    category = np.where(guest, 0, kind[image])
    hard = 0.25 * dense - 0.8 * rng.standard_normal(n)
    logit = (
        np.array([1.4, 2.4, 0.6])[category] - hard[image] + by_size(size, 45, 0.6) + 0.8 * rng.standard_normal(number)
    )
    objects = items(image, category, far(rng, number), size, logit, blurred(0.1, logit))
    neighbours = np.flatnonzero((image[1:] == image[:-1]) & (rng.random(max(number - 1, 0)) < 0.25))
    merged = take(
        objects,
        neighbours,
        boxes=objects.boxes[neighbours] * np.array([1, 1, 1.8, 1.2]),
        logit=logit[neighbours] + 0.5,
        real=np.zeros(len(neighbours), bool),
    )
    bushes = background(rng, 0.35 * rng.gamma(0.4, 2.5, n), np.array([0.6, 0.15, 0.25]), -0.7, 1.0, 38)
    seen = shake(rng, join(objects, merged, bushes))
    large = herd[seen.image] > 25
    is_merged = np.zeros(len(seen.image), bool)
    is_merged[number : number + len(neighbours)] = True
    better = seen._replace(logit=seen.logit + large * np.where(is_merged, -2.5, 0.9 * seen.real))
    names = ["antelope", "elephant", "ostrich"]
    return truth_of(rng, n, names, objects), emit(rng, seen, Model(0.1)), emit(rng, better, Model(0.1)), None


POPULATIONS: dict[str, Population] = {
    name: Population(title, sizes, draw, budget, at_once)
    for name, title, sizes, draw, budget, at_once in [
        ("parcels", "Parcels on a belt, a plain control", (60, 300, 1200), draw_parcels, 1_500_000, 2_000),
        ("signs", "Traffic signs of 110 classes", (200, 600, 1500), draw_signs, 1_800_000, 10_000),
        ("broadcast", "Matches with a tiny ball", (150, 500, 1500), draw_broadcast, 1_200_000, 2_000),
        (
            "returns",
            "Returned goods, one per image, above a threshold",
            (200, 600, 1500),
            draw_returns,
            1_200_000,
            10_000,
        ),
        ("endoscopy", "Patients of two hospitals", (200, 600, 1500), draw_endoscopy, 1_200_000, 10_000),
        ("boards", "Circuit boards, nearly all found", (40, 200, 1000), draw_boards, 1_200_000, 2_000),
        ("sonar", "Sonar, nearly nothing found", (200, 600, 1500), draw_sonar, 1_500_000, 5_000),
        ("wildlife", "Drones over animals, few herds decide", (200, 600, 1500), draw_wildlife, 1_500_000, 10_000),
    ]
}
