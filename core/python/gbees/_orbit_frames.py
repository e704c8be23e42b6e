"""Epochs, frames and covariances of orbits, in km and km/s."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _library as lib
from ._record import Array

MU = 398600.4418  # km^3/s^2, of the Earth
RADIUS = 6378.137  # km, of its equator
TURN = 7.292115146706979e-5  # rad/s
_J2000 = 2451545.0
_ARCSECOND = np.pi / 648000
INERTIAL = ("EME2000", "TEME")
_NAMES = {"J2000": "EME2000", "ICRF": "GCRF", "ITRF97": "ITRF", "ITRF2000": "ITRF", "ITRF93": "ITRF"}
_LOCAL = {"RSW": "RTN", "RIC": "RTN", "RTN_ROTATING": "RTN", "RSW_ROTATING": "RTN", "RTN": "RTN", "TNW": "TNW"}
# An eigenvalue of correlations that is smaller is raised to it; one below -INDEFINITE is no rounding.
_LEAST, _INDEFINITE = 1e-13, 1e-2


def _erfa() -> Any:
    return lib.require("erfa", "gbees.orbit", "pyerfa")


def epoch_of(text: Any, scale: str, where: str) -> Any:
    """An astropy.time.Time in UTC of an ISO date (CCSDS's day of the year, too) in a time system of CCSDS."""
    time = lib.require("astropy.time", "gbees.orbit")
    system = (scale or "UTC").upper()
    if system not in ("UTC", "TAI", "TT", "TDB", "UT1", "GPS"):
        raise lib.InputError(
            f"{where}: TIME_SYSTEM is {scale}: gbees.orbit knows UTC, TAI, TT, TDB, UT1 and GPS: convert its epochs"
        )
    word = str(text or "").strip().rstrip("Z")
    if not word:
        raise lib.InputError(f"{where}: is missing: a date is expected, such as 2026-11-28T12:00:00")
    form = "yday" if len(word.split("T")[0].split("-")) == 2 else "isot"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = time.Time(word.replace("T", ":").replace("-", ":") if form == "yday" else word, format=form,
                             scale="tai" if system == "GPS" else system.lower())
            made.format = "isot"
            if system == "GPS":
                made = made + time.TimeDelta(19.0, format="sec")
            return made.utc
    except ValueError as error:
        raise lib.InputError(f"{where}: {text} is no date: {' '.join(str(error).split())}") from None


def seconds_between(later: Any, earlier: Any) -> float:
    """SI seconds."""
    return float((later - earlier).sec)


def _earth(epoch: Any) -> tuple[float, float, float]:
    """UT1 - UTC in seconds, and the pole's coordinates in rad; 0 with a warning where the tables end."""
    iers = lib.require("astropy.utils.iers", "gbees.orbit")
    with warnings.catch_warnings(), iers.conf.set_temp("auto_download", False):
        warnings.simplefilter("ignore")
        table = iers.earth_orientation_table.get()
        shift, state = table.ut1_utc(epoch, return_status=True)
        if int(state) < 0:
            found = None
        else:
            x, y = table.pm_xy(epoch)
            found = float(shift.to_value("s")), float(x.to_value("rad")), float(y.to_value("rad"))
    if found is None:
        warnings.warn(
            f"astropy's tables have no UT1 for {epoch.isot}: UTC is taken, which may turn the Earth by 0.4 km",
            lib.Warning,
            stacklevel=2,
        )
        return 0.0, 0.0, 0.0
    return found


def ut1_days(epoch: Any) -> float:
    """UT1 in days since J2000.0: the model's parameter `epoch`."""
    return float((epoch.utc.jd1 - _J2000) + epoch.utc.jd2 + _earth(epoch)[0] / 86400)


def _turn_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def _from_eme2000(frame: str, epoch: Any) -> Array:
    """The matrix from EME2000 to an inertial frame: IAU 1976 and 1980, as SGP4's TEME has them."""
    erfa, tt = _erfa(), epoch.tt
    if frame == "EME2000":
        return np.eye(3)
    if frame == "GCRF":
        bias, _ = erfa.bp00(_J2000, 0.0)[0:2]
        return np.asarray(bias).T
    psi, _eps = erfa.nut80(tt.jd1, tt.jd2)
    equinoxes = psi * np.cos(erfa.obl80(tt.jd1, tt.jd2))
    true = erfa.nutm80(tt.jd1, tt.jd2) @ erfa.pmat76(tt.jd1, tt.jd2)
    return np.asarray(_turn_z(equinoxes) @ true)


def _to_itrf(epoch: Any) -> tuple[Array, Array]:
    """From TEME: the matrix, and the Earth's angular velocity in ITRF."""
    erfa = _erfa()
    shift, x, y = _earth(epoch)
    sidereal = erfa.gmst82(epoch.utc.jd1, epoch.utc.jd2 + shift / 86400)
    pole = np.asarray(erfa.pom00(x, y, 0.0))
    return pole @ _turn_z(sidereal), pole @ np.array([0, 0, TURN])


def known(frame: str, where: str) -> str:
    """gbees.orbit's name of a reference frame."""
    name = _NAMES.get(str(frame).upper(), str(frame).upper())
    if name.startswith("ITRF"):
        name = "ITRF"
    if name not in (*INERTIAL, "GCRF", "ITRF"):
        raise lib.InputError(f"{where}: the frame {frame} is not known: EME2000, GCRF, TEME and ITRF are")
    return name


def turned(state: Array, covariance: Array | None, frames: tuple[str, str], epoch: Any) -> tuple[Array, Array | None]:
    """A state, and its covariance, from one frame to another at an epoch."""
    if frames[0] == frames[1]:
        return state, covariance
    to_teme = np.eye(3) if frames[0] in ("TEME", "ITRF") else (
        _from_eme2000("TEME", epoch) @ _from_eme2000(frames[0], epoch).T
    )
    matrix = np.kron(np.eye(2), to_teme)
    if frames[0] == "ITRF":
        rotation, spin = _to_itrf(epoch)
        matrix = np.linalg.inv(_spinning(rotation, spin))
    if frames[1] == "ITRF":
        rotation, spin = _to_itrf(epoch)
        matrix = _spinning(rotation, spin) @ matrix
    elif frames[1] != "TEME":
        back = _from_eme2000(frames[1], epoch) @ _from_eme2000("TEME", epoch).T
        matrix = np.kron(np.eye(2), back) @ matrix
    return matrix @ state, None if covariance is None else matrix @ covariance @ matrix.T


def _spinning(rotation: Array, spin: Array) -> Array:
    """From TEME's position and velocity to those of a frame that turns: r' = R r, v' = R v - spin x r'."""
    cross = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
    made = np.kron(np.eye(2), rotation)
    made[3:, :3] = -cross @ rotation
    return made


def local_axes(state: Array, kind: str) -> Array:
    """The axes of RTN or TNW as rows, in those of the state."""
    r, v = state[:3], state[3:]
    normal = np.cross(r, v)
    normal /= np.linalg.norm(normal)
    if kind == "RTN":
        radial = r / np.linalg.norm(r)
        return np.array([radial, np.cross(normal, radial), normal])
    along = v / np.linalg.norm(v)
    return np.array([along, np.cross(normal, along), normal])


def inertial_covariance(given: Any, frame: str, state: Array, where: str) -> Array:
    """A covariance in RTN, TNW or the axes of the state ("inertial") as one in the axes of the state."""
    matrix = np.asarray(given, dtype=float)
    if matrix.shape == (6,):
        matrix = np.diag(matrix)
    if matrix.shape != (6, 6):
        raise lib.InputError(f"{where}: the covariance has the shape {matrix.shape}: 6 variances or 6 x 6 numbers")
    if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=0):
        raise lib.InputError(f"{where}: the covariance is not symmetric")
    kind = _LOCAL.get(frame.upper())
    if kind is None and frame != "inertial":
        raise lib.InputError(f"{where}: the covariance's frame {frame} is not known: RTN, TNW, or the state's own")
    if kind is None:
        return matrix
    axes = np.kron(np.eye(2), local_axes(state, kind))
    return np.asarray(axes.T @ matrix @ axes)


def looks_local(matrix: Array) -> bool:
    """Whether a covariance has what only one in RTN has after some revolutions: an object that is ahead falls, and one
    that is high is slow."""
    sd = np.sqrt(np.abs(np.diag(matrix)))
    if not (np.all(sd > 0) and sd[1] > 3 * max(sd[0], sd[2])):
        return False
    return bool(matrix[0, 4] < -0.9 * sd[0] * sd[4] and matrix[1, 3] < -0.9 * sd[1] * sd[3])


def regular(matrix: Array, where: str) -> Array:
    """A covariance that is positive definite: eigenvalues of its correlations that rounding has made too small are
    raised, with a warning; one that is indefinite is refused."""
    variance = np.diag(matrix)
    if not np.all(np.isfinite(matrix)):
        raise lib.InputError(f"{where}: the covariance has an entry that is not a number")
    if not np.all(variance > 0):
        k = int(np.argmin(variance))
        raise lib.InputError(
            f"{where}: along axis {k + 1} of the model's frame the covariance has the variance {variance[k]:g}: all have "
            "to be above 0"
        )
    sd = np.sqrt(variance)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2 / np.outer(sd, sd))
    if values[0] < -_INDEFINITE:
        raise lib.InputError(
            f"{where}: the covariance is no covariance: its correlations have the eigenvalue {values[0]:.2g}"
        )
    if values[0] >= _LEAST:
        return matrix
    warnings.warn(
        f"{where}: the covariance is not positive definite but for rounding: eigenvalues of its correlations below "
        f"{_LEAST:g}, the least is {values[0]:.2g}, are raised to that",
        lib.Warning,
        stacklevel=2,
    )
    made = (vectors * np.maximum(values, _LEAST)) @ vectors.T * np.outer(sd, sd)
    return np.asarray(made + made.T) / 2


@dataclass(frozen=True)
class Orbit:
    """An object's state at an epoch.

    Attributes
    ----------
    source : str
        The file that it is from.
    name, id : str
        Of the object.
    epoch : astropy.time.Time
        In UTC.
    frame : str
        EME2000, GCRF, TEME or ITRF.
    state : ndarray
        Position in km and velocity in km/s.
    covariance : ndarray or None
        6 x 6, in the axes of the state, km and km/s.
    ballistic, reflectivity : float or None
        Coefficient times area over mass, m^2/kg: of drag and of solar pressure.
    """

    source: str
    name: str
    id: str
    epoch: Any
    frame: str
    state: Array
    covariance: Array | None
    ballistic: float | None = None
    reflectivity: float | None = None

    def to(self, frame: str) -> "Orbit":
        """The same in another frame."""
        frame = known(frame, self.source)
        state, covariance = turned(self.state, self.covariance, (self.frame, frame), self.epoch)
        return replace(self, frame=frame, state=state, covariance=covariance)

    def with_covariance(self, covariance: Any, frame: str = "RTN") -> "Orbit":
        """The same with a covariance: 6 variances or 6 x 6 numbers, in RTN, TNW or the state's axes ("inertial")."""
        inertial = self if self.frame != "ITRF" else self.to("TEME")
        made = inertial_covariance(covariance, frame, inertial.state, self.source)
        return replace(inertial, covariance=made)


_POLES = 6356.0
"""The Earth's radius at its poles, in km."""


def check_units(orbit: Orbit) -> Orbit:
    """Refuses a state that is in other units than km and km/s, or its covariance."""
    distance, speed = np.linalg.norm(orbit.state[:3]), np.linalg.norm(orbit.state[3:])
    if not _POLES < distance < 2e6:
        inside = ", inside the Earth" if distance <= _POLES else ""
        raise lib.InputError(
            f"{orbit.source}: X, Y and Z are {distance:.4g} km from the Earth's centre{inside}: they have to be in km"
        )
    if not 0.01 < speed < 40:
        raise lib.InputError(f"{orbit.source}: X_DOT, Y_DOT and Z_DOT are {speed:.4g} km/s: they have to be in km/s")
    if orbit.covariance is not None:
        sd = np.sqrt(np.abs(np.diag(orbit.covariance)))
        if np.max(sd[:3]) > 0.3 * distance or np.max(sd[3:]) > 0.3 * speed:
            raise lib.InputError(
                f"{orbit.source}: the covariance has deviations of {np.max(sd[:3]):.3g} km and {np.max(sd[3:]):.3g} "
                "km/s: its entries have to be in km^2, km^2/s and km^2/s^2"
            )
    return orbit
