"""Transition models of Stone Soup that are equations in continuous time."""

import datetime
from typing import Any

import numpy as np

from . import _library as lib
from ._equations import Evaluator
from ._model import Model
from ._stonesoup_maps import part
from ._sympy import drift_map

_arrays: Any = part("types.array")
_base: Any = part("base")
_transitions: Any = part("models.transition.base")


def _roots(matrices: Any) -> Any:
    """Of covariances, L L^T = Q; a matrix for each point, or one for all."""
    if np.all(matrices == matrices[0]):
        matrices = matrices[:1]
    values, vectors = np.linalg.eigh(matrices)
    return vectors * np.sqrt(np.maximum(values, 0))[:, None, :]


class _Continuous(_transitions.TransitionModel):  # type: ignore[misc]
    """A transition model that is a stochastic differential equation, by the equations of a compiled model.

    Stone Soup's own filters and simulators can use it, too.  `function()` follows trajectories to a relative error of
    1e-10; with noise in `steps` steps of a time interval, of order 1 in their length.  `covar()`, which Stone Soup asks
    for without a state, is the diffusion times the interval: what the dynamics make of the noise within the interval is
    not in it.  A density of the transition has no formula: `pdf()` is an error.
    """

    def _compiled(self) -> Any:
        """The model with its equations, and no measurement functions of others."""
        raise NotImplementedError

    @property
    def equations(self) -> Evaluator:
        """The equations, at many points at once."""
        if getattr(self, "_evaluator", None) is None:
            parameters = {str(k): v for k, v in (self.parameters or {}).items()}
            self._evaluator = Evaluator(self._compiled(), parameters, getattr(self, "dimension", 0))
            if self._evaluator.time_dependent and self.epoch is None:
                raise lib.ModelError(f"{type(self).__name__} depends on time: give the `epoch` at which its time is 0")
        return self._evaluator

    @property
    def ndim_state(self) -> int:
        """Number of states."""
        return self.equations.n

    def _follow(self, t: float, x: Any, h: float) -> Any:
        """Points after a time without noise."""
        if h == 0:
            return x
        shape, scale = x.shape, np.maximum(np.max(np.abs(x), axis=1, keepdims=True), 1e-300)
        integrate = lib.require("scipy.integrate", "gbees.stonesoup")
        done = integrate.solve_ivp(
            lambda time, y: self.equations.drift(time, y.reshape(shape)).ravel(),
            (t, t + h), x.ravel(), method="DOP853", rtol=1e-10, atol=np.broadcast_to(1e-12 * scale, shape).ravel(),
        )  # fmt: skip
        if not done.success:
            raise lib.NumericError(f"a trajectory of {self.equations.info.name} can't be followed: {done.message}")
        return done.y[:, -1].reshape(shape)

    def _wander(self, t: float, x: Any, h: float, random: Any) -> Any:
        """Points after a time with noise: steps of the classical Runge-Kutta scheme, each followed by its noise."""
        f, dt = self.equations.drift, h / self.steps
        for k in range(self.steps):
            now = t + k * dt
            a = f(now, x)
            b = f(now + dt / 2, x + dt / 2 * a)
            c = f(now + dt / 2, x + dt / 2 * b)
            roots = _roots(self.equations.diffusion(now, x))
            x = x + dt / 6 * (a + 2 * b + 2 * c + f(now + dt, x + dt * c))
            x = x + np.sqrt(abs(dt)) * np.einsum("kij,jk->ik", np.broadcast_to(roots, (x.shape[1], *roots.shape[1:])),
                                                 random.standard_normal(x.shape))  # fmt: skip
        return x

    def function(self, state: Any, noise: Any = False, time_interval: Any = None, random_state: Any = None,
                 **kwargs: Any) -> Any:  # fmt: skip
        """The state, or each of many, after a time interval."""
        if time_interval is None:
            raise lib.InputError(f"{type(self).__name__}.function() needs a time_interval")
        x = np.asarray(state.state_vector, dtype=float)
        h = time_interval.total_seconds() / self.time_unit
        t = 0.0 if self.epoch is None else (state.timestamp - self.epoch).total_seconds() / self.time_unit
        if noise is True:
            x = self._wander(t, x, h, np.random if random_state is None else random_state)
        else:
            x = self._follow(t, x, h)
            x = x if noise is None or noise is False else x + np.asarray(noise, dtype=float)
        return x.view(_arrays.StateVector if x.shape[1] == 1 else _arrays.StateVectors)

    def covar(self, time_interval: Any = None, **kwargs: Any) -> Any:
        """The diffusion times a time interval; the diffusion has to be the same for all states."""
        if time_interval is None:
            raise lib.InputError(f"{type(self).__name__}.covar() needs a time_interval")
        found = self.equations.diffusion(0.0, np.random.default_rng(1).uniform(0.5, 1.5, (self.ndim_state, 2)))
        if not np.allclose(found[0], found[1], rtol=1e-12, atol=0):
            raise lib.ModelError("the noise depends on the state, of which Stone Soup's covar() knows nothing")
        return _arrays.CovarianceMatrix(found[0] * abs(time_interval.total_seconds()) / self.time_unit)

    def rvs(self, num_samples: int = 1, random_state: Any = None, **kwargs: Any) -> Any:
        """Samples of the covariance."""
        random = np.random if random_state is None else random_state
        drawn = _roots(self.covar(**kwargs)[None])[0] @ random.standard_normal((self.ndim_state, num_samples))
        return drawn.view(_arrays.StateVector if num_samples == 1 else _arrays.StateVectors)

    def pdf(self, state1: Any, state2: Any, **kwargs: Any) -> Any:
        """Not known."""
        raise NotImplementedError(f"{type(self).__name__}: the density of a transition has no formula")


class Equations(_Continuous):
    """dx/dt of each state, as expressions of SymPy.

        Equations({x: v, v: -sympy.sin(x)}, diffusion={v: 0.01})
    """

    drift: Any = _base.Property(doc="As of gbees.Model.from_sympy()")
    diffusion: Any = _base.Property(default=None, doc="As of gbees.Model.from_sympy()")
    parameters: Any = _base.Property(default=None, doc="Symbols to values")
    options: Any = _base.Property(default=None, doc="What else it takes: `states`, `time`, `periods`, `walls`")
    time_unit: float = _base.Property(default=1.0, doc="Seconds in a unit of the equations' time")
    epoch: datetime.datetime = _base.Property(default=None, doc="When the equations' time is 0; default: at the prior")
    steps: int = _base.Property(default=100, doc="Steps of a time interval with noise")

    @property
    def symbols(self) -> list[Any]:
        """Those of the states."""
        return list(drift_map(self.drift, (self.options or {}).get("states")))

    def compiled(self, **more: Any) -> Model:
        """The equations, with other options."""
        n, options = len(self.symbols), {**(self.options or {}), **more}
        scenario = {"mean": [0] * n, "covariance": [1] * n, "end": 1}
        return Model.from_sympy(
            "stonesoup", self.drift, diffusion=self.diffusion, parameters=self.parameters, scenario=scenario, **options
        )

    _compiled = compiled


class Plugin(_Continuous):
    """The equations of a model of gbees."""

    model: Any = _base.Property(doc="A gbees.Model, the name of a model, or the path of a plugin")
    parameters: Any = _base.Property(default=None, doc="Names to values; default the model's")
    dimension: int = _base.Property(default=0, doc="Number of states; default the model's")
    time_unit: float = _base.Property(default=1.0, doc="Seconds in a unit of the model's time")
    epoch: datetime.datetime = _base.Property(default=None, doc="When the model's time is 0; default: at the prior")
    steps: int = _base.Property(default=100, doc="Steps of a time interval with noise")

    def _compiled(self) -> Any:
        return self.model
