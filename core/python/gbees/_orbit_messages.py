"""Orbits and observations from CCSDS messages, which the package ccsds-ndm reads, and from two-line elements."""

from __future__ import annotations

import math
import os
import re
import warnings
from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

from . import _library as lib
from ._orbit_frames import Orbit, check_units, epoch_of, inertial_covariance, known, looks_local
from ._record import Array

_STATE = ("x", "y", "z", "x_dot", "y_dot", "z_dot")
_CDM = ("r", "t", "n", "rdot", "tdot", "ndot")
# SGP4's B* over the coefficient times area over mass, kg/m^2: half a density times the Earth's radius.
_BSTAR = 0.0784806


@dataclass(frozen=True)
class Track:
    """Observations of one station.

    `rows` are pairs of an epoch and a map: `range` in km, `azimuth` and `elevation`, or `right_ascension` and
    `declination`, in rad; `frame` is that of the latter.
    """

    source: str
    station: str
    frame: str
    rows: list[tuple[Any, dict[str, float]]]


def _place(text: str, said: str) -> str:
    """Where what the reader has quoted is in a text: it does not tell fields or lines."""
    quoted = re.search(r"'([^']+)'", said)
    lines = [k for k, line in enumerate(text.splitlines(), 1) if quoted and re.search(
        rf"(\[|= *|> *){re.escape(quoted[1])}(\]|\b)", line)]  # fmt: skip
    return f":{lines[0]}: {text.splitlines()[lines[0] - 1].strip()!r}" if lines else ""


def load(path: str) -> tuple[Any, str]:
    """A message as the reader's tree of objects, and its kind: OPM, OMM, OEM, CDM or TDM."""
    reader = lib.require("ccsds_ndm.ndm_io", "gbees.orbit", "ccsds-ndm").NdmIo()
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise lib.FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            message = reader.from_string(text)
    except Exception as error:  # the reader's own kinds are many
        said_so = " ".join(str(error).split())
        raise lib.FileError(f"{path}{_place(text, said_so)}: no CCSDS message that can be read: {said_so}") from None
    for one in said:
        warnings.warn(f"{path}: {' '.join(str(one.message).split())}", lib.Warning, stacklevel=4)
    kind = str(getattr(message, "id", "")).replace("CCSDS_", "").replace("_VERS", "")
    return message, kind


def number(value: Any, where: str, units: tuple[str, ...] = ()) -> float:
    """A field's value; its unit, where the file names one, has to be of `units`."""
    unit = getattr(value, "units", None)
    unit = getattr(unit, "value", unit)
    if units and unit is not None and unit not in units:
        raise lib.InputError(f"{where} is in {unit}: it has to be in {units[0]}")
    found = getattr(value, "value", value)
    if found is None:
        raise lib.InputError(f"{where} is missing")
    if not math.isfinite(float(found)):
        raise lib.InputError(f"{where} is {found}")
    return float(found)


def word(value: Any) -> str:
    return str(getattr(value, "value", value) or "")


def _about_earth(metadata: Any, path: str) -> None:
    centre = word(getattr(metadata, "center_name", None) or "EARTH").upper()
    if "EARTH" not in centre:
        raise lib.InputError(f"{path}: CENTER_NAME is {centre}: the model is of orbits about the Earth")


def _triangle(given: Any, names: tuple[str, ...], where: str, scale: float) -> Array:
    """The lower triangle of a covariance as a matrix."""
    made = np.zeros((6, 6))
    for i, row in enumerate(names):
        for j, column in enumerate(names[: i + 1]):
            field = f"c{row}_{column}"
            made[i, j] = made[j, i] = scale * number(getattr(given, field), f"{where}: {field.upper()}")
    return made


def _state(vector: Any, path: str) -> Array:
    units = ("km",) * 3 + ("km/s",) * 3
    return np.array([number(getattr(vector, f), f"{path}: {f.upper()}", (u,)) for f, u in zip(_STATE, units)])


def _coefficients(parameters: Any, path: str) -> tuple[float | None, float | None]:
    """Of drag and of solar pressure, each times area over mass."""
    found: list[float | None] = []
    for kind in ("drag", "solar_rad"):
        values = [getattr(parameters, name, None) for name in (f"{kind}_coeff", f"{kind}_area", "mass")]
        if any(v is None for v in values):
            found.append(None)
            continue
        c, area, mass = (number(v, f"{path}: {kind.upper()}") for v in values)
        found.append(c * area / mass if mass > 0 else None)
    return found[0], found[1]


def _covariance(given: Any, state: Array, frame: str, path: str, said: str | None) -> Array | None:
    """An OPM's, OMM's or OEM's covariance in the axes of the state."""
    if given is None:
        return None
    matrix = _triangle(given, _STATE, path, 1.0)
    named = word(given.cov_ref_frame).upper()
    if said is None and not named and looks_local(matrix):
        raise lib.InputError(
            f"{path}: COV_REF_FRAME is missing, which means {frame}, but the covariance looks like one in RTN: give "
            'covariance_frame="RTN" or "inertial"'
        )
    local = said or (named if named in ("RTN", "RSW", "TNW", "RIC") else "inertial")
    if said is None and named and local == "inertial" and known(named, f"{path}: COV_REF_FRAME") != frame:
        raise lib.InputError(f"{path}: COV_REF_FRAME is {named}, and the state's frame {frame}: they have to be the same")
    return inertial_covariance(matrix, local, state, path)


def _opm(message: Any, path: str, said: str | None) -> Orbit:
    segment = message.body.segment
    meta, data = segment.metadata, segment.data
    _about_earth(meta, path)
    frame = known(word(meta.ref_frame), f"{path}: REF_FRAME")
    state = _state(data.state_vector, path)
    drag, light = _coefficients(data.spacecraft_parameters, path)
    if getattr(data, "maneuver_parameters", None):
        warnings.warn(f"{path}: its manoeuvres are not made", lib.Warning, stacklevel=4)
    return Orbit(
        path, meta.object_name, meta.object_id,
        epoch_of(word(data.state_vector.epoch), word(meta.time_system), f"{path}: EPOCH"), frame, state,
        _covariance(data.covariance_matrix, state, frame, path, said), drag, light,
    )  # fmt: skip


def _oem(message: Any, path: str, said: str | None) -> Orbit:
    """The last state that has a covariance, or the last one."""
    segment = message.body.segment[-1]
    meta, data = segment.metadata, segment.data
    _about_earth(meta, path)
    frame, scale = known(word(meta.ref_frame), f"{path}: REF_FRAME"), word(meta.time_system)
    epochs = [epoch_of(word(v.epoch), scale, f"{path}: the ephemeris") for v in data.state_vector]
    for given in reversed(data.covariance_matrix or []):
        at = epoch_of(word(given.epoch), scale, f"{path}: the covariance")
        for epoch, vector in zip(epochs, data.state_vector):
            if abs((epoch - at).sec) < 1e-3:
                state = _state(vector, path)
                return Orbit(path, meta.object_name, meta.object_id, epoch, frame, state,
                             _covariance(given, state, frame, path, said))  # fmt: skip
    if data.covariance_matrix:
        raise lib.InputError(f"{path}: no covariance is of the epoch of a state: gbees.orbit does not interpolate")
    return Orbit(path, meta.object_name, meta.object_id, epochs[-1], frame, _state(data.state_vector[-1], path), None)


def _omm(message: Any, path: str, said: str | None) -> Orbit:
    meta, data = message.body.segment.metadata, message.body.segment.data
    theory = word(meta.mean_element_theory).upper()
    if not theory.startswith("SGP"):
        raise lib.InputError(f"{path}: MEAN_ELEMENT_THEORY is {theory}: only SGP4's mean elements are known")
    if data.tle_parameters is None:
        raise lib.InputError(f"{path}: NORAD_CAT_ID, BSTAR and what else SGP4 needs of a TLE are missing")
    fields: dict[str, Any] = {"OBJECT_ID": meta.object_id, "OBJECT_NAME": meta.object_name}
    for part in (data.mean_elements, data.tle_parameters):
        for name in ("epoch", "mean_motion", "eccentricity", "inclination", "ra_of_asc_node", "arg_of_pericenter",
                     "mean_anomaly", "ephemeris_type", "classification_type", "norad_cat_id", "element_set_no",
                     "rev_at_epoch", "bstar", "mean_motion_dot", "mean_motion_ddot"):  # fmt: skip
            if hasattr(part, name):
                fields[name.upper()] = word(getattr(part, name)) or "0"
    fields["EPOCH"] = epoch_of(word(data.mean_elements.epoch), word(meta.time_system), f"{path}: EPOCH").isot
    lib.require("sgp4", "gbees.orbit")
    satellite = lib.require("sgp4.api", "gbees.orbit").Satrec()
    lib.require("sgp4.omm", "gbees.orbit").initialize(satellite, fields)
    orbit = _of_satellite(satellite, path, meta.object_name, meta.object_id)
    covariance = _covariance(data.covariance_matrix, orbit.state, "TEME", path, said)
    return Orbit(**{**orbit.__dict__, "covariance": covariance})


def _of_satellite(satellite: Any, path: str, name: str, id: str) -> Orbit:
    """SGP4's state at the epoch of its elements."""
    error, r, v = satellite.sgp4(satellite.jdsatepoch, satellite.jdsatepochF)
    if error:
        raise lib.InputError(f"{path}: SGP4 refuses these elements: error {error}")
    time = lib.require("astropy.time", "gbees.orbit")
    epoch = time.Time(satellite.jdsatepoch, satellite.jdsatepochF, format="jd", scale="utc")
    epoch.format = "isot"
    return Orbit(path, name, id, epoch, "TEME", np.array([*r, *v]), None,
                 satellite.bstar / _BSTAR if satellite.bstar > 0 else None)  # fmt: skip


def tle(lines: str) -> Orbit:
    """The state of a two-line element set, with a line of its name or without, at its epoch, by SGP4."""
    rows = [line.rstrip() for line in lines.strip().splitlines() if line.strip()]
    if len(rows) not in (2, 3) or not rows[-2].startswith("1 ") or not rows[-1].startswith("2 "):
        raise lib.InputError("a TLE has two lines that begin with 1 and 2, and a name before them or none")
    try:
        satellite = lib.require("sgp4.api", "gbees.orbit").Satrec.twoline2rv(rows[-2], rows[-1])
    except ValueError as error:
        raise lib.InputError(f"the TLE can't be read: {' '.join(str(error).split())}") from None
    return _of_satellite(satellite, "the TLE", rows[0] if len(rows) == 3 else "UNKNOWN", rows[-1].split()[1])


def _cdm(message: Any, path: str) -> tuple[Orbit, Orbit]:
    about = message.body.relative_metadata_data
    epoch, pair = epoch_of(word(about.tca), "UTC", f"{path}: TCA"), []
    for number_, segment in enumerate(message.body.segment, 1):
        where = f"{path}, object {number_}"
        if word(segment.metadata.orbit_center or "EARTH").upper() != "EARTH":
            raise lib.InputError(f"{where}: ORBIT_CENTER is {segment.metadata.orbit_center}: it has to be EARTH")
        state = _state(segment.data.state_vector, where)
        if segment.data.covariance_matrix is None:
            raise lib.InputError(f"{where}: there is no covariance")
        frame = known(word(segment.metadata.ref_frame), f"{where}: REF_FRAME")
        orbit = Orbit(where, segment.metadata.object_name, segment.metadata.international_designator, epoch, frame,
                      state, None)  # fmt: skip
        matrix = _triangle(segment.data.covariance_matrix, _CDM, where, 1e-6)
        pair.append(check_units(orbit.with_covariance(matrix, "RTN")).to("TEME"))
    miss = number(about.miss_distance, f"{path}: MISS_DISTANCE", ("m",))
    apart = float(np.linalg.norm(pair[1].state[:3] - pair[0].state[:3])) * 1000
    # States have digits of a metre or less.
    if abs(apart - miss) > 10 + 0.2 * miss:
        raise lib.InputError(
            f"{path}: the objects are {apart:.5g} m from each other, and MISS_DISTANCE is {miss:.5g} m: one is in "
            "another unit, or the states are not of the TCA"
        )
    return pair[0], pair[1]


def cdm(path: str) -> tuple[Orbit, Orbit]:
    """Both objects of a CDM at the time of closest approach, in TEME."""
    message, kind = load(path)
    if kind != "CDM":
        raise lib.InputError(f"{path} is an {kind or 'unknown message'}: a CDM is needed")
    return _cdm(message, path)


def orbit(source: Any, covariance_frame: str | None) -> Orbit:
    """An Orbit, a TLE's lines, or the object of an OPM, OMM or OEM, in km and km/s."""
    if isinstance(source, Orbit):
        return source
    text = os.fspath(source)
    if "\n" in text.strip() or text.startswith("1 "):
        return tle(text)
    if text.lower().endswith((".tle", ".3le")):
        with open(text, encoding="utf-8") as file:
            return tle(file.read())
    message, kind = load(text)
    readers = {"OPM": _opm, "OEM": _oem, "OMM": _omm}
    if kind not in readers:
        raise lib.InputError(f"{text} is a {kind or 'message of an unknown kind'}: an OPM, OMM, OEM or TLE is needed")
    return check_units(readers[kind](message, text, covariance_frame))


def _observed(row: Any, angles: tuple[str, str], where: str) -> Iterator[tuple[str, float]]:
    """The components of one line of a TDM."""
    if row.range is not None:
        yield "range", number(row.range, f"{where}: RANGE")
    for field, name in (("angle_1", angles[0]), ("angle_2", angles[1])):
        if getattr(row, field) is not None:
            degrees = number(getattr(row, field), f"{where}: {field.upper()}", ("deg",))
            if abs(degrees) > (360 if field == "angle_1" else 90):
                raise lib.InputError(f"{where}: {field.upper()} is {degrees:g}: it has to be in degrees")
            yield name, math.radians(degrees)


def tdm(path: str, one_way: bool) -> list[Track]:
    """The observations of a TDM, a track for each segment."""
    message, kind = load(path)
    if kind != "TDM":
        raise lib.InputError(f"{path} is an {kind or 'unknown message'}: a TDM is needed")
    tracks = []
    for segment in message.body.segment:
        meta = segment.metadata
        type_ = word(meta.angle_type)
        angles = {"AZEL": ("azimuth", "elevation"), "RADEC": ("right_ascension", "declination"), "": ("", "")}.get(type_)
        if angles is None:
            raise lib.InputError(f"{path}: ANGLE_TYPE is {type_}: AZEL and RADEC are known")
        rows: dict[str, tuple[Any, dict[str, float]]] = {}
        for row in segment.data.observation:
            where = f"{path}, {word(row.epoch)}"
            found = dict(_observed(row, angles, where))
            if found and row.range is not None and word(meta.range_units or "km") != "km":
                raise lib.InputError(f"{path}: RANGE_UNITS is {word(meta.range_units)}: only km are known")
            if row.range is not None and word(meta.path).count(",") > 1 and not one_way:
                raise lib.InputError(
                    f"{path}: PATH is {word(meta.path)}, and messages differ in whether RANGE is there and back: "
                    "halve it if it is, and say one_way=True"
                )
            if found:
                epoch = epoch_of(word(row.epoch), word(meta.time_system), where)
                rows.setdefault(word(row.epoch), (epoch, {}))[1].update(found)
        frame = known(word(meta.reference_frame) or "EME2000", f"{path}: REFERENCE_FRAME") if type_ == "RADEC" else ""
        tracks.append(Track(path, word(meta.participant_1), frame, list(rows.values())))
    if not any(track.rows for track in tracks):
        raise lib.InputError(f"{path}: there is no RANGE, ANGLE_1 or ANGLE_2 in it")
    return tracks
