"""The equations of a compiled model, at many points at once."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any, Mapping

import numpy as np

from . import _library as lib
from ._model import Model, read_info
from ._record import Array

_DIAGONAL, _TIME_DEPENDENT = 1, 1  # of the card's `diffusion` and `flags`
_PARAMETER_VALUES = 32 + 2 * lib.MAX_DIM + 3 * lib.ENTRIES + 2  # as in gbees/model.h: parameters, a frame, tables
_ROWS = lib.ROWS


class _Parameter(c.Structure):
    _fields_ = [("name", c.c_char_p), ("unit", c.c_char_p), ("text", c.c_char_p)] + [
        (name, c.c_double) for name in ("value", "min", "max")
    ]


def _rows(values: Array) -> Any:
    """Pointers to the rows of an array, and one that is NULL after them."""
    made = (_ROWS * (len(values) + 1))()
    for j, row in enumerate(values):
        made[j] = row.ctypes.data_as(_ROWS)
    return made


class Evaluator:
    """Evaluates a model's equations.

    Points are the columns of an array of n rows.

    Parameters
    ----------
    model
        A model, its name, or the path of a plugin.
    parameters
        Those that are not the model's own.
    dimension
        0: the model's.
    """

    def __init__(
        self, model: str | Model, parameters: Mapping[str, float] | None = None, dimension: int = 0
    ) -> None:
        name = model.path if isinstance(model, Model) else model
        self._made_of = model, dict(parameters or {}), dimension
        self._registry, card = c.c_void_p(), c.POINTER(lib.ModelStruct)()
        lib.check(lib.LIBRARY.gbees_registry_create, None, c.byref(self._registry))
        lib.check(lib.LIBRARY.gbees_registry_model, self._registry, os.fsencode(name), c.byref(card))
        self._card = card.contents
        self.info, self.n = read_info(self._card), dimension or int(self._card.dim_default)
        if not self._card.dim_min <= self.n <= self._card.dim_max:
            raise lib.InputError(
                f"the model {self.info.name} has {self._card.dim_min} to {self._card.dim_max} states, not {self.n}"
            )
        table = c.cast(self._card.functions, c.POINTER(lib.FunctionsStruct))
        self._functions = table[self.n - self._card.dim_min]
        self.time_dependent = bool(self._card.flags & _TIME_DEPENDENT)
        self._p = self._values(self._made_of[1])

    def _values(self, given: Mapping[str, float]) -> Array:
        rows = c.cast(self._card.parameters, c.POINTER(_Parameter))
        names = [lib.text(rows[k].name) for k in range(self._card.parameter_count)]
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise lib.InputError(f"the model {self.info.name} has no parameter {', '.join(unknown)}: it has {names}")
        values = np.zeros(_PARAMETER_VALUES)
        for k, name in enumerate(names):
            values[k] = given.get(name, rows[k].value)
        return values

    def _call(self, function: Any, which: tuple[int, ...], t: float, x: Array, rows: int) -> Array:
        x = np.ascontiguousarray(x, dtype=float)
        out = np.full((rows, x.shape[1]), np.nan)
        origin = np.zeros(self.n)
        pointers = origin.ctypes.data_as(_ROWS), _rows(x), self._p.ctypes.data_as(_ROWS)
        function(*which, x.shape[1], t, *pointers, _rows(out))
        return out

    def drift(self, t: float, x: Array) -> Array:
        """dx/dt at points, n rows."""
        return self._call(self._functions.drift_d, (), t, x, self.n)

    def diffusion(self, t: float, x: Array) -> Array:
        """What noise adds to the covariance in a unit of time: n x n for each point."""
        count = x.shape[1]
        if not self._card.diffusion:
            return np.zeros((count, self.n, self.n))
        if self._card.diffusion == _DIAGONAL:
            return self._call(self._functions.diffusion_d, (), t, x, self.n).T[:, :, None] * np.eye(self.n)
        return self._call(self._functions.diffusion_d, (), t, x, self.n**2).T.reshape(count, self.n, self.n)

    def measure(self, which: int, t: float, x: Array) -> Array:
        """The measurement function number `which` at points, a row for each component."""
        return self._call(self._functions.measure_d, (which,), t, x, len(self.info.functions[which].components))

    def __reduce__(self) -> Any:
        return Evaluator, self._made_of

    def __del__(self) -> None:
        if getattr(self, "_registry", None):
            lib.LIBRARY.gbees_registry_destroy(self._registry)
