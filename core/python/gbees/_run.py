"""Runs: all at once."""

from __future__ import annotations

import html
import math
import os
import shutil
import sys
import time
import warnings
from typing import Any

import numpy as np

from . import _library as lib
from ._compare import Comparison
from ._model import Model
from ._record import Array, Record
from ._solver import Solver, Update, checked, warn

# The certificate's errors that an accuracy may be asked of.
_ERRORS = {"moments": ("mean", "std"), "marginals": ("marginal",), "density": ("density",)}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has ended a run: `run` is the :class:`Run` with the records until then."""

    def __init__(self, run: "Run") -> None:
        super().__init__(f"{len(run.records)} records are in the exception's `run`")
        self.run = run


class Run:
    """What a run has computed.

    Attributes
    ----------
    records : list of Record
        In order of time.
    smoothed : list of Record
        With `smooth: yes` in the scenario: each record once more, given all measurements, also later ones. Else empty.
    updates : list of Update
        One a measurement.
    model, backend : str
        Their names.
    states, units : tuple of str
        Names and units of the states.
    scenario : str
        All of it, as YAML: how these records were made. Of an accuracy the best run's.
    warnings : list of str
        Of the library.
    accuracy : float
        That was asked for; 0: none.
    accuracy_of : str
        What it was asked for of: "moments", "marginals" or "density".
    runs : int
        Runs that the accuracy took; these are the records of the best.
    met : bool or None
        Whether all records are within the accuracy; None: none was asked for, or it can't be told.
    interrupted : bool
        Ctrl-C or `max_time` ended the run: the records are those until then.
    comparison : Comparison or None
        Other filters beside it, if `compare` asked for them. A folder does not have it.
    """

    def __init__(
        self, model: str, states: tuple[str, ...], units: tuple[str, ...], scenario: str, backend: str
    ) -> None:
        self.records: list[Record] = []
        self.smoothed: list[Record] = []
        self.updates: list[Update] = []
        self.model, self.states, self.units = model, states, units
        self.scenario, self.backend = scenario, backend
        self.warnings: list[str] = []
        self.accuracy = 0.0
        self.accuracy_of = "moments"
        self.runs = 1
        self.met: bool | None = None
        self.interrupted = self.late = False  # late: by max_time
        self.comparison: Comparison | None = None

    @property
    def method(self) -> str:
        """Scheme and grid in words."""
        mode = value_of(self.scenario, "mode") or "default"
        scheme = value_of(self.scenario, "scheme") or ("split5" if mode == "default" else "ctu")
        frame = value_of(self.scenario, "frame")
        if frame == "lagrangian":
            return "points that go with the flow"
        grid = "a grid that moves" if frame == "moving" else "a grid at rest"
        return f"{scheme} on {grid}" + ("" if mode == "default" else f", {mode} mode")

    @property
    def error(self) -> float:
        """The largest bound of an error at any record, of what the accuracy is of: by default of a mean or standard
        deviation, in standard deviations. NaN: of a record it is not known."""
        bounds = [self._bound(record) for record in self.records]
        return float(np.max(bounds)) if bounds else math.nan

    def judge(self) -> None:
        """Sets `met` by the records, where no search for an accuracy has told it; names those that a search has left."""
        if self.met:
            self._name_uncertified()
        if self.met is not None or self.accuracy <= 0 or self.interrupted:
            return
        if self.error <= self.accuracy:
            self.met = True
        elif self.error > self.accuracy and value_of(self.scenario, "frame") == "lagrangian":
            self.met = False

    def _bound(self, record: Record) -> float:
        """The largest bound of the errors that the accuracy is of; NaN: not known."""
        found = record.certificate
        bounds = [np.atleast_2d(getattr(found, name))[:, 1] for name in _ERRORS[self.accuracy_of]] if found else []
        return float(np.max(bounds)) if bounds else math.nan

    def _name_uncertified(self) -> None:
        times = [f"{r.time:.6g}" for r in self.records if not self._bound(r) <= self.accuracy]
        if times:
            some = ", ".join(times[:8]) + (" ..." if len(times) > 8 else "")
            count = "one record" if len(times) == 1 else f"{len(times)} records"
            self.warnings = [*self.warnings, f"the accuracy is met, but samples are too few to certify {count}, t = {some}"]

    def _facts(self) -> dict[str, str]:
        last = f" to t = {self.records[-1].time:g}" if self.records else ""
        interrupted = ", interrupted" if self.interrupted else ""
        facts = {
            "records": f"{len(self.records)}{last}{interrupted}",
            "method": f"{self.method}, {self.backend}",
            "accuracy": "none asked for",
            "error": f"at most {self.error:.2g} of the {self.accuracy_of}" if self.error == self.error else "not known",
        }
        if self.accuracy > 0:
            met = {True: "met", False: "not met", None: "not certifiable"}[self.met]
            facts["accuracy"] = f"{self.accuracy:g} of the {self.accuracy_of}: {met}, runs: {self.runs}"
        if self.smoothed:
            facts["smoothed"] = f"{len(self.smoothed)}, given all measurements"
        return facts

    def __repr__(self) -> str:
        facts = "\n".join(f"  {name + ':':10}{text}" for name, text in self._facts().items())
        return f"<gbees.Run {self.model}\n{facts}\n" + "".join(f"  warning:  {w}\n" for w in self.warnings) + ">"

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        rows = [*self._facts().items(), *(("warning", text) for text in self.warnings)]
        lines = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
        return f"<table><caption>gbees: {html.escape(self.model)}</caption>{lines}</table>"

    @property
    def moments(self) -> Any:
        """Means, standard deviations, covariances and entropy of all records: an xarray.Dataset. With states on circles
        also their `direction` and `resultant`, which are not numbers of other states.

        At a measurement there are two records of one time, the one before and the one after; `leg` tells them apart.
        """
        return self._moments_of(self.records, "Run.moments")

    @property
    def moments_smoothed(self) -> Any:
        """The same of the smoothed records, as an xarray.Dataset; there are none without `smooth: yes`."""
        if not self.smoothed:
            raise lib.InputError("there are no smoothed records: run with set={'frame': 'lagrangian', 'smooth': 'yes'}")
        return self._moments_of(self.smoothed, "Run.moments_smoothed")

    def _moments_of(self, r: list[Record], purpose: str) -> Any:
        xarray = lib.require("xarray", purpose)
        around = ("direction", "resultant") if any(np.isfinite(x.direction).any() for x in r) else ()
        return xarray.Dataset(
            {
                "mean": (("time", "state"), np.array([x.mean for x in r])),
                "std": (("time", "state"), np.array([x.std for x in r])),
                "covariance": (("time", "state", "other"), np.array([x.covariance for x in r])),
                "entropy": ("time", [x.entropy for x in r], {"units": "nat"}),
                "mass": ("time", [x.mass for x in r]),
                "cells": ("time", [len(x.grid.p) if x.grid else 0 for x in r]),
                "leg": ("time", [x.leg for x in r]),
                **{name: (("time", "state"), np.array([getattr(x, name) for x in r])) for name in around},
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
    def targets(self) -> dict[str, dict[str, Array]]:
        """Of each target, by name: arrays over the records of `time`, `probability`, `bound` of its error, and `rate`."""
        made: dict[str, dict[str, Array]] = {}
        for name in self.records[0].targets if self.records else ():
            rows = [(r.time, r.targets[name]) for r in self.records]
            made[name] = {
                "time": np.array([time for time, _ in rows]),
                "probability": np.array([t.probability for _, t in rows]),
                "bound": np.array([t.bound for _, t in rows]),
                "rate": np.array([t.rate for _, t in rows]),
            }
        return made

    def plot_targets(self, *names: str, ax: Any = None) -> Any:
        """Draws the probability of targets over time, with the bound of its error as a band.

        Parameters
        ----------
        names
            All by default.
        ax
            Of matplotlib. By default a new one.
        """
        from ._plot import plot_targets

        return plot_targets(self, names or tuple(self.targets), ax)

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


def value_of(scenario: str, key: str) -> str:
    """A word of a scenario's text, in which each key begins a line; "": it has none."""
    found = [line.partition(":")[2].strip() for line in scenario.splitlines() if line.startswith(f"{key}:")]
    return found[0].strip("\"'") if found else ""


def _bar(wanted: bool | None) -> Any:
    """tqdm's bar; None: there is none, as in a log, where each of its states would be a line."""
    if wanted is False or (wanted is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules)):
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
    progress: bool | None = None,
    runs_most: int = 16,
    max_time: float | None = None,
    **options: Any,
) -> Run:
    """Propagates a density.

    Parameters
    ----------
    model
        Its name, the path of a plugin, or a :class:`Model`.
    scenario, options
        As those of :class:`Solver`. Of the runs that an accuracy takes `output` is the best one's; while they go on,
        another's is beside it, with ``.run2`` and so on behind its name.
    progress
        A bar of tqdm. None: on a terminal or in a notebook, where tqdm is installed.
    runs_most
        The most runs that an accuracy may take.
    max_time
        Seconds for all runs. A run that takes longer ends, with a warning: the first with the records until then, a
        later one of an accuracy with the best before it.

    Returns
    -------
    Run
        What the library warns of is a :class:`Warning`, too. Ctrl-C ends the run with :class:`Interrupted`, a
        KeyboardInterrupt that has the records until then.
    """
    runs_most = checked("runs_most", runs_most, 1, 1000)
    until = math.inf if max_time is None else time.monotonic() + _positive("max_time", max_time)
    solver = Solver(model, scenario, **options)
    bar = _bar(progress)
    try:
        best = _search(solver, bar, runs_most, until)
    finally:
        if bar is not None:
            bar.close()
        solver.close()
    warn(best.warnings, 2)
    if best.interrupted and not best.late:
        raise Interrupted(best)
    return best


def _positive(name: str, value: float) -> float:
    if isinstance(value, (int, float)) and value > 0:
        return float(value)
    raise lib.InputError(f"{name}={value!r}: expected a positive number")


class _Folders:
    """Where the runs of an accuracy write: the first one to the folder that was asked for, another beside it. The best
    one's stays, and gets that name at the end."""

    def __init__(self, wanted: str | None) -> None:
        self.wanted = self.kept = wanted
        self.now = wanted

    def begin(self, number: int) -> str | None:
        if self.wanted is not None and number > 1:
            self.now = f"{self.wanted}.run{number}"
        return self.now

    def clear(self) -> None:
        """Removes the folder of a first run that has failed."""
        if self.now is not None:
            shutil.rmtree(self.now, ignore_errors=True)

    def end(self, better: bool) -> None:
        """Removes the folder of the run that has ended, or of the best before it."""
        if self.now == self.kept:
            return
        worse = self.kept if better else self.now
        self.kept = self.now if better else self.kept
        if worse is not None:
            shutil.rmtree(worse, ignore_errors=True)

    def rename(self) -> None:
        if self.kept is not None and self.wanted is not None and self.kept != self.wanted:
            os.rename(self.kept, self.wanted)


def _search(solver: Solver, bar: Any, runs_most: int, until: float) -> Run:
    """One run, or those that an accuracy takes until a time of time.monotonic(): returns the best."""
    folders = _Folders(solver.output)
    best: Run | None = None
    best_met: bool | None = None
    ended: str | None = None  # why a later run has, with which the one before stays
    number, more = 0, True
    try:
        while more and number < runs_most:
            number += 1
            try:
                made = _one_run(solver, bar, folders.begin(number), until)
            except lib.Error as error:
                if best is None and solver.retries(error):
                    number -= 1
                    folders.clear()
                    continue
                if best is None:
                    raise
                folders.end(False)
                ended = f"run {number} for the accuracy has ended, and the best before it is returned: {error}"
                break
            more, better, met, _ = solver.plan()
            better = better or best is None
            folders.end(better)
            if better or best is None:
                best = made
            best.met = best_met = best_met or (None if made.interrupted else met)
            best.runs = number
            more = more and not made.interrupted
            if made.late:
                ended = _late(made, best is made)
            if best is made or not made.late:
                best.interrupted = made.interrupted
    except BaseException:
        folders.end(solver.plan()[1])
        solver.conclude()
        folders.rename()
        raise
    assert best is not None
    solver.conclude()
    folders.rename()
    best.scenario, best.warnings = solver.scenario, solver.last_warnings
    if ended:
        best.warnings = [*best.warnings, ended]
    best.judge()
    return best


def _late(made: Run, is_best: bool) -> str:
    """That a run has ended by `max_time`."""
    if not is_best:
        return "a finer run exceeded the time (max_time): the best before it is returned"
    last = f"the last record is that of t = {made.records[-1].time:.6g}" if made.records else "it has no record yet"
    return f"the run has exceeded the time (max_time): {last}"


def _one_run(solver: Solver, bar: Any, folder: str | None, until: float) -> Run:
    made = Run(solver.info.name, solver.states, solver.units, solver.scenario, solver.backend)
    made.accuracy, made.accuracy_of = solver.accuracy, value_of(solver.scenario, "accuracy_of") or "moments"
    solver.updates, solver.smoothed = made.updates, made.smoothed

    def show(_time: float, part: float) -> None:
        if bar is not None:
            bar.n = min(part, 1.0)
            bar.refresh()

    try:
        for record in solver.records(show, folder, until):
            made.records.append(record)
    except KeyboardInterrupt:
        made.interrupted = True
    except lib.Cancelled:
        made.interrupted = made.late = time.monotonic() >= until
        if not made.late:
            raise
    made.warnings = solver.last_warnings
    made.comparison = solver.comparison
    return made
