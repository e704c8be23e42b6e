"""The C library: where it is, the structs that it shares with Python, and its errors."""

from __future__ import annotations

import ctypes as c
import glob
import os
import re
from typing import Any, Callable

MAX_DIM = 8
ENTRIES = MAX_DIM * MAX_DIM
THREADS_MOST = 4096
SAMPLES_MOST = 1000000000
_MODEL_ABI = 7


class Error(Exception):
    """An error of the library, with its text: what is wrong, where, and what to do."""


class InputError(Error, ValueError):
    """A malformed scenario, measurement or value, or a call that makes no sense."""


class ModelError(Error):
    """A model that can't be found, compiled or used."""


class BackendError(Error):
    """A backend that can't be found or used."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory."""


class FileError(Error, OSError):
    """A file or folder that can't be read or written."""


class NumericError(Error, ArithmeticError):
    """A drift that is not finite, or a density that vanished."""


class UnsupportedError(Error):
    """A measurement that no cell supports."""


class Cancelled(Error):
    """The run was stopped."""


class Warning(UserWarning):
    """What the library warns of: how a result may be wrong, by how much, and what to do."""


_ERRORS = {
    1: InputError,
    2: InputError,
    3: ModelError,
    4: BackendError,
    5: OutOfMemoryError,
    6: FileError,
    7: NumericError,
    8: UnsupportedError,
    9: Cancelled,
}


class CError(c.Structure):
    _fields_ = [("status", c.c_int), ("text", c.c_char * 1024)]


class Difference(c.Structure):
    _fields_ = [("value", c.c_double), ("bound", c.c_double)]


class CertificateStruct(c.Structure):
    _fields_ = [
        ("points", c.c_uint64),
        ("samples", c.c_size_t),
        ("instead", c.c_int),
        ("effective", c.c_double),
        ("mean", Difference * MAX_DIM),
        ("std", Difference * MAX_DIM),
        ("marginal", Difference * MAX_DIM),
        ("kolmogorov", Difference * MAX_DIM),
        ("density", Difference),
        ("estimate", c.c_double),
        ("variation", c.c_double),
        ("variation_least", c.c_double),
        ("uncompared", c.c_uint64),
        ("reason", c.c_char * 256),
    ]


class EvidenceStruct(c.Structure):
    _fields_ = [
        (name, c.c_double)
        for name in (
            "log_evidence",
            "log_likelihood_max",
            "total",
            "sampled",
            "sampled_error",
            "total_sampled",
            "total_error",
        )
    ] + [("by_points", c.c_int)]


class SampleList(c.Structure):
    _fields_ = [("count", c.c_size_t), ("x", c.POINTER(c.c_float) * MAX_DIM)]


class GridStruct(c.Structure):
    _fields_ = [
        ("origin", c.c_double * MAX_DIM),
        ("width", c.c_double * MAX_DIM),
        ("rotation", c.c_double * ENTRIES),
        ("count", c.c_size_t),
        ("cells", c.c_void_p),
    ]


class TargetStruct(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("kind", c.c_char_p),
        ("probability", c.c_double),
        ("bound", c.c_double),
        ("rate", c.c_double),
    ]


class RecordStruct(c.Structure):
    _fields_ = [
        ("leg", c.c_int),
        ("number", c.c_int),
        ("dimension", c.c_int),
        ("smoothed", c.c_int),
        ("time", c.c_double),
        ("wall_s", c.c_double),
        ("mass", c.c_double),
        ("entropy", c.c_double),
        ("mean", c.c_double * MAX_DIM),
        ("covariance", c.c_double * ENTRIES),
        ("direction", c.c_double * MAX_DIM),
        ("resultant", c.c_double * MAX_DIM),
        ("clipped", c.c_double),
        ("outflow", c.c_double),
        ("pruned", c.c_double),
        ("steps", c.c_uint64),
        ("cells", c.c_uint64),
        ("warnings", c.c_uint),
        ("certificate", c.POINTER(CertificateStruct)),
        ("samples", c.POINTER(SampleList)),
        ("grid", GridStruct),
        ("target_count", c.c_int),
        ("targets", TargetStruct * 8),
    ]


class OptionsStruct(c.Structure):
    _fields_ = [
        ("model", c.c_char_p),
        ("plugin_path", c.c_char_p),
        ("backend", c.c_char_p),
        ("otherwise", c.c_char_p),
        ("scenario", c.c_char_p),
        ("own", c.c_char_p),
        ("folder", c.c_char_p),
        ("threads", c.c_int),
        ("audit", c.c_int),
        ("samples", c.c_size_t),
        ("compare", c.c_char_p),
        ("stream", c.c_int),
    ]


class DensitiesStruct(c.Structure):
    _fields_ = [
        ("mean", c.POINTER(c.c_double)),
        ("covariance", c.POINTER(c.c_double)),
        ("first", c.POINTER(c.c_double)),
        ("width", c.POINTER(c.c_double)),
        ("p", c.POINTER(c.c_float)),
    ]


class RivalStruct(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("failure", c.c_char_p),
        ("samples", c.c_size_t),
        ("count", c.c_size_t),
        ("seconds", c.c_double),
        ("mean", c.c_double),
        ("std", c.c_double),
        ("kolmogorov", c.c_double),
        ("bc", c.c_double),
        ("ratio", c.c_double),
        ("log_evidence", c.c_double),
        ("log_evidence_error", c.c_double),
        ("records", c.POINTER(c.c_double)),
        ("densities", c.POINTER(DensitiesStruct)),
        ("total", c.c_size_t),
    ]


ON_RECORD = c.CFUNCTYPE(None, c.POINTER(RecordStruct))
ON_UPDATE = c.CFUNCTYPE(None, c.c_int, c.c_double, c.POINTER(EvidenceStruct))
ON_PROGRESS = c.CFUNCTYPE(None, c.c_double, c.c_double)


class ObserverStruct(c.Structure):
    _fields_ = [("record", ON_RECORD), ("update", ON_UPDATE), ("progress", ON_PROGRESS)]


class Quantity(c.Structure):
    _fields_ = [("name", c.c_char_p), ("unit", c.c_char_p), ("text", c.c_char_p)]


class FunctionStruct(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("text", c.c_char_p),
        ("size", c.c_int),
        ("components", c.POINTER(Quantity)),
        ("period", c.POINTER(c.c_double)),
    ]


class ScenarioStruct(c.Structure):
    _fields_ = [("name", c.c_char_p), ("text", c.c_char_p)]


class JumpStruct(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("text", c.c_char_p),
        ("size", c.c_int),
        ("components", c.POINTER(Quantity)),
    ]


class ModelStruct(c.Structure):
    _fields_ = [
        ("abi", c.c_uint),
        ("size", c.c_uint),
        ("dim_min", c.c_int),
        ("dim_max", c.c_int),
        ("functions", c.c_void_p),
        ("function_count", c.c_int),
        ("source", c.c_char_p),
        ("source_end", c.c_char_p),
        ("source_file", c.c_char_p),
        ("diffusion", c.c_int),
        ("name", c.c_char_p),
        ("title", c.c_char_p),
        ("text", c.c_char_p),
        ("reference", c.c_char_p),
        ("flags", c.c_uint),
        ("dim_default", c.c_int),
        ("states", c.POINTER(Quantity)),
        ("ranges", c.c_void_p),
        ("parameter_count", c.c_int),
        ("parameters", c.c_void_p),
        ("measurement_count", c.c_int),
        ("measurements", c.POINTER(FunctionStruct)),
        ("jump_count", c.c_int),
        ("jumps", c.POINTER(JumpStruct)),
        ("bound", c.c_void_p),
        ("scenario_count", c.c_int),
        ("scenarios", c.POINTER(ScenarioStruct)),
        ("target_count", c.c_int),
        ("targets", c.POINTER(Quantity)),
    ]


class SpreadEdges(c.Structure):
    _fields_ = [("count", c.c_int), ("along", c.c_double * (3 * MAX_DIM))]


class SpreadShape(c.Structure):
    _fields_ = [
        ("dimension", c.c_int),
        ("edges", SpreadEdges),
        ("least", c.c_double * 3),
        ("most", c.c_double * 3),
        ("entries", c.c_int),
        ("limit", c.c_size_t),
    ]


class SpreadStruct(c.Structure):
    _fields_ = [
        ("dimension", c.c_int),
        ("length", c.c_size_t * 3),
        ("origin", c.c_double * 3),
        ("width", c.c_double * 3),
        ("p", c.POINTER(c.c_double)),
        ("work", c.c_void_p),
    ]


PACKAGE = os.path.dirname(os.path.abspath(__file__))


def _module_path() -> str:
    """session.so: named by GBEES_PYTHON_MODULE, of this package, or of an installed gbees."""
    named = os.environ.get("GBEES_PYTHON_MODULE")
    if named:
        return named
    own = os.path.join(PACKAGE, "lib", "gbees", "session.so")
    folders = ["/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/*"]
    for pattern in [own] + [os.path.join(folder, "gbees", "session.so") for folder in folders]:
        for path in sorted(glob.glob(pattern)):
            return path
    raise ImportError(
        "gbees: the C library is neither in this package nor in /usr/local/lib or /usr/lib: install gbees "
        "(make install), or set GBEES_PYTHON_MODULE to the path of session.so"
    )


ROWS = c.POINTER(c.c_double)
_POINTS = (c.c_size_t, c.c_double, ROWS, c.POINTER(ROWS), ROWS)
_VECTOR = c.CFUNCTYPE(None, *_POINTS, c.POINTER(ROWS))
_MEASURE = c.CFUNCTYPE(None, c.c_int, *_POINTS, c.POINTER(ROWS))


class FunctionsStruct(c.Structure):
    """gbees_functions of gbees/model.h."""

    _fields_ = [
        ("n", c.c_int),
        ("components_and_planes", c.c_void_p * 32),
        ("drift_f", c.c_void_p),
        ("drift_d", _VECTOR),
        ("measure_d", _MEASURE),
        ("bound_d", c.c_void_p),
        ("log_likelihood_d", c.c_void_p),
        ("diffusion_d", _VECTOR),
        ("jump_d", c.c_void_p),
        ("framed", c.c_void_p),
        ("target_d", c.c_void_p),
        ("drift_times_d", c.c_void_p),
    ]


def _check_layout(library: c.CDLL) -> None:
    sizes = (c.c_size_t * 4)()
    library.gbees_session_sizes(sizes)
    own = [c.sizeof(s) for s in (RecordStruct, CertificateStruct, EvidenceStruct, FunctionsStruct)]
    if list(sizes) != own:
        raise ImportError(
            f"gbees: this package and the C library are of different versions (structs of {own} and {list(sizes)} "
            "bytes): install both from one source"
        )


def _load() -> c.CDLL:
    path = _module_path()
    # libgbees of a package is beside the folder of its modules, and has to be there before what is linked to it.
    beside = os.path.join(os.path.dirname(os.path.dirname(path)), "libgbees.so.0")
    if path.startswith(PACKAGE) and os.path.exists(beside):
        c.CDLL(beside)
    library = c.CDLL(path)
    _check_layout(library)
    return library


# How long threads of OpenMP spin at a barrier: as gbees-run has it. It counts before the backend is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")

LIBRARY = _load()


def _declare(name: str, result: Any, *arguments: Any) -> None:
    function = getattr(LIBRARY, name)
    function.restype = result
    function.argtypes = arguments


_error = c.POINTER(CError)
_handle = c.POINTER(c.c_void_p)
_functions: tuple[tuple[Any, ...], ...] = (
    ("gbees_version", c.c_char_p),
    ("gbees_registry_create", c.c_int, c.c_char_p, _handle, _error),
    ("gbees_registry_destroy", None, c.c_void_p),
    ("gbees_registry_model", c.c_int, c.c_void_p, c.c_char_p, c.POINTER(c.POINTER(ModelStruct)), _error),
    ("gbees_scenario_create", c.c_int, c.c_char_p, c.c_char_p, _handle, _error),
    ("gbees_scenario_destroy", None, c.c_void_p),
    ("gbees_scenario_set", c.c_int, c.c_void_p, c.c_char_p, _error),
    ("gbees_scenario_text", c.c_char_p, c.c_void_p),
    ("gbees_certificate_text", None, c.POINTER(CertificateStruct), c.c_int, c.c_int, c.c_char_p, c.c_size_t),
    ("gbees_session_create", c.c_int, c.POINTER(OptionsStruct), _handle, _error),
    ("gbees_session_destroy", None, c.c_void_p),
    ("gbees_session_backend", c.c_char_p, c.c_void_p),
    ("gbees_session_dimension", c.c_int, c.c_void_p),
    ("gbees_session_state", c.c_char_p, c.c_void_p, c.c_int, c.c_int),
    ("gbees_session_accuracy", c.c_double, c.c_void_p),
    ("gbees_session_scenario", c.c_char_p, c.c_void_p),
    ("gbees_session_open", c.c_int, c.c_void_p, c.c_char_p, _error),
    ("gbees_session_run", c.c_int, c.c_void_p, c.POINTER(ObserverStruct), _error),
    ("gbees_session_close", None, c.c_void_p),
    ("gbees_session_predict", c.c_int, c.c_void_p, c.c_double, c.c_int, c.POINTER(ObserverStruct), _error),
    ("gbees_session_update", c.c_int, c.c_void_p, c.c_char_p, c.POINTER(ObserverStruct), _error),
    ("gbees_session_smooth", c.c_int, c.c_void_p, c.POINTER(ObserverStruct), _error),
    ("gbees_session_save", c.c_int, c.c_void_p, c.c_char_p, _error),
    ("gbees_session_resume", c.c_int, c.c_void_p, c.c_char_p, _error),
    ("gbees_session_conclude", c.c_int, c.c_void_p, _error),
    ("gbees_session_retry", c.c_int, c.c_void_p),
    ("gbees_session_cancel", None, c.c_void_p),
    (
        "gbees_session_plan",
        c.c_int,
        c.c_void_p,
        c.POINTER(c.c_int),
        c.POINTER(c.c_int),
        c.POINTER(c.c_double),
    ),
    ("gbees_session_warning", c.c_int, c.c_void_p, c.c_uint, c.c_char_p, c.c_size_t),
    ("gbees_session_compare", c.c_int, c.c_void_p, _error),
    ("gbees_session_rival_of", c.c_int, c.c_void_p, c.c_int, c.POINTER(RivalStruct)),
    ("gbees_session_answer", None, c.c_void_p, c.c_char_p, c.c_size_t),
    ("gbees_session_cells", None, c.POINTER(GridStruct), c.c_int, c.c_void_p, c.c_void_p),
    ("gbees_spread_create", c.c_int, c.POINTER(SpreadShape), c.POINTER(c.POINTER(SpreadStruct)), _error),
    ("gbees_spread_add", None, c.POINTER(SpreadStruct), c.c_size_t, c.c_void_p, c.c_void_p),
    ("gbees_spread_finish", None, c.POINTER(SpreadStruct), c.POINTER(SpreadEdges)),
    ("gbees_spread_destroy", None, c.POINTER(SpreadStruct)),
)
for _name, _result, *_arguments in _functions:
    _declare(_name, _result, *_arguments)


# The options of the commands that the library's texts name, as Python has them.
_SPOKEN = [
    (r"^--set measurement 1: ", "the measurement: "),
    (r"^--set ([\w.]+)", r'set={"\1": ...}'),
    (r" or by --set (\w+)=\.\.\.", r' or by set={"\1": ...}'),
    (r"--set\b", "set="),
    (r"--backend (\w+)", r'backend="\1"'),
    (r"--measurements\b", "measurements="),
    (r"gbees-run --output\b", "output="),
    (r"; gbees-run --list shows all\)", ")"),
    (r" \(gbees-run --list shows all\)", ""),
    (r" \(--max-(time|memory)\)", ""),
    (r", or give --trust", ""),
    (r"; --trust loads it all the same", ""),
    (r"leave out --backend\b", "leave out backend="),
    (r"samples \(--audit\)", "samples (samples=)"),
    (r"--(audit|compare)\b", r"\1="),
]


def spoken(text: str) -> str:
    """A text of the library in Python's words."""
    for pattern, words in _SPOKEN:
        text = re.sub(pattern, words, text)
    return text


def check(call: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last argument is a gbees_error, and raises what it returns."""
    error = CError()
    status = call(*arguments, c.byref(error))
    if status:
        raise _ERRORS.get(status, Error)(spoken(error.text.decode("utf-8", "replace")))


def text(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


def encoded(value: str | None) -> bytes | None:
    return None if value is None else os.fsencode(value)


def version() -> str:
    """The version of the C library."""
    return text(LIBRARY.gbees_version())


def require(name: str, purpose: str, package: str | None = None) -> Any:
    """Imports an optional package, or says what needs it; `package` is its name for pip, if that is another one."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        known, package = package, package or name.split(".")[0]
        missing = error.name or name
        if not name.startswith(missing.split(".")[0]) or not isinstance(error, ModuleNotFoundError):
            raise ImportError(f"{purpose} needs {package}, which can't be imported: {error}") from error
        raise ImportError(
            f"{purpose} needs {package}, which is not installed: pip install {package}"
            + ("" if known else f" (Debian: apt-get install python3-{package})")
        ) from None
