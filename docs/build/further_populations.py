"""Ten further made-up populations of images on which confidence intervals of COCO's numbers should be hard.

They were written, as those of ``detector_populations.py`` were, by somebody who did not know how the intervals are
made. Groups of images have ``frames`` images on average; with one, each image is a group, and what it shows is
distributed as in long groups, so that the true numbers are precise.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from detector_populations import (
    Array,
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
    repeat,
    sample,
    sequences,
    sides,
)
from numpy.random import Generator


def take(seen: Items, chosen: Array, **changes: Any) -> Items:
    """Some of the items, with some columns changed."""
    return Items(*(column[chosen] for column in seen))._replace(**changes)


def shake(rng: Generator, seen: Items) -> Items:
    """Items whose boxes already have their error, so that two detectors share it."""
    error = rng.standard_normal((len(seen.image), 4)) * seen.blur[:, None]
    size = seen.boxes[:, 2:] * np.exp(error[:, 2:])
    centre = seen.boxes[:, :2] + seen.boxes[:, 2:] * (0.5 + 0.7 * error[:, :2])
    boxes = np.concatenate([centre - size / 2, size], axis=1)
    return seen._replace(boxes=boxes, blur=np.zeros(len(boxes)))


def one_class(rng: Generator, number: int, shares: Any) -> Array:
    """A class for each of ``number`` elements."""
    return np.minimum(np.searchsorted(np.cumsum(shares), rng.random(number), side="right"), len(shares) - 1)


LESION_SHARES, LESION_LENGTH, LESION_SPREAD = np.array([0.55, 0.3, 0.15]), np.array([0.7, 1.0, 1.6]), 0.5
_normal = np.array([NormalDist().inv_cdf((k + 0.5) / 5000) for k in range(5000)])
_mean_length = np.maximum(np.rint(10 * LESION_LENGTH[:, None] * np.exp(LESION_SPREAD * _normal)), 1).mean(axis=1)
LESION_BY_SLICE = LESION_SHARES * _mean_length / np.sum(LESION_SHARES * _mean_length)


def draw_lesions(n: int, rng: Generator, frames: int = 10) -> Sample:
    """Patients with one lesion or many; those with many have more slices, and smaller lesions."""
    if frames == 1:
        patient, kind = np.arange(n), one_class(rng, n, LESION_BY_SLICE)
    else:  # starts somewhere in an endless row of patients, so that slices are those of the population
        kind = one_class(rng, n + 200, LESION_SHARES)
        length = frames * LESION_LENGTH[kind] * np.exp(LESION_SPREAD * rng.standard_normal(n + 200))
        start = 40 * frames + int(rng.integers(0, 10 * frames))
        patient = repeat(np.maximum(np.rint(length), 1).astype(int))[start : start + n]
        kind, patient = kind[patient[0] :], patient - patient[0]
    number = patient[-1] + 1
    kind = kind[:number]
    rate = np.array([0.5, 1.5, 6.0])[kind] * rng.gamma(3, 1 / 3, number)
    image = repeat(rng.poisson(rate[patient]))
    who = patient[image]
    typical = np.array([26, 20, 14])[kind] * np.exp(0.3 * rng.standard_normal(number))
    size = sides(rng, len(image), typical[who], 0.35)
    skill = np.array([1.3, 1.0, 0.6])[kind] + 1.0 * rng.standard_normal(number)
    logit = skill[who] + by_size(size, 20, 0.9) + 0.8 * rng.standard_normal(len(image))
    objects = items(image, np.zeros(len(image), int), far(rng, len(image)), size, logit, blurred(0.12, logit))
    vessels = 1.3 * rng.gamma(0.7, 1 / 0.7, number)
    clutter = background(
        rng, vessels[patient], np.ones(1), (-1.0 + 0.6 * rng.standard_normal(number))[patient], 0.9, 18
    )
    return sample(rng, n, ["lesion"], objects, join(objects, clutter), Model(), Model(0.6, -0.2, 1.08), patient)


def draw_shelves(n: int, rng: Generator, frames: int = 5) -> Sample:
    """Shelves of shops: dozens of products per image, sometimes more than 100; each shop has its own style."""
    shop = sequences(rng, n, frames, 0.3)
    number = shop[-1] + 1
    density = np.minimum(48 * np.exp(0.6 * rng.standard_normal(number)), 220)
    tags = density * rng.beta(1.5, 4, number)
    image, category = np.divmod(repeat(rng.poisson(np.stack([density, tags], axis=1)[shop]).ravel()), 2)
    where = shop[image]
    typical = np.stack([70 * (48 / density) ** 0.5, np.full(number, 27.0)], axis=1)
    typical *= np.exp(0.25 * rng.standard_normal((number, 2)))
    size = sides(rng, len(image), typical[where, category], 0.2)
    style = np.array([2.2, 0.8]) + np.array([0.9, 1.3]) * rng.standard_normal((number, 2))
    loose = np.exp(0.35 * rng.standard_normal(number))
    view = 0.5 * rng.standard_normal(n)
    logit = style[where, category] + view[image] + 0.8 * rng.standard_normal(len(image))
    blur = blurred(0.07, logit, 0.2) * loose[where]
    objects = items(image, category, far(rng, len(image)), size, logit, blur)
    clutter = background(rng, (0.12 * density * rng.gamma(1, 1, number))[shop], np.array([0.7, 0.3]), -0.6, 1.2, 45)
    return sample(
        rng, n, ["product", "tag"], objects, join(objects, clutter), Model(cut=-2), Model(0.6, -0.2, 1.06, -2), shop
    )


def draw_fog(n: int, rng: Generator) -> Sample:
    """One image in ten has fog: there A sees ghosts and hardly an object; B is A made robust, else nearly the same."""
    fog = rng.random(n) < 0.1
    thick = fog * rng.gamma(4, 0.25, n)
    image = repeat(rng.poisson(4 * rng.gamma(1.5, 1 / 1.5, n)))
    number = len(image)
    category = one_class(rng, number, [0.6, 0.27, 0.13])
    size = sides(rng, number, np.array([50, 34, 70])[category], 0.6)
    logit = np.array([2.0, 1.2, 0.6])[category] + by_size(size, 45, 0.9) + 1.1 * rng.standard_normal(number)
    objects = items(image, category, far(rng, number), size, logit, blurred(0.09, logit))
    usual = background(rng, np.full(n, 1.2), np.array([0.5, 0.3, 0.2]), -1.2, 1.1, 42)
    ghosts = background(rng, 10 * thick, np.array([0.4, 0.2, 0.4]), 0.9, 1.1, 50)
    seen = shake(rng, join(objects, usual, ghosts))
    ghost = np.arange(len(seen.image)) >= len(seen.image) - len(ghosts.image)
    loss = thick[seen.image] * seen.real
    first = seen._replace(logit=seen.logit - 3.0 * loss)
    second = seen._replace(logit=seen.logit - 0.8 * loss - 2.2 * ghost)
    truth = sample(rng, n, ["car", "person", "truck"], objects, objects, Model(), Model())[0]
    return truth, emit(rng, first, Model(0.15)), emit(rng, second, Model(0.25)), None


def draw_documents(n: int, rng: Generator, frames: int = 8) -> Sample:
    """Pages of documents: nearly all is found, and most scores, also of errors, are 1.00 or 0.98."""
    document = sequences(rng, n, frames, 0.6)
    number = document[-1] + 1
    rate = np.array([7.0, 1.4, 0.45, 0.7, 2.5]) * rng.gamma(
        [4, 2, 0.7, 0.8, 1], [0.25, 0.5, 1 / 0.7, 1.25, 1], (number, 5)
    )
    rate[:, 4] *= rng.random(number) < 0.4
    image, category = np.divmod(repeat(rng.poisson(rate[document]).ravel()), 5)
    where = document[image]
    style = 1.3 * rng.standard_normal((number, 5)) + 0.7 * rng.standard_normal(number)[:, None]
    size = sides(rng, len(image), np.array([120, 42, 150, 140, 30])[category], 0.5)
    side = np.sqrt(size.prod(axis=1))  # texts, tables and figures are never small
    size = size * np.where((category != 1) & (category != 4) & (side < 36), 36 / side, 1)[:, None]
    logit = np.array([6.0, 5.0, 4.2, 4.6, 3.6])[category] + style[where, category] + rng.standard_normal(len(image))
    blur = np.array([0.025, 0.06, 0.05, 0.05, 0.07])[category] * np.exp(0.5 * rng.standard_normal(len(image)))
    blur = blur * np.exp(-0.2 * np.clip(style[where, category], -4, 3))
    objects = items(image, category, far(rng, len(image)), size, logit, blur)
    taken = np.flatnonzero(rng.random(len(image)) < 1 / (1 + np.exp(1.8 + style[where, category])))  # table as figure
    other = np.array([1, 0, 3, 2, 0])[category[taken]]
    taken = take(objects, taken, category=other, logit=objects.logit[taken] - 0.5, real=np.zeros(len(taken), bool))
    odd = 0.5 * rng.gamma(0.6, 1 / 0.6, number)
    clutter = background(rng, odd[document], np.array([0.2, 0.25, 0.2, 0.2, 0.15]), 3.2, 1.8, 70)
    names = ["text", "title", "table", "figure", "formula"]
    seen = join(objects, taken, clutter)
    a, b = Model(0.5, cut=-2, levels=50), Model(0.7, -0.2, 1.1, cut=-2, levels=50)
    return sample(rng, n, names, objects, seen, a, b, document)


def draw_crowds(n: int, rng: Generator) -> Sample:
    """Streets by day and night: quiet ones, busy ones, squares; many people in crowds are not labelled one by one."""
    place, night = one_class(rng, n, [0.58, 0.3, 0.12]), rng.random(n) < 0.25
    people = np.array([1.5, 8.0, 32.0])[place] * rng.gamma(3, 1 / 3, n)
    image = repeat(rng.poisson(people))
    number = len(image)
    height = np.array([60, 45, 30])[place][image] * np.exp(0.4 * rng.standard_normal(n))[image]
    size = sides(rng, number, height, 0.3) * [0.7, 1.4]
    centre = rng.uniform(0, 1, (number, 2)) * [1200, 500]
    hard = 0.6 * rng.standard_normal(n) - 1.6 * night
    logit = 1.6 + hard[image] - 0.5 * place[image] + by_size(size, 45, 0.9) + 0.9 * rng.standard_normal(number)
    everybody = items(image, np.zeros(number, int), centre, size, logit, blurred(0.1, logit))
    corner, extent = rng.uniform(0, 1, (n, 2)) * [800, 300], rng.uniform([150, 120], [600, 300], (n, 2))
    has_crowd = rng.random(n) < np.array([0.03, 0.4, 0.8])[place]
    inside = np.all((centre > corner[image]) & (centre < (corner + extent)[image]), axis=1) & has_crowd[image]
    labelled = ~inside | (rng.random(number) < 0.2)
    persons = take(everybody, labelled)
    bicycle = repeat(rng.poisson(np.array([0.25, 0.9, 1.5])[place] * rng.gamma(0.8, 1.25, n)))
    bicycle_size = sides(rng, len(bicycle), 48, 0.5)
    bicycle_logit = 0.7 + hard[bicycle] + by_size(bicycle_size, 48, 0.9) + rng.standard_normal(len(bicycle))
    bicycles = items(
        bicycle,
        np.ones(len(bicycle), int),
        far(rng, len(bicycle)),
        bicycle_size,
        bicycle_logit,
        blurred(0.11, bicycle_logit),
    )
    clutter = background(rng, np.array([0.6, 1.2, 2.5])[place] + 0.8 * night, np.array([0.8, 0.2]), -1.1, 1.1, 42)
    truth, a, b, _ = sample(
        rng,
        n,
        ["person", "bicycle"],
        join(persons, bicycles),
        join(everybody, bicycles, clutter),
        Model(),
        Model(0.6, -0.25, 1.08),
    )
    regions = np.flatnonzero(has_crowd)
    crowd = np.concatenate([np.zeros(len(truth["image_ids"]), bool), np.ones(len(regions), bool)])
    truth["image_ids"] = np.concatenate([truth["image_ids"], regions])
    truth["category_ids"] = np.concatenate([truth["category_ids"], np.ones(len(regions), int)])
    truth["boxes"] = np.concatenate([truth["boxes"], np.concatenate([corner, extent], axis=1)[regions]])
    truth["crowd"] = crowd
    return truth, a, b, None


def draw_ships(n: int, rng: Generator, frames: int = 12) -> Sample:
    """Tiles of satellite scenes: open sea, coasts and ports; three in four are empty, and one scene in five decides."""
    scene = sequences(rng, n, frames, 0.5)
    number = scene[-1] + 1
    kind = one_class(rng, number, [0.48, 0.3, 0.22])
    rate = np.array([0.06, 0.4, 4.0])[kind] * rng.gamma(1.2, 1 / 1.2, number)
    image = repeat(np.minimum(rng.poisson(rate[scene] * rng.gamma(0.45, 1 / 0.45, n)), 90))
    where = scene[image]
    resolution = np.exp(0.35 * rng.standard_normal(number))
    size = sides(rng, len(image), 26 * resolution[where], 0.5)
    sky = np.array([1.2, 0.4, -0.5])[kind] + 0.9 * rng.standard_normal(number)
    logit = sky[where] + by_size(size, 26, 1.0) + 0.8 * rng.standard_normal(len(image))
    objects = items(image, np.zeros(len(image), int), far(rng, len(image)), size, logit, blurred(0.12, logit))
    waves = np.array([0.3, 0.6, 1.4])[kind] * rng.gamma(0.5, 2, number)
    level = -0.9 + 0.7 * rng.standard_normal(number)
    clutter = background(rng, waves[scene], np.ones(1), level[scene], 1.0, 26)
    return sample(rng, n, ["ship"], objects, join(objects, clutter), Model(), Model(0.7, -0.15, 1.06), scene)


def draw_scratches(n: int, rng: Generator) -> Sample:
    """Parts of which one in twenty has scratches; found, but with poor boxes or in two pieces; dust on good parts."""
    bad = rng.random(n) < 0.05
    image = repeat(bad * (1 + rng.poisson(1.2 * rng.gamma(0.6, 1 / 0.6, n))))
    number = len(image)
    finish, worn = rng.standard_normal(n), rng.standard_normal(n)
    size = sides(rng, number, 44, 0.6) * np.array([2.0, 0.5])
    logit = 1.0 + 0.9 * finish[image] + by_size(size, 44, 0.6) + 0.7 * rng.standard_normal(number)
    blur = 0.12 * np.exp(0.5 * worn[image] + 0.3 * rng.standard_normal(number))
    objects = items(image, np.zeros(number, int), far(rng, number), size, logit, blur)
    broken = rng.random(number) < 1 / (1 + np.exp(1.1 - 1.2 * worn[image]))
    whole = take(objects, ~broken | (rng.random(number) < 0.4))
    pieces = np.flatnonzero(np.repeat(broken, 2))
    cut = rng.uniform(0.3, 0.7, number)
    piece_of, second = np.repeat(np.arange(number), 2)[pieces], (np.arange(2 * number) % 2)[pieces]
    boxes = objects.boxes[piece_of].copy()
    boxes[:, 0] += second * cut[piece_of] * boxes[:, 2]
    boxes[:, 2] *= np.where(second, 1 - cut[piece_of], cut[piece_of])
    parts = take(
        objects,
        piece_of,
        boxes=boxes,
        real=np.zeros(len(piece_of), bool),
        logit=objects.logit[piece_of] + 0.6 * rng.standard_normal(len(piece_of)) - 0.3,
    )
    clutter = background(rng, 0.12 * np.exp(0.6 * worn - 0.18), np.ones(1), -0.9, 1.1, 40)
    return sample(rng, n, ["scratch"], objects, join(whole, parts, clutter), Model(), Model(0.6, -0.2, 1.12))


def draw_annotators(n: int, rng: Generator, frames: int = 10) -> Sample:
    """Batches of annotators: some draw loose boxes, some tight ones, some leave out many objects."""
    batch = sequences(rng, n, frames, 0.3)
    number = batch[-1] + 1
    image = repeat(rng.poisson(5 * rng.gamma(1.2, 1 / 1.2, n)))
    category = one_class(rng, len(image), [0.65, 0.25, 0.1])
    who = batch[image]
    size = sides(rng, len(image), np.array([38, 46, 60])[category], 0.5)
    logit = np.array([1.8, 1.2, 0.8])[category] + 0.7 * rng.standard_normal(n)[image]
    logit = logit + by_size(size, 42, 0.8) + 0.8 * rng.standard_normal(len(image))
    fruit = items(image, category, far(rng, len(image)), size, logit, blurred(0.06, logit))
    scale = np.exp(0.04 + 0.11 * rng.standard_normal((number, 1)) + 0.03 * rng.standard_normal((number, 2)))
    shift = 0.05 * rng.standard_normal((number, 2))
    drawn = size * scale[who] * np.exp(0.04 * rng.standard_normal((len(image), 2)))
    centre = fruit.boxes[:, :2] + size / 2 + size * shift[who]
    labels = fruit._replace(boxes=np.concatenate([centre - drawn / 2, drawn], axis=1))
    careless = rng.beta(0.7, 4.5, number)
    ease = 1.5 / (1 + np.exp(0.8 * (by_size(size, 42, 1.0))))
    labels = take(labels, rng.random(len(image)) > careless[who] * ease)
    clutter = background(rng, np.full(n, 1.0), np.array([0.5, 0.3, 0.2]), -1.3, 1.1, 40)
    return sample(
        rng, n, ["apple", "pear", "plum"], labels, join(fruit, clutter), Model(), Model(0.6, -0.2, 1.15), batch
    )


def draw_insects(n: int, rng: Generator) -> Sample:
    """Sticky traps with one insect or hundreds: the more there are, the harder each; one species rules each trap."""
    expected = np.minimum(4 * np.exp(1.2 * rng.standard_normal(n)), 180)
    image = repeat(rng.poisson(expected))
    number = len(image)
    weight = rng.gamma(0.5, 1, (n, 3)) * [0.6, 0.4, 0.25] + 1e-9
    cumulative = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    category = np.minimum((rng.random(number)[:, None] > cumulative[image]).sum(axis=1), 2)
    dense = np.log(expected / 4)
    size = sides(rng, number, np.array([40, 30, 24])[category] * np.exp(-0.12 * dense[image]), 0.3)
    hard = 0.8 * dense + 0.5 * rng.standard_normal(n)
    logit = (
        np.array([1.3, 0.4, -0.2])[category] - hard[image] + by_size(size, 32, 0.8) + 0.8 * rng.standard_normal(number)
    )
    objects = items(image, category, far(rng, number), size, logit, blurred(0.1, logit))
    debris = background(rng, 0.5 + 0.4 * expected, np.array([0.4, 0.35, 0.25]), -1.4 + 0.25 * dense, 1.0, 30)
    names = ["fly", "moth", "aphid"]
    return sample(rng, n, names, objects, join(objects, debris), Model(cut=-2.5), Model(0.7, -0.1, 1.05, -2.5))


def draw_surgery(n: int, rng: Generator, frames: int = 10) -> Sample:
    """Operations that use some of five instruments; the last one, in a quarter of them, is taken for the first."""
    operation = sequences(rng, n, frames, 0.4)
    number = operation[-1] + 1
    used = rng.random((number, 5)) < [0.95, 0.8, 0.6, 0.4, 0.27]
    share = used * rng.beta(2, 2, (number, 5))
    image, category = np.nonzero(rng.random((n, 5)) < share[operation])
    where = operation[image]
    size = sides(rng, len(image), 52 * np.exp(0.2 * rng.standard_normal(number))[where], 0.55)
    smoke = 0.8 * rng.standard_normal(number)
    skill = np.array([3.2, 2.6, 1.8, 1.2, 0.4]) + np.array([0.5, 0.7, 0.9, 1.2, 1.6]) * rng.standard_normal((number, 5))
    logit = skill[where, category] + smoke[where] + by_size(size, 52, 0.8) + 0.8 * rng.standard_normal(len(image))
    objects = items(image, category, far(rng, len(image)), size, logit, blurred(0.09, logit))
    unsure = np.flatnonzero((category >= 3) & (rng.random(len(image)) < 0.6))
    wrong = take(
        objects,
        unsure,
        category=np.where(category[unsure] == 4, 0, 2),
        real=np.zeros(len(unsure), bool),
        logit=1.2 - 0.7 * skill[where, category][unsure] + 0.8 * rng.standard_normal(len(unsure)),
    )
    clutter = background(rng, (0.5 * rng.gamma(1, 1, number))[operation], np.full(5, 0.2), -1.0, 1.1, 50)
    names = ["grasper", "hook", "scissors", "clipper", "bag"]
    seen = join(objects, wrong, clutter)
    return sample(rng, n, names, objects, seen, Model(), Model(0.6, -0.25, 1.1), operation)


POPULATIONS: dict[str, Population] = {
    name: Population(title, sizes, draw, budget=1_200_000, at_once=20_000 if name == "scratches" else 2_000)
    for name, title, sizes, draw in [
        ("lesions", "Patients with one lesion or many", (200, 800), draw_lesions),
        ("shelves", "Shops with dozens of products per image", (80, 300), draw_shelves),
        ("fog", "A detector that collapses in fog", (90, 600), draw_fog),
        ("documents", "Documents, most scores tied at the top", (180, 700), draw_documents),
        ("crowds", "Streets and squares with crowd regions", (80, 500), draw_crowds),
        ("ships", "Satellite tiles, mostly empty", (250, 1000), draw_ships),
        ("scratches", "Defects on one part in twenty", (400, 1500), draw_scratches),
        ("annotators", "Annotators who differ", (180, 800), draw_annotators),
        ("insects", "Sticky traps with one insect or hundreds", (50, 350), draw_insects),
        ("surgery", "Operations with few instruments", (200, 850), draw_surgery),
    ]
}
