"""What a grid takes from the models of Stone Soup: one compiled model, with dynamics and measurement functions."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from . import _library as lib
from ._record import Array
from ._stonesoup_maps import expressions_of, linear_equations, measured, part
from ._stonesoup_models import Equations, Plugin

_measurement: Any = part("models.measurement.base")
_LIKELIHOODS = ("Model", "GaussianModel", "_AngleNonLinearGaussianMeasurement")  # of Stone Soup, which are Gaussian


def _check(model: Any, n: int) -> None:
    """A measurement model must be of n states, and have Gaussian noise."""
    name = type(model).__name__
    if not isinstance(model, _measurement.MeasurementModel):
        raise lib.InputError(f"a {name} was given in place of a measurement model of Stone Soup")
    for function in ("pdf", "logpdf"):
        owner = next((k.__name__ for k in type(model).__mro__ if function in vars(k)), "nothing")
        if owner not in _LIKELIHOODS or not hasattr(model, "covar"):
            raise lib.ModelError(f"{name} has a likelihood of its own, {function}(): gbees needs Gaussian noise")
    if model.ndim_state != n:
        raise lib.InputError(f"{name} is of {model.ndim_state} states, the transition model of {n}")


class Dynamics:
    """A compiled model for a transition model and the measurement models of its detections.

    Attributes
    ----------
    model
        What gbees.Filter takes.
    set : dict
        Changes of its scenario, the frame among them.
    noisy : bool
        Whether there is noise in the dynamics.
    time_unit, epoch
        Of the model's time.
    """

    model: Any

    def __init__(self, transition: Any, points: Array, noisy: bool, linear: bool) -> None:
        self._points, self.noisy = points, noisy
        self.set: dict[str, Any] = {"frame": "auto"}
        self.time_unit: float = getattr(transition, "time_unit", 1.0)
        self.epoch: datetime.datetime | None = getattr(transition, "epoch", None)
        n = len(points)
        if noisy:
            self.set["frame"] = "moving" if linear or n > 3 else "fixed"

    def same(self, other: "Dynamics") -> bool:
        """Whether another has the same equations, sensors, parameters and times."""
        return bool(self._known() == other._known())

    def _known(self) -> Any:
        return getattr(self.model, "path", self.model), self.set, self.time_unit, self.epoch

    def function_of(self, model: Any) -> str:
        """The name of the measurement function that is a measurement model of Stone Soup."""
        _check(model, len(self._points))
        return self._find(model)

    def _find(self, model: Any) -> str:
        raise NotImplementedError


class _Loaded(Dynamics):
    """The model of a plugin, whose functions are recognised by their values."""

    def __init__(self, transition: Plugin, measurements: list[Any], points: Array) -> None:
        self._equations = transition.equations
        super().__init__(transition, points, bool(np.any(self._equations.diffusion(0.0, points))), False)
        self.model = transition.model
        if transition.dimension:
            self.set["dimension"] = transition.dimension
        if transition.parameters:
            self.set["parameters"] = {str(k): float(v) for k, v in transition.parameters.items()}
        for model in measurements:
            self.function_of(model)

    def _find(self, model: Any) -> str:
        wanted = measured(model, self._points).astype(float)
        functions = self._equations.info.functions
        for k, function in enumerate(functions):
            if len(function.components) == len(wanted):
                found = self._equations.measure(k, 0.0, self._points)
                if np.all(np.abs(found - wanted) <= 1e-9 * (1 + np.abs(wanted))):
                    return function.name
        names = ", ".join(f.name for f in functions) or "none"
        raise lib.ModelError(
            f"{type(model).__name__} is none of the measurement functions of the model {self._equations.info.name} "
            f"({names}): give the dynamics as gbees.stonesoup.Equations"
        )


class _Written(Dynamics):
    """A model that is made of expressions."""

    def __init__(self, equations: Equations, measurements: list[Any], points: Array, linear: bool) -> None:
        super().__init__(equations, points, equations.diffusion is not None, linear)
        self._symbols = equations.symbols
        self._functions: list[tuple[list[Any], list[float]]] = []
        functions, periods = {}, dict((equations.options or {}).get("periods", {}))
        for model in measurements:
            _check(model, len(points))
            expressions, around = expressions_of(model, self._symbols, points)
            self._functions.append((expressions, around))
            name = f"y{len(self._functions)}"
            functions[name] = {f"{name}_{i + 1}": e for i, e in enumerate(expressions)}
            periods.update({f"{name}_{i + 1}": p for i, p in enumerate(around) if p})
        self.model = equations.compiled(measurements=functions, periods=periods)

    def _find(self, model: Any) -> str:
        found = expressions_of(model, self._symbols, self._points)
        if found not in self._functions:
            raise lib.ModelError(
                f"the detection's {type(model).__name__} is none of the measurement models that GridPredictor was given"
            )
        return f"y{self._functions.index(found) + 1}"


def dynamics_of(transition: Any, measurements: list[Any], mean: Array, covariance: Array) -> Dynamics:
    """Makes the model of a density that begins with this mean and covariance.

    Parameters
    ----------
    transition
        Equations, a Plugin, or a linear model of Stone Soup.
    measurements
        Measurement models of Stone Soup.
    """
    spread = np.sqrt(np.diag(covariance))[:, None]
    points = mean[:, None] + spread * np.random.default_rng(1).normal(size=(len(mean), 16))
    if isinstance(transition, Plugin):
        return _Loaded(transition, measurements, points)
    if isinstance(transition, Equations):
        return _Written(transition, measurements, points, False)
    if not hasattr(transition, "matrix"):
        raise lib.ModelError(
            f"{type(transition).__name__} is a step in time, of which the equations are not known: give them as "
            "gbees.stonesoup.Equations"
        )
    sympy = lib.require("sympy", "gbees.stonesoup")
    a, d = linear_equations(transition)
    x = sympy.symbols(f"x1:{len(a) + 1}", real=True)
    drift = {s: sum(float(v) * z for v, z in zip(row, x) if v) for s, row in zip(x, a)}
    return _Written(Equations(drift, diffusion=d.tolist() if np.any(d) else None), measurements, points, True)
