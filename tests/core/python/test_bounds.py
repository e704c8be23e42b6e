"""Bounds of records beside closed forms: of what targets leave, of noise that changes with the state or in a pulse, of
full circles, of runs that go on from a record."""

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


def test_a_pulse_of_noise():
    """dx = -x dt + dW and a pulse that takes some ten thousandths of the run and adds 1 to the variance."""
    x, t, wide = sp.symbols("x t wide")
    model = gbees.Model.from_sympy(
        "noise_pulse", {x: -x}, parameters={wide: 0.001}, time=t,
        diffusion={x: 0.1 + sp.exp(-(((t - 0.437) / wide) ** 2)) / (wide * math.sqrt(math.pi))},
        scenario={"mean": [1], "covariance": [0.04], "end": 1, "records": 1})
    for width in 0.0005, 0.0015, 0.005:
        variance = 0.04 * math.exp(-2) + 0.05 * (1 - math.exp(-2)) + math.exp(-2 * 0.563 + width**2)
        record = last(model, accuracy=0.05, parameters={"wide": width})
        assert is_within(record, math.exp(-1), math.sqrt(variance))


def test_a_target_that_opens_for_a_moment():
    """N(0, 1) rests; what is above 1 is absorbed, and at t = 0.4, for some thousandths, what is above -3."""
    x, t, wide = sp.symbols("x t wide")
    model = gbees.Model.from_sympy(
        "opens", {x: 0 * x}, parameters={wide: 0.001}, time=t,
        targets={"up": 1 - x - 4 * sp.exp(-(((t - 0.4) / wide) ** 2))},
        scenario={"mean": [0], "covariance": [1], "end": 1, "records": 1})
    for width in 0.001, 0.003, 0.02:
        target = last(model, frame="lagrangian", accuracy=0.05, targets={"up": "absorb"},
                      parameters={"wide": width}).targets["up"]
        assert abs(target.probability - math.erfc(-3 / math.sqrt(2)) / 2) <= target.bound + 1e-6


def test_what_goes_on_from_a_moving_grid(tmp_path):
    """A turn by 2 in all: evidence and entropy count a cell of the record with its oblique edges."""
    x, v = sp.symbols("x v")
    model = gbees.Model.from_sympy(
        "turn_on", {x: v, v: -x}, measurements={"z": x},
        scenario={"mean": [1, 0], "covariance": [0.04, 0.09], "end": 2, "records": 1})
    folder = tmp_path / "d"
    gbees.run(model, set={"frame": "moving", "accuracy": 0.02, "end": 1}, threads=1, progress=False, output=folder)
    variance = 0.04 * math.cos(2) ** 2 + 0.09 * math.sin(2) ** 2 + 0.04
    evidence = -0.5 * ((-0.9 - math.cos(2)) ** 2 / variance + math.log(2 * math.pi * variance))
    entropy = math.log(2 * math.pi * math.e * 0.2 * 0.3)
    measured = [{"time": 2, "function": "z", "value": [-0.9], "covariance": [0.04]}]
    for frame in "lagrangian", "fixed", "moving":
        run = gbees.run(
            model, threads=1, progress=False,
            set={"frame": frame, "accuracy": 0.02 if frame == "lagrangian" else 0, "initial": {"file": str(folder)},
                 "measurements": measured})
        assert abs(run.updates[0].log_evidence - evidence) < 0.02
        assert abs(run.records[0].entropy - entropy) < 0.03


def test_the_cell_that_a_measurement_has_no_value_in():
    """On a grid that moves it is named by its place, not by its number."""
    x, v = sp.symbols("x v")
    model = gbees.Model.from_sympy(
        "no_number", {x: v, v: -x}, measurements={"z": sp.log(x - 1)},
        scenario={"mean": [1, 0], "covariance": [0.04, 0.04], "end": 1, "records": 1})
    measured = [{"time": 0.5, "function": "z", "value": [0], "covariance": [0.01]}]
    with pytest.raises(gbees.Error) as told:
        last(model, frame="moving", accuracy=0, measurements=measured)
    place = [float(part.split(" = ")[1]) for part in str(told.value).rsplit("] at ", 1)[1].split(", ")]
    assert abs(place[0]) < 1.9 and abs(place[1]) < 1.9 and place[0] < 1


def test_the_direction_is_within_the_cells():
    """Also where the circle's cells begin far below the initial mean."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "turns", {x: 1 + 0 * x}, diffusion={x: 0.05}, periods={x: 2 * sp.pi},
        scenario={"mean": [-1.2], "covariance": [0.04], "end": 6, "records": 12})
    for factor in 2, 3, 4, 5:
        for record in gbees.run(model, set={"factor": factor, "accuracy": 0}, progress=False).records:
            centres, width = record.centres[:, 0], record.grid.width[0]
            start = -1.2 - math.pi - 1.01 * width
            assert start <= centres.min() and centres.max() <= start + 2 * math.pi + 2 * width
            assert start <= record.direction[0] <= start + 2 * math.pi + 2 * width
            assert math.cos(record.direction[0] - (record.time - 1.2)) > 0.999


def test_a_part_that_has_gone_around_a_circle():
    """A few per cent leave the range at its upper end: the deviation is of one period about the initial mean, whatever the
    cells. Beside finite volumes on the line."""
    x = sp.Symbol("x")
    start, drift, noise = (-1.19, 0.463), (1.2, -1.38), 0.163
    model = gbees.Model.from_sympy(
        "goes_round", {x: drift[0] + drift[1] * sp.sin(x)}, diffusion={x: noise}, periods={x: 2 * sp.pi},
        scenario={"mean": [start[0]], "covariance": [start[1]], "end": 2.47, "records": 1})
    record = last(model, accuracy=0.08)
    count, reach, steps = 800, 4 * math.pi, 1000
    h, dt = 2 * reach / count, 2.47 / steps
    at = start[0] - reach + h * (np.arange(count) + 0.5)
    face = at[:-1] + h / 2
    up = (drift[0] + drift[1] * np.sin(face)) / (2 * h) + noise / (2 * h**2)  # a rate, through each face
    down = noise / h**2 - up
    rates = np.diag(up, -1) + np.diag(down, 1) - np.diag(np.append(up, 0) + np.append(0, down))
    step = np.linalg.solve(np.eye(count) - dt / 2 * rates, np.eye(count) + dt / 2 * rates)
    p = np.linalg.matrix_power(step, steps) @ np.exp(-((at - start[0]) ** 2) / 2 / start[1])
    p /= p.sum()
    within = (at - start[0] + math.pi) % (2 * math.pi) - math.pi + start[0]
    mean = p @ within
    assert is_within(record, mean, math.sqrt(p @ (within - mean) ** 2)) and record.certificate.std[0, 1] <= 0.08


def test_a_drift_of_zero_has_no_saddle():
    x, y = sp.symbols("x y")
    model = gbees.Model.from_sympy(
        "at_rest", {x: 0 * x, y: 0 * y}, diffusion={x: 1, y: 1}, targets={"out": 1 - x**2 - y**2},
        scenario={"mean": [0, 0], "covariance": [0.01, 0.01], "end": 0.5, "records": 2})
    run = gbees.run(model, set={"accuracy": 0.05, "targets": {"out": "absorb"}}, threads=1, progress=False)
    assert not any("saddle" in text for text in run.warnings)


@pytest.mark.parametrize("frame, of, accuracy", [
    ("fixed", "marginals", 0.02), ("moving", "moments", 0.02), ("lagrangian", "moments", 0.002),
    ("lagrangian", "marginals", 0.01)])
def test_marginals_with_steep_edges(frame, of, accuracy):
    """x' = x - x^3 from N(0.1, 0.25): the distribution functions at the edges of cells, by the inverse of the flow."""
    x, y = sp.symbols("x y")
    drift = {x: x - x**3} if frame != "lagrangian" else {x: x - x**3, y: -y}
    model = gbees.Model.from_sympy(
        "well" + str(len(drift)), drift,
        scenario={"mean": [0.1, 1][: len(drift)], "covariance": [0.25, 0.25][: len(drift)], "end": 3, "records": 6})
    run = gbees.run(model, set={"frame": frame, "accuracy": accuracy, "accuracy_of": of}, threads=1, progress=False)
    for record in run.records[1:]:
        middle, density = record.marginal(0)
        width = middle[1] - middle[0]
        edge = middle[0] - width / 2 + width * np.arange(len(middle) + 1)
        root = 1 - edge**2 * (1 - np.exp(-2 * record.time))
        start = np.where(root > 0, edge * np.exp(-record.time) / np.sqrt(np.maximum(root, 1e-300)), np.sign(edge) * 99)
        below = np.array([math.erfc((0.1 - at) / 0.5 / math.sqrt(2)) / 2 for at in start])
        off = np.abs(np.concatenate([[0], np.cumsum(density * width)]) - below)
        assert off.max() <= record.certificate.kolmogorov[0, 1]
        if frame == "lagrangian":
            assert off.sum() * width / record.std[0] <= record.certificate.marginal[0, 1]


def test_a_density_as_narrow_as_rounding_allows():
    """A turn with deviations of some 1e-10 about (1, 0)."""
    x, v = sp.symbols("x v")
    model = gbees.Model.from_sympy(
        "narrow", {x: v, v: -x},
        scenario={"mean": [1, 0], "covariance": [1e-20, 4e-20], "end": 1, "records": 1,
                  "output": {"densities": "none"}})
    deviation = 1e-10 * math.sqrt(math.cos(1) ** 2 + 4 * math.sin(1) ** 2)
    assert is_within(last(model, frame="lagrangian", accuracy=0.05), math.cos(1), deviation)


def test_moments_that_the_tail_carries():
    """Henon's map five and six times, of degree 64, by Gauss's rule; far out rounding hides its Jacobian."""
    x, y = sp.symbols("x y")
    model = gbees.Model.from_sympy(
        "henon", {x: 0 * x, y: 0 * y}, jumps={"fold": [1 - 1.4 * x**2 + y, 0.3 * x]},
        scenario={"mean": [0, 0], "covariance": [0.01, 0.01], "end": 5, "records": 1, "output": {"densities": "none"}})
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    first, second = (0.1 * part for part in np.meshgrid(node, node, indexing="ij"))
    weight = np.outer(weight, weight) / np.sum(np.outer(weight, weight))
    for step in range(1, 7):
        first, second = 1 - 1.4 * first**2 + second, 0.3 * first
        mean = np.sum(weight * first)
        deviation = math.sqrt(np.sum(weight * (first - mean) ** 2))
        for accuracy in (0.05, 0.02) if step > 4 else ():
            record = last(model, frame="lagrangian", accuracy=accuracy, end=step,
                          instants=[{"every": 1, "jump": "fold"}])
            assert is_within(record, mean, deviation)


def test_where_a_drift_is_not_finite():
    """The place that the error names, within the brick that it is found in."""
    x, y = sp.symbols("x y")
    model = gbees.Model.from_sympy(
        "pole", {x: 1 / x, y: -x}, scenario={"mean": [0, 0], "covariance": [0.04, 0.04], "end": 1, "records": 1})
    with pytest.raises(gbees.Error, match="not finite near x = 0, y"):
        last(model, frame="moving", accuracy=0.05)


def test_evidence_with_noise_and_parts_missing():
    """Of ten pairs of two states with noise every other number is missing: Kalman's filter."""
    x = sp.symbols("x1:3")
    model = gbees.Model.from_sympy(
        "pairs", {x[0]: -0.1 * x[0] + 1.25 * x[1], x[1]: -0.8 * x[0] - 0.1 * x[1]}, diffusion={c: 0.3 for c in x},
        measurements={"both": {"x1": x[0], "x2": x[1]}},
        scenario={"mean": [1, 0], "covariance": [0.25, 0.25], "end": 2, "records": 1})
    turn = np.array([[-0.1, 1.25], [-0.8, -0.1]])
    steps = 4000
    mean, covariance, evidence, seen = np.array([1.0, 0.0]), 0.25 * np.eye(2), 0.0, []
    one = np.eye(2) + turn / steps * 0.2 + (turn / steps * 0.2) @ (turn / steps * 0.2) / 2
    for k in range(1, 11):
        for _ in range(steps):
            mean, covariance = one @ mean, one @ covariance @ one.T + 0.3 * 0.2 / steps * np.eye(2)
        part, value = (k + 1) % 2, math.sin(0.2 * k)
        seen.append({"time": 0.2 * k, "function": "both", "covariance": [0.04, 0.04],
                     "value": [value if j == part else None for j in range(2)]})
        spread = covariance[part, part] + 0.04
        evidence -= 0.5 * ((value - mean[part]) ** 2 / spread + math.log(2 * math.pi * spread))
        gain = covariance[:, part] / spread
        mean = mean + gain * (value - mean[part])
        covariance = covariance - np.outer(gain, covariance[part])
    run = gbees.run(model, set={"accuracy": 0.05, "measurements": seen, "end": 2}, threads=1, progress=False)
    assert abs(sum(u.log_evidence for u in run.updates) - evidence) < 0.01
    assert is_within(run.records[-1], mean[0], math.sqrt(covariance[0, 0]))


def test_a_part_that_only_a_measurement_shows():
    """Of a mixture the wide part, of 1e-5, is cut off, and no sample is in it: the next run keeps it, and is the best one
    though the samples differ."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "parts", {x: -x / 2}, diffusion={x: 0.01}, measurements={"z": x},
        scenario={"mean": [0], "covariance": [1], "end": 0.5, "records": 1})
    parts = [{"weight": weight, "mean": [0], "covariance": [spread]} for weight, spread in ((1, 0.01), (1e-5, 9))]
    decay = math.exp(-0.5)
    spreads = [part["covariance"][0] * decay + 0.01 * (1 - decay) + 0.25 for part in parts]
    for value, finds in (2.5, True), (0.2, False):
        measured = [{"time": 0.5, "function": "z", "value": [value], "covariance": [0.25]}]
        run = gbees.run(model, set={"initial": parts, "measurements": measured, "accuracy": 0.05}, threads=1,
                        progress=False)
        evidence = sum(part["weight"] / 1.00001 * math.exp(-value**2 / 2 / spread) / math.sqrt(2 * math.pi * spread)
                       for part, spread in zip(parts, spreads))
        assert run.log_evidence == pytest.approx(math.log(evidence), abs=0.002)
        assert run.met != finds and run.runs == (3 if finds else 1)


def test_a_cubic_table():
    """dx/dt is a table with rows at unequal distances: the integral of Fritsch and Butland's cubics."""
    x, u = sp.symbols("x u")
    time, value = np.array([0, 0.5, 0.6, 2, 3]), np.array([0.0, 1, 2, 4, 4.5])
    model = gbees.Model.from_sympy(
        "cubic", {x: u}, parameters={u: 0},
        scenario={"mean": [0], "covariance": [0.01], "end": 2, "records": 1})
    step, secant = np.diff(time), np.diff(value) / np.diff(time)
    heavy, light = step[:-1] + 2 * step[1:], 2 * step[:-1] + step[1:]
    slope = (heavy + light) / (heavy / secant[:-1] + light / secant[1:])
    slope = np.concatenate([[0], slope])  # of three rows' parabola, which would fall
    way = step[:3] * (value[:3] + value[1:4]) / 2 + step[:3] ** 2 * (slope[:3] - slope[1:4]) / 12
    table = {"time": list(map(float, time)), "value": list(map(float, value)), "interpolation": "cubic"}
    record = last(model, frame="lagrangian", accuracy=0.005, tables={"u": table})
    assert is_within(record, float(way.sum()), 0.1)


def test_an_error_of_a_later_run(monkeypatch):
    """Of the runs for an accuracy the best before it stays, with a warning."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "grows_on", {x: x / 2}, diffusion={x: 0.2}, measurements={"z": x},
        scenario={"mean": [0], "covariance": [1], "end": 0.4, "records": 1})
    measured = [{"time": 0.2, "function": "z", "value": [-0.34], "covariance": [0.01]}]
    run_once, runs = gbees._run._one_run, []

    def fails(*given):
        runs.append(given)
        if len(runs) == 3:
            raise gbees.NumericError("cells are too far")
        return run_once(*given)

    monkeypatch.setattr(gbees._run, "_one_run", fails)
    run = gbees.run(model, set={"accuracy": 0.01, "measurements": measured}, threads=1, progress=False)
    assert len(runs) == 3 and run.records[-1].time == 0.4
    assert any("run 3 for the accuracy has ended" in text and "cells are too far" in text for text in run.warnings)


def test_a_measurement_that_no_cell_of_the_first_run_supports(monkeypatch, tmp_path):
    """Others with narrower cells and smaller losses take that run's place; none supports one of 1000 deviations."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "stays", {x: 0 * x}, diffusion={x: 0.1}, measurements={"z": x},
        scenario={"mean": [0], "covariance": [1], "end": 0.4, "records": 1})
    run_once, widths = gbees._run._one_run, []

    def counted(solver, *given):
        made = gbees.Solver.records

        def records(self, *how):
            for record in made(self, *how):
                widths.append(record.grid.width[0])
                yield record

        with monkeypatch.context() as patch:
            patch.setattr(gbees.Solver, "records", records)
            return run_once(solver, *given)

    monkeypatch.setattr(gbees._run, "_one_run", counted)
    for value in 8.0, 1000.0:
        widths.clear()
        seen = [{"time": 0.2, "function": "z", "value": [value], "covariance": [0.01]}]
        changes = {"accuracy": 0.05, "measurements": seen}
        if value < 10:
            run = gbees.run(model, set=changes, threads=1, progress=False, output=tmp_path / "kept")
            assert run.log_evidence == pytest.approx(-0.5 * math.log(2 * math.pi * 1.03) - 32 / 1.03, rel=0.05)
            assert gbees.open(tmp_path / "kept").records[-1].time == 0.4
        else:
            with pytest.raises(gbees.UnsupportedError, match="supported by no cell"):
                gbees.run(model, set=changes, threads=1, progress=False)
            assert len(set(widths)) == 3 and max(widths) == pytest.approx(16 * min(widths))


def test_what_a_measurement_leaves_within_a_cell_takes_finer_ones():
    """Cells of an eighth of a deviation, and a measurement of a 300th: whatever runs differ by, none resolves it yet."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "spreads", {x: 0 * x}, diffusion={x: 1}, measurements={"z": x},
        scenario={"mean": [0], "covariance": [1], "end": 0.6, "records": 1})
    seen = [{"time": 0.5, "function": "z", "value": [0.13], "covariance": [0.0033**2]}]
    run = gbees.run(model, set={"accuracy": 0.1, "measurements": seen}, threads=1, progress=False)
    after = next(r for r in run.records if r.leg == 1)
    left = 1 / math.sqrt(1 / 1.5 + 1 / 0.0033**2)
    assert run.met and is_within(after, 0.13, left) and after.certificate.std[0, 1] <= 0.1


def test_a_target_that_takes_all():
    """A stone that falls: on a grid nothing is known of what is left once that is less than has been lost."""
    x, v = sp.symbols("x v")
    model = gbees.Model.from_sympy(
        "stone", {x: v, v: -1 + 0 * x}, targets={"ground": x},
        scenario={"mean": [1, 0], "covariance": [0.01, 0.01], "end": 3, "records": 3, "targets": {"ground": "absorb"}})
    run = gbees.run(model, set={"frame": "lagrangian", "accuracy": 0.05}, threads=1, progress=False)
    target = run.records[-1].targets["ground"]
    assert target.probability == pytest.approx(1, abs=1e-9) and target.bound < 1e-6 and not run.met
    with pytest.raises(gbees.NumericError, match="targets have taken all but"):
        gbees.run(model, set={"frame": "fixed", "accuracy": 0, "factor": 2}, threads=1, progress=False)


def test_points_from_a_record_have_its_own_error(tmp_path):
    grid = {"dimension": 2, "frame": "fixed", "factor": 1, "end": 2, "records": 1, "measurements": [], "accuracy": 0,
            "mean": [1, 0], "covariance": [[0.1, 0.05], [0.05, 0.1]]}
    first = gbees.run("linear", set=grid, output=str(tmp_path / "first"), threads=1, progress=False).records[-1]
    of_grid = first.certificate.std[:, 1].max()
    points = {"dimension": 2, "frame": "lagrangian", "initial": {"file": str(tmp_path / "first")}, "end": 3,
              "records": 1, "measurements": [], "output.densities": "none", "accuracy": 0.001}
    run = gbees.run("linear", set=points, threads=1, progress=False)
    assert of_grid > 0.001 and not run.met
    assert run.records[-1].certificate.std[:, 1].min() >= of_grid


def test_a_part_beyond_a_saddle_that_the_initial_box_leaves_out():
    """Of N(-1, 0.09) 4.4e-4 is in the other well, further than the three deviations of the initial box."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "wells", {x: x - x**3}, diffusion={x: 0.001}, targets={"right": -x},
        scenario={"mean": [-1], "covariance": [0.09], "end": 10, "records": 1, "targets": {"right": "count"}})
    for tail, least, most in ({}, 0, 1e-6), ({"tail": 1e-10}, 4e-4, 5e-4):
        run = gbees.run(model, set={"accuracy": 0, "factor": 8, **tail}, threads=1, audit=False, progress=False)
        assert least <= run.records[-1].targets["right"].probability <= most
        assert any("the initial box leaves out" in text for text in run.warnings) == (not tail)


def test_a_brick_does_not_reach_to_where_a_drift_is_fast():
    """x' = -x^3: a brick of half deviations ends at 32 of them, where the drift allows steps of 1e-6."""
    x = sp.Symbol("x")
    model = gbees.Model.from_sympy(
        "falls", {x: -(x**3)}, diffusion={x: 0.2}, scenario={"mean": [0], "covariance": [1], "end": 1, "records": 1})
    run = gbees.run(model, set={"accuracy": 0.1}, threads=1, progress=False)
    assert run.met and run.records[-1].steps < 50000


def test_a_precise_measurement_on_a_grid_that_moves():
    """One of a fiftieth of the deviation, with noise along the other state only: beside the Kalman filter."""
    x, v = sp.symbols("x v")
    model = gbees.Model.from_sympy(
        "rank_one", {x: v, v: -x - v / 5}, diffusion={v: 0.1}, measurements={"place": x},
        scenario={"mean": [0, 0], "covariance": [1, 1], "end": 2, "records": 1, "frame": "moving"})
    seen = [{"time": 1, "function": "place", "value": [0.3], "covariance": [0.0004]}]
    run = gbees.run(model, set={"accuracy": 0.05, "measurements": seen}, threads=1, progress=False)
    drift, noise = np.array([[0, 1], [-1, -0.2]]), np.array([[0, 0], [0, 0.1]])
    mean, covariance, steps = np.zeros(2), np.eye(2), 20000
    for _ in range(steps):  # of the trapezoidal rule
        half = np.linalg.solve(np.eye(2) - drift / steps / 2, np.eye(2) + drift / steps / 2)
        covariance = half @ (covariance + noise / steps / 2) @ half.T + noise / steps / 2
    gain = covariance[:, 0] / (covariance[0, 0] + 0.0004)
    evidence = -0.5 * math.log(2 * math.pi * (covariance[0, 0] + 0.0004)) - 0.045 / (covariance[0, 0] + 0.0004)
    mean, covariance = gain * 0.3, covariance - np.outer(gain, covariance[0])
    after = next(r for r in run.records if r.time == 1 and r.leg == 1)
    assert run.met and abs(run.log_evidence - evidence) < 1e-3 and is_within(after, mean[0], covariance[0, 0] ** 0.5)
    assert after.std[0] == pytest.approx(covariance[0, 0] ** 0.5, rel=1e-3)


def test_entropy_of_a_flow_that_points_hardly_resolve():
    """x' = (2/k) sin(k x) moves points next to nowhere, and stretches by up to e^2: more points are taken for it."""
    x, k = sp.Symbol("x"), 1000
    model = gbees.Model.from_sympy(
        "rough", {x: sp.Rational(2, k) * sp.sin(k * x)},
        scenario={"mean": [0.3], "covariance": [0.1], "end": 1, "records": 1, "output": {"densities": "none"}})
    places = np.linspace(-2.7, 3.3, 400001)
    weights = np.exp(-(((places - 0.3) ** 2) / 0.2))
    grown = math.exp(2)
    stretch = np.log(grown / (np.cos(k * places / 2) ** 2 + grown**2 * np.sin(k * places / 2) ** 2))
    exact = math.log(2 * math.pi * math.e * 0.1) / 2 + np.sum(weights * stretch) / weights.sum()
    record = last(model, frame="lagrangian", accuracy=1e-3)
    assert abs(record.entropy - exact) < 0.02


def test_a_density_of_a_ten_millionth_of_its_way():
    """Differences of the drift are longer than its rounding: no point is lost, and none takes steps without an end."""
    y = sp.Symbol("y")
    model = gbees.Model.from_sympy(
        "narrow", {y: 1 + sp.cos(y) / 1000},
        scenario={"mean": [0], "covariance": [1e-14], "end": 1, "records": 1, "output": {"densities": "none"}})
    for tolerance in 1e-9, 1e-6:
        record = last(model, frame="lagrangian", accuracy=0, tolerance=tolerance)
        assert abs(record.mass - 1) < 1e-12 and record.certificate.mean[0, 1] < 2e-3
