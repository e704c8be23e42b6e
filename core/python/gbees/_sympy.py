"""SymPy expressions as the C of a plugin."""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

from . import _library as lib


def _printer() -> Any:
    base: Any = lib.require("sympy.printing.c", "Model.from_sympy()").C99CodePrinter

    class Printer(base):  # type: ignore[misc]
        """Constants are of the type `real`, and small integer powers are products."""

        def _print_Float(self, expr: Any) -> str:
            return f"(real){float(expr)!r}"

        def _print_Integer(self, expr: Any) -> str:
            return f"(real){int(expr)}"

        def _print_Rational(self, expr: Any) -> str:
            return f"((real){expr.p} / (real){expr.q})"

        def _print_Half(self, expr: Any) -> str:
            return "(real)0.5"

        def _print_NumberSymbol(self, expr: Any) -> str:
            return f"(real){float(expr.evalf(17))!r}"

        _print_Pi = _print_Exp1 = _print_NumberSymbol

        def _print_Pow(self, expr: Any) -> str:
            base, power = expr.as_base_exp()
            if power.is_Integer and 1 < abs(int(power)) <= 4:
                factor = f"({self._print(base)})"
                product = "(" + " * ".join([factor] * abs(int(power))) + ")"
                return product if power > 0 else f"((real)1 / {product})"
            if power == -1:
                return f"((real)1 / ({self._print(base)}))"
            if power.is_Rational and power.q == 2 and abs(power.p) == 1:
                root = f"sqrt({self._print(base)})"
                return root if power.p > 0 else f"((real)1 / {root})"
            return f"pow({self._print(base)}, {self._print(power)})"

    made: Any = Printer
    return made({"math_macros": {}})


def _word(name: str, what: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise lib.ModelError(f"{name!r} is no name of a {what}: it needs letters, digits and _ only")
    return name


class _Writer:
    """The symbols of a model, and its functions in C."""

    def __init__(self, states: list[Any], parameters: list[Any], time: Any) -> None:
        sympy = self.sympy = lib.require("sympy", "Model.from_sympy()")
        self.printer = _printer()
        self.names = {s: sympy.Symbol(f"x[{j}]") for j, s in enumerate(states)}
        self.names.update({s: sympy.Symbol(f"p[{k}]") for k, s in enumerate(parameters)})
        if time is not None:
            self.names[time] = sympy.Symbol("t")

    def body(self, expressions: list[Any], out: str, where: str, indent: str = "    ") -> str:
        parsed = [self.sympy.sympify(e) for e in expressions]
        for e in parsed:
            unknown = sorted(str(s) for s in e.free_symbols - set(self.names))
            if unknown:
                raise lib.ModelError(
                    f"{where} has {', '.join(unknown)}, which is neither a state nor a parameter: give it a value in "
                    "`parameters`"
                )
        common, reduced = self.sympy.cse(
            [e.xreplace(self.names) for e in parsed], symbols=self.sympy.numbered_symbols("common")
        )
        lines = [f"{indent}const real {s} = {self.printer.doprint(e)};" for s, e in common]
        lines += [f"{indent}{out}[{i}] = {self.printer.doprint(e)};" for i, e in enumerate(reduced)]
        text = "\n".join(lines)
        if "Not supported in C" in text:
            raise lib.ModelError(f"{where} has a function that C does not have: {expressions}")
        return text


def _quoted(text: str) -> str:
    return json.dumps(text)


def _depends_on_time(expressions: list[Any], time: Any) -> bool:
    sympy = lib.require("sympy", "Model.from_sympy()")
    return time is not None and any(time in sympy.sympify(e).free_symbols for e in expressions)


_HEAD = """/* {name} - written by gbees.Model.from_sympy(). */
#define GBEES_DIM {n}
{defines}#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{{
    (void)n, (void)t, (void)x, (void)p;
{drift}
}}
{others}
#else

static const gbees_quantity states[] = {{{states}}};
{lists}
static const gbees_model_scenario scenarios[] = {{{{"default", {scenario}}}}};

GBEES_MODEL = {{
    GBEES_MODEL_HEAD,
    .name = {quoted},
    .title = {quoted},
    .flags = {flags},
    .dim_default = {n},
    .states = states,
{fields}    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
}};

#endif
"""

_DIFFUSION = """
static inline void diffusion(int n, real t, const real x[], const real p[], real q[])
{{
    (void)n, (void)t, (void)x, (void)p;
{body}
}}
"""

_MEASURE = """
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{{
    (void)which, (void)n, (void)t, (void)x, (void)p;
{body}
}}
"""


def _measure(writer: _Writer, functions: dict[str, list[Any]]) -> str:
    cases = []
    for k, (name, parts) in enumerate(functions.items()):
        body = writer.body(parts, "y", f"the measurement {name}", " " * 8)
        cases.append(f"    if (which == {k}) {{\n{body}\n    }}")
    return _MEASURE.format(body="\n".join(cases))


def source_of(
    name: str,
    drift: Mapping[Any, Any],
    parameters: Mapping[Any, float],
    diffusion: Mapping[Any, Any],
    measurements: Mapping[str, Any],
    time: Any,
    scenario: Mapping[str, Any],
) -> str:
    """The text of a plugin; the arguments are those of Model.from_sympy()."""
    states, values = list(drift), list(parameters)
    writer = _Writer(states, values, time)
    functions = {
        _word(k, "measurement"): list(v) if isinstance(v, (list, tuple)) else [v] for k, v in measurements.items()
    }
    defines, others, lists, fields = "", "", "", ""
    if diffusion:
        if set(diffusion) - set(states):
            raise lib.ModelError("the diffusion has a key that is no state")
        defines += "#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL\n"
        body = writer.body([diffusion.get(s, 0) for s in states], "q", "the diffusion")
        others += _DIFFUSION.format(body=body)
    if functions:
        defines += "#define GBEES_HAS_MEASURE 1\n"
        others += _measure(writer, functions)
        rows = ", ".join(f'{{{_quoted(k)}, "", {len(v)}, NULL, NULL}}' for k, v in functions.items())
        lists += f"static const gbees_measurement_function measurements[] = {{{rows}}};\n"
        fields += "    .measurement_count = GBEES_COUNT(measurements),\n    .measurements = measurements,\n"
    if values:
        rows = ", ".join(
            f'{{{_quoted(_word(str(s), "parameter"))}, "-", "", {float(parameters[s])!r}, 0, 0}}' for s in values
        )
        lists = f"static const gbees_parameter parameters[] = {{{rows}}};\n" + lists
        fields = "    .parameter_count = GBEES_COUNT(parameters),\n    .parameters = parameters,\n" + fields
    moving = _depends_on_time(list(drift.values()) + list(diffusion.values()), time)
    return _HEAD.format(
        name=_word(name, "model"),
        quoted=_quoted(name),
        n=len(states),
        defines=defines,
        drift=writer.body([drift[s] for s in states], "dxdt", "the drift"),
        others=others,
        states=", ".join(f'{{{_quoted(_word(str(s), "state"))}, "-", ""}}' for s in states),
        lists=lists,
        scenario=_quoted("".join(f"{k}: {json.dumps(v)}\n" for k, v in scenario.items())),
        flags="GBEES_TIME_DEPENDENT" if moving else "0",
        fields=fields,
    )
