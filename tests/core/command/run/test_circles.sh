#!/bin/sh
# test_circles.sh - what gbees-run says of states on a circle and between walls: the card, --check, the table, JSON, the
# search for an accuracy, and what it refuses.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
. "$top_src/tests/fixtures/run_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment

what="the card"
run 0 --plugin phase --describe
has out "on a circle: it has the period 6.28318531"

what="--check of a circle, whose cells are narrower than was asked for"
run 0 --plugin phase --check --set 'width=[0.03]'
has out "circle        phase: 192 cells around, as wide as the period and whole bricks make them"
has out "cell width    0.0327249"
has out "mean          0"

what="--check of walls"
run 0 --plugin linear --set dimension=1 --set 'mean=[0.5]' --set 'covariance=[0.01]' --set 'width=[0.02]' \
    --set 'states=[{state: x1, lower: 0, upper: 1, at_upper: absorb}]' --check
has out "wall          x1: reflects at 0"
has out "wall          x1: absorbs at 1: 64 cells between, as wide as whole bricks make them"
has out "mean          0.5"

what="a wall that takes most of the density, which is no loss: P(x0 < exp(-1)) = .0934 is left"
run 0 --plugin linear --set dimension=1 --set 'parameters={diagonal: 1}' --set 'mean=[0.5]' --set 'covariance=[0.01]' \
    --set 'width=[0.01]' --set 'states=[{state: x1, lower: 0, upper: 1, at_upper: absorb}]' --until 1 --no-output --json
grep '"record"' out | tail -n 1 | sed 's/.*"mass_lost":\([0-9.]*\).*/\1/' |
    awk '{ exit !($1 > 0.905 && $1 < 0.908) }' || fail "not .9066 of the mass have left"
! grep -q "budget" err || fail "what a wall takes is warned of: $(cat err)"

what="a run: the table, and JSON"
run 0 --plugin phase --until 2 --no-output
grep -qE ' 0\.[0-9]+ \(R 0\.[0-9]+\)$' out || fail "the table has no direction"
run 0 --plugin phase --until 2 --no-output --json
grep '"record"' out | tail -n 1 | grep -qE '"direction":\[0\.9[0-9]*\],"resultant":\[0\.9[0-9]*\]' ||
    fail "JSON has no direction"
run 0 --plugin linear --until 0.1 --no-output --json
! grep -q '"direction"' out || fail "lines have a direction"

what="samples go around, too: the certificate"
run 0 --plugin phase --until 20 --no-output --json --set factor=4 --audit 40000
grep '"record"' out | tail -n 1 | sed 's/.*"error":{"mean":\([0-9.e-]*\),"std":\([0-9.e-]*\).*/\1 \2/' |
    awk '{ exit !($1 < 0.05 && $2 < 0.05) }' || fail "mean or deviation are certified to more than 0.05"

what="a truth of another turn is taken within the range, as the mean is"
for angle in 1.5 32.915926535897932; do
    printf 'time,phase\n2,%s\n' "$angle" >truth.csv
    run 0 --plugin phase --until 2 --set accuracy=0 --truth truth.csv --no-output --json
    grep '"event":"record"' out | grep -oE '"rmse":[0-9]\.[0-9]{6}' >"$angle"
    test -s "$angle" || fail "there is no score"
done
cmp -s 1.5 32.915926535897932 || fail "the truth is another turn's"

what="the search for an accuracy"
printf 'mean: [0]\ncovariance: [0.01]\naccuracy: 0.03\nend: 6\nrecords: 2\n' >asked.yaml
run 0 --plugin phase --scenario asked.yaml --no-output
has out "accuracy 0.03 of the moments: met"

what="walls, of which samples do not know"
run 0 --plugin linear --set dimension=1 --set 'mean=[0.5]' --set 'covariance=[0.01]' --set 'width=[0.02]' --set end=0.1 \
    --set 'states=[{state: x1, lower: 0}]' --param noise=0.1 --no-output
has out "no samples: they do not know of walls"

what="a circle of the model where there are lines only"
run 0 --plugin pendulum --check --set frame=moving
has out "line          angle: a circle of the model, which this run has no grid for"
run 0 --plugin pendulum --check --set frame=lagrangian
has out "circle        angle: points go on past the period, and records have the direction"
run 0 --plugin pendulum --until 1 --set accuracy=0 --no-output --compare ukf
has out "ukf"
lacks out "(R "

what="points that go with the flow: the table, and JSON"
run 0 --plugin pendulum --until 3 --set frame=lagrangian --no-output
grep -qE ' 0\.[0-9]+ \(R 0\.[0-9]+\) ' out || fail "the table of points has no direction"
run 0 --plugin pendulum --until 3 --set frame=lagrangian --no-output --json
grep '"record"' out | tail -n 1 | grep -qE '"direction":\[[0-9.]*,null\],"resultant":\[0\.[0-9]*,null\]' ||
    fail "JSON of points has no direction"

what="what is refused"
run 2 --plugin phase --no-output --compare ukf --set 'states=[{state: phase, period: 6.283185307179586}]'
has err "a comparison with other filters has lines only: remove --compare, or give 'states: lines'"
run 2 --plugin phase --no-output --set 'states=[{state: phase, period: -1}]'
has err "period: expected a number > 0, found '-1'"

exit $bad
