"""Which column of a table has what, by the names that tables of objects use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Literal, NamedTuple, TypeAlias, get_args

from ioukit._checks import check_choice
from ioukit._output import printable
from ioukit.errors import DatasetError

BoxLayout: TypeAlias = Literal["xyxy", "xywh", "cxcywh"]
"""What the four numbers of a box are."""
BOX_LAYOUTS: tuple[BoxLayout, ...] = get_args(BoxLayout)

ROLES: Mapping[str, tuple[str, ...]] = {
    "image_id": ("image_id", "img_id"),
    "image": ("image", "img"),
    "file_name": ("file_name", "filename", "image_name", "image_path", "image_file", "img_path", "path", "file"),
    "sequence": ("sequence", "sequence_id", "sequence_name", "seq", "seq_id", "video", "video_id", "video_name"),
    "frame": ("frame", "frame_id", "frame_index", "frame_idx", "frame_number", "frame_num", "frame_no"),
    "track": ("track_id", "track", "tracker_id", "instance_id"),
    "image_width": ("image_width", "img_width", "image_w", "img_w"),
    "image_height": ("image_height", "img_height", "image_h", "img_h"),
    "category_id": ("category_id", "class_id", "label_id"),
    "category": ("category", "category_name", "class", "class_name", "label", "label_name"),
    "score": ("score", "confidence", "conf", "probability"),
    "area": ("area",),
    "id": ("id", "annotation_id", "object_id"),
    "box": ("bbox", "box", "bounding_box"),
}
"""The names of columns by what they have. Upper case, spaces, ``_`` and ``-`` make no difference."""
IMAGE_ROLES = ("image_id", "image", "file_name")
"""The roles that say which image a row is of; the first one counts."""
_VIDEO_ROLES = ("sequence", "frame", "track")
"""The roles of tables without those, in which frames are the images. In other tables, these columns are attributes."""

_LOW_CORNERS = (("xmin", "ymin"), ("x1", "y1"), ("left", "top"), ("bbox_x1", "bbox_y1"), ("bbox_xmin", "bbox_ymin"))
_HIGH_CORNERS = (
    ("xmax", "ymax"),
    ("x2", "y2"),
    ("right", "bottom"),
    ("bbox_x2", "bbox_y2"),
    ("bbox_xmax", "bbox_ymax"),
)
_SIZES = (
    ("width", "height"),
    ("w", "h"),
    ("bbox_width", "bbox_height"),
    ("bbox_w", "bbox_h"),
    ("bb_width", "bb_height"),
)
_PLACES = (*_LOW_CORNERS, ("x", "y"), ("bbox_x", "bbox_y"), ("bbox_left", "bbox_top"), ("bb_left", "bb_top"))
_CENTRES = (("cx", "cy"), ("x_center", "y_center"), ("center_x", "center_y"), ("xc", "yc"), ("bbox_cx", "bbox_cy"))

_QUADS: tuple[tuple[BoxLayout, tuple[str, ...]], ...] = (
    *(("xyxy", (*low, *high)) for low, high in zip(_LOW_CORNERS, _HIGH_CORNERS, strict=True)),
    *(("xywh", (*place, *size)) for place in _PLACES for size in _SIZES),
    *(("cxcywh", (*centre, *size)) for centre in _CENTRES for size in _SIZES),
)
_PLAIN_SIZE = ("width", "height")


class ChosenColumns(NamedTuple):
    """The columns of a table by what they have."""

    roles: dict[str, str]
    """The name of the column by its role, for the roles that the table has."""
    box: tuple[str, ...]
    """The four columns of a box, or the only one."""
    layout: BoxLayout
    others: tuple[str, ...]
    """The columns without a role: flags and attributes of the objects."""


def has_boxes(names: Sequence[str]) -> bool:
    """Whether a table has a column of images or frames, and columns of boxes."""
    keys = {_key(name) for name in names}
    with_image = any(_key(name) in keys for role in (*IMAGE_ROLES, "frame") for name in ROLES[role])
    with_box = any(_key(name) in keys for name in ROLES["box"]) or bool(_found_quads(keys))
    with_class = any(_key(name) in keys for role in ("category", "category_id") for name in ROLES[role])
    return with_image and with_box and with_class


def is_taken(name: str) -> bool:
    """Whether a column of this name has a meaning, so that it cannot be an attribute."""
    keys = {_key(one) for role, spellings in ROLES.items() if role not in _VIDEO_ROLES for one in spellings}
    keys |= {_key(one) for _, quad in _QUADS for one in quad}
    return _key(name) in keys or not _is_data(name)


def choose_columns(
    names: Sequence[str],
    source: str,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    boxes: BoxLayout | None = None,
) -> ChosenColumns:
    """Find the columns of a table.

    Args:
        names: The names of all columns.
        source: The table, for messages.
        columns: Names of columns by role, for roles whose column is not found by its name: one of :data:`ROLES`. The
            role ``box`` takes one name, or four.
        boxes: What the four numbers of a box are. If ``None``, what their names say.

    Raises:
        ValueError: If a role or a layout is unknown.
        DatasetError: If a column is missing, or several columns could be meant; the message has the choices.
    """
    given = {} if columns is None else dict(columns)
    if unknown := sorted(set(given) - ROLES.keys()):
        raise ValueError(f"unknown role {unknown[0]!r} in columns; choose from {', '.join(ROLES)}")
    if "frame" in given and given.keys() & {*IMAGE_ROLES}:
        raise ValueError("columns takes a column of images or one of frames, got both")
    if boxes is not None:
        check_choice("boxes", boxes, BOX_LAYOUTS)
    listed = [name for value in given.values() for name in ((value,) if isinstance(value, str) else value)]
    if missing := [name for name in listed if name not in names]:
        raise DatasetError(f"{source}: expected a column {missing[0]!r}, found {_shown(names)}")
    free = [name for name in names if name not in listed]
    box, layout = _box(free, source, given.pop("box", None), boxes)
    roles = {role: name for role, name in given.items() if isinstance(name, str)}
    if len(roles) < len(given):
        raise ValueError("columns takes one name for each role but box")
    free = [name for name in free if name not in box]
    by_key = {_key(name): name for name in reversed(free)}
    _find_roles(roles, by_key, source)
    there = _shown(names)
    if not roles.keys() & {*IMAGE_ROLES, "frame"}:
        expected = "a column of images, such as image_id or filename, or one of frames, such as frame"
        raise DatasetError(f"{source}: expected {expected}; found {there}")
    if not roles.keys() & {"category", "category_id"}:
        raise DatasetError(f"{source}: expected a column of classes, such as class or category_id; found {there}")
    used = {*roles.values(), *box}
    return ChosenColumns(roles, box, layout, tuple(name for name in free if name not in used and _is_data(name)))


def _find_roles(roles: dict[str, str], by_key: Mapping[str, str], source: str) -> None:
    """Adds the roles of columns that their names tell; ``roles`` has those that the caller says."""
    by_frame, with_id = "frame" in roles, "id" in roles
    for role, spellings in ROLES.items():
        is_used = not by_frame if role in IMAGE_ROLES else role not in _VIDEO_ROLES or not roles.keys() & {*IMAGE_ROLES}
        if role in roles or role == "box" or not is_used:
            continue
        found = [by_key[key] for key in dict.fromkeys(map(_key, spellings)) if key in by_key]
        if len(found) > 1:
            choices = " or ".join(f"columns={{{role!r}: {name!r}}}" for name in found)
            raise DatasetError(f"{source}: several columns can be the {role}: {_shown(found)}; pass {choices}")
        if found:
            roles[role] = found[0]
    for role, key in (("image_width", "width"), ("image_height", "height")):
        # Beside corners, these are the sizes of the images, as in TensorFlow's tables.
        if role not in roles and key in by_key and {"width", "height"} <= by_key.keys():
            roles[role] = by_key[key]
    if "frame" in roles and "track" not in roles and not with_id and _key(roles.get("id", "")) in ("id", "objectid"):
        roles["track"] = roles.pop("id")  # an object has it in all of its frames, as in MOTChallenge's files


def _box(
    names: Sequence[str], source: str, given: str | Sequence[str] | None, boxes: BoxLayout | None
) -> tuple[tuple[str, ...], BoxLayout]:
    by_key = {_key(name): name for name in reversed(names)}
    if given is not None:
        chosen = (given,) if isinstance(given, str) else tuple(given)
        if len(chosen) not in (1, 4):
            raise ValueError(f"columns takes one name or four for the box, got {len(chosen)}")
        if boxes is None:
            raise DatasetError(f"{source}: which numbers has {_shown(chosen)}? Pass boxes=: {_choices()}")
        return chosen, boxes
    quads = _found_quads(by_key.keys())
    whole = [name for name in dict.fromkeys(map(_key, ROLES["box"])) if name in by_key]
    if not quads and not whole:
        expected = "columns of boxes, such as xmin, ymin, xmax, ymax or x, y, width, height"
        raise DatasetError(f"{source}: expected {expected}; found {_shown(names)}")
    if len(quads) + len(whole) > 1:
        choices = [list(keys) for _, keys in quads] + [[key] for key in whole]
        shown = " or ".join(f"[{_shown([by_key[key] for key in keys])}]" for keys in choices)
        raise DatasetError(
            f"{source}: several columns can be the box: {shown}; pass columns={{'box': [...]}}, boxes=..."
        )
    if quads:
        layout, keys = quads[0]
        return tuple(by_key[key] for key in keys), boxes or layout
    if boxes is None:
        raise DatasetError(f"{source}: which numbers has the column {by_key[whole[0]]}? Pass boxes=: {_choices()}")
    return (by_key[whole[0]],), boxes


def _found_quads(keys: Set[str]) -> list[tuple[BoxLayout, tuple[str, ...]]]:
    """The columns of boxes that there are; corners before a size in columns width and height, which is the image's."""
    found = [(layout, tuple(map(_key, quad))) for layout, quad in _QUADS if keys >= set(map(_key, quad))]
    found = list(dict.fromkeys(found))
    if any(layout == "xyxy" for layout, _ in found):
        found = [(layout, quad) for layout, quad in found if layout == "xyxy" or quad[2:] != _PLAIN_SIZE]
    return found


def _key(name: str) -> str:
    return "".join(character for character in name.lower() if character not in "_- ")


def _is_data(name: str) -> bool:
    """Whether a column may be an attribute: not the numbers of the rows, which pandas adds."""
    return bool(name) and not name.startswith(("Unnamed: 0", "__index_level_"))


def _shown(names: Sequence[str]) -> str:
    short = [name if len(name) <= 30 else f"{name[:27]}..." for name in map(printable, names[:20])]
    return ", ".join(short) + (", ..." if len(names) > 20 else "") if names else "no columns"


def _choices() -> str:
    return " or ".join(map(repr, BOX_LAYOUTS))
