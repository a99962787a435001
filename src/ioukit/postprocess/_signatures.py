"""What type checkers know of functions of boxes and scores: NumPy in, NumPy out; tensors in, tensors out.

A decorator gives a function these types, whatever its options are, and does nothing when a program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit._array_types import Ids
    from ioukit.regions.boxes import HostBoxes
    from ioukit.typing import Array, Tensor

Options = ParamSpec("Options")


class Survivors(Protocol[Options]):
    """A function that returns positions, for type checkers: NumPy in, NumPy out; tensors in, tensors out."""

    @overload
    def __call__(
        self,
        boxes: HostBoxes,
        scores: NDArray[Any] | Sequence[float],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> Ids: ...
    @overload
    def __call__(
        self, boxes: HostBoxes | Tensor, scores: Tensor, *args: Options.args, **options: Options.kwargs
    ) -> Tensor: ...
    def __call__(self, boxes: Any, scores: Any, *args: Options.args, **options: Options.kwargs) -> Any:
        """The positions."""


class SurvivorsAndNumbers(Protocol[Options]):
    """A function that returns positions and a number or flag for each, in the same way."""

    @overload
    def __call__(
        self,
        boxes: HostBoxes,
        scores: NDArray[Any] | Sequence[float],
        *args: Options.args,
        **options: Options.kwargs,
    ) -> tuple[Ids, NDArray[Any]]: ...
    @overload
    def __call__(
        self, boxes: HostBoxes | Tensor, scores: Tensor, *args: Options.args, **options: Options.kwargs
    ) -> tuple[Tensor, Tensor]: ...
    def __call__(self, boxes: Any, scores: Any, *args: Options.args, **options: Options.kwargs) -> Any:
        """The positions and the numbers."""


def survivors(function: Callable[Concatenate[Any, Any, Options], Array]) -> Survivors[Options]:
    """The function, with its types."""
    return function  # type: ignore[return-value]


def survivors_and_numbers(
    function: Callable[Concatenate[Any, Any, Options], tuple[Array, Array]],
) -> SurvivorsAndNumbers[Options]:
    """The function, with its types."""
    return function  # type: ignore[return-value]
