"""The grid as a method of DAPPER, in DAPPER's own benchmark with Lorenz '63."""

import numpy as np
import pytest

import gbees

dapper = pytest.importorskip("dapper", reason="DAPPER is not installed: pip install dapper")

CYCLES = 16


def lorenz():
    """Lorenz '63 in DAPPER's coordinates, with all states measured."""
    sympy = pytest.importorskip("sympy")
    x, y, z = sympy.symbols("x y z")
    return gbees.Model.from_sympy(
        "lorenz63_dapper",
        {x: 10 * (y - x), y: 28 * x - y - x * z, z: x * y - sympy.Rational(8, 3) * z},
        measurements={"all": [x, y, z]},
        scenario={"mean": [0, 0, 0], "covariance": [1, 1, 1], "end": 1, "threshold": 1e-5, "factor": 1},
    )


@pytest.fixture(scope="module")
def twin():
    from dapper.mods.Lorenz63.sakov2012 import HMM as published
    from dapper.tools.seeding import set_seed

    HMM = published.copy()
    HMM.tseq.BurnIn = -1
    HMM.tseq.Ko = CYCLES - 1
    set_seed(3000)
    return HMM, *HMM.simulate()


def run(method, twin):
    """Root of the mean square error of the means after the observations."""
    from dapper.tools.seeding import set_seed

    set_seed(3001)
    HMM, truth, observations = twin
    method.assimilate(HMM, truth, observations)
    return np.sqrt(np.mean(method.stats.err.a ** 2))


@pytest.fixture(scope="module")
def grid(twin):
    from gbees.dapper import Grid

    made = Grid(lorenz(), set={"factor": 6, "threshold": 1e-7})
    run(made, twin)
    return made


def test_errors_beside_those_of_their_filters(twin, grid):
    from dapper.da_methods import EnKF, ExtKF, PartFilt

    error = np.sqrt(np.mean(grid.stats.err.a ** 2))
    assert error < run(EnKF("PertObs", N=100, infl=1.01), twin)
    assert error < run(EnKF("Sqrt", N=10, infl=1.02, rot=True), twin)
    assert error < run(ExtKF(infl=90), twin)
    # Without noise the exact density is a thin sheet, which a grid widens; many particles are nearest to it.
    particles = PartFilt(N=20000, reg=0.5, NER=0.05)
    assert error < 1.1 * run(particles, twin)
    apart = abs(grid.stats.mu.a - particles.stats.mu.a) / particles.stats.spread.a
    assert np.mean(apart) < 0.2
    assert abs(np.mean(grid.stats.spread.a) / np.mean(particles.stats.spread.a) - 1) < 0.1


def test_every_statistic_is_there(grid):
    grid.stats.average_in_time()
    assert 0 < grid.avrgs.err.rms.a.val < grid.avrgs.err.rms.f.val  # an observation improves what was expected
    assert np.all(np.isfinite(grid.stats.spread.f)) and np.all(np.isfinite(grid.stats.spread.a))
    assert np.all(grid.stats.spread.a < grid.stats.spread.f)


def test_times_between_observations(twin):
    from gbees.dapper import Grid

    HMM, truth, observations = twin
    HMM = HMM.copy()
    HMM.tseq.Ko = 1
    often = Grid(lorenz())
    often.assimilate(HMM, truth[: HMM.tseq.K + 1], observations[:2], store_u=True)
    assert np.all(np.isfinite(often.stats.mu[:, "u"]))
    assert np.all(abs(often.stats.err[1, "u"]) < 4 * often.stats.spread[1, "u"])


def test_the_hmm_itself_is_the_model(twin):
    """Without a model the HMM's functions are made into equations: the same as those that are given."""
    from gbees.dapper import Grid

    HMM, truth, observations = twin
    HMM = HMM.copy()
    HMM.tseq.Ko = 1
    found = []
    narrow = {"factor": 3, "threshold": 1e-6}
    for method in (Grid(lorenz(), set=narrow), Grid(set=narrow)):
        method.assimilate(HMM, truth[: HMM.tseq.K + 1], observations[:2])
        found.append(method.stats.mu.a)
    assert np.max(abs(found[1] - found[0])) < 1e-4  # to the rounding of 8/3


def noisy(twin, covariance=2.0):
    import dapper.mods as modelling

    HMM = twin[0].copy()
    HMM.Dyn.noise = modelling.GaussRV(C=covariance, M=3)
    HMM.tseq.Ko = 9
    return HMM


def test_noise_in_the_dynamics(twin):
    """With noise the density is smooth: a grid and many particles agree, and a Gaussian differs."""
    from dapper.da_methods import EnKF, PartFilt
    from dapper.tools.seeding import set_seed

    from gbees.dapper import Grid

    HMM = noisy(twin)
    set_seed(3000)
    noisy_twin = HMM, *HMM.simulate()
    grid = Grid(set={"factor": 3, "mass_budget": 0.01})
    particles, kalman = PartFilt(N=50000, reg=0, NER=0.3), EnKF("Sqrt", N=100)
    for method in (grid, particles, kalman):
        run(method, noisy_twin)
    apart = [
        np.max(abs(m.stats.mu.a - particles.stats.mu.a) / particles.stats.spread.a) for m in (grid, kalman)
    ]
    assert apart[0] < 0.1  # thirty means, whose standard error is about .02
    assert apart[1] > 0.3
    assert np.max(abs(grid.stats.spread.a / particles.stats.spread.a - 1)) < 0.08


def test_models_that_are_not_the_hmm(twin):
    from gbees.dapper import Grid

    HMM, truth, observations = twin

    def refused(text, method, HMM=HMM):
        with pytest.raises((gbees.ModelError, gbees.InputError), match=text):
            method.assimilate(HMM, truth, observations)

    refused("the HMM's steps do not begin along the drift of the model lorenz63", Grid("lorenz63"))
    refused("has noise of covariance .* in a unit of time, the HMM", Grid(lorenz()), noisy(twin))
    refused("has 4 states, the HMM 3", Grid("pcr3bp"))
    refused("has no measurement function sum", Grid(lorenz(), function="sum"))
    partly = HMM.copy()
    import dapper.mods as modelling

    observed = modelling.partial_Id_Obs(3, np.array([0, 1]))
    partly.Obs = modelling.TimeDependentOperator(**observed, noise=2)
    refused("the HMM's observation function is not the measurement function of the model", Grid(lorenz()), partly)
    stepwise = HMM.copy()
    stepwise.Dyn.model = lambda x, t, dt: x + np.where(x > 0, dt, -dt)
    refused("the HMM's functions are more than arithmetic by NumPy", Grid(), stepwise)
    leap = HMM.copy()
    leap.Dyn.model = lambda x, t, dt: 0.9 * x
    refused("the HMM's steps do not begin along the drift", Grid(), leap)


def test_an_hmm_that_is_not_gaussian(twin):
    from gbees.dapper import Grid

    HMM = twin[0].copy()
    HMM.X0.C = 0
    with pytest.raises(gbees.InputError, match="the HMM's initial density X0 has no covariance"):
        Grid(lorenz()).assimilate(HMM, *twin[1:])
