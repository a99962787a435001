"""Conditions that choose images or objects, written as text: ``weather == "rain" and speed > 30``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ioukit.slices._nodes import Lookup, Truth, WrongKindError, names_in, truth_of
from ioukit.slices._parsing import near_names, parse
from ioukit.slices.columns import Values, values_of

__all__ = ["Expression"]


class Expression:
    """A condition on the values of columns.

    It has names of columns, numbers, texts in quotes, ``true`` and ``false``; the comparisons ``< <= > >= == !=``,
    which may form a chain (``0.2 < x < 0.8``), ``in`` and ``not in`` with a list (``camera in ("front", "rear")``);
    ``and``, ``or``, ``not``; the arithmetic ``+ - * / // % **``; and parentheses. A name with other characters than
    letters, digits and ``_`` stands in backquotes: `` `time of day` == "night" ``. A column of flags is a condition by
    itself. There are no functions and no attributes, and the text is never run as a program.

    A comparison with a missing value is neither true nor false, so a row without the value is not chosen, also not by
    ``not``. Arithmetic is that of float64; a division of 0 by 0 is a missing value.

    Examples:
        >>> wet = Expression('weather == "rain" and speed > 30')
        >>> wet.names
        ('weather', 'speed')
        >>> wet.evaluate({"weather": ["rain", "sun", "rain"], "speed": [50, 50, 10]}).tolist()
        [True, False, False]
    """

    def __init__(self, text: str) -> None:
        """Read an expression.

        Raises:
            TypeError: If it is no text.
            ValueError: If it is no valid expression; the message has the place. It must have at most 2,000 characters
                and at most 40 parts within each other.
        """
        if not isinstance(text, str):
            raise TypeError(f"an expression is a text, got {type(text).__name__}")
        self.text = text
        """The expression as it was given."""
        self._node = parse(text)
        self.names: tuple[str, ...] = tuple(dict.fromkeys(one.name for one in names_in(self._node)))
        """The columns that it names, in order."""

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def evaluate(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.bool_]:
        """Whether the condition is true for each row.

        Args:
            columns: (N,) values by name: numbers, texts or booleans. NaN and empty text are missing values.

        Returns:
            (N,) booleans.

        Raises:
            ValueError: If there is no column of a name, the columns have different lengths, or the kinds of values do
                not fit, such as a text that is compared with a number.
        """
        found = {name: values_of(np.asarray(column), name) for name, column in columns.items()}
        lengths = {len(values.data) for values in found.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns must have the same length, got {', '.join(map(str, sorted(lengths)))}")

        def lookup(name: str) -> Values:
            if name not in found:
                raise self.unknown_name(name, list(found))
            return found[name]

        return self.truth(lookup, lengths.pop() if lengths else 0).can_be_true

    def unknown_name(self, name: str, known: list[str]) -> ValueError:
        """The error about a name that is no column."""
        at = next(one.at for one in names_in(self._node) if one.name == name)
        return ValueError(f"{self._place(at)}: there is no column {name!r}{near_names(name, known)}")

    def truth(self, lookup: Lookup, rows: int) -> Truth:
        """The truth for each of some rows, whose columns ``lookup`` gives.

        Raises:
            ValueError: If the kinds of values do not fit.
        """
        try:
            return truth_of(self._node, lookup, rows)
        except WrongKindError as error:
            raise ValueError(f"{self._place(error.at)}: {error}") from None

    def _place(self, at: int) -> str:
        return f"expression {self.text!r}, character {at + 1}"
