"""Parts of a posterior that are thinner, lighter or further away than the rest, beside quadrature."""

import math

import numpy as np
import pytest

import gbees

sp = pytest.importorskip("sympy")
pytestmark = pytest.mark.filterwarnings("ignore::gbees.Warning")


def cubic():
    """x' = a x - b x^3, whose flow is known, measured by functions with several solutions."""
    x, a, b = sp.symbols("x a b")
    scenario = {"mean": [0], "covariance": [1], "end": 1, "records": 1, "frame": "lagrangian"}
    return gbees.Model.from_sympy(
        "cubic", {x: a * x - b * x**3}, parameters={a: 1, b: 1}, scenario=scenario,
        measurements={"cubic": x**3 - x, "wave": x * sp.sin(3 * x), "far": sp.Abs(x - sp.Rational(3, 10))},
    )  # fmt: skip


@pytest.mark.parametrize(
    "name, mean, std, a, b, end, value, sigma",
    [
        ("cubic", -1.087, 1.738, 0.566, 0.818, 1.047, -0.08963, 0.026),
        ("wave", -0.333, 1.457, 0.206, 0.886, 0.94, 0.46278, 0.0078),
    ],
)
def test_parts_that_are_thinner_than_the_rest_are_found(name, mean, std, a, b, end, value, sigma):
    time = 0.95 * end
    seen = [{"time": time, "function": name, "value": [value], "covariance": [sigma**2]}]
    settings = {"mean": [mean], "covariance": [std**2], "end": end, "parameters": {"a": a, "b": b}, "accuracy": 0.05}
    run = gbees.run(cubic(), set={**settings, "measurements": seen}, progress=False)

    def flow(x, t):
        return x * np.exp(a * t) / np.sqrt(1 + b / a * x**2 * np.expm1(2 * a * t))

    z = np.linspace(-8, 8, 400001)
    at = flow(mean + std * z, time)
    measured = at**3 - at if name == "cubic" else at * np.sin(3 * at)
    weight = np.exp(-(z**2) / 2 - (value - measured) ** 2 / 2 / sigma**2)
    evidence = math.log(weight.sum() * (z[1] - z[0]) / (2 * math.pi * sigma))
    weight /= weight.sum()
    x = flow(mean + std * z, end)
    exact = weight @ x, math.sqrt(weight @ (x - weight @ x) ** 2)
    record = run.records[-1]
    assert abs(run.log_evidence - evidence) < 3 * run.updates[-1].sampled_error + 1e-3
    assert abs(record.mean[0] - exact[0]) < record.certificate.mean[0, 1] * exact[1]
    assert abs(record.std[0] / exact[1] - 1) < record.certificate.std[0, 1]


def test_a_light_part_that_is_far_from_a_narrow_one_is_in_the_deviation():
    mean, std, value, sigma = -0.4836, 0.258, 0.5171, 1.5e-4
    seen = [{"time": 1, "function": "far", "value": [value], "covariance": [sigma**2]}]
    still = {"mean": [mean], "covariance": [std**2], "parameters": {"a": 0, "b": 0}, "accuracy": 0.05}
    record = gbees.run(cubic(), set={**still, "measurements": seen}, progress=False).records[-1]
    prior = [math.exp(-(((at - mean) / std) ** 2) / 2) for at in (0.3 - value, 0.3 + value)]
    light = prior[1] / sum(prior)
    assert record.std[0] == pytest.approx(math.sqrt(light * (2 * value) ** 2 + sigma**2), rel=0.05)


@pytest.mark.parametrize("points", [None, 0.4])
def test_a_density_that_coarse_lattices_do_not_tell_gets_denser_ones(points):
    x = sp.Symbol("x")
    scenario = {"mean": [0], "covariance": [1], "end": 2, "records": 1, "frame": "lagrangian"}
    model = gbees.Model.from_sympy("still", {x: 0 * x}, measurements={"square": x**2}, scenario=scenario)
    seen = [(0.5, 0.628, 0.432), (1, 0.78, 0.05)]
    measurements = [{"time": t, "function": "square", "value": [y], "covariance": [s**2]} for t, y, s in seen]
    settings = {"measurements": measurements, **({"points": points} if points else {"accuracy": 0.05})}
    record = gbees.run(model, set=settings, progress=False).records[-1]
    z = np.linspace(-8, 8, 400001)
    weight = np.exp(-(z**2) / 2 - sum((y - z**2) ** 2 / 2 / s**2 for _, y, s in seen))
    assert record.std[0] == pytest.approx(math.sqrt(weight @ z**2 / weight.sum()), rel=0.01)


def linear_with_noise(name, drift, noise, measured, scenario):
    x = sp.Symbol("x")
    return gbees.Model.from_sympy(
        name, {x: drift * x}, diffusion={x: noise}, measurements={"y": measured(x)}, scenario=scenario
    )


def test_the_mirror_image_of_a_precise_square_is_in_the_deviation():
    a, q, mean, variance, end, value, error = 0.5727, 0.0749, 0.511, 0.0509, 0.02, 0.27, 3.2e-5
    scenario = {"mean": [mean], "covariance": [variance], "end": end, "accuracy": 0.1}
    model = linear_with_noise("mirror", a, q, lambda x: x**2, scenario)
    seen = [{"time": end, "value": [value], "covariance": [error]}]
    run = gbees.run(model, set={"measurements": seen}, progress=False)
    growth = math.exp(a * end)
    predicted = mean * growth, variance * growth**2 + q * (growth**2 - 1) / 2 / a
    x = np.linspace(-2, 2, 400001)
    weight = np.exp(-((x - predicted[0]) ** 2) / 2 / predicted[1] - (value - x**2) ** 2 / 2 / error)
    exact = math.sqrt(weight @ (x - weight @ x / weight.sum()) ** 2 / weight.sum())
    assert run.records[-1].std[0] == pytest.approx(exact, rel=0.02)


def test_what_a_heavy_tailed_error_finds_beyond_the_box_is_kept():
    theta, q, end, degrees = 0.968, 0.1015, 0.1, 3
    model = linear_with_noise("outlier", -theta, q, lambda x: x, {"mean": [0.5], "covariance": [0.25], "end": end})
    decay = math.exp(-theta * end)
    mean, variance = 0.5 * decay, 0.25 * decay**2 + q * (1 - decay**2) / 2 / theta
    value, scale = mean + 5.5 * math.sqrt(variance), 0.1 * math.sqrt(variance)
    seen = [{"time": end, "value": [value], "covariance": [scale**2], "likelihood": "student-t",
             "degrees_of_freedom": degrees}]  # fmt: skip
    run = gbees.run(model, set={"accuracy": 0.05, "measurements": seen}, runs_most=4, progress=False)
    x = mean + math.sqrt(variance) * np.linspace(-9, 9, 400001)
    weight = np.exp(-((x - mean) ** 2) / 2 / variance)
    weight *= (1 + ((value - x) / scale) ** 2 / degrees) ** (-(degrees + 1) / 2)
    exact = weight @ x / weight.sum()
    std = math.sqrt(weight @ (x - exact) ** 2 / weight.sum())
    assert abs(run.records[-1].mean[0] - exact) < 0.03 * std


def test_noise_that_is_no_covariance_is_refused():
    x, y = sp.symbols("x y")
    scenario = {"mean": [0, 0], "covariance": [1, 1], "end": 0.25, "frame": "moving"}
    model = gbees.Model.from_sympy("tilted", {x: -x, y: -y}, diffusion=[[1, 1.05], [1.05, 1]], scenario=scenario)
    with pytest.raises(gbees.ModelError, match="the diffusion is no covariance"):
        gbees.run(model, progress=False)


@pytest.mark.parametrize("apart, weight, warns", [(6, 0.5, True), (6, 0.07, True), (6, 0.01, False)])
def test_cells_that_are_wider_than_a_part_are_warned_of(apart, weight, warns):
    def part(mean, weight, deviation):
        return {"weight": weight, "mean": [mean], "covariance": [deviation**2]}

    still = {"parameters": {"a": 0, "b": 0}, "width": [0.3], "accuracy": 0.01}
    wide = part(0, 1 - weight, 0.5 if weight < 0.5 else 0.03)
    run = gbees.run(cubic(), set={**still, "initial": [wide, part(apart, weight, 0.03)]}, progress=False)
    assert run.met and any("or a part of it" in text for text in run.warnings) == warns
