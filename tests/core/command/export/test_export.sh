#!/bin/sh
# test_export.sh - gbees-export, and what other programs read in a results folder.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
export=${GBEES_EXPORT:-$programs/gbees-export}
sample=${GBEES_SAMPLE:-$top_build/tests/core/results/run/test_results}
enter_scratch
clean_environment
run=$scratch/run

# STATUS PATTERN COMMAND...: the command ends with that status and says that, in one line on standard error alone.
expect()
{
    wanted=$1 pattern=$2
    shift 2
    "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
    test "$status" = "$wanted" || stop "$*: status $status, not $wanted: $(cat "$scratch/err")"
    test ! -s "$scratch/out" || stop "$*: printed $(cat "$scratch/out")"
    grep -q -e "$pattern" "$scratch/err" || stop "$*: no '$pattern' in: $(cat "$scratch/err")"
}

test -x "$export" || stop "no program $export"
"$sample" "$run" || stop "no sample"

# ---- the text format: time, then probability and centre of each cell
"$export" --format gbees "$run" "$scratch/text" || stop "export"
test "$(find "$scratch/text" -type f | sort | sed "s|$scratch/||" | tr '\n' ' ')" = \
    "text/P0/pdf_0.txt text/P0/pdf_1.txt text/P1/pdf_0.txt " || stop "files: $(find "$scratch/text")"
one=$scratch/text/P0/pdf_1.txt
test "$(sed -n 1p "$one")" = 0.100000 || stop "time: $(sed -n 1p "$one")"
# index -50 -50 -25: mean -.5, 9.5, 19.5; width .25, .5, .75
first='1.0000000000e-03 -1.3000000000e+01 -1.5500000000e+01 7.5000000000e-01'
test "$(sed -n 2p "$one")" = "$first" || stop "first cell: $(sed -n 2p "$one")"
test "$(wc -l < "$one")" -eq 101 || stop "$(wc -l < "$one") lines"

# ---- CSV
"$export" --format csv "$run" "$scratch/csv/" || stop "export to CSV"
one=$scratch/csv/leg1_record0.csv
test "$(sed -n 1p "$one")" = 'x [m],"theta, ""t"" [rad]",éta,p' || stop "header: $(sed -n 1p "$one")"
test "$(sed -n 2p "$one")" = '-13,-15.5,0.75,0.001' || stop "first line: $(sed -n 2p "$one")"
test "$(sed -n 1p "$scratch/csv/records.csv")" = \
    file,leg,record,time,cells,mass,mass_clipped,mass_outflow,mass_pruned,mass_normalised || stop "head of the list"
test "$(sed -n 4p "$scratch/csv/records.csv")" = 'leg1_record0.csv,1,0,1,100,0.75,0.10000000000000001,0.20000000000000001,0.29999999999999999,0.14999999999999999' || stop "$(cat "$scratch/csv/records.csv")"

# ---- a grid that moves: centres of oblique cells, with the record's mass and mean
"${GBEES_RUN:-$programs/gbees-run}" --plugin linear --set frame=moving --set accuracy=0 --set factor=4 --set threshold=1e-7 \
    --set measurements=[] --until 1 --set records=1 --audit off --json --output "$scratch/moving" \
    > "$scratch/out" 2> "$scratch/err" || stop "a grid that moves: $(cat "$scratch/err")"
"$export" --format csv "$scratch/moving" "$scratch/oblique" || stop "export of a grid that moves"
grep '"record":1' "$scratch/out" | sed 's/.*"mean":\[\([^]]*\)\].*/\1/; s/^/mean,/' | cat - "$scratch/oblique/leg0_record1.csv" |
    awk -F, '$1 == "mean" { a = $2; b = $3; next } $3 > 0 { s += $3; x += $1 * $3; y += $2 * $3 }
             END { exit !((s - 1) ^ 2 < 1e-6 && (x / s - a) ^ 2 + (y / s - b) ^ 2 < 1e-6) }' ||
    stop "the cells of a grid that moves have another mean than its record"
expect 1 "the grid does not have the axes of the states, which images have: take csv, or gbees-plot" \
    "$export" --format vti "$scratch/moving" "$scratch/oblique-images"
rm -r "$scratch/moving"

# ---- errors
expect 1 'is not empty' "$export" "$run" "$scratch/text"
expect 1 'No such file' "$export" "$scratch/none" "$scratch/new"
test ! -e "$scratch/new" || stop "made a folder for nothing"
expect 1 'no records in' "$export" "$scratch" "$scratch/new"
"$programs/gbees-run" --plugin duffing --until 0.1 --set 'output={densities: none}' --output "$scratch/moments" \
    >"$scratch/log" 2>&1 || stop "a run without densities: $(cat "$scratch/log")"
expect 1 'no densities in .*/moments: its run has kept none' "$export" "$scratch/moments" "$scratch/new"
"$export" --verify "$scratch/moments" | grep -qx "1 files of $scratch/moments are as they were written" ||
    stop "moments alone are not verified"
expect 2 "unknown format 'xml'" "$export" --format xml "$run" "$scratch/new"
expect 2 'OUT is missing' "$export" "$run"
expect 2 'RUN is missing' "$export"
expect 2 'too many' "$export" a b c
expect 2 'unrecognized option' "$export" --speed a b
cp -r "$run" "$scratch/broken" && head -c 3000 "$run/leg0_record1.h5" > "$scratch/broken/leg0_record1.h5"
expect 1 'broken/leg0_record1.h5: truncated file' "$export" "$scratch/broken" "$scratch/new"

# ---- checking
"$export" --verify "$run" > "$scratch/out" 2>&1 || stop "--verify: $(cat "$scratch/out")"
test "$(cat "$scratch/out")" = "4 files of $run are as they were written" || stop "--verify: $(cat "$scratch/out")"
expect 1 "broken/leg0_record1.h5: truncated file" "$export" --verify "$scratch/broken"
tail -n 1 "$scratch/err" | grep -q "1 of 4 files of .*/broken are damaged" || stop "--verify: $(cat "$scratch/err")"
test "$(wc -l < "$scratch/err")" -eq 2 || stop "--verify: $(cat "$scratch/err")"
rm "$scratch/broken/leg0_record0.h5"
expect 1 "broken has 2 records, and its run has written 3" "$export" --verify "$scratch/broken"
expect 2 'writes nothing' "$export" --verify "$run" "$scratch/new"
"$export" --help | grep -q 'OUT/P<leg>/pdf_<record>.txt' || stop "--help"
"$export" --version | grep -q '^gbees-export [0-9]' || stop "--version"

# ---- images
"$export" --format vti "$run" "$scratch/images" || stop "export to images"
test "$(ls "$scratch"/images/leg0_record1_*.vti | wc -l)" = 4 || stop "not three planes and a volume: $(ls "$scratch/images")"
test "$(grep -c timestep= "$scratch/images/states_0_1_2.pvd")" = 3 || stop "the list: $(cat "$scratch/images/states_0_1_2.pvd")"

# ---- other readers
if command -v h5dump > /dev/null; then
    h5dump "$run/leg0_record0.h5" > "$scratch/dump" || stop "h5dump leg0_record0.h5"
    grep -q 'DATASET "index"' "$scratch/dump" || stop "h5dump saw no index"
    h5dump -p -H -d /marginals/2d/0_1 "$run/leg0_record0.h5" > "$scratch/dump" || stop "h5dump /marginals/2d/0_1"
    for word in SHUFFLE 'DEFLATE { LEVEL 4 }' FLETCHER32; do
        grep -q "$word" "$scratch/dump" || stop "/marginals/2d/0_1 has no $word"
    done
    h5dump -H "$run/moments.h5" | grep -q DIMENSION_LIST || stop "moments.h5 has no dimension scales"
fi
if command -v xmllint > /dev/null; then
    xmllint --noout "$run"/*.xdmf || stop "the sidecar is no XML"
fi
python=$(find_python "h5py, numpy") || skip "no h5py: not all was tested"
"$python" - "$run" << 'END' || stop "h5py"
import json, os, sys
import xml.etree.ElementTree as tree
import h5py, numpy as np

run = sys.argv[1]


def has_fixed_strings(kind):
    found = h5py.check_string_dtype(kind)
    return found is None or found.length is not None


for name in ("leg0_record1.h5", "moments.h5"):
    with h5py.File(os.path.join(run, name)) as f:
        def check(path, item):
            for key in item.attrs:
                assert has_fixed_strings(item.attrs.get_id(key).dtype), f"{path}: attribute {key}"
            assert not isinstance(item, h5py.Dataset) or has_fixed_strings(item.dtype), path

        check("/", f)
        f.visititems(check)
with h5py.File(os.path.join(run, "leg0_record1.h5")) as f:
    index, p, x = f["/pdf/index"][:], f["/pdf/p"][:], f["/pdf/x"][:]
    assert index.shape == (3, 100) and index.dtype == np.int16 and p.dtype == np.float64
    assert (np.lexsort(index[::-1]) == np.arange(100)).all(), "cells are not sorted"
    assert index[0, 0] == -50
    centre = f["/grid/origin"][:] + f["/grid/h"][:] * index.T
    assert np.allclose(x, centre) and x.dtype == np.float32
    assert (f["/grid/R"][:] == np.eye(3)).all()
    assert list(f["/grid/names"].asstr()) == ["x", 'theta, "t"', "éta"], list(f["/grid/names"].asstr())
    assert list(f["/grid/units"].asstr()) == ["m", "rad", "-"]
    for j in range(3):
        line = f[f"/marginals/1d/{j}"]
        assert np.isclose(line[:].sum(), p.sum())
        assert np.allclose(np.bincount(index[j] - line.attrs["first"][0], p), line[:])
        for k in range(j + 1, 3):
            plane = f[f"/marginals/2d/{j}_{k}"]
            other = np.zeros(plane.shape)
            a, b = plane.attrs["first"]
            np.add.at(other, (index[j] - a, index[k] - b), p)
            assert np.allclose(plane[:], other)
    a = f.attrs
    assert a["format"] == b"gbees-record" and a["format_version"] == 1 and a["model"] == b"handmade"
    assert a["scenario"].decode() == "model: handmade\n# é\n" and a["device"] == b""
    assert list(a["parameter_names"]) == [b"sigma", b"rho"] and list(a["parameters"]) == [4, .1]
    assert a["leg"] == 0 and a["record"] == 1 and a["time"] == .1 and a["cells"] == 200 and a["cells_above"] == 100
    assert list(a["mean"]) == [1, 2, 3] and (a["covariance"] == np.diag([1, 2, 3]).ravel()).all()
    names = """format format_version gbees_version model model_hash plugin parameters parameter_names scenario backend
        device leg record time step time_step mean covariance entropy mass mass_clipped mass_outflow mass_pruned cells
        cells_above threshold dimension mass_normalised mass_clipped_since mass_outflow_since mass_pruned_since
        mass_normalised_since warnings state_names state_units""".split()
    assert sorted(names) == sorted(a), set(names) ^ set(a)
    assert list(a["warnings"]) == [], a["warnings"]
# An image: its values are behind "_" and their bytes, the first axis the fastest.
with h5py.File(os.path.join(run, "leg0_record1.h5")) as f:
    plane, h = f["/marginals/2d/0_2"][:], f["/grid/h"][:]
    corner = f["/grid/origin"][:][[0, 2]] + h[[0, 2]] * (f["/marginals/2d/0_2"].attrs["first"] - 0.5)
    text = open(os.path.join(os.path.dirname(run), "images", "leg0_record1_0_2.vti"), "rb").read()
    head, values = text.split(b'encoding="raw">\n_', 1)
    image = tree.fromstring(head.decode() + 'encoding="raw"></AppendedData></VTKFile>')
    bytes_, = np.frombuffer(values[:8], np.uint64)
    density = np.frombuffer(values[8:8 + int(bytes_)], np.float32).reshape(plane.shape[::-1]).T
    assert np.allclose(density * h[0] * h[2], plane, rtol=1e-6), "the image is not the marginal"
    grid = image.find("ImageData")
    assert [float(x) for x in grid.get("Spacing").split()] == [h[0], h[2], 1], grid.attrib
    assert np.allclose([float(x) for x in grid.get("Origin").split()], [*corner, 0]), grid.attrib
    assert grid.get("WholeExtent") == f"0 {plane.shape[0]} 0 {plane.shape[1]} 0 0", grid.attrib
    assert float(grid.find("FieldData/DataArray").text) == .1
with h5py.File(os.path.join(run, "moments.h5")) as f:
    assert list(f["time"]) == [0, .1, 1] and list(f["leg"]) == [0, 0, 1] and list(f["record"]) == [0, 1, 0]
    assert f["mean"].shape == (3, 3) and f["covariance"].shape == (3, 3, 3)
    for name in """mean covariance entropy mass cells cells_above mass_clipped mass_outflow mass_pruned mass_normalised
            step""".split():
        assert f[name].dims[0]["time"] == f["time"], name
    assert list(f["updates/time"]) == [1] and list(f["updates/log_evidence"]) == [-3]
grid = tree.parse(os.path.join(run, "leg0_record1.xdmf")).getroot().find("Domain/Grid")
assert grid.find("Topology").get("NumberOfElements") == "100" and grid.find("Time").get("Value").startswith("0.1")
for item in grid.iter("DataItem"):
    name, path = item.text.strip().split(":")
    with h5py.File(os.path.join(run, name)) as f:
        assert list(f[path].shape) == [int(k) for k in item.get("Dimensions").split()]
        assert f[path].dtype.itemsize == int(item.get("Precision"))
with open(os.path.join(run, "run.json")) as f:
    about = json.load(f)
assert about["state"] == "complete" and about["summary"]["steps"] == 12
END
echo "test_export: all passed"
