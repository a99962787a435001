"""What pip calls to build ioukit: maturin, and one sentence where it needs Rust and cannot fetch it, or another Python.

Where there is no cargo, maturin fetches Rust. Without a way to static.rust-lang.org, that ends with fifty lines of
Python's own words. The wheel is for the stable interface (abi3), which free-threaded Python lacks, so pip goes on to
the sources there. Standard: PEP 517 and PEP 660 (hooks of a build backend).
"""

from __future__ import annotations

import functools
import shutil
import sysconfig
from collections.abc import Callable
from typing import TypeVar

import maturin

Made = TypeVar("Made")


def _says_what_is_missing(hook: Callable[..., Made]) -> Callable[..., Made]:
    @functools.wraps(hook)
    def answer(*arguments: object, **options: object) -> Made:
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            raise SystemExit(
                "ioukit: this is the free-threaded build of Python, for which there is no ioukit yet; install it with "
                "the usual build of Python 3.10 or later"
            )
        try:
            return hook(*arguments, **options)
        except Exception as error:
            if shutil.which("cargo"):
                raise
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise SystemExit(
                f"ioukit: there is no cargo on the PATH, and fetching Rust failed ({why}): install Rust first "
                "(https://rustup.rs), or install the wheel ioukit-*-cp310-abi3-*.whl that `pip wheel .` makes on a "
                "machine with Rust; it needs none"
            ) from None

    return answer


get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_editable = _says_what_is_missing(maturin.prepare_metadata_for_build_editable)
prepare_metadata_for_build_wheel = _says_what_is_missing(maturin.prepare_metadata_for_build_wheel)
build_editable = _says_what_is_missing(maturin.build_editable)
build_sdist = _says_what_is_missing(maturin.build_sdist)
build_wheel = _says_what_is_missing(maturin.build_wheel)
