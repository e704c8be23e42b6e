"""Orbits from people's own files: CCSDS messages and two-line elements::

    import gbees.orbit

    run = gbees.orbit.propagate("object.opm", days=3, forces="J2,drag")
    run.write("object.oem")
    gbees.orbit.determine("tracks.tdm", prior="object.opm", station=(39.0, -104.9, 2.2), sigma={"range": 0.01})
    gbees.orbit.conjunction("event.cdm", radius=15).verdict

It needs the packages ccsds-ndm, astropy and, for TLE and OMM, sgp4; `import gbees` needs none of them. The manual's page
orbit.md has the rest.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Mapping

import numpy as np

from . import _library as lib
from . import _orbit_messages as messages
from ._measurements import plain
from ._orbit_conjunction import Conjunction, collide
from ._orbit_frames import (
    INERTIAL, MU, RADIUS, Orbit, _from_eme2000, check_units, known, regular, seconds_between, turned, ut1_days,
)  # fmt: skip
from ._orbit_messages import tle
from ._record import Array
from ._run import Run, run

__all__ = ["Conjunction", "Orbit", "Orbits", "conjunction", "determine", "propagate", "read", "tle"]

# D. A. Vallado, Fundamentals of Astrodynamics and Applications (2013), table 8-4: height in km, density there in kg/m^3,
# and the scale in km up to the next height.
_AIR = (
    (100, 5.297e-7, 5.877), (110, 9.661e-8, 7.263), (120, 2.438e-8, 9.473), (130, 8.484e-9, 12.636),
    (140, 3.845e-9, 16.149), (150, 2.070e-9, 22.523), (180, 5.464e-10, 29.740), (200, 2.789e-10, 37.105),
    (250, 7.248e-11, 45.546), (300, 2.418e-11, 53.628), (350, 9.518e-12, 53.298), (400, 3.725e-12, 58.515),
    (450, 1.585e-12, 60.828), (500, 6.967e-13, 63.822), (600, 1.454e-13, 71.835), (700, 3.614e-14, 88.667),
    (800, 1.170e-14, 124.64), (900, 5.245e-15, 181.05), (1000, 3.019e-15, 268.00),
)  # fmt: skip
_FORCES = ("two-body", "J2", "J3", "J4", "drag", "solar", "sun", "moon")
_FUNCTIONS = {"range": ("range",), "azel": ("azimuth", "elevation"), "radec": ("right_ascension", "declination")}


class Orbits:
    """What :func:`propagate` or :func:`determine` has computed.

    Attributes
    ----------
    run : Run
        Of the model `orbit`, whose axes are TEME of the start's epoch, at rest.
    start : Orbit
        In TEME.
    forces, frame : str
        The forces, and the frame of `states` and of what is written.
    epochs : list of astropy.time.Time
        Of the records, in UTC.
    states, covariances : ndarray
        Means and covariances at the records, in km and km/s, along the axes of `frame`.
    """

    def __init__(self, made: Run, start: Orbit, forces: str, frame: str) -> None:
        time = lib.require("astropy.time", "gbees.orbit")
        self.run, self.start, self.forces, self.frame = made, start, forces, frame
        self.epochs = []
        for r in made.records:
            epoch = (start.epoch + time.TimeDelta(r.time, format="sec")).utc
            epoch.format = "isot"
            self.epochs.append(epoch)
        pairs = [self._as(frame, r.mean[:6], r.covariance[:6, :6], e) for r, e in zip(made.records, self.epochs)]
        self.states = np.array([state for state, _ in pairs])
        self.covariances = np.array([covariance for _, covariance in pairs])

    def _as(self, frame: str, state: Array, covariance: Array, epoch: Any) -> tuple[Array, Array]:
        """From the axes of the start's TEME to a frame of an epoch."""
        back = np.kron(np.eye(2), _from_eme2000("TEME", self.start.epoch).T)
        there, matrix = turned(back @ state, back @ covariance @ back.T, ("EME2000", frame), epoch)
        assert matrix is not None
        return there, matrix

    @property
    def last(self) -> Orbit:
        """The object at the last record: another run's start."""
        return replace(self.start, source=f"{self.start.source}, propagated", epoch=self.epochs[-1], frame=self.frame,
                       state=self.states[-1], covariance=self.covariances[-1])  # fmt: skip

    def __repr__(self) -> str:
        return f"<gbees.orbit.Orbits {self.start.name}, {self.forces}, to {self.epochs[-1].isot} in {self.frame}\n{self.run!r}>"

    def write(self, path: str) -> None:
        """Writes an OEM with covariances, in XML if the name ends so, to a new file."""
        from ._orbit_write import write_oem

        write_oem(self, path)


def read(source: Any, covariance_frame: str | None = None) -> Orbit:
    """The object of an OPM, OMM, OEM (its last state that has a covariance) or TLE.

    `covariance_frame` says what the file does not, or has wrong: ``"RTN"``, ``"TNW"`` or ``"inertial"``.
    """
    return messages.orbit(source, covariance_frame)


def _forces_of(text: str, orbit: Orbit) -> dict[str, Any]:
    """The parameters of forces that are named."""
    words = [w.strip() for w in text.replace("+", ",").split(",") if w.strip()]
    by_name = {name.lower(): name for name in _FORCES}
    found = []
    for w in words:
        name = by_name.get({"srp": "solar", "two bodies": "two-body"}.get(w.lower(), w.lower()))
        if name is None:
            raise lib.InputError(f"forces={text!r} has {w!r}: the forces are {', '.join(_FORCES)}")
        found.append(name)
    made: dict[str, Any] = {"zonal": max([int(w[1]) for w in found if w[0] == "J"], default=0)}
    made.update({w: int(w in found) for w in ("drag", "solar", "sun", "moon")})
    for force, value, fields in (("drag", orbit.ballistic, "DRAG_AREA, DRAG_COEFF and MASS"),
                                 ("solar", orbit.reflectivity, "SOLAR_RAD_AREA, SOLAR_RAD_COEFF and MASS")):  # fmt: skip
        name = "ballistic" if force == "drag" else "reflectivity"
        if force in found and value is None:
            raise lib.InputError(f"{orbit.source}: forces has {force}, but {fields} are missing: give {name}= in m^2/kg")
        if value is not None:
            made[name] = value
    if made["drag"]:
        made.update(_air_of(orbit))
    return made


def _air_of(orbit: Orbit) -> dict[str, float]:
    """The layer of the atmosphere at the perigee."""
    r, v = orbit.state[:3], orbit.state[3:]
    distance = float(np.linalg.norm(r))
    axis = 1 / (2 / distance - v @ v / MU)
    eccentricity = np.linalg.norm(np.cross(v, np.cross(r, v)) / MU - r / distance)
    height = (axis * (1 - eccentricity) if axis > 0 else distance) - RADIUS
    layer = [row for row in _AIR if row[0] <= height] or [_AIR[0]]
    return dict(zip(("height", "density", "scale"), map(float, layer[-1])))


def _start_of(source: Any, covariance: Any, covariance_frame: str | None, given: Mapping[str, Any]) -> tuple[Orbit, str]:
    """The object in TEME with a covariance that is positive, and the frame that it was in."""
    orbit = messages.orbit(source, covariance_frame if covariance is None else None)
    if covariance is not None:
        orbit = check_units(orbit.with_covariance(covariance, covariance_frame or "RTN"))
    if orbit.covariance is None:
        raise lib.InputError(
            f"{orbit.source}: there is no covariance: give covariance=[...], 6 variances along R, T and N in km^2 and "
            "km^2/s^2, or 6 x 6 numbers"
        )
    frame = orbit.frame if orbit.frame != "ITRF" else "TEME"
    coefficients = {k: v for k, v in given.items() if v is not None}
    start = replace(orbit.to("TEME"), **coefficients)
    assert start.covariance is not None
    return replace(start, covariance=regular(start.covariance, start.source)), frame


def _scenario(start: Orbit, forces: str, changes: Mapping[str, Any] | None) -> dict[str, Any]:
    assert start.covariance is not None
    return {
        "parameters": {**_forces_of(forces, start), "epoch": ut1_days(start.epoch)},
        "dimension": 6, "mean": start.state.tolist(), "covariance": start.covariance.tolist(), "start": 0,
        "frame": "lagrangian", "output": {"densities": "none"}, **(plain(changes) if changes else {}),
    }  # fmt: skip


def propagate(
    source: Any, days: float | None = None, *, until: Any = None, forces: str = "J2", covariance: Any = None,
    covariance_frame: str | None = None, ballistic: float | None = None, reflectivity: float | None = None,
    frame: str | None = None, records: int = 8, set: Mapping[str, Any] | None = None, **options: Any,
) -> Orbits:  # fmt: skip
    """Propagates an object's density.

    Parameters
    ----------
    source
        The path of an OPM, OMM, OEM or TLE, the lines of a TLE, or an :class:`Orbit`.
    days, until
        How long, or a UTC date.
    forces
        Of two-body, J2, J3, J4, drag, solar, sun and moon, separated by commas.
    covariance, covariance_frame
        In place of the file's: 6 variances or 6 x 6 numbers in km and km/s, in ``"RTN"``, ``"TNW"`` or ``"inertial"``, the
        axes of the state. The frame alone says in which the file's is.
    ballistic, reflectivity
        Drag's and solar pressure's coefficient times area over mass, m^2/kg, in place of the file's.
    frame
        Of the results: by default the file's; ITRF, too.
    records, set, options
        Records beside the first; changes of the scenario; and as of :func:`gbees.run`.
    """
    start, own = _start_of(source, covariance, covariance_frame, {"ballistic": ballistic, "reflectivity": reflectivity})
    wanted = known(frame or own, "frame=")
    if (days is None) == (until is None):
        raise lib.InputError("propagate() needs one of days= and until=")
    if until is not None:
        from ._orbit_frames import epoch_of

        seconds = seconds_between(epoch_of(until, "UTC", "until="), start.epoch)
    else:
        seconds = float(days or 0) * 86400
    if not seconds > 0:
        raise lib.InputError(f"{start.source}: its epoch is {start.epoch.isot}: the end has to be later")
    scenario = {**_scenario(start, forces, set), "end": seconds, "records": records, "measurements": []}
    return Orbits(run("orbit", scenario, **options), start, forces, wanted)


def _sigmas(sigma: Mapping[str, float], names: tuple[str, ...], source: str) -> list[float]:
    """Variances of a function's components."""
    missing = [n for n in names if n not in sigma]
    if missing:
        raise lib.InputError(f"{source} has {', '.join(missing)}: give sigma={{{missing[0]!r}: ...}}, in km or rad")
    for name in names:
        if not 0 < sigma[name] or (name != "range" and sigma[name] > 1):
            raise lib.InputError(f"sigma of {name} is {sigma[name]}: it has to be above 0, and of an angle in rad")
    return [float(sigma[n]) ** 2 for n in names]


def _entries(tracks: list[messages.Track], start: Orbit, sigma: Mapping[str, float]) -> list[dict[str, Any]]:
    """The observations as a scenario has them."""
    made: list[dict[str, Any]] = []
    for track in tracks:
        for epoch, row in track.rows:
            seconds = seconds_between(epoch, start.epoch)
            if seconds < 0:
                raise lib.InputError(
                    f"{track.source}: the observation of {epoch.isot} is before the prior's epoch, "
                    f"{start.epoch.isot}: give a prior that is earlier"
                )
            row = _in_axes(row, track.frame, start)
            for function, names in _FUNCTIONS.items():
                if any(n in row for n in names):
                    variances = _sigmas(sigma, names, track.source)
                    made.append({"time": seconds, "function": function, "covariance": variances,
                                 "value": [row.get(n) for n in names]})  # fmt: skip
    return sorted(made, key=lambda entry: float(entry["time"]))


def _in_axes(row: dict[str, float], frame: str, start: Orbit) -> dict[str, float]:
    """Right ascension and declination in the model's axes."""
    seen = {"right_ascension", "declination"} & set(row)
    if frame in ("", "TEME") or not seen:
        return row
    if len(seen) == 1:
        raise lib.InputError(f"{seen.pop()} alone can't be turned from {frame} to the model's axes: both angles are needed")
    if frame not in (*INERTIAL, "GCRF"):
        raise lib.InputError(f"right ascensions are in {frame}: they have to be in EME2000, GCRF or TEME")
    a, d = row["right_ascension"], row["declination"]
    toward = np.array([math.cos(d) * math.cos(a), math.cos(d) * math.sin(a), math.sin(d), 0, 0, 0])
    x, y, z = turned(toward, None, (frame, "TEME"), start.epoch)[0][:3]
    return {**row, "right_ascension": math.atan2(y, x), "declination": math.asin(max(-1.0, min(1.0, z)))}


def determine(
    tracks: str, prior: Any, *, station: tuple[float, float, float], sigma: Mapping[str, float], forces: str = "J2",
    covariance: Any = None, covariance_frame: str | None = None, ballistic: float | None = None,
    reflectivity: float | None = None, frame: str | None = None, one_way: bool = False,
    set: Mapping[str, Any] | None = None, **options: Any,
) -> Orbits:  # fmt: skip
    """The density of an object given the observations of a TDM by one station.

    Parameters
    ----------
    tracks
        The path of a TDM.
    prior
        As `source` of :func:`propagate`, of an epoch that is not later than the first observation.
    station
        Geodetic latitude and longitude in degrees, and height above the ellipsoid in km.
    sigma
        Standard deviations: of `range` in km, of `azimuth`, `elevation`, `right_ascension` and `declination` in rad.
    one_way
        RANGE of a PATH there and back is the distance.
    """
    start, own = _start_of(prior, covariance, covariance_frame, {"ballistic": ballistic, "reflectivity": reflectivity})
    if len(station) != 3 or abs(station[0]) > 90 or abs(station[1]) > 360 or not -12 < station[2] < 100:
        raise lib.InputError(f"station={station}: latitude and longitude in degrees, and height in km, are needed")
    found = messages.tdm(tracks, one_way)
    names = sorted({track.station for track in found})
    if len(names) > 1:
        raise lib.InputError(f"{tracks}: there are several stations, {', '.join(names)}: the model has one at a time")
    scenario = _scenario(start, forces, set)
    scenario["parameters"].update(zip(("latitude", "longitude", "altitude"), map(float, station)))
    entries = _entries(found, start, sigma)
    scenario.update({"measurements": entries, "end": max(entries[-1]["time"], 1e-3)})
    return Orbits(run("orbit", scenario, **options), start, forces, known(frame or own, "frame="))


def conjunction(source: str, radius: float | None = None, *, window: float | None = None, **options: Any) -> Conjunction:
    """The probability that the two objects of a CDM collide.

    Parameters
    ----------
    source
        The path of a CDM.
    radius
        Of both bodies together, m.
    window
        Seconds about the time of closest approach, half before and half after it; by default what the passage takes, at
        most half a revolution.
    options
        As of :func:`gbees.run`.
    """
    pair = messages.cdm(source)
    if radius is None:
        raise lib.InputError(f"{source}: a CDM does not have the bodies' size: give radius=, of both together, in m")
    if not 0 < radius < 1e4:
        raise lib.InputError(f"radius={radius}: metres are needed")
    made = collide(pair, float(radius), window, dict(options))
    return replace(made, source=source)
