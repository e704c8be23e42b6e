"""Bounds of records beside closed forms: of what targets leave, of noise that changes with the state, of full circles."""

import math

import numpy as np
import pytest

import gbees

sp = pytest.importorskip("sympy")
pytestmark = pytest.mark.filterwarnings("ignore::gbees.Warning")


def last(model, **changes):
    return gbees.run(model, set=changes, threads=1, progress=False).records[-1]


def is_within(record, mean, deviation):
    """Whether the first state's moments are as near to the true ones as the record says."""
    off = abs(record.mean[0] - mean) / deviation, abs(record.std[0] / deviation - 1)
    return off[0] <= record.certificate.mean[0, 1] and off[1] <= record.certificate.std[0, 1]


def test_what_is_left_of_a_density_that_a_target_takes():
    """N(0, 0.01) moves to 1.3, and is absorbed at 1: a normal distribution that is cut off at three deviations."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "moves", {x: 1 + 0 * x}, targets={"up": 1 - x},
        scenario={"mean": [0], "covariance": [0.01], "end": 1.3, "records": 1})
    left = math.erfc(3 / math.sqrt(2)) / 2
    beyond = math.exp(-4.5) / math.sqrt(2 * math.pi) / left
    mean, deviation = 1.3 - 0.1 * beyond, 0.1 * math.sqrt(1 + 3 * beyond - beyond**2)
    for accuracy in 0.05, 0.01:
        record = last(model, frame="lagrangian", accuracy=accuracy, targets={"up": "absorb"})
        target = record.targets["up"]
        assert is_within(record, mean, deviation) and record.certificate.mean[0, 1] <= accuracy
        assert abs(target.probability - (1 - left)) <= target.bound <= accuracy


def test_cells_that_a_target_has_cut():
    """A turn of an oscillator leaves those of N(0, 1 / 4) that have never been at 1: a disc."""
    x, v = sp.symbols("x v")
    model = gbees.Model.from_sympy(
        "turns", {x: v, v: -x}, targets={"right": 1 - x},
        scenario={"mean": [0, 0], "covariance": [0.25, 0.25], "end": 6.3, "records": 1})
    deviation = math.sqrt(0.25 * (1 - 2 * math.exp(-2) / (1 - math.exp(-2))))
    for accuracy in 0.05, 0.02:
        record = last(model, frame="lagrangian", accuracy=accuracy, targets={"right": "absorb"})
        assert is_within(record, 0, deviation) and record.certificate.std[0, 1] <= accuracy


def test_noise_that_changes_with_the_state():
    """A geometric Brownian motion, whose tail the grid cuts off: its samples know how much that is."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "grows", {x: x / 10}, diffusion={x: 0.49 * x**2},
        scenario={"mean": [1], "covariance": [0.01], "end": 1, "records": 1})
    record = last(model, accuracy=0.05)
    mean = math.exp(0.1)
    assert is_within(record, mean, math.sqrt(1.01 * math.exp(0.2 + 0.49) - mean**2))


def test_a_heading_that_is_not_known():
    """At the start of a run, too, samples of a density that is wider than its circle lie on the circle."""
    run = gbees.run("unicycle", set={"covariance": [0.04, 0.04, 4], "measurements": [], "end": 0.2, "records": 1},
                    threads=1, progress=False)
    assert np.all(run.records[0].certificate.std[:, 0] < 0.05)
