"""Ten made-up populations of images on which confidence intervals of COCO's numbers should be hard.

They were written by somebody who did not know how the intervals are made. Everything in a sample is drawn anew; what
belongs to a population is constant. ``interval_coverage.py`` measures with them.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

import ioukit

Array = np.ndarray
Arrays = dict[str, Any]
Sample = tuple[Arrays, Arrays, Arrays, Array | None]
METRICS = ("AP", "AP50", "APs", "AR100")


class Population(NamedTuple):
    """A population, its numbers of images per sample, and how a sample of n images is drawn from it."""

    title: str
    sizes: tuple[int, ...]
    draw: Callable[..., Sample]
    """Takes ``frames`` if images come in groups: how many images a group has on average."""
    budget: int = 1_500_000
    """How many detections of a model the true numbers take."""
    at_once: int = 2_000
    """How many images are drawn at once for them."""


class Items(NamedTuple):
    """Objects, or places where a detector may see one: logit of the usual score, and blur of the box."""

    image: Array
    category: Array
    boxes: Array
    logit: Array
    blur: Array
    real: Array


class Model(NamedTuple):
    """A detector: own noise of logits, shift of logits at objects, factor of blur, lowest logit, levels of scores."""

    noise: float = 0.5
    shift: float = 0.0
    blur: float = 1.0
    cut: float = -3.0
    levels: int | None = None


def repeat(counts: Array) -> Array:
    """The index of each count, as often as it says."""
    return np.repeat(np.arange(len(counts)), counts)


def far(rng: Generator, number: int) -> Array:
    """Centres so far from each other that boxes do not meet."""
    return rng.uniform(0, 1e6, (number, 2))


def sides(rng: Generator, number: int, median: Array | float, spread: float) -> Array:
    """Widths and heights with log-normal size and aspect."""
    size = np.log(median) + spread * rng.standard_normal(number)
    aspect = 0.2 * rng.standard_normal(number)
    return np.exp(np.stack([size + aspect, size - aspect], axis=1))


def pick(rng: Generator, cumulative: Array, row: Array) -> Array:
    """A class for each element, by the cumulative probabilities in its row."""
    steps = (cumulative + np.arange(len(cumulative))[:, None]).ravel()
    found = np.searchsorted(steps, row + rng.random(len(row)), side="right") - row * cumulative.shape[1]
    return np.minimum(found, cumulative.shape[1] - 1)


def items(  # noqa: PLR0917 - columns
    image: Array, category: Array, centre: Array, size: Array, logit: Array, blur: Array | float, real: bool = True
) -> Items:
    """Items from centres and sizes."""
    number = len(image)
    boxes = np.concatenate([centre - size / 2, size], axis=1)
    return Items(image, category, boxes, logit, np.broadcast_to(blur, number), np.full(number, real))


def background(  # noqa: PLR0917 - what a place may be
    rng: Generator, rate: Array, shares: Array, level: Array | float, spread: float, median: float
) -> Items:
    """Things that are no objects, by rates per image; level is a number, or one per image."""
    image = repeat(rng.poisson(rate))
    number = len(image)
    category = pick(rng, np.cumsum(shares)[None], np.zeros(number, int))
    logit = np.broadcast_to(level, len(rate))[image] + spread * rng.standard_normal(number)
    return items(image, category, far(rng, number), sides(rng, number, median, 0.6), logit, 0.1, real=False)


def join(*parts: Items) -> Items:
    """All items of several sets."""
    return Items(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def sequences(rng: Generator, n: int, frames: int, spread: float) -> Array:
    """Ids of videos whose lengths differ, for n images; the last video is cut."""
    lengths = np.exp(np.log(frames) + spread * rng.standard_normal(n)) if frames > 1 else np.ones(n)
    return repeat(np.maximum(np.rint(lengths), 1).astype(int))[:n]


def emit(rng: Generator, seen: Items, model: Model) -> Arrays:
    """What a model detects, in random order."""
    logit = seen.logit + model.shift * seen.real + model.noise * rng.standard_normal(len(seen.logit))
    kept = rng.permutation(np.flatnonzero(logit > model.cut))
    boxes = seen.boxes[kept]
    error = rng.standard_normal((len(kept), 4)) * (model.blur * seen.blur[kept])[:, None]
    size = boxes[:, 2:] * np.exp(error[:, 2:])
    centre = boxes[:, :2] + boxes[:, 2:] * (0.5 + 0.7 * error[:, :2])
    scores = 1 / (1 + np.exp(-logit[kept]))
    if model.levels:
        scores = np.rint(scores * model.levels) / model.levels
    return {
        "image_ids": seen.image[kept],
        "category_ids": seen.category[kept] + 1,
        "boxes": np.concatenate([centre - size / 2, size], axis=1),
        "scores": scores,
    }


def sample(  # noqa: PLR0917 - all that a sample has
    rng: Generator,
    n: int,
    names: list[str],
    objects: Items,
    seen: Items,
    a: Model,
    b: Model,
    clusters: Array | None = None,
) -> Sample:
    """Truth and detections of both models."""
    truth = {
        "image_ids": objects.image,
        "category_ids": objects.category + 1,
        "boxes": objects.boxes,
        "images": np.arange(n),
        "categories": dict(enumerate(names, start=1)),
    }
    return truth, emit(rng, seen, a), emit(rng, seen, b), clusters


def by_size(size: Array, middle: float, slope: float) -> Array:
    """How much easier large objects are."""
    return slope * np.log(np.sqrt(size.prod(axis=1)) / middle)


def blurred(base: float, logit: Array, slope: float = 0.25) -> Array:
    """Blur that is smaller where the logit is large."""
    return base * np.exp(-slope * np.clip(logit, -4, 5))


def draw_aerial(n: int, rng: Generator) -> Sample:
    """Groups of small, overlapping objects; the flight's height sets both size and difficulty."""
    zoom = 0.35 * rng.standard_normal(n)
    group_image = repeat(rng.poisson(3.5 * rng.gamma(1.2, 1 / 1.2, n)))
    group_class = pick(rng, np.cumsum([[0.7, 0.25, 0.05]], axis=1), np.zeros(len(group_image), int))
    group_centre = rng.uniform(0, 1500, (len(group_image), 2))
    group = repeat(1 + rng.poisson(np.array([8, 4, 2])[group_class]))
    image, category = group_image[group], group_class[group]
    number = len(image)
    size = sides(rng, number, np.array([17, 30, 42])[category] * np.exp(zoom[image]), 0.15)
    centre = group_centre[group] + 1.6 * size.mean(axis=1)[:, None] * rng.standard_normal((number, 2))
    logit = -0.6 + by_size(size, 22, 1.2) + 0.8 * rng.standard_normal(n)[image] + 0.9 * rng.standard_normal(number)
    objects = items(image, category, centre, size, logit, blurred(0.12, logit))
    pairs = np.flatnonzero((group[1:] == group[:-1]) & (rng.random(number - 1) < 0.2))
    merged = items(
        image[pairs],
        category[pairs],
        (centre[pairs] + centre[pairs + 1]) / 2,
        size[pairs] * 1.3,
        logit[pairs] - 0.8,
        0.12,
        real=False,
    )
    clutter = background(rng, 3 * rng.gamma(0.7, 1 / 0.7, n), np.array([0.6, 0.3, 0.1]), -1.2, 1.0, 24)
    seen = join(objects, merged, clutter)
    return sample(rng, n, ["car", "truck", "plane"], objects, seen, Model(cut=-2), Model(0.7, -0.3, 1.1, -2))


def draw_driving(n: int, rng: Generator, frames: int = 12) -> Sample:
    """Drives of uneven length; each has its weather, its traffic and, seldom, cyclists."""
    drive = sequences(rng, n, frames, 0.6)
    number = drive[-1] + 1
    night = rng.gamma(0.8, 1.2, number)
    traffic = rng.gamma(1.5, 1 / 1.5, (number, 3)) * [6.3, 0.63, 0.07]
    traffic[:, 2] *= 4 * (rng.random(number) < 0.25)
    image, category = np.divmod(repeat(rng.poisson(traffic[drive]).ravel()), 3)
    size = sides(rng, len(image), np.array([60, 36, 40])[category], 0.7)
    habit = 0.7 * rng.standard_normal((number, 3))
    logit = (np.array([2.2, 1.2, 0.2]) + habit - night[:, None])[drive[image], category]
    logit = logit + by_size(size, 45, 1.0) + rng.standard_normal(len(image))
    objects = items(image, category, far(rng, len(image)), size, logit, blurred(0.09, logit))
    clutter = background(rng, 2.0 * rng.gamma(1, 1, number)[drive], np.array([0.82, 0.15, 0.03]), -1.3, 1.2, 40)
    return sample(
        rng,
        n,
        ["car", "pedestrian", "cyclist"],
        objects,
        join(objects, clutter),
        Model(),
        Model(0.6, -0.3, 1.08),
        drive,
    )


def draw_cameras(n: int, rng: Generator, frames: int = 20) -> Sample:
    """Fixed cameras: crowds, light, and things that look like a person in every frame."""
    camera = sequences(rng, n, frames, 0.7)
    number = camera[-1] + 1
    light = 1.2 * rng.standard_normal(number)
    crowd = np.exp(0.9 * rng.standard_normal((number, 2)) - 0.4) * [5, 1.2]
    crowd[:, 1] *= rng.random(number) < 0.6
    image, category = np.divmod(repeat(rng.poisson(np.minimum(crowd, 25)[camera]).ravel()), 2)
    distance = np.exp(0.4 * rng.standard_normal(number))[camera[image]]
    size = sides(rng, len(image), np.array([55, 30])[category] * distance, 0.3)
    place = rng.uniform(0, 700, (len(image), 2))
    logit = 1.0 + light[camera[image]] + by_size(size, 45, 0.8) - 0.8 * category + 0.8 * rng.standard_normal(len(image))
    objects = items(image, category, place, size, logit, blurred(0.1, logit))
    fixed = repeat(rng.poisson(0.5, number))
    fixed_logit, fixed_class = 0.8 + 1.2 * rng.standard_normal(len(fixed)), (rng.random(len(fixed)) < 0.3).astype(int)
    fixed_size, fixed_place = sides(rng, len(fixed), 50, 0.4), rng.uniform(0, 700, (len(fixed), 2))
    per_camera = np.bincount(fixed, minlength=number)
    where = repeat(per_camera[camera])
    first = np.cumsum(per_camera) - per_camera
    rank = np.arange(len(where)) - np.repeat(np.cumsum(per_camera[camera]) - per_camera[camera], per_camera[camera])
    which = first[camera[where]] + rank
    ghosts = items(
        where, fixed_class[which], fixed_place[which], fixed_size[which], fixed_logit[which], 0.03, real=False
    )
    clutter = background(rng, np.full(n, 0.8), np.array([0.7, 0.3]), -1.5, 1.0, 45)
    return sample(
        rng, n, ["person", "bag"], objects, join(objects, ghosts, clutter), Model(0.4), Model(0.6, -0.25, 1.1), camera
    )


def draw_factory(n: int, rng: Generator) -> Sample:
    """A detector near perfection: it errs on few images, and there on all parts."""
    bad = (rng.random(n) < 0.03) * rng.exponential(1.5, n)
    image = repeat(1 + rng.poisson(2.5, n))
    category = pick(rng, np.cumsum([[0.5, 0.3, 0.15, 0.05]], axis=1), np.zeros(len(image), int))
    size = sides(rng, len(image), np.array([70, 40, 32, 90])[category], 0.5)
    logit = 4.0 - 2.5 * bad[image] + 0.8 * rng.standard_normal(len(image))
    blur = 0.02 * np.exp(0.35 * rng.standard_normal(len(image)) + bad[image])
    objects = items(image, category, far(rng, len(image)), size, logit, blur)
    clutter = background(rng, 0.05 + bad, np.array([0.4, 0.3, 0.2, 0.1]), 0.5, 1.3, 45)
    return sample(
        rng, n, ["bolt", "nut", "washer", "plate"], objects, join(objects, clutter), Model(), Model(0.6, -0.2, 1.15)
    )


def draw_poor(n: int, rng: Generator) -> Sample:
    """A poor detector: its few hits come from few easy images, among many false positives."""
    easy = np.clip(rng.standard_t(3, n), -4, 5)
    image = repeat(rng.poisson(3 * rng.gamma(1, 1, n)))
    shares = np.array([0.3, 0.2, 0.15, 0.12, 0.09, 0.07, 0.05, 0.02])
    category = pick(rng, np.cumsum(shares)[None], np.zeros(len(image), int))
    size = sides(rng, len(image), 42, 0.7)
    skill = np.array([0.3, -0.5, 0.1, -1.0, 0.6, -0.4, -0.8, 0.2])
    logit = -1.7 + skill[category] + easy[image] + by_size(size, 42, 0.8) + 0.7 * rng.standard_normal(len(image))
    objects = items(image, category, far(rng, len(image)), size, logit, blurred(0.15, logit, 0.2))
    clutter = background(rng, np.full(n, 9.0), 0.5 * shares + 0.0625, -1.2 + 0.4 * easy, 1.1, 40)
    return sample(
        rng, n, [f"kind{k}" for k in range(8)], objects, join(objects, clutter), Model(), Model(0.7, -0.2, 1.05)
    )


def draw_storms(n: int, rng: Generator) -> Sample:
    """Some images on which everything fails, and some with dozens of confident false positives in one region."""
    hard = -5.0 * (rng.random(n) < 0.06) - 0.6 * rng.gamma(0.5, 2, n)
    image = repeat(np.minimum(rng.poisson(1.5 * rng.pareto(1.6, n) + 0.5), 60))
    kind = rng.integers(0, 3, n)
    category = np.where(rng.random(len(image)) < 0.7, kind[image], rng.integers(0, 3, len(image)))
    size = sides(rng, len(image), 50, 0.7)
    logit = 1.8 + hard[image] + by_size(size, 50, 0.7) + 0.9 * rng.standard_normal(len(image))
    objects = items(image, category, far(rng, len(image)), size, logit, blurred(0.08, logit))
    stormy = rng.random(n) < 0.025
    where = repeat(np.minimum(rng.poisson(stormy * 15 * (1 + rng.pareto(1.5, n))), 90))
    middle, storm_class, strength = far(rng, n), rng.integers(0, 3, n), 1.0 + 1.2 * rng.standard_normal(n)
    storm = items(
        where,
        storm_class[where],
        middle[where] + 120 * rng.standard_normal((len(where), 2)),
        sides(rng, len(where), 40, 0.4),
        strength[where] + 0.6 * rng.standard_normal(len(where)),
        0.1,
        real=False,
    )
    clutter = background(rng, np.full(n, 1.0), np.full(3, 1 / 3), -1.2, 1.1, 45)
    return sample(
        rng, n, ["boat", "buoy", "swimmer"], objects, join(objects, storm, clutter), Model(), Model(0.6, -0.3, 1.08)
    )


_fixed = np.random.default_rng(60)
TAIL_SHARES = np.arange(1, 61) ** -1.5 / np.sum(np.arange(1, 61) ** -1.5)
TAIL_SKILL = 1.2 - 0.05 * np.arange(60) + 0.6 * _fixed.standard_normal(60)
TAIL_THEME = _fixed.permutation(np.arange(60) % 6)
TAIL_RIVAL = _fixed.permutation(60)
TAIL_MEDIAN = np.exp(np.log(45) + 0.4 * _fixed.standard_normal(60))
_themes = np.where(np.arange(6)[:, None] == TAIL_THEME, 1.0, 0.12) * TAIL_SHARES
TAIL_CUMULATIVE = np.cumsum(_themes / _themes.sum(axis=1, keepdims=True), axis=1)


def draw_long_tail(n: int, rng: Generator) -> Sample:
    """Sixty classes that come in themes; the rare ones are found worse and taken for others."""
    theme, hard = rng.integers(0, 6, n), 0.7 * rng.standard_normal(n)
    image = repeat(rng.poisson(4 * rng.gamma(2, 0.5, n)))
    category = pick(rng, TAIL_CUMULATIVE, theme[image])
    number = len(image)
    size = sides(rng, number, TAIL_MEDIAN[category], 0.6)
    logit = TAIL_SKILL[category] + hard[image] + by_size(size, 45, 0.7) + rng.standard_normal(number)
    objects = items(image, category, far(rng, number), size, logit, blurred(0.1, logit))
    rival = TAIL_RIVAL[category]
    mixed = np.flatnonzero(rng.random(number) < 0.5 * np.minimum(1, TAIL_SHARES[rival] / TAIL_SHARES[category]))
    taken = Items(*(column[mixed] for column in objects))._replace(
        category=rival[mixed],
        logit=logit[mixed] - 0.3 + 0.8 * rng.standard_normal(len(mixed)),
        real=np.zeros(len(mixed), bool),
    )
    clutter = background(rng, np.full(n, 2.0), 0.8 * TAIL_SHARES + 0.2 / 60, -1.3, 1.2, 45)
    return sample(
        rng,
        n,
        [f"class{k:02}" for k in range(60)],
        objects,
        join(objects, taken, clutter),
        Model(),
        Model(0.7, -0.25, 1.07),
    )


def draw_duplicates(n: int, rng: Generator) -> Sample:
    """No suppression: each object, often half hidden by another one, has several detections."""
    pair_image = repeat(rng.poisson(1.4 * rng.gamma(1.5, 1 / 1.5, n)))
    pair_class = pick(rng, np.cumsum([[0.4, 0.25, 0.2, 0.1, 0.05]], axis=1), np.zeros(len(pair_image), int))
    pair_centre, pair_size = far(rng, len(pair_image)), sides(rng, len(pair_image), 42, 0.6)
    pair = repeat(1 + (rng.random(len(pair_image)) < 0.5))
    image, category, number = pair_image[pair], pair_class[pair], len(pair)
    size = pair_size[pair] * np.exp(0.1 * rng.standard_normal((number, 2)))
    centre = pair_centre[pair] + 0.35 * pair_size[pair] * rng.standard_normal((number, 2))
    hard = 0.8 * rng.standard_normal(n)
    logit = 0.8 + hard[image] + by_size(size, 42, 0.7) + 0.8 * rng.standard_normal(number)
    objects = items(image, category, centre, size, logit, blurred(0.09, logit))
    more = repeat(rng.poisson(2.5 * rng.gamma(1, 1, n)[image]))
    again = Items(*(column[more] for column in objects))
    again = again._replace(logit=again.logit - np.abs(1.2 * rng.standard_normal(len(more))), blur=again.blur * 1.3)
    clutter = background(rng, np.full(n, 1.5), np.full(5, 0.2), -1.3, 1.1, 40)
    return sample(
        rng,
        n,
        ["chair", "table", "lamp", "sofa", "bed"],
        objects,
        join(objects, again, clutter),
        Model(0.3),
        Model(0.5, -0.2, 1.1),
    )


def draw_look_alikes(n: int, rng: Generator) -> Sample:
    """Herds of one of six kinds; each kind has a twin, and whole herds are taken for it."""
    kind = pick(rng, np.cumsum([[0.36, 0.12, 0.24, 0.08, 0.14, 0.06]], axis=1), np.zeros(n, int))
    doubt, hard = 1.3 * rng.standard_normal(n), 0.6 * rng.standard_normal(n)
    image = repeat(1 + np.minimum(rng.poisson(4 * rng.gamma(0.7, 1 / 0.7, n)), 40))
    number = len(image)
    guest = rng.random(number) < 0.1
    category = np.where(guest, kind[image] ^ 1, kind[image])
    size = sides(rng, number, 40 * np.exp(0.5 * rng.standard_normal(n))[image], 0.2)
    centre = 1.5 * size.mean(axis=1)[:, None] * np.sqrt(1 + np.bincount(image, minlength=n))[image][:, None]
    centre = centre * rng.uniform(-0.5, 0.5, (number, 2))
    logit = 1.0 + hard[image] + by_size(size, 40, 0.5) + 0.7 * rng.standard_normal(number)
    side = np.array([1.6, 0.6, 1.4, 0.9, 1.2, 0.4])[category] + doubt[image] * np.where(guest, -1, 1)
    objects = items(image, category, centre, size, logit + np.minimum(side, 0), blurred(0.1, logit))
    twins = objects._replace(
        category=category ^ 1, logit=logit - np.maximum(side, 0) - 0.3, real=np.zeros(number, bool)
    )
    clutter = background(rng, np.full(n, 0.7), np.full(6, 1 / 6), -1.3, 1.0, 40)
    names = ["sheep", "goat", "horse", "donkey", "cow", "yak"]
    return sample(rng, n, names, objects, join(objects, twins, clutter), Model(cut=-2), Model(0.7, -0.2, 1.1, -2))


def draw_traps(n: int, rng: Generator) -> Sample:
    """Most images are empty; scores have ten levels, and detections below 0.3 are cut."""
    visits = (rng.random(n) < 0.12) * (1 + rng.poisson(0.8 * rng.gamma(0.6, 1 / 0.6, n)))
    kind = pick(rng, np.cumsum([[0.7, 0.25, 0.05]], axis=1), np.zeros(n, int))
    hard = 1.0 * rng.standard_normal(n)
    image = repeat(visits)
    size = sides(rng, len(image), np.array([48, 34, 60])[kind[image]], 0.7)
    logit = np.array([1.4, 0.8, 0.3])[kind[image]] + hard[image] + by_size(size, 48, 0.8)
    logit = logit + 0.7 * rng.standard_normal(len(image))
    objects = items(image, kind[image], far(rng, len(image)), size, logit, blurred(0.08, logit))
    clutter = background(rng, 0.25 * rng.gamma(0.4, 2.5, n), np.array([0.6, 0.3, 0.1]), -0.9, 1.1, 45)
    cut = float(np.log(0.3 / 0.7))
    return sample(
        rng,
        n,
        ["deer", "fox", "lynx"],
        objects,
        join(objects, clutter),
        Model(cut=cut, levels=10),
        Model(0.6, -0.2, 1.08, cut, 10),
    )


POPULATIONS: dict[str, Population] = {
    name: Population(title, sizes, draw, *budget)
    for name, title, sizes, draw, *budget in [
        ("aerial", "Dense small objects from the air", (60, 250, 1000), draw_aerial),
        ("driving", "Drives with 90/9/1 % classes", (150, 600, 3000), draw_driving),
        ("cameras", "Fixed cameras that differ", (240, 800, 3000), draw_cameras, 4_000_000),
        ("factory", "A detector near perfection", (60, 300, 1500), draw_factory),
        ("poor", "A poor detector", (100, 500, 2500), draw_poor),
        ("storms", "Failures and storms of false positives", (80, 400, 2000), draw_storms, 5_000_000),
        ("long_tail", "Sixty classes with a long tail", (300, 1000, 3000), draw_long_tail),
        ("duplicates", "Detections without suppression", (60, 300, 1500), draw_duplicates, 3_000_000),
        ("look_alikes", "Herds of look-alike classes", (80, 400, 1500), draw_look_alikes),
        ("traps", "Camera traps, mostly empty", (200, 800, 3000), draw_traps),
    ]
}


def _evaluate(truth: Arrays, detections: Arrays) -> ioukit.Evaluation:
    return ioukit.evaluate(
        ioukit.GroundTruth.from_arrays(**truth), ioukit.Detections.from_arrays(**detections), threads=1
    )


def evaluations(population: Population, n: int, seed: list[int]) -> tuple[list[ioukit.Evaluation], Array | None]:
    """Evaluations of models A and B on a sample of n images, and the clusters of its images if there are any."""
    truth, a, b, clusters = population.draw(n, np.random.default_rng(seed))
    return [_evaluate(truth, a), _evaluate(truth, b)], clusters


BLOCKS = 8
EXPONENT = 0.6  # COCO's AP is too large by about a constant times (number of images of the class) ** -EXPONENT


def _thin(arrays: Arrays, open_: Array, offset: int) -> Arrays:
    """Objects or detections of the open classes, with ids of images that no other chunk has."""
    kept = open_[arrays["category_ids"]]
    columns = {
        key: arrays[key][kept] for key in ("image_ids", "category_ids", "boxes", "scores", "crowd") if key in arrays
    }
    return columns | {"image_ids": columns["image_ids"] + offset}


def large_sample(
    population: Population, seconds: float, rng: Generator
) -> tuple[list[list[Arrays]], dict[int, str], int]:
    """Truth and detections of both models by block; rare classes come from more images than frequent ones."""
    draw, names = population.draw, population.draw(1, rng)[0]["categories"]
    grouped = "frames" in inspect.signature(draw).parameters
    options = {"frames": 1} if grouped else {}  # groups of one image: more independent images
    open_, seen = np.ones(len(names) + 1, bool), np.zeros(len(names) + 1, int)
    parts: list[list[list[Arrays]]] = [[[], [], []] for _ in range(BLOCKS)]
    images, start = 0, time.perf_counter()
    while open_[1:].any() and time.perf_counter() - start < seconds:
        for block in parts:
            drawn = draw(population.at_once, rng, **options)[:3]
            for part, arrays in zip(block, drawn, strict=True):
                part.append(_thin(arrays, open_, images))
            seen += np.bincount(drawn[1]["category_ids"], minlength=len(seen))
            images += population.at_once
        open_ &= seen < population.budget / len(names)
    return [[_stack(part) for part in block] for block in parts], names, images


def _stack(parts: list[Arrays]) -> Arrays:
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def numbers_of(blocks: list[list[Arrays]], names: dict[int, str]) -> Array:
    """The metrics of A and B on some blocks, averaged over classes, and the difference of AP."""
    truth, *both = (_stack(list(parts)) for parts in zip(*blocks, strict=True))
    images = np.unique(np.concatenate([truth["image_ids"], *(detections["image_ids"] for detections in both)]))
    rows = [_evaluate(truth | {"images": images, "categories": names}, detections) for detections in both]
    a, b = (
        [np.nanmean([row.per_class[name].summary[metric] for name in names.values()]) for metric in METRICS]
        for row in rows
    )
    return np.array([*a, b[0] - a[0]])


def compute_true_numbers(population: Population, seconds: float = 40) -> dict[str, Any]:
    """The numbers of A on endlessly many images, and AP of B minus A, extrapolated from blocks."""
    blocks, names, images = large_sample(population, seconds, np.random.default_rng(20261129))
    whole = numbers_of(blocks, names)
    halves = np.array([numbers_of(blocks[k::2], names) for k in range(2)])
    eighths = np.array([numbers_of([block], names) for block in blocks])
    bias = (eighths.mean(axis=0) - whole) / (BLOCKS**EXPONENT - 1)
    bias_by_halves = (halves.mean(axis=0) - whole) / (2**EXPONENT - 1)
    noise = eighths.std(axis=0, ddof=1) / np.sqrt(BLOCKS)
    jumps = halves.mean(axis=0) - whole - (2**EXPONENT - 1) * bias  # large if the highest recall is near a threshold
    error = np.sqrt(noise**2 + (0.5 * bias) ** 2 + jumps**2)
    keys = (*METRICS, "difference")
    least = min(
        len(np.unique(np.concatenate([block[0]["image_ids"][block[0]["category_ids"] == k] for block in blocks])))
        for k in names
    )
    columns = {"errors": error, "uncorrected": whole, "bias": bias, "bias_by_halves": bias_by_halves}
    return (
        dict(zip(keys, (whole - bias).tolist(), strict=True))
        | {key: dict(zip(keys, column.tolist(), strict=True)) for key, column in columns.items()}
        | {"images": images, "images_of_rarest_class": least}
    )


def compute_true_class_numbers(population: Population, seconds: float = 20) -> dict[str, float]:
    """AP of each class of A on endlessly many images, extrapolated from halves."""
    blocks, names, _ = large_sample(population, seconds, np.random.default_rng(20261129))

    def of(parts: list[list[Arrays]]) -> Array:
        truth, found, _ = (_stack(list(each)) for each in zip(*parts, strict=True))
        images = np.unique(np.concatenate([truth["image_ids"], found["image_ids"]]))
        made = _evaluate(truth | {"images": images, "categories": names}, found)
        return np.array([made.per_class[name].summary["AP"] for name in names.values()])

    whole = of(blocks)
    rise = (of(blocks[::2]) + of(blocks[1::2])) / 2 - whole
    return dict(zip(names.values(), (whole - rise / (2**EXPONENT - 1)).tolist(), strict=True))
