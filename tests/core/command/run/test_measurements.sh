#!/bin/sh
# test_measurements.sh - gbees-run with measurements as people have them: a table, by option and by scenario.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# run CODE ARGUMENT...
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" --backend cpu --threads 1 --plugin lorenz63 --scenario published --audit off "$@"
}

# refuse TEXT ARGUMENT...: one line, before anything is computed
refuse() {
    text=$1
    shift
    run 2 "$@" --output refused
    has err "$text"
    lines err 1
    test ! -e refused || fail "it made the output folder"
}

# ---- the same run from a table, by option, by scenario, and from a list ----
mkdir data
printf 'time,z [-],sigma_z\n0.05,9,1\n0.1,NaN,1\n0.15,7,2\n' >data/z.csv
printf 'measurements:\n  - {time: 0.05, function: z, value: [9], covariance: [1]}\n' >list.yaml
printf '  - {time: 0.15, function: z, value: [7], covariance: [4]}\nend: 0.15\n' >>list.yaml
printf 'measurements: {file: data/z.csv}\nfactor: 1\nthreshold: 5.0e-6\nprune_interval: 20\n' >table.yaml

run 0 --scenario list.yaml --set factor=1 --set threshold=5.0e-6 --set prune_interval=20 --output list --json
grep -v wall_s out >list.out
run 0 --measurements data/z.csv --output option
run 0 --scenario table.yaml --output scenario
for records in option scenario; do
    has_record "$records" 0 4 || fail "$records has no record before the measurement"
    has_record "$records" 1 0 || fail "$records has no record after the measurement"
    has_record "$records" 2 0 || fail "$records has no record after the last measurement"
    cmp list/scenario.yaml "$records/scenario.yaml" || fail "$records/scenario.yaml is another one"
done
# The results' scenario needs the table no more.
rm data/z.csv
run 0 --scenario option/scenario.yaml --no-output
has out "2 measurements"

# ---- an end of one's own ----
printf 'time\tz\tsigma_z\n0.05\t9\t1\n0.15\t7\t2\n' >z.tsv
run 0 --measurements z.tsv --until 0.1 --no-output
has out "t = 0 to 0.1, 1 measurement;"

# ---- bad input ----
printf 'time,w,sigma_w\n1,2,3\n' >bad.csv
refuse "bad.csv:1: column 2 (w): lorenz63 measures nothing of this name" --measurements bad.csv
printf 'time,z,sigma_z\n1,two,3\n' >bad.csv
refuse "bad.csv:2: column 2 (z): expected a number, found 'two'" --measurements bad.csv
printf 'time,z,sigma_z\n1,2,3\n0.5,2,3\n' >bad.csv
refuse "bad.csv:3: column 1 (time): expected a time not before that of line 2, 1, found 0.5" --measurements bad.csv
printf 'time,z,sigma_z\n0.5,2,3\n0.2,2,3\n' >bad.csv
refuse "bad.csv:3: column 1 (time): expected a time not before that of line 2, 0.5, found 0.2" --measurements bad.csv
printf 'time,z,cov_z_z\n1,2,-3\n' >bad.csv
refuse "bad.csv:2: column 3 (cov_z_z): expected a number > 0, found -3" --measurements bad.csv
printf 'time,z,sigma_z\n-0.1,2,3\n0.1,2,3\n' >bad.csv
refuse "bad.csv:2: measurement 1: time: expected a time from the start (0)" --measurements bad.csv
refuse "nowhere.csv: can't be read" --measurements nowhere.csv
refuse "a NUL byte: not a text file" --measurements list/run.h5
refuse "lorenz63 has no function 'x'" --measurements bad.csv --measurement-function x
printf 'time,range,azimuth,sigma_range,sigma_azimuth,cov_range_azimuth\n0.1,1,1,1,1,2\n' >bad.csv
calls 2 "$program" --plugin cr3bp --measurements bad.csv --check
has err "bad.csv:2: measurement 1: covariance: not positive definite"

# ---- densities of some records only: the time series has all of them ----
rows() { # FOLDER NUMBER
    "$programs/gbees-export" --verify "$1" >log 2>&1
    test "$2" -eq 0 || grep -q 'as they were written' log || fail "$1: $(cat log)"
    test "$(records_of "$1" | wc -l)" -eq "$2" || fail "not $2 records in $1"
}
run 0 --measurements z.tsv --output each --densities all
rows each 11
run 0 --measurements z.tsv --output fifth --densities 5
rows fifth 3
run 0 --measurements z.tsv --output last --densities last
rows last 2
for folder in last each; do
    grep -F 'run.h5:/leg2/record0/pdf/' "$folder/run.xdmf" >"$folder.lines"
done
test -s last.lines && cmp last.lines each.lines || fail "the last record is another one"
run 0 --measurements z.tsv --output none --densities none
rows none 0

# ---- a run that is killed: all that has a name is whole, the time series, too ----
what="a run that is killed"
"$program" --backend cpu --threads 1 --plugin lorenz63 --scenario published --set records=1000 --audit off \
    --set factor=2 --output killed --quiet >out 2>err </dev/null &
process=$!
wait_until grep -aqs record20 killed/run.h5 || fail "no record has been written"
kill -KILL $process
wait $process
process=
test -e killed/run.json || fail "there is no run.json"
grep -q '"state": "running"' killed/run.json || fail "it has ended by itself"
calls 0 "$programs/gbees-export" --verify killed
test -e killed/moments.h5 || fail "there is no time series"

# ---- a simulated truth, its measurements, and records compared with it ----
simulate() {
    calls 0 "$program" --plugin linear --simulate 7 --simulate-count 5 "$@"
}
simulate --output drawn
has out "drawn/truth.csv         31 times"
has out "drawn/measurements.csv  5 measurements"
simulate --output again --quiet
test ! -s out || fail "it printed something"
cmp drawn/truth.csv again/truth.csv || fail "another truth of the same seed"
cmp drawn/measurements.csv again/measurements.csv || fail "other measurements of the same seed"
calls 0 "$program" --plugin linear --simulate 8 --simulate-count 5 --output other --json
has out '{"event":"simulation","output":"other","times":31,"measurements":5}'
cmp -s drawn/truth.csv other/truth.csv && fail "the same truth of another seed"
held() {
    calls 0 "$program" --plugin linear --backend cpu --threads 1 --measurements drawn/measurements.csv \
        --set accuracy=0 --set factor=1 --set threshold=1e-8 --audit off --truth drawn/truth.csv "$@"
}
held --output held
has out "truth: 5 records after measurements: RMSE "
has held/run.json '"after_measurements_only": true'
held --no-output --json
test "$(grep -c '"event":"record".*"truth":{"state":\[' out)" -eq 36 || fail "not all records are compared with the truth"
grep -q '"event":"summary".*"truth":{"records":5,"after_measurements_only":true,"rmse":{"mean":' out ||
    fail "the summary has no scores"

refuse "the scenario has no measurement that --simulate could draw" --simulate 1 --set 'measurements=[]'
refuse "--simulate wants a seed, a whole number >= 0, not 'x'" --simulate x
refuse "--simulate wants a seed, a whole number >= 0, not '-1'" --simulate -1
refuse "--simulate-count goes with --simulate SEED" --simulate-count 5
refuse "--simulate-count wants a whole number from 1 to 1000000, not '0'" --simulate 1 --simulate-count 0
refuse "--truth goes with a run" --truth z.tsv --check
refuse "z.tsv:1: expected a column 'x', a state of the model, found none" --truth z.tsv
printf 'time,x,y,z,w\n1,2,3,4,5\n' >bad.csv
refuse "bad.csv:1: column 5 (w): expected time or a state of lorenz63" --truth bad.csv
printf 'time,x,y,z [m]\n1,2,3,4\n' >bad.csv
refuse "bad.csv:1: column 4 (z): expected the unit '-', found 'm'" --truth bad.csv
printf 'time,x,y,z\n1,2,3,4\n0.5,2,,4\n' >bad.csv
refuse "bad.csv:3: column 1 (time): expected a time not before that of line 2, 1, found 0.5" --truth bad.csv

exit "$bad"
