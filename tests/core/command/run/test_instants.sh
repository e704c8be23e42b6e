#!/bin/sh
# test_instants.sh - jumps of the state at instants: of an oscillator x' = v, v' = -x - 0.2 v that gets a push, in all
# frames against the exact solution; jumps with an error against the exact Gaussian; what is refused.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../../..}/tests/fixtures/shell_fixture.sh"
. "$top_src/tests/fixtures/run_fixture.sh"
program=$programs/gbees-run
enter_scratch
clean_environment
leap="--plugin-path $top_build/tests/.libs --plugin leap --progress none"

# The exact Gaussian at t = 5 from N((1, 0), 0.04 I) by way of a jump (x, v) -> F (x, v) + (0, d) with an error of the
# covariance Q at 3.3: "mean x, mean v, variance x, covariance, variance v".
exact() { # D F11 F12 F21 F22 Q11 Q12 Q22 [3.3: at the time of the jump]
    echo "$*" | awk '
    # e^(A t) of A = (0 1; -1 -g): e^(-g t / 2) (cos(w t) I + (A + g / 2 I) sin(w t) / w)
    function flow(t,    w, e, c, s) {
        w = sqrt(1 - .01); e = exp(-.1 * t); c = e * cos(w * t); s = e * sin(w * t) / w
        a = c + .1 * s; b = s; cc = -s; dd = c - .1 * s
    }
    function move(    x, xx, xv) {
        x = a * mx + b * mv; mv = cc * mx + dd * mv; mx = x
        xx = a * a * pxx + 2 * a * b * pxv + b * b * pvv
        xv = a * cc * pxx + (a * dd + b * cc) * pxv + b * dd * pvv
        pvv = cc * cc * pxx + 2 * cc * dd * pxv + dd * dd * pvv; pxx = xx; pxv = xv
    }
    {
        mx = 1; mv = 0; pxx = pvv = .04; pxv = 0
        flow(3.3); move()
        a = $2; b = $3; cc = $4; dd = $5; move()
        mv += $1; pxx += $6; pxv += $7; pvv += $8
        if ($9 == "") {
            flow(1.7); move()
        }
        printf "%.9f %.9f %.9f %.9f %.9f\n", mx, mv, pxx, pxv, pvv
    }'
}

last_moments() {
    grep '"event":"record"' out | tail -n 1 |
        sed 's/.*"mean":\[\([^]]*\)\].*"cov":\[\[\([^]]*\)\],\[[^,]*,\([^]]*\)\]\].*/\1 \2 \3/; s/,/ /g'
}

# close_to LIMIT LIMIT_OF_VARIANCES WANTED: means, in units, and variances, relative.
close_to() {
    echo "$(last_moments) $3" | awk -v limit="$1" -v part="$2" '
    function off(a, b) { return a > b ? a - b : b - a }
    { exit !(off($1, $6) < limit && off($2, $7) < limit && off($3, $8) < part * $8 && \
             off($5, $10) < part * $10 && off($4, $9) < part * sqrt($8 * $10)) }' ||
        fail "the moments are $(last_moments), not $3"
}

# ---- a push of 2 at 3.3
push='instants=[{time: 3.3, value: [0, 2]}]'
pushed=$(exact 2 1 0 0 1 0 0 0)
for frame in fixed moving lagrangian; do
    what="a push, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame --set "$push"
    close_to 0.001 0.01 "$pushed"
    has out '"event":"jump","t":3.2999999999999998,"instant":1,"jump":"shift","value":[0.0,2.0]'
    grep -q 'the audit says' err && fail "$(cat err)"
    test "$(grep -c '"event":"record"' out)" = 4 || fail "there are not two records a leg"
done
what="a push by the model's function, frame lagrangian"
run 0 $leap --json --no-output --set frame=lagrangian --set 'instants={time: 3.3, jump: burn, value: [2]}'
close_to 0.001 0.01 "$pushed"
what="a push in two parts, of which one begins with a measurement's time"
run 0 $leap --json --no-output --set 'instants=[{time: 3.3, value: [0, 1]}, {time: 3.3, value: [0, 1]}]'
close_to 0.001 0.01 "$pushed"

# ---- a map, and errors
turn='time: 3.3, jump: linear, matrix: [[0.6, -0.8], [0.8, 0.6]], value: [0, 2]'
stretch='time: 3.3, jump: linear, matrix: [[2, 0.5], [0, 0.7]], value: [0, 2]'
for frame in fixed moving lagrangian; do
    what="a turn, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame --set "instants={$turn}"
    close_to 0.002 0.02 "$(exact 2 0.6 -0.8 0.8 0.6 0 0 0)"
    what="a stretch, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame --set "instants={$stretch}"
    close_to 0.002 0.02 "$(exact 2 2 0.5 0 0.7 0 0 0)"
done
for frame in fixed moving; do
    what="an error along the axes, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame \
        --set 'instants={time: 3.3, value: [0, 2], covariance: [0.01, 0.04]}'
    close_to 0.002 0.02 "$(exact 2 1 0 0 1 0.01 0 0.04)"
    grep -q 'the audit says' err && fail "$(cat err)"
    what="an error in one direction that is none of the axes, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame \
        --set 'instants={time: 3.3, value: [0, 2], covariance: [[0.04, 0.02], [0.02, 0.01]]}'
    close_to 0.002 0.02 "$(exact 2 1 0 0 1 0.04 0.02 0.01)"
    what="a stretch with an error, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame --set "instants={$stretch, covariance: [0.01, 0.04]}"
    close_to 0.002 0.02 "$(exact 2 2 0.5 0 0.7 0.01 0 0.04)"
done

what="filters beside a run jump, too: of a linear model the Kalman filters are right"
run 0 $leap --json --no-output --set "instants={$stretch, covariance: [0.01, 0.04]}" --compare ekf,ukf,pf,enkf
tail -n 1 out | sed 's/.*"compare"//' | tr '{' '\n' | grep '"method"' |
    sed 's/.*"method":"\([a-z]*\)".*"e_m":\([^,]*\),"e_s":\([^,]*\),.*/\1 \2 \3/' >found
awk '{ most = $1 == "ekf" || $1 == "ukf" ? 0.005 : 0.05; bad += !($2 < most && $3 < most) }
     END { exit !(NR == 4 && bad == 0) }' found || fail "filters are off: $(cat found)"

# ---- functions of the model, at t = 3.3: v + x^2, which bends, and x^2, which folds; exact for a Gaussian
image() { # bend or fold, and the variances of the error
    echo "$* $(exact 0 1 0 0 1 0 0 0 3.3)" | awk '{
        mx = $4; mv = $5; xx = $6; xv = $7; vv = $8
        if ($1 == "bend")
            print mx, mv + mx * mx + xx, xx + $2, xv + 2 * mx * xx, vv + 4 * mx * xv + 4 * mx * mx * xx + 2 * xx * xx + $3
        else
            print mx * mx + xx, mv, 4 * mx * mx * xx + 2 * xx * xx + $2, 2 * mx * xv, vv + $3
    }'
}
for frame in fixed lagrangian; do
    what="a jump that bends, frame $frame"
    run 0 $leap --json --no-output --set frame=$frame --until 3.3 --set 'instants={time: 3.3, jump: bend, value: [1]}'
    close_to 0.001 0.005 "$(image bend 0 0)"
done
what="a jump that folds"
run 0 $leap --json --no-output --until 3.3 --set 'instants={time: 3.3, jump: fold}'
close_to 0.001 0.005 "$(image fold 0 0)"
what="a jump that folds, with an error"
run 0 $leap --json --no-output --until 3.3 --set 'instants={time: 3.3, jump: fold, covariance: [0.04, 0.09]}'
close_to 0.001 0.005 "$(image fold 0.04 0.09)"
grep -q 'the audit says' err && fail "$(cat err)"
what="a jump that bends, on a rotated grid"
run 0 $leap --json --no-output --until 3.3 --set rotate=yes --set covariance='[[0.04, 0], [0, 0.04]]' \
    --set 'instants={time: 3.3, jump: bend, value: [1]}'
close_to 0.001 0.005 "$(image bend 0 0)"

# ---- order, and how they are listed
what="jumps come before measurements of their time"
run 0 $leap --json --no-output --set "$push" \
    --set 'measurements=[{time: 3.3, value: [0], covariance: [0.04]}]'
grep -n '"event":"jump"\|"event":"update"' out | cut -d: -f3 | tr -d '\n' | grep -q '"jump","t""update","t"' ||
    fail "they come in another order"
what="an instant that is repeated"
run 0 $leap --check --json --set 'instants={every: 0.5, value: [0, 0.1]}'
has out '"instants":10'
run 0 $leap --check --no-forecast --set 'instants={every: 0.5, value: [0, 0.1]}'
has out 'instant       t = 0.5: shift 0 0.1'
has out 'instant       5 more'
what="the table of a run"
run 0 $leap --no-output --set "$push"
has out 'instant 1 at t = 3.3: shift 0 2'
what="jumps of a model"
run 0 $leap --describe
has out '  burn       1        a push'

# ---- what is refused
what=refusals
refuse "instant 1: time: expected a time from the start (0) to the end (5), found '5.5'" \
    $leap --set 'instants=[{time: 5.5, value: [0, 2]}]'
refuse "instant 1: expected 'time' or 'every', found neither" $leap --set 'instants=[{value: [0, 2]}]'
refuse "instant 1: expected 'time' or 'every', found both" $leap --set 'instants=[{time: 1, every: 1, value: [0, 2]}]'
refuse "instant 1: 'value' is missing" $leap --set 'instants=[{time: 1}]'
refuse 'instant 2: value: expected 2 numbers (dimension 2), found 3' \
    $leap --set 'instants=[{time: 1, value: [0, 2]}, {time: 1, value: [0, 2, 3]}]'
refuse 'instant 1: value: expected 1 number (jump burn), found 2' \
    $leap --set frame=lagrangian --set 'instants=[{time: 1, jump: burn, value: [0, 2]}]'
refuse "instant 1: jump: leap has no jump 'brn': did you mean 'burn'?" \
    $leap --set 'instants=[{time: 1, jump: brn, value: [2]}]'
refuse "instant 1: jump: leap has no jump 'else': it has 'shift', 'linear', 'burn', 'bend', 'fold', 'lost'" \
    $leap --set 'instants=[{time: 1, jump: else, value: [2]}]'
refuse 'instant 1: matrix: singular' \
    $leap --set 'instants=[{time: 1, jump: linear, matrix: [[1, 2], [2, 4]]}]'
refuse "instant 1: 'matrix' is missing" $leap --set 'instants=[{time: 1, jump: linear, value: [0, 1]}]'
refuse "instant 1: matrix: only 'jump: linear' has one" $leap --set 'instants=[{time: 1, value: [0, 1], matrix: [1, 1]}]'
refuse 'instant 1: matrix: expected 2 rows (dimension 2), found 3' \
    $leap --set 'instants=[{time: 1, jump: linear, matrix: [[1, 2], [2, 3], [1, 1]]}]'
refuse 'instant 1: covariance: not positive: it has the eigenvalue -' \
    $leap --set 'instants=[{time: 1, value: [0, 1], covariance: [0.1, -0.1]}]'
refuse 'instant 1: covariance: not symmetric' \
    $leap --set 'instants=[{time: 1, value: [0, 1], covariance: [[1, 0.5], [0.4, 1]]}]'
refuse "instant 1: unknown key 'when'" $leap --set 'instants=[{when: 1, value: [0, 1]}]'
refuse 'instants: expected a map, or a list of maps' $leap --set 'instants=3'
refuse 'the error of a jump spreads each trajectory' \
    $leap --set frame=lagrangian --set 'instants=[{time: 1, value: [0, 1], covariance: [0.1, 0.1]}]'
refuse 'bound: jumps take the density out of it' $leap --set bound=on --set "$push"
refuse "a grid that moves makes linear jumps alone" $leap --set frame=moving --set 'instants={time: 1, jump: fold}'
refuse 'instants: paper and legacy mode have no jumps' \
    $leap --set mode=paper --backend paper --set bound=off --set "$push"
refuse 'takes averages over cells' $leap --set scheme=ctu --set "instants={$turn}"
what="a jump that folds the density, or is not finite"
run 1 $leap --no-output --set frame=lagrangian --set mean='[0, 0]' --set 'instants=[{time: 0, jump: fold}]'
has err 'instant 1 (fold) at t = 0 (leg 1, step 0): the jump folds the density'
run 1 $leap --no-output --set 'instants=[{time: 1, jump: lost}]'
has err 'instant 1 (lost) at t = 1 (leg 1, step'
has err 'the jump is not finite at a cell'
run 1 $leap --no-output --set frame=lagrangian --set 'instants=[{time: 1, jump: lost}]'
has err 'instant 1 (lost) at t = 1 (leg 1, step 1): the jump is not finite'

exit $bad
