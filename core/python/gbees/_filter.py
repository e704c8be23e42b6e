"""A filter on a stream: measurements that arrive while the program runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Mapping

from ._library import InputError
from ._measurements import plain
from ._model import Model
from ._record import Record
from ._run import Run, _one_run
from ._solver import Solver, Update, warn


# What a run from a record takes from the record.
_OF_THE_RECORD = ("initial", "mean", "covariance", "factor", "width", "extent", "start", "rotate")


def _without_grid(scenario: str) -> str:
    """A scenario's text, in which each key begins a line, without the keys that a record stands for."""
    kept, keep = [], True
    for line in scenario.splitlines():
        if line[:1] not in (" ", "-", ""):
            keep = line.split(":")[0] not in _OF_THE_RECORD
        if keep:
            kept.append(line)
    return "\n".join(kept) + "\n"


class Filter:
    """Holds a density, and takes it from measurement to measurement.

        f = gbees.Filter("lorenz63")
        for time, z in stream:
            record = f.update(time, z, covariance=1)

    Each step is a run from the last record of the one before, whose cells below p* are lost to it. A measurement that is
    refused leaves the filter as it was.

    Parameters
    ----------
    model, scenario, set, threads, backend
        As of :func:`run`; measurements of the scenario are not used.
    function
        The measurement function. By default the model's first.

    Attributes
    ----------
    record : Record or None
        The last one.
    prior : Record or None
        The density at the same time before the measurement; None: there was none.
    updates : list of Update
        One a measurement.
    log_evidence : float
        Of all measurements.
    """

    def __init__(
        self,
        model: str | Model,
        scenario: Any = None,
        *,
        set: Mapping[str, Any] | None = None,
        function: str | None = None,
        threads: int = 0,
        backend: str = "auto",
    ) -> None:
        self._model, self._scenario, self._set = model, scenario, dict(set or {})
        self._options: dict[str, Any] = {"threads": threads, "backend": backend}
        self._function = function
        self._folder = tempfile.TemporaryDirectory(prefix="gbees-filter-")
        self._steps = 0
        self.record: Record | None = None
        self.prior: Record | None = None
        self.updates: list[Update] = []
        self.log_evidence = 0.0

    def _advance(self, time: float, measurements: list[dict[str, Any]]) -> Record:
        if self.record is not None and time < self.record.time:
            raise InputError(f"time: {time:g} is before that of the last step, {self.record.time:g}: a filter goes forward")
        changes = {"accuracy": 0, "records": 1, "end": time, "measurements": measurements}
        if self._steps:
            changes["initial"] = {"file": self._path(self._steps), "updated": "no"}
        else:
            changes = {**self._set, **changes}
        folder = self._path(self._steps + 1)
        solver = Solver(self._model, self._scenario, set=changes, audit=False, output=folder, **self._options)
        try:
            made: Run = _one_run(solver, None, folder)
            if made.interrupted:
                raise KeyboardInterrupt
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            solver.close()
        warn(made.warnings, 3)
        if self._steps:
            shutil.rmtree(self._path(self._steps))
        else:
            self._scenario = _without_grid(solver.scenario)
        self._steps += 1
        self.record = made.records[-1]
        self.prior = made.records[-2] if measurements else None
        self.updates += made.updates
        self.log_evidence += made.log_evidence
        return self.record

    def _path(self, step: int) -> str:
        """Where the results of a step are."""
        return os.path.join(self._folder.name, str(step))

    def predict(self, time: float) -> Record:
        """Takes the density to a time."""
        if self.record is not None and time == self.record.time:
            return self.record
        return self._advance(time, [])

    def update(self, time: float, value: Any, covariance: Any = 1.0, function: str | None = None) -> Record:
        """Takes the density to a time, and applies a measurement there.

        Parameters
        ----------
        time
            Not before that of the last step. Of several measurements at one time each is an update, in their order.
        value
            A number, or one for each component; None or NaN: not measured.
        covariance
            A variance, a list of variances, or a matrix.
        function
            The measurement function, for this measurement.
        """
        values, spread = plain(value), plain(covariance)
        entry: dict[str, Any] = {
            "time": time,
            "value": values if isinstance(values, list) else [values],
            "covariance": spread if isinstance(spread, list) else [spread],
        }
        name = function or self._function
        if name is None:
            name = self._first_function()
        entry["function"] = name
        return self._advance(time, [entry])

    def _first_function(self) -> str:
        from ._model import describe

        info = self._model.info if isinstance(self._model, Model) else describe(self._model)
        if not info.functions:
            raise InputError(f"the model {info.name} has no measurement function")
        return info.functions[0].name

    def close(self) -> None:
        """Removes its files."""
        self._folder.cleanup()

    def __enter__(self) -> "Filter":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
