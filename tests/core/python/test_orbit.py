"""Orbits from files: messages in and out, frames, conjunctions, and what is refused."""

import re

import numpy as np
import pytest

pytest.importorskip("ccsds_ndm", reason="ccsds-ndm is not installed: pip install ccsds-ndm")
pytest.importorskip("astropy", reason="astropy is not installed: pip install astropy")

import alfano  # noqa: E402
import gbees  # noqa: E402
import gbees.orbit as go  # noqa: E402
from gbees import _orbit_frames as frames  # noqa: E402
from gbees._orbit_conjunction import foster, relative  # noqa: E402

STATE = {"X": 4272.4, "Y": 0.0, "Z": 5390.3, "X_DOT": 0.0, "Y_DOT": 7.6126, "Z_DOT": 0.02}
HEAD = """CCSDS_OPM_VERS = 2.0
CREATION_DATE = 2026-01-01T00:00:00
ORIGINATOR = TEST
OBJECT_NAME = LEO
OBJECT_ID = 2026-001A
CENTER_NAME = EARTH
REF_FRAME = {frame}
TIME_SYSTEM = {scale}
EPOCH = {epoch}
"""
SPACECRAFT = """MASS = 1000 [kg]
SOLAR_RAD_AREA = 10 [m**2]
SOLAR_RAD_COEFF = 1.3
DRAG_AREA = 10 [m**2]
DRAG_COEFF = 2.2
"""
TDM = """CCSDS_TDM_VERS = 2.0
CREATION_DATE = 2026-01-01T00:00:00
ORIGINATOR = TEST
META_START
TIME_SYSTEM = UTC
PARTICIPANT_1 = STATION
PARTICIPANT_2 = LEO
MODE = SEQUENTIAL
PATH = {path}
ANGLE_TYPE = RADEC
REFERENCE_FRAME = EME2000
META_STOP
DATA_START
{rows}DATA_STOP
"""
TLE = """ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537"""
COARSE = {"accuracy": 0, "points": 0.5, "tail": 6, "tolerance": 1e-6}


def covariance_text(matrix, frame):
    names = list(STATE)
    text = f"COV_REF_FRAME = {frame}\n" if frame else ""
    for i, row in enumerate(names):
        for j, column in enumerate(names[: i + 1]):
            text += f"C{row}_{column} = {matrix[i][j]!r}\n"
    return text


DIAGONAL = np.diag([0.01, 0.04, 0.01, 1e-8, 1e-8, 1e-8]).tolist()

INDEFINITE = [[0.05 if {i, j} == {0, 1} else DIAGONAL[i][j] for j in range(6)] for i in range(6)]


def opm(path, frame="EME2000", scale="UTC", epoch="2026-01-01T00:00:00.000", state=STATE, covariance=DIAGONAL, local="RTN",
        spacecraft=SPACECRAFT):  # fmt: skip
    units = ["[km]"] * 3 + ["[km/s]"] * 3
    text = HEAD.format(frame=frame, scale=scale, epoch=epoch)
    text += "".join(f"{k} = {v} {u}\n" for (k, v), u in zip(state.items(), units)) + spacecraft
    path.write_text(text + (covariance_text(covariance, local) if covariance is not None else ""))
    return str(path)


def rtn_after_days():
    """Ahead and falling, high and slow: as covariances in RTN are after some revolutions."""
    root = np.diag([0.1, 3.0, 0.1, 1e-4, 1e-4, 1e-4])
    c = root @ root
    for i, j in ((0, 4), (1, 3)):
        c[i, j] = c[j, i] = -0.99 * root[i, i] * root[j, j]
    return c.tolist()


def test_frames():
    """TEME to ITRF and to GCRF as astropy's own transformations have them, which are by other models but for ITRF."""
    coordinates = pytest.importorskip("astropy.coordinates")
    import astropy.units as u

    epoch = frames.epoch_of("2000-06-28T15:08:51.655", "UTC", "test")
    teme = np.array([-9060.47373569, 4658.70952502, 813.68673153, -2.232832783, -4.110453490, -3.157345433])
    at = coordinates.TEME(
        coordinates.CartesianRepresentation(*teme[:3] * u.km,
                                            differentials=coordinates.CartesianDifferential(*teme[3:] * u.km / u.s)),
        obstime=epoch,
    )  # fmt: skip
    for name, other, far in (("ITRF", coordinates.ITRS(obstime=epoch), 1e-6), ("GCRF", coordinates.GCRS(obstime=epoch), 2e-3)):
        ours, _ = frames.turned(teme, None, ("TEME", name), epoch)
        there = at.transform_to(other)
        assert abs(ours[:3] - there.cartesian.xyz.to_value("km")).max() < far
        assert abs(ours[3:] - there.velocity.d_xyz.to_value("km/s")).max() < 1e-6
        back, _ = frames.turned(ours, None, (name, "TEME"), epoch)
        assert np.allclose(back, teme, rtol=1e-13)


@pytest.mark.parametrize("scale, seconds", [("UTC", 0), ("TAI", -37), ("TT", -69.184), ("GPS", -18), ("TDB", -69.184)])
def test_time_systems(tmp_path, scale, seconds):
    orbit = go.read(opm(tmp_path / "a.opm", scale=scale))
    assert (orbit.epoch - frames.epoch_of("2026-001T00:00:00", "UTC", "test")).sec == pytest.approx(seconds, abs=0.01)


def test_from_opm_to_oem_and_on(tmp_path):
    path = opm(tmp_path / "leo.opm")
    made = go.propagate(path, days=0.1, forces="J2,drag", records=2, set=COARSE)
    parameters = made.run.scenario
    assert "ballistic: 0.022" in parameters and re.search(r"density: 1.585\d*e-12", parameters)
    assert made.frame == "EME2000" and len(made.epochs) == 3 and made.epochs[-1].isot == "2026-01-01T02:24:00.000"
    assert np.allclose(made.states[0], list(STATE.values()), atol=0.05)
    made.write(str(tmp_path / "leo.oem"))
    with pytest.raises(gbees.FileError, match="leo.oem exists"):
        made.write(str(tmp_path / "leo.oem"))
    again = go.read(str(tmp_path / "leo.oem"))
    assert again.epoch.isot == made.epochs[-1].isot
    assert np.allclose(again.state, made.states[-1], rtol=1e-13)
    assert np.allclose(again.covariance, made.covariances[-1], rtol=1e-12)
    on = go.propagate(again, until="2026-01-01T02:30", forces="J2", frame="ITRF", records=1, set=COARSE)
    assert on.frame == "ITRF" and (on.epochs[-1] - again.epoch).sec == pytest.approx(360, abs=1e-3)
    made.write(str(tmp_path / "leo.xml"))
    assert np.allclose(go.read(str(tmp_path / "leo.xml")).state, again.state, rtol=1e-13)


def test_local_and_inertial_covariances(tmp_path):
    local = go.read(opm(tmp_path / "rtn.opm"))
    inertial = go.read(opm(tmp_path / "own.opm", covariance=local.covariance.tolist(), local=""))
    assert np.allclose(local.covariance, inertial.covariance, atol=1e-16)
    radial = np.array([4272.4, 0, 5390.3]) / np.hypot(4272.4, 5390.3)
    assert radial @ local.covariance[:3, :3] @ radial == pytest.approx(0.01)
    with pytest.raises(gbees.InputError, match='COV_REF_FRAME is missing.*looks like one in RTN.*covariance_frame="RTN"'):
        go.read(opm(tmp_path / "ask.opm", covariance=rtn_after_days(), local=""))
    assert go.read(str(tmp_path / "ask.opm"), covariance_frame="RTN").covariance is not None
    with pytest.raises(gbees.InputError, match="COV_REF_FRAME is TEME, and the state's frame EME2000"):
        go.read(opm(tmp_path / "mixed.opm", local="TEME"))


def test_tle():
    pytest.importorskip("sgp4", reason="sgp4 is not installed: pip install sgp4")
    orbit = go.read(TLE)
    assert orbit.frame == "TEME" and orbit.name == "ISS (ZARYA)"
    # Its epoch's state by SGP4 (D. A. Vallado et al., AIAA 2006-6753): 6730 km from the centre, 7.69 km/s.
    assert np.linalg.norm(orbit.state[:3]) == pytest.approx(6720, abs=15)
    with pytest.raises(gbees.InputError, match="there is no covariance: give covariance="):
        go.propagate(TLE, days=0.1)
    made = go.propagate(TLE, days=0.002, covariance=[1, 4, 1, 1e-6, 1e-6, 1e-6], records=1, set=COARSE)
    assert made.frame == "TEME"


REFUSED = {
    "a position inside the Earth": (dict(state={k: v / 2 for k, v in STATE.items()}), "3439 km .* inside the Earth: they"),
    "a position in metres": (dict(state={k: v * 1000 for k, v in STATE.items()}), "X, Y and Z are 6.878e.06 km"),
    "a velocity in metres": (dict(state={**STATE, "Y_DOT": 7612.6}), "X_DOT, Y_DOT and Z_DOT are 7613 km/s"),
    "a covariance in metres": (dict(covariance=(np.array(DIAGONAL) * 1e9).tolist()), "entries have to be in km.2"),
    "a frame": (dict(frame="MARS_FIXED"), "the frame MARS_FIXED is not known"),
    "a time system": (dict(scale="MET"), "TIME_SYSTEM is MET"),
    "a date": (dict(epoch="2026-13-01T00:00:00"), "2026-13-01T00:00:00"),
    "an indefinite covariance": (dict(covariance=INDEFINITE), "is no covariance: .* eigenvalue -1.5"),
    "no coefficient": (dict(spacecraft=""), "DRAG_AREA, DRAG_COEFF and MASS are missing"),
    "no covariance": (dict(covariance=None), "there is no covariance"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    changes, said = REFUSED[name]
    path = opm(tmp_path / "bad.opm", **changes)
    with pytest.raises(gbees.Error, match=said) as caught:
        go.propagate(path, days=1e-3, forces="J2,drag", set=COARSE)
    assert "bad.opm" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("X = 4272.4 [km]", "X = 4272400 [m]", "bad.opm:10: .X = 4272400 .m.. no CCSDS|bad.opm:10: 'X = 4272400 .m.'"),
        ("X = 4272.4 [km]", "", "bad.opm: X is missing"),
        ("CX_X = 0.01", "CX_X = NaN", "bad.opm: CX_X is nan"),
        ("CENTER_NAME = EARTH", "CENTER_NAME = MARS", "CENTER_NAME is MARS"),
        ("CCSDS_OPM_VERS = 2.0", "", "bad.opm: no CCSDS message"),
    ],
)
def test_refused_fields(tmp_path, old, new, said):
    text = (tmp_path / "bad.opm").read_text() if opm(tmp_path / "bad.opm") else ""
    assert old in text
    (tmp_path / "bad.opm").write_text(text.replace(old, new, 1))
    with pytest.raises(gbees.Error, match=said) as caught:
        go.propagate(str(tmp_path / "bad.opm"), days=1e-3, set=COARSE)
    assert "\n" not in str(caught.value)


def test_manoeuvres_are_said_not_to_be_made(tmp_path):
    burn = "MAN_EPOCH_IGNITION = 2026-01-01T01:00:00\nMAN_DURATION = 1 [s]\nMAN_DELTA_MASS = -1 [kg]\nMAN_REF_FRAME = RTN\n"
    burn += "".join(f"MAN_DV_{k} = 0.001 [km/s]\n" for k in (1, 2, 3))
    path = opm(tmp_path / "burn.opm")
    (tmp_path / "burn.opm").write_text((tmp_path / "burn.opm").read_text() + burn)
    with pytest.warns(gbees.Warning, match="burn.opm: its manoeuvres are not made"):
        go.read(path)


def test_refused_arguments(tmp_path):
    path = opm(tmp_path / "a.opm")
    for options, said in (
        (dict(days=1, forces="J2,wind"), "'wind': the forces are two-body, J2"),
        (dict(), "one of days= and until="),
        (dict(until="2025-12-31T00:00"), "its epoch is 2026-01-01T00:00:00.000: the end has to be later"),
        (dict(days=1, covariance=[1, 2, 3]), "6 variances or 6 x 6 numbers"),
        (dict(days=1, covariance=[1] * 6, covariance_frame="UVW"), "frame UVW is not known"),
    ):
        with pytest.raises(gbees.InputError, match=said):
            go.propagate(path, **options)
    with pytest.raises(gbees.InputError, match="a.opm is an OPM: a CDM is needed"):
        go.conjunction(path, radius=10)
    with pytest.raises(gbees.FileError, match="none.opm: No such file"):
        go.propagate(str(tmp_path / "none.opm"), days=1)


# ---- observations ----


def observed(start, station, minutes):
    """What a station sees without noise: rows of a TDM and its parameters."""
    made = go.propagate(start, days=max(minutes) / 1440, forces="J2", frame="ITRF", records=max(minutes),
                        set={**COARSE, "points": 0.4, "tail": 5})  # fmt: skip
    lat, lon, high = np.radians(station[0]), np.radians(station[1]), station[2]
    f = 3.35281066474748e-3
    n = frames.RADIUS / np.sqrt(1 - f * (2 - f) * np.sin(lat) ** 2)
    place = np.array([(n + high) * np.cos(lat) * np.cos(lon), (n + high) * np.cos(lat) * np.sin(lon),
                      (n * (1 - f) ** 2 + high) * np.sin(lat), 0, 0, 0])  # fmt: skip
    rows = ""
    for k in minutes:
        to, _ = frames.turned(made.states[k] - place, None, ("ITRF", "EME2000"), made.epochs[k])
        a, d = np.degrees(np.arctan2(to[1], to[0])) % 360, np.degrees(np.arcsin(to[2] / np.linalg.norm(to[:3])))
        when = made.epochs[k].isot
        rows += f"ANGLE_1 = {when} {a:.9f}\nANGLE_2 = {when} {d:.9f}\nRANGE = {when} {np.linalg.norm(to[:3]):.9f}\n"
    return rows, made


def test_determine(tmp_path):
    """Angles and ranges of the truth take a prior that is off to it."""
    station, minutes = (51.0, 0.0, 0.1), [1, 4]
    truth = go.read(opm(tmp_path / "truth.opm", covariance=(np.eye(6) * 1e-12).tolist()))
    rows, made = observed(truth, station, minutes)
    (tmp_path / "tracks.tdm").write_text(TDM.format(path="2,1", rows=rows))
    moved = {**STATE, "X": 4272.42, "Y": 0.03, "Y_DOT": 7.61263}
    prior = opm(tmp_path / "prior.opm", state=moved, covariance=np.diag([1e-3] * 3 + [1e-9] * 3).tolist())
    sigma = {"range": 0.05, "right_ascension": 1e-4, "declination": 1e-4}
    found = go.determine(str(tmp_path / "tracks.tdm"), prior, station=station, sigma=sigma,
                         set={**COARSE, "points": 0.7, "tail": 7})  # fmt: skip
    sd = np.sqrt(np.diag(found.covariances[-1]))
    truth_there, _ = frames.turned(made.states[4], None, ("ITRF", "EME2000"), made.epochs[4])
    before = np.sqrt(np.diag(found.run.records[0].covariance))
    assert len(found.run.updates) == 4 and sd[:3].min() < before[:3].min()
    assert np.all(abs(found.states[-1] - truth_there) < 3 * sd)


def test_refused_observations(tmp_path):
    prior = opm(tmp_path / "prior.opm")
    row = "RANGE = 2026-01-01T00:01:00.000 1234.5\n"
    cases = (
        ("2,1", row.replace("2026-01", "2025-12"), {}, "observation of 2025-12-01T00:01:00.000 is before the prior's epoch"),
        ("1,2,1", row, {}, "PATH is 1,2,1.*one_way=True"),
        ("2,1", row, dict(sigma={}), "a.tdm has range: give sigma="),
        ("2,1", (row.replace("RANGE", "ANGLE_1") + row.replace("RANGE", "ANGLE_2")).replace("1234.5", "12.5"),
         dict(sigma={"right_ascension": 15, "declination": 15}), "of an angle in rad"),
        ("2,1", row.replace("RANGE", "ANGLE_2"), dict(sigma={"right_ascension": 1e-5, "declination": 1e-5}),
         "ANGLE_2 is 1234.5: it has to be in degrees"),
        ("2,1", row.replace("RANGE", "ANGLE_2").replace("1234.5", "12.5"),
         dict(sigma={"right_ascension": 1e-5, "declination": 1e-5}), "declination alone can't be turned from EME2000"),
        ("2,1", row.replace("RANGE", "MAG"), {}, "no RANGE, ANGLE_1 or ANGLE_2"),
        ("2,1", row, dict(station=(151, 0, 0)), "latitude and longitude in degrees"),
    )
    for path, rows, options, said in cases:
        (tmp_path / "a.tdm").write_text(TDM.format(path=path, rows=rows))
        given = {"station": (51.0, 0.0, 0.1), "sigma": {"range": 0.01}, **options}
        with pytest.raises(gbees.InputError, match=said):
            go.determine(str(tmp_path / "a.tdm"), prior, **given)


# ---- conjunctions ----


def written(tmp_path, number):
    path = tmp_path / f"case{number}.cdm"
    path.write_text(alfano.cdm(number))
    return str(path)


def test_foster():
    """As Alfano has it, of objects that are made here: reading a CDM takes seconds."""
    epoch = frames.epoch_of("2000-01-01T00:00:00", "UTC", "test")
    for number, (radius, _, straight, objects) in alfano.CASES.items():
        pair = []
        for state, triangle in objects:
            lower = np.zeros((6, 6))
            lower[np.tril_indices(6)] = np.array(triangle.split(), dtype=float) * 1e-6
            orbit = go.Orbit("test", "", "", epoch, "TEME", np.array(state), None)
            pair.append(orbit.with_covariance(lower + np.tril(lower, -1).T, "RTN"))
        mean, covariance, _ = relative(*pair)
        assert foster(mean, covariance, radius) == pytest.approx(straight, rel=2e-4), number


def test_conjunction(tmp_path):
    path = written(tmp_path, 3)
    found = go.conjunction(path, radius=15)
    assert found.probability == pytest.approx(0.10035096, rel=0.01) and found.bound < 0.01
    assert found.foster == pytest.approx(0.10035096, rel=1e-6) and found.verdict.endswith("they agree")
    found.write(str(tmp_path / "out.cdm"))
    text = (tmp_path / "out.cdm").read_text()
    told = re.search(r"COLLISION_PROBABILITY\s*= (\S+)", text)
    assert told and float(told[1]) == pytest.approx(found.probability) and "GBEES-6D" in text
    with pytest.raises(gbees.InputError, match="give radius="):
        go.conjunction(path)
    with pytest.raises(gbees.InputError, match="metres are needed"):
        go.conjunction(path, radius=-1)


def test_slow_conjunction(tmp_path):
    """Two objects of the geostationary ring that pass at 2 cm/s, for hours: a straight passage has a third too little."""
    found = go.conjunction(written(tmp_path, 4), radius=15, window=21600)
    assert found.probability == pytest.approx(alfano.CASES[4][1], rel=0.02)
    assert abs(found.probability - alfano.CASES[4][1]) < found.bound < 0.01
    assert found.foster == pytest.approx(alfano.CASES[4][2], rel=2e-4)
    assert "below it: the passage takes so long" in found.verdict


def test_refused_conjunctions(tmp_path):
    text = alfano.cdm(3)
    for old, new, said in (
        ("MISS_DISTANCE = 3.922245 [m]", "MISS_DISTANCE = 392.2245 [m]", "3.9222 m from each other, and MISS_DISTANCE is 392"),
        ("X = 153.951475000", "X = 153951475.0", "X, Y and Z are .* have to be in km"),
        ("CR_R = 19.8898003613408", "CR_R = -19.8898003613408", "the covariance has the variance -|eigenvalue"),
    ):
        assert old in text
        (tmp_path / "bad.cdm").write_text(text.replace(old, new, 1))
        with pytest.raises(gbees.InputError, match=said):
            go.conjunction(str(tmp_path / "bad.cdm"), radius=15)


def test_rounded_covariances():
    """Raised and said so, or refused."""
    good = np.diag([1.0, 4.0, 1.0, 1e-6, 1e-6, 1e-6])
    assert frames.regular(good, "here") is good
    flat = good.copy()
    flat[0, 1] = flat[1, 0] = 2.0
    with pytest.warns(gbees.Warning, match="here: .*eigenvalues .* are raised"):
        made = frames.regular(flat, "here")
    assert np.linalg.eigvalsh(made).min() > 0 and np.allclose(made, flat, rtol=1e-9)
    flat[0, 1] = flat[1, 0] = 2.5
    with pytest.raises(gbees.InputError, match="here: .*eigenvalue -0.25"):
        frames.regular(flat, "here")
