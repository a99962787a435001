"""The native module: strict about types, silent about words. Its callers check and explain."""

from ioukit.typing import FloatArray

__version__: str

def first_invalid(boxes: FloatArray, corners: bool) -> int | None: ...
def pairwise(
    variant: str,
    boxes1: FloatArray,
    boxes2: FloatArray,
    out: FloatArray,
    threads: int,
    reused: bool = False,
    simd: str | None = None,
) -> None: ...
def elementwise(
    variant: str, boxes1: FloatArray, boxes2: FloatArray, out: FloatArray, threads: int, simd: str | None = None
) -> None: ...
def simd_levels() -> list[str]: ...
