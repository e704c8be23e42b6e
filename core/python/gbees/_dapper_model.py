"""The model of an HMM of DAPPER: made from its functions, or compared with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _library as lib
from ._equations import Evaluator
from ._model import Model
from ._record import Array
from ._traced import Traced, expressions, traced

_FITS = 1e-4  # of the largest rate: so far a step's rate may differ from a drift, by rounding and its own error


def dense(matrix: Any, n: int, what: str) -> Any:
    """A covariance of DAPPER's as an array; 0 is none there."""
    full = getattr(matrix, "full", None)
    if full is None:
        raise lib.InputError(f"{what} has no covariance: gbees needs a Gaussian one that is not 0")
    return np.array(np.broadcast_to(np.asarray(full, dtype=float), (n, n)))


def _noise(HMM: Any) -> Array:
    """What noise adds to the covariance in a unit of time."""
    noise, n = HMM.Dyn.noise, HMM.Dyn.M
    if np.any(np.asarray(getattr(noise, "mu", 0.0), dtype=float)):
        raise lib.InputError("the noise of the HMM's dynamics has a mean: put it into the equations")
    zero = np.isscalar(noise.C) and noise.C == 0
    return np.zeros((n, n)) if zero else dense(noise.C, n, "the noise of the HMM's dynamics")


def model_of(HMM: Any) -> Model:
    """Makes a model: the drift is the rate at which the HMM's steps begin, its noise is theirs, and the measurement
    function is the HMM's first one."""
    sympy = lib.require("sympy", "gbees.dapper.Grid without a model")
    n = HMM.Dyn.M
    if n > lib.MAX_DIM:
        raise lib.InputError(f"the HMM has {n} states: a grid has at most {lib.MAX_DIM}")
    x, (t, h) = sympy.symbols(f"x1:{n + 1}", real=True), sympy.symbols("t dt", real=True)
    try:
        steps = expressions(HMM.Dyn.model(traced(x), Traced(t), Traced(h)))
        seen = expressions(HMM.Obs(0).model(traced(x)))
    except (TypeError, AttributeError, ValueError, IndexError) as error:
        raise lib.ModelError(
            f"the HMM's functions are more than arithmetic by NumPy ({error}): give Grid a `model` of these equations"
        ) from None
    noise = _noise(HMM)
    return Model.from_sympy(
        "dapper",
        [sympy.diff(e, h).subs(h, 0) for e in steps],
        states=x,
        diffusion=noise.tolist() if np.any(noise) else None,
        measurements={"observed": seen},
        time=t,
        scenario={"mean": [0] * n, "covariance": [1] * n, "end": float(HMM.tseq.T)},
    )


class Checked:
    """A model's equations, beside the functions of an HMM, at points about the HMM's initial mean."""

    def __init__(self, model: Any, changes: Any, function: str | None, HMM: Any) -> None:
        self._equations = Evaluator(model, changes.get("parameters"), changes.get("dimension", 0))
        info, n = self._equations.info, HMM.Dyn.M
        names = [f.name for f in info.functions]
        if function is not None and function not in names:
            raise lib.InputError(f"the model {info.name} has no measurement function {function}: it has {names}")
        self.function = names.index(function) if function else 0
        if self._equations.n != n:
            raise lib.InputError(f"the model {info.name} has {self._equations.n} states, the HMM {n}")
        spread = np.sqrt(np.diag(dense(HMM.X0.C, n, "the HMM's initial density X0")))
        self._points = HMM.X0.mu + spread * np.random.default_rng(1).normal(size=(16, n))
        self._check_dynamics(HMM)
        self._seen: Any = None

    def _check_dynamics(self, HMM: Any) -> None:
        h, name = 1e-6 * HMM.tseq.dt, self._equations.info.name
        rates = (HMM.Dyn(self._points, 0.0, h) - self._points) / h
        drift = self._equations.drift(0.0, self._points.T).T
        if not np.max(np.abs(rates - drift)) <= _FITS * np.max(np.abs(drift)):
            raise lib.ModelError(
                f"the HMM's steps do not begin along the drift of the model {name}: at {self._points[0].tolist()} the "
                f"rates are {rates[0].tolist()} and {drift[0].tolist()}"
            )
        noise, given = _noise(HMM), self._equations.diffusion(0.0, self._points.T)
        if not np.max(np.abs(given - noise)) <= 1e-9 * max(np.max(np.abs(noise)), np.max(np.abs(given))):
            raise lib.ModelError(
                f"the model {name} has noise of covariance {given[0].tolist()} in a unit of time, the HMM {noise.tolist()}"
            )

    def check_observation(self, observation: Any) -> None:
        """The HMM's observation function must be the model's measurement function."""
        if observation is self._seen:
            return
        info = self._equations.info
        function = info.functions[self.function] if info.functions else None
        wanted = np.asarray(observation(self._points), dtype=float).T
        if function is not None and len(function.components) == len(wanted):
            found = self._equations.measure(self.function, 0.0, self._points.T)
            if np.all(np.abs(found - wanted) <= 1e-9 * (1 + np.abs(wanted))):
                self._seen = observation
                return
        named = "none" if function is None else f"{function.name} ({', '.join(function.components)})"
        raise lib.ModelError(
            f"the HMM's observation function is not the measurement function of the model {info.name}, {named}"
        )
