"""Stone Soup's models as equations: linear transitions as a drift, measurement functions as expressions of SymPy."""

from __future__ import annotations

import datetime
import types
from typing import Any

import numpy as np

from . import _library as lib
from ._record import Array
from ._traced import expressions, traced, values_at

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


def _trace(model: Any, symbols: list[Any]) -> list[Any]:
    """What a measurement function gives for symbols."""
    if hasattr(model, "model_list"):
        return [e for part in model.model_list for e in _trace(part, symbols)]
    state = types.SimpleNamespace(state_vector=traced(symbols)[:, None])
    function = getattr(model, "_function", model.function)  # of angles, without their types
    return expressions(function(state, noise=False))


def expressions_of(model: Any, symbols: list[Any], points: Array) -> tuple[list[Any], list[float]]:
    """The components of a measurement function of Stone Soup as expressions of the states, and their periods.

    The function is called with symbols in place of numbers. What it gives is compared with the function itself at
    `points`, columns of states.
    """
    name, values = type(model).__name__, measured(model, points)
    try:
        found = _trace(model, symbols)
        there = values_at(found, symbols, points)
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
