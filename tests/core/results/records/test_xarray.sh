#!/bin/sh
# test_xarray.sh - xarray opens the time series of a run, and what filters beside it have found, with both of its
# readers: axes have names, states too.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment

python=/usr/bin/python3
"$python" -c 'import xarray, h5netcdf, netCDF4' 2>/dev/null || {
    echo "SKIP: xarray, h5netcdf and netCDF4 are needed (Debian: python3-xarray python3-h5netcdf python3-netcdf4)"
    exit 77
}
"$programs/gbees-run" --backend cpu --threads 1 --progress none --plugin lorenz63 --scenario published --audit off \
    --set 'output.moments=every step' --output out >log 2>&1 || fail "gbees-run: $(cat log)"
run() { # FOLDER ARGUMENT...
    folder=$1
    shift
    "$programs/gbees-run" --backend cpu --threads 1 --progress none --quiet --output "$folder" "$@" >log 2>&1 ||
        fail "gbees-run: $(cat log)"
}
run turned --plugin lorenz63 --scenario published --until 0.1 --set 'measurements=[]' --set records=1 --set rotate=yes \
    --set 'covariance=[[1,0.9,0.9],[0.9,1,0.9],[0.9,0.9,1]]'
run six --plugin lorenz96 --scenario published --until 0.01 --set records=1 --audit off
"$python" - <<'END' >log 2>&1 || fail "$(cat log)"
import h5py
import numpy, xarray

with h5py.File("out/run.h5") as f:
    mean = f["mean"][:]
for engine in ("h5netcdf", "netcdf4"):
    with xarray.open_dataset("out/run.h5", engine=engine) as data:
        assert data["mean"].dims == ("time", "state"), data["mean"].dims
        assert data["covariance"].dims == ("time", "state", "other_state"), data["covariance"].dims
        assert data["time"].values[-1] == 2
        assert (data["mean"].values == mean).all()
        names = [str(name, "ascii") for name in data["mean"].coords["state_name"].values]
        assert names == ["x", "y", "z"], names
    with xarray.open_dataset("out/run.h5", engine=engine, group="measured") as data:
        assert data["value"].dims == ("time", "component"), data["value"].dims
        assert [str(name, "ascii") for name in data["component_name"].values] == ["z"], data["component_name"]
    with xarray.open_dataset("out/run.h5", engine=engine, group="steps") as data:
        assert data["covariance"].dims == ("time", "state", "other_state"), data["covariance"].dims
        assert abs(data["time"].values[-1] - 2) < 1e-9 and data["time"].size > 100, data
    # A record: its cells as a table, of which the centres and the moments follow by the names of the axes.
    for file, group in ("out/run.h5", "leg1/record0"), ("turned/run.h5", "leg0/record1"), ("six/run.h5", "leg0/record0"):
        with xarray.open_dataset(file, engine=engine, group=group) as data:
            assert data["p"].dims == ("cell",) and data["index"].dims == ("axis", "cell"), data
            assert len(data.attrs["state_units"]) == data["state"].size, data.attrs["state_units"]
            assert data["samples"].dims == ("state", "sample") if "samples" in data else file != "turned/run.h5", data
            centre = data["origin"] + (data["R"] * data["h"] * data["index"]).sum("axis")
            if "x" in data:
                assert data["x"].dims == ("cell", "state") and abs(data["x"] - centre).max() < 1e-4, data
            by_cells = (centre * data["p"]).sum("cell") / data["p"].sum()
            assert by_cells.dims == ("state",) and abs(by_cells - data.attrs["mean"]).max() < 0.05, (by_cells, data.attrs["mean"])
            names = numpy.array(data.attrs["state_names"]).astype(str)
            assert by_cells.assign_coords(state=names).sel(state="x1" if "x1" in names else "x") == by_cells[0], names
            assert list(data.attrs["parameter_names"])[0] in ("sigma", "F"), data.attrs["parameter_names"]
            assert len(data.attrs["covariance"]) == data["state"].size ** 2, data.attrs["covariance"]
            assert abs(data.attrs["mass"] - 1) < 0.1, data.attrs
    assert list(data.attrs["state_names"]) == ["x1", "x2", "x3", "x4", "x5", "x6"], data.attrs["state_names"]
END
test "$bad" -eq 0 && echo "test_xarray: all well"
exit "$bad"
