"""Functions of NumPy as expressions of SymPy: they are called with numbers that keep how they were computed."""

from __future__ import annotations

from typing import Any, Callable, Iterable

import numpy as np

from . import _library as lib
from ._record import Array


class Traced:
    """A number that keeps how it was computed, as an expression of SymPy: NumPy's functions call these methods."""

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    @staticmethod
    def value(value: Any) -> Any:
        """A number as SymPy takes it: an expression, or a constant, as an integer where it is one."""
        if isinstance(value, Traced):
            return value.expression
        number = float(value)
        return int(number) if number.is_integer() else number

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """The result of an operation; NumPy itself goes through the entries of arrays."""
        return NotImplemented if isinstance(other, np.ndarray) else Traced(operation(self.expression, self.value(other)))

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def __pow__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a**b)

    def __abs__(self) -> "Traced":
        return self._call("Abs")

    def __neg__(self) -> "Traced":
        return Traced(-self.expression)

    def arctan2(self, other: Any) -> "Traced":
        return self._call("atan2", other)

    def hypot(self, other: Any) -> "Traced":
        return Traced(self.expression**2 + self.value(other) ** 2)._call("sqrt")

    def conjugate(self) -> "Traced":
        return self

    real = property(conjugate)
    __radd__, __rmul__ = __add__, __mul__

    def _call(self, name: str, *others: Any) -> "Traced":
        function = getattr(lib.require("sympy", "an expression of a function of NumPy"), name)
        return Traced(function(self.expression, *map(self.value, others)))

    def __getattr__(self, name: str) -> Callable[[], "Traced"]:
        known = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
        if name not in known and name not in ("sqrt", "sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh"):
            raise AttributeError(name)
        return lambda: self._call(known.get(name, name))


class TracedArray(np.ndarray):
    """An array of traced numbers, of which products with other kinds of arrays are such arrays, too."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(i, dtype=object) if isinstance(i, np.ndarray) else i for i in inputs]
        made = getattr(ufunc, method)(*plain, **options)
        return made.view(TracedArray) if isinstance(made, np.ndarray) else made


def traced(expressions: Iterable[Any]) -> Any:
    """An array of numbers that stand for expressions."""
    numbers = [Traced(e) for e in expressions]
    made = np.empty(len(numbers), dtype=object)
    made[:] = numbers
    return made.view(TracedArray)


def expressions(values: Any) -> list[Any]:
    """What was computed with such numbers, as expressions."""
    sympy = lib.require("sympy", "an expression of a function of NumPy")
    return [sympy.sympify(Traced.value(v)) for v in np.ravel(values)]


def values_at(given: Iterable[Any], symbols: list[Any], points: Array) -> Array:
    """Expressions at points, columns of values of the symbols; a row for each."""
    sympy = lib.require("sympy", "an expression of a function of NumPy")
    rows = [sympy.lambdify(symbols, e, "numpy")(*points) + np.zeros(points.shape[1]) for e in given]
    return np.array(rows, dtype=float)
