"""Stone Soup's models as equations: linear transitions as a drift, measurement functions as expressions of SymPy."""

from __future__ import annotations

import datetime
import types
from typing import Any, Callable

import numpy as np

from . import _library as lib
from ._record import Array

_FITS = 1e-6  # of the largest entry: so far two matrices that should be the same may differ; Stone Soup integrates some
_ZERO = 1e-11  # of the largest entry: rounding


def part(name: str) -> Any:
    """A module of Stone Soup."""
    return lib.require(f"stonesoup.{name}", "gbees.stonesoup", "stonesoup")


def _cleaned(matrix: Array) -> Array:
    """Without what is rounding."""
    largest = np.max(np.abs(matrix), initial=0.0)
    digits = 12 - int(np.ceil(np.log10(largest))) if largest > 0 else 0
    return np.where(np.abs(matrix) < _ZERO * largest, 0.0, np.round(matrix, digits)) + 0.0


def _integrals(a: Array, h: float) -> tuple[Array, Array]:
    """exp(A h), and the matrix that maps the entries of D to those of the integral of exp(A s) D exp(A s)^T to h."""
    linalg = lib.require("scipy.linalg", "gbees.stonesoup")
    n = len(a)
    both = np.kron(a, np.eye(n)) + np.kron(np.eye(n), a)
    block = np.block([[both, np.eye(n * n)], [np.zeros((n * n, 2 * n * n))]])
    return linalg.expm(a * h), linalg.expm(block * h)[: n * n, n * n :]


def linear_equations(model: Any) -> tuple[Array, Array]:
    """A and D of dx = A x dt + dw, D dt the covariance of dw, whose steps of any length are those of a linear model of
    Stone Soup, by its matrix(time_interval) and covar(time_interval)."""
    linalg = lib.require("scipy.linalg", "gbees.stonesoup")
    name = type(model).__name__

    def step(h: float) -> tuple[Array, Array]:
        interval = datetime.timedelta(seconds=h)
        f, q = model.matrix(time_interval=interval), model.covar(time_interval=interval)
        return np.asarray(f, dtype=float), np.asarray(q, dtype=float)

    h = 1.0
    while h > 1e-3 and np.max(np.abs(step(h)[0] - np.eye(model.ndim_state))) > 0.5:
        h /= 2
    f, q = step(h)
    if np.array_equal(f, step(h / 2)[0]) and np.array_equal(q, step(h / 2)[1]):
        raise lib.ModelError(f"{name} has one matrix for steps of any length: a step in time, which no equations have")
    a = _cleaned(np.real(linalg.logm(f)) / h)
    d = np.linalg.solve(_integrals(a, h)[1], q.ravel()).reshape(q.shape)
    d = _cleaned((d + d.T) / 2)
    for other in (h / 4, h, 4 * h):
        flow, sums = _integrals(a, other)
        f, q = step(other)
        for what, found, wanted in (("matrix", flow, f), ("covariance", (sums @ d.ravel()).reshape(q.shape), q)):
            if np.max(np.abs(found - wanted)) > _FITS * np.max(np.abs(wanted)):
                raise lib.ModelError(
                    f"{name} has a {what} that is not that of one linear equation with white noise for steps of every "
                    "length: give its equations as gbees.stonesoup.Equations"
                )
    if np.min(np.linalg.eigvalsh(d)) < -_FITS * np.max(np.abs(d)):
        raise lib.ModelError(f"{name} has noise that is not a covariance per unit of time")
    return a, d


class _Traced:
    """A number that keeps how it was computed, as an expression of SymPy: NumPy's functions call these methods."""

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    @staticmethod
    def _of(value: Any) -> Any:
        if isinstance(value, _Traced):
            return value.expression
        number = float(value)
        return int(number) if number.is_integer() else number

    def __add__(self, other: Any) -> "_Traced":
        return _Traced(self.expression + self._of(other))

    def __mul__(self, other: Any) -> "_Traced":
        return _Traced(self.expression * self._of(other))

    def __sub__(self, other: Any) -> "_Traced":
        return _Traced(self.expression - self._of(other))

    def __rsub__(self, other: Any) -> "_Traced":
        return _Traced(self._of(other) - self.expression)

    def __truediv__(self, other: Any) -> "_Traced":
        return _Traced(self.expression / self._of(other))

    def __rtruediv__(self, other: Any) -> "_Traced":
        return _Traced(self._of(other) / self.expression)

    def __pow__(self, other: Any) -> "_Traced":
        return _Traced(self.expression ** self._of(other))

    def __abs__(self) -> "_Traced":
        return self._call("Abs")

    def __neg__(self) -> "_Traced":
        return _Traced(-self.expression)

    def arctan2(self, other: Any) -> "_Traced":
        return self._call("atan2", other)

    def hypot(self, other: Any) -> "_Traced":
        return _Traced(self.expression**2 + self._of(other) ** 2)._call("sqrt")

    def conjugate(self) -> "_Traced":
        return self

    real = property(conjugate)
    __radd__, __rmul__ = __add__, __mul__

    def _call(self, name: str, *others: Any) -> "_Traced":
        function = getattr(lib.require("sympy", "gbees.stonesoup"), name)
        return _Traced(function(self.expression, *map(self._of, others)))

    def __getattr__(self, name: str) -> Callable[[], "_Traced"]:
        known = {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}
        if name not in known and name not in ("sqrt", "sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh"):
            raise AttributeError(name)
        return lambda: self._call(known.get(name, name))


class _Array(np.ndarray):
    """An array of traced numbers: Stone Soup's own arrays would make products of matrices numbers of C."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(i, dtype=object) if isinstance(i, np.ndarray) else i for i in inputs]
        made = getattr(ufunc, method)(*plain, **options)
        return made.view(_Array) if isinstance(made, np.ndarray) else made


def _trace(model: Any, symbols: list[Any]) -> list[Any]:
    """What a measurement function gives for symbols."""
    if hasattr(model, "model_list"):
        return [e for part in model.model_list for e in _trace(part, symbols)]
    state = types.SimpleNamespace(state_vector=np.array([[_Traced(s)] for s in symbols], dtype=object).view(_Array))
    function = getattr(model, "_function", model.function)  # of angles, without their types
    return [_Traced._of(v) for v in np.ravel(function(state, noise=False))]


def expressions_of(model: Any, symbols: list[Any], points: Array) -> tuple[list[Any], list[float]]:
    """The components of a measurement function of Stone Soup as expressions of the states, and their periods.

    The function is called with symbols in place of numbers. What it gives is compared with the function itself at
    `points`, columns of states.
    """
    sympy = lib.require("sympy", "gbees.stonesoup")
    name, values = type(model).__name__, measured(model, points)
    try:
        found = [sympy.sympify(e) for e in _trace(model, symbols)]
        there = [sympy.lambdify(symbols, e, "numpy")(*points) + np.zeros(points.shape[1]) for e in found]
    except (TypeError, AttributeError, ValueError) as error:
        raise lib.ModelError(
            f"{name} can't be written as equations: its function is more than arithmetic by NumPy ({error})"
        ) from None
    if not np.all(np.abs(values.astype(float) - there) <= 1e-9 * (1 + np.abs(there))):
        raise lib.ModelError(f"{name} can't be written as equations: its function has branches")
    return found, [2 * np.pi if _goes_around(v) else 0.0 for v in values[:, 0]]


def _goes_around(value: Any) -> bool:
    """Whether a component is an angle of period 2 pi: a bearing, but no elevation."""
    ends = [value.mod_angle(v) for v in (3.0, 4.0)] if hasattr(value, "mod_angle") else (0, 0)
    return bool(np.allclose(ends, (3, 4 - 2 * np.pi)))


def measured(model: Any, points: Array) -> Array:
    """A measurement function of Stone Soup at points, columns of states."""
    State = part("types.state").State
    StateVectors = part("types.array").StateVectors
    return np.asarray(model.function(State(StateVectors(points)), noise=False))
