"""`ioukit.patch`: programs that import the originals get ioukit's modules, and unpatching leaves no trace."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pickle
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ioukit
from ioukit.compat import patching

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(ioukit.__file__).parent.parent


@pytest.fixture(autouse=True)
def left_as_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No original is loaded, as other tests may have done. After a test, nothing of the patch is left."""
    for name in originals():
        monkeypatch.delitem(sys.modules, name)
    finders = list(sys.meta_path)
    yield
    assert not patching._STATE.active
    assert not [name for name, module in originals().items() if module.__name__.startswith("ioukit")]
    assert sys.meta_path == finders


def originals() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in patching._VERSIONS}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An original package, whether or not one is installed: modules that are imported already."""
    package, mask = ModuleType("pycocotools"), ModuleType("pycocotools.mask")
    package.__path__ = []
    vars(package)["mask"] = mask
    exec("iou = lambda: 'original'\narea = lambda: 'original'", vars(mask))  # functions of that module
    monkeypatch.setitem(sys.modules, "pycocotools", package)
    monkeypatch.setitem(sys.modules, "pycocotools.mask", mask)
    return mask


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A fresh process with this ioukit."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin", "PYTHONWARNINGS": "error"},
    )


def test_imports_give_the_modules_of_ioukit() -> None:
    with ioukit.patched():
        import pycocotools  # noqa: PLC0415 - under the patch
        import pycocotools.mask as mask_util  # noqa: PLC0415
        from pycocotools import mask  # noqa: PLC0415 - under the patch

        assert mask_util is mask is pycocotools.mask is ioukit.compat.pycocotools.mask
        assert importlib.import_module("pycocotools._mask").frPoly([[0, 0, 2, 0, 2, 2]], 4, 4)
        assert importlib.util.find_spec("pycocotools.mask") is not None
        assert importlib.util.find_spec("pycocotools") is not None
    assert sys.modules.get("pycocotools.mask") is not mask
    assert mask.area(mask.encode(np.ones((2, 3), np.uint8, order="F"))) == 6, "what was imported stays"


@pytest.mark.parametrize(
    "line",
    [
        "from pycocotools.coco import COCO, maskUtils",
        "from pycocotools.cocoeval import COCOeval, Params, maskUtils",
        "import pycocotools.coco as c; c.COCO()",
        "from pycocotools._mask import iou, merge, frPyObjects, encode, decode, area, toBbox",
        "from lvis import LVIS, LVISEval, LVISResults",
        "from lvis.eval import LVISEval, Params",
        "import lvis; lvis.LVIS, lvis.lvis.LVIS, lvis.results.LVISResults",
        "import motmetrics as mm; mm.lap.default_solver = 'lap'; mm.metrics.create(), mm.io.loadtxt, mm.MOTAccumulator",
        "import trackeval; trackeval.Evaluator.get_default_eval_config(); trackeval.metrics.HOTA({}).get_name()",
        "from trackeval.datasets import MotChallenge2DBox; from trackeval.metrics import HOTA, CLEAR, Identity, VACE",
        "from motmetrics.utils import compare_to_groundtruth; from motmetrics.mot import MOTAccumulator",
    ],
)
def test_lines_of_programs_run(line: str) -> None:
    with ioukit.patched():
        names: dict[str, object] = {}
        exec(line, names)
    found = {getattr(value, "__module__", "") or value.__name__ for name, value in names.items() if name[0] != "_"}  # type: ignore[attr-defined]
    assert {str(name).partition(".")[0] for name in found} == {"ioukit"} or "_mask" in line


def test_the_modules_that_were_loaded_come_back(fake: ModuleType) -> None:
    with ioukit.patched():
        assert importlib.import_module("pycocotools.mask") is ioukit.compat.pycocotools.mask
    assert sys.modules["pycocotools.mask"] is fake
    assert sys.modules["pycocotools"].mask is fake
    assert fake.iou() == "original"


def test_calls_may_repeat_and_nest(fake: ModuleType) -> None:
    ioukit.unpatch()  # nothing to undo
    ioukit.patch()
    ioukit.patch()
    with ioukit.patched():
        pass
    assert importlib.import_module("pycocotools.mask") is ioukit.compat.pycocotools.mask
    ioukit.unpatch()
    assert sys.modules["pycocotools.mask"] is fake
    ioukit.unpatch()


def test_an_error_in_the_block_undoes_it_too(fake: ModuleType) -> None:
    with pytest.raises(KeyError), ioukit.patched():
        raise KeyError
    assert sys.modules["pycocotools.mask"] is fake


def test_modules_that_ioukit_lacks_are_said() -> None:
    with ioukit.patched(), pytest.raises(ModuleNotFoundError, match=r"'pycocotools\.nonsense': ioukit stands in for"):
        importlib.import_module("pycocotools.nonsense")


def test_names_imported_earlier_stay_and_are_listed(fake: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    user = ModuleType("a_user_of_masks")
    vars(user).update(mask_utils=fake, box_overlap=fake.iou, other=len)
    monkeypatch.setitem(sys.modules, user.__name__, user)
    with pytest.warns(
        UserWarning,
        match=r"imported pycocotools or lvis or .* before ioukit\.patch\(\) keep .*: a_user_of_masks;",
    ):
        ioukit.patch()
    assert user.mask_utils is fake
    ioukit.unpatch()
    with ioukit.patched(rebind=True):
        assert user.mask_utils is ioukit.compat.pycocotools.mask
        assert user.box_overlap is ioukit.compat.pycocotools.mask.iou
        vars(user)["other"] = None
    assert user.mask_utils is fake
    assert user.box_overlap is fake.iou
    assert vars(user)["other"] is None, "the program changed it"
    with ioukit.patched(rebind=True):
        vars(user)["mask_utils"] = "changed by the program"
    assert user.mask_utils == "changed by the program"


def test_what_was_replaced_earlier_is_said(fake: ModuleType) -> None:
    """It stays in the original, so the numbers of ioukit are without it."""
    vars(fake)["iou"] = lambda: "replaced"
    with pytest.warns(UserWarning, match=r"^pycocotools\.mask\.iou: replaced before ioukit\.patch\(\)"):
        ioukit.patch()
    ioukit.unpatch()
    assert fake.iou() == "replaced"


@pytest.mark.parametrize("name", patching._VERSIONS)
def test_versions(name: str) -> None:
    """Of the installed package; where there is none, of the names that ioukit has."""
    try:
        installed = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        installed = None
    with ioukit.patched():
        assert importlib.metadata.version(name) == installed or patching._VERSIONS[name]
        names = [found.name for found in importlib.metadata.distributions()]
    assert names.count(name) == (installed is not None)
    if installed is None:
        with pytest.raises(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)


def test_what_a_module_has_from_the_standard_library_was_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that ioukit lacks, with the packages around them, do not matter either."""
    for name in ("motmetrics", "motmetrics.lap", "motmetrics.apps", "motmetrics.apps.example"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    exec("from contextlib import contextmanager", vars(sys.modules["motmetrics.lap"]))
    with warnings.catch_warnings(), ioukit.patched():
        warnings.simplefilter("error")
        with pytest.raises(ModuleNotFoundError, match="ioukit stands in for motmetrics and has no such module"):
            importlib.import_module("motmetrics.apps.example")


def test_objects_can_be_unpickled_without_the_patch() -> None:
    with ioukit.patched():
        from pycocotools import mask  # noqa: PLC0415 - under the patch

        text = pickle.dumps(mask.encode)
    assert pickle.loads(text) is ioukit.compat.pycocotools.mask.encode


@pytest.mark.parametrize("program", ["import ioukit", "import ioukit.patch", "from ioukit import patch; import ioukit"])
def test_the_call_works_however_it_is_imported(program: str) -> None:
    found = run("-c", f"{program}\nioukit.patch()\nimport pycocotools.mask as m\nprint(m.__name__)")
    assert (found.stdout, found.stderr) == ("ioukit.compat.pycocotools.mask\n", "")


SCRIPT = """
import sys
from pycocotools import mask
import neighbour
if __name__ == "__main__":
    print(mask.__name__, sys.argv[1:], neighbour.__name__)
    sys.exit(len(sys.argv))
"""


def test_unchanged_programs_run(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "neighbour.py").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = run("-m", "ioukit.patch", "../script.py", "-x", "1", cwd=elsewhere)
    assert found.stdout == "ioukit.compat.pycocotools.mask ['-x', '1'] neighbour\n", found.stderr
    assert found.returncode == 3
    found = run("-m", "ioukit.patch", "-m", "script", "a", cwd=tmp_path)
    assert found.stdout == "ioukit.compat.pycocotools.mask ['a'] neighbour\n", found.stderr
    assert found.returncode == 2
    found = run("-m", "ioukit.patch", "-c", SCRIPT, "-x", "1", cwd=tmp_path)
    assert found.stdout == "ioukit.compat.pycocotools.mask ['-x', '1'] neighbour\n", found.stderr
    assert found.returncode == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name a script, -m and a module, or -c and code"),
        (["-m"], "-m needs the name of a module"),
        (["-c"], "-c needs code"),
        (["--fast", "x.py"], "unknown option --fast"),
        (["missing.py"], "no such file: missing.py"),
    ],
)
def test_wrong_calls_of_the_program(arguments: list[str], says: str, tmp_path: Path) -> None:
    found = run("-m", "ioukit.patch", *arguments, cwd=tmp_path)
    assert found.returncode == 2
    assert found.stderr.endswith(f"ioukit.patch: {says}\n")
    assert "Traceback" not in found.stderr


def test_the_program_says_how_it_is_called() -> None:
    found = run("-m", "ioukit.patch", "--help")
    assert (found.returncode, found.stdout.splitlines()[0][:40]) == (0, "usage: python -m ioukit.patch script.py ")


def test_without_the_originals(tmp_path: Path) -> None:
    """As where pycocotools and lvis are not installed: no finder of files finds them, and no metadata names them."""
    program = """
        import importlib.machinery, importlib.metadata, sys
        class Missing(importlib.machinery.PathFinder):
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                return None if name in ("pycocotools", "lvis") else super().find_spec(name, path, target)
            @classmethod
            def find_distributions(cls, context):
                return [] if context.name in ("pycocotools", "lvis") else super().find_distributions(context)
        sys.meta_path[:] = [Missing if f is importlib.machinery.PathFinder else f for f in sys.meta_path]
        import ioukit
        def missing(name):
            try:
                __import__(name)
            except ImportError:
                return True
        assert missing("pycocotools")
        with ioukit.patched():
            from pycocotools import mask
            print(mask.__name__, importlib.metadata.version("pycocotools"), importlib.metadata.version("lvis"))
        assert missing("pycocotools")
    """
    found = run("-c", textwrap.dedent(program), cwd=tmp_path)
    assert found.stdout == "ioukit.compat.pycocotools.mask 2.0.11 0.5.3\n", found.stderr


def test_no_warning_without_earlier_imports() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program = "import ioukit; ioukit.patch(); import pycocotools.mask"
        assert run("-c", program).stderr == ""
    assert not caught
