"""Measurements as people have them: tables, lists of maps, CSV files."""

from __future__ import annotations

import csv
import json
import math
import os
from typing import Any, Iterable, Mapping

from . import _library as lib
from ._model import MeasurementFunction, ModelInfo


_Numbered = list[tuple[int, dict[str, Any]]]


def _read_csv(path: str) -> tuple[_Numbered, str]:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            table = list(csv.reader(file, delimiter="\t" if path.endswith(".tsv") else ","))
    except OSError as error:
        raise lib.FileError(f"{path}: {error.strerror}") from None
    # Blank lines and comments do not count but as rows.
    numbered = [(number, cells) for number, cells in enumerate(table, 1)
                if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith("#")]  # fmt: skip
    if not numbered:
        raise lib.InputError(f"{path}: the file is empty: its first row names the columns")
    names = [name.strip() for name in numbered[0][1]]
    rows = []
    for number, cells in numbered[1:]:
        if len(cells) != len(names):
            raise lib.InputError(f"{path}, row {number}: {len(cells)} cells, where there are {len(names)} columns")
        rows.append((number, {name: cell.strip() for name, cell in zip(names, cells)}))
    return rows, path


def is_datasets(given: Any) -> bool:
    """Whether it is the path of an HDF5 or netCDF file, which the library reads itself."""
    if not isinstance(given, (str, os.PathLike)):
        return False
    try:
        with open(given, "rb") as file:
            begin = file.read(8)
    except OSError:
        return False
    return begin == b"\x89HDF\r\n\x1a\n" or (begin[:3] == b"CDF" and len(begin) == 8)


def _check_units(given: Any, info: ModelInfo, source: str) -> None:
    """Compares the attributes `units` of an xarray.Dataset with the units of the model."""
    for f in info.functions:
        for component, unit in zip(f.components, f.units):
            for name in (component, f"sigma_{component}"):
                found = given[name].attrs.get("units", "") if name in given else ""
                pure = unit in ("", "-")
                if unit is not None and found and found != unit and not (pure and found in ("-", "1")):
                    raise lib.InputError(
                        f"{source}, column {name}: expected the unit {'-' if pure else unit!r}, found {found!r}"
                    )


def _rows(given: Any) -> tuple[list[dict[str, Any]], str]:
    """Rows of a table in memory as maps, and the name of their source."""
    if hasattr(given, "to_dataframe"):  # xarray
        given = given.to_dataframe().reset_index()
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # pandas
        if "time" not in given.columns and given.index.name == "time":
            given = given.reset_index()
        return given.to_dict("records"), "the measurements"
    if isinstance(given, Mapping):
        lengths = {len(column) for column in given.values()}
        if len(lengths) > 1:
            raise lib.InputError("the measurements' columns have different lengths")
        return [dict(zip(given, row)) for row in zip(*given.values())], "the measurements"
    return [dict(row) for row in given], "the measurements"


def _number(value: Any, where: str) -> float | None:
    """A number; None: it was not measured."""
    if value is None or value == "" or (isinstance(value, str) and value.lower() in ("nan", "na")):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise lib.InputError(f"{where}: {value!r} is no number") from None
    if math.isinf(number):
        raise lib.InputError(f"{where}: {value!r} is not finite")
    return None if math.isnan(number) else number


def _function(row: Mapping[str, Any], info: ModelInfo, where: str) -> MeasurementFunction:
    if not info.functions:
        raise lib.InputError(f"the model {info.name} has no measurement function")
    name = row.get("function")
    if name is None or name == "":
        fits = [f for f in info.functions if any(c in row for c in f.components)]
        if len(fits) != 1:
            known = "; ".join(f"{f.name}: {', '.join(f.components)}" for f in info.functions)
            raise lib.InputError(
                f"{where}: {'no column is' if not fits else 'several functions have'} a measured component: the "
                f"measurement functions are {known}; a column `function` selects one"
            )
        return fits[0]
    for f in info.functions:
        if f.name == name:
            return f
    known = ", ".join(f.name for f in info.functions)
    raise lib.InputError(f"{where}, column function: there is no {name!r}: the measurement functions are {known}")


def _covariance(row: Mapping[str, Any], f: MeasurementFunction, values: list[Any], fixed: Any, where: str) -> Any:
    sigmas = [_number(row.get(f"sigma_{c}"), f"{where}, column sigma_{c}") for c in f.components]
    if any(f"sigma_{c}" in row for c in f.components):
        for c, s, v in zip(f.components, sigmas, values):
            if v is not None and (s is None or s <= 0):
                raise lib.InputError(f"{where}, column sigma_{c}: a standard deviation is a number above 0")
        return [(s or 1.0) ** 2 for s in sigmas]
    if fixed is None:
        raise lib.InputError(
            f"{where}: no covariance: add columns {', '.join('sigma_' + c for c in f.components)}, or give "
            "`covariance` for all rows"
        )
    return fixed


def _known_columns(row: Mapping[str, Any], info: ModelInfo, source: str) -> None:
    known = {"time", "function"}
    for f in info.functions:
        known.update(f.components)
        known.update(f"sigma_{c}" for c in f.components)
    wrong = [str(name) for name in row if name not in known]
    if wrong:
        raise lib.InputError(
            f"{source}: there is no use for the column {wrong[0]!r}: the columns are {', '.join(sorted(known))}"
        )


def _table_row(row: Mapping[str, Any], info: ModelInfo, fixed: Any, where: str) -> dict[str, Any] | None:
    time = _number(row.get("time"), f"{where}, column time")
    if time is None:
        raise lib.InputError(f"{where}: there is no time")
    f = _function(row, info, where)
    values = [_number(row.get(c), f"{where}, column {c}") for c in f.components]
    if all(v is None for v in values):
        return None
    return {
        "time": time,
        "function": f.name,
        "value": values,
        "covariance": _covariance(row, f, values, fixed, where),
    }


def plain(value: Any) -> Any:
    """NumPy's arrays and numbers as Python's own; NaN as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def convert(given: Any, info: ModelInfo, covariance: Any = None) -> list[dict[str, Any]]:
    """Measurements as entries of a scenario.

    Parameters
    ----------
    given
        A table (pandas.DataFrame, xarray.Dataset, map of columns), the path of a CSV or TSV file, or a list of maps as a
        scenario has them. Columns: ``time``, the components of the measurement function, ``sigma_`` and a component,
        ``function``. NaN or an empty cell: not measured.
    info
        The model's.
    covariance
        Of all rows, where there are no columns ``sigma_``.
    """
    if hasattr(given, "to_dataframe") and hasattr(given, "data_vars"):
        _check_units(given, info, "the measurements")
    if isinstance(given, (str, os.PathLike)):
        numbered, source = _read_csv(os.fspath(given))
    else:
        rows, source = _rows(given)
        numbered = list(enumerate(rows))
    made: list[dict[str, Any]] = []
    fixed = plain(covariance)
    if isinstance(fixed, (int, float)):
        fixed = [fixed]
    for number, row in numbered:
        where = f"{source}, row {number}"
        if "value" in row:
            entry = plain(row)
            entry.setdefault("covariance", fixed) if fixed is not None else None
            made.append(entry)
            continue
        _known_columns(row, info, source)
        entry = _table_row(row, info, fixed, where)
        if entry is None:
            continue
        if made and entry["time"] < made[-1]["time"]:
            raise lib.InputError(f"{where}: the time {entry['time']:g} is before that of the row above")
        made.append(entry)
    return made


def as_yaml(value: Any) -> str:
    """A value in JSON, which is YAML, too."""
    return json.dumps(plain(value))


def last_time(entries: Iterable[Mapping[str, Any]]) -> float | None:
    return max((float(e["time"]) for e in entries), default=None)
