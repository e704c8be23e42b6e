"""Other filters beside a run."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np

from . import _library as lib


@dataclass(frozen=True)
class Rival:
    """A filter, and how far it is from the grid.

    `e_m` is the largest difference of a mean in the grid's standard deviations, `e_s` the largest relative difference
    of a standard deviation, `kolmogorov` that of a marginal's distribution function, `bc` the Bhattacharyya
    coefficient of the joint densities on bins, 1 if they are equal; each of the worst record, and in the arrays of
    `errors` of each record that the filter has reached. `ratio` is the largest error over its limit: at most 1, the
    filter is as good as the grid; `bc` has no limit. What is not known is NaN. `samples` is 0 if it has none; `failure`
    is empty unless it has failed. `means` [records, n] and `covariances` [records, n, n] are those of all records;
    `marginal()` gives a density of one state.
    """

    name: str
    samples: int
    seconds: float
    e_m: float
    e_s: float
    kolmogorov: float
    bc: float
    ratio: float
    log_evidence: float
    log_evidence_error: float
    errors: dict[str, np.ndarray[Any, Any]]
    failure: str
    means: np.ndarray[Any, Any]
    covariances: np.ndarray[Any, Any]
    states: tuple[str, ...]
    _bins: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]] | None

    def marginal(self, record: int, state: str | int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The density of a state at a record: places, and the density there.

        Of a filter without samples it is the Gaussian of mean and covariance; of others the samples on 256 bins. Of a
        record that the filter has not reached there is a ValueError.
        """
        j = self.states.index(state) if isinstance(state, str) else range(len(self.states))[state]
        i = range(len(self.means))[record]
        if not np.isfinite(self.means[i, j]):
            raise ValueError(f"{self.name} has not reached record {record}")
        if self._bins is None:
            std = np.sqrt(self.covariances[i, j, j])
            z = np.linspace(-4.5, 4.5, 321)
            return self.means[i, j] + std * z, np.exp(-(z**2) / 2) / (std * np.sqrt(2 * np.pi))
        first, width, p = self._bins
        return first[i, j] + width[i, j] * np.arange(p.shape[2]), p[i, j] / width[i, j]


@dataclass(frozen=True)
class Comparison:
    """Filters beside a run, and in one sentence whether it needs a grid."""

    answer: str
    rivals: tuple[Rival, ...]

    def __getitem__(self, name: str) -> Rival:
        """The first filter of that name."""
        for rival in self.rivals:
            if rival.name == name:
                return rival
        raise KeyError(name)

    def __str__(self) -> str:
        lines = [f"{'method':6} {'samples':>9} {'seconds':>9} {'e_m':>9} {'e_s':>9} {'Kolmogorov':>10} {'BC':>9}"]
        for r in self.rivals:
            if r.failure:
                lines.append(f"{r.name:6} failed: {r.failure}")
            else:
                lines.append(
                    f"{r.name:6} {r.samples or '-':>9} {r.seconds:9.3g} {r.e_m:9.2g} {r.e_s:9.2g} "
                    f"{r.kolmogorov:10.2g} {r.bc:9.3g}"
                )
        return "\n".join([*lines, self.answer])


def listed(wanted: str | Iterable[str] | None) -> bytes | None:
    """The list as the library takes it."""
    if wanted is None:
        return None
    return (wanted if isinstance(wanted, str) else ",".join(wanted)).encode()


def _array(pointer: Any, *shape: int) -> np.ndarray[Any, Any]:
    return np.array(np.ctypeslib.as_array(pointer, shape), dtype=float)


def _rival(found: lib.RivalStruct, states: tuple[str, ...]) -> Rival:
    raw = np.array([found.records[i] for i in range(4 * found.count)], dtype=float).reshape(-1, 4)
    own, count, n = found.densities.contents, found.total, len(states)
    bins = None
    if own.p:
        bins = _array(own.first, count, n), _array(own.width, count, n), _array(own.p, count, n, 256)
    return Rival(
        lib.text(found.name), found.samples, found.seconds, found.mean, found.std, found.kolmogorov, found.bc, found.ratio,
        found.log_evidence, found.log_evidence_error,
        dict(zip(("e_m", "e_s", "kolmogorov", "bc"), raw.T.copy())), lib.text(found.failure),
        _array(own.mean, count, n), _array(own.covariance, count, n, n), states, bins,
    )  # fmt: skip


def compare(session: Any, states: tuple[str, ...]) -> Comparison:
    """Runs the filters of a session beside the run that has just ended."""
    lib.check(lib.LIBRARY.gbees_session_compare, session)
    rivals: list[Rival] = []
    answer, found = c.create_string_buffer(512), lib.RivalStruct()
    lib.LIBRARY.gbees_session_answer(session, answer, len(answer))
    while lib.LIBRARY.gbees_session_rival_of(session, len(rivals), c.byref(found)):
        rivals.append(_rival(found, states))
    return Comparison(lib.text(answer.value), tuple(rivals))
