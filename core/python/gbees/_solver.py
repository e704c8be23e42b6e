"""Runs, record by record."""

from __future__ import annotations

import contextlib
import ctypes as c
import math
import operator
import os
import queue
import threading
import time
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping

from . import _library as lib
from . import _measurements as tables
from ._compare import Comparison, compare as run_rivals, listed
from ._model import Model, ModelInfo, describe
from ._record import Record, copy_record


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


def checked(name: str, value: Any, least: int, most: int) -> int:
    """An argument that is a whole number in a range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise lib.InputError(f"{name}={value!r}: expected a whole number from {least} to {most}")
    return number


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


def warn(texts: Iterable[str], level: int) -> None:
    """Warns of what the library warns of, as the caller `level` calls above."""
    for text in texts:
        warnings.warn(text, lib.Warning, stacklevel=level + 1)


class Solver:
    """One run, record by record::

        for record in gbees.Solver("lorenz63"):
            print(record.time, record.mean)

    The run goes on in a thread of its own, at most two records ahead, while the loop's body runs; leaving the loop ends
    it. A scenario's `accuracy` has no effect but that of the grid of its first run: see :func:`run`. What the library
    warns of is a :class:`Warning` when the run ends.

    Parameters
    ----------
    model
        Its name, the path of a plugin, or a :class:`Model`.
    scenario
        A YAML file, YAML itself, a map, or the name of one of the model's own scenarios. The model's default fills what
        is not given.
    set
        Keys and values that change the scenario: ``{"accuracy": 0.1, "parameters.r": 40}``.
    measurements
        A table (pandas, xarray, a map of columns, a list of rows), the path of a CSV or TSV file, a list
        of maps as a scenario has them, or a folder with measurementN.txt. Columns are those of gbees-run's tables. Unless
        the scenario has an `end`, the run ends at the last of them.
    covariance
        Of all rows of `measurements`, where there are no columns ``sigma_`` or ``cov_``.
    epoch, time_unit
        Of a table whose times are dates: the date of model time 0, and seconds in a unit of the model's time (1).
    threads
        0: OMP_NUM_THREADS, or as many as the machine has.
    backend
        ``"auto"``: a GPU where there is one, for all but small grids.
    audit, samples
        Whether records have certificates, and of how many samples; 0: as many as the run is worth.
    output
        A folder for results (results.md), which must not exist: :func:`open` reads it back.
    plugin_path
        Folders with plugins, separated by colons.
    compare
        Other filters that run on the same problem and measurements afterwards, ``"mc,ekf,ukf,enkf,pf:100000"`` or a list
        of such names: see :class:`Comparison`.

    Attributes
    ----------
    info : ModelInfo
        The model's.
    states, units : tuple of str
        Of the problem.
    updates : list of Update
        So far.
    smoothed : list of Record
        With `smooth: yes`, after the last record: each once more, given all measurements.
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
        stream: bool = False,
    ) -> None:
        self._session: c.c_void_p | None = None
        self._thread: threading.Thread | None = None
        threads = checked("threads", threads, 0, lib.THREADS_MOST)
        samples = checked("samples", samples, 0, lib.SAMPLES_MOST)
        if audit not in (True, False):
            raise lib.InputError(f"audit={audit!r}: expected True or False; samples= says how many there are")
        self.output = None if output is None else os.fspath(output)
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
            self._create(name, text, own, folder, threads, backend, audit, samples, plugin_path, stream)
        self.info: ModelInfo = info
        self.updates: list[Update] = []
        self.smoothed: list[Record] = []

    def _create(self, name: str, text: str, own: Any, folder: Any, threads: int, backend: str, audit: bool,
                samples: int, plugin_path: str | None, stream: bool) -> None:
        names = ("cuda", "cpu") if backend == "auto" else (backend, None)
        options = lib.OptionsStruct(
            os.fsencode(name), lib.encoded(plugin_path), lib.encoded(names[0]), lib.encoded(names[1]), text.encode(),
            lib.encoded(own), lib.encoded(folder), threads, int(audit), samples, self._rivals, int(stream),
        )  # fmt: skip
        session = c.c_void_p()
        lib.check(lib.LIBRARY.gbees_session_create, c.byref(options), c.byref(session))
        self._session = session
        library = lib.LIBRARY
        n = library.gbees_session_dimension(session)
        self.states = tuple(lib.text(library.gbees_session_state(session, j, 0)) for j in range(n))
        self.units = tuple(lib.text(library.gbees_session_state(session, j, 1)) for j in range(n))
        self.backend = lib.text(library.gbees_session_backend(session))
        self.scenario = lib.text(library.gbees_session_scenario(session))
        self.accuracy = float(library.gbees_session_accuracy(session))

    def __iter__(self) -> Iterator[Record]:
        try:
            yield from self.records(folder=self.output)
        finally:
            if self._session is not None:
                self.conclude()
                warn(self.last_warnings, 2)

    def records(
        self,
        progress: Callable[[float, float], None] | None = None,
        folder: str | None = None,
        until: float = math.inf,
    ) -> Iterator[Record]:
        """Runs, and yields each record.

        Parameters
        ----------
        progress
            Is called in the thread of the run, a few times a second, with the model time and the part that is done.
        folder
            For results.
        until
            The time of :func:`time.monotonic` at which the run ends with :class:`Cancelled`.
        """
        if self._thread is not None or self._session is None:
            raise lib.InputError("this solver runs already, or is closed: make another")
        line: queue.Queue[Any] = queue.Queue(maxsize=2)
        stopped = threading.Event()
        lib.check(lib.LIBRARY.gbees_session_open, self._session, lib.encoded(folder))
        self._thread = threading.Thread(target=self._propagate, args=(line, stopped, progress), daemon=True)
        self._thread.start()
        try:
            while True:
                if time.monotonic() >= until:
                    self.cancel()
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
            self.last_warnings = list(self.warnings().values())
            lib.LIBRARY.gbees_session_close(self._session)

    def _propagate(self, line: queue.Queue[Any], stopped: threading.Event, progress: Any) -> None:
        def put(item: Any) -> None:
            while not stopped.is_set():
                try:
                    line.put(item, timeout=0.1)
                    return
                except queue.Full:
                    pass

        try:
            self.call(lib.LIBRARY.gbees_session_run, receive=put, progress=progress)
            if self._rivals and self.plan()[1]:
                self.comparison = run_rivals(self._session, tuple(self.states))
            put(None)
        except BaseException as error:
            put(error)

    def call(
        self, function: Any, *arguments: Any, receive: Callable[[Any], None], progress: Any = None
    ) -> None:
        """Calls a function of the session that tells of records and updates, in this thread."""
        failure: list[BaseException] = []
        if self._session is None:
            raise lib.InputError("it is closed: make another")

        def guarded(function: Callable[..., None]) -> Callable[..., None]:
            def call(*arguments: Any) -> None:
                try:
                    function(*arguments)
                except BaseException as error:  # an exception can't pass through C
                    failure.append(error)
                    self.cancel()

            return call

        def on_update(number: int, when: float, evidence: Any) -> None:
            e = evidence.contents
            self.updates.append(Update(number, when, e.log_evidence, e.total, e.sampled, e.sampled_error))

        def on_record(given: Any) -> None:
            record = copy_record(given.contents, self.states, self.units)
            if given.contents.smoothed:
                self.smoothed.append(record)
            else:
                receive(record)

        observer = lib.ObserverStruct(
            lib.ON_RECORD(guarded(on_record)),
            lib.ON_UPDATE(guarded(on_update)),
            lib.ON_PROGRESS(guarded(progress or (lambda _time, _part: None))),
        )
        try:
            lib.check(function, self._session, *arguments, c.byref(observer))
        except BaseException as error:
            failure.append(error)
        if failure:
            raise failure[0]

    def cancel(self) -> None:
        """Ends the run soon. Any thread may call it."""
        if self._session is not None:
            lib.LIBRARY.gbees_session_cancel(self._session)

    def warnings(self) -> dict[int, str]:
        """Texts of the run's warnings, by their bits."""
        text, found = c.create_string_buffer(1024), {}
        for bit in range(32):
            if lib.LIBRARY.gbees_session_warning(self._session, bit, text, len(text)):
                found[bit] = lib.spoken(lib.text(text.value))
        return found

    def conclude(self) -> None:
        """Ends the runs that an accuracy has taken: scenario and warnings are from now on those of the best."""
        lib.check(lib.LIBRARY.gbees_session_conclude, self._session)
        self.scenario = lib.text(lib.LIBRARY.gbees_session_scenario(self._session))
        self.last_warnings = list(self.warnings().values())

    def retries(self, error: lib.Error) -> bool:
        """Whether a first run of an accuracy that has failed has one with narrower cells in its place."""
        return isinstance(error, lib.UnsupportedError) and bool(lib.LIBRARY.gbees_session_retry(self._session))

    def plan(self) -> tuple[bool, bool, bool | None, float]:
        """Of the last run: another is planned; none before was better; the accuracy is met (None: it can't be told); its
        error's bound."""
        best, met, bound = c.c_int(), c.c_int(), c.c_double()
        more = lib.LIBRARY.gbees_session_plan(self._session, c.byref(best), c.byref(met), c.byref(bound))
        return bool(more), bool(best.value), None if met.value < 0 else met.value == 1, bound.value

    def close(self) -> None:
        """Frees what the library holds."""
        if self._session is not None and self._thread is None:
            lib.LIBRARY.gbees_session_destroy(self._session)
            self._session = None

    def __del__(self) -> None:
        if hasattr(self, "_session"):  # else it was never made
            self.close()
