"""A grid among the methods of DAPPER (https://github.com/nansencenter/DAPPER)::

    from dapper.mods.Lorenz63.sakov2012 import HMM
    from gbees.dapper import Grid

    xp = Grid(set={"factor": 8, "mass_budget": 0.05, "scheme": "split7-mp"})
    xp.assimilate(HMM, *HMM.simulate())
    xp.stats.average_in_time()
    xp.avrgs.err.rms.a

The module imports DAPPER; `import gbees` does not.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Dict, Optional

import numpy as np

from . import _library as lib
from ._dapper_model import Checked, dense, model_of
from ._filter import Filter

_methods = lib.require("dapper.da_methods", "gbees.dapper")


@_methods.da_method()  # makes it a dataclass, with `stats` and the other methods' options of `assimilate`
class Grid:
    """A method of DAPPER that is a gbees.Filter.

    Mean and covariance of the grid are assessed at each observation, before it (`f`) and after it (`a`); between
    observations only if DAPPER stores such times or draws them.

    All is the HMM's: the initial density and the observations' noise, which must be Gaussian, the times, and, unless a
    model is given, the dynamics with their noise, and the observation function, which are made into equations: the HMM's
    functions are called with symbols.  A model that is given has to have the states of the HMM in its order; what its
    equations say is compared with the HMM's functions.

    They differ in time: DAPPER's `Dyn` takes steps of `dt`, mostly by the classical Runge-Kutta scheme, and the truth is
    made with these; gbees solves the differential equation itself, with steps that its grid needs.  So each of DAPPER's
    steps has an error of dt^5 that the grid does not know of (0.01 in Lorenz '63: far below the noise of its
    observations).  DAPPER adds noise of covariance `dt * Dyn.noise.C` after each step: `Dyn.noise.C` is the diffusion.
    Maps that are no steps of a differential equation are refused.

    Parameters
    ----------
    model
        A gbees.Model, the name of a model, or the path of a plugin. By default the HMM's functions.
    function
        The measurement function of a model, which is the HMM's. By default the model's first.
    set
        Changes of the model's default scenario: `factor`, `threshold`, parameters and so on.
    threads, backend
        As of gbees.run().
    """

    model: Any = None
    function: Optional[str] = None
    set: Dict[str, Any] = field(default_factory=dict)
    threads: int = 0
    backend: str = "auto"
    stats: ClassVar[Any]

    def assimilate(self, HMM: Any, xx: Any, yy: Any) -> None:
        """Carries the density through the observations `yy`; `xx` is the truth, for the statistics alone."""
        n, stats = HMM.Dyn.M, self.stats
        mean = np.broadcast_to(np.asarray(HMM.X0.mu, dtype=float), (n,))
        covariance = dense(HMM.X0.C, n, "the HMM's initial density X0")
        stats.assess(0, mu=mean, Cov=covariance)
        start = {"mean": mean, "covariance": covariance}
        model = model_of(HMM) if self.model is None else self.model
        checked = Checked(model, self.set, self.function, HMM)
        with Filter(
            model, set={**self.set, **start}, function=self.function, threads=self.threads, backend=self.backend
        ) as stream:
            for k, ko, t, _ in HMM.tseq.ticker:
                if ko is not None:
                    checked.check_observation(HMM.Obs(ko))
                    self._observe(stream, HMM.Obs(ko), k, ko, t, yy[ko])
                elif stats.store_u or stats.LP_instance.any_figs:
                    now = stream.predict(t)
                    stats.assess(k, mu=now.mean, Cov=now.covariance)

    def _observe(self, stream: Filter, observation: Any, k: int, ko: int, t: float, y: Any) -> None:
        noise = dense(observation.noise.C, observation.M, "the noise of the HMM's observations")
        after = stream.update(t, y, covariance=noise)
        before = stream.prior
        if before is not None:
            self.stats.assess(k, ko, "f", mu=before.mean, Cov=before.covariance)
        self.stats.assess(k, ko, mu=after.mean, Cov=after.covariance)
