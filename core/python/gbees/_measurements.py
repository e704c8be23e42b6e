"""Measurements as people have them: files and tables, which the library reads, and lists of maps."""

from __future__ import annotations

import contextlib
import csv
import datetime
import json
import math
import os
import re
import tempfile
from typing import Any, Iterable, Iterator, Mapping

import numpy as np

from . import _library as lib


def plain(value: Any) -> Any:
    """NumPy's arrays and numbers as Python's own; NaN as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _dated(value: Any) -> Any:
    """A date as ISO 8601; other values as they are."""
    if isinstance(value, np.datetime64):
        return np.datetime_as_string(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


def _is_time(name: Any) -> bool:
    return str(name).lower() in ("time", "t")


def _rows(given: Any) -> list[dict[str, Any]]:
    """Rows of a table as maps."""
    if hasattr(given, "to_dataframe"):  # xarray
        given = given.to_dataframe().reset_index()
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # pandas
        if not any(map(_is_time, given.columns)) and (_is_time(given.index.name) or given.index.dtype.kind == "M"):
            given = given.rename_axis(index="time").reset_index()
        found: list[dict[str, Any]] = given.astype(object).where(given.notna(), None).to_dict("records")
        return found
    if isinstance(given, Mapping):
        lengths = {len(column) for column in given.values()}
        if len(lengths) > 1:
            raise lib.InputError("the measurements' columns have different lengths")
        return [dict(zip(given, row)) for row in zip(*given.values())]
    return [dict(row) for row in given]


def _write(path: str, rows: list[dict[str, Any]], units: Mapping[str, str]) -> None:
    """Writes rows as the table that the library reads; a cell that is None is empty."""
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"{name} [{units[name]}]" if units.get(name) else name for name in names])
        writer.writerows([plain(_dated(row.get(name))) for name in names] for row in rows)


def _units(given: Any) -> dict[str, str]:
    """The attributes `units` of an xarray.Dataset."""
    if not hasattr(given, "data_vars"):
        return {}
    return {str(name): str(v.attrs["units"]) for name, v in given.variables.items() if "units" in v.attrs}


@contextlib.contextmanager
def _in_memory(path: str) -> Iterator[None]:
    """Makes errors name the rows of a table in memory, from 0, in place of the lines of the file that it is written to.
    """

    def where(match: re.Match[str]) -> str:
        row = int(match[1] or 1) - 2
        return "the measurements" + (f", row {row}" if row >= 0 else "")

    try:
        yield
    except lib.Error as error:
        raise type(error)(re.sub(rf"{re.escape(path)}(?::(\d+))?", where, str(error))) from None


@contextlib.contextmanager
def entries(given: Any, covariance: Any = None, epoch: Any = None, time_unit: float | None = None) -> Iterator[Any]:
    """The value of a scenario's key `measurements`: a list of maps, or a map that names a table. A table in memory is
    written to a file, which exists until the `with` ends.

    Parameters
    ----------
    given
        The path of a file, a table (pandas.DataFrame, xarray.Dataset, map of columns, list of rows), or a list of maps
        as a scenario has them.
    covariance
        Of all rows; in a list of maps of those that have none.
    epoch, time_unit
        Of a table with dates.
    """
    fixed = plain(covariance)
    if fixed is not None and not isinstance(fixed, list):
        fixed = [fixed]
    common: dict[str, Any] = {} if fixed is None else {"covariance": fixed}
    dates = {"epoch": None if epoch is None else str(_dated(epoch)), "time_unit": time_unit}
    table = {**common, **{key: value for key, value in dates.items() if value is not None}}
    if isinstance(given, (str, os.PathLike)):
        yield {"file": os.path.abspath(os.fsdecode(given)), **table}
        return
    rows = _rows(given)
    if not rows or any("value" in row for row in rows):
        yield [{**common, **plain(row)} for row in rows]
        return
    with tempfile.TemporaryDirectory(prefix="gbees-") as folder:
        path = os.path.join(folder, "measurements.csv")
        _write(path, rows, _units(given))
        with _in_memory(path):
            yield {"file": path, **table}


def as_yaml(value: Any) -> str:
    """A value in JSON, which is YAML, too."""
    return json.dumps(plain(value))


def last_time(entries: Iterable[Mapping[str, Any]]) -> float | None:
    return max((float(e["time"]) for e in entries), default=None)
