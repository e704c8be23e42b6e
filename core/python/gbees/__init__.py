"""gbees: probability densities through nonlinear dynamics, on a sparse grid::

    import gbees
    run = gbees.run("lorenz63", threads=2, set={"accuracy": 0.05})
    run.moments          # an xarray.Dataset
    run.records[-1].p    # NumPy

The manual's page python.md has the rest.
"""

from ._compare import Comparison, Rival
from ._filter import Filter
from ._library import (
    BackendError,
    Cancelled,
    Error,
    FileError,
    InputError,
    ModelError,
    NumericError,
    OutOfMemoryError,
    UnsupportedError,
    Warning,
    version,
)
from ._model import Model, ModelInfo, describe
from ._record import Certificate, Grid, Record
from ._results import open
from ._run import Interrupted, Run, run
from ._solver import Solver, Update

__version__ = version()
__all__ = [
    "BackendError",
    "Cancelled",
    "Certificate",
    "Comparison",
    "Error",
    "FileError",
    "Filter",
    "Grid",
    "InputError",
    "Interrupted",
    "Model",
    "ModelError",
    "ModelInfo",
    "NumericError",
    "OutOfMemoryError",
    "Record",
    "Rival",
    "Run",
    "Solver",
    "UnsupportedError",
    "Update",
    "Warning",
    "describe",
    "open",
    "run",
    "version",
]
