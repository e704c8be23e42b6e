#!/bin/sh
# test_compare.sh - gbees-run --compare: other filters on a run's own plugin, scenario and data.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

# run CODE ARGUMENT...
run() {
    wanted=$1
    shift
    calls "$wanted" "$program" --backend cpu --threads 1 --progress none "$@"
}

matches() { # FILE PATTERN
    grep -qE -- "$2" "$1" || fail "nothing in $1 matches '$2'"
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

# The filter whose name is given, as --json has it.
method() {
    sed -n 's/.*"compare":\(.*\)/\1/p' out | tr '{' '\n' | grep "\"method\":\"$1\""
}

# ---- the table ----
# On a linear model Gaussian filters have no error but the grid's own.
cat >fine.yaml <<'END'
factor: 5
extent: 5
threshold: 1.0e-10
END
run 0 --plugin linear --scenario fine.yaml --no-output --compare mc:2000,ekf,ukf,enkf:2000,pf:2000
matches out '^method +samples +seconds +e_m +e_s +Kolmogorov +BC +log evidence +std error$'
for name in grid mc ekf ukf enkf pf; do
    test "$(grep -cE "^$name +" out)" = 1 || fail "not one line for $name"
done
matches out '^ekf +- +[0-9.e-]+ +([0-9.]+e-|0\.00)[0-9]+ +([0-9.]+e-|0\.00)[0-9]+ +([0-9.]+e-|0\.00)[0-9]+ +(0\.99[0-9]|1\.000) +-1\.04'
matches out '^mc +2000 .* +-[01]\.[0-9]+ +0\.0[0-9]+$'
test "$(grep -cE '^ +[0-9.]+( +[0-9.e-]+){20}$' out)" = 14 || fail "not a line for each of 14 records"
matches out '^(No grid is needed here: (ekf|ukf) is as good|The grid is the cheapest here: of the others)'
cp out table

# A run without it has the same table and no more.
run 0 --plugin linear --scenario fine.yaml --no-output
lacks out Kolmogorov
grep -E '^ +[01] +[0-9] ' out >plain
grep -E '^ +[01] +[0-9] .*\+-' table | cmp - plain || fail "the records are others"

# ---- JSON, a truth, an accuracy ----
run 0 --plugin linear --scenario fine.yaml --simulate 3 --output drawn
run 0 --plugin linear --scenario fine.yaml --measurements drawn/measurements.csv --truth drawn/truth.csv \
    --compare ekf,enkf:500 --json --output scored
test "$(grep -c '"compare"' out)" = 1 || fail "not one comparison"
sed -n '$p' out | grep -q '"event":"summary".*"compare":{"grid_seconds":' || fail "the comparison is not in the summary"
matches out '"answer":"(No grid|The grid|A grid)'
method ekf >ekf
matches ekf '"samples":0,'
matches ekf '"bc":(0\.99[0-9]*|1\.0),'
matches ekf '"log_evidence":-[0-9.]+,"log_evidence_error":null,"enough":true'
sed -n '$p' out | tr '{' '\n' | grep -c '"leg":[0-9]*,"record":[0-9]*,"t":[0-9.]*,"e_m":' >count
test "$(cat count)" = 16 || fail "$(cat count) records, not 2 x 8"
test "$(grep -o '"truth":{"records"' out | wc -l)" = 3 || fail "not three scores: the grid's and those of two filters"
run 0 --plugin linear --scenario fine.yaml --measurements drawn/measurements.csv --truth drawn/truth.csv \
    --compare ekf --no-output
matches out '^method .* RMSE +NEES$'
run 0 --plugin linear --accuracy 0.1 --compare ekf,pf:500 --output sought
test "$(grep -c '^method ' out)" = 1 || fail "not one comparison"
calls 0 "$programs/gbees-export" --verify sought
run 0 --plugin linear --accuracy 0.1 --compare ekf --no-output
test "$(grep -c '^method ' out)" = 1 || fail "not one comparison"
matches out '^ekf '

# ---- a filter that is given twice draws other numbers ----
run 0 --plugin linear --scenario fine.yaml --compare pf:500,pf:500 --no-output --audit off
awk '$1 == "pf" && $2 == 500 { seen[$4 " " $5] = 1 } END { for (k in seen) n++; exit n != 2 }' out ||
    fail "two filters with the same result: $(grep pf out)"

# ---- a grid that moves, whose axes are none of the states ----
run 0 --plugin linear --scenario fine.yaml --set frame=moving --compare ekf --no-output --audit off
matches out '^ekf +- +[0-9.e-]+ +([0-9.]+e-|0\.00)[0-9]+ +([0-9.]+e-|0\.00)[0-9]+ +([0-9.]+e-|0\.00)[0-9]+ '

# ---- a filter that can't take a measurement ----
cat >own.yaml <<'END'
measurements:
  - {time: 0.1, function: x1, value: [2], covariance: [0.04], likelihood: student-t, degrees_of_freedom: 1}
end: 0.1
factor: 1
threshold: 1.0e-6
END
run 0 --plugin linear --scenario own.yaml --no-output --compare ekf,mc:1000
matches out "^ekf .* failed: the measurement at t = 0.1 has a Student's t of at most 2 degrees of freedom"
matches out '^mc +1000 +[0-9]'

# ---- bad input ----
refuse "gbees-run: there is no filter 'kef': did you mean 'ekf'? (mc, ekf, ukf, enkf, pf)" --plugin linear --compare mc,kef
refuse "gbees-run: ekf has no samples: leave ':10' out" --plugin linear --compare ekf:10
run 2 --plugin linear --check --compare ekf
has err "gbees-run: --compare goes with a run"
run 2 --resume scored --compare ekf
has err "leave out --compare"
exit "$bad"
