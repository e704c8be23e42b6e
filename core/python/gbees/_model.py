"""Models: by name, from a file, from C, from SymPy."""

from __future__ import annotations

import ctypes as c
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _library as lib


@dataclass(frozen=True)
class MeasurementFunction:
    """A measurement function of a model: its name, those of its components, and their units (None: not known)."""

    name: str
    components: tuple[str, ...]
    units: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class ModelInfo:
    """What a model says of itself."""

    name: str
    title: str
    states: tuple[str, ...]
    functions: tuple[MeasurementFunction, ...]
    scenarios: tuple[str, ...]
    targets: tuple[str, ...] = ()
    jumps: tuple[str, ...] = ()


def read_info(model: Any) -> ModelInfo:
    """Copies the descriptor of a model that is loaded."""
    if model.abi != lib._MODEL_ABI or model.size != c.sizeof(lib.ModelStruct):
        raise lib.ModelError("this package and the C library are of different versions: install both from one source")
    functions = []
    for k in range(model.measurement_count):
        f = model.measurements[k]
        name = lib.text(f.name)
        given = [lib.text(f.components[i].name) for i in range(f.size)] if f.components else []
        alone = [name] if f.size == 1 else [f"y{i + 1}" for i in range(f.size)]  # as the library names them
        units = [lib.text(f.components[i].unit) if f.components else None for i in range(f.size)]
        functions.append(MeasurementFunction(name, tuple(given or alone), tuple(units)))
    return ModelInfo(
        lib.text(model.name),
        lib.text(model.title),
        tuple(lib.text(model.states[j].name) for j in range(model.dim_max)),
        tuple(functions),
        tuple(lib.text(model.scenarios[k].name) for k in range(model.scenario_count)),
        tuple(lib.text(model.targets[k].name) for k in range(model.target_count)),
        tuple(lib.text(model.jumps[k].name) for k in range(model.jump_count)),
    )


def describe(name: str) -> ModelInfo:
    """Loads a model and returns what it says of itself.

    Parameters
    ----------
    name
        The model's name, or the path of a plugin.
    """
    registry, model = c.c_void_p(), c.POINTER(lib.ModelStruct)()
    lib.check(lib.LIBRARY.gbees_registry_create, None, c.byref(registry))
    try:
        lib.check(lib.LIBRARY.gbees_registry_model, registry, os.fsencode(name), c.byref(model))
        return read_info(model.contents)
    finally:
        lib.LIBRARY.gbees_registry_destroy(registry)


def _headers() -> str:
    """The folder with gbees/model.h."""
    candidates = [
        os.environ.get("GBEES_INCLUDE_DIR", ""),
        os.path.join(lib.PACKAGE, "include"),
        os.path.normpath(os.path.join(lib.PACKAGE, "..", "..", "..", "include")),
        "/usr/local/include",
        "/usr/include",
    ]
    for folder in candidates:
        if folder and os.path.exists(os.path.join(folder, "gbees", "model.h")):
            return folder
    raise lib.ModelError("gbees/model.h was not found: install gbees with its headers, or set GBEES_INCLUDE_DIR")


def _cache() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "gbees", "models")


def _key(source: str, command: Sequence[str], headers: str) -> str:
    digest = hashlib.sha256("\0".join(command).encode() + b"\0" + source.encode())
    for name in sorted(os.listdir(os.path.join(headers, "gbees"))):
        with open(os.path.join(headers, "gbees", name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:32]


def _compile(source: str, name: str) -> str:
    """Compiles a model unless it is in the cache; returns the path of the plugin."""
    headers = _headers()
    compiler = os.environ.get("CC") or next((p for p in ("cc", "gcc", "clang") if shutil.which(p)), None)
    if compiler is None:
        raise lib.ModelError("there is no C compiler: install gcc or clang, or set CC")
    flags = "-shared -fPIC -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -DGBEES_VECTOR_MATH -Wall -I."
    command = [*compiler.split(), *flags.split(), f"-I{headers}", *os.environ.get("CFLAGS", "").split()]
    folder = os.path.join(_cache(), _key(source, command, headers))
    path = os.path.join(folder, f"{name}.so")
    if os.path.exists(path):
        return path
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise lib.FileError(f"{folder}: can't make the folder for compiled models: {error.strerror}") from None
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        with open(os.path.join(scratch, f"{name}.c"), "w", encoding="utf-8") as file:
            file.write(source)
        command += [f"{name}.c", "-o", f"{name}.so", "-Wl,-z,defs", "-lm"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise lib.ModelError(f"the model {name} was not compiled. {command[0]} says:\n{done.stderr.strip()}")
        os.replace(os.path.join(scratch, f"{name}.so"), path)
    return path


class Model:
    """A model of one's own, as C.

    It is compiled as `gbees-plugin build` does, and kept in ``~/.cache/gbees/models`` for the next time.

    Parameters
    ----------
    source
        The text of a plugin (the manual's page plugins.md), or the path of such a file, which ends in ``.c``.

    Attributes
    ----------
    source : str
        The text.
    path : str
        The shared object, which `gbees-run --plugin` takes, too.
    info : ModelInfo
        Names of states, measurement functions and scenarios.
    """

    def __init__(self, source: str) -> None:
        if source.endswith(".c") and "\n" not in source:
            try:
                with open(source, encoding="utf-8") as file:
                    source = file.read()
            except OSError as error:
                raise lib.FileError(f"{source}: {error.strerror}") from None
        found = re.search(r'\.name\s*=\s*"(\w+)"', source)
        if not found:
            raise lib.ModelError('the source has no model\'s name: GBEES_MODEL = {..., .name = "mine", ...}')
        self.source = source
        self.path = _compile(source, found.group(1))
        self.info = describe(self.path)

    def __repr__(self) -> str:
        return f"<gbees.Model {self.info.name}: {', '.join(self.info.states)}>"

    @classmethod
    def from_sympy(
        cls,
        name: str,
        drift: Any,
        *,
        states: Sequence[Any] | None = None,
        parameters: Mapping[Any, float] | None = None,
        diffusion: Any = None,
        measurements: Mapping[str, Any] | None = None,
        targets: Mapping[str, Any] | None = None,
        jumps: Mapping[str, Any] | None = None,
        time: Any = None,
        scenario: Mapping[str, Any],
        units: Mapping[Any, str] | None = None,
        periods: Mapping[Any, Any] | None = None,
        walls: Mapping[Any, Mapping[str, Any]] | None = None,
    ) -> "Model":
        """Makes a model of SymPy expressions, which become C: no Python runs for a cell. All symbols stand for real
        numbers, and constants are the nearest ones that C has.

        Parameters
        ----------
        name
            A word.
        drift
            dx/dt of each state: a map of symbols to expressions, in the order of the states; or a list or a matrix of one
            column, beside `states`.
        states
            The symbols of the states, if the drift is no map.
        parameters
            Symbols to values. Scenarios may set them.
        diffusion
            What noise adds to the covariance of the states in a unit of time: a map of states to variances, in which a
            state without noise may be left out, a list of variances, or a symmetric matrix.
        measurements
            Names of measurement functions to an expression, a list of them, whose components are y1, y2 and so on, or a
            map of names of components to expressions.
        targets
            Names of sets of states to expressions, which are below 0 inside: ``{"moon": x**2 + y**2 - r**2}``. A scenario
            says what is done with them: ``targets: {moon: count}``.
        jumps
            Names of jumps, which a scenario's `instants` call, to the states after them: a map of states, in which one
            that stays may be left out, or a list of expressions; or a tuple of this and the symbols of the numbers that
            an instant gives as `value`: ``{"burn": ({v: v + u}, [u])}``.
        time
            The symbol of time, if an expression has it.
        scenario
            The default scenario: ``mean``, ``covariance``, ``end`` and so on.
        units
            Of states, parameters and components of measurements, by symbol or name: texts.
        periods
            Of states, which are then on circles, and of components of measurements, by symbol or name:
            ``{"bearing": 2 * sympy.pi}``.
        walls
            Of states: ``{"x": {"lower": 0, "upper": 1, "at_upper": "absorb"}}``, as the scenario's `states` has them.
        """
        from ._sympy import drift_map, source_of

        return cls(
            source_of(
                name, drift_map(drift, states), parameters or {}, {} if diffusion is None else diffusion,
                measurements or {}, time, scenario, units or {}, periods or {}, targets, jumps,
                walls or {},
            )
        )  # fmt: skip
