"""The tables of measurements that the Python package takes: files, arrays, data frames, data sets; and wrong ones."""

import json
import os
import subprocess

import numpy as np
import pytest

import gbees

FAST = {"accuracy": 0, "factor": 1, "records": 2}


def test_measurement_tables(tmp_path):
    path = tmp_path / "z.csv"
    path.write_text("time,z,sigma_z\n0.5,-12,1\n0.7,,\n1.0,-8,1\n")
    expected = gbees.run("lorenz63", set=FAST, measurements=str(path), progress=False)
    assert [u.time for u in expected.updates] == [0.5, 1.0]
    assert expected.records[-1].time == 1.0
    columns = {"time": np.array([0.5, 0.7, 1.0]), "z": np.array([-12, np.nan, -8])}
    same = gbees.run("lorenz63", set=FAST, measurements=columns, covariance=1.0, progress=False)
    assert same.log_evidence == expected.log_evidence
    entry = [{"time": t, "function": "z", "value": [v], "covariance": [1]} for t, v in ((0.5, -12), (1.0, -8))]
    assert gbees.run("lorenz63", set=FAST, measurements=entry, progress=False).log_evidence == same.log_evidence


def test_data_sets():
    """A Dataset is the table that it came from."""
    xarray = pytest.importorskip("xarray")
    data = xarray.Dataset(
        {"z": ("time", [-12, np.nan, -8], {"units": "-"}), "sigma_z": ("time", [1.0, 1.0, 1.0])},
        coords={"time": [0.5, 0.7, 1.0]},
    )
    columns = {"time": [0.5, 1.0], "z": [-12, -8]}
    expected = gbees.run("lorenz63", set=FAST, measurements=columns, covariance=1.0, progress=False)
    same = gbees.run("lorenz63", set=FAST, measurements=data, progress=False)
    assert same.log_evidence == expected.log_evidence
    data.z.attrs["units"] = "km"
    with pytest.raises(gbees.InputError, match=r"^the measurements: column 2 \(z\): expected the unit '-', found 'km'"):
        gbees.run("lorenz63", measurements=data, progress=False)


def test_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": [0.2], "z": [5.0]})
    run = gbees.run("lorenz63", set=FAST, measurements=frame, covariance=4, progress=False)
    assert len(run.updates) == 1


def test_dates(tmp_path):
    """Dates in files, arrays, indices and data sets, of all zones and resolutions, are seconds from the epoch."""
    expected = gbees.run("lorenz63", set=FAST, measurements={"t": [0.5, 1.0], "z": [-12, -8]}, covariance=1, progress=False)
    path = tmp_path / "dated.csv"
    path.write_text("Time,z,,\n2026-01-31T23:59:30,-12,,\n2026-02-01 00:00:00,-8,,\n,,,\n")
    days = np.array(["2026-01-31T23:59:30", "2026-02-01"], "datetime64[ns]")
    given = [path, {"time": days, "z": [-12, -8]}, {"time": days.astype("datetime64[s]").tolist(), "z": [-12, -8]}]
    try:
        import pandas

        frame = pandas.DataFrame({"z": [-12, -8]}, index=pandas.DatetimeIndex(days))
        given += [frame, frame.rename_axis("when"), frame.rename_axis("Time").reset_index()]
        given += [frame.rename_axis("t").to_xarray()]
    except ImportError:
        pass
    dated = {"epoch": "2026-01-31T23:59", "time_unit": 60, "covariance": 1, "progress": False}
    for table in given:
        run = gbees.run("lorenz63", set=FAST, measurements=table, **dated)
        assert run.log_evidence == expected.log_evidence and run.records[-1].time == 1
    run = gbees.run("lorenz63", set=FAST, measurements=given[1], **{**dated, "epoch": days[0] - np.timedelta64(30, "s")})
    assert run.log_evidence == expected.log_evidence
    with pytest.raises(gbees.InputError, match=r"row 0: column 1 \(time\): expected a time of the model.* epoch: 2026-01-31"):
        gbees.run("lorenz63", set=FAST, measurements=given[1], covariance=1, progress=False)


@pytest.mark.parametrize(
    "text, said",
    [
        ("time,zz\n1,2\n", r"wrong.csv:1: column 2 \(zz\): lorenz63 measures nothing of this name: did you mean 'z'"),
        ("time,z,sigma_z\n1,abc,1\n", r"wrong.csv:2: column 2 \(z\): expected a number, found 'abc'"),
        ("time,z,sigma_z\n1,2,1\n0.5,2,1\n", "wrong.csv:3: column 1"),
        ("time,z,sigma_z\n1,2,-1\n", r"wrong.csv:2: column 3 \(sigma_z\): expected a number > 0"),
        ("time,z\n1,2\n", "its noise is not given"),
        ("time,z,sigma_z\n1,2\n", "wrong.csv:2: expected 3 cells, as the header has, found 2"),
        ("time,z [km],sigma_z\n1,2,1\n", r"column 2 \(z\): expected the unit '-', found 'km'"),
        ("", "is empty"),
        ("z,sigma_z\n1,2\n", "expected a column 'time' .* found none"),
    ],
)
def test_wrong_tables(tmp_path, text, said):
    path = tmp_path / "wrong.csv"
    path.write_text(text)
    with pytest.raises(gbees.InputError, match=said):
        gbees.run("lorenz63", measurements=str(path), progress=False)


@pytest.mark.parametrize(
    "table, said",
    [
        ({"time": [1], "zz": [2]}, r"^the measurements: column 2 \(zz\): lorenz63 measures nothing of this name"),
        ({"time": [0, 1], "z": [2, "abc"], "sigma_z": [1, 1]}, r"^the measurements, row 1: column 2 \(z\): expected a"),
        ({"time": [0, 1], "z": [2, np.inf], "sigma_z": [1, 1]}, r"^the measurements, row 1: column 2 \(z\): expected a"),
        ([{"time": 1, "z": 2}, {"time": 0.5, "z": 2}], "^the measurements, row 1: column 1"),
        ({"time": [0, 1], "z": [2]}, "different lengths"),
    ],
)
def test_wrong_tables_in_memory(table, said):
    with pytest.raises(gbees.InputError, match=said):
        gbees.run("lorenz63", measurements=table, covariance=None if "sigma_z" in table else 1, progress=False)


def test_table_of_the_command(tmp_path):
    """The table that --simulate writes, with units and covariances in its header, means the same to Python as to
    gbees-run: as a file, with other separators, and in memory."""
    path = tmp_path / "out" / "measurements.csv"
    short = {"accuracy": 0, "factor": 1, "threshold": 1e-4, "records": 1, "end": 0.05}
    covariance = [[7e-9, 1e-7, 0], [1e-7, 3e-4, 0], [0, 0, 2.5e-8]]
    drawn = [{"time": 0.05, "function": "sight", "value": [1, 1, 1], "covariance": covariance}]
    command = [os.path.join(os.environ["GBEES_TOP_BUILD"], "gbees-run"), "--plugin", "pcr3bp", "--backend", "cpu"]
    for key, value in short.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(
        [*command, "--set", f"measurements={json.dumps(drawn)}", "--simulate", "1", "--simulate-count", "2",
         "--output", str(path.parent)],
        check=True,
    )  # fmt: skip
    table = [line.split(",") for line in path.read_text().splitlines() if not line.startswith("#")]
    assert {"range [LU]", "cov_angle_range"} < set(table[0]) and len(table) == 3
    lines = subprocess.run(
        [*command, "--measurements", str(path), "--audit", "off", "--no-output", "--json"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.splitlines()  # fmt: skip
    expected = json.loads(lines[-1])["log_evidence"]

    other = tmp_path / "other.csv"
    rows = [[cell.replace("range [LU]", "sight.range (LU)") for cell in row] for row in table]
    other.write_text("\n".join(";".join(row) for row in rows))
    columns = {name: [float(row[k]) for row in table[1:]] for k, name in enumerate(table[0])}
    for given in (path, other, columns):
        run = gbees.run("pcr3bp", set=short, measurements=given, audit=False, backend="cpu", progress=False)
        assert [update.time for update in run.updates] == [0.025, 0.05]
        assert run.log_evidence == expected


def test_comments_and_blank_lines_of_a_table(tmp_path):
    path = tmp_path / "drawn.csv"
    path.write_text("# gbees-run --simulate 3\n\ntime,z,sigma_z\n0.05,9,1\n# nothing was seen\n0.1,8,1\n")
    run = gbees.run("lorenz63", set={**FAST, "end": 0.1}, measurements=str(path), audit=False, progress=False)
    assert len(run.updates) == 2
    path.write_text("# gbees-run\n\ntime,z,sigma_z\n# two\n0.05,nine,1\n")
    with pytest.raises(gbees.InputError, match=r"drawn.csv:5: column 2 \(z\): expected a number, found 'nine'"):
        gbees.run("lorenz63", measurements=str(path), progress=False)
