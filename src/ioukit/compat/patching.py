"""Let programs that import pycocotools, lvis, motmetrics or trackeval use ioukit, without a change in them.

    import ioukit

    ioukit.patch()
    from pycocotools.cocoeval import COCOeval  # the class of ioukit.compat.pycocotools

`patch` puts a finder of modules in front of all others. It answers ``import pycocotools``, ``import pycocotools.mask``
and so on with the modules of ``ioukit.compat.pycocotools``, and imports of ``lvis``, ``motmetrics`` and ``trackeval``
in the same way, whether the originals are installed or not. No file is changed, and no attribute of the original
modules.

Owns what is in ``sys.modules`` and ``sys.meta_path`` while it is active, names of other modules that are rebound on
demand, and the version that ``importlib.metadata`` reports. Does not own the modules themselves.
A finder of modules serves whatever is imported later; entries in ``sys.modules`` would load every module at once. The
finder of versions stands last and not first, so that an installed package keeps its own metadata.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType, NoneType
from typing import TYPE_CHECKING, Any

from ioukit.compat._originals import name_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["patch", "patched", "unpatch"]

_VERSIONS = {"pycocotools": "2.0.11", "lvis": "0.5.3", "motmetrics": "1.4.0", "trackeval": "1.3.0"}
"""The packages, and the versions whose names the modules of ioukit have."""
_LOCK = threading.RLock()


def patch(*, rebind: bool = False) -> None:
    """Let later imports of pycocotools, lvis, motmetrics and trackeval give ioukit's modules, in the whole process.

    Call it before the program imports these packages. Modules that imported them earlier keep the original names, and a
    warning lists these modules. A second call changes nothing. `unpatch` undoes it, and ``with ioukit.patched():``
    limits it to a block.

    While the patch is active, the classes name as their module that of the original (``pycocotools.cocoeval``), so
    that the original package alone can load what a program pickles: ``eval``, a `COCOeval`, a `COCO`.

    ``importlib.metadata.version("pycocotools")`` is the version of the installed package; if none is installed, it is
    the version whose names ioukit has, 2.0.11 (0.5.3 for lvis, 1.4.0 for
    motmetrics, 1.3.0 for trackeval).

    Processes that start a new interpreter (``subprocess``, ``multiprocessing`` with ``spawn``, ``torchrun``) are not
    patched: call `patch` at the top of the script that they run. Forked processes are patched.

    Args:
        rebind: Also replace the names of modules that were imported before: wherever a global name of a module is an
            object of the original package, such as ``COCOeval`` or ``mask_utils``, it becomes that of ioukit. Classes
            that were derived from the originals keep their bases.

    Warns:
        UserWarning: If modules keep the original names, or if methods or functions of the original package were
            replaced before. It lists them.
    """
    with _LOCK:
        _start()
        replaced = _replaced()
        if replaced:
            warnings.warn(
                f"{', '.join(replaced)}: replaced before ioukit.patch(), and so in the original alone; call "
                "ioukit.patch() first",
                stacklevel=2,
            )
        replacements = _replacements()
        held = _held(replacements) if replacements else []
        if rebind:
            for module, name, value in held:
                ours = replacements[id(value)]
                setattr(module, name, ours)
                _STATE.rebound.append((module, name, value, ours))
        elif held:
            warnings.warn(_words(held), stacklevel=2)


def unpatch() -> None:
    """Undo `patch`: imports give the packages that are installed, and rebound names their earlier values.

    The original modules that were loaded before `patch` are the same objects again. Objects that were made in the
    meantime, and names that a program imported, stay those of ioukit. Without an earlier `patch`, it does nothing.
    """
    with _LOCK:
        if not _STATE.active:
            return
        for module, name, value, ours in reversed(_STATE.rebound):
            if vars(module).get(name) is ours:
                setattr(module, name, value)
        for finder in (_MODULES, _VERSIONS_OF):
            sys.meta_path.remove(finder)
        _take_out()
        sys.modules.update(_STATE.originals)
        name_classes(as_theirs=False)
        _STATE.__init__()  # type: ignore[misc]


@contextmanager
def patched(*, rebind: bool = False) -> Iterator[None]:
    """``with ioukit.patched():`` is `patch` for the length of a block, and `unpatch` at its end.

    In a process that is patched already, it changes nothing, and the end of the block undoes nothing. It acts on the
    whole process, not only on the thread that enters it.

    Args:
        rebind: As for `patch`.
    """
    with _LOCK:
        before = _STATE.active
        patch(rebind=rebind)
    try:
        yield
    finally:
        if not before:
            unpatch()


class _State:
    """What `unpatch` needs."""

    def __init__(self) -> None:
        self.active = False
        self.originals: dict[str, ModuleType] = {}  # entries of sys.modules
        self.rebound: list[tuple[ModuleType, str, Any, Any]] = []  # module, name, its earlier and its new value


_STATE = _State()


class _ModuleFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of ioukit under the names of others, ahead of the files of an installation."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:  # noqa: ARG002 - the protocol's
        if fullname.partition(".")[0] not in _VERSIONS:
            return None
        found = _found(fullname)
        if found is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: ioukit stands in for {fullname.partition('.')[0]} and has no such "
                "module; ioukit.unpatch() gives the installed package",
                name=fullname,
            )
        return importlib.machinery.ModuleSpec(fullname, self, origin=found.origin)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - the protocol's
        return None

    def exec_module(self, module: ModuleType) -> None:
        # An import returns what is in sys.modules when the module is executed.
        sys.modules[module.__name__] = importlib.import_module(_stand_in(module.__name__))


class _VersionFinder(importlib.metadata.DistributionFinder):
    """Answers for the version of a package that is not installed. It is the last finder: installed packages win."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:  # noqa: ARG002 - the protocol's
        return None

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context | None = None
    ) -> Iterable[importlib.metadata.Distribution]:
        name = getattr(context, "name", None)
        return [_StandIn(name)] if name in _VERSIONS else []


class _StandIn(importlib.metadata.Distribution):
    """The metadata of a package that is not installed: name and version."""

    def __init__(self, name: str) -> None:
        self._text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {_VERSIONS[name]}\n"

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return Path(__file__).with_name(str(path))


_MODULES = _ModuleFinder()
_VERSIONS_OF = _VersionFinder()


def _stand_in(name: str) -> str:
    """The name of ioukit's module for that of another package."""
    return f"ioukit.compat.{name}"


def _found(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where ioukit's module for that of another package is, if there is one."""
    try:
        return importlib.util.find_spec(_stand_in(name))
    except ModuleNotFoundError:  # also the package around it is missing
        return None


def _start() -> None:
    if _STATE.active:
        return
    _STATE.originals = _take_out()
    sys.meta_path.insert(0, _MODULES)
    sys.meta_path.append(_VERSIONS_OF)
    name_classes(as_theirs=True)
    _STATE.active = True


def _take_out() -> dict[str, ModuleType]:
    """The entries of ``sys.modules`` for the packages, which are removed from there."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in _VERSIONS}


def _replacements() -> dict[int, Any]:
    """What ioukit has in place of each original module, and of each of its public objects, by the ``id`` of these."""
    found: dict[int, Any] = {}
    for name, original in _STATE.originals.items():
        if _found(name) is None:
            continue
        ours = importlib.import_module(_stand_in(name))
        found[id(original)] = ours
        for public in ours.__all__:
            value = vars(original).get(public)
            if not isinstance(value, ModuleType | NoneType):  # modules have their own turn
                found[id(value)] = getattr(ours, public)
    return found


def _replaced() -> list[str]:
    """The methods and functions of the original modules that are no longer those of the package itself."""
    found = []
    for module_name, module in _STATE.originals.items():
        classes = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module_name]
        owners: list[tuple[str, Any]] = [(module_name, module)]
        owners += [(f"{module_name}.{each.__name__}", each) for each in classes]
        for owner_name, owner in owners:
            known = _stand_in_names(module_name, owner)
            found += [
                f"{owner_name}.{name}"
                for name, value in vars(owner).items()
                if name in known and not _is_of(value, module_name.partition(".")[0])
            ]
    return found


def _stand_in_names(module_name: str, owner: Any) -> set[str]:
    """The names of methods, or of functions, that ioukit has in the place of a class or a module."""
    if _found(module_name) is None:
        return set()
    ours: Any = importlib.import_module(_stand_in(module_name))
    if isinstance(owner, type):
        ours = getattr(ours, owner.__name__, None)
    functions = {name: value for name, value in vars(ours).items() if isinstance(value, FunctionType)} if ours else {}
    return {name for name, value in functions.items() if _is_of(value, "ioukit")}  # not those of the standard library


def _is_of(value: Any, package: str) -> bool:
    """Whether a function was defined in a package."""
    module = getattr(value, "__globals__", {}).get("__name__") or getattr(value, "__module__", None) or ""
    return str(module).partition(".")[0] == package


def _held(replacements: dict[int, Any]) -> list[tuple[ModuleType, str, Any]]:
    """The global names of other modules that are original objects: module, name, object."""
    originals = {id(module) for module in _STATE.originals.values()}
    return [
        (module, name, value)
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and id(module) not in originals
        for name, value in list(vars(module).items())
        if id(value) in replacements
    ]


def _words(held: list[tuple[ModuleType, str, Any]]) -> str:
    names = sorted({module.__name__ for module, _, _ in held})
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (
        f"modules that imported {' or '.join(_VERSIONS)} before ioukit.patch() keep the original names: {shown}; call "
        "ioukit.patch() first, or ioukit.patch(rebind=True)"
    )
