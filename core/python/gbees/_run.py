"""Runs: all at once, or record by record."""

from __future__ import annotations

import contextlib
import ctypes as c
import os
import queue
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping

import numpy as np

from . import _library as lib
from . import _measurements as tables
from ._compare import Comparison, compare as run_rivals, listed
from ._model import Model, ModelInfo, describe
from ._record import Record


@dataclass(frozen=True)
class Update:
    """What a measurement told: `log_evidence` is the logarithm of the integral of likelihood times prior, `total` that
    of all measurements so far. Those by the audit's samples are NaN where there are none."""

    number: int
    time: float
    log_evidence: float
    total: float
    sampled: float
    sampled_error: float


def _change(scenario: c.c_void_p, key: str, value: Any) -> None:
    assignment = f"{key}={value if isinstance(value, str) else tables.as_yaml(value)}"
    lib.check(lib.LIBRARY.gbees_scenario_set, scenario, assignment.encode())


def _has_key(text: str, key: str) -> bool:
    return any(line.startswith(f"{key}:") for line in text.splitlines())


def _scenario_text(given: Any, changes: Mapping[str, Any], entries: Any) -> str:
    """The scenario as YAML: a file, a text or a map, then the changes, then the measurements."""
    name, text = "the scenario", ""
    if isinstance(given, Mapping):
        changes = {**given, **changes}
    elif given is not None:
        text = os.fspath(given)
        if "\n" not in text and ":" not in text:
            name = text
            try:
                with open(text, encoding="utf-8") as file:
                    text = file.read()
            except OSError as error:
                raise lib.FileError(f"{name}: {error.strerror}") from None
    scenario = c.c_void_p()
    lib.check(lib.LIBRARY.gbees_scenario_create, text.encode(), os.fsencode(name), c.byref(scenario))
    try:
        for key, value in changes.items():
            _change(scenario, key, value)
        if entries is not None:
            _change(scenario, "measurements", entries)
            end = tables.last_time(entries) if isinstance(entries, list) else None  # of a table the library sets it
            if end is not None and not _has_key(lib.text(lib.LIBRARY.gbees_scenario_text(scenario)), "end"):
                _change(scenario, "end", end)
        made = lib.LIBRARY.gbees_scenario_text(scenario)
        if made is None:
            raise lib.OutOfMemoryError("not enough memory for the scenario's text")
        return lib.text(made)
    finally:
        lib.LIBRARY.gbees_scenario_destroy(scenario)


class Solver:
    """One run, record by record.

        for record in gbees.Solver("lorenz63"):
            print(record.time, record.mean)

    The run goes on in a thread of its own, at most two records ahead, while the loop's body runs; leaving the loop ends
    it. A scenario's `accuracy` has no effect, as it takes several runs: see :func:`run`. The arguments are those of
    :func:`run`.

    Attributes
    ----------
    info : ModelInfo
        The model's.
    states, units : tuple of str
        Of the problem.
    updates : list of Update
        So far.
    scenario : str
        All of it, as YAML.
    backend : str
        Its name.
    comparison : Comparison or None
        Other filters beside it, if `compare` asked for them and the run has ended.
    """

    def __init__(
        self,
        model: str | Model,
        scenario: Any = None,
        *,
        set: Mapping[str, Any] | None = None,
        measurements: Any = None,
        covariance: Any = None,
        epoch: Any = None,
        time_unit: float | None = None,
        threads: int = 0,
        backend: str = "auto",
        audit: bool = True,
        samples: int = 0,
        output: str | os.PathLike[str] | None = None,
        plugin_path: str | None = None,
        compare: str | Iterable[str] | None = None,
    ) -> None:
        self._session: c.c_void_p | None = None
        self._thread: threading.Thread | None = None
        self._output = None if output is None else os.fspath(output)
        name = model.path if isinstance(model, Model) else model
        info = model.info if isinstance(model, Model) else describe(name)
        own, folder, entries = None, None, None
        if isinstance(scenario, str) and scenario in info.scenarios:
            own, scenario = scenario, None
        self._rivals = listed(compare)
        self.comparison: Comparison | None = None
        with contextlib.ExitStack() as stack:
            if isinstance(measurements, (str, os.PathLike)) and os.path.isdir(measurements):
                folder = os.fspath(measurements)
            elif measurements is not None:
                entries = stack.enter_context(tables.entries(measurements, covariance, epoch, time_unit))
            text = _scenario_text(scenario, set or {}, entries)
            self._create(name, text, own, folder, threads, backend, audit, samples, plugin_path)
        self.info: ModelInfo = info
        self.updates: list[Update] = []

    def _create(self, name: str, text: str, own: Any, folder: Any, threads: int, backend: str, audit: bool,
                samples: int, plugin_path: str | None) -> None:
        def attempt(which: str) -> None:
            options = lib.OptionsStruct(
                os.fsencode(name), lib.encoded(plugin_path), which.encode(), text.encode(), lib.encoded(own),
                lib.encoded(folder), threads, int(audit), samples, self._rivals,
            )  # fmt: skip
            session = c.c_void_p()
            lib.check(lib.LIBRARY.gbees_session_create, c.byref(options), c.byref(session))
            self._session = session

        if backend != "auto":
            attempt(backend)
        else:
            with contextlib.suppress(lib.BackendError):
                attempt("cuda")
            if self._session is None:
                attempt("cpu")
        session, library = self._session, lib.LIBRARY
        n = library.gbees_session_dimension(session)
        self.states = tuple(lib.text(library.gbees_session_state(session, j, 0)) for j in range(n))
        self.units = tuple(lib.text(library.gbees_session_state(session, j, 1)) for j in range(n))
        self.backend = lib.text(library.gbees_session_backend(session))
        self.scenario = lib.text(library.gbees_session_scenario(session))
        self.accuracy = float(library.gbees_session_accuracy(session))

    def __iter__(self) -> Iterator[Record]:
        return self.records()

    def records(self, progress: Callable[[float, float], None] | None = None) -> Iterator[Record]:
        """Runs, and yields each record.

        Parameters
        ----------
        progress
            Is called in the thread of the run, a few times a second, with the model time and the part that is done.
        """
        if self._thread is not None or self._session is None:
            raise lib.InputError("this solver runs already, or is closed: make another")
        line: queue.Queue[Any] = queue.Queue(maxsize=2)
        stopped = threading.Event()
        lib.check(lib.LIBRARY.gbees_session_open, self._session, lib.encoded(self._output))
        self._thread = threading.Thread(target=self._propagate, args=(line, stopped, progress), daemon=True)
        self._thread.start()
        try:
            while True:
                try:
                    item = line.get(timeout=0.2)  # a wait without an end can't be interrupted everywhere
                except queue.Empty:
                    continue
                if isinstance(item, Record):
                    yield item
                elif item is None:
                    break
                else:
                    raise item
        finally:
            stopped.set()
            self.cancel()
            self._thread.join()
            self._thread = None
            self._warn()
            lib.LIBRARY.gbees_session_close(self._session)

    def _propagate(self, line: queue.Queue[Any], stopped: threading.Event, progress: Any) -> None:
        failure: list[BaseException] = []

        def put(item: Any) -> None:
            while not stopped.is_set():
                try:
                    line.put(item, timeout=0.1)
                    return
                except queue.Full:
                    pass

        def guarded(function: Callable[..., None]) -> Callable[..., None]:
            def call(*arguments: Any) -> None:
                try:
                    function(*arguments)
                except BaseException as error:  # an exception can't pass through C
                    failure.append(error)
                    self.cancel()

            return call

        def on_update(number: int, time: float, evidence: Any) -> None:
            e = evidence.contents
            self.updates.append(Update(number, time, e.log_evidence, e.total, e.sampled, e.sampled_error))

        observer = lib.ObserverStruct(
            lib.ON_RECORD(guarded(lambda given: put(Record(given.contents, self.states, self.units)))),
            lib.ON_UPDATE(guarded(on_update)),
            lib.ON_PROGRESS(guarded(progress or (lambda time, part: None))),
        )
        try:
            lib.check(lib.LIBRARY.gbees_session_run, self._session, c.byref(observer))
            if self._rivals and not failure and self.plan()[1]:
                self.comparison = run_rivals(self._session, tuple(self.states))
        except BaseException as error:
            failure.append(error)
        put(failure[0] if failure else None)

    def cancel(self) -> None:
        """Ends the run soon. Any thread may call it."""
        if self._session is not None:
            lib.LIBRARY.gbees_session_cancel(self._session)

    def warnings(self) -> list[str]:
        """Texts of the run's warnings."""
        text, found = c.create_string_buffer(256), []
        for bit in range(32):
            if lib.LIBRARY.gbees_session_warning(self._session, bit, text, len(text)):
                found.append(lib.text(text.value))
        return found

    def _warn(self) -> None:
        self.last_warnings = self.warnings()

    def plan(self) -> tuple[bool, bool, bool, float]:
        """Of the last run: another is planned; none before was better; the accuracy is met; its error's bound."""
        best, met, bound = c.c_int(), c.c_int(), c.c_double()
        more = lib.LIBRARY.gbees_session_plan(self._session, c.byref(best), c.byref(met), c.byref(bound))
        return bool(more), bool(best.value), met.value == 1, bound.value

    def close(self) -> None:
        """Frees what the library holds."""
        if self._session is not None and self._thread is None:
            lib.LIBRARY.gbees_session_destroy(self._session)
            self._session = None

    def __del__(self) -> None:
        self.close()


class Run:
    """What a run has computed.

    Attributes
    ----------
    records : list of Record
        In order of time.
    updates : list of Update
        One a measurement.
    states, units : tuple of str
        Names and units of the states.
    scenario : str
        All of it, as YAML.
    backend : str
        Its name.
    warnings : list of str
        Of the library.
    runs : int
        Runs that the accuracy took; these are the records of the best.
    met : bool or None
        Whether all records are within the accuracy; None: none was asked for, or it can't be told.
    interrupted : bool
        Ctrl-C ended the run: the records are those until then.
    comparison : Comparison or None
        Other filters beside it, if `compare` asked for them.
    """

    def __init__(self, solver: Solver) -> None:
        self.records: list[Record] = []
        self.updates: list[Update] = []
        self.model = solver.info.name
        self.states, self.units = solver.states, solver.units
        self.scenario, self.backend = solver.scenario, solver.backend
        self.warnings: list[str] = []
        self.runs = 0
        self.met: bool | None = None
        self.interrupted = False
        self.comparison: Comparison | None = None

    def __repr__(self) -> str:
        last = f" to t = {self.records[-1].time:g}" if self.records else ""
        return f"<gbees.Run {self.model}: {len(self.records)} records{last}>"

    @property
    def moments(self) -> Any:
        """Means, standard deviations, covariances and entropy of all records: an xarray.Dataset.

        At a measurement there are two records of one time, the one before and the one after; `leg` tells them apart.
        """
        xarray = lib.require("xarray", "Run.moments")
        r = self.records
        return xarray.Dataset(
            {
                "mean": (("time", "state"), np.array([x.mean for x in r])),
                "std": (("time", "state"), np.array([x.std for x in r])),
                "covariance": (("time", "state", "other"), np.array([x.covariance for x in r])),
                "entropy": ("time", [x.entropy for x in r], {"units": "nat"}),
                "mass": ("time", [x.mass for x in r]),
                "cells": ("time", [len(x.p) for x in r]),
                "leg": ("time", [x.leg for x in r]),
            },
            coords={
                "time": [x.time for x in r],
                "state": list(self.states),
                "other": list(self.states),
                "unit": ("state", list(self.units)),
            },
            attrs={"model": self.model, "backend": self.backend},
        )

    @property
    def log_evidence(self) -> float:
        """Logarithm of the evidence of all measurements; 0 without any."""
        return self.updates[-1].total if self.updates else 0.0

    def plot(self, *states: str, axes: Any = None) -> Any:
        """Draws each state over time: mean, and the bands that hold 68 and 95 % of its marginal.

        Parameters
        ----------
        states
            All by default.
        axes
            Of matplotlib, one for each state. By default new ones.

        Returns
        -------
        ndarray of matplotlib.axes.Axes
        """
        from ._plot import plot_states

        return plot_states(self, states or self.states, axes)


def _bar(wanted: bool | None) -> Any:
    """tqdm's bar; None: there is none."""
    if wanted is False:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a notebook without widgets
        try:
            tqdm = lib.require("tqdm.auto", "progress=True").tqdm
        except ImportError:
            if wanted:
                raise
            return None
        return tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}", leave=False)


def run(
    model: str | Model,
    scenario: Any = None,
    *,
    set: Mapping[str, Any] | None = None,
    measurements: Any = None,
    covariance: Any = None,
    epoch: Any = None,
    time_unit: float | None = None,
    threads: int = 0,
    backend: str = "auto",
    audit: bool = True,
    samples: int = 0,
    output: str | os.PathLike[str] | None = None,
    plugin_path: str | None = None,
    compare: str | Iterable[str] | None = None,
    progress: bool | None = None,
    runs_most: int = 16,
) -> Run:
    """Propagates a density.

    Parameters
    ----------
    model
        Its name, the path of a plugin, or a :class:`Model`.
    scenario
        A YAML file, YAML itself, a map, or the name of one of the model's own scenarios. The model's default fills what
        is not given.
    set
        Keys and values that change the scenario, as ``--set`` of gbees-run: ``{"accuracy": 0.1, "parameters.r": 40}``.
    measurements
        A table (pandas, xarray, a map of columns, a list of rows), the path of a CSV, TSV, HDF5 or netCDF-4 file, a list
        of maps as a scenario has them, or a folder with measurementN.txt. Columns are those of gbees-run's tables. Unless
        the scenario has an `end`, the run ends at the last of them.
    covariance
        Of all rows of `measurements`, where there are no columns ``sigma_`` or ``cov_``.
    epoch, time_unit
        Of a table whose times are dates: the date of model time 0, and seconds in a unit of the model's time (1).
    threads
        0: OMP_NUM_THREADS, or as many as the machine has.
    backend
        ``"auto"``: a GPU where there is one.
    audit, samples
        Whether records have certificates, and of how many samples; 0: as many as the run is worth.
    output
        A folder for results (results.md), which must not exist. With an accuracy, which may take several runs, it is
        refused.
    plugin_path
        Folders with plugins, separated by colons.
    compare
        Other filters that run on the same problem and measurements afterwards, ``"mc,ekf,ukf,enkf,pf:100000"`` or a list
        of such names: see :class:`Comparison`.
    progress
        A bar of tqdm. None: where tqdm is installed.
    runs_most
        The most runs that an accuracy may take.

    Returns
    -------
    Run
        Ctrl-C ends the run; what there is by then is returned, with ``interrupted`` set.
    """
    solver = Solver(
        model, scenario, set=set, measurements=measurements, covariance=covariance, epoch=epoch, time_unit=time_unit,
        threads=threads, backend=backend, audit=audit, samples=samples, output=output, plugin_path=plugin_path, compare=compare,
    )  # fmt: skip
    if output is not None and solver.accuracy > 0:
        raise lib.InputError("output= keeps the results of one run: with an accuracy there may be several; set accuracy=0")
    bar = _bar(progress)
    best = Run(solver)
    try:
        for count in range(1, runs_most + 1):
            made = _one_run(solver, bar)
            more, better, met, _ = solver.plan()
            if made.interrupted and best.records:
                best.interrupted = True
                break
            if better or not best.records:
                best = made
                best.met = met if solver.accuracy > 0 else None
            best.runs = count
            if made.interrupted or not more:
                break
    finally:
        if bar is not None:
            bar.close()
        solver.close()
    return best


def _one_run(solver: Solver, bar: Any) -> Run:
    made = Run(solver)
    solver.updates = made.updates

    def show(_time: float, part: float) -> None:
        if bar is not None:
            bar.n = min(part, 1.0)
            bar.refresh()

    try:
        for record in solver.records(show):
            made.records.append(record)
    except KeyboardInterrupt:
        made.interrupted = True
    made.warnings = solver.last_warnings
    made.comparison = solver.comparison
    return made
