"""A filter on a stream: measurements that arrive while the program runs."""

from __future__ import annotations

import ctypes as c
import math
import os
import tempfile
import threading
from typing import Any, Mapping

from . import _library as lib
from ._measurements import as_yaml, plain
from ._model import Model
from ._record import Record
from ._solver import Solver, Update, warn


class Filter:
    """Holds a density, and takes it from measurement to measurement::

        f = gbees.Filter("lorenz63")
        for time, z in stream:
            record = f.update(time, z, covariance=1)

    The density stays in memory: the results are those of one run with all measurements and a record at each. A
    measurement that is refused leaves the filter as it was. Copies, and what pickle makes, go on by themselves.

    Parameters
    ----------
    model, scenario, set, threads, backend
        As of :func:`run`; measurements and end of the scenario are not used, nor is the model's default accuracy. One
        that is given holds with `frame: lagrangian`.
    function
        The measurement function. By default the model's first.

    Attributes
    ----------
    record : Record or None
        The last one. With `frame: lagrangian` it has no cells: see :meth:`density`.
    prior : Record or None
        The density at the same time before the measurement; None: there was none.
    updates : list of Update
        One a measurement.
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
        changes = {**(set or {}), "measurements": []}
        self._options: dict[str, Any] = {"threads": threads, "backend": backend}
        self._solver = Solver(model, scenario, set=changes, audit=False, stream=True, **self._options)
        self._model, self._function = model, function
        self._warned: dict[int, str] = {}
        self.record: Record | None = None
        self.prior: Record | None = None
        self.updates: list[Update] = []

    @property
    def log_evidence(self) -> float:
        """Logarithm of the evidence of all measurements; 0 without any."""
        return self.updates[-1].total if self.updates else 0.0

    def _call(self, function: Any, *arguments: Any) -> Record:
        """Calls a function of the session, in a thread of its own; returns the last record."""
        made: list[Record] = []
        failed: list[BaseException] = []
        done = False
        solver = self._solver
        solver.updates, solver.smoothed = list(self.updates), []

        def work() -> None:
            nonlocal done
            try:
                solver.call(function, *arguments, receive=made.append)
                done = True
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while thread.is_alive():  # a wait without an end can't be interrupted everywhere
                thread.join(0.2)
        finally:
            solver.cancel()
            thread.join()
            if done and made:
                self._take([self.record, *made], solver.updates)
        if failed:
            raise failed[0]
        warnings = solver.warnings()
        warn([text for bit, text in warnings.items() if bit not in self._warned], 3)
        self._warned.update(warnings)
        assert self.record is not None
        return self.record

    def _take(self, records: list[Record | None], updates: list[Update]) -> None:
        before, now = records[-2:]
        if len(updates) > len(self.updates):
            self.prior = before
        elif before is None or now is None or now.time > before.time:
            self.prior = None
        self.record, self.updates = now, updates

    def predict(self, time: float) -> Record:
        """Takes the density to a time."""
        if self.record is not None and time == self.record.time:
            return self.record
        return self._call(lib.LIBRARY.gbees_session_predict, float(time), 0)

    def density(self) -> Record:
        """The last record with its cells, which `frame: lagrangian` makes only here."""
        return self._call(lib.LIBRARY.gbees_session_predict, math.nan, 1)

    def update(
        self,
        time: float,
        value: Any,
        covariance: Any = None,
        function: str | None = None,
        *,
        likelihood: str | None = None,
        degrees_of_freedom: float | None = None,
    ) -> Record:
        """Takes the density to a time, and applies a measurement there.

        Parameters
        ----------
        time
            Not before that of the last step. Of several measurements at one time each is an update, in their order.
        value
            A number, or one for each component; None or NaN: not measured.
        covariance
            A variance, a list of variances, or a matrix; of Student's t the scale matrix. By default each variance
            is 1.
        function
            The measurement function, for this measurement.
        likelihood
            ``"gaussian"``, ``"student-t"``, or ``"model"``: by the model's own log_likelihood(), without a covariance.
        degrees_of_freedom
            Of Student's t.
        """
        values, spread = plain(value), plain(covariance)
        values = values if isinstance(values, list) else [values]
        if spread is None and likelihood != "model":
            spread = [1.0] * len(values)
        entry = {
            "time": time,
            "function": function or self._function or self._first_function(),
            "value": values,
            "covariance": spread if spread is None or isinstance(spread, list) else [spread],
            "likelihood": likelihood,
            "degrees_of_freedom": degrees_of_freedom,
        }
        entry = {key: given for key, given in entry.items() if given is not None}
        return self._call(lib.LIBRARY.gbees_session_update, as_yaml(entry).encode())

    def smoothed(self) -> list[Record]:
        """With `frame: lagrangian`: the records that a run would have until now, without cells, given all measurements."""
        self._call(lib.LIBRARY.gbees_session_smooth)
        return self._solver.smoothed

    def _first_function(self) -> str:
        info = self._solver.info
        if not info.functions:
            raise lib.InputError(f"the model {info.name} has no measurement function")
        return info.functions[0].name

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "_solver"}
        with tempfile.TemporaryDirectory(prefix="gbees-filter-") as scratch:
            folder = os.path.join(scratch, "kept")
            lib.check(lib.LIBRARY.gbees_session_save, self._solver._session, os.fsencode(folder))
            with open(os.path.join(folder, "checkpoint-B.h5"), "rb") as file:
                return {**kept, "_scenario": self._solver.scenario, "_checkpoint": file.read()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        scenario, checkpoint = state.pop("_scenario"), state.pop("_checkpoint")
        self.__dict__.update(state, updates=list(state["updates"]), _warned=dict(state["_warned"]))
        self._solver = Solver(self._model, scenario, audit=False, stream=True, **self._options)
        with tempfile.TemporaryDirectory(prefix="gbees-filter-") as scratch:
            with open(os.path.join(scratch, "checkpoint-B.h5"), "wb") as file:
                file.write(checkpoint)
            lib.check(lib.LIBRARY.gbees_session_resume, self._solver._session, os.fsencode(scratch))

    def close(self) -> None:
        """Frees its memory."""
        self._solver.close()

    def __enter__(self) -> "Filter":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
