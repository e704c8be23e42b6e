"""Results on disk as a Run."""

from __future__ import annotations

import io
import json
import os
from typing import Any, Mapping

import numpy as np

from . import _library as lib
from ._record import Array, Certificate, Grid, Record, Target, copy_certificate
from ._run import Run, value_of
from ._solver import Update

_ERRORS = ("mean", "std", "marginal", "kolmogorov")


def open(folder: str | os.PathLike[str]) -> Run:
    """Reads a results folder (results.md), of ``gbees.run(..., output=folder)`` or of gbees-run.

    It has all that the run had when it was computed, with probabilities as they are in the files, most of them floats.
    Records whose densities were not written have moments and certificates, but no cells; nor have smoothed ones.

    Parameters
    ----------
    folder
        Its path. The run may still be going on, or have been stopped.
    """
    path = os.fspath(folder)
    try:
        with _file(path, "run.json") as file:
            about = json.load(file)
        with _file(path, "scenario.yaml") as file:
            scenario = file.read()
        return _Reader(path, about).run(scenario)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, lib.Error):
            raise
        raise lib.FileError(f"{path}: the results can't be read: {error}") from None


def _file(folder: str, name: str) -> Any:
    return io.open(os.path.join(folder, name), encoding="utf-8")


def _words(given: Any) -> tuple[str, ...]:
    return tuple(_text(text) for text in np.atleast_1d(given))


class _Reader:
    def __init__(self, folder: str, about: Mapping[str, Any]) -> None:
        self.folder, self.about = folder, about
        self.h5py = lib.require("h5py", "gbees.open()")
        self.states: tuple[str, ...] = ()
        self.units: tuple[str, ...] = ()

    def run(self, scenario: str) -> Run:
        records, smoothed, updates = self._records_and_updates()
        made = Run(self.about["model"], self.states, self.units, scenario, self.about["backend"])
        made.records, made.smoothed, made.updates = records, smoothed, updates
        summary = self.about.get("summary", {})
        made.warnings = [lib.spoken(text) for text in summary.get("warnings", [])]
        made.interrupted = self.about["state"] == "cancelled"
        runs = self.about.get("runs", [])
        if runs:
            made.accuracy, made.accuracy_of = self.about["accuracy"], self.about.get("accuracy_of", "moments")
            made.runs = len(runs)
            made.met = True if any(run["met"] for run in runs) else runs[-1]["met"]
        elif value_of(scenario, "frame") == "lagrangian":  # one run reaches it
            made.accuracy = float(value_of(scenario, "accuracy") or 0)
            made.accuracy_of = value_of(scenario, "accuracy_of") or "moments"
        made.judge()
        return made

    def _records_and_updates(self) -> tuple[list[Record], list[Record], list[Update]]:
        whole, apart = os.path.join(self.folder, "run.h5"), os.path.join(self.folder, "moments.h5")
        if os.path.exists(whole):
            with self.h5py.File(whole) as file:
                if "time" in file or not os.path.exists(apart):
                    return self._read(file, file)
                with self.h5py.File(apart) as series:
                    return self._read(file, series)
        if not os.path.exists(apart):
            raise lib.FileError(f"{self.folder} has no records: neither run.h5 nor moments.h5 is there")
        with self.h5py.File(apart) as series:
            return self._read(None, series)

    def _read(self, file: Any, series: Any) -> tuple[list[Record], list[Record], list[Update]]:
        """Records, and the time series, which may lack the last ones."""
        numbers = _numbers(series)
        in_file = [
            (int(leg[3:]), int(record[6:]))
            for leg in (file or {}) if leg[:3] == "leg" and leg[3:].isdigit()
            for record in file[leg]
        ]  # fmt: skip
        self._series = _columns(series)
        self._errors = {name: series["error"][name][()] for name in series["error"]} if "error" in series else {}
        self._targets = {name: series["targets"][name][()] for name in series["targets"]} if "targets" in series else {}
        self._target_words = {
            f"{name}s": series[name][()] for name in ("target_name", "target_kind") if name in series
        }
        if "state_name" in series:
            self.states, self.units = (tuple(map(_text, series[name][()])) for name in ("state_name", "state_unit"))
        records = []
        for place in sorted({*numbers, *in_file}):
            row = numbers.index(place) if place in numbers else None
            records.append(self._record(place, row, file))
        return records, self._smoothed(series), _updates(series)

    def _smoothed(self, series: Any) -> list[Record]:
        if "smoothed" not in series:
            return []
        group = series["smoothed"]
        columns = _columns(group)
        return [
            self._made(place, {name: values[i] for name, values in columns.items()}, None, None)
            for i, place in enumerate(_numbers(group))
        ]

    def _record(self, place: tuple[int, int], row: int | None, file: Any) -> Record:
        name = "leg%d/record%d" % place
        if file is not None and name in file:
            return self._from_group(place, file[name])
        apart = os.path.join(self.folder, "leg%d_record%d.h5" % place)
        if os.path.exists(apart):
            with self.h5py.File(apart) as own:
                return self._from_group(place, own)
        assert row is not None
        facts = {name: values[row] for name, values in self._series.items()}
        facts.update({f"error_{name}": values[row] for name, values in self._errors.items()})
        facts.update({f"target_{name}": values[row] for name, values in self._targets.items()})
        facts.update(self._target_words)
        return self._made(place, facts, None, None)

    def _from_group(self, place: tuple[int, int], group: Any) -> Record:
        facts = dict(group.attrs)
        self.states, self.units = _words(facts["state_names"]), _words(facts["state_units"])
        samples = np.asarray(group["samples"][()]).T.copy() if "samples" in group else None
        return self._made(place, facts, _grid(group), samples)

    def _made(
        self, place: tuple[int, int], facts: Mapping[str, Any], grid: Grid | None, samples: Array | None
    ) -> Record:
        n = len(self.states)
        return Record(
            leg=place[0],
            number=place[1],
            time=float(facts["time"]),
            states=self.states,
            units=self.units,
            mean=np.array(facts["mean"], dtype=float),
            covariance=np.array(facts["covariance"], dtype=float).reshape(n, n),
            direction=_around(facts, "direction", n),
            resultant=_around(facts, "resultant", n),
            mass=float(facts["mass"]),
            entropy=float(facts["entropy"]),
            steps=int(facts["step"]),
            clipped=float(facts["mass_clipped"]),
            outflow=float(facts["mass_outflow"]),
            pruned=float(facts["mass_pruned"]),
            grid=grid,
            certificate=_certificate(facts, n),
            samples=samples,
            targets=_targets(facts),
        )


_SERIES = ("time", "mean", "covariance", "entropy", "mass", "step", "mass_clipped", "mass_outflow", "mass_pruned")


def _text(characters: Any) -> str:
    """A string as HDF5 has it: of fixed length, or a row of characters."""
    return b"".join(np.atleast_1d(characters)).rstrip(b"\0").decode("utf-8", "replace")


def _numbers(group: Any) -> list[tuple[int, int]]:
    """Legs and numbers of the rows of a time series."""
    if "time" not in group:
        return []
    return [(int(leg), int(number)) for leg, number in zip(group["leg"][()], group["record"][()])]


def _columns(group: Any) -> dict[str, Any]:
    return {name: group[name][()] for name in group if name in _SERIES} if len(_numbers(group)) else {}


def _grid(group: Any) -> Grid:
    if "grid/modes" in group:
        raise lib.FileError(f"the density of {group.name} is on several grids, which this version can't read")
    index = np.ascontiguousarray(group["pdf/index"][()], dtype=np.int32)
    p = np.ascontiguousarray(group["pdf/p"][()], dtype=float)
    index.flags.writeable = p.flags.writeable = False
    rotation = np.array(group["grid/R"][()], dtype=float) if "grid/R" in group else np.eye(len(index))
    return Grid(np.array(group["grid/origin"][()]), np.array(group["grid/h"][()]), rotation, index, p)


def _around(facts: Mapping[str, Any], name: str, n: int) -> Array:
    """Numbers of the states that are on a circle; NaN of others."""
    return np.array(facts.get(name, [np.nan] * n), dtype=float)


def _certificate(facts: Mapping[str, Any], n: int) -> Certificate | None:
    if "error_samples" not in facts:
        return None
    made = lib.CertificateStruct()
    for name in _ERRORS:
        pairs = np.reshape(facts[f"error_{name}"], (n, 2))
        for j in range(n):
            getattr(made, name)[j].value, getattr(made, name)[j].bound = map(float, pairs[j])
    made.density.value, made.density.bound = map(float, np.ravel(facts["error_density"]))
    made.samples, made.effective = int(facts["error_samples"]), float(facts["error_effective"])
    made.points = int(facts.get("error_points", 0))
    made.estimate = float(facts.get("error_estimate", np.nan))
    made.variation = float(facts.get("error_variation_estimate", 0))
    made.uncompared = int(facts.get("error_uncompared", 0))
    made.reason = bytes(facts.get("error_reason", b""))[:255]
    return copy_certificate(made, n)


def _targets(facts: Mapping[str, Any]) -> dict[str, Target]:
    if "target_probability" not in facts:
        return {}
    numbers = [np.ravel(facts[f"target_{name}"]) for name in ("probability", "bound", "rate")]
    words = zip(_words(facts["target_names"]), _words(facts["target_kinds"]))
    return {
        name: Target(name, kind, *(float(values[k]) for values in numbers)) for k, (name, kind) in enumerate(words)
    }


def _updates(series: Any) -> list[Update]:
    if "updates" not in series:
        return []
    group = series["updates"]
    columns = {name: group[name][()] for name in group}
    total, made = 0.0, []
    for i, number in enumerate(columns["number"]):
        evidence = float(columns["log_evidence"][i])
        total += evidence
        sampled = (float(columns[f"log_evidence_{which}"][i]) for which in ("sampled", "error"))
        made.append(Update(int(number), float(columns["time"][i]), evidence, total, *sampled))
    return made
