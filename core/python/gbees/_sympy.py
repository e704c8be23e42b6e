"""SymPy expressions as the C of a plugin."""

from __future__ import annotations

import copy
import json
import math
import re
from typing import Any, Iterable, Mapping

from . import _library as lib
from ._measurements import as_yaml

_DIGITS = 60  # of a constant before it is rounded


def _sympy() -> Any:
    return lib.require("sympy", "Model.from_sympy()")


def _real(value: Any) -> str:
    """A constant as C: the nearest double."""
    exact = value if value.is_Rational else value.evalf(_DIGITS)
    if not exact.is_real or not exact.is_finite:
        raise lib.ModelError(f"{value} is not a real number")
    exact = _sympy().Rational(exact)
    try:
        number = exact.p / exact.q
    except OverflowError:
        number = math.inf
    if math.isinf(number) or (number == 0 and exact.p != 0):
        raise lib.ModelError(f"{value} is {'beyond the largest number' if number else '0, being so small,'} in C")
    return f"(real){number!r}"


def _printer() -> Any:
    base: Any = lib.require("sympy.printing.c", "Model.from_sympy()").C99CodePrinter
    sympy = _sympy()

    class Printer(base):  # type: ignore[misc]
        """Constants are correctly rounded numbers of the type `real`, and small integer powers are products."""

        def _print(self, expr: Any, **options: Any) -> Any:
            if isinstance(expr, sympy.Expr) and expr.is_number:
                return _real(expr)
            return super()._print(expr, **options)

        def _print_Mod(self, expr: Any) -> str:
            # SymPy's has the sign of the divisor, C's fmod() that of the dividend.
            a, b = expr.args
            return f"({self._print(a - b * sympy.floor(a / b))})"

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


def _symbol(given: Any, what: str) -> Any:
    sympy = _sympy()
    symbol = sympy.Symbol(given) if isinstance(given, str) else given
    if not isinstance(symbol, sympy.Symbol):
        raise lib.ModelError(f"{given} is no symbol: a {what} has to be one")
    _word(str(symbol), what)
    return symbol


def _listed(given: Any) -> list[Any] | None:
    """The entries of a list, or of a matrix of one row or column; None: it is neither."""
    if isinstance(given, (list, tuple)):
        return list(given)
    if hasattr(given, "tolist") and hasattr(given, "shape"):
        shape = tuple(given.shape)
        if len(shape) == 1 or (len(shape) == 2 and 1 in shape):
            return [entry for row in given.tolist() for entry in (row if isinstance(row, list) else [row])]
    return None


class _Writer:
    """The symbols of a model, and its functions in C."""

    def __init__(self, states: list[Any], parameters: list[Any], time: Any) -> None:
        sympy = self.sympy = _sympy()
        self.printer = _printer()
        self.names = {s: sympy.Symbol(f"x[{j}]", real=True) for j, s in enumerate(states)}
        self.names.update({s: sympy.Symbol(f"p[{k}]", real=True) for k, s in enumerate(parameters)})
        if time is not None:
            self.names[time] = sympy.Symbol("t", real=True)
        self.back = {new: old for old, new in self.names.items()}

    def with_values(self, values: list[Any]) -> "_Writer":
        """The same with the symbols of a jump's value."""
        made = copy.copy(self)
        made.names = {**self.names, **{v: self.sympy.Symbol(f"value[{i}]", real=True) for i, v in enumerate(values)}}
        made.back = {new: old for old, new in made.names.items()}
        return made

    def parse(self, given: Any, where: str) -> Any:
        """An expression of real numbers in x[], p[] and t."""
        try:
            e = self.sympy.sympify(given)
        except self.sympy.SympifyError:
            e = None
        if not isinstance(e, self.sympy.Expr) or getattr(e, "is_Matrix", False):
            raise lib.ModelError(f"{where} is {given}: one expression is needed")
        known = {str(s): s for s in self.names}
        e = e.xreplace({s: known[str(s)] for s in e.free_symbols if s not in self.names and str(s) in known})
        unknown = sorted(str(s) for s in e.free_symbols - set(self.names))
        if unknown:
            raise lib.ModelError(
                f"{where} has {', '.join(unknown)}, which is neither a state nor a parameter: give it a value in "
                "`parameters`"
            )
        made = e.xreplace(self.names)
        if made.has(self.sympy.I):
            made, imaginary = made.as_real_imag()
            if self.sympy.simplify(imaginary) != 0:
                raise lib.ModelError(f"{where} is {e}, which is complex: give its real and imaginary parts a state each")
        if made.has(self.sympy.oo, -self.sympy.oo, self.sympy.zoo, self.sympy.nan):
            raise lib.ModelError(f"{where} is {e}, which is not finite")
        return made

    def body(self, expressions: Iterable[tuple[Any, str]], out: str, indent: str = "    ") -> str:
        """Assignments to out[]: of expressions, each with what it is for errors."""
        pairs = list(expressions)
        parsed = [self.parse(e, where) for e, where in pairs]
        for e, (given, where) in zip(parsed, pairs):
            try:
                known = "Not supported in C" not in self.printer.doprint(e)
            except lib.ModelError as error:
                raise lib.ModelError(f"{where} is {given}: {error}") from None
            except NotImplementedError:  # of SymPy 1.14
                known = False
            if not known:
                raise lib.ModelError(f"{where} is {given}, which has a function that C does not have")
        common, reduced = self.sympy.cse(parsed, symbols=self.sympy.numbered_symbols("common", real=True))
        lines = [f"{indent}const real {s} = {self.printer.doprint(e)};" for s, e in common]
        lines += [f"{indent}{out}[{i}] = {self.printer.doprint(e)};" for i, e in enumerate(reduced)]
        return "\n".join(lines)

    def number(self, given: Any, what: str) -> float:
        """A number of a table."""
        try:
            value = float(_real(self.sympy.sympify(given))[len("(real)") :])
        except (TypeError, AttributeError, self.sympy.SympifyError):
            raise lib.ModelError(f"{what} is {given}: a number is needed") from None
        return value


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


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
{last}}};

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

_TARGET = """
static inline real target(int which, int n, real t, const real x[], const real p[])
{{
    (void)which, (void)n, (void)t, (void)x, (void)p;
{body}
    return NAN;
}}
"""


_JUMP = """
static inline void jump(int which, int n, real t, const real x[], const real p[], const real value[], real to[])
{{
    (void)which, (void)n, (void)t, (void)x, (void)p, (void)value;
{body}
}}
"""


def drift_map(drift: Any, states: Any) -> dict[Any, Any]:
    """States, in their order, to dx/dt: of a map, or of a list or matrix beside a list of the states."""
    if isinstance(drift, Mapping):
        if states is not None:
            raise lib.ModelError("the drift is a map, whose keys are the states: leave `states` out")
        return {_symbol(s, "state"): e for s, e in drift.items()}
    entries = _listed(drift)
    if entries is None or states is None:
        raise lib.ModelError(
            "the drift has to be a map {state: dx/dt, ...}, or a list or a matrix of one column beside "
            "`states=[x, ...]`, which names the states in its order"
        )
    symbols = [_symbol(s, "state") for s in states]
    if len(symbols) != len(entries) or len(set(symbols)) != len(symbols):
        raise lib.ModelError(f"the drift has {len(entries)} entries for {len(symbols)} states")
    return dict(zip(symbols, entries))


def _diffusion_of(given: Any, states: list[Any]) -> tuple[str, list[Any]]:
    """Which kind of diffusion, and its entries: n of a map or list, n x n of a matrix; no entries: there is none."""
    n = len(states)
    if isinstance(given, Mapping):
        found = {_symbol(s, "state"): e for s, e in given.items()}
        if set(found) - set(states):
            raise lib.ModelError("the diffusion has a key that is no state")
        return "GBEES_DIAGONAL", [found.get(s, 0) for s in states] if found else []
    rows = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(rows, (list, tuple)) and len(rows) == n:
        if all(isinstance(row, (list, tuple)) and len(row) == n for row in rows):
            sympy = _sympy()
            for i in range(n):
                for j in range(i):
                    if sympy.simplify(sympy.sympify(rows[i][j]) - sympy.sympify(rows[j][i])) != 0:
                        raise lib.ModelError(
                            f"the diffusion of {states[i]} and {states[j]} is {rows[i][j]} and {rows[j][i]}: it has to be "
                            "symmetric"
                        )
            return "GBEES_FULL", [entry for row in rows for entry in row]
        if not any(isinstance(row, (list, tuple)) for row in rows):
            return "GBEES_DIAGONAL", list(rows)
    raise lib.ModelError(f"the diffusion has to be a map of states, or have {n} or {n} x {n} entries")


class _Jumps:
    """The jumps: names to the images of the states, and to the symbols of the values that scenarios give them."""

    def __init__(self, given: Mapping[str, Any], states: list[Any]) -> None:
        self.states = states
        self.images: dict[str, list[Any]] = {}
        self.values: dict[str, list[Any]] = {}
        for name, what in given.items():
            _word(name, "jump")
            images, values = what if isinstance(what, tuple) and len(what) == 2 else (what, [])
            if isinstance(images, Mapping):
                found = {_symbol(s, "state"): e for s, e in images.items()}
                if set(found) - set(states):
                    raise lib.ModelError(f"the jump {name} has a key that is no state")
                entries: list[Any] | None = [found.get(s, s) for s in states]
            else:
                entries = _listed(images)
            if entries is None or len(entries) != len(states):
                raise lib.ModelError(f"the jump {name} has to be a map of states, or a list of {len(states)} expressions")
            self.images[name] = entries
            self.values[name] = [_symbol(s, "value") for s in _listed(values) or []]

    def code(self, writer: _Writer) -> str:
        cases = []
        for k, (name, images) in enumerate(self.images.items()):
            body = writer.with_values(self.values[name]).body(
                [(e, f"the jump {name} of {s}") for s, e in zip(self.states, images)], "to", " " * 8
            )
            cases.append(f"    if (which == {k}) {{\n{body}\n    }}")
        return _JUMP.format(body="\n".join(cases))

    def lists(self, units: "_Named") -> str:
        rows, text = [], ""
        for k, (name, values) in enumerate(self.values.items()):
            quantities = ", ".join(f'{{{_quoted(str(v))}, {units.quoted(str(v))}, ""}}' for v in values)
            if values:
                text += f"static const gbees_quantity jump_components{k}[] = {{{quantities}}};\n"
            rows.append(f'{{{_quoted(name)}, "", {len(values)}, {f"jump_components{k}" if values else "NULL"}}}')
        return text + f"static const gbees_jump_function jumps[] = {{{', '.join(rows)}}};\n"


class _Measurements:
    """The measurement functions: names of functions to names and expressions of their components."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.functions: dict[str, dict[str, Any]] = {}
        for name, what in given.items():
            _word(name, "measurement")
            entries = _listed(what)
            if isinstance(what, Mapping):
                parts = {_word(str(k), "component"): e for k, e in what.items()}
            elif entries is not None:
                parts = {f"y{i + 1}": e for i, e in enumerate(entries)} if len(entries) > 1 else {name: entries[0]}
            else:
                parts = {name: what}
            if not parts:
                raise lib.ModelError(f"the measurement {name} measures nothing")
            self.functions[name] = parts

    def code(self, writer: _Writer) -> str:
        cases = []
        for k, (name, parts) in enumerate(self.functions.items()):
            body = writer.body([(e, f"the measurement {name}, {c}") for c, e in parts.items()], "y", " " * 8)
            cases.append(f"    if (which == {k}) {{\n{body}\n    }}")
        return _MEASURE.format(body="\n".join(cases))

    def lists(self, units: "_Named", periods: "_Named", writer: _Writer) -> str:
        rows, text = [], ""
        for k, (name, parts) in enumerate(self.functions.items()):
            quantities = ", ".join(f'{{{_quoted(c)}, {units.quoted(c)}, ""}}' for c in parts)
            text += f"static const gbees_quantity components{k}[] = {{{quantities}}};\n"
            numbers = [writer.number(periods.take(c, 0), f"the period of {c}") for c in parts]
            if min(numbers) < 0:
                raise lib.ModelError(f"a period of the measurement {name} is below 0")
            if any(numbers):
                text += f"static const double period{k}[] = {{{', '.join(map(repr, numbers))}}};\n"
            period = f"period{k}" if any(numbers) else "NULL"
            rows.append(f'{{{_quoted(name)}, "", {len(parts)}, components{k}, {period}}}')
        return text + f"static const gbees_measurement_function measurements[] = {{{', '.join(rows)}}};\n"


def _target_code(given: Mapping[str, Any], writer: _Writer) -> str:
    cases = []
    for k, (name, what) in enumerate(given.items()):
        body = writer.body([(what, f"the target {name}")], "g", " " * 8)
        cases.append(f"    if (which == {k}) {{\n        real g[1];\n\n{body}\n        return g[0];\n    }}")
    return _TARGET.format(body="\n".join(cases))


class _Named:
    """Values of states, parameters or components, by name or symbol."""

    def __init__(self, given: Mapping[Any, Any], what: str) -> None:
        self.given, self.what = {str(k): v for k, v in given.items()}, what
        self.used: set[str] = set()

    def take(self, name: str, initial: Any) -> Any:
        self.used.add(name)
        return self.given.get(name, initial)

    def quoted(self, name: str) -> str:
        return _quoted(str(self.take(name, "-")))

    def check(self) -> None:
        """All of them must have been asked for."""
        unknown = sorted(set(self.given) - self.used)
        if unknown:
            raise lib.ModelError(f"`{self.what}` names {', '.join(unknown)}, which the model does not have")


def _depends_on_time(writer: _Writer, expressions: list[Any], time: Any) -> bool:
    return time is not None and any(time in writer.sympy.sympify(e).free_symbols for e in expressions)


def _range_of(state: str, periods: "_Named", walls: "_Named", writer: _Writer) -> str:
    """The range of a state: a circle, walls, or a line."""
    period, ends = periods.take(state, 0), walls.take(state, {})
    parts, at = [], []
    if period:
        parts.append(f".period = {writer.number(period, f'the period of {state}')!r}")
    for key in ends:
        if key not in ("lower", "upper", "at_lower", "at_upper"):
            raise lib.ModelError(f"the walls of {state} have no {key!r}: they have lower, at_lower, upper, at_upper")
    for end in ("lower", "upper"):
        what = ends.get(f"at_{end}", "reflect") if end in ends else "open"
        if what not in ("reflect", "absorb", "open"):
            raise lib.ModelError(f"a wall of {state} is to 'reflect' or to 'absorb', not {what!r}")
        at.append(f"GBEES_END_{what.upper()}")
        if end in ends:
            parts.append(f".{end} = {writer.number(ends[end], f'the {end} wall of {state}')!r}")
    if ends:
        parts.append(f".at = {{{', '.join(at)}}}")
    return f"{{{', '.join(parts) or '0'}}}"


def source_of(
    name: str,
    drift: Mapping[Any, Any],
    parameters: Mapping[Any, float],
    diffusion: Any,
    measurements: Mapping[str, Any],
    time: Any,
    scenario: Mapping[str, Any],
    units: Mapping[Any, str],
    periods: Mapping[Any, Any],
    targets: Mapping[str, Any] | None = None,
    jumps: Mapping[str, Any] | None = None,
    walls: Mapping[Any, Mapping[str, Any]] | None = None,
) -> str:
    """The text of a plugin; the arguments are those of Model.from_sympy(), the drift a map."""
    states, values = list(drift), [_symbol(s, "parameter") for s in parameters]
    named, wraps = _Named(units, "units"), _Named(periods, "periods")
    writer = _Writer(states, values, time)
    state_list = ", ".join(f'{{{_quoted(str(s))}, {named.quoted(str(s))}, ""}}' for s in states)
    defines, others, lists, fields, last = "", "", "", "", ""
    kind, noise = _diffusion_of(diffusion, states)
    if noise:
        defines += f"#define GBEES_HAS_DIFFUSION {kind}\n"
        others += _DIFFUSION.format(body=writer.body([(e, "the diffusion") for e in noise], "q"))
    if values:
        rows = ", ".join(
            f'{{{_quoted(str(s))}, {named.quoted(str(s))}, "", {writer.number(v, f"the parameter {s}")!r}, 0, 0}}'
            for s, v in zip(values, parameters.values())
        )
        lists += f"static const gbees_parameter parameters[] = {{{rows}}};\n"
        fields += "    .parameter_count = GBEES_COUNT(parameters),\n    .parameters = parameters,\n"
    if measurements:
        functions = _Measurements(measurements)
        defines += "#define GBEES_HAS_MEASURE 1\n"
        others += functions.code(writer)
        lists += functions.lists(named, wraps, writer)
        fields += "    .measurement_count = GBEES_COUNT(measurements),\n    .measurements = measurements,\n"
    bounds = _Named(walls or {}, "walls")
    ranges = [_range_of(str(s), wraps, bounds, writer) for s in states]
    if any(r != "{0}" for r in ranges):
        lists += f"static const gbees_state_range ranges[] = {{{', '.join(ranges)}}};\n"
        fields = "    .ranges = ranges,\n" + fields
    if jumps:
        leaps = _Jumps(jumps, states)
        defines += "#define GBEES_HAS_JUMP 1\n"
        others += leaps.code(writer)
        lists += leaps.lists(named)
        fields += "    .jump_count = GBEES_COUNT(jumps),\n    .jumps = jumps,\n"
    if targets:
        defines += "#define GBEES_HAS_TARGET 1\n"
        others += _target_code(targets, writer)
        rows = ", ".join(f'{{{_quoted(_word(name, "target"))}, {named.quoted(name)}, ""}}' for name in targets)
        lists += f"static const gbees_quantity targets[] = {{{rows}}};\n"
        last = "    .target_count = GBEES_COUNT(targets),\n    .targets = targets,\n"
    named.check()
    wraps.check()
    bounds.check()
    moving = _depends_on_time(writer, [*drift.values(), *noise], time)
    return _HEAD.format(
        name=_word(name, "model"),
        quoted=_quoted(name),
        n=len(states),
        defines=defines,
        drift=writer.body([(e, f"the drift of {s}") for s, e in drift.items()], "dxdt"),
        others=others,
        states=state_list,
        lists=lists,
        scenario=_quoted("".join(f"{k}: {as_yaml(v)}\n" for k, v in scenario.items())),
        flags="GBEES_TIME_DEPENDENT" if moving else "0",
        fields=fields,
        last=last,
    )
