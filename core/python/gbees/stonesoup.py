"""A grid as a filter of Stone Soup (https://stonesoup.rtfd.io)::

    from gbees.stonesoup import GridPredictor, GridUpdater

    predictor = GridPredictor(transition_model, measurement_model)
    updater = GridUpdater(measurement_model)

in place of those of another filter; and models that are equations in continuous time, for all of Stone Soup::

    from gbees.stonesoup import Equations, Plugin

    transition_model = Equations({x: v, v: -sympy.sin(x)}, diffusion={v: 0.01})
    transition_model = Plugin("lorenz63")

The module imports Stone Soup; `import gbees` does not. The manual's page frameworks.md has the rest.
"""

import datetime
import pickle
from typing import Any, Optional

import numpy as np

from . import _library as lib
from ._filter import Filter
from ._stonesoup_dynamics import dynamics_of
from ._stonesoup_maps import measured, part
from ._stonesoup_models import Equations, Plugin

_base: Any = part("base")
_arrays: Any = part("types.array")
_states: Any = part("types.state")
_predictions: Any = part("types.prediction")
_updates: Any = part("types.update")
_predictors: Any = part("predictor.base")
_cached: Any = part("predictor._utils").predict_lru_cache
_updaters: Any = part("updater.base")

__all__ = ["Equations", "GridPredictor", "GridState", "GridUpdater", "Plugin"]


class _Density:
    """The filter that a state has until another state goes on with it, and what makes a copy of it afterwards."""

    def __init__(self, stream: Filter, dynamics: Any, origin: datetime.datetime) -> None:
        self._stream: Optional[Filter] = stream
        self._kept = b""
        self.dynamics, self.origin = dynamics, origin

    def next(self, stream: Filter) -> "_Density":
        """The density of the next state."""
        return _Density(stream, self.dynamics, self.origin)

    def take(self) -> Filter:
        """A filter that goes on from here, by itself."""
        if self._stream is None:
            copied: Filter = pickle.loads(self._kept)
            return copied
        if self._stream.record is not None:
            self._kept = pickle.dumps(self._stream)
        taken, self._stream = self._stream, None
        return taken

    def look(self) -> Any:
        """The record with its cells, which points that go with the flow do not have otherwise."""
        stream: Filter = self._stream or pickle.loads(self._kept)
        record = stream.record
        return record if record is not None and record.grid and len(record.grid.p) else stream.density()

    def time(self, timestamp: datetime.datetime) -> float:
        """The model's time."""
        return float((timestamp - self.origin).total_seconds() / self.dynamics.time_unit)

    def __getstate__(self) -> Any:
        kept = pickle.dumps(self._stream) if self._stream else self._kept
        return {**self.__dict__, "_stream": None, "_kept": kept}


class GridState(_states.GaussianState):  # type: ignore[misc]
    """A state whose density is on a grid.

    It has mean and covariance of the grid where other states have those of a Gaussian, so that what compares, draws or
    associates Gaussians can have it.
    """

    density: Any = _base.Property(doc="What the next state goes on from")
    log_evidence: float = _base.Property(default=0.0, doc="Logarithm of the evidence of all measurements so far")

    @property
    def record(self) -> Any:
        """The gbees.Record with the cells: `marginal()`, `sample()`, `credible()` and so on."""
        return self.density.look()

    def particles(self, count: int, rng: Any = None) -> Any:
        """A ParticleState of points that are drawn from the density."""
        points = self.record.sample(count, rng)
        weight = np.full(count, 1 / count)
        return _states.ParticleState(_arrays.StateVectors(points.T), weight=weight, timestamp=self.timestamp)


class GridStatePrediction(_predictions.Prediction, GridState):  # type: ignore[misc]
    """A prediction on a grid."""


class GridStateUpdate(_updates.Update, GridState):  # type: ignore[misc]
    """A posterior on a grid."""


def _moments(record: Any) -> dict[str, Any]:
    return {
        "state_vector": _arrays.StateVector(record.mean),
        "covar": _arrays.CovarianceMatrix(record.covariance),
    }


class GridPredictor(_predictors.Predictor):  # type: ignore[misc]
    """Takes a density to the time of the next measurement, on a grid, by gbees.Filter.

    The prior is a GaussianState, with which a density begins, or a state of this predictor or of the updater, which may
    be the prior of several predictions.  Transition models are :class:`Equations`, :class:`Plugin`, and Stone Soup's
    linear ones whose matrix and covariance are, for steps of any length, those of one linear equation with white noise:
    constant velocity and other derivatives, random walk, Ornstein-Uhlenbeck, Singer.
    """

    measurement_model: Any = _base.Property(
        doc="The measurement model, or a list of all those of the detections that the updater will get"
    )
    set: Any = _base.Property(
        default=None, doc="Changes of the scenario: `frame`, `factor`, `threshold` and so on, as of gbees.Filter"
    )
    threads: int = _base.Property(default=0, doc="As of gbees.Filter")
    backend: str = _base.Property(default="auto", doc="As of gbees.Filter")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.control_model is not None:
            raise lib.InputError("GridPredictor takes no control model: put the control into the equations")
        self._made: Any = (None, None, None)

    def _dynamics(self, prior: Any) -> Any:
        """The compiled model, which is made for the first prior."""
        if not isinstance(prior, _states.GaussianState):
            raise lib.InputError(
                f"the prior is a {type(prior).__name__}: a grid begins with a GaussianState, or goes on from its own"
            )
        n, given = self.transition_model.ndim_state, self.measurement_model
        if prior.ndim != n:
            raise lib.InputError(f"the prior has {prior.ndim} states, the transition model {n}")
        if n > lib.MAX_DIM:
            raise lib.InputError(f"the transition model has {n} states: a grid has at most {lib.MAX_DIM}")
        if self._made[0] is not self.transition_model or self._made[1] is not given:
            models = list(given) if isinstance(given, (list, tuple)) else [given]
            made = dynamics_of(self.transition_model, models, _vector(prior.mean), np.asarray(prior.covar, dtype=float))
            self._made = (self.transition_model, given, made)
        return self._made[2]

    def _begin(self, prior: Any, dynamics: Any) -> _Density:
        """A density that begins as a Gaussian."""
        origin = dynamics.epoch or prior.timestamp
        start = (prior.timestamp - origin).total_seconds() / dynamics.time_unit
        chosen = {**dynamics.set, **(self.set or {})}
        begin: dict[str, Any] = {"mean": _vector(prior.mean), "covariance": np.asarray(prior.covar, dtype=float)}
        begin.update(start=start, end=start + 1)
        options = {**_threshold(chosen, dynamics.noisy, prior.ndim), **chosen, **begin}
        stream = Filter(dynamics.model, set=options, threads=self.threads, backend=self.backend)
        return _Density(stream, dynamics, origin)

    @_cached(maxsize=1)  # type: ignore[untyped-decorator] # one prediction for all detections of a time
    def predict(self, prior: Any, timestamp: Any = None, **kwargs: Any) -> Any:
        """The density at a time, a datetime that is not before that of the prior: a GridStatePrediction."""
        if timestamp is None or prior.timestamp is None:
            raise lib.InputError("a prediction needs the prior's timestamp, and its own")
        dynamics = self._dynamics(prior)
        density = prior.density if isinstance(prior, GridState) else self._begin(prior, dynamics)
        if not density.dynamics.same(dynamics):
            raise lib.InputError("the prior is of a GridPredictor of other models: begin with a GaussianState")
        stream = density.take()
        record = stream.predict(density.time(timestamp))
        return GridStatePrediction(
            **_moments(record), timestamp=timestamp, density=density.next(stream), log_evidence=stream.log_evidence,
            transition_model=self.transition_model, prior=prior,
        )  # fmt: skip


def _vector(column: Any) -> Any:
    return np.asarray(column, dtype=float).ravel()


def _threshold(chosen: Any, noisy: bool, n: int) -> Any:
    """p* of a grid, unless something else is chosen that prunes: 5e-5 of what the cell at a Gaussian's peak holds."""
    others = {"threshold", "mass_budget", "mass_budget_total", "tail", "accuracy", "width"}
    grid = chosen["frame"] in ("fixed", "moving") or (noisy and chosen["frame"] == "auto")
    factor = chosen.get("factor", 1)
    if not grid or np.ndim(factor) or others & {*chosen}:
        return {}
    return {"threshold": 5e-5 * (0.2 / float(factor)) ** n}


class GridUpdater(_updaters.Updater):  # type: ignore[misc]
    """Applies a detection to a prediction of GridPredictor.

    The measurement model is the detection's, or else the updater's; GridPredictor has to know it.
    """

    def update(self, hypothesis: Any, **kwargs: Any) -> Any:
        """The density given a detection, of a hypothesis that has one: a GridStateUpdate."""
        prediction = getattr(hypothesis, "prediction", None)
        if not isinstance(prediction, GridState):
            raise lib.InputError("GridUpdater needs a hypothesis of one prediction of GridPredictor, and one detection")
        detection = hypothesis.measurement
        if detection.timestamp != prediction.timestamp:
            raise lib.InputError(f"the detection is of {detection.timestamp}, the prediction of {prediction.timestamp}")
        model = self._check_measurement_model(detection.measurement_model)
        density = prediction.density
        function = density.dynamics.function_of(model)
        stream = density.take()
        record = stream.update(
            density.time(detection.timestamp), _vector(detection.state_vector),
            covariance=np.asarray(model.covar(), dtype=float), function=function,
        )  # fmt: skip
        return GridStateUpdate(
            **_moments(record), timestamp=detection.timestamp, density=density.next(stream),
            log_evidence=stream.log_evidence, hypothesis=hypothesis,
        )  # fmt: skip

    def predict_measurement(self, predicted_state: Any, measurement_model: Any = None, measurement_noise: bool = True,
                            **kwargs: Any) -> Any:  # fmt: skip
        """Mean and covariance of the measurement that a density expects, from its cells."""
        model = self._check_measurement_model(measurement_model)
        record = predicted_state.record
        x, p = record.centres.T, record.p / record.p.sum()
        about = measured(model, np.asarray(predicted_state.mean, dtype=float))
        off = (measured(model, x) - about).astype(float)  # of angles within half a period
        mean = off @ p
        covariance = ((off - mean[:, None]) * p) @ (off - mean[:, None]).T
        if measurement_noise:
            covariance = covariance + np.asarray(model.covar(), dtype=float)
        cross = ((x - (x @ p)[:, None]) * p) @ (off - mean[:, None]).T
        return _predictions.GaussianMeasurementPrediction(
            _arrays.StateVector(about + mean[:, None]), _arrays.CovarianceMatrix(covariance),
            timestamp=predicted_state.timestamp, cross_covar=_arrays.CovarianceMatrix(cross),
        )  # fmt: skip
