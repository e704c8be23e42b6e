#!/bin/sh
# test_targets.sh - targets: what is inside at each record, and what has entered until then, beside exact probabilities;
# where they are told; scenarios that are refused; a run that is stopped and goes on to the same records.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
. "$top_src/tests/fixtures/results_fixture.sh"
program=$programs/gbees-run
encounter=$top_build/tests/.libs/encounter.so
test -f "$encounter" || (cd "$top_build" && make -s tests/encounter.la >/dev/null) || skip "tests/encounter.la is not built"
enter_scratch
clean_environment

# gbees CODE ARGUMENT...: two objects that pass each other, on this processor.
gbees() {
    code=$1
    shift
    calls "$code" "$program" --plugin "$encounter" --backend cpu --threads 1 --progress none --set accuracy=0 "$@"
}

# refuse TEXT ARGUMENT...: one sentence, before computing.
refuse() {
    text=$1
    shift
    gbees 2 --no-output "$@"
    has err "$text"
    lines err 1
}

# of TARGET FIELD: a number of the last record.
of() {
    grep '"event":"record"' out | tail -n 1 | sed "s/.*\"$1\":{[^}]*\"$2\":\([-+.e0-9]*\).*/\1/"
}

# tells PATTERN FILE: a line of it is like that.
tells() {
    grep -q -- "$1" "$2" || fail "no '$1' in $2"
}

# near WANTED FOUND TOLERANCE
near() {
    awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a - b; exit !(d * d <= most * most && b != "") }' ||
        fail "$2 is not $1 to $3"
}

# within TARGET EXACT: the probability of the last record is off by no more than its bound.
within() {
    near "$2" "$(of "$1" probability)" "$(of "$1" bound)"
}

# normal X: the standard normal distribution function.
normal() {
    awk -v x="$1" 'BEGIN { n = 2000; h = x / n; for (i = 0; i < n; i++) s += exp(-((i + 0.5) * h) ^ 2 / 2) * h
        printf "%.9f\n", 0.5 + s / sqrt(2 * 3.14159265358979) }'
}

# ---- what is inside ----

# The half space R < plane, 3 m above the mean; R has the variance 37.3591061 m^2.
exact=$(normal 0.490823)
inside="--until 1e-9 --set records=1 --param plane=136.639259"
for points in 1 2 3; do
    what="a half space, by points, $points a deviation"
    # shellcheck disable=SC2086 # several words
    gbees 0 --no-output --json --set 'targets={half: count, sphere: off}' --set points=$points $inside
    within half "$exact"
    near "$exact" "$(of half probability)" "$(awk -v k=$points 'BEGIN { print 4e-3 / k ^ 2.5 }')"
done
for grid in factor=1 factor=2 rotate=yes frame=moving; do
    what="a half space, by cells, $grid"
    frame=frame=fixed
    test $grid = frame=moving && frame=$grid && grid=records=1
    # shellcheck disable=SC2086
    gbees 0 --no-output --json --set 'targets={half: count, sphere: off}' --set $frame --set $grid $inside
    within half "$exact"
    near "$exact" "$(of half probability)" 0.006
    what="a half space, by cells, $grid, beside samples"
    # shellcheck disable=SC2086
    gbees 0 --no-output --json --audit 4000 --set 'targets={half: count, sphere: off}' --set $frame --set $grid $inside
    within half "$exact"
done
what="a half space, without an audit"
# shellcheck disable=SC2086
gbees 0 --no-output --json --audit off --set 'targets={half: count, sphere: off}' --set frame=fixed $inside
tells '"half":{"kind":"count","probability":0.68[0-9]*,"bound":null,"rate":[-+.e0-9]*}' out

# ---- what has entered ----

what="a half space that absorbs"
exact=$(normal 0.450196) # R falls: what is below the plane has crossed it
gbees 0 --no-output --json --set 'targets={half: absorb, sphere: off}' --until 12 --set records=3 --set points=2
within half "$exact"
near "$exact" "$(of half probability)" 1e-3
near "$exact" "$(of half mass_entered)" 1e-3
tells '"t":8.0.*"half":{"kind":"absorb","probability":1[.][0-9]*e-12,' out # exact: 1.39e-12
# Of what is left the mean is that of the part above: m + s phi / (1 - Phi).
mean=$(grep '"event":"record"' out | tail -n 1 | sed 's/.*"mean":\[\([^,]*\),.*/\1/')
near 4.0016 "$mean" 0.08

what="a jump into a target"
exact=$(normal 0.334363) # R is then 130 m and 5.683 m less
gbees 0 --no-output --json --set 'targets={half: absorb, sphere: off}' --until 0.5 --set points=2 --set records=1 \
    --set 'instants=[{time: 0.5, value: [-130, 0, 0]}]'
within half "$exact"
near "$exact" "$(of half probability)" 1e-3

# A collision: case 3 of Alfano, AAS 09-233: 0.100351176; the integral over the circle in the plane of the encounter is
# 0.10035096. With the mean 20 m further along the minor axis it is 0.0068058443.
what="a collision"
for points in 1 2; do
    gbees 0 --no-output --json --set records=2 --set points=$points
    within sphere 0.10035096
    near 0.10035096 "$(of sphere probability)" 1e-4
done
what="a less likely one"
gbees 0 --no-output --json --set records=1 --set points=2 --set 'mean=[147.78139462, -1.109342, 124.88226238]'
within sphere 0.0068058443
near 0.0068058443 "$(of sphere probability)" 3e-6

# Cases 5 and 6: 0.044487386 and 0.004335455, of a sphere of 10 m and densities that are 178 and 1778 m long.
what="slow ones"
gbees 0 --no-output --json --set records=1 --set points=1 --param radius=10 --set end=120 \
    --param vR=-0.300002 --param vT=-0.001116 --param vN=0.42427 --set 'mean=[19.00826, -2.050639, -24.749548]' \
    --set 'covariance=[[0.948723211, -169.764244972, 0], [-169.764244972, 31616.057717583, 0], [0, 0, 0.156926502]]'
within sphere 0.044487386
near 0.044487386 "$(of sphere probability)" 4e-5
gbees 0 --no-output --json --set records=1 --set points=1 --param radius=10 --set end=600 \
    --param vR=-0.100006 --param vT=0.001133 --param vN=0.141439 --set 'mean=[28.978227, -2.449903, -43.138547]' \
    --set 'covariance=[[95.3164575, -17017.67175329, 0], [-17017.67175329, 3161549.142597, 0], [0, 0, 7.10216309]]'
within sphere 0.004335455
near 0.004335455 "$(of sphere probability)" 4e-6
# Case 7: 0.000158147, of a density that is 16 km long, in which the sphere is far smaller than a cell along two axes.
what="a sphere that is smaller than a cell"
for points in 0.7 1 2; do
    gbees 0 --no-output --json --set records=1 --set points=$points --param radius=10 --set end=2838 \
        --param vR=-0.136066879 --param vT=-0.003779535 --param vN=0.141425599 \
        --set 'mean=[192.638529404, 8.497134926, -201.02304317]' --set 'covariance=[[6926.983278655, -1347875.301045807,
            -12.542400570], [-1347875.301045807, 263202592.9458552, 2444.868176323], [-12.542400570, 2444.868176323,
            710.284013662]]'
    within sphere 0.000158147
    near 0.000158147 "$(of sphere probability)" 8e-7
done

what="two targets, of which a trajectory enters one"
gbees 0 --no-output --json --set 'targets={half: absorb, sphere: absorb}' --set records=2
near 1 "$(awk -v a="$(of half probability)" -v b="$(of sphere probability)" 'BEGIN { print a + b }')" 0.01

# ---- what has entered, on a grid ----

exits=$top_build/tests/.libs/exits.so
test -f "$exits" || (cd "$top_build" && make -s tests/exits.la >/dev/null) || skip "tests/exits.la is not built"

# leaves CODE ARGUMENT...: noise and a drift, between -1 and 1, from N(0, 0.1^2).
leaves() {
    code=$1
    shift
    calls "$code" "$program" --plugin "$exits" --backend cpu --threads 1 --progress none --no-output --json --audit off \
        --set accuracy=0 --set extent=6 --set threshold=1e-10 "$@"
}

# left: the mass of the last record.
left() {
    grep '"event":"record"' out | tail -n 1 | sed 's/.*"mass":\([-+.e0-9]*\).*/\1/'
}

# closes: the ledger of the last record, to rounding.
closes() {
    grep '"event":"record"' out | tail -n 1 | tr ',{' '\n\n' | awk -F: '
        /^"since"/ { since = 1 } /^"targets"/ { since = 0 } since { next }
        /^"mass"/ { sum += $2 } /^"mass_entered"/ { sum += $2 } /^"mass_(outflow|pruned)"/ { sum += $2 }
        /^"mass_(clipped|normalised)"/ { sum -= $2 } END { d = sum - 1; exit !(d * d <= 1e-18) }' ||
        fail "the ledger does not close"
}

one="--param fx=0.5 --set targets.below=off"
# The boundary is 1, 0.72, 0.44 and 0.16 cells above the centre of a cell; the exact values are those of images.
what="Brownian motion with drift"
for where in 1,0.4910377 1.007,0.4874029 1.014,0.4837771 1.021,0.4801603; do
    # shellcheck disable=SC2086 # several words
    leaves 0 $one --param "high=${where%,*}" --set factor=2
    near "${where#*,}" "$(of above probability)" 1e-4
    closes
done
what="an Ornstein-Uhlenbeck process between two targets"
leaves 0 --param linear=-1 --set factor=4 --set records=2
near 0.522484 "$(left)" 1e-4
near "$(of above mass_entered)" "$(of below mass_entered)" 1e-9
closes

what="the mean time of a passage in a double well" # the integral of what is left, and of the exponential after it
leaves 0 --param linear=1 --param cubic=-1 --param Q=0.2 --param high=0 --set targets.below=off --set 'mean=[-1]' \
    --set 'covariance=[0.0025]' --set factor=0.75 --set extent=4 --set end=30 --set records=60
time=$(sed -n 's/.*"event":"record".*"t":\([.0-9]*\).*"mass":\([-+.e0-9]*\),"mass_clipped.*/\1 \2/p' out |
    awk 'NR > 1 { sum += ($1 - t) * ($2 + m) / 2; before = m } { t = $1; m = $2 }
        END { print sum + m * 0.5 / log(before / m) }')
near 30.8213 "$time" 0.3

what="a disc" # by Bessel functions of order 0; half of the cells' edge, a quarter of the error
plane="--set dimension=2 --set mean=[0,0] --set covariance=[0.01,0.01]"
for factor in 1 2; do
    # shellcheck disable=SC2086
    leaves 0 $plane --set 'targets={out: absorb, above: off, below: off}' --until 0.5 --set factor=$factor
    near 0.3661537 "$(left)" 3.3e-4
    awk -v p="$(left)" 'BEGIN { print p - 0.3661537 }' >>errors
done
awk 'NR == 1 { first = $1 } END { exit !(first / $1 > 3.5 && first / $1 < 5) }' errors || fail "$(cat errors)"
what="an oblique line"
# shellcheck disable=SC2086
leaves 0 $plane --set 'covariance=[[0.01,0.004],[0.004,0.01]]' --param fx=0.5 --param slope=0.5 \
    --param high=1.118033988749895 --set targets.below=off --set precision=double
near 0.4724197 "$(of above probability)" 1e-3
closes

what="an arc of a circle, wherever cells begin" # by finite volumes between its ends, 16,000 of them
circle="--set dimension=1 --set covariance=[0.04] --set targets.arc=absorb --set targets.above=off"
circle="$circle --set targets.below=off --param low=0.8"
circle="$circle --param fx=0.3 --param Q=0.25 --until 6 --set width=[0.0327249234748937] --audit off"
for turned in 0 1 96 140; do
    at=$(awk -v k=$turned 'BEGIN { printf "%.16g", k * 0.0327249234748937 }')
    # shellcheck disable=SC2086
    leaves 0 $circle --set 'states=[{state: x, period: 6.283185307179586}]' --set "mean=[$at]" \
        --param high="$(awk -v x="$at" 'BEGIN { printf "%.16g", x + 3.141592653589793 }')"
    near 0.56805 "$(left)" 2e-4
    left | cut -c 1-10 >>turned
done
test "$(sort -u turned | wc -l)" -eq 1 || fail "where cells begin makes a difference: $(cat turned)"

what="a flow without noise"
leaves 0 --param fx=1 --param Q=0 --param high=1.02 --set targets.below=off --set factor=2 --until 1.05
near 0.6179114 "$(of above probability)" 1e-3
what="a run goes on when targets have taken all"
leaves 0 --param fx=1 --param Q=0 --until 4 --set records=2
near 1 "$(of above probability)" 1e-6
calls 0 "$program" --plugin "$exits" --backend cpu --progress none --audit off --set accuracy=0 --param fx=2 \
    --until 400 --set records=2 --set 'output={densities: all}' --output emptied
has out "none left"
calls 0 "$(dirname "$program")/gbees-export" --verify emptied
calls 0 "$(dirname "$program")/gbees-export" emptied emptied-cells

what="a measurement"
# shellcheck disable=SC2086
leaves 0 $one --set factor=2 \
    --set 'measurements=[{function: x, time: 0.5, value: [0], covariance: [1e6]}]'
grep '"event":"update"' out | grep -q '"log_evidence":-7.8266' || fail "the evidence is not that of what is left"
grep '"leg":1,"record":0' out | grep -q '"above":{"kind":"absorb","probability":0.0' || fail "not from 0 again"
near 0.5716501 "$(of above mass_entered)" 2e-4
near 0.3187422 "$(of above probability)" 1e-4
closes

what="a grid that goes on, and one on two threads"
for run in whole parts threads; do
    set -- --threads 1
    test $run = threads && set -- --threads 2
    test $run = parts && set -- --max-time 0.001
    code=0
    test $run = parts && code=1
    # shellcheck disable=SC2086
    calls $code "$program" --plugin "$exits" --backend cpu --progress none --output grid-$run $plane --set factor=2 \
        --set 'targets={out: absorb, above: off, below: off}' --set end=0.2 --set records=4 --audit 2000 \
        --set accuracy=0 --set 'output={densities: all}' "$@"
done
calls 0 "$program" --resume grid-parts --backend cpu --threads 1 --progress none
same grid-whole grid-parts
same grid-whole grid-threads

# ---- what samples say of it ----

# certified: the last record has a bound of its means, deviations and density.
certified() {
    grep '"event":"record"' out | tail -n 1 | grep -q '"error":{"mean":[0-9]' || fail "not certified"
    grep '"event":"record"' out | tail -n 1 | grep -q '"reason"' && fail "not certified"
}

what="samples of Brownian motion with drift"
# shellcheck disable=SC2086
leaves 0 $one --set factor=2 --audit 20000
within above 0.4910377
near 0 "$(of above bound)" 0.02
certified
what="samples between two targets"
leaves 0 --param linear=-1 --set factor=4 --set records=2 --audit 20000
within above 0.238758
within below 0.238758
what="samples in a disc"
# shellcheck disable=SC2086
leaves 0 $plane --set 'targets={out: absorb, above: off, below: off}' --until 0.5 --set factor=2 --audit 20000
within out 0.6338463
certified
what="samples before and after a measurement"
# shellcheck disable=SC2086
leaves 0 $one --set factor=2 --audit 20000 \
    --set 'measurements=[{function: x, time: 0.5, value: [0], covariance: [1e6]}]'
within above 0.3187422
grep '"leg":1,"record":0' out | grep -q '"above":{"kind":"absorb","probability":0.0,"bound":[0-9.e-]*,' || fail "no bound"
grep '"event":"update"' out | grep -q '"log_evidence_sampled":-7.826' || fail "the evidence is not that of what is left"
what="points beside a flow without noise"
leaves 0 --param fx=1 --param Q=0 --param high=1.02 --set targets.below=off --set factor=2 --until 1.05 --audit auto
within above 0.6179114
what="samples when targets have taken all"
leaves 0 --param fx=1 --param Q=0 --until 4 --set records=2 --audit 1000
within above 1
tells "not certifiable with 1000 samples: 0 of them are effective" out
what="samples beside points"
gbees 0 --no-output --json --set records=2 --set points=1 --audit 4000
within sphere 0.10035096
what="an accuracy"
calls 0 "$program" --plugin "$exits" --backend cpu --progress none --no-output --accuracy 0.02 --param fx=0.5 \
    --set targets.below=off
tells "^accuracy 0.02 of the moments: met" out
probability=$(sed -n 's/^ *above: \([0-9.]*\) entered.*/\1/p' out | tail -n 1)
near 0.4910377 "$probability" "$(sed -n 's/^ *above: .*(error [^0-9]* \([-0-9.e]*\)).*/\1/p' out | tail -n 1)"
what="a function that is not a number"
leaves 1 --set 'targets={rock: absorb, above: off, below: off}' --param high=0.5
has err "the function of a target that absorbs of exits is not a number"
leaves 2 --param high=-1
has err "targets.above: it holds the initial mean"

# ---- where it is told ----

what="the table"
gbees 0 --no-output --set 'targets={half: count}' --set records=1 --set points=0.8
tells 'sphere: 0\.[0-9]* entered (error <= [-0-9.e]*); half: [0-9.]* inside' out

what="--describe and --list-keys"
calls 0 "$program" --plugin "$encounter" --describe
tells "^Targets: " out
tells "sphere *m *nearer than the radius" out
calls 0 "$program" --list-keys
tells "^ *targets *count|absorb|off or for each target of a map" out

what="files"
gbees 0 --output written --set 'targets={half: count}' --set records=2 --set points=0.8 --set 'output={densities: last}'
h5dump -a /leg0/record2/target_names written/run.h5 >shown 2>&1 || fail "no names"
has shown sphere
h5dump -d /targets/probability written/run.h5 >shown 2>&1 || fail "no series"
has shown "( 3, 2 )"
tells "^targets: {.*half: count" written/scenario.yaml

what="a run that goes on"
gbees 0 --output whole --set records=4 --set points=0.8 --set 'output={densities: all}'
gbees 1 --output parts --set records=4 --set points=0.8 --set 'output={densities: all}' --max-time 0.001
calls 0 "$program" --resume parts --backend cpu --threads 1 --progress none
same whole parts

# ---- what is refused ----

refuse "encounter has no target 'moon': it has 'sphere', 'half' and 'rock'" --set 'targets={moon: count}'
refuse "--set targets.sphere: expected 'count', 'absorb' or 'off', found 'wall'" --set targets.sphere=wall
refuse "expected a map of targets" --set targets=sphere
refuse "targets.sphere: a grid that moves does not go with a target that absorbs" --set frame=moving
refuse "targets.sphere: the scheme ctu does not go with a target that absorbs" --set frame=fixed --set scheme=ctu
refuse "a target is another one a period further: R is on a circle: give it the period, or 'states: lines'" \
    --set 'states=[{state: R, period: 20}]' --set frame=fixed --set 'targets={half: absorb}'
refuse "targets.half: it holds the initial mean" --set 'targets={half: absorb}' --param plane=200
refuse "targets.rock: its function is not finite at the initial mean" --set 'targets={rock: count}' \
    --set 'mean=[-2000, 0, 0]'
refuse "smooth: what is left of a density that a target absorbs is not smoothed" --set smooth=yes
refuse "other filters know no targets that absorb" --compare pf
what="a function that is not a number later"
for frame in lagrangian fixed; do
    gbees 1 --no-output --set frame=$frame --set 'targets={rock: count, sphere: off}' --param vR=-100
    has err "the function of the target rock of encounter is not a number somewhere in the density at t = "
done
gbees 1 --no-output --set 'targets={rock: absorb, sphere: off}' --param vR=-100
has err "the function of the target rock of encounter is not a number"
calls 2 "$program" --plugin lorenz63 --no-output --set 'targets={moon: count}'
has err "targets: lorenz63 has no target 'moon': it has none"

exit "$bad"
