#!/bin/sh
# test_xarray.sh - xarray opens the time series of a run, and what filters beside it have found, with both of its
# readers: axes have names, states too.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
enter_scratch
clean_environment

python=/usr/bin/python3
"$python" -c 'import xarray, h5netcdf, netCDF4' 2>/dev/null || {
    echo "SKIP: xarray, h5netcdf and netCDF4 are needed (Debian: python3-xarray python3-h5netcdf python3-netcdf4)"
    exit 77
}
"$top_build/gbees-run" --backend cpu --threads 1 --progress none --plugin lorenz63 --scenario published --audit off \
    --compare ekf,pf:500 --output out >log 2>&1 || fail "gbees-run: $(cat log)"
"$python" - <<'END' >log 2>&1 || fail "$(cat log)"
import h5py
import xarray

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
    # A record's cells: axes have no names there, of which h5netcdf wants to be told.
    more = {"phony_dims": "sort"} if engine == "h5netcdf" else {}
    with xarray.open_dataset("out/run.h5", engine=engine, group="leg1/record0/pdf", **more) as data:
        assert data["index"].shape == (3, data["p"].size), data
        assert abs(float(data["p"].sum()) - 1) < 0.01
    with xarray.open_dataset("out/compare.h5", engine=engine) as data:
        assert data["record"].dims == ("time",), data["record"].dims
        assert [str(name, "ascii") for name in data["filter_name"].values] == ["ekf", "pf"], data["filter_name"]
    with xarray.open_dataset("out/compare.h5", engine=engine, group="pf") as data:
        assert data["covariance"].dims == ("time", "state", "other_state"), data["covariance"].dims
        assert data["marginal"].dims == ("binned", "state", "bin"), data["marginal"].dims
        assert abs(data["marginal"].sum("bin") - 1).max() < 0.01
END
test "$bad" -eq 0 && echo "test_xarray: all well"
exit "$bad"
