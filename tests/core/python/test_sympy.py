"""Models from SymPy: what they compute is what the expressions say, to the last digit that C has."""

import ctypes
import fractions
import math
import os
import re
import subprocess

import numpy as np
import pytest

import gbees
import gbees._sympy

pytestmark = pytest.mark.filterwarnings("ignore::gbees.Warning")
sympy = pytest.importorskip("sympy")
x, y, a = sympy.symbols("x y a")
LEAST = {"mean": [1, 0], "covariance": [0.01, 0.01], "end": 1}


def model(drift, name="tried", **more):
    return gbees.Model.from_sympy(name, drift, scenario=LEAST, **more)


def values_of(expressions, at, tmp_path):
    """The drift that the compiled model has at a point, by its function for doubles."""
    made = gbees._sympy.source_of("tried", dict(zip((x, y), expressions)), {}, {}, {}, None, LEAST, {}, {})
    text = re.sub(r"#else.*#endif", "#endif", made, flags=re.S).replace("#include <gbees/model.h>", "#include <tgmath.h>")
    (tmp_path / "drift.c").write_text(
        "#define GBEES_EQUATIONS\n#define real double\n" + text.replace("static inline void drift", "void drift")
    )
    name = f"drift{len(os.listdir(tmp_path))}.so"  # a loaded one is not loaded again
    subprocess.run(["cc", "-shared", "-fPIC", "-o", name, "drift.c", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / name))
    point, out = (ctypes.c_double * 2)(*at), (ctypes.c_double * 2)()
    library.drift(2, ctypes.c_double(0), point, (ctypes.c_double * 32)(), out)
    return list(out)


def test_expressions_as_they_are_printed():
    from gbees._sympy import _printer

    for expression, text in (
        (x**3, "((x) * (x) * (x))"),
        (1 / x**2, "((real)1 / ((x) * (x)))"),
        (sympy.sqrt(x), "sqrt(x)"),
        (x ** sympy.Rational(1, 3), "pow(x, (real)0.3333333333333333)"),
        (sympy.pi * x, "(real)3.141592653589793*x"),
        (sympy.sqrt(2) * x, "(real)1.4142135623730951*x"),
    ):
        assert _printer().doprint(expression) == text


@pytest.mark.parametrize(
    "number",
    [
        sympy.Rational(4835703278458516698824704, 5), sympy.Integer(2) ** 100 + 1, -sympy.Integer(10) ** 300,
        sympy.Rational(1, 3**50), sympy.Rational(10**400 + 1, 10**400), sympy.Float("0.1", 40), sympy.Integer(2**53 + 1),
        sympy.Rational(1, 10**310),
    ],
)  # fmt: skip
def test_numbers_are_the_nearest_that_c_has(number, tmp_path):
    exact = sympy.Rational(number)
    nearest = float(fractions.Fraction(int(exact.p), int(exact.q)))
    assert values_of([number * x, y], [1, 0], tmp_path)[0] == nearest


def test_constants_and_functions_mean_the_same(tmp_path):
    for expression, point in (
        (sympy.cos(1) * x + sympy.E, [2, 3]),
        (sympy.Mod(x, 3), [-1, 0]),
        (sympy.Mod(x, -3), [1, 0]),
        (x**sympy.Integer(7) + y**-3, [1.5, 2]),
        (sympy.Piecewise((x, x > 10**30), (y, True)), [2, 3]),
        (sympy.re(sympy.exp(sympy.I * x)), [2, 0]),
        ((x + sympy.I * y) * (x - sympy.I * y), [3, 4]),
        (sympy.sqrt(x**2), [-3, 0]),
        (sympy.sign(x) / 2 + sympy.Max(x, y), [-3, 0]),
    ):
        real = {s: sympy.Symbol(s.name, real=True) for s in (x, y)}
        wanted = expression.xreplace(real).subs(dict(zip(real.values(), map(sympy.Rational, point))))
        got = values_of([expression, y], point, tmp_path)[0]
        assert got == pytest.approx(float(sympy.re(wanted.evalf(30))), rel=1e-14), expression


@pytest.mark.parametrize(
    "expression, words",
    [
        (sympy.I * x, "the drift of x is I\\*x, which is complex"),
        (sympy.sqrt(-2) + x, "the drift of x is .*which is complex"),
        (x * sympy.asin(2), "the drift of x is .*not a real number"),
        (sympy.Integer(10) ** 400 * x, "the drift of x is .*beyond the largest number in C"),
        (x / sympy.Integer(10) ** 400, "the drift of x is .*is 0, being so small, in C"),
        (sympy.oo * x, "the drift of x is oo\\*x, which is not finite"),
        (sympy.zeta(x), "the drift of x is zeta\\(x\\), which has a function that C does not have"),
        ([x, y], "the drift of x is .*one expression is needed"),
        (sympy.Matrix([x, y]), "the drift of x is .*one expression is needed"),
        (x + sympy.Symbol("b"), "the drift of x has b, which is neither a state nor a parameter"),
    ],
)
def test_what_c_does_not_have_is_named(expression, words):
    with pytest.raises(gbees.ModelError, match=words):
        model({x: expression, y: -y})


def test_drift_as_a_list_or_a_matrix(tmp_path):
    by_map = model({x: -y, y: x}).source
    for drift in ([-y, x], (-y, x), sympy.Matrix([-y, x]), np.array([-y, x])):
        assert model(drift, states=[x, y]).source == by_map
    assert model({"x": "-y", "y": "x"}).source == by_map
    for drift, more, words in (
        ([-y, x], {}, "beside `states="),
        (-y, {}, "beside `states="),
        (sympy.eye(2), {"states": [x, y]}, "beside `states="),
        ([-y, x], {"states": [x]}, "2 entries for 1 states"),
        ({x: -y, y: x}, {"states": [x, y]}, "leave `states` out"),
        ({x + y: -y, y: x}, {}, "x \\+ y is no symbol"),
    ):
        with pytest.raises(gbees.ModelError, match=words):
            model(drift, **more)


def test_units_periods_and_named_components():
    made = model(
        {x: a * y, y: -x},
        parameters={a: sympy.Rational(1, 3)},
        measurements={"both": [x, y], "polar": {"range": sympy.sqrt(x**2 + y**2), "bearing": sympy.atan2(y, x)}, "x": x},
        units={x: "m", "y": "m/s", a: "1/s", "bearing": "rad"},
        periods={"bearing": 2 * sympy.pi},
    )
    both, polar, alone = made.info.functions
    assert both.components == ("y1", "y2") and alone.components == ("x",)
    assert polar.components == ("range", "bearing") and polar.units == ("-", "rad")
    run = gbees.run(
        made, set={"accuracy": 0}, audit=False, progress=False,
        measurements=[{"time": 0.5, "function": "polar", "value": [1, 2 * math.pi], "covariance": [1, 0.1]}],
    )  # fmt: skip
    shifted = gbees.run(
        made, set={"accuracy": 0}, audit=False, progress=False,
        measurements={"time": [0.5], "range": [1], "bearing": [0.0], "sigma_range": [1], "sigma_bearing": [0.1**0.5]},
    )  # fmt: skip
    assert run.units == ("m", "m/s")
    assert abs(run.log_evidence - shifted.log_evidence) < 1e-9
    # A model of C without names for components has the library's.
    nameless = gbees.Model(made.source.replace("components0, NULL", "NULL, NULL"))
    assert nameless.info.functions[0].components == ("y1", "y2")
    for more, words in (({"units": {"z": "m"}}, "`units` names z"), ({"periods": {"z": 1}}, "`periods` names z")):
        with pytest.raises(gbees.ModelError, match=words):
            model({x: y, y: -x}, **more)


def test_circles_and_walls():
    """A phase that turns, beside its stationary density (test_circles.c); and noise alone between walls, which levels it."""
    made = model({x: 1 - sympy.sin(x)}, diffusion={x: 0.2}, periods={x: 2 * sympy.pi})
    how = {"mean": [0], "covariance": [0.01], "factor": 2, "threshold": 1e-9, "end": 40, "accuracy": 0}
    last = gbees.run(made, set=how, audit=False, progress=False).records[-1]
    assert abs(last.resultant[0] * np.cos(last.direction[0]) - 0.193273) < 1e-4
    assert abs(last.resultant[0] * np.sin(last.direction[0]) - 0.631047) < 1e-4
    made = model({x: 0}, diffusion={x: 1}, walls={x: {"lower": -1, "upper": 1}})
    last = gbees.run(made, set={**how, "end": 9, "factor": 8}, audit=False, progress=False).records[-1]
    assert abs(last.mean[0]) < 1e-4 and abs(last.std[0] - 3**-0.5) < 1e-4 and np.isnan(last.direction[0])
    with pytest.raises(gbees.ModelError, match="to 'reflect' or to 'absorb', not 'bounce'"):
        model({x: 0}, walls={x: {"lower": -1, "at_lower": "bounce"}})
    with pytest.raises(gbees.ModelError, match="have no 'left'"):
        model({x: 0}, walls={x: {"left": -1}})


def test_correlated_noise():
    """x and y at rest but for noise of covariance Q a unit of time."""
    covariance = [[0.04, 0.01], [0.01, 0.02]]
    for given in (covariance, sympy.Matrix(covariance), np.array(covariance)):
        made = model({x: 0, y: 0}, diffusion=given)
        run = gbees.run(made, set={"threshold": 1e-9, "factor": 2}, audit=False, progress=False)
        grown = run.records[-1].covariance - run.records[0].covariance
        assert np.allclose(grown, covariance, atol=2e-4)
    assert model({x: 0, y: 0}, diffusion=[0, 1]).source == model({x: 0, y: 0}, diffusion={y: 1}).source
    for given, words in (
        ([[1, 0], [0.5, 1]], "symmetric"),
        ([1, 2, 3], "2 or 2 x 2 entries"),
        ({a: 1}, "no state"),
        (3, "2 or 2 x 2 entries"),
    ):
        with pytest.raises(gbees.ModelError, match=words):
            model({x: 0, y: 0}, diffusion=given)


def test_scales_of_powers_of_two_are_the_same_run():
    """An oscillation, its units changed by powers of two: the same bits."""

    def oscillation(k):
        s = sympy.Integer(2) ** k
        made = gbees.Model.from_sympy(
            f"scaled{k}",
            {x: -x / 10 + sympy.Rational(5, 4) * y / s**2, y: -sympy.Rational(4, 5) * s**2 * x - y / 10},
            measurements={"y": y},
            scenario={
                "mean": [2 * 2.0**-k, 0], "covariance": [0.25 * 4.0**-k, 0.25 * 4.0**k], "factor": 2, "threshold": 1e-7,
                "end": 1, "measurements": [{"time": 0.5, "value": [-(2.0**k)], "covariance": [0.04 * 4.0**k]}],
            },
        )  # fmt: skip
        return gbees.run(made, threads=1, audit=False, progress=False)

    first = oscillation(0)
    for k in (20, 40, 60):
        other = oscillation(k)
        for one, two in zip(first.records, other.records):
            assert np.array_equal(one.p, two.p) and np.array_equal(one.index, two.index), k


def test_the_least_scenario_is_enough():
    run = gbees.run(model({x: -x, y: -y}), progress=False)
    assert run.accuracy == 0.05 and run.met and len(run.records) == 2


def escapes(made, end):
    """gbees_audit_escape() of the model's scenario until `end`."""
    from gbees import _library as lib

    library, error = lib.LIBRARY, lib.CError()
    registry, found, scenario, problem = (ctypes.c_void_p() for _ in range(4))
    at = ctypes.byref
    assert not library.gbees_registry_create(None, at(registry), at(error))
    call = ctypes.CDLL(os.environ["GBEES_PYTHON_MODULE"])
    assert not call.gbees_registry_model(registry, made.path.encode(), at(found), at(error)), error.text
    assert not library.gbees_scenario_create(f"end: {end}\naccuracy: 0\n".encode(), b"it", at(scenario), at(error))
    assert not call.gbees_scenario_merge_own(scenario, found, None, at(error)), error.text
    assert not call.gbees_problem_create(found, scenario, at(problem), at(error)), error.text
    status = call.gbees_audit_escape(problem, at(error))
    call.gbees_problem_destroy(problem)
    library.gbees_scenario_destroy(scenario)
    library.gbees_registry_destroy(registry)
    return status != 0


def test_a_drift_that_leaves_every_bound_ends_the_run():
    words = "leaves every bound in finite time: of 128 samples of the initial density the first has done so at t = 0\\.[678]"
    gone = model({x: x**2, y: -y})
    for scenario in ({"end": 5}, {"end": 5, "accuracy": 0}, {"end": 0.95}):
        with pytest.raises(gbees.NumericError, match=words):
            gbees.run(gone, set=scenario, progress=False)
    assert gbees.run(gone, set={"end": 0.5, "accuracy": 0.2}, progress=False).records
    assert escapes(gone, 5) and not escapes(gone, 0.9)
    assert escapes(model({x: sympy.exp(5 * x), y: -y}), 1)
    # Fast growth, stiffness, a jump and a fixed point at which the drift has no derivative are none of that.
    for drift in (50 * x, -(10**8) * (x - 1), -sympy.sign(x), -sympy.sign(x) * sympy.sqrt(sympy.Abs(x)), 1 / x, x - x**3):
        assert not escapes(model({x: drift, y: -y}), 10), drift


def test_targets(tmp_path):
    """A point that moves to 0, of which half has arrived when its mean does."""
    x = sympy.Symbol("x", real=True)
    model = gbees.Model.from_sympy(
        "arrival", {x: -1}, targets={"zero": x, "near": x**2 - 1}, units={"zero": "m"},
        scenario={
            "mean": [1], "covariance": [0.04], "end": 1, "records": 2, "frame": "lagrangian", "points": 4,
            "targets": {"zero": "absorb", "near": "count"}, "output": {"densities": "last"},
        },
    )  # fmt: skip
    assert model.info.targets == ("zero", "near")
    run = gbees.run(model, output=tmp_path / "arrival")
    zero = run.records[-1].targets["zero"]
    assert zero.kind == "absorb" and run.records[-1].targets["near"].kind == "count"
    assert abs(zero.probability - 0.5) <= zero.bound < 1e-3
    # What is left is within 1 of 0.
    assert run.targets["near"]["probability"][-1] == pytest.approx(1, abs=1e-5)
    assert run.targets["zero"]["rate"][-1] == pytest.approx(zero.probability / 0.5, rel=0.05)
    assert run.records[-1].mean[0] == pytest.approx(0.2 * math.sqrt(2 / math.pi), abs=3e-3)
    read = gbees.open(tmp_path / "arrival")
    for name in ("zero", "near"):
        for column, values in run.targets[name].items():
            np.testing.assert_array_equal(read.targets[name][column], values)
    pytest.importorskip("matplotlib").use("Agg")
    ax = run.plot_targets()
    assert [line.get_label() for line in ax.get_lines()] == ["zero, entered", "near, inside"]
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), run.targets["zero"]["probability"])
    with pytest.raises(gbees.InputError, match="has the targets zero, near, not moon"):
        run.plot_targets("moon")
    with pytest.raises(gbees.InputError, match="has no target 'moon': it has 'zero' and 'near'"):
        gbees.run(model, set={"targets": {"moon": "count"}})
    # Left of the target's plane: a model whose scenario counts nothing has no targets.
    assert gbees.run(model, set={"targets.zero": "off", "targets.near": "off"}).targets == {}


def test_jumps():
    """A push by the model's function and one by a shift give the same; a jump that bends, exactly."""
    x, v, u = sympy.symbols("x v u")
    model = gbees.Model.from_sympy(
        "pushed", {x: v, v: -x}, jumps={"burn": ({v: v + u}, [u]), "bend": [x, v + x**2]},
        scenario={"mean": [1, 0], "covariance": [0.04, 0.04], "factor": 3, "extent": 5, "threshold": 1e-9, "end": 1},
    )  # fmt: skip
    assert model.info.jumps == ("burn", "bend")
    moments = []
    for frame, jump in (("fixed", {"value": [0, 2]}), ("lagrangian", {"jump": "burn", "value": [2]})):
        run = gbees.run(model, set={"instants": [{"time": 0.5, **jump}], "frame": frame, "accuracy": 0})
        assert [(r.leg, r.number, r.time) for r in run.records] == [(0, 0, 0), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 1)]
        np.testing.assert_allclose(run.records[2].mean - run.records[1].mean, [0, 2], atol=1e-6)
        moments.append(run.records[-1].mean)
    exact = [np.cos(1) + 2 * np.sin(0.5), -np.sin(1) + 2 * np.cos(0.5)]
    np.testing.assert_allclose(moments, [exact, exact], atol=1e-3)
    run = gbees.run(model, set={"instants": {"time": 0, "jump": "bend"}, "accuracy": 0})
    after = run.records[1]
    np.testing.assert_allclose(after.mean, [1, 1.04], atol=1e-3)
    np.testing.assert_allclose(after.covariance, [[0.04, 0.08], [0.08, 0.04 + 0.16 + 0.0032]], atol=2e-3)
    with pytest.raises(gbees.InputError, match="pushed has no jump 'push'"):
        gbees.run(model, set={"instants": [{"time": 0.5, "jump": "push"}]})
    with pytest.raises(gbees.ModelError, match="a list of 2 expressions"):
        gbees.Model.from_sympy("short", {x: v, v: -x}, jumps={"burn": [x]}, scenario={})


@pytest.mark.parametrize("furthest, points, most", [(2, 1, 1e-3), (2, 3, 1e-4), (5, 2, 1e-3)])
def test_first_passage_of_an_oscillator(furthest, points, most):
    """In a period x comes as far as its amplitude, which exceeds a with the probability exp(-a^2 / 2): each trajectory
    touches at a time of its own."""
    x, v, a = sympy.symbols("x v a", real=True)
    model = gbees.Model.from_sympy(
        "swing", {x: v, v: -x}, parameters={a: 2}, targets={"far": a - x},
        scenario={
            "mean": [0, 0], "covariance": [1, 1], "end": 2 * math.pi, "records": 1, "frame": "lagrangian", "accuracy": 0,
            "targets": {"far": "absorb"}, "output": {"densities": "none"},
        },
    )  # fmt: skip
    last = gbees.run(model, set={"points": points, "parameters.a": furthest}).records[-1]
    far, exact = last.targets["far"], math.exp(-(furthest**2) / 2)
    assert abs(far.probability - exact) <= min(far.bound, most * exact)
    assert last.mass == pytest.approx(1 - far.probability, abs=1e-12)


def test_target_that_moves():
    """Noise and a wall that comes nearer: as noise that drifts to a wall at rest."""
    x, t = sympy.symbols("x t")
    model = gbees.Model.from_sympy(
        "wall", {x: 0 * x}, time=t, diffusion={x: 1}, targets={"wall": 1 - t / 2 - x},
        scenario={
            "mean": [0], "covariance": [0.01], "end": 1, "records": 2, "factor": 2, "extent": 6, "threshold": 1e-10,
            "targets": {"wall": "absorb"}, "output": {"densities": "none"},
        },
    )  # fmt: skip
    run = gbees.run(model, audit=False, progress=False, backend="cpu")
    assert run.targets["wall"]["probability"] == pytest.approx([0, 0.252908, 0.491038], abs=5e-4)
