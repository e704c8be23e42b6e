"""Equations at many points, and functions of NumPy as expressions: what gbees.stonesoup and gbees.dapper stand on."""

import pickle

import numpy as np
import pytest

import gbees
from gbees._equations import Evaluator

POINTS = np.random.default_rng(1).normal(size=(3, 50)) * 5


def test_drift_and_measurements_of_a_plugin():
    equations = Evaluator("lorenz63", {"r": 20})
    x, y, z = POINTS
    assert np.allclose(equations.drift(0.0, POINTS), [4 * (y - x), -y - x * z, x * y - z - 20])
    assert np.array_equal(equations.measure(0, 0.0, POINTS), [z])
    assert np.array_equal(equations.diffusion(0.0, POINTS), np.zeros((50, 3, 3)))
    assert not equations.time_dependent
    again = pickle.loads(pickle.dumps(equations))
    assert np.array_equal(again.drift(0.0, POINTS), equations.drift(0.0, POINTS))
    x = np.random.default_rng(2).normal(size=(6, 9))
    six = Evaluator("lorenz96", {"F": 5}, dimension=6)
    assert np.allclose(six.drift(0.0, x), (np.roll(x, -1, 0) - np.roll(x, 2, 0)) * np.roll(x, 1, 0) - x + 5)
    with pytest.raises(gbees.InputError, match="the model lorenz63 has 3 to 3 states, not 4"):
        Evaluator("lorenz63", dimension=4)
    with pytest.raises(gbees.InputError, match="the model lorenz63 has no parameter rho"):
        Evaluator("lorenz63", {"rho": 20})


def test_time_and_noise():
    sympy = pytest.importorskip("sympy")
    x, y, t = sympy.symbols("x y t")
    scenario = {"mean": [0, 0], "covariance": [1, 1], "end": 1}
    diagonal = gbees.Model.from_sympy("noisy", {x: t * y, y: -x}, diffusion={y: x**2}, time=t, scenario=scenario)
    full = gbees.Model.from_sympy("noisy", {x: y, y: -x}, diffusion=[[2, x], [x, 3]], scenario=scenario)
    points = POINTS[:2]
    assert np.allclose(Evaluator(diagonal).drift(2.0, points), [2 * points[1], -points[0]])
    assert Evaluator(diagonal).time_dependent and not Evaluator(full).time_dependent
    found = Evaluator(diagonal).diffusion(0.0, points)
    assert np.allclose(found[:, 1, 1], points[0] ** 2) and not np.any(found[:, 0])
    found = Evaluator(full).diffusion(0.0, points)
    assert np.allclose(found[7], [[2, points[0, 7]], [points[0, 7], 3]])


FUNCTIONS = [
    lambda x: np.array([np.arctan2(x[1], x[0]), np.hypot(x[0], x[1]), -abs(x[2])]),
    lambda x: np.array([[2.0, 0, 1], [0, 3, -1]]) @ x,
    lambda x: np.roll(x, -1, axis=0) * x - 1 / (2 + np.sin(x) ** 2) + np.sqrt(np.exp(x)),
    lambda x: np.array([np.sum(x**2, axis=0) / np.linalg.norm(x, axis=0), 5 - x[0] ** 0.5 * 0 + x[1] / 4]),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_expressions(function):
    sympy = pytest.importorskip("sympy")
    from gbees._traced import expressions, traced, values_at

    symbols = list(sympy.symbols("x1:4", real=True))
    points = np.abs(POINTS) + 0.1
    assert np.allclose(values_at(expressions(function(traced(symbols))), symbols, points), function(points))


def test_functions_with_branches_are_none():
    sympy = pytest.importorskip("sympy")
    from gbees._traced import traced

    with pytest.raises(TypeError):
        np.where(traced(sympy.symbols("x1:4")) > 0, 1, 2)
