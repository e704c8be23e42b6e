#!/bin/sh
# test_moving.sh - gbees-run with `frame: moving`: a run that begins with a record goes on as if it had not been cut,
# whether the record's grid moved or not; a drift that changes within a step is followed, or the audit warns.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

gbees() {
    "$program" --plugin-path "$top_build/tests/.libs" --backend cpu --threads 1 --json --progress none "$@" >out 2>err </dev/null
    code=$?
    test "$code" -eq 0 || fail "exit status $code"
}

# The mean and the variance of the first state at the last record of out.
last() {
    grep '"event":"record"' out | tail -n 1 | sed 's/.*"mean":\[\([^,]*\),.*"cov":\[\[\([^,]*\),.*/\1 \2/'
}

# near FIRST SECOND MOST: the means differ by at most MOST deviations, the variances by twice as much of the second.
near() {
    echo "$1 $2 $3" |
        awk '{ a = ($1 - $3) / sqrt($4); b = ($2 - $4) / $4; exit !(a * a <= $5 * $5 && b * b <= 4 * $5 * $5) }' ||
        fail "mean and variance are $1, not $2"
}

moving() { # MORE...: Lorenz '63 for a short time
    gbees --plugin lorenz63 --set accuracy=0 --set measurements=[] --set records=1 --set threshold=1e-6 --audit off "$@"
}

what="a run that is not cut"
moving --set frame=moving --until 0.5 --no-output
whole=$(last)
# go_on FRAME MOST SETTING: to the same end from a record of another run; MOST as near() has it.
go_on() {
    what="a run that begins with a record of a grid with frame: $1"
    moving --set frame="$1" --set "$3" --until 0.25 --output "$1"
    moving --set "initial={file: $1}" --set frame=moving --until 0.5 --no-output
    near "$(last)" "$whole" "$2"
}
go_on moving 0.005 factor=1
go_on fixed 0.03 factor=3 # narrower cells, which widen the density less

what="cells a deviation of the frame, after a record"
moving --set "initial={file: moving}" --set frame=moving --set factor=1.5 --until 0.3 --no-output
"$program" --plugin lorenz63 --backend cpu --set "initial={file: moving}" --set frame=moving --set factor=20 \
    --until 0.3 --no-output >out 2>err && fail "more than K cells a deviation are taken"
grep -q 'frame_cells: expected at least the 40 cells' err || fail "no word of frame_cells"

what="a kick that lasts for several steps"
gbees --plugin kick --set accuracy=0 --set frame=moving --audit 100000 --no-output
grep -q 'the audit says' err && fail "the audit warns"

what="a kick between two steps"
gbees --plugin kick --set accuracy=0 --set frame=moving --set parameters.width=0.0003 --audit 20000 --no-output
grep -q 'the audit says' err && fail "the audit warns"
# tan(x/2) grows by exp(1): of a Gaussian of mean .5 and variance .25 that gives 1.02437.
sed -n 's/.*"event":"record".*"t":1[.0]*,.*"mean":\[\([^],]*\).*/\1/p' out |
    awk '{ n++; if ($1 < 1.01 || $1 > 1.04) exit 1 } END { exit n != 1 }' || fail "the mean is not that of the kick: $(cat out)"

what="the mass that a grid drops at each move for its noise"
gbees --plugin linear --scenario ou --set frame=moving --set records=2 --set end=2 --accuracy 0.05 --no-output
grep -q 'the mass budget is not held' err && fail "the mass budget is not held"
grep -q '"met":true' out || fail "the accuracy is not met"
