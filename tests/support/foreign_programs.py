"""Random programs that replace, subclass, mock, pickle and reload pycocotools, and what they see.

`Runner` runs the programs of seeds in a process of its own, with pycocotools or with ioukit in its place; the same seed
is the same program in both. `differences` compares what the two see.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import importlib
import io
import json
import os
import pickle
import pickletools
import re
import struct
import subprocess
import sys
import tempfile
import types
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar
from unittest import mock

import numpy as np

import ioukit
from support.cocoeval_runs import RandomRun, random_run
from support.same_values import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["PACKAGES", "Program", "Runner", "Sights", "differences", "first_difference", "left_as_found", "main"]

Sights = list[tuple[str, Any]]

LONGEST = 40
"""More calls than this are counted and not kept."""

_TIMES = re.compile(r"t=[\d.]+s")


class StopError(Exception):
    """What a replaced method raises."""


@dataclass
class Program:
    """One program and what it has seen so far."""

    PACKAGE: ClassVar[str] = "pycocotools"
    EVALUATION: ClassVar[str] = "COCOeval"
    SET: ClassVar[int | None] = None
    """How many of the attributes that wait are set anew by each evaluation, as far as one can see."""
    SIDES: ClassVar[tuple[str, ...]] = ("COCO",)
    MODULES: ClassVar[tuple[str, ...]] = ("mask", "coco", "cocoeval")
    METHODS: ClassVar[dict[str, tuple[str, ...]]] = {
        "COCOeval": ("_prepare", "evaluate", "computeIoU", "computeOks", "evaluateImg", "accumulate", "summarize"),
        "COCO": (
            *("createIndex", "getAnnIds", "getCatIds", "getImgIds", "loadAnns", "loadCats", "loadImgs", "loadRes"),
            *("annToRLE", "annToMask", "loadNumpyAnnotations"),
        ),
        "Params": ("setDetParams", "setKpParams"),
        "mask": ("iou", "merge", "frPyObjects", "area", "toBbox", "decode"),
    }
    LIKELY: ClassVar[tuple[str, ...]] = (
        "computeIoU",
        "computeIoU",
        "evaluateImg",
        "evaluateImg",
        "_prepare",
        "computeOks",
        "iou",
        "loadAnns",
    )
    WAITING: ClassVar[tuple[str, ...]] = ("evalImgs", "ious", "_gts", "_dts")
    DICTIONARIES: ClassVar[tuple[str, ...]] = ("dataset", "anns", "cats", "imgs", "imgToAnns", "catToImgs")

    run: RandomRun
    ioukit: bool
    """Whether `ioukit.patch` is called where the program has its place; else nothing happens there."""
    rng: Random = field(init=False)
    seen: Sights = field(default_factory=list)
    patched: bool = False
    reloaded: bool = False
    mixed: bool = False
    """Whether objects are of the classes before the last switch, which no longer are those that can be imported."""
    undo: list[Callable[[], Any]] = field(default_factory=list)
    classes: dict[str, Any] = field(default_factory=dict)
    """Subclasses by the name of their base."""
    objects: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    given: list[Any] = field(default_factory=list)
    """The list of results that was loaded."""

    def __post_init__(self) -> None:
        """Draw from the seed."""
        self.rng = Random(f"foreign {self.run.seed}")

    def note(self, what: str, value: Any) -> None:
        self.seen.append((what, kept(value)))

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self.PACKAGE}.{name}")

    def owner(self, kind: str) -> Any:
        if kind == "mask":
            return self.module("mask")
        return getattr(self.module("coco" if kind == "COCO" else "cocoeval"), kind)

    def call(self, what: str, function: Any, *arguments: Any) -> Any:
        """Call a function; note what it printed, and the kind of error that it raised."""
        lines, found = io.StringIO(), None
        with contextlib.redirect_stdout(lines):
            try:
                found = function(*arguments)
            except Exception as error:
                self.note(f"{what} raised", type(error).__name__)
        self.note(f"{what} printed", _TIMES.sub("t=", lines.getvalue()))
        return found

    def steps(self) -> None:
        """The whole program."""
        rng = self.rng
        if rng.random() < 0.15:
            self.make_odd()
        early = rng.random() < 0.7
        if early:
            self.switch()
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2])):
            self.interfere()
        self.make()
        for _ in range(rng.randint(3, 8)):
            step = rng.choice(
                [
                    *(self.interfere, self.interfere, self.use, self.use, self.use, self.look, self.look, self.reload),
                    *(self.go_on_with_copy, self.make, self.end_one, self.change, self.switch),
                ]
            )
            step()
        self.use()
        self.look(everything=True)

    def make_odd(self) -> None:
        """Give the data values that pycocotools takes although nobody means them."""
        truth, results = self.run.truth["annotations"], self.run.results
        kind = self.rng.choice(["large id", "large ids", "true", "all true", "numpy", "false crowd"])
        self.note("odd", kind)
        for record in truth if kind == "large ids" else truth[:1] if kind == "large id" else ():
            record["id"] += 2**63
        for record in results if kind == "all true" else results[1:2] if kind == "true" else ():
            record["score"] = True
        if kind == "numpy" and not any(self.run.from_files):
            for record in results:
                record["score"] = np.float32(record.get("score", 0.5))
            for record in truth:
                record["bbox"] = np.array(record["bbox"]) if "bbox" in record else []
        for record in truth if kind == "false crowd" else ():
            record["iscrowd"] = bool(record.get("iscrowd", 0))

    # What the library is.

    def switch(self) -> None:
        """`ioukit.patch`, or its end, between two halves of a program."""
        self.end_all()
        if self.reloaded:  # the other library was not
            return
        self.patched = not self.patched
        self.mixed = bool(self.objects)
        self.classes.clear()
        self.note("switch", self.patched)
        rebind = self.rng.random() < 0.5
        if self.ioukit:
            ioukit.patch(rebind=rebind) if self.patched else ioukit.unpatch()

    def reload(self) -> None:
        name = self.rng.choice(self.MODULES)
        self.end_all()  # a patch that ends after a reload sets what is gone
        self.reloaded = True
        self.call(f"reload {name}", lambda: importlib.reload(self.module(name)) and None)

    def end_one(self) -> None:
        if self.undo:
            self.undo.pop()()

    def end_all(self) -> None:
        while self.undo:
            self.undo.pop()()

    # What the program makes and uses.

    def make(self) -> None:
        """Ground truth, results and an evaluation; what failed stays what it was."""
        before = dict(self.objects)
        gt = self.call("COCO", self.truth)
        if gt is not None:
            self.objects["gt"] = gt
        dt = self.call("loadRes", self.results) if "gt" in self.objects else None
        if dt is not None:
            self.objects["dt"] = dt
        if "dt" not in self.objects:
            return
        if self.rng.random() < 0.1:
            side = self.rng.choice(["gt", "dt"])
            self.objects[side] = self.rng.choice([Proxy, Silent])(self.objects[side], self)
        kind = self.classes.get("COCOeval") or self.owner("COCOeval")
        made = self.call("COCOeval", kind, self.objects["gt"], self.objects["dt"], self.run.iou_type)
        if made is not None:
            self.objects["evaluation"] = made
            if hasattr(made, "params"):
                for name, value in self.run.params.items():
                    setattr(made.params, name, copy.deepcopy(value))
        self.mixed = self.mixed and any(before.get(name) is thing for name, thing in self.objects.items())

    def truth(self) -> Any:
        kind = self.classes.get("COCO") or self.owner("COCO")
        if self.run.from_files[0]:
            path = Path("gt.json")
            path.write_text(json.dumps(self.run.truth))
            return kind(str(path))
        made = kind()
        made.dataset = copy.deepcopy(self.run.truth)
        made.createIndex()
        return made

    def results(self) -> Any:
        run, gt = self.run, self.objects["gt"]
        if run.as_array:
            rows = [[one["image_id"], *one["bbox"], one.get("score", 0.5), one["category_id"]] for one in run.results]
            return gt.loadRes(np.array(rows, np.float64))
        if run.from_files[1]:
            path = Path("dt.json")
            path.write_text(json.dumps(run.results))
            return gt.loadRes(str(path))
        self.given = copy.deepcopy(run.results)
        return gt.loadRes(self.given)

    def use(self) -> None:
        evaluation = self.objects.get("evaluation")
        if evaluation is None:
            return
        for name in self.rng.choice(
            [("evaluate",), ("evaluate", "accumulate", "summarize"), ("accumulate", "summarize")]
        ):
            self.call(name, getattr(evaluation, name, None))
        self.note("stats", getattr(evaluation, "stats", None))
        found = getattr(evaluation, "eval", None)
        if isinstance(found, dict):
            self.note("eval", {key: value for key, value in found.items() if key not in ("date", "params")})

    def look(self, *, everything: bool = False) -> None:
        rng, evaluation = self.rng, self.objects.get("evaluation")
        for name in self.WAITING:
            if (everything or rng.random() < 0.4) and evaluation is not None:
                self.note(name, self.call(name, getattr, evaluation, name))
        if everything and evaluation is not None:
            self.note("params", vars(evaluation.params) if hasattr(evaluation, "params") else None)
            self.note("names", sorted(name for name in dir(evaluation) if name[:2] != "__" and name not in OWN))
        for side in ("gt", "dt"):
            for name in self.DICTIONARIES if side in self.objects else ():
                if everything or rng.random() < 0.1:
                    self.note(f"{side} {name}", self.call(name, getattr, self.objects[side], name))

    def change(self) -> None:
        """Change a record, an entry or a parameter."""
        rng, evaluation = self.rng, self.objects.get("evaluation")
        kind = rng.choice(
            ["record", "record", "record", "entries", "params", "params", "reset", "given", "sides", "again"]
        )
        choice = rng.randrange(1000)
        if kind == "record":
            side = self.objects.get(rng.choice(["gt", "dt"]))
            records = side.dataset.get("annotations") if side is not None and isinstance(side.dataset, dict) else None
            self.change_record(records)
        elif kind == "given":
            self.change_record(self.given)
        elif kind == "sides" and evaluation is not None:
            self.call("methods", self.some_methods)
        elif evaluation is None:
            return
        elif kind == "entries":
            entries = self.call("entries", lambda: list(evaluation.evalImgs))
            if entries:
                entries[choice % len(entries)] = None
                evaluation.evalImgs = entries
        elif kind == "again" and hasattr(evaluation, "params"):
            other = self.call("Params", self.owner("Params"), self.run.iou_type)
            if other is not None:
                other.imgIds, other.catIds = evaluation.params.imgIds, evaluation.params.catIds
                evaluation.params = other
        elif kind == "reset":
            setattr(evaluation, self.WAITING[choice % 4], {} if choice % 4 else [])
        elif hasattr(evaluation, "params"):
            name, value = rng.choice(
                [
                    *(("maxDets", [1, 10, 100]), ("maxDets", [0, 2, 100]), ("useCats", 0), ("useCats", 1)),
                    *(("iouThrs", np.array([0.5, 0.75])), ("recThrs", np.linspace(0, 1, 11))),
                    ("areaRng", [[0, 1e10], [0, 100.0]]),
                ]
            )
            setattr(evaluation.params, name, value)
            if name == "areaRng":
                evaluation.params.areaRngLbl = ["all", "small"]

    def change_record(self, records: Any) -> None:
        if not records:
            return
        rng = self.rng
        record, other = (records[rng.randrange(1000) % len(records)] for _ in range(2))
        name = rng.choice(["area", "score", "bbox", "category_id", "image_id", "iscrowd", "missing", "id"])
        if name == "missing":
            record.pop(rng.choice(["iscrowd", "area", "score", "segmentation"]), None)
        elif name == "bbox":
            record["bbox"] = [float(rng.randrange(40)) for _ in range(4)]
        elif name in ("category_id", "image_id"):
            record[name] = other[name]
        elif name == "id":
            record["id"] = rng.choice([record.get("id"), 10**6])
        else:
            record[name] = rng.choice({"area": [50.0, 2000.0], "score": [0.1, 0.95]}.get(name, [0, 1]))

    def some_methods(self) -> None:
        """Ask a side for annotations, categories and masks."""
        rng, side = self.rng, self.objects[self.rng.choice(["gt", "dt"])]
        images, categories = side.getImgIds(), side.getCatIds()
        self.note("ids", [sorted(images), categories])
        chosen = side.getAnnIds(
            imgIds=images[: rng.randrange(1, 4)], catIds=categories[:1] if rng.random() < 0.5 else []
        )
        records = side.loadAnns(chosen)
        self.note("records", [chosen, records, side.loadImgs(images[:1]), side.loadCats(categories[:1])])
        if not drawn_outside(records[0]):
            self.note("mask", side.annToMask(records[0]))

    def go_on_with_copy(self) -> None:
        """Pickle, or copy, an object, and use it in the place of the other."""
        name = self.rng.choice(["evaluation", "evaluation", "gt", "dt", "eval"])
        how = self.rng.choice(["pickle", "pickle", "copy", "deepcopy"])
        if self.mixed:  # pickle refuses objects of a class that cannot be imported
            how = "copy"
        thing = self.objects.get("evaluation" if name == "eval" else name)
        if name == "eval":
            thing = getattr(thing, "eval", None)
        if thing is None:
            return
        if how == "pickle":
            text = self.call("dumps", pickle.dumps, thing)
            if text is None:
                return
            self.note("globals", sorted(globals_of(text)) if self.patched else None)
            made = self.call("loads", pickle.loads, text)
        else:
            made = self.call(how, getattr(copy, how), thing)
        if name == "eval":
            self.note("eval again", {key: value for key, value in made.items() if key not in ("date", "params")})
        elif made is not None:
            self.objects[name] = made

    # What the program replaces.

    def interfere(self) -> None:
        rng = self.rng
        where = rng.choice(["class", "class", "class", "subclass", "subclass", "object", "mock", "module", "reading"])
        if self.mixed:  # what is replaced in a class reaches its own objects only
            where = "object"
        kind = rng.choice([self.EVALUATION, *self.METHODS])
        name = rng.choice(self.METHODS[kind])
        if rng.random() < 0.5:
            name = rng.choice(self.LIKELY)
            kind = next(kind for kind, names in self.METHODS.items() if name in names)
        how = rng.choice(["record", "record", "alter", "alter", "raise", "constant"])
        self.note("interfere", [where, kind, name, how])
        if where == "class":
            owner = self.owner(kind)
            self.set(owner, name, self.replacement(getattr(owner, name), name, how, bound=kind != "mask"))
        elif where == "mock":
            owner = self.owner(kind)
            original = getattr(owner, name)
            # Mock refuses to stand in for another one, or for a function that it made.
            if isinstance(original, mock.NonCallableMock) or hasattr(original, "mock"):
                return
            named = {"side_effect": original, "autospec": True} if how != "constant" else {}
            patch = mock.patch.object(owner, name, **named)
            found = patch.start()

            def stop() -> None:
                self.note("mock", self.calls_of(found, kind))
                patch.stop()

            self.undo.append(stop)
        elif where == "subclass" and kind in (self.EVALUATION, *self.SIDES):
            self.derive(kind, name, how)
        elif where == "object" and kind in (self.EVALUATION, *self.SIDES):
            thing = self.objects.get("evaluation" if kind == self.EVALUATION else rng.choice(["gt", "dt"]))
            if thing is not None and hasattr(thing, name):
                setattr(thing, name, self.replacement(getattr(thing, name), name, how, bound=False))
        elif where == "module":
            self.replace_global(how)
        elif where == "reading":
            owner, name = rng.choice([(json, "load"), (builtins, "open")])
            self.set(owner, name, self.replacement(getattr(owner, name), name, "count", bound=False))

    def calls_of(self, found: Any, kind: str) -> list[Any]:
        """The arguments that a mock saw, without the object."""
        first = 0 if kind == "mask" else 1
        return [[found.call_count], [kept([one.args[first:], one.kwargs]) for one in found.call_args_list[:LONGEST]]]

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner).get(name)
        setattr(owner, name, value)
        self.undo.append(lambda: setattr(owner, name, before) if before is not None else delattr(owner, name))

    def derive(self, kind: str, name: str, how: str) -> None:
        """A class of the program's own, derived from the last one."""
        base = self.classes.get(kind) or self.owner(kind)
        program = self
        members: dict[str, Any] = {}
        special = self.rng.choice(
            [None, None, None, None, "property", "getattr", "setattr", "getattribute", "attribute", "state", "init"]
        )
        if special == "property" and kind == self.EVALUATION:
            members[self.WAITING[0]] = property(
                lambda self: self.__dict__.get("kept"), lambda self, value: self.__dict__.__setitem__("kept", value)
            )
        elif special == "getattr":

            def missing(self: Any, name: str) -> Any:
                if name[:2] != "__":
                    program.note("missing", name)
                return base.__getattr__(self, name)

            members["__getattr__"] = missing
        elif special == "state":

            def state(self: Any) -> dict[str, Any]:
                program.note("state", "asked")
                return dict(vars(self))

            members["__getstate__"] = state
        elif special == "init":

            def init(self: Any, *given: Any, **named: Any) -> None:
                base.__init__(self, *given, **named)
                program.note("made", self.state_of_new if hasattr(self, "state_of_new") else program.state(self))

            members["__init__"] = init
        elif special == "attribute":
            members["ious" if kind == self.EVALUATION else "anns"] = "of the class"
        elif special == "setattr":

            def set_(self: Any, name: str, value: Any) -> None:
                if name in (*program.WAITING[: program.SET], *program.DICTIONARIES):
                    program.note("set", [name, type(value).__name__])
                object.__setattr__(self, name, value)

            members["__setattr__"] = set_
        elif special == "getattribute":

            def get(self: Any, name: str) -> Any:
                if name in program.METHODS[program.EVALUATION]:
                    program.note("get", name)
                return base.__getattribute__(self, name)

            members["__getattribute__"] = get
        if special is None or self.rng.random() < 0.5:
            members[name] = self.replacement(getattr(base, name), name, how)
        made = type(f"Own{kind}", (base,), {"__module__": "__main__", **members})
        self.set(sys.modules["__main__"], f"Own{kind}", made)  # so that pickle finds it
        self.undo.pop()
        self.classes[kind] = made

    def replace_global(self, how: str) -> None:
        """Put something else in the place of what a module refers to."""
        module = self.module(self.rng.choice(self.MODULES[-2:]))
        kind = self.rng.choice(["masks", "class"])
        if kind == "masks" or self.PACKAGE == "lvis":
            stub = types.SimpleNamespace(**{name: getattr(self.owner("mask"), name) for name in self.METHODS["mask"]})
            name = self.rng.choice(self.METHODS["mask"])
            setattr(stub, name, self.replacement(getattr(stub, name), name, how, bound=False))
            self.set(module, "mask_utils" if self.PACKAGE == "lvis" else "maskUtils", stub)
        else:
            name = "COCO" if module.__name__.endswith(".coco") else "Params"
            base = getattr(module, name)
            made = type(f"Other{name}", (base,), {"__module__": "__main__"})
            self.set(module, name, made)

    def replacement(self, original: Any, name: str, how: str, *, bound: bool = True) -> Callable[..., Any]:
        """A function that notes its calls, and does something else than the original."""
        first, stop = int(bound), self.rng.randint(1, 6)
        count = 0

        def replaced(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            self.calls += 1
            if how == "count":
                self.note(name, "called")
                return original(*given, **named)
            if self.calls < LONGEST:
                self.note(f"call {name}", [given[first:], named, self.state(given[0]) if bound else None])
            if how == "raise" and count >= stop:
                raise StopError
            if how == "constant":
                return CONSTANTS.get(name)
            found = original(*given, **named)
            return altered(found, name) if how == "alter" else found

        return replaced

    def state(self, thing: Any) -> Any:
        """What a replaced step can see of its evaluation."""
        found = getattr(thing, "__dict__", {})
        return [len(getattr(thing, name, ())) for name in self.WAITING] if "params" in found else None


class Proxy:
    """An object that notes what is asked of another one."""

    def __init__(self, inner: Any, program: Program) -> None:
        self.__dict__.update(_inner=inner, _program=program)

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        self._program.note("asked", name)
        return getattr(self._inner, name)


class Silent(Proxy):
    """An object that has nothing but what an evaluation needs."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("getAnnIds", "getCatIds", "getImgIds", "loadAnns", "annToRLE", "dataset"):
            raise AttributeError(name)
        return getattr(self._inner, name)


CONSTANTS: dict[str, Any] = {
    name: []
    for name in ("computeIoU", "computeOks", "iou", "getAnnIds", "loadAnns", "compute_iou", "load_anns", "get_ann_ids")
} | {"_get_gt_dt": ([], [])}
OWN = {
    *("_group", "_is_original", "_leave_to", "_records_of", "_source", "_waiting"),
    *("_evaluate_at_once", "_evaluate_one_by_one", "_matched_at_once", "_may_wait", "_columns"),
}
"""Names that only ioukit has."""


def drawn_outside(record: Any) -> bool:
    """Whether a polygon has coordinates of which pycocotools makes anything, and ioukit an error: see docs/masks.md."""
    found = record.get("segmentation")
    polygons = found if isinstance(found, list) else []
    return any(not abs(value) <= 2**27 for polygon in polygons for value in polygon)


def altered(found: Any, name: str) -> Any:
    """Another result of the same kind."""
    if name in ("computeIoU", "computeOks", "iou", "compute_iou") and len(found):
        return np.asarray(found) * 0.8
    if name == "evaluateImg" and found is not None:
        return {**found, "dtIgnore": np.logical_not(found["dtIgnore"])} if len(found["dtIds"]) % 2 else None
    if name == "evaluate_img" and found is not None:
        return {**found, "dt_ignore": np.logical_not(found["dt_ignore"])} if len(found["dt_ids"]) % 2 else None
    if name == "_get_gt_dt":
        return found[0][:1], found[1][::-1]
    if name in ("getAnnIds", "loadAnns", "getCatIds", "load_anns", "get_ann_ids", "get_cat_ids"):
        return found[::-1]
    return found


def kept(value: Any) -> Any:
    """A copy that another process can read, without objects of a library's own classes."""
    if isinstance(value, dict):
        return {plain_key(key): kept(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(kept(one) for one in value)
    if isinstance(value, np.ndarray):
        return kept(value.tolist()) if value.dtype == object else value.copy()
    if value is None or isinstance(value, str | bytes | bool | int | float | np.generic):
        return value
    return f"<{type(value).__name__}>"


def plain_key(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(plain_key(one) for one in key)
    return key.item() if isinstance(key, np.generic) else key


def globals_of(text: bytes) -> set[str]:
    """The classes and functions that a pickle names."""
    found: set[str] = set()
    strings: list[str] = []
    memo: dict[Any, str] = {}
    for opcode, argument, _ in pickletools.genops(text):
        if opcode.name == "GLOBAL":
            found.add(str(argument).replace(" ", "."))
        elif opcode.name == "STACK_GLOBAL":
            found.add(".".join(strings[-2:]))
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = strings[-1] if strings else ""
        elif opcode.name in ("BINGET", "LONG_BINGET"):
            strings.append(memo.get(argument, ""))
        elif isinstance(argument, str):
            strings.append(argument)
        elif opcode.name not in ("FRAME", "PROTO"):
            strings.append("")
    return found


@contextlib.contextmanager
def left_as_found() -> Iterator[None]:
    """Put classes and modules back as they were."""
    modules = [importlib.import_module(f"{package}.{name}") for package in PACKAGES for name in PACKAGES[package]]
    names = [(module, dict(vars(module))) for module in modules]
    members = [
        (each, dict(vars(each)))
        for _, found in names
        for each in found.values()
        if isinstance(each, type) and each.__module__.startswith(tuple(PACKAGES))
    ]
    try:
        yield
    finally:
        ioukit.unpatch()
        for module, before in names:
            vars(module).clear()
            vars(module).update(before)
        for each, before in members:
            for name in vars(each).keys() - before.keys():
                delattr(each, name)
            for name, value in before.items():
                if vars(each).get(name) is not value and name not in ("__dict__", "__weakref__", "__module__"):
                    setattr(each, name, value)


PACKAGES = dict.fromkeys(("pycocotools", "ioukit.compat.pycocotools"), Program.MODULES)


def sights(seed: int, kind: type[Program], *, with_ioukit: bool) -> Sights:
    """What the program of a seed sees, which writes into the present folder."""
    program = kind(random_run(seed), with_ioukit)
    with left_as_found(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            program.steps()
        except (AttributeError, TypeError, KeyError, StopError) as error:  # of what the program has replaced
            program.note("the program ended", type(error).__name__)
        finally:
            program.end_all()
    return program.seen


class Runner:
    """A process that runs programs with one of the libraries.

    Args:
        library: ``"ioukit"`` or ``"original"``.
        package: What the programs import, ``"pycocotools"`` or ``"lvis"``.
    """

    def __init__(self, library: str, package: str = "pycocotools") -> None:
        source, tests = Path(ioukit.__file__).parents[1], Path(__file__).parents[1]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(tests)])}
        command = [sys.executable, "-c", "from support.foreign_programs import main; main()", library, package]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def start(self, seed: int) -> None:
        """Let the process run a program."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seed}\n".encode())
        self._process.stdin.flush()

    def seen(self) -> Sights:
        """What the first program saw that was started and not yet asked for."""
        assert self._process.stdout is not None
        (length,) = struct.unpack("<q", self._process.stdout.read(8))
        found: Sights = pickle.loads(self._process.stdout.read(length))
        return found

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def differences(seeds: Iterable[int], package: str = "pycocotools") -> Iterator[tuple[int, int, str | None]]:
    """For each seed, how many sights its program had, and where the libraries differ."""
    runners = [Runner(library, package) for library in ("ioukit", "original")]
    try:
        for seed in seeds:
            for runner in runners:
                runner.start(seed)
            ours, theirs = (runner.seen() for runner in runners)
            yield seed, len(theirs), first_difference(ours, theirs)
    finally:
        for runner in runners:
            runner.close()


def first_difference(ours: Sights, theirs: Sights) -> str | None:
    """The first sight that differs."""
    for place, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        raised = one[0] == other[0] and str(one[0]).endswith(" raised")
        if raised and other[1] == "Exception" and one[1] in ("ValueError", "TypeError"):
            continue  # pycocotools raises nothing but `Exception` there, and who catches that catches ours
        if one[0] != other[0]:
            return f"sight {place}: {one[0]!r} ({str(one[1])[:100]}), expected {other[0]!r} ({str(other[1])[:100]})"
        found = difference(one[1], other[1], f"sight {place}, {one[0]}")
        if found:
            return found
    return None if len(ours) == len(theirs) else f"{len(ours)} sights, expected {len(theirs)}"


def main() -> None:
    """What the process of a `Runner` does: seeds on stdin, pickled sights on stdout."""
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    kind = Program
    if sys.argv[2] == "lvis":
        kind = importlib.import_module("support.foreign_lvis").LvisProgram
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for line in sys.stdin:
            text = pickle.dumps(sights(int(line), kind, with_ioukit=sys.argv[1] == "ioukit"))
            answers.write(struct.pack("<q", len(text)) + text)
            answers.flush()
