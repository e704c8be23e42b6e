#!/bin/sh
# test_run_accuracy.sh - gbees-run --accuracy: runs on finer grids until the certificate is within what was asked for.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# run CODE ARGUMENT...: the exit status must be CODE; its output is left in the files out and err.
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" --backend cpu --progress none "$@"
}

matches() { # FILE PATTERN
    grep -q -- "$2" "$1" || fail "nothing in $1 matches '$2'"
}

# An accuracy is reached, and the table is that of the best run alone.
run 0 --plugin linear --accuracy 0.1 --output met --strict
matches out '^run 1: .* error of the moments <= 0\.[0-9]* at t = 6; a finer one would take about'
matches out '^run 2: '
matches out '^accuracy 0.1 of the moments: met$'
test "$(grep -c '^leg record' out)" = 1 || fail "there is more than one table"
has_record met 0 0 || fail "the best run's records are not there"
test -z "$(find . -name 'met.run*')" || fail "folders of other runs are left"
grep -q '"runs": \[' met/run.json || fail "run.json does not list the runs"
grep -q '"state": "complete"' met/run.json || fail "the run is not complete"
grep -q '^mass_budget_total: ' met/scenario.yaml || fail "the scenario is not that of the best run"

# Its scenario repeats it.
run 0 --plugin linear --accuracy 0.1 --no-output --json
grep '"event":"record"' out | sed 's/"wall_s":[^,]*//g; s/"error":.*//' >first
run 0 --plugin linear --scenario met/scenario.yaml --no-output --json
grep '"event":"record"' out | sed 's/"wall_s":[^,]*//g; s/"error":.*//' >second
test -s first || fail "there are no records"
cmp -s first second || fail "the scenario of the best run gives other records"

# Every record tells what was asked for, and whether it is met.
run 0 --plugin linear --accuracy 0.1 --no-output --json
matches out '^{"event":"run","run":1,"met":false,"error":'
matches out '^{"event":"run","run":[0-9],"met":true,"error":[^}]*"next":false'
test "$(grep -c '"event":"record"' out)" = "$(grep -c '"asked":0.1[^}]*"met":true' out)" ||
    fail "a record does not tell that the accuracy is met"
test "$(grep -c '"event":"record"' out)" = "$(grep -c '"variation_estimate":0\.[0-9]' out)" ||
    fail "a record has no estimate of its total variation"
test "$(grep -c '"event":"summary"' out)" = 1 || fail "there is not one summary"

# No estimate of a total variation is below what the same record shows of a marginal: the value of Kolmogorov's distance
# less a standard error.
run 0 --plugin lorenz63 --no-output --json
matches out '"t":2.0,.*"variation_estimate":0.3' # by less the marginal of y alone refutes it
grep -o '"event":"record".*' out | sed -n 's/.*"variation_estimate":\([0-9.e-]*\).*/& \1/p' >estimated
while read -r line; do
    estimate=${line##* }
    echo "$line" | grep -o '"kolmogorov":{"value":[^}]*' | tr ',:' '  ' | awk -v estimate="$estimate" '
        estimate < $3 - ($5 - $3) / 2 { print estimate, "is below", $0; bad = 1 }
        END { exit bad }' >found || fail "an estimate of the total variation is refuted: $(cat found)"
done <estimated
test -s estimated || fail "no record has an estimate of its total variation"

# One run, one judgement: what is within the accuracy that was asked for is no warning.
run 0 --plugin lorenz63 --scenario published --until 0.5 --set 'measurements=[]' --accuracy 0.9 --no-output --strict
matches out '^accuracy 0.9 of the moments: met$'
! grep -q warning out err || fail "the accuracy is met, and there is a warning"

# A grid that moves has one factor, and no regrids.
run 0 --plugin vanderpol --until 0.7 --set frame=moving --accuracy 0.1 --output moving
matches out '^accuracy 0.1 of the moments: met$'
grep -q '^frame: moving' moving/scenario.yaml || fail "the scenario does not say that the grid moves"
grep -q '^frame_cells: ' moving/scenario.yaml || fail "the scenario does not say how many cells a deviation there are"

# moving_grid OPTION...: K / k of a run's grid, and its factor.
moving_grid() {
    rm -rf chosen
    run 0 "$@" --set frame=moving --set factor=1 --until 0.01 --set records=1 --set 'measurements=[]' --output chosen
    awk -F': ' '$1 == "factor" { f = $2 } $1 == "frame_cells" { k = $2 } END { printf "%.4g %.4g\n", k / f / 2, f }' chosen/scenario.yaml
}
grid=$(moving_grid --plugin vanderpol --accuracy 0.05)
test "$grid" = "14 1" || fail "K / k and factor in two dimensions are $grid, not 14 1"
grid=$(moving_grid --plugin vanderpol --accuracy 0.02)
test "$grid" = "14 1.357" || fail "K / k and factor to .02 are $grid, not 14 1.357: the cube root of .05 / .02"
grid=$(moving_grid --plugin lorenz96 --set dimension=5 --set extent=2 --accuracy 0.5)
test "$grid" = "6 1" || fail "K / k and factor in five dimensions are $grid, not 6 1"

# Where the density is bent a moving grid is told to be the dearer one; where it is not, nothing is said.
! grep -q "so bent" err || fail "a notice of a bend where there is none"
run 0 --plugin lorenz63 --until 0.6 --set records=1 --set frame=moving --set factor=0.5 --accuracy 0.001 --max-memory 0.01 \
    --no-output
has err "a grid that moves needs up to "
# In many dimensions it is the other way round.
run 0 --plugin lorenz96 --until 0.01 --set records=1 --set dimension=5 --set factor=0.5 --accuracy 0.0001 --max-memory 0.004 \
    --no-output
has err "in 5 dimensions a grid that moves ('frame: moving') may reach the accuracy in far less time"

# Both the accuracy and the scenario would choose when the grid changes.
for regrid in auto '[{time: 1, factor: 2}]'; do
    run 2 --plugin linear --accuracy 0.1 --set "regrid=$regrid" --no-output
    has err "accuracy: it chooses when the grid changes, and 'regrid' does, too: leave one of them out"
done
run 0 --plugin linear --accuracy 0.2 --set 'regrid=[]' --no-output

# Without memory for a finer run the best is reported, with a warning.
run 0 --plugin linear --accuracy 0.01 --max-memory 3e-5 --output short
matches out '^accuracy 0.01 of the moments: not met: a finer run would exceed the memory (--max-memory)$'
matches out '^warning: the accuracy that was asked for, 0.01, is not certified'
matches out '^a finer run would take about '
has_record short 0 0 || fail "the only run's records are not there"
run 1 --plugin linear --accuracy 0.01 --max-memory 3e-5 --no-output --strict
has err 'with --strict a warning is a failure: '
# The limits hold for the first run, too, whose results are kept as far as it has come.
run 1 --plugin linear --accuracy 0.01 --max-time 0.0001 --output late
has err 'by --max-time'
has late/run.json '"stopped_by": "--max-time"'
run 1 --plugin linear --accuracy 0.01 --max-memory 1e-9 --no-output
has err 'by --max-memory'

# A number of samples that certifies the accuracy on no grid: cells are not made finer in vain.
for samples in 1000 2000; do
    run 0 --plugin linear --audit $samples --no-output
    matches out '^accuracy 0.05 of the moments: not met: so few samples certify it on no grid (--audit)'
    ! grep -q '^run 4:' out || fail "$samples samples: more than three runs"
done

# A measurement in the tail of a Gaussian, 3.6 and 5.8 standard deviations from what is predicted: the next runs keep
# that tail, until posterior and evidence are right; where samples can't certify it, it is an estimate and not "met".
tail() { # MEASURED VARIANCE
    run 0 --plugin linear --set dimension=1 --set 'parameters={diagonal: -0.5}' --until 1.1 --set records=2 \
        --accuracy 0.1 --set "measurements=[{time: 1, function: x1, value: [$1], covariance: [$2]}]" --no-output
}
right() { # EVIDENCE MEAN STD, exact; that of the mean is within a tenth of the standard deviation
    grep '^measurement 1 ' out | sed 's/.*log evidence \([-0-9.]*\) .*/\1/' >found
    grep '^ *1  *0  *1 ' out | awk '{print $7, $9}' >>found
    awk -v evidence="$1" -v mean="$2" -v std="$3" '
        function off(a, b) { return a > b ? a - b : b - a }
        { number[++count] = $1; last = $2 }
        END { exit !(count == 2 && off(number[1], evidence) < 0.05 && off(number[2], mean) < 0.1 * std &&
                     off(last, std) < 0.1 * std) }' found || fail "$(tr '\n' ' ' <found): not $1, $2 +- $3"
}
tail 2.32644 0.00367879
right -6.2254 2.28362 0.05948
has out 'accuracy 0.1 of the moments: met'
! grep -q 'cut off or hardly resolved' out || fail "a tail that is certified is warned of"
tail 3.70058 0.0919699
right -16.8924 2.45682 0.21444
has out 'accuracy 0.1 of the moments: met'
! grep -q 'cut off or hardly resolved' out || fail "a far tail that is certified is warned of"

# Marginals and densities.
for of in marginals density; do
    run 0 --plugin linear --accuracy 0.2 --set accuracy_of=$of --no-output
    matches out "^accuracy 0.2 of the $of: met\$"
done

# The default scenario's accuracy holds unless the run is described in its place.
run 0 --plugin linear --until 1 --set courant=0.9 --no-output
matches out '^accuracy 0.05 of the moments: met$'
for alone in --accuracy=0 --audit=off --set=factor=2 --set=threshold=1e-6 --set=scheme=ctu --scenario=alone.yaml; do
    echo 'width: 0.2' >alone.yaml
    run 0 --plugin linear --until 1 "$alone" --no-output
    ! grep -q '^run 1:\|^accuracy' out || fail "$alone: it is run for an accuracy"
done
run 0 --plugin linear --until 1 --set factor=2 --accuracy 0.1 --no-output
matches out '^accuracy 0.1 of the moments: met$'

# What is refused.
for wrong in 1 -1 nan x; do
    run 2 --plugin linear --accuracy=$wrong --output refused
    lines err 1
    has err 'accuracy'
done
run 2 --plugin linear --accuracy 0.1 --max-time 0 --output refused
matches err '^gbees-run: --max-time wants a number > 0, not .0.$'
run 2 --plugin linear --accuracy 0.1 --max-memory x --output refused
matches err '^gbees-run: --max-memory wants a number > 0, not .x.$'
run 2 --plugin lorenz63 --accuracy 0.1 --backend paper --set mode=paper --output refused
has err 'accuracy: paper and legacy mode keep the grid that is given'
run 0 --plugin linear --set accuracy=0 --until 1 --output record --set 'measurements=[]' --quiet
run 2 --plugin linear --accuracy 0.1 --set 'initial={file: record}' --output refused
has err 'accuracy: the initial density is a record, whose grid is given'
test ! -e refused || fail "it made the output folder"

# What a killed search has left stays as it is, and so does what another writes to.
mkdir left.runs
echo precious >left.runs/run.json
run 2 --plugin linear --accuracy 0.1 --output left --quiet
has err 'left.runs has the runs of a search for an accuracy that goes on or was killed: remove it or give another name'
grep -q precious left.runs/run.json || fail "what a killed search has left is gone"
mkdir -p results/linear.runs
echo precious >results/linear.runs/run.json
run 0 --plugin linear --accuracy 0.1 --quiet
has_record results/linear-2 0 0 || fail "the default name is not the next one"

# A signal keeps the best run, from whose grid another search can begin.
"$program" --plugin lorenz63 --backend cpu --progress none --accuracy 0.01 --output stopped >out 2>err &
process=$!
wait_until grep -q '^run 1' out
kill -TERM $process
wait $process
test $? = 143 || fail "the exit status is not 143"
has_record stopped 1 4 || fail "the best run's records are not there"
grep -q '"state": "complete"' stopped/run.json || fail "the best run is not complete"
test ! -e stopped.runs || fail "stopped.runs is left"
run 2 --resume stopped
has err 'there is no checkpoint in stopped'
run 0 --plugin lorenz63 --scenario stopped/scenario.yaml --set 'regrid=[]' --accuracy 0.1 --no-output
matches out '^accuracy 0.1 of the moments: met'

exit "$bad"
