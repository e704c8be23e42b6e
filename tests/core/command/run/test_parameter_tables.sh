#!/bin/sh
# test_parameter_tables.sh - parameters that follow tables: where they take a density, beside exact integrals, in every
# frame; a burn that is shorter than a step; tables that are refused.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
advect=$top_build/tests/.libs/advect.so
test -f "$advect" || (cd "$top_build" && make -s tests/advect.la >/dev/null) || skip "tests/advect.la is not built"
enter_scratch
clean_environment

# gbees CODE ARGUMENT...: a Gaussian that is carried along, with the velocities a1 and a2.
gbees() {
    code=$1
    shift
    calls "$code" "$program" --plugin "$advect" --backend cpu --threads 1 --progress none --set dimension=2 \
        --set 'mean=[0, 0]' --set 'covariance=[0.25, 0.25]' --set start=0 --set end=4 --set records=1 \
        --set threshold=1e-7 --set parameters.a2=0 "$@"
}

# ends X1 TOLERANCE: the last record's mean of the first state.
ends() {
    grep '"event":"record"' out | tail -n 1 | sed 's/.*"mean":\[\([-+.e0-9]*\),.*/\1/' >mean
    awk -v wanted="$1" -v most="$2" '{ d = $1 - wanted; exit !(d * d <= most * most) }' mean ||
        fail "the mean is $(cat mean), not $1 to $2"
}

# ---- where they take it ----

printf 'time [s], a1 [m/s]\n0, 0\n2, 2\n4, 0\n' >ramp.csv
awk 'BEGIN { print "t,velocity,a1"; for (k = 0; k <= 40; k++) printf "%.17g,%.17g,7\n", k / 10, sin(k / 10) }' >sine.csv
printf 'time,a1\n0,0\n3.3,0\n3.3000001,2000\n3.3010000,2000\n3.3010001,0\n4,0\n' >burn.csv
for frame in fixed moving lagrangian; do
    set -- --json --no-output --set accuracy=0 --set factor=2 --set frame=$frame
    test $frame = lagrangian && set -- --json --no-output --set accuracy=0.01 --set frame=$frame
    what="a velocity that rises and falls, frame: $frame"
    gbees 0 "$@" --set tables.a1=ramp.csv
    ends 4 0.002
    what="the integral of a sine by cubics, frame: $frame"
    gbees 0 "$@" --set 'tables={a1: {file: sine.csv, column: velocity, interpolation: cubic}}'
    ends 1.6536436 0.003
    what="a burn of a four-thousandth of the run, frame: $frame"
    gbees 0 "$@" --set tables.a1=burn.csv
    ends 2.0002 0.002
done

what="samples follow a table, too"
gbees 0 --json --no-output --set accuracy=0 --set factor=2 --audit 20000 --set tables.a1=burn.csv
grep '"event":"record"' out | tail -n 1 >last
sed 's/.*"error":{"mean":\([.e0-9+-]*\).*"samples":20000.*/\1/' last | awk '{ exit !($1 > 0 && $1 < 0.1) }' ||
    fail "the certificate is not near: $(cat last)"

# ---- in files ----

what="a scenario's file, from another folder; and its rows, in the results' scenario"
mkdir -p elsewhere
cp ramp.csv elsewhere
printf 'tables: {a1: ramp.csv}\n' >elsewhere/two.yaml
gbees 0 --scenario elsewhere/two.yaml --set accuracy=0 --set factor=2 --output kept --json
ends 4 0.002
cp out first
grep -q 'tables: {a1: {time: \[0, 2, 4\], value: \[0, 2, 0\]}}' kept/scenario.yaml ||
    fail "the scenario does not have the rows: $(grep tables kept/scenario.yaml)"
rm elsewhere/ramp.csv
gbees 0 --scenario kept/scenario.yaml --no-output --json
ends 4 0.002

# ---- refused ----

# refuse TEXT ARGUMENT...: one sentence, before computing.
refuse() {
    text=$1
    shift
    gbees 2 --no-output --set accuracy=0 "$@"
    has err "$text"
    lines err 1
}

# row TEXT LINE...: a table of these lines is refused.
row() {
    text=$1
    shift
    what="refused: $text"
    printf '%s\n' "$@" >bad.csv
    refuse "$text" --set tables.a1=bad.csv
}

what="refused"
refuse "tables: advect has no parameter 'c1'" --set tables.c1=ramp.csv
refuse "did you mean 'a1'" --set tables.A1=ramp.csv
refuse "none.csv" --set tables.a1=none.csv
refuse "parameters.a1: it follows a table" --set tables.a1=ramp.csv --set parameters.a1=3
refuse "it has times from 0 to 4, the run goes from 0 to 5" --set tables.a1=ramp.csv --set end=5
refuse "expected as many numbers as times, 2, found 1" --set 'tables={a1: {time: [0, 4], value: [1]}}'
refuse "expected 2 to 100000 rows, found 1" --set 'tables={a1: {time: [0], value: [1]}}'
refuse "expected a file, or {file: FILE.csv" --set 'tables={a1: {time: [0, 4]}}'
refuse "column: " --set 'tables={a1: {file: sine.csv, column: speed}}'
row "bad.csv:4: " 'time,a1' '0,1' '3,1' '2,1' '4,1'
row "bad.csv:3: tables.a1: expected a time after 0" 'time,a1' '0,1' '0,2' '4,1'
row "bad.csv:3: column 2 (a1): expected a number, found nothing: a table has no gaps" 'time,a1' '0,1' '2,' '4,1'
row "a table has no gaps" 'time,a1' '0,1' '2,NaN' '4,1'
row "bad.csv:3: column 2 (a1): expected a number" 'time,a1' '0,1' '2,x' '4,1'
row "expected a column 'time'" 'when,a1' '0,1' '4,1'
row "expected a column 'a1'" 'time,b,c' '0,1,2' '4,1,2'

exit "$bad"
