"""Pictures with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _library as lib
from ._record import Array, Record

if TYPE_CHECKING:
    from ._run import Run

_QUANTILES = (0.025, 0.16, 0.84, 0.975)


def quantiles(record: Record, state: str, levels: Sequence[float]) -> Array:
    """Quantiles of a state's marginal, linear within a bin."""
    x, f = record.marginal(state)
    half = (x[1] - x[0]) / 2 if len(x) > 1 else record.std[record.states.index(state)]
    edges = np.concatenate([[x[0] - half], x + half])
    found: Array = np.interp(levels, np.concatenate([[0.0], np.cumsum(f) / f.sum()]), edges)
    return found


def plot_targets(run: "Run", names: Sequence[str], ax: Any = None) -> Any:
    """Run.plot_targets()."""
    pyplot = lib.require("matplotlib.pyplot", "Run.plot_targets()")
    known = run.targets
    if not names or not set(names) <= set(known):
        raise lib.InputError(f"the run has the targets {', '.join(known) or 'none'}, not {', '.join(names) or 'none'}")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 3.5))
    for k, name in enumerate(names):
        t = known[name]
        bound = np.nan_to_num(t["bound"])
        low, high = np.clip(t["probability"] - bound, 0, 1), np.clip(t["probability"] + bound, 0, 1)
        ax.fill_between(t["time"], low, high, alpha=0.3, color=f"C{k}", linewidth=0)
        kind = "entered" if run.records[0].targets[name].kind == "absorb" else "inside"
        ax.plot(t["time"], t["probability"], color=f"C{k}", marker=".", label=f"{name}, {kind}")
    ax.set_xlabel("t")
    ax.set_ylabel("probability")
    ax.legend(loc="best", fontsize="small")
    return ax


def plot_states(run: "Run", states: Sequence[str], axes: Any = None) -> Array:
    """Run.plot()."""
    pyplot = lib.require("matplotlib.pyplot", "Run.plot()")
    if not run.records:
        raise lib.InputError("there is no record to draw")
    if axes is None:
        _, axes = pyplot.subplots(len(states), 1, sharex=True, squeeze=False, figsize=(7, 1 + 1.6 * len(states)))
    flat: Array = np.asarray(axes).ravel()
    if len(flat) != len(states):
        raise lib.InputError(f"there are {len(flat)} axes for {len(states)} states")
    time = np.array([r.time for r in run.records])
    for state, ax in zip(states, flat):
        j = run.records[0]._axis(state)
        bands = np.array([quantiles(r, state, _QUANTILES) for r in run.records]).T
        ax.fill_between(time, bands[0], bands[3], alpha=0.2, color="C0", linewidth=0, label="95 %")
        ax.fill_between(time, bands[1], bands[2], alpha=0.4, color="C0", linewidth=0, label="68 %")
        ax.plot(time, [r.mean[j] for r in run.records], color="C0", label="mean")
        unit = run.units[j]
        ax.set_ylabel(f"{state} [{unit}]" if unit not in ("", "-") else state)
    flat[0].legend(loc="best", fontsize="small")
    flat[-1].set_xlabel("t")
    return flat
