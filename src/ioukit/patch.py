"""``python -m ioukit.patch script.py``: run a program with ioukit in place of pycocotools and others.

    python -m ioukit.patch script.py [arguments]
    python -m ioukit.patch -m module [arguments]
    python -m ioukit.patch -c code [arguments]

The program runs as ``python`` with the same arguments would run it, after `ioukit.patch`. The module can be
called, as ``ioukit.patch()`` is a function also where this module was imported.
"""

from __future__ import annotations

import os
import runpy
import sys
from types import ModuleType

from ioukit.compat.patching import patch

__all__: list[str] = []

_USAGE = """usage: python -m ioukit.patch script.py [arguments]
       python -m ioukit.patch -m module [arguments]
       python -m ioukit.patch -c code [arguments]
"""


class _CallableModule(ModuleType):
    def __call__(self, *, rebind: bool = False) -> None:
        patch(rebind=rebind)


def _main(arguments: list[str]) -> None:
    match arguments:
        case ["-h" | "--help", *_]:
            sys.stdout.write(_USAGE)
        case ["-m", module, *rest]:
            patch()
            sys.argv = [module, *rest]  # runpy puts the path of the module first
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            patch()
            sys.argv = ["-c", *rest]
            if not getattr(sys.flags, "safe_path", False):  # as `python -c` does
                sys.path[0] = ""
            sys.modules["__main__"] = program = ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), vars(program))
        case [script, *rest] if not script.startswith("-"):
            if not os.path.exists(script):
                _refuse(f"no such file: {script}")
            patch()
            sys.argv = [script, *rest]
            if not getattr(sys.flags, "safe_path", False):  # as `python script.py` does
                sys.path[0] = os.path.dirname(os.path.realpath(script))
            runpy.run_path(script, run_name="__main__")
        case ["-m"]:
            _refuse("-m needs the name of a module")
        case ["-c"]:
            _refuse("-c needs code")
        case [option, *_]:
            _refuse(f"unknown option {option}")
        case _:
            _refuse("name a script, -m and a module, or -c and code")


def _refuse(reason: str) -> None:
    sys.stderr.write(f"{_USAGE}ioukit.patch: {reason}\n")
    sys.exit(2)


if __name__ == "__main__":
    _main(sys.argv[1:])
else:
    sys.modules[__name__].__class__ = _CallableModule
