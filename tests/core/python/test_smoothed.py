"""Records given all measurements, beside those given the earlier ones: against closed forms, and from a folder."""

import numpy as np
import pytest

import gbees

pytestmark = pytest.mark.filterwarnings("ignore::gbees.Warning")
SMOOTH = {"frame": "lagrangian", "smooth": "yes"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("smoothed") / "run"


@pytest.fixture(scope="module")
def lorenz(folder):
    changes = {**SMOOTH, "points": 0.8, "tail": 8, "accuracy": 0, "records": 2}
    return gbees.run("lorenz63", set=changes, threads=1, progress=False, output=str(folder))


def same_moments(one, other, most):
    assert np.all(abs(one.mean - other.mean) <= most * other.std)
    assert np.all(abs(one.covariance - other.covariance) <= most * np.outer(other.std, other.std))


def test_places_are_those_of_the_records(lorenz):
    assert len(lorenz.updates) == 1
    assert [(r.leg, r.number, r.time) for r in lorenz.smoothed] == [(r.leg, r.number, r.time) for r in lorenz.records]


def test_how_far_off_cells_are(lorenz, folder):
    told = np.array([r.certificate.variation for r in lorenz.records])
    assert np.all((told > 0) & (told < 0.2))
    assert np.array_equal([r.certificate.variation for r in gbees.open(folder).records], told)


def test_later_measurements_count(lorenz):
    first, smoothed = lorenz.records[0], lorenz.smoothed[0]
    assert np.max(abs(smoothed.mean - first.mean) / first.std) > 0.1
    # At the end, and from the last measurement on, there is nothing later.
    for record, again in zip(lorenz.records, lorenz.smoothed):
        if record.leg == 1:
            same_moments(again, record, 1e-9)
    # Just before and just after a measurement, given it, are the same.
    before, after = (next(r for r in lorenz.smoothed if (r.leg, r.number) == at) for at in ((0, 2), (1, 0)))
    assert before.time == after.time
    same_moments(before, after, 1e-9)


def test_cells_are_those_of_the_smoothed_density(lorenz):
    for record in lorenz.smoothed:
        grid = record.grid
        assert abs(grid.p.sum() - 1) < 1e-9
        # A point is half a cell from its cell's centre at most.
        assert np.all(abs(grid.p @ grid.centres - record.mean) < 0.5 * grid.width)


def test_a_folder_has_them(lorenz, folder):
    pytest.importorskip("h5py")
    kept = gbees.open(folder)
    assert len(kept.smoothed) == len(lorenz.smoothed)
    for record, own in zip(kept.smoothed, lorenz.smoothed):
        assert (record.leg, record.number, record.time) == (own.leg, own.number, own.time)
        assert np.array_equal(record.mean, own.mean) and np.array_equal(record.covariance, own.covariance)
        assert record.entropy == own.entropy and record.grid is None
    assert "smoothed" in repr(kept)


def test_moments(lorenz):
    pytest.importorskip("xarray")
    table = lorenz.moments_smoothed
    assert np.array_equal(table["mean"], [r.mean for r in lorenz.smoothed])
    assert np.array_equal(table["time"], lorenz.moments["time"])
    assert f"{len(lorenz.smoothed)}, given all measurements" in repr(lorenz)


def test_without_smooth_there_are_none(tmp_path):
    out = tmp_path / "out"
    changes = {"frame": "lagrangian", "records": 1, "accuracy": 0, "measurements": [], "end": 0.1}
    run = gbees.run("linear", set=changes, progress=False, output=str(out))
    assert run.smoothed == [] and "smoothed" not in repr(run)
    with pytest.raises(gbees.InputError, match="smooth"):
        run.moments_smoothed
    pytest.importorskip("h5py")
    assert gbees.open(out).smoothed == []


def test_step_by_step():
    changes = {**SMOOTH, "records": 2, "accuracy": 0}
    solver = gbees.Solver("linear", set=changes)
    records = list(solver)
    assert [r.time for r in solver.smoothed] == [r.time for r in records]


def test_one_state_against_the_closed_form():
    """dx/dt = a x: the density at any time given all measurements is that at 0 given them, times exp(a t)."""
    a, variance, mean = -0.4, 0.25, 2.0
    measured = [(1.0, 1.5, 0.04), (2.0, 0.7, 0.09)]
    changes = {
        **SMOOTH, "dimension": 1, "mean": [mean], "covariance": [variance], "accuracy": 0, "records": 2, "end": 3,
        "parameters": {"diagonal": a}, "points": 1.25,
        "measurements": [
            {"time": t, "function": "x1", "value": [z], "covariance": [r]} for t, z, r in measured
        ],
    }  # fmt: skip
    run = gbees.run("linear", set=changes, progress=False)
    precision, weighted = 1 / variance, mean / variance
    for t, z, r in measured:
        precision += np.exp(2 * a * t) / r
        weighted += np.exp(a * t) * z / r
    assert len(run.smoothed) == len(run.records) > 6
    for record in run.smoothed:
        growth = np.exp(a * record.time)
        std = growth / np.sqrt(precision)
        assert abs(record.mean[0] - growth * weighted / precision) < 1e-8 * std
        assert abs(record.std[0] / std - 1) < 1e-8


def test_without_densities_no_cells_are_made(lorenz):
    changes = {**SMOOTH, "points": 0.8, "tail": 8, "accuracy": 0, "records": 2, "output.densities": "none"}
    moments = gbees.run("lorenz63", set=changes, threads=1, progress=False)
    assert all(len(record.p) == 0 for record in moments.records + moments.smoothed)
    for record, other in zip(moments.records + moments.smoothed, lorenz.records + lorenz.smoothed):
        assert np.array_equal(record.mean, other.mean) and np.array_equal(record.covariance, other.covariance)
