"""The main numbers of a data set in words, for a terminal, a notebook or a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit._words_and_colours import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_LONGEST_NAME = 40
_OVERLAPS = {"boxes": "boxes", "RotatedBoxes": "rotated boxes", "Polygons": "polygons"}
_VALUES = {
    "box_share": "share of the upright box",
    "angle": "angle in degrees",
    "labelled": "labelled points per object",
    "visible": "visible points per object",
    "length": "length",
    "width": "width",
    "height": "height",
}


def facts(numbers: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The name and the text of each line.

    Args:
        numbers: What ``Inspection.to_dict`` returns.
    """
    return list(_facts(numbers))


def _facts(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    objects = numbers["objects"]
    if numbers["format"]:
        yield "format", numbers["format"]
    yield "images", _images(numbers)
    each = numbers["objects_per_image"]
    words = [f"{objects:,}"]
    if each["count"]:
        words.append(
            f"per image {_number(each['mean'])}, median {_number(each['median'])}, most {each['maximum']:,.0f}"
        )
    yield "objects", "; ".join(words)
    without = numbers["classes_without_objects"]
    yield "classes", f"{len(numbers['classes']):,}" + (f"; {without:,} without objects" if without else "")
    flags = [f"{name} {count:,}" for name, count in numbers["flags"].items() if count]
    if flags:
        yield "flags", ", ".join(flags)
    if not objects:
        return
    yield "sizes", ", ".join(f"{name} {_share(count, objects)}" for name, count in numbers["sizes"].items())
    yield "sides", f"square root of the area: {_range(numbers['sides'])} pixels"
    if numbers["image_shares"]["count"]:
        shares = {name: None if value is None else 100 * value for name, value in numbers["image_shares"].items()}
        yield "image share", f"area of the box over that of the image: {_range(shares, ' %')}"
    if numbers["aspect_ratios"]["count"]:
        yield "shapes", f"width / height: {_range(numbers['aspect_ratios'])}"
    if numbers["positions"]["outside"]:
        yield "positions", f"{_share(numbers['positions']['outside'], objects)} of the centres are outside of the image"
    yield from _overlaps(numbers["overlaps"])
    for kind in numbers["regions"]:
        spreads = [f"{_VALUES.get(name, name)}: {_range(found)}" for name, found in kind["values"].items()]
        yield kind["title"], "; ".join([f"{_share(kind['count'], objects)} of the objects", *spreads])
    pairs = numbers["classes_together"][:3]
    if pairs:
        names = (f"{_short(pair['first'])} and {_short(pair['second'])} ({pair['images']:,})" for pair in pairs)
        yield "together", ", ".join(names)


def _images(numbers: Mapping[str, Any]) -> str:
    words = [f"{numbers['images']:,}"]
    if numbers["images_without_objects"]:
        words.append(f"{numbers['images_without_objects']:,} without objects")
    sizes = numbers["image_sizes"]
    if sizes["most"]:
        size, different = sizes["most"][0], sizes["different"]
        named = f"{size['width']} x {size['height']}"
        words.append(f"all {named}" if different == 1 else f"{different:,} sizes, most often {named}")
    if numbers["images"] and not sizes["known"]:
        words.append("their sizes are unknown")
    return "; ".join(words)


def _overlaps(overlaps: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    of = _OVERLAPS.get(overlaps["of"], overlaps["of"])
    for name, key in (("any class", "any_class"), ("same class", "same_class")):
        found = overlaps[key]
        if found["count"]:
            reached = ", ".join(
                f"{_share(found['at_least'][step], found['count'])} at least {step}" for step in ("0.5", "0.7", "0.9")
            )
            yield f"overlaps, {name}", f"IoU of {of} with the nearest: {reached}"


def _range(found: Mapping[str, Any], unit: str = "") -> str:
    """The median, and the range that most values lie in."""
    if not found["count"]:
        return "undefined"
    low, middle, high = (_number(found[name]) + unit for name in ("p5", "median", "p95"))
    return f"median {middle}, 90 % between {low} and {high}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _share(count: int, total: int) -> str:
    return percent(count / total, 1) if total else "0"


def _number(value: float) -> str:
    """A number with three digits, and without an exponent if it is neither tiny nor huge."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}" if size < 1e9 else f"{value:.3g}"
    return f"{value:.3g}"
